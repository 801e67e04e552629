"""Fourier transforms where NumPy is no measure; all else is in tests/mdtest/numpy/fft.md."""

import numpy as np
import pytest
from tierup import njit


@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.int32])
def test_lines_without_elements_are_filled_up_with_zeros(dtype):
    @njit
    def back(a, n):
        return np.fft.irfft(a, n, axis=0), np.fft.hfft(a, n, axis=0)

    # NumPy gives what lies behind them in memory.
    for a in back(np.zeros((0, 3), dtype), 4):
        assert a.shape == (4, 3) and not a.any()


@pytest.mark.parametrize("transform, dtype", [(np.fft.fft, np.float64), (np.fft.fft, np.int64), (np.fft.rfft, np.float64), (np.fft.irfft, np.int64)])
def test_results_that_do_not_fit_are_refused(transform, dtype):
    @njit
    def f(a, out):
        return transform(a, out=out)

    a, out = np.arange(3.0), np.zeros(transform(np.arange(3.0)).shape, dtype)
    for call in (f, f.py_func):
        # Formatting dtypes is not for compiled code, so the text is not NumPy's.
        with pytest.raises(TypeError, match=f"Cannot cast ufunc '{transform.__name__}.*same_kind"):
            call(a, out)
    assert not out.any()
