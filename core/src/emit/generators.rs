//! Generators as values of the function that uses them: a step of one.

use super::cx::{LowerCx, Val};
use crate::diag::{Code, Diagnostic, Result};
use crate::lir;
use crate::ops::generator::{frame_enter, frame_leave};

/// One step of a generator: (the generator, whether there was a value, the value).
pub(crate) fn step(cx: &mut LowerCx<'_>, id: u32, state: &[lir::Value]) -> Result<(Val, lir::Value, Val)> {
    let g = cx.generators.get(&id).ok_or_else(|| {
        Diagnostic::new(
            Code::UnsupportedArgument,
            "a generator made elsewhere cannot be resumed in this function",
        )
        .help("make the generator where it is used")
    })?;
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
