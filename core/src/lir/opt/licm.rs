//! Loop-invariant code moves in front of the loop.
//!
//! Operations are total, so they may run early and in vain. A load may not: it moves only if its memory is
//! not written in the loop and its address is valid whenever the loop is entered: it stands in the header, or
//! the same bytes, or another field of the same object, have been accessed in front of the loop. Inner loops
//! go first, so code climbs as far as it can.

use super::edit::FastMap;
use super::memory::{self, Set};
use crate::lir::cfg::{Analyses, Cfg, Dominators, Loops};
use crate::lir::{Alias, Block, BlockCall, Func, Inst, InstData, Loc, Value};
use crate::rt::{Effect, Raises};

/// An access to one field of an object's header makes the addresses of the others valid. Fields are 8 bytes
/// wide; elements and code points of that width lie in classes of their own.
const HEADER_BYTES: i32 = 64;

/// An access in front of a loop.
#[derive(Clone, Copy, PartialEq)]
struct Access {
    block: Block,
    start: i32,
    end: i32,
    header: bool,
}

fn access(func: &Func, block: Block, data: &InstData) -> Option<(Value, Access)> {
    let (addr, offset, ty, alias) = match data {
        InstData::Load { ty, addr, offset, alias } => (*addr, *offset, *ty, *alias),
        InstData::Store { value, addr, offset, alias } => (*addr, *offset, func.value_type(*value), *alias),
        InstData::Const { .. }
        | InstData::Op { .. }
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
        | InstData::Unreachable => return None,
    };
    let end = offset.saturating_add(ty.bytes() as i32);
    let header = matches!(alias, Alias::Object | Alias::Length | Alias::Frame | Alias::Const)
        && ty.bytes() == 8
        && offset >= 0
        && end <= HEADER_BYTES;
    Some((addr, Access { block, start: offset, end, header }))
}

pub(crate) fn hoist_invariants(func: &mut Func, analyses: &mut Analyses) {
    if func.layout.is_empty() || !add_preheaders(func, analyses) {
        return;
    }
    let (cfg, doms, loops) = (analyses.cfg(func), analyses.dominators(func), analyses.loops(func));
    let mut home: Vec<Option<Block>> = vec![None; func.value_types.len()];
    for &b in cfg.rpo() {
        let block = &func.blocks[b.index()];
        for p in &block.params {
            home[p.index()] = Some(b);
        }
        for i in &block.insts {
            for r in &func.insts[i.index()].results {
                home[r.index()] = Some(b);
            }
        }
    }
    let mut blocks_of: Vec<Vec<Block>> = vec![vec![]; loops.all.len()];
    // In reverse post-order, so that what an instruction needs is hoisted before it.
    for &b in cfg.rpo() {
        if let Some(l) = loops.of(b) {
            blocks_of[l].push(b);
        }
    }
    let mut hoister = Hoister { accessed: accesses(func, cfg), func, cfg, doms, loops, home };
    for l in (0..loops.all.len()).rev() {
        hoister.hoist(l, &blocks_of[l]);
    }
}

/// Gives every loop header one way in from outside, a block that does nothing but jump to it. False if there
/// are no loops.
pub(crate) fn add_preheaders(func: &mut Func, analyses: &mut Analyses) -> bool {
    let (cfg, doms) = (analyses.cfg(func), analyses.dominators(func));
    let headers: Vec<Block> =
        cfg.rpo().iter().copied().filter(|b| cfg.preds(*b).iter().any(|p| doms.dominates(*b, *p))).collect();
    let mut fronts: FastMap<Block, Block> = FastMap::default();
    for &header in &headers {
        let outside: Vec<Block> =
            cfg.preds(header).iter().copied().filter(|p| !doms.dominates(header, *p)).collect();
        let jumps = |p: &Block| {
            func.terminator(*p).is_some_and(|t| matches!(func.insts[t.index()].data, InstData::Jump(_)))
        };
        if let [only] = &outside[..]
            && jumps(only)
        {
            continue;
        }
        fronts.insert(header, add_preheader(func, header, &outside));
    }
    if !fronts.is_empty() {
        func.layout =
            func.layout.iter().flat_map(|b| fronts.get(b).copied().into_iter().chain([*b])).collect();
        analyses.invalidate();
    }
    !headers.is_empty()
}

/// A new block between `header` and its predecessors `outside`, not yet in the layout.
fn add_preheader(func: &mut Func, header: Block, outside: &[Block]) -> Block {
    let front = func.make_block();
    for p in func.blocks[header.index()].params.clone() {
        let ty = func.value_type(p);
        func.add_param(front, ty);
    }
    let args = func.blocks[front.index()].params.clone();
    let jump = func.make_inst(InstData::Jump(BlockCall { block: header, args }), Loc(0));
    func.blocks[front.index()].insts.push(jump);
    func.blocks[front.index()].cold = func.blocks[header.index()].cold;
    for p in outside {
        if let Some(t) = func.terminator(*p) {
            func.insts[t.index()].data.map_targets(|b| if b == header { front } else { b });
        }
    }
    front
}

/// Where each base address is accessed.
fn accesses(func: &Func, cfg: &Cfg) -> FastMap<Value, Vec<Access>> {
    let mut out: FastMap<Value, Vec<Access>> = FastMap::default();
    for &b in cfg.rpo() {
        for i in &func.blocks[b.index()].insts {
            let Some((addr, access)) = access(func, b, &func.insts[i.index()].data) else { continue };
            let list = out.entry(addr).or_default();
            if list.last() != Some(&access) {
                list.push(access);
            }
        }
    }
    out
}

struct Hoister<'a> {
    func: &'a mut Func,
    cfg: &'a Cfg,
    doms: &'a Dominators,
    loops: &'a Loops,
    /// The block that each value is defined in, kept current.
    home: Vec<Option<Block>>,
    accessed: FastMap<Value, Vec<Access>>,
}

impl Hoister<'_> {
    fn hoist(&mut self, l: usize, blocks: &[Block]) {
        let info = &self.loops.all[l];
        let header = info.header;
        let Some(front) = self.cfg.preds(header).iter().copied().find(|p| !self.doms.dominates(header, *p))
        else {
            return;
        };
        let clobbered: Set = info
            .blocks
            .iter()
            .flat_map(|b| &self.func.blocks[b.index()].insts)
            .fold(0, |s, i| s | memory::clobbers(&self.func.insts[i.index()].data));
        let mut moved = vec![];
        for &b in blocks {
            // What is rarely needed is not worth computing always.
            if self.func.blocks[b.index()].cold {
                continue;
            }
            let insts = std::mem::take(&mut self.func.blocks[b.index()].insts);
            let mut kept = Vec::with_capacity(insts.len());
            for i in insts {
                if !self.may_move(l, b, front, i, clobbered) {
                    kept.push(i);
                    continue;
                }
                for r in &self.func.insts[i.index()].results {
                    self.home[r.index()] = Some(front);
                }
                if let Some((addr, access)) = access(self.func, front, &self.func.insts[i.index()].data) {
                    self.accessed.entry(addr).or_default().push(access);
                }
                moved.push(i);
            }
            self.func.blocks[b.index()].insts = kept;
        }
        if moved.is_empty() {
            return;
        }
        let insts = &mut self.func.blocks[front.index()].insts;
        let at = insts.len() - 1;
        insts.splice(at..at, moved);
    }

    fn may_move(&self, l: usize, b: Block, front: Block, i: Inst, clobbered: Set) -> bool {
        let data = &self.func.insts[i.index()].data;
        let may = match data {
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::StackAddr { .. }
            | InstData::SymbolAddr { .. } => true,
            InstData::Load { alias, .. } => {
                let unchanged = match alias {
                    Alias::Volatile => false,
                    Alias::Const => true,
                    Alias::Array
                    | Alias::Object
                    | Alias::Length
                    | Alias::Element
                    | Alias::Frame
                    | Alias::Stack
                    | Alias::Ctx => memory::class(*alias).is_none_or(|c| clobbered >> c & 1 == 0),
                };
                unchanged && (b == self.loops.all[l].header || self.is_valid(data, front))
            }
            InstData::Grid { op, .. } => op.is_pure(),
            // A call costs more than it saves unless every turn makes it.
            InstData::CallHelper { helper, .. } => {
                helper.effect == Effect::Pure
                    && helper.raises == Raises::Never
                    && self.loops.all[l].latches.iter().all(|latch| self.doms.dominates(b, *latch))
            }
            InstData::Store { .. }
            | InstData::Call { .. }
            | InstData::CallIndirect { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Return(_)
            | InstData::Unreachable => false,
        };
        if !may {
            return false;
        }
        let mut invariant = true;
        data.for_each_use(|v| invariant &= self.home[v.index()].is_some_and(|h| !self.loops.contains(l, h)));
        invariant
    }

    /// Whether what `data` accesses may be read in `front`.
    fn is_valid(&self, data: &InstData, front: Block) -> bool {
        // The context outlives every call.
        if matches!(data, InstData::Load { alias: Alias::Ctx, .. }) {
            return true;
        }
        let Some((addr, wanted)) = access(self.func, front, data) else { return false };
        self.accessed.get(&addr).into_iter().flatten().any(|a| {
            (a.start <= wanted.start && wanted.end <= a.end || a.header && wanted.header)
                && self.doms.dominates(a.block, front)
        })
    }
}
