"""Numba's `cgutils`: what code generators are written with beside the builder."""

import functools
from contextlib import contextmanager
from typing import NamedTuple

from .. import types as _types
from . import CannotCarry
from .function import Function, GlobalVariable
from .types import ArrayType, BaseStructType, Constant, DoubleType, FloatType, FunctionType, IntType, LiteralStructType, PointerType, Value, VoidType

bool_t, int8_t, int32_t, intp_t = IntType(1), IntType(8), IntType(32), IntType(64)
voidptr_t = int8_t.as_pointer()
true_bit, false_bit, true_byte, false_byte = bool_t(1), bool_t(0), int8_t(1), int8_t(0)


# ---------------------------------------------------------------- structures


class _Proxy:
    """The members of a structure as attributes. It lies in the frame, or at `ref`."""

    _fe_type = _kind = None

    def __init__(self, context, builder, value=None, ref=None):
        from .models import model_of
        model = model_of(self._fe_type)
        be_type = model.data_type if self._kind == "data" else model.value_type
        if not isinstance(be_type, BaseStructType):
            raise CannotCarry(f"a value of type {self._fe_type} is no structure of members here")
        for name, of in (("_context", context), ("_builder", builder), ("_datamodel", model), ("_be_type", be_type), ("_names", [n for n, _ in model.members])):
            object.__setattr__(self, name, of)
        if ref is None:
            ref = alloca_once(builder, be_type)
        elif ref.type.pointee != be_type:
            raise AssertionError(f"bad ref type: expected {be_type.as_pointer()}, got {ref.type}")
        object.__setattr__(self, "_value", ref)
        if value is not None:
            builder.store(value, ref)

    def _place(self, key):
        if isinstance(key, str):
            if key not in self._names:
                raise AttributeError(f"StructProxy({self._fe_type}) does not have a field {key!r}")
            key = self._names.index(key)
        return key, gep_inbounds(self._builder, self._value, 0, key)

    def _get_ptr_by_index(self, index):
        return self._place(index)[1]

    def _get_ptr_by_name(self, attrname):
        return self._place(attrname)[1]

    def __getitem__(self, key):
        k, at = self._place(key)
        value = self._builder.load(at)
        return self._member_model(k).from_data(self._builder, value) if self._kind == "data" else value

    def __setitem__(self, key, value):
        k, at = self._place(key)
        if self._kind == "data":
            value = self._member_model(k).as_data(self._builder, value)
        expected = at.type.pointee
        if value.type != expected:
            if not (value.type.is_pointer and expected.is_pointer):
                raise TypeError(f"Invalid store of {value.type} to {expected} in {self._datamodel.__class__.__name__} (trying to write member #{k} of {self._fe_type})")
            value = self._builder.bitcast(value, expected)
        self._builder.store(value, at)

    def _member_model(self, k):
        from .models import model_of
        return model_of(self._datamodel.members[k][1])

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name, value):
        if name.startswith("_") and name not in self._names:
            object.__setattr__(self, name, value)
        else:
            self[name] = value

    def __len__(self):
        return len(self._be_type)

    def _getpointer(self):
        return self._value

    def _getvalue(self):
        return self._builder.load(self._value)

    def _setvalue(self, value):
        self._builder.store(value, self._value)


_proxies = {}


def create_struct_proxy(fe_type, kind="value"):
    """The class whose instances have the members of a type as attributes."""
    if kind not in ("value", "data"):
        raise TypeError(f"invalid kind of proxy {kind!r}")
    from .. import types
    from .models import Instance, model_of
    if isinstance(fe_type, types.Array):
        base = ArrayProxy
    elif isinstance(model_of(fe_type), Instance):
        base = InstanceProxy
    elif isinstance(fe_type, types.Optional):
        base = OptionalProxy
    else:
        base = _Proxy
    return type("Proxy", (base,), {"_fe_type": fe_type, "_kind": kind})


class ArrayProxy(_Proxy):
    @property
    def ndim(self):
        return self._fe_type.ndim

    @property
    def shape(self):
        """The lengths of the axes, of which one cannot be set."""
        return self["shape"]

    @shape.setter
    def shape(self, value):
        self["shape"] = value


class OptionalProxy(_Proxy):
    pass


class InstanceProxy:
    """The fields of an instance that may change, as Python reads and assigns to them. Without a value it is one that is made of its fields when it is asked
    for; numbers that nothing is said of are zeros."""

    _fe_type = _kind = None

    def __init__(self, context, builder, value=None, ref=None):
        from .._extensions import own_of
        if ref is not None:
            raise CannotCarry(f"the place of an instance of {self._fe_type} in memory")
        own = own_of(self._fe_type)
        for name, of in (("_builder", builder), ("_value", value), ("_fields", dict(own.fields)), ("_given", {})):
            object.__setattr__(self, name, of)

    def _place(self, name):
        """The field that a member is: of its name or, as of a member that Python reads through a property, of its name behind an underscore."""
        found = next((field for field in (name, "_" + name) if field in self._fields), None)
        if found is None:
            raise AttributeError(f"StructProxy({self._fe_type}) does not have a field {name!r}")
        return found, self._fields[found]

    def __getattr__(self, name):
        from .calls import call_python
        if name.startswith("__"):
            raise AttributeError(name)
        name, of = self._place(name)
        if self._value is None:
            return self._given[name] if name in self._given else Constant(_value_type(of), None)
        return call_python(self._builder, _written(f"def get(x):\n    return x.{name}"), [(self._fe_type, self._value)], of, keep=True)

    def __setattr__(self, name, value):
        from .calls import call_python
        name, of = self._place(name)
        if self._value is None:
            self._given[name] = value
            return
        call_python(self._builder, _written(f"def set(x, value):\n    x.{name} = value"), [(self._fe_type, self._value), (of, value)], _types.none)

    def __getitem__(self, index):
        return getattr(self, [*self._fields][index])

    def __len__(self):
        return len(self._fields)

    def _getvalue(self):
        import operator

        from .._calls import made
        from .calls import call_python
        if self._value is not None:
            return self._value
        from .models import leaves_of
        loose = [name for name, t in self._fields.items() if isinstance(t, _types.Undefined)]
        if loose:
            raise CannotCarry(f"a new instance of {self._fe_type}, whose field {loose[0]!r} is not always set")
        unset = [name for name, t in self._fields.items() if name not in self._given and any(is_reference for _, is_reference in leaves_of(t))]
        if unset:
            raise CannotCarry(f"a new instance of {self._fe_type} without anything in the field {unset[0]!r}")
        cls = self._fe_type._tierup_class_[0] if hasattr(self._fe_type, "_tierup_class_") else self._fe_type.instance_class
        # Its constructor may do anything, and is not what was written.
        given = [f"value{k}" for k in range(len(self._fields))]
        fields = "".join(f"    made.{name} = {value}\n" for name, value in zip(self._fields, given, strict=True))
        source = f"def make({', '.join(given)}):\n    made = operator._new_object(cls)\n{fields}    return made"
        make = made(source, "make", {"cls": cls, "operator": operator})
        return call_python(self._builder, make, [(t, getattr(self, name)) for name, t in self._fields.items()], self._fe_type, keep=True)


def _value_type(t):
    from .models import model_of
    return model_of(t).value_type


def _written(source, **names):
    """The function of a text."""
    scope = dict(names)
    exec(source, scope)
    return next(v for k, v in scope.items() if k not in names and k != "__builtins__")


class ListInstance:
    """The elements of a list, which may be read and replaced; what changes how many there are is done by functions of Python."""

    def __init__(self, context, builder, list_type, list_val):
        self._context, self._builder, self._type, self._value = context, builder, list_type, list_val

    def _member(self, k, ty):
        from .. import _tierup
        return self._builder._emit(f"load.{ty}", self._value.leaves[0].at(_tierup.LIST_MEMBERS[k]), ty=ty, alias="object")

    @property
    def value(self):
        return self._value

    @property
    def dtype(self):
        return self._type.dtype

    @property
    def size(self):
        return Value(intp_t, [self._member(0, "i64")])

    @property
    def data(self):
        dtype = self._type.dtype
        if not isinstance(dtype, _types.Number | _types.Boolean):
            raise CannotCarry(f"the elements of a value of type {self._type} in memory")
        self._builder.function.looks_inside = True
        return Value(PointerType(self._context.get_data_type(dtype)), [self._member(1, "ptr")])

    def getitem(self, idx):
        return self._context.unpack_value(self._builder, self.dtype, self._builder.gep(self.data, [idx]))

    def setitem(self, idx, val, incref=True, decref_old_value=True):
        self._context.pack_value(self._builder, self.dtype, val, self._builder.gep(self.data, [idx]))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise CannotCarry(f"ListInstance.{name}: functions of Python do it, which context.compile_internal calls")


class Structure(_Proxy):
    """A structure whose members a class says: `_fields`, pairs of a name and a type."""

    _fields = ()

    def __init__(self, context, builder, value=None, ref=None, cast_ref=False):
        names = [n for n, _ in self._fields]
        made = LiteralStructType([t if not isinstance(t, _types.Type) else context.get_value_type(t) for _, t in self._fields])
        for name, of in (("_context", context), ("_builder", builder), ("_be_type", made), ("_names", names)):
            object.__setattr__(self, name, of)
        if ref is None:
            ref = alloca_once(builder, made)
        elif ref.type.pointee != made:
            if not cast_ref:
                raise TypeError(f"mismatching pointer type: got {ref.type.pointee}, expected {made}")
            ref = builder.bitcast(ref, made.as_pointer())
        object.__setattr__(self, "_value", ref)
        if value is not None:
            builder.store(value, ref)


def copy_struct(dst, src, repl=None):
    repl = dict(repl or {})
    for name in src._names:
        dst[name] = repl.pop(name) if name in repl else src[name]
    return dst


def make_anonymous_struct(builder, values, struct_type=None):
    struct_type = struct_type or LiteralStructType([v.type for v in values])
    made = Constant(struct_type, None)
    for k, v in enumerate(values):
        made = builder.insert_value(made, v, k)
    return made


def pack_struct(builder, values):
    return make_anonymous_struct(builder, values)


def pack_array(builder, values, ty=None):
    """An array of values, which are all of one type."""
    ty = ty or (values[0].type if values else None)
    made = Constant(ArrayType(ty, len(values)), None)
    for k, v in enumerate(values):
        made = builder.insert_value(made, v, k)
    return made


def unpack_tuple(builder, tup, count=None):
    return [builder.extract_value(tup, k) for k in range(len(tup.type.elements) if count is None else count)]


# ---------------------------------------------------------------- memory


def alloca_once(builder, ty, size=None, name="", zfill=False):
    """Memory of the function, zeros at first; with `zfill` zeros each time."""
    with builder.goto_entry_block():
        at = builder.alloca(ty, size, name)
        if not at.leaves[0].slot.on_heap:
            for k in range(at.leaves[0].slot.count if at.leaves[0].slot.count <= 16 else 0):
                builder.store(Constant(ty, None), gep(builder, at, k))
    if zfill:
        builder.store(Constant(ty, None), at)
    return at


def alloca_once_value(builder, value, name="", zfill=False):
    at = alloca_once(builder, value.type)
    builder.store(value, at)
    return at


def sizeof(builder, ptr_type):
    return intp_t(ptr_type.pointee.size)


def gep(builder, ptr, *inds, inbounds=False, name=""):
    return builder.gep(ptr, [int32_t(k) if isinstance(k, int) else k for k in inds], inbounds=inbounds)


def gep_inbounds(builder, ptr, *inds, **kws):
    return gep(builder, ptr, *inds, inbounds=True, **kws)


def pointer_add(builder, ptr, offset, return_type=None):
    """The pointer so many bytes behind another one, of its type or another."""
    at = builder.gep(builder.bitcast(ptr, voidptr_t), [intp_t(offset) if isinstance(offset, int) else offset])
    return builder.bitcast(at, return_type or ptr.type)


def memset(builder, ptr, size, value):
    builder.call(builder.module.declare_intrinsic("llvm.memset", (voidptr_t, size.type)), [builder.bitcast(ptr, voidptr_t), builder.trunc(int8_t(value) if isinstance(value, int) else value, int8_t), size, bool_t(0)])


def memset_padding(builder, ptr):
    memset(builder, ptr, intp_t(ptr.type.pointee.size), 0)


def memcpy(builder, dst, src, count):
    """Copies so many of what the pointers point to, which are of one type."""
    raw_memcpy(builder, dst, src, count, dst.type.pointee.size)


def _raw(name, builder, dst, src, count, itemsize):
    count, itemsize = (builder.zext(n, intp_t) if isinstance(n, Value) else intp_t(n) for n in (count, itemsize))
    move = builder.module.declare_intrinsic(name, (voidptr_t, voidptr_t, intp_t))
    builder.call(move, [builder.bitcast(dst, voidptr_t), builder.bitcast(src, voidptr_t), builder.mul(count, itemsize), bool_t(0)])


def raw_memcpy(builder, dst, src, count, itemsize, align=1):
    _raw("llvm.memcpy", builder, dst, src, count, itemsize)


def raw_memmove(builder, dst, src, count, itemsize, align=1):
    _raw("llvm.memmove", builder, dst, src, count, itemsize)


def get_record_member(builder, record, offset, typ):
    at = gep_inbounds(builder, record, 0, 0)
    return builder.bitcast(pointer_add(builder, at, offset), typ.as_pointer())


def get_item_pointer(context, builder, aryty, ary, inds, wraparound=False, boundscheck=False):
    """Where an element of an array is. `ary` is a proxy."""
    return get_item_pointer2(context, builder, ary.data, unpack_tuple(builder, ary.shape, aryty.ndim), unpack_tuple(builder, ary.strides, aryty.ndim), aryty.layout, inds, wraparound, boundscheck)


def get_item_pointer2(context, builder, data, shape, strides, layout, inds, wraparound=False, boundscheck=False):
    at = builder.bitcast(data, voidptr_t)
    for k, (n, step, length) in enumerate(zip(inds, strides, shape, strict=False)):
        n = builder.sext(n, intp_t)
        if wraparound:
            n = builder.select(builder.icmp_signed("<", n, intp_t(0)), builder.add(n, length), n)
        if boundscheck:
            do_boundscheck(context, builder, n, length, k)
        at = pointer_add(builder, at, builder.mul(n, step))
    return builder.bitcast(at, data.type)


def do_boundscheck(context, builder, ind, dimlen, axis=None):
    outside = builder.or_(builder.icmp_signed(">=", ind, dimlen), builder.icmp_signed("<", ind, intp_t(0)))
    with if_unlikely(builder, outside):
        context.call_conv.return_user_exc(builder, IndexError, ("index is out of bounds",))


def global_constant(builder_or_module, name, value, linkage="internal"):
    """A constant in memory."""
    module = getattr(builder_or_module, "module", builder_or_module)
    made = GlobalVariable(module, value.type, module.get_unique_name(name))
    made.initializer, made.global_constant = value, True
    return made


def add_global_variable(module, ty, name, addrspace=0):
    return GlobalVariable(module, ty, module.get_unique_name(name), addrspace)


def make_bytearray(buf):
    return Constant(ArrayType(int8_t, len(buf)), bytearray(buf))


def create_constant_array(ty, val):
    return Constant(ArrayType(ty, len(val)), val)


# ---------------------------------------------------------------- questions


def as_bool_bit(builder, value):
    return builder.icmp_unsigned("!=", value, value.type(0))


def get_null_value(ltype):
    return Constant(ltype, None)


def is_null(builder, val):
    return builder.icmp_unsigned("==", get_null_value(val.type), val)


def is_not_null(builder, val):
    return builder.icmp_unsigned("!=", get_null_value(val.type), val)


def _against_zero(builder, value, float_op, int_op):
    zero = Constant(value.type, None)
    if isinstance(value.type, (FloatType, DoubleType)):
        return float_op(value, zero)
    if isinstance(value.type, IntType):
        return int_op(value, zero)
    raise TypeError(f"unexpected value type {value.type}")


def is_scalar_zero(builder, value):
    return _against_zero(builder, value, functools.partial(builder.fcmp_ordered, "=="), functools.partial(builder.icmp_unsigned, "=="))


def is_not_scalar_zero(builder, value):
    return _against_zero(builder, value, functools.partial(builder.fcmp_unordered, "!="), functools.partial(builder.icmp_unsigned, "!="))


def is_scalar_zero_or_nan(builder, value):
    return _against_zero(builder, value, functools.partial(builder.fcmp_unordered, "=="), functools.partial(builder.icmp_unsigned, "=="))


is_true, is_false = is_not_scalar_zero, is_scalar_zero


def is_scalar_neg(builder, value):
    return _against_zero(builder, value, functools.partial(builder.fcmp_unordered, "<"), functools.partial(builder.icmp_signed, "<"))


def is_neg_int(builder, val):
    return builder.icmp_signed("<", val, val.type(0))


def is_pointer(ltyp):
    return isinstance(ltyp, PointerType)


def is_nonelike(ty):
    return isinstance(ty, _types.NoneType) or isinstance(ty, _types.Omitted) and ty.value is None


def is_empty_tuple(ty):
    return isinstance(ty, _types.Tuple) and not ty.types


# ---------------------------------------------------------------- control flow


def terminate(builder, bbend):
    if not builder.block.is_terminated:
        builder.branch(bbend)


def if_unlikely(builder, pred):
    return builder.if_then(pred, likely=False)


def if_likely(builder, pred):
    return builder.if_then(pred, likely=True)


def ifnot(builder, pred):
    return builder.if_then(builder.not_(pred))


def if_zero(builder, value, likely=False):
    return builder.if_then(is_scalar_zero(builder, value), likely=likely)


def early_exit_if(builder, stack, cond):
    then, otherwise = stack.enter_context(builder.if_else(cond, likely=False))
    with then:
        pass
    stack.enter_context(otherwise)


def early_exit_if_null(builder, stack, obj):
    return early_exit_if(builder, stack, is_null(builder, obj))


def guard_null(context, builder, value, exc_tuple):
    with builder.if_then(is_scalar_zero(builder, value), likely=False):
        context.call_conv.return_user_exc(builder, exc_tuple[0], exc_tuple[1:] or None)


guard_zero = guard_null


def guard_memory_error(context, builder, pointer, msg=None):
    with builder.if_then(is_null(builder, pointer), likely=False):
        context.call_conv.return_user_exc(builder, MemoryError, (msg,) if msg else None)


def cbranch_or_continue(builder, cond, bbtrue):
    rest = builder.append_basic_block(".continue")
    builder.cbranch(cond, bbtrue, rest)
    builder.position_at_end(rest)
    return rest


def increment_index(builder, val):
    return builder.add(val, val.type(1))


class Loop(NamedTuple):
    index: Value
    do_break: object


@contextmanager
def for_range(builder, count, start=None, intp=None):
    """A loop from `start` to in front of `count`: its `index`, and what leaves it, `do_break`."""
    intp = intp or count.type
    start = start if start is not None else intp(0)
    before = builder.block
    cond, body, end = (builder.append_basic_block(name) for name in ("for.cond", "for.body", "for.end"))
    builder.branch(cond)
    builder.position_at_end(cond)
    index = builder.phi(intp, name="loop.index")
    index.add_incoming(start, before)
    builder.cbranch(builder.icmp_signed("<", index, count), body, end)
    builder.position_at_end(body)
    yield Loop(index, lambda: builder.branch(end))
    if not builder.block.is_terminated:
        step = increment_index(builder, index)
        index.add_incoming(step, builder.block)
        builder.branch(cond)
    builder.position_at_end(end)


@contextmanager
def for_range_slice(builder, start, stop, step, intp=None, inc=True):
    """A loop from `start` to `stop` in steps: its index and how often it ran."""
    intp = intp or start.type
    before = builder.block
    cond, body, end = (builder.append_basic_block(name) for name in ("for.cond", "for.body", "for.end"))
    builder.branch(cond)
    builder.position_at_end(cond)
    index, count = builder.phi(intp, name="loop.index"), builder.phi(intp, name="loop.count")
    index.add_incoming(start, before)
    count.add_incoming(intp(0), before)
    builder.cbranch(builder.icmp_signed("<" if inc else ">", index, stop), body, end)
    builder.position_at_end(body)
    yield index, count
    if not builder.block.is_terminated:
        further, counted = builder.add(index, step), increment_index(builder, count)
        index.add_incoming(further, builder.block)
        count.add_incoming(counted, builder.block)
        builder.branch(cond)
    builder.position_at_end(end)


@contextmanager
def loop_nest(builder, shape, intp, order="C"):
    """Loops within each other over the indices of a shape, which it gives."""
    if order not in "CF":
        raise AssertionError(f"order is 'C' or 'F', not {order!r}")
    lengths = [builder.sext(n, intp) for n in (shape if order == "C" else shape[::-1])]
    if not lengths:
        yield ()
        return
    with _nest(builder, lengths, intp) as indices:
        yield indices if order == "C" else indices[::-1]


@contextmanager
def _nest(builder, lengths, intp):
    with for_range(builder, lengths[0], intp=intp) as loop:
        if len(lengths) == 1:
            yield (loop.index,)
        else:
            with _nest(builder, lengths[1:], intp) as rest:
                yield (loop.index, *rest)


# ---------------------------------------------------------------- functions


def get_or_insert_function(module, fnty, name):
    """The function of a module of that name."""
    found = module.globals.get(name)
    return found if found is not None else Function(module, fnty, name)


insert_pure_function = get_or_insert_function


def muladd_with_overflow(builder, a, b, c):
    p = builder.smul_with_overflow(a, b)
    r = builder.sadd_with_overflow(builder.extract_value(p, 0), c)
    return builder.extract_value(r, 0), builder.or_(builder.extract_value(p, 1), builder.extract_value(r, 1))


def divmod_by_constant(builder, val, divisor):
    """Quotient, rounded down, and remainder."""
    if divisor <= 0:
        raise AssertionError(f"the divisor is positive, not {divisor}")
    by = val.type(divisor)
    rest = builder.srem(val, by)
    quotient = builder.sdiv(val, by)
    low = builder.icmp_signed("<", rest, val.type(0))
    return builder.select(low, builder.sub(quotient, val.type(1)), quotient), builder.select(low, builder.add(rest, by), rest)


def printf(builder, format, *args):
    """C's, of integers and pointers."""
    text = global_constant(builder, "printf_format", make_bytearray((format + "\0").encode()))
    f = get_or_insert_function(builder.module, FunctionType(int32_t, [voidptr_t], var_arg=True), "printf")
    return builder.call(f, [builder.bitcast(text, voidptr_t), *args])


def get_or_insert_named_metadata(module, name):
    return None


def normalize_ir_text(text):
    return text.encode("utf8").decode("latin1")


#: Said of what a generator gives. Numba counts references like compiled code: a result has one of its own.
def impl_ret_new_ref(context, builder, retty, ret):
    return ret


impl_ret_untracked = impl_ret_new_ref


def impl_ret_borrowed(context, builder, retty, ret):
    context.nrt.incref(builder, retty, ret)
    return ret


__all__ = [n for n in dir() if not n.startswith("_")] + ["VoidType"]
