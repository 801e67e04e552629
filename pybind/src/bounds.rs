//! Whether annotations of a function name type variables with bounds: its calls are then asked about, before the
//! body is looked at. Annotations without such variables mean nothing, and are not evaluated to find that out.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyString, PyTuple, PyType};

/// Whether a function has a parameter that a bound is said of.
pub(crate) fn has_bounds(f: &Bound<'_, PyFunction>) -> PyResult<bool> {
    if let Some(names) = lazily_named(f)? {
        return any(names.iter(), |name| names_bounded(f, &name));
    }
    let Some(annotations) = annotations(f)? else { return Ok(false) };
    any(annotations.values().iter(), |a| match a.cast::<PyString>() {
        Ok(text) => any(identifiers(text.to_str()?), |name| names_bounded(f, &PyString::new(f.py(), name))),
        Err(_) => is_of_bounded(&a),
    })
}

fn any<T>(mut all: impl Iterator<Item = T>, of: impl Fn(T) -> PyResult<bool>) -> PyResult<bool> {
    all.try_fold(false, |found, x| Ok(found || of(x)?))
}

/// The annotations, where there are any; asking a function without any for them would make a dictionary.
fn annotations<'py>(f: &Bound<'py, PyFunction>) -> PyResult<Option<Bound<'py, PyDict>>> {
    #[cfg(not(Py_3_14))]
    {
        // SAFETY: a live function; the reference is borrowed, and null where there are none.
        let found = unsafe {
            let of = f.as_ptr().cast::<pyo3::ffi::PyFunctionObject>();
            Bound::from_borrowed_ptr_or_opt(f.py(), (*of).func_annotations)
        };
        if found.is_none() {
            return Ok(None);
        }
    }
    Ok(f.getattr(intern!(f.py(), "__annotations__"))?.cast_into::<PyDict>().ok())
}

/// From Python 3.14 on annotations are code: the names in it.
fn lazily_named<'py>(f: &Bound<'py, PyFunction>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    if !cfg!(Py_3_14) {
        return Ok(None);
    }
    let made = f.getattr(intern!(f.py(), "__annotate__"))?;
    if made.is_none() {
        return Ok(None);
    }
    let code = made.getattr(intern!(f.py(), "__code__"))?;
    Ok(code.getattr(intern!(f.py(), "co_names"))?.cast_into::<PyTuple>().ok())
}

/// The words in an annotation that is text.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty())
}

/// Whether a name is that of a type variable with a bound, where a function sees it.
fn names_bounded(f: &Bound<'_, PyFunction>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
    let globals = f.getattr(intern!(f.py(), "__globals__"))?.cast_into::<PyDict>()?;
    match globals.get_item(name)? {
        Some(found) => is_bounded(&found),
        None => Ok(false),
    }
}

/// Whether an annotation is a type variable with a bound, or has one in it.
fn is_of_bounded(a: &Bound<'_, PyAny>) -> PyResult<bool> {
    // A class may be generic itself, which says nothing of the parameter.
    if a.is_instance_of::<PyType>() {
        return Ok(false);
    }
    if is_bounded(a)? {
        return Ok(true);
    }
    match a.getattr_opt(intern!(a.py(), "__parameters__"))?.map(|p| p.cast_into::<PyTuple>()) {
        Some(Ok(variables)) => any(variables.iter(), |v| is_bounded(&v)),
        Some(Err(_)) | None => Ok(false),
    }
}

fn is_bounded(v: &Bound<'_, PyAny>) -> PyResult<bool> {
    if v.get_type().name()? != "TypeVar" {
        return Ok(false);
    }
    Ok(v.getattr_opt(intern!(v.py(), "__bound__"))?.is_some_and(|b| !b.is_none()))
}
