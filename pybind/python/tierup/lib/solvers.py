"""`np.linalg` on LAPACK: one matrix at a time, column by column, in double precision; results are converted back as NumPy converts them."""

import math

import numpy as np
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import EighResult, EigResult, QRResult, SlogdetResult, SVDResult

from .versions import NUMPY

_ALWAYS_COMPLEX = NUMPY >= (2, 5)
# Whether a matrix with infinities has no singular values, whatever LAPACK makes of it.
_ONLY_FINITE = NUMPY >= (2, 5)


# Matrices up to this size are copied element by element where the code stands.
SMALL = 8


def _matrices(a):
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")


def _squares(a):
    _matrices(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def _double(a):
    """The type that LAPACK computes in."""
    if np.iscomplexobj(a):
        return np.complex128
    return np.float64


def _result(a):
    """The type of a result: that of `a`, float64 for integers."""
    if np._is_inexact(a):
        return a.dtype
    return np.dtype(np.float64)


def _result_of(a, b):
    return np.result_type(_result(a), _result(b))


def _real(dtype):
    if dtype.kind == "c":
        return np.dtype(np.float32) if dtype.itemsize == 8 else np.dtype(np.float64)
    return dtype


def _columns(a, dtype):
    """A copy of a matrix, column by column."""
    out = np.empty(a.shape, dtype, "F")
    if a.shape[0] > SMALL or a.shape[1] > SMALL:
        out[...] = a
    else:
        for j in range(a.shape[1]):
            for i in range(a.shape[0]):
                out[i, j] = a[i, j]
    return out


def _rows(a, dtype):
    """The same row by row."""
    out = np.empty(a.shape, dtype)
    if a.shape[0] > SMALL or a.shape[1] > SMALL:
        out[...] = a
    else:
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j]
    return out


def _as(x, dtype):
    """An array of our own, in that type."""
    return x if x.dtype == dtype else x.astype(dtype)


def _identity(n, dtype):
    out = np.zeros((n, n), dtype, "F")
    for i in range(n):
        out[i, i] = 1
    return out


def _count(shape):
    n = 1
    for k in shape:
        n *= k
    return n


def _stack(a):
    """The matrices of `a` along one axis."""
    return a.reshape((_count(a.shape[:-2]),) + a.shape[-2:])


# -- systems -----------------------------------------------------------------------------------------------------------------------------------


def solve(a, b):
    return _solve(np.asarray(a), np.asarray(b))


def _solve(a, b):
    _squares(a)
    n = a.shape[-1]
    if b.ndim == 0:
        raise ValueError("solve: Input operand 1 does not have enough dimensions (has 0, gufunc core with signature (m,m),(m,n)->(m,n) requires 2)")
    if b.ndim == 1:
        if b.shape[0] != n:
            raise ValueError(f"solve1: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (m,m),(m)->(m) (size {b.shape[0]} is different from {n})")
        if a.ndim == 2:
            return _as(_solved(a, _columns(b.reshape(n, 1), np.result_type(_double(a), _double(b)))).reshape(n), _result_of(a, b))
        return _solve(a, np.broadcast_to(b.reshape(n, 1), a.shape[:-2] + (n, 1)))[..., 0]
    if b.shape[-2] != n:
        raise ValueError(f"solve: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (m,m),(m,n)->(m,n) (size {b.shape[-2]} is different from {n})")
    if a.ndim == 2 and b.ndim == 2:
        return _rows(_solved(a, _columns(b, np.result_type(_double(a), _double(b)))), _result_of(a, b))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left, right = _stack(np.broadcast_to(a, batch + a.shape[-2:])), _stack(np.broadcast_to(b, batch + b.shape[-2:]))
    out = np.empty(right.shape, _result_of(a, b))
    for i in range(len(left)):
        out[i] = _solved(left[i], _columns(right[i], np.result_type(_double(a), _double(b))))
    return out.reshape(batch + b.shape[-2:])


def _solved(a, x):
    """The solution, in the place of the right side `x`, in whose type it is computed."""
    if np.linalg._lapack("dgesv", a.shape[0], x.shape[1], _columns(a, x.dtype), x) != 0:
        raise LinAlgError("Singular matrix")
    return x


def inv(a):
    return _inv(np.asarray(a))


def _inv(a):
    _squares(a)
    n = a.shape[-1]
    if a.ndim == 2:
        return _rows(_solved(a, _identity(n, _double(a))), _result(a))
    matrices = _stack(a)
    out = np.empty(matrices.shape, _result(a))
    for i in range(len(matrices)):
        out[i] = _solved(matrices[i], _identity(n, _double(a)))
    return out.reshape(a.shape)


def _log_det(a, dtype):
    """Sign and logarithm of the determinant of one matrix, from its LU factors."""
    n = a.shape[0]
    lu = _columns(a, dtype)
    pivots = np.empty(n, np.int64)
    sign, log = dtype(1), 0.0
    if np.linalg._lapack("dgetrf", n, lu, pivots) > 0:
        return dtype(0), -math.inf
    for i in range(n):
        if pivots[i] != i + 1:
            sign = -sign
        x = lu[i, i]
        size = abs(x)
        sign = _turned(sign, x, size)
        log += np.log(size)
    return sign, log


def _turned(sign, x, size):
    """The sign of a determinant with one more factor; that of a real one is a sign even where the factor is infinite or none."""
    if np.iscomplexobj(x):
        return sign * (x / size)
    return -sign if x < 0 else sign


def slogdet(a):
    return _slogdet(np.asarray(a))


def _slogdet(a):
    _squares(a)
    result = _result(a)
    real = _real(result)
    if a.ndim == 2:
        sign, log = _log_det(a, _double(a))
        return SlogdetResult(result.type(sign), real.type(log))
    matrices = _stack(a)
    signs, logs = np.empty(len(matrices), result), np.empty(len(matrices), real)
    for i in range(len(matrices)):
        sign, log = _log_det(matrices[i], _double(a))
        signs[i] = sign
        logs[i] = log
    return SlogdetResult(signs.reshape(a.shape[:-2]), logs.reshape(a.shape[:-2]))


def det(a):
    return _det(np.asarray(a))


def _det(a):
    _squares(a)
    result = _result(a)
    if a.ndim == 2:
        sign, log = _log_det(a, _double(a))
        return result.type(sign * np.exp(log))
    matrices = _stack(a)
    out = np.empty(len(matrices), result)
    for i in range(len(matrices)):
        sign, log = _log_det(matrices[i], _double(a))
        out[i] = sign * np.exp(log)
    return out.reshape(a.shape[:-2])


# -- factors -----------------------------------------------------------------------------------------------------------------------------------


def cholesky(a, upper):
    return _cholesky(np.asarray(a), bool(upper))


def _cholesky(a, upper):
    _squares(a)
    if a.ndim == 2:
        return _cholesky_of(a, upper)
    matrices = _stack(a)
    out = np.empty(matrices.shape, _result(a))
    for i in range(len(matrices)):
        out[i] = _cholesky_of(matrices[i], upper)
    return out.reshape(a.shape)


def _cholesky_of(a, upper):
    if np.iscomplexobj(a):
        return _complex_cholesky_of(a, upper)
    # Row by row: what LAPACK takes for the upper part, column by column, is the lower one, and the rest stays as it is.
    n = a.shape[0]
    c = np.empty((n, n))
    for i in range(n):
        first, end = (i, n) if upper else (0, i + 1)
        for j in range(first):
            c[i, j] = 0
        for j in range(first, end):
            c[i, j] = a[i, j]
        for j in range(end, n):
            c[i, j] = 0
    if np.linalg._lapack("dpotrf", not upper, n, c) != 0:
        raise LinAlgError("Matrix is not positive definite")
    return _as(c, _result(a))


def _complex_cholesky_of(a, upper):
    n = a.shape[0]
    c = _columns(a, _double(a))
    if np.linalg._lapack("dpotrf", upper, n, c) != 0:
        raise LinAlgError("Matrix is not positive definite")
    out = np.zeros((n, n), _result(a))
    for i in range(n):
        for j in range(i if upper else 0, n if upper else i + 1):
            out[i, j] = c[i, j]
    return out


def qr(a, mode):
    x = np.asarray(a)
    _matrices(x)
    if mode == "r":
        return _qr(x, False, False)[1]
    if mode == "complete":
        return QRResult(*_qr(x, True, True))
    if mode == "raw":
        return _qr_raw(x)
    if mode != "reduced":
        raise ValueError(f"Unrecognized mode '{mode}'")
    return QRResult(*_qr(x, False, True))


def _qr(a, complete, with_q):
    if a.ndim == 2:
        return _qr_of(a, complete, with_q)
    m, n = a.shape[-2], a.shape[-1]
    columns = m if complete and m > n else min(m, n)
    matrices = _stack(a)
    q = np.empty((len(matrices), m, columns if with_q else 0), _result(a))
    r = np.empty((len(matrices), columns, n), _result(a))
    for i in range(len(matrices)):
        one, other = _qr_of(matrices[i], complete, with_q)
        q[i] = one
        r[i] = other
    return q.reshape(a.shape[:-2] + q.shape[-2:]), r.reshape(a.shape[:-2] + r.shape[-2:])


def _qr_raw(a):
    """What LAPACK leaves of a matrix, with rows and columns exchanged, and the factors of the reflections."""
    m, n = a.shape[-2], a.shape[-1]
    if a.ndim == 2:
        factors, tau = _reflections(a, n)
        return _as(factors.T, _result(a)), _as(tau, _result(a))
    matrices = _stack(a)
    h, taus = np.empty((len(matrices), n, m), _result(a)), np.empty((len(matrices), min(m, n)), _result(a))
    for i in range(len(matrices)):
        factors, tau = _reflections(matrices[i], n)
        h[i] = factors.T
        taus[i] = tau
    return h.reshape(a.shape[:-2] + (n, m)), taus.reshape(a.shape[:-2] + taus.shape[1:])


def _reflections(a, columns):
    """The QR factors of a matrix as LAPACK packs them, in as many columns."""
    m, n = a.shape[0], a.shape[1]
    if columns == n:
        factors = _columns(a, _double(a))
    else:
        factors = np.zeros((m, columns), _double(a), "F")
        factors[:, :n] = a
    tau = np.empty(min(m, n), _double(a))
    np.linalg._lapack("dgeqrf", m, n, factors, tau)
    return factors, tau


def _qr_of(a, complete, with_q):
    m, n = a.shape[0], a.shape[1]
    least = min(m, n)
    columns = m if complete and m > n else least
    factors, tau = _reflections(a, max(n, columns))
    r = np.zeros((columns, n), _result(a))
    for i in range(least):
        for j in range(i, n):
            r[i, j] = factors[i, j]
    if not with_q:
        return np.empty((m, 0), _result(a)), r
    np.linalg._lapack("dorgqr", m, columns, least, factors, tau)
    return _rows(factors[:, :columns], _result(a)), r


# -- eigenvalues -------------------------------------------------------------------------------------------------------------------------------


def _finite(a):
    if not np.all(np.isfinite(a)):
        raise LinAlgError("Array must not contain infs or NaNs")


def _eig_of(a, vectors, values, imaginary):
    """Writes the eigenvalues of one matrix, gives its eigenvectors where asked for: for a real matrix both as LAPACK packs them."""
    n = a.shape[0]
    dtype = _double(a)
    v = np.empty((n if vectors else 1, n if vectors else 1), dtype, "F")
    if np.linalg._lapack("dgeev", vectors, n, _columns(a, dtype), values, imaginary, v) != 0:
        raise LinAlgError("Eigenvalues did not converge")
    return v


def _as_they_are(values, imaginary, vectors, dtype):
    return values.astype(dtype), vectors.astype(dtype)


def _in_pairs(values, imaginary, vectors, dtype):
    """Complex eigenvalues of real matrices, which come in conjugate pairs: the columns of a pair hold the real and the imaginary part of its vectors."""
    result = _complex(dtype)
    w, v = np.empty(values.shape, result), np.empty(vectors.shape, result)
    w.real[...] = values
    w.imag[...] = imaginary
    v.real[...] = vectors
    v.imag[...] = 0
    for i in range(len(vectors)):
        k = 0
        while k < vectors.shape[-1]:
            if imaginary[i, k] != 0:
                v.real[i, :, k + 1] = vectors[i, :, k]
                v.imag[i, :, k] = vectors[i, :, k + 1]
                v.imag[i, :, k + 1] = -vectors[i, :, k + 1]
                k += 1
            k += 1
    return w, v


def _complex(dtype):
    return np.dtype(np.complex64) if dtype.itemsize == 4 else np.dtype(np.complex128)


def _eigenvalues(a, with_vectors):
    _squares(a)
    _finite(a)
    matrices = _stack(a)
    values, imaginary = np.empty(matrices.shape[:-1], _double(a)), np.zeros(matrices.shape[:-1])
    vectors = np.empty(matrices.shape if with_vectors else (0, 0, 0), _double(a))
    for i in range(len(matrices)):
        v = _eig_of(matrices[i], with_vectors, values[i], imaginary[i])
        if with_vectors:
            vectors[i] = v
    if np.iscomplexobj(a):
        return _as_they_are(values, imaginary, vectors, _result(a))
    if _ALWAYS_COMPLEX:
        return _in_pairs(values, imaginary, vectors, _result(a))
    # Two functions, so that the result is one of two types: real numbers where all are, as in NumPy before 2.5.
    give = _in_pairs if np.any(imaginary != 0) else _as_they_are
    return give(values, imaginary, vectors, _result(a))


def eig(a):
    return _eig(np.asarray(a))


def _eig(a):
    values, vectors = _eigenvalues(a, True)
    return EigResult(values.reshape(a.shape[:-1]), vectors.reshape(a.shape))


def eigvals(a):
    return _eigvals(np.asarray(a))


def _eigvals(a):
    if a.ndim == 2:
        return _eigvals_of(a)
    return _eigenvalues(a, False)[0].reshape(a.shape[:-1])


def _eigvals_of(a):
    return eigvals_of_one(a, _ALWAYS_COMPLEX)


def eigvals_of_one(a, always_complex):
    """Of one matrix, without room for others; complex ones, or else real ones where all are."""
    _squares(a)
    _finite(a)
    n = a.shape[0]
    values, imaginary = np.empty(n, _double(a)), np.empty(n)
    _eig_of(a, False, values, imaginary)
    if np.iscomplexobj(a):
        return _as(values, _result(a))
    if always_complex:
        return _with_imaginary(values, imaginary, _result(a))
    give = _with_imaginary if _some(imaginary) else _without_imaginary
    return give(values, imaginary, _result(a))


def _some(x):
    for y in x:
        if y != 0:
            return True
    return False


def _without_imaginary(values, imaginary, dtype):
    return _as(values, dtype)


def _with_imaginary(values, imaginary, dtype):
    w = np.empty(values.shape, _complex(dtype))
    w.real[...] = values
    w.imag[...] = imaginary
    return w


def _upper(UPLO):
    if UPLO == "L" or UPLO == "l":
        return False
    if UPLO == "U" or UPLO == "u":
        return True
    raise ValueError("UPLO argument must be 'L' or 'U'")


def _eigh_of(a, vectors, upper):
    n = a.shape[0]
    v = _columns(a, _double(a))
    values = np.empty(n)
    if np.linalg._lapack("dsyevd", vectors, upper, n, v, values) != 0:
        raise LinAlgError("Eigenvalues did not converge")
    return values, v


def eigh(a, UPLO):
    return _eigh(np.asarray(a), _upper(UPLO))


def _eigh(a, upper):
    _squares(a)
    if a.ndim == 2:
        w, v = _eigh_of(a, True, upper)
        return EighResult(_as(w, _real(_result(a))), _rows(v, _result(a)))
    matrices = _stack(a)
    values, vectors = np.empty(matrices.shape[:-1], _real(_result(a))), np.empty(matrices.shape, _result(a))
    for i in range(len(matrices)):
        w, v = _eigh_of(matrices[i], True, upper)
        values[i] = w
        vectors[i] = v
    return EighResult(values.reshape(a.shape[:-1]), vectors.reshape(a.shape))


def eigvalsh(a, UPLO):
    return _eigvalsh(np.asarray(a), _upper(UPLO))


def _eigvalsh(a, upper):
    _squares(a)
    if a.ndim == 2:
        return _as(_eigh_of(a, False, upper)[0], _real(_result(a)))
    matrices = _stack(a)
    values = np.empty(matrices.shape[:-1], _real(_result(a)))
    for i in range(len(matrices)):
        w, v = _eigh_of(matrices[i], False, upper)
        values[i] = w
    return values.reshape(a.shape[:-1])


# -- singular values ---------------------------------------------------------------------------------------------------------------------------


def _svd_of(a, job):
    found, u, s, v = _svd_tried(a, job)
    if not found:
        raise LinAlgError("SVD did not converge")
    return u, s, v


def _svd_tried(a, job):
    m, n = a.shape[0], a.shape[1]
    least = min(m, n)
    dtype = _double(a)
    s = np.empty(least)
    u = np.empty((m if job else 1, (m if job == 2 else least) if job else 1), dtype, "F")
    v = np.empty(((n if job == 2 else least) if job else 1, n if job else 1), dtype, "F")
    if m == 0 or n == 0:
        u[...] = 0
        v[...] = 0
        for k in range(min(u.shape[0], u.shape[1])):
            u[k, k] = 1
        for k in range(min(v.shape[0], v.shape[1])):
            v[k, k] = 1
        return True, u, s, v
    found = (not _ONLY_FINITE or bool(np.all(np.isfinite(a)))) and np.linalg._lapack("dgesdd", job, m, n, _columns(a, dtype), s, u, v) == 0
    return found, u, s, v


def svd(a, full_matrices, compute_uv, hermitian):
    if hermitian:
        if compute_uv:
            return SVDResult(*_svd_hermitian(np.asarray(a)))
        return _singular_hermitian(np.asarray(a))
    if compute_uv:
        return SVDResult(*_svd(np.asarray(a), bool(full_matrices)))
    return _singular(np.asarray(a))


def _svd(a, full):
    _matrices(a)
    if a.ndim == 2:
        u, s, v = _svd_of(a, 2 if full else 1)
        return _rows(u, _result(a)), _as(s, _real(_result(a))), _rows(v, _result(a))
    m, n = a.shape[-2], a.shape[-1]
    least = min(m, n)
    matrices = _stack(a)
    k = len(matrices)
    us, vs = np.empty((k, m, m if full else least), _result(a)), np.empty((k, n if full else least, n), _result(a))
    ss = np.empty((k, least), _real(_result(a)))
    for i in range(k):
        u, s, v = _svd_of(matrices[i], 2 if full else 1)
        us[i] = u
        ss[i] = s
        vs[i] = v
    batch = a.shape[:-2]
    return us.reshape(batch + us.shape[1:]), ss.reshape(batch + ss.shape[1:]), vs.reshape(batch + vs.shape[1:])


def _svd_hermitian(a):
    """Singular values and vectors of Hermitian matrices, from their eigenvalues."""
    s, u = _eigh(a, False)
    values, left, right = _stack(s[..., np.newaxis])[..., 0], _stack(u), np.empty((_count(u.shape[:-2]),) + u.shape[-2:], u.dtype)
    for i in range(len(left)):
        order = np.argsort(np.abs(values[i]))[::-1]
        w, v = values[i][order], left[i][:, order]
        values[i] = np.abs(w)
        left[i] = v
        right[i] = np.conjugate(v * np.sign(w)).T
    return left.reshape(u.shape), values.reshape(s.shape), right.reshape(u.shape)


def _singular_hermitian(a):
    return np.sort(np.abs(_eigvalsh(a, False)))[..., ::-1]


def _singular_of(a, hermitian):
    if hermitian:
        return _singular_hermitian(a)
    return _singular(a)


def svdvals(x):
    return _singular(np.asarray(x))


def _singular(a):
    _matrices(a)
    if a.ndim == 2:
        return _as(_svd_of(a, 0)[1], _real(_result(a)))
    matrices = _stack(a)
    out = np.empty((len(matrices), min(a.shape[-2], a.shape[-1])), _real(_result(a)))
    for i in range(len(matrices)):
        u, s, v = _svd_of(matrices[i], 0)
        out[i] = s
    return out.reshape(a.shape[:-2] + out.shape[1:])


def _singular_or_nan(a):
    """Singular values of a matrix, and NaN where it has none."""
    found, u, s, v = _svd_tried(a, 0)
    if not found:
        s[...] = np.nan
    return _as(s, _real(_result(a)))


def pinv_with(a, rcond, hermitian, *, rtol):
    x = np.asarray(a)
    if rcond is not None:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rtol is None:
        # None is not the same as leaving it out.
        return _pinv(x, max(x.shape[-2], x.shape[-1]) * np.finfo(x.dtype).eps, hermitian)
    return _pinv(x, rtol, hermitian)


def pinv(a, rcond, hermitian):
    return _pinv(np.asarray(a), 1e-15 if rcond is None else rcond, hermitian)


def _pinv(a, rcond, hermitian):
    _matrices(a)
    # Two functions, since of integers the result is one of two types: NumPy keeps theirs where there are none.
    give = _pinv_of_nothing if a.shape[-1] == 0 or a.shape[-2] == 0 else _pinv_of_some
    return give(a, rcond, hermitian)


def _pinv_of_nothing(a, rcond, hermitian):
    return np.empty(a.shape[:-2] + (a.shape[-1], a.shape[-2]), a.dtype)


def _pinv_of_some(a, rcond, hermitian):
    u, s, v = _svd_hermitian(np.conjugate(a)) if hermitian else _svd(np.conjugate(a), False)
    cutoff = np.asarray(rcond)[..., np.newaxis] * np.max(s, -1, None, True)
    inverse = np.zeros_like(s)
    for k in np.ndindex(s.shape):
        if s[k] > cutoff[k[:-1]][0]:
            inverse[k] = 1 / s[k]
    return np.matmul(np.swapaxes(v, -1, -2), np.multiply(inverse[..., np.newaxis], np.swapaxes(u, -1, -2)))


def matrix_rank(A, tol, hermitian, *, rtol):
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    return _rank(np.asarray(A), tol, hermitian, rtol)


def _rank(a, tol, hermitian, rtol):
    if a.ndim < 2:
        return int(not np.all(a == 0))
    s = _singular_of(a, hermitian)
    if tol is not None:
        return np.count_nonzero(s > np.asarray(tol)[..., np.newaxis], -1)
    largest = np.max(s, -1, None, True, 0)
    if rtol is not None:
        return np.count_nonzero(s > largest * np.asarray(rtol)[..., np.newaxis], -1)
    return np.count_nonzero(s > largest * (max(a.shape[-2], a.shape[-1]) * np.finfo(s.dtype).eps), -1)


def lstsq(a, b, rcond):
    return _lstsq(np.asarray(a), np.asarray(b), rcond)


def _lstsq(a, b, rcond):
    if b.ndim == 1:
        x, residuals, rank, s = _lstsq(a, b.reshape(len(b), 1), rcond)
        return x[:, 0].copy(), residuals, rank, s
    if a.ndim != 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if b.ndim != 2:
        raise LinAlgError(f"{b.ndim}-dimensional array given. Array must be two-dimensional")
    m, n, k = a.shape[0], a.shape[1], b.shape[1]
    if m != b.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    dtype, result = np.result_type(_double(a), _double(b)), _result_of(a, b)
    limit = 2.220446049250313e-16 * max(n, m) if rcond is None else float(rcond)
    rows = max(1, m, n)
    x = np.zeros((rows, max(k, 1)), dtype, "F")
    x[:m, :k] = b
    s, rank = np.empty(min(m, n)), np.zeros(1, np.int64)
    if m > 0 and n > 0:
        if np.linalg._lapack("dgelsd", m, n, max(k, 1), _columns(a, dtype), x, rows, s, limit, rank) != 0:
            raise LinAlgError("SVD did not converge in Linear Least Squares")
    found = int(rank[0])
    residuals = np.zeros(k if found == n and m > n else 0, _real(result))
    for j in range(len(residuals)):
        total = 0.0
        for i in range(n, m):
            total += abs(x[i, j]) ** 2
        residuals[j] = total
    return np.ascontiguousarray(x[:n, :k]).astype(result), residuals, found, s.astype(_real(result))


# -- powers ------------------------------------------------------------------------------------------------------------------------------------


def negative_matrix_power(a, n):
    x = np.asarray(a)
    _squares(x)
    return _negative_power(x, n)


def positive_matrix_power(a, n):
    x = np.asarray(a)
    _squares(x)
    return _positive_power(x, n)


def matrix_power(a, n):
    x = np.asarray(a)
    _squares(x)
    if not isinstance(n, (int, np.integer)):
        raise TypeError("exponent must be an integer")
    if np._is_inexact(x):
        return _power(x, n)
    # Two functions, since the result is one of two types: a negative power of integers is of floats.
    give = _negative_power if n < 0 else _positive_power
    return give(x, n)


def _power(a, n):
    if n < 0:
        return _negative_power(a, n)
    return _positive_power(a, n)


def _negative_power(a, n):
    return _positive_power(_inv(a), -n)


def _positive_power(a, n):
    if n == 0:
        out = np.zeros_like(a)
        for k in range(a.shape[-1]):
            out[..., k, k] = 1
        return out
    if n == 1:
        return a
    if n == 3:
        return np.matmul(np.matmul(a, a), a)
    z = a.copy()
    while n % 2 == 0:
        z = np.matmul(z, z)
        n //= 2
    result = z
    n //= 2
    while n > 0:
        z = np.matmul(z, z)
        if n % 2 == 1:
            result = np.matmul(result, z)
        n //= 2
    return result
