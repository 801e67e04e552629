//! Splitting, joining, stripping and padding.

use super::search::{find, occurrences, rfind};
use super::{Buf, Chars, concat, from_chars, single};
use crate::exc::{Error, Res};
use std::ops::Range;
use tierup_core::exc::Class as Exception;
use tierup_core::layout::Str;

pub(crate) type Parts = Vec<Range<usize>>;
/// Which characters are meant: what is a space or the end of a line in texts is not the same in bytes.
pub(crate) type Class = fn(u32) -> bool;

fn limit(maxsplit: i64) -> usize {
    usize::try_from(maxsplit).unwrap_or(usize::MAX)
}
pub(crate) fn empty_separator() -> Error {
    Error::value("empty separator")
}

/// Parts of `s.split(sep, maxsplit)`.
pub(crate) fn split_on(s: Chars<'_>, sep: Chars<'_>, maxsplit: i64) -> Res<Parts> {
    if sep.is_empty() {
        return Err(empty_separator());
    }
    let mut from = 0;
    let mut out: Parts = occurrences(s, sep, limit(maxsplit))
        .into_iter()
        .map(|i| std::mem::replace(&mut from, i + sep.len())..i)
        .collect();
    out.push(from..s.len());
    Ok(out)
}

/// Parts of `s.rsplit(sep, maxsplit)`.
pub(crate) fn rsplit_on(s: Chars<'_>, sep: Chars<'_>, maxsplit: i64) -> Res<Parts> {
    if sep.is_empty() {
        return Err(empty_separator());
    }
    let (mut out, mut end) = (vec![], s.len());
    while out.len() < limit(maxsplit)
        && let Some(i) = rfind(s.slice(0..end), sep)
    {
        out.push(i + sep.len()..end);
        end = i;
    }
    out.push(0..end);
    out.reverse();
    Ok(out)
}

/// Parts of `s.split(None, maxsplit)`: runs of whitespace separate; the rest after the last split keeps its
/// trailing whitespace.
pub(crate) fn split_space(s: Chars<'_>, maxsplit: i64, is_space: Class) -> Parts {
    let (mut out, mut i, n) = (vec![], 0, s.len());
    loop {
        while i < n && is_space(s.get(i)) {
            i += 1;
        }
        if i == n {
            return out;
        }
        if out.len() == limit(maxsplit) {
            out.push(i..n);
            return out;
        }
        let from = i;
        while i < n && !is_space(s.get(i)) {
            i += 1;
        }
        out.push(from..i);
    }
}

/// Parts of `s.rsplit(None, maxsplit)`.
pub(crate) fn rsplit_space(s: Chars<'_>, maxsplit: i64, is_space: Class) -> Parts {
    let (mut out, mut i) = (vec![], s.len());
    loop {
        while i > 0 && is_space(s.get(i - 1)) {
            i -= 1;
        }
        if i == 0 {
            break;
        }
        if out.len() == limit(maxsplit) {
            out.push(0..i);
            break;
        }
        let to = i;
        while i > 0 && !is_space(s.get(i - 1)) {
            i -= 1;
        }
        out.push(i..to);
    }
    out.reverse();
    out
}

/// What ends a line of text.
pub(crate) fn is_line_break(c: u32) -> bool {
    matches!(c, 10..=13 | 0x1c..=0x1e | 0x85 | 0x2028 | 0x2029)
}

pub(crate) fn split_lines(s: Chars<'_>, keep_ends: bool, is_break: Class) -> Parts {
    let (mut out, mut i, n) = (vec![], 0, s.len());
    while i < n {
        let from = i;
        while i < n && !is_break(s.get(i)) {
            i += 1;
        }
        let text_end = i;
        if i < n {
            i += if s.get(i) == 13 && i + 1 < n && s.get(i + 1) == 10 { 2 } else { 1 };
        }
        out.push(from..if keep_ends { i } else { text_end });
    }
    out
}

/// Where `s.partition(sep)` (or `rpartition`) finds the separator.
pub(crate) fn partition_at(s: Chars<'_>, sep: Chars<'_>, last: bool) -> Res<Option<usize>> {
    if sep.is_empty() {
        return Err(empty_separator());
    }
    Ok(if last { rfind(s, sep) } else { find(s, sep) })
}

pub(crate) fn join(sep: Chars<'_>, parts: &[Chars<'_>]) -> Res<*mut Str> {
    if sep.is_empty() || parts.len() < 2 {
        return concat(parts);
    }
    let mut all = Vec::with_capacity(2 * parts.len());
    for (i, p) in parts.iter().enumerate() {
        if i > 0 {
            all.push(sep);
        }
        all.push(*p);
    }
    concat(&all)
}

/// What is left after stripping characters of `chars` (None: whitespace) at the chosen sides.
pub(crate) fn strip(
    s: Chars<'_>,
    chars: Option<Chars<'_>>,
    is_space: Class,
    [left, right]: [bool; 2],
) -> Range<usize> {
    let stripped = |c: u32| chars.map_or_else(|| is_space(c), |set| set.iter().any(|x| x == c));
    let (mut from, mut to) = (0, s.len());
    while left && from < to && stripped(s.get(from)) {
        from += 1;
    }
    while right && from < to && stripped(s.get(to - 1)) {
        to -= 1;
    }
    from..to
}

/// `s` between `left` and `right` fill characters.
fn pad(s: Chars<'_>, left: usize, right: usize, fill: u32) -> Res<*mut Str> {
    let len = left
        .checked_add(right)
        .and_then(|n| n.checked_add(s.len()))
        .ok_or_else(|| Error::bare(Exception::MemoryError))?;
    let mut b = Buf::new(len, s.kind().max(super::kind_for(fill)))?;
    b.fill(fill, left);
    b.extend(s);
    b.fill(fill, right);
    Ok(b.finish())
}

/// How to pad to a width.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Justify {
    Left,
    Center,
    Right,
}

/// `ljust`, `center` and `rjust`; None means that nothing changes.
pub(crate) fn justify(
    s: Chars<'_>,
    width: i64,
    fill: Option<Chars<'_>>,
    how: Justify,
) -> Res<Option<*mut Str>> {
    if fill.is_some_and(|f| f.len() != 1) {
        return Err(Error::type_error("The fill character must be exactly one character long"));
    }
    let missing = width.saturating_sub(s.len() as i64);
    if missing <= 0 {
        return Ok(None);
    }
    let left = match how {
        Justify::Left => 0,
        // CPython's rule for odd margins.
        Justify::Center => missing / 2 + (missing & width & 1),
        Justify::Right => missing,
    };
    pad(s, left as usize, (missing - left) as usize, fill.map_or(b' ' as u32, |f| f.get(0))).map(Some)
}

pub(crate) fn zfill(s: Chars<'_>, width: i64) -> Res<Option<*mut Str>> {
    let missing = width.saturating_sub(s.len() as i64);
    if missing <= 0 {
        return Ok(None);
    }
    let signed = !s.is_empty() && matches!(s.get(0), 0x2b | 0x2d);
    let mut b = Buf::new((s.len() as i64 + missing) as usize, s.kind())?;
    if signed {
        b.push(s.get(0));
    }
    b.fill(b'0' as u32, missing as usize);
    b.extend(s.slice(signed as usize..s.len()));
    Ok(Some(b.finish()))
}

pub(crate) fn expand_tabs(s: Chars<'_>, tab_size: i64) -> Res<*mut Str> {
    let size = usize::try_from(tab_size).unwrap_or(0);
    let (mut pieces, mut column, mut from) = (vec![], 0usize, 0);
    for (i, c) in s.iter().enumerate() {
        match c {
            9 => {
                let spaces = if size == 0 { 0 } else { size - column % size };
                pieces.push((from..i, spaces));
                from = i + 1;
                column =
                    column.checked_add(spaces).ok_or_else(|| Error::overflow("new string is too long"))?;
            }
            10 | 13 => column = 0,
            _other => column += 1,
        }
    }
    if pieces.is_empty() {
        return from_chars(s);
    }
    pieces.push((from..s.len(), 0));
    let len = pieces.iter().try_fold(0usize, |n, (r, spaces)| n.checked_add(r.len())?.checked_add(*spaces));
    let len = len.ok_or_else(|| Error::overflow("new string is too long"))?;
    match len {
        0 => return Ok(super::empty()),
        1 if s.len() == 1 => return Ok(single(b' ' as u32)),
        _more => {}
    }
    let mut b = Buf::new(len, s.kind())?;
    for (r, spaces) in pieces {
        b.extend(s.slice(r));
        b.fill(b' ' as u32, spaces);
    }
    Ok(b.finish())
}
