//! Bounds that follow from what a value is: minimum, remainder, masks, widening, sums, selects.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "facts are optional: an operation about which nothing is known is right"
)]

use super::{Assumed, Node, Place, Prover, recent};
use crate::lir::{Op, Value};

impl Prover<'_> {
    pub(super) fn by_definition(&mut self, x: Node, y: Node, c: i128, place: Place<'_>, depth: u32) -> bool {
        if let Node::V(v) = x
            && let Some((op, args)) = self.op(v)
            && self.upper_by(op, args, y, c, place, depth)
        {
            return true;
        }
        if let Node::V(v) = y
            && let Some((op, args)) = self.op(v)
            && self.lower_by(op, args, x, c, place, depth)
        {
            return true;
        }
        false
    }

    /// `op(args) <= y + c`.
    pub(super) fn upper_by(
        &mut self,
        op: Op,
        args: &[Value],
        y: Node,
        c: i128,
        place: Place<'_>,
        depth: u32,
    ) -> bool {
        let d = depth + 1;
        let (a, b) = (args[0], *args.get(1).unwrap_or(&args[0]));
        let (na, nb) = (Node::V(a), Node::V(b));
        let by_itself = match op {
            Op::Smin => self.le(na, y, c, place, d) || self.le(nb, y, c, place, d),
            Op::Smax => self.le(na, y, c, place, d) && self.le(nb, y, c, place, d),
            Op::Select => self.arms(args, place, |p, v, place| p.le(Node::V(v), y, c, place, d)),
            // Not more than either operand that is not negative.
            Op::Band => [b, a]
                .into_iter()
                .any(|v| self.not_negative(v, place, d) && self.le(Node::V(v), y, c, place, d)),
            Op::Srem | Op::Urem => {
                let positive = self.le(Node::Zero, nb, -1, place, d);
                (positive
                    && (op == Op::Srem || self.not_negative(a, place, d))
                    && self.le(nb, y, c + 1, place, d))
                    || (self.not_negative(a, place, d)
                        && self.le(na, y, c, place, d)
                        && (op == Op::Srem || positive))
            }
            Op::Sdiv => {
                self.le(Node::Zero, nb, -1, place, d)
                    && self.not_negative(a, place, d)
                    && self.le(na, y, c, place, d)
            }
            Op::Sshr | Op::Ushr => {
                self.not_negative(a, place, d) && self.le(na, y, c, place, d)
                    || self.half(op, args).is_some_and(|(p, q)| {
                        let (np, nq) = (Node::V(p), Node::V(q));
                        (self.le(np, y, c + 1, place, d) && self.le(nq, y, c, place, d)
                            || self.le(np, y, c, place, d) && self.le(nq, y, c + 1, place, d))
                            && self.adds_up(p, q, place, d)
                    })
            }
            // `a + b <= y + c` where one summand is at most a number; with one at most zero and the other not
            // below it the sum does not wrap.
            Op::Iadd => [(a, b), (b, a)].into_iter().any(|(p, q)| {
                self.le(Node::V(q), y, c, place, d)
                    && self.le(Node::V(p), Node::Zero, 0, place, d)
                    && self.not_negative(q, place, d)
                    || y == Node::V(q)
                        && self.le(Node::V(p), Node::Zero, c.min(0), place, d)
                        && self.not_negative(q, place, d)
            }),
            // Taking off what is not negative, without wrapping.
            Op::Isub => {
                self.not_negative(b, place, d)
                    && self.not_negative(a, place, d)
                    && self.le(na, y, c, place, d)
            }
            _ => false,
        };
        by_itself
            || op == Op::Iadd
                && [(a, b), (b, a)].into_iter().any(|(p, q)| {
                    self.exact_span(p, q, place, d)
                        .is_some_and(|(_, most)| self.le(Node::V(p), y, c - i128::from(most), place, d))
                })
    }

    /// Between which numbers a counter `q` with a constant start and a constant bound lies, if `p + q` is
    /// exact.
    pub(super) fn exact_span(
        &mut self,
        p: Value,
        q: Value,
        place: Place<'_>,
        depth: u32,
    ) -> Option<(i64, i64)> {
        let (block, at) = self.parameter(Node::V(q))?;
        let mut bounds = vec![];
        recent(self.upper.get(&q), |f| {
            if f.other == Node::Zero && self.doms.dominates(f.at, place.at) {
                bounds.push((f.c, f.needs))
            }
        });
        bounds.retain(|(_, needs)| needs.is_none_or(|n| self.not_negative(n, place, depth)));
        let (most, mut least) = (bounds.into_iter().map(|b| b.0).min()?, None);
        for from in self.cfg.preds(block) {
            self.func.insts[self.func.terminator(*from)?.index()].data.for_each_target(|to, args| {
                if to == block
                    && let Some(k) = args.get(at).and_then(|v| self.constant(*v))
                {
                    least = Some(least.map_or(k, |l: i64| l.min(k)));
                }
            });
        }
        let least = least?;
        (least <= most
            && self.le(Node::Zero, Node::V(q), -i128::from(least), place, depth)
            && self.fits(p, least, place, depth)
            && self.fits(p, most, place, depth))
        .then_some((least, most))
    }

    /// `x <= op(args) + c`.
    pub(super) fn lower_by(
        &mut self,
        op: Op,
        args: &[Value],
        x: Node,
        c: i128,
        place: Place<'_>,
        depth: u32,
    ) -> bool {
        let d = depth + 1;
        let (a, b) = (args[0], *args.get(1).unwrap_or(&args[0]));
        let (na, nb) = (Node::V(a), Node::V(b));
        let by_itself = match op {
            Op::Smax => self.le(x, na, c, place, d) || self.le(x, nb, c, place, d),
            Op::Smin => self.le(x, na, c, place, d) && self.le(x, nb, c, place, d),
            Op::Select => self.arms(args, place, |p, v, place| p.le(x, Node::V(v), c, place, d)),
            Op::Band => {
                x == Node::Zero
                    && c >= 0
                    && (self.not_negative(b, place, d) || self.not_negative(a, place, d))
            }
            Op::Srem => x == Node::Zero && c >= 0 && self.not_negative(a, place, d),
            Op::Urem => {
                x == Node::Zero && c >= 0 && self.not_negative(a, place, d) && self.not_negative(b, place, d)
            }
            Op::Sdiv => {
                x == Node::Zero && c >= 0 && self.not_negative(b, place, d) && self.not_negative(a, place, d)
            }
            Op::Sshr => {
                x == Node::Zero && c >= 0 && self.not_negative(a, place, d)
                    || self.half(op, args).is_some_and(|(p, q)| {
                        self.le(x, Node::V(p), c, place, d)
                            && self.le(x, Node::V(q), c, place, d)
                            && self.adds_up(p, q, place, d)
                    })
            }
            Op::Ushr => {
                let width = self.func.value_type(a).bytes() as i64 * 8;
                x == Node::Zero
                    && c >= 0
                    && (self.constant(b).is_some_and(|k| k & (width - 1) != 0)
                        || self.not_negative(a, place, d))
            }
            // `a % b + b`, where the remainder is not above zero: its amount is below that of the divisor.
            Op::Iadd => {
                x == Node::Zero
                    && c >= 0
                    && [(a, b), (b, a)].into_iter().any(|(r, n)| {
                        let divides = self.op(r).is_some_and(|(op, args)| op == Op::Srem && args[1] == n);
                        divides
                            && self.not_negative(n, place, d)
                            && self.le(Node::V(r), Node::Zero, 0, place, d)
                    })
            }
            // `0 <= a - b + c` is `b <= a + c`; with both not negative the difference does not wrap.
            Op::Isub => {
                x == Node::Zero
                    && self.not_negative(b, place, d)
                    && self.not_negative(a, place, d)
                    && self.le(nb, na, c, place, d)
            }
            _ => false,
        };
        by_itself
            || op == Op::Iadd
                && [(a, b), (b, a)].into_iter().any(|(p, q)| {
                    self.exact_span(p, q, place, d)
                        .is_some_and(|(least, _)| self.le(x, Node::V(p), c + i128::from(least), place, d))
                })
    }

    /// `p` and `q` of `(p + q) >> 1`, the middle of a search.
    fn half(&self, op: Op, args: &[Value]) -> Option<(Value, Value)> {
        let (sum, pair) = self.op(args[0])?;
        (op == Op::Sshr && self.constant(args[1]) == Some(1) && sum == Op::Iadd).then(|| (pair[0], pair[1]))
    }

    /// Whether a sum of numbers that are not negative does not wrap.
    fn adds_up(&mut self, p: Value, q: Value, place: Place<'_>, depth: u32) -> bool {
        let half = i128::from(i64::MAX / 2);
        [p, q].into_iter().all(|v| {
            self.not_negative(v, place, depth) && self.le(Node::V(v), Node::Zero, half, place, depth)
        })
    }

    /// Both results of a select, each under its condition.
    pub(super) fn arms(
        &mut self,
        args: &[Value],
        place: Place<'_>,
        mut f: impl FnMut(&mut Self, Value, Place<'_>) -> bool,
    ) -> bool {
        let known = self.decided.get(&args[0]).copied();
        [(args[1], true), (args[2], false)]
            .into_iter()
            .filter(|(_, holds)| known.is_none_or(|k| k == *holds))
            .all(|(v, holds)| {
                let assumed = Assumed { cond: args[0], holds, next: place.assumed };
                f(self, v, Place { at: place.at, assumed: Some(&assumed) })
            })
    }
}
