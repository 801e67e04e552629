"""Integers of 128 bits: two words, the low one first. Products of words and what hashes and random numbers are made of; no quotients."""

from . import CannotCarry
from .types import IntType, Value

WORD, WIDE = IntType(64), IntType(128)


def is_wide(typ):
    return isinstance(typ, IntType) and typ.width == 128


def parts(v):
    return Value(WORD, v.leaves[:1]), Value(WORD, v.leaves[1:])


def joined(low, high):
    return Value(WIDE, [*low.leaves, *high.leaves])


def extended(b, value, signed):
    """A narrower integer as a wide one."""
    low = b.sext(value, WORD) if signed else b.zext(value, WORD)
    return joined(low, b.ashr(low, WORD(63)) if signed else WORD(0))


def arithmetic(b, op, x, y):
    if op in ("band", "bor", "bxor"):
        return Value(WIDE, [b._emit(f"{op}.i64", p, q, ty="i64") for p, q in zip(x.leaves, y.leaves, strict=True)])
    if op in ("ishl", "ushr", "sshr"):
        return _shifted(b, op, x, y)
    make = {"iadd": _sum, "isub": _difference, "imul": _product}.get(op)
    if make is None:
        raise CannotCarry(f"{op} of integers of 128 bits")
    return make(b, *parts(x), *parts(y))


def _sum(b, x, x_high, y, y_high):
    low = b.add(x, y)
    carry = b.zext(b.icmp_unsigned("<", low, x), WORD)
    return joined(low, b.add(b.add(x_high, y_high), carry))


def _difference(b, x, x_high, y, y_high):
    borrow = b.zext(b.icmp_unsigned("<", x, y), WORD)
    return joined(b.sub(x, y), b.sub(b.sub(x_high, y_high), borrow))


def _product(b, x, x_high, y, y_high):
    half, mask = WORD(32), WORD(0xFFFFFFFF)
    x0, x1, y0, y1 = b.and_(x, mask), b.lshr(x, half), b.and_(y, mask), b.lshr(y, half)
    inner, outer = b.mul(x0, y1), b.mul(x1, y0)
    middle = b.add(b.add(b.lshr(b.mul(x0, y0), half), b.and_(inner, mask)), b.and_(outer, mask))
    high = b.add(b.add(b.mul(x1, y1), b.lshr(inner, half)), b.add(b.lshr(outer, half), b.lshr(middle, half)))
    return joined(b.mul(x, y), b.add(high, b.add(b.mul(x, y_high), b.mul(x_high, y))))


def _shifted(b, op, x, by):
    low, high = parts(x)
    # Shifts of a word are by so many places modulo its width.
    n = b.and_(parts(by)[0], WORD(127))
    is_small = b.icmp_unsigned("<", n, WORD(64))
    rest, none = b.sub(WORD(64), n), b.icmp_unsigned("==", b.and_(n, WORD(63)), WORD(0))
    if op == "ishl":
        moved = b.shl(low, n)
        across = b.or_(b.shl(high, n), b.select(none, WORD(0), b.lshr(low, rest)))
        return joined(b.select(is_small, moved, WORD(0)), b.select(is_small, across, moved))
    moved = b.ashr(high, n) if op == "sshr" else b.lshr(high, n)
    across = b.or_(b.lshr(low, n), b.select(none, WORD(0), b.shl(high, rest)))
    fill = b.ashr(high, WORD(63)) if op == "sshr" else WORD(0)
    return joined(b.select(is_small, across, moved), b.select(is_small, moved, fill))


def compared(b, sign, cmpop, x, y):
    """`==`, `!=`, `<` or `<=`."""
    (x, x_high), (y, y_high) = parts(x), parts(y)
    same = b.icmp_unsigned("==", x_high, y_high)
    if cmpop in ("==", "!="):
        both = b.and_(same, b.icmp_unsigned("==", x, y))
        return both if cmpop == "==" else b.not_(both)
    less = (b.icmp_signed if sign == "s" else b.icmp_unsigned)("<", x_high, y_high)
    return b.or_(less, b.and_(same, b.icmp_unsigned(cmpop, x, y)))
