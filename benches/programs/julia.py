"""Escape times over a grid, in complex arithmetic, with a helper function."""
import numpy as np
from peer import njit


def small():
    return 4, 10


def full():
    return 180, 200


@njit
def escape(z, c, limit):
    for n in range(limit):
        if z.real * z.real + z.imag * z.imag > 4.0:
            return n
        z = z * z + c
    return limit


@njit
def run(size, limit):
    out = np.zeros((size, size), np.int64)
    for i in range(size):
        for j in range(size):
            out[i, j] = escape(complex(-1.5 + 3.0 * i / size, -1.5 + 3.0 * j / size), -0.8 + 0.156j, limit)
    return out
