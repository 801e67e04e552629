//! Polling once in [`TURNS`] turns: an innermost loop that polls on its way back becomes two.
//!
//! ```text
//! header(p…): …                         around(p…):   jump header(p…, 0)
//! latch:      flag = load volatile …    header(p…, k): …
//!             brif flag ≠ 0,            latch:        k' = k + 1; brif k' < TURNS, header(q…, k'), look
//!                  poll, header(q…)     look:         flag = load volatile …; brif flag ≠ 0, poll, around(q…)
//! ```
//!
//! A header that does nothing but decide whether the loop goes on moves out: its test stands in `around`, and once more at the end of the latch, where it
//! joins `k' < TURNS`. The inner loop then has one exit, at its end, which is what LLVM needs to vectorise a sum (with two exits, what a turn
//! hands to the next would leave the loop in two states).
//!
//! The inner loop reads nothing that changes behind its back, so LLVM may vectorise it. Loops that call anything keep their polls: they do not
//! vectorise, and a turn may take long.

use super::edit::Defs;
use super::region::{Copied, merge_definitions, split_switch_edges};
use crate::lir::cfg::{Cfg, Dominators, Loops};
use crate::lir::{Alias, Block, BlockCall, Cold, Func, Inst, InstData, Op, Ty, Value};

/// Some microseconds to some hundred.
const TURNS: i64 = 1 << 14;

/// Instructions of a test that is worth copying.
const MAX_TEST: usize = 16;

/// A loop that polls: header, the block that polls, the load of the flag; and where the header is a test that may move, for which answer the loop goes on.
struct Polling { header: Block, latch: Block, load: Inst, test: Option<bool> }

pub fn strip_polls(func: &mut Func) {
    split_switch_edges(func);
    let found: Vec<Polling> = {
        let cfg = Cfg::new(func);
        let doms = Dominators::new(func, &cfg);
        let loops = Loops::new(func, &cfg, &doms);
        let defs = Defs::new(func);
        loops.all.iter().filter(|l| l.innermost && l.header != func.entry() && !calls(func, &l.blocks)).filter_map(|l| {
            let p = l.latches.iter().find_map(|latch| poll_of(func, &defs, *latch, l.header))?;
            Some(Polling { test: test_of(func, &l.blocks, &p), ..p })
        }).collect()
    };
    let copies: Vec<Copied> = found.iter().filter_map(|p| strip(func, p)).collect();
    if !copies.is_empty() { merge_definitions(func, &copies); }
}

/// For which answer the loop goes on, where the header computes and decides that and no more.
fn test_of(func: &Func, blocks: &[Block], p: &Polling) -> Option<bool> {
    let insts = &func.blocks[p.header.index()].insts;
    let Some((branch, rest)) = insts.split_last() else { return None };
    let InstData::Brif { then_to, else_to, .. } = &func.insts[branch.index()].data else { return None };
    let computes = |i: &Inst| matches!(func.insts[i.index()].data, InstData::Const { .. } | InstData::Op { .. });
    let inside = |to: &BlockCall| blocks.contains(&to.block) && to.block != p.header;
    let moves = p.header != p.latch && rest.len() <= MAX_TEST && rest.iter().all(computes) && inside(then_to) != inside(else_to);
    moves.then(|| inside(then_to))
}

/// Whether a block that is not cold calls anything.
fn calls(func: &Func, blocks: &[Block]) -> bool {
    blocks.iter().filter(|b| !func.blocks[b.index()].cold).flat_map(|b| &func.blocks[b.index()].insts)
        .any(|i| matches!(func.insts[i.index()].data, InstData::Call { .. } | InstData::CallIndirect { .. } | InstData::CallHelper { .. }))
}

/// `flag = load volatile; brif flag ≠ 0, cold poll, header`.
fn poll_of(func: &Func, defs: &Defs, latch: Block, header: Block) -> Option<Polling> {
    let InstData::Brif { cond, else_to, cold: Cold::Then, .. } = &func.insts[func.terminator(latch)?.index()].data else { return None };
    if else_to.block != header { return None; }
    let Some(InstData::Op { op: Op::IcmpNe, args, .. }) = defs.data(func, *cond) else { return None };
    if defs.constant(func, args[1]) != Some(0) { return None; }
    let load = defs.inst(args[0])?;
    let here = func.blocks[latch.index()].insts.contains(&load);
    (here && matches!(func.insts[load.index()].data, InstData::Load { alias: Alias::Volatile, .. })).then_some(Polling { header, latch, load, test: None })
}

/// Gives what was copied of a test that moved.
fn strip(func: &mut Func, p: &Polling) -> Option<Copied> {
    let branch = func.terminator(p.latch)?;
    let loc = func.insts[branch.index()].loc;
    let InstData::Brif { cond, then_to, else_to, .. } = func.insts[branch.index()].data.clone() else { return None };
    let (around, look) = (func.make_block(), func.make_block());
    // Everyone who comes in, and who comes back from the poll, starts to count anew.
    for b in func.layout.clone() {
        if let Some(t) = func.terminator(b) { func.insts[t.index()].data.map_targets(|to| if to == p.header { around } else { to }); }
    }
    let types: Vec<Ty> = func.blocks[p.header.index()].params.iter().map(|v| func.value_type(*v)).collect();
    let params: Vec<Value> = types.iter().map(|t| func.add_param(around, *t)).collect();
    let turn = func.add_param(p.header, Ty::I64);
    let put = |func: &mut Func, block: Block, data: InstData| {
        let i = func.make_inst(data, loc);
        func.blocks[block.index()].insts.push(i);
        func.insts[i.index()].results.first().copied()
    };
    let zero = put(func, around, InstData::Const { ty: Ty::I64, bits: 0 })?;
    let enter = BlockCall { block: p.header, args: params.iter().copied().chain([zero]).collect() };
    let moved = p.test.and_then(|stays_if| move_test(func, p, stays_if, around, &params, enter.clone()));
    if moved.is_none() { put(func, around, InstData::Jump(enter)); }
    // The flag is read where it is looked at.
    let compare = func.blocks[p.latch.index()].insts.iter().copied().find(|i| func.insts[i.index()].results.first() == Some(&cond));
    func.blocks[p.latch.index()].insts.retain(|i| *i != branch && *i != p.load && Some(*i) != compare);
    let one = put(func, p.latch, InstData::Const { ty: Ty::I64, bits: 1 });
    let many = put(func, p.latch, InstData::Const { ty: Ty::I64, bits: TURNS as u64 });
    let next = put(func, p.latch, InstData::Op { op: Op::Iadd, ty: Ty::I64, args: vec![turn, one?] })?;
    let mut more = put(func, p.latch, InstData::Op { op: Op::IcmpSlt, ty: Ty::I64, args: vec![next, many?] })?;
    if let Some(test) = &moved {
        let cond = copy_test(func, p, &test.insts, test.cond, p.latch, &else_to.args).0;
        let none = put(func, p.latch, InstData::Const { ty: func.value_type(cond), bits: 0 })?;
        let op = if test.stays_if { Op::IcmpNe } else { Op::IcmpEq };
        let stays = put(func, p.latch, InstData::Op { op, ty: func.value_type(cond), args: vec![cond, none] })?;
        more = put(func, p.latch, InstData::Op { op: Op::Band, ty: Ty::I8, args: vec![more, stays] })?;
    }
    let back = BlockCall { block: p.header, args: else_to.args.iter().copied().chain([next]).collect() };
    put(func, p.latch, InstData::Brif { cond: more, then_to: back, else_to: BlockCall { block: look, args: vec![] }, cold: Cold::Else });
    func.blocks[look.index()].insts.extend([p.load].into_iter().chain(compare));
    put(func, look, InstData::Brif { cond, then_to, else_to: BlockCall { block: around, args: else_to.args }, cold: Cold::Then });
    for (b, before) in [(around, p.header), (look, p.latch)] {
        let at = func.layout.iter().position(|x| *x == before).unwrap_or(0);
        func.layout.insert(if b == around { at } else { at + 1 }, b);
    }
    moved.map(|t| t.copied)
}

/// A test that moved: its instructions, which stay in the header for those who use them, what it asks, and for which answer the loop goes on.
struct Test { insts: Vec<Inst>, cond: Value, stays_if: bool, copied: Copied }

/// Puts the header's test at the end of `around`, in terms of its parameters; the header goes straight on.
fn move_test(func: &mut Func, p: &Polling, stays_if: bool, around: Block, params: &[Value], enter: BlockCall) -> Option<Test> {
    let branch = func.blocks[p.header.index()].insts.pop()?;
    let insts = func.blocks[p.header.index()].insts.clone();
    let node = func.insts[branch.index()].clone();
    let InstData::Brif { cond, then_to, else_to, cold } = node.data else { return None };
    let (copy, copied) = copy_test(func, p, &insts, cond, around, params);
    let renamed = |to: &BlockCall| BlockCall { block: to.block, args: to.args.iter().map(|v| copied.values.get(v).copied().unwrap_or(*v)).collect() };
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

/// Copies the test's instructions to the end of `to`, where the header's parameters have these values. Gives the copy of `cond` and all new names.
fn copy_test(func: &mut Func, p: &Polling, insts: &[Inst], cond: Value, to: Block, args: &[Value]) -> (Value, Copied) {
    let mut copied = Copied::default();
    // The turn counter comes last and is nothing that a test knows.
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
