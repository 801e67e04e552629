"""`jit` on functions that were written without it in mind: what they give is what CPython gives. Each test stands for a family of faults that the tests of packages with all their
functions decorated have shown (`tests/tools/decorated.py`)."""

import array
import collections
import copy
import functools
import math
import operator
import subprocess
import sys

import numpy as np
import pytest
from tierup import jit, njit
from tierup.errors import TierupWarning
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


# ---------------------------------------------------------------- special methods that are called while arguments are looked at

LOOKED_AT = {
    "getattribute": """
class N:
    @jit
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)
n = N()
n.y = 4
print(n.y, n.y)
""",
    "getattribute of a metaclass": """
class M(type):
    @jit
    def __getattribute__(cls, name):
        return type.__getattribute__(cls, name)
class N(metaclass=M):
    y = 3
print(N.y, N.y)
""",
    "get of a descriptor": """
class Described:
    @jit
    def __get__(self, instance, owner):
        return 5
class N:
    __doc__ = Described()
print(N.__doc__, N().__doc__)
""",
    "mro": """
class M(type):
    @jit
    def mro(cls):
        return type.mro(cls)
class N(metaclass=M):
    y = 3
print(N.y, N.__mro__[1:])
""",
    "builtins": """
class G(dict):
    @jit
    def __getitem__(self, key):
        raise KeyError(key)
for space in ({"__builtins__": G()}, {}), ({}, G()):
    try:
        print(eval("z", *space))
    except NameError as e:
        print(e)
""",
}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_special_methods_that_types_are_found_by(name, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import warnings\nwarnings.simplefilter('ignore')\nfrom tierup import jit\n" + LOOKED_AT[name])
    plain = tmp_path / "plain.py"
    plain.write_text("jit = lambda f: f\n" + LOOKED_AT[name])
    run = lambda path: subprocess.run([sys.executable, path], capture_output=True, text=True)
    found, expected = run(program), run(plain)
    assert (found.returncode, found.stdout) == (0, expected.stdout), found.stderr


# ---------------------------------------------------------------- memory that others see

def through_a_view(b, m):
    s = 0
    for i in range(len(b)):
        m[i] = i + 1
        s += b[i]
        b[0] = 9
        s += int(m[0])
    return s, bytes(b), bytes(m)


def made_with_a_view(n):
    b = bytearray(n)
    m = memoryview(b)
    s = 0
    for i in range(n):
        m[i] = i + 1
        s += b[i]
        b[0] = s % 256
        s += m[0]
    return s, bytes(b)


def made_with_an_array(n):
    b = bytearray(n)
    a = np.frombuffer(b, dtype=np.uint8)
    s = 0
    for i in range(n):
        a[i] = i + 1
        s += b[i]
    return s, bytes(b)


@pytest.mark.parametrize("view", [memoryview, lambda b: np.frombuffer(b, np.uint8)], ids=["memoryview", "array"])
def test_a_bytearray_beside_a_view_of_its_memory(view):
    compiled = jit(through_a_view)
    apart = bytearray(4), bytearray(4)
    assert compiled(apart[0], view(apart[1])) == through_a_view(bytearray(4), view(bytearray(4)))
    for _ in range(3):
        given, expected = bytearray(4), bytearray(4)
        assert compiled(given, view(given)) == through_a_view(expected, view(expected)) and given == expected


@pytest.mark.parametrize("f", [made_with_a_view, made_with_an_array])
def test_a_bytearray_that_is_made_with_a_view(f):
    same(f, 4)


def push(a):
    a.append(4)
    for x in range(5):
        a.append(x)
    return len(a)


def sum_and_push(a):
    s = 0
    for i in range(len(a)):
        s += a[i]
    a.append(s)
    return s


@pytest.mark.parametrize("f", [push, sum_and_push])
def test_arrays_are_resized_by_what_python_runs(f):
    same(f, array.array("i", [1, 2]))


# ---------------------------------------------------------------- generators that Python drives

@pytest.mark.parametrize("extra", ["s", 2.5, None, 2**70, [1]], ids=repr)
def test_a_list_of_a_generator_holds_what_its_owner_puts_in(extra):
    def g(xs):
        xs.append(1)
        yield 1
        xs.append(2)
        yield 2

    def drive(g):
        xs = [0]
        it = g(xs)
        next(it)
        xs.append(extra)
        return [*it, xs]

    assert drive(jit(g)) == drive(g)


def test_a_generator_sees_what_its_owner_changes():
    class Counter:
        def __init__(self):
            self.n = 0

    def counted(o):
        while o.n < 3:
            yield o.n

    def scanned(xs):
        i = 0
        while i < len(xs):
            yield xs[i]
            i += 1

    def looked_up(d):
        for k in d:
            yield k, d[k]

    def drive(g, o, change):
        out = []
        try:
            for v in g(o):
                out.append(v)
                change(o, v)
                if len(out) > 6:
                    break
        except RuntimeError as e:
            out.append(repr(e))
        return out

    def count(o, _):
        o.n += 1

    for f, make, change in [
        (counted, Counter, count),
        (scanned, lambda: [1], lambda xs, v: xs.append(v + 1) if len(xs) < 4 else None),
        (scanned, lambda: [1, 2, 3], lambda xs, _: xs.clear()),
        (looked_up, lambda: {1: 2, 3: 4}, lambda d, _: d.update({3: 9})),
        (looked_up, lambda: {1: 2, 3: 4}, lambda d, k: d.update({5: 9})),
    ]:
        assert drive(jit(f), make(), change) == drive(f, make(), change)


# ---------------------------------------------------------------- what is one object

def test_hash_and_text_of_an_object_without_methods_for_them():
    class Plain:
        pass
    o = Plain()
    assert jit(lambda x: hash(x))(o) == hash(o)
    assert jit(lambda x: hash((x, 1)))(o) == hash((o, 1))
    for f in (repr, str):
        assert jit(lambda x: f(x))(o) == f(o)
    assert jit(lambda x: f"{x}")(o) == f"{o}" and jit(lambda x: str([x]))(o) == str([o])


def test_a_class_of_numbers_is_not_its_dtype():
    f = jit(lambda t: t)
    g = jit(lambda t: t is np.float32)
    for t in (np.float32, np.dtype("f4"), np.float64):
        assert f(t) is t and g(t) is (t is np.float32)


# ---------------------------------------------------------------- lists that get shorter while they are searched

class Shortens:
    def __init__(self, xs):
        self.xs = xs

    def __eq__(self, other):
        self.xs.clear()
        return False


@pytest.mark.parametrize("method", ["index", "remove"])
def test_a_list_that_gets_shorter_while_it_is_searched(method):
    code = f"def find(n):\n    xs = []\n    for _ in range(n):\n        xs.append(Shortens(xs))\n    try:\n        xs.{method}(Shortens(xs))\n    except ValueError:\n        return len(xs)\n"
    space = {"Shortens": Shortens}
    exec(code, space)
    same(space["find"], 3)


# ---------------------------------------------------------------- what is decorated


def test_names_of_what_is_positional_only():
    def f(a, b, /, c):
        return a
    for given in ({"a": 1, "b": 2, "c": 3}, {"b": 1}, {"q": 1, "b": 2, "a": 3}, {"q": 1}):
        seen = []
        for g in (f, jit(f), njit(f)):
            with pytest.raises(TypeError) as e:
                g(**given)
            seen.append(str(e.value))
        assert len(set(seen)) == 1


@pytest.mark.parametrize("decorator", [jit, njit])
def test_functools_wraps_over_a_dispatcher(decorator):
    def f(x: int, y: "int" = 2) -> int:
        """Adds."""
        return x + y

    @functools.wraps(f)
    @decorator
    def wrapper(x, y=2):
        return x + y

    assert wrapper(1) == 3 and wrapper(1, 5) == 6 and wrapper.__doc__ == "Adds."
    assert wrapper.__annotations__ == {"x": int, "y": "int", "return": int} and wrapper.__wrapped__ is f
    wrapper.__annotations__ = {}
    assert wrapper.__annotations__ == {} == wrapper.py_func.__annotations__


@pytest.mark.parametrize("decorator", [jit, njit])
def test_defaults_of_a_dispatcher_can_be_set(decorator):
    @decorator
    def f(x, y=2, *, z=3):
        return x + 10 * y + 100 * z

    @decorator
    def caller(x):
        return f(x)

    assert f(1) == 321 == caller(1)
    f.__defaults__ = (5,)
    assert f(1) == 351 == caller(1) and f.__defaults__ == (5,) == f.py_func.__defaults__
    f.__kwdefaults__ = {"z": 4}
    assert f(1) == 451 == caller(1)
    del f.__defaults__
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        f(1)
    assert f.__closure__ is None

    def outer(k):
        @decorator
        def inner(x):
            return x + k
        return inner
    assert outer(7).__closure__[0].cell_contents == 7


def test_defaults_of_what_python_runs_can_be_set():
    @jit
    def f(x, y=2):
        s = 0
        for i in range(3):
            s += i
        return [x, s, y, type("C", (), {}).__name__]
    assert f(1) == [1, 3, 2, "C"]
    f.__defaults__ = (5,)
    assert [f(1) for _ in range(3)] == [[1, 3, 5, "C"]] * 3


# ---------------------------------------------------------------- what is decorated

def test_what_is_no_function_stays_what_it_is():
    class Called:
        def __call__(self, x):
            return x + 1

        def method(self, x):
            return x + 2

    for thing, expected in [
        (functools.lru_cache(lambda x: x + 1), 2), (functools.partial(operator.add, 1), 2), (Called(), 2), (Called().method, 3), (operator.neg, -1),
    ]:
        with pytest.warns(TierupWarning, match="runs as plain Python"):
            decorated = jit(thing)
        assert decorated(1) == expected
    with pytest.raises(TypeError, match="cannot compile"):
        jit(Called)
def answer(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return type(e).__name__, str(e)


def test_what_has_no_hash_is_in_no_set():
    def written(x):
        return x in {3, 4}

    def made(x):
        return {1: 2} in {3}, x

    def in_set(x, s):
        return x in s

    values = [{1: 2}, [1], {1}, (1, [2]), {1: "a", "b": 2}, bytearray(b"a"), np.ones(2), 3, "a", (1, 2), 2.5]
    for f in (written, made):
        for x in values:
            assert answer(jit(f), x) == answer(f, x)
    for x in values:
        for s in ({3}, {3: 4}, {"x": 3, "y": "s"}, frozenset({3})):
            assert answer(jit(in_set), x, s) == answer(in_set, x, s)


def test_bound_methods_are_made_anew_and_equal_where_they_are_of_one_object():
    class A:
        def m(self):
            return 1

        @staticmethod
        def s():
            return 2

        @classmethod
        def c(cls):
            return 3

    def taken(a, b):
        return a.m is a.m, a.m == a.m, a.m == b.m, a.m != b.m, a.s is b.s, a.c is a.c, a.c == b.c

    def kept(a):
        f = a.m
        return f is f, f is a.m, f is not None

    def of_list(x):
        f = x.append
        return f is f, x.append is x.append

    def closures(n):
        def f():
            return n

        g = [f]
        return g[0] is f, f == f

    a, b = A(), A()
    assert answer(jit(taken), a, b) == taken(a, b)
    assert answer(jit(kept), a) == kept(a)
    assert answer(jit(of_list), [1]) == of_list([1])
    assert answer(jit(closures), 2) == closures(2)


def test_objects_stand_for_numbers_in_formats_and_indices():
    class Index:
        def __index__(self):
            return 1

    class Number:
        def __int__(self):
            return 3

        def __float__(self):
            return 2.5

    class Neither:
        pass

    def formatted(x, form):
        if form == 0:
            return "%d" % x
        if form == 1:
            return "%x" % x
        if form == 2:
            return "%5.1f" % x
        if form == 3:
            return "%d %s" % (x, 1)
        return "%c" % x

    def formatted_if_there(d, key):
        return "%d" % d.get(key)

    def indexed(d, key):
        return np.arange(3.0)[d.get(key)] == 1.0

    for x in (Index(), Number(), Neither(), 3):
        for form in range(5):
            assert answer(jit(formatted), x, form) == answer(formatted, x, form)
    for f in (formatted_if_there, indexed):
        assert answer(jit(f), {"a": Index()}, "a") == answer(f, {"a": Index()}, "a")
        assert answer(jit(f), {"a": Neither()}, "a")[0] == answer(f, {"a": Neither()}, "a")[0]
    assert answer(jit(formatted_if_there), {"a": Index()}, "z") == answer(formatted_if_there, {}, "z")


def test_classes_that_are_derived_from_built_in_ones_are_told_from_these():
    class Stack(list):
        kind = "stack"

        def peek(self):
            return self[-1]

    class Whole(int):
        kind = "whole"

    class Real(float):
        pass

    class Text(str):
        kind = "text"

    class Pair(tuple):
        pass

    class Table(np.ndarray):
        pass

    def attributes(x):
        return hasattr(x, "peek"), getattr(x, "kind", None)

    def classes(x):
        return type(x) is list, type(x) is int, type(x).__name__, x.__class__.__name__

    def own(x):
        return type(x) is Stack, issubclass(type(x), Stack)

    plain = [[1], 1, 1.5, "a", (1, 2), np.ones(2)]
    derived = [Stack([1]), Whole(1), Real(1.5), Text("a"), Pair((1, 2)), np.ones(2).view(Table)]
    for f in (attributes, classes, own):
        for xs in (plain + derived, derived + plain):
            compiled = jit(f)
            for x in xs + xs:
                assert answer(compiled, x) == answer(f, x)
