"""Pickling of dispatchers: by reference where the module has the dispatcher under its name, else by code and the globals that the code names.

What is pickled by code carries a mark, by which a process knows it again: a worker that is sent the same function with every task compiles it once.
The mark says what the function's globals, defaults and captured values were, so that a change of them makes another function.
"""

import builtins
import hashlib
import importlib
import marshal
import pickle
import sys
import types
import uuid
import weakref

from . import _tierup
from ._jit import Dispatcher, declare, jit


# Dispatchers that were pickled by code or came out of a pickle, by mark.
_marked = weakref.WeakValueDictionary()


def _mark(d, state):
    mark = f"{d.__dict__.setdefault('_mark', uuid.uuid4().hex)} {hashlib.sha256(pickle.dumps(state)).hexdigest()}"
    _marked[mark] = d
    d.__dict__.setdefault("_marks", set()).add(mark)
    return mark


def _state(function):
    return _globals(function), function.__defaults__, function.__kwdefaults__, tuple(c.cell_contents for c in function.__closure__ or ())


def _declared(function, options):
    """The annotations, where they are checked."""
    if not options.get("checked"):
        return {}
    from ._annotations import hints
    return hints(function)


def _of_mark(mark):
    """The dispatcher that has this mark. The one that was pickled may have captured other values since, or see others; one that came out of a pickle has them to itself."""
    d = _marked.get(mark)
    if d is None or mark not in d.__dict__.get("_marks", ()):
        return d
    return d if mark.endswith(hashlib.sha256(pickle.dumps(_state(d.py_func))).hexdigest()) else None


def reduce(d):
    function, options = d.py_func, d.targetoptions
    module = sys.modules.get(function.__module__)
    found = module
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is d and function.__module__ != "__main__":
        return _by_name, (function.__module__, function.__qualname__)
    state = _state(function)
    return _by_code, (marshal.dumps(function.__code__), state[0], function.__name__, function.__qualname__, function.__module__, *state[1:], options, d.locals, function.__doc__,
                      d.__dict__.get("_declared", []), _tierup.can_compile(d), _mark(d, state), _declared(function, options))


def reduce_ufunc(f):
    b = f._builder
    return _where(f, b.function) or (_ufunc_by_code, (_function_of(b, b.function), b.what, b.recipe, b.declared, b.can_compile))


def _ufunc_by_code(d, what, recipe, declared, can_compile):
    from . import _ufunc
    made = d.__dict__.setdefault("_ufuncs", {})
    key = pickle.dumps((what, recipe, declared, can_compile))
    if key not in made:
        made[key] = getattr(_ufunc, f"_{what}_again")(d.py_func, recipe, declared)
        made[key]._builder.can_compile = can_compile
        made[key]._builder._pickled = d
    return made[key]


def _where(f, function):
    """How `f`, made of `function`, is pickled by name; None where it is not found there."""
    found = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return (_by_name, (function.__module__, function.__qualname__)) if found is f and function.__module__ != "__main__" else None


def _function_of(holder, function):
    """A dispatcher of the function, which pickles by code."""
    if "_pickled" not in holder.__dict__:
        holder._pickled = jit(nopython=True)(function)
    return holder._pickled


def reduce_stencil(f):
    return _where(f, f.py_func) or (_stencil_by_code, (_function_of(f, f.py_func), f.mode, f.options))


def reduce_cfunc(f):
    return _where(f, f.py_func) or (_cfunc_by_code, (_function_of(f, f.py_func), f._args, f._ret, f._options, f._locals))


def _cfunc_by_code(d, args, ret, options, locals):
    from ._cfunc import CFunc
    return CFunc(d.py_func, args, ret, options, locals)


def reduce_kernel(k):
    return _where(k, k.py_func) or (_kernel_by_code, (_function_of(k, k.py_func), *k._made, k.targetoptions, k._declared))


def _kernel_by_code(d, options, build, given, declared):
    from .cuda._kernel import Kernel
    return Kernel(d.py_func, options, [tuple(map(_type, types)) for types in declared], build, given)


def reduce_launcher(k, launch):
    """A kernel with the size of its grid, which is no stream's."""
    return _launcher, (k, *launch)


def _launcher(kernel, blocks, threads, sharedmem):
    return kernel[blocks, threads, 0, sharedmem]


def reduce_device_function(f):
    return _where(f, f.py_func) or (_device_by_code, (_function_of(f, f.py_func), f.targetoptions))


def _device_by_code(d, options):
    from .cuda._functions import Function
    return Function(d.py_func, options)


def reduce_device_ufunc(u):
    signatures, core, options = u._given
    texts = [([t._tierup_type_ for t in args], ret and ret._tierup_type_) for args, ret in signatures]
    return _where(u, u.function) or (_device_ufunc_by_code, (_function_of(u, u.function), texts, core, options))


def _device_ufunc_by_code(d, texts, core, options):
    from .cuda import _ufuncs
    signatures = [([_type(t) for t in args], ret and _type(ret)) for args, ret in texts]
    return _ufuncs.vectorized(d.py_func, signatures, options) if core is None else _ufuncs.generalised(d.py_func, signatures, core, options)


def _type(text):
    from .types import from_text
    return from_text(text)


def _stencil_by_code(d, mode, options):
    from ._stencil import StencilFunc
    return StencilFunc(d.py_func, mode, options)


def _names(code):
    """Every global name that code or code nested in it may read."""
    names = set(code.co_names)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names |= _names(const)
    return names


def _globals(function):
    values = {}
    for name in sorted(_names(function.__code__) & function.__globals__.keys()):
        value = function.__globals__[name]
        if isinstance(value, types.ModuleType):
            values[name] = _Module(value.__name__)
        elif not (isinstance(value, Dispatcher) and value.py_func is function):
            values[name] = value
        else:
            values[name] = _Itself()
    return values


class _Module:
    def __init__(self, name):
        self.name = name


class _Itself:
    """Stands for the function being pickled, which may call itself."""


def _by_name(module, qualname):
    found = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def _by_code(code, values, name, qualname, module, defaults, kwdefaults, closure, options, locals, doc, signatures, can_compile, mark, annotations):
    known = _of_mark(mark)
    if known is not None:
        return known
    space = {"__builtins__": builtins, "__name__": module}
    for key, value in values.items():
        space[key] = importlib.import_module(value.name) if isinstance(value, _Module) else value
    function = types.FunctionType(marshal.loads(code), space, name, defaults, tuple(types.CellType(v) for v in closure))
    function.__kwdefaults__, function.__qualname__, function.__module__, function.__doc__ = kwdefaults, qualname, module, doc
    function.__annotations__ = annotations
    d = jit(locals=locals, **options)(function)
    for key, value in values.items():
        if isinstance(value, _Itself):
            space[key] = d
    declare(d, signatures, can_compile)
    d.__dict__["_mark"] = mark.split()[0]
    _marked[mark] = d
    return d
