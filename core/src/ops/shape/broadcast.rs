//! Arrays stretched to a common shape.

use super::{always_raises, value_error};
use crate::diag::{Diagnostic, Result};
use crate::emit::arrays::zero_d;
use crate::emit::arrays::{ArrayVal, broadcast_strides, shape_text};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::writing::broadcasts_to;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::ops::create::{shape_dims, shape_values};
use crate::ops::ufunc::broadcast_shapes;
use crate::types::{Access, ArrayType, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(super) fn stretched(dtype: Type, n: usize) -> Type {
    Type::new(Kind::Array(ArrayType {
        dtype: dtype.strong(),
        ndim: n as u8,
        layout: if n == 0 { Layout::C } else { Layout::A },
        access: Access::Read,
    }))
}

pub(super) fn broadcast_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let n = shape_dims(args[1].ty).ok_or_else(|| no_match("broadcast_to()", args))?;
    let (dtype, have) = match args[0].ty.as_array() {
        Some(a) => (a.dtype, a.ndim()),
        None if args[0].ty.is_number() => (args[0].ty, 0),
        None => return Err(no_match("broadcast_to()", args)),
    };
    Ok(Answer::of(if have > n { Type::never() } else { stretched(dtype, n) }))
}

pub(super) fn source(cx: &mut LowerCx<'_>, v: &[Value], t: Type) -> Result<ArrayVal> {
    if t.as_array().is_some() { ArrayVal::new(cx, v, t) } else { zero_d(cx, v, t, t.strong()) }
}

pub(super) fn emit_broadcast(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let shape = shape_values(cx, &c.args[1], c.types[1])?;
    if *c.ret == Kind::Never {
        return always_raises(
            cx,
            &value_error("input operand has more dimensions than allowed by the axis remapping"),
        );
    }
    for n in &shape {
        let ok = cx.b.bin_imm(Op::IcmpSge, *n, 0);
        cx.check(ok, Class::ValueError, "all elements of broadcast shape must be non-negative");
    }
    if let Some(t) = c.types[0].as_array() {
        let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
        if let Some(fits) = broadcasts_to(cx, &a.shape, &shape) {
            let text = format!(
                "operands could not be broadcast together with remapped shapes [original->remapped]: {}  and requested shape {}",
                shape_text(t.ndim()),
                shape_text(shape.len())
            );
            cx.check_format(fits, Class::ValueError, &text, &[a.shape.as_slice(), &shape].concat());
        }
    }
    let a = source(cx, &c.args[0], c.types[0])?;
    Ok(stretch(cx, &a, &shape, c.ret)?.pack())
}

pub(super) fn stretch(cx: &mut LowerCx<'_>, a: &ArrayVal, shape: &[Value], ret: Type) -> Result<ArrayVal> {
    let Kind::Array(ty) = *ret else { return Err(Diagnostic::internal("array")) };
    let strides = broadcast_strides(cx, a, shape);
    Ok(ArrayVal { ty, owner: a.owner, data: a.data, shape: shape.to_vec(), strides, frozen: a.frozen })
}

pub(super) fn broadcast_all_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let parts: Option<Vec<(Type, usize)>> = args[1..]
        .iter()
        .map(|x| match x.ty.as_array() {
            Some(a) => Some((a.dtype, a.ndim())),
            None => x.ty.is_number().then_some((x.ty, 0)),
        })
        .collect();
    let parts = parts.ok_or_else(|| no_match("broadcast_arrays()", args))?;
    let n = parts.iter().map(|p| p.1).max().unwrap_or(0);
    Ok(Answer::of(Type::tuple(parts.iter().map(|p| stretched(p.0, n)).collect())))
}

pub(super) fn emit_broadcast_all(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let members = c.ret.members().unwrap_or_default();
    let n = members.first().and_then(|t| t.as_array()).map_or(0, |a| a.ndim());
    let mut shapes = vec![];
    for (v, t) in c.args[1..].iter().zip(&c.types[1..]) {
        if t.as_array().is_some() {
            shapes.push(ArrayVal::new(cx, v, *t)?.shape);
        }
    }
    check_shapes(cx, &shapes);
    let shape = if n == 0 { vec![] } else { broadcast_shapes(cx, &shapes, n)? };
    let mut out = vec![];
    for ((v, t), ret) in c.args[1..].iter().zip(&c.types[1..]).zip(members) {
        let a = source(cx, v, *t)?;
        if t.as_array().is_some() {
            cx.retain_object(a.owner);
        }
        out.extend(stretch(cx, &a, &shape, *ret)?.pack());
    }
    Ok(out)
}

/// Raises what NumPy says where shapes do not broadcast: at the outermost dimension where any do not, which two
/// these are.
pub(super) fn check_shapes(cx: &mut LowerCx<'_>, shapes: &[Vec<Value>]) {
    let ndim = shapes.iter().map(Vec::len).max().unwrap_or(0);
    for d in 0..ndim {
        let at = |k: usize| (d + shapes[k].len()).checked_sub(ndim).map(|i| shapes[k][i]);
        let here: Vec<(usize, Value)> = (0..shapes.len()).filter_map(|k| at(k).map(|n| (k, n))).collect();
        for (place, (j, n)) in here.iter().enumerate() {
            for (i, m) in here[..place].iter().filter(|(_, m)| m != n) {
                let same = cx.b.bin(Op::IcmpEq, *m, *n);
                let (m_one, n_one) = (cx.b.bin_imm(Op::IcmpEq, *m, 1), cx.b.bin_imm(Op::IcmpEq, *n, 1));
                let ok = cx.or(same, m_one);
                let ok = cx.or(ok, n_one);
                let text = format!(
                    "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg {i} with shape {} and arg {j} with shape {}.",
                    tuple_text(shapes[*i].len()),
                    tuple_text(shapes[*j].len())
                );
                cx.check_format(ok, Class::ValueError, &text, &[shapes[*i].as_slice(), &shapes[*j]].concat());
            }
        }
    }
}

/// A tuple of `n` numbers as Python prints it, for a text with places.
fn tuple_text(n: usize) -> String {
    if n == 1 { "({},)".into() } else { format!("({})", vec!["{}"; n].join(", ")) }
}

pub(super) fn broadcast_shapes_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result<Answer> {
    let n = args
        .iter()
        .map(|a| shape_dims(a.ty))
        .collect::<Option<Vec<usize>>>()
        .ok_or_else(|| no_match("broadcast_shapes()", args))?
        .into_iter()
        .max()
        .unwrap_or(0);
    Ok(Answer::of(Type::tuple(vec![Type::int(); n])))
}

pub(super) fn emit_broadcast_shapes(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let mut shapes = vec![];
    for (v, t) in c.args.iter().zip(c.types) {
        let shape = shape_values(cx, v, *t)?;
        for n in &shape {
            let fine = cx.b.bin_imm(Op::IcmpSge, *n, 0);
            cx.check(fine, Class::ValueError, "negative dimensions are not allowed");
        }
        shapes.push(shape);
    }
    let n = c.ret.members().map_or(0, <[Type]>::len);
    if n == 0 {
        return Ok(vec![]);
    }
    check_shapes(cx, &shapes);
    broadcast_shapes(cx, &shapes, n)
}
