//! What a function reads of its parameters by index: the reach of a stencil kernel.

use super::func::InstNode;
use super::{Func, Op, Value};
use crate::types::Const;

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
    if let Op::Const(Const::Int(n)) = &node.op { return Some(*n); }
    let Op::Table(path) = &node.op else { return None };
    match *path {
        "operator.neg" => part(0)?.checked_neg(),
        "operator.pos" => part(0),
        "operator.add" => part(0)?.checked_add(part(1)?),
        "operator.sub" => part(0)?.checked_sub(part(1)?),
        "operator.mul" => part(0)?.checked_mul(part(1)?),
        _ => None,
    }
}

/// Every indexing of a parameter in untyped code.
pub fn accesses(func: &Func) -> Vec<Access> {
    let mut definitions = vec![None; func.values as usize];
    for node in &func.insts { if let Some(r) = node.result { definitions[r.0 as usize] = Some(node); } }
    let origin = |mut v: Value| {
        while let Some(node) = definitions[v.0 as usize] && let Op::Narrow(_) = node.op { v = node.args[0]; }
        v
    };
    let int = |v: Value| int(&definitions, v, MAX_DEPTH);
    let constant = |v: Value| {
        let node = definitions[v.0 as usize]?;
        if let Op::Table("tuple.build") = &node.op { return node.args.iter().map(|a| int(*a)).collect(); }
        if let Op::Const(Const::Tuple(m)) = &node.op { return m.iter().map(|c| if let Const::Int(n) = c { Some(*n) } else { None }).collect(); }
        int(v).map(|n| vec![n])
    };
    let mut out = vec![];
    for i in func.blocks.iter().flat_map(|b| &b.insts) {
        let node = func.inst(*i);
        let Op::Table(path @ ("operator.getitem" | "operator.setitem")) = node.op else { continue };
        let writes = path == "operator.setitem";
        let Some(param) = func.blocks[0].params.iter().position(|p| *p == origin(node.args[0])) else { continue };
        out.push(Access { param, writes, index: constant(node.args[1]) });
    }
    out
}
