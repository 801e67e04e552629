"""A hash of all that a function sees: its globals, defaults and captured values, and what the functions among them see in turn.

A worker that has been sent a function keeps it under this hash. So functions that no module has, those of a notebook above all, count by what they do and not by their names, and a class that is
defined again is another one.
"""

import hashlib
import io
import marshal
import pickle
import sys
import types
import uuid
import weakref

from ._jit import Dispatcher


class Itself:
    """Stands for the function that is pickled, which may call itself."""


class Unset:
    """Stands for a captured variable that has no value yet."""


class Module:
    """Stands for a module."""

    def __init__(self, name):
        self.name = name


def is_in_module(x):
    """Whether every process finds a function or class by its name. That of a program's main module means something else in a worker."""
    if x.__module__ == "__main__":
        return False
    found = sys.modules.get(x.__module__)
    for part in x.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is x


def state(function, d=None):
    """Globals that the code names, defaults, keyword defaults and captured values; `d` is the function's dispatcher."""
    space = function.__globals__
    values = {name: _stood_for(space[name], d) for name in sorted(names_in(function.__code__) & space.keys())}
    return values, function.__defaults__, function.__kwdefaults__, tuple(_captured(c, d) for c in function.__closure__ or ())


def _captured(cell, d):
    try:
        return _stood_for(cell.cell_contents, d)
    except ValueError:
        return Unset()


def _stood_for(value, d):
    if isinstance(value, types.ModuleType):
        return Module(value.__name__)
    return Itself() if d is not None and value is d else value


def names_in(code):
    """Every global name that code or code nested in it may read."""
    names = set(code.co_names)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names |= names_in(const)
    return names


def fingerprint(state):
    """The hash of a state."""
    text = io.BytesIO()
    _Pickler(text).dump(state)
    return hashlib.sha256(text.getvalue()).hexdigest()


# Classes that no module has, by what tells them apart.
_classes = weakref.WeakKeyDictionary()


class _Pickler(pickle.Pickler):
    """What it writes is hashed and never read: functions by what they do, classes by which they are."""

    def __init__(self, file):
        super().__init__(file, 5)
        self._seen = {}

    def reducer_override(self, x):
        if isinstance(x, types.ModuleType):
            return str, (x.__name__,)
        if isinstance(x, type):
            return NotImplemented if is_in_module(x) else (str, (_classes.setdefault(x, uuid.uuid4().hex),))
        if not isinstance(x, (types.FunctionType, Dispatcher)) or is_in_module(x):
            return NotImplemented
        # Functions may see each other.
        if id(x) in self._seen:
            return str, (f"function {self._seen[id(x)]}",)
        self._seen[id(x)] = len(self._seen)
        if isinstance(x, Dispatcher):
            return tuple, (("dispatcher", x.targetoptions, x.locals, x.__dict__.get("_declared"), *self._of(x.py_func)),)
        return tuple, (("function", *self._of(x)),)

    def _of(self, function):
        return marshal.dumps(function.__code__), *state(function)
