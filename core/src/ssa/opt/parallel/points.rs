//! Loops over `pndindex(shape)`: loops over the numbers of its points, which are then taken for loops over
//! `prange`.

use super::Names;
use super::comprehension::{insert_before, replace_element};
use super::find::{Over, operation, over};
use crate::ops::{OpId, id};
use crate::ssa::analysis::{Cfg, Definitions, Dominators, Loops};
use crate::ssa::{Func, Inst, Op, Term};

/// The numbers of the points of a shape, as a range.
pub(crate) const PLACES: OpId = id::PARALLEL_PLACES;

/// Rewrites all such loops; whether there were any.
pub(crate) fn rewrite(func: &mut Func, names: &dyn Names) -> bool {
    let mut changed = false;
    while rewrite_one(func, names) {
        changed = true;
    }
    changed
}

fn rewrite_one(func: &mut Func, names: &dyn Names) -> bool {
    let cfg = Cfg::new(func);
    let doms = Dominators::new(func, &cfg);
    let defs = Definitions::new(func);
    for l in &Loops::new(func, &cfg, &doms).all {
        let Some(Over { next, pre, iter, .. }) = over(func, &cfg, &defs, l, &[]) else { continue };
        let Some(call) = defs.inst(func.inst(iter).args[0]).map(|i| func.inst(i).clone()) else { continue };
        if !matches!(&call.op, Op::Call { keywords } if keywords.is_empty())
            || operation(func, &defs, names, call.args[0]) != Some(id::TIERUP_PNDINDEX)
            || !func.block(pre).insts.contains(&iter)
        {
            continue;
        }
        let Term::Branch { then_to, .. } = &func.block(l.header).term else { continue };
        let first = then_to.block;
        let item: Option<Inst> = func.block(first).insts.iter().copied().find(|i| {
            func.inst(*i).op == Op::Member(2) && Some(func.inst(*i).args[0]) == func.inst(next).result
        });
        let shape = if let [_, one] = call.args[..] {
            one
        } else {
            insert_before(func, pre, iter, Op::Table(id::TUPLE_BUILD), call.args[1..].to_vec())
        };
        let range = insert_before(func, pre, iter, Op::Table(PLACES), vec![shape]);
        func.insts[iter.index()].args = vec![range];
        if let Some(item) = item {
            replace_element(func, first, item, id::PARALLEL_PLACE, shape);
        }
        return true;
    }
    false
}
