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
    if len(shape) == 0:
        return True
    for k in range(len(shape)):
        if shape[k] != into[k] and shape[k] != 1:
            return False
    return True


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


def output(y, dtype, inputs):
    """An output of the type that a loop was declared for: itself, or a converted copy, for a kernel may leave elements alone. A copy too where it shares memory with an input, which a kernel may read later."""
    if np.result_type(y) == dtype:
        if meets(y, inputs):
            return y.copy()
        return y
    np._check_cast(dtype(0), y, "same_kind")
    return y.astype(dtype)


def meets(y, inputs):
    if len(inputs) == 0:
        return False
    x = inputs[0]
    if isinstance(y, np.ndarray) and isinstance(x, np.ndarray) and np.may_share_memory(x, y):
        return True
    return meets(y, inputs[1:])


def written(y, made):
    if isinstance(y, np.ndarray) and not same(y, made):
        y[...] = made


def same(y, made):
    """Whether what was written to is the output itself."""
    return np.result_type(y) == np.result_type(made) and y is made


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
