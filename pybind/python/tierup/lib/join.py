"""Lists of arrays joined, arrays split. Tuples of arrays are joined by the compiler itself."""

import numpy as np
from numpy.exceptions import AxisError

from .._jit import unroll


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


def _placed(axis, ndim):
    """A dimension counted from 0."""
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim, None)
    return axis % ndim


def concatenate_at(arrays, axis):
    """A tuple of arrays joined along a dimension that runs."""
    first = np.asarray(arrays[0])
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    at = _placed(axis, first.ndim)
    n = 0
    for k, a in unroll(enumerate(arrays)):
        part = np.asarray(a)
        if part.ndim != first.ndim:
            raise ValueError("all the input arrays must have same number of dimensions, but the array at index 0 has "
                             f"{first.ndim} dimension(s) and the array at index {k} has {part.ndim} dimension(s)")
        for d in range(first.ndim):
            if d != at and part.shape[d] != first.shape[d]:
                raise ValueError("all the input array dimensions except for the concatenation axis must match exactly, but along dimension "
                                 f"{d}, the array at index 0 has size {first.shape[d]} and the array at index {k} has size {part.shape[d]}")
        n += part.shape[at]
    rows = np.empty((n,) + np.swapaxes(first, 0, at).shape[1:], np.result_type(*arrays))
    start = 0
    for a in unroll(arrays):
        part = np.swapaxes(np.asarray(a), 0, at)
        rows[start:start + len(part)] = part
        start += len(part)
    return np.ascontiguousarray(np.swapaxes(rows, 0, at))


def stack_at(arrays, axis):
    first = np.asarray(arrays[0])
    at = _placed(axis, first.ndim + 1)
    for a in unroll(arrays):
        if np.shape(a) != first.shape:
            raise ValueError("all input arrays must have the same shape")
    out = np.empty((len(arrays),) + first.shape, np.result_type(*arrays))
    for k, a in unroll(enumerate(arrays)):
        out[k] = np.asarray(a)
    return np.ascontiguousarray(np.moveaxis(out, 0, at))


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
    if isinstance(ary, (list, tuple)):
        return split(np.asarray(ary), indices_or_sections, axis)
    if isinstance(indices_or_sections, (int, np.integer)):
        if indices_or_sections == 0:
            raise ZeroDivisionError("integer modulo by zero")
        if ary.shape[axis] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis):
    if isinstance(ary, (list, tuple)):
        return array_split(np.asarray(ary), indices_or_sections, axis)
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


def block(arrays):
    """A list that is written in the call comes as a tuple."""
    if isinstance(arrays, (list, tuple)):
        return _joined_block(arrays, _more(_depth(arrays), _dimensions(arrays)))
    else:
        return np.array(arrays)


# Numbers of dimensions are lengths of tuples here, which types tell apart.


def _depth(x):
    if isinstance(x, (list, tuple)):
        if len(x) == 0:
            raise ValueError("List at arrays cannot be empty")
        return (0,) + _depth(x[0])
    return ()


def _dimensions(x):
    """The most dimensions of any part."""
    if isinstance(x, tuple):
        if len(x) == 0:
            return ()
        return _more(_dimensions(x[0]), _dimensions(x[1:]))
    if isinstance(x, list):
        return _dimensions(x[0])
    return _none_of(np.shape(x))


def _none_of(shape):
    if len(shape) == 0:
        return ()
    return (0,) + _none_of(shape[1:])


def _more(a, b):
    return a if len(a) >= len(b) else b


def _joined_block(x, like):
    if isinstance(x, tuple):
        return _joined(_parts(x, like), len(like) - len(_depth(x)))
    if isinstance(x, list):
        return concatenate([_joined_block(y, like) for y in x], -len(_depth(x)))
    return _at_least(np.asarray(x), like)


def _parts(x, like):
    if len(x) == 0:
        return ()
    if len(x) > 1 and len(_depth(x[0])) != len(_depth(x[1])):
        raise ValueError(f"List depths are mismatched. First element was at depth {1 + len(_depth(x[0]))}, but there is an element at depth {1 + len(_depth(x[1]))} (arrays)")
    return (_joined_block(x[0], like),) + _parts(x[1:], like)


def _joined(parts, axis):
    """`np.concatenate` along an axis that the compiler does not know."""
    out = np.empty(_with_length(parts[0].shape, axis, _total(parts, parts[0].shape, axis, 0)), np.result_type(*parts))
    _put(np.swapaxes(out, 0, axis), parts, axis, 0)
    return out


def _total(parts, shape, axis, k):
    if len(parts) == 0:
        return 0
    for d in range(len(shape)):
        if d != axis and parts[0].shape[d] != shape[d]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly, but along dimension "
                             f"{d}, the array at index 0 has size {shape[d]} and the array at index {k} has size {parts[0].shape[d]}")
    return parts[0].shape[axis] + _total(parts[1:], shape, axis, k + 1)


def _with_length(shape, axis, n):
    if len(shape) == 0:
        return ()
    return (n if axis == 0 else shape[0],) + _with_length(shape[1:], axis - 1, n)


def _put(rows, parts, axis, at):
    if len(parts) > 0:
        part = np.swapaxes(parts[0], 0, axis)
        rows[at:at + len(part)] = part
        _put(rows, parts[1:], axis, at + len(part))


def _at_least(x, like):
    return _at_least(x[np.newaxis], like) if x.ndim < len(like) else x
