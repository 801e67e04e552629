"""Elements chosen, moved, repeated, left out and put in. Parameters are those of NumPy's functions of the same name."""

import numpy as np
from numpy.exceptions import AxisError

from .outputs import taken


def flatnonzero(a):
    return np.nonzero(np.ravel(np.asarray(a)))[0]


def argwhere(a):
    x = np.asarray(a)
    if x.ndim == 0:
        return np.empty((1 if x[()] else 0, 0), np.int64)
    return np.stack(np.nonzero(x)).T


def take(a, indices, axis, out, mode):
    x = np.asarray(a)
    if mode == "wrap" or mode == "clip":
        n = x.size if axis is None else x.shape[axis]
        where = np.asarray(indices).astype(np.int64)
        if n == 0 and where.size > 0:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        r = np.take(x, where % n if mode == "wrap" else np.clip(where, 0, n - 1), axis)
    elif mode == "raise":
        if isinstance(indices, (list, tuple)):
            r = np.take(x, np.asarray(indices), axis)
        else:
            r = np.take(x, indices, axis)
    else:
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
    return r if out is None else taken(out, r)


def take_at(a, indices, axis):
    if not -a.ndim <= axis < a.ndim:
        raise AxisError(axis, a.ndim, None)
    at = axis % a.ndim
    rows = np.moveaxis(a, at, 0)
    if isinstance(indices, (int, np.integer)):
        row = rows[indices]
        return row.copy() if isinstance(row, np.ndarray) else row
    where = np.asarray(indices)
    out = np.moveaxis(np.take(rows, where, 0), at, at)
    # The dimensions that stay come in front one by one.
    for k in range(at):
        out = np.moveaxis(out, where.ndim + k, k)
    return np.ascontiguousarray(out)


def take_along_axis(arr, indices, axis):
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return take_along_axis(np.ravel(arr), indices, 0)
    d, where, step = _places_along(arr, indices, axis)
    out = np.empty(where.shape, arr.dtype)
    for at in np.ndindex(where.shape):
        out[at] = arr[_with(at, step, d, where[at])]
    return out


def put_along_axis(arr, indices, values, axis):
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        where = np.ravel(indices)
        given = _apart(np.broadcast_to(values, where.shape))
        _check_range(where, arr.size, 0)
        for k in range(len(where)):
            arr.flat[where[k]] = given[k]
        return
    d, where, step = _places_along(arr, indices, axis)
    given = _apart(np.broadcast_to(values, where.shape))
    _check_range(where, arr.shape[d], d)
    for at in np.ndindex(where.shape):
        arr[_with(at, step, d, where[at])] = given[at]


def _places_along(arr, indices, axis):
    """The dimension that `axis` means; indices for all of the array's others, where one stands for several; and 0 for the dimensions in which one element of the array does so."""
    np._reduced_size(arr, axis)
    d = axis % arr.ndim
    if indices.dtype.kind != "i" and indices.dtype.kind != "u":
        raise IndexError("`indices` must be an integer array")
    if np.ndim(indices) != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    else:
        return d, np.broadcast_to(indices, _repeated(indices.shape, arr.shape, d, 0)), _steps(arr.shape)


def _steps(shape):
    if len(shape) == 0:
        return ()
    return (0 if shape[0] == 1 else 1,) + _steps(shape[1:])


def _repeated(shape, like, d, k):
    if len(shape) == 0:
        return ()
    return (like[0] if k != d and shape[0] == 1 else shape[0],) + _repeated(shape[1:], like[1:], d, k + 1)


def _with(at, step, d, i):
    """An index with `i` in dimension `d`."""
    if len(at) == 0:
        return ()
    return (i if d == 0 else at[0] * step[0],) + _with(at[1:], step[1:], d - 1, i)


def _apart(values):
    """A copy: what is written may be what is read."""
    return np.array(values)


def _check_range(where, n, axis):
    """Nothing is written where an index is wrong."""
    for i in where.flat:
        if i < -n or i >= n:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")


def put(a, ind, v):
    positions = np.ravel(np.asarray(ind))
    values = _apart(np.ravel(np.asarray(v, a.dtype)))
    if not a.flags.writeable:
        raise ValueError("put: output array is read-only")
    if len(values) == 0:
        return
    for k in range(len(positions)):
        at = positions[k]
        if not -a.size <= at < a.size:
            raise IndexError(f"index {at} is out of bounds for axis 0 with size {a.size}")
        a.flat[at] = values[k % len(values)]


def extract(condition, arr):
    return np.take(np.ravel(arr), np.nonzero(np.ravel(condition))[0])


def compress(condition, a, axis):
    if axis is None:
        return np.take(np.ravel(a), np.nonzero(np.asarray(condition))[0])
    return np.take(a, np.nonzero(np.asarray(condition))[0], axis)


def _check_safe(to, values):
    if np.result_type(to, values) != to.dtype:
        raise TypeError(f"Cannot cast array data from dtype('{values.dtype.name}') to dtype('{to.dtype.name}') according to the rule 'safe'")


def _as_mask(mask, a, what):
    """One truth for each element."""
    m = np.asarray(mask)
    if m.size != a.size:
        raise ValueError(what + ": mask and data must be the same size")
    if m.ndim == a.ndim and m.shape == a.shape:
        return m
    return m.reshape(a.shape)


def place(arr, mask, vals):
    # NumPy reads what it has just written, where both share memory.
    values = np.ravel(np.asarray(vals))
    if isinstance(vals, np.ndarray):
        _check_safe(arr, values)
    chosen = _as_mask(mask, arr, "place")
    k = 0
    for at in np.ndindex(arr.shape):
        if chosen[at]:
            if len(values) == 0:
                raise ValueError("Cannot insert from an empty array!")
            arr[at] = values[k % len(values)]
            k += 1


def putmask(a, mask, values):
    given = _apart(np.ravel(np.asarray(values)))
    if isinstance(values, np.ndarray):
        _check_safe(a, given)
    chosen = _as_mask(mask, a, "putmask")
    if len(given) == 0:
        return
    k = 0
    for at in np.ndindex(a.shape):
        if chosen[at]:
            a[at] = given[k % len(given)]
        k += 1


def copyto(dst, src, casting, where):
    np._check_cast(src, dst, casting)
    if isinstance(where, bool) and where:
        dst[...] = src
        return
    mask = np.asarray(where)
    if mask.dtype != np.bool_:
        raise TypeError(f"Cannot cast array data from dtype('{mask.dtype.name}') to dtype('bool') according to the rule 'safe'")
    chosen = np.broadcast_to(mask, dst.shape)
    if dst.ndim == 0:
        if chosen[()]:
            dst[...] = src
    elif isinstance(src, np.ndarray):
        # What is chosen is read before it is written: both may share memory.
        dst[chosen] = np.broadcast_to(src, dst.shape)[chosen]
    elif isinstance(src, (list, tuple)):
        dst[chosen] = np.broadcast_to(np.asarray(src), dst.shape)[chosen]
    else:
        dst[chosen] = src


def select(condlist, choicelist, default):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if isinstance(choicelist, tuple):
        return _first(condlist, choicelist, default, np.result_type(*choicelist, default).type(0))
    if isinstance(condlist, tuple):
        return _first(condlist, choicelist, default, np.result_type(choicelist[0], default).type(0))
    out = np.where(condlist[0], choicelist[0], default)
    done = condlist[0]
    for k in range(1, len(condlist)):
        out = np.where(np.logical_and(condlist[k], np.logical_not(done)), choicelist[k], out)
        done = np.logical_or(done, condlist[k])
    return out


def _first(conditions, choices, default, like):
    """The same of members of different types, whose number is known."""
    if isinstance(conditions, tuple):
        last = len(conditions) == 1
    else:
        last = len(choices) == 1
    if last:
        return np.where(conditions[0], np._cast_like(choices[0], like), np._cast_like(default, like))
    return np.where(conditions[0], np._cast_like(choices[0], like), _first(conditions[1:], choices[1:], default, like))


def diff(a, n, axis, prepend, append):
    x = np.asarray(a)
    if prepend is not None:
        return diff(np.concatenate((_edge(x, prepend, axis), x), axis), n, axis, None, append)
    if append is not None:
        return diff(np.concatenate((x, _edge(x, append, axis)), axis), n, axis, None, None)
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if isinstance(n, float):
        raise TypeError("'float' object cannot be interpreted as an integer")
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return x
    if n == 1:
        return _differences(x, axis)
    return diff(_differences(x, axis), n - 1, axis, None, None)


def _edge(x, values, axis):
    """What is put in front or behind along an axis: a number stands for a slice of it."""
    given = np.asarray(values)
    if given.ndim == 0:
        return np.full(np.sum(x, axis, None, None, True).shape, given[()])
    return given


def _differences(a, axis):
    np._reduced_size(a, axis)
    if axis == -1 or axis == a.ndim - 1:
        return _subtract(a[..., 1:], a[..., :-1])
    rows = np.swapaxes(a, 0, axis)
    return np.ascontiguousarray(np.swapaxes(_subtract(rows[1:], rows[:-1]), 0, axis))


def _subtract(x, y):
    if x.dtype == np.bool_:
        return x != y
    return x - y


def unwrap(p, discont, axis, period):
    x = np.asarray(p)
    jumps = np.diff(x, 1, axis)
    dtype = np.result_type(jumps, period)
    if dtype.kind == "i" or dtype.kind == "u":
        half = period // 2
        low, high = -half if period % 2 == 0 else -half - 0, half
        both = period % 2 == 0
    else:
        half = period / 2
        low, high, both = -half, half, True
    steps = np.add(np.mod(np.subtract(jumps, low), period), low)
    if both:
        steps = np.where(np.logical_and(np.equal(steps, low), np.greater(jumps, 0)), high, steps)
    least = half if discont is None else max(half, discont)
    mended = np.where(np.less(np.abs(jumps), least), 0, np.subtract(steps, jumps))
    out = np.array(x, dtype)
    rows, sums = np.moveaxis(out, axis, 0), np.moveaxis(np.cumsum(mended, axis), axis, 0)
    rows[1:] = np.add(rows[1:], sums)
    return out


def ediff1d(ary, to_end, to_begin):
    flat = np.ravel(np.asarray(ary))
    if to_end is None and to_begin is None:
        return flat[1:] - flat[:-1]
    begin = _ends(to_begin, flat.dtype, "to_begin")
    end = _ends(to_end, flat.dtype, "to_end")
    n = max(len(flat) - 1, 0)
    out = np.empty(len(begin) + n + len(end), flat.dtype)
    out[:len(begin)] = begin
    out[len(begin) + n:] = end
    if n > 0:
        out[len(begin):len(begin) + n] = flat[1:] - flat[:-1]
    return out


def _ends(x, dtype, name):
    if x is None:
        return np.empty(0, dtype)
    values = np.ravel(np.asarray(x))
    if "buifc".index(values.dtype.kind) > "buifc".index(dtype.kind):
        raise TypeError("dtype of `" + name + "` must be compatible with input `ary` under the `same_kind` rule.")
    return values.astype(dtype)


def repeat(a, repeats, axis):
    if axis is None:
        return _repeat_rows(np.ravel(np.asarray(a)), repeats)
    x = np.asarray(a)
    np._reduced_size(x, axis)
    if axis == 0:
        return _repeat_rows(x, repeats)
    return np.ascontiguousarray(np.swapaxes(_repeat_rows(np.swapaxes(x, 0, axis), repeats), 0, axis))


def _repeat_rows(a, repeats):
    n = len(a)
    if np.isscalar(repeats) and np._is_inexact(repeats):
        return _repeat_rows(a, int(repeats))
    if np._is_inexact(np.asarray(repeats)):
        raise TypeError("Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'safe'")
    if isinstance(repeats, np.ndarray) and repeats.ndim == 0:
        return _repeat_rows(a, repeats[()])
    if np.isscalar(repeats):
        if repeats < 0:
            raise ValueError("negative dimensions are not allowed")
        out = np.empty((n * repeats,) + a.shape[1:], a.dtype)
        for i in range(n):
            for k in range(i * repeats, (i + 1) * repeats):
                out[k] = a[i]
        return out
    else:
        counts = np.asarray(repeats)
        if len(counts) == 1:
            return _repeat_rows(a, int(counts[0]))
        if len(counts) != n:
            raise ValueError(f"operands could not be broadcast together with shape ({n},) ({len(counts)},)")
        total = 0
        for c in counts:
            if c < 0:
                raise ValueError("repeats may not contain negative values.")
            total += c
        out = np.empty((total,) + a.shape[1:], a.dtype)
        k = 0
        for i in range(n):
            for _ in range(counts[i]):
                out[k] = a[i]
                k += 1
        return out


def tile(A, reps):
    if isinstance(reps, (int, np.integer)):
        return tile(A, (reps,))
    a = np.asarray(A)
    if a.ndim < len(reps):
        return tile(np.expand_dims(a, 0), reps)
    if len(reps) < a.ndim:
        return tile(a, (1,) + reps)
    return _tile(a, reps, a.ndim - 1)


def _tile(a, reps, axis):
    if axis < 0:
        return a.copy()
    times = reps[axis]
    n = a.shape[axis]
    out = np.empty(a.shape[:axis] + (n * times,) + a.shape[axis + 1:], a.dtype)
    to, rows = np.swapaxes(out, 0, axis), np.swapaxes(a, 0, axis)
    for k in range(times):
        to[k * n:(k + 1) * n] = rows
    return _tile(out, reps, axis - 1)


def roll(a, shift, axis):
    x = np.asarray(a)
    if axis is None:
        return roll(np.ravel(x), shift, 0).reshape(x.shape)
    if isinstance(shift, tuple) and isinstance(axis, tuple):
        if len(axis) == 1:
            return roll(x, shift, axis[0])
        if len(shift) == 1:
            return _roll_each(x, (shift[0],) * len(axis), axis)
        if len(shift) != len(axis):
            raise ValueError("shape mismatch: objects cannot be broadcast to a single shape.")
        return _roll_each(x, shift, axis)
    if isinstance(shift, tuple):
        return _roll_along(x, _total(shift), axis)
    if isinstance(axis, tuple):
        return _roll_each(x, (shift,) * len(axis), axis)
    return _roll_along(x, shift, axis)


def _total(shifts):
    if len(shifts) == 0:
        return 0
    return shifts[0] + _total(shifts[1:])


def _roll_each(a, shifts, axes):
    """Along one axis after the other."""
    if len(axes) == 0:
        return a.copy()
    once = _roll_along(a, shifts[0], axes[0])
    if len(axes) == 1:
        return once
    return _roll_each(once, shifts[1:], axes[1:])


def _roll_along(a, shift, axis):
    np._reduced_size(a, axis)
    if axis == 0:
        return _roll_rows(a, shift)
    out = np.empty(a.shape, a.dtype)
    np.swapaxes(out, 0, axis)[...] = _roll_rows(np.swapaxes(a, 0, axis), shift)
    return out


def _roll_rows(a, shift):
    out = np.empty(a.shape, a.dtype)
    n = len(a)
    if n > 0:
        k = shift % n
        out[k:] = a[:n - k]
        out[:k] = a[n - k:]
    return out


def rot90(m, k, axes):
    a = np.asarray(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = axes[0], axes[1]
    if first == second or abs(first - second) == a.ndim:
        raise ValueError("Axes must be different.")
    if first < -a.ndim or first >= a.ndim or second < -a.ndim or second >= a.ndim:
        raise ValueError(f"Axes=({first}, {second}) out of range for array of ndim={a.ndim}.")
    turns = k % 4
    if turns == 0:
        return np.flip(np.flip(a, first), first)
    if turns == 1:
        return np.swapaxes(np.flip(a, second), first, second)
    if turns == 2:
        return np.flip(np.flip(a, first), second)
    return np.flip(np.swapaxes(a, first, second), second)


def delete(arr, obj, axis):
    if axis is None:
        return _delete_rows(np.ravel(np.asarray(arr)), obj, 0)
    if axis == 0:
        return _delete_rows(arr, obj, 0)
    return np.ascontiguousarray(np.swapaxes(_delete_rows(np.swapaxes(arr, 0, axis), obj, axis), 0, axis))


def _delete_rows(a, obj, axis):
    n = len(a)
    keep = np.ones(n, np.bool_)
    if isinstance(obj, slice):
        start, stop, step = obj.indices(n)
        for i in range(start, stop, step):
            keep[i] = False
    elif isinstance(obj, (int, np.integer)):
        _leave_out(keep, obj, axis)
    else:
        chosen = np.asarray(obj)
        if np._is_inexact(chosen):
            # An empty list has no integers either.
            if chosen.size > 0:
                raise IndexError("arrays used as indices must be of integer (or boolean) type")
        elif chosen.dtype == np.bool_:
            if len(chosen) != n:
                raise ValueError(f"boolean array argument obj to delete must be one dimensional and match the axis length of {n}")
            for i in range(n):
                if chosen[i]:
                    keep[i] = False
        else:
            for i in np.ravel(chosen):
                _leave_out(keep, i, axis)
    return a[keep]


def _leave_out(keep, i, axis):
    n = len(keep)
    if i < -n or i >= n:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    keep[i] = False


def insert(arr, obj, values, axis):
    x = np.asarray(arr)
    if axis is None:
        return _insert(np.ravel(x), obj, values, 0)
    np._reduced_size(x, axis)
    if axis < 0:
        return _insert(x, obj, values, axis + x.ndim)
    return _insert(x, obj, values, axis)


def _insert(a, obj, values, axis):
    """What is put in at one place brings its own number of rows: along the first axis of `values` for a number, along `axis` for a sequence of one."""
    rows = np.moveaxis(a, axis, 0)
    if isinstance(obj, slice):
        start, stop, step = obj.indices(len(rows))
        return _insert(a, np.arange(start, stop, step), values, axis)
    if isinstance(obj, (list, tuple, np.ndarray)) and np.asarray(obj).dtype == np.bool_:
        if np.ndim(obj) != 1:
            raise ValueError("boolean array argument obj to insert must be one dimensional")
        return _insert(a, np.flatnonzero(obj), values, axis)
    if isinstance(obj, (int, np.integer)):
        r = _put_in(rows, _insertion(obj, len(rows), axis), np.array(values, a.dtype, ndmin=a.ndim))
    else:
        places = np.ravel(np.asarray(obj))
        if np._is_inexact(places):
            if len(places) > 0:
                raise IndexError("arrays used as indices must be of integer (or boolean) type")
            r = rows.copy()
        elif len(places) == 1:
            r = _put_in(rows, _insertion(places[0], len(rows), axis), np.moveaxis(np.array(values, a.dtype, ndmin=a.ndim), axis, 0))
        else:
            given = np.empty((len(places),) + rows.shape[1:], a.dtype)
            np.moveaxis(given, 0, axis)[...] = values
            r = _put_in_places(rows, places, given, axis)
    return np.ascontiguousarray(np.moveaxis(r, 0, axis))


def _put_in(rows, at, new):
    count = len(new)
    out = np.empty((len(rows) + count,) + rows.shape[1:], rows.dtype)
    out[:at] = rows[:at]
    out[at:at + count] = new
    out[at + count:] = rows[at:]
    return out


def _put_in_places(rows, places, given, axis):
    n, k = len(rows), len(places)
    order = np.argsort(places, kind="stable")
    out = np.empty((n + k,) + rows.shape[1:], rows.dtype)
    new = np.zeros(n + k, np.bool_)
    for j in range(k):
        at = _insertion(places[order[j]], n, axis) + j
        out[at] = given[order[j]]
        new[at] = True
    i = 0
    for j in range(n + k):
        if not new[j]:
            out[j] = rows[i]
            i += 1
    return out


def _insertion(i, n, axis):
    if i < -n or i > n:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    return i + n if i < 0 else int(i)


def trim_zeros(filt, trim):
    first, last = 0, len(filt)
    if "f" in trim or "F" in trim:
        while first < last and filt[first] == 0:
            first += 1
    if "b" in trim or "B" in trim:
        while last > first and filt[last - 1] == 0:
            last -= 1
    return filt[first:last]


def resize(a, new_shape):
    source = np.ravel(np.asarray(a))
    out = np.zeros(new_shape, source.dtype)
    n = len(source)
    if n > 0:
        i = 0
        for at in np.ndindex(out.shape):
            out[at] = source[i % n]
            i += 1
    return out


def fill_diagonal(a, val, wrap):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    for k in range(1, a.ndim):
        if a.ndim > 2 and a.shape[k] != a.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    if a.ndim == 2 and wrap and a.size > 0:
        # A tall matrix has a free row behind each square.
        for k in range(0, a.shape[0], a.shape[1] + 1):
            _fill_square(a[k:], val, k * a.shape[1] // (a.shape[1] + 1))
    else:
        _fill_square(a, val, 0)


def _fill_square(a, val, first):
    """The diagonal of the array's first rows, with the values from `first` on."""
    n = min(a.shape)
    if isinstance(val, (bool, int, float, complex)):
        for i in range(n):
            a[(i,) * a.ndim] = val
    else:
        values = _apart(np.ravel(np.asarray(val)))
        for i in range(n if len(values) > 0 else 0):
            a[(i,) * a.ndim] = values[(first + i) % len(values)]
