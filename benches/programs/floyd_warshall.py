"""Shortest paths between all pairs."""
import numpy as np
from peer import njit


def make(n):
    return ((np.arange(n * n) * 7919) % 100 + 1.0).reshape(n, n),


def small():
    return make(3)


def full():
    return make(120)


@njit
def run(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = d[i, k] + d[k, j]
                if through < d[i, j]:
                    d[i, j] = through
    return d.sum()
