//! The callable that `@jit` gives: a C-level type with vectorcall. A call compares the arguments with the
//! overloads used before, then with the others; only where none fits are types made and code compiled.
//!
//! Locks are never held while Python code may run (it may wait for the GIL, whose holder may wait for the
//! lock). Two threads that need the same overload at once may both compile it; the first one's is kept.

use crate::bind::Params;
use crate::convert::{type_of, type_of_keywords};
use crate::ctx;
use crate::declared::Decoration;
use crate::engine::Options;
use crate::errors::{Failure, guard};
use crate::frame::Lenience;
use crate::gil::attached;
use crate::overload::Overload;
use crate::{functions, identity, known};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use tierup_core::declare::{Choice, Declared};
use tierup_core::diag::Diagnostic;
use tierup_core::ssa::FuncId;
use tierup_core::types::{Kind, Type};

mod class;
mod compile;

pub(crate) use class::init;

type Obj = *mut ffi::PyObject;

/// Overloads of one dispatcher whose guards no longer hold; they may hold again (a global that is toggled),
/// but not all are kept.
const STALE: usize = 16;

/// Overloads that a call tries before it takes the slow path.
const RECENT: usize = 4;
/// Parameters of a function whose defaults are filled in on the stack.
const DEFAULTED: usize = 12;

/// What the object holds besides Python's header.
pub(crate) struct Core {
    /// The object that this is the core of.
    me: Obj,
    py_func: Py<PyFunction>,
    params: Params,
    /// That many positional arguments fill all parameters; none where there are keyword-only ones, `*args` or
    /// `**kwargs`.
    pub simple: Option<usize>,
    pub options: Options,
    /// Call the Python function where compiling fails.
    fallback: bool,
    warned: AtomicBool,
    /// What is declared of the function, and the number of that for those who depend on it.
    decoration: Mutex<Decoration>,
    pub decorated: Arc<AtomicU64>,
    /// The overload compiled or found by the slow path last, and those before it: tried in this order without
    /// a lock.
    recent: [AtomicPtr<Overload>; RECENT],
    overloads: Mutex<Vec<Arc<Overload>>>,
}

#[repr(C)]
pub(crate) struct Dispatcher {
    head: ffi::PyObject,
    vectorcall: Option<ffi::vectorcallfunc>,
    dict: Obj,
    weakrefs: Obj,
    core: *mut Core,
}

static TYPE: OnceLock<usize> = OnceLock::new();

pub(crate) fn type_object() -> *mut ffi::PyTypeObject {
    TYPE.get().copied().unwrap_or(0) as *mut ffi::PyTypeObject
}

/// The part of a dispatcher object that is ours; none for another object.
pub(crate) fn core<'a>(obj: &'a Bound<'_, PyAny>) -> Option<&'a Core> {
    // SAFETY: only `make` creates objects of this class, with a core that lives as long as they do.
    unsafe {
        (ffi::Py_TYPE(obj.as_ptr()) == type_object()).then(|| &*(*obj.as_ptr().cast::<Dispatcher>()).core)
    }
}

/// The same for an object that has to be one.
pub(crate) fn core_of<'a>(obj: &'a Bound<'_, PyAny>) -> PyResult<&'a Core> {
    core(obj).ok_or_else(|| PyTypeError::new_err("expected a function decorated with tierup.jit"))
}

/// The Python function of a dispatcher.
pub(crate) fn py_func<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    core(obj).map(|c| c.py_func.bind(obj.py()).clone().into_any())
}

impl Core {
    pub(crate) fn function<'py>(&self, py: Python<'py>) -> &Bound<'py, PyFunction> {
        self.py_func.bind(py)
    }
    pub(crate) fn globals<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: a function has a dict of globals.
        unsafe { Bound::from_borrowed_ptr(py, ffi::PyFunction_GetGlobals(self.py_func.as_ptr())) }
    }

    /// What Python calls.
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: a core lives in its object, and whoever has it has a reference to that.
        unsafe { Bound::from_borrowed_ptr(py, self.me) }
    }
    pub(crate) fn decoration(&self) -> Decoration {
        self.decoration.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
    /// Declares something else. What was compiled for the old declarations stays, and is good for calls that
    /// are under way.
    pub(crate) fn decorate(&self, decoration: Decoration) {
        self.decorated.store(decoration.id, Ordering::Relaxed);
        *self.decoration.lock().unwrap_or_else(|e| e.into_inner()) = decoration;
        let list = self.lock();
        self.mark_sole(&list);
    }
    /// The function's number in the compiler.
    pub(crate) fn func_id(&self, py: Python<'_>) -> Result<FuncId, Failure> {
        functions::func_id(&self.object(py), self.function(py), self.options.parallel, &self.decoration())
    }
    fn mark_sole(&self, list: &[Arc<Overload>]) {
        let d = self.decoration().declared;
        for o in list {
            o.sole.store(!d.open && d.signatures.len() == 1 && o.declared, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Overload>>> {
        self.overloads.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Every overload, in the order of their making.
    pub(crate) fn overloads(&self) -> Vec<Arc<Overload>> {
        self.lock().clone()
    }
    /// Forgets every overload.
    pub(crate) fn clear(&self) {
        for r in &self.recent {
            r.store(std::ptr::null_mut(), Ordering::Release);
        }
        let gone = std::mem::take(&mut *self.lock());
        discard(gone);
    }
    /// Forgets one, whose arguments nobody can pass any more.
    pub(crate) fn forget(&self, gone: Arc<Overload>) {
        {
            let mut list = self.lock();
            let Some(at) = list.iter().position(|x| Arc::ptr_eq(x, &gone)) else { return };
            self.pass_over(&gone);
            list.remove(at);
        }
        discard(vec![gone]);
    }
    /// No longer tries an overload without a lock.
    fn pass_over(&self, o: &Arc<Overload>) {
        for r in self.recent.iter().filter(|r| std::ptr::eq(r.load(Ordering::Relaxed), Arc::as_ptr(o))) {
            r.store(std::ptr::null_mut(), Ordering::Release);
        }
    }

    /// Calls the Python function with one argument for each parameter.
    ///
    /// # Safety
    /// `args` points to `n` live objects; the thread is attached.
    pub(crate) unsafe fn call_python(&self, args: *const Obj, n: usize) -> Obj {
        let p = &self.params;
        // SAFETY: as required of the caller; a function is callable.
        unsafe {
            if self.simple == Some(n) {
                return ffi::PyObject_Vectorcall(self.py_func.as_ptr(), args, n, std::ptr::null_mut());
            }
            let py = Python::assume_attached();
            let call = || -> PyResult<Py<PyAny>> {
                let arg = |i: usize| Bound::from_borrowed_ptr(py, *args.add(i));
                let mut positional: Vec<_> = (0..p.positional).map(arg).collect();
                if p.varargs {
                    positional.extend(arg(p.positional + p.keyword_only).cast_into::<PyTuple>()?.iter());
                }
                let keywords = PyDict::new(py);
                for i in p.positional..p.positional + p.keyword_only {
                    keywords.set_item(&p.names[i], arg(i))?;
                }
                if p.varkw {
                    keywords.update(arg(n - 1).cast::<pyo3::types::PyMapping>()?)?;
                }
                Ok(self.function(py).call(PyTuple::new(py, positional)?, Some(&keywords))?.unbind())
            };
            match call() {
                Ok(r) => r.into_ptr(),
                Err(e) => {
                    e.restore(py);
                    std::ptr::null_mut()
                }
            }
        }
    }

    /// Everything but the quick case: other overloads, keywords and defaults, compilation.
    ///
    /// # Safety
    /// As for a vectorcall of this dispatcher.
    #[cold]
    unsafe fn call_slowly(
        &self,
        py: Python<'_>,
        args: *const Obj,
        n: usize,
        keywords: Obj,
    ) -> Result<Obj, Failure> {
        // SAFETY: arguments are live during the call; bound ones are held by `bound`.
        unsafe {
            let bound;
            let mut pointers: Vec<Obj> = vec![];
            let mut args = args;
            if !(keywords.is_null() && self.simple == Some(n)) {
                bound = self.params.bind(py, self.function(py).as_any(), args, n, keywords)?;
                pointers.extend(bound.values.iter().map(|v| v.as_ptr()));
                args = pointers.as_ptr();
            }
            let n = self.params.names.len();
            let decoration = self.decoration();
            // What Python runs takes whatever it is given.
            if self.options.force_python && decoration.declares() {
                return Ok(self.call_python(args, n));
            }
            for o in self.overloads().iter().filter(|o| o.arity() == n && !o.parted() && o.holds()) {
                let Some(r) = o.call(self, args, Lenience::Exact) else { continue };
                self.remember(o);
                return Ok(r);
            }
            if decoration.declares()
                && let Some(o) = self.declared_overload(py, &decoration, args, n)?
            {
                if let Some(r) = o.call(self, args, Lenience::Converted) {
                    return Ok(r);
                }
            }
            let o = match self.make_overload(py, args, n) {
                Ok(o) => o,
                Err(Failure::Diagnostic(d)) if self.fallback => {
                    self.warn(py, &d)?;
                    return Ok(self.call_python(args, n));
                }
                Err(e) => return Err(e),
            };
            o.call(self, args, Lenience::Exact).ok_or_else(|| {
                Diagnostic::internal(format!(
                    "an overload for ({}) does not take its own arguments",
                    show(&o.args)
                ))
                .into()
            })
        }
    }

    /// The type of argument `i` of `n`.
    ///
    /// # Safety
    /// `args` points to `n` live objects.
    unsafe fn argument_type(
        &self,
        py: Python<'_>,
        args: *const Obj,
        n: usize,
        i: usize,
    ) -> Result<Type, Failure> {
        // SAFETY: as required of the caller.
        let arg = unsafe { Bound::from_borrowed_ptr(py, *args.add(i)) };
        match arg.cast::<PyDict>() {
            Ok(d) if self.params.varkw && i + 1 == n => type_of_keywords(d),
            Ok(_) | Err(_) => type_of(&arg),
        }
    }

    /// The overload of the signature that these arguments are for, compiled anew where what it assumed no
    /// longer holds; none where they have to be compiled for.
    ///
    /// # Safety
    /// `args` points to `n` live objects.
    unsafe fn declared_overload(
        &self,
        py: Python<'_>,
        decoration: &Decoration,
        args: *const Obj,
        n: usize,
    ) -> Result<Option<Arc<Overload>>, Failure> {
        let declared = &decoration.declared;
        let mut types = vec![];
        for i in 0..n {
            // SAFETY: as required of the caller.
            let (ty, arg) =
                unsafe { (self.argument_type(py, args, n, i), Bound::from_borrowed_ptr(py, *args.add(i))) };
            types.push(match ty {
                Ok(t) => t,
                // As Numba has it: too large for 64 bits, which shows when it is converted.
                Err(_) if arg.is_instance_of::<pyo3::types::PyInt>() => {
                    Type::new(Kind::Int(tierup_core::types::Int::U64))
                }
                Err(e) if declared.open => return Err(self.name_argument(py, e, i)),
                Err(Failure::Raised(e)) => return Err(e.into()),
                Err(Failure::Diagnostic(d)) => {
                    let d = self.name_argument(py, Failure::Diagnostic(d), i).into_python(py);
                    return Err(
                        PyTypeError::new_err(format!("No matching definition: {}", d.value(py))).into()
                    );
                }
            });
        }
        let several = match declared.choose(&types) {
            Choice::One(k) => {
                let args = &declared.signatures[k].args;
                let known = self
                    .overloads()
                    .into_iter()
                    .find(|o| o.declared && *o.args == **args && !o.parted() && o.holds());
                return match known {
                    Some(o) => Ok(Some(o)),
                    None => Ok(Some(self.insert(py, self.compile(py, args, true, |_| {})?)?)),
                };
            }
            Choice::Nothing if declared.open => return Ok(None),
            Choice::Nothing => vec![],
            Choice::Several(k) => k,
        };
        Err(PyTypeError::new_err(declared.refusal(&self.params.name, &types, &several)).into())
    }

    /// Types the arguments and compiles for them.
    ///
    /// # Safety
    /// `args` points to `n` live objects.
    unsafe fn make_overload(
        &self,
        py: Python<'_>,
        args: *const Obj,
        n: usize,
    ) -> Result<Arc<Overload>, Failure> {
        // SAFETY: as required of the caller.
        let types = (0..n)
            .map(|i| unsafe { self.argument_type(py, args, n, i) }.map_err(|e| self.name_argument(py, e, i)))
            .collect::<Result<Vec<_>, _>>()?;
        let o = self.compile(py, &types, false, |host| {
            let mut passed = vec![];
            types.iter().for_each(|t| known::objects_of(*t, &mut passed));
            for f in passed.into_iter().filter_map(|n| identity::object(py, n)) {
                host.depends_on(&f);
            }
        })?;
        // SAFETY: as required of the caller.
        unsafe { o.remember_units(args) };
        Ok(self.insert(py, o)?)
    }

    /// Makes an overload one of those that are tried first, if it is still ours.
    fn remember(&self, o: &Arc<Overload>) {
        let list = self.lock();
        let p = Arc::as_ptr(o).cast_mut();
        if !list.iter().any(|x| Arc::ptr_eq(x, o))
            || self.recent.iter().any(|r| r.load(Ordering::Relaxed) == p)
        {
            return;
        }
        // An empty place, or the last one's: an overload that is used much stays where it is.
        let free = self
            .recent
            .iter()
            .find(|r| r.load(Ordering::Relaxed).is_null())
            .unwrap_or(&self.recent[RECENT - 1]);
        free.store(p, Ordering::Release);
    }

    /// Calls one of the overloads used before, if the arguments fit.
    ///
    /// # Safety
    /// `args` points to `n` live objects, one for each parameter; the thread is attached.
    #[inline(always)]
    unsafe fn call_recent(&self, args: *const Obj, n: usize) -> Option<Obj> {
        for r in &self.recent {
            let o = r.load(Ordering::Acquire);
            if o.is_null() {
                continue;
            }
            // SAFETY: overloads are dropped only while no call is in progress, and the pointer is only
            // followed before anything can run that would drop it: guards run no Python code, and `call`
            // counts as in progress from its beginning.
            unsafe {
                if (*o).positional != n || !(*o).holds() {
                    continue;
                }
                let answer = if (*o).small {
                    (*o).call_small(self, args)
                } else {
                    let lenience =
                        if (*o).sole.load(Ordering::Relaxed) { Lenience::Tried } else { Lenience::Exact };
                    (*o).call(self, args, lenience)
                };
                if answer.is_some() {
                    return answer;
                }
            }
        }
        None
    }

    /// The call of a function with defaults that leaves some of them out.
    ///
    /// # Safety
    /// As for a vectorcall without keywords.
    #[inline(never)]
    unsafe fn call_with_defaults(&self, args: *const Obj, n: usize) -> Option<Obj> {
        // Where another thread may be setting `__defaults__`, the slow path asks for them.
        if cfg!(Py_GIL_DISABLED) {
            return None;
        }
        let count = self.simple.filter(|c| *c <= DEFAULTED && n < *c)?;
        let mut all = [std::ptr::null_mut(); DEFAULTED];
        // SAFETY: the function is alive; its defaults are null or a tuple, held while the call runs.
        unsafe {
            let defaults = (*self.py_func.as_ptr().cast::<ffi::PyFunctionObject>()).func_defaults;
            if defaults.is_null() {
                return None;
            }
            let given = ffi::PyTuple_GET_SIZE(defaults) as usize;
            if n + given < count {
                return None;
            }
            for (i, slot) in all[..count].iter_mut().enumerate() {
                *slot = if i < n {
                    *args.add(i)
                } else {
                    ffi::PyTuple_GET_ITEM(defaults, (i + given - count) as isize)
                };
            }
            ffi::Py_INCREF(defaults);
            let answer = self.call_recent(all.as_ptr(), count);
            ffi::Py_DECREF(defaults);
            answer
        }
    }

    /// Says in a diagnostic which parameter it is about.
    fn name_argument(&self, py: Python<'_>, e: Failure, i: usize) -> Failure {
        let name = self.params.names.get(i).map_or_else(|| format!("{i}"), |n| n.bind(py).to_string());
        match e {
            Failure::Diagnostic(d) => {
                let mut d = *d;
                d.message = format!("argument '{name}' of {}(): {}", self.params.name, d.message);
                d.at(self.span(py)).into()
            }
            Failure::Raised(e) => Failure::Raised(e),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.params.name
    }

    /// Adds an overload, or finds the one that another thread has just made, and makes it the first to be
    /// tried.
    pub(crate) fn insert(&self, py: Python<'_>, o: Arc<Overload>) -> PyResult<Arc<Overload>> {
        self.end_with_objects(py, &o)?;
        let candidates = self.overloads();
        // Guards are checked outside the lock, though they run no Python code, because a concurrent `clear`
        // may drop what they hold.
        let (same, stale): (Vec<_>, Vec<_>) =
            candidates.iter().filter(|x| x.args == o.args && !x.parted()).partition(|x| x.guards.hold());
        let chosen = same.first().map_or(o, |x| (*x).clone());
        let mut dropped = vec![];
        let mut list = self.lock();
        if !list.iter().any(|x| Arc::ptr_eq(x, &chosen)) {
            list.push(chosen.clone());
        }
        for old in stale.iter().take(stale.len().saturating_sub(STALE)) {
            let at = list.iter().position(|x| Arc::ptr_eq(x, old));
            if let Some(at) = at {
                self.pass_over(old);
                dropped.push(list.remove(at));
            }
        }
        self.mark_sole(&list);
        drop(list);
        self.remember(&chosen);
        drop(candidates);
        discard(dropped);
        Ok(chosen)
    }

    /// An overload for certain objects, a function that was passed for one, ends with them, and keeps none of
    /// them alive.
    fn end_with_objects(&self, py: Python<'_>, o: &Arc<Overload>) -> PyResult<()> {
        if o.objects.is_empty() {
            return Ok(());
        }
        let mut objects = o.objects.to_vec();
        objects.extend(o.guards.mortals(py)?);
        // SAFETY: a live object; the answer is a new reference, or null with an exception.
        let me = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PyWeakref_NewRef(self.me, std::ptr::null_mut()))?
        };
        if identity::end_with(&objects, &me, o) {
            o.guards.loosen()
        } else {
            o.part()
        }
        Ok(())
    }
}

impl identity::Dependent for Overload {
    fn part(&self) {
        Overload::part(self)
    }
    fn leave(self: Arc<Self>, owner: &Bound<'_, PyAny>) {
        if let Some(core) = core(owner) {
            core.forget(self);
        }
    }
}

/// Overloads that were given up while code of some overload was running.
static GIVEN_UP: Mutex<Vec<Arc<Overload>>> = Mutex::new(vec![]);

/// Drops overloads, now or as soon as no compiled code runs: a thread may be in one of them. Without a GIL
/// one may also be about to enter, and nobody can tell, so there they stay.
fn discard(mut gone: Vec<Arc<Overload>>) {
    let mut waiting = GIVEN_UP.lock().unwrap_or_else(|e| e.into_inner());
    if ctx::idle() {
        gone.append(&mut waiting)
    } else {
        waiting.append(&mut gone)
    }
    drop(waiting);
    // Dropping guards may run destructors of the user's objects: no lock is held.
    drop(gone);
}

fn show(types: &[Type]) -> String {
    types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ")
}

unsafe extern "C" fn vectorcall(callable: Obj, args: *const Obj, nargsf: usize, keywords: Obj) -> Obj {
    // SAFETY: Python calls with a live dispatcher and live arguments.
    unsafe {
        let core = &*(*callable.cast::<Dispatcher>()).core;
        let n = ffi::PyVectorcall_NARGS(nargsf) as usize;
        if keywords.is_null() {
            if let Some(r) = core.call_recent(args, n) {
                return r;
            }
            if core.simple.is_some_and(|c| n < c)
                && let Some(r) = core.call_with_defaults(args, n)
            {
                return r;
            }
        }
        slow(core, args, n, keywords)
    }
}

#[cold]
#[inline(never)]
unsafe fn slow(core: &Core, args: *const Obj, n: usize, keywords: Obj) -> Obj {
    attached(|py| {
        // SAFETY: as for `vectorcall`.
        match guard(&format!("calling {}", core.params.name), || unsafe {
            core.call_slowly(py, args, n, keywords)
        }) {
            Ok(r) => r,
            Err(e) => {
                e.into_python(py).restore(py);
                std::ptr::null_mut()
            }
        }
    })
}

/// A dispatcher for a Python function.
pub(crate) fn make<'py>(
    func: &Bound<'py, PyAny>,
    fallback: bool,
    options: Options,
    locals: Arc<[(Arc<str>, Arc<str>)]>,
) -> Result<Bound<'py, PyAny>, Failure> {
    let py = func.py();
    let Ok(function) = func.cast::<PyFunction>() else { return Err(functions::not_a_function(func).into()) };
    let params = Params::of(func)?;
    let decoration = Decoration::new(Declared::default(), locals);
    let core = Box::new(Core {
        me: std::ptr::null_mut(),
        py_func: function.clone().unbind(),
        simple: params.simple_count(),
        params,
        options,
        fallback,
        warned: AtomicBool::new(options.force_python),
        decorated: Arc::new(AtomicU64::new(decoration.id)),
        decoration: Mutex::new(decoration),
        recent: [const { AtomicPtr::new(std::ptr::null_mut()) }; RECENT],
        overloads: Mutex::default(),
    });
    // SAFETY: the class was made by `init`; memory comes zeroed, and every field is set before anyone sees
    // the object.
    unsafe {
        let object = ffi::PyType_GenericAlloc(type_object(), 0);
        let object = Bound::from_owned_ptr_or_err(py, object)?;
        let d = object.as_ptr().cast::<Dispatcher>();
        (*d).vectorcall = Some(vectorcall);
        let mut core = core;
        core.me = object.as_ptr();
        (*d).core = Box::into_raw(core);
        Ok(object)
    }
}
