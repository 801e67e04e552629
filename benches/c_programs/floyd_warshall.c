#include "bench.h"
static volatile int64_t size = 120;
static double *d;
static void setup(void) {
    int64_t n = size;
    if (!d) d = malloc(n * n * sizeof *d);
    for (int64_t i = 0; i < n * n; i++) d[i] = i * 7919 % 100 + 1.0;
}
static double run(void) {
    int64_t n = size;
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                double through = d[i * n + k] + d[k * n + j];
                if (through < d[i * n + j]) d[i * n + j] = through;
            }
    double s = 0.0;
    for (int64_t i = 0; i < n * n; i++) s += d[i];
    return s;
}
