"""Passes have timers, dumps and fuel, and a compilation can be stopped between them."""

import os
import subprocess
import sys

import pytest
from harness.processes import HANG, interrupted

pytest.importorskip("tierup")

SMALL = """
import sys
import numpy as np
from tierup import njit
@njit
def f(a, n):
    s = 0.0
    for i in range(n):
        s += (lambda k: k * 1.0)(a[i])
    return s
print(f(np.arange(5.0), 5))
"""


def run(program, *args, timeout=HANG, **env):
    return subprocess.run([sys.executable, "-c", program, *args], capture_output=True, text=True, timeout=timeout, env={**os.environ, **env})


def test_a_trace_has_the_time_of_every_pass():
    done = run(SMALL, TIERUP_TRACE="1", TIERUP_TIER="0")
    assert done.stdout == "10.0\n", done.stderr
    line = next(text for text in done.stderr.splitlines() if text.startswith("tierup: passes, in milliseconds: "))
    names = {part.split()[0] for part in line.split(": ", 2)[2].split(", ")}
    assert {"cleanup", "inline-closures", "type-narrowing", "inline", "fold", "licm", "range", "dce"} <= names


def test_dumps_show_what_each_pass_changed():
    done = run(SMALL, TIERUP_DUMP="passes", TIERUP_TIER="0")
    assert done.stdout == "10.0\n"
    assert "tierup: f after inline-closures\nfunc " in done.stderr and "after licm\nfunc @f.0" in done.stderr and "type-narrowing changed nothing in f\n" in done.stderr


@pytest.mark.parametrize("level, shows", {"bytecode": "code \"f\"", "cfg": "b0 (", "ssa": "func", "typed": "float64", "lir": "func @f.0", "clif": "function", "ptx": ".visible .entry"}.items())
def test_every_level_can_be_dumped(level, shows):
    from harness.build import LLVM
    if level == "ptx" and not LLVM:
        pytest.skip("needs LLVM")
    done = run("import numpy as np\nfrom tierup import njit\n@njit\ndef f(a, n):\n    for i in range(n):\n        a[i] = a[i] * 2 + np.float64(n)\nf(np.ones(5), 5)", TIERUP_DUMP=level, TIERUP_TIER="0")
    assert f"tierup: {level} of f" in done.stderr and shows in done.stderr, done.stdout + done.stderr


def test_results_do_not_depend_on_fuel_and_the_last_pass_is_named():
    for units in (0, 1, 5, 13, 10000):
        done = run(SMALL, TIERUP_FUEL=str(units), TIERUP_TIER="0")
        assert done.stdout == "10.0\n", (units, done.stderr)
        named = [text for text in done.stderr.splitlines() if text.startswith("tierup: the last unit of fuel goes to ")]
        assert len(named) == (units not in (0, 10000)), (units, done.stderr)
    assert run(SMALL, TIERUP_FUEL="-1").stderr.rstrip().endswith("TIERUP_FUEL cannot be '-1': it must be a whole number from 0 on")


def test_fuel_can_be_set_while_the_program_runs():
    import tierup
    before = tierup.config.fuel
    try:
        tierup.config.fuel = 3
        assert tierup.njit(lambda n: sum(range(n)))(5) == 10
        with pytest.raises(ValueError, match="tierup.config.fuel cannot be 'much'"):
            tierup.config.fuel = "much"
    finally:
        tierup.config.fuel = before
    assert tierup.config.fuel is None


# Functions of thousands of lines: every phase takes a second or more.
LARGE = """
import sys
import numpy as np
from tierup import njit, jit
def make(n):
    lines = ["def f(a, x):", "    s = 0.0"]
    for i in range(n):
        lines += [f"    if x > {i}.5:", f"        s += x * {i} + (a * {i}).sum()", "    else:", f"        s -= a[{i % 5}]"]
    space = {}
    exec("\\n".join([*lines, "    return s"]), space)
    return space["f"]
f = (njit if sys.argv[1] == "njit" else jit)(make(4000))
a = np.ones(10)
print("ready", flush=True)
try:
    f(a, 2.0)
    print("finished")
except KeyboardInterrupt as e:
    assert not f.signatures, "the compilation went on to its end"
    # The next call compiles anew.
    g = njit(make(3))
    print("stopped", g(a, 2.0) == make(3)(a, 2.0))
"""


@pytest.mark.parametrize("after, decorator", [(0.1, "njit"), (1.5, "jit"), (3.5, "njit")])
def test_ctrl_c_stops_a_long_compilation(after, decorator):
    out, err = interrupted(LARGE, decorator, after=after, TIERUP_TIER="0")
    assert out == "stopped True" or after > 3 and out == "finished", out + err[-1000:]
