//! Writes a loop out: its body once for each of the items that it goes through, which inference knows when it
//! comes to the loop. Each copy is typed by itself.
//!
//! Nothing is numbered anew: inference keeps what it knows by the numbers of instructions.

use super::displays;
use crate::ops::id;
use crate::ssa::analysis::{Cfg, Dominators, Edge, uses_of, uses_of_term};
use crate::ssa::{Block, BlockCall, Func, Inst, InstNode, Loc, Op, Term, Value};
use crate::types::Const;
use std::collections::HashMap;

/// What a loop goes through.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Items {
    /// The members of a tuple, and how many there are.
    Members(Value, usize),
    Constants(Vec<Const>),
    /// Pairs of an item and a number in front of it, which counts.
    Counted(Box<Items>, Start),
    /// Tuples of an item each, to the end of the shortest.
    Together(Vec<Items>),
    Backwards(Box<Items>),
}

/// Where counting starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Start {
    Known(i64),
    At(Value),
}

impl Items {
    pub(crate) fn count(&self) -> usize {
        match self {
            Items::Members(_, n) => *n,
            Items::Constants(all) => all.len(),
            Items::Counted(of, _) | Items::Backwards(of) => of.count(),
            Items::Together(all) => all.iter().map(Items::count).min().unwrap_or(0),
        }
    }

    /// What must stay the same where the loop is typed again: how many there are, and the constants.
    pub(crate) fn shape(&self) -> Const {
        let parts = match self {
            Items::Members(_, n) => vec![Const::Int(*n as i64)],
            Items::Constants(all) => vec![Const::Str("constants".into()), Const::Tuple(all.clone())],
            Items::Counted(of, Start::Known(n)) => {
                vec![Const::Str("counted".into()), of.shape(), Const::Int(*n)]
            }
            Items::Counted(of, Start::At(_)) => vec![Const::Str("counted".into()), of.shape()],
            Items::Together(all) => all.iter().map(Items::shape).collect(),
            Items::Backwards(of) => vec![Const::Str("backwards".into()), of.shape()],
        };
        Const::Tuple(parts)
    }

    /// Writes the `k`-th item down.
    fn item(&self, func: &mut Func, at: Block, k: usize, loc: Loc) -> Value {
        let plain = |func: &mut Func, op, args| func.push(at, op, args, loc, None);
        match self {
            Items::Members(of, _) => plain(func, Op::Member(k as u32), vec![*of]),
            Items::Constants(all) => plain(func, Op::Const(all[k].clone()), vec![]),
            Items::Counted(of, start) => {
                let number = match start {
                    Start::Known(n) => plain(func, Op::Const(Const::Int(n.wrapping_add(k as i64))), vec![]),
                    Start::At(n) => {
                        let k = plain(func, Op::Const(Const::Int(k as i64)), vec![]);
                        plain(func, Op::Table(id::ADD), vec![*n, k])
                    }
                };
                let item = of.item(func, at, k, loc);
                plain(func, Op::Table(id::TUPLE_BUILD), vec![number, item])
            }
            Items::Together(all) => {
                let items = all.iter().map(|of| of.item(func, at, k, loc)).collect();
                plain(func, Op::Table(id::TUPLE_BUILD), items)
            }
            Items::Backwards(of) => of.item(func, at, of.count() - 1 - k, loc),
        }
    }
}

/// What becomes of a function before it is typed further.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rewrite {
    /// The loop over what this call gives is written out.
    Loop(Inst, Items),
    /// The same of a loop over `range(len(unroll(xs)))`, which counts these items.
    Count(Counting, Items),
    /// This list, which nobody changes, is a tuple.
    List(Value),
    /// These dicts of constant keys, which nobody changes, keep a type for each value.
    Displays(Vec<Inst>),
    /// What is put into this dict right after it was made is written in it.
    Stores(Inst, Vec<Inst>),
    /// This, which the function takes as `**kwargs`, becomes a dict before anything is done with it.
    Keywords(Value),
}

/// The calls in `range(len(unroll(xs)))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counting {
    pub unroll: Inst,
    pub len: Inst,
    pub range: Inst,
}

/// The function so rewritten. None where the control flow of the loop is unusual.
pub(crate) fn rewritten(func: &Func, rewrite: &Rewrite) -> Option<Func> {
    let mut new = func.clone();
    match rewrite {
        Rewrite::Loop(call, items) => {
            let of = new.inst(*call).args[1];
            unroll(&mut new, *call, items, (of, items.shape()))?
        }
        Rewrite::Count(calls, items) => count(&mut new, calls, items)?,
        Rewrite::List(of) => as_tuple(&mut new, *of),
        Rewrite::Displays(all) => all.iter().for_each(|i| displays::keep_types(&mut new, *i)),
        Rewrite::Stores(dict, stores) => displays::gather(&mut new, *dict, stores),
        Rewrite::Keywords(of) => displays::keywords_as_dict(&mut new, *of),
    }
    Some(new)
}

/// A list that is nothing but gone through and read is a tuple, whose members may be of several types.
fn as_tuple(func: &mut Func, list: Value) {
    for node in func.insts.iter_mut().filter(|n| n.result == Some(list)) {
        if node.op == Op::Table(id::LIST_BUILD) {
            node.op = Op::Table(id::TUPLE_BUILD);
        }
    }
}

/// The one instruction that reads a value, if nothing else does.
pub(crate) fn only_reader(func: &Func, v: Value) -> Option<Inst> {
    let (mut reader, mut reads) = (None, 0);
    for block in &func.blocks {
        for i in &block.insts {
            let node = func.inst(*i);
            uses_of(node, &mut |x| reads += u32::from(x == v));
            if node.args.contains(&v) {
                reader = Some(*i);
            }
        }
        uses_of_term(&block.term, &mut |x| reads += u32::from(x == v));
    }
    reader.filter(|_| reads == 1)
}

/// A loop over what a call gives.
pub(crate) struct Over {
    /// `builtins.iter` of it, and `iter.next`.
    iter: Inst,
    next: Inst,
    /// The block of these, and which of its parameters is the iterator; none where nothing goes back.
    header: Block,
    state: Option<usize>,
}

/// The loop that alone goes through what the call gives.
pub(crate) fn find(func: &Func, call: Inst) -> Option<Over> {
    let iter = only_reader(func, func.inst(call).result?)?;
    if func.inst(iter).op != Op::Table(id::BUILTINS_ITER) {
        return None;
    }
    let first = func.inst(iter).result?;
    let is_read = || func.blocks.iter().flat_map(|b| &b.insts).any(|i| func.inst(*i).args.contains(&first));
    let (next, state) = match passed_to(func, first)[..] {
        [] => (only_reader(func, first)?, None),
        [(header, k, Edge::Jumps)] if !is_read() => {
            (only_reader(func, func.block(header).params[k])?, Some((header, k)))
        }
        _ => return None,
    };
    if func.inst(next).op != Op::Table(id::ITER_NEXT) {
        return None;
    }
    let header = (0..func.blocks.len()).map(Block::new).find(|b| func.block(*b).insts.contains(&next))?;
    let block = func.block(header);
    let at = block.insts.iter().position(|i| *i == next)?;
    let [more] = block.insts[at + 1..] else { return None };
    let Term::Branch { cond, .. } = &block.term else { return None };
    let given = func.inst(next).result?;
    let is_test = func.inst(more).op == Op::Member(1)
        && func.inst(more).args == [given]
        && func.inst(more).result == Some(*cond);
    let in_place = state.is_none_or(|(b, _)| b == header && at == 0);
    (is_test && in_place && steps_on(func, state, first, given) && only_members(func, given, more))
        .then_some(Over { iter, next, header, state: state.map(|s| s.1) })
}

/// The blocks to which edges pass a value, and its place among their parameters.
fn passed_to(func: &Func, v: Value) -> Vec<(Block, usize, Edge)> {
    let mut found = vec![];
    for b in (0..func.blocks.len()).map(Block::new) {
        func.each_edge(b, &mut |edge, to| {
            for k in (0..to.args.len()).filter(|k| to.args[*k] == v) {
                if !found.contains(&(to.block, k, edge)) {
                    found.push((to.block, k, edge));
                }
            }
        });
    }
    found
}

/// Whether what `iter.next` gives is looked at by its members alone; `more` asks whether there was a value.
fn only_members(func: &Func, given: Value, more: Inst) -> bool {
    let mut plain = true;
    for block in &func.blocks {
        for i in &block.insts {
            let node = func.inst(*i);
            let member = matches!(node.op, Op::Member(0 | 2)) || *i == more;
            uses_of(node, &mut |v| plain &= v != given || member);
        }
        uses_of_term(&block.term, &mut |v| plain &= v != given);
    }
    plain
}

/// Whether the iterator a step on goes nowhere but to the header, to which every edge passes that or the one at
/// first.
fn steps_on(func: &Func, state: Option<(Block, usize)>, first: Value, given: Value) -> bool {
    let steps: Vec<Value> = func
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .map(|i| func.inst(*i))
        .filter(|n| n.op == Op::Member(0) && n.args == [given])
        .filter_map(|n| n.result)
        .collect();
    let mut plain = true;
    for b in (0..func.blocks.len()).map(Block::new) {
        func.each_edge(b, &mut |edge, to| {
            for (k, a) in to.args.iter().enumerate() {
                plain &= !steps.contains(a) || state == Some((to.block, k));
            }
            if let Some((header, k)) = state
                && to.block == header
            {
                plain &= edge == Edge::Jumps && (to.args[k] == first || steps.contains(&to.args[k]));
            }
        });
    }
    let reads = |i: &Inst| func.inst(*i).args.iter().any(|a| steps.contains(a));
    plain && !func.blocks.iter().flat_map(|b| &b.insts).any(reads)
}

/// Blocks of one turn of the loop, handlers inside of it included, in reverse post-order: what can only be
/// reached by way of its first block.
fn body(func: &Func, over: &Over) -> Option<(Vec<Block>, BlockCall, BlockCall)> {
    let Term::Branch { then_to, else_to, .. } = &func.block(over.header).term else { return None };
    let (cfg, entry) = (Cfg::new(func), then_to.block);
    let doms = Dominators::new(func, &cfg);
    if cfg.preds(entry) != [over.header] || doms.dominates(entry, over.header) {
        return None;
    }
    let blocks = cfg.rpo().iter().copied().filter(|b| doms.dominates(entry, *b)).collect();
    Some((blocks, then_to.clone(), else_to.clone()))
}

/// How many instructions a turn has.
pub(crate) fn size(func: &Func, over: &Over) -> usize {
    body(func, over).map_or(0, |(blocks, ..)| blocks.iter().map(|b| func.block(*b).insts.len() + 1).sum())
}

/// Writes the loop over numbers out.
fn count(func: &mut Func, calls: &Counting, items: &Items) -> Option<()> {
    let of = func.inst(calls.unroll).args[1];
    func.insts[calls.len.index()].args[1] = of;
    for block in &mut func.blocks {
        block.insts.retain(|i| *i != calls.unroll);
    }
    let numbers = (0..items.count() as i64).map(Const::Int).collect();
    unroll(func, calls.range, &Items::Constants(numbers), (of, items.shape()))
}

/// Writes the loop out. Of the call stays a note of what the loop went through: a value and its shape. None where its control flow is
/// unusual.
fn unroll(func: &mut Func, call: Inst, items: &Items, of: (Value, Const)) -> Option<()> {
    let mut over = find(func, call)?;
    split(func, &mut over);
    let (blocks, enter, leave) = body(func, &over)?;
    let carried: Vec<Value> = func.block(over.header).params.clone();
    let carried: Vec<Value> =
        carried.into_iter().enumerate().filter(|(k, _)| Some(*k) != over.state).map(|(_, p)| p).collect();
    let turns: Vec<(Block, Vec<Value>)> = (0..items.count())
        .map(|_| {
            let b = func.make_block();
            (b, carried.iter().map(|_| func.add_param(b)).collect())
        })
        .collect();
    lead_in(func, &over, &blocks, turns.first().map_or(over.header, |t| t.0));
    let mut here: HashMap<Block, usize> = HashMap::from([(over.header, turns.len())]);
    for (k, (first, params)) in turns.iter().enumerate() {
        let next = turns.get(k + 1).map_or(over.header, |t| t.0);
        let item = items.item(func, *first, k, func.inst(over.next).loc);
        let mut copy = Copy {
            values: carried.iter().copied().zip(params.iter().copied()).collect(),
            blocks: HashMap::new(),
            over: &over,
            next,
        };
        copy.write(func, &blocks, item);
        let to = copy.edge(&enter);
        let term_loc = func.block(over.header).term_loc;
        let block = &mut func.blocks[first.index()];
        (block.term, block.term_loc) = (Term::Jump(to), term_loc);
        here.insert(*first, k);
        here.extend(copy.blocks.values().map(|b| (*b, k)));
    }
    for b in &blocks {
        let gone = &mut func.blocks[b.index()];
        (gone.params, gone.insts, gone.term) = (vec![], vec![], Term::Unreachable);
    }
    let header = &mut func.blocks[over.header.index()];
    (header.params, header.insts, header.term) = (carried.clone(), vec![], Term::Jump(leave));
    if let Items::Members(of, _) = items {
        as_tuple(func, *of);
    }
    note(func, call, over.iter, of);
    let turns = turns.into_iter().map(|t| t.1).collect();
    Repair { cfg: Cfg::new(func), func, here, carried, turns, known: HashMap::new() }.run();
    Some(())
}

/// Gives the header a block of its own.
fn split(func: &mut Func, over: &mut Over) {
    let at = func.block(over.header).insts.iter().position(|i| *i == over.next).unwrap_or(0);
    if over.state.is_some() {
        return;
    }
    let new = func.make_block();
    let old = &mut func.blocks[over.header.index()];
    let (insts, term_loc) = (old.insts.split_off(at), old.term_loc);
    let term = std::mem::replace(&mut old.term, Term::Jump(BlockCall { block: new, args: vec![] }));
    let block = &mut func.blocks[new.index()];
    (block.insts, block.term, block.term_loc) = (insts, term, term_loc);
    over.header = new;
}

/// Edges from outside lead to the first turn, without the iterator.
fn lead_in(func: &mut Func, over: &Over, body: &[Block], first: Block) {
    for b in (0..func.blocks.len()).map(Block::new).filter(|b| !body.contains(b)) {
        func.each_edge_mut(b, &mut |_, to| {
            if to.block == over.header {
                to.block = first;
                if let Some(k) = over.state {
                    to.args.remove(k);
                }
            }
        });
    }
}

/// The call becomes a note of what the loop went through, which inference compares with what it finds later:
/// what seemed constant may turn out not to be.
fn note(func: &mut Func, call: Inst, iter: Inst, (of, shape): (Value, Const)) {
    let loc = func.inst(call).loc;
    let known = func.make_value();
    func.insts.push(InstNode { op: Op::Const(shape), args: vec![], result: Some(known), loc, unwind: None });
    let made = Inst::new(func.insts.len() - 1);
    func.insts[call.index()].op = Op::Table(id::UNROLL_COUNTED);
    func.insts[call.index()].args = vec![of, known];
    for block in &mut func.blocks {
        block.insts.retain(|i| *i != iter);
        if let Some(at) = block.insts.iter().position(|i| *i == call) {
            block.insts.insert(at, made);
        }
    }
}

/// One turn: from the names of the loop to its own.
struct Copy<'a> {
    values: HashMap<Value, Value>,
    blocks: HashMap<Block, Block>,
    over: &'a Over,
    /// Where the next turn begins.
    next: Block,
}

impl Copy<'_> {
    fn value(&self, v: Value) -> Value {
        self.values.get(&v).copied().unwrap_or(v)
    }
    fn edge(&self, e: &BlockCall) -> BlockCall {
        let mut args: Vec<Value> = e.args.iter().map(|v| self.value(*v)).collect();
        if e.block == self.over.header {
            if let Some(k) = self.over.state {
                args.remove(k);
            }
            return BlockCall { block: self.next, args };
        }
        BlockCall { block: self.blocks.get(&e.block).copied().unwrap_or(e.block), args }
    }

    /// Copies the blocks; `item` is what this turn is about.
    fn write(&mut self, func: &mut Func, blocks: &[Block], item: Value) {
        let given = func.inst(self.over.next).result;
        let is_step = |node: &InstNode| {
            matches!(node.op, Op::Member(0 | 2)) && node.args.first().copied() == given && given.is_some()
        };
        for b in blocks {
            let new = func.make_block();
            self.blocks.insert(*b, new);
            for p in func.block(*b).params.clone() {
                let v = func.add_param(new);
                self.values.insert(p, v);
            }
            for i in func.block(*b).insts.clone() {
                let node = func.inst(i).clone();
                let Some(r) = node.result else { continue };
                if node.op == Op::Member(2) && is_step(&node) {
                    self.values.insert(r, item);
                } else if !is_step(&node) {
                    let v = func.make_value();
                    self.values.insert(r, v);
                }
            }
        }
        for b in blocks {
            let new = self.blocks[b];
            for i in func.block(*b).insts.clone() {
                let node = func.inst(i).clone();
                if is_step(&node) {
                    continue;
                }
                func.insts.push(InstNode {
                    op: node.op,
                    args: node.args.iter().map(|v| self.value(*v)).collect(),
                    result: node.result.map(|r| self.value(r)),
                    loc: node.loc,
                    unwind: node.unwind.as_ref().map(|u| self.edge(u)),
                });
                let inst = Inst::new(func.insts.len() - 1);
                func.blocks[new.index()].insts.push(inst);
            }
            let mut term = func.block(*b).term.clone();
            if let Some(v) = term.operand_mut() {
                *v = self.value(*v);
            }
            for t in term.targets_mut() {
                *t = self.edge(t);
            }
            let term_loc = func.block(*b).term_loc;
            let block = &mut func.blocks[new.index()];
            (block.term, block.term_loc) = (term, term_loc);
        }
    }
}

/// Behind the loop its variables have a definition in each turn: reads find theirs, and where several meet, a
/// block parameter is made.
struct Repair<'a> {
    func: &'a mut Func,
    cfg: Cfg,
    /// Blocks of turns, and the header, which is behind the last one.
    here: HashMap<Block, usize>,
    carried: Vec<Value>,
    /// The variables of each turn.
    turns: Vec<Vec<Value>>,
    known: HashMap<(usize, Block), Value>,
}

impl Repair<'_> {
    fn run(mut self) {
        let places: HashMap<Value, usize> = self.carried.iter().enumerate().map(|(k, p)| (*p, k)).collect();
        for b in self.cfg.rpo().to_vec() {
            if self.here.contains_key(&b) {
                continue;
            }
            let mut used: Vec<Value> = vec![];
            for i in &self.func.block(b).insts {
                uses_of(self.func.inst(*i), &mut |v| used.push(v));
            }
            uses_of_term(&self.func.block(b).term, &mut |v| used.push(v));
            used.retain(|v| places.contains_key(v));
            used.sort();
            used.dedup();
            for v in used {
                let new = self.at_start(places[&v], b);
                self.replace(b, v, new);
            }
        }
    }

    fn replace(&mut self, b: Block, old: Value, new: Value) {
        let put = |v: &mut Value| {
            if *v == old {
                *v = new;
            }
        };
        for i in self.func.block(b).insts.clone() {
            let node = &mut self.func.insts[i.index()];
            node.args.iter_mut().chain(node.unwind.iter_mut().flat_map(|u| &mut u.args)).for_each(put);
        }
        let term = &mut self.func.blocks[b.index()].term;
        term.operand_mut().into_iter().for_each(put);
        term.targets_mut().into_iter().flat_map(|t| &mut t.args).for_each(put);
    }

    fn at_end(&mut self, k: usize, b: Block) -> Value {
        match self.here.get(&b) {
            Some(turn) => self.turns.get(*turn).map_or(self.carried[k], |t| t[k]),
            None => self.at_start(k, b),
        }
    }

    /// The value of a variable where a block behind the loop begins; nothing changes it inside of one.
    fn at_start(&mut self, k: usize, b: Block) -> Value {
        if let Some(v) = self.known.get(&(k, b)) {
            return *v;
        }
        let mut preds: Vec<Block> = self.cfg.preds(b).to_vec();
        preds.sort();
        preds.dedup();
        if let [one] = preds[..] {
            let v = self.at_end(k, one);
            self.known.insert((k, b), v);
            return v;
        }
        let param = self.func.add_param(b);
        self.known.insert((k, b), param);
        for p in preds {
            let v = self.at_end(k, p);
            self.func.each_edge_mut(p, &mut |_, to| {
                if to.block == b {
                    to.args.push(v);
                }
            });
        }
        param
    }
}
