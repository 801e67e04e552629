"""Reductions of chains, of all elements and along an axis: what is computed is never an array, and the results have the bits of one that is."""

import itertools

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit  # noqa: E402
from test_parallel import run  # noqa: E402

LENGTHS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 127, 128, 129, 136, 255, 257, 1000, 1024, 1025, 2048, 2049, 2064, 4096, 5000, 16_383, 100_003)
NUMBERS = [np.float64, np.float32, np.int64, np.int32, np.uint8]
PARALLEL = [False, True]


def same(got, expected):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape and (got.dtype == expected.dtype or got.ndim == 0), "numbers are Python's"
    # Which NaN it is, and which of two zeros wins, NumPy leaves to its vectors.
    assert np.array_equal(got, expected, equal_nan=got.dtype.kind in "fc"), (got, expected)


def operands(rng, shape, dtype):
    a, b = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape), rng.standard_normal(shape)
    return [(x * 20).astype(dtype) if np.dtype(dtype).kind != "f" else x.astype(dtype) for x in (a, b)]


def sums(a, b): return (a * b).sum(), (a - b).sum(), ((a - b) * (a + b) - a).sum(), (a * a).mean()
def extremes(a, b): return (a - b).max(), (a * b).min(), np.abs(a - b).max(), (a + a).min()
def kept(a, b):
    c = a * b + a
    return c.sum(), c


@pytest.mark.parametrize("parallel", PARALLEL)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_reductions_of_all_elements_have_numpys_bits(dtype, parallel):
    rng = np.random.default_rng(1)
    compiled = [njit(parallel=parallel)(f) for f in (sums, extremes, kept)]
    for n in LENGTHS:
        a, b = operands(rng, n, dtype)
        for f in compiled:
            if n == 0 and f is compiled[1]:
                with pytest.raises(ValueError, match="zero-size array to reduction operation maximum which has no identity"): f(a, b)
            else:
                with np.errstate(all="ignore"):
                    if n == 0 and f is compiled[0]: continue  # the mean of nothing
                    for x, y in zip(f(a, b), f.py_func(a, b)): same(x, y)


@pytest.mark.parametrize("parallel", PARALLEL)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nan_and_infinities_anywhere(dtype, parallel):
    compiled = [njit(parallel=parallel)(f) for f in (sums, extremes)]
    rng = np.random.default_rng(2)
    for n in (1, 5, 8, 17, 129, 1030, 3000, 40_000):
        for what in (np.nan, np.inf, -np.inf, (np.inf, -np.inf), (np.inf, np.nan)):
            a, b = operands(rng, n, dtype)
            for x in what if isinstance(what, tuple) else (what,): a[rng.integers(n)] = x
            for f in compiled:
                with np.errstate(all="ignore"):
                    for x, y in zip(f(a, b), f.py_func(a, b)): same(x, y)


@pytest.mark.parametrize("parallel", PARALLEL)
def test_sums_of_zeros_are_positive(parallel):
    @njit(parallel=parallel)
    def f(a): return (-a).sum(), (a * -1.0).sum()
    for n in (1, 3, 8, 100, 129, 5000): assert [np.signbit(x) for x in f(np.zeros(n))] == [False, False], n


SHAPES = [(3, 4), (1, 1), (1, 5), (5, 1), (2, 2), (0, 3), (3, 0), (7, 300), (300, 7), (40, 257), (129, 130), (600, 2), (2, 3000), (2, 3, 4), (3, 1, 5), (5, 6, 1), (1, 4, 1), (4, 130, 9), (3, 9, 300), (2, 3, 4, 5)]
OPERATIONS = ["sum", "min", "max", "prod", "any", "all", "mean"]


def along(op, axis, keep, chain):
    space = {"np": np}
    exec(f"def f(a, b):\n    return ({chain}).{op}(axis={axis}{', keepdims=True' if keep else ''})\n", space)
    return space["f"]


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("parallel", PARALLEL)
def test_reductions_along_an_axis_have_numpys_bits(op, parallel):
    rng = np.random.default_rng(3)
    for ndim in (2, 3, 4):
        for axis, keep in itertools.product(range(ndim), (False, True)) if ndim < 4 else ((3, False), (-2, True)):
            f = njit(parallel=parallel)(along(op, axis, keep, "a * b - a"))
            for shape, dtype in itertools.product([s for s in SHAPES if len(s) == ndim], (np.float64, np.float32, np.int32)):
                a, b = operands(rng, shape, dtype)
                check(f, a, b)
                if a.size and np.dtype(dtype).kind == "f":
                    a.flat[rng.integers(a.size)] = np.nan
                    check(f, a, b)


def check(f, a, b):
    with np.errstate(all="ignore"):
        try: expected = f.py_func(a, b)
        except ValueError as e:
            with pytest.raises(ValueError, match=str(e)): f(a, b)
            return
        same(f(a, b), expected)


@pytest.mark.parametrize("parallel", PARALLEL)
def test_operands_that_are_stretched_sliced_or_in_another_order(parallel):
    @njit(parallel=parallel)
    def distances(a, b): return ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
    @njit(parallel=parallel)
    def centred(a, b): return ((a - b) ** 2).sum(axis=0), (a * b).sum(axis=1), (a - b).max(axis=-1), np.abs(a + b).min(axis=-2)
    @njit(parallel=parallel)
    def columns(a, b): return (a[:, ::2] * b[:, 1::2]).sum(axis=0), (a[::-1] * b).sum(axis=1), (a.T + b.T).sum(axis=0), (a.T * b.T).sum(axis=1), (a[1:, 2:] - b[:-1, :-2]).sum(axis=1)
    rng = np.random.default_rng(4)
    for n, m, d in ((5, 4, 3), (40, 3, 20), (2, 2, 300), (130, 10, 2), (1, 1, 1), (3, 1, 9)):
        a, b = rng.standard_normal((n, d)), rng.standard_normal((m, d))
        same(distances(a, b), distances.py_func(a, b))
        for other in (b[0], b[:1], a[:, :1].copy(), a):
            for x, y in zip(centred(a, other), centred.py_func(a, other)): same(x, y)
    for shape in ((6, 8), (300, 20), (20, 600)):
        a, b = rng.standard_normal(shape), rng.standard_normal(shape)
        for x, y in zip(columns(a, b), columns.py_func(a, b)): same(x, y)


def test_no_array_is_made_along_an_axis():
    @njit
    def f(a, b): return (a * b).sum(axis=1), (a * b).max(axis=0)
    a = np.ones((2000, 2000))
    f(a, a)
    import resource
    big = np.ones((6000, 4000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    f(big, big)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10, "kilobytes: the chain has 192 MB"


THREADS = """
    @njit(parallel=True)
    def work(a, m, t):
        return (a * a).sum(), ((a - 0.5) ** 2).sum(), np.abs(a - 1).max(), (a + a).min(), (m * 2).sum(axis=0), (m * m).sum(axis=1), (m - 1).max(axis=1), (m - 1).min(axis=0), (t * 3).sum(axis=1), (m * m).mean(axis=1), (a.astype(np.float32) * 2).sum()

    a = np.sin(np.arange(1_000_003.0)) * 10.0 ** (np.arange(1_000_003) % 9 - 4)
    m, t = a[:1_000_000].reshape(1000, 1000), a[:1_000_000].reshape(10, 100, 1000)
    serial = njit(work.py_func)(a, m, t)
    for _ in range(3):
        got = work(a, m, t)
        assert all(np.array_equal(x, y) for x, y in zip(got, serial)), (got, serial)
    print([np.asarray(x).tobytes() for x in got])
"""


def test_the_same_bits_at_any_number_of_threads_and_in_any_tier():
    seen = {run(THREADS, threads) for threads in (1, 2, 3, 8)}
    seen |= {run(THREADS, 4, TIERUP_TIER=tier) for tier in ("0", "1")}
    assert len(seen) == 1
