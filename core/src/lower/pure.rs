//! Whether a function does nothing but compute: what it writes to it has made itself, it draws no random
//! numbers, and nobody can tell in which order its calls ran.

use crate::infer::state::Session;
use crate::ops::{Effect, id};
use crate::ssa::{Func, InstNode, InstanceId, Op, Value};
use crate::types::promote::runs_generator;
use crate::types::{Kind, Type};
use std::collections::{HashMap, HashSet};

/// Where the values of a function come from.
pub(crate) type Defs<'a> = HashMap<Value, &'a InstNode>;

pub(crate) fn definitions(f: &Func) -> Defs<'_> {
    f.blocks
        .iter()
        .flat_map(|b| &b.insts)
        .filter_map(|i| {
            let n = f.inst(*i);
            Some((n.result?, n))
        })
        .collect()
}

pub(crate) fn is_pure(session: &Session<'_>, id: InstanceId) -> bool {
    does_nothing_but(session, id, &|_| false)
}

/// Whether a function is pure but for what it does itself that is `allowed`.
pub(crate) fn does_nothing_but(
    session: &Session<'_>,
    id: InstanceId,
    allowed: &dyn Fn(&InstNode) -> bool,
) -> bool {
    if draws(session, id) {
        return false;
    }
    let (mut seen, mut todo) = (HashSet::from([id]), vec![id]);
    while let Some(at) = todo.pop() {
        let inst = session.at(at);
        let Some(typed) = inst.typed.as_ref().filter(|_| !inst.func.is_generator) else { return false };
        let f = &typed.func;
        let defs = definitions(f);
        if !f
            .blocks
            .iter()
            .flat_map(|b| &b.insts)
            .all(|i| at == id && allowed(f.inst(*i)) || computes(f, &defs, f.inst(*i)))
        {
            return false;
        }
        todo.extend(super::callees(f).into_iter().filter(|c| seen.insert(*c)));
    }
    true
}

fn computes(f: &Func, defs: &Defs<'_>, node: &InstNode) -> bool {
    match &node.op {
        Op::Apply(op) => {
            if node.args.iter().any(|a| runs_generator(f.types[a.index()])) {
                return false;
            }
            let into = matches!(op.body, crate::ops::Body::Ufunc(..))
                && node.args[crate::ops::ufunc::inputs(op).min(node.args.len())..]
                    .iter()
                    .any(|a| f.types[a.index()].as_array().is_some());
            !into
                && (op.effect != Effect::Writes
                    || op.unordered
                    || node.args.first().is_some_and(|a| is_made_here(f, defs, *a)))
        }
        Op::Const(_)
        | Op::Undef
        | Op::Global(_)
        | Op::Free(_)
        | Op::MakeFunction { .. }
        | Op::Member(_)
        | Op::Narrow(_)
        | Op::Cast
        | Op::CheckBound { .. }
        | Op::CallInstance(_)
        | Op::PushHandled
        | Op::PopHandled
        | Op::Retain
        | Op::Release
        | Op::Broadcast => true,
        Op::Region(_)
        | Op::Task(_)
        | Op::Yield
        | Op::Fused(_)
        | Op::Table(_)
        | Op::Call { .. }
        | Op::CallSpread { .. }
        | Op::Attr(_)
        | Op::SetAttr(_) => false,
    }
}

/// Whether a value is, or is a view of, an array or a list that this function has made.
pub(crate) fn is_made_here(f: &Func, defs: &Defs<'_>, v: Value) -> bool {
    maker(f, defs, v).is_some()
}

/// The array or the list that this function has made which a value is, or is a view of.
pub(crate) fn maker(f: &Func, defs: &Defs<'_>, mut v: Value) -> Option<Value> {
    for _ in 0..64 {
        let node = defs.get(&v)?;
        match &node.op {
            Op::Cast | Op::Narrow(_) | Op::CheckBound { .. } => {}
            Op::Apply(op) => {
                let types: Vec<Type> = node.args.iter().map(|a| f.types[a.index()]).collect();
                let made = f.types[v.index()];
                // What a list gives is not the list's own.
                let given = types.iter().any(|t| matches!(t.kind(), Kind::List(_)));
                if op.allocates(&types, made) {
                    return (op.is(id::LIST_BUILD) || made.as_array().is_some() && !given).then_some(v);
                }
                if made.as_array().is_none()
                    || node.args.first().is_none_or(|a| f.types[a.index()].as_array().is_none())
                {
                    return None;
                }
            }
            Op::Const(_)
            | Op::Undef
            | Op::Global(_)
            | Op::Free(_)
            | Op::MakeFunction { .. }
            | Op::Member(_)
            | Op::CallInstance(_)
            | Op::PushHandled
            | Op::PopHandled
            | Op::Retain
            | Op::Release
            | Op::Broadcast
            | Op::Region(_)
            | Op::Task(_)
            | Op::Yield
            | Op::Fused(_)
            | Op::Table(_)
            | Op::Call { .. }
            | Op::CallSpread { .. }
            | Op::Attr(_)
            | Op::SetAttr(_) => return None,
        }
        v = node.args[0];
    }
    None
}

/// Whether an instance, or something that it calls, draws random numbers.
pub(crate) fn draws(session: &Session<'_>, id: InstanceId) -> bool {
    does(session, id, &|_, n| matches!(n.op, Op::Apply(op) if crate::ops::random::draws(op)))
}

/// The same of the streams that every thread has, and not of a generator that is passed.
pub fn draws_from_streams(session: &Session<'_>, id: InstanceId) -> bool {
    does(session, id, &|f, n| {
        matches!(n.op, Op::Apply(op) if crate::ops::random::draws(op))
            && n.args.iter().all(|a| *f.types[a.index()] != Kind::Random)
    })
}

/// Whether an instance, or something that it calls, has such an instruction.
fn does(session: &Session<'_>, id: InstanceId, wanted: &dyn Fn(&Func, &InstNode) -> bool) -> bool {
    let (mut seen, mut todo) = (std::collections::HashSet::from([id]), vec![id]);
    while let Some(at) = todo.pop() {
        let Some(t) = &session.at(at).typed else { continue };
        if t.func.insts.iter().any(|n| wanted(&t.func, n)) {
            return true;
        }
        todo.extend(super::callees(&t.func).into_iter().filter(|c| seen.insert(*c)));
    }
    false
}
