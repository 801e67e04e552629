//! `numpy.random.Generator` as an argument: compiled code draws through the C interface of its bit generator,
//! so Python and compiled code advance one state.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, new_ref, next};
use super::{Constructor, Plan};
use crate::gil::attached;
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::layout::BitSource;
use tierup_core::types::{Kind, Type};
use tierup_runtime::object::release;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    // SAFETY: `obj` is live.
    recognise: |obj| Ok(is_generator(unsafe { ffi::Py_TYPE(obj.as_ptr()) }).then(|| Type::new(Kind::Random))),
    plan: |_, _| Plan::other(Random),
};

struct Random;

impl Convert for Random {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, frame: &mut Frame) -> Option<*mut u64> {
        if !is_generator(class) {
            return None;
        }
        // SAFETY: `obj` is a generator of NumPy's; there is room for the leaf.
        unsafe {
            out.write(frame.random(obj)? as u64);
            Some(out.add(1))
        }
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        // SAFETY: the only leaf is an owned source, which names its generator.
        unsafe {
            let source = next(at) as *mut BitSource;
            let object = new_ref((*source).py.cast());
            release(source.cast());
            object
        }
    }
}

/// The class, once an instance has been seen.
static GENERATOR: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

/// Whether a class is `numpy.random.Generator`, which need not have been imported.
fn is_generator(class: Class) -> bool {
    let known = GENERATOR.load(Ordering::Relaxed);
    if !known.is_null() {
        return class == known;
    }
    // SAFETY: the name of a live class.
    let named = unsafe { std::ffi::CStr::from_ptr((*class).tp_name) }.to_bytes()
        == b"numpy.random._generator.Generator";
    named && is_numpys(class)
}

/// Whether a class of that name is the one that NumPy has: anybody may call a class so. It is kept alive from
/// now on, so that its address says all.
#[cold]
fn is_numpys(class: Class) -> bool {
    attached(|py| {
        let found = || -> PyResult<Bound<'_, PyAny>> {
            py.import("sys")?.getattr("modules")?.get_item("numpy.random._generator")?.getattr("Generator")
        };
        let Ok(found) = found() else { return false };
        if found.as_ptr().cast() != class {
            return false;
        }
        GENERATOR.store(found.into_ptr().cast(), Ordering::Relaxed);
        true
    })
}
