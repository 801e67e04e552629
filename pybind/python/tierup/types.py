"""Types as objects, with Numba's names: `float64`, `float64[:, ::1]`, `int64(int64, float64)`, `Tuple((int64, float64))`, `List(int64)`, `optional(int64)`.

Types are equal when they say the same. `int`, `float` and `complex` below are the *weak* types of Python's own numbers, which take the width of what they meet
(as NumPy 2 does); they compare equal to `int64`, `float64` and `complex128`, under which Numba knows them.
"""

import builtins as _builtins
import itertools as _itertools
import operator as _operator
import weakref as _weakref

from . import _tierup
from ._signatures import Overload, Signature, signature  # noqa: F401
from ._type_texts import from_text

_known = _weakref.WeakValueDictionary()
_codes = _itertools.count()


class _OnceEach(type):
    """There is one object for each type that is alive, so `is` works as `==` does, also for those that come out of a pickle."""

    def __call__(cls, *args, **named):
        return _once(super().__call__(*args, **named))


def _once(made):
    """The one object of a type."""
    found = _known.setdefault((_builtins.type(made), *made._parts()), made)
    if found is made:
        made._code = next(_codes)
    return found


def _rebuilt(cls, state):
    """A type of a class of the program's, out of a pickle."""
    made = cls.__new__(cls)
    made.__dict__.update(state)
    return _once(made)


class _NoNotation(TypeError, KeyError):
    """What stands in the brackets of an array type means nothing there."""

    __str__ = Exception.__str__


class Type(metaclass=_OnceEach):
    """Base of all types. `_tierup_type_` is what the compiler calls it, `_code` a number that no other type has had in this process."""

    def __init__(self, name):
        self._tierup_type_ = name

    def _parts(self):
        """What tells it from other types of its class."""
        return self._tierup_type_, self.key

    @property
    def name(self):
        """The compiler's text for it."""
        return self._tierup_type_

    @property
    def key(self):
        """What is equal for types that are equal."""
        return _STRONG.get(self._tierup_type_, self._tierup_type_)

    def __eq__(self, other):
        return isinstance(other, Type) and self.key == other.key and (_builtins.type(self) is _builtins.type(other) or self.__module__ == other.__module__ == __name__)

    def __hash__(self):
        return hash(self.key)

    def __repr__(self):
        return self._tierup_type_

    #: Where a type makes scalars of NumPy's of Python's values, what does.
    cast_python_value = None

    def __call__(self, *args):
        """`ret(arg, ...)` is a signature; of a type of NumPy's scalars a value is made one."""
        if self.cast_python_value is not None and len(args) == 1 and not isinstance(args[0], (Type, Signature)) and args[0] is not None:
            return self.cast_python_value(args[0])
        return Signature(self, args)

    def __getitem__(self, index):
        """`dtype[:, ::1]` is an array type."""
        return Array(self, *_array_of(index))

    def __reduce__(self):
        if self.__module__ == __name__ and not isinstance(self, Dummy):
            return from_text, (self._tierup_type_,)
        return _rebuilt, (_builtins.type(self), {name: value for name, value in self.__dict__.items() if name != "_code"})

    def is_precise(self):
        """Whether nothing about it is open, which holds of all types here."""
        return True

    @property
    def is_internal(self):
        """Whether it is none of a program's own."""
        return self.__module__.startswith("tierup.")


# What typing functions ask of types (`isinstance`), as Numba groups them.


class Dummy(Type):
    """A type without values of its own in compiled code, or one that is only known by name."""


class Opaque(Dummy):
    """A type that is only known by name: modules, ranges of other libraries."""


class Hashable(Type):
    """Values that may be keys."""


class Callable(Type):
    """What can be called."""


class IterableType(Type):
    """What a loop goes through."""


class Sized(Type):
    """What has a length."""


class ConstSized(Sized):
    """What has a length that its type says."""


class Container(Sized, IterableType):
    """What holds elements."""


class Sequence(Container):
    """Containers whose elements have numbers."""


class MutableSequence(Sequence):
    """Those that may change."""


class ArrayCompatible(Type):
    """What functions on arrays take as one."""


class Buffer(IterableType, ArrayCompatible):
    """Memory with elements at regular places."""

    def __init__(self, dtype, ndim, layout, readonly=False, name=None):
        self.dtype, self.ndim, self.layout, self.mutable = dtype, ndim, layout, not readonly
        super().__init__(name or f"{_builtins.type(self).__name__}({dtype}, {ndim}d, {layout})")


class DTypeSpec(Type):
    """What says the type of an array's elements."""


class Number(Hashable):
    """A scalar. Calling it with a number converts that, calling it with types gives a signature. Types of one kind are ordered by their width."""

    def __init__(self, text, bits):
        super().__init__(text)
        self.bitwidth = bits

    def cast_python_value(self, value):
        """A Python number as NumPy's scalar of this type."""
        import numpy
        return getattr(numpy, _NUMPY.get(self.key, self.key))(value)

    def _compared(self, other, holds):
        if not isinstance(other, Number) or type(self) is not type(other) or getattr(self, "signed", None) != getattr(other, "signed", None):
            return NotImplemented
        return holds(self.bitwidth, other.bitwidth)

    def __lt__(self, other):
        return self._compared(other, _operator.lt)

    def __le__(self, other):
        return self._compared(other, _operator.le)

    def __gt__(self, other):
        return self._compared(other, _operator.gt)

    def __ge__(self, other):
        return self._compared(other, _operator.ge)


class Boolean(Number):
    """`bool`."""


class Integer(Number):
    @classmethod
    def from_bitwidth(cls, bitwidth, signed=True):
        """The integer type of that many bits."""
        found = _SCALARS.get(f"{'' if signed else 'u'}int{bitwidth}")
        if found is None:
            raise ValueError(f"there is no integer type of {bitwidth} bits")
        return found

    @property
    def signed(self):
        """Whether it has negative numbers."""
        return not self.key.startswith("u")

    @property
    def maxval(self):
        """The largest number."""
        return (1 << self.bitwidth - self.signed) - 1

    @property
    def minval(self):
        """The smallest number."""
        return -(1 << self.bitwidth - 1) if self.signed else 0


class Float(Number):
    pass


class Complex(Number):
    @property
    def underlying_float(self):
        """The type of its parts."""
        return float32 if self.bitwidth == 64 else float64


class Array(Buffer):
    """An array of `ndim` dimensions; `layout` is C, F or A (strided)."""

    def __init__(self, dtype, ndim, layout="A", readonly=False, name=None, aligned=True):
        if layout not in ("C", "F", "A"):
            raise ValueError(f"the layout of an array type is C, F or A, not {layout!r}")
        while isinstance(dtype, NestedArray):
            # Dimensions of elements are dimensions of the array.
            dtype, ndim = dtype.dtype, ndim + dtype.ndim
        layout = "C" if ndim <= 1 and layout == "F" else layout
        self.dtype, self.ndim, self.layout, self.mutable, self.aligned = dtype, ndim, layout, not readonly, aligned and getattr(dtype, "aligned", True)
        Type.__init__(self, f"array({_text(dtype, strong=True)}, {ndim}d, {layout}{', readonly' if readonly else ''})")

    def _parts(self):
        return *super()._parts(), self.aligned

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        """The same type with another dtype, number of dimensions, layout (`C`, `F`, `A`), or for reading only."""
        return Array(dtype or self.dtype, self.ndim if ndim is None else ndim, layout or self.layout, not self.mutable if readonly is None else readonly)

    @property
    def is_contig(self):
        """Whether elements lie without gaps: layout `C` or `F`."""
        return self.layout in "CF"


class CPointer(Type):
    """A pointer of C to numbers or records, for `cfunc`: `CPointer(float64)`. Compiled code may index it, and makes arrays of it by `carray`."""

    def __init__(self, dtype):
        self.dtype = dtype
        known = isinstance(dtype, (Number, Record))
        if not known and not isinstance(dtype, (CPointer, RawPointer)):
            raise TypeError(f"compiled code knows pointers to numbers and records, not to {dtype}")
        # Pointers to pointers are types to ask about; no code takes them.
        super().__init__(f"array({dtype.key}, 1d, C)" if known else self.key)

    @property
    def key(self):
        return f"CPointer({self.dtype.key})"

    def __repr__(self):
        return self.key

    def __reduce__(self):
        return CPointer, (self.dtype,)


class RawPointer(Type):
    """A pointer of C to whatever it is: `voidptr`."""

    def __init__(self, name):
        self._name = name
        super().__init__("array(uint8, 1d, C)")

    @property
    def key(self):
        return self._name

    def __repr__(self):
        return self._name

    def __reduce__(self):
        return RawPointer, (self._name,)


class BaseTuple(ConstSized, Hashable):
    def __init__(self, types):
        if isinstance(types, Type):
            raise _bad(f"Argument 'types' is not iterable: write Tuple(({types},)) for the tuple of one {types}")
        self.types = tuple(types)
        self.count = len(self.types)
        super().__init__(f"tuple({', '.join(map(_text, self.types))})")

    @classmethod
    def from_types(cls, types):
        """The tuple type of these members: a UniTuple where they are all the same."""
        types = tuple(map(as_type, types))
        return UniTuple(types[0], len(types)) if types and len({(t._tierup_type_, t.key) for t in types}) == 1 else Tuple(types)

    @property
    def key(self):
        keys = [_text(t, strong=True) for t in self.types]
        # Types that say values have other keys than texts.
        return f"tuple({', '.join(keys)})" if all(isinstance(k, str) for k in keys) else (BaseTuple, *keys)

    def __len__(self):
        return self.count

    def __bool__(self):
        # That of () is a type too.
        return True

    def __iter__(self):
        return iter(self.types)

    def __getitem__(self, index):
        return self.types[index]


class Tuple(BaseTuple):
    """`Tuple((int64, float64))`."""


class UniTuple(BaseTuple, Sequence):
    """`UniTuple(int64, 3)`."""

    def __init__(self, dtype, count):
        self.dtype = dtype
        super().__init__((dtype,) * count)


class List(MutableSequence):
    """Lists of such elements. A typing function that is asked about one that is written out finds its constants as `initial_value`, whatever became of it later."""

    def __init__(self, dtype, reflected=False, initial_value=None):
        self.dtype, self.reflected, self.initial_value = as_type(dtype), reflected, initial_value
        super().__init__(f"list({_text(dtype)})")

    @property
    def item_type(self):
        """The type of elements, under another of Numba's names."""
        return self.dtype

    def _parts(self):
        return *super()._parts(), self.reflected, repr(self.initial_value)

    def with_initial(self, value):
        """The same type with the value that a list begins with."""
        return List(self.dtype, self.reflected, value)

    @property
    def key(self):
        return f"list({_text(self.dtype, strong=True)})"

    def __getitem__(self, index):
        """A list of arrays is no type of arrays: `List(t)[0]` is the type of its elements."""
        return self.dtype if isinstance(index, _builtins.int) else super().__getitem__(index)


class DictType(IterableType):
    """`DictType(unicode_type, float64)`: dicts of such keys and values."""

    def __init__(self, keyty, valty, initial_value=None):
        self.key_type, self.value_type, self.initial_value = as_type(keyty), as_type(valty), initial_value
        super().__init__(f"dict({_text(self.key_type)}, {_text(self.value_type)})")

    def _parts(self):
        return *super()._parts(), repr(self.initial_value)

    def with_initial(self, value):
        """The same type with the value that a dict begins with."""
        return DictType(self.key_type, self.value_type, value)

    @property
    def key(self):
        return f"dict({_text(self.key_type, strong=True)}, {_text(self.value_type, strong=True)})"


class Optional(Type):
    def __init__(self, type):
        self.type = as_type(type)

    def _parts(self):
        return (self.type,)

    @property
    def _tierup_type_(self):
        return f"optional({_text(self.type)})"

    @property
    def key(self):
        return f"optional({_text(self.type, strong=True)})"


# Made of what stands above, and made use of below.
from ._element_types import CharSeq, NestedArray, NPDatetime, NPTimedelta, Record, UnicodeCharSeq, _time  # noqa: E402, F401


def _of_annotation(t):
    """The type that an annotation of a field stands for, one of Python's such as `list[float]` included."""
    try:
        return as_type(t)
    except TypeError:
        from ._extensions import as_numba_type
        return as_numba_type(t)


class ClassInstanceType(Type):
    """Objects of a class in native memory, a `jitclass` or a `tierup.struct`. The compiler's name for it is made when it is first asked for, for fields may be declared later."""

    def __init__(self, cls):
        self.cls = cls

    def _parts(self):
        return (self.cls,)

    @property
    def _tierup_type_(self):
        return _tierup.declared_type(self.cls)

    @property
    def class_type(self):
        """The type of the class itself."""
        return self.cls.class_type

    @property
    def key(self):
        return self.cls

    @property
    def name(self):
        return f"instance of {self.cls.__qualname__}"

    @property
    def struct(self):
        """What each field holds, by name."""
        return {name: _of_annotation(t) for name, t in self.cls._tierup_annotations_().items()}

    def __repr__(self):
        return self.name

    def __reduce__(self):
        return ClassInstanceType, (self.cls,)


class DeferredType(Type):
    """A type that is said later (`define`): for fields that hold objects of the class that is being made."""

    def __init__(self):
        self._said = None

    def _parts(self):
        return (_builtins.id(self),)

    def define(self, t):
        """Says which type it is. TypeError where that has been said, or for what is no type."""
        if self._said is not None:
            raise TypeError("deferred type already defined")
        if not isinstance(t, Type):
            raise TypeError(f"arg is not a Type; got {_builtins.type(t)}")
        self._said = t

    def get(self):
        """The type that it is. RuntimeError before that has been said."""
        if self._said is None:
            raise RuntimeError("deferred type not defined")
        return self._said

    @property
    def _tierup_type_(self):
        return self.get()._tierup_type_

    @property
    def key(self):
        return (DeferredType, _builtins.id(self)) if self._said is None else self._said.key

    @property
    def name(self):
        return "deferred type" if self._said is None else self._said.name

    def __repr__(self):
        return self.name


class DType(Callable, DTypeSpec, Opaque):
    """The type of `np.dtype("float64")`, and of the class `np.float64`: compiled code tells them not apart. In brackets it is what its numbers are there, an array type."""

    def __init__(self, dtype):
        self.dtype = as_type(dtype)
        super().__init__(f"dtype({_text(self.dtype, strong=True)})")

    def __getitem__(self, index):
        return self.dtype[index]


class FunctionType(Callable):
    """A function as an argument, by its signature: `FunctionType(float64(float64))`, or the signature itself where an argument's type is wanted.

    A function is compiled anew for each function that it is given, so signatures with such a type are compiled when they are first called.
    """

    def __init__(self, signature):
        self.signature = signature if isinstance(signature, Signature) else Signature(*reversed(signatures(signature)[0]))
        super().__init__(f"function({self.signature})")

    def __reduce__(self):
        return FunctionType, (self.signature,)


class UnicodeType(IterableType, Hashable):
    """`str`."""


class Bytes(Buffer):
    """`bytes`."""

    ndim, layout, mutable = 1, "C", False

    def __init__(self, name="bytes", ndim=1, layout="C", readonly=True):
        # What Numba has in their places: the type of elements, of which there is one.
        if isinstance(name, Type) and (name.key, ndim, layout) != ("uint8", 1, "C"):
            raise _bad(f"{_builtins.type(self).__name__} has elements of the type uint8, one dimension and the layout C")
        Type.__init__(self, _builtins.type(self).__name__.lower() if isinstance(name, Type) else name)

    @property
    def dtype(self):
        """The type of elements: `uint8`."""
        return uint8


class ByteArray(Bytes):
    """`bytearray`."""

    mutable = True


class EllipsisType(Opaque):
    """The type of `...`."""


class NoneType(Opaque):
    """The type of None, and of functions that return nothing."""


class PyObject(Opaque):
    """Any object: what arguments and results of functions are that Python runs, `jit(pyobject(pyobject), forceobj=True)`. Compiled code has no such values."""


def _text(t, strong=False):
    if not isinstance(t, Type):
        t = as_type(t)
    return t.key if strong else t._tierup_type_


def _array_of(index):
    """(ndim, layout) of what stands in brackets."""
    parts = index if isinstance(index, tuple) else (index,)
    for p in parts:
        if not isinstance(p, slice) or p.start is not None or p.stop is not None or p.step not in (None, 1):
            raise _NoNotation(f"an array type is written with colons and ::1, as in float64[:, ::1]; {p!r} means nothing there. Can only index numba types with slices with no start or stop, got {index!r}.")
    unit = [p.step == 1 for p in parts]
    if sum(unit) > 1 or any(unit[1:-1]):
        raise _NoNotation("only the first or the last dimension of an array type can be ::1")
    return len(parts), "C" if unit[-1] else "F" if unit[0] else "A"


# ---------------------------------------------------------------- the names

_STRONG = {"int": "int64", "float": "float64", "complex": "complex128"}
_NUMPY = {"bool": "bool_"}

none = void = NoneType("none")
boolean = bool_ = b1 = Boolean("bool", 1)
int8, int16, int32, int64 = (Integer(f"int{n}", n) for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (Integer(f"uint{n}", n) for n in (8, 16, 32, 64))
float16, float32, float64 = Float("float16", 16), Float("float32", 32), Float("float64", 64)
complex64, complex128 = Complex("complex64", 64), Complex("complex128", 128)
unicode_type = string = UnicodeType("str")
bytes_type, bytearray_type = Bytes("bytes"), ByteArray("bytearray")
ellipsis = EllipsisType("ellipsis")
py_int, py_float, py_complex = Integer("int", 64), Float("float", 64), Complex("complex", 128)

pyobject = ffi_forced_object = PyObject("pyobject")

voidptr = RawPointer("voidptr")

# The numbers by kind.
signed_domain = frozenset([int8, int16, int32, int64])
unsigned_domain = frozenset([uint8, uint16, uint32, uint64])
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset([float32, float64])
complex_domain = frozenset([complex64, complex128])
number_domain = real_domain | integer_domain | complex_domain

byte = uchar = uint8
char = int8
short, ushort = int16, uint16
intc, uintc = int32, uint32
int_ = intp = long_ = longlong = ssize_t = int64
uint = uintp = ulong = ulonglong = size_t = uint64
float_ = double = float64
single = float32
i1, i2, i4, i8 = int8, int16, int32, int64
u1, u2, u4, u8 = uint8, uint16, uint32, uint64
f2, f4, f8, c8, c16 = float16, float32, float64, complex64, complex128
half = float16

optional = Optional
deferred_type = DeferredType
ListType = List
NumberClass = DType

_SCALARS = {t._tierup_type_: t for t in (none, boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64, complex64, complex128,
                                         unicode_type, bytes_type, bytearray_type, ellipsis, pyobject, py_int, py_float, py_complex)}

__all__ = [n for n, v in globals().items() if not n.startswith("_") and (isinstance(v, Type) or isinstance(v, type) and issubclass(v, Type))] + [
    "Signature", "signature", "typeof", "signed_domain", "unsigned_domain", "integer_domain", "real_domain", "complex_domain", "number_domain"]


# What a program says of its own classes (`extending.typeof_impl`).
_typeof_functions = {}


def _typeof_function(cls):
    """The function that gives the types of a class's instances; None where there is none. A class may also say it by an attribute of its instances."""
    found = next((_typeof_functions[c] for c in cls.__mro__ if c in _typeof_functions), None) if _typeof_functions else None
    if found is None and hasattr(cls, "_numba_type_"):
        found = _said_by_attribute
    return found


def _said_by_attribute(obj, c):
    return obj._numba_type_


def typeof(obj):
    """The type that compiled code gives `obj`."""
    if isinstance(obj, _tierup.Struct):
        return _of_struct(_builtins.type(obj))
    if hasattr(obj, "_tierup_known_"):
        return obj._tierup_known_
    function = _typeof_function(_builtins.type(obj))
    if function is not None:
        found = function(obj, None)
        # None says that there is none for this one.
        if found is not None:
            return found
    return from_text(_tierup.type_text(obj))


def _of_struct(cls):
    """The type of the instances of a class in native memory."""
    return getattr(cls, "_tierup_structref_", None) or ClassInstanceType(cls)


def as_type(obj):
    """A type from a type, a NumPy dtype or scalar class, `int`, `float`, `bool`, `complex`, `str`, `bytes`, `bytearray`, None, or text."""
    if isinstance(obj, Type):
        return obj
    if isinstance(obj, Signature):
        return FunctionType(obj)
    plain = {_builtins.int: int64, _builtins.float: float64, _builtins.bool: boolean, _builtins.complex: complex128, _builtins.str: unicode_type, _builtins.bytes: bytes_type, _builtins.bytearray: bytearray_type, None: none, type(None): none}
    try:
        if obj in plain:
            return plain[obj]
    except TypeError:
        pass
    if isinstance(obj, str):
        return _evaluate(obj)
    if isinstance(obj, _builtins.type) and issubclass(obj, _tierup.Struct):
        return _of_struct(obj)
    import numpy
    return from_dtype(numpy.dtype(obj))


def from_dtype(dtype):
    """The scalar type of a NumPy dtype."""
    import numpy
    dtype = numpy.dtype(dtype)
    if dtype.names is not None:
        return Record.of(dtype)
    if dtype.subdtype is not None:
        return NestedArray(from_dtype(dtype.subdtype[0]), dtype.subdtype[1])
    if dtype.kind in "US" and dtype.isnative:
        return (UnicodeCharSeq if dtype.kind == "U" else CharSeq)(dtype.itemsize // (4 if dtype.kind == "U" else 1))
    # Others have the same names.
    found = (_SCALARS.get(dtype.name) or _time(dtype.name)) if dtype.isnative else None
    if found is None and dtype.kind == "O":
        return pyobject
    if found is None:
        raise _bad(f"compiled code has no type for dtype {dtype}")
    return found


def as_dtype(t):
    """The NumPy dtype of a scalar type, or of records."""
    import numpy
    if isinstance(t, (Record, CharSeq)):
        return t.dtype
    if t is pyobject:
        return numpy.dtype(object)
    if hasattr(t, "instance_class"):
        # Members of an enumeration are as their values are.
        return as_dtype(t.dtype)
    return numpy.dtype(_NUMPY.get(t.key, t.key))


def is_foreign(t):
    """Whether compiled code has no values of a type."""
    return isinstance(t, Dummy) and (t is pyobject or t._tierup_type_ not in _SCALARS)


def holds_function(t):
    """Whether values of a type are functions, or hold some."""
    parts = [*getattr(t, "types", ()), getattr(t, "dtype", None), getattr(t, "type", None), getattr(t, "value_type", None)]
    return isinstance(t, FunctionType) or any(holds_function(p) for p in parts if isinstance(p, Type))


# ---------------------------------------------------------------- signatures

def _bad(text):
    from .errors import TypingError
    e = TypingError(f"{text} [bad-signature]")
    e.code, e.msg = "bad-signature", text
    return e


def _evaluate(text):
    space = {n: globals()[n] for n in __all__ if n in globals()} | {"__builtins__": {}, "None": none}
    try:
        return eval(compile(text.strip(), "<signature>", "eval"), space)
    except Exception as e:
        reason = f"the name {e.name} is no type" if isinstance(e, NameError) else str(e).split(" (<")[0]
        raise _bad(f"the signature {text!r} cannot be understood: {reason}") from None


def signatures(what):
    """[(argument types, result type or None), ...] of anything that Numba takes as a signature, or a list of them."""
    if isinstance(what, list):
        return [one for w in what for one in signatures(w)]
    original = what
    if isinstance(what, str):
        what = _evaluate(what)
    if isinstance(what, Type) and not isinstance(original, str):
        raise _bad(f"{what!r} is a type, not a signature: write {what!r}(...) for a function that gives it, ({what!r},) for one that takes it")
    if isinstance(what, Signature):
        args, ret = what.args, what.return_type
    elif isinstance(what, tuple):
        args, ret = what, None
    else:
        raise _bad(f"{original!r} is no signature")
    try:
        return [(tuple(as_type(t) for t in args), None if ret is None else as_type(ret))]
    except TypeError as e:
        raise _bad(f"{original!r} is no signature: {e}") from None


def __getattr__(name):
    """The rest of Numba's names, which only typing functions ask for."""
    from . import _kinds
    if name in _kinds.NAMES:
        return getattr(_kinds, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
