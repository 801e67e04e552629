//! Vectors as values of LIR: their lanes together, for the instructions that take them so.

use super::cx::{LowerCx, OpCall, Val};
use super::{cast, cx::Emit};
use crate::diag::{Diagnostic, Result};
use crate::lir::Value;
use crate::types::{Const, Type};

/// The lanes of a value of vector type as one.
pub(crate) fn joined(cx: &mut LowerCx<'_>, lanes: &[Value], t: Type) -> Result<Value> {
    let ty = t.vector_ty().ok_or_else(|| Diagnostic::internal(format!("{t} is no vector")))?;
    Ok(if lanes.iter().all(|l| *l == lanes[0]) { cx.b.splat(ty, lanes[0]) } else { cx.b.lanes(ty, lanes) })
}

/// Its lanes.
pub(crate) fn lanes(cx: &mut LowerCx<'_>, v: Value) -> Val {
    let n = cx.b.ty(v).as_vector().map_or(0, |v| v.lanes());
    (0..n).map(|k| cx.b.lane(v, k)).collect()
}

/// What computes one element, for each lane: the operands of a call, converted to these types first.
pub(crate) struct Laned<'a> {
    pub emit: Emit,
    /// Whether what it emits computes with vectors as it does with scalars: no branch, no call.
    pub straight: bool,
    pub types: &'a [Type],
    pub ret: Type,
    pub consts: &'a [Option<Const>],
    pub lanes: usize,
}

impl Laned<'_> {
    /// Operands that are no vectors are the same in all lanes.
    pub(crate) fn call(&self, cx: &mut LowerCx<'_>, args: &[Val], types: &[Type]) -> Result<Val> {
        let scalars = args
            .iter()
            .zip(types)
            .zip(self.types)
            .map(|((v, t), want)| match t.as_simd() {
                Some(_) => Ok(None),
                None => cast::element(cx, v, *t, *want).map(Some),
            })
            .collect::<Result<Vec<_>>>()?;
        let one = |cx: &mut LowerCx<'_>, args: &[Val]| {
            let call =
                OpCall { args, types: self.types, consts: self.consts, ret: self.ret, elementwise: true };
            (self.emit)(cx, &call)
        };
        let operand = |cx: &mut LowerCx<'_>, k: usize, v: Value| match types[k].as_simd() {
            Some((element, _)) => cast::cast(cx, &[v], element, self.types[k]),
            None => Ok(vec![v]),
        };
        if self.straight {
            let mut all = vec![];
            for (k, v) in args.iter().enumerate() {
                all.push(match &scalars[k] {
                    Some(s) => s.clone(),
                    None => {
                        let v = joined(cx, v, types[k])?;
                        operand(cx, k, v)?
                    }
                });
            }
            let answer = one(cx, &all)?[0];
            return Ok(if cx.b.ty(answer).is_vector() {
                lanes(cx, answer)
            } else {
                vec![answer; self.lanes]
            });
        }
        let mut out = vec![];
        for lane in 0..self.lanes {
            let mut all = vec![];
            for (k, v) in args.iter().enumerate() {
                all.push(match &scalars[k] {
                    Some(s) => s.clone(),
                    None => operand(cx, k, v[lane])?,
                });
            }
            out.extend(one(cx, &all)?);
        }
        Ok(out)
    }
}
