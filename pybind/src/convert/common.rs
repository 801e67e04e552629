//! What files of containers and of objects share: the type of what lies together, whether helpers raised, bytes that
//! are compared, containers that other threads change.

use super::protocol::{Class, Frame, Obj};
use super::recognise::{self, Records};
use crate::gil::attached;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use std::mem::MaybeUninit;
use tierup_core::layout::ThreadCtx;
use tierup_core::types::constructor::common_constructor;
use tierup_core::types::{Container, Kind, NumberType, Type, promote};

/// Whether an object behind one of the class `last` cannot change the type `held` of what was met so far: of floats,
/// strings and bools there is one type each, of ints one up to 63 bits.
///
/// # Safety
/// The object is live and of that class; the thread is attached.
pub(super) unsafe fn is_as_before(x: Obj, class: Class, last: Class, held: Type) -> bool {
    if class != last {
        return false;
    }
    if class == &raw mut ffi::PyLong_Type {
        let mut overflow = 0;
        // SAFETY: an int, of which no error comes.
        unsafe { ffi::PyLong_AsLongLongAndOverflow(x, &mut overflow) };
        return overflow == 0 && (held == Type::int() || held == Type::float());
    }
    class == &raw mut ffi::PyFloat_Type
        || class == &raw mut ffi::PyUnicode_Type
        || class == &raw mut ffi::PyBool_Type
}

/// Whether values of a type are instances of a class of the user's that is no tuple.
fn is_instance(t: Type) -> bool {
    matches!(*t, Kind::Frozen(..) | Kind::Object(..) | Kind::Member(_))
}

/// The type that holds elements of both: what elements are converted to, no more.
pub(super) fn common_type(a: Type, b: Type) -> Option<Type> {
    if a == b || *b == Kind::Never {
        return Some(a);
    }
    if *a == Kind::Never {
        return Some(b);
    }
    let rank = |t: Type| match t.number().filter(|_| *t == Kind::Bool || t.is_weak())? {
        NumberType::Bool => Some(0),
        NumberType::Int(_) => Some(1),
        NumberType::Float(_) => Some(2),
        NumberType::Complex(_) => Some(3),
    };
    if let (Some(x), Some(y)) = (rank(a), rank(b)) {
        // It shows True and not 1.
        if (x == 0) != (y == 0) && recognise::records() == Records::Exact {
            return None;
        }
        let holds = x > y || x == y && a == Type::big_int();
        return Some(if holds { a } else { b });
    }
    let beneath = |t: Type, other: Type| if other.is_number() { t.beneath_member() } else { t };
    if (beneath(a, b), beneath(b, a)) != (a, b) {
        return common_type(beneath(a, b), beneath(b, a));
    }
    match (a.kind(), b.kind()) {
        (
            Kind::Tuple(_)
            | Kind::NamedTuple(..)
            | Kind::Frozen(..)
            | Kind::Member(_)
            | Kind::Array(_)
            | Kind::List(_)
            | Kind::Container(..)
            | Kind::Optional(_),
            _,
        ) if let Some(c) = common_constructor(a, b) => {
            let members = a.arguments().iter().zip(b.arguments().iter()).enumerate();
            let common = |(k, (x, y)): (usize, (Type, Type))| {
                if x != y && promote::forgets(a, k) { Some(Type::none()) } else { common_type(x, y) }
            };
            let members = members.map(common).collect::<Option<Vec<_>>>()?;
            Some(c.with_arguments(&members))
        }
        // Tuples of different lengths.
        (
            Kind::Tuple(_) | Kind::Container(Container::Tuple, _),
            Kind::Tuple(_) | Kind::Container(Container::Tuple, _),
        ) => promote::unify(a, b),
        (Kind::Optional(x), _) => common_type(*x, b).map(Type::optional),
        (_, Kind::Optional(y)) => common_type(a, *y).map(Type::optional),
        (Kind::None, _) => Some(Type::optional(b)),
        (_, Kind::None) => Some(Type::optional(a)),
        // Functions, classes and instances: one of several.
        _ if a.leaf_count() == 0 && b.leaf_count() == 0
            || is_instance(a) && is_instance(b)
            || matches!(*a, Kind::Variant(_)) =>
        {
            tierup_core::types::promote::unify(a, b)
        }
        _ => None,
    }
}

/// Whether the helpers that were called have raised nothing; else the frame knows what.
///
/// # Safety
/// The context is this thread's, which is attached.
pub(super) unsafe fn succeeded(ctx: *mut ThreadCtx, frame: &mut Frame) -> Option<()> {
    // SAFETY: as required of the caller.
    unsafe {
        let Some(e) = tierup_runtime::exc::take_pending(ctx) else { return Some(()) };
        let e = attached(|py| crate::exc::raise(py, e.into_raw(), pyo3::types::PyDict::new(py).as_any()));
        frame.extra().failure = Some(e.into());
        None
    }
}

/// # Safety
/// All of the bytes are initialised.
pub(super) unsafe fn initialised(bytes: &[MaybeUninit<u8>]) -> &[u8] {
    // SAFETY: as required of the caller.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}

/// What comes of going through a container item by item. Without a GIL another thread may change it in between, of
/// which Python's iterators complain: then it is gone through again.
pub(super) fn undisturbed<'py, R>(of: &Bound<'py, PyAny>, go: impl Fn() -> PyResult<R>) -> PyResult<R> {
    const TRIES: usize = 1000;
    let mut tried = 0;
    loop {
        let found = with_critical_section(of, &go);
        let disturbed = |e: &PyErr| {
            e.is_instance_of::<PyRuntimeError>(of.py()) || e.is_instance_of::<PyKeyError>(of.py())
        };
        match found {
            Err(e) if cfg!(Py_GIL_DISABLED) && tried < TRIES && disturbed(&e) => tried += 1,
            found => return found,
        }
    }
}
