"""What programs take from `numba.cuda.cudadrv.driver`."""

from .._device import Context, Device
from .._errors import CudaAPIError
from .._errors import raise_driver_not_found as _raise_driver_not_found
from .._managers import IpcHandle, ManagedMemory, MappedMemory, MemoryPointer, PinnedMemory
from .._streams import Event, Stream


class Linker:
    """What links code from elsewhere to kernels: nothing does. `Linker.new()` tells programs that ask that no link-time optimisation is at work."""

    lto = False

    @classmethod
    def new(cls, max_registers=0, lineinfo=False, cc=None):
        return cls()

    def _refuse(self, *args, **options):
        raise NotImplementedError("kernels do not link PTX, objects or CUDA C: write what it computes as a device function")

    add_ptx = add_file = add_cu = add_file_guess_ext = complete = _refuse


__all__ = ["Context", "CudaAPIError", "Device", "Event", "IpcHandle", "Linker", "ManagedMemory", "MappedMemory", "MemoryPointer", "PinnedMemory", "Stream", "_raise_driver_not_found"]
