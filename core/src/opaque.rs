//! Opaque functions (`tierup.extending.lir`): what compiled code runs for them is a text of LIR.
//!
//! The text is the blocks of a function over the leaves of arguments and result. It computes numbers out of
//! numbers and does nothing else, so that a call of it may be moved, dropped and run in any thread like an
//! operation: no memory but slots of its own, no calls but of helpers that are functions of their operands.

use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::signature;
use crate::handle::FuncId;
use crate::lir::builder::Builder;
use crate::lir::text::{FuncLines, parse_module_with_lines};
use crate::lir::verify::{self, Place, Violation};
use crate::lir::{Alias, Func, InstData, Signature, Ty};
use crate::rt::{Effect, Raises};
use crate::types::Type;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, RwLock};

/// The LIR of a Python function.
#[derive(Debug)]
pub struct Opaque {
    pub params: Vec<Type>,
    pub ret: Type,
    body: Func,
}

static TABLE: LazyLock<RwLock<HashMap<FuncId, Arc<Opaque>>>> = LazyLock::new(Default::default);

/// Says what is run for a function.
pub fn set(id: FuncId, of: Opaque) {
    TABLE.write().unwrap_or_else(|e| e.into_inner()).insert(id, Arc::new(of));
}

/// What is run for a function, if that is opaque.
pub(crate) fn get(id: FuncId) -> Option<Arc<Opaque>> {
    TABLE.read().unwrap_or_else(|e| e.into_inner()).get(&id).cloned()
}

impl Opaque {
    /// The function that the text is the blocks of, for arguments and a result of these types. An error says
    /// which line of the text it is about.
    pub fn parse(name: &str, params: Vec<Type>, ret: Type, text: &str) -> Result<Opaque> {
        let fail = |m: String| Diagnostic::new(Code::BadLir, format!("{name}(): {m}"));
        for t in params.iter().chain([&ret]) {
            if t.leaves().iter().any(|l| l.is_ref || l.ty == Ty::Ptr) {
                let m =
                    format!("LIR computes numbers out of numbers, and a value of type {t} is more than that");
                return Err(fail(m));
            }
        }
        // Without what every function of compiled code has in front: context and status.
        let whole = signature(&params, ret);
        let sig = Signature { params: whole.params[1..].to_vec(), results: whole.results[1..].to_vec() };
        if let Some((at, line)) = text.lines().enumerate().find(|(_, l)| is_frame(l)) {
            let m = "is no line of a block: the text is the blocks of one function, without its head and end";
            return Err(fail(about(at as u32 + 1, line, m)));
        }
        let first_is_blank = text.lines().next().is_none_or(|l| l.trim().is_empty());
        let lead = if first_is_blank { "" } else { "\n" };
        let written = format!("func @lir{sig} always_inline {{{lead}{text}\n}}");
        let line_of = |no: u32| no - u32::from(!first_is_blank).min(no - 1);
        let helpers: Vec<_> = crate::ops::helpers().filter(|h| is_function(h)).collect();
        let (module, lines) = parse_module_with_lines(&written, &helpers).map_err(|d| {
            let no = d.span.as_ref().map_or(1, |s| line_of(s.line));
            let said = d.message.split_once(": ").map_or(d.message.as_str(), |(_, m)| m).to_owned();
            fail(about(no, text.lines().nth(no as usize - 1).unwrap_or_default(), &said))
        })?;
        let body = module.funcs[0].clone();
        let mut found = verify::violations(&module);
        if found.is_empty() {
            found = refused(&body);
        }
        if let Some(v) = found.first() {
            let no = line_of(place(&lines[0], v.place));
            return Err(fail(about(no, text.lines().nth(no as usize - 1).unwrap_or_default(), &v.message)));
        }
        Ok(Opaque { params, ret, body })
    }

    /// Two functions: what compiled code calls under a name, with context and status, and the text's.
    pub(crate) fn lower(&self, name: &str) -> [Func; 2] {
        let mut body = self.body.clone();
        body.name = format!("{name}.lir");
        let mut entry = Func::new(name, signature(&self.params, self.ret));
        entry.always_inline = true;
        let mut b = Builder::start(&mut entry);
        let operands = b.params(b.block)[1..].to_vec();
        let results = b.call(&body.name, &body.sig, &operands);
        let status = b.i64(0);
        b.ret(std::iter::once(status).chain(results).collect());
        [entry, body]
    }
}

/// Whether a line would begin or end a function, or name something outside of it.
fn is_frame(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("func ")
        || line.starts_with('}')
        || line.starts_with("declare ")
        || line.starts_with("sym")
}

fn about(no: u32, line: &str, what: &str) -> String {
    let line = line.trim();
    if line.is_empty() {
        format!("line {no} of the text: {what}")
    } else {
        format!("line {no} of the text, `{line}`: {what}")
    }
}

/// A helper that gives a number for numbers and does nothing else.
fn is_function(h: &crate::rt::RtFn) -> bool {
    h.effect == Effect::Pure && h.raises == Raises::Never && !h.params.contains(&Ty::Ptr)
}

fn place(lines: &FuncLines, at: Place) -> u32 {
    match at {
        Place::Func => lines.header,
        Place::Block(b) => lines.blocks.get(b.index()).copied().unwrap_or(lines.header),
        Place::Inst(i) => lines.insts.get(i.index()).copied().unwrap_or(lines.header),
    }
}

/// What an opaque function must not do.
fn refused(f: &Func) -> Vec<Violation> {
    let mut out = vec![];
    for i in f.layout.iter().flat_map(|b| &f.blocks[b.index()].insts) {
        let why = match &f.insts[i.index()].data {
            InstData::Load { ty, addr, offset, alias } => own_memory(f, *addr, *offset, ty.bytes(), *alias),
            InstData::Store { value, addr, offset, alias } => {
                own_memory(f, *addr, *offset, f.value_type(*value).bytes(), *alias)
            }
            InstData::Call { .. } | InstData::CallIndirect { .. } => {
                Some("an opaque function calls no other one")
            }
            InstData::SymbolAddr { .. } => Some("an opaque function has no addresses"),
            InstData::Grid { .. } => Some("this is for kernels"),
            InstData::Unreachable => Some("an opaque function gives a result on every path"),
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::StackAddr { .. }
            | InstData::CallHelper { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_) => None,
        };
        out.extend(why.map(|w| Violation { func: 0, place: Place::Inst(*i), message: w.into() }));
    }
    out
}

/// Why an access is none of a slot of the function, at a place in it that is known.
fn own_memory(
    f: &Func,
    addr: crate::lir::Value,
    offset: i32,
    bytes: u32,
    alias: Alias,
) -> Option<&'static str> {
    let slot = f.insts.iter().find(|n| n.results.contains(&addr)).and_then(|n| {
        if let InstData::StackAddr { slot } = n.data { Some(&f.slots[slot.index()]) } else { None }
    });
    let fits = slot.is_some_and(|s| !s.shared && u32::try_from(offset).is_ok_and(|at| at + bytes <= s.bytes));
    if fits && alias == Alias::Stack {
        None
    } else {
        Some(
            "an opaque function has no memory but its slots, which it reads and writes at known places (`load.i64 stack v1+8`)",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Opaque> {
        Opaque::parse("f", vec![Type::int(), Type::int()], Type::int(), text)
    }

    #[test]
    fn a_text_has_the_leaves_of_arguments_and_result() {
        let of = parse("\nblock0(v0: i64, v1: i64):\n  v2 = smin.i64 v0, v1\n  return v2\n").expect("parses");
        let [entry, body] = of.lower("g.0");
        assert_eq!((body.name.as_str(), body.sig.params.len()), ("g.0.lir", 2));
        assert_eq!(entry.sig, signature(&of.params, of.ret));
        let module = crate::lir::Module { funcs: vec![entry, body] };
        assert!(verify::verify_module(&module).is_ok());
        assert!(Opaque::parse("f", vec![], Type::none(), "block0:\n  return").is_ok());
    }

    #[test]
    fn errors_name_the_line() {
        let said = |text: &str| parse(text).err().map(|d| d.message).unwrap_or_default();
        let head = "block0(v0: i64, v1: i64):\n";
        for (rest, line, what) in [
            ("  v2 = smin.i64 v0, v9\n  return v2", 2, "v9"),
            ("  v2 = blend.i64 v0, v1\n  return v2", 2, "blend"),
            ("  v2 = icmp_eq.i64 v0, v1\n  return v2", 3, "return"),
            ("  unreachable", 2, "every path"),
            ("  v2 = const.ptr 64\n  v3 = load.i64 array v2+0\n  return v3", 3, "memory"),
            ("  return v0\n}\nfunc @g() {\nblock0:\n  return", 3, "blocks of one function"),
        ] {
            let text = said(&format!("{head}{rest}"));
            assert!(text.contains(&format!("line {line} ")) && text.contains(what), "{rest}: {text}");
            let text = said(&format!("\n{head}{rest}"));
            assert!(text.contains(&format!("line {} ", line + 1)), "{rest}: {text}");
        }
        let slots = said(&format!(
            "slot0 = slot 8\n{head}  v2 = stack_addr slot0\n  v3 = load.i64 stack v2+8\n  return v3"
        ));
        assert!(slots.contains("line 4 ") && slots.contains("known places"), "{slots}");
        let list = Opaque::parse("f", vec![Type::str()], Type::int(), head).err().map(|d| d.message);
        assert!(list.is_some_and(|m| m.contains("type str")));
    }
}
