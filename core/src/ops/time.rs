//! Clocks.

use super::OpDef;
use crate::rt::Ctx;

crate::runtime_fns! {
    /// Clocks. A reading depends on nothing but the moment, so none may be moved or dropped.
    trait Helpers;
    /// `time.perf_counter()`: seconds.
    fn time_perf_counter() -> f64 [Writes, Never];
    /// `time.perf_counter_ns()`; also `time.monotonic_ns()`, which is the same clock.
    fn time_perf_counter_ns() -> i64 [Writes, Never];
    /// `time.time()`: seconds since 1970.
    fn time_time() -> f64 [Writes, Never];
    /// `time.time_ns()`.
    fn time_time_ns() -> i64 [Writes, Never];
    /// `time.process_time_ns()`: time of the process on all processors.
    fn time_process_ns() -> i64 [Writes, Never];
    /// `time.sleep(seconds)`; ValueError where negative or NaN, OverflowError where too long. Signals are polled.
    fn time_sleep(ctx: Ctx, seconds: f64) [Writes, Pending];
}

pub static OPS: &[OpDef] = &[];
