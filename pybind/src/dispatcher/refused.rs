//! Which arguments Python runs the function for. To find out that nothing can be compiled for arguments costs more
//! than most calls, since it may take looks at all elements of a list and at all that an object leads to; so calls
//! with classes that were refused before go to Python at once, and only some of them ask again: each time half as
//! often, for what a list holds may be of other types by then, and never so often that asking takes more than a
//! small part of the time. Calls that compiled code could make, but only after it has copied in more than it saves
//! ([`crate::weigh`]), go the same way.

use crate::overload::Overload;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

type Obj = *mut ffi::PyObject;

/// A call in so many asks again at least, where asking is cheap.
const MOST: u32 = 1 << 12;
/// Combinations of classes that are remembered.
const KNOWN: usize = 8;
/// Asking takes one part in so many of the time, once this has been refused so often in a row.
const SHARE: u32 = 20;
const OFTEN: u32 = 8;
/// Containers that have grown so many times as large are asked for anew.
const GROWN: usize = 4;

/// The arguments of a call as Python passes them.
#[derive(Clone, Copy)]
pub(crate) struct Given {
    pub args: *const Obj,
    /// Positional ones.
    pub n: usize,
    /// Null or a tuple: the names of those behind them.
    pub names: Obj,
}

impl Given {
    /// # Safety
    /// `names` is null or a live tuple, as it is for all that follows.
    unsafe fn count(self) -> usize {
        // SAFETY: as required of the caller.
        self.n + if self.names.is_null() { 0 } else { unsafe { ffi::PyTuple_GET_SIZE(self.names) as usize } }
    }

    /// How many entries the containers among them have.
    ///
    /// # Safety
    /// As for a vectorcall.
    unsafe fn size(self) -> usize {
        // SAFETY: as required of the caller; sizes are read of what has them.
        unsafe {
            let size = |o: Obj| match ffi::Py_TYPE(o) {
                c if c == &raw mut ffi::PyList_Type || c == &raw mut ffi::PyTuple_Type => ffi::Py_SIZE(o),
                c if c == &raw mut ffi::PyDict_Type => ffi::PyDict_Size(o),
                c if c == &raw mut ffi::PySet_Type => ffi::PySet_Size(o),
                _ => 0,
            };
            (0..self.count()).map(|i| size(*self.args.add(i)) as usize).sum()
        }
    }
}

/// Why Python makes a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Nothing is compiled for it: its loops may be.
    Lifted,
    /// It is quicker there.
    Uncut,
}

struct Met {
    /// Of the arguments, and the names of those that were given by name.
    classes: Vec<Py<PyAny>>,
    names: Option<Py<PyTuple>>,
    /// How often in a row they were refused, and how many calls go to Python before the next one asks.
    times: u32,
    left: u32,
    /// What they were refused as, where that assumed something.
    as_overload: Option<Weak<Overload>>,
    /// When that was, and how long it took.
    asked: Instant,
    took: Duration,
    /// They were not refused, but are quicker in Python: how many entries their containers had.
    heavy: Option<usize>,
}

#[derive(Default)]
struct All {
    met: Vec<Met>,
    /// The place that the next one takes where there is none free.
    next: usize,
    /// When the first one was met, and what asking has taken since.
    since: Option<Instant>,
    took: Duration,
}

#[derive(Default)]
pub(super) struct Refused {
    any: AtomicBool,
    all: Mutex<All>,
}

impl Met {
    /// # Safety
    /// As for a vectorcall.
    unsafe fn fits(&self, given: Given) -> bool {
        // SAFETY: as required of the caller.
        unsafe {
            let same = |(i, c): (usize, &Py<PyAny>)| c.as_ptr() == ffi::Py_TYPE(*given.args.add(i)).cast();
            self.classes.len() == given.count()
                && self.classes.iter().enumerate().all(same)
                && (self.names.is_none() && given.names.is_null() || self.has_names(given.names))
        }
    }
    /// # Safety
    /// Null or a live tuple of strs.
    #[cold]
    unsafe fn has_names(&self, names: Obj) -> bool {
        let Some(own) = &self.names else { return false };
        if names.is_null() || own.as_ptr() == names {
            return !names.is_null();
        }
        // SAFETY: as required of the caller. Names in the text of programs are one object each.
        unsafe {
            let n = ffi::PyTuple_GET_SIZE(names);
            let same = |i| ffi::PyTuple_GET_ITEM(names, i) == ffi::PyTuple_GET_ITEM(own.as_ptr(), i);
            ffi::PyTuple_GET_SIZE(own.as_ptr()) == n && (0..n).all(same)
        }
    }
}

impl Refused {
    /// Whether some calls go to Python at once.
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Whether, and how, Python makes a call.
    ///
    /// # Safety
    /// As for a vectorcall.
    pub(super) unsafe fn takes(&self, given: Given) -> Option<Way> {
        let (assumed, early) = {
            let mut all = self.all.lock().unwrap_or_else(|e| e.into_inner());
            // SAFETY: as required of the caller.
            let Some(met) = all.met.iter_mut().find(|m| unsafe { m.fits(given) }) else {
                return all.has_asked_enough().then_some(Way::Lifted);
            };
            let early = met.heavy.is_none() && met.times >= OFTEN && met.asked.elapsed() < met.took * SHARE;
            if met.left == 0 {
                if !early {
                    return None;
                }
                met.left = 1 << OFTEN;
            }
            if let Some(size) = met.heavy {
                // SAFETY: as required of the caller.
                if unsafe { given.size() } / GROWN > size {
                    met.left = 0;
                    return None;
                }
                met.left -= 1;
                return Some(Way::Uncut);
            }
            met.left -= 1;
            (met.as_overload.clone(), early)
        };
        // What was assumed may not hold at any call, as where each of them makes a class.
        let holds = || assumed.is_none_or(|o| o.upgrade().is_some_and(|o| !o.parted() && o.holds()));
        (early || holds()).then_some(Way::Lifted)
    }

    /// Nothing could be compiled for arguments, which that overload says where there is one; asking `took` that
    /// long, where somebody asked.
    ///
    /// # Safety
    /// As for a vectorcall.
    pub(super) unsafe fn note(
        &self,
        py: Python<'_>,
        given: Given,
        o: Option<&Arc<Overload>>,
        took: Option<Duration>,
    ) {
        // SAFETY: as required of the caller.
        unsafe {
            self.meet(py, given, |met| {
                met.times = if met.heavy.is_some() { 1 } else { (met.times + 1).min(MOST.ilog2()) };
                met.left = (1 << met.times).min(MOST);
                met.as_overload = o.map(Arc::downgrade);
                met.heavy = None;
                if let Some(took) = took {
                    (met.asked, met.took) = (Instant::now(), took);
                }
                took.unwrap_or_default()
            });
        }
    }

    /// The next so many calls with such arguments are quicker in Python.
    ///
    /// # Safety
    /// As for a vectorcall.
    pub(super) unsafe fn note_heavy(&self, py: Python<'_>, given: Given, calls: u32) {
        // SAFETY: as required of the caller.
        unsafe {
            let size = given.size();
            self.meet(py, given, |met| {
                (met.times, met.left, met.heavy) = (0, calls, Some(size));
                met.took = Duration::ZERO;
                Duration::ZERO
            });
        }
    }

    /// Notes something of the classes of arguments; `note` gives how long asking took now.
    ///
    /// # Safety
    /// As for a vectorcall.
    unsafe fn meet(&self, py: Python<'_>, given: Given, note: impl FnOnce(&mut Met) -> Duration) {
        // Classes that go may run Python code, so they go when the lock is free.
        let _gone;
        let mut all = self.all.lock().unwrap_or_else(|e| e.into_inner());
        // SAFETY: as required of the caller; a class outlives the object that is of it.
        let at = match all.met.iter().position(|m| unsafe { m.fits(given) }) {
            Some(at) => at,
            None => {
                // SAFETY: as required of the caller; `class` is asked for arguments that there are.
                let (count, class, names) = unsafe {
                    let class =
                        |i| Bound::from_borrowed_ptr(py, ffi::Py_TYPE(*given.args.add(i)).cast()).unbind();
                    (given.count(), class, Bound::from_borrowed_ptr_or_opt(py, given.names))
                };
                let met = Met {
                    classes: (0..count).map(class).collect(),
                    names: names.and_then(|n| n.cast_into::<PyTuple>().ok()).map(Bound::unbind),
                    times: 0,
                    left: 0,
                    as_overload: None,
                    asked: Instant::now(),
                    took: Duration::ZERO,
                    heavy: None,
                };
                if all.met.len() < KNOWN {
                    all.met.push(met);
                    all.met.len() - 1
                } else {
                    let at = all.next;
                    all.next = (at + 1) % KNOWN;
                    _gone = std::mem::replace(&mut all.met[at], met);
                    at
                }
            }
        };
        let took = note(&mut all.met[at]);
        all.took += took;
        all.since.get_or_insert_with(Instant::now);
        drop(all);
        self.any.store(true, Ordering::Relaxed);
    }

    /// Visits the classes, for the collector.
    pub(super) fn traverse(&self, visit: &impl Fn(Obj) -> c_int) -> c_int {
        let Ok(all) = self.all.try_lock() else { return 0 };
        let classes = all.met.iter().flat_map(|m| &m.classes).map(|c| c.as_ptr());
        let names = all.met.iter().filter_map(|m| m.names.as_ref()).map(|n| n.as_ptr());
        classes.chain(names).map(visit).find(|r| *r != 0).unwrap_or(0)
    }

    /// Forgets them: what the function means has changed.
    pub(super) fn clear(&self) {
        self.any.store(false, Ordering::Relaxed);
        let all = std::mem::take(&mut *self.all.lock().unwrap_or_else(|e| e.into_inner()));
        drop(all);
    }
}

impl All {
    /// Whether so many combinations were refused that another one is not asked for by now.
    fn has_asked_enough(&self) -> bool {
        self.met.len() == KNOWN
            && self.met.iter().all(|m| m.heavy.is_none())
            && self.since.is_some_and(|since| since.elapsed() < self.took * SHARE)
    }
}
