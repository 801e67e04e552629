"""Gradient descent for logistic regression: matrix products and exponentials."""
import numpy as np
from peer import array_njit


def make(n, m, turns):
    x = np.sin(np.arange(n * m * 1.0)).reshape(n, m)
    return np.where(x[:, 0] > 0.1, 1.0, -1.0), x, np.ones(m), turns


def small():
    return make(6, 2, 2)


def full():
    return make(200_000, 10, 10)


@array_njit
def run(y, x, w, turns):
    w = w.copy()
    for _ in range(turns):
        w -= np.dot((1.0 / (1.0 + np.exp(-y * np.dot(x, w))) - 1.0) * y, x) / len(y)
    return w
