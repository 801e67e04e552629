"""New arrays: ranges, grids and matrices with a pattern. Parameters are those of NumPy's functions of the same name."""

import math

import numpy as np


def arange(start, stop, step, dtype):
    if stop is None:
        return arange(0, start, step, dtype)
    if step is None:
        return arange(start, stop, 1, dtype)
    if dtype is None:
        return arange(start, stop, step, np.result_type(start, stop, step))
    out = np.empty(_count(start, stop, step), dtype)
    _fill_range(out, start, step)
    return out


def _count(start, stop, step):
    """How many numbers a range has."""
    if isinstance(start, complex) or isinstance(stop, complex) or isinstance(step, complex):
        return _count(start.real, stop.real, step.real)
    if isinstance(start, float) or isinstance(stop, float) or isinstance(step, float):
        length = (stop - start) / step
        if math.isnan(length):
            raise ValueError("arange: cannot compute length")
        if length > 9e18:
            raise ValueError("Maximum allowed size exceeded")
        if length <= 0:
            return 0
        return math.ceil(length)
    if step == 0:
        raise ZeroDivisionError("division by zero")
    return len(range(start, stop, step))


def _fill_range(out, start, step):
    # NumPy computes the first two numbers and steps by their difference, in the array's own type.
    n = len(out)
    if n > 0:
        out[0] = start
    if n > 1:
        out[1] = start + step
        first = out[0]
        delta = out[1] - first
        for i in range(2, n):
            out[i] = first + i * delta


def linspace(start, stop, num, endpoint, retstep, dtype):
    if isinstance(num, float):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    div = num - 1 if endpoint else num
    out = np.empty(num, _point_type(start, stop))
    # The difference as NumPy rounds it; a step of zero is multiplied last, so that tiny intervals keep their points.
    first = start * 1.0
    delta = stop * 1.0 - first
    step = delta * math.nan
    if div > 0:
        step = delta / div
        if step == 0:
            for i in range(num):
                out[i] = i / div * delta + first
        else:
            for i in range(num):
                out[i] = i * step + first
    else:
        for i in range(num):
            out[i] = i * delta + first
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


def _point_type(start, stop):
    """The type of points between two numbers: at least float64."""
    return np.result_type(start, stop, np.float64) if not isinstance(start, np.float32) or not isinstance(stop, np.float32) else np.dtype(np.float64)


def _points_as(out, dtype):
    if dtype.kind == "i" or dtype.kind == "u":
        for i in range(len(out)):
            out[i] = math.floor(out[i])
    return out.astype(dtype)


def logspace(start, stop, num, endpoint, base, dtype):
    powers = np.power(base, linspace(start, stop, num, endpoint, False, None))
    if dtype is None:
        return powers
    return powers.astype(dtype)


def geomspace(start, stop, num, endpoint):
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    if start * stop < 0:
        raise ValueError("a geometric sequence of real numbers does not change its sign")
    sign = -1.0 if start < 0 else 1.0
    out = sign * np.power(10.0, linspace(math.log10(abs(start)), math.log10(abs(stop)), num, endpoint, False, None))
    if num > 0:
        out[0] = start
        if num > 1 and endpoint:
            out[num - 1] = stop
    return out


def eye(N, M, k, dtype):
    if M is None:
        return eye(N, N, k, dtype)
    out = np.zeros((N, M), dtype)
    for i in range(max(0, -k), min(N, M - k)):
        out[i, i + k] = 1
    return out


def identity(n, dtype):
    return eye(n, n, 0, dtype)


def tri(N, M, k, dtype):
    if M is None:
        return tri(N, N, k, dtype)
    out = np.zeros((N, M), dtype)
    for i in range(N):
        for j in range(max(0, min(M, i + k + 1))):
            out[i, j] = 1
    return out


def tril(m, k):
    if m.ndim == 1:
        return tril(np.broadcast_to(m, (len(m), len(m))), k)
    out = np.zeros(m.shape, m.dtype)
    rows, columns = m.shape[-2], m.shape[-1]
    for i in range(rows):
        end = max(0, min(columns, i + k + 1))
        out[..., i, :end] = m[..., i, :end]
    return out


def triu(m, k):
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


def diag(v, k):
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
    return diag(np.ravel(v), k)


def vander(x, N, increasing):
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
