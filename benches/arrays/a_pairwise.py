"""Distances between all pairs of points, with rows as small arrays."""
import numpy as np
from peer import array_njit, prange


def make(n):
    return (np.sin(np.arange(n * 3.0)).reshape(n, 3),)


def small():
    return make(4)


def full():
    return make(1500)


@array_njit
def run(x):
    n = len(x)
    out = np.empty((n, n))
    for i in prange(n):
        for j in range(n):
            d = x[i] - x[j]
            out[i, j] = np.sqrt((d * d).sum())
    return out
