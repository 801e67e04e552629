//! What names meant when code was first made of a function with Numba's meaning, for which types. Numba compiles
//! a function for some types once, and with it what its globals and captured variables are, also for those who
//! call it later: code that is made of it anew, in the place of a call, means the same by them.

use pyo3::ffi;
use pyo3::prelude::*;
use std::os::raw::c_int;
use std::sync::{Mutex, PoisonError};
use tierup_core::types::Type;

type Obj = *mut ffi::PyObject;

/// A name in a function that is compiled for these types; a captured variable is named by its number.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Name {
    Global(String),
    Captured(u32),
}

#[derive(Default)]
pub(crate) struct Kept(Mutex<Vec<(Vec<Type>, Name, Py<PyAny>)>>);

impl Kept {
    pub(crate) fn get<'py>(&self, py: Python<'py>, args: &[Type], name: &Name) -> Option<Bound<'py, PyAny>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|(types, n, _)| n == name && types == args)?;
        Some(found.2.bind(py).clone())
    }

    /// Keeps what a name means, unless that is known.
    pub(crate) fn keep(&self, args: Vec<Type>, name: Name, value: Py<PyAny>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.iter().any(|(types, n, _)| *n == name && *types == args) {
            all.push((args, name, value));
        }
    }

    pub(crate) fn traverse(&self, visit: &impl Fn(Obj) -> c_int) -> c_int {
        let Ok(all) = self.0.try_lock() else { return 0 };
        all.iter().map(|(_, _, value)| visit(value.as_ptr())).find(|r| *r != 0).unwrap_or(0)
    }

    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(all);
    }
}
