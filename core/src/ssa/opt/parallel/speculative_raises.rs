//! Code that runs only where an iteration finds something, or only where it does not: `if x > m: m, k = x,
//! f(i)`, `s = s and f(i)`.
//!
//! A piece begins with what the variable was before the loop, so it finds something in more iterations than
//! the plain loop does, never in fewer. Then an exception may be one that the plain loop does not come by
//! ([`Speculative::More`]), and where the code is what runs when nothing is found, one may be missing
//! ([`Speculative::Fewer`]). Nothing else depends on it ([`Classifier::nothing_depends_on`]). Blocks with
//! such code are marked here; what of it may raise shows when the types are known
//! ([`crate::lower::sequential_retry`]).

use super::classifier::Classifier;
use super::shared::{Gate, Speculative};
use crate::ops::id;
use crate::ssa::{Block, Inst, Op, Term};
use std::collections::HashMap;

impl Classifier<'_> {
    /// Blocks that may raise and run only where a variable changes or does not; the gates of each variable
    /// are one of `groups`.
    pub(crate) fn speculative(&self, groups: &[Vec<Gate>]) -> HashMap<Block, Speculative> {
        let mut out = HashMap::new();
        for gates in groups {
            for (branch, side) in gates {
                let Term::Branch { then_to, else_to, .. } = &self.func.block(*branch).term else { continue };
                let [open, shut] =
                    if *side == 0 { [then_to.block, else_to.block] } else { [else_to.block, then_to.block] }
                        .map(|to| self.reach(to, &[], Some(*branch)));
                let first: Vec<Block> = gates.iter().flat_map(|g| self.straight_from(*g)).collect();
                for b in self.one_side(*branch) {
                    if groups.iter().any(|g| self.is_behind(b, g)) {
                        if self.new_ones(b, &[]).next().is_some() {
                            out.entry(b).or_insert(Speculative::More);
                        }
                    } else if shut.contains(&b)
                        && !open.contains(&b)
                        && self.new_ones(b, &first).next().is_some()
                    {
                        out.insert(b, Speculative::Fewer);
                    } else if open.contains(&b) && self.new_ones(b, &[]).next().is_some() {
                        out.entry(b).or_insert(Speculative::More);
                    }
                }
            }
        }
        out
    }

    /// Blocks that run one after the other from the open side of a gate on, whatever comes.
    fn straight_from(&self, (branch, side): Gate) -> Vec<Block> {
        let Term::Branch { then_to, else_to, .. } = &self.func.block(branch).term else { return vec![] };
        let (mut at, mut all) = (if side == 0 { then_to.block } else { else_to.block }, vec![]);
        while self.found.blocks.contains(&at) && !all.contains(&at) {
            all.push(at);
            if let Term::Jump(to) = &self.func.block(at).term { at = to.block } else { break }
        }
        all
    }

    /// What may raise in a block, but for what has been computed before in the same way, or is in one of the
    /// blocks `too`.
    fn new_ones<'a>(&'a self, b: Block, too: &'a [Block]) -> impl Iterator<Item = Inst> + 'a {
        // An element at an index that was read again may be another one.
        let at_same = move |v, w| {
            let index = |v| self.inst_of(v).filter(|n| n.op == Op::Table(id::GETITEM)).map(|n| n.args[1]);
            index(v).zip(index(w)).is_none_or(|(i, j)| self.is_same(i, j))
        };
        let computed = move |i: Inst| {
            let node = self.func.inst(i);
            let Some(v) = node
                .result
                .filter(|_| matches!(node.op, Op::Table(id::GETITEM) | Op::Global(_) | Op::Attr(_)))
            else {
                return false;
            };
            let others = self
                .found
                .blocks
                .iter()
                .filter(|o| **o != b && (self.doms.dominates(**o, b) || too.contains(*o)));
            others
                .flat_map(|o| &self.func.block(*o).insts)
                .any(|o| self.func.inst(*o).result.is_some_and(|w| self.is_equal(v, w, 0) && at_same(v, w)))
        };
        self.func
            .block(b)
            .insts
            .iter()
            .copied()
            .filter(move |i| !self.func.inst(*i).op.never_raises() && !computed(*i))
    }
}
