//! Searching and replacing. All of it comes down to [`find`] and [`rfind`]: byte search (SIMD) on code units
//! of equal width.

use super::{Buf, Chars, adjust, concat, each, kind_for};
use crate::exc::{Error, Res};
use memchr::memmem;
use tierup_core::exc::Class;
use tierup_core::layout::Str;

/// The code units of `needle` as `kind` bytes each; None when it cannot occur in a string of that kind.
fn widened(needle: Chars<'_>, kind: usize) -> Option<std::borrow::Cow<'_, [u8]>> {
    if needle.kind() == kind {
        return Some(needle.bytes().into());
    }
    if needle.kind() > kind && needle.iter().any(|c| kind_for(c) > kind) {
        return None;
    }
    Some(needle.iter().flat_map(|c| c.to_le_bytes().into_iter().take(kind)).collect::<Vec<_>>().into())
}

/// Position of the first occurrence; an empty needle occurs at 0.
pub(crate) fn find(hay: Chars<'_>, needle: Chars<'_>) -> Option<usize> {
    if needle.is_empty() {
        return Some(0);
    }
    if needle.len() > hay.len() {
        return None;
    }
    let kind = hay.kind();
    let pattern = widened(needle, kind)?;
    if let (1, [byte]) = (kind, pattern.as_ref()) {
        return memchr::memchr(*byte, hay.bytes());
    }
    let finder = memmem::Finder::new(pattern.as_ref());
    let bytes = hay.bytes();
    let mut from = 0;
    while let Some(at) = finder.find(&bytes[from..]) {
        let at = from + at;
        // A hit that starts in the middle of a code unit is none.
        if at % kind == 0 {
            return Some(at / kind);
        }
        from = at + 1;
    }
    None
}

/// Position of the last occurrence; an empty needle occurs at the end.
pub(crate) fn rfind(hay: Chars<'_>, needle: Chars<'_>) -> Option<usize> {
    if needle.is_empty() {
        return Some(hay.len());
    }
    if needle.len() > hay.len() {
        return None;
    }
    let kind = hay.kind();
    let pattern = widened(needle, kind)?;
    if let (1, [byte]) = (kind, pattern.as_ref()) {
        return memchr::memrchr(*byte, hay.bytes());
    }
    let finder = memmem::FinderRev::new(pattern.as_ref());
    let mut bytes = hay.bytes();
    while let Some(at) = finder.rfind(bytes) {
        if at % kind == 0 {
            return Some(at / kind);
        }
        bytes = &bytes[..at + pattern.len() - 1];
    }
    None
}

/// `find` or `rfind` within Python bounds; -1 where there is no occurrence.
pub(crate) fn find_in(
    hay: Chars<'_>,
    needle: Chars<'_>,
    start: i64,
    end: i64,
    search: fn(Chars<'_>, Chars<'_>) -> Option<usize>,
) -> i64 {
    let (start, end) = adjust(start, end, hay.len());
    if start > end {
        return -1;
    }
    search(hay.slice(start..end), needle).map_or(-1, |i| (start + i) as i64)
}

pub(crate) fn not_found() -> Error {
    Error::value("substring not found")
}

/// Positions of the occurrences that do not overlap, at most `max` of them.
pub(crate) fn occurrences(hay: Chars<'_>, needle: Chars<'_>, max: usize) -> Vec<usize> {
    let (mut out, mut from) = (vec![], 0);
    while out.len() < max
        && let Some(i) = find(hay.slice(from..hay.len()), needle)
    {
        out.push(from + i);
        from += i + needle.len();
    }
    out
}

pub(crate) fn count_in(hay: Chars<'_>, needle: Chars<'_>, start: i64, end: i64) -> i64 {
    let (start, end) = adjust(start, end, hay.len());
    if start > end {
        return 0;
    }
    if needle.is_empty() {
        return (end - start) as i64 + 1;
    }
    let hay = hay.slice(start..end);
    if let (Chars::One(h), Chars::One([byte])) = (hay, needle) {
        return memchr::memchr_iter(*byte, h).count() as i64;
    }
    occurrences(hay, needle, usize::MAX).len() as i64
}

fn same(a: Chars<'_>, b: Chars<'_>) -> bool {
    a.len() == b.len() && if a.kind() == b.kind() { a.bytes() == b.bytes() } else { a.iter().eq(b.iter()) }
}

pub(crate) fn starts_with(s: Chars<'_>, prefix: Chars<'_>, start: i64, end: i64) -> bool {
    let (start, end) = adjust(start, end, s.len());
    start <= end && end - start >= prefix.len() && same(s.slice(start..start + prefix.len()), prefix)
}
pub(crate) fn ends_with(s: Chars<'_>, suffix: Chars<'_>, start: i64, end: i64) -> bool {
    let (start, end) = adjust(start, end, s.len());
    start <= end && end - start >= suffix.len() && same(s.slice(end - suffix.len()..end), suffix)
}

/// `s.replace(old, new, max)`; None means that nothing changes.
pub(crate) fn replace(s: Chars<'_>, old: Chars<'_>, new: Chars<'_>, max: i64) -> Res<Option<*mut Str>> {
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    if max == 0 || s.len() < old.len() || same(old, new) {
        return Ok(None);
    }
    if old.is_empty() {
        // Before every character and at the end.
        let times = max.min(s.len() + 1);
        let mut parts = Vec::with_capacity(2 * times + 1);
        for i in 0..times {
            parts.push(new);
            if i < s.len() {
                parts.push(s.slice(i..i + 1));
            }
        }
        if times <= s.len() {
            parts.push(s.slice(times..s.len()));
        }
        return concat(&parts).map(Some);
    }
    let hits = occurrences(s, old, max);
    if hits.is_empty() {
        return Ok(None);
    }
    let grown = (new.len() as i128 - old.len() as i128) * hits.len() as i128 + s.len() as i128;
    let len = usize::try_from(grown).map_err(|_| Error::bare(Class::MemoryError))?;
    if len == 0 {
        return Ok(Some(super::empty()));
    }
    // The kind may shrink: the only wide characters may be those that were replaced.
    let rest = if s.kind() == 1 { 1 } else { kind_of_rest(s, old.len(), &hits) };
    let mut b = Buf::new(len, if new.is_empty() { rest } else { rest.max(new.kind()) })?;
    splice(s, old.len(), new, &hits, |part| b.extend(part));
    Ok(Some(b.finish()))
}

/// Calls `f` on the parts of the replaced string, in order.
fn splice<'a>(s: Chars<'a>, old_len: usize, new: Chars<'a>, hits: &[usize], mut f: impl FnMut(Chars<'a>)) {
    let mut from = 0;
    for &i in hits {
        f(s.slice(from..i));
        f(new);
        from = i + old_len;
    }
    f(s.slice(from..s.len()));
}

fn kind_of_rest(s: Chars<'_>, old_len: usize, hits: &[usize]) -> usize {
    let mut max = 0;
    splice(s, old_len, Chars::One(&[]), hits, |part| {
        max = max.max(each!(part, |u| u.iter().copied().max().map_or(0, |c| c as u32)))
    });
    kind_for(max)
}
