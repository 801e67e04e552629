//! The number family as compiled code calls it.

use super::cmath::{self, Answer, Complex, Trouble, complex};
use super::{hash, round};
use crate::Native;
use crate::exc::{Error, Res, raising};
use tierup_core::ops::number::Helpers;
use tierup_core::rt::Ctx;

/// Writes a complex result.
///
/// # Safety
/// `out` has room for two numbers.
unsafe fn put(out: *mut f64, z: Complex) {
    // SAFETY: as required of the caller; the room may lie anyhow.
    unsafe { out.cast::<[f64; 2]>().write_unaligned([z.re, z.im]) }
}

/// Writes a result or raises what went wrong.
///
/// # Safety
/// `ctx` is live and `out` has room for two numbers.
unsafe fn put_or_raise(
    ctx: Ctx,
    out: *mut f64,
    (z, trouble): Answer,
    domain: fn() -> Error,
    range: fn() -> Error,
) {
    // SAFETY: as required of the caller.
    unsafe {
        put(out, z);
        match trouble {
            Trouble::None => {}
            Trouble::Domain => domain().raise(ctx),
            Trouble::Range => range().raise(ctx),
        }
    }
}
pub(crate) fn domain_error() -> Error {
    Error::value("math domain error")
}
pub(crate) fn range_error() -> Error {
    Error::overflow("math range error")
}
fn in_range((x, trouble): (f64, Trouble), error: fn() -> Error) -> Res<f64> {
    if trouble == Trouble::None { Ok(x) } else { Err(error()) }
}

/// Quotient and remainder as Python has them.
fn floor_division(a: f64, b: f64, by_zero: &'static str) -> Res<(f64, f64)> {
    if b == 0.0 { Err(Error::zero_division(by_zero)) } else { Ok(super::divmod_f64(a, b)) }
}

/// `cmath` functions with their errors, and NumPy's without.
macro_rules! complex_functions {
    (raising { $($name:ident = $f:expr;)* } quiet { $($np:ident = $g:expr;)* }) => {
        $(unsafe fn $name(ctx: Ctx, re: f64, im: f64, out: *mut f64) {
            let answer = $f(complex(re, im));
            // SAFETY: compiled code passes its live context, and room for a complex number.
            unsafe { put_or_raise(ctx, out, answer, domain_error, range_error) }
        })*
        $(unsafe fn $np(re: f64, im: f64, out: *mut f64) {
            let answer = $g(complex(re, im));
            // SAFETY: compiled code passes room for a complex number.
            unsafe { put(out, answer) }
        })*
    };
}
fn quiet(f: fn(Complex) -> Answer) -> impl Fn(Complex) -> Complex {
    move |z| f(z).0
}

impl Helpers for Native {
    unsafe fn real_fmod(a: f64, b: f64) -> f64 {
        a % b
    }
    unsafe fn int_pow(base: i64, exp: i64) -> i64 {
        super::int_pow(base, exp)
    }
    unsafe fn uint_pow(base: i64, exp: i64) -> i64 {
        super::uint_pow(base as u64, exp as u64) as i64
    }
    unsafe fn int_pow_overflows(base: i64, exp: i64, unsigned: i64) -> i64 {
        i64::from(super::pow_overflows(base, exp, unsigned & 1 != 0, unsigned & 2 != 0))
    }
    raising! {
        fn int_pow_checked(base: i64, exp: i64) -> i64 = super::int_pow_checked(base, exp);
        fn int_pow_mod(base: i64, exp: i64, modulus: i64) -> i64 = super::pow_mod(base, exp, modulus);
    }
    unsafe fn int_true_div(a: i64, b: i64) -> f64 {
        super::true_quotient(a, b)
    }
    unsafe fn int_gcd(a: i64, b: i64) -> i64 {
        super::gcd(a.unsigned_abs(), b.unsigned_abs()) as i64
    }
    unsafe fn uint_gcd(a: i64, b: i64) -> i64 {
        super::gcd(a as u64, b as u64) as i64
    }
    unsafe fn uint_isqrt(n: i64) -> i64 {
        (n as u64).isqrt() as i64
    }
    unsafe fn int_lcm(a: i64, b: i64) -> i64 {
        super::lcm(a.unsigned_abs(), b.unsigned_abs()) as i64
    }
    unsafe fn uint_lcm(a: i64, b: i64) -> i64 {
        super::lcm(a as u64, b as u64) as i64
    }
    raising! {
        fn int_isqrt(n: i64) -> i64 = super::isqrt(n);
        fn int_factorial(n: i64) -> i64 = super::factorial(n);
        fn int_comb(n: i64, k: i64) -> i64 = super::comb(n, k);
        fn int_perm(n: i64, k: i64) -> i64 = super::perm(n, k);
    }
    unsafe fn int_bit_length(n: i64) -> i64 {
        64 - n.unsigned_abs().leading_zeros() as i64
    }
    raising! {
        fn int_round(n: i64, ndigits: i64) -> i64 = round::int(n, ndigits);
        fn float_to_int(x: f64) -> i64 = round::to_int(x.trunc());
        fn float_round_to_int(x: f64) -> i64 = round::to_int(x.round_ties_even());
        fn float_floor_to_int(x: f64) -> i64 = round::to_int(x.floor());
        fn float_ceil_to_int(x: f64) -> i64 = round::to_int(x.ceil());
        fn float_round(x: f64, ndigits: i64) -> f64 = round::decimals(x, ndigits);
    }
    unsafe fn np_round_f64(x: f64, decimals: i64) -> f64 {
        round::np_f64(x, decimals)
    }
    unsafe fn np_round_f32(x: f32, decimals: i64) -> f32 {
        round::np_f32(x, decimals)
    }
    raising! {
        fn float_pow(a: f64, b: f64) -> f64 = super::float_pow(a, b);
        fn float_floordiv(a: f64, b: f64) -> f64 =
            floor_division(a, b, "float floor division by zero").map(|(quotient, _)| quotient);
        fn float_mod(a: f64, b: f64) -> f64 =
            floor_division(a, b, "float modulo").map(|(_, remainder)| remainder);
    }
    unsafe fn np_floordiv_f64(a: f64, b: f64) -> f64 {
        if b == 0.0 { a / b } else { super::divmod_f64(a, b).0 }
    }
    unsafe fn np_floordiv_f32(a: f32, b: f32) -> f32 {
        if b == 0.0 { a / b } else { super::divmod_f32(a, b).0 }
    }
    unsafe fn np_mod_f64(a: f64, b: f64) -> f64 {
        if b == 0.0 { f64::NAN } else { super::divmod_f64(a, b).1 }
    }
    unsafe fn np_mod_f32(a: f32, b: f32) -> f32 {
        if b == 0.0 { f32::NAN } else { super::divmod_f32(a, b).1 }
    }
    unsafe fn int_hash(n: i64) -> i64 {
        hash::int(n)
    }
    unsafe fn uint_hash(n: i64) -> i64 {
        hash::uint(n as u64)
    }
    unsafe fn float_hash(x: f64) -> i64 {
        hash::float(x)
    }
    unsafe fn complex_hash(re: f64, im: f64) -> i64 {
        hash::complex(re, im)
    }
    unsafe fn none_hash() -> i64 {
        hash::NONE.load(std::sync::atomic::Ordering::Relaxed)
    }
    unsafe fn tuple_hash(hashes: *const i64, n: i64) -> i64 {
        // SAFETY: compiled code passes `n` hashes.
        hash::tuple(unsafe { crate::raw_slice(hashes, n) })
    }

    unsafe fn complex_div(ctx: Ctx, ar: f64, ai: f64, br: f64, bi: f64, out: *mut f64) {
        let by_zero = || Error::zero_division("complex division by zero");
        let answer = cmath::div(complex(ar, ai), complex(br, bi));
        // SAFETY: compiled code passes its live context, and room for the quotient.
        unsafe { put_or_raise(ctx, out, answer, by_zero, range_error) }
    }
    unsafe fn np_complex_div(ar: f64, ai: f64, br: f64, bi: f64, out: *mut f64) {
        // SAFETY: compiled code passes room for the quotient.
        unsafe { put(out, cmath::np_div(complex(ar, ai), complex(br, bi))) }
    }
    unsafe fn complex_pow(ctx: Ctx, ar: f64, ai: f64, br: f64, bi: f64, out: *mut f64) {
        let zero = || Error::zero_division("0.0 to a negative or complex power");
        let overflow = || Error::overflow("complex exponentiation");
        let answer = cmath::pow(complex(ar, ai), complex(br, bi));
        // SAFETY: compiled code passes its live context, and room for the power.
        unsafe { put_or_raise(ctx, out, answer, zero, overflow) }
    }
    unsafe fn np_complex_pow(ar: f64, ai: f64, br: f64, bi: f64, out: *mut f64) {
        // SAFETY: compiled code passes room for the power.
        unsafe { put(out, cmath::np_pow(complex(ar, ai), complex(br, bi))) }
    }
    raising! {
        fn complex_abs(re: f64, im: f64) -> f64 =
            in_range(cmath::abs(complex(re, im)), || Error::overflow("absolute value too large"));
        fn cmath_modulus(re: f64, im: f64) -> f64 = in_range(cmath::abs(complex(re, im)), range_error);
    }
    unsafe fn cmath_rect(ctx: Ctx, r: f64, phi: f64, out: *mut f64) {
        // SAFETY: compiled code passes its live context, and room for a complex number.
        unsafe { put_or_raise(ctx, out, cmath::rect(r, phi), domain_error, range_error) }
    }

    complex_functions! {
        raising {
        cmath_acos = cmath::acos;
        cmath_acosh = cmath::acosh;
        cmath_asin = cmath::asin;
        cmath_asinh = cmath::asinh;
        cmath_atan = cmath::atan;
        cmath_atanh = cmath::atanh;
        cmath_cos = cmath::cos;
        cmath_cosh = cmath::cosh;
        cmath_exp = cmath::exp;
        cmath_log = cmath::log_complex;
        cmath_log10 = cmath::log10;
        cmath_sin = cmath::sin;
        cmath_sinh = cmath::sinh;
        cmath_sqrt = cmath::sqrt;
        cmath_tan = cmath::tan;
        cmath_tanh = cmath::tanh;
        }
        quiet {
        np_complex_acos = quiet(cmath::acos);
        np_complex_acosh = cmath::np_acosh;
        np_complex_asin = quiet(cmath::asin);
        np_complex_asinh = quiet(cmath::asinh);
        np_complex_atan = quiet(cmath::atan);
        np_complex_atanh = quiet(cmath::atanh);
        np_complex_cos = quiet(cmath::cos);
        np_complex_cosh = quiet(cmath::cosh);
        np_complex_exp = quiet(cmath::exp);
        np_complex_exp2 = cmath::exp2;
        np_complex_expm1 = cmath::expm1;
        np_complex_log = quiet(cmath::log_complex);
        np_complex_log2 = cmath::log2;
        np_complex_log10 = cmath::np_log10;
        np_complex_log1p = cmath::log1p;
        np_complex_sin = quiet(cmath::sin);
        np_complex_sinh = quiet(cmath::sinh);
        np_complex_sqrt = quiet(cmath::sqrt);
        np_complex_tan = cmath::np_tan;
        np_complex_tanh = cmath::np_tanh;
        }
    }
}
