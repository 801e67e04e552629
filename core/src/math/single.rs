//! float32 functions with definitions of their own: `exp`, `exp2`, `expm1`, `log`, `log2`, `log10`, `log1p`,
//! `sin`, `cos`, `tanh`.
//!
//! All steps are in float32, which GPUs and vectors do twice to sixty-four times as fast as float64. Errors are
//! below one unit in the last place, as tried for every thirteenth number. What is lost where a part is added
//! to a greater one is carried on ([`Sum`]).

use super::coefficients as c;
use super::exp::clamped;
use super::log::finished;
use super::{Bits, Rare, Real, Sum, poly};
use crate::ops::mathfn as m;
use crate::rt::RtFn;

/// Adding it to a number below 2^22 rounds to a whole number, which then stands in the low bits.
const SHIFT: f64 = 12_582_912.0;
const SHIFT_BITS: i64 = (SHIFT as f32).to_bits() as i64;
const BIAS: i64 = 127;
const MANTISSA: u32 = 23;

/// `2^n`, an ordinary number.
#[inline(always)]
fn power<R: Real>(n: R::Bits) -> R {
    ((n + BIAS) << MANTISSA).real()
}

/// `n` as an integer, and what `x` is beyond `n log 2`.
#[inline(always)]
fn reduced<R: Real>(x: R) -> (R::Bits, Sum<R>) {
    let shifted = x.fma_of(c::LOG2_E[0], SHIFT);
    let n = shifted - SHIFT;
    // The first part of log 2 has so few bits that this is exact.
    let high = n.fma(x.of(-c::LN2_SINGLE[0]), x);
    (shifted.bits() - SHIFT_BITS, Sum::ordered(high, n * -c::LN2_SINGLE[1]))
}

/// `m * 2^n` with one rounding, for `n` below 250.
#[inline(always)]
fn scale<R: Real>(m: R, n: R::Bits) -> R {
    let half = n >> 1;
    m * power::<R>(half) * power::<R>(n - half)
}

/// `e^x` as `m * 2^n` with `m` from √½ to √2.
#[inline(always)]
fn power_of_e<R: Real>(x: R) -> (R, R::Bits) {
    let shifted = x.fma_of(c::LOG2_E[0], SHIFT);
    let n = shifted - SHIFT;
    // The first product is exact, so `r` is rounded once.
    let r = n.fma(x.of(-c::LN2_SINGLE[1]), n.fma(x.of(-c::LN2_SINGLE[0]), x));
    let slope = r.fma(poly(r, &c::EXP_SINGLE), r.of(1.0));
    (r.fma(slope, r.of(1.0)), shifted.bits() - SHIFT_BITS)
}

#[inline(always)]
pub fn exp<R: Real>(x: R) -> R {
    let (m, n) = power_of_e(clamped(x, -104.0, 89.0));
    scale(m, n)
}

/// [`exp`] where numbers come one by one: the same bits, with less to do.
pub(super) struct ExpAlone;
impl Rare for ExpAlone {
    #[inline(always)]
    fn usual<R: Real>(x: R) -> R {
        let (m, n) = power_of_e(x);
        (m.bits() + (n << MANTISSA)).real()
    }
    #[inline(always)]
    fn is_rare<R: Real>(x: R) -> R::Truth {
        !x.size().under(87.0)
    }
    #[inline(always)]
    fn rare<R: Real>(x: R) -> R {
        exp(x)
    }
    fn helper() -> &'static RtFn {
        &m::f32_exp
    }
}

#[inline(always)]
pub fn exp2<R: Real>(x: R) -> R {
    let x = clamped(x, -151.0, 129.0);
    let shifted = x + SHIFT;
    let r = x - (shifted - SHIFT);
    let p = times(r, &c::LN_2_SINGLE);
    let rest = (r * r).fma(poly(r, &c::EXP2_REST_SINGLE), p.lo);
    scale(p.hi + rest + 1.0, shifted.bits() - SHIFT_BITS)
}

/// A multiple of a constant in two parts.
#[inline(always)]
fn times<R: Real>(x: R, constant: &[f64; 2]) -> Sum<R> {
    let p = Sum::product(x, x.of(constant[0]));
    Sum { hi: p.hi, lo: x.fma(x.of(constant[1]), p.lo) }
}

/// What follows the first coefficient.
const fn tail<const N: usize, const M: usize>(all: &[f64; N]) -> [f64; M] {
    let (mut out, mut k) = ([0.0; M], 0);
    while k < M {
        out[k] = all[k + 1];
        k += 1;
    }
    out
}
const EXP_TAIL: [f64; 5] = tail(&c::EXP_SINGLE);
const LOG_TAIL: [f64; 8] = tail(&c::LOG_SINGLE);
const LOG2_TAIL: [f64; 8] = tail(&c::LOG2_REST_SINGLE);
const LOG10_TAIL: [f64; 8] = tail(&c::LOG10_REST_SINGLE);

/// `x²` times a polynomial, whose first term counts most and is rounded last, and something small.
#[inline(always)]
fn square_and<R: Real, const N: usize>(x: R, first: f64, others: &[f64; N], small: R) -> R {
    let z = x * x;
    z.fma(x.of(first), (z * x).fma(poly(x, others), small))
}

/// Half of `e^x - 1`, for `x` from -20 to 89.
#[inline(always)]
fn half_expm1<R: Real>(x: R) -> Sum<R> {
    let (n, r) = reduced(x);
    let half = power::<R>(n - 1);
    let rest = square_and(r.hi, 0.5, &EXP_TAIL, r.lo);
    let base = Sum::exact(half, half.of(-0.5));
    let whole = Sum::exact(base.hi, r.hi * half);
    Sum { hi: whole.hi, lo: rest.fma(half, whole.lo + base.lo) }
}

/// Keeps tiny numbers, and so the sign of zeros.
#[inline(always)]
fn odd<R: Real>(x: R, r: R) -> R {
    R::pick(x.size().under(1e-10), x, r)
}

#[inline(always)]
pub fn expm1<R: Real>(x: R) -> R {
    odd(x, half_expm1(clamped(x, -20.0, 89.0)).value() * 2.0)
}

#[inline(always)]
pub fn tanh<R: Real>(x: R) -> R {
    // -h / (h + 1) with h half of e^(-2 |x|) - 1.
    let h = half_expm1(clamped(x.size() * -2.0, -20.0, 1.0));
    let h = Sum::ordered(h.hi, h.lo);
    let below = Sum::ordered(x.of(1.0), h.hi);
    let q = h.over(Sum { hi: below.hi, lo: below.lo + h.lo }).value();
    odd(x, q.size().signed(x))
}

const TWO_THIRDS: i64 = (2.0f32 / 3.0).to_bits() as i64;
const EXPONENT: i64 = -1 << MANTISSA;

/// A positive number as `2^k (1 + f)` with `f` from -1/3 to 1/3.
struct Split<R: Real> {
    k: R,
    f: R,
    /// `k` in the bits of the exponent.
    shift: R::Bits,
}

#[inline(always)]
fn split<R: Real>(x: R) -> Split<R> {
    let bits = x.bits();
    let small = bits.below(x.of(f64::from(f32::MIN_POSITIVE)).bits());
    let bits = R::Bits::pick(small, (x * 16_777_216.0).bits(), bits);
    let shift = (bits - TWO_THIRDS) & EXPONENT;
    let counted = R::Bits::pick(small, shift - (24 << MANTISSA), shift);
    Split { k: (counted >> MANTISSA).to_real(), f: (bits - shift).real() - 1.0, shift }
}

/// [`log`] where numbers come one by one.
pub(super) struct LogAlone;
impl Rare for LogAlone {
    #[inline(always)]
    fn usual<R: Real>(x: R) -> R {
        let bits = x.bits();
        let shift = (bits - TWO_THIRDS) & EXPONENT;
        natural((shift >> MANTISSA).to_real(), (bits - shift).real() - 1.0)
    }
    #[inline(always)]
    fn is_rare<R: Real>(x: R) -> R::Truth {
        !(!x.under(f64::from(f32::MIN_POSITIVE)) & x.under(f64::INFINITY))
    }
    #[inline(always)]
    fn rare<R: Real>(x: R) -> R {
        log(x)
    }
    fn helper() -> &'static RtFn {
        &m::f32_log
    }
}

#[inline(always)]
pub fn log<R: Real>(x: R) -> R {
    let Split { k, f, .. } = split(x);
    finished(x, natural(k, f))
}

/// `k log 2 + log(1 + f)`.
#[inline(always)]
fn natural<R: Real>(k: R, f: R) -> R {
    let whole = Sum::ordered(k * c::LN2_SINGLE[0], f);
    whole.hi + square_and(f, -0.5, &LOG_TAIL, k.fma(f.of(c::LN2_SINGLE[1]), whole.lo))
}

#[inline(always)]
pub fn log2<R: Real>(x: R) -> R {
    let Split { k, f, .. } = split(x);
    let p = times(f, &c::LOG2_E_SINGLE);
    let whole = Sum::ordered(k, p.hi);
    finished(x, whole.hi + square_and(f, c::LOG2_REST_SINGLE[0], &LOG2_TAIL, whole.lo + p.lo))
}

#[inline(always)]
pub fn log10<R: Real>(x: R) -> R {
    let Split { k, f, .. } = split(x);
    let p = times(f, &c::LOG10_E_SINGLE);
    let whole = Sum::ordered(k * c::LOG10_2_SINGLE[0], p.hi);
    let small = k.fma(x.of(c::LOG10_2_SINGLE[1]), whole.lo + p.lo);
    finished(x, whole.hi + square_and(f, c::LOG10_REST_SINGLE[0], &LOG10_TAIL, small))
}

#[inline(always)]
pub fn log1p<R: Real>(x: R) -> R {
    let u = Sum::exact(x.of(1.0), x);
    let Split { k, f, shift } = split(u.hi);
    // What is lost in `1 + x`, by the same power of two.
    let factor = (x.of(1.0).bits() - shift).real();
    // Far from 1 that is nothing, and the power may not exist.
    let lost = R::pick(x.under(1e9), u.lo * factor, x.of(0.0));
    let f = Sum::ordered(f, lost);
    let whole = Sum::ordered(k * c::LN2_SINGLE[0], f.hi);
    // The derivative of the logarithm is nearly 1 - f.
    let small = k.fma(x.of(c::LN2_SINGLE[1]), whole.lo + (-f.lo).fma(f.hi, f.lo));
    odd(x, finished(u.hi, whole.hi + square_and(f.hi, -0.5, &LOG_TAIL, small)))
}

/// Beyond this, angles are reduced in float64.
pub const LARGE: f64 = 100_000.0;

/// Quarter turns, and an angle up to π/4.
#[inline(always)]
fn turned<R: Real>(x: R) -> (R::Bits, Sum<R>) {
    let shifted = x.fma_of(c::TWO_OVER_PI_SINGLE, SHIFT);
    let n = shifted - SHIFT;
    // Exact: so many bits are lost at the upper end.
    let high = n.fma(x.of(-c::HALF_PI_SINGLE[0]), x);
    let p = Sum::product(n, x.of(-c::HALF_PI_SINGLE[1]));
    let r = Sum::exact(high, p.hi);
    let low = r.lo + n.fma(x.of(-c::HALF_PI_SINGLE[2]), p.lo);
    (shifted.bits() - SHIFT_BITS, Sum { hi: r.hi, lo: low })
}

/// The sine, or the cosine where `turns` is odd.
#[inline(always)]
fn wave<R: Real>(turns: R::Bits, r: Sum<R>) -> R {
    let z = r.hi * r.hi;
    let sine = r.hi + r.lo.fma(z.fma_of(-0.5, 1.0), z * r.hi * poly(z, &c::SIN_SINGLE));
    let one = Sum::ordered(z.of(1.0), z * -0.5);
    let cosine = one.hi + (z * z).fma(poly(z, &c::COS_SINGLE), (-r.hi).fma(r.lo, one.lo));
    let y = R::pick((turns & 1).is(0), sine, cosine);
    // Exclusive or by addition: only the sign changes.
    (y.bits() + ((turns.logical(1) & 1) << 31)).real()
}

#[inline(always)]
fn is_large<R: Real>(x: R) -> R::Truth {
    !x.size().under(LARGE)
}

pub struct Sin;
impl Rare for Sin {
    #[inline(always)]
    fn usual<R: Real>(x: R) -> R {
        let (turns, r) = turned(x);
        odd(x, wave(turns, r))
    }
    #[inline(always)]
    fn is_rare<R: Real>(x: R) -> R::Truth {
        is_large(x)
    }
    #[inline(always)]
    fn rare<R: Real>(x: R) -> R {
        super::trig::sin(x)
    }
    fn helper() -> &'static RtFn {
        &m::f32_sin_large
    }
}

pub struct Cos;
impl Rare for Cos {
    #[inline(always)]
    fn usual<R: Real>(x: R) -> R {
        let (turns, r) = turned(x);
        wave(turns + 1, r)
    }
    #[inline(always)]
    fn is_rare<R: Real>(x: R) -> R::Truth {
        is_large(x)
    }
    #[inline(always)]
    fn rare<R: Real>(x: R) -> R {
        super::trig::cos(x)
    }
    fn helper() -> &'static RtFn {
        &m::f32_cos_large
    }
}

#[inline(always)]
pub fn sin<R: Real>(x: R) -> R {
    x.rare::<Sin>()
}
#[inline(always)]
pub fn cos<R: Real>(x: R) -> R {
    x.rare::<Cos>()
}
