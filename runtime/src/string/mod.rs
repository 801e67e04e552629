//! String objects. A string's `kind` is the narrowest that holds its code points, as in CPython, so equal
//! strings have equal bytes.
//!
//! [`Chars`] is a borrowed view, [`Buf`] a string being built. [`search`], [`split`], [`case`], [`number`],
//! [`format`] and [`percent`] are written on these two, and [`helpers`] binds them to the declared names. [`unidata`]
//! holds Unicode properties.

pub(crate) mod case;
pub(crate) mod format;
pub(crate) mod helpers;
pub(crate) mod number;
mod owned;
pub(crate) mod parse;
mod percent;
pub(crate) mod search;
pub(crate) mod split;
#[cfg(test)]
mod tests;
mod unidata;

use crate::exc::{Error, Res};
use crate::object::{allocate, count, try_allocate};
pub(crate) use owned::Owned;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use tierup_core::exc::Class;
use tierup_core::layout::{Obj, Str};

/// A borrowed string, by the width of its code units.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chars<'a> {
    One(&'a [u8]),
    Two(&'a [u16]),
    Four(&'a [u32]),
}

/// Runs an expression on the code units, whatever their width.
macro_rules! each {
    ($chars:expr, |$s:ident| $e:expr) => {
        match $chars {
            Chars::One($s) => $e,
            Chars::Two($s) => $e,
            Chars::Four($s) => $e,
        }
    };
}
pub(crate) use each;

impl<'a> Chars<'a> {
    /// A view of a live string.
    ///
    /// # Safety
    /// `s` must stay alive for `'a`.
    pub(crate) unsafe fn of(s: *const Str) -> Chars<'a> {
        // SAFETY: a live string has `len` aligned code units of `kind` bytes.
        unsafe {
            let (data, n) = ((*s).data, (*s).len as usize);
            match (*s).kind {
                1 => Chars::One(std::slice::from_raw_parts(data, n)),
                2 => Chars::Two(std::slice::from_raw_parts(data.cast(), n)),
                _ => Chars::Four(std::slice::from_raw_parts(data.cast(), n)),
            }
        }
    }
    pub(crate) fn len(self) -> usize {
        each!(self, |s| s.len())
    }
    pub(crate) fn is_empty(self) -> bool {
        self.len() == 0
    }
    pub(crate) fn kind(self) -> usize {
        match self {
            Chars::One(_) => 1,
            Chars::Two(_) => 2,
            Chars::Four(_) => 4,
        }
    }
    pub(crate) fn get(self, i: usize) -> u32 {
        match self {
            Chars::One(s) => s[i] as u32,
            Chars::Two(s) => s[i] as u32,
            Chars::Four(s) => s[i],
        }
    }
    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone + 'a {
        (0..self.len()).map(move |i| self.get(i))
    }
    pub(crate) fn slice(self, r: std::ops::Range<usize>) -> Chars<'a> {
        match self {
            Chars::One(s) => Chars::One(&s[r]),
            Chars::Two(s) => Chars::Two(&s[r]),
            Chars::Four(s) => Chars::Four(&s[r]),
        }
    }
    /// The bytes of the code units.
    pub(crate) fn bytes(self) -> &'a [u8] {
        // SAFETY: integers may be read as bytes.
        each!(self, |s| unsafe { std::slice::from_raw_parts(s.as_ptr().cast(), size_of_val(s)) })
    }
    /// The kind that holds these code points, which a part of a wide string may not need.
    fn needed_kind(self) -> usize {
        match self {
            Chars::One(_) => 1,
            Chars::Two(s) => {
                if s.iter().all(|c| *c < 0x100) {
                    1
                } else {
                    2
                }
            }
            Chars::Four(s) => kind_for(s.iter().copied().max().unwrap_or(0)),
        }
    }
    pub(crate) fn is_ascii(self) -> bool {
        matches!(self, Chars::One(s) if s.is_ascii())
    }
    /// UTF-8 text; lone surrogates become U+FFFD.
    pub(crate) fn text(self) -> String {
        self.iter().map(|c| char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }
    pub(crate) fn equals(self, other: Chars<'_>) -> bool {
        self.kind() == other.kind() && self.bytes() == other.bytes()
    }
}

/// The narrowest kind for a greatest code point.
pub(crate) fn kind_for(max: u32) -> usize {
    if max < 0x100 {
        1
    } else if max < 0x10000 {
        2
    } else {
        4
    }
}

const HEADER: usize = size_of::<Str>();

unsafe extern "C" fn drop_inline(o: *mut Obj) {
    count(-1);
    // SAFETY: `o` was made by `new_raw`, in one allocation with its code units.
    unsafe { libc::free(o.cast()) };
}

/// A string whose code units are still to be written.
fn new_raw(len: usize, kind: usize) -> Res<*mut Str> {
    let total = len.checked_mul(kind).and_then(|b| b.checked_add(HEADER));
    // Up to here the size comes from constants and numbers, and failing is not worth an error path.
    let p = if len <= 64 { allocate(HEADER + len * kind) } else { try_allocate(total)? };
    count(1);
    // SAFETY: the allocation holds the header and the code units behind it.
    unsafe {
        let s = p.cast::<Str>();
        s.write(Str {
            obj: Obj { refs: AtomicI64::new(1), drop: drop_inline },
            len: len as i64,
            kind: kind as i64,
            data: p.add(HEADER),
            hash: AtomicU64::new(0),
        });
        Ok(s)
    }
}

/// The 256 single-character strings of Latin-1 and the empty string, immortal.
struct Singles {
    chars: [usize; 256],
    empty: usize,
}
static SINGLES: LazyLock<Singles> = LazyLock::new(|| {
    let one = |c: usize| tierup_core::intern::string(char::from(c as u8).encode_utf8(&mut [0; 4])) as usize;
    Singles { chars: std::array::from_fn(one), empty: tierup_core::intern::string("") as usize }
});

pub(crate) fn empty() -> *mut Str {
    SINGLES.empty as *mut Str
}
/// A string of one character.
pub(crate) fn single(c: u32) -> *mut Str {
    if let Some(s) = SINGLES.chars.get(c as usize) {
        return *s as *mut Str;
    }
    let mut b = Buf::new(1, kind_for(c)).unwrap_or_else(|_| unreachable!("one character always fits"));
    b.push(c);
    b.finish()
}

/// A string under construction: of known length and kind, filled from the front.
pub(crate) struct Buf {
    s: *mut Str,
    at: usize,
}

impl Buf {
    pub(crate) fn new(len: usize, kind: usize) -> Res<Buf> {
        Ok(Buf { s: new_raw(len, kind)?, at: 0 })
    }
    fn room(&self) -> usize {
        // SAFETY: `s` is owned.
        unsafe { (*self.s).len as usize - self.at }
    }
    /// Appends a character, which the kind must hold.
    pub(crate) fn push(&mut self, c: u32) {
        self.fill(c, 1);
    }
    pub(crate) fn fill(&mut self, c: u32, n: usize) {
        assert!(n <= self.room(), "string buffer overrun");
        // SAFETY: there is room for `n` code units from `at`.
        unsafe {
            let data = (*self.s).data;
            match (*self.s).kind {
                1 => std::slice::from_raw_parts_mut(data.add(self.at), n).fill(c as u8),
                2 => (0..n).for_each(|i| data.cast::<u16>().add(self.at + i).write(c as u16)),
                _ => (0..n).for_each(|i| data.cast::<u32>().add(self.at + i).write(c)),
            }
        }
        self.at += n;
    }
    /// Appends characters of the same or a narrower kind, or such that fit although their kind is wider.
    pub(crate) fn extend(&mut self, chars: Chars<'_>) {
        assert!(chars.len() <= self.room(), "string buffer overrun");
        // SAFETY: there is room for all code units from `at`.
        unsafe {
            let (data, kind) = ((*self.s).data, (*self.s).kind as usize);
            if kind == chars.kind() {
                let bytes = chars.bytes();
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.add(self.at * kind), bytes.len());
            } else {
                each!(chars, |units| for (i, c) in units.iter().enumerate() {
                    match kind {
                        1 => data.add(self.at + i).write(*c as u8),
                        2 => data.cast::<u16>().add(self.at + i).write(*c as u16),
                        _ => data.cast::<u32>().add(self.at + i).write(*c as u32),
                    }
                });
            }
        }
        self.at += chars.len();
    }
    pub(crate) fn finish(self) -> *mut Str {
        assert_eq!(self.room(), 0, "string buffer not filled");
        let s = self.s;
        std::mem::forget(self);
        s
    }
}
impl Drop for Buf {
    fn drop(&mut self) {
        // SAFETY: an unfinished buffer owns its string, of which nobody else knows.
        unsafe { crate::object::release(self.s.cast()) }
    }
}

/// A new string of these characters, in the narrowest kind.
pub(crate) fn from_chars(chars: Chars<'_>) -> Res<*mut Str> {
    match chars.len() {
        0 => return Ok(empty()),
        1 => return Ok(single(chars.get(0))),
        _more => {}
    }
    let mut b = Buf::new(chars.len(), chars.needed_kind())?;
    b.extend(chars);
    Ok(b.finish())
}
/// A new string of UTF-8 text.
pub(crate) fn from_text(text: &str) -> Res<*mut Str> {
    if text.is_ascii() {
        return from_chars(Chars::One(text.as_bytes()));
    }
    from_chars(Chars::Four(&text.chars().map(|c| c as u32).collect::<Vec<_>>()))
}

/// Another reference to a string.
///
/// # Safety
/// `s` must be live.
pub(crate) unsafe fn share(s: *mut Str) -> *mut Str {
    // SAFETY: as required of the caller.
    unsafe { crate::object::retain(s.cast()) };
    s
}

/// The parts, one after the other.
pub(crate) fn concat(parts: &[Chars<'_>]) -> Res<*mut Str> {
    let mut len = 0usize;
    for p in parts {
        len = len.checked_add(p.len()).ok_or_else(|| Error::bare(Class::MemoryError))?;
    }
    if len == 0 {
        return Ok(empty());
    }
    let mut b =
        Buf::new(len, parts.iter().filter(|p| !p.is_empty()).map(|p| p.needed_kind()).max().unwrap_or(1))?;
    for p in parts {
        b.extend(*p);
    }
    Ok(b.finish())
}

pub(crate) fn repeat(chars: Chars<'_>, n: i64) -> Res<*mut Str> {
    if n <= 0 || chars.is_empty() {
        return Ok(empty());
    }
    let total = chars.len().checked_mul(n as usize).ok_or_else(|| Error::bare(Class::MemoryError))?;
    let mut b = Buf::new(total, chars.needed_kind())?;
    if chars.len() == 1 {
        b.fill(chars.get(0), n as usize);
    } else {
        (0..n).for_each(|_| b.extend(chars));
    }
    Ok(b.finish())
}

/// The characters of an adjusted slice.
pub(crate) fn slice(chars: Chars<'_>, start: i64, step: i64, count: i64) -> Res<*mut Str> {
    if count <= 0 {
        return Ok(empty());
    }
    let (start, count) = (start as usize, count as usize);
    if step == 1 {
        return from_chars(chars.slice(start..start + count));
    }
    let at = |i: usize| (start as i64 + i as i64 * step) as usize;
    match chars {
        Chars::One(s) => from_chars(Chars::One(&(0..count).map(|i| s[at(i)]).collect::<Vec<_>>())),
        Chars::Two(s) => from_chars(Chars::Two(&(0..count).map(|i| s[at(i)]).collect::<Vec<_>>())),
        Chars::Four(s) => from_chars(Chars::Four(&(0..count).map(|i| s[at(i)]).collect::<Vec<_>>())),
    }
}

/// Bounds of a search as Python adjusts them. The start may lie past the end.
pub(crate) fn adjust(start: i64, end: i64, len: usize) -> (usize, usize) {
    let len = len as i64;
    let wrap = |i: i64| if i < 0 { (i + len).max(0) } else { i };
    (wrap(start) as usize, wrap(end).min(len) as usize)
}

static HASH_KEY: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
/// Sets the key of `hash(str)`: the first 16 bytes of CPython's `_Py_HashSecret`.
pub fn set_hash_key(k0: u64, k1: u64) {
    HASH_KEY[0].store(k0, Ordering::Relaxed);
    HASH_KEY[1].store(k1, Ordering::Relaxed);
}

/// CPython's `hash(str)`: SipHash-1-3 over the code units; the empty string hashes to 0, and -1 is taken.
pub(crate) fn hash(chars: Chars<'_>) -> i64 {
    if chars.is_empty() {
        return 0;
    }
    match siphash13(HASH_KEY[0].load(Ordering::Relaxed), HASH_KEY[1].load(Ordering::Relaxed), chars.bytes())
        as i64
    {
        -1 => -2,
        h => h,
    }
}

fn siphash13(k0: u64, k1: u64, bytes: &[u8]) -> u64 {
    fn round(v: &mut [u64; 4]) {
        v[0] = v[0].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[2] = v[2].rotate_left(32);
    }
    let mut v =
        [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573];
    let mut words = bytes.chunks_exact(8);
    for w in &mut words {
        let m = u64::from_le_bytes(w.try_into().unwrap_or([0; 8]));
        v[3] ^= m;
        round(&mut v);
        v[0] ^= m;
    }
    let mut last = [0u8; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    let m = u64::from_le_bytes(last) | (bytes.len() as u64) << 56;
    v[3] ^= m;
    round(&mut v);
    v[0] ^= m;
    v[2] ^= 0xff;
    for _ in 0..3 {
        round(&mut v);
    }
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

/// `repr` of a string, with `ascii` also escaping everything past ASCII.
pub(crate) fn repr(chars: Chars<'_>, ascii: bool) -> Vec<u32> {
    let (single, double) =
        chars.iter().fold((false, false), |(s, d), c| (s || c == b'\'' as u32, d || c == b'"' as u32));
    let quote = if single && !double { b'"' } else { b'\'' } as u32;
    let mut out = Vec::with_capacity(chars.len() + 2);
    out.push(quote);
    for c in chars.iter() {
        match c {
            _ if c == quote || c == b'\\' as u32 => out.extend([b'\\' as u32, c]),
            9 => push_text(&mut out, "\\t"),
            10 => push_text(&mut out, "\\n"),
            13 => push_text(&mut out, "\\r"),
            32..127 => out.push(c),
            _ if !ascii && c > 127 && case::is_printable(c) => out.push(c),
            _ => push_escape(&mut out, c),
        }
    }
    out.push(quote);
    out
}

/// `repr` of bytes, whose code points these are.
pub(crate) fn bytes_repr(bytes: Chars<'_>) -> Vec<u32> {
    let mut out = vec![u32::from(b'b')];
    out.extend(repr(bytes, true));
    out
}

fn push_text(out: &mut Vec<u32>, text: &str) {
    out.extend(text.bytes().map(u32::from));
}

/// A character by its code, as `repr` writes it.
fn push_escape(out: &mut Vec<u32>, c: u32) {
    push_text(out, &escape(c));
}

/// The escape that stands for a character.
pub(crate) fn escape(c: u32) -> String {
    match c {
        0..0x100 => format!("\\x{c:02x}"),
        0x100..0x10000 => format!("\\u{c:04x}"),
        _ => format!("\\U{c:08x}"),
    }
}

/// A text with escapes for what is not ASCII in it, and without quotes: `ascii` of values that contain texts.
pub(crate) fn escaped(chars: Chars<'_>) -> Vec<u32> {
    let mut out = Vec::with_capacity(chars.len());
    for c in chars.iter() {
        if c < 128 { out.push(c) } else { push_escape(&mut out, c) }
    }
    out
}
