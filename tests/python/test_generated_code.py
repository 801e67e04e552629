"""What generated code calls, how it is typed, what it cannot be, and what it keeps."""

import ctypes
import dataclasses
import gc
import operator
import pickle
import sys

import numpy as np
import pytest
from generators import f32, f64, i32, i64, in_each_tier, makes, makes_with_context  # noqa: F401
from harness.build import needs_llvm
from tierup import TypingError, njit, types
from tierup import extending as ext
from tierup.extending import intrinsic
from tierup.llvm import cgutils, ir

WHERE = __file__


# ---------------------------------------------------------------- calls


def test_functions_of_c(tier):
    @makes(types.Tuple((i64, f64, f32, i32))(i64, f64))
    def calls(b, n, x):
        module, double, float_, l64 = b.module, ir.DoubleType(), ir.FloatType(), ir.IntType(64)
        labs = cgutils.get_or_insert_function(module, ir.FunctionType(l64, [l64]), "labs")
        ldexp = ir.Function(module, ir.FunctionType(double, [double, ir.IntType(32)]), "ldexp")
        hypotf = ir.Function(module, ir.FunctionType(float_, [float_, float_]), "hypotf")
        small = b.fptrunc(x, float_)
        strlen = ir.Function(module, ir.FunctionType(l64, [cgutils.voidptr_t]), "strlen")
        text = cgutils.global_constant(b, "text", cgutils.make_bytearray(b"four\0"))
        parts = [b.call(labs, [n]), b.call(ldexp, [x, b.trunc(n, ir.IntType(32))]), b.call(hypotf, [small, small]), b.trunc(b.call(strlen, [b.bitcast(text, cgutils.voidptr_t)]), ir.IntType(32))]
        return cgutils.make_anonymous_struct(b, parts)

    f = njit(lambda n, x: calls(n, x))
    assert f(-3, 8.0) == (3, 1.0, np.hypot(np.float32(8), np.float32(8)), 4)


def test_functions_by_address(tier):
    total = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * 9, *[ctypes.c_long] * 8)(lambda *args: sum(k * x for k, x in enumerate(args)))
    at = ctypes.cast(total, ctypes.c_void_p).value

    @intrinsic
    def call(typingctx, x, n):
        def codegen(context, builder, sig, args):
            double, l64 = ir.DoubleType(), ir.IntType(64)
            ftype = ir.FunctionType(double, [double] * 9 + [l64] * 8)
            function = builder.bitcast(context.add_dynamic_addr(builder, at, info="total"), ftype.as_pointer())
            constant = builder.inttoptr(context.get_constant(types.uintp, at), ftype.as_pointer())
            given = [args[0]] * 9 + [args[1]] * 8
            return builder.fadd(builder.call(function, given), context.call_function_pointer(builder, constant, given))

        return types.float64(types.float64, types.int64), codegen

    assert njit(lambda x, n: call(x, n))(0.5, 3) == 2 * (0.5 * sum(range(9)) + 3 * sum(range(9, 17)))


def test_functions_of_python(tier):
    @njit
    def helper(a, k):
        if k < 0:
            raise ValueError("negative")
        return a.sum() + k

    @intrinsic
    def use(typingctx, a, k):
        def codegen(context, builder, sig, args):
            first = context.compile_internal(builder, helper, types.float64(a, types.int64), args)
            add = context.get_function(operator.add, types.float64(types.float64, types.float64))
            with cgutils.if_unlikely(builder, builder.fcmp_ordered(">", first, first.type(100.0))):
                context.call_conv.return_user_exc(builder, OverflowError, ("too much",))
            return add(builder, [first, first])

        return types.float64(a, types.int64), codegen

    @njit
    def f(a, k):
        try:
            return use(a, k)
        except ValueError:
            return -1.0

    a = np.arange(4.0)
    assert f(a, 2) == 16.0
    gc.collect()
    # What a generator calls lives as long as what it wrote, also where that is compiled again.
    again = njit(lambda a, k: use(a, k))
    assert f(a, -1) == -1.0 and again(a, 2) == 16.0
    with pytest.raises(OverflowError, match="too much"):
        f(a, 1000)


def test_what_a_called_function_gives_is_what_the_generator_takes_it_for():
    def listed(x):
        return [x]

    def use(ret):
        @intrinsic
        def call(typingctx, x):
            return ret(x), lambda context, builder, sig, args: context.compile_internal(builder, listed, sig, args)

        return njit(lambda x: call(x))

    assert use(types.List(types.int64))(3) == [3]
    for wrong in (types.List(types.float64), types.unicode_type, types.float64):
        with pytest.raises(TypingError, match=r"listed\(\) gives list\(int64\), and the code generator of call\(\) takes it for"):
            use(wrong)(3)


def test_a_loop_that_calls_python(tier):
    def step(x):
        return x * 2 + 1

    @makes_with_context(i64(i64))
    def repeated(context, b, n):
        out = cgutils.alloca_once_value(b, n.type(0))
        with cgutils.for_range(b, n):
            b.store(context.compile_internal(b, step, types.int64(types.int64), [b.load(out)]), out)
        return b.load(out)

    assert njit(lambda n: repeated(n))(10) == 1023


# ---------------------------------------------------------------- templates


def test_functions_and_attributes_with_templates(tier):
    from tierup.extending import infer_getattr, infer_global, lower_builtin, lower_getattr, type_callable
    from tierup._lowering import AttributeTemplate, ConcreteTemplate

    def of_callable(x, y=1):
        raise NotImplementedError

    @type_callable(of_callable)
    def _(context):
        def typer(x, y=1):
            if isinstance(x, types.Integer):
                return types.int64
            if isinstance(x, types.Array):
                return x.dtype

        return typer

    @lower_builtin(of_callable, types.Integer, types.Any)
    def _(context, builder, sig, args):
        x = context.cast(builder, args[0], sig.args[0], types.int64)
        if isinstance(sig.args[1], types.Omitted):
            return builder.add(x, context.get_constant(types.int64, 100 + sig.args[1].value))
        return builder.add(x, context.cast(builder, args[1], sig.args[1], types.int64))

    @lower_builtin(of_callable, types.Array)
    def _(context, builder, sig, args):
        return builder.load(context.make_array(sig.args[0])(context, builder, args[0]).data)

    def of_cases(x, y):
        raise NotImplementedError

    @infer_global(of_cases)
    class Cases(ConcreteTemplate):
        key = of_cases
        cases = [types.float64(types.float64, types.float64)]

    @lower_builtin(of_cases, types.float64, types.float64)
    def _(context, builder, sig, args):
        return builder.fmul(*args)

    @infer_getattr
    class OfArrays(AttributeTemplate):
        key = types.Array

        def resolve_first_length(self, ary):
            return types.intp

    @lower_getattr(types.Array, "first_length")
    def _(context, builder, typ, val):
        return builder.extract_value(context.make_array(typ)(context, builder, val).shape, 0)

    @njit
    def f(x, a):
        return of_callable(x), of_callable(x, 5), of_callable(y=7, x=x), of_callable(a), of_cases(x, 2.5), a.first_length

    assert f(3, np.array([1.5, 2.0])) == (104, 8, 10, 1.5, 7.5, 2)


def test_assignments_to_attributes(tier):
    """By name, and by any name that a template types."""
    from tierup._lowering import AttributeTemplate
    from tierup.extending import infer_getattr, lower_getattr_generic, lower_setattr, lower_setattr_generic

    class Cells:
        def __init__(self, data):
            self.data = data

    class CellsType(types.Type):
        def __init__(self, data):
            self.data = data
            super().__init__(name=f"Cells({data})")

    from tierup.extending import typeof_impl

    @typeof_impl.register(Cells)
    def _(val, c):
        return CellsType(typeof_impl(val.data, c))

    @infer_getattr
    class CellsTemplate(AttributeTemplate):
        key = CellsType

        def generic_resolve(self, t, name):
            if name.startswith("cell"):
                return t.data.dtype

    def place(context, builder, t, value, k):
        cells = cgutils.create_struct_proxy(t)(context, builder, value)
        data = context.make_array(t.data)(context, builder, cells.data)
        return builder.gep(data.data, [cgutils.intp_t(k)])

    @lower_getattr_generic(CellsType)
    def _(context, builder, t, value, name):
        return builder.load(place(context, builder, t, value, int(name[4:])))

    @lower_setattr_generic(CellsType)
    def _(context, builder, sig, args, name):
        builder.store(args[1], place(context, builder, sig.args[0], args[0], int(name[4:])))

    @lower_setattr(CellsType, "first")
    def _(context, builder, sig, args):
        assert sig.args[1] == types.int64
        doubled = builder.sitofp(builder.shl(args[1], args[1].type(1)), ir.DoubleType())
        builder.store(doubled, place(context, builder, sig.args[0], args[0], 0))

    @njit
    def f(c, k):
        c.cell1 = k
        c.cell2 += 1.5
        c.first = k
        return c.cell0, c.cell1, c.cell2

    c = Cells(np.zeros(3))
    assert f(c, 5) == (10.0, 5.0, 1.5) and c.data.tolist() == [10.0, 5.0, 1.5]
    with pytest.raises(TypingError, match="has no attribute 'other'"):
        njit(lambda c: c.other)(c)


def test_elements_by_the_functions_of_numbas_inside(tier):
    from tierup.extending import lower_builtin, type_callable
    from tierup.llvm.context import typing_context
    from tierup.llvm.indexing import basic_indexing, get_array_index_type, normalize_indices

    def swapped(a, i, x):
        raise NotImplementedError

    @type_callable(swapped)
    def _(context):
        def typer(a, i, x):
            found = get_array_index_type(a, i)
            if found is not None and context.can_convert(x, found.result):
                return found.result
        return typer

    @lower_builtin(swapped, types.Buffer, types.Any, types.Any)
    def _(context, builder, sig, args):
        aryty, idxty, xty = sig.args
        of, at = (idxty.types, cgutils.unpack_tuple(builder, args[1], len(idxty))) if isinstance(idxty, types.BaseTuple) else ((idxty,), (args[1],))
        of, at = normalize_indices(context, builder, of, at)
        a = context.make_array(aryty)(context, builder, args[0])
        place, shapes, _ = basic_indexing(context, builder, aryty, a, of, at, boundscheck=context.enable_boundscheck)
        assert not shapes
        return builder.atomic_rmw("xchg", place, context.cast(builder, args[2], xty, aryty.dtype), "monotonic")

    @njit
    def f(a, m, k):
        return swapped(a, k, 7), swapped(m, (0, k), 2), swapped(a, np.uint8(1), 9)

    a, m = np.arange(3), np.arange(4).reshape(2, 2)
    assert f(a, m, -1) == (2, 1, 1) and a.tolist() == [0, 9, 7] and m.tolist() == [[0, 2], [2, 3]]
    with pytest.raises(IndexError):
        f(a, m, 3)
    with pytest.raises(TypingError, match="swapped"):
        njit(lambda m: swapped(m, 0, 1))(m)
    assert typing_context.can_convert(types.complex128, types.float64) is None and typing_context.can_convert(types.int32, types.float64) == 3
    assert typing_context.can_convert(types.literal(3), types.int64) == 1 and typing_context.can_convert(types.int64, types.uint64) == 4


# ---------------------------------------------------------------- what cannot be carried


def line_of(text):
    with open(WHERE) as f:
        return next(n for n, line in enumerate(f, 1) if line.rstrip().endswith(text))


@pytest.mark.parametrize("write, says", [
    (lambda b, x: b.asm(ir.FunctionType(x.type, [x.type]), "nop", "=r,r", [x], False), "inline assembly"),
    (lambda b, x: b.atomic_rmw("fmax", b.alloca(x.type), x, "monotonic"), "atomic_rmw"),
    (lambda b, x: b.trunc(b.zext(x, ir.IntType(96)), x.type), "96 bits"),
    (lambda b, x: b.trunc(b.udiv(b.zext(x, ir.IntType(128)), ir.IntType(128)(3)), x.type), "128 bits"),
    (lambda b, x: b.call(b.module.declare_intrinsic("llvm.unknown", [x.type]), [x]), "llvm.unknown"),
    (lambda b, x: b.call(ir.Function(b.module, ir.FunctionType(x.type, [x.type]), "no_such_function"), [x]), "no function of C named 'no_such_function'"),
    (lambda b, x: b.load(cgutils.add_global_variable(b.module, x.type, "state")), "'state'"),
    (lambda b, x: ir.Constant(ir.VectorType(x.type, 4), [1, 2, 3, 4]), "vectors"),
    (lambda b, x: b.load(b.alloca(x.type, b.add(x, x))), "alloca"),
])  # fmt: skip
def test_what_lir_has_not_is_said_at_the_line_of_the_generator(write, says):
    @makes(i64(i64))
    def op(builder, x):
        return write(builder, x)

    with pytest.raises(Exception, match=r"\[bad-generator\]") as raised:
        njit(lambda x: op(x))(1)
    first, _, rest = str(raised.value).partition(" [bad-generator]")
    where = write.__code__.co_firstlineno
    assert says in first and f"{WHERE}:{where})" in first and raised.value.line == line_of("njit(lambda x: op(x))(1)"), str(raised.value)


def test_mistakes_of_generators():
    @makes(types.int32(i64))
    def wrong(builder, x):
        return x

    @makes(i64(i64))
    def nothing(builder, x):
        pass

    @makes(i64(i64))
    def mixed(builder, x):
        return builder.add(x, ir.Constant(ir.IntType(32), 1))

    @makes(i64(i64))
    def open_block(builder, x):
        builder.branch(builder.append_basic_block("open"))
        builder.position_at_end(builder.append_basic_block("other"))
        return x

    for op, says in [(wrong, "value of type i64, and its signature says int32"), (nothing, "non-void function returns None"), (mixed, r"Operands must be the same type, got \(i64, i32\)"), (open_block, "has no end")]:
        with pytest.raises(Exception, match=says):
            njit(lambda x: op(x))(1)

    @intrinsic
    def no_pair(typingctx, x):
        return types.int64

    with pytest.raises(TypingError, match="gives a signature and a code generator"):
        njit(lambda x: no_pair(x))(1)


def test_a_pickled_intrinsic_is_itself():
    @intrinsic
    def same(typingctx, x):
        return x(x), lambda context, builder, sig, args: args[0]

    f = njit(lambda x: same(x))
    assert pickle.loads(pickle.dumps(same)) is same and pickle.loads(pickle.dumps(f))(3) == f(3) == 3


# ---------------------------------------------------------------- memory and the cache


def test_nothing_is_kept(tier):
    import resource

    @intrinsic
    def same(typingctx, a):
        return a(a), lambda context, builder, sig, args: cgutils.impl_ret_borrowed(context, builder, sig.return_type, args[0])

    @intrinsic
    def memory(typingctx, n):
        return types.CPointer(types.float64)(n), lambda context, builder, sig, args: cgutils.alloca_once(builder, ir.DoubleType(), size=args[0])

    @intrinsic
    def first(typingctx, n):
        def codegen(context, builder, sig, args):
            at = cgutils.alloca_once(builder, ir.DoubleType(), size=args[0])
            builder.store(builder.sitofp(args[0], ir.DoubleType()), at)
            with cgutils.if_unlikely(builder, builder.icmp_signed(">", args[0], args[0].type(100_000))):
                context.call_conv.return_user_exc(builder, ValueError, ("too many",))
            return builder.load(at)

        return types.float64(n), codegen

    @njit
    def f(n):
        total = 0.0
        for k in range(n):
            a = same(same(np.zeros(100_000)))
            p = memory(100_000)
            p[0] = k
            total += a[0] + p[0] + first(100_000)
            try:
                first(100_001)
            except ValueError:
                total += 1.0
        return total

    f(2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert f(200) == sum(range(200)) + 200 * 100_001
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000


PROGRAM = """
import ctypes, sys
from tierup import config, njit, types
from tierup.extending import intrinsic
from tierup.llvm import ir

config.tier = "1"
pad = [ctypes.create_string_buffer(40_000) for _ in range(int(sys.argv[1]))]
callbacks = [ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(lambda x, k=k: x + 1000 * k) for k in range(3)]
at = ctypes.cast(callbacks[int(sys.argv[1])], ctypes.c_void_p).value

@intrinsic
def call(typingctx, x):
    def codegen(context, builder, sig, args):
        number = ir.IntType(64)
        function = builder.inttoptr(context.get_constant(types.uintp, at), ir.FunctionType(number, [number]).as_pointer())
        return builder.call(function, args)

    return types.int64(types.int64), codegen

print(njit(lambda x: call(x))(5))
"""


@needs_llvm
def test_addresses_are_not_in_the_cache(tmp_path):
    import os
    import subprocess
    import sys
    env = {**os.environ, "TIERUP_CACHE": "1", "TIERUP_CACHE_DIR": str(tmp_path)}
    said = [subprocess.run([sys.executable, "-c", PROGRAM, str(k)], env=env, capture_output=True, text=True, check=True).stdout for k in range(3)]
    assert said == ["5\n", "1005\n", "2005\n"]
    assert len([p for p in tmp_path.rglob("*") if p.is_file()]) == 1


# ---------------------------------------------------------------- memory that threads share; texts and lists


def test_atomic_accesses(tier):
    from tierup import prange

    @intrinsic
    def atomic_add(typingctx, a, k, x):
        def codegen(context, builder, sig, args):
            array = context.make_array(sig.args[0])(context, builder, args[0])
            at = cgutils.get_item_pointer(context, builder, sig.args[0], array, [args[1]])
            op = "fadd" if isinstance(a.dtype, types.Float) else "add"
            return builder.atomic_rmw(op, at, args[2], "monotonic")

        return a.dtype(a, types.intp, a.dtype), codegen

    @njit(parallel=True)
    def counts(values, made):
        for k in prange(len(values)):
            atomic_add(made, values[k], 1)
        return made

    values = np.random.default_rng(0).integers(0, 5, 20_000)
    expected = np.bincount(values, minlength=5)
    for dtype in (np.int64, np.int32, np.int8, np.float64, np.float32):
        assert (counts(values, np.zeros(5, dtype)) == expected.astype(dtype)).all()

    @makes(types.UniTuple(i32, 6)(i32))
    def steps(b, x):
        at = cgutils.alloca_once_value(b, x)
        constant = lambda n: ir.Constant(x.type, n)
        found = [b.atomic_rmw("max", at, constant(5), "seq_cst"), b.load_atomic(at, "acquire", 4)]
        b.store_atomic(constant(-7), at, "release", 4)
        b.fence("seq_cst")
        pair = b.cmpxchg(at, constant(-7), constant(9), "monotonic")
        found += [b.extract_value(pair, 0), b.zext(b.extract_value(pair, 1), x.type)]
        found += [b.extract_value(b.cmpxchg(at, constant(-7), constant(1), "monotonic"), 0), b.atomic_rmw("umin", at, constant(-1), "monotonic")]
        return cgutils.pack_array(b, found)

    assert njit(lambda x: steps(x))(np.int32(3)) == (3, 5, -7, 1, 9, 9)
    assert njit(lambda x: steps(x))(np.int32(8)) == (8, 8, -7, 1, 9, 9)


def test_texts_and_lists_by_their_members(tier):
    @intrinsic
    def first_and_length(typingctx, s):
        def codegen(context, builder, sig, args):
            text = context.make_helper(builder, sig.args[0], args[0])
            byte = builder.load(text.data)
            return context.make_tuple(builder, sig.return_type, [builder.zext(byte, cgutils.intp_t), text.length, builder.sext(text.kind, cgutils.intp_t)])

        return types.UniTuple(types.intp, 3)(types.unicode_type), codegen

    @intrinsic
    def total_and_replace(typingctx, x):
        def codegen(context, builder, sig, args):
            items = cgutils.ListInstance(context, builder, sig.args[0], args[0])
            total = cgutils.alloca_once_value(builder, cgutils.intp_t(0))
            with cgutils.for_range(builder, items.size) as loop:
                builder.store(builder.add(builder.load(total), items.getitem(loop.index)), total)
                items.setitem(loop.index, loop.index)
            return builder.load(total)

        return types.intp(x), codegen

    @njit
    def f(s, x):
        x[0] = 100
        before = total_and_replace(x)
        between = x[0] + x[2]
        x[1] = 50
        return first_and_length(s + "!"), before, between, total_and_replace(x)

    assert f("Ab", [1, 2, 3]) == ((65, 3, 1), 105, 2, 52)
    assert f("\u0416x", [1, 2, 3])[0] == (0x16, 3, 2)


def test_what_numba_has_for_itself(tier):
    from tierup.llvm import unsafe

    @njit
    def f(t, a, n):
        return unsafe.tuple_setitem(t, 1, 9), unsafe.to_fixed_tuple(a, 2), unsafe.trailing_zeros(n), unsafe.leading_zeros(n), unsafe.viewer(1.5, np.int64)

    assert f((1, 2, 3), np.arange(6.0)[::2], 8) == ((1, 9, 3), (0.0, 2.0), 3, 60, 0x3FF8 << 48)


def test_new_arrays(tier):
    from tierup.llvm.context import empty_nd_impl

    @intrinsic
    def full(typingctx, n, m, x):
        ret = types.Array(types.float64, 2, "C")

        def codegen(context, builder, sig, args):
            made = empty_nd_impl(context, builder, sig.return_type, args[:2])
            with cgutils.loop_nest(builder, args[:2], cgutils.intp_t) as indices:
                builder.store(args[2], cgutils.get_item_pointer(context, builder, sig.return_type, made, indices))
            return made._getvalue()

        return ret(types.intp, types.intp, types.float64), codegen

    @intrinsic
    def of_memory(typingctx, n):
        ret = types.Array(types.int64, 1, "C")

        def codegen(context, builder, sig, args):
            owner = context.nrt.meminfo_alloc(builder, builder.mul(args[0], cgutils.intp_t(8)))
            array = context.make_array(ret)(context, builder)
            data = builder.bitcast(context.nrt.meminfo_data(builder, owner), cgutils.intp_t.as_pointer())
            context.populate_array(array, data=data, shape=[args[0]], strides=[cgutils.intp_t(8)], itemsize=cgutils.intp_t(8), meminfo=owner)
            with cgutils.for_range(builder, args[0]) as loop:
                builder.store(loop.index, builder.gep(data, [loop.index]))
            return array._getvalue()

        return ret(types.intp), codegen

    f = njit(lambda n, m, x: (full(n, m, x), of_memory(n)))
    a, b = f(3, 4, 2.5)
    assert a.shape == (3, 4) and (a == 2.5).all() and b.tolist() == [0, 1, 2]
    with pytest.raises(ValueError):
        f(-3, 4, 2.5)


# ---------------------------------------------------------------- instances of a program's own classes


class Series:
    def __init__(self, values, scale):
        self.values, self.scale = values, scale


class SeriesType(types.Type):
    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Series({dtype})")


@dataclasses.dataclass(frozen=True)
class Span:
    lo: float
    hi: float


class SpanType(types.Type):
    def __init__(self):
        super().__init__(name="Span")


@ext.typeof_impl.register(Series)
def _(val, c):
    return SeriesType(ext.typeof_impl(val.values, c).dtype)


@ext.typeof_impl.register(Span)
def _(val, c):
    return SpanType()


@ext.register_model(SpanType)
class SpanModel(ext.models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("hi", types.float64), ("lo", types.float64)])


def test_frozen_instances_are_structures(tier):
    @intrinsic
    def turned(typingctx, s):
        def codegen(context, builder, sig, args):
            given = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
            assert given._datamodel.members[0][0] == "hi"
            made = context.make_helper(builder, sig.return_type)
            made.lo, made.hi = given.hi, given.lo
            return made._getvalue()

        return SpanType()(s), codegen

    f = njit(lambda s: (turned(s), turned(turned(s)).lo))
    assert f(Span(1.0, 3.0)) == (Span(3.0, 1.0), 1.0)


def test_instances_that_may_change_are_read_and_assigned_to(tier):
    @intrinsic
    def scaled(typingctx, s, by):
        def codegen(context, builder, sig, args):
            given = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
            values = context.make_array(sig.args[0].dtype[::1])(context, builder, given.values)
            with cgutils.for_range(builder, values.nitems) as loop:
                at = builder.gep(values.data, [loop.index])
                builder.store(builder.fmul(builder.load(at), args[1]), at)
            given.scale = builder.fmul(given.scale, args[1])
            return cgutils.impl_ret_borrowed(context, builder, sig.return_type, args[0])

        return s(s, types.float64), codegen

    @intrinsic
    def renewed(typingctx, s):
        def codegen(context, builder, sig, args):
            given = context.make_helper(builder, sig.args[0], args[0])
            made = context.make_helper(builder, sig.return_type)
            made.values = given.values
            made.scale = context.get_constant(types.float64, 0.5)
            return made._getvalue()

        return s(s), codegen

    @njit
    def f(s, n):
        same = True
        for _ in range(n):
            t = scaled(s, 2.0)
            same = same and t is s
        new = renewed(s)
        new.values[0] = -1.0
        return same, s.scale, new, new is s

    s = Series(np.arange(1.0, 4.0), 1.0)
    same, scale, new, is_same = f(s, 3)
    assert (same, scale, s.scale, is_same) == (True, 8.0, 8.0, False)
    assert type(new) is Series and new.scale == 0.5 and s.values.tolist() == new.values.tolist() == [-1.0, 16.0, 24.0]
    counts = []
    for _ in range(3):
        for _ in range(20):
            f(s, 3)
        counts.append(sys.getrefcount(s.values))
    assert len(set(counts)) == 1


def test_a_type_without_instances():
    class Ghost(types.Type):
        def __init__(self):
            super().__init__(name="Ghost")

    @intrinsic
    def conjure(typingctx):
        return Ghost()(), lambda context, builder, sig, args: None

    with pytest.raises(Exception, match=r"\[bad-generator\]") as raised:
        njit(lambda: conjure())()
    assert "a value of type Ghost: compiled code has met no instance" in str(raised.value)


def test_new_instances_are_made_of_their_fields():
    class Odd:
        def __init__(self, n):
            self.twice, self.name = 2 * n, "odd"

    class OddType(types.Type):
        def __init__(self):
            super().__init__(name="Odd")

    ext.typeof_impl.register(Odd)(lambda val, c: OddType())

    def renewing(*names):
        @intrinsic
        def renewed(typingctx, s):
            def codegen(context, builder, sig, args):
                given, made = context.make_helper(builder, sig.args[0], args[0]), context.make_helper(builder, sig.return_type)
                for name in names:
                    setattr(made, name, getattr(given, name))
                return made._getvalue()

            return s(s), codegen

        return njit(lambda s: renewed(s))

    made = renewing("name", "twice")(Odd(4))
    assert type(made) is Odd and (made.twice, made.name) == (8, "odd")
    assert renewing("name")(Odd(4)).twice == 0
    with pytest.raises(Exception, match="a new instance of Odd without anything in the field 'name'"):
        renewing("twice")(Odd(4))
