//! How much is done with types, by which a compilation that nobody insists on is given up: the types of objects that
//! lead to many others grow with every way through them.

use std::cell::Cell;

thread_local! {
    /// Types that were made, or made again.
    static DONE: Cell<u64> = const { Cell::new(0) };
    static LIMIT: Cell<u64> = const { Cell::new(u64::MAX) };
}

pub(super) fn count() {
    DONE.set(DONE.get() + 1);
}

/// Whether this thread has done more than it may.
pub(crate) fn is_too_much() -> bool {
    DONE.get() > LIMIT.get()
}

/// Lets this thread make so many types at most, until what this gives is dropped.
pub(crate) fn at_most(types: u64) -> Limited {
    Limited(LIMIT.replace(DONE.get().saturating_add(types).min(LIMIT.get())))
}

pub(crate) struct Limited(u64);

impl Drop for Limited {
    fn drop(&mut self) {
        LIMIT.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_within_work_is_part_of_it() {
        let _outer = at_most(3);
        {
            let _inner = at_most(100);
            (0..3).for_each(|_| count());
            assert!(!is_too_much());
            count();
            assert!(is_too_much());
        }
        assert!(is_too_much());
    }
}
