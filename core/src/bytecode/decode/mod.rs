//! Raw bytes of a code object to neutral instructions ([`super::inst`]).
//!
//! A version of CPython is one file here: its table of opcodes, each with its inline caches and what becomes
//! of it, and the functions for those that no other version has in the same form ([`shapes`] holds what
//! several share). This file walks the code units, lets the version translate, and turns targets and
//! protected ranges into indices of neutral instructions. Nothing else in the compiler knows a version.
//!
//! What is read is `co_code`, in which CPython has undone specialisation and instrumentation; opcodes of
//! these kinds are no part of the tables. Nothing here trusts its input: bytes out of place are a
//! [`Diagnostic`].

mod pairs;
mod rewrite;
mod shapes;
mod tables;
mod tails;
mod v311;
mod v312;
mod v313;
mod v314;
mod v315;

use super::{Constant, Handler, Instr, Opcode, Position};
use crate::diag::{Code, Diagnostic, Result};
use std::sync::Arc;

/// The versions of CPython whose bytecode is known.
pub static VERSIONS: [&Version; 5] =
    [&v311::VERSION, &v312::VERSION, &v313::VERSION, &v314::VERSION, &v315::VERSION];

/// `co_code`, `co_linetable`, `co_exceptiontable`, `co_firstlineno`, `co_varnames` and `co_consts` of a code
/// object of that Python version.
pub struct Raw<'a> {
    pub version: (u8, u8),
    pub code: &'a [u8],
    pub locations: &'a [u8],
    pub exceptions: &'a [u8],
    pub first_line: u32,
    pub varnames: &'a [Arc<str>],
    /// Code objects among them are decoded.
    pub consts: &'a [Constant],
}

/// What becomes of an opcode.
#[derive(Clone, Copy)]
enum Meaning {
    /// Nothing a compiler needs: dropped.
    Skip,
    /// Upper bits of the next argument.
    Extend,
    /// This instruction, with the same argument.
    Plain(Opcode),
    /// A jump; the argument counts code units from the end of the instruction, its caches included.
    Forward(Opcode),
    Backward(Opcode),
    /// Whatever the function writes, given the argument.
    By(fn(&mut Writer<'_>, u32) -> Result<()>),
    /// The same, given the code unit that a jump forward leads to.
    ForwardBy(fn(&mut Writer<'_>, usize) -> Result<()>),
}

/// One opcode of a version.
#[derive(Clone, Copy)]
pub struct Row {
    pub number: u8,
    /// As `dis` calls it.
    pub name: &'static str,
    /// Code units behind the instruction that the interpreter uses for itself.
    pub caches: u8,
    meaning: Meaning,
}

const fn row(number: u8, name: &'static str, caches: u8, meaning: Meaning) -> Row {
    Row { number, name, caches, meaning }
}

/// How one version of CPython encodes instructions.
pub struct Version {
    pub number: (u8, u8),
    pub rows: &'static [Row],
    /// The row of each opcode number, counted from 1; 0 where there is none.
    by_number: [u8; 256],
    /// Iterators take two places on the stack.
    pairs: bool,
}

impl Version {
    const fn new(number: (u8, u8), rows: &'static [Row]) -> Version {
        let (mut by_number, mut i) = ([0u8; 256], 0);
        while i < rows.len() {
            assert!(by_number[rows[i].number as usize] == 0, "two rows of one number");
            by_number[rows[i].number as usize] = i as u8 + 1;
            i += 1;
        }
        Version { number, rows, by_number, pairs: false }
    }
    const fn with_pairs(self) -> Version {
        Version { pairs: true, ..self }
    }
    fn row(&self, number: u8) -> Option<&'static Row> {
        self.rows.get((self.by_number[number as usize] as usize).checked_sub(1)?)
    }
}

/// The decoder of a Python version, if it is known.
pub fn version(number: (u8, u8)) -> Option<&'static Version> {
    VERSIONS.iter().find(|v| v.number == number).copied()
}

fn unsupported(message: String) -> Diagnostic {
    Diagnostic::new(Code::UnsupportedBytecode, message)
}

/// An instruction as it is encoded.
#[derive(Clone, Copy)]
struct Unit {
    /// Its code unit, and the one behind it and its caches.
    at: usize,
    next: usize,
    row: &'static Row,
    /// With the bits of prefixes before it.
    arg: u32,
}

impl Unit {
    /// The code unit that a jump leads to.
    fn target(&self) -> Option<Result<usize>> {
        let out = || unsupported(format!("jump out of the function at code unit {}", self.at));
        match self.row.meaning {
            Meaning::Forward(_) | Meaning::ForwardBy(_) => Some(Ok(self.next + self.arg as usize)),
            Meaning::Backward(_) => Some(self.next.checked_sub(self.arg as usize).ok_or_else(out)),
            Meaning::Skip | Meaning::Extend | Meaning::Plain(_) | Meaning::By(_) => None,
        }
    }
}

fn units(raw: &Raw<'_>) -> Result<Vec<Unit>> {
    let (major, minor) = raw.version;
    let version = version(raw.version).ok_or_else(|| {
        let known: Vec<String> = VERSIONS.iter().map(|v| format!("{}.{}", v.number.0, v.number.1)).collect();
        unsupported(format!("the bytecode of Python {major}.{minor} is not known"))
            .help(format!("run Python {}", known.join(" or ")))
    })?;
    let count = raw.code.len() / 2;
    let mut out = Vec::with_capacity(count);
    let (mut at, mut extended) = (0, 0u32);
    while at < count {
        let (number, low) = (raw.code[2 * at], raw.code[2 * at + 1]);
        let row = version
            .row(number)
            .ok_or_else(|| unsupported(format!("opcode {number} of Python {major}.{minor} is not known")))?;
        let next = (at + 1 + row.caches as usize).min(count);
        let arg = extended << 8 | low as u32;
        out.push(Unit { at, next, row, arg });
        extended = if matches!(row.meaning, Meaning::Extend) { arg } else { 0 };
        at = next;
    }
    Ok(out)
}

/// Collects what a version makes of its instructions. Targets of jumps are code units until all are there.
struct Writer<'a> {
    units: &'a [Unit],
    positions: &'a [Position],
    varnames: &'a [Arc<str>],
    /// The unit that is being translated.
    at: usize,
    insts: Vec<Instr>,
    /// The next call finds the names of its keywords on the stack.
    keywords: bool,
}

impl Writer<'_> {
    fn push(&mut self, op: Opcode, arg: u32) {
        let at = self.positions[self.units[self.at].at];
        self.insts.push(Instr { op, arg, at });
    }
    fn jump(&mut self, op: Opcode, target: usize) -> Result<()> {
        let target = u32::try_from(target).map_err(|_| unsupported("jump out of the function".into()))?;
        self.push(op, target);
        Ok(())
    }
    fn last(&self) -> Option<&Instr> {
        self.insts.last()
    }
    /// The index of the n-th unit after this one, from 0; prefixes and what is dropped do not count.
    fn following_index(&self, n: usize) -> Option<usize> {
        let counts = |u: &Unit| !matches!(u.row.meaning, Meaning::Extend | Meaning::Skip);
        (self.at + 1..self.units.len()).filter(|i| counts(&self.units[*i])).nth(n)
    }
    fn following(&self, n: usize) -> Option<&Unit> {
        self.following_index(n).map(|i| &self.units[i])
    }
    /// Whether the units that follow have these names.
    fn follows(&self, names: &[&str]) -> bool {
        names.iter().enumerate().all(|(n, name)| self.following(n).is_some_and(|u| u.row.name == *name))
    }
    /// Goes on to the next unit, which the current one has taken in.
    fn take(&mut self) -> Result<Unit> {
        let next = self.following_index(0).ok_or_else(|| unsupported("the code ends early".into()))?;
        self.at = next;
        Ok(self.units[next])
    }
    /// Goes on behind everything up to code unit `target`, if nothing else leads there.
    fn skip_to(&mut self, target: usize) -> bool {
        let here = self.units[self.at].at;
        let (into, last) = (|t: usize| t > here && t < target, self.units.partition_point(|u| u.at < target));
        let outside = self.units.iter().filter(|u| !(here..target).contains(&u.at));
        let skipped =
            target > here && last < self.units.len() && !outside.filter_map(|u| u.target()?.ok()).any(into);
        if skipped {
            self.at = last - 1;
        }
        skipped
    }
    fn malformed(&self, what: &str) -> Diagnostic {
        let unit = &self.units[self.at];
        unsupported(format!("{} at code unit {}: {what}", unit.row.name, unit.at))
    }

    fn translate(&mut self) -> Result<()> {
        let unit = self.units[self.at];
        match unit.row.meaning {
            Meaning::Skip | Meaning::Extend => Ok(()),
            Meaning::Plain(op) => {
                self.push(op, unit.arg);
                Ok(())
            }
            Meaning::By(write) => write(self, unit.arg),
            Meaning::ForwardBy(write) => write(self, unit.next + unit.arg as usize),
            Meaning::Forward(op) | Meaning::Backward(op) => match unit.target() {
                Some(target) => self.jump(op, target?),
                None => Err(self.malformed("a jump without a target")),
            },
        }
    }
}

/// Instructions and exception table.
pub fn decode(raw: &Raw<'_>) -> Result<(Vec<Instr>, Vec<Handler>)> {
    let count = raw.code.len() / 2;
    let units = units(raw)?;
    let positions = tables::positions(raw.locations, raw.first_line, count);
    let mut w = Writer {
        units: &units,
        positions: &positions,
        varnames: raw.varnames,
        at: 0,
        insts: Vec::with_capacity(units.len()),
        keywords: false,
    };
    // Index of the first neutral instruction at or after each code unit. A jump may aim at a prefix or at
    // something that was dropped.
    let mut index = vec![0u32; count + 1];
    // How many neutral instructions there are before each code unit: where several were taken together, all
    // of them lie in a protected range that holds the first.
    let mut before = vec![0u32; count + 1];
    while w.at < units.len() {
        let (first, here) = (w.at, w.insts.len() as u32);
        w.translate()?;
        // A translation may take instructions back that were written before.
        let here = here.min(w.insts.len() as u32);
        let (start, end) = (units[first].at, units[w.at].next);
        index[start..end].fill(here);
        before[start + 1..=end].fill(w.insts.len() as u32);
        w.at += 1;
    }
    let mut insts = w.insts;
    let end = insts.len() as u32;
    index[count] = end;
    for i in &mut insts {
        if !i.op.jumps() {
            continue;
        }
        i.arg = *index
            .get(i.arg as usize)
            .filter(|t| **t < end)
            .ok_or_else(|| unsupported(format!("jump out of the function in line {}", i.at.line)))?;
    }
    let handlers = handlers(raw.exceptions, &index, &before, &insts)?;
    let (insts, handlers) = match version(raw.version) {
        Some(v) if v.pairs => pairs::remove(&insts, &handlers, raw.consts)?,
        _ => (insts, handlers),
    };
    tails::merge(insts, handlers)
}

fn handlers(bytes: &[u8], index: &[u32], before: &[u32], insts: &[Instr]) -> Result<Vec<Handler>> {
    let bad = || unsupported("malformed exception table".into());
    let at = |table: &[u32], unit: usize| table.get(unit).copied().ok_or_else(bad);
    let mut out = vec![];
    for e in tables::exceptions(bytes)? {
        let (start, end, target) = (at(index, e.start)?, at(before, e.end)?, at(index, e.target)?);
        if target as usize >= insts.len() {
            return Err(bad());
        }
        // A range of nothing but no-ops protects nothing.
        if start < end {
            out.push(Handler { start, end, target, depth: e.depth as u32, lasti: e.lasti });
        }
    }
    Ok(without_own(out, insts))
}

/// From 3.12 on the exception table also holds handlers that the interpreter used to do without: around the
/// whole of a generator (an escaping StopIteration is a RuntimeError), and around what delegates to another
/// one. That is part of what `make_generator` and `send` mean, so the exceptions go where these handlers
/// would let them go on to.
fn without_own(mut handlers: Vec<Handler>, insts: &[Instr]) -> Vec<Handler> {
    let own =
        |h: &Handler| matches!(insts[h.target as usize].op, Opcode::EndGenerator | Opcode::EndDelegation);
    if !handlers.iter().any(own) {
        return handlers;
    }
    // Each handler lies in the range of one that is further out, so as many rounds suffice.
    for _ in 0..handlers.len() {
        let all = handlers.clone();
        let outer = |h: &Handler| all.iter().find(|o| (o.start..o.end).contains(&h.target)).copied();
        handlers = all
            .iter()
            .filter_map(|h| {
                if !own(h) {
                    return Some(*h);
                }
                outer(h).map(|o| Handler { start: h.start, end: h.end, ..o })
            })
            .collect();
        if !handlers.iter().any(own) {
            break;
        }
    }
    handlers.retain(|h| !own(h));
    handlers.dedup_by(|b, a| {
        let same = a.end == b.start && (a.target, a.depth, a.lasti) == (b.target, b.depth, b.lasti);
        if same {
            a.end = b.end;
        }
        same
    });
    handlers
}

/// What `dis` would say of the same bytes, in the form of `listing` in tests/tools/dump_bytecode.py.
pub(crate) fn listing(raw: &Raw<'_>) -> Result<String> {
    use std::fmt::Write as _;
    let positions = tables::positions(raw.locations, raw.first_line, raw.code.len() / 2);
    let mut out = String::new();
    for u in units(raw)? {
        if u.row.name == "CACHE" {
            continue;
        }
        let target = match u.target() {
            Some(t) => (2 * t?).to_string(),
            None => "-".into(),
        };
        let Position { line, col, end_col } = positions[u.at];
        let _ = writeln!(out, "{} {} {} {target} {line}:{col}-{end_col}", 2 * u.at, u.row.number, u.arg);
    }
    for e in tables::exceptions(raw.exceptions)? {
        let _ =
            writeln!(out, "{}..{} {} {} {}", 2 * e.start, 2 * e.end, 2 * e.target, e.depth, e.lasti as u8);
    }
    Ok(out)
}
