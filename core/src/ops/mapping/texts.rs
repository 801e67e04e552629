//! What stands around the entries in the text of a container.

use crate::classes;
use crate::types::{Container, Kind, Type};

/// Whether its text shows tuples of keys and values.
pub(in crate::ops) fn shows_tuples(c: Container) -> bool {
    c == Container::OrderedDict && !crate::python::since(12)
}

/// What stands around the entries in the text of a container with these types in it; none where the text says
/// where in memory a function is.
pub(in crate::ops) fn around(c: Container, m: &[Type]) -> Option<[String; 2]> {
    let [open, close] = c.around();
    if shows_tuples(c) {
        return Some(["OrderedDict([".into(), "])".into()]);
    }
    if c != Container::DefaultDict {
        return Some([open.into(), close.into()]);
    }
    let made_by = if *m[2] == Kind::None {
        "None".to_owned()
    } else if let Kind::Builtin(op) = *m[2] {
        classes::object(op)?;
        format!("<class '{}'>", op.name().trim_start_matches("builtins."))
    } else {
        return None;
    };
    Some([format!("{open}{made_by}, {{"), close.into()])
}
