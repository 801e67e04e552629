"""Reductions by the names of `numba.cuda.kernels.reduction`."""

from .._reduce import Reduce

__all__ = ["Reduce"]
