"""Arrays of fixed-width text as a whole: sorted, searched, joined and padded."""

import numpy as np

from .chars import _each, _pairs, _value


def _listed(a):
    return [s for s in a]


def _order(words):
    return sorted(range(len(words)), key=lambda k: words[k])


def _sort_row(a):
    words = sorted(_listed(a))
    for k in range(len(words)):
        a[k] = words[k]


def _along(a, axis):
    """The axis of an array with that number."""
    if axis < -a.ndim or axis >= a.ndim:
        raise np.exceptions.AxisError("axis " + str(axis) + " is out of bounds for array of dimension " + str(a.ndim))
    return axis % a.ndim


def sort_in_place(a, axis, kind, order):
    if a.ndim == 1:
        _along(a, axis)
        _sort_row(a)
        return
    rows = np.moveaxis(a, _along(a, axis), -1)
    for at in np.ndindex(rows.shape[:-1]):
        _sort_row(rows[at])


def sort(a, axis, kind, order, stable):
    if axis is None:
        out = a.flatten()
        _sort_row(out)
        return out
    out = a.copy()
    sort_in_place(out, axis, kind, order)
    return out


def argsort(a, axis, kind, order, stable):
    if axis is None:
        return argsort(a.flatten(), 0, kind, order, stable)
    out = np.empty(a.shape, np.int64)
    if a.ndim == 1:
        _along(a, axis)
        out[:] = _order(_listed(a))
        return out
    rows, found = np.moveaxis(a, _along(a, axis), -1), np.moveaxis(out, _along(a, axis), -1)
    for at in np.ndindex(rows.shape[:-1]):
        found[at] = _order(_listed(rows[at]))
    return out


def _place(words, s, right):
    low, high = 0, len(words)
    while low < high:
        middle = (low + high) // 2
        if words[middle] < s or right and words[middle] == s:
            low = middle + 1
        else:
            high = middle
    return low


def searchsorted(a, v, side, sorter):
    right = side == "right"
    if not right and side != "left":
        raise ValueError("search side must be one of 'left' or 'right' (got '" + side + "')")
    words = _listed(a)
    if isinstance(v, (str, bytes)):
        return np.int64(_place(words, v, right))
    return _each(v, lambda s: _place(words, s, right), np.int64)


def _extreme(a, largest):
    words = _listed(a.reshape(-1))
    if len(words) == 0:
        raise ValueError("attempt to get argmax of an empty sequence" if largest else "attempt to get argmin of an empty sequence")
    best = 0
    for k in range(1, len(words)):
        if words[k] > words[best] if largest else words[k] < words[best]:
            best = k
    return np.int64(best)


def argmin(a):
    return _extreme(a, False)


def argmax(a):
    return _extreme(a, True)


def unique(ar, return_index, return_inverse, return_counts):
    words = _listed(ar.reshape(-1))
    order = _order(words)
    first, inverse, counts = [k for k in order if k < 0], np.empty(len(words), np.int64), [k for k in order if k < 0]
    for at in range(len(order)):
        k = order[at]
        if at == 0 or words[k] != words[order[at - 1]]:
            first.append(k)
            counts.append(0)
        counts[-1] += 1
        inverse[k] = len(first) - 1
    found = np.empty(len(first), ar.dtype)
    for k in range(len(first)):
        found[k] = words[first[k]]
    if not (return_index or return_inverse or return_counts):
        return found
    out = (found,)
    if return_index:
        out += (np.array(first, np.int64),)
    if return_inverse:
        out += (inverse.reshape(ar.shape),)
    if return_counts:
        out += (np.array(counts, np.int64),)
    return out


def isin(element, test_elements):
    if isinstance(test_elements, np.ndarray):
        known = set(_listed(test_elements.reshape(-1)))
    else:
        known = set(_listed(test_elements))
    return _each(element, lambda s: s in known, np.bool_)


def index(a, sub):
    return _pairs(a, sub, lambda s, part: s.index(part), np.int64)


def rindex(a, sub):
    return _pairs(a, sub, lambda s, part: s.rindex(part), np.int64)


def add(x1, x2):
    return _pairs(x1, x2, lambda s, t: s + t, np._joined_type(x1, x2))


def _filler(a, fillchar):
    """What fills texts of an array: NumPy takes a str for bytes too."""
    if np._is_wide(a):
        return fillchar
    return fillchar.encode("ascii") if isinstance(fillchar, str) else fillchar


def slice_(a, start, stop, step):
    if stop is ...:
        return _each(a, lambda s: s[:start:step], a.dtype)
    return _each(a, lambda s: s[start:stop:step], a.dtype)


def ljust(a, width, fillchar):
    c = _filler(a, fillchar)
    return _each(a, lambda s: s.ljust(width, c), np._padded_type(a, width))


def rjust(a, width, fillchar):
    c = _filler(a, fillchar)
    return _each(a, lambda s: s.rjust(width, c), np._padded_type(a, width))


def center(a, width, fillchar):
    c = _filler(a, fillchar)
    return _each(a, lambda s: s.center(width, c), np._padded_type(a, width))


def zfill(a, width):
    return _each(a, lambda s: s.zfill(width), np._padded_type(a, width))
