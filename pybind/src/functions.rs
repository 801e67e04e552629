//! Python functions that the compiler has seen: one number in `core::ssa::registry` for each object that
//! stands for a function (the function, a dispatcher, a ufunc …) and its code.
//!
//! The table keeps no function alive, so a closure made in a loop can die; its entries go with it
//! ([`crate::identity`]). Whoever needs a function alive holds it itself.

use crate::decorated::{self, Decorated, Decoration};
use crate::errors::Failure;
use crate::names::NamesOf;
use crate::{choosers, identity, wording};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyFunction, PyString, PyTuple, PyType};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::infer::generator_ids;
use tierup_core::meaning::Meaning;
use tierup_core::ssa::{FuncId, Parts, build, registry};

struct Entry {
    /// The object that code sees (a dispatcher, a ufunc, the function itself), and the Python function behind
    /// it, by their numbers.
    object: u64,
    function: u64,
    /// The code object that was decoded; `f.__code__ = …` makes it another function.
    code: Py<PyAny>,
    func: Option<FuncId>,
    library: bool,
    made: Made,
}

/// How a function is made: what of it is parallel, and by the number of its decoration what is declared of
/// it. Made in another way it is another function.
type Made = (Parts, u64);

#[derive(Default)]
struct Table {
    by_object: HashMap<(u64, Made), u64>,
    by_func: HashMap<FuncId, u64>,
    entries: HashMap<u64, Entry>,
    /// The entries that end with an object.
    of: HashMap<u64, Vec<u64>>,
    last: u64,
}
static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Default::default);

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(|e| e.into_inner())
}

/// The Python function behind a plain function, a dispatcher, or an object whose class names what compiled
/// code calls in its place (`_tierup_function_`).
pub(crate) fn python_function<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyFunction>> {
    if let Ok(f) = obj.cast::<PyFunction>() {
        return Some(manager(f).or_else(|| with_classes(f)).unwrap_or_else(|| f.clone()));
    }
    if let Some(d) = decorated::of(obj) {
        return Some(d.function(obj.py()).clone());
    }
    if obj.get_type().name().is_ok_and(|name| name == "_lru_cache_wrapper") {
        return remembers(obj);
    }
    let target = target(obj)?;
    match decorated::of(&target) {
        Some(d) => Some(d.function(obj.py()).clone()),
        None => target.cast_into::<PyFunction>().ok(),
    }
}

/// What compiled code calls in the place of a function behind `contextlib.contextmanager`, whose code has this name.
fn manager<'py>(f: &Bound<'py, PyFunction>) -> Option<Bound<'py, PyFunction>> {
    let py = f.py();
    // SAFETY: `f` is a function object, which has a code object.
    let code = unsafe { Bound::from_borrowed_ptr(py, ffi::PyFunction_GetCode(f.as_ptr())) };
    if !code.getattr(intern!(py, "co_name")).is_ok_and(|name| name.is(intern!(py, "helper"))) {
        return None;
    }
    let made =
        py.import(intern!(py, "tierup._objects")).and_then(|m| m.call_method1(intern!(py, "manager"), (f,)));
    match made {
        Ok(made) => made.cast_into::<PyFunction>().ok(),
        Err(e) => {
            e.write_unraisable(py, Some(f));
            None
        }
    }
}

/// A function in whose code there is that of a class body, with what its class statements make.
fn with_classes<'py>(f: &Bound<'py, PyFunction>) -> Option<Bound<'py, PyFunction>> {
    let py = f.py();
    // SAFETY: `f` is a function object, which has a code object.
    let code = unsafe { Bound::from_borrowed_ptr(py, ffi::PyFunction_GetCode(f.as_ptr())) };
    let consts = code.getattr(intern!(py, "co_consts")).ok()?.cast_into::<PyTuple>().ok()?;
    let is_class = |c: Bound<'_, PyAny>| {
        // Code of a function has variables of its own (`CO_OPTIMIZED`, `CO_NEWLOCALS`).
        let flags = || c.getattr(intern!(py, "co_flags"))?.extract::<u32>();
        c.get_type().is(&code.get_type()) && flags().is_ok_and(|flags| flags & 3 == 0)
    };
    if !consts.iter().any(is_class) {
        return None;
    }
    let made = py
        .import(intern!(py, "tierup._local_classes"))
        .and_then(|m| m.call_method1(intern!(py, "expanded"), (f,)));
    match made {
        Ok(made) => made.cast_into::<PyFunction>().ok(),
        Err(e) => {
            e.write_unraisable(py, Some(f));
            None
        }
    }
}

/// What compiled code calls in the place of a function behind `functools.lru_cache`.
fn remembers<'py>(wrapper: &Bound<'py, PyAny>) -> Option<Bound<'py, PyFunction>> {
    let py = wrapper.py();
    let made = py
        .import(intern!(py, "tierup._remembered"))
        .and_then(|m| m.call_method1(intern!(py, "function_for"), (wrapper,)));
    match made {
        Ok(made) => made.cast_into::<PyFunction>().ok(),
        Err(e) => {
            e.write_unraisable(py, Some(wrapper));
            None
        }
    }
}

/// Whether the class of an object has an attribute: nothing of the user's runs for objects of other classes, and
/// a metaclass that raises is one that has it not.
pub(crate) fn class_has(obj: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> bool {
    obj.get_type().hasattr(name).unwrap_or(false)
}

/// The function or dispatcher that compiled code calls in the place of an object whose class has one
/// (`_tierup_function_`).
fn target<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let name = intern!(obj.py(), "_tierup_function_");
    if !class_has(obj, name) {
        return None;
    }
    match obj.getattr(name) {
        Ok(f) => Some(f),
        Err(e) => {
            // Making it is ours; that it fails is a bug, which must not pass for an object without a
            // function.
            e.write_unraisable(obj.py(), Some(obj));
            None
        }
    }
}

/// Whether a class or a class that it is made of comes from these modules.
fn is_from(class: &Bound<'_, PyType>, modules: &[&str]) -> bool {
    class.mro().iter().any(|c| {
        c.getattr("__module__")
            .is_ok_and(|m| m.cast::<PyString>().is_ok_and(|m| m.to_str().is_ok_and(|m| modules.contains(&m))))
    })
}

/// The Python function that calls a function of C, or whose attributes are those of a library of C functions;
/// none for other objects.
pub(crate) fn function_of_c<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyFunction>>> {
    let class = obj.get_type();
    // What may be one is told by its class, so that the module that knows more is loaded for these alone.
    let cython = matches!(class.name()?.to_str()?, "cython_function_or_method" | "fused_cython_function");
    // Functions of modules that cffi has compiled are built-in ones to Python, bound to the object that is
    // their library.
    let bound = obj
        .cast::<PyCFunction>()
        .ok()
        .and_then(|f| f.getattr("__self__").ok())
        .is_some_and(|of| is_from(&of.get_type(), &["_cffi_backend"]));
    if !cython
        && !bound
        && !is_from(&class, &["_ctypes", "ctypes", "_cffi_backend", "cffi.api", "tierup._python_calls"])
    {
        return Ok(None);
    }
    Ok(obj
        .py()
        .import("tierup._foreign")?
        .getattr("function_for")?
        .call1((obj,))?
        .cast_into::<PyFunction>()
        .ok())
}

/// The handle of a function, by which the compiler asks for its globals.
fn handle_of(
    object: &Bound<'_, PyAny>,
    f: &Bound<'_, PyFunction>,
    library: bool,
    made: Made,
) -> PyResult<u64> {
    // SAFETY: `f` is a function object, which has a code object.
    let code = unsafe { Bound::from_borrowed_ptr(f.py(), ffi::PyFunction_GetCode(f.as_ptr())) }.unbind();
    let (object, function) = (identity::number_of(object)?, identity::number_of(f.as_any())?);
    let mut t = table();
    if let Some(h) = t.by_object.get(&(object, made)).copied()
        && t.entries.get(&h).is_some_and(|e| e.code.is(&code))
    {
        drop(t);
        return Ok(h);
    }
    t.last += 1;
    let handle = t.last;
    t.by_object.insert((object, made), handle);
    t.of.entry(object).or_default().push(handle);
    if function != object {
        t.of.entry(function).or_default().push(handle);
    }
    t.entries.insert(handle, Entry { object, function, code, func: None, library, made });
    Ok(handle)
}

/// Forgets what ends with an object that is gone.
pub(crate) fn forget(object: u64) {
    let mut gone = vec![];
    {
        let mut t = table();
        for h in t.of.remove(&object).unwrap_or_default() {
            let Some(e) = t.entries.remove(&h) else { continue };
            if t.by_object.get(&(e.object, e.made)) == Some(&h) {
                t.by_object.remove(&(e.object, e.made));
            }
            if let Some(f) = e.func {
                t.by_func.remove(&f);
            }
            let other = if e.object == object { e.function } else { e.object };
            if other != object
                && let Some(of) = t.of.get_mut(&other)
            {
                of.retain(|x| *x != h);
                if of.is_empty() {
                    t.of.remove(&other);
                }
            }
            gone.push((h, e));
        }
    }
    for (h, _) in &gone {
        registry::remove(*h).into_iter().for_each(generator_ids::forget);
    }
}

/// The number of a decorated function in the compiler, decoded at the first request; and what of it is
/// parallel and declared. `object` is what stands for it: itself, a dispatcher, a ufunc.
pub(crate) fn func_id(object: &Bound<'_, PyAny>, f: &Decorated) -> Result<FuncId, Failure> {
    func_id_as(object, f.function(object.py()), false, f.options.parallel, &f.decoration(), f.options.meaning)
}
/// The number of the function behind a plain function, a dispatcher or an object that has one, made as that
/// says.
pub(crate) fn func_id_of(object: &Bound<'_, PyAny>, f: &Bound<'_, PyFunction>) -> Result<FuncId, Failure> {
    let target = target(object);
    match decorated::of(target.as_ref().unwrap_or(object)) {
        Some(d) => func_id_as(object, f, false, d.options.parallel, &d.decoration(), d.options.meaning),
        // What is written in the place of a row (`tierup/_rows.py`) has its result.
        None if f.hasattr(intern!(f.py(), "_tierup_result_")).unwrap_or(false) => {
            func_id_as(object, f, false, Parts::NONE, &Decoration::default().row(), None)
        }
        None => func_id_as(object, f, false, Parts::NONE, &Decoration::default(), None),
    }
}
/// The same for a row of a function of several rows, whose result is checked; none where that is not said or
/// is its own business.
pub(crate) fn row_id(object: &Bound<'_, PyAny>) -> Result<Option<FuncId>, Failure> {
    let Some(f) = python_function(object) else { return Ok(None) };
    let (parallel, decoration, meaning) = match decorated::of(object) {
        Some(d) => (d.options.parallel, d.decoration(), d.options.meaning),
        None => (Parts::NONE, Decoration::default(), None),
    };
    let says = f.getattr(intern!(f.py(), "__annotations__"))?.contains(intern!(f.py(), "return"))?;
    if decoration.checked || !says {
        return Ok(None);
    }
    func_id_as(object, &f, false, parallel, &decoration.row(), meaning).map(Some)
}
/// The same for a function of `tierup.lib`, whose globals never change.
pub(crate) fn library_func_id(f: &Bound<'_, PyFunction>) -> Result<FuncId, Failure> {
    func_id_as(f.as_any(), f, true, Parts::NONE, &Decoration::default(), None)
}

fn func_id_as(
    object: &Bound<'_, PyAny>,
    f: &Bound<'_, PyFunction>,
    library: bool,
    parallel: Parts,
    decoration: &Decoration,
    meaning: Option<Meaning>,
) -> Result<FuncId, Failure> {
    let handle = handle_of(object, f, library, (parallel, decoration.id))?;
    if let Some(id) = table().entries.get(&handle).and_then(|e| e.func) {
        return Ok(id);
    }
    let code = crate::decode::decode(f)?;
    let names = NamesOf { f };
    let mut func = build::build_with(&code, handle, parallel, &names, &decoration.locals)?;
    if decoration.result {
        func.declare_result();
    }
    let doubts: Vec<Diagnostic> = func
        .loops
        .iter()
        .flat_map(|l| &l.doubts)
        .map(|(loc, why)| Diagnostic::new(Code::ParallelRace, &**why).at(func.span(*loc)))
        .collect();
    let serial: Vec<_> = func
        .loops
        .iter()
        .filter(|_| meaning == Some(Meaning::Numba))
        .filter_map(|l| Some((func.span(l.loc), l.serial.as_deref()?.to_owned())))
        .collect();
    let id = registry::add(func);
    if decoration.checked {
        registry::choose(id);
    }
    choosers::note(object, f, id)?;
    if let Some(meaning) = meaning {
        registry::mean(id, meaning);
    }
    if decoration.declares() {
        registry::declare(id, decoration.declared.clone());
    }
    for param in &*decoration.specialised {
        registry::specialise(id, *param, false);
    }
    {
        let mut t = table();
        if let Some(e) = t.entries.get_mut(&handle) {
            e.func = Some(id);
            t.by_func.insert(id, handle);
        }
    }
    for d in doubts {
        crate::errors::warn(f.py(), &d)?;
    }
    for (at, why) in serial {
        let text = format!("this prange or pndindex loop will not be executed in parallel: {why}");
        crate::errors::warn_of_performance(f.py(), &text, &at)?;
    }
    Ok(id)
}

/// The function of a handle, and whether it belongs to the library.
pub(crate) fn function_of<'py>(py: Python<'py>, handle: u64) -> Option<(Bound<'py, PyFunction>, bool)> {
    let (function, library) = table().entries.get(&handle).map(|e| (e.function, e.library))?;
    identity::object(py, function)?.cast_into::<PyFunction>().ok().map(|f| (f, library))
}

/// The dispatcher behind a handle, if names of its function mean for good what they mean when it is compiled.
pub(crate) fn freezing(py: Python<'_>, handle: u64) -> Option<Bound<'_, PyAny>> {
    let object = table().entries.get(&handle).map(|e| e.object)?;
    let object = identity::object(py, object)?;
    let freezes = decorated::of(&object).is_some_and(|d| d.options.meaning == Some(Meaning::Numba));
    freezes.then_some(object)
}

/// The function of a handle, if it is called that and declares its types: what its own name means in it
/// before that is bound.
pub(crate) fn itself(py: Python<'_>, handle: u64, name: &str) -> Option<FuncId> {
    let (func, decorated) = table().entries.get(&handle).map(|e| (e.func, e.made.1 != 0))?;
    let (f, _) = function_of(py, handle).filter(|_| decorated)?;
    (f.getattr("__name__").ok()?.extract::<String>().ok()? == name).then_some(func)?
}

fn handle_of_id(id: FuncId) -> Option<u64> {
    table().by_func.get(&id).copied()
}

/// The number of the same library function with these parts in parallel.
pub(crate) fn in_parallel(py: Python<'_>, id: FuncId, parts: Parts) -> Option<FuncId> {
    let (f, library) = function_of(py, handle_of_id(id)?)?;
    func_id_as(f.as_any(), &f, library, parts, &Decoration::default(), None).ok()
}

/// The Python function whose code has this number.
pub(crate) fn function_of_id<'py>(py: Python<'py>, id: FuncId) -> Option<Bound<'py, PyFunction>> {
    function_of(py, handle_of_id(id)?).map(|(f, _)| f)
}

/// What Python has in the place of the function of this number ([`crate::identity`]); functions made inside
/// compiled code have none.
pub(crate) fn object_of_id(id: FuncId) -> Option<u64> {
    let t = table();
    t.by_func.get(&id).and_then(|h| t.entries.get(h)).map(|e| e.object)
}

/// A diagnostic for something that is no Python function (a class, a builtin, a C function).
pub(crate) fn not_a_function(obj: &Bound<'_, PyAny>) -> Diagnostic {
    let what = match obj.cast::<pyo3::types::PyType>() {
        Ok(class) => format!("the class {}", class.name().map_or_else(|_| "?".into(), |n| n.to_string())),
        Err(_) => wording::a(&wording::class_name(obj)),
    };
    Diagnostic::new(
        Code::UnsupportedSyntax,
        format!("cannot compile {what}: only functions written in Python can be compiled"),
    )
}

/// The default of a parameter.
pub(crate) fn default_of<'py>(
    f: &Bound<'py, PyFunction>,
    param: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Ok(d) = f.getattr("__kwdefaults__")?.cast::<PyDict>()
        && let Some(v) = d.get_item(param)?
    {
        return Ok(Some(v));
    }
    let code = f.getattr("__code__")?;
    let count: usize = code.getattr("co_argcount")?.extract()?;
    let names: Vec<String> = code.getattr("co_varnames")?.extract()?;
    let defaults = f.getattr("__defaults__")?;
    let Ok(defaults) = defaults.cast::<PyTuple>() else { return Ok(None) };
    let Some(at) = names.iter().take(count).position(|n| n == param) else { return Ok(None) };
    match (at + defaults.len()).checked_sub(count) {
        Some(i) => defaults.get_item(i).map(Some),
        None => Ok(None),
    }
}
