"""Every benchmark program gives Python's answer on its small arguments: a benchmark of a wrong answer says nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHES = Path(__file__).resolve().parents[2] / "benches"
PROGRAMS = sorted(p.stem for p in (BENCHES / "programs").glob("*.py"))


def answers(side):
    done = subprocess.run([sys.executable, str(BENCHES / "child.py"), "answers"], capture_output=True, text=True, timeout=120, env={**os.environ, "BENCH_SIDE": side})
    lines = [line.split(" ", 1) for line in done.stdout.splitlines() if line != "{}"]
    return {name: json.loads(rest) if rest else f"the process died: {done.stderr[-300:]}" for name, rest in (line if len(line) == 2 else (line[0], "") for line in lines)}


@pytest.fixture(scope="module")
def both():
    pytest.importorskip("tierup")
    return answers("python"), answers("tierup")


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 25 and set(PROGRAMS) == set(json.loads((BENCHES / "vectorised.json").read_text()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_answer(both, name):
    python, tierup = (side.get(name, "not reached") for side in both)
    assert not isinstance(python, str), python
    assert not isinstance(tierup, str), tierup
    assert np.allclose(np.ravel(python), np.ravel(tierup), rtol=1e-12, atol=0, equal_nan=True)
