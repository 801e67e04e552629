"""Functions for which compiled code runs LIR (`tierup.extending.lir`), and `tierup.testing.agree`."""

import os
import subprocess
import sys
import textwrap

import pytest
from tierup import TypingError, njit, testing, types
from tierup.extending import lir

MINIMUM = "block0(v0: i64, v1: i64):\n    v2 = smin.i64 v0, v1\n    return v2"


def lower(a: int, b: int) -> int:
    return a if a < b else b


def test_a_body_and_its_lir_that_agree():
    f = lir(MINIMUM)(lower)
    assert f is lower
    testing.agree(f)
    testing.agree(f, count=3, seed=7)

    @lir("block0(v0: f64, v1: f64):\n    v2 = fadd.f64 v0, v1\n    v3 = fcmp_uno.f64 v0, v1\n    return v2, v3")
    def total(a: float, b: float) -> tuple[float, bool]:
        return a + b, a != a or b != b

    testing.agree(total)

    @lir("block0(v0: i64):\n    v1 = ineg.i64 v0\n    return v1")
    def negative(a: int) -> int:
        return -a

    # The least int has no negative one in 64 bits.
    testing.agree(negative)

    @lir("block0(v0: i8, v1: i32):\n    v2 = const.i32 1\n    v3 = isub.i32 v1, v2\n    v4 = select.i32 v0, v3, v1\n    return v4")
    def less(by: bool, n: types.uint32) -> types.uint32:
        return types.uint32(n - 1 if by and n else 0xFFFFFFFF if by else n)

    testing.agree(less)


@pytest.mark.skipif(os.environ.get("TIERUP_TIER") == "off", reason="there is only the body")
def test_a_body_and_its_lir_that_differ():
    @lir(MINIMUM)
    def upper(a: int, b: int) -> int:
        return a if a > b else b

    with pytest.raises(AssertionError, match=r"upper\(.*\) is .*, and its LIR gives"):
        testing.agree(upper)

    @lir("block0(v0: i64):\n    v1 = const.f64 1.0\n    v2 = sint_to_f.f64 v0\n    v3 = fdiv.f64 v1, v2\n    return v3")
    def reciprocal(a: int) -> float:
        return 1.0 / a

    with pytest.raises(AssertionError, match=r"reciprocal\(0\) raises ZeroDivisionError"):
        testing.agree(reciprocal)

    @lir("block0(v0: f64):\n    v1 = const.f64 0.0\n    v2 = fadd.f64 v0, v1\n    return v2")
    def same(x: float) -> float:
        return x

    with pytest.raises(AssertionError, match=r"same\(-0.0\) is -0.0, and its LIR gives 0.0"):
        testing.agree(same)


def test_what_is_not_opaque_has_no_lir_to_agree_with():
    with pytest.raises(TypeError, match="decorated with tierup.extending.lir"):
        testing.agree(lambda x: x)


@pytest.mark.parametrize("text, said", [
    ("block0(v0: i64, v1: i64):\n    v2 = smin.i64 v0, v7\n    return v2", "line 2 of the text, `v2 = smin.i64 v0, v7`"),
    ("\nblock0(v0: i64, v1: i64):\n    v2 = least.i64 v0, v1\n    return v2\n", "line 3 of the text, `v2 = least.i64 v0, v1`"),
    ("block0(v0: i64):\n    return v0", "line 1 of the text"),
    ("block0(v0: i64, v1: i64):\n    v2 = icmp_eq.i64 v0, v1\n    return v2", "line 3 of the text, `return v2`"),
    ("block0(v0: i64, v1: i64):\n    jump block0(v0, v1)", "line 1 of the text"),
    ("block0(v0: i64, v1: i64):\n    unreachable", "a result on every path"),
    ("block0(v0: i64, v1: i64):\n    v2 = const.ptr 4096\n    v3 = load.i64 array v2\n    return v3", "no memory but its slots"),
    ("    declare @other(i64) -> i64\nblock0(v0: i64, v1: i64):\n    v2 = call @other(v0)\n    return v2", "line 1 of the text"),
    ("", "line 1 of the text"),
])  # fmt: skip
def test_a_text_that_is_wrong_is_refused_at_its_line(text, said):
    with pytest.raises(TypingError) as e:
        lir(text)(lower)
    assert said in str(e.value) and e.value.code == "bad-lir" and str(e.value).startswith("lower(): ")


def no_result(a: int):
    return a


def no_parameter(a) -> int:
    return a


def rest(*a: int) -> int:
    return 0


def of_text(a: str) -> int:
    return 0


def of_list(a: int) -> list[int]:
    return [a]


@pytest.mark.parametrize("function, said", [
    (no_result, "the type of its result"), (no_parameter, "the type of its parameter 'a'"), (rest, "any number of arguments"), (of_text, "not over str"),
    (of_list, r"not over list\[int\]"), (len, "a function of Python's"), (3, "a function of Python's"),
])  # fmt: skip
def test_what_lir_is_over_must_be_said(function, said):
    with pytest.raises(TypeError, match=said):
        lir(MINIMUM)(function)


def test_a_text_is_wanted():
    with pytest.raises(TypeError, match="takes the text"):
        lir(lower)


@pytest.mark.skipif(os.environ.get("TIERUP_TIER") == "off", reason="nothing is compiled")
def test_calls_keep_to_the_types_that_are_declared():
    f = lir(MINIMUM)(lower)
    assert njit(lambda a, b: f(a, b))(True, 2) == 1
    for args in ((1.5, 2), ("a", 2)):
        with pytest.raises(TypingError, match="lower"):
            njit(lambda a, b: f(a, b))(*args)
    with pytest.raises(TypingError, match="missing required argument"):
        njit(lambda a: f(a))(1)


def test_an_opaque_function_is_not_decorated():
    with pytest.raises(TypeError, match="call it from a function that is compiled"):
        njit(lir(MINIMUM)(lower))


@pytest.mark.skipif(os.environ.get("TIERUP_TIER") == "off", reason="nothing is compiled")
def test_a_body_that_cannot_be_compiled_is_never_looked_at():
    @lir("block0(v0: i64):\n    v1 = popcnt.i64 v0\n    return v1")
    def ones(n: int) -> int:
        class Local:
            pass
        return bin(n % 2**64).count("1")

    assert njit(lambda n: ones(n))(7) == 3
    testing.agree(ones)


@pytest.mark.skipif(os.environ.get("TIERUP_TIER") == "off", reason="nothing is compiled")
def test_code_that_was_compiled_before_takes_the_lir():
    def f(a: int) -> int:
        return a

    call = njit(lambda a: f(a))
    assert call(1) == 1
    lir("block0(v0: i64):\n    v1 = ineg.i64 v0\n    return v1")(f)
    assert call(1) == -1


@pytest.mark.parametrize("setting", ["0", "off", ""])
def test_the_example_runs_in_each_tier(setting):
    program = """
        from tierup import njit, testing
        from tierup.extending import lir


        @lir('''
        block0(v0: i64, v1: i64):
            v2 = smin.i64 v0, v1
            return v2
        ''')
        def lower(a: int, b: int) -> int:
            return a if a < b else b


        @njit
        def lowest(xs: list[int]) -> int:
            m = xs[0]
            for x in xs:
                m = lower(m, x)
            return m


        assert lowest([3, 1, 2]) == 1
        testing.agree(lower)
    """
    env = {**os.environ, **({"TIERUP_TIER": setting} if setting else {})}
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=env, check=True)
