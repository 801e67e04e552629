//! Bytes: objects of texts whose code units they are. What is the same for both is [`crate::string`]'s; here
//! is what is different. [`ascii`] has the classes and cases of bytes, [`codec`] text as bytes and bytes as
//! text, [`number`] numbers as bytes.

mod ascii;
mod codec;
mod number;
#[cfg(test)]
mod tests;

use crate::Native;
use crate::exc::{Error, Res, or_raise};
use crate::list;
use crate::string::helpers::{Nullable, S, part, seen, strings};
use crate::string::split::{self, Parts, strip};
use crate::string::{Chars, bytes_repr, from_chars, parse, search, share, single};
use tierup_core::layout::List;
use tierup_core::ops::bytes::Helpers;
use tierup_core::rt::{Ctx, P};

/// The bytes of an object, which has one for each code unit.
fn plain(b: Chars<'_>) -> &[u8] {
    b.bytes()
}

/// A new object of bytes.
fn made(bytes: &[u8]) -> Res<S> {
    from_chars(Chars::One(bytes))
}

/// `repr` of bytes, or of a bytearray of them: there quotes are escaped also where they need not be.
fn shown(b: Chars<'_>, array: bool) -> String {
    let text = Chars::Four(&bytes_repr(b)).text();
    if !array {
        return text;
    }
    let text = if text.starts_with("b\"") { text.replace('\'', "\\'") } else { text };
    format!("bytearray({text})")
}

fn one(byte: i64) -> Res<S> {
    match u8::try_from(byte) {
        Ok(byte) => Ok(single(u32::from(byte))),
        Err(_) => Err(Error::value("byte must be in range(0, 256)")),
    }
}

fn zeros(n: i64) -> Res<S> {
    if n < 0 {
        return Err(Error::value("negative count"));
    }
    crate::string::repeat(Chars::One(&[0]), n)
}

fn position(i: i64) -> Res<i64> {
    if i < 0 { Err(Error::value("subsection not found")) } else { Ok(i) }
}

/// Two digits for each byte. Groups of so many are counted from the end, or from the beginning where the
/// number is negative.
fn hex(b: &[u8], sep: Option<Chars<'_>>, group: i64) -> Res<S> {
    let sep = match sep {
        None => None,
        Some(sep) if sep.len() != 1 => return Err(Error::value("sep must be length 1.")),
        Some(sep) if !sep.is_ascii() => return Err(Error::value("sep must be ASCII.")),
        Some(sep) => Some(sep.get(0) as u8).filter(|_| group != 0),
    };
    let size = usize::try_from(group.unsigned_abs()).unwrap_or(usize::MAX).max(1);
    let mut out = Vec::with_capacity(3 * b.len());
    for (i, byte) in b.iter().enumerate() {
        let place = if group < 0 { i } else { b.len() - i };
        if let Some(sep) = sep
            && i > 0
            && place % size == 0
        {
            out.push(sep);
        }
        out.extend([byte >> 4, byte & 15].map(|d| b"0123456789abcdef"[usize::from(d)]));
    }
    made(&out)
}

fn from_hex(text: Chars<'_>) -> Res<S> {
    let digit = |i: usize| (i < text.len()).then(|| char::from_u32(text.get(i))?.to_digit(16)).flatten();
    let wrong =
        |i: usize| Error::value(format!("non-hexadecimal number found in fromhex() arg at position {i}"));
    // What is no ASCII is found before anything else.
    if let Some(i) = text.iter().position(|c| c > 127) {
        return Err(wrong(i));
    }
    let (mut out, mut i) = (Vec::with_capacity(text.len() / 2), 0);
    while i < text.len() {
        if ascii::is_space(text.get(i)) {
            i += 1;
            continue;
        }
        let high = digit(i).ok_or_else(|| wrong(i))?;
        if i + 1 == text.len() && tierup_core::python::since(14) {
            return Err(Error::value("fromhex() arg must contain an even number of hexadecimal digits"));
        }
        let low = digit(i + 1).ok_or_else(|| wrong(i + 1))?;
        out.push((high << 4 | low) as u8);
        i += 2;
    }
    made(&out)
}

fn translate(b: &[u8], table: Option<Chars<'_>>, delete: Option<Chars<'_>>) -> Res<Option<S>> {
    if table.is_some_and(|t| t.len() != 256) {
        return Err(Error::value("translation table must be 256 characters long"));
    }
    let mut drops = [false; 256];
    delete.map_or(&[][..], plain).iter().for_each(|d| drops[usize::from(*d)] = true);
    let to = |byte: u8| table.map_or(byte, |t| plain(t)[usize::from(byte)]);
    let out: Vec<u8> = b.iter().filter(|byte| !drops[usize::from(**byte)]).map(|byte| to(*byte)).collect();
    if out == b { Ok(None) } else { made(&out).map(Some) }
}

fn make_table(from: &[u8], to: &[u8]) -> Res<S> {
    if from.len() != to.len() {
        return Err(Error::value("maketrans arguments must have same length"));
    }
    let mut table: [u8; 256] = std::array::from_fn(|i| i as u8);
    from.iter().zip(to).for_each(|(f, t)| table[usize::from(*f)] = *t);
    made(&table)
}

impl Helpers for Native {
    strings! { plain
        fn bytes_isalnum(b: S) -> i8 = i8::from(ascii::all(plain(b), u8::is_ascii_alphanumeric));
        fn bytes_isalpha(b: S) -> i8 = i8::from(ascii::all(plain(b), u8::is_ascii_alphabetic));
        fn bytes_isdigit(b: S) -> i8 = i8::from(ascii::all(plain(b), u8::is_ascii_digit));
        fn bytes_isspace(b: S) -> i8 = i8::from(ascii::all(plain(b), |c| ascii::is_space(u32::from(*c))));
        fn bytes_islower(b: S) -> i8 = i8::from(ascii::all_lower(plain(b)));
        fn bytes_istitle(b: S) -> i8 = i8::from(ascii::all_title(plain(b)));
        fn bytes_isupper(b: S) -> i8 = i8::from(ascii::all_upper(plain(b)));
    }
    strings! { changed
        fn bytes_strip(b: S, chars: Nullable) = part(b, strip(b, chars, ascii::is_space, [true; 2]));
        fn bytes_lstrip(b: S, chars: Nullable) = part(b, strip(b, chars, ascii::is_space, [true, false]));
        fn bytes_rstrip(b: S, chars: Nullable) = part(b, strip(b, chars, ascii::is_space, [false, true]));
        fn bytes_translate(b: S, table: Nullable, delete: Nullable) = translate(plain(b), table, delete);
    }
    strings! { parts
        fn bytes_split(b: S, sep: Nullable, maxsplit: i64) = match sep {
            None => Ok(split::split_space(b, maxsplit, ascii::is_space)),
            Some(sep) => split::split_on(b, sep, maxsplit),
        };
        fn bytes_rsplit(b: S, sep: Nullable, maxsplit: i64) = match sep {
            None => Ok(split::rsplit_space(b, maxsplit, ascii::is_space)),
            Some(sep) => split::rsplit_on(b, sep, maxsplit),
        };
        fn bytes_splitlines(b: S, keepends: i8) =
            Ok(split::split_lines(b, keepends != 0, ascii::is_line_break));
    }
    strings! { raising
        fn bytes_repr(b: S) -> S = from_chars(Chars::Four(&bytes_repr(b)));
        fn bytes_array_repr(b: S) -> S = made(shown(b, true).as_bytes());
        fn bytes_of_one(byte: i64) -> S = one(byte);
        fn bytes_of_zeros(n: i64) -> S = zeros(n);
        fn bytes_index(b: S, sub: S, start: i64, end: i64) -> i64 =
            position(search::find_in(b, sub, start, end, search::find));
        fn bytes_rindex(b: S, sub: S, start: i64, end: i64) -> i64 =
            position(search::find_in(b, sub, start, end, search::rfind));
        fn bytes_capitalize(b: S) -> S = made(&ascii::capitalize(plain(b)));
        fn bytes_lower(b: S) -> S = made(&plain(b).to_ascii_lowercase());
        fn bytes_swapcase(b: S) -> S = made(&ascii::swapcase(plain(b)));
        fn bytes_title(b: S) -> S = made(&ascii::title(plain(b)));
        fn bytes_upper(b: S) -> S = made(&plain(b).to_ascii_uppercase());
        fn bytes_hex(b: S, sep: Nullable, group: i64) -> S = hex(plain(b), sep, group);
        fn bytes_fromhex(text: S) -> S = from_hex(text);
        fn bytes_maketrans(from: S, to: S) -> S = make_table(plain(from), plain(to));
        fn bytes_encode(s: S, codec: i64, errors: i64) -> S = codec::encode(s, codec, errors);
        fn bytes_to_int(b: S, base: i64) -> i64 = parse::bytes_to_int(b, base, || shown(b, false).chars().take(200).collect());
        fn bytes_to_float(b: S, array: i8) -> f64 = parse::bytes_to_float(b, || shown(b, array != 0));
        fn bytes_of_int(v: i64, unsigned: i8, length: i64, byteorder: S, signed: i8) -> S =
            number::to_bytes(number::wide(v, unsigned != 0), length, byteorder, signed != 0);
        fn bytes_as_int(b: S, byteorder: S, signed: i8) -> i64 =
            number::from_bytes(plain(b), byteorder, signed != 0);
    }
    unsafe fn bytes_of_memory(ctx: Ctx, data: P, n: i64) -> S {
        // SAFETY: so many bytes are there, and the context is this thread's.
        unsafe { or_raise(ctx, made(crate::raw_slice(data.cast_const(), n))) }
    }
    unsafe fn bytes_array(ctx: Ctx, data: P, n: i64) -> *mut List {
        // SAFETY: so many bytes are there, and the context is this thread's.
        unsafe { or_raise(ctx, crate::bytearray::of(crate::raw_slice(data.cast_const(), n))) }
    }
    unsafe fn bytes_decode(ctx: Ctx, b: S, codec: i64, errors: i64) -> S {
        // SAFETY: compiled code holds a reference to the bytes; the context is its thread's.
        unsafe { or_raise(ctx, codec::decode(b, codec, errors)) }
    }
}
