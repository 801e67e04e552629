"""Several results of the same arrays: expressions beside each other, and a sum of one of them."""
import numpy as np
from peer import array_njit


def make(n):
    return np.sin(np.arange(n * 1.0)), np.cos(np.arange(n * 1.0))


def small():
    return make(7)


def full():
    return make(1_000_000)


@array_njit
def run(a, b):
    t = a * 2.0 + b
    u = t + 1.0
    v = t * 3.0
    c = u * v
    c[0] = c.sum()
    return c
