"""Frozen dataclasses at the boundary: what a class and an instance are when they come in, and whether they still are."""

import dataclasses
import gc
import subprocess
import sys
import weakref
from dataclasses import dataclass, field

import numpy as np
import pytest
import tierup
from tierup import njit
from tierup.errors import TypingError


def make(**how):
    @dataclass(frozen=True, **how)
    class P:
        x: int
        y: float = 1.5

        def total(self):
            return self.x + self.y

    return P


def total(p):
    return p.total()


def sum_of(p):
    return p.x + p.y


@pytest.mark.parametrize("how", [{}, {"slots": True}, {"order": True}])
def test_instances_come_in_and_go_out(how):
    P = make(**how)

    @njit
    def f(p):
        return P(p.x + 1, p.y), p, [p, p], {p: p.x}, (p,)

    p = P(3)
    got = f(p)
    assert got == (P(4, 1.5), p, [p, p], {p: 3}, (p,))
    assert all(type(q) is P for q in (got[0], got[1], got[2][0], *got[3], got[4][0]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        got[0].x = 1


def test_classes_of_the_same_fields_are_different_types():
    A, B = make(), make()
    f = njit(lambda a, b: (a == b, a == a, isinstance(a, type(b))))
    assert f(A(1), B(1)) == (False, True, False)
    assert f(A(1), A(1)) == (True, True, True)


def test_a_method_that_is_given_later_is_asked():
    P = make()
    f = njit(total)
    assert f(P(1)) == 2.5
    P.total = lambda self: -1
    assert f(P(1)) == -1


@pytest.mark.parametrize("name, method, expression, answer", [
    ("__eq__", lambda a, b: a.x == b.x, lambda a, b: a == b, True),
    ("__hash__", lambda a: 7, lambda a, b: hash(a), 7),
    ("__repr__", lambda a: "other", lambda a, b: repr(a), "other"),
])  # fmt: skip
def test_a_generated_method_that_is_replaced_is_asked(name, method, expression, answer):
    P = make()
    f = njit(expression)
    assert f(P(1), P(1, 2.0)) == expression(P(1), P(1, 2.0))
    setattr(P, name, method)
    assert expression(P(1), P(1, 2.0)) == answer
    assert f(P(1), P(1, 2.0)) == answer


def test_a_constructor_that_is_replaced_is_not_passed_over():
    P = make()
    f = njit(lambda: P(1))
    assert f() == P(1)

    def init(self, x):
        object.__setattr__(self, "x", x + 100)
        object.__setattr__(self, "y", 0.0)

    P.__init__ = init
    with pytest.raises(TypingError, match="own __init__"):
        f()


def test_a_changed_default_is_seen():
    P = make()
    f = njit(lambda: P(1))
    assert f().y == 1.5
    P.__init__.__defaults__ = (9.0,)
    assert f() == P(1)


def test_attributes_of_an_instance_that_hide_its_class_are_refused():
    P = make()
    f = njit(total)
    p = P(1)
    assert f(p) == 2.5
    object.__setattr__(p, "total", lambda: 99)
    with pytest.raises(TypingError, match="attribute 'total' of its own"):
        f(p)
    with pytest.raises(TypingError, match="attribute 'total' of its own"):
        njit(total)(p)
    # Another one of any other name changes nothing.
    q = P(2)
    object.__setattr__(q, "note", "hello")
    assert f(q) == 3.5


def test_a_field_without_a_value_is_refused():
    P = make()
    p = object.__new__(P)
    object.__setattr__(p, "x", 1)
    del P.y
    with pytest.raises(TypingError, match="field 'y' has no value"):
        njit(sum_of)(p)


def test_a_value_of_another_type_is_another_overload():
    P = make()
    f = njit(sum_of)
    assert f(P(1, 2.0)) == 3.0 and f(P(1, 2)) == 3 and f(P(1j, 2.0)) == 2 + 1j
    assert type(f(P(1, 2))) is int and len(f.signatures) == 3


def test_mutable_dataclasses_are_objects():
    @dataclass
    class M:
        x: int

    m = M(1)
    f = njit(lambda m: m)
    assert f(m) is m


def test_arrays_and_lists_in_fields_are_the_same_objects():
    P = make()
    f = njit(lambda p: p)
    a = np.arange(3.0)
    assert f(P(a)).x is a

    @njit
    def grows(p):
        p.x.append(4)
        return p

    xs = [1, 2]
    assert grows(P(xs)).x is xs and xs == [1, 2, 4]


def test_classes_and_instances_are_let_go():
    def once():
        P = make()
        f = njit(lambda p: P(p.x, p.y))
        f(P(1))
        return weakref.ref(P)

    gone = [once() for _ in range(5)]
    for _ in range(3):
        gc.collect()
    assert [r() for r in gone] == [None] * 5


def test_references_to_fields_are_counted():
    P = make()
    f = njit(lambda p: [P(p.x + "!", 1.0) for _ in range(10)])
    text = "a rather long string"
    before = sys.getrefcount(text)
    for _ in range(50):
        f(P(text))
    gc.collect()
    assert sys.getrefcount(text) == before


def test_code_in_the_cache_finds_the_class(tmp_path):
    program = """
from dataclasses import dataclass
from tierup import njit
@dataclass(frozen=True)
class P:
    x: int
    def twice(self):
        return P(self.x * 2)
@njit(cache=True)
def f(p):
    return p.twice(), P(1), str(p)
print(f(P(4)), f.stats.cache_hits)
"""
    file = tmp_path / "program.py"
    file.write_text(program)
    outs = [subprocess.run([sys.executable, file], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert outs[0].startswith("(P(x=8), P(x=1), 'P(x=4)')")
    assert outs[1].startswith("(P(x=8), P(x=1), 'P(x=4)')")


def test_dataclasses_in_parallel_loops():
    P = make()

    @njit(parallel=True)
    def f(n):
        out = np.zeros(n)
        for i in tierup.prange(n):
            p = P(i, 0.5)
            out[i] = p.total()
        return out

    assert (f(100) == np.arange(100) + 0.5).all()


def test_a_dataclass_that_holds_itself_many_times_is_refused():
    @dataclass(frozen=True)
    class Node:
        next: object = None

    node = None
    for _ in range(200):
        node = Node(node)
    with pytest.raises(TypingError, match="holds itself many levels deep|contains itself"):
        njit(lambda n: n.next is None)(node)


def test_fields_may_be_named_like_anything():
    @dataclass(frozen=True)
    class Odd:
        made: int
        cls: int = 2
        operator: int = 3
        fields: list = field(default_factory=lambda: [5])

    @njit
    def f():
        return Odd(1)

    assert f() == Odd(1)


def test_a_field_that_is_computed_when_it_is_read_is_refused():
    @dataclass(frozen=True)
    class P:
        s: str
        n: int = 1

        def __getattr__(self, name):
            return "made anew " * 100 + name

    f = njit(lambda p: p.s + "!")
    p = P("ok")
    assert f(p) == "ok!"
    object.__delattr__(p, "s")
    with pytest.raises(TypingError, match="field 's' has no value of its own"):
        f(p)
