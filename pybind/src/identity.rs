//! Python objects that compiled code tells apart, each by a number that no other object gets while the
//! process runs.
//!
//! An address says which object it is only as long as the object lives. So the table that is keyed by
//! addresses holds each of its objects by a weak reference that calls back: an object is forgotten before its
//! memory can become another one, and with it what was known of it and the overloads that were compiled for
//! it. Nothing here keeps an object alive; who asks for a number has the object at hand.
//!
//! This is below all that knows something of objects: who does says so ([`install`], [`Dependent`]).
//!
//! The lock is never held while Python code may run: making and dropping Python objects may start the
//! collector, which calls back here.

use crate::once::Once;
use crate::ufunc::object::owned_by;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyWeakrefMethods;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, Weak};

/// How an object is held.
enum Hold {
    /// A weak reference to the object, or to one that lives exactly as long.
    Weak(Py<PyAny>),
    /// Of a class without weak references: kept alive for ever.
    #[allow(dead_code, reason = "keeps the object alive")]
    Strong(Py<PyAny>),
}

/// What ends with the objects that it was made for: an overload.
pub(crate) trait Dependent: Send + Sync {
    /// One of the objects is gone, and what was known of it will be: no address of theirs is compared with
    /// any more.
    fn part(&self);
    /// Leaves the Python object that has it.
    fn leave(self: Arc<Self>, owner: &Bound<'_, PyAny>);
}

/// A dependent of an object, and a weak reference to what has it.
struct Link {
    owner: Py<PyAny>,
    dependent: Weak<dyn Dependent>,
}

struct Entry {
    hold: Hold,
    address: usize,
    dependents: Vec<Link>,
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
    static FORGET: Once<Py<PyAny>> = Once::new();
    let py = obj.py();
    let forget = FORGET.get_or_try_init(|| wrap_pyfunction!(forget, py).map(|f| f.into_any().unbind()))?;
    // SAFETY: both are live objects; the answer is a new reference, or null with an exception.
    let made = |of: &Bound<'_, PyAny>| unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyWeakref_NewRef(of.as_ptr(), forget.as_ptr()))
    };
    let without = |e: PyErr| if e.is_instance_of::<PyTypeError>(py) { Ok(None) } else { Err(e) };
    match made(obj) {
        Ok(w) => Ok(Some(w.unbind())),
        // NumPy's ufuncs have none; ours own something that has.
        Err(e) => match owned_by(obj) {
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
/// when told ([`Dependent::part`]).
pub(crate) fn address(number: u64) -> *mut ffi::PyObject {
    table().entries.get(&number).map_or(std::ptr::null_mut(), |e| e.address as *mut ffi::PyObject)
}

/// Has a dependent of `owner` end with any of these objects; false when one of them has gone already.
pub(crate) fn end_with<D: Dependent + 'static>(
    numbers: &[u64],
    owner: &Bound<'_, PyAny>,
    dependent: &Arc<D>,
) -> bool {
    let links: Vec<Link> = numbers
        .iter()
        .map(|_| Link { owner: owner.clone().unbind(), dependent: Arc::downgrade(dependent) as Weak<_> })
        .collect();
    let mut gone = vec![];
    let mut all = true;
    {
        let mut t = table();
        for (n, link) in numbers.iter().zip(links) {
            let Some(e) = t.entries.get_mut(n) else {
                all = false;
                gone.push(link);
                continue;
            };
            if e.dependents.len() >= e.sweep_at {
                let (kept, dead) = std::mem::take(&mut e.dependents)
                    .into_iter()
                    .partition::<Vec<_>, _>(|l| l.dependent.strong_count() > 0);
                e.sweep_at = (2 * kept.len()).max(8);
                e.dependents = kept;
                gone.extend(dead);
            }
            e.dependents.push(link);
        }
    }
    drop(gone);
    all
}

/// Who knows something of objects by their numbers, each with the function that forgets one.
static KNOWN_BY: OnceLock<&'static [fn(u64)]> = OnceLock::new();

/// Says who that is.
pub(crate) fn install(known_by: &'static [fn(u64)]) {
    KNOWN_BY.get_or_init(|| known_by);
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
    for d in entry.dependents.iter().filter_map(|l| l.dependent.upgrade()) {
        d.part();
    }
    for forget in KNOWN_BY.get().into_iter().copied().flatten() {
        forget(number);
    }
    for l in &entry.dependents {
        let Some(d) = l.dependent.upgrade() else { continue };
        let owner =
            l.owner.bind(weak.py()).cast::<pyo3::types::PyWeakrefReference>().ok().and_then(|w| w.upgrade());
        if let Some(owner) = owner {
            d.leave(&owner);
        }
    }
}
