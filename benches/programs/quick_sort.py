"""Recursive sorting in place."""
import numpy as np
from peer import njit


def make(n):
    return ((np.arange(n) * 7919) % 100_003).astype(np.float64), 0, n - 1


def small():
    return make(4)


def full():
    return make(100_000)


@njit
def sort(a, low, high):
    while low < high:
        pivot, i, j = a[(low + high) // 2], low, high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        sort(a, low, j)
        low = i


@njit
def run(a, low, high):
    sort(a, low, high)
    return a[low] + a[high]
