"""Extension points."""

from typing import NamedTuple

from . import config
from ._jit import Dispatcher
from ._jit import static as literally  # noqa: F401  Numba's names of these two.
from ._jit import unroll as literal_unroll  # noqa: F401
from ._tierup import set_parallel_chunksize

numba_version = (0, 61, 2)

__all__ = ["overload", "overload_method", "overload_attribute", "overload_classmethod", "register_jitable", "is_jitted", "lir", "jit_module", "decorate_module", "threading_layer", "parallel_chunksize",
           "literally", "literal_unroll", "get_cython_function_address"]


def overload(function, jit_options=(), strict=True, inline="never", prefer_literal=False, target="generic"):
    """Says what compiled code calls in the place of a function, class or operation, by a function of the types of a call's arguments:

        @overload(len)
        def length_of_tuple(x):
            if isinstance(x, types.BaseTuple):
                n = len(x)
                return lambda x: n

    It is called when a call is compiled, with objects of `tierup.types`, and gives the implementation, which is compiled there, or None
    for types that it says nothing of. Of several overloads the first that answers is taken. Python knows nothing of them. Options:
    `jit_options` are the implementation's, `strict` (it has the typing function's parameters), `prefer_literal` (ask with the values of
    constants first, in place of last). `inline` is accepted: what is small is inlined anyway.
    """
    make = _overloads(None, jit_options, strict, inline, prefer_literal, target)

    def decorate(typing_function):
        if callable(function):
            from ._overloads import of_function
            of_function(function, make(typing_function))
        return typing_function

    return decorate


def overload_method(typ, attr, **options):
    """The same for a method of values of a type, which comes first: `@overload_method(types.Array, "scaled")`. `typ` is a class of types or one type."""
    return _member(typ, attr, "method", options)


def overload_attribute(typ, attr, **options):
    """The same for an attribute, whose implementation is a function of the value alone."""
    return _member(typ, attr, "attribute", options)


def overload_classmethod(typ, attr, **options):
    """The same for a method of a class of types itself, which compiled code calls as `types.Array.attr(...)`."""
    from . import types
    return _member(types.TypeRef(typ), attr, "method", options)


def _member(typ, attr, kind, options):
    from . import types
    if not isinstance(typ, types.Type) and not (isinstance(typ, type) and issubclass(typ, types.Type)):
        raise TypeError(f"methods and attributes are added to a type or a class of types, such as types.Array, not to {typ!r}")
    make = _overloads(typ, **{"jit_options": (), "strict": True, "inline": "never", "prefer_literal": False, "target": "generic", **options})

    def decorate(typing_function):
        from ._overloads import of_member
        of_member(attr, kind, make(typing_function))
        # Implementations of other overloads call it by its name.
        return overload(typing_function, **options)(typing_function)

    return decorate


#: Where overloads hold: in all code, or in kernels alone.
_TARGETS = ("generic", "cpu", "CPU", "cuda")


def _overloads(typ, jit_options, strict, inline, prefer_literal, target):
    """What makes an overload of a typing function."""
    options = _jit_options(dict(jit_options))
    if inline not in ("never", "always") and not callable(inline):
        raise ValueError(f"inline is 'never', 'always' or a function, not {inline!r}")
    if target not in _TARGETS:
        raise ValueError(f"overloads are for the targets 'generic', 'cpu' and 'cuda', not {target!r}")
    from ._overloads import Overload
    return lambda function: Overload(function, typ, strict, inline, prefer_literal, options, target)


def _jit_options(options):
    """The options of a decorator that change something in a function that is called."""
    from ._jit import _check_options
    _check_options("jit", options)
    return {name: options[name] for name in ("parallel", "locals") if options.get(name)}


def lir(text):
    """Makes a function opaque: Python runs its body, which is its meaning, and compiled code a text of LIR.

        @lir('''
        block0(v0: i64, v1: i64):
            v2 = smin.i64 v0, v1
            return v2
        ''')
        def lower(a: int, b: int) -> int:
            return a if a < b else b

    The text is the blocks of a function over the leaves of arguments and result, whose types the annotations say: numbers, bools and
    tuples of these. It is parsed and verified here. `tierup.testing.agree` compares both.
    """
    from ._opaque import lir
    return lir(text)


def register_jitable(function=None, **options):
    """Numba's way to make a function callable from compiled code. Here every Python function is; it is given back as it is, and called with these options."""
    inline = options.pop("inline", "never")
    if _jit_options(options):
        def register(f):
            overload(f, options, strict=False, inline=inline)(lambda *args, **kwargs: f)
            return f
    else:
        def register(f):
            return f
    return register if function is None else register(function)


def is_jitted(function):
    """Whether `function` was made by `jit`."""
    return isinstance(function, Dispatcher)


def jit_module(**options):
    """At the end of a module: `jit(**options)` for all functions that are written in it and are not decorated."""
    import sys

    from ._jit import jit
    decorate_module(sys._getframe(1).f_globals, jit, options)


def decorate_module(module, decorate, options):
    """The same for the module with these globals, with another decorator."""
    import logging
    import sys
    from types import FunctionType
    log = logging.getLogger("numba.core.decorators" if "numba" in sys.modules else "tierup")
    for name, value in list(module.items()):
        if isinstance(value, FunctionType) and value.__module__ == module["__name__"]:
            log.debug("Auto decorating function %s from module %s with jit and options: %s", value, module["__name__"], options)
            module[name] = decorate(value, **options)


def threading_layer():
    """The name of what runs parallel loops. There is but one, which calls itself by that of Numba's layer that was asked for: it is safe for threads and across forks."""
    layer = config.numba_setting("THREADING_LAYER", "default")
    return layer if layer in config.numba_setting("THREADING_LAYER_PRIORITY", ()) else config.numba_setting("_chosen_layer", "tierup")


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


_LOWER = {
    "typeof_impl", "as_numba_type", "make_attribute_wrapper", "models", "register_model", "box", "unbox", "reflect", "NativeValue", "type_callable", "lower_builtin", "lower_cast", "lower_getattr", "lower_getattr_generic",
    "lower_setattr", "lower_setattr_generic", "infer", "infer_getattr", "infer_global", "intrinsic", "SentryLiteralArgs", "sentry_literal_args",
}  # fmt: skip


def __getattr__(name):
    """What Numba's packages say of types of their own, and of LLVM."""
    if name in _LOWER:
        from . import _extensions
        return getattr(_extensions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
