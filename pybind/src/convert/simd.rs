//! Vectors of `tierup.simd`: their lanes, which the Python object keeps in an array.

use super::protocol::{BoxCx, Class, Convert, Frame, Obj, next, result};
use super::{Constructor, Plan};
use crate::errors::Failure;
use crate::gil::attached;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicPtr, Ordering};
use tierup_core::types::Type;

pub(crate) static CONSTRUCTOR: Constructor = Constructor {
    recognise: |obj| {
        // SAFETY: `obj` is live.
        if !is_vector(unsafe { ffi::Py_TYPE(obj.as_ptr()) }) {
            return Ok(None);
        }
        type_of_vector(obj)
    },
    plan: |t, _| match t.as_simd() {
        Some((element, lanes)) => Plan::other(Vector {
            ty: t,
            element: element.to_string(),
            bytes: element.itemsize() as usize,
            lanes,
        }),
        None => Plan::impossible(t),
    },
};

fn type_of_vector(obj: &Bound<'_, PyAny>) -> Result<Option<Type>, Failure> {
    let lanes = obj.getattr(pyo3::intern!(obj.py(), "_lanes"))?;
    let element = super::part_type(&lanes)?.as_array().map(|a| a.dtype);
    Ok(element.zip(lanes.len().ok()).and_then(|(t, n)| Type::simd(t, n)))
}

struct Vector {
    ty: Type,
    /// NumPy's name of the type of the lanes, and the bytes of one.
    element: String,
    bytes: usize,
    lanes: usize,
}

impl Convert for Vector {
    unsafe fn unbox(&self, obj: Obj, class: Class, out: *mut u64, _: &mut Frame) -> Option<*mut u64> {
        if !is_vector(class) {
            return None;
        }
        let bytes = attached(|py| {
            // SAFETY: `obj` is live.
            let obj = unsafe { Bound::from_borrowed_ptr(py, obj) };
            let fits = type_of_vector(&obj).is_ok_and(|t| t == Some(self.ty));
            let lanes = obj.getattr(pyo3::intern!(py, "_lanes")).ok().filter(|_| fits)?;
            let bytes = lanes.call_method0(pyo3::intern!(py, "tobytes")).ok()?;
            bytes.cast::<PyBytes>().ok().map(|b| b.as_bytes().to_vec())
        })?;
        let each = bytes.chunks_exact(self.bytes);
        if each.len() != self.lanes {
            return None;
        }
        for (k, lane) in each.enumerate() {
            let mut word = [0; 8];
            word[..self.bytes].copy_from_slice(lane);
            // SAFETY: there is room for the leaves, one for each lane.
            unsafe { out.add(k).write(u64::from_le_bytes(word)) };
        }
        // SAFETY: as before; the place behind them.
        Some(unsafe { out.add(self.lanes) })
    }
    unsafe fn to_python(&self, at: &mut *const u64, _: &mut BoxCx<'_>) -> Obj {
        let mut bytes = Vec::with_capacity(self.bytes * self.lanes);
        for _ in 0..self.lanes {
            // SAFETY: the slots hold a leaf for each lane.
            bytes.extend_from_slice(&unsafe { next(at) }.to_le_bytes()[..self.bytes]);
        }
        result(|py| {
            py.import("tierup.simd")?.getattr("_made")?.call1((PyBytes::new(py, &bytes), &self.element))
        })
    }
}

/// The class, once an instance has been seen.
static VECTOR: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());

/// Whether a class is `tierup.simd.Vec`, whose module need not have been imported.
fn is_vector(class: Class) -> bool {
    let known = VECTOR.load(Ordering::Relaxed);
    if !known.is_null() {
        return class == known;
    }
    // SAFETY: the name of a live class.
    let named = unsafe { std::ffi::CStr::from_ptr((*class).tp_name) }.to_bytes().ends_with(b"Vec");
    named && is_ours(class)
}

/// Whether a class of that name is ours: anybody may call a class so. It is kept alive from now on, so that its
/// address says all.
#[cold]
fn is_ours(class: Class) -> bool {
    attached(|py| {
        let found = || py.import("sys")?.getattr("modules")?.get_item("tierup.simd")?.getattr("Vec");
        let Ok(found) = found() else { return false };
        if found.as_ptr().cast() != class {
            return false;
        }
        VECTOR.store(found.into_ptr().cast(), Ordering::Relaxed);
        true
    })
}
