//! How SSA prints, untyped and typed; [`super::parse`] reads it back: `parse(print(f)) == f` for functions
//! numbered by [`super::opt::cleanup::renumber`].
//!
//! ```text
//! func "f" "outer.<locals>.f" "a.py" 10 hash 17 host 5 id f3 generator {
//!     params "a" "b" posonly 0 positional 2 kwonly 0 varargs varkw
//!     free "scale"
//!     parallel prange fusion
//! b0(v0, v1):
//!     v2 = const 1 @11:8-9
//!     v3 = operator.add(v0, v2) @11:4-9 unwind b1(v0)
//!     return v3 @11:4-9
//! b1(v4, v5):
//!     raise v4 @0:0-0
//! }
//! ```
//!
//! Of the header only the name must be there: `func "f" {`, `params "a" "b"` is a function of two ordinary
//! parameters.
//!
//! In typed code every value that is defined carries its type: `v3: int = apply operator.add(v0, v2)`.
//! Functions, classes and generators are named by numbers, which another process gives anew.

use super::loops::LoopNote;
use super::{Block, BlockCall, BlockData, Func, FusedArg, Loc, Narrow, Op, PARTS, Term, Value};
use crate::ops::{OpDef, STEPS};
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

struct Commas<'a, T>(&'a [T]);
impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, x) in self.0.iter().enumerate() {
            write!(f, "{}{x}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}
struct Names<'a>(&'a [Arc<str>]);
impl Display for Names<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for n in self.0 {
            write!(f, " {n:?}")?;
        }
        Ok(())
    }
}
impl Display for BlockCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.args.is_empty() {
            write!(f, "{}", self.block)
        } else {
            write!(f, "{}({})", self.block, Commas(&self.args))
        }
    }
}
impl Display for Loc {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "@{}:{}-{}", self.line, self.col, self.end_col)?;
        if self.inlined != 0 {
            write!(f, "!{}", self.inlined)?;
        }
        Ok(())
    }
}

/// `loop @3:4-9 shares "sum" doubt @5:8-9 "…" body f4 into @7:4-9 apart @2:4-9 "…"`, or `serial "…"`.
impl Display for LoopNote {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "loop {}", self.loc)?;
        if let Some(why) = &self.serial {
            write!(f, " serial {why:?}")?;
        }
        for s in &self.shares {
            write!(f, " shares {s:?}")?;
        }
        for (loc, why) in &self.doubts {
            write!(f, " doubt {loc} {why:?}")?;
        }
        if let Some(body) = self.body {
            write!(f, " body {body}")?;
        }
        if let Some(into) = self.into {
            write!(f, " into {into}")?;
        }
        if let Some((loc, why)) = &self.apart {
            write!(f, " apart {loc} {why:?}")?;
        }
        Ok(())
    }
}

/// Mnemonic and immediates; operands follow in parentheses.
impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Op::Const(c) => write!(f, "const {c}"),
            Op::Undef => write!(f, "undef"),
            Op::Global(n) => write!(f, "global {n:?}"),
            Op::Free(i) => write!(f, "free {i}"),
            Op::Table(path) => write!(f, "{path}"),
            Op::Call { keywords } => write!(f, "call{}", Names(keywords)),
            Op::CallSpread { keywords } => write!(f, "spread{}", Names(keywords)),
            Op::Attr(n) => write!(f, "attr {n:?}"),
            Op::SetAttr(n) => write!(f, "setattr {n:?}"),
            Op::MakeFunction { func, defaults, kwdefaults } => {
                write!(f, "function {func} {defaults}{}", Names(kwdefaults))
            }
            Op::Member(k) => write!(f, "member {k}"),
            Op::CheckBound { name, captured } => {
                write!(f, "{} {name:?}", if *captured { "bound_outside" } else { "bound" })
            }
            Op::Narrow(n) => write!(
                f,
                "{}",
                match n {
                    Narrow::IsNone => "is_none",
                    Narrow::NotNone => "not_none",
                    Narrow::IsA => "is_a",
                    Narrow::NotA => "not_a",
                }
            ),
            Op::Yield => write!(f, "yield"),
            Op::PushHandled => write!(f, "push_handled"),
            Op::PopHandled => write!(f, "pop_handled"),
            Op::Apply(op) => {
                write!(f, "apply ")?;
                row(f, op)
            }
            Op::CallInstance(i) => write!(f, "invoke {i}"),
            Op::Region(i) => write!(f, "region {i}"),
            Op::Task(i) => write!(f, "task {i}"),
            Op::Fused(fused) => {
                write!(f, "fused {{")?;
                for step in &fused.steps {
                    write!(f, " ")?;
                    row(f, step.op)?;
                    let args: Vec<String> = step
                        .args
                        .iter()
                        .map(|a| match a {
                            FusedArg::Operand(k) => format!("arg{k}"),
                            FusedArg::Step(k) => format!("step{k}"),
                        })
                        .collect();
                    write!(f, "({}) {:#}", args.join(", "), step.ty)?;
                    if let Some(k) = step.shape {
                        write!(f, " shape arg{k}")?;
                    }
                    if step.made {
                        write!(f, " made")?;
                    }
                    write!(f, " |")?;
                }
                write!(f, " }}")
            }
            Op::Broadcast => write!(f, "broadcast"),
            Op::Cast => write!(f, "cast"),
            Op::Retain => write!(f, "retain"),
            Op::Release => write!(f, "release"),
        }
    }
}

/// Several rows may share a path: numbers, lists and strings all have an `operator.add`. Those that only
/// fusion makes are in no table.
fn row(f: &mut Formatter<'_>, op: &OpDef) -> fmt::Result {
    write!(f, "{}", op.name())?;
    if STEPS.contains(&op) {
        return write!(f, "#step");
    }
    match op.id().rows().iter().position(|o| *o == op) {
        Some(0) | None => Ok(()),
        Some(k) => write!(f, "#{k}"),
    }
}

impl Display for Func {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.print_header(f)?;
        for (n, block) in self.blocks.iter().enumerate() {
            self.print_block(f, Block::new(n), block)?;
        }
        writeln!(f, "}}")
    }
}

impl Func {
    fn print_header(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "func {:?}", self.name)?;
        if self.qualname != self.name || self.file != Default::default() || self.first_line != 0 {
            write!(f, " {:?} {:?} {}", self.qualname, self.file, self.first_line)?;
        }
        for (what, n) in [("hash", self.hash), ("host", self.host)] {
            if n != 0 {
                write!(f, " {what} {n}")?;
            }
        }
        if let Some(id) = self.id {
            write!(f, " id {id}")?;
        }
        writeln!(f, "{} {{", if self.is_generator { " generator" } else { "" })?;
        let p = &self.params;
        write!(f, "    params{}", Names(&p.names))?;
        if p.positional != p.names.len() || p.positional_only != 0 || p.keyword_only != 0 {
            write!(
                f,
                " posonly {} positional {} kwonly {}",
                p.positional_only, p.positional, p.keyword_only
            )?;
        }
        writeln!(f, "{}{}", if p.varargs { " varargs" } else { "" }, if p.varkw { " varkw" } else { "" })?;
        if !self.free.is_empty() {
            writeln!(f, "    free{}", Names(&self.free))?;
        }
        if self.parallel.any() {
            write!(f, "    parallel")?;
            for (_, name) in PARTS.iter().enumerate().filter(|(bit, _)| self.parallel.0 >> bit & 1 == 1) {
                write!(f, " {name}")?;
            }
            writeln!(f)?;
        }
        if let Some(body) = &self.body {
            write!(f, "    body{}", if body.careful { " careful" } else { "" })?;
            for (n, rest) in &body.in_order {
                write!(f, " in_order {n}{}", if *rest { " rest" } else { "" })?;
            }
            write!(f, "{}", if body.decides { " decides" } else { "" })?;
            for n in &body.behind {
                write!(f, " behind {n}")?;
            }
            write!(f, "{}", if body.adds { " adds" } else { "" })?;
            writeln!(f)?;
        }
        if self.side.closes {
            writeln!(f, "    closes")?;
        }
        for i in &self.inlined {
            writeln!(f, "    inlined {:?} {:?} {}", i.file, i.func, i.call)?;
        }
        for note in &self.loops {
            writeln!(f, "    {note}")?;
        }
        let mut destructured: Vec<&Value> = self.side.destructured.iter().collect();
        destructured.sort();
        if !destructured.is_empty() {
            writeln!(f, "    destructured({})", Commas(&destructured))?;
        }
        let mut joined: Vec<_> = self.side.joined.iter().collect();
        joined.sort_by_key(|(v, _)| **v);
        for (v, parts) in joined {
            write!(f, "    joined {v}")?;
            for j in parts {
                write!(f, " {:?} {}", j.name, j.loc)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }

    fn def(&self, v: Value) -> String {
        if self.is_typed() { format!("{v}: {:#}", self.types[v.index()]) } else { v.to_string() }
    }

    fn print_block(&self, f: &mut Formatter<'_>, b: Block, block: &BlockData) -> fmt::Result {
        write!(f, "{b}")?;
        let params: Vec<String> = block.params.iter().map(|p| self.def(*p)).collect();
        if !params.is_empty() {
            write!(f, "({})", params.join(", "))?;
        }
        writeln!(f, ":")?;
        for i in &block.insts {
            let n = self.inst(*i);
            write!(f, "    ")?;
            if let Some(r) = n.result {
                write!(f, "{} = ", self.def(r))?;
            }
            write!(f, "{}", n.op)?;
            if !n.args.is_empty() {
                write!(f, "({})", Commas(&n.args))?;
            }
            if n.loc != Loc::default() {
                write!(f, " {}", n.loc)?;
            }
            if let Some(u) = &n.unwind {
                write!(f, " unwind {u}")?;
            }
            writeln!(f)?;
        }
        match &block.term {
            Term::None => write!(f, "    unfinished")?,
            Term::Jump(to) => write!(f, "    jump {to}")?,
            Term::Branch { cond, then_to, else_to } => write!(f, "    branch {cond}, {then_to}, {else_to}")?,
            Term::Return(v) => write!(f, "    return {v}")?,
            Term::Raise { exc, unwind: None } => write!(f, "    raise {exc}")?,
            Term::Raise { exc, unwind: Some(u) } => write!(f, "    raise {exc} unwind {u}")?,
            Term::Unreachable => write!(f, "    unreachable")?,
        }
        if block.term_loc != Loc::default() {
            write!(f, " {}", block.term_loc)?;
        }
        writeln!(f)
    }
}
