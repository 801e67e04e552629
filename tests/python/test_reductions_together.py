"""Reductions of chains that read the same arrays are one loop: NumPy's numbers at any length, in parallel code too, and errors where they would come."""

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit  # noqa: E402

LENGTHS = [1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255, 1000, 2047, 2048, 2049, 5001, 16384, 20_003, 100_003]


def norms(a, b):
    d = a - b
    return np.sqrt((d * d).sum()), np.abs(d).max(), a.mean(), (a * b).sum(), (d > 0.5).sum()


def extremes(a, b):
    return (a - b).min(), (a + b).max(), (a * b).max(), a.min()


def counts(a, b):
    c = a > b
    return np.any(c), np.all(a * a >= 0), np.count_nonzero(a - b), (a < b).sum(), c.sum()


def later(a, b):
    # What is computed of the first number waits for the last.
    mean = a.sum() / len(a)
    root = np.sqrt(mean * mean + 1)
    return (a * b).sum() + root, (b - a).max(), mean


def needs(a, b):
    # The second chain needs the first number: two loops.
    m = a.mean()
    return m, ((a - m) * b).sum(), (a * b).sum()


def mixed(a, b):
    return (a.astype(np.float32) * np.float32(2)).sum(), (a * 2).sum(), a.max(), (b + a).astype(np.int64).sum()


FORMS = [norms, extremes, counts, later, needs, mixed]
COMPILED = {(f, p): njit(parallel=p)(f) for f in FORMS for p in (False, True)}


def same(got, wanted):
    for x, y in zip(got, wanted):
        assert type(np.asarray(x)[()]) is type(np.asarray(y)[()]) or np.asarray(x).dtype.kind == np.asarray(y).dtype.kind, (x, y)
        np.testing.assert_array_equal(x, y)


def arrays(n, dtype, seed=3):
    rng = np.random.default_rng(seed + n)
    return rng.normal(size=n).astype(dtype), rng.normal(size=n).astype(dtype)


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("parallel", [False, True])
def test_numbers_are_those_of_numpy_at_any_length(form, parallel):
    for n in LENGTHS:
        for dtype in (np.float64, np.float32):
            a, b = arrays(n, dtype)
            same(COMPILED[form, parallel](a, b), form(a, b))


@pytest.mark.parametrize("parallel", [False, True])
def test_not_a_number_and_infinities_come_through(parallel):
    for n in (1, 9, 130, 2049, 100_003):
        for at in (0, n // 2, n - 1):
            for bad in (np.nan, np.inf, -np.inf):
                a, b = arrays(n, np.float64)
                a[at] = bad
                a[0] = -a[at] if n > 1 and at else a[0]
                with np.errstate(all="ignore"):
                    same(COMPILED[extremes, parallel](a, b), extremes(a, b))
                    same(COMPILED[norms, parallel](a, b), norms(a, b))


def test_rows_of_a_matrix_are_one_run():
    for shape in ((3, 5), (1, 1), (100, 33), (0, 4)):
        a = np.arange(np.prod(shape), dtype=float).reshape(shape) * 0.37
        f = lambda a, b: ((a - b).sum(), (a * b).sum(), (a > b).sum())  # noqa: E731
        same(njit(f)(a, a * 2), f(a, a * 2))
        same(njit(f)(np.asfortranarray(a), np.asfortranarray(a * 2)), f(np.asfortranarray(a), np.asfortranarray(a * 2)))


def test_what_is_stretched_is_reduced_by_itself():
    f = lambda a, b: ((a - b).sum(), (a * b).max(), a.sum(), (b > 0).sum())  # noqa: E731
    a, one = np.arange(300.0), np.array([0.5])
    for x, y in ((a, one), (one, a), (one, one)):
        same(njit(f)(x, y), f(x, y))
        same(njit(parallel=True)(f)(x, y), f(x, y))
    strided = lambda a, b: ((a[::2] - b[::2]).sum(), (a[::2] * b[::2]).sum())  # noqa: E731
    same(njit(strided)(a, a + 1), strided(a, a + 1))


def test_without_elements_the_first_extreme_raises_in_its_place():
    @njit
    def f(a, b, out):
        out[0] = 1
        s = (a * b).sum()
        out[1] = 2
        m = (a - b).max()
        out[2] = 3
        return s, m, (a + b).sum()

    out, nothing = np.zeros(3), np.zeros(0)
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum which has no identity"):
        f(nothing, nothing, out)
    assert list(out) == [1, 2, 0]
    assert njit(lambda a, b: ((a * b).sum(), (a > b).sum(), np.any(a - b)))(nothing, nothing) == (0, 0, False)


def test_shapes_that_do_not_go_together_raise_where_they_meet():
    f = njit(lambda a, b, c: ((a - b).sum(), 1 / (len(a) - 3), (a * c).sum()))
    with pytest.raises(ZeroDivisionError):
        f(np.zeros(3), np.zeros(3), np.zeros(2))
    with pytest.raises(ValueError, match="broadcast"):
        f(np.zeros(4), np.zeros(4), np.zeros(2))


def test_a_number_that_may_not_exist_is_asked_for_first():
    @njit
    def f(a, b):
        s = (a * b).sum()
        q = 1.0 / s
        return q, (a - b).max()

    with pytest.raises(ZeroDivisionError):
        f(np.zeros(0), np.zeros(0))


def test_a_handler_sees_what_was_there_before_the_exception():
    @njit
    def f(a, b, k):
        s = -1.0
        try:
            s = (a * b).sum()
            t = a[k]
            return (a - b).sum() + t
        except IndexError:
            return s

    a = np.arange(5.0)
    assert f(a, a, 9) == 30.0 and f(a, a, 1) == 1.0


def test_writing_between_keeps_reductions_apart():
    @njit
    def f(a, b):
        s = (a * b).sum()
        a[0] = 100.0
        return s, (a - b).sum()

    def plain(a, b):
        s = (a * b).sum()
        a[0] = 100.0
        return s, (a - b).sum()

    a, b = arrays(1000, np.float64)
    same(f(a.copy(), b), plain(a.copy(), b))


def test_the_report_says_so():
    a, b = arrays(1000, np.float64)
    f = njit(norms)
    f(a, b)
    text = str(f.explain())
    line = next((l for l in text.splitlines() if l.count("sum") > 1), "")
    assert "max" in line and "sub" in line, text
