//! The Python object that owns memory of the run-time: the base of arrays that compiled code made.

use super::protocol::Obj;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use tierup_core::layout::MemBlock;
use tierup_runtime::object::release;

/// The Python object that owns a block of the run-time: the base of arrays that compiled code made.
#[repr(C)]
pub(crate) struct Memory {
    head: ffi::PyObject,
    block: *mut MemBlock,
}

static MEMORY_TYPE: OnceLock<usize> = OnceLock::new();

unsafe extern "C" fn memory_dealloc(o: Obj) {
    // SAFETY: called once by Python for an object made in `Memory::new`; heap types own a reference to their
    // class.
    unsafe {
        let class = ffi::Py_TYPE(o);
        release((*o.cast::<Memory>()).block.cast());
        ffi::PyObject_Free(o.cast());
        ffi::Py_DECREF(class.cast());
    }
}

/// How many arrays, and other holders of the memory, there are; 0 where there is none because the array has
/// no elements.
unsafe extern "C" fn memory_refcount(o: Obj, _: *mut c_void) -> Obj {
    // SAFETY: called by Python with an object made in `Memory::new`, which owns a reference to its block.
    unsafe {
        let block = (*o.cast::<Memory>()).block;
        ffi::PyLong_FromLongLong(if block.is_null() { 0 } else { (*block).obj.refs.load(Ordering::Relaxed) })
    }
}

impl Memory {
    /// Takes over a reference to `block` (or null). Null with an exception when there is no memory for the
    /// object.
    ///
    /// # Safety
    /// The thread is attached; `block` is an owned reference or null.
    pub(crate) unsafe fn new(block: *mut MemBlock) -> Obj {
        // SAFETY: the class was made by `init`; the new object's field is set before anyone sees it.
        unsafe {
            let class = MEMORY_TYPE.get().copied().unwrap_or(0) as *mut ffi::PyTypeObject;
            let o = ffi::PyType_GenericAlloc(class, 0).cast::<Memory>();
            if o.is_null() {
                release(block.cast())
            } else {
                (*o).block = block
            }
            o.cast()
        }
    }

    /// Makes the class.
    pub(crate) fn init(py: Python<'_>) -> PyResult<()> {
        let refcount = ffi::PyGetSetDef {
            name: c"refcount".as_ptr(),
            get: Some(memory_refcount),
            set: None,
            doc: c"How many hold the memory: arrays that compiled code made, and compiled code that runs."
                .as_ptr(),
            closure: std::ptr::null_mut(),
        };
        // Python keeps the table as long as the class.
        let getset = Box::leak(Box::new([refcount, ffi::PyGetSetDef::default()]));
        let mut slots = [
            ffi::PyType_Slot { slot: ffi::Py_tp_dealloc, pfunc: memory_dealloc as *mut _ },
            ffi::PyType_Slot { slot: ffi::Py_tp_getset, pfunc: getset.as_mut_ptr().cast() },
            ffi::PyType_Slot {
                slot: ffi::Py_tp_doc,
                pfunc: c"Memory of an array that compiled code made.".as_ptr().cast_mut().cast(),
            },
            ffi::PyType_Slot { slot: 0, pfunc: std::ptr::null_mut() },
        ];
        let mut spec = ffi::PyType_Spec {
            name: c"tierup._tierup.Memory".as_ptr(),
            basicsize: size_of::<Memory>() as c_int,
            itemsize: 0,
            flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION) as _,
            slots: slots.as_mut_ptr(),
        };
        // SAFETY: the specification is complete and copied by Python; the class is leaked on purpose.
        let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
        MEMORY_TYPE.get_or_init(|| class.into_ptr() as usize);
        Ok(())
    }
}
