//! Types whose values do not cross: what inference alone uses, and states of iterators.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj};
use super::{Constructor, Plan};
use crate::errors::bug;
use pyo3::prelude::*;
use tierup_core::types::{Kind, Type};

pub(crate) static CONSTRUCTOR: Constructor =
    Constructor { recognise: |_| Ok(None), plan: |t, _| Plan::other(Impossible(t)) };

/// A type that no argument has.
pub(crate) struct Impossible(pub Type);

impl Convert for Impossible {
    unsafe fn unbox(&self, _: Obj, _: Class, _: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        None
    }
    unsafe fn to_python(&self, _: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: boxing is done by threads that are attached.
        bug(&format!("a result of type {} arrived", self.0)).restore(unsafe { Python::assume_attached() });
        std::ptr::null_mut()
    }
    fn cannot_box(&self, _: bool) -> Option<String> {
        let t = self.0;
        match t.kind() {
            // A function that never returns has nothing to box.
            Kind::Never => None,
            Kind::Iter(_) => Some(format!("an iterator ({t}) cannot be returned to Python; return a list")),
            Kind::Method(..) => Some(format!("a bound method ({t}) cannot be returned to Python")),
            Kind::Conflict(a, b) => Some(format!("the function gives {a} on one path and {b} on another")),
            _ => Some(format!("a value of type {t} cannot be returned to Python")),
        }
    }
}
