"""What a few instructions give for nearly all operands: remainders, rounding to decimals, pieces of floats, powers and logarithms of Python's numbers, in loops that become vectors. CPython says what is right."""

import math
import re

import numpy as np
import pytest

from harness.build import LLVM, needs_cpu, needs_llvm

tierup = pytest.importorskip("tierup")

pytestmark = [pytest.mark.isolated]

TIERS = ("interp", "0", "1") if LLVM else ("interp", "0")
EXACT = ["x % y", "x // y", "divmod(x, y)[0]", "divmod(x, y)[1]", "math.fmod(x, y)", "math.ldexp(x, 3)", "math.ldexp(x, -1040)", "math.ldexp(x, int(max(-9e3, min(9e3, y * 0.5))))", "math.frexp(x)[0]", "math.frexp(x)[1] * 1.0",
         *(f"round(x, {n})" for n in (0, 1, 2, 5, 15, 16, 22, 23, 300, -1, -3))]
NEAR = ["math.log2(x)", "math.log(x, y)", "x ** 3", "x ** 2.5", "x ** -1.5", "x ** y", "math.pow(x, y)", "math.hypot(x, y)", "abs(complex(x, y))"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 2.2250738585072014e-308, -1e-310, 1.7976931348623157e308, -1e308, 2.0**52, 2.0**53 + 2, -(2.0**52) - 1, 0.1, 1e22, 1e-22,
           4503599627370495.5, 45035996273704.945, 2.675, 1.005, 0.285, 1.115, 5e-3, 0.125, 0.375, 2.0**1000, 3.0000000000000004, 1e16, 123456789.12345678]
ORDINARY = [*np.random.default_rng(1).uniform(-50, 50, 200).tolist(), *(k / 8 for k in range(-40, 41)), *(k / 1000 for k in range(-30, 31)), *(k * 0.1 for k in range(-20, 21))]


def pairs():
    rng = np.random.default_rng(2)
    all_special = [(x, y) for x in SPECIAL for y in SPECIAL]
    return all_special + [(x, y) for x in ORDINARY for y in (3.0, -0.1, float(rng.uniform(0.01, 5)))] + [(k * y, y) for y in (0.1, 0.3, 1e-5, 7.7e300) for k in range(1, 40)]


def outcome(f, x, y):
    try:
        return f(x, y)
    except (ZeroDivisionError, OverflowError, ValueError) as e:
        # A negative base makes Python's power complex, which compiled code cannot.
        return complex(math.nan) if "complex exp" in str(e) else (type(e), str(e))


def compiled(text):
    space = {"math": math}
    exec(f"def one(x, y):\n    return {text}\ndef each(a, b, out):\n    for i in range(len(a)):\n        x, y = float(a[i]), float(b[i])\n        out[i] = {text}\n", space)
    return space["one"], space["each"]


def same(got, want, exact):
    if isinstance(want, complex):
        return math.isnan(got)
    if math.isnan(want) or math.isinf(want) or want == 0 or exact:
        return math.isnan(got) and math.isnan(want) or got == want and math.copysign(1, got) == math.copysign(1, want)
    return math.isclose(got, want, rel_tol=1e-15, abs_tol=5e-323)


@pytest.mark.parametrize("text", EXACT + NEAR)
def test_numbers_are_pythons_alone_and_in_vectors(text):
    one, each = compiled(text)
    cases = [(x, y, outcome(one, x, y)) for x, y in pairs()]
    good = [c for c in cases if not isinstance(c[2], tuple)]
    a, b = np.array([c[0] for c in good]), np.array([c[1] for c in good])
    for tier in TIERS:
        tierup.config.tier = tier
        alone, loop, out = tierup.njit(one), tierup.njit(each), np.empty(len(good))
        for x, y, want in cases:
            got = outcome(alone, x, y)
            if isinstance(want, tuple): assert got == want, f"{text} of {x!r}, {y!r} in tier {tier}"
            else: assert not isinstance(got, tuple) and same(got, want, text in EXACT), f"{text} of {x!r}, {y!r} in tier {tier}: {got!r}, not {want!r}"
        loop(a, b, out)
        for x, y, got, (_, _, want) in zip(a, b, out, good):
            assert same(got, want, text in EXACT), f"{text} of {x!r}, {y!r} in a loop in tier {tier}: {got!r}, not {want!r}"


@pytest.mark.parametrize("text", [t for t in EXACT + NEAR if "abs" not in t and "hypot" not in t and "frexp" not in t])
def test_what_raises_does_so_at_its_turn(text):
    one, each = compiled(text)
    bad = [(x, y) for x, y in pairs() if isinstance(outcome(one, x, y), tuple)][:5]
    for tier in TIERS:
        tierup.config.tier = tier
        loop = tierup.njit(each)
        for at, (x, y) in zip((0, 5, 299, 300, 599), bad):
            a, b, out = np.full(600, 3.25), np.full(600, 2.0), np.full(600, -7.0)
            a[at], b[at] = x, y
            kind, message = outcome(one, x, y)
            with pytest.raises(kind) as raised: loop(a, b, out)
            assert str(raised.value) == message
            assert (out[:at] == one(3.25, 2.0)).all() and (out[at:] == -7.0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("text", ["np.fmod(x, y)", "x % y", "x // y", "np.divmod(x, y)[0]", *(f"np.round(x, {n})" for n in (0, 1, 2, 15, 22, 23, -1, -3))])
def test_arrays_are_numpys(text, dtype):
    with np.errstate(all="ignore"):
        x, y = np.array([p[0] for p in pairs()]).astype(dtype), np.array([p[1] for p in pairs()]).astype(dtype)
        f = eval(f"lambda x, y: {text}", {"np": np})
        want = f(x, y)
    for tier in TIERS:
        tierup.config.tier = tier
        for operands in ((x, y), (x[::-3], y[::-3]), (x[:0], y[:0])):
            with np.errstate(all="ignore"): want = f(*operands)
            got = tierup.njit(f)(*operands)
            assert got.dtype == want.dtype
            wrong = ~((got == want) & (np.signbit(got) == np.signbit(want)) | np.isnan(got) & np.isnan(want))
            assert not wrong.any(), f"{text} of {operands[0][wrong][:3]}, {operands[1][wrong][:3]} in tier {tier}: {got[wrong][:3]}, not {want[wrong][:3]}"


@needs_llvm
@needs_cpu("x86-64-v3")
@pytest.mark.parametrize("text", ["x % y", "x // y", "math.fmod(x, y)", "round(x, 2)", "math.ldexp(x, 3)", "math.frexp(x)[0]", "math.log2(x)", "math.log(x, y)", "x ** 3", "x ** y", "math.pow(x, y)", "math.hypot(x, y)"])
def test_loops_become_vectors(text):
    f = tierup.njit("void(float64[::1], float64[::1], float64[::1])")(compiled(text)[1])
    assert re.search(r"store <\d+ x double>", f.inspect("llvm"))
