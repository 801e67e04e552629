"""Values and objects of parallel loops that are written alike: two of one text are one value only while nothing changes what they are read from, and what makes an array twice makes two."""

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
prange = tierup.prange
THREADS = (1, 2, 3)


def agrees(function, *args):
    """The compiled loop does what Python does, or is refused."""
    compiled = tierup.njit(parallel=True)(function)
    plain = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    want = function(*plain)
    before = tierup.get_num_threads()
    try:
        for threads in THREADS:
            tierup.set_num_threads(min(threads, tierup.config.num_threads))
            got = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
            try:
                assert np.array_equal(compiled(*got), want), function.__name__
            except TypeError as e:
                assert "[parallel-race]" in str(e)
                return "refused"
    finally:
        tierup.set_num_threads(before)
    return "same"


def bump(c, i):
    c[i] += 1
    return c[i]


def index_that_changes(c):
    h = np.zeros(3)
    for i in prange(10):
        a = h[c[i] % 3]
        c[i] += 1
        h[c[i] % 3] = a + 1
    return h


def index_that_a_call_changes(c):
    h = np.zeros(3)
    for i in prange(10):
        a = h[c[i] % 3]
        bump(c, i)
        h[c[i] % 3] = a + 1
    return h


def index_that_a_view_changes(c):
    h = np.zeros(3)
    for i in prange(10):
        a = h[c[i] % 3]
        v = c[i:]
        v[0] += 1
        h[c[i] % 3] = a + 1
    return h


def best_of_two_calls(c):
    s = -1
    for i in prange(10):
        x = bump(c, i)
        y = bump(c, i)
        if x > s:
            s = y
    return s


def best_read_twice(c):
    s = -1
    for i in prange(10):
        x = c[i]
        c[i] += 1
        if x > s:
            s = c[i]
    return s


def best_element_read_twice(c):
    h = np.zeros(3)
    for i in prange(10):
        if c[i] > h[i % 3]:
            c[i] += 1
            h[i % 3] = c[i]
    return h


def range_of_two_loads(c):
    low = c[0]
    c[0] += 5
    high = c[0]
    for i in prange(10):
        if c[i] < low:
            low = c[i]
        elif c[i] > high:
            high = c[i]
    return np.array([low, high])


CHANGING = [
    index_that_changes, index_that_a_call_changes, index_that_a_view_changes, best_of_two_calls, best_read_twice,
    range_of_two_loads,
]


@pytest.mark.parametrize("function", CHANGING)
def test_what_changes_in_between_is_another_value(function):
    assert agrees(function, np.arange(10)) == "refused"


def test_an_element_that_is_read_again_is_no_best_one():
    with pytest.warns(tierup.TierupWarning, match="several iterations may write to the same element"):
        tierup.njit(parallel=True)(best_element_read_twice)(np.arange(10))


def best_element(c):
    s = -1
    for i in prange(10):
        if c[i] > s:
            s = c[i]
    return s


def best_of_a_row(c):
    rows, s = c.reshape(5, 2), -1
    for i in prange(5):
        if rows[i].sum() > s:
            s = rows[i].sum()
    return s


def best_root(c):
    s = -1.0
    for i in prange(10):
        if np.sqrt(c[i]) > s:
            s = np.sqrt(c[i])
    return s


def index_beside_other_stores(c):
    h, out = np.zeros(3), np.zeros(10)
    for i in prange(10):
        out[i] = c[i]
        h[c[i] % 3] = h[c[i] % 3] + bump(out, i)
    return h


def best_while_another_array_changes(c):
    out, s = np.zeros(10), -1
    for i in prange(10):
        x = c[i] > s
        out[i] = c[i]
        if x:
            s = c[i]
    return s


@pytest.mark.parametrize("function", [best_element, best_of_a_row, best_root, index_beside_other_stores, best_while_another_array_changes])
def test_what_stays_is_one_value(function):
    assert agrees(function, np.arange(10)) == "same"


MAKERS = ["a.copy()", "np.zeros(6)", "np.ones_like(a)", "np.arange(6.0)", "a * 2", "[0.0] * 6", "np.full(6, 2.0)", "list(a)"]


@pytest.mark.parametrize("maker", MAKERS)
def test_what_is_made_twice_is_two_objects(maker):
    scope = {"np": np, "prange": prange}
    exec(f"""def jacobi(a):
    u = {maker}
    v = {maker}
    for step in range(3):
        for i in prange(1, 5):
            v[i] = (u[i - 1] + u[i] + u[i + 1]) / 3 + a[i]
        for i in prange(1, 5):
            u[i] = v[i - 1] + v[i + 1]
    return np.array([u[k] + v[k] for k in range(6)])
""", scope)
    assert agrees(scope["jacobi"], np.arange(6.0)) == "same"


def made_twice_and_looked_up(a):
    p, q, out = np.zeros(6, np.int64), np.zeros(6, np.int64), np.zeros(6)
    for i in range(6):
        p[i], q[i] = i, 5 - i
    for i in prange(6):
        out[i] = a[p[i]] * 10 + a[q[i]]
    return out


def test_elements_of_two_arrays_made_alike():
    assert agrees(made_twice_and_looked_up, np.arange(6.0)) == "same"


def a_part_that_is_read_twice(a):
    rows = a.reshape(2, 3)
    u = rows[0]
    v = rows[0]
    for i in prange(2):
        u[i] = v[i + 1]
    return a


def test_what_is_read_twice_is_one_object():
    assert agrees(a_part_that_is_read_twice, np.arange(6.0)) == "refused"
