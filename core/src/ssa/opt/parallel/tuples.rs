//! Tuples that a loop over `prange` carries, as variables of their own for each member: `t = (t[0] + x, t[1]
//! + 1)` is two sums.

use super::find::Found;
use crate::ops::id;
use crate::ssa::analysis::{Definitions, Edge, uses_of, uses_of_term};
use crate::ssa::{Block, BlockCall, Func, Inst, Op, Term, Value};
use crate::types::Const;
use std::collections::{HashMap, HashSet};

/// What is known of a tuple that can be taken apart.
struct Plan {
    /** The names that it has where ways meet, that of the header first. */
    versions: Vec<Value>,
    count: usize,
    init: Value,
    /** Reads of a member. */
    reads: Vec<(Inst, Value, usize)>,
}

/// Takes apart tuples of which the loop makes new ones and reads members, and does nothing else with them.
/// Whether there was one.
pub(crate) fn split(func: &mut Func, found: &Found) -> bool {
    let params: Vec<Value> = func
        .block(found.header)
        .params
        .iter()
        .enumerate()
        .filter(|p| p.0 != found.state)
        .map(|p| *p.1)
        .collect();
    let Some(plan) = params.into_iter().find_map(|p| plan(func, found, p)) else { return false };
    apply(func, found, &plan);
    true
}

fn is_inside(found: &Found, b: Block) -> bool {
    b == found.header || found.blocks.contains(&b)
}

fn inside(found: &Found) -> Vec<Block> {
    let mut all: Vec<Block> = found.blocks.iter().copied().chain([found.header]).collect();
    all.sort();
    all
}

/// Each value that an edge within the loop passes to a parameter.
fn passed(func: &Func, found: &Found, f: &mut dyn FnMut(Value, Value)) {
    for b in inside(found) {
        func.each_edge(b, &mut |edge, to| {
            if is_inside(found, to.block) {
                for (p, v) in func.block(to.block).params.iter().skip(edge.skip()).zip(&to.args) {
                    f(*p, *v);
                }
            }
        });
    }
}

fn plan(func: &Func, found: &Found, param: Value) -> Option<Plan> {
    let defs = Definitions::new(func);
    let mut versions = vec![param];
    loop {
        let before = versions.len();
        passed(func, found, &mut |p, v| {
            if versions.contains(&v) && !versions.contains(&p) {
                versions.push(p);
            }
        });
        if versions.len() == before {
            break;
        }
    }
    let made = |v: Value| match defs.inst(v).map(|i| func.inst(i)) {
        Some(n) if n.op == Op::Table(id::TUPLE_BUILD) => Some(n.args.len()),
        Some(_) | None => None,
    };
    let mut counts = vec![];
    passed(func, found, &mut |p, v| {
        if versions.contains(&p) && !versions.contains(&v) {
            counts.push(made(v));
        }
    });
    let count = (*counts.first()?)?;
    if count == 0 || counts.iter().any(|c| *c != Some(count)) {
        return None;
    }
    let Term::Jump(enter) = &func.block(found.pre).term else { return None };
    let init = enter.args[func.block(found.header).params.iter().position(|p| *p == param)?];
    let begins = match defs.inst(init).map(|i| &func.inst(i).op) {
        Some(Op::Const(Const::Tuple(m))) => m.len() == count,
        Some(Op::Table(id::TUPLE_BUILD)) => made(init) == Some(count),
        Some(_) | None => false,
    };
    if !begins {
        return None;
    }
    let mut reads = vec![];
    for b in inside(found) {
        for i in &func.block(b).insts {
            let node = func.inst(*i);
            if !node.args.iter().any(|a| versions.contains(a)) {
                continue;
            }
            let member = node.args.get(1).and_then(|k| defs.inst(*k)).and_then(|k| {
                if let Op::Const(Const::Int(k)) = func.inst(k).op {
                    Some(if k < 0 { k + count as i64 } else { k })
                } else {
                    None
                }
            });
            let k = member.and_then(|k| usize::try_from(k).ok()).filter(|k| {
                *k < count && node.op == Op::Table(id::GETITEM) && !versions.contains(&node.args[1])
            })?;
            reads.push((*i, node.args[0], k));
        }
        if func.block(b).term.operand().is_some_and(|v| versions.contains(&v)) {
            return None;
        }
    }
    (!reads_behind_handlers(func, found, &versions)).then_some(Plan { versions, count, init, reads })
}

/// Whether what an exception of the loop leads to reads the tuple without being passed it.
fn reads_behind_handlers(func: &Func, found: &Found, versions: &[Value]) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![]);
    for b in inside(found) {
        func.each_edge(b, &mut |edge, to| {
            if edge == Edge::Raises && !is_inside(found, to.block) {
                work.push(to.block);
            }
        });
    }
    while let Some(b) = work.pop() {
        if is_inside(found, b) || !seen.insert(b) {
            continue;
        }
        func.each_edge(b, &mut |_, to| work.push(to.block));
    }
    let mut reads = false;
    for b in seen {
        for i in &func.block(b).insts {
            uses_of(func.inst(*i), &mut |v| reads |= versions.contains(&v));
        }
        uses_of_term(&func.block(b).term, &mut |v| reads |= versions.contains(&v));
    }
    reads
}

fn apply(func: &mut Func, found: &Found, plan: &Plan) {
    let members: HashMap<Value, Vec<Value>> =
        plan.versions.iter().map(|v| (*v, (0..plan.count).map(|_| func.make_value()).collect())).collect();
    let init = members_of_init(func, found, plan);
    let whole = behind(func, found, plan, &members[&plan.versions[0]]);
    let defs = Definitions::new(func);
    let parts = |func: &Func, v: Value| {
        members
            .get(&v)
            .cloned()
            .or_else(|| defs.inst(v).map(|i| func.inst(i).args.clone()))
            .unwrap_or_default()
    };
    // Edges, while the parameters are the old ones.
    let blocks: Vec<Block> = (0..func.blocks.len()).map(Block::new).collect();
    let old: Vec<Vec<Value>> = func.blocks.iter().map(|b| b.params.clone()).collect();
    for b in blocks.iter().copied() {
        let mut edges = vec![];
        func.each_edge(b, &mut |edge, to| {
            let params = old[to.block.index()].iter().skip(edge.skip());
            let mut args = vec![];
            for (p, v) in params.zip(&to.args) {
                if !members.contains_key(p) {
                    // A handler around the loop finds what was there before it.
                    args.push(if edge == Edge::Raises && members.contains_key(v) { plan.init } else { *v });
                } else if b == found.pre {
                    args.extend(&init);
                } else {
                    args.extend(parts(func, *v));
                }
            }
            edges.push(args);
        });
        let mut edges = edges.into_iter();
        func.each_edge_mut(b, &mut |_, to| {
            if let Some(args) = edges.next() {
                to.args = args;
            }
        });
    }
    for b in &mut func.blocks {
        b.params =
            b.params.iter().flat_map(|p| members.get(p).cloned().unwrap_or_else(|| vec![*p])).collect();
    }
    // Reads.
    let renamed: HashMap<Value, Value> =
        plan.reads.iter().filter_map(|(i, v, k)| func.inst(*i).result.map(|r| (r, members[v][*k]))).collect();
    let gone: HashSet<Inst> = plan.reads.iter().map(|r| r.0).collect();
    let top = plan.versions[0];
    for b in blocks {
        let outside = !is_inside(found, b);
        let new = |v: &mut Value| {
            if let Some(n) = renamed.get(v) {
                *v = *n
            } else if outside && *v == top {
                *v = whole
            }
        };
        func.blocks[b.index()].insts.retain(|i| !gone.contains(i));
        for i in func.blocks[b.index()].insts.clone() {
            let node = &mut func.insts[i.index()];
            node.args.iter_mut().chain(node.unwind.iter_mut().flat_map(|u| &mut u.args)).for_each(new);
        }
        let term = &mut func.blocks[b.index()].term;
        if let Some(v) = term.operand_mut() {
            new(v);
        }
        for to in term.targets_mut() {
            to.args.iter_mut().for_each(new);
        }
        if let Term::Raise { unwind: Some(u), .. } = term {
            u.args.iter_mut().for_each(new);
        }
    }
}

fn members_of_init(func: &mut Func, found: &Found, plan: &Plan) -> Vec<Value> {
    let node =
        func.insts.iter().find(|n| n.result == Some(plan.init)).map(|n| (n.op.clone(), n.args.clone()));
    match node {
        Some((Op::Const(Const::Tuple(m)), _)) => {
            m.iter().map(|c| func.push(found.pre, Op::Const(c.clone()), vec![], found.loc, None)).collect()
        }
        Some((_, args)) => args,
        None => vec![],
    }
}

/// Makes the tuple anew on the way out of the loop.
fn behind(func: &mut Func, found: &Found, plan: &Plan, members: &[Value]) -> Value {
    let block = func.make_block();
    let whole = func.push(block, Op::Table(id::TUPLE_BUILD), members.to_vec(), found.loc, None);
    let top = plan.versions[0];
    if let Term::Branch { else_to, .. } = &mut func.blocks[found.header.index()].term {
        let mut exit = std::mem::replace(else_to, BlockCall { block, args: vec![] });
        for a in &mut exit.args {
            if *a == top {
                *a = whole;
            }
        }
        (func.blocks[block.index()].term, func.blocks[block.index()].term_loc) =
            (Term::Jump(exit), found.loc);
    }
    whole
}
