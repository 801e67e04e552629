"""Euclid's algorithm over all pairs."""
from peer import njit

ARRAYS = False


def small():
    return 4,


def full():
    return 800,


@njit
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@njit
def run(n):
    s = 0
    for i in range(1, n):
        for j in range(1, n):
            s += gcd(i, j)
    return s
