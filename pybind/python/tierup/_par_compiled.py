"""`tierup.par` called from Python with functions that are compiled: compiled code runs the whole call, in several threads."""

from . import par
from ._jit import njit


@njit(parallel=True)
def map(f, xs, *more):
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
def filter(f, xs):
    return par.filter(f, xs)


def reduce(f, xs, initial):
    return _reduce(f, xs) if initial is ... else _reduce_behind(f, xs, initial)


def scan(f, xs, initial):
    return _scan(f, xs) if initial is ... else _scan_behind(f, xs, initial)
