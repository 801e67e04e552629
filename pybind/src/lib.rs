//! The extension module `tierup._tierup`: converts and forwards, holds no compiler logic.
//!
//! A call enters in [`dispatcher`], is matched by [`overload`], and returns there or through [`exc`]; values
//! are converted either way by [`convert`]. A compilation sees Python through [`host`]; what it saw becomes
//! [`guards`].
//!
//! Files import downwards: what the package calls ([`api`], [`ufunc`], [`callback`], [`cuda`], [`cuda_memory`]), dispatchers,
//! overloads, conversion, the host, the meaning of values ([`value`]), the objects that the compiler knows
//! ([`known`], [`functions`], [`decorated`]), their numbers ([`identity`]), and what all need ([`errors`],
//! [`gil`], [`npy`], [`stand_in`]).

#[macro_use]
mod once;
mod api;
mod bind;
mod bounds;
mod cache;
mod callback;
mod choosers;
mod classes;
mod constants;
mod convert;
mod ctx;
mod cuda;
mod cuda_arguments;
mod cuda_memory;
mod cuda_place;
mod dataclasses;
mod debuggers;
mod decode;
mod decorated;
mod dispatcher;
mod engine;
mod enums;
mod errors;
mod exc;
mod fourier;
mod functions;
mod gil;
mod guards;
mod host;
mod identity;
mod intrinsics;
mod kept;
mod known;
mod looking;
mod marks;
mod names;
mod npy;
mod objects;
mod operations;
mod overload;
mod overloads;
mod overrides;
mod passed;
mod python_calls;
mod record_types;
mod regexes;
mod rows;
mod stand_in;
mod struct_types;
mod structs;
mod texts;
mod type_objects;
mod ufunc;
mod value;
mod variables;
mod watch;
mod weigh;
mod wording;

use pyo3::prelude::*;

/// Callbacks reach Python through `PyGILState`, which knows the main interpreter alone: in another one a call
/// would wait for ever.
fn only_in_main_interpreter() -> PyResult<()> {
    // SAFETY: this thread is attached, so it has an interpreter.
    let id = unsafe { pyo3::ffi::PyInterpreterState_GetID(pyo3::ffi::PyInterpreterState_Get()) };
    if id == 0 {
        Ok(())
    } else {
        Err(pyo3::exceptions::PyImportError::new_err(
            "tierup works in the main interpreter only, not in subinterpreters",
        ))
    }
}

// A free-threaded Python need not turn its GIL on (`docs/decisions/free-threads.md`).
#[pymodule(gil_used = false)]
fn _tierup(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    only_in_main_interpreter()?;
    debuggers::announce();
    if cfg!(Py_GIL_DISABLED) {
        // As if some compiled code always ran in several threads.
        std::mem::forget(tierup_runtime::random::held::Unlocked::begin());
    }
    tierup_core::python::is(py.version_info().minor);
    errors::quiet_panics();
    exc::install(convert::object::of_exception, python_calls::call_python, &regexes::CALLBACKS);
    identity::install(&[functions::forget, known::forget, overrides::forget]);
    convert::memory::Memory::init(py)?;
    // Decorators compile on these; on another one `tierup.config` leaves functions to Python.
    m.add("PYTHONS", decode::VERSIONS.iter().map(|v| v.number).collect::<Vec<_>>())?;
    m.add("Dispatcher", dispatcher::init(py)?)?;
    cache::register(m)?;
    overloads::init(m)?;
    intrinsics::init(m)?;
    ufunc::register(m)?;
    callback::register(m)?;
    python_calls::register(m)?;
    exc::register(m)?;
    m.add_class::<convert::native::Object>()?;
    convert::typed_list::register(m)?;
    convert::typed_dict::register(m)?;
    convert::typed_set::register(m)?;
    convert::object::structs::register(m)?;
    convert::object::struct_field::register(m)?;
    cuda::register(m)?;
    cuda_memory::register(m)?;
    api::register(m)
}
