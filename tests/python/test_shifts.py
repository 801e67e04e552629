"""Shifts of scalars: the number that is shifted gives the sign of the result, whatever the sign of the count."""

import itertools

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")

TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, int]
COUNTS = [0, 1, 7, 8, 31, 32, 63, 64, 100]


def expected(op, x, n):
    """In 64 bits."""
    r = (int(x) << n if op == "<<" else int(x) >> n) & (2**64 - 1)
    return r if isinstance(x, np.unsignedinteger) or r < 2**63 else r - 2**64


def values(t):
    if t is int:
        return [1, -1, -2**63, 2**63 - 1]
    return [t(1), np.iinfo(t).max, np.iinfo(t).min, t(100)]


@pytest.mark.parametrize("op", ["<<", ">>"])
@pytest.mark.parametrize("t", TYPES, ids=lambda t: t.__name__)
def test_the_shifted_number_gives_the_sign(op, t):
    f = tierup.njit(eval(f"lambda x, n: x {op} n"))
    for x, u, n in itertools.product(values(t), TYPES, COUNTS):
        x = t(x)
        assert f(x, u(n)) == expected(op, x, n), (x, u(n))


def test_a_count_below_zero_raises():
    for x in (1, np.uint64(1), np.int8(1)):
        with pytest.raises(ValueError, match="negative shift count"):
            tierup.njit(lambda x, n: x << n)(x, np.int8(-1))


def test_bits_that_are_lost_are_told():
    f = tierup.njit(overflow="raise")(lambda x, n: x << n)
    assert f(np.uint64(1), 63) == 2**63 and f(np.uint64(3), np.int8(62)) == 3 * 2**62
    for x, n in ((np.uint64(1), 64), (np.int64(1), np.uint64(63)), (np.uint64(2**63), np.int8(1))):
        with pytest.raises(OverflowError):
            f(x, n)


def test_arrays_shift_as_in_numpy():
    f = tierup.njit(lambda a, b: a >> b)
    with pytest.raises(TypeError):
        f(np.ones(2, np.uint64), np.ones(2, np.int64))
    assert f(np.full(2, 2**63, np.uint64), 1).tolist() == [2**62] * 2
