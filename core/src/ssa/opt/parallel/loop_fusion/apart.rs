//! What neighbouring loops do to arrays: whether each iteration of the one needs of the other at most what
//! its own iteration does.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what only computes is known by pattern: any other keeps loops apart"
)]

use super::super::find::{meaning, operation};
use super::super::places::{Class, Part, Places};
use super::super::{Meaning, Names};
use super::{Classifier, Found, Why};

use crate::ops::{describes, id};
use crate::ssa::analysis::{Definitions, Edge, uses_of_term};
use crate::ssa::{Block, Func, Inst, InstNode, Op, Term, Value};
use std::collections::BTreeSet;

/// Whether a call makes a new array, of nothing but its shape and one value.
pub(crate) fn makes(func: &Func, defs: &Definitions, names: &dyn Names, call: &InstNode) -> bool {
    matches!(call.op, Op::Call { .. })
        && operation(func, defs, names, call.args[0]).is_some_and(|op| op.facts().fills)
}

/// Whether a loop does nothing but compute and write to elements.
pub(crate) fn is_plain(func: &Func, defs: &Definitions, names: &dyn Names, f: &Found) -> Result<(), Why> {
    let line = |loc| func.span(loc).line;
    for b in f.blocks.iter().copied().chain([f.header]) {
        let mut leaves = false;
        func.each_edge(b, &mut |edge, to| leaves |= edge == Edge::Raises && !f.blocks.contains(&to.block));
        if leaves {
            return Err("an exception of the one would be handled before the other has run".into());
        }
        if let Term::Raise { .. } = func.block(b).term {
            return Err(format!("it raises exceptions (line {})", line(func.block(b).term_loc)).into());
        }
        for i in &func.block(b).insts {
            let node = func.inst(*i);
            let plain = match &node.op {
                Op::Const(_)
                | Op::Undef
                | Op::Global(_)
                | Op::Free(_)
                | Op::Member(_)
                | Op::Narrow(_)
                | Op::CheckBound { .. } => true,
                Op::Table(path) => path.facts().computes,
                Op::Attr(name) => reads(func, defs, names, node, name),
                Op::Call { keywords } => keywords.is_empty() && computes(func, defs, names, node),
                _ => false,
            };
            if !plain {
                return Err(format!(
                    "it does more than compute and write to elements (line {})",
                    line(node.loc)
                )
                .into());
            }
        }
    }
    Ok(())
}

/// An attribute that only says what an array is like, or one of a module.
fn reads(func: &Func, defs: &Definitions, names: &dyn Names, node: &InstNode, name: &str) -> bool {
    describes(name) || meaning(func, defs, names, node.args[0]) == Some(Meaning::Module)
}

fn computes(func: &Func, defs: &Definitions, names: &dyn Names, call: &InstNode) -> bool {
    match meaning(func, defs, names, call.args[0]) {
        Some(Meaning::Operation(op)) => op.computes_alone(call.args.len() - 1),
        Some(Meaning::Cast(_)) => true,
        Some(Meaning::Module) | None => false,
    }
}

/// Something that is done to elements: in which loop, of which array, where, whether it is written, in every
/// iteration.
struct Access {
    part: usize,
    of: Value,
    at: Vec<Part>,
    /** Which indices differ from iteration to iteration. */
    own: Vec<bool>,
    writes: bool,
    certain: bool,
    line: u32,
}

/// Whether what joined loops write to has no other name, and whether they meet there in the same iteration
/// alone; `parts` are the blocks of each loop.
pub(crate) fn check(c: &Classifier<'_>, names: &dyn Names, parts: &[BTreeSet<Block>]) -> Result<(), Why> {
    let all = accesses(c, parts)?;
    let mut written: Vec<Value> = all.iter().filter(|a| a.writes).map(|a| a.of).collect();
    written.sort();
    written.dedup();
    for x in &written {
        is_own(c, names, *x, all.iter().find(|a| a.of == *x && a.writes).map_or(0, |a| a.line))?;
    }
    // The same place in each iteration, and another one in all others.
    let own = |a: &Access, b: &Access| a.at.iter().zip(&b.at).zip(&a.own).any(|((p, q), own)| p == q && *own);
    for a in all.iter().filter(|a| a.writes) {
        for b in all.iter().filter(|b| b.of == a.of && b.part != a.part) {
            if !own(a, b) {
                let (first, second) = if a.part < b.part { (a, b) } else { (b, a) };
                return Err(format!(
                    "an iteration may need elements that other iterations use (lines {} and {})",
                    first.line, second.line
                )
                .into());
            }
        }
    }
    // The earlier ones may run again.
    for b in all.iter().filter(|b| !b.writes && b.part + 1 < parts.len() && written.contains(&b.of)) {
        let anew =
            all.iter().any(|a| a.writes && a.certain && a.of == b.of && a.part < b.part && a.at == b.at);
        if !anew {
            return Err(format!("the one before it changes elements that it reads (line {})", b.line).into());
        }
    }
    Ok(())
}

fn accesses(c: &Classifier<'_>, parts: &[BTreeSet<Block>]) -> Result<Vec<Access>, Why> {
    let (mut out, mut places) = (vec![], Places::new(c));
    for (part, blocks) in parts.iter().enumerate() {
        for b in blocks {
            for i in &c.func.block(*b).insts {
                let node = c.func.inst(*i);
                let Op::Table(path) = node.op else { continue };
                let line = c.func.span(node.loc).line;
                // `row += x` writes to the array that it is a row of; for numbers this says too much.
                let in_place = path.plain().is_some();
                let target = node.args.first().copied();
                let of_element = in_place && target.is_some_and(|v| !goes_back(c, node, v));
                if !matches!(path, id::GETITEM | id::SETITEM) && !of_element {
                    continue;
                }
                let Some((of, mut at)) = target.and_then(|v| places.root(v)) else {
                    if path == id::SETITEM {
                        return Err(format!(
                            "it writes to something that has no name of its own (line {line})"
                        )
                        .into());
                    }
                    if of_element && target.is_some_and(|v| may_be_part(c, &mut places, v, 0)) {
                        return Err(format!("it changes what may be a part of an array (line {line})").into());
                    }
                    continue;
                };
                if of_element && at.is_empty() {
                    return Err(format!("it changes an array as a whole (line {line})").into());
                }
                if !of_element {
                    at.extend(places.parts(node.args[1]));
                }
                let own = at.iter().map(|p| places.part_class(p) == Class::Distinct).collect();
                out.push(Access {
                    part,
                    of,
                    at,
                    own,
                    writes: path == id::SETITEM || of_element,
                    certain: c.is_certain(*b),
                    line,
                });
            }
        }
    }
    Ok(out)
}

/// Whether what an operation in place gives for an element is stored where that was: `a[i] += x`.
fn goes_back(c: &Classifier<'_>, node: &InstNode, element: Value) -> bool {
    let Some(read) = c.inst_of(c.original(element)) else { return false };
    if read.op != Op::Table(id::GETITEM) {
        return true;
    }
    node.result.and_then(|r| c.operands(r)).is_some_and(|u| {
        u.iter().any(|(i, k)| {
            let s: &InstNode = c.func.inst(*i);
            *k == 2
                && s.op == Op::Table(id::SETITEM)
                && s.args[0] == read.args[0]
                && s.args[1] == read.args[1]
        })
    })
}

/// Whether a value that comes by several ways may be a part of an object from outside.
fn may_be_part(c: &Classifier<'_>, places: &mut Places<'_>, v: Value, depth: u32) -> bool {
    let v = c.original(v);
    if depth > 8 {
        return true;
    }
    if c.definition(v).is_some() {
        return c.inst_of(v).is_some_and(|n| n.op == Op::Table(id::GETITEM)) && places.root(v).is_some();
    }
    if c.is_outside(v) || c.func.block(c.found.header).params.contains(&v) {
        return false;
    }
    c.passed_to(v).into_iter().any(|x| x != v && may_be_part(c, places, x, depth + 1))
}

/// Whether an array was made here and has no other name while the loops run.
fn is_own(c: &Classifier<'_>, names: &dyn Names, x: Value, line: u32) -> Result<(), Why> {
    let (func, defs) = (c.func, Definitions::new(c.func));
    let made = c.definition(x).is_some_and(|i| makes(func, &defs, names, func.inst(i)));
    if !made || !c.is_outside(x) {
        return Err(
            format!("the array that is written to in line {line} may share memory with others").into()
        );
    }
    // What runs behind the loops, or after an exception of theirs: the same loops again.
    let mut behind = c.reach_behind();
    let mut work: Vec<Block> = func.inst(c.found.next).unwind.iter().map(|u| u.block).collect();
    while let Some(b) = work.pop() {
        if behind.insert(b) {
            func.each_edge(b, &mut |_, to| work.push(to.block));
        }
    }
    let asks = |i: Inst, k: usize| {
        let n = func.inst(i);
        match &n.op {
            Op::Table(id::GETITEM | id::SETITEM) => k == 0,
            Op::Attr(name) => describes(name),
            Op::Call { .. } => {
                k == 1
                    && (makes(func, &defs, names, n)
                        || operation(func, &defs, names, n.args[0]) == Some(id::BUILTINS_LEN))
            }
            _ => false,
        }
    };
    for b in (0..func.blocks.len()).map(Block::new).filter(|b| !behind.contains(b)) {
        let inside = c.found.blocks.contains(&b);
        let mut other = false;
        for i in &func.block(b).insts {
            let n = func.inst(*i);
            for (k, a) in n.args.iter().enumerate() {
                other |= *a == x && !(asks(*i, k) && (inside || !matches!(n.op, Op::Table(id::GETITEM))));
            }
            other |= n.unwind.as_ref().is_some_and(|u| u.args.contains(&x));
        }
        // The loop's own way out may pass it on.
        if b != c.found.header {
            uses_of_term(&func.block(b).term, &mut |v| other |= v == x);
        }
        if other {
            return Err(format!("the array that is written to in line {line} has another name").into());
        }
    }
    Ok(())
}
