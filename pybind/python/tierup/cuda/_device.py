"""The device that kernels run on, found when something first needs it."""

import collections
import functools
import uuid
from contextlib import contextmanager

from .. import _tierup, config

_state = None


class _State:
    def __init__(self):
        self.simulated, self.reason, self.name, self.capability, self.driver = _tierup.cuda_open(config.cudasim)


def state():
    """What is known of the device: simulated, reason (why there is no GPU, or None), name, capability (90 for 9.0), driver (13000 for 13.0). The GPU's context is made at the first call."""
    global _state
    if _state is None:
        _state = _State()
    return _state


def is_simulated():
    """Whether kernels run in the simulator: it was asked for, or there is no GPU."""
    return state().simulated


class Unavailable:
    """False, with the reason why there is no GPU."""

    def __init__(self, reason):
        self.reason = reason

    def __bool__(self):
        return False

    def __eq__(self, other):
        return other is False or isinstance(other, Unavailable)

    def __hash__(self):
        return hash(False)

    def __repr__(self):
        return f"False ({self.reason})"


def is_available():
    """True where there is an NVIDIA GPU with a driver; else a false value whose `reason` says why not. Kernels run in the simulator then."""
    s = state()
    return True if s.reason is None else Unavailable(s.reason)


def why_unavailable():
    """Why there is no GPU, as a text; None where there is one."""
    return state().reason


def cuda_error():
    """Why there is no GPU, as an exception; None where there is one, or where the simulator was asked for."""
    from ._errors import CudaSupportError
    reason = state().reason
    return None if reason is None or config.cudasim else CudaSupportError(reason)


def is_supported_version():
    """Whether the driver is one that is known to work; no toolkit is needed. The simulator needs none."""
    return state().driver == 0 or state().driver >= 11020


def is_float16_supported():
    """Whether the device computes with float16."""
    return True


def require_context(function):
    """A function that has the device's context made before it runs."""
    @functools.wraps(function)
    def with_context(*args, **options):
        state()
        return function(*args, **options)
    return with_context


@contextmanager
def defer_cleanup():
    """A block in which memory of the device is not given back. What arrays leave is kept for the next ones, which waits for nothing: there is nothing to put off, and the block changes nothing but that arrays may go on being made in it."""
    state()
    yield


def _driver(name, *args):
    """Calls a function of the driver's that nothing else needs; not in the simulator."""
    import ctypes

    from ._errors import CudaError
    if is_simulated():
        return
    # Which makes the context that of this thread.
    _tierup.cuda_synchronize()
    code = getattr(ctypes.CDLL("libcuda.so.1"), name)(*args)
    if code:
        raise CudaError(f"{name} (error {code} of the CUDA driver)", code)


def profile_start():
    """Has a profiler that watches the process begin."""
    _driver("cuProfilerStart")


def profile_stop():
    """Has it stop."""
    state()
    _driver("cuProfilerStop")


@contextmanager
def profiling():
    """A block that a profiler watches."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()


def detect():
    """Prints which GPU there is, or why there is none; gives whether there is one."""
    s = state()
    print(f"{s.name}, compute capability {s.capability // 10}.{s.capability % 10}, CUDA {s.driver // 1000}.{s.driver % 1000 // 10}" if s.reason is None else f"no GPU: {s.reason}")
    return s.reason is None


class Device:
    """The GPU, or the simulator in its place: `id`, `name`, `compute_capability` (a pair) and the driver's attributes that programs ask for."""

    _ATTRIBUTES = {
        "MAX_THREADS_PER_BLOCK": (1, 1024), "MAX_SHARED_MEMORY_PER_BLOCK": (8, 48 << 10), "WARP_SIZE": (10, 32), "MULTIPROCESSOR_COUNT": (16, 1), "CLOCK_RATE": (13, 0),
        "MAX_GRID_DIM_X": (5, 2**31 - 1), "MAX_GRID_DIM_Y": (6, 65535), "MAX_GRID_DIM_Z": (7, 65535), "MAX_BLOCK_DIM_X": (2, 1024), "MAX_BLOCK_DIM_Y": (3, 1024), "MAX_BLOCK_DIM_Z": (4, 64),
    }
    id = 0

    @property
    def name(self):
        return "simulator" if is_simulated() else state().name

    @property
    def compute_capability(self):
        return divmod(state().capability, 10) if not is_simulated() else (9, 0)

    def __getattr__(self, name):
        if name not in self._ATTRIBUTES:
            raise AttributeError(name)
        number, simulated = self._ATTRIBUTES[name]
        return simulated if is_simulated() else _tierup.cuda_attribute(number)

    @property
    def uuid(self):
        """The device's name among all, as text; the simulator's is zeros."""
        import ctypes
        number = (ctypes.c_ubyte * 16)()
        _driver("cuDeviceGetUuid", number, self.id)
        return f"GPU-{uuid.UUID(bytes=bytes(number))}"

    def get_primary_context(self):
        """The context of the device."""
        return Context()

    def reset(self):
        """Waits until the device is done. Its context stays, since other libraries share it."""
        Context().synchronize()

    def __enter__(self):
        return Context()

    def __exit__(self, *what):
        return None

    def __repr__(self):
        return f"<CUDA device 0 {self.name!r}>"


_DEVICE = Device()


class _Devices:
    """The devices there are: the first GPU, or the simulator in its place. Several are not supported."""

    def __iter__(self):
        return iter(self.lst)

    def __len__(self):
        return 1

    def __getitem__(self, k):
        return self.lst[k]

    @property
    def lst(self):
        state()
        return [_DEVICE]

    @property
    def current(self):
        return _DEVICE


class _Found(_Devices):
    """The same, where a program asks for a device itself and not for what runs kernels: `numba.cuda.cudadrv.devices.gpus`."""

    @property
    def current(self):
        if not is_available():
            from ._errors import raise_driver_not_found
            raise_driver_not_found()
        return _DEVICE


gpus, gpus_of_driver = _Devices(), _Found()


def list_devices():
    """The devices there are."""
    return gpus


def select_device(device_id):
    """The device by its number: 0 is the only one."""
    if device_id != 0:
        raise NotImplementedError(f"only device 0 is supported, not {device_id!r}")
    state()
    return Context()


def close():
    """Waits until the device is done. Its context stays, since other libraries share it."""
    state()
    _tierup.cuda_synchronize()


def get_current_device():
    """The device that kernels run on."""
    return _DEVICE


MemoryInfo = collections.namedtuple("MemoryInfo", "free total")


class _Kept:
    """Memory of arrays that have gone."""

    @staticmethod
    def clear():
        """Gives it back; how many bytes that were."""
        state()
        return _tierup.cuda_release_kept()


class Context:
    """The device's context."""

    device = _DEVICE

    @property
    def memory_manager(self):
        """What memory of the device comes from: what `set_memory_manager` named, or the driver."""
        from ._managers import manager
        return manager()

    @property
    def deallocations(self):
        """Memory that is kept for the next arrays; `clear()` gives it back to the driver."""
        return _Kept

    def memalloc(self, bytesize):
        """Memory of the device by its address."""
        return self.memory_manager.memalloc(bytesize)

    def memhostalloc(self, bytesize, mapped=False, portable=False, wc=False):
        """Memory of the host that is never moved, and that kernels reach where it is `mapped`; a buffer."""
        return self.memory_manager.memhostalloc(bytesize, mapped, portable, wc)

    def memallocmanaged(self, bytesize, attach_global=True):
        """Memory that lies where it is used; a buffer."""
        return self.memory_manager.memallocmanaged(bytesize, attach_global)

    def mempin(self, owner, pointer, size, mapped=False):
        """Pins memory of the host that `owner` keeps."""
        return self.memory_manager.mempin(owner, pointer, size, mapped)

    def get_memory_info(self):
        """Free and total bytes of the device's memory, by position or as `free` and `total`; in the simulator those of the host."""
        from ._managers import plugged
        if plugged() is not None:
            return plugged().get_memory_info()
        if is_simulated():
            import os
            page = os.sysconf("SC_PAGE_SIZE")
            return MemoryInfo(os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page)
        return MemoryInfo(*_tierup.cuda_memory_info())

    def get_compute_capability(self):
        """Major and minor number."""
        return self.device.compute_capability

    def get_ipc_handle(self, memory):
        """What gives another process the memory, by the manager that `set_memory_manager` named; NotImplementedError without one."""
        from ._managers import plugged
        if plugged() is not None:
            return plugged().get_ipc_handle(memory)
        raise NotImplementedError("memory of a device is not shared between processes yet: copy_to_host(), and send that")

    def create_stream(self):
        """A new stream."""
        from ._streams import stream
        return stream()

    def create_event(self, timing=True):
        """A new event."""
        from ._streams import event
        return event(timing)

    def get_default_stream(self):
        """The stream of what names none."""
        from ._streams import default_stream
        return default_stream()

    def get_legacy_default_stream(self):
        """The default stream that waits for all others."""
        from ._streams import legacy_default_stream
        return legacy_default_stream()

    def get_per_thread_default_stream(self):
        """A default stream of each thread's own."""
        from ._streams import per_thread_default_stream
        return per_thread_default_stream()

    def create_external_stream(self, ptr):
        """A stream of another library by its handle."""
        from ._streams import external_stream
        return external_stream(ptr)

    def push(self):
        """Makes the context that of this thread, which it is."""

    def pop(self):
        """The context of this thread stays: other libraries share it."""

    def reset(self):
        """Waits until the device is done."""
        from ._managers import plugged
        self.synchronize()
        if plugged() is not None:
            plugged().reset()

    def synchronize(self):
        """As `cuda.synchronize`."""
        state()
        _tierup.cuda_synchronize()

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return None


def current_context():
    """The context of the device."""
    state()
    return Context()
