"""Bytes that are made of others."""

import operator


def join(sep, parts):
    """``sep.join(parts)`` of any iterable of bytes and bytearrays."""
    done = bytes(sep).join([_part(i, p) for i, p in enumerate(parts)])
    if isinstance(sep, bytearray):
        return bytearray(done)
    return done


def _part(i, p):
    if isinstance(p, (bytes, bytearray)):
        return bytes(p)
    raise TypeError("sequence item " + str(i) + ": expected a bytes-like object, " + operator._class_name(p) + " found")
