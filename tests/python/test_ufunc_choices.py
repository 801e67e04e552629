"""Which loop of a ufunc a call takes: Python's numbers, reductions, small integers, no matter which call came first; compiled code chooses as NumPy does."""

import contextlib

import numpy as np
import pytest

pytest.importorskip("tierup")
from harness.tiers import on_tier  # noqa: E402, F401
from tierup import njit, stencil, vectorize  # noqa: E402

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


def test_types_that_are_asked_for_before_any_call():
    u = vectorize(lambda x, y: x + y)
    first = u.resolve_dtypes((np.dtype("f4"), int, None))
    same(u(np.ones(2, np.float32), np.array([1, 2])), np.array([2.0, 3.0]))
    assert u.resolve_dtypes((np.dtype("f4"), int, None)) == first
    assert u.resolve_dtypes((np.dtype("f4"), np.dtype("i8"), None))[2] == np.float64


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


def test_compiled_code_reduces_along_axes_that_are_computed(tier):
    x = np.arange(24).reshape(2, 3, 4) % 7

    @vectorize(identity=0)
    def plus(a, b):
        return a + b

    @vectorize
    def less(a, b):
        return a - b
    reduce, kept = njit(lambda x, axis: plus.reduce(x, axis)), njit(lambda x, axis: plus.reduce(x, axis, keepdims=True))
    accumulate, pieces = njit(lambda x, axis: less.accumulate(x, axis)), njit(lambda x, at, axis: less.reduceat(x, at, axis))
    for axis in (0, 1, 2, -1, -3):
        np.testing.assert_array_equal(reduce(x, axis), np.add.reduce(x, axis), strict=True)
        np.testing.assert_array_equal(kept(x, axis), np.add.reduce(x, axis, keepdims=True), strict=True)
        np.testing.assert_array_equal(accumulate(x, axis), np.subtract.accumulate(x, axis), strict=True)
        at = np.array([0, 1])
        np.testing.assert_array_equal(pieces(x, at, axis), np.subtract.reduceat(x, at, axis), strict=True)
    for axes in ((0,), (0, 1), (2, 0), (-1, 1), (0, 1, 2), ()):
        np.testing.assert_array_equal(reduce(x, axes), np.add.reduce(x, axes), strict=True)
        np.testing.assert_array_equal(kept(x, axes), np.add.reduce(x, axes, keepdims=True), strict=True)
    for wrong in (3, -4, (0, 3)):
        with pytest.raises(np.exceptions.AxisError, match="out of bounds for array of dimension 3"):
            reduce(x, wrong)
    for axes in ((0, 0), (1, -2)):
        with pytest.raises(ValueError, match="duplicate value in 'axis'"):
            reduce(x, axes)


def test_kernels_that_only_raise_do_so_from_compiled_code(tier):
    @vectorize
    def never(a, b):
        raise KeyError("never")

    @vectorize("float64(float64, int64)")
    def uneven(a, b):
        return a + b

    @stencil
    def refused(a):
        raise KeyError(a[0] - a[1])
    a = np.arange(5)
    for f in (lambda a: never(a, a), lambda a: never.reduce(a), lambda a: never.outer(a, a), lambda a: never.accumulate(a), lambda a: refused(a)):
        with pytest.raises(KeyError):
            njit(f)(a)
    for f in (lambda a: uneven.reduce(a, 0, np.float64), lambda a: uneven(a * 1.0, a * 1.0)):
        with pytest.raises(TypeError, match="not supported for the input types"):
            njit(f)(a)
    reduce = njit(lambda a, axis: uneven.reduce(a, axis, np.float64))
    with pytest.raises(TypeError, match="not supported for the input types"):
        reduce(a, 0)


def test_compiled_code_knows_no_indices_and_too_many(tier):
    @vectorize
    def plus(a, b):
        return a + b
    at, pieces = njit(lambda a, b: plus.at(a, (), b)), njit(lambda a, i: plus.reduceat(a, i))
    for a in (np.array(3.0), np.arange(4), np.arange(6.0).reshape(2, 3)):
        for b in (2, np.array(5), np.ones(a.shape, np.int64)):
            got, want = a.copy(), a.copy()
            at(got, b)
            np.add.at(want, (), b)
            same(got, want)
    with pytest.raises(ValueError, match="object too deep for desired array"):
        pieces(np.arange(4), np.array([[0, 1]]))
    with pytest.raises(ValueError, match="object of too small depth for desired array"):
        pieces(np.arange(4), 1)
