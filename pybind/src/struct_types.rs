//! The types of objects in native memory: what their classes declare.

use crate::structs::declaration;
use crate::{known, texts};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use std::sync::PoisonError;
use tierup_core::types::{ClassDef, Container, Kind, Type, object};

/// The type of the instances of such a class.
pub(crate) fn declared(class: &Bound<'_, PyType>) -> PyResult<Type> {
    let Some(d) = declaration(class) else {
        let text = format!(
            "{} is derived from a class in native memory and is none itself: decorate it as its base is",
            class.name()?
        );
        return Err(PyTypeError::new_err(text));
    };
    let now = def_of(class)?;
    let known = *d.get().found.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, t)) = known.filter(|(def, _)| *def == now) {
        return Ok(t);
    }
    let t = object::closed(written(class, &mut vec![])?);
    *d.get().found.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, t));
    Ok(t)
}

fn def_of(class: &Bound<'_, PyType>) -> PyResult<&'static ClassDef> {
    known::class_of_objects(class)?.ok_or_else(|| {
        let why = crate::objects::why_not(class).unwrap_or_else(|| "is no struct".into());
        PyTypeError::new_err(format!("compiled code cannot take objects of {class}: it {why}"))
    })
}

/// The type of a class inside of others, the innermost last.
fn written<'py>(class: &Bound<'py, PyType>, around: &mut Vec<Bound<'py, PyType>>) -> PyResult<Type> {
    if let Some(levels) = around.iter().rev().position(|c| c.is(class)) {
        return Ok(Type::new(Kind::Outer(levels as u32)));
    }
    let Some(d) = declaration(class) else { return of_value_class(class, around) };
    let def = def_of(class)?;
    around.push(class.clone());
    let said: Vec<(Bound<'py, PyAny>, bool)> = d.get().resolve.bind(class.py()).call0()?.extract()?;
    let mut fields = vec![];
    for (what, set) in said {
        let t = of_spec(&what, around)?;
        fields.push(if may_be_unset(t, set, d.get().zeros) { Type::new(Kind::MaybeUndef(t)) } else { t });
    }
    around.pop();
    Ok(Type::new(Kind::Object(def, fields)))
}

/// Whether a field needs a flag that says whether it is set.
fn may_be_unset(t: Type, set: bool, zeros: bool) -> bool {
    if !t.is_counted() {
        return !set && !zeros;
    }
    // Of the others nothing tells that Python has not set them yet.
    let seen = matches!(
        *t,
        Kind::Array(_) | Kind::Str | Kind::Bytes | Kind::List(_) | Kind::Container(..) | Kind::Object(..)
    ) || matches!(*t, Kind::Outer(_));
    !set || !seen && !matches!(*t, Kind::Optional(_))
}

/// The type of a class whose instances are values.
fn of_value_class<'py>(class: &Bound<'py, PyType>, around: &mut Vec<Bound<'py, PyType>>) -> PyResult<Type> {
    if let Some(def) = known::enumeration(class)? {
        return Ok(Type::new(Kind::Member(def)));
    }
    if let Some(def) = known::frozen_class(class)? {
        let module = class.py().import(intern!(class.py(), "tierup._struct"))?;
        let said = module.call_method1(intern!(class.py(), "declared_by"), (class,))?;
        let fields = said.try_iter()?.map(|t| of_spec(&t?, around)).collect::<PyResult<Vec<_>>>()?;
        return Ok(Type::new(Kind::Frozen(def, fields)));
    }
    let text = format!(
        "{} is no class of values or in native memory: a field may hold a tierup.struct, a jitclass, a frozen dataclass or an enumeration",
        class.name()?
    );
    Err(PyTypeError::new_err(text))
}

/// What a field is said to hold: the text of a type, a class, or a word with what it is about.
pub(crate) fn of_spec<'py>(what: &Bound<'py, PyAny>, around: &mut Vec<Bound<'py, PyType>>) -> PyResult<Type> {
    if let Ok(text) = what.cast::<PyString>() {
        return texts::parse_type(what.py(), text.to_str()?);
    }
    if let Ok(class) = what.cast::<PyType>() {
        return written(class, around);
    }
    let parts = what.cast::<PyTuple>()?;
    let word: String = parts.get_item(0)?.extract()?;
    let inside = parts.iter().skip(1).map(|p| of_spec(&p, around)).collect::<PyResult<Vec<_>>>()?;
    let first = || inside.first().copied().unwrap_or_else(Type::none);
    Ok(match word.as_str() {
        "optional" => Type::optional(first()),
        "tuple" => Type::tuple(inside),
        "list" => Type::list(first()),
        "dict" => Type::new(Kind::Container(Container::Dict, inside)),
        _ => return Err(PyTypeError::new_err(format!("no type is made by {word}"))),
    })
}
