//! Tuples of any length: lists that nobody changes. What makes them gives one that is there already where CPython
//! does.

use crate::Native;
use crate::exc::{Res, or_raise};
use crate::list;
use crate::object::retain;
use tierup_core::desc::TypeDesc;
use tierup_core::layout::List;
use tierup_core::ops::var_tuple::Helpers;
use tierup_core::rt::Ctx;

type T = *mut List;

/// A new one without members, with room for so many, that whoever makes it fills.
pub fn empty(desc: &'static TypeDesc, room: i64) -> Res<T> {
    list::new(desc, room)
}

/// A new one of copies of values, with references of its own.
///
/// # Safety
/// `n` live values of the type that `desc` describes lie at `data`.
pub unsafe fn of(desc: &'static TypeDesc, data: *const u8, n: i64) -> Res<T> {
    let t = list::new(desc, n)?;
    // SAFETY: as required of the caller; the list is new and has the room.
    unsafe {
        let bytes = (n.max(0) * desc.size) as usize;
        if bytes > 0 {
            std::ptr::copy_nonoverlapping(data, (*t).data, bytes);
        }
        (*t).len = n.max(0);
        desc.retain((*t).data, (*t).len);
    }
    Ok(t)
}

/// The tuple itself, once more.
///
/// # Safety
/// It is live.
unsafe fn same(t: T) -> T {
    // SAFETY: as required of the caller.
    unsafe { retain(t.cast()) };
    t
}

impl Helpers for Native {
    unsafe fn tuple_slice(ctx: Ctx, t: T, start: i64, step: i64, count: i64) -> T {
        // SAFETY: compiled code holds a reference, and has adjusted the slice; the context is the thread's own.
        unsafe {
            if step == 1 && count == (*t).len {
                return same(t);
            }
            or_raise(ctx, list::slice(t, start, step, count))
        }
    }
    unsafe fn tuple_concat(ctx: Ctx, a: T, b: T) -> T {
        // SAFETY: compiled code holds references to both, which have one type.
        unsafe {
            match ((*a).len, (*b).len) {
                (0, _) => same(b),
                (_, 0) => same(a),
                _ => or_raise(ctx, list::concat(a, b)),
            }
        }
    }
    unsafe fn tuple_repeat(ctx: Ctx, t: T, n: i64) -> T {
        // SAFETY: compiled code holds a reference.
        unsafe {
            if n == 1 || (*t).len == 0 {
                return same(t);
            }
            or_raise(ctx, list::repeat(t, n))
        }
    }
}
