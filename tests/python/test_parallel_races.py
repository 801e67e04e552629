"""Elements that several iterations of a parallel loop touch: what is a race for certain is an error, what may be one a warning, and correct programs have neither.

Each case is a body with what is expected of it: `fine`, `shared` (each piece has a copy, which are added up), `doubtful` or `race` at the line that ends with `# here`.
"""

import inspect
import warnings

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
prange = tierup.prange
HERE = "# here"


def vector():
    return np.arange(40.0)


def matrix():
    return np.arange(64.0).reshape(8, 8) + np.eye(8) * 100


CASES = []


def case(want, *args):
    def note(function):
        CASES.append((want, args, function))
        return function
    return note


@case("shared", vector)
def remainder_bins(h):
    for i in prange(40):
        h[i % 10] += 1


@case("shared", vector, 40, 2)
def remainder_of_a_quotient(h, n, s):
    for i in prange(0, n, s):
        h[i // 2 % 8] += 1


@case("shared", matrix, 60, 1)
def bins_of_two_indices_downwards(h, n, s):
    for i in prange(n - 1, 0, -s):
        h[i // 2 % 8, i % 3] += 1
        h[i // 2 % 8, i % 3] += i


@case("shared", matrix, 60, 3)
def bins_of_two_indices_between(h, hi, lo):
    for i in prange(hi, lo, -1):
        h[i // 2 % 8, i % 3] += 1


@case("shared", matrix, 60, 1)
def bins_of_two_indices_from_the_step_on(h, n, s):
    for i in prange(s, n - s, s):
        h[i // 2 % 8, i % 3] += 1


@case("shared", vector, 60, 1)
def low_bits_downwards(h, n, s):
    for i in prange(n - 1, s, -s):
        h[i & 15] += 1


@case("shared", vector, 20)
def bins_of_few(h, n):
    for i in prange(3, 12):
        h[i // 2] += 1


@case("fine", vector, 20, 1)
def own_elements_downwards(h, n, s):
    for i in prange(n - 1, 0, -s):
        h[2 * i] += 1
        h[2 * i + 1] += 1


@case("shared", vector, 40)
def quotient_bins(h, n):
    for i in prange(n):
        h[i // 2] += 1


@case("shared", vector, 39)
def neighbours(h, n):
    for i in prange(n):
        h[i] += 1
        h[i+1] += 2


@case("fine", vector, 20)
def pairs_apart(h, n):
    for i in prange(n):
        h[2*i] += 1
        h[2*i+1] += 2


@case("shared", matrix)
def columns(m):
    out = np.zeros(m.shape[1])
    for i in prange(m.shape[0]):
        for j in range(m.shape[1]):
            out[j] += m[i, j]
    return out


@case("shared", vector)
def forces(a):
    n = len(a)
    F = np.zeros(n)
    for i in prange(n):
        for j in range(i + 1, n):
            F[i] += a[j]
            F[j] -= a[i]
    return F


@case("fine", vector, 5, 8)
def flat_image(a, h, w):
    out = np.zeros(h * w)
    for i in prange(h):
        for j in range(w):
            out[i * w + j] += a[i]
    return out


@case("fine", vector, 5, 8)
def flat_colours(a, h, w):
    out = np.zeros(h * w * 3)
    for i in prange(h):
        for j in range(w):
            out[(i * w + j)*3] += a[i]
            out[(i * w + j)*3+1] += a[i]
    return out


@case("race", vector)
def quotient(a):
    for i in prange(len(a)):
        a[i // 2] = i  # here


@case("doubtful", vector)
def low_bits(a):
    for i in prange(len(a)):
        a[i & 3] = i  # here


@case("race", vector)
def low_bits_known(a):
    for i in prange(40):
        a[i & 3] = i  # here


@case("fine", vector)
def few_low_bits(a):
    for i in prange(4):
        a[i & 3] = i


@case("fine", vector)
def few_remainders(a):
    for i in prange(8):
        a[i % 10] = i


@case("race", vector)
def many_remainders(a):
    for i in prange(0, 40):
        a[i % 10] = i  # here


@case("fine", vector)
def every_second_halved(a):
    for i in prange(0, 40, 2):
        a[i // 2] = i


@case("fine", vector, 5)
def quotient_of_the_step(a, s):
    for i in prange(0, 40, s):
        a[i // s] = i


@case("doubtful", vector, 5)
def quotient_of_a_variable(a, s):
    for i in prange(0, 40):
        a[i // s] = i  # here


@case("doubtful", vector)
def quotient_under_a_condition(a):
    for i in prange(len(a)):
        if i % 2 == 0:
            a[i // 2] = i  # here


@case("race", vector)
def one_element(a):
    for i in prange(len(a)):
        a[0] = i  # here


@case("doubtful", vector)
def one_value(a):
    for i in prange(len(a)):
        a[0] = 7  # here


@case("doubtful", vector)
def one_element_at_times(a):
    for i in prange(len(a)):
        if a[i] > 5:
            a[0] = i  # here


@case("fine", matrix)
def row_and_column(m):
    for i in prange(8):
        m[i, 0] = 1
        m[0, i] = 2


@case("race", matrix)
def another_row(m):
    for i in prange(8):
        m[i, 1] = 1  # here
        m[0, i] = 2


@case("race", matrix)
def corner(m):
    for i in prange(8):
        m[i, 0] = m[0, 0] + 1  # here


@case("fine", matrix)
def corner_left_out(m):
    for i in prange(1, 8):
        m[i, 0] = m[0, 0] + 1


@case("race", vector)
def recurrence(a):
    for i in prange(1, len(a)):
        a[i] = a[i-1] + 1  # here


@case("race", vector, 3, 20)
def recurrence_from_anywhere(a, lo, hi):
    for i in prange(lo, hi):
        a[i] = a[i-1] + 1  # here


@case("fine", vector)
def every_other(a):
    for i in prange(1, len(a)-1, 2):
        a[i] = a[i-1] + a[i+1]


@case("fine", vector, 20)
def another_half(a, n):
    for i in prange(n):
        a[i] = a[i+n] + a[i]


@case("fine", vector)
def reversal(a):
    n = len(a)
    for i in prange(n // 2):
        a[i], a[n-1-i] = a[n-1-i], a[i]


@case("race", vector)
def all_others(a):
    for i in prange(len(a)):
        for j in range(len(a)):
            a[i] = a[i] + a[j]  # here


@case("race", matrix)
def in_place_transpose(m):
    n = len(m)
    for i in prange(n):
        for j in range(n):
            m[i, j] = m[j, i] + 1  # here


@case("fine", matrix)
def swapped_triangle(m):
    n = len(m)
    for i in prange(n):
        for j in range(i):
            m[i, j], m[j, i] = m[j, i], m[i, j]


@case("fine", matrix)
def symmetric_triangle(m):
    n = len(m)
    for i in prange(n):
        for j in range(i, n):
            d = float(i + j)
            m[i, j] = d
            m[j, i] = d


@case("doubtful", matrix)
def symmetric_twice(m):
    n = len(m)
    for i in prange(n):
        for j in range(n):
            d = float(i + j)
            m[i, j] = d  # here
            m[j, i] = d


@case("race", matrix)
def common_row(m):
    t = np.zeros(8)
    out = np.zeros(8)
    for i in prange(8):
        for j in range(8):
            t[j] = m[i, j] * i  # here
        out[i] = t[3]
    return out


@case("fine", vector, 5, 8)
def quotient_and_remainder(a, h, w):
    out = np.zeros((h, w))
    for i in prange(h * w):
        out[i // w, i % w] = a[i]


@case("fine", vector, 5, 8)
def decoded(a, h, w):
    out = np.zeros((h, w))
    for k in prange(h * w):
        i = k // w
        j = k - i * w
        out[i, j] = a[k]


@case("fine", vector, 5, 8)
def divmod_decoded(a, h, w):
    out = np.zeros((h, w))
    for k in prange(h * w):
        i, j = divmod(k, w)
        out[i, j] = a[k]


@case("doubtful", vector, np.arange(40))
def scatter(a, p):
    out = np.zeros(40)
    for i in prange(40):
        out[p[i]] = a[i]  # here


@case("fine", vector, np.arange(41))
def segments(a, p):
    out = np.zeros(40)
    for i in prange(40):
        for k in range(p[i], p[i+1]):
            out[k] = a[i]


@case("fine", vector, np.arange(41))
def segment_slices(a, p):
    out = np.zeros(40)
    for i in prange(40):
        out[p[i]:p[i+1]] = a[i]


@case("race", vector)
def overlapping_slices(a):
    for i in prange(38):
        a[i:i+2] = i  # here


@case("fine", vector)
def slices(a):
    for i in prange(10):
        a[i*4:(i+1)*4] = i


@case("fine", vector, 4)
def slices_of_a_variable(a, B):
    for i in prange(10):
        a[i*B:(i+1)*B] = i


@case("fine", vector, 4)
def blocks(a, B):
    for b in prange(10):
        for i in range(b*B, min((b+1)*B, len(a))):
            a[i] = b


@case("fine", vector, 4)
def blocks_added(a, B):
    for b in prange(10):
        for i in range(b*B, (b+1)*B):
            a[i] += b


@case("fine", vector)
def interleaved(a):
    for i in prange(4):
        a[i::4] = i


@case("race", vector)
def whole(a):
    for i in prange(4):
        a[:] = i  # here


@case("fine", matrix)
def functions_of_a_module_on_rows(a):
    text = "left right"
    for i in prange(8):
        np.put(a[i], [1], i)
        a[i, 0] = np.partition(a[i], 2)[2] + len(text.partition(" ")[0])


@case("race", matrix)
def put_into_the_whole(a):
    for i in prange(8):
        np.put(a, [1], i)  # here


@case("race", matrix)
def copied_into_the_whole(a):
    for i in prange(8):
        np.copyto(a, i)  # here


@case("race", vector)
def fill(a):
    for i in prange(4):
        a.fill(i)  # here


@case("race", vector)
def out_argument(a):
    t = np.zeros(40)
    for i in prange(40):
        np.add(a, i, out=t)  # here
        a[i] = t[0]


@case("fine", matrix)
def rows(m):
    for i in prange(8):
        row = m[i]
        for j in range(8):
            row[j] = j


@case("fine", matrix)
def nested(m):
    out = np.zeros((8, 8))
    for i in prange(8):
        for j in prange(8):
            out[i, j] = m[j, i]
    return out


@case("race", matrix)
def nested_columns(m):
    out = np.zeros(8)
    for i in prange(8):
        for j in prange(8):
            out[j] = m[j, i]  # here
    return out


@case("fine", matrix)
def elimination(m):
    k = 0
    for k in range(8):
        for i in prange(k+1, 8):
            m[i, k] = m[i, k] / m[k, k]
            for j in range(k+1, 8):
                m[i, j] -= m[i, k] * m[k, j]


@case("fine", matrix)
def two_arrays(m):
    new = m.copy()
    for t in range(3):
        for i in prange(1, 7):
            for j in range(1, 7):
                new[i, j] = (m[i-1, j] + m[i+1, j] + m[i, j-1] + m[i, j+1]) / 4
        m, new = new, m
    return m


@case("race", matrix)
def in_place_stencil(m):
    for i in prange(1, 7):
        for j in range(1, 7):
            m[i, j] = (m[i-1, j] + m[i+1, j] + m[i, j-1] + m[i, j+1]) / 4  # here
    return m


@case("doubtful", vector)
def red_and_black(a):
    for i in prange(1, len(a)-1):
        if i % 2 == 0:
            a[i] = a[i-1] + a[i+1]  # here


@case("shared", vector)
def search_bins(a):
    h = np.zeros(5)
    e = np.arange(5.0)*10
    for i in prange(len(a)):
        b = 0
        while b < 4 and e[b+1] <= a[i]:
            b += 1
        h[b] += 1
    return h


@case("doubtful", vector)
def least_index(a):
    for i in prange(len(a)):
        a[min(i, 7)] = i  # here


@case("race", vector)
def list_elements(a):
    L = [0] * 40
    for i in prange(len(a)):
        L[i // 2] = i  # here
    return L


@case("fine", vector)
def one_iteration(a):
    for i in prange(1):
        a[0] = i


@case("fine", vector)
def the_last_one(a):
    for i in prange(39):
        a[i] = a[39]


@case("fine", vector)
def backwards(a):
    for i in prange(40):
        a[39 - i] = i


@case("race", vector, 2)
def with_an_offset(a, k):
    for i in prange(36):
        a[k + i // 2] = i  # here


def run(function, args):
    """What it gives and what has become of its arguments."""
    own = [a() if callable(a) else a.copy() if isinstance(a, np.ndarray) else a for a in args]
    return [function(*own), *own]


@case("race", matrix, vector)
def best_that_ends_an_inner_loop(a, h):
    for i in prange(8):
        for j in range(8):
            if a[i, j] > h[0]:
                h[0] = a[i, j]  # here
                break


@case("race", matrix, vector)
def best_whose_array_is_read_elsewhere(a, h):
    for i in prange(8):
        if a[i, 0] > h[3]:
            h[3] = a[i, 0]  # here
        a[i, 1] = h[3]


@case("doubtful", matrix, vector)
def best_that_ends_an_inner_loop_in_some_iterations(a, h):
    for i in prange(8):
        if a[i, 0] > 5:
            for j in range(8):
                if a[i, j] > h[0]:
                    h[0] = a[i, j]  # here
                    break


@case("doubtful", matrix, vector, lambda: np.arange(8) % 3)
def best_of_an_unknown_element_that_ends_an_inner_loop(a, h, k):
    for i in prange(8):
        for j in range(8):
            if a[i, j] > h[k[i]]:
                h[k[i]] = a[i, j]  # here
                break


@case("fine", matrix, vector)
def best_of_each_iteration_that_ends_an_inner_loop(a, h):
    for i in prange(8):
        for j in range(8):
            if a[i, j] > h[i]:
                h[i] = a[i, j]
                break


@case("shared", vector, lambda: np.arange(40) % 7)
def looked_up_and_moved(a, k):
    h = np.zeros(8)
    for i in prange(len(k)):
        h[(i + k[i]) % 8] += 1.0
    return h


@case("shared", vector, lambda: np.arange(40) % 7)
def looked_up_and_masked(a, k):
    h = np.zeros(8, np.int64)
    for i in prange(len(k)):
        h[(i - k[i]) & 7] ^= k[i]
    return h


@case("shared", vector, lambda: np.arange(40) % 7)
def one_of_two_places(a, k):
    h = np.zeros(40)
    for i in prange(len(k)):
        j = i
        if k[i] > 3:
            j = 0
        h[j] += 1.0
    return h


@case("shared", vector, lambda: np.arange(40) % 7)
def one_of_two_places_in_a_line(a, k):
    h = np.zeros(40)
    for i in prange(len(k)):
        h[i if k[i] > 3 else k[i]] += 1.0
    return h


@case("doubtful", vector, lambda: np.arange(8) % 3)
def slices_that_are_looked_up(a, k):
    for i in prange(len(k)):
        a[k[i]:k[i]+2] += 1.0  # here


@case("fine", matrix, lambda: np.arange(9) * 8)
def rows_behind_one_another(m, begin):
    flat = m.ravel()
    for i in prange(8):
        for j in range(begin[i], begin[i+1]):
            flat[j] += 1.0


@case("fine", matrix, lambda: np.arange(9) * 8)
def rows_behind_one_another_in_a_while_loop(m, begin):
    flat = m.ravel()
    for i in prange(8):
        j = begin[i]
        while j < begin[i+1]:
            flat[j] += 1.0
            j += 1


@pytest.mark.parametrize("want, args, function", CASES, ids=[c[2].__name__ for c in CASES])
def test_elements_that_iterations_share(want, args, function):
    compiled = tierup.njit(parallel=True)(function)
    lines, first = inspect.getsourcelines(function)
    marked = [first + k for k, line in enumerate(lines) if HERE in line]
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        if want == "race":
            with pytest.raises(TypeError, match=r"\[parallel-race\]") as caught:
                run(compiled, args)
            assert [caught.value.line] == marked, str(caught.value)
            return
        results = run(compiled, args)
    assert [w.lineno for w in doubts] == marked and bool(marked) == (want == "doubtful"), [str(w.message) for w in doubts]
    if want == "doubtful":
        return
    assert ("elements that are added up" in str(compiled.parallel_report())) == (want == "shared")
    for got, plain in zip(results, run(function, args)):
        assert np.array_equal(got, plain) if isinstance(plain, np.ndarray) else got == plain


@pytest.mark.parametrize("bounds", [lambda n, s: (0, n, s), lambda n, s: (n - 1, 0, -s), lambda n, s: (s, n, s)])
def test_an_unknown_step_may_be_short(bounds):
    up = bounds(9, 2)[2] > 0
    first = bounds(9, 2)[0]

    def neighbours(h, n, s):
        if up:
            for i in prange(s if first else 0, n, s):
                h[i] += 1.5
                h[i + 1] -= i
        else:
            for i in prange(n - 1, 0, -s):
                h[i] += 1.5
                h[i + 1] -= i

    compiled = tierup.njit(parallel=True)(neighbours)
    got, want = np.zeros(302), np.zeros(302)
    compiled(got, 300, 1)
    for i in range(*bounds(300, 1)):
        want[i] += 1.5
        want[i + 1] -= i
    assert np.array_equal(got, want)
    assert "elements that are added up" in str(compiled.parallel_report())
