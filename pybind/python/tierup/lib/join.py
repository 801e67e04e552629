"""Lists of arrays joined, arrays split. Tuples of arrays are joined by the compiler itself."""

import numpy as np
from numpy.exceptions import AxisError


def concatenate(arrays, axis):
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        return concatenate([np.ravel(np.asarray(a)) for a in arrays], 0)
    if isinstance(arrays[0], (int, float, complex, str)):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    x = _arrays(arrays)
    if x[0].ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if not -x[0].ndim <= axis < x[0].ndim:
        raise AxisError(axis, x[0].ndim, None)
    return _along(x, axis % x[0].ndim)


def _arrays(tup):
    """The members of a list or an array that is not empty as arrays."""
    if isinstance(tup[0], np.ndarray):
        return tup
    return [np.asarray(a) for a in tup]


def _along(arrays, axis):
    first = arrays[0]
    n = 0
    k = 0
    for a in arrays:
        for d in range(first.ndim):
            if d != axis and a.shape[d] != first.shape[d]:
                raise ValueError("all the input array dimensions except for the concatenation axis must match exactly, but along dimension "
                                 f"{d}, the array at index 0 has size {first.shape[d]} and the array at index {k} has size {a.shape[d]}")
        n += a.shape[axis]
        k += 1
    out = np.empty(first.shape[:axis] + (n,) + first.shape[axis + 1:], first.dtype)
    rows = np.swapaxes(out, 0, axis)
    at = 0
    for a in arrays:
        part = np.swapaxes(a, 0, axis)
        rows[at:at + len(part)] = part
        at += len(part)
    return out


def stack(arrays, axis):
    if len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    x = _arrays(arrays)
    for a in x:
        if a.shape != x[0].shape:
            raise ValueError("all input arrays must have the same shape")
    if not -x[0].ndim - 1 <= axis <= x[0].ndim:
        raise AxisError(axis, x[0].ndim + 1, None)
    return concatenate([np.expand_dims(a, axis) for a in x], axis)


def vstack(tup):
    return concatenate([np.atleast_2d(np.asarray(a)) for a in tup], 0)


def hstack(tup):
    if len(tup) == 0:
        raise ValueError("need at least one array to concatenate")
    x = _arrays(tup)
    if x[0].ndim == 1:
        return concatenate(x, 0)
    if x[0].ndim == 0:
        return concatenate([np.atleast_1d(a) for a in x], 0)
    return concatenate(x, 1)


def dstack(tup):
    return concatenate([np.atleast_3d(np.asarray(a)) for a in tup], 2)


def column_stack(tup):
    if len(tup) == 0:
        raise ValueError("need at least one array to concatenate")
    x = _arrays(tup)
    if x[0].ndim == 0:
        return concatenate([a.reshape(1, 1) for a in x], 1)
    if x[0].ndim == 1:
        return concatenate([np.expand_dims(a, 1) for a in x], 1)
    return concatenate(x, 1)


def append(arr, values, axis):
    if axis is None:
        return np.concatenate((np.ravel(np.asarray(arr)), np.ravel(np.asarray(values))))
    return np.concatenate((arr, np.asarray(values)), axis)


def _part(a, axis, start, stop):
    """A view of the elements from ``start`` to before ``stop`` along a dimension."""
    if axis == 0:
        return a[start:stop]
    return np.swapaxes(np.swapaxes(a, 0, axis)[start:stop], 0, axis)


def split(ary, indices_or_sections, axis):
    if isinstance(indices_or_sections, (int, np.integer)):
        if indices_or_sections == 0:
            raise ZeroDivisionError("integer modulo by zero")
        if ary.shape[axis] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis):
    n = ary.shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)):
        if indices_or_sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        size, larger = n // indices_or_sections, n % indices_or_sections
        parts = []
        start = 0
        for k in range(indices_or_sections):
            stop = start + size + (1 if k < larger else 0)
            parts.append(_part(ary, axis, start, stop))
            start = stop
        return parts
    else:
        parts = []
        start = 0
        for i in indices_or_sections:
            parts.append(_part(ary, axis, start, i))
            start = i
        parts.append(_part(ary, axis, start, n))
        return parts


def vsplit(ary, indices_or_sections):
    return split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    if ary.ndim == 1:
        return split(ary, indices_or_sections, 0)
    return split(ary, indices_or_sections, 1)


def dsplit(ary, indices_or_sections):
    return split(ary, indices_or_sections, 2)
