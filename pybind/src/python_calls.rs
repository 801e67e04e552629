//! Python functions that compiled code calls: those that say of what type their result is.

use crate::convert::native::Part;
use crate::exc::to_native;
use crate::gil::with_python;
use crate::texts::parse_type;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use tierup_core::ops::python_calls::DISCARDED;
use tierup_core::types::Kind;
use tierup_runtime::exc::Res;

/// The functions by number. Those that are declared stay, for code that holds a number may run at any time.
static FUNCTIONS: RwLock<Functions> = RwLock::new(Functions { all: vec![], free: vec![] });

struct Functions {
    all: Vec<Option<Py<PyAny>>>,
    /// Numbers of functions that were released.
    free: Vec<usize>,
}

/// Types of arguments and result, by their text.
type Types = (Arc<Part>, Arc<Part>);
static TYPES: LazyLock<RwLock<HashMap<String, Types>>> = LazyLock::new(Default::default);

/// The number by which compiled code calls a function.
#[pyfunction]
fn register_python(function: Bound<'_, PyAny>) -> i64 {
    let mut functions = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(n) = functions.free.pop() {
        functions.all[n] = Some(function.unbind());
        return n as i64;
    }
    functions.all.push(Some(function.unbind()));
    functions.all.len() as i64 - 1
}

/// Forgets a function, whose number no code that runs holds any more.
#[pyfunction]
fn release_python(number: usize) {
    let released = {
        let mut functions = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
        let released = functions.all.get_mut(number).and_then(Option::take);
        if released.is_some() {
            functions.free.push(number);
        }
        released
    };
    // It dies outside of the lock: a finalizer may come back here.
    drop(released);
}

fn types_of(py: Python<'_>, text: &str) -> PyResult<Types> {
    if let Some(known) = TYPES.read().unwrap_or_else(PoisonError::into_inner).get(text) {
        return Ok(known.clone());
    }
    let (args, result) = text.split_once('\n').unwrap_or((text, "none"));
    let part = |t: &str| parse_type(py, t).map(|t| Part::of(py, t));
    let types = if result == DISCARDED {
        (Part::going_on(py, parse_type(py, args)?), part("none")?)
    } else {
        (part(args)?, part(result)?)
    };
    TYPES.write().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned(), types.clone());
    Ok(types)
}

/// # Safety
/// As the run-time says of the callback.
unsafe fn call(py: Python<'_>, key: i64, text: &str, args: *mut u8, result: *mut u8) -> PyResult<()> {
    let (given, wanted) = types_of(py, text)?;
    let function = {
        let functions = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner);
        functions.all.get(key as usize).and_then(Option::as_ref).map(|f| f.clone_ref(py))
    };
    let function =
        function.ok_or_else(|| PyTypeError::new_err("there is no Python function of that number"))?;
    // SAFETY: the arguments lie there as their types say, and there is room for the result.
    unsafe {
        let args = given.take(args);
        let args = Bound::from_owned_ptr_or_err(py, args)?.cast_into::<PyTuple>()?;
        let answer = function.bind(py).call1(args)?;
        // What a function gives that is declared to give nothing is dropped.
        if *wanted.ty() != Kind::None {
            wanted.value(&answer, "result")?.write(result);
        }
    }
    Ok(())
}

/// Calls a function for compiled code, from whatever thread.
pub(crate) fn call_python(key: i64, types: &str, args: *mut u8, result: *mut u8) -> Res<()> {
    with_python(Ok(()), |py| {
        // SAFETY: as the run-time says.
        unsafe { call(py, key, types, args, result) }.map_err(|e| to_native(py, e))
    })
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(release_python, m)?)?;
    m.add_function(wrap_pyfunction!(register_python, m)?)
}
