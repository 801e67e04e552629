"""Functions that Python runs and whose loops are compiled: which loops those are, and whether anybody can tell."""

import copy
import io

import numpy as np
from tierup import _lifting, _tierup


def loops(f):
    """Lines of the loops that were compiled, counted from the `def` of the function."""
    first = f.py_func.__code__.co_firstlineno
    found = _lifting.loops_of(_tierup.in_python(f))
    return [loop.line - first for loop in found if any(why is None for _, _, why in _tierup.overloads(loop.dispatcher))]


def same(f, *args, compiled=None):
    """What a function gives or raises is what CPython gives or raises, types included, and so are its arguments afterwards."""
    def outcome(g, args):
        try:
            return shown(g(*args)), shown(args)
        except Exception as e:
            return (type(e).__name__, str(e)), shown(args)

    want = outcome(f.py_func, copy.deepcopy(args))
    for _ in range(3):
        assert outcome(f, copy.deepcopy(args)) == want
    if compiled is not None:
        assert loops(f) == compiled
    return want[0]


def shown(x):
    if isinstance(x, (list, tuple)):
        return type(x), [shown(v) for v in x]
    if isinstance(x, dict):
        return type(x), [(shown(k), shown(v)) for k, v in x.items()]
    if isinstance(x, np.ndarray):
        return x.dtype, x.tolist()
    if isinstance(x, io.StringIO):
        return x.getvalue()
    return type(x), repr(x)
