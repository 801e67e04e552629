//! What a function gives that gives values of several types: one type that holds them all. Python shows 0 and not
//! 0.0 of `return 0`, also where another `return` gives a float; so where Python's answer is promised, numbers of
//! several kinds stay what they are on their way to Python. Inside of compiled code they are one type, for loops over
//! numbers should not ask at each turn which they are.

use super::state::Solver;
use crate::emit::cx::Overflow;
use crate::types::{Kind, Type, promote};

impl Solver<'_, '_> {
    /// The type of results that are `before` so far, and `now` here as well.
    pub(super) fn joined_results(&mut self, before: Type, now: Type) -> Option<Type> {
        if self.goes_to_python()
            && let Some(apart) = self.numbers_apart(before, now)
        {
            return Some(apart);
        }
        self.joined_variable(before, now)
    }

    /// The type of a variable that was set to a value of one type, and to one of another. A bool and an int are none
    /// where Python's answer is promised: it shows True and not 1. (An int and a float are a float, by which loops
    /// that begin with `s = 0` are loops over floats.)
    pub(super) fn joined_variable(&mut self, before: Type, now: Type) -> Option<Type> {
        if self.keeps_apart(before, now) { None } else { self.session.unify(before, now) }
    }

    /// Whether values of these types stay what they are where Python's answer is promised.
    pub(super) fn keeps_apart(&self, a: Type, b: Type) -> bool {
        let promised = self.session.overflow == Overflow::Python && !self.session.is_library(self.func);
        promised && promote::bool_meets_int(a, b)
    }

    /// Whether this is what Python calls, and it does not call itself.
    fn goes_to_python(&self) -> bool {
        self.session.overflow == Overflow::Python
            && self.id.0 == 0
            && !self.is_look()
            && !self.func.is_generator
            && !self.session.is_library(self.func)
            && !self.session.calls_itself(self.id)
    }

    /// One of several kinds of numbers; none where something else is among them, or they are of one kind.
    fn numbers_apart(&mut self, before: Type, now: Type) -> Option<Type> {
        let (mut all, mut none) = (vec![], false);
        for t in [before, now] {
            promote::flatten(self.session.resolve(t), &mut all, &mut none);
        }
        let mut kinds: Vec<Type> = vec![];
        for t in all.into_iter().filter(|t| **t != Kind::Never) {
            if !t.is_number() {
                return None;
            }
            match kinds.iter_mut().find(|k| kind_of_number(**k) == kind_of_number(t)) {
                Some(same) => *same = promote::unify(*same, t)?,
                None => kinds.push(t),
            }
        }
        if kinds.len() < 2 {
            return None;
        }
        kinds.extend(none.then(Type::none));
        Some(Type::one_of(&kinds))
    }
}

/// Numbers of one kind are shown alike: bools, ints, floats, complex numbers.
pub(super) fn kind_of_number(t: Type) -> [bool; 3] {
    [*t == Kind::Bool, t.is_int(), t.is_float()]
}
