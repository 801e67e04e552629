"""Bits in bytes and digits in texts. Parameters are those of NumPy's functions of the same name."""

import numpy as np
from numpy.exceptions import AxisError


def packbits(a, axis, bitorder):
    x = np.asarray(a)
    if x.dtype.kind != "b" and x.dtype.kind != "i" and x.dtype.kind != "u":
        raise TypeError("Expected an input array of integer or boolean data type")
    if bitorder != "big" and bitorder != "little":
        raise ValueError("'order' must be either 'little' or 'big'")
    if axis is None:
        return _packed_line(np.ravel(x), bitorder == "big")
    else:
        _check_axis(axis, x.ndim)
        return np.moveaxis(_packed(np.moveaxis(x, axis, 0), bitorder == "big"), 0, axis)


def _check_axis(axis, ndim):
    if axis < -ndim or axis >= ndim:
        raise AxisError(axis, ndim, None)


def _packed(x, big):
    out = np.zeros(((len(x) + 7) // 8,) + x.shape[1:], np.uint8)
    for k in range(len(x)):
        bit = np.uint8(128 >> k % 8 if big else 1 << k % 8)
        out[k // 8] = np.bitwise_or(out[k // 8], np.where(np.not_equal(x[k], 0), bit, np.uint8(0)))
    return out


def _packed_line(x, big):
    """Eight elements are one byte, and neighbours lie side by side, so that a loop of machine words comes of it."""
    n = len(x) // 8
    out = np.zeros((len(x) + 7) // 8, np.uint8)
    shift = 0 if big else 7
    for k in range(n):
        byte = 0
        for j in range(8):
            byte |= int(x[k * 8 + j] != 0) << ((7 - j) ^ shift)
        out[k] = np.uint8(byte)
    if n < len(out):
        out[n] = _packed(x[n * 8:], big)[0]
    return out


def unpackbits(a, axis, count, bitorder):
    x = np.asarray(a)
    if x.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if bitorder != "big" and bitorder != "little":
        raise ValueError("'order' must be either 'little' or 'big'")
    if axis is None:
        return _unpacked_line(np.ravel(x), count, bitorder == "big")
    else:
        _check_axis(axis, x.ndim)
        return np.moveaxis(_unpacked(np.moveaxis(x, axis, 0), count, bitorder == "big"), 0, axis)


def _unpacked(x, count, big):
    n = _bits_wanted(len(x) * 8, count)
    out = np.zeros((n,) + x.shape[1:], np.uint8)
    for k in range(min(n, len(x) * 8)):
        out[k] = np.bitwise_and(np.right_shift(x[k // 8], np.uint8(7 - k % 8 if big else k % 8)), np.uint8(1))
    return out


def _unpacked_line(x, count, big):
    n = _bits_wanted(len(x) * 8, count)
    out = np.zeros(n, np.uint8)
    shift = 0 if big else 7
    whole = min(n // 8, len(x))
    for k in range(whole):
        byte = int(x[k])
        for j in range(8):
            out[k * 8 + j] = np.uint8(byte >> ((7 - j) ^ shift) & 1)
    if whole < len(x):
        out[whole * 8:] = _unpacked(x[whole:], n - whole * 8, big)
    return out


def _bits_wanted(n, count):
    if count is None:
        return n
    if count >= 0:
        return int(count)
    if -count > n:
        raise ValueError("-count larger than number of elements")
    return int(n + count)


def base_repr(number, base, padding):
    if base > 36:
        raise ValueError("Bases greater than 36 not handled in base_repr.")
    if base < 2:
        raise ValueError("Bases less than 2 not handled in base_repr.")
    text = _digits_of_unsigned(np.uint64(number), np.uint64(base)) if np.result_type(number) == np.uint64 else _digits(int(number), base)
    if number == 0:
        text = "0" * max(padding, 1) if padding > 0 else "0"
    else:
        text = "0" * padding + text
    return "-" + text if number < 0 else text


_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _digits(number, base):
    # Below zero lies one number more than above.
    rest, text = -number if number > 0 else number, ""
    while rest < 0:
        text = _DIGITS[-(rest % -base)] + text
        rest = -(rest // -base)
    return text


def _digits_of_unsigned(rest, base):
    """Of numbers half of which have no negative."""
    text = ""
    while rest > 0:
        text = _DIGITS[int(rest % base)] + text
        rest = rest // base
    return text


def binary_repr(num, width):
    text = base_repr(num, 2, 0)
    if width is None:
        return text
    if num >= 0:
        _check_width(len(text), width)
        return text.rjust(width, "0")
    digits = len(text) - 1
    if text.count("1") == 1:
        _check_width(digits, width)
        return text[1:].rjust(width, "1")
    _check_width(digits + 1, width)
    # Two's complement: ones in front, and what the number is short of the next power.
    half = 1 << digits - 1
    return ("1" + base_repr(half + int(num) + half, 2, 0).rjust(digits, "0")).rjust(width, "1")


def _check_width(needed, width):
    if width < needed:
        raise ValueError(f"Insufficient bit width={width} provided for binwidth={needed}")
