//! What is found out about type variables where types meet: values in a variable of the program, results of a
//! function, elements that are put into a container.
//!
//! Covariant arguments are joined: the type of both is one that values of either are converted to. Invariant
//! arguments are equated: they are the same, or a variable becomes the other. What does not come about leaves
//! nothing behind.

use super::unions::is_mixed;
use super::vars::{Vars, has_variable};
use crate::types::constructor::Variance;
use crate::types::{Kind, Type, promote};

/// Why an argument cannot hold values of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It would stand in itself.
    Itself,
    /// It is known to be this, which does not go together with the type.
    Holds(Type),
}

impl Vars {
    /// The type that holds values of both, or none: [`promote::unify`] with variables.
    pub(crate) fn unify(&mut self, a: Type, b: Type) -> Option<Type> {
        if a == b {
            return Some(a);
        }
        self.attempt(|vars| vars.join(a, b).ok_or(())).ok()
    }

    /// What an invariant argument is also holds values of type `value`. Where it is known exactly, these must
    /// be such that they can be converted.
    pub(crate) fn hold(&mut self, argument: Type, value: Type) -> Result<(), Refusal> {
        self.attempt(|vars| vars.held(argument, value))
    }

    fn held(&mut self, argument: Type, value: Type) -> Result<(), Refusal> {
        let old = self.known(argument);
        let open = if let Kind::Var(v) = *argument { Some(self.root(v)) } else { None };
        if open.is_some_and(|r| self.mentions(value, r)) {
            return Err(Refusal::Itself);
        }
        let bool_among_numbers = self.keeps_bools(old, value);
        if bool_among_numbers && !(self.unions && open.is_some_and(|r| !self.get(r).exact)) {
            return Err(Refusal::Holds(old));
        }
        let mut new = if old == value { old } else { self.join(old, value).ok_or(Refusal::Holds(old))? };
        if let (true, Some(r)) = (self.unions, open) {
            let apart = self.join_apart(self.get(r).apart, value).ok_or(Refusal::Holds(old))?;
            self.set_apart(r, apart);
            if bool_among_numbers || is_mixed(new) {
                new = apart;
            }
        }
        // A variable that has become one with another is not another type.
        let (known, value) = (self.resolve(old), self.resolve(value));
        if self.resolve(new) == known {
            return Ok(());
        }
        match open.map(|r| (r, self.get(r))) {
            Some((r, v)) if !v.exact => {
                self.set(r, new, v.exact);
                Ok(())
            }
            // A list of floats takes ints, a list of optional values takes None: the element is converted.
            _ if castable(value, known) || promote::same_but_weak(value, known) => Ok(()),
            _ => Err(Refusal::Holds(old)),
        }
    }

    pub(super) fn join(&mut self, a: Type, b: Type) -> Option<Type> {
        if self.like_elements && a.is_number() && b.is_number() {
            return Some(promote::result_type(a, b));
        }
        if self.are_apart(a, b) {
            return self.union(a, b);
        }
        let one = promote::unify_with(a, b, &mut |variance, x, y| match variance {
            Variance::Covariant => self.join(x, y),
            Variance::Invariant => self.equate(x, y),
        });
        if one.is_none() && self.unions { self.union(a, b) } else { one }
    }

    /// The one type that two invariant arguments are.
    pub(super) fn equate(&mut self, x: Type, y: Type) -> Option<Type> {
        if x == y {
            return Some(x);
        }
        match (x.kind(), y.kind()) {
            (Kind::Var(v), Kind::Var(w)) => self.merge(self.root(*v), self.root(*w)),
            (Kind::Var(v), _) => self.fix(self.root(*v), y),
            (_, Kind::Var(w)) => self.fix(self.root(*w), x),
            // Objects that are known lead back to themselves: they are compared as a whole.
            _ if !has_variable(x) && !has_variable(y) => {
                promote::same_but_weak(x, y).then(|| promote::unify(x, y)).flatten()
            }
            _ => {
                let both = self.join(x, y)?;
                (self.agree(both, x) && self.agree(both, y)).then_some(both)
            }
        }
    }

    /// Whether values of the two types are told apart as bools and other numbers.
    fn keeps_bools(&self, a: Type, b: Type) -> bool {
        self.apart && promote::bool_meets_number(self.resolve(a), self.resolve(b))
    }

    /// Whether two types are one, but for Python's numbers and NumPy's of the same width.
    fn agree(&self, a: Type, b: Type) -> bool {
        promote::same_but_weak(self.resolve(a), self.resolve(b))
    }

    fn merge(&mut self, v: u32, w: u32) -> Option<Type> {
        if v == w {
            return Some(Type::var(v));
        }
        let (a, b) = (self.get(v), self.get(w));
        if self.keeps_bools(a.lower, b.lower) {
            return None;
        }
        // `m = [m]`: no list holds itself.
        if self.mentions(a.lower, w) || self.mentions(b.lower, v) {
            return None;
        }
        let exact = a.exact || b.exact;
        // They are one from here on: objects in what they hold may lead back to them.
        self.link(v, w, if a.exact || !b.exact { a.lower } else { b.lower }, exact);
        let mut both =
            if a.exact && b.exact { self.equate(a.lower, b.lower)? } else { self.join(a.lower, b.lower)? };
        if self.unions && !exact {
            let apart = self.join_apart(a.apart, b.apart)?;
            let v = self.root(v);
            self.set_apart(v, apart);
            both = if is_mixed(both) { apart } else { both };
        }
        if a.exact && !self.agree(both, a.lower) || b.exact && !self.agree(both, b.lower) {
            return None;
        }
        let v = self.root(v);
        if self.mentions(both, v) {
            return None;
        }
        if !exact {
            // On the way more may have become known of them.
            let now = self.get(v);
            if now.exact {
                return self.agree(now.lower, both).then_some(Type::var(v));
            }
            let lower = if now.lower == both || self.unions && is_mixed(both) {
                both
            } else {
                self.join(now.lower, both)?
            };
            self.set(v, lower, false);
        }
        Some(Type::var(v))
    }

    /// A variable meets what is known: it is that, if that holds everything that is in it.
    fn fix(&mut self, v: u32, to: Type) -> Option<Type> {
        if self.mentions(to, v) {
            return None;
        }
        let of = self.get(v);
        if self.keeps_bools(of.lower, to) {
            return None;
        }
        if of.exact {
            // It stays what it was first: of Python's numbers and NumPy's each could take the other's place.
            return (of.lower == to || self.agree(of.lower, to)).then_some(Type::var(v));
        }
        // That is what it is from here on: objects in what it holds may lead back to it.
        self.set(v, to, true);
        let both = if of.lower == to { to } else { self.join(of.lower, to)? };
        self.agree(both, to).then_some(Type::var(v))
    }
}

/// Whether an explicit cast from `a` to `b` exists that `unify` would insert.
fn castable(a: Type, b: Type) -> bool {
    promote::unify(a, b) == Some(b)
        || (a.is_number() && b.is_number() && !b.is_weak() && promote::unify(a, b.strong()) == Some(b))
}

#[cfg(test)]
mod tests {
    use super::super::vars::has_unknown;
    use super::*;
    use crate::typing::vars::Site;

    fn site(instance: u32, inst: usize) -> Site {
        Site { instance, inst: inst as u32 }
    }
    use crate::types::Layout;

    /// A variable of instruction `i`.
    fn var(vars: &mut Vars, i: usize) -> Type {
        vars.at(site(0, i), 0, Type::int())
    }
    fn list(vars: &mut Vars, i: usize) -> Type {
        Type::list(var(vars, i))
    }
    fn of(list: Type) -> Type {
        list.arguments().iter().next().unwrap()
    }

    #[test]
    fn the_same_place_has_the_same_variable() {
        let mut vars = Vars::default();
        let (a, b) = (var(&mut vars, 1), var(&mut vars, 2));
        assert_ne!(a, b);
        assert_eq!(var(&mut vars, 1), a);
        vars.unify(Type::list(a), Type::list(b)).unwrap();
        assert_eq!(var(&mut vars, 1), var(&mut vars, 2));
    }

    #[test]
    fn what_is_put_in_is_joined() {
        let mut vars = Vars::default();
        let a = var(&mut vars, 1);
        assert_eq!(*vars.known(a), Kind::Never);
        for (value, known) in [
            (Type::bool(), Type::bool()),
            (Type::int(), Type::int()),
            (Type::float(), Type::float()),
            (Type::int(), Type::float()),
            (Type::none(), Type::optional(Type::float())),
        ] {
            vars.hold(a, value).unwrap();
            assert_eq!(vars.known(a), known);
        }
        assert_eq!(vars.hold(a, Type::str()), Err(Refusal::Holds(Type::optional(Type::float()))));
        assert_eq!(vars.known(a), Type::optional(Type::float()));
    }

    #[test]
    fn whoever_asked_sees_that_more_is_known() {
        let mut vars = Vars::default();
        let a = var(&mut vars, 1);
        vars.hold(a, Type::float()).unwrap();
        let version = vars.version;
        vars.hold(a, Type::int()).unwrap();
        vars.hold(a, Type::str()).unwrap_err();
        assert_eq!(vars.version, version);
        vars.hold(a, Type::none()).unwrap();
        assert_ne!(vars.version, version);
    }

    #[test]
    fn lists_that_meet_are_one() {
        let mut vars = Vars::default();
        let (a, b) = (list(&mut vars, 1), list(&mut vars, 2));
        vars.hold(of(a), Type::int()).unwrap();
        vars.hold(of(b), Type::float()).unwrap();
        let both = vars.unify(a, b).unwrap();
        assert_eq!(vars.resolve(both), Type::list(Type::float()));
        vars.hold(of(b), Type::none()).unwrap();
        assert_eq!(vars.resolve(a), Type::list(Type::optional(Type::float())));
    }

    #[test]
    fn a_list_from_outside_stays_as_it_is() {
        let mut vars = Vars::default();
        let a = list(&mut vars, 1);
        vars.hold(of(a), Type::int()).unwrap();
        let floats = Type::list(Type::float());
        vars.unify(a, floats).unwrap();
        assert_eq!(vars.resolve(a), floats);
        // Ints are converted; None would change what lies in the other's memory.
        vars.hold(of(a), Type::int()).unwrap();
        assert_eq!(vars.hold(of(a), Type::none()), Err(Refusal::Holds(Type::float())));
        assert_eq!(vars.unify(a, Type::list(Type::int())), None);
        // The other way round the elements would have to be converted where they lie.
        let b = list(&mut vars, 2);
        vars.hold(of(b), Type::float()).unwrap();
        assert_eq!(vars.unify(b, Type::list(Type::int())), None);
        assert_eq!(vars.resolve(b), floats);
    }

    #[test]
    fn two_lists_from_outside_do_not_become_one() {
        let mut vars = Vars::default();
        let (a, b) = (list(&mut vars, 1), list(&mut vars, 2));
        vars.unify(a, Type::list(Type::int())).unwrap();
        vars.unify(b, Type::list(Type::float())).unwrap();
        assert_eq!(vars.unify(a, b), None);
        assert_eq!(vars.resolve(a), Type::list(Type::int()));
        // Python's floats and NumPy's lie alike.
        let c = list(&mut vars, 3);
        vars.unify(c, Type::list(Type::f64())).unwrap();
        assert!(vars.unify(b, c).is_some());
    }

    #[test]
    fn a_list_meets_two_from_outside_whose_numbers_are_alike() {
        let mut vars = Vars::default();
        let a = list(&mut vars, 1);
        vars.hold(of(a), Type::int()).unwrap();
        let (python, numpy) = (Type::list(Type::int()), Type::list(Type::i64()));
        vars.unify(a, numpy).unwrap();
        let version = vars.version;
        // More would be known of it at every round.
        vars.unify(a, python).unwrap();
        vars.unify(a, numpy).unwrap();
        assert_eq!((vars.version, vars.resolve(a)), (version, numpy));
        assert_eq!(vars.unify(a, Type::list(Type::float())), None);
        assert_eq!(vars.resolve(a), numpy);
    }

    #[test]
    fn nothing_holds_itself() {
        let mut vars = Vars::default();
        let (a, b) = (list(&mut vars, 1), list(&mut vars, 2));
        assert_eq!(vars.hold(of(a), a), Err(Refusal::Itself));
        assert_eq!(vars.hold(of(a), Type::tuple(vec![Type::int(), a])), Err(Refusal::Itself));
        vars.hold(of(a), b).unwrap();
        assert_eq!(vars.hold(of(b), a), Err(Refusal::Itself));
        assert_eq!(vars.unify(a, b), None);
        assert_eq!(vars.unify(of(a), Type::list(Type::list(of(a)))), None);
        assert_eq!(*vars.known(of(b)), Kind::Never);
    }

    #[test]
    fn what_fails_leaves_nothing_behind() {
        let mut vars = Vars::default();
        let (a, b) = (list(&mut vars, 1), list(&mut vars, 2));
        let here = Type::tuple(vec![a, Type::list(Type::int())]);
        let there = Type::tuple(vec![b, Type::list(Type::str())]);
        let version = vars.version;
        assert_eq!(vars.unify(here, there), None);
        assert_eq!(vars.version, version);
        vars.hold(of(a), Type::int()).unwrap();
        vars.hold(of(b), Type::str()).unwrap();
        assert_eq!(vars.resolve(here), Type::tuple(vec![Type::list(Type::int()); 2]));
        assert_eq!(vars.resolve(there), Type::tuple(vec![Type::list(Type::str()); 2]));
    }

    #[test]
    fn inner_lists_become_one_where_outer_ones_meet() {
        let mut vars = Vars::default();
        let (outer, a, b) = (list(&mut vars, 1), list(&mut vars, 2), list(&mut vars, 3));
        vars.hold(of(outer), a).unwrap();
        vars.hold(of(outer), b).unwrap();
        vars.hold(of(a), Type::int()).unwrap();
        vars.hold(of(b), Type::float()).unwrap();
        assert_eq!(vars.resolve(outer), Type::list(Type::list(Type::float())));
        // Members of tuples are converted, what lies in lists in them is not.
        let (x, y) = (Type::tuple(vec![a, Type::int()]), Type::tuple(vec![b, Type::float()]));
        let both = vars.unify(x, y).unwrap();
        assert_eq!(vars.resolve(both), Type::tuple(vec![Type::list(Type::float()), Type::float()]));
        let (x, y) = (Type::list(Type::tuple(vec![a, Type::int()])), Type::list(y));
        assert_eq!(vars.unify(x, y), None);
    }

    #[test]
    fn an_array_in_a_list_keeps_its_layout() {
        let mut vars = Vars::default();
        let array = |layout| Type::array(Type::f64(), 2, layout);
        assert_eq!(vars.unify(array(Layout::C), array(Layout::F)), Some(array(Layout::A)));
        let (c, f) = (Type::list(array(Layout::C)), Type::list(array(Layout::F)));
        assert_eq!(vars.unify(c, f), None);
        let a = list(&mut vars, 1);
        vars.hold(of(a), array(Layout::C)).unwrap();
        vars.hold(of(a), array(Layout::F)).unwrap();
        assert_eq!(vars.resolve(a), Type::list(array(Layout::A)));
    }

    #[test]
    fn each_call_tells_what_a_result_leaves_open() {
        let mut vars = Vars::default();
        let (empty, full) = (list(&mut vars, 1), list(&mut vars, 2));
        vars.hold(of(full), Type::int()).unwrap();
        let result = Type::tuple(vec![empty, empty, full]);
        let call = |vars: &mut Vars, i| vars.instantiate(result, site(1, i));
        let (x, y) = (call(&mut vars, 1), call(&mut vars, 2));
        assert_eq!(call(&mut vars, 1), x);
        assert_ne!(x, y);
        let [a, b, c] = x.members().unwrap() else { panic!("{x}") };
        assert_eq!((*a, *c), (*b, Type::list(Type::int())));
        vars.hold(of(*a), Type::str()).unwrap();
        vars.hold(of(y.members().unwrap()[0]), Type::float()).unwrap();
        let known = |t| Type::tuple(vec![Type::list(t), Type::list(t), Type::list(Type::int())]);
        assert_eq!((vars.resolve(x), vars.resolve(y)), (known(Type::str()), known(Type::float())));
        assert_eq!(vars.resolve(result), known(Type::never()));
        assert!(has_unknown(vars.resolve(result)) && !has_unknown(vars.resolve(x)));
    }

    #[test]
    fn what_more_may_become_known_of_is_open() {
        let mut vars = Vars::default();
        let (a, b) = (list(&mut vars, 1), list(&mut vars, 2));
        vars.hold(of(a), b).unwrap();
        assert!(vars.is_open(a) && vars.share(Type::tuple(vec![b]), a) && !vars.share(a, Type::int()));
        vars.unify(a, Type::list(Type::list(Type::int()))).unwrap();
        assert!(!vars.is_open(a) && !vars.share(b, a));
    }

    /// A dict is a constructor of two invariant arguments, made with two variables of its place; a class
    /// instance is one with a variable for each field.
    #[test]
    fn a_place_has_as_many_variables_as_its_constructor_arguments() {
        let mut vars = Vars::default();
        let made = |vars: &mut Vars, i| {
            let site = site(0, i);
            [vars.at(site, 0, Type::int()), vars.at(site, 1, Type::float())]
        };
        let ([k, v], [l, w]) = (made(&mut vars, 1), made(&mut vars, 2));
        vars.hold(k, Type::str()).unwrap();
        vars.hold(v, Type::int()).unwrap();
        vars.hold(w, Type::float()).unwrap();
        // `d if c else e`: arguments meet pairwise.
        let dict = |k, v| Type::tuple(vec![Type::list(k), Type::list(v)]);
        let both = vars.unify(dict(k, v), dict(l, w)).unwrap();
        assert_eq!(vars.resolve(both), dict(Type::str(), Type::float()));
        // A value of the dict that is the dict.
        assert_eq!(vars.hold(w, dict(l, w)), Err(Refusal::Itself));
        let [m, n] = made(&mut vars, 3);
        assert!(vars.settle([dict(m, n), dict(k, v)].into_iter()));
        assert_eq!(vars.resolve(dict(m, n)), dict(Type::int(), Type::float()));
        assert_eq!(vars.resolve(both), dict(Type::str(), Type::float()));
        assert!(!vars.settle([dict(m, n)].into_iter()));
    }
}
