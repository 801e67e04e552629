"""Extension points."""

from ._jit import Dispatcher
from ._tierup import set_parallel_chunksize

numba_version = (0, 61, 2)


def register_jitable(function=None, **options):
    """Numba's way to make a function callable from compiled code. Here every Python function is; it is given back as it is."""
    return (lambda f: f) if function is None else function


def is_jitted(function):
    """Whether `function` was made by `jit`."""
    return isinstance(function, Dispatcher)


def threading_layer():
    """The name of what runs parallel loops; there is but one."""
    return "tierup"


class parallel_chunksize:
    """`with parallel_chunksize(n):` pieces of parallel loops that this thread begins have `n` iterations; 0 for what is usual."""

    def __init__(self, n):
        self._n = n

    def __enter__(self):
        self._before = set_parallel_chunksize(self._n)
        return self

    def __exit__(self, *_):
        set_parallel_chunksize(self._before)


def get_cython_function_address(module_name, function_name):
    """The address of a function that a Cython module exports, for `ctypes.CFUNCTYPE(...)(address)`. Raises ValueError where it exports none of that name."""
    import importlib

    from ._foreign import capsule
    module = importlib.import_module(module_name)
    if function_name not in getattr(module, "__pyx_capi__", {}):
        raise ValueError(f"No function '{function_name}' found in __pyx_capi__ of '{module_name}'")
    return capsule(module, function_name)[0]
