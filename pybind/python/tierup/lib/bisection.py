"""Python's module `bisect`: as its C version, for which a `hi` of -1 is none."""

import operator

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"


def _end(a, lo, hi):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    if hi is None or hi == -1:
        return len(a)
    return hi


def bisect_right(a, x, lo, hi, key):
    low, high = lo, _end(a, lo, hi)
    while low < high:
        middle = (low + high) >> 1
        rank = a[middle] if key is None else key(a[middle])
        if operator._orders("<", x, rank) and x < rank:
            high = middle
        else:
            low = middle + 1
    return low


def bisect_left(a, x, lo, hi, key):
    low, high = lo, _end(a, lo, hi)
    while low < high:
        middle = (low + high) >> 1
        rank = a[middle] if key is None else key(a[middle])
        if operator._orders("<", rank, x) and rank < x:
            low = middle + 1
        else:
            high = middle
    return low


def insort_right(a, x, lo, hi, key):
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key), x)


def insort_left(a, x, lo, hi, key):
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key), x)
