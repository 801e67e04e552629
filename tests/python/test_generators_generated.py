"""Code generators made by chance: what they write means the same to the interpreter of LIR and in both tiers."""

import random

import pytest
from tierup import config, njit, types
from tierup.extending import intrinsic
from tierup.llvm import cgutils, ir

COUNT = 30
BITS, DOUBLE, FLOAT = {w: ir.IntType(w) for w in (1, 8, 16, 32, 64)}, ir.DoubleType(), ir.FloatType()
WIDE = BITS[64]
DATA = [(0, 0, 0.0), (1, -1, 1.5), (123456789, -987654321, -2.5), (2**62, 7, 1e300), (-(2**63), 3, float("inf")), (5, 2**31, float("nan"))]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]


class Program:
    """Writes instructions on values that are there; `values` are in reach of what comes next."""

    def __init__(self, seed, builder, args):
        self.r, self.b, self.values = random.Random(seed), builder, list(args)

    def constant(self, t):
        if isinstance(t, ir.IntType):
            return t(self.r.choice([0, 1, -1, 2, 3, 7, 100, 1 << max(t.width - 2, 0)]) if t.width > 1 else self.r.randint(0, 1))
        return t(self.r.choice([0.0, 1.0, -1.5, 2.25, 1e10]))

    def some(self, t=None):
        """One of the last values, of a type if that is said."""
        if t is None:
            return self.r.choice(self.values[-12:])
        if self.r.random() < 0.2:
            return self.constant(t)
        v = self.r.choice(self.values[-12:])
        return self.converted(v, t)

    def converted(self, v, t):
        b = self.b
        if v.type == t:
            return v
        if isinstance(v.type, ir.IntType):
            if not isinstance(t, ir.IntType):
                return self.r.choice([b.sitofp, b.uitofp])(v, t)
            return b.trunc(v, t) if v.type.width > t.width else self.r.choice([b.zext, b.sext])(v, t)
        if isinstance(t, ir.IntType):
            return self.r.choice([b.fptosi, b.fptoui])(v, t)
        return b.fptrunc(v, t) if v.type == DOUBLE else b.fpext(v, t)

    def integers(self):
        t = BITS[self.r.choice([8, 16, 32, 64])]
        return self.some(t), self.some(t)

    def floats(self):
        t = self.r.choice([DOUBLE, FLOAT])
        return self.some(t), self.some(t)

    # What may come next.

    def arithmetic(self):
        ops = ["add", "sub", "mul", "and_", "or_", "xor", "shl", "lshr", "ashr", "sdiv", "udiv", "srem", "urem"]
        self.values.append(getattr(self.b, self.r.choice(ops))(*self.integers()))

    def comparison(self):
        self.values.append(getattr(self.b, self.r.choice(["icmp_signed", "icmp_unsigned"]))(self.r.choice(COMPARISONS), *self.integers()))

    def of_floats(self):
        self.values.append(getattr(self.b, self.r.choice(["fadd", "fsub", "fmul", "fdiv"]))(*self.floats()))

    def comparison_of_floats(self):
        self.values.append(getattr(self.b, self.r.choice(["fcmp_ordered", "fcmp_unordered"]))(self.r.choice([*COMPARISONS, "ord", "uno"]), *self.floats()))

    def choice(self):
        x = self.some()
        self.values.append(self.b.select(self.some(BITS[1]), x, self.some(x.type)))

    def bits(self):
        narrow = self.r.random() < 0.5
        f = self.b.bitcast(self.some(BITS[32 if narrow else 64]), FLOAT if narrow else DOUBLE)
        self.values.append(self.b.bitcast(self.b.fneg(f), BITS[32 if narrow else 64]))

    def counted(self):
        x, _ = self.integers()
        name = self.r.choice(["ctpop", "ctlz", "cttz", "bswap", "bitreverse"])
        self.values.append(getattr(self.b, name)(x, *([cgutils.false_bit] if name in ("ctlz", "cttz") else [])))

    def overflow(self):
        pair = getattr(self.b, self.r.choice(["sadd", "ssub", "smul", "uadd", "usub", "umul"]) + "_with_overflow")(*self.integers())
        self.values += [self.b.extract_value(pair, k) for k in range(2)]

    def structure(self):
        members = [self.r.choice([*BITS.values(), DOUBLE, FLOAT]) for _ in range(self.r.randint(2, 5))]
        at = cgutils.alloca_once(self.b, ir.LiteralStructType(members))
        for k, t in enumerate(members):
            self.b.store(self.some(t), cgutils.gep_inbounds(self.b, at, 0, k))
        k = self.r.randrange(len(members))
        whole = self.b.insert_value(self.b.load(at), self.some(members[k]), k)
        self.b.store(whole, at)
        self.values.append(self.b.extract_value(whole, self.r.randrange(len(members))))
        self.values.append(self.b.load(cgutils.gep_inbounds(self.b, at, 0, self.r.randrange(len(members)))))

    def array(self):
        t, n = BITS[self.r.choice([8, 16, 32, 64])], self.r.choice([4, 8])
        at = cgutils.alloca_once(self.b, ir.ArrayType(t, n))
        for k in range(n):
            self.b.store(self.some(t), cgutils.gep(self.b, at, 0, k))
        self.b.store(self.some(t), self.b.gep(at, [BITS[32](0), self.b.and_(self.some(WIDE), WIDE(n - 1))]))
        self.values.append(self.b.load(cgutils.gep(self.b, at, 0, self.r.randrange(n))))
        size = n * t.width // 8
        part = cgutils.pointer_add(self.b, self.b.bitcast(at, cgutils.voidptr_t), self.r.randrange(size - 3))
        self.values.append(self.b.load(self.b.bitcast(part, BITS[32].as_pointer())))

    def branches(self, depth):
        t = self.r.choice([BITS[32], WIDE, DOUBLE])
        out, known = cgutils.alloca_once_value(self.b, self.some(t)), len(self.values)
        with self.b.if_else(self.some(BITS[1]), likely=self.r.choice([None, True, False])) as sides:
            for side in sides:
                with side:
                    self.steps(self.r.randint(1, 4), depth + 1)
                    self.b.store(self.some(t), out)
                    del self.values[known:]
        self.values.append(self.b.load(out))

    def loop(self, depth):
        t = self.r.choice([BITS[32], WIDE])
        out, known = cgutils.alloca_once_value(self.b, self.some(t)), len(self.values)
        with cgutils.for_range(self.b, self.b.and_(self.some(WIDE), WIDE(7))) as loop:
            self.values += [loop.index, self.b.load(out)]
            self.steps(self.r.randint(1, 4), depth + 1)
            self.b.store(self.some(t), out)
            if self.r.random() < 0.3:
                with self.b.if_then(self.some(BITS[1])):
                    loop.do_break()
            del self.values[known:]
        self.values.append(self.b.load(out))

    def steps(self, count, depth=0):
        plain = [self.arithmetic, self.arithmetic, self.comparison, self.of_floats, self.comparison_of_floats, self.choice, self.bits, self.counted, self.overflow, self.structure, self.array]
        for _ in range(count):
            next = self.r.choice([*plain, self.branches, self.loop])
            if next in (self.branches, self.loop):
                if depth < 3:
                    next(depth)
            else:
                next()

    def result(self):
        total = WIDE(0)
        for v in self.values[-10:]:
            if not isinstance(v.type, ir.IntType):
                x = self.converted(v, DOUBLE)
                v = self.b.select(self.b.fcmp_unordered("uno", x, x), WIDE(12345), self.b.bitcast(x, WIDE))
            total = self.b.add(self.b.mul(total, WIDE(31)), self.b.zext(v, WIDE))
        return total


def made(seed):
    def codegen(context, builder, sig, args):
        program = Program(seed, builder, args)
        program.steps(program.r.randint(8, 30))
        return program.result()

    @intrinsic
    def f(typingctx, a, b, x):
        return types.int64(types.int64, types.int64, types.float64), codegen

    return f


def test_generated_generators(tier):
    if tier == "interp":
        pytest.skip("the interpreter says what they mean")
    for seed in range(COUNT):
        answers = []
        for where in ("interp", {"tier0": "0", "tier1": "1"}.get(tier, "auto")):
            config.tier = where
            f = made(seed)
            call = njit(lambda a, b, x: f(a, b, x))
            answers.append([call(*d) for d in DATA])
        assert answers[0] == answers[1], seed
