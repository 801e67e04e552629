"""Values far from the mean are cut off: statistics of one array, assignments where a condition holds."""
import numpy as np
from peer import array_njit


def make(n):
    return (np.sin(np.arange(n * 1.0)) + np.cos(np.arange(n) * 0.37),)


def small():
    return make(7)


def full():
    return make(1_000_000)


@array_njit
def run(x):
    y = x * 1.0
    centre, spread, least, greatest = y.mean(), y.std(), y.min(), y.max()
    y[y > centre + spread] = greatest
    y[(y < centre - spread) & (y > least)] = least
    return y
