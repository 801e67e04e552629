"""What NumPy has changed from one version to the next: compiled code gives what the NumPy that runs gives."""

import numpy as np
import pytest

tierup = pytest.importorskip("tierup")
from tierup import njit

MASK = np.array([True, False])
SMALL = np.array([1, 2], np.int8)


def told(f, *args):
    try:
        found = f(*args)
    except OverflowError as e:
        return str(e)
    return found.dtype, found.tolist()


@pytest.mark.parametrize("of", [SMALL, SMALL.astype("uint64"), SMALL.astype("uint8"), SMALL.astype("float32"), SMALL.astype(bool)], ids=lambda a: str(a.dtype))
@pytest.mark.parametrize("x", [100, 300, -1])
def test_where_takes_ints_as_numpy_does(of, x):
    for f in (lambda m, a, x: np.where(m, a, x), lambda m, a, x: np.where(m, x, a), lambda m, a, x: np.where(m, a[0], x)):
        assert told(njit(f), MASK, of, x) == told(f, MASK, of, x)


def test_signs_of_spans_are_what_numpy_has():
    spans = np.array([-5, 0, 7, "NaT"], "m8[s]")
    got, want = njit(lambda a: np.sign(a))(spans), np.sign(spans)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    for span in spans:
        got, want = njit(lambda x: np.sign(x))(span), np.sign(span)
        assert got == want or np.isnan(got) and np.isnan(want) or np.isnat(got) and np.isnat(want)
