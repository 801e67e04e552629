//! `tierup.typed.Set`: a set in native memory ([`native`]), which compiled code takes as it is.
//!
//! Its elements have one type: what was said, or that of the elements that it is first given. Elements are in
//! the order in which they came, as in every set of compiled code.
//!
//! [`native`]: super::native

mod elements;
mod methods;

use super::native::Object;
use super::native::shown::ShownClass;
use pyo3::prelude::*;

/// A set whose elements have one type, in native memory. Compiled code is given the set itself: what it changes
/// is changed here.
#[pyclass(name = "Set", module = "tierup.typed", extends = Object, subclass, frozen)]
#[derive(Default)]
pub(crate) struct TypedSet;

pub(crate) static CLASS: ShownClass = ShownClass::new(|py| {
    let new = PyClassInitializer::from(Object::default()).add_subclass(TypedSet);
    Bound::new(py, new).map(Bound::into_any)
});

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    CLASS.register::<TypedSet>(m)
}
