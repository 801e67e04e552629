//! Loops over arrays as parallel regions: what an emitter writes for a piece of a range becomes a function of
//! its own, which the run-time calls for the pieces (as it does for the bodies of `prange` loops, see
//! [`crate::ssa::opt::parallel`]), or the code around it for a range that is short.
//!
//! The emitter writes into the function that is being lowered, with the values of that function at hand. The
//! blocks are then cut out ([`super::cut`]), so nothing that writes loops knows where its code will stand.

use super::cut::{Mark, cut};
use super::cx::LowerCx;
use super::wrapper::{make_wrapper, wrapper_name};
use crate::diag::Result;
use crate::lir::{Op, Signature, Ty, Value};
use crate::ops::region::{Together, parallel_region};

/// Elements, times what each of them costs, that are done before a region would have begun.
const ALONE: i64 = 4096;
/// What an element costs where a function like `exp` is computed, in simple operations.
pub(crate) const SLOW: i64 = 16;

/// Runs what `body` does for a part of the range `0..n`, for all of it, in pieces that run at the same time
/// where that is worth it: there are `work` elements, times what each costs. Pieces must not depend on each
/// other.
pub(crate) fn in_chunks(
    cx: &mut LowerCx<'_>,
    n: Value,
    work: Value,
    body: impl FnOnce(&mut LowerCx<'_>, Value, Value) -> Result<()>,
) -> Result<()> {
    let zero = cx.b.i64(0);
    if !cx.chunks.wanted {
        return body(cx, zero, n);
    }
    cx.chunks.used = true;
    let (name, args) = outlined(cx, body)?;
    // Exceptions have the places of the body behind them.
    let (landing, frames) = (cx.landing.take(), std::mem::take(&mut cx.on_error.frames));
    let few = cx.b.bin_imm(Op::IcmpSle, work, ALONE);
    let sig = signature(cx, &args);
    cx.if_else(
        few,
        |cx| {
            let all: Vec<Value> = [cx.ctx, zero, n].into_iter().chain(args.iter().copied()).collect();
            cx.call(&name, &sig, &all);
            Ok(vec![])
        },
        |cx| {
            let slots: Vec<Value> = [zero, n].into_iter().chain(args.iter().copied()).collect();
            emit_chunks(cx, &wrapper_name(&name), n, &slots);
            Ok(vec![])
        },
    )?;
    cx.on_error.frames = frames;
    cx.landing = landing;
    Ok(())
}

fn signature(cx: &LowerCx<'_>, args: &[Value]) -> Signature {
    Signature {
        params: [Ty::Ptr, Ty::I64, Ty::I64].into_iter().chain(args.iter().map(|v| cx.b.ty(*v))).collect(),
        results: vec![Ty::I64],
    }
}

/// Writes the body as a function of its own; gives its name, and the values that it takes behind the context
/// and the bounds.
fn outlined(
    cx: &mut LowerCx<'_>,
    body: impl FnOnce(&mut LowerCx<'_>, Value, Value) -> Result<()>,
) -> Result<(String, Vec<Value>)> {
    let back = cx.b.block;
    let mark = Mark::here(cx.b.func);
    let entry = cx.b.new_block(&[Ty::Ptr, Ty::I64, Ty::I64]);
    let params = cx.b.params(entry);
    cx.b.switch_to(entry);
    let ctx = std::mem::replace(&mut cx.ctx, params[0]);
    let (landing, impossible) = (cx.landing.take(), cx.impossible.take());
    let (cleanup, results, handler) =
        (std::mem::take(&mut cx.cleanup), std::mem::take(&mut cx.results), cx.on_error.handler.take());
    cx.chunks.wanted = false;
    let written = body(cx, params[1], params[2]);
    let ok = cx.b.i64(0);
    cx.b.ret(vec![ok]);
    cx.chunks.wanted = true;
    (cx.ctx, cx.landing, cx.impossible) = (ctx, landing, impossible);
    (cx.cleanup, cx.results, cx.on_error.handler) = (cleanup, results, handler);
    cx.b.switch_to(back);
    written?;
    let name = format!("{}.part{}", cx.b.func.name, cx.chunks.made.len() / 2);
    let (func, args) = cut(cx.b.func, mark, ctx, name.clone());
    cx.chunks.made.push(make_wrapper(&name, &func.sig, &[]));
    cx.chunks.made.push(func);
    Ok((name, args))
}

/// Runs the body whose wrapper is `wrapper` for the pieces of `0..n`; it gives nothing. The first two of its
/// `args` are the bounds of a piece.
fn emit_chunks(cx: &mut LowerCx<'_>, wrapper: &str, n: Value, args: &[Value]) {
    let word = cx.b.symbol_addr(&crate::lir::cells::word(wrapper), 0);
    let (zero, one, slots) = (cx.b.i64(0), cx.b.i64(1), cx.spill(args));
    let (count, draws) = (cx.b.i64(args.len() as i64), cx.b.iconst(Ty::I8, Together::Array as i64));
    let null = cx.b.null();
    cx.helper(&parallel_region, &[word, zero, n, one, slots, count, draws, null, zero, null, null]);
}
