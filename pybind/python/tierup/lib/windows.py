"""Windows that slide over arrays, as views."""

import numpy as np
from numpy.exceptions import AxisError


def sliding_window_view(x, window_shape, axis, subok, writeable):
    a = np.asarray(x)
    if not isinstance(window_shape, tuple):
        return sliding_window_view(a, (window_shape,), axis, subok, writeable)
    for n in window_shape:
        if n < 0:
            raise ValueError("`window_shape` cannot contain negative values")
    if axis is None:
        if len(window_shape) != a.ndim:
            raise ValueError(f"Since axis is `None`, must provide window_shape for all dimensions of `x`; got {len(window_shape)} window_shape elements and `x.ndim` is {a.ndim}.")
        view = _over_all(a, window_shape, a.ndim)
    elif not isinstance(axis, tuple):
        return sliding_window_view(a, window_shape, (axis,), subok, writeable)
    else:
        if len(window_shape) != len(axis):
            raise ValueError(f"Must provide matching length window_shape and axis; got {len(window_shape)} window_shape elements and {len(axis)} axes elements.")
        view = _over(a, window_shape, axis, a.ndim)
    return view if writeable else np._read_only(view)


def _over_all(a, sizes, ndim):
    if len(sizes) == 0:
        return a
    return _over_all(np._windows(a, sizes[0], ndim - len(sizes)), sizes[1:], ndim)


def _over(a, sizes, axes, ndim):
    """Axes count among those that the array had."""
    if len(sizes) == 0:
        return a
    k = axes[0]
    if k < -ndim or k >= ndim:
        raise AxisError(k, ndim, None)
    return _over(np._windows(a, sizes[0], k + ndim if k < 0 else k), sizes[1:], axes[1:], ndim)
