//! Calls of the library that raise whatever the values are, by their types alone. Where numbers are Numba's the
//! program expects to hear of them when it is compiled: Numba's typing functions refuse such operands.

use super::numba::has_own_numbers;
use super::resolved::{Resolved, Source};
use super::state::{Instance, Session, Solved};
use crate::diag::{Code, Diagnostic, Span};
use crate::exc::Class;
use crate::ops::id;
use crate::ssa::{Func, InstanceId, Op, Term, Value};
use crate::types::{Const, Kind};
use std::sync::Arc;

/// Functions of the library that call each other before one raises.
const DEPTH: usize = 8;

/// What is raised, and its text. Texts that are put together when the program runs say more than could be said
/// here: such errors come when they come.
type Raised = (Class, String);

/// What gives nothing, and where it stands.
pub(super) enum Never {
    Call(InstanceId, Span),
    /// A global that does not exist is read.
    Missing(Arc<str>, Span),
}

/// The calls of an instance that never give a result and that no handler of the function is around.
pub(super) fn calls_without_result(session: &Session<'_>, at: &Instance, solved: &Solved) -> Vec<Never> {
    if !has_own_numbers(&at.func, at.key.meaning) {
        return vec![];
    }
    let mut found = vec![];
    for b in (0..at.func.blocks.len()).filter(|b| solved.reached[*b]) {
        for i in &at.func.blocks[b].insts {
            let node = at.func.inst(*i);
            let never = node.result.is_some_and(|r| *solved.facts[r.index()].ty == Kind::Never);
            if !never || node.unwind.is_some() {
                continue;
            }
            let span = || at.func.span(node.loc);
            match solved.resolved.get(i) {
                Some(Resolved::Instance { id, .. }) if session.is_library(&session.at(*id).func) => {
                    found.push(Never::Call(*id, span()));
                }
                Some(Resolved::Apply { op, sources, .. }) if op.id() == id::NAME_MISSING => {
                    if let [Source::Const(Const::Str(name))] = &sources[..] {
                        found.push(Never::Missing(name.clone(), span()));
                    }
                }
                _ => {}
            }
        }
    }
    found
}

impl Session<'_> {
    /// The first of these that is refused, as a diagnostic.
    pub(super) fn refused_by_types(&self, all: Vec<Never>) -> Option<Diagnostic> {
        all.into_iter().find_map(|never| match never {
            Never::Call(id, span) => {
                let (class, text) = self.raised(id, DEPTH)?;
                Some(Diagnostic::new(Code::NoMatchingOperation, text).raises(class).at(span))
            }
            Never::Missing(name, span) => {
                let text = format!("name '{name}' is not defined");
                Some(Diagnostic::new(Code::UndefinedName, text).raises(Class::NameError).at(span))
            }
        })
    }

    /// What a typed function raises that gives nothing; none where that is not one of the errors about operands.
    fn raised(&self, id: InstanceId, depth: usize) -> Option<Raised> {
        let func = &self.at(id).typed.as_ref()?.func;
        let depth = depth.checked_sub(1)?;
        let mut found: Option<Raised> = None;
        for block in &func.blocks {
            let mut here = vec![];
            for i in &block.insts {
                let node = func.inst(*i);
                if let (Op::CallInstance(callee), Some(r)) = (&node.op, node.result)
                    && *func.types[r.index()] == Kind::Never
                {
                    here.push(self.raised(*callee, depth)?);
                }
            }
            if let Term::Raise { exc, .. } = &block.term {
                here.push(made(func, *exc)?);
            }
            for one in here {
                match &found {
                    Some(known) if *known != one => return None,
                    Some(_) => {}
                    None => found = Some(one),
                }
            }
        }
        found
    }
}

/// The exception that a value is: an error about operands, made where it is raised.
fn made(func: &Func, exc: Value) -> Option<Raised> {
    let by = |v: Value| func.insts.iter().find(|node| node.result == Some(v));
    let mut node = by(exc)?;
    loop {
        let Op::Apply(op) = &node.op else { return None };
        if op.id() == id::EXC_NEW {
            break;
        }
        if op.id() != id::EXC_MAKE {
            return None;
        }
        node = by(*node.args.first()?)?;
    }
    let Kind::ExcClass(class) = *func.types[node.args.first()?.index()] else { return None };
    let class = Class::from_name(&class.name)?;
    if !matches!(class, Class::ValueError | Class::IndexError | Class::TypeError | Class::AxisError) {
        return None;
    }
    let Op::Const(Const::Str(text)) = &by(*node.args.get(1)?)?.op else { return None };
    Some((class, text.to_string()))
}
