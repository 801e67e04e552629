"""What the benchmarks share whose sides (Tierup, CPython, and Numba where there is one) run in processes of their own, one after the other in every round."""

import argparse
import json
import statistics
import subprocess
import sys


def decorator(side):
    """The `njit` of a side; None for CPython."""
    if side == "tierup":
        from tierup import njit
    elif side == "numba":
        from numba import njit
    else:
        njit = None
    return njit


def medians(doc, file, run):
    """Milliseconds by name and side. `run(side, size)` gives those of one side by name; it is called in the processes that this starts, which end with it."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--numba", help="a Python with Numba")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--size", type=int, default=1_000_000)
    p.add_argument("--side", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.side:
        print(json.dumps(run(a.side, a.size)))
        sys.exit()
    sides = {"tierup": sys.executable, "cpython": sys.executable}
    if a.numba:
        sides["numba"] = a.numba
    seen = {}
    for _ in range(a.rounds):
        for side, python in sides.items():
            out = subprocess.run([python, file, "--side", side, "--size", str(a.size)], check=True, capture_output=True, text=True)
            for name, t in json.loads(out.stdout).items():
                seen.setdefault(name, {}).setdefault(side, []).append(t)
    return {name: {side: statistics.median(t) for side, t in times.items()} for name, times in seen.items()}
