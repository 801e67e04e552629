"""``np.gradient``: slopes along dimensions, of the second order inside."""

import numpy as np
from numpy.exceptions import AxisError

TOO_SMALL = "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required."


def gradient(f, axis, edge_order, varargs):
    y = np.asarray(f)
    if not np._is_inexact(y) and y.dtype != np.bool_:
        # Differences of unsigned integers would wrap.
        return gradient(y.astype(np.float64), axis, edge_order, varargs)
    if axis is None:
        if y.ndim == 1:
            return _gradients(y, (0,), varargs, edge_order)[0]
        return _gradients(y, _count(y.shape, 0), varargs, edge_order)
    if isinstance(axis, tuple):
        _check_axes(axis, y.ndim)
        return _gradients(y, axis, varargs, edge_order)[0] if len(axis) == 1 else _gradients(y, axis, varargs, edge_order)
    _check_axes((axis,), y.ndim)
    return _gradients(y, (axis,), varargs, edge_order)[0]


def _count(shape, k):
    if len(shape) == 0:
        return ()
    return (k,) + _count(shape[1:], k + 1)


def _check_axes(axes, ndim):
    for axis in axes:
        if axis < -ndim or axis >= ndim:
            raise AxisError(axis, ndim, None)
    for i in range(len(axes)):
        for j in range(i):
            if axes[i] % ndim == axes[j] % ndim:
                raise ValueError("repeated axis")


def _gradients(y, axes, spacings, edge_order):
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if len(spacings) == 0:
        return _alike(y, axes, 1.0, edge_order)
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        return _alike(y, axes, spacings[0], edge_order)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    else:
        return _each(y, axes, spacings, edge_order)


def _alike(y, axes, step, edge_order):
    if len(axes) == 0:
        return ()
    return (_along(y, axes[0], step, edge_order),) + _alike(y, axes[1:], step, edge_order)


def _each(y, axes, spacings, edge_order):
    if len(axes) == 0:
        return ()
    return (_along(y, axes[0], spacings[0], edge_order),) + _each(y, axes[1:], spacings[1:], edge_order)


def _along(y, axis, spacing, edge_order):
    if y.shape[axis] < edge_order + 1:
        raise ValueError(TOO_SMALL)
    out = np.empty_like(y, np._float_dtype(y))
    to, rows = np.moveaxis(out, axis, 0), np.moveaxis(y, axis, 0)
    if np.ndim(spacing) == 0:
        _by_step(to, rows, spacing, edge_order)
    else:
        places = _places(spacing, len(rows))
        steps = np.diff(places)
        if np.all(steps == steps[0]):
            _by_step(to, rows, steps[0], edge_order)
        else:
            _by_places(to, rows, steps, edge_order)
    return out


def _places(spacing, n):
    given = np.asarray(spacing)
    if given.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if len(given) != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    return given.astype(np.float64) if given.dtype.kind == "i" or given.dtype.kind == "u" else given


def _by_step(to, y, step, edge_order):
    to[1:-1] = np.true_divide(np.subtract(y[2:], y[:-2]), 2.0 * step)
    if edge_order == 1:
        to[0] = np.true_divide(np.subtract(y[1], y[0]), step)
        to[-1] = np.true_divide(np.subtract(y[-1], y[-2]), step)
    else:
        to[0] = _three(-1.5 / step, y[0], 2.0 / step, y[1], -0.5 / step, y[2])
        to[-1] = _three(0.5 / step, y[-3], -2.0 / step, y[-2], 1.5 / step, y[-1])


def _by_places(to, y, steps, edge_order):
    left, right = steps[:-1], steps[1:]
    a = _tall(-right / (left * (left + right)), y)
    b = _tall((right - left) / (left * right), y)
    c = _tall(left / (right * (left + right)), y)
    to[1:-1] = _three(a, y[:-2], b, y[1:-1], c, y[2:])
    if edge_order == 1:
        to[0] = np.true_divide(np.subtract(y[1], y[0]), steps[0])
        to[-1] = np.true_divide(np.subtract(y[-1], y[-2]), steps[-1])
    else:
        p, q = steps[0], steps[1]
        to[0] = _three(-(2.0 * p + q) / (p * (p + q)), y[0], (p + q) / (p * q), y[1], -p / (q * (p + q)), y[2])
        p, q = steps[-2], steps[-1]
        to[-1] = _three(q / (p * (p + q)), y[-3], -(q + p) / (p * q), y[-2], (2.0 * q + p) / (q * (p + q)), y[-1])


def _three(a, x, b, y, c, z):
    return np.add(np.add(np.multiply(a, x), np.multiply(b, y)), np.multiply(c, z))


def _tall(a, like):
    """A factor for each row."""
    return _tall(a[..., np.newaxis], like) if a.ndim < like.ndim else a
