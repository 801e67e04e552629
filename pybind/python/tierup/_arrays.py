"""Arrays of the module `array` that compiled code makes: a class for each code of elements."""

import array
import functools
from dataclasses import dataclass

import numpy

from ._calls import made

_CODES = "bBhHiIlLqQfd"


@functools.cache
def maker(code):
    """The function that makes an empty array of that code. Raises ValueError where compiled code has none."""
    if not isinstance(code, str) or len(code) != 1 or code not in _CODES:
        raise ValueError(f"compiled code has arrays of the codes {', '.join(_CODES)}, not {code!r}")
    from .lib.buffers import OwnArray

    @dataclass(frozen=True, eq=False, repr=False)
    class Array(OwnArray):
        typecode = code
        itemsize = array.array(code).itemsize
        _dtype = numpy.dtype(code).type

        def _of(self, items):
            return Array(items)

    return made("def empty():\n    return Array([dtype(0)][:0])", "empty", {"Array": Array, "dtype": Array._dtype})
