"""What programs take from `numba.cuda.cudadrv.driver`."""

from .._device import Context, Device
from .._errors import CudaAPIError
from .._errors import raise_driver_not_found as _raise_driver_not_found
from .._managers import IpcHandle, ManagedMemory, MappedMemory, PinnedMemory
from .._pointers import (
    AutoFreePointer, MemoryPointer, device_ctypes_pointer, device_memory_size, device_memset, device_pointer, device_to_device, device_to_host, host_memory_extents, host_memory_size, host_pointer,
    host_to_device, is_device_memory, require_device_memory,
)
from .._streams import Event, Stream

#: Whether Numba calls the driver through NVIDIA's package for Python. Nothing here does.
USE_NV_BINDING = False


class Linker:
    """What links code by hand, which nothing here does: `cuda.jit(link=[...])` has kernels linked. `Linker.new()` tells programs that ask that no link-time optimisation is at work."""

    lto = False

    @classmethod
    def new(cls, max_registers=0, lineinfo=False, cc=None):
        return cls()

    def _refuse(self, *args, **options):
        raise NotImplementedError("code is not linked by hand: cuda.jit(link=[...]) has a kernel linked with PTX and machine code")

    add_ptx = add_file = add_cu = add_file_guess_ext = complete = _refuse


__all__ = [
    "AutoFreePointer", "Context", "CudaAPIError", "Device", "device_ctypes_pointer", "device_memory_size", "device_memset", "device_pointer", "device_to_device", "device_to_host", "Event",
    "host_memory_extents", "host_memory_size", "host_pointer", "host_to_device", "IpcHandle", "is_device_memory", "Linker", "ManagedMemory", "MappedMemory", "MemoryPointer", "PinnedMemory",
    "require_device_memory", "Stream", "USE_NV_BINDING", "_raise_driver_not_found",
]
