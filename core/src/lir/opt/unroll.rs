//! Loops that turn a few times, known in advance, become straight code: `for di in range(-1, 2)`, `for k in
//! range(3)`.
//!
//! The loop around them is then innermost, and what its turns do lies open to folding, versioning and
//! vectorising. A copy stands for each turn, in front of the loop itself, which is left with the last test,
//! the one that fails; [`fold`] decides the tests. Straight code needs no poll.

use super::edit::{Defs, FastMap};
use super::fold::fold;
use super::region::{Copied, copy_blocks, merge_variables, split_switch_edges};
use super::simplify_cfg::simplify_cfg;
use crate::lir::cfg::{Analyses, Cfg};
use crate::lir::{Alias, Block, Cold, Func, Inst, InstData, Op, Value};

/// Turns of a loop that is unrolled.
const MAX_TURNS: u64 = 8;
/// Instructions, constants not counted, that unrolling one loop may make, and all loops of a function
/// together.
const MAX_LOOP: usize = 450;
const MAX_TOTAL: usize = 900;
/// Loops in loops.
const MAX_DEPTH: usize = 3;

pub(crate) fn unroll_loops(func: &mut Func, analyses: &mut Analyses) {
    let mut left = MAX_TOTAL;
    for _ in 0..MAX_DEPTH {
        split_switch_edges(func, analyses);
        let plans = find(func, analyses, &mut left);
        if plans.is_empty() {
            return;
        }
        let mut names: FastMap<Value, Vec<Value>> = FastMap::default();
        for p in &plans {
            for c in unroll(func, p) {
                for (old, new) in c.values {
                    names.entry(old).or_insert_with(|| vec![old]).push(new);
                }
            }
        }
        analyses.invalidate();
        let mut variables: Vec<Vec<Value>> = names.into_values().collect();
        variables.sort_unstable();
        merge_variables(func, analyses, &variables);
        fold(func, analyses);
        simplify_cfg(func, analyses);
    }
}

struct Plan {
    blocks: Vec<Block>,
    latches: Vec<Block>,
    turns: u64,
}

fn find(func: &Func, analyses: &Analyses, left: &mut usize) -> Vec<Plan> {
    let (cfg, loops) = (analyses.cfg(func), analyses.loops(func));
    if loops.all.is_empty() {
        return vec![];
    }
    let defs = Defs::new(func);
    let mut plans = vec![];
    for l in loops.all.iter().filter(|l| l.innermost && l.header != func.entry()) {
        let Some(turns) = turns(func, cfg, &defs, l.header, &l.blocks) else { continue };
        // Constants vanish; each turn that has been copied in an inner loop brought its own.
        let weighs = |i: &&Inst| !matches!(func.insts[i.index()].data, InstData::Const { .. });
        let size: usize = l
            .blocks
            .iter()
            .filter(|b| !func.blocks[b.index()].cold)
            .map(|b| func.blocks[b.index()].insts.iter().filter(weighs).count())
            .sum();
        let all: usize = l.blocks.iter().map(|b| func.blocks[b.index()].insts.len()).sum();
        if size * turns as usize > MAX_LOOP.min(*left) || all * turns as usize > 4 * MAX_LOOP {
            continue;
        }
        *left -= size * turns as usize;
        plans.push(Plan { blocks: l.blocks.clone(), latches: l.latches.clone(), turns });
    }
    plans
}

/// How often the body runs if nothing leaves it early: the header compares a counter that starts at a
/// constant and moves by a constant.
fn turns(func: &Func, cfg: &Cfg, defs: &Defs, header: Block, blocks: &[Block]) -> Option<u64> {
    let InstData::Brif { cond, then_to, else_to, .. } = &func.insts[func.terminator(header)?.index()].data
    else {
        return None;
    };
    if !blocks.contains(&then_to.block) || blocks.contains(&else_to.block) {
        return None;
    }
    let InstData::Op { op, args, .. } = defs.data(func, *cond)? else { return None };
    if !matches!(op, Op::IcmpSlt | Op::IcmpSgt) {
        return None;
    }
    let (up, limit) = (*op == Op::IcmpSlt, defs.constant(func, args[1])? as i64);
    let param = func.blocks[header.index()].params.iter().position(|p| *p == args[0])?;
    let (mut start, mut step) = (None, None);
    for from in cfg.preds(header) {
        let mut agree = true;
        func.insts[func.terminator(*from)?.index()].data.for_each_target(|to, list| {
            if to != header {
                return;
            }
            let (slot, value) = if blocks.contains(from) {
                (&mut step, step_of(func, defs, args[0], list[param]))
            } else {
                (&mut start, defs.constant(func, list[param]).map(|c| c as i64))
            };
            agree &= value.is_some() && (slot.is_none() || *slot == value);
            *slot = value;
        });
        if !agree {
            return None;
        }
    }
    let (start, step) = (start?, step?);
    if step == 0 || (step > 0) != up {
        return None;
    }
    let span = if up { i128::from(limit) - i128::from(start) } else { i128::from(start) - i128::from(limit) };
    let turns = if span <= 0 { 0 } else { (span as u128).div_ceil(u128::from(step.unsigned_abs())) };
    (1..=u128::from(MAX_TURNS)).contains(&turns).then_some(turns as u64)
}

/// `next` is the counter plus a constant.
fn step_of(func: &Func, defs: &Defs, counter: Value, next: Value) -> Option<i64> {
    let InstData::Op { op: Op::Iadd, args, .. } = defs.data(func, next)? else { return None };
    if args[0] != counter {
        return None;
    }
    defs.constant(func, args[1]).map(|c| c as i64)
}

fn unroll(func: &mut Func, p: &Plan) -> Vec<Copied> {
    let header = p.blocks[0];
    for latch in &p.latches {
        drop_poll(func, *latch, header);
    }
    let copies: Vec<Copied> = (0..p.turns).map(|_| copy_blocks(func, &p.blocks)).collect();
    let head = |k: usize| copies.get(k).map_or(header, |c| c.blocks[&header]);
    // Who comes from outside enters the first copy; the way back from each leads to the next, at last to the
    // loop.
    let inside: Vec<Block> =
        copies.iter().flat_map(|c| c.blocks.values().copied()).chain(p.blocks.iter().copied()).collect();
    for b in func.layout.clone() {
        if inside.contains(&b) {
            continue;
        }
        if let Some(t) = func.terminator(b) {
            func.insts[t.index()].data.map_targets(|to| if to == header { head(0) } else { to });
        }
    }
    for (k, c) in copies.iter().enumerate() {
        for b in c.blocks.values() {
            if let Some(t) = func.terminator(*b) {
                func.insts[t.index()].data.map_targets(|to| if to == head(k) { head(k + 1) } else { to });
            }
        }
    }
    copies
}

/// `brif flag ≠ 0, cold poll, header` becomes a jump to the header.
fn drop_poll(func: &mut Func, latch: Block, header: Block) {
    let Some(t) = func.terminator(latch) else { return };
    let InstData::Brif { cond, else_to, cold: Cold::Then, .. } = &func.insts[t.index()].data else { return };
    let defs = Defs::new(func);
    let Some(InstData::Op { op: Op::IcmpNe, args, .. }) = defs.data(func, *cond) else { return };
    let polls = matches!(defs.data(func, args[0]), Some(InstData::Load { alias: Alias::Volatile, .. }));
    if else_to.block != header || !polls {
        return;
    }
    let jump = InstData::Jump(else_to.clone());
    let gone = [defs.inst(*cond), defs.inst(args[0])];
    func.insts[t.index()].data = jump;
    func.blocks[latch.index()].insts.retain(|i| !gone.contains(&Some(*i)));
}
