/* What a C programmer would write for the expressions of `expressions.py`: one loop each, divided by OpenMP. */
#include <math.h>
#include <stddef.h>

typedef ptrdiff_t n_t;

void chain(double *restrict out, const double *restrict a, const double *restrict b, n_t n) {
#pragma omp parallel for
    for (n_t i = 0; i < n; i++) out[i] = a[i] * b[i] + 2 * a[i] - b[i];
}

void add_scaled(double *restrict out, const double *restrict a, const double *restrict b, n_t n) {
#pragma omp parallel for
    for (n_t i = 0; i < n; i++) out[i] = b[i] + 0.5 * a[i];
}

void clipped(double *restrict out, const double *restrict a, const double *restrict b, n_t n) {
#pragma omp parallel for
    for (n_t i = 0; i < n; i++) out[i] = a[i] > b[i] ? a[i] - b[i] : 0.0;
}

double total(double *restrict out, const double *restrict a, const double *restrict b, n_t n) {
    double s = 0;
#pragma omp parallel for simd reduction(+ : s)
    for (n_t i = 0; i < n; i++) s += a[i];
    return s;
}

double squares(double *restrict out, const double *restrict a, const double *restrict b, n_t n) {
    double s = 0;
#pragma omp parallel for simd reduction(+ : s)
    for (n_t i = 0; i < n; i++) s += a[i] * a[i];
    return s;
}

double distance(double *restrict out, const double *restrict a, const double *restrict b, n_t n) {
    double s = 0;
#pragma omp parallel for simd reduction(+ : s)
    for (n_t i = 0; i < n; i++) s += (a[i] - b[i]) * (a[i] - b[i]);
    return s;
}

double greatest(double *restrict out, const double *restrict a, const double *restrict b, n_t n) {
    double m = -INFINITY;
#pragma omp parallel for simd reduction(max : m)
    for (n_t i = 0; i < n; i++) { double d = fabs(a[i] - b[i]); m = d > m ? d : m; }
    return m;
}

/* One step of Jacobi's method on a square grid of n points. */
void neighbours(double *restrict out, const double *restrict a, const double *restrict b, n_t n) {
    n_t m = (n_t)sqrt((double)n);
#pragma omp parallel for
    for (n_t i = 1; i < m - 1; i++)
        for (n_t j = 1; j < m - 1; j++)
            out[i * m + j] = 0.25 * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]);
}
