//! Arithmetic and bits: the operators of Python and the ufuncs of NumPy that they are on arrays.
//!
//! On scalars integers widen to 64 bits and division by zero raises; between arrays NumPy's promotion holds
//! and it does not.

use super::kernel::Map;
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Ty, Value};
use crate::types::promote;
use crate::types::{Const, Kind, NumberType, Type};
use crate::typing::{Answer, Arg};

super::identity::op_ids! {
    MUL = "operator.mul" [computes, makes_list, lists(Shallow)],
    ADD = "operator.add" [computes, makes_list, lists(Shallow)],
    SUB = "operator.sub" [computes],
    NUMPY_SUBTRACT = "numpy.subtract",
    NUMPY_MULTIPLY = "numpy.multiply",
    TRUEDIV = "operator.truediv" [computes],
    NUMPY_DIVIDE = "numpy.divide",
    NUMPY_TRUE_DIVIDE = "numpy.true_divide",
    FLOORDIV = "operator.floordiv" [computes],
    MOD = "operator.mod" [computes],
    AND = "operator.and_" [computes],
    OR = "operator.or_" [computes],
    XOR = "operator.xor" [computes],
    LSHIFT = "operator.lshift" [computes],
    RSHIFT = "operator.rshift" [computes],
    NEG = "operator.neg" [computes],
    NUMPY_NEGATIVE = "numpy.negative",
    POS = "operator.pos" [computes],
    NUMPY_POSITIVE = "numpy.positive",
    INVERT = "operator.invert" [computes],
    INV = "operator.inv" [computes],
}

const BIN: &str = "x1, x2, out=None";
const UN: &str = "x, out=None";

/// Each line is two rows: Python's operator, and NumPy's function, which treats scalars as arrays of no
/// dimension and never raises for a zero divisor. Behind the documentation stand facts of both.
macro_rules! operators {
    ($( [$($operator:literal),+], [$($numpy:literal),+], $params:ident, $rule:expr, $emit:expr, $doc:literal $(, $flag:ident)* $(=> $kernel:ident)?; )+) => {
        pub(crate) static OPS: &[OpDef] = &[$(
            OpDef::new(&[$($operator),+], $params, Body::Ufunc($rule, $emit))$(.$flag())*$(.kernel(Map::$kernel))?.doc($doc),
            OpDef::new(&[$($numpy),+], $params, Body::Ufunc(|a, _| { let rule: super::UfuncRule = $rule; rule(a, true).map(strong) }, |cx, c| {
                let emit: super::Emit = $emit;
                emit(cx, &OpCall { elementwise: true, ..*c })
            }))$(.kernel(Map::$kernel))?.doc($doc),
        )+];
    };
}

operators! {
    ["operator.add"], ["numpy.add"], BIN, |a, e| same(a, e, fold_add), |cx, c| field(cx, c, Op::Iadd, Op::Fadd, Op::Bor), "`x1 + x2`.", straight => Add;
    ["operator.sub"], ["numpy.subtract"], BIN, subtract_rule, emit_sub, "`x1 - x2`.", straight => Sub;
    ["operator.mul"], ["numpy.multiply"], BIN, |a, e| same(a, e, fold_mul), emit_mul, "`x1 * x2`.", straight => Mul;
    ["operator.truediv"], ["numpy.divide", "numpy.true_divide"], BIN, true_div_rule, emit_true_div, "`x1 / x2`.", raises, straight => Div;
    ["operator.floordiv"], ["numpy.floor_divide"], BIN, floordiv_rule, emit_floordiv, "`x1 // x2`, rounded down.", raises;
    ["operator.mod"], ["numpy.remainder", "numpy.mod"], BIN, mod_rule, emit_mod, "`x1 % x2`, with the sign of `x2`.", raises;
    ["operator.and_"], ["numpy.bitwise_and"], BIN, |a, e| bits_rule(a, e, fold_and), |cx, c| bitwise(cx, c, Op::Band), "`x1 & x2`.", straight => And;
    ["operator.or_"], ["numpy.bitwise_or"], BIN, |a, e| bits_rule(a, e, fold_or), |cx, c| bitwise(cx, c, Op::Bor), "`x1 | x2`.", straight => Or;
    ["operator.xor"], ["numpy.bitwise_xor"], BIN, |a, e| bits_rule(a, e, fold_xor), |cx, c| bitwise(cx, c, Op::Bxor), "`x1 ^ x2`.", straight => Xor;
    ["operator.lshift"], ["numpy.left_shift", "numpy.bitwise_left_shift"], BIN, |a, e| shift_rule(a, e, fold_lshift), emit_lshift, "`x1 << x2`; 0 when all bits leave.", raises, straight;
    ["operator.rshift"], ["numpy.right_shift", "numpy.bitwise_right_shift"], BIN, |a, e| shift_rule(a, e, fold_rshift), emit_rshift, "`x1 >> x2`; the sign when all bits leave.", raises, straight;
    ["operator.neg"], ["numpy.negative"], UN, |a, e| sign_rule(a, e, i64::checked_neg), emit_neg, "`-x`.", straight => Neg;
    ["operator.pos"], ["numpy.positive"], UN, |a, e| sign_rule(a, e, Some), |_, c| Ok(c.args[0].clone()), "`+x`.", straight;
    ["operator.invert", "operator.inv"], ["numpy.invert", "numpy.bitwise_not", "numpy.bitwise_invert"], UN, invert_rule, emit_invert, "`~x`.", straight => Not;
}

/// A scalar result of NumPy's function has NumPy's type.
fn strong(a: Answer) -> Answer {
    Answer { ret: a.ret.strong(), konst: None, ..a }
}

pub(super) fn bitwise(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: Op) -> Result<Val> {
    Ok(vec![cx.b.bin(op, c.args[0][0], c.args[1][0])])
}

fn number(a: &Arg) -> bool {
    a.ty.is_number()
}

/// Both operands become the promoted type, which is also the result's.
pub(crate) fn common(args: &[Arg], elementwise: bool) -> Option<Type> {
    if !args.iter().all(number) {
        return None;
    }
    if elementwise {
        Some(promote::result_type(args[0].ty, args[1].ty))
    } else {
        promote::arith(args[0].ty, args[1].ty)
    }
}

fn same(args: &[Arg], elementwise: bool, fold: fn(i64, i64) -> Option<i64>) -> Option<Answer> {
    let t = common(args, elementwise)?;
    Some(Answer::coerced(t, operands(args, t, elementwise)).known(fold_ints(args, t, fold)))
}

/// What the operands become where the result has type `t`: the same, but since Python 3.14 a real number that
/// meets a complex one of Python's stays real, as in C. So `1 - 0.0j` has the imaginary part -0.0, and an
/// infinite factor gives no NaN with the imaginary part 0 that it does not have.
fn operands(args: &[Arg], t: Type, elementwise: bool) -> Vec<Type> {
    let stays_real = !elementwise && t.is_complex() && crate::python::since(14) && is_pythons(args, t);
    args.iter().map(|a| if stays_real && !a.ty.is_complex() { Type::float() } else { t }).collect()
}

/// Whether Python computes it, not NumPy: both numbers are Python's, or `np.float64`, which is a float, stands
/// behind a complex one.
fn is_pythons(args: &[Arg], t: Type) -> bool {
    t.is_weak() || args[0].ty.is_complex() && args[0].ty.is_weak() && args[1].ty == Type::f64()
}

/// The result of a Python int operation on constants that does not overflow.
fn fold_ints(args: &[Arg], t: Type, fold: fn(i64, i64) -> Option<i64>) -> Option<Const> {
    if t.strong() != Type::i64() {
        return None;
    }
    let int = |a: &Arg| a.konst.as_ref().and_then(Const::as_int);
    fold(int(&args[0])?, int(&args[1])?).map(Const::Int)
}
fn fold_add(a: i64, b: i64) -> Option<i64> {
    a.checked_add(b)
}
fn fold_sub(a: i64, b: i64) -> Option<i64> {
    a.checked_sub(b)
}
fn fold_floordiv(a: i64, b: i64) -> Option<i64> {
    Some(a.checked_div(b)? - (a % b != 0 && (a < 0) != (b < 0)) as i64)
}
fn fold_mod(a: i64, b: i64) -> Option<i64> {
    Some(a.checked_rem(b)? + if a % b != 0 && (a < 0) != (b < 0) { b } else { 0 })
}
fn fold_mul(a: i64, b: i64) -> Option<i64> {
    a.checked_mul(b)
}
fn fold_and(a: i64, b: i64) -> Option<i64> {
    Some(a & b)
}
fn fold_or(a: i64, b: i64) -> Option<i64> {
    Some(a | b)
}
fn fold_xor(a: i64, b: i64) -> Option<i64> {
    Some(a ^ b)
}
fn fold_lshift(a: i64, b: i64) -> Option<i64> {
    let shifted = a.checked_shl(u32::try_from(b).ok()?)?;
    (shifted >> b == a).then_some(shifted)
}
fn fold_rshift(a: i64, b: i64) -> Option<i64> {
    a.checked_shr(u32::try_from(b).ok()?)
}

/// The same of one constant.
fn fold_int(args: &[Arg], t: Type, fold: fn(i64) -> Option<i64>) -> Option<Const> {
    let known = args[0].konst.as_ref().and_then(Const::as_int).filter(|_| t.strong() == Type::i64())?;
    fold(known).map(Const::Int)
}

fn subtract_rule(args: &[Arg], elementwise: bool) -> Option<Answer> {
    let t = common(args, elementwise)?;
    if *t == Kind::Bool {
        return None;
    }
    Some(Answer::coerced(t, operands(args, t, elementwise)).known(fold_ints(args, t, fold_sub)))
}

fn true_div_rule(args: &[Arg], elementwise: bool) -> Option<Answer> {
    let t = common(args, elementwise)?;
    // Integers are divided as floats, but a message says whether they were integers.
    if !t.is_index() {
        return Some(Answer::coerced(t, operands(args, t, elementwise)));
    }
    let ret = if t.is_weak() || *t == Kind::Bool && !elementwise { Type::float() } else { Type::f64() };
    // Each from its own type: -2 beside an unsigned number stays what it is.
    Some(Answer::coerced(ret, vec![args[0].ty, args[1].ty]))
}

/// Real numbers; two bools become integers.
fn real_rule(args: &[Arg], elementwise: bool, fold: fn(i64, i64) -> Option<i64>) -> Option<Answer> {
    let t = common(args, elementwise)?;
    if t.is_complex() {
        return None;
    }
    let t = if *t == Kind::Bool { Type::int_of(crate::types::Int::I8) } else { t };
    Some(Answer::coerced(t, vec![t, t]).known(fold_ints(args, t, fold)))
}

fn floordiv_rule(args: &[Arg], elementwise: bool) -> Option<Answer> {
    real_rule(args, elementwise, fold_floordiv)
}
fn mod_rule(args: &[Arg], elementwise: bool) -> Option<Answer> {
    real_rule(args, elementwise, fold_mod)
}

fn bits_rule(args: &[Arg], elementwise: bool, fold: fn(i64, i64) -> Option<i64>) -> Option<Answer> {
    if !args.iter().all(|a| a.ty.is_index()) {
        return None;
    }
    let t = if args.iter().all(|a| *a.ty == Kind::Bool) { Type::bool() } else { common(args, elementwise)? };
    if !t.is_index() {
        return None;
    }
    Some(Answer::coerced(t, vec![t, t]).known(fold_ints(args, t, fold)))
}

pub(super) fn shift_rule(
    args: &[Arg],
    elementwise: bool,
    fold: fn(i64, i64) -> Option<i64>,
) -> Option<Answer> {
    if !args.iter().all(|a| a.ty.is_index()) {
        return None;
    }
    let t = common(args, elementwise)?;
    let t = match t.number()? {
        NumberType::Bool => Type::int_of(crate::types::Int::I8),
        NumberType::Int(_) => t,
        NumberType::Float(_) | NumberType::Complex(_) => return None,
    };
    if elementwise {
        return Some(Answer::coerced(t, vec![t, t]));
    }
    let t = shifted_type(args[0].ty, t);
    Some(Answer::coerced(t, vec![t, count_type(args[1].ty)]).known(fold_ints(args, t, fold)))
}

/// Of a number that is shifted its own sign decides, as in Numba: `t` is the type of arithmetic with the
/// count.
pub(crate) fn shifted_type(of: Type, t: Type) -> Type {
    let Kind::Int(i) = *of else { return t };
    if !i.signed() {
        if of.is_weak() { of } else { Type::int_of(crate::types::Int::U64) }
    } else if is_unsigned(t) {
        if of.is_weak() { of } else { Type::i64() }
    } else {
        t
    }
}

/// How far is counted in the number's own sign.
pub(crate) fn count_type(of: Type) -> Type {
    if is_unsigned(of) { Type::int_of(crate::types::Int::U64) } else { Type::int() }
}

fn sign_rule(args: &[Arg], elementwise: bool, fold: fn(i64) -> Option<i64>) -> Option<Answer> {
    let is_bool = *args[0].ty == Kind::Bool;
    if !number(&args[0]) || is_bool && elementwise {
        return None;
    }
    let t = if is_bool { Type::int() } else { args[0].ty };
    Some(Answer::coerced(t, vec![t]).known(fold_int(args, t, fold)))
}

fn invert_rule(args: &[Arg], elementwise: bool) -> Option<Answer> {
    let t = args[0].ty;
    if !t.is_index() {
        return None;
    }
    let known_bool = *t == Kind::Bool && !elementwise && args[0].konst.is_some();
    let t = if known_bool { Type::int() } else { t };
    Some(Answer::coerced(t, vec![t]).known(fold_int(args, t, |a| Some(!a))))
}

/// Operation by class of operand: integers, floats, complex by parts, bool by bits.
fn field(cx: &mut LowerCx<'_>, c: &OpCall<'_>, int: Op, float: Op, bits: Op) -> Result<Val> {
    let op = match c.types[0].number() {
        Some(NumberType::Bool) => bits,
        Some(NumberType::Int(_)) => int,
        Some(NumberType::Float(_) | NumberType::Complex(_)) | None => float,
    };
    let mut parts: Val = c.args[0].iter().zip(&c.args[1]).map(|(a, b)| cx.b.bin(op, *a, *b)).collect();
    // A real number beside a complex one has no imaginary part.
    let longer = if c.args[0].len() > c.args[1].len() { &c.args[0] } else { &c.args[1] };
    parts.extend(&longer[parts.len()..]);
    Ok(parts)
}

fn emit_sub(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.args[0].len() < c.args[1].len() {
        let (a, b) = (c.args[0][0], &c.args[1]);
        return Ok(vec![cx.b.bin(Op::Fsub, a, b[0]), cx.b.un(Op::Fneg, b[1])]);
    }
    field(cx, c, Op::Isub, Op::Fsub, Op::Bxor)
}

pub(crate) fn emit_mul(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, b) = (&c.args[0], &c.args[1]);
    match (&a[..], &b[..]) {
        ([_], [_]) => field(cx, c, Op::Imul, Op::Fmul, Op::Band),
        (real @ [_], parts) | (parts, real @ [_]) => {
            Ok(parts.iter().map(|part| cx.b.bin(Op::Fmul, *part, real[0])).collect())
        }
        _ => Ok(complex_mul(cx, a, b)),
    }
}

/// `(a.re + a.im i) (b.re + b.im i)` as C and NumPy compute it.
pub(crate) fn complex_mul(cx: &mut LowerCx<'_>, a: &[Value], b: &[Value]) -> Val {
    let (ac, bd) = (cx.b.bin(Op::Fmul, a[0], b[0]), cx.b.bin(Op::Fmul, a[1], b[1]));
    let (ad, bc) = (cx.b.bin(Op::Fmul, a[0], b[1]), cx.b.bin(Op::Fmul, a[1], b[0]));
    vec![cx.b.bin(Op::Fsub, ac, bd), cx.b.bin(Op::Fadd, ad, bc)]
}

/// Raises ZeroDivisionError where Python does: on scalars, unless NumPy's answers were asked for.
fn check_divisor(cx: &mut LowerCx<'_>, c: &OpCall<'_>, message: &str) {
    if c.elementwise || cx.options.numpy_errors {
        return;
    }
    let mut nonzero = crate::emit::cast::truth(cx, c.args[1][0], part_type(c.types[1]));
    if c.types[1].is_complex() {
        let im = crate::emit::cast::truth(cx, c.args[1][1], part_type(c.types[1]));
        nonzero = cx.or(nonzero, im);
    }
    cx.check(nonzero, Class::ZeroDivisionError, message);
}

fn part_type(t: Type) -> Type {
    if let Kind::Complex(f) = *t { Type::float_of(f) } else { t }
}

fn emit_true_div(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.ret.is_complex() {
        check_divisor(cx, c, "complex division by zero");
        if let [divisor] = c.args[1][..] {
            return Ok(c.args[0].iter().map(|part| cx.b.bin(Op::Fdiv, *part, divisor)).collect());
        }
        if let [real] = c.args[0][..] {
            return Ok(real_by_complex(cx, real, &c.args[1]));
        }
        let numpy = c.elementwise || cx.options.numpy_errors;
        return Ok(complex_div(cx, &c.args[0], &c.args[1], numpy));
    }
    check_divisor(cx, c, if c.types[0].is_index() { "division by zero" } else { "float division by zero" });
    let (a, b) =
        (cast::cast(cx, &c.args[0], c.types[0], c.ret)?, cast::cast(cx, &c.args[1], c.types[1], c.ret)?);
    let quotient = cx.b.bin(Op::Fdiv, a[0], b[0]);
    let of_python = c.types.iter().take(2).all(|t| t.is_index()) && c.ret.is_weak() && !c.elementwise;
    if !of_python || !cx.options.platform.slow_ways() {
        return Ok(vec![quotient]);
    }
    let ints = [0, 1].map(|k| cast::to_i64(cx, c.args[k][0], c.types[k]));
    let small = [0, 1].map(|k| {
        let known = c.consts[k].as_ref().and_then(Const::as_int);
        *c.types[k] == Kind::Bool || known.is_some_and(|n| n.unsigned_abs() <= 1 << 53)
    });
    if c.types.iter().take(2).any(|t| *t == Type::big_int()) {
        super::quick::check_floats(cx, ints, small);
        return Ok(vec![quotient]);
    }
    Ok(vec![super::quick::int_quotient(cx, quotient, ints, small)])
}

/// A real number by a complex one, by Smith's method.
fn real_by_complex(cx: &mut LowerCx<'_>, a: Value, b: &[Value]) -> Val {
    let (abs_re, abs_im) = (cx.b.un(Op::Fabs, b[0]), cx.b.un(Op::Fabs, b[1]));
    let re_larger = cx.b.bin(Op::FcmpGe, abs_re, abs_im);
    let (big, small) = (cx.b.select(re_larger, b[0], b[1]), cx.b.select(re_larger, b[1], b[0]));
    let ratio = cx.b.bin(Op::Fdiv, small, big);
    let scaled = cx.b.bin(Op::Fmul, small, ratio);
    let divisor = cx.b.bin(Op::Fadd, big, scaled);
    let negated = cx.b.un(Op::Fneg, a);
    let (of_re, of_im) = (cx.b.bin(Op::Fmul, a, ratio), cx.b.bin(Op::Fmul, negated, ratio));
    let (re, im) = (cx.b.select(re_larger, a, of_re), cx.b.select(re_larger, of_im, negated));
    vec![cx.b.bin(Op::Fdiv, re, divisor), cx.b.bin(Op::Fdiv, im, divisor)]
}

/// Complex division by Smith's method: scaled by the larger part of the divisor. CPython divides by the
/// scaled divisor, NumPy multiplies by its reciprocal and takes a zero divisor as a real one.
pub(crate) fn complex_div(cx: &mut LowerCx<'_>, a: &[Value], b: &[Value], numpy: bool) -> Val {
    let (abs_re, abs_im) = (cx.b.un(Op::Fabs, b[0]), cx.b.un(Op::Fabs, b[1]));
    let re_larger = cx.b.bin(Op::FcmpGe, abs_re, abs_im);
    let t = cx.b.ty(a[0]);
    let one = crate::emit::cast::constant(cx, t, 1.0);
    let scaled = |cx: &mut LowerCx<'_>, big: Value, small: Value, x: [Value; 4], sub_first: bool| {
        let ratio = cx.b.bin(Op::Fdiv, small, big);
        let t = cx.b.bin(Op::Fmul, small, ratio);
        let den = cx.b.bin(Op::Fadd, big, t);
        let p = cx.b.bin(Op::Fmul, x[0], ratio);
        let re = cx.b.bin(Op::Fadd, p, x[1]);
        let q = cx.b.bin(Op::Fmul, x[2], ratio);
        let im = if sub_first { cx.b.bin(Op::Fsub, q, x[3]) } else { cx.b.bin(Op::Fsub, x[3], q) };
        if !numpy {
            return [cx.b.bin(Op::Fdiv, re, den), cx.b.bin(Op::Fdiv, im, den)];
        }
        let scale = cx.b.bin(Op::Fdiv, one, den);
        [cx.b.bin(Op::Fmul, re, scale), cx.b.bin(Op::Fmul, im, scale)]
    };
    let by_re = scaled(cx, b[0], b[1], [a[1], a[0], a[0], a[1]], false);
    let by_im = scaled(cx, b[1], b[0], [a[0], a[1], a[1], a[0]], true);
    let quotient: Val = (0..2).map(|k| cx.b.select(re_larger, by_re[k], by_im[k])).collect();
    if !numpy {
        return quotient;
    }
    let zero = cx.zero(t);
    let sum = cx.b.bin(Op::Fadd, abs_re, abs_im);
    let by_zero = cx.b.bin(Op::FcmpEq, sum, zero);
    (0..2)
        .map(|k| {
            let q = cx.b.bin(Op::Fdiv, a[k], abs_re);
            cx.b.select(by_zero, q, quotient[k])
        })
        .collect()
}

fn is_unsigned(t: Type) -> bool {
    matches!(*t, Kind::Int(i) if !i.signed())
}

pub(crate) fn emit_floordiv(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, b) = (c.args[0][0], c.args[1][0]);
    if c.types[0].is_float() {
        check_divisor(cx, c, "float floor division by zero");
        return Ok(vec![super::quick::float_floordiv(cx, a, b)]);
    }
    // Rounding down is what an arithmetic shift does.
    if let Some(k) = power_of_two(c) {
        return Ok(vec![cx.b.bin_imm(
            if is_unsigned(c.types[0]) { Op::Ushr } else { Op::Sshr },
            a,
            k as i64,
        )]);
    }
    check_divisor(cx, c, "integer division or modulo by zero");
    if is_unsigned(c.types[0]) {
        return Ok(vec![cx.b.bin(Op::Udiv, a, b)]);
    }
    if c.consts[1].as_ref().and_then(Const::as_int).is_some_and(|n| n > 0) {
        // For x below zero `~(~x / n)`: nothing to adjust, and the complements fall away where x is known not
        // to be negative.
        let negative = cx.b.bin_imm(Op::IcmpSlt, a, 0);
        let ty = cx.b.ty(a);
        let wide = if ty == Ty::I8 { negative } else { cx.b.conv(Op::Zext, ty, negative) };
        let mask = cx.b.un(Op::Ineg, wide);
        let folded = cx.b.bin(Op::Bxor, a, mask);
        let q = cx.b.bin(Op::Sdiv, folded, b);
        return Ok(vec![cx.b.bin(Op::Bxor, q, mask)]);
    }
    let q = cx.b.bin(Op::Sdiv, a, b);
    let back = cx.b.bin(Op::Imul, q, b);
    let r = cx.b.bin(Op::Isub, a, back);
    let low = cx.b.bin_imm(Op::Isub, q, 1);
    let adjust = needs_adjustment(cx, r, b);
    // A division by zero between arrays gives 0.
    let zero_divisor = cx.b.bin_imm(Op::IcmpEq, b, 0);
    let keep = cx.not(zero_divisor);
    let adjust = cx.and(adjust, keep);
    Ok(vec![cx.b.select(adjust, low, q)])
}

/// The exponent, where the divisor is a constant power of two that its type holds.
fn power_of_two(c: &OpCall<'_>) -> Option<u32> {
    let Kind::Int(i) = *c.types[1] else { return None };
    let n = c.consts[1].as_ref()?.as_int()?;
    (n > 0 && n & (n - 1) == 0 && n.trailing_zeros() + 1 < i.bits()).then(|| n.trailing_zeros())
}

/// Whether truncation went towards zero where Python goes down: the remainder is on the other side of zero
/// than the divisor. Said so that nothing is left to do where neither is known to be negative.
fn needs_adjustment(cx: &mut LowerCx<'_>, r: Value, b: Value) -> Value {
    let negative = cx.b.bin_imm(Op::IcmpSlt, b, 0);
    let above = cx.b.bin_imm(Op::IcmpSgt, r, 0);
    let below = cx.b.bin_imm(Op::IcmpSlt, r, 0);
    cx.b.select(negative, above, below)
}

pub(crate) fn emit_mod(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, b) = (c.args[0][0], c.args[1][0]);
    if c.types[0].is_float() {
        check_divisor(cx, c, "float modulo");
        return Ok(vec![super::quick::float_mod(cx, a, b)]);
    }
    if let Some(k) = power_of_two(c) {
        return Ok(vec![cx.b.bin_imm(Op::Band, a, (1i64 << k) - 1)]);
    }
    check_divisor(cx, c, "integer modulo by zero");
    if is_unsigned(c.types[0]) {
        return Ok(vec![cx.b.bin(Op::Urem, a, b)]);
    }
    let r = cx.b.bin(Op::Srem, a, b);
    let up = cx.b.bin(Op::Iadd, r, b);
    let adjust = needs_adjustment(cx, r, b);
    Ok(vec![cx.b.select(adjust, up, r)])
}

/// Shift amounts at or past the width, which the instruction would take modulo the width.
fn shift(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    op: Op,
    past: impl FnOnce(&mut LowerCx<'_>, Value) -> Value,
) -> Result<Val> {
    let (a, n) = (c.args[0][0], c.args[1][0]);
    if !c.elementwise && !is_unsigned(c.types[1]) {
        let ok = cx.b.bin_imm(Op::IcmpSge, n, 0);
        cx.check(ok, Class::ValueError, "negative shift count");
    }
    let bits = cx.b.ty(a).lane().bytes() as i64 * 8;
    let width = cx.b.iconst(cx.b.ty(n), bits);
    let inside = cx.b.bin(Op::IcmpUlt, n, width);
    let shifted = cx.b.bin(op, a, n);
    let other = past(cx, a);
    Ok(vec![cx.b.select(inside, shifted, other)])
}

pub(crate) fn emit_lshift(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    shift(cx, c, Op::Ishl, |cx, a| {
        let t = cx.b.ty(a);
        cx.zero(t)
    })
}

fn emit_rshift(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if is_unsigned(c.types[0]) {
        return shift(cx, c, Op::Ushr, |cx, a| {
            let t = cx.b.ty(a);
            cx.zero(t)
        });
    }
    shift(cx, c, Op::Sshr, |cx, a| {
        let last = cx.b.ty(a).lane().bytes() as i64 * 8 - 1;
        cx.b.bin_imm(Op::Sshr, a, last)
    })
}

fn emit_neg(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let op = if c.types[0].is_int() { Op::Ineg } else { Op::Fneg };
    Ok(c.args[0].iter().map(|v| cx.b.un(op, *v)).collect())
}

fn emit_invert(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let v = c.args[0][0];
    Ok(vec![if *c.types[0] == Kind::Bool { cx.not(v) } else { cx.b.un(Op::Bnot, v) }])
}
