"""``np.pad``: a larger array around an array. Dimensions are filled one after the other, each over all that lies in those before it."""

import numpy as np

from .outputs import packed


def pad(array, pad_width, mode, constant_values, end_values, stat_length, reflect_type):
    a = np.asarray(array)
    if constant_values is not None and mode != "constant":
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {{'constant_values'}}")
    if end_values is not None and mode != "linear_ramp":
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {{'end_values'}}")
    if stat_length is not None and mode != "maximum" and mode != "mean" and mode != "median" and mode != "minimum":
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {{'stat_length'}}")
    if reflect_type is not None and mode != "reflect" and mode != "symmetric":
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {{'reflect_type'}}")
    if a.ndim == 0:
        return a.copy()
    widths = _widths(pad_width, a)
    out = _around(a, widths)
    if mode == "constant":
        if constant_values is None:
            _constant(out, a, widths, _pairs(0, a.ndim), False)
        else:
            # As in NumPy, unsigned integers take one value or a pair modulo their range, and no others that do not fit.
            _constant(out, a, widths, _pairs(constant_values, a.ndim), a.dtype.kind == "i" or a.dtype.kind == "u" and _many(np.asarray(constant_values)))
    elif mode != "empty":
        if a.size == 0:
            _check_empty(a, widths)
        elif mode == "edge":
            _edge(out, a, widths)
        elif mode == "linear_ramp":
            _ramp(out, a, widths, _pairs(0, a.ndim) if end_values is None else _pairs(end_values, a.ndim))
        elif mode == "maximum":
            _extreme(out, a, widths, _lengths(stat_length, a), np.max)
        elif mode == "minimum":
            _extreme(out, a, widths, _lengths(stat_length, a), np.min)
        elif mode == "mean":
            _statistic(out, a, widths, _lengths(stat_length, a), np.mean)
        elif mode == "median":
            _statistic(out, a, widths, _lengths(stat_length, a), np.median)
        elif mode == "reflect":
            _reflect(out, a, widths, reflect_type == "odd", False)
        elif mode == "symmetric":
            _reflect(out, a, widths, reflect_type == "odd", True)
        elif mode == "wrap":
            _wrap(out, a, widths)
        else:
            raise ValueError(f"mode '{mode}' is not supported")
    return out


def _pairs(x, ndim):
    """One value for both sides of each dimension, or two, or two for each."""
    return np.broadcast_to(np.asarray(x), (ndim, 2))


def _widths(pad_width, a):
    if isinstance(pad_width, dict):
        widths = np.zeros((a.ndim, 2), np.int64)
        for axis, width in pad_width.items():
            widths[axis] = width
        return widths
    given = np.asarray(pad_width)
    if given.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    widths = _pairs(given, a.ndim)
    if np.any(widths < 0):
        raise ValueError("index can't contain negative values")
    return widths


def _lengths(stat_length, a):
    """How many elements on either side a statistic is of; those of the whole dimension where nothing is said."""
    most = np.array(a.shape).reshape((a.ndim, 1)) * np.ones((1, 2), np.int64)
    if stat_length is None:
        return most
    given = _pairs(np.round(np.asarray(stat_length)).astype(np.int64), a.ndim)
    if np.any(given < 0):
        raise ValueError("index can't contain negative values")
    return np.minimum(given, most)


def _around(a, widths):
    """The array with room around it."""
    out = np.empty_like(a, order="A", shape=_larger(a.shape, widths, 0))
    _lines(out, a, widths, -1)[...] = a
    return out


def _larger(shape, widths, k):
    if len(shape) == 0:
        return ()
    return (shape[0] + widths[k, 0] + widths[k, 1],) + _larger(shape[1:], widths, k + 1)


def _lines(out, a, widths, axis):
    """A dimension that is being filled comes first; of those behind it only what the array had."""
    view = out if axis < 0 else np.moveaxis(out, axis, 0)
    for k in range(axis + 1, a.ndim):
        part = np.moveaxis(view, k, 0)[widths[k, 0]:widths[k, 0] + a.shape[k]]
        view = np.moveaxis(part, 0, k)
    return view


def _check_empty(a, widths):
    for k in range(a.ndim):
        if a.shape[k] == 0 and (widths[k, 0] > 0 or widths[k, 1] > 0):
            raise ValueError(f"can't extend empty axis {k} using modes other than 'constant' or 'empty'")


def _many(values):
    return values.size > 2 or values.ndim == 2 and values.shape == (2, 1)


def _constant(out, a, widths, values, must_fit):
    like = a.dtype.type(0)
    for k in range(a.ndim):
        view = _lines(out, a, widths, k)
        view[:widths[k, 0]] = packed(values[k, 0], like) if must_fit else np._cast_like(values[k, 0], like)
        view[len(view) - widths[k, 1]:] = packed(values[k, 1], like) if must_fit else np._cast_like(values[k, 1], like)


def _edge(out, a, widths):
    for k in range(a.ndim):
        _one_edge(_lines(out, a, widths, k), widths[k, 0], widths[k, 1])


def _one_edge(view, left, right):
    end = len(view) - right
    view[:left] = view[left:left + 1]
    view[end:] = view[end - 1:end]


def _ramp(out, a, widths, values):
    for k in range(a.ndim):
        view = _lines(out, a, widths, k)
        left, end = widths[k, 0], len(view) - widths[k, 1]
        view[:left] = np.linspace(values[k, 0], view[left], left, False, False, out.dtype)
        view[end:] = np.linspace(values[k, 1], view[end - 1], widths[k, 1], False, False, out.dtype)[::-1]


def _extreme(out, a, widths, lengths, function):
    if np.any(lengths == 0):
        raise ValueError("stat_length of 0 yields no value for padding")
    _statistic(out, a, widths, lengths, function)


def _statistic(out, a, widths, lengths, function):
    for k in range(a.ndim):
        view = _lines(out, a, widths, k)
        left, end = widths[k, 0], len(view) - widths[k, 1]
        view[:left] = _rounded(function(view[left:left + lengths[k, 0]], 0), out.dtype)
        view[end:] = _rounded(function(view[end - lengths[k, 1]:end], 0), out.dtype)


def _rounded(x, dtype):
    return np.round(x) if dtype.kind == "i" or dtype.kind == "u" else x


def _wrap(out, a, widths):
    for k in range(a.ndim):
        view, left, n = _lines(out, a, widths, k), widths[k, 0], a.shape[k]
        for j in range(left):
            view[j] = view[left + (j - left) % n]
        for j in range(left + n, len(view)):
            view[j] = view[left + (j - left) % n]


def _reflect(out, a, widths, odd, with_edge):
    for k in range(a.ndim):
        view, left, right = _lines(out, a, widths, k), widths[k, 0], widths[k, 1]
        if a.shape[k] == 1:
            _one_edge(view, left, right)
            continue
        # What lies inside is as many whole periods as it has; where it is shorter than what is wanted, it grows.
        while left > 0 or right > 0:
            left, right = _reflect_once(view, left, right, a.shape[k], odd, with_edge)


def _reflect_once(view, left, right, n, odd, with_edge):
    inside = len(view) - left - right
    length = inside // n * n if with_edge else (inside - 1) // (n - 1) * (n - 1)
    shift = 1 if with_edge else 0
    many = min(length, left)
    if many > 0:
        part = np.flip(view[left - shift + 1:left - shift + 1 + many], 0)
        _mirrored(view[left - many:left], view[left:left + 1], part, odd)
        left -= many
    many = min(length, right)
    if many > 0:
        end = len(view) - right
        part = np.flip(view[end + shift - 1 - many:end + shift - 1], 0)
        _mirrored(view[end:end + many], view[end - 1:end], part, odd)
        right -= many
    return left, right


def _mirrored(to, edge, part, odd):
    if odd:
        to[...] = np.subtract(np.multiply(2, edge), part)
    else:
        to[...] = part
