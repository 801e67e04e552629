//! Arithmetic on Python numbers that takes more than a few instructions: powers, float division, rounding,
//! integer functions, complex numbers, hashes.
//!
//! `float_*` and `complex_*` follow Python and raise; `np_*` follow NumPy and do not. Complex results go to
//! the two numbers at `out`.

use super::OpDef;
use crate::rt::Ctx;

crate::runtime_fns! {
    /// Numbers.
    trait Helpers;
    /// `base ** exp` modulo 2⁶⁴; a negative exponent gives the truncated quotient (0 but for bases 1 and -1).
    fn int_pow(base: i64, exp: i64) -> i64 [Pure, Never];
    /// `base ** exp` modulo 2⁶⁴, exponent unsigned.
    fn uint_pow(base: i64, exp: i64) -> i64 [Pure, Never];
    /// Whether `base ** exp` does not fit in 64 bits; bits of `unsigned` say that the base (1) and the
    /// exponent (2) are.
    fn int_pow_overflows(base: i64, exp: i64, unsigned: i64) -> i64 [Pure, Never];
    /// NumPy's integer power; ValueError for a negative exponent.
    fn int_pow_checked(ctx: Ctx, base: i64, exp: i64) -> i64 [Pure, Pending];
    /// `pow(base, exp, modulus)`; ValueError.
    fn int_pow_mod(ctx: Ctx, base: i64, exp: i64, modulus: i64) -> i64 [Pure, Pending];
    /// `a / b`, rounded once; of a divisor that is not zero.
    fn int_true_div(a: i64, b: i64) -> f64 [Pure, Never];
    /// Greatest common divisor, not negative (but for -2⁶³ with 0 or itself, which wraps).
    fn int_gcd(a: i64, b: i64) -> i64 [Pure, Never];
    /// Greatest common divisor of unsigned numbers.
    fn uint_gcd(a: i64, b: i64) -> i64 [Pure, Never];
    /// The integer square root of 64 bits without a sign.
    fn uint_isqrt(n: i64) -> i64 [Pure, Never];
    /// Least common multiple modulo 2⁶⁴, of magnitudes.
    fn int_lcm(a: i64, b: i64) -> i64 [Pure, Never];
    /// Least common multiple of unsigned numbers, modulo 2⁶⁴.
    fn uint_lcm(a: i64, b: i64) -> i64 [Pure, Never];
    /// `math.isqrt(n)`; ValueError.
    fn int_isqrt(ctx: Ctx, n: i64) -> i64 [Pure, Pending];
    /// `math.factorial(n)`; ValueError, and OverflowError from 21 on.
    fn int_factorial(ctx: Ctx, n: i64) -> i64 [Pure, Pending];
    /// `math.comb(n, k)`; ValueError, OverflowError.
    fn int_comb(ctx: Ctx, n: i64, k: i64) -> i64 [Pure, Pending];
    /// `math.perm(n, k)`; ValueError, OverflowError.
    fn int_perm(ctx: Ctx, n: i64, k: i64) -> i64 [Pure, Pending];
    /// `n.bit_length()`.
    fn int_bit_length(n: i64) -> i64 [Pure, Never];
    /// `round(n, ndigits)` of an int; OverflowError past 64 bits.
    fn int_round(ctx: Ctx, n: i64, ndigits: i64) -> i64 [Pure, Pending];
    /// `int(x)`: truncates; ValueError for NaN, OverflowError for infinity and past 64 bits.
    fn float_to_int(ctx: Ctx, x: f64) -> i64 [Pure, Pending];
    /// `round(x)`: to nearest, ties to even; errors as `float_to_int`.
    fn float_round_to_int(ctx: Ctx, x: f64) -> i64 [Pure, Pending];
    /// `math.floor(x)`; errors as `float_to_int`.
    fn float_floor_to_int(ctx: Ctx, x: f64) -> i64 [Pure, Pending];
    /// `math.ceil(x)`; errors as `float_to_int`.
    fn float_ceil_to_int(ctx: Ctx, x: f64) -> i64 [Pure, Pending];
    /// `round(x, ndigits)`, correctly rounded; OverflowError.
    fn float_round(ctx: Ctx, x: f64, ndigits: i64) -> f64 [Pure, Pending];
    /// `np.round(x, decimals)`: scales, rounds to nearest even, scales back.
    fn np_round_f64(x: f64, decimals: i64) -> f64 [Pure, Never];
    /// `np.round(x, decimals)` of float32.
    fn np_round_f32(x: f32, decimals: i64) -> f32 [Pure, Never];
    /// `a ** b`; ZeroDivisionError, OverflowError. A negative base with a fractional exponent gives NaN, for
    /// the type is float.
    fn float_pow(ctx: Ctx, a: f64, b: f64) -> f64 [Pure, Pending];
    /// Remainder of truncating division, exact; NaN for a zero divisor.
    fn real_fmod(a: f64, b: f64) -> f64 [Pure, Never];
    /// `a // b`; ZeroDivisionError.
    fn float_floordiv(ctx: Ctx, a: f64, b: f64) -> f64 [Pure, Pending];
    /// `a % b`; ZeroDivisionError.
    fn float_mod(ctx: Ctx, a: f64, b: f64) -> f64 [Pure, Pending];
    /// `np.floor_divide`.
    fn np_floordiv_f64(a: f64, b: f64) -> f64 [Pure, Never];
    /// `np.floor_divide` of float32.
    fn np_floordiv_f32(a: f32, b: f32) -> f32 [Pure, Never];
    /// `np.remainder`: sign of the divisor.
    fn np_mod_f64(a: f64, b: f64) -> f64 [Pure, Never];
    /// `np.remainder` of float32.
    fn np_mod_f32(a: f32, b: f32) -> f32 [Pure, Never];
    /// `hash(n)` of an int.
    fn int_hash(n: i64) -> i64 [Pure, Never];
    /// `hash(n)` of an unsigned int.
    fn uint_hash(n: i64) -> i64 [Pure, Never];
    /// `hash(x)` of a float; NaN hashes to 0.
    fn float_hash(x: f64) -> i64 [Pure, Never];
    /// `hash(complex(re, im))`.
    fn complex_hash(re: f64, im: f64) -> i64 [Pure, Never];
    /// `hash(None)`, which differs between processes before Python 3.12.
    fn none_hash() -> i64 [Reads, Never];
    /// `hash` of a tuple from the hashes of its `n` members.
    fn tuple_hash(hashes: *const i64, n: i64) -> i64 [Reads, Never];
    /// `a / b`; ZeroDivisionError.
    fn complex_div(ctx: Ctx, ar: f64, ai: f64, br: f64, bi: f64, out: *mut f64) [Writes, Pending];
    /// `a / b` by NumPy.
    fn np_complex_div(ar: f64, ai: f64, br: f64, bi: f64, out: *mut f64) [Writes, Never];
    /// `a ** b`; ZeroDivisionError, OverflowError.
    fn complex_pow(ctx: Ctx, ar: f64, ai: f64, br: f64, bi: f64, out: *mut f64) [Writes, Pending];
    /// `a ** b` by NumPy.
    fn np_complex_pow(ar: f64, ai: f64, br: f64, bi: f64, out: *mut f64) [Writes, Never];
    /// `abs(complex(re, im))`; OverflowError.
    fn complex_abs(ctx: Ctx, re: f64, im: f64) -> f64 [Pure, Pending];
    /// `cmath.polar`'s modulus; OverflowError "math range error".
    fn cmath_modulus(ctx: Ctx, re: f64, im: f64) -> f64 [Pure, Pending];
    /// `cmath.rect(r, phi)`; ValueError.
    fn cmath_rect(ctx: Ctx, r: f64, phi: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.acos`; ValueError, OverflowError.
    fn cmath_acos(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.acosh`; ValueError, OverflowError.
    fn cmath_acosh(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.asin`; ValueError, OverflowError.
    fn cmath_asin(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.asinh`; ValueError, OverflowError.
    fn cmath_asinh(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.atan`; ValueError, OverflowError.
    fn cmath_atan(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.atanh`; ValueError, OverflowError.
    fn cmath_atanh(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.cos`; ValueError, OverflowError.
    fn cmath_cos(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.cosh`; ValueError, OverflowError.
    fn cmath_cosh(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.exp`; ValueError, OverflowError.
    fn cmath_exp(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.log` (natural); ValueError.
    fn cmath_log(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.log10`; ValueError.
    fn cmath_log10(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.sin`; ValueError, OverflowError.
    fn cmath_sin(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.sinh`; ValueError, OverflowError.
    fn cmath_sinh(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.sqrt`.
    fn cmath_sqrt(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.tan`; ValueError, OverflowError.
    fn cmath_tan(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `cmath.tanh`; ValueError.
    fn cmath_tanh(ctx: Ctx, re: f64, im: f64, out: *mut f64) [Writes, Pending];
    /// `np.arccos` of complex128.
    fn np_complex_acos(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.arccosh` of complex128.
    fn np_complex_acosh(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.arcsin` of complex128.
    fn np_complex_asin(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.arcsinh` of complex128.
    fn np_complex_asinh(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.arctan` of complex128.
    fn np_complex_atan(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.arctanh` of complex128.
    fn np_complex_atanh(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.cos` of complex128.
    fn np_complex_cos(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.cosh` of complex128.
    fn np_complex_cosh(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.exp` of complex128.
    fn np_complex_exp(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.exp2` of complex128.
    fn np_complex_exp2(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.expm1` of complex128.
    fn np_complex_expm1(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.log` of complex128.
    fn np_complex_log(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.log2` of complex128.
    fn np_complex_log2(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.log10` of complex128.
    fn np_complex_log10(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.log1p` of complex128.
    fn np_complex_log1p(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.sin` of complex128.
    fn np_complex_sin(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.sinh` of complex128.
    fn np_complex_sinh(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.sqrt` of complex128.
    fn np_complex_sqrt(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.tan` of complex128.
    fn np_complex_tan(re: f64, im: f64, out: *mut f64) [Writes, Never];
    /// `np.tanh` of complex128.
    fn np_complex_tanh(re: f64, im: f64, out: *mut f64) [Writes, Never];
}

pub(crate) static OPS: &[OpDef] = &[];
