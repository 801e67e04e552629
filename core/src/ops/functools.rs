//! Python's module `functools`.

use super::{Body, OpDef};

super::identity::op_ids! {
    FUNCTOOLS_PARTIAL = "functools.partial" [keeps],
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["_functools.reduce", "functools.reduce"],
        "f, values, start=...",
        Body::Py("builtin.reduce"),
    )
    .raises()
    .doc("`f` of the values so far and the next; TypeError of an empty iterable."),
    OpDef::new(&["functools.partial"], "func, *args", Body::Py("functions.partial"))
        .raises()
        .doc("A function whose first arguments are given."),
];
