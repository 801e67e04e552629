"""Sorting, searching, sets and counts on top of the kernels ``np._argsort``, ``np._searchsorted`` and ``array.sort``.

NaN counts as larger than everything, as in NumPy.
"""

import numpy as np
from numpy.exceptions import AxisError

from .versions import NUMPY

# Whether NumPy halves all elements for each key that it looks for.
_HALVES = NUMPY >= (2, 5)


def _is_stable(kind, order, stable):
    """Whether equal elements keep their order; of a kind the first letter counts."""
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind is None:
        return stable is not None and bool(stable)
    if stable is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
    first = kind[:1]
    if first == "q" or first == "Q" or first == "h" or first == "H":
        return False
    if first == "s" or first == "S" or first == "m" or first == "M":
        return True
    raise ValueError("sort kind must be one of 'quick', 'heap', or 'stable' (got '" + kind + "')")


def sort(a, axis, kind, order, stable):
    in_order = _is_stable(kind, order, stable)
    if axis is None:
        out = np.asarray(a).flatten()
        np._sort(out, -1, in_order)
    else:
        out = np.asarray(a).copy("K")
        np._sort(out, axis, in_order)
    return out


def sort_in_place(a, axis, kind, order, stable):
    np._sort(a, axis, _is_stable(kind, order, stable))


def sort_complex(a):
    out = np.sort(np.asarray(a))
    if np.iscomplexobj(out):
        return out
    if out.dtype.itemsize <= 2 and out.dtype.kind != "b":
        return out.astype(np.complex64)
    return out.astype(np.complex128)


def argsort(a, axis, kind, order, stable):
    # All orders are stable.
    _is_stable(kind, order, stable)
    x = np.asarray(a)
    if axis is None or x.ndim == 0 and (axis == -1 or axis == 0):
        return np._argsort(x.flatten(), 0)
    return np._argsort(x, axis)


def _check_introselect(kind, order):
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind != "introselect":
        raise ValueError("select kind must be 'introselect' (got '" + kind + "')")


def _places(kth, n):
    """Checks where elements shall come; of several it gives an array."""
    if isinstance(kth, bool):
        raise ValueError("Booleans unacceptable as partition index")
    if isinstance(kth, (int, np.integer)):
        return kth
    places = np.asarray(kth)
    if places.dtype.kind == "b":
        raise ValueError("Booleans unacceptable as partition index")
    if places.dtype.kind != "i" and places.dtype.kind != "u":
        raise TypeError("Partition index must be integer")
    if places.ndim > 1:
        raise ValueError("object too deep for desired array")
    for k in places.ravel():
        if n > 0 and not -n <= k < n:
            raise ValueError(f"kth(={k + n if k < 0 else k}) out of bounds ({n})")
    return places


def _length_along(a, axis):
    if a.ndim == 0:
        return 0
    return a.shape[axis] if -a.ndim <= axis < a.ndim else 0


def partition(a, kth, axis, kind, order):
    if axis is None:
        out = np.asarray(a).flatten()
        partition_in_place(out, kth, -1, kind, order)
    else:
        out = np.asarray(a).copy("K")
        partition_in_place(out, kth, axis, kind, order)
    return out


def partition_in_place(a, kth, axis, kind, order):
    _check_introselect(kind, order)
    if not -a.ndim <= axis < a.ndim:
        raise AxisError(axis, a.ndim, None)
    if isinstance(kth, float) or isinstance(kth, str) or kth is None:
        raise TypeError("Partition index must be integer")
    places = _places(kth, _length_along(a, axis))
    if isinstance(places, (int, np.integer)):
        np._partition(a, places, axis)
    elif len(np.ravel(places)) > 0:
        # A sorted array has every element in its place.
        np._sort(a, axis, False)


def argpartition(a, kth, axis, kind, order):
    _check_introselect(kind, order)
    if isinstance(kth, float) or isinstance(kth, str) or kth is None:
        raise TypeError("Partition index must be integer")
    x = np.asarray(a)
    if axis is None:
        return _argpartition(x.flatten(), 0, kth)
    if x.ndim == 0:
        return _argpartition(x.flatten(), axis, kth)
    return _argpartition(x, axis, kth)


def _argpartition(a, axis, kth):
    places = _places(kth, _length_along(a, axis))
    if isinstance(places, (int, np.integer)):
        return np._argpartition(a, axis, places)
    return np._argsort(a, axis)


def lexsort(keys, axis):
    if len(keys) == 0:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if np.ndim(keys[0]) != 1:
        raise NotImplementedError("compiled code sorts by keys of one dimension: call lexsort() for each row")
    if not -1 <= axis < 1:
        raise AxisError(axis, 1, None)
    order = np.arange(len(keys[0]))
    if isinstance(keys, tuple):
        return _by_keys(order, keys)
    for key in keys:
        if len(key) != len(order):
            raise ValueError("all keys need to be the same shape")
        order = order[np._argsort(key[order], 0)]
    return order


def _by_keys(order, keys):
    """Sorts by one key after the other; the last counts most."""
    key = np.asarray(keys[0])
    if len(key) != len(order):
        raise ValueError("all keys need to be the same shape")
    by_first = order[np._argsort(key[order], 0)]
    if len(keys) == 1:
        return by_first
    return _by_keys(by_first, keys[1:])


# -- searching ---------------------------------------------------------------------------------------------------------------------------------


def _before(x, y):
    """``x < y`` with NaN last."""
    return x < y or (y != y and x == x)


def _first_not_before(a, v):
    return _first(a, v, True)


def _first_after(a, v):
    return _first(a, v, False)


def _first(a, v, not_before):
    """Where the first element stands that is not before ``v``, or that is after it: what NumPy finds also where the elements are not sorted."""
    low, n = 0, len(a)
    if _HALVES:
        while n > 1:
            half = n // 2
            if _passes(a[low + half], v, not_before):
                low += half
            n -= half
        return np.int64(low + (n > 0 and _passes(a[low], v, not_before)))
    while low < n:
        middle = (low + n) // 2
        if _passes(a[middle], v, not_before):
            low = middle + 1
        else:
            n = middle
    return np.int64(low)


def _passes(x, v, not_before):
    return _before(x, v) if not_before else not _before(v, x)


def searchsorted(a, v, side, sorter):
    if sorter is not None:
        if np.asarray(sorter).size != np.asarray(a).size:
            raise ValueError("sorter.size must equal a.size")
        return searchsorted(np.asarray(a)[sorter], v, side, None)
    x = np.asarray(a)
    if x.ndim != 1:
        raise ValueError("object too deep for desired array" if x.ndim > 1 else "object of too small depth for desired array")
    if np.isscalar(v):
        if _is_right(side):
            return _first_after(x, v)
        return _first_not_before(x, v)
    keys = np.asarray(v)
    common = np.result_type(x, keys)
    flat = np._searchsorted(x.astype(common), keys.astype(common).ravel(), _is_right(side))
    if keys.ndim == 0:
        return flat[0]
    return flat.reshape(keys.shape)


def _is_right(side):
    if side == "left":
        return False
    if side == "right":
        return True
    raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")


def digitize(x, bins, right):
    edges = np.asarray(bins)
    if np.iscomplexobj(x):
        raise TypeError("x may not be complex")
    if _rises(edges):
        if right:
            return np.searchsorted(edges, x, "left")
        return np.searchsorted(edges, x, "right")
    if right:
        return len(edges) - np.searchsorted(edges[::-1], x, "left")
    return len(edges) - np.searchsorted(edges[::-1], x, "right")


def _rises(edges):
    """Whether edges go up; not where they go down. What the first two different ones do says which it is, and NaN is not above anything."""
    n = len(edges)
    i = 1
    while i < n and edges[i] == edges[0]:
        i += 1
    up = i >= n or edges[i - 1] < edges[i]
    for k in range(i + 1, n):
        if edges[k - 1] > edges[k] if up else edges[k - 1] < edges[k]:
            raise ValueError("bins must be monotonically increasing or decreasing")
    return up


def interp(x, xp, fp, left, right, period):
    if period is not None:
        return _periodic(x, np.asarray(xp), np.asarray(fp), abs(float(period)))
    points = np.asarray(xp).astype(np.float64)
    values = _floats(np.asarray(fp))
    if len(points) == 0:
        raise ValueError("array of sample points is empty")
    if len(points) != len(values):
        raise ValueError("fp and xp are not of the same length.")
    if left is None:
        below = values[0]
    else:
        below = values.dtype.type(left)
    if right is None:
        above = values[-1]
    else:
        above = values.dtype.type(right)
    if np.isscalar(x):
        return _between_points(float(x), _interval(float(x), points, 0), points, values, below, above)
    at = np.asarray(x)
    out = np.empty(at.shape, values.dtype)
    near = 0
    for i in np.ndindex(at.shape):
        v = float(at[i])
        if v == v:
            near = _interval(v, points, near)
        out[i] = _between_points(v, near, points, values, below, above)
    return out


def _floats(values):
    if np.iscomplexobj(values):
        return values.astype(np.complex128)
    return values.astype(np.float64)


def _interval(x, points, near):
    """Behind which point ``x`` lies: -1 before the first one, their number behind the last one. It is looked for beside the place that was found last, then
    by halves, in the steps that NumPy takes: where points do not rise, which one is found depends on them."""
    n = len(points)
    if x > points[n - 1]:
        return n
    if x < points[0]:
        return -1
    if n <= 4:
        i = 1
        while i < n and x >= points[i]:
            i += 1
        return i - 1
    near = max(min(near, n - 3), 1)
    low, high = 0, n
    if x < points[near]:
        # A point that is NaN is not above anything.
        if not x < points[near - 1]:
            return near - 1
        high = near - 1
        if near > _NEAR and x >= points[near - _NEAR]:
            low = near - _NEAR
    else:
        if x < points[near + 1]:
            return near
        if x < points[near + 2]:
            return near + 1
        low = near + 2
        if near < n - _NEAR - 1 and x < points[near + _NEAR]:
            high = near + _NEAR
    while low < high:
        middle = low + (high - low) // 2
        if x >= points[middle]:
            low = middle + 1
        else:
            high = middle
    return low - 1


# How far from the last place NumPy looks before it halves everything.
_NEAR = 8


def _between_points(x, j, points, values, below, above):
    n = len(points)
    if n == 1:
        return below if x < points[0] else (above if x > points[0] else values[0])
    if x != x:
        return values.dtype.type(x)
    if j < 0:
        return below
    if j >= n - 1:
        return above if j == n else values[n - 1]
    if points[j] == x:
        # Avoids an infinite slope times 0.
        return values[j]
    return _on_line(x, points[j], points[j + 1], values[j], values[j + 1])


def _on_line(x, x0, x1, y0, y1):
    if np.iscomplexobj(y0):
        # The parts by themselves, and times the inverse.
        inverse = 1.0 / (x1 - x0)
        return complex(_part_on_line(x, x0, x1, y0.real, y1.real, inverse), _part_on_line(x, x0, x1, y0.imag, y1.imag, inverse))
    return _sloped(x, x0, x1, y0, y1, (y1 - y0) / (x1 - x0))


def _part_on_line(x, x0, x1, y0, y1, inverse):
    return _sloped(x, x0, x1, y0, y1, (y1 - y0) * inverse)


def _sloped(x, x0, x1, y0, y1, slope):
    y = slope * (x - x0) + y0
    if y != y:
        # From the other end, where an infinity is nearer.
        y = slope * (x - x1) + y1
        if y != y and y0 == y1:
            y = y0
    return y


def _periodic(x, xp, fp, period):
    if period == 0.0:
        raise ValueError("period must be a non-zero value")
    points = xp.astype(np.float64) % period
    order = np._argsort(points, 0)
    points = points[order]
    values = _floats(fp)[order]
    longer = np.concatenate((points[-1:] - period, points, points[:1] + period))
    return interp(np.asarray(x) % period, longer, np.concatenate((values[-1:], values, values[:1])), None, None, None)


# -- sets --------------------------------------------------------------------------------------------------------------------------------------


def _same(x, y):
    return x == y or (x != x and y != y)


def _run_starts(ordered):
    """Where a new value begins in a sorted array."""
    n = len(ordered)
    starts = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or not _same(ordered[i], ordered[i - 1]):
            starts[count] = i
            count += 1
    return starts[:count]


def unique(ar, return_index, return_inverse, return_counts, axis, equal_nan, sorted):
    x = np.asarray(ar)
    if axis is not None and x.ndim > 1:
        return _unique_rows(np.moveaxis(x, axis, 0), return_index, return_inverse, return_counts, axis)
    flat = x.flatten()
    if return_index or return_inverse:
        order = np._argsort(flat, 0)
        ordered = flat[order]
    else:
        order = np.empty(0, np.int64)
        flat.sort()
        ordered = flat
    starts = _run_starts(ordered) if equal_nan else _run_starts_nan_apart(ordered)
    values = ordered[starts]
    if not return_index and not return_inverse and not return_counts:
        return values
    r = (values,)
    if return_index:
        r += (order[starts],)
    if return_inverse:
        r += (_inverse(order, starts).reshape(x.shape),)
    if return_counts:
        r += (_run_lengths(starts, len(ordered)),)
    return r


def _run_starts_nan_apart(ordered):
    """Every NaN counts as a value of its own."""
    n = len(ordered)
    starts = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or ordered[i] != ordered[i - 1]:
            starts[count] = i
            count += 1
    return starts[:count]


def _unique_rows(moved, return_index, return_inverse, return_counts, axis):
    """The different slices along the first axis, in lexical order."""
    n = len(moved)
    width = 1
    for m in moved.shape[1:]:
        width *= m
    rows = np.ascontiguousarray(moved).reshape(n, width)
    order = np.arange(n)
    for k in range(width - 1, -1, -1):
        order = order[np._argsort(rows[:, k][order], 0)]
    starts = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or np.any(rows[order[i]] != rows[order[i - 1]]):
            starts[count] = i
            count += 1
    starts = starts[:count]
    values = np.ascontiguousarray(np.moveaxis(moved[order[starts]], 0, axis))
    if not return_index and not return_inverse and not return_counts:
        return values
    r = (values,)
    if return_index:
        r += (order[starts],)
    if return_inverse:
        r += (_inverse(order, starts),)
    if return_counts:
        r += (_run_lengths(starts, n),)
    return r


def _inverse(order, starts):
    out = np.empty(len(order), np.int64)
    run = -1
    for i in range(len(order)):
        if run + 1 < len(starts) and starts[run + 1] == i:
            run += 1
        out[order[i]] = run
    return out


def _run_lengths(starts, n):
    out = np.empty(len(starts), np.int64)
    for i in range(len(starts)):
        out[i] = (starts[i + 1] if i + 1 < len(starts) else n) - starts[i]
    return out


def union1d(ar1, ar2):
    return np.unique(np.concatenate((np.asarray(ar1).ravel(), np.asarray(ar2).ravel())))


def intersect1d(ar1, ar2, assume_unique, return_indices):
    a, b = np.asarray(ar1).ravel(), np.asarray(ar2).ravel()
    if return_indices:
        x, i = np.unique(a, return_index=True)
        y, j = np.unique(b, return_index=True)
        left, right = _common(x, y)
        return x[left], i[left], j[right]
    x, y = np.unique(a), np.unique(b)
    left, right = _common(x, y)
    common = np.result_type(x, y)
    return x[left].astype(common)


def _common(x, y):
    """Positions of equal values in two sorted arrays without repetitions."""
    left = np.empty(min(len(x), len(y)), np.int64)
    right = np.empty(min(len(x), len(y)), np.int64)
    i, j, n = 0, 0, 0
    while i < len(x) and j < len(y):
        if x[i] == y[j]:
            left[n], right[n] = i, j
            n += 1
            i += 1
            j += 1
        elif _before(x[i], y[j]):
            i += 1
        else:
            j += 1
    return left[:n], right[:n]


def _member(ordered, v):
    at = int(_first_not_before(ordered, v))
    return at < len(ordered) and ordered[at] == v


def isin(element, test_elements, assume_unique, invert):
    x = np.asarray(element)
    ordered = np.sort(np.asarray(test_elements).ravel())
    out = np.empty(x.shape, np.bool_)
    for i in np.ndindex(x.shape):
        out[i] = _member(ordered, x[i]) != bool(invert)
    return out


def setdiff1d(ar1, ar2, assume_unique):
    x = np.asarray(ar1).ravel()
    if not assume_unique:
        x = np.unique(x)
    return x[np.isin(x, np.asarray(ar2).ravel(), False, True)]


def setxor1d(ar1, ar2, assume_unique):
    x, y = np.unique(np.asarray(ar1).ravel()), np.unique(np.asarray(ar2).ravel())
    return np.sort(np.concatenate((x[np.isin(x, y, False, True)], y[np.isin(y, x, False, True)])))


# -- counts ------------------------------------------------------------------------------------------------------------------------------------


def bincount(x, weights, minlength):
    a = np.asarray(x)
    if np._is_inexact(a):
        if isinstance(x, (list, tuple)) and len(a) == 0:
            # A sequence of nothing is one of no floats either.
            return bincount(np.zeros(0, np.int64), weights, minlength)
        if isinstance(x, (list, tuple)) and not np.iscomplexobj(a):
            return bincount(a.astype(np.int64), weights, minlength)
        raise TypeError("Cannot cast array data to dtype('int64') according to the rule 'safe'")
    if a.dtype == np.bool_:
        return bincount(a.astype(np.int64), weights, minlength)
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    n = int(minlength)
    for v in a:
        if v < 0:
            raise ValueError("'list' argument must have no negative elements")
        n = max(n, int(v) + 1)
    if weights is None:
        out = np.zeros(n, np.int64)
        for v in a:
            out[v] += 1
        return out
    w = np.asarray(weights)
    if len(w) != len(a):
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(n, np.float64)
    for i in range(len(a)):
        sums[a[i]] += w[i]
    return sums


def _outer_edges(flat, range):
    """The interval of a histogram."""
    if range is None:
        if len(flat) == 0:
            low, high = 0.0, 1.0
        else:
            low, high = float(np.min(flat)), float(np.max(flat))
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"autodetected range of [{low}, {high}] is not finite")
    else:
        low, high = float(range[0]), float(range[1])
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"supplied range of [{range[0]}, {range[1]}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return low, high


def histogram(a, bins, range, density, weights):
    flat = np.asarray(a).ravel()
    if isinstance(bins, (int, np.integer)):
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
        dtype = np._float_dtype(flat)
        low, high = _outer_edges(flat, range)
        edges = np.linspace(low, high, bins + 1).astype(dtype)
        counts = _equal_bins(flat, _weights(flat, weights), dtype(low), dtype(high), int(bins), edges)
    else:
        edges = np.asarray(bins)
        for i in np.arange(1, len(edges)):
            if edges[i - 1] > edges[i]:
                raise ValueError("`bins` must increase monotonically, when an array")
        counts = _given_bins(flat, _weights(flat, weights), edges)
    if density:
        return counts / np.diff(edges) / np.sum(counts), edges
    return counts, edges


def histogram_bin_edges(a, bins, range, weights):
    return histogram(a, bins, range, None, weights)[1]


def histogram2d(x, y, bins, range, density, weights):
    if isinstance(bins, (int, np.integer)):
        return histogram2d(x, y, (bins, bins), range, density, weights)
    if not isinstance(bins, tuple):
        if len(bins) == 2:
            return histogram2d(x, y, (bins[0], bins[1]), range, density, weights)
        return histogram2d(x, y, (bins, bins), range, density, weights)
    if len(bins) != 2:
        return histogram2d(x, y, (np.asarray(bins), np.asarray(bins)), range, density, weights)
    first, second = np.asarray(x), np.asarray(y)
    if first.ndim != 1 or second.ndim != 1:
        raise ValueError("x and y must be 1-dimensional.")
    if len(first) != len(second):
        raise ValueError("x and y must have the same length.")
    xedges = _edges_of(first, bins[0], None if range is None else range[0], 0)
    yedges = _edges_of(second, bins[1], None if range is None else range[1], 1)
    xs, ys = _bin_numbers(xedges, first), _bin_numbers(yedges, second)
    counts = np.zeros((len(xedges) - 1, len(yedges) - 1))
    w = _weights(first, weights)
    for k in np.arange(len(xs)):
        if 0 <= xs[k] < counts.shape[0] and 0 <= ys[k] < counts.shape[1]:
            counts[xs[k], ys[k]] += _weight(w, k)
    if density:
        counts = counts / np.diff(xedges)[:, np.newaxis] / np.diff(yedges) / np.sum(counts)
    return counts, xedges, yedges


def _edges_of(x, bins, range, k):
    if isinstance(bins, (int, np.integer)):
        if bins < 1:
            raise ValueError(f"`bins[{k}]` must be positive, when an integer")
        low, high = _outer_edges(x, range)
        return np.linspace(low, high, bins + 1)
    edges = np.asarray(bins)
    for i in np.arange(1, len(edges)):
        if edges[i - 1] > edges[i]:
            raise ValueError(f"`bins[{k}]` must be monotonically increasing, when an array")
    return edges


def _bin_numbers(edges, x):
    """What lies on the last edge counts as inside."""
    return np.searchsorted(edges, x, "right") - 1 - np.equal(x, edges[-1])


def _weights(flat, weights):
    if weights is None:
        return None
    w = np.asarray(weights).ravel()
    if len(w) != len(flat):
        raise ValueError("weights should have the same shape as a.")
    return w


def _no_counts(n, weights):
    if weights is None:
        return np.zeros(n, np.int64)
    return np.zeros(n, weights.dtype)


def _weight(weights, i):
    if weights is None:
        return 1
    return weights[i]


def _equal_bins(flat, weights, low, high, n, edges):
    counts = _no_counts(n, weights)
    width = high - low
    dtype = np._float_dtype(flat)
    for i in range(len(flat)):
        v = dtype(flat[i])
        if low <= v <= high:
            k = min(int((v - low) / width * n), n - 1)
            # The quotient may round across an edge.
            if v < edges[k]:
                k -= 1
            elif k < n - 1 and v >= edges[k + 1]:
                k += 1
            counts[k] += _weight(weights, i)
    return counts


def _given_bins(flat, weights, edges):
    n = len(edges) - 1
    counts = _no_counts(n, weights)
    for i in range(len(flat)):
        v = flat[i]
        k = int(_first_after(edges, v)) - 1
        if k == n and v == edges[n]:
            k = n - 1
        if 0 <= k < n:
            counts[k] += _weight(weights, i)
    return counts
