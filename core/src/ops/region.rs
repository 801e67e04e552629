//! What compiled code asks of the run-time about parallel regions: to run one, the locks of lists that its
//! iterations share, and how many threads there are.

use super::OpDef;
use crate::desc::TypeDesc;
use crate::layout::List;
use crate::rt::{Ctx, P};

/// How the pieces of a region run: at the same time, with random numbers of their own, or one after the
/// other; or at the same time, and after an exception again as one; or at the same time, as pieces of an
/// operation on arrays, for which the chunk size of loops means nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Together {
    Plain = 0,
    Drawing = 1,
    Alone = 2,
    Twice = 3,
    Array = 4,
}

crate::runtime_fns! {
    /// Helpers of parallel loops.
    trait Helpers;
    /// Runs a body for the pieces of the range `first, end, step`: `word` holds its wrapper's address, `args`
    /// its `count` argument slots, of which the first two take the bounds of a piece. Gives the list of the
    /// results, which `desc` describes, or null where that is null. Where the body `draws`
    /// random numbers (1), each piece has streams of its own; where it is 2 this thread runs all pieces in
    /// order; where it is 3 and one fails, all of it runs again as one piece, with 1 in the third slot,
    /// unless that is there already; where it is 4 an operation on arrays divides itself, whatever chunk size
    /// loops have. Each piece has `own` elements to itself, which limits how many there are. `lists` has a
    /// byte for each slot, 1 where it is a list, which nobody may make longer or shorter meanwhile; null where
    /// no slot is one. What must not share memory is said in `apart` ([`super::apart`]), null where nothing
    /// is; where it does, all of it is one piece, and its third slot says so if it may.
    fn parallel_region(ctx: Ctx, word: P, first: i64, end: i64, step: i64, args: P, count: i64, draws: i8, lists: *const u8, own: i64, apart: *const u8, desc: *const TypeDesc) -> *mut List [Writes, Pending];
    /// Takes the locks of one list or two (the second may be null), or of all there are where both are null,
    /// for as long as something is done with them that iterations of a parallel loop may do at the same time.
    fn parallel_lock(a: P, b: P) [Writes, Never];
    /// Gives them back.
    fn parallel_unlock(a: P, b: P) [Writes, Never];
    /// How many threads a parallel loop of this thread may use.
    fn parallel_threads() -> i64 [Reads, Never];
    /// Sets that; ValueError where there are not so many.
    fn parallel_set_threads(ctx: Ctx, n: i64) [Writes, Pending];
    /// Which of the threads that share in a parallel loop this is, from 0.
    fn parallel_thread_id() -> i64 [Reads, Never];
    /// Iterations in one piece of a loop, 0 for what is usual.
    fn parallel_chunk() -> i64 [Reads, Never];
    /// Sets that, and gives what it was.
    fn parallel_set_chunk(ctx: Ctx, n: i64) -> i64 [Writes, Pending];
}

pub(crate) static OPS: &[OpDef] = &[];
