//! Says in the code what a branch found out about None: behind `x is not None` the variable `x` is a value of
//! its own that is not None, so its type there is that of the value. Behind `x is None` it is None. `if x:`
//! tells the same, `isinstance(x, int)` leaves of several types those that are instances, and `x is MISSING` tells a
//! mark from what stands elsewhere in its place.
//!
//! ```python
//! if best is None or value < best:     # `best` is a number right of `or`
//!     best = value                     # ... and is not None behind the `if`
//! ```
//!
//! Nothing is written where no later code reads the variable. Values are renamed along the dominator tree in
//! one walk.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what is found out is optional: a test that is not understood narrows nothing"
)]

use crate::ops::id;
use crate::ssa::analysis::{Analyses, Definitions, Dominators};
use crate::ssa::{Block, BlockCall, Func, Inst, InstNode, Narrow, Op, Term, Value};
use crate::types::Const;
use std::collections::HashMap;

/// What is known of a value; a class with it.
#[derive(Clone, Copy, PartialEq)]
struct Found {
    value: Value,
    what: Narrow,
    class: Option<Value>,
}

impl Found {
    fn none(value: Value, is: bool) -> Found {
        Found { value, what: if is { Narrow::IsNone } else { Narrow::NotNone }, class: None }
    }
}

pub(crate) fn run(func: &mut Func, analyses: &mut Analyses) {
    // Found out on edges into blocks that have no other way in, by block.
    let mut found: HashMap<Block, Vec<Found>> = HashMap::new();
    {
        let defs = Definitions::new(func);
        let mut tests: Vec<(Block, [Vec<Found>; 2])> = vec![];
        for b in (0..func.blocks.len()).map(Block::new) {
            let Term::Branch { cond, then_to, else_to } = &func.block(b).term else { continue };
            if then_to.block == else_to.block {
                continue;
            }
            let sides = [true, false].map(|side| {
                let mut out = vec![];
                decode(func, &defs, *cond, side, 0, &mut out);
                out
            });
            if sides.iter().any(|s| !s.is_empty()) {
                tests.push((b, sides));
            }
        }
        if tests.is_empty() {
            return;
        }
        let cfg = analyses.cfg(func);
        let mut moved = false;
        for (b, sides) in tests {
            if !cfg.is_reachable(b) {
                continue;
            }
            for (side, facts) in sides.into_iter().enumerate() {
                if facts.is_empty() {
                    continue;
                }
                let to = func.block(b).term.targets()[side].clone();
                if cfg.preds(to.block).len() == 1 {
                    found.entry(to.block).or_default().extend(facts);
                } else if facts.iter().any(|f| to.args.contains(&f.value)) {
                    // Other ways lead there too: what is passed on this one gets a block of its own.
                    let between = func.make_block();
                    let loc = func.block(b).term_loc;
                    let block = &mut func.blocks[between.index()];
                    (block.term, block.term_loc) = (Term::Jump(to), loc);
                    *func.blocks[b.index()].term.targets_mut()[side] =
                        BlockCall { block: between, args: vec![] };
                    found.insert(between, facts);
                    moved = true;
                }
            }
        }
        if moved {
            analyses.invalidate();
        }
    }
    if !found.is_empty() {
        rename(func, analyses.dominators(func), &found);
        analyses.invalidate();
    }
}

/// What is known where the truth of `cond` is `truth`.
fn decode(func: &Func, defs: &Definitions, cond: Value, truth: bool, depth: u32, out: &mut Vec<Found>) {
    let Some(node) = defs.inst(cond).map(|i| func.inst(i)).filter(|_| depth < 4) else { return };
    let is_none = |v: Value| defs.inst(v).is_some_and(|i| func.inst(i).op == Op::Const(Const::None));
    match (&node.op, &node.args[..]) {
        (Op::Table(id::TRUTH), [x]) => {
            decode(func, defs, *x, truth, depth + 1, out);
            // What is true is not None.
            if truth && !is_test(func, defs, *x) {
                out.push(Found::none(*x, false));
            }
        }
        (Op::Table(id::NOT), [x]) => {
            decode(func, defs, *x, !truth, depth + 1, out);
            if !truth && !is_test(func, defs, *x) {
                out.push(Found::none(*x, false));
            }
        }
        (Op::Table(path @ (id::IS | id::IS_NOT)), [a, b]) => {
            let value = if is_none(*b) {
                *a
            } else if is_none(*a) {
                *b
            } else {
                // It is a mark, perhaps, that stands where there is no value: the types tell.
                let what = if (*path == id::IS) == truth { Narrow::IsA } else { Narrow::NotA };
                let is_name = |v: Value| {
                    defs.inst(v).is_some_and(|i| matches!(func.inst(i).op, Op::Global(_) | Op::Free(_)))
                };
                match (is_name(*a), is_name(*b)) {
                    (false, true) => out.push(Found { value: *a, what, class: Some(*b) }),
                    (true, false) => out.push(Found { value: *b, what, class: Some(*a) }),
                    _ => {}
                }
                return;
            };
            let none = (*path == id::IS) == truth;
            out.push(Found::none(value, none));
            // A class pattern gives what it looks at, or None. Without patterns inside it fails for nothing
            // but the class.
            let pattern =
                defs.inst(value).map(|i| func.inst(i)).filter(|n| n.op == Op::Table(id::MATCH_CLASS));
            if let Some([x, class, names, count]) = pattern.map(|n| &n.args[..]) {
                let empty =
                    |v: Value, c: Const| defs.inst(v).is_some_and(|i| func.inst(i).op == Op::Const(c));
                let plain = empty(*names, Const::Tuple(vec![])) && empty(*count, Const::Int(0));
                if !none || plain {
                    out.push(Found {
                        value: *x,
                        what: if none { Narrow::NotA } else { Narrow::IsA },
                        class: Some(*class),
                    });
                }
            }
        }
        (Op::Call { keywords }, [callee, x, class]) if keywords.is_empty() => {
            if defs
                .inst(*callee)
                .is_some_and(|i| matches!(&func.inst(i).op, Op::Global(n) if &**n == "isinstance"))
            {
                out.push(Found {
                    value: *x,
                    what: if truth { Narrow::IsA } else { Narrow::NotA },
                    class: Some(*class),
                });
            }
        }
        _ => {}
    }
}

/// Whether a value is the answer of a test, which is never None.
fn is_test(func: &Func, defs: &Definitions, v: Value) -> bool {
    let Some(node) = defs.inst(v).map(|i| func.inst(i)) else { return false };
    match &node.op {
        Op::Table(path) => path.facts().never_none,
        Op::Member(_) | Op::Const(_) => true,
        _ => false,
    }
}

/// The names of a value at one place of the walk.
struct Name {
    block: Block,
    found: Found,
    value: Option<Value>,
}

/// Replaces reads of the values below the blocks where something was found out.
fn rename(func: &mut Func, doms: &Dominators, found: &HashMap<Block, Vec<Found>>) {
    let mut names: HashMap<Value, Vec<Name>> = HashMap::new();
    let mut made: Vec<(Block, Value, Value, Found)> = vec![];
    for b in doms.preorder() {
        // Names given in a part of the tree that the walk has left go first.
        let left = |n: &Name| !doms.dominates(n.block, *b);
        for f in found.get(b).into_iter().flatten() {
            let stack = names.entry(f.value).or_default();
            while stack.last().is_some_and(left) {
                stack.pop();
            }
            stack.push(Name { block: *b, found: *f, value: None });
        }
        let mut values = func.values;
        let mut read = |v: &mut Value| {
            let Some(stack) = names.get_mut(v) else { return };
            while stack.last().is_some_and(left) {
                stack.pop();
            }
            // What was found out further up holds too: each name is made from the one before.
            let mut at = stack.iter().rposition(|n| n.value.is_some()).map_or(0, |k| k + 1);
            let mut old = if at == 0 { *v } else { stack[at - 1].value.unwrap_or(*v) };
            while at < stack.len() {
                let name = &mut stack[at];
                made.push((name.block, old, Value(values), name.found));
                (old, name.value) = (Value(values), Some(Value(values)));
                values += 1;
                at += 1;
            }
            *v = old;
        };
        for i in func.blocks[b.index()].insts.clone() {
            let node = &mut func.insts[i.index()];
            node.args.iter_mut().for_each(&mut read);
            node.unwind.iter_mut().flat_map(|u| &mut u.args).for_each(&mut read);
        }
        let term = &mut func.blocks[b.index()].term;
        if let Some(v) = term.operand_mut() {
            read(v);
        }
        term.targets_mut().into_iter().flat_map(|t| &mut t.args).for_each(&mut read);
        func.values = values;
    }
    // Each goes before what stands at the start of its block; later ones need earlier ones.
    for (block, value, name, found) in made.into_iter().rev() {
        let loc = func.block(block).term_loc;
        func.insts.push(InstNode {
            op: Op::Narrow(found.what),
            args: [value].into_iter().chain(found.class).collect(),
            result: Some(name),
            loc,
            unwind: None,
        });
        let inst = Inst::new(func.insts.len() - 1);
        func.blocks[block.index()].insts.insert(0, inst);
    }
    super::cleanup::renumber(func);
}
