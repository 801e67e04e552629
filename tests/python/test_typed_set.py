"""`tierup.typed.Set`: a set in native memory, which Python and compiled code share."""

import copy
import gc
import pickle
from collections.abc import MutableSet

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")

from tierup import njit, types, typeof  # noqa: E402
from tierup.typed import Dict, List, Set  # noqa: E402


# -- in Python -----------------------------------------------------------------------------------------------------------------------------------


def test_elements_say_the_type():
    for items, text in [([1, 2], "int64"), (["a", "b"], "str"), ([(1, 2.5)], "tuple(int64, float64)"), ([np.int8(1)], "int8"), ([1.5], "float64")]:
        s = Set(items)
        assert set(s) == set(items) and list(s) == items and repr(s) == f"SetType[{text}]({{{', '.join(map(str, items))}}})"
        assert typeof(s) == types.SetType(typeof(s).key_type) and typeof(s).key_type._tierup_type_ == text
    assert repr(Set()) == "SetType[Undefined]({})" and len(Set()) == 0 and not Set()
    s = Set()
    s.add(2.5)
    assert repr(s) == "SetType[float64]({2.5})" and s._typed and not Set()._typed


def test_an_empty_set_of_a_type():
    for t, x in [(types.int32, 3), (types.float32, 1.5), (types.unicode_type, "x"), (types.UniTuple(types.int64, 2), (1, 2))]:
        s = Set.empty(t)
        assert len(s) == 0 and s._typed and typeof(s) == types.SetType(t)
        s.add(x)
        assert list(s) == [x] and x in s
        assert len(Set(settype=typeof(s))) == 0
    with pytest.raises(tierup.TypingError, match="no element of type int64"):
        Set.empty(types.int64).add("a")
    with pytest.raises(TypeError, match="elements of type list"):
        Set.empty(types.ListType(types.int64))
    for bad, text in [((3,), "not iterable"), ((1, 2), "at most 1 argument")]:
        with pytest.raises(TypeError, match=text):
            Set(*bad)
    with pytest.raises(TypeError, match="no keyword"):
        Set(a=3)
    with pytest.raises(TypeError):
        Set([1, "a"])


def sets_of(cls):
    return cls([1, 2, 3, 5]), cls([3, 4]), cls([1, 2]), cls()


OPERATIONS = [
    lambda s, o: s | o, lambda s, o: s & o, lambda s, o: s - o, lambda s, o: s ^ o, lambda s, o: s == o, lambda s, o: s != o, lambda s, o: s < o, lambda s, o: s <= o, lambda s, o: s > o, lambda s, o: s >= o,
    lambda s, o: s.union(o), lambda s, o: s.intersection(o), lambda s, o: s.difference(o), lambda s, o: s.symmetric_difference(o), lambda s, o: s.issubset(o), lambda s, o: s.issuperset(o), lambda s, o: s.isdisjoint(o),
    lambda s, o: s.update(o), lambda s, o: s.intersection_update(o), lambda s, o: s.difference_update(o), lambda s, o: s.symmetric_difference_update(o), lambda s, o: s.__ior__(o) and None, lambda s, o: s.__iand__(o) and None,
    lambda s, o: s.__isub__(o) and None, lambda s, o: s.__ixor__(o) and None, lambda s, o: s.copy(), lambda s, o: [x in s for x in o], lambda s, o: [s.discard(x) for x in list(o)], lambda s, o: [s.add(x) for x in list(o)], lambda s, o: (len(s), bool(s)),
    lambda s, o: s.union([7, 8], o), lambda s, o: s.intersection([1, 2, 3], [3]), lambda s, o: s.difference([1], o), lambda s, o: s.union(), lambda s, o: s.clear(), lambda s, o: s == 3, lambda s, o: s.update([9], [10]),
]


@pytest.mark.parametrize("k", range(len(OPERATIONS)))
def test_operations_are_pythons(k):
    """With a set of the same class, one of Python's and itself on the other side; what comes out is of the class."""
    for i, _ in enumerate(sets_of(set)):
        for j in (*range(4), None):
            for other in (Set, set, frozenset):
                ours, pythons = sets_of(Set)[i], sets_of(set)[i]
                theirs = ours if j is None else sets_of(other)[j]
                out, expected = OPERATIONS[k](ours, theirs), OPERATIONS[k](pythons, pythons if j is None else sets_of(other if other is not Set else set)[j])
                assert out == expected and ours == pythons and pythons == set(ours), (i, j, other)
                assert isinstance(out, Set) == isinstance(expected, set), (i, j, other)


def test_pythons_sets_on_the_left():
    s = Set([1, 2])
    assert type({1, 5} | s) is Set and {1, 5} | s == {1, 2, 5} and {1, 5} & s == {1} and {1, 5} - s == {5} and {1, 5} ^ s == {2, 5} and {1, 2} == s and {1} < s
    plain = {7}
    plain.update(s)
    assert plain == {1, 2, 7}


def test_it_is_a_mutable_set():
    assert isinstance(Set(), MutableSet) and Set[int].__origin__ is Set
    missing = [n for n in dir(set) if not n.startswith("_") and not hasattr(Set, n)]
    assert not missing


@pytest.mark.parametrize("step", [
    lambda s: s.remove(3), lambda s: s.add([1]), lambda s: [1] in s, lambda s: s.discard({}), lambda s: (s.clear(), s.pop()), lambda s: hash(s), lambda s: s | [1], lambda s: s.update(3), lambda s: s.union(3), lambda s: s < 3,
    lambda s: [s.add(x + 10) for x in s], lambda s: [s.clear() for x in s], lambda s: s.__iand__([1]) if type(s) is Set else s.__iand__({1}) and 1 / 0, lambda s: s.issubset(3), lambda s: s[0],
])
def test_errors_are_pythons(step):
    with pytest.raises(Exception) as theirs:
        step({1, 5})
    with pytest.raises((type(theirs.value), TypeError)) as ours:
        step(Set([1, 5]))
    if not isinstance(ours.value, TypeError):
        assert type(ours.value) is type(theirs.value) and str(ours.value) == str(theirs.value) and ours.value.args == theirs.value.args


def test_an_element_stays_the_number_that_it_is():
    s = Set([0.5])
    s.add(2)
    assert list(s) == [0.5, 2.0] and 2 in s and np.float32(0.5) in s and 2**53 + 1 not in s and float("nan") not in s
    with pytest.raises(OverflowError, match="this element is no float64, as the elements of this set are"):
        s.add(2**53 + 1)
    small = Set.empty(types.int8)
    small.add(100)
    assert 100 in small and 356 not in small and "a" not in small
    small.discard(356)
    assert len(small) == 1


def test_random_changes_are_pythons():
    rng = np.random.default_rng(3)
    ours, pythons = Set.empty(types.int64), {}
    for what, x in zip(rng.integers(0, 12, 5000).tolist(), rng.integers(0, 60, 5000).tolist()):
        if what < 7:
            ours.add(x)
            pythons[x] = None
        elif what < 11:
            ours.discard(x)
            pythons.pop(x, None)
        elif pythons:
            assert ours.pop() == pythons.popitem()[0]
        assert len(ours) == len(pythons)
    # In the order in which they came.
    assert list(ours) == list(pythons)


def test_without_a_type_it_is_an_empty_set():
    s = Set()
    assert list(s) == [] and 1 not in s and s == set() and s.copy() == set() and s.clear() is None and s.discard(3) is None and s | {1} == {1} and s & {1} == set() and s ^ {2} == {2}
    for use in (lambda: s.pop(), lambda: s.remove(1)):
        with pytest.raises(KeyError):
            use()
    with pytest.raises(TypeError, match="type of the elements"):
        njit(len_of)(s)
    s.update(Set.empty(types.int8))
    assert repr(s) == "SetType[int8]({})"


def test_copies_and_pickles():
    for s in (Set([1.5]), Set([("a", 1)]), Set.empty(types.int8), Set()):
        for again in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
            assert again is not s and again == s and repr(again) == repr(s) and type(again) is Set


# -- shared with compiled code -------------------------------------------------------------------------------------------------------------------


def len_of(s):
    return len(s)


def put(s, x):
    s.add(x)
    return s


def test_compiled_code_gets_the_set_itself():
    s = Set([1])
    f = njit(put)
    assert f(s, 3) is s and set(s) == {1, 3}
    s.add(5)
    assert len(f(s, 7)) == 4 and list(s) == [1, 3, 5, 7]
    assert str(f.signatures[0][0]) == "set(int64)"
    assert f({1}, 2) == {1, 2} and type(f({1}, 2)) is set
    with pytest.raises(tierup.TypingError, match="a set of int64 cannot hold"):
        f(s, "a")


def test_every_method_in_compiled_code():
    def all_of_them(s, o):
        s.add(30)
        s.update({40, 41})
        s.discard(41)
        s.discard(999)
        s.remove(40)
        total = 0
        for x in s:
            total += x
        return total, len(s), 30 in s, 31 in s, s == s.copy(), s == o, s <= o, sorted(s | o), sorted(s & o), sorted(s - o), sorted(s ^ o), sorted([x for x in s])
    ours, pythons = Set([1, 2]), {1, 2}
    assert njit(all_of_them)(ours, Set([2, 30, 3])) == all_of_them(pythons, {2, 30, 3}) and ours == pythons


def test_errors_in_compiled_code():
    @njit
    def grow(s):
        for x in s:
            s.add(x + 100)

    @njit
    def remove(s, x):
        s.remove(x)
    s = Set([1])
    with pytest.raises(RuntimeError, match="changed size"):
        grow(s)
    with pytest.raises(KeyError) as e:
        remove(s, 7)
    assert e.value.args == (7,)


def test_made_in_compiled_code():
    @njit
    def make(n):
        out = Set()
        for i in range(n):
            out.add(i * 0.5)
        return out

    @njit
    def of(values):
        return Set(values)

    @njit
    def empty(n):
        out = Set.empty(types.int32, n)
        out.add(1)
        return out

    @njit
    def parts(s):
        return s.copy(), set(s), {x for x in s}, s | s
    s = make(3)
    assert type(s) is Set and repr(s) == "SetType[float64]({0.0, 0.5, 1.0})" and njit(put)(s, 4.0) is s
    assert set(of([1, 2, 1])) == {1, 2} and set(of(Set(["a"]))) == {"a"} and type(of({1})) is Set
    assert repr(empty(5)) == "SetType[int32]({1})"
    assert [type(p) for p in parts(Set([1]))] == [Set, set, set, set]


def test_isinstance_tells_typed_sets_from_copies():
    @njit
    def kinds(s):
        made, plain = Set([1]), {1}
        return isinstance(s, Set), isinstance(made, Set), isinstance(plain, Set), isinstance(s, (set, Set)), isinstance(s, Dict), isinstance(3, Set)
    assert kinds(Set([1])) == (True, True, False, True, False, False)
    assert kinds({1}) == (False, True, False, True, False, False)


def test_a_declared_signature():
    @njit(types.int64(types.SetType(types.int64)))
    def total(s):
        n = 0
        for x in s:
            n += x
        return n
    assert total(Set([1, 3])) == 4 and total({4}) == 4
    with pytest.raises(TypeError):
        total(Set([1.5]))


def test_sets_in_typed_containers_are_shared():
    @njit
    def change(rows, table):
        rows[0].add(7)
        rows.append(rows[0])
        table["a"].discard(1)
        table["b"] = rows[0]
        return rows[1]
    rows, table = List([Set([1])]), Dict({"a": Set([1, 2])})
    row, one = rows[0], table["a"]
    assert change(rows, table) is row is table["b"] and set(row) == {1, 7} and set(one) == {2}
    row.add(8)
    assert set(rows[1]) == {1, 7, 8}
    rows.append({5})
    assert type(rows[2]) is Set and set(rows[2]) == {5}
    assert repr(rows) == "ListType[SetType[int64]]([{1, 7, 8}, {1, 7, 8}, {5}])"
    with pytest.raises(TypeError, match="cannot hold values of type frozenset"):
        List([frozenset([1])])


def test_whoever_has_it_while_code_runs_is_refused():
    """A class whose hash changes the set that a method looks into."""
    class Key:
        def __hash__(self):
            return hash(1)

        def __eq__(self, other):
            s.clear()
            return other == 1
    for use in (lambda k: k in s, lambda k: s.discard(k)):
        s = Set([1, 2])
        use(Key())
        assert set(s) <= {1, 2}


def test_memory_is_flat():
    import resource

    def cycle():
        for k in range(300):
            s = Set("key %d" % i for i in range(50))
            s.add("x")
            s.discard("key 1")
            s.pop()
            compiled(s, "z %d" % k)
            list(s)
            (s.copy() | s).clear()
    compiled = njit(put)
    for _ in range(5):
        cycle()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20):
        cycle()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096


def test_numbas_names():
    from tierup.compat import numba as names
    assert names.look_up("numba.typed", "Set") is Set and names.look_up("numba.types", "SetType") is types.SetType

    @njit
    def make():
        s = names_new_set(types.int32)
        s.add(3)
        return s
    names_new_set = names.look_up("numba.typed.setobject", "new_set")
    assert repr(make()) == "SetType[int32]({3})"
