//! NumPy's element-wise functions that machine instructions suffice for: extremes, signs, rounding,
//! classification, logic, bits of floats.
//!
//! Every row is a universal function: it takes scalars as well, which then have NumPy's types (a Python `int`
//! counts as `int64`).

use super::kernel::Map;
use super::number::{int_gcd, int_lcm, np_round_f32, np_round_f64, uint_gcd, uint_lcm};
use super::{Body, OpDef};
use crate::diag::{Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cast::constant;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::{Op, Ty, Value};
use crate::types::{Const, Float, Int, Kind, NumberType, Type, promote};
use crate::typing::{Answer, Arg};

super::identity::op_ids! {
    NUMPY_FLOOR = "numpy.floor",
    NUMPY_CEIL = "numpy.ceil",
    NUMPY_TRUNC = "numpy.trunc",
    NUMPY_RINT = "numpy.rint",
    NUMPY_SIGN = "numpy.sign",
    NUMPY_MINIMUM = "numpy.minimum" [chooses],
    NUMPY_MAXIMUM = "numpy.maximum" [chooses],
    NUMPY_FMIN = "numpy.fmin" [chooses],
    NUMPY_FMAX = "numpy.fmax" [chooses],
}

const UN: &str = "x, out=None";
const BIN: &str = "x1, x2, out=None";

pub(crate) static OPS: &[OpDef] = &[
    // Extremes: of equal values (zeros of either sign) the second, as vector instructions choose.
    OpDef::new(
        &["numpy.maximum"],
        BIN,
        Body::Ufunc(|a, _| same(a, number), |cx, c| extreme(cx, c, MAX, true)),
    )
    .kernel(Map::Max)
    .straight()
    .doc("Larger value; NaN where either is NaN."),
    OpDef::new(
        &["numpy.minimum"],
        BIN,
        Body::Ufunc(|a, _| same(a, number), |cx, c| extreme(cx, c, MIN, true)),
    )
    .kernel(Map::Min)
    .straight()
    .doc("Smaller value; NaN where either is NaN."),
    OpDef::new(&["numpy.fmax"], BIN, Body::Ufunc(|a, _| same(a, number), |cx, c| extreme(cx, c, MAX, false)))
        .kernel(Map::Fmax)
        .straight()
        .doc("Larger value; a NaN loses."),
    OpDef::new(&["numpy.fmin"], BIN, Body::Ufunc(|a, _| same(a, number), |cx, c| extreme(cx, c, MIN, false)))
        .kernel(Map::Fmin)
        .straight()
        .doc("Smaller value; a NaN loses."),
    OpDef::new(
        &["numpy._clip"],
        "x, low, high, out=None",
        Body::Ufunc(
            |a, _| same(a, number),
            |cx, c| {
                if c.types[0].is_complex() {
                    return complex_clip(cx, c);
                }
                // A zero stays the zero that it is: the value is the second operand.
                let at_least =
                    extreme(cx, &OpCall { args: &[c.args[1].clone(), c.args[0].clone()], ..*c }, MAX, true)?;
                extreme(cx, &OpCall { args: &[c.args[2].clone(), at_least], ..*c }, MIN, true)
            },
        ),
    )
    .doc("`minimum(maximum(x, low), high)`."),
    // Sign and simple arithmetic.
    OpDef::new(&["numpy.sign"], UN, Body::Ufunc(|a, _| same(a, not_bool), emit_sign))
        .doc("-1, 0 or 1 by the sign; `z / |z|` of a complex number."),
    OpDef::new(
        &["numpy.square"],
        UN,
        Body::Ufunc(
            |a, _| same(a, |t| Some(bool_as_i8(t))),
            |cx, c| {
                let double =
                    OpCall { args: &[c.args[0].clone(), c.args[0].clone()], types: &[c.types[0]; 2], ..*c };
                super::arith::emit_mul(cx, &double)
            },
        ),
    )
    .kernel(Map::Square)
    .straight()
    .doc("`x * x`."),
    OpDef::new(
        &["numpy.reciprocal"],
        UN,
        Body::Ufunc(|a, _| same(a, |t| Some(bool_as_i8(t))), emit_reciprocal),
    )
    .doc("`1 / x`, truncated for integers."),
    OpDef::new(
        &["numpy.conjugate", "numpy.conj"],
        UN,
        Body::Ufunc(
            |a, _| same(a, |t| Some(bool_as_i8(t))),
            |cx, c| {
                let mut v = c.args[0].clone();
                if let Some(im) = v.get_mut(1) {
                    *im = cx.b.un(Op::Fneg, *im);
                }
                Ok(v)
            },
        ),
    )
    .doc("Complex conjugate."),
    OpDef::new(
        &["numpy.fabs"],
        UN,
        Body::Ufunc(|a, _| same(a, real_float), |cx, c| Ok(vec![cx.b.un(Op::Fabs, c.args[0][0])])),
    )
    .kernel(Map::Abs)
    .straight()
    .doc("Magnitude as a float."),
    OpDef::new(
        &["numpy.copysign"],
        BIN,
        Body::Ufunc(
            |a, _| same(a, real_float),
            |cx, c| Ok(vec![cx.b.bin(Op::Fcopysign, c.args[0][0], c.args[1][0])]),
        ),
    )
    .straight()
    .doc("Magnitude of `x1`, sign of `x2`."),
    OpDef::new(&["numpy.heaviside"], BIN, Body::Ufunc(|a, _| same(a, real_float), emit_heaviside))
        .doc("0, `x2` or 1 for `x1` below, at or above 0."),
    OpDef::new(&["numpy.fmod"], BIN, Body::Ufunc(|a, _| same(a, |t| real(bool_as_i8(t))), emit_fmod))
        .doc("Remainder with the sign of `x1`."),
    OpDef::new(
        &["numpy.deg2rad", "numpy.radians"],
        UN,
        Body::Ufunc(
            |a, _| same(a, real_float),
            |cx, c| scaled(cx, c, std::f64::consts::PI / 180.0, std::f32::consts::PI / 180.0),
        ),
    )
    .doc("Degrees to radians."),
    OpDef::new(
        &["numpy.rad2deg", "numpy.degrees"],
        UN,
        Body::Ufunc(
            |a, _| same(a, real_float),
            |cx, c| scaled(cx, c, 180.0 / std::f64::consts::PI, 180.0 / std::f32::consts::PI),
        ),
    )
    .doc("Radians to degrees."),
    OpDef::new(
        &["numpy.gcd"],
        BIN,
        Body::Ufunc(|a, _| same(a, integer), |cx, c| integers(cx, c, &int_gcd, &uint_gcd)),
    )
    .doc("Greatest common divisor."),
    OpDef::new(
        &["numpy.lcm"],
        BIN,
        Body::Ufunc(|a, _| same(a, integer), |cx, c| integers(cx, c, &int_lcm, &uint_lcm)),
    )
    .doc("Least common multiple."),
    // Rounding.
    OpDef::new(&["numpy.floor"], UN, Body::Ufunc(|a, _| same(a, real), |cx, c| rounded(cx, c, Op::Ffloor)))
        .kernel(Map::Floor)
        .straight()
        .doc("Down to a whole number."),
    OpDef::new(&["numpy.ceil"], UN, Body::Ufunc(|a, _| same(a, real), |cx, c| rounded(cx, c, Op::Fceil)))
        .kernel(Map::Ceil)
        .straight()
        .doc("Up to a whole number."),
    OpDef::new(
        &["numpy.trunc", "numpy.fix"],
        UN,
        Body::Ufunc(|a, _| same(a, real), |cx, c| rounded(cx, c, Op::Ftrunc)),
    )
    .kernel(Map::Trunc)
    .straight()
    .doc("Towards zero to a whole number."),
    OpDef::new(&["numpy.rint"], UN, Body::Ufunc(|a, _| same(a, float), |cx, c| rounded(cx, c, Op::Fnearest)))
        .kernel(Map::Rint)
        .straight()
        .doc("To the nearest whole number, ties to even."),
    OpDef::new(&["numpy._round"], "x, decimals, out=None", Body::Ufunc(round_rule, emit_round))
        .doc("To that many decimals as NumPy does: scaled, to nearest even, scaled back."),
    // Classification.
    OpDef::new(
        &["numpy.isnan"],
        UN,
        Body::Ufunc(|a, _| flag(a, number), |cx, c| classified(cx, c, Class::Nan)),
    )
    .kernel(Map::IsNan)
    .straight()
    .doc("Whether NaN."),
    OpDef::new(
        &["numpy.isinf"],
        UN,
        Body::Ufunc(|a, _| flag(a, number), |cx, c| classified(cx, c, Class::Inf)),
    )
    .kernel(Map::IsInf)
    .straight()
    .doc("Whether infinite."),
    OpDef::new(
        &["numpy.isfinite"],
        UN,
        Body::Ufunc(|a, _| flag(a, number), |cx, c| classified(cx, c, Class::Finite)),
    )
    .kernel(Map::IsFinite)
    .straight()
    .doc("Whether neither infinite nor NaN."),
    OpDef::new(
        &["numpy.isposinf"],
        UN,
        Body::Ufunc(|a, _| flag(a, real), |cx, c| classified(cx, c, Class::PlusInf)),
    )
    .doc("Whether positive infinity."),
    OpDef::new(
        &["numpy.isneginf"],
        UN,
        Body::Ufunc(|a, _| flag(a, real), |cx, c| classified(cx, c, Class::MinusInf)),
    )
    .doc("Whether negative infinity."),
    OpDef::new(&["numpy.signbit"], UN, Body::Ufunc(|a, _| flag(a, real_float), emit_signbit))
        .doc("Whether the sign bit is set."),
    OpDef::new(
        &["numpy.isreal"],
        UN,
        Body::Ufunc(
            |a, _| flag(a, number),
            |cx, c| {
                let v = has_imaginary(cx, c);
                Ok(vec![cx.not(v)])
            },
        ),
    )
    .doc("Whether the imaginary part is 0."),
    OpDef::new(
        &["numpy.iscomplex"],
        UN,
        Body::Ufunc(|a, _| flag(a, number), |cx, c| Ok(vec![has_imaginary(cx, c)])),
    )
    .doc("Whether the imaginary part is not 0."),
    // Logic.
    OpDef::new(
        &["numpy.logical_and"],
        BIN,
        Body::Ufunc(logic, |cx, c| {
            let (a, b) = (truth(cx, c, 0)?, truth(cx, c, 1)?);
            Ok(vec![cx.and(a, b)])
        }),
    )
    .doc("Whether both are true."),
    OpDef::new(
        &["numpy.logical_or"],
        BIN,
        Body::Ufunc(logic, |cx, c| {
            let (a, b) = (truth(cx, c, 0)?, truth(cx, c, 1)?);
            Ok(vec![cx.or(a, b)])
        }),
    )
    .doc("Whether either is true."),
    OpDef::new(
        &["numpy.logical_xor"],
        BIN,
        Body::Ufunc(logic, |cx, c| {
            let (a, b) = (truth(cx, c, 0)?, truth(cx, c, 1)?);
            Ok(vec![cx.b.bin(Op::Bxor, a, b)])
        }),
    )
    .doc("Whether exactly one is true."),
    OpDef::new(
        &["numpy.logical_not"],
        UN,
        Body::Ufunc(logic, |cx, c| {
            let a = truth(cx, c, 0)?;
            Ok(vec![cx.not(a)])
        }),
    )
    .doc("Whether false."),
    // Bits.
    OpDef::new(
        &["numpy.bitwise_count"],
        UN,
        Body::Ufunc(
            |a, _| {
                let t = same(a, |t| t.is_index().then_some(t))?;
                Some(Answer { ret: Type::int_of(Int::U8), ..t })
            },
            emit_count,
        ),
    )
    .doc("Number of one bits in the magnitude."),
    OpDef::new(
        &["numpy.nextafter"],
        BIN,
        Body::Ufunc(|a, _| same(a, real_float), |cx, c| Ok(vec![next_after(cx, c.args[0][0], c.args[1][0])])),
    )
    .doc("The next float after `x1` towards `x2`."),
    OpDef::new(
        &["numpy.spacing"],
        UN,
        Body::Ufunc(|a, _| same(a, real_float), |cx, c| Ok(vec![spacing(cx, c.args[0][0])])),
    )
    .doc("Distance to the next float away from 0."),
];

// ---- typing

/// Loop types by what a function takes: the type to compute in, or none.
pub(crate) type Loop = fn(Type) -> Option<Type>;

pub(crate) fn number(t: Type) -> Option<Type> {
    t.is_number().then_some(t)
}
pub(crate) fn real(t: Type) -> Option<Type> {
    t.is_real().then_some(t)
}
fn not_bool(t: Type) -> Option<Type> {
    (*t != Kind::Bool).then_some(t)
}
fn integer(t: Type) -> Option<Type> {
    t.is_int().then_some(t)
}
pub(crate) fn bool_as_i8(t: Type) -> Type {
    if *t == Kind::Bool { Type::int_of(Int::I8) } else { t }
}

/// The float (or complex) type in which NumPy computes a function of integers; where it would be float16,
/// float32.
pub(crate) fn float(t: Type) -> Option<Type> {
    Some(match t.number()? {
        NumberType::Bool | NumberType::Int(Int::I8 | Int::U8 | Int::I16 | Int::U16) => {
            Type::float_of(Float::F32)
        }
        NumberType::Int(_) => Type::f64(),
        NumberType::Float(_) | NumberType::Complex(_) => t,
    })
}
/// [`float`] of functions that take no complex numbers.
pub(crate) fn real_float(t: Type) -> Option<Type> {
    float(t).filter(|t| t.is_float())
}

/// NumPy's common type of all operands.
pub(crate) fn common(args: &[Arg]) -> Option<Type> {
    if !args.iter().all(|a| a.ty.is_number()) {
        return None;
    }
    args.iter().map(|a| a.ty).reduce(promote::result_type).map(Type::strong)
}

/// All operands and the result have the loop's type.
pub(crate) fn same(args: &[Arg], of: Loop) -> Option<Answer> {
    let all = common(args)?;
    let mut t = of(all)?;
    let boolean = args.iter().all(|a| a.ty.is_weak() || *a.ty == crate::types::Kind::Bool);
    if args.len() > 1 && all.is_index() && t.is_float() && !(boolean && args.iter().any(|a| a.ty.is_weak())) {
        // Each operand is converted on its own: int8 and uint16 meet in float32, although they would meet in
        // int32 first.
        let strong = args.iter().filter(|a| !a.ty.is_weak()).map(|a| of(a.ty)).collect::<Option<Vec<_>>>()?;
        t = strong.into_iter().reduce(promote::result_type).unwrap_or(t);
    }
    Some(Answer::coerced(t, vec![t; args.len()]))
}

/// Operands in the loop's type, a bool as the result.
fn flag(args: &[Arg], of: Loop) -> Option<Answer> {
    Some(Answer { ret: Type::bool(), ..same(args, of)? })
}

/// Truth is asked of each operand in its own type.
fn logic(args: &[Arg], _: bool) -> Option<Answer> {
    if !args.iter().all(|a| a.ty.is_number()) {
        return None;
    }
    Some(Answer::coerced(Type::bool(), args.iter().map(|a| a.ty).collect()))
}

// ---- extremes and signs

#[derive(Clone, Copy)]
struct Extreme {
    signed: Op,
    unsigned: Op,
    bits: Op,
    wins: Op,
    ties: Op,
}
const MAX: Extreme =
    Extreme { signed: Op::Smax, unsigned: Op::Umax, bits: Op::Bor, wins: Op::FcmpGt, ties: Op::FcmpGe };
const MIN: Extreme =
    Extreme { signed: Op::Smin, unsigned: Op::Umin, bits: Op::Band, wins: Op::FcmpLt, ties: Op::FcmpLe };

fn extreme(cx: &mut LowerCx<'_>, c: &OpCall<'_>, e: Extreme, nan_wins: bool) -> Result<Val> {
    let (a, b) = (&c.args[0], &c.args[1]);
    Ok(match c.types[0].number() {
        Some(NumberType::Bool) => vec![cx.b.bin(e.bits, a[0], b[0])],
        Some(NumberType::Int(i)) => {
            vec![cx.b.bin(if i.signed() { e.signed } else { e.unsigned }, a[0], b[0])]
        }
        Some(NumberType::Float(_) | NumberType::Complex(_)) | None => {
            let nan = any_nan(cx, if nan_wins { a } else { b });
            let first = wins(cx, e, a, b);
            let first = cx.or(first, nan);
            a.iter()
                .zip(b)
                .map(|(x, y)| {
                    if c.elementwise {
                        super::select::choose(cx, first, *x, *y)
                    } else {
                        cx.b.select(first, *x, *y)
                    }
                })
                .collect()
        }
    })
}

/// NumPy's order of complex numbers here is that of real parts, then of imaginary parts, whether or not
/// another part is NaN; a value with a NaN part stays.
fn complex_clip(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let mut r = c.args[0].clone();
    for (bound, beyond) in [(&c.args[1], Op::FcmpGt), (&c.args[2], Op::FcmpLt)] {
        let (re, im) = (cx.b.bin(beyond, r[0], bound[0]), cx.b.bin(beyond, r[1], bound[1]));
        let tie = cx.b.bin(Op::FcmpEq, r[0], bound[0]);
        let im = cx.and(tie, im);
        let (stays, nan) = (cx.or(re, im), any_nan(cx, &r));
        let stays = cx.or(stays, nan);
        r = r
            .iter()
            .zip(bound)
            .map(|(x, y)| {
                if c.elementwise {
                    super::select::choose(cx, stays, *x, *y)
                } else {
                    cx.b.select(stays, *x, *y)
                }
            })
            .collect();
    }
    Ok(r)
}

fn any_nan(cx: &mut LowerCx<'_>, v: &[Value]) -> Value {
    let parts: Vec<Value> = v.iter().map(|x| cx.b.bin(Op::FcmpUno, *x, *x)).collect();
    match parts[..] {
        [re, im] => cx.or(re, im),
        _ => parts[0],
    }
}

/// Whether `a` is the extreme of the two. Complex numbers are ordered by real part, then imaginary part; a
/// NaN part never wins.
fn wins(cx: &mut LowerCx<'_>, e: Extreme, a: &[Value], b: &[Value]) -> Value {
    let re = cx.b.bin(e.wins, a[0], b[0]);
    if a.len() == 1 {
        return re;
    }
    let unordered = cx.b.bin(Op::FcmpUno, a[1], b[1]);
    let ordered = cx.not(unordered);
    let re = cx.and(re, ordered);
    let tie = cx.b.bin(Op::FcmpEq, a[0], b[0]);
    let im = cx.b.bin(e.ties, a[1], b[1]);
    let im = cx.and(tie, im);
    cx.or(re, im)
}

fn emit_sign(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let v = c.args[0][0];
    let t = cx.b.ty(v).lane();
    match c.types[0].number() {
        Some(NumberType::Int(i)) => {
            let one = cx.b.iconst(t, 1);
            if !i.signed() {
                return Ok(vec![cx.b.bin(Op::Umin, v, one)]);
            }
            let positive = cx.b.bin(Op::Smin, v, one);
            let minus = cx.b.iconst(t, -1);
            Ok(vec![cx.b.bin(Op::Smax, positive, minus)])
        }
        Some(NumberType::Complex(_)) => complex_sign(cx, &c.args[0]),
        Some(NumberType::Bool | NumberType::Float(_)) | None => {
            let zero = cx.zero(t);
            let (one, minus) = (constant(cx, t, 1.0), constant(cx, t, -1.0));
            let (gt, lt, eq) =
                (cx.b.bin(Op::FcmpGt, v, zero), cx.b.bin(Op::FcmpLt, v, zero), cx.b.bin(Op::FcmpEq, v, zero));
            let r = cx.b.select(eq, zero, v);
            let r = cx.b.select(lt, minus, r);
            Ok(vec![cx.b.select(gt, one, r)])
        }
    }
}

/// `z / |z|`; of an infinite number the direction, if it is along an axis.
fn complex_sign(cx: &mut LowerCx<'_>, z: &[Value]) -> Result<Val> {
    let t = cx.b.ty(z[0]);
    let (zero, nan, inf) = (cx.zero(t), constant(cx, t, f64::NAN), constant(cx, t, f64::INFINITY));
    let magnitude = super::real::hypot(cx, z[0], z[1]);
    let infinite: Vec<Value> = z
        .iter()
        .map(|x| {
            let a = cx.b.un(Op::Fabs, *x);
            cx.b.bin(Op::FcmpEq, a, inf)
        })
        .collect();
    let (either, both) = (cx.or(infinite[0], infinite[1]), cx.and(infinite[0], infinite[1]));
    let is_zero = cx.b.bin(Op::FcmpEq, magnitude, zero);
    let unknown = cx.b.bin(Op::FcmpUno, magnitude, magnitude);
    let unknown = cx.or(unknown, both);
    let one = constant(cx, t, 1.0);
    Ok(z.iter()
        .zip(infinite)
        .map(|(x, inf)| {
            let unit = cx.b.bin(Op::Fcopysign, one, *x);
            let along = cx.b.select(inf, unit, zero);
            let quotient = cx.b.bin(Op::Fdiv, *x, magnitude);
            let r = cx.b.select(is_zero, zero, quotient);
            let r = cx.b.select(either, along, r);
            cx.b.select(unknown, nan, r)
        })
        .collect())
}

pub(crate) fn emit_reciprocal(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let v = c.args[0][0];
    let t = cx.b.ty(v).lane();
    match c.types[0].number() {
        Some(NumberType::Int(i)) => {
            let one = cx.b.iconst(t, 1);
            let q = cx.b.bin(if i.signed() { Op::Sdiv } else { Op::Udiv }, one, v);
            if !i.signed() || i.bits() < 32 {
                return Ok(vec![q]);
            }
            // 1 / 0 is an infinity that is converted to the most negative integer.
            let zero = cx.b.bin_imm(Op::IcmpEq, v, 0);
            let low = cx.b.iconst(t, if i.bits() == 32 { i32::MIN as i64 } else { i64::MIN });
            Ok(vec![cx.b.select(zero, low, q)])
        }
        Some(NumberType::Complex(_)) => {
            let (re, im) = (v, c.args[0][1]);
            let (are, aim) = (cx.b.un(Op::Fabs, re), cx.b.un(Op::Fabs, im));
            let by_re = cx.b.bin(Op::FcmpLe, aim, are);
            let one = constant(cx, t, 1.0);
            let scaled = |cx: &mut LowerCx<'_>, big: Value, small: Value| {
                let r = cx.b.bin(Op::Fdiv, small, big);
                let p = cx.b.bin(Op::Fmul, small, r);
                (r, cx.b.bin(Op::Fadd, big, p))
            };
            let ((r, d), (s, e)) = (scaled(cx, re, im), scaled(cx, im, re));
            let (minus_r, minus_one) = (cx.b.un(Op::Fneg, r), cx.b.un(Op::Fneg, one));
            let parts = [(one, d, s, e), (minus_r, d, minus_one, e)];
            Ok(parts
                .map(|(x, d, y, e)| {
                    let (p, q) = (cx.b.bin(Op::Fdiv, x, d), cx.b.bin(Op::Fdiv, y, e));
                    cx.b.select(by_re, p, q)
                })
                .to_vec())
        }
        Some(NumberType::Bool | NumberType::Float(_)) | None => {
            let one = constant(cx, t, 1.0);
            Ok(vec![cx.b.bin(Op::Fdiv, one, v)])
        }
    }
}

fn emit_heaviside(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (x, at_zero) = (c.args[0][0], c.args[1][0]);
    let t = cx.b.ty(x).lane();
    let (zero, one) = (cx.zero(t), constant(cx, t, 1.0));
    let (gt, lt, eq) =
        (cx.b.bin(Op::FcmpGt, x, zero), cx.b.bin(Op::FcmpLt, x, zero), cx.b.bin(Op::FcmpEq, x, zero));
    let r = cx.b.select(eq, at_zero, x);
    let r = cx.b.select(lt, zero, r);
    Ok(vec![cx.b.select(gt, one, r)])
}

fn emit_fmod(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, b) = (c.args[0][0], c.args[1][0]);
    Ok(vec![if let Kind::Int(i) = *c.types[0] {
        cx.b.bin(if i.signed() { Op::Srem } else { Op::Urem }, a, b)
    } else {
        super::quick::fmod(cx, a, b, &super::number::real_fmod).0
    }])
}

fn scaled(cx: &mut LowerCx<'_>, c: &OpCall<'_>, double: f64, single: f32) -> Result<Val> {
    let v = c.args[0][0];
    let by = if cx.b.ty(v).lane() == Ty::F32 { cx.b.f32(single) } else { cx.b.f64(double) };
    Ok(vec![cx.b.bin(Op::Fmul, v, by)])
}

/// Through helpers for 64 bits, signed or not.
fn integers(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    signed: &'static crate::rt::RtFn,
    unsigned: &'static crate::rt::RtFn,
) -> Result<Val> {
    let t = c.types[0];
    let is_signed = matches!(*t, Kind::Int(i) if i.signed());
    let (a, b) = (cast::to_i64(cx, c.args[0][0], t), cast::to_i64(cx, c.args[1][0], t));
    let r = cx.helper_value(if is_signed { signed } else { unsigned }, &[a, b]);
    Ok(vec![cast::scalar(cx, r, Type::i64(), t)])
}

// ---- rounding and classification

fn rounded(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: Op) -> Result<Val> {
    if c.types[0].is_index() {
        return Ok(c.args[0].clone());
    }
    Ok(c.args[0].iter().map(|v| cx.b.un(op, *v)).collect())
}

fn round_rule(args: &[Arg], _: bool) -> Option<Answer> {
    let t = args[0].ty.strong();
    if !t.is_number() || !args[1].ty.is_index() {
        return None;
    }
    let t = if *t == Kind::Bool { Type::float_of(Float::F32) } else { t };
    Some(Answer::coerced(t, vec![t, Type::i64()]))
}

fn emit_round(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let n = c.args[1][0];
    let known = c.consts[1].as_ref().and_then(Const::as_int);
    let one = |cx: &mut LowerCx<'_>, v: Value| match known.and_then(|n| super::quick::np_decimals(cx, v, n)) {
        Some(r) => r,
        None => cx.helper_value(if cx.b.ty(v) == Ty::F32 { &np_round_f32 } else { &np_round_f64 }, &[v, n]),
    };
    if c.types[0].is_index() {
        // Decimals of an integer are there already; places before the point go through floats, as in NumPy.
        let whole = cx.b.bin_imm(Op::IcmpSge, n, 0);
        let t = c.types[0];
        let wide = cast::scalar(cx, c.args[0][0], t, Type::f64());
        let r = one(cx, wide);
        let r = cast::scalar(cx, r, Type::f64(), t);
        return Ok(vec![cx.b.select(whole, c.args[0][0], r)]);
    }
    Ok(c.args[0].iter().map(|v| one(cx, *v)).collect())
}

#[derive(Clone, Copy)]
enum Class {
    Nan,
    Inf,
    Finite,
    PlusInf,
    MinusInf,
}

fn classified(cx: &mut LowerCx<'_>, c: &OpCall<'_>, class: Class) -> Result<Val> {
    if c.types[0].is_index() {
        return Ok(vec![cx.b.bool(matches!(class, Class::Finite))]);
    }
    let parts: Vec<Value> = c.args[0]
        .iter()
        .map(|v| {
            let t = cx.b.ty(*v).lane();
            let inf = constant(cx, t, f64::INFINITY);
            let size = cx.b.un(Op::Fabs, *v);
            match class {
                Class::Nan => cx.b.bin(Op::FcmpUno, *v, *v),
                Class::Inf => cx.b.bin(Op::FcmpEq, size, inf),
                Class::Finite => cx.b.bin(Op::FcmpLt, size, inf),
                Class::PlusInf => cx.b.bin(Op::FcmpEq, *v, inf),
                Class::MinusInf => {
                    let low = constant(cx, t, f64::NEG_INFINITY);
                    cx.b.bin(Op::FcmpEq, *v, low)
                }
            }
        })
        .collect();
    Ok(vec![match (parts.as_slice(), class) {
        ([re, im], Class::Finite) => cx.and(*re, *im),
        ([re, im], Class::Nan | Class::Inf | Class::PlusInf | Class::MinusInf) => cx.or(*re, *im),
        ([one], _) => *one,
        _ => return Err(Diagnostic::internal("a number of more than two parts")),
    }])
}

fn has_imaginary(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Value {
    match c.args[0].get(1) {
        Some(im) => cast::truth(cx, *im, Type::f64()),
        None => cx.b.bool(false),
    }
}

fn int_twin(t: Ty) -> Ty {
    if t == Ty::F32 { Ty::I32 } else { Ty::I64 }
}

fn emit_signbit(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let v = c.args[0][0];
    let bits = cx.b.conv(Op::Bitcast, int_twin(cx.b.ty(v).lane()), v);
    Ok(vec![cx.b.bin_imm(Op::IcmpSlt, bits, 0)])
}

fn truth(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Value> {
    Ok(cast::cast(cx, &c.args[k], c.types[k], Type::bool())?[0])
}

// ---- bits

fn emit_count(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let wide = cast::to_i64(cx, c.args[0][0], c.types[0]);
    let wide = if matches!(*c.types[0], Kind::Int(i) if i.signed()) {
        let minus = cx.b.un(Op::Ineg, wide);
        cx.b.bin(Op::Smax, wide, minus)
    } else {
        wide
    };
    let n = cx.b.un(Op::Popcnt, wide);
    Ok(vec![cx.b.conv(Op::Itrunc, Ty::I8, n)])
}

/// The next float after `x` towards `y`.
pub(crate) fn next_after(cx: &mut LowerCx<'_>, x: Value, y: Value) -> Value {
    let t = cx.b.ty(x);
    let i = int_twin(t);
    let zero = cx.zero(t);
    let bits = cx.b.conv(Op::Bitcast, i, x);
    let (up, down) = (cx.b.bin_imm(Op::Iadd, bits, 1), cx.b.bin_imm(Op::Isub, bits, 1));
    // The pattern grows with the magnitude.
    let (rising, positive) = (cx.b.bin(Op::FcmpLt, x, y), cx.b.bin(Op::FcmpGt, x, zero));
    let away = cx.b.bin(Op::IcmpEq, rising, positive);
    let moved = cx.b.select(away, up, down);
    let moved = cx.b.conv(Op::Bitcast, t, moved);
    let one = cx.b.iconst(i, 1);
    let least = cx.b.conv(Op::Bitcast, t, one);
    let least = cx.b.bin(Op::Fcopysign, least, y);
    let at_zero = cx.b.bin(Op::FcmpEq, x, zero);
    let r = cx.b.select(at_zero, least, moved);
    let equal = cx.b.bin(Op::FcmpEq, x, y);
    let r = cx.b.select(equal, y, r);
    let nan = cx.b.bin(Op::FcmpUno, x, y);
    let sum = cx.b.bin(Op::Fadd, x, y);
    cx.b.select(nan, sum, r)
}

/// Distance from `x` to the next float away from 0, with the sign of `x`.
pub(crate) fn spacing(cx: &mut LowerCx<'_>, x: Value) -> Value {
    let t = cx.b.ty(x);
    let size = cx.b.un(Op::Fabs, x);
    let bits = cx.b.conv(Op::Bitcast, int_twin(t), size);
    let next = cx.b.bin_imm(Op::Iadd, bits, 1);
    let next = cx.b.conv(Op::Bitcast, t, next);
    let gap = cx.b.bin(Op::Fsub, next, size);
    let signed = cx.b.bin(Op::Fcopysign, gap, x);
    let zero = cx.zero(t);
    let at_zero = cx.b.bin(Op::FcmpEq, x, zero);
    cx.b.select(at_zero, gap, signed)
}
