"""Enumerations at the boundary: classes that come, change and go."""

import enum
import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
import tierup
from tierup import njit
from tierup.errors import TypingError


def make():
    class Color(enum.Enum):
        RED = 1
        GREEN = 2

        def other(self):
            return Color.GREEN if self is Color.RED else Color.RED

    return Color


def test_members_come_back_as_themselves():
    Color = make()
    f = njit(lambda c: (c, [c], {c: c}, c.other()))
    a, b, c, d = f(Color.RED)
    assert a is Color.RED and b[0] is Color.RED and c[Color.RED] is Color.RED and d is Color.GREEN


def test_members_of_two_classes_are_two_types():
    A, B = make(), make()
    f = njit(lambda a, b: (a == b, a is b, isinstance(a, A)))
    assert f(A.RED, B.RED) == (False, False, True) and f(A.RED, A.RED) == (True, True, True)
    assert f(B.RED, B.GREEN) == (False, False, False) and len(f.signatures) == 3


def test_a_method_that_changes_is_asked():
    Color = make()
    f = njit(lambda c: c.other())
    assert f(Color.RED) is Color.GREEN
    Color.other = lambda self: self
    assert f(Color.RED) is Color.RED


def test_a_generated_method_that_is_replaced_is_asked():
    Color = make()
    f = njit(lambda c: (repr(c), str(c)))
    assert f(Color.RED) == (repr(Color.RED), str(Color.RED))
    Color.__str__ = lambda self: "a color"
    assert f(Color.RED) == (repr(Color.RED), "a color")


def test_ints_of_an_enumeration_are_ints():
    class Level(enum.IntEnum):
        A = 1

    assert njit(lambda x: x + 1)(Level.A) == 2


def test_flags_with_rules_of_their_own_are_refused():
    class Perm(enum.Flag, boundary=enum.KEEP):
        R = 1

    with pytest.raises(TypingError, match="cannot take a .*Perm"):
        njit(lambda p: p)(Perm.R)


def test_members_are_constants_in_parallel_loops_and_defaults():
    Color = make()

    @njit(parallel=True)
    def f(n, which=Color.RED):
        out = np.zeros(n, np.int64)
        for i in tierup.prange(n):
            c = Color.RED if i % 2 else Color.GREEN
            out[i] = c.value * 10 + (c is which)
        return out

    assert (f(6) == [20, 11, 20, 11, 20, 11]).all() and (f(2, Color.GREEN) == [21, 10]).all()


def test_many_members():
    Big = enum.Enum("Big", [f"M{k}" for k in range(200)])
    f = njit(lambda b, n: (b.name, b.value, Big(n), Big["M7"], len(Big)))
    assert f(Big.M150, 33) == ("M150", 151, Big.M32, Big.M7, 200)


def test_classes_are_let_go():
    def once():
        Color = make()
        njit(lambda c: (c.name, str(c), Color(1), len(Color)))(Color.RED)
        return weakref.ref(Color)

    gone = [once() for _ in range(5)]
    for _ in range(3):
        gc.collect()
    assert [r() for r in gone] == [None] * 5


def test_code_in_the_cache_finds_the_members(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("""
import enum
from tierup import njit
class Color(enum.Enum):
    RED = 1
    GREEN = 2
@njit(cache=True)
def f(c):
    return c, Color.GREEN, c.name, Color(1)
print(f(Color.RED), f(Color.GREEN))
""")
    outs = [subprocess.run([sys.executable, file], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert outs[0] == outs[1]
    assert outs[0].startswith("(<Color.RED: 1>, <Color.GREEN: 2>, 'RED', <Color.RED: 1>)")


def test_a_metaclass_of_the_programs_own_is_not_passed_over():
    class Upper(enum.EnumMeta):
        def __getitem__(cls, name):
            return super().__getitem__(name.upper())

    class Color(enum.Enum, metaclass=Upper):
        RED = 1

    with pytest.raises(TypingError, match="cannot take a .*Color"):
        njit(lambda c: c)(Color.RED)
    with pytest.raises(TypingError):
        njit(lambda: Color["red"])()
