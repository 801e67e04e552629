//! Loops that poll: how they look, and what of them can be counted.

use super::edit::Defs;
use crate::lir::cfg::Analyses;
use crate::lir::{Alias, Block, BlockCall, Cold, Func, Inst, InstData, Op, Ty, Value};
use crate::math::definition;

/// Some microseconds to some hundred.
pub(super) const TURNS: i64 = 1 << 14;

/// Instructions of a test that is worth copying.
const MAX_TEST: usize = 16;

/// A loop that polls: header, the block that polls, the load of the flag; and where the header is a test that
/// may move, for which answer the loop goes on.
pub(crate) struct Polling {
    pub header: Block,
    pub latch: Block,
    pub load: Inst,
    pub(super) test: Option<bool>,
    pub(super) counter: Option<Counter>,
    /// How many turns it makes without a poll; it needs none at all where they are known to be few.
    pub(super) turns: Option<i64>,
}

/// The loop goes on while `param compare bound`, and `param` moves by `step` towards the bound.
#[derive(Clone, Copy)]
pub(crate) struct Counter {
    pub param: usize,
    pub(super) compare: Op,
    pub bound: Value,
    pub step: i64,
}

/// For which answer the loop goes on, where the header computes and decides that and no more.
pub(crate) fn test_of(func: &Func, blocks: &[Block], p: &Polling) -> Option<bool> {
    let insts = &func.blocks[p.header.index()].insts;
    let Some((branch, rest)) = insts.split_last() else { return None };
    let InstData::Brif { then_to, else_to, .. } = &func.insts[branch.index()].data else { return None };
    // A test of floats belongs to a loop that does not vectorise, and the body often uses what it computed.
    let computes = |i: &Inst| match &func.insts[i.index()].data {
        InstData::Const { ty, .. } => !matches!(ty, Ty::F32 | Ty::F64),
        InstData::Op { args, .. } => args.iter().all(|a| !matches!(func.value_type(*a), Ty::F32 | Ty::F64)),
        InstData::Load { .. }
        | InstData::Store { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. }
        | InstData::Call { .. }
        | InstData::CallIndirect { .. }
        | InstData::CallHelper { .. }
        | InstData::Grid { .. }
        | InstData::Jump(_)
        | InstData::Brif { .. }
        | InstData::Switch { .. }
        | InstData::Return(_)
        | InstData::Unreachable => false,
    };
    let inside = |to: &BlockCall| blocks.contains(&to.block) && to.block != p.header;
    let moves = p.header != p.latch
        && rest.len() <= MAX_TEST
        && rest.iter().all(computes)
        && inside(then_to) != inside(else_to);
    moves.then(|| inside(then_to))
}

/// What the header's test counts, where it is a comparison that a nearer bound can stand in for.
pub(crate) fn counter_of(
    func: &Func,
    defs: &Defs,
    blocks: &[Block],
    p: &Polling,
    stays_if: bool,
) -> Option<Counter> {
    let InstData::Brif { cond, .. } = &func.insts[func.terminator(p.header)?.index()].data else {
        return None;
    };
    let InstData::Op { op: compare, ty: Ty::I64, args } = defs.data(func, *cond)? else { return None };
    let within = |v: Value| {
        blocks.iter().any(|b| {
            let block = &func.blocks[b.index()];
            block.params.contains(&v)
                || block.insts.iter().any(|i| func.insts[i.index()].results.contains(&v))
        })
    };
    let param = func.blocks[p.header.index()].params.iter().position(|v| *v == args[0])?;
    let InstData::Brif { else_to, .. } = &func.insts[func.terminator(p.latch)?.index()].data else {
        return None;
    };
    let InstData::Op { op: Op::Iadd, args: sum, .. } = defs.data(func, else_to.args[param])? else {
        return None;
    };
    let step = (sum[0] == args[0]).then(|| defs.constant(func, sum[1]))?? as i64;
    let near = 1 << 20;
    let towards = (*compare == Op::IcmpSlt && (1..near).contains(&step)) || (*compare == Op::IcmpSgt && (1 - near..0).contains(&step))
        // Down to a number from above, or up from below: either way the distance counts turns.
        || (*compare == Op::IcmpNe && step.abs() == 1);
    // The constant bound of a test may stand in the header itself.
    let bound_known = !within(args[1]) || defs.constant(func, args[1]).is_some();
    (stays_if && towards && bound_known).then_some(Counter { param, compare: *compare, bound: args[1], step })
}

/// Whether a block that is not cold calls anything that stays a call.
pub(crate) fn calls(func: &Func, blocks: &[Block]) -> bool {
    blocks.iter().filter(|b| !func.blocks[b.index()].cold).flat_map(|b| &func.blocks[b.index()].insts).any(
        |i| match &func.insts[i.index()].data {
            InstData::CallHelper { helper, .. } => definition(helper).is_none(),
            InstData::Call { .. } | InstData::CallIndirect { .. } => true,
            InstData::Grid { op, .. } => !op.is_pure(),
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => false,
        },
    )
}

/// `flag = load volatile; brif flag ≠ 0, cold poll, header`.
pub(crate) fn poll_of(func: &Func, defs: &Defs, latch: Block, header: Block) -> Option<Polling> {
    let InstData::Brif { cond, else_to, cold: Cold::Then, .. } =
        &func.insts[func.terminator(latch)?.index()].data
    else {
        return None;
    };
    if else_to.block != header {
        return None;
    }
    let Some(InstData::Op { op: Op::IcmpNe, args, .. }) = defs.data(func, *cond) else { return None };
    if defs.constant(func, args[1]) != Some(0) {
        return None;
    }
    let load = defs.inst(args[0])?;
    let here = func.blocks[latch.index()].insts.contains(&load);
    (here && matches!(func.insts[load.index()].data, InstData::Load { alias: Alias::Volatile, .. }))
        .then_some(Polling { header, latch, load, test: None, counter: None, turns: Some(TURNS) })
}

/// One poll in a turn is enough: those go without which every way back to them comes through another one, of two in
/// one turn the first. Such loops come of generators, whose own loops turn where their consumer's do.
pub(super) fn poll_once(func: &mut Func, analyses: &mut Analyses) {
    let mut polls: Vec<(Block, Inst)> = {
        let defs = Defs::new(func);
        let order = analyses.cfg(func).rpo();
        order.iter().filter_map(|b| Some((*b, flag_read_by(func, &defs, *b)?))).collect()
    };
    {
        let (doms, loops) = (analyses.dominators(func), analyses.loops(func));
        let every_turn = |b: Block| {
            loops.of(b).is_some_and(|l| loops.all[l].latches.iter().all(|latch| doms.dominates(b, *latch)))
        };
        polls.sort_by_key(|(b, _)| every_turn(*b));
    }
    let mut stay: Vec<Block> = polls.iter().map(|p| p.0).collect();
    for (b, load) in polls {
        if returns_to(func, b, &stay) {
            continue;
        }
        stay.retain(|x| *x != b);
        // What reads nothing asks for zero.
        func.insts[load.index()].data = InstData::Const { ty: Ty::I32, bits: 0 };
        if let Some(t) = func.terminator(b)
            && let InstData::Brif { else_to, .. } = func.insts[t.index()].data.clone()
        {
            func.insts[t.index()].data = InstData::Jump(else_to);
            analyses.invalidate();
        }
    }
}

/// Whether control may come back to a block and through none of the others.
fn returns_to(func: &Func, b: Block, others: &[Block]) -> bool {
    let (mut seen, mut work) = (vec![false; func.blocks.len()], vec![b]);
    while let Some(at) = work.pop() {
        let Some(t) = func.terminator(at) else { continue };
        let mut back = false;
        func.insts[t.index()].data.for_each_successor(|to| {
            back |= to == b;
            if !std::mem::replace(&mut seen[to.index()], true) && !others.contains(&to) {
                work.push(to);
            }
        });
        if back {
            return true;
        }
    }
    false
}

/// The load of the flag that the branch at the end of a block asks.
fn flag_read_by(func: &Func, defs: &Defs, b: Block) -> Option<Inst> {
    let InstData::Brif { else_to, .. } = &func.insts[func.terminator(b)?.index()].data else { return None };
    poll_of(func, defs, b, else_to.block).map(|p| p.load)
}
