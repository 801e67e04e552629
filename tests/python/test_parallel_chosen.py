"""`a[mask]`, `nonzero`, `where` of one argument, `compress`, `extract`, `argwhere` under `parallel=True`: what NumPy gives, from pieces that each count what they have."""


import numpy as np
import pytest

tierup = pytest.importorskip("tierup")

N = 70_001


def by_threads(f, *args, counts=(1, 2, 3, 8)):
    most, before = tierup.config.num_threads, tierup.get_num_threads()
    try:
        for threads in sorted({min(t, most) for t in counts}):
            tierup.set_num_threads(threads)
            yield f(*args)
    finally:
        tierup.set_num_threads(before)


def same(f, *args):
    expected = f(*args)
    for got in by_threads(tierup.njit(parallel=True)(f), *args):
        pairs = zip(got, expected) if isinstance(expected, tuple) else [(got, expected)]
        assert not isinstance(expected, tuple) or len(got) == len(expected)
        for g, e in pairs:
            assert g.dtype == e.dtype and g.shape == e.shape and g.tobytes() == e.tobytes()


def masks():
    rng = np.random.default_rng(0)
    sizes = np.arange(N)
    return [rng.random(N) < p for p in (0.0, 0.003, 0.5, 0.99, 1.0)] + [sizes < 5, sizes >= N - 3, sizes % 4096 == 0, (sizes // 5000) % 2 == 1]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "float32", "float64", "int64", "complex64", "complex128"])
def test_elements_that_a_mask_chooses(dtype):
    a = (np.arange(N) % 251).astype(dtype)
    for m in masks():
        same(lambda a, m: a[m], a, m)


def test_arrays_of_other_orders_and_dimensions():
    rng = np.random.default_rng(1)
    a = rng.normal(size=(300, 120))
    m = a > 0.5
    same(lambda a, m: a[m], a, m)
    same(lambda a, m: a[m], a.T, m.T)
    same(lambda a, m: a[m], np.asfortranarray(a), m)
    same(lambda a, m: a[m], rng.normal(size=2 * N)[::2], masks()[2])
    same(lambda a, m: a[m], rng.normal(size=N), np.repeat(masks()[2], 2)[::2])
    same(lambda a, m: a[m], a, m[:, 0])
    same(lambda a: a[(a > 0) & (a < 1)], a)
    same(lambda a: a[a > 1e9], a)
    same(lambda a, m: a[m], a[:0], m[:0])


def test_positions_of_what_is_true():
    rng = np.random.default_rng(2)
    for m in masks():
        same(lambda m: np.nonzero(m), m)
    for a in (rng.integers(0, 3, N), rng.integers(0, 2, N).astype(np.float32), rng.integers(0, 2, (2, N)), rng.integers(0, 3, (N, 2)), rng.integers(0, 3, (50, 40, 30)), rng.integers(0, 2, (40, 50, 30)).T,
              rng.integers(0, 2, (1, N)), rng.integers(0, 2, (N, 70))[:, ::3], rng.integers(0, 2, N)[::-1], rng.integers(0, 2, (N, 0))):
        same(lambda a: np.nonzero(a), a)
        same(lambda a: a.nonzero(), a)
        same(lambda a: np.where(a > 0), a)
        same(lambda a: np.flatnonzero(a), a)
        same(lambda a: np.argwhere(a), a)
    b = rng.normal(size=N)
    same(lambda a, b: np.compress(a > 1, b), rng.integers(0, 3, N), b)
    same(lambda a, b: np.extract(a > 1, b), rng.integers(0, 3, N), b)
    same(lambda a, b: np.compress(a > 1, b, axis=0), rng.integers(0, 3, N), rng.normal(size=(N, 2)))


def test_wrong_masks_raise():
    f = tierup.njit(parallel=True)(lambda a, m: a[m])
    with pytest.raises(IndexError):
        f(np.zeros(N), np.ones(N + 1, bool))


def test_reports():
    @tierup.njit(parallel=True)
    def f(a, m):
        x = a[m]
        k = np.nonzero(m)
        w = np.where(m)
        return x.sum(), k[0][0], w[0][0]
    a, m = np.arange(20.0), np.arange(20) > 3
    f(a, m)
    assert [(s[0][0], note["parallel"]) for note in f.parallel_report().arrays for s in [note["steps"]] if s[0][0] in ("getitem", "nonzero", "where")] == [("getitem", True), ("nonzero", True), ("where", True)]

    @tierup.njit(parallel=True)
    def strided(a, m): return a[m]
    strided(np.arange(40.0)[::2], m)
    assert "side by side" in str(strided.parallel_report())

    @tierup.njit(parallel={"numpy": False})
    def off(a, m): return a[m], np.nonzero(m), np.where(m)
    off(a, m)
    assert str(off.parallel_report()).count("switched off by the dictionary") >= 3
    assert not any(note["parallel"] for note in off.parallel_report().arrays)
