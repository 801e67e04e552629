"""What programs take from `numba.np` and `numba.core.sigutils` beyond types: of what type a scalar is, how arrays lie in memory, and the product of vectors in the plane."""

import numpy as np

from .. import types
from ..types import from_dtype


def is_signature(sig):
    """Whether something can be a signature: a text, a tuple of types, or what a type makes of types."""
    return isinstance(sig, (str, tuple, types.Signature))


def normalize_signature(sig):
    """(argument types, result type or None) of a signature. Raises TypeError for what is none."""
    if not is_signature(sig):
        raise TypeError(f"invalid signature: {sig!r} (type: {type(sig).__name__!r}) is neither a tuple nor a Signature")
    if isinstance(sig, str):
        return types.signatures(sig)[0]
    args, result = (sig, None) if isinstance(sig, tuple) else (sig.args, sig.return_type)
    for t in args if result is None else (*args, result):
        if not isinstance(t, types.Type):
            raise TypeError(f"invalid type in signature: expected a type instance, got {t!r}")
    return args, result


def map_arrayscalar_type(val):
    """The type of a scalar of NumPy's, or of a number of Python's as NumPy would hold it."""
    return from_dtype(val.dtype if isinstance(val, np.generic) else np.dtype(type(val)))


def map_layout(val):
    """The layout of an array: C, F or A."""
    flags = val.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"


def is_array(val):
    return isinstance(val, np.ndarray)


def is_contiguous(dims, strides, itemsize):
    """Whether an array of this shape and these strides lies in C order without gaps."""
    return is_fortran(dims[::-1], strides[::-1], itemsize)


def is_fortran(dims, strides, itemsize):
    """Whether an array of this shape and these strides lies in Fortran's order without gaps. Axes of length 1 may have any stride."""
    expected = itemsize
    for n, stride in zip(dims, strides):
        if n > 1 and stride != expected:
            return False
        expected *= n
    return True


def cross2d(a, b):
    """What `np.cross` gave of vectors with two components, on the last axis: a number for each pair."""
    x, y = np.asarray(a), np.asarray(b)
    if x.ndim == 0 or y.ndim == 0 or x.shape[-1] != 2 or y.shape[-1] != 2:
        raise ValueError("Incompatible dimensions for 2D cross product (both inputs must have length 2)")
    return np.asarray(x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0])
