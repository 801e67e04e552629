//! Operations of the table, one by one and fused.

use super::FuncLower;
use crate::diag::{Diagnostic, Result};
use crate::emit::cx::{OpCall, Unlocked, Val};
use crate::emit::lazy::Elements;
use crate::emit::locks::Look;
use crate::lower::fusion_sinks::{self, Sink};
use crate::ops::reduce::{emit_keeping, of_row};
use crate::ops::ufunc::{Chain, emit_call};
use crate::ops::{Body, OpDef};
use crate::ssa::{Fused, FusedArg, InstNode};
use crate::types::promote::step_may_raise;
use crate::types::{Const, Type};

impl FuncLower<'_, '_> {
    pub(super) fn apply(&mut self, op: &'static OpDef, node: &InstNode, ret: Type) -> Result<Val> {
        let mut args = vec![];
        for a in &node.args {
            args.push(self.val(*a)?);
        }
        let types: Vec<Type> = node.args.iter().map(|a| self.ty(*a)).collect();
        let consts: Vec<Option<Const>> = node.args.iter().map(|a| self.consts[a.index()].clone()).collect();
        let call = OpCall { args: &args, types: &types, consts: &consts, ret, elementwise: false };
        match op.body {
            Body::Lir(_, emit) => {
                let r = self.cx.guarded_lists(|| op.look(), &args, &types, |cx| emit(cx, &call))?;
                if cfg!(debug_assertions)
                    && self.cx.landing_made()
                    && !op.raises
                    && !types.iter().any(|t| step_may_raise(*t))
                {
                    return Err(Diagnostic::internal(format!(
                        "{} raises, which its row does not say",
                        op.name()
                    )));
                }
                Ok(r)
            }
            Body::Ufunc(rule, emit) => self.cx.guarded_lists(
                || op.look(),
                &args,
                &types,
                |cx| emit_call(cx, &call, op, rule, emit, Chain::default()),
            ),
            Body::Py(_) | Body::Written(_) => {
                Err(Diagnostic::internal(format!("{} was not resolved to an instance", op.name())))
            }
        }
    }

    /// The locks of lists that are joined into one loop with arrays.
    pub(super) fn lock_operands(&mut self, node: &InstNode) -> Result<Option<Unlocked>> {
        let Some(guard) = self.cx.guard else { return Ok(None) };
        let mut args = vec![];
        for a in &node.args {
            args.push(self.val(*a)?);
        }
        let types: Vec<Type> = node.args.iter().map(|a| self.ty(*a)).collect();
        Ok(self.cx.lock(&guard.locks(Look::Deep, &args, &types)))
    }

    /// Steps in one loop: each but the last adds to the chain, which the last one runs.
    pub(super) fn fused(&mut self, fused: &Fused, node: &InstNode, ret: Type) -> Result<Val> {
        let mut chain = Chain::default();
        let several = fused.steps.iter().any(|s| s.made);
        let ret = if several { fused.steps.last().map_or(ret, |s| s.ty) } else { ret };
        let together = fused.steps.iter().filter(|s| of_row(s.op).is_some()).count() > 1;
        let mut reductions = vec![];
        for (k, step) in fused.steps.iter().enumerate() {
            let (mut args, mut types, mut consts) = (vec![], vec![], vec![]);
            chain.operands.clear();
            for a in &step.args {
                let (v, t, c, from) = match *a {
                    FusedArg::Operand(i) => {
                        let v = node.args[i as usize];
                        (self.val(v)?, self.ty(v), self.consts[v.index()].clone(), None)
                    }
                    FusedArg::Step(j) => {
                        let before = &fused.steps[j as usize];
                        let shape = match before.shape {
                            Some(i) => self.val(node.args[i as usize])?,
                            None => vec![],
                        };
                        (vec![], before.ty, None, Some((j as usize, shape)))
                    }
                };
                args.push(v);
                types.push(t);
                consts.push(c);
                chain.operands.push(from);
            }
            if together && of_row(step.op).is_some() {
                reductions.push(Sink::new(&mut self.cx, &mut chain, step, args, types, consts)?);
                continue;
            }
            if k + 1 < fused.steps.len() || several && step.op.lazy.is_none() {
                chain.step(&mut self.cx, step.op, &args, &types, &consts, step.ty)?;
                continue;
            }
            let call = OpCall { args: &args, types: &types, consts: &consts, ret, elementwise: false };
            return match (step.op.body, step.op.lazy) {
                (Body::Ufunc(rule, emit), _) => emit_call(&mut self.cx, &call, step.op, rule, emit, chain),
                (_, Some((operand, emit))) => {
                    let array = types[operand]
                        .as_array()
                        .ok_or_else(|| Diagnostic::internal("elements of no array"))?;
                    let shape = chain.operands[operand]
                        .take()
                        .ok_or_else(|| Diagnostic::internal("elements without a shape"))?
                        .1;
                    let elements = Elements {
                        lazy: chain.lazy,
                        shape,
                        dtype: array.dtype,
                        layout: array.layout,
                        kept: None,
                    };
                    if !several {
                        return emit(&mut self.cx, &call, &elements);
                    }
                    let (made, sum) = emit_keeping(&mut self.cx, &call, elements)?;
                    Ok([made, sum].concat())
                }
                (Body::Lir(..) | Body::Py(_) | Body::Written(_), None) => {
                    Err(Diagnostic::internal(format!("{} takes no elements", step.op.name())))
                }
            };
        }
        if together {
            return fusion_sinks::reduce(&mut self.cx, &chain.lazy, &reductions);
        }
        let last =
            fused.steps.len().checked_sub(1).ok_or_else(|| Diagnostic::internal("nothing was fused"))?;
        let mut wanted = vec![];
        for (k, step) in fused.steps.iter().enumerate().filter(|(k, s)| s.made || *k == last) {
            let (Some(shape), Some(array)) = (step.shape, step.ty.as_array()) else {
                return Err(Diagnostic::internal("an array without a shape"));
            };
            wanted.push((k, self.val(node.args[shape as usize])?, array.layout));
        }
        Ok(chain.lazy.arrays(&mut self.cx, &wanted)?.iter().flat_map(|a| a.pack()).collect())
    }
}
