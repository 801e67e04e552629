"""Mean, variance, minimum and maximum so far."""
import numpy as np
from peer import njit


def small():
    return np.arange(4.0),


def full():
    return (np.arange(300_000) * 0.6180339887) % 1.0,


@njit
def run(a):
    out = np.empty((len(a), 4))
    mean = m2 = 0.0
    low, high = a[0], a[0]
    for i in range(len(a)):
        x = a[i]
        delta = x - mean
        mean += delta / (i + 1)
        m2 += delta * (x - mean)
        low, high = min(low, x), max(high, x)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = mean, m2 / (i + 1), low, high
    return out
