//! A branch that asks what the way there has decided: that way goes straight on.
//!
//! ```text
//! a:    brif c, b, d(0)              a:    brif c, b, d'
//! b:    x = …; jump d(x)      →      b:    x = …; jump d(x)
//! d(y): brif c, body, exit           d(y): brif c, body, exit      (only `b` is left, so `c` holds: another pass decides it)
//!                                    d':   jump exit
//! ```
//!
//! This is how a loop over a sequence looks: whether there is a next element, the element if so, and whether to go on. Afterwards its header decides
//! alone whether the loop goes on. Headers of loops are not copied: a loop would get a second entry.

use super::region::{Copied, copy_blocks, merge_definitions, split_switch_edges};
use crate::lir::cfg::{Cfg, Dominators, Loops};
use crate::lir::{Block, Func, InstData};

/// Instructions of a block that is worth copying.
const MAX_COPY: usize = 8;

/// The edge from `from` where its condition is `truth`, into `block`, which asks the same.
struct Known { from: Block, truth: bool, block: Block }

pub fn thread_branches(func: &mut Func) {
    let candidates = find(func);
    if candidates.is_empty() { return; }
    let found: Vec<Known> = {
        let cfg = Cfg::new(func);
        let doms = Dominators::new(func, &cfg);
        let loops = Loops::new(func, &cfg, &doms);
        let header = |b: Block| loops.all.iter().any(|l| l.header == b);
        let mut taken: Vec<Block> = vec![];
        candidates.into_iter().filter(|k| {
            let fits = cfg.is_reachable(k.from) && cfg.preds(k.block).len() > 1 && !header(k.block) && !taken.contains(&k.block) && !taken.contains(&k.from);
            if fits { taken.extend([k.block, k.from]); }
            fits
        }).collect()
    };
    if found.is_empty() { return; }
    split_switch_edges(func);
    let copies: Vec<Copied> = found.iter().map(|k| apply(func, k)).collect();
    merge_definitions(func, &copies);
}

fn find(func: &Func) -> Vec<Known> {
    let mut out = vec![];
    for &from in &func.layout {
        let Some(InstData::Brif { cond, then_to, else_to, .. }) = func.terminator(from).map(|t| &func.insts[t.index()].data) else { continue };
        // Both ways lead to the same place: nothing is known there.
        if then_to.block == else_to.block { continue; }
        for (truth, to) in [(true, then_to), (false, else_to)] {
            let Some((last, rest)) = func.blocks[to.block.index()].insts.split_last() else { continue };
            let asks = matches!(&func.insts[last.index()].data, InstData::Brif { cond: c, .. } if c == cond);
            let computes = rest.iter().all(|i| matches!(func.insts[i.index()].data, InstData::Const { .. } | InstData::Op { .. }));
            if asks && computes && rest.len() <= MAX_COPY && to.block != from { out.push(Known { from, truth, block: to.block }); }
        }
    }
    out
}

fn apply(func: &mut Func, k: &Known) -> Copied {
    let copied = copy_blocks(func, &[k.block]);
    let copy = copied.blocks[&k.block];
    if let Some(t) = func.terminator(k.from) && let InstData::Brif { then_to, else_to, .. } = &mut func.insts[t.index()].data {
        if k.truth { then_to.block = copy } else { else_to.block = copy }
    }
    if let Some(t) = func.terminator(copy) && let InstData::Brif { then_to, else_to, .. } = func.insts[t.index()].data.clone() {
        func.insts[t.index()].data = InstData::Jump(if k.truth { then_to } else { else_to });
    }
    copied
}
