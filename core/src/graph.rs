//! Control flow of a function in any IR: predecessors, reverse post-order, dominators, natural loops.
//!
//! An IR implements [`FlowGraph`] and names the instances it needs (`lir::cfg`, `ssa::analysis`). All are
//! snapshots; [`Analyses`] keeps them from pass to pass until one changes control flow. Everything is linear
//! in the size of the function, except dominators, which iterate (once in practice, for reducible control
//! flow).

use crate::entity::Entity;
use std::cell::OnceCell;

/// A function as a graph of blocks.
pub trait FlowGraph {
    type Block: Entity;
    /// Block numbers are below this.
    fn block_count(&self) -> usize;
    /// None when there is no code yet.
    fn entry_block(&self) -> Option<Self::Block>;
    /// Calls `f` once for each edge out of `b`.
    fn each_successor(&self, b: Self::Block, f: &mut dyn FnMut(Self::Block));
}

/// What is known of a function's control flow: each part is found out when it is first asked for, and kept
/// until [`Analyses::invalidate`].
pub struct Analyses<B> {
    cfg: OnceCell<Cfg<B>>,
    dominators: OnceCell<Dominators<B>>,
    loops: OnceCell<Loops<B>>,
}

impl<B> Default for Analyses<B> {
    fn default() -> Analyses<B> {
        Analyses { cfg: OnceCell::new(), dominators: OnceCell::new(), loops: OnceCell::new() }
    }
}

impl<B: Entity> Analyses<B> {
    pub(crate) fn cfg<G: FlowGraph<Block = B>>(&self, func: &G) -> &Cfg<B> {
        self.cfg.get_or_init(|| Cfg::new(func))
    }
    pub(crate) fn dominators<G: FlowGraph<Block = B>>(&self, func: &G) -> &Dominators<B> {
        self.dominators.get_or_init(|| Dominators::new(func, self.cfg(func)))
    }
    pub(crate) fn loops<G: FlowGraph<Block = B>>(&self, func: &G) -> &Loops<B> {
        self.loops.get_or_init(|| Loops::new(func, self.cfg(func), self.dominators(func)))
    }
    /// A block or an edge has come, gone or moved.
    pub(crate) fn invalidate(&mut self) {
        *self = Analyses::default();
    }
    /// Whether what is kept is what would be found out now.
    pub(crate) fn hold<G: FlowGraph<Block = B>>(&self, func: &G) -> bool {
        let now = Analyses::default();
        self.cfg.get().is_none_or(|c| c == now.cfg(func))
            && self.dominators.get().is_none_or(|d| d == now.dominators(func))
            && self.loops.get().is_none_or(|l| l == now.loops(func))
    }
}

const NONE: u32 = u32::MAX;

/// Predecessors and reverse post-order of the reachable blocks.
#[derive(PartialEq)]
pub struct Cfg<B> {
    rpo: Vec<B>,
    position: Vec<u32>,
    pred_start: Vec<u32>,
    preds: Vec<B>,
}

impl<B: Entity> Cfg<B> {
    pub fn new<G: FlowGraph<Block = B>>(func: &G) -> Cfg<B> {
        let n = func.block_count();
        let mut cfg = Cfg {
            rpo: Vec::with_capacity(n),
            position: vec![NONE; n],
            pred_start: vec![0; n + 1],
            preds: vec![],
        };
        let Some(entry) = func.entry_block() else { return cfg };
        cfg.number(func, entry);
        cfg.link(func);
        cfg
    }

    /// Depth-first search with an explicit stack: functions can be deep.
    fn number<G: FlowGraph<Block = B>>(&mut self, func: &G, entry: B) {
        let mut seen = vec![false; func.block_count()];
        seen[entry.to_index()] = true;
        // Successors that are still to be visited, and blocks with where theirs begin.
        let (mut rest, mut stack) = (vec![], vec![(entry, 0)]);
        func.each_successor(entry, &mut |s| rest.push(s));
        while let Some(&(block, start)) = stack.last() {
            // Popping takes the last successor first, so that the first one comes first in reverse
            // post-order.
            if rest.len() == start {
                self.rpo.push(block);
                stack.pop();
            } else if let Some(next) = rest.pop()
                && !std::mem::replace(&mut seen[next.to_index()], true)
            {
                stack.push((next, rest.len()));
                func.each_successor(next, &mut |s| rest.push(s));
            }
        }
        self.rpo.reverse();
        for (i, b) in self.rpo.iter().enumerate() {
            self.position[b.to_index()] = i as u32;
        }
    }

    fn link<G: FlowGraph<Block = B>>(&mut self, func: &G) {
        let mut edges = Vec::with_capacity(2 * self.rpo.len());
        for &b in &self.rpo {
            func.each_successor(b, &mut |s| {
                self.pred_start[s.to_index() + 1] += 1;
                edges.push((b, s));
            });
        }
        for i in 1..self.pred_start.len() {
            self.pred_start[i] += self.pred_start[i - 1];
        }
        let mut next = self.pred_start.clone();
        let Some(&first) = self.rpo.first() else { return };
        self.preds = vec![first; edges.len()];
        for (from, to) in edges {
            self.preds[next[to.to_index()] as usize] = from;
            next[to.to_index()] += 1;
        }
    }

    /// Reachable blocks; every block comes after its dominators.
    pub fn rpo(&self) -> &[B] {
        &self.rpo
    }
    /// Index in [`Cfg::rpo`].
    pub(crate) fn position(&self, b: B) -> Option<usize> {
        Some(self.position[b.to_index()]).filter(|p| *p != NONE).map(|p| p as usize)
    }
    pub fn is_reachable(&self, b: B) -> bool {
        self.position[b.to_index()] != NONE
    }
    /// Reachable predecessors, one for each edge: a block that branches here twice is listed twice.
    pub fn preds(&self, b: B) -> &[B] {
        &self.preds[self.pred_start[b.to_index()] as usize..self.pred_start[b.to_index() + 1] as usize]
    }
}

/// The dominator tree of the reachable blocks.
#[derive(PartialEq)]
pub struct Dominators<B> {
    idom: Vec<u32>,
    /// Depth-first intervals: `a` dominates `b` if `a`'s interval contains `b`'s.
    enter: Vec<u32>,
    leave: Vec<u32>,
    preorder: Vec<B>,
}

impl<B: Entity> Dominators<B> {
    /// Cooper, Harvey and Kennedy's algorithm: intersect the dominators of all predecessors until nothing
    /// changes.
    pub fn new<G: FlowGraph<Block = B>>(func: &G, cfg: &Cfg<B>) -> Dominators<B> {
        let n = func.block_count();
        let order = cfg.rpo();
        // By position in reverse post-order; a dominator has a smaller position than what it dominates.
        let mut idom = vec![NONE; order.len()];
        if !order.is_empty() {
            idom[0] = 0;
        }
        // Another sweep is needed where a block had another dominator than now while it was asked for it:
        // without a way back, in none.
        let mut again = true;
        while again {
            again = false;
            for i in 1..order.len() {
                let mut new = NONE;
                for p in cfg.preds(order[i]) {
                    let p = cfg.position[p.to_index()];
                    if idom[p as usize] == NONE {
                        again = true;
                        continue;
                    }
                    new = if new == NONE { p } else { intersect(&idom, new, p) };
                }
                again |= idom[i] != NONE && idom[i] != new;
                idom[i] = new;
            }
        }
        let mut tree = Dominators {
            idom: vec![NONE; n],
            enter: vec![NONE; n],
            leave: vec![0; n],
            preorder: Vec::with_capacity(order.len()),
        };
        // Children as lists: the first of each block, and the next of the same parent.
        let (mut first, mut next) = (vec![NONE; order.len()], vec![NONE; order.len()]);
        for i in (1..order.len()).rev() {
            tree.idom[order[i].to_index()] = order[idom[i] as usize].to_index() as u32;
            next[i] = std::mem::replace(&mut first[idom[i] as usize], i as u32);
        }
        tree.number(order, first, &next);
        tree
    }

    fn number(&mut self, order: &[B], mut first: Vec<u32>, next: &[u32]) {
        let Some(root) = order.first() else { return };
        let mut clock = 1;
        self.enter[root.to_index()] = 0;
        self.preorder.push(*root);
        let mut stack = vec![0u32];
        while let Some(&at) = stack.last() {
            let child = first[at as usize];
            if child == NONE {
                self.leave[order[at as usize].to_index()] = clock;
                stack.pop();
                continue;
            }
            first[at as usize] = next[child as usize];
            let b = order[child as usize];
            self.enter[b.to_index()] = clock;
            clock += 1;
            self.preorder.push(b);
            stack.push(child);
        }
    }

    /// Immediate dominator; none for the entry and for unreachable blocks.
    pub(crate) fn idom(&self, b: B) -> Option<B> {
        Some(self.idom[b.to_index()]).filter(|d| *d != NONE).map(|d| B::from_index(d as usize))
    }
    /// Whether every path to `b` goes through `a`. A block dominates itself; unreachable blocks dominate
    /// nothing.
    pub fn dominates(&self, a: B, b: B) -> bool {
        let (a, b) = (a.to_index(), b.to_index());
        self.enter[a] != NONE
            && self.enter[b] != NONE
            && self.enter[a] <= self.enter[b]
            && self.enter[b] < self.leave[a]
    }
    /// Reachable blocks, every block after its dominators and directly before what it alone dominates.
    pub(crate) fn preorder(&self) -> &[B] {
        &self.preorder
    }
}

fn intersect(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = idom[a as usize];
        }
        while b > a {
            b = idom[b as usize];
        }
    }
    a
}

/// One natural loop: all blocks from which a back edge to `header` is reached without leaving the header's
/// dominance.
#[derive(Debug, PartialEq)]
pub struct Loop<B> {
    pub header: B,
    /// Blocks that jump back to the header, one for each edge.
    pub latches: Vec<B>,
    /// Header first; inner loops' blocks included.
    pub blocks: Vec<B>,
    /// Index of the enclosing loop in [`Loops::all`].
    pub parent: Option<usize>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// Whether no other loop lies inside.
    pub innermost: bool,
}

/// Natural loops, every loop after the loops that enclose it. Irreducible cycles are not loops here.
#[derive(PartialEq)]
pub struct Loops<B> {
    pub all: Vec<Loop<B>>,
    innermost: Vec<u32>,
}

impl<B: Entity> Loops<B> {
    pub fn new<G: FlowGraph<Block = B>>(func: &G, cfg: &Cfg<B>, doms: &Dominators<B>) -> Loops<B> {
        let mut loops = Loops { all: vec![], innermost: vec![NONE; func.block_count()] };
        let mut mark = vec![NONE; func.block_count()];
        // An outer header comes before inner ones in reverse post-order.
        for &header in cfg.rpo() {
            let latches: Vec<B> =
                cfg.preds(header).iter().copied().filter(|p| doms.dominates(header, *p)).collect();
            if latches.is_empty() {
                continue;
            }
            let index = loops.all.len() as u32;
            let parent = Some(loops.innermost[header.to_index()]).filter(|p| *p != NONE).map(|p| p as usize);
            let mut blocks = vec![header];
            mark[header.to_index()] = index;
            let mut work = latches.clone();
            while let Some(b) = work.pop() {
                if mark[b.to_index()] == index {
                    continue;
                }
                mark[b.to_index()] = index;
                blocks.push(b);
                work.extend(cfg.preds(b));
            }
            for b in &blocks {
                loops.innermost[b.to_index()] = index;
            }
            if let Some(p) = parent {
                loops.all[p].innermost = false;
            }
            let depth = parent.map_or(1, |p| loops.all[p].depth + 1);
            loops.all.push(Loop { header, latches, blocks, parent, depth, innermost: true });
        }
        loops
    }

    /// The innermost loop that contains `b`.
    pub(crate) fn of(&self, b: B) -> Option<usize> {
        Some(self.innermost[b.to_index()]).filter(|l| *l != NONE).map(|l| l as usize)
    }
    pub fn depth(&self, b: B) -> u32 {
        self.of(b).map_or(0, |l| self.all[l].depth)
    }
    /// Whether loop `l` contains `b`.
    pub(crate) fn contains(&self, l: usize, b: B) -> bool {
        let mut at = self.of(b);
        while let Some(i) = at {
            if i == l {
                return true;
            }
            if i < l {
                return false;
            }
            at = self.all[i].parent;
        }
        false
    }
}
