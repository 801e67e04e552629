"""Asks gdb and perf themselves about compiled code, in both tiers: `make test-debuggers`.

    python tests/real/debuggers.py [gdb] [perf]

Needs gdb and perf (Debian: `apt-get install gdb linux-perf`); what is missing is named and is a failure. perf samples by the clock, so that it needs no counters of
the processor.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HANG = 600
TIERS = ["0", *["1"] * (ROOT / "pybind/python/tierup/libtierup_tier1.so").exists()]

PROGRAM = """\
import sys
import numpy as np
from tierup import njit

@njit
def twice(x):
    y = x * 2.0
    return y + np.sqrt(x)  # line 8

@njit(debug=True)
def total(a):
    s = 0.0
    for v in a:
        s += twice(v)  # line 14
        if v > 1e9:
            raise ValueError("big")
    return s

a = np.arange(1000.0)
print(sum(total(a) for _ in range(int(sys.argv[1]))))
"""

GDB = """\
set pagination off
set breakpoint pending on
set debuginfod enabled off
break program.py:8
run program.py 2
backtrace
up
info line
delete
break program.py:17
continue
backtrace 1
next
delete
continue
"""


def run(command, folder, **environment):
    environment = {**os.environ, "TIERUP_CACHE": "0", "PYTHONPATH": str(ROOT / "pybind/python"), **environment}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=HANG)


def need(text, where, what):
    if what not in text:
        sys.exit(f"{where}: there is no {what!r} in\n{text[:4000]}")


def gdb(folder, tier):
    """Breakpoints by lines, also of what was inlined; frames above compiled code are found, Python's among them; the program goes on to its end."""
    (folder / "commands").write_text(GDB)
    done = run(["gdb", "-q", "-nx", "-batch", "-x", "commands", sys.executable], folder, TIERUP_TIER=tier)
    text = done.stdout
    for what in ("twice () at", "program.py:8", "#1  ", "total () at", "program.py:14", 'Line 14 of "', "program.py:17", "_PyEval_EvalFrameDefault", "exited normally"):
        need(text, f"gdb, tier {tier}", what)


def perf(folder, tier):
    """Samples by line of the source. Chains of calls are not looked at: Python and the extension are built without frame pointers, so that few samples have one."""
    record = ["perf", "record", "-q", "-k", "mono", "-e", "cpu-clock", "-o", "raw", sys.executable, "program.py", "100000"]
    done = run(record, folder, TIERUP_TIER=tier, TIERUP_PERF_DUMP=str(folder))
    if done.returncode:
        sys.exit(f"perf record: {done.stderr}")
    inject = run(["perf", "inject", "--jit", "-i", "raw", "-o", "data"], folder)
    if inject.returncode:
        sys.exit(f"perf inject: {inject.stderr}")
    by_line = run(["perf", "report", "-i", "data", "--no-children", "--stdio", "-g", "none", "-s", "sym,srcline"], folder).stdout
    need(by_line, f"perf report, tier {tier}", f"total ({folder}/program.py:1")
    lines = {row.rsplit(None, 1)[-1] for row in by_line.splitlines() if f"[tier {tier}]" in row}
    if not lines & {f"program.py:{n}" for n in (8, 13, 14, 15)}:
        sys.exit(f"perf report, tier {tier}: no lines of the loop in\n{by_line[:4000]}")


def main():
    wanted = sys.argv[1:] or ["gdb", "perf"]
    missing = [tool for tool in wanted if shutil.which(tool) is None]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}")
    for tool in wanted:
        for tier in TIERS:
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "program.py").write_text(PROGRAM)
                {"gdb": gdb, "perf": perf}[tool](Path(folder), tier)
            print(f"{tool}, tier {tier}: as it should be", flush=True)


if __name__ == "__main__":
    main()
