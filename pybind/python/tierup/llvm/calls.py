"""Calls of functions by name: intrinsics of LLVM, functions of C, functions by their addresses."""

from .. import _tierup
from . import CannotCarry
from .function import Block, Function, Instruction
from .types import DoubleType, FloatType, FunctionType, IntType, Leaf, LiteralStructType, PointerType, Value, VoidType

_i64 = IntType(64)


def call(builder, fn, args):
    ftype = _function_type(fn)
    if len(args) < len(ftype.args) or len(args) > len(ftype.args) and not ftype.var_arg:
        raise TypeError(f"{fn.name or 'a function'} takes {len(ftype.args)} arguments, and is given {len(args)}")
    for k, (a, t) in enumerate(zip(args, ftype.args, strict=False)):
        if a.type != t:
            raise TypeError(f"Type of #{k + 1} arg mismatch: {t} != {a.type}")
    if isinstance(fn, Function):
        if fn.name.startswith("llvm."):
            return _intrinsic(builder, fn.name.removeprefix("llvm."), ftype, args)
        return call_of_c(builder, fn.name, ftype.return_type, args, ftype.var_arg)
    at = builder.ptrtoint(fn, _i64)
    return _call_address(builder, at.leaves[0], ftype.return_type, args, ftype.var_arg)


def _function_type(fn):
    if isinstance(fn, Function):
        return fn.ftype
    typ = getattr(fn, "type", None)
    if not isinstance(typ, PointerType) or not isinstance(typ.pointee, FunctionType):
        raise TypeError(f"what is called is a function or a pointer to one, not {fn!r}")
    return typ.pointee


# ---------------------------------------------------------------- C

#: Addresses of functions by their names: `llvmlite.binding.add_symbol`.
_symbols = {}

#: Functions of numbers that the run-time has: under the names of C, for both floats.
_ELEMENTARY = {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "erf", "erfc",
               "atan2", "pow", "hypot", "nextafter"}
_ROUNDING = {"floor": "ffloor", "ceil": "fceil", "trunc": "ftrunc", "rint": "fnearest", "nearbyint": "fnearest", "fabs": "fabs", "sqrt": "fsqrt", "copysign": "fcopysign", "fma": "fma"}


def _elementary(builder, name, args):
    """A function of floats, by the name that C gives that of doubles; None where the run-time has none."""
    typ = args[0].type
    if not all(a.type == typ and isinstance(typ, (DoubleType, FloatType)) for a in args):
        return None
    leaves = [a.leaves[0] for a in args]
    if name in _ROUNDING:
        return Value(typ, [builder._emit(f"{_ROUNDING[name]}.{typ.lir}", *leaves, ty=typ.lir)])
    if name in _ELEMENTARY:
        return Value(typ, [builder._emit(f"call_helper @{typ.lir}_{name}", *leaves, ty=typ.lir, pure=True)])
    return None


def address_of(name):
    """Where a function of C of that name is."""
    import ctypes
    if name in _symbols:
        return _symbols[name]
    try:
        return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
    except AttributeError:
        raise CannotCarry(f"there is no function of C named {name!r} in this process: load its library first, or name its address by llvmlite.binding.add_symbol") from None


def call_of_c(builder, name, ret, args, var_arg=False):
    if args and isinstance(ret, (DoubleType, FloatType)):
        plain = name if isinstance(ret, DoubleType) else name.removesuffix("f")
        found = _elementary(builder, plain, args) if isinstance(ret, DoubleType) or name != plain else None
        if found is not None:
            return found
    pointer = Leaf("ptr", text="", address=address_of(name))
    return _call_address(builder, builder._emit("bitcast.i64", pointer, ty="i64"), ret, args, var_arg)


def _call_address(builder, at, ret, args, var_arg):
    """Puts arguments where the platform has them, and calls a function by its address."""
    ints, floats, most = _tierup.C_REGISTERS
    if var_arg and any(isinstance(a.type, (DoubleType, FloatType)) for a in args):
        raise CannotCarry("floats among the arguments of a function of C that takes any number of them")
    frames = {kind: builder.alloca(_i64, size).leaves[0] for kind, size in (("int", ints), ("float", floats), ("stack", most))}
    used = dict.fromkeys(frames, 0)
    for a in args:
        if len(a.leaves) != 1:
            raise CannotCarry(f"a function of C is passed numbers and pointers here, not a value of type {a.type}")
        floating = isinstance(a.type, (DoubleType, FloatType))
        kind = "float" if floating else "int"
        if used[kind] == (floats if floating else ints):
            kind = "stack"
        if used["stack"] == most:
            raise CannotCarry("a function of C is passed more arguments than are carried")
        word = a if floating or a.type.is_pointer else builder.sext(a, _i64)
        builder._emit(f"store.{word.type.lir}", word.leaves[0], frames[kind].at(8 * used[kind]))
        used[kind] += 1
    gives = 1 if isinstance(ret, DoubleType) else 2 if isinstance(ret, FloatType) else 0
    numbers = [Leaf("i64", text=str(n)) for n in (used["stack"], gives)]
    bits = Value(_i64, [builder._emit("call_helper @c_call", at, frames["int"], frames["float"], frames["stack"], *numbers, ty="i64")])
    if isinstance(ret, VoidType):
        return Value(ret, [])
    if gives:
        return builder.bitcast(bits if gives == 1 else builder.trunc(bits, IntType(32)), ret)
    if ret.is_pointer:
        return builder.inttoptr(bits, ret)
    if len(ret.leaves) != 1:
        raise CannotCarry(f"a function of C gives a number, a pointer or nothing here, not {ret}")
    return builder.trunc(bits, ret)


# ---------------------------------------------------------------- intrinsics


def _intrinsic(builder, name, ftype, args):
    ret = ftype.return_type
    parts = name.split(".")
    for count in (3, 2, 1):
        make = _INTRINSICS.get(".".join(parts[:count]))
        if make is not None:
            return make(builder, ret, *args)
    if parts[0] in ("lifetime", "dbg", "assume", "donothing", "prefetch", "invariant", "experimental", "sideeffect"):
        return Value(VoidType(), [])
    found = _elementary(builder, parts[0], args) if args else None
    if found is None:
        raise CannotCarry(f"the intrinsic llvm.{name}")
    return found


def _unary(op):
    return lambda b, ret, x, *flag: Value(ret, [b._emit(f"{op}.{ret.lir}", x.leaves[0], ty=ret.lir)])


def _binary(op):
    return lambda b, ret, x, y: Value(ret, [b._emit(f"{op}.{ret.lir}", x.leaves[0], y.leaves[0], ty=ret.lir)])


def _bswap(b, ret, x):
    made, n = None, ret.width // 8
    for k in range(n):
        byte = b.and_(b.lshr(x, ret(8 * k)), ret(255))
        byte = b.shl(byte, ret(8 * (n - 1 - k)))
        made = byte if made is None else b.or_(made, byte)
    return made


def _bitreverse(b, ret, x):
    k = 1
    while k < ret.width:
        mask = sum(((1 << k) - 1) << at for at in range(0, ret.width, 2 * k))
        x = b.or_(b.shl(b.and_(x, ret(mask)), ret(k)), b.and_(b.lshr(x, ret(k)), ret(mask)))
        k *= 2
    return x


def _pair(b, value, flag):
    return Value(LiteralStructType([value.type, IntType(1)]), [*value.leaves, *flag.leaves])


def _signed_overflow(op, method):
    def make(b, ret, x, y):
        flag = b._emit(f"{op}_overflows.{x.type.lir}", x.leaves[0], y.leaves[0], ty="i8")
        return _pair(b, getattr(b, method)(x, y), Value(IntType(1), [flag]))

    return make


def _uadd(b, ret, x, y):
    total = b.add(x, y)
    return _pair(b, total, b.icmp_unsigned("<", total, x))


def _usub(b, ret, x, y):
    return _pair(b, b.sub(x, y), b.icmp_unsigned("<", x, y))


def _umul(b, ret, x, y):
    product, zero = b.mul(x, y), x.type(0)
    # What is divided by zero is zero.
    return _pair(b, product, b.and_(b.icmp_unsigned("!=", x, zero), b.icmp_unsigned("!=", b.udiv(product, x), y)))


def _saturated(method, overflow, signed):
    def make(b, ret, x, y):
        pair = overflow(b, None, x, y)
        most, least = (1 << ret.width - 1) - 1, -(1 << ret.width - 1)
        if signed:
            full = b.select(b.icmp_signed("<", x, ret(0)), ret(least), ret(most))
        else:
            full = ret(-1 if method == "add" else 0)
        return b.select(b.extract_value(pair, 1), full, b.extract_value(pair, 0))

    return make


def _funnel(left):
    def make(b, ret, x, y, n):
        n = b.urem(n, ret(ret.width))
        rest = b.sub(ret(ret.width), n)
        # A shift by the whole width is one by nothing in LIR.
        if left:
            return b.select(b.icmp_unsigned("==", n, ret(0)), x, b.or_(b.shl(x, n), b.lshr(y, rest)))
        return b.select(b.icmp_unsigned("==", n, ret(0)), y, b.or_(b.lshr(y, n), b.shl(x, rest)))

    return make


def _abs(b, ret, x, flag):
    return b.select(b.icmp_signed("<", x, ret(0)), b.neg(x), x)


def _extreme(cmpop, quiet):
    """The larger or the smaller: a number where one is NaN, or NaN."""
    def make(b, ret, x, y):
        better = b.select(b.fcmp_ordered(cmpop, x, y), x, y)
        if quiet:
            return b.select(b.fcmp_unordered("uno", y, y), x, better)
        return b.select(b.fcmp_unordered("uno", x, x), x, b.select(b.fcmp_unordered("uno", y, y), y, better))

    return make


def _copy(b, ret, to, from_, count, *rest):
    b._emit("call_helper @mem_copy", to.leaves[0], from_.leaves[0], b.zext(count, _i64).leaves[0])
    return Value(VoidType(), [])


def _c_memory(name):
    def make(b, ret, to, other, count, *rest):
        if not other.type.is_pointer:
            other = b.zext(other, IntType(32))
        call_of_c(b, name, to.type, [to, other, b.zext(count, _i64)])
        return Value(VoidType(), [])

    return make


def _powi(b, ret, x, n):
    return call_of_c(b, "pow" if ret.lir == "f64" else "powf", ret, [x, b.sitofp(n, ret)])


def _fma(b, ret, x, y, z):
    return Value(ret, [b._emit(f"fma.{ret.lir}", *(v.leaves[0] for v in (x, y, z)), ty=ret.lir)])


def _fmuladd(b, ret, x, y, z):
    return b.fadd(b.fmul(x, y), z)


_SADD, _SSUB = _signed_overflow("sadd", "add"), _signed_overflow("ssub", "sub")
_INTRINSICS = {
    "ctpop": _unary("popcnt"), "ctlz": _unary("clz"), "cttz": _unary("ctz"), "bswap": _bswap, "bitreverse": _bitreverse,
    "smin": _binary("smin"), "smax": _binary("smax"), "umin": _binary("umin"), "umax": _binary("umax"), "abs": _abs,
    "sadd.with.overflow": _SADD, "ssub.with.overflow": _SSUB, "smul.with.overflow": _signed_overflow("smul", "mul"),
    "uadd.with.overflow": _uadd, "usub.with.overflow": _usub, "umul.with.overflow": _umul,
    "sadd.sat": _saturated("add", _SADD, True), "ssub.sat": _saturated("sub", _SSUB, True), "uadd.sat": _saturated("add", _uadd, False), "usub.sat": _saturated("sub", _usub, False),
    "fshl": _funnel(True), "fshr": _funnel(False), "fma": _fma, "fmuladd": _fmuladd, "roundeven": _unary("fnearest"),
    "minnum": _extreme("<", True), "maxnum": _extreme(">", True), "minimum": _extreme("<", False), "maximum": _extreme(">", False),
    "expect": lambda b, ret, x, y: x, "powi": _powi, "memcpy": _copy, "memmove": _c_memory("memmove"), "memset": _c_memory("memset"),
}  # fmt: skip


# ---------------------------------------------------------------- functions of Python


def call_python(builder, function, args, ret, keep=False):
    """Calls a Python function, which is compiled with it, and goes on where it raises nothing. Arguments are pairs of a type and a value. The result has
    references of its own, which the function drops at its end if it is to `keep` them so long."""
    from .models import leaves_of, model_of
    f = builder.function
    name = f.called(function, [t for t, _ in args], ret)
    operands = [f.ctx] + [leaf for t, v in args for leaf in model_of(t).to_leaves(builder, v)]
    results = [f.leaf(ty) for ty in ["i64", *(n for n, _ in leaves_of(ret))]]
    builder._insert(Instruction(f"call @{name}", operands, results))
    goes_wrong = Value(IntType(1), [builder._emit("icmp_ne.i64", results[0], Leaf("i64", text="0"), ty="i8")])
    bad, good = Block(f, "raises"), builder.append_basic_block("goes_on")
    f.blocks.append(bad)
    bad.cold = True
    builder.cbranch(goes_wrong, bad, good)
    builder.position_at_end(bad)
    give_status(builder, results[0])
    builder.position_at_end(good)
    if keep:
        for leaf, (_, is_reference) in zip(results[1:], leaves_of(ret), strict=True):
            if is_reference:
                f.keep(builder, leaf)
    return model_of(ret).from_leaves(builder, results[1:])


def give_status(builder, status):
    """Leaves the function with an exception."""
    builder._end("raise", [status])
