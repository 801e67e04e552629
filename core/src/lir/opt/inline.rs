//! Small functions of a module are copied into their callers, callees first.
//!
//! A call is replaced by the callee's blocks; its returns become jumps to what followed the call, with the
//! results as block parameters. So a status that is always 0 is a constant there, and the check after the
//! call folds away. Locations keep the call site (`inlined_at`). Functions that call themselves, directly or
//! through others, stay as they are.

use crate::lir::{Alias, Block, BlockCall, Func, Inst, InstData, Loc, LocData, Module, Op, Value};
use crate::ops::generator::frame_new;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Instructions (constants and jumps not counted) of a callee that is worth copying anywhere.
const SMALL: usize = 40;
/// The same of one that makes a generator, or is given one and drives it: without the call its frame may go.
const STREAM: usize = 250;
/// Callers stop growing here; the back end compiles larger functions less well.
const LARGE: usize = 4_000;

pub(crate) fn inline_calls(module: &mut Module) {
    inline_with_roots(module, None)
}

/// With `roots`, the functions that somebody outside calls by name: the others are copied also where their
/// only call is, and leave the module when no call is left.
pub(crate) fn inline_with_roots(module: &mut Module, roots: Option<&[&str]>) {
    let graph = CallGraph::new(module);
    let calls = graph.count_calls();
    let streams = streams(module, &graph);
    // Who has a private copy of something large may not be copied as if it were small.
    let mut weights: Vec<usize> = module.funcs.iter().map(weight).collect();
    let is_root =
        |i: usize, module: &Module| roots.is_none_or(|r| r.contains(&module.funcs[i].name.as_str()));
    for &caller in &graph.callees_first {
        if graph.callees[caller].is_empty() {
            continue;
        }
        let mut func = std::mem::take(&mut module.funcs[caller]);
        let wanted: HashMap<Arc<str>, usize> = graph.callees[caller]
            .iter()
            .filter(|c| graph.component[**c] != graph.component[caller])
            .filter(|c| {
                let once = calls[**c] == 1 && !is_root(**c, module);
                let most = if streams[**c] { STREAM } else { SMALL };
                module.funcs[**c].always_inline || weights[**c] <= most || once
            })
            .map(|c| (Arc::from(module.funcs[*c].name.as_str()), *c))
            .collect();
        if !wanted.is_empty() {
            Inliner {
                func: &mut func,
                callees: &module.funcs,
                wanted: &wanted,
                weights: &weights,
                streams: &streams,
                size: weights[caller],
            }
            .run();
        }
        weights[caller] = weight(&func);
        module.funcs[caller] = func;
    }
    if let Some(roots) = roots {
        drop_uncalled(module, roots);
    }
}

/// Which functions make generators, or are given their frames and drive them.
fn streams(module: &Module, graph: &CallGraph) -> Vec<bool> {
    let mut out = vec![false; module.funcs.len()];
    let makes = |f: &Func| {
        f.layout.iter().flat_map(|b| &f.blocks[b.index()].insts).any(
            |i| matches!(&f.insts[i.index()].data, InstData::CallHelper { helper, .. } if **helper == frame_new),
        )
    };
    for (f, out) in module.funcs.iter().zip(&mut out) {
        *out = makes(f);
    }
    if !out.contains(&true) {
        return out;
    }
    for &n in &graph.callees_first {
        let f = &module.funcs[n];
        let params = &f.blocks[f.entry().index()].params;
        out[n] |= f.layout.iter().flat_map(|b| &f.blocks[b.index()].insts).any(|i| {
            match &f.insts[i.index()].data {
                InstData::Load { addr, alias: Alias::Frame, .. } => params.contains(addr),
                InstData::Call { func, args } => {
                    let callee = &f.funcs[func.index()].name;
                    let drives = graph.callees[n].iter().any(|c| out[*c] && module.funcs[*c].name == *callee);
                    drives && args.iter().skip(1).any(|a| params.contains(a))
                }
                InstData::Const { .. }
                | InstData::Op { .. }
                | InstData::Load { .. }
                | InstData::Store { .. }
                | InstData::StackAddr { .. }
                | InstData::SymbolAddr { .. }
                | InstData::CallIndirect { .. }
                | InstData::CallHelper { .. }
                | InstData::Grid { .. }
                | InstData::Jump(_)
                | InstData::Brif { .. }
                | InstData::Switch { .. }
                | InstData::Return(_)
                | InstData::Unreachable => false,
            }
        });
    }
    out
}

/// What copying costs: constants and jumps vanish.
pub(super) fn weight(func: &Func) -> usize {
    let costs = |i: &Inst| {
        !matches!(
            func.insts[i.index()].data,
            InstData::Const { .. }
                | InstData::Jump(_)
                | InstData::Return(_)
                | InstData::SymbolAddr { .. }
                // Taken apart and put together again: what meets vanishes.
                | InstData::Op { op: Op::Lane | Op::Lanes | Op::Splat, .. }
        )
    };
    // Cold blocks are copied, too, but they are all alike: building an exception, jumping away.
    func.layout
        .iter()
        .map(|b| &func.blocks[b.index()])
        .map(|b| {
            let n = b.insts.iter().filter(|i| costs(i)).count();
            if b.cold { n / 2 } else { n }
        })
        .sum()
}

struct CallGraph {
    callees: Vec<Vec<usize>>,
    sites: Vec<Vec<usize>>,
    /// Strongly connected component of each function.
    component: Vec<usize>,
    callees_first: Vec<usize>,
}

impl CallGraph {
    fn new(module: &Module) -> CallGraph {
        let index: HashMap<&str, usize> =
            module.funcs.iter().enumerate().map(|(i, f)| (f.name.as_str(), i)).collect();
        let sites: Vec<Vec<usize>> = module
            .funcs
            .iter()
            .map(|f| {
                let calls = f.layout.iter().flat_map(|b| &f.blocks[b.index()].insts).filter_map(|i| match &f
                    .insts[i.index()]
                .data
                {
                    InstData::Call { func, .. } => index.get(f.funcs[func.index()].name.as_str()).copied(),
                    InstData::Const { .. }
                    | InstData::Op { .. }
                    | InstData::Load { .. }
                    | InstData::Store { .. }
                    | InstData::StackAddr { .. }
                    | InstData::SymbolAddr { .. }
                    | InstData::CallIndirect { .. }
                    | InstData::CallHelper { .. }
                    | InstData::Grid { .. }
                    | InstData::Jump(_)
                    | InstData::Brif { .. }
                    | InstData::Switch { .. }
                    | InstData::Return(_)
                    | InstData::Unreachable => None,
                });
                calls.collect()
            })
            .collect();
        let callees: Vec<Vec<usize>> = sites
            .iter()
            .map(|s| {
                let mut s = s.clone();
                s.sort_unstable();
                s.dedup();
                s
            })
            .collect();
        let mut graph =
            CallGraph { component: vec![usize::MAX; callees.len()], callees_first: vec![], callees, sites };
        graph.find_components();
        graph
    }

    /// Tarjan's algorithm with an explicit stack. Components come out callees first.
    fn find_components(&mut self) {
        let n = self.callees.len();
        let (mut number, mut low, mut on_stack) = (vec![usize::MAX; n], vec![0; n], vec![false; n]);
        let (mut clock, mut open, mut components) = (0, vec![], 0);
        for root in 0..n {
            if number[root] != usize::MAX {
                continue;
            }
            let mut work = vec![(root, 0)];
            while let Some(&mut (v, ref mut next)) = work.last_mut() {
                if *next == 0 && number[v] == usize::MAX {
                    (number[v], low[v], on_stack[v]) = (clock, clock, true);
                    clock += 1;
                    open.push(v);
                }
                if let Some(&w) = self.callees[v].get(*next) {
                    *next += 1;
                    if number[w] == usize::MAX {
                        work.push((w, 0));
                    } else if on_stack[w] {
                        low[v] = low[v].min(number[w]);
                    }
                    continue;
                }
                work.pop();
                if let Some(&(parent, _)) = work.last() {
                    low[parent] = low[parent].min(low[v]);
                }
                if low[v] != number[v] {
                    continue;
                }
                while let Some(w) = open.pop() {
                    on_stack[w] = false;
                    self.component[w] = components;
                    self.callees_first.push(w);
                    if w == v {
                        break;
                    }
                }
                components += 1;
            }
        }
    }

    fn count_calls(&self) -> Vec<usize> {
        let mut counts = vec![0; self.callees.len()];
        for c in self.sites.iter().flatten() {
            counts[*c] += 1;
        }
        counts
    }
}

fn drop_uncalled(module: &mut Module, roots: &[&str]) {
    let graph = CallGraph::new(module);
    let mut needed: HashSet<usize> = HashSet::new();
    let mut work: Vec<usize> =
        (0..module.funcs.len()).filter(|i| roots.contains(&module.funcs[*i].name.as_str())).collect();
    while let Some(f) = work.pop() {
        if needed.insert(f) {
            work.extend(&graph.callees[f]);
        }
    }
    let mut at = 0;
    module.funcs.retain(|_| {
        at += 1;
        needed.contains(&(at - 1))
    });
}

/// Replaces the calls of `func` that are wanted, by name, by the bodies of `callees`.
pub(super) struct Inliner<'a> {
    pub func: &'a mut Func,
    pub callees: &'a [Func],
    pub wanted: &'a HashMap<Arc<str>, usize>,
    pub weights: &'a [usize],
    /// Which of them make or drive generators.
    pub streams: &'a [bool],
    /// The weight of `func`.
    pub size: usize,
}

impl Inliner<'_> {
    pub(super) fn run(&mut self) {
        let mut layout = vec![];
        for b in std::mem::take(&mut self.func.layout) {
            let mut at = b;
            layout.push(at);
            // What follows an inlined call is a block of its own, in which the search goes on.
            let mut from = 0;
            while let Some((position, call, callee)) = self.next_call(at, from) {
                if self.size + self.weights[callee] > LARGE && !self.callees[callee].always_inline {
                    from = position + 1;
                    continue;
                }
                self.size += self.weights[callee];
                at = self.inline(at, position, call, callee, &mut layout);
                from = 0;
            }
        }
        self.func.layout = layout;
    }

    fn next_call(&self, b: Block, from: usize) -> Option<(usize, Inst, usize)> {
        let block = &self.func.blocks[b.index()];
        block.insts.iter().enumerate().skip(from).find_map(|(at, i)| {
            let InstData::Call { func, .. } = &self.func.insts[i.index()].data else { return None };
            let callee = *self.wanted.get(self.func.funcs[func.index()].name.as_str())?;
            // A cold call is not worth its code, but that of one who closes a generator.
            (!block.cold || self.callees[callee].always_inline || self.streams[callee])
                .then_some((at, *i, callee))
        })
    }

    /// Replaces the call at `position` of `b`. Gives the block with what followed it.
    fn inline(
        &mut self,
        b: Block,
        position: usize,
        call: Inst,
        callee: usize,
        layout: &mut Vec<Block>,
    ) -> Block {
        let callee = &self.callees[callee];
        let func = &mut *self.func;
        let node = func.insts[call.index()].clone();
        let InstData::Call { args, .. } = node.data else { return b };
        let mut copy = Copier::new(func, callee, node.loc);
        let after = func.make_block();
        let cold = func.blocks[b.index()].cold;
        for &old in &callee.layout {
            let new = func.make_block_like(&callee.blocks[old.index()]);
            func.blocks[new.index()].cold |= cold;
            copy.blocks[old.index()] = new;
            layout.push(new);
            for p in &callee.blocks[old.index()].params {
                copy.values[p.index()] = func.add_param(new, callee.value_type(*p));
            }
        }
        // Values of all blocks first: a layout need not put definitions before uses.
        for &old in &callee.layout {
            for i in &callee.blocks[old.index()].insts {
                for r in &callee.insts[i.index()].results {
                    copy.values[r.index()] = func.make_value(callee.value_type(*r));
                }
            }
        }
        for &old in &callee.layout {
            for i in &callee.blocks[old.index()].insts {
                let new = copy.inst(func, callee, *i, after);
                func.blocks[copy.blocks[old.index()].index()].insts.push(new);
            }
        }
        let rest = func.blocks[b.index()].insts.split_off(position);
        let entry = copy.blocks[callee.entry().index()];
        let jump = func.make_inst(InstData::Jump(BlockCall { block: entry, args }), node.loc);
        func.blocks[b.index()].insts.push(jump);
        let block = &mut func.blocks[after.index()];
        block.cold = cold;
        block.params = node.results;
        block.insts.extend(rest.into_iter().skip(1));
        layout.push(after);
        after
    }
}

/// How the parts of a callee are called in the caller.
struct Copier {
    values: Vec<Value>,
    blocks: Vec<Block>,
    slots: Vec<crate::lir::Slot>,
    funcs: Vec<crate::lir::FuncRef>,
    symbols: Vec<crate::lir::Symbol>,
    locs: Vec<Loc>,
}

impl Copier {
    fn new(func: &mut Func, callee: &Func, call: Loc) -> Copier {
        let mut locs: Vec<Loc> = vec![call];
        // A call site comes before what was inlined there, so its number is known.
        for l in &callee.locs {
            let inlined_at = if l.inlined_at == Loc(0) {
                call
            } else {
                locs.get(l.inlined_at.index()).copied().unwrap_or(call)
            };
            func.locs.push(LocData { inlined_at, ..l.clone() });
            locs.push(Loc::new(func.locs.len()));
        }
        Copier {
            values: vec![Value(u32::MAX); callee.value_types.len()],
            blocks: vec![Block(u32::MAX); callee.blocks.len()],
            slots: callee
                .slots
                .iter()
                .map(|s| if s.shared { func.add_shared_slot(s.bytes) } else { func.add_slot(s.bytes) })
                .collect(),
            funcs: callee.funcs.iter().map(|f| func.func_ref(&f.name, &f.sig)).collect(),
            symbols: callee.symbols.iter().map(|s| func.symbol(&s.name, s.addr)).collect(),
            locs,
        }
    }

    fn inst(&self, func: &mut Func, callee: &Func, i: Inst, after: Block) -> Inst {
        let node = &callee.insts[i.index()];
        let mut data = node.data.clone();
        data.map_uses(|v| self.values[v.index()]);
        data.map_targets(|b| self.blocks[b.index()]);
        match &mut data {
            InstData::StackAddr { slot } => *slot = self.slots[slot.index()],
            InstData::SymbolAddr { symbol } => *symbol = self.symbols[symbol.index()],
            InstData::Call { func, .. } => *func = self.funcs[func.index()],
            InstData::Return(args) => {
                data = InstData::Jump(BlockCall { block: after, args: std::mem::take(args) })
            }
            InstData::Const { .. }
            | InstData::Op { .. }
            | InstData::Load { .. }
            | InstData::Store { .. }
            | InstData::CallIndirect { .. }
            | InstData::CallHelper { .. }
            | InstData::Grid { .. }
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Switch { .. }
            | InstData::Unreachable => {}
        }
        let results = node.results.iter().map(|r| self.values[r.index()]).collect();
        func.insts.push(crate::lir::InstNode { data, results, loc: self.locs[node.loc.index()] });
        Inst::new(func.insts.len() - 1)
    }
}
