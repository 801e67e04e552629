"""What functions give in Numba's meaning where types or errors differ."""

import cmath
import math

import numpy as np

_LARGEST = 2**63 - 1
_LN_10 = math.log(10.0)


def clip(a, a_min, a_max):
    """The elements keep their type, whatever the bounds are."""
    return np.clip(a, a_min, a_max).astype(a.dtype)


def var(a):
    """Of complex64, computed and given in double precision."""
    return a.astype(np.complex128).var()


def std(a):
    return a.astype(np.complex128).std()


def quantile(a, q):
    return np.quantile(a.astype(np.float64), _floats(q))


def nanquantile(a, q):
    return np.nanquantile(a.astype(np.float64), _floats(q))


def percentile(a, q):
    return np.percentile(a.astype(np.float64), _floats(q))


def nanpercentile(a, q):
    return np.nanpercentile(a.astype(np.float64), _floats(q))


def _floats(q):
    """Fractions as float64, one or several."""
    if isinstance(q, (int, float, np.number)):
        return np.float64(q)
    return np.asarray(q, np.float64)


def log(z, base):
    return np.log(complex(z)) / np.log(complex(base))


def log10(z):
    w = np.log(complex(z))
    return complex(w.real / _LN_10, w.imag / _LN_10)


def rect(r, phi):
    if math.isinf(phi) and r != 0:
        return complex(math.nan, math.nan)
    return cmath.rect(r, phi)


def slice_start(s):
    if s.start is not None:
        return s.start
    return 0 if _goes_up(s) else _LARGEST


def slice_stop(s):
    if s.stop is not None:
        return s.stop
    return _LARGEST if _goes_up(s) else -_LARGEST - 1


def slice_step(s):
    if s.step is not None:
        return s.step
    return 1


def _goes_up(s):
    if s.step is None:
        return True
    return s.step >= 0
