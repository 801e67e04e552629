"""Exact sums of numbers and of their squares, and quotients and roots of them that are rounded once.

A natural number is a list of limbs of 24 bits, the lowest first, without zeros at its end. A sum collects limbs that have not been carried yet; its unit is the power of two
``2 ** -bias``, below the last bit of every float, or of every square of one.
"""

import math

_MASK = 0xFFFFFF
_PART = 0x3FFFFF

# Of numbers, and of squares.
BIAS, BIAS_OF_SQUARES = 1152, 2304
_SUM_LIMBS, _SQUARES_LIMBS = 98, 190


def new_sum():
    return [0] * _SUM_LIMBS


def new_squares():
    return [0] * _SQUARES_LIMBS


def whole(x):
    """A finite number as an integer times a power of two."""
    if isinstance(x, int):
        return x, 0
    fraction, exponent = math.frexp(x)
    return int(fraction * 9007199254740992.0), exponent - 53


def add(limbs, n, position):
    """Adds ``n << position``."""
    at, shift = position // 24, position % 24
    limbs[at] += (n & _MASK) << shift
    limbs[at + 1] += (n >> 24) << shift


def add_square(limbs, n, exponent):
    position = 2 * exponent + BIAS_OF_SQUARES
    n = abs(n)
    # An int of the lowest value is its own negative; its parts are those of 2 ** 63 all the same.
    a, b, c = n & _PART, (n >> 22) & _PART, (n >> 44) & 0xFFFFF
    add(limbs, a * a, position)
    add(limbs, 2 * a * b, position + 22)
    add(limbs, 2 * a * c + b * b, position + 44)
    add(limbs, 2 * b * c, position + 66)
    add(limbs, c * c, position + 88)


def carry(limbs):
    """Carries what limbs have too much; what is left of a negative number is in the last one."""
    over = 0
    last = len(limbs) - 1
    for k in range(last):
        v = limbs[k] + over
        limbs[k] = v & _MASK
        over = v >> 24
    limbs[last] += over


def natural(limbs):
    """Whether a sum is negative, and its magnitude."""
    carry(limbs)
    negative = limbs[len(limbs) - 1] < 0
    if negative:
        for k in range(len(limbs)):
            limbs[k] = -limbs[k]
        carry(limbs)
    return negative, trimmed(limbs)


def trimmed(a):
    n = len(a)
    while n > 0 and a[n - 1] == 0:
        n -= 1
    return a[:n]


def of_int(n):
    out = [0][:0]
    while n > 0:
        out.append(n & _MASK)
        n >>= 24
    return out


# -- natural numbers ---------------------------------------------------------------------------------------------------------------------------


def bit_length(a):
    if len(a) == 0:
        return 0
    return 24 * (len(a) - 1) + a[len(a) - 1].bit_length()


def product(a, b):
    out = [0] * (len(a) + len(b) + 1)
    for i in range(len(a)):
        over = 0
        for j in range(len(b)):
            v = out[i + j] + a[i] * b[j] + over
            out[i + j] = v & _MASK
            over = v >> 24
        out[i + len(b)] += over
    return trimmed(out)


def difference(a, b):
    """``a - b``, which is not negative."""
    out = a[:]
    for k in range(len(b)):
        out[k] -= b[k]
    if len(out) > 0:
        carry(out)
    return trimmed(out)


def less(a, b):
    if len(a) != len(b):
        return len(a) < len(b)
    for k in range(len(a) - 1, -1, -1):
        if a[k] != b[k]:
            return a[k] < b[k]
    return False


def shifted(a, by):
    """``a << by``."""
    out = [0] * (by // 24)
    shift = by % 24
    over = 0
    for v in a:
        out.append(((v << shift) | over) & _MASK)
        over = v >> (24 - shift)
    if over > 0:
        out.append(over)
    return out


# -- numbers that are rounded once -------------------------------------------------------------------------------------------------------------


def quotient(a, b):
    """``a / b`` as ``q * 2 ** exponent``, where `q` has more bits than a float and its last says also whether anything is left."""
    if len(a) == 0:
        return 0, 0
    shift = bit_length(b) + 56 - bit_length(a)
    rest = shifted(a, max(shift, 0))
    b = shifted(b, max(-shift, 0))
    q = 0
    for k in range(57, -1, -1):
        part = shifted(b, k)
        if not less(rest, part):
            rest = difference(rest, part)
            q |= 1 << k
    return q | (len(rest) > 0), -shift


def root(a, b):
    """The square root of ``a / b``, in the same form."""
    if len(a) == 0:
        return 0, 0
    # Roots of four times as much have one bit more.
    half = (bit_length(b) + 112 - bit_length(a)) // 2
    a = shifted(a, max(2 * half, 0))
    b = shifted(b, max(-2 * half, 0))
    r = 0
    for k in range(57, -1, -1):
        tried = of_int(r | 1 << k)
        if not less(a, product(product(tried, tried), b)):
            r |= 1 << k
    exact = of_int(r)
    return r | (less(product(product(exact, exact), b), a)), -half


def rounded(q, exponent):
    """``q * 2 ** exponent`` as a float; half-way to even."""
    if q == 0:
        return 0.0
    drop = max(q.bit_length() - 53, -1074 - exponent)
    if drop > 60:
        return 0.0
    if drop > 0:
        low = q & ((1 << drop) - 1)
        q >>= drop
        half = 1 << (drop - 1)
        if low > half or (low == half and (q & 1) == 1):
            q += 1
        exponent += drop
    if q.bit_length() + exponent > 1024:
        raise OverflowError("integer division result too large for a float")
    return math.ldexp(float(q), exponent)
