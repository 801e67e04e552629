//! What every heap object starts with, and strings: what descriptors of types need to know.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};

/// Header of every heap object.
#[repr(C)]
pub struct Obj {
    pub refs: AtomicI64,
    /// Frees the object; called when `refs` falls to zero.
    pub drop: unsafe extern "C" fn(*mut Obj),
}

/// Adds a reference; null is allowed.
///
/// # Safety
/// `o` must be null or live.
#[inline]
pub unsafe fn retain(o: *mut Obj) {
    // SAFETY: as required of the caller. Constants are left alone, so that threads do not fight over their
    // counts.
    unsafe {
        if !o.is_null() && (*o).refs.load(Ordering::Relaxed) < IMMORTAL / 2 {
            (*o).refs.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Drops an owned reference; null is allowed.
///
/// # Safety
/// `o` must be null or an owned reference, which the caller gives up.
#[inline]
pub unsafe fn release(o: *mut Obj) {
    if o.is_null() {
        return;
    }
    // SAFETY: as required of the caller. The owner of the only reference needs no atomic decrement: nobody
    // else can see the object.
    unsafe {
        let n = (*o).refs.load(Ordering::Acquire);
        if n >= IMMORTAL / 2 {
            return;
        }
        if n == 1 {
            return ((*o).drop)(o);
        }
        if (*o).refs.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            ((*o).drop)(o);
        }
    }
}

/// Reference counts from half of this on are never changed: the object is a constant that lives for ever.
pub const IMMORTAL: i64 = 1 << 62;

/// An immutable string of `len` code points, each `kind` (1, 2 or 4) bytes, as CPython stores them.
#[repr(C)]
pub struct Str {
    pub obj: Obj,
    pub len: i64,
    pub kind: i64,
    /// First code point: inline after the header, or in memory kept alive elsewhere.
    pub data: *mut u8,
    /// Its hash in tables ([`crate::desc::hash::string`]) once one has asked for it; 0 until then.
    pub hash: AtomicU64,
}
