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
//!
//! Variables of an object's fields may be known to hold objects of the same type: what is known goes round in
//! circles there, and only there. Whoever follows variables says where it has been.

use crate::types::constructor::Variance;
use crate::types::{Kind, Type, object, work};
use std::collections::HashMap;

/// A place in the code that is typed, by numbers that mean nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// An instance of a function.
    pub instance: u32,
    /// An instruction of it.
    pub inst: u32,
}

impl Site {
    /// Whether it is in a function that is only looked into: these are numbered from the top down.
    pub(crate) fn is_of_a_look(self) -> bool {
        self.instance > u32::MAX / 2
    }
}

/// Objects around the type that is being resolved, the innermost last, and whether any was met.
#[derive(Default)]
struct Resolving {
    around: Vec<Type>,
    any: bool,
}

/// Types that are being opened ([`Vars::opened`]): at which site, how many variables were made, and what became of
/// each object; and the group of what is being opened, in which empty containers of a type may be one, with what became
/// of these.
pub(crate) struct Opened {
    pub site: Site,
    made: u16,
    known: HashMap<Type, Type>,
    pub alike: Option<usize>,
    empty: HashMap<(usize, Type), Type>,
}

impl Opened {
    pub(crate) fn new(site: Site) -> Opened {
        Opened { site, made: 0, known: HashMap::new(), alike: None, empty: HashMap::new() }
    }
}

/// Which of the variables of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Slot {
    /// An argument of what it makes.
    Argument(u16),
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
    /// The lower bound with numbers of several kinds told apart, where [`Vars::unions`] are.
    pub apart: Type,
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
    /// Python's answer is promised.
    pub(crate) promised: bool,
    /// The same in code of the program: a bool among other numbers stays one there, so no list holds both.
    pub(crate) apart: bool,
    /// What is unpacked behind a `*` may be seen to be no list.
    pub(crate) rest_is_seen: bool,
    /// Values of several types are of one of several, where no type holds them.
    pub(crate) unions: bool,
    /// Dicts that are written out are such as hold values of several types, and no values with a name each.
    pub(crate) displays_are_dicts: bool,
    /// The same could not be typed: numbers that meet are one type beside texts, too.
    pub(crate) numbers_are_one: bool,
    /// Numbers that meet are told apart.
    pub(crate) numbers_apart: bool,
    /// How changed variables were, while types are unified that may turn out not to.
    trail: Vec<(u32, Var)>,
    /// What generators are sent and return.
    pub(crate) channels: super::channels::Channels,
    /// Numbers that meet are promoted as elements of arrays are.
    pub(crate) like_elements: bool,
}

impl Vars {
    /// A variable of an instruction, the same at every visit; `default` is what it becomes if nothing says
    /// what it is.
    pub(crate) fn at(&mut self, site: Site, number: u16, default: Type) -> Type {
        self.made_at(site, Slot::Argument(number), default)
    }

    fn made_at(&mut self, site: Site, slot: Slot, default: Type) -> Type {
        let n = self.all.len() as u32;
        let v = *self.made.entry((site, slot)).or_insert(n);
        if v == n {
            self.all.push(Var {
                parent: n,
                lower: Type::never(),
                exact: false,
                apart: Type::never(),
                default,
            });
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
        let mut objects = Resolving::default();
        let t = self.resolved(t, &mut objects);
        if objects.any { object::closed(t) } else { t }
    }

    /// [`Vars::resolve`] inside of objects.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other type consists of its arguments")]
    fn resolved(&self, t: Type, objects: &mut Resolving) -> Type {
        if let (false, any) = object::holds_variables_and_objects(t) {
            objects.any |= any;
            return t;
        }
        // Whoever asks gives up.
        if work::is_too_much() {
            return t;
        }
        match t.kind() {
            Kind::Var(v) => self.resolved(self.get(self.root(*v)).lower, objects),
            Kind::Object(_, fields) => {
                let here = t.with_arguments(&fields.iter().map(|f| self.at_root(*f)).collect::<Vec<_>>());
                objects.any = true;
                if let Some(levels) = objects.around.iter().rev().position(|o| *o == here) {
                    return Type::new(Kind::Outer(levels as u32));
                }
                objects.around.push(here);
                let t = here.map_arguments(&mut |c| self.resolved(c, objects));
                objects.around.pop();
                t
            }
            _ => t.map_arguments(&mut |c| self.resolved(c, objects)),
        }
    }

    /// A variable as the one that it has become.
    fn at_root(&self, t: Type) -> Type {
        if let Kind::Var(v) = *t { Type::var(self.root(v)) } else { t }
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
        } else if let Kind::Object(..) = *result {
            self.instantiate_object(result, call, &mut vec![])
        } else {
            result.map_arguments(&mut |c| self.instantiate(c, call))
        }
    }

    /// The same of an object that a function gives: the fields, and what lies in them, may hold more than the
    /// function knows of. `seen` are variables of which the call has its own by now.
    fn instantiate_object(&mut self, t: Type, call: Site, seen: &mut Vec<u32>) -> Type {
        let Kind::Var(v) = *t else {
            return t.map_arguments(&mut |c| self.instantiate_object(c, call, seen));
        };
        let r = self.root(v);
        let of = self.get(r);
        if of.exact {
            return self.resolve(of.lower);
        }
        let own = self.made_at(call, Slot::Result(r), of.default);
        if !seen.contains(&r) {
            seen.push(r);
            if *of.lower != Kind::Never {
                let lower = self.instantiate_object(of.lower, call, seen);
                // Where that is more than the call can hold, it is seen where the function is told so.
                _ = self.hold(own, lower);
            }
        }
        own
    }

    /// A known type whose objects have fields that may hold more than they do, and so has what lies in these.
    pub(crate) fn opened(&mut self, t: Type, by: &mut Opened) -> Type {
        if let Some(known) = by.known.get(&t) {
            return *known;
        }
        if matches!(t.kind(), Kind::Object(c, _) if c.is_native()) {
            return t;
        }
        let Some(fields) = object::fields(t) else { return t.map_arguments(&mut |c| self.opened(c, by)) };
        let own: Vec<Type> = fields.iter().map(|_| self.next_opened(by)).collect();
        let open = t.with_arguments(&own);
        by.known.insert(t, open);
        for (variable, field) in own.iter().zip(fields) {
            let holds = self.opened_inside(*field, by);
            // Of a new variable nothing is known that this would contradict.
            _ = self.hold(*variable, holds);
        }
        open
    }

    /// A known type whose containers that were empty may hold anything, as may fields of objects.
    pub(crate) fn opened_where_empty(&mut self, t: Type, by: &mut Opened) -> Type {
        if object::fields(t).is_some() {
            return self.opened(t, by);
        }
        let alike = by.alike.map(|group| (group, t));
        if let Some(known) = alike.and_then(|key| by.empty.get(&key)) {
            return *known;
        }
        let container = matches!(*t, Kind::List(_) | Kind::Container(..));
        let open = t.map_arguments(&mut |c| {
            if container && *c == Kind::Never { self.next_opened(by) } else { self.opened_where_empty(c, by) }
        });
        if let Some(key) = alike
            && container
            && t.lacks_elements()
        {
            by.empty.insert(key, open);
        }
        open
    }

    /// The same of what lies in a field: a container may be given more as well.
    fn opened_inside(&mut self, t: Type, by: &mut Opened) -> Type {
        if !matches!(*t, Kind::List(_) | Kind::Container(..)) {
            return if object::fields(t).is_some() {
                self.opened(t, by)
            } else {
                t.map_arguments(&mut |c| self.opened_inside(c, by))
            };
        }
        if by.alike.is_some() && t.lacks_elements() {
            return self.opened_where_empty(t, by);
        }
        t.map_arguments(&mut |c| {
            let variable = self.next_opened(by);
            let holds = self.opened_inside(c, by);
            if *holds != Kind::Never {
                _ = self.hold(variable, holds);
            }
            variable
        })
    }

    fn next_opened(&mut self, by: &mut Opened) -> Type {
        by.made += 1;
        self.at(by.site, by.made - 1, Type::int())
    }

    /// Whether there is a variable in a type of which more may become known.
    pub(crate) fn is_open(&self, t: Type) -> bool {
        self.open_behind(t, &mut vec![])
    }

    /// Whether there is an object in a type of whose fields more may become known.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other type consists of its arguments")]
    pub(crate) fn is_open_object(&self, t: Type) -> bool {
        match t.kind() {
            Kind::Object(..) => self.is_open(t),
            Kind::Var(v) => self.is_open_object(self.get(self.root(*v)).lower),
            _ => t.arguments().iter().any(|c| self.is_open_object(c)),
        }
    }

    fn open_behind(&self, t: Type, seen: &mut Vec<u32>) -> bool {
        if let Kind::Var(v) = *t {
            let r = self.root(v);
            let of = self.get(r);
            !of.exact || first_visit(r, seen) && self.open_behind(of.lower, seen)
        } else {
            t.arguments().iter().any(|c| self.open_behind(c, seen))
        }
    }

    /// Whether a variable of which more may become known stands in both types.
    pub(crate) fn share(&self, a: Type, b: Type) -> bool {
        let (mut left, mut right) = (vec![], vec![]);
        self.variables(a, &mut left);
        self.variables(b, &mut right);
        left.iter().any(|r| !self.get(*r).exact && right.contains(r))
    }

    /// The variables in a type, those behind others as well.
    fn variables(&self, t: Type, seen: &mut Vec<u32>) {
        if let Kind::Var(v) = *t {
            let r = self.root(v);
            if first_visit(r, seen) {
                self.variables(self.get(r).lower, seen);
            }
        } else {
            t.arguments().iter().for_each(|c| self.variables(c, seen));
        }
    }

    /// Whether a variable stands in a type, but for fields of objects: those may hold what they stand in.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other type consists of its arguments")]
    pub(super) fn mentions(&self, t: Type, root: u32) -> bool {
        match t.kind() {
            Kind::Var(v) => {
                let r = self.root(*v);
                r == root || self.mentions(self.get(r).lower, root)
            }
            Kind::Object(..) => false,
            _ => t.arguments().iter().any(|c| self.mentions(c, root)),
        }
    }

    /// Gives the variables in these types of which nothing is known their defaults. Whether there were any.
    pub(crate) fn settle(&mut self, types: impl Iterator<Item = Type>) -> bool {
        let mut open = vec![];
        types.for_each(|t| self.variables(t, &mut open));
        open.retain(|r| *self.get(*r).lower == Kind::Never);
        for r in &open {
            self.set(*r, self.get(*r).default, false);
        }
        self.trail.clear();
        !open.is_empty()
    }

    /// More is known of a variable.
    pub(super) fn set(&mut self, root: u32, lower: Type, exact: bool) {
        self.replace(root, Var { lower, exact, ..self.get(root) });
    }

    /// More is known of what numbers are in it, which says nothing yet.
    pub(super) fn set_apart(&mut self, root: u32, apart: Type) {
        let old = self.get(root);
        if old.apart != apart {
            self.trail.push((root, old));
            self.all[root as usize].apart = apart;
        }
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

/// Whether a variable is met for the first time.
fn first_visit(root: u32, seen: &mut Vec<u32>) -> bool {
    let first = !seen.contains(&root);
    if first {
        seen.push(root);
    }
    first
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
