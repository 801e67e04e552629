"""Option prices in a loop: elementary functions."""
import math

import numpy as np
from peer import njit

RTOL = 1e-9


def make(n):
    return np.linspace(20.0, 120.0, n), np.linspace(120.0, 30.0, n), np.linspace(0.2, 3.0, n)


def small():
    return make(3)


def full():
    return make(100_000)


@njit
def cumulative(x):
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804 * math.exp(-0.5 * x * x) * poly
    return 1.0 - tail if x > 0 else tail


@njit
def run(price, strike, years):
    rate, volatility = 0.02, 0.3
    out = np.empty(len(price))
    for i in range(len(price)):
        root = math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / (volatility * root)
        d2 = d1 - volatility * root
        out[i] = price[i] * cumulative(d1) - strike[i] * math.exp(-rate * years[i]) * cumulative(d2)
    return out
