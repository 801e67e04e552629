//! Types as texts, which is how they travel between the Python package and this module
//! (`core::types::parse`).

use crate::errors::to_python;
use crate::{npy, type_objects};
use pyo3::prelude::*;
use tierup_core::diag::{Code, Diagnostic};
use tierup_core::types::{Type, parse};

/// The type that a text means. Objects in native memory are written exactly: [`crate::struct_types`] says how.
pub(crate) fn parse_type(py: Python<'_>, text: &str) -> PyResult<Type> {
    if let Some(t) = type_objects::numbered(text) {
        return Ok(t);
    }
    let exact = text.contains('#') || text.contains("object(");
    let text = &type_objects::written_out(text);
    let parsed = if exact { parse::exact(text) } else { parse::parse(text) };
    parsed.map_err(|e| to_python(py, &Diagnostic::new(Code::BadSignature, e)))
}

/// The types that code is compiled for.
pub(crate) fn parse_types(py: Python<'_>, texts: &[String]) -> PyResult<Vec<Type>> {
    // Plans compare classes with NumPy's, which no array has brought in yet.
    if texts.iter().any(|a| a.contains("array")) {
        npy::require(py)?;
    }
    texts.iter().map(|t| parse_type(py, t)).collect()
}
