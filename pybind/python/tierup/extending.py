"""Extension points."""

from typing import NamedTuple

from ._jit import Dispatcher
from ._tierup import set_parallel_chunksize

numba_version = (0, 61, 2)


def register_jitable(function=None, **options):
    """Numba's way to make a function callable from compiled code. Here every Python function is; it is given back as it is."""
    return (lambda f: f) if function is None else function


def is_jitted(function):
    """Whether `function` was made by `jit`."""
    return isinstance(function, Dispatcher)


def jit_module(**options):
    """At the end of a module: `jit(**options)` for all functions that are written in it and are not decorated."""
    import logging
    import sys
    from types import FunctionType

    from ._jit import jit
    module = sys._getframe(1).f_globals
    log = logging.getLogger("numba.core.decorators" if "numba" in sys.modules else "tierup")
    for name, value in list(module.items()):
        if isinstance(value, FunctionType) and value.__module__ == module["__name__"]:
            log.debug("Auto decorating function %s from module %s with jit and options: %s", value, module["__name__"], options)
            module[name] = jit(value, **options)


def literal_unroll(container):
    """Gives a tuple as it is: in compiled code every loop over a tuple whose members have several types is unrolled, each turn has the type of its member."""
    return container


def threading_layer():
    """The name of what runs parallel loops; there is but one."""
    return "tierup"


class _Chunks(NamedTuple):
    size: int
    before: list

    def __enter__(self):
        self.before[0] = set_parallel_chunksize(self.size)
        return self

    def __exit__(self, kind, value, traceback):
        set_parallel_chunksize(self.before[0])


def parallel_chunksize(n):
    """`with parallel_chunksize(n):` pieces of parallel loops that this thread begins have `n` iterations; 0 for what is usual. Compiled code has it too."""
    return _Chunks(n, [0])


def get_cython_function_address(module_name, function_name):
    """The address of a function that a Cython module exports, for `ctypes.CFUNCTYPE(...)(address)`. Raises ValueError where it exports none of that name."""
    import importlib

    from ._foreign import capsule
    module = importlib.import_module(module_name)
    if function_name not in getattr(module, "__pyx_capi__", {}):
        raise ValueError(f"No function '{function_name}' found in __pyx_capi__ of '{module_name}'")
    return capsule(module, function_name)[0]
