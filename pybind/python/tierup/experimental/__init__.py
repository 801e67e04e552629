"""Classes in native memory as Numba spells them: `jitclass`."""

import types as _kinds
from collections.abc import Mapping

from .. import _struct, config
from ..types import ClassInstanceType, Type, typeof

__all__ = ["jitclass", "structref"]


def jitclass(cls_or_spec=None, spec=None):
    """A class whose instances lie in native memory and whose methods are compiled, as Numba has it.

    Use as `@jitclass`, `@jitclass(spec)` or `jitclass(cls, spec)`. `spec` says what fields hold: pairs of a name and a type, or a dict of them; annotations of the class say it of the others. Numbers
    that `__init__` does not set are 0. TypeError for a spec of something else, NameError for a field with the name of a method.
    """
    from .._jit import njit
    return decorated(cls_or_spec, spec, njit)


def decorated(cls_or_spec, spec, decorate):
    """The same with methods that `decorate` compiles."""
    if cls_or_spec is not None and spec is None and not isinstance(cls_or_spec, type):
        spec, cls_or_spec = cls_or_spec, None
    if cls_or_spec is None:
        return lambda cls: _made(cls, spec, decorate)
    return _made(cls_or_spec, spec, decorate)


def _made(cls, spec, decorate):
    if not isinstance(cls, type):
        raise TypeError("jitclass() decorates a class")
    said = {_mangled(name, cls): what for name, what in _pairs(spec).items()}
    members = {name: value for base in reversed(cls.__mro__[:-1]) for name, value in base.__dict__.items()}
    if config.tier == "off":
        return cls
    annotated = [name for base in reversed(cls.__mro__[:-1]) for name in _struct.own_annotations(base)]
    names = list(dict.fromkeys([*said, *annotated]))
    for name in names:
        if isinstance(members.get(name), (_kinds.FunctionType, property, staticmethod, classmethod)):
            raise NameError(f"name shadowing: {name}")
    for name, value in members.items():
        if isinstance(value, property) and value.fdel is not None:
            raise TypeError(f"deleter is not supported: {name}")
    new = _struct.build(
        cls, names, lambda: {**_struct.annotations(cls, annotated, {cls.__name__: new}), **said}, _struct.set_at_first(cls.__init__), decorate,
        {name for name in members if name not in _OF_CLASSES}, zeros=True,
    )
    new.class_type = ClassType(new)
    new._numba_type_ = property(typeof)
    return new


class _AllJitClasses(type):
    def __instancecheck__(cls, other):
        return isinstance(other, type) and isinstance(other.__dict__.get("class_type"), ClassType)


class JitClassType(type, metaclass=_AllJitClasses):
    """What `isinstance` finds the classes of `jitclass` to be, as Numba has it."""


#: What every class has.
_OF_CLASSES = {"__module__", "__qualname__", "__dict__", "__weakref__", "__doc__", "__annotations__", "__slots__"}


def _mangled(name, cls):
    """A private name as code of the class knows it."""
    private = name.startswith("__") and not name.endswith("__")
    return f"_{cls.__name__.lstrip('_')}{name}" if private else name


def _pairs(spec):
    if spec is None:
        return {}
    if not isinstance(spec, Mapping) and not all(isinstance(p, (tuple, list)) and len(p) == 2 for p in spec):
        raise TypeError("spec is a dict, or a sequence of pairs of a name and a type")
    said = dict(spec)
    for name, what in said.items():
        if not isinstance(name, str):
            raise TypeError(f"spec keys should be strings, got {name!r}")
        if not isinstance(what, Type):
            raise TypeError(f"spec values should be Numba type instances, got {what!r}")
    return said


class ClassType:
    """What `Class.class_type` is: `instance_type` is the type of its objects, for specs and signatures."""

    def __init__(self, cls):
        self._class = cls

    @property
    def instance_type(self):
        return ClassInstanceType(self._class)

    @property
    def class_name(self):
        return self._class.__name__

    @property
    def struct(self):
        """What each field holds, by name."""
        return self.instance_type.struct


def __getattr__(name):
    """`structref` is a module of its own, which few want."""
    if name == "structref":
        import importlib
        return importlib.import_module(".structref", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
