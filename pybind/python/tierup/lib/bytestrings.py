"""Bytes that are made of others."""

import operator


def join(sep, parts):
    """``sep.join(parts)`` of any iterable of bytes."""
    return sep.join([_part(i, p) for i, p in enumerate(parts)])


def _part(i, p):
    if isinstance(p, bytes):
        return p
    raise TypeError("sequence item " + str(i) + ": expected a bytes-like object, " + operator._class_name(p) + " found")
