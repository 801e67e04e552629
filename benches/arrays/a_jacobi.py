"""Relaxation of a heat equation on slices."""
import numpy as np
from peer import array_njit


def make(n, turns):
    u = np.zeros((n, n))
    u[0] = 1.0
    return u, turns


def small():
    return make(6, 3)


def full():
    return make(800, 30)


@array_njit
def run(u, turns):
    v = u.copy()
    for _ in range(turns):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[1:-1, 1:-1] = 0.25 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:])
    return u
