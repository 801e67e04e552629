//! The elements of a set in native memory, as methods of its Python class see them.

use super::CLASS;
use crate::convert;
use crate::convert::native::Part;
use crate::convert::native::keyed::{self, Going, Keyed};
use crate::convert::native::shown::{Owned, Use, bind_new, refuse_unseen, run, typed_meanwhile};
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySet};
use std::sync::Arc;
use tierup_core::layout::Dict;
use tierup_core::ops::dict::Helpers;
use tierup_runtime::Native as Runtime;

use super::TypedSet;

/// Those of an object that is such a set; none as long as it has no type.
pub(super) fn of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<Keyed<'a>> {
    keyed::of(&CLASS, obj)
}

/// Whether Python's operators of sets take an object.
pub(super) fn is_set(obj: &Bound<'_, PyAny>) -> bool {
    CLASS.has(obj) || obj.is_instance_of::<PySet>() || obj.is_instance_of::<PyFrozenSet>()
}

/// What an iterable gives, as Python's objects.
pub(super) fn given<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match of(obj) {
        Some(e) => e.keys(obj.py()),
        None => obj.try_iter()?.collect(),
    }
}

/// The same as a set of Python's.
pub(super) fn gathered<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PySet>> {
    PySet::new(obj.py(), given(obj)?)
}

/// Puts an object in, as the element that it becomes.
pub(super) fn add(e: &Keyed<'_>, obj: &Bound<'_, PyAny>) -> PyResult<()> {
    let key = e.new_key(obj)?;
    let _use = e.changeable()?;
    e.place(obj.py(), &key).map(|_| ())
}

/// Takes the element that equals an object out; whether there was one.
pub(super) fn take(e: &Keyed<'_>, obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(key) = e.key(obj)? else { return Ok(false) };
    let _use = e.changeable()?;
    let at = e.find(&key);
    if let Some(at) = at {
        // SAFETY: the set is alive, and an element is there.
        unsafe { Runtime::dict_remove(e.d, at) };
    }
    Ok(at.is_some())
}

pub(super) fn contains(e: &Keyed<'_>, obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(key) = e.key(obj)? else { return Ok(false) };
    let _use = e.readable()?;
    Ok(e.find(&key).is_some())
}

/// A new native set of objects.
pub(super) fn set_of<'py>(
    py: Python<'py>,
    objects: impl IntoIterator<Item = Bound<'py, PyAny>>,
    whole: &Arc<Part>,
) -> PyResult<Owned<Dict>> {
    let new = keyed::empty(py, whole, 0)?;
    let e = Keyed { d: new.0, whole };
    for obj in objects {
        add(&e, &obj)?;
    }
    Ok(new)
}

/// A copy.
pub(super) fn copied(py: Python<'_>, e: &Keyed<'_>) -> PyResult<Owned<Dict>> {
    let _use = e.readable()?;
    // SAFETY: the set is alive.
    run(py, |ctx| unsafe { Runtime::dict_copy(ctx, e.d) }).map(Owned::new)
}

/// Gives a set without a type its first elements.
pub(super) fn fill(this: &Bound<'_, TypedSet>, objects: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
    if objects.is_empty() {
        return Ok(());
    }
    let py = this.py();
    let ty = convert::type_of(PySet::new(py, &objects)?.as_any()).map_err(|e| e.into_python(py))?;
    refuse_unseen(ty, "set")?;
    let whole = Part::of(py, ty.strong_throughout());
    let new = set_of(py, objects, &whole)?;
    if of(this.as_any()).is_some() {
        return Err(typed_meanwhile());
    }
    // SAFETY: the set is live, and has no Python object yet.
    unsafe { bind_new(this.as_any(), new, whole) }
}

/// Puts what iterables give into a set.
pub(super) fn update<'py>(
    this: &Bound<'py, TypedSet>,
    others: impl Iterator<Item = Bound<'py, PyAny>>,
) -> PyResult<()> {
    let py = this.py();
    for other in others {
        match (of(this.as_any()), of(&other)) {
            (Some(e), Some(from)) if e.whole.ty == from.whole.ty => {
                // Whoever gives a set to itself uses it once.
                let _read = if e.d == from.d { Use::NONE } else { from.readable()? };
                let _use = e.changeable()?;
                // SAFETY: both are alive and of one type.
                run(py, |ctx| unsafe { Runtime::dict_update(ctx, e.d, from.d) })?;
            }
            (Some(e), _) => given(&other)?.iter().try_for_each(|x| add(&e, x))?,
            // One of the same type, also where it is empty.
            (None, Some(from)) => {
                // SAFETY: the copy is new.
                unsafe { bind_new(this.as_any(), copied(py, &from)?, from.whole.clone())? }
            }
            (None, None) => fill(this, given(&other)?)?,
        }
    }
    Ok(())
}

#[pyclass(module = "tierup.typed", frozen)]
pub(super) struct SetIterator {
    set: Py<TypedSet>,
    going: Going,
}

impl SetIterator {
    pub(super) fn new(set: &Bound<'_, TypedSet>) -> PyResult<SetIterator> {
        let going = Going::through(of(set.as_any()), false)?;
        Ok(SetIterator { set: set.clone().unbind(), going })
    }
}

#[pymethods]
impl SetIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }
    fn __length_hint__(&self) -> i64 {
        self.going.left()
    }
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let set = self.set.bind(py);
        let e = of(set.as_any());
        let Some((here, _use)) = self.going.next(e.as_ref())? else { return Ok(None) };
        e.map(|e| e.key_object(py, here)).transpose()
    }
}
