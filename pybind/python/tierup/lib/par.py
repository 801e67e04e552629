"""`tierup.par`: functions over many values, in pieces that `prange` runs. `tierup/par.py` is what Python runs in their place.

The pieces of `reduce` and `scan` are those that a loop over `prange` has, whether it runs in parallel or not: what is put together
first depends on the number of values alone.
"""

import numpy as np

from .._jit import prange
from ..par import PIECES

# Integers in these functions are the caller's: where overflow is checked, it is checked here too.
_origin = "checked"


def map_(f, xs, more):
    first, others = np._sequence_of(xs), _sequences(more)
    n = _shortest(others, len(first))
    # Nothing runs: it says what the results are, of which there may be none.
    probe = [f(first[i], *_at(others, i)) for i in range(min(n, 0))]
    if np._fills_array(probe, xs, *more):
        out = np.empty(n, np._dtype_of_list(probe))
        for i in prange(n):
            out[i] = f(first[i], *_at(others, i))
        return out
    results = []
    for i in prange(n):
        results.append(f(first[i], *_at(others, i)))
    return results


def _sequences(iterables):
    if len(iterables) == 0:
        return ()
    return (np._sequence_of(iterables[0]),) + _sequences(iterables[1:])


def _shortest(sequences, n):
    if len(sequences) == 0:
        return n
    return _shortest(sequences[1:], min(n, len(sequences[0])))


def _at(sequences, i):
    if len(sequences) == 0:
        return ()
    return (sequences[0][i],) + _at(sequences[1:], i)


def zip_(iterables):
    if len(iterables) == 0:
        return []
    sequences = _sequences(iterables)
    tuples = []
    for i in prange(_shortest(sequences, len(sequences[0]))):
        tuples.append(_at(sequences, i))
    return tuples


def filter_(f, xs):
    values = np._sequence_of(xs)
    if isinstance(xs, np.ndarray):
        kept = np.empty(len(values), np.bool_)
        for i in prange(len(values)):
            kept[i] = _keeps(f, values[i])
        return values[kept]
    results = []
    for i in prange(len(values)):
        if _keeps(f, values[i]):
            results.append(values[i])
    return results


def _keeps(f, x):
    if f is None:
        return bool(x)
    return bool(f(x))


def reduce_(f, xs, initial):
    values = np._sequence_of(xs)
    n = len(values)
    if initial is ...:
        if n == 0:
            raise TypeError("reduce() of empty iterable with no initial value")
        if n <= PIECES:
            return _fold(f, values[0], values, 1, n)
        parts = _parts(f, values)
        return _fold(f, parts[0], parts, 1, PIECES)
    if n <= PIECES:
        return _fold(f, initial, values, 0, n)
    return _fold(f, initial, _parts(f, values), 0, PIECES)


def _fold(f, total, values, lo, hi):
    for i in range(lo, hi):
        total = f(total, values[i])
    return total


def _parts(f, values):
    """What `f` makes of each piece of more values than there are pieces."""
    # Nothing runs: it says what the parts are.
    probe = [_part(f, values, k) for k in range(min(len(values), 0))]
    if np._fills_array(probe):
        parts = np.empty(PIECES, np._dtype_of_list(probe))
        for k in prange(PIECES):
            parts[k] = _part(f, values, k)
        return parts
    parts = []
    for k in prange(PIECES):
        parts.append(_part(f, values, k))
    return parts


def _part(f, values, k):
    n = len(values)
    lo = k * n // PIECES
    return _fold(f, values[lo], values, lo + 1, (k + 1) * n // PIECES)


def scan_(f, xs, initial):
    values = np._sequence_of(xs)
    probe = [_part(f, values, k) for k in range(min(len(values), 0))]
    if np._fills_array(probe, xs):
        return _scanned(f, values, initial, np._dtype_of_list(probe))
    return _scanned_list(f, values, initial)


def _scanned(f, values, initial, dtype):
    """Each piece alone, then what comes before it put to each of its results: the last is what `reduce` gives."""
    if initial is ...:
        out = np.empty(len(values), dtype)
        _scan_pieces(f, values, out)
        if len(values) > 0:
            _carry(f, out, out[len(out) // min(len(out), PIECES) - 1], 1)
        return out
    first = np.array([initial])
    whole = np.empty(len(values) + 1, np.result_type(first.dtype, dtype))
    whole[0] = initial
    out = whole[1:]
    _scan_pieces(f, values, out)
    _carry(f, out, initial, 0)
    return whole


def _scan_pieces(f, values, out):
    n = len(values)
    pieces = min(n, PIECES)
    for k in prange(pieces):
        _scan_piece(f, values, out, k * n // pieces, (k + 1) * n // pieces)


def _scan_piece(f, values, out, lo, hi):
    total = values[lo]
    out[lo] = total
    for i in range(lo + 1, hi):
        total = f(total, values[i])
        out[i] = total


def _carry(f, out, before, start):
    """Puts what comes before each piece, from the piece `start` on, to its results; `before` comes before that piece."""
    n = len(out)
    pieces = min(n, PIECES)
    carries = np.empty(pieces, out.dtype)
    for k in range(start, pieces):
        carries[k] = before
        before = f(before, out[(k + 1) * n // pieces - 1])
    for k in prange(start, pieces):
        _carry_into(f, out, carries[k], k * n // pieces, (k + 1) * n // pieces)


def _carry_into(f, out, before, lo, hi):
    for i in range(lo, hi):
        out[i] = f(before, out[i])


def _scanned_list(f, values, initial):
    n = len(values)
    pieces = min(n, PIECES)
    parts = []
    for k in prange(pieces):
        parts.append(_running(f, values, k * n // pieces, (k + 1) * n // pieces))
    if initial is ...:
        results = []
        for part in parts:
            results += part if len(results) == 0 else _behind(f, results[-1], part)
        return results
    whole = [initial]
    for part in parts:
        whole += _behind(f, whole[-1], part)
    return whole


def _running(f, values, lo, hi):
    total = values[lo]
    results = [total]
    for i in range(lo + 1, hi):
        total = f(total, values[i])
        results.append(total)
    return results


def _behind(f, before, part):
    return [f(before, x) for x in part]


def vmap_(f, in_axes, out_axes):
    return lambda *args: _vmapped(f, in_axes, out_axes, args)


def _vmapped(f, in_axes, out_axes, args):
    axes = _axes(in_axes, args)
    if len(axes) != len(args):
        raise ValueError("vmap: in_axes must have as many members as there are arguments")
    rows = _rows(args, axes)
    n = _common(rows, axes, -1)
    if n < 0:
        raise ValueError("vmap: some argument must have an axis to map along")
    if n == 0:
        raise ValueError("vmap: nothing to map")
    probe = [f(*_row(rows, axes, i)) for i in range(min(n, 0))]
    if np._fills_array(probe):
        if out_axes != 0 and out_axes != -1:
            raise ValueError("vmap: out_axes is out of bounds")
        out = np.empty(n, np._dtype_of_list(probe))
        for i in prange(n):
            out[i] = f(*_row(rows, axes, i))
        return out
    results = []
    for i in prange(n):
        results.append(f(*_row(rows, axes, i)))
    return np.ascontiguousarray(np.moveaxis(np.stack(results), 0, out_axes))


def _axes(in_axes, args):
    if isinstance(in_axes, tuple):
        return in_axes
    return (in_axes,) * len(args)


def _rows(args, axes):
    """The arguments with the axis to map along in front."""
    if len(args) == 0:
        return ()
    if axes[0] is None:
        return (args[0],) + _rows(args[1:], axes[1:])
    return (np.moveaxis(np.asarray(args[0]), axes[0], 0),) + _rows(args[1:], axes[1:])


def _row(rows, axes, i):
    if len(rows) == 0:
        return ()
    if axes[0] is None:
        return (rows[0],) + _row(rows[1:], axes[1:], i)
    return (rows[0][i],) + _row(rows[1:], axes[1:], i)


def _common(rows, axes, n):
    """How long all axes to map along are, `n` where none is left."""
    if len(rows) == 0:
        return n
    if axes[0] is None:
        return _common(rows[1:], axes[1:], n)
    if n >= 0 and len(rows[0]) != n:
        raise ValueError("vmap: the arguments differ in length along the axes to map along")
    return _common(rows[1:], axes[1:], len(rows[0]))
