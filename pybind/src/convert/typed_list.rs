//! `tierup.typed.List`: a list in native memory ([`native`]), which compiled code takes as it is.
//!
//! Its elements have one type: what was said, or that of the elements that it is first given. What Python
//! does to them where they lie, no code is compiled for; what has to compare elements asks Python's own list
//! of them.
//!
//! [`native`]: super::native

mod elements;
mod methods;

use super::native::shown::{self, ShownClass};
use super::native::{Object, Part};
use pyo3::prelude::*;
use std::sync::Arc;
use tierup_core::layout::List;

/// A list whose elements have one type and lie in native memory. Compiled code is given the list itself: what
/// it changes is changed here.
#[pyclass(name = "List", module = "tierup.typed", extends = Object, subclass, frozen, sequence)]
#[derive(Default)]
pub(crate) struct TypedList;

pub(crate) static CLASS: ShownClass = ShownClass::new(|py| {
    let new = PyClassInitializer::from(Object::default()).add_subclass(TypedList);
    Bound::new(py, new).map(Bound::into_any)
});

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    CLASS.register::<TypedList>(m)
}

/// The list of an object of such a class, and its elements; none as long as they have no type.
fn of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<(*mut List, &'a Arc<Part>)> {
    shown::of(obj).map(|(l, part)| (l.cast(), &part.inside[0]))
}
