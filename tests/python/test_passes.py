"""Passes have timers, dumps and fuel, and a compilation can be stopped between them."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("tierup")

SMALL = """
import sys
import numpy as np
from tierup import njit
@njit
def f(a, n):
    s = 0.0
    for i in range(n):
        s += [a[i] * k for k in range(3)][1]
    return s
print(f(np.arange(5.0), 5))
"""


def run(program, *args, timeout=60, **env):
    return subprocess.run([sys.executable, "-c", program, *args], capture_output=True, text=True, timeout=timeout, env={**os.environ, **env})


def test_a_trace_has_the_time_of_every_pass():
    done = run(SMALL, TIERUP_TRACE="1", TIERUP_TIER="0")
    assert done.stdout == "10.0\n", done.stderr
    line = next(text for text in done.stderr.splitlines() if text.startswith("tierup: passes, in milliseconds: "))
    names = {part.split()[0] for part in line.split(": ", 2)[2].split(", ")}
    assert {"cleanup", "inline-closures", "narrow", "inline", "fold", "licm", "range", "dce"} <= names


def test_dumps_show_what_each_pass_changed():
    done = run(SMALL, TIERUP_DUMP="passes", TIERUP_TIER="0")
    assert done.stdout == "10.0\n"
    assert "tierup: f after inline-closures\nfunc " in done.stderr and "after licm\nfunc @f.0" in done.stderr and "narrow changed nothing in f\n" in done.stderr


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
    # The next call compiles anew.
    g = njit(make(3))
    print("stopped", g(a, 2.0) == make(3)(a, 2.0))
"""


@pytest.mark.parametrize("wait, decorator", [(0.1, "njit"), (2.0, "jit"), (5.0, "njit")])
def test_ctrl_c_stops_a_long_compilation(wait, decorator):
    child = subprocess.Popen([sys.executable, "-c", LARGE, decorator], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TIERUP_TIER": "0"})
    try:
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        time.sleep(wait)
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    # The end of the process waits for what the back end is in the middle of, and a busy machine for its turn.
    assert out.strip() in ("stopped True", "finished") and time.monotonic() - start < 4, (out, err[-1000:], time.monotonic() - start)
    assert wait > 3 or out.strip() != "finished", "this was to be stopped"
