"""Tierup: a tiered JIT compiler for numerical Python.

    from tierup import njit

    @njit
    def f(x): ...

`njit` compiles or raises; `jit` calls the Python function where it cannot compile, and says so once. Policy is in `tierup.config`, types for signatures
are in `tierup.types`, exceptions in `tierup.errors`. Everything but the decorators is loaded on first use.
"""

try:
    from . import _tierup  # noqa: F401
except ImportError as e:
    import sys
    # An extension module built for another Python is not found at all, and Python's own words for that are about circular imports.
    why = "its extension module was not built for this one" if "_tierup" in str(e) and "cannot import name" in str(e) else str(e)
    raise ImportError(f"tierup cannot be loaded by {sys.implementation.name} {sys.version.split()[0]}: {why}") from None

from . import config
from ._jit import Dispatcher, _panic, jit, njit, pndindex, prange, report, reveal_type, static, unroll  # noqa: F401
from ._tierup import get_num_threads, get_parallel_chunksize, get_thread_id, set_num_threads, set_parallel_chunksize  # noqa: F401

__version__ = "0.1.0"

_MODULES = {"experimental", "par", "rules", "typed", "types", "errors", "extending", "testing", "compat", "cuda", "simd"}
_EXTENDING = {"parallel_chunksize", "threading_layer", "literal_unroll", "literally", "jit_module"}
_ERRORS = {"TierupError", "TypingError", "UnsupportedError", "CompilerError", "TierupWarning"}
# Numba exports its scalar types at top level; these come from `tierup.types` when they are first asked for.
_UFUNCS = {"vectorize", "guvectorize"}
_CALLBACKS = {"cfunc", "carray", "farray"}
# What `%load_ext tierup` asks for.
_IPYTHON = {"load_ipython_extension": "load", "unload_ipython_extension": "unload"}
_NOT_YET = {
    "gdb",
    "generated_jit", "parfors", "np",
}

__all__ = ["jit", "njit", "python", "objmode", "vectorize", "guvectorize", "stencil", "struct", "dispatch", "rules", "par", "cfunc", "carray", "farray", "pndindex", "prange", "reveal_type", "static", "unroll", "report", "typeof", "types", "errors", "config", "Dispatcher", "get_num_threads", "set_num_threads", "get_thread_id", "threading_layer",
           "get_parallel_chunksize", "set_parallel_chunksize", "parallel_chunksize", "literal_unroll", "literally", "jit_module", *sorted(_ERRORS)]


def typeof(obj):
    """The type that compiled code gives `obj`."""
    from . import types
    return types.typeof(obj)


def __getattr__(name):
    import importlib
    if name in _MODULES:
        try:
            return importlib.import_module("." + name, __name__)
        except ModuleNotFoundError as e:
            if e.name != f"{__name__}.{name}":
                raise
    elif name in _ERRORS:
        from . import errors
        return getattr(errors, name)
    elif name in ("python", "objmode"):
        from . import _python_calls
        return getattr(_python_calls, name)
    elif name in _UFUNCS:
        from . import _ufunc
        return getattr(_ufunc, name)
    elif name in _CALLBACKS:
        from . import _cfunc
        return getattr(_cfunc, name)
    elif name == "dispatch":
        from ._dispatch import dispatch
        return dispatch
    elif name == "stencil":
        from ._stencil import stencil
        return stencil
    elif name == "struct":
        from ._struct import struct
        return struct
    elif name in _IPYTHON:
        from . import _cell
        return getattr(_cell, _IPYTHON[name])
    elif name in _EXTENDING:
        from . import extending
        return getattr(extending, name)
    elif name not in _NOT_YET and not name.startswith("_"):
        from . import types
        if name in types.__all__:
            return getattr(types, name)
    if name in _NOT_YET:
        raise AttributeError(f"tierup.{name} does not exist yet")
    raise AttributeError(f"module 'tierup' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
