"""Each name of the dictionary that `parallel=` takes switches one thing off, which the report tells; the results stay what they are."""

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit, prange, stencil  # noqa: E402


@stencil
def smooth(a):
    return 0.5 * (a[-1] + a[1])


def loops(a, b):
    s = 0.0
    for i in prange(len(a)):
        s += a[i]
    return s


def expressions(a, b):
    c = a * 2 + b
    return np.exp(c)


def in_place(a, b):
    c = a.copy()
    c += b
    return c


def assigned(a, b):
    c = np.empty(len(a))
    c[1:] = a[1:] * 2
    c[0] = 1.0
    c[b > a] = 0.0
    return c


def reduced(a, b):
    return a.sum(), b.max(), (a * b).sum()


def comprehension(a, b):
    return np.array([x * 2 + 1 for x in a])


def stencils(a, b):
    return smooth(a)


def neighbours(a, b):
    t = a * 2 + b
    u = t + 1
    v = t * 3
    return u, v


CASES = [
    # name, function, what the report has without it, and with it
    ("prange", loops, "a loop that is not parallel", "parallel loop"),
    ("numpy", expressions, "exp: not in parallel, switched off by the dictionary", "in parallel: mul, add"),
    ("inplace_binop", in_place, "add: not in parallel, switched off by the dictionary", "in parallel: add"),
    ("setitem", assigned, "setitem: not in parallel, switched off by the dictionary", "in parallel: mul, setitem"),
    ("reduction", reduced, "sum: not in parallel, switched off by the dictionary", "in parallel: mul, sum"),
    ("comprehension", comprehension, None, "in parallel: comprehension"),
    ("stencil", stencils, None, "in parallel: smooth"),
    ("fusion", neighbours, None, "one loop over 4 operations"),
]


@pytest.mark.parametrize("name, f, off, on", CASES, ids=[c[0] for c in CASES])
def test_each_switch_changes_what_the_report_says_and_nothing_else(name, f, off, on):
    a, b = np.sin(np.arange(20_000.0)), np.cos(np.arange(20_000.0))
    want = njit(f)(a, b)
    reports = {}
    for value in (True, False):
        g = njit(parallel={name: value})(f)
        got = g(a, b)
        for x, y in zip(np.atleast_1d(got) if not isinstance(got, tuple) else got, np.atleast_1d(want) if not isinstance(want, tuple) else want):
            np.testing.assert_allclose(x, y, rtol=1e-9)
        reports[value] = str(g.parallel_report())
    assert on in reports[True] and on not in reports[False], reports
    assert off is None or off in reports[False] and off not in reports[True], reports
    # The others change nothing here.
    for other in {c[0] for c in CASES} - {name}:
        g = njit(parallel={other: False})(f)
        g(a, b)
        if other not in ("numpy", "setitem", "reduction", "fusion", "inplace_binop"):
            assert str(g.parallel_report()) == reports[True], other


def test_hoisting_is_taken_and_changes_nothing():
    a = np.arange(100.0)
    reports = set()
    for value in (True, False):
        g = njit(parallel={"hoisting": value})(loops)
        assert g(a, a) == a.sum()
        reports.add(str(g.parallel_report()))
    assert len(reports) == 1


def test_unknown_names_are_refused():
    with pytest.raises(Exception, match="fussion"):
        njit(parallel={"fussion": False})(loops)
