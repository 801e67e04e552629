"""Objects of ordinary classes at the boundary: copied in with all they lead to, written back, the same objects afterwards; classes that change; nothing kept."""

import gc
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest
from harness import memory

tierup = pytest.importorskip("tierup")
from tierup import njit  # noqa: E402
from tierup.errors import TypingError  # noqa: E402


@pytest.fixture(autouse=True)
def tier_0_alone():
    """Promotion in the background loads LLVM, which is larger than what tests of memory look for."""
    tierup.config.tier = "0"


class Node:
    def __init__(self, v, next=None):
        self.v = v
        self.next = next
        self.items = [v]


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b


# -- which object is which -----------------------------------------------------------------------------------------------------------------------


def test_what_is_returned_is_the_object_that_was_passed():
    @njit
    def f(p, q, c):
        return p if c else q
    p, q = Node(1), Node(2)
    assert f(p, q, True) is p and f(p, q, False) is q and f(p, p, False) is p


def test_an_object_inside_a_container_comes_back_as_itself():
    @njit
    def f(p, xs):
        return [p, xs[0]], (xs[1], p), {"p": p}
    p, q = Node(1), Node(2)
    xs, pair, d = f(p, [q, p])
    assert xs[0] is p and xs[1] is q and pair == (p, p) and d["p"] is p


def test_a_field_gets_the_very_object_that_was_passed():
    @njit
    def f(pair, p):
        pair.a, pair.b = p, pair.a
    pair, p = Pair(Node(1), Node(2)), Node(3)
    old = pair.a
    f(pair, p)
    assert pair.a is p and pair.b is old


def test_an_object_that_was_made_inside_is_one_object_outside():
    @njit
    def f(pair):
        n = Node(5)
        pair.a = n
        pair.b = n
        return n
    pair = Pair(Node(1), Node(2))
    n = f(pair)
    assert pair.a is n and pair.b is n and type(n) is Node


def test_lists_and_dicts_in_fields_stay_the_same_objects():
    class Bag:
        def __init__(self):
            self.xs, self.d, self.s = [1], {"a": 1}, {1}

    @njit
    def f(b):
        b.xs.append(2)
        b.d["b"] = 2
        b.s.add(2)
        return b.xs, b.d
    b = Bag()
    xs, d, s = b.xs, b.d, b.s
    got, table = f(b)
    assert got is xs is b.xs and table is d is b.d and b.s is s
    assert (xs, d, s) == ([1, 2], {"a": 1, "b": 2}, {1, 2})


def test_a_list_that_was_replaced_is_left_as_it_was():
    @njit
    def f(n):
        n.items.append(5)
        n.items = [7]
        n.items.append(8)
    n = Node(1)
    old = n.items
    f(n)
    assert old == [1, 5] and n.items == [7, 8]


def test_an_array_in_a_field_is_not_copied():
    class Field:
        def __init__(self, a):
            self.a = a

    @njit
    def f(x):
        x.a[0] = 5.0
        return x.a
    a = np.zeros(3)
    x = Field(a)
    got = f(x)
    assert x.a is a and a[0] == 5.0 and np.shares_memory(got, a)


def test_aliases_between_arguments_are_one_object():
    @njit
    def f(p, q, pair, xs):
        p.v += 1
        q.v += 10
        pair.a.v += 100
        xs[0].v += 1000
        return p.v
    p = Node(0)
    assert f(p, p, Pair(p, p), [p]) == 1111 == p.v


def test_a_list_that_is_a_field_and_an_argument_is_one_list():
    @njit
    def f(n, xs):
        n.items.append(2)
        xs.append(3)
        return len(n.items)
    n = Node(1)
    assert f(n, n.items) == 3 and n.items == [1, 2, 3]


# -- what is written back ------------------------------------------------------------------------------------------------------------------------


def test_only_fields_that_changed_are_set():
    class Watched:
        def __init__(self):
            self.a = 1000
            self.b = [1]
            self.c = 2000

    @njit
    def f(w):
        w.c += 1
        return w.a
    w = Watched()
    a, b = w.a, w.b
    f(w)
    assert w.a is a and w.b is b and w.c == 2001


def test_an_attribute_that_compiled_code_does_not_know_is_left_alone():
    @njit
    def f(n):
        n.v += 1
        return n
    n = Node(1)
    n.extra = object()
    extra = n.extra
    assert f(n) is n and n.extra is extra and n.v == 2


def test_a_field_that_nobody_set_stays_unset():
    @njit
    def f(n):
        n.v += 1
    n = Node(1)
    del n.items
    f(n)
    assert vars(n) == {"v": 2, "next": None}


def test_an_int_stays_an_int_and_a_bool_a_bool():
    @njit
    def f(p):
        p.a += 1
        p.b = not p.b
        return p
    p = f(Pair(1, True))
    assert type(p.a) is int and p.b is False


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.float64, np.int8, np.complex64, np.uint64])
def test_a_number_of_numpy_stays_one_of_numpy(kind):
    @njit
    def f(pair, other, xs, d):
        pair.a, pair.b = other.a, other.b
        xs[0], d["x"], d["y"] = other.a, other.a, other.a
        xs.append(other.a)
    pair, xs, d = Pair(kind(1), 1), [kind(1), kind(3)], {"x": kind(1)}
    f(pair, Pair(kind(2), 2), xs, d)
    assert [type(x) for x in (pair.a, pair.b, *xs, *d.values())] == [kind, int, kind, kind, kind, kind, kind]
    assert pair.a == xs[0] == d["x"] == kind(2)
    f(pair, Pair(kind(3), 2), xs, d)
    assert len(f.signatures) == 1 and pair.a == kind(3)


def test_a_number_of_numpy_that_becomes_none_is_none():
    @njit
    def f(pair, c):
        pair.a = None if c else pair.b
    pair = Pair(np.float32(1.5), np.float32(2.5))
    f(pair, False)
    assert type(pair.a) is np.float32 and pair.a == 2.5
    f(pair, True)
    assert pair.a is None


class Key:
    def __init__(self, v):
        self.v = v

    def __hash__(self):
        return hash(self.v)

    def __eq__(self, other):
        return self.v == other.v


def _set_then_changed(d, k):
    d[k] = 5.0
    k.v += 10


def _deleted_then_changed(d, k):
    del d[k]
    k.v += 10


def _changed_then_set(d, k):
    k.v += 10
    d[k] = 5.0


def _put_in_again(d, k):
    x = d.pop(k)
    k.v = 7
    d[k] = x + 1.0


def _raised(d, k):
    d[k] = 8.0
    k.v = 9
    raise ValueError("half-way")


@pytest.mark.parametrize("change", [_set_then_changed, _deleted_then_changed, _changed_then_set, _put_in_again, _raised])
@pytest.mark.parametrize("key_first", [False, True])
def test_a_key_whose_hash_changes_loses_no_value(change, key_first):
    def outcome(f):
        k = Key(1)
        d = {k: 1.0, Key(2): 2.0}
        try:
            f(k, d) if key_first else f(d, k)
        except ValueError as e:
            assert str(e) == "half-way"
        return [(key.v, x, key in d) for key, x in d.items()]
    plain = (lambda k, d: change(d, k)) if key_first else change
    assert outcome(njit(plain)) == outcome(plain)


def _removed_from(s, k):
    s.remove(k)
    k.v = 9


def _put_into(s, k):
    s.remove(k)
    k.v = 9
    s.add(k)
    s.add(Key(4))


@pytest.mark.parametrize("change", [_removed_from, _put_into])
def test_an_element_whose_hash_changes_is_found(change):
    def outcome(f):
        k = Key(1)
        s = {k, Key(2)}
        f(s, k)
        return sorted((x.v, x in s) for x in s)
    assert outcome(njit(change)) == outcome(change)


def test_what_changed_before_an_exception_has_changed():
    @njit
    def f(n, xs):
        n.v = 5
        n.items.append(6)
        n.next = Node(7)
        xs[0].v = 8
        raise ValueError("half-way")
    n, other = Node(1), Node(2)
    with pytest.raises(ValueError, match="half-way"):
        f(n, [other])
    assert (n.v, n.items, n.next.v, other.v) == (5, [1, 6], 7, 8)


def test_an_exception_carries_the_object_itself():
    @njit
    def f(n):
        n.v = 5
        raise KeyError(n)
    n = Node(1)
    with pytest.raises(KeyError) as e:
        f(n)
    assert e.value.args[0] is n and n.v == 5


def test_a_generator_shows_changes_at_each_yield_and_sees_those_of_python():
    @njit
    def f(n):
        for k in range(3):
            n.v += 1
            yield n.v
    n = Node(0)
    it = f(n)
    assert (next(it), n.v) == (1, 1)
    n.v = 10
    assert (next(it), n.v) == (11, 11)
    assert list(it) == [12] and n.v == 12


def test_a_ring_of_objects_comes_in_and_goes_out():
    @njit
    def f(n):
        n.next.v += 1
        n.next.next.v += 10
        return n.next.next
    n = Node(1)
    n.next = Node(2, n)
    assert f(n) is n and (n.v, n.next.v) == (11, 3)


def test_a_chain_of_any_length_comes_in_and_goes_out():
    @njit
    def made(count):
        last = None
        for k in range(count):
            last = Node(k, last)
        return last

    @njit
    def total(n):
        s = 0
        while n is not None:
            s += n.v
            n.v = 0
            n = n.next
        return s
    chain = made(100_000)
    assert total(chain) == 99_999 * 100_000 // 2 and total(chain) == 0
    while chain is not None:  # Python itself would recurse to drop it
        chain = chain.next


def test_what_an_object_leads_to_may_not_be_taken():
    @njit
    def f(p):
        return p.a
    with pytest.raises(TypingError, match="in the field 'b' of Pair"):
        f(Pair(1, np.array([None])))


# -- types of fields -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [(1, 2), (1.5, 2.5), ("a", "b"), ([1], [2]), (None, 1), (1, 2.5), (None, "x"), ([], [1]), (1j, 2j), (True, False), ({1: 2}, {3: 4}), ((1, 2), (3, 4)), (b"a", b"b")])
def test_one_function_takes_fields_of_each_type(values):
    def f(p, v):
        p.a = v
        return p.a
    compiled = njit(f)
    for a in (values[0], 7, values[0], "text"):
        ours, pythons = Pair(a, None), Pair(a, None)
        given = values[1] if a is values[0] else a
        assert compiled(ours, given) == f(pythons, given) and vars(ours) == vars(pythons)


def test_a_function_of_a_field_that_was_none_takes_it_filled():
    @njit
    def f(p):
        if p.a is None:
            p.a = Node(0)
        p.a.v += 1
        return p.a.v
    p = Pair(None, None)
    assert [f(p) for _ in range(3)] == [1, 2, 3]


def test_subclasses_are_passed_for_their_base():
    class Base:
        def __init__(self):
            self.x = 1

        def go(self):
            return self.x

    class Derived(Base):
        def __init__(self):
            super().__init__()
            self.y = 10

        def go(self):
            return super().go() + self.y

    @njit
    def f(b):
        b.x += 1
        return b.go()
    assert [f(Base()), f(Derived()), f(Base())] == [2, 12, 2]


# -- classes -------------------------------------------------------------------------------------------------------------------------------------


def test_a_method_that_changed_is_the_one_that_is_called():
    class P:
        def __init__(self, x):
            self.x = x

        def go(self):
            return self.x

    @njit
    def passed(p):
        return p.go()

    @njit
    def made(x):
        return P(x).go()
    assert (passed(P(2)), made(2)) == (2, 2)
    P.go = lambda self: self.x * 100
    assert (passed(P(2)), made(2)) == (200, 200)
    del P.go
    P.go = property(lambda self: lambda: -1)
    assert passed(P(2)) == -1


def test_an_init_that_changed_is_the_one_that_runs():
    class P:
        def __init__(self, x):
            self.x = x

    @njit
    def f(x):
        return P(x).x
    assert f(3) == 3

    def init(self, x):
        self.x = x * 2
    P.__init__ = init
    assert f(3) == 6


def test_a_class_under_an_old_name_is_another_class():
    class P:
        def __init__(self, x):
            self.x = x

        def go(self):
            return self.x

    def make():
        class P:
            def __init__(self, x):
                self.y = x

            def go(self):
                return -self.y
        return P

    @njit
    def f(p):
        return p.go()
    assert [f(P(1)), f(make()(1)), f(make()(2)), f(P(3))] == [1, -1, -2, 3]


def test_an_object_that_got_another_class_is_one_of_that_class():
    class A:
        def __init__(self):
            self.x = 1

        def go(self):
            return "a"

    class B(A):
        def go(self):
            return "b"

    @njit
    def f(p):
        return p.go()
    p = A()
    assert f(p) == "a"
    p.__class__ = B
    assert f(p) == "b"


def test_a_function_attribute_of_an_object_is_not_passed_over():
    @njit
    def f(p):
        return p.go()

    class A:
        def go(self):
            return 1
    p = A()
    assert f(p) == 1
    p.go = lambda: 2
    with pytest.raises(TypingError, match="go"):
        f(p)


def test_what_an_object_got_from_compiled_code_can_be_pickled_and_changed():
    @njit
    def f(v):
        return Node(v, Node(v + 1))
    n = pickle.loads(pickle.dumps(f(1)))
    assert (n.v, n.items, n.next.v, n.next.next) == (1, [1], 2, None)
    n.added = 5
    assert vars(f(1)).keys() == {"v", "next", "items"}


# -- threads -------------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"nogil": True}])
def test_threads_with_objects_of_their_own(options):
    @njit(**options)
    def f(n, k):
        for i in range(k):
            n.v += 1
            n.items.append(i)
        return n.v
    nodes = [Node(0) for _ in range(4)]
    threads = [threading.Thread(target=lambda n=n: [f(n, 500) for _ in range(10)]) for n in nodes]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [(n.v, len(n.items)) for n in nodes] == [(5000, 5001)] * 4


def test_threads_that_share_an_object_end():
    @njit(nogil=True)
    def f(n, k):
        for i in range(k):
            n.v += 1
            n.items = [i]
            n.next = Node(i)
        return n.v
    n = Node(0)
    threads = [threading.Thread(target=lambda: [f(n, 100) for _ in range(20)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert 100 <= n.v <= 8000 and n.items == [99] and n.next.v == 99


def test_objects_are_read_and_made_in_parallel_loops():
    @njit(parallel=True)
    def reads(nodes):
        s = 0.0
        for i in tierup.prange(len(nodes)):
            s += nodes[i].v
        return s

    @njit(parallel=True)
    def makes(out):
        for i in tierup.prange(len(out)):
            n = Node(i)
            n.v += 1
            out[i] = n.v + len(n.items)
        return out
    assert reads([Node(float(k)) for k in range(50)]) == 1225.0
    assert makes(np.zeros(20)).tolist() == [k + 2.0 for k in range(20)]


# -- nothing is kept -----------------------------------------------------------------------------------------------------------------------------


@njit
def made_ring(count):
    for i in range(count):
        a = Node(i)
        a.next = Node(i, a)
    return 0


@njit
def made_chain(count):
    last = None
    for i in range(count):
        last = Node(i, last)
    return last


@njit
def replaces(n, count):
    for i in range(count):
        n.items.append(i)
        n.next = Node(i, n)
    n.items = [1]
    return n


@njit
def raises(n):
    n.items = [1, 2]
    n.next = Node(5)
    raise ValueError("x")


def calls_that_raise():
    for _ in range(100):
        with pytest.raises(ValueError):
            raises(Node(1))


RING = Node(1)
RING.next = Node(2, RING)


@pytest.mark.isolated
@pytest.mark.parametrize("call", [
    pytest.param(lambda: made_ring(1000), id="rings"),
    pytest.param(lambda: made_chain(1000), id="chains"),
    pytest.param(lambda: replaces(RING, 1000), id="an argument that is a ring"),
    pytest.param(lambda: replaces(Node(1), 1000), id="a new argument each time"),
    pytest.param(calls_that_raise, id="exceptions"),
])
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_stays_flat(call):
    assert memory.growth(call, 30) < 600


def test_reference_counts_stay_what_they_were():
    @njit
    def f(p, q):
        p.a = q
        p.b = p.a
        return p.b
    p, q = Pair(Node(1), Node(2)), Node(3)
    f(p, q)
    before = sys.getrefcount(p), sys.getrefcount(q), sys.getrefcount(q.next), sys.getrefcount(Node)
    for _ in range(100):
        f(p, q)
    assert (sys.getrefcount(p), sys.getrefcount(q), sys.getrefcount(q.next), sys.getrefcount(Node)) == before


def test_what_was_made_and_dropped_dies():
    @njit
    def f():
        return Node(1, Node(2, Node(3)))
    n = f()
    second = weakref.ref(n.next)
    n.next = None
    assert second() is None


def test_a_class_lives_no_longer_than_its_uses():
    def look():
        class T:
            def __init__(self):
                self.x = 1

        @njit
        def f(t):
            t.x += 1
            return t, T()
        f(T())
        return weakref.ref(T)
    ref = look()
    gc.collect()
    assert ref() is None


class Base:
    def __init__(self):
        self.kids = []


class Derived(Base):
    def __init__(self):
        super().__init__()
        self.friends = []


class Table:
    def __init__(self, named):
        self.rows = {}
        self.named = named


def test_lists_of_one_class_here_and_another_there_are_of_both():
    f = njit(lambda x: x)
    a, b, c, d = Base(), Base(), Derived(), Derived()
    b.kids.append(d)
    c.friends.append(a)
    d.friends.append(c)
    assert f(b) is b and b.kids == [d] and d.friends == [c] and c.friends == [a]


def test_arguments_that_share_an_empty_dict_are_of_one_type():
    @njit
    def f(p, q):
        q.named = {"a": 1}

    v, w = Table({}), Table({})
    v.named = w.named
    w.rows["self"] = w
    f(v, w)
    assert w.named == {"a": 1} and v.named == {} and w.rows["self"] is w


def test_sets_of_objects_that_lead_back_to_them():
    class Plain:
        pass

    @njit
    def degrees(n):
        return len(n.near), len(n.kept), sum(len(m.near) for m in n.near)

    a, b = Plain(), Plain()
    a.near, b.near = {b}, {a, b}
    a.kept, b.kept = frozenset([a, b]), frozenset([b])
    assert degrees(a) == (1, 2, 2) and degrees(b) == (2, 1, 3)
