"""A short run of the stress test of promotion; `tests/stress/promotion.py --seconds 600` is the long one, which also looks at memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import sampling
from harness.build import needs_llvm
from harness.processes import HANG

pytest.importorskip("tierup")
SCRIPT = Path(__file__).resolve().parents[1] / "stress" / "promotion.py"


@needs_llvm
@pytest.mark.parametrize("environment", [{}, {"TIERUP_OSR": "stress"}], ids=["default", "osr"])
def test_sixteen_threads_call_compile_promote_and_drop(environment):
    seconds = 60 if sampling.ALL else 5
    done = subprocess.run([sys.executable, str(SCRIPT), "--seconds", str(seconds), "--functions", "60", "--slack", "1000"], capture_output=True, text=True, timeout=HANG,
                          env={**os.environ, **environment})
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    assert int(done.stdout.split(" functions made, ")[1].split()[0]) > 0, "nothing was promoted"
