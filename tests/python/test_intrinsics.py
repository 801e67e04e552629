"""`tierup.extending.intrinsic`: what generators write on the builder, in all tiers."""

import operator
import struct

import numpy as np
import pytest
from generators import boolean, f32, f64, i64, in_each_tier, makes  # noqa: F401
from tierup import njit, types
from tierup.extending import intrinsic
from tierup.llvm import cgutils, ir


def test_sums_and_bits(tier):
    @intrinsic
    def add(typingctx, a, b):
        def codegen(context, builder, sig, args):
            assert sig == types.int64(types.int64, types.int64)
            return builder.add(*args)

        return types.int64(types.int64, types.int64), codegen

    @intrinsic
    def bits(typingctx, x):
        def codegen(context, builder, sig, args):
            return builder.bitcast(args[0], ir.IntType(64))

        return types.int64(types.float64), codegen

    f = njit(lambda a, b, x: (add(a, b), bits(x), add(b=a, a=b)))
    assert f(2, 3, 1.5) == (5, struct.unpack("q", struct.pack("d", 1.5))[0], 5)
    assert f(2**63 - 1, 1, -0.0) == (-(2**63), -(2**63), -(2**63))


def test_an_intrinsic_is_one_in_python():
    @intrinsic
    def nothing(typingctx, a: int):
        """What it does."""
        return types.void(types.int32), lambda context, builder, sig, args: None

    assert (nothing.__name__, nothing.__doc__, nothing.__annotations__) == ("nothing", "What it does.", {"a": int})
    with pytest.raises(NotImplementedError, match="<intrinsic nothing> is not usable in pure-python"):
        nothing(1)
    assert njit(lambda: nothing(1))() is None


# ---------------------------------------------------------------- the builder

WIDTHS = {8: types.int8, 16: types.int16, 32: types.int32, 64: types.int64}
NUMBERS = [0, 1, 2, 3, 7, -1, -2, -5, 100, 127, -128, 2**15 - 1, -(2**31), 2**31 - 1, 2**63 - 1, -(2**63), 0x0123456789ABCDEF]


def wrapped(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> bits - 1 else x


def unsigned(x, bits):
    return x & (1 << bits) - 1


def quotient(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


BINARY = {
    "add": lambda a, b, n: a + b,
    "sub": lambda a, b, n: a - b,
    "mul": lambda a, b, n: a * b,
    "and_": lambda a, b, n: a & b,
    "or_": lambda a, b, n: a | b,
    "xor": lambda a, b, n: a ^ b,
    # What LLVM leaves undefined LIR defines.
    "sdiv": lambda a, b, n: quotient(a, b) if b else 0,
    "srem": lambda a, b, n: a - b * quotient(a, b) if b else 0,
    "udiv": lambda a, b, n: unsigned(a, n) // unsigned(b, n) if b else 0,
    "urem": lambda a, b, n: unsigned(a, n) % unsigned(b, n) if b else 0,
    "shl": lambda a, b, n: a << (b % n),
    "ashr": lambda a, b, n: a >> (b % n),
    "lshr": lambda a, b, n: unsigned(a, n) >> (b % n),
}


@pytest.mark.parametrize("name", BINARY)
def test_integers_of_all_widths(name, tier):
    of = BINARY[name]
    for bits, t in WIDTHS.items():
        @makes(t(t, t))
        def op(builder, a, b):
            return getattr(builder, name)(a, b)

        f = njit(lambda a, b: op(a, b))
        scalar = getattr(np, f"int{bits}")
        for a in NUMBERS:
            for b in NUMBERS:
                x, y = wrapped(a, bits), wrapped(b, bits)
                assert int(f(scalar(x), scalar(y))) == wrapped(of(x, y, bits), bits), (name, bits, x, y)


def test_comparisons(tier):
    ops = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
    for sign in ("icmp_signed", "icmp_unsigned"):
        for text, of in ops.items():
            @makes(boolean(i64, i64))
            def compare(builder, a, b):
                return getattr(builder, sign)(text, a, b)

            f = njit(lambda a, b: compare(a, b))
            for a in NUMBERS:
                for b in NUMBERS:
                    x, y = (a, b) if sign == "icmp_signed" else (unsigned(a, 64), unsigned(b, 64))
                    assert f(wrapped(a, 64), wrapped(b, 64)) == of(x, y), (sign, text, a, b)


FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 1e300, float("inf"), float("-inf"), float("nan")]


def test_comparisons_of_floats(tier):
    ops = {"==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": lambda a, b: a < b or a > b}
    is_nan = lambda a, b: a != a or b != b
    for text, of in [*ops.items(), ("ord", lambda a, b: not is_nan(a, b)), ("uno", is_nan)]:
        @makes(types.UniTuple(boolean, 2)(f64, f64))
        def compare(builder, a, b):
            both = [builder.fcmp_ordered(text, a, b), builder.fcmp_unordered(text, a, b)]
            return cgutils.pack_array(builder, both)

        f = njit(lambda a, b: compare(a, b))
        for a in FLOATS:
            for b in FLOATS:
                either = of(a, b) if text in ("ord", "uno") else of(a, b) or is_nan(a, b)
                assert f(a, b) == (of(a, b), either), (text, a, b)


def test_floats(tier):
    import math
    ops = {"fadd": operator.add, "fsub": operator.sub, "fmul": operator.mul, "frem": math.fmod}
    for name, of in ops.items():
        @makes(f64(f64, f64))
        def op(builder, a, b):
            return builder.fneg(getattr(builder, name)(a, b))

        f = njit(lambda a, b: op(a, b))
        for a, b in [(1.5, 0.25), (-7.5, 2.0), (1e10, 3.7), (0.0, 2.0)]:
            assert f(a, b) == -of(a, b)

    @makes(f32(f32, f32))
    def small(builder, a, b):
        return builder.fdiv(builder.frem(a, b), b)

    got = njit(lambda a, b: small(a, b))(np.float32(7.5), np.float32(2.0))
    assert got == 0.75


def test_conversions(tier):
    i1, i8, i16, l64 = ir.IntType(1), ir.IntType(8), ir.IntType(16), ir.IntType(64)

    @makes(types.Tuple((i64, i64, i64, i64, f64, f64, i64, i64))(i64))
    def convert(b, x):
        low = b.trunc(x, i8)
        bit = b.trunc(x, i1)
        parts = [
            b.sext(low, l64), b.zext(low, l64), b.sext(bit, l64), b.zext(b.trunc(x, i16), l64), b.sitofp(x, ir.DoubleType()), b.uitofp(x, ir.DoubleType()),
            b.fptosi(b.fptrunc(b.sitofp(x, ir.DoubleType()), ir.FloatType()), l64), b.ptrtoint(b.inttoptr(x, cgutils.voidptr_t), l64),
        ]
        return cgutils.make_anonymous_struct(b, parts)

    f = njit(lambda x: convert(x))
    for x in [0, 1, 2, -1, 200, 0x1234, -(2**40), 2**62 - 2**40]:
        least = -(x & 1)
        assert f(x) == (wrapped(x, 8), unsigned(x, 8), least, unsigned(x, 16), float(x), float(unsigned(x, 64)), int(np.float32(x)), x)


def test_single_bits(tier):
    @makes(types.UniTuple(boolean, 6)(boolean, boolean))
    def bits(b, p, q):
        return cgutils.pack_array(b, [b.and_(p, q), b.or_(p, q), b.xor(p, q), b.not_(p), b.icmp_unsigned("<", p, q), b.icmp_signed("<", p, q)])

    f = njit(lambda p, q: bits(p, q))
    for p in (False, True):
        for q in (False, True):
            assert f(p, q) == (p and q, p or q, p != q, not p, p < q, p > q)


@pytest.mark.parametrize("name, of", [
    ("ctpop", lambda x: bin(x).count("1")), ("ctlz", lambda x: 32 - x.bit_length()), ("cttz", lambda x: (x & -x).bit_length() - 1 if x else 32),
    ("bswap", lambda x: int.from_bytes(x.to_bytes(4, "little"), "big")), ("bitreverse", lambda x: int(f"{x:032b}"[::-1], 2)),
])  # fmt: skip
def test_intrinsics_of_integers(name, of, tier):
    u32 = types.uint32

    @makes(types.UniTuple(u32, 2)(u32))
    def op(b, x):
        flags = [cgutils.false_bit] if name in ("ctlz", "cttz") else []
        declared = b.call(b.module.declare_intrinsic(f"llvm.{name}", [x.type]), [x, *flags])
        return cgutils.pack_array(b, [declared, getattr(b, name)(x, *flags)])

    f = njit(lambda x: op(x))
    for x in [0, 1, 2, 12, 0x80000000, 0xFFFFFFFF, 0x12345678]:
        assert f(np.uint32(x)) == (of(x), of(x))


def test_overflow_is_told(tier):
    cases = {"sadd": operator.add, "ssub": operator.sub, "smul": operator.mul, "uadd": operator.add, "usub": operator.sub, "umul": operator.mul}
    for name, of in cases.items():
        @makes(types.Tuple((i64, boolean))(i64, i64))
        def op(b, x, y):
            return getattr(b, f"{name}_with_overflow")(x, y)

        f = njit(lambda x, y: op(x, y))
        for x in NUMBERS:
            for y in NUMBERS:
                a, b = (x, y) if name[0] == "s" else (unsigned(x, 64), unsigned(y, 64))
                exact = of(a, b)
                low, high = (-(2**63), 2**63) if name[0] == "s" else (0, 2**64)
                assert f(x, y) == (wrapped(exact, 64), not low <= exact < high), (name, x, y)


def test_intrinsics_of_floats(tier):
    import math
    for name, of in {"sqrt": math.sqrt, "floor": math.floor, "ceil": math.ceil, "fabs": abs, "exp": math.exp, "sin": math.sin, "rint": round}.items():
        @makes(f64(f64))
        def op(b, x):
            return b.call(b.module.declare_intrinsic(f"llvm.{name}", [x.type]), [x])

        f = njit(lambda x: op(x))
        for x in (0.25, 2.5, 9.0, 1.7):
            assert f(x) == pytest.approx(of(x), rel=1e-15)

    @makes(types.UniTuple(f64, 4)(f64, f64))
    def two(b, x, y):
        names = ["pow", "copysign", "minnum", "maximum"]
        return cgutils.pack_array(b, [b.call(b.module.declare_intrinsic(f"llvm.{n}", [x.type]), [x, y]) for n in names])

    f = njit(lambda x, y: two(x, y))
    assert f(2.0, -3.0) == (0.125, -2.0, -3.0, 2.0)
    found = f(float("nan"), 1.0)
    assert found[2] == 1.0 and math.isnan(found[3])


# ---------------------------------------------------------------- control flow


def test_branches_and_phis(tier):
    @makes(i64(i64, i64))
    def larger(b, x, y):
        bigger, smaller, end = (b.append_basic_block(n) for n in ("bigger", "smaller", "end"))
        b.cbranch(b.icmp_signed(">", x, y), bigger, smaller)
        b.position_at_end(bigger)
        b.branch(end)
        b.position_at_end(smaller)
        b.branch(end)
        b.position_at_end(end)
        phi = b.phi(x.type)
        phi.add_incoming(x, bigger)
        phi.add_incoming(y, smaller)
        return phi

    f = njit(lambda x, y: larger(x, y))
    assert [f(1, 2), f(2, 1), f(-5, -6)] == [2, 2, -5]


def test_a_loop_with_a_phi(tier):
    @makes(i64(i64))
    def factorial(b, n):
        start = b.block
        loop, body, end = (b.append_basic_block(x) for x in ("loop", "body", "end"))
        b.branch(loop)
        b.position_at_end(loop)
        k, product = b.phi(n.type), b.phi(n.type)
        k.add_incoming(n, start)
        product.add_incoming(n.type(1), start)
        b.cbranch(b.icmp_signed(">", k, n.type(1)), body, end)
        b.position_at_end(body)
        product.add_incoming(b.mul(product, k), body)
        k.add_incoming(b.sub(k, n.type(1)), body)
        b.branch(loop)
        b.position_at_end(end)
        return product

    f = njit(lambda n: factorial(n))
    assert [f(n) for n in (0, 1, 5, 12)] == [1, 1, 120, 479001600]


def test_if_then_if_else_and_slots(tier):
    @makes(i64(i64))
    def sign(b, x):
        out = cgutils.alloca_once_value(b, x.type(0))
        with cgutils.if_likely(b, b.icmp_signed("!=", x, x.type(0))):
            with b.if_else(b.icmp_signed("<", x, x.type(0))) as (then, otherwise):
                with then:
                    b.store(x.type(-1), out)
                with otherwise:
                    b.store(x.type(1), out)
        return b.load(out)

    f = njit(lambda x: sign(x))
    assert [f(0), f(7), f(-7)] == [0, 1, -1]


def test_for_range_and_its_break(tier):
    @makes(i64(i64, i64))
    def total(b, n, most):
        out = cgutils.alloca_once_value(b, n.type(0))
        with cgutils.for_range(b, n) as loop:
            with b.if_then(b.icmp_signed(">=", loop.index, most), likely=False):
                loop.do_break()
            b.store(b.add(b.load(out), loop.index), out)
        with cgutils.for_range_slice(b, n, n.type(0), n.type(-2), inc=False) as (index, count):
            b.store(b.add(b.load(out), b.mul(count, n.type(1000))), out)
        return b.load(out)

    f = njit(lambda n, most: total(n, most))
    for n, most in [(0, 5), (3, 5), (10, 5), (10, 100)]:
        counts = range((n + 1) // 2)
        assert f(n, most) == sum(range(min(n, most))) + 1000 * sum(counts)


def test_switches(tier):
    @makes(i64(i64))
    def name(b, x):
        blocks = [b.append_basic_block(f"case{k}") for k in range(4)]
        end = b.append_basic_block("end")
        switch = b.switch(x, blocks[3])
        for k in range(3):
            switch.add_case(x.type(10 * k), blocks[k])
        b.position_at_end(end)
        phi = b.phi(x.type)
        for k, block in enumerate(blocks):
            with b.goto_block(block):
                b.branch(end)
            phi.add_incoming(x.type(k + 1), block)
        return phi

    f = njit(lambda x: name(x))
    assert [f(x) for x in (0, 10, 20, 30, 5)] == [1, 2, 3, 4, 4]


def test_loops_within_each_other(tier):
    @makes(i64(i64, i64))
    def cells(b, n, m):
        out = cgutils.alloca_once_value(b, n.type(0))
        with cgutils.loop_nest(b, [n, m], ir.IntType(64)) as (i, j):
            b.store(b.add(b.load(out), b.add(b.mul(i, n.type(100)), j)), out)
        return b.load(out)

    f = njit(lambda n, m: cells(n, m))
    assert f(3, 4) == sum(100 * i + j for i in range(3) for j in range(4)) and f(0, 4) == 0


# ---------------------------------------------------------------- aggregates and memory


def test_tuples_complex_numbers_and_optional_values(tier):
    @intrinsic
    def swapped(typingctx, t):
        sig = types.Tuple(t.types[::-1])(t)

        def codegen(context, builder, sig, args):
            return context.make_tuple(builder, sig.return_type, cgutils.unpack_tuple(builder, args[0])[::-1])

        return sig, codegen

    @intrinsic
    def conjugate(typingctx, z):
        def codegen(context, builder, sig, args):
            z = context.make_complex(builder, sig.args[0], value=args[0])
            z.imag = builder.fneg(z.imag)
            return z._getvalue()

        return z(z), codegen

    @intrinsic
    def or_none(typingctx, x):
        ret = types.Optional(x)

        def codegen(context, builder, sig, args):
            there = context.make_optional_value(builder, x, args[0])
            none = context.make_optional_none(builder, x)
            return builder.select(builder.icmp_signed(">", args[0], args[0].type(0)), there, none)

        return ret(x), codegen

    f = njit(lambda x, y, z: (swapped((x, y)), swapped((1, (x, True))), conjugate(z), or_none(x)))
    assert f(3, 2.5, 1 + 2j) == ((2.5, 3), ((3, True), 1), 1 - 2j, 3)
    assert f(-3, 2.5, 1 + 2j)[3] is None
    assert njit(lambda z: conjugate(z))(np.complex64(1 - 2j)) == 1 + 2j


def test_arrays_by_their_members(tier):
    @intrinsic
    def doubled(typingctx, a):
        sig = types.float64(a)

        def codegen(context, builder, sig, args):
            [aryty] = sig.args
            ary = context.make_array(aryty)(context, builder, args[0])
            total = cgutils.alloca_once_value(builder, context.get_constant(types.float64, 0.0))
            shape = cgutils.unpack_tuple(builder, ary.shape, aryty.ndim)
            with cgutils.loop_nest(builder, shape, context.get_value_type(types.intp)) as indices:
                at = cgutils.get_item_pointer(context, builder, aryty, ary, indices)
                builder.store(builder.fmul(builder.load(at), context.get_constant(types.float64, 2.0)), at)
                builder.store(builder.fadd(builder.load(total), builder.load(at)), total)
            return builder.load(total)

        return sig, codegen

    @njit
    def f(a):
        before = a[0, 0]
        total = doubled(a)
        return before, total, a[0, 0], a.sum()

    for a in (np.arange(1.0, 7.0).reshape(2, 3), np.asfortranarray(np.arange(1.0, 7.0).reshape(2, 3)), np.arange(1.0, 25.0).reshape(4, 6)[::2, ::2]):
        sums = a.sum()
        assert f(a) == (1.0, 2 * sums, 2.0, 2 * sums) and a[0, 0] == 2.0


def test_an_array_that_is_given_back_lives(tier):
    from tierup.llvm.cgutils import impl_ret_borrowed

    @intrinsic
    def same(typingctx, a):
        return a(a), lambda context, builder, sig, args: impl_ret_borrowed(context, builder, sig.return_type, args[0])

    @njit
    def f(n):
        a = np.zeros(n)
        b = same(a)
        b[0] = 1.0
        return same(same(b)), a.sum()

    a, total = f(100)
    assert total == 1.0 and a[0] == 1.0 and a.shape == (100,) and a.sum() == 1.0
    strings = njit(lambda s: same(s) + same("b"))
    assert strings("a") == "ab"


def test_a_view_that_a_generator_makes(tier):
    @intrinsic
    def reversed_view(typingctx, a):
        ret = types.Array(a.dtype, 1, "A")

        def codegen(context, builder, sig, args):
            src = context.make_array(sig.args[0])(context, builder, args[0])
            dst = context.make_array(sig.return_type)(context, builder)
            [n] = cgutils.unpack_tuple(builder, src.shape)
            step = src.itemsize
            last = builder.mul(builder.sub(n, n.type(1)), step)
            context.populate_array(dst, data=cgutils.pointer_add(builder, src.data, last), shape=src.shape, strides=[builder.neg(step)], itemsize=step, meminfo=src.meminfo)
            return impl(context, builder, sig.return_type, dst._getvalue())

        return ret(a), codegen

    impl = cgutils.impl_ret_borrowed

    @njit
    def f(n):
        a = np.arange(n) * 1.0
        r = reversed_view(a)
        r[0] = -1.0
        return r, a[n - 1]

    r, last = f(5)
    assert last == -1.0 and r.tolist() == [-1.0, 3.0, 2.0, 1.0, 0.0]


def test_pointers_and_their_memory(tier):
    @intrinsic
    def address_as_void_pointer(typingctx, src):
        return types.voidptr(src), lambda context, builder, sig, args: builder.inttoptr(args[0], cgutils.voidptr_t)

    from tierup import carray

    @njit
    def f(a):
        view = carray(address_as_void_pointer(a.ctypes.data), a.shape, a.dtype)
        before = a[0]
        view[0] = 7.0
        return before, a[0], view.sum()

    a = np.arange(4.0)
    assert f(a) == (0.0, 7.0, 13.0) and a[0] == 7.0

    @intrinsic
    def loaded(typingctx, p):
        return p.dtype(p), lambda context, builder, sig, args: builder.load(args[0])

    @intrinsic
    def pointer_to(typingctx, x):
        return types.CPointer(x)(x), lambda context, builder, sig, args: cgutils.alloca_once_value(builder, args[0])

    @njit
    def g(x, n):
        pointers = [pointer_to(x + k) for k in range(n)]
        total = x - x
        for p in pointers:
            total += p[0]
        return total, pointers[0][0]

    assert g(1.5, 4) == (12.0, 1.5)


def test_memory_whose_size_is_an_argument(tier):
    from tierup import carray

    @intrinsic
    def stack_empty(typingctx, size, dtype):
        def impl(context, builder, signature, args):
            return cgutils.alloca_once(builder, context.get_value_type(dtype.dtype), size=args[0])

        return types.CPointer(dtype.dtype)(types.int64, dtype), impl

    @njit
    def f(n):
        a = carray(stack_empty(n, np.float64), (n,), np.float64)
        for k in range(n):
            a[k] = k
        return a

    assert f(5).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_structures_in_memory(tier):
    @makes(i64(i64, f64))
    def packed(b, x, y):
        typ = ir.LiteralStructType([ir.IntType(8), ir.IntType(64), ir.ArrayType(ir.DoubleType(), 3)])
        at = b.alloca(typ)
        b.store(ir.Constant(typ, None), at)
        b.store(x, cgutils.gep_inbounds(b, at, 0, 1))
        second = cgutils.gep(b, at, 0, 2, b.and_(x, x.type(1)))
        b.store(y, second)
        whole = b.load(at)
        array = b.extract_value(whole, 2)
        found = b.fptosi(b.fadd(b.extract_value(array, 0), b.fmul(b.extract_value(array, 1), ir.Constant(ir.DoubleType(), 10.0))), x.type)
        assert (typ.get_abi_size(None), typ.elements[2].get_abi_size(None)) == (40, 24)
        return b.add(b.extract_value(whole, 1), found)

    f = njit(lambda x, y: packed(x, y))
    assert f(4, 7.0) == 11 and f(5, 7.0) == 75


def test_global_constants_and_copies(tier):
    @makes(i64(i64))
    def entry(b, k):
        table = cgutils.global_constant(b, "table", ir.Constant(ir.ArrayType(ir.IntType(16), 4), [10, 20, -30, 40]))
        copy = b.alloca(ir.ArrayType(ir.IntType(16), 4))
        cgutils.raw_memcpy(b, copy, table, 4, 2)
        cgutils.memset(b, cgutils.gep(b, copy, 0, 3), ir.IntType(64)(2), 1)
        return b.sext(b.load(cgutils.gep(b, copy, 0, k)), k.type)

    f = njit(lambda k: entry(k))
    assert [f(k) for k in range(4)] == [10, 20, -30, 257]


# ---------------------------------------------------------------- wide integers


def test_integers_of_128_bits(tier):
    I128, I64 = ir.IntType(128), ir.IntType(64)

    def both(b, wide):
        return [b.trunc(wide, I64), b.trunc(b.lshr(wide, I128(64)), I64)]

    @makes(types.UniTuple(types.uint64, 18)(types.uint64, types.uint64, types.uint64))
    def op(b, x, y, n):
        a, c = b.zext(x, I128), b.sext(y, I128)
        product = b.mul(a, b.zext(y, I128))
        by = b.zext(b.and_(n, I64(127)), I128)
        at = cgutils.alloca_once_value(b, b.xor(product, I128(0x0123456789ABCDEF0011223344556677)))
        chosen = b.select(b.icmp_signed("<", c, a), b.neg(c), b.load(at))
        wides = [product, b.add(product, c), b.sub(a, c), b.shl(product, by), b.lshr(product, by), b.ashr(b.or_(c, a), by), b.mul(product, c), chosen]
        flags = [b.icmp_unsigned(">", product, c), b.icmp_signed("<=", product, c)]
        return cgutils.pack_array(b, [p for w in wides for p in both(b, w)] + [b.zext(f, I64) for f in flags])

    f = njit(lambda x, y, n: op(x, y, n))
    mask, signed = 2**128 - 1, lambda v: v - 2**128 if v >> 127 & 1 else v
    for x, y, n in [(0, 0, 0), (1, 2**64 - 1, 1), (2**64 - 1, 2**64 - 1, 63), (0x0123456789ABCDEF, 0xFEDCBA9876543210, 64), (3, 2**63, 65), (2**63 + 5, 7, 127)]:
        a, c = x, (y - 2**64 if y >> 63 else y) & mask
        product = x * y
        other = product ^ 0x0123456789ABCDEF0011223344556677
        chosen = -c if signed(c) < a else other
        wides = [product, product + c, a - c, product << n, product >> n, signed(c | a) >> n, product * c, chosen]
        expected = [p for w in wides for p in (w & 2**64 - 1, w >> 64 & 2**64 - 1)] + [int(product > c), int(signed(product) <= signed(c))]
        assert [int(v) for v in f(np.uint64(x), np.uint64(y), np.uint64(n))] == expected, (x, y, n)
