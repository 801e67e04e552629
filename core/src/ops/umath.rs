//! NumPy's elementary functions as universal functions. All tiers call the same helpers, so all give the same
//! bits.
//!
//! float32 is computed in float32; integers become floats as NumPy has it, but for float16, which is float32
//! here.

use super::elementwise::{Loop, common, float, real_float, same};
use super::kernel::Map;
use super::mathfn as m;
use super::number as num;
use super::power::complex_helper;
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::{Op, Ty, Value};
use crate::rt::RtFn;
use crate::types::{Float, Int, Kind, Type};
use crate::typing::{Answer, Arg};

super::identity::op_ids! {
    NUMPY_ROUND = "numpy.round",
    NUMPY_SINC = "numpy.sinc",
    NUMPY_CLIP = "numpy.clip",
    ARRAY_CLIP = "array.clip",
}

const UN: &str = "x, out=None";
const BIN: &str = "x1, x2, out=None";

/// One function's helpers: for float64, for float32, and for complex128 if it has one.
struct Fns {
    double: &'static RtFn,
    single: &'static RtFn,
    complex: Option<&'static RtFn>,
}

fn emit(cx: &mut LowerCx<'_>, c: &OpCall<'_>, f: &Fns) -> Result<Val> {
    let operands = c.args.concat();
    if let (Some(complex), true) = (f.complex, c.types[0].is_complex()) {
        let wide: Vec<Value> = operands.iter().map(|v| crate::emit::cast::widen(cx, *v)).collect();
        return Ok(complex_helper(cx, complex, &wide, c.ret));
    }
    let single = cx.b.ty(operands[0]) == Ty::F32;
    Ok(vec![cx.helper_value(if single { f.single } else { f.double }, &operands)])
}

/// A row of a real function: paths, helpers for float64 and float32, documentation.
macro_rules! real {
    ($($path:literal)|+, $params:ident, $double:ident, $single:ident, $doc:literal) => {
        OpDef::new(&[$($path),+], $params, Body::Ufunc(|a, _| same(a, real_float), |cx, c| emit(cx, c, &Fns { double: &m::$double, single: &m::$single, complex: None }))).doc($doc)
    };
}
/// A row of a function that takes complex numbers as well.
macro_rules! analytic {
    ($($path:literal)|+, $double:ident, $single:ident, $complex:ident, $doc:literal) => {
        OpDef::new(&[$($path),+], UN, Body::Ufunc(|a, _| same(a, float), |cx, c| emit(cx, c, &Fns { double: &m::$double, single: &m::$single, complex: Some(&num::$complex) }))).doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    analytic!("numpy.sin", f64_sin, f32_sin, np_complex_sin, "Sine.").kernel(Map::Sin),
    analytic!("numpy.cos", f64_cos, f32_cos, np_complex_cos, "Cosine.").kernel(Map::Cos),
    analytic!("numpy.tan", f64_tan, f32_tan, np_complex_tan, "Tangent.").kernel(Map::Tan),
    analytic!("numpy.arcsin" | "numpy.asin", f64_asin, f32_asin, np_complex_asin, "Angle whose sine is `x`.")
        .kernel(Map::Asin),
    analytic!(
        "numpy.arccos" | "numpy.acos",
        f64_acos,
        f32_acos,
        np_complex_acos,
        "Angle whose cosine is `x`."
    )
    .kernel(Map::Acos),
    analytic!(
        "numpy.arctan" | "numpy.atan",
        f64_atan,
        f32_atan,
        np_complex_atan,
        "Angle whose tangent is `x`."
    )
    .kernel(Map::Atan),
    analytic!("numpy.sinh", f64_sinh, f32_sinh, np_complex_sinh, "Hyperbolic sine.").kernel(Map::Sinh),
    analytic!("numpy.cosh", f64_cosh, f32_cosh, np_complex_cosh, "Hyperbolic cosine.").kernel(Map::Cosh),
    analytic!("numpy.tanh", f64_tanh, f32_tanh, np_complex_tanh, "Hyperbolic tangent.").kernel(Map::Tanh),
    analytic!(
        "numpy.arcsinh" | "numpy.asinh",
        f64_asinh,
        f32_asinh,
        np_complex_asinh,
        "Inverse hyperbolic sine."
    ),
    analytic!(
        "numpy.arccosh" | "numpy.acosh",
        f64_acosh,
        f32_acosh,
        np_complex_acosh,
        "Inverse hyperbolic cosine."
    ),
    analytic!(
        "numpy.arctanh" | "numpy.atanh",
        f64_atanh,
        f32_atanh,
        np_complex_atanh,
        "Inverse hyperbolic tangent."
    ),
    analytic!("numpy.exp", f64_exp, f32_exp, np_complex_exp, "`e ** x`.").kernel(Map::Exp),
    analytic!("numpy.exp2", f64_exp2, f32_exp2, np_complex_exp2, "`2 ** x`.").kernel(Map::Exp2),
    analytic!("numpy.expm1", f64_expm1, f32_expm1, np_complex_expm1, "`e ** x - 1`.").kernel(Map::Expm1),
    analytic!("numpy.log", f64_log, f32_log, np_complex_log, "Natural logarithm.").kernel(Map::Log),
    analytic!("numpy.log2", f64_log2, f32_log2, np_complex_log2, "Logarithm to base 2.").kernel(Map::Log2),
    analytic!("numpy.log10", f64_log10, f32_log10, np_complex_log10, "Logarithm to base 10.")
        .kernel(Map::Log10),
    analytic!("numpy.log1p", f64_log1p, f32_log1p, np_complex_log1p, "`log(1 + x)`.").kernel(Map::Log1p),
    real!("numpy.cbrt", UN, f64_cbrt, f32_cbrt, "Cube root.").kernel(Map::Cbrt),
    OpDef::new(&["numpy.sqrt"], UN, Body::Ufunc(|a, _| same(a, float), emit_sqrt))
        .straight()
        .kernel(Map::Sqrt)
        .doc("Square root; NaN of a negative number."),
    real!("numpy.arctan2" | "numpy.atan2", BIN, f64_atan2, f32_atan2, "Angle of the point `(x2, x1)`."),
    real!("numpy.hypot", BIN, f64_hypot, f32_hypot, "Length of the vector `(x1, x2)`."),
    real!("numpy.logaddexp", BIN, f64_logaddexp, f32_logaddexp, "`log(exp(x1) + exp(x2))`."),
    real!("numpy.logaddexp2", BIN, f64_logaddexp2, f32_logaddexp2, "`log2(2 ** x1 + 2 ** x2)`."),
    OpDef::new(
        &["numpy.ldexp"],
        BIN,
        Body::Ufunc(ldexp_rule, |cx, c| {
            let n = cast::to_i64(cx, c.args[1][0], c.types[1]);
            let single = cx.b.ty(c.args[0][0]) == Ty::F32;
            Ok(vec![cx.helper_value(if single { &m::f32_ldexp } else { &m::f64_ldexp }, &[c.args[0][0], n])])
        }),
    )
    .doc("`x1 * 2 ** x2`."),
    // The two results of a function each have a row; a library function puts them together.
    OpDef::new(
        &["numpy._frexp_mantissa"],
        UN,
        Body::Ufunc(
            |a, _| same(a, real_float),
            |cx, c| {
                emit(
                    cx,
                    c,
                    &Fns { double: &m::f64_frexp_mantissa, single: &m::f32_frexp_mantissa, complex: None },
                )
            },
        ),
    )
    .doc("Mantissa of `np.frexp`."),
    OpDef::new(
        &["numpy._frexp_exponent"],
        UN,
        Body::Ufunc(
            |a, _| Some(Answer { ret: Type::int_of(Int::I32), ..same(a, real_float)? }),
            |cx, c| {
                let e = emit(
                    cx,
                    c,
                    &Fns { double: &m::f64_frexp_exponent, single: &m::f32_frexp_exponent, complex: None },
                )?;
                Ok(vec![cx.b.conv(Op::Itrunc, Ty::I32, e[0])])
            },
        ),
    )
    .doc("Exponent of `np.frexp`."),
    OpDef::new(
        &["numpy._modf_fraction"],
        UN,
        Body::Ufunc(|a, _| same(a, real_float), |cx, c| Ok(vec![fraction(cx, c.args[0][0])])),
    )
    .doc("Fraction of `np.modf`."),
    OpDef::new(
        &["numpy._modf_whole"],
        UN,
        Body::Ufunc(|a, _| same(a, real_float), |cx, c| Ok(vec![cx.b.un(Op::Ftrunc, c.args[0][0])])),
    )
    .doc("Whole part of `np.modf`."),
    OpDef::new(&["numpy.frexp"], "x, out1=None, out2=None", Body::Py("ufunc.frexp"))
        .raises()
        .doc("Mantissa and exponent."),
    OpDef::new(&["numpy.modf"], "x, out1=None, out2=None", Body::Py("ufunc.modf"))
        .raises()
        .doc("Fraction and whole part."),
    OpDef::new(&["numpy.divmod"], "x1, x2, out1=None, out2=None", Body::Py("ufunc.divmod_"))
        .raises()
        .doc("`(x1 // x2, x1 % x2)`."),
    OpDef::new(&["builtins.divmod"], "a, b", Body::Py("ufunc.divmod_arrays"))
        .only_if(|a| a.iter().any(|a| a.ty.as_array().is_some()))
        .doc("`(a // b, a % b)` of arrays."),
    OpDef::new(
        &["numpy.clip"],
        "a, a_min=..., a_max=..., out=None, *, min=..., max=...",
        Body::Py("ufunc.clip"),
    )
    .raises()
    .of_scalars()
    .doc("Values limited to an interval."),
    OpDef::new(
        &["numpy.clip"],
        "a, a_min=..., a_max=..., out=None, *, min=..., max=...",
        Body::Py("ufunc.clip_of_sequence"),
    )
    .only_if(|a| a[0].ty.is_sequence())
    .raises()
    .doc("The values of a sequence limited to an interval."),
    OpDef::new(&["array.clip"], "a, min=None, max=None, out=None", Body::Py("ufunc.limited"))
        .raises()
        .doc("Values limited to an interval."),
    OpDef::new(
        &["numpy.round", "numpy.around", "array.round"],
        "a, decimals=0, out=None",
        Body::Py("ufunc.round_"),
    )
    .of_scalars()
    .doc("Rounded to that many decimals."),
    // Methods of universal functions: the function itself is the first operand.
    OpDef::new(
        &["ufunc.reduce"],
        "f, array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True",
        Body::Py("ufunc.reduce"),
    )
    .raises()
    .doc("`np.add.reduce(a)`: all elements along an axis put together."),
    OpDef::new(&["ufunc.accumulate"], "f, array, axis=0, dtype=None, out=None", Body::Py("ufunc.accumulate"))
        .raises()
        .doc("`np.maximum.accumulate(a)`: what is put together so far."),
    OpDef::new(
        &["ufunc.reduceat"],
        "f, array, indices, axis=0, dtype=None, out=None",
        Body::Py("ufunc.reduceat"),
    )
    .raises()
    .doc("`np.add.reduceat(a, indices)`: what lies between neighbouring indices put together."),
    OpDef::new(&["ufunc.outer"], "f, A, B", Body::Py("ufunc.outer"))
        .raises()
        .doc("`np.subtract.outer(a, b)`: every element of one with every element of the other."),
    OpDef::new(&["ufunc.at"], "f, a, indices, b=None", Body::Py("ufunc.at"))
        .raises()
        .writes()
        .doc("`np.add.at(a, indices, b)`: in place, once for each time that an element is named."),
    OpDef::new(&["numpy.i0"], "x", Body::Py("ufunc.i0"))
        .raises()
        .reads()
        .doc("The modified Bessel function of order 0, as an array; TypeError of complex numbers."),
    OpDef::new(&["numpy.sinc"], "x", Body::Py("ufunc.sinc")).doc("`sin(πx) / (πx)`."),
    OpDef::new(&["numpy.angle"], "z, deg=False", Body::Py("ufunc.angle")).doc("Angle of a complex number."),
    OpDef::new(
        &["numpy.nan_to_num"],
        "x, copy=True, nan=0.0, posinf=None, neginf=None",
        Body::Py("ufunc.nan_to_num"),
    )
    .only_if(|a| a[1].konst.as_ref().is_some_and(|k| k.truth()))
    .raises()
    .doc("NaN and infinities replaced."),
    OpDef::new(
        &["numpy.nan_to_num"],
        "x, copy=True, nan=0.0, posinf=None, neginf=None",
        Body::Py("ufunc.nan_to_num"),
    )
    .raises()
    .writes()
    .doc("NaN and infinities replaced in the array itself."),
];

/// The type of the first operand alone counts.
fn ldexp_rule(args: &[Arg], elementwise: bool) -> Option<Answer> {
    let of: Loop = real_float;
    // A Python int takes the narrowest type beside an array.
    let weak = elementwise && args[0].ty.is_weak() && args[0].ty.is_index() && *args[1].ty != Kind::Bool;
    let t = if weak { Type::float_of(Float::F32) } else { of(common(&args[..1])?)? };
    // The exponents of an unsigned 64-bit array fit no signed type.
    if !args[1].ty.is_index() || args[1].ty.strong() == Type::int_of(Int::U64) {
        return None;
    }
    Some(Answer::coerced(t, vec![t, Type::i64()]))
}

fn emit_sqrt(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if let Kind::Complex(_) = *c.types[0] {
        let wide: Vec<Value> = c.args[0].iter().map(|v| crate::emit::cast::widen(cx, *v)).collect();
        return Ok(complex_helper(cx, &num::np_complex_sqrt, &wide, c.ret));
    }
    Ok(vec![cx.b.un(Op::Fsqrt, c.args[0][0])])
}

/// What `trunc` cuts off, with the sign of `x`; 0 of an infinity.
pub(crate) fn fraction(cx: &mut LowerCx<'_>, x: Value) -> Value {
    let t = cx.b.ty(x);
    let whole = cx.b.un(Op::Ftrunc, x);
    let rest = cx.b.bin(Op::Fsub, x, whole);
    let inf = crate::emit::cast::constant(cx, t, f64::INFINITY);
    let size = cx.b.un(Op::Fabs, x);
    let infinite = cx.b.bin(Op::FcmpEq, size, inf);
    let zero = cx.zero(t);
    let rest = cx.b.select(infinite, zero, rest);
    cx.b.bin(Op::Fcopysign, rest, x)
}
