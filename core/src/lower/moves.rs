//! Functions that move their own parameters: whoever calls one gives the argument away.
//!
//! `par.move(x)` of a variable is looked at where it is typed ([`crate::infer::moved`]). Which parameters a function
//! moves, itself or by what it calls, is known when everything is typed; then calls are moves, too.

use crate::diag::Result;
use crate::infer::moved::{root, used_after};
use crate::infer::state::{Instance, Session};
use crate::ops::tasks;
use crate::ssa::analysis::Definitions;
use crate::ssa::{Func, Inst, InstanceId, Op, Value};
use crate::types::Type;
use std::collections::{BTreeSet, HashMap};

type Moves = HashMap<InstanceId, BTreeSet<usize>>;

/// Refuses uses of what a call gave away.
pub(super) fn check(session: &Session<'_>) -> Result<()> {
    let typed: Vec<(InstanceId, &Func)> = session
        .instances
        .iter()
        .enumerate()
        .filter_map(|(k, i)| Some((InstanceId(k as u32), &*i.typed.as_ref()?.func)))
        .collect();
    // What `move` itself gives says which instances it has.
    let mut moves: Moves = typed
        .iter()
        .filter(|(_, f)| session.is_library(f) && &*f.name == "moved")
        .filter(|(id, _)| tasks::is_given(session.at(*id).ret))
        .map(|(id, _)| (*id, BTreeSet::from([0])))
        .collect();
    if moves.is_empty() {
        return Ok(());
    }
    let users: Vec<_> = typed.into_iter().filter(|(_, f)| !session.is_library(f)).collect();
    loop {
        let mut changed = false;
        for (id, f) in &users {
            let (defs, params) = (Definitions::new(f), &f.blocks[0].params);
            for (_, v) in given_away(f, &moves) {
                let root = root(f, &defs, v);
                if let Some(k) = params.iter().position(|p| *p == root) {
                    changed |= moves.entry(*id).or_default().insert(k);
                }
            }
        }
        if !changed {
            break;
        }
    }
    for (_, f) in &users {
        let defs = Definitions::new(f);
        for (i, v) in given_away(f, &moves) {
            if let Some(d) = used_after(f, &|v| f.types[v.index()], i, root(f, &defs, v)) {
                return Err(d);
            }
        }
    }
    Ok(())
}

/// The types of what is borrowed.
pub(super) fn borrowed(session: &Session<'_>) -> Vec<Type> {
    let lends =
        |i: &&Instance| session.is_library(&i.func) && &*i.func.name == "borrowed" && tasks::is_given(i.ret);
    session.instances.iter().filter(lends).flat_map(|i| i.key.args.iter().copied()).collect()
}

/// Calls that give something away, and what.
fn given_away(func: &Func, moves: &Moves) -> Vec<(Inst, Value)> {
    let calls = func.blocks.iter().flat_map(|b| &b.insts).filter_map(|i| {
        let Op::CallInstance(callee) = func.inst(*i).op else { return None };
        Some((*i, moves.get(&callee)?))
    });
    calls.flat_map(|(i, of)| of.iter().filter_map(move |k| Some((i, *func.inst(i).args.get(*k)?)))).collect()
}
