"""Reductions of expressions: norms, means, largest differences."""
import numpy as np
from peer import array_njit


def make(n):
    return np.sin(np.arange(n * 1.0)), np.cos(np.arange(n * 1.0))


def small():
    return make(5)


def full():
    return make(2_000_000)


@array_njit
def run(a, b):
    d = a - b
    return np.sqrt((d * d).sum()), np.abs(d).max(), a.mean(), (a * b).sum(), (d > 0.5).sum()
