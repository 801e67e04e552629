//! The file format of one entry. Numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic |
//! | 4 | version of the format |
//! | 4 | length of the label |
//! | 8 | length of the object |
//! | 32 | key |
//! | … | label: name of the function, UTF-8, for people only |
//! | … | object |
//! | 32 | BLAKE3 of everything before |
//!
//! A file is an entry only if all of it is as it should be, its length included; there is no partial success.

use super::Key;

const MAGIC: [u8; 8] = *b"\x7fTierUp\n";
/// Changes when the meaning of a file does.
const VERSION: u32 = 1;
const HEADER: usize = 8 + 4 + 4 + 8 + 32;
const SUM: usize = 32;
/// Longer labels are cut.
const LONGEST_LABEL: usize = 200;
/// The loader takes no larger object, and nobody has to read a larger file.
pub(crate) const LARGEST: u64 = 1 << 28;

/// What a file says.
#[derive(Debug, PartialEq)]
pub(crate) struct Entry<'a> {
    pub label: &'a str,
    pub object: &'a [u8],
}

/// The bytes of an entry.
pub(crate) fn write(key: Key, label: &str, object: &[u8]) -> Vec<u8> {
    let cut = (0..=LONGEST_LABEL.min(label.len())).rev().find(|n| label.is_char_boundary(*n)).unwrap_or(0);
    let label = &label[..cut];
    let mut out = Vec::with_capacity(HEADER + label.len() + object.len() + SUM);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&(label.len() as u32).to_le_bytes());
    out.extend_from_slice(&(object.len() as u64).to_le_bytes());
    out.extend_from_slice(&key.0);
    out.extend_from_slice(label.as_bytes());
    out.extend_from_slice(object);
    let sum = blake3::hash(&out);
    out.extend_from_slice(sum.as_bytes());
    out
}

/// What the bytes of an entry say, or what is wrong with them.
pub(crate) fn read(key: Key, bytes: &[u8]) -> Result<Entry<'_>, &'static str> {
    let (body, sum) = bytes.split_last_chunk::<SUM>().ok_or("it is too short")?;
    let (header, rest) = body.split_first_chunk::<HEADER>().ok_or("it is too short")?;
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if header[..8] != MAGIC {
        return Err("it is no entry of the code cache");
    }
    if word(8) != VERSION {
        return Err("it belongs to another version of Tierup");
    }
    // The sum before anything else is believed.
    if blake3::hash(body) != *sum {
        return Err("its checksum is wrong");
    }
    if header[24..56] != key.0 {
        return Err("it lies under another key's name");
    }
    let (label, object) = (word(12) as usize, u64::from(word(16)) | u64::from(word(20)) << 32);
    if label > LONGEST_LABEL || label as u64 + object != rest.len() as u64 {
        return Err("its lengths do not add up");
    }
    let (label, object) = rest.split_at(label);
    Ok(Entry { label: std::str::from_utf8(label).map_err(|_| "its label is no text")?, object })
}
