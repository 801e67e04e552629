//! What names mean in a function while it is read, before anything is typed.

use crate::{npy, operations};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyModule, PyType};
use tierup_core::ssa::names::{Meaning, Names, Root};

/// Those of this function.
pub(crate) struct NamesOf<'a, 'py> {
    pub f: &'a Bound<'py, PyFunction>,
}

impl Names for NamesOf<'_, '_> {
    fn meaning(&self, root: Root<'_>, attributes: &[&str]) -> Option<Meaning> {
        let mut at = self.object(root).ok()??;
        for name in attributes {
            if !at.is_instance_of::<PyModule>() {
                return None;
            }
            at = at.getattr(*name).ok()?;
        }
        meaning_of(&at).ok()?
    }
}

impl<'py> NamesOf<'_, 'py> {
    fn object(&self, root: Root<'_>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = self.f.py();
        match root {
            Root::Global(name) => {
                let globals = self.f.getattr(intern!(py, "__globals__"))?.cast_into::<PyDict>()?;
                match globals.get_item(name)? {
                    Some(found) => Ok(Some(found)),
                    None => py.import("builtins")?.getattr_opt(name),
                }
            }
            Root::Free(n) => {
                let cell = self.f.getattr(intern!(py, "__closure__"))?.get_item(n as usize)?;
                cell.getattr(intern!(py, "cell_contents")).map(Some)
            }
            Root::Import(name) => {
                let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
                modules.get_item(name)
            }
        }
    }
}

fn meaning_of(obj: &Bound<'_, PyAny>) -> PyResult<Option<Meaning>> {
    if obj.is_instance_of::<PyModule>() {
        return Ok(Some(Meaning::Module));
    }
    if let Some(op) = operations::ours(obj)? {
        return Ok(Some(Meaning::Operation(op)));
    }
    if obj.is_instance_of::<PyType>()
        && let Some(t) = npy::get(obj.py())?.and_then(|n| n.scalar_type(obj.as_ptr().cast()))
    {
        return Ok(Some(Meaning::Cast(t)));
    }
    if let Some(op) = operations::operation_of(obj)? {
        return Ok(Some(Meaning::Operation(op)));
    }
    Ok(operations::type_object(obj)?.filter(|t| t.number().is_some()).map(Meaning::Cast))
}
