"""Memory that C hands over. A pointer is an array without an end to compiled code."""

import numpy as np

from .buffers import MemoryView, PyArray


def carray(ptr, shape, dtype=None):
    if isinstance(shape, tuple):
        return _elements(ptr, _product(shape, 0), dtype).reshape(shape)
    return _elements(ptr, shape, dtype)


def farray(ptr, shape, dtype=None):
    if isinstance(shape, tuple):
        return _elements(ptr, _product(shape, 0), dtype).reshape(_reversed(shape, 0)).T
    return _elements(ptr, shape, dtype)


def _product(shape, k):
    if k == len(shape):
        return 1
    return shape[k] * _product(shape, k + 1)


def _reversed(shape, k):
    if k == len(shape):
        return ()
    return _reversed(shape, k + 1) + (shape[k],)


def _elements(ptr, n, dtype):
    if dtype is None or np.dtype(dtype) == np.result_type(ptr):
        return ptr[:n]
    if np.result_type(ptr) != np.uint8:
        raise TypeError("mismatching dtype for pointer")
    return ptr[:n * np.dtype(dtype).itemsize].view(dtype)


def from_buffer(python_buffer):
    """`ffi.from_buffer` of cffi."""
    if isinstance(python_buffer, (MemoryView, PyArray)):
        return from_buffer(python_buffer._array)
    if not python_buffer.flags.c_contiguous:
        raise ValueError("ndarray is not C-contiguous")
    return python_buffer.ctypes
