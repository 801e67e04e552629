"""Parallel loops over arrays that lists, dicts and tuples made outside of them hold, that functions far down write to, or that are globals: what they leave is what the plain loop leaves, and those that are safe stay parallel."""

import copy
import warnings

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit, prange  # noqa: E402

N = 60_000
GLOBAL = np.ones(N)
OTHER = np.ones(N)
IN_ORDER = "another one uses, under another name"


@njit
def put(x, i, v):
    x[i] = v


@njit
def put1(x, i, v):
    put(x, i, v)


@njit
def put2(x, i, v):
    put1(x, i, v)


@njit
def put3(x, i, v):
    put2(x, i, v)


@njit
def put4(x, i, v):
    put3(x, i, v)


@njit
def put_global(i, v):
    GLOBAL[i] = v


@njit
def get_global(i):
    return GLOBAL[i - 1]


# Held by what was made outside. Whether a list holds an array twice shows when the loop begins.


def in_a_list(x):
    d = [x, x]
    for i in prange(1, x.size):
        d[0][i] = d[1][i - 1] + 1


def in_a_list_and_itself(x):
    d = [x, x]
    for i in prange(1, x.size):
        d[0][i] = x[i - 1] + 1


def itself_and_in_a_list(x):
    d = [x, x]
    for i in prange(1, x.size):
        x[i] = d[1][i - 1] + 1


def in_two_lists(x):
    d, e = [x, OTHER], [OTHER, x]
    for i in prange(1, x.size):
        d[0][i] = e[1][i - 1] + 1


def put_into_a_list(x):
    d = []
    d.append(x)
    d.append(x)
    for i in prange(1, x.size):
        d[0][i] = d[1][i - 1] + 1


def views_in_a_list(x):
    d = [x[1:], x[:-1]]
    for i in prange(x.size - 1):
        d[0][i] = d[1][i] + 1


def by_number(x):
    d, k = [x, x], x.size % 2
    for i in prange(1, x.size):
        d[k][i] = d[1 - k][i - 1] + 1


def in_a_tuple(x):
    d = (x, x)
    for i in prange(1, x.size):
        d[0][i] = d[1][i - 1] + 1


def a_global(x):
    for i in prange(1, x.size):
        [GLOBAL][0][i] = x[i - 1] + 1


def a_global_by_a_function(x):
    for i in prange(1, x.size):
        put_global(i, x[i - 1] + 1)


def in_a_dict_and_itself(x):
    d = {0: x, 1: x}
    for i in prange(1, x.size):
        d[0][i] = x[i - 1] + 1


def itself_and_in_an_inner_list(x):
    d = [[x], [x]]
    for i in prange(1, x.size):
        x[i] = d[1][0][i - 1] + 1


AT_RUN_TIME = [in_a_dict_and_itself, itself_and_in_an_inner_list, in_a_list, in_a_list_and_itself, itself_and_in_a_list, in_two_lists, put_into_a_list, views_in_a_list, by_number, in_a_tuple, a_global, a_global_by_a_function]


def in_a_dict(x):
    d = {0: x, 1: x}
    for i in prange(1, x.size):
        d[0][i] = d[1][i - 1] + 1


def in_an_inner_list(x):
    d = [[x], [x]]
    for i in prange(1, x.size):
        d[0][0][i] = d[1][0][i - 1] + 1


def in_tuples_of_a_list(x):
    d = [(x, 1), (x, 2)]
    for i in prange(1, x.size):
        d[0][0][i] = d[1][0][i - 1] + 1


def far_down(x):
    for i in prange(1, x.size):
        put4(x, i, x[i - 1] + 1)


def the_global_hidden(x):
    for i in prange(1, x.size):
        [GLOBAL][0][i] = GLOBAL[i - 1] + 1


def the_global_by_functions(x):
    for i in prange(1, x.size):
        put_global(i, get_global(i) + 1)


SEEN = [in_a_dict, in_tuples_of_a_list, in_an_inner_list, far_down, the_global_hidden, the_global_by_functions]


def one_of_many(x):
    d = [x[:600].copy() for _ in range(100)]
    for i in prange(100):
        d[i][0] = i
        d[i][1] = d[i][0]
    x[:600] = d[3]


def layers(x):
    d = [x.copy() for _ in range(4)]
    for k in range(3):
        for i in prange(1, x.size):
            d[k + 1][i] = d[k][i - 1] + d[k][i]
    x[:] = d[3]


def same_index(x):
    d = [x, x]
    for i in prange(x.size):
        d[0][i] = d[1][i] + 1


def list_read(x):
    d = [x.copy(), x.copy()]
    for i in prange(1, x.size):
        x[i] = d[1][i - 1] + d[0][i]


def list_written(x):
    d = [np.zeros(x.size), np.zeros(x.size)]
    for i in prange(1, x.size):
        d[0][i] = x[i - 1]
        d[1][i] = x[i]
    x[:] = d[0]


def dict_written(x):
    d = {0: np.zeros(x.size), 1: np.zeros(x.size)}
    for i in prange(1, x.size):
        d[0][i] = x[i - 1]
    x[:] = d[0]


def far_down_apart(x):
    out = np.zeros(x.size)
    for i in prange(1, x.size):
        put4(out, i, x[i - 1] + 1)
    x[:] = out


def far_down_same_index(x):
    for i in prange(1, x.size):
        put4(x, i, x[i] + 1)


def global_read(x):
    for i in prange(1, x.size):
        x[i] = OTHER[i - 1] + 1


def global_same_index(x):
    for i in prange(1, x.size):
        put_global(i, GLOBAL[i] + 1)


PARALLEL = [one_of_many, layers, same_index, list_read, list_written, dict_written, far_down_apart, far_down_same_index, global_read, global_same_index]


def left(f, given):
    """What a function leaves in its argument and in the globals."""
    GLOBAL[:], OTHER[:] = 1, 1
    x = GLOBAL if given == "global" else np.ones(N)
    f(x)
    return x.copy(), GLOBAL.copy(), OTHER.copy()


def compiled(f):
    given = "global" if "global" in f.__name__ and f is not global_read else "own"
    want = left(f, given)
    g = njit(parallel=True)(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tierup.TierupWarning)
        for _ in range(3):
            for w, got in zip(want, left(g, given)):
                np.testing.assert_array_equal(got, w)
    return str(g.parallel_report())


@pytest.mark.parametrize("f", AT_RUN_TIME, ids=lambda f: f.__name__)
def test_one_array_under_two_names_is_found_when_the_loop_begins(f):
    assert IN_ORDER not in compiled(f)


@pytest.mark.parametrize("f", SEEN, ids=lambda f: f.__name__)
def test_iterations_that_need_one_another_run_in_order(f):
    assert IN_ORDER in compiled(f)


@pytest.mark.parametrize("f", PARALLEL, ids=lambda f: f.__name__)
def test_what_is_safe_stays_parallel(f):
    report = compiled(f)
    assert IN_ORDER not in report and "parallel loop" in report, report


def test_lists_that_come_in_are_looked_into():
    def shifted(d, e):
        for i in prange(1, d[0].size):
            d[0][i] = e[1][i - 1] + d[1][i]

    g = njit(parallel=True)(shifted)
    x, y = np.ones(N), np.ones(N)
    for d, e in (([x, y], [x, y]), ([x, y], [y, x]), ([x, x], [y, y]), ([x, y], [y, y])):
        lists = copy.deepcopy((d, e))
        shifted(*lists)
        got = copy.deepcopy((d, e))
        g(*got)
        for want, have in zip(lists, got):
            np.testing.assert_array_equal(have, want)
