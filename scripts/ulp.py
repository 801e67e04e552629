"""How far elementary functions are from the exact result, Tierup's and the C library's (CPython's `math`), in units of the last bit.

    .venv/bin/python scripts/ulp.py [NUMBERS]

Prints, for each function and random arguments over its useful range, the largest error of both, the share of results that are not the nearest double, and how many results
differ. The reference is the C library's extended precision, whose own errors are below 0.001 of a unit here; `docs/decisions/numbers.md` says what the figures mean.
"""

import math
import sys

import numpy as np

from tierup import njit

RANGES = {
    "exp": (-700, 700), "exp2": (-1000, 1000), "expm1": (-30, 700), "expm1 near 0": (-1, 1), "log": None, "log near 1": (0.5, 2), "log2": None, "log2 near 1": (0.5, 2), "log10": None,
    "log10 near 1": (0.5, 2), "log1p": (-0.99, 10), "sin": (-100, 100), "cos": (-100, 100), "tan": (-100, 100), "asin": (-1, 1), "acos": (-1, 1), "atan": (-20, 20), "sinh": (-20, 20),
    "cosh": (-20, 20), "tanh": (-5, 5), "asinh": (-20, 20), "acosh": (1, 50), "atanh": (-1, 1), "cbrt": (-1000, 1000),
}
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}


def compiled(name):
    space = {"math": math, "np": np}
    exec(f"def f(x):\n    out = np.empty(len(x))\n    for i in range(len(x)):\n        out[i] = math.{name}(x[i])\n    return out\n", space)
    return njit(space["f"])


def errors(results, exact):
    """In units of the last bit of the exact result, rounded."""
    return np.abs((results.astype(np.longdouble) - exact) / np.spacing(np.abs(exact.astype(np.float64)))).astype(np.float64)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    rng = np.random.default_rng(1)
    print(f"{'function':<14}{'largest error':>22}{'not the nearest':>22}{'differ':>9}")
    print(f"{'':<14}{'Tierup':>11}{'C':>11}{'Tierup':>11}{'C':>11}")
    for label, limits in RANGES.items():
        name = label.split()[0]
        x = 10.0 ** rng.uniform(-300, 300, count) if limits is None else rng.uniform(*limits, count)
        exact = getattr(np, NUMPY.get(name, name))(x.astype(np.longdouble))
        ours, theirs = compiled(name)(x), np.array([getattr(math, name)(v) for v in x.tolist()])
        e, f = errors(ours, exact), errors(theirs, exact)
        print(f"{label:<14}{e.max():>11.3f}{f.max():>11.3f}{np.mean(e > 0.5005):>11.3%}{np.mean(f > 0.5005):>11.3%}{np.mean(ours != theirs):>9.2%}")


if __name__ == "__main__":
    main()
