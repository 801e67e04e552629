//! float32 as a number that definitions are carried out with, and its 32 bits.

use super::{Bits, Rare, Real};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Shl, Shr, Sub};

/// A float32 that is computed with. Constants are rounded to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Narrow(pub f32);

/// Its bits; everything wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NarrowBits(i32);

macro_rules! of_floats { ($($Trait:ident $f:ident $op:tt),*) => { $(
    impl $Trait for Narrow { type Output = Narrow; #[inline(always)] fn $f(self, o: Narrow) -> Narrow { Narrow(self.0 $op o.0) } }
    impl $Trait<f64> for Narrow { type Output = Narrow; #[inline(always)] fn $f(self, o: f64) -> Narrow { Narrow(self.0 $op o as f32) } }
)* }; }
of_floats!(Add add +, Sub sub -, Mul mul *);
impl Div for Narrow {
    type Output = Narrow;
    #[inline(always)]
    fn div(self, o: Narrow) -> Narrow {
        Narrow(self.0 / o.0)
    }
}
impl Neg for Narrow {
    type Output = Narrow;
    #[inline(always)]
    fn neg(self) -> Narrow {
        Narrow(-self.0)
    }
}

macro_rules! of_bits { ($($Trait:ident $f:ident $w:ident),*) => { $(
    impl $Trait for NarrowBits { type Output = NarrowBits; #[inline(always)] fn $f(self, o: NarrowBits) -> NarrowBits { NarrowBits(self.0.$w(o.0)) } }
    impl $Trait<i64> for NarrowBits { type Output = NarrowBits; #[inline(always)] fn $f(self, o: i64) -> NarrowBits { NarrowBits(self.0.$w(o as i32)) } }
)* }; }
of_bits!(Add add wrapping_add, Sub sub wrapping_sub, BitAnd bitand bitand, BitOr bitor bitor);
impl Mul for NarrowBits {
    type Output = NarrowBits;
    #[inline(always)]
    fn mul(self, o: NarrowBits) -> NarrowBits {
        NarrowBits(self.0.wrapping_mul(o.0))
    }
}
impl Shl<u32> for NarrowBits {
    type Output = NarrowBits;
    #[inline(always)]
    fn shl(self, by: u32) -> NarrowBits {
        NarrowBits(self.0.wrapping_shl(by))
    }
}
impl Shr<u32> for NarrowBits {
    type Output = NarrowBits;
    #[inline(always)]
    fn shr(self, by: u32) -> NarrowBits {
        NarrowBits(self.0.wrapping_shr(by))
    }
}

impl Bits for NarrowBits {
    type Real = Narrow;
    type Truth = bool;
    #[inline(always)]
    fn logical(self, by: u32) -> NarrowBits {
        NarrowBits((self.0 as u32).wrapping_shr(by) as i32)
    }
    #[inline(always)]
    fn left_by(self, by: NarrowBits) -> NarrowBits {
        NarrowBits(self.0.wrapping_shl(by.0 as u32))
    }
    #[inline(always)]
    fn logical_by(self, by: NarrowBits) -> NarrowBits {
        NarrowBits((self.0 as u32).wrapping_shr(by.0 as u32) as i32)
    }
    #[inline(always)]
    fn is(self, n: i64) -> bool {
        self.0 == n as i32
    }
    #[inline(always)]
    fn below(self, other: NarrowBits) -> bool {
        (self.0 as u32) < other.0 as u32
    }
    #[inline(always)]
    fn pick(c: bool, a: NarrowBits, b: NarrowBits) -> NarrowBits {
        if c { a } else { b }
    }
    #[inline(always)]
    fn real(self) -> Narrow {
        Narrow(f32::from_bits(self.0 as u32))
    }
    #[inline(always)]
    fn to_real(self) -> Narrow {
        Narrow(self.0 as f32)
    }
    #[inline(always)]
    fn window(self, table: &'static [u64]) -> [NarrowBits; 4] {
        std::array::from_fn(|k| NarrowBits(table[self.0 as usize + k] as i32))
    }
}

impl Real for Narrow {
    type Bits = NarrowBits;
    type Truth = bool;
    #[inline(always)]
    fn of(self, x: f64) -> Narrow {
        Narrow(x as f32)
    }
    #[inline(always)]
    fn fma(self, a: Narrow, b: Narrow) -> Narrow {
        Narrow(self.0.mul_add(a.0, b.0))
    }
    #[inline(always)]
    fn size(self) -> Narrow {
        Narrow(self.0.abs())
    }
    #[inline(always)]
    fn root(self) -> Narrow {
        Narrow(self.0.sqrt())
    }
    #[inline(always)]
    fn whole(self) -> Narrow {
        Narrow(self.0.floor())
    }
    #[inline(always)]
    fn signed(self, sign: Narrow) -> Narrow {
        Narrow(self.0.copysign(sign.0))
    }
    #[inline(always)]
    fn below(self, other: Narrow) -> bool {
        self.0 < other.0
    }
    #[inline(always)]
    fn is(self, other: Narrow) -> bool {
        self.0 == other.0
    }
    #[inline(always)]
    fn bits(self) -> NarrowBits {
        NarrowBits(self.0.to_bits() as i32)
    }
    #[inline(always)]
    fn pick(c: bool, a: Narrow, b: Narrow) -> Narrow {
        if c { a } else { b }
    }
    /// What is rare is computed in float64.
    #[inline(always)]
    fn rare<F: Rare>(self) -> Narrow {
        if F::is_rare(self) { Narrow(F::rare(f64::from(self.0)) as f32) } else { F::usual(self) }
    }
}
