//! Loops that fail the test by their first turns alone: `a[i - 1]` from `i = 0` on wraps once, `a[i - k]` k
//! times. The slow loop runs these and hands over to the fast one.
//!
//! ```text
//! front:             first = max(start, what the indices need); fine = the test of first … last
//!                    near = fine ? min(first, bound) : bound
//!                    brif fine and first = start, fast header(start…), slow header(start…)
//! slow header(i…):   brif i < near, body, over
//! over:              brif i < bound, fast header(i…), exit
//! ```

use super::super::region::Copied;
use super::{Counter, Guard, Plan, Test};
use crate::lir::{Alias, Block, BlockCall, Cold, Func, Inst, InstData, Loc, Op, Ty, Value};

impl Plan {
    /// Whether indices are expected to wrap on the first turns, and the header may be entered again where it
    /// was left: what it computes it may compute twice.
    pub(super) fn may_hand_over(&self, func: &Func) -> bool {
        let Some(Counter { step: 1, inclusive: false, .. }) = self.counter else { return false };
        let again = |i: &Inst| match &func.insts[i.index()].data {
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Brif { .. } => true,
            InstData::Load { alias, .. } => *alias != Alias::Volatile,
            InstData::Store { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => false,
        };
        // Where a loop begins at `k` the index `k` itself is hardly ever negative, so that needs no code.
        let begins_below = |g: &Guard| matches!(g, Guard::Moving { index, limits, .. } if limits.least.is_none() && index.scale == 1 && (index.constant < 0 || !index.terms.is_empty()));
        !self.wraps.is_empty()
            && self.guards.iter().any(begins_below)
            && func.blocks[self.header.index()].insts.iter().all(again)
    }

    /// The first turn on which no index is negative any more.
    pub(super) fn first_fine(&self, test: &mut Test<'_>, c: &Counter) -> Value {
        let zero = test.int(0);
        let mut first = c.start;
        for guard in &self.guards {
            let Guard::Moving { index, limits, .. } = guard else { continue };
            // A condition says where it begins.
            if index.scale != 1 || limits.least.is_some() {
                continue;
            }
            // Where this wraps the test says so.
            let need = match test.still(index) {
                Some(still) => test.bin(Op::Isub, zero, still),
                None => zero,
            };
            first = test.bin(Op::Smax, first, need);
        }
        first
    }
}

/// Makes the slow loop stop before turn `first` and go on as the fast one, where that is `fine`; gives the
/// condition under which the fast one runs from the start.
pub(super) fn hand_over(
    test: &mut Test<'_>,
    copied: &Copied,
    header: Block,
    c: &Counter,
    first: Value,
    fine: Value,
) -> Value {
    let at_once = test.bin(Op::IcmpEq, first, c.start);
    let at_once = test.bin(Op::Band, fine, at_once);
    let near = test.bin(Op::Smin, first, c.bound);
    let near = test.inst(InstData::Op { op: Op::Select, ty: Ty::I64, args: vec![fine, near, c.bound] });
    let func = &mut *test.func;
    let slow = copied.blocks[&header];
    let inside = |b: Block| copied.blocks.values().any(|x| *x == b);
    let Some(t) = func.terminator(slow) else { return at_once };
    let InstData::Brif { cond, then_to, else_to, cold } = func.insts[t.index()].data.clone() else {
        return at_once;
    };
    let Some(compare) = func.blocks[slow.index()]
        .insts
        .iter()
        .find(|i| func.insts[i.index()].results.first() == Some(&cond))
        .map(|i| func.insts[i.index()].data.clone())
    else {
        return at_once;
    };
    // The same question with a nearer bound; others may have read the answer to the old one.
    let mut nearer = compare.clone();
    nearer.map_uses(|v| if v == c.bound { near } else { v });
    let nearer = func.make_inst(nearer, Loc(0));
    let at = func.blocks[slow.index()].insts.len() - 1;
    func.blocks[slow.index()].insts.insert(at, nearer);
    let more = func.insts[nearer.index()].results[0];
    let over = func.make_block();
    func.blocks[over.index()].cold = true;
    func.layout.push(over);
    let fast = BlockCall { block: header, args: func.blocks[slow.index()].params.clone() };
    let leave = BlockCall { block: over, args: vec![] };
    let stays = inside(then_to.block);
    let (loop_to, choose) = if stays {
        (InstData::Brif { cond: more, then_to, else_to: leave, cold }, (fast, else_to))
    } else {
        (InstData::Brif { cond: more, then_to: leave, else_to, cold }, (then_to, fast))
    };
    func.insts[t.index()].data = loop_to;
    let ask = func.make_inst(compare, Loc(0));
    let left = func.insts[ask.index()].results[0];
    let branch = func.make_inst(
        InstData::Brif { cond: left, then_to: choose.0, else_to: choose.1, cold: Cold::Neither },
        Loc(0),
    );
    func.blocks[over.index()].insts.extend([ask, branch]);
    at_once
}
