//! Which objects are functions whose types choose what a call comes to.

use crate::bounds::has_bounds;
use crate::decorated;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction};
use tierup_core::ssa::{FuncId, registry};

/// What chooses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chooser {
    /// `functools.singledispatch`: the class of the first argument.
    Single,
    /// `functools.singledispatchmethod`: the class of the argument behind the instance.
    Method,
    /// `tierup.dispatch`: all arguments.
    Rows,
    /// A function whose type variables have bounds: itself, if the arguments satisfy these.
    Bounded,
    /// `njit(checked=True)`: itself, if the arguments are what it declares or become it.
    Checked,
}

impl Chooser {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Chooser::Single => "single",
            Chooser::Method => "method",
            Chooser::Rows => "rows",
            Chooser::Bounded => "bounded",
            Chooser::Checked => "checked",
        }
    }
}

/// Whether an object is a function that chooses. Such functions take any arguments, which their code says, so
/// that others are not asked more.
pub(crate) fn chooser(object: &Bound<'_, PyAny>) -> PyResult<Option<Chooser>> {
    let py = object.py();
    if let Some(d) = decorated::of(object) {
        return Ok(d.decoration().checked.then_some(Chooser::Checked));
    }
    let Ok(f) = object.cast::<PyFunction>() else {
        return Ok(is_method(object)?.then_some(Chooser::Method));
    };
    let code = f.getattr(intern!(py, "__code__"))?;
    let flags: i32 = code.getattr(intern!(py, "co_flags"))?.extract()?;
    let any = ffi::CO_VARARGS | ffi::CO_VARKEYWORDS;
    if flags & any != any {
        return Ok(None);
    }
    let dict = f.getattr(intern!(py, "__dict__"))?.cast_into::<PyDict>()?;
    // A function around one has its attributes (`functools.wraps`), and is another function.
    let home = f.getattr(intern!(py, "__globals__"))?;
    if dict.contains(intern!(py, "_tierup_rows_"))? {
        let ours = home.is(py.import(intern!(py, "tierup._dispatch"))?.dict());
        return Ok(ours.then_some(Chooser::Rows));
    }
    let single = dict.contains(intern!(py, "registry"))?
        && dict.contains(intern!(py, "dispatch"))?
        && home.is(py.import(intern!(py, "functools"))?.dict());
    Ok(single.then_some(Chooser::Single))
}

fn is_method(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if object.get_type().name()? != "singledispatchmethod" {
        return Ok(false);
    }
    let class = object.py().import(intern!(object.py(), "functools"))?.getattr("singledispatchmethod")?;
    Ok(object.get_type().is(&class))
}

/// Notes that a function chooses, if its object does, or what that decorates.
pub(crate) fn note(object: &Bound<'_, PyAny>, f: &Bound<'_, PyFunction>, id: FuncId) -> PyResult<()> {
    if chooser(object)?.is_some() || chooser(f.as_any())?.is_some() || has_bounds(f)? {
        registry::choose(id);
    }
    Ok(())
}
