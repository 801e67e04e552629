//! Generators as values of the function that uses them: a step of one.

use super::cx::{LowerCx, Val};
use crate::diag::{Code, Diagnostic, Result};
use crate::lir::{self, Alias, Op, Ty};
use crate::offset;
use crate::ops::generator::{frame_enter, frame_leave};

/// One step of a generator: (the generator, whether there was a value, the value).
pub(crate) fn step(cx: &mut LowerCx<'_>, id: u32, state: &[lir::Value]) -> Result<(Val, lir::Value, Val)> {
    let g = cx.generators.get(&id).ok_or_else(made_elsewhere)?;
    if !cx.guard.is_some_and(|g| g.generators) {
        let r = cx.call(&g.name, &g.sig, &[cx.ctx, state[0]]);
        return Ok((state.to_vec(), r[0], r[1..].to_vec()));
    }
    // Another iteration may be in the middle of it.
    cx.helper(&frame_enter, &[state[0]]);
    let r = cx.b.call(&g.name, &g.sig, &[cx.ctx, state[0]]);
    cx.helper(&frame_leave, &[state[0]]);
    cx.check_status(r[0]);
    Ok((state.to_vec(), r[1], r[2..].to_vec()))
}

fn made_elsewhere() -> Diagnostic {
    let text = "a generator made elsewhere cannot be resumed in this function";
    Diagnostic::new(Code::UnsupportedArgument, text).help("make the generator where it is used")
}

/// Throws an exception in where a generator is suspended; gives whether there was another value, which is dropped. One
/// that handles nothing there, has not begun or has ended raises it at once, and has ended.
pub(crate) fn throw(
    cx: &mut LowerCx<'_>,
    (id, yields): (u32, crate::types::Type),
    frame: lir::Value,
    exc: lir::Value,
) -> Result<lir::Value> {
    let g = cx.generators.get(&id).ok_or_else(made_elsewhere)?;
    cx.retain_object(exc);
    let status = cx.b.conv(Op::Bitcast, Ty::I64, exc);
    let at = cx.b.load(Ty::I64, frame, offset!(Frame.resume), Alias::Frame);
    let (ends, resumes, done) = (cx.b.new_cold_block(&[]), cx.b.new_block(&[]), cx.b.new_block(&[Ty::I8]));
    if g.close.is_some() {
        let begun = cx.b.bin_imm(Op::IcmpSgt, at, 0);
        cx.b.brif(begun, resumes, &[], ends, &[]);
    } else {
        cx.b.jump(ends, &[]);
    }
    cx.b.switch_to(ends);
    let finished = cx.b.i64(-1);
    cx.b.store(finished, frame, offset!(Frame.resume), Alias::Frame);
    cx.check_status(status);
    let nothing = cx.b.bool(false);
    cx.b.jump(done, &[nothing]);
    cx.b.switch_to(resumes);
    cx.b.store(status, frame, offset!(Frame.closing), Alias::Frame);
    let r = cx.call(&g.name, &g.sig, &[cx.ctx, frame]);
    cx.release(&r[1..], yields);
    cx.b.jump(done, &[r[0]]);
    cx.b.switch_to(done);
    Ok(cx.b.params(done)[0])
}
