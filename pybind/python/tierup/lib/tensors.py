"""Products of many matrices in the cheapest order, and systems whose unknowns are arrays."""

import numpy as np
from numpy.linalg import LinAlgError

from .linalg import into


# -- chains of matrices ------------------------------------------------------------------------------------------------------------------------


def multi_dot(arrays, out):
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if isinstance(arrays, tuple):
        return _of_tuple(arrays, out)
    return _of_list([np.asarray(a) for a in arrays], out)


def _of_tuple(arrays, out):
    if len(arrays) == 2:
        return np.dot(np.asarray(arrays[0]), np.asarray(arrays[1]), out)
    first, last = np.asarray(arrays[0]), np.asarray(arrays[-1])
    chain = (_as_row(first),) + _as_arrays(arrays[1:-1]) + (_as_column(last),)
    _check_matrices(chain)
    return _in_shape(into(_product_of_tuple(chain), out), first.ndim == 1, last.ndim == 1)


def _as_arrays(members):
    if len(members) == 0:
        return ()
    return (np.asarray(members[0]),) + _as_arrays(members[1:])


def _as_row(a):
    return np.atleast_2d(a) if a.ndim == 1 else a


def _as_column(a):
    return np.atleast_2d(a).T if a.ndim == 1 else a


def _check_matrices(chain):
    if chain[0].ndim != 2:
        raise LinAlgError(f"{chain[0].ndim}-dimensional array given. Array must be two-dimensional")
    if len(chain) > 1:
        _check_matrices(chain[1:])


def _in_shape(r, row, column):
    """A product that began with a vector has no rows, one that ended with a vector no columns."""
    if row and column:
        return r[0, 0]
    if row or column:
        return r.ravel()
    return r


def _product_of_tuple(chain):
    if len(chain) == 3:
        # What the two orders cost, without planning.
        rows, columns = chain[0].shape
        inner, last = chain[2].shape
        if rows * inner * (columns + last) < columns * last * (rows + inner):
            return np.dot(np.dot(chain[0], chain[1]), chain[2])
        return np.dot(chain[0], np.dot(chain[1], chain[2]))
    lengths = np.empty(len(chain) + 1)
    k = 0
    for a in chain:
        lengths[k] = a.shape[0]
        k += 1
    lengths[k] = chain[-1].shape[1]
    return _part(chain, _order(lengths), 0)


def _order(lengths):
    """Where to split the product of the matrices `i` to `j`: after the matrix `[i, j]`. As in Cormen, with the costs as floats."""
    n = len(lengths) - 1
    costs, splits = np.zeros((n, n)), np.empty((n, n), np.int64)
    for distance in range(1, n):
        for i in range(n - distance):
            j = i + distance
            costs[i, j] = np.inf
            for k in range(i, j):
                q = costs[i, k] + costs[k + 1, j] + lengths[i] * lengths[k + 1] * lengths[j + 1]
                if q < costs[i, j]:
                    costs[i, j] = q
                    splits[i, j] = k
    return splits


def _part(chain, splits, at):
    """The product of matrices that begin at `at` in the order's table."""
    if len(chain) == 1:
        return chain[0]
    return _divided(chain[:1], chain[1:], splits, at)


def _divided(left, right, splits, at):
    """Takes matrices from the right side to the left until the split is where it belongs. Types decide how far that can go, so it is a function of each length."""
    if len(right) == 1:
        return np.dot(_part(left, splits, at), _part(right, splits, at + len(left)))
    if splits[at, at + len(left) + len(right) - 1] == at + len(left) - 1:
        return np.dot(_part(left, splits, at), _part(right, splits, at + len(left)))
    return _divided(left + right[:1], right[1:], splits, at)


def _of_list(arrays, out):
    if arrays[0].ndim != 2:
        if len(arrays) == 2:
            return np.dot(arrays[0], arrays[1], out)
        # Of three vectors the first and the last may stand for matrices.
        raise LinAlgError(f"{arrays[0].ndim}-dimensional array given. Array must be two-dimensional")
    if len(arrays) == 2:
        return into(np.dot(arrays[0], arrays[1]), out)
    lengths = np.empty(len(arrays) + 1)
    for k in range(len(arrays)):
        lengths[k] = arrays[k].shape[0]
    lengths[len(arrays)] = arrays[-1].shape[1]
    if len(arrays) == 3:
        m, k, n, p = lengths[0], lengths[1], lengths[2], lengths[3]
        if m * n * (k + p) < k * p * (m + n):
            return into(np.dot(np.dot(arrays[0], arrays[1]), arrays[2]), out)
        return into(np.dot(arrays[0], np.dot(arrays[1], arrays[2])), out)
    # Out of an array: of constants there would be a function for each.
    ends = np.array([0, len(arrays) - 1])
    return into(_part_of_list(arrays, _order(lengths), ends[0], ends[1]), out)


def _part_of_list(arrays, splits, i, j):
    k = splits[i, j]
    if j == i + 1:
        return np.dot(arrays[i], arrays[j])
    if k == i:
        return np.dot(arrays[i], _part_of_list(arrays, splits, i + 1, j))
    if k + 1 == j:
        return np.dot(_part_of_list(arrays, splits, i, k), arrays[j])
    return np.dot(_part_of_list(arrays, splits, i, k), _part_of_list(arrays, splits, k + 1, j))


# -- systems of tensors ------------------------------------------------------------------------------------------------------------------------


def _count(shape):
    n = 1
    for k in shape:
        n *= k
    return n


def tensorinv(a, ind):
    x = np.asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    # From as many dimensions on as there are, all belong to the first group.
    at = min(ind, x.ndim)
    rows = 1
    for k in range(at, x.ndim):
        rows *= x.shape[k]
    return np.linalg.inv(x.reshape(rows, -1)).reshape(_turned(x.shape, x.shape, at))


def _turned(shape, of, at):
    """The lengths of a shape from `at` on, then those before."""
    if len(of) == 0:
        return ()
    return (shape[at % len(shape)],) + _turned(shape, of[1:], at + 1)


def tensorsolve(a, b, axes):
    return _tensorsolve(np.asarray(a), np.asarray(b), axes)


def _tensorsolve(a, b, axes):
    if axes is not None:
        order = [k for k in range(a.ndim)]
        for k in axes:
            order.remove(k)
            order.append(k)
        return _tensorsolve(np.transpose(a, _as_tuple(order, a.shape)), b, None)
    shape = a.shape[b.ndim - a.ndim:]
    n = _count(shape)
    if a.size != n ** 2:
        raise LinAlgError("Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    return np.linalg.solve(a.reshape(n, n), b.ravel()).reshape(shape)


def _as_tuple(v, of):
    """As many members of a list as `of` has."""
    if len(of) == 0:
        return ()
    return _as_tuple(v, of[1:]) + (v[len(of) - 1],)
