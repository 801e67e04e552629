//! The objects of each thread that may be in rings ([`crate::cycles`]): which there are, in a list that each of
//! them has a place in.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tierup_core::layout::Instance;

/// The reference count of an object that another thread than its own has dropped: its own frees the memory.
pub(crate) const DROPPED: i64 = i64::MIN;

/// Whether any such object was ever made.
static ANY: AtomicBool = AtomicBool::new(false);
static THREADS: AtomicU32 = AtomicU32::new(1);

thread_local! {
    static NUMBER: u32 = THREADS.fetch_add(1, Ordering::Relaxed);
    /// Objects that this thread made and nobody has freed.
    static KNOWN: RefCell<Vec<*mut Instance>> = const { RefCell::new(Vec::new()) };
    /// Other threads may change what there is to look through.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

/// Whether there may be something to look for.
#[inline]
pub fn any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// How many objects this thread knows.
pub fn known() -> usize {
    KNOWN.with_borrow(Vec::len)
}

/// Does something while other threads run code with objects of this one: nothing is looked through meanwhile.
pub(crate) fn left_alone<R>(what: impl FnOnce() -> R) -> R {
    let before = BUSY.replace(true);
    let out = what();
    BUSY.set(before);
    out
}

/// The same from now on, or no longer; how it was before.
pub(crate) fn leave_alone(others: bool) -> bool {
    BUSY.replace(others)
}

/// Remembers an object that was just made.
///
/// # Safety
/// It is live, and known nowhere.
pub(crate) unsafe fn know(object: *mut Instance) {
    ANY.store(true, Ordering::Relaxed);
    KNOWN.with_borrow_mut(|known| {
        known.push(object);
        // SAFETY: as required of the caller.
        unsafe {
            (*object).place = known.len() as u32;
            (*object).owner = NUMBER.with(|n| *n);
        }
    });
}

/// Forgets an object that is being freed. Whether its memory may be freed here.
///
/// # Safety
/// Nobody refers to it.
pub(crate) unsafe fn forget(object: *mut Instance) -> bool {
    // SAFETY: as required of the caller.
    unsafe {
        let place = (*object).place as usize;
        if place == 0 {
            return true;
        }
        // A thread that ends has no list any more; nor does it look through one again.
        let own = NUMBER.try_with(|n| *n == (*object).owner).unwrap_or(false);
        if !own {
            (*object).obj.refs.store(DROPPED, Ordering::Release);
            return false;
        }
        KNOWN
            .try_with(|known| {
                let known = &mut *known.borrow_mut();
                known.swap_remove(place - 1);
                if let Some(moved) = known.get(place - 1) {
                    (**moved).place = place as u32;
                }
            })
            .is_ok()
    }
}

/// The objects of this thread that other threads have dropped, which are known no more.
pub(crate) fn dropped_elsewhere() -> Vec<*mut Instance> {
    KNOWN.with_borrow_mut(|known| {
        let mut gone = vec![];
        let mut k = 0;
        while let Some(object) = known.get(k).copied() {
            // SAFETY: the memory of a known object is there.
            unsafe {
                if (*object).obj.refs.load(Ordering::Acquire) == DROPPED {
                    gone.push(known.swap_remove(k));
                    continue;
                }
                (*object).place = k as u32 + 1;
            }
            k += 1;
        }
        gone
    })
}

/// All that this thread knows.
pub(crate) fn all() -> Vec<*mut Instance> {
    KNOWN.with_borrow(Vec::clone)
}

/// Whether other threads may change what there is to look through.
pub(crate) fn are_shared() -> bool {
    BUSY.get()
}
