//! What a frame keeps, as values: each load is what was stored last on the way there, with block parameters where
//! ways meet.

use super::edit::{FastMap, Subst, for_each_call_mut, remove_unreachable};
use super::region::{frontiers, meetings, split_switch_edges};
use crate::layout::FRAME_HEADER;
use crate::lir::cfg::{Analyses, Cfg, Dominators};
use crate::lir::{Block, Func, Inst, InstData, Loc, Ty, Value};
use crate::offset;

/// Where the number of references lies.
pub(super) const REFS: i32 = offset!(Frame.obj.refs);

/// One thing that a frame keeps: where it lies, and its type.
pub(super) type Field = (i32, Ty);

/// The values that are the address of a frame, and whether each may be null instead.
pub(super) struct Names(Vec<Option<bool>>);

impl Names {
    pub(super) fn new(func: &Func) -> Names {
        Names(vec![None; func.value_types.len()])
    }
    pub(super) fn set(&mut self, v: Value, may_be_null: bool) {
        self.0[v.index()] = Some(may_be_null);
    }
    /// Values that were made since are no names.
    pub(super) fn get(&self, v: Value) -> Option<bool> {
        self.0.get(v.index()).copied().flatten()
    }
    pub(super) fn has(&self, v: Value) -> bool {
        self.get(v).is_some()
    }
}

/// The memory of a frame: the instruction that makes it, what it keeps, and all values that are its address.
pub(super) struct Memory<'a> {
    pub made: Inst,
    pub fields: &'a [Field],
    pub names: &'a Names,
}

/// One place in the frame.
#[derive(Default)]
struct Variable {
    /// What it holds at the end of a block, where that block stores to it or makes the frame.
    ends: FastMap<Block, Value>,
    /// Loads at the beginnings of blocks.
    loads: Vec<(Block, Value)>,
    /// Where several may arrive.
    meetings: Vec<Block>,
    params: FastMap<Block, Value>,
}

/// Takes all loads and stores of a frame out, and the instruction that makes it.
pub(super) fn promote(func: &mut Func, analyses: &mut Analyses, frame: &Memory<'_>) {
    split_switch_edges(func, analyses);
    remove_unreachable(func, analyses.cfg(func));
    let header = (0..FRAME_HEADER).step_by(8).map(|at| (at, Ty::I64));
    let fields: Vec<Field> = frame.fields.iter().copied().chain(header).collect();
    let place: FastMap<i32, usize> = fields.iter().enumerate().map(|(k, f)| (f.0, k)).collect();
    let entry = func.entry();
    let new: Vec<Value> =
        fields.iter().map(|(at, ty)| constant(func, entry, *ty, u64::from(*at == REFS))).collect();
    let mut all: Vec<Variable> = fields.iter().map(|_| Variable::default()).collect();
    let mut subst = Subst::new(func);
    let order = analyses.cfg(func).rpo().to_vec();
    for b in &order {
        take_out(func, *b, frame, &place, &new, &mut all, &mut subst);
    }
    {
        let (cfg, doms) = (analyses.cfg(func), analyses.dominators(func));
        let frontier = frontiers(func, cfg, doms);
        for ((variable, (_, ty)), zero) in all.iter_mut().zip(&fields).zip(&new) {
            if variable.loads.is_empty() {
                continue;
            }
            let defs: Vec<Block> = order.iter().copied().filter(|b| variable.ends.contains_key(b)).collect();
            variable.meetings = meetings(&frontier, &defs);
            let mut read = Reader { func, cfg, doms, variable, ty: *ty, zero: *zero };
            for (b, result) in std::mem::take(&mut read.variable.loads) {
                let v = read.at_start(b);
                subst.set(result, v);
            }
        }
    }
    subst.apply(func);
}

/// The loads and stores of one block.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other instruction stays")]
fn take_out(
    func: &mut Func,
    b: Block,
    frame: &Memory<'_>,
    place: &FastMap<i32, usize>,
    new: &[Value],
    all: &mut [Variable],
    subst: &mut Subst,
) {
    let mut now: Vec<Option<Value>> = vec![None; all.len()];
    let mut insts = std::mem::take(&mut func.blocks[b.index()].insts);
    insts.retain(|i| {
        let node = &func.insts[i.index()];
        if *i == frame.made {
            now = new.iter().copied().map(Some).collect();
            return false;
        }
        match &node.data {
            InstData::Load { addr, offset, .. } if frame.names.has(*addr) => {
                let k = place[offset];
                match now[k] {
                    Some(v) => subst.set(node.results[0], v),
                    None => all[k].loads.push((b, node.results[0])),
                }
                false
            }
            InstData::Store { value, addr, offset, .. } if frame.names.has(*addr) => {
                now[place[offset]] = Some(*value);
                false
            }
            _ => true,
        }
    });
    func.blocks[b.index()].insts = insts;
    for (variable, v) in all.iter_mut().zip(now) {
        if let Some(v) = v {
            variable.ends.insert(b, v);
        }
    }
}

struct Reader<'a> {
    func: &'a mut Func,
    cfg: &'a Cfg,
    doms: &'a Dominators,
    variable: &'a mut Variable,
    ty: Ty,
    zero: Value,
}

impl Reader<'_> {
    fn at_start(&mut self, b: Block) -> Value {
        if self.variable.meetings.contains(&b) {
            return self.parameter(b);
        }
        // Before there is a frame nobody asks.
        self.doms.idom(b).map_or(self.zero, |d| self.at_end(d))
    }

    fn at_end(&mut self, b: Block) -> Value {
        let mut at = b;
        loop {
            if let Some(v) = self.variable.ends.get(&at) {
                return *v;
            }
            if self.variable.meetings.contains(&at) {
                return self.parameter(at);
            }
            match self.doms.idom(at) {
                Some(d) => at = d,
                None => return self.zero,
            }
        }
    }

    fn parameter(&mut self, b: Block) -> Value {
        if let Some(p) = self.variable.params.get(&b) {
            return *p;
        }
        let p = self.func.add_param(b, self.ty);
        // Known before the edges are looked at, because one may come from behind.
        self.variable.params.insert(b, p);
        let mut preds = self.cfg.preds(b).to_vec();
        preds.sort_unstable();
        preds.dedup();
        for from in preds {
            let v = self.at_end(from);
            let Some(t) = self.func.terminator(from) else { continue };
            for_each_call_mut(&mut self.func.insts[t.index()].data, |to| {
                if to.block == b {
                    to.args.push(v)
                }
            });
        }
        p
    }
}

/// A constant, made at the beginning of a block.
pub(super) fn constant(func: &mut Func, b: Block, ty: Ty, bits: u64) -> Value {
    let i = func.make_inst(InstData::Const { ty, bits }, Loc(0));
    func.blocks[b.index()].insts.insert(0, i);
    func.insts[i.index()].results[0]
}
