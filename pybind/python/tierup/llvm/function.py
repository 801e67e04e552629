"""A function in the making, and its text as LIR: phis become parameters of blocks, allocas pieces of the frame."""

from .. import _tierup
from . import CannotCarry
from .types import _ZERO, FunctionType, IntType, LabelType, Leaf, PointerType, Value, VoidType


class Slot:
    """Memory of a function: `count` times `size` bytes. It is a piece of the frame, or of the heap where its address is what the function gives or an argument
    says how large it is."""

    def __init__(self, function, size, count):
        self.size, self.escapes, self.count = size, False, count
        self.on_heap = isinstance(count, Leaf)
        if self.on_heap and count not in function.params:
            raise CannotCarry("alloca: the size of a piece of memory is known, or an argument, but not computed")
        self.bytes = None if self.on_heap else max(size * count, 8)
        self.leaf, self.owner, self.is_given = function.leaf("ptr", self), function.leaf("ptr"), False
        function.slots.append(self)


class Instruction:
    """One instruction. `alias` is the class of memory that it reads or writes, where that is another one than pointers have; `pure` says of a call that it
    is a function of numbers."""

    def __init__(self, op, operands, results=(), alias=None, pure=False):
        self.op, self.operands, self.results, self.alias, self.pure = op, operands, results, alias, pure


class Phi(Value):
    """A value that depends on where its block is entered from."""

    def __init__(self, block, typ, leaves, name=""):
        super().__init__(typ, leaves, name)
        self.block, self.incomings = block, []

    def add_incoming(self, value, block):
        if value.type != self.type:
            raise TypeError(f"a phi of type {self.type} is given a value of type {value.type}")
        self.incomings.append((value, block))

    def of(self, block):
        for value, come_from in self.incomings:
            if come_from is block:
                return value
        raise ValueError(f"a phi of the block {self.block.name!r} has no value for the edge from {block.name!r}")


class Block(Value):
    """A basic block."""

    def __init__(self, function, name):
        super().__init__(LabelType(), [], name)
        self.function, self.instructions, self.phis, self.end, self.cold = function, [], [], None, False

    parent = property(lambda self: self.function)

    @property
    def is_terminated(self):
        return self.end is not None

    @property
    def terminator(self):
        return self.end

    @property
    def targets(self):
        return self.end[2] if self.end else []


class Function(Value):
    """A function: the one in the making, or one that is called by its name."""

    def __init__(self, module, ftype, name):
        super().__init__(PointerType(ftype), [], name)
        self.module, self.ftype, self.function_type, self.return_value = module, ftype, ftype, Value(ftype.return_type, [])
        self.blocks, self.slots, self.symbols, self.calls, self._next = [], [], {}, [], 0
        #: The machine values of its arguments, and what compiled code passes in front of them.
        self.params, self.ctx = [], Leaf("ptr", name="v0")
        self.results = []
        #: Whether it reads objects of the run-time by pointers, of which the code around it has accesses of other classes.
        self.looks_inside = False
        #: Where references are that it drops at its end.
        self.kept = []
        self.attributes, self.linkage, self.calling_convention = set(), "", ""
        self.args = tuple(Value(t, []) for t in ftype.args)
        self.basic_blocks = self.blocks
        module.globals.setdefault(name, self)

    @property
    def is_declaration(self):
        return not self.blocks

    @property
    def entry_basic_block(self):
        return self.blocks[0]

    def append_basic_block(self, name=""):
        self.blocks.append(Block(self, name))
        return self.blocks[-1]

    def insert_basic_block(self, before, name=""):
        self.blocks.insert(before, Block(self, name))
        return self.blocks[before]

    def keep(self, builder, leaf):
        """Drops a reference when the function ends, or when this place is come to again."""
        slot = Slot(self, 8, 1)
        self.kept.append(slot)
        self.blocks[0].instructions.insert(0, Instruction("store.ptr", [Leaf("ptr", text="0"), slot.leaf]))
        if builder.block is self.blocks[0] and builder._anchor is not None:
            builder._anchor += 1
        before = builder._emit("load.ptr", slot.leaf, ty="ptr")
        builder._insert(Instruction("call_helper @obj_release", [before]))
        builder._insert(Instruction("store.ptr", [leaf, slot.leaf]))

    def leaf(self, ty, slot=None):
        self._next += 1
        return Leaf(ty, name=f"v{self._next}", slot=slot)

    def called(self, function, args, ret):
        """The name under which a Python function is called with arguments of these types."""
        self.calls.append((function, args, ret))
        return f"call{len(self.calls) - 1}"


class Module:
    """The module of a function: what is declared in it."""

    def __init__(self, name="", context=None):
        self.name, self.globals, self.triple, self.data_layout = name, {}, "", ""
        self.context = context

    @property
    def functions(self):
        return [g for g in self.globals.values() if isinstance(g, Function)]

    def get_global(self, name):
        return self.globals[name]

    def add_global(self, value):
        self.globals[value.name] = value

    def get_unique_name(self, name=""):
        taken, k = name, 1
        while taken in self.globals:
            taken, k = f"{name}.{k}", k + 1
        return taken

    def declare_intrinsic(self, intrinsic, tys=(), fnty=None):
        """The intrinsic of that name for operands of these types."""
        name = ".".join([intrinsic, *(t.intrinsic_name for t in tys)])
        if name in self.globals:
            return self.globals[name]
        return Function(self, fnty or _intrinsic_type(intrinsic, tuple(tys)), name)

    def add_metadata(self, operands):
        return None

    add_named_metadata = add_debug_info = get_named_metadata = lambda self, *args, **kwargs: None


def _intrinsic_type(name, tys):
    if name in ("llvm.memcpy", "llvm.memmove"):
        return FunctionType(VoidType(), [tys[0], tys[1], tys[2], IntType(1)])
    if name == "llvm.memset":
        return FunctionType(VoidType(), [tys[0], IntType(8), tys[1], IntType(1)])
    if name in ("llvm.assume",):
        return FunctionType(VoidType(), [IntType(1)])
    if name.endswith(".with.overflow"):
        from .types import LiteralStructType
        return FunctionType(LiteralStructType([tys[0], IntType(1)]), [tys[0], tys[0]])
    if name in ("llvm.ctlz", "llvm.cttz", "llvm.abs"):
        return FunctionType(tys[0], [tys[0], IntType(1)])
    if name == "llvm.powi":
        return FunctionType(tys[0], [tys[0], IntType(32)])
    two = ("pow", "copysign", "minnum", "maxnum", "minimum", "maximum", "smin", "smax", "umin", "umax", "sadd.sat", "ssub.sat", "uadd.sat", "usub.sat")
    three = ("fma", "fmuladd", "fshl", "fshr")
    kind = name.removeprefix("llvm.")
    count = 3 if kind in three else 2 if kind in two else 1
    return FunctionType(tys[0], [tys[0]] * count)


class GlobalVariable(Value):
    """A global variable. Only constants can be carried: what generated code has is a function, without memory that outlives it."""

    def __init__(self, module, typ, name, addrspace=0):
        super().__init__(PointerType(typ, addrspace), None, name)
        self.value_type, self.initializer, self.global_constant, self.linkage, self.align, self.unnamed_addr = typ, None, False, "", None, False
        module.globals.setdefault(name, self)

    @property
    def leaves(self):
        from .constants import memory_of
        return [memory_of(self)]

    @leaves.setter
    def leaves(self, _):
        pass

    def bitcast(self, typ):
        return Value(typ, self.leaves)

    def gep(self, indices):
        if any(int(i.constant) for i in indices):
            raise CannotCarry("a place inside of a global constant is computed by the builder's gep()")
        return Value(PointerType(getattr(self.value_type, "element", self.value_type)), self.leaves)


# ---------------------------------------------------------------- the text


class _Printer:
    def __init__(self, function, params):
        self.function, self.params = function, params
        self.lines, self.used = [], 0
        self.numbers = {}

    def operand(self, leaf):
        """The name of a leaf; a constant is made where it is used."""
        if leaf.name is not None and not leaf.offset:
            return leaf.name
        if leaf.name is not None:
            by = self.operand(Leaf("i64", text=str(leaf.offset)))
            return self.new(f"ptr_add.ptr {leaf.name}, {by}")
        self.used += 1
        name = f"v{1_000_000 + self.used}"
        if leaf.address is not None:
            self.lines.append(f"    {name} = symbol_addr {self.symbol(leaf.address)}")
        else:
            self.lines.append(f"    {name} = const.{leaf.ty} {leaf.text}")
        return name

    def new(self, line):
        self.used += 1
        self.lines.append(f"    v{1_000_000 + self.used} = {line}")
        return f"v{1_000_000 + self.used}"

    def place(self, leaf):
        """An address with its offset, which lies within what instructions hold."""
        if leaf.name is not None and -(1 << 31) <= leaf.offset < 1 << 31:
            return f"{leaf.name}{leaf.offset:+}"
        return self.operand(leaf) + "+0"

    def symbol(self, at):
        return f"sym{self.function.symbols.setdefault(at, len(self.function.symbols))}"

    def instruction(self, i):
        made = ", ".join(r.name for r in i.results) + " = " if i.results else ""
        if i.op.startswith("load"):
            line = f"{made}{i.op} {self.alias(i, 0)} {self.place(i.operands[0])}"
        elif i.op.startswith("store"):
            line = f"{i.op} {self.alias(i, 1)} {self.operand(i.operands[0])}, {self.place(i.operands[1])}"
        else:
            names = ", ".join([self.operand(x) for x in i.operands])
            line = f"{made}{i.op}({names})" if i.op.startswith("call") else f"{made}{i.op} {names}"
        self.lines.append("    " + line)

    def alias(self, i, k):
        if i.alias:
            return i.alias
        slot = i.operands[k].slot
        return "stack" if slot is not None and not slot.escapes else "array"

    def edge(self, come_from, to):
        args = [self.operand(leaf) for phi in to.phis for leaf in phi.of(come_from).leaves]
        return f"block{self.numbers[to]}" + (f"({', '.join(args)})" if args else "")

    def end(self, block):
        kind, operands, targets = block.end
        if kind == "jump":
            line = f"jump {self.edge(block, targets[0])}"
        elif kind == "brif":
            condition = self.operand(operands[0])
            edges = [self.edge(block, t) for t in targets]
            # At most one side is the unlikely one.
            cold = [t.cold and not all(x.cold for x in targets) for t in targets]
            line = f"brif {condition}, {', '.join(('cold ' if c else '') + e for c, e in zip(cold, edges, strict=True))}"
        elif kind == "return":
            names = [self.operand(x) for x in operands]
            line = f"return {', '.join(names)}" if names else "return"
        else:
            line = kind
        self.lines.append("    " + line)

    def block(self, block, head):
        params = self.params if head else [leaf for phi in block.phis for leaf in phi.leaves]
        shown = f"({', '.join(f'{p.name}: {p.ty}' for p in params)})" if params else ""
        self.lines.append(f"block{self.numbers[block]}{shown}{' cold' if block.cold and not head else ''}:")
        if head:
            for k, slot in enumerate(s for s in self.function.slots if not s.on_heap):
                self.lines.append(f"    {slot.leaf.name} = stack_addr slot{k}")
        for i in block.instructions:
            self.instruction(i)
        self.end(block)


def reached(function):
    """The blocks that the first one leads to, in their order."""
    seen, todo = set(), [function.blocks[0]]
    while todo:
        block = todo.pop()
        if block in seen:
            continue
        seen.add(block)
        if block.end is None:
            raise ValueError(f"the block {block.name!r} has no end: neither a branch nor a return")
        todo += block.targets
    return [b for b in function.blocks if b in seen]


def find_escapes(blocks):
    """Pieces of the frame whose addresses go where they are not followed: accesses of these may be by other pointers as well."""
    for block in blocks:
        for i in block.instructions:
            followed = {"load": (0,), "stor": (1,), "ptr_": (0,), "icmp": (0, 1)}.get(i.op[:4], ())
            _escape(leaf for k, leaf in enumerate(i.operands) if k not in followed)
        _escape(block.end[1])
        for to in block.targets:
            for phi in to.phis:
                _escape(phi.of(block).leaves)


def _escape(leaves):
    for leaf in leaves:
        if leaf.slot is not None:
            leaf.slot.escapes = True


def computes_numbers(blocks):
    """Whether a function does nothing but compute, as far as its instructions say."""
    for block in blocks:
        if block.end[0] == "unreachable":
            return False
        for i in block.instructions:
            place = {"load": 0, "stor": 1}.get(i.op[:4])
            if place is not None:
                leaf = i.operands[place]
                if leaf.slot is None or leaf.slot.escapes or leaf.slot.on_heap or leaf.name != leaf.slot.leaf.name or not 0 <= leaf.offset <= leaf.slot.bytes - 8:
                    return False
            if i.op.startswith("call") and not i.pure or any(x.address is not None for x in i.operands):
                return False
    return True


def finish(function, numbers):
    """The text of a function, and whether it computes numbers and nothing else, which only one of numbers does."""
    from .builder import write_switches
    write_switches(function)
    blocks = reached(function)
    find_escapes(blocks)
    plain = numbers and computes_numbers(blocks)
    if function.looks_inside:
        _apart(blocks)
    heap = [s for s in function.slots if s.on_heap]
    if heap:
        _prologue(function, heap)
        blocks = reached(function)
    for block in blocks:
        kind, operands, _ = block.end
        if kind in ("give", "raise"):
            for slot in heap:
                if kind == "raise" or not slot.is_given:
                    block.instructions.append(Instruction("call_helper @obj_release", [slot.owner]))
            for slot in function.kept:
                held = function.leaf("ptr")
                block.instructions += [Instruction("load.ptr", [slot.leaf], [held]), Instruction("call_helper @obj_release", [held])]
            rest = [Leaf(ty, text=_ZERO.get(ty, "0")) for ty in function.results] if kind == "raise" else operands
            status = [] if plain else operands[:1] if kind == "raise" else [Leaf("i64", text="0")]
            block.end = "return", status + rest, []
    return text(function, blocks, function.params if plain else [function.ctx, *function.params]), plain


def _apart(blocks):
    """Keeps accesses to objects by pointers apart from those of compiled code, in front of it, behind it and in what it calls."""
    for block in blocks:
        made = [Instruction(_BARRIER, [])] if block is blocks[0] else []
        for i in block.instructions:
            calls = i.op.startswith("call @")
            made += [Instruction(_BARRIER, []), i, Instruction(_BARRIER, [])] if calls else [i]
        if not block.targets:
            made.append(Instruction(_BARRIER, []))
        block.instructions = made


_BARRIER = "call_helper @memory_barrier"


def give(builder, leaves):
    """Ends the block with the result; memory on the heap belongs to the function, but for what it gives."""
    builder._end("give", leaves)


def _prologue(function, heap):
    """The block in front of the first one, which makes the memory that is not in the frame."""
    from .builder import IRBuilder
    first = function.blocks[0]
    builder = IRBuilder(function.insert_basic_block(0, "prologue"))
    for slot in heap:
        size = Leaf("i64", text=str(slot.bytes)) if slot.bytes is not None else builder._emit("imul.i64", slot.count, Leaf("i64", text=str(slot.size)), ty="i64")
        builder._insert(Instruction("call_helper @mem_alloc_zeroed", [function.ctx, size], [slot.owner]))
        fail_if_pending(builder, heap[: heap.index(slot)])
        builder._insert(Instruction("load.ptr", [slot.owner.at(_tierup.BLOCK_DATA)], [slot.leaf], alias="const"))
    builder.branch(first)


def fail_if_pending(builder, made):
    """Leaves the function where the run-time has raised an exception."""
    f = builder.function
    place = f.ctx.at(_tierup.PENDING)
    exception = builder._emit("load.ptr", place, ty="ptr", alias="ctx")
    bad = builder._emit("icmp_ne.ptr", exception, Leaf("ptr", text="0"), ty="i8")
    fails, goes_on = builder.append_basic_block("fails"), builder.append_basic_block("made")
    fails.cold = True
    builder._end("brif", [bad], [fails, goes_on])
    builder.position_at_end(fails)
    builder._insert(Instruction("store.ptr", [Leaf("ptr", text="0"), place], alias="ctx"))
    status = builder._emit("bitcast.i64", exception, ty="i64")
    for slot in made:
        builder._insert(Instruction("call_helper @obj_release", [slot.owner]))
    builder._end("return", [status, *(Leaf(ty, text=_ZERO.get(ty, "0")) for ty in f.results)])
    builder.position_at_end(goes_on)


def text(function, blocks, params):
    """The text of a function of these blocks over these leaves."""
    p = _Printer(function, params)
    p.numbers = {b: k for k, b in enumerate(blocks)}
    for k, b in enumerate(blocks):
        p.block(b, k == 0)
    head = [f"    declare @call{k}{sig}" for k, (_, sig) in enumerate(_signatures(function))]
    head += [f"    slot{k} = slot {s.bytes}" for k, s in enumerate(s for s in function.slots if not s.on_heap)]
    head += [f'    sym{k} = symbol "address {at:#x}" {at:#x}' for at, k in function.symbols.items()]
    return "\n".join(head + p.lines)


def _signatures(function):
    from .models import leaves_of
    for f, args, ret in function.calls:
        params = ["ptr", *(n for t in args for n, _ in leaves_of(t))]
        yield f, f"({', '.join(params)}) -> {', '.join(['i64', *(n for n, _ in leaves_of(ret))])}"
