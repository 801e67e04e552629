"""The decorators that the benchmark programs import: whose they are, the environment says (`BENCH_SIDE`: tierup, numba or python).

The programs in `arrays/` use `array_njit`, which is parallel where `BENCH_PARALLEL` is 1.
"""

import os

SIDE = os.environ.get("BENCH_SIDE", "python")
OPTIONS = {"boundscheck": False} if os.environ.get("BENCH_BOUNDSCHECK") == "0" and SIDE == "tierup" else {}

if SIDE == "tierup":
    from tierup import njit as _njit, prange
elif SIDE == "numba":
    from numba import njit as _njit, prange
else:
    prange = range

    def _njit(f=None, **options):
        return f or (lambda f: f)


def njit(f):
    return _njit(**OPTIONS)(f) if OPTIONS else _njit(f)


def array_njit(f):
    return _njit(parallel=True)(f) if os.environ.get("BENCH_PARALLEL") == "1" else _njit(f)
