"""Views of the harness over single expressions on arrays: elementary functions and sorting against NumPy and Numba, memory-bound ones against C with OpenMP."""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
MILLION = 1_000_000
# The body of a function of `x` and `y`, what takes their place, and the most of NumPy's and of Numba's time that it may take (None: no limit).
FUNCTIONS = {
    "log": ("np.log(x)", "positive", 1.0, 0.6),
    "exp + sin": ("np.exp(x) + np.sin(x)", "plain", 1.0, 0.6),
    "x ** y": ("x ** y", "positive", 1.5, 0.5),
    "power": ("np.power(x, y)", "positive", 1.5, 0.5),
    "sort": ("np.sort(x)", "plain", 1.3, None),
    "sort, float32": ("np.sort(x)", "single", 1.3, None),
    "sort, int64": ("np.sort(x)", "whole", 1.3, None),
    "argsort": ("np.argsort(x)", "plain", 1.3, None),
    "partition": ("np.partition(x, 500_000)", "plain", 1.3, None),
}
# The same for C: a statement over `out`, `a` and `b`, and whether it gives a number. The functions of `c_arrays/expressions.c` have these names.
LOOPS = {
    "chain": ("out[:] = a * b + 2 * a - b", False),
    "add_scaled": ("out[:] = b + 0.5 * a", False),
    "clipped": ("out[:] = np.where(a > b, a - b, 0.0)", False),
    "total": ("a.sum()", True),
    "squares": ("(a * a).sum()", True),
    "distance": ("((a - b) ** 2).sum()", True),
    "greatest": ("np.abs(a - b).max()", True),
    "neighbours": ("out[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])", False),
}
# Elements: in the last cache, and far beyond it.
SIZES = {"in cache": 1000 ** 2, "in memory": 4000 ** 2}
AGAINST_C = 1.1


def views():
    """What `--views` may name."""
    return {"expressions": expressions, "memory": memory}


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def chosen(session, names):
    return [n for n in names if n in session.options.programs] or list(names)


def expressions(session):
    from harness import alternating, median
    print(f"expressions of a million elements, ms{'':<12}tierup      numpy      numba   tierup/numpy   tierup/numba", flush=True)
    for name in chosen(session, FUNCTIONS):
        _, _, numpy_limit, numba_limit = FUNCTIONS[name]
        def measure():
            found = alternating({"tierup": ("tierup", {"TIERUP_TIER": "1"}), "numba": ("numba", {})}, session.options.steady_rounds, "expression", name, session.options.seconds)
            return {"tierup_ms": median(found["tierup"]), "beside_numpy_ms": median(found["tierup"], "beside_ms"), "numba_ms": median(found["numba"])}
        row = session.attempt("expressions", name, measure)
        if row:
            over = {"numpy": (row["tierup_ms"] / row["beside_numpy_ms"], numpy_limit), "numba": (row["tierup_ms"] / row["numba_ms"], numba_limit)}
            row |= {f"over_{side}": ratio for side, (ratio, _) in over.items()}
            row["good"] = all(limit is None or ratio <= limit for ratio, limit in over.values())
            print(f"  {name:<30} {row['tierup_ms']:>16.3f} {row['beside_numpy_ms']:>10.3f} {row['numba_ms']:>10.3f} {row['over_numpy']:>13.2f}x {row['over_numba']:>13.2f}x{'' if row['good'] else '  SLOW'}", flush=True)


def memory(session):
    """Both sides on all processors, in processes of their own: the threads of OpenMP wait for work at full speed."""
    from harness import OUT, Failed, alternating, median
    print(f"memory-bound expressions against C with OpenMP, ms{'':<12}tierup          C    tierup/C", flush=True)
    OUT.mkdir(parents=True, exist_ok=True)
    library = OUT / "expressions.so"
    subprocess.run(["gcc", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", HERE / "c_arrays" / "expressions.c", "-o", library, "-lm"], check=True)
    for name in chosen(session, LOOPS):
        for where, n in SIZES.items():
            def measure():
                sides = {"tierup": ("tierup", {"TIERUP_TIER": "1"}), "c": ("python", {"OMP_NUM_THREADS": str(cores())})}
                found = alternating(sides, session.options.steady_rounds, "loop", name, n, session.options.seconds, library)
                ours, theirs = found["tierup"][0]["value"], found["c"][0]["value"]
                if abs(ours - theirs) > 1e-9 * abs(theirs): raise Failed(f"{name}: tierup computes {ours}, C {theirs}")
                return {"tierup_ms": median(found["tierup"]), "c_ms": median(found["c"])}
            row = session.attempt("memory", f"{name}, {where}", measure)
            if row:
                row["over_c"] = row["tierup_ms"] / row["c_ms"]
                row["good"] = row["over_c"] <= AGAINST_C
                print(f"  {name + ', ' + where:<40} {row['tierup_ms']:>20.3f} {row['c_ms']:>10.3f} {row['over_c']:>10.2f}x{'' if row['good'] else '  SLOW'}", flush=True)


def operands(kind):
    import numpy as np
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(MILLION), rng.uniform(-5, 5, MILLION)
    match kind:
        case "positive": return rng.uniform(0.01, 100.0, MILLION), y
        case "single": return x.astype(np.float32), y
        case "whole": return rng.integers(-2**62, 2**62, MILLION), y
        case _: return x, y


def function(text, parameters, decorate=None):
    """`text` as a function, by a decorator or plain."""
    import numpy as np
    space = {"np": np}
    statement = text if text.startswith("out[") else f"return {text}"
    exec(f"def f({parameters}):\n    {statement}\n", space)
    return decorate(space["f"]) if decorate else space["f"]


def alternate(functions, seconds):
    """Median milliseconds of each, in turn."""
    import statistics
    from time import perf_counter
    times, begin = [[] for _ in functions], perf_counter()
    while len(times[0]) < 5 or perf_counter() - begin < seconds * len(functions):
        for f, out in zip(functions, times):
            a = perf_counter()
            r = f()
            out.append(perf_counter() - a)
            del r
    return [statistics.median(t) * 1e3 for t in times]


def one_expression(name, seconds):
    """In the child: ours and NumPy's in turn; Numba's alone."""
    import numpy as np
    from peer import SIDE, njit
    text, kind, *_ = FUNCTIONS[name]
    args = operands(kind)
    compiled, plain = function(text, "x, y", njit), function(text, "x, y")
    ours, theirs = compiled(*args), plain(*args)
    if name == "partition": ours, theirs = np.sort(ours), np.sort(theirs)  # what lies on either side of the element has any order
    if not np.allclose(ours, theirs, rtol=1e-13 if kind != "whole" else 0): raise SystemExit(f"RuntimeError: {name} differs from NumPy")
    found = alternate([lambda: compiled(*args), lambda: plain(*args)][: 2 if SIDE == "tierup" else 1], seconds)
    return {"ms": found[0], "beside_ms": found[-1]}


def one_loop(name, n, seconds, library):
    """In the child: ours, compiled with `parallel=True`, or the function of the C library."""
    import ctypes

    import numpy as np
    from peer import SIDE
    text, gives_number = LOOPS[name]
    rng = np.random.default_rng(1)
    a, b, out = rng.random(n), rng.random(n), np.zeros(n)
    if SIDE == "tierup":
        from tierup import njit
        side = round(n ** 0.5)
        args = [v.reshape(side, side) for v in (out, a, b)] if name == "neighbours" else (out, a, b)
        compiled = function(text, "out, a, b", njit(parallel=True))
        call = lambda: compiled(*args)
    else:
        f = getattr(ctypes.CDLL(library), name)
        f.restype = ctypes.c_double if gives_number else None
        args = [ctypes.c_void_p(v.ctypes.data) for v in (out, a, b)] + [ctypes.c_ssize_t(n)]
        call = lambda: f(*args)
    value = call()
    return {"ms": alternate([call], seconds)[0], "value": float(value if gives_number else out.sum())}
