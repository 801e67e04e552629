//! Exceptions that compiled code caught and gives back, and what was taken from one: its class, its `args`.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, next, result};
use super::{Constructor, Plan};
use pyo3::prelude::*;
use tierup_core::ops::id;
use tierup_core::types::Kind;
use tierup_runtime::exc::{Error, Exc};

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |_| Ok(None),
    plan: |t, _| {
        if *t == Kind::Exception {
            return Plan::other(Exception { attribute: None });
        }
        let Kind::Method(what @ (id::EXCEPTION_ARGS | id::EXCEPTION_CLASS), _) = *t else {
            return Plan::impossible(t);
        };
        Plan::other(Exception { attribute: Some(what.name().trim_start_matches("exception.")) })
    },
};

struct Exception {
    attribute: Option<&'static str>,
}

impl Convert for Exception {
    unsafe fn unbox(&self, _: Obj, _: Class, _: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        None
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned exception.
        let exc = unsafe { Error::from_raw(next(at) as *mut Exc) };
        result(|py| {
            let object = crate::exc::exception_object(py, &exc, pyo3::types::PyDict::new(py).as_any())?;
            match self.attribute {
                Some(name) => object.getattr(name),
                None => Ok(object),
            }
        })
    }
}
