//! Copies and other element types: `copy`, `astype`, `view`.

use super::dtypes::check_casting;
use super::{Result1, access_of_version, array, contiguous_or_copy};
use crate::diag::{Code, Diagnostic, Result, Subject};
use crate::emit::arrays::{ArrayVal, elementwise, store_element};
use crate::emit::cast;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::lazy::Elements;
use crate::exc::Class;
use crate::lir::Op;
use crate::ops::dtype::dtype_arg;
use crate::types::{ArrayType, Const, Kind, Layout, Type};
use crate::typing::{Answer, Arg, TyCx, no_match};

/// The layout of a copy in the order that an argument names: C, F, A or K.
pub(crate) fn ordered(a: ArrayType, order: &Arg) -> Result<Layout> {
    let text = if order.is_none() {
        "K"
    } else {
        order.text().ok_or_else(|| {
            Diagnostic::new(Code::RequiresConstant, "order must be a constant string")
                .help("write order='C' or order='F'")
        })?
    };
    Ok(match text.to_ascii_uppercase().as_str() {
        "C" => Layout::C,
        "F" if a.ndim > 1 => Layout::F,
        "F" => Layout::C,
        "A" | "K" => {
            if a.layout == Layout::F {
                Layout::F
            } else {
                Layout::C
            }
        }
        _ => {
            return Err(Diagnostic::new(
                Code::NoMatchingOperation,
                format!("order must be one of 'C', 'F', 'A' or 'K', not {text:?}"),
            ));
        }
    })
}

pub(super) fn copy_rule(args: &[Arg], order: &Arg) -> Result1 {
    let Some(a) = args[0].ty.as_array() else {
        if args[0].ty.is_element() {
            return Ok(Answer::of(Type::array(args[0].ty, 0, Layout::C)));
        }
        return Err(no_match("copy()", args));
    };
    Ok(Answer::of(Type::array(a.dtype, a.ndim(), ordered(a, order)?)))
}

fn result_array(t: Type) -> Result<ArrayType> {
    t.as_array().ok_or_else(|| Diagnostic::internal(format!("{t} is no array")))
}

pub(crate) fn emit_copy(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let r = result_array(c.ret)?;
    if c.types[0].as_array().is_none() {
        return Ok(crate::emit::arrays::zero_d(cx, &c.args[0], c.types[0], r.dtype)?.pack());
    }
    Ok(ArrayVal::new(cx, &c.args[0], c.types[0])?.copied(cx, r.dtype, r.layout)?.pack())
}

pub(super) fn astype_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    let a = array(args)?;
    let t = dtype_arg(&args[1]).ok_or_else(|| no_match("astype()", args))?;
    check_casting(a.dtype, t, &args[3])?;
    let layout = ordered(a, &args[2])?;
    if args[5].flag("copy")? || t != a.dtype {
        return Ok(Answer::of(Type::array(t, a.ndim(), layout)));
    }
    if layout == a.layout || any_order(&args[2]) {
        return Ok(Answer::of(args[0].ty));
    }
    Ok(Answer::of(ArrayType { layout, access: access_of_version(a, layout), ..a }.ty()))
}

/// Whether an argument `order` leaves the array as it lies.
pub(crate) fn any_order(order: &Arg) -> bool {
    order.is_none() || order.text().is_some_and(|o| matches!(o, "K" | "A" | "k" | "a"))
}

pub(crate) fn emit_astype(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let r = result_array(c.ret)?;
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    if c.consts[5] == Some(Const::Bool(false)) && r.dtype == a.ty.dtype {
        if c.ret != c.types[0] {
            return Ok(contiguous_or_copy(cx, &a, r.layout)?.pack());
        }
        cx.retain(&c.args[0], c.ret);
        return Ok(c.args[0].clone());
    }
    Ok(a.copied(cx, r.dtype, r.layout)?.pack())
}

/// Elements that are yet to be computed, converted as they come.
pub(super) fn emit_astype_lazy(cx: &mut LowerCx<'_>, c: &OpCall<'_>, e: &Elements) -> Result<Val> {
    let r = result_array(c.ret)?;
    let out = ArrayVal::alloc(cx, r.dtype, &e.shape, r.layout, false)?;
    cx.guarded(&[out.owner], |cx| {
        elementwise(cx, &out, &e.lazy.arrays, e.lazy.cost(), &mut |cx, p, at| {
            let v = e.element(cx, at)?;
            let v = cast::cast(cx, &v, e.dtype, r.dtype)?;
            store_element(cx, p, r.dtype, &v);
            Ok(())
        })
    })?;
    Ok(out.pack())
}

pub(super) fn no_view(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    Err(Diagnostic::new(
        Code::UnknownAttribute,
        format!("a value of type {} has no attribute 'view'", args[0].ty),
    )
    .generic(Subject::Name)
    .help("np.int64(x), np.float64(x) and the like have one"))
}

pub(super) fn view_rule(_: &mut TyCx<'_, '_>, args: &[Arg]) -> Result1 {
    let a = array(args)?;
    if args[1].is_none() {
        return Ok(Answer::of(args[0].ty));
    }
    let t = dtype_arg(&args[1]).ok_or_else(|| no_match("view()", args))?;
    let same = t.itemsize() == a.itemsize();
    if !same && a.ndim == 0 {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            "Changing the dtype of a 0d array is only supported if the itemsize is unchanged",
        ));
    }
    let layout = if same || a.layout == Layout::C { a.layout } else { Layout::A };
    Ok(Answer::of(Type::new(Kind::Array(ArrayType { dtype: t, layout, ..a }))))
}

pub(crate) fn emit_view(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let ty = result_array(c.ret)?;
    let (old, new) = (a.ty.itemsize(), ty.itemsize());
    if old == new {
        return Ok(ArrayVal { ty, ..a }.pack());
    }
    let last = a.shape.len() - 1;
    let (mut shape, mut strides) = (a.shape.clone(), a.strides.clone());
    if a.ty.layout != Layout::C {
        let close = cx.b.bin_imm(Op::IcmpEq, a.strides[last], old);
        let one = cx.b.bin_imm(Op::IcmpEq, a.shape[last], 1);
        let ok = cx.or(close, one);
        cx.check(
            ok,
            Class::ValueError,
            "To change to a dtype of a different size, the last axis must be contiguous",
        );
    }
    if new < old {
        shape[last] = cx.b.bin_imm(Op::Imul, shape[last], old / new);
    } else {
        let bytes = cx.b.bin_imm(Op::Imul, shape[last], old);
        let rest = cx.b.bin_imm(Op::Srem, bytes, new);
        let whole = cx.b.bin_imm(Op::IcmpEq, rest, 0);
        cx.check(whole, Class::ValueError, "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.");
        shape[last] = cx.b.bin_imm(Op::Sdiv, bytes, new);
    }
    strides[last] = cx.b.i64(new);
    Ok(ArrayVal { ty, owner: a.owner, data: a.data, shape, strides, frozen: a.frozen }.pack())
}
