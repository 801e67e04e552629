"""Memory of a device by its address, for programs that handle it themselves: the names of `numba.cuda.cudadrv.driver`."""

import ctypes
import weakref

import numpy as np

from .. import _tierup
from ._device import state
from ._streams import handle_of

_IN, _OUT, _BESIDE = 0, 1, 2


class MemoryPointer:
    """So many bytes at an address of the device. `finalizer()` gives them back, when the pointer and all views of it have gone."""

    __cuda_memory__ = True

    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        self.context, self.size, self.owner = context, size, owner
        self.device_pointer = pointer if isinstance(pointer, ctypes.c_void_p) else ctypes.c_void_p(pointer)
        # The views count with the pointer that they are of.
        self._counted = owner._counted if isinstance(owner, MemoryPointer) else [0]
        self._counted[0] += 1
        self._end = weakref.finalize(self, _end, self._counted, finalizer)
        self._end.atexit = False

    @property
    def handle(self):
        """The address, as an object of ctypes."""
        return self.device_pointer

    device_ctypes_pointer = handle

    @property
    def address(self):
        """The address, as a number."""
        return self.device_pointer.value or 0

    @property
    def refct(self):
        """How many there are of the pointer and views of it."""
        return self._counted[0]

    def own(self):
        """One more pointer to the same bytes."""
        return self.view(0, self.size)

    def view(self, start, stop=None):
        """The bytes from `start` on, or up to `stop`."""
        stop = self.size if stop is None else stop
        if not 0 <= start <= stop <= self.size:
            raise RuntimeError(f"{start}:{stop} are not bytes of {self.size}")
        return MemoryPointer(self.context, self.address + start, stop - start, owner=self if self.owner is None else self.owner)

    def memset(self, byte, count=None, stream=0):
        """Puts one number into all bytes, or the first ones."""
        device_memset(self, byte, self.size if count is None else count, stream)

    def free(self):
        """Gives the memory back now."""
        self._end()


AutoFreePointer = MemoryPointer


def _end(counted, finalizer):
    counted[0] -= 1
    if finalizer is not None:
        finalizer()


def _of_host(memory, name):
    """Memory of the host that the device knows, as a buffer for NumPy."""
    class_ = type(name, (ctypes.c_uint8 * memory.bytes,), {"__cuda_memory__": True})
    made = class_.from_address(memory.address)
    made.size, made._memory = memory.bytes, memory
    made.host_pointer, made.device_pointer = ctypes.c_void_p(memory.address), ctypes.c_void_p(memory.device or memory.address)
    made.handle = made.device_ctypes_pointer = made.device_pointer
    return made


def memalloc(context, bytesize):
    """Memory of the device."""
    memory = _tierup.DeviceMemory(bytesize)
    memory.share()
    pointer = MemoryPointer(context, memory.address, bytesize)
    pointer._memory = memory
    return pointer


def memhostalloc(bytesize, mapped=False, portable=False, wc=False):
    """Memory of the host that is never moved; `mapped` memory kernels reach too."""
    state()
    return _of_host(_tierup.SharedMemory(bytesize, 1 if mapped else 0, bool(wc)), "MappedMemory" if mapped else "PinnedMemory")


def memallocmanaged(bytesize, attach_global=True):
    """Memory that lies where it is used."""
    state()
    return _of_host(_tierup.SharedMemory(bytesize, 2, not attach_global), "ManagedMemory")


class _Pinned(MemoryPointer):
    """Memory of the host that was pinned where it lies."""


def mempin(context, owner, pointer, size, mapped=False):
    """Pins memory of the host that `owner` keeps."""
    state()
    device = _tierup.cuda_pin(pointer, size, mapped)
    made = _Pinned(context, device or pointer, size, finalizer=lambda: _tierup.cuda_unpin(pointer))
    made._pinned = owner
    return made


def is_device_memory(obj):
    """Whether an object is memory of a device, or an array in it."""
    return bool(getattr(obj, "__cuda_memory__", False))


def require_device_memory(obj):
    """TypeError where it is not."""
    if not is_device_memory(obj):
        raise TypeError("Not a CUDA memory object.")


def device_ctypes_pointer(obj):
    """The address of memory of a device, as an object of ctypes."""
    require_device_memory(obj)
    return obj.device_ctypes_pointer


def device_pointer(obj):
    """The same as a number."""
    return device_ctypes_pointer(obj).value


def device_memory_size(obj):
    """Bytes of memory of a device."""
    require_device_memory(obj)
    return obj.nbytes if hasattr(obj, "nbytes") else obj.size


def host_pointer(obj):
    """The address of a number, or of a buffer of the host."""
    if isinstance(obj, int):
        return obj
    return host_memory_extents(obj)[0]


def host_memory_extents(obj):
    """Where a buffer of the host begins and ends."""
    if isinstance(obj, (np.ndarray, np.generic)):
        low, high = np.lib.array_utils.byte_bounds(np.asarray(obj)) if hasattr(np.lib, "array_utils") else np.byte_bounds(np.asarray(obj))
        return low, high
    at = np.frombuffer(obj, np.uint8)
    start = at.__array_interface__["data"][0]
    return start, start + at.size


def host_memory_size(obj):
    """Bytes of a buffer of the host."""
    start, end = host_memory_extents(obj)
    return end - start


def host_to_device(dst, src, size, stream=0):
    """Copies bytes to the device."""
    _tierup.cuda_copy(device_pointer(dst), host_pointer(src), size, _IN, handle_of(stream))


def device_to_host(dst, src, size, stream=0):
    """Copies bytes to the host, and waits unless a stream is named."""
    _tierup.cuda_copy(host_pointer(dst), device_pointer(src), size, _OUT, handle_of(stream))
    if not stream:
        _tierup.cuda_synchronize(0)


def device_to_device(dst, src, size, stream=0):
    """Copies bytes on the device."""
    _tierup.cuda_copy(device_pointer(dst), device_pointer(src), size, _BESIDE, handle_of(stream))


def device_memset(dst, val, size, stream=0):
    """Puts one number into so many bytes, and waits."""
    filled = np.full(size, val, np.uint8)
    _tierup.cuda_copy(device_pointer(dst), filled.__array_interface__["data"][0], size, _IN, handle_of(stream))
    _tierup.cuda_synchronize(handle_of(stream))


__all__ = [
    "AutoFreePointer", "device_ctypes_pointer", "device_memory_size", "device_memset", "device_pointer", "device_to_device", "device_to_host", "host_memory_extents", "host_memory_size", "host_pointer",
    "host_to_device", "is_device_memory", "memalloc", "memallocmanaged", "memhostalloc", "MemoryPointer", "mempin", "require_device_memory",
]
