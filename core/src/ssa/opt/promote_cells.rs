//! Cells that never leave the function become variables: once inner functions are inlined, most cells are
//! only read and written here.
//!
//! Every block gets a parameter for each such cell; the clean-ups remove those that have one value. Reading
//! an unbound cell stays an error, as a check that typing drops where it can.

use crate::ops::id;
use crate::ssa::analysis::{Analyses, Definitions, uses_of, uses_of_term};
use crate::ssa::{Block, Func, Inst, InstNode, Loc, Op, Value};
use crate::types::Const;

/// More cells than this stay cells: there is a parameter for each cell in each block.
const MOST: usize = 16;

const NEW: Op = Op::Table(id::CELL_NEW);
const GET: Op = Op::Table(id::CELL_GET);
const SET: Op = Op::Table(id::CELL_SET);
const DELETE: Op = Op::Table(id::CELL_DELETE);

/// Whether any cell was promoted.
pub(crate) fn run(func: &mut Func, analyses: &mut Analyses) -> bool {
    let cells = local_cells(func);
    if cells.is_empty() {
        return false;
    }
    let cfg = analyses.cfg(func);
    let defs = Definitions::new(func);
    let unbound = func.make_value();
    for b in cfg.rpo() {
        let params: Vec<Value> = if *b == Block(0) {
            vec![unbound; cells.len()]
        } else {
            cells.iter().map(|_| func.add_param(*b)).collect()
        };
        promote_in(func, *b, &cells, params, unbound, &defs);
    }
    func.insts.push(InstNode {
        op: Op::Undef,
        args: vec![],
        result: Some(unbound),
        loc: Loc::default(),
        unwind: None,
    });
    let inst = Inst::new(func.insts.len() - 1);
    func.blocks[0].insts.insert(0, inst);
    true
}

/// Cells made here that nothing but reads, writes and deletions touches.
fn local_cells(func: &Func) -> Vec<Value> {
    let mut cells: Vec<Value> = func.insts.iter().filter(|n| n.op == NEW).filter_map(|n| n.result).collect();
    if cells.is_empty() {
        return cells;
    }
    let mut escapes = |v: Value| cells.retain(|c| *c != v);
    for block in &func.blocks {
        for i in &block.insts {
            let node = func.inst(*i);
            let access = [GET, SET, DELETE].contains(&node.op);
            let mut first = access;
            uses_of(node, &mut |v| {
                if !std::mem::take(&mut first) {
                    escapes(v)
                }
            });
        }
        uses_of_term(&block.term, &mut escapes);
    }
    cells.truncate(MOST);
    cells
}

/// Rewrites one block; `current` holds the cells' values at its start.
fn promote_in(
    func: &mut Func,
    b: Block,
    cells: &[Value],
    mut current: Vec<Value>,
    unbound: Value,
    defs: &Definitions,
) {
    let name = |func: &Func, v: Value| match defs.inst(v).map(|i| &func.inst(i).op) {
        Some(Op::Const(Const::Str(s))) => s.clone(),
        Some(_) | None => "?".into(),
    };
    let mut kept = vec![];
    for i in std::mem::take(&mut func.blocks[b.index()].insts) {
        if let Some(u) = &mut func.insts[i.index()].unwind {
            u.args.extend(&current);
        }
        let node = func.inst(i);
        let cell = if node.op == NEW {
            node.result
        } else if [GET, SET, DELETE].contains(&node.op) {
            node.args.first().copied()
        } else {
            None
        };
        let Some(k) = cell.and_then(|c| cells.iter().position(|x| *x == c)) else {
            kept.push(i);
            continue;
        };
        if node.op == NEW {
            current[k] = unbound;
            continue;
        }
        if node.op == SET {
            current[k] = node.args[1];
            continue;
        }
        // The function whose variable it is says so by a third operand.
        let own = node.args.get(2).is_some_and(|v| {
            matches!(defs.inst(*v).map(|i| &func.inst(i).op), Some(Op::Const(Const::Bool(true))))
        });
        let check = Op::CheckBound { name: name(func, node.args[1]), captured: !own };
        let deleted = node.op == DELETE;
        let node = &mut func.insts[i.index()];
        (node.op, node.args) = (check, vec![current[k]]);
        // A variable that was found bound is bound from here on.
        current[k] = if deleted { unbound } else { node.result.unwrap_or(current[k]) };
        kept.push(i);
    }
    let block = &mut func.blocks[b.index()];
    block.insts = kept;
    for t in block.term.targets_mut() {
        t.args.extend(&current);
    }
}
