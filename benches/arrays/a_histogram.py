"""Counts of values in bins, from an expression over arrays."""
import numpy as np
from peer import array_njit


def make(n):
    return np.sin(np.arange(n * 1.0)), 64


def small():
    return make(7)


def full():
    return make(1_000_000)


@array_njit
def run(x, bins):
    at = ((x + 1.0) * 0.5 * (bins - 1)).astype(np.int64)
    counts = np.zeros(bins, np.int64)
    for i in range(len(at)):
        counts[at[i]] += 1
    return counts
