"""Reductions of every kind give the same bits at every run and at any number of threads.

    python tests/stress/bits.py --runs 100

Runs a program so often in processes with 1 to 8 threads each, in each tier, and compares what comes out to the last bit. Ends with status 1 where two differ.
"""

import argparse
import os
import subprocess
import sys

PROGRAM = """
import hashlib, math, sys
import numpy as np
from tierup import njit, prange

@njit(parallel=True)
def sums(a, where, n):
    s, p, m, at = 0.0, 1.0, a[0], -1
    total, h, w, best = np.zeros(7), np.zeros(50), np.zeros((50, 3)), np.zeros(50)
    c, single = 0j, np.float32(0)
    xs, names = [], ""
    for i in prange(n):
        j = i % len(a)
        t = math.sin(a[j] * 1e3) * 10.0 ** (i % 9 - 4)
        for k in range(i % 50):
            t += 1e-3 / (k + 1)
        s += t
        p *= 1.0 + t * 1e-6
        c += complex(t, -t)
        single += np.float32(t)
        if t > m:
            m, at = t, i
        total += a[:7] * t
        h[where[j]] += t
        w[where[j], i % 3] -= t * 0.1
        best[where[j]] = max(best[where[j]], t)
        if i % 97 == 0:
            xs.append(t)
            names += str(i)
    return s, p, m, at, total, h, w, best, c, single, xs, names

a = np.linspace(0.1, 1.9, 1001)
where = (a * 25).astype(np.int64)
for run in range(RUNS):
    text = ""
    for n in (1, 5, 1000, 30000):
        text += repr([x.tobytes() if isinstance(x, np.ndarray) else x for x in sums(a, where, n)])
    print(hashlib.sha256(text.encode()).hexdigest())
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    seen = {}
    for tier in ("auto", "0", "1"):
        for threads in range(1, 9):
            environment = {**os.environ, "TIERUP_NUM_THREADS": str(threads), "TIERUP_TIER": tier}
            done = subprocess.run([sys.executable, "-c", PROGRAM.replace("RUNS", str(options.runs))], capture_output=True, text=True, env=environment)
            if done.returncode:
                print(done.stderr[-2000:])
                return 1
            for line in done.stdout.split():
                seen.setdefault(line, []).append((tier, threads))
        print(f"tier {tier}: {len(seen)} different results in {sum(map(len, seen.values()))} runs", flush=True)
    if len(seen) > 1:
        for line, places in seen.items():
            print(line, len(places), sorted(set(places)))
    return len(seen) > 1


if __name__ == "__main__":
    sys.exit(main())
