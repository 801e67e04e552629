"""Primes below n."""
import numpy as np
from peer import njit


def small():
    return 20,


def full():
    return 1_000_000,


@njit
def run(n):
    prime = np.ones(n, np.bool_)
    prime[:2] = False
    i = 2
    while i * i < n:
        if prime[i]:
            for j in range(i * i, n, i):
                prime[j] = False
        i += 1
    count = 0
    for i in range(n):
        if prime[i]:
            count += 1
    return count
