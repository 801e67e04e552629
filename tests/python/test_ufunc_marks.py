"""What ufuncs warn of: NumPy reads the processor's marks after their loops, and marks of operands that are missing are nobody's fault."""

import warnings

import numpy as np
import pytest

pytest.importorskip("tierup")
from harness.tiers import on_tier  # noqa: E402, F401
from tierup import guvectorize, vectorize  # noqa: E402

pytestmark = pytest.mark.isolated


def warned(f, *args):
    with warnings.catch_warnings(record=True) as found, np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("always")
        f(*args)
    return sorted(str(w.message).split(" encountered")[0] for w in found)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_elementary_functions_of_missing_values_do_not_warn(tier, dtype):
    x = np.linspace(0.1, 0.9, 40).astype(dtype)
    x[::3] = np.nan
    unary = ["exp", "log", "sin", "cos", "tanh", "sinh", "sqrt"] + (["exp2", "expm1", "log2", "log10", "log1p", "cbrt", "arctan", "arcsin"] if dtype[0] == "f" else [])
    for name in unary:
        space = {"np": np}
        exec(f"def f(x): return np.{name}(x)", space)
        f = vectorize([f"{dtype}({dtype})"])(space["f"])
        for n in (1, 3, 8, 40):
            assert warned(f, x[:n]) == [], (name, n)
            assert warned(f, x[:n][::-1]) == [], (name, n)
    if dtype[0] == "c":
        return
    for name in ("arctan2", "power", "hypot"):
        space = {"np": np}
        exec(f"def f(x, y): return np.{name}(x, y)", space)
        f = vectorize([f"{dtype}({dtype}, {dtype})"])(space["f"])
        for values in ((x, x), (x, x[::-1]), (x, np.full(40, 2, dtype)), (np.full(40, np.inf, dtype), x)):
            for n in (1, 3, 40):
                assert warned(f, *(v[:n] for v in values)) == [], (name, n)
    f = vectorize([f"{dtype}({dtype})"])(lambda x: np.exp(np.sin(x)))
    with np.errstate(all="raise", under="ignore"):
        assert np.isnan(f(x)).tolist() == np.isnan(x).tolist()


def test_what_an_operation_is_to_blame_for_is_warned_of(tier):
    a = np.array([1.0, np.nan, 0.0, 1000.0] * 10)
    exp, quotient = vectorize(["float64(float64)"])(lambda x: np.exp(x)), vectorize(["float64(float64, float64)"])(lambda x, y: np.exp(x - x) / y)
    assert warned(exp, a) == ["overflow"] and warned(exp, a[:3]) == [] and warned(exp, a[3:4]) == ["overflow"]
    assert warned(quotient, a, a) == ["divide by zero"] and warned(quotient, a[:2], a[:2]) == []
    assert warned(vectorize(["float64(float64)"])(lambda x: np.exp(x) - np.exp(x)), a) == ["invalid value", "overflow"]
    # Marks from before stay.
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        quotient(a, a)
    # Whole kernels as well.
    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
    def logs(x, out):
        for i in range(len(x)):
            out[i] = np.exp(x[i])
    assert warned(logs, a[:2]) == [] and warned(logs, a.reshape(-1, 2)[::2]) == [] and warned(logs, a[2:4]) == ["overflow"]
    # Where results lie on operands these are gone.
    assert warned(lambda: exp(a[3:4], out=a[3:4])) == ["overflow"]
