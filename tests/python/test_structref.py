"""`experimental.structref`: objects of types that a program makes, and their proxies in Python."""

import gc

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit, typed, typeof, types  # noqa: E402
from tierup.experimental import structref  # noqa: E402
from tierup.extending import overload, overload_attribute, overload_method  # noqa: E402


@structref.register
class PairType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(t)) for name, t in fields)


class Pair(structref.StructRefProxy):
    def __new__(cls, left, right=7):
        return structref.StructRefProxy.__new__(cls, left, right)

    @property
    def left(self):
        return left_of(self)

    @left.setter
    def left(self, value):
        set_left(self, value)

    @property
    def total(self):
        return "Python's own"

    def __hash__(self):
        return 17


structref.define_proxy(Pair, PairType, ["left", "right"])


@njit
def left_of(p):
    return p.left


@njit
def set_left(p, value):
    p.left = value


@njit
def right_of(p):
    return p.right


@overload_method(PairType, "scaled")
def _scaled(self, by):
    return lambda self, by: self.left * by + self.right


@overload_attribute(PairType, "total")
def _total(self):
    return lambda self: self.left + self.right


def test_objects_made_in_python_are_those_of_compiled_code():
    p = Pair(2, 3.5)
    assert isinstance(p, Pair) and type(p).__name__ == "Pair" and isinstance(p, structref.StructRefProxy)
    assert p.left == 2 and right_of(p) == 3.5
    p.left = 5
    assert left_of(p) == 5
    set_left(p, 6)
    assert p.left == 6
    assert Pair(left=1).left == 1 and right_of(Pair(1)) == 7
    assert njit(lambda p: p)(p) is p


def test_python_sees_what_the_proxy_has_and_compiled_code_the_fields_and_overloads():
    p = Pair(2, 3)
    assert p.total == "Python's own" and hash(p) == 17
    with pytest.raises(AttributeError, match="right"):
        p.right
    assert njit(lambda p: p.total)(p) == 5
    assert njit(lambda p, k: p.scaled(k))(p, 10) == 23
    with pytest.raises(AttributeError):
        p.scaled


def test_each_combination_of_types_is_a_type():
    @njit
    def make(a, b):
        return Pair(1, 2.5), Pair(a, b), Pair((1, "a"), b)
    p, q, r = make(np.arange(3), np.float32(2))
    assert typeof(p) == PairType([("left", types.int64), ("right", types.float64)])
    assert typeof(q).field_dict == {"left": types.int64[::1], "right": types.float32}
    assert typeof(p) is typeof(Pair(4, 4.5)) and typeof(p) != typeof(q)
    assert p._numba_type_ is typeof(p)
    assert q.left.tolist() == [0, 1, 2] and r.left == (1, "a")


def test_fields_of_arrays_are_shared():
    a = np.zeros(3)
    p = Pair(a, 1)
    assert p.left is a
    njit(lambda p: p.left.fill(4.0))(p)
    assert a.tolist() == [4.0] * 3


def test_identity():
    @njit
    def f(a, b):
        c = a
        return a is b, a is c, a is not b
    p = Pair(1, 2)
    assert f(p, Pair(1, 2)) == (False, True, True) and f(p, p) == (True, True, False)


def test_a_type_without_a_proxy_of_its_own():
    @structref.register
    class Simple(types.StructRef):
        pass

    t = Simple(fields=[("values", types.float64[:]), ("count", types.int64)])
    structref.define_boxing(Simple, structref.StructRefProxy)

    @njit
    def make(values):
        st = structref.new(t)
        zero = st.count
        st.values = values
        st.count += len(values)
        return st, zero

    st, zero = make(np.ones(4))
    assert type(st).__mro__.index(structref.StructRefProxy) and zero == 0
    with pytest.raises(AttributeError):
        st.values
    assert njit(lambda s: s.values.sum() + s.count)(st) == 8.0

    @njit
    def unset():
        return structref.new(t).values

    with pytest.raises(AttributeError, match="values"):
        unset()


def test_a_field_of_its_own_type():
    @structref.register
    class LinkType(types.StructRef):
        def preprocess_fields(self, fields):
            self.name = f"Link#{id(self)}"
            return (("value", types.Optional(types.int64)), ("behind", types.Optional(self)))

    LinkType(fields=(("value", types.Any), ("behind", types.Any)))

    class Link(structref.StructRefProxy):
        pass

    t = LinkType(fields=(("value", types.Any), ("behind", types.Any)))

    @overload(Link)
    def make_link(value, behind):
        def make(value, behind):
            st = structref.new(t)
            st.value = value
            st.behind = behind
            return st
        return make

    structref.define_boxing(LinkType, Link)

    @njit
    def chain(n):
        first = Link(None, None)
        for i in range(n):
            first = Link(i, first)
        return first

    @njit
    def total(link):
        out = 0
        while link is not None:
            value = link.value
            if value is not None:
                out += value
            link = link.behind
        return out

    made = chain(5)
    assert isinstance(made, Link) and total(made) == 10


def test_signatures_and_containers():
    t = PairType([("left", types.int64), ("right", types.int64)])

    @njit(types.int64(t))
    def both(p):
        return p.left + p.right

    assert both(Pair(np.int64(1), np.int64(2))) == 3
    d = typed.Dict()
    d["a"] = Pair(1, 2.5)
    d["a"] = Pair(2, 3.5)
    assert d["a"].left == 2
    d["a"].left += 10
    assert d["a"].left == 12
    xs = [Pair(k, 1.5) for k in range(3)]

    @njit
    def total(xs):
        out = 0.0
        for x in xs:
            out += x.total
            x.left += 1
        return out

    assert total(xs) == 7.5 and [x.left for x in xs] == [1, 2, 3]


def test_a_typed_list_of_such_objects_is_made_in_compiled_code():
    t = PairType([("left", types.int64), ("right", types.float64)])

    @njit
    def f(n):
        out = typed.List.empty_list(t)
        for k in range(n):
            out.append(Pair(k, k / 2))
        return out

    assert [right_of(p) for p in f(3)] == [0.0, 0.5, 1.0]


def test_objects_of_no_proxy_yet_and_what_is_refused():
    sr = types.StructRef([("a", types.int64), ("b", types.float64)])
    assert sr.field_dict == {"a": types.int64, "b": types.float64}
    with pytest.raises(ValueError, match="expecting a str for field name"):
        types.StructRef([(1, types.int64)])
    with pytest.raises(ValueError, match="expecting a Numba Type for field type"):
        types.StructRef([("a", 123)])
    with pytest.raises(ValueError, match="cannot register"):
        structref.register(types.StructRef)
    with pytest.raises(ValueError, match="cannot register"):
        structref.define_boxing(types.StructRef, Pair)
    with pytest.raises(TypeError, match="below StructRefProxy"):
        structref.define_boxing(PairType, int)
    with pytest.raises(tierup.errors.TypingError, match="takes no attribute 'other'"):
        njit(lambda p: setattr(p, "other", 1))(Pair(1, 2))
    with pytest.raises(NotImplementedError):
        structref.new(sr)


def test_memory_is_freed():
    @njit
    def use(n):
        out = 0.0
        for k in range(n):
            p = Pair(np.full(10_000, 1.0), k)
            out += p.left[0]
        return out

    import resource
    use(10)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert use(20_000) == 20_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 200_000
