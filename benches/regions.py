"""View of the harness over what a parallel loop costs: entering and leaving it while the other threads look for work and while they sleep, and its speed-up."""

import os
import statistics
import time
from time import perf_counter

# Turns of the inner loop for each of 1000 iterations; 0 for a plain sum.
WORKS = (0, 20, 100, 1000, 10_000)
PAUSE = 0.02


def views():
    """What `--views` may name."""
    return {"regions": regions}


def regions(session):
    """What a region costs is what it takes longer than the work shared among the threads, or than all of it where it is not worth sharing. After a pause
    the processor's caches are cold for any loop: what that costs the serial one is not counted."""
    from harness import alternating, median
    threads = min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    print(f"loops over 1000 iterations, {threads} threads, µs     serial after a pause   tierup: hot  its cost    parked  its cost    numba: hot    parked", flush=True)
    for turns in WORKS:
        def measure():
            environment = {"TIERUP_NUM_THREADS": threads, "NUMBA_NUM_THREADS": threads, "TIERUP_TIER": "1"}
            found = alternating({side: (side, {k: str(v) for k, v in environment.items()}) for side in ("tierup", "numba")}, session.options.rounds, "region", turns)
            row = {f"{side}_{key}_us": median(rows, key) for side, rows in found.items() for key in ("serial", "cold", "hot", "parked")}
            ours = lambda key: row[f"tierup_{key}_us"]
            for key, cold in (("hot", 0.0), ("parked", max(0.0, ours("cold") - ours("serial")))):
                took = ours(key) - cold
                row[f"cost_{key}_us"] = took - (ours("serial") if took > 0.75 * ours("serial") else ours("serial") / threads)
            return row
        row = session.attempt("regions", f"{turns} turns", measure)
        if row:
            print(f"  {turns:>6} turns {row['tierup_serial_us']:>32.1f} {row['tierup_cold_us']:>15.1f} {row['tierup_hot_us']:>14.1f} {row['cost_hot_us']:>9.1f} {row['tierup_parked_us']:>9.1f} {row['cost_parked_us']:>9.1f} "
                  f"{row['numba_hot_us']:>13.1f} {row['numba_parked_us']:>9.1f}   speed-up {row['tierup_serial_us'] / row['tierup_hot_us']:.2f}", flush=True)


def one_region(turns):
    """Medians of one side, microseconds: the loop in series and in parallel, one call after the other and after pauses."""
    import numpy as np
    if os.environ["BENCH_SIDE"] == "numba":
        from numba import njit, prange
    else:
        from tierup import njit, prange

    def work(x, turns):
        t = 0.0
        for i in prange(len(x)):
            v = x[i]
            for _ in range(turns):
                v = v * 0.999 + 0.001
            t += v
        return t

    serial, parallel, x = njit(work), njit(parallel=True)(work), np.ones(1000)

    def median(f, calls, pause=0.0):
        times = []
        for _ in range(calls):
            if pause:
                time.sleep(pause)
            a = perf_counter()
            f(x, turns)
            times.append(perf_counter() - a)
        return statistics.median(times) * 1e6

    for f in (serial, parallel):
        f(x, turns)
    once = median(serial, 10)
    calls = max(20, min(20_000, int(2e5 / once)))
    for f in (serial, parallel):
        median(f, calls)
    return {"serial": median(serial, calls), "cold": median(serial, 40, PAUSE), "hot": median(parallel, calls), "parked": median(parallel, 40, PAUSE)}
