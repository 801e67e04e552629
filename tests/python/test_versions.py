"""What differs from one Python to the next: what is computed, what exceptions say, how changed globals are noticed; and a Python that nobody knows."""

import math
import random
import statistics
import subprocess
import sys
import textwrap

import pytest

tierup = pytest.importorskip("tierup")


def same(text, *arguments, **space):
    """What compiled code gives for an expression of `x`, `y` and `z`, or raises, is what this Python gives."""
    exec(f"def f({', '.join('xyz'[:len(arguments)])}):\n    return {text}\n", space)

    def outcome(f):
        try:
            return repr(f(*arguments))
        except Exception as e:
            return type(e).__name__, str(e)

    assert outcome(tierup.njit(space["f"])) == outcome(space["f"]), (text, arguments)


@pytest.mark.parametrize("text, x", [
    ("1 // x", 0), ("1 % x", 0), ("divmod(1, x)", 0), ("1 / x", 0), ("1 / x", 0.0), ("1.0 // x", 0.0), ("1.0 % x", 0.0), ("divmod(1.0, x)", 0.0), ("1j / x", 0j), ("x ** -1.5", 0.0), ("x ** -1", 0.0),
    ("math.sqrt(x)", -2.5), ("math.log(x)", -2.5), ("math.log2(x)", 0.0), ("math.log10(x)", -1e300), ("math.log1p(x)", -1.0), ("math.log(x, 3.0)", -2.0), ("math.log(2.0, x)", -3.0), ("math.log(2.0, x)", 1.0),
    ("math.acos(x)", 2.0), ("math.asin(x)", -1.5), ("math.acosh(x)", 0.5), ("math.atanh(x)", 1.0), ("math.atanh(x)", 2.0), ("math.sin(x)", math.inf), ("math.cos(x)", -math.inf), ("math.tan(x)", math.inf),
    ("math.gamma(x)", -1.0), ("math.gamma(x)", 0.0), ("math.gamma(x)", -math.inf), ("math.lgamma(x)", -3.0), ("math.exp(x)", 1000.0), ("math.fmod(x, 0.0)", 1.0), ("math.pow(x, -1.0)", 0.0),
    ("range(x).index(7)", 3), ("[1, 2].index(x)", 3), ("['a'].index(x)", "b"), ("[1.5].index(x)", 2.5),
    ("random.randint(x, 1)", 5), ("random.randrange(x, 1)", 5), ("random.randrange(x, 1, 2)", 5), ("random.randrange(1, x, -1)", 5), ("random.randrange(x)", 0), ("random.sample([1], x, counts=[0])", 0),
    ("random.sample([1], x, counts=[0])", 1), ("random.sample([1], x, counts=[-1])", 1), ("random.expovariate(x)", 0.0), ("random.paretovariate(x)", 0.0),
])
def test_exceptions_say_what_this_python_says(text, x):
    same(text, x, math=math, random=random)


@pytest.mark.parametrize("text", ["min(v for v in range(x))", "max(v for v in range(x))", "min([v for v in range(x)])", "max([v * 1.5 for v in range(x)])"])
def test_nothing_to_compare(text):
    same(text, 0)


SUMS = ["sum(x)", "sum(v for v in x)", "sum([v * v for v in x])", "sum(x, 0.1)", "sum(x, 3)", "sum(x, 10**17 + 1)", "sum((x[0], x[-1]))", "sum((x[0], 2, x[-1]))", "sum((1, x[0], True))"]


@pytest.mark.parametrize("text", SUMS)
def test_sums_of_floats_are_compensated_where_pythons_are(text):
    draw = random.Random(text)
    for n in (1, 2, 3, 10, 100):
        same(text, [draw.uniform(-1, 1) * 10.0 ** draw.randint(-10, 10) for _ in range(n)])


@pytest.mark.parametrize("x", [[0.1] * 10, [1e308, 1e308, -1e308], [math.inf, 1.0], [math.inf, -math.inf], [-0.0], [-0.0, -0.0], [math.nan, 1.0], [1e16, 1.0, -1e16], [1, 2, 3], [True, False], [0.1j, 0.2j, 1e16 + 0.3j, -1e16 + 0j], range(5)], ids=str)
def test_sums_at_the_edges(x):
    same("sum(x)", x)
    same("sum(v for v in x)", x)


EDGES = [[], [2.5], [0.5, -8.0], [0.0, 2.0], [math.nan, 1.0], [0.0, math.inf], [math.nan, -1.0], [math.inf, 2.0], [0.0, -1.0], [1.0, 1.0], [math.inf, -math.inf]]


@pytest.mark.parametrize("name", ["mean", "fmean", "geometric_mean", "harmonic_mean", "median", "median_low", "median_high", "mode", "multimode", "pvariance", "variance", "pstdev", "stdev"])
def test_statistics_of_few_and_of_odd_numbers(name):
    for x in EDGES:
        # What is no number has no variance in any version, by one way or another.
        if x and not ("variance" in name or "stdev" in name) or all(map(math.isfinite, x)) and x:
            # An int where Python's happens to be one is a float.
            same(f"statistics.{name}(x)" if name != "harmonic_mean" else "float(statistics.harmonic_mean(x))", x, statistics=statistics)


def test_statistics_of_two_series():
    for x, y in (([0.1, 0.2], [3.0, 1.0]), ([1.0], [2.0]), ([1.0, 2.0], [1.0]), ([1.0, 2.0], [0.0, 0.0]), ([1.0, 1.0], [1.0, 2.0]), ([1.0, 2.0], [-1.0, 2.0])):
        for text in ("fmean(x, y)", "harmonic_mean(x, y)", "covariance(x, y)", "correlation(x, y)", "linear_regression(x, y)", "quantiles(x, n=4)"):
            same(f"statistics.{text}", x, y, statistics=statistics)


def test_sums_of_numpys_numbers_are_plain():
    np = pytest.importorskip("numpy")
    same("float(sum(x))", np.array([0.1] * 10))
    same("float(sum(x))", np.array([0.1] * 10, np.float32))


def test_a_changed_global_is_seen_whatever_way_it_changes():
    space = {"tierup": tierup, "K": 1}
    exec("@tierup.njit\ndef f():\n    return K\n", space)
    f = space["f"]
    assert f() == 1
    space["K"] = 2
    assert f() == 2
    space.update(K=3.5)
    assert f() == 3.5
    space.pop("K")
    with pytest.raises(NameError):
        f()
    space.setdefault("K", 4)
    assert f() == 4
    copy = dict(space)
    space.clear()
    with pytest.raises(NameError):
        f()
    space.update(copy)
    assert f() == 4
    space |= {"K": 5}
    assert f() == 5


def test_many_namespaces_come_and_go():
    for k in range(2000):
        space = {"tierup": tierup, "K": k}
        exec("@tierup.njit\ndef f():\n    return K\n", space)
        if k % 100 == 0:
            assert space["f"]() == k
            space["K"] = -k
            assert space["f"]() == -k


def test_an_unknown_python_runs_functions_as_they_are():
    program = """
        import sys, warnings
        import numpy as np
        real, sys.version_info = sys.version_info, (3, 99, 0, "final", 0)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            import tierup
            from tierup import jit, njit, prange, vectorize
        sys.version_info = real
        print([w.category.__name__ for w in seen], seen[0].message)

        @njit
        def f(x):
            return {"anything": x}

        @jit(parallel=True)
        def g(n):
            s = 0
            for i in prange(n):
                s += i
            return s

        @vectorize
        def h(x):
            return x + 1

        print(f(1), g(4), h(np.array([1.5])), type(f).__name__)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    warning, answers = run.stdout.splitlines()
    assert run.stderr == "" and warning.startswith("['TierupWarning'] this tierup compiles on Python 3.11 to ") and "not on 3.99" in warning
    assert answers == "{'anything': 1} 6 [2.5] function"


NEW_SYNTAX = {
    "a generic function": ((3, 12), "def f[T](x: T) -> T:\n    return x + x\n", (2.5,)),
    "a comprehension over the name of a local": ((3, 11), "def f(n):\n    x = 10\n    ys = [x * 2 for x in range(n)]\n    return x, ys\n", (3,)),
    "a comprehension that raises keeps the local": ((3, 11), "def f(n):\n    x = 10\n    try:\n        ys = [6 // (x - 1) for x in range(n)]\n    except ZeroDivisionError:\n        ys = [-1]\n    return x, ys\n", (3,)),
    "nested comprehensions": ((3, 11), "def f(n):\n    return [[i * j for j in range(i)] for i in range(n)], [i for i in range(n) if i % 2 for j in range(i)]\n", (4,)),
    "a captured comprehension variable": ((3, 11), "def f(n):\n    k = 2\n    return [(lambda: i * k)() for i in range(n)]\n", (4,)),
    "quotes inside quotes": ((3, 12), "def f(x):\n    return f'{f'{x}'} {'a' + 'b'}'\n", (4,)),
    "a return in finally": ((3, 11), "def f(x):\n    try:\n        return 1 // x\n    finally:\n        x += 1\n", (4,)),
    "except groups without parentheses": ((3, 14), "def f(x):\n    try:\n        return 1 // x\n    except ZeroDivisionError, ValueError:\n        return -1\n", (0,)),
}


@pytest.mark.parametrize("name", NEW_SYNTAX)
def test_what_later_versions_write_means_the_same(name):
    since, source, arguments = NEW_SYNTAX[name]
    if sys.version_info < since:
        pytest.skip(f"syntax of Python {since[0]}.{since[1]}")
    space = {}
    exec(source, space)
    assert repr(tierup.njit(space["f"])(*arguments)) == repr(space["f"](*arguments))


def test_type_parameters_inside_a_function_are_refused_at_their_line():
    if sys.version_info < (3, 12):
        pytest.skip("syntax of Python 3.12")
    space = {}
    exec("def f(x):\n    def g[T](y: T) -> T:\n        return y * 2\n    return g(x)\n", space)
    with pytest.raises(tierup.UnsupportedError, match="line 2"):
        tierup.njit(space["f"])(1)


def test_template_strings_are_refused_at_their_line():
    if sys.version_info < (3, 14):
        pytest.skip("syntax of Python 3.14")
    space = {}
    exec("def f(x):\n    return t'{x}'\n", space)
    with pytest.raises(tierup.UnsupportedError, match="line 2"):
        tierup.njit(space["f"])(1)
