//! Dates and spans of time as texts, and texts as dates: ISO 8601 as NumPy writes and reads it.

use super::{Body, OpDef};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::layout::Str;
use crate::lir::Value;
use crate::ops::calendar::{days_of_months, months_of_days};
use crate::rt::Ctx;
use crate::types::record::Chars;
use crate::types::time::{NAT, Time, Unit};
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, no_match};

crate::runtime_fns! {
    /// Dates and spans as texts. `of` says which unit they have: [`Time::number`].
    trait Helpers;
    /// `str(x)` of a date or span.
    fn time_text(x: i64, of: i64) -> *mut Str [Allocates, Never];
    /// `repr(x)` of a date or span.
    fn time_repr(x: i64, of: i64) -> *mut Str [Allocates, Never];
    /// The date or span that a text says, rounded down to its unit; ValueError.
    fn time_parse(ctx: Ctx, text: *mut Str, of: i64) -> i64 [Reads, Pending];
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["numpy._parsed"], "text, dtype", Body::Lir(parsed_rule, |cx, c| parsed(cx, c, c.ret)))
        .raises()
        .reads()
        .internal()
        .doc("The date or span of a type that a text says (library use)."),
    OpDef::new(&["numpy._text_type"], "x, unit", Body::Lir(text_type_rule, |_, _| Ok(vec![])))
        .records()
        .internal()
        .doc("The type of fixed-width text that has room for any date of a unit, or for any span (library use)."),
    OpDef::new(
        &["numpy.datetime_as_string"],
        "arr, unit=None, timezone='naive', casting='same_kind'",
        Body::Py("times.as_string"),
    )
    .only_if(|a| {
        let known = |k: usize, all: &[&str]| a[k].text().is_some_and(|text| all.contains(&text));
        let date = super::dtype::time_of(a).is_some_and(|t| !t.span);
        date && known(2, &["naive", "UTC"]) && known(3, &["same_kind", "unsafe"])
    })
    .raises()
    .reads()
    .doc("Texts of dates, in their unit or in another one."),
    OpDef::new(&["array.astype"], "a, dtype", Body::Py("times.to_texts"))
        .only_if(|a| super::dtype::time_of(a).is_some() && text_arg(&a[1]).is_some())
        .raises()
        .reads()
        .records()
        .doc("Texts of dates or spans."),
    OpDef::new(&["array.astype"], "a, dtype", Body::Py("times.from_texts"))
        .only_if(|a| {
            let of_text = a[0].ty.as_array().is_some_and(|t| t.dtype.chars().is_some());
            of_text && super::dtype::time_arg(&a[1]).is_some()
        })
        .raises()
        .reads()
        .records()
        .doc("The dates or spans that texts say."),
    OpDef::new(&["numpy._width"], "x", Body::Lir(|_, a| of_text(a, |c| Const::Int(c.count)), |_, _| Ok(vec![])))
        .records()
        .internal()
        .doc("How wide the texts of an array are (library use)."),
    OpDef::new(&["numpy._is_wide"], "x", Body::Lir(|_, a| of_text(a, |c| Const::Bool(c.wide)), |_, _| Ok(vec![])))
        .records()
        .internal()
        .doc("Whether the texts of an array are str, not bytes (library use)."),
    OpDef::new(&["numpy._room_of"], "dtype, x", Body::Lir(room_rule, |_, _| Ok(vec![])))
        .records()
        .internal()
        .doc("The fixed-width text that a name means; one without a width is as wide as times need (library use)."),
];

/// What is known of the texts of an array.
fn of_text(a: &[Arg], what: fn(Chars) -> Const) -> Result<Answer> {
    let chars = a[0].ty.as_array().and_then(|t| t.dtype.chars());
    chars.map(|c| Answer::constant(what(c))).ok_or_else(|| no_match("a text", a))
}

/// Whether a text gives times of this type whatever it says.
fn has_known_unit(t: Time) -> bool {
    t.span || t.unit != Unit::Generic
}

/// What to do where the unit of a date depends on a text that is computed.
pub(crate) const UNIT_OF_TEXT: &str = "the unit depends on the text, which is not known when the function is compiled: give the unit, np.datetime64(s, 'D')";

fn parsed_rule(_: &mut crate::typing::TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let t = super::dtype::time_arg(&a[1]).and_then(Type::time).filter(|t| has_known_unit(*t));
    match t {
        Some(t) if matches!(*a[0].ty, Kind::Str | Kind::Bytes) => Ok(Answer::of(t.ty())),
        _ => {
            let text = "the unit of dates that are read depends on their texts";
            Err(Diagnostic::new(Code::RequiresConstant, text).help("give the unit: a.astype('M8[D]')"))
        }
    }
}

/// Reads a text, which is operand 0, as a time of a type.
pub(crate) fn parsed(cx: &mut LowerCx<'_>, c: &OpCall<'_>, t: Type) -> Result<Val> {
    let t = t.time().ok_or_else(|| Diagnostic::internal("a text that is read as something else"))?;
    let of = cx.b.i64(t.number());
    Ok(vec![cx.helper_value(&time_parse, &[c.args[0][0], of])])
}

/// The text of a time.
pub(crate) fn text(cx: &mut LowerCx<'_>, x: Value, t: Time, repr: bool) -> Value {
    let of = cx.b.i64(t.number());
    cx.helper_value(if repr { &time_repr } else { &time_text }, &[x, of])
}

/// As many characters as NumPy keeps for texts of dates of a unit.
fn room(unit: Unit) -> i64 {
    match unit {
        Unit::Year => 22,
        Unit::Month => 25,
        Unit::Week | Unit::Day => 28,
        Unit::Hour => 32,
        Unit::Minute => 35,
        Unit::Second => 38,
        Unit::Milli => 42,
        Unit::Micro => 45,
        Unit::Nano => 48,
        Unit::Pico => 51,
        Unit::Femto => 54,
        Unit::Atto => 57,
        Unit::Generic => 4,
    }
}

fn text_type_rule(_: &mut crate::typing::TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let refused = || no_match("datetime_as_string()", a);
    let t = super::dtype::time_of(a).ok_or_else(refused)?;
    let unit = match a[1].is_none() {
        true => t.unit,
        false => a[1].text().and_then(Unit::from_name).ok_or_else(|| {
            let text = "the width of the texts depends on the unit, which is no constant one";
            Diagnostic::new(Code::RequiresConstant, text).help("give one of the units: unit='s'")
        })?,
    };
    Ok(Answer::of(Type::new(Kind::DType(Chars { wide: true, count: room(unit) }.dtype()))))
}

/// Text as a `dtype` argument names it: how wide it is, where it says so.
pub(crate) fn text_arg(a: &Arg) -> Option<(bool, Option<i64>)> {
    if let Kind::DType(t) = *a.ty {
        return t.chars().map(|c| (c.wide, Some(c.count)));
    }
    if let Kind::Builtin(op) = *a.ty {
        return match op {
            super::id::BUILTINS_STR => Some((true, None)),
            super::id::BUILTINS_BYTES => Some((false, None)),
            _ => None,
        };
    }
    match a.text()?.trim_start_matches(['<', '=', '|']) {
        "U" | "str" | "U0" => Some((true, None)),
        "S" | "bytes" | "S0" => Some((false, None)),
        other => Chars::from_name(other).map(|c| (c.wide, Some(c.count))),
    }
}

fn room_rule(_: &mut crate::typing::TyCx<'_, '_>, a: &[Arg]) -> Result<Answer> {
    let refused = || no_match("astype()", a);
    let (wide, count) = text_arg(&a[0]).ok_or_else(refused)?;
    let t = super::dtype::time_of(&a[1..]).ok_or_else(refused)?;
    let count = count.unwrap_or(if t.span { 21 } else { room(t.unit) });
    Ok(Answer::of(Type::new(Kind::DType(Chars { wide, count }.dtype()))))
}

/// What a unit is called in the text of a span.
fn name_of_span(unit: Unit) -> &'static str {
    match unit {
        Unit::Generic => "generic time units",
        Unit::Year => "years",
        Unit::Month => "months",
        Unit::Week => "weeks",
        Unit::Day => "days",
        Unit::Hour => "hours",
        Unit::Minute => "minutes",
        Unit::Second => "seconds",
        Unit::Milli => "milliseconds",
        Unit::Micro => "microseconds",
        Unit::Nano => "nanoseconds",
        Unit::Pico => "picoseconds",
        Unit::Femto => "femtoseconds",
        Unit::Atto => "attoseconds",
    }
}

/// `str` of a date or span.
pub fn text_of(x: i64, t: Time) -> String {
    if x == NAT {
        return "NaT".into();
    }
    if t.span {
        return format!("{x} {}", name_of_span(t.unit));
    }
    let per_hour = match t.unit {
        Unit::Generic => return x.to_string(),
        Unit::Year => return format!("{:04}", x.wrapping_add(1970)),
        Unit::Month => return month_text(x),
        Unit::Week => return day_text(x.wrapping_mul(7)),
        Unit::Day => return day_text(x),
        Unit::Hour => 1,
        Unit::Minute => 60,
        Unit::Second | Unit::Milli | Unit::Micro | Unit::Nano | Unit::Pico | Unit::Femto | Unit::Atto => 3600,
    };
    let thousands = (t.unit as usize).saturating_sub(Unit::Second as usize) as u32;
    let parts = 1000i64.pow(thousands);
    let (whole, part) = (x.div_euclid(parts), x.rem_euclid(parts));
    let per_day = 24 * per_hour;
    let (day, of_day) = (whole.div_euclid(per_day), whole.rem_euclid(per_day));
    let mut out = format!("{}T{:02}", day_text(day), of_day / per_hour);
    if t.unit >= Unit::Minute {
        out += &format!(":{:02}", of_day * 60 / per_hour % 60);
    }
    if t.unit >= Unit::Second {
        out += &format!(":{:02}", of_day % 60);
    }
    if thousands > 0 {
        out += &format!(".{part:0width$}", width = 3 * thousands as usize);
    }
    out
}

fn month_text(months: i64) -> String {
    format!("{:04}-{:02}", months.div_euclid(12).wrapping_add(1970), months.rem_euclid(12) + 1)
}

fn day_text(day: i64) -> String {
    let month = months_of_days(day);
    format!("{}-{:02}", month_text(month), day.wrapping_sub(days_of_months(month)).wrapping_add(1))
}

/// `repr` of a date or span.
pub fn repr_of(x: i64, t: Time) -> String {
    let (class, unit) = (if t.span { "timedelta64" } else { "datetime64" }, t.unit.name());
    let said = match (t.span, x) {
        (true, NAT) => "'NaT'".into(),
        (true, _) => x.to_string(),
        (false, _) => format!("'{}'", text_of(x, t)),
    };
    match (t.span, t.unit) {
        (true, Unit::Generic) => format!("np.{class}({said})"),
        (false, Unit::Generic) => format!("np.{class}({said},'generic')"),
        (false, _) if x != NAT && t.unit != Unit::Hour => format!("np.{class}({said})"),
        _ => format!("np.{class}({said},'{unit}')"),
    }
}

/// What a text says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said {
    Nat,
    /// The date of this moment, or this moment.
    Today,
    Now,
    Moment(Moment),
}

/// A moment as a text gives it, and the unit that it is exact to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    pub unit: Unit,
    pub months: i64,
    pub days: i64,
    /// Seconds of the day, and attoseconds of the second.
    pub seconds: i64,
    pub attos: i64,
}

impl Moment {
    /// It in a unit, rounded down. Arithmetic wraps, as NumPy's does.
    pub fn to(self, unit: Unit) -> i64 {
        let seconds = self.days.wrapping_mul(86_400).wrapping_add(self.seconds);
        match unit {
            Unit::Generic => NAT,
            Unit::Year => self.months.div_euclid(12),
            Unit::Month => self.months,
            Unit::Week => self.days.div_euclid(7),
            Unit::Day => self.days,
            Unit::Hour => self.days.wrapping_mul(24).wrapping_add(self.seconds / 3600),
            Unit::Minute => self.days.wrapping_mul(1440).wrapping_add(self.seconds / 60),
            Unit::Second | Unit::Milli | Unit::Micro | Unit::Nano | Unit::Pico | Unit::Femto | Unit::Atto => {
                let thousands = unit as u32 - Unit::Second as u32;
                let part = self.attos / 1000i64.pow(6 - thousands);
                seconds.wrapping_mul(1000i64.pow(thousands)).wrapping_add(part)
            }
        }
    }
}

/// Reads a text, of which a part may be left.
struct Reader<'a> {
    all: &'a str,
    rest: &'a [u8],
}

impl Reader<'_> {
    fn error(&self) -> String {
        let at = self.all.len() - self.rest.len();
        format!("Error parsing datetime string \"{}\" at position {at}", self.all)
    }
    fn out_of_range(&self, what: &str) -> String {
        format!("{what} out of range in datetime string \"{}\"", self.all)
    }
    fn eat(&mut self, c: u8) -> bool {
        let is = self.rest.first() == Some(&c);
        if is {
            self.rest = &self.rest[1..];
        }
        is
    }
    fn spaces(&mut self) {
        while let Some((b' ' | 9..=13, rest)) = self.rest.split_first() {
            self.rest = rest;
        }
    }
    fn digit(&mut self) -> Option<i64> {
        let (c, rest) = self.rest.split_first().filter(|(c, _)| c.is_ascii_digit())?;
        self.rest = rest;
        Some(i64::from(c - b'0'))
    }
    /// A number of two digits in a range.
    fn two(&mut self, low: i64, high: i64, what: &str) -> std::result::Result<i64, String> {
        if !self.rest.get(..2).is_some_and(|d| d.iter().all(u8::is_ascii_digit)) {
            return Err(self.error());
        }
        let n = 10 * self.digit().unwrap_or(0) + self.digit().unwrap_or(0);
        if (low..=high).contains(&n) { Ok(n) } else { Err(self.out_of_range(what)) }
    }
    /// So many digits at most, as a number of so many; how many there were.
    fn fraction(&mut self, most: u32) -> (i64, u32) {
        let (mut n, mut digits) = (0, 0);
        while digits < most {
            let Some(d) = self.digit() else { break };
            n = 10 * n + d;
            digits += 1;
        }
        (n * 10i64.pow(most - digits), digits)
    }
}

/// What a text says, or what is wrong with it.
pub fn said(all: &str) -> std::result::Result<Said, String> {
    if all.is_empty() || all.eq_ignore_ascii_case("nat") {
        return Ok(Said::Nat);
    }
    if all.eq_ignore_ascii_case("today") {
        return Ok(Said::Today);
    }
    if all.eq_ignore_ascii_case("now") {
        return Ok(Said::Now);
    }
    let mut r = Reader { all, rest: all.as_bytes() };
    r.spaces();
    let negative = all.starts_with('-');
    if !r.eat(b'-') {
        r.eat(b'+');
    }
    if r.rest.is_empty() {
        return Err(r.error());
    }
    let mut year = 0i64;
    while let Some(d) = r.digit() {
        year = year.wrapping_mul(10).wrapping_add(d);
    }
    let year = if negative { year.wrapping_neg() } else { year };
    let months = year.wrapping_sub(1970).wrapping_mul(12);
    let of = |unit, months: i64, day: i64| {
        let days = days_of_months(months).wrapping_add(day);
        Moment { unit, months, days, seconds: 0, attos: 0 }
    };
    if r.rest.is_empty() {
        return Ok(Said::Moment(of(Unit::Year, months, 0)));
    }
    if !r.eat(b'-') {
        return Err(r.error());
    }
    let months = months.wrapping_add(r.two(1, 12, "Month")? - 1);
    if r.rest.is_empty() {
        return Ok(Said::Moment(of(Unit::Month, months, 0)));
    }
    if !r.eat(b'-') {
        return Err(r.error());
    }
    let length = days_of_months(months.wrapping_add(1)).wrapping_sub(days_of_months(months));
    let mut moment = of(Unit::Day, months, r.two(1, length, "Day")? - 1);
    if r.rest.is_empty() {
        return Ok(Said::Moment(moment));
    }
    if !r.eat(b'T') && !r.eat(b' ') {
        return Err(r.error());
    }
    clock(&mut r, &mut moment)?;
    offset(&mut r, &mut moment)?;
    if r.rest.is_empty() { Ok(Said::Moment(moment)) } else { Err(r.error()) }
}

/// The time of the day, up to what may say a time zone.
fn clock(r: &mut Reader<'_>, m: &mut Moment) -> std::result::Result<(), String> {
    m.unit = Unit::Hour;
    m.seconds = 3600 * r.two(0, 23, "Hours")?;
    if !r.eat(b':') {
        return Ok(());
    }
    m.unit = Unit::Minute;
    m.seconds += 60 * r.two(0, 59, "Minutes")?;
    if !r.eat(b':') {
        return Ok(());
    }
    m.unit = Unit::Second;
    m.seconds += r.two(0, 59, "Seconds")?;
    if !r.eat(b'.') {
        return Ok(());
    }
    let units = [(Unit::Milli, Unit::Micro), (Unit::Nano, Unit::Pico), (Unit::Femto, Unit::Atto)];
    for (k, (coarse, fine)) in units.into_iter().enumerate() {
        let (n, digits) = r.fraction(6);
        m.attos += n * 1_000_000i64.pow(2 - k as u32);
        m.unit = if digits > 3 { fine } else { coarse };
        if !r.rest.first().is_some_and(u8::is_ascii_digit) {
            break;
        }
    }
    Ok(())
}

/// How far a time zone is from that of Greenwich, whose time the moment is then in.
fn offset(r: &mut Reader<'_>, m: &mut Moment) -> std::result::Result<(), String> {
    if !r.eat(b'Z') {
        let east = r.eat(b'+');
        if east || r.eat(b'-') {
            let mut minutes = 60 * r.two(0, 23, "Timezone hours offset")?;
            if !r.rest.is_empty() {
                r.eat(b':');
                if r.rest.first().is_some_and(u8::is_ascii_digit) {
                    minutes += r.two(0, 59, "Timezone minutes offset")?;
                }
            }
            let seconds = m.seconds + if east { -60 } else { 60 } * minutes;
            m.days = m.days.wrapping_add(seconds.div_euclid(86_400));
            m.seconds = seconds.rem_euclid(86_400);
            m.months = months_of_days(m.days);
        }
    }
    r.spaces();
    Ok(())
}

/// The span that a text says, as C's `strtol` reads it; none of other texts.
pub fn span_said(text: &str) -> Option<i64> {
    if text.is_empty() || text.eq_ignore_ascii_case("nat") {
        return Some(NAT);
    }
    let digits = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let limit = if digits.starts_with('-') { i64::MIN } else { i64::MAX };
    Some(digits.parse().unwrap_or(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The date that a text says, in the unit that it is exact to.
    fn exactly(text: &str) -> Option<(i64, Unit)> {
        match said(text).ok()? {
            Said::Moment(m) => Some((m.to(m.unit), m.unit)),
            Said::Nat => Some((NAT, Unit::Generic)),
            Said::Now | Said::Today => None,
        }
    }

    #[test]
    fn texts_are_read_as_exactly_as_they_say() {
        assert_eq!(exactly("2000"), Some((30, Unit::Year)));
        assert_eq!(exactly("2000-02-29"), Some((11_016, Unit::Day)));
        assert_eq!(exactly("1970-01-02T03"), Some((27, Unit::Hour)));
        assert_eq!(exactly("1970-01-01 00:01:02.5"), Some((62_500, Unit::Milli)));
        assert_eq!(exactly("1969-12-31T23:59:59.999999"), Some((-1, Unit::Micro)));
        assert_eq!(exactly("1970-01-01T00:00+01:00"), Some((-60, Unit::Minute)));
        assert_eq!(exactly("NaT"), Some((NAT, Unit::Generic)));
        for text in
            ["today", "2001-02-29", "2000-13", "2000-1-1", "2000-01-01T", "2000-01-01T24", "2000-01-01 "]
        {
            assert_eq!(exactly(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (k, unit) in Unit::ALL[1..].iter().enumerate() {
            for x in [0, 1, -1, 12_345, -987_654_321 >> k] {
                let text = text_of(x, Time::date(*unit));
                let Ok(Said::Moment(m)) = said(&text) else { panic!("{text}") };
                assert_eq!(m.to(*unit), x, "{text}");
            }
        }
    }

    #[test]
    fn spans_are_whole_numbers() {
        assert_eq!((span_said(" -5"), span_said("+7"), span_said("")), (Some(-5), Some(7), Some(NAT)));
        for text in ["5 ", "5.5", "x", "-", "0x5"] {
            assert_eq!(span_said(text), None, "{text}");
        }
    }
}
