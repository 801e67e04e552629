"""What the loops of stencils call, and `stencil` in compiled code."""

import numpy as np


def stencil(func_or_mode, neighborhood, cval, standard_indexing):
    if isinstance(func_or_mode, str):
        if func_or_mode != "constant":
            raise ValueError("Unsupported mode style " + func_or_mode)
        return np._stencil_decorator(standard_indexing)(neighborhood, cval)
    return np._stencil(func_or_mode, neighborhood, standard_indexing, cval)(func_or_mode, neighborhood, cval)


def place(x, k, at):
    """The index of the whole array that `k`, counted from the element at `at`, is; what is no array is indexed as usual."""
    if not isinstance(x, np.ndarray):
        return k
    if len(at) == 1:
        return (_moved(k[0], at[0]),) if isinstance(k, tuple) else _moved(k, at[0])
    if len(at) == 2:
        return _moved(k[0], at[0]), _moved(k[1], at[1])
    if len(at) == 3:
        return _moved(k[0], at[0]), _moved(k[1], at[1]), _moved(k[2], at[2])
    return _moved(k[0], at[0]), _moved(k[1], at[1]), _moved(k[2], at[2]), _moved(k[3], at[3])


def _moved(k, by):
    """An index, or a slice with both ends."""
    if isinstance(k, slice):
        return slice(k.start + by, k.stop + by)
    return k + by


def check_value(y, value):
    if np.iscomplexobj(value):
        if not np.iscomplexobj(y):
            raise ValueError("cval type does not match stencil return type.")


def fill(y, value):
    """Before the results are written."""
    check_value(y, value)
    y[...] = value


def border(y, axis, low, high, value):
    """Fills what lies too near to the ends of an axis."""
    check_value(y, value)
    rows = np.moveaxis(y, axis, 0)
    if low > 0:
        rows[:low] = value
    if high > 0:
        rows[max(rows.shape[0] - high, 0):] = value


def check_sizes(first, other):
    if isinstance(other, np.ndarray):
        if other.ndim != first.ndim:
            raise ValueError("Secondary stencil array does not have same number  of dimensions as the first stencil input.")
        for k in range(first.ndim):
            if other.shape[k] < first.shape[k]:
                raise ValueError("Secondary stencil array has some dimension smaller the same dimension in the first stencil input.")


def check_output(out, shape):
    for k in range(len(shape)):
        if out.shape[k] < shape[k]:
            raise ValueError("the output of a stencil is smaller than its first array")


def apart(x, out):
    """An operand that `out` does not share memory with."""
    if isinstance(x, np.ndarray):
        return np.array(x) if np.may_share_memory(x, out) else x
    return x
