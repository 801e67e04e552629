#include "bench.h"
static volatile int64_t size = 250;
static void setup(void) {}
static double element(int64_t i, int64_t j) { return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1); }
static void multiply(const double *v, double *out, int64_t n, int transposed) {
    for (int64_t i = 0; i < n; i++) {
        double s = 0.0;
        for (int64_t j = 0; j < n; j++) s += (transposed ? element(j, i) : element(i, j)) * v[j];
        out[i] = s;
    }
}
static double run(void) {
    int64_t n = size;
    double *u = malloc(n * sizeof *u), *v = malloc(n * sizeof *v), *t = malloc(n * sizeof *t), uv = 0.0, vv = 0.0;
    for (int64_t i = 0; i < n; i++) { u[i] = 1.0; v[i] = 0.0; }
    for (int k = 0; k < 5; k++) {
        multiply(u, t, n, 0);
        multiply(t, v, n, 1);
        multiply(v, t, n, 0);
        multiply(t, u, n, 1);
    }
    for (int64_t i = 0; i < n; i++) { uv += u[i] * v[i]; vv += v[i] * v[i]; }
    free(u);
    free(v);
    free(t);
    return sqrt(uv / vv);
}
