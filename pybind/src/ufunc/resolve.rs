//! Which loop a call needs: NumPy asks the ufunc's type resolver.

use super::object::{Resolver, UFunc};
use super::table_of;
use crate::npy::{self, Descr, PyArrayObject};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::{c_int, c_void};

/// NumPy's table of C functions for ufuncs.
pub(super) fn api_table(py: Python<'_>) -> PyResult<*const *const c_void> {
    npy::require(py)?;
    let capsule = py.import("numpy._core._multiarray_umath")?.getattr("_UFUNC_API")?;
    // SAFETY: the attribute is NumPy's nameless capsule.
    let table =
        unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), std::ptr::null()) }.cast::<*const c_void>();
    if table.is_null() { Err(PyErr::fetch(py)) } else { Ok(table.cast_const()) }
}

/// NumPy's marks of arrays made of Python numbers, which take the type of what they meet.
const PYTHON: [(c_int, i64); 3] = [(1 << 30, 1), (1 << 29, 2), (1 << 28, 3)];

/// NumPy asks which loop a call needs.
pub(super) unsafe extern "C" fn resolve(
    u: *mut UFunc,
    _casting: c_int,
    operands: *mut *mut PyArrayObject,
    asked: *mut ffi::PyObject,
    out: *mut *mut Descr,
) -> c_int {
    crate::gil::attached(|py| {
        // SAFETY: NumPy calls with live objects: an array or null for each operand, and null or a tuple for
        // what was asked for.
        let answer = crate::errors::guard("choosing a loop", || unsafe {
            Ok(resolve_in(py, u, operands, asked, out)?)
        });
        match answer {
            Ok(()) => 0,
            Err(e) => {
                e.into_python(py).restore(py);
                -1
            }
        }
    })
}

/// Of a ufunc with declared loops: the one for these very types, whatever the order of declarations; else
/// NumPy's rule, the first that all can be cast to.
pub(super) unsafe extern "C" fn resolve_exactly(
    u: *mut UFunc,
    casting: c_int,
    operands: *mut *mut PyArrayObject,
    asked: *mut ffi::PyObject,
    out: *mut *mut Descr,
) -> c_int {
    crate::gil::attached(|py| {
        // SAFETY: as for `resolve`; `types` has a number for each operand of each loop.
        unsafe {
            let (nin, nargs) = ((*u).nin as usize, (*u).nargs as usize);
            let mut numbers = vec![];
            let mut python = 0;
            for i in 0..nin {
                let a = *operands.add(i);
                if a.is_null() {
                    break;
                }
                python += PYTHON.iter().any(|(flag, _)| (*a).flags & flag != 0) as usize;
                numbers.push((*(*a).descr).type_num);
            }
            // Python's own numbers have a type of their own only where there is nothing else.
            if asked.is_null()
                && numbers.len() == nin
                && (python == 0 || python == nin)
                && let Some(n) = npy::loaded()
            {
                let exact = (0..(*u).ntypes as usize)
                    .map(|k| (*u).types.add(k * nargs))
                    .find(|row| numbers.iter().enumerate().all(|(i, num)| *row.add(i) as c_int == *num));
                if let Some(row) = exact {
                    for i in 0..nargs {
                        *out.add(i) = n.descr(*row.add(i) as c_int);
                    }
                    return 0;
                }
            }
            match api_table(py) {
                // Slot 39 is `PyUFunc_DefaultTypeResolver`.
                Ok(table) => std::mem::transmute::<*const c_void, Resolver>(*table.add(39))(
                    u, casting, operands, asked, out,
                ),
                Err(e) => {
                    e.restore(py);
                    -1
                }
            }
        }
    })
}

unsafe fn resolve_in(
    py: Python<'_>,
    u: *mut UFunc,
    operands: *mut *mut PyArrayObject,
    asked: *mut ffi::PyObject,
    out: *mut *mut Descr,
) -> PyResult<()> {
    // SAFETY: as for `resolve`.
    unsafe {
        let nargs = (*u).nargs as usize;
        let mut numbers = vec![];
        for i in 0..nargs {
            let a = *operands.add(i);
            if a.is_null() {
                numbers.push((-1, 0));
                continue;
            }
            let weak = PYTHON.iter().find(|(flag, _)| (*a).flags & flag != 0).map_or(0, |(_, kind)| *kind);
            numbers.push(((*(*a).descr).type_num, weak));
        }
        let ufunc = Bound::from_borrowed_ptr(py, u.cast());
        let table = table_of(&ufunc)?;
        let asked =
            if asked.is_null() { py.None().into_bound(py) } else { Bound::from_borrowed_ptr(py, asked) };
        let chosen: Vec<c_int> = table
            .get()
            .builder
            .bind(py)
            .call_method1("_resolve", (&ufunc, PyTuple::new(py, numbers)?, asked))?
            .extract()?;
        if chosen.len() != nargs {
            return Err(PyRuntimeError::new_err("a loop for another number of operands"));
        }
        let n = npy::require(py)?;
        for (i, num) in chosen.iter().enumerate() {
            *out.add(i) = n.descr(*num);
        }
        Ok(())
    }
}
