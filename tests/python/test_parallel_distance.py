"""Iterations far from one another that use the same element: errors, warnings or one thread; and programs that keep them apart, which have none of these."""

import warnings

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
prange = tierup.prange

CASES = []


def vector():
    return np.arange(4096.0)


def matrix():
    return np.arange(1600.0).reshape(40, 40)


def case(want, *args):
    def note(function):
        CASES.append(pytest.param(want, args, function, id=function.__name__))
        return function
    return note


def made(args):
    return [a() if callable(a) else a for a in args]


@case("race", vector)
def mirrored(a):
    for i in prange(len(a)):
        a[i] = a[len(a) - 1 - i]


@case("race", vector)
def mirrored_by_the_shape(a):
    n = a.shape[0]
    for i in prange(len(a)):
        a[i] = a[n - 1 - i]


@case("race", vector)
def mirrored_from_the_end(a):
    for i in prange(len(a)):
        a[i] = a[-1 - i]


@case("race", vector)
def mirrored_by_constants(a):
    for i in prange(4000):
        a[i] = a[3999 - i]


@case("race", vector)
def mirrored_slices(a):
    for i in prange(len(a)):
        a[i:i + 1] = a[len(a) - 1 - i:len(a) - i]


@case("race", vector)
def mirrored_blocks(a):
    n = len(a) // 4
    for i in prange(n):
        a[4 * i:4 * i + 4] = a[4 * (n - 1 - i):4 * (n - i)]


@case("race", matrix)
def mirrored_rows(a):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = a[-1 - i, j]


@case("race", 5000)
def mirrored_in_an_array_of_its_own(n):
    a = np.zeros((n, 2))
    for i in prange(n):
        a[i, 0] = a[-1 - i, 0]
    return a


@case("race", vector)
def from_the_middle(a):
    for i in prange(len(a)):
        a[i] = a[len(a) // 2] + 1


@case("race", vector)
def from_the_last_one(a):
    for i in prange(len(a)):
        a[i] = a[len(a) - 1] + 1


@case("race", vector)
def written_from_both_ends(a):
    n = len(a)
    for i in prange(n):
        a[i] = i
        a[n - 1 - i] = i + 1


@case("race", vector)
def folded(a):
    n = len(a)
    for i in prange(n):
        a[min(i, n - 1 - i)] = i


@case("doubtful", vector)
def a_hundred_further(a):
    for i in prange(len(a) - 100):
        a[i] = a[i + 100]


@case("doubtful", vector)
def further_by_a_default(a, k=100):
    for i in prange(len(a) - k):
        a[i] = a[i + k]


@case("doubtful", vector)
def mirrored_where_a_value_says_so(a):
    for i in prange(len(a)):
        if a[i] > 3:
            a[i] = a[len(a) - 1 - i]


@case("fine", vector)
def swapped(a):
    n = len(a)
    for i in prange(n // 2):
        x = a[i]
        a[i] = a[n - 1 - i]
        a[n - 1 - i] = x


@case("fine", vector)
def swapped_from_the_end(a):
    for i in prange(len(a) // 2):
        x = a[i]
        a[i] = a[-1 - i]
        a[-1 - i] = x


@case("fine", vector, 2048)
def swapped_as_far_as_is_said(a, m):
    n = len(a)
    for i in prange(m):
        x = a[i]
        a[i] = a[n - 1 - i]
        a[n - 1 - i] = x


@case("fine", vector)
def swapped_where_it_comes_first(a):
    n = len(a)
    for i in prange(n):
        j = n - 1 - i
        if i < j:
            x = a[i]
            a[i] = a[j]
            a[j] = x


@case("fine", vector)
def half_of_the_iterations(a):
    n = len(a)
    for i in prange(n):
        if i >= n // 2:
            continue
        a[i] = a[n - 1 - i]


@case("fine", vector, 0.5)
def a_part_that_is_a_float(a, part):
    n = len(a)
    for i in prange(int(n * part)):
        a[i] = a[n - 1 - i]


@case("fine", vector)
def halves(a):
    h = len(a) // 2
    for i in prange(h):
        a[i] = a[i + h]


@case("fine", vector, 100)
def blocks_side_by_side(a, k):
    for i in prange(k):
        a[i] = a[i + k]


@case("fine", vector)
def evens_from_odds(a):
    for i in prange(len(a) // 2 - 1):
        a[2 * i] = a[2 * i + 1] + a[2 * i + 3]


@case("fine", vector)
def red_and_black(a):
    for c in range(2):
        for i in prange(1 + c, len(a) - 1, 2):
            a[i] = a[i - 1] + a[i + 1]


@case("fine", vector)
def between_bounds(a):
    n = len(a)
    for i in prange(1, n - 1):
        a[i] = a[0] + a[n - 1]


@case("fine", vector, vector)
def from_another_array(a, b):
    for i in prange(len(a)):
        a[i] = b[len(b) - 1 - i]


@case("fine", matrix)
def elimination(a):
    n = len(a)
    for k in range(n - 1):
        for i in prange(k + 1, n):
            f = a[i, k] / (a[k, k] + 1)
            for j in range(k, n):
                a[i, j] -= f * a[k, j]


@case("fine", matrix)
def elimination_of_all_other_rows(a):
    n = len(a)
    for k in range(n - 1):
        for i in prange(n):
            if i != k:
                f = a[i, k] / (a[k, k] + 1e6)
                for j in range(k, n):
                    a[i, j] -= f * a[k, j]


@case("fine", matrix)
def transposed(a):
    for i in prange(len(a)):
        for j in range(i):
            x = a[i, j]
            a[i, j] = a[j, i]
            a[j, i] = x


@case("fine", matrix)
def each_row_mirrored(a):
    n = a.shape[1]
    for i in prange(len(a)):
        for j in range(n // 2):
            x = a[i, j]
            a[i, j] = a[i, n - 1 - j]
            a[i, n - 1 - j] = x


@case("fine", vector, 7)
def sorting_network(a, s):
    k = 1 << s
    for i in prange(len(a)):
        j = i ^ k
        if j > i:
            if a[i] > a[j]:
                x = a[i]
                a[i] = a[j]
                a[j] = x


@case("fine", vector, 7)
def butterflies(a, s):
    h = 1 << s
    for k in prange(len(a) // 2):
        j = (k // h) * 2 * h + k % h
        x = a[j]
        a[j] = x + a[j + h]
        a[j + h] = x - a[j + h]


@pytest.mark.parametrize("want, args, function", CASES)
def test_iterations_that_are_far_from_one_another(want, args, function):
    compiled = tierup.njit(parallel=True)(function)
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        got = made(args)
        if want == "race":
            with pytest.raises(TypeError, match=r"\[parallel-race\]"):
                compiled(*got)
            return
        compiled(*got)
    assert [str(w.message) for w in doubts if w.category is not tierup.TierupWarning] == []
    assert bool(doubts) == (want == "doubtful"), [str(w.message) for w in doubts]
    if want == "fine":
        plain = made(args)
        function(*plain)
        assert all(np.array_equal(x, y) for x, y in zip(got, plain))


def by_copyto(a):
    for i in prange(len(a)):
        np.copyto(a[i:i + 1], a[len(a) - 1 - i:len(a) - i])


def by_out(a):
    n = len(a)
    for i in prange(n):
        np.add(a[n - 1 - i:n - i], 0, out=a[i:i + 1])


def by_a_running_sum(a):
    for i in prange(len(a)):
        np.cumsum(a[len(a) - 1 - i:len(a) - i], out=a[i:i + 1])


def by_a_sum(a):
    for i in prange(len(a)):
        np.sum(a[len(a) - 1 - i:len(a) - i], keepdims=True, out=a[i:i + 1])


def by_sums_of_rows(a):
    m = a.reshape(-1, 4)
    for i in prange(len(m)):
        np.cumsum(m[i, 1:], out=m[i, 1:])


def by_flat(a):
    for i in prange(len(a)):
        a[i:i + 1].flat[0] = a[len(a) - 1 - i]


def by_a_real_part(a):
    for i in prange(len(a)):
        a[i:i + 1].real[0] = a[len(a) - 1 - i]


def by_a_transpose(a):
    for i in prange(len(a)):
        a[i:i + 1].T[:] = a[len(a) - 1 - i]


def by_a_shape(a):
    for i in prange(len(a)):
        a[i:i + 1].reshape(1)[0] = a[len(a) - 1 - i]


def by_a_function_of_a_real_part(a):
    for i in prange(len(a)):
        put(a[i:i + 1].real, a[len(a) - 1 - i])


def by_shapes_of_rows(a):
    m = a.reshape(-1, 4)
    for i in prange(len(m)):
        m[i].reshape(2, 2).T[0, 1] = m[i, 3] + i


def by_shapes_of_blocks(a):
    for i in prange(len(a) // 4):
        a[4 * i:4 * i + 4].reshape(2, 2)[0] = a[4 * i + 3]


def by_fill(a):
    for i in prange(len(a)):
        a[i:i + 1].fill(a[len(a) - 1 - i])


def by_put(a):
    for i in prange(len(a)):
        np.put(a[i:i + 1], [0], [a[len(a) - 1 - i]])


def by_place(a):
    for i in prange(len(a)):
        np.place(a[i:i + 1], [True], [a[len(a) - 1 - i]])


def put(v, x):
    v[0] = x


def by_a_function(a):
    for i in prange(len(a)):
        put(a[i:i + 1], a[len(a) - 1 - i])


def swap(a, i, j):
    x = a[i]
    a[i] = a[j]
    a[j] = x


def by_swaps_of_all(a):
    for i in prange(len(a)):
        swap(a, i, len(a) - 1 - i)


def by_the_middle(a):
    for i in prange(len(a)):
        np.copyto(a[i:i + 1], a[len(a) // 2:len(a) // 2 + 1])


def by_swaps_of_halves(a):
    for i in prange(len(a) // 2):
        swap(a, i, len(a) - 1 - i)


def by_halves(a):
    h = len(a) // 2
    for i in prange(h):
        np.copyto(a[i:i + 1], a[i + h:i + h + 1])


def by_evens(a):
    for i in prange(len(a) // 2):
        np.copyto(a[2 * i:2 * i + 1], a[2 * i + 1:2 * i + 2])


def by_blocks(a):
    for i in prange(len(a) // 4):
        a[4 * i:4 * i + 4].fill(i)


APART = [by_sums_of_rows, by_shapes_of_rows, by_shapes_of_blocks, by_swaps_of_halves, by_halves, by_evens, by_blocks]
MEETING = [by_copyto, by_out, by_fill, by_put, by_place, by_a_function, by_swaps_of_all, by_the_middle, by_a_running_sum, by_a_sum,
           by_flat, by_a_real_part, by_a_transpose, by_a_shape, by_a_function_of_a_real_part]


@pytest.mark.parametrize("function", MEETING + APART)
def test_what_calls_change_far_away_is_changed_in_order(function):
    compiled = tierup.njit(parallel=True)(function)
    got, want = vector(), vector()
    compiled(got)
    function(want)
    assert np.array_equal(got, want)
    assert ("runs all iterations in order" in str(compiled.parallel_report())) == (function in MEETING)
