"""`tierup.typed.List`: a list in native memory, which Python and compiled code share."""

import copy
import datetime
import gc
import pickle
import threading
import time
import weakref
from collections.abc import MutableSequence

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")

from tierup import jit, njit, prange, types, typeof  # noqa: E402
from tierup.typed import Dict, List  # noqa: E402


# -- in Python -----------------------------------------------------------------------------------------------------------------------------------


def test_elements_say_the_type():
    for items, text in [([1, 2], "int64"), ([1.5], "float64"), ([True], "bool"), (["a"], "str"), ([1j], "complex128"), ([np.int8(1)], "int8"), ([1, 2.5], "float64")]:
        xs = List(items)
        assert list(xs) == items and repr(xs) == f"ListType[{text}]([{', '.join(map(str, xs))}])"
        assert str(typeof(xs)) == f"list({text})"
    assert repr(List()) == "ListType[Undefined]([])" and len(List()) == 0 and not List()
    xs = List()
    xs.append(2.5)
    assert repr(xs) == "ListType[float64]([2.5])"


def test_lists_are_joined_and_repeated_into_typed_lists():
    xs, empty = List([1, 2]), List()
    for got, want in (
        (xs + [3], [1, 2, 3]), ([0] + xs, [0, 1, 2]), (xs + xs, [1, 2, 1, 2]), (xs + empty, [1, 2]), (empty + [1.5], [1.5]), (xs * 2, [1, 2, 1, 2]), (2 * xs, [1, 2, 1, 2]), (xs * 0, []), (xs * -1, []),
    ):  # fmt: skip
        assert isinstance(got, List) and list(got) == want
    assert list(xs) == [1, 2]
    same = xs
    xs *= 2
    xs += [7]
    assert same is xs and list(xs) == [1, 2, 1, 2, 7]
    for wrong in (lambda: xs + (1,), lambda: (1,) + xs, lambda: xs * 1.0):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(tierup.TypingError):
        xs + ["a"]


def test_what_a_list_is_made_of():
    assert list(List("abc")) == ["a", "b", "c"] and list(List(range(3))) == [0, 1, 2] and list(List(i * i for i in range(3))) == [0, 1, 4]
    assert list(List(np.arange(3.0))) == [0.0, 1.0, 2.0] and list(List(np.array(7))) == [7] and list(List({1: 2})) == [1]
    assert [a.tolist() for a in List(np.eye(2))] == [[1.0, 0.0], [0.0, 1.0]]
    for bad, text in [((3,), "must be iterable"), ((1, 2), "at most 1 argument")]:
        with pytest.raises(TypeError, match=text):
            List(*bad)
    with pytest.raises(TypeError, match="no keyword"):
        List(a=3)
    with pytest.raises(TypeError):
        List([1, "a"])


def test_an_empty_list_of_a_type():
    for t, item in [(types.int64, 3), (types.float32, 1.5), (types.unicode_type, "x"), (types.ListType(types.int64), List([1])), (types.float64[:], np.zeros(2)), (types.UniTuple(types.int64, 2), (1, 2))]:
        xs = List.empty_list(t, allocated=10)
        assert len(xs) == 0 and xs._allocated() >= 10 and xs._typed
        xs.append(item)
        assert len(xs) == 1 and str(xs._dtype) == str(t)
    with pytest.raises(TypeError):
        List.empty_list(types.float32).append("a")


def test_it_is_a_mutable_sequence():
    """Every method does what Python's does."""
    assert isinstance(List(), MutableSequence) and List[int].__origin__ is List
    script = [
        lambda x: x.append(9), lambda x: x.extend([4, 5]), lambda x: x.extend((6,)), lambda x: x.insert(1, 7), lambda x: x.insert(-100, 8), lambda x: x.insert(100, 1), lambda x: x.pop(), lambda x: x.pop(0),
        lambda x: x.pop(-2), lambda x: x.remove(2), lambda x: x.index(9), lambda x: x.index(9, 1), lambda x: x.count(9), lambda x: 9 in x, lambda x: "no" in x, lambda x: x.reverse(), lambda x: x.sort(),
        lambda x: x.sort(reverse=True), lambda x: x.sort(key=lambda v: -v % 4), lambda x: x[0], lambda x: x[-1], lambda x: list(x[1:3]), lambda x: list(x[::-2]), lambda x: x.__setitem__(0, 33),
        lambda x: x.__setitem__(slice(1, 3), [70, 71, 72]), lambda x: x.__setitem__(slice(None, None, 2), list(range(len(x[::2])))), lambda x: x.__delitem__(0), lambda x: x.__delitem__(slice(0, 4, 2)),
        lambda x: x.__iadd__([3, 3]) and None, lambda x: list(x.copy()), lambda x: list(reversed(x)), lambda x: sum(x), lambda x: np.array(x).tolist(), lambda x: x == [1, 2], lambda x: x.clear(),
        lambda x: x.append(5), lambda x: x < [9], lambda x: x >= [9], lambda x: x != [5], lambda x: len(x),
    ]
    ours, pythons = List([1, 2, 3, 4]), [1, 2, 3, 4]
    for k, step in enumerate(script):
        assert step(ours) == step(pythons), k
        assert list(ours) == pythons, k


@pytest.mark.parametrize("step", [
    lambda x: x[3], lambda x: x[-4], lambda x: x.__setitem__(3, 1), lambda x: x.__delitem__(3), lambda x: x.pop(7), lambda x: x.remove(77), lambda x: x.index(77), lambda x: x["a"], lambda x: x[1.0],
    lambda x: x.__setitem__(slice(None, None, 2), [1]), lambda x: (x.clear(), x.pop()), lambda x: hash(x), lambda x: x + x if False else [].pop(), lambda x: x[10**30],
])
def test_errors_are_pythons(step):
    with pytest.raises(Exception) as theirs:
        step([1, 2, 3])
    with pytest.raises(type(theirs.value)) as ours:
        step(List([1, 2, 3]))
    if not isinstance(ours.value, TypeError):
        assert str(ours.value) == str(theirs.value)


def test_elements_of_another_type_are_refused():
    xs = List([1, 2])
    for change in (lambda: xs.append("a"), lambda: xs.append(2.5), lambda: xs.append(None), lambda: xs.extend([1, "a"]), lambda: xs.insert(0, []), lambda: xs.__setitem__(0, 1j), lambda: xs.__setitem__(slice(0, 1), ["a"])):
        with pytest.raises(tierup.TypingError, match="int64"):
            change()
        assert list(xs) == [1, 2]
    with pytest.raises(OverflowError):
        xs.append(2**64)
    floats = List([0.5])
    floats.append(2)
    assert list(floats) == [0.5, 2.0]


def test_without_a_type_little_can_be_done():
    for use in (lambda x: x.pop(), lambda x: x.clear(), lambda x: x.sort(), lambda x: x.copy(), lambda x: 1 in x, lambda x: x.index(1)):
        with pytest.raises(TypeError, match="untyped list"):
            use(List())
    with pytest.raises(IndexError):
        List()[0]
    with pytest.raises(TypeError, match="element type"):
        njit(len_of)(List())


def test_dates_are_elements():
    xs = List([datetime.date(2024, 1, 1), datetime.date(2023, 1, 1)])
    xs.append(datetime.date(2025, 1, 1))
    assert str(typeof(xs)) == "list(datetime.date)"
    assert njit(lambda xs: max(xs) - min(xs))(xs) == datetime.timedelta(731)
    assert list(pickle.loads(pickle.dumps(xs))) == list(xs)


def test_copies_and_pickles():
    nested = List([List([1, 2]), List([3])])
    for xs in (List([1.5]), List(["a"]), nested, List.empty_list(types.int8), List()):
        for again in (copy.copy(xs), copy.deepcopy(xs), pickle.loads(pickle.dumps(xs))):
            assert again is not xs and again == xs and repr(again) == repr(xs) and type(again) is List
    assert copy.copy(nested)[0] is nested[0] and copy.deepcopy(nested)[0] is not nested[0]


def test_a_class_of_the_users_may_derive():
    class Mine(List):
        def __init__(self, n):
            super().__init__(range(n))

        def total(self):
            return sum(self)
    m = Mine(4)
    assert m.total() == 6 and njit(len_of)(m) == 4 and njit(append)(m, 5) is m and m.total() == 11


def test_iteration_sees_changes():
    xs = List([1, 2, 3])
    seen = []
    for x in xs:
        seen.append(x)
        if len(xs) < 6:
            xs.append(x * 10)
    assert seen == [1, 2, 3, 10, 20, 30]


class Calls:
    """An index, or an object to be found, that changes the list while it is asked."""

    def __init__(self, change):
        self.change = change

    def __index__(self):
        self.change()
        return 1

    def __eq__(self, other):
        self.change()
        return other == 9


def set_slice(xs, at):
    xs[at:50] = type(xs)([7, 7])


@pytest.mark.parametrize("step", [
    lambda xs, at: xs[at:], lambda xs, at: xs[:at], lambda xs, at: xs[at], lambda xs, at: xs.__setitem__(at, 5), lambda xs, at: xs.__delitem__(at),
    lambda xs, at: xs.__delitem__(slice(at, 60)), set_slice, lambda xs, at: xs.pop(at), lambda xs, at: xs.insert(at, 4), lambda xs, at: xs.remove(at),
])
@pytest.mark.parametrize("change", [lambda xs: xs.clear(), lambda xs: xs.__delitem__(slice(2, None)), lambda xs: xs.extend(type(xs)([1, 2, 3]))])
def test_what_is_asked_for_an_index_may_change_the_list(step, change):
    def result(xs):
        at = Calls(lambda: change(xs))
        try:
            answer = step(xs, at)
        except (IndexError, ValueError) as e:
            answer = str(e)
        return (list(answer) if isinstance(answer, (list, List)) else answer), list(xs)
    start = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] * 7
    assert result(List(start)) == result(list(start))


# -- shared with compiled code -------------------------------------------------------------------------------------------------------------------


def len_of(xs):
    return len(xs)


def append(xs, x):
    xs.append(x)
    return xs


def test_compiled_code_gets_the_list_itself():
    xs = List([1, 2, 3])
    f = njit(append)
    assert f(xs, 4) is xs and list(xs) == [1, 2, 3, 4]
    alias = f(xs, 5)
    alias.append(6)
    assert list(xs) == [1, 2, 3, 4, 5, 6]
    assert str(f.signatures[0][0]) == "list(int64)"


def test_lists_in_tuples_and_lists_are_shared():
    @njit
    def f(pair, rows):
        pair[0].append(1.5)
        rows[0].append(7)
        rows.append(rows[0])
        return rows[1], pair[0]
    xs, rows = List([0.5]), List([List([1]), List([2])])
    row = rows[0]
    out = f((xs, 3), rows)
    assert out[0] is rows[1] and out[1] is xs and list(xs) == [0.5, 1.5]
    assert list(row) == [1, 7] and rows[0] is row and rows[2] is row
    row.append(8)
    assert list(rows[2]) == [1, 7, 8]


def test_made_in_compiled_code():
    @njit
    def make(n):
        out = List()
        for i in range(n):
            out.append(i * 0.5)
        return out

    @njit
    def of(values):
        return List(values)

    @njit
    def empty(n):
        out = List.empty_list(types.float32, n)
        out.append(1)
        return out

    @njit
    def nested():
        return List([List([1]), List([2, 3])])

    @njit
    def parts(xs):
        return xs[1:], xs.copy(), [x for x in xs], list(xs)
    xs = make(3)
    assert type(xs) is List and list(xs) == [0.0, 0.5, 1.0] and repr(xs) == "ListType[float64]([0.0, 0.5, 1.0])"
    assert list(njit(append)(xs, 4.0)) == [0.0, 0.5, 1.0, 4.0] and len(xs) == 4
    assert list(of((1, 2))) == [1, 2] and list(of([1.5])) == [1.5] and list(of(np.arange(2))) == [0, 1] and list(of("ab")) == ["a", "b"]
    assert repr(empty(5)) == "ListType[float32]([1.0])"
    assert repr(nested()) == "ListType[ListType[int64]]([[1], [2, 3]])"
    assert [type(p) for p in parts(List([1, 2]))] == [List, List, list, list]


def test_a_declared_signature():
    @njit(types.int64(types.ListType(types.int64)))
    def total(xs):
        s = 0
        for x in xs:
            s += x
        return s
    assert total(List([1, 2])) == 3 and total([4, 5]) == 9
    with pytest.raises(TypeError):
        total(List([1.5]))


def test_what_a_call_puts_in_outlives_it():
    @njit
    def keep(xs, t, arrays, a):
        xs.append(t)
        arrays.append(a)
        arrays.append(a[1:])
        return xs

    class Array(np.ndarray):
        pass
    xs, arrays = List(["a"]), List([np.zeros(1)])
    for k in range(50):
        a = np.full(3, float(k)).view(Array)
        keep(xs, "text %d" % k, arrays, a)
        gone = weakref.ref(a)
        del a
    gc.collect()
    assert list(xs) == ["a"] + ["text %d" % k for k in range(50)]
    assert gone() is not None and [float(a[0]) for a in arrays][1::2] == [float(k) for k in range(50)]
    assert arrays[1] is arrays[1] and np.shares_memory(arrays[1], arrays[2])
    del arrays
    gc.collect()
    assert gone() is None


def test_arrays_that_a_call_returns_in_a_list_outlive_it():
    @njit
    def pack(a, b):
        out = List()
        out.append(a)
        out.append(b)
        return out
    packed = [pack(np.full(4, float(k)), np.full(2, -float(k))) for k in range(100)]
    gc.collect()
    assert [(float(p[0][3]), float(p[1][0])) for p in packed] == [(k, -k) for k in range(100)]


def test_a_global_array_that_is_put_in_outlives_the_function():
    def make():
        table = np.arange(4.0)

        @njit
        def f(xs):
            xs.append(table)
        return f
    xs = List([np.zeros(1)])
    for _ in range(20):
        make()(xs)
        gc.collect()
    assert all(a.tolist() == [0.0, 1.0, 2.0, 3.0] for a in list(xs)[1:])


def test_a_python_list_may_be_put_in():
    @njit
    def put(rows, row):
        rows.append(row)
        row.append(3)
    rows, row = List.empty_list(types.ListType(types.int64)), [np.int64(1)]
    put(rows, row)
    assert row == [1, 3] and list(rows[0]) == [1, 3]
    rows.append([5, 6])
    assert list(rows[1]) == [5, 6] and type(rows[1]) is List


def test_generators_share_lists():
    @njit
    def gen(xs):
        for x in xs:
            if len(xs) < 6:
                xs.append(x + 10)
            yield x
    xs = List([1, 2])
    seen = []
    for v in gen(xs):
        seen.append(v)
        if v == 2:
            xs.append(100)
    assert seen == list(xs) == [1, 2, 11, 12, 100, 21]

    @njit
    def again(xs):
        for i in range(2):
            xs.append(i)
            yield xs
    assert all(v is xs for v in again(xs))


def test_the_last_reference_frees():
    class Array(np.ndarray):
        pass
    a = np.zeros(2).view(Array)
    gone = weakref.ref(a)
    xs = List([List([a])])
    inner = xs[0]
    del a, xs
    gc.collect()
    assert gone() is not None and len(inner) == 1
    listed = weakref.ref(inner)
    del inner
    gc.collect()
    assert gone() is None and listed() is None


def while_running(f, xs, body):
    """Runs `body` while a thread is within `f(xs, state)`, which sets `state[0]` and waits for `state[1]`."""
    f(xs, np.ones(2, np.int64))
    state = np.zeros(2, np.int64)
    t = threading.Thread(target=f, args=(xs, state))
    t.start()
    try:
        while not state[0] and t.is_alive():
            time.sleep(0.001)
        body()
        assert t.is_alive()
    finally:
        state[1] = 1
        t.join()


def test_a_list_in_use_is_not_changed():
    """While compiled code runs that was given the list, other threads look at it or wait, but do not pull it from under that code."""
    @njit(nogil=True)
    def change(xs, state):
        xs[0] += 1
        state[0] = 1
        while state[1] == 0:
            time.sleep(0.001)

    @njit(nogil=True)
    def look(xs, state):
        state[0] = 1
        while state[1] == 0:
            time.sleep(0.001)
        return xs[0]
    xs, done = List([1, 2]), np.ones(2, np.int64)
    change(xs, done)
    assert look(xs, done) == xs[0] == 2

    def changed():
        for use in (lambda: xs[0], lambda: look(xs, done), lambda: list(xs), lambda: change(xs, done), lambda: xs.append(3), lambda: xs == [1]):
            with pytest.raises(RuntimeError, match="in use"):
                use()
    while_running(change, xs, changed)

    def looked_at():
        assert xs[0] == look(xs, done) == 4 and len(xs) == 2
        for use in (lambda: change(xs, done), lambda: xs.append(3), lambda: xs.clear(), lambda: xs.sort()):
            with pytest.raises(RuntimeError, match="in use"):
                use()
    while_running(look, xs, looked_at)
    xs.append(3)
    assert list(xs) == [4, 2, 3]


def smallest(xs):
    return sorted(xs)[0]


def parallel_sum(xs):
    s = 0
    for i in prange(len(xs)):
        s += xs[i]
    return s


def copied(xs):
    ys = xs[1:] + list(xs)
    ys.append(5)
    ys.sort()
    return len(ys)


def in_a_function(xs):
    return _changed_copy(xs) + len(xs)


def histogram(xs):
    h = [0] * 10
    for x in xs:
        h[x] += 1
    return h


@njit
def _changed_copy(xs):
    ys = xs.copy()
    ys[0] = 7
    return ys.pop()


@pytest.mark.parametrize("reader", [smallest, parallel_sum, copied, in_a_function, histogram], ids=lambda f: f.__name__)
def test_what_only_reads_a_list_shares_it(reader):
    """Its copies, and other lists that it fills, are its own affair."""
    @njit(nogil=True)
    def look(xs, state):
        state[0] = 1
        while state[1] == 0:
            time.sleep(0.001)
        return xs[0]
    compiled = njit(parallel=reader is parallel_sum)(reader)
    xs = List([3, 1, 2])
    expected = reader([3, 1, 2])
    assert compiled(xs) == expected

    def body():
        assert compiled(xs) == expected
    while_running(look, xs, body)
    assert list(xs) == [3, 1, 2]


def changed_through_a_view(xs):
    ys = xs if len(xs) > 1 else xs.copy()
    ys.append(4)


def changed_in_a_tuple(xs):
    t = (xs, 1)
    t[0].append(t[1])


def changed_in_a_closure(xs):
    def put():
        xs.append(3)
    put()


@njit
def _put(rows, xs):
    rows.append(xs)


def changed_in_a_list_that_a_function_filled(xs):
    rows = [[1]]
    _put(rows, xs)
    rows[1].append(3)


@njit
def _same(xs, ys):
    return ys if len(xs) > 100 else xs


def changed_as_a_result(xs):
    _same(xs, [1]).append(3)


def changed_by_iterations(xs):
    for i in prange(len(xs)):
        xs[i] = xs[i] + 1


def changed_behind_iterations(xs):
    for i in prange(5):
        xs.append(i)


def sorted_in_place(xs):
    xs.sort()


@pytest.mark.parametrize("writer", [changed_through_a_view, changed_in_a_tuple, changed_in_a_closure, changed_in_a_list_that_a_function_filled, changed_as_a_result, changed_by_iterations, changed_behind_iterations, sorted_in_place], ids=lambda f: f.__name__)
def test_what_changes_a_list_does_not_share_it(writer):
    @njit(nogil=True)
    def look(xs, state):
        state[0] = 1
        while state[1] == 0:
            time.sleep(0.001)
        return xs[0]
    compiled = njit(parallel="iterations" in writer.__name__)(writer)
    xs = List([3, 1, 2])
    compiled(List([3, 1, 2]))

    def body():
        with pytest.raises(RuntimeError, match="in use"):
            compiled(xs)
    while_running(look, xs, body)
    assert list(xs) == [3, 1, 2]


def test_a_list_that_a_generator_has_yielded_is_kept_alike():
    @njit
    def gen(rows):
        c = [1]
        rows.append(c)
        yield c
        c.append(5)
        yield c
    rows = List([List([0])])
    it = gen(rows)
    c = next(it)
    c.append(2)
    assert next(it) is c
    assert list(c) == [1, 2, 5] and [list(r) for r in rows] == [[0], [1, 2, 5]]


def test_a_list_that_takes_none_of_new_elements_keeps_its_own():
    @njit
    def gen(rows):
        c = [1]
        rows.append(c)
        yield c
        yield c
    rows = List([List([0])])
    it = gen(rows)
    c = next(it)
    c.append("two")
    with pytest.raises(TypeError, match="elements of another type"):
        next(it)
    assert [list(r) for r in rows] == [[0], [1]]


def test_isinstance_tells_typed_lists_from_copies():
    @njit
    def kinds(xs):
        made, copied = List([1]), [1]
        return isinstance(xs, List), isinstance(made, List), isinstance(copied, List), isinstance(xs, (list, List)), isinstance(3, List)
    assert kinds(List([1])) == (True, True, False, True, False)
    assert kinds([1]) == (False, True, False, True, False)


def test_lists_in_a_list_in_use_are_not_changed():
    @njit(nogil=True)
    def f(rows, state):
        rows[0].append(1)
        state[0] = 1
        while state[1] == 0:
            time.sleep(0.001)
    rows = List([List([1])])
    row = rows[0]

    def body():
        with pytest.raises(RuntimeError, match="in use"):
            row.append(3)
    while_running(f, rows, body)
    row.append(3)
    assert list(rows[0]) == [1, 1, 1, 3]


def test_the_compat_module():
    from tierup.compat import numba as names
    assert names.look_up("numba.typed", "List") is List


def test_compiled_code_refuses_elements_of_another_type():
    @njit
    def f(x):
        xs = List.empty_list(types.int64)
        xs.append(x)
        return xs

    @njit
    def of_nothing():
        return List.empty_list(3)

    arrays = types.ListType(types.float64[:])

    @njit
    def of_text():
        return List.empty_list(types.unicode_type), List.empty_list(str), List.empty_list(arrays)
    for x in ("text", 2.5, None):
        with pytest.raises(tierup.TypingError, match="int64"):
            f(x)
    assert list(f(True)) == [1]
    with pytest.raises(tierup.TypingError, match="takes types"):
        of_nothing()
    assert [repr(xs) for xs in of_text()] == ["ListType[str]([])", "ListType[str]([])", "ListType[ListType[array(float64, 1d, A)]]([])"]


def test_pythons_numbers_take_the_width_of_elements_that_are_said():
    @njit
    def f(n):
        xs, ys = List.empty_list(types.int32), List.empty_list(types.float32)
        for i in range(n):
            xs.append(i)
            ys.append(i * 0.5)
        xs.insert(0, 7)
        xs[1] = 9
        xs.extend([1, 2])
        return xs, ys
    xs, ys = f(3)
    assert repr(xs) == "ListType[int32]([7, 9, 1, 2, 1, 2])" and repr(ys) == "ListType[float32]([0.0, 0.5, 1.0])"


def test_python_that_runs_instead_may_change_a_list():
    @jit
    def not_compiled(given):
        given.append(1)
        return len(locals()) + len(given)

    given = List([0])
    with pytest.warns(tierup.TierupWarning):
        assert not_compiled(given) == 3
    assert not_compiled(given) == 4
    assert given == [0, 1, 1]


def test_types_of_arrays_written_in_compiled_code():
    @njit
    def lists():
        return (List.empty_list(types.float64[:]), List.empty_list(types.int32[::1]), List.empty_list(types.complex64[:, ::1]), List.empty_list(types.float32[::1, :]), List.empty_list(types.bool_[:, :, :]))
    expected = types.float64[:], types.int32[::1], types.complex64[:, ::1], types.float32[::1, :], types.bool_[:, :, :]
    assert [xs._numba_type_.dtype for xs in lists()] == list(expected)

    @njit
    def by_name():
        d = Dict.empty(types.unicode_type, types.float64[:])
        d["a"] = np.arange(6.0)[::2]
        return d
    assert list(by_name()["a"]) == [0.0, 2.0, 4.0]
    for bad in (lambda: List.empty_list(types.float64[::1, ::1]), lambda: List.empty_list(types.float64[1:]), lambda: List.empty_list(types.float64[3])):
        with pytest.raises(tierup.TypingError):
            njit(bad)()
    with pytest.raises(KeyError, match="step 1"):
        njit(lambda: List.empty_list(types.float64[::2]))()
