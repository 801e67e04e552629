//! Numbers of Python: floor division and modulo of floats, `abs`, `divmod`, conversions between scalar types.

use super::kernel::Map;
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Ty, Value};
use crate::ops::dtype::dtype_arg;
use crate::types::{Const, Kind, NumberType, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

super::identity::op_ids! {
    BUILTINS_ABS = "builtins.abs" [computes],
    ABS = "operator.abs" [computes],
    BUILTINS_INT = "builtins.int" [computes],
    BUILTINS_FLOAT = "builtins.float" [computes],
    BUILTINS_COMPLEX = "builtins.complex",
    DTYPE_CALL = "dtype.call",
    INDEX = "operator.index" [computes],
    BUILTINS_DIVMOD = "builtins.divmod" [computes],
}

pub(crate) static OPS: &[OpDef] = &[
    // Python's complex numbers overflow loudly, NumPy's do not.
    OpDef::new(
        &["builtins.abs", "operator.abs"],
        "x",
        Body::Lir(
            |_, a| {
                if *a[0].ty == *Type::complex() {
                    Ok(Answer::of(Type::float()))
                } else {
                    Err(no_match("abs()", a))
                }
            },
            |cx, c| {
                Ok(vec![super::quick::finite_or(
                    cx,
                    &c.args[0],
                    &super::mathfn::f64_hypot,
                    &super::number::complex_abs,
                )])
            },
        ),
    )
    .raises()
    .doc("Magnitude; OverflowError."),
    OpDef::new(&["builtins.abs", "operator.abs"], "x, out=None", Body::Ufunc(abs_rule, emit_abs))
        .kernel(Map::Abs)
        .straight()
        .doc("Magnitude."),
    OpDef::new(
        &["numpy.absolute", "numpy.abs"],
        "x, out=None",
        Body::Ufunc(|a, _| abs_rule(a, true).map(|a| Answer { ret: a.ret.strong(), ..a }), emit_abs),
    )
    .kernel(Map::Abs)
    .straight()
    .doc("Magnitude."),
    OpDef::new(&["builtins.int"], "x=0", Body::Lir(int_rule, emit_int))
        .raises()
        .doc("Integer part towards zero; ValueError for NaN, OverflowError for infinity."),
    OpDef::new(
        &["builtins.float"],
        "x=0.0",
        Body::Lir(|_, a| real_only("float()", a).map(|()| Answer::of(Type::float())), emit_convert),
    )
    .halves()
    .doc("The number as a float."),
    OpDef::new(&["builtins.complex"], "real=0.0, imag=...", Body::Lir(complex_rule, emit_complex))
        .doc("`real + imag j`."),
    OpDef::new(&["dtype.call"], "dtype, x=0", Body::Lir(dtype_rule, emit_dtype))
        .halves()
        .internal()
        .doc("A NumPy scalar type called as a constructor: `np.float32(x)`."),
    OpDef::new(&["dtype.call"], "dtype, x", Body::Py("create.of_dtype"))
        .only_if(|a| a[1].ty.is_sequence() || a[1].ty.as_array().is_some_and(|t| t.ndim > 0))
        .raises()
        .internal()
        .doc("The same of an array or a sequence: a new array of that type."),
    OpDef::new(
        &["operator.index"],
        "x",
        Body::Lir(
            |cx, a| if a[0].ty.is_index() { int_rule(cx, a) } else { Err(no_match("index()", a)) },
            emit_int,
        ),
    )
    .doc("The integer itself."),
    OpDef::new(
        &["number.real", "numpy.real"],
        "val",
        Body::Lir(part_rule, |cx, c| match c.types[0].number() {
            Some(NumberType::Bool) => cast::cast(cx, &c.args[0], c.types[0], c.ret),
            Some(NumberType::Int(_) | NumberType::Float(_) | NumberType::Complex(_)) | None => {
                Ok(vec![c.args[0][0]])
            }
        }),
    )
    .property()
    .doc("Real part."),
    OpDef::new(
        &["number.imag", "numpy.imag"],
        "val",
        Body::Lir(part_rule, |cx, c| {
            Ok(vec![match c.args[0].get(1) {
                Some(im) => *im,
                None => crate::emit::constants::absent(&mut cx.b, c.ret)[0],
            }])
        }),
    )
    .property()
    .doc("Imaginary part; 0 of a real number."),
    OpDef::new(
        &["number.conjugate", "number.conj"],
        "x",
        Body::Lir(|_, a| Ok(Answer::of(a[0].ty)), emit_conjugate),
    )
    .doc("Complex conjugate."),
    OpDef::new(
        &["number.item", "number.tolist"],
        "x",
        Body::Lir(
            |_, a| Ok(Answer::of(crate::types::promote::python_number(a[0].ty))),
            |cx, c| cast::cast(cx, &c.args[0], c.types[0], c.ret),
        ),
    )
    .doc("The number as Python's own."),
    OpDef::new(
        &["number.astype"],
        "x, dtype",
        Body::Lir(
            |_, a| {
                if a[0].ty.is_weak() {
                    Err(no_match("astype()", a))
                } else {
                    Ok(Answer::of(
                        crate::ops::dtype::dtype_arg(&a[1]).ok_or_else(|| no_match("astype()", a))?,
                    ))
                }
            },
            |cx, c| cast::cast(cx, &c.args[0], c.types[0], c.ret),
        ),
    )
    .doc("The number in another type."),
    OpDef::new(&["builtins.divmod"], "a, b", Body::Lir(divmod_rule, emit_divmod))
        .raises()
        .doc("`(a // b, a % b)`."),
];

fn abs_rule(args: &[Arg], elementwise: bool) -> Option<Answer> {
    let t = args[0].ty;
    let (to, ret) = match t.number()? {
        NumberType::Bool if elementwise => (t, t),
        NumberType::Bool => (Type::int(), Type::int()),
        NumberType::Int(_) | NumberType::Float(_) => (t, t),
        NumberType::Complex(f) => (t, Type::float_of(f)),
    };
    Some(Answer::coerced(ret, vec![to]))
}

fn emit_abs(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let v = c.args[0][0];
    Ok(vec![match c.types[0].number() {
        Some(NumberType::Int(i)) if i.signed() => {
            let neg = cx.b.un(Op::Ineg, v);
            cx.b.bin(Op::Smax, v, neg)
        }
        Some(NumberType::Float(_)) => cx.b.un(Op::Fabs, v),
        Some(NumberType::Complex(_)) => hypot(cx, v, c.args[0][1]),
        Some(NumberType::Bool | NumberType::Int(_)) | None => v,
    }])
}

/// `sqrt(re² + im²)` without overflow on the way.
pub(crate) fn hypot(cx: &mut LowerCx<'_>, re: Value, im: Value) -> Value {
    let single = cx.b.ty(re) == Ty::F32;
    let (a, b) = (crate::emit::cast::widen(cx, re), crate::emit::cast::widen(cx, im));
    let h = cx.helper_value(&super::mathfn::f64_hypot, &[a, b]);
    if single { cx.b.conv(Op::Fconvert, Ty::F32, h) } else { h }
}

fn real_only(what: &str, args: &[Arg]) -> Result<()> {
    if args[0].ty.is_real() { Ok(()) } else { Err(no_match(what, args)) }
}

fn int_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    real_only("int()", args)?;
    // A constant float keeps its value; NaN and infinity raise when they are run.
    let konst = match args[0].konst {
        Some(Const::Float(x)) if x.abs() < 9e18 => Some(Const::Int(x as i64)),
        Some(Const::Int(i)) => Some(Const::Int(i)),
        _ => None,
    };
    Ok(Answer::of(if matches!(*args[0].ty, Kind::Int(i) if !i.signed() && i.bits() == 64) {
        Type::big_int()
    } else {
        Type::int()
    })
    .known(konst))
}

pub(crate) fn emit_int(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if c.types[0].is_float() {
        return Ok(vec![int_of_float(cx, c.args[0][0])]);
    }
    cast::cast(cx, &c.args[0], c.types[0], c.ret)
}

/// `int(x)`: raises where a float has no 64-bit integer part. The answer says so, but for -2⁶³, which has
/// one.
fn int_of_float(cx: &mut LowerCx<'_>, v: Value) -> Value {
    let t = cx.b.ty(v);
    let bound = |cx: &mut LowerCx<'_>, x: f64| if t == Ty::F32 { cx.b.f32(x as f32) } else { cx.b.f64(x) };
    let whole = cx.b.conv(Op::FToSintOrMin, Ty::I64, v);
    let doubtful = cx.b.bin_imm(Op::IcmpEq, whole, i64::MIN);
    let (cold, done) = (cx.b.new_cold_block(&[]), cx.b.new_block(&[]));
    cx.b.brif(doubtful, cold, &[], done, &[]);
    cx.b.switch_to(cold);
    let unordered = cx.b.bin(Op::FcmpUno, v, v);
    let number = cx.not(unordered);
    cx.check(number, Class::ValueError, "cannot convert float NaN to integer");
    let (size, inf) = (cx.b.un(Op::Fabs, v), bound(cx, f64::INFINITY));
    let finite = cx.b.bin(Op::FcmpLt, size, inf);
    cx.check(finite, Class::OverflowError, "cannot convert float infinity to integer");
    let low = bound(cx, -9223372036854775808.0);
    let least = cx.b.bin(Op::FcmpEq, v, low);
    cx.check(least, Class::OverflowError, "float too large for a 64-bit integer");
    cx.b.jump(done, &[]);
    cx.b.switch_to(done);
    whole
}

fn emit_convert(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    cast::cast(cx, &c.args[0], c.types[0], c.ret)
}

fn complex_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if !args[0].ty.is_number() || !(args[1].ty.is_number() || args[1].is_omitted()) {
        return Err(no_match("complex()", args));
    }
    Ok(Answer::of(Type::complex()))
}

fn emit_complex(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = cast::cast(cx, &c.args[0], c.types[0], Type::complex())?;
    if *c.types[1] == Kind::Ellipsis {
        return Ok(a);
    }
    // real + imag·i; a part that is not there is not added, for `complex(0.0, -0.0)` keeps its sign.
    let b = cast::cast(cx, &c.args[1], c.types[1], Type::complex())?;
    let re = if c.types[1].is_complex() { cx.b.bin(Op::Fsub, a[0], b[1]) } else { a[0] };
    let im = if c.types[0].is_complex() { cx.b.bin(Op::Fadd, b[0], a[1]) } else { b[0] };
    Ok(vec![re, im])
}

fn dtype_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = dtype_arg(&args[0]).ok_or_else(|| no_match("a dtype", args))?;
    let narrow = |t: Type| t.is_int() && t.strong() != Type::big_int().strong();
    let outgrows = cx.vars.promised && args[1].ty == Type::big_int() && narrow(t);
    let taken = !outgrows && args[1].ty.as_array().map_or(args[1].ty.is_number(), |a| a.ndim == 0);
    if taken { Ok(Answer::of(t)) } else { Err(no_match(&format!("{t}()"), &args[1..])) }
}

fn emit_dtype(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if let Some(a) = c.types[1].as_array() {
        let v = crate::emit::arrays::load_element(cx, c.args[1][1], a.dtype);
        return cast::cast(cx, &v, a.dtype, c.ret);
    }
    cast::cast(cx, &c.args[1], c.types[1], c.ret)
}

fn part_rule(cx: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = args[0].ty;
    Ok(Answer::of(match t.number() {
        Some(NumberType::Complex(f)) => Type::float_of(f),
        // Of Python's bools they are ints; others may be NumPy's.
        Some(NumberType::Bool) if args[0].konst.is_some() => Type::int(),
        Some(NumberType::Bool) if cx.vars.apart => return Err(no_match(".real", args)),
        Some(NumberType::Bool | NumberType::Int(_) | NumberType::Float(_)) => t,
        None => return Err(no_match(".real", args)),
    }))
}

fn emit_conjugate(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let mut v = c.args[0].clone();
    if v.len() == 2 {
        v[1] = cx.b.un(Op::Fneg, v[1]);
    }
    Ok(v)
}

fn divmod_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let t = super::arith::common(args, false)
        .filter(|t| !t.is_complex())
        .ok_or_else(|| no_match("divmod()", args))?;
    Ok(Answer::coerced(Type::tuple(vec![t, t]), vec![t, t]))
}

pub(crate) fn emit_divmod(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, b) = (c.args[0][0], c.args[1][0]);
    if c.types[0].is_float() {
        let ok = cast::truth(cx, b, c.types[1]);
        cx.check(ok, Class::ZeroDivisionError, "float divmod()");
        let (q, r) = super::quick::float_divmod(cx, a, b);
        return Ok(vec![q, r]);
    }
    let ok = cast::truth(cx, b, c.types[1]);
    cx.check(ok, Class::ZeroDivisionError, "integer division or modulo by zero");
    let elementwise = OpCall { elementwise: true, ..*c };
    Ok(vec![super::arith::emit_floordiv(cx, &elementwise)?[0], super::arith::emit_mod(cx, &elementwise)?[0]])
}
