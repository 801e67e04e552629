"""`tierup.typed.Dict`: a dict in native memory, which Python and compiled code share."""

import copy
import gc
import pickle
import sys
import threading
import time
import weakref
from collections.abc import MutableMapping

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")

from tierup import njit, prange, types, typeof  # noqa: E402
from tierup.typed import Dict, List  # noqa: E402


# -- in Python -----------------------------------------------------------------------------------------------------------------------------------


def test_entries_say_the_types():
    for items, text in [
        ({1: 2}, "int64,int64"), ({"a": 1.5}, "str,float64"), ({(1, 2): "x"}, "tuple(int64, int64),str"), ({1.5: True}, "float64,bool"), ({np.int8(1): 1j}, "int8,complex128"), ({1: 1, 2: 2.5}, "int64,float64"),
    ]:
        d = Dict(items)
        assert dict(d) == items and repr(d) == f"DictType[{text}]({{{', '.join(f'{k}: {v}' for k, v in d.items())}}})"
        key, value = (t._tierup_type_ for t in (typeof(d).key_type, typeof(d).value_type))
        assert f"{key},{value}" == text and typeof(d) == types.DictType(typeof(d).key_type, typeof(d).value_type)
    assert repr(Dict()) == "DictType[Undefined,Undefined]({})" and len(Dict()) == 0 and not Dict()
    d = Dict()
    d["a"] = 2.5
    assert repr(d) == "DictType[str,float64]({a: 2.5})"


def test_what_a_dict_is_made_of():
    assert dict(Dict([(1, 2), (3, 4)])) == {1: 2, 3: 4} and dict(Dict({"b": 1, "a": 2}.items())) == {"b": 1, "a": 2} and list(Dict({"b": 1, "a": 2})) == ["b", "a"]
    assert dict(Dict((k, k * k) for k in range(3))) == {0: 0, 1: 1, 2: 4} and dict(Dict(Dict({1: 2}))) == {1: 2} and len(Dict({})) == 0
    for bad, text in [((3,), "not iterable"), ((1, 2), "at most 1 argument"), (([(1, 2, 3)],), "2 is required")]:
        with pytest.raises((TypeError, ValueError), match=text):
            Dict(*bad)
    with pytest.raises(TypeError, match="no keyword"):
        Dict(a=3)
    with pytest.raises(TypeError):
        Dict({1: 2, "a": 3})
    with pytest.raises(TypeError, match="typed dict cannot hold values of type frozenset"):
        Dict({1: frozenset([2])})


def test_an_empty_dict_of_types():
    for k, v, key, value in [
        (types.int64, types.float32, 3, 1.5), (types.unicode_type, types.ListType(types.int64), "x", List([1])), (types.UniTuple(types.int64, 2), types.float64[:], (1, 2), np.zeros(2)),
        (types.float64, types.DictType(types.unicode_type, types.int64), 0.5, Dict({"a": 1})),
    ]:
        d = Dict.empty(k, v, n_keys=100)
        assert len(d) == 0 and d._typed and not d and typeof(d) == types.DictType(k, v)
        d[key] = value
        assert len(d) == 1 and key in d
    with pytest.raises(tierup.TypingError, match="no value of type float32"):
        Dict.empty(types.int64, types.float32)[1] = "a"
    with pytest.raises(TypeError, match="keys of type list"):
        Dict.empty(types.ListType(types.int64), types.int64)


def test_it_is_a_mutable_mapping():
    """Every method does what Python's does."""
    assert isinstance(Dict(), MutableMapping) and Dict[int, str].__origin__ is Dict
    script = [
        lambda d: d.__setitem__(5, 50), lambda d: d[5], lambda d: d.get(5), lambda d: d.get(77), lambda d: d.get(77, "x"), lambda d: d.setdefault(5, 1), lambda d: d.setdefault(6, 60), lambda d: d.pop(1), lambda d: d.pop(1, None),
        lambda d: d.pop(1, 3), lambda d: d.popitem(), lambda d: 5 in d, lambda d: 5.0 in d, lambda d: 5.5 in d, lambda d: "no" in d, lambda d: None in d, lambda d: 2**70 in d, lambda d: True in d, lambda d: np.int8(5) in d,
        lambda d: d.update({8: 80, 2: 20}), lambda d: d.update([(9, 90)]), lambda d: d.update(), lambda d: list(d), lambda d: list(d.keys()), lambda d: list(d.values()), lambda d: list(d.items()), lambda d: list(reversed(d)),
        lambda d: list(reversed(d.items())), lambda d: len(d.keys()) + len(d.values()) + len(d.items()), lambda d: 80 in d.values(), lambda d: (8, 80) in d.items(), lambda d: (8, 81) in d.items(), lambda d: 8 in d.keys(),
        lambda d: sorted(d.keys() & {2, 8, 100}), lambda d: repr(d.keys()) + repr(d.values()) + repr(d.items()), lambda d: d.__delitem__(2), lambda d: d == {5: 50}, lambda d: d != {5: 50}, lambda d: d == 3,
        lambda d: dict(d.copy()), lambda d: dict(d | {1: 1}), lambda d: d.__ior__({4: 40}) and None, lambda d: {**d}, lambda d: len(d), lambda d: bool(d), lambda d: d.clear(), lambda d: list(d.items()), lambda d: d.__setitem__(1, 1),
    ]
    ours, pythons = Dict({1: 10, 2: 20, 3: 30}), {1: 10, 2: 20, 3: 30}
    for k, step in enumerate(script):
        assert step(ours) == step(pythons), k
        assert list(ours.items()) == list(pythons.items()), k


def test_random_changes_are_pythons():
    rng = np.random.default_rng(3)
    ours, pythons = Dict.empty(types.int64, types.int64), {}
    for n, (what, key) in enumerate(zip(rng.integers(0, 12, 5000).tolist(), rng.integers(0, 60, 5000).tolist())):
        for d in (ours, pythons):
            if what < 7:
                d[key] = n
            elif what < 10:
                d.pop(key, None)
            elif what == 10 and d:
                d.popitem()
            elif key == 7:
                d.clear()
        assert len(ours) == len(pythons)
    assert list(ours.items()) == list(pythons.items()) and ours == pythons


@pytest.mark.parametrize("step", [
    lambda d: d[3], lambda d: d["a"], lambda d: d.__delitem__(3), lambda d: d.pop(7), lambda d: d[[1]], lambda d: [1] in d, lambda d: d.get({}), lambda d: d.__setitem__([1], 2), lambda d: (d.clear(), d.popitem()),
    lambda d: hash(d), lambda d: d[(1, 2)], lambda d: d.update(3), lambda d: d.update([(1,)]), lambda d: d.pop(), lambda d: d.pop(1, 2, 3), lambda d: [d.pop(k) for k in d], lambda d: [d.__setitem__(k + 10, 1) for k in d],
    lambda d: [d.clear() for _ in d.items()], lambda d: d < d,
])
def test_errors_are_pythons(step):
    with pytest.raises(Exception) as theirs:
        step({1: 2, 5: 6})
    with pytest.raises(type(theirs.value)) as ours:
        step(Dict({1: 2, 5: 6}))
    if not isinstance(ours.value, TypeError):
        assert str(ours.value) == str(theirs.value) and ours.value.args == theirs.value.args


def test_entries_of_other_types_are_refused():
    d = Dict({1: 2.5})
    for change, text in [
        (lambda: d.__setitem__("a", 1.0), "no key of type int64"), (lambda: d.__setitem__(1.5, 1.0), "no key of type int64"), (lambda: d.__setitem__(1, "a"), "no value of type float64"), (lambda: d.setdefault(2), "no value of type float64"),
        (lambda: d.update({2: 1.0, 3: "x"}), "no value of type float64"), (lambda: d.update(a=1.0), "no key of type int64"),
    ]:
        with pytest.raises(tierup.TypingError, match=text):
            change()
        assert dict(d) == {1: 2.5}
    with pytest.raises(OverflowError):
        d[2**64] = 1.0
    d[2] = 3
    assert dict(d) == {1: 2.5, 2: 3.0} and type(d[2]) is float


def test_a_key_stays_the_number_that_it_is():
    d = Dict({0.5: 1})
    d[2] = 2
    assert list(d) == [0.5, 2.0] and 2 in d and d[np.float32(0.5)] == 1 and 2**53 + 1 not in d and float("nan") not in d
    d[2.0**53] = 3
    assert 2**53 in d and 2**53 + 1 not in d
    with pytest.raises(OverflowError, match="this key is no float64"):
        d[2**53 + 1] = 3
    small = Dict.empty(types.int8, types.int8)
    small[100] = 1
    assert 100 in small and 356 not in small
    with pytest.raises(OverflowError):
        small[356] = 1


@pytest.mark.parametrize("text", ["", "key", "é", "日本", "😀", "x" * 300])
def test_strings_are_held_once_for_each_entry(text):
    """Looking a string up borrows it; an entry keeps it, and gives back the same object."""
    class Sub(str):
        pass

    key = "".join(["0", text])  # no constant that the interpreter holds, too
    before = sys.getrefcount(key)
    d, values, elements = Dict({"other": 1}), Dict({1: "other"}), List(["other"])
    assert key not in d and d.get(key) is None and d.pop(key, 3) == 3 and sys.getrefcount(key) == before
    d[key] = 4
    d[key], d[Sub(key)] = 5, 6
    assert d[key] == 6 and d.setdefault(key, 7) == 6 and sys.getrefcount(key) == before + 1 and list(d)[1] is key
    values[1], values[2] = key, key
    values[2] = key
    elements.append(key)
    elements[0] = key
    assert sys.getrefcount(key) == before + 5 and values[2] is key and elements[1] is key
    del d[key], values[1], values[2], elements[:]
    assert sys.getrefcount(key) == before and key not in d


def test_without_types_it_is_an_empty_dict():
    d = Dict()
    assert d.get(1) is None and d.pop(1, 5) == 5 and list(d) == list(d.items()) == [] and 1 not in d and d == {} and d.copy() == {} and d.clear() is None
    for use in (lambda: d[1], lambda: d.popitem(), lambda: d.pop(1), lambda: d.__delitem__(1)):
        with pytest.raises(KeyError):
            use()
    with pytest.raises(TypeError, match="types of keys and values"):
        njit(len_of)(d)
    d.update(Dict.empty(types.int8, types.int8))
    assert repr(d) == "DictType[int8,int8]({})"


def test_copies_and_pickles():
    nested = Dict({"a": Dict({1: 2}), "b": Dict({3: 4})})
    for d in (Dict({1: 1.5}), Dict({("a", 1): "b"}), nested, Dict({1: List([1, 2])}), Dict.empty(types.int8, types.float32), Dict()):
        for again in (copy.copy(d), copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
            assert again is not d and again == d and repr(again) == repr(d) and type(again) is Dict
    assert copy.copy(nested)["a"] is nested["a"] and copy.deepcopy(nested)["a"] is not nested["a"]


def test_a_class_of_the_users_may_derive():
    class Mine(Dict):
        def __init__(self, n):
            super().__init__((k, k * k) for k in range(n))

        def total(self):
            return sum(self.values())
    m = Mine(4)
    assert m.total() == 14 and njit(len_of)(m) == 4 and njit(put)(m, 5, 1) is m and m.total() == 15


class Key:
    """An object that changes the dict while it is looked up."""

    def __init__(self, change):
        self.change = change

    def __hash__(self):
        return hash(1)

    def __eq__(self, other):
        self.change()
        return other == 1


def test_what_is_asked_for_a_key_may_change_the_dict():
    for change in (lambda d: d.clear(), lambda d: d.pop(1, None), lambda d: d.update({k: k for k in range(100)})):
        for use in (lambda d, k: d.get(k), lambda d, k: k in d, lambda d, k: d.pop(k, 7)):
            d = Dict({1: 1, 2: 2})
            use(d, Key(lambda: change(d)))
            assert all(d[k] == v for k, v in d.items())


def test_views_are_live():
    d = Dict({1: 2})
    keys, values, items = d.keys(), d.values(), d.items()
    d[3] = 4
    assert list(keys) == [1, 3] and list(values) == [2, 4] and list(items) == [(1, 2), (3, 4)] and len(keys) == len(values) == len(items) == 2 and 3 in keys and 4 in values and (3, 4) in items
    it = iter(d)
    assert next(it) == 1
    d[5] = 6
    for _ in range(2):
        with pytest.raises(RuntimeError, match="dictionary changed size during iteration"):
            next(it)


# -- shared with compiled code -------------------------------------------------------------------------------------------------------------------


def len_of(d):
    return len(d)


def put(d, k, v):
    d[k] = v
    return d


def test_compiled_code_gets_the_dict_itself():
    d = Dict({1: 2})
    f = njit(put)
    assert f(d, 3, 4) is d and dict(d) == {1: 2, 3: 4}
    d[5] = 6
    assert len(f(d, 7, 8)) == 4 and list(d) == [1, 3, 5, 7]
    assert str(f.signatures[0][0]) == "dict(int64, int64)"


def test_every_method_in_compiled_code():
    def all_of_them(d):
        d[3] = 30
        d.update({4: 40})
        x = d.pop(4) + d.get(99, 7) + d.setdefault(5, 50) + d[3]
        del d[3]
        k, v = d.popitem()
        total = 0
        for key in d:
            total += key
        for value in d.values():
            total += value
        for key, value in d.items():
            total += key * value
        d |= {9: 90}
        return x, k, v, total, len(d), 9 in d, 10 in d.keys(), d == d.copy(), [k for k in d]
    ours, pythons = Dict({1: 10, 2: 20}), {1: 10, 2: 20}
    assert njit(all_of_them)(ours) == all_of_them(pythons) and list(ours.items()) == list(pythons.items())


def test_errors_in_compiled_code():
    @njit
    def get(d, k):
        return d[k]

    @njit
    def grow(d):
        for k in d:
            d[k + 100] = k
    d = Dict({1: 2})
    with pytest.raises(KeyError) as e:
        get(d, 7)
    assert e.value.args == (7,)
    with pytest.raises(RuntimeError, match="changed size"):
        grow(d)
    assert len(d) == 2
    with pytest.raises(tierup.TypingError, match="keys of type int64"):
        njit(put)(d, "a", 1)


def test_dicts_in_containers_are_shared():
    @njit
    def f(pair, rows, table):
        pair[0]["x"] = 1.5
        rows[0][7] = 70
        rows.append(rows[0])
        table["b"] = table["a"]
        table["a"].append(3)
        return rows[1], pair[0], table["b"]
    d, rows, table = Dict({"y": 0.5}), List([Dict({1: 10}), Dict({2: 20})]), Dict({"a": List([1])})
    row, one = rows[0], table["a"]
    out = f((d, 3), rows, table)
    assert out[0] is rows[1] and out[1] is d and out[2] is one is table["b"]
    assert dict(d) == {"y": 0.5, "x": 1.5} and dict(row) == {1: 10, 7: 70} and rows[0] is row and rows[2] is row and list(one) == [1, 3]
    row[8] = 80
    assert dict(rows[2]) == {1: 10, 7: 70, 8: 80}
    assert repr(table) == "DictType[str,ListType[int64]]({a: [1, 3], b: [1, 3]})"


def test_a_python_dict_may_be_put_in():
    @njit
    def put_in(rows, row):
        rows.append(row)
        row[np.int64(3)] = np.int64(4)
    rows, row = List.empty_list(types.DictType(types.int64, types.int64)), {np.int64(1): np.int64(2)}
    put_in(rows, row)
    assert row == {1: 2, 3: 4} and dict(rows[0]) == {1: 2, 3: 4} and type(rows[0]) is Dict
    rows.append({5: 6})
    assert dict(rows[1]) == {5: 6} and type(rows[1]) is Dict


def test_made_in_compiled_code():
    @njit
    def make(n):
        out = Dict()
        for i in range(n):
            out[i] = i * 0.5
        return out

    @njit
    def of(entries):
        return Dict(entries)

    @njit
    def empty(n):
        out = Dict.empty(types.int64, types.float32, n)
        out[1] = 2
        return out

    @njit
    def by_name():
        return Dict.empty(key_type=types.int64, value_type=types.float64)

    @njit
    def nested():
        return Dict({"a": Dict({1: 2}), "b": Dict({3: 4})})

    @njit
    def parts(d):
        return d.copy(), dict(d), {k: v for k, v in d.items()}
    d = make(3)
    assert type(d) is Dict and repr(d) == "DictType[int64,float64]({0: 0.0, 1: 0.5, 2: 1.0})" and njit(put)(d, 4, 1.0) is d
    assert dict(of({1: 2})) == {1: 2} and dict(of([(1, 2.5)])) == {1: 2.5} and dict(of(Dict({"a": 1}))) == {"a": 1} and type(of({1: 2})) is Dict
    assert repr(empty(5)) == "DictType[int64,float32]({1: 2.0})" and repr(by_name()) == "DictType[int64,float64]({})"
    assert repr(nested()) == "DictType[str,DictType[int64,int64]]({a: {1: 2}, b: {3: 4}})"
    assert [type(p) for p in parts(Dict({1: 2}))] == [Dict, dict, dict]


def test_isinstance_tells_typed_dicts_from_copies():
    @njit
    def kinds(d):
        made, plain = Dict({1: 2}), {1: 2}
        return isinstance(d, Dict), isinstance(made, Dict), isinstance(plain, Dict), isinstance(d, (dict, Dict)), isinstance(d, List), isinstance(3, Dict)
    assert kinds(Dict({1: 2})) == (True, True, False, True, False, False)
    assert kinds({1: 2}) == (False, True, False, True, False, False)


def test_a_declared_signature():
    @njit(types.int64(types.DictType(types.unicode_type, types.int64)))
    def total(d):
        s = 0
        for v in d.values():
            s += v
        return s
    assert total(Dict({"a": 1, "b": 2})) == 3 and total({"a": 4}) == 4
    with pytest.raises(TypeError):
        total(Dict({"a": 1.5}))


def test_what_a_call_puts_in_outlives_it():
    @njit
    def keep(d, t, arrays, a):
        d[t] = t + "!"
        arrays[len(arrays)] = a
        return d

    class Array(np.ndarray):
        pass
    d, arrays = Dict({"a": "b"}), Dict({0: np.zeros(1)})
    for k in range(50):
        a = np.full(3, float(k)).view(Array)
        keep(d, "text %d" % k, arrays, a)
        gone = weakref.ref(a)
        del a
    gc.collect()
    assert dict(d) == {"a": "b"} | {"text %d" % k: "text %d!" % k for k in range(50)}
    assert gone() is not None and [float(a[0]) for a in arrays.values()][1:] == [float(k) for k in range(50)]
    del arrays
    gc.collect()
    assert gone() is None


def test_the_last_reference_frees():
    class Array(np.ndarray):
        pass
    a = np.zeros(2).view(Array)
    gone = weakref.ref(a)
    d = Dict({"x": List([a])})
    inner = d["x"]
    taken = d.pop("x")
    assert taken is inner
    del a, d, taken
    gc.collect()
    assert gone() is not None and len(inner) == 1
    del inner
    gc.collect()
    assert gone() is None


@pytest.fixture
def tier_0_alone():
    """Promotion loads LLVM, which is larger than what the test looks for."""
    tierup.config.tier = "0"


def test_memory_is_flat(tier_0_alone):
    import resource

    def cycle():
        for k in range(300):
            d = Dict({"key %d" % i: float(i) for i in range(50)})
            d["x"] = 1.0
            d["x"] = 2.0
            d.pop("key 1")
            d.popitem()
            njit_put(d, "z %d" % k, 1.0)
            list(d.items())
            d.copy().clear()
    njit_put = njit(put)
    cycle()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(10):
        cycle()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def while_running(f, d, body):
    """Runs `body` while a thread is within `f(d, state)`, which sets `state[0]` and waits for `state[1]`."""
    f(d, np.ones(2, np.int64))
    state = np.zeros(2, np.int64)
    t = threading.Thread(target=f, args=(d, state))
    t.start()
    try:
        while not state[0] and t.is_alive():
            time.sleep(0.001)
        body()
        assert t.is_alive()
    finally:
        state[1] = 1
        t.join()


@njit(nogil=True)
def change(d, state):
    d[1] += 1
    state[0] = 1
    while state[1] == 0:
        time.sleep(0.001)


@njit(nogil=True)
def look(d, state):
    state[0] = 1
    while state[1] == 0:
        time.sleep(0.001)
    return d[1]


def test_a_dict_in_use_is_not_changed():
    d, done = Dict({1: 1, 2: 2}), np.ones(2, np.int64)
    assert look(d, done) == 1

    def changed():
        for use in (lambda: d[1], lambda: d.get(1), lambda: 1 in d, lambda: look(d, done), lambda: list(d), lambda: list(d.items()), lambda: change(d, done), lambda: d.update({3: 3}), lambda: d == {}, lambda: d.pop(1), lambda: d.copy()):
            with pytest.raises(RuntimeError, match="the dict is in use"):
                use()
    while_running(change, d, changed)

    def looked_at():
        assert d[1] == look(d, done) == 3 and len(d) == 2 and list(d) == [1, 2]
        for use in (lambda: change(d, done), lambda: d.__setitem__(3, 3), lambda: d.clear(), lambda: d.popitem(), lambda: d.setdefault(9, 9), lambda: d.__delitem__(1)):
            with pytest.raises(RuntimeError, match="the dict is in use"):
                use()
    while_running(look, d, looked_at)
    d[3] = 3
    assert dict(d) == {1: 3, 2: 2, 3: 3}


def test_what_is_in_a_dict_in_use_is_not_changed():
    @njit(nogil=True)
    def f(table, state):
        table["a"].append(1)
        state[0] = 1
        while state[1] == 0:
            time.sleep(0.001)
    table = Dict({"a": List([1])})
    one = table["a"]

    def body():
        with pytest.raises(RuntimeError, match="the list is in use"):
            one.append(3)
    while_running(f, table, body)
    one.append(3)
    assert list(table["a"]) == [1, 1, 1, 3]


def counted(d):
    n = {}
    for k, v in d.items():
        n[v] = n.get(v, 0) + 1
    return len(n) + d.get(5, 0)


def parallel_sum(d):
    s = 0
    for i in prange(len(d)):
        s += d[i + 1]
    return s


def changed_copy(d):
    e = d.copy()
    e[7] = 1
    return len(e)


@pytest.mark.parametrize("reader", [counted, parallel_sum, changed_copy], ids=lambda f: f.__name__)
def test_what_only_reads_a_dict_shares_it(reader):
    compiled = njit(parallel=reader is parallel_sum)(reader)
    d = Dict({1: 3, 2: 1, 3: 2})
    expected = reader({1: 3, 2: 1, 3: 2})
    assert compiled(d) == expected

    def body():
        assert compiled(d) == expected
    while_running(look, d, body)
    assert dict(d) == {1: 3, 2: 1, 3: 2}


def popped(d):
    d.pop(1)


def changed_through_a_name(d):
    e = d if len(d) > 1 else d.copy()
    e[9] = 4


def defaulted(d):
    d.setdefault(8, 8)


@pytest.mark.parametrize("writer", [popped, changed_through_a_name, defaulted], ids=lambda f: f.__name__)
def test_what_changes_a_dict_does_not_share_it(writer):
    compiled = njit(writer)
    d = Dict({1: 3, 2: 1})
    compiled(Dict({1: 3, 2: 1}))

    def body():
        with pytest.raises(RuntimeError, match="in use"):
            compiled(d)
    while_running(look, d, body)
    assert dict(d) == {1: 3, 2: 1}


def test_one_dict_twice_in_a_parallel_loop():
    @njit(parallel=True)
    def f(a, b, n):
        out = np.zeros(n, np.int64)
        for i in prange(n):
            out[i] = a[i] + b[i]
        return out
    d = Dict({i: i * i for i in range(100)})
    assert f(d, d, 100).tolist() == [2 * i * i for i in range(100)]


def test_generators_share_dicts():
    @njit
    def gen(d):
        for k in range(3):
            d[k] = k * k
            yield d
    d = Dict.empty(types.int64, types.int64)
    for n, same in enumerate(gen(d)):
        assert same is d and len(d) == 2 * n + 1
        d[-1 - n] = 0
    assert dict(d) == {0: 0, -1: 0, 1: 1, -2: 0, 2: 4, -3: 0}


def test_threads_get_an_error_or_an_answer():
    d, errors = Dict({k: k for k in range(100)}), []

    def work(seed):
        for n in range(2000):
            try:
                if n % 3:
                    d[(n * seed) % 200] = n
                elif n % 7 == 0:
                    d.pop((n * seed) % 200, None)
                else:
                    dict(d.items())
            except RuntimeError as e:
                errors.append(str(e))
    threads = [threading.Thread(target=work, args=(s,)) for s in (1, 3, 7)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all("changed" in e or "in use" in e for e in errors) and all(0 <= k < 200 for k in d)


def test_the_compat_module():
    from tierup.compat import numba as names
    assert names.look_up("numba.typed", "Dict") is Dict and names.look_up("numba.types", "DictType") is types.DictType
