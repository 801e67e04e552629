//! Texts that are put together: Python's `io.StringIO` and `string.Template`, classes of the library
//! (`tierup/lib/streams.py`, `tierup/lib/templates.py`).

use super::{Body, OpDef};
use crate::types::Kind;

super::identity::op_ids! {
    TEXTS_TEMPLATE = "texts.Template",
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["io.StringIO"], "initial_value='', newline='\n'", Body::Py("streams.string_io"))
        .only_if(|a| (*a[0].ty == Kind::Str || a[0].is_none()) && a[1].text() == Some("\n"))
        .raises()
        .doc("A text that is written to and read from."),
    OpDef::new(&["contextlib.ExitStack"], "", Body::Py("contexts.exit_stack"))
        .raises()
        .doc("What leaves several managers when its block ends, the last first."),
    OpDef::new(&["texts.Template"], "template", Body::Py("templates.template"))
        .only_if(|a| *a[0].ty == Kind::Str)
        .raises()
        .doc("`string.Template`: a text with places for values."),
];
