//! `tierup.typed.List`: a list in native memory ([`native`]), which compiled code takes as it is.
//!
//! Its elements have one type: what was said, or that of the elements that it is first given. What Python
//! does to them where they lie, no code is compiled for; what has to compare elements asks Python's own list
//! of them.
//!
//! [`native`]: super::native

mod elements;
mod methods;

use super::native::{Object, Part, object_of};
use super::protocol::{Class, Obj, result};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::layout::List;
use tierup_core::types::Type;
use tierup_runtime::list::use_word;
use tierup_runtime::object::{release, retain};

/// A list whose elements have one type and lie in native memory. Compiled code is given the list itself: what
/// it changes is changed here.
#[pyclass(name = "List", module = "tierup.typed", extends = Object, subclass, frozen, sequence)]
#[derive(Default)]
pub(crate) struct TypedList;

static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Object>()?;
    m.add_class::<TypedList>()?;
    // Both live as long as the module, which is never unloaded.
    CLASS.store(m.py().get_type::<TypedList>().as_ptr().cast(), Ordering::Release);
    Ok(())
}

/// Whether objects of a class are such lists.
#[inline]
pub(crate) fn is_class(class: Class) -> bool {
    let ours = CLASS.load(Ordering::Relaxed);
    // SAFETY: both are live type objects; ours is not null once the module is loaded.
    class == ours || !ours.is_null() && unsafe { ffi::PyType_IsSubtype(class, ours) != 0 }
}

/// The list of an object of such a class, and its elements; none as long as they have no type.
pub(crate) fn of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<(*mut List, &'a Arc<Part>)> {
    // SAFETY: the class has been looked at.
    let object = unsafe { obj.cast_unchecked::<Object>() };
    object.get().get().map(|(l, part)| (l.cast(), part))
}

/// The type of such a list as compiled code has it.
pub(crate) fn type_of(part: &Part) -> Type {
    Type::list(part.ty)
}

/// The Python object of a native list.
///
/// # Safety
/// `l` is an owned reference to a list of such elements, which is taken over; the thread is attached.
pub(crate) unsafe fn object(elem: Type, l: *mut List) -> Obj {
    // SAFETY: as required of the caller; the reference is given up at the end.
    unsafe {
        let object = result(|py| object_in(py, elem, l));
        release(l.cast());
        object
    }
}

/// # Safety
/// As for [`object`], but that the reference stays the caller's.
unsafe fn object_in<'py>(py: Python<'py>, elem: Type, l: *mut List) -> PyResult<Bound<'py, PyAny>> {
    loop {
        // SAFETY: as required of the caller.
        unsafe {
            let known = object_of(l.cast());
            if !known.is_null() {
                return Ok(Bound::from_owned_ptr(py, known));
            }
            // Another thread may make it meanwhile, and that one may be gone again.
            let new = unbound(py)?;
            retain(l.cast());
            if bind(new.as_any(), l, Part::of(py, elem.strong_throughout()))? {
                return Ok(new.into_any());
            }
        }
    }
}

fn unbound(py: Python<'_>) -> PyResult<Bound<'_, TypedList>> {
    Bound::new(py, PyClassInitializer::from(Object::default()).add_subclass(TypedList))
}

/// Makes `this` the object of a list; false where that has one or `this` is another one's. Takes the
/// reference over.
///
/// # Safety
/// As for [`Object::bind`].
unsafe fn bind(this: &Bound<'_, PyAny>, l: *mut List, part: Arc<Part>) -> PyResult<bool> {
    // SAFETY: as required of the caller; `this` is of a class whose base is `Object`.
    unsafe {
        use_word::show(l);
        let bound = this.cast_unchecked::<Object>().get().bind(this, l.cast(), part);
        if !matches!(bound, Ok(true)) {
            release(l.cast());
        }
        bound
    }
}

/// Elements are read where they lie, but of a dict Python sees copies: what it changes there would be lost.
pub(crate) fn refuse_containers(elem: Type) -> PyResult<()> {
    fn holds_any(t: Type) -> bool {
        t.container().is_some() || t.arguments().iter().any(holds_any)
    }
    if holds_any(elem) {
        return Err(PyTypeError::new_err(format!(
            "a typed list cannot hold values of type {elem} (not yet)"
        )));
    }
    Ok(())
}
