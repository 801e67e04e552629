//! Raw bytes of a code object to normalised instructions: instructions with their arguments, the location
//! table, the exception table.
//!
//! Caches and no-ops vanish, so jump targets are remapped. The tables are those of CPython's
//! `Objects/locations.md` and `Objects/exception_handling_notes.txt`, the same since 3.11. Nothing here
//! trusts its input: bytes out of place are a [`Diagnostic`].

use super::opcodes::{self, Meaning};
use super::{Handler, Instr, Opcode, Position};
use crate::diag::{Code, Diagnostic, Result};

/// `co_code`, `co_linetable`, `co_exceptiontable` and `co_firstlineno` of a code object of that Python
/// version.
pub struct Raw<'a> {
    pub version: (u8, u8),
    pub code: &'a [u8],
    pub locations: &'a [u8],
    pub exceptions: &'a [u8],
    pub first_line: u32,
}

fn unsupported(message: String) -> Diagnostic {
    Diagnostic::new(Code::UnsupportedBytecode, message)
}

/// Instructions and exception table.
pub fn decode(raw: &Raw<'_>) -> Result<(Vec<Instr>, Vec<Handler>)> {
    let (major, minor) = raw.version;
    let table = opcodes::decoder(raw.version).ok_or_else(|| {
        let known: Vec<String> = opcodes::VERSIONS.iter().map(|(a, b)| format!("{a}.{b}")).collect();
        unsupported(format!("the bytecode of Python {major}.{minor} is not known"))
            .help(format!("run Python {}", known.join(" or ")))
    })?;
    let units = raw.code.len() / 2;
    let positions = positions(raw.locations, raw.first_line, units);
    let mut insts: Vec<Instr> = Vec::with_capacity(units / 2);
    // Index of the first instruction at or after each code unit.
    let mut index = vec![0u32; units + 1];
    let mut extended = 0u32;
    let mut at = 0;
    while at < units {
        let (number, low) = (raw.code[2 * at], raw.code[2 * at + 1]);
        let arg = extended << 8 | low as u32;
        let (meaning, caches) = table[number as usize]
            .ok_or_else(|| unsupported(format!("opcode {number} of Python {major}.{minor} is not known")))?;
        let next = (at + 1 + caches as usize).min(units);
        let position = positions[at];
        let here = insts.len() as u32;
        let out_of_range = || unsupported(format!("jump out of the function at code unit {at}"));
        let mut push = |op: Opcode, arg: u32| insts.push(Instr { op, arg, at: position });
        extended = 0;
        match meaning {
            Meaning::Skip => {}
            Meaning::Extend => extended = arg,
            Meaning::Plain(op) => push(op, arg),
            // Targets are code units until every instruction has its index.
            Meaning::Forward(op) => push(op, u32::try_from(next + arg as usize).map_err(|_| out_of_range())?),
            Meaning::Backward(op) => {
                push(op, next.checked_sub(arg as usize).ok_or_else(out_of_range)? as u32)
            }
            Meaning::GlobalWithNull => {
                if arg & 1 != 0 {
                    push(Opcode::PushNull, 0);
                }
                push(Opcode::LoadGlobal, arg >> 1);
            }
        }
        index[at..next].fill(here);
        // Caches belong to the instruction before them, but nothing jumps there.
        at = next;
    }
    index[units] = insts.len() as u32;
    // A jump may aim at an EXTENDED_ARG prefix or a no-op: its index is that of the next instruction, as
    // filled in above.
    let end = insts.len() as u32;
    for i in &mut insts {
        if !i.op.jumps() {
            continue;
        }
        i.arg = *index
            .get(i.arg as usize)
            .filter(|t| **t < end)
            .ok_or_else(|| unsupported(format!("jump out of the function in line {}", i.at.line)))?;
    }
    let handlers = handlers(raw.exceptions, &index, end)?;
    Ok((insts, handlers))
}

/// Big-endian groups of six bits; bit 6 says that more follow, bit 7 marks the start of an entry.
fn handlers(bytes: &[u8], index: &[u32], count: u32) -> Result<Vec<Handler>> {
    let bad = || unsupported("malformed exception table".into());
    let mut it = bytes.iter().copied().peekable();
    let mut out = vec![];
    while it.peek().is_some() {
        let mut number = || -> Result<usize> {
            let mut n = 0usize;
            loop {
                let b = it.next().ok_or_else(bad)?;
                n = n.checked_mul(64).ok_or_else(bad)? + (b & 63) as usize;
                if b & 64 == 0 {
                    return Ok(n);
                }
            }
        };
        let (start, length, target, depth) = (number()?, number()?, number()?, number()?);
        let at = |unit: usize| index.get(unit).copied().ok_or_else(bad);
        let h = Handler {
            start: at(start)?,
            end: at(start.saturating_add(length))?,
            target: at(target)?,
            depth: (depth >> 1) as u32,
            lasti: depth & 1 != 0,
        };
        if h.target >= count {
            return Err(bad());
        }
        // A range of nothing but no-ops protects nothing.
        if h.start < h.end {
            out.push(h);
        }
    }
    Ok(out)
}

/// The position of every code unit; unknown where the table ends early.
fn positions(bytes: &[u8], first_line: u32, units: usize) -> Vec<Position> {
    let mut out = Vec::with_capacity(units);
    let mut it = bytes.iter().copied();
    let mut line = first_line as i64;
    while let Some(head) = it.next() {
        let (kind, length) = (head >> 3 & 15, (head & 7) as usize + 1);
        let position = match kind {
            0..=9 => {
                let second = it.next().unwrap_or(0);
                let col = (kind as u32) << 3 | (second >> 4 & 7) as u32;
                Position { line: line as u32, col, end_col: col + (second & 15) as u32 }
            }
            10..=12 => {
                line += kind as i64 - 10;
                let (col, end_col) = (it.next().unwrap_or(0) as u32, it.next().unwrap_or(0) as u32);
                Position { line: line as u32, col, end_col }
            }
            13 => {
                line += signed(varint(&mut it));
                Position { line: line as u32, col: 0, end_col: 0 }
            }
            14 => {
                line += signed(varint(&mut it));
                let (more_lines, col, end_col) = (varint(&mut it), varint(&mut it), varint(&mut it));
                Position {
                    line: line as u32,
                    col: col.saturating_sub(1),
                    end_col: if more_lines == 0 { end_col.saturating_sub(1) } else { 0 },
                }
            }
            _ => Position::default(),
        };
        out.extend(std::iter::repeat_n(position, length));
    }
    out.resize(units, Position::default());
    out
}

/// Little-endian groups of six bits.
fn varint(it: &mut impl Iterator<Item = u8>) -> u32 {
    let (mut n, mut shift) = (0u32, 0);
    for b in it {
        n |= ((b & 63) as u32).checked_shl(shift).unwrap_or(0);
        shift += 6;
        if b & 64 == 0 {
            break;
        }
    }
    n
}
fn signed(n: u32) -> i64 {
    if n & 1 != 0 { -((n >> 1) as i64) } else { (n >> 1) as i64 }
}
