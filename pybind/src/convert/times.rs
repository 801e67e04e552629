//! `numpy.datetime64` and `numpy.timedelta64`: a number of units, which stands in the object with its unit.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, next, result};
use super::{Constructor, Plan, Purpose, recognise};
use crate::errors::Failure;
use crate::npy;
use pyo3::ffi;
use pyo3::prelude::*;
use tierup_core::types::time::{NAT, Time, Unit};

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        // SAFETY: `obj` is live.
        let Some((t, _)) = (unsafe { known(obj.as_ptr()) }) else { return Ok(None) };
        t.map(|t| Some(t.ty())).ok_or_else(|| refused(obj))
    },
    plan: |t, purpose| match t.time() {
        Some(time) => Plan::other(Scalar { time, lenient: matches!(purpose, Some(Purpose::Element)) }),
        None => Plan::impossible(t),
    },
};

fn refused(obj: &Bound<'_, PyAny>) -> Failure {
    let dtype = obj.getattr("dtype").and_then(|d| Ok(d.str()?.to_string())).unwrap_or_default();
    recognise::unsupported(
        format!("compiled code cannot take a {dtype}, whose unit is a multiple of another one"),
        "convert it to a unit by itself: x.astype('M8[ns]')",
    )
}

/// What follows the head of such a scalar: `PyDatetimeScalarObject`.
#[repr(C)]
struct Parts {
    value: i64,
    /// `NPY_DATETIMEUNIT`.
    base: i32,
    count: i32,
}

/// What dates or spans an object is of, with its number of units; no type where its unit is a multiple of another
/// one. None of any other object.
///
/// # Safety
/// `obj` is live; the thread is attached.
pub(crate) unsafe fn known(obj: Obj) -> Option<(Option<Time>, i64)> {
    let numpy = npy::loaded()?;
    // SAFETY: `obj` is live; objects of these very classes are laid out so.
    unsafe {
        let class = ffi::Py_TYPE(obj);
        if class != numpy.date_type && class != numpy.span_type {
            return None;
        }
        let parts = &*obj.cast::<u8>().add(npy::SCALAR_VALUE).cast::<Parts>();
        let unit = unit_of(parts.base).filter(|u| parts.count == 1 || *u == Unit::Generic);
        Some((unit.map(|unit| Time { span: class == numpy.span_type, unit }), parts.value))
    }
}

/// The unit of NumPy's number for it: 3 was the working day.
fn unit_of(base: i32) -> Option<Unit> {
    const NUMBERS: [i32; 14] = [14, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
    let at = NUMBERS.iter().position(|n| *n == base)?;
    Unit::ALL.get(at).copied()
}

/// A new object of NumPy's.
pub(crate) fn object_of(py: Python<'_>, value: i64, t: Time) -> PyResult<Bound<'_, PyAny>> {
    npy::require(py)?;
    let numpy = py.import(intern!(py, "numpy"))?;
    let class = numpy.getattr(if t.span { intern!(py, "timedelta64") } else { intern!(py, "datetime64") })?;
    match (t.unit, value) {
        (Unit::Generic, NAT) => class.call1(("NaT",)),
        (Unit::Generic, _) => class.call1((value,)),
        (unit, NAT) => class.call1(("NaT", unit.name())),
        (unit, _) => class.call1((value, unit.name())),
    }
}

struct Scalar {
    time: Time,
    lenient: bool,
}

impl Convert for Scalar {
    unsafe fn unbox(&self, obj: Obj, _: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        // SAFETY: the object is live, the thread attached; there is room for the leaf.
        unsafe {
            let (found, value) = known(obj)?;
            let found = found?;
            let fits = found == self.time
                || self.lenient
                    && found.span == self.time.span
                    && found.unit == Unit::Generic
                    && value == NAT;
            if !fits {
                return None;
            }
            out.write(value as u64);
            Some(out.add(1))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the slots hold the leaf.
        let value = unsafe { next(at) } as i64;
        result(|py| object_of(py, value, self.time))
    }
}

/// The type of such an object, which is a global of a program, and its number of units.
pub(crate) fn global(obj: &Bound<'_, PyAny>) -> Option<(Time, i64)> {
    // SAFETY: `obj` is live, the thread attached.
    let (t, value) = unsafe { known(obj.as_ptr()) }?;
    Some((t?, value))
}
