//! Global values that may change while nobody looks: a list, a dict, an object that compiled code reads by its name.
//! Each call is given them as they are then, like arguments: what can be is copied in, and what compiled code
//! changed is written back.
//!
//! Code finds them at places of its overload, so two threads cannot be in it at once: such calls take turns.

use crate::convert::{Frame, Lenience, Plan, Turn, part_type};
use crate::errors::Failure;
use crate::variables;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::Mutex;
use tierup_core::host::GlobalValue;
use tierup_core::types::{Kind, Type};

/// Entries of a list, dict or set that every call copies. Beyond, a call would cost more than anybody expects.
const MOST: isize = 10_000;

/// One global value, and where calls find it.
pub(crate) struct Passed {
    object: *mut ffi::PyObject,
    /// The same, until something else says when it goes.
    held: Mutex<Option<Py<PyAny>>>,
    pub ty: Type,
    plan: Plan,
    place: Box<[Cell<u64>]>,
}

// SAFETY: the object is used by threads that are attached.
unsafe impl Send for Passed {}
// SAFETY: as above; the places are written by the thread whose turn it is.
unsafe impl Sync for Passed {}

impl Passed {
    /// What calls can be given for an object; none where it is nothing that they could be, and why where only this
    /// one cannot be.
    pub(crate) fn new(obj: &Bound<'_, PyAny>) -> Result<Option<Passed>, Refused> {
        // SAFETY: a live object, whose length is read where it is of a class that has one.
        let size = unsafe {
            let o = obj.as_ptr();
            let sized = ffi::PyList_Check(o) != 0 || ffi::PyDict_Check(o) != 0 || ffi::PyAnySet_Check(o) != 0;
            if sized { ffi::PyObject_Size(o) } else { 0 }
        };
        if size > MOST {
            return Err(Refused::Because(format!("with {size} entries, too many for each call to copy")));
        }
        let ty = match part_type(obj) {
            Ok(ty) => ty,
            Err(Failure::Raised(e)) => return Err(Refused::Raised(e)),
            Err(Failure::Diagnostic(d)) if is_container(obj) => {
                return Err(Refused::Because(format!(
                    "that calls cannot be given ({})",
                    d.message.replace(" argument ", " ")
                )));
            }
            Err(Failure::Diagnostic(_)) => return Ok(None),
        };
        let count = ty.leaf_count();
        if count == 0 || matches!(*ty, Kind::Generator(..)) {
            return Ok(None);
        }
        let place = (0..count).map(|_| Cell::new(0)).collect();
        let held = Mutex::new(Some(obj.clone().unbind()));
        Ok(Some(Passed { object: obj.as_ptr(), held, ty, plan: Plan::new(ty, None), place }))
    }

    pub(crate) fn object(&self) -> *mut ffi::PyObject {
        self.object
    }

    /// What it owns, if anything.
    pub(crate) fn owned(&self) -> *mut ffi::PyObject {
        let held = self.held.lock().unwrap_or_else(|e| e.into_inner());
        if held.is_some() { self.object } else { std::ptr::null_mut() }
    }

    /// Whether it stands for the variables of a class or a module, which it would keep alive.
    pub(crate) fn is_for_variables(&self) -> bool {
        // SAFETY: a live object: where it is not owned its end ends this.
        variables::is_for_variables(unsafe { ffi::Py_TYPE(self.object) })
    }

    /// Owns nothing from now on.
    pub(crate) fn loosen(&self) {
        let held = self.held.lock().unwrap_or_else(|e| e.into_inner()).take();
        drop(held);
    }

    /// Its address and type, where that says what it holds.
    pub(crate) fn known(&self) -> Option<(usize, Type)> {
        (!self.ty.lacks_elements()).then(|| (self.object() as usize, self.ty))
    }

    pub(crate) fn is_for(&self, obj: &Bound<'_, PyAny>) -> bool {
        self.object == obj.as_ptr()
    }

    pub(crate) fn place(&self) -> usize {
        self.place.as_ptr() as usize
    }

    pub(crate) fn value(&self) -> GlobalValue {
        GlobalValue::Passed { ty: self.ty, place: self.place() }
    }

    /// Takes it for something wider: a container that was empty, an object whose fields are to hold more.
    pub(crate) fn settle(&mut self, ty: Type) {
        if ty == self.ty {
            return;
        }
        let empty = self.ty.arguments().iter().all(|t| *t == Kind::Never);
        self.plan = if empty {
            Plan::new(ty, None)
        } else if self.ty.lacks_elements() {
            Plan::widened_or_own(self.ty, ty)
        } else {
            Plan::widened(self.ty, ty)
        };
        self.ty = ty;
    }
}

fn is_container(obj: &Bound<'_, PyAny>) -> bool {
    use pyo3::types::{PyDict, PyList, PySet};
    obj.is_instance_of::<PyList>() || obj.is_instance_of::<PyDict>() || obj.is_instance_of::<PySet>()
}

/// Why an object is not passed.
pub(crate) enum Refused {
    Because(String),
    Raised(PyErr),
}

/// What a call found at the places, which it puts back when it ends: it may be one inside another.
pub(crate) struct Before<'a> {
    all: &'a [Passed],
    words: Vec<u64>,
}

/// Waits for the turn of a call that is given such values, before anything is copied in: others may change it until
/// then. None means that the frame knows what went wrong.
///
/// # Safety
/// The thread is attached.
pub(crate) unsafe fn take_turn(frame: &mut Frame) -> Option<()> {
    // SAFETY: as required of the caller.
    match Turn::begin(unsafe { Python::assume_attached() }, true) {
        Ok(turn) => frame.turn = Some(turn),
        Err(e) => {
            frame.extra().failure = Some(e.into());
            return None;
        }
    }
    Some(())
}

impl<'a> Before<'a> {
    /// Puts what the objects hold now at their places. None means that one is no longer what it was taken for, or that
    /// the frame knows what went wrong.
    ///
    /// # Safety
    /// The thread is attached, and it is its turn; the frame stays where it is, and is dropped after the answer.
    pub(crate) unsafe fn pass(all: &'a [Passed], frame: &mut Frame) -> Option<Before<'a>> {
        let before = Before { all, words: all.iter().flat_map(|p| p.place.iter().map(Cell::get)).collect() };
        // Signatures declare arguments only.
        let lenience = std::mem::replace(&mut frame.lenience, Lenience::Exact);
        frame.takes_empty = true;
        for p in all {
            let mut new = vec![0; p.place.len() + 1];
            // SAFETY: the object is alive, and there is room for the leaves of its type.
            unsafe { p.plan.unbox(p.object(), new.as_mut_ptr(), frame)? };
            p.place.iter().zip(new).for_each(|(place, word)| place.set(word));
        }
        frame.takes_empty = false;
        frame.lenience = lenience;
        Some(before)
    }
}

impl Drop for Before<'_> {
    fn drop(&mut self) {
        let places = self.all.iter().flat_map(|p| p.place.iter());
        places.zip(&self.words).for_each(|(place, word)| place.set(*word));
    }
}
