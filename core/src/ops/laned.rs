//! Universal functions of vectors: the loop over elements that an array would have, lane by lane, with NumPy's
//! types and answers.

use super::{Emit, OpDef, UfuncRule};
use crate::diag::{Code, Diagnostic, Result};
use crate::emit::cx::{LowerCx, OpCall, Val};
use crate::emit::vector::Laned;
use crate::types::Type;
use crate::typing::{Answer, Arg, no_match};

/// Whether a vector is among operands.
pub(crate) fn is_laned(mut types: impl Iterator<Item = Type>) -> bool {
    types.any(|t| t.as_simd().is_some())
}

/// The lanes of the result, and the scalar loop.
fn typed(op: &OpDef, rule: UfuncRule, operands: &[Arg]) -> Result<(usize, Answer)> {
    let mut lanes = None;
    for n in operands.iter().filter_map(|a| a.ty.as_simd()).map(|(_, n)| n) {
        if let Some(other) = lanes.filter(|l| *l != n) {
            let text = format!("vectors of {other} and {n} lanes do not go together");
            return Err(Diagnostic::new(Code::NoMatchingOperation, text)
                .help("`simd.shuffle` makes a vector of some lanes of one or two others"));
        }
        lanes = Some(n);
    }
    let own: Vec<Arg> = operands
        .iter()
        .map(|a| match a.ty.as_simd() {
            Some((t, _)) => Arg::of(t),
            None => a.clone(),
        })
        .collect();
    let known = own.iter().all(|a| a.ty.is_number()) && !op.name().starts_with("math.");
    let answer = rule(&own, true).filter(|a| known && a.ret.scalar_ty().is_some());
    Ok((lanes.unwrap_or(1), answer.ok_or_else(|| no_match(op.name(), operands))?))
}

/// Types a call; `others` are `out` and the options.
pub(crate) fn type_call(op: &OpDef, rule: UfuncRule, operands: &[Arg], others: &[Arg]) -> Result<Answer> {
    if others.iter().any(|a| !a.is_none()) {
        let text = format!("{} of vectors has neither out nor options", op.name());
        return Err(Diagnostic::new(Code::NoMatchingOperation, text)
            .help("use what it gives, with `simd.select` where not all lanes count"));
    }
    let (lanes, answer) = typed(op, rule, operands)?;
    Type::simd(answer.ret, lanes).map(Answer::of).ok_or_else(|| no_match(op.name(), operands))
}

pub(crate) fn emit_call(
    cx: &mut LowerCx<'_>,
    op: &OpDef,
    rule: UfuncRule,
    emit: Emit,
    call: &OpCall<'_>,
) -> Result<Val> {
    let operands: Vec<Arg> =
        call.types.iter().zip(call.consts).map(|(t, c)| Arg { ty: *t, konst: c.clone() }).collect();
    let (lanes, answer) = typed(op, rule, &operands)?;
    let own = |t: Type| t.as_simd().map_or(t, |(t, _)| t);
    let types: Vec<Type> =
        operands.iter().enumerate().map(|(k, a)| answer.args.get(k).copied().unwrap_or(own(a.ty))).collect();
    let loops =
        Laned { emit, straight: op.straight, types: &types, ret: answer.ret, consts: call.consts, lanes };
    loops.call(cx, call.args, call.types)
}
