//! Type variables: what stands in a type before inference knows it.
//!
//! An empty list is a `list(?0)`. What is put into it says what `?0` is: at least what holds everything so far
//! (its *lower bound*, which grows), or, once it has met a list from outside, *exactly* what that one holds. A
//! constructor with several arguments has a variable for each, all of the place where the value is made.
//! Variables that have met are one: a forest of union-find whose roots hold what is known.
//!
//! Variables stand for invariant arguments only ([`Variance`]), never for a whole value: a value that is read
//! out of a list has the type that is known of the variable by then, and is typed again when more is known.
//! [`super::unify`] is how variables come to be known.

use crate::types::constructor::Variance;
use crate::types::{Kind, Type};
use std::collections::HashMap;

/// A place in the code that is typed, by numbers that mean nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// An instance of a function.
    pub instance: u32,
    /// An instruction of it.
    pub inst: u32,
}

/// Which of the variables of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Slot {
    /// An argument of what it makes.
    Argument(u8),
    /// What stands for a variable in the result of a function that it calls.
    Result(u32),
}

/// What is known of a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Var {
    /// Itself, or the variable that it has become one with.
    parent: u32,
    /// `Never` where nothing is known.
    pub lower: Type,
    /// Whether it is its lower bound, and grows no more.
    pub exact: bool,
    /// What it is where nobody ever says.
    default: Type,
}

/// The variables of a session.
#[derive(Default)]
pub struct Vars {
    all: Vec<Var>,
    made: HashMap<(Site, Slot), u32>,
    /// Grows whenever more is known of a variable: who has asked may ask again.
    pub version: u64,
    /// How changed variables were, while types are unified that may turn out not to.
    trail: Vec<(u32, Var)>,
}

impl Vars {
    /// A variable of an instruction, the same at every visit; `default` is what it becomes if nothing says
    /// what it is.
    pub(crate) fn at(&mut self, site: Site, number: u8, default: Type) -> Type {
        self.made_at(site, Slot::Argument(number), default)
    }

    fn made_at(&mut self, site: Site, slot: Slot, default: Type) -> Type {
        let n = self.all.len() as u32;
        let v = *self.made.entry((site, slot)).or_insert(n);
        if v == n {
            self.all.push(Var { parent: n, lower: Type::never(), exact: false, default });
        }
        Type::var(self.root(v))
    }

    pub(super) fn root(&self, mut v: u32) -> u32 {
        while self.all[v as usize].parent != v {
            v = self.all[v as usize].parent;
        }
        v
    }

    pub(super) fn get(&self, root: u32) -> Var {
        self.all[root as usize]
    }

    /// What is known of an argument by now, its own arguments left as they are.
    pub(crate) fn known(&self, argument: Type) -> Type {
        if let Kind::Var(v) = *argument { self.get(self.root(v)).lower } else { argument }
    }

    /// A type with what is known by now in place of variables.
    pub(crate) fn resolve(&self, t: Type) -> Type {
        if self.all.is_empty() {
            return t;
        }
        if let Kind::Var(v) = *t {
            self.resolve(self.get(self.root(v)).lower)
        } else {
            t.map_arguments(&mut |c| self.resolve(c))
        }
    }

    /// The result of a function that is solved, as a call of it sees it. What the function does not say is the
    /// call's to say: each has variables of its own there. The rest is known.
    pub(crate) fn instantiate(&mut self, result: Type, call: Site) -> Type {
        if let Kind::Var(v) = *result {
            let r = self.root(v);
            let of = self.get(r);
            if *of.lower != Kind::Never {
                self.instantiate(of.lower, call)
            } else if of.exact {
                of.lower
            } else {
                self.made_at(call, Slot::Result(r), of.default)
            }
        } else {
            result.map_arguments(&mut |c| self.instantiate(c, call))
        }
    }

    /// Whether there is a variable in a type of which more may become known.
    pub(crate) fn is_open(&self, t: Type) -> bool {
        if let Kind::Var(v) = *t {
            let of = self.get(self.root(v));
            !of.exact || self.is_open(of.lower)
        } else {
            t.arguments().iter().any(|c| self.is_open(c))
        }
    }

    /// Whether a variable of which more may become known stands in both types.
    pub(crate) fn share(&self, a: Type, b: Type) -> bool {
        if let Kind::Var(v) = *a {
            let r = self.root(v);
            let of = self.get(r);
            !of.exact && self.mentions(b, r) || self.share(of.lower, b)
        } else {
            a.arguments().iter().any(|c| self.share(c, b))
        }
    }

    /// Whether a variable stands in a type.
    pub(super) fn mentions(&self, t: Type, root: u32) -> bool {
        if let Kind::Var(v) = *t {
            let r = self.root(v);
            r == root || self.mentions(self.get(r).lower, root)
        } else {
            t.arguments().iter().any(|c| self.mentions(c, root))
        }
    }

    /// Gives the variables in these types of which nothing is known their defaults. Whether there were any.
    pub(crate) fn settle(&mut self, types: impl Iterator<Item = Type>) -> bool {
        let mut open = vec![];
        types.for_each(|t| self.collect_open(t, &mut open));
        for r in &open {
            self.set(*r, self.get(*r).default, false);
        }
        self.trail.clear();
        !open.is_empty()
    }

    fn collect_open(&self, t: Type, out: &mut Vec<u32>) {
        if let Kind::Var(v) = *t {
            let r = self.root(v);
            match self.get(r).lower {
                t if *t == Kind::Never => {
                    if !out.contains(&r) {
                        out.push(r)
                    }
                }
                t => self.collect_open(t, out),
            }
        } else {
            t.arguments().iter().for_each(|c| self.collect_open(c, out))
        }
    }

    /// More is known of a variable.
    pub(super) fn set(&mut self, root: u32, lower: Type, exact: bool) {
        self.replace(root, Var { lower, exact, ..self.get(root) });
    }

    fn replace(&mut self, root: u32, new: Var) {
        let old = std::mem::replace(&mut self.all[root as usize], new);
        self.trail.push((root, old));
        self.version += 1;
    }

    /// Makes two variables one, of which that much is known.
    pub(super) fn link(&mut self, kept: u32, other: u32, lower: Type, exact: bool) {
        self.replace(other, Var { parent: kept, ..self.get(other) });
        self.set(kept, lower, exact);
    }

    /// Does something that may come to nothing, which leaves all variables as they were. Attempts do not nest.
    pub(super) fn attempt<T, E>(&mut self, what: impl FnOnce(&mut Vars) -> Result<T, E>) -> Result<T, E> {
        let version = self.version;
        let out = what(self);
        if out.is_err() {
            for (root, old) in self.trail.drain(..).rev() {
                self.all[root as usize] = old;
            }
            self.version = version;
        }
        self.trail.clear();
        out
    }
}

/// Whether a variable stands in a type, whatever is known of it.
pub(crate) fn has_variable(t: Type) -> bool {
    matches!(*t, Kind::Var(_)) || t.arguments().iter().any(has_variable)
}

/// Whether a type, variables resolved, has an argument of which nothing is known: a list that nothing was put
/// into.
pub(crate) fn has_unknown(t: Type) -> bool {
    // What a generator yields is its function's to say, not that of who passes it on.
    if let Kind::Generator(..) = *t {
        return false;
    }
    let of = t.arguments();
    of.iter().any(|c| has_unknown(c) || of.variance == Variance::Invariant && *c == Kind::Never)
}
