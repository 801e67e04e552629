//! Arithmetic on numbers: integer functions and Python's float division and powers here, [`round`]ing,
//! [`hash`]es, complex functions in [`cmath`].

pub(crate) mod cmath;
pub(crate) mod hash;
mod helpers;
pub(crate) mod round;
mod special;
#[cfg(test)]
mod tests;

pub(crate) use helpers::{domain_error, range_error};

use crate::exc::{Arg, Error, Res};
use tierup_core::exc::Class;
use tierup_core::types::ClassId;

pub(crate) fn too_large() -> Error {
    Error::overflow("Python int too large to convert to C long")
}

/// The float that is nearest to `a / b`; of a zero divisor, which is never asked for, an infinity.
fn true_quotient(a: i64, b: i64) -> f64 {
    let (n, d) = (a.unsigned_abs(), b.unsigned_abs());
    let negative = (a < 0) != (b < 0);
    let size = match n.checked_div(d) {
        None => f64::INFINITY,
        Some(_) if n == 0 => 0.0,
        Some(_) => {
            // 64 bits and more, of which the last one stands for all that are left.
            let up = n.leading_zeros() + 64;
            let (n, d) = (u128::from(n) << up, u128::from(d));
            let digits = n / d | u128::from(n % d != 0);
            digits as f64 / 2f64.powi(up as i32)
        }
    };
    if negative { -size } else { size }
}

pub(crate) fn int_pow(base: i64, exp: i64) -> i64 {
    if exp >= 0 {
        return uint_pow(base as u64, exp as u64) as i64;
    }
    match base {
        1 => 1,
        -1 => {
            if exp & 1 == 0 {
                1
            } else {
                -1
            }
        }
        _other => 0,
    }
}
pub(crate) fn uint_pow(mut base: u64, mut exp: u64) -> u64 {
    let mut r = 1u64;
    while exp != 0 {
        if exp & 1 != 0 {
            r = r.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exp >>= 1;
    }
    r
}
/// Whether a power does not fit in 64 bits, of numbers that are unsigned or not. A negative exponent gives 0,
/// 1 or -1.
pub(crate) fn pow_overflows(base: i64, exp: i64, unsigned_base: bool, unsigned_exp: bool) -> bool {
    if exp < 0 && !unsigned_exp {
        return false;
    }
    let exp = u32::try_from(exp as u64).unwrap_or(u32::MAX);
    match base {
        -1 if !unsigned_base => false,
        0 | 1 => false,
        _other => {
            if unsigned_base {
                (base as u64).checked_pow(exp).is_none()
            } else {
                base.checked_pow(exp).is_none()
            }
        }
    }
}
pub(crate) fn int_pow_checked(base: i64, exp: i64) -> Res<i64> {
    if exp < 0 {
        Err(Error::value("Integers to negative integer powers are not allowed."))
    } else {
        Ok(int_pow(base, exp))
    }
}

/// `pow(base, exp, modulus)`: the result has the sign of the modulus; a negative exponent inverts.
pub(crate) fn pow_mod(base: i64, exp: i64, modulus: i64) -> Res<i64> {
    if modulus == 0 {
        return Err(Error::value("pow() 3rd argument cannot be 0"));
    }
    let m = modulus.unsigned_abs() as i128;
    let mut b = (base as i128).rem_euclid(m);
    if exp < 0 {
        b = inverse(b, m).ok_or_else(|| Error::value("base is not invertible for the given modulus"))?;
    }
    let (mut r, mut e) = (1 % m, exp.unsigned_abs());
    while e != 0 {
        // Factors are below 2⁶³, so products fit.
        if e & 1 != 0 {
            r = r * b % m;
        }
        b = b * b % m;
        e >>= 1;
    }
    Ok((if modulus < 0 && r != 0 { r - m } else { r }) as i64)
}
fn inverse(a: i128, m: i128) -> Option<i128> {
    let (mut old, mut new, mut old_x, mut x) = (a, m, 1i128, 0i128);
    while new != 0 {
        let q = old / new;
        (old, new) = (new, old - q * new);
        (old_x, x) = (x, old_x - q * x);
    }
    (old == 1).then(|| old_x.rem_euclid(m))
}

pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let shift = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    loop {
        b >>= b.trailing_zeros();
        if a > b {
            (a, b) = (b, a);
        }
        b -= a;
        if b == 0 {
            return a << shift;
        }
    }
}
pub(crate) fn lcm(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 { 0 } else { (a / gcd(a, b)).wrapping_mul(b) }
}

pub(crate) fn isqrt(n: i64) -> Res<i64> {
    let n = u64::try_from(n).map_err(|_| Error::value("isqrt() argument must be nonnegative"))?;
    Ok(n.isqrt() as i64)
}

fn too_big() -> Error {
    Error::overflow("integer result does not fit in 64 bits")
}

pub(crate) fn factorial(n: i64) -> Res<i64> {
    if n < 0 {
        return Err(Error::value("factorial() not defined for negative values"));
    }
    (1..=n).try_fold(1i64, i64::checked_mul).ok_or_else(too_big)
}
fn check_choice(n: i64, k: i64) -> Res<()> {
    if n < 0 {
        return Err(Error::value("n must be a non-negative integer"));
    }
    if k < 0 {
        return Err(Error::value("k must be a non-negative integer"));
    }
    Ok(())
}
pub(crate) fn comb(n: i64, k: i64) -> Res<i64> {
    check_choice(n, k)?;
    if k > n {
        return Ok(0);
    }
    let k = k.min(n - k);
    // Every prefix is a binomial itself, so the division is exact and the values only grow.
    let mut r = 1i128;
    for i in 0..k {
        r = r * (n - i) as i128 / (i + 1) as i128;
        if r > i64::MAX as i128 {
            return Err(too_big());
        }
    }
    Ok(r as i64)
}
pub(crate) fn perm(n: i64, k: i64) -> Res<i64> {
    check_choice(n, k)?;
    if k > n {
        return Ok(0);
    }
    (0..k).try_fold(1i64, |p, i| p.checked_mul(n - i)).ok_or_else(too_big)
}

/// Python's `a ** b` of floats.
pub(crate) fn float_pow(a: f64, b: f64) -> Res<f64> {
    if b == 0.0 || a == 1.0 {
        return Ok(1.0);
    }
    if a == 0.0 && b < 0.0 && b.is_finite() {
        return Err(Error::zero_division("0.0 cannot be raised to a negative power"));
    }
    let r = crate::mathfn::power::pow(a, b);
    if r.is_infinite() && a.is_finite() && b.is_finite() {
        let args = vec![Arg::Int(34), Arg::Text("Numerical result out of range".into())];
        return Err(Error::with_args(ClassId::of_exception(Class::OverflowError).def(), args));
    }
    Ok(r)
}

/// Quotient and remainder of floats with the remainder's sign that of the divisor, which is not zero.
macro_rules! float_divmod {
    ($name:ident, $F:ty) => {
        pub(crate) fn $name(a: $F, b: $F) -> ($F, $F) {
            let mut m = a % b;
            let mut div = (a - m) / b;
            if m != 0.0 {
                if (b < 0.0) != (m < 0.0) {
                    m += b;
                    div -= 1.0;
                }
            } else {
                m = (0.0 as $F).copysign(b);
            }
            if div == 0.0 {
                return ((0.0 as $F).copysign(a / b), m);
            }
            let mut floor = div.floor();
            if div - floor > 0.5 {
                floor += 1.0;
            }
            (floor, m)
        }
    };
}
float_divmod!(divmod_f64, f64);
float_divmod!(divmod_f32, f32);
