"""What `jit` promises beyond `njit`: numbers that Python would keep apart stay apart, in results, dicts and sets, whether the function is compiled or left to Python."""

import numpy as np
import pytest
from tierup import jit, njit

pytestmark = pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")


def early(n, x):
    if n == 0:
        return 0
    if n == 1:
        return True
    if n == 2:
        return None
    if n == 3:
        return 1j * n
    return x * n


def handled(n, x):
    try:
        return 6 // n
    except ZeroDivisionError:
        return x


def again(n, x):
    if n <= 0:
        return x
    return n + again(n - 1, x)


@pytest.mark.parametrize("f", [early, handled], ids=lambda f: f.__name__)
def test_results_of_several_kinds_of_numbers(f):
    g = jit(f)
    for n in range(5):
        assert repr(g(n, 2.5)) == repr(f(n, 2.5))
    assert not any(o.endswith("Python") for o in str(g.explain()).splitlines()[:2])


def test_results_of_one_kind_are_of_one_type():
    @jit
    def narrow(n, a):
        if n == 0:
            return n
        return a[0]

    assert type(narrow(0, np.arange(1, 4))) is type(narrow(1, np.arange(1, 4))) is int


def test_a_function_that_calls_itself_has_one_type_inside():
    assert jit(again)(3, 0.5) == again(3, 0.5)


def test_callers_in_compiled_code_see_one_type():
    g = jit(early)

    @njit
    def total(n):
        s = 0.0
        for i in range(4, n):
            s += g(i, 0.5)
        return s

    assert total(10) == sum(early(i, 0.5) for i in range(4, 10))


def changed(n, x):
    d = {"n": n, "x": 0.0}
    for i in range(3):
        d["x"] += x
    return d


def filled(n, x):
    d = {}
    for i in range(2):
        d["n"] = n
        d["x"] = x
    return d


def keys(n, x):
    return {n: "a", x: "b"}


def members(n, x):
    return {n, x}, {n, n + 1}


def named(n, x):
    d = dict(n=n, x=x)
    d["n"] += 1
    return d


@pytest.mark.parametrize("f", [changed, filled, keys, members, named], ids=lambda f: f.__name__)
def test_dicts_and_sets_of_several_kinds_of_numbers(f):
    assert repr(jit(f)(3, 2.5)) == repr(f(3, 2.5))


def test_tables_that_begin_with_zeros_are_compiled():
    @jit
    def totals(names, prices):
        d = {}
        for i in range(len(names)):
            d[names[i]] = d.get(names[i], 0) + prices[i]
        return d

    assert totals(["a", "b", "a"], np.array([0.5, 1.5, 2.0])) == {"a": 2.5, "b": 1.5}
    assert "tier: plain Python" not in str(totals.explain())


def read(d):
    return d["n"], f"{d['n']}", d["x"], d


def counted(d):
    total = 0
    for i in range(d["n"]):
        total += i * d["x"]
    return total


def set_here(d):
    d["n"] = 7
    return d["n"], d["x"]


@pytest.mark.parametrize("f", [read, counted, set_here], ids=lambda f: f.__name__)
def test_dicts_of_several_kinds_of_numbers_that_are_passed_in(f):
    g = jit(f)
    for d in [{"n": 2, "x": 2}, {"n": 3, "x": 2.5}, {"n": 3, "x": 2}, {"n": True, "x": 2}, {"x": 0.5, "n": 4}]:
        mine, theirs = dict(d), dict(d)
        assert repr(g(mine)) == repr(f(theirs))
        assert repr(mine) == repr(theirs)


def test_dicts_of_one_kind_stay_the_dict_that_was_passed():
    d = {"n": 0.5, "x": 2.5}
    assert jit(lambda d: d)(d) is d
    assert jit(lambda d: d)(e := {"n": 1, "x": 2.5}) is e


def test_dicts_of_many_shapes_end_with_plain_python():
    @jit
    def first(d):
        for k in d:
            return k, d[k]

    for n in range(300):
        d = {f"k{n}": n, "s": "x"}
        if n % 20 == 0 or n > 290:
            assert first(d) == (f"k{n}", n)
