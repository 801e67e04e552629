"""Iterators over the elements of arrays, and over values of several classes."""

import numpy as np


def each_of(x):
    """The values of what may be of several classes, each of which there is once."""
    if isinstance(x, list):
        yield from x
    elif isinstance(x, tuple):
        yield from x
    elif isinstance(x, str):
        yield from x
    elif isinstance(x, dict):
        yield from x
    elif isinstance(x, range):
        yield from x
    elif isinstance(x, set):
        yield from x
    elif isinstance(x, frozenset):
        yield from x
    else:
        # A generator, which may be held by others: a loop that is left does not close it, as ``yield from`` would.
        for v in x:
            yield v


def enumerated(iterable, start=0):
    return enumerate(iter(iterable), start)


def zipped(*iterables):
    return zip(*_iterators(iterables))


def _iterators(iterables):
    if len(iterables) == 0:
        return ()
    return (iter(iterables[0]),) + _iterators(iterables[1:])


def nditer(op, flags, op_flags, order):
    if isinstance(op, tuple):
        arrays = np.broadcast_arrays(*op)
        if order == "K":
            arrays = _forward_together(arrays, 0)
        shape = arrays[0].shape
        if arrays[0].size == 0:
            raise ValueError("Iteration of zero-sized operands is not enabled")
        if (order == "K" or order == "A") and _columns_first(arrays):
            for index in np.ndindex(shape[::-1]):
                yield _elements(arrays, index[::-1] + (...,))
        else:
            for index in np.ndindex(shape):
                yield _elements(arrays, index + (...,))
    else:
        x = np.asarray(op)
        if x.size == 0:
            raise ValueError("Iteration of zero-sized operands is not enabled")
        if order == "K":
            laid = _in_memory_order(x)
        elif order == "F":
            laid = np.transpose(x)
        elif order == "A" and x.flags.f_contiguous and not x.flags.c_contiguous:
            laid = np.transpose(x, _numbers_down(x.ndim))
        else:
            laid = x
        for index in np.ndindex(laid.shape):
            yield laid[index + (...,)]


def _numbers_down(n):
    """`n - 1, ..., 0`."""
    if n == 0:
        return ()
    return (n - 1,) + _numbers_down(n - 1)


def _elements(arrays, index):
    if len(arrays) == 1:
        return (arrays[0][index],)
    return (arrays[0][index],) + _elements(arrays[1:], index)


def _columns_first(arrays):
    """Whether some array lies column by column and none row by row; stretched arrays do not count."""
    columns, rows = False, False
    for a in arrays:
        if a.flags.c_contiguous and not a.flags.f_contiguous:
            rows = True
        if a.flags.f_contiguous and not a.flags.c_contiguous:
            columns = True
    return columns and not rows


def _forward_together(arrays, axis):
    """An axis is turned round where some array runs backwards along it and none forwards."""
    if axis == arrays[0].ndim:
        return arrays
    backwards, forwards = False, False
    for a in arrays:
        if a.strides[axis] < 0:
            backwards = True
        if a.strides[axis] > 0:
            forwards = True
    if backwards and not forwards:
        return _forward_together(_flipped(arrays, axis), axis + 1)
    return _forward_together(_viewed(arrays), axis + 1)


def _flipped(arrays, axis):
    if len(arrays) == 1:
        return (np.flip(arrays[0], axis),)
    return (np.flip(arrays[0], axis),) + _flipped(arrays[1:], axis)


def _viewed(arrays):
    if len(arrays) == 1:
        return (arrays[0][..., :],)
    return (arrays[0][..., :],) + _viewed(arrays[1:])


def _in_memory_order(a):
    """The array with negative strides turned round and the longest stride first."""
    if a.ndim == 0:
        return a
    return _sorted_axes(_forward(a, 0))


def _forward(a, axis):
    if axis == a.ndim:
        return a
    if a.strides[axis] < 0:
        return _forward(np.flip(a, axis), axis + 1)
    return _forward(a[..., :], axis + 1)


def _sorted_axes(a):
    if a.ndim == 1:
        return a
    order = np.arange(a.ndim)
    for i in range(1, a.ndim):
        k = i
        while k > 0 and a.strides[order[k]] > a.strides[order[k - 1]]:
            order[k], order[k - 1] = order[k - 1], order[k]
            k -= 1
    return np.transpose(a, _as_tuple(order, a.ndim))


def _as_tuple(v, n):
    if n == 1:
        return (int(v[0]),)
    return _as_tuple(v, n - 1) + (int(v[n - 1]),)
