//! Constants of the compiler as Python objects.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyString, PyTuple};
use tierup_core::types::Const;

/// A constant of the compiler as an object.
pub(crate) fn object<'py>(py: Python<'py>, value: &Const) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Const::None => py.None().into_bound(py),
        Const::Ellipsis => py.Ellipsis().into_bound(py),
        Const::Bool(x) => PyBool::new(py, *x).to_owned().into_any(),
        Const::Int(x) => x.into_pyobject(py)?.into_any(),
        Const::UInt(x) => x.into_pyobject(py)?.into_any(),
        Const::Float(x) => x.into_pyobject(py)?.into_any(),
        Const::Complex(re, im) => PyComplex::from_doubles(py, *re, *im).into_any(),
        Const::Str(x) => PyString::new(py, x).into_any(),
        Const::Bytes(x) => PyBytes::new(py, x).into_any(),
        Const::Tuple(all) => {
            let all = all.iter().map(|a| object(py, a)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, all)?.into_any()
        }
    })
}
