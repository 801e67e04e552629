//! Functions of numbers that kernels have beside those of `math` and NumPy. They mean the same everywhere.

use super::mathfn::f64_cbrt;
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::lir::{Op, Ty, Value};
use crate::types::{Float, Int, NumberType, Type};
use crate::typing::{Answer, Arg, no_match};

/// A function of the bits of an integer.
macro_rules! bits {
    ($name:literal, $keeps:expr, $emit:expr, $doc:literal) => {
        OpDef::new(
            &[concat!("tierup.cuda.", $name)],
            "x",
            Body::Lir(|_, a| bits_rule($name, a, $keeps), |cx, c| emit_bits(cx, c, $keeps, $emit)),
        )
        .doc($doc)
    };
}

pub(crate) static OPS: &[OpDef] = &[
    bits!("popc", false, |cx, x| cx.b.un(Op::Popcnt, x), "How many bits are set."),
    bits!(
        "clz",
        false,
        |cx, x| cx.b.un(Op::Clz, x),
        "How many bits above the highest that is set: all of 0."
    ),
    bits!(
        "ffs",
        false,
        |cx, x| {
            let ty = cx.b.ty(x);
            let zero = cx.b.iconst(ty, 0);
            let (none, at) = (cx.b.bin(Op::IcmpEq, x, zero), cx.b.un(Op::Ctz, x));
            let place = cx.b.bin_imm(Op::Iadd, at, 1);
            cx.b.select(none, zero, place)
        },
        "The place of the lowest bit that is set, counted from 1; 0 of 0."
    ),
    bits!("brev", true, reversed, "The bits in the opposite order."),
    OpDef::new(&["tierup.cuda.fma"], "a, b, c", Body::Lir(fma_rule, emit_fma))
        .doc("`a * b + c`, rounded once."),
    OpDef::new(
        &["tierup.cuda.cbrt"],
        "x",
        Body::Lir(
            |_, a| {
                if a[0].ty.is_number() && !a[0].ty.is_complex() {
                    return Ok(Answer::of(wider(&a[..1])));
                }
                Err(no_match("cuda.cbrt()", a))
            },
            |cx, c| {
                let x = part(cx, c, 0)?;
                if cx.b.ty(x) == Ty::F32 {
                    return Ok(vec![cx.helper_value(&super::mathfn::f32_cbrt, &[x])]);
                }
                Ok(vec![cx.helper_value(&f64_cbrt, &[x])])
            },
        ),
    )
    .doc("Cube root."),
    OpDef::new(&["tierup.cuda.selp"], "a, b, c", Body::Lir(select_rule, emit_select))
        .doc("`b` where `a` holds, else `c`; both are computed."),
];

fn bits_rule(name: &str, args: &[Arg], keeps: bool) -> Result<Answer> {
    let t = args[0].ty.strong();
    if !t.is_int() {
        return Err(no_match(&format!("cuda.{name}()"), args));
    }
    Ok(Answer::of(if keeps { t } else { Type::int_of(Int::I32) }))
}

/// Integers of fewer than 32 bits count as such of 32, as in CUDA.
fn emit_bits(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    keeps: bool,
    emit: fn(&mut LowerCx<'_>, Value) -> Value,
) -> Result<Val> {
    let x = c.args[0][0];
    let ty = cx.b.ty(x);
    let wide = if ty.bytes() >= 4 || keeps {
        x
    } else {
        let signed =
            c.types[0].strong().number().is_some_and(|n| matches!(n, NumberType::Int(i) if i.signed()));
        cx.b.conv(if signed { Op::Sext } else { Op::Zext }, Ty::I32, x)
    };
    let made = emit(cx, wide);
    Ok(vec![if !keeps && cx.b.ty(made) == Ty::I64 { cx.b.conv(Op::Itrunc, Ty::I32, made) } else { made }])
}

/// Halves change places, then quarters, down to single bits.
fn reversed(cx: &mut LowerCx<'_>, x: Value) -> Value {
    let ty = cx.b.ty(x);
    let (mut x, mut by) = (x, i64::from(ty.bytes()) * 4);
    while by > 0 {
        // Blocks of `by` bits that are followed by as many others.
        let low = (0..64).filter(|k| (k / by) % 2 == 0).fold(0i64, |m, k| m | 1 << k);
        let (up, down) = (cx.b.bin_imm(Op::Band, x, low), cx.b.bin_imm(Op::Ushr, x, by));
        let (up, down) = (cx.b.bin_imm(Op::Ishl, up, by), cx.b.bin_imm(Op::Band, down, low));
        x = cx.b.bin(Op::Bor, up, down);
        by /= 2;
    }
    x
}

/// float32 where nothing wider is there, else float64.
fn wider(args: &[Arg]) -> Type {
    let narrow = args.iter().all(|a| a.ty.number() == Some(NumberType::Float(Float::F32)));
    if narrow { Type::float_of(Float::F32) } else { Type::f64() }
}

fn fma_rule(_: &mut crate::typing::TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    if !args.iter().all(|a| a.ty.is_number() && !a.ty.is_complex()) {
        return Err(no_match("cuda.fma()", args));
    }
    Ok(Answer::of(wider(args)))
}

/// An operand as a number of the result's type.
fn part(cx: &mut LowerCx<'_>, c: &OpCall<'_>, k: usize) -> Result<Value> {
    Ok(cast::element(cx, &c.args[k], c.types[k], c.ret)?[0])
}

fn emit_fma(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, b, sum) = (part(cx, c, 0)?, part(cx, c, 1)?, part(cx, c, 2)?);
    Ok(vec![cx.b.ternary(Op::Fma, a, b, sum)])
}

fn select_rule(_: &mut crate::typing::TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let real = |a: &Arg| a.ty.is_number() && !a.ty.is_complex();
    if !args.iter().all(real) {
        return Err(no_match("cuda.selp()", args));
    }
    let (b, c) = (args[1].ty, args[2].ty);
    if b.strong() == c.strong() {
        return Ok(Answer::of(b.strong()));
    }
    if b.is_int() && c.is_int() {
        return Ok(Answer::of(Type::int()));
    }
    Ok(Answer::of(wider(&args[1..])))
}

fn emit_select(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let truth = cast::truth(cx, c.args[0][0], c.types[0]);
    let (b, other) = (part(cx, c, 1)?, part(cx, c, 2)?);
    Ok(vec![cx.b.select(truth, b, other)])
}
