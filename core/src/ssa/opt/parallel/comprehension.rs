//! Comprehensions whose list becomes an array, `np.array([f(x) for x in a])`: their loops become loops over
//! positions, which are then taken for loops over `prange`.
//!
//! Nobody has said that the iterations may run at the same time. Whether they do anything but compute shows
//! when the body is typed ([`crate::lower::pure`]); where they do, the region runs its pieces one after the
//! other, as the loop did. So what is found here may be taken for a comprehension too freely: the result is
//! the same.

use super::find::{Over, over};
use crate::ops::{OpId, id};
use crate::ssa::analysis::{Cfg, Definitions, Dominators, Loops, uses_of, uses_of_term};
use crate::ssa::{Block, Func, Inst, InstNode, Loc, Op, Term, Value};

/// The positions of a sequence, as a range.
pub(crate) const INDICES: OpId = id::PARALLEL_INDICES;

/// Rewrites the first such loop that has not been refused; its place.
pub(crate) fn rewrite(func: &mut Func, refused: &[Loc]) -> Option<Loc> {
    let cfg = Cfg::new(func);
    let doms = Dominators::new(func, &cfg);
    let defs = Definitions::new(func);
    for l in &Loops::new(func, &cfg, &doms).all {
        let Some(Over { next, loc, pre, iter, .. }) = over(func, &cfg, &defs, l, refused) else { continue };
        if func.block(l.header).params.len() != 1 || !func.block(pre).insts.contains(&iter) {
            continue;
        }
        let Some(more) = (if let Term::Branch { then_to, .. } = &func.block(l.header).term {
            Some(then_to.block)
        } else {
            None
        }) else {
            continue;
        };
        if collects(func, &defs, &l.blocks, Inside::One).is_none() {
            continue;
        }
        // Nobody reads the element in `for _ in range(n)`.
        let item = func.block(more).insts.iter().copied().find(|i| {
            func.inst(*i).op == Op::Member(2) && Some(func.inst(*i).args[0]) == func.inst(next).result
        });
        over_positions(func, pre, iter, more, item);
        return Some(loc);
    }
    None
}

/// How many lists are made for what becomes an array.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Inside {
    One,
    /// Elements may be lists that the loop makes.
    Several,
}

/// The list that a loop appends to and does nothing else with, which is then what an array is made of; with
/// the first place that appends, and the call that makes the array.
pub(crate) fn collects(
    func: &Func,
    defs: &Definitions,
    blocks: &[Block],
    inside: Inside,
) -> Option<(Value, Inst, Inst)> {
    let own = |v: Value| inside == Inside::Several && defs.block(v).is_some_and(|b| blocks.contains(&b));
    let mut lists: Vec<(Value, Inst)> = vec![];
    for i in blocks.iter().flat_map(|b| &func.block(*b).insts) {
        let node = func.inst(*i);
        let new = node.op == Op::Table(id::LIST_APPEND)
            && defs.inst(node.args[0]).is_some_and(|d| {
                func.inst(d).op == Op::Table(id::LIST_BUILD) && func.inst(d).args.is_empty()
            })
            && !own(node.args[0]);
        if new && !lists.iter().any(|l| l.0 == node.args[0]) {
            lists.push((node.args[0], *i));
        }
    }
    let [(list, append)] = lists[..] else { return None };
    let (mut arrays, mut others) = (vec![], 0);
    for b in (0..func.blocks.len()).map(Block::new) {
        let within = blocks.contains(&b);
        for i in &func.block(b).insts {
            let node = func.inst(*i);
            let mut reads = 0;
            uses_of(node, &mut |v| reads += (v == list) as u32);
            if reads == 0 {
                continue;
            }
            let of_numpy = |v: Value| {
                defs.inst(v).is_some_and(
                    |d| matches!(&func.inst(d).op, Op::Attr(name) if matches!(&**name, "array" | "asarray")),
                )
            };
            if within && node.op == Op::Table(id::LIST_APPEND) && node.args[1] != list {
                continue;
            }
            if !within
                && matches!(node.op, Op::Call { .. })
                && node.args.get(1) == Some(&list)
                && of_numpy(node.args[0])
                && reads == 1
            {
                arrays.push(*i)
            } else {
                others += 1
            }
        }
        uses_of_term(&func.block(b).term, &mut |v| others += (v == list) as u32);
    }
    if let ([call], 0) = (&arrays[..], others) { Some((list, append, *call)) } else { None }
}

/// `for x in a` as `for k in indices(s): x = s[k]`, where `s` is `a` or a list of what it gives.
fn over_positions(func: &mut Func, pre: Block, iter: Inst, first: Block, item: Option<Inst>) {
    let iterated = func.inst(iter).args.clone();
    let sequence = insert_before(func, pre, iter, Op::Table(id::PARALLEL_SEQUENCE), iterated);
    let range = insert_before(func, pre, iter, Op::Table(INDICES), vec![sequence]);
    func.insts[iter.index()].args = vec![range];
    if let Some(item) = item {
        replace_element(func, first, item, id::GETITEM, sequence);
    }
}

/// Writes an instruction in front of another one, with its place and its handler.
pub(crate) fn insert_before(func: &mut Func, b: Block, before: Inst, op: Op, args: Vec<Value>) -> Value {
    let (loc, unwind, result) = (func.inst(before).loc, func.inst(before).unwind.clone(), func.make_value());
    func.insts.push(InstNode { op, args, result: Some(result), loc, unwind });
    let new = Inst::new(func.insts.len() - 1);
    let insts = &mut func.blocks[b.index()].insts;
    let at = insts.iter().position(|i| *i == before).unwrap_or(insts.len());
    insts.insert(at, new);
    result
}

/// What the loop read as the element keeps its name and is `op(of, position)`; the position gets a new one.
pub(crate) fn replace_element(func: &mut Func, first: Block, item: Inst, op: OpId, of: Value) {
    let like = InstNode { unwind: unwind_inside(func, first, item), ..func.inst(item).clone() };
    let position = func.make_value();
    let element = func.insts[item.index()].result.replace(position);
    func.insts.push(InstNode { op: Op::Table(op), args: vec![of, position], result: element, ..like });
    let new = Inst::new(func.insts.len() - 1);
    let insts = &mut func.blocks[first.index()].insts;
    let at = insts.iter().position(|i| *i == item).map_or(0, |k| k + 1);
    insts.insert(at, new);
}

/// Where an exception of the iteration goes: where that of its next instruction that may raise one goes.
fn unwind_inside(func: &Func, first: Block, item: Inst) -> Option<crate::ssa::BlockCall> {
    let insts = &func.block(first).insts;
    let behind =
        insts.iter().skip_while(|i| **i != item).map(|i| func.inst(*i)).find(|n| !n.op.never_raises())?;
    behind.unwind.clone()
}
