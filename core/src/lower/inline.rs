//! Copies library functions without branches to where they are called: what they do with arrays can then be
//! joined with what is around the call. `((a - b) ** 2).mean()` is one loop, `a.std()` two, and means of the
//! same array are added up once.
//!
//! It runs on typed SSA in front of [`super::fuse`]. What is copied keeps its own places, so that tracebacks
//! and reports name the user's lines.

use crate::host::GlobalValue;
use crate::infer::state::Session;
use crate::ops::id;
use crate::ssa::{Block, Func, InlinedFrom, Inst, InstNode, InstanceId, Loc, Op, Term, Value};
use crate::types::{Kind, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// Longer functions do more than put operations together.
const MOST_INSTS: usize = 80;
/// Instructions that are copied into one function.
const BUDGET: usize = 600;

pub(crate) fn inline(func: &mut Func, globals: &mut HashMap<Value, GlobalValue>, session: &Session<'_>) {
    let mut budget = BUDGET;
    for b in (0..func.blocks.len()).map(Block::new) {
        let mut at = 0;
        while let Some(i) = func.block(b).insts.get(at).copied() {
            // What was copied is looked at next: a standard deviation is the root of a variance, which is a
            // quotient of sums.
            let copied = candidate(func, session, i).filter(|c| c.insts <= budget).map(|c| {
                budget -= c.insts;
                copy(func, globals, session, b, at, &c)
            });
            if copied.is_none() {
                at += 1;
            }
        }
    }
    leave_arrays_as_they_are(func);
}

/// The place of the user's code at which an instruction stands, and the library function called there that it
/// came from.
pub(crate) fn user_place(func: &Func, mut loc: Loc) -> (Loc, Option<Arc<str>>) {
    let mut name = None;
    while let Some(from) =
        loc.inlined.checked_sub(1).and_then(|k| func.inlined.get(k as usize)).filter(|f| f.file.is_library())
    {
        name = Some(from.func.clone());
        loc = from.call;
    }
    (loc, name)
}

/// A call that can be replaced by what it calls: the blocks in their order.
struct Candidate {
    callee: InstanceId,
    blocks: Vec<Block>,
    insts: usize,
}

fn candidate(func: &Func, session: &Session<'_>, i: Inst) -> Option<Candidate> {
    let node = func.inst(i);
    let Op::CallInstance(callee) = node.op else { return None };
    if !node.args.iter().any(|a| func.types[a.index()].as_array().is_some_and(|t| t.ndim > 0)) {
        return None;
    }
    let inst = session.at(callee);
    if inst.func.is_generator || !session.is_library(&inst.func) {
        return None;
    }
    let f = &inst.typed.as_ref()?.func;
    let same = |mine: &[Value], theirs: &[Value], of: &Func| {
        mine.len() == theirs.len()
            && mine.iter().zip(theirs).all(|(m, t)| of.types[m.index()] == f.types[t.index()])
    };
    if !same(&node.args, &f.blocks.first()?.params, func) {
        return None;
    }
    let (mut blocks, mut at, mut insts) = (vec![], Block(0), 0);
    loop {
        if blocks.contains(&at) {
            return None;
        }
        blocks.push(at);
        let block = f.block(at);
        insts += block.insts.len();
        if insts > MOST_INSTS || !block.insts.iter().all(|i| is_plain(f.inst(*i))) {
            return None;
        }
        match &block.term {
            Term::Jump(to) if same(&to.args, &f.block(to.block).params, f) => at = to.block,
            Term::Return(v) if f.types[v.index()] == func.types[node.result?.index()] => {
                return Some(Candidate { callee, blocks, insts });
            }
            Term::Jump(_)
            | Term::Return(_)
            | Term::None
            | Term::Branch { .. }
            | Term::Raise { .. }
            | Term::Unreachable => return None,
        }
    }
}

/// Whether an instruction means the same in another function.
fn is_plain(node: &InstNode) -> bool {
    node.unwind.is_none()
        && match node.op {
            Op::Const(_)
            | Op::Undef
            | Op::Global(_)
            | Op::Member(_)
            | Op::Narrow(_)
            | Op::Cast
            | Op::Broadcast
            | Op::Apply(_)
            | Op::CallInstance(_) => true,
            Op::Free(_)
            | Op::MakeFunction { .. }
            | Op::CheckBound { .. }
            | Op::Table(_)
            | Op::Call { .. }
            | Op::CallSpread { .. }
            | Op::Attr(_)
            | Op::SetAttr(_)
            | Op::Region(_)
            | Op::Task(_)
            | Op::Yield
            | Op::PushHandled
            | Op::PopHandled
            | Op::Fused(_)
            | Op::Retain
            | Op::Release => false,
        }
}

/// Puts the instructions of a callee in the place of its call, which is instruction `at` of a block.
fn copy(
    func: &mut Func,
    globals: &mut HashMap<Value, GlobalValue>,
    session: &Session<'_>,
    b: Block,
    at: usize,
    c: &Candidate,
) {
    let call = func.inst(func.block(b).insts[at]).clone();
    let inst = session.at(c.callee);
    let Some(typed) = &inst.typed else { return };
    let from = typed.func.clone();
    func.inlined.push(InlinedFrom { file: from.file.clone(), func: from.name.clone(), call: call.loc });
    let own = func.inlined.len() as u32;
    for f in &from.inlined {
        func.inlined.push(InlinedFrom {
            call: Loc { inlined: if f.call.inlined == 0 { own } else { own + f.call.inlined }, ..f.call },
            ..f.clone()
        });
    }
    let mut known: HashMap<Value, Value> =
        from.blocks[0].params.iter().copied().zip(call.args.iter().copied()).collect();
    let (mut made, mut result) = (vec![], None);
    for block in &c.blocks {
        let data = from.block(*block);
        for i in &data.insts {
            let node = from.inst(*i);
            let value = node.result.map(|r| {
                let v = func.make_value();
                func.types.push(from.types[r.index()]);
                known.insert(r, v);
                if let Some(g) = typed.globals.get(&r) {
                    globals.insert(v, g.clone());
                }
                v
            });
            let loc =
                Loc { inlined: if node.loc.inlined == 0 { own } else { own + node.loc.inlined }, ..node.loc };
            let unwind = if node.op.never_raises() { None } else { call.unwind.clone() };
            func.insts.push(InstNode {
                op: node.op.clone(),
                args: node.args.iter().map(|a| known[a]).collect(),
                result: value,
                loc,
                unwind,
            });
            made.push(Inst::new(func.insts.len() - 1));
        }
        match &data.term {
            Term::Jump(to) => {
                for (p, a) in from.block(to.block).params.iter().zip(&to.args) {
                    known.insert(*p, known[a]);
                }
            }
            Term::Return(v) => result = Some(known[v]),
            Term::None | Term::Branch { .. } | Term::Raise { .. } | Term::Unreachable => {}
        }
    }
    func.blocks[b.index()].insts.splice(at..=at, made);
    if let (Some(old), Some(new)) = (call.result, result) {
        replace(func, &HashMap::from([(old, new)]));
    }
}

/// Reads other values in the place of some, everywhere.
pub(crate) fn replace(func: &mut Func, by: &HashMap<Value, Value>) {
    let new = |v: &mut Value| {
        while let Some(n) = by.get(v) {
            *v = *n;
        }
    };
    for node in &mut func.insts {
        node.args.iter_mut().chain(node.unwind.iter_mut().flat_map(|u| &mut u.args)).for_each(new);
    }
    for b in &mut func.blocks {
        if let Some(v) = b.term.operand_mut() {
            new(v);
        }
        b.term.targets_mut().into_iter().flat_map(|t| &mut t.args).for_each(new);
    }
}

/// `np.asarray` of an array that stays as it is goes, and what asks for nothing but a dtype reads nothing:
/// neither is a reason to have the array in memory.
fn leave_arrays_as_they_are(func: &mut Func) {
    let mut same = HashMap::new();
    for b in 0..func.blocks.len() {
        let mut insts = func.blocks[b].insts.clone();
        insts.retain(|i| {
            let node = &func.insts[i.index()];
            let (Op::Apply(op), Some(r)) = (&node.op, node.result) else { return true };
            let ty = func.types[r.index()];
            if matches!(*ty, Kind::DType(_)) && !op.raises {
                let node = &mut func.insts[i.index()];
                (node.op, node.args) = (Op::Undef, vec![]);
                return true;
            }
            let of = |k: usize| node.args.get(k).map(|a| func.types[a.index()]);
            let kept = op.is(id::NUMPY_ASARRAY)
                && of(0) == Some(ty)
                && ty.as_array().is_some()
                && of(1) == Some(Type::none())
                && of(3) == Some(Type::none());
            if kept {
                same.insert(r, node.args[0]);
            }
            !kept
        });
        func.blocks[b].insts = insts;
    }
    if !same.is_empty() {
        replace(func, &same);
    }
}
