#include "bench.h"
static volatile int64_t size = 27;
static void setup(void) {}
static int64_t fib(int64_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static double run(void) { return fib(size); }
