"""Product and sum of two vectors, one element at a time."""
import numpy as np
from peer import njit


def make(n):
    return np.linspace(0, 1, n), np.linspace(1, 2, n)


def small():
    return make(4)


def full():
    return make(1_000_000)


@njit
def run(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s
