//! Variables of classes and modules that compiled code assigns to. What stands for one is an object whose
//! attributes are the names in the dictionary of the class or the module: calls are given it beside their arguments,
//! as they are given a global object, so reading, writing back and exceptions are an object's. It lies in that
//! dictionary.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The class that classes of such objects are derived from.
static BASE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(null_mut());

/// Whether objects of a class stand for variables: their dictionaries have more in them, which is none of their
/// fields.
pub(crate) fn is_for_variables(class: *mut ffi::PyTypeObject) -> bool {
    let base = BASE.load(Ordering::Relaxed);
    // SAFETY: a live class.
    !base.is_null() && unsafe { (*class).tp_base } == base
}

fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = py.import(intern!(py, "tierup._variables"))?;
    // It lives as long as the module, which nobody takes away.
    BASE.store(module.getattr("Variables")?.as_ptr().cast(), Ordering::Relaxed);
    Ok(module)
}

/// The object that stands for the variable of that name in a dictionary, if there is one.
pub(crate) fn known<'py>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    match dict.get_item(intern!(dict.py(), "_tierup_variables_"))? {
        Some(all) => all.cast_into::<PyDict>()?.get_item(name),
        None => Ok(None),
    }
}

/// The object for a variable of a class. A `ValueError` says why there is none.
pub(crate) fn of_class<'py>(
    class: &Bound<'py, PyType>,
    dict: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    module(class.py())?.call_method1("of_class", (class, dict, name))
}

/// The object for a variable of a module, by its dictionary.
pub(crate) fn of_globals<'py>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    module(dict.py())?.call_method1("of_globals", (dict, name))
}

/// Whether there is a variable of that name where objects of such a class have theirs.
pub(crate) fn has(class: &Bound<'_, PyType>, name: &str) -> PyResult<bool> {
    class.getattr(intern!(class.py(), "_variables_"))?.contains(name)
}

/// Gives an object another value under a name, or none where `value` is null: a negative answer is an exception. The
/// variables of a class are set as Python sets them, which others that look for them are told.
///
/// # Safety
/// A live object of a class of objects that may change, and live others; the thread is attached.
pub(crate) unsafe fn set(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> i32 {
    // SAFETY: as required of the caller.
    unsafe {
        let class = ffi::Py_TYPE(object);
        if !is_for_variables(class) {
            return ffi::PyObject_GenericSetAttr(object, name, value);
        }
        let owner = ffi::PyObject_GetAttrString(class.cast(), c"_owner_".as_ptr());
        if owner.is_null() {
            return -1;
        }
        let done = if owner == ffi::Py_None() {
            ffi::PyObject_GenericSetAttr(object, name, value)
        } else {
            ffi::PyObject_SetAttr(owner, name, value)
        };
        ffi::Py_DECREF(owner);
        done
    }
}
