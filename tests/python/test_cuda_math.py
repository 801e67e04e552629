"""Functions of `math` and NumPy in kernels: what they give, and what they raise."""

import math

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import cuda, njit  # noqa: E402


def kernel(body, **options):
    space = {"cuda": cuda, "np": np, "math": math}
    exec(f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < out.shape[0]:\n        out[i] = {body}\n", space)
    return cuda.jit(fma=False, **options)(space["kernel"])


def on_cpu(body, x):
    space = {"np": np, "math": math}
    exec(f"def loop(x, out):\n    for i in range(out.shape[0]):\n        out[i] = {body}\n", space)
    out = np.zeros_like(x)
    njit(error_model="numpy")(space["loop"])(x, out)
    return out


ONE = "sin cos tan asin acos atan sinh cosh tanh asinh atanh exp exp2 expm1 log log2 log10 log1p cbrt gamma lgamma erf erfc sqrt fabs floor ceil trunc degrees radians".split()
OTHERS = ["math.pow(x[i], 2.5)", "x[i] ** 2.5", "x[i] ** 3", "x[i] // 0.3", "x[i] % 0.3", "x[i] % -0.3", "math.fmod(x[i], 0.3)", "math.atan2(x[i], 2.0)", "math.hypot(x[i], 2.0)", "math.log(x[i], 3.0)", "math.acosh(1 + x[i])",
          "math.ldexp(x[i], 3)", "math.ldexp(x[i], -1060)", "math.frexp(x[i])[0]", "math.frexp(x[i])[1]", "math.frexp(x[i] * 1e-310)[0]", "math.frexp(x[i] * 1e-310)[1]", "math.modf(x[i])[0]", "math.copysign(2.0, x[i])", "float(math.isnan(x[i]))"]


@pytest.mark.parametrize("body", [f"math.{name}(x[i])" for name in ONE] + OTHERS)
def test_math_gives_the_bits_of_the_cpu(body):
    x = np.random.default_rng(0).uniform(0.01, 0.99, 300)
    out = np.zeros_like(x)
    kernel(body)[2, 256](x, out)
    np.testing.assert_array_equal(out, on_cpu(body, x))


@pytest.mark.parametrize("y", [0.3, -7.25, 1e-300, 5e-324, 2.5e-310, 1e300, np.inf])
def test_remainders_of_any_operands(y):
    x = np.array([0.0, -0.0, 1.0, -5.5, 1e300, -1.7e308, 5e-324, 3e-310, 123456789.125])
    out = np.zeros_like(x)
    kernel(f"math.fmod(x[i], {repr(y).replace('inf', 'math.inf')})")[1, 32](x, out)
    np.testing.assert_array_equal(out.view(np.uint64), np.array([math.fmod(v, y) for v in x]).view(np.uint64))


@pytest.mark.parametrize("n", [-1100, -1075, -1074, -1030, -1000, -1, 0, 1, 1000])
def test_powers_of_two_are_rounded_once(n):
    x = np.array([1.0, -1.5, 1.0000000000000002, 3e-310, 7e5, 0.0, -0.0])
    out = np.zeros_like(x)
    kernel(f"math.ldexp(x[i], {n})")[1, 32](x, out)
    np.testing.assert_array_equal(out.view(np.uint64), np.array([math.ldexp(v, n) for v in x]).view(np.uint64))


@pytest.mark.parametrize("body, value, error", [
    ("math.log(x[i])", 0.0, ValueError), ("math.log(x[i])", -1.0, ValueError), ("math.asin(x[i])", 2.0, ValueError), ("math.sin(x[i])", np.inf, ValueError), ("math.atanh(x[i])", 1.0, ValueError), ("math.gamma(x[i])", -2.0, ValueError),
    ("math.gamma(x[i])", 0.0, ValueError), ("math.gamma(x[i])", 200.0, OverflowError), ("math.exp(x[i])", 1e4, OverflowError), ("math.pow(x[i], -1.0)", 0.0, ValueError), ("math.pow(x[i], 0.5)", -2.0, ValueError), ("float(x[i]) ** -1.5", 0.0, ZeroDivisionError),
    ("math.pow(x[i], 2.0)", 1e300, OverflowError), ("math.fmod(x[i], 0.0)", 1.0, ValueError), ("math.fmod(x[i], 2.0)", np.inf, ValueError), ("math.ldexp(x[i], 2000)", 1.0, OverflowError), ("math.sqrt(x[i])", -1.0, ValueError),
])
def test_math_raises_what_cpython_raises(body, value, error):
    x = np.array([value])
    with pytest.raises(error):
        eval(body, {"math": math, "x": x.tolist(), "i": 0})
    with pytest.raises(error) as e:
        kernel(body)[1, 1](x, np.zeros(1))
    assert e.value.place.line == 4


@pytest.mark.parametrize("body", ["math.exp(x[i])", "math.log(x[i])", "math.sin(x[i])", "math.pow(x[i], 2.0)", "math.fmod(x[i], 2.0)", "math.ldexp(x[i], 4)"])
def test_nan_goes_through(body):
    out = np.zeros(1)
    kernel(body)[1, 1](np.array([np.nan]), out)
    assert np.isnan(out[0])


FLOATS = "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh cbrt sqrt".split()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", FLOATS)
def test_numpy_gives_the_bits_of_the_cpu(name, kind):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-3, 3, 300), rng.uniform(-200, 200, 100), np.exp(rng.uniform(-60, 60, 100)), [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 1e5, 123456.7, 3e9]]).astype(kind)
    out = np.zeros_like(x)
    kernel(f"np.{name}(x[i])")[2, 256](x, out)
    want = on_cpu(f"np.{name}(x[i])", x)
    np.testing.assert_array_equal(out, want)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.float64))
        np.testing.assert_allclose(out, exact.astype(kind), rtol=2.5e-7 if kind is np.float32 else 1e-15)
