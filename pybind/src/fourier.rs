//! The inner loops of NumPy's Fourier transforms, for the run-time to call.

use crate::gil::with_python;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_char, c_int, c_void};
use tierup_runtime::host::InnerLoop;

type Run = unsafe extern "C" fn(*mut *mut u8, *const isize, *const isize, *mut c_void);

/// The head of `PyUFuncObject`, which is part of NumPy's stable ABI.
#[repr(C)]
struct UFunc {
    ob_base: ffi::PyObject,
    nin: c_int,
    nout: c_int,
    nargs: c_int,
    identity: c_int,
    functions: *const Option<Run>,
    data: *const *mut c_void,
    ntypes: c_int,
    reserved: c_int,
    name: *const c_char,
    types: *const c_char,
}

/// NumPy's numbers of the types float64 and float32, which the factor of a loop has.
const FLOAT64: c_char = 12;
const FLOAT32: c_char = 11;

/// The loop of a transform of `numpy.fft._pocketfft_umath` in that precision: of an array and a factor, to an
/// array.
pub(crate) fn inner_loop(name: &str, single: bool) -> Option<InnerLoop> {
    with_python(None, |py| {
        let find = || -> PyResult<Option<InnerLoop>> {
            let ufunc = py.import("numpy.fft._pocketfft_umath")?.getattr(name)?;
            if !ufunc.is_instance(&py.import("numpy")?.getattr("ufunc")?)? {
                return Ok(None);
            }
            // SAFETY: an object of that class is a live `PyUFuncObject`, and the module keeps it for ever.
            let ufunc = unsafe { &*ufunc.as_ptr().cast::<UFunc>() };
            // SAFETY: as above.
            Ok(unsafe { of_types(ufunc, if single { FLOAT32 } else { FLOAT64 }) })
        };
        find().ok().flatten()
    })
}

/// The loop whose second operand has that type.
///
/// # Safety
/// The ufunc is a live one.
unsafe fn of_types(ufunc: &UFunc, factor: c_char) -> Option<InnerLoop> {
    if (ufunc.nin, ufunc.nout) != (2, 1) || ufunc.functions.is_null() {
        return None;
    }
    let n = usize::try_from(ufunc.ntypes).ok()?;
    // SAFETY: there are so many loops, and three types for each.
    unsafe {
        let k = (0..n).find(|k| *ufunc.types.add(3 * k + 1) == factor)?;
        // Loops that want no data have none.
        let data = if ufunc.data.is_null() { std::ptr::null_mut() } else { *ufunc.data.add(k) };
        Some(InnerLoop { run: (*ufunc.functions.add(k))?, data })
    }
}
