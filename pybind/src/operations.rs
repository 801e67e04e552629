//! Python objects that the compiler knows by themselves: those that rows of the operation table name, and
//! those of the package. They live as long as the process.

use pyo3::prelude::*;
use pyo3::types::{PyModule, PyString};
use std::collections::{BTreeSet, HashMap};
use std::sync::{LazyLock, Mutex, MutexGuard};
use tierup_core::ops::{self, OpId, id};
use tierup_core::types::{Kind, Type};

/// A Python object's address; only ever compared.
type Id = usize;

fn address(obj: &Bound<'_, PyAny>) -> Id {
    obj.as_ptr() as usize
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}

#[derive(Default)]
struct Paths {
    /// Object to operation. The objects are kept alive by `objects`.
    by_id: HashMap<Id, OpId>,
    objects: HashMap<OpId, Py<PyAny>>,
    scanned: BTreeSet<&'static str>,
}
static PATHS: LazyLock<Mutex<Paths>> = LazyLock::new(Default::default);

/// Modules that NumPy or Tierup load when somebody asks for them. Nobody must ask in order to find out what
/// an object is.
const LOADED_LATER: [&str; 11] = [
    "numpy.random",
    "numpy.char",
    "numpy.strings",
    "numpy.linalg",
    "numpy.fft",
    "numpy.polynomial",
    "tierup.cuda",
    "tierup.par",
    "tierup.simd",
    "tierup.typed",
    "tierup.types",
];

/// What lies in another module than its path says: what Tierup loads when somebody asks for it, and what is in a module
/// by whose name methods are called.
const LIES_IN: [(OpId, &str); 3] =
    [(id::TIERUP_STENCIL, "tierup._stencil"), (id::ARRAYS_ARRAY, "array"), (id::TEXTS_TEMPLATE, "string")];

/// Whether an operation is in a module of that name.
fn is_in_module(op: OpId, root: &str) -> bool {
    may_be_module(root) || LIES_IN.iter().any(|(o, _)| *o == op)
}

/// The module that a row of the operation table lives in, and the rest of its path.
fn module_and_rest(path: &'static str) -> Option<(&'static str, &'static str)> {
    if let Some((_, module)) = LIES_IN.iter().find(|(op, _)| op.name() == path) {
        return Some((module, path.rsplit('.').next()?));
    }
    let later = LOADED_LATER.iter().find_map(|m| Some((*m, path.strip_prefix(m)?.strip_prefix('.')?)));
    later.or_else(|| path.split_once('.'))
}

/// Modules that rows of the operation table live in.
static ROOTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut roots: Vec<_> = ops::all().filter_map(|op| module_and_rest(op.name()).map(|(m, _)| m)).collect();
    roots.sort_unstable();
    roots.dedup();
    roots
});

/// `array` and `string` are prefixes of method rows as well as modules of the standard library.
fn may_be_module(root: &str) -> bool {
    !matches!(root, "array" | "string")
}

/// Imports a module that rows of the operation table live in, for code that says `import`.
pub(crate) fn import(py: Python<'_>, name: &str) -> Option<&'static str> {
    let root = ROOTS.iter().find(|r| **r == name)?;
    let module = py.import(*root).ok()?;
    scan_new_modules(py).ok()?;
    // What is called as a class of ours is, and has none of its methods, is another module.
    let has_row = |op: OpId| {
        let rest = module_and_rest(op.name()).filter(|(m, _)| m == root && is_in_module(op, root));
        rest.is_some_and(|(_, rest)| module.hasattr(rest).unwrap_or(false))
    };
    ops::all().any(has_row).then_some(*root)
}

/// The operation of the table that an object means.
pub(crate) fn operation_of(obj: &Bound<'_, PyAny>) -> PyResult<Option<OpId>> {
    if let Some(p) = lock(&PATHS).by_id.get(&address(obj)) {
        return Ok(Some(*p));
    }
    scan_new_modules(obj.py())?;
    Ok(lock(&PATHS).by_id.get(&address(obj)).copied())
}

/// The object that means an operation, for results that are functions or classes.
pub(crate) fn object_of(py: Python<'_>, op: OpId) -> PyResult<Option<Py<PyAny>>> {
    scan_new_modules(py)?;
    Ok(lock(&PATHS).objects.get(&op).map(|o| o.clone_ref(py)))
}

/// Whether the import of a module has begun and not ended: extensions are loaded in the midst of others.
fn is_being_imported(module: &Bound<'_, PyAny>) -> bool {
    let says = || module.getattr("__spec__")?.getattr("_initializing")?.is_truthy();
    says().unwrap_or(false)
}

/// Looks up the rows of those modules that have been imported since the last time.
fn scan_new_modules(py: Python<'_>) -> PyResult<()> {
    let modules = py.import("sys")?.getattr("modules")?;
    for root in ROOTS.iter() {
        if lock(&PATHS).scanned.contains(root) {
            continue;
        }
        let Ok(module) = modules.get_item(root) else { continue };
        if !module.is_instance_of::<PyModule>() {
            continue;
        }
        let rows: Vec<(OpId, &'static str)> = ops::all()
            .filter(|p| is_in_module(*p, root))
            .filter_map(|p| module_and_rest(p.name()).filter(|(m, _)| m == root).map(|(_, rest)| (p, rest)))
            .collect();
        let mut found = vec![];
        for (op, rest) in rows {
            let object = rest.split('.').try_fold(module.clone(), |at, name| at.getattr(name));
            // A row for another version of the module than this one has no object.
            if let Ok(o) = object {
                found.push((op, o));
            }
        }
        let mut table = lock(&PATHS);
        for (op, o) in found {
            // Where several paths of one row name one object (`numpy.abs`, `numpy.absolute`), any of them
            // will do.
            table.by_id.entry(address(&o)).or_insert(op);
            table.objects.insert(op, o.unbind());
        }
        // What is imported still may get more names.
        if !is_being_imported(&module) {
            table.scanned.insert(root);
        }
    }
    Ok(())
}

/// The operation that an object of the package stands for, where no row of the table has it under its path.
pub(crate) fn ours(obj: &Bound<'_, PyAny>) -> PyResult<Option<OpId>> {
    let Ok(module) = obj.py().import("sys")?.getattr("modules")?.get_item("tierup") else { return Ok(None) };
    for (name, op) in [("prange", id::TIERUP_PRANGE), ("pndindex", id::TIERUP_PNDINDEX)] {
        if module.getattr(name).is_ok_and(|p| p.is(obj)) {
            return Ok(Some(op));
        }
    }
    Ok(None)
}

/// The type that an object of `tierup.types` stands for: `tierup.float64` as a cast or dtype in compiled code,
/// others as what typed containers are made of there.
pub(crate) fn type_object(obj: &Bound<'_, PyAny>) -> PyResult<Option<Type>> {
    let Ok(text) = obj.getattr(intern!(obj.py(), "_tierup_type_")) else { return Ok(None) };
    let Ok(text) = text.cast::<PyString>() else { return Ok(None) };
    let Ok(t) = tierup_core::types::parse::parse(text.to_str()?) else { return Ok(None) };
    Ok(is_said(t).then_some(t))
}

/// Whether a type can be named by compiled code.
fn is_said(t: Type) -> bool {
    let is_one = t.number().is_some()
        || matches!(
            *t,
            Kind::Str | Kind::Bytes | Kind::Array(_) | Kind::Tuple(_) | Kind::List(_) | Kind::Container(..)
        );
    is_one && t.arguments().iter().all(is_said)
}
