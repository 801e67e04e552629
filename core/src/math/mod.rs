//! Elementary functions: one definition each, generic over what carries it out.
//!
//! A definition is a Rust function of [`Real`] numbers. With `f64` it computes: that is the body of the
//! run-time's helper. With [`emit::Node`] it writes LIR: tier 1 copies that into loops, and GPUs have nothing
//! else. Both are the same sequence of IEEE operations, with multiplications fused where the text says `fma`
//! and nowhere else, so every tier and machine gives the same bits. There are no tables and, but for what
//! almost never happens ([`Real::rare`]), no branches: loops become vectors.
//!
//! Errors are below one unit in the last place; `tests/elementary.rs` compares with a multi-precision
//! reference. The functions of float32 that programs use most have definitions of their own ([`single`]); the
//! others are computed in float64 and rounded once at the end. Where exactness must survive the
//! last rounding, numbers are sums of two ([`Sum`]).

#[allow(clippy::all)]
mod coefficients;
mod definitions;
pub(crate) mod emit;
pub mod error;
pub mod exp;
pub mod gamma;
pub mod hyperbolic;
pub mod inverse;
pub mod log;
pub mod narrow;
pub mod power;
pub mod reduce;
pub mod roots;
pub mod single;
pub mod trig;

pub use definitions::{Definition, definition, hidden};

use crate::rt::RtFn;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Shl, Shr, Sub};

/// Truth of a comparison.
pub trait Truth: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {}

/// 64 bits as an integer; everything wraps. `>>` keeps the sign.
pub trait Bits:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Add<i64, Output = Self>
    + Sub<i64, Output = Self>
    + BitAnd<i64, Output = Self>
    + BitOr<i64, Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    type Real: Real<Bits = Self, Truth = Self::Truth>;
    type Truth: Truth;
    /// `>>` with zeros from above.
    fn logical(self, by: u32) -> Self;
    /// By an amount of 0 to 63 that is itself computed.
    fn left_by(self, by: Self) -> Self;
    fn logical_by(self, by: Self) -> Self;
    fn is(self, n: i64) -> Self::Truth;
    /// As unsigned numbers.
    fn below(self, other: Self) -> Self::Truth;
    fn pick(c: Self::Truth, a: Self, b: Self) -> Self;
    /// The float with these bits.
    fn real(self) -> Self::Real;
    /// The float with this value.
    fn to_real(self) -> Self::Real;
    /// Words `self` to `self + 3` of a table; the index is in range.
    fn window(self, table: &'static [u64]) -> [Self; 4];
}

/// A double, or what stands for one.
pub trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    type Bits: Bits<Real = Self, Truth = Self::Truth>;
    type Truth: Truth;
    /// A constant.
    fn of(self, x: f64) -> Self;
    /// `self * a + b`, rounded once.
    fn fma(self, a: Self, b: Self) -> Self;
    fn size(self) -> Self;
    fn root(self) -> Self;
    /// The greatest whole number that is not above.
    fn whole(self) -> Self;
    /// This magnitude with that sign.
    fn signed(self, sign: Self) -> Self;
    fn below(self, other: Self) -> Self::Truth;
    fn is(self, other: Self) -> Self::Truth;
    fn bits(self) -> Self::Bits;
    fn pick(c: Self::Truth, a: Self, b: Self) -> Self;
    /// A function with a way that is hardly ever taken.
    fn rare<F: Rare>(self) -> Self;

    /// `self * a + b` with constants.
    #[inline(always)]
    fn fma_of(self, a: f64, b: f64) -> Self {
        self.fma(self.of(a), self.of(b))
    }
    #[inline(always)]
    fn under(self, x: f64) -> Self::Truth {
        self.below(self.of(x))
    }
    #[inline(always)]
    fn over(self, x: f64) -> Self::Truth {
        self.of(x).below(self)
    }
    #[inline(always)]
    fn equals(self, x: f64) -> Self::Truth {
        self.is(self.of(x))
    }
    /// `self` where the condition holds, else a constant.
    #[inline(always)]
    fn or(self, c: Self::Truth, x: f64) -> Self {
        Self::pick(c, self, self.of(x))
    }
}

/// Adding it to a number below 2^51 rounds to a whole number, which then stands in the low bits.
pub(crate) const SHIFT: f64 = 6_755_399_441_055_744.0;

/// A polynomial, constant first: four terms at a time, so that few multiplications wait for each other.
#[inline(always)]
pub(crate) fn poly<R: Real, const N: usize>(x: R, c: &[f64; N]) -> R {
    let x2 = x * x;
    let x4 = x2 * x2;
    let (mut sum, mut from) = (None, N.next_multiple_of(4));
    // No closures here: the compiler would leave some as calls, for processors of the oldest kind.
    while from > 0 {
        from -= 4;
        let low = if from + 1 < N { x.fma_of(c[from + 1], c[from]) } else { x.of(c[from]) };
        let four = if from + 3 < N {
            x.fma_of(c[from + 3], c[from + 2]).fma(x2, low)
        } else if from + 2 < N {
            x2.fma(x.of(c[from + 2]), low)
        } else {
            low
        };
        sum = Some(match sum {
            None => four,
            Some(s) => R::fma(s, x4, four),
        });
    }
    match sum {
        Some(s) => s,
        None => x.of(0.0),
    }
}

/// A number as the sum of two, the second far smaller.
#[derive(Clone, Copy)]
pub(crate) struct Sum<R> {
    pub hi: R,
    pub lo: R,
}

impl<R: Real> Sum<R> {
    #[inline(always)]
    pub(crate) fn of(hi: R) -> Self {
        Sum { hi, lo: hi.of(0.0) }
    }
    /// `a + b` exactly.
    #[inline(always)]
    pub(crate) fn exact(a: R, b: R) -> Self {
        let hi = a + b;
        let from_b = hi - a;
        Sum { hi, lo: (a - (hi - from_b)) + (b - from_b) }
    }
    /// `a + b` exactly, where the magnitude of `a` is not below that of `b`, or `a` is zero.
    #[inline(always)]
    pub(crate) fn ordered(a: R, b: R) -> Self {
        let hi = a + b;
        Sum { hi, lo: (a - hi) + b }
    }
    /// `a * b` exactly, as long as nothing underflows.
    #[inline(always)]
    pub(crate) fn product(a: R, b: R) -> Self {
        let hi = a * b;
        Sum { hi, lo: a.fma(b, -hi) }
    }
    #[inline(always)]
    pub(crate) fn value(self) -> R {
        self.hi + self.lo
    }
    /// A multiple of a constant that is itself given in parts.
    #[inline(always)]
    pub(crate) fn times(self, c: &[f64; 3]) -> Self {
        let p = Self::product(self.hi, self.hi.of(c[0]));
        Self::ordered(p.hi, self.lo.fma(self.hi.of(c[0]), self.hi.fma(self.hi.of(c[1]), p.lo)))
    }
    #[inline(always)]
    pub(crate) fn mul(self, o: Self) -> Self {
        let p = Self::product(self.hi, o.hi);
        Self::ordered(p.hi, self.lo.fma(o.hi, self.hi.fma(o.lo, p.lo)))
    }
    #[inline(always)]
    pub(crate) fn add(self, o: Self) -> Self {
        let s = Self::exact(self.hi, o.hi);
        Self::ordered(s.hi, s.lo + (self.lo + o.lo))
    }
    /// A quotient, with one division.
    #[inline(always)]
    pub(crate) fn over(self, d: Self) -> Self {
        let inverse = d.hi.of(1.0) / d.hi;
        let hi = self.hi * inverse;
        let rest = (-hi).fma(d.hi, self.hi) + (-hi).fma(d.lo, self.lo);
        Self::ordered(hi, rest * inverse)
    }
    #[inline(always)]
    pub(crate) fn scaled(self, by: R) -> Self {
        Sum { hi: self.hi * by, lo: self.lo * by }
    }
    #[inline(always)]
    pub(crate) fn negated(self) -> Self {
        Sum { hi: -self.hi, lo: -self.lo }
    }
    #[inline(always)]
    pub(crate) fn pick(c: R::Truth, a: Self, b: Self) -> Self {
        Sum { hi: R::pick(c, a.hi, b.hi), lo: R::pick(c, a.lo, b.lo) }
    }
}

/// The root of a sum that is not negative.
#[inline(always)]
pub(crate) fn root<R: Real>(s: Sum<R>) -> Sum<R> {
    let r = s.hi.root();
    let rest = ((-r).fma(r, s.hi) + s.lo) / (r * 2.0);
    Sum { hi: r, lo: R::pick(s.hi.equals(0.0), s.hi, rest) }
}

/// 64 bits that are computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub i64);

macro_rules! word_ops { ($($Trait:ident $f:ident $w:ident),*) => { $(
    impl $Trait for Word { type Output = Word; #[inline(always)] fn $f(self, o: Word) -> Word { Word(self.0.$w(o.0)) } }
    impl $Trait<i64> for Word { type Output = Word; #[inline(always)] fn $f(self, o: i64) -> Word { Word(self.0.$w(o)) } }
)* }; }
word_ops!(Add add wrapping_add, Sub sub wrapping_sub, BitAnd bitand bitand, BitOr bitor bitor);
impl Mul for Word {
    type Output = Word;
    #[inline(always)]
    fn mul(self, o: Word) -> Word {
        Word(self.0.wrapping_mul(o.0))
    }
}
impl Shl<u32> for Word {
    type Output = Word;
    #[inline(always)]
    fn shl(self, by: u32) -> Word {
        Word(self.0.wrapping_shl(by))
    }
}
impl Shr<u32> for Word {
    type Output = Word;
    #[inline(always)]
    fn shr(self, by: u32) -> Word {
        Word(self.0.wrapping_shr(by))
    }
}

impl Truth for bool {}

impl Bits for Word {
    type Real = f64;
    type Truth = bool;
    #[inline(always)]
    fn logical(self, by: u32) -> Word {
        Word((self.0 as u64).wrapping_shr(by) as i64)
    }
    #[inline(always)]
    fn left_by(self, by: Word) -> Word {
        Word(self.0.wrapping_shl(by.0 as u32))
    }
    #[inline(always)]
    fn logical_by(self, by: Word) -> Word {
        Word((self.0 as u64).wrapping_shr(by.0 as u32) as i64)
    }
    #[inline(always)]
    fn is(self, n: i64) -> bool {
        self.0 == n
    }
    #[inline(always)]
    fn below(self, other: Word) -> bool {
        (self.0 as u64) < other.0 as u64
    }
    #[inline(always)]
    fn pick(c: bool, a: Word, b: Word) -> Word {
        if c { a } else { b }
    }
    #[inline(always)]
    fn real(self) -> f64 {
        f64::from_bits(self.0 as u64)
    }
    #[inline(always)]
    fn to_real(self) -> f64 {
        self.0 as f64
    }
    #[inline(always)]
    fn window(self, table: &'static [u64]) -> [Word; 4] {
        std::array::from_fn(|k| Word(table[self.0 as usize + k] as i64))
    }
}

impl Real for f64 {
    type Bits = Word;
    type Truth = bool;
    #[inline(always)]
    fn of(self, x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn fma(self, a: f64, b: f64) -> f64 {
        self.mul_add(a, b)
    }
    #[inline(always)]
    fn size(self) -> f64 {
        self.abs()
    }
    #[inline(always)]
    fn root(self) -> f64 {
        self.sqrt()
    }
    #[inline(always)]
    fn whole(self) -> f64 {
        self.floor()
    }
    #[inline(always)]
    fn signed(self, sign: f64) -> f64 {
        self.copysign(sign)
    }
    #[inline(always)]
    fn below(self, other: f64) -> bool {
        self < other
    }
    #[inline(always)]
    fn is(self, other: f64) -> bool {
        self == other
    }
    #[inline(always)]
    fn bits(self) -> Word {
        Word(self.to_bits() as i64)
    }
    #[inline(always)]
    fn pick(c: bool, a: f64, b: f64) -> f64 {
        if c { a } else { b }
    }
    #[inline(always)]
    fn rare<F: Rare>(self) -> f64 {
        if F::is_rare(self) { F::rare(self) } else { F::usual(self) }
    }
}

/// The two ways of a function: the usual one, and what another helper computes where that does not reach.
pub trait Rare {
    fn usual<R: Real>(x: R) -> R;
    fn is_rare<R: Real>(x: R) -> R::Truth;
    fn rare<R: Real>(x: R) -> R;
    /// The helper that `rare` is the definition of.
    fn helper() -> &'static RtFn;
}
