"""Numbers in functions that have Numba's meaning: what the stand-in for Numba decorates, and `meaning="numba"`. Types are those that Numba 0.68 gives; `tests/tools/numba_meaning.py` holds
more of them against Numba itself."""

import cmath
import gc
import itertools
import math
import operator
import pickle
import random
import weakref

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup.compat import decorators as numba  # noqa: E402

njit, prange = numba.njit, tierup.prange

SHORT = {"b": "bool", **{f"i{n}": f"int{n}" for n in (8, 16, 32, 64)}, **{f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)}, "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128"}
TYPES = [np.dtype(t).type for t in SHORT.values()]

# What an operator gives for two scalars: a row for each type on the left, a column for each on the right, in the order of SHORT; those that Numba refuses are left out.
TABLE = {
    "+ - *": """
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f32  f64  c64  c128
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f32  f64  c64  c128
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f32  f64  c64  c128
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f64  f64  c128 c128
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f64  f64  c128 c128
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f32  f64  c64  c128
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64  c128 c128
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64  c128 c128
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64  c128 c128
        f32  f32  f32  f64  f64  f32  f64  f64  f64  f32  f64  c64  c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
        c64  c64  c64  c128 c128 c64  c128 c128 c128 c64  c128 c64  c128
        c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
    """,
    "/": """
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f32  f64  c64  c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f32  f64  c64  c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f32  f64  c64  c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f32  f64  c64  c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
        f32  f32  f32  f64  f64  f32  f64  f64  f64  f32  f64  c64  c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
        c64  c64  c64  c128 c128 c64  c128 c128 c128 c64  c128 c64  c128
        c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
    """,
    "// %": """
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f32  f64
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f32  f64
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f32  f64
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f64  f64
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f64  f64
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f32  f64
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64
        f32  f32  f32  f64  f64  f32  f64  f64  f64  f32  f64
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64
    """,
    "**": """
        i64  i64  i64  f32  i64  i64  i64  i64  i64  f32  f64  c64  c128
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f32  f64  c64  c128
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f32  f64  c64  c128
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f64  f64  c128 c128
        i64  i64  i64  i64  i64  i64  i64  i64  i64  f64  f64  c128 c128
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f32  f64  c64  c128
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64  c128 c128
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64  c128 c128
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64  c128 c128
        f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c128
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
        c64  c64  c64  c128 c128 c64  c128 c128 c128 c64  c128 c64  c128
        c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
    """,
    "<< >>": """
        i64  i64  i64  i64  i64  i64  i64  i64  i64
        i64  i64  i64  i64  i64  i64  i64  i64  i64
        i64  i64  i64  i64  i64  i64  i64  i64  i64
        i64  i64  i64  i64  i64  i64  i64  i64  i64
        i64  i64  i64  i64  i64  i64  i64  i64  i64
        u64  u64  u64  u64  u64  u64  u64  u64  u64
        u64  u64  u64  u64  u64  u64  u64  u64  u64
        u64  u64  u64  u64  u64  u64  u64  u64  u64
        u64  u64  u64  u64  u64  u64  u64  u64  u64
    """,
    "& | ^": """
        b    i64  i64  i64  i64  i64  i64  i64  i64
        i64  i64  i64  i64  i64  i64  i64  i64  i64
        i64  i64  i64  i64  i64  i64  i64  i64  i64
        i64  i64  i64  i64  i64  i64  i64  i64  i64
        i64  i64  i64  i64  i64  i64  i64  i64  i64
        i64  i64  i64  i64  i64  u64  u64  u64  u64
        i64  i64  i64  i64  i64  u64  u64  u64  u64
        i64  i64  i64  i64  i64  u64  u64  u64  u64
        i64  i64  i64  i64  i64  u64  u64  u64  u64
    """,
    "divmod": """
        i64  i64  i64  i64  i64  u64  u64  u64  u64  f32  f64
        i64  i64  i64  i64  i64  i64  i64  i64  f64  f32  f64
        i64  i64  i64  i64  i64  i64  i64  i64  f64  f32  f64
        i64  i64  i64  i64  i64  i64  i64  i64  f64  f64  f64
        i64  i64  i64  i64  i64  i64  i64  i64  f64  f64  f64
        u64  i64  i64  i64  i64  u64  u64  u64  u64  f32  f64
        u64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64
        u64  i64  i64  i64  i64  u64  u64  u64  u64  f64  f64
        u64  f64  f64  f64  f64  u64  u64  u64  u64  f64  f64
        f32  f32  f32  f64  f64  f32  f64  f64  f64  f32  f64
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64
    """,
    "min max": """
        b    i8   i16  i32  i64  u8   u16  u32  u64  f32  f64
        i8   i8   i16  i32  i64  i16  i32  i64  f64  f32  f64
        i16  i16  i16  i32  i64  i16  i32  i64  f64  f32  f64
        i32  i32  i32  i32  i64  i32  i32  i64  f64  f64  f64
        i64  i64  i64  i64  i64  i64  i64  i64  f64  f64  f64
        u8   i16  i16  i32  i64  u8   u16  u32  u64  f32  f64
        u16  i32  i32  i32  i64  u16  u16  u32  u64  f32  f64
        u32  i64  i64  i64  i64  u32  u32  u32  u64  f64  f64
        u64  f64  f64  f64  f64  u64  u64  u64  u64  f64  f64
        f32  f32  f32  f64  f64  f32  f32  f64  f64  f32  f64
        f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64
    """,
}


def of(*types):
    """Arguments of these types."""
    return [t(3) for t in types]


def types_of(result):
    return [np.asarray(r).dtype.name for r in (result if isinstance(result, tuple) else (result,))]


def typed(f, *args):
    """The types of what a function gives, in Numba's meaning: `f` gives arrays without dimensions."""
    return types_of(njit(f)(*args))


def made(text, **names):
    space = {"np": np, "math": math, "njit": njit, "prange": prange, **names}
    exec(text, space)
    return space["f"]


def expression(text, *params):
    return made(f"def f({', '.join(params)}):\n    return np.asarray({text})\n")


def table():
    for operators, rows in TABLE.items():
        for op in operators.split():
            yield from ((op, a, b, SHORT[t]) for a, row in zip(TYPES, rows.split("\n")[1:], strict=False) for b, t in zip(TYPES, row.split(), strict=False))


@pytest.mark.parametrize("left", TYPES, ids=lambda t: t.__name__)
def test_operators_on_scalars_give_the_types_that_numba_gives(left):
    for right in TYPES:
        wanted = [(op, t) for op, a, b, t in table() if (a, b) == (left, right)]
        forms = [f"{op}(x, y)" if op.isidentifier() else f"x {op} y" for op, _ in wanted]
        f = made("def f(x, y):\n    return " + ", ".join(f"np.asarray({form}{'[0]' if form.startswith('divmod') else ''})" for form in forms))
        assert list(zip(forms, typed(f, *of(left, right)), strict=True)) == [(form, t) for form, (_, t) in zip(forms, wanted, strict=True)], right


def expression_of_arrays(text, params="a"):
    return made(f"def f({params}):\n    return {text}\n")


ONE = {
    # Expressions of x, with the type that each gives for an x of a type.
    "-x": "b:i64 i8:i64 i32:i64 u8:u64 u32:u64 f32:f32 c64:c64", "~x": "i8:i64 u8:u64 u32:u64", "abs(x)": "i8:i8 u8:u8 i32:i32 f32:f32 c64:f32 c128:f64", "int(x)": "b:i64 i8:i8 u64:u64 f32:i64",
    "float(x)": "i8:f64 u64:f64 f32:f32 f64:f64", "complex(x)": "i8:c128 f32:c64 c64:c128", "round(x)": "i8:i64 u64:i64 f32:i64 f64:i64", "round(x, 2)": "i8:f32 i32:f64 u16:f64 f32:f32 f64:f64",
    "x ** 2": "i8:i64 u8:i64 u64:i64 f32:f32 c64:c128", "x ** -2": "i8:i64 f32:f32 f64:f64", "x ** 0.5": "i8:f64 f32:f64", "x + 1": "b:i64 u64:i64 f32:f64 c64:c128", "x * 2.0": "i8:f64 f32:f64 c64:c128",
    "x << 1": "b:i64 i8:i64 u8:u64", "x >> -1": "i8:i64 u64:u64", "np.sinc(x)": "f32:f64", "np.negative(x)": "b:i8", "np.sign(x)": "b:i8", "sum((x, x))": "u8:i64 u64:i64 f32:f64 c64:c128", "sum([x, x])": "u64:i64 f32:f64", "max(x, 1)": "i8:i64 u64:f64 f32:f64", "min(x, 2.0)": "i8:f64 f32:f64", "1 if x else x": "u8:i64 u64:f64 f32:f64",
    "x or 2.5": "i8:f64 f32:f64", "math.sqrt(x)": "i8:f64 u64:f64 f32:f32", "math.exp(x)": "f32:f32 f64:f64", "math.floor(x)": "i8:i64 u8:u64 f32:i64", "math.pow(x, 2)": "f32:f64 i8:f64", "math.gamma(x + 1.5)": "i8:f64", "math.lgamma(x)": "f32:f32 u8:f64",
    "np.sqrt(x)": "b:f32 i8:f32 u8:f32 i16:f32 i32:f64 f32:f32", "np.add(x, 1)": "i8:i64 u64:f64 f32:f32 c64:c64", "np.power(x, 2)": "f32:f32 u64:f64", "np.maximum(x, 2.5)": "f32:f64 i8:f64", "np.square(x)": "i8:i8 u8:u8",
    "len((x,)) + x": "f32:f64 u64:i64", "(x, 1)[1]": "i8:i64", "[x, 1][0]": "i8:i64 u64:f64 f32:f64", "np.array([x, 1])": "i8:i64 u64:f64 f32:f64", "np.full(2, x)": "i8:i8 f32:f32 u64:u64", "x.real": "i8:i8 f32:f32 c64:f32",
    "np.zeros(2, np.float32) * x": "i64:f32 u8:f32 f32:f32 f64:f64 c64:c64", "np.zeros(2, np.float32) * 2.0": "b:f64", "np.zeros(2, np.float32) + 1": "b:f32", "np.zeros(2, np.int8) + 1": "b:i64", "np.zeros(2, np.uint64) + 1": "b:f64",
    "np.ones(2, np.int64) * x": "f32:f32 f64:f64 c64:c64", "np.zeros(2, np.int8) + x": "i8:i8 i16:i16 f32:f32",
}


@pytest.mark.parametrize(("text", "t", "wanted"), [(text, *pair.split(":")) for text, pairs in ONE.items() for pair in pairs.split()])
def test_what_is_done_with_one_number_gives_the_type_that_numba_gives(text, t, wanted):
    assert typed(expression(text, "x"), *of(np.dtype(SHORT[t]).type)) == [SHORT[wanted]]


WEAK = [("1", "int64"), ("2.5", "float64"), ("1j", "complex128")]


@pytest.mark.parametrize(("literal", "t"), WEAK)
@pytest.mark.parametrize("how", ["x + {}", "y = {}; x + y", "def g(y): return x + y; g({})", "argument", "default", "global", "captured", "closure", "member", "result"])
def test_a_number_of_python_is_as_wide_wherever_it_stands(literal, t, how):
    x, k = np.float32(0.1), eval(literal)

    def captured(x):
        return np.asarray(x + k)

    functions = {
        "argument": (made("def f(x, y):\n    return np.asarray(x + y)\n"), (x, k)), "default": (made(f"def f(x, y={literal}):\n    return np.asarray(x + y)\n"), (x,)),
        "global": (made("def f(x):\n    return np.asarray(x + G)\n", G=k), (x,)), "captured": (captured, (x,)),
        "closure": (made(f"def f(x):\n    k = {literal}\n    def g(v):\n        return v + k\n    return np.asarray(g(x))\n"), (x,)),
        "member": (made(f"def f(x):\n    t = (x, {literal})\n    return np.asarray(t[0] + t[1])\n"), (x,)), "result": (made(f"@njit\ndef g():\n    return {literal}\ndef f(x):\n    return np.asarray(x + g())\n"), (x,)),
    }
    if how in functions:
        f, args = functions[how]
    else:
        *lines, last = how.format(literal).split("; ")
        f, args = made("def f(x):\n" + "".join(f"    {line}\n" for line in [*lines, f"return np.asarray({last})"])), (x,)
    assert typed(f, *args) == ["complex128" if t == "complex128" else "float64"]
    # The same width as NumPy's number, and the same value.
    assert njit(f)(*args) == np.float64(x) + k


@pytest.mark.parametrize(("start", "t", "wanted"), [("0", "float32", "float64"), ("0.0", "float32", "float64"), ("0", "int8", "int64"), ("0", "uint64", "int64"), ("0.0", "complex64", "complex128"), ("np.float32(0)", "float32", "float32"),
                                                    ("np.float32(0)", "int8", "float32"), ("np.float32(0)", "int64", "float64"), ("np.int8(0)", "int8", "int64"), ("True", "bool", "int64")])
def test_sums_in_loops_are_as_wide_as_what_they_start_with(start, t, wanted):
    for loop in ("for v in x:\n        r += v", "for i in range(len(x)):\n        r += x[i]", "i = 0\n    while i < len(x):\n        r = x[i] + r\n        i += 1"):
        f = made(f"def f(x):\n    r = {start}\n    {loop}\n    return np.asarray(r)\n")
        assert typed(f, np.array([1, 1, 1], t)) == [wanted], loop


def test_a_sum_of_float32_in_a_variable_of_float64_has_the_digits_of_float64():
    def total(x):
        r = 0.0
        for i in range(len(x)):
            r += x[i]
        return r

    x = np.full(1000, 0.1, np.float32)
    assert njit(total)(x) == sum(float(v) for v in x)
    # Python's numbers give way in the default meaning, and so they do in a function that only these call.
    assert tierup.njit(total)(x) == float(np.cumsum(x)[-1]) != njit(total)(x)


@pytest.mark.parametrize(("left", "right", "wanted"), [("int32", "int64", "int64"), ("int8", "uint8", "int16"), ("int64", "uint64", "float64"), ("int32", "float32", "float64"), ("int16", "float32", "float32"), ("uint16", "float32", "float32"),
                                                       ("float32", "complex64", "complex64"), ("bool", "int8", "int8"), ("float64", "complex64", "complex128")])
def test_numbers_that_meet_are_promoted_as_elements_are(left, right, wanted):
    def variable(c, x, y):
        r = x
        if c:
            r = y
        return np.asarray(r)

    def choice(c, x, y):
        return np.asarray(x if c else y)

    def result(c, x, y):
        def g():
            if c:
                return x
            return y
        return np.asarray(g())

    def member(c, x, y):
        t = (x, 1)
        if c:
            t = (y, 2)
        return np.asarray(t[0])

    def element(c, x, y):
        return np.asarray([x, y][0])

    def optional(c, x, y):
        r = None
        if c:
            r = x
        else:
            r = y
        return np.asarray(r)

    for f in (variable, choice, result, member, element, optional):
        for c in (True, False):
            assert typed(f, c, *of(*(np.dtype(t).type for t in (left, right)))) == [wanted], f.__name__


def test_functions_of_math_raise_nothing():
    for text, x, value in [("math.sqrt(x)", -1.0, math.nan), ("math.log(x)", 0.0, -math.inf), ("math.exp(x)", 1000.0, math.inf), ("math.acos(x)", 2.0, math.nan), ("math.pow(x, -1)", 0.0, math.inf), ("math.log1p(x)", -1.0, -math.inf),
                           ("math.gamma(x)", -1.0, math.nan), ("math.gamma(x)", 0.0, math.inf), ("math.gamma(x)", 200.0, math.inf), ("math.lgamma(x)", -1.0, math.inf), ("math.lgamma(x)", 3e305, math.inf), ("x ** -1", 0.0, math.inf), ("x ** 400", 10.0, math.inf), ("math.cosh(x)", 1000.0, math.inf), ("int(x)", math.nan, -2**63), ("round(x)", math.inf, -2**63), ("math.floor(x)", 1e30, -2**63), ("int(x)", -2.9, -2)]:
        f = made(f"def f(x):\n    return {text}\n")
        assert np.array_equal(njit(f)(x), value, equal_nan=True), text
        if not text.startswith("int(x)") or x != -2.9:
            with pytest.raises((ValueError, OverflowError, ZeroDivisionError)):
                tierup.njit(f)(x)


@pytest.mark.parametrize(("text", "x", "value"), [("cmath.log(x)", 0j, -math.inf), ("cmath.log10(x)", 0j, -math.inf), ("cmath.log(x, 2)", 0j, complex(-math.inf, math.nan)), ("cmath.atanh(x)", 1 + 0j, math.inf), ("cmath.exp(x)", 1e4 + 1j, complex(math.inf, math.inf)),
                                                  ("cmath.exp(x)", complex(0, math.inf), complex(math.nan, math.nan)), ("cmath.rect(1.0, x.imag)", complex(0, math.inf), complex(math.nan, math.nan)), ("cmath.cosh(x)", 1e4 + 1j, complex(math.inf, math.inf))])
def test_functions_of_cmath_raise_nothing(text, x, value):
    f = made(f"def f(x):\n    return {text}\n", cmath=cmath)
    got = njit(f)(x)
    assert np.array_equal([got.real, got.imag], [complex(value).real, complex(value).imag], equal_nan=True), got
    with pytest.raises((ValueError, OverflowError)):
        tierup.njit(f)(x)


def test_functions_of_cmath_keep_the_width():
    for text, t, wanted in (("cmath.sin(x)", "complex64", "complex64"), ("cmath.sqrt(x)", "float32", "complex64"), ("cmath.sqrt(x)", "int64", "complex128"), ("cmath.log10(x)", "complex64", "complex128"), ("cmath.asinh(x)", "complex128", "complex128")):
        assert typed(made(f"def f(x):\n    return np.asarray({text})\n", cmath=cmath), *of(np.dtype(t).type)) == [wanted], text


def test_divisions_by_zero_still_raise():
    for text in ("1 / x", "1 // x", "1 % x", "divmod(1, x)"):
        for zero in (0, 0.0, np.int8(0), np.float32(0)):
            with pytest.raises(ZeroDivisionError):
                njit(made(f"def f(x):\n    return {text}\n"))(zero)


def test_fractions_are_no_powers_of_integers():
    known, unknown = njit(lambda x: (x ** -1, x ** -2)), njit(lambda x, n: x ** n)
    for x, one, two in ((2, 0, 0), (1, 1, 1), (-1, -1, 1), (np.int8(3), 0, 0)):
        assert known(x) == (one, two) == (unknown(x, -1), unknown(x, -2))
    for f, args in ((known, (0,)), (unknown, (0, -1))):
        with pytest.raises(ZeroDivisionError):
            f(*args)
    assert unknown(3, 4) == 81 and unknown(np.uint8(2), np.uint8(3)) == 8 and unknown(2.0, -1) == 0.5


@pytest.mark.parametrize("t", ["int8", "int32", "int64", "uint8", "uint64"])
def test_shifts_count_modulo_the_width(t):
    left, right = njit(lambda x, n: x << n), njit(lambda x, n: x >> n)
    bits = np.uint64 if t.startswith("u") else np.int64
    for x in (np.dtype(t).type(1), np.dtype(t).type(100)):
        for n in (-1, -2, -64, 0, 3, 63, 64, 65, 200):
            assert left(x, n) == int(bits(np.uint64(int(x) << n % 64 & 2**64 - 1))) and right(x, n) == int(x) >> n % 64, (x, n)
    # Constants are shifted as variables are, and checks stay checks.
    assert njit(made("def f():\n    n = 65\n    return 1 << -1, 5 >> -1, 1 << n\n"))() == (-2**63, 0, 2)
    with pytest.raises(ValueError):
        tierup.njit(lambda x, n: x << n, meaning="numba", overflow="raise")(1, -1)


@pytest.mark.parametrize(("text", "wanted"), [("-a", [-1, 0]), ("+a", [1, 0]), ("a - a", [0, 0]), ("np.subtract(a, a)", [0, 0]), ("np.sign(a)", [1, 0]), ("np.negative(a)", [-1, 0]), ("np.positive(a)", [1, 0])])
def test_bools_are_small_integers_where_a_ufunc_has_no_loop_for_them(text, wanted):
    got = njit(expression_of_arrays(text))(np.array([True, False]))
    assert got.dtype == np.int8 and got.tolist() == wanted


@pytest.mark.parametrize("t", ["bool", "int8", "uint16", "int64", "float32", "float64"])
def test_clipped_elements_keep_their_type(t):
    a = np.array([0, 1, 2, 3]).astype(t)
    for lo, hi in ((0, 1), (0.5, 2.5), (-1000, 1000), (np.int8(1), np.int64(2)), (None, 1.7), (1.2, None)):
        low, high = (-math.inf if lo is None else lo), (math.inf if hi is None else hi)
        for text in ("np.clip(a, lo, hi)", "a.clip(lo, hi)"):
            got = njit(expression_of_arrays(text, "a, lo, hi"))(a, lo, hi)
            assert got.dtype == a.dtype and got.tolist() == [a.dtype.type(min(max(x.item(), low), high)).item() for x in a], (text, lo, hi)


def test_variances_of_complex64_are_doubles():
    z = (np.arange(5) + 1j * np.arange(5) ** 2).astype(np.complex64)
    assert typed(expression_of_arrays("np.asarray(z.var()), np.asarray(np.std(z))", "z"), z) == ["float64", "float64"]
    assert njit(lambda z: (np.var(z), z.std()))(z) == (np.var(z.astype(complex)), z.astype(complex).std())


@pytest.mark.parametrize("text", ["np.quantile(a, 1)", "np.nanquantile(a, 0)", "np.percentile(a, 100)", "np.nanpercentile(a, 30.5)", "np.quantile(a, [0.25, 1])", "np.percentile(a, np.array([0, 100]))", "np.median(a)", "np.nanmedian(a)"])
def test_what_lies_between_elements_is_a_double(text):
    for t in ("int8", "int64", "float32", "float64"):
        a = np.array([1, 2, 4, 7]).astype(t)
        f = expression_of_arrays(f"np.asarray({text})")
        assert typed(f, a) == ["float64"] and np.allclose(njit(f)(a), f(a.astype(float)), rtol=1e-15), t


def test_members_of_slices_that_are_left_out_are_numbers():
    members = njit(lambda s: (s.start, s.stop, s.step))
    large = 2**63 - 1
    for s, wanted in ((slice(None), (0, large, 1)), (slice(5), (0, 5, 1)), (slice(1, None, 3), (1, large, 3)), (slice(None, None, -1), (large, -large - 1, -1)), (slice(None, 5, -2), (large, 5, -2)), (slice(-1, -9, 2), (-1, -9, 2))):
        assert members(s) == wanted, s
    assert njit(lambda a, s: a[s])(np.arange(9), slice(None, None, -4)).tolist() == [8, 4, 0] and tierup.njit(lambda s: s.start)(slice(3)) is None


def test_containers_of_narrow_numbers_take_wide_ones():
    from tierup.typed import Dict, List, Set
    i4, f4 = tierup.types.int32, tierup.types.float32

    def five():
        d = Dict.empty(i4, f4)
        d[2**32 + 5] = 5
        return d

    @njit
    def fill():
        d, items, s = Dict.empty(i4, f4), List.empty_list(i4), Set.empty(i4)
        for k in range(4):
            d[k] = k
            items.append(k + 2**32)
            s.add(k)
        items.insert(0, 9)
        items[1] = 8
        items.extend((7, 6))
        s.discard(0)
        s.remove(1)
        d.setdefault(9, 0.5)
        d.setdefault(9, 1.5)
        del d[0]
        return list(d.items()), list(items), sorted(s), (1 in d, 5 in d, d[2], d.get(7, 2.5), d.pop(3, 1), 2 in s, 7 in s)

    # Keys wrap around where they are looked for, too.
    assert njit(lambda d: (d[2**32 + 5], 2**32 + 5 in d, d.get(2**32 + 5), d.get(6, 1)))(njit(five)()) == (5.0, True, 5.0, 1.0)
    assert fill() == ([(1, 1.0), (2, 2.0), (3, 3.0), (9, 0.5)], [9, 8, 1, 2, 3, 7, 6], [2, 3], (True, False, 2.0, 2.5, 3.0, True, False))
    # What Numba does not convert is refused.
    for text in ("d[0.5] = 1", "d[0] = 1j", "items.append(0.5)", "s.add(1j)"):
        f = made(f"def f():\n    d, items, s = Dict.empty(i4, f4), List.empty_list(i4), Set.empty(i4)\n    {text}\n", Dict=Dict, List=List, Set=Set, i4=i4, f4=f4)
        with pytest.raises(tierup.errors.TypingError):
            njit(f)()


def test_answers_of_special_methods_are_pythons_numbers():
    @numba.jitclass([("x", tierup.types.int64)])
    class Seven:
        def __init__(self):
            self.x = 7

        def __int__(self):
            return 7

        def __hash__(self):
            return self.x % 10

        def __float__(self):
            return 3.5

        def __index__(self):
            return self.x

        def __complex__(self):
            return 1j

        def __len__(self):
            return self.x

    assert njit(lambda s: (int(s), hash(s), float(s), complex(s), len(s), operator.index(s)))(Seven()) == (7, 7, 3.5, 1j, 7, 7)


def test_unsigned_numbers_are_negated_in_their_own_width():
    assert njit(lambda x: (-x, ~x, abs(-x)))(np.uint8(7)) == (249, 248, 249) and njit(lambda x: -x)(np.int8(-128)) == 128 and njit(lambda x: -x)(np.uint64(1)) == 2**64 - 1


@pytest.mark.parametrize(("t", "value", "stored"), [("int8", 300, 44), ("uint8", -1, 255), ("int64", math.nan, -2**63), ("int32", 2.9, 2), ("int32", -2.9, -2), ("float32", 0.1, np.float32(0.1)), ("bool", 2, True)])
def test_numbers_that_are_stored_are_converted(t, value, stored):
    def store(a, v):
        a[0] = v
        a[1:] = v

    a = np.zeros(2, t)
    njit(store)(a, value)
    assert a.tolist() == [stored, stored]


def test_results_are_what_a_signature_says():
    assert njit("int32(float64)")(lambda x: x)(2.9) == 2 and njit("UniTuple(float32, 2)(float64, int64)")(lambda x, y: (x, y))(0.1, 3) == (np.float32(0.1), 3.0)


def test_what_shows_numbers_shows_those_of_python(capsys):
    @njit
    def show(x, y):
        t = (x, y, 1)
        print(x, y, t, [x, x], (1, 2.5))
        return str(x), f"{y}", "%s" % x

    assert show(np.int8(3), np.float64(0.5)) == ("3", "0.5", "3") and capsys.readouterr().out == "3 0.5 (3, 0.5, 1) [3, 3] (1, 2.5)\n"


def test_numbers_of_64_bits_are_of_the_classes_of_both():
    classes = njit(lambda x: (isinstance(x, int), isinstance(x, float), isinstance(x, (int, float)), isinstance(x, np.int64), isinstance(x, np.float32), isinstance(x, str)))
    assert classes(1) == classes(np.int64(1)) == (True, False, True, True, False, False) and classes(1.5) == (False, True, True, False, False, False)
    assert classes(np.float32(1)) == (False, False, False, False, True, False) and classes(np.int8(1)) == (False,) * 6


def test_functions_that_want_an_integer_get_one():
    f = njit(lambda x, n: (np.ldexp(x, n), math.ldexp(x, n), sum([n, n], start=x)))
    assert f(0.5, 3) == (4.0, 4.0, 6.5) and f(0.5, np.int32(3)) == (4.0, 4.0, 6.5) and njit(lambda x: math.ldexp(x, 5000))(1.0) == math.inf


def test_constants_that_functions_ask_for_are_known():
    def f(a, x):
        n = 1
        t = (x, 2.5, "three")
        return a.sum(axis=0).shape, np.concatenate((a, a), axis=n).shape, t[n + 1], np.sum(a, axis=n - 2).shape, np.zeros((2, 2 + n), dtype=np.int8).shape

    assert njit(f)(np.ones((2, 3)), 1) == ((3,), (2, 6), "three", (2,), (2, 3))


# ---------------------------------------------------------------- whose meaning


def width(x):
    return np.asarray(x + 1.5)


def test_a_plain_function_has_the_meaning_of_its_caller():
    x = np.float32(1)
    assert types_of(njit(lambda x: width(x))(x)) == ["float64"] and types_of(tierup.njit(lambda x: width(x))(x)) == ["float32"]
    assert types_of(njit(lambda x: list(map(width, [x]))[0])(x)) == ["float64"]


def test_a_decorated_function_keeps_its_own():
    x, of_numba, of_python = np.float32(1), njit(width), tierup.njit(width)

    def both(x):
        return of_numba(x), of_python(x), width(x)

    assert types_of(tierup.njit(both)(x)) == ["float64", "float32", "float32"] and types_of(njit(both)(x)) == ["float64", "float32", "float64"]


def test_numbers_that_cross_are_those_of_the_callee():
    one, two = tierup.njit(lambda: 1.5), njit(lambda: 1.5)
    x = np.float32(1)
    assert types_of(njit(lambda x: np.asarray(x * one()))(x)) == ["float64"] and types_of(tierup.njit(lambda x: np.asarray(x * two()))(x)) == ["float64"]
    assert njit(lambda x: one() + x)(x) == 2.5


def test_every_decorator_of_the_stand_in_has_it():
    x = np.ones(3, np.float32)

    @numba.vectorize
    def twice(v):
        return v * 2.0

    @numba.vectorize(["float64(float32)"])
    def declared(v):
        return v * 0.1

    @numba.stencil
    def mean(a):
        return 0.5 * (a[-1] + a[1])

    @numba.guvectorize("(n)->()")
    def total(a, out):
        r = 0.1
        for v in a:
            r += v
        out[0] = r

    @numba.cfunc("float64(float32)")
    def third(v):
        return v * 0.1

    @numba.jit
    def plain(v):
        return np.asarray(v + 1.5)

    @numba.vectorize(nopython=True)
    def half(v):
        return v * 0.5

    @numba.stencil("constant", cval=1.0)
    def same(a):
        return a[0] * 1.0

    assert half(x).dtype == same(x).dtype == "float64" and numba.stencil(func_or_mode="constant")(lambda a: a[0] * 1.0)(x).dtype == "float64"

    out = np.zeros(())
    assert twice(x).dtype == mean(x).dtype == "float64" and declared(x)[0] == np.float64(0.1) == third.ctypes(1.0) and plain(x[0]).dtype == "float64"
    total(x, out)
    assert out == 0.1 + 1 + 1 + 1
    assert types_of(njit(lambda x: mean(x))(x)) == types_of(njit(lambda x: twice(x))(x)) == ["float64"]


def test_methods_of_a_jitclass_have_it():
    @numba.jitclass([("x", tierup.types.float32)])
    class Thing:
        def __init__(self, x):
            self.x = x

        def half(self):
            return self.x * 0.1

    thing = Thing(1)
    assert thing.half() == 0.1 == njit(lambda t: t.half())(thing)


def test_pickles_and_options_keep_it():
    f = njit(width)
    for g in (pickle.loads(pickle.dumps(f)), tierup.njit(width, meaning="numba"), tierup.njit(**f.targetoptions)(width)):
        assert types_of(g(np.float32(1))) == ["float64"]
    assert types_of(numba.njit(width, meaning="python")(np.float32(1))) == ["float32"]
    with pytest.raises(ValueError, match="meaning must be"):
        tierup.njit(width, meaning="julia")


def test_jit_is_njit_unless_object_mode_is_asked_for():
    def no(x):
        return open(x)

    with pytest.raises(tierup.TierupError):
        numba.jit(no)("x")
    for f in (numba.jit(forceobj=True), numba.jit(nopython=False)):
        assert f(lambda x: type(x).__name__)(1) == "int"


# ---------------------------------------------------------------- globals


def test_what_a_function_reads_stays_as_it_was_when_it_was_compiled():
    k, a = 1, np.arange(3.0)

    def change(value):
        nonlocal k
        k = value

    def captured(x):
        return x + k

    f, g = njit(captured), tierup.njit(captured)
    space = {"np": np, "G": 1, "a": a, "h": lambda x: x}
    exec("def f(x):\n    return h(x) + G + a[0]\n", space)
    read = njit(space["f"])
    assert (f(0), g(0), read(0)) == (1, 1, 1.0)
    change(5)
    space["G"], space["h"] = 10, lambda x: 100
    a[0] = 1000
    assert (f(0), g(0), read(0)) == (1, 5, 1.0)
    # What is compiled later reads what is there then.
    assert f(0.0) == 5.0 and read(0.0) == 1110.0
    f.recompile()
    read.recompile()
    assert f(0) == 5 and read(0) == 1110.0


@pytest.mark.parametrize("n", [3, 200_000])
def test_nothing_is_written_to_global_arrays(n):
    space = {"a": np.zeros(n), "t": (np.zeros(n), 1)}
    exec("def f():\n    a[0] = 1\ndef g():\n    t[0][0] = 1\ndef h():\n    return a[0] + t[0].sum()\n", space)
    for name in "fg":
        with pytest.raises(tierup.TypingError, match="Cannot modify readonly array of type"):
            njit(space[name])()
    assert njit(space["h"])() == 0.0 == space["a"][0]
    tierup.njit(space["f"])()
    assert space["a"][0] == 1.0


def test_what_code_has_read_lives_as_long_as_the_code():
    class Held:
        pass

    held = Held()
    gone = weakref.ref(held)
    space = {"np": np, "a": np.full(3, 7.0)}
    exec("def f(x):\n    return a[x]\n", space)
    f = njit(space["f"])
    assert f(1) == 7.0
    space["a"] = None
    space["held"] = held
    del held
    gc.collect()
    assert f(2) == 7.0
    del f, space
    gc.collect()
    assert gone() is None


# ---------------------------------------------------------------- parallel loops


@pytest.mark.parametrize(("start", "t", "wanted"), [("0", "float32", "float64"), ("0.0", "float32", "float64"), ("0", "int8", "int64")])
def test_sums_of_parallel_loops_are_as_wide(start, t, wanted):
    f = made(f"def f(x):\n    r = {start}\n    for i in prange(len(x)):\n        r += x[i]\n    return np.asarray(r)\n")
    x = np.full(1000, 1, t)
    got = numba.njit(f, parallel=True)(x)
    assert got.dtype == wanted and got == 1000


def test_pairs_of_all_types_compile_in_both_meanings():
    for left, right in itertools.product(TYPES, TYPES):
        for meaning in ("python", "numba"):
            assert tierup.njit(lambda x, y: x * y, meaning=meaning)(left(1), right(1)) == 1


def test_iterations_may_all_write_to_one_element():
    def last(a, out):
        for i in prange(len(a)):
            out[0] = a[i]

    a, out = np.arange(1, 1001, dtype=np.float64), np.zeros(1)
    with pytest.warns(tierup.TierupWarning, match="several iterations may write to this one element"):
        numba.njit(last, parallel=True)(a, out)
    assert out[0] in a
    with pytest.raises(tierup.TypingError, match="every iteration of this prange loop writes to the same element"):
        tierup.njit(last, parallel=True)(a, out)

    def count(a, out):
        for i in prange(len(a)):
            out[0] = out[0] * 2 - a[i]

    # What each iteration changes is no store.
    with pytest.raises(tierup.TypingError):
        numba.njit(count, parallel=True)(a, out)


def test_seeds_of_the_random_module_are_numpys():
    def drawn(seed):
        random.seed(seed)
        return random.random(), random.random(), random.uniform(2.0, 3.0)

    for seed in (0, 1, 2**32 - 1):
        like, own = np.random.RandomState(seed), random.Random(seed)
        assert njit(drawn)(seed) == (like.random_sample(), like.random_sample(), 2.0 + like.random_sample())
        assert tierup.njit(drawn)(seed) == (own.random(), own.random(), own.uniform(2.0, 3.0))


def test_negative_powers_of_zero_are_an_error_by_the_error_model():
    power = lambda a, b: a ** b  # noqa: E731
    with pytest.raises(ZeroDivisionError):
        njit(power)(0, -1)
    assert njit(power, error_model="numpy")(0, -1) == -(2**63)
    of_arrays = numba.vectorize(["int64(int64, int64)"])(power)
    assert of_arrays(np.array([5, 0, 6, 2]), np.array([1, -1, 2, -1])).tolist() == [5, -(2**63), 36, 0]
