"""NumPy's functions that call a function of the user's. Parameters are those of NumPy's functions of the same name."""

import numpy as np
from numpy.exceptions import AxisError


def apply_along_axis(func1d, axis, arr, args):
    x = np.asarray(arr)
    if axis < -x.ndim or axis >= x.ndim:
        raise AxisError(axis, x.ndim, None)
    lines = np.moveaxis(x, axis, -1)
    places = lines.shape[:-1]
    for n in places:
        if n == 0:
            raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    first = func1d(lines[_zeros(places)], *args)
    if np.isscalar(first):
        out = np.empty(places, np.asarray(first).dtype)
    else:
        out = np.empty(places + np.asarray(first).shape, np.asarray(first).dtype)
    # Each line is asked once.
    asked = False
    for at in np.ndindex(places):
        out[at] = func1d(lines[at], *args) if asked else first
        asked = True
    if np.isscalar(first):
        return out
    else:
        return _back(out, np.asarray(first).ndim, axis % x.ndim)


def _zeros(shape):
    if len(shape) == 0:
        return ()
    return (0,) + _zeros(shape[1:])


def _back(out, many, axis):
    """What the function gives lies where the line was."""
    for _ in range(many):
        out = np.moveaxis(out, -1, axis)
    return out


def fromfunction(function, shape, dtype):
    if dtype is None:
        return fromfunction(function, shape, np.float64)
    return function(*_each(np.indices(shape, dtype), shape, 0))


def _each(grid, shape, k):
    if k == len(shape):
        return ()
    return (grid[k],) + _each(grid, shape, k + 1)
