//! What Python says of classes and attributes when code is compiled: which values are instances of which
//! class, and what they have.

use crate::{known, npy, objects, operations};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple, PyType, PyTypeMethods};
use tierup_core::types::{ClassDef, Container, IterType, Kind, Type};

fn builtin<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyAny>> {
    py.import("builtins").ok()?.getattr(name).ok()
}
fn of_types<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyAny>> {
    py.import("types").ok()?.getattr(name).ok()
}

/// The class object that a type of compiled code stands for, if it does.
fn class_object<'py>(py: Python<'py>, t: Type) -> Option<Bound<'py, PyAny>> {
    let found = if let Kind::Builtin(path) = *t {
        operations::object_of(py, path).ok()??.into_bound(py)
    } else if let Kind::NamedTupleClass(c) | Kind::ExcClass(c) | Kind::Class(c) = *t {
        known::object_of_def(py, c)?.into_bound(py)
    } else {
        let Kind::DType(d) = *t else { return None };
        scalar_class(py, d)?
    };
    found.is_instance_of::<PyType>().then_some(found)
}

/// The class of NumPy's scalars of a type.
pub(crate) fn scalar_class(py: Python<'_>, t: Type) -> Option<Bound<'_, PyAny>> {
    let n = npy::require(py).ok()?;
    let (class, _) = n.scalars.iter().find(|(_, s)| *s == t)?;
    // SAFETY: NumPy's classes live for ever.
    Some(unsafe { Bound::from_borrowed_ptr(py, class.cast()) })
}

/// The classes that values of a type may have in Python. Several where compiled code does not tell them
/// apart.
pub(crate) fn classes_of<'py>(py: Python<'py>, t: Type) -> Option<Vec<Bound<'py, PyAny>>> {
    let names = |all: &[&str]| all.iter().map(|n| builtin(py, n)).collect::<Option<Vec<_>>>();
    let class_of =
        |expression: &std::ffi::CStr| py.eval(expression, None, None).ok().map(|v| v.get_type().into_any());
    match t.kind() {
        Kind::None => of_types(py, "NoneType").map(|c| vec![c]),
        Kind::Ellipsis => Some(vec![py.Ellipsis().into_bound(py).get_type().into_any()]),
        Kind::Bool => names(&["bool"]),
        Kind::Int(_) | Kind::Float(_) | Kind::Complex(_) if !t.is_weak() => {
            scalar_class(py, t).map(|c| vec![c])
        }
        Kind::Int(_) => names(&["int"]),
        Kind::Float(_) => names(&["float"]),
        Kind::Complex(_) => names(&["complex"]),
        Kind::Time(t) => {
            let name = if t.span { "timedelta64" } else { "datetime64" };
            Some(vec![py.import("numpy").ok()?.getattr(name).ok()?])
        }
        Kind::Str => names(&["str"]),
        Kind::Bytes => names(&["bytes"]),
        Kind::Tuple(_) => names(&["tuple"]),
        Kind::NamedTuple(c, _) if c.is_keywords() => names(&["dict"]),
        Kind::NamedTuple(c, _) | Kind::Frozen(c, _) | Kind::Object(c, _) | Kind::Member(c) => {
            Some(vec![pythons(known::object_of_def(py, c)?.into_bound(py))])
        }
        Kind::List(_) => names(&["list"]),
        Kind::Container(c, _) => class_of(c.empty()).map(|c| vec![c]),
        Kind::Range(_) => names(&["range"]),
        Kind::Slice(_) => names(&["slice"]),
        Kind::Array(a) if a.ndim == 0 && a.dtype.record().is_some_and(|r| r.chars().is_none()) => {
            Some(vec![py.import("numpy").ok()?.getattr("void").ok()?])
        }
        Kind::Array(_) => Some(vec![py.import("numpy").ok()?.getattr("ndarray").ok()?]),
        Kind::Module(_) => of_types(py, "ModuleType").map(|c| vec![c]),
        Kind::Function(f) if f.bound => of_types(py, "MethodType").map(|c| vec![c]),
        Kind::Function(_) => of_types(py, "FunctionType").map(|c| vec![c]),
        Kind::Builtin(path) => {
            Some(vec![operations::object_of(py, *path).ok()??.into_bound(py).get_type().into_any()])
        }
        Kind::NamedTupleClass(_) | Kind::ExcClass(_) | Kind::Class(_) => {
            Some(vec![class_object(py, t)?.get_type().into_any()])
        }
        Kind::Iter(IterType::Zip(_)) => names(&["zip"]),
        Kind::Iter(IterType::Enumerate(_)) => names(&["enumerate"]),
        // Iterators that a program holds are generators to compiled code, whatever made them.
        Kind::Generator(..) | Kind::Iter(_) => {
            let mut all = vec![of_types(py, "GeneratorType")?];
            all.extend(names(&["map", "filter", "zip", "enumerate", "reversed"])?);
            for made in [c"iter([])", c"iter(())", c"iter('')", c"iter(range(0))", c"reversed([])"] {
                all.push(class_of(made)?);
            }
            for c in Container::ALL {
                let iterator = py.eval(c.empty(), None, None).ok()?.try_iter().ok()?;
                all.push(iterator.get_type().into_any());
            }
            Some(all)
        }
        Kind::Exception => names(&["BaseException"]),
        Kind::Simd(..) => Some(vec![py.import("tierup.simd").ok()?.getattr("Vec").ok()?]),
        Kind::Random => Some(vec![py.import("numpy.random").ok()?.getattr("Generator").ok()?]),
        Kind::Never
        | Kind::Undef
        | Kind::MaybeUndef(_)
        | Kind::Optional(_)
        | Kind::Method(..)
        | Kind::Super(..)
        | Kind::DType(_)
        | Kind::Variant(_)
        | Kind::Var(_)
        | Kind::Outer(_)
        | Kind::Record(_)
        | Kind::Conflict(..) => None,
    }
}

/// The class of Python's whose objects instances of a class of the library stand for; any other class is its own.
pub(crate) fn pythons(class: Bound<'_, PyAny>) -> Bound<'_, PyAny> {
    class.getattr_opt(intern!(class.py(), "_tierup_class_")).ok().flatten().unwrap_or(class)
}

/// Whether values of a type have an attribute; none where they may differ in that.
pub(crate) fn has_attribute(py: Python<'_>, value: Type, name: &str) -> Option<bool> {
    // A class of NumPy's or an object that names one: compiled code does not tell them apart. An exception is
    // of any class, which may keep anything.
    if matches!(*value, Kind::DType(_) | Kind::Exception) {
        return None;
    }
    let all = if let Kind::Module(m) = *value {
        vec![known::module_object(py, m)?]
    } else if let Kind::Builtin(path) = *value {
        vec![operations::object_of(py, path).ok()??.into_bound(py)]
    } else if matches!(*value, Kind::NamedTupleClass(_) | Kind::ExcClass(_) | Kind::Class(_)) {
        vec![class_object(py, value)?]
    } else {
        classes_of(py, value)?
    };
    let mut answers = all.iter().map(|of| of.hasattr(name).ok());
    let first = answers.next()??;
    answers.all(|a| a == Some(first)).then_some(first)
}

/// Whether a type stands for an abstract class, which other classes may join at any time.
pub(crate) fn is_abstract(py: Python<'_>, t: Type) -> bool {
    let name = intern!(py, "__abstractmethods__");
    class_object(py, t).is_some_and(|c| c.hasattr(name).unwrap_or(false))
}

/// Whether a class answers by itself what its instances are, in Python code that compiled code does not run.
fn asks_code(class: &Bound<'_, PyAny>) -> PyResult<bool> {
    let meta = class.get_type();
    for name in ["__instancecheck__", "__subclasscheck__"] {
        for at in meta.mro().iter() {
            let Ok(found) = at.getattr("__dict__")?.get_item(name) else { continue };
            let home: String = found.getattr("__module__").and_then(|m| m.extract()).unwrap_or_default();
            // `type` and `object` have them in C; those of abstract classes and protocols ask the class of
            // the value.
            let of_protocols = home.starts_with("typing")
                && at.getattr("__name__")?.extract::<String>()?.contains("Protocol");
            if found.is_instance_of::<PyFunction>()
                && !matches!(home.as_str(), "abc" | "_py_abc")
                && !of_protocols
            {
                return Ok(true);
            }
            break;
        }
    }
    Ok(false)
}

/// Whether values of a type are of the very class that it stands for, and of none below.
pub(crate) fn is_exact(value: Type) -> bool {
    matches!(
        value.kind(),
        Kind::None
            | Kind::Bool
            | Kind::NamedTuple(..)
            | Kind::Frozen(..)
            | Kind::Object(..)
            | Kind::Member(_)
            | Kind::Time(_)
            | Kind::Simd(..)
            | Kind::Range(_)
            | Kind::Slice(_)
            | Kind::Ellipsis
            | Kind::Function(_)
            | Kind::Builtin(_)
            | Kind::Module(_)
    ) || matches!(value.kind(), Kind::Int(_) | Kind::Float(_) | Kind::Complex(_)) && !value.is_weak()
}

/// Whether values of a type are instances of a class; none where only the value could tell.
pub(crate) fn is_instance(py: Python<'_>, value: Type, class: Type) -> Option<bool> {
    let class = class_object(py, class)?;
    if !pythons(class.clone()).is(&class) {
        // The library asks for its own class.
        let (Kind::NamedTuple(c, _) | Kind::Frozen(c, _) | Kind::Object(c, _)) = value.kind() else {
            return Some(false);
        };
        let own = known::object_of_def(py, c)?.into_bound(py).cast_into::<PyType>().ok()?;
        return own.is_subclass(&class).ok();
    }
    if asks_code(&class).ok()? {
        return None;
    }
    let class = class.cast_into::<PyType>().ok()?;
    let all = classes_of(py, value)?;
    let mut answers = all.iter().map(|c| Some(c.cast::<PyType>().ok()?.is_subclass(&class).ok()?));
    let first = answers.next()??;
    for a in answers {
        if a? != first {
            return None;
        }
    }
    if first {
        return Some(true);
    }
    // Members of an enumeration that compiled code knows are values of it alone.
    if known::type_of_members(&class).ok()?.is_some() {
        return Some(false);
    }
    // A value of a class below: it came in as its base.
    if is_exact(value) {
        return Some(false);
    }
    for c in &all {
        let below = class.is_subclass(c).ok()?;
        let own_type = class.as_ptr() == builtin(py, "bool")?.as_ptr()
            || npy::get(py).ok()?.is_some_and(|n| n.scalar_type(class.as_ptr().cast()).is_some());
        if below && !own_type {
            return None;
        }
    }
    // So are members of enumerations that are ints or strings.
    let enumerations: &[&str] = if matches!(*value, Kind::Int(_)) {
        &["IntEnum", "IntFlag"]
    } else if *value == Kind::Str {
        &["StrEnum"]
    } else {
        &[]
    };
    if is_base_of_enums(py, &class, enumerations).ok()? {
        return None;
    }
    // An exception may be of any class.
    if let Kind::Exception = value.kind() {
        return None;
    }
    Some(false)
}

/// Whether one of these classes of the module `enum` is derived from a class.
fn is_base_of_enums(py: Python<'_>, class: &Bound<'_, PyType>, names: &[&str]) -> PyResult<bool> {
    if names.is_empty() {
        return Ok(false);
    }
    let Ok(module) = py.import("sys")?.getattr("modules")?.get_item("enum") else { return Ok(false) };
    for name in names {
        if let Ok(c) = module.getattr(*name)
            && c.cast::<PyType>()?.mro().contains(class)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether one class is a subclass of another.
pub(crate) fn is_subclass(py: Python<'_>, class: Type, of: Type) -> Option<bool> {
    let (class, of) = (class_object(py, class)?, class_object(py, of)?);
    if asks_code(&of).ok()? {
        return None;
    }
    class.cast::<PyType>().ok()?.is_subclass(&of).ok()
}

/// An attribute of a Python function that compiled code may read: its names, its text, what was put on it.
pub(crate) fn attribute_of_function<'py>(
    f: &Bound<'py, PyFunction>,
    name: &str,
) -> Option<Bound<'py, PyAny>> {
    if matches!(name, "__name__" | "__qualname__" | "__doc__" | "__module__") {
        return f.getattr(name).ok();
    }
    let dict = f.getattr("__dict__").ok()?;
    let found = dict.cast::<PyDict>().ok()?.get_item(name).ok()??;
    // What makes a function ours is no business of the program's.
    if name.starts_with("_tierup") {
        return None;
    }
    Some(found)
}

/// The member that a descriptor reads, where it is one that namedtuple makes for a field: `_tuplegetter`, or
/// a property of `operator.itemgetter`.
pub(crate) fn field_of(descriptor: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    let class = descriptor.get_type().name()?.to_string();
    let getter = match class.as_str() {
        "_tuplegetter" => descriptor.clone(),
        "property" => descriptor.getattr("fget")?,
        _ => return Ok(None),
    };
    if !matches!(getter.get_type().name()?.to_str()?, "_tuplegetter" | "itemgetter") {
        return Ok(None);
    }
    // Both say what makes them again: the class, and the index first.
    let (_, of): (Bound<'_, PyAny>, Bound<'_, PyTuple>) = getter.call_method0("__reduce__")?.extract()?;
    // An itemgetter of several indices makes a tuple.
    let one = class == "_tuplegetter" || of.len() == 1;
    Ok(of.get_item(0)?.extract().ok().filter(|_| one))
}

/// Why objects of a class are not made in compiled code.
pub(crate) fn cannot_be_made(object: &Bound<'_, PyType>, class: &ClassDef) -> String {
    let text = format!("objects of the class {} cannot be made in compiled code", class.name);
    match objects::why_not(object) {
        Some(why) => format!("{text}: it {why}"),
        None => text,
    }
}

/// Whether a class method is one that `typing` gives generic classes.
pub(crate) fn is_of_typing(raw: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(function) = raw.getattr_opt("__func__")? else { return Ok(false) };
    let module = function.getattr_opt("__module__")?.and_then(|m| m.extract::<String>().ok());
    Ok(module.as_deref() == Some("typing"))
}

/// What `collections.namedtuple` puts into each of its classes.
pub(crate) fn is_made_by_namedtuple(raw: &Bound<'_, PyAny>, kind: &str) -> PyResult<bool> {
    let function =
        if matches!(kind, "staticmethod" | "classmethod") { raw.getattr("__func__")? } else { raw.clone() };
    let Ok(function) = function.cast_into::<PyFunction>() else { return Ok(false) };
    let home: String =
        function.getattr("__globals__")?.get_item("__name__").and_then(|n| n.extract()).unwrap_or_default();
    // Other classes of the module have methods like any class.
    let inside: String = function.getattr("__code__")?.getattr("co_qualname")?.extract()?;
    Ok(home == "collections" && inside.starts_with("namedtuple.") || home.starts_with("namedtuple_"))
}
