"""Mean of a sliding window."""
import numpy as np
from peer import njit


def small():
    return np.arange(6.0), 2


def full():
    return np.linspace(0, 10, 500_000), 50


@njit
def run(a, width):
    out = np.empty(len(a) - width + 1)
    s = 0.0
    for i in range(width):
        s += a[i]
    out[0] = s / width
    for i in range(width, len(a)):
        s += a[i] - a[i - width]
        out[i - width + 1] = s / width
    return out
