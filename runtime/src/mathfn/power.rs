//! Powers of `tierup_core::math::power`, computed: one at a time, and whole arrays in vectors.

use super::elementary::{BLOCK, Blocks, for_each_processor, fused, read, write};
use tierup_core::math::power as p;

for_each_processor! {
    /// Powers of arrays, with the bits of [`pow`]: what needs no care in fewer steps, a block at a time.
    ///
    /// # Safety
    /// `n` readable elements of the operands, or one where a step is 0, and `n` writable ones, which are an
    /// operand or overlap none.
    pow_all(n: usize, out: *mut f64, a: (*const f64, usize), b: (*const f64, usize)) {
        // SAFETY: as required of the caller.
        unsafe {
            let mut blocks = Blocks::new(n, out, [a, b]);
            for at in (0..n).step_by(BLOCK) {
                let ([x, y], out) = blocks.at(at);
                let (mut ordinary, mut z) = (true, [0.0; BLOCK]);
                // In one loop: what is hardly ever computed in vain costs less than reading twice.
                for k in 0..BLOCK {
                    ordinary &= p::is_ordinary(read(x, k), read(y, k));
                    z[k] = p::pow_ordinary(read(x, k), read(y, k));
                }
                if !ordinary { for k in 0..BLOCK { z[k] = p::pow(read(x, k), read(y, k)); } }
                write(out, &z);
                blocks.done(at);
            }
        }
    }
}

fused! {
    pub(crate) fn pow(x: f64, y: f64) -> f64 { if p::is_ordinary(x, y) { p::pow_ordinary(x, y) } else { p::pow(x, y) } }
    pub(crate) fn powf(x: f32, y: f32) -> f32 { p::pow_single(f64::from(x), f64::from(y)) as f32 }
}

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
    fn ulps(a: f64, b: f64) -> u64 {
        (a.to_bits() as i64).wrapping_sub(b.to_bits() as i64).unsigned_abs()
    }

    #[test]
    fn ordinary_powers_are_within_two_units_of_libm() {
        let mut v = numbers(1);
        for _ in 0..200_000 {
            let (a, b) = (v.next().unwrap_or(0.5), v.next().unwrap_or(0.5));
            for (x, y) in [
                (a * 4.0, b * 20.0 - 10.0),
                (1.0 + (a - 0.5) * 1e-3, (b - 0.5) * 1e5),
                (a * 1e100, b * 3.0),
                (a * 1e-300, b - 0.5),
                (-a * 9.0, (b * 30.0).floor()),
            ] {
                assert!(
                    ulps(pow(x, y), libm::pow(x, y)) <= 2,
                    "{x:?} ** {y:?}: {:?} and {:?}",
                    pow(x, y),
                    libm::pow(x, y)
                );
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
        let special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -2.0,
            3.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            1e308,
            -1e-310,
            1e19,
            0.1,
            1e-20,
            9_007_199_254_740_991.0,
            9_007_199_254_740_993.0,
            -4_503_599_627_370_497.0,
        ];
        for x in special {
            for y in special {
                let (got, want) = (pow(x, y), libm::pow(x, y));
                assert!(
                    got.is_sign_negative() == want.is_sign_negative() && ulps(got, want) <= 2
                        || got.is_nan() && want.is_nan(),
                    "{x:?} ** {y:?}: {got:?} and {want:?}"
                );
                let (got, want) = (powf(x as f32, y as f32), libm::powf(x as f32, y as f32));
                assert!(
                    got.to_bits().abs_diff(want.to_bits()) <= 1 || got.is_nan() && want.is_nan(),
                    "{x:?} ** {y:?} in float32: {got:?} and {want:?}"
                );
            }
        }
    }
}
