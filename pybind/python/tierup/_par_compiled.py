"""`tierup.par` called from Python with functions that are compiled: compiled code runs the whole call, in several threads.

Where it cannot take the values as a whole (objects of several classes, say) it gives `NotImplemented`: Python then calls the function for each
of them.
"""

from . import par
from ._jit import njit
from .errors import TypingError, UnsupportedError


@njit(parallel=True)
def _map(f, xs, *more):
    return par.map(f, xs, *more)


@njit(parallel=True)
def _reduce(f, xs):
    return par.reduce(f, xs)


@njit(parallel=True)
def _reduce_behind(f, xs, initial):
    return par.reduce(f, xs, initial)


@njit(parallel=True)
def _scan(f, xs):
    return par.scan(f, xs)


@njit(parallel=True)
def _scan_behind(f, xs, initial):
    return par.scan(f, xs, initial)


@njit(parallel=True)
def _filter(f, xs):
    return par.filter(f, xs)


def _tried(f, *args):
    try:
        return f(*args)
    except (TypingError, UnsupportedError):
        return NotImplemented


def map(f, xs, *more):
    return _tried(_map, f, xs, *more)


def filter(f, xs):
    return _tried(_filter, f, xs)


def reduce(f, xs, initial):
    return _tried(_reduce, f, xs) if initial is ... else _tried(_reduce_behind, f, xs, initial)


def scan(f, xs, initial):
    return _tried(_scan, f, xs) if initial is ... else _tried(_scan_behind, f, xs, initial)
