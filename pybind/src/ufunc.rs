//! NumPy ufuncs whose inner loops are compiled code: objects made by NumPy's own C functions, of a class of
//! ours below `numpy.ufunc`, so that calls, `reduce`, `out=`, `where=`, `__array_ufunc__` and the rest are
//! NumPy's and cost what NumPy's cost.
//!
//! An inner loop is an overload like any other. It takes arrays, of one dimension for a ufunc and of one more
//! than the kernel's for a gufunc, so it is compiled, polled, promoted and cached as a loop that the user
//! wrote. Which loop a call needs is asked by NumPy through the ufunc's type resolver, once for each
//! combination of dtypes; the Python side (`tierup/_ufunc.py`) answers and compiles.
//!
//! NumPy calls inner loops with the GIL or without it. Which it is matters only to what needs Python inside,
//! so nobody asks before: PyO3 must not think that this thread has it, hence [`crate::ctx::without_gil`]. A
//! few turns go to an entry of their own, which needs neither a context nor arguments laid out
//! (`tierup_core::lower::short_loop_entry`).

mod learn;
mod loops;
pub(crate) mod object;
mod operands;
mod resolve;

use crate::dispatcher::core_of;
use crate::npy;
use crate::texts::parse_types;
use loops::{Loop, run_loop};
use object::{LoopFn, Owned, UFunc, owned_by};
use operands::Operands;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use resolve::{api_table, resolve, resolve_exactly};
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering};

/// NumPy's NPY_ITER_READWRITE, NPY_ITER_UPDATEIFCOPY and NPY_ITER_ALIGNED.
const READ_AND_WRITE: u32 = 0x0001_0000 | 0x0080_0000 | 0x0010_0000;

/// What else NumPy asks for an output: NPY_ITER_ALLOCATE, NPY_ITER_NO_SUBTYPE and NPY_ITER_NO_BROADCAST.
/// Flags of an operand take the place of NumPy's. A kernel may read elements after it has written others, so
/// one that is an input as well has to be copied: no NPY_ITER_OVERLAP_ASSUME_ELEMENTWISE.
const OUTPUT: u32 = 0x0100_0000 | 0x0200_0000 | 0x0800_0000;

/// What belongs to one ufunc. Arrays that NumPy may be reading are kept when longer ones take their place.
#[derive(Default)]
struct Contents {
    loops: Vec<Box<Loop>>,
    functions: Vec<Vec<LoopFn>>,
    data: Vec<Vec<usize>>,
    types: Vec<Vec<c_char>>,
    room: usize,
}

/// What a ufunc owns: its loops, its texts, and the object that answers for it.
#[pyclass(module = "tierup._tierup", extends = Owned, frozen)]
struct Table {
    contents: Mutex<Contents>,
    builder: Py<PyAny>,
    #[allow(dead_code, reason = "the ufunc points to them")]
    texts: Vec<CString>,
}

/// Calls `body` while `numpy.ufunc` may have subclasses; it makes one, whose instances have the layout of a
/// ufunc.
#[pyfunction]
fn below_ufunc<'py>(body: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let base = body.py().import("numpy")?.getattr("ufunc")?;
    let at = base.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: a live type object; the flag is only read where classes are made. Objects of the new class are
    // made by NumPy, whose `dealloc` frees them.
    unsafe {
        // An atomic word already where there is no GIL.
        let flags = AtomicU64::from_ptr((&raw mut (*at).tp_flags).cast());
        let before = flags.fetch_or(ffi::Py_TPFLAGS_BASETYPE, Ordering::Relaxed);
        let class = body.call0();
        flags.store(before, Ordering::Relaxed);
        let class = class?;
        let made = class.as_ptr().cast::<ffi::PyTypeObject>();
        if (*made).tp_basicsize != (*at).tp_basicsize {
            return Err(PyTypeError::new_err("the class has a layout of its own"));
        }
        Ok(class)
    }
}

/// A ufunc of class `class` without loops. `builder` answers for it: `_resolve(type numbers, weak kinds,
/// asked)` gives the type numbers of all operands and adds the loop. With a `signature` it is a gufunc.
/// `identity` is a number, or "reorderable", or None.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
#[pyo3(signature = (class, builder, nin, nout, name, doc, identity, signature, dynamic))]
fn make_ufunc<'py>(
    class: &Bound<'py, PyAny>,
    builder: &Bound<'py, PyAny>,
    nin: c_int,
    nout: c_int,
    name: &str,
    doc: &str,
    identity: &Bound<'py, PyAny>,
    signature: Option<&str>,
    dynamic: bool,
) -> PyResult<Bound<'py, PyAny>> {
    type Make = unsafe extern "C" fn(
        *const LoopFn,
        *const *mut c_void,
        *const c_char,
        c_int,
        c_int,
        c_int,
        c_int,
        *const c_char,
        *const c_char,
        c_int,
        *const c_char,
        *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
    let py = class.py();
    let text = |t: &str| {
        CString::new(t).map_err(|_| PyValueError::new_err("names and texts of ufuncs have no NUL in them"))
    };
    let texts = vec![text(name)?, text(doc)?, text(signature.unwrap_or_default())?];
    // NumPy's PyUFunc_None, PyUFunc_ReorderableNone, PyUFunc_IdentityValue.
    let (code, value) = match identity.extract::<&str>() {
        Ok(_) => (-2, std::ptr::null_mut()),
        Err(_) if identity.is_none() => (-1, std::ptr::null_mut()),
        Err(_) => (-3, identity.as_ptr()),
    };
    let table = api_table(py)?;
    // SAFETY: slot 42 is `PyUFunc_FromFuncAndDataAndSignatureAndIdentity`; the texts live as long as the
    // ufunc, which owns `table` by its `obj`. The class has the layout of its base, as `below_ufunc` has seen
    // to.
    unsafe {
        let make = std::mem::transmute::<*const c_void, Make>(*table.add(42));
        let shape = if signature.is_some() { texts[2].as_ptr() } else { std::ptr::null() };
        let made = make(
            std::ptr::null(),
            std::ptr::null(),
            std::ptr::null(),
            0,
            nin,
            nout,
            code,
            texts[0].as_ptr(),
            texts[1].as_ptr(),
            0,
            shape,
            value,
        );
        let made = Bound::from_owned_ptr_or_err(py, made)?;
        let u = made.as_ptr().cast::<UFunc>();
        let table = Table { contents: Mutex::default(), builder: builder.clone().unbind(), texts };
        let owned = Bound::new(py, PyClassInitializer::from(Owned).add_subclass(table))?;
        (*u).obj = owned.into_ptr();
        // NumPy asks no resolver of a ufunc that has neither loops nor loops of users.
        (*u).userloops = pyo3::types::PyDict::new(py).into_ptr();
        (*u).type_resolver = Some(if dynamic { resolve } else { resolve_exactly });
        ffi::Py_INCREF(class.as_ptr());
        (*made.as_ptr()).ob_type = class.as_ptr().cast();
        learn::stand_before(u);
        Ok(made)
    }
}

/// The table of a ufunc made here.
fn table_of<'py>(ufunc: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Table>> {
    owned_by(ufunc)
        .and_then(|o| o.into_any().cast_into::<Table>().ok())
        .ok_or_else(|| PyTypeError::new_err("expected a ufunc made by tierup"))
}

/// Inputs that the kernel of a gufunc changes, and its outputs, of which it may leave elements alone: where
/// NumPy has to convert one, it reads it first and writes it back.
#[pyfunction]
fn set_writable(ufunc: &Bound<'_, PyAny>, operands: Vec<usize>) -> PyResult<()> {
    table_of(ufunc)?;
    let u = ufunc.as_ptr().cast::<UFunc>();
    // SAFETY: `table_of` has looked at the object; it has a word of flags for each operand.
    unsafe {
        if (*u).op_flags.is_null() {
            return Ok(());
        }
        for k in operands.into_iter().filter(|k| *k < (*u).nargs as usize) {
            *(*u).op_flags.add(k) |=
                if k < (*u).nin as usize { READ_AND_WRITE } else { READ_AND_WRITE | OUTPUT };
        }
    }
    Ok(())
}

/// The object that answers for a ufunc.
#[pyfunction]
fn ufunc_builder<'py>(ufunc: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    table_of(ufunc).map(|t| t.get().builder.bind(ufunc.py()).clone())
}

/// Adds a loop for operands of these type numbers: the overload of `d` that was compiled last, which takes
/// arrays with an axis that it runs along; that of `parallel` does the same on all cores.
#[pyfunction]
#[pyo3(signature = (ufunc, d, numbers, generalised, parallel=None))]
fn add_loop(
    ufunc: &Bound<'_, PyAny>,
    d: &Bound<'_, PyAny>,
    numbers: Vec<c_char>,
    generalised: bool,
    parallel: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let table = table_of(ufunc)?;
    let parallel = match parallel {
        Some(p) => core_of(p)?.overloads().last().cloned(),
        None => None,
    };
    let overloads = core_of(d)?.overloads();
    let overload = overloads.last().ok_or_else(|| PyRuntimeError::new_err("nothing is compiled"))?.clone();
    if overload.ret.leaf_count() != 0 {
        return Err(PyTypeError::new_err("a loop returns nothing"));
    }
    let u = ufunc.as_ptr().cast::<UFunc>();
    // SAFETY: `table_of` has looked at the object.
    let operands = unsafe { Operands::of(u, generalised, &overload.args)? };
    let mut c = table.get().contents.lock().unwrap_or_else(|e| e.into_inner());
    c.loops.push(Box::new(Loop::new(overload, parallel, d.clone().unbind(), operands)));
    if c.loops.len() > c.room {
        let room = (2 * c.room).max(8);
        let copy = |old: Option<&Vec<LoopFn>>| {
            let mut v = Vec::with_capacity(room);
            v.extend(old.into_iter().flatten().copied());
            v
        };
        let (functions, data, types) = (
            copy(c.functions.last()),
            c.data.last().cloned().unwrap_or_default(),
            c.types.last().cloned().unwrap_or_default(),
        );
        c.functions.push(functions);
        let grown = |mut v: Vec<usize>| {
            v.reserve_exact(room - v.len());
            v
        };
        c.data.push(grown(data));
        let mut types = types;
        types.reserve_exact(room * numbers.len() - types.len());
        c.types.push(types);
        c.room = room;
    }
    let address = &raw const **c.loops.last().ok_or_else(|| PyRuntimeError::new_err("no loop"))? as usize;
    let c = &mut *c;
    let (Some(functions), Some(data), Some(types)) =
        (c.functions.last_mut(), c.data.last_mut(), c.types.last_mut())
    else {
        return Ok(());
    };
    functions.push(run_loop);
    data.push(address);
    types.extend(&numbers);
    // SAFETY: a live ufunc of ours; the arrays have room, so they stay where they are. Without a GIL other threads
    // may be reading: who has been told of a loop finds it in whatever arrays stand there, and their number is
    // written last.
    unsafe {
        AtomicPtr::from_ptr((&raw mut (*u).functions).cast())
            .store(functions.as_mut_ptr(), Ordering::Release);
        AtomicPtr::from_ptr((&raw mut (*u).data).cast()).store(data.as_mut_ptr(), Ordering::Release);
        AtomicPtr::from_ptr((&raw mut (*u).types).cast()).store(types.as_mut_ptr(), Ordering::Release);
        AtomicI32::from_ptr(&raw mut (*u).ntypes).store(functions.len() as c_int, Ordering::Release);
    }
    Ok(())
}

/// The type that the function of a dispatcher gives for these argument types; nothing is compiled.
#[pyfunction]
fn result_type(d: &Bound<'_, PyAny>, args: Vec<String>) -> PyResult<String> {
    let (py, core) = (d.py(), core_of(d)?);
    npy::require(py)?;
    let args = parse_types(py, &args)?;
    core.result_type(py, &args).map(|t| t.to_string()).map_err(|e| e.into_python(py))
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("ToLearn", m.py().get_type::<learn::ToLearn>())?;
    m.add_function(wrap_pyfunction!(below_ufunc, m)?)?;
    m.add_function(wrap_pyfunction!(make_ufunc, m)?)?;
    m.add_function(wrap_pyfunction!(ufunc_builder, m)?)?;
    m.add_function(wrap_pyfunction!(set_writable, m)?)?;
    m.add_function(wrap_pyfunction!(add_loop, m)?)?;
    m.add_function(wrap_pyfunction!(result_type, m)?)
}
