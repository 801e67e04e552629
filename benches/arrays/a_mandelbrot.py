"""Escape times, row by row: uneven work."""
import numpy as np
from peer import array_njit, prange


def small():
    return 4, 3, 10


def full():
    return 400, 300, 200


@array_njit
def run(width, height, most):
    out = np.zeros((height, width), np.int64)
    for i in prange(height):
        for j in range(width):
            cr, ci = -2.0 + 3.0 * j / width, -1.0 + 2.0 * i / height
            zr = zi = 0.0
            n = 0
            while n < most and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                n += 1
            out[i, j] = n
    return out
