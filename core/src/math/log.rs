//! Logarithms: `log`, `log2`, `log10`, `log1p`.
//!
//! `x` is `2^k m` with `m` from √½ to √2, and with `f = m - 1` and `s = f / (2 + f)`, log m is `2 atanh s`,
//! an odd series in `s`.

use super::coefficients::{LN2, LOG, LOG2_E, LOG10_2, LOG10_E};
use super::{Bits, Rare, Real, Sum, poly};
use crate::ops::mathfn as m;
use crate::rt::RtFn;

const ROOT_HALF: i64 = std::f64::consts::FRAC_1_SQRT_2.to_bits() as i64;
const EXPONENT: i64 = 0xfff << 52;
/// 2^52, whose low bits then hold a small number.
const LARGE: f64 = 4_503_599_627_370_496.0;

/// A positive number as `2^k m`.
pub(crate) struct Split<R: Real> {
    pub k: R,
    pub m: R,
    /// `k` in the bits of the exponent.
    pub shift: R::Bits,
}

/// Of a normal number.
#[inline(always)]
pub(crate) fn split_normal<R: Real>(x: R) -> Split<R> {
    let bits = x.bits();
    let from = bits - ROOT_HALF;
    let shift = from & EXPONENT;
    let k = ((from + (1024 << 52)).logical(52) | LARGE.to_bits() as i64).real() - (LARGE + 1024.0);
    Split { k, m: (bits - shift).real(), shift }
}

#[inline(always)]
pub(crate) fn split<R: Real>(x: R) -> Split<R> {
    // All choices are between integers: LLVM chooses between floats by way of a byte register, whose old
    // value is waited for, so numbers that come one by one would wait for each other.
    let bits = x.bits();
    let small = bits.below(x.of(f64::MIN_POSITIVE).bits());
    let bits = R::Bits::pick(small, (x * 18_014_398_509_481_984.0).bits(), bits);
    let from = bits - ROOT_HALF;
    let shift = from & EXPONENT;
    let counted = R::Bits::pick(small, from - (54 << 52), from) + i64::MIN;
    let k = (counted.logical(52) | LARGE.to_bits() as i64).real() - (LARGE + 2048.0);
    Split { k, m: (bits - shift).real(), shift }
}

/// What the logarithm of anything but a positive finite number is.
#[inline(always)]
pub(super) fn finished<R: Real>(x: R, r: R) -> R {
    let pole = x.of(f64::NEG_INFINITY).or(x.equals(0.0), f64::NAN);
    let r = R::pick(x.over(0.0), r, pole);
    R::pick(x.equals(f64::INFINITY), x, r)
}

#[inline(always)]
pub fn log<R: Real>(x: R) -> R {
    finished(x, plain(split(x)))
}

/// [`log`] of a normal positive number: the same bits, with less to do where numbers come one by one.
#[inline(always)]
pub fn log_ordinary<R: Real>(x: R) -> R {
    plain(split_normal(x))
}

/// Where numbers come one by one.
pub(crate) struct Alone;
impl Rare for Alone {
    #[inline(always)]
    fn usual<R: Real>(x: R) -> R {
        log_ordinary(x)
    }
    #[inline(always)]
    fn is_rare<R: Real>(x: R) -> R::Truth {
        !is_normal(x)
    }
    #[inline(always)]
    fn rare<R: Real>(x: R) -> R {
        log(x)
    }
    fn helper() -> &'static RtFn {
        &m::f64_log
    }
}

/// Whether [`log_ordinary`] serves.
#[inline(always)]
pub(crate) fn is_normal<R: Real>(x: R) -> R::Truth {
    !x.under(f64::MIN_POSITIVE) & x.under(f64::INFINITY)
}

#[inline(always)]
fn plain<R: Real>(Split { k, m, .. }: Split<R>) -> R {
    let f = m - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    // log(1 + f) = f - f²/2 + s (f²/2 + z poly(z)), and only the last waits for the polynomial.
    let half = f * f * 0.5;
    let whole = Sum::ordered(k * LN2[0], f);
    let rest = s.fma(half, k.fma(k.of(LN2[1]), whole.lo) - half);
    whole.hi + (s * z).fma(poly(z, &LOG), rest)
}

/// `log m` as a sum, with an error of a few units of its second part.
#[inline(always)]
fn near_one<R: Real>(m: R) -> Sum<R> {
    let f = m - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let tail = z * poly(z, &LOG);
    let half = f * f * 0.5;
    let first = Sum::ordered(f, -half);
    Sum { hi: first.hi, lo: s.fma(half + tail, first.lo) }
}

/// `log(2^more (1 + h.hi + h.lo))` for a sum above -1.
#[inline(always)]
pub(crate) fn log1p_of<R: Real>(h: Sum<R>, more: R) -> R {
    let u = Sum::exact(h.hi.of(1.0), h.hi);
    let Split { k, m, shift } = split_normal(u.hi);
    // 2^-k, or where that is too small a number, nothing: the sum has no second part there.
    let factor = R::pick(h.hi.over(1e300), h.hi.of(0.0), (h.hi.of(1.0).bits() - shift).real());
    let plain = k.equals(0.0);
    let f = R::pick(plain, h.hi, m - 1.0);
    let rest = R::pick(plain, h.lo, (u.lo + h.lo) * factor);
    let s = f / (f + 2.0);
    let z = s * s;
    let tail = z * poly(z, &LOG);
    let half = f * f * 0.5;
    let k = k + more;
    let whole = Sum::ordered(k * LN2[0], f);
    // The derivative of log(1 + f) is nearly 1 - f + f².
    let small = rest.fma(f.fma(f - 1.0, f.of(1.0)), k.fma(k.of(LN2[1]), whole.lo));
    whole.hi + (s.fma(half + tail, small) - half)
}

/// A multiple of a sum whose second part may be as large as it likes.
#[inline(always)]
fn scaled<R: Real>(x: Sum<R>, c: &[f64; 3]) -> Sum<R> {
    let p = Sum::product(x.hi, x.hi.of(c[0]));
    Sum { hi: p.hi, lo: x.lo.fma(x.hi.of(c[0]), x.hi.fma(x.hi.of(c[1]), p.lo)) }
}

#[inline(always)]
pub(crate) fn log2_of<R: Real>(Split { k, m, .. }: Split<R>) -> R {
    let log = scaled(near_one(m), &LOG2_E);
    let whole = Sum::ordered(k, log.hi);
    whole.hi + (whole.lo + log.lo)
}

#[inline(always)]
pub fn log2<R: Real>(x: R) -> R {
    finished(x, log2_of(split(x)))
}

#[inline(always)]
pub fn log10<R: Real>(x: R) -> R {
    let Split { k, m, .. } = split(x);
    let log = scaled(near_one(m), &LOG10_E);
    let whole = Sum::exact(k * LOG10_2[0], log.hi);
    finished(x, whole.hi + (whole.lo + k.fma(k.of(LOG10_2[1]), log.lo)))
}

#[inline(always)]
pub fn log1p<R: Real>(x: R) -> R {
    let r = log1p_of(Sum::of(x), x.of(0.0));
    let pole = x.of(f64::NEG_INFINITY).or(x.equals(-1.0), f64::NAN);
    let r = R::pick(x.over(-1.0), r, pole);
    // Zeros keep their sign, and infinity is its own logarithm.
    R::pick(x.size().under(1e-290) | x.equals(f64::INFINITY), x, r)
}
