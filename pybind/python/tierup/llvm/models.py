"""How values of `tierup.types` are values of LLVM: the types that Numba's data models give them, made of the leaves that compiled code has."""

from .. import _kinds, _tierup, types
from .._extensions import is_opaque, own_of
from . import CannotCarry
from .types import ArrayType, Constant, DoubleType, FloatType, IntType, Leaf, LiteralStructType, PointerType, Value

byte, bit, word = IntType(8), IntType(1), IntType(64)
voidptr = PointerType(byte)

#: The length of memory behind a pointer, which nobody knows: as that of the arguments of functions for C.
ENDLESS = (1 << 63) // 64


def leaves_of(t):
    """The machine values of a type: names of their types, and whether each is a counted reference."""
    if isinstance(t, types.Signature):
        return []
    if isinstance(t, types.BaseTuple):
        return [leaf for m in t.types for leaf in leaves_of(m)]
    own = own_of(t)
    if own is not None:
        return _tierup.leaves_of_type(own.text)
    if not type(t).__module__.startswith("tierup."):
        raise CannotCarry(f"a value of type {t}: compiled code has met no instance that `typeof_impl` gives this type")
    if isinstance(t, (types.DType, _kinds._Made)) and not isinstance(t, (_kinds.Set, _kinds.EnumMember, _kinds.SliceType, _kinds.RangeType, _kinds.NumPyRandomGeneratorType)):
        return []
    return _tierup.leaves_of_type(getattr(t, "literal_type", t)._tierup_type_)


_models = {}


def model_of(t):
    """The model of a type."""
    own = own_of(t)
    if own is not None:
        # Two of one name may have other fields.
        return Instance(t) if own.may_change else _Own(t) if own.fields or not is_opaque(t) else Dummy(t)
    found = _models.get(t)
    if found is None:
        found = _models[t] = next(m for cls, m in _MODELS if isinstance(t, cls))(t)
    return found


class Model:
    """`value_type` is the type of its values, `data_type` what they are in memory."""

    #: Names and types of its members, where it is a structure.
    members = ()

    def __init__(self, t):
        self.fe_type = t
        self.value_type = self._type(t)

    @property
    def data_type(self):
        return self.value_type

    def get_value_type(self):
        return self.value_type

    def get_data_type(self):
        return self.data_type

    get_argument_type = get_return_type = get_value_type

    def as_data(self, builder, value):
        return value

    from_data = as_data

    def to_leaves(self, builder, value):
        return list(value.leaves)

    def from_leaves(self, builder, leaves):
        return Value(self.value_type, list(leaves))


class Number(Model):
    def _type(self, t):
        if isinstance(t, types.Boolean):
            return bit
        if isinstance(t, types.Integer):
            return IntType(t.bitwidth)
        if isinstance(t, types.Complex):
            half = FloatType() if t.bitwidth == 64 else DoubleType()
            self.members = (("real", types.float32 if t.bitwidth == 64 else types.float64), ("imag", types.float32 if t.bitwidth == 64 else types.float64))
            return LiteralStructType([half, half])
        return FloatType() if t.bitwidth == 32 else DoubleType()

    @property
    def data_type(self):
        return byte if self.value_type == bit else self.value_type

    def as_data(self, builder, value):
        return builder.zext(value, byte) if self.value_type == bit else value

    def from_data(self, builder, value):
        return builder.icmp_unsigned("!=", value, byte(0)) if self.value_type == bit else value


class Parts(Model):
    """A structure, or an array, of the values of its parts."""

    def _parts(self, t):
        return list(t.types)

    def _type(self, t):
        self.parts = [model_of(p) for p in self._parts(t)]
        each = [p.value_type for p in self.parts]
        return ArrayType(each[0], len(each)) if isinstance(t, types.UniTuple) and each else LiteralStructType(each)

    @property
    def data_type(self):
        each = [p.data_type for p in self.parts]
        return ArrayType(each[0], len(each)) if isinstance(self.fe_type, types.UniTuple) and each else LiteralStructType(each)

    def to_leaves(self, builder, value):
        return [leaf for k, p in enumerate(self.parts) for leaf in p.to_leaves(builder, builder.extract_value(value, k))]

    def from_leaves(self, builder, leaves):
        found, at = [], 0
        for p in self.parts:
            count = len(leaves_of(p.fe_type))
            found += p.from_leaves(builder, leaves[at : at + count]).leaves
            at += count
        return Value(self.value_type, found)


class _Own(Parts):
    """An instance of a class of the program's: the members of its model, by the names of the fields."""

    def _parts(self, t):
        fields = dict(own_of(t).fields)
        said = _registered_members(t)
        self.members = tuple((name, fields.get(name, of)) for name, of in said) if said else tuple(fields.items())
        missing = [name for name, _ in self.members if name not in fields]
        if missing or len(self.members) != len(fields):
            raise CannotCarry(f"the model of {t} has the members {', '.join(n for n, _ in self.members)}, and instances have the fields {', '.join(fields)}")
        return [of for _, of in self.members]

    def _ordered(self):
        names = [name for name, _ in self.members]
        return [names.index(name) for name, _ in own_of(self.fe_type).fields]

    def to_leaves(self, builder, value):
        return [leaf for k in self._ordered() for leaf in self.parts[k].to_leaves(builder, builder.extract_value(value, k))]

    def from_leaves(self, builder, leaves):
        found, at = [None] * len(self.parts), 0
        for k in self._ordered():
            count = len(leaves_of(self.parts[k].fe_type))
            found[k] = self.parts[k].from_leaves(builder, leaves[at : at + count]).leaves
            at += count
        return Value(self.value_type, [leaf for part in found for leaf in part])


def _registered_members(t):
    from .._extensions import registered_model
    model = registered_model(t)
    return None if model is None else model.members


class Optional(Model):
    """A value and whether it is there."""

    def _type(self, t):
        self.of = model_of(t.type)
        self.members = ("data", t.type), ("valid", types.boolean)
        return LiteralStructType([self.of.value_type, bit])

    def to_leaves(self, builder, value):
        return [*builder.extract_value(value, 1).leaves, *self.of.to_leaves(builder, builder.extract_value(value, 0))]

    def from_leaves(self, builder, leaves):
        return Value(self.value_type, [*self.of.from_leaves(builder, leaves[1:]).leaves, leaves[0]])


class Pointer(Model):
    """A pointer of C, which compiled code has as an array without an end, that may own its memory."""

    def _type(self, t):
        return voidptr if isinstance(t, types.RawPointer) else PointerType(model_of(t.dtype).data_type)

    def to_leaves(self, builder, value):
        [leaf] = value.leaves
        owner = Leaf("ptr", text="0") if leaf.slot is None else _outlives(leaf)
        return [owner, leaf, Leaf("i64", text=str(ENDLESS))]

    def from_leaves(self, builder, leaves):
        return Value(self.value_type, [leaves[1]])


def _outlives(leaf):
    """The owner of memory that outlives the function, and so is not in its frame."""
    leaf.slot.on_heap = leaf.slot.is_given = True
    return leaf.slot.owner


class Array(Model):
    """An array: owner, parent, number of elements, their size, data, shape, strides."""

    def _type(self, t):
        pointer = PointerType(model_of(t.dtype).data_type)
        self.members = (("meminfo", types.voidptr), ("parent", types.voidptr), ("nitems", types.intp), ("itemsize", types.intp), ("data", _Raw(pointer)),
                        ("shape", types.UniTuple(types.intp, t.ndim)), ("strides", types.UniTuple(types.intp, t.ndim)))
        return LiteralStructType([voidptr, voidptr, word, word, pointer, ArrayType(word, t.ndim), ArrayType(word, t.ndim)])

    @property
    def itemsize(self):
        return self.value_type.elements[4].pointee.size

    def _strides(self, builder, shape):
        """Of elements without gaps."""
        step, found = word(self.itemsize), {}
        dims = range(len(shape)) if self.fe_type.layout == "F" else reversed(range(len(shape)))
        for d in dims:
            found[d] = step.leaves[0]
            step = builder.mul(step, Value(word, [shape[d]]))
        return [found[d] for d in range(len(shape))]

    def from_leaves(self, builder, leaves):
        n = self.fe_type.ndim
        owner, data, *rest = leaves
        shape = rest[:n]
        strides = rest[n : 2 * n] if self.fe_type.layout == "A" else self._strides(builder, shape)
        items = word(1)
        for length in shape:
            items = builder.mul(items, Value(word, [length]))
        return Value(self.value_type, [owner, Leaf("ptr", text="0"), items.leaves[0], Leaf("i64", text=str(self.itemsize)), data, *shape, *strides])

    def to_leaves(self, builder, value):
        n = self.fe_type.ndim
        owner, _, _, _, data, *rest = value.leaves
        if len(leaves_of(self.fe_type)) > 2 + (2 if self.fe_type.layout == "A" else 1) * n:
            raise CannotCarry(f"a value of type {self.fe_type}, of which the run alone knows whether it is read-only")
        if data.slot is not None:
            owner = _outlives(data)
        return [owner, data, *(rest if self.fe_type.layout == "A" else rest[:n])]


class String(Model):
    """A text: Numba's members, read from the object that it is, which is `meminfo`."""

    def _type(self, t):
        self.members = (("data", types.voidptr), ("length", types.intp), ("kind", types.int32), ("is_ascii", types.uint32), ("hash", types.intp), ("meminfo", types.voidptr), ("parent", types.voidptr))
        return LiteralStructType([voidptr, word, IntType(32), IntType(32), word, voidptr, voidptr])

    def from_leaves(self, builder, leaves):
        [text] = leaves
        data, length, kind = (builder._emit(f"load.{ty}", text.at(at), ty=ty, alias="object") for ty, at in zip(("ptr", "i64", "i64"), _tierup.STRING_MEMBERS, strict=True))
        builder.function.looks_inside = True
        narrow = builder.trunc(Value(word, [kind]), IntType(32))
        # That it is not known whether all are ASCII, and what its hash is, is what Numba takes from new ones as well.
        rest = [Leaf("i32", text="0"), Leaf("i64", text="-1"), text, Leaf("ptr", text="0")]
        return Value(self.value_type, [data, length, narrow.leaves[0], *rest])

    def to_leaves(self, builder, value):
        return [value.leaves[5]]


class _Raw:
    """The member of a model that is just a value of LLVM."""

    def __init__(self, value_type):
        self.value_type = value_type


class Dummy(Model):
    """What has no value when the program runs: None, classes, functions, dtypes."""

    def _type(self, t):
        return voidptr

    def to_leaves(self, builder, value):
        return []

    def from_leaves(self, builder, leaves):
        return Constant(voidptr, None)


class Opaque(Model):
    """Objects of the run-time by their addresses, and what else compiled code has a form of its own for: generators hand it on."""

    def _type(self, t):
        leaves = leaves_of(t)
        if len(leaves) == 1 and leaves[0][0] == "ptr":
            return voidptr
        by_name = {"i8": byte, "i16": IntType(16), "i32": IntType(32), "i64": word, "f32": FloatType(), "f64": DoubleType(), "ptr": voidptr}
        each = [by_name[n] for n, _ in leaves]
        return each[0] if len(each) == 1 else LiteralStructType(each)


class Instance(Model):
    """An instance of a class that may change, by its address."""

    def _type(self, t):
        self.members = tuple(own_of(t).fields)
        return voidptr


def _literal(t):
    return model_of(t.literal_type)


def _other(t):
    return Opaque(t) if leaves_of(t) else Dummy(t)


_MODELS = [
    (_kinds.Literal, _literal), ((types.Number, types.Boolean), Number), (types.BaseTuple, Parts), (types.Optional, Optional),
    ((types.CPointer, types.RawPointer), Pointer), (types.Array, Array), (types.UnicodeType, String), (types.NoneType, Dummy), (object, _other),
]  # fmt: skip


class Manager:
    """`context.data_model_manager`."""

    def lookup(self, t):
        return model_of(t)

    __getitem__ = lookup
