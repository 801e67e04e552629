//! A branch that asks what the way there has decided: that way goes straight on.
//!
//! ```text
//! a:    brif c, b, d(0)              a:    brif c, b, d'
//! b:    x = …; jump d(x)      →      b:    x = …; jump d(x)
//! d(y): brif c, body, exit           d(y): brif c, body, exit      (only `b` is left, so `c` holds: another pass decides it)
//!                                    d':   jump exit
//! ```
//!
//! This is how a loop over a sequence looks: whether there is a next element, the element if so, and whether
//! to go on. Afterwards its header decides alone whether the loop goes on. Headers of loops are not copied: a
//! loop would get a second entry.
//!
//! The same goes for what an edge passes as a constant. It is how an inlined function looks: its ways out
//! meet with a status, which is asked at once. Afterwards what fails in it does not go through the loop
//! around the call, where checks that lead there could not be told from the loop's own branches.
//!
//! ```text
//! a:    …; jump d(0, x)              a:    …; jump d'(x)
//! b:    …; jump d(exc, 0.0)    →     b:    …; jump d(exc, 0.0)
//! d(s, y): brif s != 0, e, go        d(s, y): brif s != 0, e, go   (only what fails is left)
//!                                    d'(y): jump go
//! ```

use super::edit::{Defs, for_each_call_mut};
use super::fold::fold;
use super::region::{Copied, copy_blocks, merge_definitions, split_switch_edges};
use super::simplify_cfg::simplify_cfg;
use crate::lir::cfg::Analyses;
use crate::lir::{Block, Func, InstData, Op, Value};

/// Instructions of a block that is worth copying.
const MAX_COPY: usize = 8;

/// The edge from `from` where its condition is `truth`, into `block`, which asks the same.
struct Known {
    from: Block,
    truth: bool,
    block: Block,
}

pub(crate) fn thread_branches(func: &mut Func, analyses: &mut Analyses) {
    if thread_arguments(func, analyses) {
        // What is left of such a block is decided as a rule.
        fold(func, analyses);
        simplify_cfg(func, analyses);
    }
    let candidates = find(func);
    if candidates.is_empty() {
        return;
    }
    let found: Vec<Known> = {
        let (cfg, loops) = (analyses.cfg(func), analyses.loops(func));
        let header = |b: Block| loops.all.iter().any(|l| l.header == b);
        let mut taken: Vec<Block> = vec![];
        candidates
            .into_iter()
            .filter(|k| {
                let fits = cfg.is_reachable(k.from)
                    && cfg.preds(k.block).len() > 1
                    && !header(k.block)
                    && !taken.contains(&k.block)
                    && !taken.contains(&k.from);
                if fits {
                    taken.extend([k.block, k.from]);
                }
                fits
            })
            .collect()
    };
    if found.is_empty() {
        return;
    }
    split_switch_edges(func, analyses);
    let copies: Vec<Copied> = found.iter().map(|k| apply(func, k)).collect();
    analyses.invalidate();
    merge_definitions(func, analyses, &copies);
}

fn find(func: &Func) -> Vec<Known> {
    let mut out = vec![];
    for &from in &func.layout {
        let Some(InstData::Brif { cond, then_to, else_to, .. }) =
            func.terminator(from).map(|t| &func.insts[t.index()].data)
        else {
            continue;
        };
        // Both ways lead to the same place: nothing is known there.
        if then_to.block == else_to.block {
            continue;
        }
        for (truth, to) in [(true, then_to), (false, else_to)] {
            let Some((last, rest)) = func.blocks[to.block.index()].insts.split_last() else { continue };
            let asks = matches!(&func.insts[last.index()].data, InstData::Brif { cond: c, .. } if c == cond);
            let computes = rest
                .iter()
                .all(|i| matches!(func.insts[i.index()].data, InstData::Const { .. } | InstData::Op { .. }));
            if asks && computes && rest.len() <= MAX_COPY && to.block != from {
                out.push(Known { from, truth, block: to.block });
            }
        }
    }
    out
}

/// Edges into `block` that pass a constant by which its branch goes to one side.
struct Passed {
    block: Block,
    from: Vec<Block>,
    truth: bool,
}

fn thread_arguments(func: &mut Func, analyses: &mut Analyses) -> bool {
    let mut found = find_passed(func);
    if found.is_empty() {
        return false;
    }
    {
        let (cfg, doms) = (analyses.cfg(func), analyses.dominators(func));
        found.retain(|k| {
            cfg.is_reachable(k.block) && !cfg.preds(k.block).iter().any(|p| doms.dominates(k.block, *p))
        });
        for k in &mut found {
            k.from.retain(|b| cfg.is_reachable(*b));
        }
        found.retain(|k| !k.from.is_empty() && cfg.preds(k.block).iter().any(|p| !k.from.contains(p)));
    }
    if found.is_empty() {
        return false;
    }
    split_switch_edges(func, analyses);
    let copies: Vec<Copied> = found
        .iter()
        .map(|k| {
            let copied = copy_blocks(func, &[k.block]);
            let copy = copied.blocks[&k.block];
            for from in &k.from {
                let Some(t) = func.terminator(*from) else { continue };
                for_each_call_mut(&mut func.insts[t.index()].data, |to| {
                    if to.block == k.block {
                        to.block = copy
                    }
                });
            }
            go_straight(func, copy, k.truth);
            copied
        })
        .collect();
    analyses.invalidate();
    merge_definitions(func, analyses, &copies);
    true
}

/// Blocks that do little but ask a parameter, with those who pass a constant for it.
fn find_passed(func: &Func) -> Vec<Passed> {
    let mut asks: Vec<Option<(usize, bool)>> = vec![None; func.blocks.len()];
    let defs = Defs::new(func);
    let mut any = false;
    for &b in &func.layout {
        let block = &func.blocks[b.index()];
        let Some((last, rest)) = block.insts.split_last() else { continue };
        let InstData::Brif { cond, then_to, else_to, .. } = &func.insts[last.index()].data else { continue };
        if block.params.is_empty() || rest.len() > MAX_COPY || then_to.block == else_to.block {
            continue;
        }
        if !rest
            .iter()
            .all(|i| matches!(func.insts[i.index()].data, InstData::Const { .. } | InstData::Op { .. }))
        {
            continue;
        }
        let place = |v: Value| block.params.iter().position(|p| *p == v);
        asks[b.index()] = match defs.data(func, *cond) {
            Some(InstData::Op { op: op @ (Op::IcmpNe | Op::IcmpEq), args, .. })
                if defs.constant(func, args[1]) == Some(0) =>
            {
                place(args[0]).map(|at| (at, *op == Op::IcmpNe))
            }
            Some(_) => None,
            None => place(*cond).map(|at| (at, true)),
        };
        any |= asks[b.index()].is_some();
    }
    if !any {
        return vec![];
    }
    let mut edges: Vec<Vec<(Block, Option<bool>)>> = vec![vec![]; func.blocks.len()];
    for &from in &func.layout {
        let Some(t) = func.terminator(from) else { continue };
        func.insts[t.index()].data.for_each_target(|to, args| {
            let Some((at, not_zero)) = asks[to.index()] else { return };
            let bits =
                args.get(at).and_then(|v| Some(func.value_type(*v).canonical(defs.constant(func, *v)?)));
            edges[to.index()].push((from, bits.map(|bits| (bits != 0) == not_zero)));
        });
    }
    func.layout
        .iter()
        .filter_map(|&block| {
            let known = &edges[block.index()];
            // The side that is not cold, where there are edges to both.
            let InstData::Brif { then_to, else_to, .. } = &func.insts[func.terminator(block)?.index()].data
            else {
                return None;
            };
            let cold = |truth: bool| func.blocks[if truth { then_to } else { else_to }.block.index()].cold;
            let truth = known.iter().filter_map(|k| k.1).min_by_key(|truth| (cold(*truth), *truth))?;
            // Both edges of one branch may lead here.
            let from: Vec<Block> = known
                .iter()
                .filter(|k| known.iter().all(|o| o.0 != k.0 || o.1 == Some(truth)))
                .map(|k| k.0)
                .collect();
            (!from.is_empty() && !from.contains(&block)).then_some(Passed { block, from, truth })
        })
        .collect()
}

/// The branch at the end of a copy becomes a jump.
fn go_straight(func: &mut Func, copy: Block, truth: bool) {
    if let Some(t) = func.terminator(copy)
        && let InstData::Brif { then_to, else_to, .. } = func.insts[t.index()].data.clone()
    {
        func.insts[t.index()].data = InstData::Jump(if truth { then_to } else { else_to });
    }
}

fn apply(func: &mut Func, k: &Known) -> Copied {
    let copied = copy_blocks(func, &[k.block]);
    let copy = copied.blocks[&k.block];
    if let Some(t) = func.terminator(k.from)
        && let InstData::Brif { then_to, else_to, .. } = &mut func.insts[t.index()].data
    {
        if k.truth { then_to.block = copy } else { else_to.block = copy }
    }
    go_straight(func, copy, k.truth);
    copied
}
