"""A long expression without functions, and a masked correction."""
import numpy as np
from peer import array_njit


def make(n):
    return (np.linspace(-2.0, 2.0, n),)


def small():
    return make(5)


def full():
    return make(2_000_000)


@array_njit
def run(x):
    y = ((2.0 * x - 3.0) * x + 0.5) * x * x - 7.0
    return np.where(y < 0.0, -y, y) + x
