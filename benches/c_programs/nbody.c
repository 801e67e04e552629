#include "bench.h"
static volatile int64_t size = 10000;
static double position[15], speed[15];
static const double mass[5] = {39.47, 0.037, 0.011, 0.0017, 0.002};
static void setup(void) {
    static const double p[15] = {0.0, 0.0, 0.0, 4.84, -1.16, -0.10, 8.34, 4.12, -0.4, 12.89, -15.11, -0.22, 15.37, -25.9, 0.17};
    static const double s[15] = {0.0, 0.0, 0.0, 0.6, 2.8, -0.02, -1.01, 1.82, 0.008, 1.08, 0.86, -0.01, 0.97, 0.59, -0.03};
    memcpy(position, p, sizeof p);
    memcpy(speed, s, sizeof s);
}
/* The arrays come as pointers, as they do in Python, where nobody knows whether they overlap or how long they are. */
static double simulate(double *position, double *speed, const double *mass, int64_t n, int64_t steps) __attribute__((noinline, noclone));
static double simulate(double *position, double *speed, const double *mass, int64_t n, int64_t steps) {
    double dt = 0.01;
    for (int64_t k = 0; k < steps; k++) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                double dx = position[3 * i] - position[3 * j];
                double dy = position[3 * i + 1] - position[3 * j + 1];
                double dz = position[3 * i + 2] - position[3 * j + 2];
                double d2 = dx * dx + dy * dy + dz * dz;
                double f = dt / (d2 * sqrt(d2));
                speed[3 * i] -= dx * mass[j] * f;
                speed[3 * i + 1] -= dy * mass[j] * f;
                speed[3 * i + 2] -= dz * mass[j] * f;
                speed[3 * j] += dx * mass[i] * f;
                speed[3 * j + 1] += dy * mass[i] * f;
                speed[3 * j + 2] += dz * mass[i] * f;
            }
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < 3; c++) position[3 * i + c] += dt * speed[3 * i + c];
    }
    double s = 0.0;
    for (int64_t i = 0; i < 3 * n; i++) s += position[i];
    return s;
}
static double run(void) { return simulate(position, speed, mass, 5, size); }
