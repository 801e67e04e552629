//! Dates and spans of time: NumPy's arithmetic on `datetime64` and `timedelta64`, their comparisons, and how they
//! are made.
//!
//! Most rows stand beside those of numbers, under the same paths: a row whose rule takes no operands like these
//! leaves the call to the next one. Operands arrive in the unit of the result; "not a time" is passed on.

mod made;

use super::{Body, OpDef, UfuncRule};
use crate::diag::Result;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::dates::{is_convertible, is_time, truncated, unless_nat};
use crate::lir::{Op, Ty, Value};
use crate::ops::datetimes::python_class;
use crate::ops::dtype::time_of;
use crate::types::time::{NAT, Time, Unit};
use crate::types::{Const, Int, Kind, Type};
use crate::typing::{Answer, Arg, no_match};

const BIN: &str = "x1, x2, out=None";
const UN: &str = "x, out=None";

const fn two(paths: &'static [&'static str], rule: UfuncRule, emit: super::Emit, doc: &'static str) -> OpDef {
    OpDef::new(paths, BIN, Body::Ufunc(rule, emit)).doc(doc)
}
const fn one(paths: &'static [&'static str], rule: UfuncRule, emit: super::Emit, doc: &'static str) -> OpDef {
    OpDef::new(paths, UN, Body::Ufunc(rule, emit)).doc(doc)
}

/// Parameters of what reduces times.
const REDUCED: &str = "a, axis=None, *, keepdims=False";

/// What the library does by way of the numbers behind times.
const fn of_times(
    paths: &'static [&'static str],
    params: &'static str,
    body: &'static str,
    doc: &'static str,
) -> OpDef {
    OpDef::new(paths, params, Body::Py(body)).only_if(|a| time_of(a).is_some()).raises().doc(doc)
}

/// The same of spans alone.
const fn of_spans(
    paths: &'static [&'static str],
    params: &'static str,
    body: &'static str,
    doc: &'static str,
) -> OpDef {
    OpDef::new(paths, params, Body::Py(body))
        .only_if(|a| time_of(a).is_some_and(|t| t.span))
        .raises()
        .doc(doc)
}

/// Whether a ufunc puts times together without further ado; the sum of dates is none.
fn reduced(a: &[Arg], ufuncs: &[&str]) -> bool {
    let Kind::Builtin(op) = *a[0].ty else { return false };
    let Some(t) = time_of(&a[1..]) else { return false };
    let plain = a[3].is_none() && a[4].is_none() && a.get(6).is_none_or(Arg::is_none);
    let all = a.get(7).is_none_or(|w| w.konst.as_ref().is_some_and(Const::truth));
    ufuncs.contains(&op.name()) && (t.span || op.name() != "numpy.add") && plain && all
}

pub(crate) static OPS: &[OpDef] = &[
    two(
        &["operator.add", "numpy.add"],
        add_rule,
        |cx, c| sum(cx, c, Op::Iadd),
        "A date or span, later by a span or by so many units.",
    ),
    two(
        &["operator.sub", "numpy.subtract"],
        subtract_rule,
        |cx, c| sum(cx, c, Op::Isub),
        "A date or span, earlier by one; the span between dates.",
    ),
    two(&["operator.mul", "numpy.multiply"], multiply_rule, emit_multiply, "A span so many times."),
    two(
        &["operator.truediv", "numpy.divide", "numpy.true_divide"],
        divide_rule,
        emit_divide,
        "A part of a span; how often one span is in another.",
    ),
    two(
        &["operator.floordiv", "numpy.floor_divide"],
        floor_divide_rule,
        emit_floor_divide,
        "The same, rounded down.",
    ),
    two(
        &["operator.mod", "numpy.remainder", "numpy.mod"],
        remainder_rule,
        emit_remainder,
        "What is left of a span, with the sign of the second one.",
    ),
    one(
        &["operator.neg", "numpy.negative"],
        span_rule,
        |cx, c| Ok(vec![negated(cx, c.args[0][0])]),
        "The span the other way.",
    ),
    one(&["operator.pos", "numpy.positive"], span_rule, |_, c| Ok(c.args[0].clone()), "The span."),
    one(
        &["builtins.abs", "operator.abs", "numpy.absolute", "numpy.abs"],
        span_rule,
        emit_abs,
        "The span, forwards.",
    ),
    one(
        &["numpy.sign"],
        sign_rule,
        emit_sign,
        "-1, 0 or 1 by the direction of a span: as floats, with NaN for what is no time; before NumPy 2.5 as units, with -1.",
    ),
    two(
        &["operator.eq"],
        never_equal_rule,
        |cx, _| Ok(vec![cx.b.bool(false)]),
        "No: a date is neither a span nor a number.",
    ),
    two(
        &["operator.ne"],
        never_equal_rule,
        |cx, _| Ok(vec![cx.b.bool(true)]),
        "Yes: a date is neither a span nor a number.",
    ),
    two(
        &["operator.eq", "numpy.equal"],
        compare_rule,
        |cx, c| compare(cx, c, Op::IcmpEq),
        "Whether times are the same; \"not a time\" is none.",
    ),
    two(
        &["operator.ne", "numpy.not_equal"],
        compare_rule,
        |cx, c| compare(cx, c, Op::IcmpNe),
        "Whether times differ.",
    ),
    two(
        &["operator.lt", "numpy.less"],
        compare_rule,
        |cx, c| compare(cx, c, Op::IcmpSlt),
        "Whether one is before the other.",
    ),
    two(
        &["operator.le", "numpy.less_equal"],
        compare_rule,
        |cx, c| compare(cx, c, Op::IcmpSle),
        "Whether one is not after the other.",
    ),
    two(
        &["operator.gt", "numpy.greater"],
        compare_rule,
        |cx, c| compare(cx, c, Op::IcmpSgt),
        "Whether one is after the other.",
    ),
    two(
        &["operator.ge", "numpy.greater_equal"],
        compare_rule,
        |cx, c| compare(cx, c, Op::IcmpSge),
        "Whether one is not before the other.",
    ),
    two(
        &["numpy.minimum"],
        same_rule,
        |cx, c| Ok(vec![extreme(cx, c, Op::IcmpSlt, true)]),
        "The earlier time; none where either is none.",
    ),
    two(
        &["numpy.maximum"],
        same_rule,
        |cx, c| Ok(vec![extreme(cx, c, Op::IcmpSgt, true)]),
        "The later time; none where either is none.",
    ),
    two(
        &["numpy.fmin"],
        same_rule,
        |cx, c| Ok(vec![extreme(cx, c, Op::IcmpSlt, false)]),
        "The earlier time; what is none loses.",
    ),
    two(
        &["numpy.fmax"],
        same_rule,
        |cx, c| Ok(vec![extreme(cx, c, Op::IcmpSgt, false)]),
        "The later time; what is none loses.",
    ),
    one(
        &["numpy.isnat"],
        about,
        |cx, c| Ok(vec![cx.b.bin_imm(Op::IcmpEq, c.args[0][0], NAT)]),
        "Whether it is \"not a time\".",
    ),
    one(
        &["numpy.isnan"],
        about,
        |cx, c| Ok(vec![cx.b.bin_imm(Op::IcmpEq, c.args[0][0], NAT)]),
        "Whether it is \"not a time\".",
    ),
    one(&["numpy.isfinite"], about, |cx, c| Ok(vec![is_time(cx, c.args[0][0])]), "Whether it is a time."),
    one(&["numpy.isinf"], about, |cx, _| Ok(vec![cx.b.bool(false)]), "No: no time is infinite."),
    OpDef::new(&["numpy.where"], "condition, x, y", Body::Ufunc(where_rule, emit_where))
        .doc("A time of `x` or of `y`."),
    OpDef::new(
        &["time.dtype"],
        "x",
        Body::Lir(|_, a| Ok(Answer::of(Type::new(Kind::DType(a[0].ty)))), nothing),
    )
    .property()
    .doc("Type of a date or span of NumPy's."),
    OpDef::new(&["time.astype", "number.astype"], "x, dtype", Body::Lir(converted_rule, emit_converted))
        .doc("The time in another unit, rounded down, or as a number of units."),
    OpDef::new(&["time.view"], "x, dtype", Body::Lir(view_rule, |_, c| Ok(c.args[0].clone())))
        .doc("The number of units as one of another type of eight bytes."),
    OpDef::new(
        &["array.astype"],
        "a, dtype, order='K', casting='unsafe', subok=True, copy=True",
        Body::Lir(array_converted_rule, super::array::emit_astype),
    )
    .records()
    .raises()
    .reads()
    .doc("A copy with times in another unit, as numbers of units, or made of such numbers."),
    OpDef::new(&["array.view"], "a, dtype=None", Body::Lir(array_view_rule, super::array::emit_view))
        .records()
        .raises()
        .aliases()
        .doc("The same memory, as times or as the numbers of units behind them."),
    OpDef::new(&["numpy.dtype"], "d", Body::Lir(dtype_rule, nothing)).doc("The dtype of dates or spans."),
    OpDef::new(&["builtins.int"], "x", Body::Lir(int_rule, emit_int))
        .raises()
        .doc("How many units a span is, or a date is away from 1970, where Python has no object for it."),
    of_times(
        &["numpy._sort"],
        "a, axis, stable",
        "times.sort_in_place",
        "Sorts times along an axis, in place.",
    )
    .writes(),
    of_times(&["numpy._argsort"], "a, axis", "times.order", "The order that sorts times.").reads(),
    of_times(&["numpy._partition"], "a, kth, axis", "times.partition", "Partitions times in place.").writes(),
    of_times(
        &["numpy._argpartition"],
        "a, axis, kth",
        "times.partition_order",
        "The order that partitions times.",
    )
    .reads(),
    of_times(
        &["numpy.searchsorted", "array.searchsorted"],
        "a, v, side='left', sorter=None",
        "times.searchsorted",
        "Where times would stand in sorted ones.",
    )
    .reads(),
    of_times(
        &["numpy.min", "numpy.amin", "array.min"],
        REDUCED,
        "times.min_",
        "The earliest; none where one is no time.",
    )
    .reads(),
    of_times(
        &["numpy.max", "numpy.amax", "array.max"],
        REDUCED,
        "times.max_",
        "The latest; none where one is no time.",
    )
    .reads(),
    of_times(&["numpy.nanmin"], REDUCED, "times.nanmin", "The earliest of those that are times.").reads(),
    of_times(&["numpy.nanmax"], REDUCED, "times.nanmax", "The latest of those that are times.").reads(),
    of_times(&["numpy.argmin", "array.argmin"], REDUCED, "times.argmin", "Where the earliest is.").reads(),
    of_times(&["numpy.argmax", "array.argmax"], REDUCED, "times.argmax", "Where the latest is.").reads(),
    of_times(&["numpy.ptp"], REDUCED, "times.ptp", "The span from the earliest to the latest.").reads(),
    of_spans(&["numpy.sum", "array.sum"], REDUCED, "times.sum_", "All spans together.").reads(),
    of_spans(&["numpy.mean", "array.mean"], REDUCED, "times.mean", "The mean span, cut to whole units.")
        .reads(),
    of_spans(&["numpy.cumsum", "array.cumsum"], "a, axis=None", "times.cumsum", "Running sums of spans.")
        .reads(),
    of_spans(
        &["numpy.median"],
        "a, axis=None, out=None, overwrite_input=False, keepdims=False",
        "times.median",
        "The middle of the spans.",
    )
    .only_if(|a| time_of(a).is_some_and(|t| t.span) && a[2].is_none())
    .reads(),
    of_spans(
        &["ufunc.reduce"],
        "f, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True",
        "times.reduce_",
        "All times along an axis put together.",
    )
    .only_if(|a| reduced(a, &["numpy.add", "numpy.maximum", "numpy.minimum", "numpy.fmax", "numpy.fmin"]))
    .reads(),
    of_spans(&["ufunc.accumulate"], "f, array, axis=0, dtype=None, out=None", "times.accumulate", "Running sums of spans.")
        .only_if(|a| reduced(a, &["numpy.add"]))
        .reads(),
    of_times(&["numpy.any", "array.any"], REDUCED, "times.any_", "Whether any span, or date, is another than 0.").reads(),
    of_times(&["numpy.all", "array.all"], REDUCED, "times.all_", "Whether all are.").reads(),
    of_spans(&["numpy.count_nonzero"], REDUCED, "times.count_nonzero", "How many spans are not of length 0.")
        .reads(),
    of_spans(&["numpy.nonzero", "array.nonzero"], "a", "times.nonzero", "Where spans are not of length 0.")
        .reads(),
    of_times(
        &["numpy.clip", "array.clip"],
        "a, a_min=None, a_max=None",
        "times.clip",
        "Times between bounds.",
    )
    .reads(),
    of_times(&["numpy.arange"], "start, stop, step=None", "times.arange", "Times in even steps.").reads(),
    of_times(&["numpy.unique"], "ar", "times.unique", "Each time once, in order.").reads(),
    of_times(
        &["numpy.isin", "numpy.in1d"],
        "element, test_elements",
        "times.isin",
        "Whether each time is among others.",
    )
    .reads(),
    of_times(
        &["time.item", "time.tolist"],
        "x",
        "datetimes.count_item",
        "The number of units, of units for which Python has no dates or spans; None where it is no time.",
    )
    .only_if(|a| time_of(a).is_some_and(|t| python_class(t).is_none())),
    of_times(
        &["time.item", "time.tolist"],
        "x",
        "datetimes.item",
        "The date or span as `datetime` has it; None where it is no time, OverflowError where Python has none.",
    )
    .only_if(|a| time_of(a).is_some_and(|t| python_class(t).is_some())),
    of_times(&["time.astype"], "x, dtype", "datetimes.as_object", "The same.")
        .only_if(|a| time_of(a).is_some() && *a[1].ty == Kind::Builtin(super::id::BUILTINS_OBJECT)),
    of_times(&["array.tolist"], "a", "datetimes.tolist", "Nested lists of what `item()` gives of each element.")
        .reads(),
    OpDef::new(&["array.astype"], "a, dtype", Body::Lir(|_, a| Err(no_objects(a)), |_, _| Ok(vec![])))
        .records()
        .only_if(|a| time_of(a).is_some() && *a[1].ty == Kind::Builtin(super::id::BUILTINS_OBJECT))
        .doc("Refused: there are no arrays of objects."),
    OpDef::new(
        &["numpy.datetime64"],
        "value=..., unit=...",
        Body::Lir(|_, a| made::made_rule(a, false), made::emit_made),
    )
    .raises()
    .reads()
    .doc("A date, from a text, from a number of units, or from a date in another unit."),
    OpDef::new(
        &["numpy.timedelta64"],
        "value=..., unit=...",
        Body::Lir(|_, a| made::made_rule(a, true), made::emit_made),
    )
    .raises()
    .reads()
    .doc("A span, from a number of units, from a text that says it, or from a span in another unit."),
];

fn nothing(_: &mut LowerCx<'_>, _: &OpCall<'_>) -> Result<Val> {
    Ok(vec![])
}

/// A number as an operand beside times.
fn count(a: &Arg) -> Option<Type> {
    if a.ty.is_index() {
        return Some(Type::i64());
    }
    a.ty.is_float().then(Type::f64)
}

/// The unit of two times together: the finer one, if either can be told in it. Of spans the calendar says nothing,
/// so years and months do not meet days.
pub(crate) fn common_unit(a: Time, b: Time) -> Option<Unit> {
    let generic = |t: Time| t.unit == Unit::Generic;
    let span_of_calendar = |t: Time| t.span && t.unit.is_calendar();
    let apart = a.unit.is_calendar() != b.unit.is_calendar() && !generic(a) && !generic(b);
    if apart && (span_of_calendar(a) || span_of_calendar(b)) {
        return None;
    }
    let unit = a.unit.max(b.unit);
    let of = |t: Time| is_convertible(t, Time { unit, ..t });
    (of(a) && of(b)).then_some(unit)
}

/// Both as times of their common unit; a number beside a time is a span of its unit.
fn in_common(args: &[Arg]) -> Option<(Time, Time)> {
    let (a, b) = match (args[0].ty.time(), args[1].ty.time()) {
        (Some(a), Some(b)) => (a, b),
        (Some(a), None) if args[1].ty.is_index() => (a, Time::span(a.unit)),
        (None, Some(b)) if args[0].ty.is_index() => (Time::span(b.unit), b),
        _ => return None,
    };
    let unit = common_unit(a, b)?;
    Some((Time { unit, ..a }, Time { unit, ..b }))
}

fn add_rule(a: &[Arg], _: bool) -> Option<Answer> {
    let (x, y) = in_common(a)?;
    if !x.span && !y.span {
        return None;
    }
    let ret = Time { span: x.span && y.span, unit: x.unit };
    Some(Answer::coerced(ret.ty(), vec![x.ty(), y.ty()]))
}

fn subtract_rule(a: &[Arg], _: bool) -> Option<Answer> {
    let (x, y) = in_common(a)?;
    if x.span && !y.span {
        return None;
    }
    let ret = Time { span: x.span == y.span, unit: x.unit };
    Some(Answer::coerced(ret.ty(), vec![x.ty(), y.ty()]))
}

fn sum(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: Op) -> Result<Val> {
    let (a, b) = (c.args[0][0], c.args[1][0]);
    let r = cx.b.bin(op, a, b);
    Ok(vec![unless_nat(cx, &[a, b], r)])
}

fn multiply_rule(a: &[Arg], _: bool) -> Option<Answer> {
    match (a[0].ty.time(), a[1].ty.time()) {
        (Some(t), None) if t.span => Some(Answer::coerced(t.ty(), vec![t.ty(), count(&a[1])?])),
        (None, Some(t)) if t.span => Some(Answer::coerced(t.ty(), vec![count(&a[0])?, t.ty()])),
        _ => None,
    }
}

fn emit_multiply(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (span, by) = if c.types[0].time().is_some() { (0, 1) } else { (1, 0) };
    let (x, n) = (c.args[span][0], c.args[by][0]);
    let r = if c.types[by].is_float() {
        let product = float_op(cx, x, n, Op::Fmul);
        truncated(cx, product)
    } else {
        cx.b.bin(Op::Imul, x, n)
    };
    Ok(vec![unless_nat(cx, &[x], r)])
}

fn float_op(cx: &mut LowerCx<'_>, x: Value, y: Value, op: Op) -> Value {
    let x = cx.b.conv(Op::SintToF, Ty::F64, x);
    cx.b.bin(op, x, y)
}

/// Two spans in their common unit, or a span and a number.
fn quotient(a: &[Arg], of_spans: Type) -> Option<Answer> {
    match (a[0].ty.time(), a[1].ty.time()) {
        (Some(x), Some(y)) if x.span && y.span => {
            let t = Time::span(common_unit(x, y)?).ty();
            Some(Answer::coerced(of_spans, vec![t, t]))
        }
        (Some(t), None) if t.span && *a[1].ty != Kind::Bool => {
            Some(Answer::coerced(t.ty(), vec![t.ty(), count(&a[1])?]))
        }
        _ => None,
    }
}

fn divide_rule(a: &[Arg], _: bool) -> Option<Answer> {
    quotient(a, Type::f64())
}

fn emit_divide(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (x, y) = (c.args[0][0], c.args[1][0]);
    if c.types[1].time().is_some() {
        let by = cx.b.conv(Op::SintToF, Ty::F64, y);
        let r = float_op(cx, x, by, Op::Fdiv);
        let (one, other, nan) = (is_time(cx, x), is_time(cx, y), cx.b.f64(f64::NAN));
        let both = cx.and(one, other);
        return Ok(vec![cx.b.select(both, r, nan)]);
    }
    part(cx, c)
}

/// A span divided by a number, cut to whole units: no time where that is zero.
fn part(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (x, y) = (c.args[0][0], c.args[1][0]);
    if c.types[1].is_float() {
        let quotient = float_op(cx, x, y, Op::Fdiv);
        let r = truncated(cx, quotient);
        return Ok(vec![unless_nat(cx, &[x], r)]);
    }
    let (r, zero, nat) = (cx.b.bin(Op::Sdiv, x, y), cx.b.bin_imm(Op::IcmpEq, y, 0), cx.b.i64(NAT));
    let r = cx.b.select(zero, nat, r);
    Ok(vec![unless_nat(cx, &[x], r)])
}

fn floor_divide_rule(a: &[Arg], _: bool) -> Option<Answer> {
    quotient(a, Type::i64())
}

/// A quotient rounded down; 0 where the divisor is.
fn floored(cx: &mut LowerCx<'_>, x: Value, y: Value) -> Value {
    let q = cx.b.bin(Op::Sdiv, x, y);
    let back = cx.b.bin(Op::Imul, q, y);
    let rest = cx.b.bin(Op::Isub, x, back);
    let (some, apart) = (cx.b.bin_imm(Op::IcmpNe, rest, 0), cx.b.bin(Op::Bxor, rest, y));
    let apart = cx.b.bin_imm(Op::IcmpSlt, apart, 0);
    let divided = cx.b.bin_imm(Op::IcmpNe, y, 0);
    let (low, adjust) = (cx.b.bin_imm(Op::Isub, q, 1), cx.and(some, apart));
    let adjust = cx.and(adjust, divided);
    cx.b.select(adjust, low, q)
}

fn emit_floor_divide(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (x, y) = (c.args[0][0], c.args[1][0]);
    if c.types[1].time().is_none() {
        // NumPy cuts here, and rounds down where a span is divided by a span.
        return part(cx, c);
    }
    let (r, zero) = (floored(cx, x, y), cx.b.i64(0));
    let (one, other) = (is_time(cx, x), is_time(cx, y));
    let both = cx.and(one, other);
    Ok(vec![cx.b.select(both, r, zero)])
}

fn remainder_rule(a: &[Arg], _: bool) -> Option<Answer> {
    let (x, y) = (a[0].ty.time()?, a[1].ty.time()?);
    let t = Time::span(common_unit(x, y).filter(|_| x.span && y.span)?).ty();
    Some(Answer::coerced(t, vec![t, t]))
}

fn emit_remainder(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (x, y) = (c.args[0][0], c.args[1][0]);
    let q = floored(cx, x, y);
    let back = cx.b.bin(Op::Imul, q, y);
    let r = cx.b.bin(Op::Isub, x, back);
    let (zero, nat) = (cx.b.bin_imm(Op::IcmpEq, y, 0), cx.b.i64(NAT));
    let r = cx.b.select(zero, nat, r);
    Ok(vec![unless_nat(cx, &[x, y], r)])
}

fn span_rule(a: &[Arg], _: bool) -> Option<Answer> {
    a[0].ty.time().filter(|t| t.span).map(|t| Answer::of(t.ty()))
}

/// The negative of the smallest number is itself, and so no time.
fn negated(cx: &mut LowerCx<'_>, x: Value) -> Value {
    cx.b.un(Op::Ineg, x)
}

fn emit_abs(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let x = c.args[0][0];
    let (back, other) = (cx.b.bin_imm(Op::IcmpSlt, x, 0), negated(cx, x));
    Ok(vec![cx.b.select(back, other, x)])
}

fn sign_rule(a: &[Arg], elementwise: bool) -> Option<Answer> {
    let units = span_rule(a, elementwise)?;
    Some(if since_floats() { Answer::of(Type::f64()) } else { units })
}

/// Whether signs of spans are floats.
fn since_floats() -> bool {
    crate::python::numpy_since(2, 5)
}

fn emit_sign(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let x = c.args[0][0];
    if since_floats() {
        let [plus, zero, minus, nan] = [1.0, 0.0, -1.0, f64::NAN].map(|k| cx.b.f64(k));
        let (after, before) = (cx.b.bin_imm(Op::IcmpSgt, x, 0), cx.b.bin_imm(Op::IcmpSlt, x, 0));
        let forwards = cx.b.select(after, plus, zero);
        let sign = cx.b.select(before, minus, forwards);
        let time = is_time(cx, x);
        return Ok(vec![cx.b.select(time, sign, nan)]);
    }
    let (after, before) = (cx.b.bin_imm(Op::IcmpSgt, x, 0), cx.b.bin_imm(Op::IcmpSlt, x, 0));
    let (plus, zero, minus) = (cx.b.i64(1), cx.b.i64(0), cx.b.i64(-1));
    let forwards = cx.b.select(after, plus, zero);
    Ok(vec![cx.b.select(before, minus, forwards)])
}

fn never_equal_rule(a: &[Arg], _: bool) -> Option<Answer> {
    let apart = match (a[0].ty.time(), a[1].ty.time()) {
        (Some(x), Some(y)) => x.span != y.span,
        (Some(t), None) => a[1].ty.is_number() && !(t.span && a[1].ty.is_index()),
        (None, Some(t)) => a[0].ty.is_number() && !(t.span && a[0].ty.is_index()),
        (None, None) => false,
    };
    apart.then(|| Answer::of(Type::bool()))
}

fn compare_rule(a: &[Arg], _: bool) -> Option<Answer> {
    let (x, y) = in_common(a).filter(|(x, y)| x.span == y.span)?;
    Some(Answer::coerced(Type::bool(), vec![x.ty(), y.ty()]))
}

fn compare(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: Op) -> Result<Val> {
    let (a, b) = (c.args[0][0], c.args[1][0]);
    let r = cx.b.bin(op, a, b);
    let (one, other) = (is_time(cx, a), is_time(cx, b));
    let both = cx.and(one, other);
    if op == Op::IcmpNe {
        let either = cx.not(both);
        return Ok(vec![cx.b.bin(Op::Bor, r, either)]);
    }
    Ok(vec![cx.and(both, r)])
}

fn same_rule(a: &[Arg], _: bool) -> Option<Answer> {
    let (x, y) = in_common(a).filter(|(x, y)| x.span == y.span)?;
    Some(Answer::coerced(x.ty(), vec![x.ty(), y.ty()]))
}

/// The one that compares so with the other; where either is no time, that one, or the other one.
fn extreme(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: Op, nat_wins: bool) -> Value {
    let (a, b) = (c.args[0][0], c.args[1][0]);
    let first = cx.b.bin(op, a, b);
    let (one, other) = (is_time(cx, a), is_time(cx, b));
    let chosen = cx.b.select(first, a, b);
    let (without_a, without_b) = if nat_wins { (a, b) } else { (b, a) };
    let r = cx.b.select(other, chosen, without_b);
    cx.b.select(one, r, without_a)
}

fn about(a: &[Arg], _: bool) -> Option<Answer> {
    a[0].ty.time().map(|_| Answer::of(Type::bool()))
}

fn where_rule(a: &[Arg], _: bool) -> Option<Answer> {
    let same = same_rule(&a[1..], true)?;
    if !a[0].ty.is_number() {
        return None;
    }
    Some(Answer::coerced(same.ret, vec![Type::bool(), same.ret, same.ret]))
}

fn emit_where(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    Ok(vec![cx.b.select(c.args[0][0], c.args[1][0], c.args[2][0])])
}

/// Between times and numbers as `astype` has it.
fn converted_rule(_: &mut crate::typing::TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let wanted = super::dtype::element_arg(&a[1]).ok_or_else(|| no_match("astype()", a))?;
    if a[0].ty.is_weak() || a[0].ty.time().is_none() && wanted.time().is_none() {
        return Err(no_match("astype()", a));
    }
    if let (Some(from), Some(to)) = (a[0].ty.time(), wanted.time())
        && !is_convertible(from, to)
    {
        return Err(no_match("astype()", a));
    }
    // A unit that is not said is that of the value.
    let ret = match (a[0].ty.time(), wanted.time()) {
        (Some(from), Some(to)) if to.unit == Unit::Generic => Time { unit: from.unit, ..to }.ty(),
        _ => wanted.strong(),
    };
    Ok(Answer::of(ret))
}

fn emit_converted(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    crate::emit::cast::cast(cx, &c.args[0], c.types[0], c.ret)
}

fn view_rule(_: &mut crate::typing::TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let wanted = super::dtype::element_arg(&a[1]);
    let fits = |t: &Type| matches!(**t, Kind::Time(_) | Kind::Int(Int::I64 | Int::U64));
    wanted.map(Type::strong).filter(fits).map(Answer::of).ok_or_else(|| no_match("view()", a))
}

/// Whether `astype` turns elements of one type into the other: times into their numbers, numbers into times.
fn converts(from: Type, to: Type) -> bool {
    match (from.time(), to.time()) {
        (Some(a), Some(b)) => is_convertible(a, b),
        (Some(_), None) | (None, Some(_)) => from.is_element() && to.is_element(),
        (None, None) => false,
    }
}

fn array_converted_rule(_: &mut crate::typing::TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let refused = || no_match("astype()", a);
    let array = a[0].ty.as_array().ok_or_else(refused)?;
    let wanted = super::dtype::element_arg(&a[1]).ok_or_else(refused)?;
    let same = wanted == array.dtype && wanted.time().is_some();
    if !same && !converts(array.dtype, wanted) || a[3].text() != Some("unsafe") {
        return Err(refused());
    }
    let dtype = match (array.dtype.time(), wanted.time()) {
        (Some(from), Some(to)) if to.unit == Unit::Generic => Time { unit: from.unit, ..to }.ty(),
        _ => wanted,
    };
    if !a[5].flag("copy")? && dtype == array.dtype {
        return Ok(Answer::of(a[0].ty));
    }
    Ok(Answer::of(Type::array(dtype, array.ndim(), super::array::ordered(array, &a[2])?)))
}

fn array_view_rule(_: &mut crate::typing::TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let refused = || no_match("view()", a);
    let array = a[0].ty.as_array().ok_or_else(refused)?;
    if a[1].is_none() && array.dtype.time().is_some() {
        return Ok(Answer::of(a[0].ty));
    }
    let wanted = super::dtype::element_arg(&a[1]).ok_or_else(refused)?;
    let times = array.dtype.time().is_some() || wanted.time().is_some();
    if !times || wanted.itemsize() != array.itemsize() || wanted.is_complex() {
        return Err(refused());
    }
    Ok(Answer::of(crate::types::ArrayType { dtype: wanted, ..array }.ty()))
}

fn dtype_rule(_: &mut crate::typing::TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let t = super::dtype::time_arg(&a[0]).ok_or_else(|| no_match("dtype()", a))?;
    Ok(Answer::of(Type::new(Kind::DType(t))))
}

/// Units for which `item()` gives an int; of others it gives objects of `datetime`, or None.
fn item_is_int(t: Time) -> bool {
    t.unit >= Unit::Nano || t.span && (t.unit.is_calendar() || t.unit == Unit::Generic)
}

const ITEMS: &str = "x.astype(np.int64) is the number of units, x.item() what Python has for it";

fn no_objects(a: &[Arg]) -> crate::diag::Diagnostic {
    no_match("astype()", a)
        .help("there are no arrays of objects in compiled code: a.tolist() gives lists of them")
}

fn int_rule(_: &mut crate::typing::TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    match a[0].ty.time() {
        Some(t) if item_is_int(t) => Ok(Answer::of(Type::int())),
        _ => Err(no_match("int()", a).help(ITEMS)),
    }
}

fn emit_int(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let is = is_time(cx, c.args[0][0]);
    let text = "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'";
    cx.check(is, crate::exc::Class::TypeError, text);
    Ok(c.args[0].clone())
}
