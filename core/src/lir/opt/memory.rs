//! What instructions do to memory, and which state of memory each block sees.
//!
//! Every alias class has a version: a number that changes where something may have written to the class. Two
//! loads of one address in one version read the same value. Where versions meet differently, the block gives
//! a new one (as SSA does with parameters).

use crate::lir::cfg::Cfg;
use crate::lir::{Alias, Block, Func, Inst, InstData};
use crate::rt::{Effect, Raises, RtFn};

/// Classes that have versions of their own; the last stands for "any of them". `Const` never changes,
/// `Volatile` always does.
pub(crate) const CLASSES: usize = 7;
pub(crate) const ANY: usize = CLASSES - 1;

/// One bit for each class.
pub(crate) type Set = u8;

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
        Alias::Const | Alias::Volatile => None,
    }
}

const EVERYTHING: Set = (1 << CLASSES) - 1;

/// Classes that a helper may write to. An exception is left in a field of the context.
pub(crate) fn clobbered_by(helper: &RtFn) -> Set {
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

const UNKNOWN: u32 = u32::MAX;

/// Versions at the start of every reachable block.
pub(crate) fn versions_at_entry(func: &Func, cfg: &Cfg) -> Vec<Versions> {
    let mut written: Vec<Versions> = vec![[UNKNOWN; CLASSES]; func.blocks.len()];
    for &b in cfg.rpo() {
        for i in &func.blocks[b.index()].insts {
            step(&mut written[b.index()], *i, &func.insts[i.index()].data);
        }
    }
    let mut entry: Vec<Versions> = vec![[UNKNOWN; CLASSES]; func.blocks.len()];
    let Some(first) = cfg.rpo().first() else { return entry };
    entry[first.index()] = [0; CLASSES];
    // Optimistic: a back edge that is not known yet does not count. A class that once met differently keeps
    // the block's own version, so this ends; the number of sweeps is the depth of loop nesting at worst.
    loop {
        let mut changed = false;
        for &b in cfg.rpo().iter().skip(1) {
            for c in 0..CLASSES {
                let mut now = UNKNOWN;
                for p in cfg.preds(b) {
                    let w = written[p.index()][c];
                    let out = if w == UNKNOWN { entry[p.index()][c] } else { w };
                    if out == UNKNOWN || out == now {
                        continue;
                    }
                    now = if now == UNKNOWN { out } else { meeting_at(b) };
                }
                let old = &mut entry[b.index()][c];
                if *old != now && *old != meeting_at(b) {
                    *old = if *old == UNKNOWN { now } else { meeting_at(b) };
                    changed = true;
                }
            }
        }
        if !changed {
            return entry;
        }
    }
}
