//! Lanes chosen, exchanged, replaced and converted.

use super::lanes::{checked_lane, is_mask, lane_at, lane_count, simd, vector_of};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::vector::{Laned, joined, lanes};
use crate::lir::{InstData, Op, Ty};
use crate::ops::dtype::dtype_arg;
use crate::types::promote;
use crate::types::{Const, Type};
use crate::typing::{Answer, Arg, no_match};

fn internal() -> Diagnostic {
    Diagnostic::internal("a vector")
}

pub(super) fn select_rule(args: &[Arg]) -> Result<Answer> {
    let wrong = || no_match("simd.select()", args);
    let (_, n) = simd(&args[0]).ok_or_else(wrong)?;
    let own = |a: &Arg| match simd(a) {
        Some((t, m)) => (m == n).then_some(t),
        None => a.ty.is_number().then_some(a.ty),
    };
    if !is_mask(&args[0], n) {
        return Err(wrong());
    }
    let (a, b) = (own(&args[1]).ok_or_else(wrong)?, own(&args[2]).ok_or_else(wrong)?);
    Ok(Answer::of(vector_of(promote::result_type(a, b), n, "simd.select()", args)?))
}

pub(super) fn emit_select(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (t, lanes) = c.ret.as_simd().ok_or_else(internal)?;
    let emit = |cx: &mut LowerCx<'_>, c: &OpCall<'_>| {
        Ok(vec![cx.b.select(c.args[0][0], c.args[1][0], c.args[2][0])])
    };
    let types = [Type::bool(), t, t];
    Laned { emit, straight: true, types: &types, ret: t, consts: &[None, None, None], lanes }
        .call(cx, c.args, c.types)
}

/// The places that a constant tuple says, among so many lanes.
fn places(arg: &Arg, lanes: usize) -> Result<Vec<usize>> {
    let Some(Const::Tuple(all)) = &arg.konst else {
        return Err(Diagnostic::new(
            Code::RequiresConstant,
            "the places of simd.shuffle() must be a constant tuple",
        )
        .help("`simd.permute` takes places that are computed"));
    };
    let place = |c: &Const| c.as_int().and_then(|i| usize::try_from(i).ok()).filter(|i| *i < lanes);
    let found = all.iter().map(place).collect::<Option<Vec<_>>>();
    found.ok_or_else(|| {
        let text = format!("the places of simd.shuffle() are integers from 0 to {}", lanes - 1);
        Diagnostic::new(Code::NoMatchingOperation, text)
    })
}

pub(super) fn shuffle_rule(args: &[Arg]) -> Result<Answer> {
    let (first, second) = (simd(&args[0]), simd(&args[1]));
    let ((t, n), true) = (first.ok_or_else(|| no_match("simd.shuffle()", args))?, first == second) else {
        return Err(no_match("simd.shuffle()", args));
    };
    let chosen = places(&args[2], 2 * n)?;
    let m = lane_count("simd.shuffle()", &Arg::constant(Const::Int(chosen.len() as i64)))?;
    Ok(Answer::of(vector_of(t, m, "simd.shuffle()", args)?))
}

pub(super) fn emit_shuffle(_: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let all = [c.args[0].clone(), c.args[1].clone()].concat();
    let arg = Arg { ty: c.types[2], konst: c.consts[2].clone() };
    Ok(places(&arg, all.len())?.into_iter().map(|k| all[k]).collect())
}

pub(super) fn permute_rule(args: &[Arg]) -> Result<Answer> {
    let wrong = || no_match("simd.permute()", args);
    let ((t, _), (k, n)) = (simd(&args[0]).ok_or_else(wrong)?, simd(&args[1]).ok_or_else(wrong)?);
    if !k.is_int() {
        return Err(wrong());
    }
    Ok(Answer::of(vector_of(t, n, "simd.permute()", args)?))
}

/// From so many bytes on processors choose among them. Others are read from memory: LLVM may fail on lanes of
/// registers by numbers.
const BYTES: u32 = 16;

pub(super) fn emit_permute(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (k, _) = c.types[1].as_simd().ok_or_else(internal)?;
    let bytes = c.types[0].vector_ty().is_some_and(|t| t.lane() == Ty::I8 && t.bytes() >= BYTES);
    let places = joined(cx, &c.args[1], c.types[1])?;
    let places = cast::cast(cx, &[places], k, Type::int())?[0];
    let places = checked_lane(cx, places, c.args[0].len());
    let each = lanes(cx, places);
    if !bytes {
        let spilled = cx.spill(&c.args[0]);
        return Ok(each.into_iter().map(|k| lane_at(cx, spilled, c.args[0][0], k)).collect());
    }
    let v = joined(cx, &c.args[0], c.types[0])?;
    let ty = cx.b.ty(v);
    Ok(each.into_iter().map(|k| cx.b.value(InstData::Op { op: Op::Lane, ty, args: vec![v, k] })).collect())
}

pub(super) fn astype_rule(args: &[Arg]) -> Result<Answer> {
    let wrong = || no_match("astype()", args);
    let (_, n) = simd(&args[0]).ok_or_else(wrong)?;
    let t = dtype_arg(&args[1]).ok_or_else(wrong)?;
    Ok(Answer::of(vector_of(t, n, "astype()", args)?))
}

pub(super) fn emit_astype(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let ((from, _), (to, _)) =
        (c.types[0].as_simd().ok_or_else(internal)?, c.ret.as_simd().ok_or_else(internal)?);
    let v = joined(cx, &c.args[0], c.types[0])?;
    let v = cast::cast(cx, &[v], from, to)?;
    Ok(lanes(cx, v[0]))
}

pub(super) fn lanes_rule(args: &[Arg]) -> Result<Answer> {
    args[0].ty.tuple_of_lanes().map(Answer::of).ok_or_else(|| no_match("lanes()", args))
}

pub(super) fn item_rule(args: &[Arg]) -> Result<Answer> {
    let (t, _) = simd(&args[0]).filter(|_| args[1].ty.is_index()).ok_or_else(|| no_match("[]", args))?;
    Ok(Answer::coerced(t, vec![args[0].ty, Type::int()]))
}

/// The lane that a constant names.
fn known_lane(c: &OpCall<'_>, n: usize) -> Option<usize> {
    let i = c.consts[1].as_ref().and_then(Const::as_int)?;
    let i = if i < 0 { i + n as i64 } else { i };
    usize::try_from(i).ok().filter(|i| *i < n)
}

pub(super) fn emit_item(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let v = &c.args[0];
    if let Some(k) = known_lane(c, v.len()) {
        return Ok(vec![v[k]]);
    }
    let place = checked_lane(cx, c.args[1][0], v.len());
    let spilled = cx.spill(v);
    Ok(vec![lane_at(cx, spilled, v[0], place)])
}

pub(super) fn replace_rule(args: &[Arg]) -> Result<Answer> {
    let wrong = || no_match("replace()", args);
    let (t, _) = simd(&args[0]).filter(|_| args[1].ty.is_index()).ok_or_else(wrong)?;
    let same = args[2].ty.is_number() && promote::result_type(t, args[2].ty) == t;
    if !same {
        return Err(wrong());
    }
    Ok(Answer::coerced(args[0].ty, vec![args[0].ty, Type::int(), args[2].ty]))
}

pub(super) fn emit_replace(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (t, n) = c.types[0].as_simd().ok_or_else(internal)?;
    let x = cast::element(cx, &c.args[2], c.types[2], t)?[0];
    let mut v = c.args[0].clone();
    if let Some(k) = known_lane(c, n) {
        v[k] = x;
        return Ok(v);
    }
    let place = checked_lane(cx, c.args[1][0], n);
    for (k, lane) in v.iter_mut().enumerate() {
        let here = cx.b.bin_imm(Op::IcmpEq, place, k as i64);
        *lane = cx.b.select(here, x, *lane);
    }
    Ok(v)
}
