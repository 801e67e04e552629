"""What NumPy has changed from one version to the next: compiled code gives what the NumPy that runs gives."""

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit

MASK = np.array([True, False])
SMALL = np.array([1, 2], np.int8)


def told(f, *args):
    try:
        found = f(*args)
    except (OverflowError, ValueError) as e:
        return repr(e)
    return np.asarray(found).dtype, np.asarray(found).tolist()


@pytest.mark.parametrize("of", [SMALL, SMALL.astype("uint64"), SMALL.astype("uint8"), SMALL.astype("float32"), SMALL.astype(bool)], ids=lambda a: str(a.dtype))
@pytest.mark.parametrize("x", [100, 300, -1])
def test_where_takes_ints_as_numpy_does(of, x):
    for f in (lambda m, a, x: np.where(m, a, x), lambda m, a, x: np.where(m, x, a), lambda m, a, x: np.where(m, a[0], x)):
        assert told(njit(f), MASK, of, x) == told(f, MASK, of, x)


def test_signs_of_spans_are_what_numpy_has():
    spans = np.array([-5, 0, 7, "NaT"], "m8[s]")
    got, want = njit(lambda a: np.sign(a))(spans), np.sign(spans)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    for span in spans:
        got, want = njit(lambda x: np.sign(x))(span), np.sign(span)
        assert got == want or np.isnan(got) and np.isnan(want) or np.isnat(got) and np.isnat(want)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "c16"])
def test_searches_among_what_is_not_sorted_end_where_those_of_numpy_do(dtype):
    rng = np.random.default_rng(5)
    search = njit(lambda a, v, side: np.searchsorted(a, v, side))
    for n in range(20):
        a, keys = (rng.integers(0, 9, k).astype(dtype) for k in (n, 7))
        if n and dtype in ("f8", "f4"):
            a[n // 2] = keys[2] = np.nan
        for side in ("left", "right"):
            assert search(a, keys, side).tolist() == np.searchsorted(a, keys, side).tolist(), (a, keys, side)
            assert search(a, keys[0], side) == np.searchsorted(a, keys[0], side), (a, keys[0], side)


@pytest.mark.parametrize("f", [np.linalg.svdvals, np.linalg.matrix_rank, np.linalg.cond, lambda a: np.linalg.cond(a, -2), lambda a: np.linalg.cond(a, "nuc")], ids=["svdvals", "rank", "cond", "cond -2", "cond nuc"])
def test_matrices_that_are_not_finite_have_the_singular_values_of_numpy(f):
    for x in (np.inf, np.nan, 0.0):
        a = np.array([[1.0, x], [0.0, x]])
        with np.errstate(all="ignore"):
            want = repr(told(f, a))
        assert repr(told(njit(lambda a: f(a)), a)) == want


def test_no_generators_are_spawned_below_zero():
    rng = np.random.default_rng(1)
    assert told(njit(lambda r: r.spawn(-1)), rng) == told(lambda r: r.spawn(-1), rng)


@pytest.mark.parametrize("name", ["hfft", "ifft2", "irfft2", "fft2", "rfft2", "ifftn", "irfftn", "ihfft"])
def test_transforms_write_to_out_where_those_of_numpy_do(name):
    transform = getattr(np.fft, name)
    a = np.arange(12.0).reshape(3, 4) + (0 if name in ("rfft2", "ihfft") else 1j)
    want = transform(a)
    outs = [np.zeros(want.shape, want.dtype) for _ in range(2)]
    for f, out in zip((lambda a, out: transform(a, out=out), njit(lambda a, out: transform(a, out=out))), outs):
        np.testing.assert_allclose(f(a, out), want)
    np.testing.assert_allclose(*outs)
