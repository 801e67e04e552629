//! Text of LIR: the printer; the parser is in `text/parse.rs`. `parse_module(x.to_string()) == x.renumbered()`.
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

mod line;
mod parse;

use std::fmt::{self, Display, Formatter, Write as _};

use super::func::*;
use super::inst::{Op, Shape};
use super::ty::Ty;
pub use line::parse_constant;
pub use parse::{FuncLines, parse_module, parse_module_with_lines};

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
            Ty::Vector(_) => f.write_str("?"),
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
    pub(crate) fn inst_text(&self, inst: Inst) -> String {
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
        Shape::Splat => format!("{m}.NxK a → NxK"),
        Shape::Lanes => format!("{m}.NxK a, b, … → NxK"),
        Shape::Lane => format!("{m}.NxK v, k → N"),
        Shape::LaneTruth => format!("{m}.i8xK v → i8"),
    }
}
