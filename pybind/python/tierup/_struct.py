"""Classes whose instances lie in native memory: ``tierup.struct``, and what ``experimental.jitclass`` shares with it.

A class is made anew on a base that has no dictionary: an attribute for each field reads and writes it where it lies.
Compiled code is given the object itself. Functions of the class are compiled; a method that Python calls costs what
any call of compiled code does."""

import copyreg
import datetime
import enum
import sys
import types as _kinds
import typing

from . import _tierup, config

#: Functions of a class that Python's own code calls with what compiled code does not know.
_LEFT_ALONE = {"__init_subclass__", "__class_getitem__", "__new__", "__getattribute__", "__setattr__", "__delattr__", "__subclasshook__"}
#: Types of fields by what an annotation says.
WORDS = {int: "int", float: "float", complex: "complex", bool: "bool", str: "str", bytes: "bytes", None: "none", type(None): "none"}


def struct(cls=None, /, *, eq=True, order=False, repr=True, init=True, unsafe_hash=False, kw_only=False):
    """A dataclass whose instances lie in native memory: compiled code and Python have one object, and what one changes the other sees.

    Fields are those of a dataclass, and their annotations say what they hold: numbers, `bool`, `str`, `bytes`, NumPy's scalar types, arrays (`types.float64[:]`), tuples, enumerations, frozen
    dataclasses, structs, and `X | None` of these. A value of another type is a TypeError. Methods are compiled where they can be.
    `Class.array(n)` is a NumPy array of `n` such objects of numbers, all zero. The options are those of `dataclasses.dataclass`.
    """
    options = dict(eq=eq, order=order, repr=repr, init=init, unsafe_hash=unsafe_hash, kw_only=kw_only)
    scope = sys._getframe(1).f_locals
    if cls is None:
        return lambda cls: _struct(cls, options, scope)
    return _struct(cls, options, scope)


def _struct(cls, options, scope):
    import dataclasses

    from ._jit import jit
    if not isinstance(cls, type):
        raise TypeError(f"struct decorates a class, not {cls!r}")
    written = dict(cls.__dict__)
    own_init = "__init__" in written
    made = dataclasses.dataclass(cls, **{**options, "init": options["init"] and not own_init})
    fields = dataclasses.fields(made)
    names = [f.name for f in fields]
    # Only texts are looked for where the class was written.
    scope = dict(scope) if any(isinstance(t, str) for t in own_annotations(cls).values()) else {}
    if config.tier == "off":
        new = made
        made._tierup_annotations_ = staticmethod(Held(lambda: annotations(made, names, scope)))
    else:
        if own_init:
            first = set_at_first(made.__init__)
        else:
            first = {f.name for f in fields if f.init or f.default is not dataclasses.MISSING or f.default_factory is not dataclasses.MISSING}
        compiled = {name for name, value in written.items() if made.__dict__.get(name) is value}
        new = build(made, names, lambda: annotations(new, names, scope), first, jit, compiled, zeros=False)
    new.array = classmethod(_array)
    return new


def build(cls, names, annotations, first, decorate, written, zeros):
    """The class in native memory that a class becomes; the class itself stays as it is. `annotations` gives what each field holds when that is first asked for; `decorate` compiles the functions
    that were `written` in it, or in a base that is no such class; fields in `first` are set before anybody can read them."""
    namespace = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__", "__slots__") and name not in names}
    namespace["__slots__"] = ()
    bases = tuple(b for b in cls.__bases__ if b is not object)
    if not any(issubclass(b, _tierup.Struct) for b in bases):
        bases += (_tierup.Struct,)
    here = _kinds.CellType()
    for base in cls.__mro__[:-1]:
        if base is not cls and issubclass(base, _tierup.Struct):
            continue
        for name, value in base.__dict__.items():
            if name in written and (name in namespace if base is cls else name not in namespace):
                namespace[name] = _compiled(name, value, decorate, cls, here)

    held = Held(annotations)
    namespace["_tierup_annotations_"] = staticmethod(held)
    namespace["_tierup_struct_"] = _tierup.Declaration(names, Fields(held, names, first, cls.__name__), zeros)
    if "__getstate__" not in namespace:
        namespace["__getstate__"], namespace["__setstate__"] = _state, _set_state
    if cls.__init__ is object.__init__:
        namespace["__init__"] = _no_arguments
    new = type(cls)(cls.__name__, bases, namespace)
    new.__qualname__ = cls.__qualname__
    for k, name in enumerate(names):
        field = _tierup.struct_field(new, k)
        copyreg.pickle(type(field), _reduce_field)
        type.__setattr__(new, name, field)
    here.cell_contents = new
    return new


class Held:
    """What the fields of a class hold, by name, when it is called. A class that is pickled by value (cloudpickle's way with those of notebooks) has its annotations evaluated where it was written."""

    def __init__(self, read):
        self._read = read

    def __call__(self):
        return self._read()

    def __reduce__(self):
        return _known, (dict(self()),)


def _known(held):
    return Held(lambda: held)


class Fields:
    """For each field what it holds, in the words of the compiler, and whether it is set before anybody can read it."""

    def __init__(self, held, names, first, of):
        self._given = held, names, first, of

    def __call__(self):
        held, names, first, of = self._given
        held = held()
        return [(spec(held[name], f"the field '{name}' of {of}"), name in first) for name in names]

    def __reduce__(self):
        return Fields, self._given


def _reduce_field(field):
    return _tierup.struct_field, _tierup.struct_field_of(field)


def _no_arguments(self):
    pass


def _state(self):
    """The fields that are set, for a pickle or a copy."""
    return {name: getattr(self, name) for name in type(self)._tierup_struct_.names if hasattr(self, name)}


def _set_state(self, state):
    for name, value in state.items():
        setattr(self, name, value)


def _compiled(name, what, decorate, cls, here):
    """What a class has under a name, with its functions compiled; those that say ``super()`` or ``__class__`` mean the class in `here`."""
    if name in _LEFT_ALONE:
        return what

    def function(f):
        return decorate(_of_class(f, cls, here)) if isinstance(f, _kinds.FunctionType) else f

    if isinstance(what, (staticmethod, classmethod)):
        return type(what)(function(what.__func__))
    if isinstance(what, property):
        return property(*map(function, (what.fget, what.fset, what.fdel)), what.__doc__)
    return function(what)


def _of_class(f, cls, here):
    """A function as one of the class that is made of the one that it was written in."""
    def means_class(cell):
        try:
            return cell.cell_contents is cls
        except ValueError:
            return False

    if not any(map(means_class, f.__closure__ or ())):
        return f
    new = _kinds.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, tuple(here if means_class(c) else c for c in f.__closure__))
    for attribute in ("__kwdefaults__", "__qualname__", "__doc__", "__module__", "__annotations__"):
        setattr(new, attribute, getattr(f, attribute))
    new.__dict__.update(f.__dict__)
    return new


def set_at_first(init):
    """The fields that an ``__init__`` sets before it does anything else that may fail to, or that others may see."""
    import dis
    init = getattr(init, "py_func", init)
    if not isinstance(init, _kinds.FunctionType) or not init.__code__.co_argcount:
        return set()
    own, found, last = init.__code__.co_varnames[0], set(), ()
    for step in dis.get_instructions(init):
        loaded = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        if last and own in last:
            if step.opname != "STORE_ATTR" or last[-1] != own or own in last[:-1]:
                break
            found.add(step.argval)
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs or step.opname in ("STORE_FAST", "DELETE_FAST") and own in loaded or step.opname.startswith(("RETURN", "RAISE", "YIELD")):
            break
        last = loaded if step.opname.startswith("LOAD_FAST") else ()
    return found


def own_annotations(cls):
    # From 3.14 on they are made when they are asked for.
    known = cls.__dict__.get("__annotations__")
    return known if known is not None else getattr(cls, "__annotations__", {}) if "__annotate_func__" in cls.__dict__ else {}


def annotations(cls, names, scope):
    """What the fields of a dataclass are annotated with, texts evaluated where the class was written."""
    held = {}
    for base in reversed(cls.__mro__):
        said = base.__dict__.get("_tierup_annotations_")
        if said is not None and base is not cls:
            held.update(said.__func__())
            continue
        given = own_annotations(base)
        where = getattr(sys.modules.get(base.__module__), "__dict__", {})
        for name, what in given.items():
            if name in names:
                held[name] = _evaluated(what, where, {**scope, cls.__name__: cls}, f"the field '{name}' of {cls.__name__}")
    return held


def _evaluated(what, where, scope, who):
    if isinstance(what, typing.ForwardRef):
        what = what.__forward_arg__
    if isinstance(what, str):
        try:
            what = eval(what, where, scope)
        except NameError as e:
            raise TypeError(f"{who} is annotated with {what!r}: {e}") from None
    if isinstance(what, str):
        return _evaluated(what, where, scope, who)
    if _arguments(what):
        # What stands inside may be a text, too.
        inner = tuple(_evaluated(a, where, scope, who) if isinstance(a, (str, typing.ForwardRef)) else a for a in _arguments(what))
        if inner != _arguments(what):
            origin = typing.get_origin(what)
            return typing.Union[inner] if origin in (typing.Union, _kinds.UnionType) else origin[inner]
    return what


def _arguments(what):
    return typing.get_args(what) if typing.get_origin(what) not in (typing.Literal, None) else ()


def declared_by(cls):
    """What the fields of a frozen dataclass hold, as :func:`spec` says it."""
    import dataclasses
    names = [f.name for f in dataclasses.fields(cls)]
    held = annotations(cls, names, {})
    return [spec(held[name], f"the field '{name}' of {cls.__name__}") for name in names]


def spec(what, who):
    """What `who` is to hold, in the words of the compiler: the text of a type, a class, or a word with what it is about."""
    from . import types
    if isinstance(what, types.Type):
        return _of_type(what, who)
    if isinstance(what, (type, type(None))) and what in WORDS:
        return WORDS[what]
    origin, arguments = typing.get_origin(what), typing.get_args(what)
    if origin in (typing.Union, _kinds.UnionType):
        rest = [a for a in arguments if a is not type(None)]
        if len(rest) != 1 or len(rest) == len(arguments):
            raise TypeError(f"{who} may hold values of several types, {what}: only X | None is possible")
        return "optional", _plain(spec(rest[0], who), who)
    if origin is tuple:
        if not arguments or Ellipsis in arguments:
            raise TypeError(f"{who} is a tuple of any length: say what each of its members is")
        return "tuple", *(_plain(spec(a, who), who) for a in arguments)
    if origin is typing.Annotated:
        return spec(arguments[0], who)
    if origin is typing.Literal:
        held = {type(a) for a in arguments}
        if len(held) == 1:
            return spec(held.pop(), who)
    if origin in (list, dict):
        return origin.__name__, *(spec(a, who) for a in arguments)
    if what in (list, dict):
        raise TypeError(f"{who} is a {what.__name__}: say of what, for example list[float]")
    if what in (list, dict, set, frozenset, tuple) or origin in (list, dict, set, frozenset):
        raise TypeError(f"{who} is {what}: a field in native memory cannot hold that (not yet)")
    if isinstance(what, type):
        if issubclass(what, (_tierup.Struct, enum.Enum)) or hasattr(what, "__dataclass_fields__"):
            return what
        if what in (datetime.date, datetime.datetime, datetime.time, datetime.timedelta):
            return f"datetime.{what.__name__}"
        if what.__module__ == "numpy":
            if what.__name__ == "ndarray":
                raise TypeError(f"{who} is an array: say which, for example tierup.types.float64[:, ::1]")
            try:
                return types.as_type(what)._tierup_type_
            except TypeError:
                pass
    raise TypeError(f"{who} is annotated with {what!r}, which is no type that a field in native memory can have")


def _plain(said, who):
    """The spec of what stands in a tuple, or is perhaps None: no list and no dict, which Python would see as copies there."""
    if isinstance(said, tuple) and said[0] in ("list", "dict"):
        raise TypeError(f"{who} holds a {said[0]} in a tuple or an optional value: a field in native memory cannot (not yet)")
    return said


def _of_type(t, who):
    """The spec of one of `tierup.types`."""
    from . import types
    if isinstance(t, types.DeferredType):
        return _of_type(t.get(), who)
    if isinstance(t, types.ClassInstanceType):
        return t.cls
    if isinstance(t, types.StructRef):
        from .experimental.structref import class_of
        return class_of(t)
    if isinstance(t, types.Optional):
        return "optional", _plain(_of_type(t.type, who), who)
    if isinstance(t, types.BaseTuple):
        return "tuple", *(_plain(_of_type(m, who), who) for m in t.types)
    if isinstance(t, types.List):
        return "list", _of_type(t.dtype, who)
    if isinstance(t, types.DictType):
        return "dict", *(_of_type(m, who) for m in (t.key_type, t.value_type))
    return t._tierup_type_


def _array(cls, n):
    """A NumPy array of `n` objects of the class, all zero: a structured array with a field for each of the class's. Only numbers can lie in it."""
    import numpy as np
    return np.zeros(n, _dtype(cls))


def _dtype(cls):
    import numpy as np
    held, fields = cls._tierup_annotations_(), []
    for name, what in held.items():
        try:
            dtype = np.dtype(_NUMBERS.get(what, what))
        except TypeError:
            dtype = np.dtype(object)
        if dtype.kind not in "biufc":
            raise TypeError(f"the field '{name}' of {cls.__name__} holds {what}, which does not lie in an array: only numbers do")
        fields.append((name, dtype))
    return np.dtype(fields, align=True)


_NUMBERS = {int: "i8", float: "f8", complex: "c16", bool: "?"}
