"""Types as objects, with Numba's names: `float64`, `float64[:, ::1]`, `int64(int64, float64)`, `Tuple((int64, float64))`, `List(int64)`, `optional(int64)`.

Types are equal when they say the same. `int`, `float` and `complex` below are the *weak* types of Python's own numbers, which take the width of what they meet
(as NumPy 2 does); they compare equal to `int64`, `float64` and `complex128`, under which Numba knows them.
"""

import builtins as _builtins
import itertools as _itertools
import operator as _operator
import weakref as _weakref

from . import _tierup

_known = _weakref.WeakValueDictionary()
_codes = _itertools.count()


class _OnceEach(type):
    """There is one object for each type that is alive, so `is` works as `==` does, also for those that come out of a pickle."""

    def __call__(cls, *args, **named):
        made = super().__call__(*args, **named)
        found = _known.setdefault((cls, *made._parts()), made)
        if found is made:
            made._code = next(_codes)
        return found


class Type(metaclass=_OnceEach):
    """Base of all types. `_tierup_type_` is what the compiler calls it, `_code` a number that no other type has had in this process."""

    def __init__(self, text):
        self._tierup_type_ = text

    def _parts(self):
        """What tells it from other types of its class."""
        return self._tierup_type_, self.key

    @property
    def name(self):
        return self._tierup_type_

    @property
    def key(self):
        return _STRONG.get(self._tierup_type_, self._tierup_type_)

    def __eq__(self, other):
        return isinstance(other, Type) and self.key == other.key

    def __hash__(self):
        return hash(self.key)

    def __repr__(self):
        return self._tierup_type_

    def __call__(self, *args):
        """`ret(arg, ...)` is a signature."""
        return Signature(self, args)

    def __getitem__(self, index):
        """`dtype[:, ::1]` is an array type."""
        return Array(self, *_array_of(index))

    def __reduce__(self):
        return from_text, (self._tierup_type_,)

    def is_precise(self):
        return True


class Number(Type):
    """A scalar. Calling it with a number converts that, calling it with types gives a signature. Types of one kind are ordered by their width."""

    def __init__(self, text, bits):
        super().__init__(text)
        self.bitwidth = bits

    def __call__(self, *args):
        if len(args) == 1 and not isinstance(args[0], (Type, Signature)) and args[0] is not None:
            return self.cast_python_value(args[0])
        return super().__call__(*args)

    def cast_python_value(self, value):
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
    pass


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
        return not self.key.startswith("u")

    @property
    def maxval(self):
        return (1 << self.bitwidth - self.signed) - 1

    @property
    def minval(self):
        return -(1 << self.bitwidth - 1) if self.signed else 0


class Float(Number):
    pass


class Complex(Number):
    pass


class Array(Type):
    """An array of `ndim` dimensions; `layout` is C, F or A (strided)."""

    def __init__(self, dtype, ndim, layout="A", readonly=False, name=None, aligned=True):
        if layout not in ("C", "F", "A"):
            raise ValueError(f"the layout of an array type is C, F or A, not {layout!r}")
        layout = "C" if ndim <= 1 and layout == "F" else layout
        self.dtype, self.ndim, self.layout, self.mutable, self.aligned = dtype, ndim, layout, not readonly, aligned
        super().__init__(f"array({_text(dtype, strong=True)}, {ndim}d, {layout}{', readonly' if readonly else ''})")

    def _parts(self):
        return *super()._parts(), self.aligned

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        return Array(dtype or self.dtype, self.ndim if ndim is None else ndim, layout or self.layout, not self.mutable if readonly is None else readonly)

    @property
    def is_contig(self):
        return self.layout in "CF"


class CPointer(Type):
    """A pointer of C to numbers, for `cfunc`: `CPointer(float64)`. Compiled code may index it, and makes arrays of it by `carray`."""

    def __init__(self, dtype):
        if not isinstance(dtype, Number):
            raise TypeError(f"compiled code knows pointers to numbers, not to {dtype}")
        self.dtype = dtype
        super().__init__(f"array({_text(dtype, strong=True)}, 1d, C)")

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


class BaseTuple(Type):
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
        return UniTuple(types[0], len(types)) if types and len({t._tierup_type_ for t in types}) == 1 else Tuple(types)

    @property
    def key(self):
        return f"tuple({', '.join(_text(t, strong=True) for t in self.types)})"

    def __len__(self):
        return self.count

    def __iter__(self):
        return iter(self.types)

    def __getitem__(self, index):
        return self.types[index]


class Tuple(BaseTuple):
    """`Tuple((int64, float64))`."""


class UniTuple(BaseTuple):
    """`UniTuple(int64, 3)`."""

    def __init__(self, dtype, count):
        self.dtype = dtype
        super().__init__((dtype,) * count)


class List(Type):
    def __init__(self, dtype, reflected=False):
        self.dtype, self.reflected = as_type(dtype), reflected
        super().__init__(f"list({_text(dtype)})")

    @property
    def item_type(self):
        return self.dtype

    def _parts(self):
        return *super()._parts(), self.reflected

    @property
    def key(self):
        return f"list({_text(self.dtype, strong=True)})"

    def __getitem__(self, index):
        """A list of arrays is no type of arrays: `List(t)[0]` is the type of its elements."""
        return self.dtype if isinstance(index, _builtins.int) else super().__getitem__(index)


class DictType(Type):
    """`DictType(unicode_type, float64)`: dicts of such keys and values."""

    def __init__(self, keyty, valty):
        self.key_type, self.value_type = as_type(keyty), as_type(valty)
        super().__init__(f"dict({_text(self.key_type)}, {_text(self.value_type)})")

    @property
    def key(self):
        return f"dict({_text(self.key_type, strong=True)}, {_text(self.value_type, strong=True)})"


class Optional(Type):
    def __init__(self, type):
        self.type = as_type(type)
        super().__init__(f"optional({_text(type)})")

    @property
    def key(self):
        return f"optional({_text(self.type, strong=True)})"


class DType(Type):
    """The type of `np.dtype("float64")`, and of the class `np.float64`: compiled code tells them not apart. In brackets it is what its numbers are there, an array type."""

    def __init__(self, dtype):
        self.dtype = as_type(dtype)
        super().__init__(f"dtype({_text(self.dtype, strong=True)})")

    def __getitem__(self, index):
        return self.dtype[index]


class FunctionType(Type):
    """A function as an argument, by its signature: `FunctionType(float64(float64))`, or the signature itself where an argument's type is wanted.

    A function is compiled anew for each function that it is given, so signatures with such a type are compiled when they are first called.
    """

    def __init__(self, signature):
        self.signature = signature if isinstance(signature, Signature) else Signature(*reversed(signatures(signature)[0]))
        super().__init__(f"function({self.signature})")

    def __reduce__(self):
        return FunctionType, (self.signature,)


class Opaque(Type):
    """A type that is only known by name: functions, modules, ranges."""


class NoneType(Opaque):
    """The type of None, and of functions that return nothing."""


class PyObject(Opaque):
    """Any object: what arguments and results of functions are that Python runs, `jit(pyobject(pyobject), forceobj=True)`. Compiled code has no such values."""


class Signature:
    """Argument types and the result type, which may be None for "whatever it gives"."""

    def __init__(self, return_type, args):
        self.return_type, self.args = return_type, tuple(args)

    def __repr__(self):
        return f"({', '.join(map(repr, self.args))}) -> {self.return_type}"

    def __eq__(self, other):
        return isinstance(other, Signature) and (self.return_type, self.args) == (other.return_type, other.args)

    def __hash__(self):
        return hash((self.return_type, self.args))

    def __iter__(self):
        return iter((self.return_type, self.args))


class Overload:
    """What is known of one compiled combination of argument types."""

    def __init__(self, dispatcher, index, args, ret, why):
        self._dispatcher, self._index = dispatcher, index
        self.signature = Signature(from_text(ret), [from_text(t) for t in args])
        self.fallback_reason = why

    @property
    def objectmode(self):
        """Whether Python runs it."""
        return self.fallback_reason is not None

    @property
    def compile_times(self):
        """Seconds by phase."""
        found = _tierup.compile_times(self._dispatcher, self._index)
        return dict(zip(("infer", "lower", "optimise", "backend"), found[0])) if found else {}

    @property
    def code_size(self):
        found = _tierup.compile_times(self._dispatcher, self._index)
        return found[1] if found else 0

    def inspect(self, level="typed"):
        return _tierup.inspect(self._dispatcher, self._index, level)

    def __repr__(self):
        return f"<overload {self.signature}{'' if self.fallback_reason is None else ', plain Python'}>"


def signature(return_type, *args):
    return Signature(return_type, args)


def _text(t, strong=False):
    if not isinstance(t, Type):
        t = as_type(t)
    return t.key if strong else t._tierup_type_


def _array_of(index):
    """(ndim, layout) of what stands in brackets."""
    parts = index if isinstance(index, tuple) else (index,)
    for p in parts:
        if not isinstance(p, slice) or p.start is not None or p.stop is not None or p.step not in (None, 1):
            raise TypeError(f"an array type is written with colons and ::1, as in float64[:, ::1]; {p!r} means nothing there")
    unit = [p.step == 1 for p in parts]
    if sum(unit) > 1 or any(unit[1:-1]):
        raise TypeError("only the first or the last dimension of an array type can be ::1")
    return len(parts), "C" if unit[-1] else "F" if unit[0] else "A"


# ---------------------------------------------------------------- the names

_STRONG = {"int": "int64", "float": "float64", "complex": "complex128"}
_NUMPY = {"bool": "bool_"}

none = void = NoneType("none")
boolean = bool_ = b1 = Boolean("bool", 1)
int8, int16, int32, int64 = (Integer(f"int{n}", n) for n in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (Integer(f"uint{n}", n) for n in (8, 16, 32, 64))
float32, float64 = Float("float32", 32), Float("float64", 64)
complex64, complex128 = Complex("complex64", 64), Complex("complex128", 128)
unicode_type = string = Opaque("str")
bytes_type, bytearray_type = Opaque("bytes"), Opaque("bytearray")
ellipsis = Opaque("ellipsis")
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
f4, f8, c8, c16 = float32, float64, complex64, complex128

optional = Optional
ListType = List
# Numba's class of types without values in compiled code.
Dummy = Opaque
NumberClass = DType

_SCALARS = {t._tierup_type_: t for t in (none, boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64, complex128,
                                         unicode_type, bytes_type, bytearray_type, ellipsis, pyobject, py_int, py_float, py_complex)}

__all__ = [n for n, v in globals().items() if not n.startswith("_") and (isinstance(v, Type) or isinstance(v, type) and issubclass(v, Type))] + [
    "Signature", "signature", "typeof", "signed_domain", "unsigned_domain", "integer_domain", "real_domain", "complex_domain", "number_domain"]


def typeof(obj):
    """The type that compiled code gives `obj`."""
    return from_text(_tierup.type_text(obj))


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
    import numpy
    return from_dtype(numpy.dtype(obj))


def from_dtype(dtype):
    """The scalar type of a NumPy dtype."""
    import numpy
    found = _SCALARS.get(numpy.dtype(dtype).name)
    if found is None:
        raise _bad(f"compiled code has no type for dtype {dtype}")
    return found


def as_dtype(t):
    """The NumPy dtype of a scalar type."""
    import numpy
    return numpy.dtype(_NUMPY.get(t.key, t.key))


def from_text(text):
    """The type that the compiler prints as `text`."""
    if text in _SCALARS:
        return _SCALARS[text]
    head, _, rest = text.partition("(")
    if rest.endswith(")"):
        parts = _split(rest[:-1])
        if head == "array":
            return Array(from_text(parts[0]), _builtins.int(parts[1][:-1]), parts[2], "readonly" in parts[3:])
        if head == "tuple":
            return BaseTuple.from_types([from_text(p) for p in parts])
        if head == "list":
            return List(from_text(parts[0]))
        if head == "dict":
            return DictType(*map(from_text, parts))
        if head == "optional":
            return Optional(from_text(parts[0]))
        if head == "dtype":
            return DType(from_text(parts[0]))
    return Opaque(text)


def _split(text):
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def is_foreign(t):
    """Whether compiled code has no values of a type."""
    return isinstance(t, Opaque) and (t is pyobject or t._tierup_type_ not in _SCALARS)


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
