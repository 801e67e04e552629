"""Arrays compared as a whole or within tolerances."""

import numpy as np


def isclose(a, b, rtol, atol, equal_nan):
    return np.isclose(np.asarray(a), np.asarray(b), rtol, atol, equal_nan)


def allclose(a, b, rtol, atol, equal_nan):
    return bool(np.all(np.isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1, a2, equal_nan):
    x, y = np.asarray(a1), np.asarray(a2)
    if x.shape != y.shape:
        return False
    if equal_nan:
        return bool(np.all(np.equal(x, y) | (np.isnan(x) & np.isnan(y))))
    return bool(np.all(np.equal(x, y)))


def array_equiv(a1, a2):
    x, y = np.asarray(a1), np.asarray(a2)
    if x.ndim > 0 and y.ndim > 0:
        for d in range(1, 1 + min(x.ndim, y.ndim)):
            m, n = x.shape[-d], y.shape[-d]
            if m != n and m != 1 and n != 1:
                return False
    return bool(np.all(np.equal(x, y)))


def equals_none(a, b):
    return np.zeros(b.shape if a is None else a.shape, np.bool_)


def differs_from_none(a, b):
    return np.ones(b.shape if a is None else a.shape, np.bool_)
