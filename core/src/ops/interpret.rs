//! The door from machine code into the interpreter, for running everything on the interpreter (`TIERUP_TIER=interp`).

use super::OpDef;
use crate::rt::{Ctx, P};

crate::runtime_fns! {
    /// Interpreted code.
    trait Helpers;
    /// Runs the wrapper of interpreted code (`code` is the run-time's own handle): arguments and results lie in 8-byte slots, as in
    /// `core::lower::wrapper`; the answer is the status.
    fn interp_run(code: P, wrapper: i64, ctx: Ctx, args: P, results: P) -> i64 [Writes, Never];
}

pub static OPS: &[OpDef] = &[];
