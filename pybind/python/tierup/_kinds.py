"""The types that only typing functions see: literals, classes, functions, modules, slices and what else operands of calls are.

:func:`made` makes the object for a type of compiled code. Python's numbers are `int64`, `float64` and `complex128` there, as they are to Numba.
Names that are here for `isinstance` alone, of which compiled code has no values, are listed in ``_WITHOUT_VALUES``.
"""

import enum
import sys
import typing

from . import _tierup, types
from .types import (
    ArrayCompatible,
    BaseTuple,
    Boolean,
    Buffer,
    Callable,
    Container,
    Dummy,
    Hashable,
    Integer,
    IterableType,
    Opaque,
    Optional,
    Type,
    UniTuple,
    from_text,
)


class _Made:
    """What types here have in common: they are what they were made of."""

    def _of(self, *args, text=None):
        self._args = args
        Type.__init__(self, text or f"{type(self).__name__}({', '.join(map(_name, args))})")

    @property
    def key(self):
        # Objects of the program's need not be hashable; the type keeps them.
        return (type(self).__name__, *(a if isinstance(a, (Type, str, int, tuple)) else id(a) for a in self._args))

    def __reduce__(self):
        return type(self), self._args


def _name(x):
    return x.__qualname__ if hasattr(x, "__qualname__") else str(x)


# ---------------------------------------------------------------- literals


class Literal(Type):
    """A type that says the value too. `literal_type` is the type without it."""

    @property
    def literal_type(self):
        return self._literal_type

    def _literal(self, value, of):
        self.literal_value, self._literal_type, self._args = value, of, (value,)
        self._tierup_type_ = of._tierup_type_

    @property
    def key(self):
        return "Literal", type(self.literal_value).__name__, self.literal_value

    @property
    def name(self):
        return f"Literal[{type(self.literal_value).__name__}]({self.literal_value})"

    def __repr__(self):
        return self.name

    def __reduce__(self):
        return literal, (self.literal_value,)


class IntegerLiteral(Literal, Integer):
    def __init__(self, value):
        self.bitwidth = 64
        self._literal(value, types.int64 if -(1 << 63) <= value < 1 << 63 else types.uint64)


class BooleanLiteral(Literal, Boolean):
    def __init__(self, value):
        self.bitwidth = 1
        self._literal(value, types.boolean)


class StringLiteral(Literal, Dummy):
    def __init__(self, value):
        self._literal(value, types.unicode_type)


class SliceType(_Made, Hashable):
    """A slice, of two or three parts."""

    def __init__(self, name, members):
        self.members = members
        self._of(name, members)

    @property
    def has_step(self):
        return self.members >= 3


class SliceLiteral(Literal, SliceType):
    def __init__(self, value):
        self.members = 2 if value.step is None else 3
        self._literal(value, slice2_type if value.step is None else slice3_type)

    @property
    def key(self):
        return "Literal", "slice", self.literal_value.start, self.literal_value.stop, self.literal_value.step


def literal(value):
    """The type of a value that is known: an int, bool, str or slice. TypeError for any other."""
    found = maybe_literal(value)
    if found is None:
        from .errors import TypingError
        raise TypingError(f"{value!r} of {type(value)} has no literal type")
    return found


def maybe_literal(value):
    """The same, or None."""
    if isinstance(value, Literal):
        return value
    made = {bool: BooleanLiteral, int: IntegerLiteral, str: StringLiteral, slice: SliceLiteral}.get(type(value))
    return made and made(value)


def unliteral(t):
    """The type without a value."""
    if hasattr(t, "__unliteral__"):
        return t.__unliteral__()
    return getattr(t, "literal_type", t)


class Omitted(_Made, Opaque):
    """The type of a parameter that was left out, with its default. Compiled code passes defaults as constants; this is for `isinstance`."""

    def __init__(self, default):
        self.value = self.value_ = default
        self._of(default)

    @property
    def key(self):
        # Two are the same where the defaults are equal and of one class: 1 is not 1.0.
        value = self.value if getattr(type(self.value), "__hash__", None) else id(self.value)
        return type(self).__name__, type(self.value), value


class OmittedArg:
    """In the place of an argument that was left out: its default."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"omitted arg({self.value!r})"

    @property
    def _numba_type_(self):
        return Omitted(self.value)


# ---------------------------------------------------------------- values


class BaseNamedTuple(BaseTuple):
    """Tuples of a class with named fields."""

    def _named(self, members, cls):
        if isinstance(members, Type):
            raise types._bad(f"Argument 'types' is not iterable: {members} is one type")
        self.types, self.count, self.instance_class, self.fields = tuple(members), len(tuple(members)), cls, tuple(cls._fields)
        Type.__init__(self, f"{cls.__name__}({', '.join(map(str, self.types))})")

    @property
    def key(self):
        return self.instance_class, self.types


class NamedTuple(BaseNamedTuple):
    def __init__(self, types, cls):
        self._named(types, cls)

    def __reduce__(self):
        return NamedTuple, (self.types, self.instance_class)


class NamedUniTuple(BaseNamedTuple, UniTuple):
    def __init__(self, dtype, count, cls):
        self.dtype = dtype
        self._named((dtype,) * count, cls)

    def __reduce__(self):
        return NamedUniTuple, (self.dtype, self.count, self.instance_class)


class Set(_Made, Container):
    def __init__(self, dtype, reflected=False):
        self.dtype, self.reflected = dtype, reflected
        self._of(dtype, text=f"set({types._text(dtype)})")

    @property
    def key_type(self):
        return self.dtype


class RangeType(_Made, IterableType):
    def __init__(self, dtype):
        self.dtype = dtype
        self._of(dtype, text="range")


class Generator(_Made, IterableType):
    """A generator, by what made it and what it yields. Compiled code keeps the states of its generators to itself: what a program says of them is kept."""

    def __init__(self, gen_func, yield_type, arg_types=(), state_types=(), has_finalizer=False):
        self.gen_func, self.yield_type, self.arg_types = gen_func, yield_type, tuple(arg_types)
        self.state_types, self.has_finalizer = tuple(state_types), has_finalizer
        self._of(gen_func, yield_type, self.arg_types, self.state_types, has_finalizer)


class InstanceType(_Made, Hashable):
    """An instance of a class of the program's: `instance_class`, which is None once nobody has it, and `fields`, pairs of a name and a type."""

    #: Why it has no type that the program gave its class.
    without_own = None

    def __init__(self, instance_class, fields, text=None):
        self.instance_class, self.fields = instance_class, tuple(fields)
        self._of(instance_class, self.fields, text=text or instance_class.__name__)

    @property
    def name(self):
        return self._tierup_type_ if self.instance_class is None else self.instance_class.__name__

    def __repr__(self):
        return self.name


class StructRef(Type):
    """References to objects with fields of these types (`experimental.structref`): a program derives classes from it and says by
    `preprocess_fields` what the types of fields become."""

    def __init__(self, fields):
        self._typename = f"{type(self).__module__.split('.')[0]}.{type(self).__qualname__}"
        self._fields = tuple(map(self._checked, fields))
        self._fields = tuple(map(self._checked, self.preprocess_fields(self._fields)))
        self._classes = {}
        if "_name" not in self.__dict__:
            self._name = f"numba.{type(self).__name__}{self._fields}"

    @staticmethod
    def _checked(pair):
        name, of = pair
        if not isinstance(name, str):
            raise ValueError("expecting a str for field name")
        if not isinstance(of, Type):
            raise ValueError(f"expecting a Numba Type for field type, not {of!r}")
        return name, of

    def preprocess_fields(self, fields):
        """The fields as they are in place of those that were asked for."""
        return fields

    @property
    def name(self):
        # A class may name its types itself before their fields are known.
        return self.__dict__.get("_name") or f"{type(self).__name__}#{id(self)}"

    @name.setter
    def name(self, name):
        self._name = name

    @property
    def field_dict(self):
        """The types of the fields, by name."""
        return dict(self._fields)

    def _parts(self):
        return (self.name,)

    @property
    def key(self):
        return type(self), self.name

    @property
    def _tierup_type_(self):
        from .experimental.structref import class_of
        return _tierup.declared_type(class_of(self))

    def __repr__(self):
        return self.name

    def __reduce__(self):
        # Their classes are made where they are asked for.
        rebuilt, (cls, state) = super().__reduce__()
        return rebuilt, (cls, {**state, "_classes": {}})


class EnumMember(_Made, Hashable):
    """A member of an enumeration."""

    def __init__(self, cls, dtype):
        self.instance_class, self.dtype = cls, dtype
        self._of(cls, dtype)
        # The compiler's name of it, as of any member.
        if len(cls):
            self._tierup_type_ = _tierup.type_text(next(iter(cls)))


class IntEnumMember(EnumMember):
    """A member of one whose members are whole numbers, as which signatures declare them."""

    def __init__(self, cls, dtype):
        super().__init__(cls, dtype)
        self._tierup_type_ = dtype._tierup_type_


# ---------------------------------------------------------------- what is called or looked into


class Function(_Made, Callable, Opaque):
    """A function, by itself: of NumPy, of Python."""

    def __init__(self, function):
        self.typing_key = function
        self._of(function)


class ExternalFunctionPointer(Function):
    """A function of C: of ctypes, of cffi, of a Cython module."""


class Dispatcher(_Made, Callable, Dummy):
    """A function of the program's, decorated or not."""

    def __init__(self, dispatcher):
        self._function = dispatcher
        self._of(dispatcher)

    @property
    def dispatcher(self):
        if isinstance(self._function, _tierup.Dispatcher):
            return self._function
        from ._jit import njit
        return njit(self._function)


class MakeFunctionLiteral(_Made, Callable, Opaque):
    """A function that compiled code has made, or a method."""

    def __init__(self, name):
        self._of(name)


class TypeRef(_Made, Dummy):
    """A class of types, or a type, as a value."""

    def __init__(self, instance_type):
        self.instance_type = instance_type
        self._of(instance_type)


class ClassType(_Made, Callable, Opaque):
    """A class of the program's, as a value."""

    def __init__(self, instance_class):
        self.instance_class = instance_class
        self._of(instance_class)


class NamedTupleClass(ClassType):
    pass


class ExceptionClass(ClassType):
    @property
    def exc_class(self):
        return self.instance_class


class EnumClass(ClassType):
    """An enumeration, whose members have values of type `dtype`."""

    def __init__(self, cls, dtype=types.int64):
        super().__init__(cls)
        self.dtype = dtype


class LiteralStrKeyDict(_Made, Dummy):
    """A dict with known keys, each of whose values has a type of its own: `literal_value` has these by the keys, as literal types where the values are known."""

    def __init__(self, names, members, text):
        self.names, self.members = tuple(names), tuple(members)
        self.literal_value = {StringLiteral(name): t for name, t in zip(self.names, self.members, strict=True)}
        self._of(self.names, self.members, text, text=text)

    def valued(self, values):
        """The same with these values, of which some are not known."""
        known = [(maybe_literal(v) if type(v) in (int, bool, str) else None) or t for v, t in zip(values, self.members, strict=True)]
        return LiteralStrKeyDict(self.names, known, self._tierup_type_)


class Module(_Made, Dummy):
    def __init__(self, pymod):
        self.pymod = pymod
        self._of(pymod)


class Undefined(_Made, Dummy):
    """What is not known yet: the elements of a list that is empty so far."""

    def __init__(self):
        self._of()

    def is_precise(self):
        return False


class NumPyRandomGeneratorType(_Made, Opaque):
    def __init__(self):
        self._of()


class WrapperAddressProtocol:
    """Objects of classes below are functions of C to compiled code: `__wrapper_address__()` is where one lies, `signature()` what it takes and gives."""

    def __wrapper_address__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __wrapper_address__")

    def signature(self):
        raise NotImplementedError(f"{type(self).__name__} has no signature")

    @property
    def _tierup_function_(self):
        from ._foreign import at_address
        return at_address(type(self).__name__, self.__wrapper_address__(), self.signature(), self)


class ExternalFunction(_Made, Callable, Opaque):
    """A function of C that the process has under a name, by its signature of numbers and pointers: `ExternalFunction("cosh", float64(float64))`. Compiled code calls it."""

    def __init__(self, symbol, sig):
        self.symbol, self.sig, self._missing = symbol, sig, None
        self._of(symbol, sig)

    @property
    def key(self):
        return type(self).__name__, self.symbol, self.sig

    @property
    def _tierup_function_(self):
        from ._calls import _identifier, made
        from ._foreign import at_address
        from .llvm import CannotCarry
        from .llvm.calls import address_of
        try:
            return at_address(self.symbol, address_of(self.symbol), self.sig, self)
        except (CannotCarry, TypeError, ValueError) as e:
            if self._missing is None:
                name, names = _identifier(self.symbol), ", ".join(f"x{k}" for k in range(len(self.sig.args)))
                self._missing = made(f"def {name}({names}):\n    raise RuntimeError({str(e)!r})", name, {})
            return self._missing


class CompileResultWAP(WrapperAddressProtocol):
    """What was compiled for one signature of numbers, as a function of C: `CompileResultWAP(f.overloads[types])`."""

    def __init__(self, cres):
        self.cres, self._of_c = cres, None

    def __wrapper_address__(self):
        if self._of_c is None:
            from ._cfunc import cfunc
            function = self.cres.entry_point.__self__
            self._of_c = cfunc(self.signature(), **function.targetoptions)(function.py_func)
        return self._of_c.address

    def signature(self):
        return self.cres.signature

    def __call__(self, *args):
        return self.cres.entry_point(*args)


# What stands for the types of memory, by their keys.
_memory_texts = {}


class _Memory(Buffer):
    """The memory of an object of Python's. Compiled code has an instance of a class of the library in its place, whose text an object says."""

    def __init__(self, dtype, ndim=1, layout="C", readonly=False, name=None):
        Buffer.__init__(self, dtype, ndim, layout, readonly, name)
        if self.key not in _memory_texts:
            # The compiler says it when it has seen such an object.
            _tierup.type_object(self._sample())
        self._tierup_type_ = _memory_texts[self.key]

    @property
    def key(self):
        return type(self).__name__, self.dtype, self.ndim, self.layout, self.mutable

    @property
    def name(self):
        return f"{'' if self.mutable else 'readonly '}{type(self).__name__.lower()}({self.dtype}, {self.ndim}d, {self.layout})"

    def __repr__(self):
        return self.name

    def __reduce__(self):
        return type(self), (self.dtype, self.ndim, self.layout, not self.mutable)


class MemoryView(_Memory):
    """`memoryview`."""

    def _sample(self):
        import numpy
        order = "F" if self.layout == "F" else "C"
        found = numpy.zeros((2,) * self.ndim, types.as_dtype(self.dtype), order)
        if self.layout == "A":
            found = numpy.zeros((4,) * self.ndim, found.dtype)[(slice(None, None, 2),) * self.ndim]
        found.flags.writeable = self.mutable
        return memoryview(found)


class PyArray(_Memory):
    """`array.array`."""

    def _sample(self):
        import array
        return array.array(types.as_dtype(self.dtype).char)


class VarArg(_Made, Dummy):
    """Any number of arguments, in what a code generator is for (`lower_builtin`)."""

    def __init__(self, dtype):
        self.dtype = dtype
        self._of(dtype)


class ExceptionInstance(_Made, Opaque):
    def __init__(self, exc_class):
        self.exc_class = exc_class
        self._of(exc_class)


slice2_type, slice3_type = SliceType("slice<a:b>", 2), SliceType("slice<a:b:c>", 3)
undefined = Undefined()
Any = Opaque("any")
npy_rng = NumPyRandomGeneratorType()
range_state64_type = range_type = RangeType(types.int64)

# Classes of Numba's of which compiled code has no values: nothing is an instance of them.
_WITHOUT_VALUES = {
    "StarArgTuple": BaseTuple, "StarArgUniTuple": BaseTuple, "LiteralList": Dummy,
    "LiteralDict": Dummy, "Poison": Dummy, "Phantom": Dummy, "MemInfoPointer": Dummy, "EphemeralPointer": Dummy, "Object": Dummy,
    "BoundFunction": Callable, "ObjModeDispatcher": Dummy, "RecursiveCall": Callable, "UnionType": Dummy, "Pair": Dummy,
    "NumpyFlatType": IterableType, "NumpyNdEnumerateType": IterableType, "NumpyNdIterType": IterableType, "NumpyNdIndexType": IterableType, "ArrayCTypes": Dummy, "ArrayFlags": Dummy, "PolynomialType": Dummy,
    "EnumerateType": IterableType, "ZipType": IterableType, "ArrayIterator": IterableType, "ListIter": IterableType, "SetIter": IterableType, "UnicodeIteratorType": IterableType, "DictItemsIterableType": IterableType,
    "DictKeysIterableType": IterableType, "DictValuesIterableType": IterableType, "IteratorType": IterableType, "SimpleIterableType": IterableType, "SimpleIteratorType": IterableType, "ContextManager": Callable,
    "InitialValue": Type, "UndefVar": Dummy, "ClassDataType": Dummy, "NumPyRandomBitGeneratorType": Dummy, "BaseFunction": Callable, "BaseAnonymousTuple": BaseTuple,
}  # fmt: skip
globals().update({name: type(name, (base,), {"__module__": __name__, "__doc__": "Compiled code has no values of such types."}) for name, base in _WITHOUT_VALUES.items()})

npy_bitgen = NumPyRandomBitGeneratorType("bitgen")

# Numba's modules of types, which are one here.
misc = abstract = common = containers = functions = iterators = npytypes = scalars = types
SetType = Set
IntEnumClass = EnumClass

NAMES = {n for n, v in globals().items() if not n.startswith("_") and (v is types or isinstance(v, Type) or isinstance(v, type) and issubclass(v, Type))}
NAMES = NAMES - {"types", "Buffer"} | {"literal", "maybe_literal", "unliteral", "WrapperAddressProtocol", "CompileResultWAP"}


# ---------------------------------------------------------------- out of what the compiler says


def strong(t):
    """The type with Numba's in place of those of Python's numbers."""
    weak = t.__module__ == types.__name__ and isinstance(t, (types.Number, BaseTuple, types.List, types.DictType, Optional)) and t.key != t._tierup_type_
    return from_text(t.key) if weak else t


def _named(cls, members):
    if cls is None:  # nobody has the class any more
        return BaseTuple.from_types(members)
    if members and all(m == members[0] for m in members):
        return NamedUniTuple(members[0], len(members), cls)
    return NamedTuple(members, cls)


class Own(typing.NamedTuple):
    """What compiled code has of the instances of a class: the text that stands for their type, names and types of their fields, and whether these may be
    assigned to, in which case instances are objects in memory."""

    text: str
    fields: tuple
    may_change: bool


def _instance(about, inside):
    cls, names, text, number, may_change = about
    if cls is not None and issubclass(cls, _tierup.Struct):
        return types._of_struct(cls)
    fields = tuple(zip(names, map(made, inside), strict=True))
    memory = cls is not None and _memory(cls, fields, number)
    if memory:
        return memory
    if cls is not None and types._typeof_function(cls) is not None:
        from ._extensions import type_of_instance
        own, why = type_of_instance(cls, fields, Own(number, fields, may_change))
        if own is not None:
            return own
        found = InstanceType(cls, fields, text)
        found.without_own = why
    else:
        found = InstanceType(cls, fields, text)
    found._tierup_own_ = Own(number, fields, may_change)
    return found


def _memory(cls, fields, text):
    """The type of the memory of an object, if the class is what compiled code has in the place of one."""
    made_of = {"MemoryView": MemoryView, "PyArray": PyArray}.get(cls.__name__) if cls.__module__ == "tierup.lib.buffers" else None
    if made_of is None:
        return None
    a = fields[0][1]
    _memory_texts[made_of.__name__, a.dtype, a.ndim, a.layout, a.mutable] = text
    return made_of(a.dtype, a.ndim, a.layout, not a.mutable)


def _member(cls):
    return IntEnumMember(cls, types.int64) if issubclass(cls, enum.IntEnum) else EnumMember(cls, types.int64)


def _class(cls):
    if issubclass(cls, Type):
        return TypeRef(cls)
    if issubclass(cls, BaseException):
        return ExceptionClass(cls)
    if issubclass(cls, enum.Enum):
        return EnumClass(cls)
    return NamedTupleClass(cls) if issubclass(cls, tuple) else ClassType(cls)


def _function(function):
    if isinstance(function, _tierup.Dispatcher) or hasattr(function, "__code__"):
        return Dispatcher(function)
    of_c = type(function).__module__.startswith(("_ctypes", "ctypes", "_cffi_backend", "cffi")) or type(function).__name__ in ("CFunctionType", "_FuncPtr", "cython_function_or_method", "fused_cython_function")
    return ExternalFunctionPointer(function) if of_c else Function(function)


def _type_object(t):
    """What a type is as a value: what converts to its numbers, or one that objects have."""
    return TypeRef(t) if isinstance(t, StructRef | types.ClassInstanceType) else types.DType(t)


def _text(text):
    if text == "slice":
        return slice3_type
    return npy_rng if text == "Generator" else strong(from_text(text))


_MAKERS = {
    "text": lambda about, _: _text(about),
    "optional": lambda _, inside: Optional(made(inside[0])),
    "tuple": lambda _, inside: BaseTuple.from_types(map(made, inside)),
    "named": lambda about, inside: _named(about, [made(m) for m in inside]),
    "keyed": lambda about, inside: LiteralStrKeyDict(about[0], [made(m) for m in inside], about[1]),
    "object": _instance,
    "member": lambda about, _: _member(about),
    "list": lambda _, inside: types.List(made(inside[0])),
    "set": lambda _, inside: Set(made(inside[0])),
    "dict": lambda _, inside: types.DictType(*map(made, inside)),
    "slice": lambda _, inside: slice2_type if inside[2][0] == "text" and inside[2][1] == "none" else slice3_type,
    "function": lambda about, _: _function(about),
    "closure": lambda about, _: MakeFunctionLiteral(about),
    "builtin": lambda about, _: Function(about),
    "class": lambda about, _: _class(about),
    "module": lambda about, _: Module(about),
    "generator": lambda about, inside: Generator(about, made(inside[0])),
    "dtype": lambda _, inside: _type_object(made(inside[0])),
    "range": lambda _, __: range_type,
    "undefined": lambda _, __: undefined,
}


def made(told):
    """The object for what the compiler says of a type: its kind, what it is about, and types inside of it."""
    kind, about, inside = told
    return _MAKERS[kind](about, inside)


def typeof(obj):
    """The type of an object as typing functions see it: Python's numbers are Numba's, slices and members of enums have types of their own. `numba.typeof`."""
    if types._typeof_function(type(obj)) is not None or isinstance(obj, _tierup.Struct):
        return types.typeof(obj)
    known = getattr(obj, "_numba_type_", None)
    if isinstance(known, Type):
        return known
    if isinstance(obj, enum.Enum):
        _check_enum(type(obj))
        return _member(type(obj))
    if isinstance(obj, type) and issubclass(obj, enum.Enum):
        _check_enum(obj)
    if isinstance(obj, slice):
        return slice2_type if obj.step in (None, 1) else slice3_type
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(obj, numpy.random.BitGenerator):
        return npy_bitgen
    return _tierup.type_object(obj)


def _check_enum(cls):
    """The values of an enumeration are of one type."""
    found = {str(typeof(m.value)) for m in cls}
    if len(found) > 1:
        raise ValueError(f"Cannot type heterogeneous enum: got value types {', '.join(sorted(found))}")


def written_out(t, value):
    """The type of a list or a dict that is written out with these constants; the type itself of anything else."""
    if not isinstance(value, tuple):
        return t
    if isinstance(t, LiteralStrKeyDict):
        return t.valued(value) if len(value) == len(t.names) else t
    if not isinstance(t, (types.List, types.DictType)) or any(type(v) not in (int, bool, str) for v in value):
        return t
    return t.with_initial(list(value) if isinstance(t, types.List) else dict(zip(value[::2], value[1::2], strict=True)))


def valued(t, value):
    """The type of an operand whose value is known; the type itself where Numba has no literal type for such a value."""
    if isinstance(t, BaseTuple) and isinstance(value, tuple) and len(value) == t.count and type(value) is tuple:
        return BaseTuple.from_types([valued(m, v) for m, v in zip(t.types, value, strict=True)])
    if isinstance(t, (types.List, types.DictType, LiteralStrKeyDict)):
        return t
    if type(value) in (int, bool, str) and (type(value) is not int or isinstance(t, Integer)):
        return maybe_literal(value)
    return t

