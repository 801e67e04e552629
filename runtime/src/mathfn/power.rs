//! `pow` of float64 by table, within 0.52 units in the last place for ordinary arguments; zeros, infinities, NaN and results near the ends of the
//! range go to `libm`.
//!
//! `x ** y` is `exp(y log x)` with the logarithm as a sum of two numbers. Multiplication and addition are fused where the text says so and nowhere else, so
//! results are the same on all processors; one without such an instruction takes longer ([`fused`]).

use super::power_tables::{EXP, LOG};
use super::elementary::{BLOCK, for_each_processor, fused, read};

const LN2_HI: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800);
const LN2_LO: f64 = f64::from_bits(0x3d2e_f357_93c7_6730);
/// 128 / ln 2, and ln 2 / 128 in two parts.
const STEPS: f64 = f64::from_bits(0x4067_1547_652b_82fe);
const STEP_HI: f64 = f64::from_bits(0x3f76_2e42_fef0_0000);
const STEP_LO: f64 = f64::from_bits(0x3d64_73de_6af2_78ed);
/// Adding it rounds to a whole number, which then stands in the low bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;
/// Where the intervals of [`LOG`] begin: a mantissa just below 0.7.
const OFFSET: u64 = 0x3fe6_9555_0000_0000;

/// A normal positive number as `2^exponent * c * (1 + r)`, with `c` from the table.
struct Split {
    exponent: f64,
    /// `log(c)` and what it lacks.
    log: f64,
    log_rest: f64,
    /// `r`, exactly, as a sum.
    r_hi: f64,
    r_lo: f64,
}

#[inline(always)]
fn split(bits: u64) -> Split {
    let from = bits.wrapping_sub(OFFSET);
    let [inverse, log, log_rest] = LOG[(from >> 45) as usize % 128].map(f64::from_bits);
    let mantissa = f64::from_bits(bits.wrapping_sub(from & 0xfff << 52));
    let near_one = mantissa * inverse;
    Split { exponent: ((from as i64) >> 52) as f64, log, log_rest, r_hi: near_one - 1.0, r_lo: mantissa.mul_add(inverse, -near_one) }
}

/// `log(1 + r) - r + r² / 2`.
#[inline(always)]
fn series(r: f64, r2: f64) -> f64 {
    let (a, b, c) = (r.mul_add(-0.25, 1.0 / 3.0), r.mul_add(-1.0 / 6.0, 0.2), r.mul_add(-0.125, 1.0 / 7.0));
    r * r2 * r2.mul_add(r2.mul_add(r2.mul_add(1.0 / 9.0, c), b), a)
}

/// `log(x)` of a normal positive number as the sum of two.
#[inline(always)]
fn log_parts(bits: u64) -> (f64, f64) {
    let Split { exponent, log, log_rest, r_hi, r_lo } = split(bits);
    let r = r_hi + r_lo;
    // exponent * ln 2 + log(c) + log(1 + r)
    let whole = exponent.mul_add(LN2_HI, log);
    let first = whole + r_hi;
    let rest = (whole - first + r_hi) + exponent.mul_add(LN2_LO, log_rest);
    let half = -0.5 * r_hi;
    let square = r_hi * half;
    let hi = first + square;
    let lost = (first - hi + square) + r_hi.mul_add(half, -square);
    // The derivative of log(1 + r) is nearly 1 - r.
    let lo = rest + lost + (-r).mul_add(r_lo, r_lo) + series(r, r * r);
    let sum = hi + lo;
    (sum, hi - sum + lo)
}

/// `exp(x + rest)` for `x` of a size that keeps the result normal.
#[inline(always)]
fn exp_parts(x: f64, rest: f64) -> f64 {
    let shifted = STEPS.mul_add(x, SHIFT);
    let steps = shifted - SHIFT;
    let count = shifted.to_bits();
    let r = steps.mul_add(-STEP_LO, steps.mul_add(-STEP_HI, x)) + rest;
    let [tail, scale] = EXP[count as usize % 128];
    let scale = f64::from_bits(scale.wrapping_add(count << 45));
    let r2 = r * r;
    let series = (r2 * r2).mul_add(r.mul_add(1.0 / 120.0, 1.0 / 24.0), r2.mul_add(r.mul_add(1.0 / 6.0, 0.5), f64::from_bits(tail) + r));
    scale.mul_add(series, scale)
}

/// Beyond it results may overflow or lose bits.
const ORDINARY: f64 = 700.0;

/// Whether the table serves a base, and an exponent.
#[inline(always)]
fn is_usual(x: f64, y: f64) -> bool { (x >= f64::MIN_POSITIVE) & (x <= f64::MAX) & (y.abs() >= 1e-18) & (y.abs() < 9e15) }

for_each_processor! {
    /// Powers of arrays, with the bits of [`pow`]: blocks of positive numbers whose results are far from the ends of the range in vectors, others one by one.
    ///
    /// # Safety
    /// `n` readable elements of the operands, or one where a step is 0, and `n` writable ones, which are an operand or overlap none.
    pow_all(n: usize, out: *mut f64, a: (*const f64, usize), b: (*const f64, usize)) {
        for at in (0..n).step_by(BLOCK) {
            let here = BLOCK.min(n - at);
            // SAFETY: as required of the caller.
            let (x, y, mut z) = unsafe { (read(a.0, a.1, at, here), read(b.0, b.1, at, here), [0.0; BLOCK]) };
            let mut usual = true;
            for k in 0..BLOCK { usual &= is_usual(x[k], y[k]); }
            if usual {
                let mut far = [0.0; BLOCK];
                for k in 0..BLOCK {
                    let (hi, lo) = log_parts(x[k].to_bits());
                    let product = y[k] * hi;
                    far[k] = product;
                    z[k] = exp_parts(product, y[k].mul_add(lo, y[k].mul_add(hi, -product)));
                }
                for v in far { usual &= v.abs() < ORDINARY; }
            }
            if !usual { for k in 0..here { z[k] = pow(x[k], y[k]); } }
            // SAFETY: as above.
            unsafe { std::ptr::copy_nonoverlapping(z.as_ptr().cast::<u8>(), out.add(at).cast::<u8>(), here * 8) };
        }
    }
}

fused! {
    pub fn pow(x: f64, y: f64) -> f64 {
        let size = x.abs();
        if !(f64::MIN_POSITIVE..=f64::MAX).contains(&size) || !(1e-18..9e15).contains(&y.abs()) { return libm::pow(x, y); }
        let negative = x < 0.0 && {
            if y != y.trunc() { return f64::NAN; }
            y as i64 & 1 != 0
        };
        let (hi, lo) = log_parts(size.to_bits());
        let product = y * hi;
        let rest = y.mul_add(lo, y.mul_add(hi, -product));
        // Also where it is NaN.
        if !(product.abs() < ORDINARY) { return libm::pow(x, y); }
        let r = exp_parts(product, rest);
        if negative { -r } else { r }
    }
}

/// In float64, where one rounding at the end leaves next to no error.
pub fn powf(x: f32, y: f32) -> f32 { pow(x as f64, y as f64) as f32 }

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers over many magnitudes.
    fn numbers(seed: u64) -> impl Iterator<Item = f64> {
        let mut s = seed;
        std::iter::from_fn(move || {
            s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Some((s >> 11) as f64 / (1u64 << 53) as f64)
        })
    }
    fn ulps(a: f64, b: f64) -> u64 { (a.to_bits() as i64).wrapping_sub(b.to_bits() as i64).unsigned_abs() }

    #[test]
    fn ordinary_powers_are_within_one_unit_of_libm() {
        let mut v = numbers(1);
        for _ in 0..200_000 {
            let (a, b) = (v.next().unwrap_or(0.5), v.next().unwrap_or(0.5));
            for (x, y) in [(a * 4.0, b * 20.0 - 10.0), (1.0 + (a - 0.5) * 1e-3, (b - 0.5) * 1e5), (a * 1e100, b * 3.0), (a * 1e-300, b - 0.5), (-a * 9.0, (b * 30.0).floor())] {
                assert!(ulps(pow(x, y), libm::pow(x, y)) <= 1, "{x:?} ** {y:?}: {:?} and {:?}", pow(x, y), libm::pow(x, y));
            }
        }
    }

    #[test]
    fn whole_powers_are_exact() {
        for x in 1..200i64 {
            for y in 0..8u32 {
                let exact = x.pow(y);
                if exact < 1 << 53 {
                    assert_eq!(pow(x as f64, y as f64), exact as f64, "{x} ** {y}");
                    assert_eq!(pow(-x as f64, y as f64), (-x).pow(y) as f64, "-{x} ** {y}");
                }
            }
        }
        assert_eq!(pow(0.25, 0.5), 0.5);
        assert_eq!(pow(4.0, -0.5), 0.5);
    }

    #[test]
    fn unusual_powers_are_those_of_libm() {
        let special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, 5e-324, f64::MAX, 1e308, -1e-310, 1e19, 0.1, 1e-20];
        for x in special {
            for y in special {
                let (got, want) = (pow(x, y), libm::pow(x, y));
                assert!(ulps(got, want) <= 1 || got.is_nan() && want.is_nan(), "{x:?} ** {y:?}: {got:?} and {want:?}");
            }
        }
    }
}
