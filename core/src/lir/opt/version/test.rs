//! The test in front of a versioned loop, as it is written.

use super::super::edit::FastMap;
use super::{Affine, Counter, Limit, Limits, Walk};
use crate::lir::{Block, Func, InstData, Loc, Op, Ty, Value};

/// Appends to the block in front of the loop.
pub(super) struct Test<'a> {
    pub(super) func: &'a mut Func,
    front: Block,
    known: FastMap<(Op, Value, Value), Value>,
    constants: FastMap<(Ty, i64), Value>,
    pub(super) all: Option<Value>,
}

impl<'a> Test<'a> {
    pub(super) fn new(func: &'a mut Func, front: Block) -> Test<'a> {
        Test { func, front, known: FastMap::default(), constants: FastMap::default(), all: None }
    }
}

impl Test<'_> {
    pub(super) fn inst(&mut self, data: InstData) -> Value {
        let i = self.func.make_inst(data, Loc(0));
        let insts = &mut self.func.blocks[self.front.index()].insts;
        let at = insts.len() - 1;
        insts.insert(at, i);
        self.func.insts[i.index()].results[0]
    }
    pub(super) fn constant(&mut self, ty: Ty, x: i64) -> Value {
        if let Some(v) = self.constants.get(&(ty, x)) {
            return *v;
        }
        let v = self.inst(InstData::Const { ty, bits: x as u64 });
        self.constants.insert((ty, x), v);
        v
    }
    pub(super) fn int(&mut self, x: i64) -> Value {
        self.constant(Ty::I64, x)
    }
    pub(super) fn bin(&mut self, op: Op, a: Value, b: Value) -> Value {
        if let Some(v) = self.known.get(&(op, a, b)) {
            return *v;
        }
        let ty = self.func.value_type(a);
        let v = self.inst(InstData::Op { op, ty, args: vec![a, b] });
        self.known.insert((op, a, b), v);
        v
    }
    pub(super) fn require(&mut self, cond: Value) {
        self.all = Some(match self.all {
            None => cond,
            Some(all) if all == cond => all,
            Some(all) => self.bin(Op::Band, all, cond),
        });
    }
    /// `a op b`, which must not wrap.
    pub(super) fn exact(&mut self, op: Op, overflow: Op, a: Value, b: Value) -> Value {
        let wraps = self.bin(overflow, a, b);
        let no = self.constant(Ty::I8, 0);
        let fine = self.bin(Op::IcmpEq, wraps, no);
        self.require(fine);
        self.bin(op, a, b)
    }

    /// The counter on the last turn. Where there is no turn the answer means nothing, and nothing depends on
    /// it.
    pub(super) fn last(&mut self, c: &Counter) -> Value {
        // An exclusive bound is at least one away.
        let at_most = if c.inclusive {
            c.bound
        } else {
            let one = self.int(-c.step.signum());
            self.bin(Op::Iadd, c.bound, one)
        };
        if c.step.abs() == 1 {
            return at_most;
        }
        let (from, to, back) =
            if c.step > 0 { (c.start, at_most, Op::Isub) } else { (at_most, c.start, Op::Iadd) };
        let span = self.bin(Op::Isub, to, from);
        let step = self.int(c.step.abs());
        let beyond = self.bin(Op::Urem, span, step);
        self.bin(back, at_most, beyond)
    }

    /// The sum of what does not move. It may wrap: sums are taken modulo 2^64, and what counts is whether the
    /// index does.
    pub(super) fn still(&mut self, index: &Affine) -> Option<Value> {
        let mut sum: Option<Value> = None;
        for (v, k) in &index.terms {
            let (op, part) = match k {
                1 => (Op::Iadd, *v),
                -1 => (Op::Isub, *v),
                k => {
                    let k = self.int(*k);
                    (Op::Iadd, self.bin(Op::Imul, *v, k))
                }
            };
            sum = Some(match sum {
                Some(s) => self.bin(op, s, part),
                None if op == Op::Iadd => part,
                None => {
                    let zero = self.int(0);
                    self.bin(op, zero, part)
                }
            });
        }
        if index.constant == 0 {
            return sum;
        }
        let c = self.int(index.constant);
        Some(match sum {
            Some(s) => self.bin(Op::Iadd, s, c),
            None => c,
        })
    }

    /// Requires `0 <= index < bound` on the first and on the last turn, and so on all, without wrapping.
    ///
    /// The smallest index must be exact. Once it is known not to be negative the largest lies below 2^64, so
    /// its unsigned comparison with the bound is exact by itself; and a bound that is not negative keeps it
    /// below 2^63.
    pub(super) fn moving(&mut self, c: &Counter, last: Value, index: &Affine, bound: Value, limits: Limits) {
        let (mut least, mut most) = if c.step > 0 { (c.start, last) } else { (last, c.start) };
        if limits == Limits::default() {
            return self.between((least, most), index, bound);
        }
        if let Some(l) = limits.least {
            let by = self.strictly(l, Op::Iadd, Op::SaddOverflows);
            least = self.bin(Op::Smax, least, by);
        }
        if let Some(l) = limits.most {
            let by = self.strictly(l, Op::Isub, Op::SsubOverflows);
            most = self.bin(Op::Smin, most, by);
        }
        let others = self.all.take();
        self.between((least, most), index, bound);
        let inside = self.all.take();
        self.all = others;
        if let Some(inside) = inside {
            let never = self.bin(Op::IcmpSgt, least, most);
            let fine = self.bin(Op::Bor, inside, never);
            self.require(fine);
        }
    }

    /// The first number on the right side of a limit; that it exists is required.
    pub(super) fn strictly(&mut self, limit: Limit, op: Op, overflows: Op) -> Value {
        if !limit.strict {
            return limit.by;
        }
        let one = self.int(1);
        self.exact(op, overflows, limit.by, one)
    }

    pub(super) fn between(&mut self, (least, most): (Value, Value), index: &Affine, bound: Value) {
        let still = self.still(index);
        let (small, large) = if index.scale > 0 { (least, most) } else { (most, least) };
        let (low, high) = match (index.scale, still) {
            (1, None) => (small, large),
            (1, Some(s)) => (self.exact(Op::Iadd, Op::SaddOverflows, small, s), self.bin(Op::Iadd, large, s)),
            (-1, s) => {
                let s = match s {
                    Some(s) => s,
                    None => self.int(0),
                };
                (self.exact(Op::Isub, Op::SsubOverflows, s, small), self.bin(Op::Isub, s, large))
            }
            (k, s) => {
                let k = self.int(k);
                let (small, large) = (
                    self.exact(Op::Imul, Op::SmulOverflows, small, k),
                    self.exact(Op::Imul, Op::SmulOverflows, large, k),
                );
                match s {
                    Some(s) => {
                        (self.exact(Op::Iadd, Op::SaddOverflows, small, s), self.bin(Op::Iadd, large, s))
                    }
                    None => (small, large),
                }
            }
        };
        let zero = self.int(0);
        for not_negative in [low, bound] {
            let fine = self.bin(Op::IcmpSge, not_negative, zero);
            self.require(fine);
        }
        let below = self.bin(Op::IcmpUlt, high, bound);
        self.require(below);
    }
}

impl Test<'_> {
    /// Requires the same of a walk: first and last position are exact and inside, so are those between,
    /// whichever way it goes.
    pub(super) fn walking(&mut self, walk: &Walk, index: &Affine, bound: Value) {
        let (one, zero) = (self.int(1), self.int(0));
        let steps = self.bin(Op::Isub, walk.turns, one);
        let fine = self.bin(Op::IcmpSge, steps, zero);
        self.require(fine);
        let way = self.exact(Op::Imul, Op::SmulOverflows, steps, walk.step);
        let last = self.exact(Op::Iadd, Op::SaddOverflows, walk.start, way);
        let still = self.still(index);
        for end in [walk.start, last] {
            let at = match still {
                Some(s) => self.exact(Op::Iadd, Op::SaddOverflows, end, s),
                None => end,
            };
            for not_negative in [at, bound] {
                let fine = self.bin(Op::IcmpSge, not_negative, zero);
                self.require(fine);
            }
            let below = self.bin(Op::IcmpUlt, at, bound);
            self.require(below);
        }
    }
}
