//! Cheap clean-ups, each linear in the size of the function (removing parameters takes one round per level of
//! loop nesting): block parameters that have one value, blocks with one way in, values that nobody reads;
//! then everything is numbered afresh in reverse post-order.

use crate::ssa::analysis::{Analyses, Cfg, Definitions, Edge, uses_of};
use crate::ssa::{Block, BlockCall, BlockData, Func, Inst, InstNode, Loc, Op, Term, Value};

/// Runs them all.
pub(crate) fn run(func: &mut Func, analyses: &mut Analyses) {
    let cfg = analyses.cfg(func);
    remove_trivial_params(func, cfg);
    let merged = merge_blocks(func, cfg);
    if skip_empty_blocks(func) || merged {
        analyses.invalidate();
    }
    if remove_dead(func, analyses.cfg(func)) {
        analyses.invalidate();
    }
    renumber_by(func, analyses.cfg(func));
    analyses.invalidate();
}

/// What stands for each value; itself where nothing else does.
struct Substitution(Vec<Value>);

impl Substitution {
    fn new(func: &Func) -> Substitution {
        Substitution((0..func.values).map(Value).collect())
    }
    fn find(&mut self, v: Value) -> Value {
        let mut root = v;
        while self.0[root.index()] != root {
            root = self.0[root.index()];
        }
        let mut at = v;
        while at != root {
            at = std::mem::replace(&mut self.0[at.index()], root);
        }
        root
    }
    fn apply(&mut self, func: &mut Func) {
        for node in &mut func.insts {
            for v in &mut node.args {
                *v = self.find(*v);
            }
            for v in node.unwind.iter_mut().flat_map(|u| &mut u.args) {
                *v = self.find(*v);
            }
        }
        for block in &mut func.blocks {
            if let Some(v) = block.term.operand_mut() {
                *v = self.find(*v);
            }
            for t in block.term.targets_mut() {
                for v in &mut t.args {
                    *v = self.find(*v);
                }
            }
        }
    }
}

/// A parameter to which all edges pass the same value, or itself, is that value.
fn remove_trivial_params(func: &mut Func, cfg: &Cfg) {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Nothing,
        One(Value),
        Many,
    }
    let mut subst = Substitution::new(func);
    loop {
        let mut seen = vec![Seen::Nothing; func.values as usize];
        for b in cfg.rpo() {
            func.each_edge(*b, &mut |edge, call| {
                let params = func.block(call.block).params.get(edge.skip()..).unwrap_or_default();
                for (p, a) in params.iter().zip(&call.args) {
                    let (a, s) = (subst.find(*a), &mut seen[p.index()]);
                    if subst.0[p.index()] != *p || a == *p || *s == Seen::One(a) {
                        continue;
                    }
                    *s = if *s == Seen::Nothing { Seen::One(a) } else { Seen::Many };
                }
            });
        }
        let mut changed = false;
        for (p, s) in seen.into_iter().enumerate() {
            let Seen::One(v) = s else { continue };
            // An earlier replacement of this round may have led back here.
            let v = subst.find(v);
            if v.index() == p {
                continue;
            }
            subst.0[p] = v;
            changed = true;
        }
        if !changed {
            break;
        }
    }
    let gone: Vec<bool> = (0..func.values).map(|v| subst.0[v as usize] != Value(v)).collect();
    subst.apply(func);
    drop_params(func, &gone);
}

/// Removes the marked parameters and the arguments passed to them.
fn drop_params(func: &mut Func, gone: &[bool]) {
    if !gone.contains(&true) {
        return;
    }
    let keep: Vec<Vec<bool>> =
        func.blocks.iter().map(|b| b.params.iter().map(|p| !gone[p.index()]).collect()).collect();
    for b in (0..func.blocks.len()).map(Block::new) {
        func.each_edge_mut(b, &mut |edge, call| {
            let mut flags = keep[call.block.index()].iter().skip(edge.skip());
            call.args.retain(|_| *flags.next().unwrap_or(&true));
        });
    }
    for (block, keep) in func.blocks.iter_mut().zip(&keep) {
        let mut flags = keep.iter();
        block.params.retain(|_| *flags.next().unwrap_or(&true));
    }
}

/// A block that ends in a jump takes in its target if nothing else leads there. Whether there was one.
fn merge_blocks(func: &mut Func, cfg: &Cfg) -> bool {
    let mut subst = Substitution::new(func);
    let mut merged = false;
    for b in cfg.rpo() {
        while let Term::Jump(to) = &func.block(*b).term {
            let target = to.block;
            if target == *b || target == Block(0) || cfg.preds(target).len() != 1 {
                break;
            }
            let args = to.args.clone();
            let taken = std::mem::replace(&mut func.blocks[target.index()], empty_block());
            merged = true;
            for (p, a) in taken.params.iter().zip(args) {
                subst.0[p.index()] = a;
            }
            let block = &mut func.blocks[b.index()];
            block.insts.extend(taken.insts);
            (block.term, block.term_loc) = (taken.term, taken.term_loc);
        }
    }
    if merged {
        subst.apply(func);
    }
    merged
}

/// A block that does nothing but jump on is skipped by those that jump to it, if nobody else reads its
/// parameters. Whether there was one.
fn skip_empty_blocks(func: &mut Func) -> bool {
    let reads = use_counts(func);
    let mut onward: Vec<Option<BlockCall>> = vec![None; func.blocks.len()];
    for b in (1..func.blocks.len()).map(Block::new) {
        let block = func.block(b);
        let Term::Jump(to) = &block.term else { continue };
        let own = |p: &Value| to.args.iter().filter(|a| *a == p).count() as u32 == reads[p.index()];
        if block.insts.is_empty() && to.block != b && block.params.iter().all(own) {
            onward[b.index()] = Some(to.clone());
        }
    }
    if onward.iter().all(Option::is_none) {
        return false;
    }
    let params: Vec<Vec<Value>> = func
        .blocks
        .iter()
        .zip(&onward)
        .map(|(b, o)| if o.is_some() { b.params.clone() } else { vec![] })
        .collect();
    for b in (0..func.blocks.len()).map(Block::new) {
        func.each_edge_mut(b, &mut |edge, call| {
            // Chains of such blocks end; cycles of them are loops that never do anything, so follow a few
            // steps only.
            for _ in 0..8 {
                let Some(to) = &onward[call.block.index()] else { return };
                if edge == Edge::Raises {
                    return;
                }
                let from = &params[call.block.index()];
                let args = to
                    .args
                    .iter()
                    .map(|a| from.iter().position(|p| p == a).map_or(*a, |k| call.args[k]))
                    .collect();
                *call = BlockCall { block: to.block, args };
            }
        });
    }
    true
}

fn empty_block() -> BlockData {
    BlockData { params: vec![], insts: vec![], term: Term::Unreachable, term_loc: Default::default() }
}

/// Instructions without effect whose result nobody reads, and parameters that nobody reads. Whether a way to
/// a handler went with one.
fn remove_dead(func: &mut Func, cfg: &Cfg) -> bool {
    let defs = Definitions::new(func);
    let mut live = vec![false; func.values as usize];
    let mut work = vec![];
    // Arguments count as read when the parameter does.
    let mut incoming: Vec<Vec<Value>> = vec![vec![]; func.values as usize];
    for b in cfg.rpo() {
        func.each_edge(*b, &mut |edge, call| {
            for (p, a) in func.block(call.block).params.iter().skip(edge.skip()).zip(&call.args) {
                incoming[p.index()].push(*a);
            }
        });
        let block = func.block(*b);
        work.extend(block.term.operand());
        for i in &block.insts {
            let node = func.inst(*i);
            if !node.op.removable() {
                work.extend(&node.args);
            }
        }
    }
    while let Some(v) = work.pop() {
        if std::mem::replace(&mut live[v.index()], true) {
            continue;
        }
        match defs.inst(v) {
            Some(i) => {
                if func.inst(i).op.removable() {
                    work.extend(&func.inst(i).args)
                }
            }
            None => work.append(&mut incoming[v.index()]),
        }
    }
    let insts = &func.insts;
    let mut handled = false;
    for block in &mut func.blocks {
        block.insts.retain(|i| {
            let n = &insts[i.index()];
            let stays = !n.op.removable() || n.result.is_none_or(|r| live[r.index()]);
            handled |= !stays && n.unwind.is_some();
            stays
        });
    }
    // The entry's parameters are the function's, a handler's first one is the exception.
    let mut gone: Vec<bool> = live.iter().map(|l| !l).collect();
    for p in &func.blocks[0].params {
        gone[p.index()] = false;
    }
    for b in cfg.rpo() {
        func.each_edge(*b, &mut |edge, call| {
            for p in func.block(call.block).params.iter().take(edge.skip()) {
                gone[p.index()] = false;
            }
        });
    }
    drop_params(func, &gone);
    handled
}

/// Drops what is unreachable and numbers blocks, instructions and values in reverse post-order.
pub fn renumber(func: &mut Func) {
    let cfg = Cfg::new(func);
    renumber_by(func, &cfg);
}

fn renumber_by(func: &mut Func, cfg: &Cfg) {
    let typed = func.is_typed();
    let old_types = std::mem::take(&mut func.types);
    let mut values = vec![Value(0); func.values as usize];
    let mut block_numbers = vec![Block(0); func.blocks.len()];
    let (mut count, mut insts, mut blocks) = (0, vec![], vec![]);
    for (n, b) in cfg.rpo().iter().enumerate() {
        block_numbers[b.index()] = Block::new(n);
    }
    for b in cfg.rpo() {
        let mut block = std::mem::replace(&mut func.blocks[b.index()], empty_block());
        let mut number = |v: &mut Value| {
            if typed {
                func.types.push(old_types[v.index()]);
            }
            values[v.index()] = Value(count);
            *v = Value(count);
            count += 1;
        };
        block.params.iter_mut().for_each(&mut number);
        for i in &mut block.insts {
            let gone =
                InstNode { op: Op::Undef, args: vec![], result: None, loc: Loc::default(), unwind: None };
            let mut node = std::mem::replace(&mut func.insts[i.index()], gone);
            if let Some(r) = &mut node.result {
                number(r);
            }
            insts.push(node);
            *i = Inst::new(insts.len() - 1);
        }
        blocks.push(block);
    }
    (func.values, func.insts, func.blocks) = (count, insts, blocks);
    func.side.renumber(|v| values[v.index()]);
    for node in &mut func.insts {
        for v in node.args.iter_mut().chain(node.unwind.iter_mut().flat_map(|u| &mut u.args)) {
            *v = values[v.index()];
        }
        if let Some(u) = &mut node.unwind {
            u.block = block_numbers[u.block.index()];
        }
    }
    for block in &mut func.blocks {
        if let Some(v) = block.term.operand_mut() {
            *v = values[v.index()];
        }
        for t in block.term.targets_mut() {
            t.block = block_numbers[t.block.index()];
            for v in &mut t.args {
                *v = values[v.index()];
            }
        }
    }
}

/// Reads of each value, arguments included.
pub(crate) fn use_counts(func: &Func) -> Vec<u32> {
    let mut counts = vec![0; func.values as usize];
    for block in &func.blocks {
        for i in &block.insts {
            uses_of(func.inst(*i), &mut |v| counts[v.index()] += 1);
        }
        crate::ssa::analysis::uses_of_term(&block.term, &mut |v| counts[v.index()] += 1);
    }
    counts
}
