"""Arrays in memory that host and device share."""

from contextlib import contextmanager

import numpy as np

from .. import _tierup
from ._arrays import DeviceNDArray, _fortran, order_of
from ._device import is_simulated, state
from ._streams import handle_of

_PINNED, _MAPPED, _MANAGED = 0, 1, 2


class _Owner:
    """Keeps memory for NumPy's arrays over it."""

    def __init__(self, memory, shape, dtype, strides):
        self.memory = memory
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": (memory.address, False), "strides": strides, "version": 3}


def _array(shape, dtype, strides, order, kind, flag):
    state()
    shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
    dtype = np.dtype(dtype)
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F', not {order!r}")
    contiguous = tuple(_fortran(shape[::-1], dtype.itemsize)[::-1]), tuple(_fortran(shape, dtype.itemsize))
    if strides is None:
        strides = contiguous[order == "F"]
    elif tuple(strides) not in contiguous:
        raise NotImplementedError("memory that host and device share is in C or Fortran's order")
    n = dtype.itemsize
    for length in shape:
        n *= length
    return _tierup.SharedMemory(n, kind, bool(flag)), shape, dtype, tuple(strides)


def pinned_array(shape, dtype=np.float64, strides=None, order="C"):
    """A new array of NumPy's in memory that is never moved, which the device copies from and to at its best."""
    return np.asarray(_Owner(*_array(shape, dtype, strides, order, _PINNED, False)))


def pinned_array_like(ary):
    """The same of the shape, dtype and order of another."""
    return pinned_array(ary.shape, ary.dtype, order=order_of(ary))


class MappedNDArray(np.ndarray):
    """An array of NumPy's in memory that kernels reach too."""

    __cuda_memory__ = True

    def __array_finalize__(self, base):
        self._shared, self._stream = getattr(base, "_shared", None), getattr(base, "_stream", 0)

    @property
    def device_ctypes_pointer(self):
        """The address of the first element for kernels, as an object of ctypes."""
        import ctypes
        return ctypes.c_void_p(self.__cuda_array_interface__["data"][0])

    @property
    def __cuda_array_interface__(self):
        if self._shared is None:
            raise AttributeError("__cuda_array_interface__")
        memory = self._shared
        at = self.__array_interface__["data"][0] - memory.address + memory.device
        return {"shape": self.shape, "strides": None if self.flags.c_contiguous else self.strides, "typestr": self.dtype.str, "data": (at, False), "stream": handle_of(self._stream) or None, "version": 3}


class ManagedNDArray(MappedNDArray):
    """The same in memory that lies where it is used."""


def _shared(class_, shape, dtype, strides, order, kind, flag, stream):
    memory, shape, dtype, strides = _array(shape, dtype, strides, order, kind, flag)
    array = np.asarray(_Owner(memory, shape, dtype, strides)).view(class_)
    array._shared, array._stream = memory, stream
    return array


def mapped_array(shape, dtype=np.float64, strides=None, order="C", stream=0, portable=False, wc=False):
    """A new array of NumPy's in memory of the host that kernels reach too, over the bus. `wc` has the host write it fast and read it slowly. The host waits for kernels with `cuda.synchronize()` before it reads. All such memory serves every context, so `portable` changes nothing."""
    handle_of(stream)
    return _shared(MappedNDArray, shape, dtype, strides, order, _MAPPED, wc, stream)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """The same of the shape, dtype and order of another."""
    return mapped_array(ary.shape, ary.dtype, order=order_of(ary), stream=stream, portable=portable, wc=wc)


def managed_array(shape, dtype=np.float64, strides=None, order="C", stream=0, attach_global=True):
    """A new array of NumPy's in memory that moves to where it is used, host or device. The host waits for kernels with `cuda.synchronize()` before it uses it."""
    handle_of(stream)
    return _shared(ManagedNDArray, shape, dtype, strides, order, _MANAGED, not attach_global, stream)


@contextmanager
def _registered(arrays, mapped):
    done, devices = [], []
    try:
        state()
        for a in arrays:
            if not (a.flags.c_contiguous or a.flags.f_contiguous):
                raise ValueError("only arrays without gaps can be pinned")
            at = a.__array_interface__["data"][0]
            device = _tierup.cuda_pin(at, max(a.nbytes, 1), mapped)
            done.append(at)
            if mapped:
                devices.append(DeviceNDArray._over(device, a.dtype, a.shape, list(a.strides), a))
        yield devices
    finally:
        for at in done:
            _tierup.cuda_unpin(at)


@contextmanager
def pinned(*arylist):
    """A block in which arrays of NumPy's are pinned: not moved, so that copies run at their best and beside other work."""
    with _registered(arylist, False):
        yield


@contextmanager
def mapped(*arylist, stream=0):
    """A block in which kernels reach arrays of NumPy's; gives arrays for them, one or a list. At the end the device is waited for."""
    handle_of(stream)
    with _registered(arylist, True) as devices:
        try:
            yield devices[0] if len(devices) == 1 else devices
        finally:
            if not is_simulated():
                _tierup.cuda_synchronize()


__all__ = ["ManagedNDArray", "MappedNDArray", "managed_array", "mapped", "mapped_array", "mapped_array_like", "pinned", "pinned_array", "pinned_array_like"]
