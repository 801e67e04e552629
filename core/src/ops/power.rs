//! Powers: `**`, `np.power`, `np.float_power` and `pow` with a modulus.
//!
//! An `int` to a constant negative power is a float, as in Python. To a negative power known only when it
//! runs, 1 and -1 have integer answers and all other bases raise, because the result's type is already an
//! integer. Constant exponents whose results multiplication gives exactly rounded (-1, 0, 1, 2 and ½) call
//! nothing, and the cube of an array's elements neither.

use super::elementwise::number;
use super::kernel::Map;
use super::mathfn::{f32_pow, f64_pow};
use super::number as num;
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cast::constant;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Ty, Value};
use crate::types::{Const, Float, Int, Kind, NumberType, Type, promote};
use crate::typing::{Answer, Arg, no_match};

super::identity::op_ids! {
    POW = "operator.pow" [computes],
    BUILTINS_POW = "builtins.pow",
    NUMPY_POWER = "numpy.power",
}

const BIN: &str = "x1, x2, out=None";

pub(crate) static OPS: &[OpDef] = &[
    // NumPy squares here, and a bool squared is an int8.
    OpDef::new(
        &["operator.pow"],
        BIN,
        Body::Ufunc(
            |a, e| {
                let square = e && *a[0].ty == Kind::Bool && matches!(a[1].konst, Some(Const::Int(2)));
                square.then(|| Answer::coerced(Type::int_of(Int::I8), vec![Type::int_of(Int::I8); 2]))
            },
            emit_power,
        ),
    )
    .doc("`x1 ** 2` of arrays of bool."),
    OpDef::new(
        &["operator.pow", "numpy.power", "numpy.pow"],
        BIN,
        Body::Ufunc(
            |a, e| {
                if e && exponent(&a[1].konst) == Some(2.0) && !a[0].ty.is_complex() {
                    power_rule(a, true)
                } else {
                    None
                }
            },
            emit_power,
        ),
    )
    .kernel(Map::Square)
    .doc("`x1 ** 2` of arrays."),
    // NumPy's operator takes reciprocals and roots of complex numbers here, its function does not.
    OpDef::new(
        &["operator.pow"],
        BIN,
        Body::Ufunc(
            |a, e| {
                if e && a[0].ty.is_complex()
                    && exponent(&a[1].konst).is_some_and(|n| [-1.0, 0.5].contains(&n))
                {
                    power_rule(a, true)
                } else {
                    None
                }
            },
            emit_complex_power,
        ),
    )
    .doc("`1 / x1` and the square root of complex `x1`, as powers."),
    // These need no power at all, so the kernel would be slower than the loop.
    OpDef::new(
        &["operator.pow", "numpy.power", "numpy.pow"],
        BIN,
        Body::Ufunc(
            |a, e| {
                if e && exponent(&a[1].konst).is_some_and(|n| [-1.0, 0.0, 0.5, 1.0, 3.0].contains(&n)) {
                    power_rule(a, true)
                } else {
                    None
                }
            },
            emit_power,
        ),
    )
    .raises()
    .doc("`x1 ** n` of arrays for a few constants."),
    OpDef::new(&["operator.pow"], BIN, Body::Ufunc(power_rule, emit_power))
        .kernel(Map::Pow)
        .raises_for_elements()
        .doc("`x1 ** x2`."),
    OpDef::new(
        &["numpy.power", "numpy.pow"],
        BIN,
        Body::Ufunc(|a, _| power_rule(a, true), |cx, c| emit_power(cx, &OpCall { elementwise: true, ..*c })),
    )
    .kernel(Map::Pow)
    .raises_for_elements()
    .doc("`x1` to the power `x2`."),
    OpDef::new(
        &["numpy.float_power"],
        BIN,
        Body::Ufunc(float_power_rule, |cx, c| {
            // No root: this function has it from `pow` also of arrays.
            let consts = if exponent(&c.consts[1]) == Some(0.5) { &[None, None][..] } else { c.consts };
            emit_power(cx, &OpCall { elementwise: true, consts, ..*c })
        }),
    )
    .doc("`x1` to the power `x2` in double precision."),
    OpDef::new(&["builtins.pow"], "base, exp, mod=None", Body::Py("builtin.power"))
        .raises()
        .doc("`base ** exp`, modulo `mod` where it is given."),
    OpDef::new(
        &["operator._pow_modular"],
        "base, exp, mod",
        Body::Lir(
            |_, a| {
                // What is more than a signed integer holds has no place there.
                if a.iter().all(|a| a.ty.is_index())
                    && a.iter().all(|a| a.ty.strong() != Type::int_of(Int::U64))
                {
                    Ok(Answer::of(Type::int()))
                } else {
                    Err(no_match("pow() with three arguments", a))
                }
            },
            |cx, c| {
                let v: Vec<Value> = (0..3).map(|k| cast::to_i64(cx, c.args[k][0], c.types[k])).collect();
                Ok(vec![cx.helper_value(&num::int_pow_mod, &v)])
            },
        ),
    )
    .raises()
    .doc("`pow(base, exp, mod)` of integers."),
];

/// The exponent when it is known, as a float: every small integer is one exactly.
fn exponent(konst: &Option<Const>) -> Option<f64> {
    match konst {
        Some(Const::Int(i)) if i.unsigned_abs() < 1 << 53 => Some(*i as f64),
        Some(Const::Float(x)) => Some(*x),
        Some(Const::Bool(b)) => Some(*b as i64 as f64),
        _ => None,
    }
}

pub(crate) fn power_rule(args: &[Arg], elementwise: bool) -> Option<Answer> {
    if !args.iter().all(|a| number(a.ty).is_some()) {
        return None;
    }
    let (a, b) = (args[0].ty, args[1].ty);
    if elementwise {
        let t = super::elementwise::common(args)?;
        let t = super::elementwise::bool_as_i8(t);
        return Some(Answer::coerced(t, vec![t, t]));
    }
    if a.is_index() && b.is_index() {
        if args[1].int().is_some_and(|n| n < 0) {
            let t = if a.is_weak() || *a == Kind::Bool { Type::float() } else { Type::f64() };
            return Some(Answer::coerced(t, vec![t, t]));
        }
        let t = promote::arith(a, b)?;
        let known = match (args[0].int(), args[1].int()) {
            (Some(x), Some(n)) if t == Type::int() => {
                u32::try_from(n).ok().and_then(|n| x.checked_pow(n)).map(Const::Int)
            }
            _ => None,
        };
        // The exponent keeps its own sign: a negative one must not become a huge unsigned one.
        let exp =
            if matches!(*b, Kind::Int(i) if !i.signed()) { Type::int_of(Int::U64) } else { Type::i64() };
        return Some(Answer::coerced(t, vec![t, exp]).known(known));
    }
    let t = promote::arith(a, b)?;
    Some(Answer::coerced(t, vec![t, t]))
}

fn float_power_rule(args: &[Arg], _: bool) -> Option<Answer> {
    let t = super::elementwise::common(args)?;
    let t = if t.is_complex() { Type::new(Kind::Complex(Float::F64)) } else { Type::f64() };
    Some(Answer::coerced(t, vec![t, t]))
}

pub(crate) fn emit_power(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let known = exponent(&c.consts[1]);
    match c.types[0].number() {
        Some(NumberType::Bool | NumberType::Int(_)) => integer_power(cx, c, known),
        Some(NumberType::Complex(_)) => complex_power(cx, c, known),
        Some(NumberType::Float(_)) | None => float_power(cx, c, known),
    }
}

fn unsigned(t: Type) -> bool {
    matches!(*t, Kind::Int(i) if !i.signed())
}

fn integer_power(cx: &mut LowerCx<'_>, c: &OpCall<'_>, known: Option<f64>) -> Result<Val> {
    let (a, t) = (c.args[0][0], c.types[0]);
    if let Some(n) = known
        && (0.0..=8.0).contains(&n)
    {
        return Ok(vec![multiplied(cx, a, n as u32)]);
    }
    let (base, exp) = (cast::to_i64(cx, a, t), cast::to_i64(cx, c.args[1][0], c.types[1]));
    if unsigned(c.types[1]) {
        // Unsigned exponents: wrapping multiplication gives the same bits whatever the sign of the base.
        let r = cx.helper_value(&num::uint_pow, &[base, exp]);
        return Ok(vec![cast::scalar(cx, r, Type::i64(), t)]);
    }
    let r = if c.elementwise {
        cx.helper_value(&num::int_pow_checked, &[base, exp])
    } else {
        let negative = cx.b.bin_imm(Op::IcmpSlt, exp, 0);
        cx.if_then(negative, |cx| {
            let nonzero = cx.b.bin_imm(Op::IcmpNe, base, 0);
            cx.check(nonzero, Class::ZeroDivisionError, "0.0 cannot be raised to a negative power");
            let (plus, minus) = (cx.b.bin_imm(Op::IcmpEq, base, 1), cx.b.bin_imm(Op::IcmpEq, base, -1));
            let ok = cx.or(plus, minus);
            cx.check(ok, Class::ValueError, "an int to a negative power is no int: use a float");
            Ok(())
        })?;
        cx.helper_value(&num::int_pow, &[base, exp])
    };
    Ok(vec![cast::scalar(cx, r, Type::i64(), t)])
}

/// `a` to the `n` by squaring; exact modulo the width.
fn multiplied(cx: &mut LowerCx<'_>, a: Value, n: u32) -> Value {
    let t = cx.b.ty(a);
    if n == 0 {
        return cx.b.iconst(t, 1);
    }
    let (mut square, mut result) = (a, None);
    for bit in 0..32 - n.leading_zeros() {
        if bit > 0 {
            square = cx.b.bin(Op::Imul, square, square);
        }
        if n >> bit & 1 != 0 {
            result = Some(match result {
                None => square,
                Some(r) => cx.b.bin(Op::Imul, r, square),
            });
        }
    }
    result.unwrap_or(a)
}

/// Whether a power that is too large is infinite: NumPy's numbers warn of it at most, Python's raise.
fn is_quiet(cx: &LowerCx<'_>, c: &OpCall<'_>) -> bool {
    c.elementwise || cx.options.numpy_errors || !c.ret.is_weak()
}

fn float_power(cx: &mut LowerCx<'_>, c: &OpCall<'_>, known: Option<f64>) -> Result<Val> {
    let (a, b) = (c.args[0][0], c.args[1][0]);
    let t = cx.b.ty(a);
    let quiet = is_quiet(cx, c);
    match known {
        Some(0.0) => return Ok(vec![constant(cx, t, 1.0)]),
        Some(1.0) => return Ok(vec![a]),
        Some(2.0) => {
            if !quiet {
                check_square(cx, a, b);
            }
            return Ok(vec![cx.b.bin(Op::Fmul, a, a)]);
        }
        // As Numba has it: within one unit of the power, and a small part of its time.
        Some(3.0) if c.elementwise => {
            let square = cx.b.bin(Op::Fmul, a, a);
            return Ok(vec![cx.b.bin(Op::Fmul, square, a)]);
        }
        Some(3.0) => {
            return Ok(vec![super::quick::cube(cx, a, b, quiet)]);
        }
        Some(-1.0) => {
            if !quiet {
                let nonzero = cast::truth(cx, a, c.types[0]);
                cx.check(nonzero, Class::ZeroDivisionError, "0.0 cannot be raised to a negative power");
            }
            let one = constant(cx, t, 1.0);
            let r = cx.b.bin(Op::Fdiv, one, a);
            return Ok(vec![if quiet || t == Ty::F32 { r } else { finite_power(cx, r, a, b) }]);
        }
        // Of arrays NumPy takes the square root.
        Some(0.5) if c.elementwise => return Ok(vec![cx.b.un(Op::Fsqrt, a)]),
        Some(0.5) => {
            // Unlike the square root, the power of -0.0 is 0.0 and that of -inf is inf.
            let (zero, inf, low) =
                (cx.zero(t), constant(cx, t, f64::INFINITY), constant(cx, t, f64::NEG_INFINITY));
            let root = cx.b.un(Op::Fsqrt, a);
            let root = cx.b.bin(Op::Fadd, root, zero);
            let is_low = cx.b.bin(Op::FcmpEq, a, low);
            return Ok(vec![cx.b.select(is_low, inf, root)]);
        }
        _ => {}
    }
    if quiet {
        return Ok(vec![cx.helper_value(if t == Ty::F32 { &f32_pow } else { &f64_pow }, &[a, b])]);
    }
    if t == Ty::F64 {
        return Ok(vec![super::quick::finite_or(cx, &[a, b], &f64_pow, &num::float_pow)]);
    }
    let (zero, b_negative) = (cx.zero(t), {
        let zero = cx.zero(t);
        cx.b.bin(Op::FcmpLt, b, zero)
    });
    let a_zero = cx.b.bin(Op::FcmpEq, a, zero);
    let bad = cx.and(a_zero, b_negative);
    let ok = cx.not(bad);
    cx.check(ok, Class::ZeroDivisionError, "0.0 cannot be raised to a negative power");
    Ok(vec![cx.helper_value(&f32_pow, &[a, b])])
}

/// Python's OverflowError where the square of a finite number is infinite: its bits without the sign, as a whole
/// number, lie between those of the greatest number whose square is finite and those of infinity. Two
/// comparisons of floats, whose answers for NaN have to be put together, take twice as many instructions.
fn check_square(cx: &mut LowerCx<'_>, x: Value, two: Value) {
    if cx.b.ty(x) == Ty::F32 {
        return;
    }
    let mut greatest = f64::MAX.sqrt().to_bits();
    while f64::from_bits(greatest + 1).powi(2).is_finite() {
        greatest += 1;
    }
    let from = (greatest + 1) << 1;
    let (bits, one) = (cx.b.conv(Op::Bitcast, Ty::I64, x), cx.b.i64(1));
    let size = cx.b.bin(Op::Ishl, bits, one);
    let beyond = cx.b.bin_imm(Op::Isub, size, from as i64);
    let span = cx.b.i64(((f64::INFINITY.to_bits() << 1) - from) as i64);
    let ok = cx.b.bin(Op::IcmpUle, span, beyond);
    if cx.options.platform.slow_ways() {
        cx.check_made(ok, |cx| cx.raised_by(&num::float_pow, &[x, two]));
    } else {
        cx.check(ok, Class::OverflowError, "(34, 'Numerical result out of range')");
    }
}

/// A power that is known, where it is finite; else Python's, which may be an OverflowError.
fn finite_power(cx: &mut LowerCx<'_>, power: Value, a: Value, b: Value) -> Value {
    super::quick::where_finite(cx, power, &[a, b], &num::float_pow)
}

fn complex_power(cx: &mut LowerCx<'_>, c: &OpCall<'_>, known: Option<f64>) -> Result<Val> {
    let quiet = is_quiet(cx, c);
    if let Some(1.0 | 2.0) = known {
        let z = &c.args[0];
        let power = if known == Some(2.0) { super::arith::complex_mul(cx, z, z) } else { z.clone() };
        // Python's begins with one, and `1 * z` has other zeros than `z`.
        return Ok(if quiet || !c.types[0].is_weak() { power } else { times_one(cx, &power) });
    }
    let parts: Vec<Value> =
        c.args[..2].concat().into_iter().map(|v| crate::emit::cast::widen(cx, v)).collect();
    Ok(complex_helper(cx, if quiet { &num::np_complex_pow } else { &num::complex_pow }, &parts, c.ret))
}

/// `(1+0j) * z`, which must be finite.
fn times_one(cx: &mut LowerCx<'_>, z: &[Value]) -> Val {
    let zero = cx.zero(Ty::F64);
    let (more, less) = (cx.b.bin(Op::Fmul, zero, z[0]), cx.b.bin(Op::Fmul, zero, z[1]));
    let power = vec![cx.b.bin(Op::Fsub, z[0], less), cx.b.bin(Op::Fadd, z[1], more)];
    let inf = constant(cx, Ty::F64, f64::INFINITY);
    let bounded = |cx: &mut LowerCx<'_>, part: Value| {
        let size = cx.b.un(Op::Fabs, part);
        cx.b.bin(Op::FcmpNe, size, inf)
    };
    let (re, im) = (bounded(cx, power[0]), bounded(cx, power[1]));
    let ok = cx.and(re, im);
    cx.check(ok, Class::OverflowError, "complex exponentiation");
    power
}

/// The reciprocal of a complex number, or its square root where the exponent is ½.
fn emit_complex_power(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if exponent(&c.consts[1]) == Some(-1.0) {
        return super::elementwise::emit_reciprocal(
            cx,
            &OpCall { args: &c.args[..1], types: &c.types[..1], ..*c },
        );
    }
    let parts: Vec<Value> = c.args[0].iter().map(|v| crate::emit::cast::widen(cx, *v)).collect();
    Ok(complex_helper(cx, &num::np_complex_sqrt, &parts, c.ret))
}

/// Calls a helper that writes a complex number to the address after its operands.
pub(crate) fn complex_helper(
    cx: &mut LowerCx<'_>,
    helper: &'static crate::rt::RtFn,
    operands: &[Value],
    ret: Type,
) -> Val {
    let single = matches!(*ret, Kind::Complex(f) if f.bits() == 32);
    if !cx.options.platform.slow_ways()
        && let Some(parts) = super::complex_without_host::computed(cx, helper, operands)
    {
        return parts.map(|v| if single { cx.b.conv(Op::Fconvert, Ty::F32, v) } else { v }).to_vec();
    }
    let out = cx.b.slot_addr(16);
    let all: Vec<Value> = operands.iter().copied().chain([out]).collect();
    cx.helper(helper, &all);
    [0, 8]
        .map(|off| {
            let v = cx.b.load(Ty::F64, out, off, crate::lir::Alias::Stack);
            if single { cx.b.conv(Op::Fconvert, Ty::F32, v) } else { v }
        })
        .to_vec()
}
