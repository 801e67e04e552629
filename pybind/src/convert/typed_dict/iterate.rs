//! Iterators over typed dicts: what the views of `pybind/python/tierup/typed.py` go through.

use super::entries::{CHANGED, Entries};
use super::{TypedDict, of};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use tierup_core::ops::dict::Helpers;
use tierup_runtime::Native as Runtime;

/// What an iterator gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Keys,
    Values,
    Items,
}

/// Goes through a dict as it is when each entry is asked for; whose size has changed is refused.
#[pyclass(module = "tierup.typed", frozen)]
pub(super) struct DictIterator {
    dict: Py<TypedDict>,
    what: What,
    reversed: bool,
    /// The next place; from the end the one behind it. None is left at [`ENDED`].
    at: AtomicI64,
    /// Entries that there were.
    had: i64,
    left: AtomicI64,
}

const ENDED: i64 = -1;

impl DictIterator {
    pub(super) fn new(dict: &Bound<'_, TypedDict>, what: What, reversed: bool) -> PyResult<DictIterator> {
        let (had, used) = match of(dict.as_any()) {
            Some((d, whole)) => {
                let e = Entries { d, whole };
                let _use = e.readable()?;
                // SAFETY: the dict is alive.
                unsafe { ((*d).len, (*d).used) }
            }
            None => (0, 0),
        };
        Ok(DictIterator {
            dict: dict.clone().unbind(),
            what,
            reversed,
            at: AtomicI64::new(if reversed { used } else { 0 }),
            had,
            left: AtomicI64::new(had),
        })
    }

    fn end(&self) {
        self.at.store(ENDED, Relaxed);
    }
}

#[pymethods]
impl DictIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }
    fn __length_hint__(&self) -> i64 {
        if self.at.load(Relaxed) == ENDED { 0 } else { self.left.load(Relaxed).max(0) }
    }
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let at = self.at.load(Relaxed);
        if at == ENDED {
            return Ok(None);
        }
        let Some((d, whole)) = of(self.dict.bind(py).as_any()) else {
            self.end();
            return Ok(None);
        };
        let e = Entries { d, whole };
        let _use = e.readable()?;
        if e.len() != self.had {
            return Err(PyRuntimeError::new_err(CHANGED));
        }
        // SAFETY: the dict is alive; places behind those that are taken have no entry.
        let here = unsafe {
            if self.reversed {
                Runtime::dict_live_before(d, at.min((*d).used))
            } else {
                let here = Runtime::dict_live(d, at);
                if here < (*d).used { here } else { ENDED }
            }
        };
        if here == ENDED {
            self.end();
            return Ok(None);
        }
        if self.left.fetch_sub(1, Relaxed) <= 0 && !self.reversed {
            return Err(PyRuntimeError::new_err("dictionary keys changed during iteration"));
        }
        // The first place comes last in a dict that is gone through from its end.
        self.at.store(if self.reversed { here } else { here + 1 }, Relaxed);
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
