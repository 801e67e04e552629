//! Variables that keep the best of all: which conditions choose it, and what else depends on that.
//!
//! ```python
//! if best is None or x[i] > best:   # two gates: the first condition holds, or the second
//!     best = x[i]                   # taken behind the gates alone
//!     at = i                        # follows
//! ```
//!
//! What is compared may be a part of the variable (`x > best[0]`), what it is the index of (`a[i] > a[best]`) or a
//! function of it (`abs(x) > abs(best)`). Pieces are compared in the same way. Nothing else that an iteration does may depend on what was
//! the best so far: it would depend on which iterations came before.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what chooses the best is known by pattern: what is not understood is refused"
)]

use super::classifier::{Classifier, Incoming, Reads, Use};
use super::race;
use super::shared::{Gate, Kind, Missing, Step};
use crate::diag::Result;
use crate::ops::{OpId, id};
use crate::ssa::analysis::{Edge, Loop};
use crate::ssa::{Block, Inst, Op, Term, Value};
use crate::types::Const;
use std::collections::HashSet;

impl Classifier<'_> {
    /// The step that an operation is which reads a version as operand `k`.
    pub(crate) fn step(&self, inst: Inst, k: usize) -> Option<Step> {
        let node = self.func.inst(inst);
        if node.op != Op::Table(id::GETITEM) {
            return self.applied(inst, k);
        }
        let other = node.args[1 - k];
        let fixed = matches!(self.inst_of(other).map(|n| &n.op), Some(Op::Const(Const::Int(_))));
        match k {
            0 if fixed => Some(Step::Part(other)),
            1 if self.is_outside(other) && !self.is_stored_to(other) => Some(Step::Of(other)),
            _ => None,
        }
    }

    /// The step that a call is which takes a version as its argument alone, and computes.
    fn applied(&self, inst: Inst, k: usize) -> Option<Step> {
        let node = self.func.inst(inst);
        let callee = *node.args.first().filter(|_| k == 1 && node.args.len() == 2)?;
        let plain = matches!(&node.op, Op::Call { keywords } if keywords.is_empty());
        let facts = self.operation(callee).filter(|_| plain)?.facts();
        (facts.computes && !facts.chooses).then_some(Step::Applied(callee))
    }

    /// The integer that a value is.
    pub(crate) fn constant(&self, v: Value) -> Option<i64> {
        match self.inst_of(v)?.op {
            Op::Const(Const::Int(k)) => Some(k),
            _ => None,
        }
    }

    /// Whether a value is the loop's index, which is never negative.
    fn is_index(&self, v: Value) -> bool {
        let next = self.func.inst(self.found.next).result;
        let index = self
            .inst_of(self.original(v))
            .is_some_and(|n| n.op == Op::Member(2) && n.args.first().copied() == next);
        let whole = |v: &Value, least| self.constant(*v).is_some_and(|k| k >= least);
        let begins = self.inst_of(self.found.range).is_some_and(|call| match (&call.op, &call.args[1..]) {
            (Op::Call { .. }, [_]) => true,
            (Op::Call { .. }, [start, _, step @ ..]) => whole(start, 0) && step.iter().all(|s| whole(s, 1)),
            _ => false,
        });
        index && begins
    }

    /// The answer that a comparison of a version with a constant gives where it has no value yet, which no index
    /// gives.
    pub(crate) fn mark(&self, r: &Reads, inst: Inst, side: usize) -> Option<bool> {
        let node = self.func.inst(inst);
        let Op::Table(path) = node.op else { return None };
        let k = self.constant(node.args[1 - side])?;
        let path = match path {
            id::LT if side == 1 => id::GT,
            id::GT if side == 1 => id::LT,
            id::LE if side == 1 => id::GE,
            id::GE if side == 1 => id::LE,
            path => path,
        };
        let answer = match path {
            id::EQ | id::LE if k < 0 => true,
            id::LT if k <= 0 => true,
            id::NE | id::GT if k < 0 => false,
            id::GE if k <= 0 => false,
            _ => return None,
        };
        (!r.fresh.is_empty() && r.fresh.iter().all(|f| self.is_index(f.value))).then_some(answer)
    }

    /// Tells questions whether there is a value yet from comparisons of values.
    pub(crate) fn find_marks(&self, r: &mut Reads) {
        let (marks, comparisons) = std::mem::take(&mut r.comparisons)
            .into_iter()
            .partition::<Vec<_>, _>(|c| c.via.is_empty() && self.mark(r, c.inst, c.side).is_some());
        r.comparisons = comparisons;
        r.marks.extend(marks.into_iter().map(|c| (c.inst, c.side)));
    }

    fn is_stored_to(&self, of: Value) -> bool {
        self.operands(of)
            .is_none_or(|u| u.iter().any(|(i, k)| *k == 0 && self.func.inst(*i).op == Op::Table(id::SETITEM)))
    }

    /// Whether `new` is to the value `fresh` what was compared is to the variable.
    pub(crate) fn shows(&self, fresh: Value, new: Value, via: &[Step]) -> bool {
        let Some((step, rest)) = via.split_first() else { return self.conversions(fresh, new).is_some() };
        if let Some((Step::Applied(callee), before)) = via.split_last() {
            return self.inst_of(new).is_some_and(|n| {
                self.definition(new).is_some_and(|i| self.applied(i, 1).is_some())
                    && self.is_same(n.args[0], *callee)
                    && if before.is_empty() {
                        self.conversions(fresh, n.args[1]).is_some_and(|c| c.is_empty())
                    } else {
                        self.shows(fresh, n.args[1], before)
                    }
            });
        }
        match step {
            Step::Applied(_) => false,
            Step::Part(k) => {
                let Some(Op::Const(Const::Int(k))) = self.inst_of(*k).map(|n| n.op.clone()) else {
                    return false;
                };
                self.inst_of(fresh)
                    .filter(|n| n.op == Op::Table(id::TUPLE_BUILD))
                    .and_then(|n| n.args.get(if k < 0 { k + n.args.len() as i64 } else { k } as usize))
                    .is_some_and(|part| self.shows(*part, new, rest))
            }
            Step::Of(a) => {
                rest.is_empty()
                    && self.inst_of(new).is_some_and(|n| {
                        n.op == Op::Table(id::GETITEM) && n.args[0] == *a && self.is_same(n.args[1], fresh)
                    })
            }
        }
    }

    /// The calls that make of what was compared what is kept, if there is nothing else between them. Whether
    /// they keep order is asked when types are known (`ops/kept.rs`).
    fn conversions(&self, fresh: Value, new: Value) -> Option<Vec<Inst>> {
        let (mut at, mut calls) = (fresh, vec![]);
        while !self.is_same(at, new) {
            let call = self.definition(at).filter(|i| self.block_of(*i).is_some())?;
            let node = self.func.inst(call);
            let [callee, x] = node.args[..] else { return None };
            let named = self
                .inst_of(callee)
                .is_some_and(|n| matches!(n.op, Op::Global(_) | Op::Free(_) | Op::Attr(_)));
            if !named || !matches!(&node.op, Op::Call { keywords } if keywords.is_empty()) {
                return None;
            }
            calls.push(call);
            at = x;
        }
        Some(calls)
    }

    /// The kind of a variable that is compared, or asked whether it is None, and the gates behind which it
    /// changes.
    pub(crate) fn selection(&self, r: &mut Reads) -> Option<(Kind, Vec<Gate>)> {
        let func = self.func;
        let (missing, mut gates) = self.missing(r)?;
        let optional = missing != Missing::Never;
        let Some(first) = r.comparisons.first().cloned() else {
            // The first one of all.
            let kind = Kind::Select {
                path: None,
                via: vec![],
                swapped: false,
                taken: true,
                missing,
                flag: optional,
            };
            return (optional && r.fresh.iter().all(|f| self.is_gated(f, &gates))).then_some((kind, gates));
        };
        let Op::Table(path) = func.inst(first.inst).op else { return None };
        if !r
            .comparisons
            .iter()
            .all(|c| func.inst(c.inst).op == Op::Table(path) && c.side == first.side && c.via == first.via)
        {
            return None;
        }
        let branches: Vec<(Block, Value)> = r
            .comparisons
            .iter()
            .map(|c| Some((self.branch_on(func.inst(c.inst).result)?, func.inst(c.inst).args[1 - c.side])))
            .collect::<Option<_>>()?;
        let taken = [true, false].into_iter().find(|t| {
            r.fresh.iter().all(|f| {
                branches.iter().any(|(branch, new)| {
                    let all: Vec<Gate> = gates.iter().copied().chain([(*branch, usize::from(!t))]).collect();
                    self.shows(f.value, *new, &first.via) && self.is_gated(f, &all)
                })
            })
        })?;
        if !self.stand_alone(r, &branches, taken)
            || !gates.iter().all(|none| self.asks_the_same(r, *none, &branches, taken))
        {
            return None;
        }
        // Of several equal ones the last counts, a NaN is taken, there may be none yet, or what the variable begins
        // with is an index of nothing: then a piece that found none must say so.
        let last = matches!(path, id::GE | id::LE) == taken;
        let index = first.via.iter().any(|s| matches!(s, Step::Of(_)));
        if (!taken || optional) && r.fresh.iter().any(|f| f.raises) {
            return None;
        }
        r.choice.branches = r
            .comparisons
            .iter()
            .zip(&branches)
            .map(|(c, b)| (b.0, self.original(c.of), func.inst(c.inst).args[c.side]))
            .collect();
        if first.via.is_empty() {
            r.choice.conversions = r
                .fresh
                .iter()
                .flat_map(|f| {
                    branches.iter().find_map(|b| self.conversions(f.value, b.1)).unwrap_or_default()
                })
                .collect();
        }
        r.choice.before =
            r.fresh.iter().map(|f| Some((f.from, self.current(r, f.from)?))).collect::<Option<_>>()?;
        r.choice.missing.clone_from(&gates);
        gates.extend(branches.iter().map(|b| (b.0, usize::from(!taken))));
        Some((
            Kind::Select {
                path: Some(path),
                via: first.via,
                swapped: first.side == 0,
                taken,
                missing,
                flag: optional || last || index || !taken,
            },
            gates,
        ))
    }

    /// How it is asked whether there is a value yet, and the gates that lead to where there is none.
    fn missing(&self, r: &Reads) -> Option<(Missing, Vec<Gate>)> {
        let (func, mut missing, mut gates) = (self.func, Missing::Never, vec![]);
        for i in &r.nones {
            let (node, b) = (func.inst(*i), self.branch_of(func.inst(*i).result)?);
            if self.current(r, b) != Some(self.original(node.args[0])) {
                return None;
            }
            missing = Missing::None;
            gates.push((b, usize::from(node.op == Op::Table(id::IS_NOT))));
        }
        for (i, side) in &r.marks {
            let (node, b) = (func.inst(*i), self.branch_on(func.inst(*i).result)?);
            let (Op::Table(test), answer) = (&node.op, self.mark(r, *i, *side)?) else { return None };
            // One question: of two, each could be for another mark.
            if missing != Missing::Never || self.current(r, b) != Some(self.original(node.args[*side])) {
                return None;
            }
            missing = Missing::Marked { test: *test, with: node.args[1 - side], swapped: *side == 1, answer };
            gates.push((b, usize::from(!answer)));
        }
        Some((missing, gates))
    }

    /// The block that branches on the truth of a comparison and on nothing else.
    pub(crate) fn branch_on(&self, compared: Option<Value>) -> Option<Block> {
        let [Use::Operand(truth, 0)] = self.uses_of(compared?)[..] else { return None };
        if self.func.inst(truth).op != Op::Table(id::TRUTH) {
            return None;
        }
        self.branch_of(self.func.inst(truth).result)
    }
    pub(crate) fn branch_of(&self, truth: Option<Value>) -> Option<Block> {
        if let [Use::Term(b)] = self.uses_of(truth?)[..] { Some(b) } else { None }
    }

    /// Loops inside of the parallel one that a block is in.
    fn around(&self, b: Block) -> Vec<&Loop> {
        self.loops.iter().filter(|l| self.found.blocks.contains(&l.header) && l.blocks.contains(&b)).collect()
    }

    /// Blocks of an iteration that are reached from one without going through gates or beyond `stop`, nor on
    /// to the next turn of a loop that `stop` is in.
    pub(crate) fn reach(&self, from: Block, gates: &[Gate], stop: Option<Block>) -> HashSet<Block> {
        let around = stop.map_or(vec![], |b| self.around(b));
        let (mut seen, mut work) = (HashSet::new(), vec![from]);
        while let Some(b) = work.pop() {
            if !self.found.blocks.contains(&b) || !seen.insert(b) || Some(b) == stop {
                continue;
            }
            let turn = around.iter().find(|l| l.header == b);
            let mut side = 0;
            self.func.each_edge(b, &mut |edge, to| {
                let this = (b, side);
                if edge == Edge::Jumps {
                    side += 1;
                }
                if turn.is_some_and(|l| l.blocks.contains(&to.block)) {
                    return;
                }
                if edge == Edge::Raises || !gates.contains(&this) {
                    work.push(to.block);
                }
            });
        }
        seen
    }

    /// Whether a side of a branch leaves a loop inside of the parallel one, so that what later turns do
    /// depends on it.
    fn ends_turns(&self, branch: Block) -> bool {
        let around = self.around(branch);
        let one = self.one_side(branch);
        let leaves = |b: Block| {
            let mut found = false;
            self.func.each_edge(b, &mut |edge, to| {
                found |= edge == Edge::Jumps
                    && around
                        .iter()
                        .any(|l| l.header != b && l.blocks.contains(&b) && !l.blocks.contains(&to.block))
            });
            found
        };
        one.into_iter().chain([branch]).any(leaves)
    }

    fn entry(&self) -> Block {
        if let Term::Branch { then_to, .. } = &self.func.block(self.found.header).term {
            then_to.block
        } else {
            self.found.header
        }
    }

    /// Whether an iteration gets along an edge through gates only.
    pub(crate) fn is_gated(&self, edge: &Incoming, gates: &[Gate]) -> bool {
        !edge.raises && gates.contains(&(edge.from, edge.side)) || self.is_behind(edge.from, gates)
    }
    /// Whether an iteration gets into a block through gates only.
    pub(crate) fn is_behind(&self, b: Block, gates: &[Gate]) -> bool {
        !gates.is_empty() && !self.reach(self.entry(), gates, None).contains(&b)
    }

    /// Blocks that an iteration gets to from one side of a branch alone.
    pub(crate) fn one_side(&self, branch: Block) -> Vec<Block> {
        let Term::Branch { then_to, else_to, .. } = &self.func.block(branch).term else { return vec![] };
        let [yes, no] = [then_to.block, else_to.block].map(|to| self.reach(to, &[], Some(branch)));
        let mut one: Vec<Block> = yes.symmetric_difference(&no).copied().filter(|b| *b != branch).collect();
        one.sort();
        one
    }

    /// Whether what a parameter becomes depends on which side of a branch is taken.
    pub(crate) fn is_chosen(&self, param: Value, branch: Block) -> bool {
        let one = self.one_side(branch);
        let mut values: Vec<Value> = self
            .incoming_of(param)
            .iter()
            .filter(|i| i.from == branch || one.contains(&i.from))
            .map(|i| i.value)
            .collect();
        values.sort();
        values.dedup();
        values.len() > 1
    }

    fn depends(&self, loc: crate::ssa::Loc) -> crate::diag::Diagnostic {
        race(self.func, loc, "whether an iteration of this prange loop gets here depends on what others have found before it, and iterations run at the same time")
            .help("do this in a second loop, when the best is known, or use range")
    }

    /// Refuses what depends on which side of a branch is taken: stores but those to what `may_store` names,
    /// and variables of the iteration that `is_known` does not know; those that the loop carries as well
    /// where it knows none.
    pub(crate) fn nothing_depends_on(
        &self,
        branch: Block,
        is_known: Option<&dyn Fn(Value) -> bool>,
        may_store: &dyn Fn(Value) -> bool,
    ) -> Result<()> {
        let func = self.func;
        let one = self.one_side(branch);
        if self.ends_turns(branch) {
            return Err(self.depends(func.block(branch).term_loc));
        }
        for b in &one {
            if let Term::Raise { .. } = func.block(*b).term {
                return Err(self.depends(func.block(*b).term_loc));
            }
            for i in &func.block(*b).insts {
                let node = func.inst(*i);
                let shared = |v: Value| {
                    self.is_outside(v)
                        || self.inst_of(v).is_some_and(|n| {
                            matches!(n.op, Op::Global(_) | Op::Free(_))
                                || n.op == Op::Table(id::GETITEM) && self.is_outside(n.args[0])
                        })
                };
                let stores = match &node.op {
                    Op::Table(id::SETITEM) => shared(node.args[0]) && !may_store(node.args[0]),
                    Op::Attr(n) => matches!(&**n, "append" | "extend") && shared(node.args[0]),
                    // What is called for its effect alone.
                    Op::Call { .. } => node.result.is_none_or(|v| self.uses_of(v).is_empty()),
                    _ => false,
                };
                if stores {
                    return Err(self.depends(node.loc));
                }
            }
        }
        for b in self.found.blocks.iter().filter(|b| !one.contains(b)) {
            for p in &func.block(*b).params {
                if self.is_chosen(*p, branch)
                    && !is_known.is_some_and(|k| k(*p))
                    && let Some(loc) = self.matters(*p, is_known)
                {
                    return Err(self.needs_earlier(loc));
                }
            }
        }
        Ok(())
    }

    /// Where an iteration reads a value, under whatever name.
    fn matters(&self, v: Value, is_known: Option<&dyn Fn(Value) -> bool>) -> Option<crate::ssa::Loc> {
        let (mut seen, mut work) = (HashSet::from([v]), vec![v]);
        while let Some(v) = work.pop() {
            for u in self.uses_of(v) {
                match *u {
                    Use::Operand(i, _) => return Some(self.func.inst(i).loc),
                    Use::Term(b) => return Some(self.func.block(b).term_loc),
                    Use::Passed { to, at } => {
                        let p = self.func.block(to).params[at];
                        if to == self.found.header {
                            if is_known.is_none() {
                                return Some(self.found.loc);
                            }
                        } else if !is_known.is_some_and(|k| k(p)) && seen.insert(p) {
                            work.push(p);
                        }
                    }
                }
            }
        }
        None
    }

    /// A store to an element that is the best of all that were stored there: how the new value is compared
    /// with the old one, which comes second, where the old one is read, and the branch.
    pub(crate) fn better_element(
        &self,
        at: Block,
        store: &crate::ssa::InstNode,
    ) -> Option<(OpId, Inst, Block)> {
        let reads = self
            .operands(store.args[0])?
            .into_iter()
            .filter(|(i, k)| *k == 0 && self.func.inst(*i).op == Op::Table(id::GETITEM));
        for (read, _) in reads {
            let node = self.func.inst(read);
            let Some(old) = node.result.filter(|_| self.is_same(node.args[1], store.args[1])) else {
                continue;
            };
            let [Use::Operand(compared, side)] = self.uses_of(old)[..] else { continue };
            let test = self.func.inst(compared);
            let Op::Table(path) = test.op else { continue };
            let path = match (path, side) {
                (id::LT, 1) | (id::GT, 0) => id::LT,
                (id::GT, 1) | (id::LT, 0) => id::GT,
                (id::LE, 1) | (id::GE, 0) => id::LE,
                (id::GE, 1) | (id::LE, 0) => id::GE,
                _ => continue,
            };
            let Some(branch) = self.branch_on(test.result) else { continue };
            if self.is_same(test.args[1 - side], store.args[2]) && self.is_behind(at, &[(branch, 0)]) {
                return Some((path, read, branch));
            }
        }
        None
    }

    /// Arrays and lists to which iterations store behind a gate alone, at an index, and with which they do
    /// nothing else.
    pub(crate) fn followers(&self, gate: Gate, index: Value) -> Vec<Value> {
        let mut all: Vec<Value> = vec![];
        for b in &self.found.blocks {
            for i in &self.func.block(*b).insts {
                let node = self.func.inst(*i);
                if node.op != Op::Table(id::SETITEM)
                    || !self.is_outside(node.args[0])
                    || all.contains(&node.args[0])
                {
                    continue;
                }
                let follows = |(i, k): &(Inst, usize)| {
                    let n = self.func.inst(*i);
                    *k == 0
                        && n.op == Op::Table(id::SETITEM)
                        && self.is_same(n.args[1], index)
                        && self.block_of(*i).is_some_and(|b| self.is_behind(b, &[gate]))
                };
                if self.operands(node.args[0]).is_some_and(|u| u.iter().all(follows)) {
                    all.push(node.args[0]);
                }
            }
        }
        all
    }

    pub(crate) fn block_of(&self, inst: Inst) -> Option<Block> {
        self.found.blocks.iter().copied().find(|b| self.func.block(*b).insts.contains(&inst))
    }
}
