//! Where the extremes of an array are.

use super::axes::{Axes, axes_error, axes_of, choose, raise_axes, result_type};
use super::running::refuse_tuple;
use super::{args_of, array, element_code};
use crate::diag::Result;
use crate::emit::arrays::{ArrayVal, load_element};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::ops::kernel as k;
use crate::types::{Kind, Layout, Type};
use crate::typing::{Answer, Arg, no_match};

pub(super) fn arg_rule(args: &[Arg]) -> Result<Answer> {
    let a = array(args)?;
    refuse_tuple(&args[1])?;
    let keep = args[3].flag("keepdims")?;
    let axes = axes_of(&args[1], "axis")?;
    if matches!(&axes, Axes::Known(m) if m.len() != 1) {
        return Err(no_match("axis", &args[1..2]));
    }
    if axes_error(&axes, args[1].ty, a.ndim(), true).is_some() {
        return Ok(Answer::of(Type::never()));
    }
    Ok(Answer::of(result_type(Type::i64(), a.ndim(), &axes, keep)))
}

pub(super) fn emit_arg(cx: &mut LowerCx<'_>, c: &OpCall<'_>, max: bool, nan: bool) -> Result<Val> {
    let args = args_of(c);
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let axes = axes_of(&args[1], "axis")?;
    let keep = args[3].flag("keepdims")?;
    if raise_axes(cx, &axes, c.types[1], a.shape.len(), true) {
        return Ok(vec![]);
    }
    let chosen = choose(cx, &axes, &c.args[1], c.types[1], a.shape.len());
    let axis = match (&axes, chosen.axis, &chosen.known) {
        (Axes::All, _, _) => cx.b.i64(-1),
        (_, Some(axis), _) => axis,
        (_, None, Some(flags)) => cx.b.i64(flags.iter().position(|f| *f).map_or(-1, |k| k as i64)),
        (_, None, None) => cx.b.i64(-1),
    };
    let (is_max, skips_nan) = (max, nan);
    let (max, nan, elem) = (cx.b.bool(max), cx.b.bool(nan), element_code(cx, a.ty.dtype)?);
    let flag = cx.chunks.flag();
    let elem = if flag == 0 { elem } else { cx.b.bin_imm(Op::Bor, elem, flag) };
    let n = cx.b.i64(a.shape.len() as i64);
    let (shape, strides) = (cx.spill(&a.shape), cx.spill(&a.strides));
    let call = |cx: &mut LowerCx<'_>, out: Value| {
        cx.helper(&k::array_arg, &[max, nan, elem, n, shape, a.data, strides, axis, out]);
    };
    if c.ret.as_array().is_none() {
        let whole = |cx: &mut LowerCx<'_>| {
            let out = cx.b.slot_addr(8);
            call(cx, out);
            Ok(load_element(cx, out, Type::i64()))
        };
        let t = a.ty.dtype;
        if a.shape.len() != 1 || skips_nan || !(t.is_float() || t.is_int()) {
            return whole(cx);
        }
        let behind = cx.b.bin_imm(Op::Isub, a.shape[0], 1);
        if !cx.options.platform.array_kernels() {
            let some = cx.b.bin_imm(Op::IcmpSge, behind, 0);
            let name = if is_max { "argmax" } else { "argmin" };
            cx.check(some, Class::ValueError, &format!("attempt to get {name} of an empty sequence"));
            return first_extreme(cx, &a, behind, is_max);
        }
        let short = cx.b.bin_imm(Op::IcmpUlt, behind, SHORT);
        return cx.if_else(short, |cx| first_extreme(cx, &a, behind, is_max), whole);
    }
    let (out_shape, _) = chosen.target(cx, &a.shape, 8, keep);
    let out = ArrayVal::alloc(cx, Type::i64(), &out_shape, Layout::C, false)?;
    cx.guarded(&[out.owner], |cx| {
        call(cx, out.data);
        Ok(())
    })?;
    Ok(out.pack())
}

/// Elements that are gone through by the time that a kernel has been called.
pub(super) const SHORT: i64 = 32;

/// The position of the extreme of a lane of one element and those `behind` it; the first NaN wins.
pub(super) fn first_extreme(cx: &mut LowerCx<'_>, a: &ArrayVal, behind: Value, max: bool) -> Result<Val> {
    let (t, zero) = (a.ty.dtype, cx.b.i64(0));
    let signed = matches!(*t, Kind::Int(i) if i.signed());
    let less = if t.is_float() {
        Op::FcmpLt
    } else if signed {
        Op::IcmpSlt
    } else {
        Op::IcmpUlt
    };
    let first = a.load(cx, &[zero])[0];
    let last = cx.for_range_short(behind, &[first, zero], |cx, i, state| {
        let i = cx.b.bin_imm(Op::Iadd, i, 1);
        let x = a.load(cx, &[i])[0];
        let mut wins = if max { cx.b.bin(less, state[0], x) } else { cx.b.bin(less, x, state[0]) };
        if t.is_float() {
            let (nan, number) = (cx.b.bin(Op::FcmpUno, x, x), cx.b.bin(Op::FcmpEq, state[0], state[0]));
            wins = cx.or(wins, nan);
            wins = cx.and(wins, number);
        }
        Ok(vec![cx.b.select(wins, x, state[0]), cx.b.select(wins, i, state[1])])
    })?;
    Ok(vec![last[1]])
}
