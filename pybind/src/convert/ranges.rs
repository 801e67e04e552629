//! range and slice.

use super::numbers::small_int;
use super::protocol::{BoxCx, Class, Convert, Frame, Obj, next, result};
use super::{Constructor, Plan, recognise};
use crate::errors::Failure;
use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyRange, PySlice};
use tierup_core::types::{Kind, Type};

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        if obj.is_instance_of::<PyRange>() {
            return type_of_range(obj).map(Some);
        }
        if obj.is_instance_of::<PySlice>() {
            return type_of_slice(obj).map(Some);
        }
        Ok(None)
    },
    plan: |t, purpose| {
        if let Kind::Slice(parts) = *t {
            return Plan::other(Slice(parts.map(|t| Plan::new(t, purpose))));
        }
        let Kind::Range(step) = *t else { return Plan::impossible(t) };
        Plan::other(Range(step))
    },
};

fn type_of_range(obj: &Bound<'_, PyAny>) -> Result<Type, Failure> {
    let step: i64 = obj.getattr("step")?.extract().map_err(|_| range_overflow(obj))?;
    for end in ["start", "stop"] {
        obj.getattr(end)?.extract::<i64>().map_err(|_| range_overflow(obj))?;
    }
    Ok(Type::new(Kind::Range((step == 1).then_some(1))))
}

fn type_of_slice(obj: &Bound<'_, PyAny>) -> Result<Type, Failure> {
    let mut parts = [Type::none(); 3];
    for (part, name) in parts.iter_mut().zip(["start", "stop", "step"]) {
        *part = super::type_of(&obj.getattr(name)?)?;
    }
    if parts.iter().all(|t| t.is_index() || **t == Kind::None) {
        return Ok(Type::new(Kind::Slice(parts)));
    }
    Err(recognise::unsupported("a slice argument must have integer parts", "pass the parts as ints, or None"))
}

fn range_overflow(obj: &Bound<'_, PyAny>) -> Failure {
    PyOverflowError::new_err(format!(
        "{} has members that do not fit into 64 bits",
        obj.repr().map_or("a range".into(), |r| r.to_string())
    ))
    .into()
}

/// Start and stop, and the step where the type does not say it.
struct Range(Option<i64>);

impl Convert for Range {
    unsafe fn unbox(&self, obj: Obj, class: Class, mut out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        if class != &raw mut ffi::PyRange_Type {
            return None;
        }
        #[repr(C)]
        struct RangeObject {
            head: ffi::PyObject,
            start: Obj,
            stop: Obj,
            step: Obj,
        }
        let r = obj.cast::<RangeObject>();
        // SAFETY: `obj` is a range, whose members are ints (this is its layout in every CPython from 3.3 on).
        unsafe {
            let by = small_int((*r).step)?;
            if self.0.is_some_and(|s| s != by) || (self.0.is_none() && by == 1) {
                return None;
            }
            out.write(small_int((*r).start)? as u64);
            out.add(1).write(small_int((*r).stop)? as u64);
            out = out.add(2);
            if self.0.is_none() {
                out.write(by as u64);
                out = out.add(1);
            }
        }
        Some(out)
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the leaves in their order.
        let (start, stop) = unsafe { (next(at) as i64, next(at) as i64) };
        // SAFETY: as above.
        let by = self.0.unwrap_or_else(|| unsafe { next(at) } as i64);
        result(|py| py.import("builtins")?.getattr("range")?.call1((start, stop, by)))
    }
}

struct Slice([Plan; 3]);

impl Convert for Slice {
    unsafe fn unbox(&self, obj: Obj, class: Class, mut out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        if class != &raw mut ffi::PySlice_Type {
            return None;
        }
        let s = obj.cast::<ffi::PySliceObject>();
        // SAFETY: `obj` is a slice; the caller made room for the parts.
        unsafe {
            for (plan, part) in self.0.iter().zip([(*s).start, (*s).stop, (*s).step]) {
                out = plan.unbox(part, out, frame)?;
            }
        }
        Some(out)
    }
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj {
        let mut made = [std::ptr::null_mut(); 3];
        // SAFETY: the leaves of the parts follow one another; what was made is given up.
        unsafe {
            for (m, plan) in made.iter_mut().zip(&self.0) {
                *m = plan.to_python(at, cx);
            }
            let slice = if made.iter().any(|m| m.is_null()) {
                std::ptr::null_mut()
            } else {
                ffi::PySlice_New(made[0], made[1], made[2])
            };
            for m in made {
                ffi::Py_XDECREF(m);
            }
            slice
        }
    }
}
