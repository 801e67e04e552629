"""Parallel loops that change an array under a name of which only types tell which array it is: iterations that need one another run in order, others in parallel."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit, prange  # noqa: E402

N = 60_000
IN_ORDER = "another one uses, under another name"


class Pair(NamedTuple):
    a: object
    b: object


@njit
def itself(x):
    return x


@njit
def tail(x):
    return x[1:]


@njit
def put(x, i, v):
    x[i] = v


@njit
def put_at(x, i, shift):
    x[i + shift] = i


@njit
def fill_row(x, i):
    for j in range(x.shape[1]):
        x[i, j] = i + j


@njit
def step(x, i):
    return x[i] + x[i - 1]


@njit
def twice(x):
    x[0] += 1


def of_a_list(x):
    for i in prange(1, x.size):
        [x][0][i] = x[i - 1] + 1


def added_to_one_of_a_list(x):
    for i in prange(1, x.size):
        [x][0][i] += x[i - 1]


def popped(x):
    for i in prange(1, x.size):
        y = [x, x].pop()
        y[i] = x[i - 1] + 1


def of_a_dict(x):
    for i in prange(1, x.size):
        d = {0: x}
        d[0][i] = x[i - 1] + 1


def of_a_tuple(x):
    for i in prange(1, x.size):
        t = (x, x)
        t[0][i] = t[1][i - 1] + 1


def of_a_named_tuple(x):
    for i in prange(1, x.size):
        p = Pair(x, x)
        p.a[i] = p.b[i - 1] + 1


def of_an_inner_loop(x):
    for i in prange(1, x.size):
        for y in (x,):
            y[i] = y[i - 1] + 1


def of_an_inner_loop_over_a_list(x):
    for i in prange(1, x.size):
        for y, z in zip([x], [x]):
            y[i] = z[i - 1] + 1


def split(x):
    for i in prange(1, x.size):
        np.split(x, 1)[0][i] = x[i - 1] + 1


def returned(x):
    for i in prange(1, x.size):
        itself(x)[i] = x[i - 1] + 1


def returned_and_read(x):
    for i in prange(1, x.size):
        y = itself(x)
        y[i] = y[i - 1] + 1


def returned_view(x):
    for i in prange(1, x.size):
        tail(x)[i - 1] = x[i - 1] + 1


def view(x):
    for i in prange(1, x.size):
        x[1:][i - 1] = x[i - 1] + 1


def views_of_the_iteration(x):
    for i in prange(1, x.size):
        x[i:][0] = x[i - 1 :][0] + 1


def reshaped(x):
    for i in prange(1, x.size):
        x.reshape(-1)[i] = x[i - 1] + 1


def reshaped_and_read(x):
    for i in prange(1, x.size):
        y = x.reshape(-1)
        y[i] = y[i - 1] + 1


def raveled(x):
    for i in prange(1, x.size):
        np.ravel(x)[i] = x[i - 1] + 1


def converted(x):
    for i in prange(1, x.size):
        np.asarray(x)[i] = x[i - 1] + 1


def laid_out(x):
    for i in prange(1, x.size):
        np.ascontiguousarray(x)[i] = x[i - 1] + 1


def not_converted(x):
    for i in prange(1, x.size):
        x.astype(np.float64, copy=False)[i] = x[i - 1] + 1


def transposed(x):
    for i in prange(1, x.size):
        x.T[i] = x[i - 1] + 1


def flat(x):
    for i in prange(1, x.size):
        x.flat[i] = x[i - 1] + 1


def chosen(x):
    y = np.zeros(3)
    for i in prange(1, x.size):
        z = x if i % 7 else y
        if i % 7:
            z[i] = x[i - 1] + 1


def by_a_function(x):
    for i in prange(1, x.size):
        put(x, i, x[i - 1] + 1)


def by_functions(x):
    for i in prange(1, x.size):
        put(x, i, step(x, i))


def read_by_a_function(x):
    for i in prange(1, x.size):
        x[i] = step(x, i)


def where_all_write(x):
    for i in prange(1, x.size):
        twice(x)


def shifted_by_a_function(x):
    for i in prange(1, x.size // 2):
        put_at(x, i, 1)
        put_at(x, i, 0)


def ufunc(x):
    for i in prange(1, x.size):
        np.add(x[i - 1 : i], 1, x[i : i + 1])


def copied_to(x):
    for i in prange(1, x.size):
        np.copyto(x[i : i + 1], x[i - 1 : i] + 1)


def filled(x):
    for i in prange(1, x.size):
        x[i : i + 1].fill(x[i - 1] + 1)


def read_as_a_whole(x):
    for i in prange(x.size // 50):
        x[i] = x.sum()


ORDERED = [
    of_a_list,
    added_to_one_of_a_list,
    popped,
    of_a_dict,
    of_a_tuple,
    of_a_named_tuple,
    of_an_inner_loop,
    of_an_inner_loop_over_a_list,
    split,
    returned,
    returned_and_read,
    returned_view,
    view,
    views_of_the_iteration,
    reshaped,
    reshaped_and_read,
    raveled,
    converted,
    laid_out,
    not_converted,
    transposed,
    flat,
    chosen,
    by_a_function,
    by_functions,
    read_by_a_function,
    where_all_write,
    shifted_by_a_function,
    ufunc,
    copied_to,
    filled,
    read_as_a_whole,
]


def rows_by_a_function(x):
    m = x.reshape(-1, 10)
    for i in prange(m.shape[0]):
        fill_row(m, i)


def reshaped_inside(x):
    for i in prange(x.size // 10):
        x.reshape(-1, 10)[i, 3] = i


def same_element(x):
    for i in prange(x.size):
        y = itself(x)
        y[i] = y[i] + 1


def element_by_a_function(x):
    for i in prange(x.size):
        put(x, i, x[i] + 1)


def every_second(x):
    for i in prange(0, x.size - 1, 2):
        put(x, i, x[i + 1])


def pieces(x):
    k = x.size // 100
    for i in prange(100):
        x[i * k : (i + 1) * k].sort()


def pieces_of_a_split(x):
    for i in prange(10):
        np.split(x, 10)[i][:] = i


def row_ufunc(x):
    m = x.reshape(-1, 10)
    for i in prange(m.shape[0]):
        np.multiply(m[i], 2.0, m[i])


def copy_of_its_own(x):
    out = np.zeros(50)
    for i in prange(50):
        y = x[:100].copy()
        y[i] += 1
        out[i] = y.sum()
    x[:50] = out


def list_of_rows(x):
    m = x.reshape(-1, 10)
    for i in prange(m.shape[0]):
        for row in [m[i]]:
            row[0] = i


PARALLEL = [rows_by_a_function, reshaped_inside, same_element, element_by_a_function, every_second, pieces, pieces_of_a_split, row_ufunc, copy_of_its_own, list_of_rows]


def start():
    return np.ones(N)


def compiled(f):
    want = start()
    f(want)
    g = njit(parallel=True)(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tierup.TierupWarning)
        for _ in range(3):
            got = start()
            g(got)
            np.testing.assert_array_equal(got, want)
    return str(g.parallel_report())


@pytest.mark.parametrize("f", ORDERED, ids=lambda f: f.__name__)
def test_iterations_that_need_one_another_run_in_order(f):
    assert IN_ORDER in compiled(f)


@pytest.mark.parametrize("f", PARALLEL, ids=lambda f: f.__name__)
def test_iterations_that_do_not_run_in_parallel(f):
    report = compiled(f)
    assert IN_ORDER not in report and "parallel loop" in report, report
