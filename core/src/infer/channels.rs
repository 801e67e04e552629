//! Generators that look at what they are sent, and the first steps of generators.

use super::resolved::{Resolved, Source};
use super::state::Solver;
use crate::ops::{OpId, id};
use crate::ssa::{Func, Inst, InstNode, Op, Term, Value};
use crate::types::Kind;
use std::collections::HashSet;

/// Whether a generator does anything with what its `yield` gives but hand it on to the generator that it delegates
/// to, which looks at it or not.
pub(super) fn looks_at_what_is_sent(func: &Func) -> bool {
    let mut sent: HashSet<Value> =
        func.insts.iter().filter(|n| n.op == Op::Yield).filter_map(|n| n.result).collect();
    loop {
        let before = sent.len();
        let ways = func.blocks.iter().flat_map(|b| b.term.targets()).map(|t| (t, 0));
        // A handler takes the exception first.
        let raised = func.insts.iter().flat_map(|n| &n.unwind).map(|t| (t, 1));
        for (to, first) in ways.chain(raised) {
            let given = to.args.iter().zip(&func.block(to.block).params[first..]);
            sent.extend(given.filter(|(a, _)| sent.contains(a)).map(|(_, p)| *p).collect::<Vec<_>>());
        }
        if sent.len() == before {
            break;
        }
    }
    let used = |v: &Value| sent.contains(v);
    let looks = |n: &InstNode| {
        let looked_at = if n.op == Op::Table(id::ITER_SEND) { &n.args[..1] } else { &n.args };
        looked_at.iter().any(used)
    };
    func.insts.iter().any(looks)
        || func.blocks.iter().any(|b| match &b.term {
            Term::Branch { cond: v, .. } | Term::Return(v) | Term::Raise { exc: v, .. } => used(v),
            Term::None | Term::Jump(_) | Term::Unreachable => false,
        })
}

impl Solver<'_, '_> {
    /// The operation that an instruction stands for: `next` and `send(None)` of a generator that was made just before are
    /// its first step.
    pub(super) fn begins(&self, i: Inst, op: OpId, operands: &[Source]) -> OpId {
        let (method, given) = (op == id::GENERATOR_SEND, operands.len());
        if !(op == id::BUILTINS_NEXT && given == 1 || method && given == 2) {
            return op;
        }
        let node = self.func.inst(i);
        let asked = if method { self.maker(node.args[0]) } else { None };
        let of = match asked {
            Some(attr) => self.func.inst(attr).args.first(),
            None => node.args.get(1),
        };
        let none = || node.args.get(1).is_some_and(|v| *self.ty(*v) == Kind::None);
        let first = of.is_some_and(|g| self.is_new(i, *g, asked)) && (!method || none());
        if first { id::ITER_BEGIN } else { op }
    }

    /// Whether a value is a generator that was made in the block of an instruction, and nothing but `asked` has had to do
    /// with it in between.
    fn is_new(&self, i: Inst, generator: Value, asked: Option<Inst>) -> bool {
        let Some(made) = self.maker(generator) else { return false };
        let Some(Resolved::Instance { id, .. }) = self.out.resolved.get(&made) else { return false };
        let makes = |n: &InstNode| n.args.contains(&generator);
        let block = self.func.blocks.iter().map(|b| &b.insts).find(|insts| insts.contains(&i));
        let between = block.and_then(|insts| {
            let (from, to) = (insts.iter().position(|x| *x == made)?, insts.iter().position(|x| *x == i)?);
            insts.get(from + 1..to)
        });
        self.session.at(*id).func.is_generator
            && between.is_some_and(|all| all.iter().all(|x| Some(*x) == asked || !makes(self.func.inst(*x))))
    }

    fn maker(&self, v: Value) -> Option<Inst> {
        let all = self.func.blocks.iter().flat_map(|b| &b.insts);
        all.copied().find(|i| self.func.inst(*i).result == Some(v))
    }
}
