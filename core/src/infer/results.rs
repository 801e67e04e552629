//! What a function gives that gives values of several types: one type that holds them all. Python shows 0 and not
//! 0.0 of `return 0`, also where another `return` gives a float; so where Python's answer is promised, numbers of
//! several kinds stay what they are on their way to Python. Inside of compiled code they are one type, for loops over
//! numbers should not ask at each turn which they are.

use super::state::Solver;
use crate::diag::{Code, Diagnostic};
use crate::emit::cx::Overflow;
use crate::ssa::{self, Term};
use crate::types::{Kind, Type, promote};
use crate::typing::unions::is_mixed;
use crate::typing::vars::Vars;

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

    /// The type of a place that holds values of `now` beside those that came first, which `all` looks up again where
    /// they turn out to be of several types: numbers that met before were one.
    fn told_apart(&mut self, now: Type, all: impl FnOnce(&Self) -> Vec<Type>) -> Type {
        if !self.session.vars.unions || !is_mixed(now) {
            return now;
        }
        let mut all = all(self);
        all.retain(|t| **t != Kind::Never);
        all.push(now);
        self.session.vars.all_apart(&all).unwrap_or(now)
    }

    /// [`Solver::joined_results`] of a function with such results.
    pub(super) fn results_apart(&mut self, now: Type) -> Type {
        self.told_apart(now, |s| {
            let of = |(k, b): (usize, &ssa::BlockData)| match b.term {
                Term::Return(v) if s.out.reached[k] => Some(s.ty(v)),
                Term::Return(_)
                | Term::Jump(_)
                | Term::Branch { .. }
                | Term::Raise { .. }
                | Term::None
                | Term::Unreachable => None,
            };
            s.func.blocks.iter().enumerate().filter_map(of).collect()
        })
    }

    /// What a generator yields, where it does in several places.
    pub(super) fn yields_apart(&mut self, now: Type) -> Type {
        self.told_apart(now, |s| {
            let reached = s.func.blocks.iter().enumerate().filter(|(k, _)| s.out.reached[*k]);
            let insts = reached.flat_map(|(_, b)| &b.insts).map(|i| s.func.inst(*i));
            insts.filter(|n| n.op == ssa::Op::Yield).map(|n| s.ty(n.args[0])).collect()
        })
    }

    /// An error where what is done with a number or a text, or by one of several functions or objects, gives numbers
    /// of several kinds: they are told apart where the function is typed for values of several types.
    pub(super) fn numbers_of_several(&self, on: Type, given: &[Type]) -> Result<(), Diagnostic> {
        let vars = &self.session.vars;
        let all_numbers = |m: &[Type]| m.iter().all(|t| t.is_number());
        let on = on.as_optional().unwrap_or(on);
        let beside_others = matches!(on.kind(), Kind::Variant(m) if !all_numbers(m)) && is_mixed(on);
        let several = beside_others || is_of_actors(on);
        if vars.unions || vars.numbers_are_one || !several || self.session.is_library(self.func) {
            return Ok(());
        }
        let mut numbers = given.iter().filter(|t| t.is_number()).map(|t| kind_of_number(*t));
        let Some(first) = numbers.next() else { return Ok(()) };
        if numbers.all(|k| k == first) {
            return Ok(());
        }
        let of = if beside_others {
            "for values of several types"
        } else {
            "by functions or objects of several types"
        };
        let text = format!("this gives numbers of several kinds {of}");
        Err(Diagnostic::new(Code::CannotUnify, text).help("write numbers of one type: 0.0 beside floats"))
    }

    /// The type of a parameter of a block. Where values of several types are told apart, numbers are as well, but for
    /// those that change in a loop: a sum that begins with 0 is one of floats.
    pub(super) fn joined_at(&mut self, target: ssa::Block, before: Type, now: Type) -> Option<Type> {
        if !self.session.vars.unions || before == now || self.session.is_library(self.func) {
            return self.joined_variable(before, now);
        }
        let position = &self.position;
        let goes_back = |from: usize, b: &ssa::BlockData| {
            let back = |to: &ssa::BlockCall| to.block == target && position[from] >= position[target.index()];
            match &b.term {
                Term::Jump(to) => back(to),
                Term::Branch { then_to, else_to, .. } => back(then_to) || back(else_to),
                Term::Return(_) | Term::Raise { .. } | Term::None | Term::Unreachable => false,
            }
        };
        if self.func.blocks.iter().enumerate().any(|(k, b)| goes_back(k, b)) {
            return self.joined_variable(before, now);
        }
        self.session.vars.unify_apart(before, now)
    }

    /// What a parameter of a block is, to which several edges lead.
    pub(super) fn parameter_apart(&mut self, target: ssa::Block, k: usize, now: Type) -> Type {
        self.told_apart(now, |s| {
            let mut all = vec![];
            let reached = s.func.blocks.iter().zip(&s.out.reached).filter(|(_, reached)| **reached);
            for (b, _) in reached {
                let edges = match &b.term {
                    Term::Jump(to) => vec![to],
                    Term::Branch { then_to, else_to, .. } => vec![then_to, else_to],
                    Term::Return(_) | Term::Raise { .. } | Term::None | Term::Unreachable => vec![],
                };
                let to = edges.into_iter().filter(|e| e.block == target);
                all.extend(to.filter_map(|e| e.args.get(k)).map(|v| s.ty(*v)));
            }
            all
        })
    }

    /// The type of a variable that was set to a value of one type, and to one of another. A bool and another number are
    /// none where Python's answer is promised: it shows True and not 1. (An int and a float are a float, by which loops
    /// that begin with `s = 0` are loops over floats.)
    pub(super) fn joined_variable(&mut self, before: Type, now: Type) -> Option<Type> {
        match self.keeps_apart(before, now) {
            true if self.session.vars.unions => self.session.vars.unify_apart(before, now),
            true => None,
            false => self.with_bools_apart(|vars| vars.unify_sorts(before, now)),
        }
    }

    /// Asks with bools among other numbers told apart, where Python's answer is promised: in what objects and lists
    /// hold that meet as well.
    pub(super) fn with_bools_apart<R>(&mut self, ask: impl FnOnce(&mut Vars) -> R) -> R {
        let apart = self.promises_python();
        let before = std::mem::replace(&mut self.session.vars.apart, apart);
        let answer = ask(&mut self.session.vars);
        self.session.vars.apart = before;
        answer
    }

    /// Whether this is code of the program, and Python's answer is promised.
    pub(super) fn promises_python(&self) -> bool {
        self.session.overflow == Overflow::Python && !self.session.is_library(self.func)
    }

    /// Whether values of these types stay what they are where Python's answer is promised.
    pub(super) fn keeps_apart(&self, a: Type, b: Type) -> bool {
        self.promises_python() && promote::bool_meets_number(a, b)
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

/// Whether it is one of several functions, or an object of one of several classes.
pub(super) fn is_of_actors(t: Type) -> bool {
    let acts = |t: &Type| {
        matches!(
            **t,
            Kind::Function(_) | Kind::Builtin(_) | Kind::Method(..) | Kind::Frozen(..) | Kind::Object(..)
        )
    };
    matches!(t.without_none().kind(), Kind::Variant(m) if m.iter().all(acts))
}
