"""Streams and events."""

import threading
import time
from contextlib import contextmanager

from .. import _tierup
from ._device import is_simulated, state


class Handle(int):
    """A number that the driver knows something by; `value` is that number, as programs ask for it that think of ctypes."""

    __slots__ = ()
    value = property(int)


class Stream:
    """Work of a device in order; that of different streams may overlap. `handle` is the driver's (0 for the default stream), and `external` says whether another library made it."""

    def __init__(self, handle, owned=False, external=False):
        self.handle, self._owned, self.external = Handle(handle), owned, external

    def __del__(self):
        if self._owned and self.handle:
            _tierup.cuda_stream_destroy(self.handle)

    def __int__(self):
        return int(self.handle)

    def __bool__(self):
        return True

    def synchronize(self):
        """Waits until the stream is done, and raises what kernels left."""
        state()
        _tierup.cuda_synchronize(self.handle)

    def query(self):
        """Whether the stream is done."""
        return _tierup.cuda_stream_query(self.handle)

    def add_callback(self, callback, arg=None):
        """Has `callback(stream, status, arg)` called by a thread of its own when what the stream has been given so far is done; status is 0."""
        moment = Event(timing=False)
        moment.record(self)

        def wait():
            moment.synchronize()
            callback(self, 0, arg)
        threading.Thread(target=wait, daemon=True, name="tierup stream callback").start()

    def async_done(self):
        """A future of the running asyncio loop, whose result is the stream when what it has been given so far is done."""
        import asyncio
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def resolve(stream, status, arg):
            if not future.done():
                future.set_result(stream)

        def tell(stream, status, arg):
            try:
                loop.call_soon_threadsafe(resolve, stream, status, arg)
            except RuntimeError:
                # The loop has ended, and nobody waits any more.
                pass
        self.add_callback(tell)
        return future

    @contextmanager
    def auto_synchronize(self):
        """A block after which the stream is done."""
        yield self
        self.synchronize()

    def __repr__(self):
        named = {0: "Default CUDA stream", 1: "Legacy default CUDA stream", 2: "Per-thread default CUDA stream"}.get(self.handle)
        return f"<{named or ('External ' if self.external else '') + f'CUDA stream {self.handle:#x}'}>"


def stream():
    """A new stream."""
    state()
    return Stream(_tierup.cuda_stream(), owned=True)


def default_stream():
    """The stream of what names none."""
    return Stream(0)


def legacy_default_stream():
    """The default stream that waits for all others."""
    return Stream(1)


def per_thread_default_stream():
    """A default stream of each thread's own, which runs beside those of other threads."""
    return Stream(2)


def external_stream(handle):
    """A stream of another library by its handle; whoever made it keeps it alive."""
    return Stream(handle, external=True)


def handle_of(stream):
    """The driver's handle of a stream, which may be 0, a number or an object of CuPy's or PyTorch's."""
    if stream is None:
        return 0
    if isinstance(stream, int):
        return stream
    for name in ("handle", "ptr", "cuda_stream"):
        found = getattr(stream, name, None)
        if isinstance(found, int):
            return found
    raise TypeError(f"a stream is a tierup.cuda stream or a handle, not {stream!r}")


class Event:
    """A moment in a stream."""

    def __init__(self, timing=True):
        state()
        self.handle, self._at = _tierup.cuda_event(timing), None

    def __del__(self):
        if getattr(self, "handle", 0):
            _tierup.cuda_event_do(self.handle, 0, 0)

    def record(self, stream=0):
        """Marks what the stream has been given so far."""
        self._at = time.perf_counter()
        _tierup.cuda_event_do(self.handle, 1, handle_of(stream))

    def synchronize(self):
        """Waits until the moment has come."""
        _tierup.cuda_event_do(self.handle, 2, 0)
        _tierup.cuda_raise()

    def wait(self, stream=0):
        """Has a stream wait for the moment."""
        _tierup.cuda_event_do(self.handle, 3, handle_of(stream))

    def query(self):
        """Whether the moment has come."""
        return _tierup.cuda_event_query(self.handle)

    def elapsed_time(self, end):
        """Milliseconds from this moment to `end`'s; both must have come."""
        if self._at is None or end._at is None:
            raise ValueError("an event that was not recorded has no time")
        if is_simulated():
            return 1e3 * (end._at - self._at)
        return _tierup.cuda_event_elapsed(self.handle, end.handle)


def event(timing=True):
    """A new event; without `timing` it takes less, and has no time."""
    return Event(timing)


def event_elapsed_time(start, end):
    """Milliseconds between two events."""
    return start.elapsed_time(end)


def synchronize():
    """Waits until the device is done, and raises what kernels left."""
    state()
    _tierup.cuda_synchronize()
