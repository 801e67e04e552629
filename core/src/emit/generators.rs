//! Generators as values of the function that uses them: a step of one, and its end.

use super::cx::{LowerCx, Val};
use crate::diag::{Code, Diagnostic, Result};
use crate::lir::{self, Signature, Ty};
use crate::ops::generator::{frame_enter, frame_leave};
use crate::types::{Kind, Type};

/// One step of a generator: (the generator, whether there was a value, the value).
pub fn step(cx: &mut LowerCx<'_>, id: u32, state: &[lir::Value]) -> Result<(Val, lir::Value, Val)> {
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
    cx.b.helper(&frame_leave, &[state[0]]);
    cx.check_status(r[0]);
    Ok((state.to_vec(), r[1], r[2..].to_vec()))
}

/// Closes the generators in a value whose reference is about to be dropped: those that have something to do,
/// and that nobody else holds. (What lists hold is dropped by the run-time, which closes nothing.)
pub fn close(cx: &mut LowerCx<'_>, val: &[lir::Value], t: Type) {
    if let Kind::Generator(id, _) = *t {
        let Some(close) = cx.generators.get(&id).and_then(|g| g.close.clone()) else { return };
        cx.b.call(&close, &close_signature(), &[cx.ctx, val[0]]);
        return;
    }
    if matches!(t.kind(), Kind::List(_) | Kind::Str | Kind::Array(_)) || !t.is_counted() {
        return;
    }
    // The leaves of the parts follow one another, after what the whole has in front.
    let mut at = matches!(t.kind(), Kind::Optional(_) | Kind::MaybeUndef(_) | Kind::Variant(_)) as usize;
    for p in t.arguments().iter() {
        let n = p.leaf_count();
        if let Some(v) = val.get(at..at + n) {
            close(cx, v, p);
        }
        at += n;
    }
}

/// Signature of the functions that close a generator.
pub fn close_signature() -> Signature {
    Signature { params: vec![Ty::Ptr, Ty::Ptr], results: vec![Ty::I64] }
}
