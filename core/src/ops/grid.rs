//! What a CPU does for a kernel that it runs ([`crate::lir::grid`]).

use super::OpDef;
use crate::rt::Ctx;

crate::runtime_fns! {
    /// What a CPU does for a kernel that it runs.
    trait Helpers;
    /// Lets the other threads of the block run until all wait; the context is a `GridThread`.
    fn grid_barrier(ctx: Ctx) [Writes, Never];
    /// The same for the threads of the warp that the bits name.
    fn grid_warp_barrier(ctx: Ctx, mask: i32) [Writes, Never];
    /// Waits likewise; the bits that the thread of that lane has brought.
    fn grid_shuffle(ctx: Ctx, mask: i32, bits: i64, lane: i32) -> i64 [Writes, Never];
    /// Waits likewise; a bit for each thread that has voted yes.
    fn grid_ballot(ctx: Ctx, mask: i32, vote: i8) -> i32 [Writes, Never];
    /// Waits likewise; a bit for each thread that has brought the same bits.
    fn grid_match(ctx: Ctx, mask: i32, bits: i64) -> i32 [Writes, Never];
    /// Waits as `grid_barrier` does; how many of the threads have voted yes.
    fn grid_barrier_count(ctx: Ctx, vote: i8) -> i32 [Writes, Never];
    /// Lets the other threads of all blocks run until all wait.
    fn grid_grid_barrier(ctx: Ctx) [Writes, Never];
}

pub(crate) static OPS: &[OpDef] = &[];
