"""Arrays of a device to and from other libraries by DLPack, without copies: its structures in C, and the capsules that carry them."""

import ctypes
import itertools

import numpy as np

from ._device import is_simulated

_CPU, _CUDA, _MANAGED = 1, 2, 13
_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_LETTERS = {code: kind for kind, code in _KINDS.items()}
_NAME, _USED = b"dltensor", b"used_dltensor"


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    """A tensor with what gives it back."""


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]

_python = ctypes.pythonapi
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(("PyCapsule_New", _python))
_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _python))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _python))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _python))

# What others have of ours, by number: the structure, its lengths and strides, and the array.
_given, _numbers = {}, itertools.count(1)


@_Deleter
def _given_back(managed):
    _given.pop(managed.contents.context, None)


@_Destructor
def _dropped(capsule):
    # Nobody has taken what is in it.
    if _valid(capsule, _NAME):
        managed = ctypes.cast(_pointer(capsule, _NAME), ctypes.POINTER(_Managed))
        managed.contents.deleter(managed)


def device():
    """Where arrays lie: the kind and the number of the device. Those of the simulator lie in the host's memory."""
    return (_CPU if is_simulated() else _CUDA), 0


def export(array):
    """A capsule with an array, which stays until the other library is done with it."""
    if array.dtype.kind not in _KINDS or not array.dtype.isnative:
        raise BufferError(f"DLPack knows no elements of {array.dtype}")
    item, n = array.dtype.itemsize, array.ndim
    if any(s % item for s in array.strides):
        raise BufferError("DLPack counts strides in elements, and these are none")
    array._told()
    shape, strides = (ctypes.c_int64 * n)(*array.shape), (ctypes.c_int64 * n)(*(s // item for s in array.strides))
    managed, number = _Managed(), next(_numbers)
    tensor = managed.tensor
    tensor.data, tensor.device, tensor.ndim = array._address, device(), n
    tensor.code, tensor.bits, tensor.lanes = _KINDS[array.dtype.kind], 8 * item, 1
    tensor.shape, tensor.strides = shape, strides
    managed.context, managed.deleter = number, _given_back
    _given[number] = managed, shape, strides, array
    return _new(ctypes.addressof(managed), _NAME, _dropped)


class _Owner:
    """What another library's array is kept by."""

    def __init__(self, managed):
        self._managed = managed

    def __del__(self):
        if self._managed.contents.deleter:
            self._managed.contents.deleter(self._managed)


def taken(capsule):
    """Address, dtype, shape, strides in bytes and owner of what a capsule holds, which is empty then; where it does not lie on the device, BufferError."""
    at = id(capsule)
    if not _valid(at, _NAME):
        raise ValueError("a capsule that DLPack's consumers have not taken yet is needed")
    managed = ctypes.cast(_pointer(at, _NAME), ctypes.POINTER(_Managed))
    tensor = managed.contents.tensor
    if tensor.device[0] not in ((_CPU,) if is_simulated() else (_CUDA, _MANAGED)):
        raise BufferError("the memory of this array does not lie on the device")
    if tensor.lanes != 1 or tensor.code not in _LETTERS or tensor.bits % 8:
        raise BufferError("kernels have no arrays of these elements")
    dtype = np.dtype(f"{_LETTERS[tensor.code]}{tensor.bits // 8}")
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    strides = [dtype.itemsize * tensor.strides[k] for k in range(tensor.ndim)] if tensor.strides else None
    _rename(capsule, _USED)
    return (tensor.data or 0) + tensor.byte_offset, dtype, shape, strides, _Owner(managed)
