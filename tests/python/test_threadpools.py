"""Threads of parallel loops in processes that have a share of the machine: what the environment says, and what `threadpoolctl` knows."""

import os
import subprocess
import sys

import pytest

from harness.build import needs

pytest.importorskip("tierup")


def ran(program, **environment):
    clean = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "TIERUP_NUM_THREADS")}
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={**clean, **environment}).stdout


def threads(**environment):
    return int(ran("import tierup; print(tierup.config.num_threads)", **environment))


def test_as_many_as_the_process_may_use():
    mine = len(os.sched_getaffinity(0))
    assert threads() == mine
    assert int(ran(f"import os; os.sched_setaffinity(0, {{{min(os.sched_getaffinity(0))}}}); import tierup; print(tierup.get_num_threads())")) == 1


@pytest.mark.parametrize("text, expected", [("1", 1), ("3", 3), ("2,4", 2), (" 5 ", 5), ("0", None), ("many", None), ("-1", None), ("", None)])
def test_the_environments_word_for_all_libraries(text, expected):
    assert threads(OMP_NUM_THREADS=text) == (expected or len(os.sched_getaffinity(0)))


def test_our_own_setting_goes_first():
    assert threads(OMP_NUM_THREADS="1", TIERUP_NUM_THREADS="3") == 3


PARALLEL = "@tierup.njit(parallel=True)\ndef f(x):\n    return x + 1\n"
KNOWN = """
found = [p for p in threadpoolctl.threadpool_info() if p["user_api"] == "tierup"]
assert [(p["num_threads"], p["version"]) for p in found] == [(4, tierup.__version__)], found
with threadpoolctl.threadpool_limits(2):
    assert tierup.get_num_threads() == 2
assert tierup.get_num_threads() == 4
with threadpoolctl.threadpool_limits(1, user_api="blas"):
    assert tierup.get_num_threads() == 4
with threadpoolctl.threadpool_limits({"tierup": 99}):
    assert tierup.get_num_threads() == 4
print("known")
"""


@needs("threadpoolctl")
@pytest.mark.parametrize("order", [["import threadpoolctl", "import tierup", PARALLEL], ["import tierup", PARALLEL, "import threadpoolctl"], ["import tierup", PARALLEL, PARALLEL, "import json", "import threadpoolctl"]])
def test_threadpoolctl_knows_the_threads(order):
    assert ran("\n".join([*order, KNOWN]), TIERUP_NUM_THREADS="4") == "known\n"


@needs("threadpoolctl")
def test_nobody_waits_for_threadpoolctl_without_parallel_code():
    program = "import sys, tierup\n@tierup.njit\ndef f(x):\n    return x\nf(1)\nprint('tierup._threadpools' in sys.modules, len([f for f in sys.meta_path if 'tierup' in getattr(f, '__module__', '')]))"
    assert ran(program) == "False 0\n"
