//! Looking for Ctrl-C in helpers that may run for seconds: they say how much they have done, and are told
//! when to give up. What they then leave behind is memory that somebody owns, its elements in any state; the
//! exception is pending.

use crate::object::wants_to_stop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use tierup_core::rt::Ctx;

/// Elements between two looks: about a tenth of a millisecond where memory is slow.
const WORK: i64 = 1 << 16;

pub(crate) struct Poll {
    ctx: Ctx,
    left: i64,
    stop: bool,
}

impl Poll {
    /// # Safety
    /// `ctx` is null, or the live context of this thread for as long as this is used.
    pub(crate) unsafe fn new(ctx: Ctx) -> Poll {
        Poll { ctx, left: WORK, stop: false }
    }
    /// For work that is short, or that nobody may stop.
    pub(crate) fn never() -> Poll {
        Poll { ctx: std::ptr::null_mut(), left: i64::MAX, stop: false }
    }

    /// Notes work on some elements; whether to stop.
    #[inline]
    pub(crate) fn worked(&mut self, elements: usize) -> bool {
        self.left -= elements as i64;
        if self.left > 0 {
            return false;
        }
        self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        self.left = WORK;
        // SAFETY: as required where this was made.
        self.stop |= !self.ctx.is_null() && unsafe { wants_to_stop(self.ctx) };
        self.stop
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop
    }

    /// Calls `f` for pieces of `n` elements, each by its start and length, until there are no more or it is
    /// time to stop.
    pub(crate) fn in_pieces(&mut self, n: usize, mut f: impl FnMut(usize, usize)) {
        let mut at = 0;
        while at < n && !self.stop {
            let piece = (n - at).min(WORK as usize);
            f(at, piece);
            self.worked(piece);
            at += piece;
        }
    }

    /// Runs a sort of `n` elements whose comparisons call `tick`; it is left in the middle when it is time to
    /// stop. (Sorts of the standard library may be left by a panic: the slice then holds its elements in some
    /// order.)
    pub(crate) fn sorting(&mut self, n: usize, sort: impl FnOnce(&mut dyn FnMut())) {
        struct Stop;
        if n < WORK as usize || self.ctx.is_null() {
            return sort(&mut || {});
        }
        let left = catch_unwind(AssertUnwindSafe(|| {
            sort(&mut || {
                if self.worked(1) {
                    resume_unwind(Box::new(Stop))
                }
            })
        }));
        if let Err(p) = left
            && !p.is::<Stop>()
        {
            resume_unwind(p)
        }
    }
}
