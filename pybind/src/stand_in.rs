//! Stand-ins: native objects that represent Python objects which compiled code borrows, and name them (`py`).
//!
//! A block or string that dies with its call has an immortal reference count, so that compiled code never
//! frees it; a lasting one is counted, and owns a reference to its Python object.

use crate::gil::attached;
use crate::npy::PyArrayObject;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU64};
use tierup_core::layout::{BitSource, IMMORTAL, MemBlock, Obj, Str};

unsafe extern "C" fn never_dropped(_: *mut Obj) {}

/// A block that stands for the memory of an array object, which the caller keeps alive.
///
/// # Safety
/// `array` must be a live ndarray.
#[inline]
pub(crate) unsafe fn borrowed_block(array: *mut ffi::PyObject) -> MemBlock {
    // SAFETY: as required of the caller. The number of bytes is not known for a view, and nobody asks.
    let data = unsafe { (*array.cast::<PyArrayObject>()).data };
    MemBlock {
        obj: Obj { refs: AtomicI64::new(IMMORTAL), drop: never_dropped },
        data,
        bytes: 0,
        py: array.cast(),
    }
}

unsafe extern "C" fn drop_lasting_block(o: *mut Obj) {
    // SAFETY: called once, for a block made by `lasting_block`.
    let block = unsafe { Box::from_raw(o.cast::<MemBlock>()) };
    (tierup_runtime::host::quiet().release)(block.py);
}

/// The same with one reference, which keeps the array alive.
///
/// # Safety
/// As for [`borrowed_block`].
pub(crate) unsafe fn lasting_block(array: *mut ffi::PyObject) -> *mut MemBlock {
    // SAFETY: as required of the caller; the new reference belongs to the block.
    let mut block = unsafe {
        ffi::Py_INCREF(array);
        borrowed_block(array)
    };
    block.obj = Obj { refs: AtomicI64::new(1), drop: drop_lasting_block };
    Box::into_raw(Box::new(block))
}

/// A block for memory that somebody else holds as long as it is used.
struct Held(#[allow(dead_code, reason = "compiled code takes its address")] MemBlock);
// SAFETY: nothing of it is ever written; its count is that of an immortal object.
unsafe impl Sync for Held {}
static HELD: Held = Held(MemBlock {
    obj: Obj { refs: AtomicI64::new(IMMORTAL), drop: never_dropped },
    data: std::ptr::null_mut(),
    bytes: 0,
    py: std::ptr::null_mut(),
});

/// The address of that block: NumPy holds the operands of a loop while it runs, C what it passes to a
/// callback.
pub(crate) fn held_block() -> u64 {
    &raw const HELD as u64
}

/// A string that has its text in a Python one.
#[repr(C)]
pub(crate) struct BorrowedStr {
    str: Str,
    py: *mut ffi::PyObject,
}

unsafe extern "C" fn never_dropped_str(o: *mut Obj) {
    never_dropped_impl(o)
}
// Two functions that differ, or the linker would fold them into one and strings could not be told from
// blocks.
#[inline(never)]
fn never_dropped_impl(o: *mut Obj) {
    std::hint::black_box(o);
}
unsafe extern "C" fn drop_lasting_str(o: *mut Obj) {
    // SAFETY: called once, for a string made by `lasting_str`.
    let text = unsafe { Box::from_raw(o.cast::<BorrowedStr>()) };
    (tierup_runtime::host::quiet().release)(text.py.cast());
}

/// # Safety
/// `text` must be a live, ready str.
unsafe fn str_of(text: *mut ffi::PyObject, refs: i64, drop: unsafe extern "C" fn(*mut Obj)) -> BorrowedStr {
    // SAFETY: the accessors read the header of a ready string.
    unsafe {
        let str = Str {
            obj: Obj { refs: AtomicI64::new(refs), drop },
            len: ffi::PyUnicode_GET_LENGTH(text) as i64,
            kind: ffi::PyUnicode_KIND(text) as i64,
            data: ffi::PyUnicode_DATA(text).cast(),
            hash: AtomicU64::new(0),
        };
        BorrowedStr { str, py: text }
    }
}

/// A string that stands for a Python one, which the caller keeps alive.
///
/// # Safety
/// `text` must be a live, ready str.
#[inline]
pub(crate) unsafe fn borrowed_str(text: *mut ffi::PyObject) -> BorrowedStr {
    // SAFETY: as required of the caller.
    unsafe { str_of(text, IMMORTAL, never_dropped_str) }
}

/// The same with one reference, which keeps the Python string alive.
///
/// # Safety
/// As for [`borrowed_str`].
pub(crate) unsafe fn lasting_str(text: *mut ffi::PyObject) -> *mut Str {
    // SAFETY: as required of the caller; the new reference belongs to the string.
    unsafe {
        ffi::Py_INCREF(text);
        Box::into_raw(Box::new(str_of(text, 1, drop_lasting_str))).cast()
    }
}

impl BorrowedStr {
    /// A counted one of the same string: see [`lasting_str`].
    ///
    /// # Safety
    /// The Python string is alive.
    pub(crate) unsafe fn lasting(&self) -> *mut Str {
        // SAFETY: as required of the caller; the new one is nobody else's.
        unsafe {
            let new = lasting_str(self.py);
            (*new).hash = AtomicU64::new(self.str.hash.load(Relaxed));
            new
        }
    }
}

/// # Safety
/// `bytes` must be a live bytes object.
unsafe fn str_of_bytes(
    bytes: *mut ffi::PyObject,
    refs: i64,
    drop: unsafe extern "C" fn(*mut Obj),
) -> BorrowedStr {
    // SAFETY: as required of the caller.
    unsafe {
        let str = Str {
            obj: Obj { refs: AtomicI64::new(refs), drop },
            len: ffi::PyBytes_Size(bytes) as i64,
            kind: 1,
            data: ffi::PyBytes_AsString(bytes).cast(),
            hash: AtomicU64::new(0),
        };
        BorrowedStr { str, py: bytes }
    }
}

/// As [`borrowed_str`], of bytes.
///
/// # Safety
/// `bytes` must be a live bytes object.
pub(crate) unsafe fn borrowed_bytes(bytes: *mut ffi::PyObject) -> BorrowedStr {
    // SAFETY: as required of the caller.
    unsafe { str_of_bytes(bytes, IMMORTAL, never_dropped_str) }
}

/// As [`lasting_str`], of bytes.
///
/// # Safety
/// `bytes` must be a live bytes object.
pub(crate) unsafe fn lasting_bytes(bytes: *mut ffi::PyObject) -> *mut Str {
    // SAFETY: as required of the caller; the new reference belongs to the object.
    unsafe {
        ffi::Py_INCREF(bytes);
        Box::into_raw(Box::new(str_of_bytes(bytes, 1, drop_lasting_str))).cast()
    }
}

/// A new reference to the bytes object that a native one stands for, or to a new one; null with an exception.
///
/// # Safety
/// `b` must be a live object of bytes; the thread is attached.
pub(crate) unsafe fn bytes_object(b: *mut Str) -> *mut ffi::PyObject {
    // SAFETY: as required of the caller.
    unsafe {
        match python_str(b) {
            Some(py) => {
                ffi::Py_INCREF(py);
                py
            }
            None => ffi::PyBytes_FromStringAndSize((*b).data.cast(), (*b).len as isize),
        }
    }
}

/// The Python string that a native one stands for.
///
/// # Safety
/// `s` must be a live string.
pub(crate) unsafe fn python_str(s: *mut Str) -> Option<*mut ffi::PyObject> {
    // SAFETY: strings with one of these drop functions are the first field of a `BorrowedStr`.
    unsafe {
        let drop = (*s).obj.drop;
        let ours = [never_dropped_str as unsafe extern "C" fn(*mut Obj), drop_lasting_str]
            .iter()
            .any(|d| std::ptr::fn_addr_eq(drop, *d));
        ours.then(|| (*s.cast::<BorrowedStr>()).py)
    }
}

unsafe extern "C" fn drop_source(o: *mut Obj) {
    // SAFETY: called once, for a source made by `source_of`.
    let source = unsafe { Box::from_raw(o.cast::<BitSource>()) };
    (tierup_runtime::host::quiet().release)(source.py);
}

/// The bits of a random generator, with one reference, which keeps the generator alive.
///
/// # Safety
/// `generator` is a live `numpy.random.Generator`.
pub(crate) unsafe fn source_of(generator: *mut ffi::PyObject) -> PyResult<*mut BitSource> {
    attached(|py| {
        // SAFETY: as required of the caller.
        let generator = unsafe { Bound::from_borrowed_ptr(py, generator) };
        let capsule = generator.getattr(intern!(py, "bit_generator"))?.getattr(intern!(py, "capsule"))?;
        let capsule = capsule.cast::<PyCapsule>()?;
        // SAFETY: a capsule; the name is the one that NumPy documents for `bitgen_t`.
        let bits = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), c"BitGenerator".as_ptr()) };
        if bits.is_null() {
            return Err(PyErr::fetch(py));
        }
        let source = BitSource {
            obj: Obj { refs: AtomicI64::new(1), drop: drop_source },
            bits: bits.cast(),
            py: generator.into_ptr().cast(),
        };
        Ok(Box::into_raw(Box::new(source)))
    })
}
