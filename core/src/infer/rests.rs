//! `a, *b = t` of a tuple whose members have several types: `b` is a list in Python. A tuple keeps the type of each
//! member, and stands for the list where nobody can see that it is none.

use super::state::Solver;
use crate::ops::{OpId, id};
use crate::ssa::analysis::{Definitions, uses_of_term};
use crate::ssa::{Inst, InstNode, Op, Value};
use crate::types::{Const, Kind};

/// What takes a tuple as it takes a list, and keeps nothing of it.
const EITHER: [OpId; 17] = [
    id::BUILTINS_LEN,
    id::BUILTINS_ITER,
    id::BUILTINS_LIST,
    id::BUILTINS_TUPLE,
    id::BUILTINS_ENUMERATE,
    id::BUILTINS_REVERSED,
    id::BUILTINS_SORTED,
    id::BUILTINS_SUM,
    id::BUILTINS_ANY,
    id::BUILTINS_ALL,
    id::BUILTINS_MIN,
    id::BUILTINS_MAX,
    id::CONTAINS,
    id::UNPACK_SEQUENCE,
    id::UNPACK_EX,
    id::SPREAD_EXTEND,
    id::LIST_EXTEND,
];

impl Solver<'_, '_> {
    /// Whether the rest that an unpacking gives may be seen to be no list.
    pub(super) fn rest_is_seen(&self, unpacking: Inst) -> bool {
        if self.session.is_library(self.func) {
            return false;
        }
        let func = self.func;
        let defs = Definitions::new(func);
        let node = func.inst(unpacking);
        let Some(all) = node.result else { return true };
        let before = node.args.get(1).and_then(|v| self.fact(*v).konst.as_ref()?.as_int());
        let mut seen = false;
        let mut rests = vec![];
        for by in func.blocks.iter().flat_map(|b| &b.insts).map(|i| func.inst(*i)) {
            if by.args.contains(&all) {
                let Op::Member(k) = by.op else { return true };
                if before == Some(i64::from(k)) {
                    rests.extend(by.result);
                }
            }
        }
        for block in &func.blocks {
            uses_of_term(&block.term, &mut |v| seen |= rests.contains(&v));
            for by in block.insts.iter().map(|i| func.inst(*i)) {
                seen |= by.unwind.iter().any(|u| u.args.iter().any(|v| rests.contains(v)));
                seen |= by.args.iter().any(|v| rests.contains(v)) && !self.takes_either(&defs, by, &rests);
            }
        }
        seen
    }

    /// Whether an instruction takes a tuple for a list.
    fn takes_either(&self, defs: &Definitions, by: &InstNode, rests: &[Value]) -> bool {
        if let Op::CallSpread { .. } = by.op {
            return by.args.iter().enumerate().all(|(k, v)| k == 1 || !rests.contains(v));
        }
        if let Op::Attr(name) = &by.op {
            return matches!(&**name, "count" | "index");
        }
        let called = if let Op::Table(op) = by.op {
            Some(op)
        } else if let Op::Call { .. } = by.op {
            by.args.first().and_then(|callee| self.operation_named(defs, *callee))
        } else {
            None
        };
        match called {
            Some(id::GETITEM) => by.args.get(1).is_some_and(|index| self.is_number_here(defs, *index)),
            Some(op) => EITHER.contains(&op),
            None => false,
        }
    }

    /// Whether an index is a number, and no slice: a part of a list is a list again. What comes behind an unpacking
    /// may have no type yet.
    fn is_number_here(&self, defs: &Definitions, index: Value) -> bool {
        match defs.inst(index).map(|i| &self.func.inst(i).op) {
            Some(Op::Const(written)) => matches!(written, Const::Int(_)),
            Some(Op::Table(id::BUILTINS_SLICE)) => false,
            Some(_) | None => self.ty(index).is_int() || *self.ty(index) == Kind::Never,
        }
    }
}
