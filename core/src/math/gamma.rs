//! The gamma function, and the logarithm of its size.
//!
//! Stirling's series serves from 8 on. Below, `Γ(x) = Γ(x + 8) / (x (x + 1) … (x + 7))`, and of negative
//! numbers `Γ(-a) = -π / (a sin(πa) Γ(a))`. All of that is `2^t num / den`, with each of the three as the sum
//! of two numbers, so that whole numbers have exact factorials. Where `log Γ` is near its zeros at 1 and 2 it
//! has power series. Its zeros among negative numbers have none: there the error is small beside 1, not
//! beside the result.

use super::coefficients::{HALF_LOG2_TWO_PI, HALF_PI, LN_2, LOG_GAMMA_1, LOG_GAMMA_2, LOG2_E, PI, STIRLING};
use super::exp::{clamped, scale};
use super::log::{split, split_normal};
use super::power::{logarithm, power_as_sum};
use super::trig::{cosine, sine};
use super::{Real, SHIFT, Sum, poly};

/// From here on Stirling's series serves.
const FAR: f64 = 8.0;
/// Below that `Γ(x)` is `1 / x`.
const TINY: f64 = 1e-17;
/// Powers of two are far out of range here.
const MOST: f64 = 200.0;

/// `log2` of a sum, and what it lacks of one of its first number.
#[inline(always)]
fn log2_of_sum<R: Real>(x: Sum<R>) -> Sum<R> {
    let log = logarithm(split_normal(x.hi));
    Sum { hi: log.hi, lo: (x.lo / x.hi).fma(x.hi.of(LOG2_E[0]), log.lo) }
}

/// `sin πa`, the sign left out, and whether it is negative; `a` is not negative.
#[inline(always)]
fn sine_of_turns<R: Real>(a: R) -> (Sum<R>, R::Truth) {
    let nearest = (a + 0.5).whole();
    let r = a - nearest;
    let size = r.size();
    let steep = size.under(0.25);
    // From the nearer end of a quarter turn; exact.
    let y = R::pick(steep, size, size.of(0.5) - size);
    let angle = Sum::of(y + y).times(&HALF_PI);
    let half = nearest * 0.5;
    let even = half.whole().is(half);
    let below = r.under(0.0);
    (Sum::pick(steep, sine(angle), cosine(angle)), (even & below) | (!even & !below))
}

/// `log2 Γ(z)`, and what that is to be multiplied with and divided by: `z` is `a`, or `a + 8` where that is
/// below 8.
struct Parts<R: Real> {
    t: Sum<R>,
    product: Sum<R>,
}

#[inline(always)]
fn parts<R: Real>(a: R) -> Parts<R> {
    let near = a.under(FAR);
    let one = Sum::of(a.of(1.0));
    // a (a + 7) is u, and (a + 1) (a + 6) is u + 6, …
    let square = Sum::product(a, a);
    let sevenfold = Sum::product(a, a.of(7.0));
    let u = square.add(sevenfold);
    let plus = |n: f64| {
        let s = Sum::exact(a.of(n), u.hi);
        Sum::ordered(s.hi, s.lo + u.lo)
    };
    let product = Sum::pick(near, u.mul(plus(6.0)).mul(plus(10.0).mul(plus(12.0))), one);
    let z = Sum::exact(R::pick(near, a.of(8.0), a.of(0.0)), a);
    let log = logarithm(split_normal(z.hi));
    let inverse = a.of(1.0) / z.hi;
    let series = inverse * poly(inverse * inverse, &STIRLING);
    // (z - ½) log z - z + ½ log 2π + series, all by log 2.
    let w = z.hi - 0.5;
    let first = Sum::product(w, log.hi);
    let second = Sum::product(z.hi, z.hi.of(-LOG2_E[0]));
    let most = Sum::exact(first.hi, second.hi);
    let sum = Sum::exact(most.hi, most.hi.of(HALF_LOG2_TWO_PI[0]));
    // What z has behind its first number, times the derivative.
    let moved = z.lo * (log.hi - inverse * (0.5 * LOG2_E[0]));
    let small = w.fma(log.lo, first.lo)
        + z.hi.fma_of(-LOG2_E[1], HALF_LOG2_TWO_PI[1])
        + (second.lo + moved)
        + series * LOG2_E[0];
    Parts { t: Sum::ordered(sum.hi, sum.lo + most.lo + small), product }
}

/// Of a number that is negative: `π product` and `a sin πa`, the sign left out.
#[inline(always)]
fn reflected<R: Real>(a: R, product: Sum<R>, sine: Sum<R>) -> (Sum<R>, Sum<R>) {
    let s = Sum::ordered(sine.hi, sine.lo);
    (product.times(&PI), s.mul(Sum::of(a)))
}

#[inline(always)]
pub fn gamma<R: Real>(x: R) -> R {
    let negative = x.under(0.0);
    let size = x.size();
    let a = clamped(size, TINY, MOST);
    let p = parts(a);
    let (m, shifted) = power_as_sum(p.t);
    let m = Sum::ordered(m.hi, m.lo);
    let (sine, down) = sine_of_turns(size);
    let (num, den) = reflected(a, p.product, sine);
    let q = Sum::pick(negative, num, m).over(Sum::pick(negative, den.mul(m), p.product)).value();
    let back = (shifted.of(SHIFT) - shifted) + SHIFT;
    let r = scale(q, R::pick(negative, back, shifted));
    let r = R::pick(negative & !down, -r, r);
    let r = r.or(!(negative & (sine.hi.equals(0.0) | size.equals(f64::INFINITY))), f64::NAN);
    let r = R::pick(size.under(TINY), x.of(1.0) / x, r);
    R::pick(x.is(x), r, x)
}

#[inline(always)]
pub fn lgamma<R: Real>(x: R) -> R {
    let negative = x.under(0.0);
    let size = x.size();
    let a = clamped(size, TINY, 1e18);
    let p = parts(a);
    let (sine, _) = sine_of_turns(size);
    let (num, den) = reflected(a, p.product, sine);
    let one = Sum::of(x.of(1.0));
    let q = Sum::pick(negative, num, one).over(Sum::pick(negative, den, p.product));
    let more = log2_of_sum(q);
    let t = Sum::pick(negative, p.t.negated(), p.t);
    let sum = Sum::exact(t.hi, more.hi);
    let r = Sum::ordered(sum.hi, sum.lo + (t.lo + more.lo)).times(&LN_2).value();
    // At either end nothing but the first terms counts.
    let log = logarithm(split(clamped(size, 5e-324, f64::MAX)));
    let natural = Sum::ordered(log.hi, log.lo).times(&LN_2);
    let r = R::pick(size.over(1e17), size * ((natural.hi - 1.0) + natural.lo), r);
    // The zeros are positive ones.
    let (h1, h2) = (x - 1.0, x - 2.0);
    let r = R::pick(h1.size().under(0.125), h1 * poly(h1, &LOG_GAMMA_1) + 0.0, r);
    let r = R::pick(h2.size().under(0.125), h2 * poly(h2, &LOG_GAMMA_2) + 0.0, r);
    let r = R::pick(size.under(TINY), -natural.value(), r);
    let pole = size.equals(0.0) | size.equals(f64::INFINITY) | (negative & sine.hi.equals(0.0));
    let r = r.or(!pole, f64::INFINITY);
    R::pick(x.is(x), r, x)
}
