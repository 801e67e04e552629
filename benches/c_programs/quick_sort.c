#include "bench.h"
static volatile int64_t size = 100000;
static double *a;
static void setup(void) {
    int64_t n = size;
    if (!a) a = malloc(n * sizeof *a);
    for (int64_t i = 0; i < n; i++) a[i] = i * 7919 % 100003;
}
static void sort(double *a, int64_t low, int64_t high) {
    while (low < high) {
        double pivot = a[(low + high) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i <= j) {
                double t = a[i];
                a[i] = a[j];
                a[j] = t;
                i++;
                j--;
            }
        }
        sort(a, low, j);
        low = i;
    }
}
static double run(void) {
    int64_t n = size;
    sort(a, 0, n - 1);
    return a[0] + a[n - 1];
}
