//! What the code of a compilation may do to lists that it is given, and to anything at all.

use super::apart::summary;
use crate::infer::state::Session;
use crate::ops::Effect;
use crate::ssa::{InstanceId, Op};
use std::collections::HashMap;

/// Whether it may change any that `root` is given.
pub fn changes_lists(session: &Session<'_>, root: InstanceId) -> bool {
    let args = &session.at(root).key.args;
    match summary(session, root, &mut HashMap::new()) {
        Some(does) => does.written.iter().any(|k| args[*k].holds_list()),
        None => changes_any(session),
    }
}

/// Whether it may change any list at all: also one that it made and a generator has yielded.
pub fn changes_any(session: &Session<'_>) -> bool {
    let typed = session.instances.iter().filter_map(|i| i.typed.as_ref());
    typed.flat_map(|t| t.func.insts.iter().map(|node| (&t.func, node))).any(|(func, node)| {
        let Op::Apply(op) = node.op else { return matches!(node.op, Op::Region(_) | Op::Task(_)) };
        op.effect == Effect::Writes && node.args.iter().any(|a| func.types[a.index()].holds_list())
    })
}

/// Whether it may change anything: a list, an array or an object, also one that it made, or what is outside of
/// the program.
pub fn changes_something(session: &Session<'_>) -> bool {
    let typed = session.instances.iter().filter_map(|i| i.typed.as_ref());
    typed.flat_map(|t| &t.func.insts).any(|node| {
        matches!(&node.op, Op::Apply(op) if op.effect == Effect::Writes)
            || matches!(node.op, Op::Region(_) | Op::Task(_) | Op::Yield | Op::SetAttr(_))
    })
}
