#include "bench.h"
static volatile int64_t size = 2000000;
static void setup(void) {}
/* Python's remainder of a non-negative number. */
static int64_t draw(int64_t state) { return (1103515245 * state + 12345) % 2147483648; }
static double run(void) {
    int64_t n = size, state = 42, inside = 0;
    for (int64_t k = 0; k < n; k++) {
        state = draw(state);
        double x = state / 2147483648.0;
        state = draw(state);
        double y = state / 2147483648.0;
        if (x * x + y * y < 1.0) inside++;
    }
    return 4.0 * inside / n;
}
