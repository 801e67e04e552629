//! On-stack replacement: how running code goes over to better code in the middle of a loop.
//!
//! Both sides are made of one snapshot, the optimised module before it is legalised. A [`Point`] is a block
//! that polls (it is cold, and stands on the way back to a loop's header). [`insert_exits`] gives it, in the
//! code that runs first, a question to the run-time: is there other code to go on with? If so, everything
//! live goes into a buffer, the other code is called, and what it returns is returned. [`entry`] makes that
//! other code: a function that takes the buffer and goes on at the point. Owned references just move, since
//! whoever goes on releases what the first would have released.
//!
//! The best point is the one of the outermost loop: a thread is asked there first ([`set_levels`]), and
//! further inside only where no turn ends soon. Entering the middle of a loop nest would make its loops
//! irreducible, and a back end would leave them alone. So the rest of the current turn of each loop around
//! the point is a copy, and the copy leads back to the headers of the nest as it was:
//!
//! ```text
//! for i in …:          entry → rest of this turn of j ─→ remaining turns of j ─→ rest of this turn of i ─→ the whole nest,
//!     for j in …:              (copy, deepest)            (copy)                  (copy)                    from the header of i
//!         # point
//! ```

use super::cfg::{Analyses, Cfg, Dominators, Loops};
use super::opt::edit::{Defs, FastMap, Subst, remove_unreachable};
pub use super::opt::region::split_switch_edges;
use super::opt::region::{Copied, copy_blocks, merge_variables};
use super::*;
use crate::layout::LEVELS;
use crate::offset;
use crate::ops::object::{poll_interrupt, tier_sample};
use std::sync::atomic::AtomicU32;

/// A place where code may be left and entered.
#[derive(Clone, Debug)]
pub struct Point {
    pub block: Block,
    /// Values that travel, in the order of the buffer's words: parameters of the block, then what is live
    /// into it.
    pub live: Vec<Value>,
    /// Blocks of the loops around the point, outermost first, each with its header in front.
    loops: Vec<Vec<Block>>,
    /// Where the loop's header decides.
    pub loc: Loc,
}

/// The name of the function that goes on at the `k`-th point of `func`.
pub fn entry_name(func: &str, k: usize) -> String {
    format!("{func}@osr{k}")
}

/// The points of a function, always in the same order. Its switches were split ([`split_switch_edges`]).
/// Stack slots of the function travel as well, by address, after the values.
pub fn points(func: &Func) -> Vec<Point> {
    let polls: Vec<Block> =
        func.layout.iter().copied().filter(|b| poll_position(func, *b).is_some()).collect();
    if polls.is_empty() {
        return vec![];
    }
    let cfg = Cfg::new(func);
    let doms = Dominators::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &doms);
    let live = live_in(func, &cfg);
    let defs = Defs::new(func);
    polls
        .into_iter()
        .filter(|b| loops.depth(*b) > 0)
        .map(|block| {
            let mut around = vec![];
            let mut at = loops.of(block);
            while let Some(l) = at {
                around.push(loops.all[l].blocks.clone());
                at = loops.all[l].parent;
            }
            around.reverse();
            let data = &func.blocks[block.index()];
            let travels = |v: &Value| {
                !matches!(
                    defs.data(func, *v),
                    Some(InstData::Const { .. } | InstData::SymbolAddr { .. } | InstData::StackAddr { .. })
                )
            };
            let values =
                data.params.iter().copied().chain(live.values(block).filter(|v| travels(v))).collect();
            let loc = around
                .last()
                .and_then(|l: &Vec<Block>| func.terminator(l[0]))
                .map_or(Loc(0), |i| func.insts[i.index()].loc);
            Point { block, live: values, loops: around, loc }
        })
        .collect()
}

impl Point {
    /// How many loops are around the innermost one, as far as polling tells them apart.
    pub fn level(&self) -> usize {
        (self.loops.len() - 1).min(LEVELS - 1)
    }
    /// Whether the other point, of the same function, goes round a loop inside of which this one is.
    pub fn is_inside(&self, other: &Point) -> bool {
        other.loops.len() < self.loops.len()
            && self.loops[other.loops.len() - 1][0] == other.loops[other.loops.len() - 1][0]
    }
}

/// Makes every loop with a point look at the word of its level.
pub fn set_levels(func: &mut Func, points: &[Point]) {
    if points.is_empty() {
        return;
    }
    let by_block: FastMap<Block, &Point> = points.iter().map(|p| (p.block, p)).collect();
    for b in func.layout.clone() {
        let Some(InstData::Brif { cond, then_to, .. }) =
            func.terminator(b).map(|t| &func.insts[t.index()].data)
        else {
            continue;
        };
        let Some(point) = by_block.get(&then_to.block) else { continue };
        // `flag = load volatile; c = flag ≠ 0; brif c, poll, …`, as lowering makes it.
        let by = |v: Value| {
            func.blocks[b.index()].insts.iter().copied().find(|i| func.insts[i.index()].results.contains(&v))
        };
        let Some(InstData::Op { op: Op::IcmpNe, args, .. }) = by(*cond).map(|i| &func.insts[i.index()].data)
        else {
            continue;
        };
        let Some(load) = by(args[0]) else { continue };
        let level = point.level();
        if let InstData::Load { offset, alias: Alias::Volatile, .. } = &mut func.insts[load.index()].data {
            *offset = offset!(ThreadCtx.interrupt) + (size_of::<AtomicU32>() * level) as i32;
        }
    }
}

/// Whether the function has a loop that polls.
pub(crate) fn polls(func: &Func) -> bool {
    func.layout.iter().any(|b| poll_position(func, *b).is_some())
}

/// Where a block polls; before that it may only compute, since it is begun again.
fn poll_position(func: &Func, b: Block) -> Option<usize> {
    let data = &func.blocks[b.index()];
    if !data.cold {
        return None;
    }
    let at = data.insts.iter().position(|i| matches!(&func.insts[i.index()].data, InstData::CallHelper { helper, .. } if *helper == &poll_interrupt))?;
    let computes = |i: &Inst| {
        matches!(
            func.insts[i.index()].data,
            InstData::Const { .. }
                | InstData::Op { .. }
                | InstData::Load { .. }
                | InstData::SymbolAddr { .. }
                | InstData::StackAddr { .. }
        )
    };
    data.insts[..at].iter().all(computes).then_some(at)
}

/// Sets of values, a bit each.
struct Live {
    words: usize,
    sets: Vec<u64>,
}

impl Live {
    fn values(&self, b: Block) -> impl Iterator<Item = Value> + '_ {
        let set = &self.sets[b.index() * self.words..(b.index() + 1) * self.words];
        set.iter().enumerate().flat_map(|(k, word)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| Value::new(64 * k + bit))
        })
    }
}

/// Values that are live into each block, its parameters left out.
fn live_in(func: &Func, cfg: &Cfg) -> Live {
    let words = func.value_types.len().div_ceil(64);
    let mut live = Live { words, sets: vec![0; words * func.blocks.len()] };
    let mut set = vec![0u64; words];
    let mut changed = true;
    while changed {
        changed = false;
        for &b in cfg.rpo().iter().rev() {
            set.fill(0);
            let data = &func.blocks[b.index()];
            if let Some(t) = func.terminator(b) {
                func.insts[t.index()].data.for_each_successor(|s| {
                    for (k, word) in set.iter_mut().enumerate() {
                        *word |= live.sets[s.index() * words + k];
                    }
                });
            }
            for i in data.insts.iter().rev() {
                let node = &func.insts[i.index()];
                for r in &node.results {
                    set[r.index() / 64] &= !(1 << (r.index() % 64));
                }
                node.data.for_each_use(|v| set[v.index() / 64] |= 1 << (v.index() % 64));
            }
            for p in &data.params {
                set[p.index() / 64] &= !(1 << (p.index() % 64));
            }
            let old = &mut live.sets[b.index() * words..(b.index() + 1) * words];
            if *old != *set {
                old.copy_from_slice(&set);
                changed = true;
            }
        }
    }
    live
}

/// The signature of a function that goes on: context and buffer.
fn entry_signature(func: &Func) -> Signature {
    Signature { params: vec![Ty::Ptr, Ty::Ptr], results: func.sig.results.clone() }
}

/// Words of the buffer that these values take: one each, a vector as many as it needs.
fn words_of(func: &Func, values: &[Value]) -> usize {
    values.iter().map(|v| func.value_type(*v).bytes().div_ceil(8) as usize).sum()
}

/// Makes every point ask the run-time whether to leave. `site` gives the name and the address of the word
/// that stands for the `k`-th point.
pub fn insert_exits(func: &mut Func, points: &[Point], mut site: impl FnMut(usize) -> (String, usize)) {
    if points.is_empty() {
        return;
    }
    let ctx = func.blocks[func.entry().index()].params[0];
    let words = points.iter().map(|p| words_of(func, &p.live)).max().unwrap_or(0) + func.slots.len();
    let sources: Vec<Slot> = (0..func.slots.len()).map(Slot::new).collect();
    let buffer = func.add_slot(8 * words.max(1) as u32);
    let sig = entry_signature(func);
    for (k, point) in points.iter().enumerate() {
        let (name, addr) = site(k);
        let symbol = func.symbol(&name, addr);
        let old = std::mem::take(&mut func.blocks[point.block.index()].insts);
        let (stay, leave) = (func.make_block(), func.make_block());
        func.blocks[stay.index()].insts = old;
        for b in [stay, leave] {
            func.blocks[b.index()].cold = true;
        }
        let at = func.layout.iter().position(|b| *b == point.block).unwrap_or(0);
        func.layout.splice(at + 1..at + 1, [stay, leave]);
        let mut put = Put { func, block: point.block, loc: point.loc };
        let site = put.value(InstData::SymbolAddr { symbol });
        let target = put.value(InstData::CallHelper { helper: &tier_sample, args: vec![ctx, site] });
        let null = put.value(InstData::Const { ty: Ty::Ptr, bits: 0 });
        let some = put.value(InstData::Op { op: Op::IcmpNe, ty: Ty::Ptr, args: vec![target, null] });
        let to = |block| BlockCall { block, args: vec![] };
        put.inst(InstData::Brif { cond: some, then_to: to(leave), else_to: to(stay), cold: Cold::Neither });
        put.block = leave;
        let place = put.value(InstData::StackAddr { slot: buffer });
        for (n, v) in point.live.iter().enumerate() {
            let offset = 8 * words_of(put.func, &point.live[..n]) as i32;
            put.inst(InstData::Store { value: *v, addr: place, offset, alias: Alias::Stack });
        }
        let end = words_of(put.func, &point.live);
        for (n, slot) in sources.iter().enumerate() {
            let value = put.value(InstData::StackAddr { slot: *slot });
            put.inst(InstData::Store {
                value,
                addr: place,
                offset: 8 * (end + n) as i32,
                alias: Alias::Stack,
            });
        }
        let call =
            put.inst(InstData::CallIndirect { sig: sig.clone(), addr: target, args: vec![ctx, place] });
        let results = put.func.insts[call.index()].results.clone();
        put.inst(InstData::Return(results));
    }
}

/// Appends to a block.
struct Put<'a> {
    func: &'a mut Func,
    block: Block,
    loc: Loc,
}
impl Put<'_> {
    fn inst(&mut self, data: InstData) -> Inst {
        let i = self.func.make_inst(data, self.loc);
        self.func.blocks[self.block.index()].insts.push(i);
        i
    }
    fn value(&mut self, data: InstData) -> Value {
        let i = self.inst(data);
        self.func.insts[i.index()].results[0]
    }
}

/// The function that goes on at the `k`-th of `points(func)`.
pub fn entry(func: &Func, points: &[Point], k: usize) -> Func {
    let point = &points[k];
    let mut f = func.clone();
    (f.name, f.sig, f.always_inline) = (entry_name(&func.name, k), entry_signature(func), false);
    let copies = copy_turns(&mut f, &point.loops);
    let start = f.make_block();
    let (ctx, buffer) = (f.add_param(start, Ty::Ptr), f.add_param(start, Ty::Ptr));
    f.layout.insert(0, start);
    let mut put = Put { func: &mut f, block: start, loc: point.loc };
    let mut loaded: Vec<Value> = point
        .live
        .iter()
        .enumerate()
        .map(|(n, v)| {
            let ty = put.func.value_type(*v);
            let offset = 8 * words_of(put.func, &point.live[..n]) as i32;
            put.value(InstData::Load { ty, addr: buffer, offset, alias: Alias::Stack })
        })
        .collect();
    compute_again(&mut put, func, point, &mut loaded);
    let end = words_of(func, &point.live);
    let slots: Vec<Value> = (0..func.slots.len())
        .map(|n| {
            put.value(InstData::Load {
                ty: Ty::Ptr,
                addr: buffer,
                offset: 8 * (end + n) as i32,
                alias: Alias::Stack,
            })
        })
        .collect();
    let mut replaced = rematerialise(&mut put, &slots);
    let inner = copies.last().and_then(|c| c.blocks.get(&point.block)).copied().unwrap_or(point.block);
    let params = func.blocks[point.block.index()].params.len();
    put.inst(InstData::Jump(BlockCall { block: inner, args: loaded[..params].to_vec() }));
    // The context is the same object on both sides.
    replaced.set(func.blocks[func.entry().index()].params[0], ctx);
    let mut names: FastMap<Value, Vec<Value>> = FastMap::default();
    for (old, new) in copies.iter().flat_map(|c| &c.values) {
        names.entry(*old).or_insert_with(|| vec![*old]).push(*new);
    }
    for (old, new) in point.live.iter().zip(&loaded).skip(params) {
        names.entry(*old).or_insert_with(|| vec![*old]).push(*new);
    }
    replaced.apply(&mut f);
    f.slots.clear();
    // Their addresses come from the buffer; what made them here is dead and names slots that are gone.
    for b in f.layout.clone() {
        let insts = std::mem::take(&mut f.blocks[b.index()].insts);
        f.blocks[b.index()].insts = insts
            .into_iter()
            .filter(|i| !matches!(f.insts[i.index()].data, InstData::StackAddr { .. }))
            .collect();
    }
    let analyses = Analyses::default();
    let cfg = analyses.cfg(&f);
    remove_unreachable(&mut f, cfg);
    let mut variables: Vec<Vec<Value>> = names.into_values().collect();
    variables.sort_unstable();
    merge_variables(&mut f, &analyses, &variables);
    f
}

/// What was computed from values that travel as well is computed again, and what is at least some number is
/// made so once more: a value out of a buffer may be anything, and a back end knows neither that two lengths
/// differ by one nor that one is not negative.
fn compute_again(put: &mut Put<'_>, func: &Func, point: &Point, loaded: &mut [Value]) {
    let defs = Defs::new(func);
    let params = func.blocks[point.block.index()].params.len();
    let mut known: FastMap<Value, Value> =
        point.live.iter().copied().zip(loaded.iter().copied()).skip(params).collect();
    // Values are numbered as they were made, so most operands come before what is made of them.
    let mut order: Vec<usize> = (params..point.live.len()).collect();
    order.sort_unstable_by_key(|n| point.live[*n]);
    for n in order {
        let v = point.live[n];
        let Some(InstData::Op { op, ty, args }) = defs.data(func, v) else { continue };
        let constant = |put: &mut Put<'_>, a: Value| {
            defs.constant(func, a).map(|bits| {
                let ty = func.value_type(a);
                put.value(InstData::Const { ty, bits })
            })
        };
        let operands: Vec<Option<Value>> =
            args.iter().map(|a| known.get(a).copied().or_else(|| constant(put, *a))).collect();
        let args: Vec<Value> = if let Some(args) = operands.iter().copied().collect() {
            args
        } else if let (Op::Smax | Op::Smin | Op::Umin, [None, Some(k)] | [Some(k), None]) =
            (op, operands.as_slice())
        {
            vec![loaded[n], *k]
        } else {
            continue;
        };
        let again = put.value(InstData::Op { op: *op, ty: *ty, args });
        loaded[n] = again;
        known.insert(v, again);
    }
}

/// Copies the loops, outermost first: in the copy of each, the way back to its header leads to the next copy
/// outside, or to the loop itself.
fn copy_turns(f: &mut Func, loops: &[Vec<Block>]) -> Vec<Copied> {
    let mut copies: Vec<Copied> = vec![];
    for (level, blocks) in loops.iter().enumerate() {
        let copied = copy_blocks(f, blocks);
        let own: FastMap<Block, Block> = copied.blocks.iter().map(|(old, new)| (*new, *old)).collect();
        let target = |to: Block| -> Block {
            // Copied edges inside the loop name copies; take them back first.
            let to = own.get(&to).copied().unwrap_or(to);
            let mut m = level + 1;
            while m > 0 {
                let inside = loops[m - 1].contains(&to);
                if inside && loops[m - 1][0] != to {
                    return if m == level + 1 { copied.blocks[&to] } else { copies[m - 1].blocks[&to] };
                }
                m -= 1;
            }
            to
        };
        for new in own.keys() {
            let Some(t) = f.terminator(*new) else { continue };
            // What stands behind a switch was copied with it, and leads on: a switch passes no arguments, so
            // each needs blocks of its own there.
            if !matches!(f.insts[t.index()].data, InstData::Switch { .. }) {
                f.insts[t.index()].data.map_targets(target);
            }
        }
        copies.push(copied);
    }
    copies
}

/// Constants and addresses are made anew at the start, so that they need not travel.
fn rematerialise(put: &mut Put<'_>, slots: &[Value]) -> Subst {
    let mut replaced = Subst::new(put.func);
    let old: Vec<(Value, InstData)> = put.func.layout[1..]
        .iter()
        .flat_map(|b| &put.func.blocks[b.index()].insts)
        .filter_map(|i| {
            let node = &put.func.insts[i.index()];
            matches!(
                node.data,
                InstData::Const { .. } | InstData::SymbolAddr { .. } | InstData::StackAddr { .. }
            )
            .then(|| (node.results[0], node.data.clone()))
        })
        .collect();
    for (v, data) in old {
        let new = if let InstData::StackAddr { slot } = data { slots[slot.index()] } else { put.value(data) };
        replaced.set(v, new);
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_of_a_nest_polls_a_word_of_its_own() {
        let offset = offset!(ThreadCtx.interrupt);
        let text = format!("func @f(ptr, i64) {{\nblock0(v0: ptr, v1: i64):\n v2 = const.i64 0\n v3 = const.i64 1\n v4 = const.i32 0\n jump block1(v2)
block1(v5: i64):\n jump block2(v2)\nblock2(v6: i64):\n v7 = iadd.i64 v6, v3\n v8 = load.i32 volatile v0+{offset}\n v9 = icmp_ne.i32 v8, v4\n brif v9, cold block5, block3
block5 cold:\n call_helper @poll_interrupt(v0)\n jump block3\nblock3:\n v10 = icmp_slt.i64 v7, v1\n brif v10, block2(v7), block4
block4:\n v11 = iadd.i64 v5, v3\n v12 = load.i32 volatile v0+{offset}\n v13 = icmp_ne.i32 v12, v4\n brif v13, cold block7, block6\nblock7 cold:\n call_helper @poll_interrupt(v0)\n jump block6
block6:\n v14 = icmp_slt.i64 v11, v1\n brif v14, block1(v11), block8\nblock8:\n return\n}}");
        let mut module = text::parse_module(&text, &[&poll_interrupt]).expect("parses");
        let found = points(&module.funcs[0]);
        assert_eq!(found.iter().map(Point::level).collect::<Vec<_>>(), [1, 0]);
        assert!(found[0].is_inside(&found[1]) && !found[1].is_inside(&found[0]));
        set_levels(&mut module.funcs[0], &found);
        let text = module.to_string();
        for (level, times) in [(0, 1), (1, 1), (2, 0)] {
            assert_eq!(
                text.matches(&format!("volatile v0+{}\n", offset + 4 * level)).count(),
                times,
                "level {level} of\n{text}"
            );
        }
    }
    #[test]
    fn what_leaves_a_nest_by_a_switch_reads_the_value_of_its_own_copy() {
        let offset = offset!(ThreadCtx.interrupt);
        let text = format!("func @f(ptr, i64) -> i64 {{\nblock0(v0: ptr, v1: i64):\n v2 = const.i64 0\n v3 = const.i64 1\n v4 = const.i32 0\n jump block1(v2)
block1(v5: i64):\n jump block2(v2)\nblock2(v6: i64):\n v7 = iadd.i64 v6, v3\n v8 = load.i32 volatile v0+{offset}\n v9 = icmp_ne.i32 v8, v4\n brif v9, cold block5, block3
block5 cold:\n call_helper @poll_interrupt(v0)\n jump block3\nblock3:\n switch v7, [block6, block7], block8
block6:\n jump block2(v7)\nblock7:\n v10 = iadd.i64 v7, v1\n return v10
block8:\n v11 = iadd.i64 v5, v3\n v12 = load.i32 volatile v0+{offset}\n v13 = icmp_ne.i32 v12, v4\n brif v13, cold block9, block10\nblock9 cold:\n call_helper @poll_interrupt(v0)\n jump block10
block10:\n v14 = icmp_slt.i64 v11, v7\n brif v14, block1(v11), block11\nblock11:\n return v7\n}}");
        let mut module = text::parse_module(&text, &[&poll_interrupt]).expect("parses");
        split_switch_edges(&mut module.funcs[0], &mut Analyses::default());
        let points = points(&module.funcs[0]);
        assert_eq!(points.len(), 2);
        for k in 0..points.len() {
            module.funcs.push(entry(&module.funcs[0], &points, k));
        }
        super::super::verify::verify_module(&module).unwrap_or_else(|d| panic!("{}\n{module}", d.message));
    }
}
