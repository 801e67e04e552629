//! Elementary functions as LIR.

use super::{Bits, Rare, Real, Truth};
use crate::lir::builder::Builder;
use crate::lir::{Op, Ty, Value};
use crate::rt::RtFn;
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Shl, Shr, Sub};

/// A value of the function that is being written: a float, 64 bits, or a truth.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a, 'f> {
    pub value: Value,
    pub to: &'a RefCell<Builder<'f>>,
}

impl Node<'_, '_> {
    fn with(self, make: impl FnOnce(&mut Builder<'_>) -> Value) -> Self {
        let value = make(&mut self.to.borrow_mut());
        Node { value, to: self.to }
    }
    fn un(self, op: Op) -> Self {
        self.with(|b| b.un(op, self.value))
    }
    fn bin(self, op: Op, other: Self) -> Self {
        self.with(|b| b.bin(op, self.value, other.value))
    }
    fn imm(self, op: Op, n: i64) -> Self {
        self.with(|b| b.bin_imm(op, self.value, n))
    }
    /// The operation of the class that the operands belong to.
    fn either(self, float: Op, int: Op, other: Self) -> Self {
        let is_float = self.to.borrow().ty(self.value).is_float();
        self.bin(if is_float { float } else { int }, other)
    }
    fn chosen(c: Self, a: Self, b: Self) -> Self {
        c.with(|to| to.select(c.value, a.value, b.value))
    }
    /// A constant of the width of this number.
    fn literal(self, x: f64) -> Self {
        self.with(|b| if b.ty(self.value).bytes() == 4 { b.f32(x as f32) } else { b.f64(x) })
    }
    /// The type of that class with this number's width.
    fn of_width(self, narrow: Ty, wide: Ty) -> Ty {
        if self.to.borrow().ty(self.value).bytes() == 4 { narrow } else { wide }
    }

    /// What a helper gives where `unusual` holds, else what `usual` writes.
    pub(crate) fn or_from_helper(
        self,
        unusual: Self,
        helper: &'static RtFn,
        args: &[Value],
        usual: impl FnOnce() -> Self,
    ) -> Self {
        let done = {
            let ty = self.of_width(Ty::F32, Ty::F64);
            let mut b = self.to.borrow_mut();
            let (cold, warm, done) = (b.new_cold_block(&[]), b.new_block(&[]), b.new_block(&[ty]));
            b.brif(unusual.value, cold, &[], warm, &[]);
            b.switch_to(cold);
            let from_helper = b.helper(helper, args);
            b.jump(done, &[from_helper.unwrap_or(self.value)]);
            b.switch_to(warm);
            done
        };
        let value = usual().value;
        self.with(|b| {
            b.jump(done, &[value]);
            b.switch_to(done);
            b.params(done)[0]
        })
    }
}

macro_rules! both { ($($Trait:ident $f:ident $float:ident $int:ident),*) => { $(
    impl $Trait for Node<'_, '_> { type Output = Self; fn $f(self, o: Self) -> Self { self.either(Op::$float, Op::$int, o) } }
    impl $Trait<f64> for Node<'_, '_> { type Output = Self; fn $f(self, x: f64) -> Self { self.bin(Op::$float, self.literal(x)) } }
)* }; }
both!(Add add Fadd Iadd, Sub sub Fsub Isub, Mul mul Fmul Imul);
macro_rules! with_numbers { ($($Trait:ident $f:ident $int:ident $N:ty),*) => { $(
    impl $Trait<$N> for Node<'_, '_> { type Output = Self; fn $f(self, n: $N) -> Self { self.imm(Op::$int, i64::from(n)) } }
)* }; }
with_numbers!(Add add Iadd i64, Sub sub Isub i64, BitAnd bitand Band i64, BitOr bitor Bor i64, Shl shl Ishl u32, Shr shr Sshr u32);
impl BitAnd for Node<'_, '_> {
    type Output = Self;
    fn bitand(self, o: Self) -> Self {
        self.bin(Op::Band, o)
    }
}
impl BitOr for Node<'_, '_> {
    type Output = Self;
    fn bitor(self, o: Self) -> Self {
        self.bin(Op::Bor, o)
    }
}
impl Not for Node<'_, '_> {
    type Output = Self;
    fn not(self) -> Self {
        self.imm(Op::Bxor, 1)
    }
}
impl Div for Node<'_, '_> {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        self.bin(Op::Fdiv, o)
    }
}
impl Neg for Node<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.un(Op::Fneg)
    }
}

impl Truth for Node<'_, '_> {}

impl Bits for Node<'_, '_> {
    type Real = Self;
    type Truth = Self;
    fn logical(self, by: u32) -> Self {
        self.imm(Op::Ushr, i64::from(by))
    }
    fn left_by(self, by: Self) -> Self {
        self.bin(Op::Ishl, by)
    }
    fn logical_by(self, by: Self) -> Self {
        self.bin(Op::Ushr, by)
    }
    fn is(self, n: i64) -> Self {
        self.imm(Op::IcmpEq, n)
    }
    fn below(self, other: Self) -> Self {
        self.bin(Op::IcmpUlt, other)
    }
    fn pick(c: Self, a: Self, b: Self) -> Self {
        Self::chosen(c, a, b)
    }
    fn real(self) -> Self {
        let ty = self.of_width(Ty::F32, Ty::F64);
        self.with(|b| b.conv(Op::Bitcast, ty, self.value))
    }
    fn to_real(self) -> Self {
        let ty = self.of_width(Ty::F32, Ty::F64);
        self.with(|b| b.conv(Op::SintToF, ty, self.value))
    }
    /// A choice among all words: code has no memory of its own, and where this is used time does not matter.
    fn window(self, table: &'static [u64]) -> [Self; 4] {
        let word = |n: u64| self.with(|b| b.i64(n as i64));
        let mut found: [Self; 4] = std::array::from_fn(|k| word(table[k]));
        for at in 1..table.len() - 3 {
            let here = Bits::is(self, at as i64);
            found = std::array::from_fn(|k| Self::chosen(here, word(table[at + k]), found[k]));
        }
        found
    }
}

impl Real for Node<'_, '_> {
    type Bits = Self;
    type Truth = Self;
    fn of(self, x: f64) -> Self {
        self.literal(x)
    }
    fn fma(self, a: Self, c: Self) -> Self {
        self.with(|b| b.ternary(Op::Fma, self.value, a.value, c.value))
    }
    fn size(self) -> Self {
        self.un(Op::Fabs)
    }
    fn root(self) -> Self {
        self.un(Op::Fsqrt)
    }
    fn whole(self) -> Self {
        self.un(Op::Ffloor)
    }
    fn signed(self, sign: Self) -> Self {
        self.bin(Op::Fcopysign, sign)
    }
    fn below(self, other: Self) -> Self {
        self.bin(Op::FcmpLt, other)
    }
    fn is(self, other: Self) -> Self {
        self.bin(Op::FcmpEq, other)
    }
    fn bits(self) -> Self {
        let ty = self.of_width(Ty::I32, Ty::I64);
        self.with(|b| b.conv(Op::Bitcast, ty, self.value))
    }
    fn pick(c: Self, a: Self, b: Self) -> Self {
        Self::chosen(c, a, b)
    }
    fn rare<F: Rare>(self) -> Self {
        self.or_from_helper(F::is_rare(self), F::helper(), &[self.value], || F::usual(self))
    }
}
