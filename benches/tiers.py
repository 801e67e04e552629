"""Views of the harness about tiers: total time against work, how long a switch takes and what it takes from the caller, steady state against C."""

import json
import math
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from amounts import AMOUNTS

HERE = Path(__file__).resolve().parent
# What the view `curve` allows, and at how many of its points: factor, milliseconds, share.
ALLOWED = {"curve": (1.15, 3.0, 0.90), "curve1": (1.3, 3.0, 0.85)}
# The threads of NumPy's BLAS wait for work at full speed for some 50 ms after the import, and on two processors take one of them for as long.
NO_SPINNING = {"OPENBLAS_NUM_THREADS": "1"}
# Numba's total counts up to here, milliseconds.
NUMBA_COUNTS = 10_000.0
# A point is measured more than once where it is shorter than this, milliseconds, or nearer to a limit than this factor.
SHORT = 500.0
NEAR = 1.1


def views():
    """What `--views` may name."""
    return {"curve": curve, "curve1": curve1, "switch": switch, "promotion": promotion, "c": against_c, "weights": weights}


def sides_of_curve(directory):
    """Every run has a code cache of its own that is empty, for writing it is part of what we do."""
    cold = {"TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": directory, **NO_SPINNING}
    return {"tierup": ("tierup", cold), "tier0": ("tierup", {**cold, "TIERUP_TIER": "0"}), "tier1": ("tierup", {**cold, "TIERUP_TIER": "1"}), "numba": ("numba", NO_SPINNING)}


def point(session, view, name, s, prefix):
    """Median total of each side, in turn, in fresh processes."""
    from harness import Failed, child
    found = {}
    # On a core of its own a process takes as long as its threads take together, so on a busy machine processor time says what an idle one would.
    clock = "cpu_ms" if session.options.busy and prefix else "ms"
    medians = lambda: {side: statistics.median(r[clock] for r in rows) for side, rows in found.items()}
    with tempfile.TemporaryDirectory(prefix="tierup-bench-curve-") as directory:
        sides = sides_of_curve(directory)

        def measure(side):
            which, environment = sides[side]
            shutil.rmtree(directory, ignore_errors=True)
            found.setdefault(side, []).append(child(which, "amount", name, s, prefix=prefix, **environment))

        for round in range(session.options.curve_rounds):
            for side in sides:
                if not round or (side != "numba" and found[side][0]["ms"] <= SHORT): measure(side)
        # What one measurement decides by less than these differ among themselves is measured again, all sides of it.
        while min(map(len, found.values())) < session.options.curve_rounds and is_near(view, medians()):
            for side in sides: measure(side)
    import numpy as np
    values = {side: np.ravel(rows[0]["value"]) for side, rows in found.items()}
    for side in ("tier0", "tier1"):
        if not np.array_equal(values["tierup"], values[side], equal_nan=True): raise Failed(f"{name} x {s:g}: {values['tierup']} by default, {values[side]} in {side}")
    if not np.allclose(values["tierup"], values["numba"], rtol=1e-6, atol=1e-9): raise Failed(f"{name} x {s:g}: {values['tierup']}, Numba {values['numba']}")
    return {f"{side}_ms": ms for side, ms in medians().items()}


def limit(view, ms):
    """What the better of the two tiers allows, milliseconds."""
    factor, slack, _ = ALLOWED[view]
    return factor * min(ms["tier0"], ms["tier1"]) + slack


def is_near(view, ms):
    """Whether noise may have decided on which side of a limit a point lies."""
    near = lambda a, b: max(a, b) < NEAR * min(a, b)
    return near(ms["tierup"], limit(view, ms)) or (ms["numba"] < NEAR * NUMBA_COUNTS and near(ms["tierup"], ms["numba"]))


def curve(session):
    total_against_work(session, "curve", [])


def curve1(session):
    total_against_work(session, "curve1", ["taskset", "-c", "0"])


def total_against_work(session, view, prefix):
    factor, slack, share = ALLOWED[view]
    names = [n for n in AMOUNTS if n in session.options.programs] or list(AMOUNTS)
    steps = session.options.curve_steps
    amounts = [10 ** (6 * k / steps) for k in range(steps + 1)]
    print(f"total time against work, ms{' (one core)' if prefix else '':<22}  tierup     tier 0     tier 1      numba   over the better", flush=True)
    good, ahead, counted, points = 0, 0, 0, 0
    for name in names:
        for s in amounts:
            row = session.attempt(view, f"{name} x {s:.3g}", lambda: point(session, view, name, s, prefix))
            if not row: continue
            row["over"] = row["tierup_ms"] / min(row["tier0_ms"], row["tier1_ms"])
            row["good"] = row["tierup_ms"] <= limit(view, {side: row[f"{side}_ms"] for side in ("tier0", "tier1")})
            row["ahead"] = row["tierup_ms"] < row["numba_ms"] or row["numba_ms"] >= NUMBA_COUNTS
            points, good, counted, ahead = points + 1, good + row["good"], counted + (row["numba_ms"] < NUMBA_COUNTS), ahead + (row["ahead"] and row["numba_ms"] < NUMBA_COUNTS)
            note = ("" if row["good"] else "  SLOW") + ("" if row["ahead"] else "  BEHIND NUMBA")
            print(f"  {name:<15} x {s:<9.3g} {row['tierup_ms']:>21.2f} {row['tier0_ms']:>10.2f} {row['tier1_ms']:>10.2f} {row['numba_ms']:>10.1f} {row['over']:>9.2f}{note}", flush=True)
    if not points: return
    print(f"  {view}: {good} of {points} points ({good / points:.1%}) within {factor} x the better of tier 0 and tier 1 + {slack:g} ms (wanted: {share:.0%}); "
          f"ahead of Numba at {ahead} of {counted} where it takes less than {NUMBA_COUNTS / 1e3:g} s", flush=True)
    summary = session.report.setdefault("summary", {})
    summary[f"{view}, within"] = {"text": f"share of points within {factor} x the better of tier 0 and tier 1 + {slack:g} ms; {share} is wanted", "value": good / points, "programs": len(names)}
    summary[f"{view}, ahead of Numba"] = {"text": "share of points where Numba takes less than 10 s", "value": ahead / max(counted, 1), "programs": len(names)}


def switch(session):
    """When a loop that is running runs in tier 1, nothing cached and LLVM's library not yet loaded."""
    print("a running loop goes over (30 lines, cold), ms after the beginning of the call", flush=True)
    from harness import Failed, child, median

    def measure():
        rows = []
        for _ in range(max(session.options.rounds, 3)):
            with tempfile.TemporaryDirectory(prefix="tierup-bench-switch-") as directory:
                rows.append(child("tierup", "switch", 20_000_000, TIERUP_CACHE="1", TIERUP_CACHE_DIR=directory, TIERUP_TRACE="json", TIERUP_TRACE_FILE="/dev/null", **NO_SPINNING))
        if any(r["ms"] is None for r in rows): raise Failed("switch: the loop never went over")
        spent = {k: statistics.median(r["spent_ms"].get(k, 0.0) for r in rows) for k in rows[0]["spent_ms"]}
        return {"tierup_ms": median(rows), "slowest_ms": max(r["ms"] for r in rows), **{f"{k}, ms": v for k, v in spent.items()}}

    row = session.attempt("switch", "30 lines", measure)
    if row:
        print("  " + "   ".join(f"{k} {v:.2f}" for k, v in row.items()), flush=True)


def promotion(session):
    """Processor time on the calling thread, beside runs that stay in tier 0: the rest is what clocks, interrupts and page faults cost."""
    print("longest gap that one promotion or switch makes on the calling thread, ms of processor time", flush=True)
    from harness import Failed, alternating, median

    def measure():
        found = alternating({"tierup": ("tierup", {}), "tier0": ("tierup", {"TIERUP_TIER": "0"})}, max(session.options.rounds, 5), "promotion")
        if not all(r["loops"] and r["tier"] == 1 for r in found["tierup"]): raise Failed("promotion: something stayed in tier 0")
        return {f"{kind}{end}_ms": median(found[side], f"{kind}_ms") for kind in ("loop", "calls") for side, end in (("tierup", ""), ("tier0", "_without"))}

    row = session.attempt("promotion", "one", measure)
    if row:
        print("  " + "   ".join(f"{k} {v:.4f}" for k, v in row.items()), flush=True)


def c_programs(session):
    names = [p.stem for p in sorted((HERE / "c_programs").glob("*.c"))]
    return [n for n in names if n in session.options.programs] or names


def compile_c(name, binary, *more):
    from harness import Failed
    command = ["gcc", "-O3", "-march=native", "-ffp-contract=off", *more, "-o", binary.name, HERE / "c_programs" / f"{name}.c", "-lm"]
    built = subprocess.run(command, cwd=binary.parent, capture_output=True, text=True)
    if built.returncode: raise Failed(f"c {name}: {built.stderr[:300]}")
    return binary


def weights(session):
    """What exact branch weights and trip counts give a compiler: the C programs by gcc without them and with those of a run before."""
    from harness import median
    print(f"C with the profile of a run before, ms{'':<9}without      with      with/without", flush=True)
    ratios = []
    for name in c_programs(session):
        def measure():
            with tempfile.TemporaryDirectory(prefix="tierup-bench-weights-") as directory:
                plain, profiled = compile_c(name, Path(directory) / "plain"), compile_c(name, Path(directory) / "profiled", "-fprofile-generate")
                run = lambda binary, seconds: json.loads(subprocess.run([binary, str(seconds)], cwd=directory, capture_output=True, text=True, check=True).stdout)
                run(profiled, 0.2)
                compile_c(name, profiled, "-fprofile-use")
                rows = [(run(plain, session.options.seconds), run(profiled, session.options.seconds)) for _ in range(session.options.steady_rounds)]
            return {"without_ms": median([r[0] for r in rows]), "with_ms": median([r[1] for r in rows])}
        row = session.attempt("weights", name, measure)
        if row:
            ratios.append(row["with_ms"] / row["without_ms"])
            print(f"  {name:<30} {row['without_ms']:>20.3f} {row['with_ms']:>9.3f} {ratios[-1]:>9.2f}x", flush=True)
    session.summary("weights", "geometric mean of the time with a profile over that without (less is better)", ratios)


def against_c(session):
    """The same algorithm in C, compiled by gcc for this processor, without fast-math."""
    from harness import OUT, Failed, child, median
    print(f"steady state against C, ms{'':<17}tierup         C     tierup/C", flush=True)
    OUT.mkdir(parents=True, exist_ok=True)
    ratios = []
    for name in c_programs(session):
        def measure():
            binary = compile_c(name, OUT / f"c_{name}")
            ours, theirs = [], []
            for _ in range(session.options.steady_rounds):
                ours.append(child("tierup", "steady", name, session.options.seconds, TIERUP_TIER="1"))
                theirs.append(json.loads(subprocess.run([binary, str(session.options.seconds)], capture_output=True, text=True, check=True).stdout))
            last = lambda value: last(value[-1]) if isinstance(value, list) else value
            if not math.isclose(last(ours[0]["value"]), theirs[0]["value"], rel_tol=1e-6): raise Failed(f"{name}: tierup computes {ours[0]['value']}, C {theirs[0]['value']}")
            return {"tierup_ms": median(ours), "c_ms": median(theirs)}
        row = session.attempt("c", name, measure)
        if row:
            row["ratio"] = row["tierup_ms"] / row["c_ms"]
            ratios.append(row["ratio"])
            print(f"  {name:<30} {row['tierup_ms']:>12.3f} {row['c_ms']:>9.3f} {row['ratio']:>9.2f}x", flush=True)
    session.summary("c", "geometric mean of our time over C's (less is better)", ratios)
