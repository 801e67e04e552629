//! Classes of the user's that change what the built-in class below them does, so that their instances are not
//! values of that class to compiled code; and instances that hide what their class has.

use crate::{identity, known, npy, objects};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType, PyTypeMethods,
};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard};

type Class = *mut ffi::PyTypeObject;

/// Attributes of a class that do not change what its instances are to an operation.
const HARMLESS: [&str; 38] = [
    "__module__",
    "__doc__",
    "__dict__",
    "__weakref__",
    "__slots__",
    "__qualname__",
    "__annotations__",
    "__orig_bases__",
    "__parameters__",
    "__init__",
    "__new__",
    "__init_subclass__",
    "__class_getitem__",
    "__reduce__",
    "__reduce_ex__",
    "__getnewargs__",
    "__getnewargs_ex__",
    "__copy__",
    "__deepcopy__",
    "__getstate__",
    "__setstate__",
    "__del__",
    "__set_name__",
    "__abstractmethods__",
    "__match_args__",
    "__sizeof__",
    "__dir__",
    "__subclasshook__",
    "__setattr__",
    "__delattr__",
    "__getattr__",
    "__firstlineno__",
    "__static_attributes__",
    "__array_finalize__",
    "__array_priority__",
    "__class_getitem__",
    "__annotate__",
    "__type_params__",
];

/// What was found out about a class, and the number that Python gave the class as it was; 0 for none.
struct Found {
    version: std::ffi::c_uint,
    method: Option<String>,
}
/// By the numbers of classes ([`identity`]) and what they are derived from.
static LOOKED_AT: LazyLock<Mutex<HashMap<(u64, usize), Found>>> = LazyLock::new(Default::default);

fn looked_at() -> MutexGuard<'static, HashMap<(u64, usize), Found>> {
    LOOKED_AT.lock().unwrap_or_else(|e| e.into_inner())
}

/// The method by which a class derived from a built-in one (or ndarray) changes what that does with its
/// instances; none where there is no such method.
pub(crate) fn method(py: Python<'_>, class: Class, base: Class) -> Option<String> {
    // SAFETY: the class of a live object, and one that lives for ever.
    let [of, from] =
        [class, base].map(|c| unsafe { Bound::from_borrowed_ptr(py, c.cast::<ffi::PyObject>()) });
    let key = (identity::number_of(&of).ok()?, base as usize);
    // A change of the class or of its bases takes its number away; the look-up of an attribute gives it one.
    // SAFETY: a live class.
    let version = || unsafe { (*class).tp_version_tag };
    if let Some(found) = looked_at().get(&key)
        && found.version != 0
        && found.version == version()
    {
        return found.method.clone();
    }
    let _ = of.getattr(intern!(py, "__doc__"));
    let before = version();
    let method = look(&of, &from).unwrap_or_else(|_| Some("an attribute that cannot be read".into()));
    looked_at().insert(key, Found { version: before, method: method.clone() });
    method
}

/// Whether an object is of a class that is derived from one of Python's classes of values or arrays.
///
/// # Safety
/// A live object; the thread is attached.
pub(crate) unsafe fn is_derived(obj: *mut ffi::PyObject) -> bool {
    const BUILT_IN: std::ffi::c_ulong = ffi::Py_TPFLAGS_LONG_SUBCLASS
        | ffi::Py_TPFLAGS_LIST_SUBCLASS
        | ffi::Py_TPFLAGS_TUPLE_SUBCLASS
        | ffi::Py_TPFLAGS_BYTES_SUBCLASS
        | ffi::Py_TPFLAGS_UNICODE_SUBCLASS
        | ffi::Py_TPFLAGS_DICT_SUBCLASS;
    // SAFETY: as required of the caller; only flags and bases of its class are read.
    unsafe {
        let class = ffi::Py_TYPE(obj);
        let flags = ffi::PyType_GetFlags(class);
        // What is made in C has a type of its own.
        if flags & ffi::Py_TPFLAGS_HEAPTYPE == 0 {
            return false;
        }
        let array = npy::ARRAY_TYPE.load(std::sync::atomic::Ordering::Relaxed);
        let below = |base: Class| !base.is_null() && ffi::PyType_IsSubtype(class, base) != 0;
        flags & BUILT_IN != 0
            || below(&raw mut ffi::PyFloat_Type)
            || below(&raw mut ffi::PyComplex_Type)
            || below(array.cast())
    }
}

/// Whether an argument is of a class that is derived from the one of Python's that its type says.
///
/// # Safety
/// A live object; the thread is attached.
pub(crate) unsafe fn hides_class(t: tierup_core::types::Type, arg: *mut ffi::PyObject) -> bool {
    // SAFETY: as required of the caller.
    t.hides_class() && unsafe { is_derived(arg) }
}

/// Forgets a class that is gone.
pub(crate) fn forget(object: u64) {
    looked_at().retain(|(number, _), _| *number != object);
}

fn look(class: &Bound<'_, PyAny>, base: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let py = class.py();
    for at in class.cast::<PyType>()?.mro().iter() {
        if at.is(base) {
            break;
        }
        // SAFETY: the members of an `mro` are live classes.
        let made_in_c = unsafe { ffi::PyType_GetFlags(at.as_ptr().cast()) & ffi::Py_TPFLAGS_HEAPTYPE == 0 };
        let home: String = at.getattr("__module__")?.extract().unwrap_or_default();
        // NumPy's own subclasses of its arrays that calculate otherwise are known; memmap and the like do
        // not.
        if home == "numpy" || home.starts_with("numpy.") {
            // A string of NumPy is one of Python, of text or of bytes; its numbers are not.
            let text = base.is(py.get_type::<PyString>()) || base.is(py.get_type::<PyBytes>());
            if made_in_c && !text {
                return Ok(Some(format!("arithmetic of {}", at.getattr("__name__")?)));
            }
            continue;
        }
        for item in at.getattr("__dict__")?.call_method0("items")?.try_iter()? {
            let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
            let Ok(name) = name.extract::<String>() else { continue };
            let name = name.as_str();
            let special = name.starts_with("__") && name.ends_with("__");
            if HARMLESS.contains(&name) || name.starts_with("_abc_") || made_in_c && name == "__repr__" {
                continue;
            }
            let of_base = base.getattr(name).ok();
            if !special && of_base.is_none() {
                continue;
            }
            if of_base.as_ref().is_some_and(|b| b.is(&value)) {
                continue;
            }
            // `__hash__ = int.__hash__`, and what the machinery of enumerations puts there.
            let by: String = value.getattr("__module__").and_then(|m| m.extract()).unwrap_or_default();
            let text = matches!(name, "__str__" | "__format__" | "__repr__");
            let plain =
                !text || name == "__repr__" || !base.is(py.get_type::<PyString>()) && shows_value(py, class)?;
            if by == "enum" && plain {
                continue;
            }
            if special && of_enum(py, &value, name)? && plain {
                continue;
            }
            return Ok(Some(name.to_string()));
        }
    }
    Ok(None)
}

/// Whether members of an enumeration are shown as their values are.
fn shows_value(py: Python<'_>, class: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(module) = py.import("sys")?.getattr("modules")?.get_item("enum") else { return Ok(false) };
    class.cast::<PyType>()?.is_subclass(&module.getattr("ReprEnum")?)
}

/// A method that the machinery of enumerations copied from one of its classes.
fn of_enum(py: Python<'_>, value: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let Ok(module) = py.import("sys")?.getattr("modules")?.get_item("enum") else { return Ok(false) };
    for class in ["Enum", "IntEnum", "Flag", "IntFlag", "ReprEnum", "StrEnum"] {
        if let Ok(c) = module.getattr(class)
            && c.getattr(name).is_ok_and(|m| m.is(value))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The built-in class that an object's class is derived from, and the method by which it changes what that
/// does.
pub(crate) fn overridden<'py>(obj: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyType>, String)> {
    let py = obj.py();
    let class = obj.get_type();
    if class.is(py.get_type::<PyBool>())
        || npy::loaded().is_some_and(|n| n.scalar_type(class.as_ptr().cast()).is_some())
    {
        return None;
    }
    let bases: [Bound<'py, PyType>; 7] = [
        py.get_type::<PyInt>(),
        py.get_type::<PyFloat>(),
        py.get_type::<PyComplex>(),
        py.get_type::<PyString>(),
        py.get_type::<PyBytes>(),
        py.get_type::<PyTuple>(),
        py.get_type::<PyList>(),
    ];
    for base in bases {
        if class.is(&base) {
            return None;
        }
        // SAFETY: both are live type objects.
        if unsafe { ffi::PyType_IsSubtype(class.as_ptr().cast(), base.as_ptr().cast()) } == 0 {
            continue;
        }
        // Named tuples have types of their own, and what their classes define is compiled.
        if base.is(py.get_type::<PyTuple>()) && known::namedtuple_class(&class).is_ok_and(|c| c.is_some()) {
            return None;
        }
        return method(py, class.as_ptr().cast(), base.as_ptr().cast()).map(|m| (base, m));
    }
    None
}

// ---------------------------------------------------------------- attributes of instances

unsafe extern "C" {
    // PyO3 does not declare it. The place of an instance's dictionary, which may hold null; null where
    // instances of the class have none.
    fn _PyObject_GetDictPtr(obj: *mut ffi::PyObject) -> *mut *mut ffi::PyObject;
}

/// Whether an instance has attributes in a dictionary of its own.
///
/// # Safety
/// A live object; the thread is attached.
pub(crate) unsafe fn has_own(obj: *mut ffi::PyObject) -> bool {
    // SAFETY: as required of the caller; the dictionary, where there is one, is one.
    unsafe {
        let place = _PyObject_GetDictPtr(obj);
        !place.is_null() && !(*place).is_null() && ffi::PyDict_Size(*place) != 0
    }
}

/// The dictionary of an instance, which its class makes where it does not have one yet; none where instances of
/// the class have none.
pub(crate) fn own_dict<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: a live object of a live class.
    unsafe {
        let place = _PyObject_GetDictPtr(obj.as_ptr());
        if !place.is_null() && !(*place).is_null() {
            return Bound::from_borrowed_ptr(obj.py(), *place).cast_into::<PyDict>().ok();
        }
        // Values that still lie in the instance itself.
        if ffi::PyType_GetFlags(ffi::Py_TYPE(obj.as_ptr())) & objects::MANAGED_DICT == 0 {
            return None;
        }
        let dict = ffi::PyObject_GenericGetDict(obj.as_ptr(), std::ptr::null_mut());
        if dict.is_null() {
            ffi::PyErr_Clear();
        }
        Bound::from_owned_ptr_or_opt(obj.py(), dict)?.cast_into::<PyDict>().ok()
    }
}
/// Whether an attribute of instances stands in front of nothing in their class, or of a constant, which those have
/// that were given no other.
pub(crate) fn may_be_field(class: &Bound<'_, PyType>, name: &str) -> PyResult<bool> {
    Ok(match objects::raw(class, name)? {
        Some(found) => !found.get_type().hasattr("__get__")?,
        None => true,
    })
}

/// The names of attributes that an instance has in its own dictionary, which are not among these and may be fields.
pub(crate) fn more_attributes(obj: &Bound<'_, PyAny>, fields: &[String]) -> Vec<String> {
    let Some(own) = own_dict(obj).filter(|d| d.len() > 0) else { return vec![] };
    let class = obj.get_type();
    let names = own.keys().iter().filter_map(|k| k.extract::<String>().ok()).collect::<Vec<_>>();
    names.into_iter().filter(|n| !fields.contains(n) && may_be_field(&class, n).unwrap_or(false)).collect()
}

/// An attribute that an instance has in its own dictionary under the name of a method or constant of its
/// class, and which is none of its fields: compiled code, which knows the class alone, would take that of the
/// class.
pub(crate) fn hidden(obj: &Bound<'_, PyAny>, fields: &[String]) -> PyResult<Option<String>> {
    let Some(own) = own_dict(obj) else { return Ok(None) };
    let class = obj.get_type();
    for name in own.keys() {
        if name.extract::<&str>().is_ok_and(|name| fields.iter().any(|f| f == name)) {
            continue;
        }
        for at in class.mro().iter() {
            let Ok(found) = at.getattr("__dict__")?.get_item(&name) else { continue };
            let kind = found.get_type().name()?.to_string();
            let computed = found.get_type().hasattr("__get__")?
                && !matches!(kind.as_str(), "function" | "staticmethod" | "classmethod");
            if !computed {
                return Ok(Some(name.to_string()));
            }
            break;
        }
    }
    Ok(None)
}
