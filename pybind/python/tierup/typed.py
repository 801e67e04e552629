"""Containers that live in native memory: compiled code takes them as they are, and what either side changes the other sees."""

from collections.abc import MutableSequence

from ._tierup import List

__all__ = ["List"]

MutableSequence.register(List)


def _list(cls, text, items):
    """A list out of a pickle: elements of the type `text`, or of none."""
    from . import types
    new = cls.__new__(cls)
    if text is None:
        List.__init__(new)
    else:
        List.__init__(new, lsttype=types.List(types.from_text(text)))
        new.extend(items)
    return new
