//! Exceptions that compiled code caught and gives back, and what was taken from one: its class, its `args`; the
//! limits of a dtype.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, next, result};
use super::{Constructor, Plan};
use pyo3::prelude::*;
use tierup_core::ops::id;
use tierup_core::types::{Kind, Type};
use tierup_runtime::exc::{Error, Exc};

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |_| Ok(None),
    plan: |t, _| {
        if *t == Kind::Exception {
            return Plan::other(Exception { attribute: None });
        }
        if let Kind::Method(what @ (id::NUMPY_FINFO | id::NUMPY_IINFO), of) = t.kind()
            && let Kind::DType(dtype) = of.kind()
        {
            return Plan::other(Limits { name: what.name().trim_start_matches("numpy."), dtype: *dtype });
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

/// What `np.finfo` and `np.iinfo` give: all is in the type.
struct Limits {
    name: &'static str,
    dtype: Type,
}

impl Convert for Limits {
    unsafe fn unbox(&self, _: Obj, _: Class, _: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        None
    }
    unsafe fn to_python(&self, _: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        result(|py| {
            let dtype = crate::record_types::dtype_of(py, self.dtype)?;
            py.import("numpy")?.getattr(self.name)?.call1((dtype,))
        })
    }
}
