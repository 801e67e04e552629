//! Slices, fitted to what they are taken of.

#![expect(clippy::wildcard_enum_match_arm, reason = "a bound is None, perhaps None, or a number")]

use super::cast;
use super::cx::{LowerCx, split_leaves};
use super::range::range_length;
use crate::diag::{Diagnostic, Result};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{Kind, Type};

/// A slice fitted to a length: `count` elements from `start` in steps of `step`.
pub(crate) struct Adjusted {
    pub start: Value,
    pub stop: Value,
    pub step: Value,
    pub count: Value,
}

/// Fits a slice to a length as Python's `slice.indices` does; ValueError for a zero step.
pub(crate) fn adjust_slice(cx: &mut LowerCx<'_>, v: &[Value], t: Type, n: Value) -> Result<Adjusted> {
    let Kind::Slice(m) = *t else { return Err(Diagnostic::internal("no slice")) };
    let parts = split_leaves(v, &m);
    let zero = cx.b.i64(0);
    // A missing step is 1; then everything below folds to the simple case.
    let unit = *m[2] == Kind::None;
    let step = optional_index(cx, &parts[2], m[2], |cx| cx.b.i64(1))?;
    if !unit {
        let ok = cx.b.bin(Op::IcmpNe, step, zero);
        cx.check(ok, Class::ValueError, "slice step cannot be zero");
    }
    let back = if unit { cx.b.bool(false) } else { cx.b.bin(Op::IcmpSlt, step, zero) };
    let last = cx.b.bin_imm(Op::Isub, n, 1);
    let minus = cx.b.i64(-1);
    let (low, high) = (cx.b.select(back, minus, zero), cx.b.select(back, last, n));
    let bound = |cx: &mut LowerCx<'_>, k: usize, missing: Value| -> Result<Value> {
        let given = |cx: &mut LowerCx<'_>, i: Value| {
            let w = cx.wrap_index(i, n);
            let w = cx.b.bin(Op::Smax, w, low);
            cx.b.bin(Op::Smin, w, high)
        };
        Ok(match *m[k] {
            Kind::None => missing,
            Kind::Optional(inner) => {
                let i = cast::to_index(cx, parts[k][1], inner);
                let w = given(cx, i);
                cx.b.select(parts[k][0], w, missing)
            }
            _ => {
                let i = cast::to_index(cx, parts[k][0], m[k]);
                given(cx, i)
            }
        })
    };
    let from = cx.b.select(back, last, zero);
    let to = cx.b.select(back, minus, n);
    let start = bound(cx, 0, from)?;
    let stop = bound(cx, 1, to)?;
    let count = if unit {
        let span = cx.b.bin(Op::Isub, stop, start);
        cx.b.bin(Op::Smax, span, zero)
    } else {
        range_length(cx, start, stop, step)
    };
    Ok(Adjusted { start, stop, step, count })
}

fn optional_index(
    cx: &mut LowerCx<'_>,
    v: &[Value],
    t: Type,
    missing: impl FnOnce(&mut LowerCx<'_>) -> Value,
) -> Result<Value> {
    Ok(match *t {
        Kind::None => missing(cx),
        Kind::Optional(inner) => {
            let i = cast::to_index(cx, v[1], inner);
            let d = missing(cx);
            cx.b.select(v[0], i, d)
        }
        _ => cast::to_index(cx, v[0], t),
    })
}
