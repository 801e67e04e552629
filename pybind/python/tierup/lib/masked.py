"""Reductions with ``where=``, ``initial=`` and ``mean=``: elements that are not chosen are replaced by what changes nothing.

Parameters are those of NumPy's functions. A starting value takes part like one more element along the reduced axis.
"""

import numpy as np

from .outputs import fitting, reduced
from .reduce import sum_of_squares


def _started(r, initial):
    """``initial`` and a sum, in the type of the latter."""
    if initial is None:
        return r
    return np._cast_like(np.add(fitting(initial, r), r), r)


def _product(f, x, axis, dtype, keepdims, initial):
    """A product that begins with ``initial``: from 0 on it stays 0, however large what follows."""
    if initial is None:
        return f(x, axis, dtype, None, keepdims)
    r = f(np.zeros(0, x.dtype), None, dtype)
    start = fitting(initial, r)
    if isinstance(axis, tuple):
        r = f(x, axis, dtype, None, keepdims)
        return np._cast_like(np.multiply(start, r), r)
    if axis is None:
        r = f(np.append(start, np.ravel(np._cast_like(x, r), "K")), None, dtype)
        return np.full((1,) * x.ndim, r) if keepdims else r
    x = np._cast_like(x, r)
    return f(np.concatenate((np.full(np.sum(x, axis, None, None, True).shape, start), x), axis), axis, dtype, None, keepdims)


def sum_(a, axis, dtype, out, keepdims, initial, where):
    x = np.where(np.asarray(where), np.asarray(a), 0)
    r = _started(np.sum(x, axis, dtype, None, keepdims), initial)
    return r if out is None else reduced(out, r, "add")


def prod(a, axis, dtype, out, keepdims, initial, where):
    x = np.where(np.asarray(where), np.asarray(a), 1)
    r = _product(np.prod, x, axis, dtype, keepdims, initial)
    return r if out is None else reduced(out, r, "multiply")


def nansum(a, axis, dtype, out, keepdims, initial, where):
    x = np.where(np.asarray(where), np.asarray(a), 0)
    r = _started(np.nansum(x, axis, dtype, None, keepdims), initial)
    return r if out is None else reduced(out, r, "add")


def nanprod(a, axis, dtype, out, keepdims, initial, where):
    x = np.where(np.asarray(where), np.asarray(a), 1)
    r = _product(np.nanprod, x, axis, dtype, keepdims, initial)
    return r if out is None else reduced(out, r, "multiply")


def _candidates(a, axis, initial, where, what):
    """The elements of which an extreme is taken."""
    x = np.asarray(a)
    if initial is None:
        if isinstance(where, bool) and where:
            return x
        raise ValueError("reduction operation '" + what + "' does not have an identity, so to use a where mask one has to specify 'initial'")
    start = fitting(initial, x.dtype.type(0))
    chosen = np.where(np.asarray(where), x, start)
    if axis is None:
        every = np.append(chosen, start)
        if x.ndim <= 1:
            return every
        return every.reshape((1,) * (x.ndim - 1) + (-1,))
    along = axis
    if isinstance(axis, tuple):
        if chosen.size == 0:
            return np.full(np.sum(chosen, axis, None, None, True).shape, start)
        along = axis[0]
    return np.concatenate((chosen, np.full(np.sum(chosen, along, None, None, True).shape, start)), along)


def min_(a, axis, out, keepdims, initial, where):
    r = np.min(_candidates(a, axis, initial, where, "minimum"), axis, None, keepdims)
    return r if out is None else reduced(out, r, "minimum")


def max_(a, axis, out, keepdims, initial, where):
    r = np.max(_candidates(a, axis, initial, where, "maximum"), axis, None, keepdims)
    return r if out is None else reduced(out, r, "maximum")


def nanmin(a, axis, out, keepdims, initial, where):
    r = np.nanmin(_candidates(a, axis, initial, where, "fmin"), axis, None, keepdims)
    return r if out is None else reduced(out, r, "fmin")


def nanmax(a, axis, out, keepdims, initial, where):
    r = np.nanmax(_candidates(a, axis, initial, where, "fmax"), axis, None, keepdims)
    return r if out is None else reduced(out, r, "fmax")


def any_(a, axis, out, keepdims, where):
    r = np.any(np.logical_and(np.asarray(a), np.asarray(where)), axis, None, keepdims)
    return r if out is None else reduced(out, r, "logical_or")


def all_(a, axis, out, keepdims, where):
    r = np.all(np.logical_or(np.asarray(a), np.logical_not(np.asarray(where))), axis, None, keepdims)
    return r if out is None else reduced(out, r, "logical_and")


# -- means -------------------------------------------------------------------------------------------------------------------------------------


def _count(x, axis, where, keepdims):
    """How many elements are chosen along the axes that go."""
    return np.count_nonzero(np.broadcast_to(np.asarray(where), x.shape), axis, keepdims=keepdims)


def mean(a, axis, dtype, out, keepdims, where):
    x = np.asarray(a)
    if dtype is None:
        total = np.sum(np.where(np.asarray(where), x, 0), axis, np._float_dtype(x), None, keepdims)
    else:
        total = np.sum(np.where(np.asarray(where), x, 0), axis, dtype, None, keepdims)
    r = np._cast_like(np.true_divide(total, _count(x, axis, where, keepdims)), total)
    return r if out is None else reduced(out, r, "add")


def nanmean(a, axis, dtype, out, keepdims, where):
    x = np.asarray(a)
    return mean(np._if_nan(x, 0), axis, dtype, out, keepdims, np.logical_and(np.asarray(where), np.logical_not(np.isnan(x))))


def var(a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    if correction is not None:
        return var(a, axis, dtype, out, correction, keepdims, where, mean, None)
    x = np.asarray(a)
    if dtype is None:
        r = _var(x, axis, np._float_dtype(x), ddof, keepdims, where, mean)
    else:
        r = np._cast_like(_var(x, axis, dtype, ddof, keepdims, where, mean), np.dtype(dtype).type(0))
    return r if out is None else reduced(out, r, "add")


def _var(x, axis, dtype, ddof, keepdims, where, mean):
    centre = _centre(x, axis, dtype, where, mean)
    distance = np.where(np.asarray(where), np.subtract(x, centre), 0)
    total = sum_of_squares(distance, x, axis, dtype, keepdims)
    freedom = np.maximum(_count(x, axis, where, keepdims) - ddof, 0)
    return np._cast_like(np.true_divide(total, freedom), total)


def _centre(x, axis, dtype, where, mean):
    if mean is not None:
        return np.asarray(mean)
    total = np.sum(np.where(np.asarray(where), x, 0), axis, dtype, None, True)
    return np._cast_like(np.true_divide(total, _count(x, axis, where, True)), total)


def std(a, axis, dtype, out, ddof, keepdims, where, mean, correction):
    r = np.sqrt(var(a, axis, dtype, None, ddof, keepdims, where, mean, correction))
    return r if out is None else reduced(out, r, "add")
