"""Formats of the module `struct` that a program has compiled: a class for each, whose instances have nothing but that."""

import functools
import struct

from ._calls import made

_SOURCE = '''
@dataclass(frozen=True, eq=False, repr=False)
class Struct:
    size = SIZE
    format = FORMAT

    def _tierup_python_(self):
        return struct.Struct(FORMAT)

    def pack(self{values}):
        return struct.pack(FORMAT{values})

    def pack_into(self, buffer, offset{values}):
        struct.pack_into(FORMAT, buffer, offset{values})

    def unpack(self, buffer):
        return struct.unpack(FORMAT, buffer)

    def unpack_from(self, buffer, offset=0):
        return struct.unpack_from(FORMAT, buffer, offset)

    def iter_unpack(self, buffer):
        return struct.iter_unpack(FORMAT, buffer)

Struct._tierup_class_ = struct.Struct
'''


@functools.cache
def of(format):
    """The instance of a format. Raises ValueError where it is none."""
    import dataclasses
    try:
        size = struct.calcsize(format)
    except struct.error as e:
        raise ValueError(f"{format!r} is no format: {e}") from None
    if isinstance(format, bytes):
        format = format.decode("ascii")
    space = {"struct": struct, "dataclass": dataclasses.dataclass, "SIZE": size, "FORMAT": format, "__name__": "tierup.lib.made"}
    values = "".join(f", v{k}" for k in range(len(struct.unpack(format, bytes(size)))))
    exec(compile(_SOURCE.format(values=values), __file__, "exec"), space)
    return space["Struct"]()


@functools.cache
def maker(format):
    """The function that gives it."""
    return made("def compiled():\n    return known", "compiled", {"known": of(format)})
