"""Variables that an iteration of a parallel loop sets under one condition and reads under another: each iteration has its own, and none to begin with; where one is missing, the loop runs again in order."""

import inspect
import warnings

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
prange = tierup.prange

A = np.array([1.0, -2.0, 3.0, 0.0, 5.0, -6.0, 7.0])
HERE = "# here"


def same_condition(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        if a[i] > 0:
            t = 2 * a[i]
        if a[i] > 0:
            out[i] = t + 1  # here
    return out


def conditions_that_imply(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        if a[i] > 0:
            t = a[i]
        elif a[i] < 0:
            t = -a[i]
        if a[i] != 0:
            out[i] = t  # here
        else:
            out[i] = -1
    return out


def only_some_set_it(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        if a[i] > 0:
            t = a[i]
        out[i] = t  # here
    return out


def two_of_different_types(a):
    out = np.zeros(len(a))
    n = 0
    for i in prange(len(a)):
        if a[i] > 0:
            t = a[i]
            k = i
        if a[i] > 0.5:
            out[k] = t  # here
            n += 1
    return out, n


def an_array_of_its_own(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        if a[i] > 0:
            t = np.full(3, a[i])
        for j in range(3):
            if a[i] > j:
                out[i] += t[j]  # here
    return out


def one_that_raises(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        if a[i] > 0:
            t = a[i]
        out[i] = 100 // (int(t) - 7)  # here
    return out


def arrays_of_earlier_iterations(a):
    out = np.zeros((len(a), 2))
    for i in prange(len(a)):
        if i % 3 == 0:
            t = np.full(2, a[i])
        out[i] = t  # here
    return out


def inner_loops(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        for j in range(3):
            if a[i] > j:
                t = a[i] * j
            if i > 0:
                out[i] = t  # here
    return out


def with_a_sum(a):
    s, n = 0.0, 0
    for i in prange(len(a)):
        if a[i] != 0:
            t = a[i]
        s += t  # here
        n += 1
    return s, n


def two_variables(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        if a[i] > 0:
            t = a[i]
        if a[i] != 0:
            u = i
        out[i] = t + u  # here
    return out


def onto_what_is_there(a):
    out = np.ones(len(a))
    for i in prange(len(a)):
        if a[i] > 0:
            t = a[i]
        out[i] += t  # here
    return out


def a_list_that_grows(a):
    out = [0.0]
    for i in prange(len(a)):
        if a[i] > 0:
            t = a[i]
        out.append(t)  # here
    return out


def the_one_before(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        if i > 0:
            out[i] = t  # here
        t = a[i]
    return out


def with_a_handler(a):
    out = np.zeros(len(a))
    for i in prange(len(a)):
        try:
            if a[i] > 0:
                t = a[i]
            out[i] = t  # here
        except Exception:
            out[i] = -1
    return out


def set_before_the_loop(a):
    out = np.zeros(len(a))
    t = 0.0
    for i in prange(len(a)):
        if a[i] > 0:
            t = a[i]
        out[i] = t  # here
    return out


def here(f):
    lines, first = inspect.getsourcelines(f)
    return [first + k for k, line in enumerate(lines) if HERE in line]


def compiled(f, *args):
    """The function, with its first result and the lines that it warned of."""
    g = tierup.njit(parallel=True)(f)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = g(*args)
    return g, result, [w.lineno for w in said]


@pytest.mark.parametrize("f", [same_condition, conditions_that_imply, two_of_different_types, an_array_of_its_own], ids=lambda f: f.__name__)
def test_what_each_iteration_sets_itself_is_its_own(f):
    g, first, warned = compiled(f, A)
    assert set(warned) == set(here(f))
    many = np.tile(A, 3000)
    for got, x in ((first, A), (g(many), many)):
        plain = f(x)
        for a, b in zip(got, plain) if isinstance(plain, tuple) else [(got, plain)]:
            assert np.array_equal(a, b)
    assert "UnboundLocalError" in str(g.parallel_report())


ONLY_EARLIER = [only_some_set_it, one_that_raises, arrays_of_earlier_iterations, inner_loops, with_a_sum, two_variables]


@pytest.mark.parametrize("f", ONLY_EARLIER, ids=lambda f: f.__name__)
def test_what_only_an_earlier_iteration_has_set_is_what_the_plain_loop_has(f):
    g, first, warned = compiled(f, A[:6])
    assert set(warned) == set(here(f))
    for x in (A, np.tile(A, 3000), np.abs(A) + 1, -np.abs(A[:1]), A[:0]):
        try:
            plain = f(x)
        except (UnboundLocalError, ZeroDivisionError) as e:
            with pytest.raises(type(e)) as caught:
                g(x)
            assert str(caught.value).replace("cannot access ", "") == str(e).replace("cannot access ", "")
            continue
        got = g(x)
        for a, b in zip(got, plain) if isinstance(plain, tuple) else [(got, plain)]:
            assert np.array_equal(a, b)


@pytest.mark.parametrize("f", [onto_what_is_there, a_list_that_grows], ids=lambda f: f.__name__)
def test_what_may_not_be_done_twice_raises(f):
    positive = np.abs(A) + 1
    g, first, warned = compiled(f, positive)
    assert warned == here(f) and np.array_equal(first, f(positive))
    for n in (1, 3000):
        with pytest.raises(UnboundLocalError, match="local variable 't'"):
            g(np.tile(A, n))


@pytest.mark.parametrize("f", [the_one_before, set_before_the_loop, with_a_handler], ids=lambda f: f.__name__)
def test_what_an_iteration_needs_of_another_is_still_a_race(f):
    with pytest.raises(TypeError, match=r"\[parallel-race\]") as caught:
        tierup.njit(parallel=True)(f)(A)
    assert [caught.value.line] == here(f)


def test_without_parallel_it_is_what_the_plain_loop_gives():
    f = tierup.njit(only_some_set_it)
    assert np.array_equal(f(A), only_some_set_it(A))
