//! Whether a call whose result is known does anything else: a special method that gives NotImplemented for the
//! types at hand need not be called for that, but may count, print or raise before.

use super::resolved::Resolved;
use super::state::{Session, Solved};
use crate::ops::Effect;
use crate::ssa::{Func, Inst, InstanceId, Op, Term};

impl Session<'_> {
    /// Whether nobody can tell that it was left out, as far as that is known by now.
    pub(super) fn leaves_no_trace(&self, how: &Resolved) -> bool {
        match how {
            Resolved::Instance { id, .. } => self.does_nothing(*id),
            Resolved::As(how, _) => self.leaves_no_trace(how),
            Resolved::Known(_) | Resolved::Same(_) | Resolved::Nothing => true,
            Resolved::Apply { .. }
            | Resolved::Region { .. }
            | Resolved::Task { .. }
            | Resolved::Build { .. }
            | Resolved::Retype(_)
            | Resolved::Member(..)
            | Resolved::After(..)
            | Resolved::Dispatch { .. }
            | Resolved::Impossible(..) => false,
        }
    }

    /// Whether what an instance reaches only finds out what it returns.
    fn does_nothing(&self, id: InstanceId) -> bool {
        let instance = self.at(id);
        let Some(solved) = &instance.solved else { return false };
        let func = &instance.func;
        let reached = func.blocks.iter().zip(&solved.reached).filter(|(_, reached)| **reached);
        reached.map(|(block, _)| block).all(|block| {
            let ends = match &block.term {
                Term::Jump(_) | Term::Branch { .. } | Term::Return(_) => true,
                Term::Raise { .. } | Term::None | Term::Unreachable => false,
            };
            ends && block.insts.iter().all(|i| finds_out(func, solved, *i))
        })
    }
}

/// Whether an instruction gives a value and does nothing more. What is known to be a constant is not carried out.
fn finds_out(func: &Func, solved: &Solved, i: Inst) -> bool {
    let node = func.inst(i);
    let known = node.result.is_some_and(|r| solved.facts[r.index()].konst.is_some());
    match solved.resolved.get(&i) {
        Some(Resolved::After(..)) => false,
        _ if known => true,
        _ if solved.raises[i.index()] => false,
        Some(how) => gives_a_value(how),
        None => node.op != Op::Yield,
    }
}

fn gives_a_value(how: &Resolved) -> bool {
    match how {
        Resolved::Apply { op, .. } => op.effect != Effect::Writes,
        Resolved::As(how, _) => gives_a_value(how),
        Resolved::Dispatch { ways, .. } => {
            ways.iter().all(|(how, _, known)| known.is_some() || gives_a_value(how))
        }
        Resolved::Build { .. }
        | Resolved::Retype(_)
        | Resolved::Member(..)
        | Resolved::Same(_)
        | Resolved::Known(_)
        | Resolved::Nothing => true,
        Resolved::Instance { .. }
        | Resolved::Region { .. }
        | Resolved::Task { .. }
        | Resolved::After(..)
        | Resolved::Impossible(..) => false,
    }
}
