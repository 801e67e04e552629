"""Functions of NumPy on arrays of dates and spans of time, by way of the numbers of units behind them.

"Not a time" is the smallest of these numbers; where it is to come last, numbers are looked at one lower, so that it is the largest.
"""

import numpy as np

_NAT = -9223372036854775808


def _numbers(a):
    return np.asarray(a).view(np.int64)


def _without_nat(a, axis, keepdims, found):
    """The numbers that a reduction found, or "not a time" where one was among the elements."""
    absent = np.any(_numbers(a) == _NAT, axis=axis, keepdims=keepdims)
    return np.where(absent, _NAT, found).astype(a.dtype)


def sort_in_place(a, axis, stable):
    x = _numbers(a)
    x -= 1
    np._sort(x, axis, stable)
    x += 1


def order(a, axis):
    return np._argsort(_numbers(a) - 1, axis)


def partition(a, kth, axis):
    x = _numbers(a)
    x -= 1
    np._partition(x, kth, axis)
    x += 1


def partition_order(a, axis, kth):
    return np._argpartition(_numbers(a) - 1, axis, kth)


def searchsorted(a, v, side, sorter):
    x = np.asarray(v).astype(a.dtype)
    return np.searchsorted(_numbers(a) - 1, _numbers(x) - 1, side, sorter)


def min_(a, axis, keepdims):
    return np.min(_numbers(a), axis=axis, keepdims=keepdims).astype(a.dtype)


def max_(a, axis, keepdims):
    return np.add(np.max(_numbers(a) - 1, axis=axis, keepdims=keepdims), 1).astype(a.dtype)


def nanmin(a, axis, keepdims):
    # Before what comes first there is nothing: "not a time" is the largest here.
    return np.add(np.min(_numbers(a) - 1, axis=axis, keepdims=keepdims), 1).astype(a.dtype)


def nanmax(a, axis, keepdims):
    return np.max(_numbers(a), axis=axis, keepdims=keepdims).astype(a.dtype)


def argmin(a, axis, keepdims):
    return np.argmin(_numbers(a), axis=axis, keepdims=keepdims)


def argmax(a, axis, keepdims):
    return np.argmax(_numbers(a) - 1, axis=axis, keepdims=keepdims)


def ptp(a, axis, keepdims):
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


def sum_(a, axis, keepdims):
    return _without_nat(a, axis, keepdims, np.sum(_numbers(a), axis=axis, keepdims=keepdims))


def mean(a, axis, keepdims):
    total = np.sum(a, axis=axis, keepdims=keepdims)
    return total / (a.size // max(total.size, 1))


def cumsum(a, axis):
    x = _numbers(a)
    if axis is None:
        x = x.ravel()
    absent = np.cumsum((x == _NAT).astype(np.int64), axis=axis) > 0
    return np.where(absent, _NAT, np.cumsum(x, axis=axis)).astype(a.dtype)


def median(a, axis, out, overwrite_input, keepdims):
    if axis is None:
        middle = _middle(np.sort(a.ravel()), 0)
        return np.full((1,) * a.ndim, middle) if keepdims else middle
    middle = _middle(np.sort(a, axis=axis), axis)
    return np.expand_dims(middle, axis) if keepdims else middle


def _middle(x, axis):
    n = x.shape[axis]
    if n == 0:
        return np.sum(_numbers(x), axis=axis).astype(x.dtype) + np.timedelta64("NaT")
    high, last = np.take(x, n // 2, axis=axis), np.take(x, n - 1, axis=axis)
    if n % 2 == 1:
        middle = high
    else:
        middle = (np.take(x, n // 2 - 1, axis=axis) + high) / 2
    # What is no time stands last.
    return middle + (last - last)


def reduce_(f, array, axis, dtype, out, keepdims, initial, where):
    if f is np.add:
        return np.sum(array, axis=axis, keepdims=keepdims)
    if f is np.maximum:
        return np.max(array, axis=axis, keepdims=keepdims)
    if f is np.minimum:
        return np.min(array, axis=axis, keepdims=keepdims)
    if f is np.fmax:
        return np.nanmax(array, axis=axis, keepdims=keepdims)
    return np.nanmin(array, axis=axis, keepdims=keepdims)


def accumulate(f, array, axis, dtype, out):
    return np.cumsum(array, axis=axis)


def any_(a, axis, keepdims):
    return np.any(_numbers(a) != 0, axis=axis, keepdims=keepdims)


def all_(a, axis, keepdims):
    return np.all(_numbers(a) != 0, axis=axis, keepdims=keepdims)


def count_nonzero(a, axis, keepdims):
    return np.count_nonzero(_numbers(a), axis=axis, keepdims=keepdims)


def nonzero(a):
    return np.nonzero(_numbers(a))


def clip(a, low, high):
    if low is None:
        return np.minimum(a, high)
    if high is None:
        return np.maximum(a, low)
    return np.minimum(np.maximum(a, low), high)


def arange(start, stop, step):
    if np.isnat(start) or np.isnat(stop):
        raise ValueError("arange: cannot use NaT (not-a-time) datetime values")
    zero = start - start
    if step is None:
        by = (zero.astype(np.int64) + 1).astype(zero.dtype)
    elif isinstance(step, np.timedelta64):
        by = step
    else:
        by = (zero.astype(np.int64) + step).astype(zero.dtype)
    # All in the unit of all of them.
    last = stop + (by - by)
    first = start + (by - by) + (last - last)
    begin, end = first.astype(np.int64), (last + (first - first)).astype(np.int64)
    each = (by + (first - first)).astype(np.int64)
    if each == _NAT:
        raise ValueError("arange: cannot use NaT (not-a-time) datetime values")
    if each == 0:
        raise ZeroDivisionError("division by zero")
    n = max(0, -((begin - end) // each))
    return (begin + each * np.arange(n)).astype(first.dtype)


def unique(a):
    x = np.sort(a.ravel())
    if x.size == 0:
        return x
    i = x.view(np.int64)
    chosen = np.ones(x.size, np.bool_)
    chosen[1:] = i[1:] != i[:-1]
    return x[chosen]


def isin(element, test_elements):
    x = np.sort(np.asarray(test_elements).ravel())
    e = np.asarray(element)
    if x.size == 0:
        return np.zeros(e.shape, np.bool_)
    at = np.searchsorted(x, e.ravel())
    at[at == x.size] = 0
    return (x[at] == e.ravel()).reshape(e.shape)


def _text(x, unit, timezone):
    d = x if unit is None else np.datetime64(x, unit)
    if timezone == "UTC":
        text = str(d)
        return text + "Z" if "T" in text and not np.isnat(d) else text
    return str(d)


def as_string(arr, unit, timezone, casting):
    if isinstance(arr, np.datetime64):
        return _text(arr, unit, timezone)
    out = np.empty(arr.shape, np._text_type(arr, unit))
    for at in np.ndindex(arr.shape):
        out[at] = _text(arr[at], unit, timezone)
    return out


def to_texts(a, dtype):
    out = np.empty(a.shape, np._room_of(dtype, a))
    for at in np.ndindex(a.shape):
        text = str(a[at])
        if isinstance(a[at], np.datetime64) and len(text) > np._width(out):
            raise RuntimeError("The string provided for NumPy ISO datetime formatting was too short, with length " + str(np._width(out)))
        out[at] = text if np._is_wide(out) else text.encode("ascii")
    return out


def from_texts(a, dtype):
    out = np.empty(a.shape, dtype)
    for at in np.ndindex(a.shape):
        out[at] = np._parsed(a[at], dtype)
    return out
