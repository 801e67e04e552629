"""Loops of generalised ufuncs: many turns, short and long core dimensions, all layouts, serial and on all cores; NumPy is the oracle."""

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import guvectorize

pytestmark = pytest.mark.isolated
TARGETS = ["cpu", "parallel"]


def made(target):
    """Kernels of core dimensions 0 to 3, each with what it computes."""
    def make(signature, layout):
        return guvectorize([signature], layout, target=target)

    @make("void(float64, float64, float64[:])", "(),()->()")
    def scale(a, b, out):
        out[0] = a * b

    @make("void(float64[:], float64[:], float64[:])", "(n)->(),()")
    def extremes(a, low, high):
        low[0] = high[0] = a[0]
        for i in range(1, len(a)):
            low[0] = min(low[0], a[i])
            high[0] = max(high[0], a[i])

    @make("void(float64[:], float64, float64[:])", "(n),()->(n)")
    def shift(a, b, out):
        for i in range(len(a)):
            out[i] = a[i] + b

    @make("void(float64[:,:], float64[:], float64[:])", "(m,n),(n)->(m)")
    def apply(a, b, out):
        for i in range(a.shape[0]):
            s = 0.0
            for j in range(a.shape[1]):
                s += a[i, j] * b[j]
            out[i] = s

    @make("void(int64[:,:,:], int64[:])", "(m,n,p)->()")
    def cube(a, out):
        s = 0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    s += a[i, j, k]
        out[0] = s

    return scale, extremes, shift, apply, cube


@pytest.mark.parametrize("target", TARGETS)
def test_results_for_many_shapes(tier, target):
    scale, extremes, shift, apply, cube = made(target)
    rng = np.random.default_rng(2)
    for loop in ((), (0,), (1,), (5,), (3000,), (7, 300), (50_000,)):
        for core in (1, 3, 8, 9, 16, 17) if len(loop) and loop[0] > 1000 else (1, 3, 128, 129, 130):
            a, b = rng.random((*loop, core)), rng.random(loop)
            np.testing.assert_array_equal(extremes(a), (a.min(-1), a.max(-1)))
            np.testing.assert_array_equal(shift(a, b), a + b[..., None])
            np.testing.assert_array_equal(scale(b, b), b * b)
            m = rng.integers(0, 9, (*loop, 4, core)).astype(float)
            np.testing.assert_array_equal(apply(m, np.arange(core)), (m * np.arange(core)).sum(-1))
    for shape in ((4000, 2, 3, 2), (10, 8, 8, 8), (10, 9, 8, 8), (3, 30, 1, 40), (2000, 0, 3, 3)):
        c = rng.integers(-9, 9, shape)
        np.testing.assert_array_equal(cube(c), c.sum((-1, -2, -3)))


@pytest.mark.parametrize("target", TARGETS)
def test_layouts_and_results_in_given_places(tier, target):
    scale, extremes, shift, apply, cube = made(target)
    rng = np.random.default_rng(3)
    base = rng.random((3000, 6))
    for a in (base, base[::-1], base[:, ::-1], base[::2, 1::2], np.asfortranarray(base), rng.random((6, 3000)).T, np.broadcast_to(base[0], (3000, 6)), np.broadcast_to(base[:, :1], (3000, 6))):
        np.testing.assert_array_equal(shift(a, 1), a + 1)
        np.testing.assert_array_equal(extremes(a), (a.min(-1), a.max(-1)))
        n, k = a.shape
        for out in (np.zeros((n, k)), np.zeros((k, n)).T, np.zeros((2 * n, 3 * k))[::2, 1::3], np.zeros((n, k))[::-1, ::-1]):
            assert shift(a, 1, out) is out
            np.testing.assert_array_equal(out, a + 1)
        # Results of single elements, side by side, apart and mixed in one array.
        both = np.zeros((n, 2))
        extremes(a, out=(both[:, 0], both[:, 1]))
        np.testing.assert_array_equal(both, np.stack([a.min(-1), a.max(-1)], -1))


@pytest.mark.parametrize("target", TARGETS)
def test_operands_that_share_memory(tier, target):
    scale, extremes, shift, apply, cube = made(target)
    a = np.arange(60_000.0).reshape(-1, 3)
    b = a.copy()
    shift(b, 1, b)
    np.testing.assert_array_equal(b, a + 1)
    b = a.copy()
    shift(b[:-1], 1, b[1:])
    np.testing.assert_array_equal(b[1:], a[:-1] + 1)
    b = a.copy()
    shift(b[::-1], 1, b)
    np.testing.assert_array_equal(b, a[::-1] + 1)
    b = np.zeros(3)
    shift(a, 1, np.lib.stride_tricks.as_strided(b, a.shape, (0, 8)))
    np.testing.assert_array_equal(b, a[-1] + 1)
    c = np.arange(20_000.0)
    scale(c, 2.0, c)
    np.testing.assert_array_equal(c, 2 * np.arange(20_000.0))


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_that_write_to_inputs(tier, target):
    @guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(m)->(n)", target=target, writable_args=(1,))
    def running(a, total, out):
        for i in range(len(a)):
            total[0] += a[i]
            out[i] = total[0]
    a, total = np.arange(60_000.0).reshape(-1, 3), np.zeros((20_000, 1))
    np.testing.assert_array_equal(running(a, total), a.cumsum(-1))
    np.testing.assert_array_equal(total[:, 0], a.sum(-1))

    @guvectorize(["void(float64[:], float64[:])"], "(n),(n)", target=target)
    def double(a, b):
        for i in range(len(a)):
            b[i] = 2 * a[i]
    b = np.zeros_like(a)
    double(a, b)
    np.testing.assert_array_equal(b, 2 * a)


@pytest.mark.parametrize("target", TARGETS)
def test_exceptions(tier, target):
    @guvectorize(["void(float64[:], float64[:])"], "(n)->()", target=target)
    def picky(a, out):
        for i in range(len(a)):
            if a[i] < 0:
                raise ValueError("negative", i)
            out[0] += a[i]
    a = np.ones((30_000, 3))
    a[20_000, 1] = -1
    a[25_000, 2] = -1
    with pytest.raises(ValueError, match=r"\('negative', 1\)") as e:
        picky(a, np.zeros(30_000))
    assert e.traceback[-1].name == "picky" or "picky" in str(e.traceback[-1])

    @guvectorize(["void(int64[:], int64, int64[:])"], "(n),()->()", target=target)
    def at(a, k, out):
        out[0] = a[k]
    b = np.arange(40_000).reshape(-1, 4)
    np.testing.assert_array_equal(at(b, -1), b[:, -1])
    with pytest.raises(IndexError):
        at(b, np.where(np.arange(10_000) == 7_000, 4, 0))


def test_the_parallel_target_has_a_loop_for_all_cores():
    for target in TARGETS:
        shift = made(target)[2]
        assert ("parallel" in shift.inspect("lir")) == (target == "parallel")
