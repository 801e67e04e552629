"""Parallel loops of Numba's programs (`meaning="numba"`) that change a dict or an object which iterations share: one thread runs them. In Tierup's own meaning they are refused (mdtests)."""

import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit, prange  # noqa: E402

NUMBAS = njit(parallel=True, meaning="numba")


def put(d, i):
    d[i] = i * i


def filled(n):
    d = {}
    for i in prange(n):
        if i % 3 == 0:
            d[i] = i * i
    return d


def filled_by_a_call(n):
    d = {-1: -1}
    for i in prange(n):
        put(d, i)
    return d


def filled_inside(n):
    d = {}
    for i in prange(n):
        for j in prange(3):
            d[3 * i + j] = i
    return d


def collected(n):
    seen = set()
    for i in prange(n):
        seen.add(i % 7)
    return sorted(seen)


@pytest.mark.parametrize("f", [filled, filled_by_a_call, filled_inside, collected], ids=lambda f: f.__name__)
def test_shared_containers(f):
    got = NUMBAS(f)(500)
    assert got == f(500) and (not isinstance(got, dict) or list(got) == list(f(500)))


def test_shared_objects():
    @tierup.struct
    class Sum:
        total: int

    def count(s, n):
        for i in prange(n):
            s.total += i
        return s.total

    assert NUMBAS(count)(Sum(0), 1000) == sum(range(1000))


def test_the_report_says_so():
    f = NUMBAS(filled)
    f(9)
    assert "one thread runs all iterations in order: they change a dict or another object that they share" in str(f.parallel_report())


def test_own_ones_run_in_parallel():
    @NUMBAS
    def f(n):
        a = [0] * n
        for i in prange(n):
            d = {i: 2 * i}
            d[0] = 1
            a[i] = d[i] if i else 0
        return a

    assert f(100) == [2 * i for i in range(100)] and "one thread" not in str(f.parallel_report())


def test_others_are_refused():
    with pytest.raises(tierup.TypingError, match="change a dict that they may share"):
        njit(parallel=True)(filled)(9)
