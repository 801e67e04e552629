//! What NumPy has to learn about a ufunc before a question of its own can be answered.
//!
//! NumPy asks which loop a call needs while it holds the ufunc's table of loops; without a GIL that is a lock, and
//! asking for it again on the same thread ends the process. So the answer is the exception [`ToLearn`], which
//! leads out of NumPy, and the call is made again when NumPy knows.

use super::object::UFunc;
use super::table_of;
use crate::gil::attached;
use pyo3::exceptions::PyException;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

pyo3::create_exception!(tierup._tierup, ToLearn, PyException);

/// What NumPy itself does where a ufunc is called: one function for all ufuncs.
static OWN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Has calls of a ufunc come by here.
///
/// # Safety
/// `u` is a ufunc that NumPy has just made.
pub(super) unsafe fn stand_before(u: *mut UFunc) {
    // SAFETY: as required of the caller.
    unsafe {
        OWN.store((*u).vectorcall, Ordering::Release);
        (*u).vectorcall = call as ffi::vectorcallfunc as *mut c_void;
    }
}

unsafe extern "C" fn call(
    u: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    n: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: what `stand_before` found, called as this was.
    unsafe {
        let own = std::mem::transmute::<*mut c_void, ffi::vectorcallfunc>(OWN.load(Ordering::Acquire));
        loop {
            let answer = own(u, args, n, names);
            if !answer.is_null() || !learnt(u) {
                return answer;
            }
        }
    }
}

/// Whether the call that failed is worth another try.
///
/// # Safety
/// `u` is alive, and an exception is set.
#[cold]
unsafe fn learnt(u: *mut ffi::PyObject) -> bool {
    attached(|py| {
        let Some(e) = PyErr::take(py) else { return false };
        // SAFETY: as required of the caller.
        let u = unsafe { Bound::from_borrowed_ptr(py, u) };
        let learn = || -> PyResult<bool> {
            if !e.is_instance_of::<ToLearn>(py) {
                return Ok(false);
            }
            let (ufunc, types): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
                e.value(py).getattr("args")?.extract()?;
            // One ufunc may have called another.
            if !ufunc.is(&u) {
                return Ok(false);
            }
            table_of(&u)?.get().builder.bind(py).call_method1("learn", (&u, types))?;
            Ok(true)
        };
        match learn() {
            Ok(true) => return true,
            Ok(false) => e.restore(py),
            Err(e) => e.restore(py),
        }
        false
    })
}
