//! Making dates and spans of time: `np.datetime64(...)`, `np.timedelta64(...)`.

use crate::diag::Result;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::dates::is_convertible;
use crate::ops::date_texts::{self, Said, UNIT_OF_TEXT};
use crate::ops::datetimes::{self, numpy_time};
use crate::ops::dtype::SINGLE_UNITS;
use crate::types::time::{NAT, Time, Unit};
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, no_match};

/// The unit that a call gives, by a constant text; the generic one where it gives none.
fn unit_arg(a: &Arg) -> Option<Unit> {
    if a.is_omitted() {
        return Some(Unit::Generic);
    }
    Unit::from_name(a.text()?)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "of anything else no date or span is made")]
pub(super) fn made_rule(a: &[Arg], span: bool) -> Result<Answer> {
    let name = if span { "timedelta64()" } else { "datetime64()" };
    let refuse = || no_match(name, a);
    let given = unit_arg(&a[1]).ok_or_else(|| refuse().help(SINGLE_UNITS))?;
    let is_given = given != Unit::Generic;
    let value = &a[0];
    let made = |unit: Unit| Ok(Answer::of(Time { span, unit: if is_given { given } else { unit } }.ty()));
    match *value.ty {
        Kind::Ellipsis | Kind::None => made(Unit::Generic),
        Kind::Str | Kind::Bytes if span || is_given => made(Unit::Generic),
        Kind::Str => {
            let text = value.text().ok_or_else(|| refuse().help(UNIT_OF_TEXT))?;
            made(match date_texts::said(text) {
                Ok(Said::Moment(m)) => m.unit,
                Ok(Said::Nat) => Unit::Generic,
                Ok(Said::Now) => Unit::Second,
                // What is wrong with a text is raised when the call is reached.
                Ok(Said::Today) | Err(_) => Unit::Day,
            })
        }
        Kind::Bytes => Err(refuse().help(UNIT_OF_TEXT)),
        Kind::Bool | Kind::Int(_) if span || is_given => made(Unit::Generic),
        Kind::Frozen(..) if let Some(t) = numpy_time(value.ty).filter(|t| t.span == span) => {
            let to = Time { unit: given, ..t };
            let calendar = span && given.is_calendar();
            if calendar || !is_convertible(t, to) { Err(refuse()) } else { made(t.unit) }
        }
        Kind::Time(t) if t.span == span => {
            let wanted = Time { unit: if is_given { given } else { t.unit }, ..t };
            if !is_convertible(t, wanted)
                || span && t.unit.is_calendar() != wanted.unit.is_calendar() && t.unit != Unit::Generic
            {
                return Err(refuse());
            }
            made(t.unit)
        }
        _ => Err(refuse()),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rule takes None besides, which is no time")]
pub(super) fn emit_made(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let Some(wanted) = c.ret.time() else { return Err(no_match("datetime64()", &[])) };
    let (x, from) = match *c.types[0] {
        Kind::Ellipsis if wanted.span => return Ok(vec![cx.b.i64(0)]),
        Kind::Time(t) => (c.args[0][0], t),
        Kind::Frozen(..) if let Some(t) = numpy_time(c.types[0]) => (datetimes::count(cx, &c.args[0], t), t),
        Kind::Str | Kind::Bytes => {
            let known = c.consts[0].as_ref().and_then(Const::as_str).filter(|_| !wanted.span);
            return match known.and_then(|text| date_texts::said(text).ok()) {
                Some(Said::Moment(m)) => Ok(vec![cx.b.i64(m.to(wanted.unit))]),
                Some(Said::Nat) => Ok(vec![cx.b.i64(NAT)]),
                Some(Said::Now | Said::Today) | None => date_texts::parsed(cx, c, c.ret),
            };
        }
        Kind::Bool | Kind::Int(_) => {
            return crate::emit::cast::cast(cx, &c.args[0], c.types[0], Type::i64());
        }
        _ => return Ok(vec![cx.b.i64(NAT)]),
    };
    crate::emit::dates::convert(cx, x, from, wanted).map(|v| vec![v])
}
