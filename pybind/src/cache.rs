//! The code cache as Python sees it: `tierup.config` chooses the directory, `python -m tierup cache` looks
//! after it.

use crate::dispatcher::core_of;
use crate::overload::Run;
use pyo3::exceptions::{PyKeyError, PyOSError};
use pyo3::prelude::*;
use std::sync::atomic::Ordering;
use tierup_runtime::engine::cache::{self, COUNTS, Directory};

/// Passes settings of `tierup.config` on.
#[pyfunction]
fn configure_cache(on: bool, base: &str, most_mb: u64) {
    cache::configure(on, base, most_mb.saturating_mul(1 << 20))
}

/// Whether what packages ship is looked at.
#[pyfunction]
fn configure_precompiled(on: bool) {
    cache::shipped::configure(on)
}

/// From now on this folder of a package is looked into; why not, where it cannot be trusted or is none of
/// ours.
#[pyfunction]
fn add_precompiled(path: std::path::PathBuf) -> Option<String> {
    cache::shipped::add(path).err()
}

/// From now on these files are looked among, which an extension module has in it; why not.
#[pyfunction]
fn add_precompiled_files(files: std::collections::HashMap<String, Vec<u8>>) -> Option<String> {
    cache::shipped::add_files(files).err()
}

/// The build id of the library with LLVM, as hexadecimal digits.
#[pyfunction]
fn compiler_id() -> Option<String> {
    cache::compiler()
}

fn place(base: &str) -> PyResult<Directory> {
    cache::place(base, 0)
        .ok_or_else(|| PyOSError::new_err("there is no directory for the code cache: HOME is not set"))
}

/// The directory with the entries, and why it is not used, if it is there and cannot be trusted.
#[pyfunction]
fn cache_path(base: &str) -> PyResult<(std::path::PathBuf, Option<String>)> {
    let d = place(base)?;
    let problem = d.problem();
    Ok((d.path, problem))
}

fn refused(d: &Directory) -> impl Fn(String) -> PyErr {
    move |why| PyOSError::new_err(format!("{}: {why}", d.path.display()))
}

/// Every file: its name, what was compiled, bytes, when it was last used (seconds since 1970), what is wrong
/// with it.
#[pyfunction]
#[allow(clippy::type_complexity)]
fn cache_entries(py: Python<'_>, base: &str) -> PyResult<Vec<(String, String, u64, i64, Option<String>)>> {
    let d = place(base)?;
    let all = py.detach(|| d.list()).map_err(refused(&d))?;
    Ok(all.into_iter().map(|l| (l.name, l.label, l.bytes, l.used, l.problem)).collect())
}

/// Removes every entry; how many there were.
#[pyfunction]
fn cache_clear(py: Python<'_>, base: &str) -> PyResult<usize> {
    let d = place(base)?;
    py.detach(|| d.clear()).map_err(refused(&d))
}

/// What this process found, did not find, stored and refused.
#[pyfunction]
fn cache_counts() -> (u64, u64, u64, u64) {
    let n = |c: &std::sync::atomic::AtomicU64| c.load(Ordering::Relaxed);
    (n(&COUNTS.hits), n(&COUNTS.misses), n(&COUNTS.stored), n(&COUNTS.refused))
}

/// The key of the `index`-th overload where there is one, and whether its code came out of the cache.
#[pyfunction]
fn cache_key(d: &Bound<'_, PyAny>, index: usize) -> PyResult<Option<(String, bool)>> {
    let list = core_of(d)?.overloads();
    let o = list.get(index).ok_or_else(|| PyKeyError::new_err(index))?;
    let Run::Compiled(code) = &o.run else { return Ok(None) };
    let cached = code.unit().history.lock().unwrap_or_else(|e| e.into_inner()).cached;
    Ok(code.unit().key.map(|k| (k.to_string(), cached)))
}

pub(crate) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(configure_cache, m)?)?;
    m.add_function(wrap_pyfunction!(configure_precompiled, m)?)?;
    m.add_function(wrap_pyfunction!(add_precompiled, m)?)?;
    m.add_function(wrap_pyfunction!(add_precompiled_files, m)?)?;
    m.add_function(wrap_pyfunction!(compiler_id, m)?)?;
    m.add_function(wrap_pyfunction!(cache_path, m)?)?;
    m.add_function(wrap_pyfunction!(cache_entries, m)?)?;
    m.add_function(wrap_pyfunction!(cache_clear, m)?)?;
    m.add_function(wrap_pyfunction!(cache_counts, m)?)?;
    m.add_function(wrap_pyfunction!(cache_key, m)?)
}
