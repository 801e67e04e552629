"""Counts in bins."""
import numpy as np
from peer import njit


def small():
    return np.linspace(0, 1, 5), 4


def full():
    return (np.arange(500_000) * 0.6180339887) % 1.0, 50


@njit
def run(values, bins):
    counts = np.zeros(bins, np.int64)
    for v in values:
        k = int(v * bins)
        if k >= bins:
            k = bins - 1
        counts[k] += 1
    return counts
