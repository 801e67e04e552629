//! What of a function runs in chunks, on several threads, as far as it has been written.

use crate::lir::Func;
use crate::ops::kernel::IN_PIECES;

/// What of the code that is being written runs in parallel.
#[derive(Default)]
pub struct ChunkedLoops {
    /// The operation in progress may run in parallel.
    pub(super) wanted: bool,
    /// It does, in code or in a kernel.
    pub(super) used: bool,
    /// The functions made so far: bodies and their wrappers.
    pub made: Vec<Func>,
}

impl ChunkedLoops {
    /// Begins an operation, which may run in parallel or not.
    pub(crate) fn begin(&mut self, wanted: bool) {
        (self.wanted, self.used) = (wanted, false);
    }
    /// The operation in progress holds locks, which those who help with it would not.
    pub(crate) fn forgo(&mut self) {
        self.wanted = false;
    }
    /// Whether the operation in progress may run in parallel.
    pub(crate) fn wanted(&self) -> bool {
        self.wanted
    }
    /// Whether the operation in progress runs in parallel, as far as it has been written.
    pub(crate) fn used(&self) -> bool {
        self.used
    }
    /// What a kernel of the run-time is told, beside its first number.
    pub(crate) fn flag(&mut self) -> i64 {
        self.used |= self.wanted;
        if self.wanted { IN_PIECES } else { 0 }
    }
}
