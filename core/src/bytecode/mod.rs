//! Decoded code objects: plain data, independent of the Python version, with jumps as instruction indices.
//!
//! [`inst`] is the neutral instruction set, [`stack`] what it does to the operand stack, [`decode`] reads the
//! raw bytes of every version, [`text`] prints and parses the `.bc` form and [`recorded`] what other Pythons
//! recorded.

pub mod decode;
pub(crate) mod inst;
pub mod recorded;
pub mod stack;
pub mod text;

pub use inst::{Arg, Opcode};

use crate::source::File;
use crate::types::Const;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A code object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    pub name: Arc<str>,
    pub qualname: Arc<str>,
    pub file: File,
    pub first_line: u32,
    /// Positional parameters, positional-only ones included.
    pub args: u32,
    pub positional_only: u32,
    pub keyword_only: u32,
    pub flags: u32,
    /// Local variables, parameters first.
    pub varnames: Vec<Arc<str>>,
    /// Variables that inner functions capture; parameters among them are in `varnames` too.
    pub cellvars: Vec<Arc<str>>,
    pub freevars: Vec<Arc<str>>,
    pub names: Vec<Arc<str>>,
    pub consts: Vec<Constant>,
    pub insts: Vec<Instr>,
    /// Disjoint, in order of `start`.
    pub handlers: Vec<Handler>,
}

pub(crate) const VARARGS: u32 = 0x04;
pub(crate) const VARKEYWORDS: u32 = 0x08;
pub(crate) const GENERATOR: u32 = 0x20;
pub(crate) const COROUTINE: u32 = 0x80;
pub(crate) const ITERABLE_COROUTINE: u32 = 0x100;
pub(crate) const ASYNC_GENERATOR: u32 = 0x200;

/// An entry of `co_consts`.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    Value(Const),
    Code(Arc<Code>),
    /// A slice: start, stop, step.
    Slice(Box<[Const; 3]>),
    /// A set, which only occurs where a tuple of its members does as well, but for what has no hash.
    Set(Vec<Const>),
    /// A tuple among whose members is a slice.
    Index(Vec<Constant>),
    /// Compiled code cannot hold it; the text says what it is. An error only where it is loaded.
    Unsupported(Arc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    pub op: Opcode,
    /// The argument; of a jump, the index of the target instruction.
    pub arg: u32,
    pub at: Position,
}

/// Where in the source: line counts from 1 (0: unknown), columns are bytes from 0, `end_col` 0 means unknown
/// or on a later line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Position {
    pub line: u32,
    pub col: u32,
    pub end_col: u32,
}

/// Instructions `start..end` send exceptions to `target`, with the stack cut to `depth`, then the index of
/// the instruction if `lasti` (a dummy here), then the exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handler {
    pub start: u32,
    pub end: u32,
    pub target: u32,
    pub depth: u32,
    pub lasti: bool,
}

/// What the index of a shared variable means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// A local variable or a cell of this function: index of all variables, parameters and locals first.
    Local(u32),
    /// The n-th captured variable.
    Free(u32),
}

impl Code {
    /// Cells that are no parameters or locals, in the order in which they follow `varnames`.
    fn extra_cells(&self) -> impl Iterator<Item = &Arc<str>> {
        self.cellvars.iter().filter(|c| !self.varnames.contains(c))
    }
    /// Local variables and cells.
    pub(crate) fn local_count(&self) -> usize {
        self.varnames.len() + self.extra_cells().count()
    }
    /// Names of local variables and cells by index.
    pub(crate) fn local_names(&self) -> Vec<Arc<str>> {
        self.varnames.iter().chain(self.extra_cells()).cloned().collect()
    }
    /// The name of a variable by the index that instructions have for it.
    pub fn variable_name(&self, arg: u32) -> Option<&Arc<str>> {
        let at = arg as usize;
        let names = self.varnames.iter().chain(self.extra_cells()).chain(&self.freevars);
        if at < self.varnames.len() { self.varnames.get(at) } else { names.skip(at).next() }
    }
    /// What the argument of an instruction on a shared variable means.
    pub(crate) fn variable(&self, arg: u32) -> Variable {
        let locals = self.local_count() as u32;
        if arg < locals { Variable::Local(arg) } else { Variable::Free(arg - locals) }
    }
    /// Entries of `varnames` that are parameters.
    pub(crate) fn param_count(&self) -> usize {
        let stars = (self.flags & VARARGS != 0) as usize + (self.flags & VARKEYWORDS != 0) as usize;
        self.args as usize + self.keyword_only as usize + stars
    }
    /// The same in every process for the same source, positions included.
    pub(crate) fn fingerprint(&self) -> u64 {
        // Fixed keys: the same in every process of one build, which is as far as anything compiled is kept.
        let mut h = std::collections::hash_map::DefaultHasher::new();
        self.feed(&mut h);
        h.finish()
    }
    fn feed<H: Hasher>(&self, h: &mut H) {
        (
            &self.name,
            &self.qualname,
            &self.file,
            self.first_line,
            self.args,
            self.positional_only,
            self.keyword_only,
            self.flags,
        )
            .hash(h);
        (&self.varnames, &self.cellvars, &self.freevars, &self.names, &self.handlers).hash(h);
        for i in &self.insts {
            (i.op.name(), i.arg, i.at).hash(h);
        }
        self.consts.iter().for_each(|c| c.feed(h));
    }
}

impl Constant {
    fn feed<H: Hasher>(&self, h: &mut H) {
        match self {
            Constant::Value(v) => (0u8, v).hash(h),
            Constant::Code(c) => {
                1u8.hash(h);
                c.feed(h);
            }
            Constant::Unsupported(s) => (2u8, s).hash(h),
            Constant::Slice(parts) => (3u8, &parts[..]).hash(h),
            Constant::Set(members) => (5u8, members).hash(h),
            Constant::Index(members) => {
                (4u8, members.len()).hash(h);
                members.iter().for_each(|m| m.feed(h));
            }
        }
    }
}
