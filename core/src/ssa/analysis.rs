//! Facts about an SSA function: edges, predecessors, reverse post-order, dominators, loops
//! ([`crate::graph`]), liveness.
//!
//! Handlers are successors like others. All results are snapshots, which [`Analyses`] keeps until a pass
//! changes control flow.

use super::{Block, BlockCall, Func, Inst, InstNode, Term, Value};
use crate::graph::{self, FlowGraph};

pub(crate) type Cfg = graph::Cfg<Block>;
pub(crate) type Dominators = graph::Dominators<Block>;
pub(crate) type Loop = graph::Loop<Block>;
pub(crate) type Loops = graph::Loops<Block>;
pub(crate) type Analyses = graph::Analyses<Block>;

/// What kind of edge; the target of a `Raises` edge gets the exception as its first parameter, which the
/// arguments leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Jumps,
    Raises,
}

impl Edge {
    /// Parameters of the target that come before the arguments.
    pub(crate) fn skip(self) -> usize {
        match self {
            Edge::Jumps => 0,
            Edge::Raises => 1,
        }
    }
}

impl Func {
    /// Reached blocks in reverse post-order, those that handlers begin included.
    pub(crate) fn reverse_post_order(&self) -> Vec<Block> {
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
    pub(crate) fn each_edge(&self, b: Block, f: &mut dyn FnMut(Edge, &BlockCall)) {
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
    /// The same, with which side of a branch an edge is.
    pub(crate) fn each_edge_of(&self, b: Block, f: &mut dyn FnMut(Option<bool>, &BlockCall)) {
        let mut n = self.before_branch(b);
        self.each_edge(b, &mut |_, to| f(side_of(&mut n), to));
    }
    pub(crate) fn each_edge_of_mut(&mut self, b: Block, f: &mut dyn FnMut(Option<bool>, &mut BlockCall)) {
        let mut n = self.before_branch(b);
        self.each_edge_mut(b, &mut |_, to| f(side_of(&mut n), to));
    }
    /// How many edges of a block come before the sides of its branch, which are told in order; none where it ends
    /// otherwise.
    fn before_branch(&self, b: Block) -> Option<usize> {
        let block = self.block(b);
        let unwinds = block.insts.iter().filter(|i| self.inst(**i).unwind.is_some()).count();
        matches!(block.term, Term::Branch { .. }).then_some(unwinds)
    }
    pub(crate) fn each_edge_mut(&mut self, b: Block, f: &mut dyn FnMut(Edge, &mut BlockCall)) {
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
    pub(crate) fn operand(&self) -> Option<Value> {
        match self {
            Term::Branch { cond: v, .. } | Term::Return(v) | Term::Raise { exc: v, .. } => Some(*v),
            Term::None | Term::Jump(_) | Term::Unreachable => None,
        }
    }
    pub(crate) fn operand_mut(&mut self) -> Option<&mut Value> {
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

/// Values that an instruction reads, arguments to its handler included.
pub(crate) fn uses_of(node: &InstNode, f: &mut dyn FnMut(Value)) {
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
pub(crate) fn uses_of_term(term: &Term, f: &mut dyn FnMut(Value)) {
    if let Some(v) = term.operand() {
        f(v);
    }
    for t in term.targets() {
        for v in &t.args {
            f(*v);
        }
    }
}

/// The block and, unless it is a parameter, the instruction that defines each value.
pub(crate) struct Definitions {
    blocks: Vec<Option<(Block, Option<Inst>)>>,
}

/// Counts an edge, given how many come before the sides of a branch.
fn side_of(left: &mut Option<usize>) -> Option<bool> {
    match left {
        Some(0) => {
            *left = Some(usize::MAX);
            Some(true)
        }
        Some(usize::MAX) => Some(false),
        Some(n) => {
            *n -= 1;
            None
        }
        None => None,
    }
}

impl Definitions {
    pub(crate) fn new(func: &Func) -> Definitions {
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
    pub(crate) fn block(&self, v: Value) -> Option<Block> {
        self.blocks[v.index()].map(|(b, _)| b)
    }
    /// None for block parameters.
    pub(crate) fn inst(&self, v: Value) -> Option<Inst> {
        self.blocks[v.index()].and_then(|(_, i)| i)
    }
}
