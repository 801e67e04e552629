//! The distributions that others are made of: normal, exponential and gamma, for `Generator` (ziggurat) and
//! for the legacy functions (polar method, logarithms).

use super::bits::{Own, Source};
use super::ziggurat as z;
use std::cell::Cell;

// ---- Generator

/// `-log(1 - u)`.
fn minus_log1p(bits: &impl Source) -> f64 {
    -libm_log1p(-bits.f64())
}
fn minus_log1p_f32(bits: &impl Source) -> f32 {
    -libm_log1pf(-bits.f32())
}

unsafe extern "C" {
    fn log1p(x: f64) -> f64;
    fn log1pf(x: f32) -> f32;
    fn expm1(x: f64) -> f64;
}
// NumPy calls the C library for these, so bits are the same only if we do; `f64::ln`, `exp` and `powf` are
// calls of it already.
pub(crate) fn libm_log1p(x: f64) -> f64 {
    // SAFETY: a function of the C library without preconditions.
    unsafe { log1p(x) }
}
fn libm_log1pf(x: f32) -> f32 {
    // SAFETY: as above.
    unsafe { log1pf(x) }
}
pub(crate) fn libm_expm1(x: f64) -> f64 {
    // SAFETY: as above.
    unsafe { expm1(x) }
}

pub(crate) fn normal(bits: &impl Source) -> f64 {
    normal_from(bits, bits.u64())
}

/// The same from its first 64 bits.
#[inline]
pub(crate) fn normal_from(bits: &impl Source, mut r: u64) -> f64 {
    loop {
        let layer = (r & 0xff) as usize;
        let sign = r >> 8 & 1;
        let magnitude = r >> 9 & 0xf_ffff_ffff_ffff;
        // Nobody can predict a sign, so it is no branch; and signed integers are converted in one
        // instruction.
        let x = f64::from_bits((magnitude as i64 as f64 * z::NORMAL[layer].width).to_bits() ^ sign << 63);
        if magnitude < z::NORMAL[layer].below {
            return x;
        }
        if layer == 0 {
            loop {
                let xx = z::NORMAL_INV_R * minus_log1p(bits);
                let yy = minus_log1p(bits);
                if yy + yy > xx * xx {
                    return if magnitude >> 8 & 1 == 1 { -(z::NORMAL_R + xx) } else { z::NORMAL_R + xx };
                }
            }
        }
        if (z::NORMAL_F[layer - 1] - z::NORMAL_F[layer]) * bits.f64() + z::NORMAL_F[layer]
            < (-0.5 * x * x).exp()
        {
            return x;
        }
        r = bits.u64();
    }
}

pub(crate) fn normal_f32(bits: &impl Source) -> f32 {
    let (inv_r, tail) = (z::NORMAL_INV_R as f32, z::NORMAL_R as f32);
    loop {
        let r = bits.u32();
        let layer = (r & 0xff) as usize;
        let sign = r >> 8 & 1;
        let magnitude = r >> 9 & 0x7f_ffff;
        let x = f32::from_bits((magnitude as i32 as f32 * z::NORMAL_W32[layer]).to_bits() ^ sign << 31);
        if magnitude < z::NORMAL_K32[layer] {
            return x;
        }
        if layer == 0 {
            loop {
                let xx = inv_r * minus_log1p_f32(bits);
                let yy = minus_log1p_f32(bits);
                if yy + yy > xx * xx {
                    return if magnitude >> 8 & 1 == 1 { -(tail + xx) } else { tail + xx };
                }
            }
        }
        // The left side is of single precision, the right one is not.
        let density = (z::NORMAL_F32[layer - 1] - z::NORMAL_F32[layer]) * bits.f32() + z::NORMAL_F32[layer];
        if (density as f64) < (-0.5 * x as f64 * x as f64).exp() {
            return x;
        }
    }
}

pub(crate) fn exponential(bits: &impl Source) -> f64 {
    exponential_from(bits, bits.u64())
}

/// The same from its first 64 bits.
#[inline]
pub(crate) fn exponential_from(bits: &impl Source, mut first: u64) -> f64 {
    loop {
        let layer = (first >> 3 & 0xff) as usize;
        let r = first >> 11;
        let x = r as i64 as f64 * z::EXPONENTIAL[layer].width;
        if r < z::EXPONENTIAL[layer].below {
            return x;
        }
        if layer == 0 {
            return z::EXP_R + minus_log1p(bits);
        }
        if (z::EXP_F[layer - 1] - z::EXP_F[layer]) * bits.f64() + z::EXP_F[layer] < (-x).exp() {
            return x;
        }
        first = bits.u64();
    }
}

pub(crate) fn exponential_f32(bits: &impl Source) -> f32 {
    loop {
        let r = bits.u32() >> 1;
        let layer = (r & 0xff) as usize;
        let r = r >> 8;
        let x = r as i32 as f32 * z::EXP_W32[layer];
        if r < z::EXP_K32[layer] {
            return x;
        }
        if layer == 0 {
            return z::EXP_R as f32 + minus_log1p_f32(bits);
        }
        if (z::EXP_F32[layer - 1] - z::EXP_F32[layer]) * bits.f32() + z::EXP_F32[layer] < (-x).exp() {
            return x;
        }
    }
}

/// `method="inv"`.
pub(crate) fn exponential_inverse(bits: &impl Source) -> f64 {
    minus_log1p(bits)
}
pub(crate) fn exponential_inverse_f32(bits: &impl Source) -> f32 {
    -libm_log1p(-bits.f32() as f64) as f32
}

pub(crate) fn gamma(bits: &impl Source, shape: f64) -> f64 {
    gamma_of(shape, || bits.f64(), || exponential(bits), || normal(bits))
}

pub(crate) fn gamma_f32(bits: &impl Source, shape: f32) -> f32 {
    if shape == 1.0 {
        return exponential_f32(bits);
    }
    if shape == 0.0 {
        return 0.0;
    }
    if shape < 1.0 {
        loop {
            let (u, v) = (bits.f32(), exponential_f32(bits));
            if u <= 1.0 - shape {
                let x = u.powf(1.0 / shape);
                if x <= v {
                    return x;
                }
            } else {
                let y = -((1.0 - u) / shape).ln();
                let x = (1.0 - shape + shape * y).powf(1.0 / shape);
                if x <= v + y {
                    return x;
                }
            }
        }
    }
    let b = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * b).sqrt();
    loop {
        let (mut x, mut v);
        loop {
            x = normal_f32(bits);
            v = 1.0 + c * x;
            // Also where `shape` is NaN.
            if !(v <= 0.0) {
                break;
            }
        }
        v = v * v * v;
        let u = bits.f32();
        if u < 1.0 - 0.0331 * (x * x) * (x * x) {
            return b * v;
        }
        if u.ln() < 0.5 * x * x + b * (1.0 - v + v.ln()) {
            return b * v;
        }
    }
}

/// The gamma distribution by Marsaglia and Tsang, for shapes below 1 by Ahrens and Dieter; both families draw
/// it from distributions of their own.
fn gamma_of(
    shape: f64,
    mut uniform: impl FnMut() -> f64,
    mut exponential: impl FnMut() -> f64,
    mut normal: impl FnMut() -> f64,
) -> f64 {
    if shape == 1.0 {
        return exponential();
    }
    if shape == 0.0 {
        return 0.0;
    }
    if shape < 1.0 {
        loop {
            let (u, v) = (uniform(), exponential());
            if u <= 1.0 - shape {
                let x = u.powf(1.0 / shape);
                if x <= v {
                    return x;
                }
            } else {
                let y = -((1.0 - u) / shape).ln();
                let x = (1.0 - shape + shape * y).powf(1.0 / shape);
                if x <= v + y {
                    return x;
                }
            }
        }
    }
    let b = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * b).sqrt();
    loop {
        let (mut x, mut v);
        loop {
            x = normal();
            v = 1.0 + c * x;
            // Also where `shape` is NaN.
            if !(v <= 0.0) {
                break;
            }
        }
        v = v * v * v;
        let u = uniform();
        if u < 1.0 - 0.0331 * (x * x) * (x * x) {
            return b * v;
        }
        if u.ln() < 0.5 * x * x + b * (1.0 - v + v.ln()) {
            return b * v;
        }
    }
}

// ---- legacy

/// What the legacy functions draw from: bits, and the second number of a pair of normal ones.
pub(crate) struct Legacy<'a> {
    pub bits: Own<'a>,
    pub spare: &'a Cell<Option<f64>>,
}

impl Legacy<'_> {
    pub(crate) fn f64(&self) -> f64 {
        self.bits.f64()
    }

    pub(crate) fn normal(&self) -> f64 {
        if let Some(x) = self.spare.take() {
            return x;
        }
        loop {
            let x = 2.0 * self.f64() - 1.0;
            let y = 2.0 * self.f64() - 1.0;
            let r = x * x + y * y;
            if r < 1.0 && r != 0.0 {
                let f = (-2.0 * r.ln() / r).sqrt();
                self.spare.set(Some(f * x));
                return f * y;
            }
        }
    }

    pub(crate) fn exponential(&self) -> f64 {
        -(1.0 - self.f64()).ln()
    }

    pub(crate) fn gamma(&self, shape: f64) -> f64 {
        gamma_of(shape, || self.f64(), || self.exponential(), || self.normal())
    }
}
