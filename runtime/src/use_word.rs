//! Who uses a container that Python sees itself: a typed list, a typed dict. Calls that were given one say so
//! while they run, with all such containers in it: those that may change it want it for themselves. Nothing
//! here is asked by compiled code.
//!
//! Threads may begin uses at the same time where there is no GIL. Each says first what it wants and looks then
//! whether another one stands against it, so that two never go on; it may be that both give up.

use crate::{deque, dict, list};
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use tierup_core::layout::{Counted, Deque, Dict, List, Obj, SHOWN, USER};

type C = *mut Counted;

/// Python sees the container itself from now on.
///
/// # Safety
/// Of all functions here: the container is alive.
pub unsafe fn show(c: C) {
    // SAFETY: the container is alive, and its words are atomic.
    unsafe { (*c).users.fetch_or(SHOWN, Relaxed) };
}
/// Whether Python sees the container itself.
///
/// # Safety
/// See [`show`].
pub unsafe fn is_shown(c: C) -> bool {
    // SAFETY: the container is alive, and its words are atomic.
    unsafe { (*c).users.load(Relaxed) & SHOWN != 0 }
}
/// Whether a call runs that may change the container.
///
/// # Safety
/// See [`show`].
pub unsafe fn is_changed(c: C) -> bool {
    // SAFETY: the container is alive, and its words are atomic.
    unsafe { (*c).changer.load(Relaxed) != 0 }
}
/// Whether a call runs that was given the container.
///
/// # Safety
/// See [`show`].
pub unsafe fn is_used(c: C) -> bool {
    // SAFETY: as required of the caller.
    unsafe { is_changed(c) || (*c).users.load(Relaxed) >= USER }
}

/// Begins a use by the call whose frame lies at `by`; false where another use forbids it.
///
/// # Safety
/// See [`show`].
pub unsafe fn begin(c: C, changes: bool, by: usize) -> bool {
    // SAFETY: the container is alive, and its words are atomic.
    unsafe {
        if !changes {
            (*c).users.fetch_add(USER, SeqCst);
            let changer = (*c).changer.load(SeqCst);
            let free = changer == 0 || changer == by;
            if !free {
                (*c).users.fetch_sub(USER, Release);
            }
            return free;
        }
        match (*c).changer.compare_exchange(0, by, SeqCst, SeqCst) {
            Ok(_) if (*c).users.load(SeqCst) < USER => true,
            Ok(_) => {
                (*c).changer.store(0, Release);
                false
            }
            Err(changer) => changer == by && (*c).users.load(SeqCst) < USER,
        }
    }
}
/// Ends a use that was begun.
///
/// # Safety
/// See [`show`].
pub unsafe fn end(c: C, changes: bool) {
    // SAFETY: the container is alive, and its words are atomic.
    unsafe {
        if changes {
            (*c).changer.store(0, Release);
        } else {
            (*c).users.fetch_sub(USER, Release);
        }
    }
}

/// What a container is called.
///
/// # Safety
/// See [`show`].
pub unsafe fn name(c: C) -> &'static str {
    // SAFETY: containers begin as objects do.
    let is = |drop| unsafe { drops(c.cast(), drop) };
    if is(dict::drop_dict) {
        "dict"
    } else if is(deque::drop_deque) {
        "deque"
    } else {
        "list"
    }
}

unsafe fn drops(o: *mut Obj, by: unsafe extern "C" fn(*mut Obj)) -> bool {
    // SAFETY: the object is alive, as required of the caller.
    std::ptr::fn_addr_eq(unsafe { (*o).drop }, by)
}

/// A container and every list and dict in it, those in one only where `f` says so of it.
///
/// # Safety
/// See [`show`]; nobody changes a container of which `f` says so.
pub unsafe fn each(c: C, f: &mut dyn FnMut(C) -> bool) {
    if !f(c) {
        return;
    }
    // SAFETY: nobody changes the container, so what it is said to hold is there.
    unsafe {
        if drops(c.cast(), dict::drop_dict) {
            let d = c.cast::<Dict>();
            for i in dict::live(d) {
                each_in(dict::at(d, i), &(*d).entry.refs, f);
            }
        } else if drops(c.cast(), deque::drop_deque) {
            let d = c.cast::<Deque>();
            for i in 0..(*d).len {
                each_in(deque::at(d, i), &(*d).desc.refs, f);
            }
        } else {
            let l = c.cast::<List>();
            for i in 0..(*l).len {
                each_in(list::at(l, i), &(*l).desc.refs, f);
            }
        }
    }
}

/// Those that a value refers to.
unsafe fn each_in(value: *mut u8, refs: &[u32], f: &mut dyn FnMut(C) -> bool) {
    for offset in refs {
        // SAFETY: a reference lies there: null, or an object, which its destructor tells.
        unsafe {
            let o = value.add(*offset as usize).cast::<*mut Obj>().read();
            if !o.is_null()
                && (drops(o, list::drop_list) || drops(o, dict::drop_dict) || drops(o, deque::drop_deque))
            {
                each(o.cast(), f);
            }
        }
    }
}
