//! The `.bc` text form: `parse(print(code)) == code`.
//!
//! ```text
//! code "f" "outer.<locals>.f" "a.py" 1
//!   args 2 0 0 flags 3
//!   varnames "a" "b"
//!   const 1.5
//!   0: load_local 0 @2:4-9    ; a
//!   1: return 0 @2:4-9
//!   except 0..1 -> 1 depth 0 lasti
//! end
//! ```

use super::inst::{BINARY, LITERALS, common, special};
use super::{Arg, Code, Constant, Handler, Instr, Opcode, Position};
use crate::diag::Result;
use crate::lex::Cursor;
use crate::types::Const;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

impl Display for Code {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print(self, f, 0)
    }
}

fn print(c: &Code, f: &mut Formatter<'_>, indent: usize) -> fmt::Result {
    let pad = " ".repeat(indent);
    writeln!(f, "{pad}code {:?} {:?} {:?} {}", c.name, c.qualname, c.file, c.first_line)?;
    writeln!(f, "{pad}  args {} {} {} flags {}", c.args, c.positional_only, c.keyword_only, c.flags)?;
    for (what, names) in
        [("varnames", &c.varnames), ("cellvars", &c.cellvars), ("freevars", &c.freevars), ("names", &c.names)]
    {
        if names.is_empty() {
            continue;
        }
        write!(f, "{pad}  {what}")?;
        for n in names {
            write!(f, " {n:?}")?;
        }
        writeln!(f)?;
    }
    for k in &c.consts {
        constant(k, f, indent + 2)?;
    }
    for (i, inst) in c.insts.iter().enumerate() {
        let Position { line, col, end_col } = inst.at;
        let text = format!("{i}: {} {} @{line}:{col}-{end_col}", inst.op.name(), inst.arg);
        match meaning(c, inst) {
            Some(m) => writeln!(f, "{pad}  {text:<40} ; {m}")?,
            None => writeln!(f, "{pad}  {text}")?,
        }
    }
    for h in &c.handlers {
        writeln!(
            f,
            "{pad}  except {}..{} -> {} depth {}{}",
            h.start,
            h.end,
            h.target,
            h.depth,
            if h.lasti { " lasti" } else { "" }
        )?;
    }
    writeln!(f, "{pad}end")
}

fn constant(k: &Constant, f: &mut Formatter<'_>, indent: usize) -> fmt::Result {
    let pad = " ".repeat(indent);
    match k {
        Constant::Value(v) => writeln!(f, "{pad}const {v}"),
        Constant::Unsupported(s) => writeln!(f, "{pad}unsupported {s:?}"),
        Constant::Slice(parts) => writeln!(f, "{pad}slice {}", Const::Tuple(parts.to_vec())),
        Constant::Set(members) => writeln!(f, "{pad}set {}", Const::Tuple(members.clone())),
        Constant::Code(inner) => print(inner, f, indent),
        Constant::Index(members) => {
            writeln!(f, "{pad}index")?;
            members.iter().try_for_each(|m| constant(m, f, indent + 2))?;
            writeln!(f, "{pad}end")
        }
    }
}

/// What an argument stands for, as a comment.
#[expect(clippy::wildcard_enum_match_arm, reason = "only some arguments are numbers of names")]
pub fn meaning(c: &Code, i: &Instr) -> Option<String> {
    let arg = i.arg as usize;
    let name = |n: Option<&Arc<str>>| n.map(|n| n.escape_debug().to_string());
    match i.op.arg() {
        Arg::Plain => {
            let known = match i.op {
                Opcode::Binary => BINARY.get(arg),
                Opcode::Compare => ["<", "<=", "==", "!=", ">", ">="].get(arg),
                Opcode::LoadCommon => common::NAMES.get(arg),
                Opcode::LoadSpecial => special::NAMES.get(arg),
                Opcode::LoadLiteral => return LITERALS.get(arg).map(|c| c.to_string()),
                _ => None,
            };
            known.map(|s| s.to_string())
        }
        Arg::Jump => None,
        Arg::Const => c.consts.get(arg).map(brief),
        Arg::Name => name(c.names.get(arg)),
        Arg::Local | Arg::Deref => name(c.variable_name(i.arg)),
    }
}

fn brief(k: &Constant) -> String {
    match k {
        Constant::Value(v) => v.to_string(),
        Constant::Code(inner) => format!("code {}", inner.name.escape_debug()),
        Constant::Slice(parts) => format!("slice{}", Const::Tuple(parts.to_vec())),
        Constant::Set(members) => format!("set{}", Const::Tuple(members.clone())),
        Constant::Index(members) => members.iter().map(brief).collect::<Vec<_>>().join(", "),
        Constant::Unsupported(s) => format!("{s:?}"),
    }
}

/// All code objects of a text.
pub fn parse(text: &str) -> Result<Vec<Code>> {
    let mut c = Cursor::new(text);
    let mut out = vec![];
    while !c.at_end() {
        out.push(code(&mut c, 0, &mut |c, _| Err(c.error("instructions, not raw bytes")))?);
    }
    Ok(out)
}

/// Reads what follows the word `raw` into the code object that stands around it.
pub(super) type ReadRaw<'f> = &'f mut dyn FnMut(&mut Cursor<'_>, &mut Code) -> Result<()>;

fn names(c: &mut Cursor<'_>) -> Result<Vec<Arc<str>>> {
    let mut out = vec![];
    while c.peek("\"") {
        out.push(c.string()?);
    }
    Ok(out)
}

pub(super) fn code(c: &mut Cursor<'_>, depth: usize, raw: ReadRaw<'_>) -> Result<Code> {
    if depth > 100 {
        return Err(c.error("fewer nested functions"));
    }
    if !c.eat_word("code") {
        return Err(c.error("\"code\""));
    }
    let mut out = Code {
        name: c.string()?,
        qualname: c.string()?,
        file: c.file()?,
        first_line: c.number()?,
        ..Code::default()
    };
    loop {
        match c.peek_word() {
            "code" => out.consts.push(Constant::Code(Arc::new(code(c, depth + 1, raw)?))),
            "const" | "slice" | "unsupported" | "index" => out.consts.push(read_constant(c)?),
            "except" => {
                c.word();
                // `3..10` would be one word.
                let start = c.number()?;
                c.expect("..")?;
                let end = c.number()?;
                c.expect("->")?;
                let target = c.number()?;
                c.expect("depth")?;
                out.handlers.push(Handler {
                    start,
                    end,
                    target,
                    depth: c.number()?,
                    lasti: c.eat_word("lasti"),
                });
            }
            number if number.starts_with(|d: char| d.is_ascii_digit()) => {
                out.insts.push(inst(c, out.insts.len())?)
            }
            word => {
                c.word();
                match word {
                    "args" => {
                        (out.args, out.positional_only, out.keyword_only) =
                            (c.number()?, c.number()?, c.number()?);
                        c.expect("flags")?;
                        out.flags = c.number()?;
                    }
                    "varnames" => out.varnames = names(c)?,
                    "cellvars" => out.cellvars = names(c)?,
                    "freevars" => out.freevars = names(c)?,
                    "names" => out.names = names(c)?,
                    "raw" => raw(c, &mut out)?,
                    "end" => break,
                    _ => return Err(c.error("a line of a code object")),
                }
            }
        }
    }
    check(&out, c)?;
    Ok(out)
}

/// One that is no code object.
fn read_constant(c: &mut Cursor<'_>) -> Result<Constant> {
    match c.word() {
        "const" => c.constant().map(Constant::Value),
        "slice" => slice(c),
        "set" => {
            let Const::Tuple(members) = c.constant()? else { return Err(c.error("the members of a set")) };
            Ok(Constant::Set(members))
        }
        "unsupported" => c.string().map(Constant::Unsupported),
        "index" => {
            let mut members = vec![];
            while !c.eat_word("end") {
                members.push(read_constant(c)?);
            }
            Ok(Constant::Index(members))
        }
        _ => Err(c.error("a constant")),
    }
}

fn slice(c: &mut Cursor<'_>) -> Result<Constant> {
    let Const::Tuple(parts) = c.constant()? else { return Err(c.error("the parts of a slice")) };
    match <[Const; 3]>::try_from(parts) {
        Ok(parts) => Ok(Constant::Slice(Box::new(parts))),
        Err(_) => Err(c.error("start, stop and step")),
    }
}

fn inst(c: &mut Cursor<'_>, index: usize) -> Result<Instr> {
    if c.number::<usize>()? != index {
        return Err(c.error(&format!("instruction {index}")));
    }
    c.expect(":")?;
    let op = Opcode::from_name(c.word()).ok_or_else(|| c.error("an opcode"))?;
    let arg = c.number()?;
    c.expect("@")?;
    let line = c.number()?;
    c.expect(":")?;
    let col = c.number()?;
    c.expect("-")?;
    Ok(Instr { op, arg, at: Position { line, col, end_col: c.number()? } })
}

/// Every index of an instruction is one.
fn check(code: &Code, c: &Cursor<'_>) -> Result<()> {
    let count = code.insts.len() as u32;
    let jumps = code.insts.iter().all(|i| !i.op.jumps() || i.arg < count);
    let handlers = code.handlers.iter().all(|h| h.start < h.end && h.end <= count && h.target < count);
    if jumps && handlers { Ok(()) } else { Err(c.error("jumps and handlers within the function")) }
}
