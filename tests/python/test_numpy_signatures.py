"""Every form in which functions of linear algebra, sorting and random numbers can be called, against NumPy: parameters by place and by name, sizes, dtypes, `out`, wrong values.

Results have NumPy's dtype and shape, random numbers its bits and the state of the generator afterwards; exceptions their class and text. What is refused when it is compiled must be a TypeError of NumPy's,
or stands in `REFUSED`.
"""

import copy
import linecache
import math
import random
import re
import warnings
from itertools import product

import numpy as np
import pytest
from harness import sampling

tierup = pytest.importorskip("tierup")
A, B, I = np.array([0.5, 1.0, 2.5]), np.array([[1.0], [3.0]]), np.array([2, 5, 9])


@pytest.fixture(autouse=True)
def tier_0_alone():
    tierup.config.tier = "0"


# -- calls -------------------------------------------------------------------------------------------------------------------------------------


def made(parameters, expression, before=()):
    source = f"def f({parameters}):\n" + "".join(f"    {line}\n" for line in before) + f"    return {expression}\n"
    file = f"<signature {expression}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"np": np, "random": random, "math": math, "A": A, "B": B, "I": I}
    exec(compile(source, file, "exec"), scope)
    return scope["f"]


def outcome(f, args):
    args = [copy.deepcopy(a) for a in args]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*args), None, args
        except Exception as e:  # noqa: BLE001
            return None, e, args


def same(a, b, close):
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y, close) for x, y in zip(a, b))
    if isinstance(a, np.random.Generator):
        return repr(a.bit_generator.state) == repr(b.bit_generator.state)
    if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
        return False
    if isinstance(a, np.ndarray) and (a.dtype != b.dtype or a.shape != b.shape):
        return False
    if not isinstance(a, (np.ndarray, np.generic, int, float, complex, bool)):
        return a == b
    kinds = np.asarray(a).dtype.kind, np.asarray(b).dtype.kind
    if kinds[0].replace("u", "i") != kinds[1].replace("u", "i"):
        return False
    if close and kinds[0] in "fc":
        with np.errstate(all="ignore"):
            return bool(np.allclose(a, b, rtol=close, atol=close * 100, equal_nan=True))
    return bool(np.array_equal(a, b, equal_nan=kinds[0] in "fc"))


def differs(parameters, expression, args, before=(), close=0.0):
    """What is wrong with one call, or None."""
    plain, compiled = made(parameters, expression, before), tierup.njit(made(parameters, expression, before))
    want, error, after = outcome(plain, args)
    got, other, after_compiled = outcome(compiled, args)
    shown = "; ".join([*before, expression])
    if isinstance(other, tierup.TierupError):
        known = any(re.search(p, shown) for p in REFUSED)
        return None if isinstance(error, TypeError) or known else f"{shown}: refused: {other}\n  NumPy: {error!r} {want!r}"
    if error is None and other is None:
        return None if same(want, got, close) and same(after, after_compiled, close) else f"{shown}: want {want!r}, got {got!r}"
    if error is None or other is None or type(error) is not type(other) or str(error) != str(other):
        known = any(re.search(p, shown) for p in OTHER_ERRORS)
        return None if known and (error is None) == (other is None) else f"{shown}: want {error!r} {want!r}, got {other!r} {got!r}"
    return None


def check(calls, count=8):
    """Of each function some forms, the same in every run; `TIERUP_TESTS=all` tries all of them."""
    calls = list(calls)
    if not sampling.ALL:
        calls = random.Random(len(calls)).sample(calls, min(count, len(calls)))
    found = [f for f in (differs(*c) for c in calls) if f]
    assert not found, f"{len(found)} differ:\n" + "\n".join(found[:20])


# What compiled code has no type or no room for; each names what to do instead.
REFUSED = [r"size='x'", r"size=2\.0", r"size=np\.array", r"'x'", r"None, ", r"\(None", r", None\)", r"1j", r"axis=None", r"\[\.\.\., 0\]"]
# Where the class of the error is right and its text another: sizes that do not fit to several parameters, broken up differently; numbers that are no integers.
OTHER_ERRORS = [r"size=\(2, [23]\)", r"size=7", r"size=3\b", r"binomial\((np\.nan|1e300)", r"hypergeometric\(.*(np\.nan|1e300)", r"poisson\(np\.array", r"uniform\(np\.array"]

# -- random numbers ----------------------------------------------------------------------------------------------------------------------------

DISTRIBUTIONS = {
    "beta": ("a=1.5, b=2.0", "A, B"), "binomial": ("n=10, p=0.3", "I, 0.4"), "chisquare": ("df=3", "A"), "exponential": ("scale=2.0", "A"), "f": ("dfnum=3, dfden=4.5", "A, B"), "gamma": ("shape=2.0, scale=1.5", "A, B"),
    "geometric": ("p=0.3", "A / 3"), "gumbel": ("loc=0.5, scale=2.0", "A, B"), "hypergeometric": ("ngood=10, nbad=5, nsample=7", "I, 4, 2"), "laplace": ("loc=0.5, scale=2.0", "A, B"),
    "logistic": ("loc=0.5, scale=2.0", "A, B"), "lognormal": ("mean=0.5, sigma=0.7", "A, B"), "logseries": ("p=0.6", "A / 3"), "negative_binomial": ("n=5, p=0.4", "A, 0.5"), "noncentral_chisquare": ("df=3, nonc=1.5", "A, B"),
    "noncentral_f": ("dfnum=3, dfden=4, nonc=1.5", "A, 3, B"), "normal": ("loc=1.0, scale=2.0", "A, B"), "pareto": ("a=2.5", "A"), "poisson": ("lam=4.5", "A"), "power": ("a=2.5", "A"), "rayleigh": ("scale=2.0", "A"),
    "standard_cauchy": ("", ""), "standard_exponential": ("", ""), "standard_gamma": ("shape=2.5", "A"), "standard_normal": ("", ""), "standard_t": ("df=4", "A"), "triangular": ("left=0.0, mode=1.0, right=4.0", "-1.0, A, 4.0"),
    "uniform": ("low=1.0, high=3.0", "A, A + B"), "vonmises": ("mu=0.5, kappa=2.0", "A, B"), "wald": ("mean=1.5, scale=2.0", "A, B"), "weibull": ("a=2.5", "A"), "zipf": ("a=2.5", "A + 1.5"),
}
SIZES = ["", "size=None", "size=5", "size=(2, 3)", "size=()", "size=0", "size=[2, 3]", "size=np.int64(4)", "size=-1", "size=2.0", "size='x'"]
WRONG = ["-1.0", "np.nan", "0.0", "-0.0", "'x'", "None", "1j", "1e300", "0.5"]


def joined(*parts):
    return ", ".join(p for p in parts if p)


def forms(name):
    """The arguments that a distribution is tried with."""
    by_name, arrays = DISTRIBUTIONS[name]
    values = [p.split("=")[1] for p in by_name.split(", ") if p]
    yield from (joined(*values, size) for size in SIZES)
    if values:
        yield from (joined(arrays, size) for size in ("", "size=(2, 3)", "size=(4, 2, 3)", "size=(2, 2)", "size=7"))
        yield from (by_name, joined(by_name, "size=4"), ", ".join(f"[{v}, {v}]" for v in values), ", ".join(f"np.array({v})" for v in values))
    for k, wrong in product(range(len(values)), WRONG):
        yield ", ".join(values[:k] + [wrong] + values[k + 1:])


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_of_generators(name):
    check(("g", f"g.{name}({form}), g.random()", [np.random.default_rng(7)]) for form in forms(name))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_of_the_module(name):
    # NumPy does not come back from the largest exponents of `zipf`.
    check(("s", f"np.random.{name}({form}), np.random.random()", [3], ["np.random.seed(s)"]) for form in forms(name) if (name, form) != ("zipf", "1e300"))


INTEGER_TYPES = ["", "dtype=np.int64", "dtype=np.int32", "dtype=np.uint8", "dtype=np.int8", "dtype=np.uint16", "dtype=np.bool_", "dtype=np.uint64"]
INTERVALS = ["10", "2, 100", "0, 1", "5, 5", "-3, 3", "0, 2", "0, 256", "0, 2**40", "0", "10.0", "np.array([1, 2, 100])", "np.array([-3, 0, 1]), np.array([[3], [4]])", "[0, 1], [2, 3]", "np.array([5, 1]), 3"]


@pytest.mark.parametrize("dtype", INTEGER_TYPES)
def test_integers(dtype):
    check(("g", f"g.integers({joined(ends, form, dtype)}), g.random()", [np.random.default_rng(3)]) for ends, form in product(INTERVALS, ["", "endpoint=True", "size=(2, 3)", "size=4"]) if "[" not in ends or form != "size=4")
    check(("s", f"np.random.randint({joined(ends, form, dtype)}), np.random.random()", [3], ["np.random.seed(s)"]) for ends, form in product(INTERVALS, ["", "size=(2, 3)"]))


OUTS = ["np.zeros(4)", "np.zeros((2, 3))", "np.zeros((2, 3), order='F')", "np.zeros(8)[::2]", "np.zeros(4, np.float32)", "np.zeros(4, np.int64)", "np.zeros(0)"]


@pytest.mark.parametrize("method", ["random", "standard_normal", "standard_exponential", "standard_gamma"])
def test_places_for_random_numbers(method):
    shape = "2.5" if method == "standard_gamma" else ""
    check(("g", f"g.{method}({joined(shape, f'out={out}', form)}), g.random()", [np.random.default_rng(3)]) for out, form in product(OUTS, ["", "dtype=np.float32", "size=4", "size=(2, 3)", "size=(5,)"]))


CHOICES = ["10", "0", "-3", "np.arange(10) * 1.5", "np.arange(12).reshape(4, 3)", "[1, 2, 3, 4]", "(1.5, 2.5, 3.5, 4.5)", "np.zeros(0)", "np.array(5)", "5.0", "range(4)", "20000"]
OPTIONS = ["", "3", "(2, 2)", "3, replace=False", "3, replace=False, shuffle=False", "replace=False", "0", "50, replace=False", "2, axis=-1", "-1"]
WEIGHTS = ["[0.1, 0.2, 0.3, 0.4]", "(0.5, 0.5, 0, 0)", "[0.5, 0.5]", "[0.5, 0.6, 0.1, 0.1]", "[-0.1, 0.6, 0.4, 0.1]", "[np.nan, 0.5, 0.25, 0.25]", "np.full((2, 2), 0.25)", "np.full(4, 0.25, np.float32)"]


def test_choices():
    check(("g", f"g.choice({joined(a, form)}), g.random()", [np.random.default_rng(3)]) for a, form in product(CHOICES, OPTIONS))
    check(("g", f"g.choice(4, p={p}{form}), g.random()", [np.random.default_rng(3)]) for p, form in product(WEIGHTS, ["", ", size=3", ", size=3, replace=False", ", replace=False"]))
    check(("g", f"g.{f}({joined(a, form)}), g.random()", [np.random.default_rng(3)]) for f, a, form in product(["permutation", "permuted"], CHOICES[3:9], ["", "axis=0", "axis=1", "axis=-1", "axis=7"]))
    check(("g", "x, g.random()", [np.random.default_rng(3)], [f"x = {a}", f"g.shuffle({joined('x', form)})"]) for a, form in product(CHOICES[3:9], ["", "axis=0", "axis=1", "axis=-1", "axis=7"]))


# -- sorting -----------------------------------------------------------------------------------------------------------------------------------

SORTED = [np.array([3.0, np.nan, -0.0, 1.0, 0.0, -np.inf]), np.array([[3, 1, 2], [0, 7, -8]]), np.array([2 + 1j, 2 - 1j, 0]), np.array([True, False, True]), np.zeros(0), np.array(3)]
SORTS = ["", "0", "axis=-1", "axis=None", "axis=5", "kind='stable'", "0, 'mergesort'", "kind='heapsort'", "kind='Q'", "kind='bogus'", "kind=''", "stable=True", "kind='stable', stable=True", "order='x'", "axis=-1, kind=None, order=None, stable=None"]
PLACES = ["1", "-1", "[0, 1]", "(0, -1)", "np.array([1, 0])", "True", "2.0", "[2.0]", "np.array([[1]])", "np.array([], np.int64)", "100", "[0, 100]", "None"]


@pytest.mark.parametrize("k", range(len(SORTED)))
def test_sorting(k):
    check(("a", f"np.sort({joined('a', form)})", [SORTED[k]]) for form in SORTS)
    check(("a", f"np.argsort({joined('a', form)}).shape", [SORTED[k]]) for form in SORTS)
    check(("a", "a", [SORTED[k]], [f"a.sort({form})"]) for form in SORTS if form != "axis=None")
    check(("a", f"np.{f}({joined('a', places, form)}).shape", [SORTED[k]]) for f, places, form in product(["partition", "argpartition"], PLACES, ["", "axis=None", "kind='introselect'", "kind='x'"]))


# -- linear algebra ----------------------------------------------------------------------------------------------------------------------------

RANDOM = np.random.default_rng(5)
SQUARE = RANDOM.normal(size=(3, 3))
MATRICES = {
    "square": SQUARE @ SQUARE.T + 3 * np.eye(3), "single": (SQUARE + 3 * np.eye(3)).astype(np.float32), "complex": SQUARE @ SQUARE.T + 9 * np.eye(3) + 1j * (SQUARE - SQUARE.T), "integers": np.array([[2, 1], [1, 3]]),
    "bools": np.array([[True, False], [True, True]]), "empty": np.zeros((0, 0)), "stack": np.stack([np.eye(3), 2 * np.eye(3) + 0.1]), "no stack": np.zeros((0, 3, 3)), "tall": RANDOM.normal(size=(4, 2)), "wide": RANDOM.normal(size=(2, 4)),
    "vector": np.arange(3.0), "number": np.array(2.0), "singular": np.ones((3, 3)), "infinite": np.array([[np.inf, 1.0], [2.0, np.inf]]), "no numbers": np.full((2, 2), np.nan),
}
SOLVERS = [
    "inv(a)", "inv(a=a)", "det(a)", "slogdet(a)", "eigvals(a)", "eigh(a)", "eigh(a, 'U')", "eigh(a, UPLO='x')", "eigvalsh(a, UPLO='u')", "svd(a)", "svd(a, False)", "svd(a, compute_uv=False)", "svd(a, full_matrices=False)", "svdvals(a)", "qr(a)",
    "qr(a, 'r')", "qr(a, mode='complete')", "qr(a, 'raw')", "qr(a, 'bogus')", "cholesky(a)", "cholesky(a, upper=True)", "pinv(a)", "pinv(a, rcond=1e-3)", "pinv(a, rtol=1e-3)", "matrix_rank(a)", "matrix_rank(a, 0.5)", "matrix_rank(a, rtol=0.1)",
    "matrix_power(a, 0)", "matrix_power(a, 1)", "matrix_power(a, 3)", "matrix_power(a, -2)", "matrix_power(a, 2.0)", "cond(a)", "cond(a, 1)", "cond(a, p=-2)", "cond(a, np.inf)", "cond(a, 'fro')", "cond(a, 'bogus')", "norm(a)", "norm(a, 1)",
    "norm(a, 2)", "norm(a, -np.inf)", "norm(a, 'nuc')", "norm(a, 3)", "norm(a, axis=0)", "norm(a, axis=(0, 1))", "norm(a, axis=(0, 5))", "norm(a, axis=7)", "norm(a, axis=(1, 1))", "norm(a, keepdims=True)", "norm(a, 1, axis=-1, keepdims=True)",
    "solve(a, a)", "solve(a, a[..., 0])", "lstsq(a, a, None)", "tensorinv(a)", "tensorinv(a, 1)", "tensorinv(a, ind=0)", "tensorsolve(a, a[..., 0])", "tensorsolve(a, a)", "tensorsolve(a, a[0], (0,))", "multi_dot((a, a, a))", "multi_dot([a, a])",
    "vector_norm(a)", "vector_norm(a, axis=(0, 1))", "vector_norm(a, axis=(1, 0), keepdims=True)", "vector_norm(a, axis=(0,), ord=1)", "vector_norm(a, axis=(0, 0))", "vector_norm(a, axis=(-1, 3))", "vector_norm(a, axis=-1, ord=np.inf)", "matrix_norm(a)",
    "matrix_norm(a, ord=1, keepdims=True)", "matrix_norm(a, ord='nuc')",
]
# What comes of a matrix that is singular but for roundings.
APART = {("matrix_power(a, -2)", "singular")}


@pytest.mark.parametrize("name", MATRICES)
def test_solvers(name):
    a = MATRICES[name]
    close = 1e-3 if name == "single" else 1e-9
    # What a singular or unbounded matrix gives in the last place is rounding.
    if name in ("singular", "infinite"):
        close = 1e-6
    which = [s for s in SOLVERS if not any(s.startswith(f) and m == name for f, m in APART)]
    check(("a", f"np.linalg.{s}", [m], (), close) for s in which for m in (a, np.asfortranarray(a)))


PRODUCTS = ["a @ b", "np.dot(a, b)", "np.dot(a, b, None)", "np.dot(a, b, out=None)", "a.dot(b)", "np.matmul(a, b)", "np.inner(a, b)", "np.outer(a, b)", "np.vdot(a, b)", "np.kron(a, b)", "np.tensordot(a, b, 1)", "np.tensordot(a, b, 0)", "np.vecdot(a, b)", "np.matvec(a, b)", "np.vecmat(a, b)"]
SHAPES = [((3,), (3,)), ((3,), (4,)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((3,), (3, 2)), ((2, 3), (2, 3)), ((2, 2, 3), (3, 2)), ((2, 2, 3), (2, 3, 2)), ((0,), (0,)), ((2, 0), (0, 3)), ((1, 1), (1, 1))]


@pytest.mark.parametrize("types", ["f8 f8", "f4 f8", "i4 f4", "? i8", "c16 f8", "u1 i1", "? ?"])
def test_products(types):
    s, t = types.split()
    arrays = [((RANDOM.random(m) * 5).astype(s), (RANDOM.random(n) * 5).astype(t)) for m, n in SHAPES]
    check(("a, b", e, args, (), 1e-5) for e in PRODUCTS for args in arrays)


# -- chains, tensors, norms over several axes --------------------------------------------------------------------------------------------------

FACTORS = {"a": (3, 4), "b": (4, 2), "c": (2, 5), "d": (5, 3), "u": (4,), "v": (3,)}
CHAINS = ["(a, b)", "(a, b, c)", "[a, b]", "(a, b, c, d)", "(a, b, c, d, a)", "(v, a, b, c, d, v)", "(v, a, u)", "(v, a)", "(a, u)", "(v, a, b)", "(b, c, d, v)", "[a, a.T, a]", "[a, a.T, a, a.T, a @ a.T]", "(a,)", "()", "(a, c)", "(a, c, d)", "[v, v]", "[v, v, v]", "(a, v, a)", "(a, 2.0)", "(2.0, a, b)",
          "(a.astype(np.int32), b.astype(np.int8), c.astype(np.int64))", "(a.astype(np.float32), b, c, d.astype(np.float32))", "(a + 1j, b, c, d)", "(a[:0], b)", "(a[:, :0], b[:0], c)", "(np.asfortranarray(a), b, c, d)", "np.ones((4, 3, 3))", "[[[1, 2], [3, 4]], [[1, 0], [0, 1]], [[2, 2], [2, 2]]]",
          "(a, b), out=np.zeros((3, 2))", "(a, b, c), out=np.zeros((3, 5))", "(a, b, c, d), out=np.zeros((3, 3))", "(a, b, c), out=np.zeros((5, 3)).T", "(a, b, c), out=np.zeros((3, 4))", "(a, b, c), out=np.zeros((3, 5), np.float32)"]


@pytest.mark.parametrize("chain", CHAINS)
def test_chains_of_matrices(chain):
    args = [np.random.default_rng(3).integers(-4, 5, shape).astype(float) for shape in FACTORS.values()]
    found = differs(", ".join(FACTORS), f"np.linalg.multi_dot({chain})", args, close=1e-12)
    assert not found, found


T = np.random.default_rng(8).normal(size=(2, 3, 6)) + np.arange(36.0).reshape(2, 3, 6) ** 0.5
TENSORS = ["np.linalg.tensorinv(t)", "np.linalg.tensorinv(t, ind=2)", "np.linalg.tensorinv(t.reshape(6, 2, 3), 1)", "np.linalg.tensorinv(t, 1)", "np.linalg.tensorinv(t, k + 1)", "np.linalg.tensorinv(t, 0)", "np.linalg.tensorinv(t, -1)", "np.linalg.tensorinv(t.reshape(6, 6), 1)", "np.linalg.tensorinv(t.reshape(4, 9), 5)",
           "np.linalg.tensorsolve(t, np.ones((2, 3)))", "np.linalg.tensorsolve(t.reshape(2, 3, 3, 2), np.ones((2, 3)))", "np.linalg.tensorsolve(t.reshape(3, 2, 6), np.ones((6,)), (1, 0))", "np.linalg.tensorsolve(t.reshape(2, 6, 3), np.ones((2, 3)), axes=(1,))", "np.linalg.tensorsolve(t, np.ones((2, 3)), axes=(7,))",
           "np.linalg.tensorsolve(t, np.ones((2, 4)))", "np.linalg.tensorsolve(t, np.ones((3, 2)))", "np.linalg.tensorsolve(t * 0, np.ones((2, 3)))", "np.linalg.tensorsolve(t.astype(np.float32), np.ones((2, 3), np.int8))", "np.linalg.tensorsolve([[2, 1], [1, 3]], [1, 2])",
           *(f"np.linalg.vector_norm({x}, axis={axis}{rest})" for x in ("t", "(t * 4).astype(np.int64)") for axis in ("(0, 1)", "(2, 0)", "(0, 1, 2)", "(-1, -2)", "(1,)", "()", "(0, -3)", "(0, 3)", "(k, 2)") for rest in ("", ", keepdims=True", ", ord=1", ", ord=np.inf, keepdims=True")),
           "np.linalg.matrix_norm(t)", "np.linalg.matrix_norm(t[0, 0])", "np.linalg.matrix_norm(t, keepdims=True, ord=-np.inf)", "np.linalg.norm(t, axis=(0, 2))", "np.linalg.norm(t, 1, (2, 0), True)", "np.linalg.norm(t, axis=(0, 1, 2))"]


@pytest.mark.parametrize("part", range(4))
def test_tensors(part):
    check((("t, k", e, [T, 0], (), 1e-9) for e in TENSORS[part::4]), 99)


POWERS = ["np.linalg.matrix_power(a, n - 5)", "np.linalg.matrix_power(a, -n)", "np.linalg.matrix_power(a, n) @ a, np.linalg.matrix_power(a, n - 4) @ a", "np.linalg.matrix_power(a.astype(np.int8), -n)", "np.linalg.matrix_power(a.astype(np.float32), 1 - n)", "np.linalg.matrix_power(a[None], -n)",
          "np.linalg.matrix_power(a - a, -n)", "np.linalg.matrix_power(a, -1)", "np.linalg.matrix_power(a, -3)", "np.linalg.matrix_power(a, n)", "np.linalg.matrix_power(a > 0, -1)", "np.linalg.pinv(a)", "np.linalg.pinv(a[:0])", "np.linalg.pinv(a[:, :0])", "np.linalg.pinv(a[:0].astype(np.float32))", "np.linalg.pinv(np.zeros((2, 0, 3), np.int8))",
          "np.linalg.pinv(a[:n - 2] > 1)", "np.linalg.pinv(np.zeros((0, 3, 2), np.int8))", "np.linalg.pinv(np.zeros((0, n, n), np.bool_), hermitian=True)", "np.linalg.pinv(np.zeros((n - 2, 0, 3)))", "np.linalg.norm(np.zeros((0, n, n)), 3, axis=(-2, -1))", "np.linalg.norm(np.zeros((0, 2, 2)), 'nuc', (1, 2))",
          "np.linalg.pinv(a * 1.0, rtol=None)", "np.linalg.pinv(a * 1.0, rtol=1e-3)", "np.linalg.pinv(a, 1e-3, rtol=1e-3)", "np.linalg.pinv(a, 1e-3, rtol=None)", "np.linalg.cond(a * 0, 'nuc')", "np.linalg.cond(a * 0, 'fro')", "np.linalg.cond(np.array([[1.0, np.nan], [1.0, 1.0]]), 1)", "np.linalg.norm(np.arange(110.0).reshape(10, 11) ** 0.7, 1)", "np.linalg.norm(np.arange(110.0).reshape(10, 11).T ** 0.7, np.inf)", "np.linalg.norm(np.arange(2200.0).reshape(20, 110) ** 0.7, 1)",
          "np.linalg.norm((np.arange(110.0).reshape(10, 11) ** 0.7).T, 1)", "np.linalg.pinv(a, hermitian=True)"]


def test_types_of_powers_and_inverses():
    check((("a, n", e, [np.array([[2, 1], [1, 3]]), 2], (), 1e-12) for e in POWERS), 99)


# -- order in memory ---------------------------------------------------------------------------------------------------------------------------

CUBE = np.random.default_rng(4).integers(-50, 50, (3, 4, 5))
# Types know rows first and columns first; what lies otherwise is copied row by row.
LAID = {"C": CUBE, "F": np.asfortranarray(CUBE), "rows reversed": CUBE[::-1], "matrix": CUBE[0].T, "vector": CUBE[0, 0, ::-1]}
LAYING = ["np.sort(a)", "np.sort(a, 0)", "np.sort(a, None)", "np.partition(a, 2)", "np.partition(a, 1, 0)", "np.argsort(a, kind='stable')", "np.argsort(a, 0, stable=True)", "np.argpartition(a, 1)", "np.argpartition(a, 1, 0)", "a.copy('K')", "a.copy()"]


@pytest.mark.parametrize("laid", LAID)
def test_results_lie_in_memory_as_numpys(laid):
    wrong = []
    for text in LAYING:
        want, got = made("a", text)(LAID[laid]), tierup.njit(made("a", text))(LAID[laid])
        if want.shape != got.shape or [s for s, n in zip(want.strides, want.shape) if n > 1] != [s for s, n in zip(got.strides, got.shape) if n > 1] or "partition" not in text and not np.array_equal(want, got):
            wrong.append(f"{text}: want {want.strides}, got {got.strides}")
    assert not wrong, "\n".join(wrong)


# -- seeds, new generators, joining ---------------------------------------------------------------------------------------------------------------

SEEDED = ["np.random.seed([1, 2, 3])", "np.random.seed((7, 2**31))", "np.random.seed(np.array([5]))", "np.random.seed(np.array([[5, 6]]))", "np.random.seed(np.array(9, np.uint8))", "np.random.seed(np.array([1, 2], np.int16))", "np.random.seed([-1, 2])", "np.random.seed([1, 2**40])", "np.random.seed([1.5])",
          "np.random.seed([[1, 2]])", "np.random.seed(np.array([[1, 2], [3, 4]]))", "np.random.seed(np.zeros(0, np.int64))", "np.random.seed(np.array([3, 4], np.uint64))", "np.random.seed(2**32 - 1)", "np.random.seed(2**32)", "np.random.seed(-1)", "np.random.seed(2**63)", "np.random.seed(np.array([True]))", "np.random.seed(range(2, 9, 3))"]
PYTHON_SEEDS = ["2**63", "2**64 - 1", "-2**63", "2**32", "0", "True", "s", "s, 2", "7, version=1", "2.5", "-2.5", "0.1", "-0.0", "5.0", "1e300", "-1e-310", "2.0**61 - 1", "2.0**61", "math.inf", "-math.inf", "s + 0.3"]


def test_seeds():
    check((("s", "np.random.random(), np.random.normal(), np.random.normal()", [3], ["np.random.seed(s)", text]) for text in SEEDED), 99)
    check((("s", "random.random(), random.gauss(0.0, 1.0), random.random()", [3], [f"random.seed({seed})"]) for seed in PYTHON_SEEDS), 99)


PYTHON_RANGES = ["randint(-2**63, 2**63 - 1)", "randint(-2**62, 2**63 - 1)", "randint(2**63 - 5, 2**63 - 1)", "randint(-2**63, -2**63)", "randrange(-2**63, 2**63 - 1)", "randrange(-2**63, s)", "randint(s, 2)", "randint(0, 2**32)", "randint(0, 2**32 - 1)", "randrange(2**33)", "sample([4, 5], 3, counts=[2, 4])",
                 "sample((4, 5, 6), counts=(1, 0, 3), k=4)", "sample([4, 5], 3, counts=[2, 4, 1])", "sample([4, 5], 3, counts=[1, 1])", "sample([4, 5], 0, counts=[0, 0])", "sample(range(9), 3, counts=None)"]


def test_ranges_of_all_64_bits_and_counted_samples():
    check((("s", f"random.{text}, random.{text}, random.random()", [3], ["random.seed(s)"]) for text in PYTHON_RANGES), 99)


SPAWNED = ["[h.random() for h in g.spawn(3)], g.random()", "len(g.spawn(0))", "g.spawn(-1)[0].random()", "[h.integers(0, 9) for h in g.spawn(2)[1].spawn(2)], g.spawn(1)[0].normal(size=3)", "g.spawn(1)", "g.spawn(n_children=2)"]


@pytest.mark.parametrize("make", [lambda: np.random.default_rng(5), lambda: np.random.Generator(np.random.MT19937(7)), lambda: legacy()])
def test_generators_spawn(make):
    wrong = []
    for text in SPAWNED:
        want, got = outcome(made("g", text), [make()]), outcome(tierup.njit(made("g", text)), [make()])
        if repr(want[1]) != repr(got[1]) or want[1] is None and not same(want[0], got[0], 0):
            wrong.append(f"{text}: want {want}, got {got}")
    assert not wrong, "\n".join(wrong)


def legacy():
    bits = np.random.MT19937()
    bits._legacy_seeding(3)
    return np.random.Generator(bits)


LARGE = ["0, np.uint64(2**63), endpoint=True", "0, np.uint64(2**63)", "np.uint64(2**63), 3", "np.uint64(2**63), np.uint64(2**63 + 9)", "0, np.uint64(2**63), dtype=np.uint64", "np.uint64(2**63), np.uint64(2**64 - 1), dtype=np.uint64, endpoint=True", "-1, np.uint64(5), dtype=np.uint64", "-5, np.uint64(2**63)", "0, 2**63", "np.uint64(2**63)",
         "np.array([0, 1], np.uint64), np.array([2**63, 5], np.uint64), endpoint=True", "np.array([2**63], np.uint64), np.array([2**63 + 5], np.uint64), dtype=np.uint64", "np.array([3], np.uint64), np.array([3], np.uint64)", "np.uint64(200), dtype=np.uint8", "np.uint64(300), dtype=np.uint8", "np.uint64(0), np.uint64(256), dtype=np.uint8",
         "-2**63, 2**63 - 1, endpoint=True", "-2**63, np.uint64(2**63)"]


def test_integers_of_all_64_bits():
    check((("g", f"g.integers({form}), g.random()", [np.random.default_rng(3)]) for form in LARGE), 99)
    check((("s", f"np.random.randint({form}), np.random.random()", [3], ["np.random.seed(s)"]) for form in LARGE if "endpoint" not in form), 99)


JOINED = ["np.concatenate((a, 'x'))", "np.concatenate(('x', a))", "np.concatenate((a, 1.5))", "np.concatenate((1.5, a))", "np.concatenate([1.0, 2.0])", "np.concatenate([1.0, 2.0], None)", "np.concatenate([[1, 2], [3]])", "np.concatenate([(1, 2), (3, 4)])", "np.concatenate([a, a], 1)", "np.concatenate([a, a], -2)", "np.stack((a, 'x'))",
          "np.stack([1.0, 2.0])", "np.stack([[1, 2], [3, 4]], 1)", "np.stack([a, a], 5)", "np.hstack([1, 2])", "np.vstack([1.0, 2.0])", "np.vstack([[1, 2], [3, 4]])", "np.dstack([1.0, 2.0])", "np.dstack([[1], [2]])", "np.column_stack([[1, 2], [3, 4]])", "np.column_stack([1.0, 2.0])", "np.column_stack([a, a])", "np.hstack(a)", "np.vstack(a)",
          "np.concatenate([['x']])", "np.concatenate((a, None))", "np.concatenate(['x', 'y'])"]


def test_what_is_joined():
    check((("a", e, [x]) for e in JOINED for x in (np.arange(3.0), np.arange(6).reshape(2, 3))), 99)


# -- sums of products ------------------------------------------------------------------------------------------------------------------------------

EINSUMS = ["np.einsum('ij,jk', a, b, optimize=False)", "np.einsum('ij,jk', a, b, out=None, optimize=False, dtype=None, order='K', casting='safe')", "np.einsum('ij->', a, order='F')", "np.einsum('ij,jk', a, b, order='F').strides", "np.einsum('i,i,i,i,i->i', v, v, v, v, v, optimize=False)",
           "np.einsum('pi,qj,ijk,rk,s->pqrs', b, b, t, b, v, dtype=np.complex128)", "np.einsum('ij,jk', a, b, out=np.zeros((2, 4, 1)))", "np.einsum('ij->', a, out=np.zeros(1))", "np.einsum(a, [0, 1], b, [1, 2])", "np.einsum(a, [0, 1], b, [1, 2], [2, 0])", "np.einsum(a, (0, 1), [0])", "np.einsum(t, [0, 0, 1])",
           "np.einsum(t, [..., 3], [...])", "np.einsum(t, [2, ..., 1], [..., 1])", "np.einsum(a, [51, 3])", "np.einsum(a, [3, 51])", "np.einsum(v, [30], v, [30], [])", "np.einsum(v, [0], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 1])", "np.einsum(a, [0, 1], b, [1, 2], optimize=False)", "np.einsum(a, [0, 1], dtype=np.float64)",
           "np.tensordot(a, b, axes=([1], [0]))", "np.tensordot(t, t, ([0, 1], [1, 0]))", "np.tensordot(a, b, [1, 0])"]
EINSUM_ERRORS = ["np.einsum(a, [0])", "np.einsum(a, [0, 52])", "np.einsum(a, [0, 1], [0, 0])", "np.einsum(a, [0, 1], b)", "np.einsum(a, a)"]


def test_sums_of_products():
    args = [np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4) - 5, np.arange(3.0), np.arange(36.0).reshape(3, 3, 4)]
    args[1] = np.ascontiguousarray(args[1][:, :4])
    wrong = [differs("a, b, v, t", e, args) for e in EINSUMS if "pqrs" not in e]
    wrong.append(differs("b, v, t", EINSUMS[5], [np.arange(9.0).reshape(3, 3), args[2], np.arange(27.0).reshape(3, 3, 3)]))
    assert not any(wrong), "\n".join(w for w in wrong if w)
    for e in EINSUM_ERRORS:
        with pytest.raises((tierup.TierupError, ValueError)):
            tierup.njit(made("a, b", e))(*args[:2])


# -- searching and lines -----------------------------------------------------------------------------------------------------------------------------

SEARCHED = ["np.digitize(x, [1.5, np.nan])", "np.digitize(x, [np.nan, 1.5])", "np.digitize(x, [1.0, np.nan, 0.5])", "np.digitize(x, [2.0, 2.0, 1.0], True)", "np.digitize(x, [2.0, 2.0])", "np.digitize(x, [1.0, 3.0, 2.0])", "np.digitize(x + 1j, [1.0])", "np.digitize(x, np.zeros(0))",
            "np.interp(x, [3.0], [4.0])", "np.interp(x, [3.0], [4.0], 7, 8)", "np.interp(x, [0.0, 1.0], [np.inf, 2.0], left=5)", "np.interp(x, [0.0, 1.0], [np.nan, -np.inf], right=5, left=-5)", "np.interp(x, [0.0, 1.0, 2.0], [1j, np.inf, 2 - 1j])", "np.interp(x, [0.0, 1.0, 2.0], [1j, complex(2, np.inf), 2 - 1j])",
            "np.interp(x, [0.0, 0.7, 2.0], [1j, complex(np.nan, 3), 2 - 1j], left=1j)", "np.interp(x, [0.0, 0.3, 1.9], [1 + 2j, 3 + 0.1j, 0.7 - 1j])", "np.interp(np.nan, [0.0, 1.0], [1j, 2.0])", "np.sort_complex(x)", "np.sort_complex([3, 1, 2])", "np.sort_complex(x > 1).dtype.itemsize", "np.sort_complex(np.array([[3, 1], [2, 1j]]))"]


def test_searches_and_lines_with_nan():
    check((("x", e, [np.array([np.nan, 0.25, 1.5, 1.0, np.inf, -np.inf, 3.0])]) for e in SEARCHED), 99)
