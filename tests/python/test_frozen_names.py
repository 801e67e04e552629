"""Functions with Numba's meaning: globals and captured variables are what they were where there first was code for some types, also for those who call them."""

import gc
import weakref

import numpy as np
from tierup import guvectorize, njit, vectorize

GIVEN = {"meaning": "numba"}


def scaled(x):
    return x * FACTOR


def looked_up(k):
    return TABLE[k]


def test_callers_take_what_was_compiled():
    global FACTOR
    FACTOR = 10
    ten = njit("int64(int64)", **GIVEN)(scaled)
    FACTOR = 20
    twenty, lazy = vectorize(["int64(int64)"], **GIVEN)(scaled), njit(scaled, **GIVEN)
    assert twenty(1) == 20
    FACTOR = 30

    @njit(**GIVEN)
    def caller(x):
        return ten(x), twenty(x), lazy(x)

    assert caller(1) == (10, 20, 30) and (ten(1), twenty(1), lazy(1)) == (10, 20, 30)
    FACTOR = 40
    # Types for which there is no code yet.
    assert lazy(1.0) == 40.0 and caller(2) == (20, 40, 60)

    @njit(**GIVEN)
    def again(x):
        return lazy(x), lazy(float(x)), ten(x)

    assert again(1) == (30, 40.0, 10)


def test_those_that_were_first_compiled_in_a_caller():
    global FACTOR
    inner = njit(scaled, **GIVEN)
    outer = njit(lambda x: inner(x) + 1, **GIVEN)
    FACTOR = 2
    assert outer(1) == 3
    FACTOR = 5
    assert inner(1) == 2 and njit(lambda x: inner(x), **GIVEN)(1) == 2


def test_arrays_keep_what_was_in_them():
    global TABLE
    TABLE = np.array([1, 2, 3])
    inner = njit("int64(int64)", **GIVEN)(looked_up)
    TABLE[0] = 7
    outer = njit(lambda k: inner(k), **GIVEN)
    assert outer(0) == inner(0) == 1
    TABLE = np.array([9, 9, 9])
    assert njit(lambda k: inner(k) + inner(k + 1), **GIVEN)(0) == 3


def test_captured_variables():
    def made(n):
        @njit("int64(int64)", **GIVEN)
        def inner(x):
            return x + n

        n += 100

        @njit(**GIVEN)
        def outer(x):
            return inner(x)

        return inner, outer

    inner, outer = made(1)
    assert inner(0) == 1 and outer(0) == 1


def test_what_is_kept_goes_with_the_function():
    def module():
        space = {"njit": njit}
        exec("A = [1][0]\n@njit(meaning='numba')\ndef f(x):\n    return x + A\n@njit(meaning='numba')\ndef g(x):\n    return f(x) if x > 0 else g(x + A)\n", space)
        assert space["g"](-2) == 2
        return weakref.ref(space["g"])

    gone = module()
    gc.collect()
    assert gone() is None


def test_ufuncs_of_rows():
    global FACTOR
    FACTOR = 3
    rows = guvectorize(["void(int64[:], int64[:])"], "(n)->()", **GIVEN)(lambda x, r: r.fill(x.sum() * FACTOR))
    assert rows(np.arange(3)) == 9
    FACTOR = 4
    assert rows(np.arange(3)) == 9


def test_pythons_meaning_follows_globals():
    global FACTOR
    FACTOR = 2
    inner = njit(scaled)
    outer = njit(lambda x: inner(x))
    assert outer(1) == 2
    FACTOR = 3
    assert outer(1) == 3 and inner(1) == 3
