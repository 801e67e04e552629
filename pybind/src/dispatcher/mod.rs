//! The callable that `@jit` gives: a C-level type with vectorcall. A call compares the arguments with the
//! overloads used before, then with the others; only where none fits are types made and code compiled.
//!
//! Locks are never held while Python code may run (it may wait for the GIL, whose holder may wait for the
//! lock). Two threads that need the same overload at once may both compile it; the first one's is kept.

use crate::convert::Lenience;
use crate::convert::object::shapes::{Alike, Shared, together};
use crate::convert::{Records, part_type, type_of_keywords, with_records};
use crate::decorated::{self, Decorated, Decoration, Head, InPython};
use crate::engine::Options;
use crate::errors::{Failure, guard};
use crate::gil::attached;
use crate::looking::{Looking, looks};
use crate::overload::{Asked, Overload};
use crate::overrides::hides_class;
use crate::passed::Passed;
use crate::{functions, identity, known};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tierup_core::declare::{Choice, Declared, Signature};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::emit::cx::Overflow;
use tierup_core::ssa::FuncId;
use tierup_core::types::{Kind, Type};

mod called;
mod class;
mod compile;
mod declare;
mod outgrown;
mod overloads;
mod refused;
mod values;

pub(crate) use called::{Called, keep};
pub(crate) use class::init;
use outgrown::Outgrown;
use refused::{Given, Refused, Way};

type Obj = *mut ffi::PyObject;

/// Overloads that a call tries before it takes the slow path.
const RECENT: usize = 4;
/// Parameters of a function whose defaults are filled in on the stack.
const DEFAULTED: usize = 12;
/// How often the types of arguments are looked for that other threads may be changing.
const LOOKS: usize = 16;

/// What the object holds besides Python's header.
pub(crate) struct Core {
    /// The object that this is the core of.
    me: Obj,
    pub decorated: Decorated,
    /// Call the Python function where compiling fails.
    fallback: bool,
    /// Nothing is compiled for arguments that are copied in, but for lists of numbers at these places: the call would
    /// cost more than Python.
    by_reference: Option<Vec<usize>>,
    warned: AtomicBool,
    /// Why there was no overload for the arguments of the last call that Python ran for want of one.
    refusal: Mutex<Option<String>>,
    refused: Refused,
    outgrown: Outgrown,
    /// The overload compiled or found by the slow path last, and those before it: tried in this order without
    /// a lock.
    recent: [AtomicPtr<Overload>; RECENT],
    overloads: Mutex<Vec<Arc<Overload>>>,
    called: Mutex<Vec<Called>>,
}

#[repr(C)]
pub(crate) struct Dispatcher {
    head: Head,
    core: *mut Core,
}

/// The part of a dispatcher object that is ours; none for another object.
pub(crate) fn core<'a>(obj: &'a Bound<'_, PyAny>) -> Option<&'a Core> {
    // SAFETY: only `make` creates objects of this class, with a core that lives as long as they do.
    unsafe {
        (ffi::Py_TYPE(obj.as_ptr()) == decorated::class())
            .then(|| &*(*obj.as_ptr().cast::<Dispatcher>()).core)
    }
}

/// The same for an object that has to be one.
pub(crate) fn core_of<'a>(obj: &'a Bound<'_, PyAny>) -> PyResult<&'a Core> {
    core(obj).ok_or_else(|| PyTypeError::new_err("expected a function decorated with tierup.jit"))
}

impl Core {
    /// What Python calls.
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        // SAFETY: a core lives in its object, and whoever has it has a reference to that.
        unsafe { Bound::from_borrowed_ptr(py, self.me) }
    }
    /// By which [`Looking`] knows it.
    fn key(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
    /// Does what may ask arguments, and what they lead to, for attributes.
    fn look<T>(&self, look: impl FnOnce() -> T) -> T {
        let _looking = Looking::begin(self.key());
        look()
    }

    /// The function's number in the compiler.
    pub(crate) fn func_id(&self, py: Python<'_>) -> Result<FuncId, Failure> {
        functions::func_id(&self.object(py), &self.decorated)
    }

    /// Everything but the quick case: other overloads, keywords and defaults, compilation. Gives the answer, and
    /// whether compiled code gave it.
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
    ) -> Result<(Obj, bool), Failure> {
        let of = &self.decorated;
        let (given, start) = (Given { args, n, names: keywords }, Instant::now());
        // SAFETY: arguments are live during the call; bound ones are held by `bound`.
        unsafe {
            let bound;
            let mut pointers: Vec<Obj> = vec![];
            let mut args = args;
            if !(keywords.is_null() && of.simple == Some(n)) {
                bound = of.params.bind(py, of.function(py).as_any(), args, n, keywords)?;
                pointers.extend(bound.values.iter().map(|v| v.as_ptr()));
                args = pointers.as_ptr();
            }
            let n = of.params.names.len();
            let decoration = of.decoration();
            // What Python runs takes whatever it is given.
            if of.options.force_python && decoration.declares() {
                return Ok((of.call_python(args, n), false));
            }
            if looks(self.key()) {
                return Ok((of.call_as(of.function(py).as_any(), args, n), false));
            }
            if self.outgrown.takes() {
                return Ok((self.call_uncut(py, args, n), false));
            }
            for o in self.overloads().iter().filter(|o| o.arity() == n && !o.parted() && o.takes(args)) {
                let Some(r) = o.call(of, args, Lenience::Exact) else { continue };
                self.remember(o);
                if !r.is_null() {
                    self.outgrown.settle();
                }
                if o.is_python() {
                    self.refused.note(py, given, Some(o), None);
                }
                return Ok((r, !o.is_python()));
            }
            if decoration.declares()
                && let Some(o) = self.look(|| self.declared_overload(py, &decoration, args, n))?
            {
                if let Some(r) = o.call(of, args, Lenience::Converted) {
                    return Ok((r, !o.is_python()));
                }
            }
            // Another thread may change what an object leads to after its type was looked for.
            let (mut last, mut again): (Option<Arc<Overload>>, _) = (None, 0);
            for _ in 0..LOOKS {
                let o = match self.look(|| self.make_overload(py, args, n, last.as_deref())) {
                    Ok(o) => o,
                    Err(Failure::Diagnostic(d)) if self.fallback => {
                        self.look(|| self.warn(py, &d))?;
                        let why = d.to_string().lines().next().unwrap_or_default().to_owned();
                        return Ok(self.leave_to_python(py, (given, start), (args, n), why));
                    }
                    // Such as an int that is too large for compiled code, which is none for Python, or what an
                    // attribute of an argument raised. Ctrl-C is the user's.
                    Err(Failure::Raised(e))
                        if self.fallback
                            && of.options.code.overflow == Overflow::Python
                            && e.is_instance_of::<PyException>(py) =>
                    {
                        let why = e.value(py).to_string();
                        return Ok(self.leave_to_python(py, (given, start), (args, n), why));
                    }
                    Err(e) => return Err(e),
                };
                let took = start.elapsed();
                if let Some(r) = o.call(of, args, Lenience::Exact) {
                    if o.is_python() {
                        self.refused.note(py, given, Some(&o), Some(took));
                    }
                    return Ok((r, !o.is_python()));
                }
                // The same once more: no other thread is at it.
                again += usize::from(last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &o)));
                last = Some(o);
                if again == 2 {
                    break;
                }
            }
            let last = last.map_or(vec![], |o| o.taken().to_vec());
            let text = format!(
                "the arguments of {}() lead to one object at places of different types, among ({})",
                of.name(),
                show(&last)
            );
            if self.fallback && of.options.code.overflow == Overflow::Python {
                return Ok(self.leave_to_python(py, (given, start), (args, n), text));
            }
            Err(Diagnostic::new(Code::UnsupportedArgument, text)
                .at(self.span(py))
                .help("pass a copy of it at one of the places")
                .into())
        }
    }

    /// Has Python make a call that was refused since then, and keeps why.
    ///
    /// # Safety
    /// As for a vectorcall, of the arguments as they came and of those in the order of the parameters.
    unsafe fn leave_to_python(
        &self,
        py: Python<'_>,
        (given, since): (Given, Instant),
        (args, n): (*const Obj, usize),
        why: String,
    ) -> (Obj, bool) {
        *self.refusal.lock().unwrap_or_else(|e| e.into_inner()) = Some(why);
        // SAFETY: as required of the caller.
        unsafe {
            self.refused.note(py, given, None, Some(since.elapsed()));
            (self.decorated.call_python(args, n), false)
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
            Ok(d) if self.decorated.params.varkw && i + 1 == n => type_of_keywords(d),
            Ok(_) | Err(_) => part_type(&arg),
        }
    }

    /// The types of all arguments, and what they have in common; `known` are types of global containers.
    ///
    /// # Safety
    /// `args` points to `n` live objects.
    unsafe fn argument_types(
        &self,
        py: Python<'_>,
        args: *const Obj,
        n: usize,
        known: Vec<(usize, Type)>,
    ) -> Result<(Vec<Type>, Shared), Failure> {
        let exact = self.decorated.options.code.overflow == Overflow::Python;
        with_records(if exact { Records::Exact } else { Records::Taken }, || {
            together(py, n, known, |i| {
                // SAFETY: as required of the caller.
                unsafe { self.argument_type(py, args, n, i) }.map_err(|e| self.name_argument(py, e, i))
            })
        })
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
        let choice = match declared.choose(&types) {
            // Equally good since a container is empty, which is of any of their types: the first one.
            Choice::Several(all) if differ_in_empty(&declared.signatures, &all, &types) => {
                Choice::One(all[0])
            }
            choice @ (Choice::One(_) | Choice::Several(_) | Choice::Nothing) => choice,
        };
        let several = match choice {
            Choice::One(k) => {
                let args = &declared.signatures[k].args;
                let known = self
                    .overloads()
                    .into_iter()
                    .find(|o| o.declared && *o.args == **args && !o.parted() && o.holds());
                return match known {
                    Some(o) => Ok(Some(o)),
                    None => Ok(Some(self.insert(py, self.compile(py, args, &[], Asked::Declared, |_| {})?)?)),
                };
            }
            Choice::Nothing if declared.open => return Ok(None),
            Choice::Nothing => vec![],
            Choice::Several(k) => k,
        };
        Err(PyTypeError::new_err(declared.refusal(self.decorated.name(), &types, &several)).into())
    }

    /// Types the arguments and compiles for them; `refused` is the overload for these types which does not take them:
    /// an object is to be of several types.
    ///
    /// # Safety
    /// `args` points to `n` live objects.
    unsafe fn make_overload(
        &self,
        py: Python<'_>,
        args: *const Obj,
        n: usize,
        refused: Option<&Overload>,
    ) -> Result<Arc<Overload>, Failure> {
        let o = loop {
            // SAFETY: as required of the caller.
            let alone = unsafe { self.argument_types(py, args, n, vec![])? };
            let copied = |(k, t): (usize, &Type)| {
                let whole = |places: &Vec<usize>| places.contains(&k) && holds_numbers(*t);
                t.holds_list() && !self.by_reference.as_ref().is_some_and(whole)
            };
            if self.by_reference.is_some() && alone.0.iter().enumerate().any(copied) {
                let text = "lists, dicts, sets and objects are not copied at each turn of the loop around it";
                return Err(Diagnostic::new(Code::UnsupportedArgument, text).into());
            }
            let known: Vec<_> =
                refused.iter().flat_map(|o| o.guards.passed()).filter_map(Passed::known).collect();
            let (types, shared) = if known.is_empty() {
                alone.clone()
            } else {
                // SAFETY: as required of the caller.
                unsafe { self.argument_types(py, args, n, known)? }
            };
            let none = Alike::default();
            let alike = if refused.is_some() { &shared.empty } else { &none };
            let together = shared.types || !alike.is_empty() || types != alone.0;
            let asked = if together { Asked::Together(alike) } else { Asked::Exact };
            let grown = known::grown();
            // SAFETY: as required of the caller.
            let derived = unsafe { (0..n).any(|k| hides_class(types[k], *args.add(k))) };
            if derived && self.overloads().iter().any(|o| o.is_exact() && *o.args == *types && o.holds()) {
                return Err(of_derived_class());
            }
            // SAFETY: as required of the caller.
            let values = unsafe { self.values(py, args, &types)? };
            let compiled = self.compile(py, &types, &values, asked, |host| {
                let mut passed = vec![];
                types.iter().for_each(|t| known::objects_of(*t, &mut passed));
                for f in passed.into_iter().filter_map(|n| identity::object(py, n)) {
                    host.depends_on(&f);
                }
            });
            // Each time one field more that the program has a name for, or one value more that it wants.
            let wants_more = || self.func_id(py).is_ok_and(|f| values::wants_more(f, &types, &values));
            // Where another thread has met it meanwhile, code that was typed before may not know of it.
            if known::grown() == grown && (compiled.is_ok() || !wants_more()) {
                let o = compiled?;
                if derived && o.is_exact() {
                    self.insert(py, o)?;
                    return Err(of_derived_class());
                }
                break o;
            }
        };
        // SAFETY: as required of the caller.
        unsafe { o.remember_units(args) };
        Ok(self.insert(py, o)?)
    }

    /// A call whose arguments were refused before, or are quicker in Python: as it is, with keywords and defaults.
    ///
    /// # Safety
    /// As for a vectorcall of this dispatcher.
    unsafe fn call_refused(&self, given: Given) -> Option<Obj> {
        // SAFETY: as required of the caller; a function is callable.
        unsafe {
            let f = match self.refused.takes(given)? {
                Way::Lifted => self.decorated.in_python_ptr(),
                Way::Uncut => self.decorated.function_ptr(),
            };
            if f.is_null() || !self.fallback {
                return None;
            }
            let r = ffi::PyObject_Vectorcall(f, given.args, given.n, given.names);
            if r.is_null() && self.promises_python() {
                return Some(self.after_raising(given.args, given.n, given.names, false));
            }
            Some(r)
        }
    }

    /// The answer of a call without keywords that compiled code has made.
    ///
    /// # Safety
    /// As for a vectorcall of this dispatcher.
    #[inline(always)]
    unsafe fn ended(&self, r: Obj, args: *const Obj, n: usize) -> Obj {
        // SAFETY: as required of the caller; an exception is set where nothing came back.
        unsafe {
            if r.is_null() && self.promises_python() {
                return self.after_raising(args, n, std::ptr::null_mut(), true);
            }
            self.weighed(r, Given { args, n, names: std::ptr::null_mut() })
        }
    }

    /// The same answer, with a note where Python was found to be quicker for such arguments.
    ///
    /// # Safety
    /// As for a vectorcall of this dispatcher.
    #[inline(always)]
    unsafe fn weighed(&self, r: Obj, given: Given) -> Obj {
        if self.decorated.quicker.load(Ordering::Relaxed) != 0 {
            // SAFETY: as required of the caller.
            unsafe { self.note_quicker(given) }
        }
        r
    }
    /// # Safety
    /// As for [`Core::weighed`].
    #[cold]
    unsafe fn note_quicker(&self, given: Given) {
        let calls = self.decorated.quicker.swap(0, Ordering::Relaxed);
        // SAFETY: as required of the caller.
        attached(|py| unsafe { self.refused.note_heavy(py, given, calls) });
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
                if (*o).positional != n || !(*o).takes(args) {
                    continue;
                }
                let answer = if (*o).small {
                    (*o).call_small(&self.decorated, args)
                } else {
                    let lenience =
                        if (*o).sole.load(Ordering::Relaxed) { Lenience::Tried } else { Lenience::Exact };
                    (*o).call(&self.decorated, args, lenience)
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
        let count = self.decorated.simple.filter(|c| *c <= DEFAULTED && n < *c)?;
        let mut all = [std::ptr::null_mut(); DEFAULTED];
        // SAFETY: the function is alive; its defaults are null or a tuple, held while the call runs.
        unsafe {
            let defaults = (*self.decorated.function_ptr().cast::<ffi::PyFunctionObject>()).func_defaults;
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

    /// Why the last call whose arguments nothing could be compiled for was run by Python.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.refusal.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// Says in a diagnostic which parameter it is about.
    fn name_argument(&self, py: Python<'_>, e: Failure, i: usize) -> Failure {
        let of = &self.decorated;
        let name = of.params.names.get(i).map_or_else(|| format!("{i}"), |n| n.bind(py).to_string());
        match e {
            Failure::Diagnostic(d) => {
                let mut d = *d;
                d.message = format!("argument '{name}' of {}(): {}", of.name(), d.message);
                d.at(self.span(py)).into()
            }
            Failure::Raised(e) => Failure::Raised(e),
        }
    }
}

/// Why Python makes a call that asks for the class of an argument.
fn of_derived_class() -> Failure {
    let text = "an argument of a class that is derived from one of Python's, where the class is asked for";
    Diagnostic::new(Code::UnsupportedArgument, text)
        .help("pass a value of Python's class, list(x) or str(x), or ask for the class outside")
        .into()
}

/// Whether these signatures differ in those arguments alone of which nothing says what they hold.
fn differ_in_empty(signatures: &[Signature], all: &[usize], types: &[Type]) -> bool {
    let told = |k: &usize| {
        let args = signatures[*k].args.iter().zip(types);
        args.filter(|(_, given)| !given.lacks_elements()).map(|(t, _)| *t).collect::<Vec<_>>()
    };
    all.iter().all(|k| told(k) == told(&all[0]))
}

fn show(types: &[Type]) -> String {
    types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ")
}

unsafe extern "C" fn vectorcall(callable: Obj, args: *const Obj, nargsf: usize, keywords: Obj) -> Obj {
    // SAFETY: Python calls with a live dispatcher and live arguments.
    unsafe {
        let core = &*(*callable.cast::<Dispatcher>()).core;
        let n = ffi::PyVectorcall_NARGS(nargsf) as usize;
        if core.refused.any()
            && let Some(r) = core.call_refused(Given { args, n, names: keywords })
        {
            return r;
        }
        if keywords.is_null() {
            if let Some(r) = core.call_recent(args, n) {
                return core.ended(r, args, n);
            }
            if core.decorated.simple.is_some_and(|c| n < c)
                && let Some(r) = core.call_with_defaults(args, n)
            {
                return core.ended(r, args, n);
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
        match guard(&format!("calling {}", core.decorated.name()), || unsafe {
            core.call_slowly(py, args, n, keywords)
        }) {
            // SAFETY: as for `vectorcall`; an exception is set where nothing came back.
            Ok((r, compiled)) if r.is_null() && core.promises_python() => unsafe {
                core.after_raising(args, n, keywords, compiled)
            },
            // SAFETY: as for `vectorcall`.
            Ok((r, _)) => unsafe { core.weighed(r, Given { args, n, names: keywords }) },
            Err(e) => {
                e.into_python(py).restore(py);
                std::ptr::null_mut()
            }
        }
    })
}

/// Whether a type is of lists of numbers, or of tuples of them: a loop over such a list takes longer in Python than
/// copying it.
fn holds_numbers(t: Type) -> bool {
    let Kind::List(of) = t.kind() else { return false };
    let number = |t: Type| t.number().is_some();
    number(*of) || matches!(of.kind(), Kind::Tuple(m) if m.iter().copied().all(number))
}

/// A dispatcher for a Python function.
pub(crate) fn make<'py>(
    func: &Bound<'py, PyAny>,
    fallback: bool,
    options: Options,
    locals: Arc<[(Arc<str>, Arc<str>)]>,
    specialised: Arc<[usize]>,
    checked: Option<bool>,
    (in_python, by_reference): (InPython, Option<Vec<usize>>),
) -> Result<Bound<'py, PyAny>, Failure> {
    let py = func.py();
    let Ok(function) = func.cast::<PyFunction>() else { return Err(functions::not_a_function(func).into()) };
    let decoration = Decoration::new(Declared::default(), locals, specialised);
    let decoration = match checked {
        Some(result) => decoration.checked(result),
        None => decoration,
    };
    let quiet = options.force_python || matches!(in_python, InPython::Instead(_));
    let decorated = Decorated::new(function, options, decoration, in_python)?;
    let mut core = Box::new(Core {
        me: std::ptr::null_mut(),
        decorated,
        fallback,
        by_reference,
        warned: AtomicBool::new(quiet),
        refusal: Mutex::default(),
        refused: Refused::default(),
        outgrown: Outgrown::default(),
        recent: [const { AtomicPtr::new(std::ptr::null_mut()) }; RECENT],
        overloads: Mutex::default(),
        called: Mutex::default(),
    });
    // SAFETY: the class was made by `init`; memory comes zeroed, and every field is set before anyone sees
    // the object.
    unsafe {
        let object = ffi::PyType_GenericAlloc(decorated::class(), 0);
        let object = Bound::from_owned_ptr_or_err(py, object)?;
        let d = object.as_ptr().cast::<Dispatcher>();
        (*d).head.vectorcall = Some(vectorcall);
        core.me = object.as_ptr();
        (*d).core = Box::into_raw(core);
        (*d).head.decorated = &raw const (*(*d).core).decorated;
        Ok(object)
    }
}
