//! Enumerations whose members are values to compiled code: numbers in the order of their definition. What they
//! have under a name, and what is done with the class, are functions that are written for it in Python
//! (`tierup/_enums.py`).

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyType};
use tierup_core::host::Written;
use tierup_core::types::Const;

fn module(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(py.import(intern!(py, "tierup._enums"))?.into_any())
}

/// Whether a class is an enumeration of any kind. Nobody is asked where the module was never imported.
pub(crate) fn may_be(class: &Bound<'_, PyType>) -> bool {
    class.get_type().as_ptr() != class.py().get_type::<PyType>().as_ptr()
        && class.hasattr(intern!(class.py(), "_member_map_")).unwrap_or(false)
}

/// How many members a class has, and whether they compare by identity; none where compiled code takes them for
/// something else (members of an IntEnum are ints), or does not know them.
pub(crate) fn look(class: &Bound<'_, PyType>) -> PyResult<Option<(u32, bool)>> {
    if !may_be(class) {
        return Ok(None);
    }
    module(class.py())?.call_method1(intern!(class.py(), "members"), (class,))?.extract()
}

/// The class that stands for an object of `object` itself, which is nothing but itself; none for other objects.
pub(crate) fn class_of_mark<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyType>>> {
    if !is_mark(obj) {
        return Ok(None);
    }
    let class = module(obj.py())?.call_method1(intern!(obj.py(), "mark"), (obj,))?;
    Ok(Some(class.cast_into::<PyType>()?))
}

pub(crate) fn is_mark(obj: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the macro reads the class of a live object.
    unsafe { ffi::Py_TYPE(obj.as_ptr()) == &raw mut ffi::PyBaseObject_Type }
}

/// Whether a class stands for a mark.
pub(crate) fn is_of_mark(class: &Bound<'_, PyType>) -> PyResult<bool> {
    Ok(may_be(class)
        && module(class.py())?.call_method1(intern!(class.py(), "is_mark"), (class,))?.extract()?)
}

/// The flags of one bit of a class whose instances are values of a `Flag`.
pub(crate) fn flags(class: &Bound<'_, PyType>) -> PyResult<Option<Vec<u32>>> {
    if !may_be(class) {
        return Ok(None);
    }
    module(class.py())?.call_method1(intern!(class.py(), "flags"), (class,))?.extract()
}

/// The values of the members of a class, which are whole numbers or texts beside; none of any other class.
pub(crate) fn values(class: &Bound<'_, PyType>) -> PyResult<Option<Vec<Const>>> {
    let Some(all) = module(class.py())?
        .call_method1(intern!(class.py(), "values"), (class,))?
        .extract::<Option<Vec<Bound<'_, PyAny>>>>()?
    else {
        return Ok(None);
    };
    let value = |v: Bound<'_, PyAny>| -> PyResult<Const> {
        Ok(match v.extract::<i64>() {
            Ok(n) => Const::Int(n),
            Err(_) => Const::Str(v.extract::<String>()?.into()),
        })
    };
    all.into_iter().map(value).collect::<PyResult<Vec<_>>>().map(Some)
}

/// The number of a member of an enumeration, or of a value of a `Flag`.
pub(crate) fn number(class: &Bound<'_, PyType>, obj: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    if flags(class)?.is_some() {
        return obj.getattr(intern!(class.py(), "_value_"))?.extract().map(Some);
    }
    Ok(members(class)?.iter().position(|m| m.is(obj)).map(|n| n as u32))
}

/// The member of an enumeration with that number, or the value of a `Flag`.
pub(crate) fn member<'py>(class: &Bound<'py, PyType>, n: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
    if flags(class)?.is_some() {
        return class.call1((n,)).map(Some);
    }
    Ok(members(class)?.into_iter().nth(n as usize))
}

/// The members of an enumeration, in order.
pub(crate) fn members<'py>(class: &Bound<'py, PyType>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    class.try_iter()?.collect()
}

/// What a member has under a name.
pub(crate) enum Attribute<'py> {
    /// A function that gives it for each member.
    Computed(Bound<'py, PyFunction>),
    /// A method that Python's `enum` has, written for the class.
    Method(Bound<'py, PyFunction>),
    /// The member of that name, by its number.
    Member(u32),
    /// What `enum` has there is not compiled.
    Hidden,
}

/// What the class has under a name that is not an ordinary attribute of it.
pub(crate) fn attribute<'py>(class: &Bound<'py, PyType>, name: &str) -> PyResult<Option<Attribute<'py>>> {
    let found = module(class.py())?.call_method1(intern!(class.py(), "attribute"), (class, name))?;
    if found.is_none() {
        return Ok(None);
    }
    let (kind, what): (String, Bound<'py, PyAny>) = found.extract()?;
    Ok(Some(match kind.as_str() {
        "member" => Attribute::Member(what.extract()?),
        "method" => Attribute::Method(what.cast_into::<PyFunction>()?),
        "computed" => Attribute::Computed(what.cast_into::<PyFunction>()?),
        _ => Attribute::Hidden,
    }))
}

/// The function that is written for a class. A `ValueError` says why there is none.
pub(crate) fn written<'py>(class: &Bound<'py, PyType>, what: Written) -> PyResult<Bound<'py, PyFunction>> {
    Ok(module(class.py())?.call_method1(what.name(), (class,))?.cast_into::<PyFunction>()?)
}
