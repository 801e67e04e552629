#include "bench.h"
static volatile int64_t size = 300, turns = 20;
static double *a, *b;
static void setup(void) {
    int64_t n = size;
    // Fresh arrays of zeros, as the Python program gets them: their pages come when they are touched.
    free(a);
    free(b);
    a = calloc(n * n, sizeof *a);
    b = calloc(n * n, sizeof *b);
    for (int64_t j = 0; j < n; j++) a[j] = 1.0;
}
static double run(void) {
    int64_t n = size, m = size, sweeps = turns;
    for (int64_t k = 0; k < sweeps; k++) {
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < m - 1; j++)
                b[i * m + j] = 0.25 * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]);
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < m - 1; j++)
                a[i * m + j] = b[i * m + j];
    }
    double s = 0.0;
    for (int64_t i = 0; i < n * m; i++) s += a[i];
    return s;
}
