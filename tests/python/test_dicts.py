"""Dicts at the edge to Python: whose objects stay, which are new, in what order, and that nothing is kept."""

import collections
import gc
import math
import sys

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
def touch(d, k, v):
    d[k] = v


@njit
def replace(d, k):
    v = d.pop(k)
    d[k] = v


@njit
def nothing(d):
    return len(d)


def test_the_same_dict_comes_back_with_the_same_objects():
    keys, values = ["key one", "key two"], [[1], [2]]
    d = dict(zip(keys, values))
    assert same(d) is d
    assert all(a is b for a, b in zip(d, keys)) and all(a is b for a, b in zip(d.values(), values))
    touch(d, "key three", [3])
    assert all(a is b for a, b in zip(d, keys)) and all(a is b for a, b in zip(d.values(), values))
    assert list(d) == [*keys, "key three"]


def test_what_was_not_changed_keeps_its_place_and_identity():
    class Loud(dict):
        pass

    d = {float(i): 1000.5 + i for i in range(10)}
    before = {k: (k, v) for k, v in d.items()}
    replace(d, 3.0)
    touch(d, 5.0, 7.25)
    assert list(d) == [0.0, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 3.0] and d[5.0] == 7.25 and d[3.0] == 1003.5
    for k, v in d.items():
        if k not in (3.0, 5.0):
            assert k is before[k][0] and v is before[k][1]
    assert next(k for k in d if k == 5.0) is before[5.0][0]
    with pytest.raises(TypeError, match=r"pass dict\(x\)|compiled code cannot take"):
        nothing(Loud(a=1))


def test_a_dict_that_was_only_read_is_not_written():
    d = {i: (i, str(i)) for i in range(100)}
    values = list(d.values())
    assert nothing(d) == 100
    assert all(a is b for a, b in zip(d.values(), values))


def test_one_dict_is_one_dict_wherever_it_stands():
    @njit
    def set_in_all(d, ds, e):
        d[1] = 10
        ds[0][2] = 20
        e["x"][3] = 30
        return d is ds[0] and d is e["x"]

    d = {0: 0}
    assert set_in_all(d, [d, {5: 5}], {"x": d})
    assert d == {0: 0, 1: 10, 2: 20, 3: 30}


def test_derived_classes_are_refused_with_a_way_out():
    class Own(dict):
        pass

    class OwnCounter(collections.Counter):
        pass

    for made in (Own(a=1), OwnCounter("a")):
        with pytest.raises(TypeError, match=r"pass dict\(x\)"):
            nothing(made)


def test_one_counter_is_one_counter_wherever_it_stands():
    @njit
    def count_all(c, cs, d):
        c["a"] += 1
        cs[0]["b"] += 1
        d["x"]["c"] += 1
        return c is cs[0] and c is d["x"]

    c = collections.Counter()
    c["z"] = 1
    other = collections.Counter(z=2)
    assert count_all(c, [c, other], {"x": c})
    assert type(c) is collections.Counter and c == {"z": 1, "a": 1, "b": 1, "c": 1} and other == {"z": 2}


def test_a_factory_is_part_of_the_type():
    @njit
    def ask(d, k):
        return d[k]

    def seven():
        return 7

    for factory, want in ((int, 0), (seven, 7), (lambda: 3, 3), (int, 0)):
        d = collections.defaultdict(factory, {1: 5})
        assert ask(d, 1) == 5 and ask(d, 2) == want
        assert d == {1: 5, 2: want} and d.default_factory is factory
    with pytest.raises(KeyError, match="2"):
        ask(collections.defaultdict(None, {1: 5}), 2)
    n = 4
    d = collections.defaultdict(lambda: [n], {1: [5]})
    assert ask(d, 2) == [4] and d == {1: [5], 2: [4]}


def test_results_are_of_their_class_and_order():
    @njit
    def make(n):
        o = collections.OrderedDict([(i, i * i) for i in range(n)])
        o.move_to_end(0)
        d = collections.defaultdict(list)
        d[n].append(o)
        return o, d, collections.Counter([n, n])

    o, d, c = make(3)
    assert type(o) is collections.OrderedDict and list(o) == [1, 2, 0]
    assert type(d) is collections.defaultdict and d.default_factory is list and d[3][0] is o
    assert type(c) is collections.Counter and c == {3: 2}
    o.move_to_end(1)
    assert list(o) == [2, 0, 1]


def test_an_ordered_dict_is_read_and_written_in_its_order():
    @njit
    def rotate(o):
        before = list(o)
        k = before[0]
        o.move_to_end(k)
        o[100] = 1
        return before

    o = collections.OrderedDict([(1, 1), (2, 2), (3, 3)])
    o.move_to_end(1)
    assert rotate(o) == [2, 3, 1] and list(o) == [3, 1, 2, 100] and list(reversed(o)) == [100, 2, 1, 3]


def test_dicts_that_have_no_type_are_refused():
    for bad, text in (
        ({1: 2, (1, [2].append): 3}, ""),
        ({1: 2, 1.5: 3}, "keys of a dict argument have different types"),
        ({1: 2, 2: [3]}, "values of a dict argument have different types"),
        ({2**70: 1}, ""),
    ):
        with pytest.raises((TypeError, OverflowError), match=text):
            njit(lambda d: len(d))(bad)
    # What is empty gets its type from what is not.
    assert njit(lambda d: len(d[1]) + len(d[2]))({1: [], 2: [5]}) == 1
    assert njit(lambda d: len(d[1]) + len(d[2]))({1: {}, 2: {5: 6}}) == 1


def test_another_type_is_another_overload():
    f = njit(lambda d, k: d[k])
    assert f({1: 2}, 1) == 2 and f({1: 2.5}, 1) == 2.5 and f({"a": 2}, "a") == 2 and f({1: 2}, 1) == 2
    d = {1: 2, 3: 4.5}
    assert f(d, 1) == 2.0 and f(d, 3) == 4.5 and type(d[1]) is int


def test_numpys_numbers_are_keys():
    @njit
    def count(a):
        d = {}
        for x in a:
            d[x] = d.get(x, 0) + 1
        return d

    for a in (np.array([1, 2, 1]), np.array([1.5, -0.0, 0.0]), np.array([1, 2, 1], np.int8), np.array([True, False])):
        assert count(a) == count.py_func(a)
    assert len(count(np.array([math.nan, math.nan]))) == 1


def test_nothing_is_kept():
    @njit
    def churn(n):
        total = 0
        for i in range(n):
            d = {}
            for j in range(40):
                d[str(j)] = [j]
            e = d.copy()
            del e["3"]
            e.update(d)
            e.pop("4")
            e.setdefault("4", [9])
            e.popitem()
            f = {k: v for k, v in e.items()}
            try:
                total += len(d["not there" + str(i)])
            except KeyError:
                total += 1
            try:
                for k in d:
                    d[k + "x"] = [1]
            except RuntimeError:
                total += 1
            d.clear()
            total += len(f)
        return total

    @njit
    def grow(d):
        d["n" + str(len(d))] = ["x"]
        return d

    @njit
    def made(n):
        return {str(i): (i, str(i)) for i in range(n)}

    def round_of_calls():
        churn(500)
        for _ in range(500):
            grow({str(i): [str(i)] for i in range(20)})
            made(50)
            with pytest.raises(TypeError):
                grow({1: 2})
        gc.collect()

    assert memory.growth(round_of_calls, 2) < 800


def test_counts_of_arguments_stay():
    key, value = "a key of its own", ["a value"]
    d = {key: value}
    for f, args in ((same, ()), (nothing, ()), (touch, (key, ["other"])), (replace, (key,))):
        f({"x": ["y"]}, *(("x", *args[1:]) if args else ()))
        counts = sys.getrefcount(d), sys.getrefcount(key)
        for _ in range(100):
            f(d, *args)
        assert (sys.getrefcount(d), sys.getrefcount(key)) in (counts, (counts[0], counts[1] - 1))
