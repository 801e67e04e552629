"""Pickling of dispatchers: by reference where the module has the dispatcher under its name, else by code and the globals that the code names.

What is pickled by code carries a mark, by which a process knows it again: a worker that is sent the same function with every task compiles it once.
The mark says what the function's globals, defaults and captured values were, so that a change of them makes another function.
"""

import builtins
import importlib
import marshal
import pickle
import sys
import types
import uuid
import weakref

from . import _tierup
from ._fingerprint import Itself, Module, Unset, fingerprint, is_in_module, state
from ._jit import Dispatcher, declare, jit


# Dispatchers that were pickled by code or came out of a pickle, by mark.
_marked = weakref.WeakValueDictionary()


def _mark(d, state):
    mark = f"{d.__dict__.setdefault('_mark', uuid.uuid4().hex)} {fingerprint(state)}"
    _marked[mark] = d
    d.__dict__.setdefault("_marks", set()).add(mark)
    return mark


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
    return d if mark.endswith(fingerprint(state(d.py_func, d))) else None


def reduce(d):
    function, options = d.py_func, d.targetoptions
    if is_in_module(d):
        return _by_name, (function.__module__, function.__qualname__)
    seen = state(function, d)
    declared, mark = (d.__dict__.get("_declared", []), _tierup.can_compile(d)), _mark(d, seen)
    what = marshal.dumps(function.__code__), function.__name__, function.__qualname__, function.__module__, options, d.locals, function.__doc__, mark, _declared(function, options), _source(d)
    if not _sees_itself(d):
        return _by_code, (*what, seen, declared)
    # What a pickle holds already can be meant again once it is made: so it is made first, of all that leads nowhere.
    values, defaults, kwdefaults, captured = seen
    early = {name: value for name, value in values.items() if not any(_functions_in(value))}, None, None, tuple(Unset() if any(_functions_in(c)) else c for c in captured)
    return _by_code, (*what, early, None), (seen, declared), None, None, _fill


def _source(d):
    """The first line and the text of a function whose loops or blocks are cut out of its source, which a worker may not have: nobody else knows the cells of a notebook."""
    code = d.py_func.__code__
    if d.targetoptions["nopython"] and "objmode" not in code.co_names + code.co_freevars:
        return None
    import inspect

    from ._lines import lines
    rest = lines(code.co_filename, d.py_func.__globals__)[code.co_firstlineno - 1:]
    return (code.co_firstlineno, "".join(inspect.getblock(rest))) if rest else None


def _sees_itself(d):
    """Whether a function leads back to itself by others."""
    found, left = set(), [d]
    while left:
        f = left.pop()
        for v in (f for part in state(getattr(f, "py_func", f), f) for f in _functions_in(part)):
            if v is d:
                return True
            if id(v) not in found and not is_in_module(v):
                found.add(id(v))
                left.append(v)
    return False


def _functions_in(value):
    """Functions in a value that a pickle goes through to reach them."""
    seen, left = set(), [value]
    while left:
        x = left.pop()
        if isinstance(x, (Dispatcher, types.FunctionType)):
            yield x
        elif isinstance(x, (tuple, list, set, frozenset, dict)) and id(x) not in seen:
            seen.add(id(x))
            left += [*x, *x.values()] if isinstance(x, dict) else x


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


def _by_name(module, qualname):
    found = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def _by_code(code, name, qualname, module, options, locals, doc, mark, annotations, source, seen, declared):
    known = _of_mark(mark)
    if known is not None:
        return known
    code = marshal.loads(code)
    if source is not None:
        from ._lines import learn
        learn(code.co_filename, *source)
    space, cells = {"__builtins__": builtins, "__name__": module}, tuple(types.CellType() for _ in code.co_freevars)
    function = types.FunctionType(code, space, name, None, cells)
    function.__qualname__, function.__module__, function.__doc__ = qualname, module, doc
    function.__annotations__ = annotations
    _see(function, seen)
    d = jit(locals=locals, **options)(function)
    d.__dict__["_mark"] = mark.split()[0]
    _marked[mark] = d
    if declared is None:
        d.__dict__["_to_fill"] = function
    else:
        _complete(d, function, seen, declared)
    return d


def _see(function, seen):
    """Gives a function its globals, defaults and captured values, but for itself."""
    values, function.__defaults__, function.__kwdefaults__, captured = seen
    for name, value in values.items():
        function.__globals__[name] = importlib.import_module(value.name) if isinstance(value, Module) else value
    for cell, value in zip(function.__closure__ or (), captured):
        if not isinstance(value, Unset):
            cell.cell_contents = importlib.import_module(value.name) if isinstance(value, Module) else value


def _complete(d, function, seen, declared):
    values, _, _, captured = seen
    for name, value in values.items():
        if isinstance(value, Itself):
            function.__globals__[name] = d
    for cell, value in zip(function.__closure__ or (), captured):
        if isinstance(value, Itself):
            cell.cell_contents = d
    declare(d, *declared)


def _fill(d, rest):
    """What a function that leads back to itself sees, once all of it is there; nothing, where this process has had it."""
    function = d.__dict__.pop("_to_fill", None)
    if function is not None:
        seen, declared = rest
        _see(function, seen)
        _complete(d, function, seen, declared)
