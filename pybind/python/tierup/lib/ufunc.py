"""NumPy's element-wise functions that are made of others.

Names with an underscore (``np._clip``) are rows of the operation table for library use; NumPy has no such attributes.
"""

import math

import numpy as np


def frexp(x):
    return np._frexp_mantissa(x), np._frexp_exponent(x)


def modf(x):
    return np._modf_fraction(x), np._modf_whole(x)


def divmod_(x1, x2):
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


def divmod_arrays(a, b):
    return a // b, a % b


def clip(a, a_min, a_max, out, low, high):
    if low is not None:
        return clip(a, low, a_max, out, None, high)
    if high is not None:
        return clip(a, a_min, high, out, None, None)
    if a_min is None:
        if a_max is None:
            return np.positive(a, out)
        return np.minimum(a, a_max, out)
    if a_max is None:
        return np.maximum(a, a_min, out)
    if isinstance(a, np.ndarray) and not isinstance(a_min, np.ndarray) and not isinstance(a_max, np.ndarray):
        # Two passes, each by a kernel. Of equal values the second is taken: a zero keeps its sign.
        return np.minimum(a_max, np.maximum(a_min, a), out)
    return np._clip(a, a_min, a_max, out)


def round_(a, decimals, out):
    return np._round(a, decimals, out)


def sinc(x):
    y = np.multiply(np.pi, np.where(np.equal(x, 0), 1.0e-20, x))
    return np.sin(y) / y


def angle(z, deg):
    a = np.arctan2(np.imag(z), np.real(z))
    if deg:
        return a * (180 / np.pi)
    return a


def nan_to_num(x, copy, nan, posinf, neginf):
    if isinstance(x, np.ndarray) and x.ndim > 0:
        return _nan_to_num(x, nan, posinf, neginf)
    return _nan_to_num(np.asarray(x), nan, posinf, neginf)[()]


def _nan_to_num(x, nan, posinf, neginf):
    out = x.copy()
    if np._is_inexact(x):
        if posinf is None:
            high = np._largest(x)
        else:
            high = posinf
        if neginf is None:
            low = -np._largest(x)
        else:
            low = neginf
        for i in np.ndindex(out.shape):
            out[i] = _number(out[i], nan, high, low)
    return out


def _number(v, nan, high, low):
    if isinstance(v, complex):
        return complex(_number(v.real, nan, high, low), _number(v.imag, nan, high, low))
    if math.isnan(v):
        return nan
    if v == math.inf:
        return high
    if v == -math.inf:
        return low
    return v


# -- lists and tuples as operands ----------------------------------------------------------------------------------------------------------------


def _operand(x):
    if isinstance(x, (list, tuple)):
        return np.asarray(x)
    return x


def of_sequence(f, x):
    return f(np.asarray(x))


def of_sequence_into(f, x, out):
    return f(np.asarray(x), out)


def of_sequences(f, x, y):
    return f(_operand(x), _operand(y))


def of_sequences_into(f, x, y, out):
    return f(_operand(x), _operand(y), out)


def of_three_sequences(f, x, y, z):
    return f(_operand(x), _operand(y), _operand(z))
