//! Ranges: how many elements they have, and how they are walked.

use super::cx::{LowerCx, Val};
use crate::lir::{Op, Value};
use crate::types::{Kind, Type};

/// Number of elements of `range(start, stop, step)`; `step` is not 0.
pub(crate) fn range_length(cx: &mut LowerCx<'_>, start: Value, stop: Value, step: Value) -> Value {
    let zero = cx.b.i64(0);
    let up = cx.b.bin(Op::IcmpSgt, step, zero);
    let (fwd, back) = (cx.b.bin(Op::Isub, stop, start), cx.b.bin(Op::Isub, start, stop));
    let span = cx.b.select(up, fwd, back);
    let neg = cx.b.un(Op::Ineg, step);
    let stride = cx.b.select(up, step, neg);
    let (lt, gt) = (cx.b.bin(Op::IcmpSlt, start, stop), cx.b.bin(Op::IcmpSgt, start, stop));
    let some = cx.b.select(up, lt, gt);
    let less = cx.b.bin_imm(Op::Isub, span, 1);
    let whole = cx.b.bin(Op::Udiv, less, stride);
    let n = cx.b.bin_imm(Op::Iadd, whole, 1);
    cx.b.select(some, n, zero)
}

/// Ranges that step by 1 or -1 compare the value with the stop. Others count: the value behind the last one
/// may not fit.
pub(crate) fn steps_by_one(step: Option<i64>) -> bool {
    matches!(step, Some(1 | -1))
}

/// The step of a range: in its type, or its third value.
pub(crate) fn step(cx: &mut LowerCx<'_>, v: &[Value], t: Type) -> Value {
    if let Kind::Range(Some(s)) = *t { cx.b.i64(s) } else { v[2] }
}

/// The first value, the number of values, and the step where it is not known.
pub(crate) fn range_start(cx: &mut LowerCx<'_>, v: &[Value], step: Option<i64>) -> Val {
    let by = match step {
        Some(s) => cx.b.i64(s),
        None => v[2],
    };
    let count = range_length(cx, v[0], v[1], by);
    let mut out = vec![v[0], count];
    if step.is_none() {
        out.push(by);
    }
    out
}
