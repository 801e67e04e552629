//! `tierup.simd`: vectors, made of numbers and arrays, and what is asked of one as a whole. What is computed lane
//! by lane is universal functions ([`super::laned`]).

mod lanes;
mod memory;
mod shape;

use super::{Body, OpDef, id};
use crate::diag::{Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::vector::{Laned, joined};
use crate::lir::Op;
use crate::types::promote;
use crate::types::{Const, Kind, Type};
use crate::typing::{Answer, Arg, no_match};
use lanes::{lane_count, simd, vector_of};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(&["tierup.simd.Vec"], "*lanes", Body::Lir(|_, a| vec_rule(a), emit_vec))
        .doc("A vector of these numbers."),
    OpDef::new(&["tierup.simd.splat"], "x, n", Body::Lir(|_, a| splat_rule(a), emit_splat))
        .doc("A vector of `n` lanes, each `x`."),
    OpDef::new(&["tierup.simd.arange"], "n", Body::Lir(|_, a| arange_rule(a), emit_arange))
        .doc("0, 1, 2 … in `n` lanes of int64."),
    OpDef::new(
        &["tierup.simd.load"],
        "a, i, n, step=1, mask=None, fill=0",
        Body::Lir(|_, a| memory::load_rule(a), memory::emit_load),
    )
    .raises()
    .reads()
    .doc("`a[i]`, `a[i + step]` … in `n` lanes; `fill` in lanes where `mask` is false, whose elements need not exist."),
    OpDef::new(
        &["tierup.simd.store"],
        "a, i, v, step=1, mask=None",
        Body::Lir(|_, a| memory::store_rule(a), memory::emit_store),
    )
    .raises()
    .writes()
    .doc("The lanes of `v` to `a[i]`, `a[i + step]` …, those where `mask` is true."),
    OpDef::new(
        &["tierup.simd.gather"],
        "a, indices, mask=None, fill=0",
        Body::Lir(|_, a| memory::gather_rule(a), memory::emit_gather),
    )
    .raises()
    .reads()
    .doc("`a[k]` for each lane `k` of `indices`."),
    OpDef::new(
        &["tierup.simd.scatter"],
        "a, indices, v, mask=None",
        Body::Lir(|_, a| memory::scatter_rule(a), memory::emit_scatter),
    )
    .raises()
    .writes()
    .doc("`a[k] = x` for the lanes of `indices` and `v`, one after the other."),
    OpDef::new(&["tierup.simd.select"], "mask, a, b", Body::Lir(|_, a| shape::select_rule(a), shape::emit_select))
        .raises()
        .doc("The lanes of `a` where `mask` is true, else those of `b`."),
    OpDef::new(&["tierup.simd.shuffle"], "a, b, places", Body::Lir(|_, a| shape::shuffle_rule(a), shape::emit_shuffle))
        .doc("The lanes of `a` and, counted on, of `b` at these constant places."),
    OpDef::new(&["tierup.simd.permute"], "v, places", Body::Lir(|_, a| shape::permute_rule(a), shape::emit_permute))
        .raises()
        .doc("`v[k]` for each lane `k` of `places`."),
    OpDef::new(&["tierup.simd.fma"], "a, b, c", Body::Lir(|_, a| fma_rule(a), emit_fma))
        .raises()
        .doc("`a * b + c`, rounded once."),
    OpDef::new(&["simd.sum"], "v", Body::Lir(|_, a| sum_rule(a, "sum()"), |cx, c| by_halves(cx, c, id::ADD)))
        .raises()
        .doc("All lanes added up, by halves: the second half to the first, until one is left."),
    OpDef::new(&["simd.prod"], "v", Body::Lir(|_, a| sum_rule(a, "prod()"), |cx, c| by_halves(cx, c, id::MUL)))
        .raises()
        .doc("All lanes multiplied, by halves."),
    OpDef::new(&["simd.min"], "v", Body::Lir(|_, a| lane_rule(a), |cx, c| by_halves(cx, c, id::NUMPY_MINIMUM)))
        .raises()
        .doc("The smallest lane; NaN where one is NaN."),
    OpDef::new(&["simd.max"], "v", Body::Lir(|_, a| lane_rule(a), |cx, c| by_halves(cx, c, id::NUMPY_MAXIMUM)))
        .raises()
        .doc("The largest lane; NaN where one is NaN."),
    OpDef::new(&["simd.any"], "v", Body::Lir(|_, a| mask_rule(a, "any()"), |cx, c| lane_truth(cx, c, Op::AnyLane)))
        .doc("Whether a lane of a mask is true."),
    OpDef::new(&["simd.all"], "v", Body::Lir(|_, a| mask_rule(a, "all()"), |cx, c| lane_truth(cx, c, Op::EveryLane)))
        .doc("Whether all lanes of a mask are true."),
    OpDef::new(&["simd.astype"], "v, dtype", Body::Lir(|_, a| shape::astype_rule(a), shape::emit_astype))
        .raises()
        .doc("The lanes converted as NumPy converts elements."),
    OpDef::new(&["simd.replace"], "v, i, x", Body::Lir(|_, a| shape::replace_rule(a), shape::emit_replace))
        .raises()
        .doc("The vector with another lane `i`."),
    OpDef::new(&["simd.lanes"], "v", Body::Lir(|_, a| shape::lanes_rule(a), |_, c| Ok(c.args[0].clone())))
        .doc("The lanes as a tuple."),
    OpDef::new(&["operator.getitem"], "v, i", Body::Lir(|_, a| shape::item_rule(a), shape::emit_item))
        .raises()
        .doc("Lane `i`; IndexError."),
    OpDef::new(
        &["builtins.len"],
        "v",
        Body::Lir(
            |_, a| {
                let (_, n) = a[0].ty.as_simd().ok_or_else(|| no_match("len()", a))?;
                Ok(Answer::constant(Const::Int(n as i64)))
            },
            |cx, c| Ok(vec![cx.b.i64(c.types[0].as_simd().map_or(0, |(_, n)| n as i64))]),
        ),
    )
    .doc("How many lanes a vector has."),
];

fn vec_rule(args: &[Arg]) -> Result<Answer> {
    if !args.iter().all(|a| a.ty.is_number()) {
        return Err(no_match("simd.Vec()", args));
    }
    let n = lane_count("simd.Vec()", &Arg::constant(Const::Int(args.len() as i64)))?;
    let t = args[1..].iter().fold(args[0].ty, |t, a| promote::result_type(t, a.ty)).strong();
    Ok(Answer::coerced(vector_of(t, n, "simd.Vec()", args)?, vec![t; n]))
}

fn emit_vec(_: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    Ok(c.args.concat())
}

fn splat_rule(args: &[Arg]) -> Result<Answer> {
    let n = lane_count("simd.splat()", &args[1])?;
    let t = args[0].ty.strong();
    Ok(Answer::coerced(vector_of(t, n, "simd.splat()", args)?, vec![t, args[1].ty]))
}

fn emit_splat(_: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    Ok(vec![c.args[0][0]; c.ret.as_simd().map_or(0, |(_, n)| n)])
}

fn arange_rule(args: &[Arg]) -> Result<Answer> {
    let n = lane_count("simd.arange()", &args[0])?;
    Ok(Answer::of(vector_of(Type::i64(), n, "simd.arange()", args)?))
}

fn emit_arange(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let n = c.ret.as_simd().map_or(0, |(_, n)| n);
    Ok((0..n).map(|k| cx.b.i64(k as i64)).collect())
}

/// One lane of the vector.
fn lane_rule(args: &[Arg]) -> Result<Answer> {
    simd(&args[0]).map(|(t, _)| Answer::of(t)).ok_or_else(|| no_match("a reduction", args))
}

/// The same; the lanes of a mask are counted in int64.
fn sum_rule(args: &[Arg], what: &str) -> Result<Answer> {
    let (t, _) = simd(&args[0]).ok_or_else(|| no_match(what, args))?;
    Ok(Answer::of(if *t == Kind::Bool { Type::i64() } else { t }))
}

fn mask_rule(args: &[Arg], what: &str) -> Result<Answer> {
    simd(&args[0])
        .filter(|(t, _)| **t == Kind::Bool)
        .map(|(t, _)| Answer::of(t))
        .ok_or_else(|| no_match(what, args))
}

/// The scalar loop of a universal function on two numbers of a type that gives the same.
fn two_of(op: super::OpId, t: Type) -> Result<(super::Emit, bool)> {
    let operands = [Arg::of(t), Arg::of(t)];
    op.rows()
        .iter()
        .find_map(|row| match row.body {
            Body::Ufunc(rule, emit) => {
                rule(&operands, true).filter(|a| a.ret == t).map(|_| (emit, row.straight))
            }
            Body::Lir(..) | Body::Py(_) | Body::Written(_) => None,
        })
        .ok_or_else(|| Diagnostic::internal(format!("no loop of two {t}")))
}

/// Folds the second half into the first until one lane is left: `(a + e) + (c + g)` beside `(b + f) + (d + h)`, then
/// these two.
fn by_halves(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: super::OpId) -> Result<Val> {
    let (t, mut n) = c.types[0].as_simd().ok_or_else(|| Diagnostic::internal("a vector"))?;
    let mut v = c.args[0].clone();
    if t != c.ret {
        v = v.iter().map(|x| cast::cast(cx, &[*x], t, c.ret)).collect::<Result<Vec<_>>>()?.concat();
    }
    let (t, types) = (c.ret, [c.ret; 2]);
    let (emit, straight) = two_of(op, t)?;
    while n > 1 {
        n /= 2;
        let (low, high) = (v[..n].to_vec(), v[n..].to_vec());
        v = match Type::simd(t, n) {
            Some(half) => {
                let each = Laned { emit, straight, types: &types, ret: t, consts: &[None, None], lanes: n };
                each.call(cx, &[low, high], &[half, half])?
            }
            None => {
                let call = OpCall {
                    args: &[low, high],
                    types: &types,
                    consts: &[None, None],
                    ret: t,
                    elementwise: true,
                };
                emit(cx, &call)?
            }
        };
    }
    Ok(v)
}

fn lane_truth(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: Op) -> Result<Val> {
    let mask = joined(cx, &c.args[0], c.types[0])?;
    Ok(vec![cx.b.un(op, mask)])
}

fn fma_rule(args: &[Arg]) -> Result<Answer> {
    let (t, n) = args.iter().find_map(simd).ok_or_else(|| no_match("simd.fma()", args))?;
    let fits = |a: &Arg| match simd(a) {
        Some(own) => own == (t, n),
        None => a.ty == t || a.ty.is_weak() && a.ty.is_number() && !a.ty.is_complex(),
    };
    if !t.is_float() || !args.iter().all(fits) {
        return Err(no_match("simd.fma()", args));
    }
    Ok(Answer::of(vector_of(t, n, "simd.fma()", args)?))
}

fn emit_fma(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (t, lanes) = c.ret.as_simd().ok_or_else(|| Diagnostic::internal("a vector"))?;
    let emit = |cx: &mut LowerCx<'_>, c: &OpCall<'_>| {
        Ok(vec![cx.b.ternary(Op::Fma, c.args[0][0], c.args[1][0], c.args[2][0])])
    };
    let loops = Laned { emit, straight: true, types: &[t; 3], ret: t, consts: &[None, None, None], lanes };
    loops.call(cx, c.args, c.types)
}
