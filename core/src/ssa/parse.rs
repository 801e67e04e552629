//! Reads the text of SSA, as [`super::text`] prints it.

use super::loops::LoopNote;
use super::{
    Block, BlockCall, Func, FuncId, Fused, FusedArg, FusedStep, InlinedFrom, Inst, InstNode, InstanceId,
    Joined, Loc, LoopBody, Narrow, Op, PARTS, Params, Term, Value,
};
use crate::diag::Result;
use crate::lex::Cursor;
use crate::ops::{OpDef, OpId, STEPS};
use crate::types::{self, Type};
use std::sync::Arc;

/// Where the parts of one parsed function stand in the text; lines count from 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FuncLines {
    pub header: u32,
    pub blocks: Vec<u32>,
    pub insts: Vec<u32>,
    /// Terminators, by block.
    pub terms: Vec<u32>,
}

/// All functions of a text.
pub fn parse(text: &str) -> Result<Vec<Func>> {
    parse_with_lines(text).map(|all| all.into_iter().map(|(f, _)| f).collect())
}

/// [`parse`], and the lines of every function.
pub fn parse_with_lines(text: &str) -> Result<Vec<(Func, FuncLines)>> {
    let (mut p, mut out) = (Parser::new(text), vec![]);
    while !p.c.at_end() {
        p.types.clear();
        let f = p.func()?;
        out.push((f, std::mem::take(&mut p.lines)));
    }
    Ok(out)
}

struct Parser<'a> {
    c: Cursor<'a>,
    types: Vec<Option<Type>>,
    lines: FuncLines,
    /// A place of the text whose line is known.
    known_line: (usize, u32),
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
        Parser { c: Cursor::new(text), types: vec![], lines: FuncLines::default(), known_line: (0, 1) }
    }

    /// The line on which the next thing stands.
    fn line(&mut self) -> u32 {
        self.c.space();
        self.c.line(&mut self.known_line)
    }

    fn func(&mut self) -> Result<Func> {
        self.lines.header = self.line();
        let c = &mut self.c;
        if !c.eat_word("func") {
            return Err(c.error("\"func\""));
        }
        let name = c.string()?;
        let mut f = Func { qualname: name.clone(), name, ..Func::default() };
        if c.peek("\"") {
            f.qualname = c.string()?;
            f.file = c.file()?;
            f.first_line = c.number()?;
        }
        if c.eat_word("hash") {
            f.hash = c.number()?;
        }
        if c.eat_word("host") {
            f.host = c.number()?;
        }
        if c.eat_word("id") {
            f.id = Some(FuncId(c.entity("f")?));
        }
        f.is_generator = c.eat_word("generator");
        c.expect("{")?;
        self.facts(&mut f)?;
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
        Ok(f)
    }

    /// What stands between the first line and the first block.
    fn facts(&mut self, f: &mut Func) -> Result<()> {
        f.params = self.params()?;
        if self.c.eat_word("free") {
            f.free = self.names()?;
        }
        if self.c.eat_word("parallel") {
            while let Some(bit) = PARTS.iter().position(|p| *p == self.c.peek_word()) {
                self.c.word();
                f.parallel.0 |= 1 << bit;
            }
        }
        if self.c.eat_word("body") {
            let mut body = LoopBody { careful: self.c.eat_word("careful"), ..LoopBody::default() };
            while self.c.eat_word("in_order") {
                let n = self.c.number()?;
                body.in_order.push((n, self.c.eat_word("rest")));
            }
            body.decides = self.c.eat_word("decides");
            while self.c.eat_word("behind") {
                body.behind.push(self.c.number()?);
            }
            body.adds = self.c.eat_word("adds");
            f.body = Some(body);
        }
        f.side.closes = self.c.eat_word("closes");
        while self.c.eat_word("inlined") {
            f.inlined.push(InlinedFrom { file: self.c.file()?, func: self.c.string()?, call: self.loc()? });
        }
        while self.c.eat_word("loop") {
            let note = self.loop_note()?;
            f.loops.push(note);
        }
        if self.c.eat_word("destructured") {
            f.side.destructured = self.values()?.into_iter().collect();
        }
        while self.c.eat_word("joined") {
            let (v, mut parts) = (self.value()?, vec![]);
            while self.c.peek("\"") {
                parts.push(Joined { name: self.c.string()?, loc: self.loc()? });
            }
            f.side.joined.insert(v, parts);
        }
        Ok(())
    }

    fn loop_note(&mut self) -> Result<LoopNote> {
        let mut note = LoopNote::at(self.loc()?);
        if self.c.eat_word("serial") {
            note.serial = Some(self.c.string()?);
        }
        while self.c.eat_word("shares") {
            note.shares.push(self.c.string()?.to_string());
        }
        while self.c.eat_word("doubt") {
            let loc = self.loc()?;
            note.doubts.push((loc, self.c.string()?));
        }
        if self.c.eat_word("body") {
            note.body = Some(FuncId(self.c.entity("f")?));
        }
        if self.c.eat_word("into") {
            note.into = Some(self.loc()?);
        }
        if self.c.eat_word("apart") {
            let loc = self.loc()?;
            note.apart = Some((loc, self.c.string()?));
        }
        Ok(note)
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
        let mut p = Params { positional: names.len(), names, ..Params::default() };
        if self.c.eat_word("posonly") {
            p.positional_only = self.c.number()?;
            self.c.expect("positional")?;
            p.positional = self.c.number()?;
            self.c.expect("kwonly")?;
            p.keyword_only = self.c.number()?;
        }
        (p.varargs, p.varkw) = (self.c.eat_word("varargs"), self.c.eat_word("varkw"));
        Ok(p)
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
        if !self.c.eat("(") || self.c.eat(")") {
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
        let ty = types::parse::exact(text.trim()).map_err(|e| self.c.fault(&e))?;
        if self.types.len() <= v.index() {
            self.types.resize(v.index() + 1, None);
        }
        self.types[v.index()] = Some(ty);
        Ok(v)
    }

    fn block(&mut self, f: &mut Func) -> Result<()> {
        let line = self.line();
        self.lines.blocks.push(line);
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
            let line = self.line();
            if let Some(term) = self.term()? {
                self.lines.terms.push(line);
                let block = &mut f.blocks[b.index()];
                (block.term, block.term_loc) = (term, self.loc()?);
                return Ok(());
            }
            let node = self.inst()?;
            self.lines.insts.push(line);
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

    fn row(&mut self) -> Result<&'static OpDef> {
        let before = self.c.clone();
        let name = self.c.word();
        let found = if self.c.eat("#step") {
            STEPS.iter().find(|o| o.name() == name).copied()
        } else {
            let k = if self.c.eat("#") { self.c.number()? } else { 0usize };
            OpId::parse(name).and_then(|id| id.rows().get(k).copied())
        };
        found.ok_or_else(|| before.error("an operation"))
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
            let ty = types::parse::exact(ty.trim()).map_err(|e| self.c.fault(&e))?;
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
            "task" => Op::Task(InstanceId(c.entity("inst")?)),
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
            let read = Parser::new(&text).op();
            assert_eq!(read.as_ref(), Ok(&op), "{text}");
        }
    }
}
