"""Methods of arrays that are naturally Python."""

import numpy as np
from numpy.exceptions import AxisError


def tolist(a):
    """Nested lists of Python numbers; the number itself for an array without dimensions."""
    if a.ndim == 0:
        return a.item()
    if a.ndim == 1:
        return [x.item() for x in a]
    return [tolist(row) for row in a]


def ravel(a, order):
    return np.ravel(np.asarray(a), order)


def conj(a):
    return np.conjugate(a) if np.iscomplexobj(a) else a


def set_flat(a, value):
    """``a.flat = value``: the values in C order, repeated."""
    if isinstance(value, (bool, int, float, complex)):
        a[...] = value
    else:
        source = np.ravel(np.asarray(value))
        n = len(source)
        if n == 0:
            return
        i = 0
        for at in np.ndindex(a.shape):
            a[at] = source[i % n]
            i += 1


def in_memory_order(a, order):
    """``a.ravel("K")`` and ``a.ravel("A")`` of an array whose strides are known when it runs."""
    if order == "A" or order == "a":
        if a.flags.f_contiguous and not a.flags.c_contiguous:
            return a.flatten("F")
        return a.flatten("C")
    return np.transpose(a, _longest_stride_first(a)).flatten("C")


def _longest_stride_first(a):
    order = np.arange(a.ndim)
    for i in range(1, a.ndim):
        k = i
        while k > 0 and abs(a.strides[order[k]]) > abs(a.strides[order[k - 1]]):
            order[k], order[k - 1] = order[k - 1], order[k]
            k -= 1
    return _members(order, a.ndim)


def _members(v, n):
    if n == 1:
        return (int(v[0]),)
    return _members(v, n - 1) + (int(v[n - 1]),)


def matrix_transpose(a):
    return np.swapaxes(a, -1, -2)


def flat_copy(flat):
    return np._flat_array(flat).flatten()


def of_flat(flat, dtype):
    if dtype is None:
        return flat_copy(flat)
    return flat_copy(flat).astype(dtype)


def set_sequence(a, i, value):
    a[i] = np.array(value)


def flat_get(flat, i):
    return np._flat_array(flat).flatten()[i]


def flat_set(flat, i, value):
    a = np._flat_array(flat)
    given = np.ravel(np.asarray(value))
    places = np.arange(a.size)[i]
    if len(places) > 0 and len(given) == 0:
        raise ValueError("Error setting single item of array.")
    for k in range(len(places)):
        a.flat[places[k]] = given[k % len(given)]


# -- numbers in arrays without dimensions --------------------------------------------------------------------------------------------------------


def _number(x):
    if isinstance(x, np.ndarray):
        return x[()]
    return x


def of_number_1(f, x):
    return f(_number(x))


def of_number_2(f, x, y):
    return f(_number(x), _number(y))


# -- functions of arrays called with a list or a tuple in front ----------------------------------------------------------------------------------


def of_sequence_1(f, a):
    return f(np.asarray(a))


def of_sequence_2(f, a, b):
    return f(np.asarray(a), b)


def of_sequence_3(f, a, b, c):
    return f(np.asarray(a), b, c)


def of_sequence_4(f, a, b, c, d):
    return f(np.asarray(a), b, c, d)


def of_sequence_5(f, a, b, c, d, e):
    return f(np.asarray(a), b, c, d, e)


def of_sequence_6(f, a, b, c, d, e, g):
    return f(np.asarray(a), b, c, d, e, g)


def without_copy(a, dtype, copy, order, subok, ndmin):
    """`np.array` with `copy=None`, which copies where it must, or `copy=False`, which raises there."""
    if copy is not None:
        given = asarray_uncopied(a, dtype, order, copy)
    else:
        given = np.asarray(a, dtype, order)
    if given.ndim >= ndmin:
        return given
    return given.reshape((1,) * (ndmin - given.ndim) + given.shape)


def asarray_uncopied(a, dtype, order, copy):
    if not isinstance(a, np.ndarray):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    given = np.asarray(a, dtype, order)
    if given.dtype != a.dtype or (given.size > 0 and not np.may_share_memory(given, a)):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return given


def asarray_copied(a, dtype, order, copy):
    return np.array(a, dtype, order=order)


def number_view(x, dtype):
    """The bytes of a NumPy number as a number of another type."""
    if dtype is None:
        return x
    else:
        return np.asarray(x).view(dtype)[()]


def moveaxis(a, source, destination):
    n = a.ndim
    come, go = _axes(source, n, "source"), _axes(destination, n, "destination")
    if len(come) != len(go):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(n) if k not in come]
    for to, at in sorted(zip(go, come)):
        order.insert(to, at)
    now = [k for k in range(n)]
    out = np.swapaxes(a, now[0], now[0])
    for k in range(n):
        at = now.index(order[k])
        out = np.swapaxes(out, k, at)
        now[k], now[at] = now[at], now[k]
    return out


def _axes(axes, n, name):
    """Dimensions counted from 0."""
    if isinstance(axes, (int, np.integer)):
        return [_axis(axes, n, name)]
    out = [_axis(k, n, name) for k in axes]
    if len(set(out)) != len(out):
        raise ValueError("repeated axis in `" + name + "` argument")
    return out


def _axis(k, n, name):
    if not -n <= k < n:
        raise AxisError(k, n, name)
    return k % n


def expand_dims(a, axis):
    n = a.ndim + 1
    if not -n <= axis < n:
        raise AxisError(axis, n, None)
    return moveaxis(np.expand_dims(a, 0), 0, axis)


def at_least_1(a):
    return np.atleast_1d(np.asarray(a))


def at_least_2(a):
    return np.atleast_2d(np.asarray(a))


def at_least_3(a):
    return np.atleast_3d(np.asarray(a))
