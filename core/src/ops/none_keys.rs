//! What is looked up in a dict or set may be None where no key is: nothing is found. The table itself is asked for
//! keys of its own type alone.

use super::{Body, OpDef};
use crate::types::{Container, Kind};
use crate::typing::Arg;

pub(crate) static OPS: &[OpDef] = &[
    asks(&["dict.get"], "dict, key, default=None", "none_keys.get", of_dict)
        .reads()
        .doc("The value of a key that may be None, or `default`."),
    asks(&["operator.contains"], "dict, key", "none_keys.contains", of_keys)
        .reads()
        .doc("`key in dict`, `x in set` where it may be None."),
    asks(&["operator.getitem"], "dict, key", "none_keys.item", of_plain_dict)
        .reads()
        .doc("`dict[key]` of a key that may be None; KeyError."),
    asks(&["operator.getitem"], "counter, key", "none_keys.count", |a| {
        of_dict(a) && super::dict::is_counter(a)
    })
    .reads()
    .doc("How many of what may be None a counter has."),
    asks(&["operator.delitem"], "dict, key", "none_keys.delete", |a| {
        of_dict(a) && !super::dict::is_counter(a)
    })
    .writes()
    .doc("`del dict[key]` of a key that may be None; KeyError."),
    asks(&["dict.pop"], "dict, key, default=...", "none_keys.pop", of_dict)
        .writes()
        .doc("Removes a key that may be None and returns its value, or `default`; KeyError."),
    asks(&["set.discard"], "set, x", "none_keys.discard", of_keys)
        .writes()
        .doc("Takes out an element that may be None, if it is there."),
    asks(&["set.remove"], "set, x", "none_keys.remove", of_keys)
        .writes()
        .doc("Takes out an element that may be None; KeyError."),
];

const fn asks(
    paths: &'static [&'static str],
    params: &'static str,
    function: &'static str,
    of: fn(&[Arg]) -> bool,
) -> OpDef {
    OpDef::new(paths, params, Body::Py(function)).only_if(of).raises()
}

/// Whether the second operand may be None, and the first is a dict.
fn of_dict(args: &[Arg]) -> bool {
    may_be_none(args) && args[0].ty.container().is_some_and(|(c, _)| c.is_mapping())
}

fn of_plain_dict(args: &[Arg]) -> bool {
    of_dict(args)
        && !super::dict::is_counter(args)
        && !args[0].ty.container().is_some_and(|(c, _)| c.has_defaults())
}

/// The same where keys or elements are found.
fn of_keys(args: &[Arg]) -> bool {
    let finds =
        |c: Container| c.is_mapping() || matches!(c, Container::Set | Container::FrozenSet | Container::Keys);
    may_be_none(args) && args[0].ty.container().is_some_and(|(c, _)| finds(c))
}

fn may_be_none(args: &[Arg]) -> bool {
    matches!(*args[1].ty, Kind::Optional(_) | Kind::None)
}
