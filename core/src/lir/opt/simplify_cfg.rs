//! Control-flow clean-up: jumps go straight to where they end up, straight lines become one block,
//! unreachable blocks leave.
//!
//! A block that does nothing but jump is skipped by its predecessors; so is a block that does nothing but
//! branch on a parameter, by those predecessors that pass a constant or their own condition (`a and b`,
//! flags, the status of an inlined call).

use super::edit::{Defs, Subst, remove_unreachable};
use crate::lir::cfg::{Analyses, Cfg};
use crate::lir::{Block, BlockCall, Cold, Func, InstData, Value};

/// How many blocks one edge may skip: cycles of empty blocks exist (`while True: pass`).
const MAX_HOPS: u32 = 8;

pub(crate) fn simplify_cfg(func: &mut Func, analyses: &mut Analyses) {
    if func.layout.is_empty() {
        return;
    }
    if thread_jumps(func, analyses) {
        analyses.invalidate();
    }
    let cfg = analyses.cfg(func);
    remove_unreachable(func, cfg);
    if merge_lines(func, cfg) {
        analyses.invalidate();
    }
}

/// A branch whose one side cannot be reached only told the passes before a fact: it becomes a jump to the
/// other side.
pub(crate) fn drop_assumptions(func: &mut Func, analyses: &mut Analyses) {
    let impossible = |func: &Func, b: Block| matches!(func.blocks[b.index()].insts[..], [only] if matches!(func.insts[only.index()].data, InstData::Unreachable));
    for b in func.layout.clone() {
        let Some(t) = func.terminator(b) else { continue };
        let InstData::Brif { then_to, else_to, .. } = &func.insts[t.index()].data else { continue };
        let to = match (impossible(func, then_to.block), impossible(func, else_to.block)) {
            (true, false) => else_to.clone(),
            (false, true) => then_to.clone(),
            (true, true) | (false, false) => continue,
        };
        func.insts[t.index()].data = InstData::Jump(to);
        analyses.invalidate();
    }
}

/// What an edge into a block may assume about one of the arguments.
#[derive(Clone, Copy)]
struct Truth {
    value: Value,
    holds: bool,
}

struct Threader<'a> {
    func: &'a Func,
    defs: Defs,
    /// Parameters that are used outside their own block's terminator: such a block defines something and must
    /// stay.
    escapes: Vec<bool>,
    /// Loop headers: going round their branch would give the loop a second entry.
    header: Vec<bool>,
}

/// A header that only passes control on is about to be skipped: the block behind it is the header then, and
/// the loop as short as before.
fn hand_marks_on(func: &mut Func, header: &[bool]) {
    for b in func.layout.clone() {
        let block = &func.blocks[b.index()];
        let ([only], true) = (&block.insts[..], block.short && header[b.index()]) else { continue };
        if let InstData::Jump(to) = &func.insts[only.index()].data {
            let next = to.block;
            func.blocks[next.index()].short = true;
        }
    }
}

/// Whether any edge goes elsewhere now.
fn thread_jumps(func: &mut Func, analyses: &Analyses) -> bool {
    let (cfg, doms) = (analyses.cfg(func), analyses.dominators(func));
    let mut escapes = vec![false; func.value_types.len()];
    let mut header = vec![false; func.blocks.len()];
    for &b in cfg.rpo() {
        header[b.index()] =
            cfg.preds(b).iter().any(|p| doms.dominates(b, *p) || cfg.position(*p) >= cfg.position(b));
        for i in &func.blocks[b.index()].insts {
            func.insts[i.index()].data.for_each_use(|v| {
                if !func.blocks[b.index()].params.contains(&v) {
                    escapes[v.index()] = true;
                }
            });
        }
    }
    hand_marks_on(func, &header);
    let threader = Threader { func, defs: Defs::new(func), escapes, header };
    let mut edits = vec![];
    for &b in cfg.rpo() {
        let Some(t) = func.terminator(b) else { continue };
        if let Some(data) = threader.terminator(&func.insts[t.index()].data) {
            edits.push((t, data));
        }
    }
    let any = !edits.is_empty();
    for (t, data) in edits {
        func.insts[t.index()].data = data;
    }
    any
}

impl Threader<'_> {
    /// The terminator with its edges brought forward, if any moves.
    fn terminator(&self, data: &InstData) -> Option<InstData> {
        match data {
            InstData::Jump(to) => Some(InstData::Jump(self.forward(to, None)?)),
            InstData::Brif { cond, then_to, else_to, cold } => {
                let yes = self.forward(then_to, Some(Truth { value: *cond, holds: true }));
                let no = self.forward(else_to, Some(Truth { value: *cond, holds: false }));
                if yes.is_none() && no.is_none() {
                    return None;
                }
                let (then_to, else_to) =
                    (yes.unwrap_or_else(|| then_to.clone()), no.unwrap_or_else(|| else_to.clone()));
                if then_to == else_to {
                    return Some(InstData::Jump(then_to));
                }
                Some(InstData::Brif { cond: *cond, then_to, else_to, cold: *cold })
            }
            InstData::Switch { index, cases, default } => {
                let mut moved = false;
                let mut go = |b: &Block| match self.forward(&BlockCall { block: *b, args: vec![] }, None) {
                    // Cases pass no arguments.
                    Some(to) if to.args.is_empty() => {
                        moved = true;
                        to.block
                    }
                    Some(_) | None => *b,
                };
                let (cases, default) = (cases.iter().map(&mut go).collect(), go(default));
                moved.then_some(InstData::Switch { index: *index, cases, default })
            }
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
            | InstData::Return(_)
            | InstData::Unreachable => None,
        }
    }

    fn forward(&self, to: &BlockCall, truth: Option<Truth>) -> Option<BlockCall> {
        let mut at = to.clone();
        let mut hops = 0;
        while hops < MAX_HOPS
            && let Some(next) = self.step(&at, truth)
        {
            at = next;
            hops += 1;
        }
        (hops > 0).then_some(at)
    }

    /// One block further, if `at.block` only passes control on.
    fn step(&self, at: &BlockCall, truth: Option<Truth>) -> Option<BlockCall> {
        let block = &self.func.blocks[at.block.index()];
        let [only] = block.insts[..] else { return None };
        if block.params.iter().any(|p| self.escapes[p.index()]) {
            return None;
        }
        let arrives = |v: Value| block.params.iter().position(|p| *p == v).map_or(v, |i| at.args[i]);
        let next = match &self.func.insts[only.index()].data {
            InstData::Jump(to) => to,
            InstData::Brif { cond, then_to, else_to, .. } if !self.header[at.block.index()] => {
                let cond = arrives(*cond);
                let holds = match (self.defs.constant(self.func, cond), truth) {
                    (Some(c), _) => c as i8 != 0,
                    (None, Some(t)) if t.value == cond => t.holds,
                    (None, Some(_) | None) => return None,
                };
                if holds { then_to } else { else_to }
            }
            InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable
            | InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. } => return None,
        };
        if next.block == at.block {
            return None;
        }
        Some(BlockCall { block: next.block, args: next.args.iter().map(|v| arrives(*v)).collect() })
    }
}

/// A block whose only way in is a jump is appended to where the jump was. Whether there was one.
fn merge_lines(func: &mut Func, cfg: &Cfg) -> bool {
    let mut subst = Subst::new(func);
    let mut gone = vec![false; func.blocks.len()];
    for &b in cfg.rpo() {
        if gone[b.index()] {
            continue;
        }
        while let Some(t) = func.terminator(b)
            && let InstData::Jump(to) = &func.insts[t.index()].data
        {
            let BlockCall { block: next, args } = to.clone();
            if next == b || next == func.entry() || cfg.preds(next).len() != 1 {
                break;
            }
            gone[next.index()] = true;
            let params = std::mem::take(&mut func.blocks[next.index()].params);
            for (p, a) in params.into_iter().zip(args) {
                subst.set(p, a);
            }
            let insts = std::mem::take(&mut func.blocks[next.index()].insts);
            // What always ends up cold is cold, except for the entry, whose place is fixed.
            let cold = func.blocks[next.index()].cold && b != func.entry();
            let block = &mut func.blocks[b.index()];
            block.insts.pop();
            block.insts.extend(insts);
            block.cold |= cold;
        }
    }
    let any = gone.contains(&true);
    if any {
        func.layout.retain(|b| !gone[b.index()]);
        subst.apply(func);
    }
    forget_stale_hints(func);
    any
}

/// Merging moves the cold mark of a branch's target; the hint follows.
fn forget_stale_hints(func: &mut Func) {
    for b in func.layout.clone() {
        let Some(t) = func.terminator(b) else { continue };
        let InstData::Brif { then_to, else_to, .. } = &func.insts[t.index()].data else { continue };
        let sides = (func.blocks[then_to.block.index()].cold, func.blocks[else_to.block.index()].cold);
        if let InstData::Brif { cold, .. } = &mut func.insts[t.index()].data {
            match sides {
                (true, false) => *cold = Cold::Then,
                (false, true) => *cold = Cold::Else,
                (true, true) | (false, false) => {}
            }
        }
    }
}
