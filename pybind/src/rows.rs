//! Functions whose types choose what a call comes to: `functools.singledispatch`, `singledispatchmethod`,
//! `tierup.dispatch`. Which row it is, Python says (`tierup/_rows.py`), as it would choose itself; here
//! types become what that knows of a value.

use crate::choosers::{Chooser, chooser};
use crate::errors::Failure;
use crate::{classes, functions, identity};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple};
use std::sync::Arc;
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::ssa::FuncId;
use tierup_core::types::{Kind, Type};

/// The function that a call of a `singledispatchmethod` is to the compiler, and what it is in its class.
pub(crate) fn method<'py>(object: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyFunction>, String)> {
    if chooser(object)? != Some(Chooser::Method) {
        return Err(PyTypeError::new_err("no singledispatchmethod"));
    }
    let kind = object.py().import("tierup._rows")?.getattr("method_kind")?.call1((object,))?.extract()?;
    Ok((object.getattr("dispatcher")?.cast_into::<PyFunction>()?, kind))
}

/// Whether the rows of a function say what they give: those of `functools` mean nothing by it.
pub(crate) fn has_results(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(chooser(object)? == Some(Chooser::Rows))
}

/// What a call comes to, and what that depends on.
pub(crate) struct Answer<'py> {
    pub what: Result<Bound<'py, PyAny>, Diagnostic>,
    pub functions: Vec<Bound<'py, PyAny>>,
    pub dicts: Vec<Bound<'py, PyDict>>,
    /// Classes may join an abstract one that was asked for.
    pub abstract_classes: bool,
}

/// Asks for the row of a call.
pub(crate) fn choose<'py>(
    object: &Bound<'py, PyAny>,
    positional: &[Type],
    named: &[(Arc<str>, Type)],
) -> Result<Answer<'py>, Failure> {
    let py = object.py();
    let of = chooser(object)?.unwrap_or(Chooser::Bounded);
    let types = positional.iter().chain(named.iter().map(|n| &n.1));
    let forms = types.map(|t| form(py, *t)).collect::<PyResult<Vec<_>>>()?;
    let names = named.iter().map(|n| &*n.0).collect::<Vec<_>>();
    let answer = py.import("tierup._rows")?.getattr("choose")?.call1((
        object,
        of.name(),
        PyTuple::new(py, forms)?,
        PyTuple::new(py, names)?,
    ))?;
    read(&answer)
}

/// Asks what is done with what a function gives, for it to be what that declares.
pub(crate) fn result<'py>(object: &Bound<'py, PyAny>, ty: Type) -> Result<Answer<'py>, Failure> {
    let py = object.py();
    read(&py.import("tierup._rows")?.getattr("result")?.call1((object, form(py, ty)?))?)
}

fn read<'py>(answer: &Bound<'py, PyAny>) -> Result<Answer<'py>, Failure> {
    let (what, functions, dicts, abstract_classes): (Bound<'_, PyTuple>, _, Vec<Bound<'_, PyAny>>, bool) =
        answer.extract()?;
    let what = match what.len() {
        2 => Ok(what.get_item(1)?),
        _ => {
            let (_, code, text): (String, String, String) = what.extract()?;
            let code = Code::named(&code).ok_or_else(|| Diagnostic::internal(format!("no code {code}")))?;
            Err(Diagnostic::new(code, text))
        }
    };
    let dicts = dicts.into_iter().filter_map(|d| d.cast_into::<PyDict>().ok()).collect();
    Ok(Answer { what, functions, dicts, abstract_classes })
}

/// The function that calls a function which chooses, and nothing else.
pub(crate) fn entry(object: &Bound<'_, PyAny>) -> Result<FuncId, Failure> {
    let made = object.py().import("tierup._rows")?.getattr("entry")?.call1((object,))?;
    functions::library_func_id(&made.cast_into::<PyFunction>().map_err(PyErr::from)?)
}

/// What is known of values of a type, as `tierup._annotations.Form` has it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "only these have something inside that annotations ask for"
)]
fn form<'py>(py: Python<'py>, t: Type) -> PyResult<Bound<'py, PyTuple>> {
    let inside = |all: &[Type]| all.iter().map(|t| form(py, *t)).collect::<PyResult<Vec<_>>>();
    let (kind, members) = match t.kind() {
        Kind::Variant(m) => return union(py, m),
        Kind::Optional(of) => return union(py, &[Type::none(), *of]),
        Kind::Var(_) | Kind::Never | Kind::Undef | Kind::MaybeUndef(_) | Kind::Conflict(..) => {
            ("unknown", vec![])
        }
        Kind::List(of) => ("list", inside(&[*of])?),
        Kind::Container(_, m) if m.len() == 1 => ("list", inside(m)?),
        Kind::Container(_, m) if m.len() == 2 => ("dict", inside(m)?),
        Kind::Tuple(m) => ("tuple", inside(m)?),
        Kind::Function(f) if !f.bound => {
            let function = functions::function_of_id(py, f.func);
            return match function {
                Some(function) => told(py, "function", t, PyTuple::new(py, [function])?),
                None => told(py, "other", t, PyTuple::empty(py)),
            };
        }
        Kind::Frozen(c, _) | Kind::Object(c, _) => {
            let names = PyTuple::new(py, &c.fields)?;
            return told(py, "object", t, names);
        }
        Kind::Array(a) => {
            let element = classes::scalar_class(py, a.dtype);
            return match element {
                Some(e) => {
                    let axes = a.ndim().into_pyobject(py)?.into_any();
                    told(py, "array", t, PyTuple::new(py, [e, axes])?)
                }
                None => told(py, "other", t, PyTuple::empty(py)),
            };
        }
        _ => ("other", vec![]),
    };
    told(py, kind, t, PyTuple::new(py, members)?)
}

fn union<'py>(py: Python<'py>, ways: &[Type]) -> PyResult<Bound<'py, PyTuple>> {
    let ways = ways.iter().map(|t| form(py, *t)).collect::<PyResult<Vec<_>>>()?;
    let none = PyTuple::empty(py);
    ("union", none, true, PyTuple::new(py, ways)?).into_pyobject(py)
}

fn told<'py>(
    py: Python<'py>,
    kind: &str,
    t: Type,
    inside: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyTuple>> {
    match classes::classes_of(py, t) {
        Some(all) => (kind, PyTuple::new(py, all)?, classes::is_exact(t), inside).into_pyobject(py),
        None => ("unknown", PyTuple::empty(py), false, PyTuple::empty(py)).into_pyobject(py),
    }
}

/// The object of a function that chooses; a decorated one has it below.
pub(crate) fn object_of<'py>(py: Python<'py>, id: FuncId) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(object) = functions::object_of_id(id).and_then(|n| identity::object(py, n))
        && chooser(&object)?.is_some()
    {
        return Ok(Some(object));
    }
    Ok(functions::function_of_id(py, id).map(Bound::into_any))
}
