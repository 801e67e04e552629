//! What becomes of a parallel loop whose pieces run code that the plain loop skips, or skip what it runs
//! ([`crate::ssa::opt::parallel`], `speculative_raises.rs`).
//!
//! Mostly such code cannot raise, and there is nothing to do. Else an exception of a piece may not be one of
//! the loop: where it does no harm to do all of it twice, the loop runs again, as one piece that knows all;
//! where it would, it is one piece from the start.

use super::pure::{Defs, definitions, does_nothing_but, is_made_here};
use crate::infer::state::Session;
use crate::ops::{Effect, OpDef, OpId, Own, id};
use crate::ssa::analysis::{Cfg, Dominators, uses_of, uses_of_term};
use crate::ssa::opt::parallel::Speculative;
use crate::ssa::{Block, Func, Inst, InstNode, InstanceId, Op, Term, Value};
use crate::types::{Kind, Type};
use std::collections::HashSet;

/// How a loop runs.
pub(crate) enum Retry {
    /// In pieces.
    Never,
    /// In pieces, and after an exception again as one. The arguments that it writes to are arrays, which must
    /// lie apart from those that it reads.
    Once { written: Vec<usize> },
    /// As one piece.
    Ordered,
}

pub(crate) fn retry(session: &Session<'_>, id: InstanceId) -> Retry {
    let inst = session.at(id);
    let Some(typed) = inst.typed.as_ref().filter(|_| inst.func.body.as_ref().is_some_and(|b| b.decides))
    else {
        return Retry::Never;
    };
    let f = &*typed.func;
    let raises = Raises {
        session,
        f,
        defs: definitions(f),
        doms: {
            let cfg = Cfg::new(f);
            Dominators::new(f, &cfg)
        },
    };
    if raises.behind(Speculative::Fewer) {
        return Retry::Ordered;
    }
    let more = raises.behind(Speculative::More);
    if !more && !raises.behind(Speculative::Unset) {
        return Retry::Never;
    }
    // A variable that is missing is an exception of its own, at a line that has been warned of.
    let otherwise = if more { Retry::Ordered } else { Retry::Never };
    let written = written(f, &raises.defs);
    let Some(written) = written.filter(|w| w.is_empty() || others_are_plain(f)) else {
        return otherwise;
    };
    let stores = |n: &InstNode| {
        is(n, id::SETITEM) && root(f, &raises.defs, n.args[0]).is_some_and(|k| written.contains(&k))
    };
    if does_nothing_but(session, id, &stores) { Retry::Once { written } } else { otherwise }
}

fn is(node: &InstNode, id: OpId) -> bool {
    matches!(&node.op, Op::Apply(op) if op.is(id))
}

struct Raises<'a, 's> {
    session: &'a Session<'s>,
    f: &'a Func,
    defs: Defs<'a>,
    doms: Dominators,
}

impl Raises<'_, '_> {
    /// Whether something may raise behind such a mark.
    fn behind(&self, mark: Speculative) -> bool {
        (0..self.f.blocks.len()).map(Block::new).any(|b| {
            let insts = &self.f.block(b).insts;
            let Some(at) = insts.iter().position(|i| is(self.f.inst(*i), mark.mark())) else { return false };
            matches!(self.f.block(b).term, Term::Raise { .. })
                || insts[at + 1..].iter().any(|i| self.raises_anew(b, *i))
        })
    }

    /// Whether something may raise, and has not been done before in the same way.
    fn raises_anew(&self, b: Block, i: Inst) -> bool {
        let node = self.f.inst(i);
        if !may_raise(self.session, self.f, node, &mut HashSet::new()) {
            return false;
        }
        let Op::Apply(op) = node.op else { return true };
        // Lists may have become shorter.
        if node.args.first().is_none_or(|a| self.ty(*a).as_array().is_none()) {
            return true;
        }
        let before = (0..self.f.blocks.len()).map(Block::new).filter(|o| self.doms.dominates(*o, b));
        let earlier =
            before.flat_map(|o| self.f.block(o).insts.iter().take_while(move |k| o != b || **k != i));
        let stored = op.is(id::SETITEM) && self.fits(node);
        !earlier.map(|k| self.f.inst(*k)).any(|n| {
            let Op::Apply(other) = n.op else { return false };
            (other == op && !stored || stored && other.is(id::GETITEM))
                && n.args.len() >= 2
                && n.args.iter().zip(&node.args).all(|(v, w)| self.same(*v, *w, 16))
                && (stored || n.args.len() == node.args.len())
        })
    }

    fn ty(&self, v: Value) -> Type {
        self.f.types[v.index()]
    }

    /// Whether an element takes a value without a question, in an array that nobody else has made read-only.
    fn fits(&self, store: &InstNode) -> bool {
        let (Some(a), x) = (self.ty(store.args[0]).as_array(), self.ty(store.args[2])) else { return false };
        is_made_here(self.f, &self.defs, store.args[0])
            && (a.dtype == x || a.dtype.is_float() && (x.is_int() || x.is_float()))
    }

    /// Whether two values are computed in the same way.
    fn same(&self, v: Value, w: Value, depth: u32) -> bool {
        if v == w {
            return true;
        }
        let (Some(x), Some(y)) = (self.defs.get(&v), self.defs.get(&w)) else { return false };
        let repeats = matches!(x.op, Op::Const(_) | Op::Member(_) | Op::Cast)
            || matches!(x.op, Op::Apply(op) if op.effect != Effect::Writes);
        let equal = repeats && x.op == y.op && self.ty(v) == self.ty(w);
        depth > 0
            && equal
            && x.args.len() == y.args.len()
            && x.args.iter().zip(&y.args).all(|(a, b)| self.same(*a, *b, depth - 1))
    }
}

/// Whether an instruction may raise something that is not the user's (Ctrl-C); `seen` are instances around
/// it.
fn may_raise(session: &Session<'_>, f: &Func, node: &InstNode, seen: &mut HashSet<InstanceId>) -> bool {
    match &node.op {
        Op::Apply(op) => op.raises && !op.is(id::INTERRUPT_POLL),
        Op::Cast => matches!(
            f.types[node.args[0].index()].kind(),
            Kind::Optional(_) | Kind::Variant(_) | Kind::MaybeUndef(_)
        ),
        Op::CallInstance(id) => {
            let inst = session.at(*id);
            let Some(typed) = inst.typed.as_ref().filter(|_| !inst.func.is_generator && seen.insert(*id))
            else {
                return true;
            };
            let f = &typed.func;
            let raises = f.blocks.iter().any(|b| {
                matches!(b.term, Term::Raise { .. })
                    || b.insts.iter().any(|i| may_raise(session, f, f.inst(*i), seen))
            });
            seen.remove(id);
            raises
        }
        Op::CheckBound { .. }
        | Op::Region(_)
        | Op::Task(_)
        | Op::Yield
        | Op::Fused(_)
        | Op::Broadcast
        | Op::Table(_)
        | Op::Call { .. }
        | Op::CallSpread { .. }
        | Op::Attr(_)
        | Op::SetAttr(_) => true,
        Op::Const(_)
        | Op::Undef
        | Op::Global(_)
        | Op::Free(_)
        | Op::MakeFunction { .. }
        | Op::Member(_)
        | Op::Narrow(_)
        | Op::PushHandled
        | Op::PopHandled
        | Op::Retain
        | Op::Release => false,
    }
}

fn views(op: &OpDef, types: &[Type], made: Type) -> bool {
    made.as_array().is_some()
        && types.first().is_some_and(|t| t.as_array().is_some())
        && (op.own)(types, made) == Own::Aliases
}

/// The argument of a body that a value is a view of.
fn root(f: &Func, defs: &Defs<'_>, mut v: Value) -> Option<usize> {
    for _ in 0..64 {
        if let Some(k) = f.block(Block(0)).params.iter().position(|p| *p == v) {
            return Some(k);
        }
        let node = defs.get(&v)?;
        let Op::Apply(op) = node.op else { return None };
        let types: Vec<Type> = node.args.iter().map(|a| f.types[a.index()]).collect();
        if !views(op, &types, f.types[v.index()]) {
            return None;
        }
        v = node.args[0];
    }
    None
}

/// Arrays among a body's arguments whose elements it assigns, if it does nothing else with these.
fn written(f: &Func, defs: &Defs<'_>) -> Option<Vec<usize>> {
    let all = || f.blocks.iter().flat_map(|b| &b.insts).map(|i| f.inst(*i));
    let mut out: Vec<usize> = all()
        .filter(|n| is(n, id::SETITEM))
        .filter_map(|n| root(f, defs, n.args[0]))
        .filter(|k| f.types[f.block(Block(0)).params[*k].index()].as_array().is_some())
        .collect();
    out.sort_unstable();
    out.dedup();
    let is_written = |v: Value| root(f, defs, v).is_some_and(|k| out.contains(&k));
    for node in all() {
        let mut read = false;
        if let Op::Apply(op) = &node.op {
            let types: Vec<Type> = node.args.iter().map(|a| f.types[a.index()]).collect();
            let keeps = op.is(id::SETITEM)
                || node.result.is_some_and(|r| {
                    views(op, &types, f.types[r.index()])
                        || matches!(f.types[r.index()].kind(), Kind::Int(_)) && op.is(id::BUILTINS_LEN)
                })
                || matches!(op.id(), id::ARRAY_SHAPE | id::ARRAY_SIZE | id::ARRAY_NDIM);
            for (k, a) in node.args.iter().enumerate() {
                read |= is_written(*a) && (k > 0 || !keeps);
            }
        } else {
            uses_of(node, &mut |v| read |= is_written(v));
        }
        if let Some(u) = &node.unwind {
            read |= u.args.iter().any(|a| is_written(*a));
        }
        if read {
            return None;
        }
    }
    let mut passed = false;
    for b in &f.blocks {
        uses_of_term(&b.term, &mut |v| passed |= is_written(v));
    }
    (!passed).then_some(out)
}

/// Whether arrays that a body reads are arguments, rather than somewhere inside of one.
fn others_are_plain(f: &Func) -> bool {
    let plain = |t: Type| {
        t.as_array().is_some()
            || t.is_number()
            || matches!(
                t.kind(),
                Kind::Str | Kind::Bytes | Kind::None | Kind::Range(_) | Kind::Builtin(_) | Kind::Module(_)
            )
    };
    let global = |n: &InstNode| {
        matches!(n.op, Op::Global(_) | Op::Free(_))
            && n.result.is_some_and(|r| !plain(f.types[r.index()]) || f.types[r.index()].as_array().is_some())
    };
    f.block(Block(0)).params.iter().all(|p| plain(f.types[p.index()]))
        && !f.blocks.iter().flat_map(|b| &b.insts).any(|i| global(f.inst(*i)))
}
