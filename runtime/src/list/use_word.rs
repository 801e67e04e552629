//! Who uses a list that Python sees itself. Calls that were given one say so while they run, with all lists
//! in it: those that may change it want it for themselves. Nothing here is asked by compiled code.
//!
//! Threads may begin uses at the same time where there is no GIL. Each says first what it wants and looks then
//! whether another one stands against it, so that two never go on; it may be that both give up.

use super::L;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use tierup_core::layout::{List, Obj, SHOWN, USER};

/// Python sees the list itself from now on.
///
/// # Safety
/// Of all functions here: the list is alive.
pub unsafe fn show(l: L) {
    // SAFETY: the list is alive, and its words are atomic.
    unsafe { (*l).users.fetch_or(SHOWN, Relaxed) };
}
/// Whether Python sees the list itself.
///
/// # Safety
/// See [`show`].
pub unsafe fn is_shown(l: L) -> bool {
    // SAFETY: the list is alive, and its words are atomic.
    unsafe { (*l).users.load(Relaxed) & SHOWN != 0 }
}
/// Whether a call runs that may change the list.
///
/// # Safety
/// See [`show`].
pub unsafe fn is_changed(l: L) -> bool {
    // SAFETY: the list is alive, and its words are atomic.
    unsafe { (*l).changer.load(Relaxed) != 0 }
}
/// Whether a call runs that was given the list.
///
/// # Safety
/// See [`show`].
pub unsafe fn is_used(l: L) -> bool {
    // SAFETY: as required of the caller.
    unsafe { is_changed(l) || (*l).users.load(Relaxed) >= USER }
}

/// Begins a use by the call whose frame lies at `by`; false where another use forbids it.
///
/// # Safety
/// See [`show`].
pub unsafe fn begin(l: L, changes: bool, by: usize) -> bool {
    // SAFETY: the list is alive, and its words are atomic.
    unsafe {
        if !changes {
            (*l).users.fetch_add(USER, SeqCst);
            let changer = (*l).changer.load(SeqCst);
            let free = changer == 0 || changer == by;
            if !free {
                (*l).users.fetch_sub(USER, Release);
            }
            return free;
        }
        match (*l).changer.compare_exchange(0, by, SeqCst, SeqCst) {
            Ok(_) if (*l).users.load(SeqCst) < USER => true,
            Ok(_) => {
                (*l).changer.store(0, Release);
                false
            }
            Err(changer) => changer == by && (*l).users.load(SeqCst) < USER,
        }
    }
}
/// Ends a use that was begun.
///
/// # Safety
/// See [`show`].
pub unsafe fn end(l: L, changes: bool) {
    // SAFETY: the list is alive, and its words are atomic.
    unsafe {
        if changes {
            (*l).changer.store(0, Release);
        } else {
            (*l).users.fetch_sub(USER, Release);
        }
    }
}

/// A list and every list in it, the lists in one only where `f` says so of it.
///
/// # Safety
/// See [`show`]; nobody changes a list of which `f` says so.
pub unsafe fn each(l: L, f: &mut dyn FnMut(L) -> bool) {
    if !f(l) {
        return;
    }
    // SAFETY: nobody changes the list, so elements below its length are there; what they refer to is null or
    // an object, and one with that destructor is a list.
    unsafe {
        let desc = (*l).desc;
        for i in 0..(*l).len {
            for offset in desc.refs.iter() {
                let o = super::at(l, i).add(*offset as usize).cast::<*mut Obj>().read();
                if !o.is_null()
                    && std::ptr::fn_addr_eq((*o).drop, super::drop_list as unsafe extern "C" fn(*mut Obj))
                {
                    each(o.cast::<List>(), f);
                }
            }
        }
    }
}
