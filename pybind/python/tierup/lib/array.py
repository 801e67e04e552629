"""Methods of arrays that are naturally Python."""

import numpy as np


def tolist(a):
    """Nested lists of Python numbers; the number itself for an array without dimensions."""
    if a.ndim == 0:
        return a.item()
    if a.ndim == 1:
        return [x.item() for x in a]
    return [tolist(row) for row in a]


def conj(a):
    return np.conjugate(a)


def set_flat(a, value):
    """``a.flat = value``: the values in C order, repeated."""
    if isinstance(value, (bool, int, float, complex)):
        a[...] = value
    else:
        source = np.ravel(value)
        n = len(source)
        i = 0
        for at in np.ndindex(a.shape):
            a[at] = source[i % n]
            i += 1
