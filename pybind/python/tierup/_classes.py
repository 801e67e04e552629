"""What the compiler asks of dataclasses whose instances never change: which of their methods are those that
``dataclasses`` generates, and a function that makes an instance out of fields.

A method counts as generated where it has the code that ``dataclasses`` writes for all fields of the class: that
is found out by letting it write the method once more. Everything else is a method like any other one."""

import builtins
import dataclasses
import inspect
import operator
import sys
import types

from ._kept import Kept
from ._paths import WRITTEN

ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
#: What says what a class generates.
METHODS = (
    "__dataclass_fields__", "__dataclass_params__", "__eq__", "__ne__", *ORDER, "__hash__", "__repr__", "__init__", "__post_init__",
    "__new__", "__setattr__", "__delattr__", "__getattribute__",
)  # fmt: skip


class Missing:
    """Stands for an argument that was not given, where a function makes the default."""


def frozen(cls):
    """Names of the fields of a class, and whether equality, order, hash and text are the generated ones of all
    fields; None where instances of the class are no values."""
    return _looked_at(cls)[0]


def _looked_at(cls):
    """What :func:`frozen` gives, and whether `__init__` is the generated one. It is found out once for a class as it
    is, and lives as long as the class does."""
    state = [getattr(cls, name, None) for name in METHODS]
    known = cls.__dict__.get("_tierup_looked_at_")
    if known is None or any(a is not b for a, b in zip(known[0], state, strict=True)):
        known = Kept((state, _look(cls)))
        type.__setattr__(cls, "_tierup_looked_at_", known)
    return known[1]


def _look(cls):
    # A class below one without fields of its own has those of that, and its methods.
    params = getattr(cls, "__dataclass_params__", None)
    if params is None or not params.frozen or not isinstance(getattr(cls, "__dataclass_fields__", None), dict):
        return None, False
    if issubclass(cls, BaseException):
        return None, False
    plain = _reference(cls)
    if not all(_same(cls, plain, name) for name in ("__setattr__", "__delattr__")):
        return None, False
    if any(getattr(cls, name) is not getattr(object, name) for name in ("__new__", "__getattribute__")):
        return None, False
    names = tuple(f.name for f in dataclasses.fields(cls))
    for name in names:
        # What is computed when a field is read is no value.
        found = inspect.getattr_static(cls, name, None)
        if hasattr(type(found), "__set__") and not isinstance(found, types.MemberDescriptorType):
            return None, False
    equality = _same(cls, plain, "__eq__") and cls.__ne__ is object.__ne__
    order = equality and all(_same(cls, plain, name) for name in ORDER)
    generated = names, equality, order, _same(cls, plain, "__hash__"), _same(cls, plain, "__repr__")
    return generated, _same(cls, plain, "__init__") and type(cls).__call__ is type.__call__


def constructor(cls):
    """The function that is called with the class and the arguments in place of the class."""
    init = cls.__init__
    state = (init, init.__defaults__, init.__kwdefaults__ and tuple(init.__kwdefaults__.items()))
    known = cls.__dict__.get("_tierup_constructor_")
    if known is not None and all(a is b or a == b for a, b in zip(known[0], state, strict=True)):
        return known[1]
    if not _looked_at(cls)[1]:
        what = "its own __init__" if type(cls).__call__ is type.__call__ else "a metaclass with its own __call__"
        raise ValueError(f"{cls.__name__} has {what}, which is not compiled for a frozen dataclass")
    made = _written(cls)
    # Where it lives as long as the class does, and no longer.
    type.__setattr__(cls, "_tierup_constructor_", Kept((state, made)))
    return made


def without_guard(cls, method):
    """What stands for a `__repr__` that is guarded against objects which lead back to themselves, as ``dataclasses``
    generates it; None of any other method. Values do not lead back to themselves: for them it is what is guarded."""
    reprlib = sys.modules.get("reprlib")
    guards = [dataclasses.make_dataclass("Any", ["x"]).__repr__, *([reprlib.recursive_repr()(_code)] if reprlib else [])]
    if all(method.__code__ is not guard.__code__ for guard in guards):
        return None
    held = {name: cell.cell_contents for name, cell in zip(method.__code__.co_freevars, method.__closure__)}
    if frozen(cls) is not None:
        return held["user_function"]
    known = method.__dict__.get("_tierup_guarded_")
    if known is None:
        again = held.get("fillvalue", "...")
        scope = {"__builtins__": builtins, "_tierup_operator": operator, "_tierup_text": held["user_function"]}
        text = (
            "def __repr__(self):\n    if not _tierup_operator._leads_back(self):\n        return _tierup_text(self)\n"
            f"    return _tierup_operator._text_in_ring(_tierup_text, self, {again!r})\n"
        )
        exec(compile(text, WRITTEN % "guarded", "exec"), scope)
        known = method._tierup_guarded_ = scope["__repr__"]
    return known


def without_identity(cls, method):
    """From Python 3.13 on a generated `__eq__` asks first whether both are one object; None of any other method."""
    if sys.version_info < (3, 13) or frozen(cls) is None or _code(method) != _code(_reference(cls, whole=False).__eq__):
        return None
    known = cls.__dict__.get("_tierup_equality_")
    if known is None or known[0] is not method:
        same = " and ".join(f"self.{f.name}==other.{f.name}" for f in dataclasses.fields(cls) if f.compare) or "True"
        text = f"def __eq__(self, other):\n    if other.__class__ is self.__class__:\n        return {same}\n    return NotImplemented\n"
        scope = {"__builtins__": builtins}
        exec(compile(text, WRITTEN % "dataclass", "exec"), scope)
        known = Kept((method, scope["__eq__"]))
        type.__setattr__(cls, "_tierup_equality_", known)
    return known[1]


def is_given(x):
    """Whether this is what a field says, and not that it says nothing: MISSING, of which a class that was pickled by
    value has one of its own."""
    return type(x) is not type(dataclasses.MISSING)


def _reference(cls, whole=True):
    """A class with the same fields, for its methods; `whole` compares, hashes and shows all of them."""
    members = []
    for f in cls.__dataclass_fields__.values():
        if f._field_type is dataclasses._FIELD_CLASSVAR:
            continue
        of = {name: value for name in ("default", "default_factory", "kw_only") if is_given(value := getattr(f, name))}
        of["init"] = f.init
        if not whole:
            of.update(repr=f.repr, hash=f.hash, compare=f.compare)
        kind = object if f._field_type is dataclasses._FIELD else dataclasses.InitVar[object]
        members.append((f.name, kind, dataclasses.field(**of)))
    # Without a text of its own, its signature would be put together.
    namespace = {"__doc__": cls.__name__}
    if hasattr(cls, "__post_init__"):
        namespace["__post_init__"] = _nothing
    return dataclasses.make_dataclass(cls.__name__, members, namespace=namespace, frozen=True, order=True)


def _nothing(self, *given):
    pass


def _same(cls, reference, name):
    return _code(getattr(cls, name, None)) == _code(getattr(reference, name))


def _code(method):
    """What a function does, wherever its text stood; with what it wraps."""
    if not isinstance(method, types.FunctionType):
        return None
    code = method.__code__
    own = (code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_argcount, code.co_kwonlyargcount)
    wrapped = getattr(method, "__wrapped__", None)
    return own, _constants(code), code.co_flags, None if wrapped is None else _code(wrapped)


def _constants(code):
    """Its constants, but for those that only say where it stood."""
    return tuple((type(c), c) for c in code.co_consts if not isinstance(c, types.CodeType))


def _defaults(init):
    """The defaults of a generated `__init__`, by the names of its parameters."""
    code = init.__code__
    names = code.co_varnames[: code.co_argcount]
    given = init.__defaults__ or ()
    return {**dict(zip(names[len(names) - len(given) :], given)), **(init.__kwdefaults__ or {})}


def _written(cls):
    """The function: its first parameter is the class. Its own names begin as no field does."""
    scope = {"__builtins__": builtins, "_tierup_operator": operator}
    own = cls.__init__.__code__.co_varnames[0]
    params, lines, values, given = fields_made(cls, scope)
    lines.append(f"_tierup_made = _tierup_operator._make_instance({', '.join([own, *values])})")
    if hasattr(cls, "__post_init__"):
        lines.append(f"_tierup_made.__post_init__({', '.join(given)})")
    text = f"def __init__({', '.join([own, *params])}):\n"
    text += "".join(f"    {line}\n" for line in [*lines, "return _tierup_made"])
    exec(compile(text, WRITTEN % "dataclass", "exec"), scope)
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__code__ = made.__code__.replace(co_qualname=made.__qualname__)
    return made


def fields_made(cls, scope, all_set=True):
    """How the generated ``__init__`` of a dataclass makes its fields: the parameters, lines of code that give each
    field its value in a variable of its name, the names of those fields, and what ``__post_init__`` is given. With
    `all_set` a field that nothing gives a value is a ValueError."""
    scope["_tierup_missing"] = Missing
    defaults = _defaults(cls.__init__)
    places, named, lines, values, given = [], [], [], [], []
    for f in cls.__dataclass_fields__.values():
        name, is_field = f.name, f._field_type is dataclasses._FIELD
        if f._field_type is dataclasses._FIELD_CLASSVAR:
            continue
        has_factory = is_given(f.default_factory)
        scope["_tierup_default_" + name] = defaults.get(name, f.default)
        scope["_tierup_factory_" + name] = f.default_factory
        if f.init:
            default = "" if name not in defaults else "=_tierup_missing" if has_factory else f"=_tierup_default_{name}"
            (named if f.kw_only is True else places).append(name + default)
            if has_factory:
                lines.append(f"{name} = _tierup_factory_{name}() if {name} is _tierup_missing else {name}")
        elif not all_set and not has_factory and is_given(f.default) and "__slots__" not in cls.__dict__:
            # The class has it.
            continue
        elif has_factory or is_given(f.default):
            lines.append(f"{name} = " + (f"_tierup_factory_{name}()" if has_factory else f"_tierup_default_{name}"))
        elif is_field and not all_set:
            continue
        elif is_field:
            raise ValueError(
                f"the field '{name}' of {cls.__name__} gets its value from object.__setattr__, which is not compiled"
                ": give it a default, or make it a property"
            )
        (values if is_field else given).append(name)
    return places + (["*", *named] if named else []), lines, values, given
