//! What matches patterns of Python's `re`: an engine of the run-time's own where it says the same, else Python's, which
//! the host asks.

mod engine;
mod program;

use crate::exc::{Res, or_raise};
use crate::host::{Regex, callbacks};
use crate::{Native, list};
use std::cell::Cell;
use tierup_core::desc;
use tierup_core::layout::{List, Str};
use tierup_core::ops::regexes::{Helpers, How};
use tierup_core::rt::{Ctx, P};
use tierup_core::types::Type;

thread_local! {
    /// Room for what a search finds; another one, which the host begins meanwhile, has its own.
    static NUMBERS: Cell<Vec<i64>> = const { Cell::new(Vec::new()) };
}

/// # Safety
/// Compiled code has written what it asks there, and the texts are live.
unsafe fn regex(pattern: *mut Str, text: *mut Str, asked: P) -> Regex {
    // SAFETY: as required of the caller.
    let [how, kinds, flags, pos, endpos] = unsafe { asked.cast::<[i64; 5]>().read() };
    let how = How::ALL[how.clamp(0, How::ALL.len() as i64 - 1) as usize];
    Regex { pattern, text, of_bytes: kinds & 1 != 0, in_bytes: kinds & 2 != 0, how, flags, pos, endpos }
}

/// # Safety
/// Both texts are live.
unsafe fn find(asked: &Regex, numbers: &mut Vec<i64>) -> Res<()> {
    // SAFETY: as required of the caller.
    match unsafe { engine::find(asked, numbers) } {
        Some(_) => Ok(()),
        None => (callbacks().find)(asked, numbers),
    }
}

/// # Safety
/// As for [`find`].
unsafe fn find_list(asked: &Regex) -> Res<*mut List> {
    let mut numbers = vec![];
    // SAFETY: as required of the caller.
    unsafe { find(asked, &mut numbers)? };
    let l = list::zeroed(desc::of(Type::int()), numbers.len() as i64)?;
    // SAFETY: a new list of so many integers.
    unsafe { std::ptr::copy_nonoverlapping(numbers.as_ptr(), (*l).data.cast(), numbers.len()) };
    Ok(l)
}

impl Helpers for Native {
    unsafe fn regex_find(ctx: Ctx, pattern: *mut Str, text: *mut Str, asked: P, groups: i64, out: P) -> i64 {
        // SAFETY: compiled code passes live texts, the live context of its thread, and room for so many numbers.
        unsafe {
            let asked = regex(pattern, text, asked);
            let mut numbers = NUMBERS.take();
            let found = find(&asked, &mut numbers).map(|()| {
                let n = numbers.len().min(2 * groups as usize + 3);
                std::ptr::copy_nonoverlapping(numbers.as_ptr(), out.cast(), n);
                i64::from(n > 0)
            });
            numbers.clear();
            NUMBERS.set(numbers);
            or_raise(ctx, found)
        }
    }
    unsafe fn regex_find_list(ctx: Ctx, pattern: *mut Str, text: *mut Str, asked: P) -> *mut List {
        // SAFETY: compiled code passes live texts and the live context of its thread.
        unsafe {
            let asked = regex(pattern, text, asked);
            or_raise(ctx, find_list(&asked))
        }
    }
    unsafe fn regex_finds_all(pattern: *mut Str, text: *mut Str, asked: P) -> i64 {
        // SAFETY: compiled code passes live texts.
        unsafe { i64::from(engine::finds_all(&regex(pattern, text, asked))) }
    }
}
