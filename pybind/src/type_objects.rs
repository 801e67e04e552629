//! Types of the compiler as objects of `tierup.types`, for functions of the program that are asked with types.
//!
//! Text says most types (`tierup.types.from_text`); what is about objects of Python's is told with these.

use crate::{functions, identity, known, operations};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::borrow::Cow;
use std::sync::{LazyLock, Mutex};
use tierup_core::types::{ClassDef, Container, Kind, Type};

/// What `tierup._kinds.made` makes a type of: the name of its kind, what it is about, and types inside of it.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is about no object is said by its text")]
fn told<'py>(py: Python<'py>, t: Type) -> PyResult<Bound<'py, PyTuple>> {
    let none = || py.None().into_bound(py);
    let object_of_class = |c| known::object_of_def(py, c).map_or_else(none, |o| o.into_bound(py));
    match t.kind() {
        Kind::Optional(of) => put(py, "optional", none(), &[*of]),
        Kind::Tuple(m) => put(py, "tuple", none(), m),
        Kind::NamedTuple(c, m) if !c.is_keywords() => put(py, "named", object_of_class(c), m),
        Kind::NamedTuple(c, m) => {
            let about = (PyTuple::new(py, &c.fields)?, t.to_string()).into_pyobject(py)?;
            put(py, "keyed", about.into_any(), m)
        }
        Kind::Frozen(c, m) | Kind::Object(c, m) => {
            let names = PyTuple::new(py, &c.fields)?;
            let may_change = matches!(t.kind(), Kind::Object(..));
            let about =
                (object_of_class(c), names, t.to_string(), number(t), may_change).into_pyobject(py)?;
            put(py, "object", about.into_any(), m)
        }
        Kind::Member(c) => about_class(py, "member", c, t),
        Kind::List(of) => put(py, "list", none(), &[*of]),
        Kind::Container(Container::Set | Container::FrozenSet, m) => put(py, "set", none(), m),
        Kind::Container(Container::Dict, m) => put(py, "dict", none(), m),
        Kind::Slice(parts) => put(py, "slice", none(), parts),
        Kind::Function(f) => {
            let object = functions::object_of_id(f.func).and_then(|n| identity::object(py, n));
            match object {
                Some(o) if !f.bound => put(py, "function", o, &[]),
                Some(_) | None => put(py, "closure", name(py, &f.func.name()), &[]),
            }
        }
        Kind::Builtin(op) => match operations::object_of(py, *op)? {
            Some(o) => put(py, "builtin", o.into_bound(py), &[]),
            None => put(py, "closure", name(py, op.name()), &[]),
        },
        Kind::NamedTupleClass(c) | Kind::ExcClass(c) | Kind::Class(c) => about_class(py, "class", c, t),
        Kind::Module(m) => put(py, "module", known::module_object(py, m).unwrap_or_else(none), &[]),
        Kind::Generator(_, yields) => put(py, "generator", name(py, &t.to_string()), &[*yields]),
        Kind::DType(of) => put(py, "dtype", none(), &[*of]),
        Kind::Range(_) => put(py, "range", none(), &[]),
        Kind::Var(_) | Kind::Never | Kind::Undef => put(py, "undefined", none(), &[]),
        _ => put(py, "text", name(py, &t.to_string()), &[]),
    }
}

/// A type that is about a class alone; its text, where nobody has the class any more.
fn about_class<'py>(py: Python<'py>, kind: &str, c: &ClassDef, t: Type) -> PyResult<Bound<'py, PyTuple>> {
    match known::object_of_def(py, c) {
        Some(class) => put(py, kind, class.into_bound(py), &[]),
        None => put(py, "text", name(py, &t.to_string()), &[]),
    }
}

fn name<'py>(py: Python<'py>, text: &str) -> Bound<'py, PyAny> {
    PyString::new(py, text).into_any()
}

fn put<'py>(
    py: Python<'py>,
    kind: &str,
    about: Bound<'py, PyAny>,
    inside: &[Type],
) -> PyResult<Bound<'py, PyTuple>> {
    let inside = inside.iter().map(|t| told(py, *t)).collect::<PyResult<Vec<_>>>()?;
    (kind, about, PyTuple::new(py, inside)?).into_pyobject(py)
}

/// Types that no text says, by the numbers under which Python knows them.
static NUMBERED: LazyLock<Mutex<Vec<Type>>> = LazyLock::new(Default::default);

/// What stands for such a type where types are texts.
fn number(t: Type) -> String {
    let mut all = NUMBERED.lock().unwrap_or_else(|e| e.into_inner());
    let known = all.iter().position(|n| *n == t).unwrap_or_else(|| {
        all.push(t);
        all.len() - 1
    });
    format!("#{known}")
}

/// The type that such a text stands for.
pub(crate) fn numbered(text: &str) -> Option<Type> {
    let n: usize = text.strip_prefix('#')?.parse().ok()?;
    NUMBERED.lock().unwrap_or_else(|e| e.into_inner()).get(n).copied()
}

/// A text with what such texts inside of it stand for, written exactly. Names of fields stand in quotes.
pub(crate) fn written_out(text: &str) -> Cow<'_, str> {
    if !text.contains('#') {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest, mut quoted) = (String::new(), text, false);
    while let Some(c) = rest.chars().next() {
        quoted ^= c == '"';
        let digits = rest[c.len_utf8()..].bytes().take_while(u8::is_ascii_digit).count();
        let end = c.len_utf8() + if c == '#' && !quoted { digits } else { 0 };
        match numbered(&rest[..end]) {
            Some(t) => out.push_str(&format!("{t:#}")),
            None => out.push_str(&rest[..end]),
        }
        rest = &rest[end..];
    }
    Cow::Owned(out)
}

/// The object that a type is in Python.
pub(crate) fn of<'py>(py: Python<'py>, t: Type) -> PyResult<Bound<'py, PyAny>> {
    let made = py.import(intern!(py, "tierup._kinds"))?.getattr(intern!(py, "made"))?;
    made.call1((told(py, t)?,))
}
