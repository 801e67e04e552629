//! Facts about an SSA function: edges, predecessors, reverse post-order, dominators, loops
//! ([`crate::graph`]), liveness.
//!
//! Handlers are successors like others. All results are snapshots, which [`Analyses`] keeps until a pass
//! changes control flow.

use super::{Block, BlockCall, Func, Inst, InstNode, Term, Value};
use crate::bitset::BitSet;
use crate::graph::{self, FlowGraph};

pub type Cfg = graph::Cfg<Block>;
pub type Dominators = graph::Dominators<Block>;
pub type Loop = graph::Loop<Block>;
pub type Loops = graph::Loops<Block>;
pub type Analyses = graph::Analyses<Block>;

/// What kind of edge; the target of a `Raises` edge gets the exception as its first parameter, which the
/// arguments leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    Jumps,
    Raises,
}

impl Edge {
    /// Parameters of the target that come before the arguments.
    pub fn skip(self) -> usize {
        match self {
            Edge::Jumps => 0,
            Edge::Raises => 1,
        }
    }
}

impl Func {
    /// Reached blocks in reverse post-order, those that handlers begin included.
    pub fn reverse_post_order(&self) -> Vec<Block> {
        let mut seen = vec![false; self.blocks.len()];
        let mut post = Vec::with_capacity(self.blocks.len());
        let mut stack = vec![(Block(0), false)];
        while let Some((b, done)) = stack.pop() {
            if done {
                post.push(b);
                continue;
            }
            if std::mem::replace(&mut seen[b.index()], true) {
                continue;
            }
            stack.push((b, true));
            let data = self.block(b);
            for i in &data.insts {
                if let Some(u) = &self.inst(*i).unwind
                    && !seen[u.block.index()]
                {
                    stack.push((u.block, false));
                }
            }
            for t in data.term.targets() {
                if !seen[t.block.index()] {
                    stack.push((t.block, false));
                }
            }
        }
        post.reverse();
        post
    }

    /// Every edge out of `b`: instructions' handlers in order, then the terminator's targets.
    pub fn each_edge(&self, b: Block, f: &mut dyn FnMut(Edge, &BlockCall)) {
        let block = self.block(b);
        for i in &block.insts {
            if let Some(u) = &self.inst(*i).unwind {
                f(Edge::Raises, u);
            }
        }
        match &block.term {
            Term::Jump(to) => f(Edge::Jumps, to),
            Term::Branch { then_to, else_to, .. } => {
                f(Edge::Jumps, then_to);
                f(Edge::Jumps, else_to);
            }
            Term::Raise { unwind: Some(u), .. } => f(Edge::Raises, u),
            Term::Raise { unwind: None, .. } | Term::None | Term::Return(_) | Term::Unreachable => {}
        }
    }
    pub fn each_edge_mut(&mut self, b: Block, f: &mut dyn FnMut(Edge, &mut BlockCall)) {
        let block = &mut self.blocks[b.index()];
        for i in &block.insts {
            if let Some(u) = &mut self.insts[i.index()].unwind {
                f(Edge::Raises, u);
            }
        }
        match &mut block.term {
            Term::Jump(to) => f(Edge::Jumps, to),
            Term::Branch { then_to, else_to, .. } => {
                f(Edge::Jumps, then_to);
                f(Edge::Jumps, else_to);
            }
            Term::Raise { unwind: Some(u), .. } => f(Edge::Raises, u),
            Term::Raise { unwind: None, .. } | Term::None | Term::Return(_) | Term::Unreachable => {}
        }
    }
}

impl Term {
    /// The value that the terminator itself reads; arguments of its targets not included.
    pub fn operand(&self) -> Option<Value> {
        match self {
            Term::Branch { cond: v, .. } | Term::Return(v) | Term::Raise { exc: v, .. } => Some(*v),
            Term::None | Term::Jump(_) | Term::Unreachable => None,
        }
    }
    pub fn operand_mut(&mut self) -> Option<&mut Value> {
        match self {
            Term::Branch { cond: v, .. } | Term::Return(v) | Term::Raise { exc: v, .. } => Some(v),
            Term::None | Term::Jump(_) | Term::Unreachable => None,
        }
    }
}

impl FlowGraph for Func {
    type Block = Block;
    fn block_count(&self) -> usize {
        self.blocks.len()
    }
    fn entry_block(&self) -> Option<Block> {
        if self.blocks.is_empty() { None } else { Some(Block(0)) }
    }
    /// Instructions in a row that share a handler make one edge.
    fn each_successor(&self, b: Block, f: &mut dyn FnMut(Block)) {
        let mut last = None;
        self.each_edge(b, &mut |edge, call| {
            if edge == Edge::Raises && last == Some(call.block) {
                return;
            }
            last = if edge == Edge::Raises { Some(call.block) } else { None };
            f(call.block);
        });
    }
}

/// Values that are still read, by block. Arguments of an edge are read by the block that the edge leaves;
/// parameters are defined in theirs.
pub struct Liveness {
    live_in: Vec<BitSet>,
    live_out: Vec<BitSet>,
}

impl Liveness {
    pub fn new(func: &Func, cfg: &Cfg) -> Liveness {
        let (n, values) = (func.blocks.len(), func.values as usize);
        let mut out = Liveness { live_in: vec![BitSet::default(); n], live_out: vec![BitSet::default(); n] };
        for b in cfg.rpo() {
            (out.live_in[b.index()], out.live_out[b.index()]) = (BitSet::new(values), BitSet::new(values));
        }
        let mut changed = true;
        while changed {
            changed = false;
            for b in cfg.rpo().iter().rev() {
                let mut live = BitSet::new(values);
                func.each_successor(*b, &mut |s| {
                    live.union(&out.live_in[s.index()]);
                });
                changed |= out.live_out[b.index()].union(&live);
                for v in walk_back(func, *b, &mut live) {
                    live.remove(v.index());
                }
                changed |= out.live_in[b.index()].union(&live);
            }
        }
        out
    }

    /// Values read at or after the start of `b`, its own parameters not included.
    pub fn live_in(&self, b: Block) -> &BitSet {
        &self.live_in[b.index()]
    }
    /// Values of this block or above it that some successor reads, handlers included; arguments passed to
    /// parameters are not among them unless they are read otherwise.
    pub fn live_out(&self, b: Block) -> &BitSet {
        &self.live_out[b.index()]
    }

    /// The values read after each instruction of `b`, by its place in the block. A handler's needs are live
    /// all through the block before the instructions that lead there, and not beyond the last of them.
    pub fn after_each(&self, func: &Func, b: Block) -> Vec<BitSet> {
        let mut live = BitSet::new(func.values as usize);
        for t in func.block(b).term.targets() {
            live.union(&self.live_in[t.block.index()]);
        }
        uses_of_term(&func.block(b).term, &mut |v| {
            live.insert(v.index());
        });
        let insts = &func.block(b).insts;
        let mut out = vec![BitSet::default(); insts.len()];
        for (k, i) in insts.iter().enumerate().rev() {
            let node = func.inst(*i);
            out[k] = live.clone();
            if let Some(r) = node.result {
                live.remove(r.index());
            }
            if let Some(u) = &node.unwind {
                live.union(&self.live_in[u.block.index()]);
            }
            uses_of(node, &mut |v| {
                live.insert(v.index());
            });
        }
        out
    }
}

/// Values that an instruction reads, arguments to its handler included.
pub fn uses_of(node: &InstNode, f: &mut dyn FnMut(Value)) {
    for v in &node.args {
        f(*v);
    }
    if let Some(u) = &node.unwind {
        for v in &u.args {
            f(*v);
        }
    }
}

/// Values that a terminator reads, arguments of its targets included.
pub fn uses_of_term(term: &Term, f: &mut dyn FnMut(Value)) {
    if let Some(v) = term.operand() {
        f(v);
    }
    for t in term.targets() {
        for v in &t.args {
            f(*v);
        }
    }
}

/// Removes definitions from `live` and adds uses, from the end of `b` to its start; gives the parameters,
/// still to be removed.
fn walk_back<'a>(func: &'a Func, b: Block, live: &mut BitSet) -> &'a [Value] {
    let block = func.block(b);
    uses_of_term(&block.term, &mut |v| {
        live.insert(v.index());
    });
    for i in block.insts.iter().rev() {
        let node = func.inst(*i);
        if let Some(r) = node.result {
            live.remove(r.index());
        }
        uses_of(node, &mut |v| {
            live.insert(v.index());
        });
    }
    &block.params
}

/// The block and, unless it is a parameter, the instruction that defines each value.
pub struct Definitions {
    blocks: Vec<Option<(Block, Option<Inst>)>>,
}

impl Definitions {
    pub fn new(func: &Func) -> Definitions {
        let mut blocks = vec![None; func.values as usize];
        for b in (0..func.blocks.len()).map(Block::new) {
            for p in &func.block(b).params {
                blocks[p.index()] = Some((b, None));
            }
            for i in &func.block(b).insts {
                if let Some(r) = func.inst(*i).result {
                    blocks[r.index()] = Some((b, Some(*i)));
                }
            }
        }
        Definitions { blocks }
    }
    pub fn block(&self, v: Value) -> Option<Block> {
        self.blocks[v.index()].map(|(b, _)| b)
    }
    /// None for block parameters.
    pub fn inst(&self, v: Value) -> Option<Inst> {
        self.blocks[v.index()].and_then(|(_, i)| i)
    }
}
