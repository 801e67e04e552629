"""Random vectors of `np.random`, by NumPy's own recipes. `rng` is None for the thread's stream, or a generator."""

import math

import numpy as np

from .random import exact_sum
from .versions import NUMPY

# The stream of `np.random.multinomial` also moves on where nothing is drawn.
_DRAWS_FOR_NOTHING = NUMPY >= (2, 5)


def _rows(size, n):
    if size is None:
        return (n,)
    if isinstance(size, (int, np.integer)):
        return (size, n)
    return size + (n,)


# -- multinomial -------------------------------------------------------------------------------------------------------------------------------


def multinomial(n, pvals, size):
    p = np.asarray(pvals).astype(np.float64)
    if p.ndim == 0:
        raise TypeError("pvals must be a 1-d sequence")
    if p.ndim != 1:
        raise ValueError("setting an array element with a sequence. The requested array would exceed the maximum number of dimension of 1.")
    _check_probabilities(p, "sum(pvals[:-1]) > 1.0")
    if n < 0:
        raise ValueError("n < 0")
    out = np.zeros(_rows(size, len(p)), np.int64)
    flat = out.reshape(-1, len(p))
    for row in range(flat.shape[0]):
        _share_out(None, int(n), p, flat[row])
    return out


def generator_multinomial(rng, n, pvals, size):
    p = np.asarray(pvals).astype(np.float64)
    if p.ndim == 0 or p.shape[-1] == 0:
        raise ValueError("pvals must have at least 1 dimension and the last dimension of pvals must be greater than 0.")
    _check_probabilities(p, "sum(pvals[...,:-1]) > 1.0" if p.ndim > 1 else "sum(pvals[:-1]) > 1.0")
    counts = np.asarray(n).astype(np.int64)
    for k in np.ravel(counts):
        if k < 0:
            raise ValueError("n < 0")
    d = p.shape[-1]
    shape = np.broadcast_shapes(counts.shape, p.shape[:-1])
    if size is None:
        return _multinomials(rng, counts, p, shape, np.zeros(shape + (d,), np.int64))
    to = (size,) if isinstance(size, (int, np.integer)) else size
    if counts.ndim == 0 and p.ndim == 1:
        return _multinomials(rng, counts, p, to, np.zeros(to + (d,), np.int64))
    if np.broadcast_shapes(shape, to) != to:
        raise ValueError(f"Output size {to} is not compatible with broadcast dimensions of inputs {shape}.")
    return _multinomials(rng, counts, p, to, np.zeros(to + (d,), np.int64))


def _multinomials(rng, counts, p, shape, out):
    """One for each count and row of probabilities, which are broadcast together."""
    n = np.broadcast_to(counts, shape)
    rows = np.broadcast_to(p, shape + (p.shape[-1],))
    for at in np.ndindex(shape):
        _share_out(rng, n[at], rows[at], out[at])
    return out


def _check_probabilities(p, too_many):
    for x in np.ravel(p):
        if not (0 <= x <= 1):
            raise ValueError("pvals < 0, pvals > 1 or pvals contains NaNs")
    d = p.shape[-1]
    if d > 0:
        rows = np.ascontiguousarray(p).reshape(-1, d)
        for i in range(rows.shape[0]):
            if exact_sum(rows[i], d - 1) > 1.0 + 1e-12:
                raise ValueError(too_many)


def _share_out(rng, n, p, row):
    left = n
    rest = 1.0
    for j in range(len(p) - 1):
        if _DRAWS_FOR_NOTHING and rng is None and (left == 0 or p[j] == 0):
            np.random.random()
        got = np.random._share(rng, left, p[j] / rest)
        row[j] = got
        left -= got
        if left <= 0:
            break
        rest -= p[j]
    if left > 0 and len(p) > 0:
        row[len(p) - 1] = left


# -- hypergeometric ----------------------------------------------------------------------------------------------------------------------------


def multivariate_hypergeometric(rng, colors, nsample, size, method):
    if method != "count" and method != "marginals":
        raise ValueError('method must be "count" or "marginals".')
    if nsample < 0:
        raise ValueError("nsample must be nonnegative.")
    given = np.asarray(colors)
    if given.ndim != 1 or (given.dtype.kind != "i" and given.dtype.kind != "u"):
        raise ValueError("colors must be a one-dimensional sequence of nonnegative integers not exceeding 9223372036854775807.")
    counts = given.astype(np.int64)
    total = 0
    for k in counts:
        if k < 0:
            raise ValueError("colors must be a one-dimensional sequence of nonnegative integers not exceeding 9223372036854775807.")
        if k > 9223372036854775807 - total:
            raise ValueError("sum(colors) must not exceed the maximum value of a 64 bit signed integer (9223372036854775807)")
        total += k
    if method == "marginals" and total >= 1000000000:
        raise ValueError('When method is "marginals", sum(colors) must be less than 1000000000.')
    if nsample > total:
        raise ValueError("nsample > sum(colors)")
    out = np.zeros(_rows(size, len(counts)), np.int64)
    if len(counts) > 0 and total > 0 and nsample > 0 and out.size > 0:
        rows = out.reshape(-1, len(counts))
        # The smaller half is drawn.
        rest = nsample > total // 2
        drawn = total - nsample if rest else nsample
        if method == "marginals":
            for i in range(rows.shape[0]):
                _by_marginals(rng, counts, total, drawn, rows[i])
        else:
            _by_counts(rng, np.repeat(np.arange(len(counts)), counts), drawn, rows)
        if rest:
            rows[...] = counts - rows
    return out


def _by_marginals(rng, counts, total, drawn, row):
    left = drawn
    others = total
    for j in range(len(counts) - 1):
        if left <= 0:
            break
        others -= counts[j]
        got = int(rng.hypergeometric(counts[j], others, left))
        row[j] = got
        left -= got
    if left > 0:
        row[len(counts) - 1] = left


def _by_counts(rng, choices, drawn, rows):
    total = len(choices)
    for i in range(rows.shape[0]):
        for j in range(drawn):
            k = j + np.random._interval(rng, total - j - 1)
            choices[k], choices[j] = choices[j], choices[k]
        for j in range(drawn):
            rows[i, choices[j]] += 1


# -- normal ------------------------------------------------------------------------------------------------------------------------------------


def multivariate_normal(mean, cov, size, check_valid, tol):
    centre, spread = np.asarray(mean).astype(np.float64), np.asarray(cov).astype(np.float64)
    _check_moments(centre, spread)
    x = np.random.standard_normal(_rows(size, len(centre)))
    _, s, v = np.linalg.svd(spread)
    _check_valid(check_valid)
    if check_valid == "raise" and not np.allclose(np.dot(v.T * s, v), spread, tol, tol):
        raise ValueError("covariance is not symmetric positive-semidefinite.")
    y = np.dot(x.reshape(-1, len(centre)), np.sqrt(s)[:, None] * v)
    y += centre
    return y.reshape(x.shape)


def generator_multivariate_normal(rng, mean, cov, size, check_valid, tol, method):
    if method != "eigh" and method != "svd" and method != "cholesky":
        raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
    centre, spread = np.asarray(mean).astype(np.float64), np.asarray(cov).astype(np.float64)
    _check_moments(centre, spread)
    x = rng.standard_normal(_rows(size, len(centre)))
    factor = _factor(spread, check_valid, tol, method)
    return (centre + x.reshape(-1, len(centre)) @ factor.T).reshape(x.shape)


def _factor(spread, check_valid, tol, method):
    """A matrix whose square is the covariance."""
    if method == "cholesky":
        return np.linalg.cholesky(spread)
    _check_valid(check_valid)
    if method == "eigh":
        s, u = np.linalg.eigh(spread)
        if check_valid == "raise" and np.any(s < -tol):
            raise ValueError("covariance is not symmetric positive-semidefinite.")
        return u * np.sqrt(abs(s))
    u, s, v = np.linalg.svd(spread)
    if check_valid == "raise" and not np.allclose(np.dot(v.T * s, v), spread, tol, tol):
        raise ValueError("covariance is not symmetric positive-semidefinite.")
    return u * np.sqrt(s)


def _check_moments(mean, cov):
    if mean.ndim != 1:
        raise ValueError("mean must be 1 dimensional")
    if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if mean.shape[0] != cov.shape[0]:
        raise ValueError("mean and cov must have same length")


def _check_valid(check_valid):
    # What is asked to warn does not: compiled code has no warnings.
    if check_valid != "ignore" and check_valid != "warn" and check_valid != "raise":
        raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")


# -- Dirichlet ---------------------------------------------------------------------------------------------------------------------------------


def dirichlet(alpha, size):
    a = np.asarray(alpha).astype(np.float64)
    for x in a:
        if x <= 0:
            raise ValueError("alpha <= 0")
    out = np.zeros(_rows(size, len(a)))
    if len(a) > 0:
        flat = out.reshape(-1, len(a))
        for row in range(flat.shape[0]):
            total = 0.0
            for j in range(len(a)):
                flat[row, j] = np.random.standard_gamma(a[j])
                total += flat[row, j]
            scale = 1 / total
            for j in range(len(a)):
                flat[row, j] *= scale
    return out


def generator_dirichlet(rng, alpha, size):
    a = np.asarray(alpha).astype(np.float64)
    for x in a:
        if x < 0:
            raise ValueError("alpha < 0")
    out = np.zeros(_rows(size, len(a)))
    if len(a) > 0:
        if np.max(a) < 0.1:
            _broken_sticks(rng, a, out.reshape(-1, len(a)))
        else:
            _normalised_gammas(rng, a, out.reshape(-1, len(a)))
    return out


def _normalised_gammas(rng, a, flat):
    for row in range(flat.shape[0]):
        total = 0.0
        for j in range(len(a)):
            flat[row, j] = rng.standard_gamma(a[j])
            total += flat[row, j]
        scale = 1.0 / total
        for j in range(len(a)):
            flat[row, j] *= scale


def _broken_sticks(rng, a, flat):
    """Where all are small, gammas would be zeros."""
    k = len(a)
    sums = np.empty(k)
    total = 0.0
    for j in range(k - 1, -1, -1):
        total += a[j]
        sums[j] = total
    if total == 0.0:
        return
    for row in range(flat.shape[0]):
        left = 1.0
        for j in range(k - 1):
            v = rng.beta(a[j], sums[j + 1])
            flat[row, j] = left * v
            left *= 1.0 - v
            if sums[j + 1] == 0:
                break
        flat[row, k - 1] = left
