//! The elements of a list in native memory, as methods of its Python class see them.

use super::{CLASS, of};
use crate::convert::native::Part;
use crate::convert::native::shown::{Owned, Use, run};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice};
use std::sync::Arc;
use tierup_core::layout::List;
use tierup_core::ops::list::Helpers;
use tierup_runtime::Native as Runtime;

/// A list whose elements have a type, as methods see it.
pub(super) struct Elements<'a> {
    pub(super) l: *mut List,
    pub(super) part: &'a Arc<Part>,
}

/// Those of an object that is such a list too.
pub(super) fn elements_of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<Elements<'a>> {
    if !CLASS.has(obj) {
        return None;
    }
    of(obj).map(|(l, part)| Elements { l, part })
}

/// What an index or a slice says. Asking it may run Python code that changes the list, or lets others do so:
/// that comes before the list is looked at.
pub(super) struct Slice {
    start: isize,
    stop: isize,
    step: isize,
}

impl Slice {
    pub(super) fn of(s: &Bound<'_, PySlice>) -> PyResult<Slice> {
        let (mut start, mut stop, mut step) = (0, 0, 0);
        // SAFETY: `s` is a slice; the numbers are ours.
        if unsafe { ffi::PySlice_Unpack(s.as_ptr(), &mut start, &mut stop, &mut step) } < 0 {
            return Err(PyErr::fetch(s.py()));
        }
        Ok(Slice { start, stop, step })
    }
}

pub(super) fn index(i: &Bound<'_, PyAny>) -> PyResult<i64> {
    i.extract::<isize>().map(|i| i as i64).map_err(|e| {
        let class = i.get_type().name().map_or_else(|_| "object".into(), |n| n.to_string());
        if e.is_instance_of::<PyTypeError>(i.py()) {
            PyTypeError::new_err(format!("list indices must be integers or slices, not {class}"))
        } else {
            PyIndexError::new_err(format!("cannot fit '{class}' into an index-sized integer"))
        }
    })
}

impl Elements<'_> {
    pub(super) fn len(&self) -> i64 {
        // SAFETY: the list is alive as long as its Python object.
        unsafe { (*self.l).len }
    }
    pub(super) fn at(&self, i: i64) -> *mut u8 {
        // SAFETY: as above; the caller has an index in range.
        unsafe { (*self.l).data.wrapping_offset((i * self.part.desc.size) as isize) }
    }
    /// Refuses while somebody who may change the list runs.
    pub(super) fn readable(&self) -> PyResult<Use> {
        // SAFETY: as above.
        unsafe { Use::to_read(self.l.cast()) }
    }
    /// Refuses while anybody runs who has been given the list.
    pub(super) fn changeable(&self) -> PyResult<Use> {
        // SAFETY: as above.
        unsafe { Use::to_change(self.l.cast()) }
    }
    pub(super) fn object<'py>(&self, py: Python<'py>, i: i64) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: an element lies there.
        unsafe { Bound::from_owned_ptr_or_err(py, self.part.read(self.at(i))) }
    }
    /// All elements as Python's objects.
    pub(super) fn objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let _use = self.readable()?;
        let all = PyList::empty(py);
        let mut i = 0;
        while i < self.len() {
            all.append(self.object(py, i)?)?;
            i += 1;
        }
        Ok(all)
    }
    /// The position of an index; `outside` is what is said of one that is out of range.
    pub(super) fn position(&self, i: i64, outside: &'static str) -> PyResult<i64> {
        let len = self.len();
        let at = if i < 0 { i + len } else { i };
        if (0..len).contains(&at) { Ok(at) } else { Err(PyIndexError::new_err(outside)) }
    }
    /// Start, step and count of the elements that a slice has of this list.
    pub(super) fn range(&self, Slice { mut start, mut stop, step }: Slice) -> (i64, i64, i64) {
        // SAFETY: the numbers are ours, and the step of a slice is not 0.
        let count = unsafe { ffi::PySlice_AdjustIndices(self.len() as isize, &mut start, &mut stop, step) };
        (start as i64, step as i64, count as i64)
    }
    /// Puts element `order[k]` in place `k`.
    pub(super) fn permute(&self, order: &[i64]) {
        let size = self.part.desc.size as usize;
        let mut bytes = vec![0u8; size * order.len()];
        // SAFETY: as many elements lie there; each is moved to another place, with what it refers to.
        unsafe {
            for (k, i) in order.iter().enumerate() {
                std::ptr::copy_nonoverlapping(self.at(*i), bytes.as_mut_ptr().add(k * size), size);
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(0), bytes.len());
        }
    }
    /// A new native list of Python's objects.
    pub(super) fn list_of(&self, items: &Bound<'_, PyList>) -> PyResult<Owned<List>> {
        list_of(items, self.part)
    }
    /// A native list of what an object gives: itself, if it is one of the same type.
    pub(super) fn given(&self, other: &Bound<'_, PyAny>) -> PyResult<Owned<List>> {
        if let Some(e) = elements_of(other)
            && e.part.ty == self.part.ty
        {
            // Whoever gives a list to itself uses it once.
            let used = if e.l == self.l { Use::NONE } else { e.readable()? };
            // SAFETY: the list is alive.
            return Ok(unsafe { Owned::shared(e.l, used) });
        }
        self.list_of(&listed(other)?)
    }
}

pub(super) fn list_of(items: &Bound<'_, PyList>, part: &Arc<Part>) -> PyResult<Owned<List>> {
    let py = items.py();
    // SAFETY: the descriptor lives for ever, and the context is this thread's.
    let new = run(py, |ctx| unsafe { Runtime::list_new(ctx, part.desc, items.len() as i64) })?;
    let list = Owned::new(new);
    let new = Elements { l: list.0, part };
    for item in items.iter() {
        let mut value = part.value(&item, "element")?;
        // Converting may run Python code that makes the list longer.
        // SAFETY: the list is nobody else's.
        run(py, |ctx| unsafe { Runtime::list_reserve(ctx, list.0, 1) })?;
        // SAFETY: there is room for one more.
        unsafe {
            value.write(new.at(new.len()));
            (*list.0).len += 1;
        }
    }
    Ok(list)
}

/// What an iterable gives.
pub(super) fn listed<'py>(iterable: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    if let Ok(l) = iterable.cast_exact::<PyList>() {
        return Ok(l.clone());
    }
    let values = iterable
        .try_iter()
        .map_err(|e| match e.is_instance_of::<PyTypeError>(iterable.py()) {
            true => PyTypeError::new_err("List() argument must be iterable"),
            false => e,
        })?
        .collect::<PyResult<Vec<_>>>()?;
    PyList::new(iterable.py(), values)
}
