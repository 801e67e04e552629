//! What holds of everything that a module or a class of Python's has. An operation of which something else
//! holds says so with its identity (`op_ids!`).

use super::effects::{Facts, Keywords, Scalars};
use super::{OpDef, OpId};
use crate::python;

const PYTHONS: Facts = Facts::NONE.scalars(Scalars::Pythons);
const OF_ARRAYS: Facts = Facts::NONE.scalars(Scalars::Numpys).list_may_be_tuple();
const NUMPYS: Facts = OF_ARRAYS.makes_arrays();

/// By what names begin with; the first one that fits.
const MODULES: &[(&str, Facts)] = &[
    ("builtins.", PYTHONS.takes_array_as_number()),
    ("math.", PYTHONS.takes_array_as_number().computes()),
    ("cmath.", PYTHONS),
    ("str.", PYTHONS),
    ("bytes.", PYTHONS),
    ("bytearray.", PYTHONS),
    ("struct.", PYTHONS),
    ("int.", PYTHONS),
    ("float.", PYTHONS),
    ("complex.", PYTHONS),
    ("itertools.", Facts::NONE.keeps()),
    ("heapq.", Facts::NONE.keeps()),
    ("set.", PYTHONS),
    ("frozenset.", PYTHONS),
    ("deque.", PYTHONS),
    ("array.", OF_ARRAYS),
    // Generators are there too.
    ("numpy.random.", NUMPYS.draws()),
    ("numpy.", NUMPYS),
    ("kwargs.", Facts::NONE.keywords(Keywords::Takes)),
];

/// Whether a text begins with another one, at compile time.
const fn begins(text: &str, with: &str) -> bool {
    let (text, with) = (text.as_bytes(), with.as_bytes());
    if text.len() < with.len() {
        return false;
    }
    let mut k = 0;
    while k < with.len() {
        if text[k] != with[k] {
            return false;
        }
        k += 1;
    }
    true
}

impl Facts {
    /// What an operation has from its module or class.
    pub(super) const fn of(name: &str) -> Facts {
        let mut k = 0;
        while k < MODULES.len() {
            if begins(name, MODULES[k].0) {
                return MODULES[k].1;
            }
            k += 1;
        }
        Facts::NONE
    }
}

/// Modules and classes whose functions Python has in C: these take by name what [`BY_NAME`] says, and what else
/// the table has a name for by its place.
const IN_C: &[&str] = &[
    "builtins.",
    "math.",
    "cmath.",
    "operator.",
    "heapq.",
    "str.",
    "bytes.",
    "bytearray.",
    "list.",
    "dict.",
    "set.",
    "frozenset.",
    "tuple.",
    "range.",
    "deque.",
    "int.",
    "float.",
    "complex.",
    // What makes scalars of NumPy's.
    "dtype.call",
    // Methods that share a row with a function, which is written in Python.
    "array.swapaxes",
    "array.fill",
];
const BY_NAME: &[(&str, &[&str])] = &[
    ("builtins.bytearray", &["source", "encoding", "errors"]),
    ("builtins.bytes", &["source", "encoding", "errors"]),
    ("builtins.complex", &["real", "imag"]),
    ("builtins.enumerate", &["iterable", "start"]),
    ("builtins.int", &["base"]),
    ("builtins.max", &["key", "default"]),
    ("builtins.memoryview", &["object"]),
    ("builtins.min", &["key", "default"]),
    ("builtins.open", &["file", "mode", "buffering", "encoding", "errors", "newline"]),
    ("builtins.pow", &["base", "exp", "mod"]),
    ("builtins.print", &["sep", "end", "file", "flush"]),
    ("builtins.round", &["number", "ndigits"]),
    ("builtins.sorted", &["key", "reverse"]),
    ("builtins.str", &["object", "encoding", "errors"]),
    ("builtins.sum", &["start"]),
    ("builtins.zip", &["strict"]),
    ("heapq.merge", &["key", "reverse"]),
    ("heapq.nlargest", &["n", "iterable", "key"]),
    ("heapq.nsmallest", &["n", "iterable", "key"]),
    ("math.isclose", &["a", "b", "rel_tol", "abs_tol"]),
    ("math.nextafter", &["steps"]),
    ("math.prod", &["start"]),
    ("cmath.isclose", &["a", "b", "rel_tol", "abs_tol"]),
    ("str.encode", &["encoding", "errors"]),
    ("str.expandtabs", &["tabsize"]),
    ("str.rsplit", &["sep", "maxsplit"]),
    ("str.split", &["sep", "maxsplit"]),
    ("str.splitlines", &["keepends"]),
    ("bytes.decode", &["encoding", "errors"]),
    ("bytes.expandtabs", &["tabsize"]),
    ("bytes.hex", &["sep", "bytes_per_sep"]),
    ("bytes.rsplit", &["sep", "maxsplit"]),
    ("bytes.split", &["sep", "maxsplit"]),
    ("bytes.splitlines", &["keepends"]),
    ("bytes.translate", &["delete"]),
    ("list.sort", &["key", "reverse"]),
    ("int.from_bytes", &["bytes", "byteorder", "signed"]),
    ("int.to_bytes", &["length", "byteorder", "signed"]),
];
/// What universal functions take by name; their operands have places only.
const OF_UFUNCS: &[&str] =
    &["out", "where", "dtype", "casting", "order", "subok", "signature", "axes", "axis", "keepdims"];
/// Functions of NumPy that are loops over scalars here, and written in Python there.
const IN_PYTHON: &[&str] = &[
    "numpy.fix",
    "numpy.isclose",
    "numpy.iscomplex",
    "numpy.isneginf",
    "numpy.isposinf",
    "numpy.isreal",
    "numpy.std",
    "numpy.var",
];

/// Whether an operation takes an argument by a name that a row of it has.
pub(crate) fn takes_by_name(id: OpId, key: &str) -> bool {
    let path = id.name();
    let placed = |op: &&OpDef| op.spec().params[..op.spec().placed].iter().any(|p| p.name == key);
    if id.rows().iter().any(placed) {
        return false;
    }
    if path == "str.replace" {
        return key == "count" && python::since(13);
    }
    // A bytearray has the methods of bytes.
    let shared = path.strip_prefix("bytearray.").map(|method| format!("bytes.{method}"));
    let wanted = shared.as_deref().unwrap_or(path);
    if IN_C.iter().any(|module| path.starts_with(module)) {
        let any = id.rows().iter().any(|op| op.spec().names);
        return any || BY_NAME.iter().any(|(path, names)| *path == wanted && names.contains(&key));
    }
    !(path.starts_with("numpy.") && id.is_elementwise() && !IN_PYTHON.contains(&path))
        || OF_UFUNCS.contains(&key)
}
