//! Variables that a loop sets under a condition which is the same in every iteration:
//!
//! ```python
//! if not own: t = first()
//! for i in prange(n):
//!     if own: t = f(i)
//!     out[i] = t              # what stood in front of the loop, or what this iteration has set
//! ```
//!
//! Where the loop does not set the variable, it sets it nowhere, and reads what stood in front of it. That is said
//! instead; nothing then is read that another iteration left.

use super::find::Found;
use crate::ops::id;
use crate::ssa::analysis::{Cfg, Definitions, Dominators};
use crate::ssa::{Block, BlockCall, Func, Op, Term, Value};
use std::collections::HashSet;

/// Conditions that are made of conditions.
const DEPTH: usize = 8;

/// A branch, and the side of it on which nothing sets the variable.
struct Choice {
    branch: Block,
    then: bool,
    /// The names of the variable in the loop, and what it is in front of it.
    names: HashSet<Value>,
    init: Value,
}

/// Whether there was such a variable.
pub(crate) fn settle(func: &mut Func, found: &Found) -> bool {
    let cfg = Cfg::new(func);
    let doms = Dominators::new(func, &cfg);
    let Some(choice) = choice(func, found, &cfg, &doms) else { return false };
    for b in inside(found) {
        let all = on_side(func, &cfg, &doms, choice.branch, choice.then, b);
        let (branch, then) = (choice.branch, choice.then);
        func.each_edge_of_mut(b, &mut |of, to| {
            if all || b == branch && of == Some(then) {
                let names = to.args.iter_mut().filter(|v| choice.names.contains(v));
                names.for_each(|v| *v = choice.init);
            }
        });
    }
    true
}

fn choice(func: &Func, found: &Found, cfg: &Cfg, doms: &Dominators) -> Option<Choice> {
    let Term::Jump(enter) = &func.block(found.pre).term else { return None };
    let defs = Definitions::new(func);
    let branches: Vec<Block> = inside(found)
        .into_iter()
        .filter(|b| match &func.block(*b).term {
            Term::Branch { cond, then_to, else_to } => {
                then_to.block != else_to.block && is_settled(func, found, &defs, *cond, DEPTH)
            }
            Term::Jump(_) | Term::Return(_) | Term::Raise { .. } | Term::Unreachable | Term::None => false,
        })
        .collect();
    let params = func.block(found.header).params.iter().copied().enumerate().filter(|p| p.0 != found.state);
    for (at, param) in params {
        let names = names_of(func, found, param);
        for branch in &branches {
            for then in [false, true] {
                let side = |b: Block, of: Option<bool>, then: bool| {
                    on_side(func, cfg, doms, *branch, then, b) || b == *branch && of == Some(then)
                };
                // What sets it is on the other side, and there is something to say on this one.
                let (mut sets, mut elsewhere, mut passes) = (false, false, false);
                edges(func, found, &mut |b, of, to| {
                    for (p, v) in into_params(func, to) {
                        let is_name = names.contains(&v);
                        if names.contains(&p) && !is_name {
                            sets = true;
                            elsewhere |= !side(b, of, !then);
                        }
                        passes |= is_name && side(b, of, then);
                    }
                });
                if sets && !elsewhere && passes {
                    return Some(Choice { branch: *branch, then, names, init: enter.args[at] });
                }
            }
        }
    }
    None
}

/// Whether all that a block does is done on one side of a branch.
fn on_side(func: &Func, cfg: &Cfg, doms: &Dominators, branch: Block, then: bool, b: Block) -> bool {
    let Term::Branch { then_to, else_to, .. } = &func.block(branch).term else { return false };
    let to = if then { then_to.block } else { else_to.block };
    cfg.preds(to) == [branch] && doms.dominates(to, b)
}

fn inside(found: &Found) -> Vec<Block> {
    found.blocks.iter().copied().chain([found.header]).collect()
}

/// Each edge within the loop: where it begins, which side of a branch it is, and where it leads.
fn edges(func: &Func, found: &Found, f: &mut dyn FnMut(Block, Option<bool>, &BlockCall)) {
    for b in inside(found) {
        func.each_edge_of(b, &mut |of, to| {
            if to.block == found.header || found.blocks.contains(&to.block) {
                f(b, of, to);
            }
        });
    }
}

/// The parameters that an edge gives values to: the last ones of the block, as an exception comes first.
fn into_params<'a>(func: &'a Func, to: &'a BlockCall) -> impl Iterator<Item = (Value, Value)> + 'a {
    let params = &func.block(to.block).params;
    let skip = params.len().saturating_sub(to.args.len());
    params.iter().skip(skip).copied().zip(to.args.iter().copied())
}

/// All that a variable is called in the loop where it has not been set anew.
fn names_of(func: &Func, found: &Found, param: Value) -> HashSet<Value> {
    let mut names = HashSet::from([param]);
    loop {
        let before = names.len();
        edges(func, found, &mut |_, _, to| {
            for (p, v) in into_params(func, to) {
                if names.contains(&v) {
                    names.insert(p);
                }
            }
        });
        for b in inside(found) {
            for i in &func.block(b).insts {
                let node = func.inst(*i);
                if let (Op::CheckBound { .. }, Some(r)) = (&node.op, node.result)
                    && names.contains(&node.args[0])
                {
                    names.insert(r);
                }
            }
        }
        if names.len() == before {
            return names;
        }
    }
}

/// Whether a condition is the same in every iteration: it asks things from outside which the loop does nothing
/// else with.
fn is_settled(func: &Func, found: &Found, defs: &Definitions, v: Value, depth: usize) -> bool {
    let outside = |v: Value| defs.block(v).is_none_or(|b| b != found.header && !found.blocks.contains(&b));
    if outside(v) {
        return true;
    }
    let Some(node) = defs.inst(v).map(|i| func.inst(i)) else { return false };
    let Some(depth) = depth.checked_sub(1) else { return false };
    if let Op::Const(_) = node.op {
        return true;
    }
    let settled = |v: Value| is_settled(func, found, defs, v, depth);
    if [id::IS, id::IS_NOT].map(Op::Table).contains(&node.op) {
        return node.args.iter().all(|a| settled(*a));
    }
    let of = node.args.first().copied();
    [id::TRUTH, id::NOT].map(Op::Table).contains(&node.op)
        && of.is_some_and(|of| if outside(of) { only_asked(func, found, of) } else { settled(of) })
}

/// Whether the loop asks nothing of a value but whether it is true: a list may get longer.
fn only_asked(func: &Func, found: &Found, v: Value) -> bool {
    let asks = [id::TRUTH, id::NOT, id::IS, id::IS_NOT].map(Op::Table);
    let mut only = true;
    for b in inside(found) {
        for i in &func.block(b).insts {
            let node = func.inst(*i);
            only &= !node.args.contains(&v) || asks.contains(&node.op);
        }
        func.each_edge(b, &mut |_, to| only &= !to.args.contains(&v));
    }
    only
}
