//! Copying a set of blocks, and making SSA right again afterwards.
//!
//! [`copy_blocks`] leaves two definitions of everything the region defines. [`merge_variables`] gives every
//! use the one that reaches it, with new block parameters where several do (at the iterated dominance
//! frontier, and only where a use asks).

use super::edit::{FastMap, for_each_call_mut};
use crate::lir::cfg::{Analyses, Cfg, Dominators};
use crate::lir::{Block, BlockCall, Func, Inst, InstData, InstNode, Loc, Value};

/// New names of what was copied.
#[derive(Default)]
pub(crate) struct Copied {
    pub blocks: FastMap<Block, Block>,
    pub values: FastMap<Value, Value>,
}

/// Copies blocks; edges among them lead to copies, edges out of them to where the originals lead. The blocks
/// that [`split_switch_edges`] has put behind a switch are copied with it, for what they jump to may come to
/// need arguments.
pub(crate) fn copy_blocks(func: &mut Func, blocks: &[Block]) -> Copied {
    let mut copied = Copied::default();
    let mut all = blocks.to_vec();
    for &b in blocks {
        let Some(InstData::Switch { cases, default, .. }) =
            func.terminator(b).map(|t| &func.insts[t.index()].data)
        else {
            continue;
        };
        for to in cases.iter().chain([default]) {
            if !all.contains(to) {
                all.push(*to);
            }
        }
    }
    let blocks = all;
    for &b in &blocks {
        let old = func.blocks[b.index()].clone();
        let new = func.make_block_like(&old);
        copied.blocks.insert(b, new);
        for p in old.params {
            let ty = func.value_type(p);
            let v = func.add_param(new, ty);
            copied.values.insert(p, v);
        }
        for i in old.insts {
            for r in func.insts[i.index()].results.clone() {
                let ty = func.value_type(r);
                let v = func.make_value(ty);
                copied.values.insert(r, v);
            }
        }
    }
    for &b in &blocks {
        for i in func.blocks[b.index()].insts.clone() {
            let old = &func.insts[i.index()];
            let mut data = old.data.clone();
            data.map_uses(|v| copied.values.get(&v).copied().unwrap_or(v));
            data.map_targets(|t| copied.blocks.get(&t).copied().unwrap_or(t));
            let node = InstNode {
                data,
                results: old.results.iter().map(|r| copied.values[r]).collect(),
                loc: old.loc,
            };
            func.insts.push(node);
            let inst = Inst::new(func.insts.len() - 1);
            func.blocks[copied.blocks[&b].index()].insts.push(inst);
        }
    }
    // At the end: a copy is what rarely runs.
    func.layout.extend(blocks.iter().map(|b| copied.blocks[b]));
    copied
}

/// Cases of a switch pass no arguments, so a target that others jump to as well, now or once something is
/// copied, could not get parameters: a block in between can.
///
/// To be called before loops are looked at: the blocks in between belong to them.
pub fn split_switch_edges(func: &mut Func, analyses: &mut Analyses) {
    let switches = |f: &Func| {
        f.layout.iter().any(|b| {
            f.terminator(*b).is_some_and(|t| matches!(f.insts[t.index()].data, InstData::Switch { .. }))
        })
    };
    if !switches(func) {
        return;
    }
    for &b in analyses.cfg(func).rpo() {
        let Some(t) = func.terminator(b) else { continue };
        if !matches!(func.insts[t.index()].data, InstData::Switch { .. }) {
            continue;
        }
        let mut between: FastMap<Block, Block> = FastMap::default();
        for to in func.insts[t.index()].data.successors() {
            if between.contains_key(&to) {
                continue;
            }
            let new = func.make_block();
            let jump = func.make_inst(InstData::Jump(BlockCall { block: to, args: vec![] }), Loc(0));
            func.blocks[new.index()].insts.push(jump);
            func.layout.push(new);
            between.insert(to, new);
        }
        func.insts[t.index()].data.map_targets(|to| between.get(&to).copied().unwrap_or(to));
    }
    analyses.invalidate();
}

/// Every original and its copies are definitions of one variable: rewrites the uses that another one reaches.
pub(crate) fn merge_definitions(func: &mut Func, analyses: &Analyses, copies: &[Copied]) {
    merge_variables(func, analyses, &variables(copies));
}

/// The same for copies of regions, into each of which only one block leads, where control may come from one copy
/// into another: who reads a definition anywhere but in its own copy reads what came last.
pub(super) fn merge_definitions_of_regions(func: &mut Func, analyses: &Analyses, copies: &[Copied]) {
    // The number of the copy that a block belongs to, or of the first one that was made of it.
    let mut part = vec![0; func.blocks.len()];
    for (n, copied) in copies.iter().enumerate() {
        for (old, new) in &copied.blocks {
            part[new.index()] = 2 * n + 2;
            if part[old.index()] == 0 {
                part[old.index()] = 2 * n + 1;
            }
        }
    }
    let part = |b: Block| part[b.index()];
    merge_where(func, analyses, &variables(copies), |home, at| part(home) == part(at));
}

fn variables(copies: &[Copied]) -> Vec<Vec<Value>> {
    let mut names: FastMap<Value, Vec<Value>> = FastMap::default();
    for (old, new) in copies.iter().flat_map(|c| &c.values) {
        names.entry(*old).or_insert_with(|| vec![*old]).push(*new);
    }
    let mut variables: Vec<Vec<Value>> = names.into_values().collect();
    variables.sort_unstable();
    variables
}

/// Each list holds the definitions of one variable: rewrites every use to the definition that reaches it.
///
/// A use that its own definition dominates stays: no other definition of the variable may lie between them.
pub(crate) fn merge_variables(func: &mut Func, analyses: &Analyses, variables: &[Vec<Value>]) {
    let doms = analyses.dominators(func);
    merge_where(func, analyses, variables, |home, at| doms.dominates(home, at));
}

/// `stays` says which uses are right: by the block of the definition that they name, and their own.
fn merge_where(
    func: &mut Func,
    analyses: &Analyses,
    variables: &[Vec<Value>],
    stays: impl Fn(Block, Block) -> bool,
) {
    let (cfg, doms) = (analyses.cfg(func), analyses.dominators(func));
    let mut home: FastMap<Value, Block> = FastMap::default();
    let mut uses: FastMap<Value, Vec<(Block, Inst)>> =
        variables.iter().flatten().map(|v| (*v, vec![])).collect();
    for &b in cfg.rpo() {
        let block = &func.blocks[b.index()];
        for p in &block.params {
            home.insert(*p, b);
        }
        for i in &block.insts {
            let node = &func.insts[i.index()];
            for r in &node.results {
                home.insert(*r, b);
            }
            node.data.for_each_use(|v| {
                if let Some(list) = uses.get_mut(&v)
                    && list.last() != Some(&(b, *i))
                {
                    list.push((b, *i));
                }
            });
        }
    }
    let frontier = frontiers(func, cfg, doms);
    for names in variables {
        let defs: Vec<(Block, Value)> = names.iter().filter_map(|v| Some((*home.get(v)?, *v))).collect();
        let elsewhere = |v: &Value, at: Block| home.get(v).is_none_or(|h| !stays(*h, at));
        let outside: Vec<(Value, Block, Inst)> = names
            .iter()
            .flat_map(|v| uses[v].iter().map(move |(b, i)| (*v, *b, *i)))
            .filter(|(v, at, _)| elsewhere(v, *at))
            .collect();
        if outside.is_empty() {
            continue;
        }
        let blocks: Vec<Block> = defs.iter().map(|d| d.0).collect();
        let mut variable = Variable { original: names[0], defs, meetings: meetings(&frontier, &blocks) };
        for (name, at, i) in outside {
            let reaching = variable.read(func, cfg, doms, at);
            func.insts[i.index()].data.map_uses(|u| if u == name { reaching } else { u });
        }
    }
}

/// Dominance frontiers: where what a block defines meets other definitions.
pub(super) fn frontiers(func: &Func, cfg: &Cfg, doms: &Dominators) -> Vec<Vec<Block>> {
    let mut out = vec![vec![]; func.blocks.len()];
    for &b in cfg.rpo() {
        if cfg.preds(b).len() < 2 {
            continue;
        }
        for &p in cfg.preds(b) {
            let mut at = Some(p);
            while let Some(runner) = at
                && Some(runner) != doms.idom(b)
            {
                let list: &mut Vec<Block> = &mut out[runner.index()];
                // Whoever was here before has been further up, too.
                if list.last() == Some(&b) {
                    break;
                }
                list.push(b);
                at = doms.idom(runner);
            }
        }
    }
    out
}

/// Blocks where the definitions may meet.
pub(super) fn meetings(frontier: &[Vec<Block>], defs: &[Block]) -> Vec<Block> {
    let mut found: Vec<Block> = vec![];
    let mut work = defs.to_vec();
    while let Some(b) = work.pop() {
        for f in &frontier[b.index()] {
            if !found.contains(f) {
                found.push(*f);
                work.push(*f);
            }
        }
    }
    found
}

/// A value and its copies, with the parameters that stand for either.
struct Variable {
    original: Value,
    defs: Vec<(Block, Value)>,
    meetings: Vec<Block>,
}

impl Variable {
    /// The definition that holds at the end of `b`.
    fn read(&mut self, func: &mut Func, cfg: &Cfg, doms: &Dominators, b: Block) -> Value {
        let mut at = b;
        loop {
            if let Some((_, v)) = self.defs.iter().find(|d| d.0 == at) {
                return *v;
            }
            if self.meetings.contains(&at) {
                return self.parameter(func, cfg, doms, at);
            }
            match doms.idom(at) {
                Some(d) => at = d,
                None => return self.original,
            }
        }
    }

    fn parameter(&mut self, func: &mut Func, cfg: &Cfg, doms: &Dominators, b: Block) -> Value {
        let ty = func.value_type(self.original);
        let p = func.add_param(b, ty);
        // Known before the edges are looked at, because one may come from behind.
        self.defs.push((b, p));
        let mut preds = cfg.preds(b).to_vec();
        preds.sort_unstable();
        preds.dedup();
        for from in preds {
            let v = self.read(func, cfg, doms, from);
            let Some(t) = func.terminator(from) else { continue };
            for_each_call_mut(&mut func.insts[t.index()].data, |to| {
                if to.block == b {
                    to.args.push(v)
                }
            });
        }
        p
    }
}
