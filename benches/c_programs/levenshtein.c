#include "bench.h"
static volatile int64_t size = 1000;
static int64_t *a, *b;
static void setup(void) {
    int64_t n = size;
    if (!a) { a = malloc(n * sizeof *a); b = malloc(n * sizeof *b); }
    for (int64_t i = 0; i < n; i++) { a[i] = i * 7 % 11; b[i] = i * 5 % 13; }
}
static int64_t least(int64_t x, int64_t y) { return y < x ? y : x; }
static double run(void) {
    int64_t n = size, *row = malloc((n + 1) * sizeof *row);
    for (int64_t j = 0; j <= n; j++) row[j] = j;
    for (int64_t i = 0; i < n; i++) {
        int64_t diagonal = row[0];
        row[0] = i + 1;
        for (int64_t j = 0; j < n; j++) {
            int64_t cost = a[i] == b[j] ? diagonal : diagonal + 1;
            diagonal = row[j + 1];
            row[j + 1] = least(least(cost, row[j] + 1), diagonal + 1);
        }
    }
    double last = row[n];
    free(row);
    return last;
}
