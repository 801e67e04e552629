//! The Python class of dispatchers: its slots, and how it is made.

use super::{Dispatcher, Obj};
use crate::convert::new_ref;
use crate::decorated;
use crate::gil::attached;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

unsafe extern "C" fn dealloc(o: Obj) {
    // SAFETY: called once by Python for an object made by `make`.
    unsafe {
        ffi::PyObject_GC_UnTrack(o.cast());
        let d = o.cast::<Dispatcher>();
        if !(*d).head.weakrefs.is_null() {
            ffi::PyObject_ClearWeakRefs(o);
        }
        ffi::Py_CLEAR(&raw mut (*d).head.dict);
        if !(*d).core.is_null() {
            attached(|_| drop(Box::from_raw((*d).core)));
        }
        let class = ffi::Py_TYPE(o);
        ffi::PyObject_GC_Del(o.cast());
        ffi::Py_DECREF(class.cast());
    }
}

unsafe extern "C" fn traverse(o: Obj, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: called by the collector on a live object; what is visited are references that the object owns.
    // The lock is free, for nobody holds it while objects are made; if it is not, the object is kept for this
    // round.
    unsafe {
        let d = o.cast::<Dispatcher>();
        let call = |p: Obj| if p.is_null() { 0 } else { visit(p, arg) };
        let r = call(ffi::Py_TYPE(o).cast());
        if r != 0 {
            return r;
        }
        let r = call((*d).head.dict);
        if r != 0 || (*d).core.is_null() {
            return r;
        }
        let core = &*(*d).core;
        let of = &core.decorated;
        for p in [of.function_ptr(), of.in_python_ptr(), of.lift_ptr()] {
            let r = call(p);
            if r != 0 {
                return r;
            }
        }
        let r = core.refused.traverse(&call);
        if r != 0 {
            return r;
        }
        let r = core.decorated.kept.traverse(&call);
        if r != 0 {
            return r;
        }
        if let Ok(list) = core.overloads.try_lock() {
            for o in list.iter().filter(|o| Arc::strong_count(o) == 1) {
                let r = o.guards.traverse(&call);
                if r != 0 {
                    return r;
                }
            }
        }
        0
    }
}

unsafe extern "C" fn clear(o: Obj) -> c_int {
    // SAFETY: called by the collector on an unreachable, still live object. The function stays: others of the
    // cycle may be called once more.
    unsafe {
        let d = o.cast::<Dispatcher>();
        ffi::Py_CLEAR(&raw mut (*d).head.dict);
        if !(*d).core.is_null() {
            attached(|_| (*(*d).core).clear());
        }
    }
    0
}

unsafe extern "C" fn descr_get(o: Obj, instance: Obj, _owner: Obj) -> Obj {
    // SAFETY: called by Python with live objects; instance may be null.
    unsafe {
        if instance.is_null() || instance == ffi::Py_None() { new_ref(o) } else { PyMethod_New(o, instance) }
    }
}

unsafe extern "C" fn repr(o: Obj) -> Obj {
    // SAFETY: called by Python with a live dispatcher.
    unsafe {
        let core = &*(*o.cast::<Dispatcher>()).core;
        let text = format!("<tierup function {}>", core.decorated.name());
        ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as isize)
    }
}

unsafe extern "C" {
    fn PyMethod_New(function: Obj, instance: Obj) -> Obj;
}

/// Those of the function, which later Pythons evaluate when they are asked for.
unsafe extern "C" fn annotations(dispatcher: Obj, _: *mut c_void) -> Obj {
    // SAFETY: CPython calls this on an instance; the GIL is held.
    unsafe {
        match (*dispatcher.cast::<Dispatcher>()).core.as_ref() {
            Some(core) => {
                ffi::PyObject_GetAttrString(core.decorated.function_ptr(), c"__annotations__".as_ptr())
            }
            None => ffi::PyDict_New(),
        }
    }
}

/// Sets those of the function, or deletes them.
unsafe extern "C" fn set_annotations(dispatcher: Obj, value: Obj, _: *mut c_void) -> c_int {
    // SAFETY: CPython calls this on an instance, with an object or null; the GIL is held.
    unsafe {
        let Some(core) = (*dispatcher.cast::<Dispatcher>()).core.as_ref() else { return 0 };
        ffi::PyObject_SetAttrString(core.decorated.function_ptr(), c"__annotations__".as_ptr(), value)
    }
}

/// Makes the class.
pub(crate) fn init(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let member = |name: &'static std::ffi::CStr, offset: usize| ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as isize,
        flags: ffi::Py_READONLY,
        doc: std::ptr::null(),
    };
    let members = Box::leak(Box::new([
        member(c"__vectorcalloffset__", std::mem::offset_of!(Dispatcher, head.vectorcall)),
        member(c"__dictoffset__", std::mem::offset_of!(Dispatcher, head.dict)),
        member(c"__weaklistoffset__", std::mem::offset_of!(Dispatcher, head.weakrefs)),
        // SAFETY: an all-zero entry ends the list.
        unsafe { std::mem::zeroed() },
    ]));
    let getset = Box::leak(Box::new([
        ffi::PyGetSetDef {
            name: c"__dict__".as_ptr(),
            get: Some(ffi::PyObject_GenericGetDict),
            set: Some(ffi::PyObject_GenericSetDict),
            doc: std::ptr::null(),
            closure: std::ptr::null_mut(),
        },
        // An attribute of that name cannot be set on a class: from 3.14 on those are the class's own.
        ffi::PyGetSetDef {
            name: c"__annotations__".as_ptr(),
            get: Some(annotations),
            set: Some(set_annotations),
            doc: std::ptr::null(),
            closure: std::ptr::null_mut(),
        },
        // SAFETY: an all-zero entry ends the list.
        unsafe { std::mem::zeroed() },
    ]));
    let slot = |slot: c_int, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_clear, clear as *mut c_void),
        slot(ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void),
        slot(ffi::Py_tp_descr_get, descr_get as *mut c_void),
        slot(ffi::Py_tp_repr, repr as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, getset.as_mut_ptr().cast()),
        slot(
            ffi::Py_tp_doc,
            c"A Python function that is compiled for the types of its arguments.".as_ptr().cast_mut().cast(),
        ),
        slot(0, std::ptr::null_mut()),
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT
        | ffi::Py_TPFLAGS_HAVE_GC
        | ffi::Py_TPFLAGS_HAVE_VECTORCALL
        | ffi::Py_TPFLAGS_METHOD_DESCRIPTOR
        | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION;
    let mut spec = ffi::PyType_Spec {
        name: c"tierup.Dispatcher".as_ptr(),
        basicsize: size_of::<Dispatcher>() as c_int,
        itemsize: 0,
        flags: flags as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the specification is complete; members and getset live for ever, the rest is copied.
    let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
    decorated::set_class(class.clone());
    Ok(class)
}
