//! The extension module `tierup._tierup`: converts and forwards, holds no compiler logic.
//!
//! A call enters in [`dispatcher`], is matched and converted by [`overload`] and [`plan`], and returns through [`boxing`] or [`exc`].
//! A compilation sees Python through [`host`]; what it saw becomes [`guards`].

mod api;
mod bind;
mod boxing;
mod cache;
mod convert;
mod ctx;
mod decode;
mod dispatcher;
mod engine;
mod errors;
mod exc;
mod frame;
mod functions;
mod generator;
mod guards;
mod host;
mod known;
mod lists;
mod npy;
mod overload;
mod plan;
mod typeof_;
mod value;

use pyo3::prelude::*;

#[pymodule]
fn _tierup(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    errors::quiet_panics();
    exc::install();
    boxing::Memory::init(py)?;
    m.add("Dispatcher", dispatcher::init(py)?)?;
    cache::register(m)?;
    api::register(m)
}
