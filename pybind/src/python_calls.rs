//! Python functions that compiled code calls: those that say of what type their result is.

use crate::convert::native::Part;
use crate::exc::to_native;
use crate::gil::with_python;
use crate::texts::parse_type;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use tierup_core::desc;
use tierup_core::layout::Obj;
use tierup_core::ops::python_calls::{DISCARDED, is_taken_back};
use tierup_core::types::{Container, Kind};
use tierup_runtime::exc::Res;
use tierup_runtime::object::{release, retain};
use tierup_runtime::{dict, list};

/// The functions by number. Those that are declared stay, for code that holds a number may run at any time.
static FUNCTIONS: RwLock<Functions> = RwLock::new(Functions { all: vec![], free: vec![] });

struct Functions {
    all: Vec<Option<Py<PyAny>>>,
    /// Numbers of functions that were released.
    free: Vec<usize>,
}

/// What a call is given and gives.
struct Types {
    args: Arc<Part>,
    result: Arc<Part>,
    /// Containers among the arguments, of which Python has copies.
    copied: Vec<Copied>,
}

struct Copied {
    /// Which argument, and where it lies among them.
    number: usize,
    offset: usize,
    part: Arc<Part>,
}

/// By the text of the types.
static TYPES: LazyLock<RwLock<HashMap<String, Arc<Types>>>> = LazyLock::new(Default::default);

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

/// What functions of this number remember in this thread since a time: how often that was found and was not, and
/// how much it is.
#[pyfunction]
fn remembered(number: i64, time: i64) -> (i64, i64, i64) {
    let told = dict::memory::told(number, time);
    (told.hits, told.misses, told.size)
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

fn types_of(py: Python<'_>, text: &str) -> PyResult<Arc<Types>> {
    if let Some(known) = TYPES.read().unwrap_or_else(PoisonError::into_inner).get(text) {
        return Ok(known.clone());
    }
    let (args, result) = text.split_once('\n').unwrap_or((text, "none"));
    let part = |t: &str| parse_type(py, t).map(|t| Part::of(py, t));
    let (args, result) = if result == DISCARDED {
        (Part::going_on(py, parse_type(py, args)?), part("none")?)
    } else {
        (part(args)?, part(result)?)
    };
    let (mut copied, mut leaf) = (vec![], 0);
    let leaves = &desc::of(args.ty()).leaves;
    for (number, t) in args.ty().arguments().iter().enumerate() {
        if is_taken_back(t) && t.container().is_none_or(|(c, _)| c != Container::FrozenSet) {
            let offset = leaves[leaf].offset as usize;
            copied.push(Copied { number, offset, part: Part::of(py, t) });
        }
        leaf += desc::of(t).leaves.len();
    }
    let types = Arc::new(Types { args, result, copied });
    TYPES.write().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned(), types.clone());
    Ok(types)
}

/// # Safety
/// As the run-time says of the callback.
unsafe fn call(py: Python<'_>, key: i64, text: &str, args: *mut u8, result: *mut u8) -> PyResult<()> {
    let types = types_of(py, text)?;
    let function = {
        let functions = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner);
        functions.all.get(key as usize).and_then(Option::as_ref).map(|f| f.clone_ref(py))
    };
    let function =
        function.ok_or_else(|| PyTypeError::new_err("there is no Python function of that number"))?;
    // SAFETY: the arguments lie there as their types say, and there is room for the result.
    unsafe {
        let natives = Natives::of(&types, args);
        let args = Bound::from_owned_ptr_or_err(py, types.args.take(args))?.cast_into::<PyTuple>()?;
        let args = natives.as_passed(args)?;
        let answer = function.bind(py).call1(&args);
        // Also where it raises.
        let back = natives.take_back(&args);
        let answer = answer?;
        back?;
        // What a function gives that is declared to give nothing is dropped.
        if *types.result.ty() != Kind::None {
            types.result.value(&answer, "result")?.write(result);
        }
    }
    Ok(())
}

/// Containers that Python has copies of, with a reference each.
struct Natives<'t>(Vec<(&'t Copied, *mut Obj)>);

impl Natives<'_> {
    /// # Safety
    /// Arguments of such types lie there.
    unsafe fn of(types: &Types, args: *const u8) -> Natives<'_> {
        let native = |c: &Copied| {
            // SAFETY: as required of the caller: the leaf of a container is its address.
            let native = unsafe { args.add(c.offset).cast::<*mut Obj>().read() };
            // SAFETY: the arguments hold a reference to it.
            unsafe { retain(native) };
            native
        };
        Natives(types.copied.iter().map(|c| (c, native(c))).collect())
    }

    /// The arguments as Python is to have them: one container that is passed twice is one object.
    fn as_passed<'py>(&self, args: Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
        let first = |k: usize| self.0.iter().position(|(_, n)| *n == self.0[k].1).unwrap_or(k);
        if (0..self.0.len()).all(|k| first(k) == k) {
            return Ok(args);
        }
        let mut items: Vec<_> = args.iter().collect();
        for k in 0..self.0.len() {
            items[self.0[k].0.number] = items[self.0[first(k)].0.number].clone();
        }
        PyTuple::new(args.py(), items)
    }

    /// Gives the containers the contents of Python's.
    ///
    /// # Safety
    /// Compiled code waits for the call.
    unsafe fn take_back(&self, args: &Bound<'_, PyTuple>) -> PyResult<()> {
        for (copied, native) in &self.0 {
            let mut value = copied.part.value(&args.get_item(copied.number)?, "argument")?;
            let mut new = std::ptr::null_mut::<Obj>();
            // SAFETY: a container is one address. Both are live and of one type; the new one is nobody else's.
            let swapped = unsafe {
                value.write((&raw mut new).cast());
                let swapped = if matches!(copied.part.ty().kind(), Kind::List(_)) {
                    list::swap(native.cast(), new.cast())
                } else {
                    dict::swap(native.cast(), new.cast());
                    true
                };
                release(new);
                swapped
            };
            if !swapped {
                return Err(PyRuntimeError::new_err("list changed size while it was in use"));
            }
        }
        Ok(())
    }
}

impl Drop for Natives<'_> {
    fn drop(&mut self) {
        for (_, native) in &self.0 {
            // SAFETY: the reference is this one's.
            unsafe { release(*native) };
        }
    }
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
    m.add_function(wrap_pyfunction!(remembered, m)?)?;
    m.add_function(wrap_pyfunction!(register_python, m)?)
}
