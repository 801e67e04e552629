//! Text of LIR: printer and parser. `parse_module(x.to_string()) == x.renumbered()`.
//!
//! One construct a line, `;` starts a comment. Numbers in the text are names: the parser renumbers in the
//! order of the text.
//!
//! ```text
//! func @axpy(ptr, f64, i64) -> i64, f64 always_inline wraps @g {
//!     declare @callee(ptr, f64) -> i64, f64
//!     slot0 = slot 16
//!     sym0 = symbol "entry cell" 0x7f00
//! block0(v0: ptr, v1: f64, v2: i64):
//!     v3 = fmul.f64 v1, v1 !1
//!     v4, v5 = call @callee(v0, v3) !2
//!     brif v4, cold block1(v4), block2
//! block1(v6: i64) cold:
//!     return v6, v5
//! block2:
//!     return v2, v5
//!     !1 = "a.py" "axpy" 3:5
//!     !2 = "a.py" "g" 10:1 inlined_at !1
//! }
//! ```

use std::collections::HashMap;
use std::fmt::{self, Display, Formatter, Write as _};

use super::func::*;
use super::grid_op::GridOp;
use super::inst::{Op, Shape};
use super::ty::Ty;
use crate::diag::{Code, Diagnostic, Span};
use crate::rt::RtFn;
use crate::source::{File, Origin};

// ---- printer
// ----------------------------------------------------------------------------------------------------------

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, func) in self.funcs.iter().enumerate() {
            if i > 0 {
                f.write_char('\n')?;
            }
            write!(f, "{func}")?;
        }
        Ok(())
    }
}

/// `@name`, quoted where it needs to be.
struct Name<'a>(&'a str);
impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let bare = !self.0.is_empty() && self.0.chars().all(is_name_char);
        if bare { write!(f, "@{}", self.0) } else { write!(f, "@{:?}", self.0) }
    }
}
fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '<' | '>')
}

struct Commas<'a, T>(&'a [T]);
impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, x) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{x}")?;
        }
        Ok(())
    }
}

impl Display for Signature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({})", Commas(&self.params))?;
        if !self.results.is_empty() {
            write!(f, " -> {}", Commas(&self.results))?;
        }
        Ok(())
    }
}

impl Display for BlockCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.block)?;
        if !self.args.is_empty() {
            write!(f, "({})", Commas(&self.args))?;
        }
        Ok(())
    }
}

/// A constant as the text shows it: exact, also for NaN payloads.
pub struct Constant {
    pub ty: Ty,
    pub bits: u64,
}
impl Display for Constant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.ty {
            Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 => write!(f, "{}", self.ty.canonical(self.bits) as i64),
            Ty::Ptr => write!(f, "{:#x}", self.bits),
            Ty::F32 => {
                let x = f32::from_bits(self.bits as u32);
                if x.is_nan() { write!(f, "nan:{:#x}", self.bits as u32) } else { write!(f, "{x:?}") }
            }
            Ty::F64 => {
                let x = f64::from_bits(self.bits);
                if x.is_nan() { write!(f, "nan:{:#x}", self.bits) } else { write!(f, "{x:?}") }
            }
        }
    }
}

/// `addr+offset`.
struct Address(Value, i32);
impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.1 == 0 { write!(f, "{}", self.0) } else { write!(f, "{}{:+}", self.0, self.1) }
    }
}

impl Func {
    /// One instruction with its results, without location or indentation.
    pub fn inst_text(&self, inst: Inst) -> String {
        let node = &self.insts[inst.index()];
        let mut s = String::new();
        if !node.results.is_empty() {
            let _ = write!(s, "{} = ", Commas(&node.results));
        }
        let _ = self.write_data(&mut s, &node.data);
        s
    }

    fn write_data(&self, f: &mut String, data: &InstData) -> fmt::Result {
        let type_of = |v: Value| self.value_types.get(v.index()).map_or("?", |t| t.name());
        match data {
            InstData::Const { ty, bits } => write!(f, "const.{ty} {}", Constant { ty: *ty, bits: *bits }),
            InstData::Op { op, ty, args } => write!(f, "{}.{ty} {}", op.mnemonic(), Commas(args)),
            InstData::Load { ty, addr, offset, alias } => {
                write!(f, "load.{ty} {} {}", alias.name(), Address(*addr, *offset))
            }
            InstData::Store { value, addr, offset, alias } => {
                write!(f, "store.{} {} {value}, {}", type_of(*value), alias.name(), Address(*addr, *offset))
            }
            InstData::StackAddr { slot } => write!(f, "stack_addr {slot}"),
            InstData::SymbolAddr { symbol } => write!(f, "symbol_addr {symbol}"),
            InstData::Call { func, args } => {
                let name = self.funcs.get(func.index()).map_or("?", |x| x.name.as_str());
                write!(f, "call {}({})", Name(name), Commas(args))
            }
            InstData::CallIndirect { sig, addr, args } => {
                write!(f, "call_indirect {addr}({}) : {sig}", Commas(args))
            }
            InstData::CallHelper { helper, args } => {
                write!(f, "call_helper {}({})", Name(helper.name), Commas(args))
            }
            InstData::Grid { op, ty, args } => {
                f.write_str(op.mnemonic())?;
                if op.has_suffix() {
                    write!(f, ".{ty}")?;
                }
                if !args.is_empty() {
                    write!(f, " {}", Commas(args))?;
                }
                Ok(())
            }
            InstData::Jump(to) => write!(f, "jump {to}"),
            InstData::Brif { cond, then_to, else_to, cold } => {
                let mark = |side: Cold| if *cold == side { "cold " } else { "" };
                write!(f, "brif {cond}, {}{then_to}, {}{else_to}", mark(Cold::Then), mark(Cold::Else))
            }
            InstData::Switch { index, cases, default } => {
                write!(f, "switch {index}, [{}], {default}", Commas(cases))
            }
            InstData::Return(values) if values.is_empty() => f.write_str("return"),
            InstData::Return(values) => write!(f, "return {}", Commas(values)),
            InstData::Unreachable => f.write_str("unreachable"),
        }
    }

    fn write_block(&self, f: &mut Formatter<'_>, b: Block) -> fmt::Result {
        let block = &self.blocks[b.index()];
        write!(f, "{b}")?;
        for (i, p) in block.params.iter().enumerate() {
            write!(f, "{}{p}: {}", if i == 0 { "(" } else { ", " }, self.value_type(*p))?;
        }
        if !block.params.is_empty() {
            f.write_char(')')?;
        }
        writeln!(f, "{}{}:", if block.cold { " cold" } else { "" }, if block.short { " short" } else { "" })?;
        for &i in &block.insts {
            write!(f, "    {}", self.inst_text(i))?;
            match self.insts[i.index()].loc {
                Loc(0) => writeln!(f)?,
                Loc(n) => writeln!(f, " !{n}")?,
            }
        }
        Ok(())
    }
}

impl Display for Func {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "func {}{}", Name(&self.name), self.sig)?;
        if self.always_inline {
            write!(f, " always_inline")?;
        }
        if let Some(wrapped) = &self.wraps {
            write!(f, " wraps {}", Name(wrapped))?;
        }
        writeln!(f, " {{")?;
        for x in &self.funcs {
            writeln!(f, "    declare {}{}", Name(&x.name), x.sig)?;
        }
        for (i, s) in self.slots.iter().enumerate() {
            let shared = if s.shared { " shared" } else { "" };
            writeln!(f, "    {} = slot {}{shared}", Slot::new(i), s.bytes)?;
        }
        for (i, s) in self.symbols.iter().enumerate() {
            writeln!(f, "    {} = symbol {:?} {:#x}", Symbol::new(i), s.name, s.addr)?;
        }
        for &b in &self.layout {
            self.write_block(f, b)?;
        }
        for (i, l) in self.locs.iter().enumerate() {
            write!(f, "    !{} = {:?} {:?} {}:{}", i + 1, l.file, l.func, l.line, l.col)?;
            if l.inlined_at != Loc(0) {
                write!(f, " inlined_at !{}", l.inlined_at.0)?;
            }
            writeln!(f)?;
        }
        writeln!(f, "}}")
    }
}

// ---- parser
// -----------------------------------------------------------------------------------------------------------

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

/// A cursor in one line, comment removed.
#[derive(Clone)]
struct Line<'a> {
    text: &'a str,
    at: usize,
    no: u32,
}
type Parse<T> = Result<T, Diagnostic>;

impl<'a> Line<'a> {
    fn new(raw: &'a str, no: u32) -> Line<'a> {
        let (mut quoted, mut escaped, mut end) = (false, false, raw.len());
        for (i, c) in raw.char_indices() {
            if c == ';' && !quoted {
                end = i;
                break;
            }
            if c == '"' && !escaped {
                quoted = !quoted;
            }
            escaped = quoted && c == '\\' && !escaped;
        }
        let mut line = Line { text: raw[..end].trim_end(), at: 0, no };
        line.ws();
        line
    }
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
    fn ws(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }
    fn at_end(&self) -> bool {
        self.rest().is_empty()
    }
    fn error(&self, message: impl Into<String>) -> Diagnostic {
        let span =
            Span { file: "lir".into(), func: "text".into(), line: self.no, col: self.at as u32, end_col: 0 };
        Diagnostic::new(Code::ParseError, format!("line {}: {}", self.no, message.into())).at(span)
    }
    fn found(&self) -> String {
        let rest = self.rest();
        if rest.is_empty() {
            return "the end of the line".into();
        }
        format!("`{}`", rest.split_whitespace().next().unwrap_or(rest))
    }
    fn expected<T>(&self, what: &str) -> Parse<T> {
        Err(self.error(format!("expected {what}, found {}", self.found())))
    }

    fn eat(&mut self, s: &str) -> bool {
        if !self.rest().starts_with(s) {
            return false;
        }
        self.at += s.len();
        self.ws();
        true
    }
    fn expect(&mut self, s: &str) -> Parse<()> {
        if self.eat(s) { Ok(()) } else { self.expected(&format!("`{s}`")) }
    }
    fn finish(&self) -> Parse<()> {
        if self.at_end() { Ok(()) } else { self.expected("the end of the line") }
    }
    fn take(&mut self, ok: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !ok(c)).unwrap_or(rest.len())];
        self.at += word.len();
        self.ws();
        word
    }
    /// An identifier; mnemonics with their suffix are one word.
    fn word(&mut self) -> &'a str {
        self.take(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
    }
    /// Eats `s` only where it is a whole word.
    fn eat_word(&mut self, s: &str) -> bool {
        let before = self.at;
        if self.word() == s {
            return true;
        }
        self.at = before;
        false
    }
    fn number<T: TryFrom<i128>>(&mut self) -> Parse<T> {
        let before = self.clone();
        let token = self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+'));
        let (negative, digits) = match token.as_bytes().first() {
            Some(b'-') => (true, &token[1..]),
            Some(b'+') => (false, &token[1..]),
            Some(_) | None => (false, token),
        };
        let parsed = match digits.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        match parsed.ok().map(|x: i128| if negative { -x } else { x }).and_then(|x| T::try_from(x).ok()) {
            Some(x) => Ok(x),
            None => before.expected("a number that fits"),
        }
    }
    /// `v3`, `block3`, `slot3` …: the number after `prefix`.
    fn entity(&mut self, prefix: &str) -> Parse<u32> {
        let before = self.clone();
        match self.word().strip_prefix(prefix).and_then(|n| n.parse().ok()) {
            Some(n) => Ok(n),
            None => before.expected(&format!("{prefix}0, {prefix}1 …")),
        }
    }
    fn ty(&mut self) -> Parse<Ty> {
        let before = self.clone();
        match Ty::parse(self.word()) {
            Some(t) => Ok(t),
            None => before.expected("a type (i8, i16, i32, i64, f32, f64, ptr)"),
        }
    }
    fn string(&mut self) -> Parse<String> {
        let start = self.clone();
        let bad = || start.error("expected a string in double quotes");
        let mut out = String::new();
        let mut chars = self.rest().char_indices();
        if !matches!(chars.next(), Some((_, '"'))) {
            return Err(bad());
        }
        loop {
            let (i, c) = chars.next().ok_or_else(bad)?;
            match c {
                '"' => {
                    self.at += i + 1;
                    self.ws();
                    return Ok(out);
                }
                '\\' => out.push(match chars.next().ok_or_else(bad)?.1 {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '0' => '\0',
                    '\\' => '\\',
                    '"' => '"',
                    '\'' => '\'',
                    'u' => {
                        let hex: String = chars
                            .by_ref()
                            .map(|(_, c)| c)
                            .skip_while(|c| *c == '{')
                            .take_while(|c| *c != '}')
                            .collect();
                        u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32).ok_or_else(bad)?
                    }
                    other => return Err(start.error(format!("unknown escape `\\{other}`"))),
                }),
                plain => out.push(plain),
            }
        }
    }
    fn name(&mut self) -> Parse<String> {
        if !self.rest().starts_with('@') {
            return self.expected("a name (`@f`)");
        }
        self.at += 1;
        if self.rest().starts_with('"') {
            return self.string();
        }
        let name = self.take(is_name_char);
        if name.is_empty() { self.expected("a name (`@f`)") } else { Ok(name.into()) }
    }
    /// Comma-separated items up to `close`, which is eaten.
    fn list<T>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut out = vec![];
        if self.eat(close) {
            return Ok(out);
        }
        loop {
            out.push(item(self)?);
            if self.eat(close) {
                return Ok(out);
            }
            self.expect(",")?;
        }
    }
    fn sig(&mut self) -> Parse<Signature> {
        self.expect("(")?;
        let params = self.list(")", Line::ty)?;
        let mut results = vec![];
        if self.eat("->") {
            results.push(self.ty()?);
            while self.eat(",") {
                results.push(self.ty()?);
            }
        }
        Ok(Signature { params, results })
    }
    fn loc(&mut self) -> Parse<Loc> {
        self.expect("!")?;
        Ok(Loc(self.number()?))
    }
}

/// The bits of a constant of type `ty`, or `None`. Integers in decimal or `0x` (bits), floats in decimal,
/// `inf`, `nan`, `nan:0x…` (bits).
pub fn parse_constant(ty: Ty, text: &str) -> Option<u64> {
    let hex = |s: &str| {
        u64::from_str_radix(s, 16)
            .ok()
            .filter(|x| ty.bytes() == 8 || *x >> (8 * ty.bytes()) == 0)
            .map(|x| ty.canonical(x))
    };
    match ty {
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::Ptr => {
            if let Some(h) = text.strip_prefix("0x") {
                return hex(h);
            }
            let x: i64 = text.parse().ok()?;
            (ty.canonical(x as u64) == x as u64).then_some(x as u64)
        }
        Ty::F32 | Ty::F64 => {
            if let Some(h) = text.strip_prefix("nan:0x") {
                return hex(h).filter(|b| {
                    if ty == Ty::F32 {
                        f32::from_bits(*b as u32).is_nan()
                    } else {
                        f64::from_bits(*b).is_nan()
                    }
                });
            }
            let decimal = text == "nan"
                || text.trim_start_matches(['-', '+']) == "inf"
                || text.bytes().any(|b| b.is_ascii_digit());
            if !decimal {
                return None;
            }
            if ty == Ty::F32 {
                text.parse().ok().map(|x: f32| x.to_bits() as u64)
            } else {
                text.parse().ok().map(|x: f64| x.to_bits())
            }
        }
    }
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

/// Rows of the table as the text spells them, with operand and result classes; for documentation and
/// completion.
pub fn spelling(op: Op) -> String {
    let m = op.mnemonic();
    match op.shape() {
        Shape::IntBinary => format!("{m}.T a, b → T"),
        Shape::IntUnary => format!("{m}.T a → T"),
        Shape::IntCompare => format!("{m}.T a, b → i8"),
        Shape::FloatBinary => format!("{m}.F a, b → F"),
        Shape::FloatTernary => format!("{m}.F a, b, c → F"),
        Shape::FloatUnary => format!("{m}.F a → F"),
        Shape::FloatCompare => format!("{m}.F a, b → i8"),
        Shape::IntToWiderInt | Shape::IntToNarrowerInt => format!("{m}.T a → T"),
        Shape::IntToFloat => format!("{m}.F a → F"),
        Shape::FloatToInt => format!("{m}.T a → T"),
        Shape::FloatToFloat => format!("{m}.F a → F"),
        Shape::Bitcast => format!("{m}.X a → X"),
        Shape::PtrOffset => format!("{m}.ptr p, n → ptr"),
        Shape::AnySelect => format!("{m}.X c, a, b → X"),
    }
}
