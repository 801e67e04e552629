//! Finds loops over `prange` and checks their shape: one way in, one way out, through the header.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what calls are those of `prange` is asked by pattern: any other is none"
)]

use super::{Meaning, Names, Root};
use crate::diag::{Code, Diagnostic, Result};
use crate::ops::{OpId, id};
use crate::ssa::analysis::{Cfg, Definitions, Dominators, Edge, Loop, Loops, uses_of, uses_of_term};
use crate::ssa::{Block, BlockCall, Func, Inst, Loc, Op, Parts, Term, Value};
use crate::types::Const;

/// A loop over `prange`.
#[derive(Clone)]
pub(crate) struct Found {
    /// The block that asks for the next value; its other parameters are what the loop carries.
    pub header: Block,
    /// The only block that leads into the loop.
    pub pre: Block,
    /// `builtins.iter` in it, and what it is called with: the range.
    pub iter: Inst,
    pub range: Value,
    /// The third argument of `prange`.
    pub step: Option<Value>,
    /// `iter.next`, and which parameter of the header is the iterator.
    pub next: Inst,
    pub state: usize,
    pub exit: BlockCall,
    /// Blocks of an iteration, handlers inside of it included.
    pub blocks: std::collections::BTreeSet<Block>,
    pub loc: Loc,
    /// A comprehension: nobody has said that its iterations do not depend on each other.
    pub careful: bool,
}

pub(crate) enum Look {
    Nothing,
    Refused(Loc, &'static str),
    Found(Box<Found>),
}

/// A loop over what something gives; the members are those of [`Found`].
pub(crate) struct Over {
    pub next: Inst,
    pub state: usize,
    pub loc: Loc,
    pub pre: Block,
    pub iter: Inst,
}

/// A loop over what `builtins.iter` gives, with one way in, unless it has been refused.
pub(crate) fn over(func: &Func, cfg: &Cfg, defs: &Definitions, l: &Loop, refused: &[Loc]) -> Option<Over> {
    let (next, state) = asks_for_next(func, defs, l.header)?;
    let loc = func.inst(next).loc;
    if refused.contains(&loc) {
        return None;
    }
    let outside: Vec<Block> = cfg.preds(l.header).iter().copied().filter(|p| !l.blocks.contains(p)).collect();
    let [pre] = outside[..] else { return None };
    let Term::Jump(enter) = &func.block(pre).term else { return None };
    let iter = defs.inst(enter.args[state]).filter(|i| func.inst(*i).op == Op::Table(id::BUILTINS_ITER))?;
    Some(Over { next, state, loc, pre, iter })
}

/// Where loops over `prange` are.
pub(crate) fn all(func: &Func, names: &dyn Names) -> Vec<Loc> {
    let (cfg, defs) = (Cfg::new(func), Definitions::new(func));
    let doms = Dominators::new(func, &cfg);
    let is_one = |o: &Over| {
        defs.inst(func.inst(o.iter).args[0]).map(|i| func.inst(i)).is_some_and(|call| {
            matches!(call.op, Op::Call { .. })
                && matches!(
                    operation(func, &defs, names, call.args[0]),
                    Some(id::TIERUP_PRANGE | id::TIERUP_PNDINDEX)
                )
        })
    };
    Loops::new(func, &cfg, &doms)
        .all
        .iter()
        .filter_map(|l| over(func, &cfg, &defs, l, &[]))
        .filter(is_one)
        .map(|o| o.loc)
        .collect()
}

/// The first loop over `prange` that has not been refused, outer ones first.
pub(crate) fn find(func: &Func, names: &dyn Names, refused: &[Loc]) -> Result<Look> {
    find_one(func, names, &|loc| !refused.contains(&loc))
}

/// The first one whose place is `wanted`.
pub(crate) fn find_one(func: &Func, names: &dyn Names, wanted: &dyn Fn(Loc) -> bool) -> Result<Look> {
    let cfg = Cfg::new(func);
    let doms = Dominators::new(func, &cfg);
    let defs = Definitions::new(func);
    for l in &Loops::new(func, &cfg, &doms).all {
        let Some(Over { next, state, loc, pre, iter }) = over(func, &cfg, &defs, l, &[]) else { continue };
        if !wanted(loc) {
            continue;
        }
        let range = func.inst(iter).args[0];
        let Some(call) = defs.inst(range).map(|i| func.inst(i)) else { continue };
        let careful = call.op == Op::Table(id::PARALLEL_INDICES);
        let asked = call.op == Op::Table(id::PARALLEL_PLACES)
            || matches!(&call.op, Op::Call { keywords } if keywords.is_empty())
                && operation(func, &defs, names, call.args[0]) == Some(id::TIERUP_PRANGE);
        if !careful && !asked {
            continue;
        }
        let Term::Branch { then_to, else_to, .. } = &func.block(l.header).term else { continue };
        let entry = then_to.block;
        let blocks: std::collections::BTreeSet<Block> =
            cfg.rpo().iter().copied().filter(|b| doms.dominates(entry, *b)).collect();
        let found = Found {
            header: l.header,
            pre,
            iter,
            range,
            step: if let Op::Table(_) = call.op { None } else { call.args.get(3).copied() },
            careful,
            next,
            state,
            exit: else_to.clone(),
            blocks,
            loc,
        };
        if cfg.preds(entry).len() != 1 || !then_to.args.is_empty() || !is_plain(func, &defs, &found) {
            return Ok(Look::Refused(loc, "its control flow is unusual"));
        }
        match leaves_early(func, &found) {
            // Numba runs it in one thread.
            Err(_) if func.parallel.has(Parts::LENIENT) => {
                return Ok(Look::Refused(loc, "control leaves it from inside"));
            }
            other => other?,
        }
        // What the handler reads of an iteration is what the one that raised left.
        if func.parallel.has(Parts::LENIENT) && !found.careful && handler_reads(func, &found) {
            return Ok(Look::Refused(loc, "what catches an exception of it reads a variable that it sets"));
        }
        return Ok(Look::Found(Box::new(found)));
    }
    Ok(Look::Nothing)
}

/// The header's `iter.next` and the place of the iterator among its parameters.
fn asks_for_next(func: &Func, defs: &Definitions, header: Block) -> Option<(Inst, usize)> {
    let block = func.block(header);
    let [next, more] = block.insts[..] else { return None };
    let node = func.inst(next);
    let Term::Branch { cond, .. } = &block.term else { return None };
    if node.op != Op::Table(id::ITER_NEXT)
        || func.inst(more).op != Op::Member(1)
        || defs.inst(*cond) != Some(more)
    {
        return None;
    }
    block.params.iter().position(|p| *p == node.args[0]).map(|k| (next, k))
}

/// What a callee means, whatever it is called here.
pub(crate) fn meaning(func: &Func, defs: &Definitions, names: &dyn Names, callee: Value) -> Option<Meaning> {
    let node = |v: Value| defs.inst(v).map(|i| func.inst(i));
    let (mut at, mut attributes) = (callee, vec![]);
    loop {
        let found = node(at)?;
        let root = match &found.op {
            Op::Attr(name) => {
                attributes.insert(0, &**name);
                at = found.args[0];
                continue;
            }
            Op::Global(name) => Root::Global(name),
            Op::Free(n) => Root::Free(*n),
            Op::Table(id::IMPORT_MODULE) => match &node(found.args[0])?.op {
                Op::Const(Const::Str(module)) => Root::Import(module),
                _ => return None,
            },
            _ => return None,
        };
        return names.meaning(root, &attributes);
    }
}

/// The operation that a callee is.
pub(crate) fn operation(func: &Func, defs: &Definitions, names: &dyn Names, callee: Value) -> Option<OpId> {
    match meaning(func, defs, names, callee)? {
        Meaning::Operation(op) => Some(op),
        Meaning::Cast(_) | Meaning::Module => None,
    }
}

/// The iterator and what `iter.next` gives are used by the loop alone, as the builder writes it, and every
/// edge back steps on.
pub(crate) fn is_plain(func: &Func, defs: &Definitions, f: &Found) -> bool {
    let (Some(next), iterator) = (func.inst(f.next).result, func.block(f.header).params[f.state]) else {
        return false;
    };
    let Some(first) = func.inst(f.iter).result else { return false };
    let steps = |v: Value| {
        defs.inst(v).is_some_and(|i| func.inst(i).op == Op::Member(0) && func.inst(i).args == [next])
    };
    let mut plain = true;
    for b in (0..func.blocks.len()).map(Block::new) {
        let inside = f.blocks.contains(&b);
        for i in &func.block(b).insts {
            let node = func.inst(*i);
            let own = *i == f.next
                || matches!(node.op, Op::Member(0 | 2)) && inside
                || matches!(node.op, Op::Member(1)) && b == f.header;
            uses_of(node, &mut |v| plain &= v != first && v != iterator && v != next || own);
            if own && let Some(u) = &node.unwind {
                plain &= !u.args.iter().any(|v| [first, iterator, next].contains(v));
            }
        }
        if b == f.pre {
            continue;
        }
        uses_of_term(&func.block(b).term, &mut |v| plain &= ![first, iterator, next].contains(&v));
        if inside {
            func.each_edge(b, &mut |edge, to| {
                if edge == Edge::Jumps && to.block == f.header {
                    plain &= steps(to.args[f.state])
                }
            });
        }
    }
    plain
}

/// Whether what an exception of an iteration leads to, outside of the loop, reads a variable that the loop sets.
fn handler_reads(func: &Func, f: &Found) -> bool {
    let of_the_loop = |v: &Value| {
        f.blocks.iter().map(|b| func.block(*b)).any(|block| {
            block.params.contains(v) || block.insts.iter().any(|i| func.inst(*i).result == Some(*v))
        })
    };
    let insts = f.blocks.iter().flat_map(|b| &func.block(*b).insts);
    let mut leads_out =
        insts.filter_map(|i| func.inst(*i).unwind.as_ref()).filter(|u| !f.blocks.contains(&u.block));
    leads_out.any(|u| u.args.iter().any(of_the_loop))
}

/// An iteration ends by going on to the next one, or by an exception.
fn leaves_early(func: &Func, f: &Found) -> Result<()> {
    let refuse = |loc: Loc, what: &str, help: &str| {
        Err(Diagnostic::new(
            Code::ParallelExit,
            format!("{what} a prange loop, whose iterations run in no order"),
        )
        .at(func.span(loc))
        .help(help))
    };
    let mut blocks: Vec<Block> = f.blocks.iter().copied().collect();
    blocks.sort();
    // Some Pythons copy a `return` that follows the loop to where a `break` leads to it.
    let after_the_loop: Vec<Loc> = func
        .blocks
        .iter()
        .enumerate()
        .filter(|(b, block)| matches!(block.term, Term::Return(_)) && !f.blocks.contains(&Block::new(*b)))
        .map(|(_, block)| block.term_loc)
        .collect();
    let leads_out = |to: &BlockCall| {
        let target = func.block(to.block);
        !f.blocks.contains(&to.block)
            || matches!(target.term, Term::Return(_)) && after_the_loop.contains(&target.term_loc)
    };
    for b in blocks {
        let block = func.block(b);
        if let Some(i) = block.insts.iter().find(|i| func.inst(**i).op == Op::Yield) {
            return refuse(func.inst(*i).loc, "`yield` in", "use range");
        }
        if let Term::Return(_) = block.term
            && !after_the_loop.contains(&block.term_loc)
        {
            return refuse(
                block.term_loc,
                "`return` leaves",
                "keep what was found in a variable and return it behind the loop, or use range",
            );
        }
        let mut leaves = false;
        func.each_edge(b, &mut |edge, to| {
            leaves |= edge == Edge::Jumps
                && to.block != f.header
                && leads_out(to)
                && !matches!(block.term, Term::Raise { .. })
        });
        if leaves {
            return refuse(
                block.term_loc,
                "`break` leaves",
                "let the iterations that are not needed do nothing, or use range",
            );
        }
    }
    Ok(())
}
