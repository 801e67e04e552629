//! Code objects as some Python recorded them (tests/tools/dump_bytecode.py): the `.bc` form of
//! [`super::text`] with the raw tables in place of instructions.
//!
//! ```text
//! python 3.12
//! code "f" "f" "a.py" 1
//!   args 1 0 0 flags 3
//!   varnames "a"
//!   raw "97007c005300" "8000d80b0c8008" "" 1234567890
//! end
//! ```
//!
//! After instructions, locations and exception table comes a checksum of what that Python's `dis` says of
//! them: the decoder has to say the same.

use super::decode::{self, Raw};
use super::{Code, text};
use crate::diag::{Diagnostic, Result};
use crate::lex::Cursor;

/// All code objects of a text, decoded.
pub fn parse(text: &str) -> Result<Vec<Code>> {
    parse_with(text, &mut |_, failed| Err(failed))
}

/// The same, where `failed` is told of each code object that does not decode and may let it go: it then has
/// no instructions.
pub fn parse_with(text: &str, failed: &mut dyn FnMut(&Code, Diagnostic) -> Result<()>) -> Result<Vec<Code>> {
    let mut c = Cursor::new(text);
    if !c.eat_word("python") {
        return Err(c.error("\"python\" and a version"));
    }
    let version = version(&mut c)?;
    let mut raw = |c: &mut Cursor<'_>, code: &mut Code| read(c, code, version, failed);
    let mut out = vec![];
    while !c.at_end() {
        out.push(text::code(&mut c, 0, &mut raw)?);
    }
    Ok(out)
}

/// `3.12` is one word.
fn version(c: &mut Cursor<'_>) -> Result<(u8, u8)> {
    let (major, minor) = c.word().split_once('.').unwrap_or_default();
    match (major.parse(), minor.parse()) {
        (Ok(major), Ok(minor)) => Ok((major, minor)),
        _ => Err(c.error("a version")),
    }
}

fn read(
    c: &mut Cursor<'_>,
    code: &mut Code,
    version: (u8, u8),
    failed: &mut dyn FnMut(&Code, Diagnostic) -> Result<()>,
) -> Result<()> {
    let (bytes, locations, exceptions) = (hex(c)?, hex(c)?, hex(c)?);
    let checksum: u32 = c.number()?;
    let raw = Raw {
        version,
        code: &bytes,
        locations: &locations,
        exceptions: &exceptions,
        first_line: code.first_line,
        varnames: &code.varnames,
        consts: &code.consts,
    };
    let decoded = decode::decode(&raw).and_then(|done| {
        let listing = decode::listing(&raw)?;
        if crc32(listing.as_bytes()) == checksum {
            return Ok(done);
        }
        Err(c.error(&format!("the checksum of\n{listing}")))
    });
    match decoded {
        Ok((insts, handlers)) => (code.insts, code.handlers) = (insts, handlers),
        Err(e) => failed(code, e)?,
    }
    Ok(())
}

fn hex(c: &mut Cursor<'_>) -> Result<Vec<u8>> {
    let text = c.string()?;
    let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(digits).collect();
    bytes.ok_or_else(|| c.error("hexadecimal digits"))
}

/// The checksum of zlib and PNG.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ *byte as u32, |c, _| if c & 1 != 0 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    #[test]
    fn checksums_are_those_of_zlib() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
    }
}
