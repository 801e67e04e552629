"""Extension points."""

from . import config
from ._jit import Dispatcher

numba_version = (0, 61, 2)


def register_jitable(function=None, **options):
    """Numba's way to make a function callable from compiled code. Here every Python function is; it is given back as it is."""
    return (lambda f: f) if function is None else function


def is_jitted(function):
    """Whether `function` was made by `jit`."""
    return isinstance(function, Dispatcher)


def get_num_threads():
    """Threads that parallel loops use."""
    return config.num_threads


def set_num_threads(n):
    """Sets how many threads parallel loops use."""
    config.num_threads = n
