"""Edit distance of two sequences held in arrays."""
import numpy as np
from peer import njit


def make(n):
    return (np.arange(n) * 7) % 11, (np.arange(n) * 5) % 13


def small():
    return make(4)


def full():
    return make(1000)


@njit
def run(a, b):
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        diagonal, row[0] = row[0], i + 1
        for j in range(len(b)):
            cost = diagonal if a[i] == b[j] else diagonal + 1
            diagonal = row[j + 1]
            row[j + 1] = min(cost, row[j] + 1, diagonal + 1)
    return row[-1]
