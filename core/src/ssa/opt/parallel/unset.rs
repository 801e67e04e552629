//! Variables that an iteration sets under one condition and reads under another, which nobody can compare:
//!
//! ```python
//! for i in prange(n):
//!     if a[i] > 0: t = f(i)
//!     if b[i] > 0: out[i] = t     # no race where b[i] > 0 says that a[i] > 0
//! ```
//!
//! The plain loop would read what an earlier iteration left where there is nothing else. Iterations of the
//! parallel one begin without the variable, so that the read raises UnboundLocalError there, and the line is
//! a doubt. A read that meets nothing but what earlier iterations left stays a race.

use super::Names;
use super::find::Found;
use super::races::Doubt;
use super::reduce::Classifier;
use crate::ssa::analysis::{Definitions, uses_of, uses_of_term};
use crate::ssa::{Block, Func, Op, Term, Value};
use std::collections::HashSet;

/// Takes what earlier iterations leave away from variables without a value in front of the loop that would be
/// races by it; what is doubtful about them, nothing where there are none.
pub fn forget(func: &mut Func, found: &Found, names: &dyn Names) -> Vec<Doubt> {
    let Term::Jump(enter) = &func.block(found.pre).term else { return vec![] };
    let (inits, defs) = (enter.args.clone(), Definitions::new(func));
    let params: Vec<(usize, Value)> =
        func.block(found.header).params.iter().copied().enumerate().filter(|p| p.0 != found.state).collect();
    let plan = params.into_iter().find_map(|(at, param)| {
        let is_unbound = defs.inst(inits[at]).is_some_and(|i| func.inst(i).op == Op::Undef);
        if !is_unbound {
            return None;
        }
        let c = Classifier::of(func, found, names);
        if !c.is_race(param) {
            return None;
        }
        let (left, doubts) = variable(func, found, param)?;
        Some((at, left, doubts))
    });
    let Some((at, left, doubts)) = plan else { return vec![] };
    for b in inside(found) {
        func.each_edge_mut(b, &mut |edge, to| {
            for v in &mut to.args {
                if left.contains(v) {
                    *v = inits[at];
                }
            }
            if to.block == found.header {
                to.args[at - edge.skip()] = inits[at];
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

/// The names of what earlier iterations left, and the reads that may meet it; none where that is not all that
/// becomes of the variable.
fn variable(func: &Func, found: &Found, param: Value) -> Option<(HashSet<Value>, Vec<Doubt>)> {
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
            if !within || node.args.iter().any(|v| left.contains(v)) {
                return None;
            }
            reads.push((node.loc, format!("'{name}' may have been set by an earlier iteration alone; then this raises UnboundLocalError, since iterations run at the same time").into()));
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
    (!reads.is_empty()).then_some((left, reads))
}
