//! Python functions that the compiler has seen: one number in `core::ssa::registry` for each function object and its code.
//!
//! The table holds functions weakly, so a closure made in a loop can die; the entries of dead ones are swept as the table grows. Whoever
//! needs a function alive (a dispatcher, a guard of an overload) holds it itself.

use crate::dispatcher;
use crate::errors::Failure;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyFunction, PyString, PyType};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard};
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::infer::session;
use tierup_core::ssa::opt::parallel::{Names, Root};
use tierup_core::ssa::{FuncId, Parts, build, registry};
use tierup_core::types::{Kind, Type};

struct Entry {
    /// A `weakref.ref` to the function.
    weak: Py<PyAny>,
    /// Address of the function's code object when it was decoded; `f.__code__ = …` makes it another function.
    code: usize,
    address: usize,
    func: Option<FuncId>,
    library: bool,
    parallel: Parts,
}

#[derive(Default)]
struct Table { by_address: HashMap<(usize, Parts), u64>, entries: HashMap<u64, Entry>, next: u64, sweep_at: usize }
static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(|| Mutex::new(Table { next: 1, sweep_at: 256, ..Table::default() }));

fn table() -> MutexGuard<'static, Table> { TABLE.lock().unwrap_or_else(|e| e.into_inner()) }

/// The Python function behind a plain function, a dispatcher, or an object whose class names what compiled code calls in its place (`_tierup_function_`).
pub fn python_function<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyFunction>> {
    if let Ok(f) = obj.cast::<PyFunction>() { return Some(f.clone()); }
    if let Some(f) = dispatcher::py_func(obj) { return f.cast_into::<PyFunction>().ok(); }
    let name = pyo3::intern!(obj.py(), "_tierup_function_");
    // A look at the class, so that nothing of the user's runs for objects of other classes.
    if !obj.get_type().hasattr(name).unwrap_or(false) { return None; }
    match obj.getattr(name) {
        Ok(f) => f.cast_into::<PyFunction>().ok(),
        Err(e) => {
            // Making it is ours; that it fails is a bug, which must not pass for an object without a function.
            e.write_unraisable(obj.py(), Some(obj));
            None
        }
    }
}

/// Whether a class or a class that it is made of comes from these modules.
fn is_from(class: &Bound<'_, PyType>, modules: &[&str]) -> bool {
    class.mro().iter().any(|c| c.getattr("__module__").is_ok_and(|m| m.cast::<PyString>().is_ok_and(|m| m.to_str().is_ok_and(|m| modules.contains(&m)))))
}

/// The Python function that calls a function of C, or whose attributes are those of a library of C functions; none for other objects.
pub fn function_of_c<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyFunction>>> {
    let class = obj.get_type();
    // What may be one is told by its class, so that the module that knows more is loaded for these alone.
    let cython = matches!(class.name()?.to_str()?, "cython_function_or_method" | "fused_cython_function");
    // Functions of modules that cffi has compiled are built-in ones to Python, bound to the object that is their library.
    let bound = obj.cast::<PyCFunction>().ok().and_then(|f| f.getattr("__self__").ok()).is_some_and(|of| is_from(&of.get_type(), &["_cffi_backend"]));
    if !cython && !bound && !is_from(&class, &["_ctypes", "ctypes", "_cffi_backend", "cffi.api"]) { return Ok(None); }
    Ok(obj.py().import("tierup._foreign")?.getattr("function_for")?.call1((obj,))?.cast_into::<PyFunction>().ok())
}

fn code_address(f: &Bound<'_, PyFunction>) -> usize {
    // SAFETY: `f` is a function object; the reference is only compared.
    unsafe { ffi::PyFunction_GetCode(f.as_ptr()) as usize }
}

/// The handle of a function, by which the compiler asks for its globals. With other parts in parallel it is another function.
fn handle_of(f: &Bound<'_, PyFunction>, library: bool, parallel: Parts) -> PyResult<u64> {
    let (address, code) = (f.as_ptr() as usize, code_address(f));
    // An entry is this function's if its code is the same object and it is alive: a new function may have taken a dead one's address.
    let known = {
        let t = table();
        t.by_address.get(&(address, parallel)).and_then(|h| t.entries.get(h).map(|e| (*h, e.code, e.weak.clone_ref(f.py()))))
    };
    if let Some((h, old_code, weak)) = known && old_code == code && weak.bind(f.py()).call0()?.is(f) { return Ok(h); }
    sweep(f.py())?;
    let weak = f.py().import("weakref")?.getattr("ref")?.call1((f,))?.unbind();
    let mut t = table();
    let handle = t.next;
    t.next += 1;
    t.by_address.insert((address, parallel), handle);
    t.entries.insert(handle, Entry { weak, code, address, func: None, library, parallel });
    Ok(handle)
}

/// Forgets functions that have died, when the table has doubled since the last time.
fn sweep(py: Python<'_>) -> PyResult<()> {
    let candidates: Vec<(u64, Py<PyAny>)> = {
        let t = table();
        if t.entries.len() < t.sweep_at { return Ok(()); }
        t.entries.iter().map(|(h, e)| (*h, e.weak.clone_ref(py))).collect()
    };
    let mut dead = vec![];
    for (h, weak) in candidates { if weak.bind(py).call0()?.is_none() { dead.push(h); } }
    let mut removed = vec![];
    let mut t = table();
    for h in dead {
        if let Some(e) = t.entries.remove(&h) {
            if t.by_address.get(&(e.address, e.parallel)) == Some(&h) { t.by_address.remove(&(e.address, e.parallel)); }
            removed.push((h, e));
        }
    }
    t.sweep_at = (2 * t.entries.len()).max(256);
    drop(t);
    for (h, _) in &removed { registry::remove(*h).into_iter().for_each(session::forget); }
    Ok(())
}

/// The number of a Python function in the compiler, decoded at the first request; and what of it is parallel.
pub fn func_id(f: &Bound<'_, PyFunction>, parallel: Parts) -> Result<FuncId, Failure> { func_id_as(f, false, parallel) }
/// The number of the function behind a plain function or a dispatcher, made as that says.
pub fn func_id_of(obj: &Bound<'_, PyAny>, f: &Bound<'_, PyFunction>) -> Result<FuncId, Failure> { func_id(f, dispatcher::core(obj).map_or(Parts::NONE, |c| c.options.parallel)) }
/// The same for a function of `tierup.lib`, whose globals never change.
pub fn library_func_id(f: &Bound<'_, PyFunction>) -> Result<FuncId, Failure> { func_id_as(f, true, Parts::NONE) }

fn func_id_as(f: &Bound<'_, PyFunction>, library: bool, parallel: Parts) -> Result<FuncId, Failure> {
    let handle = handle_of(f, library, parallel)?;
    if let Some(id) = table().entries.get(&handle).and_then(|e| e.func) { return Ok(id); }
    let code = crate::decode::decode(f.getattr("__code__")?.as_any())?;
    let names = PrangeNames { f };
    let func = build::build_with(&code, handle, parallel, &names)?;
    let doubts: Vec<Diagnostic> = func.loops.iter().flat_map(|l| &l.doubts).map(|(loc, why)| Diagnostic::new(Code::ParallelRace, &**why).at(func.span(*loc))).collect();
    let id = registry::add(func);
    if let Some(e) = table().entries.get_mut(&handle) { e.func = Some(id); }
    for d in doubts { crate::errors::warn(f.py(), &d)?; }
    Ok(id)
}

/// What names mean in a function while it is read.
struct PrangeNames<'a, 'py> { f: &'a Bound<'py, PyFunction> }

impl Names for PrangeNames<'_, '_> {
    fn is_ours(&self, root: Root<'_>, attributes: &[&str], name: &str) -> bool {
        let find = || -> PyResult<bool> {
            let mut at = self.object(root)?;
            for a in attributes { at = at.getattr(*a)?; }
            is_ours(&at, name)
        };
        find().unwrap_or(false)
    }

    fn is_module(&self, root: Root<'_>, name: &str) -> bool {
        let find = || -> PyResult<bool> { Ok(self.object(root)?.is(&self.f.py().import("sys")?.getattr("modules")?.get_item(name)?)) };
        find().unwrap_or(false)
    }

    fn is_builtin(&self, name: &str) -> bool {
        let find = || -> PyResult<bool> { Ok(!self.f.getattr("__globals__")?.cast_into::<pyo3::types::PyDict>()?.contains(name)? && self.f.py().import("builtins")?.hasattr(name)?) };
        find().unwrap_or(false)
    }
}

impl<'py> PrangeNames<'_, 'py> {
    fn object(&self, root: Root<'_>) -> PyResult<Bound<'py, PyAny>> {
        match root {
            Root::Global(name) => self.f.getattr("__globals__")?.get_item(name),
            Root::Free(n) => self.f.getattr("__closure__")?.get_item(n as usize)?.getattr("cell_contents"),
        }
    }
}

/// The function of a handle, and whether it belongs to the library.
pub fn function_of<'py>(py: Python<'py>, handle: u64) -> Option<(Bound<'py, PyFunction>, bool)> {
    let (weak, library) = table().entries.get(&handle).map(|e| (e.weak.clone_ref(py), e.library))?;
    let f = weak.bind(py).call0().ok()?;
    f.cast_into::<PyFunction>().ok().map(|f| (f, library))
}

/// The number of the same library function with these parts in parallel.
pub fn in_parallel(py: Python<'_>, id: FuncId, parts: Parts) -> Option<FuncId> {
    let handle = table().entries.iter().find(|(_, e)| e.func == Some(id)).map(|(h, _)| *h)?;
    let (f, library) = function_of(py, handle)?;
    func_id_as(&f, library, parts).ok()
}

/// The Python function whose code has this number, for results that are functions.
pub fn function_of_id<'py>(py: Python<'py>, id: FuncId) -> Option<Bound<'py, PyFunction>> {
    let handle = table().entries.iter().find(|(_, e)| e.func == Some(id)).map(|(h, _)| *h)?;
    function_of(py, handle).map(|(f, _)| f)
}

/// Whether Python has a function object of this number; functions made inside compiled code have none.
pub fn has_object(id: FuncId) -> bool { table().entries.values().any(|e| e.func == Some(id)) }

/// Whether this is what the package has under a name: `prange`.
pub fn is_ours(obj: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let Ok(module) = obj.py().import("sys")?.getattr("modules")?.get_item("tierup") else { return Ok(false) };
    Ok(module.getattr(name).is_ok_and(|p| p.is(obj)))
}

/// The scalar type that an object of `tierup.types` stands for (`tierup.float64` as a cast or dtype in compiled code).
pub fn scalar_type_object(obj: &Bound<'_, PyAny>) -> PyResult<Option<Type>> {
    let Ok(text) = obj.getattr(pyo3::intern!(obj.py(), "_tierup_type_")) else { return Ok(None) };
    let Ok(text) = text.cast::<PyString>() else { return Ok(None) };
    let Ok(t) = tierup_core::types::parse::parse(text.to_str()?) else { return Ok(None) };
    Ok(matches!(*t, Kind::Bool | Kind::Int(_) | Kind::Float(_) | Kind::Complex(_)).then_some(t))
}

/// A diagnostic for something that is no Python function (a class, a builtin, a C function).
pub fn not_a_function(obj: &Bound<'_, PyAny>) -> Diagnostic {
    let what = match obj.cast::<pyo3::types::PyType>() {
        Ok(class) => format!("the class {}", class.name().map_or_else(|_| "?".into(), |n| n.to_string())),
        Err(_) => crate::value::a(&crate::value::class_name(obj)),
    };
    Diagnostic::new(Code::UnsupportedSyntax, format!("cannot compile {what}: only functions written in Python can be compiled"))
}
