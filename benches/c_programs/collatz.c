#include "bench.h"
static volatile int64_t size = 50000;
static void setup(void) {}
static double run(void) {
    int64_t n = size, best = 0, where = 0;
    for (int64_t start = 1; start < n; start++) {
        int64_t length = 1, x = start;
        while (x != 1) {
            x = x % 2 == 0 ? x / 2 : 3 * x + 1;
            length++;
        }
        if (length > best) { best = length; where = start; }
    }
    return where;
}
