//! The two tables beside the instructions: where each comes from in the source, and where exceptions go.
//!
//! They are those of CPython's `Objects/locations.md` and `Objects/exception_handling_notes.txt`, the same
//! from 3.11 on.

use super::unsupported;
use crate::bytecode::Position;
use crate::diag::Result;

/// Code units `start..end` send exceptions to `target`, with the stack cut to `depth`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub start: usize,
    pub end: usize,
    pub target: usize,
    pub depth: usize,
    pub lasti: bool,
}

/// Big-endian groups of six bits; bit 6 says that more follow, bit 7 marks the start of an entry.
pub(crate) fn exceptions(bytes: &[u8]) -> Result<Vec<Entry>> {
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
        let end = start.saturating_add(length);
        out.push(Entry { start, end, target, depth: depth >> 1, lasti: depth & 1 != 0 });
    }
    Ok(out)
}

/// The position of every code unit; unknown where the table ends early.
pub(crate) fn positions(bytes: &[u8], first_line: u32, units: usize) -> Vec<Position> {
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
