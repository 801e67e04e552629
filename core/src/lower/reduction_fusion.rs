//! Reductions of chains that read the same arrays become one loop: `d = a - b; (d * d).sum(), abs(d).max(),
//! (a * b).sum()` passes over `a` and `b` once, and `d` is never in memory.
//!
//! They move down to the last of them. What lies between has no effect or does not need them; what does need
//! one of their numbers, and can wait, follows behind. What raises for an array without elements still does
//! so in its own place.

use super::fuse::{Pass, step};
use super::ownership::may_raise;
use crate::ops::kernel::Reduce;
use crate::ops::reduce::{LARGEST, SMALLEST, of_row};
use crate::ops::{Effect, ufunc};
use crate::ssa::analysis::uses_of;
use crate::ssa::{Block, Inst, InstNode, InstanceId, Op, Parts, Value};
use crate::types::{ArrayType, Const, Kind, Layout, Type};
use std::collections::HashSet;

/// Reductions in one loop: each has accumulators of its own, and there are so many registers.
const MOST_SINKS: usize = 6;
/// Operations that one loop computes for an element.
const MOST_STEPS: usize = 12;

/// Real numbers, and arrays of them.
fn is_plain(t: Type) -> bool {
    t.as_array().map_or(!t.is_complex(), |a| a.dtype.is_real())
}

/// A reduction: what its chain reads, all arrays on the way included, and the operations.
struct Sink {
    inst: Inst,
    arrays: HashSet<Value>,
    steps: HashSet<Inst>,
    like: ArrayType,
}

impl Pass<'_, '_> {
    /// Joins the reductions of a block where they read the same arrays.
    pub(crate) fn fuse_reductions(&mut self, b: Block) {
        if self.func.parallel.any() && !self.func.parallel.has(Parts::FUSION) {
            return;
        }
        let mut at = self.func.block(b).insts.len();
        while at > 0 {
            at -= 1;
            let root = self.func.block(b).insts[at];
            let Some(last) = self.sink(b, root) else { continue };
            let (members, moved) = self.companions(b, at, last);
            if members.is_empty() {
                continue;
            }
            at = self.fuse_into(b, root, &members, &moved);
        }
    }

    /// What an instruction reduces, if it gives one number out of all elements of a chain, and can do so
    /// beside others.
    fn sink(&self, b: Block, i: Inst) -> Option<Sink> {
        let node = self.func.inst(i);
        self.kind_of_sink(node)?;
        let like = self.func.types[node.args[0].index()].as_array()?;
        let mut sink = Sink { inst: i, arrays: HashSet::new(), steps: HashSet::new(), like };
        let here: HashSet<Inst> = self.func.block(b).insts.iter().copied().collect();
        let mut open = vec![node.args[0]];
        while let Some(v) = open.pop() {
            if !sink.arrays.insert(v) {
                continue;
            }
            let made = self
                .defs
                .get(&v)
                .copied()
                .filter(|d| here.contains(d))
                .and_then(|d| Some((d, step(self.func, self.func.inst(d))?)));
            let Some((d, op)) = made else {
                let a = self.func.types[v.index()].as_array()?;
                if a.ndim != like.ndim || a.layout != like.layout {
                    return None;
                }
                continue;
            };
            let node = self.func.inst(d);
            // Each operation is written once for every accumulator.
            if !(op.converts || op.kernel.is_some_and(|k| !k.is_slow()))
                || sink.steps.len() == MOST_STEPS
                || !node.args.iter().all(|a| is_plain(self.func.types[a.index()]))
            {
                return None;
            }
            sink.steps.insert(d);
            open.extend(
                node.args[..ufunc::inputs(op)]
                    .iter()
                    .copied()
                    .filter(|a| self.func.types[a.index()].as_array().is_some()),
            );
        }
        Some(sink)
    }

    /// The reduction, if its accumulators are numbers of the machine.
    pub(crate) fn kind_of_sink(&self, node: &InstNode) -> Option<Reduce> {
        let Op::Apply(op) = node.op else { return None };
        let what = of_row(op)?;
        let ty = |v: &Value| self.func.types[v.index()];
        let (result, array) = (ty(&node.result?), ty(&node.args[0]).as_array()?);
        let [_, axis, .., keep] = node.args[..] else { return None };
        let own = node.args.len() != 5 || *ty(&node.args[2]) == Kind::None;
        let fits = node.unwind.is_none()
            && own
            && array.ndim > 0
            && array.layout != Layout::A
            && *ty(&axis) == Kind::None
            && self.is_const(keep, &Const::Bool(false));
        let float = array.dtype.is_float() && matches!(array.dtype.itemsize(), 4 | 8);
        let number = match what {
            Reduce::Sum => {
                float && result == array.dtype
                    || crate::emit::chain_reduction::is_wide(result)
                        && (array.dtype.is_int() || *array.dtype == Kind::Bool)
            }
            Reduce::Min | Reduce::Max => float && result == array.dtype,
            Reduce::Any | Reduce::All | Reduce::CountNonzero => {
                float || array.dtype.is_int() || *array.dtype == Kind::Bool
            }
            Reduce::Prod
            | Reduce::NanMin
            | Reduce::NanMax
            | Reduce::NanSum
            | Reduce::NanProd
            | Reduce::CountNotNan => false,
        };
        (fits && number).then_some(what)
    }

    /// The reductions above the one at `at` that can be done beside it, and what needs their numbers before
    /// it, both in the order of the block.
    fn companions(&mut self, b: Block, at: usize, last: Sink) -> (Vec<Inst>, Vec<Inst>) {
        let insts = self.func.block(b).insts[..at].to_vec();
        let (mut members, mut moved): (Vec<Inst>, Vec<Inst>) = (vec![], vec![]);
        let Sink { inst: root, mut arrays, mut steps, like } = last;
        // Whether something that stays between may raise: nothing that may raise too can move behind it.
        let checks = |kind| matches!(kind, Some(Reduce::Min | Reduce::Max));
        let mut raises = checks(self.kind_of_sink(self.func.inst(root)));
        for (k, i) in insts.iter().enumerate().rev() {
            let node = self.func.inst(*i).clone();
            if node.unwind.is_some() {
                break;
            }
            let sink = self.sink(b, *i).filter(|e| {
                members.len() + 1 < MOST_SINKS
                    && (e.like.ndim, e.like.layout) == (like.ndim, like.layout)
                    && !e.arrays.is_disjoint(&arrays)
            });
            if let Some(e) = sink
                && e.steps.union(&steps).count() <= MOST_STEPS
                && let Some(waits) = self.readers(&insts[k + 1..], &e, &members, root, raises)
            {
                arrays.extend(e.arrays);
                steps.extend(e.steps);
                members.push(*i);
                raises |= checks(self.kind_of_sink(&node));
                for w in waits {
                    if !moved.contains(&w) {
                        moved.push(w);
                    }
                }
                continue;
            }
            if self.writes(&node) {
                break;
            }
            raises |= !moved.contains(i) && may_raise(self.func, &node);
        }
        members.reverse();
        moved.sort_by_key(|m| insts.iter().position(|i| i == m));
        (members, moved)
    }

    /// Those among `between` that need the number of a reduction, directly or not, if all of them can wait.
    fn readers(
        &mut self,
        between: &[Inst],
        sink: &Sink,
        members: &[Inst],
        root: Inst,
        raises: bool,
    ) -> Option<Vec<Inst>> {
        let mut known: HashSet<Value> = self.func.inst(sink.inst).result.into_iter().collect();
        let mut waits = vec![];
        for i in between.iter().chain([&root]) {
            let node = self.func.inst(*i).clone();
            let mut reads = false;
            uses_of(&node, &mut |v| reads |= known.contains(&v));
            if !reads {
                continue;
            }
            if *i == root || members.contains(i) || !self.can_wait(&node, raises) {
                return None;
            }
            known.extend(node.result);
            waits.push(*i);
        }
        Some(waits)
    }

    /// Whether an instruction may run later: it has no effect and, where something else may raise in between,
    /// does not raise.
    fn can_wait(&self, node: &InstNode, raises: bool) -> bool {
        let is_pure = match &node.op {
            Op::Apply(op) => {
                op.effect == Effect::Pure
                    && node.result.is_some_and(|r| self.func.types[r.index()].is_number())
            }
            Op::CallInstance(id) => self.is_number_of_numbers(*id),
            Op::Cast => node.result.is_some_and(|r| {
                self.func.types[r.index()].is_number() && self.func.types[node.args[0].index()].is_number()
            }),
            Op::Member(_) | Op::Narrow(_) => true,
            Op::Const(_)
            | Op::Undef
            | Op::Global(_)
            | Op::Free(_)
            | Op::MakeFunction { .. }
            | Op::CheckBound { .. }
            | Op::Table(_)
            | Op::Call { .. }
            | Op::CallSpread { .. }
            | Op::Attr(_)
            | Op::SetAttr(_)
            | Op::Region(_)
            | Op::Task(_)
            | Op::Fused(_)
            | Op::Broadcast
            | Op::Yield
            | Op::PushHandled
            | Op::PopHandled
            | Op::Retain
            | Op::Release => false,
        };
        is_pure
            && (!raises
                || !may_raise(self.func, node)
                || matches!(node.op, Op::CallInstance(_))
                || self.is_cast_of_number(node))
    }

    /// Numbers become floats, and narrower ones wider ones, without fail.
    fn is_cast_of_number(&self, node: &InstNode) -> bool {
        let (Op::Cast, Some(r)) = (&node.op, node.result) else { return false };
        let (from, to) = (self.func.types[node.args[0].index()], self.func.types[r.index()]);
        from == to || from.strong() == to.strong() || to.is_float() && from.is_real()
    }

    /// Whether a function without branches makes a number of numbers, and cannot raise: `_quotient` of the
    /// library.
    fn is_number_of_numbers(&self, id: InstanceId) -> bool {
        let Some(typed) =
            self.session.at(id).typed.as_ref().filter(|_| !self.session.at(id).func.is_generator)
        else {
            return false;
        };
        let f = &typed.func;
        let plain = |i: &Inst| {
            let node = f.inst(*i);
            let calm = match &node.op {
                Op::Apply(op) => op.effect == Effect::Pure && !may_raise(f, node),
                Op::Cast => f.types[node.args[0].index()].is_number(),
                Op::Const(_) | Op::Undef | Op::Member(_) | Op::Global(_) => true,
                Op::Free(_)
                | Op::MakeFunction { .. }
                | Op::CheckBound { .. }
                | Op::Table(_)
                | Op::Call { .. }
                | Op::CallSpread { .. }
                | Op::Attr(_)
                | Op::SetAttr(_)
                | Op::Region(_)
                | Op::Task(_)
                | Op::Fused(_)
                | Op::Broadcast
                | Op::Yield
                | Op::PushHandled
                | Op::PopHandled
                | Op::Retain
                | Op::Release
                | Op::Narrow(_)
                | Op::CallInstance(_) => false,
            };
            calm && node.result.is_some_and(|r| {
                let t = f.types[r.index()];
                t.is_number() || matches!(node.op, Op::Global(_) | Op::Const(_) | Op::Undef)
            })
        };
        f.blocks.len() == 1
            && f.blocks[0].params.iter().all(|p| f.types[p.index()].is_number())
            && f.blocks[0].insts.iter().all(plain)
    }

    /// Moves the reductions in front of the last of them, what waits for their numbers behind it, and makes
    /// one instruction of them; gives its place.
    fn fuse_into(&mut self, b: Block, root: Inst, members: &[Inst], moved: &[Inst]) -> usize {
        for m in members {
            let node = self.func.inst(*m).clone();
            let row = match self.kind_of_sink(&node) {
                Some(Reduce::Min) => &SMALLEST,
                Some(Reduce::Max) => &LARGEST,
                _ => continue,
            };
            // The check wants a number beside the array; any will do.
            let ty = node.result.map_or_else(Type::none, |r| self.func.types[r.index()]);
            let number = self.add(b, *m, Op::Undef, vec![], ty, &node);
            self.add(b, *m, Op::Apply(row), vec![node.args[0], number], ty, &node);
        }
        let insts = &mut self.func.blocks[b.index()].insts;
        let mut all = vec![];
        for i in insts.drain(..) {
            if i == root {
                all.extend(members);
            }
            if !members.contains(&i) && !moved.contains(&i) {
                all.push(i);
            }
            if i == root {
                all.extend(moved);
            }
        }
        let at = all.iter().position(|i| *i == root).unwrap_or(0);
        *insts = all;
        self.recount();
        let taken = self.absorb(b, at, &[0], members);
        at + self.rewrite(b, root, &taken) - members.len()
    }
}
