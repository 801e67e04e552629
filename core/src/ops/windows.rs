//! Views whose elements lie anywhere in the memory of an array: `as_strided`, and windows that slide over
//! axes.

use super::create::{shape_dims, shape_values};
use super::{Body, OpDef};
use crate::diag::Result;
use crate::emit::arrays::ArrayVal;
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::exc::Class;
use crate::lir::Op;
use crate::types::{Access, ArrayType, Const, Kind, Layout, Type};
use crate::typing::{Answer, Arg, no_match};

pub(crate) static OPS: &[OpDef] = &[
    OpDef::new(
        &["numpy.lib.stride_tricks.as_strided"],
        "x, shape=None, strides=None, subok=False, writeable=True",
        Body::Lir(|_, a| strided_rule(a), emit_strided),
    )
    .times()
    .raises()
    .aliases()
    .doc("A view of any shape and strides; nobody checks that it stays inside the array."),
    OpDef::new(
        &["numpy.lib.stride_tricks.sliding_window_view"],
        "x, window_shape, axis=None, *, subok=False, writeable=False",
        Body::Py("windows.sliding_window_view"),
    )
    .raises()
    .doc("A view of all windows of a shape, along further axes."),
    OpDef::new(&["numpy._windows"], "x, size, axis", Body::Lir(|_, a| windows_rule(a), emit_windows))
        .times()
        .raises()
        .aliases()
        .doc("Windows along one axis, which is not negative, as a last axis."),
    OpDef::new(&["numpy._read_only"], "x", Body::Lir(|_, a| read_only_rule(a), |_, c| Ok(c.args[0].clone())))
        .times()
        .aliases()
        .doc("The array, not to be written to."),
];

fn view(of: ArrayType, ndim: usize, access: Access) -> Type {
    Type::new(Kind::Array(ArrayType {
        dtype: of.dtype,
        ndim: ndim as u8,
        layout: if ndim == 0 { Layout::C } else { Layout::A },
        access,
    }))
}

fn strided_rule(args: &[Arg]) -> Result<Answer> {
    let (Some(a), no) = (args[0].ty.as_array(), || no_match("as_strided()", args)) else {
        return Err(no_match("as_strided()", args));
    };
    let dims = |arg: &Arg| if arg.is_none() { Some(a.ndim()) } else { shape_dims(arg.ty) };
    let (shape, strides) = (dims(&args[1]).ok_or_else(no)?, dims(&args[2]).ok_or_else(no)?);
    if shape != strides {
        return Err(no().help("give as many strides as lengths"));
    }
    let access = match args[4].konst {
        Some(Const::Bool(true)) => a.access,
        Some(Const::Bool(false)) => Access::Read,
        _ => return Err(no().help("writeable must be a constant")),
    };
    Ok(Answer::of(view(a, shape, access)))
}

fn emit_strided(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let Kind::Array(ty) = *c.ret else { return Err(crate::diag::Diagnostic::internal("array")) };
    let shape =
        if *c.types[1] == Kind::None { a.shape.clone() } else { shape_values(cx, &c.args[1], c.types[1])? };
    let strides =
        if *c.types[2] == Kind::None { a.strides.clone() } else { shape_values(cx, &c.args[2], c.types[2])? };
    for n in &shape {
        let ok = cx.b.bin_imm(Op::IcmpSge, *n, 0);
        cx.check(ok, Class::ValueError, "negative dimensions are not allowed");
    }
    Ok(ArrayVal { ty, shape, strides, ..a }.pack())
}

fn windows_rule(args: &[Arg]) -> Result<Answer> {
    match args[0].ty.as_array() {
        Some(a) if args[1..].iter().all(|n| n.ty.is_index()) => {
            Ok(Answer::of(view(a, a.ndim() + 1, a.access)))
        }
        _ => Err(no_match("sliding_window_view()", args)),
    }
}

fn emit_windows(cx: &mut LowerCx<'_>, c: &OpCall<'_>) -> Result<Val> {
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let Kind::Array(ty) = *c.ret else { return Err(crate::diag::Diagnostic::internal("array")) };
    let (size, axis) =
        (shape_values(cx, &c.args[1], c.types[1])?[0], shape_values(cx, &c.args[2], c.types[2])?[0]);
    let less = cx.b.bin_imm(Op::Isub, size, 1);
    let (mut shape, mut strides, mut step) = (vec![], a.strides.clone(), cx.b.i64(0));
    for (k, (n, stride)) in a.shape.iter().zip(&a.strides).enumerate() {
        let here = cx.b.bin_imm(Op::IcmpEq, axis, k as i64);
        let left = cx.b.bin(Op::Isub, *n, less);
        shape.push(cx.b.select(here, left, *n));
        step = cx.b.select(here, *stride, step);
        let fits = cx.b.bin_imm(Op::IcmpSge, shape[k], 1);
        let other = cx.not(here);
        let fits = cx.or(fits, other);
        cx.check(fits, Class::ValueError, "window shape cannot be larger than input array shape");
    }
    shape.push(size);
    strides.push(step);
    Ok(ArrayVal { ty, shape, strides, ..a }.pack())
}

fn read_only_rule(args: &[Arg]) -> Result<Answer> {
    let a = args[0].ty.as_array().ok_or_else(|| no_match("a read-only view", args))?;
    Ok(Answer::of(ArrayType { access: Access::Read, ..a }.ty()))
}
