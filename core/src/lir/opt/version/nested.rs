//! Tests of versioned loops inside of another loop: where all that they ask is decided in front of that one, a
//! copy of it needs no tests and no slow loops. `nest.rs` makes the copy.
//!
//! ```text
//! for a:                      # front: test of all turns of a, for both
//!     brif 0 <= i + a < n and …, fast loop over b, slow loop over b
//! ```

use super::{Guard, MAX_CHECKS, Plan, Planner, Test};
use crate::lir::cfg::{Cfg, Dominators, Loop, Loops};
use crate::lir::opt::edit::{Defs, FastMap};
use crate::lir::opt::range::Prover;
use crate::lir::{Block, Func, InstData, Op, Shape, Value};

/// Instructions of an inner loop beside which its test counts.
const MAX_BODY: usize = 24;

/// What a loop around versioned ones needs to go without their tests, and the blocks by which alone slow ones are reached; none
/// where there is a test that does not move with the loop's counter, for that is asked in front of it anyway, or one
/// that cannot be asked there.
pub(in super::super) fn tests_of(
    func: &Func,
    (cfg, doms, loops): (&Cfg, &Dominators, &Loops),
    defs: &Defs,
    l: usize,
) -> Option<(Plan, Vec<Block>)> {
    let home = &mut FastMap::default();
    let mut planner = Planner { func, cfg, doms, loops, defs, l, home };
    let mut plan = planner.start()?;
    plan.counter?;
    let begins =
        |b: Block| loops.contains(l, b) && matches!(cfg.preds(b), [_]) && leads_to_loop(func, loops, b);
    let small = |inner: &Loop| {
        let hot = inner.blocks.iter().map(|b| &func.blocks[b.index()]).filter(|b| !b.cold);
        hot.map(|b| b.insts.len()).sum::<usize>() <= MAX_BODY
    };
    if !loops.all.iter().filter(|inner| inner.innermost && loops.contains(l, inner.header)).all(small) {
        return None;
    }
    let (mut slow, mut prover) = (vec![], None);
    for b in plan.blocks.clone() {
        let Some((t, cond, true)) = planner.cold_side(b, begins) else { continue };
        let mut all = vec![];
        planner.parts(cond, &mut all);
        for part in all {
            if let Some((op, args)) = planner.op(part)
                && op.shape() == Shape::IntCompare
                && prover.get_or_insert_with(|| Prover::new(func, cfg, doms)).compare(op, args[0], args[1], b)
                    == Some(true)
            {
                continue;
            }
            let before = plan.decided.len();
            planner.check(&mut plan, b, t, part, true);
            if plan.decided.len() == before || plan.guards.len() > MAX_CHECKS {
                return None;
            }
            plan.decided.truncate(before);
        }
        plan.decided.push((b, true));
        let ways = func.insts[t.index()].data.successors();
        slow.extend(ways.into_iter().filter(|to| func.blocks[to.index()].cold));
    }
    plan.guards.iter().any(|g| matches!(g, Guard::Moving { .. })).then_some((plan, slow))
}

/// Whether a block is the header of an innermost loop, or the one in front of it.
fn leads_to_loop(func: &Func, loops: &Loops, b: Block) -> bool {
    let is = |b: Block| loops.all.iter().any(|inner| inner.header == b && inner.innermost);
    let next = func.terminator(b).map(|t| &func.insts[t.index()].data);
    is(b) || matches!(next, Some(InstData::Jump(to)) if is(to.block))
}

impl Planner<'_> {
    /// What is asked together, as far as it is not known in front of the loop.
    fn parts(&self, cond: Value, all: &mut Vec<Value>) {
        match self.op(cond) {
            Some((Op::Band, args)) if !self.invariant(cond) => {
                for v in args {
                    self.parts(*v, all);
                }
            }
            _ => all.push(cond),
        }
    }
}

impl Plan {
    /// Writes the test of all turns into the block in front of the loop; its answer.
    pub(in super::super) fn test(&self, func: &mut Func) -> Option<Value> {
        let mut test = Test::new(func, self.front);
        self.ask(&mut test, self.counter.as_ref());
        test.all
    }
}
