//! Checks after the fact: an inner loop that may raise does [`TURNS`] turns without asking, gathers what it
//! would have asked in a flag, and does them once more in the loop as it was where one of the answers was
//! bad. Without ways out in its middle, LLVM can vectorise it.
//!
//! ```text
//! header(i):  x = load a + i                      fast(i, k, bad):  x = load a + i
//!             brif x < 0, cold raise, on                            bad' = bad | x < 0
//! on:         store sqrt x, b + i                                   store (load b + i), undo + k
//!             brif i' < m, header(i'), look                         store sqrt x, b + i
//!                                                                   brif i' < m, fast(i', k', bad'), verdict
//!                                                 verdict:  brif bad', cold back(k'), look
//!                                                 back(k):  b + i is what it was, turn by turn, last turn first; then header(i) as above
//! ```
//!
//! Nothing is seen of turns that should not have been: memory is as it was before the loop runs again, and
//! every instruction has a meaning for all operands. What a check protects may only be a value, never memory,
//! so checks of indices do not qualify (those that move with the loop are gone by now, see `version.rs`), and
//! of divisors only those that have nothing to do with an address.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "conditions are optional: one that is not understood keeps its branch"
)]

use super::edit::{Defs, FastMap, Writer, for_each_call_mut, remove_unreachable};
use super::region::{Copied, copy_blocks, merge_variables};
use crate::lir::cfg::{Analyses, Dominators};
use crate::lir::{Alias, Block, BlockCall, Cold, Func, Inst, InstData, Op, Slot, Ty, Value};
use crate::math::definition;
use std::collections::HashSet;

/// What is done once more where a check fails, and what an undo log has room for.
pub(crate) const TURNS: i64 = 256;
/// Stores in a turn, each with a log of its own.
const MAX_STORES: usize = 4;
/// Instructions of a loop that is worth copying.
const MAX_LOOP: usize = 400;
/// Operations between the counter and an address.
const MAX_DEPTH: u32 = 8;

/// A loop that counts to a near bound, as `strip.rs` leaves it: `near` enters it, and `latch` leaves it for
/// `look`.
pub(crate) struct Stripped {
    pub header: Block,
    pub latch: Block,
    pub near: Block,
    pub look: Block,
    /// How far the bound is at most.
    pub most: Inst,
    pub step: i64,
}

struct Plan<'s> {
    at: &'s Stripped,
    blocks: Vec<Block>,
    /// Branches one side of which is cold, and whether that is the first.
    checks: Vec<(Block, bool)>,
    stores: Vec<(Block, Inst)>,
    /// Parameters of the header that move by something invariant: their positions, the steps, and how they
    /// move.
    counters: Vec<(usize, Value, Op)>,
}

/// Gives the loops that it changed.
pub(crate) fn defer_checks(func: &mut Func, analyses: &mut Analyses, stripped: &[Stripped]) {
    let mut plans: Vec<(usize, Plan<'_>)> = {
        let (cfg, doms, loops) = (analyses.cfg(func), analyses.dominators(func), analyses.loops(func));
        let defs = Defs::new(func);
        stripped
            .iter()
            .filter_map(|at| {
                let l = loops.all.iter().find(|l| l.header == at.header)?;
                Some((
                    cfg.position(at.header)?,
                    Planner { func, defs: &defs, doms, blocks: &l.blocks, at, home: FastMap::default() }
                        .plan()?,
                ))
            })
            .collect()
    };
    if plans.is_empty() {
        return;
    }
    // The last loop first: what its plan knows by name, an earlier loop may define, and that one's values get
    // new names outside of it.
    plans.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut names: FastMap<Value, Vec<Value>> = FastMap::default();
    for (_, plan) in plans {
        let (copied, outside, flags) = plan.apply(func);
        for (old, new) in copied.values {
            names.insert(old, [old, new].into_iter().chain(outside.get(&old).copied()).collect());
        }
        names.insert(flags[0], flags);
    }
    analyses.invalidate();
    remove_unreachable(func, analyses.cfg(func));
    let mut variables: Vec<Vec<Value>> = names.into_values().collect();
    variables.sort_unstable();
    merge_variables(func, analyses, &variables);
}

struct Planner<'a, 's> {
    func: &'a Func,
    defs: &'a Defs,
    doms: &'a Dominators,
    blocks: &'a [Block],
    at: &'s Stripped,
    /// Blocks of what the loop defines.
    home: FastMap<Value, Block>,
}

impl<'s> Planner<'_, 's> {
    fn plan(mut self) -> Option<Plan<'s>> {
        for b in self.blocks {
            let block = &self.func.blocks[b.index()];
            for v in block
                .params
                .iter()
                .chain(block.insts.iter().flat_map(|i| &self.func.insts[i.index()].results))
            {
                self.home.insert(*v, *b);
            }
        }
        let (hot, checks) = self.hot()?;
        let mut loads = vec![];
        if checks.is_empty()
            || hot.iter().map(|b| self.func.blocks[b.index()].insts.len()).sum::<usize>() > MAX_LOOP
        {
            return None;
        }
        let counters = self.counters(&hot)?;
        let mut stores = vec![];
        for b in &hot {
            for i in &self.func.blocks[b.index()].insts {
                let fits = match &self.func.insts[i.index()].data {
                    InstData::Const { .. }
                    | InstData::Op { .. }
                    | InstData::StackAddr { .. }
                    | InstData::SymbolAddr { .. }
                    | InstData::Jump(_)
                    | InstData::Brif { .. } => true,
                    InstData::CallHelper { helper, .. } => definition(helper).is_some(),
                    InstData::Grid { op, .. } => op.is_pure(),
                    InstData::Load { addr, alias, .. } => {
                        loads.push(*addr);
                        *alias != Alias::Volatile
                    }
                    InstData::Store { addr, alias, .. } => {
                        stores.push((*b, *i));
                        matches!(alias, Alias::Array | Alias::Element)
                            && self.doms.dominates(*b, self.at.latch)
                            && self.moves(*addr, &counters, MAX_DEPTH)
                            && !self.invariant(*addr)
                    }
                    InstData::Call { .. }
                    | InstData::CallIndirect { .. }
                    | InstData::Switch { .. }
                    | InstData::Return(_)
                    | InstData::Unreachable => false,
                };
                if !fits {
                    return None;
                }
            }
        }
        let mut divisors = vec![];
        let asks = checks.iter().all(|(b, _)| {
            self.func.terminator(*b).is_some_and(|t| {
                let InstData::Brif { cond, .. } = &self.func.insts[t.index()].data else { return false };
                self.about_values(*cond, &hot, &mut divisors)
            })
        });
        // What an integer is not says something of addresses that it is part of: those may depend on the
        // counters alone, and it on something else.
        let apart = divisors.is_empty()
            || divisors.iter().all(|d| !self.moves(*d, &counters, MAX_DEPTH))
                && loads.iter().all(|a| self.moves(*a, &counters, MAX_DEPTH));
        (asks && apart && stores.len() <= MAX_STORES).then(|| Plan {
            at: self.at,
            blocks: self.blocks.to_vec(),
            checks,
            stores,
            counters,
        })
    }

    fn invariant(&self, v: Value) -> bool {
        !self.home.contains_key(&v) || self.defs.constant(self.func, v).is_some()
    }
    fn op(&self, v: Value) -> Option<(Op, Ty, &[Value])> {
        let InstData::Op { op, ty, args } = self.defs.data(self.func, v)? else { return None };
        Some((*op, *ty, args))
    }

    /// The blocks that a turn without failures may run, in order of discovery, and those that check
    /// something. Nothing but the latch may leave the loop.
    fn hot(&self) -> Option<(Vec<Block>, Vec<(Block, bool)>)> {
        let (mut hot, mut checks, mut at) = (vec![self.at.header], vec![], 0);
        while let Some(&b) = hot.get(at) {
            at += 1;
            if self.func.blocks[b.index()].cold {
                return None;
            }
            let next: Vec<Block> = match &self.func.insts[self.func.terminator(b)?.index()].data {
                InstData::Brif { .. } if b == self.at.latch => vec![],
                InstData::Jump(to) => vec![to.block],
                InstData::Brif { then_to, else_to, cold, .. } => match cold {
                    Cold::Then => {
                        checks.push((b, true));
                        vec![else_to.block]
                    }
                    Cold::Else => {
                        checks.push((b, false));
                        vec![then_to.block]
                    }
                    Cold::Neither => vec![then_to.block, else_to.block],
                },
                InstData::Const { .. }
                | InstData::Op { .. }
                | InstData::Load { .. }
                | InstData::Store { .. }
                | InstData::StackAddr { .. }
                | InstData::SymbolAddr { .. }
                | InstData::Call { .. }
                | InstData::CallIndirect { .. }
                | InstData::CallHelper { .. }
                | InstData::Grid { .. }
                | InstData::Switch { .. }
                | InstData::Return(_)
                | InstData::Unreachable => return None,
            };
            for n in next {
                if !self.blocks.contains(&n) {
                    return None;
                }
                if !hot.contains(&n) {
                    hot.push(n);
                }
            }
        }
        hot.contains(&self.at.latch).then_some((hot, checks))
    }

    /// The header's parameters that move by the same at every turn. The others must be such that a vectoriser
    /// can cope: sums and the like, which nobody reads inside.
    fn counters(&self, hot: &[Block]) -> Option<Vec<(usize, Value, Op)>> {
        let InstData::Brif { then_to, .. } =
            &self.func.insts[self.func.terminator(self.at.latch)?.index()].data
        else {
            return None;
        };
        let mut counters = vec![];
        for (at, param) in self.func.blocks[self.at.header.index()].params.iter().enumerate() {
            let next = then_to.args[at];
            let (op, _, args) = self.op(next)?;
            if matches!(op, Op::Iadd | Op::PtrAdd) && args[0] == *param && self.invariant(args[1]) {
                counters.push((at, args[1], op));
                continue;
            }
            let gathers = matches!(
                op,
                Op::Iadd
                    | Op::Imul
                    | Op::Band
                    | Op::Bor
                    | Op::Bxor
                    | Op::Smin
                    | Op::Smax
                    | Op::Umin
                    | Op::Umax
                    | Op::Fadd
            );
            if !gathers || self.uses(*param, hot) != 1 || !args.contains(param) {
                return None;
            }
        }
        Some(counters)
    }

    fn uses(&self, v: Value, hot: &[Block]) -> usize {
        let mut n = 0;
        for i in hot.iter().flat_map(|b| &self.func.blocks[b.index()].insts) {
            self.func.insts[i.index()].data.for_each_use(|u| n += usize::from(u == v));
        }
        n
    }

    /// Whether a value can be computed again from the counters alone.
    fn moves(&self, v: Value, counters: &[(usize, Value, Op)], depth: u32) -> bool {
        if self.invariant(v) {
            return true;
        }
        if let Some(at) = self.func.blocks[self.at.header.index()].params.iter().position(|p| *p == v) {
            return counters.iter().any(|c| c.0 == at);
        }
        depth > 0
            && self.op(v).is_some_and(|(_, _, args)| args.iter().all(|a| self.moves(*a, counters, depth - 1)))
    }

    /// Whether a condition asks about numbers that are computed with, not about what may be read or written;
    /// adds the integers that it asks about.
    fn about_values(&self, cond: Value, hot: &[Block], divisors: &mut Vec<Value>) -> bool {
        let Some((op, ty, args)) = self.op(cond) else { return false };
        match op {
            Op::FcmpEq | Op::FcmpNe | Op::FcmpLt | Op::FcmpLe | Op::FcmpGt | Op::FcmpGe | Op::FcmpUno => true,
            Op::Band | Op::Bor => args.iter().all(|a| self.about_values(*a, hot, divisors)),
            Op::IcmpEq | Op::IcmpNe if self.defs.constant(self.func, args[1]) == Some(0) => {
                if self.divides(args[0], hot) {
                    divisors.push(args[0]);
                    return true;
                }
                (ty == Ty::I8 && self.about_values(args[0], hot, divisors))
                    || self.says_how_a_callee_ended(args[0], hot)
            }
            _ => false,
        }
    }

    fn divides(&self, v: Value, hot: &[Block]) -> bool {
        hot.iter().flat_map(|b| &self.func.blocks[b.index()].insts).any(|i| {
            matches!(&self.func.insts[i.index()].data, InstData::Op { op: Op::Sdiv | Op::Udiv | Op::Srem | Op::Urem, args, .. } if args[1] == v)
        })
    }

    /// A parameter that is the same constant wherever a turn without failures comes from: an inlined callee's
    /// status.
    fn says_how_a_callee_ended(&self, v: Value, hot: &[Block]) -> bool {
        let Some(&home) = self.home.get(&v) else { return false };
        let Some(at) = self.func.blocks[home.index()].params.iter().position(|p| *p == v) else {
            return false;
        };
        let mut all = vec![];
        for b in hot {
            let Some(t) = self.func.terminator(*b) else { continue };
            let InstData::Brif { cold, .. } = &self.func.insts[t.index()].data else {
                self.func.insts[t.index()].data.for_each_target(|to, args| {
                    if to == home {
                        all.push(args[at]);
                    }
                });
                continue;
            };
            let (mut side, cold) = (0, *cold);
            self.func.insts[t.index()].data.for_each_target(|to, args| {
                let fails = matches!((side, cold), (0, Cold::Then) | (1, Cold::Else));
                side += 1;
                if to == home && !fails {
                    all.push(args[at]);
                }
            });
        }
        home != self.at.header && all.iter().all(|a| self.defs.constant(self.func, *a) == Some(0))
    }
}

impl Plan<'_> {
    /// Gives the checked copy, the names that stand outside of both loops for what either defines, and the
    /// definitions of the flag.
    fn apply(self, func: &mut Func) -> (Copied, FastMap<Value, Value>, Vec<Value>) {
        let Stripped { header, latch, near, look, most, step } = *self.at;
        let Some(branch) = func.terminator(latch) else { return Default::default() };
        let loc = func.insts[branch.index()].loc;
        let outside = self.rename_outside(func);
        let copied = copy_blocks(func, &self.blocks);
        for b in copied.blocks.values() {
            func.blocks[b.index()].cold = true;
        }
        if let InstData::Const { bits, .. } = &mut func.insts[most.index()].data {
            *bits = (TURNS * step.abs()) as u64;
        }
        let Some(InstData::Jump(enter)) = func.terminator(near).map(|t| func.insts[t.index()].data.clone())
        else {
            return Default::default();
        };
        // A name without a definition stands for whatever the flag is at each place.
        let flag = func.make_value(Ty::I8);
        let mut flags = vec![flag];
        for (b, fails_if) in &self.checks {
            flags.extend(self.gather(func, *b, *fails_if, flag));
        }
        // Turns are counted, for the logs.
        let turn = func.add_param(header, Ty::I64);
        let mut w = Writer { func, loc };
        let jump = w.func.blocks[near.index()].insts.pop();
        let (zero, good) = (w.int(near, Ty::I64, 0), w.int(near, Ty::I8, 0));
        flags.push(good);
        w.func.blocks[near.index()].insts.extend(jump);
        let logs: Vec<Slot> = self.stores.iter().map(|(b, i)| log(&mut w, *b, *i, turn)).collect();
        w.func.blocks[latch.index()].insts.pop();
        let one = w.int(latch, Ty::I64, 1);
        let next = w.bin(latch, Op::Iadd, turn, one);
        w.func.blocks[latch.index()].insts.push(branch);
        let verdict = w.func.make_block();
        let done = w.func.add_param(verdict, Ty::I64);
        for (b, to, v) in [(near, header, zero), (latch, header, next)] {
            add_argument(w.func, b, to, v);
        }
        let (back, again) = (w.func.make_block(), copied.blocks[&header]);
        let fail = BlockCall { block: back, args: vec![done] };
        w.put(
            verdict,
            InstData::Brif {
                cond: flag,
                then_to: fail,
                else_to: BlockCall { block: look, args: vec![] },
                cold: Cold::Then,
            },
        );
        let undone = undo(&mut w, &self, &logs, back, &enter);
        w.put(undone, InstData::Jump(BlockCall { block: again, args: enter.args }));
        if let InstData::Brif { else_to, .. } = &mut w.func.insts[branch.index()].data {
            *else_to = BlockCall { block: verdict, args: vec![next] };
        }
        let at = w.func.layout.iter().position(|b| *b == look).unwrap_or(0);
        w.func.layout.insert(at, verdict);
        (copied, outside, flags)
    }

    /// The loop is left from either version, so who uses its values elsewhere gets names without a
    /// definition: the fast loop comes before the other, and its values would seem to be the ones that are
    /// meant.
    fn rename_outside(&self, func: &mut Func) -> FastMap<Value, Value> {
        let mut names: FastMap<Value, Value> = FastMap::default();
        let mut inside: Vec<Value> = vec![];
        for b in &self.blocks {
            let block = &func.blocks[b.index()];
            inside.extend(
                block.params.iter().chain(block.insts.iter().flat_map(|i| &func.insts[i.index()].results)),
            );
        }
        let inside: HashSet<Value> = inside.into_iter().collect();
        for b in func.layout.clone() {
            if self.blocks.contains(&b) {
                continue;
            }
            for i in func.blocks[b.index()].insts.clone() {
                let mut used = vec![];
                func.insts[i.index()].data.for_each_use(|v| {
                    if inside.contains(&v) {
                        used.push(v)
                    }
                });
                for v in &used {
                    if names.contains_key(v) {
                        continue;
                    }
                    let ty = func.value_type(*v);
                    names.insert(*v, func.make_value(ty));
                }
                if !used.is_empty() {
                    func.insts[i.index()].data.map_uses(|v| names.get(&v).copied().unwrap_or(v));
                }
            }
        }
        names
    }

    /// Instead of failing, a check sets the flag. Gives the flag's new definition, a parameter of a block in
    /// between.
    fn gather(&self, func: &mut Func, b: Block, fails_if: bool, flag: Value) -> Option<Value> {
        let t = func.blocks[b.index()].insts.pop()?;
        let InstData::Brif { cond, then_to, else_to, .. } = func.insts[t.index()].data.clone() else {
            return None;
        };
        let between = func.make_block();
        let new = func.add_param(between, Ty::I8);
        let mut w = Writer { loc: func.insts[t.index()].loc, func };
        let none = w.int(b, Ty::I8, 0);
        let fails = w.bin(b, if fails_if { Op::IcmpNe } else { Op::IcmpEq }, cond, none);
        let now = w.bin(b, Op::Bor, flag, fails);
        w.put(b, InstData::Jump(BlockCall { block: between, args: vec![now] }));
        w.put(between, InstData::Jump(if fails_if { else_to } else { then_to }));
        let at = func.layout.iter().position(|x| *x == b).map_or(0, |at| at + 1);
        func.layout.insert(at, between);
        Some(new)
    }
}

fn add_argument(func: &mut Func, b: Block, to: Block, v: Value) {
    let Some(t) = func.terminator(b) else { return };
    for_each_call_mut(&mut func.insts[t.index()].data, |call| {
        if call.block == to {
            call.args.push(v)
        }
    });
}

/// Where turn `turn` keeps what was there.
fn place(w: &mut Writer<'_>, b: Block, slot: Slot, bytes: i64, turn: Value) -> Value {
    let base = w.value(b, InstData::StackAddr { slot });
    let bytes = w.int(b, Ty::I64, bytes);
    let offset = w.bin(b, Op::Imul, turn, bytes);
    w.value(b, InstData::Op { op: Op::PtrAdd, ty: Ty::Ptr, args: vec![base, offset] })
}

/// Before a store: what is there goes to a log.
fn log(w: &mut Writer<'_>, b: Block, store: Inst, turn: Value) -> Slot {
    let InstData::Store { value, addr, offset, alias } = w.func.insts[store.index()].data else {
        return w.func.add_slot(0);
    };
    let ty = w.func.value_type(value);
    let bytes = i64::from(ty.bytes());
    let slot = w.func.add_slot((TURNS * bytes) as u32);
    let at = w.func.blocks[b.index()].insts.iter().position(|i| *i == store).unwrap_or(0);
    let rest = w.func.blocks[b.index()].insts.split_off(at);
    let old = w.value(b, InstData::Load { ty, addr, offset, alias });
    let to = place(w, b, slot, bytes, turn);
    w.put(b, InstData::Store { value: old, addr: to, offset: 0, alias: Alias::Stack });
    w.func.blocks[b.index()].insts.extend(rest);
    slot
}

/// From `back(turns)` on: undoes the turns, the last one first, and in each its stores. Gives the block that
/// goes on.
fn undo(w: &mut Writer<'_>, plan: &Plan<'_>, logs: &[Slot], back: Block, enter: &BlockCall) -> Block {
    let left = w.func.add_param(back, Ty::I64);
    let end = w.func.make_block();
    w.func.layout.push(back);
    w.func.layout.push(end);
    for b in [back, end] {
        w.func.blocks[b.index()].cold = true;
    }
    if plan.stores.is_empty() {
        w.put(back, InstData::Jump(BlockCall { block: end, args: vec![] }));
        return end;
    }
    let zero = w.int(back, Ty::I64, 0);
    let any = w.bin(back, Op::IcmpNe, left, zero);
    let turn = w.func.make_block();
    w.func.layout.push(turn);
    w.func.blocks[turn.index()].cold = true;
    w.put(
        back,
        InstData::Brif {
            cond: any,
            then_to: BlockCall { block: turn, args: vec![] },
            else_to: BlockCall { block: end, args: vec![] },
            cold: Cold::Neither,
        },
    );
    let less = w.int(turn, Ty::I64, -1);
    let k = w.bin(turn, Op::Iadd, left, less);
    let mut names: FastMap<Value, Value> = FastMap::default();
    for (at, step, op) in &plan.counters {
        let param = w.func.blocks[plan.at.header.index()].params[*at];
        let step = again(w, plan, *step, turn, &mut names);
        let way = w.bin(turn, Op::Imul, k, step);
        let ty = w.func.value_type(param);
        let now = w.value(turn, InstData::Op { op: *op, ty, args: vec![enter.args[*at], way] });
        names.insert(param, now);
    }
    for ((_, store), slot) in plan.stores.iter().zip(logs).rev() {
        let InstData::Store { value, addr, offset, alias } = w.func.insts[store.index()].data else {
            continue;
        };
        let ty = w.func.value_type(value);
        let from = place(w, turn, *slot, i64::from(ty.bytes()), k);
        let old = w.value(turn, InstData::Load { ty, addr: from, offset: 0, alias: Alias::Stack });
        let addr = again(w, plan, addr, turn, &mut names);
        w.put(turn, InstData::Store { value: old, addr, offset, alias });
    }
    w.put(turn, InstData::Jump(BlockCall { block: back, args: vec![k] }));
    end
}

/// Computes a value of the loop once more, from the counters in `names`.
fn again(
    w: &mut Writer<'_>,
    plan: &Plan<'_>,
    v: Value,
    to: Block,
    names: &mut FastMap<Value, Value>,
) -> Value {
    if let Some(known) = names.get(&v) {
        return *known;
    }
    let made = plan
        .blocks
        .iter()
        .flat_map(|b| &w.func.blocks[b.index()].insts)
        .copied()
        .find(|i| w.func.insts[i.index()].results.contains(&v));
    let Some(made) = made else { return v };
    let mut data = w.func.insts[made.index()].data.clone();
    let mut used = vec![];
    data.for_each_use(|u| used.push(u));
    for u in used {
        again(w, plan, u, to, names);
    }
    data.map_uses(|u| names.get(&u).copied().unwrap_or(u));
    let new = w.value(to, data);
    names.insert(v, new);
    new
}
