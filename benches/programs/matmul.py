"""Matrix product by three loops."""
import numpy as np
from peer import njit


def make(n):
    a = np.arange(n * n, dtype=np.float64).reshape(n, n) % 7
    return a, a.T.copy(), np.zeros((n, n))


def small():
    return make(3)


def full():
    return make(150)


@njit
def run(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c.sum()
