//! The SSA data structure: blocks with parameters, instructions with at most one result, handlers as explicit
//! edges.
//!
//! * A block's arguments are passed by its predecessors; there is no phi.
//! * An instruction that may raise inside `try` names the handler in [`InstNode::unwind`]: a block whose
//!   first parameter is the exception and whose others are the arguments given there. Without one, the
//!   exception leaves the function.
//! * Python's operators, iteration and built-in conversions are operations of the table
//!   (`operator.add`).

use super::loc::Loc;
use super::side::Side;
use crate::entity;
use crate::handle::{FuncId, OpId};
use crate::source::{File, Frame};
use crate::types::{Const, Type};
use std::sync::Arc;

entity!(/// A value.
    pub Value, "v");
entity!(/// A basic block.
    pub Block, "b");
entity!(/// An instruction.
    pub Inst, "i");
entity!(/// A typed instance of a function, numbered by the inference session.
    pub InstanceId, "inst");

/// A jump target with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockCall {
    pub block: Block,
    pub args: Vec<Value>,
}

/// A global that begins like that, with the name of a variable behind it, stands for what the variable lies in, where
/// it is assigned to. No variable has that name.
pub const VARIABLE: &str = "<variable> ";

/// What an instruction does; operands are in [`InstNode::args`].
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Const(Const),
    /// The value of a local variable that is not bound.
    Undef,
    /// A module global or builtin by name.
    Global(Arc<str>),
    /// The n-th captured variable of this function.
    Free(u32),
    /// An operation of the table, with all operands in its parameters' order: `operator.add`,
    /// `builtins.iter`.
    Table(OpId),
    /// `args[0](args[1..])`; the last `keywords.len()` operands are passed by keyword.
    Call {
        keywords: Arc<[Arc<str>]>,
    },
    /// `args[0](*args[1], **dict(zip(keywords, args[2..])))`.
    CallSpread {
        keywords: Arc<[Arc<str>]>,
    },
    /// `args[0].name`.
    Attr(Arc<str>),
    /// `args[0].name = args[1]`.
    SetAttr(Arc<str>),
    /// A function value. Operands: defaults of trailing positional parameters, defaults of `kwdefaults`,
    /// captured values.
    MakeFunction {
        func: FuncId,
        defaults: u32,
        kwdefaults: Arc<[Arc<str>]>,
    },
    /// Member `n` of a tuple or of an operation's composite result; never fails.
    Member(u32),
    /// `args[0]`, or UnboundLocalError (NameError for a captured variable) when it is not bound.
    CheckBound {
        name: Arc<str>,
        captured: bool,
    },
    /// `args[0]` where a branch found out something about it; never fails. A class is the second operand.
    Narrow(Narrow),
    /// Suspends a generator and hands out `args[0]`; the result is what `send` gave (None).
    Yield,
    /// The exception `args[0]` becomes the one being handled (bare `raise`, context); undone by `PopHandled`.
    PushHandled,
    PopHandled,

    // Typed code only.
    /// A resolved operation: all parameters in order, defaults filled in.
    Apply(&'static crate::ops::OpDef),
    /// Direct call of an instance.
    CallInstance(InstanceId),
    /// Runs an instance for pieces of a range, in several threads: its operands are those of the instance,
    /// the first two of which (the bounds) are replaced, then the range. Gives the list of what the pieces
    /// gave.
    Region(InstanceId),
    /// Runs an instance in a thread of its own: its operands are those of the instance, then the group of tasks
    /// that the thread belongs to.
    Task(InstanceId),
    /// Operations on arrays, element by element in one loop. Operands: what they read, then shapes of steps.
    Fused(Arc<Fused>),
    /// The shape that operands (arrays, numbers, shapes) broadcast to, as a tuple; raises what an elementwise
    /// operation on them raises.
    Broadcast,
    /// Explicit promotion to the result's type.
    Cast,
    /// Adds a reference.
    Retain,
    /// Drops a reference.
    Release,
}

/// Steps that compute one element, the last of which may also say what becomes of the elements (an
/// assignment, a sum).
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    pub steps: Vec<FusedStep>,
}

/// One operation of an [`Op::Fused`].
#[derive(Clone, Debug, PartialEq)]
pub struct FusedStep {
    pub op: &'static crate::ops::OpDef,
    pub args: Vec<FusedArg>,
    /// The type that its result would have.
    pub ty: Type,
    /// Which operand of the instruction is the shape of its result, where the last step asks.
    pub shape: Option<u32>,
    /// Its result is wanted as an array too: the instruction gives a tuple of these arrays, and last what the
    /// last step gives.
    pub made: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusedArg {
    /** An operand of the instruction. */
    Operand(u32),
    /** The result of an earlier step. */
    Step(u32),
}

/// What a branch found out about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrow {
    IsNone,
    NotNone,
    /// It is an instance of a class, or of one of a tuple of classes; or it is that mark itself.
    IsA,
    NotA,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InstNode {
    pub op: Op,
    pub args: Vec<Value>,
    /// Every instruction but `Release` and `PopHandled` has one; unused ones cost nothing.
    pub result: Option<Value>,
    pub loc: Loc,
    /// Where an exception goes; the handler's first parameter is the exception, the others are these
    /// arguments.
    pub unwind: Option<BlockCall>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// Not yet filled in (only while building).
    None,
    Jump(BlockCall),
    /// `cond` is any value in untyped code (its truth is taken by an explicit `operator.truth`), a bool in
    /// typed code.
    Branch {
        cond: Value,
        then_to: BlockCall,
        else_to: BlockCall,
    },
    Return(Value),
    /// Raises the native exception `exc`; to `unwind`, or out of the function.
    Raise {
        exc: Value,
        unwind: Option<BlockCall>,
    },
    Unreachable,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlockData {
    pub params: Vec<Value>,
    pub insts: Vec<Inst>,
    pub term: Term,
    pub term_loc: Loc,
}

/// Parameters of a Python function, in the order of its local variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params {
    pub names: Vec<Arc<str>>,
    pub positional_only: usize,
    /// Positional parameters, positional-only ones included.
    pub positional: usize,
    pub keyword_only: usize,
    /// `*args` takes the next entry of `names`, `**kwargs` the one after it.
    pub varargs: bool,
    pub varkw: bool,
}

/// Where inlined code came from.
#[derive(Clone, Debug, PartialEq)]
pub struct InlinedFrom {
    pub file: File,
    pub func: Arc<str>,
    pub call: Loc,
}

/// The body of a parallel loop: what iterations of one piece of its range do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoopBody {
    /// Its iterations run one after the other where they do anything but compute.
    pub careful: bool,
    /// It is one piece where a member of what it gives may be NaN; or where that is a tuple and a member
    /// behind its first one may be, if that is said.
    pub in_order: Vec<(u32, bool)>,
    /// What was found before decides what runs; its third argument says that this is one piece that begins
    /// with what the plain loop has there.
    pub decides: bool,
    /// The arguments whose elements change behind the loop, by what pieces give.
    pub behind: Vec<u32>,
    /// What pieces give is added to all of these, so two of them may share memory.
    pub adds: bool,
}

/// An SSA function. Entry is `Block(0)`; its parameters are the Python parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Func {
    pub id: Option<FuncId>,
    pub name: Arc<str>,
    pub qualname: Arc<str>,
    pub file: File,
    pub first_line: u32,
    pub params: Params,
    /// Names of captured variables, by index of [`Op::Free`].
    pub free: Vec<Arc<str>>,
    pub is_generator: bool,
    /// What of it runs in parallel.
    pub parallel: super::Parts,
    /// That it is the body of a parallel loop.
    pub body: Option<LoopBody>,
    /// What became of the loops over `prange`, where they were to be parallel.
    pub loops: Vec<super::loops::LoopNote>,
    pub blocks: Vec<BlockData>,
    pub insts: Vec<InstNode>,
    /// Number of values; the type of each in typed code.
    pub values: u32,
    pub types: Vec<Type>,
    pub inlined: Vec<InlinedFrom>,
    /// What steps of lowering have found out about its values.
    pub side: Side,
    /// A fingerprint of the code and its constants, stable between processes.
    pub hash: u64,
    /// Handle by which the host finds the Python function's globals, defaults and closure; 0 for code without
    /// a Python function.
    pub host: u64,
}

impl Op {
    /// No exception can come from here, whatever the operands are; needs no handler.
    pub(crate) fn never_raises(&self) -> bool {
        match self {
            Op::Const(_)
            | Op::Undef
            | Op::Free(_)
            | Op::MakeFunction { .. }
            | Op::Member(_)
            | Op::Narrow(_)
            | Op::PushHandled
            | Op::PopHandled
            | Op::Retain
            | Op::Release => true,
            Op::Table(path) => path.facts().total,
            Op::Apply(op) => !op.raises,
            Op::Global(_)
            | Op::Call { .. }
            | Op::CallSpread { .. }
            | Op::Attr(_)
            | Op::SetAttr(_)
            | Op::CheckBound { .. }
            | Op::Yield
            | Op::CallInstance(_)
            | Op::Region(_)
            | Op::Task(_)
            | Op::Fused(_)
            | Op::Broadcast
            | Op::Cast => false,
        }
    }
    /// Whether the instruction can go when nobody uses its result.
    pub(crate) fn removable(&self) -> bool {
        match self {
            Op::Const(_)
            | Op::Undef
            | Op::Free(_)
            | Op::MakeFunction { .. }
            | Op::Member(_)
            | Op::Narrow(_) => true,
            Op::Table(path) => path.facts().total,
            Op::Apply(op) => op.effect != crate::ops::Effect::Writes && !op.raises,
            Op::Global(_)
            | Op::Call { .. }
            | Op::CallSpread { .. }
            | Op::Attr(_)
            | Op::SetAttr(_)
            | Op::CheckBound { .. }
            | Op::Yield
            | Op::PushHandled
            | Op::PopHandled
            | Op::CallInstance(_)
            | Op::Region(_)
            | Op::Task(_)
            | Op::Fused(_)
            | Op::Broadcast
            | Op::Cast
            | Op::Retain
            | Op::Release => false,
        }
    }
}

impl Func {
    /// Blocks and where they lead, exceptions included: one line each.
    pub fn control_flow(&self) -> String {
        let mut out = String::new();
        for (i, b) in self.blocks.iter().enumerate() {
            let mut next: Vec<String> = b.term.targets().iter().map(|t| t.block.to_string()).collect();
            next.extend(
                b.insts
                    .iter()
                    .filter_map(|i| self.inst(*i).unwind.as_ref())
                    .map(|u| format!("{} (exception)", u.block)),
            );
            next.dedup();
            let end = match &b.term {
                Term::Return(_) => "return",
                Term::Raise { .. } => "raise",
                Term::Unreachable | Term::None => "end",
                Term::Jump(_) | Term::Branch { .. } => "",
            };
            if !end.is_empty() {
                next.insert(0, end.into());
            }
            out.push_str(&format!(
                "{} ({} instructions, line {}) -> {}\n",
                Block::new(i),
                b.insts.len(),
                b.term_loc.line,
                next.join(", ")
            ));
        }
        out
    }

    pub fn is_typed(&self) -> bool {
        self.types.len() == self.values as usize && self.values > 0
    }
    pub(crate) fn make_value(&mut self) -> Value {
        self.values += 1;
        Value(self.values - 1)
    }
    pub(crate) fn make_block(&mut self) -> Block {
        self.blocks.push(BlockData {
            params: vec![],
            insts: vec![],
            term: Term::None,
            term_loc: Loc::default(),
        });
        Block::new(self.blocks.len() - 1)
    }
    pub(crate) fn block(&self, b: Block) -> &BlockData {
        &self.blocks[b.index()]
    }
    pub fn inst(&self, i: Inst) -> &InstNode {
        &self.insts[i.index()]
    }
    pub(crate) fn add_param(&mut self, b: Block) -> Value {
        let v = self.make_value();
        self.blocks[b.index()].params.push(v);
        v
    }
    /// Appends an instruction with a result.
    /// Has what the function gives be what it declares.
    pub fn declare_result(&mut self) {
        for b in (0..self.blocks.len()).map(Block::new) {
            let block = self.block(b);
            if let Term::Return(v) = block.term {
                let loc = block.term_loc;
                let op = Op::Table(crate::ops::id::DECLARE_RESULT);
                let checked = self.push(b, op, vec![v], loc, None);
                self.blocks[b.index()].term = Term::Return(checked);
            }
        }
    }
    pub(crate) fn push(
        &mut self,
        b: Block,
        op: Op,
        args: Vec<Value>,
        loc: Loc,
        unwind: Option<BlockCall>,
    ) -> Value {
        let result = self.make_value();
        self.insts.push(InstNode { op, args, result: Some(result), loc, unwind });
        let inst = Inst::new(self.insts.len() - 1);
        self.blocks[b.index()].insts.push(inst);
        result
    }
    /// File, function and line of every Python frame at a location, innermost first, up to the frame that
    /// `outermost` belongs to (0: this function's own). Traceback entries name functions without what
    /// encloses them.
    pub(crate) fn frames(&self, loc: Loc, outermost: u32) -> Vec<Frame> {
        let name = |qualname: &str| qualname.rsplit('.').next().unwrap_or_default().into();
        let (mut out, mut at) = (vec![], loc);
        loop {
            let Some(from) = at.inlined.checked_sub(1).and_then(|i| self.inlined.get(i as usize)) else {
                out.push(Frame { file: self.file.clone(), func: name(&self.qualname), line: at.line });
                return out;
            };
            out.push(Frame { file: from.file.clone(), func: name(&from.func), line: at.line });
            // Callers come before what they inline, so this ends.
            if at.inlined == outermost || from.call.inlined >= at.inlined {
                return out;
            }
            at = from.call;
        }
    }
    /// The source place of a location, for diagnostics.
    pub fn span(&self, loc: Loc) -> crate::diag::Span {
        let (file, func) = match loc.inlined.checked_sub(1).map(|i| &self.inlined[i as usize]) {
            Some(from) => (from.file.clone(), from.func.clone()),
            None => (self.file.clone(), self.qualname.clone()),
        };
        crate::diag::Span { file, func, line: loc.line, col: loc.col, end_col: loc.end_col }
    }
}

impl Term {
    /// Jump targets, the handler of a raise included.
    pub(crate) fn targets(&self) -> Vec<&BlockCall> {
        match self {
            Term::Jump(to) => vec![to],
            Term::Branch { then_to, else_to, .. } => vec![then_to, else_to],
            Term::Raise { unwind, .. } => unwind.iter().collect(),
            Term::None | Term::Return(_) | Term::Unreachable => vec![],
        }
    }
    pub(crate) fn targets_mut(&mut self) -> Vec<&mut BlockCall> {
        match self {
            Term::Jump(to) => vec![to],
            Term::Branch { then_to, else_to, .. } => vec![then_to, else_to],
            Term::Raise { unwind, .. } => unwind.iter_mut().collect(),
            Term::None | Term::Return(_) | Term::Unreachable => vec![],
        }
    }
}
