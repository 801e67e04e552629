#include "bench.h"
static volatile int64_t size = 1000000;
static void setup(void) {}
static double run(void) {
    int64_t n = size, count = 0;
    char *prime = malloc(n);
    memset(prime, 1, n);
    prime[0] = prime[1] = 0;
    for (int64_t i = 2; i * i < n; i++)
        if (prime[i])
            for (int64_t j = i * i; j < n; j += i) prime[j] = 0;
    for (int64_t i = 0; i < n; i++)
        if (prime[i]) count++;
    free(prime);
    return count;
}
