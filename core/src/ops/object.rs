//! Heap objects: reference counts and memory for arrays. Polls and the stack of a thread.

use super::OpDef;
use crate::desc::TypeDesc;
use crate::layout::{List, MemBlock, Obj};
use crate::rt::{Ctx, P};

crate::runtime_fns! {
    /// Memory and threads.
    trait Helpers;
    /// Adds a reference; null is allowed.
    fn obj_retain(o: *mut Obj) [Writes, Never];
    /// Drops a reference and frees the object with the last one; null is allowed.
    fn obj_release(o: *mut Obj) [Writes, Never];
    /// A block of `bytes` bytes, 64-byte aligned, not initialised; MemoryError when it cannot be had,
    /// ValueError when negative.
    fn mem_alloc(ctx: Ctx, bytes: i64) -> *mut MemBlock [Allocates, Pending];
    /// The same, zeroed (large blocks come zeroed from the system).
    fn mem_alloc_zeroed(ctx: Ctx, bytes: i64) -> *mut MemBlock [Allocates, Pending];
    /// A tuple of any length: a list of copies of the `n` values at `data`, of the type that `desc` describes,
    /// with references of its own.
    fn tuple_of(ctx: Ctx, desc: *const TypeDesc, data: P, n: i64) -> *mut List [Allocates, Pending];
    /// Copies bytes between blocks that do not overlap or are the same.
    fn mem_copy(to: P, from: P, bytes: i64) [Writes, Never];
    /// Bytes of an array of this shape: product with overflow check, ValueError for a negative member or a
    /// size past 2⁶³.
    fn mem_array_bytes(ctx: Ctx, ndim: i64, shape: *const i64, itemsize: i64) -> i64 [Reads, Pending];
    /// Polls for Ctrl-C and cancellation; leaves KeyboardInterrupt pending. "Reads", because what a signal
    /// handler does to arrays meanwhile is like what another thread does: a loop need not read everything
    /// again for it.
    fn poll_interrupt(ctx: Ctx) [Reads, Pending];
    /// Called by a recursive function whose frame, at `here`, lies below `ctx.stack_limit`: leaves
    /// RecursionError pending where the stack is used up, and polls where the limit only said that somebody
    /// wants a poll.
    fn stack_check(ctx: Ctx, here: P) [Reads, Pending];
    /// Asked by tier-0 code that polls, with the word of this place: the address of better code to go on with
    /// (see `core::lir::osr`), or null.
    fn tier_sample(ctx: Ctx, site: P) -> P [Writes, Never];
}

pub(crate) static OPS: &[OpDef] = &[];
