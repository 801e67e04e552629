"""Format strings that are made at random: specifications of every type, `str.format` and `%` with what is right and wrong in them, and `str.translate`. Compiled code gives CPython's texts and raises its exceptions, word for word."""

import itertools
import random

import numpy as np
import pytest

from harness import sampling

tierup = pytest.importorskip("tierup")
njit = tierup.njit

VALUES = [
    0, 1, -1, 7, 65, 255, 12345, -98765, 1234567890123, 2**63 - 1, -(2**63), True, False,
    0.0, -0.0, 1.0, -1.5, 3.14159265358979, 1e-5, 123456.789, 1e16, 1e22, -2.5e-10, 1e300, 5e-324, 0.1, 999999.5, 1e15, 0.5, 2.5,
    float("nan"), float("inf"), float("-inf"),
    1 + 2j, -1.5 - 0.0j, 0j, 1e20 + 1e-7j, complex("nan+infj"), complex(0, -3.25), complex(-0.0, 2), complex(1234567.891, -1e6),
    "", "a", "hello", "é€", "😀abc",
    np.int8(-5), np.uint8(200), np.int32(123456), np.uint64(2**64 - 1), np.int64(-7), np.float32(0.1), np.float64(1234.5), np.complex64(0.1 + 2j), np.complex128(1 - 2j), np.bool_(True),
]  # fmt: skip


def answer(f, *args):
    """What a call gives; what it raises is a text, so that both compare."""
    try:
        return f(*args)
    except (ArithmeticError, LookupError, TypeError, ValueError) as e:
        # A refusal of the compiler is a TypeError too, but none that CPython raises.
        if isinstance(e, tierup.TierupError):
            raise
        return f"{type(e).__name__}: {e}"


@njit
def formatted(x, spec):
    return format(x, spec)


@njit
def in_f_string(x, spec):
    return f"{x:{spec}}"


@njit
def plain(x):
    return f"{x}", "{}".format(x), "%s" % (x,), str(x)


def specification(r):
    out = ""
    if r.random() < 0.4:
        if r.random() < 0.5:
            out += r.choice("*0 é€{x<")
        out += r.choice("<>^=")
    for chance, letters in [(0.3, "+- "), (0.1, "z"), (0.2, "#"), (0.2, "0")]:
        if r.random() < chance:
            out += r.choice(letters)
    if r.random() < 0.5:
        out += str(r.choice([0, 1, 5, 8, 12, 20, 33]))
    if r.random() < 0.25:
        out += r.choice([",", "_", ",", "_", ",_", "_,", ",,", "__"])
    if r.random() < 0.4:
        out += "." + r.choice(["0", "1", "2", "3", "6", "10", "17", "25", ""])
    if r.random() < 0.75:
        out += r.choice("bcdeEfFgGnosxX%bdxgfsqZé ")
    return out + (r.choice("dxy.") if r.random() < 0.02 else "")


@pytest.mark.parametrize("start", [first for _, first in sampling.batches(2000 if sampling.ALL else 200, 100, "specifications")])
def test_specifications(start):
    r = random.Random(start)
    specs = [""] + [specification(r) for _ in range(100)]
    for x, f in itertools.product(VALUES, [formatted, in_f_string]):
        for spec in specs:
            assert answer(f, x, spec) == answer(f.py_func, x, spec), (x, spec)


def test_values_without_a_specification():
    for x in VALUES:
        assert plain(x) == plain.py_func(x), x


class Program:
    """A function of several format strings, each with its answer or its exception: compiled once, asked once."""

    def __init__(self, expressions, names):
        lines = [f"def f({', '.join(names)}):"]
        for k, e in enumerate(expressions):
            lines += ["    try:", f"        r{k} = {e}", "    except Exception as e:", f"        r{k} = repr(e)"]
        lines.append(f"    return [{', '.join(f'r{k}' for k in range(len(expressions)))}]")
        scope = {}
        exec("\n".join(lines), scope)
        self.expressions, self.f = expressions, scope["f"]

    def check(self, *args):
        try:
            answers = njit(self.f)(*args)
        except tierup.TierupError:
            self.is_refused_rightly(*args)
        else:
            for e, got, want in zip(self.expressions, answers, self.f(*args)):
                assert got == want, e

    def is_refused_rightly(self, *args):
        """An attribute or an item that a type does not have is refused, in a format as elsewhere: in CPython it raises."""
        for e in self.expressions:
            one = Program([e], NAMES) if len(self.expressions) > 1 else self
            (want,) = one.f(*args)
            try:
                assert njit(one.f)(*args) == [want], e
            except tierup.TierupError:
                assert want.startswith(("AttributeError", "TypeError")), e


NAMES = ["i", "x", "s", "b", "z", "t"]
ARGUMENTS = [(65, 3.5, "né", True, 1 - 2j, (4, "q")), (-70000, -1e20, "", False, 0j, (0, "x" * 9)), (3, float("inf"), "a", True, 2.5j, (-1, "€"))]


# What may follow a name: of a complex number, of a tuple, and of whatever it is called that is not there.
PARTS = {"n": ["", "", ".real", ".imag", ".real.imag", ".", ".real.", "]"], "m": ["", "[0]", "[1]", "[0].real", "[]", "[0", "[0]y", "[0]["]}


def field(r):
    name = r.choice(["", "", "", "0", "1", "2", "5", "n", "m", "n", "m", "7", "k"])
    name += r.choice(PARTS.get(name, [""]))
    conversion = r.choice(["", "", "", "", "!r", "!s", "!a", "!x", "!", "!rr"])
    spec = r.choice(["", "", "", ":", ":>8", ":<5", ":^9", ":d", ":.2f", ":{w}", ":{}", ":>{w}.{p}", ":{0}", ":*^{w}{p}", ":{:{}}", ":{", ":x}"])
    return "{" + name + conversion + spec + r.choice(["}"] * 19 + [""])


def brace_call(r):
    text = "".join(r.choice(["", "", "a", "é=", "{{", "}}", " ", "{{}}"]) + field(r) for _ in range(r.choice([1, 1, 2, 2, 3, 5])))
    text += r.choice([""] * 16 + ["{", "}", "{0", "{{"])
    if r.random() < 0.1:
        return f"{text!r}.format_map({{'w': i, 'p': 3, 'k': 7}})" if not set("nm") & set(text) else f"{text!r}.format(i, n=z, m=t)"
    args = [r.choice("ixsbtN").replace("N", "None") for _ in range(r.choice([0, 1, 2, 3, 3]))]
    return f"{text!r}.format({', '.join([*args, 'n=z', 'm=t', 'w=6', 'p=' + r.choice('i23x')])})"


def conversion(r, key=""):
    flags = "".join(r.choice("#0- +") for _ in range(r.choice([0, 0, 0, 1, 1, 2])))
    width = r.choice(["", "", "", "3", "8", "12", "*"])
    precision = r.choice(["", "", "", ".0", ".2", ".5", ".", ".*", ".20"])
    return "%" + key + flags + width + precision + r.choice(["", "", "", "", "l", "h"]) + r.choice("diuoxXeEfFgGcrsa" * 3 + "%y")


def percent_call(r):
    if r.random() < 0.2:
        names = {"a": r.choice("ixsbz"), "b": r.choice("ixsbz"), "é(x)": r.choice("ixsb")}
        keys = ["(a)", "(b)", "(é(x))", "(c)", "(a"]
        text = "".join(r.choice(["", "=", "%%"]) + conversion(r, r.choice(keys[:3] * 5 + keys)) for _ in range(r.choice([1, 2, 3])))
        return f"{text!r} % {{{', '.join(f'{k!r}: {v}' for k, v in names.items())}}}"
    text = "".join(r.choice(["", "a", "é ", "%%"]) + conversion(r) for _ in range(r.choice([1, 1, 2, 3])))
    wanted = text.replace("%%", "").count("%") + text.count("*")
    args = [r.choice("iixxsbzNt") for _ in range(max(0, wanted + r.choice([0, 0, 0, 0, 0, 0, 1, -1])))]
    args = ["None" if a == "N" else a for a in args]
    if len(args) == 1 and r.random() < 0.5 and args[0] != "t":
        return f"{text!r} % {args[0]}"
    return f"{text!r} % ({', '.join(args)}{',' if len(args) == 1 else ''})"


@pytest.mark.parametrize("made", [brace_call, percent_call])
@pytest.mark.parametrize("start", [first for _, first in sampling.batches(400 if sampling.ALL else 8, 4, "formats")])
def test_formats(start, made):
    r = random.Random(f"{start} {made.__name__}")
    program = Program([made(r) for _ in range(25)], NAMES)
    for args in ARGUMENTS:
        program.check(*args)


@njit
def translated(s, table):
    return s.translate(table)


@njit
def table_of_two(s, a, b):
    return s.translate(str.maketrans(a, b)), s.maketrans(a, b)


@njit
def table_of_three(s, a, b, c):
    return s.translate(str.maketrans(a, b, c)), str.maketrans(a, b, c)


@njit
def table_of_dict(s, d):
    return s.translate(str.maketrans(d)), str.maketrans(d)


def test_translations():
    r = random.Random(5)
    letters = "abcdeé€😀 "
    tables = [{97: 98}, {97: None, 98: None}, {97: "xyz", 233: ""}, {97: "q", 98: None}, {97: 0x110000}, {98: -1}, "zyx" * 40, ["q"] * 99, [0x20AC] * 98]
    for _ in range(40):
        s = "".join(r.choice(letters) for _ in range(r.randrange(12)))
        a = "".join(r.choice(letters) for _ in range(r.randrange(4)))
        b = "".join(r.choice(letters) for _ in range(len(a) + (r.random() < 0.1)))
        for table in tables:
            assert answer(translated, s, table) == answer(translated.py_func, s, table), (s, table)
        for f, args in [(table_of_two, (s, a, b)), (table_of_three, (s, a, b, letters[:2]))]:
            assert answer(f, *args) == answer(f.py_func, *args), args
    for d in [{"a": "x"}, {"a": 98, "é": 97}, {97: "x"}, {"a": None}, {"ab": "x"}, {"": "x"}, {1.5: "x"}]:
        assert answer(table_of_dict, "abé", d) == answer(table_of_dict.py_func, "abé", d), d
