"""Columns with mean 0 and spread 1: reductions along an axis, broadcasts."""
import numpy as np
from peer import array_njit


def make(n, m):
    return (np.sin(np.arange(n * m * 1.0)).reshape(n, m),)


def small():
    return make(4, 2)


def full():
    return make(100_000, 10)


@array_njit
def run(x):
    mean = x.sum(axis=0) / len(x)
    d = x - mean
    spread = np.sqrt((d * d).sum(axis=0) / len(x))
    return d / spread
