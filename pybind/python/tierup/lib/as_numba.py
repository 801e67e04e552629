"""What functions give in Numba's meaning where types or errors differ."""

import cmath
import math

import numpy as np


def clip(a, a_min, a_max):
    """The elements keep their type, whatever the bounds are."""
    return np.clip(a, a_min, a_max).astype(a.dtype)


def var(a):
    """Of complex64, computed and given in double precision."""
    return a.astype(np.complex128).var()


def std(a):
    return a.astype(np.complex128).std()


def log(z, base):
    return np.log(complex(z)) / np.log(complex(base))


def rect(r, phi):
    if math.isinf(phi) and r != 0:
        return complex(math.nan, math.nan)
    return cmath.rect(r, phi)
