//! Opaque functions (`tierup.extending.lir`, `tierup.extending.intrinsic`): what compiled code runs for them is
//! a text of LIR.
//!
//! The text is the blocks of a function over the leaves of arguments and result. Most compute numbers out of
//! numbers and do nothing else, so that a call may be moved, dropped and run in any thread like an operation: no
//! memory but slots of their own, no calls but of helpers that are functions of their operands.
//!
//! What a code generator has written ([`Opaque::generated`]) may do anything: it is a whole function of compiled
//! code, with context and status, and typed code sees a call of it as an operation that writes to all of its
//! operands and may raise ([`crate::ops::id::INTRINSIC`]).

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
    ret: Gives,
    body: Func,
    /// What a generated function takes and calls; none of one that computes numbers.
    generated: Option<Generated>,
}

#[derive(Debug)]
struct Generated {
    leaves: Vec<Ty>,
    calls: Vec<Inner>,
}

/// What a call of an opaque function gives.
#[derive(Clone, Copy, Debug)]
pub enum Gives {
    Type(Type),
    /// A value of the type of that argument.
    Argument(usize),
}

/// A Python function that generated code calls, by the name `callN` of its place.
#[derive(Clone, Debug)]
pub struct Inner {
    pub func: FuncId,
    pub args: Vec<Type>,
    pub ret: Type,
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
    /// A function that a code generator has written, for arguments of these leaves: its text is over these and
    /// gives the leaves of the result.
    pub fn generated(
        name: &str,
        leaves: Vec<Ty>,
        (ret, results): (Gives, &[Ty]),
        text: &str,
        calls: Vec<Inner>,
    ) -> Result<Opaque> {
        let mut sig = Signature { params: vec![Ty::Ptr], results: vec![Ty::I64] };
        sig.params.extend(&leaves);
        sig.results.extend(results);
        let helpers: Vec<_> = crate::ops::helpers().collect();
        let written = format!("func @intrinsic{sig} always_inline {{\n{text}\n}}");
        let fail =
            |m: &str| Diagnostic::new(Code::BadGenerator, format!("the code generator of {name}(): {m}"));
        let (module, lines) = parse_module_with_lines(&written, &helpers).map_err(|d| fail(&d.message))?;
        if let Some(v) = verify::violations(&module).first() {
            let no = place(&lines[0], v.place);
            let line = written.lines().nth(no as usize - 1).unwrap_or_default();
            return Err(fail(&about(no, line, &v.message)));
        }
        Ok(Opaque { ret, body: module.funcs[0].clone(), generated: Some(Generated { leaves, calls }) })
    }

    /// What it gives for arguments of these types.
    pub(crate) fn ret(&self, args: &[Type]) -> Type {
        match self.ret {
            Gives::Type(t) => t,
            Gives::Argument(k) => args.get(k).copied().unwrap_or_else(Type::none),
        }
    }

    /// The functions that it calls.
    pub(crate) fn calls(&self) -> &[Inner] {
        self.generated.as_ref().map_or(&[], |g| &g.calls)
    }

    /// Whether it does more than compute numbers.
    pub(crate) fn is_generated(&self) -> bool {
        self.generated.is_some()
    }

    /// Whether it was written for arguments of these types.
    pub(crate) fn takes(&self, args: &[Type]) -> bool {
        let leaves = args.iter().flat_map(|t| t.leaves()).map(|l| l.ty);
        self.generated.as_ref().is_none_or(|g| leaves.eq(g.leaves.iter().copied()))
    }

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
        Ok(Opaque { ret: Gives::Type(ret), body, generated: None })
    }

    /// What compiled code calls under a name, with context and status, and the text's function where that is
    /// another one. `called` names the functions that it calls.
    pub(crate) fn lower(&self, name: &str, sig: Signature, called: &[String]) -> Vec<Func> {
        let mut body = self.body.clone();
        if self.is_generated() {
            body.name = name.into();
            for f in &mut body.funcs {
                let number = f.name.strip_prefix("call").and_then(|n| n.parse::<usize>().ok());
                if let Some(called) = number.and_then(|n| called.get(n)) {
                    f.name.clone_from(called);
                }
            }
            return vec![body];
        }
        body.name = format!("{name}.lir");
        let mut entry = Func::new(name, sig);
        entry.always_inline = true;
        let mut b = Builder::start(&mut entry);
        let operands = b.params(b.block)[1..].to_vec();
        let results = b.call(&body.name, &body.sig, &operands);
        let status = b.i64(0);
        b.ret(std::iter::once(status).chain(results).collect());
        vec![entry, body]
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
        let funcs = of.lower("g.0", signature(&[Type::int(), Type::int()], Type::int()), &[]);
        assert_eq!((funcs[1].name.as_str(), funcs[1].sig.params.len()), ("g.0.lir", 2));
        let module = crate::lir::Module { funcs };
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
