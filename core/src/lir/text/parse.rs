//! The parser: a text to a module, with the line of every function, block and instruction.

use super::super::func::*;
use super::super::grid_op::GridOp;
use super::super::inst::Op;
use super::super::ty::Ty;
use super::Name;
use super::line::{Line, Parse, parse_constant};
use crate::diag::Diagnostic;
use crate::rt::RtFn;
use crate::source::{File, Origin};
use std::collections::HashMap;

/// Where the parts of one parsed function stand in the text; lines count from 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FuncLines {
    pub header: u32,
    pub blocks: Vec<u32>,
    pub insts: Vec<u32>,
}

/// Parses a module. `helpers` are the run-time helpers that the text may name.
pub fn parse_module(text: &str, helpers: &[&'static RtFn]) -> Result<Module, Diagnostic> {
    parse_module_with_lines(text, helpers).map(|(m, _)| m)
}

/// [`parse_module`], and the line of every function, block and instruction.
pub fn parse_module_with_lines(
    text: &str,
    helpers: &[&'static RtFn],
) -> Result<(Module, Vec<FuncLines>), Diagnostic> {
    let helpers: HashMap<&str, &'static RtFn> = helpers.iter().map(|h| (h.name, *h)).collect();
    let (mut module, mut lines) = (Module::default(), vec![]);
    let mut rest: Vec<Line<'_>> =
        text.lines().enumerate().map(|(i, s)| Line::new(s, i as u32 + 1)).filter(|l| !l.at_end()).collect();
    while let Some(first) = rest.first() {
        let (no, header) = (first.no, first.text);
        let Some(end) = rest.iter().position(|l| l.text.trim() == "}") else {
            return Err(first.error("this function has no closing `}`"));
        };
        let tail = rest.split_off(end + 1);
        let (func, at) = parse_func(&mut rest, &helpers)?;
        if module.func(&func.name).is_some() {
            return Err(Line { text: header, at: 0, no }
                .error(format!("function {} is defined twice", Name(&func.name))));
        }
        module.funcs.push(func);
        lines.push(at);
        rest = tail;
    }
    Ok((module, lines))
}

struct FuncParser<'h> {
    func: Func,
    helpers: &'h HashMap<&'h str, &'static RtFn>,
    values: HashMap<u32, Value>,
    blocks: HashMap<u32, Block>,
    lines: FuncLines,
    /// Stores whose printed type is checked at the end: a value may be used before the line that defines it.
    stores: Vec<(Value, Ty, u32)>,
}

/// Parses the lines of one function, `func …` to `}`.
fn parse_func(lines: &mut [Line<'_>], helpers: &HashMap<&str, &'static RtFn>) -> Parse<(Func, FuncLines)> {
    let (header, body) = lines.split_first_mut().expect("the caller found a first line");
    if !header.eat_word("func") {
        return header.expected("`func`");
    }
    let mut func = Func::new(header.name()?, header.sig()?);
    func.always_inline = header.eat_word("always_inline");
    if header.eat_word("wraps") {
        func.wraps = Some(header.name()?);
    }
    header.expect("{")?;
    header.finish()?;
    let mut p = FuncParser {
        func,
        helpers,
        values: HashMap::new(),
        blocks: HashMap::new(),
        lines: FuncLines::default(),
        stores: vec![],
    };
    p.lines.header = header.no;
    let (end, body) =
        body.split_last_mut().ok_or_else(|| header.error("this function has no closing `}`"))?;
    if body.iter().any(|l| l.rest().starts_with("func ")) || end.rest() != "}" {
        return Err(header.error("this function has no closing `}`"));
    }
    p.name_definitions(body)?;
    let mut current = None;
    for line in body.iter_mut() {
        current = p.line(line, current)?;
    }
    p.finish(header)?;
    Ok((p.func, p.lines))
}

impl FuncParser<'_> {
    /// Gives numbers to blocks and values in the order of the text, so that a line may use what a later line
    /// defines.
    fn name_definitions(&mut self, body: &[Line<'_>]) -> Parse<()> {
        let mut next = 0;
        for line in body {
            let mut l = line.clone();
            let mut define = |values: &mut HashMap<u32, Value>, n: u32, l: &Line<'_>| {
                if values.insert(n, Value(next)).is_some() {
                    return Err(l.error(format!("v{n} is defined twice")));
                }
                next += 1;
                Ok(())
            };
            if l.rest().starts_with("block") {
                let n = l.entity("block")?;
                let block = self.func.make_block();
                if self.blocks.insert(n, block).is_some() {
                    return Err(l.error(format!("block{n} is defined twice")));
                }
                if !l.eat("(") {
                    continue;
                }
                for (n, _) in l.list(")", Self::param)? {
                    define(&mut self.values, n, &l)?;
                }
            } else if l.rest().starts_with('v') {
                loop {
                    let n = l.entity("v")?;
                    define(&mut self.values, n, &l)?;
                    if !l.eat(",") {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn param(l: &mut Line<'_>) -> Parse<(u32, Ty)> {
        let n = l.entity("v")?;
        l.expect(":")?;
        Ok((n, l.ty()?))
    }

    /// One line of the body; `current` is the block that instructions go to.
    fn line(&mut self, l: &mut Line<'_>, current: Option<Block>) -> Parse<Option<Block>> {
        let start = l.rest();
        if start.starts_with("block") {
            return self.block_header(l).map(Some);
        }
        if start.starts_with('!') {
            self.location(l)?;
            return Ok(current);
        }
        if start.starts_with("declare ")
            || start.starts_with("slot")
            || start.starts_with("sym") && !start.starts_with("symbol_addr")
        {
            if current.is_some() {
                return Err(l.error("declarations stand before the first block"));
            }
            self.declaration(l)?;
            return Ok(None);
        }
        let Some(block) = current else { return l.expected("a block header") };
        self.inst(l, block)?;
        Ok(current)
    }

    fn block_header(&mut self, l: &mut Line<'_>) -> Parse<Block> {
        let b = self.blocks[&l.entity("block")?];
        if l.eat("(") {
            for (_, ty) in l.list(")", Self::param)? {
                self.func.add_param(b, ty);
            }
        }
        self.func.blocks[b.index()].cold = l.eat_word("cold");
        self.func.blocks[b.index()].short = l.eat_word("short");
        l.expect(":")?;
        l.finish()?;
        self.func.layout.push(b);
        self.lines.blocks.push(l.no);
        Ok(b)
    }

    fn location(&mut self, l: &mut Line<'_>) -> Parse<()> {
        let at = l.loc()?;
        if at.index() != self.func.locs.len() + 1 {
            return Err(
                l.error(format!("locations are numbered in order: expected !{}", self.func.locs.len() + 1))
            );
        }
        l.expect("=")?;
        let origin = Origin::named(l.word()).unwrap_or_default();
        let file = File::new(l.string()?, origin);
        let func = l.string()?.into();
        let line = l.number()?;
        l.expect(":")?;
        let col = l.number()?;
        let inlined_at = if l.eat_word("inlined_at") { l.loc()? } else { Loc(0) };
        self.func.locs.push(LocData { file, func, line, col, inlined_at });
        l.finish()
    }

    fn declaration(&mut self, l: &mut Line<'_>) -> Parse<()> {
        let in_order = |l: &Line<'_>, n: u32, len: usize| {
            if n as usize == len {
                Ok(())
            } else {
                Err(l.error(format!("numbered in order: expected {len}")))
            }
        };
        if l.eat_word("declare") {
            let f = ExtFunc { name: l.name()?, sig: l.sig()? };
            if self.func.funcs.iter().any(|x| x.name == f.name) {
                return Err(l.error(format!("{} is declared twice", Name(&f.name))));
            }
            self.func.funcs.push(f);
        } else if l.rest().starts_with("slot") {
            in_order(l, l.clone().entity("slot")?, self.func.slots.len())?;
            l.entity("slot")?;
            l.expect("=")?;
            l.expect("slot")?;
            let bytes = l.number()?;
            if l.eat_word("shared") {
                self.func.add_shared_slot(bytes);
            } else {
                self.func.add_slot(bytes);
            }
        } else {
            in_order(l, l.clone().entity("sym")?, self.func.symbols.len())?;
            l.entity("sym")?;
            l.expect("=")?;
            l.expect("symbol")?;
            let name = l.string()?;
            if self.func.symbols.iter().any(|s| s.name == name) {
                return Err(l.error(format!("symbol {name:?} is declared twice")));
            }
            let addr: u64 = l.number()?;
            self.func.symbols.push(SymbolData { name, addr: addr as usize });
        }
        l.finish()
    }

    fn inst(&mut self, l: &mut Line<'_>, block: Block) -> Parse<()> {
        let mut results = 0;
        if l.rest().starts_with('v') {
            loop {
                l.entity("v")?;
                results += 1;
                if !l.eat(",") {
                    break;
                }
            }
            l.expect("=")?;
        }
        let data = self.data(l)?;
        let loc = if l.at_end() { Loc(0) } else { l.loc()? };
        l.finish()?;
        let makes = self.func.result_types(&data).len();
        if makes != results {
            return Err(l.error(format!("this instruction has {makes} results, the text names {results}")));
        }
        let inst = self.func.make_inst(data, loc);
        self.func.blocks[block.index()].insts.push(inst);
        self.lines.insts.push(l.no);
        Ok(())
    }

    fn data(&mut self, l: &mut Line<'_>) -> Parse<InstData> {
        let start = l.clone();
        let word = l.word();
        let (mnemonic, suffix) = match word.split_once('.') {
            Some((m, t)) => (m, Some(t)),
            None => (word, None),
        };
        let suffix_ty = || {
            suffix.and_then(Ty::parse).ok_or_else(|| {
                start.error(format!("`{mnemonic}` needs a type suffix, as in `{mnemonic}.i64`"))
            })
        };
        let bare = || {
            if suffix.is_none() {
                Ok(())
            } else {
                Err(start.error(format!("`{mnemonic}` takes no type suffix")))
            }
        };
        match mnemonic {
            "const" => {
                let ty = suffix_ty()?;
                let token = l.clone();
                let text = l.take(|c| !c.is_whitespace());
                let bits = parse_constant(ty, text)
                    .ok_or_else(|| token.error(format!("`{text}` is no constant of type {ty}")))?;
                Ok(InstData::Const { ty, bits })
            }
            "load" => {
                let (ty, alias) = (suffix_ty()?, self.alias(l)?);
                let (addr, offset) = self.address(l)?;
                Ok(InstData::Load { ty, addr, offset, alias })
            }
            "store" => {
                let (ty, alias) = (suffix_ty()?, self.alias(l)?);
                let value = self.value(l)?;
                self.stores.push((value, ty, l.no));
                l.expect(",")?;
                let (addr, offset) = self.address(l)?;
                Ok(InstData::Store { value, addr, offset, alias })
            }
            "stack_addr" => {
                bare()?;
                self.declared(l, "slot", self.func.slots.len()).map(|n| InstData::StackAddr { slot: Slot(n) })
            }
            "symbol_addr" => {
                bare()?;
                self.declared(l, "sym", self.func.symbols.len())
                    .map(|n| InstData::SymbolAddr { symbol: Symbol(n) })
            }
            "call" => {
                bare()?;
                let name = l.name()?;
                let at = self
                    .func
                    .funcs
                    .iter()
                    .position(|f| f.name == name)
                    .ok_or_else(|| start.error(format!("{} is not declared", Name(&name))))?;
                Ok(InstData::Call { func: FuncRef::new(at), args: self.args(l)? })
            }
            "call_indirect" => {
                bare()?;
                let addr = self.value(l)?;
                let args = self.args(l)?;
                l.expect(":")?;
                Ok(InstData::CallIndirect { sig: l.sig()?, addr, args })
            }
            "call_helper" => {
                bare()?;
                let name = l.name()?;
                let helper = self
                    .helpers
                    .get(name.as_str())
                    .copied()
                    .ok_or_else(|| start.error(format!("unknown helper {}", Name(&name))))?;
                Ok(InstData::CallHelper { helper, args: self.args(l)? })
            }
            "jump" | "brif" | "switch" | "return" | "unreachable" => {
                bare()?;
                self.terminator(l, mnemonic)
            }
            other if GridOp::ALL.iter().any(|o| o.mnemonic() == other) => {
                self.grid(l, other, suffix_ty, bare)
            }
            other => {
                let op = Op::ALL
                    .iter()
                    .copied()
                    .find(|o| o.mnemonic() == other)
                    .ok_or_else(|| start.expected::<()>("an instruction").unwrap_err())?;
                let ty = suffix_ty()?;
                let mut args = vec![self.value(l)?];
                while l.eat(",") {
                    args.push(self.value(l)?);
                }
                Ok(InstData::Op { op, ty, args })
            }
        }
    }

    fn grid(
        &mut self,
        l: &mut Line<'_>,
        mnemonic: &str,
        suffix: impl Fn() -> Parse<Ty>,
        bare: impl Fn() -> Parse<()>,
    ) -> Parse<InstData> {
        let Some(op) = GridOp::ALL.iter().copied().find(|o| o.mnemonic() == mnemonic) else {
            return l.expected("an instruction");
        };
        let ty = if op.has_suffix() {
            suffix()?
        } else {
            bare()?;
            op.own_type()
        };
        let count = op.operands(ty).map_err(|e| l.error(e))?.len();
        let mut args = vec![];
        for k in 0..count {
            if k > 0 {
                l.expect(",")?;
            }
            args.push(self.value(l)?);
        }
        Ok(InstData::Grid { op, ty, args })
    }

    fn terminator(&mut self, l: &mut Line<'_>, mnemonic: &str) -> Parse<InstData> {
        Ok(match mnemonic {
            "jump" => InstData::Jump(self.target(l)?),
            "brif" => {
                let cond = self.value(l)?;
                l.expect(",")?;
                let then_cold = l.eat_word("cold");
                let then_to = self.target(l)?;
                l.expect(",")?;
                let else_cold = l.eat_word("cold");
                let else_to = self.target(l)?;
                let cold = match (then_cold, else_cold) {
                    (false, false) => Cold::Neither,
                    (true, false) => Cold::Then,
                    (false, true) => Cold::Else,
                    (true, true) => return Err(l.error("at most one side of a branch is cold")),
                };
                InstData::Brif { cond, then_to, else_to, cold }
            }
            "switch" => {
                let index = self.value(l)?;
                l.expect(",")?;
                l.expect("[")?;
                let cases = l.list("]", |l| self.block(l))?;
                l.expect(",")?;
                InstData::Switch { index, cases, default: self.block(l)? }
            }
            "return" => {
                let mut values = vec![];
                if l.rest().starts_with('v') {
                    values.push(self.value(l)?);
                    while l.eat(",") {
                        values.push(self.value(l)?);
                    }
                }
                InstData::Return(values)
            }
            _unreachable => InstData::Unreachable,
        })
    }

    fn value(&self, l: &mut Line<'_>) -> Parse<Value> {
        let before = l.clone();
        let n = l.entity("v")?;
        self.values
            .get(&n)
            .copied()
            .ok_or_else(|| before.error(format!("v{n} is not defined in this function")))
    }
    fn block(&self, l: &mut Line<'_>) -> Parse<Block> {
        let before = l.clone();
        let n = l.entity("block")?;
        self.blocks
            .get(&n)
            .copied()
            .ok_or_else(|| before.error(format!("block{n} is not defined in this function")))
    }
    fn declared(&self, l: &mut Line<'_>, prefix: &str, len: usize) -> Parse<u32> {
        let before = l.clone();
        let n = l.entity(prefix)?;
        if (n as usize) < len { Ok(n) } else { Err(before.error(format!("{prefix}{n} is not declared"))) }
    }
    fn args(&self, l: &mut Line<'_>) -> Parse<Vec<Value>> {
        l.expect("(")?;
        l.list(")", |l| self.value(l))
    }
    fn target(&self, l: &mut Line<'_>) -> Parse<BlockCall> {
        let block = self.block(l)?;
        let args = if l.rest().starts_with('(') { self.args(l)? } else { vec![] };
        Ok(BlockCall { block, args })
    }
    fn alias(&self, l: &mut Line<'_>) -> Parse<Alias> {
        let before = l.clone();
        Alias::parse(l.word()).ok_or_else(|| {
            before.expected::<()>("an alias class (array, object, frame, stack, ctx, const)").unwrap_err()
        })
    }
    fn address(&self, l: &mut Line<'_>) -> Parse<(Value, i32)> {
        let addr = self.value(l)?;
        let offset = if l.rest().starts_with(['+', '-']) { l.number()? } else { 0 };
        Ok((addr, offset))
    }

    /// What can only be checked once the whole function is known.
    fn finish(&mut self, header: &Line<'_>) -> Parse<()> {
        let at = |no: u32| Line { text: "", at: 0, no };
        for &(v, ty, no) in &self.stores {
            let real = self.func.value_type(v);
            if real != ty {
                return Err(at(no).error(format!("the stored value has type {real}, not {ty}")));
            }
        }
        let known = self.func.locs.len();
        for (node, &no) in self.func.insts.iter().zip(&self.lines.insts) {
            if node.loc.index() > known {
                return Err(at(no).error(format!("!{} is not defined in this function", node.loc.0)));
            }
        }
        match self.func.locs.iter().find(|x| x.inlined_at.index() > known) {
            Some(x) => Err(header.error(format!("!{} is not defined in this function", x.inlined_at.0))),
            None => Ok(()),
        }
    }
}
