//! Operators on integers under `overflow="raise"`: what does not fit in its 64 bits is an OverflowError.
//!
//! Inference asks for these rows in front of those of their names (`OpId::checked`), in the user's code and
//! where the library adds up or multiplies for it. Arrays keep NumPy's arithmetic, which wraps.
//!
//! Python's ints of 2⁶³ and more have no sign. Beside them no other may be negative, nor may a result; where only the
//! low bits of a result are asked for, these rows give way to those that wrap (`core/src/lower/low_bits.rs`).

use super::arith::{bitwise, count_type, emit_floordiv, emit_lshift, emit_mod, shifted_type};
use super::mathmod::{folded, ints};
use super::number as num;
use super::power::{emit_power, power_rule};
use super::real::emit_divmod;
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Overflow, Val};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::types::{Const, Int, Kind, Type, promote};
use crate::typing::{Answer, Arg, no_match};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["checked.add"], "x1, x2", Body::Lir(|_, a| both(a, "+", i64::checked_add), emit_add))
        .raises()
        .doc("`x1 + x2`; OverflowError."),
    OpDef::new(&["checked.sub"], "x1, x2", Body::Lir(|_, a| both(a, "-", i64::checked_sub), emit_sub))
        .raises()
        .doc("`x1 - x2`; OverflowError."),
    OpDef::new(&["checked.mul"], "x1, x2", Body::Lir(|_, a| both(a, "*", i64::checked_mul), emit_mul))
        .raises()
        .doc("`x1 * x2`; OverflowError."),
    OpDef::new(
        &["checked.floordiv"],
        "x1, x2",
        Body::Lir(|_, a| signed_or_big(both(a, "//", |_, _| None)?, "//", a), emit_quotient),
    )
    .raises()
    .doc("`x1 // x2`; OverflowError for -2⁶³ // -1."),
    OpDef::new(
        &["checked.mod"],
        "x1, x2",
        Body::Lir(|_, a| beside_big(a, "%"), |cx, c| without_sign(cx, c, emit_mod)),
    )
    .raises()
    .doc("`x1 % x2` of ints that may be 2⁶³ or more; OverflowError."),
    OpDef::new(
        &["checked.or_"],
        "x1, x2",
        Body::Lir(|_, a| beside_big(a, "|"), |cx, c| without_sign(cx, c, |cx, c| bitwise(cx, c, Op::Bor))),
    )
    .raises()
    .doc("`x1 | x2` of ints that may be 2⁶³ or more; OverflowError."),
    OpDef::new(
        &["checked.xor"],
        "x1, x2",
        Body::Lir(|_, a| beside_big(a, "^"), |cx, c| without_sign(cx, c, |cx, c| bitwise(cx, c, Op::Bxor))),
    )
    .raises()
    .doc("`x1 ^ x2` of ints that may be 2⁶³ or more; OverflowError."),
    OpDef::new(
        &["checked.invert"],
        "x",
        Body::Lir(
            |_, a| of_big(a, "~"),
            |cx, c| {
                let never = cx.b.bool(true);
                check(cx, never, "complement");
                Ok(vec![cx.b.un(Op::Bnot, c.args[0][0])])
            },
        ),
    )
    .raises()
    .doc("`~x` of an int that may be 2⁶³ or more: OverflowError, for it is negative."),
    OpDef::new(&["checked.lshift"], "x1, x2", Body::Lir(|_, a| shifted(a), emit_shift))
        .raises()
        .doc("`x1 << x2`; OverflowError where bits are lost."),
    OpDef::new(&["checked.pow"], "x1, x2", Body::Lir(|_, a| powers(a), emit_pow))
        .raises()
        .doc("`x1 ** x2`; OverflowError."),
    OpDef::new(
        &["checked.neg"],
        "x",
        Body::Lir(
            |_, a| if *a[0].ty == Kind::Int(Int::Big) { of_big(a, "-") } else { one(a, "-") },
            |cx, c| {
                if is_unsigned(c.types[0]) {
                    let negative = cx.b.bin_imm(Op::IcmpNe, c.args[0][0], 0);
                    check(cx, negative, "negative value");
                    return Ok(c.args[0].clone());
                }
                magnitude(cx, c, "negative value", |_, _, neg| neg)
            },
        ),
    )
    .raises()
    .doc("`-x`; OverflowError."),
    OpDef::new(&["checked.divmod"], "a, b", Body::Lir(|_, a| divided(a), emit_divided))
        .raises()
        .doc("`(a // b, a % b)`; OverflowError for -2⁶³ // -1."),
    OpDef::new(&["checked.math.gcd"], "*integers", Body::Lir(|_, a| signed_ints(a), emit_gcd))
        .raises()
        .doc("Greatest common divisor; OverflowError for 2⁶³."),
    OpDef::new(&["checked.math.lcm"], "*integers", Body::Lir(|_, a| lcm_rule(a), emit_lcm))
        .raises()
        .doc("Least common multiple; OverflowError."),
    OpDef::new(
        &["checked.abs"],
        "x",
        Body::Lir(
            |_, a| one(a, "abs()"),
            |cx, c| magnitude(cx, c, "magnitude", |cx, v, neg| cx.b.bin(Op::Smax, v, neg)),
        ),
    )
    .raises()
    .doc("`abs(x)`; OverflowError."),
];

/// Integers whose magnitudes a signed one holds, but for 2⁶³; what takes others takes them without a check.
fn signed_ints(args: &[Arg]) -> Result<Answer> {
    if super::mathmod::is_wide(args) { Err(no_match("a function of integers", args)) } else { ints(args) }
}

fn is_unsigned(t: Type) -> bool {
    matches!(*t, Kind::Int(i) if !i.signed())
}

/// Two integers, whose arithmetic is one of 64 bits.
fn both(args: &[Arg], what: &str, fold: fn(i64, i64) -> Option<i64>) -> Result<Answer> {
    let t = if args.iter().all(|a| a.ty.is_index()) { promote::arith(args[0].ty, args[1].ty) } else { None };
    let t = t.filter(|t| t.is_int()).ok_or_else(|| no_match(what, args))?;
    let known = match (&args[0].konst, &args[1].konst) {
        (Some(Const::Int(a)), Some(Const::Int(b))) if t == Type::int() => fold(*a, *b).map(Const::Int),
        _ => None,
    };
    Ok(Answer::coerced(t, operands(args, t)).known(known))
}

/// What operands of arithmetic in a type become: beside ints without a sign those with one keep it, for it is looked
/// at.
fn operands(args: &[Arg], t: Type) -> Vec<Type> {
    let own = |a: &Arg| if *a.ty == Kind::Bool { Type::int() } else { a.ty };
    if t == Type::big_int() { args.iter().map(own).collect() } else { vec![t; args.len()] }
}

/// Two ints of Python's, one of which may be 2⁶³ or more.
fn beside_big(args: &[Arg], what: &str) -> Result<Answer> {
    let answer = both(args, what, |_, _| None)?;
    if answer.ret == Type::big_int() { Ok(answer) } else { Err(no_match(what, args)) }
}

/// The same of one.
fn of_big(args: &[Arg], what: &str) -> Result<Answer> {
    let t = args[0].ty;
    if t == Type::big_int() { Ok(Answer::coerced(t, vec![t])) } else { Err(no_match(what, args)) }
}

/// OverflowError where an operand is negative that is computed with as one without a sign.
fn check_signs(cx: &mut LowerCx<'_>, c: &OpCall<'_>) {
    if c.ret != Type::big_int() {
        return;
    }
    for (v, t) in c.args.iter().zip(c.types) {
        if *t == Type::int() {
            let negative = cx.b.bin_imm(Op::IcmpSlt, v[0], 0);
            check(cx, negative, "result");
        }
    }
}

/// An operation on numbers none of which has a sign.
fn without_sign(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    emit: impl Fn(&mut LowerCx<'_>, &OpCall<'_>) -> Result<Val>,
) -> Result<Val> {
    check_signs(cx, c);
    emit(cx, &OpCall { types: &[Type::big_int(); 2], ..*c })
}

fn shifted(args: &[Arg]) -> Result<Answer> {
    let t = shifted_type(args[0].ty, both(args, "<<", |_, _| None)?.ret);
    let t = if *args[0].ty == Kind::Bool { Type::int() } else { t };
    Ok(Answer::coerced(t, vec![t, count_type(args[1].ty)]))
}

fn signed_or_big(answer: Answer, what: &str, args: &[Arg]) -> Result<Answer> {
    if is_unsigned(answer.ret) && answer.ret != Type::big_int() {
        Err(no_match(what, args))
    } else {
        Ok(answer)
    }
}

/// A signed integer, which keeps its width.
fn one(args: &[Arg], what: &str) -> Result<Answer> {
    let t = args[0].ty;
    if t.is_int() && !is_unsigned(t) { Ok(Answer::coerced(t, vec![t])) } else { Err(no_match(what, args)) }
}

/// Integers whose power is one, of which a constant negative exponent gives a float; and floats of Python's.
fn powers(args: &[Arg]) -> Result<Answer> {
    let of_python = |a: &Arg| a.ty.is_weak() || *a.ty == Kind::Bool;
    let answer = if args.iter().all(|a| a.ty.is_index()) || args.iter().all(of_python) {
        power_rule(args, false)
    } else {
        None
    };
    let float = |t: Type| t == Type::float() && args.iter().all(of_python);
    answer.filter(|a| a.ret.is_int() || float(a.ret)).ok_or_else(|| no_match("**", args))
}

/// What is raised where an integer does not fit.
fn class(cx: &LowerCx<'_>) -> Class {
    match cx.options.overflow {
        Overflow::Wrap | Overflow::Raise => Class::OverflowError,
        Overflow::Python => Class::IntegerOverflow,
    }
}

/// OverflowError where a flag is set.
fn check(cx: &mut LowerCx<'_>, overflows: Value, what: &str) {
    let fits = cx.not(overflows);
    let class = class(cx);
    cx.check(fits, class, &format!("the {what} of integers does not fit in 64 bits"));
}

fn emit_add(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    check_signs(cx, c);
    let (a, b) = (c.args[0][0], c.args[1][0]);
    let sum = cx.b.bin(Op::Iadd, a, b);
    let bad =
        if is_unsigned(c.ret) { cx.b.bin(Op::IcmpUlt, sum, a) } else { cx.b.bin(Op::SaddOverflows, a, b) };
    check(cx, bad, "sum");
    Ok(vec![sum])
}

fn emit_sub(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    check_signs(cx, c);
    let (a, b) = (c.args[0][0], c.args[1][0]);
    let bad =
        if is_unsigned(c.ret) { cx.b.bin(Op::IcmpUlt, a, b) } else { cx.b.bin(Op::SsubOverflows, a, b) };
    check(cx, bad, "difference");
    Ok(vec![cx.b.bin(Op::Isub, a, b)])
}

fn emit_mul(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    check_signs(cx, c);
    let (a, b) = (c.args[0][0], c.args[1][0]);
    let product = cx.b.bin(Op::Imul, a, b);
    let bad = if is_unsigned(c.ret) {
        // Dividing gives the other factor back; by zero it gives some number, and the product is zero as it
        // should be.
        let back = cx.b.bin(Op::Udiv, product, a);
        let (other, nonzero) = (cx.b.bin(Op::IcmpNe, back, b), cx.b.bin_imm(Op::IcmpNe, a, 0));
        cx.and(other, nonzero)
    } else {
        cx.b.bin(Op::SmulOverflows, a, b)
    };
    check(cx, bad, "product");
    Ok(vec![product])
}

fn check_quotient(cx: &mut LowerCx<'_>, c: &OpCall<'_>) {
    let (low, minus) =
        (cx.b.bin_imm(Op::IcmpEq, c.args[0][0], i64::MIN), cx.b.bin_imm(Op::IcmpEq, c.args[1][0], -1));
    let bad = cx.and(low, minus);
    check(cx, bad, "quotient");
}

fn emit_quotient(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if is_unsigned(c.ret) {
        return without_sign(cx, c, emit_floordiv);
    }
    check_quotient(cx, c);
    emit_floordiv(cx, c)
}

fn divided(args: &[Arg]) -> Result<Answer> {
    let t = signed_or_big(both(args, "divmod()", |_, _| None)?, "divmod()", args)?.ret;
    Ok(Answer::coerced(Type::tuple(vec![t, t]), operands(args, t)))
}

fn emit_divided(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if let Some([t, _]) = c.ret.members()
        && is_unsigned(*t)
    {
        let ret = c.ret;
        return without_sign(cx, &OpCall { ret: *t, ..*c }, |cx, c| emit_divmod(cx, &OpCall { ret, ..*c }));
    }
    check_quotient(cx, c);
    emit_divmod(cx, c)
}

/// The magnitude 2⁶³ comes out as a negative number.
fn check_magnitude(cx: &mut LowerCx<'_>, x: Value, what: &str) {
    let bad = cx.b.bin_imm(Op::IcmpSlt, x, 0);
    check(cx, bad, what);
}

fn emit_gcd(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let r = folded(cx, c, 0, |cx, acc, v| cx.helper_value(&num::int_gcd, &[acc, v]));
    check_magnitude(cx, r[0], "greatest common divisor");
    Ok(r)
}

fn lcm_rule(args: &[Arg]) -> Result<Answer> {
    ints(args)?;
    Ok(Answer::of(if super::mathmod::is_wide(args) { Type::big_int() } else { Type::int() }))
}

fn emit_lcm(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    const WHAT: &str = "least common multiple";
    if is_unsigned(c.ret) {
        return Ok(folded(cx, c, 1, |cx, acc, v| {
            let gcd = cx.helper_value(&num::uint_gcd, &[acc, v]);
            let share = cx.b.bin(Op::Udiv, acc, gcd);
            let lcm = cx.helper_value(&num::uint_lcm, &[acc, v]);
            // Divided by one of the two there must be what it was multiplied with; of zeros there is nothing
            // to divide by.
            let back = cx.b.bin(Op::Udiv, lcm, v);
            let (other, some) = (cx.b.bin(Op::IcmpNe, back, share), cx.b.bin_imm(Op::IcmpNe, v, 0));
            let bad = cx.and(other, some);
            check(cx, bad, WHAT);
            lcm
        }));
    }
    Ok(folded(cx, c, 1, |cx, acc, v| {
        // Of zeros the divisor is zero, and so is what dividing by it gives.
        let gcd = cx.helper_value(&num::int_gcd, &[acc, v]);
        let share = cx.b.bin(Op::Sdiv, acc, gcd);
        let bad = cx.b.bin(Op::SmulOverflows, share, v);
        check(cx, bad, WHAT);
        let lcm = cx.helper_value(&num::int_lcm, &[acc, v]);
        check_magnitude(cx, lcm, WHAT);
        lcm
    }))
}

fn emit_shift(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, n) = (c.args[0][0], c.args[1][0]);
    let shifted = emit_lshift(cx, c)?;
    // Back from where all bits have left comes zero.
    let most = cx.b.i64(63);
    let by = cx.b.bin(Op::Umin, n, most);
    let back = cx.b.bin(if is_unsigned(c.ret) { Op::Ushr } else { Op::Sshr }, shifted[0], by);
    let bad = cx.b.bin(Op::IcmpNe, back, a);
    check(cx, bad, "shifted value");
    Ok(shifted)
}

fn emit_pow(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.ret.is_float() {
        return emit_float_pow(cx, c);
    }
    if c.ret == Type::big_int() && is_unsigned(c.types[1]) {
        // An exponent past 63 bits: the powers of 0 and 1 are all that there is.
        let always = cx.b.bool(true);
        check(cx, always, "power");
    }
    let (base, exp) =
        (cast::to_i64(cx, c.args[0][0], c.types[0]), cast::to_i64(cx, c.args[1][0], c.types[1]));
    if cx.options.overflow == Overflow::Python && !is_unsigned(c.types[1]) {
        // To a negative power Python's ints have floats.
        let negative = cx.b.bin_imm(Op::IcmpSlt, exp, 0);
        let nonzero = cx.b.bin_imm(Op::IcmpNe, base, 0);
        let lost = cx.and(negative, nonzero);
        let stays = cx.not(lost);
        let class = class(cx);
        cx.check(stays, class, "an int to a negative power is no int: use a float");
    }
    let power = emit_power(cx, c)?;
    let bad = if c.consts[1] == Some(Const::Int(2)) && !is_unsigned(c.types[0]) {
        cx.b.bin(Op::SmulOverflows, base, base)
    } else {
        let unsigned = cx.b.i64(i64::from(is_unsigned(c.types[0])) + 2 * i64::from(is_unsigned(c.types[1])));
        let overflows = cx.helper_value(&num::int_pow_overflows, &[base, exp, unsigned]);
        cx.b.bin_imm(Op::IcmpNe, overflows, 0)
    };
    check(cx, bad, "power");
    Ok(power)
}

/// A negative number to a fractional power is complex in Python, where C has NaN.
fn emit_float_pow(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let power = emit_power(cx, c)?;
    if cx.options.overflow == Overflow::Python {
        // NaN is equal to nothing: it comes out of NaN, or of such numbers.
        let is_number = |cx: &mut LowerCx<'_>, v| cx.b.bin(Op::FcmpEq, v, v);
        let (base, exp) = (c.args[0][0], c.args[1][0]);
        let (known, of_base, of_exp) = (is_number(cx, power[0]), is_number(cx, base), is_number(cx, exp));
        let of_both = cx.and(of_base, of_exp);
        let from_nan = cx.not(of_both);
        let real = cx.or(known, from_nan);
        let class = class(cx);
        cx.check(real, class, "a negative number to a fractional power is complex: use complex numbers");
    }
    Ok(power)
}

/// What is computed of a number and its negative, which all have but the least.
fn magnitude(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    what: &str,
    of: fn(&mut LowerCx<'_>, Value, Value) -> Value,
) -> Result<Val> {
    let v = c.args[0][0];
    let bits = cx.b.ty(v).bytes() * 8;
    let least = cx.b.bin_imm(Op::IcmpEq, v, i64::MIN >> (64 - bits));
    let other = cx.not(least);
    let class = class(cx);
    cx.check(other, class, &format!("the {what} of an integer does not fit in {bits} bits"));
    let neg = cx.b.un(Op::Ineg, v);
    Ok(vec![of(cx, v, neg)])
}
