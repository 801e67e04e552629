"""What code generators ask beside the builder, under the names of Numba's target context and typing context."""

import operator

from .. import _kinds, types
from . import CannotCarry
from .._lowering import casts, closest, constants, generator_for, resolved
from .calls import call_python, give_status
from .cgutils import create_struct_proxy
from .constants import bytes_at
from .function import Function, Instruction, fail_if_pending
from .models import Instance, Manager, bit, leaves_of, model_of, voidptr, word
from .types import Constant, FunctionType, IntType, LiteralStructType, PointerType, Undefined, Value, VoidType, address


def _signed(t):
    return getattr(t, "signed", False)


class TargetContext:
    """The context of code for the processor."""

    strict_alignment = enable_debuginfo = fastmath = False
    #: As in all code here.
    enable_boundscheck = True
    enable_nrt, is32bit, address_size, target_name = True, False, 64, "cpu"

    def __init__(self):
        self.data_model_manager, self.nrt, self.call_conv, self.typing_context = Manager(), _References(), _CallConv(self), typing_context
        self.target_data, self.flags, self.environment = None, {}, None
        self.typing_context.target_context = self

    # ---------------------------------------------------------------- types

    def get_value_type(self, ty):
        return model_of(ty).get_value_type()

    def get_data_type(self, ty):
        return model_of(ty).get_data_type()

    def get_argument_type(self, ty):
        return self.get_value_type(ty)

    get_return_type = get_argument_type

    def get_dummy_type(self):
        return voidptr

    def get_function_pointer_type(self, typ):
        return voidptr

    def get_abi_sizeof(self, ty):
        return ty.size

    def get_abi_alignment(self, ty):
        return ty.align

    def get_struct_type(self, struct):
        return LiteralStructType([self.get_value_type(t) for _, t in struct._fields])

    def pack_value(self, builder, ty, value, ptr, align=None):
        builder.store(self.get_value_as_data(builder, ty, value), ptr)

    def unpack_value(self, builder, ty, ptr, align=None):
        return self.get_data_as_value(builder, ty, builder.load(ptr))

    def get_value_as_data(self, builder, ty, val):
        return model_of(ty).as_data(builder, val)

    def get_data_as_value(self, builder, ty, val):
        return model_of(ty).from_data(builder, val)

    def get_value_as_argument(self, builder, ty, val):
        return val

    get_argument_value = get_returned_value = get_return_value = get_value_as_argument

    # ---------------------------------------------------------------- constants

    def get_constant(self, ty, val):
        if isinstance(ty, types.Complex):
            val = complex(val)
            half = self.get_value_type(ty).elements[0]
            return Constant(self.get_value_type(ty), [half(val.real), half(val.imag)])
        if isinstance(ty, types.RawPointer | types.CPointer):
            return Constant(word, int(val)).inttoptr(self.get_value_type(ty))
        if not isinstance(ty, types.Number | types.Boolean):
            raise NotImplementedError(f"cannot lower constant of type '{ty}'")
        return Constant(self.get_value_type(ty), val)

    def get_constant_generic(self, builder, ty, val):
        own = closest(constants, (ty,)) if constants else None
        if own is not None:
            return own(self, builder, ty, val)
        if isinstance(ty, types.BaseTuple):
            return Constant(self.get_value_type(ty), [self.get_constant_generic(builder, t, v) for t, v in zip(ty.types, val, strict=True)])
        if isinstance(ty, types.Optional):
            return self.make_optional_none(builder, ty.type) if val is None else self.make_optional_value(builder, ty.type, self.get_constant_generic(builder, ty.type, val))
        if isinstance(ty, types.NoneType) or not leaves_of(ty):
            return self.get_dummy_value()
        return self.get_constant(getattr(ty, "literal_type", ty), val)

    def get_constant_undef(self, ty):
        return Constant(self.get_value_type(ty), Undefined)

    def get_constant_null(self, ty):
        return Constant(self.get_value_type(ty), None)

    def get_dummy_value(self):
        return Constant(voidptr, None)

    def insert_const_string(self, mod, string):
        return Value(voidptr, [address(bytes_at(string.encode() + b"\0"))])

    def insert_const_bytes(self, mod, bytes, name=None):
        return Value(voidptr, [address(bytes_at(bytes))])

    def add_dynamic_addr(self, builder, intaddr, info):
        """A pointer to something of this process."""
        return Constant(word, intaddr).inttoptr(voidptr)

    # ---------------------------------------------------------------- values

    def make_helper(self, builder, typ, value=None, ref=None):
        return create_struct_proxy(typ)(self, builder, value, ref)

    def make_data_helper(self, builder, typ, ref=None):
        return create_struct_proxy(typ, "data")(self, builder, ref=ref)

    def get_helper_class(self, typ, kind="value"):
        return create_struct_proxy(typ, kind)

    def make_array(self, typ):
        return create_struct_proxy(typ)

    def populate_array(self, arr, **kwargs):
        """Sets the members of an array."""
        given = dict(kwargs)
        builder = arr._builder
        shape = given.get("shape")
        if isinstance(shape, (list, tuple)):
            from .cgutils import pack_array
            given["shape"] = pack_array(builder, list(shape), ty=word)
        if isinstance(given.get("strides"), (list, tuple)):
            from .cgutils import pack_array
            given["strides"] = pack_array(builder, list(given["strides"]), ty=word)
        items = word(1)
        for k in range(arr.ndim):
            items = builder.mul(items, builder.extract_value(given["shape"], k))
        given.setdefault("parent", Constant(voidptr, None))
        for name, v in {**given, "nitems": items}.items():
            arr[name] = word(v) if isinstance(v, int) else Constant(voidptr, None) if v is None else v

    def make_complex(self, builder, typ, value=None):
        if not isinstance(typ, types.Complex):
            raise TypeError(f"{typ} is no type of complex numbers")
        return create_struct_proxy(typ)(self, builder, value)

    def make_tuple(self, builder, typ, values):
        made = Constant(self.get_value_type(typ), None)
        for k, v in enumerate(values):
            made = builder.insert_value(made, v, k)
        return made

    def make_optional_none(self, builder, valtype):
        return Constant(self.get_value_type(types.Optional(valtype)), None)

    def make_optional_value(self, builder, valtype, value):
        made = Constant(self.get_value_type(types.Optional(valtype)), None)
        return builder.insert_value(builder.insert_value(made, value, 0), bit(1), 1)

    def pair_first(self, builder, val, ty):
        return builder.extract_value(val, 0)

    def pair_second(self, builder, val, ty):
        return builder.extract_value(val, 1)

    def is_true(self, builder, typ, val):
        return self.get_function(bool, types.boolean(typ))(builder, [val])

    def generic_compare(self, builder, key, argtypes, args):
        """`==` and its like of two values."""
        return self.get_function(key, types.boolean(*argtypes))(builder, args)

    def cast(self, builder, val, fromty, toty):
        """A value as one of another type."""
        fromty, toty = (getattr(t, "literal_type", t) for t in (fromty, toty))
        own = closest(casts, (fromty, toty)) if casts and fromty != toty else None
        if own is not None:
            return own(self, builder, fromty, toty, val)
        if fromty == toty or self.get_value_type(fromty) == self.get_value_type(toty) and type(fromty) is type(toty) and not isinstance(fromty, types.Number):
            return val
        if isinstance(toty, types.Optional):
            if isinstance(fromty, types.NoneType):
                return self.make_optional_none(builder, toty.type)
            if not isinstance(fromty, types.Optional):
                return self.make_optional_value(builder, toty.type, self.cast(builder, val, fromty, toty.type))
        if isinstance(fromty, types.BaseTuple) and isinstance(toty, types.BaseTuple) and len(fromty.types) == len(toty.types):
            parts = [self.cast(builder, builder.extract_value(val, k), a, b) for k, (a, b) in enumerate(zip(fromty.types, toty.types, strict=True))]
            return self.make_tuple(builder, toty, parts)
        if isinstance(toty, types.NoneType) or not leaves_of(fromty) and not leaves_of(toty):
            return self.get_dummy_value()
        found = self._cast_number(builder, val, fromty, toty)
        if found is None:
            found = self._cast_array(builder, val, fromty, toty)
        if found is None:
            raise CannotCarry(f"a conversion of {fromty} to {toty}")
        return found

    def _cast_array(self, builder, val, fromty, toty):
        pointers = types.CPointer | types.RawPointer
        if isinstance(fromty, pointers) and isinstance(toty, pointers):
            return builder.bitcast(val, self.get_value_type(toty))
        # What a pointer is in compiled code.
        if isinstance(fromty, types.Array) and isinstance(toty, pointers) and fromty.ndim == 1 and fromty.layout == "C" and (isinstance(toty, types.RawPointer) or fromty.dtype == toty.dtype):
            return builder.bitcast(builder.extract_value(val, 4), self.get_value_type(toty))
        alike = isinstance(fromty, types.Array) and isinstance(toty, types.Array) and (fromty.dtype, fromty.ndim) == (toty.dtype, toty.ndim)
        return val if alike and toty.layout in ("A", fromty.layout) else None

    def _cast_number(self, builder, val, fromty, toty):
        number = types.Number | types.Boolean
        if not isinstance(fromty, number) or not isinstance(toty, number):
            return None
        to = self.get_value_type(toty)
        if isinstance(toty, types.Complex):
            half = types.float32 if toty.bitwidth == 64 else types.float64
            if isinstance(fromty, types.Complex):
                of = types.float32 if fromty.bitwidth == 64 else types.float64
                parts = [self._cast_number(builder, builder.extract_value(val, k), of, half) for k in range(2)]
            else:
                parts = [self._cast_number(builder, val, fromty, half), to.elements[1](0)]
            return builder.insert_value(builder.insert_value(Constant(to, None), parts[0], 0), parts[1], 1)
        if isinstance(fromty, types.Complex):
            return None
        if isinstance(toty, types.Boolean):
            zero = Constant(val.type, None)
            return builder.fcmp_unordered("!=", val, zero) if isinstance(fromty, types.Float) else builder.icmp_unsigned("!=", val, zero)
        if isinstance(fromty, types.Float):
            if isinstance(toty, types.Float):
                return builder.fpext(val, to)
            return builder.fptosi(val, to) if _signed(toty) else builder.fptoui(val, to)
        if isinstance(toty, types.Float):
            return builder.sitofp(val, to) if _signed(fromty) else builder.uitofp(val, to)
        if val.type.width > to.width:
            return builder.trunc(val, to)
        return builder.sext(val, to) if _signed(fromty) else builder.zext(val, to)

    # ---------------------------------------------------------------- calls

    def compile_internal(self, builder, impl, sig, args, locals=None):
        """A call of a Python function, which is compiled for these types; what it raises goes on."""
        return call_python(builder, impl, list(zip(sig.args, args, strict=True)), sig.return_type)

    def compile_subroutine(self, builder, impl, sig, locals=None, flags=None, caching=True):
        return _Compiled(impl, sig)

    def call_internal(self, builder, fndesc, sig, args):
        return self.compile_internal(builder, fndesc.impl, sig, args)

    def call_internal_no_propagate(self, builder, fndesc, sig, args):
        raise CannotCarry("call_internal_no_propagate: what a called function raises goes on to the caller here")

    def get_function(self, fn, sig, _firstcall=True):
        """What writes a call of a function or an operation for arguments of these types."""
        of = getattr(fn, "typing_key", None) or getattr(fn, "_function", None) or fn
        own = generator_for(of, sig.args)
        if own is not None:
            return lambda builder, args, loc=None: own(self, builder, sig, args)
        impl = _as_function(of, len(sig.args))
        return lambda builder, args, loc=None: self.compile_internal(builder, impl, sig, args)

    def get_getattr(self, typ, attr):
        """What reads an attribute."""
        def read(context, builder, typ, val, attr):
            scope = {}
            exec(f"def get(x):\n    return x.{attr}", scope)
            result = typing_context.resolve_getattr(typ, attr)
            return self.compile_internal(builder, scope["get"], result(typ), [val])

        return read

    def call_function_pointer(self, builder, funcptr, args, cconv=None):
        return builder.call(funcptr, args)

    def call_external_function(self, builder, callee, argtys, args):
        return builder.call(callee, args)

    def declare_external_function(self, module, fndesc):
        ftype = FunctionType(self.get_value_type(fndesc.restype), [self.get_value_type(t) for t in fndesc.argtypes])
        return Function(module, ftype, fndesc.mangled_name)

    def printf(self, builder, format_string, *args):
        from .cgutils import printf
        return printf(builder, format_string, *args)

    def sentry_record_alignment(self, rectyp, attr):
        """Accesses may have any alignment."""

    def get_python_api(self, builder):
        raise CannotCarry("the API of Python: generated code runs without Python")

    def subtarget(self, **kws):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise CannotCarry(f"context.{name}")


class _Compiled:
    """What `compile_subroutine` gives: a function that is compiled where it is called."""

    def __init__(self, impl, sig):
        self.impl, self.signature, self.fndesc = impl, sig, self


_SYMBOLS = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//", operator.mod: "%", operator.pow: "**", operator.lshift: "<<", operator.rshift: ">>",
            operator.and_: "&", operator.or_: "|", operator.xor: "^", operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.matmul: "@"}
_wrapped = {}


def _as_function(fn, count):
    """A Python function of so many parameters that calls another one, or does an operation."""
    import types as python_types

    from .. import _tierup
    if isinstance(fn, python_types.FunctionType | _tierup.Dispatcher):
        return fn
    names = [f"x{k}" for k in range(count)]
    if fn in ("getitem", "static_getitem") or fn is operator.getitem:
        body = "x0[x1]"
    elif fn is operator.setitem:
        body = "x0.__setitem__(x1, x2)"
    elif fn in _SYMBOLS and count == 2:
        body = f"x0 {_SYMBOLS[fn]} x1"
    elif isinstance(fn, str):
        raise CannotCarry(f"an operation that Numba names {fn!r}")
    else:
        body = f"fn({', '.join(names)})"
    key = fn, count
    if key not in _wrapped:
        scope = {"fn": fn}
        exec(f"def call({', '.join(names)}):\n    return {body}", scope)
        _wrapped[key] = scope["call"]
    return _wrapped[key]


class _References:
    """`context.nrt`: counts of references, and memory."""

    def _each(self, helper, builder, typ, value):
        model = model_of(typ)
        if isinstance(model, Instance):
            # Numba counts the references in the fields; an instance counts its own, and has one more as a result.
            return
        for leaf, (_, is_reference) in zip(model.to_leaves(builder, value), leaves_of(typ), strict=True):
            if is_reference:
                builder._insert(Instruction(f"call_helper @{helper}", [leaf]))

    def incref(self, builder, typ, value):
        self._each("obj_retain", builder, typ, value)

    def decref(self, builder, typ, value):
        self._each("obj_release", builder, typ, value)

    def meminfo_data(self, builder, meminfo):
        from .. import _tierup
        return Value(voidptr, [builder._emit("load.ptr", meminfo.leaves[0].at(_tierup.BLOCK_DATA), ty="ptr", alias="const")])

    def _new(self, name, builder, size):
        """Memory with an owner, which holds one reference."""
        f = builder.function
        owner = builder._emit(f"call_helper @{name}", f.ctx, builder.zext(size, word).leaves[0], ty="ptr")
        fail_if_pending(builder, [])
        return Value(voidptr, [owner])

    def meminfo_alloc(self, builder, size):
        return self._new("mem_alloc", builder, size)

    def meminfo_alloc_aligned(self, builder, size, align):
        return self._new("mem_alloc", builder, size)

    def meminfo_new_varsize(self, builder, size):
        return self._new("mem_alloc", builder, size)

    def get_meminfos(self, builder, ty, val):
        """The counted objects in a value."""
        model = model_of(ty)
        return [(ty, Value(voidptr, [leaf])) for leaf, (_, is_reference) in zip(model.to_leaves(builder, val), leaves_of(ty), strict=True) if is_reference]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise CannotCarry(f"context.nrt.{name}: memory is made by functions of Python, which context.compile_internal calls")


class _CallConv:
    """How functions raise exceptions."""

    def __init__(self, context):
        self._context = context

    def return_user_exc(self, builder, exc, exc_args=None, loc=None, func_name=None):
        args = ", ".join(map(repr, exc_args or ()))
        scope = {"exc": exc}
        exec(f"def raises():\n    raise exc({args})", scope)
        f = builder.function
        status = f.leaf("i64")
        builder._insert(Instruction(f"call @{f.called(scope['raises'], [], types.none)}", [f.ctx], [status]))
        give_status(builder, status)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise CannotCarry(f"context.call_conv.{name}: functions of compiled code have a calling convention of their own")


class Context:
    """What typing functions are given first: Numba's typing context."""

    target_context = None

    def resolve_value_type(self, val):
        """The type of a value; of a function what can be called."""
        if callable(val) and not isinstance(val, types.Type):
            return _kinds._function(val)
        return types.typeof(val)

    resolve_value_type_prefer_literal = resolve_argument_type = resolve_value_type

    def resolve_function_type(self, func, args, kws):
        """The signature of a call of a function with arguments of these types."""
        from .._jit import njit
        fn = getattr(func, "_function", None) or getattr(func, "typing_key", None) or func
        impl = _as_function(fn, len(args))
        from .._tierup import Dispatcher
        dispatcher = impl if isinstance(impl, Dispatcher) else njit(impl)
        result = _result(dispatcher, args)
        return types.signature(result, *args)

    def resolve_getattr(self, typ, attr):
        own = resolved(typ, attr)
        if own is not None:
            return own
        scope = {}
        exec(f"def get(x):\n    return x.{attr}", scope)
        from .._jit import njit
        return _result(njit(scope["get"]), (typ,))

    def unify_types(self, *typelist):
        """The type that holds values of all of these; None where there is none."""
        import numpy
        first = typelist[0]
        if all(t == first for t in typelist):
            return first
        if all(isinstance(t, types.Number) for t in typelist):
            return types.from_dtype(numpy.result_type(*(types.as_dtype(getattr(t, "literal_type", t)) for t in typelist)))
        return None

    unify_pairs = unify_types

    def can_convert(self, fromty, toty):
        """How good a conversion is, as Numba numbers it: 1 exact, 3 safe, 4 one that may lose something; None where there is none."""
        fromty = getattr(fromty, "literal_type", fromty)
        if fromty == toty:
            return 1
        numbers = types.Number | types.Boolean
        if not (isinstance(fromty, numbers) and isinstance(toty, numbers)) or isinstance(fromty, types.Complex) and not isinstance(toty, types.Complex):
            return None
        import numpy
        return 3 if numpy.can_cast(types.as_dtype(fromty), types.as_dtype(toty), "safe") else 4

    def refresh(self):
        """What is registered is known at once."""


def _result(dispatcher, args):
    """The type of what a function gives for arguments of these types."""
    given = [getattr(t, "literal_type", t) for t in args]
    dispatcher.compile(tuple(given))
    return dispatcher.nopython_signatures[-1].return_type


def populate_array(array, data, shape, strides, itemsize, meminfo, parent=None):
    """Sets the members of an array."""
    target_context.populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=meminfo, parent=parent)
    return array


def empty_nd_impl(context, builder, arrtype, shapes):
    """A new array, as a proxy: what Numba calls `_empty_nd_impl`."""
    import numpy
    dtype = types.as_dtype(arrtype.dtype)
    n = len(shapes)
    names = ", ".join(f"x{k}" for k in range(n))
    scope = {"empty": numpy.empty, "dtype": dtype}
    order = ", order='F'" if arrtype.layout == "F" else ""
    exec(f"def make({names}):\n    return empty(({names}{',' if n == 1 else ''}), dtype{order})", scope)
    made = call_python(builder, scope["make"], [(types.intp, builder.sext(s, word)) for s in shapes], arrtype)
    return create_struct_proxy(arrtype)(context, builder, made)


typing_context = Context()
target_context = TargetContext()

__all__ = ["Context", "IntType", "PointerType", "TargetContext", "VoidType", "target_context", "typing_context"]
