//! Classes whose instances are objects that may change: which classes these are, the names of the fields of
//! their instances, and the function that makes one.
//!
//! An instance has the fields that a dataclass declares and those that methods assign to (`self.x = ...`): the
//! code of the methods says it, so that an object has the same fields wherever it comes from.

use crate::{decode, functions, structs};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyString, PyType, PyTypeMethods};
use tierup_core::bytecode::{Code, Opcode};

/// Whether instances of a class are such objects: it and its bases are written in Python and leave the making
/// of instances and the access to attributes to Python.
pub(crate) fn may_be(class: &Bound<'_, PyType>) -> bool {
    why_not(class).is_none()
}

/// What of a class is why its instances are no such objects, for an error.
pub(crate) fn why_not(class: &Bound<'_, PyType>) -> Option<String> {
    let py = class.py();
    let at = class.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: live classes, whose slots are only compared. Members of an `mro` are live.
    unsafe {
        let object = &raw mut ffi::PyBaseObject_Type;
        if at == object {
            return Some("has no instances of its own".into());
        }
        for base in class.mro().iter() {
            let of = base.as_ptr().cast::<ffi::PyTypeObject>();
            if of != object && ffi::PyType_GetFlags(of) & ffi::Py_TPFLAGS_HEAPTYPE == 0 {
                let name = base.cast::<PyType>().ok().and_then(|b| b.name().ok());
                let name = name.map_or_else(String::new, |n| n.to_string());
                return Some(format!("is derived from {name}, which is not written in Python"));
            }
        }
        let slot = |f: Option<ffi::newfunc>| f.map(|f| f as usize);
        let setter = |c: *mut ffi::PyTypeObject| (*c).tp_setattro.map(|f| f as usize);
        if slot((*at).tp_new) != slot((*object).tp_new) && !structs::is(class) && !new_is_python(class) {
            return Some("has a __new__ that is not written in Python".into());
        }
        if setter(at) != setter(object) {
            return Some("has its own __setattr__ or __delattr__".into());
        }
    }
    // Nothing is asked of a class that may answer itself.
    if !made_by_a_plain_metaclass(class) {
        return Some("has a metaclass".into());
    }
    let read = intern!(py, "__getattribute__");
    let plain = class.getattr(read).and_then(|own| Ok(own.is(&py.get_type::<PyAny>().getattr(read)?)));
    if !plain.unwrap_or(false) {
        return Some("has its own __getattribute__".into());
    }
    if class.hasattr(intern!(py, "_tierup_function_")).unwrap_or(true) {
        return Some("is one of functions".into());
    }
    if class.hasattr(pyo3::intern!(py, "_tierup_of_python_")).unwrap_or(true) {
        return Some("waits for threads of Python: make it in compiled code, where it is used".into());
    }
    // It would have to run where compiled code drops the object.
    class.hasattr(intern!(py, "__del__")).unwrap_or(true).then(|| "has a __del__".into())
}

/// Whether the `__new__` of a class is a function of Python's: a static method, if nothing says otherwise.
fn new_is_python(class: &Bound<'_, PyType>) -> bool {
    let found = raw(class, intern!(class.py(), "__new__")).ok().flatten();
    let function = found.and_then(|f| f.getattr_opt(intern!(class.py(), "__func__")).ok().flatten());
    function.is_some_and(|f| functions::python_function(&f).is_some())
}

/// Whether a call of the class is that of `type`.
fn made_by_a_plain_metaclass(class: &Bound<'_, PyType>) -> bool {
    let (py, meta) = (class.py(), class.get_type());
    if meta.is(py.get_type::<PyType>()) {
        return true;
    }
    let is = |module: &str, name: &str| {
        let found = py.import("sys").and_then(|s| s.getattr("modules")?.get_item(module)?.getattr(name));
        found.is_ok_and(|f| f.is(&meta))
    };
    is("abc", "ABCMeta") || is("typing", "_ProtocolMeta")
}

/// The fields of instances of a class, and whether these are equal where they are one.
pub(crate) fn look(class: &Bound<'_, PyType>) -> PyResult<Option<(Vec<String>, bool)>> {
    if !may_be(class) {
        return Ok(None);
    }
    let py = class.py();
    if let Some(names) = structs::names(class) {
        return Ok(Some((names, is_itself(class)?)));
    }
    let mut names: Vec<String> = vec![];
    let declared = class.getattr_opt(intern!(py, "__dataclass_fields__"))?;
    if let Some(fields) = declared.and_then(|d| d.cast_into::<PyDict>().ok()) {
        for (name, field) in fields {
            let kind = field.getattr(intern!(py, "_field_type"))?.getattr("name")?;
            if kind.extract::<String>()? == "_FIELD" {
                names.push(name.extract()?);
            }
        }
    }
    let mut classes: Vec<_> = class.mro().iter().collect();
    classes.reverse();
    for base in &classes {
        for (name, found) in base
            .getattr(intern!(py, "__dict__"))?
            .call_method0("items")?
            .try_iter()?
            .map(|item| -> PyResult<(String, Bound<'_, PyAny>)> { item?.extract() })
            .collect::<PyResult<Vec<_>>>()?
        {
            if matches!(found.get_type().name()?.to_str()?, "member_descriptor" | "cached_property") {
                names.push(name);
            } else if matches!(name.as_str(), "__annotations__" | "__annotate__" | "__annotate_func__") {
                annotated(base, &mut names)?;
            } else {
                assigned(&found, &mut names)?;
            }
        }
    }
    // Without a dictionary there is no place but those of slots.
    let anything = instances_have_dict(class);
    let mut unique: Vec<String> = vec![];
    for name in names {
        if !unique.contains(&name) && !is_computed(class, &name, anything)? {
            unique.push(name);
        }
    }
    Ok(Some((unique, is_itself(class)?)))
}

/// Whether instances of a class are equal where they are one.
fn is_itself(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let object = class.py().get_type::<PyAny>();
    let mut of_object = true;
    for name in ["__eq__", "__ne__", "__hash__"] {
        of_object &= class.getattr(name)?.is(&object.getattr(name)?);
    }
    Ok(of_object)
}

/// `Py_TPFLAGS_MANAGED_DICT`: Python keeps the dictionaries of a class's instances.
pub(crate) const MANAGED_DICT: std::ffi::c_ulong = 1 << 4;

/// Whether instances of a class have dictionaries of their own.
pub(crate) fn instances_have_dict(class: &Bound<'_, PyType>) -> bool {
    let t = class.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: a live class, whose flags are an atomic word on some Pythons.
    unsafe { (*t).tp_dictoffset != 0 || ffi::PyType_GetFlags(t) & MANAGED_DICT != 0 }
}

/// Fields that a class says it has; `ClassVar`s are the class's own.
fn annotated(class: &Bound<'_, PyAny>, names: &mut Vec<String>) -> PyResult<()> {
    // A dataclass says itself which of them are fields.
    if class.getattr("__dict__")?.contains("__dataclass_fields__")? {
        return Ok(());
    }
    // They may name what does not exist.
    let Ok(annotations) = class.getattr("__annotations__") else { return Ok(()) };
    for (name, kind) in annotations.cast::<PyDict>().into_iter().flatten() {
        let of_class = kind.str().is_ok_and(|text| text.to_string_lossy().contains("ClassVar"));
        names.extend(name.extract::<String>().ok().filter(|_| !of_class));
    }
    Ok(())
}

/// The function that does what a `functools.cached_property` does; none of any other attribute.
pub(crate) fn cached<'py>(found: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyFunction>>> {
    let py = found.py();
    let Ok(functools) = py.import("sys")?.getattr("modules")?.get_item("functools") else { return Ok(None) };
    if !found.get_type().is(&functools.getattr("cached_property")?) {
        return Ok(None);
    }
    let module = py.import(intern!(py, "tierup._objects"))?;
    Ok(Some(module.call_method1(intern!(py, "cached"), (found, name))?.cast_into()?))
}

/// Whether a field of a class's instances lies in their dictionaries, and not in a slot. What the class has under
/// its name besides, a value or what computes one, is not theirs.
pub(crate) fn is_in_dict(class: &Bound<'_, PyType>, name: &Bound<'_, PyString>) -> bool {
    raw(class, name).ok().flatten().is_none_or(|found| {
        // SAFETY: a live object.
        let kind = unsafe { &*ffi::Py_TYPE(found.as_ptr()) };
        kind.tp_descr_get.is_none() || kind.tp_descr_set.is_none()
    })
}

/// The value of a field that an object has itself: a new reference, or null; no exception is set.
///
/// # Safety
/// A live object of a class whose instances are such objects, with its dictionary; the thread is attached.
/// `in_dict` says what [`is_in_dict`] does.
pub(crate) unsafe fn own_value(
    obj: *mut ffi::PyObject,
    dict: Option<&Bound<'_, PyDict>>,
    name: *mut ffi::PyObject,
    in_dict: bool,
) -> *mut ffi::PyObject {
    // SAFETY: as required of the caller.
    unsafe {
        let found = match dict {
            Some(dict) if in_dict => ffi::Py_XNewRef(ffi::PyDict_GetItemWithError(dict.as_ptr(), name)),
            _ => ffi::PyObject_GenericGetAttr(obj, name),
        };
        if found.is_null() {
            ffi::PyErr_Clear();
        }
        found
    }
}

/// What a class or the first of its bases that has something under a name has there, as it lies there.
pub(crate) fn raw<'py>(
    class: &Bound<'py, PyType>,
    name: impl IntoPyObject<'py> + Copy,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    for base in class.mro().iter() {
        if let Ok(found) = base.getattr(intern!(class.py(), "__dict__"))?.get_item(name) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Whether what a class has is a descriptor that is assigned to, of a class that is written in Python: not that of a
/// slot or of a struct.
pub(crate) fn is_assigned_to(found: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a live object.
    let kind = unsafe { &*ffi::Py_TYPE(found.as_ptr()) };
    let class = found.get_type();
    let own = |name| {
        let method = raw(&class, name).ok().flatten();
        method.is_some_and(|m| m.get_type().name().is_ok_and(|kind| kind != "wrapper_descriptor"))
    };
    kind.tp_descr_set.is_some() && (own("__set__") || own("__delete__"))
}

/// Whether what a class has under a name is no field: a method, a property, or another descriptor that is
/// assigned to; without a dictionary for `anything` there is no place but those of slots.
fn is_computed(class: &Bound<'_, PyType>, name: &str, anything: bool) -> PyResult<bool> {
    let Some(found) = raw(class, name)? else { return Ok(!anything) };
    let kind = found.get_type();
    let slot = kind.name()? == "member_descriptor";
    Ok(!slot && (!anything || kind.name()? == "function" || kind.hasattr("__set__")?))
}

/// The names that a method of a class assigns to in its first argument.
fn assigned(method: &Bound<'_, PyAny>, names: &mut Vec<String>) -> PyResult<()> {
    let kind = method.get_type().name()?.to_string();
    match kind.as_str() {
        "staticmethod" | "classmethod" => return Ok(()),
        "property" => {
            for accessor in ["fget", "fset"] {
                assigned(&method.getattr(accessor)?, names)?;
            }
            return Ok(());
        }
        _ => {}
    }
    let Some(f) = functions::python_function(method) else { return Ok(()) };
    // What cannot be decoded is not compiled either.
    let Ok(code) = decode::decode(&f) else { return Ok(()) };
    stored(&code, names);
    Ok(())
}

fn stored(code: &Code, names: &mut Vec<String>) {
    let Some(first) = code.varnames.first().filter(|_| code.args > 0) else { return };
    let loads = |k: usize| {
        let i = &code.insts[k];
        matches!(i.op, Opcode::LoadLocal | Opcode::LoadCell) && code.variable_name(i.arg) == Some(first)
    };
    for k in 1..code.insts.len() {
        let i = &code.insts[k];
        if i.op != Opcode::StoreAttr {
            continue;
        }
        // `self.x += 1` has its object since the attribute was read.
        let augmented = || {
            code.insts[k - 1].op == Opcode::Swap
                && (2..k).any(|at| {
                    let read = &code.insts[at];
                    read.op == Opcode::LoadAttr
                        && read.arg == i.arg
                        && code.insts[at - 1].op == Opcode::Copy
                        && loads(at - 2)
                })
        };
        if loads(k - 1) || augmented() {
            names.extend(code.names.get(i.arg as usize).map(|n| n.to_string()));
        }
    }
}

/// The function that is called with the class and the arguments in place of the class. A `ValueError` says why
/// compiled code cannot.
pub(crate) fn constructor<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyFunction>> {
    let module = class.py().import(intern!(class.py(), "tierup._objects"))?;
    Ok(module.call_method1(intern!(class.py(), "constructor"), (class,))?.cast_into()?)
}
