"""Results that go to ``out=``: an array of their very shape, since what is reduced or taken is never repeated to fill a larger one."""

import numpy as np

from .elementwise import shape_text


def same_shape(x, y):
    # Tuples of different lengths are of different types.
    return x.shape == y.shape if x.ndim == y.ndim else False


def fitting(x, like):
    """A number of Python's that is to become one of the type of `like`: NumPy refuses those for which that has no room. Its own numbers it casts."""
    if isinstance(x, (np.integer, np.floating, np.complexfloating)):
        return np._cast_like(x, like)
    return packed(x, like)


def packed(x, like):
    """The same of all numbers."""
    if np.result_type(like).kind == "i" or np.result_type(like).kind == "u":
        _check_room(x, like)
    return np._cast_like(x, like)


_TOO_LARGE = "Python int too large to convert to C long"


def _check_room(x, like):
    if isinstance(x, (complex, np.complexfloating)):
        raise TypeError("int() argument must be a string, a bytes-like object or a real number, not 'complex'")
    if isinstance(x, (float, np.floating)):
        if x != x:
            raise ValueError("cannot convert float NaN to integer")
        if x - x != 0:
            raise OverflowError("cannot convert float infinity to integer")
        if x <= -9223372036854775809.0 or x >= (18446744073709551616.0 if np.result_type(like) == np.uint64 else 9223372036854775808.0):
            raise OverflowError(_TOO_LARGE)
        if x < 9223372036854775808.0:
            _check_room(int(x), like)
    else:
        limits = np.iinfo(np.result_type(like))
        if x > np.iinfo(np.int64).max and np.result_type(like) != np.uint64:
            raise OverflowError(_TOO_LARGE)
        if x < limits.min or x > limits.max:
            raise OverflowError(f"Python integer {x} out of bounds for {np.result_type(like).name}")


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
