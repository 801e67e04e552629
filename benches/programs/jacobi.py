"""Five-point stencil sweeps over a plane."""
import numpy as np
from peer import njit


def make(n):
    a = np.zeros((n, n))
    a[0] = 1.0
    return a, np.zeros((n, n))


def small():
    return *make(5), 2


def full():
    return *make(300), 20


@njit
def run(a, b, sweeps):
    n, m = a.shape
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = b[i, j]
    return a.sum()
