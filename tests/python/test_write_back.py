"""What compiled code changes in a Python object that it got is seen in that object: after a call, after an exception, whenever a generator yields."""

import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")


def compiled(f):
    return tierup.njit(f)


def same(f, *makes):
    """The compiled function does to its arguments, and gives, what the function itself does."""
    ours, pythons = [m() for m in makes], [m() for m in makes]
    assert compiled(f)(*ours) == f(*pythons)
    assert ours == pythons
    return ours


# -- lists inside other objects ------------------------------------------------------------------------------------------------------------------


def test_lists_in_tuples_are_written_back():
    def f(pair):
        pair[0].append(3.5)
        pair[1][0] = 7
        return len(pair[0])
    same(f, lambda: ([1.5, 2.5], [1, 2]))


def test_lists_in_nested_tuples_and_lists_are_written_back():
    def f(x):
        x[0][1].append(9)
        x[1][0].append(5)
        x[1].append([8])
        return x[1][0][0]
    same(f, lambda: ((1, [2, 3]), [[4], [6]]))


def test_lists_in_keyword_arguments_are_written_back():
    @tierup.njit
    def f(**kw):
        kw["xs"].append(4)
        return len(kw["xs"])
    xs = [1, 2]
    assert f(xs=xs) == 3 and xs == [1, 2, 4]


def test_one_list_in_several_places_stays_one():
    def f(a, t):
        a.append(1)
        t[0].append(2)
        return a
    xs = [0]
    assert compiled(f)(xs, (xs, 5)) is xs and xs == [0, 1, 2]


def test_what_is_not_changed_keeps_its_identity():
    def f(xs):
        xs[0] = 1.0
    first, second = float("1e300"), float("2e300")
    xs = [first, second]
    compiled(f)(xs)
    assert xs == [1.0, 2e300] and xs[1] is second


def test_many_lists_are_found_again():
    def f(xs):
        for i in range(len(xs)):
            xs[i].append(i)
        xs.append(xs[3])
        return xs[5]
    xs = [[k] for k in range(1000)]
    inner = list(xs)
    assert compiled(f)(xs) is inner[5]
    assert len(xs) == 1001 and xs[1000] is inner[3] and all(a is b for a, b in zip(xs, inner))
    assert inner == [[k, k] for k in range(1000)]


def test_changes_before_an_exception_are_seen_in_tuples():
    @tierup.njit
    def f(pair, n):
        pair[1].append(n)
        if n > 1:
            raise ValueError("late")
    xs = [1]
    with pytest.raises(ValueError, match="late"):
        f((0, xs), 2)
    assert xs == [1, 2]


def test_nothing_is_kept_of_what_was_copied_in():
    class Array(np.ndarray):
        pass

    @tierup.njit
    def f(xs):
        xs.reverse()
        return xs[0]
    arrays = [np.zeros(3).view(Array) for _ in range(3)]
    refs = [weakref.ref(a) for a in arrays]
    first = arrays[2]
    assert f(arrays) is first and arrays[0] is first
    del arrays, first
    gc.collect()
    assert [r() for r in refs] == [None] * 3


# -- generators ----------------------------------------------------------------------------------------------------------------------------------


def steps(f, *makes, between=None):
    """What a generator yields, with the arguments as they are after each step; Python changes them in between."""
    def run(g):
        args = [m() for m in makes]
        seen = []
        for k, v in enumerate(g(*args)):
            seen.append((list(v) if isinstance(v, list) else v, repr(args)))
            if between:
                between(k, *args)
        return seen, repr(args)
    assert run(compiled(f)) == run(f)


def test_a_generator_writes_back_whenever_it_yields():
    def f(xs):
        for i in range(len(xs)):
            xs[i] *= 2
            yield xs[i]
        xs.append(100)
    steps(f, lambda: [1, 2, 3])


def test_a_generator_sees_what_python_changes():
    def f(xs):
        while len(xs) < 6:
            xs.append(len(xs))
            yield sum(xs)

    def between(k, xs):
        if k == 0:
            xs[0] = 50
        if k == 1:
            xs.insert(0, 7)
    steps(f, lambda: [1, 2], between=between)


def test_a_generator_keeps_nested_lists_in_step():
    def f(rows, pair):
        for i in range(3):
            rows[0].append(i)
            rows.append([i])
            pair[1].append(float(i))
            rows[-1].append(9)
            yield len(rows)
            rows[-1].append(10)

    def between(k, rows, pair):
        rows[-1].append(77)
        if k == 1:
            rows.append([5, 5])
    steps(f, lambda: [[1], [2]], lambda: (0, [0.5]), between=between)


def test_a_generator_yields_the_list_that_it_was_given():
    @tierup.njit
    def f(xs):
        for i in range(3):
            xs.append(i)
            yield xs
    xs = [5]
    assert all(v is xs for v in f(xs)) and xs == [5, 0, 1, 2]


def test_a_list_that_a_generator_yields_again_is_one_list():
    def f(n):
        out = [0]
        for i in range(n):
            out.append(i)
            yield out
    pythons, ours = list(f(3)), list(compiled(f)(3))
    assert ours == pythons and all(x is ours[0] for x in ours)


def test_lists_that_a_generator_forgets_are_not_kept():
    @tierup.njit
    def f(n):
        for i in range(n):
            xs = [i, i + 1]
            xs.append(3)
            yield xs
    assert [sum(x) for x in f(2000)] == [2 * i + 4 for i in range(2000)]
    g = f(3)
    first = next(g)
    next(g)
    assert first == [0, 1, 3]


def test_a_generator_writes_back_what_it_changed_before_it_raised():
    @tierup.njit
    def f(xs):
        xs.append(1)
        yield 0
        xs.append(2)
        raise ValueError("late")
    xs = [0]
    g = f(xs)
    assert next(g) == 0 and xs == [0, 1]
    with pytest.raises(ValueError, match="late"):
        next(g)
    assert xs == [0, 1, 2]


def test_a_generator_writes_back_when_it_is_closed():
    @tierup.njit
    def f(xs):
        try:
            yield 1
        finally:
            xs.append(9)
    xs = [1]
    g = f(xs)
    next(g)
    g.close()
    assert xs == [1, 9]


def test_a_generator_refuses_elements_of_another_type():
    @tierup.njit
    def f(xs):
        for i in range(5):
            xs.append(i)
            yield i
    xs = [1]
    g = f(xs)
    next(g)
    xs[0] = "text"
    with pytest.raises(TypeError, match="elements of another type"):
        next(g)


def test_a_generator_frees_what_it_was_given():
    class Row(np.ndarray):
        pass

    @tierup.njit
    def f(xs):
        xs.append(xs[0])
        yield len(xs)
        yield 0
    row = np.zeros(2).view(Row)
    gone = weakref.ref(row)
    xs = [row]
    g = f(xs)
    assert next(g) == 2 and xs[1] is row
    del xs, row, g
    gc.collect()
    assert gone() is None


def test_many_strings_in_lists_outlive_the_lists_that_were_copied():
    # More strings than a call has room for on its stack; the C library looks at its heap after each.
    code = """
from tierup import njit

@njit
def first(names, more):
    return names[0] + more[-1][0]

@njit
def added(names):
    names.append(names[3] + "!")
    return names

for n in range(10, 60):
    names = [f"n{i}" for i in range(n)]
    assert first(names, [names, names[::-1]]) == "n0" + names[-1]
    assert added(list(names)) == names + ["n3!"]
"""
    env = {**os.environ, "MALLOC_CHECK_": "3", "GLIBC_TUNABLES": "glibc.malloc.check=3", "MALLOC_PERTURB_": "165"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# -- what Python does meanwhile ------------------------------------------------------------------------------------------------------------------


HELD = [1]


@tierup.python
def puts_in(n: int) -> int:
    HELD.append(n)
    return len(HELD)


def test_what_python_code_puts_into_a_list_meanwhile_is_not_lost_silently():
    @tierup.njit
    def changes(xs):
        HELD.append(3)
        return puts_in(5)

    @tierup.njit
    def reads(xs):
        return puts_in(5) + len(HELD)

    HELD[:] = [1]
    with pytest.raises(RuntimeError, match="was changed by Python code that it called"):
        changes([0])
    assert HELD == [1, 5]
    assert reads([0]) == 3 + 2 and HELD == [1, 5, 5]


@pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")
def test_rows_are_the_same_dicts_afterwards_where_pythons_answer_is_promised():
    @tierup.jit
    def oldest(rows):
        return max(rows, key=lambda r: r["age"])

    @tierup.jit
    def drop(rows):
        del rows[0]

    @tierup.jit
    def by_name(rows):
        return {r["name"]: r for r in rows}

    @tierup.jit
    def total(rows):
        return sum(r["age"] for r in rows), [r["name"] for r in rows if r["age"] > 30]

    rows = [{"name": "a", "age": 30}, {"name": "b", "age": 40}]
    first, second = rows
    assert oldest(rows) is second and by_name(rows)["a"] is first
    assert total(rows) == (70, ["b"]) and total.signatures
    drop(rows)
    assert rows == [second] and rows[0] is second
def test_a_generator_reads_objects_and_dicts_again():
    class Counter:
        def __init__(self):
            self.n = 0

    @tierup.njit
    def counted(o):
        while o.n < 3:
            yield o.n

    @tierup.njit
    def looked_up(d):
        for k in d:
            yield d[k]
    o, seen = Counter(), []
    for n in counted(o):
        seen.append(n)
        o.n += 1
    assert seen == [0, 1, 2]
    d, seen = {1: 2, 3: 4}, []
    for v in looked_up(d):
        seen.append(v)
        d[3] = 9
    assert seen == [2, 9]
    with pytest.raises(RuntimeError, match="changed size during iteration"):
        for _ in looked_up(d):
            d[5] = 1
