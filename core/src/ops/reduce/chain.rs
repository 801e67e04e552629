//! Reductions of elements that are yet to be computed.

use super::axes::{Axes, axes_error, axes_of, choose};
use super::{args_of, computed, dtype_of, emit, serial};
use crate::diag::Result;
use crate::emit::arrays::{ArrayVal, Stream, broadcast_strides};
use crate::emit::axis_reduction::{AxisReduction, alike};
use crate::emit::chain_reduction::{ChainReduction, reduce_chain};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::lazy::Elements;
use crate::exc::Class;
use crate::lir::{Op, Value};
use crate::ops::kernel::Reduce;
use crate::ops::shape::normal_axis;
use crate::types::Layout;

/// A reduction of elements that are yet to be computed: in their loop where it does not matter that they are
/// not in memory, or an array of them is made.
pub(super) fn emit_lazy(cx: &mut LowerCx<'_>, c: &OpCall<'_>, e: &Elements, op: Reduce) -> Result<Val> {
    let args = args_of(c);
    let acc = computed(op, e.dtype, dtype_of(&args))?;
    let in_memory = |cx: &mut LowerCx<'_>| {
        let made = e.array(cx)?;
        let operands: Vec<Val> = std::iter::once(made.pack()).chain(c.args[1..].iter().cloned()).collect();
        emit_in_memory(cx, &OpCall { args: &operands, ..*c }, op, e.kept.is_none().then_some(made.owner))
    };
    let (axes, n) = (axes_of(&args[1], "axis")?, e.shape.len());
    let fine = axes_error(&axes, args[1].ty, n, false).is_none();
    let all = matches!(axes, Axes::All) || matches!(&axes, Axes::Known(_)) && axes.count(n) == n && fine;
    let keep = args[args.len() - 1].flag("keepdims")?;
    if let (true, Some(serial)) = (all && !keep && e.kept.is_none(), serial(cx, op, e.dtype, acc)) {
        let streams: Vec<Stream> = e
            .lazy
            .arrays
            .iter()
            .map(|a| Stream { data: a.data, strides: broadcast_strides(cx, a, &e.shape) })
            .collect();
        return serial.emit(cx, &e.shape, &streams, &mut |cx, at| e.element(cx, at));
    }
    let Some(how) = ChainReduction::of(op, e.dtype, acc, cx.chunks.wanted()) else { return in_memory(cx) };
    if let (Axes::Known(m), true) = (&axes, fine)
        && let [axis] = m[..]
        && let Some(along) = normal_axis(axis, n).and_then(|axis| AxisReduction::of(cx, e, axis, how, acc))
    {
        return emit_along(cx, c, e, op, along, in_memory);
    }
    if !all || keep {
        return in_memory(cx);
    }
    let Some((streams, same)) = e.lazy.streams(cx, &e.shape, e.layout) else { return in_memory(cx) };
    let in_loop = |cx: &mut LowerCx<'_>| reduce_chain(cx, e, &streams, how);
    match same {
        None => in_loop(cx),
        Some(same) => cx.if_else(same, in_loop, in_memory),
    }
}

/// A reduction along one axis of elements that are yet to be computed.
fn emit_along(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    e: &Elements,
    op: Reduce,
    along: AxisReduction,
    in_memory: impl FnOnce(&mut LowerCx<'_>) -> Result<Val>,
) -> Result<Val> {
    let args = args_of(c);
    let (axes, n, keep) = (axes_of(&args[1], "axis")?, e.shape.len(), args[args.len() - 1].flag("keepdims")?);
    let acc = computed(op, e.dtype, dtype_of(&args))?;
    let chosen = choose(cx, &axes, &c.args[1], c.types[1], n);
    if let Some(name) = op.no_identity() {
        let size = chosen.size(cx, &e.shape);
        let some = cx.b.bin_imm(Op::IcmpSgt, size, 0);
        cx.check(
            some,
            Class::ValueError,
            &format!("zero-size array to reduction operation {name} which has no identity"),
        );
    }
    let (shape, _) = chosen.target(cx, &e.shape, acc.itemsize(), keep);
    let (alike, stretched) = match alike(cx, e) {
        Ok(same) => (same, false),
        Err(()) => (None, true),
    };
    let only = match (alike, along.only_if(cx, e)) {
        (Some(a), Some(b)) => Some(cx.and(a, b)),
        (a, b) => a.or(b),
    };
    let in_loop = |cx: &mut LowerCx<'_>| {
        let out = ArrayVal::alloc(cx, acc, &shape, Layout::C, false)?;
        cx.guarded(&[out.owner], |cx| along.emit(cx, e, out.data, !stretched))?;
        Ok(out.pack())
    };
    match only {
        None => in_loop(cx),
        Some(only) => cx.if_else(only, in_loop, in_memory),
    }
}

/// A reduction of an array that was made for it alone, or of one that somebody else has.
pub(crate) fn emit_in_memory(
    cx: &mut LowerCx<'_>,
    c: &OpCall<'_>,
    op: Reduce,
    own: Option<Value>,
) -> Result<Val> {
    let own: Vec<Value> = own.into_iter().collect();
    let r = cx.guarded(&own, |cx| emit(cx, c, op))?;
    release_all(cx, &own);
    Ok(r)
}

/// The sum of elements that somebody else wants as an array: that, and the sum.
pub(crate) fn emit_keeping(cx: &mut LowerCx<'_>, c: &OpCall<'_>, mut e: Elements) -> Result<(Val, Val)> {
    let kept = ArrayVal::alloc(cx, e.dtype, &e.shape, e.layout, false)?;
    e.kept = Some(kept.clone());
    let sum = cx.guarded(&[kept.owner], |cx| emit_lazy(cx, c, &e, Reduce::Sum))?;
    Ok((kept.pack(), sum))
}

fn release_all(cx: &mut LowerCx<'_>, owners: &[Value]) {
    for o in owners {
        cx.release_object(*o);
    }
}
