"""Polynomials with the constant first: `numpy.polynomial.polynomial`. Those of `numpy.poly1d` and its functions, which end in the constant, are in `polynomial.py`."""

import numpy as np


def trimseq(seq):
    n = len(seq)
    while n > 1 and seq[n - 1] == 0:
        n -= 1
    return seq[:n]


def _floats(a):
    """The coefficients in the type that polynomials of NumPy have: integers as float64."""
    if np._is_inexact(a):
        return a
    else:
        return a.astype(np.float64)


def _series(c):
    """The coefficients of one operand, without leading zeros."""
    a = np.atleast_1d(np.asarray(c))
    if a.ndim != 1:
        raise ValueError("Coefficient array is not 1-d")
    if a.size == 0:
        raise ValueError("Coefficient array is empty")
    return trimseq(_floats(np.ravel(a)))


def polyadd(c1, c2):
    a, b = _series(c1), _series(c2)
    dtype = np.result_type(a, b)
    if len(a) > len(b):
        out = a.astype(dtype)
        out[:len(b)] += b
    else:
        out = b.astype(dtype)
        out[:len(a)] += a
    return trimseq(out)


def polysub(c1, c2):
    a, b = _series(c1), _series(c2)
    dtype = np.result_type(a, b)
    if len(a) > len(b):
        out = a.astype(dtype)
        out[:len(b)] -= b
    else:
        out = -b.astype(dtype)
        out[:len(a)] += a
    return trimseq(out)


def polymul(c1, c2):
    a, b = _series(c1), _series(c2)
    dtype = np.result_type(a, b)
    return trimseq(np.convolve(a.astype(dtype), b.astype(dtype)))


def polydiv(c1, c2):
    a, b = _series(c1), _series(c2)
    dtype = np.result_type(a, b)
    rest, by = a.astype(dtype), b.astype(dtype)
    lead = by[-1]
    if lead == 0:
        raise ZeroDivisionError
    if len(rest) < len(by):
        return rest[:1] * 0, rest[:]
    if len(by) == 1:
        return rest / lead, (rest[:1] * 0)[:]
    lower = by[:-1] / lead
    top = len(rest) - 1
    while top >= len(lower):
        rest[top - len(lower):top] -= lower * rest[top]
        top -= 1
    return rest[top + 1:] / lead, trimseq(rest[:top + 1])


def polyval(x, c, tensor):
    if isinstance(x, (tuple, list)):
        return polyval(np.asarray(x), c, tensor)
    a = _floats(np.atleast_1d(np.asarray(c)))
    if isinstance(x, np.ndarray) and tensor:
        return _horner(x, a.reshape(a.shape + (1,) * x.ndim))
    else:
        return _horner(x, a)


def _horner(x, a):
    value = a[-1] + x * 0
    for k in range(2, len(a) + 1):
        value = a[-k] + value * x
    return value


def polyint(c, m):
    if m < 0:
        raise ValueError("The order of integration must be non-negative")
    a = _floats(np.atleast_1d(np.asarray(c))).copy()
    for _ in range(m):
        n = len(a)
        if n > 1 or np.any(a[0] != 0):
            out = np.empty((n + 1,) + a.shape[1:], a.dtype)
            out[0] = a[0] * 0
            out[1] = a[0]
            for j in range(1, n):
                out[j + 1] = a[j] / (j + 1)
            out[0] -= _horner(0, out)
            a = out
    return a
