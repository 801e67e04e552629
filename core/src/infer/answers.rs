//! Answers of special methods that only the program knows: NotImplemented, which leaves the operation to the other
//! operand, or to nobody. And values that may be something else, as the sum of no instances is.

use super::resolved::{Resolved, Source, Typed};
use super::special::{class_of, is_left_open};
use super::state::Solver;
use crate::classes::slots;
use crate::diag::{Code, Diagnostic, Result};
use crate::host::{ClassAttr, GlobalValue};
use crate::ops::{OpId, id};
use crate::ssa::Inst;
use crate::types::{Const, Kind, Type};
use crate::typing::{Arg, refusal};

impl Solver<'_, '_> {
    /// A method that may give NotImplemented when the program runs, asked with these operands, then the next one with
    /// its own. `of` is what the operation was given.
    pub(super) fn ask_and_see(
        &mut self,
        i: Inst,
        path: OpId,
        of: [Source; 2],
        first: (ClassAttr, Vec<Source>),
        next: Option<(ClassAttr, Vec<Source>)>,
    ) -> Typed {
        let method = |attr| match attr {
            ClassAttr::Method(f) => Ok(Source::Global(GlobalValue::Function(f))),
            ClassAttr::Value(_)
            | ClassAttr::Computed(_)
            | ClassAttr::Field(_)
            | ClassAttr::ClassMethod(_)
            | ClassAttr::Property(_) => Err(Diagnostic::internal("a special method that is none")),
        };
        let mut all = vec![method(first.0)?];
        all.extend(first.1);
        let name = match next {
            Some((attr, args)) => {
                all.push(method(attr)?);
                all.extend(args);
                "special.answer_of_two"
            }
            None => "special.answer_of_one",
        };
        all.extend(of);
        all.push(Source::Const(Const::Str(refusal::spelling(path.name()).into())));
        let func = self.session.host.library(name)?;
        self.call_function(i, func, all, true)
    }

    /// The same of a method for an augmented assignment, which may leave it to the plain operator.
    pub(super) fn assign_and_see(&mut self, i: Inst, op: OpId, plain: OpId, args: Vec<Source>) -> Typed {
        let ty = self.source_arg(&args[0])?.ty;
        if crate::types::promote::is_variant(ty) || matches!(*ty, Kind::Optional(_)) {
            return self.dispatch(i, &args[0].clone(), &mut |s, way| {
                s.operation_itself(i, op, vec![way.clone(), args[1].clone()])
            });
        }
        let own = class_of(ty)
            .and_then(|c| slots::of_first(op).iter().find_map(|(slot, _)| self.has_own(c, *slot)));
        let Some(ClassAttr::Method(f)) = own else {
            return Err(Diagnostic::internal("a method that is none"));
        };
        let func = self.session.host.library("special.assigned")?;
        let mut all = vec![Source::Global(GlobalValue::Function(f))];
        all.extend(args);
        all.push(Source::Global(GlobalValue::Builtin(plain)));
        self.call_function(i, func, all, true)
    }

    /// An answer as the library asks for it.
    pub(super) fn answer(&mut self, i: Inst, op: OpId, operands: &[Source]) -> Typed {
        let ty = self.source_arg(&operands[0])?.ty;
        if crate::types::promote::is_variant(ty) || matches!(*ty, Kind::Optional(_)) {
            return self.dispatch(i, &operands[0], &mut |s, way| {
                let mut each = operands.to_vec();
                each[0] = way.clone();
                s.answer(i, op, &each)
            });
        }
        if !is_left_open(ty) {
            self.out.resolved.insert(i, Resolved::Same(operands[0].clone()));
            return Ok((ty, None, false));
        }
        if op == id::ANSWER_OR {
            return self.call(i, &operands[1], operands[2..].to_vec(), vec![]);
        }
        let sign = self.source_arg(&operands[3])?.text().unwrap_or_default().to_owned();
        match sign.as_str() {
            "==" => self.rows(i, id::IS, operands[1..3].to_vec(), vec![]),
            "!=" => self.rows(i, id::IS_NOT, operands[1..3].to_vec(), vec![]),
            _ => {
                let args = self.source_args(&operands[1..3])?;
                let text = nobody_answers(&sign, &args);
                self.out.resolved.insert(i, Resolved::Impossible(Code::NoMatchingOperation, text.into()));
                Ok((Type::never(), None, true))
            }
        }
    }

    /// A value where another may stand: what a call gives that is not made, or a value that is given.
    pub(super) fn value_beside(&mut self, i: Inst, op: OpId, mut operands: Vec<Source>) -> Typed {
        let value = operands.remove(0);
        let ty = self.source_arg(&value)?.ty;
        let types = if op == id::BESIDE {
            [self.source_arg(&operands[0])?.ty, ty]
        } else {
            let called = operands.remove(0);
            let other = self.call(i, &called, operands, vec![])?.0;
            self.out.resolved.remove(&i);
            if *other == Kind::Never {
                return Ok((other, None, false));
            }
            [ty, other]
        };
        let ret = Type::one_of(&types.map(|t| self.session.resolve(t)));
        let (sources, coerce) = (vec![value], vec![ty]);
        self.out.resolved.insert(i, Resolved::Apply { op: id::OR_RESULT.rows()[0], sources, coerce });
        Ok((ret, None, false))
    }

    /// Whether what is gone through holds instances of the user's classes.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of others it is not known here")]
    pub(super) fn holds_instances(&mut self, values: &Source) -> Result<bool> {
        let ty = self.source_arg(values)?.ty;
        let ty = self.session.resolve(ty);
        let each: &[Type] = match ty.kind() {
            Kind::List(t) | Kind::Generator(_, t) => std::slice::from_ref(t),
            Kind::Container(_, m) | Kind::Tuple(m) => m,
            _ => &[],
        };
        let parts = each.iter().flat_map(|t| {
            if let Kind::Variant(m) = t.kind() { m.as_slice() } else { std::slice::from_ref(t) }
        });
        Ok(parts.into_iter().next().is_some_and(|t| class_of(*t).is_some()))
    }
}

/// What Python says of operands whose methods all leave an operation to the other.
pub(super) fn nobody_answers(sign: &str, operands: &[Arg]) -> String {
    let [a, b] = [0, 1].map(|k| crate::ops::order::class_name(operands[k].ty));
    match sign {
        "<" | "<=" | ">" | ">=" => format!("'{sign}' not supported between instances of '{a}' and '{b}'"),
        "**" => format!("unsupported operand type(s) for ** or pow(): '{a}' and '{b}'"),
        _ => format!("unsupported operand type(s) for {sign}: '{a}' and '{b}'"),
    }
}
