//! Which classes of arguments Python runs the function for. To find out that nothing can be compiled for
//! arguments costs more than most calls, since it may take looks at all elements of a list; so calls with
//! classes that were refused before go to Python at once, and only some of them ask again: each time half as
//! often, for what a list holds may be of other types by then.

use crate::overload::Overload;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, Weak};

type Obj = *mut ffi::PyObject;

/// A call in so many asks again at least.
const MOST: u32 = 1 << 12;

#[derive(Default)]
struct Met {
    /// Of the arguments that were refused last.
    classes: Vec<Py<PyAny>>,
    /// How often in a row, and how many calls go to Python before the next one asks.
    times: u32,
    left: u32,
    /// What they were refused as, where that assumed something.
    as_overload: Option<Weak<Overload>>,
}

#[derive(Default)]
pub(super) struct Refused(Mutex<Met>);

impl Met {
    /// # Safety
    /// `args` points to `n` live objects.
    unsafe fn fits(&self, args: *const Obj, n: usize) -> bool {
        // SAFETY: as required of the caller.
        let class = |i: usize| unsafe { ffi::Py_TYPE(*args.add(i)) };
        self.classes.len() == n
            && self.times > 0
            && self.classes.iter().enumerate().all(|(i, c)| c.as_ptr() == class(i).cast())
    }
}

impl Refused {
    /// Whether a call goes to Python at once.
    ///
    /// # Safety
    /// `args` points to `n` live objects; the thread is attached.
    pub(super) unsafe fn takes(&self, args: *const Obj, n: usize) -> bool {
        let assumed = {
            let mut met = self.0.lock().unwrap_or_else(|e| e.into_inner());
            // SAFETY: as required of the caller.
            if met.left == 0 || unsafe { !met.fits(args, n) } {
                return false;
            }
            met.left -= 1;
            met.as_overload.clone()
        };
        assumed.is_none_or(|o| o.upgrade().is_some_and(|o| o.holds()))
    }

    /// Nothing could be compiled for arguments, which that overload says where there is one.
    ///
    /// # Safety
    /// As for [`Refused::takes`].
    pub(super) unsafe fn note(&self, py: Python<'_>, args: *const Obj, n: usize, o: Option<&Arc<Overload>>) {
        let classes = || {
            // SAFETY: as required of the caller; a class outlives the object that is of it.
            let class =
                |i| unsafe { Bound::from_borrowed_ptr(py, ffi::Py_TYPE(*args.add(i)).cast()).unbind() };
            (0..n).map(class).collect()
        };
        // Classes that go may run Python code, so they go when the lock is free.
        let _gone;
        let mut met = self.0.lock().unwrap_or_else(|e| e.into_inner());
        // SAFETY: as required of the caller.
        if unsafe { met.fits(args, n) } {
            met.times = (met.times + 1).min(MOST.ilog2());
            _gone = vec![];
        } else {
            _gone = std::mem::replace(&mut met.classes, classes());
            met.times = 1;
        }
        met.left = (1 << met.times).min(MOST);
        met.as_overload = o.map(Arc::downgrade);
        drop(met);
    }

    /// Visits the classes, for the collector.
    pub(super) fn traverse(&self, visit: &impl Fn(Obj) -> c_int) -> c_int {
        let Ok(met) = self.0.try_lock() else { return 0 };
        met.classes.iter().map(|c| visit(c.as_ptr())).find(|r| *r != 0).unwrap_or(0)
    }

    /// Forgets them: what the function means has changed.
    pub(super) fn clear(&self) {
        let met = std::mem::take(&mut *self.0.lock().unwrap_or_else(|e| e.into_inner()));
        drop(met);
    }
}
