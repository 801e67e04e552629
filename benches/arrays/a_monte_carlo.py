"""The area of a circle by random points."""
import numpy as np
from peer import array_njit, prange

RTOL = 0.1


def small():
    return (1000,)


def full():
    return (2_000_000,)


@array_njit
def run(n):
    hits = 0
    for _ in prange(n):
        x, y = np.random.random(), np.random.random()
        if x * x + y * y < 1.0:
            hits += 1
    return 4.0 * hits / n
