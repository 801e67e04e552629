"""Fuzzing of declarations: random signatures, called from everywhere with random values, against the rule written down here as a small model.

    python tests/fuzz/declare_fuzz.py --seconds 600 --seed 1

The rule is Numba's. Of the signatures that take the arguments the one is called that needs the fewest unsafe conversions, then safe ones, then promotions; equally good ones are a TypeError, as is
none. Arguments are converted, member by member: those of a call from Python as Python converts (`int(x)`, which must fit into 64 bits, with a sign or without; narrow integers keep the low bits), those
of a call in compiled code as the processor does. Results are converted to the declared type. `locals=` converts what is assigned.

The model was held against Numba 0.68.1, in an environment of its own, over the seeds 0 to 39:

    python -m venv DIR; DIR/bin/pip install numba; DIR/bin/python tests/fuzz/declare_fuzz.py --against numba --count 40

Where the rule is deliberately another (the two places that ask for Numba) that run expects what Numba does.
"""

import argparse
import importlib
import math
import random
import sys
import warnings

import numpy as np

NUMBERS = "boolean int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
# How a number of the type in the row becomes one of that in the column: exactly, by promotion, safely, unsafely, not at all. Numba's `can_convert`.
TABLE = """=ssssssssssss u=pppuuuussss uu=ppuuuussss uuu=puuuuusus uuuu=uuuuusus uusss=pppssss uuussu=ppusus uuuusuu=pusus uuuuuuuu=usus uuuuuuuuu=pss uuuuuuuuuu=us -----------=p -----------u=""".split()
RANK = "=psu"
DTYPE = {"boolean": np.bool_, **{t: getattr(np, t) for t in NUMBERS[1:]}}


class Refused(Exception):
    """What a call raises, by the class."""


# ---------------------------------------------------------------- the rule. Types are names of numbers, or tuples ("tuple", members), ("optional", type), ("array", dtype, layout, writable), ("str",), ("none",)


def conversion(a, b):
    """How far apart two types are, 0 to 3; None where there is no way."""
    if a == b:
        return 0
    if isinstance(a, str) and isinstance(b, str):
        kind = TABLE[NUMBERS.index(a)][NUMBERS.index(b)]
        return None if kind == "-" else RANK.index(kind)
    if b[0] == "optional":
        if a == ("none",):
            return 1
        found = conversion(a, b[1])
        return None if found is None else max(found, 1)
    if isinstance(a, str) or isinstance(b, str) or a[0] != b[0]:
        return None
    if a[0] == "tuple" and len(a[1]) == len(b[1]):
        found = [conversion(x, y) for x, y in zip(a[1], b[1])]
        return None if None in found else max(found, default=0)
    if a[0] == "array" and a[1] == b[1]:
        return 2 if b[2] in (a[2], "A") and (a[3] or not b[3]) else None
    return None


def kind(t):
    return 0 if t == "boolean" else 1 if "int" in t else 2 if "float" in t else 3


def choose(signatures, given, careful=False):
    """Positions of the best signatures."""
    rated = []
    for k, (args, _) in enumerate(signatures):
        found = [conversion(a, t) for a, t in zip(given, args)]
        if None not in found and not (careful and any(kind(a) > kind(t) for a, t in zip(given, args))):
            rated.append(((found.count(3), found.count(2), found.count(1)), k))
    return [k for rating, k in rated if rating == min(rated)[0]]


def from_python(value, t):
    """An argument as a call from Python converts it."""
    if not isinstance(t, str):
        if t[0] == "tuple":
            return tuple(from_python(v, m) for v, m in zip(value, t[1]))
        if t[0] == "optional":
            return None if value is None else from_python(value, t[1])
        return value
    if "int" in t:
        try:
            n = int(value)
        except (ValueError, OverflowError) as e:
            raise Refused(type(e)) from None
        low, high = (0, 2**64) if t[0] == "u" else (-(2**63), 2**63)
        if not low <= n < high:
            raise Refused(OverflowError)
        return np.array([n], np.uint64 if t[0] == "u" else np.int64).astype(t)[0]
    return DTYPE[t](complex(value) if "complex" in t else bool(value) if t == "boolean" else float(value))


def in_compiled_code(value, t):
    """The same where both are compiled: the processor's conversion of a value that has its type."""
    if not isinstance(t, str):
        if t[0] == "tuple":
            return tuple(in_compiled_code(v, m) for v, m in zip(value, t[1]))
        if t[0] == "optional":
            return None if value is None else in_compiled_code(value, t[1])
        return value
    return np.array([value], DTYPE[type_of(value)]).astype(DTYPE[t])[0]


def defined(value, t):
    """Whether the processor's conversion has one answer: a float must fit into the integer."""
    if not isinstance(t, str):
        return all(map(defined, value, t[1])) if t[0] == "tuple" else t[0] != "optional" or value is None or defined(value, t[1])
    if "int" not in t or not isinstance(value, (float, np.floating)):
        return True
    info = np.iinfo(t)
    return math.isfinite(value) and info.min <= int(value) <= info.max and abs(value) < 2**62


def type_of(value):
    if value is None:
        return ("none",)
    if isinstance(value, tuple):
        return ("tuple", tuple(map(type_of, value)))
    if isinstance(value, str):
        return ("str",)
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), "C" if value.flags.c_contiguous else "A", value.flags.writeable)
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    if isinstance(value, np.generic):
        return str(value.dtype)
    return {int: "int64" if isinstance(value, int) and value < 2**63 else "uint64", float: "float64", complex: "complex128"}[type(value)]


def as_python(value):
    """A result as Python sees it."""
    return tuple(map(as_python, value)) if isinstance(value, tuple) else value.item() if isinstance(value, np.generic) else value


# ---------------------------------------------------------------- programs


class Program:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.count = rng.choice([1, 1, 2])
        self.body = rng.randrange(self.count + (self.count > 1))
        self.signatures = []
        first = [self.type() for _ in range(self.count)]
        for _ in range(rng.choice([1, 1, 2, 3])):
            args = tuple(t if rng.random() < 0.3 else self.near(t) for t in first)
            if all(args != a for a, _ in self.signatures):
                self.signatures.append((args, self.result(args)))
        self.values = [tuple(self.value(t) for t in rng.choice(self.signatures)[0]) for _ in range(4)]

    def number(self):
        return self.rng.choice(NUMBERS[:9] + NUMBERS[3:5] + NUMBERS[9:12] + NUMBERS[10:])

    def type(self):
        r = self.rng.random()
        if r < 0.6:
            return self.number()
        if r < 0.75:
            return ("tuple", tuple(self.number() if self.rng.random() < 0.85 else ("tuple", (self.number(),)) for _ in range(self.rng.randrange(1, 4))))
        if r < 0.85:
            return ("optional", self.number())
        if r < 0.97:
            return ("array", self.rng.choice(["float64", "int32"]), self.rng.choice("CA"), self.rng.random() < 0.7)
        return ("str",)

    def near(self, t):
        """Another type of the same sort."""
        if isinstance(t, str):
            return self.number()
        if t[0] == "tuple":
            return ("tuple", tuple(map(self.near, t[1])))
        if t[0] == "optional":
            return ("optional", self.number())
        return ("array", t[1], self.rng.choice("CA"), self.rng.random() < 0.7) if t[0] == "array" else t

    def result(self, args):
        """A result type that what the function gives can be converted to, or None."""
        given = args[self.body] if self.body < self.count else ("tuple", args)
        for _ in range(4):
            wanted = self.near(given)
            if self.rng.random() < 0.6 and conversion(given, wanted) is not None:
                return wanted
        return None

    def value(self, t):
        rng = self.rng
        if rng.random() < 0.04:
            return rng.choice([None, "text", (1,), 1j, 2.5])
        if not isinstance(t, str):
            if t[0] == "tuple":
                return tuple(map(self.value, t[1]))
            if t[0] == "optional":
                return None if rng.random() < 0.3 else self.value(t[1])
            if t[0] == "str":
                return "text"
            a = np.arange(8).astype(t[1] if rng.random() < 0.9 else "float32")
            a = a[::2] if rng.random() < 0.4 else a[:4].copy()
            a.flags.writeable = rng.random() < 0.7
            return a
        if rng.random() < 0.5:
            t = self.number()
        if "complex" in t:
            value = complex(self.real(), rng.choice([0.0, 1.0, -2.5]))
        elif "float" in t:
            value = self.real()
        elif t == "boolean":
            value = rng.random() < 0.5
        else:
            info = np.iinfo(t)
            value = rng.choice([0, 1, 2, 7, info.max, info.min, rng.randrange(info.min, int(info.max) + 1), rng.randrange(0, 128)])
        return value if rng.random() < 0.5 else DTYPE[t](value)

    def real(self):
        return self.rng.choice([0.0, 1.0, 2.5, -1.5, 0.1, 3.75, 100.5, -0.0, 300.25, 1e10, float("nan"), float("inf"), self.rng.uniform(-100, 100)])

    # ---- what is declared

    def names(self):
        return ["x", "y"][:self.count]

    def kernel(self):
        given = self.names()[self.body] if self.body < self.count else ", ".join(self.names())
        return f"def kernel({', '.join(self.names())}):\n    return {given}\n"

    def source(self):
        return f"# {[(tuple(map(text, a)), text(r)) for a, r in self.signatures]}\n{self.kernel()}# called with {self.values!r}\n"

    def expected(self, values, convert, careful=False):
        """What a call gives; Refused. None where the processor's answer is not defined."""
        # Numba's calls from Python take every Python int for an int64 when they choose.
        if "numba" in sys.modules and any(type(v) is int and v >= 2**63 for v in flat(values)):
            return None
        given = tuple(map(type_of, values))
        found = choose(self.signatures, given, careful)
        # In compiled code Numba takes the first of equally good signatures; here that is an error as well, or a call would mean another thing there than in Python.
        if len(found) != 1 and not (found and convert is in_compiled_code and "numba" in sys.modules):
            raise Refused(TypeError)
        args, ret = self.signatures[found[0]]
        if convert is in_compiled_code and not all(map(defined, values, args)):
            return None
        converted = tuple(map(convert, values, args))
        result = converted[self.body] if self.body < self.count else converted
        if ret is not None:
            if not defined(result, ret):
                return None
            result = in_compiled_code(result, ret)
        return (as_python(result),)


def flat(values):
    return [m for v in values for m in (flat(v) if isinstance(v, tuple) else [v])]


def text(t):
    """A type as a signature names it."""
    if t is None or isinstance(t, str):
        return t
    if t[0] == "tuple":
        return f"Tuple(({', '.join(map(text, t[1]))},))"
    if t[0] == "optional":
        return f"optional({text(t[1])})"
    if t[0] == "array":
        return f"Array({t[1]}, 1, {t[2]!r}, {not t[3]})"
    return "unicode_type"


# Ways to call `g` with the arguments {xs}; each gives a function of these.
CALLERS = {
    "in Python": "def caller({xs}):\n    return g({xs})",
    "by keyword": "def caller({xs}):\n    return g({named})",
    "compiled": "@decorate\ndef caller({xs}):\n    return g({xs})",
    "through a plain function": "@undecorated\ndef plain({xs}):\n    return g({xs})\n@decorate\ndef caller({xs}):\n    return plain({xs})",
    "as an argument": "@decorate\ndef call(f, {xs}):\n    return f({xs})\ndef caller({xs}):\n    return call(g, {xs})",
    "out of a tuple": "@decorate\ndef caller({xs}):\n    r = g({xs})\n    for f in (g, g):\n        r = f({xs})\n    return r",
    "captured": "def make(f):\n    @decorate\n    def call({xs}):\n        return f({xs})\n    return call\ncaller = make(g)",
    "captured inside": "@decorate\ndef caller({xs}):\n    h = lambda: g({xs})\n    return h()",
    "as a default": "@decorate\ndef call({xs}, f=g):\n    return f({xs})\ndef caller({xs}):\n    return call({xs})",
    "in a list": "@decorate\ndef caller({xs}):\n    return [g({xs}) for _ in range(2)][1]",
}


def signature(lib, args, ret):
    space = {**vars(lib.types)}
    made = [eval(text(t), space) for t in args]
    return tuple(made) if ret is None else eval(text(ret), space)(*made)


def same(a, b):
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


def outcome(f, values):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f(*values), None
    except Exception as e:  # noqa: BLE001
        return None, e


def differs(want, got, error):
    """What a call should give (a value in a tuple), or the class that it should raise; None where anything may come."""
    if want is None:
        return False
    if isinstance(want, type):
        # What is found out while compiling is TypingError, which in Numba is no TypeError.
        return not (isinstance(error, want) or want is TypeError and type(error).__name__ == "TypingError")
    return error is not None or not same(want[0], got)


def called(lib, decorate, program, space, what, caller, careful=False):
    names = ", ".join(program.names())
    space = {**space, "decorate": decorate, "undecorated": (lambda f: f) if lib.__name__ == "tierup" else decorate}
    exec(caller.format(xs=names, named=", ".join(f"{n}={n}" for n in program.names())), space)
    for values in program.values:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = program.expected(values, from_python if "Python" in what or "keyword" in what else in_compiled_code, careful)
        except Refused as e:
            want = e.args[0]
        got, error = outcome(space["caller"], values)
        if differs(want, got, error):
            return f"{what}, with {values!r}: want {want!r}, got {error if error is not None else got!r}"
    return None


def recursion(lib, seed):
    """A function that calls itself under its declared name before that is bound, in a module or in a function."""
    rng = random.Random(seed)
    t, step, n = rng.choice(["int32", "int64", "float64", "uint8", "float32"]), rng.choice([0.5, 1, 1.75]), rng.randrange(1, 6)
    start = rng.choice([1, 2.5, np.int8(3)])
    source = f"""
def make():
    @njit("{t}({t}, int64)")
    def count(x, n):
        if n < 1:
            return x
        return count(x + {step}, n - 1)
    return count
"""
    space = {"njit": lib.njit}
    exec(source, space)
    x = from_python(start, t)
    for _ in range(n):
        x = in_compiled_code(x.item() + step, t)
    got, error = outcome(space["make"](), (start, n))
    return f"{source}called with {start!r}, {n}: want {x.item()!r}, got {error or got!r}" if differs((x.item(),), got, error) else None


def variables(lib, seed):
    """Variables that `locals=` gives types."""
    rng = random.Random(seed)
    t, step, n, start = rng.choice(["int32", "int64", "float64", "uint8", "float32", "complex64"]), rng.choice([0.5, 1, 1.75]), rng.randrange(4), rng.choice([1, 2.5, 7.25])
    form = rng.randrange(3)
    body = {0: "y = x\n    for i in range(n):\n        y = y + {step}\n    return y", 1: "y = x\n    if n > 1:\n        y = {step}\n    return y", 2: "for i in range(n):\n        x += {step}\n    return x"}[form].format(step=step)
    source = f"def f(x, n):\n    {body}\n"
    space = {}
    exec(source, space)
    name = "x" if form == 2 else "y"
    x = in_compiled_code(start, t)
    if form == 1:
        x = in_compiled_code(step, t) if n > 1 else x
    else:
        for _ in range(n):
            x = in_compiled_code(x.item() + step, t)
    got, error = outcome(lib.njit(locals={name: getattr(lib.types, t)})(space["f"]), (start, n))
    return f"{source}with {name} of {t}, called with {start!r}, {n}: want {x.item()!r}, got {error or got!r}" if differs((x.item(),), got, error) else None


def compare(seed, decorate, lib=None):
    lib = lib or importlib.import_module("tierup")
    program = Program(seed)
    space = {}
    exec(program.kernel(), space)
    declared, error = outcome(lambda: lib.njit([signature(lib, *s) for s in program.signatures])(space["kernel"]), ())
    if error is not None:
        return "wrong", f"seed {seed}\n{program.source()}could not be declared: {error}"
    for what, caller in CALLERS.items():
        found = called(lib, decorate, program, {"g": declared}, what, caller)
        if found:
            return "wrong", f"seed {seed}\n{program.source()}{found}"
    args, ret = program.signatures[0]
    if ret is not None and all(isinstance(t, str) and "complex" not in t for t in (*args, ret)) and lib.__name__ == "tierup":
        program.signatures = program.signatures[:1]
        for what in ("compiled", "as an argument", "out of a tuple"):
            found = called(lib, decorate, program, {"g": lib.cfunc(signature(lib, args, ret))(space["kernel"])}, what, CALLERS[what], careful=True)
            if found:
                return "wrong", f"seed {seed}, cfunc\n{program.source()}{found}"
    # Numba compiles recursive calls for the types that they pass, whatever is declared, and keeps to `locals=` where a variable is assigned to once.
    for extra in [recursion, variables] * (lib.__name__ == "tierup"):
        found = extra(lib, seed)
        if found:
            return "wrong", f"seed {seed}\n{found}"
    return None


def against(name, first, count):
    """Holds the model against another library."""
    lib = importlib.import_module(name)
    found = [text for seed in range(first, first + count) if (text := compare(seed, lib.njit, lib))]
    for _, text in found:
        print(text, "\n", flush=True)
    print(f"{count} programs from seed {first} against {name} {lib.__version__}, {len(found)} wrong")
    sys.exit(bool(found))


if __name__ == "__main__":
    p = argparse.ArgumentParser(add_help=False)
    p.add_argument("--against")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--count", type=int, default=20)
    known, _ = p.parse_known_args()
    if known.against:
        against(known.against, known.seed, known.count)
    from differential import main
    main(__file__, lambda seed: Program(seed).source(), compare)
