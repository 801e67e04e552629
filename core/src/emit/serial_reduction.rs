//! Reductions to one number where no kernel passes over whole arrays: loops that put elements together one
//! after the other, in C order.

use super::arrays::{Stream, fold, product};
use super::cast;
use super::cx::{LowerCx, Val};
use crate::diag::Result;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::ops::kernel::Reduce;
use crate::types::{Kind, Type};

/// A reduction of elements of one type, computed in another.
#[derive(Clone, Copy)]
pub(crate) struct Serial {
    op: Reduce,
    from: Type,
    acc: Type,
}

impl Serial {
    /// None where elements have no order that a few instructions tell, as complex numbers.
    pub(crate) fn of(op: Reduce, from: Type, acc: Type) -> Option<Serial> {
        let ordered = matches!(op, Reduce::Min | Reduce::Max | Reduce::NanMin | Reduce::NanMax);
        let plain = from.is_number() && acc.is_number();
        (plain && !(ordered && (from.is_complex() || acc != from))).then_some(Serial { op, from, acc })
    }

    /// What is left of elements, which `element` finds at the places of streams of that shape.
    pub(crate) fn emit(
        self,
        cx: &mut LowerCx<'_>,
        shape: &[Value],
        streams: &[Stream],
        element: &mut dyn FnMut(&mut LowerCx<'_>, &[Value]) -> Result<Val>,
    ) -> Result<Val> {
        let start = match self.op.no_identity() {
            None => self.start(cx)?,
            Some(name) => {
                let n = product(cx, shape);
                let some = cx.b.bin_imm(Op::IcmpSgt, n, 0);
                cx.check(
                    some,
                    Class::ValueError,
                    &format!("zero-size array to reduction operation {name} which has no identity"),
                );
                let first: Vec<Value> = streams.iter().map(|s| s.data).collect();
                element(cx, &first)?
            }
        };
        fold(cx, shape, streams, &start, &mut |cx, at, so_far| {
            let x = element(cx, at)?;
            self.put(cx, so_far, &x)
        })
    }

    fn start(self, cx: &mut LowerCx<'_>) -> Result<Val> {
        let one = matches!(self.op, Reduce::Prod | Reduce::NanProd | Reduce::All);
        let value = vec![cx.b.i64(i64::from(one))];
        cast::cast(cx, &value, Type::i64(), self.acc)
    }

    fn put(self, cx: &mut LowerCx<'_>, so_far: &[Value], x: &[Value]) -> Result<Val> {
        let (from, acc) = (self.from, self.acc);
        let nan = |cx: &mut LowerCx<'_>| {
            let parts: Vec<Value> = match from.is_float() || from.is_complex() {
                true => x.iter().map(|v| cx.b.bin(Op::FcmpUno, *v, *v)).collect(),
                false => vec![],
            };
            parts.into_iter().reduce(|a, b| cx.or(a, b)).unwrap_or_else(|| cx.b.bool(false))
        };
        Ok(match self.op {
            Reduce::Sum | Reduce::Prod => {
                let x = cast::cast(cx, x, from, acc)?;
                self.combined(cx, so_far, &x)
            }
            Reduce::NanSum | Reduce::NanProd => {
                let (none, x) = (nan(cx), cast::cast(cx, x, from, acc)?);
                let made = self.combined(cx, so_far, &x);
                made.iter().zip(so_far).map(|(new, old)| cx.b.select(none, *old, *new)).collect()
            }
            Reduce::Any | Reduce::All => {
                let x = cast::cast(cx, x, from, Type::bool())?[0];
                vec![if self.op == Reduce::Any { cx.or(so_far[0], x) } else { cx.and(so_far[0], x) }]
            }
            Reduce::CountNonzero => {
                let x = cast::cast(cx, x, from, Type::bool())?;
                let one = cast::cast(cx, &x, Type::bool(), Type::i64())?[0];
                vec![cx.b.bin(Op::Iadd, so_far[0], one)]
            }
            Reduce::CountNotNan => {
                let none = nan(cx);
                let counts = vec![cx.not(none)];
                let one = cast::cast(cx, &counts, Type::bool(), Type::i64())?[0];
                vec![cx.b.bin(Op::Iadd, so_far[0], one)]
            }
            Reduce::Min | Reduce::Max | Reduce::NanMin | Reduce::NanMax => {
                vec![self.better(cx, so_far[0], x[0])]
            }
        })
    }

    /// A sum or a product.
    fn combined(self, cx: &mut LowerCx<'_>, a: &[Value], b: &[Value]) -> Val {
        let adds = matches!(self.op, Reduce::Sum | Reduce::NanSum);
        if let ([p, q], [x, y]) = (a, b) {
            if adds {
                return vec![cx.b.bin(Op::Fadd, *p, *x), cx.b.bin(Op::Fadd, *q, *y)];
            }
            let (px, qy) = (cx.b.bin(Op::Fmul, *p, *x), cx.b.bin(Op::Fmul, *q, *y));
            let (py, qx) = (cx.b.bin(Op::Fmul, *p, *y), cx.b.bin(Op::Fmul, *q, *x));
            return vec![cx.b.bin(Op::Fsub, px, qy), cx.b.bin(Op::Fadd, py, qx)];
        }
        if *self.acc == Kind::Bool {
            return vec![if adds { cx.or(a[0], b[0]) } else { cx.and(a[0], b[0]) }];
        }
        let (add, multiply) = if self.acc.is_float() { (Op::Fadd, Op::Fmul) } else { (Op::Iadd, Op::Imul) };
        vec![cx.b.bin(if adds { add } else { multiply }, a[0], b[0])]
    }

    /// The smaller or the greater; NaN where there is one, or what is not.
    fn better(self, cx: &mut LowerCx<'_>, best: Value, x: Value) -> Value {
        let max = matches!(self.op, Reduce::Max | Reduce::NanMax);
        if *self.from == Kind::Bool {
            return if max { cx.or(best, x) } else { cx.and(best, x) };
        }
        let (a, b) = if max { (best, x) } else { (x, best) };
        if !self.from.is_float() {
            let signed = matches!(*self.from, Kind::Int(i) if i.signed());
            let wins = cx.b.bin(if signed { Op::IcmpSlt } else { Op::IcmpUlt }, a, b);
            return cx.b.select(wins, x, best);
        }
        let wins = cx.b.bin(Op::FcmpLt, a, b);
        let taken = if matches!(self.op, Reduce::Min | Reduce::Max) {
            let (nan, number) = (cx.b.bin(Op::FcmpUno, x, x), cx.b.bin(Op::FcmpEq, best, best));
            let taken = cx.or(wins, nan);
            cx.and(taken, number)
        } else {
            let nan = cx.b.bin(Op::FcmpUno, best, best);
            cx.or(wins, nan)
        };
        cx.b.select(taken, x, best)
    }
}
