//! Dates, times of day and spans of Python's `datetime`, without time zones: numbers that stand in the objects.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, next, result};
use super::{Plan, recognise};
use crate::errors::Failure;
use pyo3::ffi;
use pyo3::prelude::*;
use tierup_core::ops::datetimes::{EPOCH_ORDINAL, of_class};
use tierup_core::types::{ClassId, Type};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// The type of an object that is exactly of one of these classes; an error where it has a time zone. None of any
/// other object.
pub(super) fn type_of(obj: &Bound<'_, PyAny>) -> Result<Option<Type>, Failure> {
    // SAFETY: `obj` is live, the thread attached.
    unsafe {
        let Some(class) = class_of(obj.as_ptr()) else { return Ok(None) };
        if number(obj.as_ptr(), class).is_none() {
            return Err(recognise::unsupported(
                format!("compiled code cannot take a {} with a time zone or a fold", class.def().name),
                "convert it to UTC outside: x.astimezone(timezone.utc).replace(tzinfo=None)",
            ));
        }
        Ok(Some(of_class(class)))
    }
}

/// The numbers of an object of these classes, with its class; none of other objects, and of those with a time zone.
pub(crate) fn global(obj: &Bound<'_, PyAny>) -> Option<(Type, Vec<i64>)> {
    // SAFETY: `obj` is live, the thread attached.
    unsafe {
        let class = class_of(obj.as_ptr())?;
        let (x, y) = number(obj.as_ptr(), class)?;
        Some((of_class(class), if class == ClassId::TIMEDELTA { vec![x, y] } else { vec![x] }))
    }
}

/// The functions of the module, which is imported by them.
///
/// # Safety
/// The thread is attached.
unsafe fn api() -> Option<&'static ffi::PyDateTime_CAPI> {
    // SAFETY: as required of the caller; the struct lives as long as the process.
    unsafe {
        if ffi::PyDateTimeAPI().is_null() {
            ffi::PyDateTime_IMPORT();
        }
        let api = ffi::PyDateTimeAPI();
        if api.is_null() {
            ffi::PyErr_Clear();
        }
        api.as_ref()
    }
}

/// Which class an object is exactly of.
///
/// # Safety
/// `obj` is live; the thread is attached.
unsafe fn class_of(obj: Obj) -> Option<ClassId> {
    // SAFETY: as required of the caller.
    unsafe {
        let (class, api) = (ffi::Py_TYPE(obj), api()?);
        let all = [
            (api.DateTimeType, ClassId::DATETIME),
            (api.DateType, ClassId::DATE),
            (api.DeltaType, ClassId::TIMEDELTA),
            (api.TimeType, ClassId::CLOCK_TIME),
        ];
        all.iter().find(|(c, _)| *c == class).map(|(_, id)| *id)
    }
}

/// The numbers that an object is to compiled code; none where it has a time zone, or an hour that comes twice.
///
/// # Safety
/// `obj` is live and of that class; the thread is attached.
unsafe fn number(obj: Obj, class: ClassId) -> Option<(i64, i64)> {
    // SAFETY: as required of the caller.
    unsafe {
        let day = || {
            let (y, m) = (ffi::PyDateTime_GET_YEAR(obj), ffi::PyDateTime_GET_MONTH(obj));
            let months: i64 = (i64::from(y) - 1970i64) * 12 + i64::from(m) - 1;
            tierup_core::ops::calendar::days_of_months(months) + i64::from(ffi::PyDateTime_GET_DAY(obj)) - 1
        };
        let clock = |h: i32, m: i32, s: i32, us: i32| {
            ((i64::from(h) * 60 + i64::from(m)) * 60 + i64::from(s)) * SECOND + i64::from(us)
        };
        match class {
            ClassId::DATE => Some((day(), 0)),
            ClassId::DATETIME => {
                let zone = ffi::PyDateTime_DATE_GET_TZINFO(obj) != ffi::Py_None();
                let micros = clock(
                    ffi::PyDateTime_DATE_GET_HOUR(obj),
                    ffi::PyDateTime_DATE_GET_MINUTE(obj),
                    ffi::PyDateTime_DATE_GET_SECOND(obj),
                    ffi::PyDateTime_DATE_GET_MICROSECOND(obj),
                );
                (!zone && ffi::PyDateTime_DATE_GET_FOLD(obj) == 0).then(|| (day() * DAY + micros, 0))
            }
            ClassId::CLOCK_TIME => {
                let zone = ffi::PyDateTime_TIME_GET_TZINFO(obj) != ffi::Py_None();
                let micros = clock(
                    ffi::PyDateTime_TIME_GET_HOUR(obj),
                    ffi::PyDateTime_TIME_GET_MINUTE(obj),
                    ffi::PyDateTime_TIME_GET_SECOND(obj),
                    ffi::PyDateTime_TIME_GET_MICROSECOND(obj),
                );
                (!zone && ffi::PyDateTime_TIME_GET_FOLD(obj) == 0).then_some((micros, 0))
            }
            _ => {
                let micros = i64::from(ffi::PyDateTime_DELTA_GET_SECONDS(obj)) * SECOND
                    + i64::from(ffi::PyDateTime_DELTA_GET_MICROSECONDS(obj));
                Some((ffi::PyDateTime_DELTA_GET_DAYS(obj).into(), micros))
            }
        }
    }
}

/// A new object of these numbers.
pub(crate) fn object_of(py: Python<'_>, class: ClassId, x: i64, y: i64) -> PyResult<Bound<'_, PyAny>> {
    use tierup_core::ops::calendar::{days_of_months, months_of_days};
    debug_assert!((1 - EPOCH_ORDINAL..).contains(&x.div_euclid(DAY)) || class != ClassId::DATETIME);
    let date = |day: i64| {
        let months = months_of_days(day);
        let first = days_of_months(months);
        ((months.div_euclid(12) + 1970) as i32, months.rem_euclid(12) as i32 + 1, (day - first) as i32 + 1)
    };
    let clock = |us: i64| {
        let s = us / SECOND;
        ((s / 3600) as i32, (s / 60 % 60) as i32, (s % 60) as i32, (us % SECOND) as i32)
    };
    // SAFETY: the thread is attached; the functions give new references, or null with an exception.
    unsafe {
        let api =
            api().ok_or_else(|| pyo3::exceptions::PyRuntimeError::new_err("there is no module datetime"))?;
        let made = match class {
            ClassId::DATE => {
                let (y, m, d) = date(x);
                (api.Date_FromDate)(y, m, d, api.DateType)
            }
            ClassId::DATETIME => {
                let ((y, m, d), (h, min, s, us)) = (date(x.div_euclid(DAY)), clock(x.rem_euclid(DAY)));
                let none = ffi::Py_None();
                (api.DateTime_FromDateAndTime)(y, m, d, h, min, s, us, none, api.DateTimeType)
            }
            ClassId::CLOCK_TIME => {
                let (h, m, s, us) = clock(x);
                (api.Time_FromTime)(h, m, s, us, ffi::Py_None(), api.TimeType)
            }
            _ => (api.Delta_FromDelta)(x as i32, (y / SECOND) as i32, (y % SECOND) as i32, 0, api.DeltaType),
        };
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// How values of one of these classes are converted.
pub(super) fn plan(class: ClassId) -> Plan {
    Plan::other(Moment { class })
}

struct Moment {
    class: ClassId,
}

impl Convert for Moment {
    unsafe fn unbox(&self, obj: Obj, _: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        // SAFETY: the object is live, the thread attached; there is room for the leaves.
        unsafe {
            if class_of(obj)? != self.class {
                return None;
            }
            let (x, y) = number(obj, self.class)?;
            out.write(x as u64);
            if self.class != ClassId::TIMEDELTA {
                return Some(out.add(1));
            }
            out.add(1).write(y as u64);
            Some(out.add(2))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the slots hold the leaves.
        let x = unsafe { next(at) } as i64;
        let y = if self.class == ClassId::TIMEDELTA {
            // SAFETY: as above.
            unsafe { next(at) as i64 }
        } else {
            0
        };
        result(|py| object_of(py, self.class, x, y))
    }
}
