"""Every benchmark program gives Python's answer on its small arguments: a benchmark of a wrong answer says nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from harness.processes import HANG

BENCHES = Path(__file__).resolve().parents[2] / "benches"
PROGRAMS = sorted(p.stem for p in (BENCHES / "programs").glob("*.py"))
ARRAYS = sorted(p.stem for p in (BENCHES / "arrays").glob("*.py"))


def answers(side, folder="programs", **environment):
    env = {**os.environ, "BENCH_SIDE": side, **environment}
    done = subprocess.run([sys.executable, str(BENCHES / "child.py"), "answers", folder], capture_output=True, text=True, timeout=HANG, env=env)
    lines = [line.split(" ", 1) for line in done.stdout.splitlines() if line != "{}"]
    return {name: json.loads(rest) if rest else f"the process died: {done.stderr[-300:]}" for name, rest in (line if len(line) == 2 else (line[0], "") for line in lines)}


@pytest.fixture(scope="module")
def both():
    pytest.importorskip("tierup")
    return answers("python"), answers("tierup")


@pytest.fixture(scope="module")
def arrays():
    pytest.importorskip("tierup")
    return {"python": answers("python", "arrays"), "serial": answers("tierup", "arrays"), "parallel": answers("tierup", "arrays", BENCH_PARALLEL="1")}


def test_there_are_enough_programs():
    assert len(ARRAYS) >= 15
    assert len(PROGRAMS) >= 25 and set(PROGRAMS) == set(json.loads((BENCHES / "vectorised.json").read_text()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_answer(both, name):
    python, tierup = (side.get(name, "not reached") for side in both)
    assert not isinstance(python, str), python
    assert not isinstance(tierup, str), tierup
    assert np.allclose(np.ravel(python), np.ravel(tierup), rtol=1e-12, atol=0, equal_nan=True)


@pytest.mark.parametrize("kind", ["serial", "parallel"])
@pytest.mark.parametrize("name", ARRAYS)
def test_answer_of_array_program(arrays, name, kind):
    python, tierup = (arrays[side].get(name, "not reached") for side in ("python", kind))
    assert not isinstance(python, str), python
    assert not isinstance(tierup, str), tierup
    rtol = 0.2 if name == "a_monte_carlo" else 1e-9  # two streams of random numbers
    assert np.allclose(np.ravel(python), np.ravel(tierup), rtol=rtol, atol=1e-12, equal_nan=True)
