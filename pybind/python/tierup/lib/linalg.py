"""Products with numbers, of all elements, and into arrays; products of matrices are the compiler's own."""

import numpy as np
from numpy.exceptions import AxisError

from .outputs import reduced


def dot(a, b, out):
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        if out is None:
            return np.dot(np.asarray(a), np.asarray(b))
        return dot(np.asarray(a), np.asarray(b), out)
    if out is None:
        if np.ndim(a) > 0 and np.ndim(b) > 0:
            return np.dot(a, b)
        # A number counts as an array without dimensions, of its own type.
        return np.multiply(np.asarray(a), np.asarray(b))
    return into(np.asarray(np.dot(a, b)), out)


def into(result, out):
    """A product in the array that was given for it, which must be just like it."""
    if out is None:
        return result
    if out.ndim != result.ndim or out.dtype != result.dtype or not out.flags.c_contiguous:
        raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)")
    if out.shape != result.shape:
        raise ValueError("output array has wrong dimensions")
    out[...] = result
    return out


def matmul_out(a, b, out):
    if isinstance(out, tuple):
        return matmul_out(a, b, out[0])
    # Through a function that refuses what NumPy does not cast.
    product = np.asarray(np.matmul(a, b))
    if np.ndim(a) == 0 or np.ndim(b) < 2 and product.ndim < out.ndim:
        raise ValueError("inplace matrix multiplication requires the first operand to have at least one and the second at least two dimensions.")
    if np.ndim(a) > 1 and np.ndim(b) > 1 and out.ndim > 1:
        for k in (0, 1):
            if out.shape[k - 2] != product.shape[k - 2]:
                raise ValueError(f"matmul: Output operand 0 has a mismatch in its core dimension {k}, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size {out.shape[k - 2]} is different from {product.shape[k - 2]})")
    return np.multiply(product, True, out)


def matmul_of_sequences(a, b):
    return np.matmul(np.asarray(a), np.asarray(b))


def inner(a, b):
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        return np.inner(np.asarray(a), np.asarray(b))
    # A number counts as an array without dimensions, of its own type.
    return np.multiply(np.asarray(a), np.asarray(b))


def vdot(a, b):
    x, y = np.ravel(np.asarray(a)), np.ravel(np.asarray(b))
    if len(x) != len(y):
        raise ValueError(f"cannot reshape array of size {len(y)} into shape ({len(x)},)")
    if np.iscomplexobj(x):
        return np.dot(np.conjugate(x), y)
    return np.dot(x, y)


def outer(a, b, out):
    return np.multiply(np.expand_dims(np.ravel(np.asarray(a)), 1), np.expand_dims(np.ravel(np.asarray(b)), 0), out)


def einsum(subscripts, out, optimize, dtype, order, casting, operands):
    # In which order three or more operands are multiplied is not planned: `optimize` changes roundings only.
    result = np.asarray(_sum_of_products(subscripts, _operands(operands, dtype, casting)))
    if out is not None:
        if out.ndim != result.ndim:
            raise ValueError(f"out parameter does not have the correct number of dimensions, has {out.ndim} but should have {result.ndim}")
        if out.shape != result.shape:
            raise ValueError(f"einsum: the result has shape {result.shape}, and out has {out.shape}")
        np.copyto(out, result, casting)
        return out
    if result.ndim == 0:
        return result[()]
    return np.asfortranarray(result) if order == "F" else result


def _sum_of_products(subscripts, x):
    # Subscripts that are passed on with operands of unknown number would be no constant.
    if len(x) == 1:
        return np._einsum(subscripts, x[0])
    if len(x) == 2:
        return np._einsum(subscripts, x[0], x[1])
    if len(x) == 3:
        return np._einsum(subscripts, x[0], x[1], x[2])
    if len(x) == 4:
        return np._einsum(subscripts, x[0], x[1], x[2], x[3])
    if len(x) == 5:
        return np._einsum(subscripts, x[0], x[1], x[2], x[3], x[4])
    if len(x) == 6:
        return np._einsum(subscripts, x[0], x[1], x[2], x[3], x[4], x[5])
    raise NotImplementedError("einsum() takes options with up to six operands: leave them out, or sum over some first")


def _operands(operands, dtype, casting):
    """All operands as arrays, in that type."""
    if len(operands) == 0:
        return ()
    return (_operand(np.asarray(operands[0]), dtype, casting),) + _operands(operands[1:], dtype, casting)


def _operand(x, dtype, casting):
    if dtype is None:
        return x
    return x.astype(dtype, casting=casting)


def tensordot_of_numbers(a, b, axes):
    return np.tensordot(np.asarray(a), np.asarray(b), axes)


def kron(a, b):
    return _kron(np.asarray(a), np.asarray(b))


def _kron(a, b):
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    if a.ndim < b.ndim:
        return _kron(np.expand_dims(a, 0), b)
    if b.ndim < a.ndim:
        return _kron(a, np.expand_dims(b, 0))
    pairs = np.multiply(a.reshape(_before_ones(a.shape)), b.reshape(_after_ones(b.shape)))
    return pairs.reshape(_products(a.shape, b.shape))


def _before_ones(shape):
    if len(shape) == 1:
        return shape[0], 1
    return (shape[0], 1) + _before_ones(shape[1:])


def _after_ones(shape):
    if len(shape) == 1:
        return 1, shape[0]
    return (1, shape[0]) + _after_ones(shape[1:])


def _products(m, n):
    if len(m) == 1:
        return (m[0] * n[0],)
    return (m[0] * n[0],) + _products(m[1:], n[1:])


def trace(a, offset, axis1, axis2, dtype, out):
    x = np.asarray(a)
    d = np.diagonal(x, offset, axis1, axis2)
    # Of one matrix all that is on the diagonal, which needs no axis.
    r = np.sum(d, None, dtype) if x.ndim == 2 else np.sum(d, -1, dtype)
    return r if out is None else reduced(out, r, "add")


def _conjugate(x):
    return np.conjugate(x) if np.iscomplexobj(x) else x


def _too_few(name, signature, k, has, needed):
    return f"{name}: Input operand {k} does not have enough dimensions (has {has}, gufunc core with signature {signature} requires {needed})"


def _fit(name, signature, n, m):
    if n != m:
        raise ValueError(f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {signature} (size {m} is different from {n})")


def vecdot(x1, x2):
    a, b = _conjugate(np.asarray(x1)), np.asarray(x2)
    if a.ndim < 1:
        raise ValueError(_too_few("vecdot", "(n),(n)->()", 0, a.ndim, 1))
    if b.ndim < 1:
        raise ValueError(_too_few("vecdot", "(n),(n)->()", 1, b.ndim, 1))
    _fit("vecdot", "(n),(n)->()", a.shape[-1], b.shape[-1])
    if a.ndim == 1 and b.ndim == 1:
        return np.matmul(a, b)
    return np.matmul(np.expand_dims(a, -2), np.expand_dims(b, -1))[..., 0, 0]


def matvec(x1, x2):
    a, b = np.asarray(x1), np.asarray(x2)
    if a.ndim < 2:
        raise ValueError(_too_few("matvec", "(m,n),(n)->(m)", 0, a.ndim, 2))
    if b.ndim < 1:
        raise ValueError(_too_few("matvec", "(m,n),(n)->(m)", 1, b.ndim, 1))
    _fit("matvec", "(m,n),(n)->(m)", a.shape[-1], b.shape[-1])
    return np.matmul(a, np.expand_dims(b, -1))[..., 0]


def vecmat(x1, x2):
    a, b = _conjugate(np.asarray(x1)), np.asarray(x2)
    if a.ndim < 1:
        raise ValueError(_too_few("vecmat", "(n),(n,m)->(m)", 0, a.ndim, 1))
    if b.ndim < 2:
        raise ValueError(_too_few("vecmat", "(n),(n,m)->(m)", 1, b.ndim, 2))
    _fit("vecmat", "(n),(n,m)->(m)", a.shape[-1], b.shape[-2])
    return np.matmul(np.expand_dims(a, -2), b)[..., 0, :]


# -- NumPy's names of the array standard -----------------------------------------------------------------------------------------------------------


def cross3(x1, x2):
    a, b = np.asarray(x1), np.asarray(x2)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {a.shape[-1]} and {b.shape[-1]} dimensional instead.")
    return np.cross(a, b)


def outer_of_vectors(x1, x2):
    a, b = np.asarray(x1), np.asarray(x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={a.ndim} and x2.ndim={b.ndim}.")
    return np.outer(a, b)


def last_trace(x, offset, dtype):
    return np.trace(np.asarray(x), offset, -2, -1, dtype)


def last_diagonal(x, offset):
    return np.diagonal(np.asarray(x), offset, -2, -1)


def vector_norm(x, axis, keepdims, ord):
    a = np.asarray(x)
    if isinstance(axis, tuple):
        if len(axis) == 0:
            r = np.linalg.norm(np.expand_dims(a, 0), ord, 0)
        else:
            r = np.linalg.norm(_axes_first(a, axis), ord, 0)
            if keepdims:
                return np.asarray(r).reshape(_with_ones(a.shape, axis, a.ndim, 0))
        return r
    if axis is None:
        r = np.linalg.norm(np.ravel(a), ord)
        return np.full((1,) * a.ndim, r) if keepdims else r
    return np.linalg.norm(a, ord, axis, keepdims)


def _axes_first(a, axes):
    """The axes of a tuple as one first axis."""
    for k in axes:
        if not -a.ndim <= k < a.ndim:
            raise AxisError(k, a.ndim, None)
    for i in range(len(axes)):
        for j in range(i):
            if axes[i] % a.ndim == axes[j] % a.ndim:
                raise ValueError("repeated axis")
    moved = np.transpose(a, axes + _other_axes(axes, a.ndim, a.shape[len(axes):], 0))
    count = 1
    for k in range(len(axes)):
        count *= moved.shape[k]
    return moved.reshape((count,) + moved.shape[len(axes):])


def _other_axes(axes, ndim, of, first):
    """Axes that a tuple leaves out, from `first` on, as many as `of` has members."""
    if len(of) == 0:
        return ()
    k = first
    while k in axes or k - ndim in axes:
        k += 1
    return (k,) + _other_axes(axes, ndim, of[1:], k + 1)


def _with_ones(shape, axes, ndim, k):
    """The lengths of a shape from dimension `k` on, with one for those among the axes."""
    if len(shape) == 0:
        return ()
    return (1 if k in axes or k - ndim in axes else shape[0],) + _with_ones(shape[1:], axes, ndim, k + 1)


def matrix_norm(x, keepdims, ord):
    return np.linalg.norm(np.asarray(x), ord, (-2, -1), keepdims)
