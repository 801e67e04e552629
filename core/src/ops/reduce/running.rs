//! Running sums and products.

use super::axes::{Axes, axes_error, axes_of, choose, raise_axes};
use super::{accumulator, args_of, array, element_code};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::arrays::{ArrayVal, contiguous_strides};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::ops::dtype::dtype_arg;
use crate::ops::kernel as k;
use crate::types::{ArrayType, Layout, Type};
use crate::typing::{Answer, Arg, no_match};

pub(super) fn running_dtype(a: ArrayType, given: &Arg) -> Result<Type> {
    if given.is_none() {
        return Ok(accumulator(a.dtype));
    }
    dtype_arg(given).ok_or_else(|| no_match("dtype", std::slice::from_ref(given)))
}

/// One axis or none, which a tuple is not.
pub(super) fn refuse_tuple(axis: &Arg) -> Result<()> {
    if axis.ty.members().is_some() {
        return Err(Diagnostic::new(
            Code::NoMatchingOperation,
            "'tuple' object cannot be interpreted as an integer: this function takes one axis",
        ));
    }
    Ok(())
}

pub(super) fn running_rule(args: &[Arg]) -> Result<Answer> {
    let a = array(args)?;
    refuse_tuple(&args[1])?;
    let axes = axes_of(&args[1], "axis")?;
    if axes_error(&axes, args[1].ty, a.ndim(), true).is_some() {
        return Ok(Answer::of(Type::never()));
    }
    let n = match axes {
        Axes::All => 1,
        Axes::Known(m) if m.len() != 1 => return Err(no_match("axis", &args[1..2])),
        Axes::Known(_) | Axes::Run | Axes::RunMany(_) => a.ndim().max(1),
    };
    Ok(Answer::of(Type::array(running_dtype(a, &args[2])?, n, Layout::C)))
}

pub(super) fn emit_running(cx: &mut LowerCx<'_>, c: &OpCall<'_>, op: i64) -> Result<Val> {
    let args = args_of(c);
    let a = ArrayVal::new(cx, &c.args[0], c.types[0])?;
    let acc = running_dtype(a.ty, &args[2])?;
    let axes = axes_of(&args[1], "axis")?;
    if raise_axes(cx, &axes, c.types[1], a.shape.len(), true) {
        return Ok(vec![]);
    }
    let axis = match &axes {
        Axes::All => None,
        Axes::Known(_) | Axes::Run | Axes::RunMany(_) => {
            let chosen = choose(cx, &axes, &c.args[1], c.types[1], a.shape.len());
            let at = match (chosen.axis, &chosen.known) {
                (Some(axis), _) => axis,
                (None, Some(flags)) => cx.b.i64(flags.iter().position(|f| *f).unwrap_or(0) as i64),
                (None, None) => cx.b.i64(0),
            };
            Some(at)
        }
    };
    let flat = axis.is_none() || a.shape.is_empty();
    let shape = if flat { vec![a.size(cx)] } else { a.shape.clone() };
    let out = ArrayVal::alloc(cx, acc, &shape, Layout::C, false)?;
    let (from, to, n) =
        (element_code(cx, a.ty.dtype)?, element_code(cx, acc)?, cx.b.i64(a.shape.len() as i64));
    // Converted first, into C order, then summed in place.
    let laid = contiguous_strides(cx, &a.shape, acc.itemsize(), Layout::C);
    let (from_shape, from_strides, laid) = (cx.spill(&a.shape), cx.spill(&a.strides), cx.spill(&laid));
    cx.guarded(&[out.owner], |cx| {
        cx.helper(&k::array_cast, &[to, from, n, from_shape, out.data, laid, a.data, from_strides]);
        Ok(())
    })?;
    let (op, dims, axis) = (
        cx.b.i64(op),
        cx.b.i64(shape.len() as i64),
        match axis {
            Some(x) if !flat => x,
            _ => cx.b.i64(0),
        },
    );
    let (shape, strides) = (cx.spill(&out.shape), cx.spill(&out.strides));
    cx.guarded(&[out.owner], |cx| {
        cx.helper(&k::array_accumulate, &[op, to, dims, shape, out.data, strides, axis, out.data, strides]);
        Ok(())
    })?;
    Ok(out.pack())
}
