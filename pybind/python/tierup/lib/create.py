"""New arrays: ranges, grids and matrices with a pattern. Parameters are those of NumPy's functions of the same name."""

import math

import numpy as np

from .._jit import prange


def full_of_sequence(shape, fill_value, dtype, order):
    return np.full(shape, np.asarray(fill_value), dtype, order)


def linspace(start, stop, num, endpoint, retstep, dtype, axis):
    if isinstance(start, np.ndarray) and start.ndim == 0:
        return linspace(start[()], stop, num, endpoint, retstep, dtype, axis)
    if isinstance(stop, np.ndarray) and stop.ndim == 0:
        return linspace(start, stop[()], num, endpoint, retstep, dtype, axis)
    if not np.isscalar(start) or not np.isscalar(stop):
        return _linspace_of_arrays(np.asarray(start), np.asarray(stop), num, endpoint, retstep, dtype, axis)
    if isinstance(num, float):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    if axis != 0 and axis != -1:
        raise ValueError("the points between two numbers have one axis")
    div = int(num) - 1 if endpoint else int(num)
    # All in the type of the points, as NumPy rounds; a step of zero is multiplied last, so that tiny intervals keep their points.
    point = np.result_type(start, stop, 1.0)
    out = np.empty(num, point)
    first = point.type(start)
    delta = np.subtract(point.type(stop), first)
    step = math.nan
    if div > 0:
        step = np.true_divide(delta, div)
        if step == 0:
            for i in prange(num):
                out[i] = np.add(np.multiply(np.true_divide(point.type(i), div), delta), first)
        else:
            for i in prange(num):
                out[i] = np.add(np.multiply(point.type(i), step), first)
    else:
        for i in range(num):
            out[i] = np.add(np.multiply(point.type(i), delta), first)
    if endpoint and num > 1:
        out[num - 1] = stop
    if dtype is None:
        result = out
    else:
        result = _points_as(out, dtype)
    if retstep:
        return result, step
    else:
        return result


def _linspace_of_arrays(start, stop, num, endpoint, retstep, dtype, axis):
    """Points between the elements of arrays, along a new axis."""
    if axis != 0:
        points = _linspace_of_arrays(start, stop, num, endpoint, retstep, dtype, 0)
        if retstep:
            return np.moveaxis(points[0], 0, axis), points[1]
        else:
            return np.moveaxis(points, 0, axis)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    div = num - 1 if endpoint else num
    first = np.multiply(start, 1.0)
    delta = np.multiply(stop, 1.0) - first
    step = np.full_like(delta, math.nan)
    if div > 0:
        step = np.true_divide(delta, div)
    out = np.empty((num,) + delta.shape, delta.dtype)
    for i in range(num):
        if div > 0 and np.any(np.equal(step, 0)):
            out[i] = first + i / div * delta
        elif div > 0:
            out[i] = first + i * step
        else:
            out[i] = first + i * delta
    if endpoint and num > 1:
        out[num - 1] = stop
    if dtype is None:
        result = out
    else:
        result = _points_as(out, dtype)
    if retstep:
        return result, step
    else:
        return result


def _points_as(out, dtype):
    to = np.dtype(dtype)
    if to.kind == "i" or to.kind == "u":
        return np.floor(out).astype(to)
    return out.astype(to)


def logspace(start, stop, num, endpoint, base, dtype, axis):
    if not np.isscalar(base):
        first, last, bases = np.broadcast_arrays(start, stop, base)
        points = linspace(first, last, num, endpoint, False, None, axis)
        powers = np.power(np.expand_dims(bases, axis), points)
    else:
        powers = np.power(base, linspace(start, stop, num, endpoint, False, None, axis))
    if dtype is None:
        return powers
    return powers.astype(dtype)


def geomspace(start, stop, num, endpoint, dtype, axis):
    if isinstance(start, (list, tuple)) or isinstance(stop, (list, tuple)):
        return geomspace(np.asarray(start), np.asarray(stop), num, endpoint, dtype, axis)
    if np.any(np.equal(start, 0)) or np.any(np.equal(stop, 0)):
        raise ValueError("Geometric sequence cannot include zero")
    if dtype is None:
        points = _geometric(start, stop, num, endpoint, np.result_type(start, stop, np.float64))
    else:
        points = _geometric(start, stop, num, endpoint, np.result_type(np.result_type(start, stop, 1.0), dtype)).astype(dtype)
    return points if axis == 0 else np.moveaxis(points, 0, axis)


def _geometric(start, stop, num, endpoint, point):
    """Signs, or directions of complex numbers, are those of the first number: where the last has another, real logarithms do not exist and all between are NaN."""
    first, last = np.asarray(start).astype(point), np.asarray(stop).astype(point)
    sign = np.sign(first)
    first = np.true_divide(first, sign)
    last = np.true_divide(last, sign)
    points = np.power(10.0, linspace(np.log10(first), np.log10(last), num, endpoint, False, None, 0)).astype(point)
    if num > 0:
        points[0] = first
        if num > 1 and endpoint:
            points[num - 1] = last
    return np.multiply(points, sign)


def eye(N, M, k, dtype, order):
    if M is None:
        return eye(N, N, k, dtype, order)
    out = np.zeros((N, M), dtype, order)
    for i in range(max(0, -k), min(N, M - k)):
        out[i, i + k] = 1
    return out


def identity(n, dtype):
    return eye(n, n, 0, dtype, "C")


def tri(N, M, k, dtype):
    if M is None:
        return tri(N, N, k, dtype)
    # A count below zero is none, unlike in `eye`.
    out = np.zeros((max(N, 0), max(M, 0)), dtype)
    for i in range(N):
        for j in range(max(0, min(M, i + k + 1))):
            out[i, j] = 1
    return out


def tril(m, k):
    if isinstance(m, (list, tuple)):
        return tril(np.asarray(m), k)
    if m.ndim == 1:
        return tril(np.broadcast_to(m, (len(m), len(m))), k)
    out = np.zeros(m.shape, m.dtype)
    rows, columns = m.shape[-2], m.shape[-1]
    for i in range(rows):
        end = max(0, min(columns, i + k + 1))
        out[..., i, :end] = m[..., i, :end]
    return out


def triu(m, k):
    if isinstance(m, (list, tuple)):
        return triu(np.asarray(m), k)
    if m.ndim == 1:
        return triu(np.broadcast_to(m, (len(m), len(m))), k)
    out = np.zeros(m.shape, m.dtype)
    rows, columns = m.shape[-2], m.shape[-1]
    for i in range(rows):
        first = max(0, min(columns, i + k))
        out[..., i, first:] = m[..., i, first:]
    return out


def tril_indices(n, k, m):
    if m is None:
        return tril_indices(n, k, n)
    return np.nonzero(tri(n, m, k, np.bool_))


def triu_indices(n, k, m):
    if m is None:
        return triu_indices(n, k, n)
    return np.nonzero(~tri(n, m, k - 1, np.bool_))


def tril_indices_from(arr, k):
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k):
    return triu_indices(arr.shape[0], k, arr.shape[1])


def diag(v, k):
    if isinstance(v, (list, tuple)):
        return diag(np.asarray(v), k)
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = len(v) + abs(k)
    out = np.zeros((n, n), v.dtype)
    row, column = max(0, -k), max(0, k)
    for i in range(len(v)):
        out[row + i, column + i] = v[i]
    return out


def diagflat(v, k):
    return diag(np.ravel(np.asarray(v)), k)


def vander(x, N, increasing):
    if isinstance(x, (list, tuple)):
        return vander(np.asarray(x), N, increasing)
    if N is None:
        return vander(x, len(x), increasing)
    out = np.empty((len(x), N), np.result_type(x, np.int64))
    columns = out if increasing else out[:, ::-1]
    for i in range(len(x)):
        power = out.dtype.type(1)
        for j in range(N):
            columns[i, j] = power
            power *= x[i]
    return out


def fromiter(iter, dtype, count):
    out = np.empty(count if count >= 0 else 8, dtype)
    n = 0
    for x in iter:
        if n == count:
            break
        if n == len(out):
            larger = np.empty(2 * n, dtype)
            larger[:n] = out
            out = larger
        out[n] = x
        n += 1
    if n < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {n} items.")
    return out[:n].copy()


def meshgrid(indexing, sparse, copy, xi):
    """Grids of numbers, lists and arrays, each along an axis of its own."""
    if indexing != "xy" and indexing != "ij":
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    if len(xi) == 1:
        flat = np.ravel(np.asarray(xi[0]))
        return (flat.copy() if copy else flat,)
    return _grids(xi, (), len(xi), indexing, sparse, copy, _grid_shape(xi, indexing))


def _grid_shape(xi, indexing):
    lengths = _lengths(xi)
    if indexing == "xy" and len(lengths) > 1:
        return (lengths[1], lengths[0]) + lengths[2:]
    return lengths


def _lengths(xi):
    if len(xi) == 0:
        return ()
    return (np.asarray(xi[0]).size,) + _lengths(xi[1:])


def _grids(xi, done, n, indexing, sparse, copy, shape):
    if len(xi) == 0:
        return done
    k = len(done)
    if indexing == "xy" and k < 2:
        axis = 1 - k
    else:
        axis = k
    flat = np.ravel(np.asarray(xi[0]))
    lone = flat.reshape((1,) * axis + (-1,) + (1,) * (n - 1 - axis))
    grid = lone if sparse else np.broadcast_to(lone, shape)
    return _grids(xi[1:], done + (grid.copy() if copy else grid,), n, indexing, sparse, copy, shape)


def indices(dimensions, dtype, sparse):
    if not sparse:
        return np.indices(dimensions, dtype)
    return _sparse_indices(dimensions, dtype, (), len(dimensions))


def _sparse_indices(left, dtype, done, n):
    if len(left) == 0:
        return done
    k = len(done)
    if dtype is None:
        along = np.arange(left[0])
    else:
        along = np.arange(left[0]).astype(dtype)
    return _sparse_indices(left[1:], dtype, done + (along.reshape((1,) * k + (-1,) + (1,) * (n - 1 - k)),), n)


# -- windows -----------------------------------------------------------------------------------------------------------------------------------


def _offsets(M):
    """`1 - M, 3 - M, ..., M - 1`."""
    return np.arange(1 - M, M, 2)


def bartlett(M):
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    n = _offsets(M)
    return np.where(n <= 0, 1 + n / (M - 1), 1 - n / (M - 1))


def hanning(M):
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    return 0.5 + 0.5 * np.cos(math.pi * _offsets(M) / (M - 1))


def hamming(M):
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    return 0.54 + 0.46 * np.cos(math.pi * _offsets(M) / (M - 1))


def blackman(M):
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    n = _offsets(M)
    return 0.42 + 0.5 * np.cos(math.pi * n / (M - 1)) + 0.08 * np.cos(2.0 * math.pi * n / (M - 1))


def kaiser(M, beta):
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    alpha = (M - 1) / 2.0
    return np.i0(beta * np.sqrt(1 - ((np.arange(0, M) - alpha) / alpha) ** 2.0)) / np.i0(np.float64(beta))[()]


def of_dtype(dtype, x):
    return np.array(x, dtype)


def asarray_chkfinite(a, dtype, order):
    x = np.asarray(a, dtype, order)
    if (x.dtype.kind == "f" or x.dtype.kind == "c") and not np.isfinite(x).all():
        raise ValueError("array must not contain infs or NaNs")
    return x
