//! Business days: NumPy's `busday_count`, `busday_offset` and `is_busday`. The library computes them with the numbers
//! of days behind dates.

use super::{Body, OpDef};
use crate::ops::datetimes::class_of;
use crate::types::time::Unit;
use crate::types::{ClassId, Kind, Type};
use crate::typing::Arg;

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["numpy.busday_count"],
        "begindates, enddates, weekmask='1111100', holidays=None, busdaycal=None, out=None",
        Body::Py("business.count"),
    )
    .only_if(|a| all_days(&a[..2]) && plain(&a[2..]))
    .records()
    .raises()
    .reads()
    .doc("How many business days lie from one date up to another one; ValueError of what is no date."),
    OpDef::new(
        &["numpy.busday_offset"],
        "dates, offsets, roll='raise', weekmask='1111100', holidays=None, busdaycal=None, out=None",
        Body::Py("business.offset"),
    )
    .only_if(|a| all_days(&a[..1]) && a[1].ty.as_array().map_or(a[1].ty, |t| t.dtype).is_index() && plain(&a[3..]))
    .records()
    .raises()
    .reads()
    .doc("The date so many business days later; ValueError of a day that is none, unless `roll` says which to take."),
    OpDef::new(
        &["numpy.is_busday"],
        "dates, weekmask='1111100', holidays=None, busdaycal=None, out=None",
        Body::Py("business.is_busday"),
    )
    .only_if(|a| all_days(&a[..1]) && plain(&a[1..]))
    .records()
    .raises()
    .reads()
    .doc("Whether dates are business days."),
];

/// Whether these are dates, or arrays of them, that days are not cut off of; texts are dates too.
fn all_days(args: &[Arg]) -> bool {
    args.iter().all(|a| {
        let t = a.ty.as_array().map_or(a.ty, |t| t.dtype);
        let days = t.time().is_some_and(|t| !t.span && t.unit <= Unit::Day);
        days || *t == Kind::Str || class_of(t) == Some(ClassId::DATE)
    })
}

/// Whether holidays, calendar and output are what compiled code has: no calendar object, no array to write to.
fn plain(args: &[Arg]) -> bool {
    let held = |t: Type| if let Kind::List(e) = *t { e } else { t };
    let holidays =
        args[1].is_none() || *held(args[1].ty) == Kind::Never || all_days(&[Arg::of(held(args[1].ty))]);
    holidays && args[2].is_none() && args[3].is_none()
}
