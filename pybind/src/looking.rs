//! Who looks at something, on each thread: a dispatcher at arguments, which it asks for attributes to find types for
//! them, or at what Python is to run in place of its function. Python code runs for that, and where it calls the function
//! itself (a `__getattribute__`, the `__get__` of a descriptor), that call would look in turn, without end: Python makes
//! it.

use std::cell::RefCell;

thread_local! {
    /// By their addresses.
    static LOOKING: RefCell<Vec<usize>> = const { RefCell::new(vec![]) };
}

/// As long as it lives, somebody looks at something on this thread.
pub(crate) struct Looking;

impl Looking {
    pub(crate) fn begin(who: usize) -> Looking {
        LOOKING.with_borrow_mut(|all| all.push(who));
        Looking
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.with_borrow_mut(|all| all.pop());
    }
}

/// Whether they do.
pub(crate) fn looks(who: usize) -> bool {
    LOOKING.with_borrow(|all| all.contains(&who))
}
