"""Mean and spread in a moving window, by slices."""
import numpy as np
from peer import array_njit, prange


def make(n, width):
    return np.sin(np.arange(n * 1.0)), width


def small():
    return make(10, 3)


def full():
    return make(100_000, 40)


@array_njit
def run(x, width):
    n = len(x) - width + 1
    mean, spread = np.empty(n), np.empty(n)
    for i in prange(n):
        w = x[i:i + width]
        m = w.sum() / width
        mean[i] = m
        spread[i] = np.sqrt(((w - m) ** 2).sum() / width)
    return mean, spread
