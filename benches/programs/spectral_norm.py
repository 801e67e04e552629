"""Power iteration with a matrix that is computed, not stored."""
import numpy as np
from peer import njit


def small():
    return 4,


def full():
    return 250,


@njit
def element(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


@njit
def multiply(v, out, transposed):
    n = len(v)
    for i in range(n):
        s = 0.0
        for j in range(n):
            s += (element(j, i) if transposed else element(i, j)) * v[j]
        out[i] = s


@njit
def run(n):
    u, v, t = np.ones(n), np.zeros(n), np.zeros(n)
    for _ in range(5):
        multiply(u, t, False)
        multiply(t, v, True)
        multiply(v, t, False)
        multiply(t, u, True)
    uv = vv = 0.0
    for i in range(n):
        uv += u[i] * v[i]
        vv += v[i] * v[i]
    return np.sqrt(uv / vv)
