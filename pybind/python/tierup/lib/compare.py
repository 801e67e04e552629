"""Arrays compared as a whole or within tolerances."""

import numpy as np


def isclose(a, b, rtol, atol, equal_nan):
    x, y = np.asarray(a), _inexact(np.asarray(b))
    close = np.less_equal(np.abs(x - y), atol + rtol * np.abs(y)) & np.isfinite(y)
    same = close | np.equal(x, y)
    if equal_nan:
        return same | (np.isnan(x) & np.isnan(y))
    return same


def _inexact(y):
    if y.dtype.kind == "f" or y.dtype.kind == "c":
        return y
    return y.astype(np.float64)


def allclose(a, b, rtol, atol, equal_nan):
    same = isclose(a, b, rtol, atol, equal_nan)
    if isinstance(same, (bool, np.bool_)):
        return bool(same)
    else:
        return _all(same)


def _all(a):
    for x in a.flat:
        if not x:
            return False
    return True


def array_equal(a1, a2, equal_nan):
    x, y = np.asarray(a1), np.asarray(a2)
    if x.shape != y.shape:
        return False
    same = np.equal(x, y)
    if equal_nan:
        same = same | (np.isnan(x) & np.isnan(y))
    if isinstance(same, (bool, np.bool_)):
        return bool(same)
    else:
        return _all(same)


def array_equiv(a1, a2):
    x, y = np.asarray(a1), np.asarray(a2)
    for d in range(1, 1 + min(x.ndim, y.ndim)):
        m, n = x.shape[-d], y.shape[-d]
        if m != n and m != 1 and n != 1:
            return False
    return _all(np.atleast_1d(np.equal(x, y)))
