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
//! so nobody asks before: PyO3 must not think that this thread has it, hence [`ctx::without_gil`]. A few
//! turns go to an entry of their own, which needs neither a context nor arguments laid out
//! (`tierup_core::lower::short_loop_entry`).

pub(crate) mod object;
mod operands;

use crate::dispatcher::core_of;
use crate::marks::{Floats, Marks};
use crate::npy::{self, Descr, PyArrayObject};
use crate::overload::{Overload, Run, enter};
use crate::texts::parse_types;
use crate::{ctx, exc};
use object::{LoopFn, Owned, Resolver, UFunc, owned_by};
use operands::{credible, independent};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tierup_core::layout::{IMMORTAL, MemBlock, Obj};
use tierup_core::types::{Layout, Type};
use tierup_runtime::engine::promote::Unit;
use tierup_runtime::exc::Error;
use tierup_runtime::panics::settle;

type ShortLoopFn = unsafe extern "C" fn(*mut *mut u8, *const isize, *const isize) -> u64;

/// NumPy's NPY_ITER_READWRITE, NPY_ITER_UPDATEIFCOPY and NPY_ITER_ALIGNED.
const READ_AND_WRITE: u32 = 0x0001_0000 | 0x0080_0000 | 0x0010_0000;

/// What else NumPy asks for an output: NPY_ITER_ALLOCATE, NPY_ITER_NO_SUBTYPE and NPY_ITER_NO_BROADCAST. Flags
/// of an operand take the place of NumPy's. A kernel may read elements after it has written others, so one that
/// is an input as well has to be copied: no NPY_ITER_OVERLAP_ASSUME_ELEMENTWISE.
const OUTPUT: u32 = 0x0100_0000 | 0x0200_0000 | 0x0800_0000;

/// Slots of the arguments of one turn: NumPy's 64 operands of a ufunc with 4 words each; kernels of gufuncs
/// may need more and take a vector.
const SLOTS: usize = 256;

/// Up to so many turns their own entry is faster than the loop that makes vectors and polls.
const SHORT: isize = 8;

unsafe extern "C" fn never_dropped(_: *mut Obj) {}

/// Owns the memory of all operands: NumPy holds them while a loop runs.
struct Borrowed(#[allow(dead_code, reason = "loops take its address")] MemBlock);
// SAFETY: nothing of it is ever written; its count is that of an immortal object.
unsafe impl Sync for Borrowed {}
static BORROWED: Borrowed = Borrowed(MemBlock {
    obj: Obj { refs: AtomicI64::new(IMMORTAL), drop: never_dropped },
    data: std::ptr::null_mut(),
    bytes: 0,
    py: std::ptr::null_mut(),
});
pub(crate) fn owner() -> u64 {
    &raw const BORROWED as u64
}

/// One inner loop; NumPy hands its address to the loop functions.
struct Loop {
    overload: Arc<Overload>,
    /// Of native code.
    unit: Option<Arc<Unit>>,
    /// The same with its turns on all cores, for where no turn reads what another writes.
    parallel: Option<Arc<Overload>>,
    /// For the globals of tracebacks, and to keep the guards' functions alive.
    dispatcher: Py<PyAny>,
    operands: Vec<Operand>,
    /// How many of them are inputs.
    nin: usize,
    slots: usize,
    /// It calls elementary functions, after which not every mark of the processor is true.
    elementary: bool,
}

/// What a loop takes for one operand: an array with an axis that it runs along.
struct Operand {
    /// The core dimensions of the axes behind that one.
    axes: Vec<usize>,
    /// An element that the kernel gets as an array of one: behind that axis there is one of length 1.
    boxed: bool,
    bytes: isize,
    floats: Floats,
}
impl Operand {
    fn ndim(&self) -> usize {
        1 + self.axes.len() + self.boxed as usize
    }
}

impl Loop {
    /// Runs the code once.
    ///
    /// # Safety
    /// `slots` are the leaves of the overload's arguments.
    #[inline(always)]
    unsafe fn run(
        &self,
        overload: &Overload,
        ctx: *mut tierup_core::layout::ThreadCtx,
        slots: *const u64,
    ) -> u64 {
        let mut nothing = 0u64;
        // SAFETY: as required of the caller; the loop returns nothing, and `self` keeps its unit.
        unsafe {
            match &self.unit {
                Some(unit) if std::ptr::eq(overload, &raw const *self.overload) => {
                    settle(enter(unit)(ctx, slots, &raw mut nothing))
                }
                Some(_) | None => {
                    let Run::Compiled(code) = &overload.run else { return 0 };
                    if let Some(unit) = code.native() {
                        unit.called();
                    }
                    code.call(ctx, slots, &raw mut nothing)
                }
            }
        }
    }
}

/// Leaves the exception that a loop ended with to NumPy, unless there is one already.
#[cold]
#[inline(never)]
unsafe fn failed(l: &Loop, status: u64) {
    // SAFETY: the status is an owned exception; the thread has a thread state.
    unsafe {
        let held = ffi::PyGILState_Ensure();
        crate::gil::attached(|py| {
            if ffi::PyErr_Occurred().is_null() {
                let globals = core_of(l.dispatcher.bind(py)).map(|c| c.decorated.globals(py));
                match globals {
                    Ok(g) => exc::raise(py, status as usize as *mut _, &g).restore(py),
                    Err(e) => e.restore(py),
                }
            } else {
                drop(Error::from_raw(status as usize as *mut _));
            }
        });
        ffi::PyGILState_Release(held);
    }
}

/// The inner loop of a ufunc or gufunc. Core dimensions follow in `dims`, the strides of core axes in
/// `steps`.
unsafe extern "C" fn run_loop(
    args: *mut *mut u8,
    dims: *const isize,
    steps: *const isize,
    data: *mut c_void,
) {
    // SAFETY: NumPy calls with as many operands as the ufunc has, all aligned and of the loop's dtypes, and
    // with a `Loop` of ours, which keeps the unit and its code.
    unsafe {
        let l = &*data.cast::<Loop>();
        if l.elementary {
            Marks::judged(|| run(l, args, dims, steps), || credible(l, args, dims, steps));
        } else {
            run(l, args, dims, steps);
        }
    }
}

/// # Safety
/// As for a loop function.
#[inline(always)]
unsafe fn run(l: &Loop, args: *mut *mut u8, dims: *const isize, steps: *const isize) {
    // SAFETY: as required of the caller.
    unsafe {
        if *dims <= SHORT
            && let Some(unit) = &l.unit
        {
            let entry = unit.short_loop.load(Ordering::Acquire);
            if !entry.is_null() {
                std::mem::transmute::<*mut u8, ShortLoopFn>(entry)(args, dims, steps);
                return;
            }
        }
        run_turns(l, args, dims, steps);
    }
}

/// # Safety
/// As for a loop function.
#[inline(never)]
unsafe fn run_turns(l: &Loop, args: *mut *mut u8, dims: *const isize, steps: *const isize) {
    // SAFETY: as required of the caller.
    unsafe {
        let (n, nargs) = (*dims, l.operands.len());
        if n <= 0 {
            return;
        }
        let mut small = [const { std::mem::MaybeUninit::<u64>::uninit() }; SLOTS];
        let mut large = vec![];
        let mut at = if l.slots <= SLOTS {
            small.as_mut_ptr().cast::<u64>()
        } else {
            large.resize(l.slots, 0u64);
            large.as_mut_ptr()
        };
        let slots = at;
        let mut stride = steps.add(nargs);
        for (i, operand) in l.operands.iter().enumerate() {
            let ndim = operand.ndim();
            at.write(owner());
            at.add(1).write(*args.add(i) as u64);
            at.add(2).write(n as u64);
            at.add(2 + ndim).write(*steps.add(i) as u64);
            if operand.boxed {
                at.add(3).write(1);
                at.add(5).write(operand.bytes as u64);
            }
            for (k, axis) in operand.axes.iter().enumerate() {
                at.add(3 + k).write(*dims.add(1 + axis) as u64);
                at.add(3 + ndim + k).write(*stride as u64);
                stride = stride.add(1);
            }
            at = at.add(2 + 2 * ndim);
        }
        let overload = match &l.parallel {
            Some(o) if independent(l, args, dims, steps) => o,
            Some(_) | None => &l.overload,
        };
        let status = ctx::without_gil(|ctx| l.run(overload, ctx, slots));
        if status != 0 {
            failed(l, status);
        }
    }
}

/// The most axes of an operand whose memory is looked at.
const AXES: usize = 8;

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

/// NumPy's table of C functions for ufuncs.
fn api_table(py: Python<'_>) -> PyResult<*const *const c_void> {
    npy::require(py)?;
    let capsule = py.import("numpy._core._multiarray_umath")?.getattr("_UFUNC_API")?;
    // SAFETY: the attribute is NumPy's nameless capsule.
    let table =
        unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), std::ptr::null()) }.cast::<*const c_void>();
    if table.is_null() { Err(PyErr::fetch(py)) } else { Ok(table.cast_const()) }
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

fn floats_of(t: Type) -> Floats {
    let count = if t.is_complex() { 2 } else { t.is_float() as u8 };
    Floats { count, bytes: if count == 0 { 0 } else { t.itemsize() as u8 / count } }
}

/// What the loop takes for each operand: arrays of its core dimensions and one more, or of one element each.
unsafe fn operands_of(u: *const UFunc, generalised: bool, types: &[Type]) -> PyResult<Vec<Operand>> {
    types
        .iter()
        .enumerate()
        .map(|(i, t)| {
            // SAFETY: the arrays have a member for each operand, and one for each of its core dimensions. To
            // NumPy a layout without core dimensions is none.
            let axes: Vec<usize> = unsafe {
                let known = generalised && (*u).core_enabled != 0;
                let (first, n) = if known {
                    (*(*u).core_offsets.add(i) as usize, *(*u).core_num_dims.add(i) as usize)
                } else {
                    (0, 0)
                };
                (first..first + n).map(|k| *(*u).core_dim_ixs.add(k) as usize).collect()
            };
            let (has, array) = (axes.len(), t.as_array());
            let fits = |a: &tierup_core::types::ArrayType| {
                a.layout == Layout::A && (a.ndim() == 1 + has || generalised && has == 0 && a.ndim() == 2)
            };
            match array.filter(fits) {
                Some(a) => Ok(Operand {
                    boxed: a.ndim() > 1 + has,
                    axes,
                    bytes: a.itemsize() as isize,
                    floats: floats_of(a.dtype),
                }),
                None => Err(PyTypeError::new_err(format!(
                    "operand {i} has {has} core dimensions and cannot be of type {t}"
                ))),
            }
        })
        .collect()
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
    let operands = unsafe { operands_of(u, generalised, &overload.args)? };
    let slots = overload.args.iter().map(|t| t.leaf_count()).sum();
    let fits = |p: &Arc<Overload>| p.args == overload.args && p.ret == overload.ret;
    let parallel = parallel.filter(fits);
    // SAFETY: as above.
    let nin = unsafe { (*u).nin } as usize;
    let mut c = table.get().contents.lock().unwrap_or_else(|e| e.into_inner());
    let unit = match &overload.run {
        Run::Compiled(code) => code.native().cloned(),
        Run::Python(_) => None,
    };
    // What runs without a unit has not been looked at.
    let elementary = unit.as_ref().is_none_or(|u| u.elementary);
    c.loops.push(Box::new(Loop {
        overload,
        unit,
        parallel,
        dispatcher: d.clone().unbind(),
        operands,
        nin,
        slots,
        elementary,
    }));
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
    // SAFETY: a live ufunc of ours; the arrays have room, so they stay where they are, and their number is
    // written last.
    unsafe {
        (*u).functions = functions.as_ptr();
        (*u).data = data.as_ptr().cast();
        (*u).types = types.as_ptr();
        (*u).ntypes = functions.len() as c_int;
    }
    Ok(())
}

/// NumPy's marks of arrays made of Python numbers, which take the type of what they meet.
const PYTHON: [(c_int, i64); 3] = [(1 << 30, 1), (1 << 29, 2), (1 << 28, 3)];

/// NumPy asks which loop a call needs.
unsafe extern "C" fn resolve(
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
unsafe extern "C" fn resolve_exactly(
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

/// The type that the function of a dispatcher gives for these argument types; nothing is compiled.
#[pyfunction]
fn result_type(d: &Bound<'_, PyAny>, args: Vec<String>) -> PyResult<String> {
    let (py, core) = (d.py(), core_of(d)?);
    npy::require(py)?;
    let args = parse_types(py, &args)?;
    core.result_type(py, &args).map(|t| t.to_string()).map_err(|e| e.into_python(py))
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(below_ufunc, m)?)?;
    m.add_function(wrap_pyfunction!(make_ufunc, m)?)?;
    m.add_function(wrap_pyfunction!(ufunc_builder, m)?)?;
    m.add_function(wrap_pyfunction!(set_writable, m)?)?;
    m.add_function(wrap_pyfunction!(add_loop, m)?)?;
    m.add_function(wrap_pyfunction!(result_type, m)?)
}
