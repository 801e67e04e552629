//! What the code of a compilation may do to lists that it is given.

use crate::infer::state::Session;
use crate::ops::Effect;
use crate::ssa::Op;

/// Whether it may change any.
pub fn changes_lists(session: &Session<'_>) -> bool {
    let typed = session.instances.iter().filter_map(|i| i.typed.as_ref());
    typed.flat_map(|t| t.func.insts.iter().map(|node| (&t.func, node))).any(|(func, node)| {
        let Op::Apply(op) = node.op else { return matches!(node.op, Op::Region(_)) };
        op.effect == Effect::Writes && node.args.iter().any(|a| func.types[a.index()].holds_list())
    })
}
