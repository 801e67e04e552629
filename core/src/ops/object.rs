//! Heap objects and exceptions: reference counts, memory for arrays, native exception objects.

use super::OpDef;
use crate::layout::{MemBlock, Obj};
use crate::rt::{Ctx, P};

crate::runtime_fns! {
    /// Memory and exceptions.
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
    /// Copies bytes between blocks that do not overlap or are the same.
    fn mem_copy(to: P, from: P, bytes: i64) [Writes, Never];
    /// Bytes of an array of this shape: product with overflow check, ValueError for a negative member or a
    /// size past 2⁶³.
    fn mem_array_bytes(ctx: Ctx, ndim: i64, shape: *const i64, itemsize: i64) -> i64 [Reads, Pending];
    /// A new exception of built-in class `class` (see `core::exc::Class`) with a constant UTF-8 message; no
    /// message when `len` is negative.
    fn exc_new(class: i64, text: P, len: i64) -> *mut Obj [Allocates, Never];
    /// A new exception of a built-in class; each `{}` in its message is replaced by the next of `values`, and
    /// each `{name}` too, or by that name where the value is negative.
    fn exc_format(class: i64, text: P, len: i64, values: *const i64) -> *mut Obj [Allocates, Never];
    /// A new exception of a built-in class that says what it got: "expected a nonnegative input, got -1.0".
    fn exc_got(class: i64, text: P, len: i64, x: f64) -> *mut Obj [Allocates, Never];
    /// IndexError "index 5 is out of bounds for axis 0 with size 3".
    fn exc_index(index: i64, axis: i64, size: i64) -> *mut Obj [Allocates, Never];
    /// A new exception of a class that the host knows by handle, in the state that the code was compiled for.
    fn exc_new_host(handle: i64, state: i64) -> *mut Obj [Allocates, Never];
    /// Appends an argument of the exception: kind 0 None, 1 bool, 2 int64, 3 float64 (bits), 4 str (the
    /// exception takes a reference of its own), 5 uint64, 6 opens a tuple that later arguments go into, 7
    /// closes it, 8 complex (address of two float64), 9 Python object (owned, from the host), 10 opens a
    /// list, closed by 7 as well.
    fn exc_add_arg(exc: *mut Obj, kind: i64, bits: i64) [Writes, Never];
    /// Appends a frame to the trail: file, function (both made by `core::intern::text`) and line.
    fn exc_add_site(exc: *mut Obj, file: P, func: P, line: i64) [Writes, Never];
    /// Whether the exception is an instance of built-in class `class`.
    fn exc_matches(exc: *mut Obj, class: i64) -> i8 [Reads, Never];
    /// Whether the exception is an instance of a class that the host knows by handle.
    fn exc_matches_host(exc: *mut Obj, handle: i64) -> i8 [Reads, Never];
    /// Sets cause (`raise a from b`; null for `from None`); the caller keeps its references.
    fn exc_set_cause(exc: *mut Obj, cause: *mut Obj) [Writes, Never];
    /// Sets context: `handled` (may be null) was being handled when `exc` was raised; cycles are broken. The
    /// caller keeps its references. Exceptions that helpers raise get `ctx.handled` as context by themselves.
    fn exc_set_context(exc: *mut Obj, handled: *mut Obj) [Writes, Never];
    /// The exception `ctx.handled` with a reference of its own, for bare `raise`; RuntimeError "No active
    /// exception to reraise" when there is none.
    fn exc_reraise(ctx: Ctx) -> *mut Obj [Writes, Never];
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

pub static OPS: &[OpDef] = &[];
