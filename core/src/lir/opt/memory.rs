//! What instructions do to memory, and which state of memory each block sees.
//!
//! Every alias class has a version: a number that changes where something may have written to the class. Two
//! loads of one address in one version read the same value. Where versions meet differently, the block gives
//! a new one (as SSA does with parameters).

use crate::lir::cfg::{Cfg, Dominators};
use crate::lir::{Alias, Block, Func, Inst, InstData};
use crate::ops::object::obj_retain;
use crate::rt::{Effect, Raises, RtFn};

/// Classes that have versions of their own; the last stands for "any of them". `Const` never changes,
/// `Volatile` always does.
pub(crate) const CLASSES: usize = 8;
pub(crate) const ANY: usize = CLASSES - 1;

/// One bit for each class.
pub(crate) type Set = u16;

pub(crate) type Versions = [u32; CLASSES];

/// The class's number, or nothing where caching makes no sense or needs no version.
pub(crate) fn class(alias: Alias) -> Option<usize> {
    match alias {
        Alias::Array => Some(0),
        Alias::Object => Some(1),
        Alias::Frame => Some(2),
        Alias::Stack => Some(3),
        Alias::Ctx => Some(4),
        Alias::Element => Some(5),
        Alias::Length => Some(6),
        Alias::Const | Alias::Volatile => None,
    }
}

const EVERYTHING: Set = (1 << CLASSES) - 1;

/// Classes that a helper may write to. An exception is left in a field of the context; counts of references are
/// read by nobody.
pub(crate) fn clobbered_by(helper: &RtFn) -> Set {
    if *helper == obj_retain {
        return 0;
    }
    let pending = if helper.raises == Raises::Pending { set_of(Alias::Ctx) } else { 0 };
    match helper.effect {
        Effect::Pure | Effect::Reads | Effect::Allocates => pending,
        Effect::Writes => EVERYTHING,
    }
}

fn set_of(alias: Alias) -> Set {
    class(alias).map_or(0, |c| 1 << c | 1 << ANY)
}

/// Classes that an instruction may write to.
pub(crate) fn clobbers(data: &InstData) -> Set {
    match data {
        InstData::Store { alias, .. } => set_of(*alias),
        InstData::Call { .. } | InstData::CallIndirect { .. } => EVERYTHING,
        InstData::CallHelper { helper, .. } => clobbered_by(helper),
        // Threads of the grid may have written anything before a barrier, a fence or an update.
        InstData::Grid { op, .. } => {
            if op.is_pure() {
                0
            } else {
                EVERYTHING
            }
        }
        InstData::Const { .. }
        | InstData::Op { .. }
        | InstData::Load { .. }
        | InstData::StackAddr { .. }
        | InstData::SymbolAddr { .. }
        | InstData::Jump(_)
        | InstData::Brif { .. }
        | InstData::Switch { .. }
        | InstData::Return(_)
        | InstData::Unreachable => 0,
    }
}

/// Brings `versions` past an instruction.
pub(crate) fn step(versions: &mut Versions, i: Inst, data: &InstData) {
    let set = clobbers(data);
    if set == 0 {
        return;
    }
    for (c, v) in versions.iter_mut().enumerate() {
        if set >> c & 1 == 1 {
            *v = after(i);
        }
    }
}

/// The version that an instruction leaves; blocks number theirs with the other parity, 0 is the state at
/// entry.
fn after(i: Inst) -> u32 {
    2 * i.0 + 1
}
fn meeting_at(b: Block) -> u32 {
    2 * b.0 + 2
}

/// Versions at the start of every reachable block. Where several meet, a block begins with one of its own; that
/// is where a variable that is assigned at the writes would have a parameter.
pub(crate) fn versions_at_entry(func: &Func, cfg: &Cfg, doms: &Dominators) -> Vec<Versions> {
    let mut written: Vec<Set> = vec![0; func.blocks.len()];
    for &b in cfg.rpo() {
        written[b.index()] =
            func.blocks[b.index()].insts.iter().fold(0, |set, i| set | clobbers(&func.insts[i.index()].data));
    }
    let meets = meetings(func, cfg, doms, &written);
    let mut entry: Vec<Versions> = vec![[0; CLASSES]; func.blocks.len()];
    let mut behind = entry.clone();
    for &b in doms.preorder() {
        if let Some(above) = doms.idom(b) {
            entry[b.index()] = behind[above.index()];
            for (c, v) in entry[b.index()].iter_mut().enumerate() {
                if meets[b.index()] >> c & 1 == 1 {
                    *v = meeting_at(b);
                }
            }
        }
        let mut versions = entry[b.index()];
        for i in &func.blocks[b.index()].insts {
            step(&mut versions, *i, &func.insts[i.index()].data);
        }
        behind[b.index()] = versions;
    }
    entry
}

/// The classes of which different versions meet at the start of each block: those written in blocks whose
/// dominance ends there.
fn meetings(func: &Func, cfg: &Cfg, doms: &Dominators, written: &[Set]) -> Vec<Set> {
    let mut ends: Vec<Vec<Block>> = vec![vec![]; func.blocks.len()];
    for &b in cfg.rpo() {
        let above = doms.idom(b);
        for &p in cfg.preds(b).iter().filter(|p| cfg.preds(b).len() > 1 && cfg.is_reachable(**p)) {
            let mut at = Some(p);
            while let Some(block) = at.filter(|_| at != above) {
                if ends[block.index()].last() != Some(&b) {
                    ends[block.index()].push(b);
                }
                at = doms.idom(block);
            }
        }
    }
    let mut meets: Vec<Set> = vec![0; func.blocks.len()];
    let mut open: Vec<Block> = cfg.rpo().iter().copied().filter(|b| written[b.index()] != 0).collect();
    while let Some(b) = open.pop() {
        let set = written[b.index()] | meets[b.index()];
        for d in &ends[b.index()] {
            if set & !meets[d.index()] != 0 {
                meets[d.index()] |= set;
                open.push(*d);
            }
        }
    }
    meets
}
