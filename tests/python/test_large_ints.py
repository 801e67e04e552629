"""Python's ints from 2**63 to 2**64 - 1: literals, globals, captured variables, fields, elements, arguments."""

import itertools
import struct

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from harness.tiers import on_tier  # noqa: F401
from tierup import jit, njit

pytestmark = [pytest.mark.isolated, pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")]

TOP, ALL = 2**63, 2**64 - 1
NUMBERS = [0, 1, 5, -1, -5, 63, 64, 2**53 + 1, 2**63 - 1, -(2**63)]
# Python runs nothing of these: where 64 bits do not suffice there is an exception.
alone = njit(overflow="python")


class Limits:
    top = TOP


def outcome(f, *args):
    try:
        return f(*args)
    except (OverflowError, ZeroDivisionError, ValueError, IndexError) as e:
        return type(e)


def same(f, *args):
    a, b = outcome(f, *args), outcome(jit(f), *args)
    assert (a, type(a)) == (b, type(b)), args


OPERATIONS = {
    "+": lambda n: (n + 2**63, TOP + n, Limits.top + n),
    "-": lambda n: (n - 2**63, TOP - n, n - TOP - n),
    "*": lambda n: (n * 2**63, ALL * n),
    "//": lambda n: (n // 2**63, divmod(n, TOP)),
    "//n": lambda n: (TOP // n, divmod(TOP, n)),
    "%": lambda n: n % 2**63,
    "|": lambda n: (n | 2**63, TOP | n),
    "^": lambda n: (n ^ 2**63, TOP ^ n),
    "&": lambda n: (n & ALL, TOP & n),
    "<<": lambda n: TOP << (n & 3),
    ">>": lambda n: (TOP >> (n & 127), n >> ALL),
    "**": lambda n: TOP ** (n & 3),
    "/": lambda n: n / TOP,
    "pow": lambda n: pow(n, 3, ALL),
    "signs": lambda n: (-TOP + n, ~TOP + n, abs(-TOP), +TOP, -(2**63)),
    "compared": lambda n: (n < TOP, TOP == n, max(n, TOP) * 2, min(n - TOP, 0), TOP == float(TOP), ALL == 2.0**64, ALL < 2.0**64),
    "elements": lambda n: ([TOP, n][0] * 2, sum([n, TOP]), {1: TOP}[1] - n, (TOP, n)[0] - n - TOP),
    "chosen": lambda n: (TOP if n else 0) - ALL,
    "calls": lambda n: (lambda v: v * 3)(TOP) + int(TOP) * 2 + round(TOP),
    "classes": lambda n: (isinstance(TOP, int), type(TOP) is int, isinstance(2**63, int)),
    "read": lambda n: struct.unpack("<Q", b"\xff" * 8)[0] * 2,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic_is_that_of_python(tier, name):
    for n in NUMBERS:
        same(OPERATIONS[name], n)


def test_ints_that_come_from_elsewhere_are_no_uint64():
    captured = TOP + 1
    for f in (lambda x: captured * x, lambda x, k=TOP: k * x):
        assert jit(f)(3) == f(3)
    for x in (TOP, [TOP, 5], (TOP, 1.5), {1: TOP}):
        same(lambda x: x * 2 if isinstance(x, int) else (x[0] if isinstance(x, (list, tuple)) else x[1]) * 2, x)
    same(lambda xs: sum(xs), [TOP, 1 + TOP])
    assert jit(lambda x: x * 2)(np.uint64(TOP)) == 0


def test_a_loop_goes_below_zero():
    def down(n):
        s = 0
        for _ in range(n):
            s -= 2**63
        return s

    for n in (0, 1, 3):
        same(down, n)


def hash_of(data):
    h = 14695981039346656037
    for c in data:
        h = ((h ^ c) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return h


def turned(x, k):
    return ((x << k) | (x >> (64 - k))) & ALL


def random_numbers(n):
    a, b, total = n, 0x9E3779B97F4A7C15, 0.0
    for _ in range(20):
        r = (a + b) & ALL
        b ^= a
        a = turned(a, 24) ^ b ^ ((b << 16) & ALL)
        b = turned(b, 37)
        total += (r >> 11) / (1 << 53)
    return a, b, total


def congruences(n):
    x = n
    for _ in range(20):
        x = (x * 6364136223846793005 + 1442695040888963407) & ALL
    y = n
    for _ in range(20):
        y = (y * 6364136223846793005 + 12345) % 2**32
    return x, y, (~x * 3 - (x << 3)) & 0xFF, -x & ALL


def test_masked_arithmetic_needs_no_python(tier):
    """What a mask cuts off may overflow: hashes and random numbers are compiled."""
    for f, args in ((hash_of, [b"", b"a", b"hello, world"]), (random_numbers, [0, 7, TOP + 1]), (congruences, [0, 42, ALL])):
        for x in args:
            assert alone(f)(x) == f(x)


def test_only_what_a_mask_cuts_off_may_overflow(tier):
    f = alone(lambda a, b: ((a * b) & ALL, a * b))
    assert f(2**31, 2) == (2**32, 2**32)
    with pytest.raises(tierup.errors.IntegerOverflow):
        f(2**40, 2**40)
    for g in (lambda a, b: (a * b) >> 3 & ALL, lambda a, b: (a * b) & (a * b), lambda a, b: (a * b) & -1):
        with pytest.raises(tierup.errors.IntegerOverflow):
            alone(g)(2**40, 2**40)
        same(g, 2**40, 2**40)


ARRAYS = {
    "float32": lambda a: a * 2**63,
    "greater": lambda a: a < 2**63,
    "equal": lambda a: a == TOP,
    "sum": lambda a: a + 2**63,
    "least": lambda a: np.minimum(a, TOP),
    "fill": lambda a: a.fill(2**63),
    "full": lambda a: np.full_like(a, 2**63),
}


@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(ARRAYS, ["f4", "f8", "i8", "i1", "u1", "u8"])))
def test_beside_arrays_they_take_the_width_of_these(name, dtype):
    for decorator in (njit, jit):
        a, b = outcome(ARRAYS[name], np.arange(3).astype(dtype)), outcome(decorator(ARRAYS[name]), np.arange(3).astype(dtype))
        if isinstance(a, type) or a is None:
            assert a is b
        else:
            assert a.dtype == b.dtype and (a == b).all()


def test_under_njit_they_wrap_as_uint64():
    assert njit(lambda n: (n * 2**63, TOP - n, -TOP, ~TOP, n & ALL))(2) == (0, TOP - 2, TOP, TOP - 1, 2)
    assert njit(lambda: isinstance(2**63, int))()

    def matched(x):
        match x:
            case int():
                return 1
            case _:
                return 0

    assert njit(lambda: matched(TOP))() == 1


def test_beside_numbers_of_numpy_they_do_not_fit():
    for f in (lambda n: np.int64(n) + TOP, lambda n: np.uint8(n & 3) & TOP, lambda n: np.int64(TOP)):
        same(f, 3)
    assert njit(lambda n: np.int64(n) & ALL)(3) == 3


INDEXED = {
    "list": lambda a, k: [1, 2, 3][k],
    "tuple": lambda a, k: (1, 2, 3)[k],
    "str": lambda a, k: "abc"[k],
    "bytes": lambda a, k: b"abc"[k],
    "range": lambda a, k: range(3)[k],
    "array": lambda a, k: a[k],
    "item": lambda a, k: a.item(k),
    "flat": lambda a, k: a.flat[k],
    "column": lambda a, k: a.reshape(1, 3)[0, k],
}


@pytest.mark.parametrize("name", INDEXED)
def test_an_index_without_a_sign_is_never_negative(name):
    for k in (np.uint64(ALL), np.uint64(TOP), ALL, TOP):
        for decorator in (njit, jit):
            with pytest.raises((IndexError, OverflowError)):
                decorator(INDEXED[name])(np.arange(3), k)


def test_a_bound_without_a_sign_is_beyond_all_lengths():
    for f in (lambda s, k: s[k:], lambda s, k: s[:k], lambda s, k: s[k::-1], lambda s, k: s[1:k]):
        for s in (np.arange(3), [1, 2, 3], "abc", b"abc", (1, 2, 3)):
            for k in (np.uint64(ALL), np.uint64(TOP), ALL, TOP):
                assert list(njit(f)(s, k)) == list(f(s, k)) == list(jit(f)(s, k))
