//! `pow`: `2^(y log2 x)`, with the logarithm as the sum of two numbers.
//!
//! The exponent may be a thousand times the logarithm, and its error as many times the logarithm's; so that
//! has eleven bits more than a double. To need little for that, the number whose series is summed is brought
//! nearer to 1 by one of three factors with two or three bits, which lose nothing.

use super::coefficients::{EXP2, EXP2_SINGLE, LN_2, LOG2_FACTORS, LOG2_SERIES, LOG2_TWO};
use super::exp::{clamped, scale};
use super::log::{Split, log2_of, split, split_normal};
use super::{Bits, Real, SHIFT, Sum, poly};

/// `log2` of what was split, with an error of 2^-61 of it. The second part may be a hundredth of the first.
#[inline(always)]
pub(super) fn logarithm<R: Real>(Split { k, m, .. }: Split<R>) -> Sum<R> {
    let (low, high) = (m.under(0.885), m.over(1.155));
    let chosen = |c: [f64; 3]| R::pick(low, m.of(c[0]), R::pick(high, m.of(c[2]), m.of(c[1])));
    let f = m.fma(chosen([1.25, 1.0, 0.75]), m.of(-1.0));
    // log2(1 + f) is an odd series in f / (2 + f).
    let d = f + 2.0;
    let inverse = d.of(1.0) / d;
    let s = f * inverse;
    let rest = (-s).fma(f - (d - 2.0), (-s).fma(d, f)) * inverse;
    let z = s * s;
    let cube = s * (z * poly(z, &LOG2_SERIES));
    let p = Sum::product(s, s.of(LOG2_TWO[0]));
    let small = rest.fma(s.of(LOG2_TWO[0]), s.fma(s.of(LOG2_TWO[1]), p.lo)) + cube;
    let whole = Sum::ordered(k + chosen(LOG2_FACTORS[0]), p.hi);
    Sum { hi: whole.hi, lo: whole.lo + (small + chosen(LOG2_FACTORS[1])) }
}

/// `2^r` as `m` and the number that holds `n`.
#[inline(always)]
fn power_of_two<R: Real>(t: Sum<R>) -> (R, R) {
    let (m, shifted) = power_as_sum(t);
    (m.value(), shifted)
}

/// The same, with `m` before it is rounded.
#[inline(always)]
pub(super) fn power_as_sum<R: Real>(t: Sum<R>) -> (Sum<R>, R) {
    let shifted = (t.hi + t.lo) + SHIFT;
    let r = Sum::ordered(t.hi - (shifted - SHIFT), t.lo);
    // Nothing is lost but in the last addition, so that powers which are whole numbers come out exactly.
    let p = Sum::product(r.hi, t.hi.of(LN_2[0]));
    let small = r.lo.fma(t.hi.of(LN_2[0]), r.hi.fma(t.hi.of(LN_2[1]), p.lo));
    let one = Sum::ordered(t.hi.of(1.0), p.hi);
    (Sum { hi: one.hi, lo: one.lo + (r.hi * r.hi).fma(poly(r.hi, &EXP2), small) }, shifted)
}

#[inline(always)]
fn product<R: Real>(y: R, log: Sum<R>) -> Sum<R> {
    let t = y * log.hi;
    Sum { hi: t, lo: y.fma(log.lo, y.fma(log.hi, -t)) }
}

/// Whether [`pow_ordinary`] serves these operands; the result is finite and normal then.
#[inline(always)]
pub fn is_ordinary<R: Real>(x: R, y: R) -> R::Truth {
    // A sloppy bound for the logarithm: the exponent and one more.
    let exponent = (x.bits().logical(52) - 1023).to_real();
    x.over(f64::MIN_POSITIVE) & x.under(f64::INFINITY) & ((exponent.size() + 1.0) * y.size()).under(1020.0)
}

/// [`pow`] of operands without need of care: the same bits, with less to do.
#[inline(always)]
pub fn pow_ordinary<R: Real>(x: R, y: R) -> R {
    let (m, shifted) = power_of_two(product(y, logarithm(split_normal(x))));
    (m.bits() + (shifted.bits() << 52)).real()
}

/// What powers of all numbers are, from those of positive ones.
#[inline(always)]
fn finished<R: Real>(x: R, y: R, r: R) -> R {
    let (zero, infinity) = (x.of(0.0), x.of(f64::INFINITY));
    let a = x.size();
    // Of zeros and infinities, and NaN of NaN.
    let grows = R::pick(y.under(0.0), infinity - a, a);
    let r = R::pick(
        a.over(0.0) & a.under(f64::INFINITY),
        r,
        R::pick(x.is(x) & y.is(y), R::pick(grows.over(0.0), infinity, zero), x + y),
    );
    let half = y * 0.5;
    let whole = y.whole().is(y);
    let odd = whole & !half.whole().is(half);
    let negative = x.bits().logical(63).is(1);
    let r = R::pick(negative & odd, -r, r);
    let r = R::pick(x.under(0.0) & x.over(f64::NEG_INFINITY) & !whole, x.of(f64::NAN), r);
    R::pick(x.equals(1.0) | y.equals(0.0), x.of(1.0), r)
}

/// Larger exponents do what this one does: it is even, and too large for all but 1.
const MOST: f64 = 73_786_976_294_838_206_464.0;

#[inline(always)]
pub fn pow<R: Real>(x: R, y: R) -> R {
    let t = product(clamped(y, -MOST, MOST), logarithm(split(x.size())));
    let (m, shifted) = power_of_two(Sum { hi: clamped(t.hi, -1100.0, 1100.0), lo: clamped(t.lo, -4.0, 4.0) });
    let y = clamped(y, -MOST, MOST);
    finished(x, y, scale(m, shifted))
}

/// For operands that are float32, and a result that will be.
#[inline(always)]
pub fn pow_single<R: Real>(x: R, y: R) -> R {
    let y = clamped(y, -MOST, MOST);
    let t = clamped(y * log2_of(split_normal(x.size())), -300.0, 300.0);
    let shifted = t + SHIFT;
    let r = t - (shifted - SHIFT);
    let m = poly(r, &EXP2_SINGLE);
    finished(x, y, (m.bits() + (shifted.bits() << 52)).real())
}
