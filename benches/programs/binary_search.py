"""Many searches in a sorted array."""
import numpy as np
from peer import njit


def small():
    return np.arange(5.0), np.arange(3.0)


def full():
    return np.arange(100_000.0), (np.arange(100_000) * 7919) % 100_003 - 0.5


@njit
def find(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def run(a, wanted):
    s = 0
    for x in wanted:
        s += find(a, x)
    return s
