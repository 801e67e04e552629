#include "bench.h"
enum { N = 1000000 };
static double *a, *b;
static void setup(void) {
    if (!a) { a = malloc(N * sizeof *a); b = malloc(N * sizeof *b); }
    for (int64_t i = 0; i < N; i++) { a[i] = i * (1.0 / (N - 1)); b[i] = 1.0 + i * (1.0 / (N - 1)); }
}
static double run(void) {
    double s = 0.0;
    for (int64_t i = 0; i < N; i++) s += a[i] * b[i];
    return s;
}
