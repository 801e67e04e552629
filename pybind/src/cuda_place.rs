//! Where kernels run, a GPU or the simulator, and calls of the driver.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::OnceLock;
use tierup_runtime::gpu::driver::{self, Driver};

/// Where kernels run.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Device(&'static Driver),
    Simulator,
}

pub(crate) static PLACE: OnceLock<Place> = OnceLock::new();
pub(crate) fn place() -> PyResult<Place> {
    PLACE.get().copied().ok_or_else(|| PyRuntimeError::new_err("tierup.cuda is not open"))
}

/// The driver's error as `tierup.cuda.CudaError`.
pub(crate) fn raised(py: Python<'_>, e: &driver::Error) -> PyErr {
    let made = py
        .import("tierup.cuda._errors")
        .and_then(|m| m.getattr("CudaError")?.call1((e.message.as_str(), e.code)));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(e) => e,
    }
}

/// Runs a call of the driver without the interpreter lock.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    body: impl FnOnce() -> driver::Result<T> + Send,
) -> PyResult<T> {
    py.detach(body).map_err(|e| raised(py, &e))
}
