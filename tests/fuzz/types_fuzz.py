"""Differential fuzzing of array expressions over types and layouts: bool, integers and floats of every width and complex numbers, in C, Fortran, stepped, reversed, permuted,
unaligned and overlapping arrays of no to three dimensions, with scalars of every kind, casts, options of reductions, `out=` and assignments; under NumPy and compiled.

    python tests/fuzz/types_fuzz.py --seconds 600 --seed 1

Results have the bits of NumPy, its dtype and, where there is one element after another, its order of axes. The last operation of an expression may be one that is only right to a few
units in the last place (`exp`, `pow`, functions of complex numbers); such a program is compared with that tolerance.
"""

import random
import re
import warnings

import numpy as np
from differential import judge, main, quietly

TYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64 complex64 complex128".split()
CASTS = ["bool_", *TYPES[1:]]
# Lengths along each axis by the number of dimensions, the first for finding out about types.
SIZES = {0: [(), ()], 1: [(3,), (0,), (1,), (67,), (9000,)], 2: [(2, 3), (0, 3), (1, 1), (5, 4), (120, 90)], 3: [(2, 3, 2), (2, 0, 3), (1, 1, 1), (3, 1, 4), (13, 22, 37)]}
SCALARS = "2 -1 0 1 3 7 255 0.5 -0.0 2.5 True 1j np.float32(1.5) np.int8(-3) np.uint64(5) np.int64(-4) np.uint8(200) np.complex64(2) x n t".split()
BINARY = "+ - * + - * / // % & | ^ << >> < <= == != > >= **".split()
UNARY = """np.abs($) -$ ~$ +$ np.sign($) np.sqrt($) np.square($) np.floor($) np.ceil($) np.trunc($) np.rint($) np.isnan($) np.isinf($) np.isfinite($) np.signbit($) np.logical_not($) np.conj($)
    $.real $.imag np.positive($) np.invert($) np.reciprocal($) np.nan_to_num($) np.clip($,_1,_5) $.clip(-1,_2) np.clip($,_None,_n) np.round($,_1) np.around($) np.fabs($) np.bitwise_count($)
    $.conj() np.negative($) np.real($) np.imag($) np.iscomplex($) np.isreal($) $**_2 np.isneginf($) np.fix($) $.round() np.absolute($) np.nan_to_num($,_nan=1.0) $.copy() np.ascontiguousarray($) np.copy($)
    np.zeros_like($) np.ones_like($) np.full_like($,_2) np.roll($,_1) np.flip($) $.T.T $[...] $[::-1] np.array($) np.asfortranarray($)""".split()
# Right to a few units in the last place.
ROUNDED = """np.exp($) np.exp2($) np.expm1($) np.log($) np.log2($) np.log10($) np.log1p($) np.sin($) np.cos($) np.tan($) np.arcsin($) np.arccos($) np.arctan($) np.sinh($) np.cosh($) np.tanh($) np.arcsinh($)
    np.arccosh($) np.arctanh($) np.cbrt($) np.hypot($,_%) np.arctan2($,_%) np.logaddexp($,_%) $_**_0.5 $_**_% np.power($,_%) np.angle($) np.deg2rad($) np.degrees($) np.float_power($,_%) np.sinc($) np.abs($)
    np.sqrt($) $_/_% $_*_% np.reciprocal($) np.square($) np.prod($) $.std() $.var() np.std($,_axis=0) np.mean($) np.vander($) np.logaddexp2($,_%) np.log($_+_1)""".split()
TWO = """maximum minimum fmax fmin copysign fmod remainder floor_divide true_divide left_shift right_shift logical_and logical_or logical_xor heaviside gcd lcm nextafter greater less_equal add subtract
    multiply bitwise_and bitwise_or bitwise_xor equal not_equal divide mod less greater_equal isclose""".split()
REDUCTIONS = """sum sum prod min max mean var std any all argmin argmax ptp count_nonzero nansum nanprod nanmin nanmax nanmean nanvar nanstd nanargmin nanargmax median nanmedian average amin amax""".split()
RUNNING = "cumsum cumprod nancumsum nancumprod sort argsort diff ediff1d unique flatnonzero ravel flip cumsum cumprod".split()
METHODS = "sum prod min max mean var std any all argmin argmax cumsum cumprod sort argsort ravel".split()
WHERE = {"sum", "prod", "min", "max", "mean", "any", "all", "var", "std"}


def values(rng, dtype, shape):
    """Numbers among which those at the edges of the type are frequent."""
    dtype, count = np.dtype(dtype), int(np.prod(shape))
    if dtype.kind == "b":
        return (rng.random(count) < rng.choice([0.1, 0.5, 0.9])).reshape(shape)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if rng.random() < 0.4:
            return rng.integers(0, 10, count).astype(dtype).reshape(shape)
        edges = [v for v in (0, 1, -1, 2, 3, 7, 8, 31, 32, 63, 64, 65, 100, -2, -7, info.max, info.min, info.max - 1, info.min + 1) if info.min <= v <= info.max]
        return np.array(edges, dtype)[rng.integers(0, len(edges), count)].reshape(shape)
    if dtype.kind == "c":
        part = np.float32 if dtype.itemsize == 8 else np.float64
        # Products of quarters are exact, so it does not matter that NumPy rounds once less where it multiplies in vectors.
        z = np.empty(shape, dtype)
        z.real[...], z.imag[...] = rng.integers(-30, 30, (2, *shape)) / part(4)
        if rng.random() < 0.4:
            z[rng.random(shape) < 0.1] = complex(*rng.choice([0.0, -0.0, np.nan, 1.0], 2))
        return z
    a = rng.integers(-30, 30, count) / 4.0 if rng.random() < 0.6 else rng.standard_normal(count) * 10.0 ** rng.integers(-3, 4)
    edges = np.array([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 0.5, -2.5, 1e30, -1e30, 3.0, 1e-40, 2.0, 255.0, -129.0])
    at = rng.random(count) < rng.choice([0.0, 0.05, 0.5])
    a[at] = edges[rng.integers(0, len(edges), at.sum())]
    return a.astype(dtype).reshape(shape)


def laid_out(rng, a, how):
    """The same numbers in another layout."""
    if how == "fortran":
        return np.asfortranarray(a)
    if how == "reversed" and a.ndim:
        return a[::-1].copy()[::-1]
    if how == "stepped" and a.ndim:
        room = np.zeros(tuple(2 * k for k in a.shape), a.dtype)
        view = room[tuple(slice(None, None, 2) for _ in a.shape)]
        view[...] = a
        return view
    if how == "permuted" and a.ndim > 1:
        axes = (1, 0) if a.ndim == 2 else (1, 2, 0)
        return np.ascontiguousarray(a.transpose(axes)).transpose(np.argsort(axes))
    if how == "unaligned" and a.itemsize > 1:
        odd = np.ndarray(a.shape, a.dtype, np.zeros(a.nbytes + 16, np.uint8), 1)
        odd[...] = a
        return odd
    return a


LAYOUTS = "plain plain plain fortran reversed stepped permuted permuted unaligned".split()


class Program:
    """A function of arrays `a b c` of one shape, `r` of its last axis, `e` of its other axes, `z` of no dimension, a NumPy scalar `t`, a float `x` and an integer `n`."""

    def __init__(self, seed):
        self.rng, self.seed = random.Random(seed), seed
        self.rank = self.pick(0, 1, 1, 1, 1, 2, 2, 2, 3, 3)
        self.types = {name: self.pick(*TYPES) for name in "abcrezt"}
        if self.chance(0.3):
            self.types["b"] = self.types["a"]
        self.layouts = {name: self.pick(*LAYOUTS) for name in "abcre"}
        self.shared = self.pick("none", "none", "shifted", "same", "wide") if self.rank else "none"
        self.rounded = False
        self.lines, self.results, self.names = [], [], ["a", "b", "c"]
        self.scope = {"np": np, **self.arguments(SIZES[self.rank][0])}
        for k in range(self.rng.randint(1, 4)):
            self.statement(f"s{k}")

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    def arguments(self, shape):
        rng = np.random.default_rng((self.seed, *shape))
        out = {}
        for name in "abcre":
            own = shape if name in "abc" else shape[-1:] if name == "r" else (*shape[:-1], 1)[: len(shape)]
            out[name] = laid_out(rng, values(rng, self.types[name], own), self.layouts[name])
        out["z"] = values(rng, self.types["z"], ())
        out["t"] = values(rng, self.types["t"], (1,))[0]
        out["x"], out["n"] = (0.5, 2.0, float("nan"), -0.0)[self.seed % 4], (0, 1, -1, 5, 63, 100, 3)[self.seed % 7]
        count = int(np.prod(shape))
        if self.shared == "shifted":
            room = values(rng, self.types["a"], (count + 3,))
            out["a"], out["b"], out["room"] = room[:count].reshape(shape), room[3 : count + 3].reshape(shape), room
        elif self.shared == "same":
            out["b"] = out["a"]
        elif self.shared == "wide":
            room = values(rng, self.types["a"], (*shape[:-1], 2 * shape[-1]))
            out["a"], out["b"], out["room"] = room[..., ::2], room[..., 1::2][..., ::-1], room
        return out

    # -- expressions: what is made is tried out on small arrays, so that its type is known

    def tried(self, text):
        """The dtype of an expression; None where NumPy refuses it, or computes it in float16, which compiled code does not have."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                got = np.asarray(eval(text, self.scope))
            except Exception:  # noqa: BLE001
                return None
        return None if got.dtype == np.float16 or got.dtype.kind not in "biufc" else got

    def first(self, make, attempts=8):
        """The first text of several that NumPy takes and that is still an array or a scalar of the usual shape."""
        for _ in range(attempts):
            text = make()
            if self.tried(text) is not None:
                return text
        return self.pick(*self.names)

    def is_complex(self, text):
        got = self.tried(text)
        return got is None or got.dtype.kind == "c"

    def atom(self):
        name = self.pick(*self.names, *self.names, *self.names, "r", "e", "z")
        if name in "abc" and self.chance(0.15) and self.rank:
            return name + self.pick("[::-1]", "[...]", "[..., ::-1]", "[:]")
        return name

    def expression(self, depth=0):
        return self.first(lambda: self.any(depth))

    def any(self, depth):
        form = self.rng.random()
        if depth > 2 or form < 0.15:
            return self.atom()
        if form < 0.45:
            op, left, right = self.pick(*BINARY), self.expression(depth + 1), self.expression(depth + 1) if self.chance(0.6) else self.pick(*SCALARS)
            if op == "**":
                right = self.pick("2", "3", "2", "b", "1") if self.tried(left) is not None and self.tried(left).dtype.kind in "iu" else "2"
            elif op == "/" and (self.is_complex(left) or self.is_complex(right)):
                op = "*"
            elif self.chance(0.2):
                left, right = right, left
            return f"({left} {op} {right})"
        if form < 0.68:
            text = self.pick(*UNARY).replace("_", " ").replace("$", of := self.array(depth + 1))
            # A scalar of compiled code has no layout.
            if "abs" in text and self.is_complex(of) or self.rank == 0 and any(name in text for name in ("flip", ".T", "[", "roll", "copy")):
                text = of
            return f"({text})" if text[0] in "-~+" or "**" in text else text
        if form < 0.8:
            return f"np.{self.pick(*TWO)}({self.array(depth + 1)}, {self.expression(depth + 1) if self.chance(0.6) else self.pick(*SCALARS)})"
        if form < 0.89:
            other = self.expression(depth + 1) if self.chance(0.6) else self.pick(*SCALARS)
            return f"np.where({self.condition(depth + 1)}, {self.expression(depth + 1)}, {other})"
        if form < 0.92:
            return f"np.select([{self.condition(depth + 1)}, {self.condition(depth + 1)}], [{self.array(depth + 1)}, {self.array(depth + 1)}], {self.pick('0', '1')})"
        return self.cast(self.array(depth + 1))

    def cast(self, text):
        """A cast whose result does not depend on where in its vectors NumPy has an element: floats become uint32 where they fit."""
        of, to = self.tried(text), self.pick(*CASTS)
        if of is not None and of.dtype.kind in "fc" and to == "uint32":
            real = text if of.dtype.kind == "f" else f"({text}).real"
            return f"np.clip(np.nan_to_num({real}), 0, 100).astype(np.{to})"
        return f"{text}.astype(np.{to})"

    def array(self, depth):
        return self.atom() if self.chance(0.5) else f"({self.pick(*self.names)} {self.pick('+', '-', '*')} {self.expression(depth + 1)})"

    def condition(self, depth):
        return self.first(lambda: self.pick(f"({self.array(depth)} {self.pick('<', '>', '==', '!=', '>=')} {self.pick(self.pick(*SCALARS), self.expression(depth + 1))})",
                                            f"{self.array(depth)}.astype(np.bool_)", f"np.isnan({self.array(depth)})", f"({self.array(depth)} != 0)", f"np.logical_or({self.array(depth)}, b)"))

    def root(self):
        """An expression that may end in a function that is right to a few units in the last place, of numbers that NumPy has the same bits of."""
        if self.chance(0.15) and not self.rounded:
            text = self.first(lambda: self.pick(*ROUNDED).replace("_", " ").replace("$", self.array(2)).replace("%", self.pick(self.expression(2), "2", "0.5", "3", "-1", "x", "n")))
            self.rounded = self.rounded or text not in self.names
            return text
        return self.expression()

    # -- statements

    def add(self, line, result=None):
        """Puts a line into the program if NumPy takes it; all that follows is tried with what it has written."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(line, self.scope)
            except Exception:  # noqa: BLE001
                return False
        if result and np.asarray(self.scope[result]).dtype == np.float16:
            return False
        self.lines.append(line)
        if result:
            self.results.append(result)
        return True

    def statement(self, name):
        for _ in range(8):
            before = self.rounded
            form = self.rng.random()
            if form < 0.28:
                done = self.add(f"{name} = {self.root()}", name)
                # What is rounded is read by nothing that follows.
                if done and self.rounded == before and isinstance(self.scope[name], np.ndarray) and self.scope[name].shape == self.scope["a"].shape:
                    self.names.append(name)
            elif form < 0.58:
                done = self.add(f"{name} = {self.reduction()}", name)
            elif form < 0.68:
                done = self.add(f"{name} = {self.running()}", name)
            elif form < 0.84:
                done = self.add(self.augmented() if self.chance(0.6) else self.assigned())
            else:
                done = self.add(self.masked() if self.chance(0.5) and self.rank else self.into())
            if done:
                return
            self.rounded = before

    def axis(self, several=True):
        choices = [None, None, 0, -1, *range(self.rank)] + ([(0, 1), (0, 2), (1, 2), (0, 1, 2), (-1, 0)] if several and self.rank == 3 else [(0, 1), (1,)] if several and self.rank == 2 else [])
        return self.pick(*choices) if self.rank else None

    def reduction(self):
        f = self.pick(*REDUCTIONS)
        what = self.expression() if self.chance(0.6) else self.array(1)
        if ("median" in f or "prod" in f) and self.is_complex(what):
            f = "sum"
        options = []
        axis = self.axis(not f.startswith(("arg", "nanarg")))
        if axis is not None:
            options.append(f"axis={axis}")
        if self.chance(0.15) and f not in ("average",):
            options.append("keepdims=True")
        if f in ("sum", "prod", "mean", "nansum", "nanprod") and self.chance(0.2):
            options.append(f"dtype=np.{self.pick('float32', 'float64', 'complex64', 'complex128') if (got := self.tried(what)) is None or got.dtype.kind in 'fc' else self.pick('int8', 'uint64', 'int32', 'bool_', 'int64', 'float32')}")
        if f in ("sum", "prod", "min", "max") and self.chance(0.2):
            options.append(f"initial={self.pick('0', '1', '3', '2.5', 'n')}")
        # NumPy adds up runs of chosen floats.
        if f in WHERE and self.chance(0.2) and (f in ("min", "max", "any", "all") or (got := self.tried(what)) is not None and got.dtype.kind in "biu"):
            options.append(f"where={self.condition(2)}")
        if f in ("var", "std") and self.chance(0.2):
            options.append("ddof=1")
        if f in METHODS and self.chance(0.3):
            return f"({what}).{f}({', '.join(options)})"
        if f in ("sum", "prod", "min", "max") and self.chance(0.1) and options and options[0].startswith("axis"):
            ufunc = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum"}[f]
            return f"np.{ufunc}.{self.pick('reduce', 'accumulate')}({what}, {options[0]})"
        return f"np.{f}({', '.join([what, *options])})"

    def running(self):
        f = self.pick(*RUNNING) if self.rank else "ravel"
        options = []
        axis = self.axis(several=False)
        if axis is not None and f not in ("unique", "ediff1d", "flatnonzero", "ravel"):
            options.append(f"axis={axis}")
        if f in ("cumsum", "cumprod", "nancumsum") and self.chance(0.2):
            options.append(f"dtype=np.{self.pick('float32', 'float64', 'int32', 'complex128', 'uint8')}")
        if f == "argsort":
            options.append("kind='stable'")
        if f == "ravel" and self.chance(0.5):
            options.append(f"order='{self.pick('C', 'F', 'K', 'A')}'")
        what = self.expression() if self.chance(0.6) else self.array(1)
        if f == "unique" and self.is_complex(what):
            f = "ravel"
        if f in METHODS and f != "sort" and self.chance(0.3):
            return f"({what}).{f}({', '.join(options)})"
        return f"np.{f}({', '.join([what, *options])})"

    def target(self):
        return self.pick("a", "b", "c", *(["a[1:]", "b[::-1]", "c[::2]", "a[..., ::-1]"] if self.rank else ["a[...]"]))

    def augmented(self):
        t = self.target()
        op = self.pick("+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=")
        other = t.replace(t[0], self.pick("a", "b", "c"), 1)
        form = self.rng.randrange(4)
        value = self.pick(*SCALARS) if form == 0 else other if form == 1 else f"({other}{self.pick(' * 2', ' + 1', ' > 0', '.astype(np.float32)', ' - ' + other)})" if form == 2 else self.expression() if "[" not in t else other
        return f"{t} {op} {value}"

    def assigned(self):
        t = self.target()
        other = t.replace(t[0], self.pick("a", "b", "c"), 1)
        value = self.expression() if "[" not in t and self.chance(0.6) else f"{other} {self.pick('+', '*', '-', '|', '//')} {self.pick(*SCALARS)}"
        return f"{t if '[' in t else t + '[...]'} = {self.fitting(value, t[0])}"

    def fitting(self, value, target):
        """A value that an assignment casts as :meth:`cast` does."""
        got = self.tried(value)
        if got is not None and got.dtype.kind in "fc" and self.types[target] == "uint32":
            return f"np.clip(np.nan_to_num({value if got.dtype.kind == 'f' else f'np.real({value})'}), 0, 100)"
        return f"np.real({value})" if got is not None and got.dtype.kind == "c" and np.dtype(self.types[target]).kind in "biuf" else value

    def masked(self):
        t = self.pick("a", "b", "c")
        form = self.rng.randrange(5)
        if form == 0:
            return f"{t}[{self.condition(1)}] = {self.pick('1', '0', '2', 'True', '100')}"
        if form == 1:
            return f"{t}[{self.condition(1)}] {self.pick('+=', '*=', '-=', '//=', '|=', '/=')} {self.pick(*SCALARS)}"
        if form == 2:
            m = self.condition(1)
            of = self.pick(t, t, "a") if np.can_cast(self.types["a"], self.types[t], "same_kind") else t
            return f"{t}[{m}] = {of}[{m}] {self.pick('+ 1', '* 2', '')}"
        if form == 3:
            return f"np.copyto({t}, {self.fitting(self.expression(1), t)}, casting='unsafe', where={self.condition(1)})"
        return f"np.putmask({t}, {self.condition(1)}, {self.fitting(self.expression(1), t)})"

    def into(self):
        t = self.pick("a", "b", "c")
        form = self.rng.randrange(4)
        if form == 0:
            # NumPy computes in the type of `out`, and stretches what is smaller.
            f, of, axis = self.pick("sum", "max", "min", "prod", "cumsum", "any"), self.pick(*self.names), self.pick("0", "-1")
            got = self.tried(f"np.{f}({of}, axis={axis})")
            return f"np.{f}({of}, axis={axis}, out={self.pick(*[n for n in ('r', 'z', t) if got is not None and self.scope[n].dtype == got.dtype and self.scope[n].shape == got.shape] or ['None'])})"
        if form == 1:
            text = f"np.{self.pick('negative', 'sqrt', 'abs', 'floor', 'sign', 'square', 'conj', 'isnan', 'logical_not')}({self.array(1)})"
            return text if self.tried(text) is None else f"{text[:-1]}, out={t})"
        if form == 2:
            return f"np.clip({self.array(1)}, {self.pick('0', 'b', '-1')}, {self.pick('5', 'c')}, out={t})"
        return f"np.{self.pick('add', 'multiply', 'maximum', 'floor_divide', 'subtract', 'greater', 'logical_and', 'divide', 'fmin')}({self.array(1)}, {self.array(1)}, out={t})"

    def source(self):
        about = ", ".join(f"{name} {self.types[name]} {self.layouts.get(name, '')}".strip() for name in self.types)
        return f"def program(a, b, c, r, e, z, t, x, n):  # {about}, memory {self.shared}\n" + "".join(f"    {line}\n" for line in self.lines or ["pass"]) + f"    return {', '.join(self.results or ['x'])},\n"


def order(result):
    """The results, and of each that is an array the axes from the longest step to the shortest."""
    def axes(v):
        if not isinstance(v, np.ndarray) or v.ndim < 2 or v.size == 0:
            return ()
        return tuple(sorted((k for k in range(v.ndim) if v.shape[k] > 1), key=lambda k: -abs(v.strides[k])))
    return *result, *(np.array(axes(v)) for v in result)


# Which zero is the least is an accident of vectors, and of the algorithm that sorts.
SUMS = ("sum(", "mean(", "var(", "std(", "prod(", "average(")
EITHER_ZERO = ("max", "min", "sort", "unique", "median", "clip", "ptp")


def compare(seed, decorate):
    program = Program(seed)
    source = program.source()
    plain = all(how in ("plain", "fortran") for how in program.layouts.values()) and program.shared == "none" and not re.search(r"\be\b", source.split("\n", 1)[1])

    def outcome(f, size):
        arguments = program.arguments(size)
        room = {n: arguments.pop(n) for n in ["room"] if n in arguments}
        result, error = quietly(f, arguments)
        if result is not None and plain:
            result = order(result)
        # A scalar and an array without dimensions are the same answer; where all is scalars they are computed with as Python does: True * True is 1, what is divided by nothing raises.
        if result is not None:
            result = tuple(v if np.ndim(v) else np.asarray(v).item() if program.rank == 0 else np.asarray(v)[()] for v in result)
        return result, error, {**{n: v for n, v in arguments.items() if isinstance(v, np.ndarray)}, **room}

    types = [np.dtype(t) for t in program.types.values()]
    # NumPy multiplies complex numbers in vectors, which round once less.
    single = any(t in (np.float32, np.complex64) or t.itemsize < 4 for t in types) or "float32" in source or "complex64" in source
    # The order of a sum of what is laid out in an order that only the run knows is not NumPy's.
    rounded = program.rounded or not plain and any(name in source for name in SUMS) or "where=" in source or any(t.kind == "c" for t in types) or "complex" in source or "1j" in source
    found = judge(seed, source, dict.fromkeys(SIZES[program.rank]), outcome, decorate, ulp=(64 if single else 16) if rounded else 0, signs=not any(name in source for name in EITHER_ZERO))
    return None if found and program.rank == 0 and any(f"got {name}" in found[1] for name in ("ZeroDivisionError", "ValueError('negative shift count')")) else found


if __name__ == "__main__":
    main(__file__, lambda seed: Program(seed).source(), compare)
