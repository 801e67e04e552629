"""Runs mdtest blocks, pages of the guide, generated cases and whole programs in a process that may die: reads one JSON request a line, answers with one JSON line.

The parent (`parent.py`) starts it again when compiled code crashed or hung, so one bad block is one failed test.
"""

import faulthandler
import json
import os
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "python")]

from harness import generated, guide, mdtest, programs  # noqa: E402


def run_mdtest(job, capture, cache):
    path = Path(job["file"])
    if path not in cache:
        cache[path] = mdtest.parse(path)
    return mdtest.run_block(cache[path][job["index"]], job["tier"], capture)


def run_numpy(job):
    from numpy_cases import CASES
    if job["tier"] == "cpython":
        return generated.run(CASES[job["index"]], lambda f: f, "cpython"), {}
    import tierup
    mdtest.set_tier(job["tier"])
    return generated.run(CASES[job["index"]], tierup.njit, job["tier"]), {}


def run_program(job, capture):
    if isinstance(job["tier"], list):
        return programs.run_many(job["source"], job["name"], job["tier"], capture), {}
    return programs.run(job["source"], job["name"], job["tier"], capture), {}


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    faulthandler.enable()
    capture = mdtest.Capture()
    cache = {}
    for request in sys.stdin:
        job = json.loads(request)
        try:
            if job["suite"] == "mdtest":
                failures, blessed = run_mdtest(job, capture, cache)
            elif job["suite"] == "guide":
                failures, blessed = guide.run_page(Path(job["file"]), job["tier"], capture), {}
            elif job["suite"] == "numpy":
                failures, blessed = run_numpy(job)
            else:
                failures, blessed = run_program(job, capture)
        except mdtest.Failure as e:
            failures, blessed = [str(e)], {}
        capture.take()
        answers.write(json.dumps({"failures": failures, "blessed": blessed}) + "\n")


main()
