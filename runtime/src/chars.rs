//! Fixed-width text in arrays, NumPy's dtypes `U` and `S`: as objects, and from objects.

use crate::Native;
use crate::string::helpers::S;
use crate::string::{Chars, from_chars};
use tierup_core::ops::chars::Helpers;
use tierup_core::rt::P;

/// What there is of a text that NULs fill up.
fn filled<T: Copy + Default + PartialEq>(all: &[T]) -> &[T] {
    let end = all.iter().rposition(|c| *c != T::default()).map_or(0, |last| last + 1);
    &all[..end]
}

/// A text of its own. Elements are small; reading one is no place for an error.
fn made(text: Chars<'_>) -> S {
    from_chars(text).unwrap_or_else(|_| {
        std::alloc::handle_alloc_error(std::alloc::Layout::for_value(text.bytes()));
    })
}

impl Helpers for Native {
    unsafe fn chars_str(data: P, n: i64) -> S {
        let place = data.cast_const().cast::<u32>();
        // SAFETY: so many characters are there; in a packed record they may lie anywhere.
        let all: Vec<u32> = (0..n as usize).map(|i| unsafe { place.add(i).read_unaligned() }).collect();
        made(Chars::Four(filled(&all)))
    }
    unsafe fn chars_bytes(data: P, n: i64) -> S {
        // SAFETY: so many bytes are there.
        made(Chars::One(filled(unsafe { crate::raw_slice(data.cast_const(), n) })))
    }
    unsafe fn chars_set_str(s: S, data: P, n: i64) {
        // SAFETY: the caller holds the text.
        let text = unsafe { Chars::of(s) };
        let place = data.cast::<u32>();
        for i in 0..n as usize {
            let c = if i < text.len() { text.get(i) } else { 0 };
            // SAFETY: there is room for so many characters; in a packed record they may lie anywhere.
            unsafe { place.add(i).write_unaligned(c) }
        }
    }
    unsafe fn chars_set_bytes(s: S, data: P, n: i64) {
        // SAFETY: the caller holds the text.
        let text = unsafe { Chars::of(s) };
        for i in 0..n as usize {
            // SAFETY: there is room for so many bytes.
            unsafe { data.add(i).write(if i < text.len() { text.get(i) as u8 } else { 0 }) }
        }
    }
}
