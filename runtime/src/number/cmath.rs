//! Complex functions: the algorithms of CPython's cmath (branch cuts, signed zeros and overflow included),
//! without raising.
//!
//! Each gives its value and what went wrong; `cmath.*` raises that, NumPy's functions ignore it.

use super::special::{self as table, Table, lookup};
use crate::mathfn::elementary;
use std::f64::consts::{FRAC_PI_2, LN_2, LN_10};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Complex {
    pub re: f64,
    pub im: f64,
}
pub(crate) fn complex(re: f64, im: f64) -> Complex {
    Complex { re, im }
}

/// What a function would set `errno` to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    None,
    Domain,
    Range,
}
pub(crate) type Answer = (Complex, Trouble);

impl std::ops::Neg for Complex {
    type Output = Complex;
    fn neg(self) -> Complex {
        complex(-self.re, -self.im)
    }
}
impl Complex {
    fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
    /// `i * self`.
    fn times_i(self) -> Complex {
        complex(-self.im, self.re)
    }
    /// `-i * self`.
    fn over_i(self) -> Complex {
        complex(self.im, -self.re)
    }
}
fn map((z, t): Answer, f: fn(Complex) -> Complex) -> Answer {
    (f(z), t)
}
fn fine(re: f64, im: f64) -> Answer {
    (complex(re, im), Trouble::None)
}
fn special(t: &Table, z: Complex) -> Option<Answer> {
    if z.is_finite() {
        return None;
    }
    let (re, im) = lookup(t, z.re, z.im);
    Some(fine(re, im))
}
/// Overflow is a range error.
fn checked(re: f64, im: f64) -> Answer {
    (complex(re, im), if re.is_infinite() || im.is_infinite() { Trouble::Range } else { Trouble::None })
}

/// Beyond this, squares and sums of two overflow.
const LARGE: f64 = f64::MAX / 4.0;
const SQRT_LARGE: f64 = 6.703903964971298e+153;
const LOG_LARGE: f64 = 708.3964185322641;
const SQRT_MIN: f64 = 1.4916681462400413e-154;

fn hypot(x: f64, y: f64) -> f64 {
    elementary::hypot(x, y)
}
fn log(x: f64) -> f64 {
    elementary::log(x)
}
fn atan2(y: f64, x: f64) -> f64 {
    elementary::atan2(y, x)
}

fn large(z: Complex) -> bool {
    z.re.abs() > LARGE || z.im.abs() > LARGE
}
/// log(2 |z|) without overflow, for large z.
fn log_twice(z: Complex) -> f64 {
    log(hypot(z.re / 2.0, z.im / 2.0)) + LN_2 * 2.0
}

pub(crate) fn acos(z: Complex) -> Answer {
    if let Some(s) = special(&table::ACOS, z) {
        return s;
    }
    if large(z) {
        let im = if z.re < 0.0 { -log_twice(z).copysign(z.im) } else { log_twice(z).copysign(-z.im) };
        return fine(atan2(z.im.abs(), z.re), im);
    }
    let (s1, s2) = (sqrt(complex(1.0 - z.re, -z.im)).0, sqrt(complex(1.0 + z.re, z.im)).0);
    fine(2.0 * atan2(s1.re, s2.re), elementary::asinh(s2.re * s1.im - s2.im * s1.re))
}

pub(crate) fn acosh(z: Complex) -> Answer {
    if let Some(s) = special(&table::ACOSH, z) {
        return s;
    }
    if large(z) {
        return fine(log_twice(z), atan2(z.im, z.re));
    }
    let (s1, s2) = (sqrt(complex(z.re - 1.0, z.im)).0, sqrt(complex(z.re + 1.0, z.im)).0);
    fine(elementary::asinh(s1.re * s2.re + s1.im * s2.im), 2.0 * atan2(s1.im, s2.re))
}

pub(crate) fn asin(z: Complex) -> Answer {
    map(asinh(z.times_i()), Complex::over_i)
}

pub(crate) fn asinh(z: Complex) -> Answer {
    if let Some(s) = special(&table::ASINH, z) {
        return s;
    }
    if large(z) {
        let re = if z.im >= 0.0 { log_twice(z).copysign(z.re) } else { -log_twice(z).copysign(-z.re) };
        return fine(re, atan2(z.im, z.re.abs()));
    }
    let (s1, s2) = (sqrt(complex(1.0 + z.im, -z.re)).0, sqrt(complex(1.0 - z.im, z.re)).0);
    fine(elementary::asinh(s1.re * s2.im - s2.re * s1.im), atan2(z.im, s1.re * s2.re - s1.im * s2.im))
}

pub(crate) fn atan(z: Complex) -> Answer {
    map(atanh(z.times_i()), Complex::over_i)
}

pub(crate) fn atanh(z: Complex) -> Answer {
    if let Some(s) = special(&table::ATANH, z) {
        return s;
    }
    if z.re.is_sign_negative() {
        return map(atanh(-z), |w| -w);
    }
    let ay = z.im.abs();
    if z.re > SQRT_LARGE || ay > SQRT_LARGE {
        // atanh(z) is about 1/z ± iπ/2 there.
        let h = hypot(z.re / 2.0, z.im / 2.0);
        return fine(z.re / 4.0 / h / h, -FRAC_PI_2.copysign(-z.im));
    }
    if z.re == 1.0 && ay < SQRT_MIN {
        if ay == 0.0 {
            return (complex(f64::INFINITY, z.im), Trouble::Domain);
        }
        return fine(-log(ay.sqrt() / hypot(ay, 2.0).sqrt()), (atan2(2.0, -ay) / 2.0).copysign(z.im));
    }
    let re = elementary::log1p(4.0 * z.re / ((1.0 - z.re) * (1.0 - z.re) + ay * ay)) / 4.0;
    fine(re, -atan2(-2.0 * z.im, (1.0 - z.re) * (1.0 + z.re) - ay * ay) / 2.0)
}

pub(crate) fn cos(z: Complex) -> Answer {
    cosh(z.times_i())
}

/// Values where a part is not finite: infinity with the signs of cos and sin, or the table; an infinite
/// imaginary part is a domain error.
fn growing_special(t: &Table, z: Complex, negative: fn(Complex) -> Complex, domain: bool) -> Answer {
    let value = if z.re.is_infinite() && z.im.is_finite() && z.im != 0.0 {
        let w = complex(
            f64::INFINITY.copysign(elementary::cos(z.im)),
            f64::INFINITY.copysign(elementary::sin(z.im)),
        );
        if z.re > 0.0 { w } else { negative(w) }
    } else {
        let (re, im) = lookup(t, z.re, z.im);
        complex(re, im)
    };
    (value, if z.im.is_infinite() && domain { Trouble::Domain } else { Trouble::None })
}

/// `part` times e to the `x`, where that may overflow although the product does not; zero stays zero.
fn times_exp(mut part: f64, mut x: f64) -> f64 {
    for _ in 0..3 {
        let step = x.min(700.0);
        part *= elementary::exp(step);
        x -= step;
    }
    if x > 0.0 { part * f64::MAX } else { part }
}

pub(crate) fn cosh(z: Complex) -> Answer {
    if !z.is_finite() {
        return growing_special(&table::COSH, z, |w| complex(w.re, -w.im), !z.re.is_nan());
    }
    let (sin, cos) = elementary::sin_cos(z.im);
    // cosh(re) may overflow where the result does not.
    if z.re.abs() > LOG_LARGE {
        return checked(
            times_exp(cos / 2.0, z.re.abs()),
            times_exp(sin.copysign(sin * z.re) / 2.0, z.re.abs()),
        );
    }
    checked(cos * elementary::cosh(z.re), sin * elementary::sinh(z.re))
}

pub(crate) fn exp(z: Complex) -> Answer {
    if !z.is_finite() {
        let shrink = |w: Complex| complex(0f64.copysign(w.re), 0f64.copysign(w.im));
        return growing_special(&table::EXP, z, shrink, z.re.is_finite() || z.re == f64::INFINITY);
    }
    let (sin, cos) = elementary::sin_cos(z.im);
    if z.re > LOG_LARGE {
        return checked(times_exp(cos, z.re), times_exp(sin, z.re));
    }
    let l = elementary::exp(z.re);
    checked(l * cos, l * sin)
}

pub(crate) fn log_complex(z: Complex) -> Answer {
    if let Some(s) = special(&table::LOG, z) {
        return s;
    }
    let (ax, ay, im) = (z.re.abs(), z.im.abs(), atan2(z.im, z.re));
    if ax > LARGE || ay > LARGE {
        return fine(log(hypot(ax / 2.0, ay / 2.0)) + LN_2, im);
    }
    if ax < f64::MIN_POSITIVE && ay < f64::MIN_POSITIVE {
        if ax == 0.0 && ay == 0.0 {
            return (complex(f64::NEG_INFINITY, im), Trouble::Domain);
        }
        // hypot would be subnormal.
        let up = |x: f64| libm::ldexp(x, 53);
        return fine(log(hypot(up(ax), up(ay))) - 53.0 * LN_2, im);
    }
    let h = hypot(ax, ay);
    if (0.71..=1.73).contains(&h) {
        let (max, min) = if ax > ay { (ax, ay) } else { (ay, ax) };
        return fine(elementary::log1p((max - 1.0) * (max + 1.0) + min * min) / 2.0, im);
    }
    fine(log(h), im)
}
pub(crate) fn log10(z: Complex) -> Answer {
    map(log_complex(z), |w| complex(w.re / LN_10, w.im / LN_10))
}
pub(crate) fn sin(z: Complex) -> Answer {
    map(sinh(z.times_i()), Complex::over_i)
}

pub(crate) fn sinh(z: Complex) -> Answer {
    if !z.is_finite() {
        return growing_special(&table::SINH, z, |w| complex(-w.re, w.im), !z.re.is_nan());
    }
    let (sin, cos) = elementary::sin_cos(z.im);
    if z.re.abs() > LOG_LARGE {
        return checked(
            times_exp(cos.copysign(cos * z.re) / 2.0, z.re.abs()),
            times_exp(sin / 2.0, z.re.abs()),
        );
    }
    checked(cos * elementary::sinh(z.re), sin * elementary::cosh(z.re))
}

pub(crate) fn sqrt(z: Complex) -> Answer {
    if let Some(s) = special(&table::SQRT, z) {
        return s;
    }
    if z.re == 0.0 && z.im == 0.0 {
        return fine(0.0, z.im);
    }
    let (ax, ay) = (z.re.abs(), z.im.abs());
    let s = if ax < f64::MIN_POSITIVE && ay < f64::MIN_POSITIVE {
        let (up, down) = (53, -27);
        let ax = libm::ldexp(ax, up);
        libm::ldexp((ax + hypot(ax, libm::ldexp(ay, up))).sqrt(), down)
    } else {
        let ax = ax / 8.0;
        2.0 * (ax + hypot(ax, ay / 8.0)).sqrt()
    };
    let d = ay / (2.0 * s);
    if z.re >= 0.0 { fine(s, d.copysign(z.im)) } else { fine(d, s.copysign(z.im)) }
}

pub(crate) fn tan(z: Complex) -> Answer {
    map(tanh(z.times_i()), Complex::over_i)
}

pub(crate) fn tanh(z: Complex) -> Answer {
    if !z.is_finite() {
        let value = if z.re.is_infinite() && z.im.is_finite() && z.im != 0.0 {
            complex(1f64.copysign(z.re), 0f64.copysign(2.0 * elementary::sin(z.im) * elementary::cos(z.im)))
        } else {
            let (re, im) = lookup(&table::TANH, z.re, z.im);
            complex(re, im)
        };
        return (value, if z.im.is_infinite() && z.re.is_finite() { Trouble::Domain } else { Trouble::None });
    }
    if z.re.abs() > LOG_LARGE {
        return fine(
            1f64.copysign(z.re),
            4.0 * elementary::sin(z.im) * elementary::cos(z.im) * elementary::exp(-2.0 * z.re.abs()),
        );
    }
    let (tx, ty, cx) = (elementary::tanh(z.re), elementary::tan(z.im), 1.0 / elementary::cosh(z.re));
    let txty = tx * ty;
    let denom = 1.0 + txty * txty;
    fine(tx * (1.0 + ty * ty) / denom, ty / denom * cx * cx)
}

pub(crate) fn rect(r: f64, phi: f64) -> Answer {
    if !r.is_finite() || !phi.is_finite() {
        let value = if r.is_infinite() && phi.is_finite() && phi != 0.0 {
            let sign = 1f64.copysign(r);
            complex(
                sign * f64::INFINITY.copysign(elementary::cos(phi)),
                sign * f64::INFINITY.copysign(elementary::sin(phi)),
            )
        } else {
            let (re, im) = lookup(&table::RECT, r, phi);
            complex(re, im)
        };
        return (
            value,
            if r != 0.0 && !r.is_nan() && phi.is_infinite() { Trouble::Domain } else { Trouble::None },
        );
    }
    // Without the product with cos, the sign of a zero survives.
    if phi == 0.0 {
        return fine(r, r * phi);
    }
    let (sin, cos) = elementary::sin_cos(phi);
    fine(r * cos, r * sin)
}

pub(crate) fn abs(z: Complex) -> (f64, Trouble) {
    if !z.is_finite() {
        // Infinite whatever the other part is.
        return (
            if z.re.is_infinite() || z.im.is_infinite() { f64::INFINITY } else { f64::NAN },
            Trouble::None,
        );
    }
    let h = hypot(z.re, z.im);
    (h, if h.is_finite() { Trouble::None } else { Trouble::Range })
}

pub(crate) fn mul(a: Complex, b: Complex) -> Complex {
    complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
}

/// Python's quotient; division by zero is a domain error.
pub(crate) fn div(a: Complex, b: Complex) -> Answer {
    let (x, y) = (b.re.abs(), b.im.abs());
    if x >= y {
        if x == 0.0 {
            return (complex(0.0, 0.0), Trouble::Domain);
        }
        let ratio = b.im / b.re;
        let denom = b.re + b.im * ratio;
        fine((a.re + a.im * ratio) / denom, (a.im - a.re * ratio) / denom)
    } else if y >= x {
        let ratio = b.re / b.im;
        let denom = b.re * ratio + b.im;
        fine((a.re * ratio + a.im) / denom, (a.im * ratio - a.re) / denom)
    } else {
        fine(f64::NAN, f64::NAN)
    }
}

/// NumPy's quotient (Smith's method with one reciprocal).
pub(crate) fn np_div(a: Complex, b: Complex) -> Complex {
    let (x, y) = (b.re.abs(), b.im.abs());
    if x >= y {
        if x == 0.0 && y == 0.0 {
            return complex(a.re / x, a.im / x);
        }
        let ratio = b.im / b.re;
        let scale = 1.0 / (b.re + b.im * ratio);
        complex((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale)
    } else {
        let ratio = b.re / b.im;
        let scale = 1.0 / (b.im + b.re * ratio);
        complex((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale)
    }
}

/// `a ** n` by squaring.
fn pow_unsigned(a: Complex, n: u64) -> Complex {
    let (mut r, mut p, mut mask) = (complex(1.0, 0.0), a, 1);
    while mask > 0 && n >= mask {
        if n & mask != 0 {
            r = mul(r, p);
        }
        mask <<= 1;
        p = mul(p, p);
    }
    r
}

fn pow_general(a: Complex, b: Complex) -> Answer {
    let (r, at) = (hypot(a.re, a.im), atan2(a.im, a.re));
    let (mut len, mut phase) = (crate::mathfn::power::pow(r, b.re), at * b.re);
    if b.im != 0.0 {
        len *= elementary::exp(-at * b.im);
        phase += b.im * log(r);
    }
    let (sin, cos) = elementary::sin_cos(phase);
    let r = checked(len * cos, len * sin);
    // The sine of infinity is what C libraries call a domain error.
    if phase.is_infinite() { (r.0, Trouble::Domain) } else { r }
}

/// Python's `a ** b`; a zero base with a negative or complex exponent is a domain error.
pub(crate) fn pow(a: Complex, b: Complex) -> Answer {
    if b.im == 0.0 && b.re == b.re.floor() && b.re.abs() <= 100.0 {
        let n = b.re as i64;
        let p = pow_unsigned(a, n.unsigned_abs());
        let (r, trouble) = if n > 0 { (p, Trouble::None) } else { div(complex(1.0, 0.0), p) };
        return if trouble == Trouble::None { checked(r.re, r.im) } else { (r, trouble) };
    }
    if a.re == 0.0 && a.im == 0.0 {
        return (complex(0.0, 0.0), if b.im != 0.0 || b.re < 0.0 { Trouble::Domain } else { Trouble::None });
    }
    pow_general(a, b)
}

/// NumPy's `a ** b`.
pub(crate) fn np_pow(a: Complex, b: Complex) -> Complex {
    if b.re == 0.0 && b.im == 0.0 {
        return complex(1.0, 0.0);
    }
    if a.re == 0.0 && a.im == 0.0 {
        return if b.re > 0.0 { complex(0.0, 0.0) } else { complex(f64::NAN, f64::NAN) };
    }
    if b.im == 0.0 && b.re == b.re.trunc() && b.re.abs() < 100.0 {
        let n = b.re as i64;
        match n {
            1 => return a,
            2 => return mul(a, a),
            3 => return mul(a, mul(a, a)),
            _other => {
                let p = pow_unsigned(a, n.unsigned_abs());
                return if n < 0 { np_div(complex(1.0, 0.0), p) } else { p };
            }
        }
    }
    let r = pow_general(a, b).0;
    if r.is_finite() {
        return r;
    }
    // Of what is not finite C's `cpow` has the last word.
    exp(c_mul(b, log_complex(a).0)).0
}

/// C's product: where both parts would be NaN although an operand is infinite, it is infinite.
fn c_mul(a: Complex, b: Complex) -> Complex {
    let r = mul(a, b);
    if !(r.re.is_nan() && r.im.is_nan()) {
        return r;
    }
    let infinite = |z: Complex| z.re.is_infinite() || z.im.is_infinite();
    let boxed = |z: Complex| {
        if infinite(z) {
            let one = |x: f64| (if x.is_infinite() { 1f64 } else { 0.0 }).copysign(x);
            complex(one(z.re), one(z.im))
        } else {
            z
        }
    };
    let plain = |z: Complex| {
        let zero = |x: f64| if x.is_nan() { 0f64.copysign(x) } else { x };
        complex(zero(z.re), zero(z.im))
    };
    let overflows = (a.re * b.re).is_infinite()
        || (a.im * b.im).is_infinite()
        || (a.re * b.im).is_infinite()
        || (a.im * b.re).is_infinite();
    if !infinite(a) && !infinite(b) && !overflows {
        return r;
    }
    let r = mul(plain(boxed(a)), plain(boxed(b)));
    complex(f64::INFINITY * r.re, f64::INFINITY * r.im)
}

/// C's `catanh` and `cacosh` know one part of these.
pub(crate) fn np_tanh(z: Complex) -> Complex {
    if z.re == 0.0 && z.im.is_nan() { z } else { tanh(z).0 }
}
pub(crate) fn np_tan(z: Complex) -> Complex {
    np_tanh(z.times_i()).over_i()
}
pub(crate) fn np_acosh(z: Complex) -> Complex {
    if z.re == 0.0 && z.im.is_nan() { complex(f64::NAN, std::f64::consts::FRAC_PI_2) } else { acosh(z).0 }
}

/// exp(z) - 1 without cancellation for small z.
pub(crate) fn expm1(z: Complex) -> Complex {
    let a = elementary::sin(z.im / 2.0);
    complex(
        elementary::expm1(z.re) * elementary::cos(z.im) - 2.0 * a * a,
        elementary::exp(z.re) * elementary::sin(z.im),
    )
}
/// log(1 + z), as NumPy computes it.
pub(crate) fn log1p(z: Complex) -> Complex {
    complex(log(hypot(z.re + 1.0, z.im)), atan2(z.im, z.re + 1.0))
}
pub(crate) fn log2(z: Complex) -> Complex {
    let w = log_complex(z).0;
    complex(w.re * std::f64::consts::LOG2_E, w.im * std::f64::consts::LOG2_E)
}
/// Multiplied, where Python's `cmath` divides.
pub(crate) fn np_log10(z: Complex) -> Complex {
    let w = log_complex(z).0;
    complex(w.re * std::f64::consts::LOG10_E, w.im * std::f64::consts::LOG10_E)
}
pub(crate) fn exp2(z: Complex) -> Complex {
    exp(complex(z.re * LN_2, z.im * LN_2)).0
}
