//! Exact summation, accurate norms and units in the last place, as CPython's `math` computes them.

use crate::exc::{Error, Res};

pub(crate) fn ulp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let x = x.abs();
    if x.is_infinite() {
        return x;
    }
    let up = libm::nextafter(x, f64::INFINITY);
    // The largest float has no finite neighbour above.
    if up.is_infinite() { x - libm::nextafter(x, 0.0) } else { up - x }
}

/// A sum of which no bit is lost: the parts that rounding dropped are kept in `parts`, from small to large.
#[derive(Default)]
struct Compensated {
    sum: f64,
    parts: [f64; 3],
}
impl Compensated {
    fn add(&mut self, x: f64, part: usize) {
        let old = self.sum;
        self.sum += x;
        self.parts[part] += (old - self.sum) + x;
    }
    fn total(&self) -> f64 {
        self.sum - 1.0 + (self.parts[0] + self.parts[1] + self.parts[2])
    }
}

/// Halves of a float, whose products are exact.
fn split(x: f64) -> (f64, f64) {
    let t = x * 134217729.0;
    let hi = t - (t - x);
    (hi, x - hi)
}

/// Euclidean length, correctly rounded nearly always; infinity wins over NaN.
pub(crate) fn norm(v: &[f64]) -> f64 {
    let max = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if max.is_infinite() {
        return max;
    }
    if v.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    if max == 0.0 || v.len() <= 1 {
        return max;
    }
    let (_, exp) = libm::frexp(max);
    if exp < -1023 {
        // The scale below would overflow.
        let up: Vec<f64> = v.iter().map(|x| x / f64::MIN_POSITIVE).collect();
        return f64::MIN_POSITIVE * norm(&up);
    }
    let scale = libm::ldexp(1.0, -exp);
    let mut sum = Compensated { sum: 1.0, parts: [0.0; 3] };
    for x in v {
        let (hi, lo) = split(x.abs() * scale);
        sum.add(hi * hi, 0);
        sum.add(2.0 * hi * lo, 1);
        sum.parts[2] += lo * lo;
    }
    let h = sum.total().sqrt();
    // One step of Newton's method with an exact residue.
    let (hi, lo) = split(h);
    sum.add(-hi * hi, 0);
    sum.add(-2.0 * hi * lo, 1);
    sum.add(-lo * lo, 2);
    (h + sum.total() / (2.0 * h)) / scale
}

/// The exact sum, rounded once (Shewchuk): `partials` do not overlap and grow in magnitude.
pub(crate) fn fsum(numbers: impl Iterator<Item = f64>) -> Res<f64> {
    let mut partials: Vec<f64> = vec![];
    let (mut special, mut infinities) = (0.0, 0.0);
    for number in numbers {
        let mut x = number;
        let mut kept = 0;
        for j in 0..partials.len() {
            let mut y = partials[j];
            if x.abs() < y.abs() {
                (x, y) = (y, x);
            }
            let hi = x + y;
            let lo = y - (hi - x);
            if lo != 0.0 {
                partials[kept] = lo;
                kept += 1;
            }
            x = hi;
        }
        partials.truncate(kept);
        if x == 0.0 {
            continue;
        }
        if x.is_finite() {
            partials.push(x);
        } else {
            if number.is_finite() {
                return Err(Error::overflow("intermediate overflow in fsum"));
            }
            if number.is_infinite() {
                infinities += number;
            }
            special += number;
            partials.clear();
        }
    }
    if special != 0.0 {
        // NaN is not equal to zero either.
        return if f64::is_nan(infinities) { Err(Error::value("-inf + inf in fsum")) } else { Ok(special) };
    }
    let mut n = partials.len();
    if n == 0 {
        return Ok(0.0);
    }
    n -= 1;
    let (mut hi, mut lo) = (partials[n], 0.0);
    while n > 0 {
        let x = hi;
        n -= 1;
        let y = partials[n];
        hi = x + y;
        lo = y - (hi - x);
        if lo != 0.0 {
            break;
        }
    }
    // Where the dropped part is half a unit, the next partial decides which way to round.
    if n > 0 && ((lo < 0.0 && partials[n - 1] < 0.0) || (lo > 0.0 && partials[n - 1] > 0.0)) {
        let y = lo * 2.0;
        let x = hi + y;
        if y == x - hi {
            hi = x;
        }
    }
    Ok(hi)
}
