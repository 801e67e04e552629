"""Option prices as one expression over arrays: elementary functions and `where`."""
import numpy as np
from peer import array_njit


def make(n):
    return np.linspace(20.0, 120.0, n), np.linspace(120.0, 30.0, n), np.linspace(0.2, 3.0, n)


def small():
    return make(3)


def full():
    return make(1_000_000)


@array_njit
def normal(x):
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    tail = 0.3989422804 * np.exp(-0.5 * x * x) * (k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
    return np.where(x > 0.0, 1.0 - tail, tail)


@array_njit
def run(price, strike, years):
    root = 0.3 * np.sqrt(years)
    d1 = (np.log(price / strike) + (0.02 + 0.045) * years) / root
    d2 = d1 - root
    return price * normal(d1) - strike * np.exp(-0.02 * years) * normal(d2)
