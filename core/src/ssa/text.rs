//! Text of SSA, untyped and typed: `parse(print(f)) == f` for functions numbered by
//! [`super::opt::cleanup::renumber`].
//!
//! ```text
//! func "f" "outer.<locals>.f" "a.py" 10 hash 17 host 0 {
//!     params "a" "b" posonly 0 positional 2 kwonly 0
//!     free "scale"
//! b0(v0, v1):
//!     v2 = const 1 @11:8-9
//!     v3 = operator.add(v0, v2) @11:4-9 unwind b1(v0)
//!     return v3 @11:4-9
//! b1(v4, v5):
//!     raise v4 @0:0-0
//! }
//! ```
//!
//! In typed code every value that is defined carries its type: `v3: int = apply operator.add(v0, v2)`.
//! Functions are printed by number (`f3`), which another process gives anew; types that name a function,
//! class or instance print, but do not parse.

use super::{
    Block, BlockCall, BlockData, Func, FuncId, Fused, FusedArg, FusedStep, InlinedFrom, Inst, InstNode,
    InstanceId, Loc, Narrow, Op, Params, Term, Value,
};
use crate::diag::{Code, Diagnostic, Result};
use crate::lex::Cursor;
use crate::ops::OpId;
use crate::source::File;
use crate::types::Type;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

// ---- printer
// ----------------------------------------------------------------------------------------------------------

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
                    write!(f, "({}) {}", args.join(", "), step.ty)?;
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

/// Several rows may share a path: numbers, lists and strings all have an `operator.add`.
fn row(f: &mut Formatter<'_>, op: &crate::ops::OpDef) -> fmt::Result {
    write!(f, "{}", op.name())?;
    match op.id().rows().iter().position(|o| *o == op) {
        Some(0) | None => Ok(()),
        Some(k) => write!(f, "#{k}"),
    }
}

impl Display for Func {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "func {:?} {:?} {:?} {} hash {} host {}",
            self.name, self.qualname, self.file, self.first_line, self.hash, self.host
        )?;
        if let Some(id) = self.id {
            write!(f, " id {id}")?;
        }
        writeln!(f, "{} {{", if self.is_generator { " generator" } else { "" })?;
        let p = &self.params;
        write!(
            f,
            "    params{} posonly {} positional {} kwonly {}",
            Names(&p.names),
            p.positional_only,
            p.positional,
            p.keyword_only
        )?;
        writeln!(f, "{}{}", if p.varargs { " varargs" } else { "" }, if p.varkw { " varkw" } else { "" })?;
        if !self.free.is_empty() {
            writeln!(f, "    free{}", Names(&self.free))?;
        }
        for i in &self.inlined {
            writeln!(f, "    inlined {:?} {:?} {}", i.file, i.func, i.call)?;
        }
        let mut destructured: Vec<&Value> = self.destructured.iter().collect();
        destructured.sort();
        if !destructured.is_empty() {
            writeln!(f, "    destructured({})", Commas(&destructured))?;
        }
        for (n, block) in self.blocks.iter().enumerate() {
            self.print_block(f, Block::new(n), block)?;
        }
        writeln!(f, "}}")
    }
}

impl Func {
    fn def(&self, v: Value) -> String {
        if self.is_typed() { format!("{v}: {}", self.types[v.index()]) } else { v.to_string() }
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

// ---- parser
// -----------------------------------------------------------------------------------------------------------

/// All functions of a text.
pub fn parse(text: &str) -> Result<Vec<Func>> {
    let mut c = Cursor::new(text);
    let mut out = vec![];
    while !c.at_end() {
        out.push(Parser { c: c.clone(), types: vec![] }.func(&mut c)?);
    }
    Ok(out)
}

struct Parser<'a> {
    c: Cursor<'a>,
    types: Vec<Option<Type>>,
}

impl<'a> Parser<'a> {
    /// Reads one function from `from` on and moves it behind.
    fn func(mut self, from: &mut Cursor<'a>) -> Result<Func> {
        let c = &mut self.c;
        c.expect("func")?;
        let mut f = Func {
            name: c.string()?,
            qualname: c.string()?,
            file: File::parse(c)?,
            first_line: c.number()?,
            ..Func::default()
        };
        c.expect("hash")?;
        f.hash = c.number()?;
        c.expect("host")?;
        f.host = c.number()?;
        if c.eat_word("id") {
            f.id = Some(FuncId(c.entity("f")?));
        }
        f.is_generator = c.eat_word("generator");
        c.expect("{")?;
        f.params = self.params()?;
        if self.c.eat_word("free") {
            f.free = self.names()?;
        }
        while self.c.eat_word("inlined") {
            f.inlined.push(InlinedFrom {
                file: File::parse(&mut self.c)?,
                func: self.c.string()?,
                call: self.loc()?,
            });
        }
        if self.c.eat_word("destructured") {
            f.destructured = self.values()?.into_iter().collect();
        }
        while !self.c.eat("}") {
            self.block(&mut f)?;
        }
        f.values = f
            .blocks
            .iter()
            .flat_map(|b| &b.params)
            .chain(f.insts.iter().filter_map(|n| n.result.as_ref()))
            .map(|v| v.0 + 1)
            .max()
            .unwrap_or(0);
        if !self.types.is_empty() {
            let types: Option<Vec<Type>> = self.types.iter().copied().collect();
            f.types = types
                .filter(|t| t.len() == f.values as usize)
                .ok_or_else(|| self.c.error("a type for every value above"))?;
        }
        *from = self.c;
        Ok(f)
    }

    fn names(&mut self) -> Result<Vec<Arc<str>>> {
        let mut out = vec![];
        while self.c.peek("\"") {
            out.push(self.c.string()?);
        }
        Ok(out)
    }
    fn params(&mut self) -> Result<Params> {
        self.c.expect("params")?;
        let names = self.names()?;
        self.c.expect("posonly")?;
        let positional_only = self.c.number()?;
        self.c.expect("positional")?;
        let positional = self.c.number()?;
        self.c.expect("kwonly")?;
        Ok(Params {
            names,
            positional_only,
            positional,
            keyword_only: self.c.number()?,
            varargs: self.c.eat_word("varargs"),
            varkw: self.c.eat_word("varkw"),
        })
    }
    fn loc(&mut self) -> Result<Loc> {
        if !self.c.eat("@") {
            return Ok(Loc::default());
        }
        let line = self.c.number()?;
        self.c.expect(":")?;
        let col = self.c.number()?;
        self.c.expect("-")?;
        Ok(Loc {
            line,
            col,
            end_col: self.c.number()?,
            inlined: if self.c.eat("!") { self.c.number()? } else { 0 },
        })
    }
    fn value(&mut self) -> Result<Value> {
        let n = self.c.entity("v")?;
        // Tables by value number stay small whatever the text says.
        if n < 1 << 24 { Ok(Value(n)) } else { Err(self.c.error("a smaller number of a value")) }
    }
    fn values(&mut self) -> Result<Vec<Value>> {
        let mut out = vec![];
        if !self.c.eat("(") {
            return Ok(out);
        }
        loop {
            out.push(self.value()?);
            if self.c.eat(")") {
                return Ok(out);
            }
            self.c.expect(",")?;
        }
    }
    fn target(&mut self) -> Result<BlockCall> {
        Ok(BlockCall { block: Block(self.c.entity("b")?), args: self.values()? })
    }
    fn unwind(&mut self) -> Result<Option<BlockCall>> {
        if self.c.eat_word("unwind") { self.target().map(Some) } else { Ok(None) }
    }
    /// A value being defined, with its type in typed code.
    fn def(&mut self, stops: &[char]) -> Result<Value> {
        let v = self.value()?;
        if !self.c.eat(":") {
            return Ok(v);
        }
        let text = self.c.until(stops)?;
        let ty = crate::types::parse::parse(text.trim()).map_err(|e| Diagnostic::new(Code::ParseError, e))?;
        if self.types.len() <= v.index() {
            self.types.resize(v.index() + 1, None);
        }
        self.types[v.index()] = Some(ty);
        Ok(v)
    }

    fn block(&mut self, f: &mut Func) -> Result<()> {
        let number: usize = self.c.entity("b")? as usize;
        if number != f.blocks.len() {
            return Err(self.c.error(&format!("block {}", f.blocks.len())));
        }
        let b = f.make_block();
        if self.c.eat("(") {
            loop {
                let v = self.def(&[',', ')'])?;
                f.blocks[number].params.push(v);
                if self.c.eat(")") {
                    break;
                }
                self.c.expect(",")?;
            }
        }
        self.c.expect(":")?;
        loop {
            if let Some(term) = self.term()? {
                let block = &mut f.blocks[b.index()];
                (block.term, block.term_loc) = (term, self.loc()?);
                return Ok(());
            }
            let node = self.inst()?;
            f.insts.push(node);
            let i = Inst::new(f.insts.len() - 1);
            f.blocks[b.index()].insts.push(i);
        }
    }

    fn term(&mut self) -> Result<Option<Term>> {
        let mut ahead = self.c.clone();
        let term = ahead.word();
        if !["unfinished", "jump", "branch", "return", "raise", "unreachable"].contains(&term) {
            return Ok(None);
        }
        self.c = ahead;
        Ok(Some(match term {
            "jump" => Term::Jump(self.target()?),
            "return" => Term::Return(self.value()?),
            "raise" => Term::Raise { exc: self.value()?, unwind: self.unwind()? },
            "unreachable" => Term::Unreachable,
            "branch" => {
                let cond = self.value()?;
                self.c.expect(",")?;
                let then_to = self.target()?;
                self.c.expect(",")?;
                Term::Branch { cond, then_to, else_to: self.target()? }
            }
            _ => Term::None,
        }))
    }

    fn inst(&mut self) -> Result<InstNode> {
        let defines = {
            let mut ahead = self.c.clone();
            ahead.entity("v").is_ok()
        };
        let result = if defines { Some(self.def(&['='])?) } else { None };
        if defines {
            self.c.expect("=")?;
        }
        let op = self.op()?;
        let args = self.values()?;
        let loc = self.loc()?;
        Ok(InstNode { op, args, result, loc, unwind: self.unwind()? })
    }

    fn row(&mut self) -> Result<&'static crate::ops::OpDef> {
        let before = self.c.clone();
        let rows = OpId::parse(self.c.word()).map_or(&[][..], OpId::rows);
        let k = if self.c.eat("#") { self.c.number()? } else { 0usize };
        rows.get(k).copied().ok_or_else(|| before.error("an operation"))
    }

    fn fused(&mut self) -> Result<Op> {
        self.c.expect("{")?;
        let mut steps = vec![];
        while !self.c.eat("}") {
            let op = self.row()?;
            let mut args = vec![];
            self.c.expect("(")?;
            while !self.c.eat(")") {
                args.push(if self.c.peek("step") {
                    FusedArg::Step(self.c.entity("step")?)
                } else {
                    FusedArg::Operand(self.c.entity("arg")?)
                });
                self.c.eat(",");
            }
            let text = self.c.until(&['|'])?.trim_end();
            let (text, made) = text.strip_suffix(" made").map_or((text, false), |t| (t, true));
            let (ty, shape) = { text.split_once(" shape arg").map_or((text, None), |(ty, k)| (ty, Some(k))) };
            let ty =
                crate::types::parse::parse(ty.trim()).map_err(|e| Diagnostic::new(Code::ParseError, e))?;
            let shape = shape
                .map(|k| k.trim().parse().map_err(|_| self.c.error("the number of an operand")))
                .transpose()?;
            self.c.expect("|")?;
            steps.push(FusedStep { op, args, ty, shape, made });
        }
        Ok(Op::Fused(Arc::new(Fused { steps })))
    }

    fn op(&mut self) -> Result<Op> {
        let before = self.c.clone();
        let word = self.c.word();
        let c = &mut self.c;
        Ok(match word {
            "const" => Op::Const(c.constant()?),
            "undef" => Op::Undef,
            "global" => Op::Global(c.string()?),
            "free" => Op::Free(c.number()?),
            "call" => Op::Call { keywords: self.names()?.into() },
            "spread" => Op::CallSpread { keywords: self.names()?.into() },
            "attr" => Op::Attr(c.string()?),
            "setattr" => Op::SetAttr(c.string()?),
            "function" => Op::MakeFunction {
                func: FuncId(c.entity("f")?),
                defaults: c.number()?,
                kwdefaults: self.names()?.into(),
            },
            "member" => Op::Member(c.number()?),
            "bound" => Op::CheckBound { name: c.string()?, captured: false },
            "bound_outside" => Op::CheckBound { name: c.string()?, captured: true },
            "is_none" => Op::Narrow(Narrow::IsNone),
            "not_none" => Op::Narrow(Narrow::NotNone),
            "is_a" => Op::Narrow(Narrow::IsA),
            "not_a" => Op::Narrow(Narrow::NotA),
            "yield" => Op::Yield,
            "push_handled" => Op::PushHandled,
            "pop_handled" => Op::PopHandled,
            "apply" => Op::Apply(self.row()?),
            "fused" => self.fused()?,
            "broadcast" => Op::Broadcast,
            "invoke" => Op::CallInstance(InstanceId(c.entity("inst")?)),
            "region" => Op::Region(InstanceId(c.entity("inst")?)),
            "cast" => Op::Cast,
            "retain" => Op::Retain,
            "release" => Op::Release,
            path if path.contains('.') => {
                Op::Table(OpId::parse(path).ok_or_else(|| before.error("an operation of the table"))?)
            }
            _ => return Err(before.error("an instruction")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::id;

    #[test]
    fn fused_chains_print_and_parse() {
        let row = |of: OpId| of.rows()[0];
        let array = Type::array(Type::f64(), 1, crate::types::Layout::C);
        let steps = vec![
            FusedStep {
                op: row(id::SUB),
                args: vec![FusedArg::Operand(0), FusedArg::Operand(1)],
                ty: array,
                shape: None,
                made: false,
            },
            FusedStep {
                op: row(id::NUMPY_MULTIPLY),
                args: vec![FusedArg::Step(0), FusedArg::Step(0), FusedArg::Operand(2)],
                ty: array,
                shape: Some(3),
                made: true,
            },
            FusedStep {
                op: row(id::NUMPY_SUM),
                args: vec![FusedArg::Step(1), FusedArg::Operand(2)],
                ty: Type::f64(),
                shape: None,
                made: false,
            },
        ];
        for op in [
            Op::Fused(Arc::new(Fused { steps })),
            Op::Fused(Arc::new(Fused { steps: vec![] })),
            Op::Broadcast,
        ] {
            let text = op.to_string();
            let read = Parser { c: Cursor::new(&text), types: vec![] }.op();
            assert_eq!(read.as_ref(), Ok(&op), "{text}");
        }
    }
}
