//! Calls with lists of which nothing is known yet.
//!
//! A call with an empty list gives, until more is known, what it gives for a list that stays empty: the least
//! that it can give. What the function does with that may say what the list holds, and the call is typed again.
//! Only when nothing in the function says more is the list one that stays empty, and the callee an instance
//! over a list of nothing.

use super::resolved::{Resolved, Typed};
use super::state::Solver;
use crate::diag::{Code, Diagnostic};
use crate::ssa::{FuncId, Inst, registry};
use crate::types::{Const, Type};

impl Solver<'_, '_> {
    /// What a call gives as long as nothing is known of lists among its arguments; `given` is what it gives for
    /// empty ones.
    pub(crate) fn await_elements(
        &mut self,
        i: Inst,
        func: FuncId,
        given: Option<Type>,
        types: &[Type],
        consts: Vec<Option<Const>>,
    ) -> Typed {
        let mut given = given.ok_or_else(unknown_elements)?;
        if registry::get(func).is_some_and(|f| f.is_generator) {
            let key = self.key(func, types.to_vec(), consts);
            let id = self.session.instance(key).map_err(|_| unknown_elements())?;
            given = self.session.at(id).ret;
        }
        self.waiting.now.insert((i, func));
        self.waiting.ever.insert((i, func));
        self.out.resolved.insert(i, Resolved::Nothing);
        Ok((given, None, true))
    }

    /// Nothing more becomes known by itself. Calls that wait are for lists that stay empty; where a callee
    /// wants elements of some type, these have their defaults: `[x for x in xs if DEBUG]` with the global
    /// `DEBUG` False, of which an array is made. Whether that changed anything.
    pub(crate) fn settle(&mut self) -> bool {
        // Variables of a caller may be told by it later.
        if self.is_look() {
            return false;
        }
        if self.waiting.give_up() {
            return true;
        }
        if !self.errors.values().any(|e| e.code == Code::UnknownElementType) {
            return false;
        }
        // One after the other: what is done with the first may say more of the rest.
        let func = self.func;
        for i in self.order.iter().flat_map(|b| &func.block(*b).insts) {
            let types = func.inst(*i).args.iter().map(|a| self.out.facts[a.index()].ty);
            if self.wants_to_know(*i) && self.session.vars.settle(types) {
                return true;
            }
        }
        self.session.vars.settle(self.out.facts.iter().map(|f| f.ty))
    }

    /// Whether an instruction cannot be carried out for what is not known of a variable in its operands.
    fn wants_to_know(&self, i: Inst) -> bool {
        self.errors.get(&i).is_some_and(|e| e.code == Code::UnknownElementType)
    }
}

pub(crate) fn unknown_elements() -> Diagnostic {
    Diagnostic::new(Code::UnknownElementType, "an empty list is passed on before anything was put into it")
        .help("append to it first, or make it where it is filled")
}
