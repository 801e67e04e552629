"""Running sums, in place."""
import numpy as np
from peer import njit


def small():
    return np.arange(4),


def full():
    return np.arange(1_000_000) % 100,


@njit
def run(a):
    for i in range(1, len(a)):
        a[i] = (a[i] + a[i - 1]) & 0xFFFFFFFF
    return a[-1]
