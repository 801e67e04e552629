//! Inlines calls of functions made in this very function: comprehensions, lambdas and inner functions bound
//! to a local variable.
//!
//! The callee's blocks are copied behind the call, with arguments, defaults and captured values in place of
//! parameters and `free`; what may raise in the copy goes to the call's handler; locations say where the code
//! came from. A function that is called once is always inlined, one called more often while it is small.
//! Generators, functions that call themselves and calls that do not fit the parameters stay calls: typing
//! reports the latter.

use crate::ops::id;
use crate::ssa::{
    Block, BlockCall, BlockData, Func, FuncId, InlinedFrom, Inst, InstNode, Loc, Op, Term, Value, registry,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Instructions of a function that is inlined at each of several calls.
const SMALL: usize = 60;
/// Instructions added to one function before nothing more is inlined: what calls itself through arguments
/// would never end.
const BUDGET: usize = 4000;

/// Whether anything was inlined.
pub(crate) fn run(func: &mut Func) -> bool {
    let mut made = HashMap::new();
    for (i, n) in func.insts.iter().enumerate() {
        if let (Op::MakeFunction { .. }, Some(r)) = (&n.op, n.result) {
            made.insert(r, Inst::new(i));
        }
    }
    if made.is_empty() {
        return false;
    }
    let mut calls: HashMap<Value, u32> = HashMap::new();
    for n in &func.insts {
        if let Op::Call { .. } = n.op {
            *calls.entry(n.args[0]).or_default() += 1;
        }
    }
    let mut pass = Inliner { func, made, calls, spent: 0 };
    let mut work: Vec<Block> = (0..pass.func.blocks.len()).rev().map(Block::new).collect();
    while let Some(b) = work.pop() {
        let found = (0..pass.func.block(b).insts.len()).find_map(|k| pass.candidate(b, k).map(|c| (k, c)));
        if let Some((k, (callee, args))) = found {
            pass.inline(b, k, &callee, args, &mut work);
        }
    }
    pass.spent > 0
}

struct Inliner<'a> {
    func: &'a mut Func,
    /// MakeFunction instructions by result.
    made: HashMap<Value, Inst>,
    /// Calls of each value.
    calls: HashMap<Value, u32>,
    spent: usize,
}

/// What a parameter is bound to.
enum Bound {
    Value(Value),
    Rest(Vec<Value>),
}

impl Inliner<'_> {
    /// The callee and what its parameters are bound to, if the instruction is a call to inline.
    fn candidate(&self, b: Block, k: usize) -> Option<(Arc<Func>, Vec<Bound>)> {
        let node = self.func.inst(self.func.block(b).insts[k]);
        let Op::Call { keywords } = &node.op else { return None };
        let make = self.func.inst(*self.made.get(node.args.first()?)?);
        let Op::MakeFunction { func: id, defaults, kwdefaults } = &make.op else { return None };
        let callee = registry::get(*id)?;
        let size = callee.insts.len() + callee.blocks.len();
        let once = self.calls.get(&node.args[0]).is_some_and(|n| *n <= 1);
        if callee.is_generator
            || Some(*id) == self.func.id
            || names_itself(&callee, *id)
            || self.spent + size > BUDGET
            || (!once && size > SMALL)
        {
            return None;
        }
        let defaults = *defaults as usize;
        if make.args.len() < defaults + kwdefaults.len() + callee.free.len() {
            return None;
        }
        let args = bind(
            &callee,
            &node.args[1..],
            keywords,
            &make.args[..defaults],
            kwdefaults,
            &make.args[defaults..],
        )?;
        Some((callee, args))
    }

    /// Splits block `b` at instruction `k` and puts the callee's body between.
    fn inline(&mut self, b: Block, k: usize, callee: &Func, args: Vec<Bound>, work: &mut Vec<Block>) {
        let call = self.func.inst(self.func.block(b).insts[k]).clone();
        let make = self.made[&call.args[0]];
        let Op::MakeFunction { defaults, kwdefaults, .. } = &self.func.inst(make).op else { return };
        let first_capture = *defaults as usize + kwdefaults.len();
        let captured = self.func.inst(make).args[first_capture..].to_vec();
        self.spent += callee.insts.len() + callee.blocks.len();
        *self.calls.entry(call.args[0]).or_default() -= 1;

        // What follows the call, with the call's result as its parameter.
        let rest = self.func.make_block();
        let block = &mut self.func.blocks[b.index()];
        let tail = block.insts.split_off(k + 1);
        block.insts.pop();
        let (term, term_loc) = (std::mem::replace(&mut block.term, Term::None), block.term_loc);
        self.func.blocks[rest.index()] =
            BlockData { params: call.result.into_iter().collect(), insts: tail, term, term_loc };

        let mut values: Vec<Option<Value>> = vec![None; callee.values as usize];
        for (p, a) in callee.blocks[0].params.iter().zip(args) {
            values[p.index()] = Some(match a {
                Bound::Value(v) => v,
                Bound::Rest(items) => self.func.push(b, Op::Table(id::TUPLE_BUILD), items, call.loc, None),
            });
        }
        let from = self.import_locations(callee, call.loc);
        // The entry's code continues the block of the call.
        let blocks: Vec<Block> =
            (0..callee.blocks.len()).map(|i| if i == 0 { b } else { self.func.make_block() }).collect();
        let mut copy =
            Copy { values: &mut values, blocks: &blocks, captured: &captured, call: &call, from, rest };
        for (source, target) in callee.blocks.iter().zip(&blocks) {
            if *target != b {
                for p in &source.params {
                    let v = self.func.add_param(*target);
                    copy.values[p.index()] = Some(v);
                }
            }
            for i in &source.insts {
                let node = callee.inst(*i);
                if let (Op::Free(n), Some(r)) = (&node.op, node.result) {
                    copy.values[r.index()] = captured.get(*n as usize).copied();
                    continue;
                }
                if let Some(r) = node.result {
                    copy.values[r.index()] = Some(self.func.make_value());
                }
            }
        }
        for (source, target) in callee.blocks.iter().zip(&blocks) {
            self.copy_block(callee, source, *target, &mut copy);
        }
        work.extend(blocks.iter().rev());
        work.push(rest);
    }

    /// Instructions and terminator; all values have their names by now.
    fn copy_block(&mut self, callee: &Func, source: &BlockData, target: Block, copy: &mut Copy<'_>) {
        for i in &source.insts {
            let node = callee.inst(*i);
            if let Op::Free(n) = node.op
                && copy.captured.get(n as usize).is_some()
            {
                continue;
            }
            let unwind = match &node.unwind {
                Some(u) => Some(copy.edge(u)),
                None if node.op.never_raises() => None,
                None => copy.call.unwind.clone(),
            };
            let new = InstNode {
                op: node.op.clone(),
                args: copy.all(&node.args),
                result: node.result.map(|r| copy.value(r)),
                loc: copy.loc(node.loc),
                unwind,
            };
            self.func.insts.push(new);
            let inst = Inst::new(self.func.insts.len() - 1);
            self.func.blocks[target.index()].insts.push(inst);
            let new = self.func.inst(inst);
            if let (Op::MakeFunction { .. }, Some(r)) = (&new.op, new.result) {
                self.made.insert(r, inst);
            }
            if let Op::Call { .. } = new.op {
                *self.calls.entry(new.args[0]).or_default() += 1;
            }
        }
        if let Term::Raise { exc, unwind: None } = &source.term {
            self.leave(*exc, target, copy);
        }
        let term = match &source.term {
            Term::Return(v) => Term::Jump(BlockCall {
                block: copy.rest,
                args: if copy.call.result.is_some() { vec![copy.value(*v)] } else { vec![] },
            }),
            Term::Raise { exc, unwind } => {
                let unwind = match unwind {
                    Some(u) => Some(copy.edge(u)),
                    None => copy.call.unwind.clone(),
                };
                Term::Raise { exc: copy.value(*exc), unwind }
            }
            Term::Jump(to) => Term::Jump(copy.edge(to)),
            Term::Branch { cond, then_to, else_to } => Term::Branch {
                cond: copy.value(*cond),
                then_to: copy.edge(then_to),
                else_to: copy.edge(else_to),
            },
            Term::Unreachable => Term::Unreachable,
            Term::None => Term::None,
        };
        let block = &mut self.func.blocks[target.index()];
        (block.term, block.term_loc) = (term, copy.loc(source.term_loc));
    }

    /// An exception leaves the inlined function: the call is one line of its traceback.
    fn leave(&mut self, exc: Value, target: Block, copy: &Copy<'_>) {
        self.func.push(
            target,
            Op::Table(id::EXC_LEAVE),
            vec![copy.value(exc)],
            copy.call.loc,
            copy.call.unwind.clone(),
        );
    }

    /// Adds the callee, as called here, to the places that code may come from; gives what to add to its own
    /// numbers.
    fn import_locations(&mut self, callee: &Func, call: Loc) -> u32 {
        let from = self.func.inlined.len() as u32 + 1;
        self.func.inlined.push(InlinedFrom {
            file: callee.file.clone(),
            func: callee.qualname.clone(),
            call,
        });
        for i in &callee.inlined {
            let call = Loc { inlined: i.call.inlined + from, ..i.call };
            self.func.inlined.push(InlinedFrom { call, ..i.clone() });
        }
        from
    }
}

/// From the callee's names to the caller's.
struct Copy<'a> {
    values: &'a mut Vec<Option<Value>>,
    blocks: &'a [Block],
    captured: &'a [Value],
    call: &'a InstNode,
    from: u32,
    rest: Block,
}

impl Copy<'_> {
    /// Values of unreachable code have no name; a wrong one is caught by the verifier.
    fn value(&self, v: Value) -> Value {
        self.values[v.index()].unwrap_or(Value(u32::MAX))
    }
    fn all(&self, vs: &[Value]) -> Vec<Value> {
        vs.iter().map(|v| self.value(*v)).collect()
    }
    fn edge(&self, e: &BlockCall) -> BlockCall {
        BlockCall { block: self.blocks[e.block.index()], args: self.all(&e.args) }
    }
    fn loc(&self, l: Loc) -> Loc {
        Loc { inlined: l.inlined + self.from, ..l }
    }
}

/// The function makes itself anew somewhere, or a function that does: it calls itself.
fn names_itself(callee: &Func, id: FuncId) -> bool {
    let made = |f: &Func| {
        f.insts
            .iter()
            .filter_map(|n| if let Op::MakeFunction { func, .. } = n.op { Some(func) } else { None })
            .collect::<Vec<_>>()
    };
    let (mut work, mut seen) = (made(callee), vec![]);
    while let Some(next) = work.pop() {
        if next == id {
            return true;
        }
        if seen.contains(&next) {
            continue;
        }
        seen.push(next);
        if let Some(f) = registry::get(next) {
            work.extend(made(&f));
        }
    }
    false
}

/// Binds operands to parameters as a call does; none if they do not fit.
fn bind(
    callee: &Func,
    args: &[Value],
    keywords: &[Arc<str>],
    defaults: &[Value],
    kwnames: &[Arc<str>],
    kwdefaults: &[Value],
) -> Option<Vec<Bound>> {
    let p = &callee.params;
    if p.varkw || callee.blocks[0].params.len() != p.names.len() {
        return None;
    }
    let positional = args.len() - keywords.len();
    let mut bound: Vec<Option<Value>> = vec![None; p.positional + p.keyword_only];
    if positional > p.positional && !p.varargs {
        return None;
    }
    for (slot, a) in bound.iter_mut().zip(&args[..positional.min(p.positional)]) {
        *slot = Some(*a);
    }
    for (name, a) in keywords.iter().zip(&args[positional..]) {
        let i = (p.positional_only..bound.len()).find(|i| p.names[*i] == *name)?;
        if bound[i].replace(*a).is_some() {
            return None;
        }
    }
    let first = p.positional.checked_sub(defaults.len())?;
    for (slot, d) in bound[first..p.positional].iter_mut().zip(defaults) {
        slot.get_or_insert(*d);
    }
    for (name, d) in kwnames.iter().zip(kwdefaults) {
        let i = (p.positional..bound.len()).find(|i| p.names[*i] == *name)?;
        bound[i].get_or_insert(*d);
    }
    let mut out: Vec<Bound> = bound.into_iter().map(|b| b.map(Bound::Value)).collect::<Option<_>>()?;
    if p.varargs {
        out.push(Bound::Rest(args[positional.min(p.positional)..positional].to_vec()));
    }
    Some(out)
}
