"""Ufuncs of the user's own in compiled code: what `tierup._calls` makes functions of, for each number of operands.

A function ``f`` here takes elements and gives one; it is called where arrays are gone through, and so becomes part of the loop.
"""

import numpy as np


def one(x):
    """An element of an operand."""
    if isinstance(x, np.ndarray):
        return x[(0,) * x.ndim]
    return x


def at(x, k):
    """Element `k` of a one-dimensional operand; a number is each of its elements."""
    if isinstance(x, np.ndarray):
        return x[k]
    return x


def part(x, i):
    """The row of an operand at leading indices."""
    if isinstance(x, np.ndarray):
        return x[i]
    return x


def operand(x):
    """Lists and tuples become arrays."""
    if isinstance(x, (list, tuple)):
        return np.asarray(x)
    return x


def spread(x, like):
    """An operand with the shape of all."""
    if isinstance(x, np.ndarray):
        return np.broadcast_to(x, like.shape)
    return x


def arrays(xs):
    """Those of the operands that are arrays."""
    if len(xs) == 0:
        return ()
    if isinstance(xs[0], np.ndarray):
        return (xs[0],) + arrays(xs[1:])
    return arrays(xs[1:])


def flat(x):
    """A contiguous operand in one dimension."""
    if isinstance(x, np.ndarray):
        return x.reshape(-1)
    return x


def without_gaps(xs, y):
    """Whether all operands can be gone through in one loop."""
    if len(xs) == 0:
        return True
    return xs[0].shape == y.shape and xs[0].flags.c_contiguous and without_gaps(xs[1:], y)


def allocate(xs, dtype):
    """Room for a result of operands that are broadcast."""
    if len(xs) == 1:
        return np.empty(xs[0].shape, dtype)
    try:
        shape = np.broadcast_arrays(*xs)[0].shape
    except ValueError:
        raise ValueError("operands could not be broadcast together with shapes " + _shapes(xs)) from None
    return np.empty(shape, dtype)


def _shapes(xs):
    if len(xs) == 0:
        return ""
    return shape_text(xs[0].shape) + " " + _shapes(xs[1:])


def shape_text(shape):
    """As NumPy writes it: (3,) and (3,4)."""
    if len(shape) == 0:
        return "()"
    text = ""
    for n in shape:
        text += str(n) + ","
    return "(" + (text[:-1] if len(shape) > 1 else text) + ")"


def given(y):
    """A result as calls of ufuncs give it: of no dimensions it is a number."""
    if y.ndim == 0:
        return y[()]
    return y


def into(out, r):
    """Writes a result to `out=`, after all of it is known: what it is made of may overlap with it."""
    y = np.asarray(r)
    if y.ndim > out.ndim or not _goes_into(y.shape, out.shape[out.ndim - y.ndim:]):
        raise ValueError("non-broadcastable output operand with shape " + shape_text(out.shape) + " doesn't match the broadcast shape " + shape_text(y.shape))
    np.copyto(out, y)
    return out


def _goes_into(shape, into):
    for k in range(len(shape)):
        if shape[k] != into[k] and shape[k] != 1:
            return False
    return True


# -- methods -------------------------------------------------------------------------------------------------------------------------------------


def reduce(f, identity, array, axis, dtype, out, keepdims, initial, where):
    if not (isinstance(where, bool) and where):
        raise NotImplementedError("'where' of reductions is compiled for NumPy's own ufuncs only")
    x = np.asarray(array)
    if dtype is not None:
        return reduce(f, identity, x.astype(dtype), axis, None, out, keepdims, initial, where)
    if axis is None:
        if x.ndim > 1 and identity is None:
            raise ValueError("reduction operation is not reorderable, so at most one axis may be specified")
        r = _folded(f, identity, initial, np.ravel(x))
        r = np.full((1,) * x.ndim, r) if keepdims else r
    elif isinstance(axis, tuple):
        if len(axis) > 1 and identity is None:
            raise ValueError("reduction operation is not reorderable, so at most one axis may be specified")
        r = _over_axes(f, identity, initial, x, axis, keepdims)
    else:
        np._reduced_size(x, axis)
        r = _folded(f, identity, initial, np.moveaxis(x, axis, 0))
        r = np.expand_dims(np.asarray(r), axis) if keepdims else r
    return r if out is None else into(out, r)


def _over_axes(f, identity, initial, x, axes, keepdims):
    r = _one_by_one(f, identity, initial, x, axes, 0)
    return r if keepdims else given(np.squeeze(r, axes))


def _one_by_one(f, identity, initial, x, axes, k):
    if k == len(axes):
        return x
    return _one_by_one(f, identity, None, reduce(f, identity, x, axes[k], None, None, True, initial, True), axes, k + 1)


def _folded(f, identity, initial, rows):
    """Put together along the first axis, from left to right, after `initial` or the identity where there is one."""
    if initial is None and (identity is None or isinstance(identity, str)):
        if len(rows) == 0:
            raise ValueError("zero-size array to a reduction operation which has no identity")
        return _continued(f, _first(f, rows[0]), rows, 1)
    if initial is None:
        return _folded(f, None, identity, rows)
    if rows.ndim == 1:
        return _continued(f, np._result_dtype(f, rows, rows)(initial), rows, 0)
    return _continued(f, np.full(rows.shape[1:], initial, np._result_dtype(f, rows, rows)), rows, 0)


def _first(f, row):
    """What the others are put to, in the type of the results."""
    if isinstance(row, np.ndarray):
        return row.astype(np._result_dtype(f, row, row))
    return np._result_dtype(f, row, row)(row)


def _continued(f, total, rows, start):
    for k in range(start, len(rows)):
        total = f(total, rows[k])
    return total


def accumulate(f, array, axis, dtype, out):
    if dtype is not None:
        return accumulate(f, np.asarray(array).astype(dtype), axis, None, out)
    x = np.asarray(array)
    if x.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    np._reduced_size(x, axis)
    rows = np.moveaxis(x, axis, 0)
    r = np.array(_first(f, x))
    to = np.moveaxis(r, axis, 0)
    for k in range(1, len(rows)):
        to[k] = f(to[k - 1], rows[k])
    return r if out is None else into(out, r)


def outer(f, A, B):
    x, y = np.asarray(A), np.asarray(B)
    return f(x.reshape(x.shape + (1,) * y.ndim), y)


def reduceat(f, array, indices, axis, dtype, out):
    if dtype is not None:
        return reduceat(f, np.asarray(array).astype(dtype), indices, axis, None, out)
    x, starts = np.asarray(array), np.asarray(indices)
    rows = np.moveaxis(x, axis, 0)
    n = len(rows)
    for k in range(len(starts)):
        if starts[k] < 0 or starts[k] >= n:
            raise IndexError("an index of reduceat is out of range")
    r = np.empty((len(starts),) + rows.shape[1:], np._result_dtype(f, x, x))
    for k in range(len(starts)):
        end = starts[k + 1] if k + 1 < len(starts) else n
        total = _first(f, rows[starts[k]])
        for j in range(starts[k] + 1, end):
            total = f(total, rows[j])
        r[k] = total
    r = np.moveaxis(r, 0, axis)
    return r if out is None else into(out, r)


# -- gufuncs -------------------------------------------------------------------------------------------------------------------------------------


def of_type(x, dtype):
    """An input of the type that a loop was declared for."""
    if isinstance(x, np.ndarray):
        if np.result_type(x) == dtype:
            return x
        return x.astype(dtype)
    if isinstance(x, (list, tuple)):
        return np.asarray(x, dtype)
    return dtype(x)


def output(y, dtype):
    """An output of the type that a loop was declared for: itself, or room for what is then converted."""
    if np.result_type(y) == dtype:
        return y
    np._check_cast(dtype(0), y, "same_kind")
    return np.empty(y.shape, dtype)


def written(y, made):
    if isinstance(y, np.ndarray) and np.result_type(y) != np.result_type(made):
        y[...] = made


def check_dimensions(x, core, name, k, nin, layout):
    if np.ndim(x) < core:
        which = "Input operand " + str(k) if k < nin else "Output operand " + str(k - nin)
        raise ValueError(name + ": " + which + " does not have enough dimensions (has " + str(np.ndim(x)) + ", gufunc core with signature " + layout + " requires " + str(core) + ")")


def check_core(first, size, name, k, nin, axis, layout):
    if first != size:
        which = "Input operand " + str(k) if k < nin else "Output operand " + str(k - nin)
        raise ValueError(name + ": " + which + " has a mismatch in its core dimension " + str(axis) + ", with gufunc signature " + layout
                         + " (size " + str(size) + " is different from " + str(first) + ")")


def leading(xs, core):
    """The shape of the outer loop."""
    return _leading(xs, core, 0)


def _leading(xs, core, k):
    if k == len(xs):
        return ()
    rest = _leading(xs, core, k + 1)
    if isinstance(xs[k], np.ndarray):
        return np.broadcast_shapes(xs[k].shape[:xs[k].ndim - core[k]], rest)
    return rest


def boxed(x):
    """An operand without core dimensions, as an array of one element."""
    return np.asarray(x)[..., np.newaxis]


def outer_view(x, shape, core):
    """An input with all dimensions of the outer loop."""
    if isinstance(x, np.ndarray):
        return np.broadcast_to(x, shape + x.shape[x.ndim - core:])
    return x


def outer_output(x, shape, core):
    """An operand that is written to: it has all dimensions of the outer loop already."""
    if isinstance(x, np.ndarray):
        if x.ndim == len(shape) + core and x.shape[:x.ndim - core] == shape:
            return x
        raise ValueError("non-broadcastable output operand with shape " + shape_text(x.shape[:x.ndim - core]) + " doesn't match the broadcast shape " + shape_text(shape))
    return x
