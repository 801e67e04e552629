//! Hyperbolic functions and their inverses, through `e^x - 1` and `log(1 + x)` as sums of two numbers.

use super::exp::{clamped, parts, quarter_expm1};
use super::log::log1p_of;
use super::{Real, Sum, root};

/// Numbers whose function is themselves.
#[inline(always)]
fn odd<R: Real>(x: R, r: R) -> R {
    R::pick(x.size().under(1e-150), x, r.signed(x))
}

/// `sinh x` is `(u + u / (u + 1)) / 2` where `u` is `e^x - 1`; here all in quarters, so that nothing
/// overflows before its time.
#[inline(always)]
pub fn sinh<R: Real>(x: R) -> R {
    let u = quarter_expm1(clamped(x.size(), 0.0, 710.5));
    let e = Sum::exact(u.hi, x.of(0.25));
    let w = u.over(Sum { hi: e.hi, lo: e.lo + u.lo });
    odd(x, u.add(w.scaled(x.of(0.25))).value() * 2.0)
}

/// `2 (u + 1 / (16 u))` where `u` is a quarter of `e^x`.
#[inline(always)]
pub fn cosh<R: Real>(x: R) -> R {
    let p = parts(clamped(x.size(), 0.0, 710.5));
    let e = p.sum();
    let u = Sum::ordered(e.hi, e.lo).scaled(p.power(-2));
    let w = x.of(0.0625) / u.hi;
    let lacks = (-w).fma(u.lo, (-w).fma(u.hi, x.of(0.0625)));
    let both = Sum::ordered(u.hi, w);
    (both.hi + (both.lo + lacks.fma(w * 16.0, u.lo))) * 2.0
}

#[inline(always)]
pub fn tanh<R: Real>(x: R) -> R {
    let u = quarter_expm1(clamped(x.size() * 2.0, 0.0, 44.0));
    let d = Sum::exact(u.hi, x.of(0.5));
    odd(x, u.over(Sum { hi: d.hi, lo: d.lo + u.lo }).value())
}

/// From here on `x² + 1` is `x²` to the last bit of a sum.
const LARGE: f64 = 1e10;

/// `log(1 + h)`, or of `2 a` where that is large.
#[inline(always)]
fn logarithm<R: Real>(large: R::Truth, a: R, h: Sum<R>) -> R {
    log1p_of(Sum::pick(large, Sum::ordered(a, a.of(-1.0)), h), R::pick(large, a.of(1.0), a.of(0.0)))
}

/// `log(x + √(x² + 1))`, as `log(1 + x + t)` where `t` is `√(x² + 1) - 1`, which is `x² / (1 + √(x² + 1))`.
#[inline(always)]
pub fn asinh<R: Real>(x: R) -> R {
    let large = x.size().over(LARGE);
    let a = R::pick(large, x.of(1.0), x.size());
    let square = Sum::product(a, a);
    let r = (square.hi + 1.0).root();
    let t = square.hi / (r + 1.0);
    // `t² + 2 t` is `x²`; what it lacks corrects `t`.
    let lacks = ((-t).fma(t, square.hi) - t * 2.0) + square.lo;
    let h = Sum::ordered(a, t);
    let h = Sum { hi: h.hi, lo: lacks.fma(x.of(0.5) / r, h.lo) };
    let r = logarithm(large, x.size(), h).signed(x);
    R::pick(x.size().under(1e-150) | !x.size().under(f64::INFINITY), x, r)
}

/// `log(1 + t + √(t² + 2 t))` with `t = x - 1`.
#[inline(always)]
pub fn acosh<R: Real>(x: R) -> R {
    let large = x.over(LARGE);
    let t = R::pick(large, x.of(1.0), x - 1.0);
    let square = Sum::product(t, t);
    let under = Sum::exact(t * 2.0, square.hi);
    let r = root(Sum { hi: under.hi, lo: under.lo + square.lo });
    let h = Sum::ordered(r.hi, t);
    let r = logarithm(large, x, Sum { hi: h.hi, lo: h.lo + r.lo });
    let r = R::pick(x.under(1.0), x.of(f64::NAN), r);
    R::pick(x.under(f64::INFINITY), r, x)
}

/// `log(1 + 2 x / (1 - x)) / 2`.
#[inline(always)]
pub fn atanh<R: Real>(x: R) -> R {
    let a = x.size();
    let h = Sum::of(a * 2.0).over(Sum::ordered(a.of(1.0), -a));
    let r = log1p_of(h, a.of(0.0)) * 0.5;
    let edge = a.of(f64::INFINITY).or(a.equals(1.0), f64::NAN);
    odd(x, R::pick(a.under(1.0), r, edge))
}
