"""Deques at the edge to Python: whose objects stay, which are new, who notices changes, and that nothing is kept."""

import collections
import gc
import sys
from collections import deque

import numpy as np
import pytest
from harness import memory

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.isolated
njit = tierup.njit


@njit
def same(d):
    return d


@njit
def push(d, x):
    d.append(x)


@njit
def push_left(d, x):
    d.appendleft(x)


@njit
def pop_left(d):
    return d.popleft()


@njit
def assign(d, i, x):
    d[i] = x


@njit
def nothing(d):
    return len(d)


@njit
def shift(d, n):
    for _ in range(n):
        d.append(d.popleft())


def objects(d):
    return [id(x) for x in d]


def test_the_same_deque_comes_back_with_the_same_objects():
    parts = [[1], [2], [3]]
    d = deque(parts, 5)
    assert same(d) is d and d.maxlen == 5
    assert all(a is b for a, b in zip(d, parts))
    push(d, [4])
    push_left(d, [0])
    assert d == deque([[0], [1], [2], [3], [4]]) and d.maxlen == 5
    assert all(a is b for a, b in zip(list(d)[1:4], parts))
    push(d, [5])
    assert d == deque([[1], [2], [3], [4], [5]]) and d[0] is parts[0]


def test_what_is_still_there_keeps_its_identity():
    for make in (lambda i: 1000.5 + i, lambda i: f"a text {i}", lambda i: 10**6 + i, lambda i: (10**6 + i, f"{i}"), lambda i: np.full(2, i)):
        items = [make(i) for i in range(20)]
        for maxlen in (None, 20, 40):
            d = deque(items, maxlen)
            pop_left(d)
            pop_left(d)
            assert objects(d) == objects(items[2:])
            push(d, make(100))
            assert objects(d)[:-1] == objects(items[2:])
            push_left(d, make(101))
            assert objects(d)[1:-1] == objects(items[2:])
            assign(d, 5, make(102))
            assert objects(d)[1:5] == objects(items[2:6]) and objects(d)[6:-1] == objects(items[7:])


def test_arrays_in_one_are_those_of_the_caller():
    a, b = np.zeros(3), np.ones(3)

    @njit
    def touch(d):
        d[0][0] = 7.0
        d.rotate(1)
        d.appendleft(d[1])

    d = deque([a, b])
    touch(d)
    assert a[0] == 7.0 and [x is y for x, y in zip(d, (a, b, a))] == [True] * 3


def test_a_deque_that_was_only_read_is_not_written():
    d = deque((i, str(i)) for i in range(100))
    before, it = objects(d), iter(d)
    next(it)
    assert nothing(d) == 100 and objects(d) == before
    next(it)


def test_iterators_of_python_notice_what_cpython_counts_as_a_change():
    d = deque([1, 2, 3])
    it = iter(d)
    next(it)
    assign(d, 1, 20)
    assert next(it) == 20
    shift(d, 3)  # The same elements in the same order, and yet a change.
    assert d == deque([1, 20, 3])
    with pytest.raises(RuntimeError, match="mutated"):
        next(it)


def test_one_deque_is_one_deque_wherever_it_stands():
    @njit
    def put_in_all(d, ds, e):
        d.append(10)
        ds[0].append(20)
        e["x"].append(30)
        return d is ds[0] and d is e["x"], d

    d = deque([0])
    is_one, again = put_in_all(d, [d, deque([5])], {"x": d})
    assert is_one and again is d and d == deque([0, 10, 20, 30])


def test_results_are_deques_of_collections():
    @njit
    def made(n):
        d = deque(range(n), 3)
        return d, [d, deque([7])], {1: d}

    d, (e, f), g = made(5)
    assert type(d) is deque and d == deque([2, 3, 4]) and d.maxlen == 3
    assert d is e and d is g[1] and f == deque([7]) and f.maxlen is None


def test_changes_are_written_where_the_call_raises():
    @njit
    def fails(d):
        d.append(1)
        d.popleft()
        return d[100]

    d = deque([5, 6])
    with pytest.raises(IndexError, match="^deque index out of range$"):
        fails(d)
    assert d == deque([6, 1])


def test_generators_that_change_a_deque_see_what_python_changes():
    @njit
    def drain(d):
        while d:
            yield d.popleft()

    d = deque([1, 2, 3])
    g = drain(d)
    assert next(g) == 1 and d == deque([2, 3])
    d.append(4)
    assert list(g) == [2, 3, 4] and d == deque()

    @njit
    def each(d):
        for x in d:
            if x == 100:
                d.append(x)
            yield x

    # As Python does it: an assignment is no change to who goes through the deque, anything else is.
    d = deque([1, 2, 3])
    g = each(d)
    next(g)
    d[1] = 20
    assert next(g) == 20
    d.rotate(3)
    with pytest.raises(RuntimeError, match="deque mutated during iteration"):
        next(g)


def test_derived_classes_are_refused():
    class Loud(deque):
        pass

    with pytest.raises(TypeError, match="compiled code cannot take"):
        nothing(Loud([1]))


def test_deques_that_have_no_type_are_refused():
    for bad, text in ((deque([1, "a"]), "elements of a deque argument have different types"), (deque([2**70]), "")):
        with pytest.raises((TypeError, OverflowError), match=text):
            njit(lambda d: len(d))(bad)
    # What is empty gets its type from what is not.
    assert njit(lambda d: len(d[0]) + len(d[1]))([deque(), deque([5])]) == 1


def test_another_type_is_another_overload():
    f = njit(lambda d: d[0])
    assert f(deque([2])) == 2 and f(deque([2.5])) == 2.5 and f(deque(["a"])) == "a" and f(deque([3])) == 3
    d = deque([2, 4.5])
    assert f(d) == 2.0 and type(d[0]) is int
    assert f([7]) == 7


def test_global_deques_are_read_and_changed():
    @njit
    def push(x):
        TABLE.append(x)
        return len(TABLE)

    assert push(3) == 3 and list(TABLE) == [1, 2, 3]
    TABLE.popleft()
    assert push(4) == 3 and list(TABLE) == [2, 3, 4]


TABLE = deque([1, 2])


def test_nothing_is_kept():
    @njit
    def churn(n):
        total = 0
        for i in range(n):
            d = deque(maxlen=30)
            for j in range(40):
                d.append([j])
                d.appendleft([-j])
            e = d.copy()
            e.rotate(3)
            del e[4]
            e.insert(7, [1])
            e.extend(d)
            e.extendleft(e)
            e.remove([1]) if [1] in e else None
            e *= 2
            f = e + d
            f[0] = [i]
            try:
                total += f[100][0]
            except IndexError:
                total += 1
            try:
                for x in f:
                    f.append(x)
            except RuntimeError:
                total += 1
            try:
                deque([str(k // (30 - k)) for k in range(40)])
            except ZeroDivisionError:
                total += 1
            while len(d) > 5:
                d.pop()
                d.popleft()
            f.clear()
            total += len(d) + len(f)
        return total

    @njit
    def grow(d):
        d.append("n" + str(len(d)))
        d.popleft()
        return d

    @njit
    def made(n):
        return deque([(i, str(i)) for i in range(n)], n // 2)

    def round_of_calls():
        churn(200)
        for _ in range(300):
            grow(deque([str(i) for i in range(20)]))
            made(50)
            with pytest.raises(TypeError):
                grow(deque([1]))
        gc.collect()

    assert memory.growth(round_of_calls, 2) < 800


def test_counts_of_arguments_stay():
    part = ["a value of its own"]
    for f, args in ((same, ()), (nothing, ()), (push, (["other"],)), (shift, (3,)), (assign, (1, ["x"]))):
        d = collections.deque([part, ["b"], ["c"]], 3)
        f(deque([["x"], ["y"]], 3), *args)
        counts = sys.getrefcount(d), sys.getrefcount(part)
        for _ in range(100):
            f(d, *args)
            if f is push:
                d[0] = part
        assert sys.getrefcount(d) == counts[0] and sys.getrefcount(part) in (counts[1], counts[1] - 1)
