//! The errors of Python's `math` module.

use crate::exc::{Error, Res};
use crate::number::{domain_error, range_error};
use crate::string::number::f64_text;
use tierup_core::python;

/// What a function wants, as Python says it from 3.14 on.
pub(crate) mod wants {
    pub(crate) const FINITE: &str = "expected a finite input";
    pub(crate) const POSITIVE: &str = "expected a positive input";
    pub(crate) const NOT_NEGATIVE: &str = "expected a nonnegative input";
    pub(crate) const ABOVE_MINUS_ONE: &str = "expected argument value > -1";
    pub(crate) const NOT_BELOW_ONE: &str = "expected argument value not less than 1";
    pub(crate) const UP_TO_ONE: &str = "expected a number in range from -1 up to 1";
    pub(crate) const BELOW_ONE: &str = "expected a number between -1 and 1";
    pub(crate) const NO_POLE: &str = "expected a noninteger or positive integer";
    /// It is defined everywhere, or its error is that of all functions.
    pub(crate) const ANY: &str = "";
}

/// `x` is not what a function wants.
fn outside(x: f64, wanted: &str) -> Error {
    if wanted.is_empty() || !python::since(14) {
        return domain_error();
    }
    Error::value(format!("{wanted}, got {}", f64_text(x)))
}

/// `f(x) = r`: NaN from a number is a domain error; infinity from a finite number a range error, or a domain
/// error where `f` has poles only.
pub(crate) fn check(x: f64, r: f64, overflow: bool, wanted: &str) -> Res<f64> {
    if r.is_nan() && !x.is_nan() {
        return Err(outside(x, wanted));
    }
    if r.is_infinite() && x.is_finite() {
        return Err(if overflow { range_error() } else { outside(x, wanted) });
    }
    Ok(r)
}

/// Logarithms are defined above `from`; NaN and infinity go through.
fn logarithm(x: f64, from: f64, f: fn(f64) -> f64) -> Res<f64> {
    if x <= from {
        Err(outside(x, if from == 0.0 { wants::POSITIVE } else { wants::ABOVE_MINUS_ONE }))
    } else {
        Ok(f(x))
    }
}
pub(crate) fn log(x: f64) -> Res<f64> {
    logarithm(x, 0.0, super::elementary::log)
}
pub(crate) fn log2(x: f64) -> Res<f64> {
    logarithm(x, 0.0, super::elementary::log2)
}
pub(crate) fn log10(x: f64) -> Res<f64> {
    logarithm(x, 0.0, super::elementary::log10)
}
pub(crate) fn log1p(x: f64) -> Res<f64> {
    logarithm(x, -1.0, super::elementary::log1p)
}
pub(crate) fn log_base(x: f64, base: f64) -> Res<f64> {
    let (a, b) = (log(x)?, log(base)?);
    if b == 0.0 {
        return Err(Error::zero_division("float division by zero"));
    }
    Ok(a / b)
}

pub(crate) fn gamma(x: f64) -> Res<f64> {
    if x == f64::NEG_INFINITY || x == 0.0 || (x < 0.0 && x == x.floor() && x.is_finite()) {
        return Err(outside(x, wants::NO_POLE));
    }
    check(x, super::elementary::gamma(x), true, wants::NO_POLE)
}
pub(crate) fn lgamma(x: f64) -> Res<f64> {
    if x.is_infinite() {
        return Ok(f64::INFINITY);
    }
    if x <= 0.0 && x == x.floor() {
        return Err(outside(x, wants::NO_POLE));
    }
    check(x, super::elementary::lgamma(x), true, wants::NO_POLE)
}

pub(crate) fn pow(a: f64, b: f64) -> Res<f64> {
    let r = super::power::pow(a, b);
    if !a.is_finite() || !b.is_finite() {
        return Ok(r);
    }
    if r.is_nan() || (r.is_infinite() && a == 0.0) {
        return Err(domain_error());
    }
    if r.is_infinite() {
        return Err(range_error());
    }
    Ok(r)
}
pub(crate) fn fmod(a: f64, b: f64) -> Res<f64> {
    if b.is_infinite() && a.is_finite() {
        return Ok(a);
    }
    let r = a % b;
    if r.is_nan() && !a.is_nan() && !b.is_nan() { Err(domain_error()) } else { Ok(r) }
}
/// IEEE remainder: the quotient is rounded to nearest, ties to even.
pub(crate) fn remainder(a: f64, b: f64) -> Res<f64> {
    if a.is_nan() {
        return Ok(a);
    }
    if b.is_nan() {
        return Ok(b);
    }
    if a.is_infinite() || b == 0.0 {
        return Err(domain_error());
    }
    if b.is_infinite() {
        return Ok(a);
    }
    let (x, y) = (a.abs(), b.abs());
    let m = x % y;
    // `y - m` is exact; which of the two neighbours is nearer, and for a tie whether the quotient was even.
    let c = y - m;
    let r = if m < c {
        m
    } else if m > c {
        -c
    } else {
        m - 2.0 * ((0.5 * (x - m)) % y)
    };
    Ok(1f64.copysign(a) * r)
}
pub(crate) fn ldexp(x: f64, n: i64) -> Res<f64> {
    if x == 0.0 || !x.is_finite() {
        return Ok(x);
    }
    let r = libm::ldexp(x, super::clamped(n));
    if r.is_infinite() { Err(range_error()) } else { Ok(r) }
}
