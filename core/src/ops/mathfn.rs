//! Elementary functions of floats. `f64_*` and `f32_*` are plain functions of their operands, as NumPy's
//! ufuncs and inner loops want them; `math_*` are those of Python's `math` module and raise its errors. All
//! tiers call these, so all give the same bits.
//!
//! A fast way to the errors of `math`: call `f64_sin(x)`, and where the result is not finite, `math_check(x,
//! result, overflow)`.

use super::OpDef;
use crate::rt::Ctx;

crate::runtime_fns! {
    /// Elementary functions.
    trait Helpers;
    /// sin(x).
    fn f64_sin(x: f64) -> f64 [Pure, Never];
    /// cos(x).
    fn f64_cos(x: f64) -> f64 [Pure, Never];
    /// tan(x).
    fn f64_tan(x: f64) -> f64 [Pure, Never];
    /// asin(x).
    fn f64_asin(x: f64) -> f64 [Pure, Never];
    /// acos(x).
    fn f64_acos(x: f64) -> f64 [Pure, Never];
    /// atan(x).
    fn f64_atan(x: f64) -> f64 [Pure, Never];
    /// sinh(x).
    fn f64_sinh(x: f64) -> f64 [Pure, Never];
    /// cosh(x).
    fn f64_cosh(x: f64) -> f64 [Pure, Never];
    /// tanh(x).
    fn f64_tanh(x: f64) -> f64 [Pure, Never];
    /// asinh(x).
    fn f64_asinh(x: f64) -> f64 [Pure, Never];
    /// acosh(x).
    fn f64_acosh(x: f64) -> f64 [Pure, Never];
    /// atanh(x).
    fn f64_atanh(x: f64) -> f64 [Pure, Never];
    /// exp(x).
    fn f64_exp(x: f64) -> f64 [Pure, Never];
    /// exp2(x).
    fn f64_exp2(x: f64) -> f64 [Pure, Never];
    /// expm1(x).
    fn f64_expm1(x: f64) -> f64 [Pure, Never];
    /// log(x).
    fn f64_log(x: f64) -> f64 [Pure, Never];
    /// log2(x).
    fn f64_log2(x: f64) -> f64 [Pure, Never];
    /// log10(x).
    fn f64_log10(x: f64) -> f64 [Pure, Never];
    /// log1p(x).
    fn f64_log1p(x: f64) -> f64 [Pure, Never];
    /// cbrt(x).
    fn f64_cbrt(x: f64) -> f64 [Pure, Never];
    /// erf(x).
    fn f64_erf(x: f64) -> f64 [Pure, Never];
    /// erfc(x).
    fn f64_erfc(x: f64) -> f64 [Pure, Never];
    /// Γ(x).
    fn f64_gamma(x: f64) -> f64 [Pure, Never];
    /// log |Γ(x)|.
    fn f64_lgamma(x: f64) -> f64 [Pure, Never];
    /// Angle of (x, y).
    fn f64_atan2(a: f64, b: f64) -> f64 [Pure, Never];
    /// `a` to the `b`, as C's `pow`.
    fn f64_pow(a: f64, b: f64) -> f64 [Pure, Never];
    /// Length of (a, b).
    fn f64_hypot(a: f64, b: f64) -> f64 [Pure, Never];
    /// The float after `a` towards `b`.
    fn f64_nextafter(a: f64, b: f64) -> f64 [Pure, Never];
    /// log(exp(a) + exp(b)).
    fn f64_logaddexp(a: f64, b: f64) -> f64 [Pure, Never];
    /// log2(2^a + 2^b).
    fn f64_logaddexp2(a: f64, b: f64) -> f64 [Pure, Never];
    /// 0, `b` or 1 for negative, zero or positive `a`.
    fn f64_heaviside(a: f64, b: f64) -> f64 [Pure, Never];
    /// Distance to the next float away from zero.
    fn f64_spacing(x: f64) -> f64 [Pure, Never];
    /// `x` times 2 to the `n`.
    fn f64_ldexp(x: f64, n: i64) -> f64 [Pure, Never];
    /// Mantissa of `frexp`: magnitude from 0.5 to below 1, or `x` where it is zero or not finite.
    fn f64_frexp_mantissa(x: f64) -> f64 [Pure, Never];
    /// Exponent of `frexp`; 0 where `x` is zero or not finite.
    fn f64_frexp_exponent(x: f64) -> i64 [Pure, Never];
    /// sin(x) where the quick way ends: of large angles, infinities and NaN.
    fn f64_sin_large(x: f64) -> f64 [Pure, Never];
    /// cos(x) where the quick way ends.
    fn f64_cos_large(x: f64) -> f64 [Pure, Never];
    /// tan(x) where the quick way ends.
    fn f64_tan_large(x: f64) -> f64 [Pure, Never];
    /// sin(x) where float32's own way ends.
    fn f32_sin_large(x: f32) -> f32 [Pure, Never];
    /// cos(x) where float32's own way ends.
    fn f32_cos_large(x: f32) -> f32 [Pure, Never];
    /// sin(x).
    fn f32_sin(x: f32) -> f32 [Pure, Never];
    /// cos(x).
    fn f32_cos(x: f32) -> f32 [Pure, Never];
    /// tan(x).
    fn f32_tan(x: f32) -> f32 [Pure, Never];
    /// asin(x).
    fn f32_asin(x: f32) -> f32 [Pure, Never];
    /// acos(x).
    fn f32_acos(x: f32) -> f32 [Pure, Never];
    /// atan(x).
    fn f32_atan(x: f32) -> f32 [Pure, Never];
    /// sinh(x).
    fn f32_sinh(x: f32) -> f32 [Pure, Never];
    /// cosh(x).
    fn f32_cosh(x: f32) -> f32 [Pure, Never];
    /// tanh(x).
    fn f32_tanh(x: f32) -> f32 [Pure, Never];
    /// asinh(x).
    fn f32_asinh(x: f32) -> f32 [Pure, Never];
    /// acosh(x).
    fn f32_acosh(x: f32) -> f32 [Pure, Never];
    /// atanh(x).
    fn f32_atanh(x: f32) -> f32 [Pure, Never];
    /// exp(x).
    fn f32_exp(x: f32) -> f32 [Pure, Never];
    /// exp2(x).
    fn f32_exp2(x: f32) -> f32 [Pure, Never];
    /// expm1(x).
    fn f32_expm1(x: f32) -> f32 [Pure, Never];
    /// log(x).
    fn f32_log(x: f32) -> f32 [Pure, Never];
    /// log2(x).
    fn f32_log2(x: f32) -> f32 [Pure, Never];
    /// log10(x).
    fn f32_log10(x: f32) -> f32 [Pure, Never];
    /// log1p(x).
    fn f32_log1p(x: f32) -> f32 [Pure, Never];
    /// cbrt(x).
    fn f32_cbrt(x: f32) -> f32 [Pure, Never];
    /// erf(x).
    fn f32_erf(x: f32) -> f32 [Pure, Never];
    /// erfc(x).
    fn f32_erfc(x: f32) -> f32 [Pure, Never];
    /// Γ(x).
    fn f32_gamma(x: f32) -> f32 [Pure, Never];
    /// log |Γ(x)|.
    fn f32_lgamma(x: f32) -> f32 [Pure, Never];
    /// Angle of (x, y).
    fn f32_atan2(a: f32, b: f32) -> f32 [Pure, Never];
    /// `a` to the `b`, as C's `pow`.
    fn f32_pow(a: f32, b: f32) -> f32 [Pure, Never];
    /// Length of (a, b).
    fn f32_hypot(a: f32, b: f32) -> f32 [Pure, Never];
    /// The float after `a` towards `b`.
    fn f32_nextafter(a: f32, b: f32) -> f32 [Pure, Never];
    /// log(exp(a) + exp(b)).
    fn f32_logaddexp(a: f32, b: f32) -> f32 [Pure, Never];
    /// log2(2^a + 2^b).
    fn f32_logaddexp2(a: f32, b: f32) -> f32 [Pure, Never];
    /// 0, `b` or 1 for negative, zero or positive `a`.
    fn f32_heaviside(a: f32, b: f32) -> f32 [Pure, Never];
    /// Distance to the next float away from zero.
    fn f32_spacing(x: f32) -> f32 [Pure, Never];
    /// `x` times 2 to the `n`.
    fn f32_ldexp(x: f32, n: i64) -> f32 [Pure, Never];
    /// Mantissa of `frexp`: magnitude from 0.5 to below 1, or `x` where it is zero or not finite.
    fn f32_frexp_mantissa(x: f32) -> f32 [Pure, Never];
    /// Exponent of `frexp`; 0 where `x` is zero or not finite.
    fn f32_frexp_exponent(x: f32) -> i64 [Pure, Never];
    /// Python's `math.ulp(x)`.
    fn f64_ulp(x: f64) -> f64 [Pure, Never];
    /// Raises what `math` raises where `f(x)` gave `r`: ValueError for NaN from a number or infinity from a
    /// finite one, OverflowError instead of the latter where `overflow` says that `f` may overflow.
    fn math_check(ctx: Ctx, x: f64, r: f64, overflow: i8) [Pure, Pending];
    /// `math.sin(x)`; ValueError, OverflowError.
    fn math_sin(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.cos(x)`; ValueError, OverflowError.
    fn math_cos(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.tan(x)`; ValueError, OverflowError.
    fn math_tan(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.asin(x)`; ValueError, OverflowError.
    fn math_asin(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.acos(x)`; ValueError, OverflowError.
    fn math_acos(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.atan(x)`; ValueError, OverflowError.
    fn math_atan(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.sinh(x)`; ValueError, OverflowError.
    fn math_sinh(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.cosh(x)`; ValueError, OverflowError.
    fn math_cosh(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.tanh(x)`; ValueError, OverflowError.
    fn math_tanh(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.asinh(x)`; ValueError, OverflowError.
    fn math_asinh(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.acosh(x)`; ValueError, OverflowError.
    fn math_acosh(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.atanh(x)`; ValueError, OverflowError.
    fn math_atanh(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.exp(x)`; ValueError, OverflowError.
    fn math_exp(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.exp2(x)`; ValueError, OverflowError.
    fn math_exp2(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.expm1(x)`; ValueError, OverflowError.
    fn math_expm1(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.log(x)`; ValueError, OverflowError.
    fn math_log(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.log2(x)`; ValueError, OverflowError.
    fn math_log2(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.log10(x)`; ValueError, OverflowError.
    fn math_log10(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.log1p(x)`; ValueError, OverflowError.
    fn math_log1p(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.cbrt(x)`; ValueError, OverflowError.
    fn math_cbrt(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.gamma(x)`; ValueError, OverflowError.
    fn math_gamma(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.lgamma(x)`; ValueError, OverflowError.
    fn math_lgamma(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.sqrt(x)`; ValueError.
    fn math_sqrt(ctx: Ctx, x: f64) -> f64 [Pure, Pending];
    /// `math.log(x, base)`; ValueError, ZeroDivisionError.
    fn math_log_base(ctx: Ctx, x: f64, base: f64) -> f64 [Pure, Pending];
    /// `math.pow(a, b)`; ValueError, OverflowError.
    fn math_pow(ctx: Ctx, a: f64, b: f64) -> f64 [Pure, Pending];
    /// `math.fmod(a, b)`; ValueError.
    fn math_fmod(ctx: Ctx, a: f64, b: f64) -> f64 [Pure, Pending];
    /// `math.remainder(a, b)`; ValueError.
    fn math_remainder(ctx: Ctx, a: f64, b: f64) -> f64 [Pure, Pending];
    /// `math.ldexp(x, n)`; OverflowError.
    fn math_ldexp(ctx: Ctx, x: f64, n: i64) -> f64 [Pure, Pending];
    /// `math.hypot` of `n` coordinates.
    fn math_hypot_n(p: *const f64, n: i64) -> f64 [Reads, Never];
    /// `math.dist` of two points with `n` coordinates.
    fn math_dist(p: *const f64, q: *const f64, n: i64) -> f64 [Reads, Never];
    /// `math.fsum` of `n` numbers, `stride` bytes apart; OverflowError, ValueError.
    fn math_fsum(ctx: Ctx, p: *const f64, n: i64, stride: i64) -> f64 [Reads, Pending];
}

pub(crate) static OPS: &[OpDef] = &[];
