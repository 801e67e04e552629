"""Distances between all pairs of points."""
import numpy as np
from peer import njit


def make(n):
    return (np.arange(n * 3) * 0.6180339887 % 1.0).reshape(n, 3),


def small():
    return make(3)


def full():
    return make(500)


@njit
def run(points):
    n, dims = points.shape
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            d = 0.0
            for k in range(dims):
                t = points[i, k] - points[j, k]
                d += t * t
            out[i, j] = np.sqrt(d)
    return out
