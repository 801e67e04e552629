//! Polling once in [`TURNS`] turns: an innermost loop that polls on its way back becomes two.
//!
//! ```text
//! header(p…): …                         around(p…):   jump header(p…, 0)
//! latch:      flag = load volatile …    header(p…, k): …
//!             brif flag ≠ 0,            latch:        k' = k + 1; brif k' < TURNS, header(q…, k'), look
//!                  poll, header(q…)     look:         flag = load volatile …; brif flag ≠ 0, poll, around(q…)
//! ```
//!
//! A header that does nothing but decide whether the loop goes on moves out: its test stands in `around`, and
//! once more at the end of the latch, where it joins `k' < TURNS`. The inner loop then has one exit, at its
//! end, which is what LLVM needs to vectorise a sum (with two exits, what a turn hands to the next would
//! leave the loop in two states).
//!
//! Where that test compares a counter with a bound, the inner loop counts to a nearer bound instead, and
//! there is no `k`:
//!
//! ```text
//! around(i):  brif i < n, near, out           near: m = i + umin(n - i, TURNS * step); jump header(i)
//! latch:      i' = i + step; brif i' < m, header(i'), look      (≠ for a step of 1)
//! ```
//!
//! Loops around short ones are treated like innermost ones, once `nest.rs` has taken the polls out of these.
//!
//! The inner loop reads nothing that changes behind its back, so LLVM may vectorise it. Loops that call
//! anything but elementary functions, whose definitions LLVM will see, keep their polls: they do not
//! vectorise, and a turn may take long.

use super::defer::{Stripped, defer_checks};
use super::edit::{Defs, Writer};
use super::nest::quieten;
use super::region::{Copied, merge_definitions, split_switch_edges};
use crate::lir::cfg::Analyses;
use crate::lir::{Alias, Block, BlockCall, Cold, Func, Inst, InstData, Op, Ty, Value};
use crate::math::definition;

/// Some microseconds to some hundred.
const TURNS: i64 = 1 << 14;

/// Instructions of a test that is worth copying.
const MAX_TEST: usize = 16;

/// A loop that polls: header, the block that polls, the load of the flag; and where the header is a test that
/// may move, for which answer the loop goes on.
pub struct Polling {
    pub header: Block,
    pub latch: Block,
    pub load: Inst,
    test: Option<bool>,
    counter: Option<Counter>,
    /// How many turns it makes without a poll; it needs none at all where they are known to be few.
    turns: Option<i64>,
}

/// The loop goes on while `param compare bound`, and `param` moves by `step` towards the bound.
#[derive(Clone, Copy)]
pub struct Counter {
    pub param: usize,
    compare: Op,
    pub bound: Value,
    pub step: i64,
}

pub fn strip_polls(func: &mut Func, analyses: &mut Analyses) {
    split_switch_edges(func, analyses);
    let quiet = quieten(func, analyses);
    let found: Vec<Polling> = {
        let defs = Defs::new(func);
        analyses
            .loops(func)
            .all
            .iter()
            .filter(|l| {
                (l.innermost || quiet.iter().any(|(header, _)| *header == l.header))
                    && l.header != func.entry()
                    && !calls(func, &l.blocks)
            })
            .filter_map(|l| {
                let p = l.latches.iter().find_map(|latch| poll_of(func, &defs, *latch, l.header))?;
                let test = test_of(func, &l.blocks, &p);
                let counter = test.and_then(|stays_if| counter_of(func, &defs, &l.blocks, &p, stays_if));
                Some(Polling {
                    test,
                    counter,
                    turns: quiet
                        .iter()
                        .find(|(header, _)| *header == l.header)
                        .map_or(Some(TURNS), |(_, inner)| inner.map(|n| TURNS / n)),
                    ..p
                })
            })
            .collect()
    };
    let mut near = vec![];
    let copies: Vec<Copied> = found.iter().filter_map(|p| strip(func, p, &mut near)).collect();
    if !found.is_empty() {
        analyses.invalidate();
    }
    if !copies.is_empty() {
        merge_definitions(func, analyses, &copies);
    }
    defer_checks(func, analyses, &near);
}

/// For which answer the loop goes on, where the header computes and decides that and no more.
pub fn test_of(func: &Func, blocks: &[Block], p: &Polling) -> Option<bool> {
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
pub fn counter_of(
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
pub fn calls(func: &Func, blocks: &[Block]) -> bool {
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
pub fn poll_of(func: &Func, defs: &Defs, latch: Block, header: Block) -> Option<Polling> {
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

/// Gives what was copied of a test that moved, and adds to the loops that count to a nearer bound.
fn strip(func: &mut Func, p: &Polling, stripped: &mut Vec<Stripped>) -> Option<Copied> {
    let branch = func.terminator(p.latch)?;
    let loc = func.insts[branch.index()].loc;
    let InstData::Brif { cond, then_to, else_to, .. } = func.insts[branch.index()].data.clone() else {
        return None;
    };
    let (around, look) = (func.make_block(), func.make_block());
    // Everyone who comes in, and who comes back from the poll, starts to count anew.
    for b in func.layout.clone() {
        if let Some(t) = func.terminator(b) {
            func.insts[t.index()].data.map_targets(|to| if to == p.header { around } else { to });
        }
    }
    let types: Vec<Ty> = func.blocks[p.header.index()].params.iter().map(|v| func.value_type(*v)).collect();
    let params: Vec<Value> = types.iter().map(|t| func.add_param(around, *t)).collect();
    // The flag is read where it is looked at.
    let compare = func.blocks[p.latch.index()]
        .insts
        .iter()
        .copied()
        .find(|i| func.insts[i.index()].results.first() == Some(&cond));
    func.blocks[p.latch.index()].insts.retain(|i| *i != branch && *i != p.load && Some(*i) != compare);
    let mut w = Writer { func, loc };
    let (copied, near) = match (p.counter, p.test) {
        (Some(c), Some(stays_if)) => {
            let (copied, block, near) =
                count_to_nearer_bound(&mut w, p, c, stays_if, around, &params, &else_to, look);
            stripped.extend(near.filter(|_| p.turns == Some(TURNS)));
            (Some(copied), Some(block))
        }
        (None, test) | (Some(_), test) => {
            (count_turns(&mut w, p, test, around, &params, &else_to, look), None)
        }
    };
    let on = BlockCall { block: around, args: else_to.args };
    if p.turns.is_some() {
        func.blocks[look.index()].insts.extend([p.load].into_iter().chain(compare));
    }
    Writer { func, loc }.put(
        look,
        if p.turns.is_some() {
            InstData::Brif { cond, then_to, else_to: on, cold: Cold::Then }
        } else {
            InstData::Jump(on)
        },
    );
    let before = func.layout.iter().position(|x| *x == p.header).unwrap_or(0);
    func.layout.splice(before..before, [around].into_iter().chain(near));
    let after = func.layout.iter().position(|x| *x == p.latch).unwrap_or(0) + 1;
    func.layout.insert(after, look);
    copied
}

/// The inner loop goes on while `turn < TURNS`, and while its own test says so where that is at the header.
fn count_turns(
    w: &mut Writer<'_>,
    p: &Polling,
    test: Option<bool>,
    around: Block,
    params: &[Value],
    back: &BlockCall,
    look: Block,
) -> Option<Copied> {
    let turn = w.func.add_param(p.header, Ty::I64);
    let zero = w.int(around, Ty::I64, 0);
    let enter = BlockCall { block: p.header, args: params.iter().copied().chain([zero]).collect() };
    let moved = test.and_then(|stays_if| move_test(w.func, p, stays_if, around, params, enter.clone()));
    if moved.is_none() {
        w.put(around, InstData::Jump(enter));
    }
    let one = w.int(p.latch, Ty::I64, 1);
    let many = w.int(p.latch, Ty::I64, p.turns.unwrap_or(i64::MAX));
    let next = w.bin(p.latch, Op::Iadd, turn, one);
    let mut more = w.bin(p.latch, Op::IcmpSlt, next, many);
    if let Some(test) = &moved {
        let cond = copy_test(w.func, p, &test.insts, test.cond, p.latch, &back.args).0;
        let none = w.int(p.latch, w.func.value_type(cond), 0);
        let stays = w.bin(p.latch, if test.stays_if { Op::IcmpNe } else { Op::IcmpEq }, cond, none);
        more = w.bin(p.latch, Op::Band, more, stays);
    }
    let again = BlockCall { block: p.header, args: back.args.iter().copied().chain([next]).collect() };
    w.put(
        p.latch,
        InstData::Brif {
            cond: more,
            then_to: again,
            else_to: BlockCall { block: look, args: vec![] },
            cold: Cold::Else,
        },
    );
    moved.map(|t| t.copied)
}

/// The inner loop counts to a bound that is at most `TURNS` turns away. The block that computes it runs where
/// there is a turn at all: the distance is then not negative, and as an unsigned number exact.
#[expect(clippy::too_many_arguments, reason = "one step of `strip`")]
fn count_to_nearer_bound(
    w: &mut Writer<'_>,
    p: &Polling,
    c: Counter,
    stays_if: bool,
    around: Block,
    params: &[Value],
    back: &BlockCall,
    look: Block,
) -> (Copied, Block, Option<Stripped>) {
    let near = w.func.make_block();
    let moved = move_test(w.func, p, stays_if, around, params, BlockCall { block: near, args: vec![] });
    let copied = moved.map(|t| t.copied).unwrap_or_default();
    let bound = copied.values.get(&c.bound).copied().unwrap_or(c.bound);
    let (from, up) = (params[c.param], c.step > 0);
    let (mut limit, mut far) = (bound, None);
    if let Some(turns) = p.turns {
        let distance =
            if up { w.bin(near, Op::Isub, bound, from) } else { w.bin(near, Op::Isub, from, bound) };
        let most =
            w.func.make_inst(InstData::Const { ty: Ty::I64, bits: (turns * c.step.abs()) as u64 }, w.loc);
        w.func.blocks[near.index()].insts.push(most);
        let result = w.func.insts[most.index()].results[0];
        let distance = w.bin(near, Op::Umin, distance, result);
        limit = w.bin(near, if up { Op::Iadd } else { Op::Isub }, from, distance);
        far = Some(most);
    }
    w.put(near, InstData::Jump(BlockCall { block: p.header, args: params.to_vec() }));
    // A step of one meets the bound exactly, and a number of turns that is a plain difference is what LLVM
    // unrolls by.
    let compare = if c.step.abs() == 1 { Op::IcmpNe } else { c.compare };
    let more = w.bin(p.latch, compare, back.args[c.param], limit);
    let again = BlockCall { block: p.header, args: back.args.clone() };
    w.put(
        p.latch,
        InstData::Brif {
            cond: more,
            then_to: again,
            else_to: BlockCall { block: look, args: vec![] },
            cold: Cold::Else,
        },
    );
    (
        copied,
        near,
        far.map(|most| Stripped { header: p.header, latch: p.latch, near, look, most, step: c.step }),
    )
}

/// A test that moved: its instructions, which stay in the header for those who use them, what it asks, and
/// for which answer the loop goes on.
struct Test {
    insts: Vec<Inst>,
    cond: Value,
    stays_if: bool,
    copied: Copied,
}

/// Puts the header's test at the end of `around`, in terms of its parameters; the header goes straight on.
fn move_test(
    func: &mut Func,
    p: &Polling,
    stays_if: bool,
    around: Block,
    params: &[Value],
    enter: BlockCall,
) -> Option<Test> {
    let branch = func.blocks[p.header.index()].insts.pop()?;
    let insts = func.blocks[p.header.index()].insts.clone();
    let node = func.insts[branch.index()].clone();
    let InstData::Brif { cond, then_to, else_to, cold } = node.data else { return None };
    let (copy, copied) = copy_test(func, p, &insts, cond, around, params);
    let renamed = |to: &BlockCall| BlockCall {
        block: to.block,
        args: to.args.iter().map(|v| copied.values.get(v).copied().unwrap_or(*v)).collect(),
    };
    let data = if stays_if {
        InstData::Brif { cond: copy, then_to: enter, else_to: renamed(&else_to), cold }
    } else {
        InstData::Brif { cond: copy, then_to: renamed(&then_to), else_to: enter, cold }
    };
    let test = func.make_inst(data, node.loc);
    func.blocks[around.index()].insts.push(test);
    let on = func.make_inst(InstData::Jump(if stays_if { then_to } else { else_to }), node.loc);
    func.blocks[p.header.index()].insts.push(on);
    Some(Test { insts, cond, stays_if, copied })
}

/// Copies the test's instructions to the end of `to`, where the header's parameters have these values. Gives
/// the copy of `cond` and all new names.
fn copy_test(
    func: &mut Func,
    p: &Polling,
    insts: &[Inst],
    cond: Value,
    to: Block,
    args: &[Value],
) -> (Value, Copied) {
    let mut copied = Copied::default();
    // A turn counter comes last and is nothing that a test knows.
    copied.values.extend(func.blocks[p.header.index()].params.iter().copied().zip(args.iter().copied()));
    for i in insts {
        let node = func.insts[i.index()].clone();
        let mut data = node.data;
        data.map_uses(|v| copied.values.get(&v).copied().unwrap_or(v));
        let new = func.make_inst(data, node.loc);
        func.blocks[to.index()].insts.push(new);
        copied.values.extend(node.results.iter().copied().zip(func.insts[new.index()].results.clone()));
    }
    (copied.values.get(&cond).copied().unwrap_or(cond), copied)
}
