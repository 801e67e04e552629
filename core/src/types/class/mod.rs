//! Classes: who they are. A [`ClassDef`] is one class of Python's, of NumPy's or of the user's: its name, its
//! bases, the order in which attributes are looked for, its fields. Made once and never changed, so a
//! `&'static ClassDef` is the class.
//!
//! What a class has under a name, and which class the values of a type have, is in [`crate::classes`].

mod builtin;
mod mro;

use crate::exc;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, RwLock};

pub use builtin::{BUILTIN, Row};
pub use mro::{Conflict, linearise};

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

/// One class.
#[derive(Debug)]
pub struct ClassDef {
    pub id: ClassId,
    /// As its `__name__` says it.
    pub name: String,
    pub origin: Origin,
    pub bases: Vec<ClassId>,
    /// Where attributes are looked for, in this order: the class itself first.
    pub mro: Vec<ClassId>,
    /// Field names of a named tuple; empty otherwise.
    pub fields: Vec<String>,
    /// Fields of a named tuple that its class has something else for under their names, and
    /// `__getattribute__` where it has one of its own.
    pub shadowed: Vec<String>,
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

/// Classes that the compiler knows without the host, by their numbers.
static FIXED: LazyLock<Vec<ClassDef>> = LazyLock::new(|| {
    let mut all: Vec<ClassDef> = vec![];
    let rows = BUILTIN.iter().map(|row| (row.name, Origin::Builtin, row.bases.to_vec()));
    let exceptions = exc::Class::ALL.iter().map(|c| {
        let bases: Vec<ClassId> = c.bases().iter().map(|b| ClassId::of_exception(*b)).collect();
        let bases = if bases.is_empty() { vec![ClassId::OBJECT] } else { bases };
        (c.name(), Origin::Exception(*c), bases)
    });
    for (k, (name, origin, bases)) in rows.chain(exceptions).enumerate() {
        let id = ClassId(k as u32);
        let mro = linearise(id, &bases, &|b| &all[b.0 as usize].mro);
        let mro = mro.expect("the tables of classes name bases that agree");
        all.push(ClassDef { id, name: name.into(), origin, bases, mro, fields: vec![], shadowed: vec![] });
    }
    all
});

/// Classes that the host told of, and those of `**kwargs`; their numbers go on behind [`FIXED`].
static MADE: LazyLock<RwLock<Made>> = LazyLock::new(Default::default);

#[derive(Default)]
struct Made {
    all: Vec<&'static ClassDef>,
    by_handle: HashMap<u64, &'static ClassDef>,
    keywords: HashMap<Vec<String>, &'static ClassDef>,
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
    pub const FIXED: usize = BUILTIN.len() + exc::Class::ALL.len();
    pub const BASE_EXCEPTION: ClassId = ClassId(BUILTIN.len() as u32 + exc::Class::BaseException as u32);

    pub fn number(self) -> usize {
        self.0 as usize
    }
    /// The class with that number, of those that are known without the host.
    pub fn of_number(k: usize) -> Option<ClassId> {
        (k < ClassId::FIXED).then_some(ClassId(k as u32))
    }
    pub fn is_fixed(self) -> bool {
        self.number() < ClassId::FIXED
    }
}

/// What the host tells of a class.
pub struct HostClass {
    pub handle: u64,
    pub name: String,
    pub bases: Vec<ClassId>,
    pub fields: Vec<String>,
    pub shadowed: Vec<String>,
}

impl ClassDef {
    /// The class of the host with that handle, made when it is first told of.
    pub fn of_host(class: HostClass) -> Result<&'static ClassDef, Conflict> {
        let HostClass { handle, name, bases, fields, shadowed } = class;
        let mut made = MADE.write().unwrap_or_else(|e| e.into_inner());
        if let Some(c) = made.by_handle.get(&handle)
            && (&c.name, &c.bases, &c.fields, &c.shadowed) == (&name, &bases, &fields, &shadowed)
        {
            return Ok(c);
        }
        let next = ClassId((ClassId::FIXED + made.all.len()) as u32);
        let mro = linearise(next, &bases, &|b| match FIXED.get(b.0 as usize) {
            Some(c) => &c.mro,
            None => &made.all[b.0 as usize - ClassId::FIXED].mro,
        })?;
        let origin = Origin::Host(handle);
        let class = made.add(|id| ClassDef { id, name, origin, bases, mro, fields, shadowed });
        made.by_handle.insert(handle, class);
        Ok(class)
    }
    /// The class behind a handle: a built-in exception, or one that the host told of.
    pub fn of_handle(handle: u64) -> Option<&'static ClassDef> {
        match exc::Class::from_handle(handle) {
            Some(c) => Some(ClassId::of_exception(c).def()),
            None => MADE.read().unwrap_or_else(|e| e.into_inner()).by_handle.get(&handle).copied(),
        }
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
        let bases = vec![ClassId::DICT];
        let class = made.add(|id| ClassDef {
            id,
            name: "kwargs".into(),
            origin: Origin::Keywords,
            mro: [&[id], &*ClassId::DICT.def().mro].concat(),
            bases,
            fields: fields.clone(),
            shadowed: vec![],
        });
        made.keywords.insert(fields, class);
        class
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
            Origin::Builtin | Origin::Keywords => None,
        }
    }
    /// Whether it is that class or derived from it.
    pub fn is_a(&self, base: ClassId) -> bool {
        self.mro.contains(&base)
    }
    /// The first class of its MRO that is known without the host: what that has, the class has too.
    pub fn fixed_base(&self) -> ClassId {
        self.mro.iter().copied().find(|c| c.is_fixed()).unwrap_or(ClassId::OBJECT)
    }
}

#[cfg(test)]
mod tests;
