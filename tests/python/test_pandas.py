"""pandas' `engine=`: the decorators themselves, and loops of its own with a compiled function. `tests/real/ecosystem.py` has what it does under `--as-numba`."""

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
pd = pytest.importorskip("pandas")

FRAME = pd.DataFrame(np.arange(12.0).reshape(4, 3) ** 1.5, columns=list("abc"))


def same(got, want):
    assert type(got) is type(want)
    (pd.testing.assert_frame_equal if isinstance(got, pd.DataFrame) else pd.testing.assert_series_equal)(got, want)


def spread(x):
    return x.max() - x.min()


def centred(x):
    return x - x.mean()


def power(x, n, k=1):
    return (x ** n).sum() * k


ENGINES = pytest.mark.parametrize("engine", [tierup.njit, tierup.jit, tierup.njit(nogil=True)], ids=["njit", "jit", "options"])


@ENGINES
@pytest.mark.parametrize("axis", [0, 1])
def test_apply_to_raw_columns_and_rows(engine, axis):
    for f in (spread, centred, tierup.njit(spread)):
        same(FRAME.apply(f, raw=True, axis=axis, engine=engine), FRAME.apply(f, raw=True, axis=axis))
    same(FRAME.apply(power, raw=True, axis=axis, engine=engine, args=(2,), k=3), FRAME.apply(power, raw=True, axis=axis, args=(2,), k=3))


def test_apply_to_series():
    """Python runs what takes a Series; `njit` refuses it."""
    want = FRAME.apply(lambda c: c["a"] + c["b"], axis=1)
    with pytest.warns(tierup.TierupWarning):
        same(FRAME.apply(lambda c: c["a"] + c["b"], axis=1, engine=tierup.jit), want)
    with pytest.raises(tierup.TypingError, match="to_numpy"):
        FRAME.apply(lambda c: c["a"] + c["b"], axis=1, engine=tierup.njit)


@ENGINES
@pytest.mark.parametrize("values", [[3, 1, 2], [0.5, np.nan, 2.0], [True, False], ["a", "bc"], [], [1.0, None, 2.0]], ids=str)
@pytest.mark.parametrize("na_action", [None, "ignore"])
def test_map(engine, values, na_action):
    series = pd.Series(values, index=list("xyz")[:len(values)], name="s")
    for f in (lambda x: x * 2, lambda x: x == x):
        same(series.map(f, engine=engine, na_action=na_action), series.map(f, na_action=na_action))


def test_errors_come_through():
    with pytest.raises(ZeroDivisionError):
        pd.Series([1, 0]).map(lambda x: 1 // x, engine=tierup.njit)


def test_a_compiled_function_where_pandas_takes_any():
    mean = tierup.njit(lambda x: x.sum() / len(x))
    values = pd.Series(np.arange(6.0) ** 2)
    same(values.rolling(3).apply(mean, raw=True), values.rolling(3).mean())
    same(values.expanding().apply(mean, raw=True), values.expanding().mean())
    same(values.map(tierup.njit(lambda x: x + 1)), values + 1)
    groups = pd.DataFrame({"g": [0, 1, 0, 1, 0, 1], "v": values})
    same(groups.groupby("g")["v"].agg(lambda v: mean(v.to_numpy())), groups.groupby("g")["v"].mean())
