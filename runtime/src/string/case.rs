//! Case and character classes, as CPython defines them. ASCII is answered without the tables.

use super::{Chars, from_chars, unidata};
use crate::exc::Res;
use tierup_core::layout::Str;

fn within(table: &[(u32, u32)], c: u32) -> bool {
    let i = table.partition_point(|(_, last)| *last < c);
    i < table.len() && table[i].0 <= c
}
fn mapped(table: &[(u32, [u32; 3])], c: u32) -> Option<[u32; 3]> {
    table.binary_search_by_key(&c, |(from, _)| *from).ok().map(|i| table[i].1)
}

const fn ascii(c: u32) -> Option<u8> {
    if c < 128 { Some(c as u8) } else { None }
}

pub(crate) fn is_alpha(c: u32) -> bool {
    ascii(c).map_or_else(|| within(unidata::ALPHA, c), |b| b.is_ascii_alphabetic())
}
pub(crate) fn is_digit(c: u32) -> bool {
    ascii(c).map_or_else(|| within(unidata::DIGIT, c), |b| b.is_ascii_digit())
}
pub(crate) fn is_numeric(c: u32) -> bool {
    ascii(c).map_or_else(|| within(unidata::NUMERIC, c), |b| b.is_ascii_digit())
}
pub(crate) fn is_alnum(c: u32) -> bool {
    is_alpha(c) || is_numeric(c)
}
pub(crate) fn is_space(c: u32) -> bool {
    ascii(c).map_or_else(|| within(unidata::SPACE, c), |b| matches!(b, 9..=13 | 28..=32))
}
pub(crate) fn is_printable(c: u32) -> bool {
    ascii(c).map_or_else(|| within(unidata::PRINTABLE, c), |b| matches!(b, 32..=126))
}
pub(crate) fn is_lower(c: u32) -> bool {
    ascii(c).map_or_else(|| within(unidata::LOWER, c), |b| b.is_ascii_lowercase())
}
pub(crate) fn is_upper(c: u32) -> bool {
    ascii(c).map_or_else(|| within(unidata::UPPER, c), |b| b.is_ascii_uppercase())
}
pub(crate) fn is_title(c: u32) -> bool {
    c >= 128 && within(unidata::TITLE, c)
}
fn is_cased(c: u32) -> bool {
    is_lower(c) || is_upper(c) || is_title(c)
}
fn starts_identifier(c: u32) -> bool {
    ascii(c).map_or_else(|| within(unidata::IDENT_START, c), |b| b.is_ascii_alphabetic() || b == b'_')
}
fn continues_identifier(c: u32) -> bool {
    ascii(c).map_or_else(|| within(unidata::IDENT_CONTINUE, c), |b| b.is_ascii_alphanumeric() || b == b'_')
}
/// The value of a decimal digit of any script.
pub(crate) fn decimal(c: u32) -> Option<u32> {
    if c < 128 {
        return (c as u8 as char).to_digit(10);
    }
    let i = unidata::DECIMAL_ZEROS.partition_point(|zero| *zero <= c).checked_sub(1)?;
    let d = c - unidata::DECIMAL_ZEROS[i];
    (d < 10).then_some(d)
}

/// Non-empty, and every character is of the class.
pub(crate) fn all(s: Chars<'_>, class: fn(u32) -> bool) -> bool {
    !s.is_empty() && s.iter().all(class)
}

pub(crate) fn is_identifier(s: Chars<'_>) -> bool {
    !s.is_empty() && starts_identifier(s.get(0)) && s.iter().skip(1).all(continues_identifier)
}

/// At least one cased character, and none that `wrong` names.
fn all_cased(s: Chars<'_>, right: fn(u32) -> bool, wrong: fn(u32) -> bool) -> bool {
    let mut any = false;
    for c in s.iter() {
        if wrong(c) || is_title(c) {
            return false;
        }
        any |= right(c);
    }
    any
}
pub(crate) fn all_lower(s: Chars<'_>) -> bool {
    all_cased(s, is_lower, is_upper)
}
pub(crate) fn all_upper(s: Chars<'_>) -> bool {
    all_cased(s, is_upper, is_lower)
}
/// Upper case only after uncased characters, lower case only after cased ones, and at least one of them.
pub(crate) fn all_title(s: Chars<'_>) -> bool {
    let (mut any, mut after_cased) = (false, false);
    for c in s.iter() {
        if is_upper(c) || is_title(c) {
            if after_cased {
                return false;
            }
            (any, after_cased) = (true, true);
        } else if is_lower(c) {
            if !after_cased {
                return false;
            }
            any = true;
        } else {
            after_cased = false;
        }
    }
    any
}

fn push_upper(out: &mut Vec<u32>, c: u32) {
    match char::from_u32(c) {
        Some(ch) => out.extend(ch.to_uppercase().map(|u| u as u32)),
        None => out.push(c),
    }
}
fn push_title(out: &mut Vec<u32>, c: u32) {
    match mapped(unidata::TITLE_MAP, c) {
        Some(m) => out.extend(m.into_iter().filter(|x| *x != 0)),
        None => push_upper(out, c),
    }
}
/// Lower case of the character at `i`; a capital sigma at the end of a word becomes ς.
fn push_lower(out: &mut Vec<u32>, s: Chars<'_>, i: usize) {
    let c = s.get(i);
    if c == 0x3a3 {
        let ignorable = |c: &u32| within(unidata::CASE_IGNORABLE, *c);
        let before = s.slice(0..i).iter().rev().find(|c| !ignorable(c)).is_some_and(is_cased);
        let after = s.slice(i + 1..s.len()).iter().find(|c| !ignorable(c)).is_some_and(is_cased);
        out.push(if before && !after { 0x3c2 } else { 0x3c3 });
        return;
    }
    match char::from_u32(c) {
        Some(ch) => out.extend(ch.to_lowercase().map(|l| l as u32)),
        None => out.push(c),
    }
}

fn ascii_map(s: Chars<'_>, f: fn(&u8) -> u8) -> Option<Res<*mut Str>> {
    match s {
        Chars::One(b) if b.is_ascii() => Some(from_chars(Chars::One(&b.iter().map(f).collect::<Vec<_>>()))),
        Chars::One(_) | Chars::Two(_) | Chars::Four(_) => None,
    }
}
/// A string of what `f` pushes for each position.
fn build(s: Chars<'_>, mut f: impl FnMut(&mut Vec<u32>, usize, u32)) -> Res<*mut Str> {
    let mut out = Vec::with_capacity(s.len());
    for (i, c) in s.iter().enumerate() {
        f(&mut out, i, c);
    }
    from_chars(Chars::Four(&out))
}

pub(crate) fn lower(s: Chars<'_>) -> Res<*mut Str> {
    ascii_map(s, u8::to_ascii_lowercase).unwrap_or_else(|| build(s, |out, i, _| push_lower(out, s, i)))
}
pub(crate) fn upper(s: Chars<'_>) -> Res<*mut Str> {
    ascii_map(s, u8::to_ascii_uppercase).unwrap_or_else(|| build(s, |out, _, c| push_upper(out, c)))
}
pub(crate) fn casefold(s: Chars<'_>) -> Res<*mut Str> {
    ascii_map(s, u8::to_ascii_lowercase).unwrap_or_else(|| {
        build(s, |out, i, c| match mapped(unidata::FOLD_MAP, c) {
            Some(m) => out.extend(m.into_iter().filter(|x| *x != 0)),
            None => push_lower(out, s, i),
        })
    })
}
pub(crate) fn capitalize(s: Chars<'_>) -> Res<*mut Str> {
    build(s, |out, i, c| if i == 0 { push_title(out, c) } else { push_lower(out, s, i) })
}
pub(crate) fn swapcase(s: Chars<'_>) -> Res<*mut Str> {
    build(s, |out, i, c| {
        if is_upper(c) {
            push_lower(out, s, i)
        } else if is_lower(c) {
            push_upper(out, c)
        } else {
            out.push(c)
        }
    })
}
pub(crate) fn title(s: Chars<'_>) -> Res<*mut Str> {
    let mut after_cased = false;
    build(s, |out, i, c| {
        if after_cased {
            push_lower(out, s, i)
        } else {
            push_title(out, c)
        }
        after_cased = is_cased(c);
    })
}
