"""Writes tests/filetests/lir/ops/*.lir: one file for each row of the LIR table, with answers from an oracle of its own.

The oracle is Python's integers and fractions, never the meaning in core/src/lir/inst.rs, so that a wrong meaning is found.
Run it after adding a row:  python3 tests/filetests/gen_ops.py
"""

import math
import random
import struct
from fractions import Fraction
from pathlib import Path

INTS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
FLOATS = {"f32": (24, 127), "f64": (53, 1023)}
OUT = Path(__file__).parent / "lir" / "ops"


def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def unsigned(x, bits):
    return x & ((1 << bits) - 1)


def edges(bits):
    top = 1 << (bits - 1)
    return [0, 1, -1, 2, -2, 3, 7, -7, bits - 1, bits, bits + 1, top - 1, -top, top - 2, -top + 1, top // 3, -top // 7]


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


INT_BINARY = {
    "iadd": lambda a, b, n: a + b,
    "isub": lambda a, b, n: a - b,
    "imul": lambda a, b, n: a * b,
    "sdiv": lambda a, b, n: trunc_div(a, b) if b else 0,
    "udiv": lambda a, b, n: unsigned(a, n) // unsigned(b, n) if b else 0,
    "srem": lambda a, b, n: a - b * trunc_div(a, b) if b else 0,
    "urem": lambda a, b, n: unsigned(a, n) % unsigned(b, n) if b else 0,
    "band": lambda a, b, n: a & b,
    "bor": lambda a, b, n: a | b,
    "bxor": lambda a, b, n: a ^ b,
    "ishl": lambda a, b, n: a << (b % n),
    "sshr": lambda a, b, n: a >> (b % n),
    "ushr": lambda a, b, n: unsigned(a, n) >> (b % n),
    "smin": lambda a, b, n: min(a, b),
    "smax": lambda a, b, n: max(a, b),
    "umin": lambda a, b, n: min(unsigned(a, n), unsigned(b, n)),
    "umax": lambda a, b, n: max(unsigned(a, n), unsigned(b, n)),
}
INT_UNARY = {
    "ineg": lambda a, n: -a,
    "bnot": lambda a, n: -1 - a,
    "popcnt": lambda a, n: bin(unsigned(a, n)).count("1"),
    "clz": lambda a, n: n - unsigned(a, n).bit_length(),
    "ctz": lambda a, n: n if a == 0 else (unsigned(a, n) & -unsigned(a, n)).bit_length() - 1,
}
fits = lambda x, n: -(1 << (n - 1)) <= x < (1 << (n - 1))
INT_COMPARE = {
    "icmp_eq": lambda a, b, n: a == b,
    "icmp_ne": lambda a, b, n: a != b,
    "icmp_slt": lambda a, b, n: a < b,
    "icmp_sle": lambda a, b, n: a <= b,
    "icmp_sgt": lambda a, b, n: a > b,
    "icmp_sge": lambda a, b, n: a >= b,
    "icmp_ult": lambda a, b, n: unsigned(a, n) < unsigned(b, n),
    "icmp_ule": lambda a, b, n: unsigned(a, n) <= unsigned(b, n),
    "sadd_overflows": lambda a, b, n: not fits(a + b, n),
    "ssub_overflows": lambda a, b, n: not fits(a - b, n),
    "smul_overflows": lambda a, b, n: not fits(a * b, n),
}


# ---- floats: a value is a Python float that the type holds exactly --------------------------------------------------------


def nearest(x, ty):
    """The member of `ty` next to the rational `x`, ties to even."""
    precision, emax = FLOATS[ty]
    x = Fraction(x)
    if x == 0:
        return 0.0
    sign, x = (-1.0, -x) if x < 0 else (1.0, x)
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    if x < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, 1 - emax) - precision + 1)
    count, rest = divmod(x, unit)
    if rest * 2 > unit or (rest * 2 == unit and count % 2):
        count += 1
    x = count * unit
    if x >= Fraction(2) ** (emax + 1):
        return sign * math.inf
    return sign * (x.numerator / x.denominator)


def arithmetic(op, a, b, ty):
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if op == "fdiv":
        if b == 0:
            return math.nan if a == 0 else math.copysign(math.inf, a) * math.copysign(1.0, b)
        if math.isinf(a) or math.isinf(b):
            return a / b
        exact = Fraction(a) / Fraction(b)
        return nearest(exact, ty) if exact else a / b
    plain = {"fadd": lambda: a + b, "fsub": lambda: a - b, "fmul": lambda: a * b}[op]
    if math.isinf(a) or math.isinf(b):
        return plain()
    x, y = Fraction(a), Fraction(b)
    exact = {"fadd": lambda: x + y, "fsub": lambda: x - y, "fmul": lambda: x * y}[op]()
    return nearest(exact, ty) if exact else plain()


def fused(a, b, c, ty):
    if math.isnan(a) or math.isnan(b) or math.isnan(c):
        return math.nan
    if math.isinf(a) or math.isinf(b):
        product = a * b
        return product + c if not (math.isinf(c) and math.isinf(product) and c != product) else math.nan
    if math.isinf(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact:
        return nearest(exact, ty)
    product = math.copysign(0.0, math.copysign(1.0, a) * math.copysign(1.0, b))
    # A product that is not zero and is cancelled leaves a positive zero.
    return product + c if a == 0 or b == 0 else 0.0


def sqrt(a, ty):
    if math.isnan(a) or a < 0:
        return math.nan
    if a == 0 or math.isinf(a):
        return a
    # An integer square root with many more bits than the type has; a root is never exactly between two floats.
    scaled = Fraction(a) * (1 << 400)
    shift = 1 << 2000
    root = math.isqrt(scaled.numerator * shift * shift // scaled.denominator)
    return nearest(Fraction(root, shift << 200), ty)


def whole(f):
    def go(a, ty):
        if not math.isfinite(a) or a == 0:
            return a
        return math.copysign(float(f(Fraction(a))), a)
    return go


FLOAT_UNARY = {
    "fneg": lambda a, ty: -a,
    "fabs": lambda a, ty: abs(a),
    "fsqrt": sqrt,
    "ffloor": whole(math.floor),
    "fceil": whole(math.ceil),
    "ftrunc": whole(math.trunc),
    "fnearest": whole(round),
}
FLOAT_COMPARE = {
    "fcmp_eq": lambda a, b: a == b,
    "fcmp_ne": lambda a, b: not a == b,
    "fcmp_lt": lambda a, b: a < b,
    "fcmp_le": lambda a, b: a <= b,
    "fcmp_gt": lambda a, b: a > b,
    "fcmp_ge": lambda a, b: a >= b,
    "fcmp_uno": lambda a, b: a != a or b != b,
}


def float_edges(ty):
    precision, emax = FLOATS[ty]
    biggest = float((2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** emax)
    tiny = float(Fraction(2) ** (2 - emax - precision))
    xs = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.75, -0.75, 1e-3, 4503599627370497.5, 8388609.0, 1e30, -1e30,
          biggest, -biggest, tiny, -tiny, float(Fraction(2) ** (1 - emax)), math.inf, -math.inf, math.nan]
    return [x if math.isinf(x) or math.isnan(x) else (math.copysign(nearest(Fraction(x), ty), x)) for x in xs]


def text(x):
    if isinstance(x, bool):
        return str(int(x))
    if isinstance(x, float):
        return "nan" if math.isnan(x) else repr(x)
    return str(x)


def bits_of(x, ty):
    return struct.unpack("<i" if ty == "f32" else "<q", struct.pack("<f" if ty == "f32" else "<d", x))[0]


# ---- files ----------------------------------------------------------------------------------------------------------------


class File:
    def __init__(self, op):
        self.op, self.parts = op, []

    def function(self, suffix, params, result, runs, name=None):
        name = name or f"{self.op}_{suffix}"
        args = ", ".join(f"v{i}" for i in range(len(params)))
        self.parts.append(
            f"func @{name}({', '.join(params)}) -> {result} {{\n"
            f"block0({', '.join(f'v{i}: {t}' for i, t in enumerate(params))}):\n"
            f"    v{len(params)} = {self.op}.{suffix} {args}\n"
            f"    return v{len(params)}\n}}\n"
            + "".join(f"; run: {name}({', '.join(map(text, a))}) == {text(r)}\n" for a, r in runs)
        )

    def write(self):
        head = "; test interp\n; test run tier0\n; test run tier1\n; Written by tests/filetests/gen_ops.py with answers from exact arithmetic.\n\n"
        (OUT / f"{self.op}.lir").write_text(head + "\n".join(self.parts))


def pairs(values, always, count):
    chosen = list(always)
    rng = random.Random(repr(always) + str(count))
    while len(chosen) < count:
        p = (rng.choice(values), rng.choice(values))
        if not any(repr(p) == repr(q) for q in chosen):
            chosen.append(p)
    return chosen


def int_files():
    for op, f in INT_BINARY.items():
        out = File(op)
        for ty, n in INTS.items():
            low, high = -(1 << (n - 1)), (1 << (n - 1)) - 1
            always = [(0, 0), (5, 0), (low, -1), (low, 0), (high, 1), (low, 1), (-1, 1), (1, -1), (7, -2), (-7, 2), (-7, -2), (1, n - 1), (low, n - 1), (3, n), (3, n + 1), (low, -n), (high, high), (low, low)]
            out.function(ty, [ty, ty], ty, [(p, signed(f(*p, n), n)) for p in pairs(edges(n), always, 30)])
        out.write()
    for op, f in INT_UNARY.items():
        out = File(op)
        for ty, n in INTS.items():
            out.function(ty, [ty], ty, [((a,), signed(f(a, n), n)) for a in edges(n)])
        out.write()
    for op, f in INT_COMPARE.items():
        out = File(op)
        for ty, n in list(INTS.items()) + [("ptr", 64)]:
            low, high = -(1 << (n - 1)), (1 << (n - 1)) - 1
            always = [(0, 0), (0, 1), (1, 0), (-1, 0), (0, -1), (low, high), (high, low), (high, 1), (low, 1), (low, -1), (-1, low), (0, low), (high, 2), (3, high // 3), (low, low)]
            out.function(ty, [ty, ty], "i8", [(p, f(*p, n)) for p in pairs(edges(n), always, 24)])
        out.write()
    for op in ["sext", "zext", "itrunc"]:
        out = File(op)
        for a, n in INTS.items():
            for b, m in INTS.items():
                if (m > n) if op != "itrunc" else (m < n):
                    convert = (lambda x: unsigned(x, n)) if op == "zext" else (lambda x: signed(x, m))
                    out.function(b, [a], b, [((x,), convert(x)) for x in edges(n)], f"{op}_{a}_{b}")
        out.write()


def float_files():
    for op in ["fadd", "fsub", "fmul", "fdiv"]:
        out = File(op)
        for ty in FLOATS:
            always = [(0.0, -0.0), (-0.0, -0.0), (1.0, 0.0), (-1.0, 0.0), (1.0, -0.0), (0.0, 0.0), (math.inf, -math.inf), (math.inf, 0.0), (math.inf, math.inf), (math.nan, 1.0), (1.0, math.nan)]
            out.function(ty, [ty, ty], ty, [(p, arithmetic(op, *p, ty)) for p in pairs(float_edges(ty), always, 48)])
        out.write()
    out = File("fma")
    for ty in FLOATS:
        edges = float_edges(ty)
        rng = random.Random(5)
        third = nearest(Fraction(1, 3), ty)
        triples = [(third, 3.0, -1.0), (-0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, math.inf, 1.0), (math.inf, 1.0, -math.inf), (2.5, -0.5, 1.25), (1e30, 1e30, -math.inf)]
        triples += [tuple(rng.choice(edges) for _ in range(3)) for _ in range(50)]
        out.function(ty, [ty, ty, ty], ty, [(t, fused(*t, ty)) for t in ((nearest(Fraction(x), ty) if math.isfinite(x) and x else x for x in t) for t in triples) for t in [tuple(t)]])
    out.write()
    for op, f in FLOAT_UNARY.items():
        out = File(op)
        for ty in FLOATS:
            out.function(ty, [ty], ty, [((a,), f(a, ty)) for a in float_edges(ty)])
        out.write()
    for op, f in FLOAT_COMPARE.items():
        out = File(op)
        for ty in FLOATS:
            always = [(0.0, -0.0), (-0.0, 0.0), (1.0, 1.0), (1.0, 2.5), (2.5, 1.0), (math.nan, math.nan), (math.nan, 0.0), (0.0, math.nan), (math.inf, math.inf), (-math.inf, math.inf)]
            out.function(ty, [ty, ty], "i8", [(p, f(*p)) for p in pairs(float_edges(ty), always, 24)])
        out.write()
    out = File("fcopysign")
    for ty in FLOATS:
        always = [(0.0, -1.0), (1.0, -0.0), (-1.0, 0.0), (math.inf, -0.5), (math.nan, -1.0), (1.0, -math.inf)]
        some = [x for x in float_edges(ty) if x == x]
        out.function(ty, [ty, ty], ty, [(p, math.copysign(*p)) for p in pairs(some, always, 20)])
    out.write()


def conversions():
    for op in ["sint_to_f", "uint_to_f"]:
        out = File(op)
        for a, n in INTS.items():
            for b, (precision, _) in FLOATS.items():
                more = [s * ((1 << k) + d) for k in (precision, precision + 1, n - 2) if k < n - 1 for d in (-1, 0, 1, 2, 3) for s in (1, -1)]
                runs = [((x,), nearest(Fraction(x if op[0] == "s" else unsigned(x, n)), b)) for x in edges(n) + more]
                out.function(b, [a], b, runs, f"{op}_{a}_{b}")
        out.write()
    for op in ["f_to_sint", "f_to_uint", "f_to_sint_or_min"]:
        out = File(op)
        for a in FLOATS:
            for b, n in INTS.items():
                low, high = (-(1 << (n - 1)), (1 << (n - 1)) - 1) if op != "f_to_uint" else (0, (1 << n) - 1)
                more = [Fraction(x) + d for x in (low, high, high + 1) for d in (Fraction(-3, 2), -1, Fraction(-1, 2), 0, Fraction(1, 2), 1, 300)]
                values = float_edges(a) + sorted({nearest(x, a) for x in more} - {0.0})

                def convert(x):
                    if op == "f_to_sint_or_min" and (x != x or math.isinf(x) or not low <= math.trunc(x) <= high):
                        return low
                    if x != x:
                        return 0
                    if math.isinf(x):
                        return signed(high if x > 0 else low, n)
                    return signed(min(max(math.trunc(x), low), high), n)

                out.function(b, [a], b, [((x,), convert(x)) for x in values], f"{op}_{a}_{b}")
        out.write()
    out = File("fconvert")
    out.function("f64", ["f32"], "f64", [((x,), x) for x in float_edges("f32")], "fconvert_f32_f64")
    wide = float_edges("f64") + [1 + 2.0**-24, 1 + 3 * 2.0**-24, 3.4028235677973366e38, 3.4028235677973362e38, 2.0**-150, 1.5 * 2.0**-150, 1e-45, -1e-46]
    narrow = lambda x: x if not math.isfinite(x) else math.copysign(nearest(Fraction(x), "f32"), x)
    out.function("f32", ["f64"], "f32", [((x,), narrow(x)) for x in wide], "fconvert_f64_f32")
    out.write()


def the_rest():
    out = File("bitcast")
    for f, i in (("f32", "i32"), ("f64", "i64")):
        values = [x for x in float_edges(f) if x == x]
        out.function(i, [f], i, [((x,), bits_of(x, f)) for x in values], f"bitcast_{f}_{i}")
        out.function(f, [i], f, [((bits_of(x, f),), x) for x in values], f"bitcast_{i}_{f}")
    for a, b in (("i64", "ptr"), ("ptr", "i64"), ("ptr", "f64"), ("f64", "ptr")):
        values = [1.5, -0.0] if a == "f64" else [0, 1, 123456789012345, -1]
        out.function(b, [a], b, [((x,), bits_of(x, a) if a == "f64" else (struct.unpack("<d", struct.pack("<q", x))[0] if b == "f64" else x)) for x in values], f"bitcast_{a}_{b}")
    out.write()
    out = File("ptr_add")
    out.function("ptr", ["ptr", "i64"], "ptr", [((0, 0), 0), ((4096, 8), 4104), ((4096, -8), 4088), ((0, -1), -1), ((-1, 1), 0), ((-1, -1), -2)])
    out.write()
    out = File("select")
    for ty in [*INTS, *FLOATS, "ptr"]:
        a, b = (1.5, -0.0) if ty in FLOATS else (1, 2) if ty == "ptr" else (INTS[ty] - 1, -(1 << (INTS[ty] - 1)))
        out.function(ty, ["i8", ty, ty], ty, [((c, a, b), a if c else b) for c in (0, 1, 2, -1, -128)])
    out.write()


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    int_files()
    float_files()
    conversions()
    the_rest()
