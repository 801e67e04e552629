"""Views of the harness over what takes nanoseconds: elementary functions of single numbers, random numbers, linear algebra of small matrices. Beside Numba and NumPy.

Two processes stay alive, one a side, and measure each row in turn; a row is a function of a few lines.
"""

import json
import os
import statistics
import subprocess
from time import perf_counter

# Elements of an array that is gone through, turns of a chain, and the numbers that one call draws.
ELEMENTS = TURNS = DRAWS = 4096
# Numba's code is what it is compared with: 1.0 is as fast.
LIMIT = 1.0

# An expression of `x` (and `y`), and where x comes from (y is from 0.5 to 3). In a chain each x comes from the expression of the one before.
UNIT, PLAIN, POSITIVE, ABOVE = (-0.99, 0.99), (-5.0, 5.0), (0.01, 50.0), (1.0, 50.0)
FUNCTIONS = {
    **{f"math.{f}": (f"math.{f}(x)", PLAIN) for f in ("sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "exp", "expm1", "erf", "erfc", "lgamma")},
    **{f"math.{f}": (f"math.{f}(x)", UNIT) for f in ("asin", "acos", "atanh")},
    **{f"math.{f}": (f"math.{f}(x)", POSITIVE) for f in ("sqrt", "log", "log2", "log10", "log1p")},
    "math.gamma": ("math.gamma(x)", (0.5, 10.0)), "math.acosh": ("math.acosh(x)", ABOVE), "np.exp2": ("np.exp2(x)", PLAIN), "np.cbrt": ("np.cbrt(x)", PLAIN),
    "math.log(x, y)": ("math.log(x, y)", ABOVE), "math.pow": ("math.pow(x, y)", POSITIVE), "x ** y": ("x ** y", POSITIVE), "x ** 2": ("x ** 2", PLAIN), "x ** 3": ("x ** 3", PLAIN),
    "x ** 2.5": ("x ** 2.5", POSITIVE), "x ** 0.5": ("x ** 0.5", POSITIVE), "x ** -1.5": ("x ** -1.5", POSITIVE), "math.atan2": ("math.atan2(x, y)", PLAIN),
    "math.hypot": ("math.hypot(x, y)", PLAIN), "np.hypot": ("np.hypot(x, y)", PLAIN), "math.fmod": ("math.fmod(x, y)", POSITIVE), "x % y": ("x % y", POSITIVE), "x // y": ("x // y", POSITIVE),
    "divmod": ("divmod(x, y)[1]", POSITIVE), "round(x, 2)": ("round(x, 2)", PLAIN), "round(x)": ("round(x)", PLAIN), "np.round(x, 2)": ("np.round(x, 2)", PLAIN),
    "math.floor": ("math.floor(x)", PLAIN), "math.ceil": ("math.ceil(x)", PLAIN), "int": ("int(x)", PLAIN), "abs": ("abs(x)", PLAIN), "min": ("min(x, y)", PLAIN),
    "math.copysign": ("math.copysign(x, y)", PLAIN), "math.ldexp": ("math.ldexp(x, 3)", PLAIN), "math.frexp": ("math.frexp(x)[0]", PLAIN), "math.modf": ("math.modf(x)[0]", PLAIN),
}
# The same of float32.
SINGLE = {
    **{f"np.{f}": (f"np.{f}(x)", PLAIN) for f in ("sin", "cos", "tan", "arctan", "sinh", "cosh", "tanh", "arcsinh", "exp", "exp2", "expm1", "cbrt", "floor")},
    **{f"np.{f}": (f"np.{f}(x)", UNIT) for f in ("arcsin", "arccos", "arctanh")},
    **{f"np.{f}": (f"np.{f}(x)", POSITIVE) for f in ("sqrt", "log", "log2", "log10", "log1p")},
    "np.arccosh": ("np.arccosh(x)", ABOVE), "x ** y": ("x ** y", POSITIVE), "np.power": ("np.power(x, y)", POSITIVE), "np.arctan2": ("np.arctan2(x, y)", PLAIN), "np.hypot": ("np.hypot(x, y)", PLAIN),
    "np.fmod": ("np.fmod(x, y)", POSITIVE), "x % y": ("x % y", POSITIVE),
}

# Distributions: methods of `Generator` and functions of `np.random`, with their arguments, and those of the module `random`.
DISTRIBUTIONS = {
    "random": "", "uniform": "-1.0, 2.0", "normal": "1.0, 2.0", "standard_normal": "", "standard_exponential": "", "exponential": "2.0", "lognormal": "0.0, 0.5", "gamma": "2.5, 1.0", "standard_gamma": "2.5",
    "beta": "2.0, 3.0", "chisquare": "3.0", "f": "3.0, 4.0", "standard_t": "3.0", "standard_cauchy": "", "vonmises": "0.0, 2.0", "pareto": "3.0", "weibull": "2.0", "power": "3.0", "laplace": "0.0, 1.0",
    "gumbel": "0.0, 1.0", "logistic": "0.0, 1.0", "rayleigh": "2.0", "wald": "1.0, 2.0", "triangular": "0.0, 1.0, 3.0", "binomial": "20, 0.3", "binomial of many": "1000, 0.3", "negative_binomial": "5, 0.4",
    "poisson": "3.5", "poisson of many": "50.0", "zipf": "2.5", "geometric": "0.1", "geometric, likely": "0.6", "hypergeometric": "20, 30, 15", "logseries": "0.6", "noncentral_chisquare": "3.0, 1.0",
}
PYTHONS = {
    "random": "", "uniform": "-1.0, 2.0", "triangular": "0.0, 3.0, 1.0", "normalvariate": "0.0, 1.0", "gauss": "0.0, 1.0", "lognormvariate": "0.0, 0.5", "expovariate": "2.0", "vonmisesvariate": "0.0, 2.0",
    "gammavariate": "2.5, 1.0", "betavariate": "2.0, 3.0", "paretovariate": "3.0", "weibullvariate": "1.0, 2.0", "getrandbits": "20", "randrange": "1000", "randint": "1, 6",
}
# Of square matrices `a`, `b`, a symmetric one `h`, a vector `v`, and a stack `c` of four; each expression is a number.
MATRICES = {
    "a @ b": "(a @ b)[0, 0]", "np.dot": "np.dot(a, b)[0, 0]", "a @ v": "(a @ v)[0]", "v @ v": "v @ v", "np.vdot": "np.vdot(v, v)", "np.outer": "np.outer(v, v)[0, 0]", "np.inner": "np.inner(v, v)",
    "np.tensordot": "np.tensordot(a, b, 1)[0, 0]", "np.einsum": "np.einsum('ij,jk->ik', a, b)[0, 0]", "np.kron": "np.kron(a[:2, :2], b)[0, 0]", "np.trace": "np.trace(a)",
    "solve": "np.linalg.solve(a, v)[0]", "solve, matrix": "np.linalg.solve(a, b)[0, 0]", "inv": "np.linalg.inv(a)[0, 0]", "det": "np.linalg.det(a)", "slogdet": "np.linalg.slogdet(a)[1]",
    "eig": "np.linalg.eig(h)[0][0].real", "eigh": "np.linalg.eigh(h)[0][0]", "eigvals": "np.linalg.eigvals(h)[0].real", "eigvalsh": "np.linalg.eigvalsh(h)[0]", "svd": "np.linalg.svd(a)[1][0]",
    "qr": "np.linalg.qr(a)[1][0, 0]", "cholesky": "np.linalg.cholesky(h)[0, 0]", "lstsq": "np.linalg.lstsq(a, v)[0][0]", "pinv": "np.linalg.pinv(a)[0, 0]", "norm": "np.linalg.norm(a)",
    "norm of a vector": "np.linalg.norm(v)", "norm, 1": "np.linalg.norm(a, 1)", "matrix_rank": "np.linalg.matrix_rank(a)", "matrix_power": "np.linalg.matrix_power(a, 3)[0, 0]", "cond": "np.linalg.cond(a)",
    "det, stacked": "np.linalg.det(c)[0]", "inv, stacked": "np.linalg.inv(c)[0, 0, 0]", "solve, stacked": "np.linalg.solve(c, c)[0, 0, 0]",
}
SIDES = {2: 500, 3: 500, 4: 500, 10: 200, 100: 2}
COMPUTED = """
def f(a, b, h, v, c):
    s, first = 0.0, a[0, 0]
    for i in range({turns}):
        a[0, 0] = first + i * 1e-9
        s += {text}
    a[0, 0] = first
    return s
"""
DRAWN = """
def f({parameters}):
    s = 0.0
    for _ in range({draws}):
        s += {call}
    return s
"""
FILLED = """
def f({parameters}):
    return {call}.sum()
"""
CHAIN = """
def f(a, b, out):
    start, y = a[0], b[0]
    x = start
    for _ in range(len(a)):
        x = start + {small} * {text}
    return x
"""
EACH = """
def f(a, b, out):
    for i in range(len(a)):
        x, y = a[i], b[i]
        out[i] = {text}
    return out.sum()
"""


def views():
    """What `--views` may name."""
    return {"functions": lambda session: view(session, "functions", "elementary functions, ns", function_rows()),
            "matrices": lambda session: view(session, "matrices", "linear algebra, ns", matrix_rows()),
            "draws": lambda session: view(session, "draws", "random numbers, ns", draw_rows())}


def function_rows():
    """Rows by name: the text of a function `f`, the expression that NumPy computes on whole arrays where there is one, and what its arguments are made from."""
    rows = {}
    for table, dtype in ((FUNCTIONS, "float64"), (SINGLE, "float32")):
        for name, (text, (low, high)) in table.items():
            label = name if dtype == "float64" else f"{name} f32"
            small = "np.float32(1e-3)" if dtype == "float32" else "1e-3"
            operands = {"kind": "operands", "low": low, "high": high, "dtype": dtype, "per": ELEMENTS}
            rows[f"{label}, chain"] = {"source": CHAIN.format(text=text, small=small), "arguments": operands, "rtol": 1e-12 if dtype == "float64" else 1e-5}
            rows[f"{label}, each"] = {"source": EACH.format(text=text), "arguments": operands, "numpy": whole(text), "rtol": 1e-11 if dtype == "float64" else 1e-4}
    return rows


def draw_rows():
    """One number after the other in a loop, and arrays of them."""
    rows = {}
    def add(name, template, call, generator):
        rows[name] = {"source": template.format(call=call, draws=DRAWS, parameters="g" if generator else ""), "arguments": {"kind": "generator" if generator else "none", "per": DRAWS}}
        if template is FILLED: rows[name]["numpy"] = call
    for name, args in DISTRIBUTIONS.items():
        method, size = name.replace(",", " ").split(" ")[0], f"size={DRAWS}"
        sized = f"{args}, {size}" if args else size
        for generator, where in ((True, "g"), (False, "np.random")):
            add(f"{where}.{name}", DRAWN, f"{where}.{method}({args})", generator)
            # Numba's arrays of `np.random` have the size as the last positional argument.
            add(f"{where}.{name}, array", FILLED, f"{where}.{method}({sized})", generator)
    for args, name in (("0, 1000", "integers"), ("0, 2**40", "integers, wide")):
        add(f"g.{name}", DRAWN, f"g.integers({args})", True)
        add(f"g.{name}, array", FILLED, f"g.integers({args}, size={DRAWS})", True)
    add("np.random.randint", DRAWN, "np.random.randint(0, 1000)", False)
    add("np.random.randint, array", FILLED, f"np.random.randint(0, 1000, {DRAWS})", False)
    for name, args in PYTHONS.items(): add(f"random.{name}", DRAWN, f"random.{name}({args})", False)
    return rows


def matrix_rows():
    rows = {}
    for name, text in MATRICES.items():
        for n, turns in SIDES.items():
            if n == 100 and name == "np.kron": continue
            rows[f"{name}, {n}"] = {"source": COMPUTED.format(text=text, turns=turns), "arguments": {"kind": "matrices", "n": n, "per": turns}, "python": True, "rtol": 1e-6}
    return rows


def whole(text):
    """The expression for arrays `x` and `y`, or None where NumPy has none."""
    names = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2"}
    if text.startswith("math."):
        name, _, rest = text[5:].partition("(")
        import numpy as np
        name = names.get(name, name)
        return f"np.{name}({rest}" if hasattr(np, name) and "y)" not in rest.replace("x, y)", "") and "[" not in rest and (name, rest) != ("log", "x, y)") else None
    return text if not text.startswith(("round", "int", "min")) else None


class Peer:
    """A process of a side that measures rows until it is closed."""

    def __init__(self, side, **environment):
        from harness import HERE, PYTHONS
        env = {**os.environ, "TIERUP_CACHE": "0", "BENCH_SIDE": side, "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_DISABLE_PERFORMANCE_WARNINGS": "1", **environment}
        self.process = subprocess.Popen([PYTHONS[side], str(HERE / "child.py"), "small"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)

    def ask(self, row, seconds):
        from harness import Failed
        self.process.stdin.write(json.dumps({**row, "seconds": seconds}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failed("the process is gone")
        answer = json.loads(line)
        if "failed" in answer:
            raise Failed(answer["failed"])
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def view(session, key, title, rows):
    """Rows whose name holds one of `--programs`; all, where these are programs."""
    from harness import Failed, geometric_mean, programs
    wanted = session.options.programs
    rows = {name: row for name, row in rows.items() if set(wanted) <= set(programs()) or any(w in name for w in wanted)}
    print(f"{title:<44} tierup      numba      numpy   tierup/numba", flush=True)
    ours, theirs, ratios = Peer("tierup", TIERUP_TIER="1"), Peer("numba"), []
    seconds = 0.03 * session.options.seconds
    for name, row in rows.items():
        def measure():
            found = {"tierup": [], "numba": []}
            for _ in range(session.options.steady_rounds):
                found["tierup"].append(ours.ask(row, seconds))
                try:
                    found["numba"].append(theirs.ask(row, seconds))
                except Failed as e:
                    if not found["numba"]: row["numba_fails"] = str(e)
            if found["numba"]: compare(name, row, found)
            middle = lambda side, key: statistics.median(f[key] for f in found[side]) if found[side] and found[side][0].get(key) is not None else None
            return {"tierup_ns": middle("tierup", "ns"), "numba_ns": middle("numba", "ns"), "numpy_ns": middle("tierup", "numpy_ns")}
        result = session.attempt(key, name, measure)
        if result:
            number = lambda x: f"{x:>10.2f}" if x is not None else f"{'-':>10}"
            line = f"  {name:<40}{number(result['tierup_ns'])} {number(result['numba_ns'])} {number(result['numpy_ns'])}"
            if result["numba_ns"]:
                result["over_numba"] = result["tierup_ns"] / result["numba_ns"]
                result["good"] = result["over_numba"] <= LIMIT
                ratios.append(result["over_numba"])
                line += f" {result['over_numba']:>13.2f}x{'' if result['good'] else '  SLOW'}"
            print(line, flush=True)
    for peer in (ours, theirs): peer.close()
    if ratios:
        session.report.setdefault("summary", {})[key] = {"text": "geometric mean of our time over Numba's (less is better)", "value": geometric_mean(ratios), "programs": len(ratios)}
        print(f"  {key}: geometric mean of our time over Numba's: {geometric_mean(ratios):.2f} over {len(ratios)} rows, {sum(r > LIMIT for r in ratios)} above {LIMIT}", flush=True)


def compare(name, row, found):
    """Both sides compute the same, but where numbers are random."""
    import math
    from harness import Failed
    if "rtol" not in row: return
    a, b = found["tierup"][0]["value"], found["numba"][0]["value"]
    if not math.isclose(a, b, rel_tol=row["rtol"], abs_tol=1e-9): raise Failed(f"{name}: tierup computes {a}, numba {b}")


def arguments(about):
    import numpy as np
    rng = np.random.default_rng(1)
    match about["kind"]:
        case "matrices":
            n = about["n"]
            a, b = rng.standard_normal((2, n, n)) + 2 * np.eye(n)
            return a, b, a @ a.T + np.eye(n), rng.standard_normal(n), rng.standard_normal((4, n, n)) + 2 * np.eye(n)
        case "none": return ()
        case "generator": return (rng,)
        case "operands":
            a = rng.uniform(about["low"], about["high"], about["per"]).astype(about["dtype"])
            return a, rng.uniform(0.5, 3.0, about["per"]).astype(about["dtype"]), np.zeros_like(a)


def serve():
    """In the child: one line with a row in, one with its time out. What was compiled stays."""
    import math
    import random
    import sys

    import numpy as np
    from peer import SIDE, njit
    compiled = {}

    def timed(f, seconds):
        times, begin = [], perf_counter()
        while len(times) < 5 or perf_counter() - begin < seconds:
            a = perf_counter()
            f()
            times.append(perf_counter() - a)
        return statistics.median(times) * 1e9

    for line in sys.stdin:
        row = json.loads(line)
        try:
            key = row["source"] + json.dumps(row["arguments"])
            if key not in compiled:
                space = {"math": math, "np": np, "random": random}
                exec(row["source"], space)
                args = arguments(row["arguments"])
                compiled[key] = (njit(space["f"]), args, float(np.real(njit(space["f"])(*args))))
            f, args, value = compiled[key]
            per = row["arguments"]["per"]
            answer = {"ns": timed(lambda: f(*args), row["seconds"]) / per, "value": value}
            if row.get("python") and SIDE == "tierup":
                plain = f.py_func
                answer["numpy_ns"] = timed(lambda: plain(*args), row["seconds"]) / per
            if row.get("numpy") and SIDE == "tierup":
                names = ["x", "y", "out"] if len(args) == 3 else ["g"] * len(args)
                plain = eval(f"lambda {', '.join(names)}: {row['numpy']}", {"np": np})
                answer["numpy_ns"] = timed(lambda: plain(*args), row["seconds"]) / per
        except Exception as e:  # noqa: BLE001  (the parent reports it)
            answer = {"failed": f"{type(e).__name__}: {str(e).strip().splitlines()[0] if str(e).strip() else ''}"[:200]}
        print(json.dumps(answer), flush=True)
    sys.exit()
