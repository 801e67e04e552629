//! What a function reads of its parameters by index: the reach of a stencil kernel. And the same function
//! with its indices counted from a place that it gets.

use super::func::InstNode;
use super::{Block, Func, FuncId, Loc, Op, Value, registry};
use crate::ops::id;
use crate::types::Const;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// One `parameter[index]` or `parameter[index] = …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Number of the parameter.
    pub param: usize,
    pub writes: bool,
    /// The index, where it is a constant int or a tuple of them: one entry for each dimension.
    pub index: Option<Vec<i64>>,
}

/// Operations in an index that is computed of constants.
const MAX_DEPTH: u32 = 8;

/// An int that is written down, or a sum, difference, product or negative of such.
fn int(definitions: &[Option<&InstNode>], v: Value, depth: u32) -> Option<i64> {
    let node = definitions[v.0 as usize]?;
    let part = |k: usize| if depth == 0 { None } else { int(definitions, *node.args.get(k)?, depth - 1) };
    if let Op::Const(Const::Int(n)) = &node.op {
        return Some(*n);
    }
    let Op::Table(path) = &node.op else { return None };
    match *path {
        id::NEG => part(0)?.checked_neg(),
        id::POS => part(0),
        id::ADD => part(0)?.checked_add(part(1)?),
        id::SUB => part(0)?.checked_sub(part(1)?),
        id::MUL => part(0)?.checked_mul(part(1)?),
        _ => None,
    }
}

/// Every indexing of a parameter in untyped code.
pub fn accesses(func: &Func) -> Vec<Access> {
    let definitions = definitions(func);
    let int = |v: Value| int(&definitions, v, MAX_DEPTH);
    let constant = |v: Value| {
        let node = definitions[v.0 as usize]?;
        if let Op::Table(id::TUPLE_BUILD) = &node.op {
            return node.args.iter().map(|a| int(*a)).collect();
        }
        if let Op::Const(Const::Tuple(m)) = &node.op {
            return m.iter().map(|c| if let Const::Int(n) = c { Some(*n) } else { None }).collect();
        }
        int(v).map(|n| vec![n])
    };
    let mut out = vec![];
    for i in func.blocks.iter().flat_map(|b| &b.insts) {
        let node = func.inst(*i);
        let Some((param, writes)) = access(func, &definitions, node) else { continue };
        out.push(Access { param, writes, index: constant(node.args[1]) });
    }
    out
}

fn definitions(func: &Func) -> Vec<Option<&InstNode>> {
    let mut definitions = vec![None; func.values as usize];
    for node in &func.insts {
        if let Some(r) = node.result {
            definitions[r.0 as usize] = Some(node);
        }
    }
    definitions
}

/// The parameter that an instruction indexes, and whether it writes to it.
fn access(func: &Func, definitions: &[Option<&InstNode>], node: &InstNode) -> Option<(usize, bool)> {
    let Op::Table(path @ (id::GETITEM | id::SETITEM)) = node.op else { return None };
    let mut of = node.args[0];
    while let Some(node) = definitions[of.0 as usize]
        && let Op::Narrow(_) = node.op
    {
        of = node.args[0];
    }
    func.blocks[0].params.iter().position(|p| *p == of).map(|param| (param, path == id::SETITEM))
}

/// Functions that were made by [`from_place`]: by the kernel, its relative parameters as bits, and the
/// dimensions.
static FROM_PLACE: LazyLock<Mutex<HashMap<(FuncId, u64, usize), FuncId>>> = LazyLock::new(Mutex::default);

/// The function with `ndim` parameters more, the place of the element that is being computed: from there
/// count the indices of those parameters whose bit is set in `relative`. All else that the function does with
/// them is done with the whole arrays, as in Numba.
pub(crate) fn from_place(id: FuncId, relative: u64, ndim: usize) -> Option<FuncId> {
    let key = (id, relative, ndim);
    if let Some(known) = FROM_PLACE.lock().unwrap_or_else(|e| e.into_inner()).get(&key) {
        return Some(*known);
    }
    let func = registry::get(id)?;
    let moved = registry::add(moved(&func, relative, ndim));
    Some(*FROM_PLACE.lock().unwrap_or_else(|e| e.into_inner()).entry(key).or_insert(moved))
}

fn moved(func: &Func, relative: u64, ndim: usize) -> Func {
    let mut out = func.clone();
    out.hash = func.hash.rotate_left(17) ^ relative.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ndim as u64;
    let p = &mut out.params;
    p.names.splice(p.positional..p.positional, (0..ndim).map(|k| format!("at {k}").into()));
    p.positional += ndim;
    let entry = Block(0);
    let place: Vec<Value> = (0..ndim).map(|_| out.add_param(entry)).collect();
    let at = out.push(entry, Op::Table(id::TUPLE_BUILD), place, Loc::default(), None);
    out.blocks[0].insts.rotate_right(1);
    let definitions = definitions(func);
    for b in 0..out.blocks.len() {
        let before = std::mem::take(&mut out.blocks[b].insts);
        for i in before {
            let node = out.insts[i.index()].clone();
            let wanted = i.index() < func.insts.len()
                && access(func, &definitions, &node).is_some_and(|(param, _)| relative >> param & 1 == 1);
            if wanted {
                let index = out.push(
                    Block::new(b),
                    Op::Table(id::NUMPY_STENCIL_PLACE),
                    vec![node.args[0], node.args[1], at],
                    node.loc,
                    node.unwind.clone(),
                );
                out.insts[i.index()].args[1] = index;
            }
            out.blocks[b].insts.push(i);
        }
    }
    out
}
