"""`fastmath` and `config.opt` reach LLVM, and what tier 1 makes can be read."""

import os
import re

import numpy as np
import pytest

from harness.build import needs_llvm

tierup = pytest.importorskip("tierup")

pytestmark = [
    pytest.mark.isolated,
    needs_llvm,
]

VECTOR_ADD = re.compile(r"fadd .*<\d+ x double>")


def summing(**options):
    @tierup.njit("float64(float64[::1])", **options)
    def f(a):
        s = 0.0
        for i in range(len(a)):
            s += a[i]
        return s
    return f


def test_a_reduction_vectorises_with_fastmath_alone():
    assert not VECTOR_ADD.search(summing().inspect("llvm"))
    for fastmath in (True, {"reassoc"}, {"fast"}, {"reassoc": True, "nnan": False}):
        assert VECTOR_ADD.search(summing(fastmath=fastmath).inspect("llvm")), fastmath
    for fastmath in (False, None, set(), {"nnan", "ninf"}, {"reassoc": False}):
        assert not VECTOR_ADD.search(summing(fastmath=fastmath).inspect("llvm")), fastmath


def test_loops_over_sequences_vectorise():
    @tierup.njit("int64(int64[::1])")
    def total(a):
        s = 0
        for x in a:
            s += x
        return s

    assert re.search(r"add .*<\d+ x i64>", total.inspect("llvm"))


def test_flags_are_those_asked_for():
    def f(x, y):
        return x * y + 1.0

    def flags(fastmath):
        text = tierup.njit("float64(float64, float64)", fastmath=fastmath)(f).inspect("llvm")
        return set(re.search(r"fmul ((?:\w+ )*)double", text)[1].split())

    assert flags(False) == set()
    assert flags(True) == {"fast"}
    for flag in ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"):
        assert flags({flag}) == {flag}


def test_contraction_needs_leave():
    def f(x, y, z):
        return x * y + z

    assert "vfmadd" not in tierup.njit("float64(float64, float64, float64)")(f).inspect("asm1")
    if tierup._tierup.uses_cpu("x86-64-v3"):
        assert "vfmadd" in tierup.njit("float64(float64, float64, float64)", fastmath={"contract"})(f).inspect("asm1")


def test_unknown_flags_are_refused():
    for fastmath in ({"quick"}, "fast", 3, {"reassoc", "more"}):
        with pytest.raises(ValueError, match="fastmath"):
            tierup.njit(fastmath=fastmath)(lambda x: x)


def test_fastmath_code_runs():
    tierup.config.tier = "1"
    a = np.arange(1000.0)
    assert summing(fastmath=True)(a) == summing()(a) == 499500.0


def test_the_optimisation_level_reaches_llvm():
    def vectorised(level):
        tierup.config.opt = level
        return VECTOR_ADD.search(summing(fastmath=True).inspect("llvm")) is not None

    assert not vectorised(0)
    assert vectorised(3)
    with pytest.raises(ValueError, match="0 to 3"):
        tierup.config.opt = 4


def test_levels_of_tier_1():
    f = summing()
    assert "define" in f.inspect("llvm") and "@fn.f" in f.inspect("llvm")
    assert "ret" in f.inspect("asm1") and "fn.f" in f.inspect("asm1")
