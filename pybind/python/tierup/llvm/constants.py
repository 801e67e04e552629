"""Constants that lie in memory: texts, and global constants of generated code. They live as long as the process, like the code that reads them; code in
the cache names their content, not where it lies."""

import ctypes

from . import CannotCarry
from .types import Leaf, address

_kept = {}


def bytes_at(content):
    """Where these bytes lie."""
    if content not in _kept:
        _kept[content] = ctypes.create_string_buffer(content, max(len(content), 1))
    return ctypes.addressof(_kept[content])


def memory_of(variable):
    """The pointer to a global constant."""
    value = variable.initializer
    if value is None or not variable.global_constant:
        raise CannotCarry(f"the global variable {variable.name!r}: generated code has no memory that outlives a call, but constants")
    content = bytearray(value.type.size)
    for leaf, (t, offset) in zip(value.leaves, value.type.leaves, strict=True):
        if leaf.text is None or leaf.address is not None:
            raise CannotCarry(f"the global constant {variable.name!r} has addresses in it")
        content[offset : offset + t.size] = _bytes(t, leaf)
    return address(bytes_at(bytes(content)))


def _bytes(t, leaf):
    from .types import _to_bits
    return _to_bits(t, leaf).to_bytes(t.size, "little")


__all__ = ["Leaf", "bytes_at", "memory_of"]
