"""Parallel loops that are given one array, or one list, under two names, or views of one buffer: what they leave is what the plain loop leaves."""

import copy

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit, prange  # noqa: E402

N = 5000
GLOBAL = np.arange(float(N))


@njit
def from_before(a, b, i):
    a[i] = b[i - 1] + 1


# Each takes two arrays, or lists, and how many elements they have.


def before(a, b, n):
    for i in prange(1, n):
        a[i] = b[i - 1] + 1


def behind(a, b, n):
    for i in prange(n - 1):
        a[i] = b[i + 1] * 2 + b[i]


def reversed_(a, b, n):
    for i in prange(n):
        a[i] = b[n - 1 - i]


def first(a, b, n):
    for i in prange(n):
        a[i] = b[0] + i


def by_condition(a, b, n):
    for i in prange(1, n):
        if i % 3:
            a[i] = b[i - 1] + 1


def in_a_function(a, b, n):
    for i in prange(1, n):
        from_before(a, b, i)


def in_an_inner_loop(a, b, n):
    for i in prange(n):
        for j in range(i, min(n, i + 3)):
            a[i] += b[j] * 0.5


def same_index(a, b, n):
    for i in prange(n):
        a[i] = b[i] * 2 + b[i]


def shifted_alike(a, b, n):
    for i in prange(n - 1):
        a[i + 1] = b[i + 1] * 2


def several(a, b, n):
    for i in prange(1, n):
        a[i] += i * 0.5
        b[i] = b[i] * 0.5 + 1


def best_so_far(a, b, n):
    best, at = -1.0, 0
    for i in prange(1, n):
        a[i] = b[i - 1] * 0.5 + 1
        if b[i] > best:
            best = b[i]
            at = i
    return best, at


def one_of_them(a, b, n):
    c = a if n > 3 else b
    for i in prange(1, n):
        c[i] = b[i - 1] + 1


def of_a_tuple(a, b, n):
    both = (a, b)
    for i in prange(1, n):
        both[0][i] = both[1][i - 1] + 1


LOOPS = [before, behind, reversed_, first, by_condition, in_a_function, in_an_inner_loop, same_index, shifted_alike, several, best_so_far, one_of_them, of_a_tuple]


def one():
    x = np.arange(float(N))
    return x, x


def views(first, second):
    def make():
        x = np.arange(3.0 * N)
        return x[first][:N], x[second][:N]

    return make


OPERANDS = {
    "one array": one,
    "one later": views(slice(1, None), slice(None)),
    "one earlier": views(slice(None), slice(1, None)),
    "backwards": lambda: (lambda x: (x, x[::-1]))(np.arange(float(N))),
    "every other": views(slice(None, None, 2), slice(1, None, 2)),
    "other strides": views(slice(None, None, 2), slice(None)),
    "halves": views(slice(0, N), slice(N, 2 * N)),
    "columns": lambda: (lambda x: (x[:, 0], x[:, 1]))(np.arange(2.0 * N).reshape(N, 2)),
    "one column": lambda: (lambda x: (x[:, 1], x[:, 1]))(np.arange(2.0 * N).reshape(N, 2)),
    "numbers of half the size": lambda: (lambda x: (x[::2], x.view(np.float64)))(np.arange(2 * N, dtype=np.float32)),
    "a list": lambda: (lambda x: (x, x))([float(k) for k in range(N)]),
    "two lists": lambda: ([float(k) for k in range(N)], [1.0] * N),
    "two arrays": lambda: (np.arange(float(N)), np.ones(N)),
}


@pytest.mark.parametrize("operands", OPERANDS)
@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_a_loop_with_two_names_leaves_what_the_plain_loop_leaves(loop, operands):
    if loop is one_of_them and operands == "numbers of half the size":
        pytest.skip("no variable holds both")
    make = OPERANDS[operands]
    compiled = njit(parallel=True)(loop)
    expected = make()
    with np.errstate(all="ignore"):
        result = loop(*expected, N)
    for _ in range(2):
        given = make()
        assert compiled(*given, N) == result
        for g, e in zip(given, expected):
            assert np.array_equal(g, e, equal_nan=True)


def test_rows_that_overlap_are_written_in_order():
    def rows(a, b, n):
        for i in prange(1, n):
            a[i, :] = b[i - 1, :] + 1

    def rows_into(a, b, n):
        for i in prange(1, n):
            np.add(b[i - 1], 1, out=a[i])

    for loop in (rows, rows_into):
        expected, given = np.ones((N, 3)), np.ones((N, 3))
        loop(expected[1:], expected[:-1], N - 1)
        njit(parallel=True)(loop)(given[1:], given[:-1], N - 1)
        assert np.array_equal(given, expected)


def test_a_global_array_is_known_under_its_argument_s_name():
    def loop(a, n):
        for i in prange(1, n):
            a[i] = GLOBAL[i - 1] + 1

    start = GLOBAL.copy()
    loop(GLOBAL, N)
    expected = GLOBAL.copy()
    GLOBAL[:] = start
    njit(parallel=True)(loop)(GLOBAL, N)
    assert np.array_equal(GLOBAL, expected)
    GLOBAL[:] = start


def test_names_of_one_array_inside_of_compiled_code_are_noticed():
    step = njit(parallel=True)(before)

    @njit
    def twice(n):
        x = np.arange(float(n))
        step(x, x, n)
        return x

    @njit(parallel=True)
    def view(n):
        x = np.arange(float(n))
        y = x[1:]
        for i in prange(n - 1):
            y[i] = x[i] + 1
        return x

    assert np.array_equal(twice(N), np.arange(float(N)))
    assert np.array_equal(view(N), np.arange(float(N)))


SHARED = "shares memory with another one that they use"


def test_elements_that_pieces_add_up_must_lie_apart_from_what_is_read():
    @njit(parallel=True)
    def histogram(h, k, n):
        for i in prange(n):
            h[k[i]] += 1

    @njit(parallel=True)
    def total(t, a, n):
        for i in prange(n):
            t += a[i]
        return t

    x = np.arange(N) % 7
    with pytest.raises(ValueError, match=SHARED):
        histogram(x, x, N)
    assert np.array_equal(x, np.arange(N) % 7)
    both = np.zeros((N, 2), np.int64)
    both[:, 1] = x
    histogram(both[:, 0], both[:, 1], N)
    assert np.array_equal(both[:, 0][:7], np.bincount(x))
    m = np.ones((N, 3))
    with pytest.raises(ValueError, match=SHARED):
        total(m[-1], m, N)
    assert np.array_equal(total(np.zeros(3), m, N), np.full(3, float(N)))


def test_an_exception_leaves_what_the_plain_loop_leaves_of_one_array():
    def loop(a, b, n):
        for i in prange(1, n):
            a[i] = b[i - 1] + 1
            if a[i] == 3000:
                raise ValueError("far enough")

    expected, given = np.zeros(N), np.zeros(N)
    with pytest.raises(ValueError):
        loop(expected, expected, N)
    with pytest.raises(ValueError):
        njit(parallel=True)(loop)(given, given, N)
    assert np.array_equal(given, expected)


def test_arguments_are_left_alone_where_they_lie_apart():
    """What a copy of the arguments gives is what views that do not overlap give."""
    rng = np.random.default_rng(5)

    def loop(a, b, n, m):
        for i in prange(1, n):
            for j in range(m):
                a[i, j] = b[i - 1, j] + b[i, m - 1 - j]

    compiled = njit(parallel=True)(loop)
    for _ in range(60):
        base = rng.normal(size=(40, 40))
        n, m = (int(k) for k in rng.integers(1, 12, 2))

        def part(array, corner, steps):
            return array[corner[0] :: steps[0], corner[1] :: steps[1]][:n, :m]

        corners, steps = rng.integers(0, 12, (2, 2)), rng.integers(1, 3, (2, 2))
        plain, given = base.copy(), copy.copy(base)
        loop(part(plain, corners[0], steps[0]), part(plain, corners[1], steps[1]), n, m)
        compiled(part(given, corners[0], steps[0]), part(given, corners[1], steps[1]), n, m)
        assert np.array_equal(plain, given), (corners, steps, n, m)
