//! Objects of Python's library that are instances of classes of ours while compiled code has them: `memoryview` and
//! `array.array` (`tierup/lib/buffers.py`), patterns and matches of `re` (`tierup/lib/regexes.py`), formats of `struct`
//! (`tierup/lib/structs.py`), templates (`tierup/lib/templates.py`).

use super::protocol::{Class, Frame, Obj};
use pyo3::ffi;
use pyo3::prelude::*;

/// The module of our library that has the instances of a class; none for other classes.
///
/// # Safety
/// A live type object.
unsafe fn home(class: Class) -> Option<&'static str> {
    // SAFETY: the name of a live type object is a C string.
    match unsafe { std::ffi::CStr::from_ptr((*class).tp_name) }.to_bytes() {
        b"memoryview" | b"array.array" => Some("tierup.lib.buffers"),
        b"re.Pattern" | b"re.Match" => Some("tierup.lib.regexes"),
        b"_struct.Struct" => Some("tierup.lib.structs"),
        // One of Python's own classes, or another one of that name: the module tells.
        b"Template" => Some("tierup.lib.templates"),
        _ => None,
    }
}

/// The instance that stands for an object; none for any other object, and for one that compiled code cannot have,
/// such as memory of elements that no array has.
pub(crate) fn seen<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    // SAFETY: the class of a live object.
    let Some(home) = (unsafe { home(ffi::Py_TYPE(obj.as_ptr())) }) else { return Ok(None) };
    let made = obj.py().import(home)?.call_method1(intern!(obj.py(), "seen"), (obj,))?;
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
        home(class)?;
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
