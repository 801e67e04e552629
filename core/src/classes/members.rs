//! Members of the classes that are known without the host, made of the rows of the operation table.

use crate::host::ClassAttr;
use crate::ops::{self, OpId, id};
use crate::types::class::{BUILTIN, ClassDef, ClassId};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a class has under a name.
#[derive(Clone, Debug)]
pub enum Member {
    /// An operation whose first operand is an instance.
    Method(OpId),
    /// An operation that is given neither an instance nor a class.
    StaticMethod(OpId),
    /// An operation whose first operand is a class.
    ClassMethod(OpId),
    /// What an operation gives for an instance.
    Property(OpId),
    /// What an operation gives that is given nothing.
    Constant(OpId),
    /// The field of a named tuple with that number.
    Field(u32),
    /// `__name__` of a class or a function.
    Name,
    /// `__qualname__` of a class.
    QualifiedName,
    /// What the host found in one of its classes.
    Host(ClassAttr),
}

#[derive(Default)]
struct Tables {
    /// What each class has itself, by its number.
    members: Vec<HashMap<&'static str, Member>>,
    /// What assigns to an attribute.
    setters: Vec<HashMap<&'static str, OpId>>,
    /// Class objects.
    objects: HashMap<OpId, ClassId>,
    /// Classes of what an operation gives that is not called: `a.flags`.
    given: HashMap<OpId, ClassId>,
    /// Whose instances a method of numbers takes: taken from a class (`int.conjugate`) it may be given
    /// anything, and its row reads a number's leaves.
    receivers: HashMap<OpId, Vec<ClassId>>,
}

/// What stands before names of methods of numbers.
const OF_NUMBERS: &[&str] = &["int", "bool", "float", "complex", "number", "generic"];

/// Members that no row stands for: inference carries them out.
const OF_INFERENCE: &[(ClassId, &str, Member)] = &[
    (ClassId::OBJECT, "__class__", Member::Property(id::BUILTINS_TYPE)),
    (ClassId::TYPE, "__name__", Member::Name),
    (ClassId::TYPE, "__qualname__", Member::QualifiedName),
    (ClassId::FUNCTION, "__name__", Member::Name),
    (ClassId::METHOD, "__name__", Member::Name),
    (ClassId::BUILTIN_FUNCTION, "__name__", Member::Name),
    (ClassId::UFUNC, "__name__", Member::Name),
    (ClassId::DTYPE, "__name__", Member::Name),
    (ClassId::NAMED_TUPLE, "_replace", Member::Method(id::NAMEDTUPLE_REPLACE)),
    (ClassId::NAMED_TUPLE, "_make", Member::ClassMethod(id::NAMEDTUPLE_MAKE)),
    (ClassId::NAMED_TUPLE, "_asdict", Member::Method(id::NAMEDTUPLE_ASDICT)),
];

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let builtin = || BUILTIN.iter().enumerate().filter_map(|(k, row)| Some((ClassId::of_number(k)?, row)));
    // Exceptions have the rows of the class that all of them derive from.
    let exceptions = (ClassId::BASE_EXCEPTION, "exception");
    let mut by_path: HashMap<&str, Vec<ClassId>> = HashMap::new();
    for (class, path) in
        builtin().flat_map(|(c, row)| row.paths.iter().map(move |p| (c, *p))).chain([exceptions])
    {
        by_path.entry(path).or_default().push(class);
    }
    let count = ClassId::FIXED;
    let mut tables = Tables {
        members: (0..count).map(|_| HashMap::new()).collect(),
        setters: (0..count).map(|_| HashMap::new()).collect(),
        ..Tables::default()
    };
    for (class, row) in builtin() {
        tables.objects.extend(row.object.and_then(OpId::find).map(|op| (op, class)));
        tables.given.extend(row.paths.iter().filter_map(|p| Some((OpId::parse(p)?, class))));
    }
    for op in ops::all() {
        if let Some((path, _)) = op.name().rsplit_once('.')
            && OF_NUMBERS.contains(&path)
            && !op.rows().iter().any(|row| row.of_class)
        {
            tables.receivers.insert(op, by_path.get(path).cloned().unwrap_or_default());
        }
    }
    let mut add = |class: ClassId, name: &'static str, op: OpId| {
        let k = class.number();
        if let Some(name) = name.strip_suffix('=') {
            tables.setters[k].insert(name, op);
            return;
        }
        let is = |what: fn(&ops::OpDef) -> bool| op.rows().iter().any(|row| what(row));
        let member = match (is(|row| row.property), is(|row| row.of_class)) {
            (true, true) => Member::Constant(op),
            (true, false) => Member::Property(op),
            (false, true) => Member::StaticMethod(op),
            (false, false) => Member::Method(op),
        };
        tables.members[k].entry(name).or_insert(member);
    };
    // What paths say of one class comes before what several share.
    let mut shared = vec![];
    for op in ops::all() {
        let Some((path, name)) = op.name().rsplit_once('.') else { continue };
        for class in by_path.get(path).into_iter().flatten() {
            let row = BUILTIN.get(class.number());
            if row.is_none_or(|row| row.paths.first() == Some(&path)) {
                add(*class, name, op);
            } else {
                shared.push((*class, name, op));
            }
        }
        if let Some(name) = of_scalars(op) {
            shared.extend(by_path["generic"].iter().map(|class| (*class, name, op)));
        }
    }
    shared.extend(super::slots::of_builtin());
    for (class, name, op) in shared {
        add(class, name, op);
    }
    for (class, name, member) in OF_INFERENCE {
        tables.members[class.number()].insert(name, member.clone());
    }
    tables
});

/// The name under which NumPy's scalars have a function of NumPy, as its arrays do.
fn of_scalars(op: OpId) -> Option<&'static str> {
    let name = op.name().strip_prefix("numpy.")?;
    let of_arrays = || OpId::find(&format!("array.{name}")).is_some();
    (op.rows().iter().any(|row| row.of_scalars) && of_arrays()).then_some(name)
}

/// What a class has under a name, itself or from a base; only what is known without the host.
pub fn known(class: &ClassDef, name: &str) -> Option<&'static Member> {
    let tables = &*TABLES;
    class.mro.iter().filter_map(|c| tables.members.get(c.number())).find_map(|own| own.get(name))
}

/// Whether an operation takes values of a class as its first operand; true where that is the row's to say.
pub fn takes(op: OpId, class: &ClassDef) -> bool {
    TABLES.receivers.get(&op).is_none_or(|all| class.mro.iter().any(|c| all.contains(c)))
}

/// What assigns to an attribute of values of a class.
pub fn setter(class: &ClassDef, name: &str) -> Option<OpId> {
    let tables = &*TABLES;
    class.mro.iter().filter_map(|c| tables.setters.get(c.number())).find_map(|own| own.get(name)).copied()
}

/// Every name that is known without the host.
pub fn names(class: &ClassDef) -> impl Iterator<Item = &'static str> {
    let tables = &*TABLES;
    let all = class.mro.iter().filter_map(|c| tables.members.get(c.number()));
    all.flat_map(|own| own.iter()).filter(|(_, m)| !m.is_internal()).map(|(name, _)| *name)
}

/// What stands before names of the class in paths of the table.
pub fn path_of(class: &ClassDef) -> &'static str {
    BUILTIN.get(class.fixed_base().number()).and_then(|row| row.paths.first()).unwrap_or(&"object")
}

/// The class that an operation is the class object of.
pub fn object(op: OpId) -> Option<ClassId> {
    TABLES.objects.get(&op).copied()
}

/// The class object of a class, where the operation table has it.
pub fn object_of(class: ClassId) -> Option<OpId> {
    BUILTIN.get(class.number())?.object.and_then(OpId::find)
}

/// The class of what an operation gives that is not called.
pub(super) fn given(op: OpId) -> Option<ClassId> {
    TABLES.given.get(&op).copied()
}

impl Member {
    /// Whether only the compiler and its library ask for it.
    pub(crate) fn is_internal(&self) -> bool {
        match self {
            Member::Method(op)
            | Member::StaticMethod(op)
            | Member::ClassMethod(op)
            | Member::Constant(op)
            | Member::Property(op) => op.is_internal(),
            Member::Field(_) | Member::Name | Member::QualifiedName | Member::Host(_) => false,
        }
    }
}
