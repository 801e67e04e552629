"""Python's modules ``struct`` and ``binascii``."""

import operator
import struct
import sys
from binascii import Error
from struct import calcsize, error

import numpy as np

from .. import _structs
from . import buffers

# Messages name the code of the format.
_SAYS_CODES = sys.version_info >= (3, 12)


def seen(obj):
    """What compiled code has of a format that was compiled; None where it has none."""
    try:
        return _structs.of(obj.format)
    except ValueError:
        return None


def compiled(format):
    return struct._compiled(format)()


def unpack_view(format, buffer):
    n = calcsize(format)
    if buffers.size(buffer) != n:
        raise error("unpack requires a buffer of " + str(n) + " bytes")
    return operator._unpacked(format, buffers.piece(buffer, 0, n), 0)


def unpack_view_from(format, buffer, offset):
    n = calcsize(format)
    at = _place(n, buffers.size(buffer), offset)
    return operator._unpacked(format, buffers.piece(buffer, at, n), 0)


def iter_unpack(format, buffer):
    n = calcsize(format)
    if n == 0:
        raise error("cannot iteratively unpack with a struct of length 0")
    if buffers.size(buffer) % n != 0:
        raise error("iterative unpacking requires a buffer of a multiple of " + str(n) + " bytes")
    return _parts(format, buffer, n)


def _parts(format, buffer, n):
    for at in range(0, buffers.size(buffer), n):
        yield operator._unpacked(format, buffers.piece(buffer, at, n), 0)


def put(buffer, offset, data):
    """Writes what `pack` gave to a place."""
    if not buffers.writable(buffer):
        raise TypeError("argument must be read-write bytes-like object, not memoryview")
    n, size = len(data), buffers.size(buffer)
    at = offset
    if offset < 0:
        if offset + n > 0:
            raise error("no space to pack " + str(n) + " bytes at offset " + str(offset))
        if offset + size < 0:
            raise error("offset " + str(offset) + " out of range for " + str(size) + "-byte buffer")
        at = offset + size
    if size - at < n:
        raise error("pack_into requires a buffer of at least " + str(n + at) + " bytes for packing " + str(n) + " bytes at offset " + str(at) + " (actual buffer size is " + str(size) + ")")
    if isinstance(buffer, bytearray):
        buffer[at:at + n] = data
    else:
        memory = buffers.memory(buffer)
        for k in range(n):
            memory[at + k] = data[k]


def unpack(format, buffer):
    n = calcsize(format)
    if len(buffer) != n:
        raise error("unpack requires a buffer of " + str(n) + " bytes")
    return operator._unpacked(format, buffer, 0)


def unpack_from(format, buffer, offset):
    return operator._unpacked(format, buffer, _place(calcsize(format), len(buffer), offset))


def _place(n, size, offset):
    """Where fields are read that begin at an offset."""
    at = offset
    if offset < 0:
        if offset + n > 0:
            raise error("not enough data to unpack " + str(n) + " bytes at offset " + str(offset))
        if offset + size < 0:
            raise error("offset " + str(offset) + " out of range for " + str(size) + "-byte buffer")
        at = offset + size
    if size - at < n:
        raise error(
            "unpack_from requires a buffer of at least " + str(n + at) + " bytes for unpacking " + str(n) + " bytes at offset " + str(at) + " (actual buffer size is " + str(size) + ")"
        )
    return at


def field(code, native, x):
    if code == "?":
        return bool(x)
    if code == "f" or code == "d":
        return _float(code, native, x)
    if code == "c":
        if not isinstance(x, bytes):
            raise error("char format requires a bytes object of length 1")
        if len(x) != 1:
            raise error("char format requires a bytes object of length 1")
        return x
    if code == "s":
        if not isinstance(x, (bytes, bytearray)):
            raise error("argument for 's' must be a bytes object")
        return bytes(x)
    if not isinstance(x, (int, np.integer)):
        raise error("required argument is not an integer")
    return _int(code, native, x)


def _float(code, native, x):
    if not isinstance(x, (int, float, np.integer, np.floating)):
        raise error("required argument is not a float")
    y = float(x)
    if code == "f" and not native and y - y == 0.0 and abs(y) >= 3.4028235677973366e38:
        raise OverflowError("float too large to pack with f format")
    return y


def _int(code, native, x):
    if code == "b":
        _within(code, "byte", x, -128, 127)
    elif code == "B":
        _within(code, "ubyte", x, 0, 255)
    elif code == "h":
        _within(code, "short", x, -32768, 32767)
    elif code == "H":
        _within(code, "ushort", x, 0, 65535)
    elif code == "i" or code == "l" and not native:
        _within(code, "'" + code + "'", x, -2147483648, 2147483647)
    elif code == "I" or code == "L" and not native:
        if x < 0:
            raise error(_named(code, "0", "4294967295"))
        _within(code, "'" + code + "'", x, 0, 4294967295)
    elif code == "Q" or code == "L" or code == "N":
        if x < 0:
            raise error(_named(code, "0", "18446744073709551615"))
    elif x > 9223372036854775807:
        raise error(_named(code, "-9223372036854775808", "9223372036854775807"))
    return x


def _within(code, name, x, low, high):
    """`name` is what messages before Python 3.12 call the format."""
    if x < low or x > high:
        if _SAYS_CODES:
            name = "'" + code + "'"
        raise error(name + " format requires " + str(low) + " <= number <= " + str(high))


def _named(code, low, high):
    if _SAYS_CODES:
        return "'" + code + "' format requires " + low + " <= number <= " + high
    return "argument out of range"


def hexlify(data, sep, bytes_per_sep):
    if sep is ...:
        return data.hex().encode("ascii")
    return data.hex(sep, bytes_per_sep).encode("ascii")


def unhexlify(hexstr):
    if isinstance(hexstr, str):
        if not hexstr.isascii():
            raise ValueError("string argument should contain only ASCII characters")
        return _unhexlify(hexstr)
    return _unhexlify(hexstr.decode("latin-1"))


def _unhexlify(text):
    if len(text) % 2 != 0:
        raise Error("Odd-length string")
    for c in text:
        if c not in "0123456789abcdefABCDEF":
            raise Error("Non-hexadecimal digit found")
    return bytes.fromhex(text)


def array_bytes(a, order):
    if order == "F":
        return operator._memory_bytes(a.T.ravel())
    return operator._memory_bytes(a.ravel())


def from_array(buffer, dtype, count, offset):
    if dtype is None:
        return from_array(buffer, np.float64, count, offset)
    if not buffer.flags.c_contiguous:
        raise ValueError("ndarray is not C-contiguous")
    memory = buffer.reshape(-1).view(np.uint8)
    size = np.dtype(dtype).itemsize
    if offset < 0 or offset > len(memory):
        raise ValueError("offset must be non-negative and no greater than buffer length (" + str(len(memory)) + ")")
    if count < 0:
        if (len(memory) - offset) % size != 0:
            raise ValueError("buffer size must be a multiple of element size")
        count = (len(memory) - offset) // size
    elif count > (len(memory) - offset) // size:
        raise ValueError("buffer is smaller than requested size")
    return memory[offset:offset + count * size].view(dtype)
