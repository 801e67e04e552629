//! Classes of the library for what programs write to, read from and put together: files, `io.StringIO`,
//! `string.Template`, `contextlib.ExitStack`, the queues of `queue` (`tierup/lib/files.py`, `streams.py`,
//! `templates.py`, `contexts.py`, `queues.py`).

use super::{Body, OpDef};
use crate::types::{Const, Kind};
use crate::typing::Arg;

super::identity::op_ids! {
    TEXTS_TEMPLATE = "texts.Template",
}

const OPEN: &str = "file, mode='r', buffering=-1, encoding=None, errors=None, newline=None";

/// Whether a file is one of bytes, or one of texts, is known from its mode.
fn is_opened(a: &[Arg], binary: bool) -> bool {
    *a[0].ty == Kind::Str
        && a[1].text().is_some_and(|mode| mode.contains('b') == binary)
        && matches!(a[2].konst, Some(Const::Int(-1)))
}

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["io.StringIO"], "initial_value='', newline='\n'", Body::Py("streams.string_io"))
        .only_if(|a| (*a[0].ty == Kind::Str || a[0].is_none()) && a[1].text() == Some("\n"))
        .raises()
        .doc("A text that is written to and read from."),
    OpDef::new(&["builtins.open"], OPEN, Body::Py("files.open_text"))
        .only_if(|a| is_opened(a, false))
        .raises()
        .writes()
        .doc("A file of texts; OSError."),
    OpDef::new(&["builtins.open"], OPEN, Body::Py("files.open_binary"))
        .only_if(|a| is_opened(a, true))
        .raises()
        .writes()
        .doc("A file of bytes; OSError."),
    OpDef::new(&["queue.Queue"], "maxsize=0", Body::Py("queues.queue"))
        .raises()
        .doc("A queue of one thread: first in, first out."),
    OpDef::new(&["queue.LifoQueue"], "maxsize=0", Body::Py("queues.lifo_queue"))
        .raises()
        .doc("The same: last in, first out."),
    OpDef::new(&["queue.PriorityQueue"], "maxsize=0", Body::Py("queues.priority_queue"))
        .raises()
        .doc("The same: the smallest first."),
    OpDef::new(&["contextlib.ExitStack"], "", Body::Py("contexts.exit_stack"))
        .raises()
        .doc("What leaves several managers when its block ends, the last first."),
    OpDef::new(&["texts.Template"], "template", Body::Py("templates.template"))
        .only_if(|a| *a[0].ty == Kind::Str)
        .raises()
        .doc("`string.Template`: a text with places for values."),
];
