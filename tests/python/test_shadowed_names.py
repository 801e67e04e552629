"""Parallel loops whose functions have the names of builtins or of NumPy's functions: what they are called says nothing."""

import types
import warnings

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit, prange  # noqa: E402

N = 20_000


def zero(*_args):
    return 0


def zeros(*_args):
    for _ in range(3):
        yield 0


def counted(*_args):
    for _ in range(3):
        yield 0, 1.0


def changing(x):
    x[0] += 1
    return 3


MODULE = types.ModuleType("mine")
MODULE.int64 = MODULE.sqrt = MODULE.minimum = zero

# What stands in the loop, and what the names in it are.
BODIES = {
    "int64": ("x[int64(i)] += 1", {"int64": zero}),
    "int": ("x[int(i)] += 1", {"int": zero}),
    "attribute": ("x[mine.int64(i)] += 1", {"mine": MODULE}),
    "abs": ("x[abs(i)] += 1", {"abs": zero}),
    "max": ("x[max(i, 0)] += 1", {"max": zero}),
    "min": ("x[min(i, n)] += 1", {"min": zero}),
    "range": ("for j in range(3): x[j] += i", {"range": zeros}),
    "enumerate": ("for j, y in enumerate(n): x[j] += y", {"enumerate": counted}),
    "len": ("y[i] = len(x) + 0 * x[i]", {"len": changing}),
}


def program(source, names):
    space = {"np": np, "prange": prange, **{k: njit(v) if isinstance(v, types.FunctionType) else v for k, v in names.items()}}
    exec(source, space)
    return space["f"]


def same(f, *args):
    """What plain Python and compiled code leave in the arguments; the report of the compiled function."""
    f(*args[0])
    compiled = njit(parallel=True)(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tierup.TierupWarning)
        for given in args[1:]:
            compiled(*given)
            for a, b in zip(given, args[0]):
                np.testing.assert_array_equal(a, b)
    return str(compiled.parallel_report())


@pytest.mark.parametrize("name", BODIES)
def test_a_function_of_a_builtins_name_is_not_taken_for_it(name):
    body, names = BODIES[name]
    if "range" in names:
        names = {**names, "prange": prange}
    f = program(f"def f(x, y, n):\n    for i in prange(n):\n        {body}\n", names)
    same(f, *[(np.zeros(N), np.zeros(N), N) for _ in range(4)])


def test_a_result_handed_to_a_ufunc_by_place_keeps_loops_apart():
    source = """
def f(x, y, t, n):
    a = np.empty(n)
    for i in prange(n):
        a[i] = x[i]
        np.sqrt(x[i:i + 1], t[i:i + 1])
    b = np.empty(n)
    for i in prange(n):
        b[i] = a[i] + t[n - 1 - i]
    y[:] = b
"""
    same(program(source, {}), *[(np.arange(N) * 1.0, np.zeros(N), np.zeros(N), N) for _ in range(4)])


@pytest.mark.parametrize("names", [{"least": np.minimum}, {"least": min}, {"least": np.fmin}], ids=["np.minimum", "min", "np.fmin"])
def test_functions_are_known_under_other_names(names):
    source = """
def f(x, y, n):
    m = np.inf
    for i in prange(n):
        m = least(m, x[i])
    y[0] = m
"""
    report = same(program(source, names), *[(np.cos(np.arange(N)), np.zeros(1), N) for _ in range(2)])
    assert "parallel loop" in report, report


def test_a_choice_of_ones_own_is_no_reduction():
    source = """
def f(x, y, n):
    m = 5.0
    for i in range(n):
        m = mine.minimum(m, x[i])
    y[0] = m
"""
    same(program(source, {"mine": MODULE}), *[(np.arange(N) * 1.0, np.zeros(1), N) for _ in range(2)])
    with pytest.raises(tierup.TierupError):
        njit(parallel=True)(program(source.replace("range(n)", "prange(n)"), {"mine": MODULE}))(np.zeros(3), np.zeros(1), 3)
