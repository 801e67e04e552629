//! The same elements in another shape: `reshape`, `ravel`, `flatten`.

use super::{permuted, permuted_type, reversed, shape_restride};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, contiguous_strides, product, shape_text};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::{Alias, Op, Ty, Value};
use crate::ops::array::{array, contiguous_or_copy};
use crate::ops::create::{shape_dims, shape_values};
use crate::types::{Access, ArrayType, Const, Kind, Layout, Type};
use crate::typing::{Answer, Arg, no_match};

/// The new shape's arguments: where they start, and where `order` is.
pub(super) fn reshape_parts(args: &[Arg], order: usize, first: usize) -> Option<usize> {
    let shape: Vec<Type> = if order < first {
        args[first..].iter().map(|a| a.ty).collect()
    } else {
        args[first..order].iter().map(|a| a.ty).collect()
    };
    match shape.as_slice() {
        [one] => shape_dims(*one),
        many => many.iter().all(|t| t.is_index()).then_some(many.len()),
    }
}

pub(super) fn reshape_rule(args: &[Arg], order: usize, first: usize) -> Result<Answer> {
    let a = array(args)?;
    let n = reshape_parts(args, order, first).ok_or_else(|| no_match("reshape()", args))?;
    let layout = reshaped_layout(a, n, &args[order])?;
    // Where it may have to be a copy, that one is writable.
    let access = if a.access == Access::Read && layout == Layout::A { Access::Either } else { a.access };
    Ok(Answer::of(Type::new(Kind::Array(ArrayType { ndim: n as u8, layout, access, ..a }))))
}

pub(super) fn reshaped_layout(a: ArrayType, n: usize, order: &Arg) -> Result<Layout> {
    Ok(match order.text().map(str::to_ascii_uppercase).as_deref() {
        Some("C") => {
            if a.layout == Layout::C || n == 0 {
                Layout::C
            } else {
                Layout::A
            }
        }
        Some("F") => {
            if a.layout == Layout::F || a.ndim <= 1 && a.layout == Layout::C {
                if n > 1 { Layout::F } else { Layout::C }
            } else if n == 0 {
                Layout::C
            } else {
                Layout::A
            }
        }
        Some("A") => {
            if a.layout == Layout::F {
                reshaped_layout(a, n, &Arg::constant(Const::Str("F".into())))?
            } else {
                reshaped_layout(a, n, &Arg::constant(Const::Str("C".into())))?
            }
        }
        _ => {
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                "order must be the constant 'C', 'F' or 'A'",
            ));
        }
    })
}

pub(super) fn emit_reshape(cx: &mut LowerCx<'_>, c: &OpCall<'_>, order: usize, first: usize) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let range = if order < first { first..c.args.len() } else { first..order };
    let mut wanted = vec![];
    for k in range {
        wanted.extend(shape_values(cx, &c.args[k], c.types[k])?);
    }
    let shape = complete_shape(cx, &a, &wanted);
    let Kind::Array(ty) = *c.ret else { return Err(Diagnostic::internal("array")) };
    let text = c.consts[order].as_ref().and_then(Const::as_str).unwrap_or("C").to_ascii_uppercase();
    let fortran = text == "F" || text == "A" && a.ty.layout == Layout::F;
    if !fortran {
        return Ok(reshaped(cx, &a, &shape, ty)?.pack());
    }
    // In Fortran order: the transposed array, reshaped in C order, transposed again.
    let back: Vec<Value> = shape.iter().rev().copied().collect();
    let turned_type = permuted_type(a.ty, &reversed(a.shape.len()));
    let mut turned = permuted(&a, &reversed(a.shape.len()), turned_type)?;
    if a.shape.len() <= 1 {
        turned.ty.layout = a.ty.layout;
    }
    let inner = ArrayType { layout: if ty.layout == Layout::F { Layout::C } else { ty.layout }, ..ty };
    let r = reshaped(cx, &turned, &back, inner)?;
    Ok(ArrayVal {
        ty,
        owner: r.owner,
        data: r.data,
        shape: r.shape.into_iter().rev().collect(),
        strides: r.strides.into_iter().rev().collect(),
        frozen: r.frozen,
    }
    .pack())
}

/// The shape asked for with -1 replaced; ValueError where it does not hold the array's elements.
pub(super) fn complete_shape(cx: &mut LowerCx<'_>, a: &ArrayVal, wanted: &[Value]) -> Vec<Value> {
    let size = a.size(cx);
    let (one, zero) = (cx.b.i64(1), cx.b.i64(0));
    let (mut known, mut unknown) = (one, zero);
    let mut flags = vec![];
    for n in wanted {
        let open = cx.b.bin(Op::IcmpSlt, *n, zero);
        let factor = cx.b.select(open, one, *n);
        known = cx.b.bin(Op::Imul, known, factor);
        let count = cx.b.conv(Op::Zext, Ty::I64, open);
        unknown = cx.b.bin(Op::Iadd, unknown, count);
        flags.push(open);
    }
    let single = cx.b.bin(Op::IcmpSle, unknown, one);
    cx.check(single, Class::ValueError, "can only specify one unknown dimension");
    // The open dimension takes what is left; then the product must be the size. (Division by zero gives 0.)
    let left = cx.b.bin(Op::Sdiv, size, known);
    let shape: Vec<Value> = wanted.iter().zip(&flags).map(|(n, open)| cx.b.select(*open, left, *n)).collect();
    let total = product(cx, &shape);
    let fits = cx.b.bin(Op::IcmpEq, total, size);
    let open = cx.b.bin(Op::IcmpNe, unknown, zero);
    let nothing_known = cx.b.bin(Op::IcmpEq, known, zero);
    let undecided = cx.and(open, nothing_known);
    let decided = cx.not(undecided);
    let ok = cx.and(fits, decided);
    cx.check_format(
        ok,
        Class::ValueError,
        &format!(
            "cannot reshape array of size {{}} into shape {}",
            shape_text(wanted.len()).replace("{}", "{newaxis}")
        ),
        &[&[size], wanted].concat(),
    );
    shape
}

/// The elements in a new shape of as many, with references of their own; a view where one exists.
pub(super) fn reshaped(
    cx: &mut LowerCx<'_>,
    a: &ArrayVal,
    shape: &[Value],
    ty: ArrayType,
) -> Result<ArrayVal> {
    let plain = contiguous_strides(cx, shape, ty.itemsize(), Layout::C);
    if a.ty.layout == Layout::C {
        cx.retain_object(a.owner);
        return Ok(ArrayVal {
            ty,
            owner: a.owner,
            data: a.data,
            shape: shape.to_vec(),
            strides: plain,
            frozen: a.frozen,
        });
    }
    let old = cx.spill(&[a.shape.as_slice(), &a.strides].concat());
    let room = cx.spill(&[shape, &plain].concat());
    let (m, n) = (cx.b.i64(a.shape.len() as i64), cx.b.i64(shape.len() as i64));
    let item = cx.b.i64(a.ty.itemsize());
    let can = cx.helper_value(&shape_restride, &[m, old, n, room, item]);
    let v = cx.if_else(
        can,
        |cx| {
            cx.retain_object(a.owner);
            let strides: Vec<Value> = (0..shape.len())
                .map(|k| cx.b.load(Ty::I64, room, 8 * (shape.len() + k) as i32, Alias::Stack))
                .collect();
            Ok([vec![a.owner, a.data], strides].concat())
        },
        |cx| {
            let copy = a.copied(cx, a.ty.dtype, Layout::C)?;
            Ok([vec![copy.owner, copy.data], plain.clone()].concat())
        },
    )?;
    let frozen = crate::ops::array::frozen_version(cx, a, can);
    Ok(ArrayVal { ty, owner: v[0], data: v[1], shape: shape.to_vec(), strides: v[2..].to_vec(), frozen })
}

/// Whether the order of a flat copy depends on strides that only the run knows.
pub(super) fn strides_decide(args: &[Arg]) -> bool {
    args[0].ty.as_array().is_some_and(|a| a.layout == Layout::A && a.ndim > 1)
        && args[1].text().is_some_and(|o| matches!(o, "K" | "A" | "k" | "a"))
}

pub(super) fn flat_rule(args: &[Arg], copies: bool) -> Result<Answer> {
    let Some(a) = args[0].ty.as_array() else { return Err(no_match("ravel()", args)) };
    crate::ops::array::ordered(a, &args[1])?;
    let order = match args[1].text() {
        Some("F" | "f") => Layout::F,
        Some("A" | "K" | "a" | "k") if a.layout == Layout::F => Layout::F,
        _ => Layout::C,
    };
    let access = if copies {
        Access::Write
    } else {
        crate::ops::array::access_of_version(a, if a.ndim > 1 { order } else { Layout::C })
    };
    Ok(Answer::of(Type::new(Kind::Array(ArrayType { dtype: a.dtype, ndim: 1, layout: Layout::C, access }))))
}

/// Whether elements are to be taken in Fortran order.
pub(super) fn fortran(c: &OpCall<'_>, a: ArrayType) -> bool {
    match c.consts[1].as_ref().and_then(Const::as_str).unwrap_or("C") {
        "F" | "f" => true,
        "A" | "K" | "a" | "k" => a.layout == Layout::F,
        _ => false,
    }
}

pub(super) fn emit_ravel(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let order = if fortran(c, a.ty) && a.ty.ndim > 1 { Layout::F } else { Layout::C };
    let n = a.size(cx);
    let flat = contiguous_or_copy(cx, &a, order)?;
    Ok([
        vec![flat.owner, flat.data, n],
        if flat.ty.access == Access::Either { flat.frozen.into_iter().collect() } else { vec![] },
    ]
    .concat())
}

pub(super) fn emit_flatten(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let order = if fortran(c, a.ty) && a.ty.ndim > 1 { Layout::F } else { Layout::C };
    let n = a.size(cx);
    let flat = a.copied(cx, a.ty.dtype, order)?;
    Ok(vec![flat.owner, flat.data, n])
}
