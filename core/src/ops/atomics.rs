//! Accesses to memory that other threads see at once, for generated code (`tierup.extending.intrinsic`). In
//! kernels they are instructions of their own ([`crate::lir::grid`]).

use super::OpDef;
use crate::rt::P;

crate::runtime_fns! {
    /// Memory that threads share.
    trait Helpers;
    /// Changes an integer of `width` bytes, at once for all threads, and gives what was there; `op` is a number
    /// of [`UPDATES`]. A float is what its bits say.
    fn atomic_update(op: i64, at: P, bits: i64, width: i64) -> i64 [Writes, Never];
    /// Puts `new` where `expected` is, and gives what was there.
    fn atomic_compare(at: P, expected: i64, new: i64, width: i64) -> i64 [Writes, Never];
    /// What this thread has written before, all see before what it writes after.
    fn atomic_fence() [Writes, Never];
    /// Nothing. No access to memory moves across it.
    fn memory_barrier() [Writes, Never];
}

/// Updates by LLVM's names, and a read.
pub const UPDATES: [&str; 14] =
    ["xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin", "fadd", "fsub", "load"];

pub(crate) static OPS: &[OpDef] = &[];
