"""Where `jit` meets Python: what runs while arguments are looked at, memory and containers that others hold, generators that Python drives, what is decorated, and what is asked of
objects. What compiled code cannot answer as Python does Python answers."""

import array
import functools
import operator
import subprocess
import sys

import numpy as np
import pytest
from harness.calls import same
from tierup import jit, njit
from tierup.errors import TierupWarning

pytestmark = pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")


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


# ---------------------------------------------------------------- what is asked of objects

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
