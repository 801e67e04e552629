"""Exceptions by the names of `numba.cuda.cudadrv.error`."""

from .._errors import CudaError, CudaSupportError

CudaDriverError = CudaRuntimeError = CudaError

__all__ = ["CudaDriverError", "CudaRuntimeError", "CudaSupportError"]
