//! Generators without a frame go straight on: what asks where one has stopped is copied for each answer.
//!
//! ```text
//! a:         jump head(0)                       a:         jump start'
//! head(s):   switch s, [start, more]            more:      …; jump body(…)
//! start:     …; jump body(1, …)           →     body(…):   …; jump more
//! more:      …; jump body(1, …)
//! body(s,…): …; jump head(s)
//! ```
//!
//! A state is a block parameter that a switch asks, or that is handed on to one that is asked. Where all edges into
//! its block pass constants, the blocks from there to where it is asked or handed on are copied for each of them. For
//! a generator with several `yield`s these are the blocks of its consumer: copies of it stand in the place of each
//! `yield`, as far as the budget goes; beyond it the state stays in a register.

use super::edit::{Defs, FastMap, for_each_call_mut};
use super::region::{copy_blocks, merge_definitions_of_regions, split_switch_edges};
use crate::lir::cfg::{Analyses, Cfg, Dominators};
use crate::lir::{Block, Func, InstData, Value};
use std::collections::BTreeSet;

/// Instructions that are copied in one function, and at once.
pub(super) const BUDGET: usize = 1200;
const MOST_AT_ONCE: usize = 400;

/// A state and what is copied for it.
struct Plan {
    block: Block,
    /// Which parameter it is.
    at: usize,
    /// The constants that arrive.
    answers: Vec<u64>,
    blocks: Vec<Block>,
    cost: usize,
}

/// Copies for all states that are known, as far as they do not lie inside each other. Whether there was one.
pub(super) fn thread_states(func: &mut Func, analyses: &mut Analyses, budget: &mut usize) -> bool {
    split_switch_edges(func, analyses);
    let plans = find(func, analyses, budget);
    let mut copies = vec![];
    for plan in &plans {
        for answer in &plan.answers[..plan.answers.len() - 1] {
            let copied = copy_blocks(func, &plan.blocks);
            lead_to(func, plan, *answer, copied.blocks[&plan.block]);
            copies.push(copied);
        }
    }
    if copies.is_empty() {
        return false;
    }
    analyses.invalidate();
    merge_definitions_of_regions(func, analyses, &copies);
    true
}

/// The edges that pass an answer lead to its copy.
fn lead_to(func: &mut Func, plan: &Plan, answer: u64, copy: Block) {
    let defs = Defs::new(func);
    for b in func.layout.clone() {
        let Some(t) = func.terminator(b) else { continue };
        let mut leads = false;
        func.insts[t.index()].data.for_each_target(|to, _| leads |= to == plan.block);
        if !leads {
            continue;
        }
        let mut data = func.insts[t.index()].data.clone();
        for_each_call_mut(&mut data, |to| {
            if to.block == plan.block && defs.constant(func, to.args[plan.at]) == Some(answer) {
                to.block = copy;
            }
        });
        func.insts[t.index()].data = data;
    }
}

/// Arguments of all edges, by block.
type Edges = FastMap<Block, Vec<Vec<Value>>>;

fn find(func: &Func, analyses: &Analyses, budget: &mut usize) -> Vec<Plan> {
    let (cfg, doms, defs) = (analyses.cfg(func), analyses.dominators(func), Defs::new(func));
    let mut home: FastMap<Value, (Block, usize)> = FastMap::default();
    let mut edges: Edges = FastMap::default();
    for &b in cfg.rpo() {
        for (k, p) in func.blocks[b.index()].params.iter().enumerate() {
            home.insert(*p, (b, k));
        }
        let Some(t) = func.terminator(b) else { continue };
        func.insts[t.index()].data.for_each_target(|to, args| {
            edges.entry(to).or_default().push(args.to_vec());
        });
    }
    // What switches ask, and what is handed on to that.
    let mut states: BTreeSet<Value> = BTreeSet::new();
    let mut work: Vec<Value> = cfg
        .rpo()
        .iter()
        .filter_map(|b| match &func.insts[func.terminator(*b)?.index()].data {
            InstData::Switch { index, .. } => Some(*index),
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
            | InstData::Jump(_)
            | InstData::Brif { .. }
            | InstData::Return(_)
            | InstData::Unreachable => None,
        })
        .collect();
    while let Some(v) = work.pop() {
        let Some((b, k)) = home.get(&v) else { continue };
        if *b != func.entry() && states.insert(v) {
            work.extend(edges.get(b).into_iter().flatten().map(|args| args[*k]));
        }
    }
    let mut plans: Vec<Plan> = states
        .iter()
        .filter_map(|s| {
            let (block, at) = home[s];
            let mut answers: BTreeSet<u64> = BTreeSet::new();
            for args in edges.get(&block)? {
                if args[at] != *s {
                    answers.insert(defs.constant(func, args[at])?);
                }
            }
            if answers.len() < 2 {
                return None;
            }
            let blocks = region(func, cfg, doms, &states, *s, block)?;
            // A copy is never free, so that this ends.
            let cost = blocks.iter().map(|b| cost(func, *b)).sum::<usize>().max(4) * (answers.len() - 1);
            (cost <= MOST_AT_ONCE).then(|| Plan {
                block,
                at,
                answers: answers.into_iter().collect(),
                blocks,
                cost,
            })
        })
        .collect();
    // The smallest first: what they decide may be what makes others large.
    plans.sort_by_key(|p| p.cost);
    let mut taken = vec![false; func.blocks.len()];
    plans.retain(|p| {
        let fits = p.cost <= *budget && !p.blocks.iter().any(|b| taken[b.index()]);
        if fits {
            *budget -= p.cost;
            p.blocks.iter().for_each(|b| taken[b.index()] = true);
        }
        fits
    });
    plans
}

fn cost(func: &Func, b: Block) -> usize {
    let block = &func.blocks[b.index()];
    let n = block
        .insts
        .iter()
        .filter(|i| !matches!(func.insts[i.index()].data, InstData::Const { .. } | InstData::Jump(_)));
    if block.cold { n.count() / 2 } else { n.count() }
}

/// The blocks from where a state arrives to where it is asked or handed on; nothing if it is neither.
fn region(
    func: &Func,
    cfg: &Cfg,
    doms: &Dominators,
    states: &BTreeSet<Value>,
    state: Value,
    from: Block,
) -> Option<Vec<Block>> {
    let mut work: Vec<Block> = cfg
        .rpo()
        .iter()
        .copied()
        .filter(|b| doms.dominates(from, *b))
        .filter(|b| {
            let Some(t) = func.terminator(*b) else { return false };
            let data = &func.insts[t.index()].data;
            let mut asks = matches!(data, InstData::Switch { index, .. } if *index == state);
            data.for_each_target(|to, args| {
                let params = &func.blocks[to.index()].params;
                asks |=
                    args.iter().zip(params).any(|(a, p)| *a == state && *p != state && states.contains(p));
            });
            asks
        })
        .collect();
    if work.is_empty() {
        return None;
    }
    let mut inside = vec![false; func.blocks.len()];
    while let Some(b) = work.pop() {
        if !std::mem::replace(&mut inside[b.index()], true) && b != from {
            work.extend(cfg.preds(b));
        }
    }
    inside[from.index()] = true;
    Some(cfg.rpo().iter().copied().filter(|b| inside[b.index()]).collect())
}
