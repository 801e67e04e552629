"""What goes wrong on a device, as Python's exceptions."""

import builtins


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


class KernelLine:
    """Where an exception in a kernel was raised: `kernel` its name, `line` of the source, `block` and `thread` three numbers each (x, y, z), of the first thread that failed."""

    def __init__(self, kernel, line, block, thread):
        self.kernel, self.line, self.block, self.thread = kernel, line, block, thread

    def __repr__(self):
        return f"line {self.line} in kernel {self.kernel}, block {self.block}, thread {self.thread}"


_TEXTS = {"IndexError": "index out of bounds", "ZeroDivisionError": "division by zero", "OverflowError": "a result is too large", "BufferError": "arrays overlap, which takes a copy that a kernel has no memory for",
          "NotImplementedError": "round() of more than 22 decimals or zeros"}


def failure(name, kernel, line, block, thread):
    """The exception of class `name` that a kernel raised; its `place` is a `KernelLine`. The text of an exception does not come back from a device, only its class."""
    place = KernelLine(kernel, line, tuple(block), tuple(thread))
    found = getattr(builtins, name, RuntimeError)
    # What the simulator says of a block in which nobody can go on.
    text = _TEXTS.get(name, "raised") if line else "threads of a block wait for each other at places that never meet"
    error = found(f"{text}: {place!r}")
    error.place = place
    return error
