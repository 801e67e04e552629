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

/// Powers of ten that are floats, and how many there are.
const TENS: u64 = 23;
/// Floats from here on are whole.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// `10 ** k` for k of 0 to 22.
fn power_of_ten(cx: &mut LowerCx<'_>, k: Value) -> Value {
    let mut by = cx.b.f64(1.0);
    for bit in 0..5 {
        let set = cx.b.bin_imm(Op::Band, k, 1 << bit);
        let set = cx.b.bin_imm(Op::IcmpNe, set, 0);
        let factor = cx.b.f64(10f64.powi(1 << bit));
        let more = cx.b.bin(Op::Fmul, by, factor);
        by = cx.b.select(set, more, by);
    }
    by
}

/// `round(x, n)`: the decimal nearest to the exact value, ties to even. NotImplementedError for more than 22
/// decimals, or zeros, of what these would change.
pub(super) fn decimals(cx: &mut LowerCx<'_>, x: Value, n: Value) -> Value {
    let zero = cx.b.i64(0);
    let size = cx.b.un(Op::Ineg, n);
    let size = cx.b.bin(Op::Smax, size, n);
    let most = cx.b.i64(TENS as i64 - 1);
    let least = cx.b.i64(0);
    let k = cx.b.bin(Op::Smax, size, least);
    let k = cx.b.bin(Op::Smin, k, most);
    let by = power_of_ten(cx, k);
    let behind = after_point(cx, x, by);
    let before = before_point(cx, x, by);
    let down = cx.b.bin(Op::IcmpSlt, n, zero);
    let made = cx.b.select(down, before, behind);
    let made = cx.b.un(Op::Fabs, made);
    let made = cx.b.bin(Op::Fcopysign, made, x);
    let number = finite(cx, x);
    // With more decimals than 22 a number that has no more than these stays as it is; with more zeros one that is
    // below half of them all is nothing.
    let far = cx.b.bin(Op::IcmpSgt, size, most);
    let changed = {
        let whole = cx.b.un(Op::Fabs, x);
        let (long, short) = (cx.b.f64(4.0 * WHOLE / 1e22), cx.b.f64(5e22));
        let fine = cx.b.bin(Op::FcmpLt, whole, long);
        let some = cx.b.f64(0.0);
        let some = cx.b.bin(Op::FcmpGt, whole, some);
        let fine = cx.and(fine, some);
        let coarse = cx.b.bin(Op::FcmpGe, whole, short);
        cx.b.select(down, coarse, fine)
    };
    let wrong = cx.and(far, changed);
    let wrong = cx.and(wrong, number);
    let right = cx.not(wrong);
    cx.check(right, Class::NotImplementedError, "more than 22 decimals or zeros");
    let none = cx.b.f64(0.0);
    let none = cx.b.bin(Op::Fcopysign, none, x);
    let settled = cx.b.select(down, none, x);
    let made = cx.b.select(far, settled, made);
    cx.b.select(number, made, x)
}

/// Rounded to decimals behind the point: `by` is their power of ten. The product is a sum of two floats.
fn after_point(cx: &mut LowerCx<'_>, x: Value, by: Value) -> Value {
    let high = cx.b.bin(Op::Fmul, x, by);
    let less = cx.b.un(Op::Fneg, high);
    let low = cx.b.ternary(Op::Fma, x, by, less);
    let near = cx.b.un(Op::Fnearest, high);
    let off = cx.b.bin(Op::Fsub, high, near);
    let (distance, half, one, zero) = (cx.b.un(Op::Fabs, off), cx.b.f64(0.5), cx.b.f64(1.0), cx.b.f64(0.0));
    // The first part is halfway: the second part decides, if it points to the other side.
    let halfway = cx.b.bin(Op::FcmpEq, distance, half);
    let side = cx.b.bin(Op::Fmul, off, low);
    let points = cx.b.bin(Op::FcmpGt, side, zero);
    let other = cx.and(halfway, points);
    let step = cx.b.bin(Op::Fcopysign, one, off);
    let next = cx.b.bin(Op::Fadd, near, step);
    let whole = cx.b.select(other, next, near);
    let small = cx.b.bin(Op::Fdiv, whole, by);
    // A product that is whole, and whose second part is a fraction: the number changes by less than its last bits.
    let rounded = cx.b.un(Op::Fnearest, low);
    let change = cx.b.bin(Op::Fsub, rounded, low);
    let change = cx.b.bin(Op::Fdiv, change, by);
    let large = cx.b.bin(Op::Fadd, x, change);
    let size = cx.b.un(Op::Fabs, high);
    let (from, to) = (cx.b.f64(WHOLE), cx.b.f64(4.0 * WHOLE));
    let below = cx.b.bin(Op::FcmpLt, size, from);
    let stays = cx.b.bin(Op::FcmpGe, size, to);
    let large = cx.b.select(stays, x, large);
    cx.b.select(below, small, large)
}

/// Rounded to a multiple of `by`, a power of ten.
fn before_point(cx: &mut LowerCx<'_>, x: Value, by: Value) -> Value {
    let quotient = cx.b.bin(Op::Fdiv, x, by);
    let near = cx.b.un(Op::Fnearest, quotient);
    let less = cx.b.un(Op::Fneg, near);
    let left = cx.b.ternary(Op::Fma, less, by, x);
    let (one, half) = (cx.b.f64(1.0), cx.b.f64(0.5));
    let half = cx.b.bin(Op::Fmul, by, half);
    let distance = cx.b.un(Op::Fabs, left);
    let far = cx.b.bin(Op::FcmpGt, distance, half);
    // Halfway the even neighbour is meant.
    let tie = cx.b.bin(Op::FcmpEq, distance, half);
    let halved = {
        let two = cx.b.f64(0.5);
        cx.b.bin(Op::Fmul, near, two)
    };
    let even = cx.b.un(Op::Fnearest, halved);
    let odd = cx.b.bin(Op::FcmpNe, even, halved);
    let uneven = cx.and(tie, odd);
    let moves = cx.or(far, uneven);
    let step = cx.b.bin(Op::Fcopysign, one, left);
    let other = cx.b.bin(Op::Fadd, near, step);
    let whole = cx.b.select(moves, other, near);
    let made = cx.b.bin(Op::Fmul, whole, by);
    // A quotient without room for a fraction is as good as whole.
    let size = cx.b.un(Op::Fabs, quotient);
    let limit = cx.b.f64(WHOLE);
    let below = cx.b.bin(Op::FcmpLt, size, limit);
    cx.b.select(below, made, x)
}

/// `math.remainder`, as CPython computes it.
pub(super) fn ieee_remainder(cx: &mut LowerCx<'_>, x: Value, y: Value) -> Value {
    let (a, b) = (cx.b.un(Op::Fabs, x), cx.b.un(Op::Fabs, y));
    let m = fmod(cx, a, b, true);
    let c = cx.b.bin(Op::Fsub, b, m);
    let half = cx.b.f64(0.5);
    let rest = cx.b.bin(Op::Fsub, a, m);
    let rest = cx.b.bin(Op::Fmul, rest, half);
    let again = fmod(cx, rest, b, false);
    let twice = cx.b.bin(Op::Fadd, again, again);
    let even = cx.b.bin(Op::Fsub, m, twice);
    let less = cx.b.un(Op::Fneg, c);
    let (below, above) = (cx.b.bin(Op::FcmpLt, m, c), cx.b.bin(Op::FcmpGt, m, c));
    let r = cx.b.select(above, less, even);
    let r = cx.b.select(below, m, r);
    let one = cx.b.f64(1.0);
    let sign = cx.b.bin(Op::Fcopysign, one, x);
    cx.b.bin(Op::Fmul, sign, r)
}
