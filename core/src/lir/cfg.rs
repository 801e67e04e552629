//! Control flow of a LIR function: predecessors, reverse post-order, dominators, natural loops.
//!
//! All are snapshots: a pass that changes control flow computes them again. Everything is linear in the size of the function,
//! except dominators, which iterate (once in practice, for reducible control flow).

use super::func::{Block, Func};

const NONE: u32 = u32::MAX;

/// Predecessors and reverse post-order of the reachable blocks.
pub struct Cfg {
    rpo: Vec<Block>,
    position: Vec<u32>,
    pred_start: Vec<u32>,
    preds: Vec<Block>,
}

impl Cfg {
    pub fn new(func: &Func) -> Cfg {
        let n = func.blocks.len();
        let mut cfg = Cfg { rpo: Vec::with_capacity(n), position: vec![NONE; n], pred_start: vec![0; n + 1], preds: vec![] };
        if func.layout.is_empty() { return cfg; }
        cfg.number(func);
        cfg.link(func);
        cfg
    }

    /// Depth-first search with an explicit stack: functions can be deep.
    fn number(&mut self, func: &Func) {
        let successors = |b: Block| -> Vec<Block> { func.terminator(b).map_or(vec![], |t| func.insts[t.index()].data.successors()) };
        let mut seen = vec![false; func.blocks.len()];
        seen[func.entry().index()] = true;
        let mut stack = vec![(func.entry(), successors(func.entry()))];
        while let Some((block, rest)) = stack.last_mut() {
            // Popping takes the last successor first, so that the first one comes first in reverse post-order.
            if let Some(next) = rest.pop() {
                if !seen[next.index()] {
                    seen[next.index()] = true;
                    stack.push((next, successors(next)));
                }
            } else {
                self.rpo.push(*block);
                stack.pop();
            }
        }
        self.rpo.reverse();
        for (i, b) in self.rpo.iter().enumerate() { self.position[b.index()] = i as u32; }
    }

    fn link(&mut self, func: &Func) {
        let mut edges = vec![];
        for &b in &self.rpo {
            let Some(t) = func.terminator(b) else { continue };
            func.insts[t.index()].data.for_each_successor(|s| { self.pred_start[s.index() + 1] += 1; edges.push((b, s)); });
        }
        for i in 1..self.pred_start.len() { self.pred_start[i] += self.pred_start[i - 1]; }
        let mut next = self.pred_start.clone();
        self.preds = vec![Block(NONE); edges.len()];
        for (from, to) in edges {
            self.preds[next[to.index()] as usize] = from;
            next[to.index()] += 1;
        }
    }

    /// Reachable blocks; every block comes after its dominators.
    pub fn rpo(&self) -> &[Block] { &self.rpo }
    /// Index in [`Cfg::rpo`].
    pub fn position(&self, b: Block) -> Option<usize> { Some(self.position[b.index()]).filter(|p| *p != NONE).map(|p| p as usize) }
    pub fn is_reachable(&self, b: Block) -> bool { self.position[b.index()] != NONE }
    /// Reachable predecessors, one for each edge: a block that branches here twice is listed twice.
    pub fn preds(&self, b: Block) -> &[Block] { &self.preds[self.pred_start[b.index()] as usize..self.pred_start[b.index() + 1] as usize] }
}

/// The dominator tree of the reachable blocks.
pub struct Dominators {
    idom: Vec<u32>,
    /// Depth-first intervals: `a` dominates `b` if `a`'s interval contains `b`'s.
    enter: Vec<u32>,
    leave: Vec<u32>,
    preorder: Vec<Block>,
}

impl Dominators {
    /// Cooper, Harvey and Kennedy's algorithm: intersect the dominators of all predecessors until nothing changes.
    pub fn new(func: &Func, cfg: &Cfg) -> Dominators {
        let n = func.blocks.len();
        let order = cfg.rpo();
        // By position in reverse post-order; a dominator has a smaller position than what it dominates.
        let mut idom = vec![NONE; order.len()];
        if !order.is_empty() { idom[0] = 0; }
        let mut changed = true;
        while changed {
            changed = false;
            for i in 1..order.len() {
                let mut new = NONE;
                for p in cfg.preds(order[i]) {
                    let p = cfg.position[p.index()];
                    if idom[p as usize] == NONE { continue; }
                    new = if new == NONE { p } else { intersect(&idom, new, p) };
                }
                if idom[i] != new { idom[i] = new; changed = true; }
            }
        }
        let mut tree = Dominators { idom: vec![NONE; n], enter: vec![NONE; n], leave: vec![0; n], preorder: Vec::with_capacity(order.len()) };
        let mut children = vec![vec![]; order.len()];
        for i in 1..order.len() {
            tree.idom[order[i].index()] = order[idom[i] as usize].0;
            children[idom[i] as usize].push(i as u32);
        }
        tree.number(order, &children);
        tree
    }

    fn number(&mut self, order: &[Block], children: &[Vec<u32>]) {
        let Some(root) = order.first() else { return };
        let mut clock = 1;
        self.enter[root.index()] = 0;
        self.preorder.push(*root);
        let mut stack = vec![(0u32, 0usize)];
        while let Some((at, next)) = stack.last_mut() {
            if let Some(&child) = children[*at as usize].get(*next) {
                *next += 1;
                let b = order[child as usize];
                self.enter[b.index()] = clock;
                clock += 1;
                self.preorder.push(b);
                stack.push((child, 0));
            } else {
                self.leave[order[*at as usize].index()] = clock;
                stack.pop();
            }
        }
    }

    /// Immediate dominator; none for the entry and for unreachable blocks.
    pub fn idom(&self, b: Block) -> Option<Block> { Some(self.idom[b.index()]).filter(|d| *d != NONE).map(Block) }
    /// Whether every path to `b` goes through `a`. A block dominates itself; unreachable blocks dominate nothing.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        let (a, b) = (a.index(), b.index());
        self.enter[a] != NONE && self.enter[b] != NONE && self.enter[a] <= self.enter[b] && self.enter[b] < self.leave[a]
    }
    /// Reachable blocks, every block after its dominators and directly before what it alone dominates.
    pub fn preorder(&self) -> &[Block] { &self.preorder }
}

fn intersect(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b { a = idom[a as usize]; }
        while b > a { b = idom[b as usize]; }
    }
    a
}

/// One natural loop: all blocks from which a back edge to `header` is reached without leaving the header's dominance.
#[derive(Debug)]
pub struct Loop {
    pub header: Block,
    /// Blocks that jump back to the header, one for each edge.
    pub latches: Vec<Block>,
    /// Header first; inner loops' blocks included.
    pub blocks: Vec<Block>,
    /// Index of the enclosing loop in [`Loops::all`].
    pub parent: Option<usize>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// Whether no other loop lies inside.
    pub innermost: bool,
}

/// Natural loops, every loop after the loops that enclose it. Irreducible cycles are not loops here.
pub struct Loops {
    pub all: Vec<Loop>,
    innermost: Vec<u32>,
}

impl Loops {
    pub fn new(func: &Func, cfg: &Cfg, doms: &Dominators) -> Loops {
        let mut loops = Loops { all: vec![], innermost: vec![NONE; func.blocks.len()] };
        let mut mark = vec![NONE; func.blocks.len()];
        // An outer header comes before inner ones in reverse post-order.
        for &header in cfg.rpo() {
            let latches: Vec<Block> = cfg.preds(header).iter().copied().filter(|p| doms.dominates(header, *p)).collect();
            if latches.is_empty() { continue; }
            let index = loops.all.len() as u32;
            let parent = Some(loops.innermost[header.index()]).filter(|p| *p != NONE).map(|p| p as usize);
            let mut blocks = vec![header];
            mark[header.index()] = index;
            let mut work = latches.clone();
            while let Some(b) = work.pop() {
                if mark[b.index()] == index { continue; }
                mark[b.index()] = index;
                blocks.push(b);
                work.extend(cfg.preds(b));
            }
            for b in &blocks { loops.innermost[b.index()] = index; }
            if let Some(p) = parent { loops.all[p].innermost = false; }
            let depth = parent.map_or(1, |p| loops.all[p].depth + 1);
            loops.all.push(Loop { header, latches, blocks, parent, depth, innermost: true });
        }
        loops
    }

    /// The innermost loop that contains `b`.
    pub fn of(&self, b: Block) -> Option<usize> { Some(self.innermost[b.index()]).filter(|l| *l != NONE).map(|l| l as usize) }
    pub fn depth(&self, b: Block) -> u32 { self.of(b).map_or(0, |l| self.all[l].depth) }
    /// Whether loop `l` contains `b`.
    pub fn contains(&self, l: usize, b: Block) -> bool {
        let mut at = self.of(b);
        while let Some(i) = at {
            if i == l { return true; }
            if i < l { return false; }
            at = self.all[i].parent;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::{Signature, Ty, builder::Builder, parse_module};

    /// entry → outer ⇄ (inner ⇄ body) → latch; outer → exit. One block is unreachable.
    fn nest() -> (Func, [Block; 6]) {
        let mut func = Func::new("nest", Signature { params: vec![Ty::I8], results: vec![] });
        let mut b = Builder::start(&mut func);
        let c = b.params(b.block)[0];
        let [outer, inner, body, latch, exit, dead] = std::array::from_fn(|_| b.new_block(&[]));
        b.jump(outer, &[]);
        b.switch_to(outer); b.brif(c, inner, &[], exit, &[]);
        b.switch_to(inner); b.brif(c, body, &[], latch, &[]);
        b.switch_to(body); b.jump(inner, &[]);
        b.switch_to(latch); b.jump(outer, &[]);
        b.switch_to(exit); b.ret(vec![]);
        b.switch_to(dead); b.jump(exit, &[]);
        (func, [outer, inner, body, latch, exit, dead])
    }

    #[test]
    fn dominators_and_loops_of_a_nest() {
        let (func, [outer, inner, body, latch, exit, dead]) = nest();
        let cfg = Cfg::new(&func);
        let doms = Dominators::new(&func, &cfg);
        assert!(!cfg.is_reachable(dead));
        assert_eq!(cfg.preds(exit), &[outer], "edges from unreachable blocks do not count");
        assert_eq!(doms.idom(latch), Some(inner));
        assert_eq!(doms.idom(exit), Some(outer));
        assert!(doms.dominates(outer, body) && doms.dominates(body, body) && !doms.dominates(body, latch) && !doms.dominates(dead, exit));
        let loops = Loops::new(&func, &cfg, &doms);
        assert_eq!(loops.all.len(), 2);
        assert_eq!((loops.all[0].header, loops.all[0].depth, loops.all[0].innermost), (outer, 1, false));
        assert_eq!((loops.all[1].header, loops.all[1].parent, loops.all[1].innermost), (inner, Some(0), true));
        assert_eq!(loops.depth(body), 2);
        assert_eq!(loops.depth(latch), 1);
        assert_eq!(loops.depth(exit), 0);
        assert!(loops.contains(0, body) && !loops.contains(1, latch));
    }

    #[test]
    fn order_puts_dominators_first() {
        let (func, _) = nest();
        let cfg = Cfg::new(&func);
        let doms = Dominators::new(&func, &cfg);
        for order in [cfg.rpo(), doms.preorder()] {
            assert_eq!(order.len(), 6);
            for (i, b) in order.iter().enumerate() {
                if let Some(d) = doms.idom(*b) { assert!(order[..i].contains(&d)); }
            }
        }
    }

    fn func(text: &str) -> Func { parse_module(text, &[]).expect("parses").funcs.remove(0) }

    /// Dominance by definition: `a` dominates `b` if `b` cannot be reached once `a` is removed.
    fn by_definition(f: &Func, a: Block, b: Block) -> bool {
        let mut seen = vec![];
        let mut todo = vec![f.entry()];
        while let Some(x) = todo.pop() {
            if x == a || seen.contains(&x) { continue; }
            seen.push(x);
            todo.extend(f.insts[f.terminator(x).expect("verified").index()].data.successors());
        }
        !seen.contains(&b)
    }

    #[test]
    fn agrees_with_the_definition_of_dominance() {
        let f = func("func @f(i8) {\nblock0(v0: i8):\n brif v0, block1, block2\nblock1:\n brif v0, block3, block4\nblock2:\n jump block4\nblock3:\n brif v0, block1, block5
block4:\n brif v0, block6, block2\nblock5:\n return\nblock6:\n brif v0, block6, block5\nblock7:\n jump block5\n}");
        let cfg = Cfg::new(&f);
        let dom = Dominators::new(&f, &cfg);
        assert_eq!(cfg.rpo()[0], Block(0));
        assert!(!cfg.is_reachable(Block(7)));
        for a in cfg.rpo() {
            for b in cfg.rpo() { assert_eq!(dom.dominates(*a, *b), by_definition(&f, *a, *b), "{a} {b}"); }
        }
        assert_eq!(dom.idom(Block(4)), Some(Block(0)));
        assert_eq!(dom.idom(Block(6)), Some(Block(4)));
    }

    #[test]
    fn a_chain_of_ten_thousand_blocks_needs_no_recursion() {
        let mut text = "func @f() {\n".to_string();
        for i in 0..10_000 { text.push_str(&format!("block{i}:\n jump block{}\n", i + 1)); }
        text.push_str("block10000:\n return\n}");
        let f = func(&text);
        let cfg = Cfg::new(&f);
        let dom = Dominators::new(&f, &cfg);
        assert_eq!(cfg.rpo().len(), 10_001);
        assert!(dom.dominates(Block(5), Block(9_999)) && !dom.dominates(Block(9_999), Block(5)));
    }
}
