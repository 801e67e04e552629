//! Python's modules `math` and `cmath`: scalar functions that raise what CPython raises.

use super::elementwise::next_after;
use super::mathfn as m;
use super::number as num;
use super::power::complex_helper;
use super::{Body, OpDef, quick};
use crate::diag::{Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val, split_leaves};
use crate::emit::length::length;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::rt::RtFn;
use crate::types::{Container, Int, Kind, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    MATH_FLOOR = "math.floor",
    MATH_LDEXP = "math.ldexp",
    MATH_CEIL = "math.ceil",
    MATH_TRUNC = "math.trunc",
}

/// A function of floats that a helper computes, errors included.
macro_rules! real {
    ($path:literal, $params:literal, $helper:path, $doc:literal) => {
        OpDef::new(
            &[$path],
            $params,
            Body::Lir(|_, a| reals(a, Type::float()), |cx, c| call(cx, c, &$helper)),
        )
        .halves()
        .raises()
        .doc($doc)
    };
}
/// A function of a float that one helper computes and another computes with the errors of `math`: a finite
/// result of the first is right, and whatever is not is looked at again.
macro_rules! finite {
    ($path:literal, $quick:ident, $checked:ident, $doc:literal) => {
        OpDef::new(
            &[$path],
            "x",
            Body::Lir(
                |_, a| reals(a, Type::float()),
                |cx, c| {
                    let x = float_arg(cx, c, 0)?;
                    Ok(vec![quick::finite_or(cx, &[x], &m::$quick, &m::$checked)])
                },
            ),
        )
        .halves()
        .raises()
        .doc($doc)
    };
}
/// A function of one complex number that a helper computes.
macro_rules! complex {
    ($path:literal, $helper:ident, $doc:literal) => {
        OpDef::new(
            &[$path],
            "z",
            Body::Lir(
                |_, a| complex_rule(a, Type::complex()),
                |cx, c| {
                    let z = cast::cast(cx, &c.args[0], c.types[0], Type::complex())?;
                    Ok(complex_helper(cx, &num::$helper, &z, c.ret))
                },
            ),
        )
        .raises()
        .doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    finite!("math.sin", f64_sin, math_sin, "Sine; ValueError of an infinity."),
    finite!("math.cos", f64_cos, math_cos, "Cosine; ValueError of an infinity."),
    finite!("math.tan", f64_tan, math_tan, "Tangent; ValueError of an infinity."),
    finite!("math.asin", f64_asin, math_asin, "Angle whose sine is `x`; ValueError."),
    finite!("math.acos", f64_acos, math_acos, "Angle whose cosine is `x`; ValueError."),
    finite!("math.atan", f64_atan, math_atan, "Angle whose tangent is `x`."),
    finite!("math.sinh", f64_sinh, math_sinh, "Hyperbolic sine; OverflowError."),
    finite!("math.cosh", f64_cosh, math_cosh, "Hyperbolic cosine; OverflowError."),
    finite!("math.tanh", f64_tanh, math_tanh, "Hyperbolic tangent."),
    finite!("math.asinh", f64_asinh, math_asinh, "Inverse hyperbolic sine."),
    finite!("math.acosh", f64_acosh, math_acosh, "Inverse hyperbolic cosine; ValueError below 1."),
    finite!("math.atanh", f64_atanh, math_atanh, "Inverse hyperbolic tangent; ValueError."),
    finite!("math.exp", f64_exp, math_exp, "`e ** x`; OverflowError."),
    finite!("math.exp2", f64_exp2, math_exp2, "`2 ** x`; OverflowError."),
    finite!("math.expm1", f64_expm1, math_expm1, "`e ** x - 1`; OverflowError."),
    finite!("math.log2", f64_log2, math_log2, "Logarithm to base 2; ValueError."),
    finite!("math.log10", f64_log10, math_log10, "Logarithm to base 10; ValueError."),
    finite!("math.log1p", f64_log1p, math_log1p, "`log(1 + x)`; ValueError."),
    finite!("math.cbrt", f64_cbrt, math_cbrt, "Cube root."),
    finite!("math.gamma", f64_gamma, math_gamma, "Γ(x); ValueError, OverflowError."),
    finite!("math.lgamma", f64_lgamma, math_lgamma, "log |Γ(x)|; ValueError, OverflowError."),
    real!("math.erf", "x", m::f64_erf, "Error function."),
    real!("math.erfc", "x", m::f64_erfc, "Complementary error function."),
    real!("math.atan2", "y, x", m::f64_atan2, "Angle of the point `(x, y)`."),
    OpDef::new(
        &["math.pow"],
        "x, y",
        Body::Lir(
            |_, a| reals(a, Type::float()),
            |cx, c| {
                let both = [float_arg(cx, c, 0)?, float_arg(cx, c, 1)?];
                Ok(vec![quick::finite_or(cx, &both, &m::f64_pow, &m::math_pow)])
            },
        ),
    )
    .raises()
    .doc("`x` to the power `y` as floats; ValueError, OverflowError."),
    OpDef::new(
        &["math.fmod"],
        "x, y",
        Body::Lir(
            |_, a| reals(a, Type::float()),
            |cx, c| {
                let (x, y) = (float_arg(cx, c, 0)?, float_arg(cx, c, 1)?);
                let slow = if cx.options.numpy_errors { &super::number::real_fmod } else { &m::math_fmod };
                Ok(vec![quick::fmod(cx, x, y, slow).0])
            },
        ),
    )
    .raises()
    .doc("Remainder with the sign of `x`; ValueError."),
    OpDef::new(
        &["math.remainder"],
        "x, y",
        Body::Lir(
            |_, a| reals(a, Type::float()),
            |cx, c| {
                let (x, y) = (float_arg(cx, c, 0)?, float_arg(cx, c, 1)?);
                Ok(vec![quick::ieee_remainder(cx, x, y)])
            },
        ),
    )
    .raises()
    .doc("IEEE remainder; ValueError."),
    real!("math.ulp", "x", m::f64_ulp, "Value of the last bit."),
    OpDef::new(
        &["math.log"],
        "x, base=...",
        Body::Lir(
            |_, a| reals(&a[..1 + !a[1].is_omitted() as usize], Type::float()),
            |cx, c| {
                let x = float_arg(cx, c, 0)?;
                if *c.types[1] == Kind::Ellipsis {
                    return Ok(vec![quick::finite_or(cx, &[x], &m::f64_log, &m::math_log)]);
                }
                let base = float_arg(cx, c, 1)?;
                Ok(vec![quick::log_base(cx, x, base)])
            },
        ),
    )
    .raises()
    .doc("Natural logarithm, or to a base; ValueError."),
    OpDef::new(
        &["math.sqrt"],
        "x",
        Body::Lir(
            |_, a| reals(a, Type::float()),
            |cx, c| {
                let x = float_arg(cx, c, 0)?;
                if cx.options.numpy_errors {
                    return Ok(vec![cx.b.un(Op::Fsqrt, x)]);
                }
                let zero = cx.b.f64(0.0);
                let negative = cx.b.bin(Op::FcmpLt, x, zero);
                let ok = cx.not(negative);
                cx.check_made(ok, |cx| {
                    if crate::python::since(14) {
                        cx.exception_got(Class::ValueError, "expected a nonnegative input", x)
                    } else {
                        cx.exception(Class::ValueError, "math domain error")
                    }
                });
                Ok(vec![cx.b.un(Op::Fsqrt, x)])
            },
        ),
    )
    .raises()
    .doc("Square root; ValueError of a negative number."),
    // Rounding to integers.
    OpDef::new(&["math.floor"], "x", Body::Lir(to_int_rule, |cx, c| to_int(cx, c, Some(Op::Ffloor))))
        .raises()
        .doc("Largest integer not above `x`; ValueError, OverflowError."),
    OpDef::new(&["math.ceil"], "x", Body::Lir(to_int_rule, |cx, c| to_int(cx, c, Some(Op::Fceil))))
        .raises()
        .doc("Smallest integer not below `x`; ValueError, OverflowError."),
    OpDef::new(&["math.trunc"], "x", Body::Lir(to_int_rule, |cx, c| to_int(cx, c, None)))
        .raises()
        .doc("`x` towards zero; ValueError, OverflowError."),
    // Pieces of floats.
    OpDef::new(
        &["math.fabs"],
        "x",
        Body::Lir(
            |_, a| reals(a, Type::float()),
            |cx, c| {
                let x = float_arg(cx, c, 0)?;
                Ok(vec![cx.b.un(Op::Fabs, x)])
            },
        ),
    )
    .doc("Magnitude as a float."),
    OpDef::new(
        &["math.copysign"],
        "x, y",
        Body::Lir(
            |_, a| reals(a, Type::float()),
            |cx, c| {
                let (x, y) = (float_arg(cx, c, 0)?, float_arg(cx, c, 1)?);
                Ok(vec![cx.b.bin(Op::Fcopysign, x, y)])
            },
        ),
    )
    .doc("Magnitude of `x`, sign of `y`."),
    OpDef::new(
        &["math.nextafter"],
        "x, y",
        Body::Lir(
            |_, a| reals(a, Type::float()),
            |cx, c| {
                let (x, y) = (float_arg(cx, c, 0)?, float_arg(cx, c, 1)?);
                Ok(vec![next_after(cx, x, y)])
            },
        ),
    )
    .doc("The next float after `x` towards `y`."),
    OpDef::new(
        &["math.frexp"],
        "x",
        Body::Lir(
            |_, a| reals(a, Type::tuple(vec![Type::float(), Type::int()])),
            |cx, c| {
                let x = float_arg(cx, c, 0)?;
                Ok(quick::frexp(cx, x).to_vec())
            },
        ),
    )
    .doc("`(mantissa, exponent)`."),
    OpDef::new(
        &["math.modf"],
        "x",
        Body::Lir(
            |_, a| reals(a, Type::tuple(vec![Type::float(); 2])),
            |cx, c| {
                let x = float_arg(cx, c, 0)?;
                Ok(vec![super::umath::fraction(cx, x), cx.b.un(Op::Ftrunc, x)])
            },
        ),
    )
    .doc("`(fraction, whole part)`."),
    OpDef::new(
        &["math.ldexp"],
        "x, i",
        Body::Lir(
            |_, a| if a[1].ty.is_index() { reals(a, Type::float()) } else { Err(no_match("ldexp()", a)) },
            |cx, c| {
                let (x, n) = (float_arg(cx, c, 0)?, cast::to_i64(cx, c.args[1][0], c.types[1]));
                Ok(vec![quick::ldexp(cx, x, n)])
            },
        ),
    )
    .raises()
    .doc("`x * 2 ** i`; OverflowError."),
    OpDef::new(
        &["math.degrees"],
        "x",
        Body::Lir(|_, a| reals(a, Type::float()), |cx, c| scaled(cx, c, 180.0 / std::f64::consts::PI)),
    )
    .doc("Radians to degrees."),
    OpDef::new(
        &["math.radians"],
        "x",
        Body::Lir(|_, a| reals(a, Type::float()), |cx, c| scaled(cx, c, std::f64::consts::PI / 180.0)),
    )
    .doc("Degrees to radians."),
    OpDef::new(
        &["math.isnan", "cmath.isnan"],
        "x",
        Body::Lir(|_, a| class_rule(a), |cx, c| classified(cx, c, &["numpy.isnan"])),
    )
    .doc("Whether NaN."),
    OpDef::new(
        &["math.isinf", "cmath.isinf"],
        "x",
        Body::Lir(|_, a| class_rule(a), |cx, c| classified(cx, c, &["numpy.isinf"])),
    )
    .doc("Whether infinite."),
    OpDef::new(
        &["math.isfinite", "cmath.isfinite"],
        "x",
        Body::Lir(|_, a| class_rule(a), |cx, c| classified(cx, c, &["numpy.isfinite"])),
    )
    .doc("Whether neither infinite nor NaN."),
    OpDef::new(&["math.isclose"], "a, b, *, rel_tol=1e-09, abs_tol=0.0", Body::Py("mathlib.isclose"))
        .raises()
        .doc("Whether two numbers are near each other."),
    // Integers.
    OpDef::new(
        &["math.gcd"],
        "*integers",
        Body::Lir(
            |_, a| unsigned(a),
            |cx, c| Ok(folded(cx, c, 0, |cx, acc, v| cx.helper_value(&num::uint_gcd, &[acc, v]))),
        ),
    )
    .only_if(is_wide)
    .doc("Greatest common divisor of integers of 64 bits without a sign."),
    OpDef::new(
        &["math.gcd"],
        "*integers",
        Body::Lir(
            |_, a| ints(a),
            |cx, c| Ok(folded(cx, c, 0, |cx, acc, v| cx.helper_value(&num::int_gcd, &[acc, v]))),
        ),
    )
    .spread("mathlib.gcd_of")
    .doc("Greatest common divisor."),
    OpDef::new(
        &["math.lcm"],
        "*integers",
        Body::Lir(
            |_, a| unsigned(a),
            |cx, c| Ok(folded(cx, c, 1, |cx, acc, v| cx.helper_value(&num::uint_lcm, &[acc, v]))),
        ),
    )
    .only_if(is_wide)
    .doc("Least common multiple of integers of 64 bits without a sign."),
    OpDef::new(
        &["math.lcm"],
        "*integers",
        Body::Lir(
            |_, a| ints(a),
            |cx, c| Ok(folded(cx, c, 1, |cx, acc, v| cx.helper_value(&num::int_lcm, &[acc, v]))),
        ),
    )
    .spread("mathlib.lcm_of")
    .doc("Least common multiple."),
    OpDef::new(
        &["math.isqrt"],
        "n",
        Body::Lir(|_, a| unsigned(a), |cx, c| Ok(vec![cx.helper_value(&num::uint_isqrt, &[c.args[0][0]])])),
    )
    .only_if(is_wide)
    .doc("Integer square root of an integer of 64 bits without a sign."),
    OpDef::new(&["math.isqrt"], "n", Body::Lir(|_, a| ints(a), |cx, c| int_call(cx, c, &num::int_isqrt)))
        .raises()
        .doc("Integer square root; ValueError."),
    OpDef::new(
        &["math.factorial"],
        "n",
        Body::Lir(|_, a| ints(a), |cx, c| int_call(cx, c, &num::int_factorial)),
    )
    .raises()
    .doc("`n!`; ValueError, OverflowError past 20."),
    OpDef::new(&["math.comb"], "n, k", Body::Lir(|_, a| ints(a), |cx, c| int_call(cx, c, &num::int_comb)))
        .raises()
        .doc("Ways to choose `k` of `n`; ValueError."),
    OpDef::new(
        &["math.perm"],
        "n, k=None",
        Body::Lir(
            |_, a| ints(&a[..1 + !a[1].is_none() as usize]),
            |cx, c| {
                if *c.types[1] == Kind::None {
                    return int_call(
                        cx,
                        &OpCall { args: &c.args[..1], types: &c.types[..1], ..*c },
                        &num::int_factorial,
                    );
                }
                int_call(cx, c, &num::int_perm)
            },
        ),
    )
    .raises()
    .doc("Ways to arrange `k` of `n`; ValueError."),
    // Several numbers.
    OpDef::new(
        &["math.hypot"],
        "*coordinates",
        Body::Lir(
            |_, a| reals(a, Type::float()),
            |cx, c| {
                let all = (0..c.args.len()).map(|k| float_arg(cx, c, k)).collect::<Result<Vec<_>>>()?;
                if let [a, b] = all[..] {
                    return Ok(vec![cx.helper_value(&m::f64_hypot, &[a, b])]);
                }
                let (at, n) = (cx.spill(&all), cx.b.i64(all.len() as i64));
                Ok(vec![cx.helper_value(&m::math_hypot_n, &[at, n])])
            },
        ),
    )
    .spread("mathlib.hypot_of")
    .doc("Length of a vector."),
    OpDef::new(&["math.dist"], "p, q", Body::Lir(points_rule, emit_dist))
        .raises()
        .reads()
        .doc("Distance of two points; ValueError."),
    OpDef::new(&["math.fsum"], "seq", Body::Lir(points_rule, emit_fsum))
        .raises()
        .reads()
        .doc("Exactly rounded sum; OverflowError, ValueError."),
    OpDef::new(&["math.fsum"], "seq", Body::Py("mathlib.fsum"))
        .raises()
        .doc("Exactly rounded sum of an iterable."),
    OpDef::new(&["math.prod"], "iterable, *, start=1", Body::Py("mathlib.prod"))
        .raises()
        .doc("Product of an iterable."),
    // Complex numbers.
    complex!("cmath.acos", cmath_acos, "Arc cosine."),
    complex!("cmath.acosh", cmath_acosh, "Inverse hyperbolic cosine."),
    complex!("cmath.asin", cmath_asin, "Arc sine."),
    complex!("cmath.asinh", cmath_asinh, "Inverse hyperbolic sine."),
    complex!("cmath.atan", cmath_atan, "Arc tangent; ValueError."),
    complex!("cmath.atanh", cmath_atanh, "Inverse hyperbolic tangent; ValueError."),
    complex!("cmath.cos", cmath_cos, "Cosine; ValueError, OverflowError."),
    complex!("cmath.cosh", cmath_cosh, "Hyperbolic cosine; ValueError, OverflowError."),
    complex!("cmath.exp", cmath_exp, "`e ** z`; ValueError, OverflowError."),
    complex!("cmath.log10", cmath_log10, "Logarithm to base 10; ValueError."),
    complex!("cmath.sin", cmath_sin, "Sine; ValueError, OverflowError."),
    complex!("cmath.sinh", cmath_sinh, "Hyperbolic sine; ValueError, OverflowError."),
    complex!("cmath.sqrt", cmath_sqrt, "Square root."),
    complex!("cmath.tan", cmath_tan, "Tangent; ValueError, OverflowError."),
    complex!("cmath.tanh", cmath_tanh, "Hyperbolic tangent; ValueError."),
    OpDef::new(
        &["cmath.log"],
        "z, base=...",
        Body::Lir(
            |_, a| complex_rule(&a[..1 + !a[1].is_omitted() as usize], Type::complex()),
            |cx, c| {
                let z = cast::cast(cx, &c.args[0], c.types[0], Type::complex())?;
                let z = complex_helper(cx, &num::cmath_log, &z, c.ret);
                if *c.types[1] == Kind::Ellipsis {
                    return Ok(z);
                }
                let base = cast::cast(cx, &c.args[1], c.types[1], Type::complex())?;
                let base = complex_helper(cx, &num::cmath_log, &base, c.ret);
                let zero = cx.zero(crate::lir::Ty::F64);
                let (re, im) = (
                    cx.b.bin(crate::lir::Op::FcmpNe, base[0], zero),
                    cx.b.bin(crate::lir::Op::FcmpNe, base[1], zero),
                );
                let some = cx.or(re, im);
                cx.check(some, Class::ValueError, "math domain error");
                Ok(complex_helper(cx, &num::complex_div, &[z, base].concat(), c.ret))
            },
        ),
    )
    .raises()
    .doc("Natural logarithm, or to a base; ValueError."),
    OpDef::new(
        &["cmath.phase"],
        "z",
        Body::Lir(
            |_, a| complex_rule(a, Type::float()),
            |cx, c| {
                let z = cast::cast(cx, &c.args[0], c.types[0], Type::complex())?;
                Ok(vec![cx.helper_value(&m::f64_atan2, &[z[1], z[0]])])
            },
        ),
    )
    .doc("Angle from the positive real axis."),
    OpDef::new(
        &["cmath.polar"],
        "z",
        Body::Lir(
            |_, a| complex_rule(a, Type::tuple(vec![Type::float(); 2])),
            |cx, c| {
                let z = cast::cast(cx, &c.args[0], c.types[0], Type::complex())?;
                Ok(vec![super::quick::modulus(cx, &z), cx.helper_value(&m::f64_atan2, &[z[1], z[0]])])
            },
        ),
    )
    .raises()
    .doc("`(modulus, phase)`."),
    OpDef::new(
        &["cmath.rect"],
        "r, phi",
        Body::Lir(
            |_, a| reals(a, Type::complex()),
            |cx, c| {
                let (r, phi) = (float_arg(cx, c, 0)?, float_arg(cx, c, 1)?);
                Ok(complex_helper(cx, &num::cmath_rect, &[r, phi], c.ret))
            },
        ),
    )
    .raises()
    .doc("The complex number of a modulus and a phase."),
    OpDef::new(&["cmath.isclose"], "a, b, *, rel_tol=1e-09, abs_tol=0.0", Body::Py("mathlib.isclose"))
        .raises()
        .doc("Whether two numbers are near each other."),
];

pub(super) fn reals(args: &[Arg], ret: Type) -> Result<Answer> {
    if args.iter().all(|a| a.ty.is_real()) {
        Ok(Answer::of(ret))
    } else {
        Err(no_match("a function of math", args))
    }
}

fn complex_rule(args: &[Arg], ret: Type) -> Result<Answer> {
    if args.iter().all(|a| a.ty.is_number()) {
        Ok(Answer::of(ret))
    } else {
        Err(no_match("a function of cmath", args))
    }
}

pub(crate) fn ints(args: &[Arg]) -> Result<Answer> {
    if args.iter().all(|a| a.ty.is_index()) {
        Ok(Answer::of(Type::int()))
    } else {
        Err(no_match("a function of integers", args))
    }
}

/// Whether one of the integers may be more than a signed one holds.
pub(crate) fn is_wide(args: &[Arg]) -> bool {
    args.iter().any(|a| a.ty.strong() == Type::int_of(Int::U64))
}

/// Integers, one of which may be more than a signed one holds: so may the result.
fn unsigned(args: &[Arg]) -> Result<Answer> {
    ints(args)?;
    Ok(Answer::of(Type::big_int()))
}

/// Operand `k` as f64.
fn float_arg(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Value> {
    Ok(cast::cast(cx, &c.args[k], c.types[k], Type::float())?[0])
}

pub(super) fn call(cx: &mut LowerCx<'_>, c: &OpCall<'_>, helper: &'static RtFn) -> Result<Val> {
    let all = (0..c.args.len()).map(|k| float_arg(cx, c, k)).collect::<Result<Vec<_>>>()?;
    Ok(vec![cx.helper_value(helper, &all)])
}

fn int_call(cx: &mut LowerCx<'_>, c: &OpCall<'_>, helper: &'static RtFn) -> Result<Val> {
    let all: Vec<Value> = c.args.iter().zip(c.types).map(|(v, t)| cast::to_i64(cx, v[0], *t)).collect();
    Ok(vec![cx.helper_value(helper, &all)])
}

/// An associative function of any number of integers, whose signs do not count.
pub(crate) fn folded(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    empty: i64,
    step: fn(&mut LowerCx<'_>, Value, Value) -> Value,
) -> Val {
    let mut acc = cx.b.i64(empty);
    let wide = c.ret == Type::big_int();
    for (v, t) in c.args.iter().zip(c.types) {
        let mut v = cast::to_i64(cx, v[0], *t);
        if wide && t.strong() != Type::int_of(Int::U64) {
            let zero = cx.b.i64(0);
            let negative = cx.b.bin(Op::Isub, zero, v);
            v = cx.b.bin(Op::Smax, v, negative);
        }
        acc = step(cx, acc, v);
    }
    vec![acc]
}

fn to_int_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    reals(args, Type::int())?;
    let unsigned = matches!(*args[0].ty, Kind::Int(i) if !i.signed() && i.bits() == 64);
    Ok(Answer::of(if unsigned { Type::big_int() } else { Type::int() }))
}

/// Rounds with an instruction, then converts as `int()` does.
fn to_int(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: Option<Op>) -> Result<Val> {
    let mut v = c.args[0].clone();
    if let (true, Some(op)) = (c.types[0].is_float(), op) {
        v[0] = cx.b.un(op, v[0]);
    }
    super::real::emit_int(cx, &OpCall { args: &[v], ..*c })
}

fn scaled(cx: &mut LowerCx<'_>, c: &OpCall<'_>, by: f64) -> Result<Val> {
    let x = float_arg(cx, c, 0)?;
    let by = cx.b.f64(by);
    Ok(vec![cx.b.bin(Op::Fmul, x, by)])
}

fn class_rule(args: &[Arg]) -> Result<Answer> {
    complex_rule(args, Type::bool())
}

/// The ufunc of that path on one number.
fn classified(cx: &mut LowerCx<'_>, c: &OpCall<'_>, path: &[&str; 1]) -> Result<Val> {
    let Some(Body::Ufunc(_, emit)) =
        super::OpId::find(path[0]).and_then(|f| f.rows().first()).map(|op| op.body)
    else {
        return Err(Diagnostic::internal("missing ufunc"));
    };
    emit(cx, c)
}

/// Tuples, lists and 1-d arrays of real numbers.
fn points_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    for a in args {
        let many = if let Kind::Container(Container::Tuple, m) = a.ty.kind() { Some(m[0]) } else { None };
        let ok = match (a.ty.as_array(), a.ty.members(), cx.elem(a.ty).or(many)) {
            (Some(a), _, _) => a.ndim == 1 && a.dtype.is_real(),
            (_, Some(m), _) => m.iter().all(|t| t.is_real()),
            (_, _, Some(e)) => cx.vars.known(e).is_real(),
            _ => false,
        };
        if !ok {
            return Err(no_match("a function of points", args));
        }
    }
    Ok(Answer::of(Type::float()))
}

/// The numbers of a sequence as f64: address, count, distance in bytes, and the array to release afterwards,
/// if one was made.
fn numbers(
    cx: &mut LowerCx<'_>,
    v: &[Value],
    t: Type,
    packed: bool,
) -> Result<(Value, Value, Value, Option<Value>)> {
    use crate::emit::arrays::ArrayVal;
    if let Some(m) = t.members() {
        let mut all = vec![];
        for (p, t) in split_leaves(v, m).iter().zip(m) {
            all.push(cast::cast(cx, p, *t, Type::float())?[0]);
        }
        return Ok((cx.spill(&all), cx.b.i64(m.len() as i64), cx.b.i64(8), None));
    }
    if let Some(a) = t.as_array()
        && a.dtype == Type::f64()
        && (!packed || a.layout == crate::types::Layout::C)
    {
        let a = ArrayVal::new(cx, v, t)?;
        return Ok((a.data, a.shape[0], a.strides[0], None));
    }
    let n = length(cx, v, t)?;
    let elem = super::sequence::element_type(t).ok_or_else(|| Diagnostic::internal("elements"))?;
    let out = ArrayVal::alloc(cx, Type::f64(), &[n], crate::types::Layout::C, false)?;
    cx.for_range(n, &[], |cx, i, _| {
        let x = super::sequence::element(cx, v, t, i)?;
        let x = cast::cast(cx, &x, elem, Type::float())?;
        out.store(cx, &[i], &x);
        Ok(vec![])
    })?;
    Ok((out.data, n, cx.b.i64(8), Some(out.owner)))
}

fn release(cx: &mut LowerCx<'_>, made: Option<Value>) {
    if let Some(owner) = made {
        cx.release_object(owner);
    }
}

fn emit_dist(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let lengths = [length(cx, &c.args[0], c.types[0])?, length(cx, &c.args[1], c.types[1])?];
    let same = cx.b.bin(Op::IcmpEq, lengths[0], lengths[1]);
    cx.check(same, Class::ValueError, "both points must have the same number of dimensions");
    let (p, n, _, p_made) = numbers(cx, &c.args[0], c.types[0], true)?;
    let (q, _, _, q_made) = numbers(cx, &c.args[1], c.types[1], true)?;
    let r = cx.helper_value(&m::math_dist, &[p, q, n]);
    release(cx, p_made);
    release(cx, q_made);
    Ok(vec![r])
}

fn emit_fsum(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (p, n, stride, made) = numbers(cx, &c.args[0], c.types[0], false)?;
    let sum = cx.helper_value(&m::math_fsum, &[p, n, stride]);
    release(cx, made);
    Ok(vec![sum])
}
