"""What programs take from `numba.cuda.cudadrv.driver`."""

from .._device import Context, Device
from .._errors import CudaAPIError
from .._managers import IpcHandle, ManagedMemory, MappedMemory, MemoryPointer, PinnedMemory
from .._streams import Event, Stream

__all__ = ["Context", "CudaAPIError", "Device", "Event", "IpcHandle", "ManagedMemory", "MappedMemory", "MemoryPointer", "PinnedMemory", "Stream"]
