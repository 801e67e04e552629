"""External managers of memory, as `numba.cuda` has them: the classes that plug-ins derive from. Tierup's arrays live in memory of the driver's own pool, and no other manager serves them."""

import collections

from ._device import MemoryInfo


class BaseCUDAMemoryManager:
    """What a manager of memory is derived from."""

    def __init__(self, *args, **options):
        self.context = options.pop("context", None)


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """One that leaves memory of the host to the driver."""


class GetIpcHandleMixin:
    """How a manager gives handles for other processes."""


MemoryPointer = collections.namedtuple("MemoryPointer", "context pointer size owner finalizer", defaults=(None, None))
MappedMemory = collections.namedtuple("MappedMemory", "context pointer size owner finalizer", defaults=(None, None))
PinnedMemory = collections.namedtuple("PinnedMemory", "context pointer size owner finalizer", defaults=(None, None))
ManagedMemory = collections.namedtuple("ManagedMemory", "context pointer size owner finalizer", defaults=(None, None))
IpcHandle = collections.namedtuple("IpcHandle", "base handle size source_info offset", defaults=(None, 0))


def set_memory_manager(manager):
    """Refused: arrays of other libraries are taken as they are, through `__cuda_array_interface__`."""
    version = getattr(manager, "interface_version", 1)
    version = version.fget(manager) if isinstance(version, property) else version
    if version != 1:
        raise RuntimeError(f"EMM Plugin interface has version {version} - version 1 required")
    raise NotImplementedError("memory of a device comes from the driver alone: pass arrays of another library as they are, or through as_cuda_array()")


def open_ipc_array(handle, shape, dtype, strides=None, offset=0):
    """Refused: memory is not shared between processes."""
    raise NotImplementedError("memory of a device is not shared between processes yet: copy_to_host(), and send that")


__all__ = [
    "BaseCUDAMemoryManager", "GetIpcHandleMixin", "HostOnlyCUDAMemoryManager", "IpcHandle", "ManagedMemory", "MappedMemory", "MemoryInfo", "MemoryPointer", "open_ipc_array", "PinnedMemory", "set_memory_manager",
]
