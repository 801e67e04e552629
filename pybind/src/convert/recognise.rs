//! What the recognition of all objects shares: classes of the user's that change what a built-in class does,
//! and refusals with a way out.

use crate::errors::Failure;
use crate::{overrides, wording};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::infer::state::DEEPEST;
use tierup_core::ops::id;
use tierup_core::types::{Container, Kind, Type};

/// The type of an argument, if it says of what its containers are.
pub(crate) fn known(t: Type) -> Result<Type, Failure> {
    /// What is not known, and how it can be.
    fn unknown(t: Type) -> Option<[&'static str; 2]> {
        let empty = t.arguments().iter().any(|t| *t == Kind::Never);
        if empty && let Kind::List(_) = *t {
            return Some([
                "element type of an empty list",
                "call the function with a list that has elements first, or pass an array",
            ]);
        }
        if empty && let Some((which, _)) = t.container() {
            return Some(match which {
                Container::Set | Container::FrozenSet => {
                    ["element type of an empty set", "call the function with a set that has elements first"]
                }
                Container::Tuple => [
                    "type of the members of an empty tuple",
                    "call the function with a tuple that has members first",
                ],
                Container::Deque => [
                    "element type of an empty deque",
                    "call the function with a deque that has elements first, or make it there",
                ],
                Container::Dict
                | Container::DefaultDict
                | Container::Counter
                | Container::OrderedDict
                | Container::Keys
                | Container::Values
                | Container::Items
                | Container::ByteArray => [
                    "types of keys and values of an empty dict",
                    "call the function with a dict that has entries first",
                ],
            });
        }
        if let Kind::List(_) | Kind::Container(..) | Kind::Optional(_) | Kind::Frozen(..) = *t {
            return t.arguments().iter().find_map(unknown);
        }
        t.members()?.iter().find_map(|t| unknown(*t))
    }
    unknown(t).map_or(Ok(t), |[what, way_out]| Err(unknown_elements(what, way_out)))
}

pub(crate) fn unknown_elements(what: &str, way_out: &str) -> Failure {
    let verb = if what.starts_with("types") { "are" } else { "is" };
    Diagnostic::new(Code::UnknownElementType, format!("the {what} argument {verb} not known"))
        .help(way_out)
        .into()
}

/// Whether an object is a class that is being made, or of one: it has no method resolution order yet, so nothing can be
/// looked up in it.
pub(crate) fn is_being_made(obj: &Bound<'_, PyAny>) -> bool {
    let at = obj.as_ptr();
    // SAFETY: a live object and its class, of which fields are read; a class is a type object.
    unsafe {
        (*ffi::Py_TYPE(at)).tp_mro.is_null()
            || ffi::PyType_Check(at) != 0 && (*at.cast::<ffi::PyTypeObject>()).tp_mro.is_null()
    }
}

/// An argument that cannot be taken, and what to pass instead.
pub(crate) fn unsupported(text: impl Into<String>, way_out: &str) -> Failure {
    Diagnostic::new(Code::UnsupportedArgument, text).help(way_out).into()
}

/// A class of the user's that changes what the built-in class below it does: to compiled code its instances
/// would be that class's.
pub(crate) fn refuse_overriding(obj: &Bound<'_, PyAny>) -> Result<(), Failure> {
    let Some((base, method)) = overrides::overridden(obj) else { return Ok(()) };
    let class = wording::class_name(obj);
    let name = base.name()?;
    let way_out = if method == "__getattribute__" {
        "pass the values that the function needs from it".to_string()
    } else {
        format!("pass {name}(x), or give {method} to a function that compiled code calls")
    };
    Err(Diagnostic::new(
        Code::UnsupportedArgument,
        format!(
            "compiled code cannot take {}, {} with {method} of its own, which would be passed over",
            wording::a(&class),
            wording::a(&name.to_string())
        ),
    )
    .help(way_out)
    .into())
}

/// An instance with an attribute of its own in front of a method or constant of its class.
pub(crate) fn refuse_hiding(obj: &Bound<'_, PyAny>, fields: &[String]) -> Result<(), Failure> {
    let Some(name) = overrides::hidden(obj, fields)? else { return Ok(()) };
    let class = wording::a(&wording::class_name(obj));
    let text = format!(
        "compiled code cannot take {class} that has an attribute '{name}' of its own, which stands in front of that of its class"
    );
    Err(unsupported(text, "make it a field, or give it another name"))
}

/// What to pass instead of an object that has no type.
pub(crate) fn way_out(obj: &Bound<'_, PyAny>) -> &'static str {
    let class = wording::class_name(obj);
    // Of the class: to ask an object runs its code.
    let has = |name: &str| obj.get_type().hasattr(name).unwrap_or(false);
    match class.as_str() {
        "numpy.float16" | "numpy.longdouble" | "fractions.Fraction" | "decimal.Decimal" => "pass float(x)",
        "numpy.clongdouble" => "pass complex(x)",
        "bytes" | "bytearray" | "memoryview" => "pass np.frombuffer(x, np.uint8), an array of its bytes",
        "generator" | "array.array" | "map" | "filter" | "zip" => "pass list(x) or np.array(list(x))",
        "numpy.void" => "pass its fields one by one",
        c if c == "method" || c == id::FUNCTOOLS_PARTIAL.name() => {
            "pass a function written in Python, or call it outside"
        }
        c if c.starts_with("pandas.") || c.starts_with("polars.") || c.starts_with("xarray.") => {
            "pass x.to_numpy()"
        }
        c if c.starts_with("torch.") => {
            "pass x.detach().cpu().numpy(), which copies nothing of a tensor on the CPU"
        }
        "pyarrow.lib.Table" | "pyarrow.lib.RecordBatch" => "pass its columns, each by to_numpy()",
        "pyarrow.lib.ChunkedArray" => "pass x.to_numpy()",
        c if c.starts_with("pyarrow.") && has("to_numpy") => {
            "pass x.to_numpy(zero_copy_only=False), which copies nothing of numbers without nulls"
        }
        "awkward.highlevel.Array" => {
            "pass ak.to_numpy(x), and of lists of many lengths ak.to_numpy(ak.flatten(x)) and ak.to_numpy(ak.num(x))"
        }
        _ if obj.is_instance_of::<PyDict>() => "pass dict(x)",
        _ if has("__dlpack__") => "pass np.from_dlpack(x), which copies nothing",
        _ if has("__array_interface__") || has("__array__") => "pass np.asarray(x)",
        _ => "pass the numbers, strings, tuples and arrays that the function needs from it",
    }
}

thread_local! {
    /// Containers around the one that is looked into. Python's own count of recursion does not help: the ten
    /// thousand levels that 3.12 and 3.13 allow are more than the stack of a thread has.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Types of the lists and dicts inside of the outermost one, or why they have none. Twice the same list on
    /// each of forty levels are forty lists, but 2**40 ways to them; and a dict is looked into twice where its
    /// values have no common type.
    static SEEN: RefCell<HashMap<usize, (Py<PyAny>, Result<Type, Diagnostic>)>> = RefCell::default();
    /// The lists and dicts that are being looked into, from the outermost one.
    static WAY: RefCell<Vec<usize>> = const { RefCell::new(vec![]) };
    /// Members of the tuples that were counted inside of the outermost one.
    static MEMBERS: Cell<usize> = const { Cell::new(0) };
}

thread_local! {
    /// Containers of which nothing says what they hold that were met, by their addresses, in their order.
    static EMPTY: RefCell<Vec<usize>> = const { RefCell::new(vec![]) };
    /// The types of such containers that are known from elsewhere.
    static KNOWN: RefCell<Vec<(usize, Type)>> = const { RefCell::new(vec![]) };
}

/// A container that was met, by its contents a `t`: its type. Where nothing says what it holds it is remembered.
pub(crate) fn meet_container(address: usize, t: Type) -> Type {
    if !t.lacks_elements() {
        return t;
    }
    if let Some(t) = KNOWN.with_borrow(|all| all.iter().find(|(o, _)| *o == address).map(|(_, t)| *t)) {
        return t;
    }
    EMPTY.with_borrow_mut(|all| all.push(address));
    t
}

/// How many were met since they were taken.
pub(crate) fn count_of_empty() -> usize {
    EMPTY.with_borrow(Vec::len)
}

/// Those that were met, which are forgotten.
pub(crate) fn take_empty() -> Vec<usize> {
    EMPTY.take()
}

/// Looks while the types of some that may be empty are known.
pub(crate) fn with_known<T>(known: Vec<(usize, Type)>, look: impl FnOnce() -> T) -> T {
    struct Known;
    impl Drop for Known {
        fn drop(&mut self) {
            KNOWN.take();
        }
    }
    KNOWN.set(known);
    let _end = Known;
    look()
}

thread_local! {
    /// What becomes of dicts whose values have several types.
    static RECORDS: Cell<Records> = const { Cell::new(Records::Refused) };
}

/// What becomes of dicts of str whose values have several types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Records {
    /// There is no type for them; ints among floats are floats.
    Refused,
    /// They are values with names, which nobody changes; ints among floats are floats.
    Taken,
    /// The same, and ints among floats are ints.
    Exact,
}

pub(crate) fn records() -> Records {
    RECORDS.get()
}

/// Looks for types of arguments.
pub(crate) fn with_records<T>(records: Records, look: impl FnOnce() -> T) -> T {
    struct Before(Records);
    impl Drop for Before {
        fn drop(&mut self) {
            RECORDS.set(self.0);
        }
    }
    let _end = Before(RECORDS.replace(records));
    look()
}

/// Looks into a container, which may contain itself.
pub(crate) fn nested<T>(look: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    struct Level(usize);
    impl Drop for Level {
        fn drop(&mut self) {
            DEPTH.set(self.0);
            if self.0 == 0 {
                // Last references die outside of the borrow: a finalizer may come back here.
                drop(SEEN.take());
                MEMBERS.set(0);
            }
        }
    }
    let level = Level(DEPTH.get());
    if level.0 == DEEPEST {
        return Err(too_deep());
    }
    DEPTH.set(level.0 + 1);
    look()
}

pub(crate) fn too_deep() -> Failure {
    unsupported(
        format!(
            "compiled code cannot take a container that contains itself, or one that is more than {DEEPEST} deep"
        ),
        "pass a flat list of what it holds, with numbers that say what belongs together",
    )
}

/// The type of a list or a dict, which is found once where it stands in a container several times.
pub(crate) fn nested_once(
    obj: &Bound<'_, PyAny>,
    look: impl FnOnce() -> Result<Type, Failure>,
) -> Result<Type, Failure> {
    let address = obj.as_ptr() as usize;
    let seen =
        if DEPTH.get() == 0 { None } else { SEEN.with_borrow(|s| s.get(&address).map(|(_, t)| t.clone())) };
    if let Some(t) = seen {
        return t.map(|t| meet_container(address, t)).map_err(Failure::from);
    }
    let answer = nested(|| on_the_way(address, look));
    let t = match answer {
        Ok(t) => meet_container(address, t),
        Err(Failure::Diagnostic(d)) => {
            keep(obj, Err((*d).clone()));
            return Err(Failure::Diagnostic(d));
        }
        Err(e @ Failure::Raised(_)) => return Err(e),
    };
    // Flat ones are as quick to look into again.
    if t.arguments().iter().any(|part| !part.arguments().is_empty()) {
        keep(obj, Ok(t));
    }
    Ok(t)
}

/// Looks into a container where it is not looked into already: then it contains itself.
fn on_the_way<T>(address: usize, look: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    struct Step;
    impl Drop for Step {
        fn drop(&mut self) {
            WAY.with_borrow_mut(Vec::pop);
        }
    }
    if WAY.with_borrow(|way| way.contains(&address)) {
        return Err(too_deep());
    }
    WAY.with_borrow_mut(|way| way.push(address));
    let _end = Step;
    look()
}

/// Remembers what an object inside of the outermost container is. The reference keeps its address from being
/// another object's.
fn keep(obj: &Bound<'_, PyAny>, is: Result<Type, Diagnostic>) {
    if DEPTH.get() > 0 {
        SEEN.with_borrow_mut(|s| s.insert(obj.as_ptr() as usize, (obj.clone().unbind(), is)));
    }
}

/// Whether there are at most `limit` members in the tuples so far, with `members` more of this one. Each way to
/// a tuple counts: its value is a copy each time.
pub(crate) fn has_room(members: usize, limit: usize) -> bool {
    MEMBERS.set(MEMBERS.get().saturating_add(members));
    MEMBERS.get() <= limit
}
