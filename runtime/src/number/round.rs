//! Rounding: floats to ints and to decimals. Python's `round(x, n)` rounds the exact value; NumPy's scales,
//! which is faster and not exact.

use super::too_large;
use crate::exc::{Error, Res};

/// An integral float as an int.
pub(crate) fn to_int(x: f64) -> Res<i64> {
    if x.is_nan() {
        return Err(Error::value("cannot convert float NaN to integer"));
    }
    if x.is_infinite() {
        return Err(Error::overflow("cannot convert float infinity to integer"));
    }
    // -2⁶³ is a float, 2⁶³ - 1 is none.
    if (-9223372036854775808.0..9223372036854775808.0).contains(&x) { Ok(x as i64) } else { Err(too_large()) }
}

/// `round(x, ndigits)`: the decimal nearest to the exact value, ties to even.
pub(crate) fn decimals(x: f64, ndigits: i64) -> Res<f64> {
    if !x.is_finite() || x == 0.0 || ndigits > 323 {
        return Ok(x);
    }
    if ndigits < -308 {
        return Ok(0.0 * x);
    }
    if let Some(r) = quick(x, ndigits) {
        return Ok(r);
    }
    let rounded = if ndigits >= 0 {
        // Formatting is exact and rounds ties of the exact value to even.
        format!("{:.*}", ndigits as usize, x.abs())
    } else {
        integral(x.abs(), ndigits.unsigned_abs() as usize)
    };
    let r = rounded.parse::<f64>().unwrap_or(f64::INFINITY).copysign(x);
    if r.is_infinite() {
        return Err(Error::overflow("rounded value too large to represent"));
    }
    Ok(r)
}

/// The same where the product with 10ⁿ and its lost part say all: what compiled code does in line for a known
/// number of decimals (`tierup_core::ops::quick`).
fn quick(x: f64, ndigits: i64) -> Option<f64> {
    if !(0..=22).contains(&ndigits) {
        return None;
    }
    let by = power_of_ten(ndigits.unsigned_abs());
    let hi = x * by;
    if hi.abs() >= 4_503_599_627_370_496.0 {
        return None;
    }
    let (lo, near) = (x.mul_add(by, -hi), hi.round_ties_even());
    let off = hi - near;
    let whole = if off.abs() == 0.5 && off * lo > 0.0 { near + 1f64.copysign(off) } else { near };
    Some(whole.copysign(x) / by)
}

/// `x` rounded to a multiple of 10ⁿ, as text.
fn integral(x: f64, n: usize) -> String {
    let whole = format!("{:.0}", x.trunc());
    let exact = x == x.trunc();
    let padded = format!("{whole:0>width$}", width = n + 1);
    let (keep, drop) = padded.split_at(padded.len() - n);
    let half = format!("5{}", "0".repeat(n - 1));
    let odd = keep.as_bytes().last().is_some_and(|d| d % 2 == 1);
    let up = match drop.cmp(half.as_str()) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => !exact || odd,
        std::cmp::Ordering::Greater => true,
    };
    let mut digits: Vec<u8> = keep.bytes().collect();
    let mut carry = up;
    for d in digits.iter_mut().rev() {
        if !carry {
            break;
        }
        carry = *d == b'9';
        *d = if carry { b'0' } else { *d + 1 };
    }
    format!("{}{}{}", if carry { "1" } else { "" }, String::from_utf8_lossy(&digits), "0".repeat(n))
}

/// `round(n, ndigits)` of an int: to the nearest multiple of a power of ten, ties to even.
pub(crate) fn int(n: i64, ndigits: i64) -> Res<i64> {
    if ndigits >= 0 {
        return Ok(n);
    }
    // 10²⁰ is more than twice the largest magnitude.
    if ndigits <= -20 {
        return Ok(0);
    }
    let unit = 10i128.pow(ndigits.unsigned_abs() as u32);
    let (q, r) = ((n as i128).div_euclid(unit), (n as i128).rem_euclid(unit));
    let up = match (2 * r).cmp(&unit) {
        std::cmp::Ordering::Less => 0,
        std::cmp::Ordering::Equal => q & 1,
        std::cmp::Ordering::Greater => 1,
    };
    i64::try_from((q + up) * unit).map_err(|_| too_large())
}

/// 10ⁿ, exact up to 22.
fn power_of_ten(n: u64) -> f64 {
    if n <= 22 { (0..n).fold(1.0, |p, _| p * 10.0) } else { libm::pow(10.0, n as f64) }
}

/// `np.round(x, decimals)`.
pub(crate) fn np_f64(x: f64, decimals: i64) -> f64 {
    let f = power_of_ten(decimals.unsigned_abs());
    match decimals {
        0 => x.round_ties_even(),
        1.. => (x * f).round_ties_even() / f,
        _negative => (x / f).round_ties_even() * f,
    }
}
/// `np.round(x, decimals)` of float32.
pub(crate) fn np_f32(x: f32, decimals: i64) -> f32 {
    let f = power_of_ten(decimals.unsigned_abs()) as f32;
    match decimals {
        0 => x.round_ties_even(),
        1.. => (x * f).round_ties_even() / f,
        _negative => (x / f).round_ties_even() * f,
    }
}
