"""Runs mdtest blocks in a process that may die: reads one JSON request a line, answers with one JSON line.

The parent (`conftest.py`) starts it again when compiled code crashed or hung, so one bad block is one failed test.
"""

import json
import os
import sys
from pathlib import Path


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import faulthandler
    faulthandler.enable()
    from harness import mdtest
    capture = mdtest.Capture()
    cache = {}
    for request in sys.stdin:
        job = json.loads(request)
        path = Path(job["file"])
        if path not in cache:
            cache[path] = mdtest.parse(path)
        try:
            failures, blessed = mdtest.run_block(cache[path][job["index"]], job["tier"], capture)
        except mdtest.Failure as e:
            failures, blessed = [str(e)], {}
        capture.take()
        answers.write(json.dumps({"failures": failures, "blessed": blessed}) + "\n")


main()
