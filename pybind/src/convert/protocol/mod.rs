//! What conversions are written in. A [`Convert`] unboxes arguments for the call of a [`Frame`], boxes
//! results with what a [`BoxCx`] knows, and writes back what compiled code changed in a copy ([`copies`]).

mod copies;
mod frame;

use crate::engine::Compiled;
use crate::gil::attached;
use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tierup_core::emit::cx::Places;
use tierup_core::layout::Obj as Native;
use tierup_core::types::Type;
use tierup_runtime::object::retain;

pub(crate) use copies::{Copied, Copies, Made};
pub(in crate::convert) use frame::Strictness;
pub(crate) use frame::{ARGS, Frame, Lenience, RESULTS, in_use};

pub(crate) type Obj = *mut ffi::PyObject;
pub(crate) type Class = *mut ffi::PyTypeObject;

/// Converts values of one type.
pub(crate) trait Convert: Send + Sync {
    /// Writes the leaves of `obj`, which is of class `class`, at `out` and gives the place behind them; none
    /// when it does not fit, or could not be converted (then `frame` knows why).
    ///
    /// # Safety
    /// `obj` is live and outlives the call; `out` has room for the leaves; `frame` is not moved any more.
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64>;

    /// Makes the Python object of the value whose leaves start at `*at`, and moves `at` behind them. Null
    /// means that a Python exception is set. The references of the leaves are taken over, whatever happens.
    ///
    /// # Safety
    /// The slots hold a value of the type that the caller owns; the thread is attached.
    unsafe fn to_python(&self, at: &mut *const u64, cx: &mut BoxCx<'_>) -> Obj;

    /// Why a value of the type cannot become a Python object, `inside` another one or by itself; asked once,
    /// when a function is compiled.
    fn cannot_box(&self, _inside: bool) -> Option<String> {
        None
    }

    /// Forgets objects that live without us, for one of them will be gone; nothing is taken any more that is
    /// recognised by one.
    fn part(&self) {}

    /// `obj` is one of the type's objects: where it has no value beside that, it is recognised at once from
    /// now on.
    fn remember(&self, _obj: Obj) {}

    /// Writes what compiled code changed in a copy into its source, where both sides were alike before. False
    /// means that a Python exception is set.
    ///
    /// # Safety
    /// Of this and those below: the copy was made by this conversion, and compiled code does not run; the
    /// thread is attached.
    unsafe fn write_back(&self, copy: &Copied, _cx: &mut BoxCx<'_>) -> bool {
        unreachable!("nobody copies a {}", copy.ty)
    }

    /// Writes that part of it which has to be written before any object is changed: what is found in the source by
    /// methods that read objects. The rest is what has changed since.
    ///
    /// # Safety
    /// See [`Convert::write_back`].
    unsafe fn write_found(&self, _copy: &Copied, _cx: &mut BoxCx<'_>) -> bool {
        true
    }

    /// Remembers what both sides of a copy hold, which are alike.
    ///
    /// # Safety
    /// See [`Convert::write_back`].
    unsafe fn follow(&self, copy: &Copied) {
        unreachable!("nobody copies a {}", copy.ty)
    }

    /// Brings copy `at` of the frame, which is followed, up to what its source is now. None means that the
    /// frame knows why it cannot be.
    ///
    /// # Safety
    /// See [`Convert::write_back`].
    unsafe fn read_again(&self, at: usize, _frame: &mut Frame) -> Option<()> {
        unreachable!("nobody copied number {at}")
    }
}

/// Converts what an object holds after the object itself is known on both sides: objects lead to objects, in
/// rings and in chains as long as a program makes them.
pub(crate) trait Later: Send + Sync {
    /// Gives copy `at` of the frame what its source holds; none means that it does not fit, or that the frame
    /// knows why it could not be converted.
    ///
    /// # Safety
    /// The copy was made by this conversion; the thread is attached, and its source is not changed.
    unsafe fn fill(&self, at: usize, frame: &mut Frame) -> Option<()>;

    /// Gives a Python object what a native one holds; false means that a Python exception is set.
    ///
    /// # Safety
    /// Both are live, and of the type that this converts; the thread is attached.
    unsafe fn give(&self, native: *mut Native, object: Obj, cx: &mut BoxCx<'_>) -> bool;
}

/// What the boxing of one result knows: what was made already, so that a list that occurs twice stays one
/// list, and what was copied in.
pub(crate) struct BoxCx<'f> {
    copies: Option<&'f Copies>,
    pub(in crate::convert) made: Vec<Made>,
    /// Where in `made` native objects are, where there are more than a few.
    places: FxHashMap<usize, usize>,
    /// Objects without fields so far, each with the native one that it is of, and whether somebody gives them
    /// theirs already.
    pub(in crate::convert) ungiven: Vec<(&'static dyn Later, *mut Native, Obj)>,
    pub(in crate::convert) giving: bool,
    /// What is made is followed: it has references to both sides.
    pub(in crate::convert) follows: bool,
    /// Lists are those of an object that Python sees itself, and so are seen themselves.
    pub(in crate::convert) shares: bool,
    /// For a result that is a generator.
    pub generator: Option<GeneratorOf<'f>>,
    /// Objects of Python's for which instances of classes of the library stood, each with the fields of that: lists
    /// that are known stay alive, and what is given twice is one object.
    pub(in crate::convert) stood: Vec<(Vec<Py<PyAny>>, Py<PyAny>)>,
    /// What copied objects held when they were passed. Native values refer to these objects without owning
    /// them.
    pub(in crate::convert) held: Vec<Obj>,
}

/// What a generator keeps of the call that made it.
pub(crate) struct GeneratorOf<'f> {
    pub code: Arc<Compiled>,
    /// What it yields, and what its frame keeps for those who resume it.
    pub yields: (Type, Places),
    /// Keeps alive what the code has assumed, and what converts the copies.
    pub overload: Arc<dyn Send + Sync>,
    /// The objects that it was compiled for, by their numbers ([`crate::identity`]).
    pub objects: &'f [u64],
    /// Of its function.
    pub globals: Obj,
    pub name: &'f str,
    pub copies: Copies,
}

impl<'f> BoxCx<'f> {
    pub(crate) fn new(copies: Option<&'f Copies>) -> BoxCx<'f> {
        BoxCx {
            copies,
            made: vec![],
            places: FxHashMap::default(),
            ungiven: vec![],
            stood: vec![],
            giving: false,
            follows: false,
            shares: false,
            generator: None,
            held: vec![],
        }
    }
    /// The Python object of a native one, if there is one already.
    pub(in crate::convert) fn known(&self, native: *mut Native) -> Option<Obj> {
        let copied = self.copies.and_then(|c| c.source_of(native));
        copied.or_else(|| {
            if self.made.len() <= copies::FEW {
                return self.made.iter().find(|m| m.native == native).map(|m| m.object);
            }
            self.places.get(&(native as usize)).map(|k| self.made[*k].object)
        })
    }
    /// `by` made a Python object for a native one.
    ///
    /// # Safety
    /// Both are live.
    pub(in crate::convert) unsafe fn add(&mut self, made: Made) {
        if self.follows {
            // SAFETY: as required of the caller.
            unsafe {
                retain(made.native);
                ffi::Py_INCREF(made.object);
            }
        }
        self.made.push(made);
        if self.made.len() > copies::FEW {
            let first = if self.places.is_empty() { 0 } else { self.made.len() - 1 };
            for (k, m) in self.made.iter().enumerate().skip(first) {
                self.places.insert(m.native as usize, k);
            }
        }
    }
}
impl Drop for BoxCx<'_> {
    fn drop(&mut self) {
        for o in &self.held {
            // SAFETY: each was put there with a reference of its own; results are boxed by threads that are
            // attached.
            unsafe { ffi::Py_DECREF(*o) }
        }
    }
}

/// One more reference to a live object.
///
/// # Safety
/// `o` must be live.
#[inline]
pub(crate) unsafe fn new_ref(o: Obj) -> Obj {
    // SAFETY: as required of the caller.
    unsafe { ffi::Py_INCREF(o) };
    o
}

/// The next leaf.
///
/// # Safety
/// There is one.
#[inline]
pub(in crate::convert) unsafe fn next(at: &mut *const u64) -> u64 {
    // SAFETY: as required of the caller.
    unsafe {
        let bits = **at;
        *at = at.add(1);
        bits
    }
}

/// A new reference, or null with the exception set.
pub(in crate::convert) fn result(
    make: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>,
) -> Obj {
    attached(|py| match make(py) {
        Ok(o) => o.into_ptr(),
        Err(e) => {
            e.restore(py);
            std::ptr::null_mut()
        }
    })
}
