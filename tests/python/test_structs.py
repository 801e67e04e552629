"""Objects in native memory: `tierup.struct` and `experimental.jitclass`. One object on both sides, declared fields, threads, memory."""

import copy
import datetime
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import jit, njit, struct, typed, types  # noqa: E402
from tierup.errors import TypingError  # noqa: E402
from tierup.experimental import jitclass  # noqa: E402


@struct
class Body:
    height: float
    speed: float = 0.0
    mass: float = 1.0


@struct
class Node:
    value: int
    next: "Node | None" = None


@struct
class Bag:
    items: list[float]
    a: types.float64[:]
    name: str


@pytest.fixture(autouse=True)
def tier_0_alone():
    """Promotion in the background loads LLVM, which is larger than what tests of memory look for."""
    tierup.config.tier = "0"


# -- one object on both sides ---------------------------------------------------------------------------------------------------------------------


@struct
class Stay:
    day: datetime.date
    span: datetime.timedelta
    start: "datetime.datetime | None" = None


def test_fields_hold_dates():
    @njit
    def later(s):
        s.day += s.span
        s.start = datetime.datetime(2024, 1, 1, 3) if s.start is None else s.start - s.span
        return s.day.weekday()

    s = Stay(datetime.date(2024, 2, 28), datetime.timedelta(2, 5))
    assert later(s) == 4
    assert (s.day, s.start) == (datetime.date(2024, 3, 1), datetime.datetime(2024, 1, 1, 3))
    later(s)
    assert s.start == datetime.datetime(2023, 12, 30, 2, 59, 55)
    with pytest.raises(TypeError):
        s.day = datetime.datetime(2024, 1, 1)
    assert pickle.loads(pickle.dumps(s)).span == s.span


def test_what_compiled_code_changes_python_sees_and_the_other_way_round():
    @njit
    def f(bodies, dt):
        for b in bodies:
            b.speed -= dt
    b, c = Body(1.0), Body(2.0)
    f([b, c, b], 0.5)
    assert (b.speed, c.speed) == (-1.0, -0.5)
    b.speed = 10
    f((b,), 1.0)
    assert b.speed == 9.0 and type(b.speed) is float


def test_there_is_one_python_object_as_long_as_it_lives():
    @njit
    def head(n):
        return n.next
    n = Node(1, Node(2))
    first = n.next
    assert n.next is first and head(n) is first
    number = weakref.ref(first)
    del first
    gc.collect()
    assert number() is None and n.next.value == 2


def test_a_result_that_was_passed_is_the_object_itself():
    @njit
    def pick(a, b, first):
        return a if first else b
    a, b = Body(1.0), Body(2.0)
    assert pick(a, b, True) is a and pick(a, b, False) is b


def test_an_array_in_a_field_is_the_array_that_was_put_there():
    a = np.arange(3.0)
    bag = Bag([1.0], a, "x")
    assert bag.a is a
    bag.a[0] = 7.0

    @njit
    def f(bag):
        bag.a[1] = bag.a[0]
        return bag.a
    assert f(bag) is a and a[1] == 7.0


def test_a_list_in_a_field_is_a_typed_list_that_both_sides_change():
    bag = Bag([1.0, 2.0], np.zeros(1), "x")

    @njit
    def f(bag):
        bag.items.append(3.0)
        return len(bag.items)
    assert isinstance(bag.items, typed.List) and f(bag) == 3
    bag.items.append(4.0)
    assert f(bag) == 5 and list(bag.items) == [1.0, 2.0, 3.0, 4.0, 3.0]


def test_a_typed_list_that_is_put_into_a_field_stays_the_list():
    xs = typed.List([1.0])
    bag = Bag(xs, np.zeros(1), "x")
    bag.items.append(2.0)
    assert list(xs) == [1.0, 2.0] and bag.items is xs


def test_changes_stay_where_a_call_raises():
    @njit
    def f(b):
        b.speed = 5.0
        raise ValueError("no")
    b = Body(1.0)
    with pytest.raises(ValueError):
        f(b)
    assert b.speed == 5.0


def test_an_object_is_a_key_by_identity_where_its_class_says_nothing_else():
    @struct(eq=False)
    class Key:
        n: int

    @njit
    def f(d, k):
        d[k] = 1
        return d[k]
    k = Key(1)
    assert f({Key(1): 5}, k) == 1 and k == k and k != Key(1) and hash(k) == hash(k)


# -- what fields hold -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["tall", None, 1j, [1.0]])
def test_a_value_of_another_type_is_a_type_error_that_names_the_field(value):
    b = Body(1.0)
    with pytest.raises(TypeError, match="the field 'height' of .*Body is float, and cannot hold a"):
        b.height = value
    assert b.height == 1.0


def test_an_integer_that_does_not_fit_is_an_overflow_error():
    @struct
    class Small:
        i: np.int16
        u: np.uint8

    @njit
    def put(s, i):
        s.i = i
    s = Small(1, 2)
    for name, value in (("i", 70000), ("u", -1), ("u", 256), ("i", 2**70)):
        with pytest.raises(OverflowError):
            setattr(s, name, value)
    with pytest.raises(OverflowError):
        put(s, 70000)
    assert (s.i, s.u) == (1, 2)


def test_an_attribute_that_is_no_field_cannot_be_set():
    with pytest.raises(AttributeError):
        Body(1.0).weight = 1
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del Body(1.0).height


def test_a_field_that_is_not_set_is_an_attribute_error_on_both_sides():
    @struct
    class Late:
        n: int
        name: str
        a: types.float64[:]

        def __init__(self, n):
            if n > 0:
                self.name = "x"
            self.n = n

    @njit
    def name(x):
        return x.name

    @njit
    def size(x):
        return x.a.size
    assert Late(1).name == "x" and name(Late(1)) == "x"
    for f in (name, size, lambda x: x.name, lambda x: x.a):
        with pytest.raises(AttributeError):
            f(Late(0))


def test_an_object_whose_init_did_not_end_is_refused_by_compiled_code():
    @njit
    def f(bag):
        return bag.name
    bag = Bag.__new__(Bag)
    with pytest.raises(AttributeError, match="no attribute 'items'"):
        f(bag)
    with pytest.raises(AttributeError):
        bag.name
    bag.items, bag.a, bag.name = [1.0], np.zeros(1), "x"
    assert f(bag) == "x"


def test_a_class_derived_without_the_decorator_is_refused():
    class Plain(Body):
        pass
    with pytest.raises(TypeError, match="decorate it as its base is"):
        Plain(1.0)


@pytest.mark.parametrize(
    ("what", "text"),
    [(list, "say of what"), (np.ndarray, "say which"), ("Nothing", "Nothing"), (int | str, "several types"), (tuple[int, ...], "any length"), (object, "no type"), (set[int], "not yet")],
    ids=str,
)
def test_what_is_no_type_of_a_field_is_said_with_its_name(what, text):
    namespace = {"__annotations__": {"x": what}, "__module__": __name__}
    made = struct(type("Odd", (), namespace))
    with pytest.raises(TypeError, match=f"the field 'x' of Odd.*{text}"):
        made(1)

    @njit
    def f():
        return made(1)
    with pytest.raises(TypingError, match="the field 'x' of Odd"):
        f()


def test_an_ordinary_class_is_no_type_of_a_field():
    class Plain:
        pass

    @struct
    class Holder:
        x: Plain
    with pytest.raises(TypeError, match="Plain"):
        Holder(Plain())


# -- as a class of Python's -----------------------------------------------------------------------------------------------------------------------


def test_objects_are_copied_and_pickled_with_what_they_hold():
    n = Node(1, Node(2))
    for other in (copy.deepcopy(n), pickle.loads(pickle.dumps(n))):
        assert other == n and other is not n and other.next is not n.next and other.next == n.next
    shallow = copy.copy(n)
    assert shallow is not n and shallow.next is n.next
    ring = Node(1)
    ring.next = ring
    other = pickle.loads(pickle.dumps(ring))
    assert other.next is other


def test_an_array_of_objects_is_a_structured_array():
    many = Body.array(3)
    assert isinstance(many, np.ndarray) and many.dtype.names == ("height", "speed", "mass") and not many["mass"].any()
    with pytest.raises(TypeError, match="the field 'next' of Node"):
        Node.array(2)


def test_options_are_those_of_dataclass():
    @struct(order=True, kw_only=True)
    class P:
        x: int
        y: int = 0
    assert P(x=1) < P(x=2) and repr(P(x=1)).endswith("P(x=1, y=0)")
    with pytest.raises(TypeError):
        P(1)

    @njit
    def less(a, b):
        return a < b, a == b
    assert less(P(x=1), P(x=1, y=2)) == (True, False)


def test_methods_are_compiled_and_run_by_python_where_they_cannot_be():
    @struct
    class M:
        n: int

        def twice(self):
            return 2 * self.n

        def odd(self):
            return globals().get("nothing", self.n)
    m = M(4)
    assert m.twice() == 8 and M.twice.signatures
    with pytest.warns(tierup.TierupWarning):
        assert m.odd() == 4


def test_with_the_compiler_off_a_struct_is_a_dataclass():
    program = """
        from tierup import njit, struct
        @struct
        class Body:
            x: float
            y: "float" = 1.0
            def sum(self): return self.x + self.y
        @njit
        def f(b): b.x += 1; return b.sum()
        b = Body(1.0)
        assert f(b) == 3.0 and b == Body(2.0) and Body.array(2).dtype.names == ("x", "y")
        print("done")
    """
    env = {**os.environ, "TIERUP_TIER": "off"}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, env=env)
    assert done.stdout.strip() == "done", done.stderr


# -- jitclass -------------------------------------------------------------------------------------------------------------------------------------


def test_jitclass_takes_its_fields_from_a_spec_and_from_annotations():
    @jitclass([("x", types.int32), ("arr", types.float64[:])])
    class Bag:
        y: float

        def __init__(self, n):
            self.x = n
            self.arr = np.zeros(n)

        @property
        def size(self):
            return self.arr.size

        @size.setter
        def size(self, n):
            self.arr = np.zeros(n)

        def inc(self, v):
            for i in range(self.size):
                self.arr[i] += v
            return self.arr

        @staticmethod
        def add(a, b):
            return a + b
    b = Bag(3)
    assert (b.x, b.y, b.size) == (3, 0.0, 3) and list(b.inc(v=2)) == [2.0] * 3 and Bag.add(1, 2) == b.add(1, 2) == 3
    b.size = 5
    assert b.size == 5 and np.shares_memory(b.inc(1), b.arr)


def test_jitclass_holds_objects_of_its_own_class_by_a_deferred_type():
    node_type = types.deferred_type()

    @jitclass({"data": types.float32, "next": types.optional(node_type)})
    class Linked:
        def __init__(self, data, next):
            self.data = data
            self.next = next

        def append(self, other):
            n = self
            while n.next is not None:
                n = n.next
            n.next = other
    node_type.define(Linked.class_type.instance_type)
    first = Linked(1, None)
    second = Linked(2, first)
    second.append(Linked(3, None))
    assert second.next is first and first.next.data == 3.0 and tierup.typeof(first) == Linked.class_type.instance_type == first._numba_type_

    @njit(node_type.get()(types.float64, types.optional(node_type)))
    def make(x, n):
        return Linked(x, n)
    assert make(1.5, first).next is first and make(1.5, None).next is None


def test_jitclass_is_made_of_a_class_that_stays_as_it_is():
    class Base:
        def what(self):
            return self.attr

    class Plain(Base):
        def __init__(self, attr):
            self.attr = attr

        def twice(self):
            return 2 * super().what()
    ints, floats = jitclass(Plain, [("attr", types.int64)]), jitclass([("attr", types.float64)])(Plain)
    assert ints(3).twice() == 6 and floats(1.5).twice() == 3.0 and ints(3).what() == 3 and Plain("a").twice() == "aa"
    assert type(ints(1).attr) is int and type(floats(1).attr) is float


@pytest.mark.parametrize(
    ("spec", "error", "text"),
    [([("x", int)], TypeError, "spec values should be Numba type instances"), ([(1, types.int32)], TypeError, "spec keys should be strings, got 1"), ([("get", types.int32)], NameError, "name shadowing: get"),
     ([("x",)], TypeError, "pairs")],
)
def test_a_spec_that_says_nothing_is_refused(spec, error, text):
    class C:
        def get(self):
            return 1
    with pytest.raises(error, match=text):
        jitclass(C, spec)


def test_private_names_of_a_jitclass_are_those_of_its_code():
    @jitclass([("__n", types.int64)])
    class Counter:
        def __init__(self):
            self.__n = 0

        def up(self):
            self.__n += 1
            return self.__n
    c = Counter()
    assert c.up() == 1 and c.up() == 2 and c._Counter__n == 2


# -- threads and memory ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.isolated
def test_threads_that_change_an_object_take_turns_with_those_that_read_it():
    @njit
    def reads(bag, n):
        s = 0.0
        for _ in range(n):
            for j in range(bag.a.size):
                s += bag.a[j]
            for x in bag.items:
                s += x
        return s

    @njit(nogil=True)
    def reads_without_gil(bag, n):
        s = 0.0
        for _ in range(n):
            for j in range(bag.a.size):
                s += bag.a[j]
        return s

    @njit
    def changes(bag, k):
        bag.a = np.ones(k)
        bag.items = [1.0] * k
        bag.items.append(2.0)
    bag = Bag([1.0], np.ones(3), "x")
    reads(bag, 1), changes(bag, 2), reads_without_gil(bag, 1)
    errors, rounds = [], 150

    def run(f):
        try:
            for k in range(rounds):
                f(k)
        except BaseException as e:  # noqa: BLE001  (reported below)
            errors.append(e)

    def python(k):
        bag.a = np.zeros(k * 7 % 300)
        bag.items.append(1.0)
        if k % 10 == 0:
            bag.items.clear()
    threads = [threading.Thread(target=run, args=(f,)) for f in (lambda k: reads(bag, 300), lambda k: reads_without_gil(bag, 300), lambda k: changes(bag, k * 13 % 400), python)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors, errors


@pytest.mark.isolated
def test_nothing_is_kept_of_objects_that_are_gone():
    import resource

    @njit
    def chain(n):
        head = None
        for i in range(n):
            head = Node(i, head)
        return head

    @njit
    def ring(n):
        for i in range(n):
            a = Node(i)
            b = Node(i, a)
            a.next = b
        return b
    gone = weakref.ref(owner := np.zeros(3))
    bag = Bag([1.0], owner, "a" * 50)
    del bag, owner
    assert gone() is None

    def use():
        chain(20_000)
        ring(20_000)
        for k in range(2_000):
            b = Body(float(k))
            n = Node(k, Node(k))
            n.next.next = n if k % 2 else None
            del b, n
    for _ in range(5):
        use()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(40):
        use()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_000


def test_jit_falls_back_with_the_object_itself():
    @jit
    def f(b):
        b.speed = 3.0
        return globals().get("nothing", b)
    b = Body(1.0)
    with pytest.warns(tierup.TierupWarning):
        assert f(b) is b
    assert b.speed == 3.0
