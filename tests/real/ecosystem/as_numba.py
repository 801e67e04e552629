"""pandas with `engine="numba"`, where Tierup stands in for Numba: each result is compared with the one of pandas' own code."""

import numba
import numpy as np
import pandas as pd
import pytest

RANDOM = np.random.default_rng(0)
SERIES = pd.Series(RANDOM.random(200))
FRAME = pd.DataFrame(RANDOM.random((100, 4)), columns=list("abcd")).assign(g=np.arange(100) % 7)
NUMBERS = FRAME[list("abcd")]
METHODS = ["sum", "mean", "min", "max", "std", "var"]
PARALLEL = {"nopython": True, "nogil": True, "parallel": True}


def same(got, want):
    assert type(got) is type(want)
    (pd.testing.assert_frame_equal if isinstance(got, pd.DataFrame) else pd.testing.assert_series_equal)(got, want)


def test_it_is_tierup():
    import tierup
    assert numba.njit(lambda: 0).__class__ is tierup.njit(lambda: 0).__class__


@pytest.mark.parametrize("engine_kwargs", [None, PARALLEL], ids=["serial", "parallel"])
@pytest.mark.parametrize("method", METHODS)
def test_methods(method, engine_kwargs):
    how = {"engine": "numba", "engine_kwargs": engine_kwargs}
    for over in (SERIES.rolling(10), SERIES.expanding(), NUMBERS.rolling(5, min_periods=2), FRAME.groupby("g")):
        same(getattr(over, method)(**how), getattr(over, method)())


def test_means_with_weights():
    same(SERIES.ewm(com=3).mean(engine="numba"), SERIES.ewm(com=3).mean())
    same(SERIES.ewm(com=3).sum(engine="numba"), SERIES.ewm(com=3).sum())
    same(NUMBERS.ewm(com=3, method="table").mean(engine="numba"), NUMBERS.ewm(com=3).mean())
    same(FRAME.groupby("g").ewm(com=3).mean(engine="numba"), FRAME.groupby("g").ewm(com=3).mean())


@pytest.mark.parametrize("engine_kwargs", [None, PARALLEL], ids=["serial", "parallel"])
def test_functions_over_windows(engine_kwargs):
    how = {"engine": "numba", "engine_kwargs": engine_kwargs, "raw": True}
    spread = lambda x: x.max() - x.min() + x[0]
    same(SERIES.rolling(10).apply(spread, **how), SERIES.rolling(10).apply(spread, raw=True))
    same(SERIES.rolling(10).apply(numba.njit(spread), **how), SERIES.rolling(10).apply(spread, raw=True))
    same(SERIES.rolling(10).apply(lambda x, k: x.sum() * k, args=(3,), **how), SERIES.rolling(10).sum() * 3)
    same(SERIES.expanding().apply(spread, **how), SERIES.expanding().apply(spread, raw=True))


def test_functions_over_windows_of_all_columns():
    sums = lambda x: np.array([x[:, 0].sum(), x[:, 1].sum(), x[:, 2].sum(), x[:, 3].sum()])
    same(NUMBERS.rolling(5, method="table").apply(sums, engine="numba", raw=True), NUMBERS.rolling(5).sum())


def test_functions_over_groups():
    mean = lambda values, index: np.sum(values) / len(index)
    scaled = lambda values, index: (values - np.mean(values)) / np.std(values)
    same(FRAME.groupby("g").agg(mean, engine="numba"), FRAME.groupby("g").mean())
    same(FRAME.groupby("g").transform(scaled, engine="numba"), FRAME.groupby("g").transform(lambda x: (x - x.mean()) / x.std(ddof=0)))


@pytest.mark.parametrize("axis", [0, 1])
def test_apply(axis):
    for engine in ("numba", numba.jit, numba.njit(nogil=True)):
        same(NUMBERS.apply(lambda x: x.sum() * 2, raw=True, axis=axis, engine=engine), NUMBERS.sum(axis=axis) * 2)
        same(NUMBERS.apply(lambda x: x * 2, raw=True, axis=axis, engine=engine), NUMBERS * 2)


def test_apply_to_series_is_refused():
    """pandas would bring compiled Series along, written for Numba's LLVM: the error says what to pass."""
    with pytest.raises(numba.TypingError, match="to_numpy"):
        NUMBERS.apply(lambda x: x + 1, engine="numba")


def test_map():
    same(SERIES.map(lambda x: x * x, engine=numba.njit), SERIES * SERIES)
