"""What programs take from `numba.np.numpy_support` beyond types: of what type a scalar is, and how arrays lie in memory."""

import numpy as np

from ..types import from_dtype


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
