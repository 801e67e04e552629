//! bytes.

use super::numbers::derives_from;
use super::protocol::{BoxCx, Class, Convert, Frame, Obj, next};
use super::{Constructor, Plan, recognise};
use crate::stand_in::bytes_object;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tierup_core::layout::Str;
use tierup_core::types::Type;
use tierup_runtime::object::release;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        if !obj.is_instance_of::<PyBytes>() {
            return Ok(None);
        }
        recognise::refuse_overriding(obj)?;
        Ok(Some(Type::bytes()))
    },
    plan: |_, _| Plan::other(Bytes),
};

struct Bytes;

impl Convert for Bytes {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        if class != &raw mut ffi::PyBytes_Type && !derives_from(class, &raw mut ffi::PyBytes_Type) {
            return None;
        }
        // SAFETY: the object is bytes, and there is room.
        unsafe {
            out.write(frame.bytes(obj) as u64);
            Some(out.add(1))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned object of bytes.
        unsafe {
            let b = next(at) as *mut Str;
            let object = bytes_object(b);
            release(b.cast());
            object
        }
    }
}
