"""Which loop of a ufunc a call takes: Python's numbers, reductions, small integers, no matter which call came first; compiled code chooses as NumPy does."""

import contextlib

import numpy as np
import pytest

pytest.importorskip("tierup")
from harness.tiers import on_tier  # noqa: E402, F401
from tierup import njit, vectorize  # noqa: E402

pytestmark = pytest.mark.isolated


def same(got, want):
    assert type(got) is type(want), (type(got), type(want))
    np.testing.assert_array_equal(got, want, strict=True)


def test_loops_for_pythons_numbers_leave_arrays_alone(tier):
    """NumPy knows loops by what is in memory; one for a Python number must not be taken for an array of such numbers, whichever call comes first."""
    def sum_of(x, y): return x + y
    def power(x, y): return x ** y
    single, double = np.full(2, 0.1, np.float32), np.full(2, 1e-9)
    whole, unsigned = np.array([2, 3]), np.array([2**63], np.uint64)
    calls = [(sum_of, (single, 2.5)), (sum_of, (single, double)), (sum_of, (double, single)), (sum_of, (2.5, single)), (sum_of, (unsigned, 1)), (sum_of, (unsigned, np.array([1]))), (sum_of, (single.astype(np.complex64), 2.5)),
             (sum_of, (single.astype(np.complex64), double)), (sum_of, (single, 1j)), (sum_of, (single, np.array([1j]))), (power, (single, 2)), (power, (single, whole)), (power, (2, single)), (power, (whole, single)), (sum_of, (2, 3)), (sum_of, (2, 2.5))]
    alone = [vectorize(f)(*args) for f, args in calls]
    for f in (sum_of, power):
        mine = [(args, want) for (g, args), want in zip(calls, alone) if g is f]
        for order in (mine, mine[::-1], mine[1::2] + mine[::2]):
            u = vectorize(f)
            for args, want in order + order:
                same(u(*args), want)
                same(u(*args, out=None), want)
    u = vectorize(sum_of)
    u(single, 2.5)
    same(u.reduce(double), np.add.reduce(double))
    same(u.accumulate(double), np.add.accumulate(double))


def test_accumulations_of_small_integers(tier):
    a = np.array([100, 100, 3, -7], np.int8)
    f = vectorize(lambda x, y: x - y)
    for other in (None, a, 1):
        if other is not None:
            f(a, other)
        same(f.accumulate(a), np.subtract.accumulate(a.astype(np.int64)))
        same(f.reduceat(a, [0, 2]), np.subtract.reduceat(a.astype(np.int64), [0, 2]))
        same(f.reduce(a), np.subtract.reduce(a.astype(np.int64)))
        same(f.accumulate(a, dtype=np.float64), np.subtract.accumulate(a, dtype=np.float64))
    less = vectorize(lambda x, y: x < y)
    with pytest.raises(TypeError):
        less.accumulate(np.arange(3.0))


def test_compiled_code_chooses_declared_loops_as_numpy_does(tier):
    u = vectorize(["int8(int8, int8)", "int64(int64, int64)", "float32(float32, float32)", "float64(float64, float64)", "complex128(complex128, complex128)"])(lambda x, y: x * y)
    f = njit(lambda a, b: u(a, b))
    arrays = [np.array([True]), *(np.array([3], d) for d in (np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64, np.complex64, np.complex128))]
    for a in arrays:
        for b in (1, True, 2.5, 1j, *arrays):
            same(f(a, b), u(a, b))
            same(f(b, a), u(b, a))


def test_compiled_code_reduces_arrays_without_dimensions_and_along_no_axis(tier):
    u = vectorize(["int64(int64, int64)", "float64(float64, float64)"], identity=0)(lambda x, y: x - y)
    plain = vectorize(["int64(int64, int64)", "float64(float64, float64)"])(lambda x, y: x - y)
    for f in (lambda a: u.reduce(a), lambda a: u.reduce(a, axis=-1), lambda a: u.reduce(a, axis=0, initial=3), lambda a: u.reduce(a, axis=()), lambda a: plain.reduce(a, axis=()), lambda a: u.reduce(a, axis=(), initial=5)):
        for a in (np.array(4), np.array(4.5), np.arange(4), np.arange(6.0).reshape(2, 3), np.array([True, False])):
            np.testing.assert_array_equal(njit(f)(a), f(a))
            assert np.asarray(njit(f)(a)).dtype == np.asarray(f(a)).dtype
    into = lambda a, out: (u.reduce(a, out=out), u(a, 1, out))
    for a in (np.arange(4.0), np.array(2.0)):
        with pytest.raises(ValueError) if a.ndim else contextlib.nullcontext():
            assert njit(into)(a, np.zeros(())) is not None
    with pytest.raises(ValueError, match="wrong number of dimensions"):
        njit(lambda a, out: u.reduce(a, out=out))(np.arange(6.0).reshape(2, 3), np.zeros((2, 3)))


def test_types_that_are_not_compiled_are_named(tier):
    f = vectorize(lambda x: x)
    for value, name in ((np.arange(2, dtype=np.float16), "float16"), (np.array(["a"]), "str"), (np.array([None]), "object"), (np.zeros(2, "M8[s]"), "datetime64"), (np.zeros(2, [("a", "i4")]), "void")):
        with pytest.raises(TypeError, match=f"no type for dtype {name}"):
            f(value)
