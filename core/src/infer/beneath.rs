//! Members of enumerations that are numbers or texts beside: what their class says nothing of is done with these.

use super::resolved::Source;
use super::special::class_of;
use super::state::Solver;
use crate::classes::slots::{self, Slot};
use crate::diag::Result;
use crate::ops::{OpId, id};
use crate::ssa::Inst;
use crate::types::{Const, Container, Kind, Type};
use std::sync::Arc;

type Typed = Result<(Type, Option<Const>, bool)>;
type Operands = (Vec<Source>, Vec<(Arc<str>, Source)>);

/// A type with what members are beside in place of their classes. Of lists this is for operations that make something
/// of the elements alone.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is looked into")]
fn beneath(t: Type, lists: bool) -> Type {
    match t.kind() {
        Kind::Member(_) => t.beneath_member(),
        Kind::Optional(x) => Type::optional(beneath(*x, lists)),
        Kind::Tuple(m) => Type::tuple(m.iter().map(|t| beneath(*t, lists)).collect()),
        Kind::List(e) if lists => Type::list(beneath(*e, lists)),
        Kind::Container(Container::Tuple, m) if lists => Type::tuple_of(beneath(m[0], lists)),
        _ => t,
    }
}

impl Solver<'_, '_> {
    /// Operands of an operation that asks a special method which their class leaves to that of numbers or texts.
    pub(super) fn operands_beneath(&mut self, path: OpId, operands: &mut [Source]) -> Result<()> {
        let of_two = slots::of_two(path);
        let of_first = slots::of_first(path);
        if of_two.is_none() && of_first.is_empty() {
            return Ok(());
        }
        // A format shows members as what they are.
        let formats = path == id::MOD && operands.len() == 2 && {
            let format = self.source_arg(&operands[0])?.ty;
            *format.beneath_member() == Kind::Str
        };
        for (k, s) in operands.iter_mut().enumerate().filter(|(k, _)| *k == 0 || !formats) {
            let ty = self.source_arg(s)?.ty;
            let (base, Some(class)) = (ty.beneath_member(), class_of(ty)) else { continue };
            if base == ty {
                continue;
            }
            let asked: Vec<Slot> = match of_two {
                Some((left, right)) => vec![if k == 0 { left } else { right }],
                None if k == 0 => of_first.iter().map(|(slot, _)| *slot).collect(),
                None => continue,
            };
            if asked.iter().all(|slot| self.has_own(class, *slot).is_none()) {
                *s = Source::As(Box::new(s.clone()), base);
            }
        }
        Ok(())
    }

    /// The operands with what members are beside, where no row takes these themselves; none without any.
    pub(super) fn beneath_members(
        &mut self,
        path: OpId,
        positional: &[Source],
        named: &[(Arc<str>, Source)],
    ) -> Result<Option<Operands>> {
        // What shows a member shows no number.
        if let id::BUILTINS_STR
        | id::BUILTINS_REPR
        | id::BUILTINS_ASCII
        | id::BUILTINS_FORMAT
        | id::BUILTINS_PRINT
        | id::FORMAT_VALUE
        | id::IS
        | id::IS_NOT
        | id::MOD = path
        {
            return Ok(None);
        }
        let lists = path.facts().makes_arrays || path == id::STR_JOIN;
        let mut found = false;
        let mut all = vec![];
        for s in positional.iter().chain(named.iter().map(|(_, s)| s)) {
            let ty = self.source_arg(s)?.ty;
            let ty = self.session.resolve(ty);
            let base = beneath(ty, lists);
            found |= base != ty;
            all.push(if base == ty { s.clone() } else { Source::As(Box::new(s.clone()), base) });
        }
        if !found {
            return Ok(None);
        }
        let rest = all.split_off(positional.len());
        Ok(Some((all, named.iter().map(|(n, _)| n.clone()).zip(rest).collect())))
    }

    /// An attribute that numbers or texts have, of a member that is one beside and whose class has none of that name.
    pub(super) fn attribute_beneath(&mut self, i: Inst, v: &Source, ty: Type, name: &str) -> Option<Typed> {
        let base = ty.beneath_member();
        if base == ty {
            return None;
        }
        let beneath = Source::As(Box::new(v.clone()), base);
        let typed = self.attribute(i, &beneath, name);
        if typed.is_err() {
            self.out.resolved.remove(&i);
            return None;
        }
        Some(typed)
    }
}
