"""Reductions that are made of others, in the order in which NumPy computes them, so that results have NumPy's bits.

The rows of the table take arrays; what is given as a list, tuple or number, and results that go to ``out=``, pass through here.
"""

import math

import numpy as np

from .outputs import accumulated, positions, reduced


def sum_(a, axis, dtype, out, keepdims):
    if dtype is None and out is not None and np._is_inexact(out):
        return sum_(a, axis, np.result_type(np.asarray(a), out), out, keepdims)
    r = np.sum(np.asarray(a), axis, dtype, None, keepdims)
    return r if out is None else reduced(out, r, "add")


def prod(a, axis, dtype, out, keepdims):
    if dtype is None and out is not None and np._is_inexact(out):
        return prod(a, axis, np.result_type(np.asarray(a), out), out, keepdims)
    r = np.prod(np.asarray(a), axis, dtype, None, keepdims)
    return r if out is None else reduced(out, r, "multiply")


def nansum(a, axis, dtype, out, keepdims):
    r = np.nansum(np.asarray(a), axis, dtype, None, keepdims)
    return r if out is None else reduced(out, r, "add")


def nanprod(a, axis, dtype, out, keepdims):
    r = np.nanprod(np.asarray(a), axis, dtype, None, keepdims)
    return r if out is None else reduced(out, r, "multiply")


def min_(a, axis, out, keepdims):
    r = np.min(np.asarray(a), axis, None, keepdims)
    return r if out is None else reduced(out, r, "minimum")


def max_(a, axis, out, keepdims):
    r = np.max(np.asarray(a), axis, None, keepdims)
    return r if out is None else reduced(out, r, "maximum")


def nanmin(a, axis, out, keepdims):
    x = np.asarray(a)
    if not isinstance(a, np.ndarray) and axis is None and x.size == 0:
        # Of a list NumPy takes another function.
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    r = np.nanmin(x, axis, None, keepdims)
    return r if out is None else reduced(out, r, "fmin")


def nanmax(a, axis, out, keepdims):
    x = np.asarray(a)
    if not isinstance(a, np.ndarray) and axis is None and x.size == 0:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    r = np.nanmax(x, axis, None, keepdims)
    return r if out is None else reduced(out, r, "fmax")


def any_(a, axis, out, keepdims):
    r = np.any(np.asarray(a), axis, None, keepdims)
    return r if out is None else reduced(out, r, "logical_or")


def all_(a, axis, out, keepdims):
    r = np.all(np.asarray(a), axis, None, keepdims)
    return r if out is None else reduced(out, r, "logical_and")


def count_nonzero(a, axis, out, keepdims):
    return np.count_nonzero(np.asarray(a), axis, keepdims=keepdims)


def count_not_nan(a, axis, out, keepdims):
    return np._count_not_nan(np.asarray(a), axis, None, keepdims)


def argmin(a, axis, out, keepdims):
    r = np.argmin(np.asarray(a), axis, keepdims=keepdims)
    return r if out is None else positions(out, r, "argmin")


def argmax(a, axis, out, keepdims):
    r = np.argmax(np.asarray(a), axis, keepdims=keepdims)
    return r if out is None else positions(out, r, "argmax")


def nanargmin(a, axis, out, keepdims):
    r = np.nanargmin(np.asarray(a), axis, keepdims=keepdims)
    return r if out is None else positions(out, r, "argmin")


def nanargmax(a, axis, out, keepdims):
    r = np.nanargmax(np.asarray(a), axis, keepdims=keepdims)
    return r if out is None else positions(out, r, "argmax")


def cumsum(a, axis, dtype, out):
    r = np.cumsum(np.asarray(a), axis, dtype)
    return r if out is None else accumulated(out, r)


def cumprod(a, axis, dtype, out):
    r = np.cumprod(np.asarray(a), axis, dtype)
    return r if out is None else accumulated(out, r)


def nancumsum(a, axis, dtype, out):
    return np.cumsum(np._if_nan(np.asarray(a), 0), axis, dtype, out)


def nancumprod(a, axis, dtype, out):
    return np.cumprod(np._if_nan(np.asarray(a), 1), axis, dtype, out)


# -- means and variances -----------------------------------------------------------------------------------------------------------------------


def mean(a, axis, dtype, out, keepdims):
    x = np.asarray(a)
    if dtype is None:
        r = _quotient(np.sum(x, axis, np._float_dtype(x), None, keepdims), np._reduced_size(x, axis))
    else:
        r = _quotient(np.sum(x, axis, dtype, None, keepdims), np._reduced_size(x, axis))
    return r if out is None else reduced(out, r, "add")


def _quotient(total, n):
    """In NumPy the count is an int64, so that even single precision is divided in double, then rounded."""
    return np._cast_like(np.true_divide(total, np.int64(n)), total)


def _squares(distance, of):
    """Squared magnitudes of distances between elements of ``of``, which are squared without a conjugate where it is ``dtype`` that makes them complex."""
    if np.iscomplexobj(of):
        return np.multiply(distance, np.conjugate(distance)).real
    return np.multiply(distance, distance)


def var(a, axis, dtype, out, ddof, keepdims, correction):
    if correction is not None:
        return var(a, axis, dtype, out, correction, keepdims, None)
    x = np.asarray(a)
    if dtype is None:
        r = _var(x, axis, np._float_dtype(x), ddof, keepdims)
    else:
        r = np._cast_like(_var(x, axis, dtype, ddof, keepdims), np.dtype(dtype).type(0))
    return r if out is None else reduced(out, r, "add")


def _var(x, axis, dtype, ddof, keepdims):
    n = np._reduced_size(x, axis)
    if axis is None:
        centre = _quotient(np.sum(x, dtype=dtype), n)
    else:
        centre = _quotient(np.sum(x, axis, dtype, None, True), n)
    if x.ndim < 2:
        total = sum_of_squares(np.subtract(x, centre), x, axis, dtype, keepdims)
    else:
        # Laid out as the array itself, for the order of sums depends on it.
        distance = np.empty_like(x, np.result_type(x, centre))
        np.subtract(x, centre, distance)
        total = sum_of_squares(distance, x, axis, dtype, keepdims)
    if isinstance(ddof, (int, np.integer)):
        return _quotient(total, max(n - ddof, 0))
    return np._cast_like(np.true_divide(total, np.float64(max(n - ddof, 0))), total)


def sum_of_squares(distance, of, axis, dtype, keepdims):
    """Their sum, in ``dtype`` but where that has imaginary parts that squares lack."""
    squares = _squares(distance, of)
    if np.iscomplexobj(squares) or not np.iscomplexobj(np.dtype(dtype).type(0)):
        return np.sum(squares, axis, dtype, None, keepdims)
    return np.sum(squares, axis, None, None, keepdims)


def std(a, axis, dtype, out, ddof, keepdims, correction):
    r = np.sqrt(var(a, axis, dtype, None, ddof, keepdims, correction))
    return r if out is None else reduced(out, r, "add")


def nanmean(a, axis, dtype, out, keepdims):
    x = np.asarray(a)
    if np._is_inexact(x):
        total = np.nansum(x, axis, dtype, None, keepdims)
        r = np._cast_like(np.true_divide(total, np._count_not_nan(x, axis, None, keepdims)), total)
        return r if out is None else reduced(out, r, "add")
    return mean(x, axis, dtype, out, keepdims)


def nanvar(a, axis, dtype, out, ddof, keepdims):
    x = np.asarray(a)
    if np._is_inexact(x):
        r = _nanvar(x, axis, dtype, ddof, keepdims)
        return r if out is None else reduced(out, r, "add")
    return var(x, axis, dtype, out, ddof, keepdims, None)


def _nanvar(x, axis, dtype, ddof, keepdims):
    total = np.nansum(x, axis, dtype, None, True)
    centre = np._cast_like(np.true_divide(total, np._count_not_nan(x, axis, None, True)), total)
    # An infinite element is NaN away from the mean, which counts, unlike a NaN element.
    distance = np.where(np.isnan(x), np._cast_like(0, x), np.subtract(x, centre))
    squares = np.sum(_squares(distance, x), axis, dtype, None, keepdims)
    freedom = np._count_not_nan(x, axis, None, keepdims) - ddof
    return np._cast_like(np._quotient_or_nan(squares, freedom), squares)


def nanstd(a, axis, dtype, out, ddof, keepdims):
    r = np.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims))
    return r if out is None else reduced(out, r, "add")


def ptp(a, axis, out, keepdims):
    x = np.asarray(a)
    r = np.subtract(np.max(x, axis, None, keepdims), np.min(x, axis, None, keepdims))
    return r if out is None else reduced(out, r, "maximum")


def average(a, axis, weights, returned, keepdims):
    x = np.asarray(a)
    if weights is None:
        r = mean(x, axis, None, None, keepdims)
        if np.size(r) == 0:
            raise ZeroDivisionError("division by zero")
        total = np._cast_like(np._reduced_size(x, axis), r)
        if returned:
            return r, np.full(np.shape(r), total) if np.ndim(r) > 0 else total
    else:
        w = np.asarray(weights)
        if x.ndim == w.ndim and x.shape == w.shape:
            r, total = _weighted(x, w, axis, keepdims)
        elif axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        else:
            r, total = _weighted(x, _weights_along(w, x, axis), axis, keepdims)
    if returned:
        # Weights along one axis have one sum; NumPy repeats it for each result.
        return r, np.broadcast_to(total, np.shape(r)).copy() if np.ndim(r) > 0 else total
    return r


_INCONSISTENT = "Shape of weights must be consistent with shape of a along specified axis."


def _weights_along(w, x, axis):
    """Weights whose dimensions are some axes of an array, with a dimension of length 1 for each of the others."""
    np._reduced_size(x, axis)
    if not isinstance(axis, tuple):
        if w.ndim != 1 or w.shape[0] != x.shape[axis]:
            raise ValueError(_INCONSISTENT)
        return np.swapaxes(np.broadcast_to(w, (1,) * (x.ndim - 1) + w.shape), -1, axis)
    if w.ndim != len(axis) or w.shape != _lengths(x, axis):
        raise ValueError(_INCONSISTENT)
    wide = w.reshape(w.shape + (1,) * (x.ndim - w.ndim))
    if len(axis) == 1:
        return np.moveaxis(wide, 0, axis[0])
    if len(axis) == 2:
        return np.moveaxis(wide, (0, 1), axis)
    if len(axis) == 3:
        return np.moveaxis(wide, (0, 1, 2), axis)
    raise ValueError("weights of four dimensions and more are not compiled but for an array of their own shape")


def _lengths(x, axes):
    if len(axes) == 0:
        return ()
    return (x.shape[axes[0]],) + _lengths(x, axes[1:])


def _weighted(x, w, axis, keepdims):
    # Integers are multiplied as floats: their own width may be too narrow for products.
    dtype = np.result_type(x, w) if np._is_inexact(x) else np.result_type(x, w, np.float64)
    total = np.sum(w, axis, dtype, None, keepdims)
    if np.any(np.equal(total, 0.0)):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return np.true_divide(np.sum(np.multiply(x, w, dtype=dtype), axis, None, None, keepdims), total), total


# -- medians and quantiles ---------------------------------------------------------------------------------------------------------------------


def _as_float(v):
    return np.true_divide(v, 1)


def _middle(row, q, method, skip_nan):
    """Median of a 1-d array that may be reordered."""
    n = len(row)
    if n == 0:
        return np.true_divide(np.sum(row), 0)
    row.sort()
    if row[n - 1] != row[n - 1]:
        return row[n - 1] if np.iscomplexobj(row) else _as_float(row[n - 1])
    # NumPy takes the mean, whose sum starts from 0.0: the median of [-0.0] is 0.0.
    if n % 2 == 1:
        return np.add(_as_float(row[n // 2]), 0.0)
    return np.true_divide(np.add(np.add(_as_float(row[n // 2 - 1]), _as_float(row[n // 2])), 0.0), 2)


def _not_nan(row):
    out = np.empty(np._count_not_nan(row), row.dtype)
    k = 0
    for v in row:
        if v == v:
            out[k] = v
            k += 1
    return out


def _nan_middle(row, q, method, skip_nan):
    kept = _not_nan(row)
    if len(kept) == 0:
        return np._cast_like(np.nan, _as_float(row[0])) if len(row) else _middle(kept, q, method, skip_nan)
    return _middle(kept, q, method, skip_nan)


def _along(f, x, axis, keepdims, dtype, q, method, skip_nan):
    """``f(slice, q, method, skip_nan)`` of each 1-d slice of a copy along an axis, or of all elements."""
    if axis is None:
        r = f(x.flatten(), q, method, skip_nan)
        return np.full((1,) * x.ndim, r) if keepdims else r
    np._reduced_size(x, axis)
    moved = np.moveaxis(x, axis, -1)
    if moved.ndim == 1:
        r = f(moved.copy(), q, method, skip_nan)
        return np.full((1,), r) if keepdims else r
    out = np.empty(moved.shape[:-1], dtype)
    for i in np.ndindex(out.shape):
        out[i] = f(moved[i].copy(), q, method, skip_nan)
    return np.expand_dims(out, axis) if keepdims else out


def median(a, axis, out, overwrite_input, keepdims):
    x = np.asarray(a)
    if isinstance(axis, tuple):
        r = _along_several(_middle, x, axis, keepdims, np._float_dtype(x), None, None, False)
    else:
        r = _along(_middle, x, axis, keepdims, np._float_dtype(x), None, None, False)
    return r if out is None else reduced(out, r, "add")


def nanmedian(a, axis, out, overwrite_input, keepdims):
    x = np.asarray(a)
    if x.size == 0:
        r = nanmean(x, axis, None, None, keepdims)
    elif isinstance(axis, tuple):
        r = _along_several(_nan_middle, x, axis, keepdims, np._float_dtype(x), None, None, False)
    else:
        r = _along(_nan_middle, x, axis, keepdims, np._float_dtype(x), None, None, False)
    return r if out is None else reduced(out, r, "add")


def _along_several(f, x, axes, keepdims, dtype, q, method, skip_nan):
    """``_along`` of all axes of a tuple at once."""
    np._reduced_size(x, axes)
    if len(axes) == x.ndim:
        return _along(f, x, None, keepdims, dtype, q, method, skip_nan)
    r = _along(f, _together(x, axes), -1, False, dtype, q, method, skip_nan)
    return np.expand_dims(r, axes) if keepdims and len(axes) > 0 else r


def _together(x, axes):
    """The axes of a tuple as one last axis."""
    if len(axes) == 0:
        return np.expand_dims(x, -1)
    if len(axes) == 1:
        return np.moveaxis(x, axes[0], -1)
    if len(axes) == 2:
        pair = np.moveaxis(x, axes, (-2, -1))
        return pair.reshape(pair.shape[:-2] + (-1,))
    if len(axes) == x.ndim:
        return x
    if len(axes) == 3:
        three = np.moveaxis(x, axes, (-3, -2, -1))
        return three.reshape(three.shape[:-3] + (-1,))
    if len(axes) == 4:
        four = np.moveaxis(x, axes, (-4, -3, -2, -1))
        return four.reshape(four.shape[:-4] + (-1,))
    raise ValueError("a median over five axes and more, but not all, is not compiled")


def percentile(a, q, axis, out, overwrite_input, method, keepdims):
    x = np.asarray(a)
    r = _quantile(x, _hundredth(_fraction(q, x)), axis, method, keepdims, False, "Percentiles must be in the range [0, 100]")
    return r if out is None else reduced(out, r, "add")


def quantile(a, q, axis, out, overwrite_input, method, keepdims):
    if method == "linear" and not np._is_inexact(np.asarray(q)):
        # Integers name elements: there is nothing between them, and nothing becomes a float.
        return quantile(a, q, axis, out, overwrite_input, "lower", keepdims)
    x = np.asarray(a)
    r = _quantile(x, _fraction(q, x), axis, method, keepdims, False, "Quantiles must be in the range [0, 1]")
    return r if out is None else reduced(out, r, "add")


def nanpercentile(a, q, axis, out, overwrite_input, method, keepdims):
    x = np.asarray(a)
    r = _quantile(x, _hundredth(_fraction(q, x)), axis, method, keepdims, True, "Percentiles must be in the range [0, 100]")
    return r if out is None else reduced(out, r, "add")


def nanquantile(a, q, axis, out, overwrite_input, method, keepdims):
    if method == "linear" and not np._is_inexact(np.asarray(q)):
        return nanquantile(a, q, axis, out, overwrite_input, "lower", keepdims)
    x = np.asarray(a)
    r = _quantile(x, _fraction(q, x), axis, method, keepdims, True, "Quantiles must be in the range [0, 1]")
    return r if out is None else reduced(out, r, "add")


def _fraction(q, x):
    """A Python number takes the float type of an array's elements; NumPy's numbers and arrays keep theirs, and an array without dimensions is a number."""
    if isinstance(q, np.float32):
        return q
    if np.isscalar(q):
        dtype = np._float_dtype(x)
        return dtype(q)
    given = np.asarray(q)
    if given.ndim == 0:
        return given[()]
    return given


def _hundredth(q):
    return np.true_divide(q, 100)


def _quantile(x, q, axis, method, keepdims, skip_nan, message):
    """Quantiles of slices for a number, or for each of a 1-d array in a new first dimension."""
    if np.iscomplexobj(x):
        raise TypeError("a must be an array of real numbers")
    if not (np.all(np.greater_equal(q, 0)) and np.all(np.less_equal(q, 1))):
        raise ValueError(message)
    if method == "lower" or method == "higher" or method == "nearest" or method == "inverted_cdf" or method == "closest_observation":
        dtype = x.dtype
    elif isinstance(q, np.ndarray):
        dtype = np.float64
    else:
        dtype = np.result_type(np._float_dtype(x), q)
    if isinstance(axis, tuple):
        if keepdims:
            raise ValueError("quantiles over several axes are not compiled with keepdims=True")
        np._reduced_size(x, axis)
        return _quantile(_together(x, axis), q, None if len(axis) == x.ndim else -1, method, keepdims, skip_nan, message)
    if not isinstance(q, np.ndarray):
        return _along(_one_quantile, x, axis, keepdims, dtype, q, method, skip_nan)
    if axis is None and not keepdims:
        _refuse_nothing(x, skip_nan)
        row = _sorted_row(x.flatten(), skip_nan)
        out = np.empty(q.shape, dtype)
        for i in np.ndindex(out.shape):
            out[i] = _of_sorted(row, q[i], method)
        return out
    first = np.asarray(_along(_one_quantile, x, axis, keepdims, dtype, np.float64(0), method, skip_nan))
    out = np.empty(q.shape + first.shape, dtype)
    for i in range(len(q)):
        out[i] = _quantile(x, q[i], axis, method, keepdims, skip_nan, message)
    return out


def _refuse_nothing(row, skip_nan):
    if not skip_nan and row.size == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")


def _one_quantile(row, q, method, skip_nan):
    _refuse_nothing(row, skip_nan)
    return _of_sorted(_sorted_row(row, skip_nan), q, method)


def _sorted_row(row, skip_nan):
    kept = row
    if skip_nan and np._is_inexact(row):
        kept = _not_nan(row)
    kept.sort()
    return kept


def _of_sorted(row, q, method):
    n = len(row)
    if n == 0:
        return _of_nothing(row)
    if row[n - 1] != row[n - 1]:
        return row[n - 1]
    at = (n - 1) * q
    low = np.floor(at)
    i = int(low)
    part = at - low
    if method == "lower":
        return row[i]
    if method == "higher":
        return row[min(int(np.ceil(at)), n - 1)]
    if method == "nearest":
        return row[i + 1 if part > 0.5 or (part == 0.5 and i % 2 == 1) else i]
    if method == "midpoint":
        return _between(row[i], row[min(i + 1, n - 1)], part * 0 + 0.5 if part > 0 else part)
    if method == "linear":
        # At the last element NumPy comes from above, which keeps the sign of a zero.
        return _between(row[i], row[min(i + 1, n - 1)], part if i + 1 < n else part * 0 + 1)
    if method == "inverted_cdf" or method == "closest_observation":
        return row[_whole_place(n * q - 1, method)]
    if method == "averaged_inverted_cdf":
        place = n * q - 1
        half = place * 0 + (0.5 if place == np.floor(place) else 1.0)
        return _at_place(row, place, half)
    if method == "interpolated_inverted_cdf":
        place = _place(n, q, 0.0, 1.0)
    elif method == "hazen":
        place = _place(n, q, 0.5, 0.5)
    elif method == "weibull":
        place = _place(n, q, 0.0, 0.0)
    elif method == "median_unbiased":
        place = _place(n, q, 1 / 3.0, 1 / 3.0)
    elif method == "normal_unbiased":
        place = _place(n, q, 3 / 8.0, 3 / 8.0)
    else:
        raise ValueError("'" + method + "' is not a valid method of quantiles")
    return _at_place(row, place, place - np.floor(place))


def _place(n, q, alpha, beta):
    """Where the quantile lies between elements counted from 0, after Hyndman and Fan."""
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def _at_place(row, place, part):
    n = len(row)
    if place >= n - 1:
        return _between(row[n - 1], row[n - 1], part)
    if place < 0:
        return _between(row[0], row[0], part)
    i = int(place)
    return _between(row[i], row[i + 1], part)


def _whole_place(place, method):
    shifted = place - 0.5 if method == "closest_observation" else place
    low = int(np.floor(shifted))
    stays = shifted == np.floor(shifted) and (method == "inverted_cdf" or low % 2 == 1)
    return max(low if stays else low + 1, 0)


def _of_nothing(row):
    if np._is_inexact(row):
        return row.dtype.type(np.nan)
    raise IndexError("a quantile of nothing")


def _between(a, b, t):
    """``a`` to ``b`` as ``t`` goes from 0 to 1, exact at both ends."""
    gap = np.subtract(b, a)
    if t >= 0.5:
        return np.subtract(b, np.multiply(gap, 1 - t))
    return np.add(a, np.multiply(gap, t))


def cumulative_sum(x, axis, dtype, out, include_initial):
    return _cumulative(np.asarray(x), axis, dtype, out, include_initial, np.cumsum, np.zeros_like)


def cumulative_prod(x, axis, dtype, out, include_initial):
    return _cumulative(np.asarray(x), axis, dtype, out, include_initial, np.cumprod, np.ones_like)


def _cumulative(a, axis, dtype, out, include_initial, running, nothing_like):
    if axis is None:
        _check_one_axis(a)
        return _cumulative(a, 0, dtype, out, include_initial, running, nothing_like)
    if a.ndim == 0:
        return _cumulative(np.reshape(a, (1,)), axis, dtype, out, include_initial, running, nothing_like)
    r = running(a, axis, dtype)
    if include_initial:
        r = np.concatenate((nothing_like(np.sum(r, axis, keepdims=True)), r), axis)
    return r if out is None else accumulated(out, r)


def _check_one_axis(a):
    if a.ndim >= 2:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
