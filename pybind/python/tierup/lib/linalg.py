"""Products with numbers, of all elements, and into arrays; products of matrices are the compiler's own."""

import numpy as np


def dot(a, b, out):
    if out is None:
        return np.multiply(a, b)
    result = np.dot(a, b)
    if out.shape != result.shape or out.dtype != result.dtype:
        raise ValueError("output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)")
    out[...] = result
    return out


def matmul_out(a, b, out):
    out[...] = np.matmul(a, b)
    return out


def inner(a, b):
    return np.multiply(a, b)


def vdot(a, b):
    x, y = np.ravel(np.asarray(a)), np.ravel(np.asarray(b))
    if len(x) != len(y):
        raise ValueError(f"cannot reshape array of size {len(y)} into shape ({len(x)},)")
    if np.iscomplexobj(x):
        return np.dot(np.conjugate(x), y)
    return np.dot(x, y)


def outer(a, b, out):
    return np.multiply(np.expand_dims(np.ravel(np.asarray(a)), 1), np.expand_dims(np.ravel(np.asarray(b)), 0), out)


def kron(a, b):
    if a.ndim == 0 or b.ndim == 0:
        return np.multiply(a, b)
    if a.ndim < b.ndim:
        return kron(np.expand_dims(a, 0), b)
    if b.ndim < a.ndim:
        return kron(a, np.expand_dims(b, 0))
    if a.ndim == 1:
        return np.ravel(np.multiply(np.expand_dims(a, 1), np.expand_dims(b, 0)))
    if a.ndim == 2:
        pairs = np.multiply(np.expand_dims(a, (1, 3)), np.expand_dims(b, (0, 2)))
        return pairs.reshape(a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    if a.ndim == 3:
        pairs = np.multiply(np.expand_dims(a, (1, 3, 5)), np.expand_dims(b, (0, 2, 4)))
        return pairs.reshape(a.shape[0] * b.shape[0], a.shape[1] * b.shape[1], a.shape[2] * b.shape[2])
    if a.ndim == 4:
        pairs = np.multiply(np.expand_dims(a, (1, 3, 5, 7)), np.expand_dims(b, (0, 2, 4, 6)))
        return pairs.reshape(a.shape[0] * b.shape[0], a.shape[1] * b.shape[1], a.shape[2] * b.shape[2], a.shape[3] * b.shape[3])
    raise ValueError("kron() of arrays with more than four dimensions is not compiled")


def trace(a, offset):
    diagonal = np.diagonal(a, offset)
    if diagonal.ndim == 1:
        return np.sum(diagonal)
    return np.sum(diagonal, -1)
