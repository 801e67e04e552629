//! Handlers that do nothing but raise again what they caught.
//!
//! A comprehension that runs in the function around it is protected: its handler puts back the variables
//! whose names the comprehension used. Where nobody reads them afterwards, nothing is left of that but a
//! block that raises again. Exceptions go to where it would send them.

use crate::ssa::{Block, BlockCall, Func, Term, Value};

/// Where a handler sends what it caught: out of the function, or on to another one.
type Onward = Option<BlockCall>;

pub(crate) fn skip(func: &mut Func) {
    // A handler may send to another one of the kind: as many rounds as they are nested.
    for _ in 0..func.blocks.len() {
        let onward: Vec<Option<Onward>> = (0..func.blocks.len()).map(|b| onward(func, b)).collect();
        if onward.iter().all(Option::is_none) {
            return;
        }
        let params: Vec<Vec<Value>> = func.blocks.iter().map(|b| b.params.clone()).collect();
        let mut changed = false;
        let raises = func.blocks.iter_mut().filter_map(|b| match &mut b.term {
            Term::Raise { unwind, .. } => Some(unwind),
            Term::None | Term::Jump(_) | Term::Branch { .. } | Term::Return(_) | Term::Unreachable => None,
        });
        for unwind in func.insts.iter_mut().map(|n| &mut n.unwind).chain(raises) {
            let Some(edge) = unwind else { continue };
            let Some(to) = &onward[edge.block.index()] else { continue };
            *unwind = to.as_ref().map(|to| through(to, edge, &params[edge.block.index()]));
            changed = true;
        }
        if !changed {
            return;
        }
    }
}

/// Where block `b` sends the exception if it does nothing else.
fn onward(func: &Func, b: usize) -> Option<Onward> {
    let data = &func.blocks[b];
    let Term::Raise { exc, unwind } = &data.term else { return None };
    if !data.insts.is_empty() || data.params.first() != Some(exc) || b == 0 {
        return None;
    }
    let itself = |u: &BlockCall| u.block == Block(b as u32) || u.args.contains(exc);
    if unwind.as_ref().is_some_and(itself) { None } else { Some(unwind.clone()) }
}

/// The edge `to`, which leaves a block with these parameters, for who comes in by `edge`. The exception is
/// the first parameter of both and on no edge.
fn through(to: &BlockCall, edge: &BlockCall, params: &[Value]) -> BlockCall {
    let passed = |v: &Value| match params.iter().position(|p| p == v) {
        Some(at) => edge.args[at - 1],
        None => *v,
    };
    BlockCall { block: to.block, args: to.args.iter().map(passed).collect() }
}
