"""Sets at the edge to Python: whose objects stay, what is written back, and that nothing is kept."""

import gc
import sys

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
pytestmark = pytest.mark.isolated
njit = tierup.njit


@njit
def same(s):
    return s


@njit
def add(s, x):
    s.add(x)


@njit
def toggle(s, x):
    if x in s:
        s.remove(x)
    else:
        s.add(x)


@njit
def size(s):
    return len(s)


def test_the_same_set_comes_back_with_the_same_objects():
    words = ["word one", "word two"]
    s = set(words)
    assert same(s) is s and {id(x) for x in s} == {id(x) for x in words}
    add(s, "word three")
    assert s == {*words, "word three"} and {id(x) for x in words} <= {id(x) for x in s}
    f = frozenset(words)
    assert same(f) is f


def test_changes_are_written_back():
    s = {1000, 2000, 3000}
    kept = {x: id(x) for x in s}
    toggle(s, 2000)
    toggle(s, 4000)
    assert s == {1000, 3000, 4000}
    assert all(id(x) == kept[x] for x in s if x != 4000)
    with pytest.raises(KeyError, match="^7$"):
        njit(lambda s: s.add(8) or s.remove(7))(s)
    assert 8 in s


def test_one_set_is_one_set_wherever_it_stands():
    @njit
    def add_to_all(s, ss, d):
        s.add(10)
        ss[0].add(20)
        d["x"].add(30)
        return s is ss[0], d["x"] is s

    s = {1}
    assert add_to_all(s, [s, {2}], {"x": s}) == (True, True)
    assert s == {1, 10, 20, 30}


def test_a_generator_and_python_change_one_set():
    @njit
    def steps(s, n):
        for i in range(n):
            s.add(i)
            yield len(s)

    s = {0}
    g = steps(s, 4)
    assert next(g) == 1 and next(g) == 2 and s == {0, 1}
    s.add(100)
    assert next(g) == 4 and s == {0, 1, 2, 100}
    s.discard(0)
    assert next(g) == 4 and s == {1, 2, 3, 100}


def test_empty_sets_take_the_type_of_another_overload():
    @njit
    def count(s):
        return len(s)

    assert count({1}) == 1 and count(set()) == 0 and count({"a"}) == 1 and count(set()) == 0
    s = {1.5}
    s.clear()
    add({1.5}, 2.5)
    add(s, 2.5)
    assert s == {2.5}


def test_classes_that_derive_from_set_are_refused():
    class Loud(set):
        pass

    with pytest.raises(TypeError, match="compiled code cannot take|Loud"):
        size(Loud([1]))


def test_numpy_scalars_are_elements():
    s = {np.int32(1), np.int32(5)}
    assert size(s) == 2
    out = njit(lambda s: [x for x in s])(s)
    assert sorted(out) == [1, 5]


@pytest.mark.parametrize("elements", [range(1000, 1050), [str(i) * 3 for i in range(50)], [(i, str(i)) for i in range(50)]])
def test_nothing_is_kept(elements):
    @njit
    def work(s, xs):
        t = {x for x in xs}
        u = (s | t) - {xs[0]}
        v = frozenset(u) & s
        for x in list(u)[::2]:
            u.discard(x)
        s.add(xs[0])
        return [u, t], v

    elements = list(elements)
    work(set(elements), elements)
    before = [sys.getrefcount(x) for x in elements]
    for _ in range(100):
        work(set(elements), elements)
    gc.collect()
    assert [sys.getrefcount(x) for x in elements] == before


def test_sets_of_many_elements():
    s = set(range(100_000))
    assert njit(lambda s: sum(s))(s) == sum(range(100_000))
    made = njit(lambda n: {i * 3 % n for i in range(n)})(100_003)
    assert made == set(range(100_003))


def test_iterations_read_one_set():
    @njit(parallel=True)
    def found(s, n):
        out = np.zeros(n, np.int64)
        for i in tierup.prange(n):
            own = {i}
            own.add(i + 1)
            out[i] = (i in s) + len(own)
        return out.sum()

    assert found({1, 5, 7}, 1000) == 2003
