//! What stands between the brackets behind a class that is made: `Ring[int, Literal[4]]`, `Box[int | None]`,
//! `Box[Annotated[float, "metres"]]`. It says nothing to compiled code, which has no values of that kind: all of
//! it is None, and stands nowhere else.

use super::globals::{refused, type_of_global};
use super::state::Solver;
use crate::diag::Result;
use crate::host::GlobalValue;
use crate::ops::id;
use crate::ssa::analysis::uses_of_term;
use crate::ssa::{Inst, Op, Value};
use crate::types::{Const, Kind, Type};

type Typed = Result<(Type, Option<Const>, bool)>;

impl Solver<'_, '_> {
    /// A value that the host knows, for the instruction with this result; `subject` is how the code calls it.
    pub(super) fn known_value(&mut self, result: Option<Value>, value: GlobalValue, subject: &str) -> Typed {
        if matches!(value, GlobalValue::TypeExpression(_)) && result.is_some_and(|r| self.is_type_argument(r))
        {
            return Ok((Type::none(), Some(Const::None), false));
        }
        let (ty, konst) = self
            .type_of_passed(&value)
            .map_or_else(|| type_of_global(&value), |ty| Ok((ty, None)))
            .map_err(|what| refused(&value, subject, &what))?;
        if let Some(r) = result {
            self.out.globals.insert(r, value);
        }
        Ok((ty, konst, false))
    }

    /// What a subscript or `|` is that makes part of a type which stands behind a class.
    pub(super) fn type_expression(&self, i: Inst) -> Option<Typed> {
        let node = self.func.inst(i);
        let said = |v: Value| {
            let none = self.fact(v).konst == Some(Const::None);
            none || matches!(
                self.ty(v).kind(),
                Kind::Builtin(_)
                    | Kind::Class(_)
                    | Kind::NamedTupleClass(_)
                    | Kind::ExcClass(_)
                    | Kind::DType(_)
            )
        };
        let fits = if node.op == Op::Table(id::GETITEM) {
            said(node.args[0]) && !matches!(*self.ty(node.args[0]), Kind::Class(_))
        } else {
            node.op == Op::Table(id::OR) && node.args.iter().all(|v| said(*v))
        };
        let stays = fits && node.result.is_some_and(|r| self.is_type_argument(r));
        stays.then_some(Ok((Type::none(), Some(Const::None), false)))
    }

    /// Whether a value is read for nothing but what a class is subscripted by.
    fn is_type_argument(&self, v: Value) -> bool {
        let mut reads = 0;
        for block in &self.func.blocks {
            let mut elsewhere = false;
            uses_of_term(&block.term, &mut |x| elsewhere |= x == v);
            for i in &block.insts {
                let node = self.func.inst(*i);
                elsewhere |= node.unwind.iter().any(|u| u.args.contains(&v));
                let Some(place) = node.args.iter().position(|x| *x == v) else { continue };
                reads += 1;
                let made = || node.result.is_some_and(|r| self.is_type_argument(r));
                let of_class =
                    || matches!(*self.ty(node.args[0]), Kind::Class(_) | Kind::Builtin(id::PAR_CHANNEL));
                let fits = node.op == Op::Table(id::GETITEM) && place == 1 && of_class()
                    || matches!(node.op, Op::Table(id::GETITEM | id::TUPLE_BUILD | id::OR)) && made();
                elsewhere |= !fits;
            }
            if elsewhere {
                return false;
            }
        }
        reads > 0
    }
}
