//! What a few instructions give for nearly all operands: computed in line, so that loops become vectors, and
//! where that does not reach a helper is asked, on a way that is hardly ever taken (`lir/opt/defer.rs` takes
//! it out of loops). Both ways give the same bits where both are right.

use super::without_host::{self, finite};
use super::{mathfn as m, number as num};
use crate::emit::cast::constant;
use crate::emit::cx::{LowerCx, Overflow};
use crate::exc::Class;
use crate::lir::{Op, Ty, Value};
use crate::rt::RtFn;

/// 2^52: whole numbers below it leave room for a half.
const EXACT: f64 = 4_503_599_627_370_496.0;
/// Powers of ten up to this one are floats.
const EXACT_TENS: i64 = 22;

/// `quick` where the condition holds, else what `slow` makes.
pub(crate) fn or_slowly(
    cx: &mut LowerCx<'_>,
    good: Value,
    quick: Value,
    slow: impl FnOnce(&mut LowerCx<'_>) -> Value,
) -> Value {
    let t = cx.b.ty(quick);
    let (again, done) = (cx.b.new_cold_block(&[]), cx.b.new_block(&[t]));
    cx.b.brif(good, done, &[quick], again, &[]);
    cx.b.switch_to(again);
    let result = slow(cx);
    cx.b.jump(done, &[result]);
    cx.b.switch_to(done);
    cx.b.params(done)[0]
}

/// What one helper gives where that is finite, and else another, which raises.
pub(crate) fn finite_or(
    cx: &mut LowerCx<'_>,
    args: &[Value],
    quick: &'static RtFn,
    checked: &'static RtFn,
) -> Value {
    let result = cx.helper_value(quick, args);
    if cx.options.numpy_errors { result } else { where_finite(cx, result, args, checked) }
}

/// A result that is right where it is finite, and else what a helper gives, which raises.
pub(crate) fn where_finite(
    cx: &mut LowerCx<'_>,
    result: Value,
    args: &[Value],
    checked: &'static RtFn,
) -> Value {
    let good = finite(cx, result);
    or_slowly(cx, good, result, |cx| judged(cx, args, result, checked))
}

/// `a / b` of Python's ints, rounded once: of 54 bits and more each would be rounded before it is divided. `small`
/// says which is known to have fewer.
pub(crate) fn int_quotient(
    cx: &mut LowerCx<'_>,
    quotient: Value,
    ints: [Value; 2],
    small: [bool; 2],
) -> Value {
    let Some(good) = are_floats(cx, ints, small) else { return quotient };
    or_slowly(cx, good, quotient, |cx| cx.helper_value(&num::int_true_div, &ints))
}

/// Whether integers are floats exactly, but those that are known to be `small`; none where all are known to be.
pub(crate) fn are_floats(cx: &mut LowerCx<'_>, ints: [Value; 2], small: [bool; 2]) -> Option<Value> {
    let parts: Vec<Value> = ints.iter().zip(small).filter(|(_, small)| !small).map(|(x, _)| *x).collect();
    let shifted: Vec<Value> = parts.iter().map(|x| cx.b.bin_imm(Op::Iadd, *x, 1 << 53)).collect();
    let all = shifted.into_iter().reduce(|a, b| cx.b.bin(Op::Bor, a, b))?;
    Some(cx.b.bin_imm(Op::IcmpUlt, all, 1 << 54))
}

/// The same of integers one of which has no sign, where Python's answer is promised: the quotient of others has its bits
/// from Python.
pub(crate) fn check_floats(cx: &mut LowerCx<'_>, ints: [Value; 2], small: [bool; 2]) {
    if cx.options.overflow == Overflow::Python
        && let Some(good) = are_floats(cx, ints, small)
    {
        cx.check(good, Class::IntegerOverflow, "the quotient of integers has more digits than 64 bits");
    }
}

/// What the helper `checked` makes of a result that is not finite.
fn judged(cx: &mut LowerCx<'_>, args: &[Value], result: Value, checked: &'static RtFn) -> Value {
    if cx.options.platform.slow_ways() {
        cx.helper_value(checked, args)
    } else {
        without_host::judged(cx, args, result, checked)
    }
}

/// `log(x) / log(base)`.
pub(crate) fn log_base(cx: &mut LowerCx<'_>, x: Value, base: Value) -> Value {
    let (a, b) = (cx.helper_value(&m::f64_log, &[x]), cx.helper_value(&m::f64_log, &[base]));
    let result = cx.b.bin(Op::Fdiv, a, b);
    if cx.options.numpy_errors {
        return result;
    }
    let (good, below) = (finite(cx, result), finite(cx, b));
    let good = cx.and(good, below);
    or_slowly(cx, good, result, |cx| judged(cx, &[x, base], result, &m::math_log_base))
}

/// The remainder of truncating division, exactly, and the rounded quotient. Where the quotient is not too
/// large, its whole part is right or one too many, and what is left of `a` is a float either way.
pub(crate) fn fmod(cx: &mut LowerCx<'_>, a: Value, b: Value, slow: &'static RtFn) -> (Value, Value) {
    let (x, y) = (crate::emit::cast::widen(cx, a), crate::emit::cast::widen(cx, b));
    let plain = cx.b.bin(Op::Fdiv, x, y);
    let whole = cx.b.un(Op::Ftrunc, plain);
    let down = cx.b.un(Op::Fneg, whole);
    let left = cx.b.ternary(Op::Fma, down, y, x);
    // As if `a` were positive.
    let (zero, one) = (cx.b.f64(0.0), cx.b.f64(1.0));
    let sign = cx.b.bin(Op::Fcopysign, one, x);
    let left = cx.b.bin(Op::Fmul, left, sign);
    let size = cx.b.un(Op::Fabs, y);
    let (more, over) = (cx.b.bin(Op::Fadd, left, size), cx.b.bin(Op::FcmpLt, left, zero));
    let left = cx.b.select(over, more, left);
    let left = cx.b.bin(Op::Fcopysign, left, x);
    let (times, limit, infinity) = (cx.b.un(Op::Fabs, plain), cx.b.f64(EXACT), cx.b.f64(f64::INFINITY));
    let (small, bounded) = (cx.b.bin(Op::FcmpLt, times, limit), cx.b.bin(Op::FcmpLt, size, infinity));
    let good = cx.and(small, bounded);
    let rest = or_slowly(cx, good, left, |cx| {
        if cx.options.platform.slow_ways() {
            cx.helper_value(slow, &[x, y])
        } else {
            without_host::fmod(cx, x, y, *slow == m::math_fmod)
        }
    });
    if cx.b.ty(a) == Ty::F32 {
        return (cx.b.conv(Op::Fconvert, Ty::F32, rest), cx.b.bin(Op::Fdiv, a, b));
    }
    (rest, plain)
}

/// `round(x, n)` of Python: the decimal nearest to the exact value, and the float nearest to that. The
/// product with 10^n is a sum of two floats, exactly, whose second says where halves go; a whole number by
/// 10^n is rounded once.
pub(crate) fn decimals(cx: &mut LowerCx<'_>, x: Value, n: i64) -> Option<Value> {
    if !(0..=EXACT_TENS).contains(&n) {
        return None;
    }
    let scale = 10f64.powi(n as i32);
    let (by, zero, one) = (cx.b.f64(scale), cx.b.f64(0.0), cx.b.f64(1.0));
    let hi = cx.b.bin(Op::Fmul, x, by);
    let less = cx.b.un(Op::Fneg, hi);
    let lo = cx.b.ternary(Op::Fma, x, by, less);
    let near = cx.b.un(Op::Fnearest, hi);
    // The first part is halfway, so its neighbour on the other side is as near: the second part decides, if
    // it points there.
    let off = cx.b.bin(Op::Fsub, hi, near);
    let (size, half) = (cx.b.un(Op::Fabs, off), cx.b.f64(0.5));
    let halfway = cx.b.bin(Op::FcmpEq, size, half);
    let side = cx.b.bin(Op::Fmul, off, lo);
    let points = cx.b.bin(Op::FcmpGt, side, zero);
    let other = cx.and(halfway, points);
    let step = cx.b.bin(Op::Fcopysign, one, off);
    let next = cx.b.bin(Op::Fadd, near, step);
    let whole = cx.b.select(other, next, near);
    let whole = cx.b.bin(Op::Fcopysign, whole, x);
    let quick = cx.b.bin(Op::Fdiv, whole, by);
    let (size, limit) = (cx.b.un(Op::Fabs, hi), cx.b.f64(EXACT));
    let good = cx.b.bin(Op::FcmpLt, size, limit);
    Some(or_slowly(cx, good, quick, |cx| {
        let n = cx.b.i64(n);
        any_decimals(cx, x, n)
    }))
}

/// `round(x, n)`, whatever the number of decimals.
pub(crate) fn any_decimals(cx: &mut LowerCx<'_>, x: Value, n: Value) -> Value {
    if cx.options.platform.slow_ways() {
        cx.helper_value(&num::float_round, &[x, n])
    } else {
        without_host::decimals(cx, x, n)
    }
}

/// The modulus of a complex number; OverflowError.
pub(crate) fn modulus(cx: &mut LowerCx<'_>, z: &[Value]) -> Value {
    if cx.options.platform.slow_ways() {
        cx.helper_value(&num::cmath_modulus, z)
    } else {
        super::complex_without_host::modulus(cx, [z[0], z[1]])
    }
}

/// The remainder of `x` by `y` that is nearest to zero; ValueError.
pub(crate) fn ieee_remainder(cx: &mut LowerCx<'_>, x: Value, y: Value) -> Value {
    if cx.options.platform.slow_ways() {
        cx.helper_value(&m::math_remainder, &[x, y])
    } else {
        without_host::ieee_remainder(cx, x, y)
    }
}

/// `np.round(x, n)`: scaled, rounded, scaled back.
pub(crate) fn np_decimals(cx: &mut LowerCx<'_>, x: Value, n: i64) -> Option<Value> {
    if n.abs() > EXACT_TENS {
        return None;
    }
    if n == 0 {
        return Some(cx.b.un(Op::Fnearest, x));
    }
    let t = cx.b.ty(x);
    let by = constant(cx, t, 10f64.powi(n.unsigned_abs() as i32));
    let (there, back) = if n > 0 { (Op::Fmul, Op::Fdiv) } else { (Op::Fdiv, Op::Fmul) };
    let scaled = cx.b.bin(there, x, by);
    let near = cx.b.un(Op::Fnearest, scaled);
    Some(cx.b.bin(back, near, by))
}

/// `x * 2^n`.
pub(crate) fn ldexp(cx: &mut LowerCx<'_>, x: Value, n: Value) -> Value {
    let exponent = cx.b.bin_imm(Op::Iadd, n, 1023);
    let bits = cx.b.bin_imm(Op::Ishl, exponent, 52);
    let power = cx.b.conv(Op::Bitcast, Ty::F64, bits);
    let result = cx.b.bin(Op::Fmul, x, power);
    let size = cx.b.conv(Op::SintToF, Ty::F64, n);
    let (size, limit) = (cx.b.un(Op::Fabs, size), cx.b.f64(1022.0));
    let (ordinary, bounded) = (cx.b.bin(Op::FcmpLe, size, limit), finite(cx, result));
    let good = cx.and(ordinary, bounded);
    or_slowly(cx, good, result, |cx| {
        if cx.options.platform.slow_ways() {
            cx.helper_value(&m::math_ldexp, &[x, n])
        } else {
            without_host::ldexp(cx, x, n)
        }
    })
}

/// Mantissa and exponent.
pub(crate) fn frexp(cx: &mut LowerCx<'_>, x: Value) -> [Value; 2] {
    let (zero, least, infinity) = (cx.b.f64(0.0), cx.b.f64(f64::MIN_POSITIVE), cx.b.f64(f64::INFINITY));
    let size = cx.b.un(Op::Fabs, x);
    // A number without a full exponent is scaled up.
    let (small, up) = (cx.b.bin(Op::FcmpLt, size, least), cx.b.f64(18_014_398_509_481_984.0));
    let scaled = cx.b.bin(Op::Fmul, x, up);
    let full = cx.b.select(small, scaled, x);
    let bits = cx.b.conv(Op::Bitcast, Ty::I64, full);
    let kept = cx.b.bin_imm(Op::Band, bits, !(0x7ff << 52));
    let half = cx.b.bin_imm(Op::Bor, kept, 1022 << 52);
    let mantissa = cx.b.conv(Op::Bitcast, Ty::F64, half);
    let field = cx.b.bin_imm(Op::Ushr, bits, 52);
    let field = cx.b.bin_imm(Op::Band, field, 0x7ff);
    let (large, lower) = (cx.b.i64(1022), cx.b.i64(1022 + 54));
    let bias = cx.b.select(small, lower, large);
    let (exponent, none) = (cx.b.bin(Op::Isub, field, bias), cx.b.i64(0));
    let (some, bounded) = (cx.b.bin(Op::FcmpGt, size, zero), cx.b.bin(Op::FcmpLt, size, infinity));
    let split = cx.and(some, bounded);
    [cx.b.select(split, mantissa, x), cx.b.select(split, exponent, none)]
}

/// `x ** 3`: nothing of the square is lost, so the power is rounded once but for what hardly ever shows. One that
/// is too large is infinite where that is `quiet`.
pub(crate) fn cube(cx: &mut LowerCx<'_>, x: Value, exponent: Value, quiet: bool) -> Value {
    if cx.b.ty(x) == Ty::F32 {
        let wide = crate::emit::cast::widen(cx, x);
        let square = cx.b.bin(Op::Fmul, wide, wide);
        let cube = cx.b.bin(Op::Fmul, square, wide);
        return cx.b.conv(Op::Fconvert, Ty::F32, cube);
    }
    let square = cx.b.bin(Op::Fmul, x, x);
    let less = cx.b.un(Op::Fneg, square);
    let lost = cx.b.ternary(Op::Fma, x, x, less);
    let small = cx.b.bin(Op::Fmul, lost, x);
    let result = cx.b.ternary(Op::Fma, square, x, small);
    let good = finite(cx, result);
    or_slowly(cx, good, result, |cx| {
        if quiet {
            cx.helper_value(&m::f64_pow, &[x, exponent])
        } else {
            judged(cx, &[x, exponent], result, &num::float_pow)
        }
    })
}

/// `a // b` of floats as CPython computes it.
pub(crate) fn float_floordiv(cx: &mut LowerCx<'_>, a: Value, b: Value) -> Value {
    float_divmod(cx, a, b).0
}

/// `a % b` of floats as CPython computes it.
pub(crate) fn float_mod(cx: &mut LowerCx<'_>, a: Value, b: Value) -> Value {
    float_divmod(cx, a, b).1
}

/// Quotient rounded down and remainder with the divisor's sign; a zero divisor gives NumPy's answers.
pub(crate) fn float_divmod(cx: &mut LowerCx<'_>, a: Value, b: Value) -> (Value, Value) {
    let t = cx.b.ty(a);
    let zero = cx.zero(t);
    let one = if t == Ty::F32 { cx.b.f32(1.0) } else { cx.b.f64(1.0) };
    let half = if t == Ty::F32 { cx.b.f32(0.5) } else { cx.b.f64(0.5) };
    let (rem, plain) = fmod(cx, a, b, &num::real_fmod);
    let whole = cx.b.bin(Op::Fsub, a, rem);
    let quot = cx.b.bin(Op::Fdiv, whole, b);
    let inexact = cx.b.bin(Op::FcmpNe, rem, zero);
    let (rem_neg, b_neg) = (cx.b.bin(Op::FcmpLt, rem, zero), cx.b.bin(Op::FcmpLt, b, zero));
    let differ = cx.b.bin(Op::IcmpNe, rem_neg, b_neg);
    let adjust = cx.and(inexact, differ);
    let (rem_up, quot_down) = (cx.b.bin(Op::Fadd, rem, b), cx.b.bin(Op::Fsub, quot, one));
    let adjusted_rem = cx.b.select(adjust, rem_up, rem);
    let quot = cx.b.select(adjust, quot_down, quot);
    let signed_zero = cx.b.bin(Op::Fcopysign, zero, b);
    let modulo = cx.b.select(inexact, adjusted_rem, signed_zero);
    let floor = cx.b.un(Op::Ffloor, quot);
    let frac = cx.b.bin(Op::Fsub, quot, floor);
    let round_up = cx.b.bin(Op::FcmpGt, frac, half);
    let floor_up = cx.b.bin(Op::Fadd, floor, one);
    let rounded = cx.b.select(round_up, floor_up, floor);
    let zero_quot = cx.b.bin(Op::Fcopysign, zero, plain);
    let nonzero = cx.b.bin(Op::FcmpNe, quot, zero);
    let floordiv = cx.b.select(nonzero, rounded, zero_quot);
    let b_zero = cx.b.bin(Op::FcmpEq, b, zero);
    (cx.b.select(b_zero, plain, floordiv), cx.b.select(b_zero, rem, modulo))
}
