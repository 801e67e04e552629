"""Runge-Kutta over a three-variable system, values in tuples."""
from peer import njit

ARRAYS = False


def small():
    return 2,


def full():
    return 100_000,


@njit
def slope(x, y, z):
    return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z


@njit
def run(steps):
    x, y, z, h = 1.0, 1.0, 1.0, 0.005
    for _ in range(steps):
        a = slope(x, y, z)
        b = slope(x + 0.5 * h * a[0], y + 0.5 * h * a[1], z + 0.5 * h * a[2])
        c = slope(x + 0.5 * h * b[0], y + 0.5 * h * b[1], z + 0.5 * h * b[2])
        d = slope(x + h * c[0], y + h * c[1], z + h * c[2])
        x += h / 6.0 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
        y += h / 6.0 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
        z += h / 6.0 * (a[2] + 2 * b[2] + 2 * c[2] + d[2])
    return x, y, z
