"""The benchmarks: Tierup beside Numba, both in one command, alternating, in fresh processes.

    python benches/harness.py --quick            about a minute
    python benches/harness.py                    every view; target/bench/report.json and report.html
    python benches/harness.py --views first,steady --programs fib,nbody

A ratio is always the other side's time over ours, so more than 1 means that Tierup is faster, except where a line says otherwise. First calls and steady
states leave out the imports; first calls are medians over fresh processes with a warm page cache.
"""

import argparse
import ast
import json
import math
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OUT = ROOT / "target" / "bench"
PYTHONS = {"tierup": sys.executable, "python": sys.executable, "numba": str(ROOT / ".venv-bench" / "bin" / "python")}
# Does Numba's code for the steady-state function contain packed arithmetic? `--mark` asks Numba again.
MARKS = HERE / "vectorised.json"
QUICK = ["add", "fib", "nbody", "mandelbrot", "jacobi", "dot", "quick_sort", "spectral_norm"]


def programs():
    return sorted(p.stem for p in (HERE / "programs").glob("*.py"))


def attribute(program, name, default):
    """A constant that a program states about itself, read without running it."""
    source = next(path for folder in ("programs", "arrays") if (path := HERE / folder / f"{program}.py").exists())
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return ast.literal_eval(node.value)
    return default


class Failed(Exception):
    """A measurement that gave no figure."""


def child(side, *args, prefix=(), **environment):
    """One measurement in a fresh process; `prefix` is what stands before the command."""
    env = {**os.environ, "TIERUP_CACHE": "0", "BENCH_SIDE": side, "NUMBA_NUM_THREADS": "1", "NUMBA_DISABLE_PERFORMANCE_WARNINGS": "1", **environment}
    done = subprocess.run([*prefix, PYTHONS[side], str(HERE / "child.py"), *map(str, args)], capture_output=True, text=True, env=env, timeout=600)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        raise Failed(f"{side} {' '.join(map(str, args))}: {next((l for l in lines if 'Error' in l), lines[-1])[:300]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def alternating(sides, rounds, *args):
    """`rounds` measurements of each (side, environment), in turn."""
    found = {name: [] for name in sides}
    for _ in range(rounds):
        for name, (side, environment) in sides.items():
            found[name].append(child(side, *args, **environment))
    return found


def median(measurements, key="ms"):
    return statistics.median(m[key] for m in measurements)


def geometric_mean(values):
    values = [v for v in values if v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


BOTH = {"tierup": ("tierup", {}), "numba": ("numba", {})}


class Session:
    """Runs views and collects their rows; a row that fails is reported and leaves the others alone."""

    def __init__(self, options):
        self.options, self.report, self.failures = options, {}, []

    def attempt(self, view, name, measure):
        try:
            row = measure()
        except (Failed, subprocess.TimeoutExpired) as e:
            self.failures.append(str(e))
            print(f"  {name:<22} failed: {e}", flush=True)
            return None
        self.report.setdefault(view, {})[name] = row
        return row

    def imports(self):
        print("import beside NumPy, ms", flush=True)

        def measure():
            found = alternating(BOTH, self.options.rounds, "import")
            return {"tierup_ms": median(found["tierup"]), "numba_ms": median(found["numba"]), "numpy_ms": median(found["tierup"], "numpy_ms")}

        row = self.attempt("import", "import", measure)
        if row:
            print(f"  tierup {row['tierup_ms']:.1f}   numba {row['numba_ms']:.1f}   (numpy {row['numpy_ms']:.1f})", flush=True)

    def first(self):
        print(f"first call in a fresh process, ms{'':<12}tierup      numba      ratio    second function: tierup", flush=True)
        ratios = []
        for name in self.options.programs:
            def measure():
                found = alternating(BOTH, self.options.rounds, "first", name)
                return {"tierup_ms": median(found["tierup"]), "numba_ms": median(found["numba"]),
                        "second_ms": median(found["tierup"], "second_ms"), "numba_second_ms": median(found["numba"], "second_ms")}
            row = self.attempt("first", name, measure)
            if row:
                row["ratio"] = row["numba_ms"] / row["tierup_ms"]
                ratios.append(row["ratio"])
                print(f"  {name:<30} {row['tierup_ms']:>12.2f} {row['numba_ms']:>10.0f} {row['ratio']:>9.0f}x {row['second_ms']:>12.2f}", flush=True)
        self.summary("first", "geometric mean of Numba's time over ours", ratios)

    def warm(self):
        """First calls in a process that finds its code in the cache, beside those of one that has no cache. CPU time says what a busy machine hides."""
        print(f"first call in a second process, ms{'':<14}warm      cold   CPU: warm      cold   in tier 1", flush=True)
        times = []
        with tempfile.TemporaryDirectory(prefix="tierup-bench-cache-") as directory:
            cache = {"TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": directory}
            for name in self.options.programs:
                def measure():
                    child("tierup", "warm", name, **cache, TIERUP_TIER="1")
                    found = alternating({"warm": ("tierup", cache), "cold": BOTH["tierup"]}, self.options.rounds, "warm", name)
                    tier_1 = all(m["cached"] and not m["missed"] and not m["llvm"] for m in found["warm"])
                    cpu = {f"{side}_cpu": median(found[side], "cpu_ms") for side in found}
                    return {"warm_ms": median(found["warm"]), "cold_ms": median(found["cold"]), **cpu, "tier_1": tier_1}
                row = self.attempt("warm", name, measure)
                if row:
                    times.append(row["warm_ms"])
                    if not row["tier_1"]:
                        self.failures.append(f"warm {name}: it did not start in tier 1")
                    print(f"  {name:<30} {row['warm_ms']:>16.2f} {row['cold_ms']:>9.2f} {row['warm_cpu']:>11.2f} {row['cold_cpu']:>9.2f}   {'yes' if row['tier_1'] else 'NO'}", flush=True)
        if times:
            print(f"  the slowest: {max(times):.2f} ms", flush=True)
        self.summary("warm", "geometric mean of milliseconds", times)

    def steady(self):
        """Tier 0 alone: the code of the first call."""
        self.steady_state("steady", "tier 0", TIERUP_TIER="0")

    def steady1(self):
        """Tier 1: what hot code comes to."""
        self.steady_state("steady1", "tier 1", TIERUP_TIER="1")

    def steady_state(self, view, which, **environment):
        marks = json.loads(MARKS.read_text())
        print(f"steady state of {which}, ms{'':<18}tierup      numba    tierup/numba  LLVM vectorises", flush=True)
        groups = {True: [], False: []}
        for name in self.options.programs:
            def measure():
                found = alternating({"tierup": ("tierup", environment), "numba": BOTH["numba"]}, self.options.steady_rounds, "steady", name, self.options.seconds)
                check_values(name, found)
                return {"tierup_ms": median(found["tierup"]), "numba_ms": median(found["numba"]), "vectorised": marks.get(name, 0) > 0}
            row = self.attempt(view, name, measure)
            if row:
                row["slowdown"] = row["tierup_ms"] / row["numba_ms"]
                groups[row["vectorised"]].append(row["slowdown"])
                print(f"  {name:<30} {row['tierup_ms']:>16.3f} {row['numba_ms']:>10.3f} {row['slowdown']:>9.2f}x   {'yes' if row['vectorised'] else 'no'}", flush=True)
        self.summary(f"{which}, not vectorised", "geometric mean of our time over Numba's (less is better)", groups[False])
        self.summary(f"{which}, vectorised", "geometric mean of our time over Numba's (less is better)", groups[True])
        self.summary(f"{which}, all", "geometric mean of our time over Numba's (less is better)", groups[False] + groups[True])

    def overhead(self):
        print("call overhead, ns", flush=True)
        extension = build_extension()

        def measure():
            rows = {}
            for side in ("tierup", "numba"):
                for kind, value in child(side, "overhead", extension[side]).items():
                    rows.setdefault(kind, {})[f"{side}_ns"] = value["ns"]
                    rows[kind].setdefault("c_ns", value["c_ns"])
            return rows

        rows = self.attempt("overhead", "overhead", measure)
        for kind, row in (rows or {}).items():
            row["over_c"] = row["tierup_ns"] / row["c_ns"]
            print(f"  {kind:<16} tierup {row['tierup_ns']:>7.1f}   C {row['c_ns']:>6.1f}   tierup/C {row['over_c']:.2f}   numba {row['numba_ns']:>7.1f}", flush=True)

    def size(self):
        print("compile time against function size (30-line body, copies)", flush=True)
        per_copy = {}
        for copies in (1, 3, 10, 30, 100) if not self.options.quick else (1, 10, 30):
            def measure():
                found = alternating({"tierup": BOTH["tierup"]}, self.options.rounds, "size", copies)
                row = {"tierup_ms": median(found["tierup"])}
                if copies <= (1 if self.options.quick else 10):
                    row["numba_ms"] = child("numba", "size", copies)["ms"]
                return row
            row = self.attempt("size", str(copies), measure)
            if row:
                per_copy[copies] = row["tierup_ms"] / copies
                numba = f"   numba {row['numba_ms']:.0f} ms" if "numba_ms" in row else ""
                print(f"  {copies:>4} x   {row['tierup_ms']:>9.2f} ms   {per_copy[copies]:>7.3f} ms a copy{numba}", flush=True)
        if len(per_copy) > 1:
            # The fixed part of a first call makes small functions dear per copy: growth is judged from the cheapest copy upwards.
            largest = max(per_copy)
            growth = per_copy[largest] / min(per_copy.values())
            self.report["size"]["growth"] = {"per_copy_at_largest_over_cheapest": growth}
            print(f"  a copy at {largest} x costs {growth:.2f} times the cheapest", flush=True)

    def bounds(self):
        print("bounds checks: time on over time off", flush=True)
        sides = {"on": ("tierup", {"TIERUP_TIER": "0"}), "off": ("tierup", {"TIERUP_TIER": "0", "BENCH_BOUNDSCHECK": "0"})}
        ratios = []
        for name in [p for p in self.options.programs if attribute(p, "ARRAYS", True)]:
            def measure():
                found = alternating(sides, self.options.steady_rounds + 1, "steady", name, self.options.seconds)
                return {"on_ms": min(m["ms"] for m in found["on"]), "off_ms": min(m["ms"] for m in found["off"])}
            row = self.attempt("bounds", name, measure)
            if row:
                row["ratio"] = row["on_ms"] / row["off_ms"]
                ratios.append(row["ratio"])
                print(f"  {name:<30} {row['ratio']:.3f}", flush=True)
        self.summary("bounds", "geometric mean of on over off", ratios)

    def package(self):
        """The test suite of choclo, written for Numba by others, under Numba and unmodified under `--as-numba`: outcomes and wall time."""
        print("an open package's own tests (choclo)", flush=True)
        commands = {"numba": [PYTHONS["numba"]], "tierup": [PYTHONS["tierup"], "-m", "tierup", "--as-numba"]}
        OUT.mkdir(parents=True, exist_ok=True)

        def measure():
            times, outcomes = {side: [] for side in commands}, {}
            for _ in range(self.options.steady_rounds):
                for side, command in commands.items():
                    results = OUT / f"choclo-{side}.xml"
                    start = time.monotonic()
                    done = subprocess.run([*command, "-m", "pytest", "-q", "--pyargs", "choclo", "-p", "no:cacheprovider", f"--junitxml={results}"],
                                          capture_output=True, text=True, cwd=OUT, timeout=1200)
                    times[side].append((time.monotonic() - start) * 1e3)
                    if not results.exists():
                        raise Failed(f"choclo under {side}: {(done.stderr or done.stdout)[-500:]}")
                    outcomes[side] = junit_outcomes(results)
            different = sorted(t for t in outcomes["numba"] if outcomes["numba"][t] != outcomes["tierup"].get(t))
            passes = lambda side: sum(o == "passed" for o in outcomes[side].values())
            return {"tierup_ms": statistics.median(times["tierup"]), "numba_ms": statistics.median(times["numba"]), "tierup_passes": passes("tierup"),
                    "numba_passes": passes("numba"), "different": ", ".join(different[:5])}

        row = self.attempt("package", "choclo", measure)
        if row:
            print(f"  passes: tierup {row['tierup_passes']}, numba {row['numba_passes']}   time: tierup {row['tierup_ms'] / 1e3:.1f} s, numba {row['numba_ms'] / 1e3:.1f} s, "
                  f"tierup/numba {row['tierup_ms'] / row['numba_ms']:.2f}   different: {row['different'] or 'none'}", flush=True)

    def summary(self, view, text, ratios):
        if ratios:
            mean = geometric_mean(ratios)
            self.report.setdefault("summary", {})[view] = {"text": text, "value": mean, "programs": len(ratios)}
            print(f"  {view}: {text} over {len(ratios)} programs: {mean:.2f}", flush=True)


def check_values(name, found):
    """Both sides must have computed the same thing, or the times mean nothing."""
    import numpy as np
    rtol = attribute(name, "RTOL", 1e-12)
    ours, theirs = found["tierup"][0]["value"], found["numba"][0]["value"]
    if not np.allclose(np.ravel(ours), np.ravel(theirs), rtol=rtol, atol=1e-9):
        raise Failed(f"{name}: tierup computes {ours}, numba {theirs}")


def junit_outcomes(path):
    """What became of each test of a JUnit file."""
    from xml.etree import ElementTree
    kinds = ("failure", "error", "skipped")
    name = lambda case: f"{case.get('classname').partition('site-packages.')[2]}::{case.get('name')}"  # the environments differ in front of it
    return {name(case): next((k for k in kinds if case.find(k) is not None), "passed") for case in ElementTree.parse(path).iter("testcase")}


def build_extension():
    """The hand-written C extension, compiled by gcc for both interpreters (they are of one version)."""
    OUT.mkdir(parents=True, exist_ok=True)
    target = OUT / f"overhead{sysconfig.get_config_var('EXT_SUFFIX')}"
    source = HERE / "c_ext" / "overhead.c"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        import numpy
        subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", f"-I{numpy.get_include()}", str(source), "-o", str(target)], check=True)
    return {"tierup": target, "numba": target}


def mark():
    """Asks Numba which programs LLVM vectorises and writes the answer down."""
    marks = {name: child("numba", "vectorised", name)["packed"] for name in programs()}
    MARKS.write_text(json.dumps(marks, indent=1) + "\n")
    print(json.dumps(marks, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--views", help="of imports, first, warm, overhead, steady, steady1, size, bounds, package, switch, promotion, c, curve, curve1, arrays, arrays-first, expressions, memory, regions, functions, draws, matrices, ufuncs, gufuncs, stencils, weights; left out: all but the last four, or the short ones with --quick")
    parser.add_argument("--programs", default="")
    parser.add_argument("--only", default="", help="parts of names, with commas: only these cases of ufuncs, gufuncs and stencils")
    parser.add_argument("--busy", action="store_true", help="the machine is not idle: the view curve1 counts processor time")
    parser.add_argument("--curve-steps", type=int, default=12, help="points of a curve, less one; a curve covers six orders of magnitude")
    parser.add_argument("--curve-rounds", type=int, default=3, help="how often a short point of a curve is measured")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--mark", action="store_true", help="ask Numba which programs LLVM vectorises, and stop")
    options = parser.parse_args()
    if options.mark:
        return mark()
    options.programs = options.programs.split(",") if options.programs else QUICK if options.quick else programs()
    options.only = [part for part in options.only.split(",") if part]
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.steady_rounds, options.seconds = (1, 0.3) if options.quick else (3, 1.0)
    begin = time.monotonic()
    session = Session(options)
    sys.modules.setdefault("harness", sys.modules["__main__"])  # one module, whoever imports it
    import array_programs
    import expressions
    import regions
    import small
    import tiers
    import ufuncs
    for side in ("tierup", "numba"):
        child(side, "import")  # the page cache is warm from here on
    views = options.views or ("imports,first,warm,overhead,steady,steady1,size" if options.quick else "imports,first,warm,overhead,steady,steady1,size,bounds,package,switch,promotion,c,curve,curve1,arrays,arrays-first,expressions,memory,regions,functions,draws,matrices")
    elsewhere = tiers.views() | array_programs.views() | expressions.views() | regions.views() | small.views() | ufuncs.views()
    for view in views.split(","):
        elsewhere[view](session) if view in elsewhere else getattr(session, view)()
    OUT.mkdir(parents=True, exist_ok=True)
    session.report["failures"] = session.failures
    session.report["machine"] = machine()
    (OUT / "report.json").write_text(json.dumps(session.report, indent=1) + "\n")
    sys.path.insert(0, str(HERE))
    from report import write_html
    write_html(session.report, OUT / "report.html")
    print(f"wrote {OUT.relative_to(ROOT)}/report.json and report.html after {time.monotonic() - begin:.0f} s, {len(session.failures)} measurements failed")
    return 1 if session.failures else 0


def machine():
    import platform
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "unknown")
    return {"cpu": model, "cores": os.cpu_count(), "python": platform.python_version(), "system": platform.platform(), "date": time.strftime("%Y-%m-%d %H:%M")}


if __name__ == "__main__":
    sys.exit(main())
