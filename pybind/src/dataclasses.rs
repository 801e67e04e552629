//! Dataclasses whose instances never change, which are values to compiled code. What `dataclasses` generated
//! for a class, and how an instance is made, is found out in Python (`tierup/_classes.py`), once for a class as
//! it is.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyType};
use tierup_core::host::Written;
use tierup_core::types::class::Generated;

fn module(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(py.import(intern!(py, "tierup._classes"))?.into_any())
}

/// Whether a class may be one: it or a base was made by `dataclasses`.
pub(crate) fn may_be(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: a live class. Only classes made in Python are dataclasses.
    let heap = unsafe { ffi::PyType_GetFlags(class.as_ptr().cast()) & ffi::Py_TPFLAGS_HEAPTYPE != 0 };
    heap && class.hasattr(intern!(class.py(), "__dataclass_params__")).unwrap_or(false)
}

/// The fields of a class whose instances are values, and which of its methods are the generated ones.
pub(crate) fn look(class: &Bound<'_, PyType>) -> PyResult<Option<(Vec<String>, Generated)>> {
    if !may_be(class) {
        return Ok(None);
    }
    let found = module(class.py())?.call_method1(intern!(class.py(), "frozen"), (class,))?;
    if found.is_none() {
        return Ok(None);
    }
    let (fields, equality, order, hash, text): (Vec<String>, bool, bool, bool, bool) = found.extract()?;
    Ok(Some((fields, Generated { equality, order, hash, text })))
}

/// Whether the method of that name is one that the compiler does itself.
pub(crate) fn is_generated(name: &str, generated: Generated) -> bool {
    match name {
        "__eq__" => generated.equality,
        "__lt__" | "__le__" | "__gt__" | "__ge__" => generated.order,
        "__hash__" => generated.hash,
        "__repr__" => generated.text,
        "__init__" | "__setattr__" | "__delattr__" => true,
        _ => false,
    }
}

/// The function that makes an instance. A `ValueError` says why compiled code cannot.
pub(crate) fn constructor<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyFunction>> {
    let made = module(class.py())?.call_method1(intern!(class.py(), "constructor"), (class,))?;
    Ok(made.cast_into::<PyFunction>()?)
}

/// What stands for a `__repr__` that is guarded against objects which lead back to themselves, as generated ones
/// are.
pub(crate) fn without_guard<'py>(
    class: &Bound<'py, PyType>,
    method: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !method.is_instance_of::<PyFunction>()
        || method.getattr(intern!(method.py(), "__closure__"))?.is_none()
    {
        return Ok(None);
    }
    let found = module(class.py())?.call_method1(intern!(class.py(), "without_guard"), (class, method))?;
    Ok((!found.is_none()).then_some(found))
}

/// A generated `__eq__` without the question whether both are one object, which values do not know.
pub(crate) fn without_identity<'py>(
    class: &Bound<'py, PyType>,
    method: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !may_be(class) || !method.is_instance_of::<PyFunction>() {
        return Ok(None);
    }
    let found = module(class.py())?.call_method1(intern!(class.py(), "without_identity"), (class, method))?;
    Ok((!found.is_none()).then_some(found))
}

/// The function that does what one of the module `dataclasses` does, for instances of a class. A `ValueError`
/// says why there is none.
pub(crate) fn function<'py>(class: &Bound<'py, PyType>, what: Written) -> PyResult<Bound<'py, PyFunction>> {
    let module = class.py().import(intern!(class.py(), "tierup._fields"))?;
    Ok(module.call_method1(what.name(), (class,))?.cast_into()?)
}
