"""Arrow, Awkward, xarray and SciPy with compiled functions: what goes in without a copy, and what comes out."""

import awkward as ak
import numpy as np
import pandas as pd
import pyarrow as pa
import tierup
import xarray as xr
from scipy import LowLevelCallable, integrate, optimize
from tierup import cfunc, njit, types, vectorize

COLUMN = np.random.default_rng(0).random(1000)


@njit
def total(x):
    s = 0.0
    for v in x:
        s += v
    return s


@vectorize
def clipped(x, low):
    return x if x > low else low


def test_columns_of_arrow():
    column = pa.array(COLUMN)
    seen = np.from_dlpack(column)
    assert seen.ctypes.data == column.buffers()[1].address and total(seen) == total(COLUMN)
    assert total(np.frombuffer(column.buffers()[1], np.float64)) == total(COLUMN)
    table = pa.table({"x": COLUMN})
    assert total(table["x"].to_numpy()) == total(COLUMN)
    again = pa.array(clipped(seen, 0.5))
    assert again.to_numpy().min() == 0.5


def test_columns_of_pandas_that_arrow_holds():
    series = pd.Series(COLUMN).convert_dtypes(dtype_backend="pyarrow")
    assert total(series.to_numpy()) == total(COLUMN)
    words = pd.Series(["a", "bc", "def"])
    assert words.map(njit(lambda s: len(s))).tolist() == [1, 2, 3]


def test_ragged_arrays():
    ragged = ak.Array([[1.0, 2.0], [], [3.0]])

    @njit
    def sums(values, counts):
        out, at = np.zeros(len(counts)), 0
        for k in range(len(counts)):
            for _ in range(counts[k]):
                out[k] += values[at]
                at += 1
        return out

    assert sums(ak.to_numpy(ak.flatten(ragged)), ak.to_numpy(ak.num(ragged))).tolist() == [3, 0, 3] == ak.sum(ragged, axis=1).to_list()
    assert clipped(ragged, 2.0).to_list() == [[2.0, 2.0], [], [3.0]]


def test_functions_of_labelled_arrays():
    data = xr.DataArray(COLUMN.reshape(10, 100), dims=("station", "time"), coords={"station": range(10)})
    mean = njit(lambda x: x.sum() / len(x))
    got = xr.apply_ufunc(mean, data, input_core_dims=[["time"]], vectorize=True)
    xr.testing.assert_allclose(got, data.mean("time"))
    assert xr.apply_ufunc(clipped, data, 0.5).identical(data.clip(min=0.5))
    assert clipped(data, 0.5).identical(data.clip(min=0.5))


def test_integrals_and_solvers():
    bell = cfunc("float64(float64)")(lambda x: np.exp(-x * x))
    assert abs(integrate.quad(LowLevelCallable(bell.ctypes), -np.inf, np.inf)[0] - np.sqrt(np.pi)) < 1e-8
    scaled = cfunc(types.float64(types.intc, types.CPointer(types.float64)))(lambda n, x: x[0] * x[1])
    assert abs(integrate.quad(LowLevelCallable(scaled.ctypes), 0, 1, args=(4.0,))[0] - 2) < 1e-9

    @njit
    def decay(t, y, rate):
        return -rate * y

    solved = integrate.solve_ivp(decay, (0.0, 1.0), [1.0], args=(2.0,), rtol=1e-9, atol=1e-9)
    assert abs(solved.y[0, -1] - np.exp(-2)) < 1e-7

    @njit
    def valley(x):
        return np.sum((x - 3.0) ** 2)

    assert np.allclose(optimize.minimize(valley, np.zeros(4)).x, 3.0, atol=1e-4)
    line = njit(lambda x, a, b: a * x + b)
    assert np.allclose(optimize.curve_fit(line, COLUMN, 2 * COLUMN + 1)[0], [2, 1])


def test_nothing_was_left_to_python():
    rows = str(tierup.report())
    assert "total" in rows
