"""Types and constants under llvmlite's names. A value is exploded into machine values, its *leaves*; types say into which."""

import struct

from . import CannotCarry


class Leaf:
    """A machine value: what an instruction gives, or a constant. A pointer may be one that an instruction gives and an `offset` from there; `slot` is the piece
    of memory of the function's own that it is known to point into."""

    __slots__ = ("ty", "name", "text", "slot", "address", "offset")

    def __init__(self, ty, name=None, text=None, slot=None, address=None, offset=0):
        self.ty, self.name, self.text, self.slot, self.address, self.offset = ty, name, text, slot, address, offset

    def at(self, offset):
        """The pointer so many bytes behind this one."""
        if offset == 0:
            return self
        if self.address is not None:
            return address(self.address + offset)
        if self.name is None:
            return Leaf("ptr", text=f"{int(self.text, 0) + offset & (1 << 64) - 1:#x}")
        return Leaf(self.ty, name=self.name, slot=self.slot, offset=self.offset + offset)

    @property
    def is_constant(self):
        return self.text is not None


class UndefinedType:
    def __repr__(self):
        return "Undefined"


Undefined = UndefinedType()


class Type:
    """A type of LLVM."""

    is_pointer = False
    null = "zeroinitializer"
    _key = ()

    def __eq__(self, other):
        return isinstance(other, Type) and type(self) is type(other) and self._key == other._key

    def __hash__(self):
        return hash((type(self), self._key))

    def __repr__(self):
        return f"<{type(self).__name__} {self}>"

    def as_pointer(self, addrspace=0):
        return PointerType(self, addrspace)

    def __call__(self, value):
        return Constant(self, value)

    def get_abi_size(self, target_data=None, context=None):
        return self.size

    def get_abi_alignment(self, target_data=None, context=None):
        return self.align

    def get_element_offset(self, target_data, index, context=None):
        return self.offset(index)

    @property
    def leaves(self):
        """The types of the machine values that a value is, with their places in memory: ``[(Type, offset)]``."""
        return [(self, 0)]

    @property
    def lir(self):
        raise CannotCarry(f"LIR has no values of the type {self}")

    @property
    def size(self):
        return _BYTES[self.lir]

    @property
    def align(self):
        return self.size


_BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "f32": 4, "f64": 8, "ptr": 8}


class MetaDataType(Type):
    def __str__(self):
        return "metadata"


class LabelType(Type):
    def __str__(self):
        return "label"


class VoidType(Type):
    leaves = []

    def __str__(self):
        return "void"


class IntType(Type):
    null = "0"

    def __init__(self, bits):
        if not isinstance(bits, int) or bits < 1:
            raise ValueError(f"an integer type has a number of bits, not {bits!r}")
        self.width, self._key = bits, (bits,)

    def __str__(self):
        return f"i{self.width}"

    @property
    def intrinsic_name(self):
        return str(self)

    @property
    def leaves(self):
        # Two words, the low one first.
        return [(IntType(64), 0), (IntType(64), 8)] if self.width == 128 else [(self, 0)]

    @property
    def size(self):
        return 16 if self.width == 128 else _BYTES[self.lir]

    @property
    def lir(self):
        if self.width == 128:
            raise CannotCarry("this operation on integers of 128 bits")
        if self.width not in (1, 8, 16, 32, 64):
            raise CannotCarry(f"LIR has no integers of {self.width} bits: it has those of 1, 8, 16, 32, 64 and 128")
        return f"i{max(self.width, 8)}"


class _Float(Type):
    null = "0.0"

    def __str__(self):
        return self._name

    @property
    def intrinsic_name(self):
        return self._suffix


class HalfType(_Float):
    _name, _suffix = "half", "f16"


class FloatType(_Float):
    _name, _suffix, lir = "float", "f32", "f32"


class DoubleType(_Float):
    _name, _suffix, lir = "double", "f64", "f64"


class PointerType(Type):
    """A pointer; what it points to is known where the program has said it."""

    is_pointer, null, lir = True, "null", "ptr"

    def __init__(self, pointee=None, addrspace=0):
        if addrspace:
            raise CannotCarry("LIR has one address space")
        self.pointee, self.addrspace, self.is_opaque = pointee, 0, pointee is None
        self._key = (pointee,)

    def __str__(self):
        return "ptr" if self.pointee is None else f"{self.pointee}*"

    @property
    def intrinsic_name(self):
        return "p0"


class FunctionType(Type):
    def __init__(self, return_type, args, var_arg=False):
        self.return_type, self.args, self.var_arg = return_type, tuple(args), var_arg
        self._key = (return_type, self.args, var_arg)

    def __str__(self):
        return f"{self.return_type} ({', '.join(map(str, [*self.args, *(['...'] if self.var_arg else [])]))})"


class VectorType(Type):
    """A vector of the processor, which LIR leaves to the optimiser: such types can be named, not used."""

    def __init__(self, element, count):
        self.element, self.count = element, count
        self._key = (element, count)

    def __str__(self):
        return f"<{self.count} x {self.element}>"

    @property
    def leaves(self):
        raise CannotCarry(f"LIR has no vectors such as {self}")


class Aggregate(Type):
    @property
    def leaves(self):
        return [(t, at + self.offset(k)) for k, e in enumerate(self.elements) for t, at in e.leaves]

    def span(self, k):
        """Which leaves are those of a member."""
        counts = [len(e.leaves) for e in self.elements[: k + 1]]
        return slice(sum(counts[:k]), sum(counts))


class ArrayType(Aggregate):
    def __init__(self, element, count):
        self.element, self.count = element, count
        self._key = (element, count)

    def __str__(self):
        return f"[{self.count} x {self.element}]"

    def __len__(self):
        return self.count

    @property
    def elements(self):
        return [self.element] * self.count

    def offset(self, k):
        return k * self.element.size

    def gep(self, i):
        return self.element

    @property
    def size(self):
        return self.count * self.element.size

    @property
    def align(self):
        return self.element.align


class BaseStructType(Aggregate):
    packed = False
    elements = ()

    def __len__(self):
        return len(self.elements)

    def __iter__(self):
        return iter(self.elements)

    @property
    def is_opaque(self):
        return self.elements is None

    def gep(self, i):
        return self.elements[int(i.constant)]

    def _places(self):
        places, at = [], 0
        for e in self.elements:
            at = at if self.packed else -(-at // e.align) * e.align
            places.append(at)
            at += e.size
        return places, at

    def offset(self, k):
        return self._places()[0][k]

    @property
    def size(self):
        return -(-self._places()[1] // self.align) * self.align

    @property
    def align(self):
        return 1 if self.packed else max((e.align for e in self.elements), default=1)


class LiteralStructType(BaseStructType):
    def __init__(self, elems, packed=False):
        self.elements, self.packed = tuple(elems), packed
        self._key = (self.elements, packed)

    def __str__(self):
        inside = "{" + ", ".join(map(str, self.elements)) + "}"
        return f"<{inside}>" if self.packed else inside


class IdentifiedStructType(BaseStructType):
    """A structure with a name, whose members are said later."""

    elements = None

    def __init__(self, context, name, packed=False):
        self.context, self.name, self.packed = context, name, packed
        self._key = (name,)

    def __str__(self):
        return f"%{self.name}"

    def set_body(self, *elems):
        if self.elements is not None:
            raise RuntimeError(f"{self.name} is already defined")
        self.elements = tuple(elems)


class Context:
    def __init__(self):
        self.identified_types = {}

    def get_identified_type(self, name, packed=False):
        if name not in self.identified_types:
            self.identified_types[name] = IdentifiedStructType(self, name, packed)
        return self.identified_types[name]


global_context = Context()


# ---------------------------------------------------------------- values


class Value:
    """A value: its type and its leaves."""

    def __init__(self, type, leaves, name=""):
        self.type, self.leaves, self.name = type, leaves, name

    @property
    def intrinsic_name(self):
        return self.type.intrinsic_name

    def set_metadata(self, name, node):
        """What LLVM is told about a value changes nothing of it."""

    def __repr__(self):
        return f"<a value of type {self.type}>"


NamedValue = Value


class Constant(Value):
    """A constant: a number, None for zeros, `Undefined`, or the members of an aggregate."""

    def __init__(self, typ, constant):
        if not isinstance(typ, Type) or isinstance(typ, (VoidType, FunctionType)):
            raise TypeError(f"a constant has a type of LLVM's that has values, not {typ!r}")
        self.constant = constant
        super().__init__(typ, _leaves(typ, constant))

    @classmethod
    def literal_struct(cls, elems, packed=False):
        return cls(LiteralStructType([e.type for e in elems], packed), list(elems))

    @classmethod
    def literal_array(cls, elems):
        if len({e.type for e in elems}) != 1:
            raise TypeError("all elements must have the same type")
        return cls(ArrayType(elems[0].type, len(elems)), list(elems))

    def _of(self, typ, leaves):
        made = Constant.__new__(Constant)
        made.constant = getattr(self, "constant", None)
        Value.__init__(made, typ, leaves)
        return made

    def inttoptr(self, typ):
        """A pointer of an address, which lies outside of the code: code in the cache does not hold it."""
        return self._of(typ, [address(int(self.constant or 0))])

    def ptrtoint(self, typ):
        raise CannotCarry("the address of a constant is not known before the program runs")

    def bitcast(self, typ):
        if typ.is_pointer and self.type.is_pointer:
            return self._of(typ, self.leaves)
        if [t.size for t, _ in typ.leaves] != [t.size for t, _ in self.type.leaves] or len(self.leaves) != 1:
            raise CannotCarry(f"a constant of type {self.type} cannot become {typ}")
        return self._of(typ, [_from_bits(typ, _to_bits(self.type, self.leaves[0]))])

    def trunc(self, typ):
        return Constant(typ, self.constant)

    sext = zext = trunc

    def gep(self, indices):
        if self.constant is not None:
            raise CannotCarry("a place behind a constant pointer is computed by the builder's gep()")
        # Behind a null pointer it is a size.
        first = int(indices[0].constant)
        return self._of(self.type, [Leaf("ptr", text=f"{first * self.type.pointee.size:#x}")])


def address(at):
    return Leaf("ptr", text="0") if at == 0 else Leaf("ptr", text="", address=at & (1 << 64) - 1)


def _leaves(typ, constant):
    if constant is None or constant is Undefined:
        return [Leaf(t.lir, text=_ZERO.get(t.lir, "0")) for t, _ in typ.leaves]
    if isinstance(typ, VectorType):
        return typ.leaves
    if isinstance(typ, Aggregate):
        if isinstance(constant, (bytes, bytearray)):
            constant = list(constant)
        if not isinstance(constant, (list, tuple)) or len(constant) != len(typ.elements):
            raise TypeError(f"a constant of type {typ} has {len(typ.elements)} members, and not {constant!r}")
        return [leaf for e, c in zip(typ.elements, constant, strict=True) for leaf in (c.leaves if isinstance(c, Value) else _leaves(e, c))]
    if isinstance(constant, Constant):
        return constant.leaves
    if isinstance(typ, PointerType):
        return [address(int(constant))]
    if isinstance(typ, IntType) and typ.width == 128:
        return [number(IntType(64), constant), number(IntType(64), int(constant) >> 64)]
    return [number(typ, constant)]


_ZERO = {"f32": "0.0", "f64": "0.0"}


def number(typ, constant):
    if isinstance(typ, IntType):
        value = int(constant) & (1 << typ.width) - 1
        if typ.width > 1 and value >> typ.width - 1:
            value -= 1 << typ.width
        return Leaf(typ.lir, text=str(value))
    value = float(constant)
    if isinstance(typ, FloatType):
        try:
            value = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            value = float("inf") if value > 0 else float("-inf")
    return _from_bits(typ, int.from_bytes(struct.pack("<f" if typ.lir == "f32" else "<d", value), "little"))


def _to_bits(typ, leaf):
    if typ.lir in _ZERO:
        value = float("nan") if leaf.text.startswith("nan") else float(leaf.text)
        if leaf.text.startswith("nan:"):
            return int(leaf.text[4:], 16)
        return int.from_bytes(struct.pack("<f" if typ.lir == "f32" else "<d", value), "little")
    return int(leaf.text, 0) & (1 << 8 * typ.size) - 1


def _from_bits(typ, bits):
    if typ.lir not in _ZERO:
        return number(typ, bits)
    value = struct.unpack("<f" if typ.lir == "f32" else "<d", bits.to_bytes(typ.size, "little"))[0]
    # The shortest decimal of the wider number reads back as the narrow one.
    return Leaf(typ.lir, text=f"nan:{bits:#x}" if value != value else repr(value))
