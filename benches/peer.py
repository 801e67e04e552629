"""The decorator that the benchmark programs import: whose it is, the environment says (`BENCH_SIDE`: tierup, numba or python)."""

import os

SIDE = os.environ.get("BENCH_SIDE", "python")
OPTIONS = {"boundscheck": False} if os.environ.get("BENCH_BOUNDSCHECK") == "0" and SIDE == "tierup" else {}

if SIDE == "tierup":
    from tierup import njit as _njit
elif SIDE == "numba":
    from numba import njit as _njit
else:
    def _njit(f):
        return f


def njit(f):
    return _njit(**OPTIONS)(f) if OPTIONS else _njit(f)
