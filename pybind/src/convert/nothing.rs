//! Types whose values do not cross: what inference alone uses, and states of iterators.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj};
use super::{Constructor, Plan};
use crate::errors::bug;
use pyo3::prelude::*;
use tierup_core::types::{Kind, Type};

pub(crate) static CONSTRUCTOR: Constructor =
    Constructor { recognise: |_| Ok(None), plan: |t, _| Plan::impossible(t) };

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
        if *t == Kind::Never {
            // A function that never returns has nothing to box.
            return None;
        }
        Some(if let Kind::Conflict(a, b) = *t {
            format!("the function gives {a} on one path and {b} on another")
        } else if matches!(*t, Kind::Iter(_)) {
            format!("an iterator ({t}) cannot be returned to Python; return a list")
        } else if matches!(*t, Kind::Method(..)) {
            format!("a bound method ({t}) cannot be returned to Python")
        } else {
            format!("a value of type {t} cannot be returned to Python")
        })
    }
}
