//! Universal functions: one scalar loop, broadcast over arrays. A row gives the scalar loop; this file gives everything else.

use super::{OpDef, UfuncRule};
use crate::diag::{Code, Diagnostic, Result};
use crate::exc::Class;
use crate::infer::cx::{Answer, Arg, no_match};
use crate::lir::{Op, Value};
use crate::lower::arrays::{ArrayVal, for_each_index};
use crate::lower::cast;
use crate::lower::cx::{LowerCx, OpCall, Val};
use crate::types::{ArrayType, Kind, Layout, Type};

/// Number of inputs: a last parameter called `out` is no input.
fn inputs(op_params: usize, has_out: bool) -> usize { op_params - has_out as usize }

fn has_out(op: &OpDef) -> bool { op.spec().params.last().is_some_and(|p| p.name == "out") }

/// Types a call on scalars and arrays.
pub fn type_call(op: &'static OpDef, rule: UfuncRule, args: &[Arg]) -> Result<Answer> {
    let n = inputs(op.spec().params.len(), has_out(op));
    let out = args.get(n).filter(|a| !a.is_none());
    let operands = &args[..n];
    let arrays: Vec<ArrayType> = operands.iter().filter_map(|a| a.ty.as_array()).collect();
    if arrays.is_empty() && out.is_none() {
        let mut answer = rule(operands, false).ok_or_else(|| no_match(op.name(), operands))?;
        if !answer.args.is_empty() { answer.args.extend(args[n..].iter().map(|a| a.ty)); }
        return Ok(answer);
    }
    let answer = rule(&element_args(operands), true).ok_or_else(|| no_match(op.name(), operands))?;
    // Scalars are converted once, in front of the loop.
    let mut coerce: Vec<Type> = operands.iter().enumerate().map(|(i, a)| match a.ty.as_array() {
        Some(_) => a.ty,
        None => answer.args.get(i).copied().unwrap_or(a.ty),
    }).collect();
    coerce.extend(args[n..].iter().map(|a| a.ty));
    if let Some(o) = out {
        let a = o.ty.as_array().ok_or_else(|| no_match(op.name(), args))?;
        if a.readonly { return Err(Diagnostic::new(Code::NoMatchingOperation, "output array is read-only")); }
        let deepest = arrays.iter().map(|a| a.ndim).max().unwrap_or(0);
        if deepest > a.ndim { return Err(Diagnostic::new(Code::NoMatchingOperation, "the output array has fewer dimensions than the result")); }
        if !same_kind(answer.ret, a.dtype) {
            return Err(Diagnostic::new(Code::NoMatchingOperation, format!("cannot cast {}'s result from {} to {} with casting rule 'same_kind'", op.name(), answer.ret, a.dtype)));
        }
        return Ok(Answer::coerced(o.ty, coerce));
    }
    let ndim = arrays.iter().map(|a| a.ndim()).max().unwrap_or(0);
    if ndim == 0 { return Ok(Answer::coerced(answer.ret.strong(), coerce)); }
    let all_f = ndim > 1 && arrays.iter().all(|a| a.layout == Layout::F && a.ndim() == ndim);
    Ok(Answer::coerced(Type::array(answer.ret, ndim, if all_f { Layout::F } else { Layout::C }), coerce))
}

/// NumPy's casting rule `same_kind`.
fn same_kind(from: Type, to: Type) -> bool {
    let rank = |t: Type| match *t { Kind::Bool => 0, Kind::Int(i) if !i.signed() => 1, Kind::Int(_) => 2, Kind::Float(_) => 3, _ => 4 };
    // uint to int of any width is allowed, int to uint is not.
    rank(from.strong()) <= rank(to)
}

/// Operands as the scalar loop sees them.
fn element_args(operands: &[Arg]) -> Vec<Arg> {
    operands.iter().map(|a| match a.ty.as_array() { Some(t) => Arg::of(t.dtype), None => Arg { ty: a.ty, konst: a.konst.clone() } }).collect()
}

/// One operand: a scalar, or an array read at each index.
enum Operand { Scalar(Val, Type), Array(ArrayVal) }

/// Emits a call on scalars and arrays.
pub fn emit_call(cx: &mut LowerCx<'_>, call: &OpCall<'_>, op: &'static OpDef, rule: UfuncRule, emit: super::Emit) -> Result<Val> {
    let n = inputs(op.spec().params.len(), has_out(op));
    let out = (n < call.args.len() && *call.types[n] != Kind::None).then(|| call.args[n].clone());
    let any_array = call.types[..n].iter().any(|t| t.as_array().is_some());
    if !any_array && out.is_none() {
        return emit(cx, &OpCall { args: &call.args[..n], types: &call.types[..n], consts: &call.consts[..n], ret: call.ret, elementwise: false });
    }
    let args: Vec<Arg> = call.types[..n].iter().zip(call.consts).map(|(t, c)| Arg { ty: *t, konst: c.clone() }).collect();
    let loop_types = rule(&element_args(&args), true).ok_or_else(|| no_match(op.name(), &args))?;
    let mut operands = vec![];
    for (v, t) in call.args[..n].iter().zip(call.types) {
        operands.push(if t.as_array().is_some() { Operand::Array(ArrayVal::new(cx, v, *t)?) } else { Operand::Scalar(v.clone(), *t) });
    }
    let scalar_ret = loop_types.ret;
    let target = |i: usize, t: Type| loop_types.args.get(i).copied().unwrap_or(t);
    let element = |cx: &mut LowerCx<'_>, at: &dyn Fn(&mut LowerCx<'_>, &ArrayVal) -> Val| -> Result<Val> {
        let (mut vals, mut types) = (vec![], vec![]);
        for (i, o) in operands.iter().enumerate() {
            let (v, t) = match o { Operand::Scalar(v, t) => (v.clone(), *t), Operand::Array(a) => (at(cx, a), a.ty.dtype) };
            let want = target(i, t);
            vals.push(cast::cast(cx, &v, t, want)?);
            types.push(want);
        }
        let consts = vec![None; vals.len()];
        emit(cx, &OpCall { args: &vals, types: &types, consts: &consts, ret: scalar_ret, elementwise: true })
    };
    if call.ret.as_array().is_none() {
        let v = element(cx, &|cx, a| a.load(cx, &[]))?;
        return cast::cast(cx, &v, scalar_ret, call.ret);
    }
    let arrays: Vec<ArrayVal> = operands.iter().filter_map(|o| if let Operand::Array(a) = o { Some(a.clone()) } else { None }).collect();
    let result = match &out {
        Some(v) => {
            let o = ArrayVal::new(cx, v, call.ret)?;
            for a in &arrays { check_broadcast_to(cx, &a.shape, &o.shape); }
            o
        }
        None => {
            let ndim = call.ret.as_array().map_or(0, |a| a.ndim());
            let shape = broadcast_shapes(cx, &arrays.iter().map(|a| a.shape.clone()).collect::<Vec<_>>(), ndim);
            let layout = call.ret.as_array().map_or(Layout::C, |a| a.layout);
            ArrayVal::alloc(cx, scalar_ret, &shape, layout, false)?
        }
    };
    // Overlap between an input and `out` is harmless when each element is read before it is written at the same place; otherwise inputs are copied.
    let arrays_at: Vec<ArrayVal> = arrays;
    let expanded: Vec<(ArrayVal, Vec<Value>)> = arrays_at.iter().map(|a| (a.clone(), broadcast_strides(cx, a, result.shape.len()))).collect();
    let dtype = result.ty.dtype;
    let flat = out.is_none() && expanded.iter().all(|(a, _)| a.ty.layout == result.ty.layout && a.shape.len() == result.shape.len()) && expanded.len() == 1;
    if flat {
        let total = result.size(cx);
        let (item, src) = (cx.b.i64(dtype.itemsize()), expanded[0].0.clone());
        let src_item = cx.b.i64(src.ty.itemsize());
        cx.for_range(total, &[], |cx, i, _| {
            let off = cx.b.bin(Op::Imul, i, src_item);
            let from = cx.b.ptr_add(src.data, off);
            let v = element(cx, &|cx, a| crate::lower::arrays::load_element(cx, from, a.ty.dtype))?;
            let v = cast::cast(cx, &v, scalar_ret, dtype)?;
            let off = cx.b.bin(Op::Imul, i, item);
            let to = cx.b.ptr_add(result.data, off);
            crate::lower::arrays::store_element(cx, to, dtype, &v);
            Ok(vec![])
        })?;
    } else {
        for_each_index(cx, &result.shape.clone(), &mut |cx, index| {
            let v = element(cx, &|cx, a| {
                let strides = &expanded.iter().find(|(e, _)| e.data == a.data && e.shape == a.shape).map(|(_, s)| s.clone()).unwrap_or_default();
                let mut p = a.data;
                for (i, s) in index.iter().zip(strides) {
                    let off = cx.b.bin(Op::Imul, *i, *s);
                    p = cx.b.ptr_add(p, off);
                }
                crate::lower::arrays::load_element(cx, p, a.ty.dtype)
            })?;
            let v = cast::cast(cx, &v, scalar_ret, dtype)?;
            result.store(cx, index, &v);
            Ok(())
        })?;
    }
    if out.is_some() { cx.retain(&result.pack(), call.ret); }
    Ok(result.pack())
}

/// The shape that the given shapes broadcast to; ValueError where they do not.
pub fn broadcast_shapes(cx: &mut LowerCx<'_>, shapes: &[Vec<Value>], ndim: usize) -> Vec<Value> {
    let mut out: Vec<Option<Value>> = vec![None; ndim];
    for shape in shapes {
        let lead = ndim - shape.len();
        for (k, n) in shape.iter().enumerate() {
            out[lead + k] = Some(match out[lead + k] {
                None => *n,
                Some(m) if m == *n => m,
                Some(m) => {
                    let same = cx.b.bin(Op::IcmpEq, m, *n);
                    let m_one = cx.b.bin_imm(Op::IcmpEq, m, 1);
                    let n_one = cx.b.bin_imm(Op::IcmpEq, *n, 1);
                    let ok = cx.or(same, m_one);
                    let ok = cx.or(ok, n_one);
                    cx.check(ok, Class::ValueError, "operands could not be broadcast together");
                    cx.b.select(m_one, *n, m)
                }
            });
        }
    }
    out.into_iter().map(|n| match n { Some(n) => n, None => cx.b.i64(1) }).collect()
}

/// ValueError unless `from` broadcasts to exactly `to`.
pub fn check_broadcast_to(cx: &mut LowerCx<'_>, from: &[Value], to: &[Value]) {
    let lead = to.len().saturating_sub(from.len());
    for (f, t) in from.iter().zip(&to[lead..]) {
        if f == t { continue; }
        let same = cx.b.bin(Op::IcmpEq, *f, *t);
        let one = cx.b.bin_imm(Op::IcmpEq, *f, 1);
        let ok = cx.or(same, one);
        cx.check(ok, Class::ValueError, "could not broadcast input array into the shape of the output");
    }
}

/// Strides for reading `a` at indices of `ndim` dimensions: 0 where it is stretched.
pub fn broadcast_strides(cx: &mut LowerCx<'_>, a: &ArrayVal, ndim: usize) -> Vec<Value> {
    let zero = cx.b.i64(0);
    let mut out = vec![zero; ndim - a.shape.len()];
    for (n, s) in a.shape.iter().zip(&a.strides) {
        let stretched = cx.b.bin_imm(Op::IcmpEq, *n, 1);
        let zero = cx.b.i64(0);
        out.push(cx.b.select(stretched, zero, *s));
    }
    out
}

pub static OPS: &[OpDef] = &[];
