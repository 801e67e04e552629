"""What crosses the boundary and how: identity, ownership, conversion, guards. What functions compute is for the mdtests."""

import contextlib
import gc
import itertools
import subprocess
import sys
import threading
import warnings
import weakref
from collections import namedtuple

import numpy as np
import pytest
from harness.processes import HANG

tierup = pytest.importorskip("tierup")
njit = tierup.njit


@njit
def same(x):
    return x


@njit
def tail(a):
    return a[1:]


# -- arrays --------------------------------------------------------------------------------------------------------------------------------------


def test_an_array_argument_comes_back_as_itself():
    for a in (np.arange(4.0), np.zeros((2, 3), order="F"), np.arange(10)[::-2], np.zeros(0), np.array(3.5), np.zeros((3, 0)), np.broadcast_to(np.arange(3), (2, 3))):
        assert same(a) is a


def test_a_view_has_the_argument_as_base():
    a = np.arange(5)
    v = tail(a)
    assert v.base is a and not v.flags.owndata and v.flags.writeable
    v[0] = 99
    assert a[1] == 99
    frozen = np.arange(5)
    frozen.flags.writeable = False
    assert not tail(frozen).flags.writeable


def test_a_view_keeps_the_argument_alive():
    a = np.arange(5)
    ref, v = weakref.ref(a), tail(a)
    del a
    gc.collect()
    assert ref() is not None and v.tolist() == [1, 2, 3, 4]
    del v
    gc.collect()
    assert ref() is None


def test_misaligned_swapped_and_odd_arrays():
    raw = np.zeros(33, np.uint8)
    a = raw[1:].view(np.float64)
    a[:] = [1, 2, 3, 4]
    assert not a.flags.aligned and same(a) is a and tail(a).tolist() == [2, 3, 4]
    for bad in (np.zeros(2, ">f8"), np.zeros(2, object), np.zeros(2, np.float16), np.zeros(2, "M8[25s]"), np.zeros(2, ">M8[s]"), np.zeros(2, ">U3"), np.zeros(2, [("a", "O")]), np.zeros(2, np.longdouble)):
        with pytest.raises(tierup.TypingError, match="argument 'x' of same.*dtype"):
            same(bad)


def test_subclasses_of_ndarray():
    class Plain(np.ndarray):
        pass
    a = np.arange(3.0).view(Plain)
    assert same(a) is a
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = np.matrix([[1, 2]])
    for strange in (np.ma.masked_array([1, 2]), matrix):
        with pytest.raises(tierup.TypingError, match="np.asarray"):
            same(strange)


def test_a_readonly_array_is_another_type():
    @njit
    def first(a):
        return a[0]
    a = np.arange(3)
    first(a)
    a.flags.writeable = False
    assert first(a) == 0 and len(first.signatures) == 2


# -- scalars -------------------------------------------------------------------------------------------------------------------------------------


def test_integers_up_to_64_bits():
    for x in (0, -1, 2**30, -2**30, 2**62, 2**63 - 1, -2**63, 2**63, 2**64 - 1):
        assert same(x) == x and type(same(x)) is int
    for x in (2**64, -2**63 - 1, 10**40):
        with pytest.raises(OverflowError, match="64 bits"):
            same(x)


def test_scalars_of_every_class():
    for t in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64, np.complex64, np.complex128, np.bool_, np.longlong):
        for x in (t(0), t(1), t(100) if t is not np.bool_ else t(1)):
            assert same(x) == x, t
    assert same(np.int8(-128)) == -128 and same(np.uint64(2**64 - 1)) == 2**64 - 1
    assert same(True) is True and same(None) is None and same(...) is ... and same(1.5 - 2j) == 1.5 - 2j
    assert np.isnan(same(float("nan"))) and str(same(-0.0)) == "-0.0"


def test_subclasses_of_int_and_str_count_as_these():
    import enum

    class Colour(enum.IntEnum):
        RED = 3

    class Name(str):
        pass
    assert same(Colour.RED) == 3 and same(Name("abc")) == "abc"


METHODS = {
    int: ["__add__", "__radd__", "__mul__", "__eq__", "__lt__", "__hash__", "__bool__", "__str__", "__index__", "__getattribute__", "bit_length", "real"],
    float: ["__mul__", "__neg__", "__float__", "__round__", "is_integer"],
    complex: ["__add__", "conjugate"],
    str: ["__add__", "__len__", "__getitem__", "__contains__", "__format__", "upper"],
    list: ["__getitem__", "__len__", "__iter__", "append"],
    tuple: ["__len__", "__iter__", "__eq__", "index"],
}
VALUES = {int: 3, float: 2.5, complex: 1j, str: "ab", list: [1, 2], tuple: (1, 2)}


@pytest.mark.parametrize("base, method", [(base, m) for base, methods in METHODS.items() for m in methods])
def test_subclasses_that_change_what_their_base_does_are_refused(base, method):
    """Their instances would be values of the base; what they define would be passed over."""
    plain, changed = type("Plain", (base,), {"more": 5}), type("Changed", (base,), {method: lambda self, *rest: NotImplemented})
    below = type("Below", (changed,), {})
    value = VALUES[base]

    @njit
    def one(x):
        return 1

    assert one(value) == 1 and one(plain(value)) == 1
    for x in (changed(value), below(value)):
        for argument in (x, (x, 1), [x]):
            with pytest.raises(tierup.TypingError, match=f"{type(x).__name__}.* with {method} of its own"):
                one(argument)

        @njit
        def captured():
            return x
        with pytest.raises(tierup.TypingError, match=f"with {method} of its own"):
            captured()
    assert one(value) == 1


@pytest.mark.parametrize("method", ["__getitem__", "__setitem__", "__add__", "__array_ufunc__", "__array_function__", "__array_wrap__", "__len__", "__iter__", "sum", "shape", "T"])
def test_subclasses_of_ndarray_that_change_arrays_are_refused(method):
    a = np.arange(3.0)
    assert same(a) is a
    with pytest.raises(tierup.TypingError, match=f"{method} of its own"):
        same(a.view(type("Changed", (np.ndarray,), {method: lambda self, *rest: NotImplemented})))
    provenance = a.view(type("Provenance", (np.ndarray,), {"__array_finalize__": lambda self, other: None, "where_from": "file"}))
    assert same(provenance) is provenance


def test_what_a_class_changes_is_looked_up_anew_at_the_address_of_another():
    for k in range(50):
        method = "__add__" if k % 2 else "more"
        x = type("Changed", (int,), {method: lambda self, other: 77})(4)
        if k % 2:
            with pytest.raises(tierup.TypingError, match="__add__"):
                same(x)
        else:
            assert same(x) == 4
        del x


def test_enumerations_of_numbers_and_text():
    import enum

    class Number(enum.IntEnum):
        ONE = 1

    class Changed(enum.IntEnum):
        ONE = 1

        def __add__(self, other):
            return 99

    class Shown(enum.IntEnum):
        ONE = 1

        def __str__(self):
            return "one"

    class Methods(enum.IntEnum):
        ONE = 1

        def more(self):
            return 5

    class Text(str, enum.Enum):
        A = "a"

    for x in (Number.ONE, Changed.ONE, Shown.ONE, Methods.ONE, Text.A):
        assert same(x) is x


def test_strings_of_every_kind():
    for s in ("", "a", "aé", "aж", "a😀", "\ud800", "x" * 1000):
        assert same(s) == s
    s = "argument that comes back"
    assert same(s) is s


# -- tuples, ranges, slices ----------------------------------------------------------------------------------------------------------------------


def test_tuples():
    for t in ((), (1,), (1, 2.5, "x", None, True), ((1, (2, "y")), np.arange(2)), tuple(range(100))):
        got = same(t)
        assert got == t or all(np.all(a == b) for a, b in zip(got, t))
    Point = namedtuple("Point", "x y")
    p = same(Point(1, Point(2.5, "a")))
    assert type(p) is Point and type(p.y) is Point and p == (1, (2.5, "a"))


def test_ranges_and_slices():
    for r in (range(5), range(2, 10, 3), range(10, 0, -1), range(0)):
        assert same(r) == r
    for s in (slice(None), slice(1, 2), slice(None, None, -1), slice(3, None, 2)):
        assert same(s) == s
    with pytest.raises(OverflowError):
        same(range(2**70))


def test_functions_classes_and_modules_are_recognised():
    import math

    def plain():
        return 1
    assert same(plain) is plain and same(math) is math and same(ValueError) is ValueError and same(np.float32) == np.dtype("f4")
    assert len({same(np.dtype(t)) for t in ("f8", "i4", "?")}) == 3


# -- lists ---------------------------------------------------------------------------------------------------------------------------------------


def test_changes_of_a_list_are_seen():
    @njit
    def change(xs):
        xs.append(4.5)
        xs[0] = 10.0
        return xs
    xs = [1.5, 2.5]
    kept = xs[1]
    assert change(xs) is xs and xs == [10.0, 2.5, 4.5] and xs[1] is kept


def test_a_list_that_is_passed_twice_is_one_list():
    @njit
    def both(a, b):
        a.append(1)
        b.append(2)
        return len(a)
    xs = [0]
    assert both(xs, xs) == 3 and xs == [0, 1, 2]


def test_nested_lists_keep_their_identity():
    @njit
    def change(rows):
        rows[0].append(9)
        rows.append(rows[1][:])
        return rows[0]
    inner = [1, 2]
    rows = [inner, [3], inner]
    assert change(rows) is inner and rows == [[1, 2, 9], [3], [1, 2, 9], [3]] and rows[0] is inner and rows[2] is inner


def test_lists_shrink_and_change_before_an_exception():
    @njit
    def shrink(xs):
        xs.pop()
        xs.pop()
        if len(xs) == 1:
            raise ValueError("now")
        return len(xs)
    xs = [1, 2, 3, 4]
    assert shrink(xs) == 2 and xs == [1, 2]
    xs = ["a", "b", "c"]
    with pytest.raises(ValueError, match="now"):
        shrink(xs)
    assert xs == ["a"]


def test_mixed_numbers_and_other_elements():
    assert same([1, 2.5]) == [1, 2.5]
    for xs in ([True, False], ["a", "bc"], [(1, "x"), (2, "y")], [None, 3], [1j, 2]):
        if xs[0] is not None:
            assert same(xs) is xs
    mixed = [1, "a", None, 2.5, True, (1, b"x")]
    assert same(mixed) is mixed and [type(x) for x in mixed] == [int, str, type(None), float, bool, tuple]
    with pytest.raises(tierup.TypingError, match="different types"):
        same([1, [2]])
    rows = [[]]
    assert same(rows) is rows


def test_what_fills_an_empty_list_is_code_for_lists_of_that():
    @njit
    def push(xs, ys, n):
        xs.append(n)
        ys.append(n)
        return len(xs) + len(ys)
    for xs in ([], [1]):
        for ys in ([], [2]):
            assert push(list(xs), list(ys), 3) == len(xs) + len(ys) + 2
    assert len(push.signatures) == 1
    assert push([], ["a"], "b") == 3 and push(["a"], [], "b") == 3


@pytest.mark.parametrize("order", list(itertools.permutations(["[]", "[1]", "[0.5]", "['a']", "[[]]", "[[2]]"], 3)), ids=" ".join)
def test_no_call_changes_what_another_one_gives(order):
    def measure(xs):
        n = 0
        for x in xs:
            n += len(str(x))
        return n, xs[:1], [x for x in xs], xs + xs, min(xs, default=None) if len(xs) < 2 else None
    f = njit(measure)
    for text in (*order, *order):
        want, got = measure(eval(text)), f(eval(text))
        assert repr(got) == repr(want)


def test_empty_arguments_of_threads():
    @njit
    def push(xs, x):
        xs.append(x)
        return xs[0]
    gone = []

    def run(k):
        try:
            for i in range(200):
                x = [k, k * 0.5, str(k)][i % 3]
                xs = []
                assert push(xs, x) == x and xs == [x] and type(xs[0]) is type(x)
        except BaseException as e:
            gone.append(e)
    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not gone


def test_a_function_that_is_left_to_python_is_compiled_for_empty_lists():
    @tierup.jit
    def size(xs):
        return len(xs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert size([]) == 0 and size([1]) == 1 and size({}) == 0
    assert len(size.signatures) == 3


def test_an_empty_argument_that_must_hold_something_has_the_default():
    @njit
    def bits(xs):
        return np.bincount(xs, minlength=2)
    assert bits([]).tolist() == np.bincount([], minlength=2).tolist()
    assert bits([1]).tolist() == [0, 1]


def test_a_list_of_floats_does_not_take_a_list_of_ints():
    @njit
    def first(xs):
        return xs[0]
    assert first([1.5]) == 1.5 and type(first([1])) is int


SELF = {
    "list": "x = []\nx.append(x)",
    "dict": "x = {}\nx[1] = x",
    "tuple": "x = []\nx.append((x,))",
    "deep lists": "x = []\nfor _ in range(100_000):\n    x = [x]",
    "deep tuples": "x = ()\nfor _ in range(100_000):\n    x = (x,)",
    "deep dicts": "x = {}\nfor _ in range(100_000):\n    x = {1: x}",
}


@pytest.mark.parametrize("name", SELF)
def test_containers_in_themselves_and_deep_ones_are_refused(name):
    space = {"njit": njit}
    exec(f"{SELF[name]}\n@njit\ndef of_global():\n    return len(x)", space)
    with pytest.raises(tierup.TypingError, match="contains itself, or one that is more than 64 deep"):
        same(space["x"])
    # A list of the module is not looked into by all functions, but nothing may crash.
    with contextlib.suppress(tierup.TypingError):
        assert space["of_global"]() == len(space["x"])


SHARED = {
    "lists": ("[x, x]", 2),
    "dicts": ("{1: x, 2: x}", 2),
    "lists of tuples": ("[(x, 1), (x, 2)]", 2),
    "tuples": ("(x, x)", "a tuple that holds more than 10000 values"),
    "tuples with lists": ("([x], [x])", "a tuple that holds more than 10000 values"),
}


@pytest.mark.parametrize("name", SHARED)
def test_what_stands_twice_on_each_level_is_looked_into_once(name):
    level, expected = SHARED[name]
    x = [1]
    for _ in range(25):
        x = eval(level, {"x": x})
    if isinstance(expected, int):
        assert njit(lambda x: len(x))(x) == expected
        return
    with pytest.raises(tierup.TypingError, match=expected):
        same(x)


def test_a_list_in_two_places_is_one_list():
    row = [1, 2]
    inner = [row, row]

    @njit
    def change(x):
        x[0][0].append(3)
        return len(x[1][1])

    assert change([inner, inner]) == 3
    assert row == [1, 2, 3]


def test_global_tuples_hold_many_values_but_not_without_end():
    flat = tuple(range(12_000))
    assert njit(lambda i: flat[i])(11_999) == 11_999
    shared = (1, 2)
    for _ in range(40):
        shared = (shared, shared)
    for many in (shared, tuple(range(100_001))):
        with pytest.raises(tierup.TypingError, match="is a tuple with more than 100000 values in all"):
            njit(lambda: len(many))()


def test_containers_are_taken_sixty_deep():
    xs = 1
    for _ in range(60):
        xs = [xs]
    assert same(xs) == xs


def test_results_share_lists():
    @njit
    def twice(n):
        xs = [n]
        return xs, xs
    a, b = twice(3)
    assert a is b and a == [3]


# -- many and large ------------------------------------------------------------------------------------------------------------------------------


def test_many_arguments():
    names = ", ".join(f"a{i}" for i in range(80))
    space = {"njit": njit}
    exec(f"@njit\ndef f({names}):\n    return {' + '.join(f'a{i}' for i in range(80))}\n", space)
    assert space["f"](*range(80)) == sum(range(80))


def test_many_arrays():
    names = ", ".join(f"a{i}" for i in range(20))
    space = {"njit": njit}
    exec(f"@njit\ndef f({names}):\n    return ({names})\n", space)
    arrays = [np.zeros((2,) * (i % 5)) for i in range(20)]
    assert all(a is b for a, b in zip(space["f"](*arrays), arrays))


# -- declared signatures -------------------------------------------------------------------------------------------------------------------------


def test_arguments_and_results_are_converted_to_a_declared_signature():
    @njit("float64(float64)")
    def twice(x):
        return x + x
    assert twice(2) == 4.0 and type(twice(2)) is float and twice(np.float32(1.5)) == 3.0 and twice(True) == 2.0

    @njit("int64(float64)")
    def truncated(x):
        return x
    assert truncated(2.75) == 2 and type(truncated(2.75)) is int

    @njit("float32(float64)")
    def rounded(x):
        return x
    assert rounded(0.1) == float(np.float32(0.1))
    with pytest.raises(TypeError, match="No matching definition"):
        twice("text")
    with pytest.raises(TypeError, match="No matching definition"):
        twice(1j)


def test_a_strided_signature_takes_every_layout():
    @njit("float64(float64[:])")
    def first(a):
        return a[0]
    assert first(np.arange(3.0)) == 0 and first(np.arange(6.0)[1::2]) == 1 and len(first.signatures) == 1
    with pytest.raises(TypeError):
        first(np.arange(3))


def test_a_declared_result_must_fit():
    with pytest.raises(tierup.TypingError, match="signature says"):
        njit("unicode_type(int64)")(lambda x: x)


# -- guards --------------------------------------------------------------------------------------------------------------------------------------


def test_captured_variables_are_guarded():
    def make():
        k = 1

        def change(v):
            nonlocal k
            k = v

        @njit
        def f(x):
            return x + k
        return f, change
    f, change = make()
    assert f(1) == 2
    change(10)
    assert f(1) == 11
    change(2.5)
    assert f(1) == 3.5
    change(1)
    assert f(1) == 2


def test_defaults_of_callees_are_guarded():
    def callee(x, k=1):
        return x + k

    @njit
    def f(x):
        return callee(x)
    assert f(1) == 2
    callee.__defaults__ = (5,)
    assert f(1) == 6


def test_a_global_array_that_changes_shape_is_seen():
    space = {"njit": njit, "A": np.arange(6)}
    exec("@njit\ndef f():\n    return A.ndim, A[0]\n", space)
    assert space["f"]()[1] == 0
    space["A"].shape = (2, 3)
    with pytest.raises(Exception):
        space["f"]()[1] + 0 == 0 and (_ for _ in ()).throw(ValueError)


def test_overloads_for_stale_globals_do_not_pile_up():
    space = {"njit": njit, "K": 0}
    exec("@njit\ndef f(x):\n    return x + K\n", space)
    for k in range(60):
        space["K"] = k
        assert space["f"](1) == k + 1
    assert len(space["f"].overloads) == 1 and len(tierup._tierup.overloads(space["f"])) <= 20


def test_closures_made_in_a_loop_are_freed():
    refs = []
    for k in range(20):
        def f(x, k=k):
            return x + k
        g = njit(f)
        assert g(1) == k + 1
        refs.append(weakref.ref(f))
        del f, g
    gc.collect()
    assert sum(r() is not None for r in refs) == 0


# -- exceptions ----------------------------------------------------------------------------------------------------------------------------------


class Custom(ValueError):
    def __init__(self, code, text="none"):
        super().__init__(code, text)
        self.code, self.text = code, text


def test_exceptions_of_users_classes():
    @njit
    def f(x):
        if x == 1:
            raise Custom(7, "seven")
        if x == 2:
            raise Custom(3.5)
        try:
            raise Custom(1)
        except ValueError:
            return "caught"
    with pytest.raises(Custom) as e:
        f(1)
    assert (e.value.code, e.value.text) == (7, "seven")
    with pytest.raises(Custom) as e:
        f(2)
    assert (e.value.code, e.value.text) == (3.5, "none")
    assert f(3) == "caught"


def test_tracebacks_show_every_compiled_frame():
    @njit
    def inner(x):
        raise IndexError("here")

    @njit
    def outer(x):
        return inner(x)
    with pytest.raises(IndexError) as e:
        outer(1)
    assert [t.name for t in e.traceback][-2:] == ["outer", "inner"]
    import traceback
    assert 'raise IndexError("here")' in "".join(traceback.format_exception(e.value))


def test_nothing_is_left_behind_by_exceptions_and_results():
    Point = namedtuple("Point", "x y")

    @njit
    def f(kind, s, a, xs):
        if kind == 0:
            raise ValueError("text", s)
        if kind == 1:
            raise Custom(1, s)
        return s + s, a[1:], xs, [s, s], Point(kind, s), ValueError, range(kind)

    def run(n):
        a, xs = np.arange(3), [1, 2]
        for i in range(n):
            try:
                f(i % 3, "text", a, xs)
            except ValueError:
                pass
    run(300)
    gc.collect()
    before = sys.getallocatedblocks()
    run(3000)
    gc.collect()
    assert sys.getallocatedblocks() - before < 300


def test_recursion_without_end_raises():
    @njit
    def down(n):
        return down(n + 1) + 1
    with pytest.raises(RecursionError):
        down(0)


# -- generators ----------------------------------------------------------------------------------------------------------------------------------


def test_a_generator_keeps_its_arguments():
    @njit
    def each(a, s):
        for i in range(len(a)):
            yield a[i]
    a = np.arange(4.0)
    ref, g = weakref.ref(a), each(a, "some text " * 3)
    del a
    gc.collect()
    assert ref() is not None and next(g) == 0.0
    assert list(g) == [1.0, 2.0, 3.0] and list(g) == []
    g = each(np.arange(3.0), "x")
    next(g)
    g.close()
    assert list(g) == []


# -- threads -------------------------------------------------------------------------------------------------------------------------------------


def test_nogil_calls_run_at_the_same_time_as_python():
    @njit(nogil=True)
    def spin(n):
        s = 0
        for i in range(n):
            s = (s * 3 + i) % 1000003
        return s
    spin(1)
    done = []
    t = threading.Thread(target=lambda: done.append(spin(100_000_000)))
    t.start()
    turns = 0
    while t.is_alive() and turns < 10_000:
        turns += 1
    assert turns > 1000
    t.join()
    assert len(done) == 1


# -- fallback ------------------------------------------------------------------------------------------------------------------------------------


def test_forceobj_runs_python_without_a_note():
    @tierup.jit(forceobj=True)
    def f(d):
        return d["a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f({"a": 3}) == 3


def test_an_exception_of_a_function_that_python_runs_passes_through():
    @tierup.jit
    def f(d):
        return d["missing"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(KeyError):
            f({})


def test_exit_while_generators_and_arrays_live():
    program = ("import numpy as np\nfrom tierup import njit\n@njit\ndef g(n):\n    for i in range(n): yield i\n@njit\ndef a(n, x):\n    return [n, n], x[1:]\n"
               "keep = g(5); next(keep); more = a(2, np.arange(3))\nprint('ok')")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0 and done.stdout.strip() == "ok", done.stderr
