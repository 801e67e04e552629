"""Whole-array arithmetic, temporaries and all."""
import numpy as np
from peer import njit

RTOL = 1e-12


def make(n):
    return np.linspace(0, 1, n), np.linspace(1, 2, n), np.linspace(2, 3, n)


def small():
    return make(4)


def full():
    return make(200_000)


@njit
def run(a, b, c):
    d = (a + b) * c - a / (b + 1.0)
    return np.sqrt(d * d + 1.0).sum()
