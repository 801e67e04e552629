"""Views of the harness over programs on whole arrays (`arrays/`): steady state, serial and with `parallel=True`, against Numba; first calls, parallel against serial."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent


def views():
    """What `--views` may name."""
    return {"arrays": arrays, "arrays-first": first_calls}


def names():
    return sorted(p.stem for p in (HERE / "arrays").glob("*.py"))


def arrays(session):
    from harness import alternating, check_values, median
    cores = str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    for kind, environment in (("serial", {}), ("parallel", {"BENCH_PARALLEL": "1", "NUMBA_NUM_THREADS": cores})):
        print(f"array programs, {kind}, ms{'':<18}tierup      numba    tierup/numba", flush=True)
        ratios = []
        for name in [n for n in names() if n in session.options.programs] or names():
            def measure():
                sides = {"tierup": ("tierup", {**environment, "TIERUP_TIER": "1"}), "numba": ("numba", environment)}
                found = alternating(sides, session.options.steady_rounds, "steady", name, session.options.seconds)
                check_values(name, found)
                return {"tierup_ms": median(found["tierup"]), "numba_ms": median(found["numba"])}
            row = session.attempt("arrays", f"{name} {kind}", measure)
            if row:
                row["slowdown"] = row["tierup_ms"] / row["numba_ms"]
                ratios.append(row["slowdown"])
                print(f"  {name:<30} {row['tierup_ms']:>12.3f} {row['numba_ms']:>10.3f} {row['slowdown']:>9.2f}x", flush=True)
        session.summary(f"array programs, {kind}", "geometric mean of our time over Numba's (less is better)", ratios)


def first_calls(session):
    """First calls in fresh processes without a code cache."""
    from harness import alternating, median
    print(f"first call of array programs, ms{'':<12}serial   parallel   parallel/serial", flush=True)
    ratios = []
    for name in [n for n in names() if n in session.options.programs] or names():
        def measure():
            found = alternating({"serial": ("tierup", {}), "parallel": ("tierup", {"BENCH_PARALLEL": "1"})}, session.options.rounds, "first", name)
            return {f"{side}_ms": median(rows) for side, rows in found.items()}
        row = session.attempt("arrays-first", name, measure)
        if row:
            row["slowdown"] = row["parallel_ms"] / row["serial_ms"]
            ratios.append(row["slowdown"])
            print(f"  {name:<30} {row['serial_ms']:>10.2f} {row['parallel_ms']:>10.2f} {row['slowdown']:>9.2f}x", flush=True)
    session.summary("first calls of array programs", "geometric mean of parallel over serial (less is better)", ratios)
