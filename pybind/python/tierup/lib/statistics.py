"""Statistics and signals of two arrays."""

import numpy as np

from .versions import NUMPY

_CROSS_TAKES_PAIRS = NUMPY < (2, 5)


def _variables(m, rowvar, second):
    """One variable a row, as floats; of a second array a row stays one."""
    x = np.asarray(m)
    if second and x.ndim == 2 and x.shape[0] == 1:
        return _variables(x, True, False)
    if np.iscomplexobj(x):
        floats = x.astype(np.complex128)
    else:
        floats = x.astype(np.float64)
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if x.ndim < 2:
        return floats.reshape(1, -1)
    if not rowvar:
        return np.ascontiguousarray(floats.T)
    return np.ascontiguousarray(floats)


def cov(m, y, rowvar, bias, ddof):
    if y is None:
        x = _variables(m, rowvar, False)
    else:
        x = np.concatenate((_variables(m, rowvar, False), _variables(y, rowvar, True)))
    if ddof is None:
        freedom = x.shape[1] - (0 if bias else 1)
    else:
        freedom = x.shape[1] - ddof
    if freedom <= 0:
        freedom = freedom * 0
    centred = x - np.mean(x, axis=1, keepdims=True)
    c = np.true_divide(np.dot(centred, np.conj(centred.T)), freedom)
    if np.asarray(m).ndim < 2 and y is None:
        return np.asarray(c[0, 0])
    return c


def corrcoef(x, y, rowvar):
    c = cov(x, y, rowvar, False, None)
    if c.ndim == 0:
        return c[()] / c[()]
    d = np.sqrt(np.diag(c).real)
    out = c / d.reshape(-1, 1) / d.reshape(1, -1)
    for i in np.ndindex(out.shape):
        # Rounding may lead past 1.
        if np.isscalar(out[i].real) and not np.iscomplexobj(out):
            out[i] = min(max(out[i], -1.0), 1.0)
    return out


def _full_correlation(a, v):
    """Sums of products for every overlap of ``a`` with a shorter ``v``."""
    n, m = len(a), len(v)
    out = np.empty(n + m - 1, np.result_type(a, v))
    for k in range(n + m - 1):
        first = max(0, k - m + 1)
        last = min(n, k + 1)
        out[k] = np.dot(a[first:last], v[first - k + m - 1:last - k + m - 1])
    return out


def _cut(full, mode, n, m):
    """The part of a full correlation of lengths ``n >= m`` that a mode asks for."""
    if mode == "full":
        return full
    if mode == "same":
        start = (m - 1) // 2
        return full[start:start + n].copy()
    if mode == "valid":
        return full[m - 1:n].copy()
    raise ValueError("mode must be one of 'valid', 'same', or 'full'")


def correlate(a, v, mode):
    x, y = np.asarray(a), np.asarray(v)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError("object of too small depth for desired array" if x.ndim == 0 or x.ndim == 1 and y.ndim == 0 else "object too deep for desired array")
    if len(x) == 0:
        raise ValueError("first array argument cannot be empty")
    if len(y) == 0:
        raise ValueError("second array argument cannot be empty")
    common = np.result_type(x, y)
    # Truth values have a conjugate that is a number.
    left, right = x.astype(common), np.conj(y.astype(common)) if np.iscomplexobj(y) else y.astype(common)
    if len(left) >= len(right):
        return _cut(_full_correlation(left, right), mode, len(left), len(right))
    return _cut(_full_correlation(right, left), mode, len(right), len(left))[::-1].copy()


def convolve(a, v, mode):
    x, y = np.atleast_1d(np.asarray(a)), np.atleast_1d(np.asarray(v))
    if len(x) == 0:
        raise ValueError("a cannot be empty")
    if len(y) == 0:
        raise ValueError("v cannot be empty")
    common = np.result_type(x, y)
    left, right = x.astype(common), y.astype(common)
    if len(left) >= len(right):
        return _cut(_full_correlation(left, right[::-1].copy()), mode, len(left), len(right))
    return _cut(_full_correlation(right, left[::-1].copy()), mode, len(right), len(left))


def _third(x):
    """The last coordinate of vectors; a vector of two has 0."""
    if x.shape[-1] == 3:
        return x[..., 2]
    return np.zeros_like(x[..., 0])


def cross(a, b):
    x, y = np.asarray(a), np.asarray(b)
    n, m = x.shape[-1], y.shape[-1]
    if not _CROSS_TAKES_PAIRS and (n != 3 or m != 3):
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {n} and {m} dimensional instead.")
    if n < 2 or n > 3 or m < 2 or m > 3:
        raise ValueError("Both input arrays must be (arrays of) 2- or 3-dimensional vectors, but they are not.")
    if n == 2 and m == 2:
        raise ValueError("cross() of vectors with two coordinates is a number: write x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]")
    x2, y2 = _third(x), _third(y)
    # NumPy's functions keep the width of numbers, Python's operators would not.
    c0 = np.subtract(np.multiply(x[..., 1], y2), np.multiply(x2, y[..., 1]))
    c1 = np.subtract(np.multiply(x2, y[..., 0]), np.multiply(x[..., 0], y2))
    c2 = np.subtract(np.multiply(x[..., 0], y[..., 1]), np.multiply(x[..., 1], y[..., 0]))
    first = np.asarray(c0)
    out = np.empty(first.shape + (3,), first.dtype)
    out[..., 0] = c0
    out[..., 1] = c1
    out[..., 2] = c2
    return out


def trapezoid(y, x, dx, axis):
    f = np.moveaxis(np.asarray(y), axis, -1)
    if x is None:
        return np.sum(dx * (f[..., 1:] + f[..., :-1]) / 2.0, -1)
    at = np.asarray(x)
    if at.ndim == 1:
        return np.sum((at[1:] - at[:-1]) * (f[..., 1:] + f[..., :-1]) / 2.0, -1)
    steps = np.moveaxis(at, axis, -1)
    return np.sum((steps[..., 1:] - steps[..., :-1]) * (f[..., 1:] + f[..., :-1]) / 2.0, -1)
