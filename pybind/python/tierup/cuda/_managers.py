"""External managers of memory, as `numba.cuda` has them: plug-ins from which arrays of the device take their memory, in place of the driver."""

import collections

from ._device import Context, MemoryInfo, state
from ._pointers import MemoryPointer, memalloc, memallocmanaged, memhostalloc, mempin

_class, _made = None, None


class BaseCUDAMemoryManager:
    """What a manager of memory is derived from. It has `memalloc(size)`, which gives a `MemoryPointer`, `initialize`, `reset`, `get_memory_info`, `get_ipc_handle(memory)` and `interface_version`, which is 1."""

    def __init__(self, *args, **options):
        self.context = options.pop("context", None)

    def initialize(self):
        """Called before the first memory is asked for."""

    def reset(self):
        """Called when the context is reset."""

    @property
    def interface_version(self):
        """The version of this interface that it is written for."""
        return 1


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """One that leaves memory of the host to the driver."""

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        """Memory of the host that is never moved."""
        return memhostalloc(size, mapped, portable, wc)

    def mempin(self, owner, pointer, size, mapped=False):
        """Pins memory of the host."""
        return mempin(self.context, owner, pointer, size, mapped)

    def memallocmanaged(self, size, attach_global=True):
        """Memory that lies where it is used."""
        return memallocmanaged(size, attach_global)


class GetIpcHandleMixin:
    """How a manager gives handles for other processes."""

    def get_ipc_handle(self, memory):
        """NotImplementedError: memory of a device is not shared between processes."""
        raise NotImplementedError("memory of a device is not shared between processes yet: copy_to_host(), and send that")


class _OfDriver(GetIpcHandleMixin, HostOnlyCUDAMemoryManager):
    """The driver's own memory."""

    def memalloc(self, size):
        state()
        return memalloc(self.context, size)

    def get_memory_info(self):
        return self.context.get_memory_info()


MappedMemory = collections.namedtuple("MappedMemory", "context pointer size owner finalizer", defaults=(None, None))
PinnedMemory = collections.namedtuple("PinnedMemory", "context pointer size owner finalizer", defaults=(None, None))
ManagedMemory = collections.namedtuple("ManagedMemory", "context pointer size owner finalizer", defaults=(None, None))
IpcHandle = collections.namedtuple("IpcHandle", "base handle size source_info offset", defaults=(None, 0))


def set_memory_manager(manager):
    """Has arrays of the device take their memory from a manager of this class from now on; None gives them the driver's again. RuntimeError for one that is written for another version of the interface."""
    global _class, _made
    if manager is not None:
        version = manager(context=Context()).interface_version
        if version != 1:
            raise RuntimeError(f"EMM Plugin interface has version {version} - version 1 required")
    _class, _made = manager, None


def plugged():
    """The manager that `set_memory_manager` named, ready for use; None without one."""
    return manager() if _class is not None else None


def manager():
    """What memory of the device comes from."""
    global _made
    if _made is None:
        _made = (_class or _OfDriver)(context=Context())
        _made.initialize()
    return _made


def open_ipc_array(handle, shape, dtype, strides=None, offset=0):
    """Refused: memory is not shared between processes."""
    raise NotImplementedError("memory of a device is not shared between processes yet: copy_to_host(), and send that")


__all__ = [
    "BaseCUDAMemoryManager", "GetIpcHandleMixin", "HostOnlyCUDAMemoryManager", "IpcHandle", "ManagedMemory", "MappedMemory", "MemoryInfo", "MemoryPointer", "open_ipc_array", "PinnedMemory", "set_memory_manager",
]
