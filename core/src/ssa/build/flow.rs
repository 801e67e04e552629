//! Basic blocks of bytecode, and two facts about local variables at the start of each: which may still be
//! read (so that blocks get no useless parameters) and which are bound on every path (so that reading them
//! needs no check).
//!
//! A block lies in one protected range at most. An exception may leave it anywhere, so a variable that its
//! handler reads is live throughout, and the handler may count on those bound at the block's start and not
//! deleted in it.

use crate::bitset::BitSet;
use crate::bytecode::{Arg, Code, Instr, Opcode, Variable, stack};
use crate::diag::Result;
use crate::graph::{Cfg, FlowGraph};

crate::entity!(/// A basic block of bytecode.
    pub(crate) Bb, "bb");

pub(crate) struct BasicBlock {
    pub start: usize,
    pub end: usize,
    /// Index into [`Code::handlers`].
    pub handler: Option<usize>,
    /// Edges, in the order "goes on, jumps"; the handler is not among them.
    pub succs: Vec<Bb>,
    /// Several edges come here, or exceptions do: values arrive as parameters.
    pub joins: bool,
    /// Local variables that may be read before they are written.
    pub live_in: BitSet,
    /// Local variables bound on every path from the entry.
    pub bound_in: BitSet,
}

pub(crate) struct Flow {
    pub blocks: Vec<BasicBlock>,
    /// The block of an instruction that starts one.
    starts: Vec<Option<Bb>>,
    handler_targets: Vec<Option<Bb>>,
    /// Instructions that save a variable, in order; whether the variable was bound is the fact behind those
    /// of the variables.
    saves: Vec<usize>,
    /// Instructions that restore one, with the place of the save in `saves`.
    restores: Vec<(usize, usize)>,
    /// Of how many variables facts are known.
    variables: usize,
}

/// How an instruction touches a local variable, by index.
pub(crate) enum Touch {
    None,
    Read(usize),
    /// Afterwards the variable is bound, or an exception was raised.
    ReadOrBind(usize),
    Write(usize),
    Delete(usize),
    /// The variable, and the fact whether it was bound.
    Save(usize, usize),
    Restore(usize, usize),
}

/// What `inst` does to the local variables; `cells` are those that hold a cell, which is bound once and for
/// all.
fn touch(code: &Code, cells: &BitSet, inst: &Instr) -> Touch {
    match (inst.op.arg(), inst.op) {
        (Arg::Local, Opcode::StoreLocal) => Touch::Write(inst.arg as usize),
        (Arg::Local, Opcode::DeleteLocal) => Touch::Delete(inst.arg as usize),
        (Arg::Local, _) => Touch::ReadOrBind(inst.arg as usize),
        (Arg::Deref, op) => match code.variable(inst.arg) {
            Variable::Free(_) => Touch::None,
            Variable::Local(i) => touch_captured(code, cells.contains(i as usize), op, i as usize),
        },
        (Arg::Plain | Arg::Jump | Arg::Const | Arg::Name, _) => Touch::None,
    }
}

fn touch_captured(code: &Code, is_cell: bool, op: Opcode, i: usize) -> Touch {
    if op == Opcode::MakeCell {
        // The cell of a parameter starts with the parameter's value and takes its place.
        return if !is_cell {
            Touch::None
        } else if i < code.param_count() {
            Touch::ReadOrBind(i)
        } else {
            Touch::Write(i)
        };
    }
    if is_cell || op == Opcode::Capture {
        return Touch::Read(i);
    }
    if op == Opcode::StoreCell {
        Touch::Write(i)
    } else if op == Opcode::DeleteCell {
        Touch::Delete(i)
    } else {
        Touch::ReadOrBind(i)
    }
}

impl Flow {
    pub(crate) fn new(code: &Code, cells: &BitSet) -> Result<Flow> {
        let mut flow = Flow::cut(code);
        flow.find_saves(code)?;
        let cfg = Cfg::new(&flow);
        for b in 0..flow.blocks.len() {
            flow.blocks[b].joins = cfg.is_reachable(Bb::new(b)) && cfg.preds(Bb::new(b)).len() > 1;
        }
        // The function's own entry is one more way into the first block.
        if let Some(first) = flow.blocks.first_mut() {
            first.joins |= !cfg.preds(Bb(0)).is_empty();
        }
        // What is thrown into a generator that delegates to another one may end that one.
        for send in code.insts.iter().filter(|i| i.op == Opcode::Send) {
            if let Some(behind) = flow.block_at(send.arg as usize) {
                flow.blocks[behind.index()].joins = true;
            }
        }
        for b in cfg.rpo() {
            if let Some(t) = flow.handler_of(*b) {
                flow.blocks[t.index()].joins = true;
            }
        }
        flow.find_live(code, cells, &cfg);
        flow.find_bound(code, cells, &cfg);
        Ok(flow)
    }

    fn find_saves(&mut self, code: &Code) -> Result<()> {
        let saves = |i: &usize| code.insts[*i].op == Opcode::SaveLocal;
        self.saves = (0..code.insts.len()).filter(saves).collect();
        if self.saves.is_empty() {
            return Ok(());
        }
        let place = |save: usize| self.saves.binary_search(&save).unwrap_or(0);
        self.restores = stack::restores(code)?.into_iter().map(|(r, save)| (r, place(save))).collect();
        Ok(())
    }
    /// The fact whether the variable that instruction `i` saves is bound, among those of
    /// [`BasicBlock::bound_in`].
    pub(crate) fn saved(&self, i: usize) -> Option<usize> {
        self.saves.binary_search(&i).ok().map(|k| self.variables + k)
    }
    /// The same for an instruction that stores what was saved.
    pub(crate) fn restored(&self, i: usize) -> Option<usize> {
        let at = self.restores.binary_search_by_key(&i, |r| r.0).ok()?;
        Some(self.variables + self.restores[at].1)
    }
    fn touch(&self, code: &Code, cells: &BitSet, i: usize) -> Touch {
        let (inst, variable) = (&code.insts[i], code.insts[i].arg as usize);
        match (self.saved(i), self.restored(i)) {
            (Some(fact), _) => Touch::Save(variable, fact),
            (_, Some(fact)) => Touch::Restore(variable, fact),
            _ => touch(code, cells, inst),
        }
    }

    /// The block that starts with instruction `i`.
    pub(crate) fn block_at(&self, i: usize) -> Option<Bb> {
        self.starts.get(i).copied().flatten()
    }
    /// Where exceptions of a block go.
    pub(crate) fn handler_of(&self, b: Bb) -> Option<Bb> {
        self.blocks[b.index()].handler.and_then(|h| self.handler_targets[h])
    }
    /// Reachable blocks, every block after one that leads to it.
    pub(crate) fn order(&self) -> Vec<Bb> {
        Cfg::new(self).rpo().to_vec()
    }

    fn cut(code: &Code) -> Flow {
        let n = code.insts.len();
        let mut leader = vec![false; n + 1];
        leader[0] = true;
        for (i, inst) in code.insts.iter().enumerate() {
            if inst.op.jumps() {
                leader[inst.arg as usize] = true;
            }
            if inst.op.jumps() || inst.op.ends() {
                leader[i + 1] = true;
            }
        }
        let mut handler = vec![None; n];
        for (k, h) in code.handlers.iter().enumerate() {
            for at in [h.start, h.end, h.target] {
                leader[at as usize] = true;
            }
            handler[h.start as usize..h.end as usize].fill(Some(k));
        }
        let mut flow = Flow {
            blocks: vec![],
            starts: vec![None; n],
            handler_targets: vec![],
            saves: vec![],
            restores: vec![],
            variables: code.local_count(),
        };
        let mut start = 0;
        for end in 1..=n {
            if end < n && !leader[end] {
                continue;
            }
            flow.starts[start] = Some(Bb::new(flow.blocks.len()));
            let (live_in, bound_in) = (BitSet::default(), BitSet::default());
            flow.blocks.push(BasicBlock {
                start,
                end,
                handler: handler[start],
                succs: vec![],
                joins: false,
                live_in,
                bound_in,
            });
            start = end;
        }
        for b in 0..flow.blocks.len() {
            let end = flow.blocks[b].end;
            let last = &code.insts[end - 1];
            let next = if last.op.ends() { None } else { flow.block_at(end) };
            let target = if last.op.jumps() { flow.block_at(last.arg as usize) } else { None };
            flow.blocks[b].succs = next.into_iter().chain(target).collect();
        }
        flow.handler_targets = code.handlers.iter().map(|h| flow.block_at(h.target as usize)).collect();
        flow
    }

    /// Backwards to a fixed point.
    fn find_live(&mut self, code: &Code, cells: &BitSet, cfg: &Cfg<Bb>) {
        let n = code.local_count();
        // `super()` takes the first argument without naming it.
        let super_name = code
            .names
            .iter()
            .position(|n| &**n == "super")
            .filter(|_| code.args > 0 && code.freevars.iter().any(|n| &**n == "__class__"));
        let is_super = |i: usize| {
            let inst = &code.insts[i];
            inst.op == Opcode::LoadGlobal && Some(inst.arg as usize) == super_name
        };
        // (read before written, written) of each block.
        let local: Vec<(BitSet, BitSet)> = self
            .blocks
            .iter()
            .map(|b| {
                let (mut read, mut written) = (BitSet::new(n), BitSet::new(n));
                for i in b.start..b.end {
                    if is_super(i) && !written.contains(0) {
                        read.insert(0);
                    }
                    match self.touch(code, cells, i) {
                        Touch::None => {}
                        Touch::Read(i) | Touch::ReadOrBind(i) => {
                            if !written.contains(i) {
                                read.insert(i);
                            }
                        }
                        Touch::Write(i) | Touch::Restore(i, _) => {
                            written.insert(i);
                        }
                        // `del x` looks whether `x` is bound.
                        Touch::Delete(i) | Touch::Save(i, _) => {
                            if !written.contains(i) {
                                read.insert(i);
                            }
                            written.insert(i);
                        }
                    }
                }
                (read, written)
            })
            .collect();
        for b in &mut self.blocks {
            b.live_in = BitSet::new(n);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for b in cfg.rpo().iter().rev() {
                let mut live = BitSet::new(n);
                for s in &self.blocks[b.index()].succs {
                    live.union(&self.blocks[s.index()].live_in);
                }
                let (read, written) = &local[b.index()];
                live.subtract(written);
                live.union(read);
                if let Some(h) = self.handler_of(*b) {
                    live.union(&self.blocks[h.index()].live_in);
                }
                changed |= self.blocks[b.index()].live_in.union(&live);
            }
        }
    }

    /// Forwards to a fixed point, from "everything is bound" downwards.
    fn find_bound(&mut self, code: &Code, cells: &BitSet, cfg: &Cfg<Bb>) {
        let n = self.variables + self.saves.len();
        for b in &mut self.blocks {
            b.bound_in = BitSet::full(n);
        }
        if let Some(entry) = self.blocks.first_mut() {
            entry.bound_in = BitSet::new(n);
            for i in 0..code.param_count() {
                entry.bound_in.insert(i);
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for b in cfg.rpo() {
                let block = &self.blocks[b.index()];
                let mut bound = block.bound_in.clone();
                let mut in_handler = bound.clone();
                for i in block.start..block.end {
                    match self.touch(code, cells, i) {
                        Touch::None | Touch::Read(_) => {}
                        Touch::Save(i, fact) => {
                            if bound.contains(i) {
                                bound.insert(fact);
                            } else {
                                bound.remove(fact);
                                in_handler.remove(fact);
                            }
                            bound.remove(i);
                            in_handler.remove(i);
                        }
                        Touch::Restore(i, fact) if bound.contains(fact) => {
                            bound.insert(i);
                        }
                        Touch::Write(i) | Touch::ReadOrBind(i) => {
                            bound.insert(i);
                        }
                        Touch::Delete(i) | Touch::Restore(i, _) => {
                            bound.remove(i);
                            in_handler.remove(i);
                        }
                    }
                }
                for s in self.blocks[b.index()].succs.clone() {
                    changed |= self.blocks[s.index()].bound_in.intersect(&bound);
                }
                if let Some(h) = self.handler_of(*b) {
                    changed |= self.blocks[h.index()].bound_in.intersect(&in_handler);
                }
            }
        }
    }
}

impl FlowGraph for Flow {
    type Block = Bb;
    fn block_count(&self) -> usize {
        self.blocks.len()
    }
    fn entry_block(&self) -> Option<Bb> {
        self.block_at(0)
    }
    fn each_successor(&self, b: Bb, f: &mut dyn FnMut(Bb)) {
        for s in &self.blocks[b.index()].succs {
            f(*s);
        }
        if let Some(h) = self.handler_of(b) {
            f(h);
        }
    }
}
