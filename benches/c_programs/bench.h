/* Times a program as `child.py steady` does: `setup` makes fresh arguments outside of the time, `run` is called until the seconds are over, and the median
   of the milliseconds is printed with what the program computes. `run` may not be inlined, or its work could be done once for all calls. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 100000

static void setup(void);
static double run(void) __attribute__((noinline));

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    static double times[MOST];
    double seconds = argc > 1 ? atof(argv[1]) : 1.0;
    setup();
    volatile double value = run();
    int n = 0;
    for (double begin = now(); n < MOST && (n < 3 || now() - begin < seconds * 1e3); n++) {
        setup();
        double start = now();
        volatile double again = run();
        times[n] = now() - start;
        (void)again;
    }
    qsort(times, n, sizeof *times, ascending);
    printf("{\"ms\": %.9g, \"calls\": %d, \"value\": %.17g}\n", times[n / 2], n, value);
    return 0;
}
