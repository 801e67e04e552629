//! What each thread is showing ([`tierup_core::ops::shown`]).

use crate::Native;
use std::cell::RefCell;
use tierup_core::layout::Obj;
use tierup_core::ops::shown::Helpers;

thread_local! {
    /// From the outermost object on.
    static SHOWN: RefCell<Vec<*mut Obj>> = const { RefCell::new(Vec::new()) };
}

impl Helpers for Native {
    unsafe fn show_begin(object: *mut Obj) -> i64 {
        SHOWN.with_borrow_mut(|shown| {
            let again = shown.contains(&object);
            if !again {
                shown.push(object);
            }
            i64::from(again)
        })
    }
    unsafe fn show_end() {
        SHOWN.with_borrow_mut(|shown| _ = shown.pop());
    }
}
