//! Ufuncs as objects: NumPy's struct, and what tells one that was made here from others.

use crate::npy::{self, Descr, PyArrayObject};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_char, c_int, c_void};

pub(super) type LoopFn = unsafe extern "C" fn(*mut *mut u8, *const isize, *const isize, *mut c_void);
pub(super) type Resolver = unsafe extern "C" fn(
    *mut UFunc,
    c_int,
    *mut *mut PyArrayObject,
    *mut ffi::PyObject,
    *mut *mut Descr,
) -> c_int;

/// The head of NumPy's `PyUFuncObject`: equal in all of 2.x.
#[repr(C)]
pub(super) struct UFunc {
    ob_base: ffi::PyObject,
    pub(super) nin: c_int,
    pub(super) nout: c_int,
    pub(super) nargs: c_int,
    pub(super) identity: c_int,
    pub(super) functions: *const LoopFn,
    pub(super) data: *const *mut c_void,
    pub(super) ntypes: c_int,
    reserved1: c_int,
    pub(super) name: *const c_char,
    pub(super) types: *const c_char,
    pub(super) doc: *const c_char,
    ptr: *mut c_void,
    pub(super) obj: *mut ffi::PyObject,
    pub(super) userloops: *mut ffi::PyObject,
    pub(super) core_enabled: c_int,
    pub(super) core_num_dim_ix: c_int,
    pub(super) core_num_dims: *const c_int,
    pub(super) core_dim_ixs: *const c_int,
    pub(super) core_offsets: *const c_int,
    pub(super) core_signature: *const c_char,
    pub(super) type_resolver: Option<Resolver>,
    dict: *mut ffi::PyObject,
    pub(super) vectorcall: *mut c_void,
    reserved3: *mut c_void,
    pub(super) op_flags: *mut u32,
}

/// What a ufunc made here owns alone, as its `obj`, so that both live equally long. It has weak references,
/// which NumPy's ufuncs have not.
#[pyclass(module = "tierup._tierup", subclass, frozen, weakref)]
pub(crate) struct Owned;

/// That of a ufunc; none for what is no ufunc made here.
pub(crate) fn owned_by<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, Owned>> {
    let py = obj.py();
    npy::loaded()?;
    let base = py.import("numpy").ok()?.getattr("ufunc").ok()?;
    if !obj.is_instance(&base).ok()? {
        return None;
    }
    // SAFETY: an instance of `numpy.ufunc` starts with this struct.
    let owned = unsafe { Bound::from_borrowed_ptr_or_opt(py, (*obj.as_ptr().cast::<UFunc>()).obj) };
    owned?.cast_into::<Owned>().ok()
}
