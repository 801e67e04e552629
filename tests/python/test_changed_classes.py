"""Classes that change after compiled code has come to know them: bases, attributes, how they make their instances. Compiled code answers as Python does, with the classes as they are at the call."""

from collections import namedtuple

import pytest
import tierup
from tierup import njit


class Root:
    """Python changes the bases of a class only where it derives from more than object."""


def both(f):
    """A compiled function beside the one that it was made of."""
    compiled = njit(f)

    def agree(*args):
        expected, got = outcome(f, args), outcome(compiled, args)
        assert got == expected
        return got

    return agree


def outcome(f, args):
    try:
        return f(*args)
    except tierup.TierupError:
        raise
    except Exception as e:
        return type(e).__name__, e.args, str(e)


def test_except_sees_the_bases_of_the_moment():
    class A(Exception):
        pass

    class B(A):
        pass

    def f(k):
        try:
            if k:
                raise B(k)
            raise A(k)
        except ValueError as e:
            return "value", isinstance(e, A), isinstance(e, LookupError)
        except LookupError as e:
            return "lookup", isinstance(e, A), isinstance(e, ValueError)
        except Exception as e:
            return "other", isinstance(e, A), isinstance(e, ValueError)

    agree = both(f)
    seen = [agree(0), agree(1)]
    for bases in [(ValueError,), (KeyError,), (Exception,), (ValueError,)]:
        A.__bases__ = bases
        seen += [agree(0), agree(1)]
    assert {s[0] for s in seen} == {"value", "lookup", "other"}


def test_a_class_that_is_caught_sees_the_bases_of_what_is_raised():
    class Below(Exception):
        pass

    class Caught(Below):
        pass

    class Raised(Below):
        pass

    @njit
    def raises(k):
        if k:
            raise Raised(k)

    def f(k):
        try:
            raises(k)
        except Caught:
            return True
        return False

    agree = both(f)
    assert outcome(agree, (1,))[0] == "Raised"
    Raised.__bases__ = (Caught,)
    assert agree(1) is True
    Raised.__bases__ = (Below,)
    assert outcome(agree, (1,))[0] == "Raised"


def test_isinstance_and_issubclass_see_the_bases_of_the_moment():
    class Mark(Root):
        pass

    class Plain(Root):
        pass

    P = namedtuple("P", "x")

    class Q(P, Plain):
        pass

    def f(q):
        return isinstance(q, Mark), isinstance(q, P), issubclass(Q, Mark), issubclass(Q, Plain)

    agree = both(f)
    assert agree(Q(1)) == (False, True, False, True)
    Plain.__bases__ = (Mark,)
    assert agree(Q(1)) == (True, True, True, True)
    Q.__bases__ = (P, Mark)
    assert agree(Q(1)) == (True, True, True, False)


def test_methods_and_constants_come_from_the_bases_of_the_moment():
    class First(Root):
        K = 1

        def value(self):
            return self.x + 100

    class Second(Root):
        K = 2.5

        def value(self):
            return self.x * 3

        @property
        def more(self):
            return self.x + 0.5

    P = namedtuple("P", "x")

    class Q(P, First):
        pass

    def f(q):
        return q.value(), q.K, hasattr(q, "more"), getattr(q, "more", None), Q.K

    agree = both(f)
    assert agree(Q(7)) == (107, 1, False, None, 1)
    Q.__bases__ = (P, Second)
    assert agree(Q(7)) == (21, 2.5, True, 7.5, 2.5)
    First.__bases__ = (Second,)
    Q.__bases__ = (P, First)
    assert agree(Q(7)) == (107, 1, True, 7.5, 1)
    Q.__bases__ = (P, Second)
    assert agree(Q(7)) == (21, 2.5, True, 7.5, 2.5)


def test_a_class_that_is_passed_is_seen_to_change():
    class Base(Root):
        K = 1

    class Other(Root):
        K = 2

    class C(Base):
        pass

    def f(c):
        return c.K

    agree = both(f)
    assert agree(C) == 1
    C.__bases__ = (Other,)
    assert agree(C) == 2


def test_an_overload_comes_back_with_the_bases():
    class A(Exception):
        pass

    def f(x):
        try:
            raise A(x)
        except ValueError:
            return 1
        except Exception:
            return 2

    compiled = njit(f)
    assert compiled(1) == 2
    for _ in range(5):
        A.__bases__ = (ValueError,)
        assert compiled(1) == 1
        A.__bases__ = (Exception,)
        assert compiled(1) == 2
    assert len(compiled.signatures) <= 2


HIDES = {
    "a constant": lambda: 5,
    "a property": lambda: property(lambda self: self[1] * 10),
    "another field": lambda: namedtuple("Other", "b a").a,
}


@pytest.mark.parametrize("what", HIDES)
@pytest.mark.parametrize("where", ["class", "base"])
def test_a_field_that_is_hidden_later_is_seen(what, where):
    P = namedtuple("P", "a b")

    class Q(P):
        pass

    def f(q):
        return q.a, q[0]

    agree = both(f)
    assert agree(Q(1, 2)) == (1, 1)
    setattr(P if where == "base" else Q, "a", HIDES[what]())
    changed = agree(Q(1, 2))
    assert changed[0] != 1
    # One that is compiled now, for a class that has been known before.
    assert both(lambda q: (q.a, q.b))(Q(1, 2)) == (changed[0], 2)


def test_a_field_that_comes_back_is_seen():
    P = namedtuple("P", "a b")

    class Q(P):
        pass

    def f(q):
        return q.a

    agree = both(f)
    assert agree(Q(1, 2)) == 1
    Q.a = 8
    assert agree(Q(1, 2)) == 8
    del Q.a
    assert agree(Q(1, 2)) == 1


def test_getattribute_that_comes_later_is_refused():
    class Q(namedtuple("P", "a b")):
        pass

    @njit
    def f(q):
        return q.a

    assert f(Q(1, 2)) == 1
    Q.__getattribute__ = lambda self, name: 7
    with pytest.raises(tierup.TypingError, match="own __getattribute__"):
        f(Q(1, 2))
    del Q.__getattribute__
    assert f(Q(1, 2)) == 1


def test_an_instance_with_an_attribute_in_front_of_its_class_is_refused():
    class Q(namedtuple("P", "a b")):
        K = 1

        def value(self):
            return self.a

    @njit
    def f(q):
        return q.K, q.value()

    q = Q(3, 4)
    assert f(q) == (1, 3)
    q.other = 5
    assert f(q) == (1, 3)
    q.K = 2
    with pytest.raises(tierup.TierupError, match="attribute 'K' of its own"):
        f(q)
    with pytest.raises(tierup.TierupError, match="attribute 'K' of its own"):
        njit(lambda qs: qs[0].K)([q])
    del q.K
    q.value = lambda: 9
    with pytest.raises(tierup.TierupError, match="attribute 'value' of its own"):
        f(q)
    del q.value
    assert f(q) == (1, 3)


def test_numbers_whose_class_changes_are_looked_at_again():
    class Mine(int):
        pass

    @njit
    def f(x):
        return x + 1

    assert f(Mine(3)) == 4
    Mine.__add__ = lambda self, other: 100
    with pytest.raises(tierup.TierupError, match="__add__ of its own"):
        f(Mine(3))
    del Mine.__add__
    assert f(Mine(3)) == 4


def test_how_a_class_makes_its_instances_may_change():
    class E(Exception):
        pass

    class F(E):
        pass

    def f(k):
        try:
            raise F(k, 2)
        except E as e:
            return len(e.args), str(e)

    agree = both(f)
    assert agree(1) == (2, "(1, 2)")

    def init(self, *args):
        Exception.__init__(self, "made")

    E.__init__ = init
    assert agree(1) == (1, "made")
    del E.__init__
    assert agree(1) == (2, "(1, 2)")
    E.__new__ = lambda cls, *args: Exception.__new__(cls, "new", 5, 6)
    F.__init__ = lambda self, *args: None
    assert agree(1) == (3, "('new', 5, 6)")


def test_a_metaclass_with_an_order_of_its_own():
    class Meta(type):
        def mro(cls):
            return [cls, *reversed(super().mro()[1:-1]), object]

    class A:
        V = 1

    class B:
        V = 2

    class C(A, B, metaclass=Meta):
        pass

    class E(KeyError, metaclass=Meta):
        pass

    def f(k):
        try:
            raise E(k)
        except LookupError as e:
            return C.V, issubclass(C, A), issubclass(C, B), isinstance(e, KeyError)

    assert both(f)(1) == (2, True, True, True)


def test_a_class_that_is_not_first_in_its_order_is_refused():
    class Meta(type):
        def mro(cls):
            return [c for c in super().mro() if c is not cls or not left_out]

    left_out = False

    class A:
        V = 1

    class C(A, metaclass=Meta):
        V = 2

    left_out = True
    C.__bases__ = (A,)

    @njit
    def f():
        return C.V

    with pytest.raises(tierup.TypingError, match="does not come first in its own method resolution order"):
        f()


@pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")
@pytest.mark.parametrize("base", [False, True])
def test_methods_that_run_where_an_object_is_assigned_to_made_or_dropped_may_come_later(base):
    class Base:
        pass

    class A(Base):
        def __init__(self):
            self.v = 5

    changed = Base if base else A
    dropped = []

    @tierup.jit
    def assigned(a):
        a.v = 7
        return a.v

    @tierup.jit
    def made():
        return A().v

    seen = [(assigned(A()), made())]
    changed.__setattr__ = lambda s, n, v: object.__setattr__(s, n, v * 2)
    seen.append((assigned(A()), made()))
    del changed.__setattr__
    seen.append((assigned(A()), made()))
    changed.__del__ = lambda s: dropped.append(1)
    made()
    assert dropped == [1]
    del changed.__del__
    changed.__new__ = lambda cls: dropped.append(2) or object.__new__(cls)
    assert made() == 5
    assert (seen, dropped) == ([(7, 5), (14, 10), (7, 5)], [1, 2])


@pytest.mark.filterwarnings("ignore::tierup.errors.TierupWarning")
def test_a_class_of_what_stands_in_a_class_may_become_that_of_a_descriptor():
    class Descriptor:
        pass

    class A:
        x = Descriptor()

        def __init__(self):
            self.v = 5

    @tierup.jit
    def assigned(a):
        a.x = 3
        return a.x

    @tierup.jit
    def read(a):
        return a.x is None

    assert (assigned(A()), read(A())) == (3, False)
    told = []
    Descriptor.__set__ = lambda s, of, v: told.append(v)
    Descriptor.__get__ = lambda s, of, cls: told[-1] * 2 if told else None
    assert (read(A()), assigned(A()), told) == (True, 6, [3])
