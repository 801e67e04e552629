//! Python objects that compiled code tells apart, each by a number that no other object gets while the
//! process runs.
//!
//! An address says which object it is only as long as the object lives. So the table that is keyed by
//! addresses holds each of its objects by a weak reference that calls back: an object is forgotten before its
//! memory can become another one, and with it what was known of it and the overloads that were compiled for
//! it. Nothing here keeps an object alive; who asks for a number has the object at hand.
//!
//! The lock is never held while Python code may run: making and dropping Python objects may start the
//! collector, which calls back here.

use crate::overload::Overload;
use crate::{dispatcher, functions, known, ufunc};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyWeakrefMethods;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, Weak};
use tierup_core::types::{Kind, Type};

/// How an object is held.
enum Hold {
    /// A weak reference to the object, or to one that lives exactly as long.
    Weak(Py<PyAny>),
    /// Of a class without weak references: kept alive for ever.
    #[allow(dead_code, reason = "keeps the object alive")]
    Strong(Py<PyAny>),
}

/// An overload that ends with an object, and the dispatcher that has it (a weak reference).
struct Dependent {
    dispatcher: Py<PyAny>,
    overload: Weak<Overload>,
}

struct Entry {
    hold: Hold,
    address: usize,
    dependents: Vec<Dependent>,
    /** Dependents that are gone are looked for when there are so many. */
    sweep_at: usize,
}

#[derive(Default)]
struct Table {
    by_address: HashMap<usize, u64>,
    by_weak: HashMap<usize, u64>,
    entries: HashMap<u64, Entry>,
    last: u64,
}
static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Default::default);

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(|e| e.into_inner())
}

/// A weak reference that calls back; none where the class has no weak references.
fn weak_reference(obj: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    static FORGET: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = obj.py();
    let forget =
        FORGET.get_or_try_init(py, || wrap_pyfunction!(forget, py).map(|f| f.into_any().unbind()))?;
    // SAFETY: both are live objects; the answer is a new reference, or null with an exception.
    let made = |of: &Bound<'_, PyAny>| unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyWeakref_NewRef(of.as_ptr(), forget.as_ptr()))
    };
    let without = |e: PyErr| if e.is_instance_of::<PyTypeError>(py) { Ok(None) } else { Err(e) };
    match made(obj) {
        Ok(w) => Ok(Some(w.unbind())),
        // NumPy's ufuncs have none; ours own something that has.
        Err(e) => match ufunc::owned_by(obj) {
            Some(owned) => made(&owned).map(|w| Some(w.unbind())).or_else(without),
            None => without(e),
        },
    }
}

/// The number of an object that has one already.
pub(crate) fn known_number(obj: &Bound<'_, PyAny>) -> Option<u64> {
    table().by_address.get(&(obj.as_ptr() as usize)).copied()
}

fn add(obj: &Bound<'_, PyAny>, hold: Hold) -> u64 {
    let address = obj.as_ptr() as usize;
    let mut t = table();
    // Making the weak reference may have run code that asked for this number.
    if let Some(n) = t.by_address.get(&address).copied() {
        drop(t);
        return n;
    }
    t.last += 1;
    let n = t.last;
    t.by_address.insert(address, n);
    if let Hold::Weak(w) = &hold {
        t.by_weak.insert(w.as_ptr() as usize, n);
    }
    t.entries.insert(n, Entry { hold, address, dependents: vec![], sweep_at: 8 });
    n
}

/// The number of an object.
pub(crate) fn number_of(obj: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Some(n) = known_number(obj) {
        return Ok(n);
    }
    let hold = match weak_reference(obj)? {
        Some(w) => Hold::Weak(w),
        None => Hold::Strong(obj.clone().unbind()),
    };
    Ok(add(obj, hold))
}

/// The number of an object that need not be kept alive for that.
pub(crate) fn number_of_mortal(obj: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if let Some(n) = known_number(obj) {
        return Ok(matches!(table().entries.get(&n), Some(Entry { hold: Hold::Weak(_), .. })).then_some(n));
    }
    Ok(weak_reference(obj)?.map(|w| add(obj, Hold::Weak(w))))
}

/// The object of a number, while it lives.
pub(crate) fn object(py: Python<'_>, number: u64) -> Option<Bound<'_, PyAny>> {
    let (address, weak) = {
        let t = table();
        let e = t.entries.get(&number)?;
        (
            e.address,
            match &e.hold {
                Hold::Weak(w) => Some(w.clone_ref(py)),
                Hold::Strong(_) => None,
            },
        )
    };
    if let Some(w) = weak {
        w.bind(py).cast::<pyo3::types::PyWeakrefReference>().ok()?.upgrade()?;
    }
    // SAFETY: what is not forgotten lives, and no Python code has run since that was asked.
    Some(unsafe { Bound::from_borrowed_ptr(py, address as *mut ffi::PyObject) })
}

/// Where the object of a number lies, to compare with; null when it is gone. Whoever keeps this clears it
/// when told ([`Overload::part`]).
pub(crate) fn address(number: u64) -> *mut ffi::PyObject {
    table().entries.get(&number).map_or(std::ptr::null_mut(), |e| e.address as *mut ffi::PyObject)
}

/// The objects that a type is about: functions, classes and modules, each of which is the only object of its
/// type.
pub(crate) fn objects_of(t: Type, found: &mut Vec<u64>) {
    let here = match t.kind() {
        Kind::Function(f) => functions::object_of_id(f.func),
        Kind::NamedTuple(c, _) | Kind::NamedTupleClass(c) | Kind::ExcClass(c) | Kind::Class(c) => {
            c.handle().and_then(known::object_of_class)
        }
        Kind::Module(m) => known::object_of_module(m),
        _ => None,
    };
    if let Some(n) = here
        && !found.contains(&n)
    {
        found.push(n);
    }
    t.arguments().iter().for_each(|c| objects_of(c, found));
}

/// Has an overload end with any of these objects; false when one of them has gone already.
pub(crate) fn end_with(numbers: &[u64], dispatcher: &Bound<'_, PyAny>, overload: &Arc<Overload>) -> bool {
    let references: Vec<Py<PyAny>> = numbers.iter().map(|_| dispatcher.clone().unbind()).collect();
    let mut gone = vec![];
    let mut all = true;
    {
        let mut t = table();
        for (n, dispatcher) in numbers.iter().zip(references) {
            let Some(e) = t.entries.get_mut(n) else {
                all = false;
                gone.push(Dependent { dispatcher, overload: Weak::new() });
                continue;
            };
            if e.dependents.len() >= e.sweep_at {
                let (kept, dead) = std::mem::take(&mut e.dependents)
                    .into_iter()
                    .partition::<Vec<_>, _>(|d| d.overload.strong_count() > 0);
                e.sweep_at = (2 * kept.len()).max(8);
                e.dependents = kept;
                gone.extend(dead);
            }
            e.dependents.push(Dependent { dispatcher, overload: Arc::downgrade(overload) });
        }
    }
    drop(gone);
    all
}

/// Called by a weak reference: forgets its object, with all that was known of it.
#[pyfunction]
fn forget(weak: &Bound<'_, PyAny>) {
    let (number, entry) = {
        let mut t = table();
        let Some(n) = t.by_weak.remove(&(weak.as_ptr() as usize)) else { return };
        let Some(e) = t.entries.remove(&n) else { return };
        t.by_address.remove(&e.address);
        (n, e)
    };
    for d in &entry.dependents {
        if let Some(o) = d.overload.upgrade() {
            o.part();
        }
    }
    functions::forget(number);
    known::forget(number);
    for d in &entry.dependents {
        let Some(o) = d.overload.upgrade() else { continue };
        let owner = d
            .dispatcher
            .bind(weak.py())
            .cast::<pyo3::types::PyWeakrefReference>()
            .ok()
            .and_then(|w| w.upgrade());
        if let Some(core) = owner.as_ref().and_then(dispatcher::core) {
            core.forget(o);
        }
    }
}
