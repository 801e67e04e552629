//! Comprehensions whose list becomes an array fill the array: `np.array([f(x) for x in a])` makes no list
//! where `a` is an array or a range and `f(x)` a number.
//!
//! Both is known when types are, so the loop stands twice, and one of the two is never reached:
//!
//! ```python
//! if has_places(a, np.array) and element(probe) is not None:     # constants to inference
//!     out = room(element(probe), indices(a))
//!     for k in indices(a): out[k] = f(a[k])                      # in parallel functions a loop over `prange`, if it does nothing but compute
//! else:
//!     xs = []; for x in a: xs.append(f(x)); out = np.array(xs)
//! ```
//!
//! The probe is a function of the loop's body that nobody calls: what it gives says what the elements are.
//!
//! Where `f(x)` is such a comprehension itself, its elements go to the array as well ([`nested`]).

mod nested;

use super::comprehension::{INDICES, Inside, collects, insert_before, replace_element};
use super::find::{Found, Over, is_plain, over};
use super::outline;
use crate::ops::id;
use crate::ssa::analysis::{Analyses, Cfg, Definitions, Dominators, Edge, Loop, Loops};
use crate::ssa::{Block, BlockCall, Func, Inst, InstNode, Loc, Op, Term, Value};
use crate::types::Const;
use nested::Inner;
use std::collections::{BTreeSet, HashMap};

/// Instructions of a loop that may stand twice, and of a function that may grow by that.
const SMALL: usize = 400;
const BUDGET: usize = 4000;

/// A comprehension that may fill its array.
struct Comprehension {
    found: Found,
    /// Those that make its elements, outermost first.
    inner: Vec<Inner>,
    /// The block that the loop is left to, with the call that makes the array at `call`, behind constants and
    /// globals alone.
    exit: Block,
    call: usize,
    list: Value,
    /// Of the innermost one.
    append: Inst,
    /// What gives the elements.
    source: Value,
}

/// What is known of the blocks of a function.
#[derive(Clone, Copy)]
struct Places<'a> {
    cfg: &'a Cfg,
    doms: &'a Dominators,
    defs: &'a Definitions,
    loops: &'a [Loop],
}

/// Writes the second loop where there may be one; whether there was any.
pub(crate) fn run(func: &mut Func, analyses: &mut Analyses) -> bool {
    if func.is_generator || !func.insts.iter().any(|n| n.op == Op::Table(id::LIST_APPEND)) {
        return false;
    }
    let (mut seen, mut changed): (Vec<Loc>, _) = (vec![], false);
    while func.insts.len() < BUDGET {
        let Some(c) = find(func, analyses, &mut seen) else { break };
        // What is refused here stays what it was.
        let mut new = func.clone();
        if write(&mut new, &c).is_some() {
            super::super::cleanup::run(&mut new, &mut Analyses::default());
            *func = new;
            analyses.invalidate();
            changed = true;
        }
    }
    changed
}

/// Where loops that fill arrays stand.
pub(crate) fn all(func: &Func) -> Vec<Loc> {
    places(func, |_| true)
}

/// Those whose iterations may not depend on each other: they fill their array alone.
pub(crate) fn alone(func: &Func) -> Vec<Loc> {
    places(func, |header| func.block(header).params.len() == 1)
}

fn places(func: &Func, wanted: impl Fn(Block) -> bool) -> Vec<Loc> {
    let (cfg, defs) = (Cfg::new(func), Definitions::new(func));
    let doms = Dominators::new(func, &cfg);
    let is_one = |o: &Over| {
        defs.inst(func.inst(o.iter).args[0]).is_some_and(|i| func.inst(i).op == Op::Table(INDICES))
    };
    Loops::new(func, &cfg, &doms)
        .all
        .iter()
        .filter(|l| wanted(l.header))
        .filter_map(|l| over(func, &cfg, &defs, l, &[]))
        .filter(is_one)
        .map(|o| o.loc)
        .collect()
}

fn find(func: &Func, analyses: &Analyses, seen: &mut Vec<Loc>) -> Option<Comprehension> {
    let defs = Definitions::new(func);
    let loops = &analyses.loops(func).all;
    let at = Places { cfg: analyses.cfg(func), doms: analyses.dominators(func), defs: &defs, loops };
    loops.iter().find_map(|l| of_loop(func, at, l, seen))
}

/// A loop that is left in one way alone, and the block that it is left to.
fn plain_loop(func: &Func, at: Places<'_>, l: &Loop) -> Option<(Found, Block)> {
    let Over { next, loc, pre, iter, state } = over(func, at.cfg, at.defs, l, &[])?;
    if func.block(l.header).params.len() != 1 || !func.block(pre).insts.contains(&iter) {
        return None;
    }
    let Term::Branch { then_to, else_to, .. } = &func.block(l.header).term else { return None };
    let (entry, exit) = (then_to.block, else_to.block);
    if !then_to.args.is_empty()
        || at.cfg.preds(entry).len() != 1
        || !func.block(exit).params.is_empty()
        || at.cfg.preds(exit) != [l.header]
    {
        return None;
    }
    let blocks = at.cfg.rpo().iter().copied().filter(|b| at.doms.dominates(entry, *b)).collect();
    let range = func.inst(iter).args[0];
    let exit_to = else_to.clone();
    let found = Found {
        header: l.header,
        pre,
        iter,
        range,
        step: None,
        next,
        state,
        exit: exit_to,
        blocks,
        loc,
        careful: true,
    };
    (is_plain(func, at.defs, &found) && !leaves(func, &found)).then_some((found, exit))
}

/// Whether each iteration comes to that instruction once.
fn each_once(func: &Func, at: Places<'_>, f: &Found, inst: Inst) -> Option<bool> {
    let block = f.blocks.iter().copied().find(|b| func.block(*b).insts.contains(&inst))?;
    let each = at.cfg.preds(f.header).iter().all(|p| !f.blocks.contains(p) || at.doms.dominates(block, *p));
    let again = at
        .loops
        .iter()
        .any(|o| o.header != f.header && f.blocks.contains(&o.header) && o.blocks.contains(&block));
    Some(each && !again)
}

fn of_loop(func: &Func, at: Places<'_>, l: &Loop, seen: &mut Vec<Loc>) -> Option<Comprehension> {
    let (found, exit) = plain_loop(func, at, l)?;
    let (list, append, call) = collects(func, at.defs, &l.blocks, Inside::Several)?;
    let loc = func.inst(call).loc;
    if seen.contains(&loc) {
        return None;
    }
    seen.push(loc);
    let place = func.block(exit).insts.iter().position(|i| *i == call)?;
    let before = func.block(exit).insts[..place]
        .iter()
        .all(|i| matches!(func.inst(*i).op, Op::Const(_) | Op::Global(_) | Op::Attr(_)));
    let node = func.inst(call);
    let asks = matches!(&node.op, Op::Call { keywords } if node.args.len() <= 3 && keywords.iter().all(|k| &**k == "dtype"));
    let size: usize = found.blocks.iter().map(|b| func.block(*b).insts.len()).sum();
    if !each_once(func, at, &found, append)? || !before || !asks || node.result.is_none() || size > SMALL {
        return None;
    }
    let mut inner = vec![];
    let append = nested::find(func, at, &found, append, &mut inner)?;
    Some(Comprehension { source: found.range, found, inner, exit, call: place, list, append })
}

/// Whether an iteration may end in another way than by the next one or by an exception.
fn leaves(func: &Func, f: &Found) -> bool {
    f.blocks.iter().any(|b| {
        let mut out = matches!(func.block(*b).term, Term::Return(_))
            || func.block(*b).insts.iter().any(|i| func.inst(*i).op == Op::Yield);
        func.each_edge(*b, &mut |edge, to| {
            out |= edge == Edge::Jumps
                && to.block != f.header
                && !f.blocks.contains(&to.block)
                && !matches!(func.block(*b).term, Term::Raise { .. })
        });
        out
    })
}

/// A loop once more: what its blocks, instructions and values are there.
#[derive(Default)]
struct Twin {
    blocks: HashMap<Block, Block>,
    insts: HashMap<Inst, Inst>,
    values: HashMap<Value, Value>,
}

impl Twin {
    fn of(func: &mut Func, found: &Found) -> Twin {
        let mut t = Twin::default();
        let inside: Vec<Block> = [found.header].into_iter().chain(found.blocks.iter().copied()).collect();
        for b in &inside {
            let new = func.make_block();
            t.blocks.insert(*b, new);
            for p in func.block(*b).params.clone() {
                let v = func.add_param(new);
                t.values.insert(p, v);
            }
            for i in func.block(*b).insts.clone() {
                if let Some(r) = func.inst(i).result {
                    let v = func.make_value();
                    t.values.insert(r, v);
                }
            }
        }
        for b in &inside {
            let data = func.block(*b).clone();
            let new = t.blocks[b];
            for i in &data.insts {
                let node = func.inst(*i);
                let copy = InstNode {
                    op: node.op.clone(),
                    args: t.all(&node.args),
                    result: node.result.map(|r| t.value(r)),
                    loc: node.loc,
                    unwind: node.unwind.as_ref().map(|u| t.edge(u)),
                };
                func.insts.push(copy);
                let inst = Inst::new(func.insts.len() - 1);
                t.insts.insert(*i, inst);
                func.blocks[new.index()].insts.push(inst);
            }
            let term = match &data.term {
                Term::Jump(to) => Term::Jump(t.edge(to)),
                Term::Branch { cond, then_to, else_to } => {
                    Term::Branch { cond: t.value(*cond), then_to: t.edge(then_to), else_to: t.edge(else_to) }
                }
                Term::Raise { exc, unwind } => {
                    Term::Raise { exc: t.value(*exc), unwind: unwind.as_ref().map(|u| t.edge(u)) }
                }
                Term::Return(v) => Term::Return(t.value(*v)),
                Term::Unreachable => Term::Unreachable,
                Term::None => Term::None,
            };
            let block = &mut func.blocks[new.index()];
            (block.term, block.term_loc) = (term, data.term_loc);
        }
        t
    }
    fn value(&self, v: Value) -> Value {
        self.values.get(&v).copied().unwrap_or(v)
    }
    fn all(&self, vs: &[Value]) -> Vec<Value> {
        vs.iter().map(|v| self.value(*v)).collect()
    }
    fn edge(&self, to: &BlockCall) -> BlockCall {
        BlockCall { block: self.blocks.get(&to.block).copied().unwrap_or(to.block), args: self.all(&to.args) }
    }
}

fn write(func: &mut Func, c: &Comprehension) -> Option<()> {
    let f = &c.found;
    let twin = Twin::of(func, f);
    let call = func.inst(func.block(c.exit).insts[c.call]).clone();
    let handler = func.inst(f.iter).unwind.clone();
    // The loop itself begins in a block of its own now.
    let [typed, fast, slow] = [(); 3].map(|()| func.make_block());
    let made = func.block(f.pre).insts.iter().copied().find(|i| func.inst(*i).result == Some(c.list));
    let own: Vec<Inst> = made.into_iter().chain([f.iter]).collect();
    func.blocks[f.pre.index()].insts.retain(|i| !own.contains(i));
    func.blocks[slow.index()].insts.extend(own);
    let (term, loc) = (func.block(f.pre).term.clone(), func.block(f.pre).term_loc);
    for b in [typed, fast, slow] {
        func.blocks[b.index()].term_loc = loc;
    }
    func.blocks[slow.index()].term = term;
    let to = |block: Block| BlockCall { block, args: vec![] };
    let push = |func: &mut Func, b: Block, op: Op, args: Vec<Value>| {
        let unwind = if op.never_raises() { None } else { handler.clone() };
        func.push(b, op, args, call.loc, unwind)
    };
    let branch = |func: &mut Func, b: Block, cond: Value, yes: Block| {
        let truth = push(func, b, Op::Table(id::TRUTH), vec![cond]);
        func.blocks[b.index()].term = Term::Branch { cond: truth, then_to: to(yes), else_to: to(slow) };
    };
    hoist_names(func, c, &handler);
    let places = push(func, f.pre, Op::Table(id::ARRAY_HAS_PLACES), vec![c.source, call.args[0]]);
    branch(func, f.pre, places, typed);

    // Positions in the place of elements.
    let header = twin.blocks[&f.header];
    for i in func.block(header).insts.clone() {
        func.insts[i.index()].loc = call.loc;
    }
    let indices = push(func, typed, Op::Table(INDICES), vec![c.source]);
    let position = over_positions(func, header, twin.insts[&f.next], c.source)?;
    let append = twin.insts[&c.append];
    let levels = nested::over_positions(func, c, &twin)?;
    let blocks: BTreeSet<Block> = f.blocks.iter().map(|b| twin.blocks[b]).collect();
    let found = Found {
        header,
        pre: typed,
        iter: f.iter,
        range: indices,
        step: None,
        next: twin.insts[&f.next],
        state: f.state,
        exit: f.exit.clone(),
        blocks,
        loc: call.loc,
        careful: true,
    };
    let (probe, captured) = outline::probe(func, &found, c.list).ok()?;
    let probe =
        push(func, typed, Op::MakeFunction { func: probe, defaults: 0, kwdefaults: [].into() }, captured);
    let asked = call.args.get(2).copied();
    let element = push(func, typed, Op::Table(id::ARRAY_ELEMENT), [probe].into_iter().chain(asked).collect());
    let none = push(func, typed, Op::Const(Const::None), vec![]);
    let is_number = push(func, typed, Op::Table(id::IS_NOT), vec![element, none]);
    branch(func, typed, is_number, fast);

    let mut enter = BlockCall { block: header, args: vec![] };
    let filled = func.make_block();
    let out = if levels.is_empty() {
        let room = push(func, fast, Op::Table(id::ARRAY_ROOM), vec![element, indices]);
        put(func, append, Op::Table(id::ARRAY_PUT_AT), vec![room, position]);
        room
    } else {
        enter.args = nested::start(levels.len(), element, &mut |op, args| push(func, fast, op, args));
        let blocks = [header].into_iter().chain(found.blocks.iter().copied()).collect();
        let flat = nested::carry(func, blocks, &levels, indices, append);
        push(func, filled, Op::Table(id::ARRAY_NESTED), flat)
    };
    let iterator = push(func, fast, Op::Table(id::BUILTINS_ITER), vec![indices]);
    enter.args.insert(0, iterator);
    func.blocks[fast.index()].term = Term::Jump(enter);
    behind(func, c, (header, filled, out), &call);
    Some(())
}

/// What was added to a list is put into an array.
fn put(func: &mut Func, append: Inst, op: Op, mut args: Vec<Value>) {
    let nothing = func.make_value();
    let node = &mut func.insts[append.index()];
    args.push(node.args[1]);
    (node.op, node.args) = (op, args);
    node.result.get_or_insert(nothing);
}

/// What a loop reads as the element of `source` is the element at the position that it reads instead; that
/// position.
fn over_positions(func: &mut Func, header: Block, next: Inst, source: Value) -> Option<Value> {
    let Term::Branch { then_to, .. } = &func.block(header).term else { return None };
    let first = then_to.block;
    let item =
        func.block(first).insts.iter().copied().find(|i| {
            func.inst(*i).op == Op::Member(2) && Some(func.inst(*i).args[0]) == func.inst(next).result
        });
    if let Some(item) = item {
        replace_element(func, first, item, id::GETITEM, source);
        return func.inst(item).result;
    }
    // Nobody reads the element.
    let of = func.inst(next).result?;
    let before = func.block(first).insts.first().copied()?;
    let v = insert_before(func, first, before, Op::Member(2), vec![of]);
    let made = *func.block(first).insts.first()?;
    func.insts[made.index()].unwind = None;
    Some(v)
}

/// Moves what the block of the call names in front of it, constants and globals, to where both ways can see
/// it.
fn hoist_names(func: &mut Func, c: &Comprehension, handler: &Option<BlockCall>) {
    let names: Vec<Inst> = func.blocks[c.exit.index()].insts.drain(..c.call).collect();
    for i in &names {
        let node = &mut func.insts[i.index()];
        node.unwind = if node.op.never_raises() { None } else { handler.clone() };
    }
    func.blocks[c.found.pre.index()].insts.extend(names);
}

/// Both ways meet behind the call that makes an array of the list.
fn behind(func: &mut Func, c: &Comprehension, (header, filled, out): (Block, Block, Value), call: &InstNode) {
    let rest = func.make_block();
    let result = call.result.unwrap_or(out);
    let exit = func.block(c.exit).clone();
    let (head, tail) = exit.insts.split_at(1);
    func.blocks[rest.index()] = crate::ssa::BlockData {
        params: vec![result],
        insts: tail.to_vec(),
        term: exit.term,
        term_loc: exit.term_loc,
    };
    let made = func.make_value();
    func.insts[head[0].index()].result = Some(made);
    let block = &mut func.blocks[c.exit.index()];
    (block.insts, block.term) = (head.to_vec(), Term::Jump(BlockCall { block: rest, args: vec![made] }));

    (func.blocks[filled.index()].term, func.blocks[filled.index()].term_loc) =
        (Term::Jump(BlockCall { block: rest, args: vec![out] }), exit.term_loc);
    if let Term::Branch { else_to, .. } = &mut func.blocks[header.index()].term {
        *else_to = BlockCall { block: filled, args: vec![] };
    }
}
