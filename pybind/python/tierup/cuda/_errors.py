"""What goes wrong on a device, as Python's exceptions."""


class CudaError(RuntimeError):
    """The driver refused something. `str()` is the driver's own text, `code` its number (0 where there is no driver to ask)."""

    def __init__(self, message, code=0):
        super().__init__(message)
        self.code = code


class CudaSupportError(ImportError):
    """There is no device, for programs that ask Numba's way."""


def raise_driver_not_found():
    """What such programs do where `is_available()` is False."""
    from . import why_unavailable
    raise CudaSupportError(f"no CUDA device: {why_unavailable()}")


class CudaAPIError(CudaError):
    """What the driver refused, or does not allow."""


class SharedMemoryRace(RuntimeError):
    """Two threads of a block touched one element of shared memory between two barriers, and one of them wrote it. `place` says where the one did, `other` where the other one; only the simulator looks."""


class DivergentBarrier(RuntimeError):
    """Threads of a block waited at a barrier that others do not reach. `place` says where one waits; `other` where another one does, with the line None where it has ended. Only the simulator looks."""


class KernelLine:
    """Where an exception in a kernel was raised: `kernel` its name, `line` of the source, `block` and `thread` three numbers each (x, y, z), of the first thread that failed."""

    def __init__(self, kernel, line, block, thread):
        self.kernel, self.line, self.block, self.thread = kernel, line, block, thread

    def __repr__(self):
        return f"line {self.line} in kernel {self.kernel}, block {self.block}, thread {self.thread}"


_TEXTS = {"IndexError": "index out of bounds", "ZeroDivisionError": "division by zero", "OverflowError": "a result is too large", "BufferError": "arrays overlap, which takes a copy that a kernel has no memory for",
          "NotImplementedError": "round() of more than 22 decimals or zeros", "RecursionError": "a function calls itself until the stack of its thread is used up"}


def failure(class_, kernel, line, block, thread, cause):
    """The exception of a class that a kernel raised; its `place` is a `KernelLine`. What it was made of does not come back from a device, only its class, so its `__init__` does not run. `cause` says what the simulator found."""
    place = KernelLine(kernel, line, tuple(block), tuple(thread))
    kind, does, others, other = cause
    if other is not None:
        other = KernelLine(kernel, other[1] or None, tuple(block), tuple(other[0]))
    if kind == "exception":
        error = class_.__new__(class_)
        error.args = f"{_TEXTS.get(class_.__name__, 'raised')}: {place!r}",
    elif kind == "race":
        what = f"thread {place.thread} {does} an element of shared memory in line {line}, which thread {other.thread} {others} in line {other.line}"
        error = SharedMemoryRace(f"{what}, and nothing says which comes first: {place!r}; put cuda.syncthreads() between the two, or update it with cuda.atomic")
    elif kind == "divergent":
        there = "has ended" if other.line is None else f"waits in line {other.line}"
        what = f"a barrier that only some threads of the block reach: thread {place.thread} waits in line {line}, and thread {other.thread} {there}"
        error = DivergentBarrier(f"{what}: {place!r}; put the barrier where every thread comes by")
    else:
        what = "" if other is None else f", thread {place.thread} in line {line} and thread {other.thread} in line {other.line}"
        error = DivergentBarrier(f"threads of a block wait for each other at places that never meet{what}: {place!r}")
    error.place = place
    if other is not None:
        error.other = other
    return error
