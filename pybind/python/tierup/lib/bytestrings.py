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


def int_from_integers(values, byteorder, signed):
    """``int.from_bytes`` of an iterable of integers."""
    if isinstance(values, int):
        raise TypeError("cannot convert 'int' object to bytes")
    return int.from_bytes(bytes(values), byteorder, signed=signed)
