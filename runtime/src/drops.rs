//! Dropping objects that hold objects of their sort. A chain of them may be as long as a program makes it, and
//! the thread that drops it may have little stack.

use std::cell::{Cell, RefCell};
use tierup_core::layout::Obj;

/// How many are dropped inside one another.
const NESTED: u32 = 64;

/// Frees an object and what only it holds.
type Free = unsafe fn(*mut Obj);

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Those that wait until the outermost is done.
    static WAITING: RefCell<Vec<(*mut Obj, Free)>> = const { RefCell::new(Vec::new()) };
}

/// Calls `free` with an object, now or when what is being dropped around it is done.
///
/// # Safety
/// Nobody refers to the object, and `free` is for objects of its sort.
pub(crate) unsafe fn with_little_stack(o: *mut Obj, free: Free) {
    let depth = DEPTH.get();
    // A thread that ends may have no list any more.
    if depth >= NESTED && WAITING.try_with(|w| w.borrow_mut().push((o, free))).is_ok() {
        return;
    }
    DEPTH.set(depth + 1);
    // SAFETY: as required of the caller, now and of those that waited.
    unsafe {
        free(o);
        if depth == 0 {
            while let Ok(Some((next, free))) = WAITING.try_with(|w| w.borrow_mut().pop()) {
                free(next);
            }
        }
    }
    DEPTH.set(depth);
}
