//! Elementary functions: those of `tierup_core::math` ([`elementary`]), and some of the `libm` crate, whose
//! results do not depend on the C library.
//!
//! [`errors`] is the error behaviour of Python's `math`; [`sums`] holds exact summation and accurate norms.

pub(crate) mod elementary;
mod errors;
pub(crate) mod power;
mod sums;
#[cfg(test)]
mod tests;

use self::errors::wants;
use crate::Native;
use crate::exc::{or_raise, raising};
use tierup_core::ops::mathfn::Helpers;
use tierup_core::rt::Ctx;

/// Functions that are the same for both widths but for the names of what they call.
macro_rules! per_width {
    ($F:ident, $exp:ident, $log1p:ident, $exp2:ident, $nextafter:ident) => {
        pub(crate) mod $F {
            /// NumPy's formula, which neither overflows nor cancels.
            pub(crate) fn logaddexp(a: $F, b: $F) -> $F {
                if a == b {
                    return a + std::$F::consts::LN_2;
                }
                let d = a - b;
                if d > 0.0 {
                    a + libm::$log1p(libm::$exp(-d))
                } else if d <= 0.0 {
                    b + libm::$log1p(libm::$exp(d))
                } else {
                    d
                }
            }
            pub(crate) fn logaddexp2(a: $F, b: $F) -> $F {
                if a == b {
                    return a + 1.0;
                }
                let log2_1p = |x| std::$F::consts::LOG2_E * libm::$log1p(x);
                let d = a - b;
                if d > 0.0 {
                    a + log2_1p(libm::$exp2(-d))
                } else if d <= 0.0 {
                    b + log2_1p(libm::$exp2(d))
                } else {
                    d
                }
            }
            pub(crate) fn heaviside(a: $F, b: $F) -> $F {
                if a.is_nan() {
                    a
                } else if a == 0.0 {
                    b
                } else if a < 0.0 {
                    0.0
                } else {
                    1.0
                }
            }
            pub(crate) fn spacing(x: $F) -> $F {
                if x.is_infinite() {
                    return $F::NAN;
                }
                if x == 0.0 {
                    return libm::$nextafter(0.0, 1.0);
                }
                libm::$nextafter(x, $F::INFINITY.copysign(x)) - x
            }
        }
    };
}
per_width!(f64, exp, log1p, exp2, nextafter);
per_width!(f32, expf, log1pf, exp2f, nextafterf);

/// An exponent as C takes it; beyond a few thousand all are alike.
fn clamped(n: i64) -> i32 {
    n.clamp(-5000, 5000) as i32
}

impl Helpers for Native {
    unsafe fn f64_sin(x: f64) -> f64 {
        elementary::sin(x)
    }
    unsafe fn f64_cos(x: f64) -> f64 {
        elementary::cos(x)
    }
    unsafe fn f64_tan(x: f64) -> f64 {
        elementary::tan(x)
    }
    unsafe fn f64_asin(x: f64) -> f64 {
        elementary::asin(x)
    }
    unsafe fn f64_acos(x: f64) -> f64 {
        elementary::acos(x)
    }
    unsafe fn f64_atan(x: f64) -> f64 {
        elementary::atan(x)
    }
    unsafe fn f64_sinh(x: f64) -> f64 {
        elementary::sinh(x)
    }
    unsafe fn f64_cosh(x: f64) -> f64 {
        elementary::cosh(x)
    }
    unsafe fn f64_tanh(x: f64) -> f64 {
        elementary::tanh(x)
    }
    unsafe fn f64_asinh(x: f64) -> f64 {
        elementary::asinh(x)
    }
    unsafe fn f64_acosh(x: f64) -> f64 {
        elementary::acosh(x)
    }
    unsafe fn f64_atanh(x: f64) -> f64 {
        elementary::atanh(x)
    }
    unsafe fn f64_exp(x: f64) -> f64 {
        elementary::exp(x)
    }
    unsafe fn f64_exp2(x: f64) -> f64 {
        elementary::exp2(x)
    }
    unsafe fn f64_expm1(x: f64) -> f64 {
        elementary::expm1(x)
    }
    unsafe fn f64_log(x: f64) -> f64 {
        elementary::log(x)
    }
    unsafe fn f64_log2(x: f64) -> f64 {
        elementary::log2(x)
    }
    unsafe fn f64_log10(x: f64) -> f64 {
        elementary::log10(x)
    }
    unsafe fn f64_log1p(x: f64) -> f64 {
        elementary::log1p(x)
    }
    unsafe fn f64_cbrt(x: f64) -> f64 {
        elementary::cbrt(x)
    }
    unsafe fn f64_erf(x: f64) -> f64 {
        elementary::erf(x)
    }
    unsafe fn f64_erfc(x: f64) -> f64 {
        elementary::erfc(x)
    }
    unsafe fn f64_gamma(x: f64) -> f64 {
        elementary::gamma(x)
    }
    unsafe fn f64_lgamma(x: f64) -> f64 {
        elementary::lgamma(x)
    }
    unsafe fn f64_atan2(a: f64, b: f64) -> f64 {
        elementary::atan2(a, b)
    }
    unsafe fn f64_pow(a: f64, b: f64) -> f64 {
        power::pow(a, b)
    }
    unsafe fn f64_hypot(a: f64, b: f64) -> f64 {
        elementary::hypot(a, b)
    }
    unsafe fn f64_nextafter(a: f64, b: f64) -> f64 {
        libm::nextafter(a, b)
    }
    unsafe fn f64_logaddexp(a: f64, b: f64) -> f64 {
        f64::logaddexp(a, b)
    }
    unsafe fn f64_logaddexp2(a: f64, b: f64) -> f64 {
        f64::logaddexp2(a, b)
    }
    unsafe fn f64_heaviside(a: f64, b: f64) -> f64 {
        f64::heaviside(a, b)
    }
    unsafe fn f64_spacing(x: f64) -> f64 {
        f64::spacing(x)
    }
    unsafe fn f64_ldexp(x: f64, n: i64) -> f64 {
        libm::ldexp(x, clamped(n))
    }
    unsafe fn f64_frexp_mantissa(x: f64) -> f64 {
        libm::frexp(x).0
    }
    unsafe fn f64_frexp_exponent(x: f64) -> i64 {
        if x.is_finite() { libm::frexp(x).1 as i64 } else { 0 }
    }
    unsafe fn f64_sin_large(x: f64) -> f64 {
        elementary::sin_large(x)
    }
    unsafe fn f32_sin_large(x: f32) -> f32 {
        elementary::sin(x as f64) as f32
    }
    unsafe fn f32_cos_large(x: f32) -> f32 {
        elementary::cos(x as f64) as f32
    }
    unsafe fn f32_sin(x: f32) -> f32 {
        elementary::single::sin(x)
    }
    unsafe fn f64_cos_large(x: f64) -> f64 {
        elementary::cos_large(x)
    }
    unsafe fn f32_cos(x: f32) -> f32 {
        elementary::single::cos(x)
    }
    unsafe fn f64_tan_large(x: f64) -> f64 {
        elementary::tan_large(x)
    }
    unsafe fn f32_tan(x: f32) -> f32 {
        elementary::tan(x as f64) as f32
    }
    unsafe fn f32_asin(x: f32) -> f32 {
        elementary::asin(x as f64) as f32
    }
    unsafe fn f32_acos(x: f32) -> f32 {
        elementary::acos(x as f64) as f32
    }
    unsafe fn f32_atan(x: f32) -> f32 {
        elementary::atan(x as f64) as f32
    }
    unsafe fn f32_sinh(x: f32) -> f32 {
        elementary::sinh(x as f64) as f32
    }
    unsafe fn f32_cosh(x: f32) -> f32 {
        elementary::cosh(x as f64) as f32
    }
    unsafe fn f32_tanh(x: f32) -> f32 {
        elementary::single::tanh(x)
    }
    unsafe fn f32_asinh(x: f32) -> f32 {
        elementary::asinh(x as f64) as f32
    }
    unsafe fn f32_acosh(x: f32) -> f32 {
        elementary::acosh(x as f64) as f32
    }
    unsafe fn f32_atanh(x: f32) -> f32 {
        elementary::atanh(x as f64) as f32
    }
    unsafe fn f32_exp(x: f32) -> f32 {
        elementary::single::exp(x)
    }
    unsafe fn f32_exp2(x: f32) -> f32 {
        elementary::single::exp2(x)
    }
    unsafe fn f32_expm1(x: f32) -> f32 {
        elementary::single::expm1(x)
    }
    unsafe fn f32_log(x: f32) -> f32 {
        elementary::single::log(x)
    }
    unsafe fn f32_log2(x: f32) -> f32 {
        elementary::single::log2(x)
    }
    unsafe fn f32_log10(x: f32) -> f32 {
        elementary::single::log10(x)
    }
    unsafe fn f32_log1p(x: f32) -> f32 {
        elementary::single::log1p(x)
    }
    unsafe fn f32_cbrt(x: f32) -> f32 {
        elementary::cbrt(x as f64) as f32
    }
    unsafe fn f32_erf(x: f32) -> f32 {
        elementary::erf(x as f64) as f32
    }
    unsafe fn f32_erfc(x: f32) -> f32 {
        elementary::erfc(x as f64) as f32
    }
    unsafe fn f32_gamma(x: f32) -> f32 {
        elementary::gamma(x as f64) as f32
    }
    unsafe fn f32_lgamma(x: f32) -> f32 {
        elementary::lgamma(x as f64) as f32
    }
    unsafe fn f32_atan2(a: f32, b: f32) -> f32 {
        elementary::atan2(a as f64, b as f64) as f32
    }
    unsafe fn f32_pow(a: f32, b: f32) -> f32 {
        power::powf(a, b)
    }
    unsafe fn f32_hypot(a: f32, b: f32) -> f32 {
        elementary::hypot(a as f64, b as f64) as f32
    }
    unsafe fn f32_nextafter(a: f32, b: f32) -> f32 {
        libm::nextafterf(a, b)
    }
    unsafe fn f32_logaddexp(a: f32, b: f32) -> f32 {
        f32::logaddexp(a, b)
    }
    unsafe fn f32_logaddexp2(a: f32, b: f32) -> f32 {
        f32::logaddexp2(a, b)
    }
    unsafe fn f32_heaviside(a: f32, b: f32) -> f32 {
        f32::heaviside(a, b)
    }
    unsafe fn f32_spacing(x: f32) -> f32 {
        f32::spacing(x)
    }
    unsafe fn f32_ldexp(x: f32, n: i64) -> f32 {
        libm::ldexpf(x, clamped(n))
    }
    unsafe fn f32_frexp_mantissa(x: f32) -> f32 {
        libm::frexpf(x).0
    }
    unsafe fn f32_frexp_exponent(x: f32) -> i64 {
        if x.is_finite() { libm::frexpf(x).1 as i64 } else { 0 }
    }
    unsafe fn f64_ulp(x: f64) -> f64 {
        sums::ulp(x)
    }

    raising! {
        fn math_check(x: f64, r: f64, overflow: i8) -> () =
            errors::check(x, r, overflow != 0, wants::ANY).map(|_| ());
        fn math_sin(x: f64) -> f64 = errors::check(x, elementary::sin(x), false, wants::FINITE);
        fn math_cos(x: f64) -> f64 = errors::check(x, elementary::cos(x), false, wants::FINITE);
        fn math_tan(x: f64) -> f64 = errors::check(x, elementary::tan(x), false, wants::FINITE);
        fn math_asin(x: f64) -> f64 = errors::check(x, elementary::asin(x), false, wants::UP_TO_ONE);
        fn math_acos(x: f64) -> f64 = errors::check(x, elementary::acos(x), false, wants::UP_TO_ONE);
        fn math_atan(x: f64) -> f64 = errors::check(x, elementary::atan(x), false, wants::ANY);
        fn math_sinh(x: f64) -> f64 = errors::check(x, elementary::sinh(x), true, wants::ANY);
        fn math_cosh(x: f64) -> f64 = errors::check(x, elementary::cosh(x), true, wants::ANY);
        fn math_tanh(x: f64) -> f64 = errors::check(x, elementary::tanh(x), false, wants::ANY);
        fn math_asinh(x: f64) -> f64 = errors::check(x, elementary::asinh(x), false, wants::ANY);
        fn math_acosh(x: f64) -> f64 = errors::check(x, elementary::acosh(x), true, wants::NOT_BELOW_ONE);
        fn math_atanh(x: f64) -> f64 = errors::check(x, elementary::atanh(x), false, wants::BELOW_ONE);
        fn math_exp(x: f64) -> f64 = errors::check(x, elementary::exp(x), true, wants::ANY);
        fn math_exp2(x: f64) -> f64 = errors::check(x, elementary::exp2(x), true, wants::ANY);
        fn math_expm1(x: f64) -> f64 = errors::check(x, elementary::expm1(x), true, wants::ANY);
        fn math_log(x: f64) -> f64 = errors::log(x);
        fn math_log2(x: f64) -> f64 = errors::log2(x);
        fn math_log10(x: f64) -> f64 = errors::log10(x);
        fn math_log1p(x: f64) -> f64 = errors::log1p(x);
        fn math_cbrt(x: f64) -> f64 = errors::check(x, elementary::cbrt(x), false, wants::ANY);
        fn math_gamma(x: f64) -> f64 = errors::gamma(x);
        fn math_lgamma(x: f64) -> f64 = errors::lgamma(x);
        fn math_sqrt(x: f64) -> f64 = errors::check(x, x.sqrt(), false, wants::NOT_NEGATIVE);
        fn math_log_base(x: f64, base: f64) -> f64 = errors::log_base(x, base);
        fn math_pow(a: f64, b: f64) -> f64 = errors::pow(a, b);
        fn math_fmod(a: f64, b: f64) -> f64 = errors::fmod(a, b);
        fn math_remainder(a: f64, b: f64) -> f64 = errors::remainder(a, b);
        fn math_ldexp(x: f64, n: i64) -> f64 = errors::ldexp(x, n);
    }
    unsafe fn math_hypot_n(p: *const f64, n: i64) -> f64 {
        // SAFETY: compiled code passes `n` coordinates.
        sums::norm(unsafe { crate::raw_slice(p, n) })
    }
    unsafe fn math_dist(p: *const f64, q: *const f64, n: i64) -> f64 {
        // SAFETY: compiled code passes `n` coordinates each.
        let (p, q) = unsafe { (crate::raw_slice(p, n), crate::raw_slice(q, n)) };
        sums::norm(&p.iter().zip(q).map(|(a, b)| a - b).collect::<Vec<_>>())
    }
    unsafe fn math_fsum(ctx: Ctx, p: *const f64, n: i64, stride: i64) -> f64 {
        // SAFETY: compiled code passes `n` numbers at that distance.
        let numbers = (0..n).map(|i| unsafe { p.byte_offset((i * stride) as isize).read_unaligned() });
        // SAFETY: compiled code passes the live context of its thread.
        unsafe { or_raise(ctx, sums::fsum(numbers)) }
    }
}
