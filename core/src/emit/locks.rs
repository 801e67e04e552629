//! The locks that code takes which looks at lists that iterations of a parallel loop share and change. Which
//! lists these are is found out by [`crate::lower::guard`].

use crate::lir::Value as Machine;
use crate::types::{IterType, Kind, Type};
use std::collections::HashSet;

/// What the iterations of a module's parallel loops share and change.
#[derive(Default)]
pub struct Shared {
    /// Types of lists.
    pub lists: HashSet<Type>,
    /// Iterations share generators.
    pub generators: bool,
}

/// How far an operation looks at lists among its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// It needs no lock: what it reads is one word.
    Nowhere,
    /// At no list in a list.
    Shallow,
    Deep,
}

/// Which locks an operation takes.
#[derive(Debug, PartialEq)]
pub(crate) enum Locks {
    None,
    Lists(Vec<Machine>),
    /** What it looks at lies too deep to be named. */
    All,
}

impl Shared {
    fn is_guarded(&self, t: Type) -> bool {
        matches!(*t, Kind::List(_)) && self.lists.contains(&t.strong_throughout())
    }

    /// Whether values of a type hold a guarded list.
    fn holds(&self, t: Type) -> bool {
        if matches!(*t, Kind::Function(_) | Kind::Generator(..)) {
            return false;
        }
        self.is_guarded(t) || t.arguments().iter().any(|c| self.holds(c))
    }

    /// The guarded lists that a value is or goes through; whether it holds any others.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what has parts is gone through, any other type is asked for itself"
    )]
    fn named(&self, t: Type, val: &[Machine], out: &mut Vec<Machine>) -> bool {
        match t.kind() {
            Kind::List(e) => {
                if self.is_guarded(t) {
                    out.extend(val.first());
                }
                self.holds(*e)
            }
            Kind::Iter(IterType::List(x) | IterType::Reversed(x) | IterType::Enumerate(x)) => {
                self.named(*x, val, out)
            }
            Kind::Iter(IterType::Zip(all)) => {
                let mut at = 0;
                let mut more = false;
                for x in all {
                    more |= self.named(*x, val.get(at..).unwrap_or_default(), out);
                    at += x.leaf_count();
                }
                more
            }
            _ => self.holds(t),
        }
    }

    /// The locks for an operation on these operands that looks at lists so.
    pub(crate) fn locks(&self, look: Look, args: &[Vec<Machine>], types: &[Type]) -> Locks {
        if self.lists.is_empty() || look == Look::Nowhere {
            return Locks::None;
        }
        let (mut lists, mut deep) = (vec![], false);
        for (v, t) in args.iter().zip(types) {
            deep |= self.named(*t, v, &mut lists);
        }
        lists.sort_unstable();
        lists.dedup();
        if deep && look == Look::Deep || lists.len() > 2 {
            return Locks::All;
        }
        if lists.is_empty() { Locks::None } else { Locks::Lists(lists) }
    }
}
