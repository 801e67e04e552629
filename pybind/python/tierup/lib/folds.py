"""Methods of ufuncs, NumPy's and the user's, that put elements together: `f` is the ufunc, called on elements and on rows.

`identity` is the number that changes nothing, "reorderable" where there is none, or None where the order of elements matters as well.
"""

import numpy as np

from .elementwise import given
from .outputs import accumulated, fitting, reduced


def reduce(f, identity, array, axis, dtype, out, keepdims, initial, where):
    x = np.asarray(array)
    if x.ndim == 0 and axis is not None and not isinstance(axis, tuple):
        # A number has an axis to be reduced along, as in NumPy.
        if axis == 0 or axis == -1:
            return reduce(f, identity, x, None, dtype, out, keepdims, initial, where)
    if dtype is not None:
        return reduce(f, identity, x.astype(dtype), axis, None, out, keepdims, initial, where)
    if axis is None:
        _check_order(f, identity, x.ndim)
        r = _folded(f, identity, initial, np.ravel(x), _mask(x, where, None))
        r = np.full((1,) * x.ndim, r) if keepdims else r
    elif isinstance(axis, tuple):
        _check_order(f, identity, len(axis))
        r = _over_axes(f, identity, initial, x, axis, keepdims, where)
    else:
        np._reduced_size(x, axis)
        r = _folded(f, identity, initial, np.moveaxis(x, axis, 0), _mask(x, where, axis))
        r = np.moveaxis(np.asarray(r)[np.newaxis], 0, axis) if keepdims else r
    return r if out is None else reduced(out, r, f.__name__)


def _check_order(f, identity, axes):
    if axes > 1 and identity is None:
        raise ValueError("reduction operation '" + f.__name__ + "' is not reorderable, so at most one axis may be specified")


def _mask(x, where, axis):
    """What takes part, in the order in which elements are put together; None is all."""
    if isinstance(where, bool) and where:
        return None
    mask = np.broadcast_to(np.asarray(where), x.shape)
    return np.ravel(mask) if axis is None else np.moveaxis(mask, axis, 0)


def _over_axes(f, identity, initial, x, axes, keepdims, where):
    if len(axes) == 0:
        return _alone(f, identity, initial, x, where)
    _check_axes(x, axes, 0)
    if not (isinstance(where, bool) and where) and (identity is None or isinstance(identity, str)):
        raise NotImplementedError("'where' over several axes is compiled for ufuncs with an identity")
    if x.size == 0 and initial is not None:
        r = _one_by_one(f, initial, initial, x, axes, 0, True)
        r[...] = fitting(initial, r.dtype.type(0))
    else:
        r = _one_by_one(f, identity, initial, x, axes, 0, where)
    return r if keepdims else given(_without(r, axes))


def _check_axes(x, axes, k):
    if k == len(axes):
        return
    np._reduced_size(x, axes[k])
    for j in range(k):
        if axes[j] % x.ndim == axes[k] % x.ndim:
            raise ValueError("duplicate value in 'axis'")
    _check_axes(x, axes, k + 1)


def _without(x, axes):
    """Without dimensions of length 1."""
    if len(axes) == 0:
        return x
    first = axes[0] % x.ndim
    return _without(np.moveaxis(x, first, 0)[0, ...], _left(axes[1:], first, x.ndim))


def _left(axes, gone, ndim):
    """Axes where one in front of some of them is gone."""
    if len(axes) == 0:
        return ()
    at = axes[0] % ndim
    return (at - 1 if at > gone else at,) + _left(axes[1:], gone, ndim)


def _one_by_one(f, identity, initial, x, axes, k, where):
    if k == len(axes):
        return x
    # `initial` counts once for each result, so it is part of the last step.
    r = reduce(f, identity, x, axes[k], None, None, True, initial if k == len(axes) - 1 else None, where)
    return _one_by_one(f, identity, initial, r, axes, k + 1, True)


def _alone(f, identity, initial, x, where):
    """Reduced along no axis: each element is put to what a reduction starts with."""
    if initial is not None:
        dtype = np._result_dtype(f, x, x)
        start = np.full(x.shape, fitting(initial, dtype(0)), dtype)
    elif identity is None or isinstance(identity, str):
        return first(f, x)
    else:
        start = np.full(x.shape, identity, np._result_dtype(f, x, x))
    return f(start, x) if isinstance(where, bool) and where else np.where(where, f(start, x), start)


def _folded(f, identity, initial, rows, mask):
    """Put together along the first axis, from left to right, after `initial` or the identity where there is one."""
    if initial is None and (identity is None or isinstance(identity, str)):
        if mask is not None:
            raise ValueError("reduction operation '" + f.__name__ + "' does not have an identity, so to use a where mask one has to specify 'initial'")
        if len(rows) == 0:
            raise ValueError("zero-size array to reduction operation " + f.__name__ + " which has no identity")
        return _continued(f, first(f, rows[0]), rows, 1, None)
    if initial is None:
        return _folded(f, None, identity, rows, mask)
    dtype = np._result_dtype(f, rows, rows)
    start = fitting(initial, dtype(0))
    return _continued(f, start if rows.ndim == 1 else np.full(rows.shape[1:], start, dtype), rows, 0, mask)


def first(f, row):
    """What the others are put to, in the type of the results."""
    if isinstance(row, np.ndarray):
        return row.astype(np._result_dtype(f, row, row))
    return np._result_dtype(f, row, row)(row)


def _continued(f, total, rows, start, mask):
    for k in range(start, len(rows)):
        if mask is None:
            total = f(total, rows[k])
        elif rows.ndim == 1:
            if mask[k]:
                total = f(total, rows[k])
        else:
            total = np.where(mask[k], f(total, rows[k]), total)
    return total


def accumulate(f, array, axis, dtype, out):
    if dtype is not None:
        return accumulate(f, np.asarray(array).astype(dtype), axis, None, out)
    x = np.asarray(array)
    if x.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    np._reduced_size(x, axis)
    rows = np.moveaxis(x, axis, 0)
    r = np.array(first(f, x))
    to = np.moveaxis(r, axis, 0)
    for k in range(1, len(rows)):
        to[k] = f(to[k - 1], rows[k])
    return r if out is None else accumulated(out, r)


def outer(f, A, B):
    """Every element of the one with every element of the other."""
    x, y = np.asarray(A), np.asarray(B)
    return f(x.reshape(x.shape + (1,) * y.ndim), y)


def reduceat(f, array, indices, axis, dtype, out):
    if dtype is not None:
        return reduceat(f, np.asarray(array).astype(dtype), indices, axis, None, out)
    x, starts = np.asarray(array), np.asarray(indices)
    if x.ndim == 0:
        raise TypeError("cannot reduceat on a scalar")
    if starts.ndim != 1:
        raise ValueError("object too deep for desired array" if starts.ndim > 1 else "object of too small depth for desired array")
    np._reduced_size(x, axis)
    rows = np.moveaxis(x, axis, 0)
    n = len(rows)
    for k in range(len(starts)):
        if starts[k] < 0 or starts[k] >= n:
            raise IndexError(f"index {starts[k]} out-of-bounds in " + f.__name__ + f".reduceat [0, {n})")
    r = np.empty((len(starts),) + rows.shape[1:], np._result_dtype(f, x, x))
    for k in range(len(starts)):
        end = starts[k + 1] if k + 1 < len(starts) else n
        total = first(f, rows[starts[k]])
        for j in range(starts[k] + 1, end):
            total = f(total, rows[j])
        r[k] = total
    r = np.moveaxis(r, 0, axis)
    return r if out is None else accumulated(out, r)
