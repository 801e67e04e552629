//! Whether two values of an iteration are the same one, though they are computed twice: `if a[i] > m: m =
//! a[i]`. They are written the same way, and nothing happens between that may change what they are read from.
//!
//! Objects are the same under other rules ([`Classifier::is_same_object`]): what makes one twice makes two of
//! them.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what repeats is known by pattern: of any other two values nothing is known"
)]

use super::classifier::Classifier;
use crate::ops::{OpId, describes, id, method_reads, only_reads};
use crate::ssa::names::Meaning;
use crate::ssa::{Block, Inst, InstNode, Op, Value};
use std::collections::HashSet;

/// So deep are values looked into.
const DEPTH: u32 = 16;

impl Classifier<'_> {
    /// Whether two values are the same one wherever an iteration computes both.
    pub(crate) fn is_same(&self, a: Value, b: Value) -> bool {
        a == b || self.is_equal(a, b, 0) && self.stays(a, b, 0)
    }

    /// Of two values that are written the same way.
    fn stays(&self, a: Value, b: Value, depth: u32) -> bool {
        if a == b {
            return true;
        }
        let (Some(x), Some(y)) = (self.inst_of(a), self.inst_of(b)) else { return false };
        let here = match &x.op {
            Op::Const(_) | Op::Global(_) | Op::Free(_) | Op::Member(_) => true,
            Op::Attr(name) => {
                describes(name) || self.meaning(a).is_some() || self.is_unchanged(a, b, x.args[0])
            }
            Op::Table(id::GETITEM) => self.is_shape(x.args[0]) || self.is_unchanged(a, b, x.args[0]),
            Op::Table(id::CELL_GET) => self.is_unchanged(a, b, x.args[0]),
            Op::Table(path) => *path != id::ITER_NEXT && computes(*path),
            Op::Call { .. } if self.operation(x.args[0]) == Some(id::BUILTINS_LEN) => {
                self.is_as_long(a, b, x.args[x.args.len() - 1])
            }
            Op::Call { .. } => self.reads_only(x) && x.args[1..].iter().all(|v| self.is_unchanged(a, b, *v)),
            _ => false,
        };
        // The method's name is read where the call is.
        let method = |k: usize| k == 0 && matches!(x.op, Op::Call { .. });
        here && depth < DEPTH
            && x.args.iter().zip(&y.args).enumerate().all(|(k, (v, w))| {
                if method(k)
                    && let (Some(m), Some(n)) = (self.inst_of(*v), self.inst_of(*w))
                    && matches!(m.op, Op::Attr(_))
                    && self.meaning(*v).is_none()
                {
                    return self.is_unchanged(a, b, m.args[0]) && self.stays(m.args[0], n.args[0], depth + 1);
                }
                self.stays(*v, *w, depth + 1)
            })
    }

    /// Whether it is the shape of an array, which stays what it is.
    fn is_shape(&self, v: Value) -> bool {
        self.inst_of(v).is_some_and(|n| matches!(&n.op, Op::Attr(name) if describes(name)))
    }

    /// Whether a call gives the same again while nobody changes what it is given.
    fn reads_only(&self, call: &InstNode) -> bool {
        match self.meaning(call.args[0]) {
            Some(Meaning::Operation(op)) => {
                (op.computes_alone(call.args.len() - 1) || only_reads(op)) && !call_writes(call)
            }
            Some(Meaning::Cast(_)) => true,
            Some(Meaning::Module) => false,
            None => {
                matches!(self.inst_of(call.args[0]).map(|n| &n.op), Some(Op::Attr(name)) if method_reads(name))
                    && !call_writes(call)
            }
        }
    }

    /// The object that a value is found in.
    fn holder(&self, mut v: Value) -> Value {
        for _ in 0..DEPTH {
            let Some(node) = self.inst_of(v) else { return v };
            v = match &node.op {
                Op::Narrow(_) | Op::CheckBound { .. } | Op::Attr(_) | Op::Member(_) => node.args[0],
                Op::Table(id::GETITEM | id::CELL_GET) => node.args[0],
                // A method may give a view.
                Op::Call { .. } if self.meaning(node.args[0]).is_none() => match self.inst_of(node.args[0]) {
                    Some(m) if matches!(m.op, Op::Attr(_)) => m.args[0],
                    _ => return v,
                },
                _ => return v,
            };
        }
        v
    }

    /// Whether nothing changes the object that a value is found in between two others.
    fn is_unchanged(&self, a: Value, b: Value, of: Value) -> bool {
        let of = self.holder(of);
        let shared =
            self.inst_of(of).is_some_and(|n| matches!(n.op, Op::Global(_) | Op::Free(_)) || is_cell(n));
        self.between(a, b)
            .is_some_and(|all| !all.iter().any(|i| self.may_change(self.func.inst(*i), of, shared)))
    }

    /// Whether nothing changes the length of an object in between two values: a method of it, or a function
    /// that is given it.
    fn is_as_long(&self, a: Value, b: Value, of: Value) -> bool {
        let of = self.original(of);
        let named = |v: &Value| {
            let v = self.original(*v);
            v == of
                || self
                    .inst_of(v)
                    .is_some_and(|n| matches!(n.op, Op::Attr(_)) && self.original(n.args[0]) == of)
        };
        let changes = |node: &InstNode| match &node.op {
            Op::Call { .. } if self.reads_only(node) => false,
            Op::Call { .. } | Op::CallSpread { .. } => {
                node.args.iter().any(named) || self.captures(node.args[0], of)
            }
            Op::Table(id::SETITEM) => named(&node.args[0]) && self.is_slice(node.args[1]),
            Op::Table(path) => !computes(*path) && node.args.iter().any(named),
            _ => false,
        };
        self.is_unchanged(a, b, of)
            || self.between(a, b).is_some_and(|all| !all.iter().any(|i| changes(self.func.inst(*i))))
    }

    fn is_slice(&self, v: Value) -> bool {
        self.inst_of(v).is_some_and(|n| n.op == Op::Table(id::BUILTINS_SLICE))
    }

    /// Whether an instruction may change an object; `shared`: others find it without being given it.
    fn may_change(&self, node: &InstNode, of: Value, shared: bool) -> bool {
        let given = |v: &Value| {
            let holder = self.holder(*v);
            holder == of || self.is_same_object(holder, of)
        };
        match &node.op {
            Op::SetAttr(_) | Op::Table(id::SETITEM) => given(&node.args[0]),
            Op::Table(path) => !computes(*path) && node.args.first().is_some_and(given),
            Op::Call { .. } if self.reads_only(node) => false,
            Op::Call { .. } | Op::CallSpread { .. } | Op::Yield => {
                let is_known = self.meaning(node.args[0]).is_some();
                shared && !is_known || node.args.iter().any(given) || self.captures(node.args[0], of)
            }
            _ => false,
        }
    }

    /// Whether a function that is made here has an object among what it was made with.
    fn captures(&self, callee: Value, of: Value) -> bool {
        self.inst_of(callee).is_some_and(|n| {
            matches!(n.op, Op::MakeFunction { .. }) && n.args.iter().any(|v| self.holder(*v) == of)
        })
    }

    /// What runs between two values on any way from the one to the other, within an iteration.
    fn between(&self, a: Value, b: Value) -> Option<Vec<Inst>> {
        let place = |v: Value| {
            let block = self.defs.block(v)?;
            let at =
                self.func.block(block).insts.iter().position(|i| self.func.inst(*i).result == Some(v))?;
            Some((block, at))
        };
        let (a, b) = (place(a)?, place(b)?);
        if a.0 == b.0 {
            let (lo, hi) = (a.1.min(b.1), a.1.max(b.1));
            return Some(self.func.block(a.0).insts[lo + 1..hi].to_vec());
        }
        let mut all = vec![];
        // After the second one comes another first one, if that is computed before it on all ways.
        if !self.doms.dominates(b.0, a.0) {
            all.extend(self.on_the_way(a, b));
        }
        if !self.doms.dominates(a.0, b.0) {
            all.extend(self.on_the_way(b, a));
        }
        Some(all)
    }

    /// What runs on ways from one place to another that do not come by the first one's block again.
    fn on_the_way(&self, from: (Block, usize), to: (Block, usize)) -> Vec<Inst> {
        let ends = |b: Block| b == from.0 || b == self.found.header && self.is_inside(from.0);
        let (mut ahead, mut work) = (HashSet::new(), vec![from.0]);
        while let Some(b) = work.pop() {
            self.func.each_edge(b, &mut |_, next| {
                if !ends(next.block) && ahead.insert(next.block) {
                    work.push(next.block);
                }
            });
        }
        if !ahead.contains(&to.0) {
            return vec![];
        }
        let (mut seen, mut work, mut again) = (HashSet::new(), vec![to.0], false);
        while let Some(b) = work.pop() {
            for p in self.cfg.preds(b).iter().filter(|p| ahead.contains(p)) {
                again |= *p == to.0;
                if *p != to.0 && seen.insert(*p) {
                    work.push(*p);
                }
            }
        }
        let insts = |b: Block| &self.func.block(b).insts[..];
        let mut all = insts(from.0)[from.1 + 1..].to_vec();
        all.extend(if again { insts(to.0) } else { &insts(to.0)[..to.1] });
        all.extend(seen.into_iter().flat_map(insts));
        all
    }

    /// Whether two values are the same object, as far as their form says: what is read twice from the same
    /// place is, what is made twice is not.
    pub(crate) fn is_same_object(&self, a: Value, b: Value) -> bool {
        if a == b {
            return true;
        }
        let (Some(x), Some(y)) = (self.inst_of(a), self.inst_of(b)) else { return false };
        if x.op != y.op || x.args.len() != y.args.len() {
            return false;
        }
        match &x.op {
            Op::Const(_) | Op::Global(_) | Op::Free(_) => true,
            Op::Attr(_) | Op::Member(_) | Op::Narrow(_) | Op::CheckBound { .. } => {
                self.is_same_object(x.args[0], y.args[0])
            }
            Op::Table(id::CELL_GET) => self.is_same_object(x.args[0], y.args[0]),
            Op::Table(id::GETITEM) => {
                self.is_same_object(x.args[0], y.args[0]) && self.is_equal(x.args[1], y.args[1], 0)
            }
            _ => false,
        }
    }
}

/// Whether an operation gives the same again, and changes nothing but what it gives.
fn computes(path: OpId) -> bool {
    path.plain().is_none() && path != id::SETITEM && (path.facts().computes || only_reads(path))
}

fn is_cell(node: &InstNode) -> bool {
    node.op == Op::Table(id::CELL_GET) || node.op == Op::Table(id::CELL_NEW)
}

/// Whether a call is handed what it fills.
fn call_writes(call: &InstNode) -> bool {
    matches!(&call.op, Op::Call { keywords } if keywords.iter().any(|k| &**k == "out"))
}
