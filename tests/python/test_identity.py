"""Objects that compiled code tells apart by what they are: functions, compiled functions, ufuncs, callbacks, stencils, classes, modules and dtypes are never taken for one another, however soon
the memory of one that was dropped is another's; what compiled code gives back is the very object; and nothing is kept of those that are gone.
"""

import copy
import ctypes
import dataclasses
import enum
import gc
import pickle
import sys
import threading
import types
import weakref
from collections import namedtuple

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
pytestmark = [pytest.mark.isolated, pytest.mark.filterwarnings("ignore")]
njit, vectorize, cfunc, stencil = tierup.njit, tierup.vectorize, tierup.cfunc, tierup.stencil


@pytest.fixture(autouse=True)
def tier_0_alone():
    tierup.config.tier = "0"


def plain(k):
    return lambda x: x + k


def adder(k):
    @njit
    def g(x):
        return x + k
    return g


def recursive(k):
    @njit
    def g(x):
        return k if x <= 0 else g(x - 1) + 1
    return g


def mutual(k):
    @njit
    def even(x):
        return k if x <= 0 else odd(x - 1) + 1

    @njit
    def odd(x):
        return k if x <= 0 else even(x - 1) + 1
    return even


def in_a_namespace(k):
    space = {"njit": njit, "np": np}
    exec(f"@njit\ndef h(x):\n    return x + {k}\n@njit\ndef g(x):\n    return h(x) * int(np.sqrt(1.0))\n", space)
    return space["g"]


MAKERS = {
    "plain functions": plain, "compiled functions": adder, "recursive functions": recursive, "functions that call each other": mutual, "functions with modules of their own": in_a_namespace,
    "ufuncs": lambda k: vectorize(lambda x: x + k), "declared ufuncs": lambda k: vectorize(["int64(int64)"])(lambda x: x + k), "callbacks": lambda k: cfunc("int64(int64)")(lambda x: x + k),
}
CALLERS = {
    "alone": lambda f, x: f(x), "in a tuple": lambda t, x: t[0](x), "in a tuple in a tuple": lambda t, x: t[0][1](x), "in a list": lambda z, x: z[0](x), "in a named tuple": lambda p, x: p.f(x),
    "as *args": lambda *a: a[0](a[1]), "as **kwargs": lambda **k: k["f"](k["x"]), "as an optional": lambda f, x: x if f is None else f(x), "of several": lambda z, x: z[1](x) + z[0](x),
}
Holder = namedtuple("Holder", "f n")


def wrapped(how, f, x):
    """Positional and keyword arguments of a call, and how often the function is called in it."""
    return {"alone": ((f, x), {}, 1), "in a tuple": (((f, 1), x), {}, 1), "in a tuple in a tuple": ((((1, f),), x), {}, 1), "in a list": (([f], x), {}, 1), "in a named tuple": ((Holder(f, 1), x), {}, 1),
            "as *args": ((f, x), {}, 1), "as **kwargs": ((), {"f": f, "x": x}, 1), "as an optional": ((f, x), {}, 1), "of several": (((f, f), x), {}, 2)}[how]


@pytest.mark.parametrize("how", CALLERS)
@pytest.mark.parametrize("what", MAKERS)
def test_functions_that_are_made_and_dropped(what, how):
    make, call, wrong = MAKERS[what], njit(CALLERS[how]), []
    # Recursive functions add their argument as well, step by step.
    for k in range(12 if "ufunc" in what or "callback" in what else 30):
        args, keywords, times = wrapped(how, make(k), 3)
        if call(*args, **keywords) != times * (k + 3):
            wrong.append(k)
        del args, keywords
    assert not wrong
    # Cycles wait for the collector.
    gc.collect()
    assert len(call.signatures) == 0


def test_stencils_that_are_made_and_dropped():
    apply, a = njit(lambda s, a: s(a)), np.arange(5)
    for k in range(10):
        assert apply(stencil(lambda x: x[0] * k + x[0]), a)[2] == 2 * k + 2


def test_memory_is_taken_again_while_compiled_code_is_asked():
    """A dispatcher lies where the last one lay, or there would be nothing to test."""
    call, places = njit(lambda f, x: f(x)), set()
    for k in range(50):
        f = adder(k)
        places.add(id(f))
        assert call(f, 1) == k + 1
        del f
    assert len(places) < 50


def test_classes_that_are_made_and_dropped():
    total, attribute = njit(lambda p: p.x * 10 + p.y), njit(lambda c: c.v)

    def raising(c):
        raise c("text")
    raising = njit(raising)
    for k in range(30):
        first, second = namedtuple("P", "x y"), namedtuple("P", "y x")
        assert total(first(k, 2)) == 10 * k + 2 and total(second(k, 2)) == 20 + k
        c = type("C", (), {"v": k})
        assert attribute(c) == k
        c.v = k + 0.5
        assert attribute(c) == k + 0.5
        e = type("E", (ValueError,), {})
        with pytest.raises(ValueError) as caught:
            raising(e)
        assert type(caught.value) is e
        del first, second, c, e, caught
    gc.collect()
    assert len(total.signatures) == len(attribute.signatures) == len(raising.signatures) == 0


def test_modules_and_dtypes_that_are_made_and_dropped():
    attribute, zeros = njit(lambda m: m.v), njit(lambda t: np.zeros(1, t))
    for k in range(30):
        m = types.ModuleType("m")
        m.v = k
        assert attribute(m) == k
        m.v = k + 100
        assert attribute(m) == k + 100
        t = np.dtype("f8" if k % 2 else "i4", metadata={"k": k})
        assert zeros(t).dtype == t
        del m, t


def test_code_that_is_given_to_a_function():
    call, of_tuple = njit(lambda g: g(1)), njit(lambda t: t[1](1))

    def g(x):
        return x
    for k in range(30):
        space = {}
        exec(f"def h(x, y=0):\n    return x + y + {k}", space)
        g.__code__, g.__defaults__ = space["h"].__code__, (k,)
        del space
        assert call(g) == of_tuple((0, g)) == 2 * k + 1


def test_what_compiled_code_returns_is_the_object():
    f, g = adder(1), njit(adder(2).py_func)
    u, c, s = vectorize(lambda x: x + 1), cfunc("float64(float64)")(lambda x: x + 1), stencil(lambda a: a[0] + a[1])
    cosine = ctypes.CDLL(None).labs
    cosine.argtypes, cosine.restype = [ctypes.c_long], ctypes.c_long
    module, klass = types.ModuleType("m"), type("C", (), {})
    here = f

    def captured():
        return here, (here, [here])

    def default(f=f):
        return f
    same, either, listed, inside = njit(lambda x: x), njit(lambda c, x, y: x if c else y), njit(lambda x: [x, x]), njit(lambda x: ((x, 1), Holder(x, 2)))
    keywords = njit(lambda *a, **k: (a, k))
    for x in (f, f.py_func, g, u, c, s, cosine, module, klass, ValueError, type("E", (KeyError,), {}), np, len):
        assert same(x) is x
        # A module and a function have no common type.
        assert isinstance(x, types.ModuleType) or either(True, x, f) is x and either(False, f, x) is x and either(True, f, x) is f
        (a, _), b = inside(x)
        assert a is x and b.f is x
        assert [y is x for y in listed(x)] == [True, True]
        a, k = keywords(x, y=x)
        assert a[0] is x and k["y"] is x
    one, (two, (three,)) = njit(captured)()
    assert one is two is three is f and njit(default)() is f
    assert f.py_func is not f and same(f.py_func) is f.py_func
    yielded = list(njit(lambda f: (yield f))(f))
    assert yielded[0] is f
    # Which function it is matters, not which code it has.
    two = njit(f.py_func)
    assert same(two) is two and njit(lambda a, b: a is b)(f, two) is False and njit(lambda a, b: a is b)(f, f) is True


def test_options_of_a_compiled_function_are_its_own():
    def body(n):
        s = 0
        for i in tierup.prange(n):
            s += i
        return s
    serial, parallel, call = njit(body), njit(parallel=True)(body), njit(lambda f, n: f(n))
    for _ in range(3):
        assert call(serial, 100) == call(parallel, 100) == 4950
    assert len(call.signatures) == 2


def test_nothing_is_kept_of_functions_that_are_gone():
    call, several = njit(lambda f, x: f(x)), njit(lambda t, x: t[0](x) + t[1](x))
    for make in (plain, adder, recursive, mutual, in_a_namespace):
        f, kept = make(1), make(2)
        gone = [weakref.ref(f), weakref.ref(getattr(f, "py_func", f))]
        assert call(f, 3) == 4 and call(kept, 3) == 5 and several((f, kept), 3) == several((kept, f), 3) == 9
        del f
        gc.collect()
        assert [r() for r in gone] == [None, None]
        assert len(call.signatures) == 1 and len(several.signatures) == 0
        assert call(kept, 3) == 5
        del kept
        gc.collect()
        assert len(call.signatures) == 0


def test_a_caller_that_is_dropped_leaves_what_it_was_passed():
    f = adder(1)

    def once():
        @njit
        def call(g, x):
            return g(x) if x > -5 else call(g, x)
        assert call(f, 1) == 2
        return weakref.ref(call)
    gone = [once() for _ in range(20)]
    gc.collect()
    assert all(r() is None for r in gone) and f(1) == 2


def test_a_generator_outlives_the_function_that_it_was_made_with():
    def make(k):
        a = np.full(1000, k)
        return njit(lambda i: a[i])

    def each(f, n):
        for i in range(n):
            yield f(i)
    each = njit(each)
    made = [(k, each(make(k), 20)) for k in range(20)]
    gc.collect()
    others = [np.full(1000, -1) for _ in range(50)]
    assert [list(g) for _, g in made] == [[k] * 20 for k, _ in made] and len(others) == 50


def test_a_generator_keeps_what_it_was_passed():
    def itself(f):
        yield f
        yield f

    def points(c, f):
        for i in range(2):
            yield c(i, f(i))

    def caught(e, n):
        try:
            raise e("text")
        except e:
            yield n
            yield n + 1
    itself, points, caught, made = njit(itself), njit(points), njit(caught), []
    for k in range(5):
        f, c, e = adder(k), namedtuple("P", "x y"), type("E", (ValueError,), {})
        made.append((k, weakref.ref(f), weakref.ref(c), weakref.ref(e), itself(f), points(c, f), caught(e, k)))
        assert next(made[-1][6]) == k
    del f, c, e
    gc.collect()
    for k, f, c, e, functions, tuples, numbers in made:
        assert [g is f() for g in functions] == [True, True] and [(type(p) is c(), p) for p in tuples] == [(True, (0, k)), (True, (1, k + 1))] and list(numbers) == [k + 1]
    gone = [r for _, f, c, e, *_ in made for r in (f, c, e)]
    del made, f, c, e, functions, tuples, numbers
    gc.collect()
    assert all(r() is None for r in gone)


def test_recompile_and_copies():
    call = njit(lambda f, x: f(x))
    f = adder(5)
    for _ in range(3):
        assert call(f, 1) == 6
        call.recompile()
        f.recompile()
        assert copy.copy(f) is f and copy.deepcopy([f])[0] is f
    again = pickle.loads(pickle.dumps(f))
    assert call(again, 1) == 6 and call(copy.deepcopy((f, 1))[0], 1) == 6
    for k in range(30):
        g = pickle.loads(pickle.dumps(adder(k)))
        assert call(g, 1) == k + 1
        del g


def test_a_pickle_is_what_was_pickled():
    def make(k):
        @njit
        def g(x):
            return x + k

        def change(v):
            nonlocal k
            k = v
        return g, change
    g, change = make(5)
    five = pickle.dumps(g)
    assert pickle.loads(five) is g
    change(7)
    seven = pickle.dumps(g)
    assert pickle.loads(seven) is g and pickle.loads(five)(1) == 6 and pickle.loads(five) is pickle.loads(five)
    change(5)
    assert pickle.loads(seven)(1) == 8 and pickle.loads(five)(1) == g(1) == 6


def test_threads_that_make_and_drop():
    call, wrong = njit(lambda f, x: f(x)), []
    of_class = njit(lambda p: p.x)

    def work(seed):
        for k in range(40):
            n = 1000 * seed + k
            if call(adder(n), 1) != n + 1 or call(plain(n), 1) != n + 1:
                wrong.append(n)
            if of_class(namedtuple("P", "x y" if k % 2 else "y x")(1, 2)) != (1 if k % 2 else 2):
                wrong.append(("class", n))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
    finally:
        sys.setswitchinterval(before)
    gc.collect()
    assert not wrong and len(call.signatures) == 0 and len(of_class.signatures) == 0


def test_a_class_that_is_called_like_numpys_generator_is_none():
    impostor = type("numpy.random._generator.Generator", (), {})()
    with pytest.raises(TypeError):
        njit(lambda r: r.random())(impostor)
    r = np.random.default_rng(1)
    assert njit(lambda r: r.random())(r) == np.random.default_rng(1).random()


def _made_anew():
    """Functions that make an argument whose class nobody else has."""
    def record(k):
        return namedtuple("P", "x y")(k, 2)

    def instance(k):
        class A:
            def __init__(self):
                self.x = k
        return A()

    def value(k):
        return dataclasses.make_dataclass("D", [("x", int)], frozen=True)(k)

    def member(k):
        return enum.Enum("E", {"x": k + 1, "y": k + 2}).x

    return [record, instance, value, member, lambda k: type("M", (), {"x": k}), lambda k: [value(k)], lambda k: {record(k): instance(k)}, lambda k: (record(k), member(k))]


@pytest.mark.parametrize("make", _made_anew())
def test_overloads_are_listed_while_classes_go(make):
    f, before = tierup.jit(lambda x: 1), gc.get_threshold()
    for k in range(4):
        assert f(make(k)) == 1
    try:
        gc.set_threshold(1, 1, 1)
        for _ in range(2):
            repr((f.signatures, f.nopython_signatures, f.overloads, f.explain()))
    finally:
        gc.set_threshold(*before)
