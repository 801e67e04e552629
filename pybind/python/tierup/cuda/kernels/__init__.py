"""Kernels that programs take from `numba.cuda.kernels`."""

from . import reduction, transpose

__all__ = ["reduction", "transpose"]
