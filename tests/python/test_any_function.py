"""`jit` on functions that were written without it in mind: what they give is what CPython gives. Each test stands for a family of faults that the tests of packages with all their
functions decorated have shown (`tests/tools/decorated.py`)."""

import collections
import math
import operator
import sys

import numpy as np
import pytest
from harness.calls import same
from tierup import jit
from tierup.typed import List

pytestmark = pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")

BIG = 2**40


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


def power(x, y):
    return x**y


def powers(xs, y):
    seen = {}
    for x in xs:
        seen[x] = x**y
    return seen


def root(xs):
    return [x**0.5 for x in xs]


@pytest.mark.parametrize("f, args", [
    (power, (-8.0, 0.5)), (power, (-8, 0.5)), (power, (-8.0, 2.0)), (power, (2, -1)), (power, (1, -1)), (power, (-1, -3)), (power, (0, -1)), (power, (0.0, -1.5)), (power, (math.nan, 0.5)),
    (power, (-math.inf, 0.5)), (power, (True, -2)), (powers, ([1, 2, 3], -2)), (powers, ([1.0, -2.0], 1.5)), (root, ([4.0, -2.0],)), (root, ([4.0, 2.0],)),
])  # fmt: skip
def test_powers_whose_type_depends_on_values(f, args):
    same(f, *args)


def of_one_name(a, b):
    return math.pow(a, b), pow(a, b), operator.pow(a, b), a**b, math.gcd(a, b), math.lcm(a, b), abs(a), operator.abs(a), math.fabs(a), divmod(a, b)


@pytest.mark.parametrize("args", [(2, 3), (10, 1), (-7, 2), (True, 2), (0, 3)])
def test_functions_of_one_name_in_several_modules(args):
    same(of_one_name, *args)


def displayed(n):
    return [True, n], [n] * 2 + [False], {1: True, 2: n}


def added_to(n):
    xs = [n]
    xs.extend([True])
    xs.insert(0, False)
    xs[1:2] = [n > 2]
    return xs


def flags(n):
    found, count = [False] * n, [0] * n
    found[1] = n > 2
    count[1] += n > 2
    return found, sum(found), found.count(True), count


def as_list(xs):
    return [x for x in xs], list(xs), xs[-1], sorted(v for v in xs if v is not None)


def values(d):
    return list(d.values()), [(k, v) for k, v in d.items()]


def rest(t):
    a, *b = t
    return a, b


def chosen(t, i):
    return t[i]


def larger(a, b):
    return max(a, b), min(a, b), a or b, a and b


def yields_both(n):
    yield n
    yield n > 2


def yielded(n):
    it = yields_both(n)
    return list(yields_both(n)), [str(x) for x in yields_both(n)], next(it), next(it)


class Holds:
    def __init__(self, x):
        self.x = x


Pair = collections.namedtuple("Pair", "a b")


def in_a_field(n):
    h = Holds(n)
    before = str(h.x)
    h.x = n > 2
    return before, str(h.x)


def in_fields_that_meet(n):
    holds, other = Holds(n), Holds(n > 2)
    one = holds if n > 4 else other
    return str(one.x), [str(h.x) for h in [holds, other]], str([Pair(n, True), Pair(False, n)])


def beside_floats(n):
    x = 0.5
    if n > 2:
        x = True
    return str(x), str(x or n > 9), str(n * 0.5 if n > 2 else False)


def inverted(flag, n):
    return ~flag, ~(n > 2), ~(flag and n > 2), [~b for b in [flag, n > 2]]


@pytest.mark.parametrize("f, args", [
    (yielded, (3,)), (in_a_field, (3,)), (in_fields_that_meet, (3,)), (in_fields_that_meet, (5,)), (beside_floats, (1,)), (beside_floats, (5,)), (inverted, (True, 3)), (inverted, (np.True_, 3)),
    (displayed, (3,)), (added_to, (3,)), (flags, (4,)), (as_list, ([True, 2],)), (as_list, ([2, True],)), (as_list, ([None, False, 1],)), (as_list, ((False, 1),)), (as_list, ([1.5, True],)),
    (as_list, ([(1, True), (True, 2)],)), (as_list, ([[1], [True]],)), (as_list, ([True, False],)), (values, ({"a": True, "b": 5},)), (values, ({1: True, 2: 5},)), (rest, ((1, True, 2),)),
    (rest, ((1, "a", 2),)), (rest, ((1, 2, 3),)), (chosen, ((0, True, 2), 1)), (chosen, ([0, True, 2], 1)), (larger, (True, 2)), (larger, (0, False)),
])  # fmt: skip
def test_bools_among_numbers_stay_bools(f, args):
    same(f, *args)


def test_code_for_ints_takes_no_bools_among_them():
    compiled = jit(as_list)
    for xs in ([1, 2], [1, True], [True, 1], [2, 1], [1.5, 2.5], [1.5, False]):
        assert repr(compiled(xs)) == repr(as_list(xs))


def test_generators_of_generators_are_pythons():
    def groups(n):
        for i in range(n):
            yield (j * j for j in range(i))

    def mapped(xs):
        for x in xs:
            yield map(abs, x)

    assert [list(g) for g in jit(groups)(3)] == [[], [0], [0, 1]]
    assert [list(g) for g in jit(mapped)([[-1], [2, -3]])] == [[1], [2, 3]]


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


@pytest.mark.parametrize("f, args", [
    (lambda b: int.from_bytes(b, "big"), (b"\xff" * 16,)), (lambda s: int(s), ("9" * 30,)), (lambda s: int(s, 16), ("f" * 20,)), (lambda x: (int(x), round(x)), (1e30,)),
    (lambda x: (math.floor(x), math.ceil(x), math.trunc(x)), (-1e30,)), (lambda n: math.comb(n, 50), (100,)), (lambda n: (math.factorial(n), math.perm(n, 25)), (30,)),
    (lambda x: x.as_integer_ratio(), (1e30,)), (lambda a, n: round(a, -n), (2**63 - 1, 1)), (lambda x: int(x), (float("inf"),)),
])  # fmt: skip
def test_functions_whose_results_have_more_than_64_bits(f, args):
    same(f, *args)


def test_an_int_of_more_than_64_bits_after_a_small_one():
    f = jit(lambda x: x)
    for x in (1, 2**100, 5, -2**70):
        assert f(x) == x


# ---------------------------------------------------------------- identity

def test_a_number_is_itself():
    nan = float("nan")
    for a, b in ((nan, nan), (1.5, 2.5), (2.5, np.float64(2.5)), (np.float64(2.5), 2.5), (1, np.int64(1)), (complex(nan, 1), complex(2, 1))):
        same(lambda a, b: (a is b, a is not b), a, b)
    same(lambda xs, x: [i for i, y in enumerate(xs) if y is x], [nan, 1.0, nan], nan)


def piped(x, *functions):
    for f in functions:
        x = f(x)
    return x


def set_in_a_branch(x):
    y = x > 3
    if x > 10:
        y = 0
    return y


def set_in_a_loop(n):
    found = 0
    for i in range(n):
        found = i > 2
    return found


def given_in_a_tuple(x):
    if x < 0:
        return "", 0
    return "a", x > 3


@pytest.mark.parametrize("f, args", [
    (given_in_a_tuple, (-1,)), (given_in_a_tuple, (5,)),
    (piped, (1, lambda x: x * 2, lambda x: x % 2 == 0)), (set_in_a_branch, (5,)), (set_in_a_branch, (11,)), (set_in_a_loop, (0,)), (set_in_a_loop, (5,)),
])  # fmt: skip
def test_a_bool_in_a_variable_that_is_an_int_elsewhere(f, args):
    same(f, *args)


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


# ---------------------------------------------------------------- what costs more to carry than it saves

class Tree:
    def __init__(self, value, below=()):
        self.value, self.below = value, list(below)


@pytest.mark.parametrize("f, args", [
    (lambda d, k: d[k], ({k: str(k) for k in range(2000)}, 7)), (lambda xs, k: xs[k], ([(k, str(k)) for k in range(2000)], 7)),
    (lambda t, k: t.below[k].value, (Tree(0, [Tree(k) for k in range(2000)]), 7)),
], ids=["dict", "list", "object"])  # fmt: skip
def test_large_arguments_of_small_functions_go_to_python(f, args):
    # In compiled code nobody has a frame: what Python runs is seen by a profiler.
    compiled, calls = jit(f), []
    sys.setprofile(lambda frame, event, _: calls.append(1) if event == "call" and frame.f_code is f.__code__ else None)
    try:
        assert all(compiled(*args) == f(*args) for _ in range(40))
    finally:
        sys.setprofile(None)
    assert len(calls) > 40 + 20


def test_lists_that_are_computed_with_stay_in_compiled_code():
    @jit
    def work(xs, n):
        s = 0.0
        for _ in range(n):
            for x in xs:
                s += x * 0.5
        return s

    calls, xs = [], [0.5] * 1000
    sys.setprofile(lambda frame, event, _: calls.append(1) if event == "call" and frame.f_code is work.py_func.__code__ else None)
    try:
        for _ in range(60):
            work(xs, 20)
    finally:
        sys.setprofile(None)
    # Python may be tried, and is slower.
    assert len(calls) <= 3


def test_what_python_runs_for_a_while_is_asked_for_again_when_it_has_grown():
    @jit
    def total(xs):
        s = 0
        for x in xs:
            s += x
        return s

    for n in (1, 2, 3, 1000, 5):
        assert [total(list(range(n))) for _ in range(50)] == [sum(range(n))] * 50
