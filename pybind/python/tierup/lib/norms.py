"""Norms and condition numbers, on top of the solvers."""

import math

import numpy as np
from numpy.exceptions import AxisError
from numpy.linalg import LinAlgError

from .solvers import _columns, _double, _matrices, _real, _result, _singular, _singular_or_nan, _squares, _stack
from .versions import NUMPY

# Whether condition numbers go on with NaN where there are no singular values.
_GOES_ON = NUMPY >= (2, 5)


def cond(x, p):
    return _cond(np.asarray(x), p)


def _cond(a, p):
    _matrices(a)
    if a.shape[-1] == 0 or a.shape[-2] == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if a.ndim == 2:
        return _cond_of(a, p)
    matrices = _stack(a)
    out = np.empty(len(matrices), _real(_result(a)))
    if len(matrices) == 0:
        # An order that is none is said of no matrix, too.
        _cond_of(np.eye(a.shape[-2], a.shape[-1]), p)
    for i in range(len(matrices)):
        out[i] = _cond_of(matrices[i], p)
    return out.reshape(a.shape[:-2])


def _cond_of(a, p):
    if p is None:
        return _ratio(a, 0)
    if not isinstance(p, str):
        if p == 2:
            return _ratio(a, 0)
        if p == -2:
            return _ratio(a, -1)
    _squares(a)
    r = _real(_result(a)).type(_factor(a.astype(_double(a)), p) * _norm_of_inverse(a, p))
    if np.isnan(r) and not np.any(np.isnan(a)):
        return r.dtype.type(math.inf)
    return r


def _factor(a, p):
    """The norm of a matrix, as one of the two that make a condition number."""
    if _GOES_ON and isinstance(p, str) and p == "nuc":
        return np.sum(_singular_or_nan(a))
    return _norm_of_matrix(a, p)


def _norm_of_inverse(a, p):
    n = len(a)
    x = _columns(np.eye(n), _double(a))
    if np.linalg._lapack("dgesv", n, n, _columns(a, _double(a)), x) != 0:
        # NumPy takes a matrix of NaN for it, which has no singular values.
        if isinstance(p, str) and p == "nuc":
            if _GOES_ON:
                return math.nan
            raise LinAlgError("SVD did not converge")
        return math.inf
    return float(_factor(x, p))


def _ratio(a, above):
    s = _singular_or_nan(a) if _GOES_ON else _singular(a)
    r = np.true_divide(s[above], s[-1 - above])
    if np.isnan(r) and not np.any(np.isnan(a)):
        return s.dtype.type(math.inf)
    return r


def norm(x, ord, axis, keepdims):
    a = np.asarray(x)
    if not np._is_inexact(a):
        return _norm(a.astype(np.float64), ord, axis, keepdims)
    return _norm(a, ord, axis, keepdims)


def _norm(a, ord, axis, keepdims):
    if axis is None:
        if ord is None:
            return _kept(_length(np.ravel(a)), a, keepdims)
        if a.ndim == 1:
            return _norm_of_vectors(a, ord, 0, keepdims)
        if a.ndim == 2:
            return _kept(_norm_of_matrix(a, ord), a, keepdims)
        raise ValueError("Improper number of dimensions to norm.")
    if isinstance(axis, tuple):
        if len(axis) == 2:
            return _norm_of_matrices(a, ord, axis, keepdims)
        if len(axis) == 1:
            _check_axis(axis[0], a.ndim)
            return _norm_of_vectors(a, ord, axis[0], keepdims)
        raise ValueError("Improper number of dimensions to norm.")
    _check_axis(axis, a.ndim)
    return _norm_of_vectors(a, ord, axis, keepdims)


def _check_axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim, None)


def _kept(x, a, keepdims):
    if keepdims and a.ndim > 0:
        return np.asarray(x).reshape((1,) * a.ndim)
    return x


def _length(x):
    if np.iscomplexobj(x):
        return np.sqrt(np.dot(x.real, x.real) + np.dot(x.imag, x.imag))
    return np.sqrt(np.dot(x, x))


def _squared(a):
    if np.iscomplexobj(a):
        return a.real * a.real + a.imag * a.imag
    return a * a


def _norm_of_vectors(a, ord, axis, keepdims):
    if ord is None:
        return np.sqrt(np.sum(_squared(a), axis, None, None, keepdims))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == math.inf:
        return np.max(np.abs(a), axis, None, keepdims, 0)
    if ord == -math.inf:
        return np.min(np.abs(a), axis, None, keepdims)
    if ord == 0:
        return np.sum((a != 0).astype(a.real.dtype), axis, None, None, keepdims)
    if ord == 1:
        return np.sum(np.abs(a), axis, None, None, keepdims)
    if ord == 2:
        return np.sqrt(np.sum(_squared(a), axis, None, None, keepdims))
    power = a.real.dtype.type(ord)
    return np.power(np.sum(np.power(np.abs(a), power), axis, None, None, keepdims), 1 / power)


def _norm_of_matrix(a, ord):
    if ord is None:
        return np.sqrt(np.sum(_squared(a)))
    if isinstance(ord, str):
        if ord == "fro" or ord == "f":
            return _length(np.ravel(a))
        if ord == "nuc":
            return np.sum(_singular(a))
        raise ValueError("Invalid norm order for matrices.")
    if ord == 2:
        return np.max(_singular(a), None, None, False, 0)
    if ord == -2:
        return np.min(_singular(a))
    if ord == 1:
        if _adds_in_order(a) or a.flags.c_contiguous and 0 < a.size <= FEW:
            return _most(a, True)
        return np.max(np.sum(np.abs(a), 0), None, None, False, 0)
    if ord == -1:
        return np.min(np.sum(np.abs(a), 0))
    if ord == math.inf:
        if _adds_in_order(a) or a.flags.f_contiguous and 0 < a.size <= FEW:
            return _most(a, False)
        return np.max(np.sum(np.abs(a), 1), None, None, False, 0)
    if ord == -math.inf:
        return np.min(np.sum(np.abs(a), 1))
    raise ValueError("Invalid norm order for matrices.")


# Up to as many elements sums are not put into an array first.
FEW = 1024


def _adds_in_order(a):
    """Whether NumPy adds what is in a row or a column one after the other, in any order of the matrix's elements; across the order in which they lie it does so anyway."""
    return 0 < a.shape[0] < 8 and 0 < a.shape[1] < 8


def _most(a, columns):
    """The greatest sum of sizes in a column or in a row."""
    outer, inner = (a.shape[1], a.shape[0]) if columns else (a.shape[0], a.shape[1])
    most = np.abs(a[0, 0])
    for i in range(outer):
        s = np.abs(a[0, i] if columns else a[i, 0])
        for j in range(1, inner):
            s += np.abs(a[j, i] if columns else a[i, j])
        most = s if i == 0 else np.maximum(most, s)
    return most


def _norm_of_matrices(a, ord, axis, keepdims):
    _check_axis(axis[0], a.ndim)
    _check_axis(axis[1], a.ndim)
    rows, columns = axis[0] % a.ndim, axis[1] % a.ndim
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    last = np.moveaxis(a, axis, (-2, -1))
    if a.ndim == 2:
        return _kept(_norm_of_matrix(last, ord), a, keepdims)
    matrices = _stack(np.ascontiguousarray(last))
    out = np.empty(len(matrices), a.real.dtype)
    if len(matrices) == 0 and last.shape[-1] > 0 and last.shape[-2] > 0:
        # An order that is none is said of no matrix, too.
        _norm_of_matrix(np.eye(last.shape[-2], last.shape[-1]), ord)
    for i in range(len(matrices)):
        out[i] = _norm_of_matrix(matrices[i], ord)
    r = out.reshape(last.shape[:-2])
    if keepdims:
        return np.expand_dims(r, (rows, columns))
    return r
