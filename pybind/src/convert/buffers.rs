//! Objects with memory of their own, `memoryview` and `array.array`, which are instances of classes of the library
//! (`tierup/lib/buffers.py`) while compiled code has them.

use super::protocol::{Class, Frame, Obj};
use pyo3::ffi;
use pyo3::prelude::*;

/// Whether objects of a class are such ones.
///
/// # Safety
/// A live type object.
unsafe fn is_one(class: Class) -> bool {
    // SAFETY: the name of a live type object is a C string.
    class == &raw mut ffi::PyMemoryView_Type
        || unsafe { std::ffi::CStr::from_ptr((*class).tp_name) }.to_bytes() == b"array.array"
}

/// The instance that stands for an object; none for any other object, and for memory of elements that no array
/// of compiled code has.
pub(super) fn seen<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    // SAFETY: the class of a live object.
    if !unsafe { is_one(ffi::Py_TYPE(obj.as_ptr())) } {
        return Ok(None);
    }
    let made = obj
        .py()
        .import(intern!(obj.py(), "tierup.lib.buffers"))?
        .call_method1(intern!(obj.py(), "seen"), (obj,))?;
    Ok((!made.is_none()).then_some(made))
}

/// The same for an argument. The instance lives as long as the call.
///
/// # Safety
/// A live object of that class; the thread is attached.
#[cold]
pub(super) unsafe fn seen_for_a_call(obj: Obj, class: Class, frame: &mut Frame) -> Option<Obj> {
    // SAFETY: as required of the caller.
    unsafe {
        if !is_one(class) {
            return None;
        }
        let made = seen(&Bound::from_borrowed_ptr(Python::assume_attached(), obj)).ok()??;
        frame.keep(made.as_ptr());
        Some(made.as_ptr())
    }
}

/// What of an instance goes back to Python.
pub(super) fn in_python<'py>(made: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    made.call_method0(intern!(made.py(), "_tierup_python_"))
}

/// Whether a class is one of those of the library.
pub(super) fn stands_for_one(class: &Bound<'_, PyAny>) -> bool {
    class.hasattr(intern!(class.py(), "_tierup_python_")).unwrap_or(false)
}
