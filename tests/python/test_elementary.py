"""Elementary functions have the same bits in every tier, alone and in vectors, and loops that call them become vectors."""

import math

import numpy as np
import pytest

from harness.build import LLVM, needs_cpu, needs_llvm

tierup = pytest.importorskip("tierup")
from harness.tiers import on_tier  # noqa: F401
from tierup import njit

pytestmark = [pytest.mark.isolated]

ONE = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh",
       "arctanh", "cbrt"]
TWO = ["power", "arctan2", "hypot"]

# Enough for vectors and what is left over; large angles stand alone and beside others in a vector.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e22, 1e300, -1e300, 709.9, 710.1, -745.0, -746.0, 2.0**30, 1.5e9, 1.7976931348623157e308, -1.7e308]
NUMBERS = np.concatenate([np.linspace(-20, 20, 999), SPECIAL, np.geomspace(1e-300, 1e300, 301), [1e10], np.linspace(-1, 1, 257), np.linspace(0, 7, 64), SPECIAL])


def loop_over(name):
    space = {"np": np}
    operands = "a[i], b[i]" if name in TWO else "a[i]"
    exec(f"def f(a, {'b, ' * (name in TWO)}out):\n    for i in range(a.shape[0]):\n        out[i] = np.{name}({operands})\n", space)
    return space["f"]


def bits(a):
    a = np.where(np.isnan(a), np.nan, a)
    return a.view(np.uint64 if a.dtype == np.float64 else np.uint32)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ONE + TWO)
def test_tiers_and_vectors_agree(name, dtype):
    with np.errstate(all="ignore"):
        a = [NUMBERS.astype(dtype)]
        if name in TWO:
            others = np.concatenate([SPECIAL, [-3.0, 2.0, 0.25, -0.5, 1e-5]]).astype(dtype)
            a = [np.repeat(a[0], others.size), np.tile(others, a[0].size)]
        expected = getattr(np, name)(*a)
    results = []
    for tier in ("interp", "0", "1") if LLVM else ("interp", "0"):
        tierup.config.tier = tier
        out = np.empty_like(a[0])
        tierup.njit(loop_over(name))(*a, out)
        results.append((tier, "a loop", out))
        results.append((tier, "an array", tierup.njit(eval(f"lambda *a: np.{name}(*a)", {"np": np}))(*a)))
    for tier, how, got in results:
        different = np.flatnonzero(bits(got) != bits(results[0][2]))
        assert different.size == 0, f"{name} of {[x[different][:5] for x in a]} in tier {tier}, {how}: {got[different][:5]}, not {results[0][2][different][:5]}"
    # NumPy is within a few units, and has the same special values.
    assert np.array_equal(np.isnan(expected), np.isnan(out)) and np.array_equal(np.isinf(expected), np.isinf(out))
    zero = expected == 0
    assert np.array_equal(np.signbit(expected[zero]), np.signbit(out[zero]))
    fine = np.isfinite(expected)
    np.testing.assert_allclose(out[fine], expected[fine], rtol=2e-15 if dtype == np.float64 else 2e-6, atol=1e-320 if dtype == np.float64 else 1e-43)


@needs_llvm
@needs_cpu("x86-64-v3")
@pytest.mark.parametrize("name", ONE + TWO)
def test_loops_become_vectors(name):
    f = tierup.njit(f"void(float64[::1], {'float64[::1], ' * (name in TWO)}float64[::1])")(loop_over(name))
    text = f.inspect("llvm")
    assert "@llvm.fma.v" in text, f"the loop over {name} has no vectors:\n{text}"
    assert not [line for line in text.splitlines() if "call" in line and any(f"@{libm}(" in line for libm in ONE)]


@needs_llvm
@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions_agree_in_vectors_and_alone(name):
    space = {"math": math}
    exec(f"def f(a, out):\n    for i in range(a.shape[0]):\n        out[i] = math.{name}(a[i])\n", space)
    expected = np.array([getattr(math, name)(float(x)) for x in NUMBERS])
    for tier in ("interp", "0", "1"):
        tierup.config.tier = tier
        out = np.empty_like(NUMBERS)
        f = tierup.njit("void(float64[::1], float64[::1])")(space["f"])
        f(NUMBERS, out)
        np.testing.assert_array_almost_equal_nulp(np.nan_to_num(out), np.nan_to_num(expected), 2)
        assert np.array_equal(np.isnan(out), np.isnan(expected)) and np.array_equal(np.signbit(out[expected == 0]), np.signbit(expected[expected == 0]))
        first = out if tier == "interp" else first
        assert np.array_equal(bits(out), bits(first)), tier
    assert "@llvm.fma.v" in f.inspect("llvm") or not tierup._tierup.uses_cpu("x86-64-v3")


@needs_llvm
def test_fastmath_changes_no_elementary_function():
    a, out, fast = NUMBERS.copy(), np.empty_like(NUMBERS), np.empty_like(NUMBERS)
    tierup.config.tier = "1"
    for name in ("exp", "log", "sin"):
        tierup.njit(loop_over(name))(a, out)
        tierup.njit(fastmath={"contract", "reassoc"})(loop_over(name))(a, fast)
        assert np.array_equal(bits(out), bits(fast)), name


def test_chains_have_the_bits_of_single_operations():
    def chain(a, b):
        c = np.exp(-a * a) / (1.0 + np.cos(b))
        return np.log(np.abs(c) + 1.0) ** a - np.sin(c)

    def single(a, b):
        out = np.empty_like(a)
        for i in range(a.shape[0]):
            c = np.exp(-a[i] * a[i]) / (1.0 + np.cos(b[i]))
            out[i] = np.power(np.log(np.abs(c) + 1.0), a[i]) - np.sin(c)
        return out

    for n in (1, 511, 512, 513, 3000):
        a, b = np.resize(NUMBERS, n), np.resize(NUMBERS[::-1], n)
        tierup.config.tier = "interp"
        want = tierup.njit(single)(a, b)
        for tier in ("interp", "0", "1") if LLVM else ("interp", "0"):
            tierup.config.tier = tier
            f = tierup.njit(chain)
            assert np.array_equal(bits(f(a, b)), bits(want)), (n, tier)


def test_tier_0_computes_chains_by_kernels():
    """Alone, elements would take several times as long as in vectors."""
    tierup.config.tier = "0"
    f = tierup.njit("float64[::1](float64[::1], float64[::1])")(lambda a, b: np.exp(a) + np.sin(b))
    text = f.inspect("lir")
    # Arrays of different shapes still have their loop over elements.
    assert "@array_map" in text and "@array_in_blocks" not in text and text.count("@f64_sin") == 1, text


def test_scalars_have_the_bits_of_arrays():
    a = np.linspace(0.01, 30, 500)
    for name in ("exp", "log", "sin", "cos", "log2", "expm1"):
        one = tierup.njit(eval(f"lambda x: math.{name}(x)", {"math": math}))
        many = tierup.njit(eval(f"lambda a: np.{name}(a)", {"np": np}))(a)
        assert all(one(float(x)) == y for x, y in zip(a, many)), name


def test_numbers_that_come_one_by_one_have_the_bits_of_others(tier):
    """Where a call waits for the one before, tier 1 takes a form with less to do; `over` goes where that does not reach."""
    def chain(n, x, over):
        out = np.empty(n)
        for i in range(n):
            x = (np.exp(np.sin(x) * 3) + np.log(x + 1) ** 0.7 + math.erf(x * 0.1)) * over % 1e6
            out[i] = x
        return out

    def steps(xs, over):
        out = np.empty(len(xs))
        for i in range(len(xs)):
            out[i] = (np.exp(np.sin(xs[i]) * 3) + np.log(xs[i] + 1) ** 0.7 + math.erf(xs[i] * 0.1)) * over % 1e6
        return out

    def far(n, x):
        total = 0.0
        for i in range(n):
            x = np.exp(-np.log(np.abs(x) + 1e-320) * 1.5) + np.log(np.exp(-x * 1e3)) * 1e-3 ** x
            total += x if np.abs(x) < 1e300 else 1.0
        return x, total
    for over in (1.0, 3.0, 1e3):
        got = njit(chain)(400, 0.5, over)
        np.testing.assert_array_equal(got, njit(steps)(np.concatenate([[0.5], got[:-1]]), over))
    before, tierup.config.tier = tierup.config.tier, "interp"
    try:
        want = [njit(far)(7, x) for x in (0.3, -2.0, 1e-310, np.inf, np.nan)]
    finally:
        tierup.config.tier = before
    np.testing.assert_array_equal([njit(far)(7, x) for x in (0.3, -2.0, 1e-310, np.inf, np.nan)], want)
