//! Words of messages.

use pyo3::prelude::*;
use pyo3::types::PyTypeMethods;

/// The class of an object as the user calls it.
pub(crate) fn class_name(obj: &Bound<'_, PyAny>) -> String {
    let class = obj.get_type();
    let name = class.qualname().map_or_else(|_| "object".into(), |n| n.to_string());
    match class.module().map(|m| m.to_string()) {
        Ok(m) if m != "builtins" && m != "__main__" => format!("{m}.{name}"),
        Ok(_) | Err(_) => name,
    }
}

/// With the article that English wants.
pub(crate) fn a(noun: &str) -> String {
    format!("{} {noun}", if noun.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" })
}
