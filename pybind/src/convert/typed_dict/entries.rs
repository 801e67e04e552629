//! The entries of a dict in native memory, as methods of its Python class see them.

use super::CLASS;
use crate::convert::native::Part;
use crate::convert::native::keyed::{self, Keyed, Laid};
use crate::convert::native::shown::{Owned, Use, run};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::Deref;
use std::sync::Arc;
use tierup_core::layout::Dict;
use tierup_core::ops::dict::Helpers;
use tierup_runtime::Native as Runtime;
use tierup_runtime::dict;

/// A dict whose entries have types, as methods see it.
pub(super) struct Entries<'a>(pub(super) Keyed<'a>);

impl<'a> Deref for Entries<'a> {
    type Target = Keyed<'a>;
    fn deref(&self) -> &Keyed<'a> {
        &self.0
    }
}

/// Those of an object that is such a dict.
pub(super) fn entries_of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<Entries<'a>> {
    keyed::of(&CLASS, obj).map(Entries)
}

/// A value that was moved out of a dict.
pub(super) struct Taken<'a>(&'a Part, Vec<u64>);

impl Taken<'_> {
    pub(super) fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: a value lies there.
        unsafe { Bound::from_owned_ptr_or_err(py, self.0.read(self.1.as_ptr().cast())) }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // SAFETY: what the value refers to is its own.
        unsafe { self.0.desc.release(self.1.as_ptr().cast(), 1) }
    }
}

impl<'a> Entries<'a> {
    pub(super) fn value_part(&self) -> &'a Arc<Part> {
        &self.whole.inside[1]
    }
    pub(super) fn value_object<'py>(&self, py: Python<'py>, at: i64) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: an entry is there.
        unsafe { Bound::from_owned_ptr_or_err(py, self.value_part().read(dict::value_at(self.d, at))) }
    }

    /// Both of an entry, which Python code that runs meanwhile may take out.
    pub(super) fn pair<'py>(
        &self,
        py: Python<'py>,
        at: i64,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let key = self.key_object(py, at)?;
        // SAFETY: as far as entries go, one is still there where its hash is not 0.
        if unsafe { Runtime::dict_live(self.d, at) } != at {
            return Err(self.changed());
        }
        Ok((key, self.value_object(py, at)?))
    }

    /// Puts a value in.
    pub(super) fn set(&self, py: Python<'_>, key: &Laid<'_>, value: &Laid<'_>) -> PyResult<()> {
        let at = self.place(py, key)?;
        // SAFETY: the dict is alive, an entry is there, and the value is of its type.
        unsafe { dict::set(self.d, at, value.at()) };
        Ok(())
    }

    /// Takes an entry out; its value.
    pub(super) fn take(&self, at: i64, is_last: bool) -> Taken<'a> {
        let value = self.value_part();
        let mut room = vec![0u64; (value.desc.size as usize).div_ceil(8)];
        // SAFETY: an entry is there; its value moves.
        unsafe {
            let from = dict::value_at(self.d, at);
            std::ptr::copy_nonoverlapping(from, room.as_mut_ptr().cast(), value.desc.size as usize);
            let taken = Taken(value, room);
            if is_last {
                Runtime::dict_drop_last(self.d, at);
            } else {
                Runtime::dict_remove(self.d, at);
            }
            taken
        }
    }

    /// All entries as Python's objects.
    pub(super) fn objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let _use = self.readable()?;
        let (all, len) = (PyDict::new(py), self.len());
        let mut next = 0;
        while let Some(at) = self.from(next) {
            let (key, value) = self.pair(py, at)?;
            all.set_item(key, value)?;
            // Making objects may have run Python code.
            if self.len() != len {
                return Err(self.changed());
            }
            next = at + 1;
        }
        Ok(all)
    }

    /// A native dict of what an object gives: itself, if it is one of the same type.
    pub(super) fn given(&self, other: &Bound<'_, PyAny>) -> PyResult<Owned<Dict>> {
        if let Some(e) = entries_of(other)
            && e.whole.ty == self.whole.ty
        {
            // Whoever gives a dict to itself uses it once.
            let used = if e.d == self.d { Use::NONE } else { e.readable()? };
            // SAFETY: the dict is alive.
            return Ok(unsafe { Owned::shared(e.d, used) });
        }
        dict_of(&gathered(other)?, self.whole)
    }

    /// Puts all entries of another dict of this type in.
    pub(super) fn update(&self, py: Python<'_>, other: &Owned<Dict>) -> PyResult<()> {
        let _use = self.changeable()?;
        // SAFETY: both are alive and of one type.
        run(py, |ctx| unsafe { Runtime::dict_update(ctx, self.d, other.0) })
    }
}

pub(super) fn dict_of(items: &Bound<'_, PyDict>, whole: &Arc<Part>) -> PyResult<Owned<Dict>> {
    let py = items.py();
    let new = keyed::empty(py, whole, items.len() as i64)?;
    let e = Entries(Keyed { d: new.0, whole });
    for (key, value) in items.iter() {
        let (key, value) = (e.new_key(&key)?, Laid::of(&whole.inside[1], &value, "value")?);
        e.set(py, &key, &value)?;
    }
    Ok(new)
}

/// The entries of a mapping, or the pairs that an iterable gives.
pub(super) fn gathered<'py>(other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    if CLASS.has(other) {
        return match entries_of(other) {
            Some(e) => e.objects(other.py()),
            None => Ok(PyDict::new(other.py())),
        };
    }
    if let Ok(d) = other.cast_exact::<PyDict>() {
        return d.copy();
    }
    let all = PyDict::new(other.py());
    all.call_method1("update", (other,))?;
    Ok(all)
}
