"""A builder that answers to the names of llvmlite's `ir.IRBuilder` and writes LIR.

Division, shifts and conversions of floats keep LIR's meaning, which gives an answer for every operand where LLVM's is undefined. Debug information,
metadata and promises to the optimiser (`nsw`, `exact`, `inbounds`, alignment) are taken and have no effect.
"""

from contextlib import contextmanager

from .. import _tierup
from . import CannotCarry, wide
from .function import Block, Instruction, Phi, Slot
from .types import Aggregate, Constant, IntType, Leaf, LiteralStructType, PointerType, Value, VoidType

_bit = IntType(1)


def _binary(op, bit=None):
    def method(self, lhs, rhs, name="", flags=()):
        return self._arithmetic(op, bit, lhs, rhs)

    return method


def _cast(convert):
    def method(self, value, typ, name=""):
        return value if value.type == typ else convert(self, value, typ)

    return method


def _refused(name, why):
    def method(self, *args, **kwargs):
        raise CannotCarry(f"{name}: {why}")

    return method


class IRBuilder:
    """Puts instructions at the end of a block, or in front of its end."""

    def __init__(self, block=None):
        self._block, self._anchor, self.debug_metadata = block, None, None

    # ---------------------------------------------------------------- places

    @property
    def block(self):
        return self._block

    basic_block = block

    @property
    def function(self):
        return self._block.function

    @property
    def module(self):
        return self.function.module

    def position_at_end(self, block):
        self._block, self._anchor = block, None

    def position_at_start(self, block):
        self._block, self._anchor = block, 0

    def _place_of(self, instr):
        for block in self.function.blocks:
            for k, i in enumerate(block.instructions):
                if any(r is leaf for r in i.results for leaf in instr.leaves):
                    return block, k
        raise ValueError("the instruction is not in this function")

    def position_before(self, instr):
        if isinstance(instr, tuple):
            # The end of a block.
            self._anchor = None
            return
        self._block, self._anchor = self._place_of(instr)

    def position_after(self, instr):
        block, k = self._place_of(instr)
        self._block, self._anchor = block, k + 1

    def append_basic_block(self, name=""):
        return self.function.append_basic_block(name)

    @contextmanager
    def goto_block(self, block):
        before = self._block, self._anchor
        self.position_at_end(block)
        try:
            yield
        finally:
            self._block, self._anchor = before

    @contextmanager
    def goto_entry_block(self):
        with self.goto_block(self.function.entry_basic_block):
            yield

    def _emit(self, op, *operands, ty=None, **more):
        """One instruction with the result `ty`, a machine type."""
        slot = operands[0].slot if op == "ptr_add.ptr" else None
        result = self.function.leaf(ty, slot) if ty else None
        self._insert(Instruction(op, list(operands), [result] if ty else [], **more))
        return result

    def _insert(self, instruction):
        if self._anchor is None:
            self._block.instructions.append(instruction)
        else:
            self._block.instructions.insert(self._anchor, instruction)
            self._anchor += 1

    def _end(self, kind, operands=(), targets=()):
        if self._block.is_terminated:
            raise ValueError(f"the block {self._block.name!r} has an end already")
        for t in targets:
            if not isinstance(t, Block):
                raise TypeError(f"a branch leads to blocks, not to {t!r}")
        self._block.end = kind, list(operands), list(targets)
        return self._block.end

    # ---------------------------------------------------------------- arithmetic

    def _same(self, lhs, rhs):
        if lhs.type != rhs.type:
            raise ValueError(f"Operands must be the same type, got ({lhs.type}, {rhs.type})")
        return lhs.leaves[0], rhs.leaves[0]

    def _arithmetic(self, op, bit, lhs, rhs):
        a, b = self._same(lhs, rhs)
        if wide.is_wide(lhs.type):
            return wide.arithmetic(self, op, lhs, rhs)
        if lhs.type == _bit:
            if bit is None:
                raise CannotCarry(f"{op} of single bits")
            op = bit
        ty = lhs.type.lir
        if (op[0] == "f") != (ty[0] == "f") or ty == "ptr":
            raise TypeError(f"{op} does not take operands of type {lhs.type}")
        return Value(lhs.type, [self._emit(f"{op}.{ty}", a, b, ty=ty)])

    add, sub, mul = _binary("iadd", "bxor"), _binary("isub", "bxor"), _binary("imul", "band")
    sdiv, udiv, srem, urem = _binary("sdiv"), _binary("udiv", "band"), _binary("srem"), _binary("urem")
    shl, ashr, lshr = _binary("ishl"), _binary("sshr"), _binary("ushr")
    and_, or_, xor = _binary("band", "band"), _binary("bor", "bor"), _binary("bxor", "bxor")
    fadd, fsub, fmul, fdiv = _binary("fadd"), _binary("fsub"), _binary("fmul"), _binary("fdiv")

    def frem(self, lhs, rhs, name="", flags=()):
        from .calls import call_of_c
        self._same(lhs, rhs)
        return call_of_c(self, "fmod" if lhs.type.lir == "f64" else "fmodf", lhs.type, [lhs, rhs])

    def neg(self, value, name=""):
        return self.sub(value.type(0), value)

    def not_(self, value, name=""):
        return self.xor(value, value.type(-1))

    def fneg(self, arg, name="", flags=()):
        ty = arg.type.lir
        return Value(arg.type, [self._emit(f"fneg.{ty}", arg.leaves[0], ty=ty)])

    def _with_overflow(self, kind, lhs, rhs):
        return self.call(self.module.declare_intrinsic(f"llvm.{kind}.with.overflow", [lhs.type]), [lhs, rhs])

    def sadd_with_overflow(self, lhs, rhs, name=""):
        return self._with_overflow("sadd", lhs, rhs)

    def ssub_with_overflow(self, lhs, rhs, name=""):
        return self._with_overflow("ssub", lhs, rhs)

    def smul_with_overflow(self, lhs, rhs, name=""):
        return self._with_overflow("smul", lhs, rhs)

    def uadd_with_overflow(self, lhs, rhs, name=""):
        return self._with_overflow("uadd", lhs, rhs)

    def usub_with_overflow(self, lhs, rhs, name=""):
        return self._with_overflow("usub", lhs, rhs)

    def umul_with_overflow(self, lhs, rhs, name=""):
        return self._with_overflow("umul", lhs, rhs)

    def _intrinsic(self, name, *operands):
        return self.call(self.module.declare_intrinsic(f"llvm.{name}", [operands[0].type]), operands)

    def ctpop(self, cond, name=""):
        return self._intrinsic("ctpop", cond)

    def bswap(self, cond, name=""):
        return self._intrinsic("bswap", cond)

    def bitreverse(self, cond, name=""):
        return self._intrinsic("bitreverse", cond)

    def ctlz(self, cond, flag, name=""):
        return self._intrinsic("ctlz", cond, flag)

    def cttz(self, cond, flag, name=""):
        return self._intrinsic("cttz", cond, flag)

    def fma(self, a, b, c, name=""):
        return self._intrinsic("fma", a, b, c)

    # ---------------------------------------------------------------- comparisons

    def _bit(self, leaf):
        return Value(_bit, [leaf])

    def icmp_signed(self, cmpop, lhs, rhs, name=""):
        return self._compared("s", cmpop, lhs, rhs)

    def icmp_unsigned(self, cmpop, lhs, rhs, name=""):
        return self._compared("u", cmpop, lhs, rhs)

    def _compared(self, sign, cmpop, lhs, rhs):
        a, b = self._same(lhs, rhs)
        if not wide.is_wide(lhs.type):
            return self._icmp(sign, cmpop, lhs.type, a, b)
        if cmpop in (">", ">="):
            lhs, rhs, cmpop = rhs, lhs, {">": "<", ">=": "<="}[cmpop]
        return wide.compared(self, sign, cmpop, lhs, rhs)

    def _icmp(self, sign, cmpop, typ, a, b):
        if not typ.is_pointer and not isinstance(typ, IntType):
            raise TypeError(f"integers and pointers are compared so, not values of type {typ}")
        if typ == _bit and sign == "s":
            # A single bit that is set is -1.
            a, b = b, a
        if cmpop in (">", ">="):
            a, b, cmpop = b, a, {">": "<", ">=": "<="}[cmpop]
        sign = "u" if typ == _bit or typ.is_pointer else sign
        op = {"==": "eq", "!=": "ne", "<": sign + "lt", "<=": sign + "le"}.get(cmpop)
        if op is None:
            raise ValueError(f"invalid comparison {cmpop!r}")
        return self._bit(self._emit(f"icmp_{op}.{typ.lir}", a, b, ty="i8"))

    def _fcmp(self, op, a, b, typ):
        return self._emit(f"fcmp_{op}.{typ.lir}", a, b, ty="i8")

    _COMPARISONS = {"==": "eq", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

    def fcmp_ordered(self, cmpop, lhs, rhs, name="", flags=()):
        a, b = self._same(lhs, rhs)
        typ = lhs.type
        if cmpop in self._COMPARISONS:
            return self._bit(self._fcmp(self._COMPARISONS[cmpop], a, b, typ))
        if cmpop == "!=":
            return self._bit(self._emit("bor.i8", self._fcmp("lt", a, b, typ), self._fcmp("gt", a, b, typ), ty="i8"))
        unordered = self._bit(self._fcmp("uno", a, b, typ))
        if cmpop not in ("ord", "uno"):
            raise ValueError(f"invalid comparison {cmpop!r}")
        return unordered if cmpop == "uno" else self.not_(unordered)

    def fcmp_unordered(self, cmpop, lhs, rhs, name="", flags=()):
        a, b = self._same(lhs, rhs)
        if cmpop == "!=":
            return self._bit(self._fcmp("ne", a, b, lhs.type))
        if cmpop in ("ord", "uno"):
            return self.fcmp_ordered(cmpop, lhs, rhs)
        return self.or_(self._bit(self._fcmp("uno", a, b, lhs.type)), self.fcmp_ordered(cmpop, lhs, rhs))

    def select(self, cond, lhs, rhs, name="", flags=()):
        if lhs.type != rhs.type:
            raise ValueError(f"Operands must be the same type, got ({lhs.type}, {rhs.type})")
        chosen = [self._emit(f"select.{a.ty}", cond.leaves[0], a, b, ty=a.ty) for a, b in zip(lhs.leaves, rhs.leaves, strict=True)]
        return Value(lhs.type, chosen)

    # ---------------------------------------------------------------- conversions

    def _convert(self, op, value, typ):
        ty = typ.lir
        return Value(typ, [self._emit(f"{op}.{ty}", value.leaves[0], ty=ty)])

    def _resize(self, op, value, typ):
        if value.type.lir == typ.lir:
            return Value(typ, value.leaves)
        return self._convert(op, value, typ)

    def _trunc(self, value, typ):
        if wide.is_wide(value.type):
            return self.trunc(wide.parts(value)[0], typ)
        if typ != _bit:
            return self._resize("itrunc", value, typ)
        ty = value.type.lir
        low = self._emit(f"band.{ty}", value.leaves[0], Leaf(ty, text="1"), ty=ty)
        return self._resize("itrunc", Value(value.type, [low]), typ)

    def _zext(self, value, typ):
        if wide.is_wide(typ):
            return wide.extended(self, value, False)
        return self._resize("zext", value, typ)

    def _sext(self, value, typ):
        if wide.is_wide(typ):
            return wide.extended(self, value, True)
        if value.type == _bit:
            return self.neg(self._zext(value, typ))
        return self._resize("sext", value, typ)

    def _to_float(op):
        def convert(self, value, typ):
            if value.type == _bit and op == "sint_to_f":
                value = self._sext(value, IntType(8))
            return self._convert(op, value, typ)

        return convert

    def _to_int(op):
        def convert(self, value, typ):
            if typ == _bit:
                return self._trunc(self._convert(op, value, IntType(8)), typ)
            return self._convert(op, value, typ)

        return convert

    def _bitcast(self, value, typ):
        if value.type.is_pointer and typ.is_pointer:
            return Value(typ, value.leaves)
        if isinstance(value.type, Aggregate) or isinstance(typ, Aggregate) or value.type.is_pointer or typ.is_pointer:
            raise TypeError(f"invalid bitcast from {value.type} to {typ}")
        a, b = value.type.lir, typ.lir
        if value.type.size != typ.size or _bit in (value.type, typ):
            raise TypeError(f"a bitcast keeps the size, and {value.type} has another one than {typ}")
        return Value(typ, value.leaves) if a == b else self._convert("bitcast", value, typ)

    def _inttoptr(self, value, typ):
        if isinstance(value, Constant) and isinstance(value.constant, int):
            return value.inttoptr(typ)
        wide = self._zext(value, IntType(64))
        return Value(typ, [self._emit("bitcast.ptr", wide.leaves[0], ty="ptr")])

    def _ptrtoint(self, value, typ):
        if value.leaves[0].text is not None and value.leaves[0].address is None:
            return Constant(typ, int(value.leaves[0].text, 0))
        wide = Value(IntType(64), [self._emit("bitcast.i64", value.leaves[0], ty="i64")])
        return self._trunc(wide, typ) if typ.width < 64 else wide

    def _fconvert(self, value, typ):
        return self._convert("fconvert", value, typ)

    trunc, zext, sext, bitcast, inttoptr, ptrtoint = map(_cast, (_trunc, _zext, _sext, _bitcast, _inttoptr, _ptrtoint))
    fptrunc = fpext = _cast(_fconvert)
    sitofp, uitofp = _cast(_to_float("sint_to_f")), _cast(_to_float("uint_to_f"))
    fptosi, fptoui = _cast(_to_int("f_to_sint_or_min")), _cast(_to_int("f_to_uint"))

    def addrspacecast(self, value, typ, name=""):
        return self.bitcast(value, typ)

    # ---------------------------------------------------------------- memory

    def alloca(self, typ, size=None, name=""):
        if size is None or isinstance(size, int):
            count = 1 if size is None else size
        else:
            count = getattr(size, "constant", None)
        slot = Slot(self.function, typ.size, count if isinstance(count, int) else size.leaves[0])
        return Value(PointerType(typ), [slot.leaf])

    def _pointee(self, ptr, typ):
        if not ptr.type.is_pointer:
            raise TypeError(f"cannot load from or store to a value of type {ptr.type} (not a pointer)")
        found = typ or ptr.type.pointee
        if found is None:
            raise CannotCarry("what the pointer points to is not known: say it by `typ=`, or by the type of the pointer")
        return found

    def load(self, ptr, name="", align=None, typ=None):
        typ = self._pointee(ptr, typ)
        at = ptr.leaves[0]
        return Value(typ, [self._emit(f"load.{t.lir}", at.at(offset), ty=t.lir) for t, offset in typ.leaves])

    def store(self, value, ptr, align=None):
        typ = self._pointee(ptr, value.type if ptr.type.pointee is None else None)
        if typ != value.type:
            raise TypeError(f"cannot store {value.type} to {ptr.type}: mismatching types")
        at = ptr.leaves[0]
        for leaf, (t, offset) in zip(value.leaves, typ.leaves, strict=True):
            self._emit(f"store.{t.lir}", leaf, at.at(offset))

    def gep(self, ptr, indices, inbounds=False, name="", source_etype=None):
        typ = source_etype or self._pointee(ptr, None)
        at = ptr.leaves[0]
        for k, index in enumerate(indices):
            if k == 0:
                at = self._step(at, index, typ.size)
            elif isinstance(typ, Aggregate) and not hasattr(typ, "element"):
                number = int(index.constant)
                at, typ = at.at(typ.offset(number)), typ.elements[number]
            else:
                if not isinstance(typ, Aggregate):
                    raise TypeError(f"a value of type {typ} has no members")
                typ = typ.element
                at = self._step(at, index, typ.size)
        return Value(PointerType(typ), [at])

    def _step(self, at, index, size):
        if isinstance(index, int):
            return at.at(index * size)
        if isinstance(getattr(index, "constant", None), int):
            return at.at(int(index.leaves[0].text) * size)
        by = self._sext(index, IntType(64)).leaves[0]
        if size != 1:
            by = self._emit("imul.i64", by, Leaf("i64", text=str(size)), ty="i64")
        return self._emit("ptr_add.ptr", at, by, ty="ptr")

    # Every order that LLVM has is kept by the strictest one.

    def _word(self, value):
        """The bits of a number or a pointer."""
        if value.type.is_pointer:
            return self.ptrtoint(value, IntType(64)).leaves[0]
        if not isinstance(value.type, IntType):
            value = self.bitcast(value, IntType(8 * value.type.size))
        return self._sext(value, IntType(64)).leaves[0]

    def _of_word(self, leaf, typ):
        word = Value(IntType(64), [leaf])
        if typ.is_pointer:
            return self.inttoptr(word, typ)
        narrow = self._trunc(word, IntType(8 * typ.size)) if typ != _bit else self._trunc(word, typ)
        return self.bitcast(narrow, typ)

    def _atomic(self, op, ptr, typ, word):
        if len(typ.leaves) != 1:
            raise CannotCarry(f"an access to a value of type {typ} that other threads see at once")
        numbers = [Leaf("i64", text=str(n)) for n in (_tierup.ATOMIC_UPDATES.index(op), typ.size)]
        old = self._emit("call_helper @atomic_update", numbers[0], ptr.leaves[0], word, numbers[1], ty="i64")
        return self._of_word(old, typ)

    def load_atomic(self, ptr, ordering, align, name="", typ=None):
        return self._atomic("load", ptr, self._pointee(ptr, typ), Leaf("i64", text="0"))

    def store_atomic(self, value, ptr, ordering, align):
        self._atomic("xchg", ptr, value.type, self._word(value))

    def atomic_rmw(self, op, ptr, val, ordering, name=""):
        if op not in _tierup.ATOMIC_UPDATES or op == "load" or (op[0] == "f") != (not isinstance(val.type, IntType)) and op != "xchg":
            raise CannotCarry(f"atomic_rmw: {op} of a value of type {val.type}")
        return self._atomic(op, ptr, val.type, self._word(val))

    def cmpxchg(self, ptr, cmp, val, ordering, failordering=None, name=""):
        self._same(cmp, val)
        words = [self._word(v) for v in (cmp, val)]
        old = self._of_word(self._emit("call_helper @atomic_compare", ptr.leaves[0], *words, Leaf("i64", text=str(val.type.size)), ty="i64"), val.type)
        same = self._icmp("u", "==", IntType(64), self._word(old), words[0])
        return Value(LiteralStructType([val.type, _bit]), [*old.leaves, *same.leaves])

    def fence(self, ordering, targetscope=None, name=""):
        self._insert(Instruction("call_helper @atomic_fence", []))

    asm = load_reg = store_reg = _refused("asm", "inline assembly is for one processor, and LIR is for all")
    invoke, landingpad, resume = (_refused(n, "LIR has no unwinding: calls give a status") for n in ("invoke", "landingpad", "resume"))
    branch_indirect = _refused("branch_indirect", "LIR has no addresses of blocks")
    extract_element, insert_element, shuffle_vector = (_refused(n, "LIR has no vectors") for n in ("extract_element", "insert_element", "shuffle_vector"))
    convert_from_fp16 = convert_to_fp16 = _refused("convert_to_fp16", "LIR has no floats of 16 bits")

    # ---------------------------------------------------------------- aggregates

    @staticmethod
    def _member(agg, idx):
        """The type of a member, and which leaves it is."""
        typ, first = agg.type, 0
        for k in idx if isinstance(idx, (list, tuple)) else [idx]:
            if not isinstance(typ, Aggregate) or not 0 <= k < len(typ.elements):
                raise TypeError(f"Can't index at {[k]} in {agg.type}")
            span = typ.span(k)
            typ, first = typ.elements[k], first + span.start
        return typ, slice(first, first + len(typ.leaves))

    def extract_value(self, agg, idx, name=""):
        typ, span = self._member(agg, idx)
        return Value(typ, agg.leaves[span])

    def insert_value(self, agg, value, idx, name=""):
        typ, span = self._member(agg, idx)
        if typ != value.type:
            raise TypeError(f"Can only insert {typ} at {idx} in {agg.type}: got {value.type}")
        leaves = list(agg.leaves)
        leaves[span] = value.leaves
        return Value(agg.type, leaves)

    # ---------------------------------------------------------------- control flow

    def phi(self, typ, name="", flags=()):
        made = Phi(self._block, typ, [self.function.leaf(t.lir) for t, _ in typ.leaves], name)
        self._block.phis.append(made)
        return made

    def branch(self, target):
        return self._end("jump", targets=[target])

    def cbranch(self, cond, truebr, falsebr):
        if cond.type != _bit:
            raise TypeError(f"a branch is on an i1, not on {cond.type}")
        return self._end("brif", cond.leaves, [truebr, falsebr])

    def switch(self, value, default):
        return Switch(self, value, default)

    def unreachable(self):
        return self._end("unreachable")

    ret = ret_void = _refused("ret", "a code generator gives its value to Python, by `return`")

    def _goes_on(self, bbenter, bbexit):
        """Inside of `bbenter`; what is open at its end goes to `bbexit`."""
        self.position_at_end(bbenter)
        yield bbexit
        if not self.block.is_terminated:
            self.branch(bbexit)

    @contextmanager
    def if_then(self, pred, likely=None):
        bb = self.block
        bbif, bbend = self.append_basic_block(bb.name + ".if"), self.append_basic_block(bb.name + ".endif")
        bbif.cold = likely is False
        self.cbranch(pred, bbif, bbend)
        yield from self._goes_on(bbif, bbend)
        self.position_at_end(bbend)

    @contextmanager
    def if_else(self, pred, likely=None):
        bb = self.block
        bbif, bbelse, bbend = (self.append_basic_block(bb.name + suffix) for suffix in (".if", ".else", ".endif"))
        bbif.cold, bbelse.cold = likely is False, likely is True
        self.cbranch(pred, bbif, bbelse)
        yield contextmanager(self._goes_on)(bbif, bbend), contextmanager(self._goes_on)(bbelse, bbend)
        self.position_at_end(bbend)

    # ---------------------------------------------------------------- calls

    def call(self, fn, args, name="", cconv=None, tail=False, fastmath=(), attrs=(), arg_attrs=None):
        from .calls import call
        return call(self, fn, list(args))

    def assume(self, cond):
        """LIR takes no promises."""

    def comment(self, text):
        """Comments are not kept."""

    def remove(self, instr):
        block, k = self._place_of(instr)
        del block.instructions[k]


class Switch:
    """A branch to the block of a value. The comparisons are written when the function is: one after the other."""

    def __init__(self, builder, value, default):
        self.value, self.default, self.cases = value, default, []
        self._block = builder.block
        builder._end("switch", [], [default])

    def add_case(self, val, block):
        if not isinstance(val, Value):
            val = Constant(self.value.type, val)
        self.cases.append((val, block))
        self._block.end[2].append(block)
        self._block.end[1][:] = [self]

    leaves, slot, type = (), None, VoidType()


def write_switches(function):
    """Replaces branches to the block of a value by comparisons."""
    for block in list(function.blocks):
        if block.end is None or block.end[0] != "switch":
            continue
        if not block.end[1]:
            block.end = "jump", [], block.end[2]
            continue
        switch, at = block.end[1][0], block
        builder = IRBuilder()
        for k, (val, to) in enumerate(switch.cases):
            builder.position_at_end(at)
            at.end = None
            cond = builder.icmp_unsigned("==", switch.value, val)
            rest = switch.default if k + 1 == len(switch.cases) else builder.append_basic_block("case")
            builder.cbranch(cond, to, rest)
            for target in {to, rest}:
                for phi in target.phis:
                    if at is not block:
                        phi.add_incoming(phi.of(block), at)
            at = rest


__all__ = ["IRBuilder", "LiteralStructType", "write_switches"]
