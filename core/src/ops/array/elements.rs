//! Single elements of arrays, `a.flat`, and versions of an array in another order.

use super::{Result1, array};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, copy_elements, load_element, store_element};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::writing::check_writable;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::ops::index::{checked, refuse_readonly, written};
use crate::types::promote::python_number;
use crate::types::{Access, ArrayType, IterType, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

pub(super) fn fill_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    let a = array(args)?;
    if args[1].ty.as_array().is_some_and(|v| v.ndim > 0) {
        return Err(no_match("fill()", args));
    }
    crate::ops::index::assignable(a, a.dtype, args[1].ty)?;
    Ok(Answer::of(written(a)))
}

/// A number, or the element of a 0-d array, as `to`.
pub(crate) fn scalar_of(cx: &mut LowerCx<'_>, v: &[Value], t: Type, to: Type) -> Result<Val> {
    let Some(a) = t.as_array() else { return cast::element(cx, v, t, to) };
    let x = load_element(cx, v[1], a.dtype);
    cast::cast(cx, &x, a.dtype, to)
}

pub(super) fn item_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    let a = array(args)?;
    let index = indices(&args[1..].iter().map(|a| a.ty).collect::<Vec<_>>())
        .ok_or_else(|| no_match("item()", args))?;
    if index > 1 && index != a.ndim() {
        return Err(Diagnostic::new(Code::NoMatchingOperation, "incorrect number of indices for array"));
    }
    Ok(Answer::of(python_number(a.dtype)))
}

/// How many indices `item` was given: as arguments, or in a tuple.
pub(super) fn indices(types: &[Type]) -> Option<usize> {
    match types {
        [t] if t.members().is_some() => {
            t.members().filter(|m| m.iter().all(|t| t.is_index())).map(<[Type]>::len)
        }
        _ => types.iter().all(|t| t.is_index()).then_some(types.len()),
    }
}

pub(super) fn emit_item(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let types: Vec<Type> =
        c.types[1..].iter().flat_map(|t| t.members().map_or_else(|| vec![*t], <[Type]>::to_vec)).collect();
    let values: Vec<Value> = c.args[1..].concat();
    let index: Vec<Value> = values.iter().zip(&types).map(|(v, t)| cast::to_index(cx, *v, *t)).collect();
    let p = match index.len() {
        0 => {
            let n = a.size(cx);
            let one = cx.b.bin_imm(Op::IcmpEq, n, 1);
            cx.check(one, Class::ValueError, "can only convert an array of size 1 to a Python scalar");
            a.data
        }
        1 if a.shape.len() != 1 => flat_address(cx, &a, index[0]),
        _ => {
            let at: Vec<Value> =
                (0..index.len()).map(|k| checked(cx, index[k], true, a.shape[k], k)).collect();
            a.address(cx, &at)
        }
    };
    let x = load_element(cx, p, a.ty.dtype);
    cast::cast(cx, &x, a.ty.dtype, c.ret)
}

/// Address of element number `i` in C order; IndexError when there is none.
pub(super) fn flat_address(cx: &mut LowerCx<'_>, a: &ArrayVal, i: Value) -> Value {
    let n = a.size(cx);
    let at = cx.wrap_index(i, n);
    if cx.options.boundscheck {
        let ok = cx.b.bin(Op::IcmpUlt, at, n);
        cx.check_format(ok, Class::IndexError, "index {} is out of bounds for size {}", &[i, n]);
    }
    if a.ty.layout == Layout::C {
        let off = cx.b.bin_imm(Op::Imul, at, a.ty.itemsize());
        return cx.b.ptr_add(a.data, off);
    }
    let (mut left, mut index) = (at, vec![]);
    for n in a.shape.iter().rev() {
        index.push(cx.b.bin(Op::Urem, left, *n));
        left = cx.b.bin(Op::Udiv, left, *n);
    }
    index.reverse();
    a.address(cx, &index)
}

// ---- a.flat

pub(super) fn flat_rule(args: &[Arg]) -> Result<ArrayType> {
    let of = args[0].ty.as_flat().filter(|_| args[1].ty.is_int());
    of.and_then(Type::as_array).ok_or_else(|| no_match("[]", args))
}

pub(super) fn flat_set_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    let a = flat_rule(args)?;
    crate::ops::index::assignable(a, a.dtype, args[2].ty)?;
    Ok(Answer::of(written(a)))
}

/// The array of a `flat` iterator and the address of an element.
pub(super) fn flat_element(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<(ArrayVal, Value)> {
    let Kind::Iter(IterType::Flat(t)) = c.types[0].kind() else { return Err(Diagnostic::internal("flat")) };
    let a = ArrayVal::new(cx, &c.args[0], *t)?;
    let i = cast::to_index(cx, c.args[1][0], c.types[1]);
    let p = flat_address(cx, &a, i);
    Ok((a, p))
}

pub(super) fn emit_flat_get(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let (a, p) = flat_element(cx, c)?;
    Ok(load_element(cx, p, a.ty.dtype))
}

pub(super) fn emit_flat_set(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    if refuse_readonly(cx, c) {
        return Ok(vec![]);
    }
    let (a, p) = flat_element(cx, c)?;
    check_writable(cx, &a, "underlying array is read-only");
    let x = scalar_of(cx, &c.args[2], c.types[2], a.ty.dtype)?;
    store_element(cx, p, a.ty.dtype, &x);
    Ok(vec![])
}

/// The access of a version of an array in another layout, which is the array's own where it is a view, and
/// free where it is a copy.
pub(crate) fn access_of_version(a: ArrayType, layout: Layout) -> Access {
    if a.access == Access::Write || a.layout == layout { a.access } else { Access::Either }
}

/// A contiguous version of an array in that order: itself where it already is (with a reference of its own),
/// else a copy.
pub(crate) fn contiguous_or_copy(cx: &mut LowerCx<'_>, a: &ArrayVal, order: Layout) -> Result<ArrayVal> {
    let fits = a.is_contiguous(cx, order);
    let v = cx.if_else(
        fits,
        |cx| {
            cx.retain_object(a.owner);
            Ok(vec![a.owner, a.data])
        },
        |cx| {
            let out = ArrayVal::alloc(cx, a.ty.dtype, &a.shape, order, false)?;
            copy_elements(cx, &out, a)?;
            Ok(vec![out.owner, out.data])
        },
    )?;
    let strides = crate::emit::arrays::contiguous_strides(cx, &a.shape, a.ty.itemsize(), order);
    let (access, frozen) = (access_of_version(a.ty, order), frozen_version(cx, a, fits));
    Ok(ArrayVal {
        ty: ArrayType { layout: order, access, ..a.ty },
        owner: v[0],
        data: v[1],
        shape: a.shape.clone(),
        strides,
        frozen,
    })
}

/// Whether a version of an array is read-only, which it is where it is a view of a read-only array.
pub(crate) fn frozen_version(cx: &mut LowerCx<'_>, a: &ArrayVal, is_view: Value) -> Option<Value> {
    match (a.ty.access, a.frozen) {
        (Access::Write, _) => None,
        (_, Some(f)) => Some(cx.and(f, is_view)),
        (_, None) => Some(is_view),
    }
}
