"""`np.arange`, in a module of its own: it is used more than most, and a first call waits for the module to be imported."""

import math

import numpy as np

from .._jit import prange


def arange(start, stop, step, dtype):
    # One function and not one for each default: every call more is one more instance to infer.
    first = 0 if start is None or stop is None else start
    last = start if stop is None else stop
    by = 1 if step is None else step
    out = np.empty(_count(first, last, by), np.result_type(np.int64, first, last, by) if dtype is None else dtype)
    _fill_range(out, first, by)
    return out


def _count(start, stop, step):
    """How many numbers a range has."""
    if np.iscomplexobj(start) or np.iscomplexobj(stop) or np.iscomplexobj(step):
        length = (stop - start) / step
        return min(_length(float(length.real)), _length(float(length.imag)))
    if np._is_inexact(start) or np._is_inexact(stop) or np._is_inexact(step):
        quotient = float((stop - start) / step)
        if quotient == 0 and stop != start:
            # What is too small for a number, or divided by infinity.
            return 1 if math.copysign(1.0, quotient) > 0 else 0
        return _length(quotient)
    if step == 0:
        raise ZeroDivisionError("division by zero")
    return len(range(start, stop, step))


def _length(quotient):
    if math.isnan(quotient):
        raise ValueError("arange: cannot compute length")
    if quotient > 9e18:
        raise ValueError("Maximum allowed size exceeded")
    if quotient <= 0:
        return 0
    return math.ceil(quotient)


def _fill_range(out, start, step):
    # NumPy computes the first two numbers and steps by their difference, in the array's own type.
    n = len(out)
    if n > 2 and out.dtype == np.bool_:
        raise TypeError("arange() is only supported for booleans when the result has at most length 2.")
    if n > 0:
        out[0] = start
    if n > 1:
        out[1] = start + step
        first = out[0]
        delta = out[1] - first
        for i in prange(2, n):
            out[i] = first + i * delta
