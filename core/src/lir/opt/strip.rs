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
//! look:       brif i' < n, ask, out
//! ask:        flag = load volatile …; brif flag ≠ 0, poll, around(i')
//! ```
//!
//! So what has few turns does not poll at all: a loop around it does.
//!
//! Loops around short ones are treated like innermost ones, once `nest.rs` has taken the polls out of these.
//!
//! The inner loop reads nothing that changes behind its back, so LLVM may vectorise it. Loops that call
//! anything but elementary functions, whose definitions LLVM will see, keep their polls: they do not
//! vectorise, and a turn may take long.

use super::defer::{Stripped, defer_checks};
use super::edit::{Defs, Writer};
use super::nest::quieten;
use super::polling::{Counter, Polling, TURNS, calls, counter_of, poll_of, test_of};
use super::region::{Copied, merge_definitions, split_switch_edges};
use crate::lir::cfg::Analyses;
use crate::lir::{Block, BlockCall, Cold, Func, Inst, InstData, Op, Ty, Value};

pub(crate) fn strip_polls(func: &mut Func, analyses: &mut Analyses) {
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
    let (mut counted, mut copied, mut near) = (None, None, None);
    match (p.counter, p.test) {
        (Some(c), Some(stays_if)) => {
            let (test, block, nearer) =
                count_to_nearer_bound(&mut w, p, c, stays_if, around, &params, &else_to, look);
            stripped.extend(nearer.filter(|_| p.turns == Some(TURNS)));
            (counted, near) = (test, Some(block));
        }
        (None, test) | (Some(_), test) => {
            copied = count_turns(&mut w, p, test, around, &params, &else_to, look);
        }
    }
    let on = BlockCall { block: around, args: else_to.args };
    let mut behind = vec![look];
    if p.turns.is_some() {
        let ask = match &counted {
            Some(test) => ask_if_turns_are_left(func, p, test, look, &on),
            None => look,
        };
        func.blocks[ask.index()].insts.extend([p.load].into_iter().chain(compare));
        Writer { func, loc }.put(ask, InstData::Brif { cond, then_to, else_to: on, cold: Cold::Then });
        behind.extend((ask != look).then_some(ask));
    } else {
        Writer { func, loc }.put(look, InstData::Jump(on));
    }
    let before = func.layout.iter().position(|x| *x == p.header).unwrap_or(0);
    func.layout.splice(before..before, [around].into_iter().chain(near));
    let after = func.layout.iter().position(|x| *x == p.latch).unwrap_or(0) + 1;
    func.layout.splice(after..after, behind);
    counted.map(|test| test.copied).or(copied)
}

/// A loop that has come to its end asks nothing: what is around it polls. Ends `look` with the loop's own test, and
/// gives the block that asks where turns are left.
fn ask_if_turns_are_left(func: &mut Func, p: &Polling, test: &Test, look: Block, on: &BlockCall) -> Block {
    let ask = func.make_block();
    let (more, _) = copy_test(func, p, &test.insts, test.cond, look, &on.args);
    let (asks, ends) = (BlockCall { block: ask, args: vec![] }, on.clone());
    let loc = func.insts[p.load.index()].loc;
    let data = if test.stays_if {
        InstData::Brif { cond: more, then_to: asks, else_to: ends, cold: Cold::Then }
    } else {
        InstData::Brif { cond: more, then_to: ends, else_to: asks, cold: Cold::Else }
    };
    Writer { func, loc }.put(look, data);
    ask
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
) -> (Option<Test>, Block, Option<Stripped>) {
    let near = w.func.make_block();
    let moved = move_test(w.func, p, stays_if, around, params, BlockCall { block: near, args: vec![] });
    let copy = moved.as_ref().and_then(|t| t.copied.values.get(&c.bound)).copied();
    let bound = copy.unwrap_or(c.bound);
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
        moved,
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
