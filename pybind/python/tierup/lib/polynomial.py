"""Polynomials as arrays of coefficients, the highest power first. Parameters are those of NumPy's functions of the same name."""

import numpy as np

from .solvers import eigvals_of_one


def _coefficients(p):
    return np.atleast_1d(np.asarray(p))


def roots(p):
    given = _coefficients(p)
    if given.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    places = np.nonzero(given)[0]
    first = int(places[0]) if len(places) > 0 else 0
    behind = int(places[-1]) + 1 if len(places) > 0 else 0
    c = np.multiply(given[first:behind], np._float_dtype(given)(1))
    companion = np.zeros((max(len(c) - 1, 0), max(len(c) - 1, 0)), c.dtype)
    for k in range(len(c) - 1):
        companion[0, k] = -c[k + 1] / c[0]
        if k > 0:
            companion[k, k - 1] = 1
    return _with_zeros(eigvals_of_one(companion, False), len(given) - behind if behind > 0 else 0)


def _with_zeros(found, zeros):
    """The roots that are zero come last."""
    out = np.zeros(len(found) + zeros, found.dtype)
    out[:len(found)] = found
    return out


def poly(seq_of_zeros):
    # Of an array without elements NumPy gives the number as well; that it has none is not known here.
    if isinstance(seq_of_zeros, tuple) and len(seq_of_zeros) == 0:
        return 1.0
    zeros = _coefficients(seq_of_zeros)
    if zeros.ndim != 1:
        raise ValueError("input must be 1d")
    out = np.zeros(len(zeros) + 1, np._float_dtype(zeros))
    out[0] = 1
    for n in range(len(zeros)):
        for k in range(n + 1, 0, -1):
            out[k] = np.subtract(out[k], np.multiply(zeros[n], out[k - 1]))
    return out


def polyval(p, x):
    # A number is an array without dimensions first, and has the type of one: what Python knows as an int is an int64.
    return _value(np.asarray(p), np.asarray(x)[()])


def _value(c, x):
    like = np.result_type(c, x)
    y = np.multiply(x, like(0))
    for k in range(len(c)):
        y = np.add(np.multiply(y, x), c[k])
    return y


def _longer(p, n):
    """With zeros in front."""
    return np.concatenate((np.zeros(n - len(p), p.dtype), p))


def polyadd(a1, a2):
    x, y = _coefficients(a1), _coefficients(a2)
    n = max(len(x), len(y))
    return np.add(_longer(x, n), _longer(y, n))


def polysub(a1, a2):
    x, y = _coefficients(a1), _coefficients(a2)
    n = max(len(x), len(y))
    return np.subtract(_longer(x, n), _longer(y, n))


def polymul(a1, a2):
    return np.convolve(_significant(_coefficients(a1)), _significant(_coefficients(a2)))


def _significant(p):
    """Without the zeros in front; one of them stays where there is nothing else."""
    k = 0
    while k < len(p) - 1 and p[k] == 0:
        k += 1
    return p[k:] if len(p) > 0 else np.zeros(1, p.dtype)


def polyder(p, m):
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    c = np.asarray(p)
    out = np.multiply(c, np.int64(1))
    for _ in range(m):
        out = np.multiply(out[:-1], np.arange(len(out) - 1, 0, -1))
    return out


def polyint(p, m, k):
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    c = np.asarray(p)
    if k is None:
        return _integral(c, m, np.zeros(m))
    constants = _coefficients(k)
    if len(constants) == 1 and m > 1:
        return _integral(c, m, np.full(m, constants[0]))
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    return _integral(c, m, constants)


def _integral(c, m, constants):
    like = np.result_type(c, constants, np.float64)
    # Only the first step may be one of real numbers where constants are complex.
    out = np.append(np.true_divide(c, np.arange(len(c), 0, -1)), like(constants[0])) if m > 0 else c.astype(like)
    for j in range(1, m):
        out = np.append(np.true_divide(out, np.arange(len(out), 0, -1)), like(constants[j]))
    return out


def polydiv(u, v):
    x, y = np.add(_coefficients(u), 0.0), np.add(_coefficients(v), 0.0)
    like = np.result_type(x, y)
    m, n = len(x) - 1, len(y) - 1
    scale = np.true_divide(1.0, y[0])
    q = np.zeros(max(m - n + 1, 1), like)
    r = x.astype(like)
    for k in range(m - n + 1):
        d = np.multiply(scale, r[k])
        q[k] = d
        r[k:k + n + 1] -= np.multiply(d, y)
    first = 0
    while first < len(r) - 1 and np.isclose(r[first], 0, 1e-14):
        first += 1
    return q, r[first:].copy()


def polyfit(x, y, deg, rcond, full, w, cov):
    return _fitted(x, y, deg, rcond, w)[0]


def polyfit_full(x, y, deg, rcond, full, w, cov):
    coefficients, found, _, _, least = _fitted(x, y, deg, rcond, w)
    return coefficients, found[1], found[2], found[3], least


def polyfit_cov(x, y, deg, rcond, full, w, cov):
    coefficients, found, powers, scale, _ = _fitted(x, y, deg, rcond, w)
    base = np.true_divide(np.linalg.inv(np.dot(powers.T, powers)), np.outer(scale, scale))
    if cov == "unscaled":
        factor = np.full_like(found[1], 1)
    else:
        if len(powers) <= deg + 1:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = np.true_divide(found[1], len(powers) - (deg + 1))
    if coefficients.ndim == 1:
        return coefficients, np.multiply(base, factor)
    else:
        return coefficients, np.multiply(base[:, :, np.newaxis], factor)


def _fitted(x, y, deg, rcond, w):
    """Coefficients, what the solver found, powers of the places, what they were divided by, and the least singular value that counts."""
    places, values = np.add(np.asarray(x), 0.0), np.add(np.asarray(y), 0.0)
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if places.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if places.size == 0:
        raise TypeError("expected non-empty vector for x")
    if values.ndim < 1 or values.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if len(places) != len(values):
        raise TypeError("expected x and y to have same length")
    powers = np.vander(places, deg + 1)
    if w is not None:
        weights = np.add(np.asarray(w), 0.0)
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if len(weights) != len(values):
            raise TypeError("expected w and y to have the same length")
        powers = np.multiply(powers, weights[:, np.newaxis])
        values = np.multiply(values, weights if values.ndim == 1 else weights[:, np.newaxis])
    least = len(places) * np.finfo(places.dtype).eps if rcond is None else rcond
    scale = np.sqrt(np.sum(np.multiply(powers, powers), 0))
    powers = np.true_divide(powers, scale)
    found = np.linalg.lstsq(powers, values, least)
    return np.true_divide(found[0].T, scale).T, found, powers, scale, least
