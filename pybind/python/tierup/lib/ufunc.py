"""NumPy's element-wise functions that are made of others.

Names with an underscore (``np._clip``) are rows of the operation table for library use; NumPy has no such attributes.
"""

import math

import numpy as np

from . import folds
from .outputs import same_shape


def frexp(x, out1, out2):
    return _both(np._frexp_mantissa(x), np._frexp_exponent(x), out1, out2)


def modf(x, out1, out2):
    return _both(np._modf_fraction(x), np._modf_whole(x), out1, out2)


def divmod_(x1, x2, out1, out2):
    return _both(np.floor_divide(x1, x2), np.remainder(x1, x2), out1, out2)


def _both(first, second, out1, out2):
    """Both are computed before one is written: an output may be an operand."""
    return _put(first, out1), _put(second, out2)


def _put(x, out):
    if out is None:
        return x
    np.copyto(out, x)
    return out


def divmod_arrays(a, b):
    return a // b, a % b


def clip(a, a_min, a_max, out, low, high):
    if a_min is ... and a_max is ...:
        return limited(a, None if low is ... else low, None if high is ... else high, out)
    if a_min is ...:
        raise TypeError("clip() missing 1 required positional argument: 'a_min'")
    if a_max is ...:
        raise TypeError("clip() missing 1 required positional argument: 'a_max'")
    if low is not ... or high is not ...:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    return limited(a, a_min, a_max, out)


def clip_of_sequence(a, a_min, a_max, out, low, high):
    return clip(np.asarray(a), a_min, a_max, out, low, high)


def limited(a, a_min, a_max, out):
    if np.result_type(a).kind == "i" or np.result_type(a).kind == "u":
        return _clip(a, _at_least_least(a, a_min), _at_most_largest(a, a_max), out)
    return _clip(a, a_min, a_max, out)


def _at_least_least(a, bound):
    """A Python int below all that the elements can be is no bound, and no error either."""
    if isinstance(bound, (int, np.integer)):
        return max(bound, np.iinfo(np.result_type(a)).min)
    return bound


def _at_most_largest(a, bound):
    if isinstance(bound, (int, np.integer)) and np.result_type(a) != np.uint64:
        return min(bound, np.iinfo(np.result_type(a)).max)
    return bound


def _clip(a, a_min, a_max, out):
    if a_min is None:
        if a_max is None:
            return np.positive(a, out)
        return np.minimum(a, a_max, out)
    if a_max is None:
        return np.maximum(a, a_min, out)
    if isinstance(a, np.ndarray) and not isinstance(a_min, np.ndarray) and not isinstance(a_max, np.ndarray) and not np.iscomplexobj(a) and not np.iscomplexobj(a_min) and not np.iscomplexobj(a_max):
        # Two passes, each by a kernel. Of equal values the second is taken: a zero keeps its sign.
        return np.minimum(a_max, np.maximum(a_min, a), out)
    return np._clip(a, a_min, a_max, out)


def round_(a, decimals, out):
    if out is not None and not same_shape(np.asarray(a), out):
        raise ValueError("invalid output shape")
    if isinstance(a, np.ndarray) and a.dtype == np.bool_ and decimals != 0:
        loop = "multiply" if decimals > 0 else "divide"
        raise TypeError(f"Cannot cast ufunc '{loop}' output from dtype('float64') to dtype('bool') with casting rule 'same_kind'")
    return np._round(a, decimals, out)


def sinc(x):
    y = np.multiply(np.pi, np.where(np.equal(x, 0), 1.0e-20, x))
    return np.sin(y) / y


def angle(z, deg):
    # Beside bools and narrow floats the zero of real numbers is Python's.
    a = np.arctan2(np.imag(z), np.real(z)) if np.iscomplexobj(z) else np.arctan2(0, np.real(z))
    if deg:
        return a * (180 / np.pi)
    return a


def nan_to_num(x, copy, nan, posinf, neginf):
    if copy:
        return _number_of(_nan_to_num(np.array(x), nan, posinf, neginf))
    elif isinstance(x, np.ndarray):
        return _number_of(_nan_to_num(x, nan, posinf, neginf))
    else:
        raise ValueError("Unable to avoid copy while creating an array as requested.")


def _number_of(x):
    return x[()] if x.ndim == 0 else x


def _nan_to_num(out, nan, posinf, neginf):
    """In place."""
    x = out
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


# -- methods of universal functions --------------------------------------------------------------------------------------------------------------


def reduce(f, array, axis, dtype, out, keepdims, initial, where):
    """``np.add.reduce(array)`` and the like."""
    if f is np.add:
        return np.sum(array, axis, dtype, out, keepdims, initial, where)
    if f is np.multiply:
        return np.prod(array, axis, dtype, out, keepdims, initial, where)
    if dtype is not None:
        return reduce(f, np.asarray(array).astype(dtype), axis, None, out, keepdims, initial, where)
    if f is np.maximum:
        return np.max(array, axis, out, keepdims, initial, where)
    if f is np.minimum:
        return np.min(array, axis, out, keepdims, initial, where)
    if f is np.logical_and and initial is None:
        return np.all(array, axis, out, keepdims, where=where)
    if f is np.logical_or and initial is None:
        return np.any(array, axis, out, keepdims, where=where)
    x = np.asarray(array)
    return folds.reduce(f, _identity(f, x), x, axis, None, out, keepdims, initial, where)


def _identity(f, x):
    """Of the others; see `folds`."""
    if f is np.bitwise_or or f is np.bitwise_xor or f is np.logical_xor or f is np.gcd or f is np.logical_or or f is np.hypot:
        return 0
    if f is np.logical_and:
        return 1
    if f is np.bitwise_and:
        return np.invert(np.zeros(1, x.dtype))[0]
    if (f is np.subtract or f is np.true_divide or f is np.floor_divide or f is np.remainder or f is np.fmod or f is np.power or f is np.float_power
            or f is np.left_shift or f is np.right_shift or f is np.arctan2 or f is np.copysign or f is np.nextafter or f is np.heaviside):
        return None
    return "reorderable"


def accumulate(f, array, axis, dtype, out):
    """``np.add.accumulate(array)`` and the like."""
    if f is np.add or f is np.multiply:
        x = np.asarray(array)
        if x.ndim == 0:
            raise TypeError("cannot accumulate on a scalar")
        return np.cumsum(x, axis, dtype, out) if f is np.add else np.cumprod(x, axis, dtype, out)
    return folds.accumulate(f, array, axis, dtype, out)


def reduceat(f, array, indices, axis, dtype, out):
    """``np.add.reduceat(array, indices)``: what lies between neighbouring indices put together."""
    if dtype is None and (f is np.add or f is np.multiply):
        # As in sums, small integers are put together as those of the machine.
        x = np.asarray(array)
        if x.dtype.kind == "b" or x.dtype.kind == "i":
            return folds.reduceat(f, x.astype(np.int64), indices, axis, None, out)
        if x.dtype.kind == "u":
            return folds.reduceat(f, x.astype(np.uint64), indices, axis, None, out)
    return folds.reduceat(f, array, indices, axis, dtype, out)


def outer(f, A, B):
    """``np.subtract.outer(A, B)``: every element of the one with every element of the other."""
    return folds.outer(f, A, B)


def at(f, a, indices, b):
    """``np.add.at(a, indices, b)``: an element that is named twice is changed twice."""
    if isinstance(indices, tuple):
        if len(indices) == 0:
            _at_positions(f, a, np.arange(a.size).reshape(a.shape), b)
        else:
            _at_tuple(f, a, indices, indices, b)
        return
    if isinstance(indices, slice):
        _at_positions(f, a, np.arange(a.size).reshape(a.shape)[indices], b)
        return
    where = np.asarray(indices)
    if where.dtype == np.bool_:
        at(f, a, np.nonzero(where), b)
        return
    if np._is_inexact(where):
        # An empty list has no integers either.
        if where.size > 0:
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
        return
    _check_range(where, a.shape[0], 0)
    if b is None:
        for i in where.flat:
            a[i] = f(a[i])
        return
    given = np.array(np.broadcast_to(np.asarray(b), where.shape + a.shape[1:]))
    for k in np.ndindex(where.shape):
        a[where[k]] = f(a[where[k]], given[k])


def _at_tuple(f, a, indices, rest, b):
    if len(rest) == 0:
        _at_places(f, a, np.broadcast_arrays(*_as_arrays(indices)), b)
    elif isinstance(rest[0], slice) or rest[0] is None or rest[0] is Ellipsis:
        _at_positions(f, a, np.arange(a.size).reshape(a.shape)[indices], b)
    else:
        _at_tuple(f, a, indices, rest[1:], b)


def _check_range(where, n, axis):
    """Nothing is changed where an index is wrong."""
    for i in where.flat:
        if i < -n or i >= n:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")


def _at_positions(f, a, positions, b):
    """At places in the order of C."""
    if b is None:
        for i in positions.flat:
            a.flat[i] = f(a.flat[i])
        return
    given = np.array(np.broadcast_to(np.asarray(b), positions.shape))
    for k in np.ndindex(positions.shape):
        a.flat[positions[k]] = f(a.flat[positions[k]], given[k])


def _as_arrays(indices):
    if len(indices) == 0:
        return ()
    return (np.asarray(indices[0]),) + _as_arrays(indices[1:])


def broadcast_sequences(*args):
    return np.broadcast_arrays(*_as_arrays(args))


def _at_places(f, a, indices, b):
    shape = indices[0].shape
    _check_ranges(indices, a.shape, 0)
    if b is None:
        for k in np.ndindex(shape):
            i = _place(indices, k)
            a[i] = f(a[i])
        return
    given = np.array(np.broadcast_to(np.asarray(b), shape + a.shape[len(indices):]))
    for k in np.ndindex(shape):
        i = _place(indices, k)
        a[i] = f(a[i], given[k])


def _check_ranges(indices, shape, axis):
    if len(indices) > 0:
        _check_range(indices[0], shape[0], axis)
        _check_ranges(indices[1:], shape[1:], axis + 1)


def _place(indices, k):
    if len(indices) == 1:
        return (indices[0][k],)
    return (indices[0][k],) + _place(indices[1:], k)


# Coefficients of Chebyshev series, those of the library Cephes: of `exp(-x) * i0(x)` from 0 to 8, and of `exp(-x) * sqrt(x) * i0(x)` beyond.
_I0_NEAR = (
    -4.4153416464793395e-18, 3.3307945188222384e-17, -2.431279846547955e-16, 1.715391285555133e-15, -1.1685332877993451e-14,
    7.676185498604936e-14, -4.856446783111929e-13, 2.95505266312964e-12, -1.726826291441556e-11, 9.675809035373237e-11,
    -5.189795601635263e-10, 2.6598237246823866e-09, -1.300025009986248e-08, 6.046995022541919e-08, -2.670793853940612e-07,
    1.1173875391201037e-06, -4.4167383584587505e-06, 1.6448448070728896e-05, -5.754195010082104e-05, 0.00018850288509584165,
    -0.0005763755745385824, 0.0016394756169413357, -0.004324309995050576, 0.010546460394594998, -0.02373741480589947,
    0.04930528423967071, -0.09490109704804764, 0.17162090152220877, -0.3046826723431984, 0.6767952744094761,
)
_I0_FAR = (
    -7.233180487874754e-18, -4.830504485944182e-18, 4.46562142029676e-17, 3.461222867697461e-17, -2.8276239805165836e-16,
    -3.425485619677219e-16, 1.7725601330565263e-15, 3.8116806693526224e-15, -9.554846698828307e-15, -4.150569347287222e-14,
    1.54008621752141e-14, 3.8527783827421426e-13, 7.180124451383666e-13, -1.7941785315068062e-12, -1.3215811840447713e-11,
    -3.1499165279632416e-11, 1.1889147107846439e-11, 4.94060238822497e-10, 3.3962320257083865e-09, 2.266668990498178e-08,
    2.0489185894690638e-07, 2.8913705208347567e-06, 6.889758346916825e-05, 0.0033691164782556943, 0.8044904110141088,
)


def i0(x):
    given = np.asarray(x)
    if given.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    a = np.abs(given) if given.dtype.kind == "f" else np.abs(given.astype(np.float64))
    near, far = np.minimum(a, 8), np.maximum(a, 8)
    inside = np.multiply(np.exp(near), _chebyshev(np.subtract(np.true_divide(near, 2), 2), _I0_NEAR))
    beyond = np.true_divide(np.multiply(np.exp(far), _chebyshev(np.subtract(np.true_divide(32, far), 2), _I0_FAR)), np.sqrt(far))
    return np.asarray(np.where(np.less_equal(a, 8), inside, beyond))


def _chebyshev(x, coefficients):
    now, last, before = np.add(np.multiply(x, 0), coefficients[0]), np.multiply(x, 0), np.multiply(x, 0)
    for c in coefficients[1:]:
        before, last = last, now
        now = np.add(np.subtract(np.multiply(x, last), before), c)
    return np.multiply(np.subtract(now, before), 0.5)
