//! What [`super::quick`] does where its quick ways do not reach and no helper of the host can be asked: on a
//! GPU.

use super::{mathfn as m, number as num};
use crate::emit::cast::constant;
use crate::emit::cx::LowerCx;
use crate::exc::Class;
use crate::lir::{Op, Ty, Value};
use crate::rt::RtFn;

/// Scales numbers without a full exponent, exactly.
const UP: f64 = 1.606_938_044_258_990_3e60; // 2^200
const SMALL: f64 = 1e-240;

/// Whether a float is neither infinite nor NaN.
pub(super) fn finite(cx: &mut LowerCx<'_>, x: Value) -> Value {
    let t = cx.b.ty(x);
    let (size, infinity) = (cx.b.un(Op::Fabs, x), constant(cx, t, f64::INFINITY));
    cx.b.bin(Op::FcmpLt, size, infinity)
}

/// A result that is not finite: raises what the helper `checked` would.
pub(super) fn judged(cx: &mut LowerCx<'_>, args: &[Value], result: Value, checked: &'static RtFn) -> Value {
    let (mut numbers, mut bounded) = (cx.b.bool(true), cx.b.bool(true));
    for a in args {
        let (number, finite) = (cx.b.bin(Op::FcmpEq, *a, *a), finite(cx, *a));
        numbers = cx.and(numbers, number);
        bounded = cx.and(bounded, finite);
    }
    let is_nan = cx.b.bin(Op::FcmpUno, result, result);
    let wrong = cx.and(is_nan, numbers);
    let ok = cx.not(wrong);
    cx.check(ok, Class::ValueError, "math domain error");
    let infinite = cx.not(is_nan);
    let grown = cx.and(infinite, bounded);
    let ok = cx.not(grown);
    let poles =
        [&m::math_log, &m::math_log2, &m::math_log10, &m::math_log1p, &m::math_log_base, &m::math_atanh];
    if poles.contains(&checked) {
        cx.check(ok, Class::ValueError, "math domain error");
        return result;
    }
    // A pole at zero and below, or at zero.
    let gammas = [&m::math_gamma, &m::math_lgamma].contains(&checked);
    if gammas || [&m::math_pow, &num::float_pow].contains(&checked) {
        let zero = cx.b.f64(0.0);
        let at = cx.b.bin(if gammas { Op::FcmpLe } else { Op::FcmpEq }, args[0], zero);
        let pole = cx.and(at, grown);
        let ok = cx.not(pole);
        let class = if *checked == num::float_pow { Class::ZeroDivisionError } else { Class::ValueError };
        cx.check(ok, class, "math domain error");
    }
    cx.check(ok, Class::OverflowError, "math range error");
    result
}

/// The remainder of truncating division, whatever the operands; where there is none NaN, or ValueError.
pub(super) fn fmod(cx: &mut LowerCx<'_>, x: Value, y: Value, raises: bool) -> Value {
    let (zero, nan) = (cx.b.f64(0.0), cx.b.f64(f64::NAN));
    let (a, b) = (cx.b.un(Op::Fabs, x), cx.b.un(Op::Fabs, y));
    // Neither operand is NaN, the first is finite, the second not zero.
    let (bounded, some) = (finite(cx, x), cx.b.bin(Op::FcmpGt, b, zero));
    let good = cx.and(bounded, some);
    if raises {
        let (x_is, y_is) = (cx.b.bin(Op::FcmpUno, x, x), cx.b.bin(Op::FcmpUno, y, y));
        let unknown = cx.or(x_is, y_is);
        let ok = cx.or(good, unknown);
        cx.check(ok, Class::ValueError, "math domain error");
    }
    let a = cx.b.select(good, a, zero);
    // A divisor without a full exponent is scaled up; then what is left of the dividend too.
    let (limit, up) = (cx.b.f64(SMALL), cx.b.f64(UP));
    let tiny = cx.b.bin(Op::FcmpLt, b, limit);
    let scaled = cx.b.bin(Op::Fmul, b, up);
    let by = cx.b.select(tiny, scaled, b);
    let left = remainder(cx, a, by);
    let raised = cx.b.bin(Op::Fmul, left, up);
    let left = cx.b.select(tiny, raised, left);
    let left = remainder(cx, left, by);
    let down = cx.b.f64(1.0 / UP);
    let lowered = cx.b.bin(Op::Fmul, left, down);
    let left = cx.b.select(tiny, lowered, left);
    let left = cx.b.bin(Op::Fcopysign, left, x);
    cx.b.select(good, left, nan)
}

/// The remainder of numbers that are not negative, the divisor with a full exponent or infinite: multiples by
/// powers of two are taken away, each exactly, from the greatest on.
fn remainder(cx: &mut LowerCx<'_>, a: Value, b: Value) -> Value {
    let (head, inside, done) = (cx.b.new_block(&[Ty::F64]), cx.b.new_block(&[]), cx.b.new_block(&[]));
    cx.b.jump(head, &[a]);
    cx.b.switch_to(head);
    let left = cx.b.params(head)[0];
    let more = cx.b.bin(Op::FcmpGe, left, b);
    cx.b.brif(more, inside, &[], done, &[]);
    cx.b.switch_to(inside);
    let (high, low) = (cx.b.conv(Op::Bitcast, Ty::I64, left), cx.b.conv(Op::Bitcast, Ty::I64, b));
    let (e, f) = (cx.b.bin_imm(Op::Ushr, high, 52), cx.b.bin_imm(Op::Ushr, low, 52));
    let more = cx.b.bin(Op::Isub, e, f);
    let shift = cx.b.bin_imm(Op::Ishl, more, 52);
    let bits = cx.b.bin(Op::Iadd, low, shift);
    let multiple = cx.b.conv(Op::Bitcast, Ty::F64, bits);
    let half = cx.b.f64(0.5);
    let less = cx.b.bin(Op::Fmul, multiple, half);
    let over = cx.b.bin(Op::FcmpGt, multiple, left);
    let multiple = cx.b.select(over, less, multiple);
    let rest = cx.b.bin(Op::Fsub, left, multiple);
    cx.b.jump(head, &[rest]);
    cx.b.switch_to(done);
    left
}

/// `x * 2^n` with one rounding; OverflowError.
pub(super) fn ldexp(cx: &mut LowerCx<'_>, x: Value, n: Value) -> Value {
    let (low, high) = (cx.b.i64(-2200), cx.b.i64(2200));
    let n = cx.b.bin(Op::Smax, n, low);
    let mut n = cx.b.bin(Op::Smin, n, high);
    let mut y = x;
    // Downward in steps that leave a full exponent, so that only the last one rounds.
    for _ in 0..2 {
        let (most, least) = (cx.b.i64(1023), cx.b.i64(-1022));
        let (above, below) = (cx.b.bin(Op::IcmpSgt, n, most), cx.b.bin(Op::IcmpSlt, n, least));
        let (one, grow, shrink) =
            (cx.b.f64(1.0), cx.b.f64(f64::from_bits(2046 << 52)), cx.b.f64(f64::from_bits(54 << 52)));
        let by = cx.b.select(above, grow, one);
        let by = cx.b.select(below, shrink, by);
        y = cx.b.bin(Op::Fmul, y, by);
        let (less, more) = (cx.b.bin_imm(Op::Isub, n, 1023), cx.b.bin_imm(Op::Iadd, n, 969));
        let rest = cx.b.select(above, less, n);
        n = cx.b.select(below, more, rest);
    }
    let (most, least) = (cx.b.i64(1023), cx.b.i64(-1022));
    let n = cx.b.bin(Op::Smin, n, most);
    let n = cx.b.bin(Op::Smax, n, least);
    let exponent = cx.b.bin_imm(Op::Iadd, n, 1023);
    let bits = cx.b.bin_imm(Op::Ishl, exponent, 52);
    let power = cx.b.conv(Op::Bitcast, Ty::F64, bits);
    let y = cx.b.bin(Op::Fmul, y, power);
    let (fits, was) = (finite(cx, y), finite(cx, x));
    let odd = cx.not(was);
    let ok = cx.or(fits, odd);
    cx.check(ok, Class::OverflowError, "math range error");
    y
}
