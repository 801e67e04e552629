//! Polling once in [`TURNS`] turns: an innermost loop that polls on its way back becomes two.
//!
//! ```text
//! header(p…): …                         around(p…):   jump header(p…, 0)
//! latch:      flag = load volatile …    header(p…, k): …
//!             brif flag ≠ 0,            latch:        k' = k + 1; brif k' < TURNS, header(q…, k'), look
//!                  poll, header(q…)     look:         flag = load volatile …; brif flag ≠ 0, poll, around(q…)
//! ```
//!
//! The inner loop reads nothing that changes behind its back, so LLVM may vectorise it. Loops that call anything keep their polls: they do not
//! vectorise, and a turn may take long.

use super::edit::Defs;
use crate::lir::cfg::{Cfg, Dominators, Loops};
use crate::lir::{Alias, Block, BlockCall, Cold, Func, Inst, InstData, Op, Ty, Value};

/// Some microseconds to some hundred.
const TURNS: i64 = 1 << 14;

/// A loop that polls: header, the block that polls, the side that goes back.
struct Polling { header: Block, latch: Block, load: Inst }

pub fn strip_polls(func: &mut Func) {
    let found: Vec<Polling> = {
        let cfg = Cfg::new(func);
        let doms = Dominators::new(func, &cfg);
        let loops = Loops::new(func, &cfg, &doms);
        let defs = Defs::new(func);
        loops.all.iter().filter(|l| l.innermost && l.header != func.entry() && !calls(func, &l.blocks)).filter_map(|l| {
            l.latches.iter().find_map(|latch| poll_of(func, &defs, *latch, l.header))
        }).collect()
    };
    for p in found { strip(func, &p); }
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
    (here && matches!(func.insts[load.index()].data, InstData::Load { alias: Alias::Volatile, .. })).then_some(Polling { header, latch, load })
}

fn strip(func: &mut Func, p: &Polling) {
    let Some(branch) = func.terminator(p.latch) else { return };
    let loc = func.insts[branch.index()].loc;
    let InstData::Brif { cond, then_to, else_to, .. } = func.insts[branch.index()].data.clone() else { return };
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
    let Some(zero) = put(func, around, InstData::Const { ty: Ty::I64, bits: 0 }) else { return };
    put(func, around, InstData::Jump(BlockCall { block: p.header, args: params.into_iter().chain([zero]).collect() }));
    // The flag is read where it is looked at.
    let compare = func.blocks[p.latch.index()].insts.iter().copied().find(|i| func.insts[i.index()].results.first() == Some(&cond));
    func.blocks[p.latch.index()].insts.retain(|i| *i != branch && *i != p.load && Some(*i) != compare);
    let one = put(func, p.latch, InstData::Const { ty: Ty::I64, bits: 1 });
    let many = put(func, p.latch, InstData::Const { ty: Ty::I64, bits: TURNS as u64 });
    let (Some(one), Some(many)) = (one, many) else { return };
    let Some(next) = put(func, p.latch, InstData::Op { op: Op::Iadd, ty: Ty::I64, args: vec![turn, one] }) else { return };
    let Some(more) = put(func, p.latch, InstData::Op { op: Op::IcmpSlt, ty: Ty::I64, args: vec![next, many] }) else { return };
    let back = BlockCall { block: p.header, args: else_to.args.iter().copied().chain([next]).collect() };
    put(func, p.latch, InstData::Brif { cond: more, then_to: back, else_to: BlockCall { block: look, args: vec![] }, cold: Cold::Else });
    func.blocks[look.index()].insts.extend([p.load].into_iter().chain(compare));
    put(func, look, InstData::Brif { cond, then_to, else_to: BlockCall { block: around, args: else_to.args }, cold: Cold::Then });
    for (b, before) in [(around, p.header), (look, p.latch)] {
        let at = func.layout.iter().position(|x| *x == before).unwrap_or(0);
        func.layout.insert(if b == around { at } else { at + 1 }, b);
    }
}
