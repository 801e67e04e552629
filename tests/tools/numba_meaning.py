"""Holds what numbers mean under `python -m tierup --as-numba` against Numba.

    .venv/bin/python tests/tools/numba_meaning.py --numba path/to/python-with-numba [--kinds literals calls] [--share N] [--keep FILE]

Small programs over all pairs of types of numbers run under both, each in its own process; those are listed whose results differ in type or value. A program that Numba
refuses says nothing. `--share` takes one of so many. `--keep` keeps Numba's answers, which take minutes. `--run` is what the two processes are called with.
"""

import argparse
import cmath
import itertools
import json
import math
import os
import subprocess
import sys

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TYPES = ["bool_", *INTS, "float32", "float64", "complex64", "complex128"]
FEW = ["bool_", "int8", "int32", "int64", "uint8", "uint16", "uint64", "float32", "float64", "complex64"]
PYTHON = ["True", "3", "-2", "2**63", "2.5", "1.5j"]
ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "<", "=="]
#: Values that show in which type something was computed.
VALUE = {"bool_": "True", "float32": "0.1", "float64": "0.7", "complex64": "0.1+0.3j", "complex128": "0.7-0.2j", **dict.fromkeys(INTS, "7")}
OTHER = {**VALUE, "float32": "0.3", "float64": "1.1", "complex64": "0.2+0.1j", **dict.fromkeys(INTS, "3")}
#: Results of these are only compared to a few units in the last place.
ROUGH = "**", "real", "pow", "sin", "sqrt", "std", "mean", "dot", "exp", "power", "/", "abs", "hypot", "arctan2", "log"


def one(t, table=VALUE):
    return f"np.{t}({table[t]})"


def many(t, n=3):
    return f"np.array([{VALUE[t]}, {OTHER[t]}, 1][:{n}], np.{t})"


def function(body, params="x, y"):
    lines = body if isinstance(body, list) else [f"return np.asarray({body})"]
    return f"def f({params}):\n" + "".join(f"    {line}\n" for line in lines)


def pairs(types=TYPES):
    return itertools.product(types, types)


def binary(op, a, b):
    return f"{op}({a}, {b})" if op.isidentifier() else f"{a} {op} {b}"


def kind(t):
    """Integers and bools are 0, floats 1, complex numbers 2: of a type, or of what a literal says."""
    if t in TYPES:
        return 2 if "complex" in t else 1 if "float" in t else 0
    return 2 if t.endswith("j") else 1 if "." in t else 0


def grouped(a, b):
    """Operators that numbers of two types have, several together, since each function takes its time to compile."""
    most = max(kind(a), kind(b))
    yield ["+", "-", "*", "/", "**", "=="]
    if most < 2:
        yield ["//", "%", "<", "min", "max"]
    if most < 1:
        yield ["<<", ">>", "&", "|", "^"]


def shown(ops, a, b):
    return "return " + ", ".join(f"np.asarray({binary(op, a, b)})" for op in ops)


def operators():
    """Scalars of all pairs of types."""
    for a, b in pairs():
        for ops in grouped(a, b):
            yield f"{a}, {b}: {' '.join(ops)}", function([shown(ops, "x", "y")]), (one(a), one(b, OTHER))
        if max(kind(a), kind(b)) < 2:
            yield f"divmod({a}, {b})", function(["q, r = divmod(x, y)", "return np.asarray(q), np.asarray(r)"]), (one(a), one(b, OTHER))


def literals():
    """A literal beside a number, on both sides; the same in a variable, as an argument, as a global and as a default."""
    for t, n in itertools.product(FEW, PYTHON):
        x = one(t)
        for ops in grouped(t, n):
            # Shifts by numbers below 0 or beyond 63 have no meaning, nor powers that fit nowhere.
            if n in ("-2", "2**63") and kind(t) == 0:
                ops = [op for op in ops if op not in ("<<", ">>") and (op != "**" or n == "-2")]
            what = f"{t}, {n}: {' '.join(ops)}"
            yield what, function([shown(ops, "x", n)], "x"), (x,)
            yield f"{what}, the other way round", function([shown([op for op in ops if op not in ("<<", ">>")], n, "x")], "x"), (x,)
            yield f"{what}, in a variable", function([f"y = {n}", shown(ops, "x", "y")], "x"), (x,)
            yield f"{what}, an argument", function([shown(ops, "x", "y")]), (x, n)
        yield f"{t} + {n}, a global", f"G = {n}\n" + function("x + G", "x"), (x,)
        yield f"{t} + {n}, a default", function("x + y", f"x, y={n}"), (x,)


def unary():
    forms = ["-x", "+x", "~x", "not x", "abs(x)", "int(x)", "float(x)", "complex(x)", "bool(x)", "round(x)", "round(x, 1)", "x**2", "x**-2", "x**0.5", "2**x", "sum((x, x))", "sum([x, x])", "max(x, 1)",
             "min(x, 2.0)", "1 if x else x", "x if x else 2.5", "x and 1", "x or 2.0", "x.real", "x.imag", "x.conjugate()", "hash(1 if x else 0)", "len((x,)) + x", "abs(-x)", "(x, 1)[0]", "(x, 1)[1]", "[x, 1][0]", "[x, 2.5][0]",
             "math.sqrt(x)", "math.floor(x)", "math.ceil(x)", "math.pow(x, 2)", "math.exp(x)", "math.atan2(x, 1)", "math.fabs(x)", "math.isnan(x)", "math.trunc(x)", "math.copysign(x, -1)", "math.hypot(x, 1)",
             *(f"np.{f}(x)" for f in ("sqrt", "sin", "exp", "abs", "sign", "floor", "rint", "square", "negative", "isnan", "log1p", "reciprocal", "conjugate", "invert", "deg2rad")),
             *(f"np.{f}(x, {n})" for f in ("add", "multiply", "maximum", "power", "true_divide", "floor_divide", "arctan2", "hypot") for n in ("1", "2.5", "x")),
             *(f"np.{t}(x)" for t in FEW), *(f"np.{t}(x) + x" for t in FEW), "np.array([x, 1])", "np.array([x, 2.5])", "np.array([x])", "np.full(2, x)", "np.arange(x)", "np.zeros(2, np.int8) + x", "np.zeros(2, np.float32) * x",
             "np.ones(2, np.uint64) + x", "np.ones(2, np.int64) * x", "np.ones(2, np.complex64) * x", "np.ones(2) - x", "np.ones(2, np.bool_) + x", "np.where(np.ones(2, np.bool_), x, 1)", "np.dot(np.array([x, x]), np.array([x, x]))"]
    for form in forms:
        for t in TYPES:
            yield f"{form} of {t}", function(form, "x"), (one(t),)


def elements():
    """Elements of arrays, and members of tuples."""
    for a, b in pairs(FEW):
        for ops in grouped(a, b):
            yield f"elements of {a}, {b}: {' '.join(ops)}", function([shown(ops, "x[0]", "y[1]")]), (many(a), many(b))
        yield f"members of {a}, {b}", function(["t = (x, y)", shown(["+", "*", "/"], "t[0]", "t[1]")]), (one(a), one(b, OTHER))


def accumulators():
    """`r = 0.0; r += a[i]`."""
    for start in ("0", "0.0", "True", "1j", *(f"np.{t}(1)" for t in FEW)):
        for op in ("+", "*", "/"):
            for t in FEW:
                yield f"r = {start}; r {op}= {t}", function([f"r = {start}", "for i in range(len(x)):", f"    r {op}= x[i]", "return np.asarray(r)"], "x"), (many(t),)
                yield f"r = {start}; for v of {t}: r = v {op} r", function([f"r = {start}", "for v in x:", f"    r = v {op} r", "return np.asarray(r)"], "x"), (many(t),)


def branches():
    """Variables that two branches set; results of two returns."""
    for a, b in pairs():
        for c in (True,):
            yield f"{c}: {a} or {b}", function(["if c:", "    r = x", "else:", "    r = y", "return np.asarray(r)"], "c, x, y"), (str(c), one(a), one(b, OTHER))
    for t, n in itertools.product(TYPES, PYTHON):
        yield f"{t} or {n}", function(["r = x", "if c:", f"    r = {n}", "return np.asarray(r)"], "c, x"), ("False", one(t))
        yield f"{t} if c else {n}", function(f"x if c else {n}", "c, x"), ("True", one(t))
        yield f"x = {n}; while: {t}", function([f"r = {n}", "for i in range(3):", "    if i == 1:", "        r = x", "    r = r + 1", "return np.asarray(r)"], "x"), (one(t),)
    for a, b in pairs(FEW):
        yield f"returns {a} or {b}", "@njit\ndef g(c, x, y):\n    if c:\n        return x\n    return y\n" + function("g(c, x, y)", "c, x, y"), ("True", one(a), one(b, OTHER))
        yield f"tuples of {a} or {b}", function(["t = (x, 1)", "if c:", "    t = (y, 2.5)", "return np.asarray(t[0]), np.asarray(t[1])"], "c, x, y"), ("False", one(a), one(b, OTHER))


def calls():
    """Arguments, results and captured values of functions that are called."""
    for t, n in itertools.product(FEW, PYTHON):
        yield f"g({t}, {n})", "@njit\ndef g(x, y):\n    return x + y\n" + function(f"g(x, {n})", "x"), (one(t),)
        yield f"g({t}) * {n}", f"@njit\ndef g(x):\n    return {n}\n" + function("g(x) * x", "x"), (one(t),)
        yield f"closure {t} + {n}", function([f"k = {n}", "def g(v):", "    return v + k", "return np.asarray(g(x))"], "x"), (one(t),)
        yield f"generator {t} + {n}", f"@njit\ndef g(x):\n    yield {n}\n    yield x\n" + function(["r = x", "for v in g(x):", "    r = r + v", "return np.asarray(r)"], "x"), (one(t),)


def stores():
    """Numbers that are stored into arrays, alone and added."""
    for a, b in pairs(FEW):
        yield f"{a}[0] = {b}", function(["x[0] = y", "return x"]), (many(a), one(b, OTHER))
        for op in ("+", "/"):
            yield f"{a}[0] {op}= {b}", function([f"x[0] {op}= y", "return x"]), (many(a), one(b, OTHER))
            yield f"array {a} {op}= {b}", function([f"x {op}= y", "return x"]), (many(a), one(b, OTHER))
        yield f"{a}[:] = {b}", function(["x[:] = y", "return x"]), (many(a), many(b))
        yield f"{a} of {b} by a list", function(["r = [x, x]", "r.append(y)", "return np.asarray(r[2])"]), (one(a), one(b, OTHER))
    for t in INTS:
        for v in ("2.9", "-1", "300", "70000"):
            yield f"{t}[0] = {v}", function([f"x[0] = {v}", "return x"], "x"), (many(t),)
            yield f"{t}[0] = argument {v}", function(["x[0] = y", "return x"]), (many(t), v)


def arrays():
    """Operations on whole arrays."""
    def together(*forms):
        return ["return " + ", ".join(forms) + ("," if len(forms) == 1 else "")]

    for a, b in pairs(FEW):
        for what, y in (("array", many(b)), ("scalar", one(b, OTHER))):
            yield f"array {a}, {what} {b}: + / **", function(together("x + y", "x / y", "x ** y")), (many(a), y)
            yield f"array {a}, {what} {b}: functions", function(together("np.add(x, y)", "np.power(x, y)", "np.where(x == 1, x, y)")), (many(a), y)
            if max(kind(a), kind(b)) < 2:
                yield f"array {a}, {what} {b}: real", function(together("x // y", "np.maximum(x, y)", "np.arctan2(x, y)", "x < y")), (many(a), y)
    for t, n in itertools.product(FEW, PYTHON):
        yield f"array {t}, {n}", function(together(f"x + {n}", f"{n} * x", f"x / {n}"), "x"), (many(t),)


def reductions():
    for form in ("x.sum()", "np.sum(x)", "x.prod()", "x.mean()", "x.max()", "x.min()", "np.dot(x, x)", "x.var()", "np.cumsum(x)", "np.cumprod(x)", "sum(x)", "max(x)", "min(x)", "sum([v for v in x])", "x.sum() + 1", "x.max() * 2.5", "np.median(x)", "np.argmax(x)",
                 "x.size * x[0]", "x.shape[0] + x[0]", "len(x) / x[0]", "np.sqrt(x)", "np.abs(x)", "np.exp(x)", "np.floor(x)", "np.diff(x)", "x.astype(np.float32)", "np.linspace(0, x[0], 3)", "np.zeros_like(x)", "x.T + 1", "np.clip(x, 0, 2)", "np.round(x, 1)",
                 "np.mean(x) + x[0]", "np.std(x)", "np.outer(x, x)", "np.arange(3) * x", "np.ones(3) * x", "np.array([1, 2, 3]) * x", "x * np.float32(0.1)", "-x", "x + True", "x.real + 1"):
        for t in TYPES:
            yield f"{form} of {t}", function(form, "x"), (many(t),)
    for body in ("s = 0\nfor i in prange(len(x)):\n    s += x[i]", "s = 0.0\nfor i in prange(len(x)):\n    s += x[i]", "s = 1\nfor i in prange(len(x)):\n    s *= x[i]", "s = x[0]\nfor i in prange(len(x)):\n    s = max(s, x[i])"):
        for t in FEW:
            yield f"parallel {body.splitlines()[0]}; {body.splitlines()[2].strip()} of {t}", "# parallel\n" + function([*body.splitlines(), "return np.asarray(s)"], "x"), (many(t),)


def quiet():
    """Functions where they have no value, and shifts beyond the width: nothing is raised."""
    for f in ("sqrt", "log", "log2", "log10", "log1p", "exp", "expm1", "acos", "asin", "acosh", "atanh", "cosh", "sinh", "sin", "gamma", "lgamma"):
        for x in ("-1.0", "0.0", "1.0", "2.5", "1e4", "np.inf", "-np.inf", "np.nan", "np.float32(-2)", "np.int8(-1)"):
            yield f"math.{f}({x}) real", function(f"math.{f}(x)", "x"), (x,)
    for f in ("log", "log10", "sqrt", "atanh", "asin", "acosh", "sinh"):
        for x in ("0j", "1+0j", "1e4+1j", "np.complex64(0.5j)", "np.float32(0.5)", "np.int16(1)", "2"):
            yield f"cmath.{f}({x}) real", function(f"cmath.{f}(x)", "x"), (x,)
    for t, n in itertools.product(INTS, ("-1", "-70", "63", "64", "70")):
        yield f"{t} by {n}", function([shown(["<<", ">>"], "x", "y")]), (one(t), n)


def narrow():
    """Arrays of bools, bounds of other types than the elements, containers of narrow numbers."""
    for form in ("-a", "+a", "~a", "a - a", "a + a", "a * a", "a / a", "np.negative(a)", "np.positive(a)", "np.sign(a)", "np.square(a)", "np.subtract(a, a)", "-a[0]", "np.negative(a[0])", "np.sign(a[0])"):
        yield f"{form} of bools", function(form, "a"), ("np.array([True, False])",)
    for t, (low, high) in itertools.product(FEW[:-1], (("0", "1"), ("0.5", "2.5"), ("-1000", "1000"), ("np.int8(1)", "np.int64(2)"), ("np.float32(0.1)", "2.7"))):
        yield f"clip of {t} to {low}, {high}", function(["return np.clip(a, low, high), a.clip(low, high)"], "a, low, high"), (f"np.arange(5).astype(np.{t})", low, high)
    for t, form in itertools.product(("int32", "int64", "float32"), ("np.quantile(a, 1)", "np.percentile(a, 50)", "np.nanquantile(a, 0.5)", "np.median(a)", "np.sinc(a[1])", "np.var(a.astype(np.complex64))", "np.std(a)", "np.mean(a)")):
        yield f"{form} of {t} real", function(form, "a"), (f"np.arange(1, 5).astype(np.{t})",)
    for t, x in itertools.product(("int8", "int32", "uint16", "float32", "complex64"), ("3", "-1", "300", "2**32 + 5", "0.5", "np.float32(0.1)", "1j", "np.int8(4)")):
        yield f"list of {t} takes {x}", LISTS % t + function(["l.append(y)", "l.append(y)", "l[0] = y", "return np.asarray(l[0]), np.asarray(l[1])"], "l, y"), (f"made('{t}')", x)
        yield f"dict of {t} takes {x}", LISTS % t + function(["d[y] = y", "return np.asarray(d[y]), np.asarray(y in d)"], "d, y"), (f"entries('{t}')", x)


def functions():
    """NumPy's functions of arrays."""
    forms = ["np.mean(a)", "np.nanmean(a)", "np.nanstd(a)", "np.nanvar(a)", "np.nansum(a)", "np.nanprod(a)", "np.nancumsum(a)", "np.nanmax(a)", "np.ptp(a)", "np.average(a)", "np.average(a, None, a)", "np.ediff1d(a)", "np.diff(a, 2)", "np.cumprod(a)",
             "np.bincount(a)", "np.digitize(a, a)", "np.searchsorted(a, a)", "np.unique(a)", "np.sort(a)", "np.argsort(a)", "np.repeat(a, 2)", "np.roll(a, 1)", "np.flip(a)", "np.interp(a, a, a)", "np.convolve(a, a)", "np.correlate(a, a)", "np.vander(a, 3)",
             "np.outer(a, a)", "np.kron(a, a)", "np.cross(a, a)", "np.trapezoid(a)", "np.trapz(a)", "np.histogram(a, 3)[0]", "np.histogram(a, 3)[1]", "np.linspace(a[0], a[1], 4)", "np.linspace(0, 1, 4) * a[1]", "np.geomspace(a[0], a[1], 3)", "np.logspace(a[0], a[1], 3)", "np.arange(a[0], a[1])",
             "np.full_like(a, 2.5)", "np.full(3, a[0])", "np.eye(2) * a[0]", "np.diag(a)", "np.tri(3) * a", "np.triu(np.outer(a, a))", "np.trace(np.outer(a, a))", "np.where(a > 1, a, 0)", "np.where(a > 1, a, 0.5)", "np.select([a > 1], [a], 0)", "np.select([a > 1], [a * 2.5])",
             "np.append(a, 1)", "np.append(a, a * 0.5)", "np.concatenate((a, a))", "np.hstack((a, a))", "np.stack((a, a))", "np.column_stack((a, a))", "np.nan_to_num(a)", "np.angle(a)", "np.real(a)", "np.imag(a)", "np.deg2rad(a)", "np.unwrap(a)", "np.sinc(a)", "np.heaviside(a, 1)",
             "np.fill_diagonal(np.outer(a, a), 0)", "np.cov(a)", "np.corrcoef(a, a)", "np.dot(a, a)", "np.vdot(a, a)", "a @ a", "np.linalg.norm(a)", "np.linalg.det(np.outer(a, a))", "np.linalg.inv(np.eye(2) * a[1])", "np.linalg.solve(np.eye(3).astype(a.dtype), a)",
             "np.partition(a, 1)", "np.argpartition(a, 1)", "np.take(a, 1)", "np.delete(a, 0)", "np.extract(a > 1, a)", "np.union1d(a, a)", "np.intersect1d(a, a)", "np.setdiff1d(a, a[:1])", "np.isin(a, a)", "np.count_nonzero(a)", "np.argwhere(a)[:, 0]", "np.flatnonzero(a)", "np.nonzero(a)[0]",
             "np.cbrt(a)", "np.exp2(a)", "np.log2(a)", "np.hypot(a, a)", "np.ldexp(a, 2)", "np.frexp(a)[0]", "np.modf(a)[0]", "np.gcd(a, a)", "np.lcm(a, a)", "np.copysign(a, a)", "np.nextafter(a, a)", "np.spacing(a)", "np.fmod(a, a)", "np.remainder(a, a)", "np.divmod(a, a)[0]", "np.logaddexp(a, a)",
             "np.fmax(a, a)", "np.minimum(a, 1)", "np.minimum(a, 1.5)", "np.power(a, 2)", "np.power(a, 0.5)", "np.float_power(a, 2)", "np.left_shift(a, 1)", "np.bitwise_and(a, 1)", "np.invert(a)", "np.logical_and(a, 1)", "np.isfinite(a)", "np.signbit(a)", "np.trunc(a)", "np.ceil(a)", "np.round(a)",
             "np.around(a, 1)", "np.clip(a, 1, 2)", "np.polyval(a, 2)", "np.roots(a)", "np.polyadd(a, a)", "np.polymul(a, a)", "np.kaiser(3, a[0])", "np.bartlett(3) * a", "a.sum(0)", "np.sum(a, 0)", "np.cumsum(a)", "a.astype(np.int32)", "a.view(np.uint8)", "np.array([a[0], 1])", "np.array([a[0], 2.5])",
             "np.asarray([a[0]])", "np.array((a[0], 1))", "a[0] + a", "a[0] * a + 1", "a + np.float32(1)", "a * np.int8(2)", "a // 2", "a % 2", "a ** 2", "a ** 0.5", "a ** 2.0", "2 ** a", "1 / a", "a / 2", "a / a", "a == 1", "a < 1.5", "abs(a)", "-a", "~a", "a & 1", "a << 1", "a.real", "a.conj()"]
    for form, t in itertools.product(forms, FEW):
        yield f"{form} of {t} real", function(form, "a"), (f"np.array([1, 2, 3]).astype(np.{t})",)


LISTS = """from numba.typed import Dict, List
from numba import types
def made(t):
    return List.empty_list(getattr(types, t))
def entries(t):
    return Dict.empty(getattr(types, t), getattr(types, t))
# %s
"""

KINDS = {f.__name__: f for f in (operators, literals, unary, elements, accumulators, branches, calls, stores, arrays, reductions, quiet, narrow, functions)}


def run(kinds, seen, share):
    """Runs programs by `numba`, and writes what each gives, one a line."""
    import warnings
    warnings.simplefilter("ignore")
    import numpy as np
    from numba import njit, prange

    def made(source, arguments):
        space = {"np": np, "math": math, "cmath": cmath, "njit": njit, "prange": prange}
        exec(source, space)
        return njit(space["f"], parallel=source.startswith("# parallel")), [eval(a, space) for a in arguments]

    for kind in kinds:
        for name, source, arguments in itertools.islice(KINDS[kind](), 0, None, share):
            key = f"{kind}: {name}"
            if seen is not None and key not in seen:
                continue
            try:
                f, given = made(source, arguments)
                result = f(*given)
                result = result if isinstance(result, tuple) else (result,)
                found = [[str(np.asarray(r).dtype), [repr(v) for v in np.asarray(r).ravel().tolist()]] for r in result]
            except Exception as e:
                found = f"{type(e).__name__}: {e}"[:300]
            print(json.dumps([key, found]), flush=True)


def close(a, b, rough):
    if a == b:
        return True
    x, y = complex(eval(a, {"nan": float("nan"), "inf": float("inf")})), complex(eval(b, {"nan": float("nan"), "inf": float("inf")}))
    if x != x and y != y:
        return True
    return rough and abs(x - y) <= 2e-6 * max(abs(x), abs(y))


def differs(key, theirs, ours):
    if isinstance(theirs, str):
        return False
    if isinstance(ours, str) or len(ours) != len(theirs):
        return True
    rough = any(r in key for r in ROUGH)
    return any(a[0] != b[0] or len(a[1]) != len(b[1]) or not all(close(v, w, rough) for v, w in zip(a[1], b[1], strict=True)) for a, b in zip(theirs, ours, strict=True))


def answers(command, kinds, seen, share=1):
    env = {**os.environ, "NUMBA_DISABLE_PERFORMANCE_WARNINGS": "1"}
    given = None if seen is None else json.dumps(sorted(seen))
    done = subprocess.run([*command, __file__, "--run", *(["--seen"] if given else []), "--share", str(share), "--kinds", *kinds], input=given, stdout=subprocess.PIPE, text=True, env=env, check=False)
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--numba")
    p.add_argument("--kinds", nargs="+", default=list(KINDS))
    p.add_argument("--keep")
    p.add_argument("--share", type=int, default=1)
    p.add_argument("--show", type=int, default=40)
    p.add_argument("--run", action="store_true")
    p.add_argument("--seen", action="store_true")
    o = p.parse_args()
    if o.run:
        return run(o.kinds, set(json.load(sys.stdin)) if o.seen else None, o.share)
    theirs = {}
    if o.keep and os.path.exists(o.keep):
        with open(o.keep) as f:
            theirs = json.load(f)
    missing = [k for k in o.kinds if not any(key.startswith(f"{k}: ") for key in theirs)]
    if missing:
        theirs |= answers([o.numba], missing, None, o.share)
        if o.keep:
            with open(o.keep, "w") as f:
                json.dump(theirs, f)
    wrong = 0
    for kind in o.kinds:
        programs = {f"{kind}: {name}" for name, *_ in KINDS[kind]()}
        valid = {k: v for k, v in theirs.items() if k in programs and not isinstance(v, str)}
        ours = answers([sys.executable, "-m", "tierup", "--as-numba"], [kind], valid)
        bad = [k for k, v in valid.items() if differs(k, v, ours.get(k, "nothing"))]
        wrong += len(bad)
        print(f"{kind}: {len(bad)} of {len(valid)} differ")
        for k in bad[:o.show]:
            print(f"    {k}\n        Numba  {valid[k]}\n        Tierup {ours.get(k)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
