//! Loop versioning: an innermost counted loop with bounds checks that cannot be decided becomes two, with a
//! test in front that says which one runs.
//!
//! In the fast one every check is gone whose index moves with the loop counter (`i`, `i + k`, `n - i`, `i *
//! ncols + j`) or not at all, against a bound that does not change; so are the selects that wrap negative
//! indices. The test makes sure that the first and the last index are inside, so all are. The slow one is the
//! loop as it was, in cold blocks: it raises at the right turn, wraps indices, and so on.
//!
//! Indices are exact: the test proves that neither the first nor the last one wraps around, and those between
//! lie between.
//!
//! An index that is looked at under a condition on the counter (`if i >= w: … a[i - w]`) needs to be inside only
//! where that holds.
//!
//! Where the first turns alone fail the test the slow loop runs no more than these (`version/late.rs`).
//!
//! A loop that counts its turns down (a range whose step is a variable) may move others along: those walk by
//! an invariant step, of unknown sign.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "shapes of indices are optional: one that is not understood keeps its check"
)]

mod late;
pub(super) mod nested;
mod test;

use super::edit::{Defs, FastMap};
use super::fold::fold;
use super::licm::{add_preheaders, hoist_invariants};
use super::region::{Copied, copy_blocks, merge_definitions, split_switch_edges};
use super::simplify_cfg::simplify_cfg;
use crate::lir::cfg::{Analyses, Cfg, Dominators, Loops};
use crate::lir::{Block, BlockCall, Cold, Func, Inst, InstData, Op, Ty, Value};
use test::Test;

/// Instructions of a loop that is small enough to stand twice, and of all such loops of a function together.
const MAX_LOOP: usize = 250;
const MAX_TOTAL: usize = 2_000;
/// Checks with different indices that one loop's test may cover.
const MAX_CHECKS: usize = 12;
/// Where nothing that is checked moves, a loop stands twice if there are so few instructions to a check.
const STILL: usize = 8;

pub(crate) fn version_loops(func: &mut Func, analyses: &mut Analyses) {
    if func.layout.is_empty() || !add_preheaders(func, analyses) {
        return;
    }
    split_switch_edges(func, analyses);
    let plans = {
        let (cfg, doms, loops) = (analyses.cfg(func), analyses.dominators(func), analyses.loops(func));
        let defs = Defs::new(func);
        let mut left = MAX_TOTAL;
        let mut plans = vec![];
        for l in 0..loops.all.len() {
            if !loops.all[l].innermost {
                continue;
            }
            let size: usize = loops.all[l].blocks.iter().map(|b| func.blocks[b.index()].insts.len()).sum();
            if size > MAX_LOOP.min(left) {
                continue;
            }
            let Some(plan) =
                (Planner { func, cfg, doms, loops, defs: &defs, l, home: &mut FastMap::default() }).plan()
            else {
                continue;
            };
            left -= size;
            plans.push(plan);
        }
        plans
    };
    if plans.is_empty() {
        return;
    }
    let copies: Vec<Copied> = plans.into_iter().map(|p| p.apply(func)).collect();
    analyses.invalidate();
    merge_definitions(func, analyses, &copies);
    // The tests are full of constants, and what they compute often stays the same in an outer loop.
    fold(func, analyses);
    simplify_cfg(func, analyses);
    hoist_invariants(func, analyses);
}

/// How the counter moves while the body runs: from `first` to `last`, both inside the loop.
#[derive(Clone, Copy, Debug)]
struct Counter {
    param: Value,
    start: Value,
    step: i64,
    bound: Value,
    inclusive: bool,
}

/// A parameter that goes from `start` by the invariant `step` on each of `turns` turns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Walk {
    param: Value,
    start: Value,
    step: Value,
    turns: Value,
}

/// `scale * counter + invariant terms + constant`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Affine {
    scale: i64,
    terms: Vec<(Value, i64)>,
    constant: i64,
}

/// What a condition says of the counter: it is not below (or above) an invariant number, nor equal to it where
/// `strict`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Limit {
    by: Value,
    strict: bool,
}

/// What conditions in the loop say of the counter where an index is used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Limits {
    least: Option<Limit>,
    most: Option<Limit>,
}

/// One index that stays in range, and its bound.
#[derive(Debug, PartialEq)]
enum Guard {
    Moving { index: Affine, bound: Value, limits: Limits },
    Walking { walk: Walk, index: Affine, bound: Value },
    Still { index: Value, bound: Value },
    Holds(Value),
}

#[derive(Debug)]
pub(super) struct Plan {
    front: Block,
    header: Block,
    blocks: Vec<Block>,
    counter: Option<Counter>,
    walks: Vec<Walk>,
    guards: Vec<Guard>,
    /// Branches at the ends of blocks that always go to this side in the fast loop.
    pub(super) decided: Vec<(Block, bool)>,
    /// Selects that always take the third operand there.
    pub(super) wraps: Vec<Value>,
}

struct Planner<'a> {
    func: &'a Func,
    cfg: &'a Cfg,
    doms: &'a Dominators,
    loops: &'a Loops,
    defs: &'a Defs,
    l: usize,
    /// Values of the loop, with their blocks.
    home: &'a mut FastMap<Value, Block>,
}

impl Planner<'_> {
    fn plan(&mut self) -> Option<Plan> {
        let mut plan = self.start()?;
        for b in plan.blocks.clone() {
            let Some((t, cond, holds)) = self.cold_side(b, |to| !self.loops.contains(self.l, to)) else {
                continue;
            };
            if plan.guards.len() >= MAX_CHECKS {
                break;
            }
            self.check(&mut plan, b, t, cond, holds);
        }
        let moving = plan.guards.iter().any(|g| matches!(g, Guard::Moving { .. } | Guard::Walking { .. }));
        // What never moves is a matter of two instructions a turn, and LLVM takes several times as long for a
        // loop that stands twice.
        let size: usize = plan
            .blocks
            .iter()
            .map(|b| &self.func.blocks[b.index()])
            .filter(|b| !b.cold)
            .map(|b| b.insts.len())
            .sum();
        (moving || plan.decided.len() > 1 && plan.decided.len() * STILL >= size).then_some(plan)
    }

    /// The branch at the end of a block that is not cold, one side of which is, and is as asked for: what it asks,
    /// and the answer on the other side.
    fn cold_side(&self, b: Block, and: impl Fn(Block) -> bool) -> Option<(Inst, Value, bool)> {
        let cold = |b: Block| self.func.blocks[b.index()].cold;
        if cold(b) {
            return None;
        }
        let t = self.func.terminator(b)?;
        let InstData::Brif { cond, then_to, else_to, .. } = &self.func.insts[t.index()].data else {
            return None;
        };
        let is = |b: Block| cold(b) && and(b);
        match (is(then_to.block), is(else_to.block)) {
            (false, true) => Some((t, *cond, true)),
            (true, false) => Some((t, *cond, false)),
            (true, true) | (false, false) => None,
        }
    }

    /// A plan without checks.
    fn start(&mut self) -> Option<Plan> {
        let info = &self.loops.all[self.l];
        if self.func.blocks[info.header.index()].cold {
            return None;
        }
        for b in &info.blocks {
            let block = &self.func.blocks[b.index()];
            for v in block
                .params
                .iter()
                .chain(block.insts.iter().flat_map(|i| &self.func.insts[i.index()].results))
            {
                self.home.insert(*v, *b);
            }
        }
        let front =
            self.cfg.preds(info.header).iter().copied().find(|p| !self.doms.dominates(info.header, *p))?;
        let counter = self.counter(front);
        let walks = self.walks(front);
        let mut plan = Plan {
            front,
            header: info.header,
            blocks: info.blocks.clone(),
            counter,
            walks,
            guards: vec![],
            decided: vec![],
            wraps: vec![],
        };
        // In reverse post-order, so that the text and the test come out the same each time.
        plan.blocks.sort_by_key(|b| self.cfg.position(*b));
        Some(plan)
    }

    fn invariant(&self, v: Value) -> bool {
        !self.home.contains_key(&v)
    }
    fn op(&self, v: Value) -> Option<(Op, &[Value])> {
        let InstData::Op { op, args, .. } = self.defs.data(self.func, v)? else { return None };
        Some((*op, args))
    }
    fn constant(&self, v: Value) -> Option<i64> {
        self.defs.constant(self.func, v).map(|c| c as i64)
    }

    /// What arrives for a header parameter: from outside, and from every latch (one value).
    fn arrivals(&self, param: Value, front: Block) -> Option<(Value, Value)> {
        let info = &self.loops.all[self.l];
        let at = self.func.blocks[info.header.index()].params.iter().position(|p| *p == param)?;
        let (mut first, mut next) = (None, None);
        for p in self.cfg.preds(info.header) {
            let t = self.func.terminator(*p)?;
            let mut same = true;
            self.func.insts[t.index()].data.for_each_target(|to, args| {
                if to != info.header {
                    return;
                }
                let slot = if *p == front { &mut first } else { &mut next };
                same &= args.get(at).is_some_and(|a| *slot.get_or_insert(*a) == *a);
            });
            if !same {
                return None;
            }
        }
        Some((first?, next?))
    }

    /// The constant by which a parameter changes on every turn.
    fn step(&self, param: Value, front: Block) -> Option<(Value, i64)> {
        let (first, next) = self.arrivals(param, front)?;
        let (Op::Iadd, args) = self.op(next)? else { return None };
        (args[0] == param).then_some(())?;
        Some((first, self.constant(args[1])?))
    }

    /// The header stays in the loop while a parameter is below (or above) something invariant.
    fn counter(&self, front: Block) -> Option<Counter> {
        let header = self.loops.all[self.l].header;
        let t = self.func.terminator(header)?;
        let InstData::Brif { cond, then_to, else_to, .. } = &self.func.insts[t.index()].data else {
            return None;
        };
        let stays =
            match (self.loops.contains(self.l, then_to.block), self.loops.contains(self.l, else_to.block)) {
                (true, false) => true,
                (false, true) => false,
                (true, true) | (false, false) => return None,
            };
        let (op, args) = self.op(*cond)?;
        if self.func.value_type(args[0]) != Ty::I64 {
            return None;
        }
        let (param, bound, less, inclusive) = match (op, stays) {
            (Op::IcmpSlt, true) | (Op::IcmpSge, false) => (args[0], args[1], true, false),
            (Op::IcmpSle, true) | (Op::IcmpSgt, false) => (args[0], args[1], true, true),
            (Op::IcmpSgt, true) | (Op::IcmpSle, false) => (args[0], args[1], false, false),
            (Op::IcmpSge, true) | (Op::IcmpSlt, false) => (args[0], args[1], false, true),
            _ => return None,
        };
        // `bound > counter` is the same test.
        let (param, bound, less) =
            if self.invariant(param) { (bound, param, !less) } else { (param, bound, less) };
        let (start, step) = self.step(param, front)?;
        (self.invariant(bound) && (step > 0) == less && step.abs() < 1 << 20).then_some(Counter {
            param,
            start,
            step,
            bound,
            inclusive,
        })
    }

    /// Where the header asks whether turns are left, counting down to zero: what else moves by an invariant
    /// step.
    fn walks(&self, front: Block) -> Vec<Walk> {
        let info = &self.loops.all[self.l];
        let turns = || {
            let InstData::Brif { cond, then_to, else_to, .. } =
                &self.func.insts[self.func.terminator(info.header)?.index()].data
            else {
                return None;
            };
            if !self.loops.contains(self.l, then_to.block) || self.loops.contains(self.l, else_to.block) {
                return None;
            }
            let (Op::IcmpNe, args) = self.op(*cond)? else { return None };
            let (turns, -1) = self.step(args[0], front)? else { return None };
            (self.constant(args[1]) == Some(0) && self.func.value_type(turns) == Ty::I64).then_some(turns)
        };
        let Some(turns) = turns() else { return vec![] };
        self.func.blocks[info.header.index()]
            .params
            .iter()
            .filter_map(|&param| {
                let (start, next) = self.arrivals(param, front)?;
                let (Op::Iadd, args) = self.op(next)? else { return None };
                (args[0] == param && self.invariant(args[1]) && self.func.value_type(param) == Ty::I64)
                    .then_some(Walk { param, start, step: args[1], turns })
            })
            .take(4)
            .collect()
    }

    /// `v` in terms of the parameter `p`; others move as much as `pace` says.
    fn affine(
        &self,
        v: Value,
        p: Value,
        pace: Option<&Counter>,
        front: Block,
        wraps: &mut Vec<Value>,
        depth: u32,
    ) -> Option<Affine> {
        if let Some(k) = self.constant(v) {
            return Some(Affine { constant: k, ..Affine::default() });
        }
        if self.invariant(v) {
            return Some(Affine { terms: vec![(v, 1)], ..Affine::default() });
        }
        if v == p {
            return Some(Affine { scale: 1, ..Affine::default() });
        }
        if depth == 0 {
            return None;
        }
        let Some((op, args)) = self.op(v) else {
            // Another parameter that keeps pace with the counter.
            let (c, (first, step)) = (pace?, self.step(v, front)?);
            return (step == c.step).then(|| Affine {
                scale: 1,
                terms: vec![(first, 1), (c.start, -1)],
                constant: 0,
            });
        };
        let mut part = |v: Value| self.affine(v, p, pace, front, wraps, depth - 1);
        match op {
            Op::Iadd => part(args[0])?.plus(&part(args[1])?, 1),
            Op::Isub => part(args[0])?.plus(&part(args[1])?, -1),
            Op::Ineg => Affine::default().plus(&part(args[0])?, -1),
            Op::Imul => {
                let k = self.constant(args[1])?;
                part(args[0])?.times(k)
            }
            // `j + n if j < 0 else j`: the test makes sure that j is not negative.
            Op::Select => {
                let (Op::IcmpSlt, cond) = self.op(args[0])? else { return None };
                if cond[0] != args[2] || self.constant(cond[1]) != Some(0) {
                    return None;
                }
                wraps.push(v);
                self.affine(args[2], p, pace, front, wraps, depth - 1)
            }
            _ => None,
        }
    }

    /// What the branches on the way from the header to a block say of the counter, beside the header's own.
    fn limits(&self, block: Block, counter: Value) -> Limits {
        let header = self.loops.all[self.l].header;
        let (mut limits, mut at) = (Limits::default(), block);
        while at != header {
            if let [from] = self.cfg.preds(at)
                && *from != header
                && let Some(t) = self.func.terminator(*from)
                && let InstData::Brif { cond, then_to, else_to, .. } = &self.func.insts[t.index()].data
                && then_to.block != else_to.block
            {
                self.limit(*cond, then_to.block == at, counter, &mut limits);
            }
            let Some(above) = self.doms.idom(at) else { break };
            at = above;
        }
        limits
    }

    fn limit(&self, cond: Value, holds: bool, counter: Value, limits: &mut Limits) {
        let Some((op, args)) = self.op(cond) else { return };
        let (less, strict) = match op {
            Op::IcmpSlt => (true, true),
            Op::IcmpSle => (true, false),
            Op::IcmpSgt => (false, true),
            Op::IcmpSge => (false, false),
            _ => return,
        };
        let (less, strict) = if holds { (less, strict) } else { (!less, !strict) };
        let (by, below) = match (args[0] == counter, args[1] == counter) {
            (true, false) => (args[1], less),
            (false, true) => (args[0], !less),
            (true, true) | (false, false) => return,
        };
        if self.invariant(by) {
            let limit = if below { &mut limits.most } else { &mut limits.least };
            limit.get_or_insert(Limit { by, strict });
        }
    }

    fn check(&self, plan: &mut Plan, at: Block, t: Inst, cond: Value, holds: bool) {
        if self.invariant(cond) {
            // Decided in front of the loop already, whatever it asks.
            if holds {
                self.add(plan, Guard::Holds(cond), at, holds, vec![]);
            }
            return;
        }
        let Some((op, args)) = self.op(cond) else { return };
        if self.func.value_type(args[0]) != Ty::I64 {
            return;
        }
        // `index < bound`, or `not (bound <= index)`, unsigned.
        let (index, bound) = match (op, holds) {
            (Op::IcmpUlt, true) => (args[0], args[1]),
            (Op::IcmpUle, false) => (args[1], args[0]),
            _ => return,
        };
        if !self.invariant(bound) {
            return;
        }
        if self.invariant(index) {
            return self.add(plan, Guard::Still { index, bound }, at, holds, vec![]);
        }
        // Behind the header's test the counter is between first and last; in the header itself it may be one
        // step further.
        let header = self.loops.all[self.l].header;
        if self.func.terminator(header) == Some(t) {
            return;
        }
        let sums = |p: Value, pace: Option<&Counter>| {
            let mut wraps = vec![];
            let index = self.affine(index, p, pace, plan.front, &mut wraps, 6)?;
            let in_header = wraps.iter().any(|v| self.home.get(v) == Some(&header));
            (!in_header && index.terms.len() <= 4 && index.scale != 0 && index.scale.abs() <= 1 << 20)
                .then_some((index, wraps))
        };
        if let Some(c) = plan.counter
            && let Some((index, wraps)) = sums(c.param, Some(&c))
        {
            // A select that is stripped of its wrapping is right where its own block runs.
            let above = wraps.iter().filter_map(|v| self.home.get(v).copied());
            let least = above.fold(at, |low, b| if self.doms.dominates(b, low) { b } else { low });
            let limits = self.limits(least, c.param);
            return self.add(plan, Guard::Moving { index, bound, limits }, at, holds, wraps);
        }
        let walking = plan.walks.iter().find_map(|w| {
            let (index, wraps) = sums(w.param, None)?;
            (index.scale == 1).then_some((*w, index, wraps))
        });
        if let Some((walk, index, wraps)) = walking {
            self.add(plan, Guard::Walking { walk, index, bound }, at, holds, wraps);
        }
    }

    fn add(&self, plan: &mut Plan, guard: Guard, at: Block, holds: bool, wraps: Vec<Value>) {
        if !plan.guards.contains(&guard) {
            plan.guards.push(guard);
        }
        plan.decided.push((at, holds));
        for w in wraps {
            if !plan.wraps.contains(&w) {
                plan.wraps.push(w);
            }
        }
    }
}

impl Affine {
    fn plus(mut self, other: &Affine, sign: i64) -> Option<Affine> {
        self.scale = self.scale.checked_add(other.scale.checked_mul(sign)?)?;
        self.constant = self.constant.checked_add(other.constant.checked_mul(sign)?)?;
        for (v, k) in &other.terms {
            match self.terms.iter_mut().find(|t| t.0 == *v) {
                Some(t) => t.1 += k * sign,
                None => self.terms.push((*v, k * sign)),
            }
        }
        self.terms.retain(|t| t.1 != 0);
        Some(self)
    }
    fn times(mut self, k: i64) -> Option<Affine> {
        self.scale = self.scale.checked_mul(k)?;
        self.constant = self.constant.checked_mul(k)?;
        for t in &mut self.terms {
            t.1 = t.1.checked_mul(k)?;
        }
        self.terms.retain(|t| t.1 != 0);
        Some(self)
    }
}

impl Plan {
    /// Writes the test, makes the copy (the slow loop), and strips the original of its checks.
    fn apply(self, func: &mut Func) -> Copied {
        let copied = copy_blocks(func, &self.blocks);
        for b in copied.blocks.values() {
            func.blocks[b.index()].cold = true;
        }
        let mut test = Test::new(func, self.front);
        let is_late = self.may_hand_over(test.func);
        let counter = self
            .counter
            .map(|c| if is_late { Counter { start: self.first_fine(&mut test, &c), ..c } } else { c });
        self.ask(&mut test, counter.as_ref());
        let cond = match (test.all, &self.counter, &counter) {
            (Some(fine), Some(c), Some(later)) if is_late => {
                Some(late::hand_over(&mut test, &copied, self.header, c, later.start, fine))
            }
            (all, ..) => all,
        };
        if let (Some(cond), Some(t)) = (cond, func.terminator(self.front))
            && let InstData::Jump(to) = func.insts[t.index()].data.clone()
        {
            let slow = BlockCall { block: copied.blocks[&self.header], args: to.args.clone() };
            func.insts[t.index()].data =
                InstData::Brif { cond, then_to: to, else_to: slow, cold: Cold::Else };
        }
        let defs = Defs::new(func);
        for (b, holds) in self.decided {
            decide(func, b, holds);
        }
        for v in self.wraps {
            never_wrap(func, &defs, v);
        }
        copied
    }

    /// Writes what is required of all guards.
    fn ask(&self, test: &mut Test<'_>, counter: Option<&Counter>) {
        let last = counter.map(|c| (c, test.last(c)));
        for guard in &self.guards {
            match (guard, &last) {
                (Guard::Holds(cond), _) => test.require(*cond),
                (Guard::Still { index, bound }, _) => {
                    let inside = test.bin(Op::IcmpUlt, *index, *bound);
                    test.require(inside)
                }
                (Guard::Moving { index, bound, limits }, Some((c, last))) => {
                    // Stepping past the last turn must not wrap, or the loop would go on with other values.
                    if c.step.abs() > 1 || c.inclusive {
                        let step = test.int(c.step);
                        test.exact(Op::Iadd, Op::SaddOverflows, *last, step);
                    }
                    test.moving(c, *last, index, *bound, *limits);
                }
                (Guard::Moving { .. }, None) => {}
                (Guard::Walking { walk, index, bound }, _) => test.walking(walk, index, *bound),
            }
        }
    }
}

/// Has the branch at the end of a block always go to one side.
pub(super) fn decide(func: &mut Func, at: Block, holds: bool) {
    let Some(t) = func.terminator(at) else { return };
    if let InstData::Brif { then_to, else_to, .. } = &func.insts[t.index()].data {
        let to = if holds { then_to.clone() } else { else_to.clone() };
        func.insts[t.index()].data = InstData::Jump(to);
    }
}

/// Has a select that wraps an index take its third operand, whatever the condition: it is between one and the same.
pub(super) fn never_wrap(func: &mut Func, defs: &Defs, select: Value) {
    if let Some(i) = defs.inst(select)
        && let InstData::Op { args, .. } = &mut func.insts[i.index()].data
    {
        args[1] = args[2];
    }
}
