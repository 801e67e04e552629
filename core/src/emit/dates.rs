//! Dates and spans of time as machine values: from one unit to another, and to numbers and back.

use super::cx::LowerCx;
use crate::diag::{Code, Diagnostic, Result};
use crate::lir::{Op, Ty, Value};
use crate::ops::calendar::{calendar_days, calendar_month};
use crate::types::Type;
use crate::types::time::{NAT, Time, Unit};

/// Days in so many years, as the calendar repeats itself.
const CYCLE: (i64, i64) = (146_097, 400);

/// Whether times of one unit can be told in another one within 64 bits.
pub(crate) fn is_convertible(from: Time, to: Time) -> bool {
    let (from, to) = (from.unit, to.unit);
    let fixed = |a: Unit, b: Unit| a.in_units_of(b).or(b.in_units_of(a)).is_some();
    from == Unit::Generic
        || to == Unit::Generic
        || fixed(from, to)
        || from.is_calendar() != to.is_calendar() && fixed(Unit::Day, from.max(to))
}

/// Whether values of a type can be elements of an array of another one: numbers among numbers, times among times of
/// their kind, and integers as counts of units. What is no element at all, other rules judge.
pub(crate) fn stores(from: Type, to: Type) -> bool {
    match (from.time(), to.time()) {
        (Some(a), Some(b)) => a.span == b.span && is_convertible(a, b),
        (None, Some(_)) => from.is_index(),
        (Some(_), None) => false,
        (None, None) => true,
    }
}

/// Whether a time is one.
pub(crate) fn is_time(cx: &mut LowerCx<'_>, x: Value) -> Value {
    cx.b.bin_imm(Op::IcmpNe, x, NAT)
}

/// A value, or "not a time" where any of those that it is made of is none.
pub(crate) fn unless_nat(cx: &mut LowerCx<'_>, of: &[Value], x: Value) -> Value {
    let mut known: Option<Value> = None;
    for v in of {
        let is = is_time(cx, *v);
        known = Some(known.map_or(is, |k| cx.and(k, is)));
    }
    let nat = cx.b.i64(NAT);
    known.map_or(x, |k| cx.b.select(k, x, nat))
}

/// Rounds a quotient down; the divisor is positive.
pub(crate) fn floor_div(cx: &mut LowerCx<'_>, x: Value, n: i64) -> Value {
    if n == 1 {
        return x;
    }
    let by = cx.b.i64(n);
    let q = cx.b.bin(Op::Sdiv, x, by);
    let back = cx.b.bin(Op::Imul, q, by);
    let below = cx.b.bin(Op::IcmpSlt, x, back);
    let low = cx.b.bin_imm(Op::Isub, q, 1);
    cx.b.select(below, low, q)
}

fn times(cx: &mut LowerCx<'_>, x: Value, n: i64) -> Value {
    if n == 1 { x } else { cx.b.bin_imm(Op::Imul, x, n) }
}

/// Between units of which one is so many of the other.
fn rescaled(cx: &mut LowerCx<'_>, x: Value, from: Unit, to: Unit) -> Option<Value> {
    match (from.in_units_of(to), to.in_units_of(from)) {
        (Some(n), _) => Some(times(cx, x, n)),
        (None, Some(n)) => Some(floor_div(cx, x, n)),
        (None, None) => None,
    }
}

fn date(cx: &mut LowerCx<'_>, x: Value, from: Unit, to: Unit) -> Option<Value> {
    if from.is_calendar() == to.is_calendar() {
        return rescaled(cx, x, from, to);
    }
    if from.is_calendar() {
        let months = rescaled(cx, x, from, Unit::Month)?;
        let days = cx.helper_value(&calendar_days, &[months]);
        return rescaled(cx, days, Unit::Day, to);
    }
    let days = rescaled(cx, x, from, Unit::Day)?;
    let months = cx.helper_value(&calendar_month, &[days]);
    rescaled(cx, months, Unit::Month, to)
}

/// A span of years or months has as many days as one has on average.
fn span(cx: &mut LowerCx<'_>, x: Value, from: Unit, to: Unit) -> Option<Value> {
    if from.is_calendar() == to.is_calendar() {
        return rescaled(cx, x, from, to);
    }
    let (long, short) = if from.is_calendar() { (from, to) } else { (to, from) };
    // So many of the shorter unit are so many of the longer one.
    let (mut shorts, mut longs) = CYCLE;
    if long == Unit::Month {
        longs *= 12;
    }
    match Unit::Day.in_units_of(short) {
        Some(n) => {
            let common = gcd(n, longs);
            longs /= common;
            shorts = shorts.checked_mul(n / common)?;
        }
        None => longs *= short.in_units_of(Unit::Day)?,
    }
    let common = gcd(shorts, longs);
    let (shorts, longs) = (shorts / common, longs / common);
    let (by, over) = if from.is_calendar() { (shorts, longs) } else { (longs, shorts) };
    let x = times(cx, x, by);
    Some(floor_div(cx, x, over))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A time in another unit: rounded down where that is coarser.
pub(crate) fn convert(cx: &mut LowerCx<'_>, x: Value, from: Time, to: Time) -> Result<Value> {
    if from.unit == to.unit || from.unit == Unit::Generic || to.unit == Unit::Generic {
        return Ok(x);
    }
    let found = match from.span {
        true => span(cx, x, from.unit, to.unit),
        false => date(cx, x, from.unit, to.unit),
    };
    let found = found.ok_or_else(|| {
        Diagnostic::new(
            Code::NoMatchingOperation,
            format!("{} cannot be told in units of {} within 64 bits", from.name(), to.name()),
        )
    })?;
    Ok(unless_nat(cx, &[x], found))
}

/// A float as a count of units, rounded towards zero; no time where it is none within 64 bits.
pub(crate) fn truncated(cx: &mut LowerCx<'_>, x: Value) -> Value {
    const { assert!(NAT == i64::MIN) };
    cx.b.conv(Op::FToSintOrMin, Ty::I64, x)
}
