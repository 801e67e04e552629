//! What is made once, when it is first asked for, and stays. Two threads that ask at the same time may both make it,
//! and one of the two is dropped: nobody waits for another thread, which in a child made by `fork()` would be for ever.

use pyo3::prelude::*;
use pyo3::types::PyString;
use std::convert::Infallible;
use std::sync::atomic::{AtomicPtr, Ordering};

pub(crate) struct Once<T: Send + Sync + 'static>(AtomicPtr<T>);

impl<T: Send + Sync + 'static> Once<T> {
    pub(crate) const fn new() -> Once<T> {
        Once(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The value, made if it was not yet.
    pub(crate) fn get_or_try_init<E>(
        &'static self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<&'static T, E> {
        // SAFETY: what was put there once stays.
        if let Some(made) = unsafe { self.0.load(Ordering::Acquire).as_ref() } {
            return Ok(made);
        }
        let made = Box::into_raw(Box::new(make()?));
        match self.0.compare_exchange(std::ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: it is ours until here, and nobody's to free from now on.
            Ok(_) => Ok(unsafe { &*made }),
            Err(first) => {
                // SAFETY: nobody else has seen the second one, and the first one stays.
                unsafe {
                    drop(Box::from_raw(made));
                    Ok(&*first)
                }
            }
        }
    }
}

/// A name that Python objects are asked for.
pub(crate) struct Interned(Once<Py<PyString>>, &'static str);

impl Interned {
    pub(crate) const fn new(text: &'static str) -> Interned {
        Interned(Once::new(), text)
    }

    pub(crate) fn get<'py>(&'static self, py: Python<'py>) -> &'py Bound<'py, PyString> {
        let Ok(name) = self.0.get_or_try_init(|| Ok::<_, Infallible>(PyString::intern(py, self.1).unbind()));
        name.bind(py)
    }
}

/// The interned str of a constant text.
macro_rules! intern {
    ($py:expr, $text:expr) => {{
        static NAME: $crate::once::Interned = $crate::once::Interned::new($text);
        NAME.get($py)
    }};
}
