//! Classes whose instances lie in native memory and whose fields have declared types: what `tierup.struct` and
//! `jitclass` make. A class says what it declares in Python (`tierup/_struct.py`); which type that is, is found
//! out in [`crate::struct_types`].

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::types::{ClassDef, Type};

/// The class that all of them are derived from.
static BASE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

pub(crate) fn set_base(class: &Bound<'_, PyType>) {
    // It lives as long as the module, which is never unloaded.
    BASE.store(class.as_ptr().cast(), Ordering::Release);
}

/// What a class declares, under `_tierup_struct_` in its dictionary.
#[pyclass(name = "Declaration", module = "tierup._tierup", frozen)]
pub(crate) struct Declaration {
    /// Names of the fields, those of bases first.
    names: Vec<String>,
    /// Called when the type is first asked for, as annotations may name what comes later: for each field what it
    /// holds, and whether it is set before anybody can read it.
    pub(crate) resolve: Py<PyAny>,
    /// Numbers that are not set are 0, and not unset.
    pub(crate) zeros: bool,
    pub(crate) found: Mutex<Option<(&'static ClassDef, Type)>>,
}

#[pymethods]
impl Declaration {
    #[new]
    fn new(names: Vec<String>, resolve: Py<PyAny>, zeros: bool) -> Declaration {
        Declaration { names, resolve, zeros, found: Mutex::new(None) }
    }
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
    /// Made anew in another process.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (Vec<String>, Py<PyAny>, bool)) {
        (py.get_type::<Declaration>(), (self.names.clone(), self.resolve.clone_ref(py), self.zeros))
    }
}

/// Whether instances of a class, or of one below, lie in native memory.
pub(crate) fn is_below(class: *mut ffi::PyTypeObject) -> bool {
    let base = BASE.load(Ordering::Acquire);
    // SAFETY: live classes.
    !base.is_null() && unsafe { ffi::PyType_IsSubtype(class, base) != 0 }
}

/// What a class itself declares; none of any other class, one that is only derived from such a class included.
pub(crate) fn declaration<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, Declaration>> {
    if !is_below(class.as_ptr().cast()) {
        return None;
    }
    let own = class.getattr(intern!(class.py(), "__dict__")).ok()?;
    own.get_item(intern!(class.py(), "_tierup_struct_")).ok()?.cast_into().ok()
}

/// Whether a class is such a class.
pub(crate) fn is(class: &Bound<'_, PyType>) -> bool {
    declaration(class).is_some()
}

/// The names of the fields of such a class.
pub(crate) fn names(class: &Bound<'_, PyType>) -> Option<Vec<String>> {
    declaration(class).map(|d| d.get().names.clone())
}
