//! All iterations of a parallel loop, with numbers in the place of what is unknown: whether indices that move
//! in different ways meet in two of them, as those of `a[i:i + 1]` and `a[n - 1 - i]` do in `range(n)` and do
//! not in `range(n // 2)`. Untyped code is asked in the same way (`ssa/opt/parallel/far.rs`).

use super::apart::{asks_for_its_shape, captured};
use super::pure::{Defs, definitions};
use crate::ops::{Effect, id};
use crate::ssa::{Block, Func, InstNode, Op, Value};
use crate::types::Const;
use std::cell::RefCell;

/// What unknown values are; what meets for each of these, as far as they leave the loop iterations, meets.
const SAMPLES: [fn(i64) -> i64; 5] = [
    |k| 100_000 << (2 * k.min(9)),
    |k| 1_000_003 >> (2 * k.min(8)),
    |k| 100_111 + 2 * k,
    |k| 400_001 >> (2 * k.min(3)),
    |_| 100_117,
];
const DEPTH: u32 = 16;

/// A value of the loop's body, or of the function around it.
#[derive(Clone, Copy, PartialEq)]
struct Name {
    inside: bool,
    value: Value,
}

pub(super) struct Span<'a> {
    outer: (&'a Func, Defs<'a>),
    body: (&'a Func, &'a Defs<'a>),
    /// What the body is given.
    args: &'a [Value],
    /// From, to, by.
    range: [Value; 3],
    /// By how many arguments the range is said.
    said: usize,
    unknown: RefCell<Vec<Name>>,
}

impl<'a> Span<'a> {
    pub(super) fn of(
        outer: &'a Func,
        region: &'a InstNode,
        body: (&'a Func, &'a Defs<'a>),
    ) -> Option<Span<'a>> {
        let defs = definitions(outer);
        let [args @ .., range, _] = &region.args[..] else { return None };
        let call = defs.get(range)?;
        if !matches!(call.op, Op::Apply(op) if op.is(id::BUILTINS_RANGE) || op.is(id::TIERUP_PRANGE)) {
            return None;
        }
        // What is left out is no number.
        let said = call.args.iter().take_while(|v| outer.types[v.index()].is_int()).count();
        let range = match call.args[..said] {
            [hi] => [hi; 3],
            [lo, hi] => [lo, hi, hi],
            [lo, hi, step] => [lo, hi, step],
            _ => return None,
        };
        Some(Span { outer: (outer, defs), body, args, range, said, unknown: RefCell::default() })
    }

    /// Whether two extents of an index, each a beginning and a length, meet in different iterations.
    pub(super) fn meets(&self, a: (&Sum, i64), b: (&Sum, i64)) -> bool {
        let mut met = false;
        for sample in SAMPLES {
            let Some((lo, step, n)) = self.iterations(sample) else { continue };
            if n < 2 {
                continue;
            }
            let line = |s: &Sum| {
                let begins = s.terms.iter().try_fold(s.constant, |sum, (v, times)| {
                    let value = self.number(Name { inside: true, value: *v }, sample, DEPTH)?;
                    sum.checked_add(value.checked_mul(*times)?)
                })?;
                let begins = begins.checked_add(lo.checked_mul(s.iteration)?)?;
                Some((i128::from(begins), i128::from(s.iteration.checked_mul(step)?)))
            };
            let (Some(p), Some(q)) = (line(a.0), line(b.0)) else { return false };
            let (p, q) = ((p, i128::from(a.1)), (q, i128::from(b.1)));
            if !lines_meet(p, q, i128::from(n)) && !lines_meet(q, p, i128::from(n)) {
                return false;
            }
            met = true;
        }
        met
    }

    /// The first one, the step, and how many there are.
    fn iterations(&self, sample: fn(i64) -> i64) -> Option<(i64, i64, i64)> {
        let at = |k: usize| self.number(Name { inside: false, value: self.range[k] }, sample, DEPTH);
        let (lo, hi) = if self.said == 1 { (0, at(0)?) } else { (at(0)?, at(1)?) };
        let step = if self.said == 3 { at(2).filter(|s| *s != 0)? } else { 1 };
        let between = if step > 0 { hi.checked_sub(lo)? } else { lo.checked_sub(hi)? };
        let size = step.checked_abs()?;
        Some((lo, step, between.max(0).checked_add(size - 1)? / size))
    }

    fn node(&self, n: Name) -> Option<&InstNode> {
        if n.inside { self.body.1.get(&n.value).copied() } else { self.outer.1.get(&n.value).copied() }
    }

    /// What the function around the loop calls a value.
    fn origin(&self, n: Name) -> Name {
        let params = &self.body.0.block(Block(0)).params;
        match params.iter().position(|p| n.inside && *p == n.value).and_then(|k| self.args.get(k)) {
            Some(v) => Name { inside: false, value: captured(&self.outer.1, *v) },
            None => n,
        }
    }

    fn number(&self, n: Name, sample: fn(i64) -> i64, depth: u32) -> Option<i64> {
        let n = self.origin(n);
        let is_int = |v: Value| {
            let f = if n.inside { self.body.0 } else { self.outer.0 };
            f.types[v.index()].is_int()
        };
        let Some(node) = self.node(n).filter(|_| is_int(n.value) && depth > 0) else {
            return Some(self.sampled(n, sample));
        };
        let at = |k: usize| {
            let value = *node.args.get(k)?;
            self.number(Name { value, ..n }, sample, depth - 1)
        };
        let Op::Apply(op) = node.op else {
            if let Op::Const(Const::Int(k)) = node.op {
                return Some(k);
            }
            let renames = matches!(node.op, Op::Narrow(_) | Op::CheckBound { .. } | Op::Cast);
            return if renames && is_int(node.args[0]) { at(0) } else { Some(self.sampled(n, sample)) };
        };
        if op.is(id::ADD) {
            at(0)?.checked_add(at(1)?)
        } else if op.is(id::SUB) {
            at(0)?.checked_sub(at(1)?)
        } else if op.is(id::MUL) {
            at(0)?.checked_mul(at(1)?)
        } else if op.is(id::FLOORDIV) {
            let (a, b) = (at(0)?, at(1)?);
            let q = a.checked_div(b)?;
            Some(if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q })
        } else if op.is(id::NEG) {
            at(0)?.checked_neg()
        } else {
            Some(self.sampled(n, sample))
        }
    }

    fn sampled(&self, n: Name, sample: fn(i64) -> i64) -> i64 {
        let mut all = self.unknown.borrow_mut();
        let k = all.iter().position(|m| self.is_same(*m, n, DEPTH)).unwrap_or_else(|| {
            all.push(n);
            all.len() - 1
        });
        sample(k as i64)
    }

    fn is_same(&self, n: Name, m: Name, depth: u32) -> bool {
        let (n, m) = (self.origin(n), self.origin(m));
        if n == m {
            return true;
        }
        let (Some(x), Some(y)) = (self.node(n), self.node(m)) else { return false };
        let repeats = matches!(x.op, Op::Const(_) | Op::Member(_) | Op::Cast | Op::Narrow(_))
            || matches!(x.op, Op::Apply(op) if op.effect == Effect::Pure || asks_for_its_shape(op));
        depth > 0
            && repeats
            && x.op == y.op
            && x.args.len() == y.args.len()
            && x.args
                .iter()
                .zip(&y.args)
                .all(|(a, b)| self.is_same(Name { value: *a, ..n }, Name { value: *b, ..m }, depth - 1))
    }
}

/// A beginning and a step, and how long it is in each iteration.
type Line = ((i128, i128), i128);

/// Whether the one comes in an iteration at the beginning, in the middle or at the end by where the other one
/// is in another iteration.
fn lines_meet(p: Line, q: Line, n: i128) -> bool {
    let ((first, step), m) = p;
    let ((begin, by), width) = q;
    let tried = (0..4).chain(n / 2 - 3..n / 2 + 3).chain(n - 4..n).filter(|s| (0..n).contains(s));
    for s in tried {
        let lo = first + step * s;
        let there = |t: i128| {
            let other = begin + by * t;
            t != s && (0..n).contains(&t) && lo.max(other) < (lo + m).min(other + width)
        };
        let near = |v: i128| {
            let t = if by == 0 { s } else { (v - begin).div_euclid(by) };
            t - 1..=t + 1
        };
        if near(lo).chain(near(lo + m - 1)).any(there) {
            return true;
        }
    }
    false
}

/// What is added up to an index: so many times the loop's variable, and values that are the same in all
/// iterations, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub iteration: i64,
    pub terms: Vec<(Value, i64)>,
    pub constant: i64,
}

impl Sum {
    /// With so many times another one.
    pub(super) fn plus(mut self, other: &Sum, times: i64) -> Option<Sum> {
        let add = |a: i64, b: i64| a.checked_add(b.checked_mul(times)?);
        self.iteration = add(self.iteration, other.iteration)?;
        self.constant = add(self.constant, other.constant)?;
        for (v, m) in &other.terms {
            match self.terms.iter_mut().find(|t| t.0 == *v) {
                Some(t) => t.1 = add(t.1, *m)?,
                None => self.terms.push((*v, add(0, *m)?)),
            }
        }
        self.terms.retain(|t| t.1 != 0);
        self.terms.sort();
        Some(self)
    }

    /// Whether it differs by a constant.
    pub(super) fn is_beside(&self, other: &Sum) -> bool {
        self.iteration == other.iteration && self.terms == other.terms
    }
}
