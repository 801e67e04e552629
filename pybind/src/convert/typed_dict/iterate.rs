//! Iterators over typed dicts: what the views of `pybind/python/tierup/typed.py` go through.

use super::TypedDict;
use super::entries::entries_of;
use crate::convert::native::keyed::Going;
use pyo3::prelude::*;

/// What an iterator gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Keys,
    Values,
    Items,
}

#[pyclass(module = "tierup.typed", frozen)]
pub(super) struct DictIterator {
    dict: Py<TypedDict>,
    what: What,
    going: Going,
}

impl DictIterator {
    pub(super) fn new(dict: &Bound<'_, TypedDict>, what: What, reversed: bool) -> PyResult<DictIterator> {
        let going = Going::through(entries_of(dict.as_any()).map(|e| e.0), reversed)?;
        Ok(DictIterator { dict: dict.clone().unbind(), what, going })
    }
}

#[pymethods]
impl DictIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }
    fn __length_hint__(&self) -> i64 {
        self.going.left()
    }
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let dict = self.dict.bind(py);
        let e = entries_of(dict.as_any());
        let Some((here, _use)) = self.going.next(e.as_deref())? else { return Ok(None) };
        let Some(e) = e else { return Ok(None) };
        match self.what {
            What::Keys => e.key_object(py, here),
            What::Values => e.value_object(py, here),
            What::Items => {
                let (key, value) = e.pair(py, here)?;
                Ok((key, value).into_pyobject(py)?.into_any())
            }
        }
        .map(Some)
    }
}
