"""References to objects whose types a program makes, as Numba has them: `structref`.

A type, an instance of a class below `types.StructRef`, says what the fields hold. The objects of a type are instances of a class in
native memory that is made for it, below the class that the program shows them to Python as (its *proxy*): compiled code sees the fields
of the type and what overloads add to it, Python what the proxy has.
"""

from .. import _kinds, _tierup, config, types
from ..extending import overload

__all__ = ["StructRefProxy", "define_attributes", "define_boxing", "define_constructor", "define_proxy", "new", "register"]

#: Classes of types, by which class Python shows their objects as.
_shown_as = {}


def register(struct_type):
    """Says that a class below `types.StructRef` is one of such types; a decorator."""
    _check(struct_type, "register")
    return struct_type


def define_attributes(struct_typeclass):
    """Part of `register` in Numba: compiled code reads and writes the fields of every such object."""
    _check(struct_typeclass, "register")


def _check(of, what):
    if of is types.StructRef:
        raise ValueError(f"cannot {what} {types.StructRef}")
    if not (isinstance(of, type) and issubclass(of, types.StructRef)):
        raise TypeError(f"a class of types below types.StructRef is registered, not {of!r}")


def define_boxing(struct_type, obj_class):
    """Says as which class, one below `StructRefProxy`, Python has the objects of a class of types."""
    _check(struct_type, "register")
    if not (isinstance(obj_class, type) and issubclass(obj_class, StructRefProxy)):
        raise TypeError(f"Python shows such objects as a class below StructRefProxy, not {obj_class!r}")
    _shown_as[struct_type] = obj_class


def define_constructor(py_class, struct_typeclass, fields):
    """Says that compiled code makes objects of a class of types by calling `py_class` with the `fields`."""
    _check(struct_typeclass, "register")
    fields = list(fields)
    params = ", ".join(fields)
    lines = [
        f"def ctor({params}):",
        f"    struct_type = struct_typeclass(list(zip({fields!r}, [{params}])))",
        f"    def impl({params}):",
        "        st = new(struct_type)",
        *(f"        st.{name} = {name}" for name in fields),
        "        return st",
        "    return impl",
    ]
    scope = {"struct_typeclass": struct_typeclass, "new": new}
    exec("\n".join(lines), scope)
    overload(py_class)(scope["ctor"])


def define_proxy(py_class, struct_typeclass, fields):
    """Both: `py_class`, one below `StructRefProxy`, makes objects in Python and in compiled code, and is what Python has of them."""
    define_constructor(py_class, struct_typeclass, fields)
    define_boxing(struct_typeclass, py_class)


def new(struct_type):
    """In compiled code: a new object of a type. Its numbers are 0; what refers to an object is not set before it is assigned to."""
    raise NotImplementedError("structref.new() is called by compiled code alone")


@overload(new)
def _new(struct_type):
    of = getattr(struct_type, "instance_type", None)
    if isinstance(of, types.StructRef):
        made = class_of(of)
        return lambda struct_type: made()


class StructRefProxy:
    """What Python has of such an object: an object of a class below, which has the attributes that the program writes there. What it makes by
    `__new__` is made in compiled code."""

    __slots__ = ()

    def __new__(cls, *args):
        maker = cls.__dict__.get("_tierup_maker_")
        if maker is None:
            maker = _maker(cls)
            type.__setattr__(cls, "_tierup_maker_", maker)
        return maker(*args)

    @property
    def _type(self):
        return type(self)._tierup_structref_

    @property
    def _numba_type_(self):
        return type(self)._tierup_structref_


def _maker(cls):
    """The function that makes objects of a proxy for Python."""
    if config.tier == "off":
        raise NotImplementedError(f"objects of {cls.__qualname__} are made by compiled code, and TIERUP_TIER=off has none")
    from .._jit import njit

    def make(*args):
        return cls(*args)

    return njit(make, meaning="caller")


def class_of(t):
    """The class in native memory whose instances are the objects of a type."""
    proxy = next((_shown_as[c] for c in type(t).__mro__ if c in _shown_as), StructRefProxy)
    known = t._classes.get(proxy)
    if known is None:
        known = t._classes[proxy] = _made(t, proxy)
    return known


def _made(t, proxy):
    from .._struct import Fields, Held
    names = [name for name, _ in t._fields]
    fields = Fields(Held(lambda: {name: _kinds.unliteral(of) for name, of in t._fields}), names, (), type(t).__name__)
    namespace = {
        "__slots__": (), "__module__": proxy.__module__, "__doc__": proxy.__doc__, "__init__": object.__init__, "_tierup_structref_": t,
        "_tierup_annotations_": staticmethod(Held(lambda: dict(t._fields))), "_tierup_struct_": _tierup.Declaration(names, fields, True),
    }
    # Python makes them out of native objects: what the proxy does to make one comes after.
    made = type(proxy)(proxy.__name__, (_tierup.Struct, proxy), namespace)
    made.__qualname__ = proxy.__qualname__
    return made
