//! Exponentials: `exp`, `exp2`, `expm1`.
//!
//! `x` is `n log 2 + r` with `r` below half of log 2, and `e^x` is `2^n (1 + r + r² p(r))`. What matters is
//! that `1 + r` is added exactly.

use super::coefficients::{EXP, LN2, LOG2_E};
use super::{Bits, Rare, Real, SHIFT, Sum, poly};
use crate::ops::mathfn as m;
use crate::rt::RtFn;

/// `2^n`, and `e^r` as `1 + r + (lo + r² curve)`.
pub(crate) struct Parts<R: Real> {
    /// `n` as a number that holds it in its low bits.
    pub shifted: R,
    pub r: R,
    lo: R,
    curve: R,
}

/// Of a number small enough for `n` to fit (a few thousand).
#[inline(always)]
pub(crate) fn parts<R: Real>(x: R) -> Parts<R> {
    let (shifted, n, r) = reduced(x);
    let low = n * -LN2[1];
    // Where `r` is the smaller one, what is lost is far below the last bit of the result.
    series(shifted, Sum::ordered(r, low))
}

/// Of a sum.
#[inline(always)]
pub(crate) fn parts_of<R: Real>(x: Sum<R>) -> Parts<R> {
    let (shifted, n, r) = reduced(x.hi);
    series(shifted, Sum::ordered(r, n.fma(r.of(-LN2[1]), x.lo)))
}

/// The number that holds `n`, `n`, and what the first part of its multiple of log 2 leaves, which has so few
/// bits that this is exact.
#[inline(always)]
fn reduced<R: Real>(x: R) -> (R, R, R) {
    let shifted = x.fma_of(LOG2_E[0], SHIFT);
    let n = shifted - SHIFT;
    (shifted, n, n.fma(x.of(-LN2[0]), x))
}

#[inline(always)]
fn series<R: Real>(shifted: R, r: Sum<R>) -> Parts<R> {
    Parts { shifted, r: r.hi, lo: r.lo, curve: poly(r.hi, &EXP) }
}

/// `m * 2^n` with one rounding, whatever `n` below a few thousand, from the number that holds `n`.
#[inline(always)]
pub(crate) fn scale<R: Real>(m: R, shifted: R) -> R {
    // Two factors, so that results without full precision are rounded once, and none overflows before its
    // time.
    let n = shifted.bits() - SHIFT.to_bits() as i64;
    let half = n >> 1;
    let power = |n: R::Bits| ((n + 1023) << 52).real();
    m * power(half) * power(n - half)
}

impl<R: Real> Parts<R> {
    /// What `e^r` has beyond `1 + r`.
    #[inline(always)]
    fn rest(&self) -> R {
        (self.r * self.r).fma(self.curve, self.lo)
    }
    /// `e^r`, rounded.
    #[inline(always)]
    pub(crate) fn value(&self) -> R {
        let one = Sum::ordered(self.r.of(1.0), self.r);
        one.hi + (self.r * self.r).fma(self.curve, one.lo + self.lo)
    }
    /// `e^r` as a sum.
    #[inline(always)]
    pub(crate) fn sum(&self) -> Sum<R> {
        let one = Sum::ordered(self.r.of(1.0), self.r);
        Sum { hi: one.hi, lo: one.lo + self.rest() }
    }
    /// `2^(n + more)`, an ordinary number.
    #[inline(always)]
    pub(crate) fn power(&self, more: i64) -> R {
        ((self.shifted.bits() + (1023 + more - SHIFT.to_bits() as i64)) << 52).real()
    }
}

/// Keeps NaN; beyond these limits results are 0 and infinite.
#[inline(always)]
pub(crate) fn clamped<R: Real>(x: R, low: f64, high: f64) -> R {
    let x = R::pick(x.over(high), x.of(high), x);
    R::pick(x.under(low), x.of(low), x)
}

#[inline(always)]
pub fn exp<R: Real>(x: R) -> R {
    let p = parts(clamped(x, -746.0, 710.0));
    scale(p.value(), p.shifted)
}

/// [`exp`] of a number whose result is far from the ends of the range: the same bits, with less to do where
/// numbers come one by one.
#[inline(always)]
pub fn exp_ordinary<R: Real>(x: R) -> R {
    let p = parts(x);
    (p.value().bits() + (p.shifted.bits() << 52)).real()
}

/// Where numbers come one by one.
pub(crate) struct Alone;
impl Rare for Alone {
    #[inline(always)]
    fn usual<R: Real>(x: R) -> R {
        exp_ordinary(x)
    }
    #[inline(always)]
    fn is_rare<R: Real>(x: R) -> R::Truth {
        !x.size().under(700.0)
    }
    #[inline(always)]
    fn rare<R: Real>(x: R) -> R {
        exp(x)
    }
    fn helper() -> &'static RtFn {
        &m::f64_exp
    }
}

#[inline(always)]
pub fn exp2<R: Real>(x: R) -> R {
    let x = clamped(x, -1076.0, 1025.0);
    let shifted = x + SHIFT;
    let r = x - (shifted - SHIFT);
    let p = series(shifted, Sum::of(r).times(&[std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17, 0.0]));
    scale(p.value(), shifted)
}

/// A quarter of `e^x - 1` for `x` from -40 to 712, with an error far below its last bit.
#[inline(always)]
pub(crate) fn quarter_expm1<R: Real>(x: R) -> Sum<R> {
    let p = parts(x);
    let factor = p.power(-2);
    let whole = Sum::exact(factor, x.of(-0.25));
    let linear = Sum::exact(whole.hi, factor * p.r);
    Sum::ordered(linear.hi, linear.lo + factor.fma(p.rest(), whole.lo))
}

#[inline(always)]
pub fn expm1<R: Real>(x: R) -> R {
    let q = quarter_expm1(clamped(x, -40.0, 710.0));
    // Small numbers come back as they are: a quarter of the smallest does not exist.
    R::pick(x.size().under(1e-290), x, q.value() * 4.0)
}
