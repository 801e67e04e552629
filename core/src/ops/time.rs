//! Clocks.

use super::{Body, OpDef};
use crate::emit::cast;
use crate::emit::cx::LowerCx;
use crate::lir::{Op, Ty, Value};
use crate::rt::{Ctx, RtFn};
use crate::types::Type;
use crate::typing::{Answer, no_match};

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
    /// `time.thread_time_ns()`: time of this thread on its processor.
    fn time_thread_ns() -> i64 [Writes, Never];
    /// `time.sleep(seconds)`; ValueError where negative or NaN, OverflowError where too long. Signals are
    /// polled.
    fn time_sleep(ctx: Ctx, seconds: f64) [Writes, Pending];
}

/// A clock without parameters.
macro_rules! clock {
    ($($path:literal)|+, $ty:ident, $helper:ident, $doc:literal) => {
        OpDef::new(&[$($path),+], "", Body::Lir(|_, _| Ok(Answer::of(Type::$ty())), |cx, _| { let h: &'static RtFn = &$helper; Ok(vec![cx.helper_value(h, &[])]) })).writes().doc($doc)
    };
}

fn seconds(cx: &mut LowerCx<'_>, ns: Value) -> Value {
    let (x, unit) = (cx.b.conv(Op::SintToF, Ty::F64, ns), cx.b.f64(1e9));
    cx.b.bin(Op::Fdiv, x, unit)
}

pub(crate) static OPS: &[OpDef] = &[
    clock!(
        "time.perf_counter" | "time.monotonic",
        float,
        time_perf_counter,
        "Seconds of a clock that never goes back."
    ),
    clock!(
        "time.perf_counter_ns" | "time.monotonic_ns",
        int,
        time_perf_counter_ns,
        "Nanoseconds of a clock that never goes back."
    ),
    clock!("time.time", float, time_time, "Seconds since 1970."),
    clock!("time.time_ns", int, time_time_ns, "Nanoseconds since 1970."),
    OpDef::new(
        &["time.process_time"],
        "",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::float())),
            |cx, _| {
                let ns = cx.helper_value(&time_process_ns, &[]);
                Ok(vec![seconds(cx, ns)])
            },
        ),
    )
    .writes()
    .doc("Seconds of processor time of this process."),
    OpDef::new(
        &["time.thread_time"],
        "",
        Body::Lir(
            |_, _| Ok(Answer::of(Type::float())),
            |cx, _| {
                let ns = cx.helper_value(&time_thread_ns, &[]);
                Ok(vec![seconds(cx, ns)])
            },
        ),
    )
    .writes()
    .doc("Seconds of processor time of this thread."),
    clock!("time.process_time_ns", int, time_process_ns, "Nanoseconds of processor time of this process."),
    clock!("time.thread_time_ns", int, time_thread_ns, "Nanoseconds of processor time of this thread."),
    OpDef::new(
        &["time.sleep"],
        "seconds",
        Body::Lir(
            |_, a| if a[0].ty.is_real() { Ok(Answer::of(Type::none())) } else { Err(no_match("sleep()", a)) },
            |cx, c| {
                let seconds = cast::cast(cx, &c.args[0], c.types[0], Type::float())?;
                cx.helper(&time_sleep, &seconds);
                Ok(vec![])
            },
        ),
    )
    .writes()
    .raises()
    .doc("Waits; ValueError of a negative time."),
];
