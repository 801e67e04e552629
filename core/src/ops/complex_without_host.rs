//! Functions of complex numbers where no helper of the host can be asked: on a GPU. The formulas are those of CPython's
//! `cmath`, in whose cases each part is as good as the real functions that it is made of; special values are those of
//! its tables ([`super::complex_special`]).

use super::complex_special::{self as special, Special};
use super::{mathfn as m, number as num};
use crate::emit::cx::LowerCx;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::rt::RtFn;

type Z = [Value; 2];

const E: f64 = std::f64::consts::E;
const LN_2: f64 = std::f64::consts::LN_2;
const LN_10: f64 = std::f64::consts::LN_10;
/// From here on squares may be too large.
const LARGE: f64 = f64::MAX / 4.0;
/// The logarithm of that.
const LOG_LARGE: f64 = 708.0;
/// The square root of the smallest number with a full exponent.
const ROOT_MIN: f64 = 1.491_668_146_240_041_3e-154;

/// What emits.
struct By<'a, 'b> {
    cx: &'a mut LowerCx<'b>,
    /// Whether the errors of `cmath` are raised.
    raises: bool,
}

impl By<'_, '_> {
    fn n(&mut self, x: f64) -> Value {
        self.cx.b.f64(x)
    }
    fn two(&mut self, op: Op, a: Value, b: Value) -> Value {
        self.cx.b.bin(op, a, b)
    }
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.two(Op::Fadd, a, b)
    }
    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.two(Op::Fsub, a, b)
    }
    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.two(Op::Fmul, a, b)
    }
    fn div(&mut self, a: Value, b: Value) -> Value {
        self.two(Op::Fdiv, a, b)
    }
    fn by(&mut self, a: Value, k: f64) -> Value {
        let k = self.n(k);
        self.mul(a, k)
    }
    fn plus(&mut self, a: Value, k: f64) -> Value {
        let k = self.n(k);
        self.add(a, k)
    }
    fn neg(&mut self, a: Value) -> Value {
        self.cx.b.un(Op::Fneg, a)
    }
    fn abs(&mut self, a: Value) -> Value {
        self.cx.b.un(Op::Fabs, a)
    }
    fn root(&mut self, a: Value) -> Value {
        self.cx.b.un(Op::Fsqrt, a)
    }
    fn signed(&mut self, size: Value, sign: Value) -> Value {
        self.two(Op::Fcopysign, size, sign)
    }
    fn is(&mut self, op: Op, a: Value, k: f64) -> Value {
        let k = self.n(k);
        self.two(op, a, k)
    }
    fn pick(&mut self, c: Value, a: Value, b: Value) -> Value {
        self.cx.b.select(c, a, b)
    }
    fn either(&mut self, c: Value, a: Z, b: Z) -> Z {
        [self.pick(c, a[0], b[0]), self.pick(c, a[1], b[1])]
    }
    fn one(&mut self, f: &'static RtFn, a: Value) -> Value {
        self.cx.helper_value(f, &[a])
    }
    fn call(&mut self, f: &'static RtFn, a: Value, b: Value) -> Value {
        self.cx.helper_value(f, &[a, b])
    }
    /// `a * s`, where a factor that is 0 makes it 0 whatever the other is.
    fn times(&mut self, a: Value, s: Value) -> Value {
        let one = self.n(1.0);
        let sign = self.signed(one, a);
        let (product, zero) = (self.mul(a, s), self.mul(s, sign));
        let none = self.is(Op::FcmpEq, s, 0.0);
        self.pick(none, zero, product)
    }

    /// The greater and the lesser.
    fn ordered(&mut self, a: Value, b: Value) -> (Value, Value) {
        let less = self.two(Op::FcmpLt, a, b);
        (self.pick(less, b, a), self.pick(less, a, b))
    }

    fn exp(&mut self, [x, y]: Z) -> Z {
        // What is too large alone may not be with a small cosine.
        let over = self.is(Op::FcmpGt, x, LOG_LARGE);
        let less = self.plus(x, -1.0);
        let taken = self.pick(over, less, x);
        let (one, e) = (self.n(1.0), self.n(E));
        let scale = self.pick(over, e, one);
        let size = self.one(&m::f64_exp, taken);
        let (c, s) = (self.one(&m::f64_cos, y), self.one(&m::f64_sin, y));
        let (re, im) = (self.times(size, c), self.times(size, s));
        let (re, im) = (self.mul(re, scale), self.mul(im, scale));
        // Nothing, in its direction.
        let nothing = self.is(Op::FcmpEq, x, f64::NEG_INFINITY);
        let zero = self.n(0.0);
        let none = [self.signed(zero, c), self.signed(zero, s)];
        self.either(nothing, none, [re, im])
    }

    fn log(&mut self, [x, y]: Z) -> Z {
        let (a, b) = (self.abs(x), self.abs(y));
        let (high, low) = self.ordered(a, b);
        let large = self.is(Op::FcmpGt, high, LARGE);
        let tiny = self.is(Op::FcmpLt, high, f64::MIN_POSITIVE);
        let (one, half, up) = (self.n(1.0), self.n(0.5), self.n(9_007_199_254_740_992.0));
        let scale = self.pick(tiny, up, one);
        let scale = self.pick(large, half, scale);
        let (none, shrunk, grown) = (self.n(0.0), self.n(LN_2), self.n(-53.0 * LN_2));
        let back = self.pick(tiny, grown, none);
        let back = self.pick(large, shrunk, back);
        let (p, q) = (self.mul(high, scale), self.mul(low, scale));
        let h = self.call(&m::f64_hypot, p, q);
        let far = self.one(&m::f64_log, h);
        let far = self.add(far, back);
        // Near to the unit circle the distance from it counts.
        let (less, more) = (self.plus(high, -1.0), self.plus(high, 1.0));
        let (d, square) = (self.mul(less, more), self.mul(low, low));
        let d = self.add(d, square);
        let near = self.one(&m::f64_log1p, d);
        let near = self.by(near, 0.5);
        let (above, below) = (self.is(Op::FcmpGe, h, 0.71), self.is(Op::FcmpLe, h, 1.73));
        let is_near = self.cx.and(above, below);
        [self.pick(is_near, near, far), self.call(&m::f64_atan2, y, x)]
    }

    fn sqrt(&mut self, [x, y]: Z) -> Z {
        let (a, b) = (self.abs(x), self.abs(y));
        let (high, _) = self.ordered(a, b);
        let tiny = self.is(Op::FcmpLt, high, f64::MIN_POSITIVE);
        let (eighth, up) = (self.n(0.125), self.n(18_014_398_509_481_984.0));
        let scale = self.pick(tiny, up, eighth);
        let (two, down) = (self.n(2.0), self.n(7.450_580_596_923_828e-9));
        // 2^54 on the way in is 2^-27 on the way out.
        let back = self.pick(tiny, down, two);
        let (p, q) = (self.mul(a, scale), self.mul(b, scale));
        let h = self.call(&m::f64_hypot, p, q);
        let sum = self.add(p, h);
        let sum_of_tiny = self.by(sum, 0.5);
        let sum = self.pick(tiny, sum_of_tiny, sum);
        let s = self.root(sum);
        let s = self.mul(s, back);
        let twice = self.by(s, 2.0);
        let d = self.div(b, twice);
        let right = self.is(Op::FcmpGe, x, 0.0);
        let (re, im) = (self.pick(right, s, d), self.pick(right, d, s));
        let im = self.signed(im, y);
        let (zero, infinity) = (self.n(0.0), self.n(f64::INFINITY));
        let none = self.is(Op::FcmpEq, high, 0.0);
        let made = self.either(none, [zero, y], [re, im]);
        let endless = self.is(Op::FcmpEq, b, f64::INFINITY);
        self.either(endless, [infinity, y], made)
    }

    /// Hyperbolic cosine and sine of a real number, both divided by the third.
    fn hyperbolic(&mut self, x: Value) -> (Value, Value, Value) {
        let size = self.abs(x);
        let over = self.is(Op::FcmpGt, size, LOG_LARGE);
        let (one, e) = (self.n(1.0), self.n(E));
        let step = self.signed(one, x);
        let less = self.sub(x, step);
        let taken = self.pick(over, less, x);
        let scale = self.pick(over, e, one);
        (self.one(&m::f64_cosh, taken), self.one(&m::f64_sinh, taken), scale)
    }
    fn cosh(&mut self, [x, y]: Z) -> Z {
        let (ch, sh, scale) = self.hyperbolic(x);
        let (c, s) = (self.one(&m::f64_cos, y), self.one(&m::f64_sin, y));
        let (re, im) = (self.times(ch, c), self.times(sh, s));
        [self.mul(re, scale), self.mul(im, scale)]
    }
    fn sinh(&mut self, [x, y]: Z) -> Z {
        let (ch, sh, scale) = self.hyperbolic(x);
        let (c, s) = (self.one(&m::f64_cos, y), self.one(&m::f64_sin, y));
        let (re, im) = (self.times(sh, c), self.times(ch, s));
        [self.mul(re, scale), self.mul(im, scale)]
    }
    fn tanh(&mut self, [x, y]: Z) -> Z {
        let size = self.abs(x);
        let one = self.n(1.0);
        let (c, s) = (self.one(&m::f64_cos, y), self.one(&m::f64_sin, y));
        let limit = self.signed(one, x);
        let twice = self.by(size, -2.0);
        let (decay, turn) = (self.one(&m::f64_exp, twice), self.mul(s, c));
        // An infinity beside an infinity is no direction, but what is left there is nothing.
        let small = self.times(turn, decay);
        let small = self.by(small, 4.0);
        let (tx, ty) = (self.one(&m::f64_tanh, x), self.one(&m::f64_tan, y));
        let ch = self.one(&m::f64_cosh, x);
        let inverse = self.div(one, ch);
        let product = self.mul(tx, ty);
        let square = self.mul(product, product);
        let denominator = self.add(square, one);
        let square = self.mul(ty, ty);
        let sum = self.add(square, one);
        let re = self.mul(tx, sum);
        let re = self.div(re, denominator);
        let im = self.div(ty, denominator);
        let im = self.mul(im, inverse);
        let im = self.mul(im, inverse);
        let far = self.is(Op::FcmpGt, size, LOG_LARGE / 2.0);
        self.either(far, [limit, small], [re, im])
    }

    /// Whether a part is too large for squares, and the logarithm of twice the distance from 0.
    fn far(&mut self, [x, y]: Z) -> (Value, Value) {
        let (a, b) = (self.abs(x), self.abs(y));
        let (p, q) = (self.is(Op::FcmpGt, a, LARGE), self.is(Op::FcmpGt, b, LARGE));
        let far = self.cx.or(p, q);
        let (x, y) = (self.by(x, 0.5), self.by(y, 0.5));
        let h = self.call(&m::f64_hypot, x, y);
        let log = self.one(&m::f64_log, h);
        (far, self.plus(log, 2.0 * LN_2))
    }
    fn cross(&mut self, a: Value, b: Value, c: Value, d: Value, minus: bool) -> Value {
        let (p, q) = (self.mul(a, b), self.mul(c, d));
        if minus { self.sub(p, q) } else { self.add(p, q) }
    }
    fn asinh(&mut self, [x, y]: Z) -> Z {
        let one = self.n(1.0);
        let (less, more, left) = (self.sub(one, y), self.add(one, y), self.neg(x));
        let (p, q) = (self.sqrt([more, left]), self.sqrt([less, x]));
        let re = self.cross(p[0], q[1], q[0], p[1], true);
        let re = self.one(&m::f64_asinh, re);
        let im = self.cross(p[0], q[0], p[1], q[1], true);
        let im = self.call(&m::f64_atan2, y, im);
        let (far, log) = self.far([x, y]);
        let (size, a) = (self.signed(log, x), self.abs(x));
        let angle = self.call(&m::f64_atan2, y, a);
        self.either(far, [size, angle], [re, im])
    }
    fn acosh(&mut self, [x, y]: Z) -> Z {
        let (less, more) = (self.plus(x, -1.0), self.plus(x, 1.0));
        let (p, q) = (self.sqrt([less, y]), self.sqrt([more, y]));
        let re = self.cross(p[0], q[0], p[1], q[1], false);
        let re = self.one(&m::f64_asinh, re);
        let im = self.call(&m::f64_atan2, p[1], q[0]);
        let im = self.by(im, 2.0);
        let (far, log) = self.far([x, y]);
        let angle = self.call(&m::f64_atan2, y, x);
        self.either(far, [log, angle], [re, im])
    }
    fn acos(&mut self, [x, y]: Z) -> Z {
        let one = self.n(1.0);
        let (less, more, down) = (self.sub(one, x), self.add(one, x), self.neg(y));
        let (p, q) = (self.sqrt([less, down]), self.sqrt([more, y]));
        let re = self.call(&m::f64_atan2, p[0], q[0]);
        let re = self.by(re, 2.0);
        let im = self.cross(q[0], p[1], q[1], p[0], true);
        let im = self.one(&m::f64_asinh, im);
        let (far, log) = self.far([x, y]);
        let b = self.abs(y);
        let angle = self.call(&m::f64_atan2, b, x);
        let size = self.signed(log, down);
        self.either(far, [angle, size], [re, im])
    }
    fn atanh(&mut self, [x, y]: Z) -> Z {
        // For numbers on the right; the others are their mirror images.
        let one = self.n(1.0);
        let side = self.signed(one, x);
        let (x, y) = (self.mul(x, side), self.mul(y, side));
        let b = self.abs(y);
        let (gap, sum) = (self.sub(one, x), self.add(one, x));
        let (p, q) = (self.mul(gap, gap), self.mul(b, b));
        let distance = self.add(p, q);
        let four = self.by(x, 4.0);
        let ratio = self.div(four, distance);
        let re = self.one(&m::f64_log1p, ratio);
        let re = self.by(re, 0.25);
        let (twice, product) = (self.by(y, -2.0), self.mul(gap, sum));
        let flat = self.sub(product, q);
        let im = self.call(&m::f64_atan2, twice, flat);
        let im = self.by(im, -0.5);
        // Beside the pole.
        let (at, close) = (self.is(Op::FcmpEq, x, 1.0), self.is(Op::FcmpLt, b, ROOT_MIN));
        let pole = self.cx.and(at, close);
        let two = self.n(2.0);
        let h = self.call(&m::f64_hypot, b, two);
        let (root, h) = (self.root(b), self.root(h));
        let near = self.div(root, h);
        let near = self.one(&m::f64_log, near);
        let near = self.neg(near);
        let down = self.neg(b);
        let turn = self.call(&m::f64_atan2, two, down);
        let turn = self.by(turn, 0.5);
        // At the pole itself NumPy sees no turn.
        let (there, none) = (self.is(Op::FcmpEq, b, 0.0), self.n(0.0));
        let turn = self.pick(there, none, turn);
        let turn = self.signed(turn, y);
        let made = self.either(pole, [near, turn], [re, im]);
        // Far away.
        let (f, g) = (self.is(Op::FcmpGt, x, 1.0 / ROOT_MIN), self.is(Op::FcmpGt, b, 1.0 / ROOT_MIN));
        let far = self.cx.or(f, g);
        let (p, q) = (self.by(x, 0.5), self.by(y, 0.5));
        let h = self.call(&m::f64_hypot, p, q);
        let small = self.by(x, 0.25);
        let small = self.div(small, h);
        let small = self.div(small, h);
        let quarter = self.n(std::f64::consts::FRAC_PI_2);
        let quarter = self.signed(quarter, y);
        let made = self.either(far, [small, quarter], made);
        [self.mul(made[0], side), self.mul(made[1], side)]
    }

    /// `f` of a number that is turned by a quarter, turned back.
    fn turned(&mut self, [x, y]: Z, special: &Special, f: fn(&mut Self, Z) -> Z) -> Z {
        let left = self.neg(y);
        let [re, im] = self.with(special, [left, x], f);
        [im, self.neg(re)]
    }
    /// `f` of a number, by its table where a part is infinite or NaN.
    fn with(&mut self, special: &Special, z: Z, f: fn(&mut Self, Z) -> Z) -> Z {
        let made = f(self, z);
        special.at(self.cx, z, made, self.raises)
    }
    fn rect(&mut self, [r, turn]: Z) -> Z {
        let (c, s) = (self.one(&m::f64_cos, turn), self.one(&m::f64_sin, turn));
        [self.times(r, c), self.times(r, s)]
    }

    fn pow(&mut self, a: Z, [x, y]: Z) -> Z {
        let [log, at] = self.log(a);
        let (re, im) = (self.cross(x, log, y, at, true), self.cross(x, at, y, log, false));
        let made = self.exp([re, im]);
        let (zero, one) = (self.n(0.0), self.n(1.0));
        let nothing = |by: &mut Self, z: Z| {
            let (p, q) = (by.is(Op::FcmpEq, z[0], 0.0), by.is(Op::FcmpEq, z[1], 0.0));
            by.cx.and(p, q)
        };
        let base = nothing(self, a);
        let made = self.either(base, [zero, zero], made);
        let (nan, falls, turns) =
            (self.n(f64::NAN), self.is(Op::FcmpLt, x, 0.0), self.is(Op::FcmpNe, y, 0.0));
        let no = self.cx.or(falls, turns);
        let no = self.cx.and(base, no);
        let made = self.either(no, [nan, nan], made);
        let plain = nothing(self, [x, y]);
        self.either(plain, [one, zero], made)
    }
    /// Divided by the part of the divisor that is greater, as CPython does it.
    fn quotient(&mut self, [p, q]: Z, [x, y]: Z) -> Z {
        let (a, b) = (self.abs(x), self.abs(y));
        let flat = self.two(Op::FcmpGe, a, b);
        let (most, least) = (self.pick(flat, x, y), self.pick(flat, y, x));
        let ratio = self.div(least, most);
        let product = self.mul(least, ratio);
        let denominator = self.add(most, product);
        let (first, second) = (self.pick(flat, p, q), self.pick(flat, q, p));
        let product = self.mul(second, ratio);
        let re = self.add(first, product);
        let re = self.div(re, denominator);
        let product = self.mul(first, ratio);
        let im = self.sub(second, product);
        let im = self.div(im, denominator);
        let other = self.neg(im);
        [re, self.pick(flat, im, other)]
    }
    fn scaled(&mut self, [x, y]: Z, k: f64) -> Z {
        [self.by(x, k), self.by(y, k)]
    }
}

/// What a helper that writes a complex number would, of the parts of its operands; none of one that is not
/// written down here.
pub(super) fn computed(cx: &mut LowerCx<'_>, helper: &'static RtFn, operands: &[Value]) -> Option<Z> {
    let z = [operands[0], *operands.get(1)?];
    let name = helper.name;
    let mut by = By { cx, raises: !name.starts_with("np_") };
    let made = match name
        .strip_prefix("np_complex_")
        .or_else(|| name.strip_prefix("cmath_"))
        .or_else(|| name.strip_prefix("complex_"))?
    {
        "exp" => by.with(&special::EXP, z, By::exp),
        "exp2" => {
            let z = by.scaled(z, LN_2);
            by.with(&special::EXP, z, By::exp)
        }
        "log" => by.with(&special::LOG, z, By::log),
        "log2" => {
            let z = by.with(&special::LOG, z, By::log);
            by.scaled(z, 1.0 / LN_2)
        }
        "log10" => {
            let z = by.with(&special::LOG, z, By::log);
            by.scaled(z, 1.0 / LN_10)
        }
        "sqrt" => by.with(&special::SQRT, z, By::sqrt),
        "sin" => by.turned(z, &special::SINH, By::sinh),
        "cos" => {
            let left = by.neg(z[1]);
            by.with(&special::COSH, [left, z[0]], By::cosh)
        }
        "tan" => by.turned(z, &special::TANH, By::tanh),
        "sinh" => by.with(&special::SINH, z, By::sinh),
        "cosh" => by.with(&special::COSH, z, By::cosh),
        "tanh" => by.with(&special::TANH, z, By::tanh),
        "asin" => by.turned(z, &special::ASINH, By::asinh),
        "acos" => by.with(&special::ACOS, z, By::acos),
        "atan" => by.turned(z, &special::ATANH, By::atanh),
        "asinh" => by.with(&special::ASINH, z, By::asinh),
        "acosh" => by.with(&special::ACOSH, z, By::acosh),
        "atanh" => by.with(&special::ATANH, z, By::atanh),
        "rect" => by.with(&special::RECT, z, By::rect),
        "div" => by.quotient(z, [*operands.get(2)?, *operands.get(3)?]),
        "pow" => by.pow(z, [*operands.get(2)?, *operands.get(3)?]),
        _ => return None,
    };
    if by.raises {
        judged(&mut by, helper, operands, made);
    }
    Some(made)
}

/// The modulus; OverflowError.
pub(super) fn modulus(cx: &mut LowerCx<'_>, z: Z) -> Value {
    let mut by = By { cx, raises: true };
    let h = by.call(&m::f64_hypot, z[0], z[1]);
    let fine = fits(&mut by, &z, &[h]).1;
    by.cx.check(fine, Class::OverflowError, "math range error");
    h
}

/// Whether results are numbers, and whether they are finite, where all operands are.
fn fits(by: &mut By<'_, '_>, operands: &[Value], results: &[Value]) -> (Value, Value) {
    let mut open = by.cx.b.bool(false);
    for x in operands {
        let size = by.abs(*x);
        let bounded = by.is(Op::FcmpLt, size, f64::INFINITY);
        let endless = by.cx.not(bounded);
        open = by.cx.or(open, endless);
    }
    let (mut numbers, mut bounded) = (by.cx.b.bool(true), by.cx.b.bool(true));
    for x in results {
        let number = by.two(Op::FcmpEq, *x, *x);
        numbers = by.cx.and(numbers, number);
        let size = by.abs(*x);
        let fits = by.is(Op::FcmpNe, size, f64::INFINITY);
        bounded = by.cx.and(bounded, fits);
    }
    (by.cx.or(open, numbers), by.cx.or(open, bounded))
}

/// Raises what `cmath` and Python's power raise.
fn judged(by: &mut By<'_, '_>, helper: &'static RtFn, operands: &[Value], made: Z) {
    let (numbers, bounded) = fits(by, operands, &made);
    let divides = [&num::complex_pow, &num::complex_div].contains(&helper);
    let class = if divides { Class::ZeroDivisionError } else { Class::ValueError };
    by.cx.check(numbers, class, "math domain error");
    let poles = [&num::cmath_log, &num::cmath_log10, &num::cmath_atan, &num::cmath_atanh];
    let class = if poles.contains(&helper) { Class::ValueError } else { Class::OverflowError };
    by.cx.check(bounded, class, "math range error");
}
