//! Whether the comparisons that choose the best of all stand alone: the pieces of a range, each of which
//! begins with what was there before the loop, can be put together only then.
//!
//! An iteration must be a sequence of steps `if x > m: m = x`, in which nothing but `m` itself is read of
//! what was found before: which steps there are and what `x` is depends on the iteration alone. `if x > m: m
//! = x elif y > m: m = y` is none, for whether `y` is looked at depends on `m`.

use super::classifier::{Classifier, Reads};
use super::shared::Gate;
use crate::ssa::analysis::Edge;
use crate::ssa::{Block, Op, Term, Value};
use std::collections::HashSet;

impl Classifier<'_> {
    /// A version under the name that it has where ways meet.
    pub(crate) fn original(&self, mut v: Value) -> Value {
        while let Some(n) = self.inst_of(v).filter(|n| matches!(n.op, Op::Narrow(_) | Op::CheckBound { .. }))
        {
            v = n.args[0];
        }
        v
    }

    /// The version that a variable is at the end of a block: the one that was made last; none where that
    /// cannot be told.
    pub(crate) fn current(&self, r: &Reads, b: Block) -> Option<Value> {
        let mut at = Some(b);
        while let Some(b) = at {
            let mut here = self.func.block(b).params.iter().copied().filter(|p| r.versions.contains(p));
            if let Some(one) = here.next() {
                return here.next().is_none().then_some(one);
            }
            if b == self.found.header {
                return None;
            }
            at = self.doms.idom(b);
        }
        None
    }

    /// Whether each comparison looks at what the variable is at that time, whatever others have found, and
    /// new values are those that were compared there.
    pub(crate) fn stand_alone(&self, r: &Reads, branches: &[(Block, Value)], taken: bool) -> bool {
        let sides: Vec<HashSet<Block>> =
            branches.iter().map(|b| self.one_side(b.0).into_iter().collect()).collect();
        let within = |k: usize, b: Block| b == branches[k].0 || sides[k].contains(&b);
        for (k, c) in r.comparisons.iter().enumerate() {
            if self.current(r, branches[k].0) != Some(self.original(c.of)) {
                return false;
            }
            if branches.iter().enumerate().any(|(j, b)| j != k && within(k, b.0)) {
                return false;
            }
        }
        let side = usize::from(!taken);
        for f in &r.fresh {
            let inside: Vec<usize> = (0..branches.len())
                .filter(|k| sides[*k].contains(&f.from) || f.from == branches[*k].0 && f.side == side)
                .collect();
            if inside.len() > 1
                || inside.iter().any(|k| !self.shows(f.value, branches[*k].1, &r.comparisons[*k].via))
            {
                return false;
            }
        }
        // No way leads back to an earlier version.
        r.versions.iter().all(|p| {
            self.incoming_of(*p)
                .iter()
                .filter(|i| r.versions.contains(&i.value))
                .all(|i| self.current(r, i.from) == Some(self.original(i.value)))
        })
    }

    /// Whether what is new is taken where there is none yet under the same conditions as where there is one:
    /// both ways lead to the same block, and there is no way around the comparison.
    pub(crate) fn asks_the_same(
        &self,
        r: &Reads,
        none: Gate,
        branches: &[(Block, Value)],
        taken: bool,
    ) -> bool {
        let target = |b: Block, side: usize| {
            if let Term::Branch { then_to, else_to, .. } = &self.func.block(b).term {
                Some(if side == 0 { then_to } else { else_to })
            } else {
                None
            }
        };
        let (Some(take), Some(go_on)) = (target(none.0, none.1), target(none.0, 1 - none.1)) else {
            return false;
        };
        branches.iter().any(|(b, _)| {
            let between = self.reach(go_on.block, &[], Some(*b));
            let around = between.iter().filter(|x| *x != b).any(|x| {
                let mut leaves = *x == none.0;
                self.func.each_edge(*x, &mut |edge, to| {
                    leaves |= edge == Edge::Jumps && to.block == self.found.header
                });
                leaves
            });
            let Some(other) = target(*b, usize::from(!taken)) else { return false };
            between.contains(b)
                && !around
                && (take.block == other.block
                    || self.always_changes(r, take.block, none.0) && self.always_changes(r, other.block, *b))
        })
    }

    /// Whether the variable is a new one wherever the ways from `from` meet others again.
    fn always_changes(&self, r: &Reads, from: Block, branch: Block) -> bool {
        let side: HashSet<Block> = self.one_side(branch).into_iter().collect();
        let mine: HashSet<Block> =
            self.reach(from, &[], Some(branch)).into_iter().filter(|b| side.contains(b)).collect();
        mine.contains(&from)
            && r.versions.iter().all(|p| {
                self.incoming_of(*p)
                    .iter()
                    .filter(|i| mine.contains(&i.from))
                    .all(|i| !r.versions.contains(&i.value))
            })
    }
}
