"""What functions of NumPy give in Numba's meaning where their types differ."""

import numpy as np


def clip(a, a_min, a_max):
    """The elements keep their type, whatever the bounds are."""
    return np.clip(a, a_min, a_max).astype(a.dtype)


def var(a):
    """Of complex64, computed and given in double precision."""
    return a.astype(np.complex128).var()


def std(a):
    return a.astype(np.complex128).std()
