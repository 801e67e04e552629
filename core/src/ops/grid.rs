//! What a CPU does for a kernel that it runs ([`crate::lir::grid`]).

use super::OpDef;
use crate::rt::{Ctx, P};

crate::runtime_fns! {
    /// What a CPU does for a kernel that it runs.
    trait Helpers;
    /// Lets the other threads of the block run until all wait; the context is a `GridThread`. `site` says where
    /// the barrier stands in the program: the line in the high half, below it what differs from place to place.
    fn grid_barrier(ctx: Ctx, site: i64) [Writes, Never];
    /// The same for the threads of the warp that the bits name.
    fn grid_warp_barrier(ctx: Ctx, mask: i32, site: i64) [Writes, Never];
    /// Waits likewise; the bits that the thread of that lane has brought.
    fn grid_shuffle(ctx: Ctx, mask: i32, bits: i64, lane: i32, site: i64) -> i64 [Writes, Never];
    /// Waits likewise; a bit for each thread that has voted yes.
    fn grid_ballot(ctx: Ctx, mask: i32, vote: i8, site: i64) -> i32 [Writes, Never];
    /// Waits likewise; a bit for each thread that has brought the same bits.
    fn grid_match(ctx: Ctx, mask: i32, bits: i64, site: i64) -> i32 [Writes, Never];
    /// Waits as `grid_barrier` does; how many of the threads have voted yes.
    fn grid_barrier_count(ctx: Ctx, vote: i8, site: i64) -> i32 [Writes, Never];
    /// Lets the other threads of all blocks run until all wait.
    fn grid_grid_barrier(ctx: Ctx, site: i64) [Writes, Never];
    /// Looks for races: a thread reads at an address. `what` are bytes and line, see `core::lir::watched`.
    fn grid_read(ctx: Ctx, at: P, what: i64) [Reads, Never];
    /// The same: it writes there, those bits where they are known.
    fn grid_write(ctx: Ctx, at: P, bits: i64, what: i64) [Reads, Never];
    /// The same: it changes what is there at once.
    fn grid_update(ctx: Ctx, at: P, what: i64) [Reads, Never];
    /// The same: others see what it has written before what it writes from here on.
    fn grid_fence(ctx: Ctx) [Reads, Never];
}

pub(crate) static OPS: &[OpDef] = &[];
