//! Indices that a check would wrap first are checked as they are; only what fails is wrapped, on the side.
//!
//! ```text
//! a: j = select(k < 0, k + n, k)          a: brif k <u n, m(k), cold w
//!    brif j <u n, b, cold fail      →     w: j' = k + n; brif k < 0 & j' <u n, m(j'), cold fail
//! b: … j …                                m(j): jump b
//! ```
//!
//! Negative indices are rare where the compiler cannot see them coming, and a branch that is never taken
//! costs less than the select. `n` must be known not to be negative: then `k <u n` says that `k` is not
//! either. This comes after versioning, which knows the select by sight.

use super::edit::{Defs, Writer};
use super::range::{Node, Prover};
use crate::lir::cfg::{Analyses, Cfg, Dominators};
use crate::lir::{Block, BlockCall, Cold, Func, Inst, InstData, Loc, Op, Ty, Value};

/// A check at the end of `block`: of `index`, which is `raw` wrapped by `size`.
struct Check {
    block: Block,
    branch: Inst,
    index: Value,
    raw: Value,
    size: Value,
    then_to: BlockCall,
    else_to: BlockCall,
}

pub(crate) fn unwrap_indices(func: &mut Func, analyses: &mut Analyses) {
    let defs = Defs::new(func);
    let mut checks: Vec<Check> = func.layout.iter().filter_map(|b| find(func, &defs, *b)).collect();
    if checks.is_empty() {
        return;
    }
    let (cfg, doms) = (analyses.cfg(func), analyses.dominators(func));
    {
        let mut prover = Prover::new(func, cfg, doms);
        checks.retain(|c| {
            cfg.is_reachable(c.block)
                && cfg.preds(c.then_to.block).len() == 1
                && prover.ask(Node::Zero, Node::V(c.size), 0, c.block)
        });
    }
    for c in &checks {
        apply(func, cfg, doms, c);
    }
    if !checks.is_empty() {
        analyses.invalidate();
    }
}

fn find(func: &Func, defs: &Defs, block: Block) -> Option<Check> {
    if func.blocks[block.index()].cold {
        return None;
    }
    let branch = func.terminator(block)?;
    let InstData::Brif { cond, then_to, else_to, cold: Cold::Else } = &func.insts[branch.index()].data else {
        return None;
    };
    let op = |v: Value| {
        let InstData::Op { op, args, .. } = defs.data(func, v)? else { return None };
        Some((*op, args.as_slice()))
    };
    let (Op::IcmpUlt, &[index, size]) = op(*cond)? else { return None };
    let (Op::Select, &[negative, wrapped, raw]) = op(index)? else { return None };
    let (Op::IcmpSlt, &[asked, zero]) = op(negative)? else { return None };
    let (Op::Iadd, sum) = op(wrapped)? else { return None };
    let wraps =
        asked == raw && defs.constant(func, zero) == Some(0) && (sum == [raw, size] || sum == [size, raw]);
    (wraps && func.value_type(raw) == Ty::I64).then(|| Check {
        block,
        branch,
        index,
        raw,
        size,
        then_to: then_to.clone(),
        else_to: else_to.clone(),
    })
}

fn apply(func: &mut Func, cfg: &Cfg, doms: &Dominators, c: &Check) {
    let (met, side) = (func.make_block(), func.make_block());
    let index = func.add_param(met, Ty::I64);
    func.blocks[side.index()].cold = true;
    func.blocks[c.block.index()].insts.pop();
    let mut w = Writer { func, loc: Loc(0) };
    w.loc = w.func.insts[c.branch.index()].loc;
    let at_once = w.bin(c.block, Op::IcmpUlt, c.raw, c.size);
    w.put(
        c.block,
        InstData::Brif {
            cond: at_once,
            then_to: BlockCall { block: met, args: vec![c.raw] },
            else_to: BlockCall { block: side, args: vec![] },
            cold: Cold::Else,
        },
    );
    let zero = w.int(side, Ty::I64, 0);
    let negative = w.bin(side, Op::IcmpSlt, c.raw, zero);
    let wrapped = w.bin(side, Op::Iadd, c.raw, c.size);
    let inside = w.bin(side, Op::IcmpUlt, wrapped, c.size);
    let both = w.bin(side, Op::Band, negative, inside);
    w.put(
        side,
        InstData::Brif {
            cond: both,
            then_to: BlockCall { block: met, args: vec![wrapped] },
            else_to: c.else_to.clone(),
            cold: Cold::Else,
        },
    );
    w.put(met, InstData::Jump(c.then_to.clone()));
    for b in cfg.rpo().iter().copied().filter(|b| doms.dominates(c.then_to.block, *b)).chain([met]) {
        for i in func.blocks[b.index()].insts.clone() {
            func.insts[i.index()].data.map_uses(|v| if v == c.index { index } else { v });
        }
    }
    let at = func.layout.iter().position(|b| *b == c.block).map_or(func.layout.len(), |p| p + 1);
    func.layout.insert(at, met);
    func.layout.push(side);
}
