//! The calendar as compiled code calls it.

use crate::Native;
use crate::exc::{Error, Res, or_raise};
use crate::string::Chars;
use crate::string::helpers::small;
use tierup_core::exc::Class;
use tierup_core::layout::Str;
use tierup_core::ops::calendar::{Helpers, days_of_months, months_of_days};
use tierup_core::ops::date_texts::{Helpers as TextHelpers, Moment, Said, repr_of, said, span_said, text_of};
use tierup_core::rt::Ctx;
use tierup_core::types::time::{NAT, Time, Unit};

impl Helpers for Native {
    unsafe fn calendar_days(months: i64) -> i64 {
        days_of_months(months)
    }
    unsafe fn calendar_month(days: i64) -> i64 {
        months_of_days(days)
    }
}

/// The moment that a text names by itself, in a unit.
fn moment(seconds: i64, unit: Unit) -> i64 {
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    Moment { unit, months: months_of_days(days), days, seconds: of_day, attos: 0 }.to(unit)
}

fn parse(text: &str, of: i64) -> Res<i64> {
    let t = Time::from_number(of)
        .ok_or_else(|| Error::new(Class::SystemError, format!("no times have code {of}")))?;
    if t.span {
        return span_said(text).ok_or_else(|| Error::value("Could not convert object to NumPy timedelta"));
    }
    Ok(match said(text).map_err(Error::value)? {
        Said::Nat => NAT,
        Said::Now => moment(crate::time::unix_seconds(), t.unit),
        Said::Today => moment(crate::time::local(crate::time::unix_seconds())? / 86_400 * 86_400, t.unit),
        Said::Moment(m) => m.to(t.unit),
    })
}

impl TextHelpers for Native {
    unsafe fn time_text(x: i64, of: i64) -> *mut Str {
        small(&Time::from_number(of).map_or(String::new(), |t| text_of(x, t)))
    }
    unsafe fn time_repr(x: i64, of: i64) -> *mut Str {
        small(&Time::from_number(of).map_or(String::new(), |t| repr_of(x, t)))
    }
    unsafe fn time_parse(ctx: Ctx, text: *mut Str, of: i64) -> i64 {
        // SAFETY: compiled code passes its context and a live string.
        unsafe { or_raise(ctx, parse(&Chars::of(text).text(), of)) }
    }
}
