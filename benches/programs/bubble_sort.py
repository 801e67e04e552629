"""Quadratic sorting in place."""
import numpy as np
from peer import njit


def small():
    return np.array([3, 1, 2]),


def full():
    return (np.arange(1500) * 7919) % 1503,


@njit
def run(a):
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a[0]
