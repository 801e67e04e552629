//! References that are added, and dropped on every way from there with nothing between that could drop
//! another, are not counted.
//!
//! ```python
//! for i in range(n): s += f((a, i))       # the tuple holds a reference to `a` while `f`, which is inlined, looks into it
//! ```
//!
//! Without calls in its body such a loop vectorises. The object lives before it is added and after it is
//! dropped, and nothing between can end it.

use crate::lir::cfg::{Analyses, Cfg};
use crate::lir::{Block, Func, Inst, InstData, Value};
use crate::ops::object::{obj_release, obj_retain};
use crate::ops::raising::{exc_add_site, exc_got, exc_index, exc_new};
use crate::rt::{Effect, RtFn};

/// Blocks that the ways from one reference may go through.
const MAX_BLOCKS: usize = 64;

pub(crate) fn drop_counts(func: &mut Func, analyses: &mut Analyses) {
    if !func
        .layout
        .iter()
        .any(|b| func.blocks[b.index()].insts.iter().any(|i| counts(func, *i, &obj_retain).is_some()))
    {
        return;
    }
    for b in func.layout.clone() {
        let gone = pairs(func, &func.blocks[b.index()].insts);
        if !gone.is_empty() {
            remove(func, b, &gone);
        }
    }
    let cfg = analyses.cfg(func);
    for &b in cfg.rpo() {
        let added: Vec<Inst> = func.blocks[b.index()]
            .insts
            .iter()
            .copied()
            .filter(|i| counts(func, *i, &obj_retain).is_some())
            .collect();
        // Together, since they are dropped in any order; then those that are left, one by one.
        if !added.is_empty() && !try_dropping(func, cfg, b, &added) && added.len() > 1 {
            for i in added {
                try_dropping(func, cfg, b, &[i]);
            }
        }
    }
}

fn remove(func: &mut Func, b: Block, gone: &[Inst]) {
    func.blocks[b.index()].insts.retain(|i| !gone.contains(i));
}

/// What `i` adds to or drops, if it is a call of this helper.
fn counts(func: &Func, i: Inst, by: &RtFn) -> Option<Value> {
    if let InstData::CallHelper { helper, args } = &func.insts[i.index()].data
        && **helper == *by
    {
        Some(args[0])
    } else {
        None
    }
}

/// A helper that neither drops a reference nor looks at a count.
fn minds_its_business(helper: &RtFn) -> bool {
    helper.effect == Effect::Pure
        || [&exc_index, &exc_new, &exc_got, &exc_add_site, &obj_retain].contains(&helper)
}

/// Removes the references that `added` adds in `b`, if every way from there drops all of them before anything
/// else could.
fn try_dropping(func: &mut Func, cfg: &Cfg, b: Block, added: &[Inst]) -> bool {
    let insts = &func.blocks[b.index()].insts;
    let Some(first) = added.first().and_then(|a| insts.iter().position(|i| i == a)) else { return false };
    let mut dropped = vec![];
    let Some(left) = walk(func, &insts[first..], added, vec![], &mut dropped) else { return false };
    // What is still to be dropped at the end of a block, and where the blocks behind it begin.
    let (mut passed, mut open): (Vec<Block>, Vec<(Block, Vec<Value>)>) = (vec![], vec![]);
    let mut pass_on = |from: Block, left: Vec<Value>, open: &mut Vec<(Block, Vec<Value>)>| {
        if left.is_empty() {
            return true;
        }
        passed.push(from);
        let Some(t) = func.terminator(from) else { return false };
        let mut same = true;
        func.insts[t.index()].data.for_each_successor(|to| match open.iter().find(|o| o.0 == to) {
            Some(o) => same &= o.1 == left,
            None => open.push((to, left.clone())),
        });
        same
    };
    if !pass_on(b, left, &mut open) {
        return false;
    }
    let mut at = 0;
    while let Some((block, left)) = open.get(at).cloned() {
        at += 1;
        // A loop would add once and drop often.
        if at > MAX_BLOCKS || block == b {
            return false;
        }
        let Some(left) = walk(func, &func.blocks[block.index()].insts, &[], left, &mut dropped) else {
            return false;
        };
        if !pass_on(block, left, &mut open) {
            return false;
        }
    }
    // Nobody comes in from where nothing was added, or all has been dropped.
    if !open.iter().all(|(block, _)| cfg.preds(*block).iter().all(|p| passed.contains(p))) {
        return false;
    }
    let done = [b].into_iter().chain(open.into_iter().map(|o| o.0)).collect::<Vec<_>>();
    for block in done {
        let gone: Vec<Inst> = func.blocks[block.index()]
            .insts
            .iter()
            .copied()
            .filter(|i| added.contains(i) || dropped.contains(i))
            .collect();
        remove(func, block, &gone);
    }
    true
}

/// What is left of `open` behind these instructions; nothing where something else might drop one of them
/// first.
fn walk(
    func: &Func,
    insts: &[Inst],
    added: &[Inst],
    mut open: Vec<Value>,
    dropped: &mut Vec<Inst>,
) -> Option<Vec<Value>> {
    let mut to_come = added.len();
    for i in insts {
        match &func.insts[i.index()].data {
            InstData::CallHelper { args, .. } if added.contains(i) => {
                open.push(args[0]);
                to_come -= 1
            }
            InstData::CallHelper { helper, args }
                if **helper == obj_release
                    && let Some(at) = open.iter().position(|v| *v == args[0]) =>
            {
                open.remove(at);
                dropped.push(*i)
            }
            InstData::CallHelper { helper, .. } => {
                if !minds_its_business(helper) {
                    return None;
                }
            }
            InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::Return(_)
            | InstData::Unreachable => return None,
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. } => {}
        }
        if to_come == 0 && open.is_empty() {
            return Some(open);
        }
    }
    open.sort_unstable();
    Some(open)
}

/// Both instructions of each pair.
fn pairs(func: &Func, insts: &[Inst]) -> Vec<Inst> {
    let mut gone = vec![];
    // References that were added, and nothing has been dropped since.
    let mut added: Vec<(Value, Inst)> = vec![];
    for i in insts {
        match &func.insts[i.index()].data {
            InstData::CallHelper { helper, args } if **helper == obj_retain => added.push((args[0], *i)),
            InstData::CallHelper { helper, args } if **helper == obj_release => {
                match added.iter().rposition(|(v, _)| *v == args[0]) {
                    Some(at) => gone.extend([added.remove(at).1, *i]),
                    None => added.clear(),
                }
            }
            // A helper that only reads may look at a count.
            InstData::CallHelper { helper, .. } => {
                if !minds_its_business(helper) {
                    added.clear()
                }
            }
            InstData::Call { .. } | InstData::CallIndirect { .. } => added.clear(),
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => {}
        }
    }
    gone
}
