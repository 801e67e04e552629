"""Indices that come from memory: every access needs its bounds check."""
import numpy as np
from peer import njit


def make(n):
    return np.arange(n) * 1.5, (np.arange(n) * 7919) % n, np.zeros(n)


def small():
    return make(5)


def full():
    return make(200_003)


@njit
def run(a, index, out):
    for _ in range(3):
        for i in range(len(index)):
            k = index[i]
            out[k] = a[k] + a[index[k]]
    return out.sum()
