#include "bench.h"
static volatile int64_t size = 150;
static double *a, *b, *c;
static void setup(void) {
    int64_t n = size;
    if (!a) { a = malloc(n * n * sizeof *a); b = malloc(n * n * sizeof *b); c = malloc(n * n * sizeof *c); }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) { a[i * n + j] = (i * n + j) % 7; b[j * n + i] = (i * n + j) % 7; }
    memset(c, 0, n * n * sizeof *c);
}
static double run(void) {
    int64_t n = size;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double s = 0.0;
            for (int64_t k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
    double s = 0.0;
    for (int64_t i = 0; i < n * n; i++) s += c[i];
    return s;
}
