//! The callable that `@jit` gives: a C-level type with vectorcall. A call compares the arguments with the
//! overloads used before, then with the others; only where none fits are types made and code compiled.
//!
//! Locks are never held while Python code may run (it may wait for the GIL, whose holder may wait for the
//! lock). Two threads that need the same overload at once may both compile it; the first one's is kept.

use crate::bind::Params;
use crate::convert::{Plan, new_ref, type_of, type_of_keywords};
use crate::ctx;
use crate::declared::Decoration;
use crate::engine::{self, Options};
use crate::errors::{Failure, attached, guard};
use crate::frame::Lenience;
use crate::guards::Guards;
use crate::host::PyHost;
use crate::overload::{Overload, Run};
use crate::{functions, identity};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use tierup_core::declare::{Choice, Declared};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::ssa::FuncId;
use tierup_core::types::{Kind, Type};

type Obj = *mut ffi::PyObject;

/// Overloads of one dispatcher whose guards no longer hold; they may hold again (a global that is toggled),
/// but not all are kept.
const STALE: usize = 16;

/// Overloads that a call tries before it takes the slow path.
const RECENT: usize = 4;
/// Parameters of a function whose defaults are filled in on the stack.
const DEFAULTED: usize = 12;

/// What the object holds besides Python's header.
pub struct Core {
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
pub struct Dispatcher {
    head: ffi::PyObject,
    vectorcall: Option<ffi::vectorcallfunc>,
    dict: Obj,
    weakrefs: Obj,
    core: *mut Core,
}

static TYPE: OnceLock<usize> = OnceLock::new();

pub fn type_object() -> *mut ffi::PyTypeObject {
    TYPE.get().copied().unwrap_or(0) as *mut ffi::PyTypeObject
}

/// The part of a dispatcher object that is ours; none for another object.
pub fn core<'a>(obj: &'a Bound<'_, PyAny>) -> Option<&'a Core> {
    // SAFETY: only `make` creates objects of this class, with a core that lives as long as they do.
    unsafe {
        (ffi::Py_TYPE(obj.as_ptr()) == type_object()).then(|| &*(*obj.as_ptr().cast::<Dispatcher>()).core)
    }
}

/// The Python function of a dispatcher.
pub fn py_func<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    core(obj).map(|c| c.py_func.bind(obj.py()).clone().into_any())
}

impl Core {
    pub fn function<'py>(&self, py: Python<'py>) -> &Bound<'py, PyFunction> {
        self.py_func.bind(py)
    }
    pub fn globals<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: a function has a dict of globals.
        unsafe { Bound::from_borrowed_ptr(py, ffi::PyFunction_GetGlobals(self.py_func.as_ptr())) }
    }

    /// What Python calls.
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: a core lives in its object, and whoever has it has a reference to that.
        unsafe { Bound::from_borrowed_ptr(py, self.me) }
    }
    pub fn decoration(&self) -> Decoration {
        self.decoration.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
    /// Declares something else. What was compiled for the old declarations stays, and is good for calls that
    /// are under way.
    pub fn decorate(&self, decoration: Decoration) {
        self.decorated.store(decoration.id, Ordering::Relaxed);
        *self.decoration.lock().unwrap_or_else(|e| e.into_inner()) = decoration;
        let list = self.lock();
        self.mark_sole(&list);
    }
    /// The function's number in the compiler.
    pub fn func_id(&self, py: Python<'_>) -> Result<FuncId, Failure> {
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
    pub fn overloads(&self) -> Vec<Arc<Overload>> {
        self.lock().clone()
    }
    /// Forgets every overload.
    pub fn clear(&self) {
        for r in &self.recent {
            r.store(std::ptr::null_mut(), Ordering::Release);
        }
        let gone = std::mem::take(&mut *self.lock());
        discard(gone);
    }
    /// Forgets one, whose arguments nobody can pass any more.
    pub fn forget(&self, gone: Arc<Overload>) {
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
    pub unsafe fn call_python(&self, args: *const Obj, n: usize) -> Obj {
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
            types.iter().for_each(|t| identity::objects_of(*t, &mut passed));
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

    /// Compiles for argument types, which may be declared ones.
    pub fn compile(
        &self,
        py: Python<'_>,
        types: &[Type],
        declared: bool,
        note: impl FnOnce(&PyHost<'_>),
    ) -> Result<Arc<Overload>, Failure> {
        let params = self.params.names.len();
        if types.len() != params {
            let names =
                self.params.names.iter().map(|n| n.bind(py).to_string()).collect::<Vec<_>>().join(", ");
            let text = format!(
                "the signature gives types of {} argument{}, but {}({names}) takes {params}",
                types.len(),
                if types.len() == 1 { "" } else { "s" },
                self.params.name
            );
            return Err(Diagnostic::new(Code::BadSignature, text)
                .at(self.span(py))
                .help("write one type for each parameter, those with defaults included")
                .into());
        }
        on_compiler_stack(py, |py| self.compile_here(py, types, declared, note))
    }

    fn compile_here(
        &self,
        py: Python<'_>,
        types: &[Type],
        declared: bool,
        note: impl FnOnce(&PyHost<'_>),
    ) -> Result<Arc<Overload>, Failure> {
        if self.options.force_python {
            let run = Run::Python("object mode was asked for".into());
            return Ok(Arc::new(Overload::new(types, Type::none(), run, Guards::default(), self, declared)));
        }
        let func = self.function(py);
        let host = PyHost::new(py);
        note(&host);
        host.depends_on_classes(types);
        let compiled = guard(&format!("compiling {}", self.params.name), || {
            let id = self.func_id(py).map_err(|e| match e {
                Failure::Diagnostic(d) => d.at(self.span(py)).into(),
                other => other,
            })?;
            if engine::dumps("bytecode") {
                eprintln!("tierup: bytecode of {}\n{}", self.params.name, crate::decode::decode(func)?);
            }
            let code = engine::compile(id, types, &self.options, &host, false)?;
            if let Some(why) = Plan::new(code.ret(), None).convert().cannot_box(false) {
                let kind = if let Kind::Conflict(..) = *code.ret() {
                    Code::CannotUnify
                } else {
                    Code::UnsupportedSyntax
                };
                return Err(Diagnostic::new(kind, why)
                    .at(self.span(py))
                    .help("return values of one type that Python knows from every path")
                    .into());
            }
            ctx::start_ticker();
            Ok(code)
        });
        let (guards, raised) = host.finish();
        let run = match (compiled, raised) {
            // Ctrl-C, or an import that failed, while globals were read.
            (Err(_), Some(e)) => return Err(e.into()),
            (Ok(code), _) => Run::Compiled(Arc::new(code)),
            (Err(Failure::Diagnostic(d)), None) if self.fallback && !declared => {
                self.warn(py, &d)?;
                Run::Python(crate::errors::render(py, &d))
            }
            (Err(e), None) => return Err(e),
        };
        let ret = match &run {
            Run::Compiled(code) => code.ret(),
            Run::Python(_) => Type::none(),
        };
        Ok(Arc::new(Overload::new(types, ret, run, guards, self, declared)))
    }

    pub fn name(&self) -> &str {
        &self.params.name
    }

    /// The type of the result for these argument types; nothing is compiled.
    pub fn result_type(&self, py: Python<'_>, types: &[Type]) -> Result<Type, Failure> {
        on_compiler_stack(py, |py| {
            guard(&format!("typing {}", self.params.name), || {
                let id = self.func_id(py).map_err(|e| match e {
                    Failure::Diagnostic(d) => d.at(self.span(py)).into(),
                    other => other,
                })?;
                let host = PyHost::new(py);
                let answer = engine::result_type(id, types, &host);
                host.settle(answer)
            })
        })
    }

    /// The text of one level of the overload for these types, compiled anew with texts kept.
    pub fn text(&self, py: Python<'_>, types: &[Type], level: &str) -> Result<Option<String>, Failure> {
        on_compiler_stack(py, |py| self.text_here(py, types, level))
    }

    fn text_here(&self, py: Python<'_>, types: &[Type], level: &str) -> Result<Option<String>, Failure> {
        guard(&format!("printing {}", self.params.name), || {
            let id = self.func_id(py)?;
            if level == "ssa" {
                return Ok(tierup_core::ssa::registry::get(id).map(|f| f.to_string()));
            }
            if level == "cfg" {
                return Ok(tierup_core::ssa::registry::get(id).map(|f| f.control_flow()));
            }
            if level == "bytecode" {
                return Ok(Some(crate::decode::decode(self.function(py))?.to_string()));
            }
            let host = PyHost::new(py);
            let text =
                engine::tier1_text(id, types, &self.options, &host, level).and_then(|text| match text {
                    Some(text) => Ok(Some(text)),
                    None => engine::compile(id, types, &self.options, &host, true).map(|c| c.text(level)),
                });
            host.settle(text)
        })
    }

    /// What became of the overload for these types in tier 1.
    pub fn explain(
        &self,
        py: Python<'_>,
        types: &[Type],
    ) -> Result<tierup_runtime::engine::inspect::Explanation, Failure> {
        on_compiler_stack(py, |py| {
            guard(&format!("explaining {}", self.params.name), || {
                let id = self.func_id(py)?;
                let host = PyHost::new(py);
                let answer = engine::explain(id, types, &self.options, &host);
                host.settle(answer)
            })
        })
    }

    /// What became of the operations on arrays of the overload for these types.
    pub fn parallel_notes(
        &self,
        py: Python<'_>,
        types: &[Type],
    ) -> Result<std::collections::BTreeSet<tierup_core::lower::notes::Note>, Failure> {
        on_compiler_stack(py, |py| {
            guard(&format!("explaining {}", self.params.name), || {
                let id = self.func_id(py)?;
                let host = PyHost::new(py);
                let answer = engine::parallel(id, types, &self.options, &host);
                host.settle(answer)
            })
        })
    }

    /// PTX of a kernel that runs the overload for these types.
    pub fn ptx(&self, py: Python<'_>, types: &[Type], capability: u32) -> Result<String, Failure> {
        on_compiler_stack(py, |py| {
            guard(&format!("printing {}", self.params.name), || {
                let id = self.func_id(py)?;
                let host = PyHost::new(py);
                let answer =
                    engine::ptx(id, types, &self.options, &host, capability).map_err(|d| d.at(self.span(py)));
                host.settle(answer)
            })
        })
    }

    /// The function as a grid kernel for these types, and what that assumes; the rest needs no Python.
    pub fn kernel(
        &self,
        py: Python<'_>,
        types: &[Type],
    ) -> Result<(tierup_runtime::engine::gpu::Kernel, Guards), Failure> {
        self.as_kernel(py, types, engine::kernel)
    }

    /// The same for this machine's CPU.
    pub fn host_kernel(
        &self,
        py: Python<'_>,
        types: &[Type],
    ) -> Result<(tierup_runtime::gpu::simulate::HostKernel, Guards), Failure> {
        self.as_kernel(py, types, engine::host_kernel)
    }

    fn as_kernel<T: Send>(
        &self,
        py: Python<'_>,
        types: &[Type],
        compile: fn(FuncId, &[Type], &Options, &PyHost<'_>) -> tierup_core::diag::Result<T>,
    ) -> Result<(T, Guards), Failure> {
        let params = self.params.names.len();
        if types.len() != params {
            let text = format!("{}() takes {params} arguments, not {}", self.params.name, types.len());
            return Err(PyTypeError::new_err(text).into());
        }
        on_compiler_stack(py, |py| {
            guard(&format!("compiling {}", self.params.name), || {
                let id = self.func_id(py)?;
                let host = PyHost::new(py);
                host.depends_on(&self.object(py));
                host.depends_on_classes(types);
                let answer = compile(id, types, &self.options, &host);
                let (guards, raised) = host.finish();
                match (answer, raised) {
                    (Ok(kernel), _) => Ok((kernel, guards)),
                    (Err(_), Some(e)) => Err(e.into()),
                    (Err(d), None) => Err(d.at(self.span(py)).into()),
                }
            })
        })
    }

    fn span(&self, py: Python<'_>) -> tierup_core::diag::Span {
        let code = self.function(py).getattr("__code__");
        let file = code
            .as_ref()
            .ok()
            .and_then(|c| c.getattr("co_filename").ok()?.extract::<String>().ok())
            .unwrap_or_default();
        let first =
            code.ok().and_then(|c| c.getattr("co_firstlineno").ok()?.extract::<u32>().ok()).unwrap_or(0);
        // The code starts at its decorators; what the reader looks for is the line with the name.
        let name = self.params.name.rsplit('.').next().unwrap_or_default();
        let find = |line: u32| {
            let text = crate::errors::source_line(py, &file, line)?;
            let at = text.find(&format!("def {name}")).map(|at| at + 4).or_else(|| text.find("lambda"))?;
            Some((line, at as u32, (at + name.trim_start_matches('<').trim_end_matches('>').len()) as u32))
        };
        let (line, col, end_col) = (first..first + 20).find_map(find).unwrap_or((first, 0, 0));
        tierup_core::diag::Span {
            file: file.as_str().into(),
            func: self.params.name.as_str().into(),
            line,
            col,
            end_col,
        }
    }

    /// One note for each function that is not compiled.
    fn warn(&self, py: Python<'_>, d: &Diagnostic) -> PyResult<()> {
        if self.warned.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        py.import("tierup.errors")?
            .getattr("warn_fallback")?
            .call1((self.function(py), crate::errors::render(py, d)))?;
        Ok(())
    }

    /// Adds an overload, or finds the one that another thread has just made, and makes it the first to be
    /// tried.
    pub fn insert(&self, py: Python<'_>, o: Arc<Overload>) -> PyResult<Arc<Overload>> {
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

/// Runs the compiler where it has stack enough. What it says is made an exception there: that reads source
/// lines, which takes stack as well.
fn on_compiler_stack<R>(
    py: Python<'_>,
    body: impl FnOnce(Python<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let answer = ctx::with_compiler_stack(py, |py| body(py).map_err(|e| Failure::Raised(e.into_python(py))));
    answer.unwrap_or_else(|| {
        Err(pyo3::exceptions::PyMemoryError::new_err("no thread can be started to compile in").into())
    })
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
pub fn make<'py>(
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

// ---------------------------------------------------------------- the class

unsafe extern "C" fn dealloc(o: Obj) {
    // SAFETY: called once by Python for an object made by `make`.
    unsafe {
        ffi::PyObject_GC_UnTrack(o.cast());
        let d = o.cast::<Dispatcher>();
        if !(*d).weakrefs.is_null() {
            ffi::PyObject_ClearWeakRefs(o);
        }
        ffi::Py_CLEAR(&raw mut (*d).dict);
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
        let r = call((*d).dict);
        if r != 0 || (*d).core.is_null() {
            return r;
        }
        let core = &*(*d).core;
        let r = call(core.py_func.as_ptr());
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
        ffi::Py_CLEAR(&raw mut (*d).dict);
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
        let text = format!("<tierup function {}>", core.params.name);
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
            Some(core) => ffi::PyObject_GetAttrString(core.py_func.as_ptr(), c"__annotations__".as_ptr()),
            None => ffi::PyDict_New(),
        }
    }
}

/// Makes the class.
pub fn init(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let member = |name: &'static std::ffi::CStr, offset: usize| ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as isize,
        flags: ffi::Py_READONLY,
        doc: std::ptr::null(),
    };
    let members = Box::leak(Box::new([
        member(c"__vectorcalloffset__", std::mem::offset_of!(Dispatcher, vectorcall)),
        member(c"__dictoffset__", std::mem::offset_of!(Dispatcher, dict)),
        member(c"__weaklistoffset__", std::mem::offset_of!(Dispatcher, weakrefs)),
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
            set: None,
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
    TYPE.get_or_init(|| class.clone().into_ptr() as usize);
    Ok(class)
}
