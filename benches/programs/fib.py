"""Recursion without memory: call overhead inside compiled code."""
from peer import njit

ARRAYS = False


def small():
    return 5,


def full():
    return 27,


@njit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


run = fib
