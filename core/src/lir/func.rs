//! LIR functions: blocks with parameters, instructions, locations. No Python type appears here.
//!
//! Convention of every function that compiled code or a wrapper may call: parameter 0 is the `ThreadCtx`
//! pointer, the first result is the status (i64: 0, or an owned pointer to the pending native exception),
//! then the exploded result scalars. `legalise` turns more than one result scalar into stores through an
//! out-pointer just before a back end.

use super::grid_op::GridOp;
use super::inst::Op;
use super::ty::Ty;
use crate::diag::Span;
use crate::entity;
use crate::rt::RtFn;

entity!(/// A value.
    pub Value, "v");
entity!(/// A basic block.
    pub Block, "block");
entity!(/// An instruction.
    pub Inst, "inst");
entity!(/// A fixed-size piece of the frame.
    pub Slot, "slot");
entity!(/// A function that this one calls.
    pub FuncRef, "fn");
entity!(/// An address that is known when the code is made: an entry cell, a string, a constant array.
    pub Symbol, "sym");
entity!(/// A source location; 0 is "unknown".
    pub Loc, "loc");

/// What memory an access touches. Accesses of different classes never alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alias {
    /// Elements of NumPy arrays (they may alias each other).
    Array,
    /// Headers of lists, strings and other heap objects of the run-time, and code points of strings.
    Object,
    /// How many elements a list or another container has, in its header: never negative, at most
    /// [`MAX_LENGTH`].
    Length,
    /// Elements of lists: apart from the headers, so that a loop which stores elements still keeps `len` and
    /// `data` in registers.
    Element,
    /// Generator frames and closure environments.
    Frame,
    /// Stack slots and out-pointers.
    Stack,
    /// Fields of the `ThreadCtx`.
    Ctx,
    /// Memory that never changes while compiled code can see it.
    Const,
    /// Memory that others change while this code runs (`ThreadCtx::interrupt`, cancellation flags): every
    /// access happens, in order.
    Volatile,
}
/// What a list has at most, as in Python; other containers have less.
pub const MAX_LENGTH: i64 = i64::MAX / 8;

impl Alias {
    pub const ALL: &'static [Alias] = &[
        Alias::Array,
        Alias::Object,
        Alias::Length,
        Alias::Element,
        Alias::Frame,
        Alias::Stack,
        Alias::Ctx,
        Alias::Const,
        Alias::Volatile,
    ];
    pub(crate) fn parse(s: &str) -> Option<Alias> {
        Alias::ALL.iter().copied().find(|a| a.name() == s)
    }
    pub fn name(self) -> &'static str {
        match self {
            Alias::Array => "array",
            Alias::Object => "object",
            Alias::Length => "length",
            Alias::Element => "element",
            Alias::Frame => "frame",
            Alias::Stack => "stack",
            Alias::Ctx => "ctx",
            Alias::Const => "const",
            Alias::Volatile => "volatile",
        }
    }
}

/// A jump target with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockCall {
    pub block: Block,
    pub args: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum InstData {
    /// Constant of type `ty`; bits as in [`super::inst::eval`].
    Const {
        ty: Ty,
        bits: u64,
    },
    /// A row of the table. `ty` is the printed suffix: operand type, or result type of a conversion.
    Op {
        op: Op,
        ty: Ty,
        args: Vec<Value>,
    },
    /// `*(addr + offset)`; any alignment is allowed.
    Load {
        ty: Ty,
        addr: Value,
        offset: i32,
        alias: Alias,
    },
    /// `*(addr + offset) = value`; any alignment is allowed.
    Store {
        value: Value,
        addr: Value,
        offset: i32,
        alias: Alias,
    },
    /// Address of a stack slot.
    StackAddr {
        slot: Slot,
    },
    /// Address of a symbol.
    SymbolAddr {
        symbol: Symbol,
    },
    /// Direct call of a LIR function.
    Call {
        func: FuncRef,
        args: Vec<Value>,
    },
    /// Call through a pointer.
    CallIndirect {
        sig: Signature,
        addr: Value,
        args: Vec<Value>,
    },
    /// Call of a run-time helper.
    CallHelper {
        helper: &'static RtFn,
        args: Vec<Value>,
    },
    /// A row of the table of [`super::grid`], for kernels. `ty` is the type of the memory that is changed,
    /// else that of the result.
    Grid {
        op: GridOp,
        ty: Ty,
        args: Vec<Value>,
    },
    Jump(BlockCall),
    /// To `then_to` where `cond` (i8) is non-zero. `cold` names an unlikely side.
    Brif {
        cond: Value,
        then_to: BlockCall,
        else_to: BlockCall,
        cold: Cold,
    },
    /// To `cases[index]`, or to `default` where `index` (i64, unsigned) is past the end. Cases take no
    /// arguments.
    Switch {
        index: Value,
        cases: Vec<Block>,
        default: Block,
    },
    Return(Vec<Value>),
    /// Never reached.
    Unreachable,
}

/// Which side of a branch is unlikely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cold {
    Neither,
    Then,
    Else,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Signature {
    pub params: Vec<Ty>,
    pub results: Vec<Ty>,
}

/// A function that is called directly.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtFunc {
    pub name: String,
    pub sig: Signature,
}

/// An address outside the code. `name` is stable between processes, `addr` is for this one.
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolData {
    pub name: String,
    pub addr: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SlotData {
    pub bytes: u32,
    /// One piece for all threads of a block instead of one for each call; only in kernels.
    pub shared: bool,
}

/// One source position. `inlined_at` is the call site in the function that this code was inlined into.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LocData {
    pub file: crate::source::File,
    pub func: std::sync::Arc<str>,
    pub line: u32,
    pub col: u32,
    pub inlined_at: Loc,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockData {
    pub params: Vec<Value>,
    pub insts: Vec<Inst>,
    pub cold: bool,
    /** The header of a loop with so few turns that vectors and more copies of its body are not worth it. */
    pub short: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InstNode {
    pub data: InstData,
    pub results: Vec<Value>,
    pub loc: Loc,
}

/// A LIR function. The first block is the entry; its parameters are the function's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Func {
    pub name: String,
    pub sig: Signature,
    /// May be inlined into callers whatever its size.
    pub always_inline: bool,
    /// The function that it makes callable from outside, with arguments and results in slots; of the entry into
    /// a loop of such a function the same one.
    pub wraps: Option<String>,
    pub blocks: Vec<BlockData>,
    /// Blocks in layout order; a block that is not listed is dead.
    pub layout: Vec<Block>,
    pub insts: Vec<InstNode>,
    pub value_types: Vec<Ty>,
    pub slots: Vec<SlotData>,
    pub funcs: Vec<ExtFunc>,
    pub symbols: Vec<SymbolData>,
    /// Index 0 stands for "unknown" and is not stored; `Loc(n)` is `locs[n - 1]`.
    pub locs: Vec<LocData>,
}

/// Functions that are compiled together; calls between them are direct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    pub funcs: Vec<Func>,
}

impl Module {
    /// See [`Func::renumbered`].
    pub fn renumbered(&self) -> Module {
        Module { funcs: self.funcs.iter().map(Func::renumbered).collect() }
    }
    pub fn func(&self, name: &str) -> Option<&Func> {
        self.funcs.iter().find(|f| f.name == name)
    }
}

impl InstData {
    pub fn is_terminator(&self) -> bool {
        match self {
            InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => true,
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. } => false,
        }
    }

    /// Calls `f` on every value that this instruction uses, block arguments included.
    pub fn for_each_use(&self, mut f: impl FnMut(Value)) {
        let mut all = |vs: &[Value]| vs.iter().for_each(|v| f(*v));
        match self {
            InstData::Const { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Unreachable => {}
            InstData::Op { args, .. }
            | InstData::Call { args, .. }
            | InstData::CallHelper { args, .. }
            | InstData::Grid { args, .. }
            | InstData::Return(args) => all(args),
            InstData::Load { addr, .. } => all(&[*addr]),
            InstData::Store { value, addr, .. } => all(&[*value, *addr]),
            InstData::CallIndirect { addr, args, .. } => {
                all(args);
                all(&[*addr])
            }
            InstData::Jump(to) => all(&to.args),
            InstData::Brif { cond, then_to, else_to, .. } => {
                all(&then_to.args);
                all(&else_to.args);
                all(&[*cond])
            }
            InstData::Switch { index, .. } => all(&[*index]),
        }
    }

    /// Calls `f` on every jump target with its arguments, in order.
    pub fn for_each_target(&self, mut f: impl FnMut(Block, &[Value])) {
        match self {
            InstData::Jump(to) => f(to.block, &to.args),
            InstData::Brif { then_to, else_to, .. } => {
                f(then_to.block, &then_to.args);
                f(else_to.block, &else_to.args)
            }
            InstData::Switch { cases, default, .. } => cases.iter().chain([default]).for_each(|b| f(*b, &[])),
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. }
            | InstData::Return(_)
            | InstData::Unreachable => {}
        }
    }

    /// Replaces every jump target.
    pub(crate) fn map_targets(&mut self, mut f: impl FnMut(Block) -> Block) {
        match self {
            InstData::Jump(to) => to.block = f(to.block),
            InstData::Brif { then_to, else_to, .. } => {
                then_to.block = f(then_to.block);
                else_to.block = f(else_to.block)
            }
            InstData::Switch { cases, default, .. } => {
                cases.iter_mut().chain([default]).for_each(|b| *b = f(*b))
            }
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. }
            | InstData::Return(_)
            | InstData::Unreachable => {}
        }
    }

    /// Replaces every used value.
    pub fn map_uses(&mut self, mut f: impl FnMut(Value) -> Value) {
        let mut all = |vs: &mut Vec<Value>| vs.iter_mut().for_each(|v| *v = f(*v));
        match self {
            InstData::Const { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Unreachable => {}
            InstData::Op { args, .. }
            | InstData::Call { args, .. }
            | InstData::CallHelper { args, .. }
            | InstData::Grid { args, .. }
            | InstData::Return(args) => all(args),
            InstData::Load { addr, .. } => *addr = f(*addr),
            InstData::Store { value, addr, .. } => {
                *value = f(*value);
                *addr = f(*addr)
            }
            InstData::CallIndirect { addr, args, .. } => {
                all(args);
                *addr = f(*addr)
            }
            InstData::Jump(to) => all(&mut to.args),
            InstData::Brif { cond, then_to, else_to, .. } => {
                all(&mut then_to.args);
                all(&mut else_to.args);
                *cond = f(*cond)
            }
            InstData::Switch { index, .. } => *index = f(*index),
        }
    }

    /// Calls `f` on every successor block, in order.
    pub fn for_each_successor(&self, mut f: impl FnMut(Block)) {
        self.for_each_target(|b, _| f(b));
    }

    /// Successor blocks, in order.
    pub(crate) fn successors(&self) -> Vec<Block> {
        let mut out = vec![];
        self.for_each_successor(|b| out.push(b));
        out
    }
}

/// What the paths of library functions written in Python have in them.

impl Func {
    pub fn new(name: impl Into<String>, sig: Signature) -> Func {
        Func { name: name.into(), sig, ..Func::default() }
    }
    pub fn value_type(&self, v: Value) -> Ty {
        self.value_types[v.index()]
    }
    pub fn entry(&self) -> Block {
        self.layout[0]
    }
    /// Whether it computes with vectors.
    pub fn has_vectors(&self) -> bool {
        self.value_types.iter().any(|t| t.is_vector())
    }
    pub fn terminator(&self, b: Block) -> Option<Inst> {
        self.blocks[b.index()].insts.last().copied()
    }

    pub fn make_value(&mut self, ty: Ty) -> Value {
        self.value_types.push(ty);
        Value::new(self.value_types.len() - 1)
    }

    /// A new block, not yet in the layout.
    pub(crate) fn make_block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block::new(self.blocks.len() - 1)
    }

    /// The same that stands for a copy of another one, of this function or not: marked alike, still without
    /// parameters and instructions.
    pub(crate) fn make_block_like(&mut self, old: &BlockData) -> Block {
        // Named one by one, so that a mark that is added is copied too.
        let BlockData { params: _, insts: _, cold, short } = *old;
        self.blocks.push(BlockData { params: vec![], insts: vec![], cold, short });
        Block::new(self.blocks.len() - 1)
    }

    pub(crate) fn add_param(&mut self, b: Block, ty: Ty) -> Value {
        let v = self.make_value(ty);
        self.blocks[b.index()].params.push(v);
        v
    }

    /// A new instruction with its results, not yet in a block.
    pub(crate) fn make_inst(&mut self, data: InstData, loc: Loc) -> Inst {
        let results = self.result_types(&data).into_iter().map(|t| self.make_value(t)).collect();
        self.insts.push(InstNode { data, results, loc });
        Inst::new(self.insts.len() - 1)
    }

    pub(crate) fn result_types(&self, data: &InstData) -> Vec<Ty> {
        match data {
            InstData::Const { ty, .. } | InstData::Load { ty, .. } => vec![*ty],
            InstData::Op { op, ty, .. } => vec![op.shape().result(*ty)],
            InstData::StackAddr { .. } | InstData::SymbolAddr { .. } => vec![Ty::Ptr],
            InstData::Call { func, .. } => self.funcs[func.index()].sig.results.clone(),
            InstData::CallIndirect { sig, .. } => sig.results.clone(),
            InstData::CallHelper { helper, .. } => helper.ret.ty().into_iter().collect(),
            InstData::Grid { op, ty, .. } => op.result(*ty).into_iter().collect(),
            InstData::Store { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => vec![],
        }
    }

    pub fn add_slot(&mut self, bytes: u32) -> Slot {
        self.slots.push(SlotData { bytes, shared: false });
        Slot::new(self.slots.len() - 1)
    }

    /// A piece of memory that the threads of a block share.
    pub(crate) fn add_shared_slot(&mut self, bytes: u32) -> Slot {
        self.slots.push(SlotData { bytes, shared: true });
        Slot::new(self.slots.len() - 1)
    }

    pub fn func_ref(&mut self, name: &str, sig: &Signature) -> FuncRef {
        let at = self.funcs.iter().position(|f| f.name == name).unwrap_or_else(|| {
            self.funcs.push(ExtFunc { name: name.into(), sig: sig.clone() });
            self.funcs.len() - 1
        });
        FuncRef::new(at)
    }

    pub(crate) fn symbol(&mut self, name: &str, addr: usize) -> Symbol {
        let at = self.symbols.iter().position(|s| s.name == name).unwrap_or_else(|| {
            self.symbols.push(SymbolData { name: name.into(), addr });
            self.symbols.len() - 1
        });
        Symbol::new(at)
    }

    pub fn add_loc(&mut self, data: LocData) -> Loc {
        // Only the last few are compared: looking through all of them would take time quadratic in the size
        // of the function.
        let first = self.locs.len().saturating_sub(8);
        if let Some(at) = self.locs[first..].iter().rposition(|l| *l == data) {
            return Loc::new(first + at + 1);
        }
        self.locs.push(data);
        Loc::new(self.locs.len())
    }

    /// The same function with blocks, instructions and values numbered in layout order and everything dead
    /// left out: what parsing the printed text gives. Slots, callees, symbols and locations keep their
    /// numbers.
    pub fn renumbered(&self) -> Func {
        let mut out = Func {
            blocks: vec![],
            layout: vec![],
            insts: vec![],
            value_types: vec![],
            name: self.name.clone(),
            sig: self.sig.clone(),
            always_inline: self.always_inline,
            wraps: self.wraps.clone(),
            slots: self.slots.clone(),
            funcs: self.funcs.clone(),
            symbols: self.symbols.clone(),
            locs: self.locs.clone(),
        };
        let (mut values, mut blocks) = (vec![None; self.value_types.len()], vec![None; self.blocks.len()]);
        for &b in &self.layout {
            let old = &self.blocks[b.index()];
            let new = out.make_block_like(old);
            blocks[b.index()] = Some(new);
            out.layout.push(new);
            for &p in &old.params {
                values[p.index()] = Some(out.add_param(new, self.value_type(p)));
            }
            for &i in &old.insts {
                let node = &self.insts[i.index()];
                let results = node
                    .results
                    .iter()
                    .map(|&r| {
                        let v = out.make_value(self.value_type(r));
                        values[r.index()] = Some(v);
                        v
                    })
                    .collect();
                out.insts.push(InstNode { data: node.data.clone(), results, loc: node.loc });
                let i = Inst::new(out.insts.len() - 1);
                out.blocks[new.index()].insts.push(i);
            }
        }
        // A use of something dead is invalid; it keeps its number so that the verifier or the reader sees it.
        for node in &mut out.insts {
            node.data.map_uses(|v| values[v.index()].unwrap_or(v));
            node.data.map_targets(|b| blocks[b.index()].unwrap_or(b));
        }
        out
    }

    pub fn loc(&self, loc: Loc) -> Option<&LocData> {
        loc.index().checked_sub(1).map(|i| &self.locs[i])
    }
    /// The same as a diagnostic has it.
    pub fn span(&self, loc: Loc) -> Option<Span> {
        let l = self.loc(loc)?;
        Some(Span { file: l.file.clone(), func: l.func.clone(), line: l.line, col: l.col, end_col: 0 })
    }
}
