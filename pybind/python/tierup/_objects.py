"""Functions that make instances of classes whose instances may change.

A call of such a class is compiled as a call of the function that is written for it: it makes an object without
fields and calls ``__init__``."""

import builtins
import operator
import sys
import types

from ._kept import Kept
from ._paths import WRITTEN


def constructor(cls):
    """The function that is called with the class and the arguments in place of the class."""
    init, new = cls.__init__, cls.__new__
    plain, own = init is object.__init__, new is not object.__new__ and isinstance(getattr(new, "py_func", new), types.FunctionType)
    if not plain and not isinstance(getattr(init, "py_func", init), types.FunctionType):
        raise ValueError(f"{cls.__name__} has an __init__ that is not written in Python, which is not compiled")
    abstract = getattr(cls, "__abstractmethods__", None)
    if own and abstract:
        raise ValueError(f"{cls.__name__} is abstract and has its own __new__, which is not compiled")
    state = (init, getattr(init, "__defaults__", None), _pairs(init), abstract, new)
    known = cls.__dict__.get("_tierup_object_")
    if known is not None and all(a is b or a == b for a, b in zip(known[0], state, strict=True)):
        return known[1]
    if own:
        made = _made_by_new(cls, new, None if plain else init)
    else:
        made = _refused(cls) if abstract else _written(cls, None if plain else init)
    # Where it lives as long as the class does, and no longer.
    type.__setattr__(cls, "_tierup_object_", Kept((state, made)))
    return made


def _pairs(init):
    given = getattr(init, "__kwdefaults__", None)
    return given and tuple(given.items())


def _written(cls, init):
    """The function: its first parameter is the class. Its own names begin as no field does."""
    scope = {"__builtins__": builtins, "_tierup_operator": operator, "_tierup_init": init}
    lines = ["_tierup_made = _tierup_operator._new_object(_tierup_class)"]
    params = []
    if _has_factories(init):
        from . import _classes

        params, made, values, given = _classes.fields_made(cls, scope, all_set=False)
        lines += [*made, *(f"_tierup_made.{name} = {name}" for name in values)]
        if hasattr(cls, "__post_init__"):
            lines.append(f"_tierup_made.__post_init__({', '.join(given)})")
    elif init is not None:
        params, given = _parameters(getattr(init, "py_func", init), scope)
        lines += _initialised(", ".join(given))
    return _made(cls, params, [*lines, "return _tierup_made"], scope)


def _made_by_new(cls, new, init):
    """The function for a class with its own ``__new__``, which may give an object of another class, or one that there is."""
    scope = {"__builtins__": builtins, "_tierup_new": new, "_tierup_init": init}
    lines = ["_tierup_made = _tierup_new(_tierup_class, *args, **kwargs)"]
    if init is not None:
        lines += ["if isinstance(_tierup_made, _tierup_class):", *(f"    {line}" for line in _initialised("*args, **kwargs"))]
    return _made(cls, ["*args", "**kwargs"], [*lines, "return _tierup_made"], scope)


def _initialised(given):
    """Lines that call ``__init__``."""
    return [
        f"_tierup_result = _tierup_init(_tierup_made, {given})",
        "if _tierup_result is not None:",
        "    raise TypeError(\"__init__() should return None, not '\" + type(_tierup_result).__name__ + \"'\")",
    ]


def _refused(cls):
    """What a call of an abstract class raises, in the words of this Python."""
    try:
        object.__new__(cls)
    except TypeError as e:
        scope = {"__builtins__": builtins, "_tierup_text": str(e)}
        return _made(cls, ["*args", "**kwargs"], ["raise TypeError(_tierup_text)"], scope)
    raise ValueError(f"{cls.__name__} changed while it was compiled")


def _made(cls, params, lines, scope):
    text = f"def __init__({', '.join(['_tierup_class', *params])}):\n" + "".join(f"    {line}\n" for line in lines)
    exec(compile(text, WRITTEN % "object", "exec"), scope)
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__code__ = made.__code__.replace(co_qualname=made.__qualname__)
    return made


def _has_factories(init):
    """Whether an ``__init__`` was generated for a dataclass some of whose fields have a ``default_factory``: it tells
    whether an argument was given by an object that only Python knows."""
    dataclasses = sys.modules.get("dataclasses")
    if dataclasses is None or init is None:
        return False
    defaults = [*(getattr(init, "__defaults__", None) or ()), *(getattr(init, "__kwdefaults__", None) or {}).values()]
    # A class that was pickled by value has one of its own.
    return any(type(d) is type(dataclasses._HAS_DEFAULT_FACTORY) for d in defaults)


def cached(found, name):
    """The function that does what a ``functools.cached_property`` does for an object."""
    known = found.__dict__.get("_tierup_function_of_")
    if known is None or known[0] is not found.func:
        scope = {"__builtins__": builtins, "_tierup_operator": operator, "_tierup_func": found.func}
        text = (
            f"def {name}(self):\n    try:\n        return _tierup_operator._own(self, {name!r})\n"
            f"    except AttributeError:\n        pass\n    value = _tierup_func(self)\n"
            f"    _tierup_operator._set_own(self, {name!r}, value)\n    return value\n"
        )
        exec(compile(text, WRITTEN % "cached_property", "exec"), scope)
        known = found.func, scope[name]
        found._tierup_function_of_ = known
    return known[1]


def manager(helper):
    """What compiled code calls in place of a function behind ``contextlib.contextmanager``; None of any other one."""
    contextlib = sys.modules.get("contextlib")
    if contextlib is None or helper.__code__ is not contextlib.contextmanager(_parameters).__code__:
        return None
    func = dict(zip(helper.__code__.co_freevars, helper.__closure__, strict=True))["func"].cell_contents
    known = helper.__dict__.get("_tierup_manager_")
    plain = getattr(func, "py_func", func)
    if not isinstance(plain, types.FunctionType):
        return None
    state = (plain, plain.__code__, plain.__defaults__, _pairs(plain))
    if known is None or any(a is not b and a != b for a, b in zip(known[0], state, strict=True)):
        from .lib import contexts

        scope = {"__builtins__": builtins, "_tierup_func": func, "_tierup_manager": contexts.GeneratorManager}
        params, given = _parameters(plain, scope, 0)
        text = f"def manager({', '.join(params)}):\n    return _tierup_manager(_tierup_func({', '.join(given)}))\n"
        exec(compile(text, WRITTEN % "manager", "exec"), scope)
        known = helper._tierup_manager_ = state, scope["manager"]
    return known[1]


def _parameters(init, scope, own=1):
    """The parameters of ``__init__`` behind `self`, or all of a function without `own` ones, and how they are passed
    on."""
    code = init.__code__
    count, keyword = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    defaults = init.__defaults__ or ()
    params, given = [], []
    for k, name in enumerate(names[:count]):
        if k < own:
            continue
        at = k - (count - len(defaults))
        if at >= 0:
            scope[f"_tierup_default_{name}"] = defaults[at]
        params.append(name if at < 0 else f"{name}=_tierup_default_{name}")
        given.append(name)
        if k + 1 == code.co_posonlyargcount:
            params.append("/")
    rest = count + keyword
    if code.co_flags & 0x04:
        params.append("*" + names[rest])
        given.append("*" + names[rest])
        rest += 1
    elif keyword:
        params.append("*")
    for name in names[count : count + keyword]:
        default = (init.__kwdefaults__ or {}).get(name, scope)
        if default is not scope:
            scope[f"_tierup_default_{name}"] = default
        params.append(name if default is scope else f"{name}=_tierup_default_{name}")
        given.append(f"{name}={name}")
    if code.co_flags & 0x08:
        params.append("**" + names[rest])
        given.append("**" + names[rest])
    return params, given


def order(cls, names):
    """The places of fields in the order in which ``__init__`` sets them in a new object, then the others; and whether that depends on the way through it."""
    init = getattr(cls.__init__, "py_func", cls.__init__)
    before, first = {}, []
    if isinstance(init, types.FunctionType):
        first = _order_of(cls, init, before)
    at = {name: k for k, name in enumerate(names)}
    waiting, found, is_open = [name for name in first if name in at], [], False
    while waiting:
        # Where two ways through it set two fields the other way round, the one that comes first in its text.
        ready = [name for name in waiting if before.get(name, set()).isdisjoint(waiting)]
        is_open |= not ready
        found.append((ready or waiting)[0])
        waiting.remove(found[-1])
    return [at[name] for name in found] + [k for k, name in enumerate(names) if name not in found], is_open


_ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}


def _order_of(cls, function, before, depth=4):
    """The fields that a method sets, in the order of its text; `before` gets those that may be set earlier than each."""
    import dis
    code = function.__code__
    if depth == 0 or code.co_argcount == 0 and code.co_posonlyargcount == 0:
        return []
    all = [i for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG"]
    at = {i.offset: k for k, i in enumerate(all)}
    sets = [_sets(cls, function, i, of, code.co_varnames[0], depth) for of, i in zip([None, *all], all)]
    handlers = [(at[e.start], at.get(e.end, len(all)), at[e.target]) for e in dis._parse_exception_table(code) if e.start in at and e.target in at]
    # What may have been set, and what has been, in front of each instruction.
    states, waiting = {0: (frozenset(), frozenset())}, [0]
    while waiting:
        k = waiting.pop()
        may, must = states[k]
        new = may.union(sets[k]), must.union(sets[k])
        i = all[k]
        after = [(at[i.argval], new)] if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs else []
        if i.opname not in _ENDS and k + 1 < len(all):
            after.append((k + 1, new))
        after += [(target, (new[0], must)) for start, end, target in handlers if start <= k < end]
        for target, (may, must) in after:
            known = states.get(target)
            merged = (may, must) if known is None else (known[0] | may, known[1] & must)
            if merged != known:
                states[target] = merged
                waiting.append(target)
    for k, (may, must) in states.items():
        for name in sets[k]:
            if name not in must:
                before.setdefault(name, set()).update(may - {name})
            may, must = may | {name}, must | {name}
    return list(dict.fromkeys(name for k, names in enumerate(sets) if k in states for name in names))


def _sets(cls, function, instruction, last, own, depth):
    """The fields that an instruction sets, or the method that it looks up for a call: `last` is the one in front of it."""
    if instruction.opname not in ("STORE_ATTR", "LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):
        return []
    loads = last is not None and ("LOAD_FAST" in last.opname or last.opname == "LOAD_DEREF")
    is_own = loads and (last.argval[-1] if isinstance(last.argval, tuple) else last.argval) == own
    name, classes = instruction.argval, cls.__mro__
    if instruction.opname == "STORE_ATTR":
        return [name] if is_own else []
    if instruction.opname == "LOAD_SUPER_ATTR" or not is_own and name == "__init__":
        # By `super()`, or by the name of a base.
        home = next((k for k, c in enumerate(classes) if getattr(vars(c).get(name), "py_func", vars(c).get(name)) is function), None)
        classes = () if home is None else classes[home + 1 :]
    elif not is_own:
        return []
    found = next((vars(c)[name] for c in classes if name in vars(c)), None)
    found = getattr(found, "py_func", found)
    return _order_of(cls, found, {}, depth - 1) if isinstance(found, types.FunctionType) else []
