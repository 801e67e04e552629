"""Views of the harness over calls of ufuncs, generalised ufuncs and stencils: both sides in processes that stay, and each case on one side after the other, several times."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).resolve().parent
MILLION = 1_000_000
SECONDS = 0.04
ROUNDS = 5
LIMIT = 1.05


def views():
    """What `--views` may name."""
    return {"ufuncs": lambda session: compare(session, "ufuncs"), "gufuncs": lambda session: compare(session, "gufuncs"), "stencils": lambda session: compare(session, "stencils")}


class Side:
    """A process of one side that measures the cases it is told."""

    def __init__(self, side, view):
        from harness import PYTHONS
        threads = str(min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()))
        env = {**os.environ, "BENCH_SIDE": side, "TIERUP_CACHE": "0", "TIERUP_TIER": "1", "NUMBA_NUM_THREADS": threads, "TIERUP_NUM_THREADS": threads, "NUMBA_DISABLE_PERFORMANCE_WARNINGS": "1"}
        self.process = subprocess.Popen([PYTHONS[side], str(HERE / "child.py"), "serve", view], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def ask(self, name):
        from harness import Failed
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "the process ended"}')
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


def compare(session, view):
    """Medians of each case, microseconds, and their ratio."""
    from harness import Failed, geometric_mean
    print(f"{view}, µs{'':<44}tierup      numba   tierup/numba", flush=True)
    sides = {side: Side(side, view) for side in ("tierup", "numba")}
    ratios = []
    wanted = session.options.only
    for name in [n for n in cases(view) if not wanted or any(w in n for w in wanted)]:
        def measure():
            found = {side: [] for side in sides}
            for _ in range(ROUNDS):
                for side, process in sides.items():
                    found[side].append(process.ask(name))
            values = [found[side][0]["value"] for side in sides]
            if any(abs(v - values[0]) > 1e-6 * max(1.0, abs(values[0])) for v in values): raise Failed(f"{name}: {values}")
            return {f"{side}_us": statistics.median(m["us"] for m in found[side]) for side in sides}
        row = session.attempt(view, name, measure)
        if row:
            row["over_numba"] = row["tierup_us"] / row["numba_us"]
            row["good"] = row["over_numba"] <= LIMIT
            ratios.append(row["over_numba"])
            print(f"  {name:<45} {row['tierup_us']:>12.2f} {row['numba_us']:>10.2f} {row['over_numba']:>10.2f}x{'' if row['good'] else '  SLOW'}", flush=True)
    for s in sides.values(): s.close()
    print(f"  geometric mean {geometric_mean(ratios):.2f}x of {len(ratios)}", flush=True)


def serve(view):
    """In the child: measures the cases whose names come, one line each, until there are no more."""
    made, all_cases = {}, cases(view)
    for line in sys.stdin:
        name = line.strip()
        try:
            if name not in made:
                call = all_cases[name]()
                value = fingerprint(call())
                made[name] = (call, value, turns(call))
            call, value, n = made[name]
            times, begin = [], perf_counter()
            while len(times) < 5 or perf_counter() - begin < SECONDS:
                a = perf_counter()
                for _ in range(n): call()
                times.append((perf_counter() - a) / n)
            answer = {"us": statistics.median(times) * 1e6, "value": value}
        except Exception as e:
            answer = {"error": f"{os.environ['BENCH_SIDE']} {name}: {type(e).__name__}: {str(e)[:300]}"}
        print(json.dumps(answer), flush=True)


def turns(call):
    """So many calls take about half a millisecond; the code is warm after it."""
    begin, n = perf_counter(), 0
    while n < 20 or perf_counter() - begin < 0.05 and n < 1000:
        call()
        n += 1
    each = (perf_counter() - begin) / n
    return max(1, int(0.0005 / each))


def fingerprint(value):
    import numpy as np
    parts = value if isinstance(value, tuple) else (value,)
    return float(sum(np.nansum(np.asarray(p), dtype=np.float64) for p in parts))


def cases(view):
    """What each case does: a function that makes the function to be measured."""
    return {"ufuncs": ufunc_cases, "gufuncs": gufunc_cases, "stencils": stencil_cases}[view]()


def side():
    import importlib
    import warnings
    warnings.simplefilter("ignore")
    return importlib.import_module(os.environ["BENCH_SIDE"])


# -- ufuncs --------------------------------------------------------------------------------------------------------------------------------------


def _vectorized(kind):
    """A ufunc: `eager` or `dynamic`, `parallel`."""
    v = side().vectorize
    def add(x, y):
        return x + 2.0 * y
    return v(add) if kind == "dynamic" else v(["float64(float64, float64)"], target="parallel" if kind == "parallel" else "cpu")(add)


def _heavy(kind):
    import math
    v = side().vectorize
    def f(x, y):
        return math.sqrt(x * x + y * y) / (1.0 + x)
    return v(f) if kind == "dynamic" else v(["float64(float64, float64)"], target="parallel" if kind == "parallel" else "cpu")(f)


def ufunc_cases():
    import numpy as np
    out = {}
    x = np.linspace(1.0, 2.0, MILLION)

    def case(name, make):
        out[name] = make

    for kind in ("eager", "dynamic", "parallel"):
        case(f"{kind}: scalars", lambda kind=kind: (lambda f: lambda: f(1.5, 2.5))(_vectorized(kind)))
        for n in (10, 1000, MILLION):
            case(f"{kind}: {n}", lambda kind=kind, n=n: (lambda f, a: lambda: f(a, a))(_vectorized(kind), x[:n].copy()))
            case(f"{kind}: {n}, out=", lambda kind=kind, n=n: (lambda f, a, y: lambda: f(a, a, out=y))(_vectorized(kind), x[:n].copy(), np.zeros(n)))
            case(f"{kind}: {n}, with a number", lambda kind=kind, n=n: (lambda f, a: lambda: f(a, 3.0))(_vectorized(kind), x[:n].copy()))
            case(f"{kind}: {n}, roots", lambda kind=kind, n=n: (lambda f, a: lambda: f(a, a))(_heavy(kind), x[:n].copy()))
        case(f"{kind}: 1000 x 1000 by a row", lambda kind=kind: (lambda f, a: lambda: f(a, a[0]))(_vectorized(kind), x.reshape(1000, 1000)))
        case(f"{kind}: 1000 x 1000 transposed", lambda kind=kind: (lambda f, a: lambda: f(a, a.T))(_vectorized(kind), x.reshape(1000, 1000)))
        case(f"{kind}: 100000 x 3 by a column", lambda kind=kind: (lambda f, a: lambda: f(a, a[:, :1]))(_vectorized(kind), x[:300_000].reshape(-1, 3)))
        if kind == "parallel": continue
        for n in (10, 1000, MILLION):
            a = x[:n]
            case(f"{kind}: reduce {n}", lambda kind=kind, a=a: (lambda f: lambda: f.reduce(a / 2))(_vectorized(kind)))
            case(f"{kind}: accumulate {n}", lambda kind=kind, a=a: (lambda f: lambda: f.accumulate(a * 1e-9)[:5])(_vectorized(kind)))
            case(f"{kind}: reduceat {n}", lambda kind=kind, a=a, n=n: (lambda f, at: lambda: f.reduceat(a, at))(_vectorized(kind), np.arange(0, n, 5)))
            case(f"{kind}: at {n}", lambda kind=kind, a=a, n=n: (lambda f, y, at: lambda: f.at(y, at, 0.0))(_vectorized(kind), a.copy(), np.arange(0, n, 2)))
        case(f"{kind}: reduce 1000 x 1000, axis 0", lambda kind=kind: (lambda f: lambda: f.reduce(x.reshape(1000, 1000), axis=0))(_vectorized(kind)))
        case(f"{kind}: reduce 1000 x 1000, axis 1", lambda kind=kind: (lambda f: lambda: f.reduce(x.reshape(1000, 1000) * 1e-9, axis=1))(_vectorized(kind)))
        case(f"{kind}: outer 10", lambda kind=kind: (lambda f: lambda: f.outer(x[:10], x[:10]))(_vectorized(kind)))
        case(f"{kind}: outer 1000", lambda kind=kind: (lambda f: lambda: f.outer(x[:1000], x[:1000]))(_vectorized(kind)))
    return out


# -- gufuncs -------------------------------------------------------------------------------------------------------------------------------------


def _kernels():
    def scale(a, b, out):
        out[0] = a * b

    def total(a, out):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
        out[0] = s

    def shift(a, b, out):
        for i in range(a.shape[0]):
            out[i] = a[i] + b

    def moving(a, w, out):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
            if i >= w:
                s -= a[i - w]
            out[i] = s

    def inner(a, b, out):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * b[i]
        out[0] = s

    def apply(a, b, out):
        for i in range(a.shape[0]):
            s = 0.0
            for j in range(a.shape[1]):
                s += a[i, j] * b[j]
            out[i] = s

    def product(a, b, out):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                s = 0.0
                for k in range(a.shape[1]):
                    s += a[i, k] * b[k, j]
                out[i, j] = s

    def cube(a, out):
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    s += a[i, j, k]
        out[0] = s

    f = "float64"
    return {
        "scale ()": (scale, f"void({f}, {f}, {f}[:])", "(),()->()", [(), ()], ()),
        "total (n)": (total, f"void({f}[:], {f}[:])", "(n)->()", [("n",)], ()),
        "shift (n),()": (shift, f"void({f}[:], {f}, {f}[:])", "(n),()->(n)", [("n",), ()], ("n",)),
        "moving (n),()": (moving, f"void({f}[:], int64, {f}[:])", "(n),()->(n)", [("n",), 3], ("n",)),
        "inner (n),(n)": (inner, f"void({f}[:], {f}[:], {f}[:])", "(n),(n)->()", [("n",), ("n",)], ()),
        "apply (m,n),(n)": (apply, f"void({f}[:,:], {f}[:], {f}[:])", "(m,n),(n)->(m)", [("n", "n"), ("n",)], ("n",)),
        "product (m,n),(n,p)": (product, f"void({f}[:,:], {f}[:,:], {f}[:,:])", "(m,n),(n,p)->(m,p)", [("n", "n"), ("n", "n")], ("n", "n")),
        "cube (m,n,p)": (cube, f"void({f}[:,:,:], {f}[:])", "(m,n,p)->()", [("n", "n", "n")], ()),
    }


def gufunc_cases():
    import numpy as np
    out = {}

    def make(name, target, loop, core, given):
        kernel, signature, layout, shapes, result = _kernels()[name]
        g = side().guvectorize([signature], layout, target=target)(kernel)
        rng = np.random.default_rng(3)
        args = [np.int64(s) if isinstance(s, int) else rng.random((*loop, *(core for _ in s))) for s in shapes]
        if given:
            y = np.zeros((*loop, *(core for _ in result)))
            return lambda: g(*args, y)
        return lambda: g(*args)

    # The loop dimensions, the length of each core dimension.
    sizes = {name: [((), 10), ((10,), 3), ((10,), 100), ((1000,), 3), ((MILLION,), 3)] for name in _kernels()}
    sizes["scale ()"] = [((), 1), ((10,), 1), ((1000,), 1), ((MILLION,), 1), ((1000, 1000), 1)]
    sizes["total (n)"] += [((), MILLION), ((1000,), 1000), ((300, 300), 4)]
    sizes["shift (n),()"] += [((), MILLION), ((1000,), 1000)]
    sizes["inner (n),(n)"] += [((), MILLION), ((1000,), 1000), ((MILLION,), 2)]
    for name in _kernels():
        if name in ("product (m,n),(n,p)", "cube (m,n,p)"):
            sizes[name] = [((), 10), ((10,), 3), ((10,), 30), ((1000,), 3), ((100_000,), 3)]
        for target in ("cpu", "parallel"):
            for loop, core in sizes[name]:
                for given in ([False, True] if loop in ((10,), (MILLION,)) and core < 100 else [False]):
                    text = f"{target} {name}: {'x'.join(map(str, loop)) or 'once'} of {core}{', out' if given else ''}"
                    out[text] = lambda n=name, t=target, lo=loop, c=core, g=given: make(n, t, lo, c, g)
    return out


# -- stencils ------------------------------------------------------------------------------------------------------------------------------------


def stencil_cases():
    import numpy as np
    out = {}

    def three(a):
        return 0.25 * a[-1] + 0.5 * a[0] + 0.25 * a[1]

    def five(a):
        return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])

    def nine(a):
        s = 0.0
        for i in range(-1, 2):
            for j in range(-1, 2):
                s += a[i, j]
        return s / 9.0

    def window(a):
        s = 0.0
        for i in range(-29, 1):
            s += a[i]
        return s / 30

    def seven(a):
        return a[0, 0, 0] * -6.0 + a[1, 0, 0] + a[-1, 0, 0] + a[0, 1, 0] + a[0, -1, 0] + a[0, 0, 1] + a[0, 0, -1]

    def weighted(a, w):
        return a[-1] * w[0] + a[0] * w[1] + a[1] * w[2]

    def two(a, b):
        return a[0, 1] - b[0, -1] + a[1, 0] * b[0, 0]

    def scaled(a, k):
        return k * (a[-1] + a[1])

    rng = np.random.default_rng(5)
    arrays = {1: lambda n: rng.random(n), 2: lambda n: rng.random((int(n ** 0.5),) * 2), 3: lambda n: rng.random((round(n ** (1 / 3)),) * 3)}
    kinds = {
        "three points": (three, {}, 1, ()), "five points": (five, {}, 2, ()), "nine in loops": (nine, {"neighborhood": ((-1, 1), (-1, 1))}, 2, ()),
        "window of 30": (window, {"neighborhood": ((-29, 0),)}, 1, ()), "seven points": (seven, {}, 3, ()), "cval": (five, {"cval": 1.5}, 2, ()),
        "standard_indexing": (weighted, {"standard_indexing": ("w",)}, 1, (np.array([0.2, 0.5, 0.3]),)), "two arrays": (two, {}, 2, None), "with a number": (scaled, {}, 1, (0.5,)),
    }

    def make(name, how, n, with_out):
        kernel, options, ndim, more = kinds[name]
        s = side()
        f = s.stencil(**options)(kernel) if options else s.stencil(kernel)
        a = arrays[ndim](n)
        args = (a, a.copy()) if more is None else (a, *more)
        if how == "alone":
            if with_out:
                y = np.zeros_like(a)
                return lambda: f(*args, out=y)
            return lambda: f(*args)
        if with_out:
            y = np.zeros_like(a)
            g = s.njit(parallel=how == "parallel")([lambda y, a: f(a, out=y), lambda y, a, b: f(a, b, out=y)][len(args) - 1])
            return lambda: g(y, *args)
        g = s.njit(parallel=how == "parallel")([lambda a: f(a), lambda a, b: f(a, b)][len(args) - 1])
        return lambda: g(*args)

    for name in kinds:
        for how in ("alone", "serial", "parallel"):
            for n in (1000, MILLION):
                for with_out in (False, True):
                    out[f"{how} {name}: {n}{', out' if with_out else ''}"] = lambda name=name, how=how, n=n, w=with_out: make(name, how, n, w)
    return out
