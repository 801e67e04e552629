"""Fourier transforms. The loops over one line are NumPy's own (``np.fft._lines``), so are the bits.

How results are scaled is 0 (not at all), 1 (by one over the root of the number of points) or 2 (by one over it).
A call that scales by nothing is done in double precision by NumPy, whatever the operand; one that scales has the
precision of the operand where a loop takes it as it is.
"""

import numpy as np
from numpy.exceptions import AxisError

from .versions import NUMPY

_SPACE = " " if NUMPY >= (2, 5) else ""
# Whether `hfft`, `ifft2` and `irfft2` do with `out` what the others do; in NumPy before 2.5 they forgot it.
_ALL_TAKE_OUT = NUMPY >= (2, 5)


def fft(a, n, axis, norm, out):
    return _complex(np.asarray(a), n, axis, 0, _scale(norm, True), out)


def ifft(a, n, axis, norm, out):
    return _complex(np.asarray(a), n, axis, 1, _scale(norm, False), out)


def rfft(a, n, axis, norm, out):
    return _half(np.asarray(a), n, axis, _scale(norm, True), out)


def irfft(a, n, axis, norm, out):
    x = np.asarray(a)
    return _real(x, _points_back(x, n, axis), axis, _scale(norm, False), out)


def hfft(a, n, axis, norm, out):
    x = np.asarray(a)
    points = _points_back(x, n, axis)
    return _real(np.conjugate(x), points, axis, 2 - _other_way(norm), out if _ALL_TAKE_OUT else None)


def ihfft(a, n, axis, norm, out):
    half = _half(np.asarray(a), n, axis, _other_way(norm), out)
    return np.conjugate(half, half)


def fftn(a, s, axes, norm, out):
    x = np.asarray(a)
    return _over_complex(x, _lengths(x, s, axes), _axes(x, s, axes), 0, _scale(norm, True), out)


def ifftn(a, s, axes, norm, out):
    x = np.asarray(a)
    return _over_complex(x, _lengths(x, s, axes), _axes(x, s, axes), 1, _scale(norm, False), out)


def ifft2(a, s, axes, norm, out):
    return ifftn(a, s, axes, norm, out if _ALL_TAKE_OUT else None)


def rfftn(a, s, axes, norm, out):
    x = np.asarray(a)
    how = _scale(norm, True)
    lengths, along = _lengths(x, s, axes), _axes(x, s, axes)
    if len(along) == 0:
        raise IndexError("list index out of range")
    half = _half(x, lengths[-1], along[-1], how, out)
    return _over_complex(half, lengths[:-1], along[:-1], 0, how, out)


def irfftn(a, s, axes, norm, out):
    x = np.asarray(a)
    how = _scale(norm, False)
    lengths, along = _lengths(x, s, axes), _axes(x, s, axes)
    if len(along) == 0:
        raise IndexError("list index out of range")
    full = _forwards(x, lengths[:-1], along[:-1], how)
    if s is None or lengths[-1] is None:
        return _real(full, _points_back(full, None, along[-1]), along[-1], how, out)
    return _real(full, _length(full, lengths[-1], along[-1]), along[-1], how, out)


def irfft2(a, s, axes, norm, out):
    return irfftn(a, s, axes, norm, out if _ALL_TAKE_OUT else None)


# ------------------------------------------------------------------------------------------------ parameters

def _scale(norm, forward):
    how = _named(norm)
    if how < 0 and forward:
        # NumPy has put a space there with 2.5.
        raise ValueError(f'Invalid norm value {norm}; should be "backward",{_SPACE}"ortho" or "forward".')
    return how if forward else _other_way(norm)


def _named(norm):
    if norm is None or norm == "backward":
        return 0
    if norm == "ortho":
        return 1
    return 2 if norm == "forward" else -1


def _other_way(norm):
    how = _named(norm)
    if how < 0:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return 2 - how


def _axis(a, axis):
    if axis < -a.ndim or axis >= a.ndim:
        raise AxisError(axis, a.ndim, None)
    return axis + a.ndim if axis < 0 else axis


def _points(a, n, axis):
    if n is None:
        if axis < -a.ndim or axis >= a.ndim:
            raise IndexError("tuple index out of range")
        return _at_least_one(a.shape[axis])
    return _at_least_one(n)


def _points_back(a, n, axis):
    if n is None:
        if axis < -a.ndim or axis >= a.ndim:
            raise IndexError("tuple index out of range")
        return (a.shape[axis] - 1) * 2
    return n


def _at_least_one(n):
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return n


def _lengths(a, s, axes):
    if s is None:
        if axes is None:
            return a.shape
        return _lengths_of(a, axes, 0)
    if axes is not None and len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    return s


def _lengths_of(a, axes, k):
    if k == len(axes):
        return ()
    d = axes[k]
    if d < -a.ndim or d >= a.ndim:
        raise IndexError(f"index {d} is out of bounds for axis 0 with size {a.ndim}")
    return (a.shape[d],) + _lengths_of(a, axes, k + 1)


def _axes(a, s, axes):
    if axes is not None:
        return axes
    return _last(a.ndim if s is None else len(s))


def _last(n):
    if n == 0:
        return ()
    return (-n,) + _last(n - 1)


def _length(a, n, axis):
    """-1 stands for all that is there, as does None."""
    if n is None:
        return a.shape[_axis(a, axis)]
    if n == -1:
        return a.shape[_axis(a, axis)]
    return n


# ------------------------------------------------------------------------------------------- several axes

def _over_complex(a, lengths, axes, which, how, out):
    """The last axis first."""
    if len(axes) == 0:
        return a
    x = _complex(a, _length(a, lengths[-1], axes[-1]), axes[-1], which, how, out)
    return _over_complex(x, lengths[:-1], axes[:-1], which, how, out)


def _forwards(a, lengths, axes, how):
    """The first axis first."""
    if len(axes) == 0:
        return a
    x = _complex(a, _length(a, lengths[0], axes[0]), axes[0], 1, how, None)
    return _forwards(x, lengths[1:], axes[1:], how)


# --------------------------------------------------------------------------------------------- along one axis

def _factor(how, n, a):
    if how == 0:
        return 1.0
    if a.real.dtype == np.float32:
        x = np.float32(n)
        return float(np.float32(1) / np.sqrt(x) if how == 1 else np.float32(1) / x)
    return 1.0 / np.sqrt(float(n)) if how == 1 else 1.0 / n


def _shape(shape, axis, n):
    """A shape with another length along an axis."""
    if len(shape) == 0:
        return ()
    return (n if axis == 0 else shape[0],) + _shape(shape[1:], axis - 1, n)


def _complex(a, n, axis, which, how, out):
    points = _points(a, n, axis)
    k = _axis(a, axis)
    factor = _factor(how, points, a)
    if a.real.dtype == np.float32:
        result = _result(a, k, points, np.complex64, out)
        if a.dtype == np.complex64 and how != 0:
            return _into(which, a, k, factor, result, np.complex64)
    else:
        result = _result(a, k, points, np.complex128, out)
    return _into(which, a.astype(np.complex128, copy=False), k, factor, result, np.complex128)


def _half(a, n, axis, how, out):
    points = _points(a, n, axis)
    k = _axis(a, axis)
    factor = _factor(how, points, a)
    which = 2 + points % 2
    if np.iscomplexobj(a):
        raise TypeError(f"ufunc 'rfft_n_{'even' if which == 2 else 'odd'}' not supported for the input types, and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''")
    if a.real.dtype == np.float32:
        result = _result(a, k, points // 2 + 1, np.complex64, out)
        if how != 0:
            return _into(which, a, k, factor, result, np.complex64)
    else:
        result = _result(a, k, points // 2 + 1, np.complex128, out)
    return _into(which, a.astype(np.float64, copy=False), k, factor, result, np.complex128)


def _real(a, n, axis, how, out):
    points = _at_least_one(n)
    k = _axis(a, axis)
    if a.shape[k] == 0:
        # The loop would read the first number of each line, as NumPy does: whatever lies there.
        return _real(np.zeros(_shape(a.shape, k, 1), a.dtype), n, axis, how, out)
    factor = _factor(how, points, a)
    if a.real.dtype == np.float32:
        result = _result(a, k, points, np.float32, out)
        if a.dtype == np.complex64 and how != 0:
            return _into(4, a, k, factor, result, np.float32)
    else:
        result = _result(a, k, points, np.float64, out)
    return _into(4, a.astype(np.complex128, copy=False), k, factor, result, np.float64)


def _result(a, k, points, dtype, out):
    if out is None:
        return np.empty_like(a, dtype, shape=_shape(a.shape, k, points))
    if out.ndim != a.ndim or out.shape != _shape(a.shape, k, points):
        raise ValueError("output array has wrong shape.")
    if not out.flags.writeable:
        raise ValueError("output array is read-only")
    return out


def _into(which, a, k, factor, result, dtype):
    """By a loop that writes `dtype`, which the result may not be."""
    if result.dtype.kind != "c" and (np.dtype(dtype).kind == "c" or result.dtype.kind != "f"):
        loop = ("fft", "ifft", "rfft_n_even", "rfft_n_odd", "irfft")[which]
        raise TypeError(f"Cannot cast ufunc '{loop}' output to the type of out with casting rule 'same_kind'")
    if result.dtype == dtype:
        if not np.may_share_memory(a, result):
            _lines(which, a, k, factor, result)
            return result
    ours = np.empty(result.shape, dtype)
    _lines(which, a, k, factor, ours)
    result[...] = ours
    return result


def _lines(which, a, k, factor, out):
    if a.ndim == 1:
        np.fft._lines(which, a, factor, out)
    elif a.ndim > 1:
        np.fft._lines(which, np.swapaxes(a, k, -1), factor, np.swapaxes(out, k, -1))


# ------------------------------------------------------------------------------------------------ frequencies

def fftfreq(n, d, device):
    _check_points(n, device)
    val = 1.0 / (n * d)
    results = np.empty(n, np.int64)
    half = (n - 1) // 2 + 1
    for i in range(half):
        results[i] = i
    for i in range(half, n):
        results[i] = i - n
    return results * val


def rfftfreq(n, d, device):
    _check_points(n, device)
    val = 1.0 / (n * d)
    return np.arange(0, n // 2 + 1) * val


def _check_points(n, device):
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    if device is not None and device != "cpu":
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')


def fftshift(x, axes):
    a = np.asarray(x)
    if axes is None:
        return _shifted(a, _last(a.ndim), 1)
    if isinstance(axes, tuple):
        return _shifted(a, axes, 1)
    return _shifted(a, (axes,), 1)


def ifftshift(x, axes):
    a = np.asarray(x)
    if axes is None:
        return _shifted(a, _last(a.ndim), -1)
    if isinstance(axes, tuple):
        return _shifted(a, axes, -1)
    return _shifted(a, (axes,), -1)


def _shifted(a, axes, sign):
    if len(axes) == 0:
        return a.copy()
    rolled = np.roll(a, sign * (a.shape[axes[0]] // 2), axes[0])
    return rolled if len(axes) == 1 else _shifted(rolled, axes[1:], sign)
