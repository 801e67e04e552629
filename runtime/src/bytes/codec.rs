//! Text as bytes and bytes as text, with the errors of CPython. Both the encoding and what is done about what
//! it cannot say come as numbers ([`Codec`], [`Errors`]).

use super::made;
use crate::exc::{Arg, Error, Res};
use crate::string::helpers::S;
use crate::string::{Chars, from_chars, from_text, share};
use std::ops::Range;
use tierup_core::exc::Class;
use tierup_core::ops::codecs::{Codec, Errors};
use tierup_core::types::ClassId;

/// `UnicodeEncodeError` or `UnicodeDecodeError` about a part of an object.
fn error(class: Class, codec: Codec, object: Arg, part: Range<usize>, reason: &'static str) -> Error {
    let args = vec![
        Arg::Text(codec.name().into()),
        object,
        Arg::Int(part.start as i64),
        Arg::Int(part.end as i64),
        Arg::Text(reason.into()),
    ];
    Error::with_args(ClassId::of_exception(class).def(), args)
}

// ---- encoding

/// The greatest code point that an encoding of one byte each has, with what is said of others.
fn limit(codec: Codec) -> (u32, &'static str) {
    match codec {
        Codec::Utf8 => (0x10_ffff, "surrogates not allowed"),
        Codec::Ascii => (0x7f, "ordinal not in range(128)"),
        Codec::Latin1 => (0xff, "ordinal not in range(256)"),
    }
}

pub(super) fn encode(s: Chars<'_>, codec: i64, errors: i64) -> Res<S> {
    let (codec, errors) = (Codec::from_number(codec), Errors::from_number(errors));
    let (max, reason) = limit(codec);
    if let Chars::One(bytes) = s
        && (codec == Codec::Latin1 || bytes.is_ascii())
    {
        return made(bytes);
    }
    let fits = |c: u32| c <= max && (codec != Codec::Utf8 || char::from_u32(c).is_some());
    let (mut out, mut i) = (Vec::with_capacity(s.len()), 0);
    while i < s.len() {
        let c = s.get(i);
        if fits(c) {
            match char::from_u32(c).filter(|_| codec == Codec::Utf8) {
                Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                None => out.push(c as u8),
            }
            i += 1;
            continue;
        }
        // What follows one another and does not fit is one error.
        let end = (i..s.len()).find(|k| fits(s.get(*k))).unwrap_or(s.len());
        if errors == Errors::Strict {
            let object = Arg::Str(from_chars(s)?);
            return Err(error(Class::UnicodeEncodeError, codec, object, i..end, reason));
        }
        (i..end).for_each(|k| stand_in(&mut out, s.get(k), errors));
        i = end;
    }
    made(&out)
}

/// What stands for a character that an encoding does not have.
fn stand_in(out: &mut Vec<u8>, c: u32, errors: Errors) {
    let text = match errors {
        Errors::Strict | Errors::Ignore => return,
        Errors::Replace => "?".to_owned(),
        Errors::XmlCharRefReplace => format!("&#{c};"),
        Errors::BackslashReplace => crate::string::escape(c),
    };
    out.extend_from_slice(text.as_bytes());
}

// ---- decoding

/// The text of bytes.
///
/// # Safety
/// `b` must be a live object of bytes.
pub(super) unsafe fn decode(b: S, codec: i64, errors: i64) -> Res<S> {
    // SAFETY: as required of the caller.
    let bytes = unsafe { Chars::of(b) }.bytes();
    let (codec, errors) = (Codec::from_number(codec), Errors::from_number(errors));
    if codec == Codec::Latin1 || bytes.is_ascii() {
        return made(bytes);
    }
    if codec == Codec::Utf8
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return from_text(text);
    }
    let mut out: Vec<u32> = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let (good, bad) = match codec {
            Codec::Utf8 => utf8_run(&bytes[at..]),
            Codec::Ascii | Codec::Latin1 => ascii_run(&bytes[at..]),
        };
        match codec {
            // The run is UTF-8, of which no character is lost.
            Codec::Utf8 => {
                out.extend(String::from_utf8_lossy(&bytes[at..at + good]).chars().map(|c| c as u32))
            }
            Codec::Ascii | Codec::Latin1 => out.extend(bytes[at..at + good].iter().map(|c| u32::from(*c))),
        }
        at += good;
        let Some((length, reason)) = bad else { break };
        match errors {
            Errors::Strict => {
                // SAFETY: it is live.
                let object = Arg::Bytes(unsafe { share(b) });
                return Err(error(Class::UnicodeDecodeError, codec, object, at..at + length, reason));
            }
            Errors::XmlCharRefReplace => {
                let text = "don't know how to handle UnicodeDecodeError in error callback";
                return Err(Error::type_error(text));
            }
            Errors::Ignore => {}
            Errors::Replace => out.push(0xfffd),
            Errors::BackslashReplace => {
                let escapes = bytes[at..at + length].iter().map(|c| format!("\\x{c:02x}"));
                out.extend(escapes.collect::<String>().chars().map(|c| c as u32));
            }
        }
        at += length;
    }
    from_chars(Chars::Four(&out))
}

/// How many bytes are well; then how many are not, and why, unless that was all.
type Run = (usize, Option<(usize, &'static str)>);

fn ascii_run(b: &[u8]) -> Run {
    match b.iter().position(|c| !c.is_ascii()) {
        Some(i) => (i, Some((1, "ordinal not in range(128)"))),
        None => (b.len(), None),
    }
}

fn utf8_run(b: &[u8]) -> Run {
    let Err(e) = std::str::from_utf8(b) else { return (b.len(), None) };
    let good = e.valid_up_to();
    let bad = match e.error_len() {
        None => (b.len() - good, "unexpected end of data"),
        Some(n) if matches!(b[good], 0xc2..=0xf4) => (n, "invalid continuation byte"),
        Some(n) => (n, "invalid start byte"),
    };
    (good, Some(bad))
}
