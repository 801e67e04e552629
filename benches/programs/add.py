"""The smallest function there is: two numbers."""
from peer import njit

ARRAYS = False


def small():
    return 1, 2


def full():
    return 200_000,


@njit
def add(a, b):
    return a + b


@njit
def many(n):
    s = 0
    for i in range(n):
        s = add(s, i) ^ (s >> 3)
    return s


run, steady = add, many
