//! Loops over `prange` that follow each other become one where each iteration of the later ones needs at most
//! what the same iteration of earlier ones has written (the `fusion` part).
//!
//! ```python
//! for i in prange(n): c[i] = a[i] * 2      # for i in prange(n): c[i] = a[i] * 2; d[i] = c[i] + b[i]
//! for i in prange(n): d[i] = c[i] + b[i]
//! ```
//!
//! What they write to was made in this function and has no other name ([`apart`]), so nothing else is read or
//! written through it, and nobody sees it after an exception. Which exception is raised is made sure of by
//! [`rerun`]: one of the first loop comes before all of the second one.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what may move in front of a loop is known by pattern: any other keeps loops apart"
)]

mod apart;
mod rerun;

use super::carried_variables;
use super::classifier::Classifier;
use super::find::{self, Found, meaning, operation};
use super::{Meaning, Names, cleanup};
use crate::ops::{OpId, describes, id};
use crate::ssa::analysis::{Analyses, Cfg, Definitions, Edge, uses_of, uses_of_term};
use crate::ssa::loops::LoopNote;
use crate::ssa::{Block, BlockCall, Func, Inst, InstNode, Loc, Op, Parts, Term, Value};
use crate::types::Const;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Why two loops stay apart.
type Why = Arc<str>;

/// Joins neighbouring loops; whether there were any.
pub(crate) fn fuse(func: &mut Func, names: &dyn Names) -> bool {
    if !func.parallel.has(Parts::FUSION) {
        return false;
    }
    if func.insts.iter().filter(|n| n.op == Op::Table(id::ITER_NEXT)).count() < 2 {
        return false;
    }
    let Some(loops) = loops(func, names) else { return false };
    let cfg = Cfg::new(func);
    let follows = |a: &Found, b: &Found| {
        a.exit.block == b.pre && a.exit.args.is_empty() && cfg.preds(b.pre) == [a.header]
    };
    let next: Vec<Option<usize>> = loops.iter().map(|a| loops.iter().position(|b| follows(a, b))).collect();
    let (mut notes, mut changed) = (vec![], false);
    for first in (0..loops.len()).filter(|k| !next.contains(&Some(*k))) {
        let row: Vec<&Found> = std::iter::successors(Some(first), |k| next[*k]).map(|k| &loops[k]).collect();
        let mut from = 0;
        while from + 1 < row.len() {
            let (mut to, mut best) = (from + 1, None);
            while to < row.len() {
                match try_join(func, names, &row[from..=to]) {
                    Ok(new) => best = Some(new),
                    Err(why) => {
                        notes.push(note(row[to].loc, None, Some((row[to - 1].loc, why))));
                        break;
                    }
                }
                to += 1;
            }
            if let Some(new) = best {
                *func = new;
                changed = true;
                for l in &row[from + 1..to] {
                    notes.push(note(l.loc, Some(row[from].loc), None));
                }
            }
            from = to;
        }
    }
    if changed {
        cleanup::run(func, &mut Analyses::default());
    }
    func.loops.extend(notes);
    changed
}

fn note(loc: Loc, into: Option<Loc>, apart: Option<(Loc, Why)>) -> LoopNote {
    LoopNote { into, apart, ..LoopNote::at(loc) }
}

/// All loops over `prange` that are not inside of one, in their order; none where one of them is refused.
fn loops(func: &Func, names: &dyn Names) -> Option<Vec<Found>> {
    let (mut all, mut seen): (Vec<Found>, Vec<Loc>) = (vec![], vec![]);
    loop {
        match find::find(func, names, &seen).ok()? {
            find::Look::Nothing => return Some(all),
            find::Look::Refused(loc, _) => seen.push(loc),
            find::Look::Found(f) => {
                seen.push(f.loc);
                if !f.careful && !all.iter().any(|o| o.blocks.contains(&f.header)) {
                    all.push(*f);
                }
            }
        }
    }
}

/// The function with loops that follow each other as one; what keeps the last of them apart.
fn try_join(func: &Func, names: &dyn Names, row: &[&Found]) -> Result<Func, Why> {
    let defs = Definitions::new(func);
    let last = row[row.len() - 1];
    let args = |f: &Found| defs.inst(f.range).map_or(vec![], |i| func.inst(i).args[1..].to_vec());
    let (first, other) = (args(row[0]), args(last));
    if first.len() != other.len()
        || !first.iter().zip(&other).all(|(a, b)| Sizes { func, defs: &defs, names }.equal(*a, *b))
    {
        return Err("its range is another one, or one that is not known to be the same".into());
    }
    for f in &row[..row.len() - 1] {
        uses_results(func, f, last)?;
    }
    between(func, &defs, names, last)?;
    for f in row {
        apart::is_plain(func, &defs, names, f)?;
    }
    let mut new = func.clone();
    let handler = rerun::write(&mut new, &row[..row.len() - 1]);
    let parts: Vec<BTreeSet<Block>> = row.iter().map(|f| f.blocks.clone()).collect();
    let mut merged = row[0].clone();
    for f in &row[1..] {
        absorb(&mut new, &mut merged, f)?;
    }
    new.insts[merged.next.index()].unwind = Some(BlockCall { block: handler, args: vec![] });
    let c = Classifier::of(&new, &merged, names);
    apart::check(&c, names, &parts)?;
    drop(c);
    let shared = carried_variables::classify(&new, &merged, names)
        .map_err(|d| -> Why { format!("together they would be a race: {}", d.message).into() })?;
    if !shared.doubts.is_empty()
        || !shared.privatised.is_empty()
        || !shared.lists.is_empty()
        || !shared.speculative.is_empty()
    {
        return Err("elements, lists or decisions that iterations share are kept to one loop".into());
    }
    Ok(new)
}

/// Refuses a loop that reads what an earlier one leaves in a variable, on the way to it too.
fn uses_results(func: &Func, earlier: &Found, f: &Found) -> Result<(), Why> {
    let results: Vec<Value> = func.block(earlier.header).params.clone();
    let mut found = None;
    for b in f.blocks.iter().copied().chain([f.pre, f.header]) {
        for i in &func.block(b).insts {
            uses_of(func.inst(*i), &mut |v| {
                if results.contains(&v) {
                    found = Some(func.inst(*i).loc);
                }
            });
        }
        // The way out of the loop may pass on anything.
        if b == f.header {
            continue;
        }
        uses_of_term(&func.block(b).term, &mut |v| {
            if results.contains(&v) {
                found = Some(func.block(b).term_loc);
            }
        });
    }
    match found {
        Some(loc) => {
            Err(format!("it needs a variable that the loop before leaves (line {})", func.span(loc).line)
                .into())
        }
        None => Ok(()),
    }
}

/// Refuses code between two loops that cannot move in front of the first one.
fn between(func: &Func, defs: &Definitions, names: &dyn Names, f: &Found) -> Result<(), Why> {
    let sizes = Sizes { func, defs, names };
    let stop = match defs.inst(f.range).map(|i| &func.inst(i).args[1..]) {
        Some([stop]) => Some(*stop),
        Some(_) | None => None,
    };
    for i in &func.block(f.pre).insts {
        let node = func.inst(*i);
        let moves = node.unwind.is_none()
            && match &node.op {
                Op::Const(_) | Op::Global(_) | Op::Free(_) | Op::Undef => true,
                Op::Table(id::TUPLE_BUILD | id::BUILTINS_ITER) => true,
                Op::Attr(name) => {
                    describes(name) || meaning(func, defs, names, node.args[0]) == Some(Meaning::Module)
                }
                Op::Table(id::GETITEM) => sizes.is_size(node.args[0]) && sizes.is_size(node.args[1]),
                Op::Call { keywords } => {
                    node.result.is_some_and(|r| r == f.range)
                        || keywords.is_empty() && sizes.is_len(node)
                        || apart::makes(func, defs, names, node)
                            && node.args[1..]
                                .iter()
                                .take(1)
                                .all(|a| sizes.is_length(*a, stop) || sizes.like(node))
                }
                _ => false,
            };
        if !moves {
            return Err(format!(
                "between the two stands code that does more than make arrays (line {})",
                func.span(node.loc).line
            )
            .into());
        }
    }
    Ok(())
}

/// Lengths and shapes, and which are the same.
struct Sizes<'a> {
    func: &'a Func,
    defs: &'a Definitions,
    names: &'a dyn Names,
}

#[derive(PartialEq)]
enum Size {
    Is(Value),
    Number(i64),
    Length(Value),
}

impl Sizes<'_> {
    fn node(&self, v: Value) -> Option<&InstNode> {
        self.defs.inst(v).map(|i| self.func.inst(i))
    }
    fn operation(&self, call: &InstNode) -> Option<OpId> {
        operation(self.func, self.defs, self.names, *call.args.first()?)
    }
    fn is_len(&self, node: &InstNode) -> bool {
        matches!(node.op, Op::Call { .. })
            && node.args.len() == 2
            && self.operation(node) == Some(id::BUILTINS_LEN)
    }
    /// Whether an array is made that is like another one.
    fn like(&self, node: &InstNode) -> bool {
        self.operation(node).is_some_and(|op| op.facts().like)
    }

    /// A length, a shape, a number, or what comes from outside of the loops.
    fn is_size(&self, v: Value) -> bool {
        match self.node(v) {
            None => true,
            Some(n) => match &n.op {
                Op::Const(_) => true,
                Op::Attr(name) => describes(name),
                Op::Table(id::TUPLE_BUILD) => n.args.iter().all(|a| self.is_size(*a)),
                Op::Table(id::GETITEM) => n.args.iter().all(|a| self.is_size(*a)),
                Op::Call { .. } => self.is_len(n),
                _ => false,
            },
        }
    }

    /// A shape that no array is refused for; where the only number of the range is negative, there are no
    /// iterations that come first.
    fn is_length(&self, v: Value, stop: Option<Value>) -> bool {
        match self.node(v) {
            Some(n) if n.op == Op::Table(id::TUPLE_BUILD) => n.args.iter().all(|a| self.is_length(*a, stop)),
            Some(n) if matches!(&n.op, Op::Attr(name) if &**name == "shape") => true,
            Some(_) | None => match self.size(v, 0) {
                Size::Length(_) => true,
                Size::Number(k) => k >= 0,
                Size::Is(v) => stop.is_some_and(|s| self.equal(s, v)),
            },
        }
    }

    fn equal(&self, a: Value, b: Value) -> bool {
        self.size(a, 0) == self.size(b, 0)
    }

    fn size(&self, v: Value, depth: u32) -> Size {
        let Some(n) = self.node(v).filter(|_| depth < 8) else { return Size::Is(v) };
        let number = |v: Value| match self.node(v).map(|n| &n.op) {
            Some(Op::Const(Const::Int(k))) => Some(*k),
            Some(_) | None => None,
        };
        match &n.op {
            Op::Const(Const::Int(k)) => Size::Number(*k),
            Op::Call { .. } if self.is_len(n) => self.length(n.args[1], depth + 1),
            Op::Table(id::GETITEM) if number(n.args[1]) == Some(0) => match self.node(n.args[0]) {
                Some(s) if matches!(&s.op, Op::Attr(name) if &**name == "shape") => {
                    self.length(s.args[0], depth + 1)
                }
                Some(_) | None => Size::Is(v),
            },
            _ => Size::Is(v),
        }
    }

    /// The length of an array, by what it was made from.
    fn length(&self, of: Value, depth: u32) -> Size {
        let Some(n) = self.node(of).filter(|n| {
            depth < 8 && matches!(&n.op, Op::Call { keywords } if keywords.is_empty()) && n.args.len() > 1
        }) else {
            return Size::Length(of);
        };
        match self.operation(n).map(OpId::facts) {
            Some(made) if made.like => self.length(n.args[1], depth + 1),
            Some(made) if made.fills => match self.node(n.args[1]) {
                Some(t) if t.op == Op::Table(id::TUPLE_BUILD) => {
                    t.args.first().map_or(Size::Length(of), |a| self.size(*a, depth + 1))
                }
                Some(s) if matches!(&s.op, Op::Attr(name) if &**name == "shape") => {
                    self.length(s.args[0], depth + 1)
                }
                Some(_) | None => self.size(n.args[1], depth + 1),
            },
            Some(_) | None => Size::Length(of),
        }
    }
}

/// Makes the iterations of `f` the second half of those of `merged`.
fn absorb(func: &mut Func, merged: &mut Found, f: &Found) -> Result<(), Why> {
    let unusual = || -> Why { "its control flow is unusual".into() };
    let (Term::Jump(enter), Term::Branch { then_to, else_to, .. }) =
        (func.block(f.pre).term.clone(), func.block(f.header).term.clone())
    else {
        return Err(unusual());
    };
    let (Some(first), Some(second)) = (func.inst(merged.next).result, func.inst(f.next).result) else {
        return Err(unusual());
    };
    // What goes back to the first loop's header goes on to the second one's first block; where ways bring
    // different values they meet in a block of their own.
    let mut backs: Vec<Vec<Value>> = vec![];
    for b in &merged.blocks {
        func.each_edge(*b, &mut |edge, to| {
            if edge == Edge::Jumps && to.block == merged.header {
                backs.push(to.args.clone());
            }
        });
    }
    let Some(one) = backs.first().cloned() else { return Err(unusual()) };
    if backs.iter().any(|a| a[merged.state] != one[merged.state]) {
        return Err(unusual());
    }
    let same = |k: usize| backs.iter().all(|a| a[k] == one[k]);
    let middle = func.make_block();
    let carried: Vec<Value> =
        (0..one.len()).map(|k| if same(k) { one[k] } else { func.add_param(middle) }).collect();
    let differ: Vec<usize> = (0..one.len()).filter(|k| !same(*k)).collect();
    for b in &merged.blocks {
        func.each_edge_mut(*b, &mut |edge, to| {
            if edge == Edge::Jumps && to.block == merged.header {
                *to = BlockCall { block: middle, args: differ.iter().map(|k| to.args[*k]).collect() };
            }
        });
    }
    (func.blocks[middle.index()].term, func.blocks[middle.index()].term_loc) = (Term::Jump(then_to), f.loc);
    // The second one's variables are carried beside the first one's.
    let without = |args: &[Value]| {
        args.iter().enumerate().filter(|p| p.0 != f.state).map(|p| *p.1).collect::<Vec<Value>>()
    };
    let more = without(&func.block(f.header).params);
    func.blocks[merged.header.index()].params.extend(&more);
    for b in &f.blocks {
        func.each_edge_mut(*b, &mut |edge, to| {
            if edge == Edge::Jumps && to.block == f.header {
                *to = BlockCall {
                    block: merged.header,
                    args: carried.iter().copied().chain(without(&to.args)).collect(),
                };
            }
        });
        for i in func.blocks[b.index()].insts.clone() {
            for a in &mut func.insts[i.index()].args {
                if *a == second {
                    *a = first;
                }
            }
        }
    }
    // What stands between them moves in front of both.
    let moved: Vec<Inst> = func.block(f.pre).insts.iter().copied().filter(|i| *i != f.iter).collect();
    let pre = &mut func.blocks[merged.pre.index()];
    pre.insts.extend(moved);
    if let Term::Jump(to) = &mut pre.term {
        to.args.extend(without(&enter.args));
    }
    if let Term::Branch { else_to: out, .. } = &mut func.blocks[merged.header.index()].term {
        *out = else_to.clone();
    }
    for b in [f.pre, f.header] {
        let block = &mut func.blocks[b.index()];
        (block.params, block.insts, block.term) = (vec![], vec![], Term::Unreachable);
    }
    merged.blocks.extend(f.blocks.iter().copied().chain([middle]));
    merged.exit = else_to;
    Ok(())
}
