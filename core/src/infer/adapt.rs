//! Calls that are adapted to the rows of their operation ([`Adapter`]): other operands, options of universal
//! functions, and library functions that make of operands what rows take.

use super::bind::bind_op;
use super::resolved::Source;
use super::state::Solver;
use crate::diag::{Code, Diagnostic, Result};
use crate::host::GlobalValue;
use crate::ops::{Adapter, Asked, OpId, Operands};
use crate::ssa::Inst;
use crate::types::{Const, Type};
use crate::typing::Arg;
use std::sync::Arc;

type Typed = Result<(Type, Option<Const>, bool)>;
type Named = [(Arc<str>, Source)];

impl Solver<'_, '_> {
    /// Puts the operands in place of those of a call that a row of the operation wants instead.
    pub(crate) fn rewrite(&mut self, id: OpId, operands: &mut Vec<Source>) -> Result<()> {
        let Some(rewrite) = id.rows().iter().find_map(|op| op.rewrites) else { return Ok(()) };
        if let Some((front, rest)) = rewrite(&self.source_args(operands)?)? {
            let rest = rest.into_iter().map(|k| operands[k].clone());
            *operands = std::iter::once(Source::Const(front)).chain(rest).collect();
        }
        Ok(())
    }

    /// Takes the keyword arguments that every universal function has out of `named`: `where` and `dtype`, in
    /// that order, if either is given, to go behind the operands; `casting`, `order` and `subok` as far as
    /// they change nothing. `out` may be a tuple of one array.
    pub(crate) fn ufunc_options(
        &mut self,
        id: OpId,
        positional: &[Source],
        named: &mut Vec<(Arc<str>, Source)>,
    ) -> Result<Vec<Source>> {
        let (mut mask, mut dtype) = (None, None);
        if named.is_empty() {
            return Ok(vec![]);
        }
        let mut kept = vec![];
        for (name, source) in std::mem::take(named) {
            match &*name {
                "where" => mask = Some(source),
                "dtype" => dtype = Some(source),
                "casting" | "order" | "subok" => {
                    let arg = self.source_args(std::slice::from_ref(&source))?.remove(0);
                    let usual = matches!(arg.text(), Some("same_kind" | "K" | "C" | "A"))
                        || matches!(arg.konst, Some(Const::Bool(true)));
                    if !usual {
                        return Err(Diagnostic::new(
                            Code::BadCall,
                            format!(
                                "{}() is compiled for the default of '{name}' only",
                                id.name().trim_start_matches("numpy.")
                            ),
                        ));
                    }
                }
                "out" => {
                    let source =
                        match (&source, self.source_args(std::slice::from_ref(&source))?[0].ty.members()) {
                            (Source::Value(v), Some([_])) => Source::Member(*v, 0),
                            _ => source,
                        };
                    kept.push((name, source));
                }
                _ => kept.push((name, source)),
            }
        }
        *named = kept;
        if mask.is_none() && dtype.is_none() || positional.is_empty() {
            return Ok(vec![]);
        }
        Ok(vec![
            mask.unwrap_or(Source::Const(Const::Bool(true))),
            dtype.unwrap_or(Source::Const(Const::None)),
        ])
    }

    /// The call as a library function carries it out, by the first of these adapters that a row declares and
    /// that takes the operands.
    pub(crate) fn adapted(
        &mut self,
        i: Inst,
        id: OpId,
        adapters: &[Adapter],
        positional: &[Source],
        named: &Named,
    ) -> Result<Option<(Type, Option<Const>, bool)>> {
        let given = self.known_args(positional)?;
        for adapter in adapters.iter().filter(|a| a.concerns(id, &given, !named.is_empty())) {
            for op in id.rows().iter().filter(|op| op.adapters.contains(adapter)) {
                let Ok(mut bound) = bind_op(op, positional.to_vec(), named.to_vec()) else { continue };
                let args = self.known_args(&bound)?;
                let Some(adapted) = adapter.adapt(&Asked { op, given: &given, bound: &args }) else {
                    continue;
                };
                let operands = match adapted.operands {
                    Operands::Given => positional.to_vec(),
                    Operands::First(n) => {
                        bound.truncate(n);
                        bound
                    }
                };
                return self.through_library(i, adapted.library, id, operands).map(Some);
            }
        }
        Ok(None)
    }

    /// What is known of operands, variables resolved.
    fn known_args(&mut self, sources: &[Source]) -> Result<Vec<Arg>> {
        let mut args = self.source_args(sources)?;
        args.iter_mut().for_each(|a| a.ty = self.session.resolve(a.ty));
        Ok(args)
    }

    /// Calls a library function with the operation itself and then its operands.
    fn through_library(&mut self, i: Inst, library: &str, id: OpId, operands: Vec<Source>) -> Typed {
        let sources = std::iter::once(Source::Global(GlobalValue::Builtin(id))).chain(operands).collect();
        let func = self.session.host.library(library)?;
        self.call_function(i, func, sources, true)
    }
}
