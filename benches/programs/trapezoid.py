"""An integral by the trapezoid rule, the integrand a function argument."""
import math

from peer import njit

ARRAYS = False
RTOL = 1e-9


@njit
def integrand(x):
    return math.sin(x) * x + 1.0 / (1.0 + x * x)


def small():
    return 0.0, 1.0, 4


def full():
    return 0.0, 10.0, 500_000


@njit
def integrate(f, a, b, n):
    h = (b - a) / n
    s = 0.5 * (f(a) + f(b))
    for i in range(1, n):
        s += f(a + i * h)
    return s * h


@njit
def run(a, b, n):
    return integrate(integrand, a, b, n)
