"""Functions over many values at once, `map`, `reduce`, `scan`, `zip`, `filter`, `vmap`; and `tasks` with a `Channel` between them.

    par.map(f, a)                   # f of every element: an array of an array, a list of anything else
    par.reduce(operator.add, a)     # f must be associative: values are put together in a tree that the number of values fixes

Compiled code divides the work among threads where `prange` does, in functions with `parallel=True`. What stands here is what Python
runs; both give the same values, and the same exception: that of the first value.
"""

import builtins

import numpy as np

from . import config
from ._tasks import Channel, borrow, move, tasks

__all__ = ["Channel", "borrow", "filter", "map", "move", "reduce", "scan", "tasks", "vmap", "zip"]

# The pieces of a loop over `prange` (`PIECES` in the run-time): `reduce` adds up as such a loop does.
PIECES = 128


def map(f, xs, *more):
    """`f` of each value, or of the values side by side of several iterables, up to the end of the shortest.

    An array of what `f` gives, where that are numbers and all iterables are arrays; else a list."""
    if (compiled := _compiled(f)) is not None and (found := compiled.map(f, xs, *more)) is not NotImplemented:
        return found
    results = [f(*values) for values in builtins.zip(xs, *more)]
    return _collected(results, xs, *more)


def reduce(f, xs, initial=...):
    """All values put together by `f`, which is associative; behind `initial`, where it is given. TypeError of no values at all."""
    if (compiled := _compiled(f)) is not None and (found := compiled.reduce(f, xs, initial)) is not NotImplemented:
        return found
    values = list(xs)
    if not values:
        if initial is ...:
            raise TypeError("reduce() of empty iterable with no initial value")
        return initial
    total = initial
    for part in [_fold(f, values, lo, hi) for lo, hi in _bounds(len(values))]:
        total = part if total is ... else f(total, part)
    return total


def scan(f, xs, initial=...):
    """What `reduce` gives of the first value, of the first two, and so on; of `initial` alone first, where it is given.

    An array of an array where that are numbers, else a list."""
    if (compiled := _compiled(f)) is not None and (found := compiled.scan(f, xs, initial)) is not NotImplemented:
        return found
    values = list(xs)
    results = [] if initial is ... else [initial]
    carry = initial
    parts = [_running(f, values, lo, hi) for lo, hi in _bounds(len(values))]
    for part in parts:
        results += part if carry is ... else [f(carry, x) for x in part]
        carry = results[-1]
    return _collected(results, xs)


def filter(f, xs):
    """The values for which `f` is true; with None for `f`, those that are true themselves. An array of an array, else a list."""
    if (compiled := _compiled(f)) is not None and (found := compiled.filter(f, xs)) is not NotImplemented:
        return found
    values = list(xs)
    kept = [bool(x) if f is None else bool(f(x)) for x in values]
    if isinstance(xs, np.ndarray):
        return xs[np.array(kept, np.bool_)]
    return [x for x, keep in builtins.zip(values, kept) if keep]


def zip(*iterables):
    """A list of tuples of the values side by side, up to the end of the shortest iterable."""
    return list(builtins.zip(*iterables))


def vmap(f, in_axes=0, out_axes=0):
    """A function that maps `f` along an axis of its arguments and puts what `f` gives together along the axis `out_axes`.

    `in_axes` says along which axis of each argument, None of one that `f` takes as it is; one value counts for all."""
    return lambda *args: _vmapped(f, in_axes, out_axes, args)


def _vmapped(f, in_axes, out_axes, args):
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    if len(axes) != len(args):
        raise ValueError("vmap: in_axes must have as many members as there are arguments")
    rows = [None if axis is None else np.moveaxis(np.asarray(x), axis, 0) for x, axis in builtins.zip(args, axes)]
    sizes = {len(x) for x in rows if x is not None}
    if not sizes:
        raise ValueError("vmap: some argument must have an axis to map along")
    if len(sizes) > 1:
        raise ValueError("vmap: the arguments differ in length along the axes to map along")
    n = sizes.pop()
    if n == 0:
        raise ValueError("vmap: nothing to map")
    results = map(lambda i: f(*[x if row is None else row[i] for x, row in builtins.zip(args, rows)]), np.arange(n))
    return np.stack(list(results), axis=out_axes)


def _bounds(n):
    """Where the pieces of `n` values begin and end: a function of `n` alone."""
    pieces = min(n, PIECES)
    return [(k * n // pieces, (k + 1) * n // pieces) for k in range(pieces)]


def _fold(f, values, lo, hi):
    total = values[lo]
    for x in values[lo + 1:hi]:
        total = f(total, x)
    return total


def _running(f, values, lo, hi):
    results = [values[lo]]
    for x in values[lo + 1:hi]:
        results.append(f(results[-1], x))
    return results


def _collected(results, *iterables):
    """Results as an array where they are numbers that come of arrays."""
    of_arrays = all(isinstance(xs, np.ndarray) for xs in iterables)
    if of_arrays and all(isinstance(x, (bool, int, float, complex, np.bool_, np.number)) for x in results):
        return np.array(results)
    return results


def _compiled(f):
    """What calls compiled code for a function that is compiled anyway."""
    from ._tierup import Dispatcher
    if not isinstance(f, Dispatcher) or config.tier == "off":
        return None
    from . import _par_compiled
    return _par_compiled
