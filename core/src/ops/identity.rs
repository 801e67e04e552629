//! Identities of operations: what the compiler holds in place of names.
//!
//! A name is looked up once, where a program's text says it ([`OpId::find`]). Code of the compiler that needs
//! a certain operation says the constant that the operation's family declares beside its rows (`op_ids!`),
//! which is found in the table when the compiler itself is compiled: one that no row has is an error there.

use super::effects::{Effect, Facts};
use super::{Body, FACTS, FAMILIES, OpDef};
use crate::handle::OpId;
use crate::types::class::BUILTIN;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// Names that only the compiler knows, each with the reason why no row of the table has it. No path of a
/// program means them.
pub static WITHOUT_ROWS: &[(&str, &str)] = &[
    ("parallel.region", "inference types it, lowering calls the run-time"),
    ("array.element", "inference types it: the type of what an array gives"),
    ("unroll.counted", "inference types it: what a loop that is written out went through"),
    ("namedtuple._replace", "inference carries it out: it makes a tuple of members"),
    ("namedtuple._make", "inference carries it out: it makes a tuple of members"),
    ("match.keys", "patterns do not look into dicts yet: refused where it is used"),
    ("exception.__class__", "what an exception is under another type, which compares with classes"),
    ("array._part", "a step of a chain, which fusion makes"),
    ("numpy._of_shape", "a step of a chain, which fusion makes"),
    ("numpy._reduce_several", "a step of a chain, which fusion makes"),
    ("numpy._smallest", "a step of a chain, which fusion makes"),
];

/// Augmented assignments as functions; they mean the plain operator where they have no row of their own.
static IN_PLACE: &[&str] = &[
    "operator.iadd",
    "operator.isub",
    "operator.imul",
    "operator.itruediv",
    "operator.ifloordiv",
    "operator.imod",
    "operator.ipow",
    "operator.iand",
    "operator.ior",
    "operator.ixor",
    "operator.ilshift",
    "operator.irshift",
    "operator.imatmul",
    "operator.iconcat",
];

/// Declares constants for operations of a family that code of the compiler asks for, each with what holds of
/// it whatever it is applied to ([`Facts`]), beside what holds of all of its module; all of them are found in [`crate::ops::id`].
macro_rules! op_ids {
    ($($name:ident = $path:literal $([$($fact:ident $(($how:ident))?),+])?),* $(,)?) => {
        pub(crate) mod ids {
            #[allow(unused_imports)]
            use $crate::ops::effects::{Facts, Keywords::*, Lists::*, Scalars::*};
            $(pub const $name: $crate::ops::OpId = $crate::ops::OpId::of($path);)*
            pub(crate) const FACTS: &[($crate::ops::OpId, Facts)] =
                &[$(($name, Facts::of($path)$($(.$fact($($how)?))+)?)),*];
        }
    };
}
pub(super) use op_ids;

op_ids! {
    PARALLEL_REGION = "parallel.region",
    ARRAY_ELEMENT = "array.element",
    NAMEDTUPLE_REPLACE = "namedtuple._replace",
    NAMEDTUPLE_MAKE = "namedtuple._make",
    MATCH_KEYS = "match.keys",
    EXCEPTION_CLASS = "exception.__class__",
    NUMPY_SMALLEST = "numpy._smallest",
    ISUB = "operator.isub" [computes],
    ITRUEDIV = "operator.itruediv" [computes],
    IFLOORDIV = "operator.ifloordiv" [computes],
    IMOD = "operator.imod" [computes],
    IPOW = "operator.ipow" [computes],
    IAND = "operator.iand" [computes],
    IOR = "operator.ior" [computes],
    IXOR = "operator.ixor" [computes],
    ILSHIFT = "operator.ilshift" [computes],
    IRSHIFT = "operator.irshift" [computes],
    IMATMUL = "operator.imatmul" [computes],
}
/// What the table knows of a name.
struct Entry {
    name: &'static str,
    rows: Vec<&'static OpDef>,

    /// The operator behind an augmented assignment.
    plain: Option<OpId>,
    /// The row that stands in for it where overflow raises.
    checked: Option<&'static OpDef>,
    facts: Facts,
}

struct Table {
    /// By number. A name that occurs again has an entry without rows there, which no identity means.
    entries: Vec<Entry>,
    by_name: HashMap<&'static str, OpId>,
}

/// Every name in the order of the numbers: those of the rows, then those without.
fn names() -> impl Iterator<Item = &'static str> {
    let of_rows = FAMILIES.iter().flat_map(|f| f.iter()).flat_map(|op| op.paths.iter().copied());
    of_rows.chain(IN_PLACE.iter().copied()).chain(WITHOUT_ROWS.iter().map(|(n, _)| *n))
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let (mut entries, mut by_name) = (Vec::new(), HashMap::new());
    for (k, name) in names().enumerate() {
        by_name.entry(name).or_insert(OpId(k as u16));
        let facts = Facts::of(name);
        entries.push(Entry { name, rows: vec![], plain: None, checked: None, facts });
    }
    for (id, facts) in FACTS.iter().copied().flatten() {
        entries[id.0 as usize].facts = *facts;
    }
    for op in FAMILIES.iter().flat_map(|f| f.iter()) {
        for p in op.paths {
            entries[by_name[p].0 as usize].rows.push(op);
        }
    }
    let plain = |name: &str| {
        let name = name.strip_prefix("operator.i")?;
        let found = by_name.get(format!("operator.{name}").as_str());
        found.or_else(|| by_name.get(format!("operator.{name}_").as_str())).copied()
    };
    for name in by_name.keys() {
        entries[by_name[name].0 as usize].plain = plain(name);
    }
    let checked = |name: &str| {
        // `math.pow` is another function than `**`.
        let (module, last) = name.split_once('.')?;
        let of = if module == "math" { name } else { last };
        let found = by_name.get(format!("checked.{of}").as_str());
        found.filter(|_| matches!(module, "operator" | "builtins" | "math")).copied()
    };
    for name in by_name.keys() {
        let row = checked(name).and_then(|c| entries[c.0 as usize].rows.first().copied());
        entries[by_name[name].0 as usize].checked = row;
    }
    Table { entries, by_name }
});

/// Whether two texts are equal, at compile time.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    // Names differ at their ends rather than at their beginnings.
    let mut k = a.len();
    while k > 0 {
        k -= 1;
        if a[k] != b[k] {
            return false;
        }
    }
    true
}

impl OpId {
    /// The operation of that name, for constants: a name that the table does not have is an error when this
    /// is compiled.
    pub(crate) const fn of(name: &str) -> OpId {
        let (mut number, mut f) = (0, 0);
        while f < FAMILIES.len() {
            let mut row = 0;
            while row < FAMILIES[f].len() {
                let paths = FAMILIES[f][row].paths;
                let mut k = 0;
                while k < paths.len() {
                    if same(paths[k], name) {
                        return OpId(number);
                    }
                    number += 1;
                    k += 1;
                }
                row += 1;
            }
            f += 1;
        }
        let mut k = 0;
        while k < IN_PLACE.len() {
            if same(IN_PLACE[k], name) {
                return OpId(number);
            }
            number += 1;
            k += 1;
        }
        k = 0;
        while k < WITHOUT_ROWS.len() {
            if same(WITHOUT_ROWS[k].0, name) {
                return OpId(number);
            }
            number += 1;
            k += 1;
        }
        panic!("no row has this name")
    }

    /// The operation of a Python path.
    pub fn find(path: &str) -> Option<OpId> {
        OpId::parse(path).filter(|id| (id.0 as usize) < TABLE.entries.len() - WITHOUT_ROWS.len())
    }

    /// The operation of a name, also of one that only the compiler knows: for texts of its own.
    pub(crate) fn parse(name: &str) -> Option<OpId> {
        TABLE.by_name.get(name).copied()
    }

    fn entry(self) -> &'static Entry {
        &TABLE.entries[self.0 as usize]
    }

    /// Its Python path.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The rows, in the order in which they are tried.
    pub fn rows(self) -> &'static [&'static OpDef] {
        &self.entry().rows
    }

    /// What holds of it whatever it is applied to.
    pub(crate) fn facts(self) -> &'static Facts {
        &self.entry().facts
    }

    /// The operator behind an augmented assignment.
    pub(crate) fn plain(self) -> Option<OpId> {
        self.entry().plain
    }

    /// The row that stands in for an operator, a builtin or a function of `math` where overflow raises: that
    /// of its name in the family `checked`.
    pub(crate) fn checked(self) -> Option<&'static OpDef> {
        self.entry().checked
    }

    /// Whether only the compiler and its library ask for it.
    pub fn is_internal(self) -> bool {
        !self.rows().is_empty() && self.rows().iter().all(|op| op.internal)
    }

    /// Whether it is a universal function of NumPy's, with the methods of one.
    pub(crate) fn is_ufunc(self) -> bool {
        self.facts().makes_arrays
            && self.rows().iter().any(|op| matches!(op.body, Body::Ufunc(..)) && op.has_out())
    }

    /// Whether a call of it with so many operands does nothing but compute: a universal function may also be
    /// handed the array for its result.
    pub(crate) fn computes_alone(self, operands: usize) -> bool {
        let mut loops = self.rows().iter().filter(|op| matches!(op.body, Body::Ufunc(..)));
        (self.facts().computes || self.is_elementwise())
            && loops.all(|op| operands <= op.spec().params.len() - op.has_out() as usize)
    }

    /// Whether a row of it is a loop over scalars, which broadcasts.
    pub(crate) fn is_elementwise(self) -> bool {
        self.rows().iter().any(|op| matches!(op.body, Body::Ufunc(..)))
    }
}

/// Whether methods of that name, of whatever class, are done with what they are given when they return. Of a
/// name that no class has nothing is known.
pub(crate) fn method_consumes(name: &str) -> bool {
    let mut methods = methods(name).peekable();
    methods.peek().is_some() && methods.all(|op| !op.facts().keeps)
}

/// Whether an operation gives the same again as long as nobody changes what it is given, and changes nothing
/// itself.
pub(crate) fn only_reads(op: OpId) -> bool {
    let mut rows = op.rows().iter().peekable();
    !op.facts().draws && rows.peek().is_some() && rows.all(|row| row.effect != Effect::Writes)
}

/// Whether methods of that name, of whatever class, do no more than that. Of a name that no class has nothing
/// is known.
pub(crate) fn method_reads(name: &str) -> bool {
    let mut methods = methods(name).peekable();
    methods.peek().is_some() && methods.all(only_reads)
}

/// Whether a class of Python's or of NumPy's has a method of that name.
pub(crate) fn is_method_of_table(name: &str) -> bool {
    methods(name).next().is_some()
}

fn methods(name: &str) -> impl Iterator<Item = OpId> {
    let paths = BUILTIN.iter().flat_map(|class| class.paths);
    paths.filter_map(move |path| OpId::find(&format!("{path}.{name}")))
}

/// Whether an attribute of that name says of an array only what it is like: its shape, its dtype.
pub(crate) fn describes(attribute: &str) -> bool {
    OpId::find(&format!("array.{attribute}")).is_some_and(|op| op.facts().describes)
}

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
impl fmt::Debug for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Every operation that has a Python path, in the order of the table.
pub fn all() -> impl Iterator<Item = OpId> {
    let count = TABLE.entries.len() - WITHOUT_ROWS.len();
    (0..count as u16).map(OpId).filter(|id| TABLE.by_name[id.name()] == *id)
}

#[cfg(test)]
mod tests {
    use super::super::id;
    use super::*;

    /// Those that say for some types what the others would say, and refuse what is none of theirs.
    const BESIDE: [&str; 3] = ["list.index", "list.extend", "format.value"];

    /// A row of the compiler's own beside those of a program's method would be taken for one of them.
    #[test]
    fn rows_of_one_name_are_all_for_programs_or_none() {
        let mixed: Vec<&str> = all()
            .filter(|op| op.rows().iter().any(|row| row.internal) && !op.is_internal())
            .map(|op| op.name())
            .filter(|name| !BESIDE.contains(name))
            .collect();
        assert!(mixed.is_empty(), "{mixed:?}");
    }

    #[test]
    fn constants_are_what_is_found_by_name() {
        for name in names() {
            assert_eq!(OpId::parse(name), Some(OpId::of(name)));
            assert_eq!(OpId::of(name).name(), name);
        }
        assert_eq!(OpId::find("operator.add"), Some(id::ADD));
        for (name, _) in WITHOUT_ROWS {
            assert_eq!(OpId::find(name), None, "a row has it");
        }
        assert_eq!(OpId::find("numpy.nothing"), None);
        assert_eq!(id::IADD.plain(), Some(id::ADD));
        assert_eq!(id::IAND.plain(), Some(id::AND));
        assert_eq!(id::IS.plain(), None);
    }
}
