"""Places of elements: numbers for indices and back, and indices of whole grids. Parameters are those of NumPy's functions of the same name."""

import operator

import numpy as np


def item_at(a, t):
    return a[operator._indices(a, t)]


def set_at(a, t, value):
    a[operator._indices(a, t)] = value


def unravel_index(indices, shape, order):
    if not isinstance(shape, tuple):
        return unravel_index(indices, (shape,), order)
    if not np.isscalar(indices):
        return _unravelled(_places(np.asarray(indices)), shape, order)
    if not isinstance(indices, (int, np.integer)):
        raise TypeError("only int indices permitted")
    return _unravelled(np.int64(indices), shape, order)


def _places(x):
    if x.dtype.kind != "i" and x.dtype.kind != "u":
        raise TypeError("only int indices permitted")
    return x.astype(np.int64)


def _unravelled(places, shape, order):
    if order != "C" and order != "F":
        raise ValueError("only 'C' or 'F' order is permitted")
    size = _size(shape, "dimensions are too large; arrays and shapes with a total size greater than 'intp' are not supported.")
    flat = np.ravel(np.asarray(places))
    for k in flat:
        if k < 0 or k >= size:
            raise ValueError(f"index {k} is out of bounds for array with size {size}")
    return _last_quickest(places, shape) if order == "C" else _first_quickest(places, shape)


def _size(shape, refusal):
    size = 1
    for n in shape:
        if n > 0 and size > np.iinfo(np.int64).max // n:
            raise ValueError(refusal)
        size *= n
    return size


def _last_quickest(places, shape):
    if len(shape) == 0:
        return ()
    return _last_quickest(places // shape[-1], shape[:-1]) + (places % shape[-1],)


def _first_quickest(places, shape):
    if len(shape) == 0:
        return ()
    return (places % shape[0],) + _first_quickest(places // shape[0], shape[1:])


def ravel_multi_index(multi_index, dims, mode, order):
    if not isinstance(dims, tuple):
        return ravel_multi_index(multi_index, (dims,), mode, order)
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    if order != "C" and order != "F":
        raise ValueError("only 'C' or 'F' order is permitted")
    _size(dims, "invalid dims: array size defined by dims is larger than the maximum possible size.")
    return _place(multi_index, dims, mode, order, len(dims))


def _place(index, dims, mode, order, n):
    """The number of the element that the first `n` dimensions say, or the last ones in Fortran's order."""
    k = n - 1 if order == "C" else len(dims) - n
    here = _within(_whole(index[k]), dims[k], mode[k] if isinstance(mode, tuple) else mode)
    if n == 1:
        return here
    return _place(index, dims, mode, order, n - 1) * dims[k] + here


def _whole(x):
    if np.isscalar(x):
        if not isinstance(x, (int, np.integer)):
            raise TypeError("only int indices permitted")
        return np.int64(x)
    return _places(np.asarray(x))


def _within(x, n, mode):
    if mode == "raise":
        if np.any(np.logical_or(np.less(x, 0), np.greater_equal(x, n))):
            raise ValueError("invalid entry in coordinates array")
        return x
    if mode == "wrap":
        return x % n
    if mode == "clip":
        return np.clip(x, 0, n - 1)
    raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")


def diag_indices(n, ndim):
    return (np.arange(n),) * ndim


def diag_indices_from(arr):
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for n in arr.shape:
        if n != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    return _for_each(np.arange(arr.shape[0]), arr.shape)


def _for_each(x, shape):
    if len(shape) == 0:
        return ()
    return (x,) + _for_each(x, shape[1:])


def mask_indices(n, mask_func, k):
    return np.nonzero(np.not_equal(mask_func(np.ones((n, n), np.int64), k), 0))


def ix_(args):
    return _open_grid(args, 0, len(args))


def _open_grid(args, k, n):
    if k == n:
        return ()
    return (_along(_positions(np.asarray(args[k])), k, n),) + _open_grid(args, k + 1, n)


def _positions(x):
    if x.ndim != 1:
        raise ValueError("Cross index must be 1 dimensional")
    return np.nonzero(x)[0] if x.dtype.kind == "b" else x


def _along(x, before, n):
    """A row along one dimension of many."""
    if x.ndim < n:
        return _along(x[np.newaxis], before - 1, n) if before > 0 else _along(x[..., np.newaxis], before, n)
    return x


def choose(a, choices, out, mode):
    which = np.asarray(a)
    if which.dtype.kind == "f" or which.dtype.kind == "c":
        raise TypeError(f"Cannot cast array data from dtype('{which.dtype.name}') to dtype('int64') according to the rule 'safe'")
    if mode == "wrap":
        which = np.mod(which, len(choices))
    elif mode == "clip":
        which = np.clip(which, 0, len(choices) - 1)
    elif mode == "raise":
        if np.any(np.logical_or(which < 0, which >= len(choices))):
            raise ValueError("invalid entry in choice array")
    else:
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
    r = _chosen(which, choices, 1, np.where(which == 0, choices[0], choices[0])) if isinstance(choices, tuple) else _chosen_of_many(which, choices)
    if out is None:
        return r
    out[...] = r
    return out


def _chosen(which, choices, k, r):
    if k == len(choices):
        return r
    return _chosen(which, choices, k + 1, np.where(which == k, choices[k], r))


def _chosen_of_many(which, choices):
    r = np.where(which == 0, choices[0], choices[0])
    for k in range(1, len(choices)):
        r = np.where(which == k, choices[k], r)
    return r
