//! Classes: who they are. A [`ClassDef`] is one class of Python's, of NumPy's or of the user's: its name, its
//! bases, the order in which attributes are looked for, its fields. Made once and never changed, so a
//! `&'static ClassDef` is the class; one of the user's whose bases change gets another definition, and code
//! that was compiled for the old one ends by the guards of the host.
//!
//! What a class has under a name, and which class the values of a type have, is in [`crate::classes`].

mod builtin;
mod mro;

use super::{Const, Type};
use crate::exc;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, RwLock};

pub use builtin::{BUILTIN, Row};
pub(crate) use mro::{Conflict, linearise};

/// Identity of a class: those of the compiler's own table, then exceptions, then those that the host tells
/// of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(u32);

/// Where a class comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A row of [`BUILTIN`].
    Builtin,
    /// A built-in exception class.
    Exception(exc::Class),
    /// The host maps this handle back to its class.
    Host(u64),
    /// What a function takes as `**kwargs`: nobody can name its class.
    Keywords,
}

/// What the instances of a class of the host's are to compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instances {
    /// What its bases say; no instance where they say nothing.
    Inherited,
    /// Values that never change: their fields.
    Frozen(Generated),
    /// Objects whose fields may change. Two are equal where they are one, and have a hash by that, if both are
    /// Python's. Of `native` ones the class says what each field holds, and Python sees them where they lie.
    Objects { identity: bool, native: bool },
    /// So many members of an enumeration, each a value of its own: a number, in the order of their definition.
    /// Two are equal where they are one, if equality is Python's.
    Members { count: u32, equality: bool },
    /// Members of an enumeration that are whole numbers or texts of Python's beside: each is its value. In the order
    /// of their definition.
    Values(&'static [Const]),
    /// Values of a `Flag`: a number each, whose bits are members of it. The members of one bit, in the order of their
    /// definition. Those of an `IntFlag` are whole numbers of Python's beside, `whole` ones.
    Flags { single: &'static [u32], whole: bool },
    /// One object of Python's that is nothing but itself: a mark for what is not there, told from everything else by
    /// `is`.
    Mark,
}

/// The methods of a class that Python generated, and which do with all fields, in their order, what tuples do
/// with their members. The compiler does the same without calling them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generated {
    pub equality: bool,
    pub order: bool,
    pub hash: bool,
    pub text: bool,
}

impl Generated {
    /// Each by the name that it has in the text of types.
    pub(super) fn named(&mut self) -> [(&'static str, &mut bool); 4] {
        let Generated { equality, order, hash, text } = self;
        [("equality", equality), ("order", order), ("hash", hash), ("text", text)]
    }
}

/// One class.
#[derive(Debug)]
pub struct ClassDef {
    pub id: ClassId,
    /// As its `__name__` says it.
    pub name: String,
    /// Its `__qualname__`.
    pub qualname: String,
    pub origin: Origin,
    pub bases: Vec<ClassId>,
    /// Where attributes are looked for, in this order: the class itself first.
    pub mro: Vec<ClassId>,
    /// Names of the fields of its instances; empty where compiled code knows none.
    pub fields: Vec<String>,
    pub instances: Instances,
    /// Its instances are made by code of its own and not as BaseException makes them.
    pub constructed: bool,
    /// Which of the states it is that the host has told of under this handle, counted from 0.
    pub state: u32,
}

impl PartialEq for ClassDef {
    fn eq(&self, other: &ClassDef) -> bool {
        self.id == other.id
    }
}
impl Eq for ClassDef {}
impl Hash for ClassDef {
    fn hash<H: Hasher>(&self, h: &mut H) {
        self.id.hash(h);
    }
}

/// Handles from here on are those of the compiler's own classes whose instances are values.
const OWN_HANDLES: u64 = 1 << 62;

/// Classes that the compiler knows without the host, by their numbers.
static FIXED: LazyLock<Vec<ClassDef>> = LazyLock::new(|| {
    let mut all: Vec<ClassDef> = vec![];
    let rows = BUILTIN.iter().map(|row| (row.name, Origin::Builtin, row.bases.to_vec(), row.fields));
    let exceptions = exc::Class::ALL.iter().map(|c| {
        let bases: Vec<ClassId> = c.bases().iter().map(|b| ClassId::of_exception(*b)).collect();
        let bases = if bases.is_empty() { vec![ClassId::OBJECT] } else { bases };
        (c.name(), Origin::Exception(*c), bases, &[][..])
    });
    for (k, (name, origin, bases, fields)) in rows.chain(exceptions).enumerate() {
        let id = ClassId(k as u32);
        let mro = linearise(id, &bases, &|b| &all[b.0 as usize].mro);
        let mro = mro.expect("the tables of classes name bases that agree");
        let name: String = name.into();
        let values = Generated { equality: true, order: true, hash: true, text: false };
        let instances = if fields.is_empty() { Instances::Inherited } else { Instances::Frozen(values) };
        let fields = fields.iter().map(|f| (*f).to_owned()).collect();
        all.push(ClassDef {
            id,
            qualname: String::clone(&name),
            name,
            origin,
            bases,
            mro,
            fields,
            instances,
            constructed: false,
            state: 0,
        });
    }
    all
});

/// Classes that the host told of, and those of `**kwargs`; their numbers go on behind [`FIXED`].
static MADE: LazyLock<RwLock<Made>> = LazyLock::new(Default::default);

#[derive(Default)]
struct Made {
    all: Vec<&'static ClassDef>,
    by_handle: HashMap<u64, States>,
    keywords: HashMap<Vec<String>, &'static ClassDef>,
}

/// What the host has told of a class, whose bases may change, and what it told last.
#[derive(Default)]
struct States {
    all: Vec<&'static ClassDef>,
    now: usize,
}

impl Made {
    fn add(&mut self, make: impl FnOnce(ClassId) -> ClassDef) -> &'static ClassDef {
        let id = ClassId((ClassId::FIXED + self.all.len()) as u32);
        let class: &'static ClassDef = Box::leak(Box::new(make(id)));
        self.all.push(class);
        class
    }
}

impl ClassId {
    /// A built-in exception class.
    pub fn of_exception(c: exc::Class) -> ClassId {
        // Their numbers are dense and in the order of `ALL`.
        ClassId(BUILTIN.len() as u32 + c as u32)
    }
    pub fn def(self) -> &'static ClassDef {
        let k = self.0 as usize;
        match FIXED.get(k) {
            Some(c) => c,
            None => MADE.read().unwrap_or_else(|e| e.into_inner()).all[k - ClassId::FIXED],
        }
    }
    /// How many classes are known without the host; their numbers come first.
    pub(crate) const FIXED: usize = BUILTIN.len() + exc::Class::ALL.len();
    pub(crate) const BASE_EXCEPTION: ClassId =
        ClassId(BUILTIN.len() as u32 + exc::Class::BaseException as u32);

    pub(crate) fn number(self) -> usize {
        self.0 as usize
    }
    /// The class with that number, of those that are known without the host.
    pub(crate) fn of_number(k: usize) -> Option<ClassId> {
        (k < ClassId::FIXED).then_some(ClassId(k as u32))
    }
    pub(crate) fn is_fixed(self) -> bool {
        self.number() < ClassId::FIXED
    }
}

/// What the host tells of a class.
#[derive(Clone)]
pub struct HostClass {
    pub handle: u64,
    pub name: String,
    pub qualname: String,
    pub bases: Vec<ClassId>,
    /// Its MRO behind itself, where the bases do not say it: a metaclass may have an order of its own.
    pub order: Option<Vec<ClassId>>,
    pub fields: Vec<String>,
    pub instances: Instances,
    pub constructed: bool,
}

impl HostClass {
    /// A class of which no more is known than these.
    pub fn new(handle: u64, name: &str, bases: &[ClassId]) -> HostClass {
        let bases = bases.to_vec();
        let (name, qualname) = (name.to_owned(), name.to_owned());
        let instances = Instances::Inherited;
        HostClass {
            handle,
            name,
            qualname,
            bases,
            order: None,
            fields: vec![],
            instances,
            constructed: false,
        }
    }
}

impl ClassDef {
    /// The class of the host with that handle as it is now. A class whose bases change has a definition for
    /// each of its states, and the same one again where it goes back.
    pub fn of_host(class: HostClass) -> Result<&'static ClassDef, Conflict> {
        let HostClass { handle, name, qualname, bases, order, fields, instances, constructed } = class;
        let mut made = MADE.write().unwrap_or_else(|e| e.into_inner());
        let next = ClassId((ClassId::FIXED + made.all.len()) as u32);
        let mro = match order {
            Some(behind) => [&[next], &*behind].concat(),
            None => linearise(next, &bases, &|b| match FIXED.get(b.0 as usize) {
                Some(c) => &c.mro,
                None => &made.all[b.0 as usize - ClassId::FIXED].mro,
            })?,
        };
        let known = made.by_handle.entry(handle).or_default();
        let same = |c: &&ClassDef| {
            (&c.name, &c.qualname, &c.bases, &c.fields, &c.mro[1..], c.instances, c.constructed)
                == (&name, &qualname, &bases, &fields, &mro[1..], instances, constructed)
        };
        if let Some(at) = known.all.iter().position(same) {
            known.now = at;
            return Ok(known.all[at]);
        }
        known.now = known.all.len();
        let (origin, state) = (Origin::Host(handle), known.now as u32);
        let class = made.add(|id| ClassDef {
            id,
            name,
            qualname,
            origin,
            bases,
            mro,
            fields,
            instances,
            constructed,
            state,
        });
        made.by_handle.entry(handle).or_default().all.push(class);
        Ok(class)
    }
    /// The class behind a handle: a built-in exception, or one that the host told of, as it told last.
    pub fn of_handle(handle: u64) -> Option<&'static ClassDef> {
        if let Some(k) = handle.checked_sub(OWN_HANDLES) {
            return usize::try_from(k).ok().and_then(ClassId::of_number).map(ClassId::def);
        }
        match exc::Class::from_handle(handle) {
            Some(c) => Some(ClassId::of_exception(c).def()),
            None => {
                let made = MADE.read().unwrap_or_else(|e| e.into_inner());
                made.by_handle.get(&handle).map(|known| known.all[known.now])
            }
        }
    }
    /// The class behind a handle in one of its states.
    pub fn of_state(handle: u64, state: u32) -> Option<&'static ClassDef> {
        let made = MADE.read().unwrap_or_else(|e| e.into_inner());
        made.by_handle.get(&handle).and_then(|known| known.all.get(state as usize).copied())
    }
    /// What `**kwargs` holds: values by name, in the order of the call. It is a tuple whose class nobody can
    /// name.
    pub fn keywords(fields: Vec<String>) -> &'static ClassDef {
        if let Some(c) = MADE.read().unwrap_or_else(|e| e.into_inner()).keywords.get(&fields) {
            return c;
        }
        let mut made = MADE.write().unwrap_or_else(|e| e.into_inner());
        if let Some(c) = made.keywords.get(&fields) {
            return c;
        }
        let bases = vec![ClassId::KEYWORDS];
        let class = made.add(|id| ClassDef {
            id,
            name: "kwargs".into(),
            qualname: "kwargs".into(),
            origin: Origin::Keywords,
            mro: [&[id], &*ClassId::KEYWORDS.def().mro].concat(),
            bases,
            fields: fields.clone(),
            instances: Instances::Inherited,
            constructed: false,
            state: 0,
        });
        made.keywords.insert(fields, class);
        class
    }
    /// The methods of its instances that the compiler does itself, where these are values.
    pub(crate) fn generated(&self) -> Generated {
        match self.instances {
            Instances::Frozen(generated) => generated,
            Instances::Inherited
            | Instances::Members { .. }
            | Instances::Values(_)
            | Instances::Flags { .. }
            | Instances::Mark
            | Instances::Objects { .. } => Generated::default(),
        }
    }
    /// How many members an enumeration has; none of any other class.
    pub fn member_count(&self) -> Option<u32> {
        match self.instances {
            Instances::Members { count, .. } => Some(count),
            Instances::Values(all) => Some(all.len() as u32),
            Instances::Flags { single, .. } => Some(single.len() as u32),
            Instances::Mark => Some(1),
            Instances::Inherited | Instances::Frozen(_) | Instances::Objects { .. } => None,
        }
    }
    /// Whether its instances are members of an enumeration that are equal where they are one.
    pub(crate) fn members_compare(&self) -> bool {
        matches!(
            self.instances,
            Instances::Members { equality: true, .. }
                | Instances::Values(_)
                | Instances::Flags { .. }
                | Instances::Mark
        )
    }
    /// Whether its instances are values: those of frozen dataclasses, and members of enumerations.
    pub fn is_value(&self) -> bool {
        matches!(
            self.instances,
            Instances::Frozen(_)
                | Instances::Members { .. }
                | Instances::Values(_)
                | Instances::Flags { .. }
                | Instances::Mark
        )
    }
    /// The number of its `k`-th member.
    pub(crate) fn member_number(&self, k: u32) -> u32 {
        let Instances::Flags { single, .. } = self.instances else { return k };
        single.get(k as usize).copied().unwrap_or_default()
    }
    /// Whether its instances are values of a `Flag`, of which there are more than members.
    pub(crate) fn has_flags(&self) -> bool {
        matches!(self.instances, Instances::Flags { .. })
    }
    /// What the members of an enumeration are beside: whole numbers or texts of Python's, as which they lie in
    /// memory.
    pub fn base_of_members(&self) -> Option<Type> {
        match self.instances {
            Instances::Values(all) => all.first().map(Const::ty),
            Instances::Flags { whole: true, .. } => Some(Type::int()),
            Instances::Inherited
            | Instances::Frozen(_)
            | Instances::Objects { .. }
            | Instances::Members { .. }
            | Instances::Flags { .. }
            | Instances::Mark => None,
        }
    }
    /// The value of a member of such an enumeration that has a number.
    pub(crate) fn value_of_member(&self, n: u32) -> Option<Const> {
        match self.instances {
            Instances::Values(all) => all.get(n as usize).cloned(),
            Instances::Flags { whole: true, .. } => Some(Const::Int(n.into())),
            Instances::Inherited
            | Instances::Frozen(_)
            | Instances::Objects { .. }
            | Instances::Members { .. }
            | Instances::Flags { .. }
            | Instances::Mark => None,
        }
    }
    /// Whether its one instance is a mark for what is not there.
    pub(crate) fn is_mark(&self) -> bool {
        matches!(self.instances, Instances::Mark)
    }
    /// Whether its instances are objects whose fields may change.
    pub fn has_objects(&self) -> bool {
        matches!(self.instances, Instances::Objects { .. })
    }
    /// Whether its instances are objects that are equal where they are one.
    pub(crate) fn objects_are_themselves(&self) -> bool {
        matches!(self.instances, Instances::Objects { identity: true, .. })
    }
    /// Whether its instances are objects of declared types that Python sees where they lie.
    pub fn is_native(&self) -> bool {
        matches!(self.instances, Instances::Objects { native: true, .. })
    }
    /// Whether it is one of the compiler's own whose instances are values that never change.
    pub fn is_builtin_value(&self) -> bool {
        self.origin == Origin::Builtin && self.is_frozen()
    }
    /// The class of that name whose values the compiler has of itself.
    pub(super) fn of_values(name: &str) -> Option<&'static ClassDef> {
        FIXED.iter().find(|c| c.name == name && c.is_builtin_value())
    }
    /// Whether its instances are values that never change.
    pub(crate) fn is_frozen(&self) -> bool {
        matches!(self.instances, Instances::Frozen(_))
    }
    pub fn is_keywords(&self) -> bool {
        self.origin == Origin::Keywords
    }
    /// The built-in exception class that it is.
    pub fn exception(&self) -> Option<exc::Class> {
        match self.origin {
            Origin::Exception(c) => Some(c),
            Origin::Builtin | Origin::Host(_) | Origin::Keywords => None,
        }
    }
    /// The number by which the host and the run-time know the class; none of what they have no name for.
    pub fn handle(&self) -> Option<u64> {
        match self.origin {
            Origin::Exception(c) => Some(c as u64),
            Origin::Host(handle) => Some(handle),
            Origin::Builtin => self.is_builtin_value().then(|| OWN_HANDLES + u64::from(self.id.0)),
            Origin::Keywords => None,
        }
    }
    /// Whether it is that class or derived from it.
    pub fn is_a(&self, base: ClassId) -> bool {
        self.mro.contains(&base)
    }
    /// Whether it is the class with that handle or derived from it, in whatever state the host told of them.
    pub fn is_a_host(&self, handle: u64) -> bool {
        self.mro.iter().any(|c| !c.is_fixed() && c.def().handle() == Some(handle))
    }
    /// Whether its MRO is another one than its bases say.
    pub(crate) fn has_own_order(&self) -> bool {
        linearise(self.id, &self.bases, &|b| &b.def().mro).is_ok_and(|mro| mro != self.mro)
    }
    /// The first class of its MRO that is known without the host: what that has, the class has too.
    pub(crate) fn fixed_base(&self) -> ClassId {
        self.mro.iter().copied().find(|c| c.is_fixed()).unwrap_or(ClassId::OBJECT)
    }
}

#[cfg(test)]
mod tests;
