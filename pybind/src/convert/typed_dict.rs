//! `tierup.typed.Dict`: a dict in native memory ([`native`]), which compiled code takes as it is.
//!
//! Its keys have one type and its values another: what was said, or those of the entries that it is first
//! given. What Python does to them where they lie, no code is compiled for; what compares values asks Python's
//! own dict of them.
//!
//! [`native`]: super::native

mod entries;
mod iterate;
mod methods;

use super::native::Object;
use super::native::shown::ShownClass;
use pyo3::prelude::*;

/// A dict whose keys have one type and whose values have another, in native memory. Compiled code is given the
/// dict itself: what it changes is changed here.
#[pyclass(name = "Dict", module = "tierup.typed", extends = Object, subclass, frozen, mapping)]
#[derive(Default)]
pub(crate) struct TypedDict;

pub(crate) static CLASS: ShownClass = ShownClass::new(|py| {
    let new = PyClassInitializer::from(Object::default()).add_subclass(TypedDict);
    Bound::new(py, new).map(Bound::into_any)
});

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    CLASS.register::<TypedDict>(m)
}
