//! str.

use super::numbers::{derives_from, is_member};
use super::protocol::{BoxCx, Class, Convert, Frame, Obj, new_ref, next};
use super::{Constructor, Plan, Purpose, recognise};
use crate::known;
use crate::stand_in::python_str;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::ffi::c_int;
use tierup_core::layout::Str;
use tierup_core::types::Type;
use tierup_runtime::object::release;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        if !obj.is_instance_of::<PyString>() {
            return Ok(None);
        }
        if known::type_of_members(&obj.get_type())?.is_some() {
            return Ok(None);
        }
        recognise::refuse_overriding(obj)?;
        Ok(Some(Type::str()))
    },
    plan: |_, purpose| Plan::other(Text { takes_members: purpose == Some(Purpose::Declared) }),
};

struct Text {
    /// Whether members of a `StrEnum` are texts: where a signature says so.
    takes_members: bool,
}

impl Convert for Text {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        // SAFETY: the frame is given a str that has its final form.
        unsafe {
            if (class != &raw mut ffi::PyUnicode_Type
                && !derives_from(class, &raw mut ffi::PyUnicode_Type)
                && !(self.takes_members && is_member(class, &raw mut ffi::PyUnicode_Type)))
                || !ready(obj)
            {
                return None;
            }
            out.write(frame.text(obj) as u64);
            Some(out.add(1))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: a string has `len` units of `kind` bytes; an argument's stand-in names the Python string.
        unsafe {
            let s = next(at) as *mut Str;
            let text = match python_str(s) {
                Some(py) => new_ref(py),
                None => {
                    ffi::PyUnicode_FromKindAndData((*s).kind as c_int, (*s).data.cast(), (*s).len as isize)
                }
            };
            // The stand-ins of a call are immortal; those that outlive it are counted.
            release(s.cast());
            text
        }
    }
}

/// Whether a string has its final form (before 3.12 some, made by old C interfaces, have not).
#[inline]
pub(super) unsafe fn ready(_obj: Obj) -> bool {
    #[cfg(not(Py_3_12))]
    // SAFETY: the caller gives a live str.
    unsafe {
        ffi::PyUnicode_IS_READY(_obj) != 0 || _PyUnicode_Ready(_obj) == 0
    }
    #[cfg(Py_3_12)]
    true
}

#[cfg(not(Py_3_12))]
unsafe extern "C" {
    fn _PyUnicode_Ready(o: Obj) -> std::ffi::c_int;
}
