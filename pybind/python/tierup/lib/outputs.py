"""Results that go to ``out=``: an array of their very shape, since what is reduced or taken is never repeated to fill a larger one."""

import numpy as np

from .elementwise import shape_text


def same_shape(x, y):
    # Tuples of different lengths are of different types.
    return x.shape == y.shape if x.ndim == y.ndim else False


def reduced(out, value, operation):
    """Of the reduction `operation`."""
    y = np.asarray(value)
    if out.ndim != y.ndim:
        raise ValueError(f"output parameter for reduction operation {operation} has the wrong number of dimensions: Found {out.ndim} but expected {y.ndim}")
    return accumulated(out, y)


def accumulated(out, value):
    """Of what has a result for each element."""
    y = np.asarray(value)
    if not same_shape(out, y):
        raise ValueError("could not broadcast input array from shape " + shape_text(y.shape) + " into shape " + shape_text(out.shape))
    out[...] = y
    return out


def positions(out, value, function):
    """Of `argmin` and its like."""
    y = np.asarray(value)
    np._check_cast(out, y, "safe")
    if not same_shape(out, y):
        raise ValueError("output array does not match result of np." + function + ".")
    out[...] = y
    return out


def taken(out, value):
    y = np.asarray(value)
    if not same_shape(out, y):
        raise ValueError("output array does not match result of ndarray.take")
    out[...] = y
    return out
