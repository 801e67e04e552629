//! Dates, times of day and spans of Python's `datetime`, without time zones.
//!
//! A value is a class of the table whose fields are whole numbers ([`ClassId::DATE`] and those beside it), so that
//! comparison, hashes and places in containers are those of all values. What computes with the calendar lies in
//! the run-time; additions and parts are instructions.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::dates::floor_div;
use crate::exc::Class;
use crate::layout::Str;
use crate::lir::{Alias, Op, Ty, Value};
use crate::ops::calendar::{calendar_days, calendar_month};
use crate::rt::{Ctx, P, RtFn};
use crate::types::time::{Time, Unit};
use crate::types::{ClassId, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

crate::runtime_fns! {
    /// Python's `datetime`. `kind` says what a value is: 0 a date, 1 a datetime, 2 a time of day, 3 a span, whose
    /// days and microseconds are two numbers. Results of two numbers are written to `out`.
    trait Helpers;
    /// `date(year, month, day)`; ValueError.
    fn date_of(ctx: Ctx, year: i64, month: i64, day: i64) -> i64 [Reads, Pending];
    /// `time(hour, minute, second, microsecond)`; ValueError.
    fn clock_of(ctx: Ctx, hour: i64, minute: i64, second: i64, microsecond: i64) -> i64 [Reads, Pending];
    /// `date.fromordinal(n)`; ValueError.
    fn date_of_ordinal(ctx: Ctx, n: i64) -> i64 [Reads, Pending];
    /// A date so many days later; OverflowError.
    fn date_shifted(ctx: Ctx, day: i64, days: i64) -> i64 [Reads, Pending];
    /// A datetime later by a span; OverflowError.
    fn moment_shifted(ctx: Ctx, x: i64, days: i64, micros: i64) -> i64 [Reads, Pending];
    /// `timedelta(…)` of days, seconds, microseconds, milliseconds, minutes, hours and weeks; a bit of `floats` says
    /// which of them are floats.
    fn span_of(ctx: Ctx, parts: P, floats: i64, out: P) [Writes, Pending];
    /// A span of days and microseconds of whatever size; OverflowError.
    fn span_sum(ctx: Ctx, days: i64, micros: i64, out: P) [Writes, Pending];
    /// A span times a number (0), or divided by one and rounded to the nearest (1) or down (2).
    fn span_scaled(ctx: Ctx, days: i64, micros: i64, by: i64, how: i64, out: P) [Writes, Pending];
    /// The same of a float: times (0), divided (1).
    fn span_scaled_float(ctx: Ctx, days: i64, micros: i64, by: f64, how: i64, out: P) [Writes, Pending];
    /// A span divided by a span.
    fn span_ratio(ctx: Ctx, days: i64, micros: i64, by_days: i64, by_micros: i64) -> f64 [Reads, Pending];
    /// How often a span is in another, and what is left; `how` says which of `//`, `%` and `divmod` asks: 0, 1, 2.
    fn span_divided(ctx: Ctx, days: i64, micros: i64, by_days: i64, by_micros: i64, how: i64, out: P) [Writes, Pending];
    /// `span.total_seconds()`.
    fn span_seconds(days: i64, micros: i64) -> f64 [Pure, Never];
    /// `str`, or `repr`.
    fn moment_text(kind: i64, x: i64, y: i64, repr: i64) -> *mut Str [Allocates, Never];
    /// `x.isoformat(sep, timespec)`; ValueError.
    fn moment_iso(ctx: Ctx, kind: i64, x: i64, sep: *mut Str, timespec: *mut Str) -> *mut Str [Allocates, Pending];
    /// `x.strftime(format)`.
    fn moment_format(ctx: Ctx, kind: i64, x: i64, format: *mut Str) -> *mut Str [Allocates, Pending];
    /// What clocks on the wall show, in microseconds from the start of 1970 on.
    fn moment_now(ctx: Ctx) -> i64 [Writes, Pending];
}

const DATE: ClassId = ClassId::DATE;
const DATETIME: ClassId = ClassId::DATETIME;
const CLOCK: ClassId = ClassId::CLOCK_TIME;
const SPAN: ClassId = ClassId::TIMEDELTA;

/// Microseconds of a second and of a day.
const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// The type of values of one of these classes.
pub fn of_class(class: ClassId) -> Type {
    Type::of_values(class.def()).unwrap_or_else(Type::never)
}

/// Which of these classes a type is of.
pub(crate) fn class_of(t: Type) -> Option<ClassId> {
    if let Kind::Frozen(c, _) = t.kind() { c.is_builtin_value().then_some(c.id) } else { None }
}

/// The number by which helpers know a class.
fn kind(class: ClassId) -> i64 {
    [DATE, DATETIME, CLOCK, SPAN].iter().position(|c| *c == class).unwrap_or(0) as i64
}

/// What an operand has to be.
#[derive(Clone, Copy)]
enum Is {
    Of(ClassId),
    /// A whole number.
    Whole,
    /// The same, of Python's own.
    Int,
    Float,
    Str,
    None,
}

/// The answer of a row whose operands are these.
fn fits(args: &[Arg], wanted: &[Is], ret: Type) -> Result<Answer> {
    let mut types = vec![];
    for (a, is) in args.iter().zip(wanted) {
        let given = match is {
            Is::Of(class) => (class_of(a.ty) == Some(*class)).then_some(a.ty),
            Is::Whole => a.ty.is_index().then(Type::i64),
            Is::Int => (a.ty.is_index() && (a.ty.is_weak() || *a.ty == Kind::Bool)).then(Type::i64),
            Is::Float => (a.ty.is_float() && a.ty.scalar_ty() == Some(Ty::F64)).then(Type::f64),
            Is::Str => (*a.ty == Kind::Str).then(Type::str),
            Is::None => a.is_none().then(Type::none),
        };
        types.push(given.ok_or_else(|| no_match("datetime", args))?);
    }
    Ok(Answer::coerced(ret, types))
}

/// A row whose operands are of one kind each.
macro_rules! on {
    ([$($path:literal),+], $params:literal, [$($is:expr),*], $ret:expr, $emit:expr, $doc:literal) => {
        OpDef::new(
            &[$($path),+],
            $params,
            Body::Lir(
                |_, a| {
                    #[allow(unused_imports, reason = "not every row asks for all of them")]
                    use Is::*;
                    fits(a, &[$($is),*], $ret)
                },
                $emit,
            ),
        )
        .raises()
        .reads()
        .doc($doc)
    };
}

/// What a class has as its first or last value, or as the smallest difference.
macro_rules! limit {
    ($path:literal, $class:expr, $numbers:expr, $doc:literal) => {
        on!([$path], "", [], of_class($class), |cx, _| Ok($numbers.map(|n: i64| cx.b.i64(n)).to_vec()), $doc)
            .property()
            .of_class()
    };
}

/// What makes a value of a text.
macro_rules! of_text {
    ($path:literal, $params:literal, $class:expr, $function:literal, $doc:literal) => {
        OpDef::new(&[$path], $params, Body::Py($function))
            .only_if(|a| *a[0].ty == Kind::Str)
            .of_class()
            .raises()
            .reads()
            .doc($doc)
    };
}

/// What makes a value of a number of seconds.
macro_rules! of_number {
    ($path:literal, $function:literal, $doc:literal) => {
        OpDef::new(&[$path], "timestamp", Body::Py($function))
            .only_if(|a| a[0].ty.is_index() || a[0].ty.is_float())
            .of_class()
            .raises()
            .reads()
            .doc($doc)
    };
}

/// An operator of a value and one of NumPy's; of an array only what compares.
macro_rules! beside {
    ($path:literal, $function:literal) => {
        OpDef::new(&[$path], "a, b", Body::Py($function))
            .only_if(|a| {
                stands_beside(
                    a,
                    matches!(
                        $path.as_bytes(),
                        b"operator.lt"
                            | b"operator.le"
                            | b"operator.gt"
                            | b"operator.ge"
                            | b"operator.eq"
                            | b"operator.ne"
                    ),
                )
            })
            .raises()
            .reads()
            .doc("A date or span of Python's beside NumPy's, of which Python's own is taken.")
    };
}

/// Whether one operand is a date or a span of Python's and the other one of NumPy's for which Python has one as well,
/// or an array of them, if that may be.
fn stands_beside(a: &[Arg], arrays: bool) -> bool {
    let numpys = |t: Type| {
        let element = t.as_array().filter(|_| arrays).map_or(t, |a| a.dtype);
        element.time().is_some_and(|t| python_class(t).is_some())
    };
    let pythons = |t: Type| class_of(t).is_some_and(|c| c != CLOCK);
    numpys(a[0].ty) && pythons(a[1].ty) || pythons(a[0].ty) && numpys(a[1].ty)
}

/// The first and the last date.
const FIRST: i64 = 1 - EPOCH_ORDINAL;
const LAST: i64 = 3_652_059 - EPOCH_ORDINAL;

pub(crate) static OPS: &[OpDef] = &[
    // Classes.
    on!(["datetime.date"], "year, month, day", [Whole, Whole, Whole], of_class(DATE), |cx, c| Ok(one(cx, &date_of, &flat(c))), "A date; ValueError of what is none."),
    OpDef::new(
        &["datetime.datetime"],
        "year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0",
        Body::Lir(moment_rule, |cx, c| {
            let all = flat(c);
            moment(cx, &all[..3], &all[3..7])
        }),
    )
    .raises()
    .reads()
    .doc("A date with the time of day; ValueError of what is none."),
    OpDef::new(
        &["datetime.time"],
        "hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0",
        Body::Lir(|_, a| without_zone(a, 4, of_class(CLOCK)), |cx, c| Ok(one(cx, &clock_of, &flat(c)[..4]))),
    )
    .raises()
    .reads()
    .doc("A time of day; ValueError of what is none."),
    OpDef::new(
        &["datetime.timedelta"],
        "days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0",
        Body::Lir(span_rule, emit_span),
    )
    .raises()
    .reads()
    .doc("A span of time; OverflowError of one that is too long."),
    on!(["datetime.date.today"], "", [], of_class(DATE), |cx, _| { let now = one(cx, &moment_now, &[]); Ok(vec![floor_div(cx, now[0], DAY)]) }, "The date of today.").of_class().writes(),
    on!(["datetime.datetime.now"], "tz=None", [None], of_class(DATETIME), |cx, _| Ok(one(cx, &moment_now, &[])), "What clocks on the wall show.").of_class().writes(),
    on!(["datetime.datetime.today"], "", [], of_class(DATETIME), |cx, _| Ok(one(cx, &moment_now, &[])), "What clocks on the wall show.").of_class().writes(),
    on!(["datetime.date.fromordinal"], "ordinal", [Whole], of_class(DATE), |cx, c| Ok(one(cx, &date_of_ordinal, &flat(c))), "The date with that number; the first day of year 1 is 1.").of_class(),
    on!(["datetime.datetime.fromordinal"], "ordinal", [Whole], of_class(DATETIME), |cx, c| { let d = one(cx, &date_of_ordinal, &flat(c)); Ok(vec![cx.b.bin_imm(Op::Imul, d[0], DAY)]) }, "The start of the day with that number.").of_class(),
    on!(["datetime.datetime.combine"], "date, time", [Of(DATE), Of(CLOCK)], of_class(DATETIME), |cx, c| Ok(combined(cx, c.args[0][0], c.args[1][0])), "A date and a time of day.").of_class(),
    limit!("datetime.date.min", DATE, [FIRST], "The first date."),
    limit!("datetime.date.max", DATE, [LAST], "The last date."),
    limit!("datetime.date.resolution", SPAN, [1, 0], "A day."),
    limit!("datetime.datetime.min", DATETIME, [FIRST * DAY], "The first moment."),
    limit!("datetime.datetime.max", DATETIME, [(LAST + 1) * DAY - 1], "The last moment."),
    limit!("datetime.datetime.resolution", SPAN, [0, 1], "A microsecond."),
    limit!("datetime.time.min", CLOCK, [0], "Midnight."),
    limit!("datetime.time.max", CLOCK, [DAY - 1], "The last microsecond of a day."),
    limit!("datetime.time.resolution", SPAN, [0, 1], "A microsecond."),
    limit!("datetime.timedelta.min", SPAN, [-999_999_999, 0], "The longest span back."),
    limit!("datetime.timedelta.max", SPAN, [999_999_999, DAY - 1], "The longest span."),
    limit!("datetime.timedelta.resolution", SPAN, [0, 1], "A microsecond."),
    OpDef::new(&["datetime.timezone"], "*args", Body::Lir(|_, _| Err(no_zone("timezone")), |_, _| Ok(vec![])))
        .doc("Refused: times have no time zone."),
    OpDef::new(&["datetime.timezone.utc"], "", Body::Lir(|_, _| Err(no_zone("timezone.utc")), |_, _| Ok(vec![])))
        .property()
        .of_class()
        .doc("Refused: times have no time zone."),
    // Parts.
    on!(["datetime.date.year"], "d", [Of(DATE)], Type::int(), |cx, c| Ok(year(cx, c.args[0][0])), "Its year.").property(),
    on!(["datetime.date.month"], "d", [Of(DATE)], Type::int(), |cx, c| Ok(month(cx, c.args[0][0])), "Its month, from 1 on.").property(),
    on!(["datetime.date.day"], "d", [Of(DATE)], Type::int(), |cx, c| Ok(day(cx, c.args[0][0])), "Its day of the month.").property(),
    on!(["datetime.datetime.year"], "d", [Of(DATETIME)], Type::int(), |cx, c| { let d = days(cx, c.args[0][0]); Ok(year(cx, d)) }, "Its year.").property(),
    on!(["datetime.datetime.month"], "d", [Of(DATETIME)], Type::int(), |cx, c| { let d = days(cx, c.args[0][0]); Ok(month(cx, d)) }, "Its month, from 1 on.").property(),
    on!(["datetime.datetime.day"], "d", [Of(DATETIME)], Type::int(), |cx, c| { let d = days(cx, c.args[0][0]); Ok(day(cx, d)) }, "Its day of the month.").property(),
    on!(["datetime.datetime.hour"], "d", [Of(DATETIME)], Type::int(), |cx, c| part(cx, c, 3600 * SECOND, 24), "Its hour.").property(),
    on!(["datetime.datetime.minute"], "d", [Of(DATETIME)], Type::int(), |cx, c| part(cx, c, 60 * SECOND, 60), "Its minute.").property(),
    on!(["datetime.datetime.second"], "d", [Of(DATETIME)], Type::int(), |cx, c| part(cx, c, SECOND, 60), "Its second.").property(),
    on!(["datetime.datetime.microsecond"], "d", [Of(DATETIME)], Type::int(), |cx, c| part(cx, c, 1, SECOND), "Its microsecond.").property(),
    on!(["datetime.time.hour"], "t", [Of(CLOCK)], Type::int(), |cx, c| part(cx, c, 3600 * SECOND, 24), "Its hour.").property(),
    on!(["datetime.time.minute"], "t", [Of(CLOCK)], Type::int(), |cx, c| part(cx, c, 60 * SECOND, 60), "Its minute.").property(),
    on!(["datetime.time.second"], "t", [Of(CLOCK)], Type::int(), |cx, c| part(cx, c, SECOND, 60), "Its second.").property(),
    on!(["datetime.time.microsecond"], "t", [Of(CLOCK)], Type::int(), |cx, c| part(cx, c, 1, SECOND), "Its microsecond.").property(),
    on!(["datetime.datetime.tzinfo"], "d", [Of(DATETIME)], Type::none(), |_, _| Ok(vec![]), "None: there are no time zones.").property(),
    on!(["datetime.time.tzinfo"], "t", [Of(CLOCK)], Type::none(), |_, _| Ok(vec![]), "None: there are no time zones.").property(),
    on!(["datetime.datetime.fold"], "d", [Of(DATETIME)], Type::int(), |cx, _| Ok(vec![cx.b.i64(0)]), "0: no hour comes twice.").property(),
    on!(["datetime.time.fold"], "t", [Of(CLOCK)], Type::int(), |cx, _| Ok(vec![cx.b.i64(0)]), "0: no hour comes twice.").property(),
    on!(["datetime.timedelta.days"], "span", [Of(SPAN)], Type::int(), |_, c| Ok(vec![c.args[0][0]]), "Its whole days.").property(),
    on!(["datetime.timedelta.seconds"], "span", [Of(SPAN)], Type::int(), |cx, c| Ok(vec![floor_div(cx, c.args[0][1], SECOND)]), "Its seconds beside days.").property(),
    on!(["datetime.timedelta.microseconds"], "span", [Of(SPAN)], Type::int(), |cx, c| Ok(vec![rest(cx, c.args[0][1], SECOND)]), "Its microseconds beside seconds.").property(),
    on!(["datetime.timedelta.total_seconds"], "self", [Of(SPAN)], Type::float(), |cx, c| Ok(one(cx, &span_seconds, &c.args[0])), "It in seconds."),
    on!(["datetime.datetime.date"], "self", [Of(DATETIME)], of_class(DATE), |cx, c| Ok(vec![days(cx, c.args[0][0])]), "Its date."),
    on!(["datetime.datetime.time"], "self", [Of(DATETIME)], of_class(CLOCK), |cx, c| Ok(vec![rest(cx, c.args[0][0], DAY)]), "Its time of day."),
    on!(["datetime.date.weekday"], "self", [Of(DATE)], Type::int(), |cx, c| Ok(weekday(cx, c.args[0][0], 0)), "0 for Monday to 6 for Sunday."),
    on!(["datetime.date.isoweekday"], "self", [Of(DATE)], Type::int(), |cx, c| Ok(weekday(cx, c.args[0][0], 1)), "1 for Monday to 7 for Sunday."),
    on!(["datetime.date.toordinal"], "self", [Of(DATE)], Type::int(), |cx, c| Ok(ordinal(cx, c.args[0][0])), "Its number; the first day of year 1 has 1."),
    on!(["datetime.datetime.weekday"], "self", [Of(DATETIME)], Type::int(), |cx, c| { let d = days(cx, c.args[0][0]); Ok(weekday(cx, d, 0)) }, "0 for Monday to 6 for Sunday."),
    on!(["datetime.datetime.isoweekday"], "self", [Of(DATETIME)], Type::int(), |cx, c| { let d = days(cx, c.args[0][0]); Ok(weekday(cx, d, 1)) }, "1 for Monday to 7 for Sunday."),
    on!(["datetime.datetime.toordinal"], "self", [Of(DATETIME)], Type::int(), |cx, c| { let d = days(cx, c.args[0][0]); Ok(ordinal(cx, d)) }, "The number of its date."),
    OpDef::new(&["datetime.date.replace"], "self, year=..., month=..., day=...", Body::Lir(|_, a| replaced(a, 3, DATE), |cx, c| {
        let old = date_parts(cx, c.args[0][0]);
        let new = instead(c, &old);
        Ok(one(cx, &date_of, &new))
    }))
    .raises().reads().doc("Another date, with some parts changed."),
    OpDef::new(&["datetime.datetime.replace"], "self, year=..., month=..., day=..., hour=..., minute=..., second=..., microsecond=..., tzinfo=None, *, fold=0", Body::Lir(|_, a| replaced(a, 7, DATETIME), |cx, c| {
        let d = days(cx, c.args[0][0]);
        let old = [date_parts(cx, d), clock_parts(cx, c.args[0][0])].concat();
        let new = instead(c, &old);
        moment(cx, &new[..3], &new[3..])
    }))
    .raises().reads().doc("Another moment, with some parts changed."),
    OpDef::new(&["datetime.time.replace"], "self, hour=..., minute=..., second=..., microsecond=..., tzinfo=None, *, fold=0", Body::Lir(|_, a| replaced(a, 4, CLOCK), |cx, c| {
        let old = clock_parts(cx, c.args[0][0]);
        let new = instead(c, &old);
        Ok(one(cx, &clock_of, &new))
    }))
    .raises().reads().doc("Another time of day, with some parts changed."),
    // Arithmetic.
    on!(["operator.add"], "a, b", [Of(DATE), Of(SPAN)], of_class(DATE), |cx, c| Ok(one(cx, &date_shifted, &[c.args[0][0], c.args[1][0]])), "A date, so many days later."),
    on!(["operator.add"], "a, b", [Of(SPAN), Of(DATE)], of_class(DATE), |cx, c| Ok(one(cx, &date_shifted, &[c.args[1][0], c.args[0][0]])), "A date, so many days later."),
    on!(["operator.sub"], "a, b", [Of(DATE), Of(SPAN)], of_class(DATE), |cx, c| { let back = cx.b.un(Op::Ineg, c.args[1][0]); Ok(one(cx, &date_shifted, &[c.args[0][0], back])) }, "A date, so many days earlier."),
    on!(["operator.add"], "a, b", [Of(DATETIME), Of(SPAN)], of_class(DATETIME), |cx, c| Ok(one(cx, &moment_shifted, &flat(c))), "A moment, later by a span."),
    on!(["operator.add"], "a, b", [Of(SPAN), Of(DATETIME)], of_class(DATETIME), |cx, c| Ok(one(cx, &moment_shifted, &[c.args[1][0], c.args[0][0], c.args[0][1]])), "A moment, later by a span."),
    on!(["operator.sub"], "a, b", [Of(DATETIME), Of(SPAN)], of_class(DATETIME), |cx, c| {
        let (d, us) = (cx.b.un(Op::Ineg, c.args[1][0]), cx.b.un(Op::Ineg, c.args[1][1]));
        Ok(one(cx, &moment_shifted, &[c.args[0][0], d, us]))
    }, "A moment, earlier by a span."),
    on!(["operator.sub"], "a, b", [Of(DATE), Of(DATE)], of_class(SPAN), |cx, c| Ok(vec![cx.b.bin(Op::Isub, c.args[0][0], c.args[1][0]), cx.b.i64(0)]), "The span between dates."),
    on!(["operator.sub"], "a, b", [Of(DATETIME), Of(DATETIME)], of_class(SPAN), |cx, c| {
        let apart = cx.b.bin(Op::Isub, c.args[0][0], c.args[1][0]);
        Ok(vec![floor_div(cx, apart, DAY), rest(cx, apart, DAY)])
    }, "The span between moments."),
    on!(["operator.add"], "a, b", [Of(SPAN), Of(SPAN)], of_class(SPAN), |cx, c| spans(cx, c, Op::Iadd), "Both spans, one after the other."),
    on!(["operator.sub"], "a, b", [Of(SPAN), Of(SPAN)], of_class(SPAN), |cx, c| spans(cx, c, Op::Isub), "A span, shorter by another one."),
    on!(["operator.neg"], "a", [Of(SPAN)], of_class(SPAN), |cx, c| negated(cx, &c.args[0]), "The span the other way."),
    on!(["operator.pos"], "a", [Of(SPAN)], of_class(SPAN), |_, c| Ok(c.args[0].clone()), "The span."),
    on!(["builtins.abs", "operator.abs"], "a", [Of(SPAN)], of_class(SPAN), |cx, c| {
        let back = cx.b.bin_imm(Op::IcmpSlt, c.args[0][0], 0);
        let x = c.args[0].clone();
        cx.if_else(back, |cx| negated(cx, &x), |_| Ok(x.clone()))
    }, "The span, forwards."),
    on!(["operator.mul"], "a, b", [Of(SPAN), Int], of_class(SPAN), |cx, c| scaled(cx, &c.args[0], c.args[1][0], 0), "A span so many times."),
    on!(["operator.mul"], "a, b", [Int, Of(SPAN)], of_class(SPAN), |cx, c| scaled(cx, &c.args[1], c.args[0][0], 0), "A span so many times."),
    on!(["operator.truediv"], "a, b", [Of(SPAN), Int], of_class(SPAN), |cx, c| scaled(cx, &c.args[0], c.args[1][0], 1), "A part of a span."),
    on!(["operator.floordiv"], "a, b", [Of(SPAN), Int], of_class(SPAN), |cx, c| scaled(cx, &c.args[0], c.args[1][0], 2), "A part of a span, rounded down."),
    on!(["operator.mul"], "a, b", [Of(SPAN), Float], of_class(SPAN), |cx, c| scaled_float(cx, &c.args[0], c.args[1][0], 0), "A span so many times."),
    on!(["operator.mul"], "a, b", [Float, Of(SPAN)], of_class(SPAN), |cx, c| scaled_float(cx, &c.args[1], c.args[0][0], 0), "A span so many times."),
    on!(["operator.truediv"], "a, b", [Of(SPAN), Float], of_class(SPAN), |cx, c| scaled_float(cx, &c.args[0], c.args[1][0], 1), "A part of a span."),
    on!(["operator.truediv"], "a, b", [Of(SPAN), Of(SPAN)], Type::float(), |cx, c| Ok(one(cx, &span_ratio, &flat(c))), "How often a span is in another one."),
    on!(["operator.floordiv"], "a, b", [Of(SPAN), Of(SPAN)], Type::int(), |cx, c| Ok(divided(cx, c, 0)[..1].to_vec()), "The same, rounded down."),
    on!(["operator.mod"], "a, b", [Of(SPAN), Of(SPAN)], of_class(SPAN), |cx, c| Ok(divided(cx, c, 1)[1..].to_vec()), "What is left of a span."),
    on!(["builtins.divmod"], "a, b", [Of(SPAN), Of(SPAN)], Type::tuple(vec![Type::int(), of_class(SPAN)]), |cx, c| Ok(divided(cx, c, 2)), "How often a span is in another one, and what is left."),
    // Texts.
    OpDef::new(&["format.value"], "x, conversion=0, spec=None", Body::Py("datetimes.format_value")).only_if(|a| class_of(a[0].ty).is_some()).raises().reads().internal().doc("A value of `datetime` in an f-string."),
    OpDef::new(&["builtins.format"], "x, spec=''", Body::Py("datetimes.formatted")).only_if(|a| class_of(a[0].ty).is_some() && *a[1].ty == Kind::Str).raises().reads().doc("A value of `datetime`, as `strftime` writes it."),
    on!(["datetime.date.isoformat"], "self", [Of(DATE)], Type::str(), |cx, c| Ok(vec![shown_text(cx, &c.args[0], DATE, false)]), "Its text."),
    on!(["datetime.datetime.isoformat"], "self, sep='T', timespec='auto'", [Of(DATETIME), Str, Str], Type::str(), |cx, c| iso(cx, c, 1, 2), "Its text by ISO 8601."),
    on!(["datetime.time.isoformat"], "self, timespec='auto'", [Of(CLOCK), Str], Type::str(), |cx, c| iso(cx, c, 1, 1), "Its text by ISO 8601."),
    on!(["datetime.date.strftime"], "self, format", [Of(DATE), Str], Type::str(), formatted, "Its text as a format says."),
    on!(["datetime.datetime.strftime"], "self, format", [Of(DATETIME), Str], Type::str(), formatted, "Its text as a format says."),
    on!(["datetime.time.strftime"], "self, format", [Of(CLOCK), Str], Type::str(), formatted, "Its text as a format says."),
    of_text!("datetime.date.fromisoformat", "date_string", DATE, "datetimes.date_of_text", "The date of a text by ISO 8601; ValueError."),
    of_text!("datetime.datetime.fromisoformat", "date_string", DATETIME, "datetimes.moment_of_text", "The moment of a text by ISO 8601; ValueError."),
    of_text!("datetime.time.fromisoformat", "time_string", CLOCK, "datetimes.clock_of_text", "The time of day of a text by ISO 8601; ValueError."),
    OpDef::new(&["datetime.datetime.strptime"], "date_string, format", Body::Py("datetimes.moment_in_format")).only_if(|a| a.iter().all(|x| *x.ty == Kind::Str)).of_class().raises().reads().doc("The moment of a text in a format; ValueError."),
    OpDef::new(&["datetime.datetime.ctime"], "self", Body::Py("datetimes.moment_as_c")).raises().reads().doc("Its text as C writes it."),
    OpDef::new(&["datetime.date.ctime"], "self", Body::Py("datetimes.date_as_c")).raises().reads().doc("Its text as C writes it."),
    // By the time zone of the machine.
    OpDef::new(&["datetime.datetime.timestamp"], "self", Body::Py("datetimes.timestamp")).raises().reads().doc("Its seconds since 1970 where the machine is."),
    of_number!("datetime.date.fromtimestamp", "datetimes.date_of_timestamp", "The date so many seconds after 1970 began, where the machine is."),
    of_number!("datetime.datetime.fromtimestamp", "datetimes.moment_of_timestamp", "The moment so many seconds after 1970 began, where the machine is."),
    of_number!("datetime.datetime.utcfromtimestamp", "datetimes.moment_of_utc", "The same as UTC has it."),
    OpDef::new(&["datetime.datetime.utcnow"], "", Body::Py("datetimes.now_of_utc")).of_class().raises().writes().doc("What clocks show at UTC."),
    // Weeks.
    OpDef::new(&["datetime.date.isocalendar"], "self", Body::Py("datetimes.isocalendar")).raises().reads().doc("The year, week and day of the week by ISO 8601."),
    OpDef::new(&["datetime.date.fromisocalendar"], "year, week, day", Body::Py("datetimes.date_of_week")).of_class().raises().reads().doc("The date of a year, week and day of the week; ValueError."),
    OpDef::new(&["datetime.datetime.fromisocalendar"], "year, week, day", Body::Py("datetimes.moment_of_week")).of_class().raises().reads().doc("The start of that day."),
    OpDef::new(&["datetime.date.timetuple"], "self", Body::Py("datetimes.timetuple")).reads().doc("Its numbers as `time` has them."),
    OpDef::new(&["datetime.datetime.timetuple"], "self", Body::Py("datetimes.timetuple_of_local")).reads().doc("Its numbers as `time` has them."),
    OpDef::new(&["datetime.datetime.utctimetuple"], "self", Body::Py("datetimes.timetuple_of_utc")).reads().doc("The same of a moment at UTC."),
    // Without a time zone.
    on!(["datetime.datetime.utcoffset", "datetime.datetime.tzname", "datetime.datetime.dst"], "self", [Of(DATETIME)], Type::none(), |_, _| Ok(vec![]), "None: there are no time zones."),
    on!(["datetime.datetime.timetz"], "self", [Of(DATETIME)], of_class(CLOCK), |cx, c| Ok(vec![rest(cx, c.args[0][0], DAY)]), "Its time of day."),
    // Beside NumPy's, which computes with what Python has for them.
    beside!("operator.lt", "datetimes.lt"),
    beside!("operator.le", "datetimes.le"),
    beside!("operator.gt", "datetimes.gt"),
    beside!("operator.ge", "datetimes.ge"),
    beside!("operator.eq", "datetimes.eq"),
    beside!("operator.ne", "datetimes.ne"),
    beside!("operator.add", "datetimes.add"),
    beside!("operator.sub", "datetimes.sub"),
    beside!("operator.truediv", "datetimes.truediv"),
    beside!("operator.floordiv", "datetimes.floordiv"),
    beside!("operator.mod", "datetimes.mod"),
    // To NumPy's and back.
    OpDef::new(&["datetime._from_count"], "x", Body::Lir(count_rule, emit_count)).raises().internal().doc("What Python has for a date or span of NumPy's that is one (library use)."),
];

const ZONES: &str = "times in compiled code have no time zone: convert them to UTC outside, and leave `tzinfo` and `fold` out";

fn no_zone(what: &str) -> Diagnostic {
    Diagnostic::new(Code::NoMatchingOperation, format!("{what} is not compiled")).help(ZONES)
}

/// Whole numbers, then no time zone.
fn without_zone(a: &[Arg], numbers: usize, ret: Type) -> Result<Answer> {
    if !a[numbers].is_none() || a[numbers + 1].int() != Some(0) {
        return Err(no_match("datetime", a).help(ZONES));
    }
    let mut wanted = vec![Is::Whole; numbers];
    wanted.extend([Is::None, Is::Whole]);
    fits(a, &wanted, ret)
}

fn moment_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    without_zone(a, 7, of_class(DATETIME))
}

/// The rule of `replace`: a value, then what takes the place of its parts.
fn replaced(a: &[Arg], parts: usize, class: ClassId) -> Result<Answer> {
    let refused = || no_match("replace()", a);
    if class_of(a[0].ty) != Some(class) {
        return Err(refused());
    }
    let mut types = vec![a[0].ty];
    for part in &a[1..=parts] {
        if !part.is_omitted() && !part.ty.is_index() {
            return Err(refused());
        }
        types.push(if part.is_omitted() { part.ty } else { Type::i64() });
    }
    for more in &a[parts + 1..] {
        if !more.is_none() && more.int() != Some(0) {
            return Err(refused().help(ZONES));
        }
        types.push(more.ty);
    }
    Ok(Answer::coerced(a[0].ty, types))
}

/// The parts that a call gives in place of old ones.
fn instead(c: &OpCall<'_>, old: &[Value]) -> Vec<Value> {
    old.iter().enumerate().map(|(k, v)| c.args[k + 1].first().copied().unwrap_or(*v)).collect()
}

fn span_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let mut types = vec![];
    for part in a {
        let (whole, float) = (fits(std::slice::from_ref(part), &[Is::Int], Type::none()), part.ty.is_float());
        types.push(match whole {
            Ok(_) => Type::i64(),
            Err(_) if float && part.ty.scalar_ty() == Some(Ty::F64) => Type::f64(),
            Err(_) => {
                return Err(no_match("timedelta()", a).help("Python takes its own numbers here: int(x)"));
            }
        });
    }
    Ok(Answer::coerced(of_class(SPAN), types))
}

fn emit_span(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let parts = flat(c);
    let floats = parts.iter().enumerate().filter(|(_, v)| cx.b.ty(**v) == Ty::F64);
    let floats: i64 = floats.map(|(k, _)| 1 << k).sum();
    let (at, floats) = (cx.spill(&parts), cx.b.i64(floats));
    Ok(two(cx, &span_of, &[at, floats]))
}

/// The leaves of all operands.
fn flat(c: &OpCall<'_>) -> Vec<Value> {
    c.args.concat()
}

fn one(cx: &mut LowerCx<'_>, helper: &'static RtFn, args: &[Value]) -> Val {
    vec![cx.helper_value(helper, args)]
}

/// What a helper writes to the place that it is given last: so many numbers.
fn written(cx: &mut LowerCx<'_>, helper: &'static RtFn, args: &[Value], n: i32) -> Val {
    let out = cx.b.slot_addr(8 * n as u32);
    cx.helper(helper, &[args, &[out]].concat());
    (0..n).map(|k| cx.b.load(Ty::I64, out, 8 * k, Alias::Stack)).collect()
}

fn two(cx: &mut LowerCx<'_>, helper: &'static RtFn, args: &[Value]) -> Val {
    written(cx, helper, args, 2)
}

fn rest(cx: &mut LowerCx<'_>, x: Value, n: i64) -> Value {
    let whole = floor_div(cx, x, n);
    let back = cx.b.bin_imm(Op::Imul, whole, n);
    cx.b.bin(Op::Isub, x, back)
}

/// The day of a moment.
fn days(cx: &mut LowerCx<'_>, moment: Value) -> Value {
    floor_div(cx, moment, DAY)
}

fn combined(cx: &mut LowerCx<'_>, day: Value, clock: Value) -> Val {
    let start = cx.b.bin_imm(Op::Imul, day, DAY);
    vec![cx.b.bin(Op::Iadd, start, clock)]
}

fn moment(cx: &mut LowerCx<'_>, date: &[Value], clock: &[Value]) -> Result<Val> {
    let (day, clock) = (one(cx, &date_of, date), one(cx, &clock_of, clock));
    Ok(combined(cx, day[0], clock[0]))
}

fn year(cx: &mut LowerCx<'_>, day: Value) -> Val {
    vec![date_parts(cx, day)[0]]
}
fn month(cx: &mut LowerCx<'_>, day: Value) -> Val {
    vec![date_parts(cx, day)[1]]
}
fn day(cx: &mut LowerCx<'_>, day: Value) -> Val {
    vec![date_parts(cx, day)[2]]
}

/// Year, month and day.
fn date_parts(cx: &mut LowerCx<'_>, day: Value) -> Val {
    let months = cx.helper_value(&calendar_month, &[day]);
    let first = cx.helper_value(&calendar_days, &[months]);
    let (years, of_year) = (floor_div(cx, months, 12), rest(cx, months, 12));
    let before = cx.b.bin(Op::Isub, day, first);
    vec![
        cx.b.bin_imm(Op::Iadd, years, 1970),
        cx.b.bin_imm(Op::Iadd, of_year, 1),
        cx.b.bin_imm(Op::Iadd, before, 1),
    ]
}

/// Hour, minute, second and microsecond.
fn clock_parts(cx: &mut LowerCx<'_>, x: Value) -> Val {
    let parts = [(3600 * SECOND, 24), (60 * SECOND, 60), (SECOND, 60), (1, SECOND)];
    parts.map(|(unit, of)| counted_part(cx, x, unit, of)).to_vec()
}

/// So many units, of which `of` are in the next larger one.
fn counted_part(cx: &mut LowerCx<'_>, x: Value, unit: i64, of: i64) -> Value {
    let units = floor_div(cx, x, unit);
    rest(cx, units, of)
}

fn part(cx: &mut LowerCx<'_>, c: &OpCall<'_>, unit: i64, of: i64) -> Result<Val> {
    Ok(vec![counted_part(cx, c.args[0][0], unit, of)])
}

/// The day of the week from Monday on; the first day of 1970 was a Thursday.
fn weekday(cx: &mut LowerCx<'_>, day: Value, from: i64) -> Val {
    let shifted = cx.b.bin_imm(Op::Iadd, day, 3);
    let n = rest(cx, shifted, 7);
    vec![if from == 0 { n } else { cx.b.bin_imm(Op::Iadd, n, from) }]
}

/// The first day of 1970 in Python's count of days.
pub const EPOCH_ORDINAL: i64 = 719_163;

fn ordinal(cx: &mut LowerCx<'_>, day: Value) -> Val {
    vec![cx.b.bin_imm(Op::Iadd, day, EPOCH_ORDINAL)]
}

fn spans(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: Op) -> Result<Val> {
    let (a, b) = (&c.args[0], &c.args[1]);
    let sums = [cx.b.bin(op, a[0], b[0]), cx.b.bin(op, a[1], b[1])];
    Ok(two(cx, &span_sum, &sums))
}

fn negated(cx: &mut LowerCx<'_>, x: &[Value]) -> Result<Val> {
    let back = [cx.b.un(Op::Ineg, x[0]), cx.b.un(Op::Ineg, x[1])];
    Ok(two(cx, &span_sum, &back))
}

fn scaled(cx: &mut LowerCx<'_>, x: &[Value], by: Value, how: i64) -> Result<Val> {
    let how = cx.b.i64(how);
    Ok(two(cx, &span_scaled, &[x[0], x[1], by, how]))
}

fn scaled_float(cx: &mut LowerCx<'_>, x: &[Value], by: Value, how: i64) -> Result<Val> {
    let how = cx.b.i64(how);
    Ok(two(cx, &span_scaled_float, &[x[0], x[1], by, how]))
}

fn divided(cx: &mut LowerCx<'_>, c: &OpCall<'_>, how: i64) -> Val {
    let args = [flat(c), vec![cx.b.i64(how)]].concat();
    written(cx, &span_divided, &args, 3)
}

/// The text of a value, as an owned string.
pub(crate) fn shown_text(cx: &mut LowerCx<'_>, x: &[Value], class: ClassId, repr: bool) -> Value {
    let second = if class == SPAN { x[1] } else { cx.b.i64(0) };
    let args = [cx.b.i64(kind(class)), x[0], second, cx.b.i64(i64::from(repr))];
    cx.helper_value(&moment_text, &args)
}

fn iso(cx: &mut LowerCx<'_>, c: &OpCall<'_>, sep: usize, timespec: usize) -> Result<Val> {
    let class = class_of(c.types[0]).ok_or_else(|| Diagnostic::internal("the text of no moment"))?;
    let args = [cx.b.i64(kind(class)), c.args[0][0], c.args[sep][0], c.args[timespec][0]];
    Ok(one(cx, &moment_iso, &args))
}

fn formatted(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let class = class_of(c.types[0]).ok_or_else(|| Diagnostic::internal("the text of no moment"))?;
    let args = [cx.b.i64(kind(class)), c.args[0][0], c.args[1][0]];
    Ok(one(cx, &moment_format, &args))
}

/// What Python has for times of NumPy's, in which unit they are counted then; none where they stay numbers.
pub(crate) fn python_class(t: Time) -> Option<(ClassId, Unit)> {
    let fine = t.unit > Unit::Micro;
    match (t.span, t.unit) {
        (_, Unit::Generic) => None,
        (_, _) if fine => None,
        (true, Unit::Year | Unit::Month) => None,
        (true, _) => Some((SPAN, Unit::Micro)),
        (false, unit) if unit <= Unit::Day => Some((DATE, Unit::Day)),
        (false, _) => Some((DATETIME, Unit::Micro)),
    }
}

/// The date or span of NumPy's that a value is by itself.
pub(crate) fn numpy_time(t: Type) -> Option<Time> {
    match class_of(t)? {
        DATE => Some(Time::date(Unit::Day)),
        DATETIME => Some(Time::date(Unit::Micro)),
        SPAN => Some(Time::span(Unit::Micro)),
        _ => None,
    }
}

/// Such a value as the number of units by which NumPy counts it.
pub(crate) fn count(cx: &mut LowerCx<'_>, x: &[Value], t: Time) -> Value {
    if !t.span {
        return x[0];
    }
    let whole = cx.b.bin_imm(Op::Imul, x[0], DAY);
    cx.b.bin(Op::Iadd, whole, x[1])
}

fn count_rule(_: &mut TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let found = a[0].ty.time().and_then(python_class).ok_or_else(|| no_match("item()", a))?;
    Ok(Answer::of(of_class(found.0)))
}

/// A count of days or microseconds as a value of Python's; OverflowError where that has none.
fn emit_count(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let t = c.types[0].time().ok_or_else(|| Diagnostic::internal("no time"))?;
    let (class, unit) = python_class(t).ok_or_else(|| Diagnostic::internal("no class of Python's"))?;
    let x = c.args[0][0];
    // In units of days, which no date of Python's is far from.
    let day = crate::emit::dates::convert(cx, x, t, Time { unit: Unit::Day, ..t })?;
    let limit = if class == SPAN { (-106_751_991, 106_751_990) } else { (FIRST, LAST) };
    let (early, late) = (cx.b.bin_imm(Op::IcmpSge, day, limit.0), cx.b.bin_imm(Op::IcmpSle, day, limit.1));
    let fits = cx.and(early, late);
    cx.check(
        fits,
        Class::OverflowError,
        "no date or span of Python's is so far away: x.astype(np.int64) is the number of units",
    );
    let n = crate::emit::dates::convert(cx, x, t, Time { unit, ..t })?;
    if class == SPAN {
        return Ok(vec![floor_div(cx, n, DAY), rest(cx, n, DAY)]);
    }
    Ok(vec![n])
}
