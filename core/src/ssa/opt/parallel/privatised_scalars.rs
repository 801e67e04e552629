//! Variables that an iteration sets under one condition and reads under another, which nobody can compare:
//!
//! ```python
//! for i in prange(n):
//!     if a[i] > 0: t = f(i)
//!     if b[i] > 0: out[i] = t     # no race where b[i] > 0 says that a[i] > 0
//! ```
//!
//! The plain loop would read what an earlier iteration left where there is nothing else. Iterations of the
//! parallel one begin without the variable, so that the read raises UnboundLocalError there. Then the loop
//! runs again as one piece, whose iterations keep the variable ([`crate::lower::sequential_retry`]); where
//! doing it twice would change what it leaves, the exception stands, and the line is a doubt. A read that
//! meets nothing but what earlier iterations left stays a race.

use super::Names;
use super::classifier::Classifier;
use super::find::Found;
use crate::ops::id;
use crate::ssa::analysis::{Definitions, Edge, uses_of, uses_of_term};
use crate::ssa::loops::Doubt;
use crate::ssa::{Block, Func, Op, Term, Value};
use std::collections::{HashMap, HashSet};

/// Whether iterations begin without the header's parameter number `at`, unless the loop runs again.
pub(crate) fn is_own(func: &Func, found: &Found, defs: &Definitions, at: usize) -> bool {
    let mut own = false;
    for b in inside(found) {
        func.each_edge(b, &mut |edge, to| {
            if to.block == found.header && at >= edge.skip() {
                let passed = defs.inst(to.args[at - edge.skip()]).map(|i| &func.inst(i).op);
                own |= passed == Some(&Op::Table(id::PARALLEL_KEPT));
            }
        });
    }
    own
}

/// Blocks of the loop that ask whether a variable is there.
pub(crate) fn reads<'a>(func: &'a Func, found: &'a Found) -> impl Iterator<Item = Block> + 'a {
    let asks =
        |b: &Block| func.block(*b).insts.iter().any(|i| matches!(func.inst(*i).op, Op::CheckBound { .. }));
    found.blocks.iter().copied().filter(asks)
}

/// Takes what earlier iterations leave away from a variable without a value in front of the loop that would
/// be a race by it; what is doubtful about it, nothing where there is none.
pub(crate) fn forget(func: &mut Func, found: &Found, names: &dyn Names) -> Vec<Doubt> {
    let Term::Jump(enter) = &func.block(found.pre).term else { return vec![] };
    let (inits, defs) = (enter.args.clone(), Definitions::new(func));
    let params: Vec<(usize, Value)> =
        func.block(found.header).params.iter().copied().enumerate().filter(|p| p.0 != found.state).collect();
    let plan = params.into_iter().find_map(|(at, param)| {
        let is_unbound = defs.inst(inits[at]).is_some_and(|i| func.inst(i).op == Op::Undef);
        if !is_unbound || is_own(func, found, &defs, at) {
            return None;
        }
        let c = Classifier::of(func, found, names);
        if !c.is_race(param) {
            return None;
        }
        // What an exception leads to has no place before it.
        let mut raises = false;
        for b in inside(found) {
            func.each_edge(b, &mut |edge, to| raises |= edge == Edge::Raises && to.block == found.header);
        }
        (!raises).then_some((at, variable(func, found, param)?))
    });
    let Some((at, doubts)) = plan else { return vec![] };
    for b in inside(found) {
        let mut left = vec![];
        func.each_edge(b, &mut |edge, to| {
            if to.block == found.header {
                left.push(to.args[at - edge.skip()]);
            }
        });
        let kept: HashMap<Value, Value> = left
            .into_iter()
            .map(|v| {
                let again = func.push(b, Op::Table(id::PARALLEL_AGAIN), vec![], found.loc, None);
                (v, func.push(b, Op::Table(id::PARALLEL_KEPT), vec![again, v], found.loc, None))
            })
            .collect();
        func.each_edge_mut(b, &mut |edge, to| {
            if to.block == found.header {
                let arg = &mut to.args[at - edge.skip()];
                *arg = kept[arg];
            }
        });
    }
    doubts
}

fn is_inside(found: &Found, b: Block) -> bool {
    b == found.header || found.blocks.contains(&b)
}
fn inside(found: &Found) -> Vec<Block> {
    found.blocks.iter().copied().chain([found.header]).collect()
}

/// The reads that may meet what earlier iterations left; none where that is not all that becomes of the
/// variable.
fn variable(func: &Func, found: &Found, param: Value) -> Option<Vec<Doubt>> {
    let mut passed = vec![];
    for b in inside(found) {
        func.each_edge(b, &mut |edge, to| {
            if is_inside(found, to.block) {
                for (p, v) in func.block(to.block).params.iter().skip(edge.skip()).zip(&to.args) {
                    passed.push((*p, *v));
                }
            }
        });
    }
    let own_header = func.block(found.header);
    // Whatever it may be passed on to, and be called once it is known to be there.
    let mut all = HashSet::from([param]);
    let mut reads: Vec<Doubt> = vec![];
    loop {
        let before = all.len();
        for (p, v) in &passed {
            if all.contains(v) && (*p == param || !own_header.params.contains(p)) {
                all.insert(*p);
            }
        }
        if passed.iter().any(|(p, v)| all.contains(v) && *p != param && own_header.params.contains(p)) {
            return None;
        }
        if all.len() == before {
            break;
        }
    }
    // Of these, those that nothing else comes into.
    let mut left: HashSet<Value> = all.clone();
    loop {
        let mixed: Vec<Value> = left
            .iter()
            .copied()
            .filter(|p| *p != param && passed.iter().any(|(q, v)| q == p && !left.contains(v)))
            .collect();
        if mixed.is_empty() {
            break;
        }
        for p in mixed {
            left.remove(&p);
        }
    }
    for b in 0..func.blocks.len() {
        let b = Block::new(b);
        let within = is_inside(found, b);
        for i in &func.block(b).insts {
            let node = func.inst(*i);
            let mut meets = false;
            if within {
                meets = node.args.iter().any(|v| all.contains(v));
            } else {
                uses_of(node, &mut |v| meets |= all.contains(&v));
            }
            if !meets {
                continue;
            }
            let Op::CheckBound { name, .. } = &node.op else { return None };
            // A handler in the loop would take the exception for one of the plain loop.
            if node.unwind.as_ref().is_some_and(|to| is_inside(found, to.block)) {
                return None;
            }
            if !within || node.args.iter().any(|v| left.contains(v)) {
                return None;
            }
            reads.push((node.loc, format!("'{name}' may have been set by an earlier iteration alone; then one thread does the loop again in order, or this raises UnboundLocalError where that would change what the loop leaves").into()));
        }
        let mut ends = false;
        if within {
            ends = func.block(b).term.operand().is_some_and(|v| all.contains(&v));
        } else {
            uses_of_term(&func.block(b).term, &mut |v| ends |= all.contains(&v));
        }
        func.each_edge(b, &mut |_, to| {
            ends |= within && !is_inside(found, to.block) && to.args.iter().any(|v| all.contains(v))
        });
        if ends {
            return None;
        }
    }
    (!reads.is_empty()).then_some(reads)
}
