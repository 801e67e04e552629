"""Code for older processors: every level of x86-64 that this machine has gives the same numbers, in both tiers and in the run-time's kernels."""

import os
import subprocess
import sys

import pytest

from harness.build import LLVM
from harness.processes import HANG
from harness.processes import HANG

tierup = pytest.importorskip("tierup")
LEVELS = [level for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4") if tierup._tierup.uses_cpu(level)]

PROGRAM = """
import numpy as np
from tierup import config, njit
a = np.random.default_rng(0).random(100_003)
@njit
def loop(a):
    s = 0.0
    for i in range(len(a)):
        s += np.sin(a[i]) * a[i] + (i * 2654435761) % 977
    return s
@njit
def kernels(a):
    return np.sort(a)[::2].sum() + np.exp(a).sum() + a[a > 0.5].sum() + np.log1p(a).max() + np.cumsum(a)[-1] + np.argsort(a)[7]
numbers = []
for tier in TIERS:
    config.tier = tier
    numbers += [njit(f.py_func)(a).hex() for f in (loop, kernels)]
f = njit(loop.py_func)
f(a)
print(len(set(numbers[::2])) == len(set(numbers[1::2])) == 1, *numbers[:2], any(name in f.inspect("asm1" if "1" in TIERS else "asm") for name in ("vaddsd", "vaddpd")))
""".replace("TIERS", "('0', '1')" if LLVM else "('0',)")


def run(program, **environment):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG, env={**os.environ, **environment})
    return done.stdout.split() or done.stderr


@pytest.fixture(scope="module")
def native():
    return run(PROGRAM, TIERUP_CPU="native")


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_gives_the_same_numbers_with_its_own_instructions(level, native):
    same, loop, kernels, wide = run(PROGRAM, TIERUP_CPU=level)
    assert [same, loop, kernels] == native[:3]
    assert (wide == "True") == (level != "x86-64-v2")


def test_an_unknown_processor_is_refused():
    assert "TIERUP_CPU cannot be 'i386': known values are x86-64-v2, x86-64-v3, x86-64-v4, native" in run("import tierup", TIERUP_CPU="i386")


def test_the_processor_can_be_chosen_while_the_program_runs():
    before = tierup.config.cpu
    try:
        for level in LEVELS:
            tierup.config.cpu = level
            assert tierup.config.cpu == level and tierup._tierup.uses_cpu(level)
            assert tierup.njit(lambda a: a.sum())(__import__("numpy").arange(100.0)) == 4950
        with pytest.raises(ValueError, match="tierup.config.cpu cannot be 'x87'"):
            tierup.config.cpu = "x87"
    finally:
        tierup.config.cpu = before
