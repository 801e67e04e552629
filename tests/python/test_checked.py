"""`njit(checked=True)` and `tierup.rules`: what is refused, what is converted. Each call is compared with what the function is in plain Python (`TIERUP_TIER=off`)."""

import math
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Optional, Protocol, TypeVar

import numpy as np
import pytest
import tierup
from tierup import _checked, dispatch, jit, njit, rules


@pytest.fixture(autouse=True)
def no_rules_of_others():
    before = dict(rules._conversions), dict(rules._distances)
    yield
    for now, was in zip((rules._conversions, rules._distances), before, strict=True):
        now.clear()
        now.update(was)


class Shape(Protocol):
    def area(self) -> float: ...


class Named(Protocol):
    name: str


@dataclass(frozen=True)
class Disc:
    r: float

    def area(self):
        return 3.0 * self.r


@dataclass(frozen=True)
class Blob:
    r: float


@dataclass(frozen=True)
class Fixed:
    raw: int

    def __add__(self, o):
        return Fixed(self.raw + o.raw)


S = TypeVar("S", bound=Shape)


def outcome(f, args, keywords):
    try:
        found = f(*args, **keywords)
        return type(found), found
    except TypeError as e:
        return "refused", str(e).split("\n")[0].split(" [")[0]


def both(f, *args, **keywords):
    """What a call gives, compiled and in plain Python; the text of a refusal."""
    expected = outcome(_checked.wrap(f.py_func), args, keywords)
    assert outcome(f, args, keywords) == expected
    return expected[1]


def test_arguments_are_what_they_are_declared():
    @njit(checked=True)
    def f(a: int, b: float = 2.0, *rest: int, k: str = "x", **more: int) -> float:
        return a + b + len(rest) + len(k)

    assert both(f, 1) == 4.0
    assert both(f, 1, 2.5, 3, 4, k="abc") == 8.5
    assert both(f, b=1.5, a=1) == 3.5
    assert both(f, True) == 4.0
    assert both(f, "a") == "f() argument 'a' must be int, not str"
    assert both(f, 1.5) == "f() argument 'a' must be int, not float"
    assert both(f, 1, 2.0, 3, "q") == "f() argument 'rest' must be int, not str"
    assert both(f, 1, k=3) == "f() argument 'k' must be str, not int"
    assert both(f, 1, z="a") == "f() argument 'z' must be int, not str"
    assert both(f, None) == "f() argument 'a' must be int, not None"


def test_numbers_become_wider_ones_of_python():
    @njit(checked=True)
    def f(x: float) -> float:
        return x

    for x in (1, True, np.float64(1.5), np.float32(1.5), np.int16(3)):
        assert type(both(f, x)) is float
    assert both(f, 1j) == "f() argument 'x' must be float, not complex"

    @njit(checked=True)
    def g(x: int) -> complex:
        return x

    assert both(g, np.int32(3)) == 3 + 0j


def test_containers_are_looked_into():
    @njit(checked=True)
    def f(a: list[float], b: dict[str, int], c: tuple[int, str], d: np.ndarray) -> int:
        return len(a) + b["a"] + c[0] + len(d)

    good = [1.5], {"a": 1}, (1, "a"), np.ones(2)
    assert both(f, *good) == 5
    assert both(f, [], *good[1:]) == 4
    assert both(f, [1], *good[1:]) == "f() argument 'a' must be list[float], not list of int"
    assert both(f, good[0], {1: 1}, *good[2:]) == "f() argument 'b' must be dict[str, int], not dict"
    assert both(f, *good[:2], (1, 2), good[3]) == "f() argument 'c' must be tuple[int, str], not tuple"
    assert both(f, *good[:3], [1.0]) == "f() argument 'd' must be ndarray, not list"


def test_what_is_gone_through_is_looked_into():
    @njit(checked=True)
    def total(xs: Iterable[float]) -> float:
        t = 0.0
        for x in xs:
            t += x
        return t

    assert both(total, [1.5, 2.5]) == both(total, (1.5, 2.5)) == both(total, np.array([1.5, 2.5])) == both(total, {1.5, 2.5}) == 4.0
    assert both(total, (1.5, 2)) == "total() argument 'xs' must be Iterable[float], not tuple"
    assert both(total, range(3)) == "total() argument 'xs' must be Iterable[float], not range"
    assert both(total, 1.5) == "total() argument 'xs' must be Iterable[float], not float"

    @njit(checked=True)
    def last(xs: Sequence[int]) -> int:
        return xs[-1]

    assert both(last, range(3)) == 2
    assert both(last, [4]) == 4
    assert both(last, {1}) == "last() argument 'xs' must be Sequence[int], not set"


def test_a_bound_is_checked_before_the_body_is_looked_at():
    @njit(checked=True)
    def f(s: S) -> float:
        return s.nonsense

    line = Shape.area.__code__.co_firstlineno
    assert both(f, Blob(1.0)) == f"f() argument 's': Blob has no 'area', which Shape asks for at line {line}, the bound of S"

    @njit(checked=True)
    def total(xs: list[S]) -> float:
        t = 0.0
        for x in xs:
            t += x.area()
        return t

    assert both(total, [Disc(1.0)]) == 3.0
    assert both(total, [Blob(1.0)]) == f"total() argument 'xs': Blob has no 'area', which Shape asks for at line {line}, the bound of S"
    with pytest.raises(tierup.TypingError) as e:
        total([Blob(1.0)])
    assert e.value.code == "unsatisfied-bound"


def test_a_protocol_asks_for_fields():
    class Town:
        def __init__(self, name):
            self.name = name

    @njit(checked=True)
    def f(x: Named) -> str:
        return x.name

    assert both(f, Town("Ur")) == "Ur"
    assert "Disc has no 'name', which Named asks for" in both(f, Disc(1.0))


def test_a_call_in_compiled_code_is_refused_at_its_line():
    @njit(checked=True)
    def area(s: S) -> float:
        return s.area()

    @njit
    def call(n):
        return area(Blob(n))

    with pytest.raises(tierup.TypingError, match="Blob has no 'area'") as e:
        call(1.0)
    assert (e.value.code, e.value.line) == ("unsatisfied-bound", call.py_func.__code__.co_firstlineno + 2)


def test_a_result_is_refused_at_its_return():
    @njit(checked=True)
    def f(x: int) -> str:
        if x > 5:
            return "a"
        return x

    with pytest.raises(tierup.TypingError, match=r"the result of f\(\) must be str, not int") as e:
        f(1)
    assert e.value.line == f.py_func.__code__.co_firstlineno + 4


def test_one_of_several_classes_is_found_out_when_it_comes():
    @njit(checked=True)
    def area(s: Shape) -> float:
        return s.area()

    @njit
    def f(n):
        x = Disc(1.0) if n > 0 else Blob(2.0)
        return area(x)

    assert f(1) == 3.0
    with pytest.raises(TypeError, match="Blob has no 'area'"):
        f(0)


def test_none_is_what_an_optional_parameter_takes():
    @njit(checked=True)
    def f(n: Optional[int]) -> int | None:
        return None if n is None else n + 1

    assert both(f, None) is None
    assert both(f, 3) == 4
    assert both(f, "a") == "f() argument 'n' must be int | None, not str"


def test_rules_convert_arguments_and_results():
    @rules.convert
    def fixed_from(x: int) -> Fixed:
        return Fixed(x << 16)

    @njit(checked=True)
    def add(a: Fixed, b: Fixed) -> Fixed:
        return a + b

    @njit(checked=True)
    def given(n: int) -> Fixed:
        if n > 3:
            return n
        return Fixed(n)

    @njit
    def call(n):
        return add(n, Fixed(1))

    assert both(add, 1, Fixed(2)) == Fixed(65538)
    assert both(add, 1, 2) == Fixed(3 << 16)
    assert both(add, "a", 2) == "add() argument 'a' must be Fixed, not str"
    assert [both(given, n).raw for n in (1, 5)] == [1, 5 << 16]
    assert call(1) == Fixed(65537)


def test_a_rule_that_comes_later_or_changes_is_taken():
    @njit(checked=True)
    def f(a: Fixed) -> Fixed:
        return a

    assert both(f, 1) == "f() argument 'a' must be Fixed, not int"
    rules.convert(shifted)
    assert both(f, 1) == Fixed(2)

    @rules.convert
    def other(x: int) -> Fixed:
        return Fixed(-x)

    assert both(f, 1) == Fixed(-1)


def shifted(x: int) -> Fixed:
    return Fixed(x << 1)


def test_rules_convert_for_rows_that_nothing_fits():
    rules.convert(shifted)

    @dispatch
    def f(a: Fixed, b: Fixed) -> int:
        return a.raw + b.raw

    @f.register
    def _(a: str, b: str) -> int:
        return 0

    @njit
    def call(n, m):
        return f(n, m), f("a", "b"), f(b=n, a=m)

    assert call(3, Fixed(1)) == call.py_func(3, Fixed(1)) == (7, 0, 7)
    assert call(3, 4) == call.py_func(3, 4) == (14, 0, 14)


def test_distances_decide_between_rows_that_are_equally_close():
    class A:
        def __init__(self):
            self.v = 1

    class B(A):
        pass

    @dispatch
    def f(a: A, b: object) -> float:
        return 1

    @f.register
    def _(a: object, b: A) -> float:
        return 2

    class C(A):
        pass

    @njit
    def call(x, y):
        return f(x, y)

    with pytest.raises(TypeError, match="ambiguous"):
        call(B(), C())
    for c, far in ((B, 9), (C, 1)):
        rules.distance(c, A, 1)
        rules.distance(c, object, far)
    assert call(B(), C()) == f(B(), C()) == 1.0
    assert call(C(), B()) == f(C(), B()) == 2.0
    with pytest.raises(TypeError, match="ambiguous"):
        call(B(), B())


def test_what_a_row_gives_is_checked():
    @dispatch
    def f(a: int) -> str:
        return a

    @f.register
    def _(a: float) -> float:
        return 1

    @njit
    def call(x):
        return f(x)

    for g in (f, call):
        with pytest.raises(TypeError, match=r"the result of f\(\) must be str, not int"):
            g(3)
        assert type(g(2.5)) is float


def test_what_a_compiled_row_gives_is_checked():
    @dispatch
    @njit
    def f(a: int) -> str:
        return a

    @f.register
    @njit(checked=True)
    def _(a: float) -> float:
        return 1

    @njit
    def call(x):
        return f(x)

    for g in (f, call):
        with pytest.raises(TypeError, match=r"the result of f\(\) must be str, not int"):
            g(3)
        assert type(g(2.5)) is float


def test_rules_tell_types_and_what_holds_two_of_them():
    assert rules.typeof(1) == tierup.typeof(1) and rules.typeof([1.5]) == tierup.typeof([1.5])
    assert (rules.unify(1, 2.5), rules.unify(True, 1)) == (rules.typeof(2.5), rules.typeof(1))
    assert str(rules.unify(Disc(1.0), Blob(1.0))) == "variant(Blob(float), Disc(float))"
    assert rules.unify(None, 1) == tierup.types.optional(rules.typeof(1))
    with pytest.raises(TypeError, match="no variable of compiled code holds both int and str"):
        rules.unify(1, "a")


def test_methods_are_checked():
    class C:
        def __init__(self, v):
            self.v = v

        @njit(checked=True)
        def m(self, x: int) -> int:
            return self.v + x

        @staticmethod
        @njit(checked=True)
        def s(x: "int") -> int:
            return x

    @njit
    def call(c):
        return c.m(1), C.s(2)

    assert call(C(1)) == (2, 2)
    assert C(1).m(2) == 3
    with pytest.raises(TypeError, match="argument 'x' must be int, not str"):
        C(1).m("a")


def test_a_function_calls_itself_checked():
    @njit(checked=True)
    def fact(n: int) -> int:
        return 1 if n < 2 else n * fact(n - 1)

    assert fact(10) == 3628800


def test_what_cannot_be_checked_is_refused_when_it_is_decorated():
    def gen(n: int) -> list[int]:
        yield n

    with pytest.raises(ValueError, match="which is a generator"):
        njit(checked=True)(gen)
    with pytest.raises(ValueError, match="by signatures and by checked=True"):
        njit("int64(int64)", checked=True)(lambda x: x)
    with pytest.raises(ValueError, match="would run unchecked"):
        jit(checked=True)(lambda x: x)
    for decorator in (tierup.vectorize, lambda **options: tierup.cfunc("float64(float64)", **options), lambda **options: tierup.guvectorize("(n)->(n)", **options)):
        with pytest.raises(TypeError, match="Unrecognized options: 'checked'"):
            decorator(checked=True)(lambda x: x)


def test_an_annotation_that_cannot_be_checked_is_refused():
    @njit(checked=True)
    def f(x: "list[int].mro") -> int:
        return 1

    with pytest.raises(TypeError):
        f(1)

    @njit(checked=True)
    def g(x: type[int]) -> int:
        return 1

    refused = both(g, int)
    assert refused == "parameter 'x' of g() is declared in a way that cannot be checked: type[int] says something that cannot be checked"

    @njit(checked=True)
    def h(x: "tuple[int, type[int]]", k=1) -> int:
        return 1

    assert both(h, (1, 2)).endswith("cannot be checked: type[int] says something that cannot be checked")


def test_what_can_be_called_takes_so_many_arguments():
    @njit(checked=True)
    def twice(f: Callable[[float], float], x: float) -> float:
        return f(f(x))

    def half(x, by=2):
        return x / by

    def two(x, y):
        return x + y

    assert both(twice, half, 8) == 2.0
    assert both(twice, njit(half), 8) == 2.0
    assert both(twice, math.sqrt, 16) == 2.0
    assert both(twice, two, 1.0) == "twice() argument 'f' must be Callable[[float], float], not function"
    assert both(twice, 1.5, 1.0) == "twice() argument 'f' must be Callable[[float], float], not float"

    @njit
    def call(x):
        return twice(lambda y: y * 3, x)

    assert call(2) == 18.0

    @njit(checked=True)
    def anything(f: Callable[..., int], x: int) -> int:
        return f(x, x)

    assert both(anything, two, 2) == 4


def test_a_copy_in_another_process_is_checked():
    namespace = {"__name__": "__main__"}
    exec("def f(x: 'float') -> float:\n    return x\n", namespace)
    f = njit(checked=True)(namespace["f"])
    program = "import pickle, sys; f = pickle.loads(sys.stdin.buffer.read()); print(f(1))\ntry:\n    f('a')\nexcept TypeError as e:\n    print(str(e)[:22])"
    done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(f), env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True)
    assert done.stdout.decode().split("\n")[:2] == ["1.0", "f() argument 'x' must "], done.stderr


def test_the_bound_of_a_type_variable_holds_for_plain_functions():
    @njit
    def area(xs: "list[S]") -> float:
        return [x.r for x in xs][0]

    @njit
    def call(r):
        return area([Blob(r)])

    assert area([Disc(2.0)]) == 2.0
    line = area.py_func.__code__.co_firstlineno
    for f, at, given in ((area, line + 1, [Blob(1.0)]), (call, line + 6, 1.0)):
        with pytest.raises(tierup.TypingError, match=r"area\(\) argument 'xs': Blob has no 'area', which Shape asks for") as e:
            f(given)
        assert (e.value.code, e.value.line) == ("unsatisfied-bound", at)


N = TypeVar("N", bound=float)
P = TypeVar("P", bound="Unknown")


def test_a_bound_may_be_a_class():
    @njit
    def f(x: N, y: N) -> N:
        return x + y

    assert f(1.5, 2) == 3.5
    with pytest.raises(tierup.TypingError, match=r"f\(\) argument 'y' must be N \(N: float\), not str"):
        f(1.0, "a")


def test_what_else_a_plain_function_says_may_be_anything():
    @njit
    def f(x: "P", y: "Callable[[N], nonsense]", z: "list[Unknown]", k: "S" = None) -> "S":
        return x

    assert f(1, 2, 3) == 1

    @njit
    def g(x: S, *rest: S, other: "f.nothing" = 1):
        return other

    assert g(1) == 1


def test_one_of_several_classes_satisfies_a_bound_when_it_comes():
    @njit
    def area(s: S):
        return s.r

    @njit
    def f(n):
        x = Disc(1.0) if n > 0 else Blob(2.0)
        return area(x)

    assert f(1) == 1.0
    with pytest.raises(TypeError, match="Blob has no 'area'"):
        f(0)


def test_a_plain_function_ignores_its_annotations():
    @njit
    def f(x: int) -> str:
        return x

    assert f(2.5) == 2.5
