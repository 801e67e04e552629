"""`jit` on functions that were written without it in mind: what they give is what CPython gives. Each test stands for a family of faults that the tests of packages with all their
functions decorated have shown (`tests/tools/decorated.py`)."""

import copy

import numpy as np
import pytest
from tierup import jit
from tierup.typed import List

pytestmark = pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")

BIG = 2**40


def same(f, *args):
    """What a function gives or raises, and its arguments afterwards, as under CPython: at the first call and at later ones."""
    compiled = jit(f)
    for _ in range(4):
        seen = []
        for g in (f, compiled):
            given = copy.deepcopy(args)
            try:
                seen.append((repr(g(*given)), repr(given)))
            except Exception as e:
                seen.append((repr(e), repr(given)))
        assert seen[0] == seen[1]


# ---------------------------------------------------------------- integers of any size

def grown(xs, n):
    for i in range(n):
        xs.append(3**i)
    return sum(xs)


def entered(d, k, v):
    d[k] = d[k] * v
    d["new"] = 3
    return d[k] * v * v


def added(s, n):
    s.add(n)
    s.add(n * n)
    return sorted(s)


class Counter:
    def __init__(self):
        self.x, self.before = BIG, [1]

    def __repr__(self):
        return f"{self.x} {self.before}"


def squared(c):
    c.before.append(c.x)
    c.x = c.x * c.x
    return c.x


@pytest.mark.parametrize("f, args", [(grown, ([1], 70)), (entered, ({"a": BIG}, "a", 2**23)), (added, ({1}, BIG)), (squared, (Counter(),))])
def test_a_call_that_has_changed_copies_alone_runs_again(f, args):
    same(f, *args)


table = {1: BIG}


def test_a_global_dict_is_as_it_was_before_the_call_runs_again():
    @jit
    def scaled(n):
        table[1] = table[1] * n
        return table[1] * n

    for _ in range(4):
        table[1] = BIG
        assert scaled(2**20) == 2**80 and table[1] == 2**60


def test_a_loop_that_has_changed_copies_alone_runs_again():
    def powers(xs, n):
        import sys  # noqa: F401
        for _ in range(n):
            xs[0] = xs[0] * n
        return xs

    same(powers, [7], 100)


def test_what_others_see_is_not_done_twice(capsys):
    @jit
    def stored(a, n):
        a[0] += 1
        return n * n * n

    @jit
    def printed(n):
        print("once")
        return n * n * n

    @jit
    def appended(xs, n):
        xs.append(n)
        return n * n * n

    a, xs = np.zeros(1), List([1])
    for call in (lambda: stored(a, BIG), lambda: printed(BIG), lambda: appended(xs, BIG)):
        with pytest.raises(OverflowError):
            call()
    assert a[0] == 1 and list(xs) == [1, BIG] and capsys.readouterr().out == "once\n"


# ---------------------------------------------------------------- identity

def test_a_number_is_itself():
    nan = float("nan")
    for a, b in ((nan, nan), (1.5, 2.5), (2.5, np.float64(2.5)), (np.float64(2.5), 2.5), (1, np.int64(1)), (complex(nan, 1), complex(2, 1))):
        same(lambda a, b: (a is b, a is not b), a, b)
    same(lambda xs, x: [i for i, y in enumerate(xs) if y is x], [nan, 1.0, nan], nan)


# ---------------------------------------------------------------- containers in containers

def contains_itself(make, put):
    x = make()
    put(x, x)
    return x


@pytest.mark.parametrize("x", [
    contains_itself(list, list.append), contains_itself(dict, lambda d, x: d.update(a=x)), contains_itself(dict, lambda d, x: d.update({"a": [1, x], "b": 2})),
    contains_itself(dict, lambda d, x: d.update({1: (x, [x])})),
], ids=["list", "dict", "dict of several types", "tuple in a dict"])  # fmt: skip
def test_what_contains_itself_is_seen_at_once(x):
    assert jit(lambda x: len(x))(x) == len(x)


def test_a_dict_deep_in_others_is_looked_into_once():
    x = {"a": object()}
    for k in range(40):
        x = {"a": x, "b": k}
    assert jit(lambda x: x["b"])(x) == 39


# ---------------------------------------------------------------- what Python gets

def test_functions_that_are_put_into_objects():
    class Getter:
        def __init__(self, name):
            self.name = name

            def get(x):
                return x * name
            self.get = get

    class Decorated(Getter):
        __init__ = jit(Getter.__init__)

    assert Decorated(3).get(2) == 6

    class Held:
        f = None

    @jit
    def put(h, k):
        h.f = lambda x: x + k

    held = Held()
    put(held, 2)
    assert held.f(3) == 5


# ---------------------------------------------------------------- the class of a decorated function

def test_special_methods_that_are_methods_of_the_class():
    made = []

    class Base:
        @jit
        def __new__(cls, x):
            self = object.__new__(cls)
            self.x = x
            return self

        @jit
        def __init_subclass__(cls, tag=None):
            made.append((cls.__name__, tag))

        @jit
        def __class_getitem__(cls, item):
            return cls.__name__, item

    class Derived(Base, tag=3):
        pass

    assert made == [("Derived", 3)]
    assert Base[int] == ("Base", int) and Derived[str] == ("Derived", str)
    assert Derived(4).x == 4
