"""Functions that are made and dropped leave little behind."""

import subprocess
import sys

import pytest
from harness.processes import HANG

MAKE = """
import gc, os
from tierup import njit

def resident():
    with open("/proc/self/smaps_rollup") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("Anonymous"))

def make(count):
    for k in range(count):
        space = {{}}
        exec({text!r}, space)
        njit(space["f"])(3, 4)
    gc.collect()

make(600)
before = resident()
make(1200)
print((resident() - before) // 1200)
"""

KINDS = {
    "plain": ("def f(a, b):\n    return a * b\n", 300),
    "defines functions inside": ("def f(a, b):\n    def g(x):\n        if x > 3:\n            return x * b\n        return x + b\n    h = lambda y: y + g(y)\n    return g(a) + h(b)\n", 600),
    "generator": ("def g(n):\n    for i in range(n):\n        yield i\n\ndef f(a, b):\n    s = b\n    for i in g(a):\n        s += i\n    return s\n", 1200),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_dropped_functions_comes_back(kind):
    text, limit = KINDS[kind]
    done = subprocess.run([sys.executable, "-c", MAKE.format(text=text)], capture_output=True, text=True, timeout=HANG, env={"TIERUP_CACHE": "0", "TIERUP_TIER": "0", "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < limit, f"{done.stdout.strip()} bytes a function"
