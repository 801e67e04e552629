"""Numba's lower half of `extending`: types for instances of a program's own classes, and what there generates code for LLVM.

Instances of ordinary classes are values of compiled code anyway: they come in and go out by their fields, and constructors, properties
and methods mean what they mean in Python. So a type that `typeof_impl` gives a class is what typing functions see of its instances, and
data models, boxing and unboxing have nothing to say. Code generators are not run: what only they implement is refused where it is called.
"""

from types import SimpleNamespace

from . import types
from ._intrinsics import Intrinsic as _Intrinsic  # noqa: F401
from ._intrinsics import intrinsic  # noqa: F401
from ._lowering import (  # noqa: F401
    AbstractTemplate,
    AttributeTemplate,
    CallableTemplate,
    ConcreteTemplate,
    OverloadAttributeTemplate,
    OverloadMethodTemplate,
    fold_arguments,
    infer,
    infer_getattr,
    infer_global,
    lower_builtin,
    lower_cast,
    lower_constant,
    lower_getattr,
    lower_getattr_generic,
    lower_setattr,
    lower_setattr_generic,
    make_overload_attribute_template,
    type_callable,
)

# ---------------------------------------------------------------- types of instances


class _TypeofImpl:
    """`@typeof_impl.register(Class)`: a function of an object and a context that gives its type; called, the type of any object."""

    def register(self, cls, function=None):
        if function is None:
            return lambda f: self.register(cls, f)
        types._typeof_functions[cls] = function
        return function

    def __call__(self, value, c=None):
        from ._kinds import strong
        return strong(types.typeof(value))


typeof_impl = _TypeofImpl()


class Known:
    """Stands for a value of which the compiler knows the type alone: a field of an object that is asked for its type."""

    def __init__(self, t):
        self._tierup_known_ = t

    @property
    def dtype(self):
        return types.as_dtype(self._tierup_known_.dtype)

    @property
    def ndim(self):
        return self._tierup_known_.ndim

    @property
    def flags(self):
        layout = self._tierup_known_.layout
        return SimpleNamespace(c_contiguous=layout == "C", f_contiguous=layout == "F", writeable=self._tierup_known_.mutable)

    @property
    def _numba_type_(self):
        return self._tierup_known_

    def __len__(self):
        return len(self._tierup_known_)


#: What compiled code has of instances, by the types that a program gives them.
_own = {}


def own_of(t):
    """What compiled code has of the instances whose type this is; None where it has met none, or the type is no such one."""
    found = getattr(t, "_tierup_own_", None)
    if found is not None or not isinstance(t, types.Type) or type(t).__module__.startswith("tierup."):
        return found
    return _own.get(t) or _of_model(t)


def is_opaque(t):
    """Whether a type has a model without members."""
    return isinstance(registered_model(t), _Opaque)


def _of_model(t):
    """The same of a type that has a model and no instances in Python: a frozen class of the members stands for it."""
    model = registered_model(t)
    if not isinstance(model, _Struct | _Opaque) or not _boxed.isdisjoint(type(t).__mro__):
        return None
    import dataclasses

    from ._jit import njit
    from .extending import overload
    names = [name for name, _ in model.members]
    cls = dataclasses.make_dataclass(type(t).__name__, names, frozen=True, namespace={"__module__": type(t).__module__})
    types._typeof_functions[cls] = lambda val, c: t

    def met(x):
        raise NotImplementedError

    overload(met)(lambda x: lambda x: None)
    scope = {"met": met, "cls": cls}
    given = ", ".join(f"value{k}" for k in range(len(names)))
    exec(f"def make({given}):\n    met(cls({given}))", scope)
    within = [own_of(of) for _, of in model.members]
    njit(scope["make"]).compile(tuple(of if own is None else types.Type(own.text) for (_, of), own in zip(model.members, within, strict=True)))
    return _own.get(t)


def type_of_instance(cls, fields, own):
    """The type that a program gives instances of a class with fields of these types, or None; and, where it gives them one that cannot be told
    from these, why."""
    function = types._typeof_function(cls)
    if function is None:
        return None, None
    try:
        sample = object.__new__(cls)
        for name, t in fields:
            object.__setattr__(sample, name, Known(t))
        found = function(sample, None)
    except Exception as e:
        return None, f"the function that typeof_impl has for {cls.__qualname__} cannot tell the type of an object from the types of its fields alone: {type(e).__name__}: {e}"
    if not isinstance(found, types.Type):
        return None, None
    found._tierup_class_ = cls, tuple(name for name, _ in fields)
    found._tierup_own_ = _own[found] = own
    return found, None


class AsNumbaTypeRegistry:
    """`as_numba_type(int)` is the type that an annotation says; `as_numba_type.register(Class, type)` adds one."""

    def __init__(self):
        self._known = {}

    def register(self, cls, t=None):
        if t is None:
            return lambda found: self.register(cls, found) and found
        self._known[cls] = t
        return t

    def __call__(self, annotation):
        import typing
        from types import UnionType
        if isinstance(annotation, types.Type):
            return annotation
        try:
            if annotation in self._known:
                found = self._known[annotation]
                return found if isinstance(found, types.Type) else found(annotation)
        except TypeError:
            pass
        origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Union or isinstance(annotation, UnionType):
            rest = [a for a in inside if a is not type(None)]
            if len(rest) == 1:
                return types.Optional(self(rest[0]))
        elif origin in (list, set, dict, tuple) and Ellipsis not in inside:
            made = list(map(self, inside))
            return types.BaseTuple.from_types(made) if origin is tuple else {list: types.List, set: types.Set, dict: types.DictType}[origin](*made)
        elif annotation in (int, float, complex, bool, str, None, type(None)):
            return types.as_type(annotation)
        elif isinstance(annotation, type) and "class_type" in annotation.__dict__:
            return annotation.class_type.instance_type
        from .errors import TypingError
        raise TypingError(f"Cannot infer Numba type of Python type {annotation}")


as_numba_type = AsNumbaTypeRegistry()


def make_attribute_wrapper(typeclass, struct_attr, python_attr):
    """Says under which name compiled code reads a member. A name that the class has in Python is that already; another one reads the field."""
    if not isinstance(typeclass, type) or not issubclass(typeclass, types.Type):
        raise TypeError(f"typeclass should be a Type subclass, got {typeclass}")
    from .extending import overload_attribute

    def read(x):
        cls, fields = getattr(x, "_tierup_class_", (None, ()))
        if cls is None or python_attr in fields or hasattr(cls, python_attr) or struct_attr not in fields:
            return None
        scope = {}
        exec(f"def get(x):\n    return x.{struct_attr}", scope)
        return scope["get"]

    overload_attribute(typeclass, python_attr)(read)
    _wrapped.add((typeclass, python_attr))


#: Names by which members of a program's types are read.
_wrapped = set()


def is_foreign(obj, name):
    """Whether an attribute of an instance is no business of compiled code: its type has a data model of members, and none is of that name."""
    function = types._typeof_function(type(obj))
    if function is None or not _registered:
        return False
    try:
        t = function(obj, None)
    except Exception:
        # It is asked again where its answer matters.
        return False
    model = registered_model(t) if isinstance(t, types.Type) else None
    return isinstance(model, _Struct) and name not in dict(model.members) and not any((c, name) in _wrapped for c in type(t).__mro__)


# ---------------------------------------------------------------- what has nothing to say


class _Model:
    """A data model: the members that instances have in generated code; in memory they lie as their fields say."""

    def __init__(self, dmm, fe_type, *members):
        self.fe_type, self.members = fe_type, members[0] if members and isinstance(members[0], list | tuple) else ()


class _Struct(_Model):
    """A model of members."""


class _Opaque(_Model):
    """A model without members."""


class models:
    """Numba's data models, by name."""

    DataModel = PrimitiveModel = PointerModel = TupleModel = UniTupleModel = ArrayModel = _Model
    StructModel, OpaqueModel = _Struct, _Opaque


class NativeValue:
    """What a function that unboxes gives in Numba."""

    def __init__(self, value, is_error=None, cleanup=None):
        self.value, self.is_error, self.cleanup = value, is_error, cleanup


def _without_effect(*args, **kwargs):
    """Takes what it decorates as it is."""
    return lambda f: f


#: Data models by the types that they are for.
_registered = {}


def register_model(typeclass):
    """Says which members instances have in generated code; how they lie there is known."""
    def register(model):
        _registered[typeclass] = model
        return model

    return register


register_default = register_model


def registered_model(t):
    """The model that a program has registered for a type; None where it has not."""
    found = next((_registered[c] for c in type(t).__mro__ if c in _registered), None)
    return None if found is None else found(None, t)


#: Classes of types whose values a program boxes: they are instances of a class of its own, which is not known before one is met.
_boxed = set()


def box(typeclass):
    """Taken as it is: instances go out by their fields."""
    _boxed.add(typeclass)
    return lambda f: f


def not_run(*args):
    """Stands for what only functions that box and unbox call."""
    raise NotImplementedError("instances come in and go out by their fields: functions that box and unbox do not run")


#: Instances come in, lie and go out by their fields; conversions that a program adds to those of the language are not made.
unbox = reflect = _without_effect


# ---------------------------------------------------------------- values of operands


class SentryLiteralArgs:
    """In a typing function: `SentryLiteralArgs(["mode"]).for_function(f).bind(*args).mode` is the value; TypingError where it is no literal."""

    def __init__(self, literal_args):
        self.literal_args = literal_args

    def for_function(self, function):
        import inspect
        return self.for_pysig(inspect.signature(function))

    def for_pysig(self, signature):
        return _Bound(signature, self.literal_args)


class _Bound:
    def __init__(self, signature, literal_args):
        self.pysig, self.literal_args = signature, literal_args

    def bind(self, *args, **kwargs):
        bound = self.pysig.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        missing = [name for name in self.literal_args if isinstance(given.get(name), types.Type) and not isinstance(given[name], (types.Literal, types.NoneType, types.Omitted))]
        if missing:
            from .errors import TypingError
            e = TypingError(f"requires literal type for argument {missing[0]!r}, not {given[missing[0]]}")
            # The compiler looks for their values.
            e.literals_wanted = missing
            raise e
        return bound


sentry_literal_args = SentryLiteralArgs
