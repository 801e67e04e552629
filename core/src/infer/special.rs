//! Special methods: what operators, built-in functions and loops do with a named tuple whose class says so
//! itself.
//!
//! Python asks the class of an operand before it does what tuples do, and so does this. What only takes the
//! members of a tuple where Python would ask is not done to such a value: another row of the table is tried,
//! and else the operation is refused. Nothing a class defines is passed over.

use super::call::Source;
use super::solve::Solver;
use crate::diag::{Code, Diagnostic, Result};
use crate::host::{ClassAttr, GlobalValue};
use crate::ops::{OpId, id};
use crate::ssa::Inst;
use crate::types::{ClassInfo, Const, Kind, Type};

type Typed = Result<(Type, Option<Const>, bool)>;

/// What is done with the answer of a special method: it is the operation's, or a function of
/// `tierup.lib.special` asks and makes one of it.
#[derive(Clone, Copy)]
enum How {
    Direct,
    Library(&'static str),
}
use How::{Direct, Library};

/// Methods of the first operand, the first of which is asked that the class has.
fn of_first(path: OpId) -> &'static [(&'static str, How)] {
    match path {
        id::NEG => &[("__neg__", Direct)],
        id::POS => &[("__pos__", Direct)],
        id::INVERT | id::INV => &[("__invert__", Direct)],
        id::BUILTINS_ABS | id::ABS => &[("__abs__", Direct)],
        id::BUILTINS_LEN => &[("__len__", Library("special.length"))],
        id::TRUTH | id::BUILTINS_BOOL => {
            &[("__bool__", Library("special.truth")), ("__len__", Library("special.has_length"))]
        }
        id::NOT => {
            &[("__bool__", Library("special.falsehood")), ("__len__", Library("special.has_no_length"))]
        }
        id::BUILTINS_HASH => &[("__hash__", Library("special.hashed"))],
        id::BUILTINS_INT => &[
            ("__int__", Library("special.integer")),
            ("__index__", Library("special.index")),
            ("__trunc__", Direct),
        ],
        id::BUILTINS_FLOAT => {
            &[("__float__", Library("special.floating")), ("__index__", Library("special.floating_index"))]
        }
        id::BUILTINS_COMPLEX => &[
            ("__complex__", Library("special.complex_number")),
            ("__float__", Library("special.complex_of_float")),
            ("__index__", Library("special.complex_of_index")),
        ],
        id::INDEX => &[("__index__", Library("special.index"))],
        id::BUILTINS_STR => {
            &[("__str__", Library("special.text")), ("__repr__", Library("special.representation"))]
        }
        id::BUILTINS_REPR => &[("__repr__", Library("special.representation"))],
        id::BUILTINS_ROUND => &[("__round__", Direct)],
        id::MATH_FLOOR => &[("__floor__", Direct)],
        id::MATH_CEIL => &[("__ceil__", Direct)],
        id::MATH_TRUNC => &[("__trunc__", Direct)],
        id::BUILTINS_ITER | id::ITER_OBJECT => &[("__iter__", Direct)],
        id::BUILTINS_NEXT => &[("__next__", Direct)],
        id::BUILTINS_REVERSED => &[("__reversed__", Direct)],
        id::GETITEM => &[("__getitem__", Direct)],
        id::SETITEM => &[("__setitem__", Direct)],
        id::DELITEM => &[("__delitem__", Direct)],
        id::CONTAINS => &[("__contains__", Library("special.contains"))],
        id::IADD => &[("__iadd__", Direct)],
        id::ISUB => &[("__isub__", Direct)],
        id::IMUL => &[("__imul__", Direct)],
        id::ITRUEDIV => &[("__itruediv__", Direct)],
        id::IFLOORDIV => &[("__ifloordiv__", Direct)],
        id::IMOD => &[("__imod__", Direct)],
        id::IPOW => &[("__ipow__", Direct)],
        id::IMATMUL => &[("__imatmul__", Direct)],
        id::IAND => &[("__iand__", Direct)],
        id::IOR => &[("__ior__", Direct)],
        id::IXOR => &[("__ixor__", Direct)],
        id::ILSHIFT => &[("__ilshift__", Direct)],
        id::IRSHIFT => &[("__irshift__", Direct)],
        _ => &[],
    }
}

/// The method of the left operand of an operator, that of the right one, and whether it compares.
fn of_two(path: OpId) -> Option<(&'static str, &'static str, bool)> {
    Some(match path {
        id::ADD => ("__add__", "__radd__", false),
        id::SUB => ("__sub__", "__rsub__", false),
        id::MUL => ("__mul__", "__rmul__", false),
        id::TRUEDIV => ("__truediv__", "__rtruediv__", false),
        id::FLOORDIV => ("__floordiv__", "__rfloordiv__", false),
        id::MOD => ("__mod__", "__rmod__", false),
        id::POW | id::BUILTINS_POW => ("__pow__", "__rpow__", false),
        id::MATMUL => ("__matmul__", "__rmatmul__", false),
        id::AND => ("__and__", "__rand__", false),
        id::OR => ("__or__", "__ror__", false),
        id::XOR => ("__xor__", "__rxor__", false),
        id::LSHIFT => ("__lshift__", "__rlshift__", false),
        id::RSHIFT => ("__rshift__", "__rrshift__", false),
        id::BUILTINS_DIVMOD => ("__divmod__", "__rdivmod__", false),
        id::EQ => ("__eq__", "__eq__", true),
        id::NE => ("__ne__", "__ne__", true),
        id::LT => ("__lt__", "__gt__", true),
        id::LE => ("__le__", "__ge__", true),
        id::GT => ("__gt__", "__lt__", true),
        id::GE => ("__ge__", "__le__", true),
        _ => return None,
    })
}

const ITERATED: &[&str] = &["__iter__"];
const SHOWN: &[&str] = &["__str__", "__repr__", "__format__"];
const ARRAYS: &[&str] = &[
    "__len__",
    "__getitem__",
    "__iter__",
    "__array__",
    "__array_ufunc__",
    "__array_function__",
    "__array_interface__",
    "__array_struct__",
    "__array_priority__",
    "__float__",
    "__int__",
    "__complex__",
    "__index__",
    "__bool__",
    "__abs__",
    "__neg__",
];

/// What Python asks of an operand that the rows of the table take for a plain tuple. The flag says that
/// library functions do so as well.
fn asked_of_tuple(path: OpId) -> (&'static [&'static str], bool) {
    match path {
        id::BUILTINS_LIST
        | id::BUILTINS_TUPLE
        | id::BUILTINS_ENUMERATE
        | id::BUILTINS_ZIP
        | id::UNPACK_SEQUENCE
        | id::UNPACK_EX
        | id::SPREAD_EXTEND
        | id::LIST_EXTEND
        | id::BUILTINS_SUM
        | id::BUILTINS_MIN
        | id::BUILTINS_MAX
        | id::BUILTINS_SORTED
        | id::BUILTINS_ANY
        | id::BUILTINS_ALL
        | id::BUILTINS_MAP
        | id::BUILTINS_FILTER
        | id::STR_JOIN
        | id::SETITEM => (ITERATED, false),
        id::BUILTINS_REVERSED => (&["__len__", "__getitem__"], true),
        id::MATCH_SEQUENCE => (&["__len__", "__getitem__"], true),
        id::BUILTINS_PRINT => (SHOWN, true),
        id::BUILTINS_ASCII => (&["__repr__"], true),
        // The text of a named tuple is made of its members, whatever its class says of going through it.
        id::BUILTINS_STR | id::BUILTINS_REPR | id::FORMAT_VALUE => {
            (&["__iter__", "__len__", "__getitem__", "__str__", "__repr__", "__format__"], true)
        }
        _ if path.is_numpys() => (ARRAYS, true),
        _ => (&[], false),
    }
}

/// What Python asks of what lies in a container, where a row compares or shows it by itself.
fn asked_of_elements(path: OpId) -> &'static [&'static str] {
    match path {
        id::EQ
        | id::NE
        | id::CONTAINS
        | id::LIST_INDEX
        | id::LIST_COUNT
        | id::LIST_REMOVE
        | id::TUPLE_INDEX
        | id::TUPLE_COUNT => &["__eq__", "__ne__"],
        id::LT | id::LE | id::GT | id::GE | id::LIST_SORT | id::LIST_SORT_BY_KEYS => {
            &["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]
        }
        id::BUILTINS_HASH => &["__hash__"],
        id::BUILTINS_STR | id::BUILTINS_REPR | id::BUILTINS_ASCII | id::BUILTINS_PRINT | id::FORMAT_VALUE => {
            SHOWN
        }
        _ if path.is_numpys() => ARRAYS,
        _ => &[],
    }
}

/// The class of a named tuple.
fn class_of(t: Type) -> Option<&'static ClassInfo> {
    match t.kind() {
        Kind::NamedTuple(c, _) if !c.is_keywords() => Some(c),
        _ => None,
    }
}

/// Classes of named tuples in a type, the outermost not among them.
fn classes_inside(t: Type, out: &mut Vec<&'static ClassInfo>) {
    let parts = match t.kind() {
        Kind::Optional(x) | Kind::List(x) => std::slice::from_ref(x),
        Kind::Tuple(m) | Kind::NamedTuple(_, m) | Kind::Variant(m) => m,
        _ => &[],
    };
    for part in parts {
        out.extend(class_of(*part));
        classes_inside(*part, out);
    }
}

/// Whether a type is that of a named tuple, or has one in it.
pub fn has_classes(t: Type) -> bool {
    match t.kind() {
        Kind::NamedTuple(c, m) => !c.is_keywords() || m.iter().any(|t| has_classes(*t)),
        Kind::Optional(x) | Kind::List(x) => has_classes(*x),
        Kind::Tuple(m) | Kind::Variant(m) => m.iter().any(|t| has_classes(*t)),
        _ => false,
    }
}

/// Which rows may carry out an operation.
#[derive(Clone, Copy, PartialEq)]
pub enum Rows {
    All,
    Library,
    None,
}

impl Solver<'_, '_> {
    /// Whether a class has a method of that name itself, not from tuple.
    fn has_own(&self, class: &ClassInfo, name: &str) -> Option<ClassAttr> {
        self.session.host.class_attr(class, name)
    }

    /// An operation as the classes of its operands define it; none where they say nothing.
    pub fn special(&mut self, i: Inst, path: OpId, args: &[Source]) -> Option<Typed> {
        let types: Vec<Type> =
            args.iter().take(2).map(|s| self.source_arg(s).map_or(Type::never(), |a| a.ty)).collect();
        let first = *types.first()?;
        // A value that may be None or of several types is asked once it is known what it is.
        for (k, t) in types.iter().enumerate() {
            let several = matches!(t.kind(), Kind::Optional(_) | Kind::Variant(_));
            if !several || !self.may_be_asked(path, *t, k) {
                continue;
            }
            let (on, all) = (args[k].clone(), args.to_vec());
            return Some(self.dispatch(i, &on, &mut |s, way| {
                let mut each = all.clone();
                each[k] = way.clone();
                s.rows(i, path, each, vec![])
            }));
        }
        if let Some(class) = class_of(first) {
            if path == id::FORMAT_VALUE {
                return self.formatted(i, class, args);
            }
            for (name, how) in of_first(path) {
                let Some(attr) = self.has_own(class, name) else { continue };
                return Some(self.ask(i, class, name, attr, *how, args));
            }
        }
        let (of_left, of_right, compares) = of_two(path)?;
        let second = *types.get(1)?;
        if args.len() != 2 {
            return None;
        }
        let left = class_of(first).and_then(|c| Some((c, self.has_own(c, of_left)?)));
        let right = class_of(second).and_then(|c| Some((c, self.has_own(c, of_right)?)));
        if left.is_none() && right.is_none() {
            return None;
        }
        // Arrays have their own ways with what stands beside them.
        if right.is_some()
            && left.is_none()
            && (first.as_array().is_some() || first.is_number() && !first.is_weak())
        {
            let (class, _) = right?;
            return Some(Err(self.cannot(
                class,
                of_right,
                "an array or a number of NumPy on the left asks it in ways of its own",
            )));
        }
        // The right operand is asked first where its class is derived from the left one's.
        let derived = match (first.kind(), class_of(second)) {
            (Kind::Tuple(_), Some(_)) => true,
            (Kind::NamedTuple(a, _), Some(b)) => a.handle != b.handle && self.session.host.derives(b, a),
            _ => false,
        };
        let reflected = |s: &mut Self, (class, attr)| {
            Some(s.ask(i, class, of_right, attr, Direct, &[args[1].clone(), args[0].clone()]))
        };
        match (left, right) {
            (_, Some(r)) if derived => reflected(self, r),
            (Some((class, attr)), _) => Some(self.ask(i, class, of_left, attr, Direct, args)),
            // Tuples compare and add to tuples themselves.
            (None, Some(r)) => {
                let own = class_of(first).is_some()
                    && (compares
                        || matches!(of_left, "__add__" | "__mul__")
                            && class_of(first).is_some_and(|c| self.has_own(c, of_right).is_some()));
                if own { None } else { reflected(self, r) }
            }
            (None, None) => None,
        }
    }

    /// Whether what may stand at operand `k` has a method that an operation asks for.
    fn may_be_asked(&self, path: OpId, t: Type, k: usize) -> bool {
        let of_two = of_two(path);
        let mut names: Vec<&str> =
            of_two.iter().map(|(left, right, _)| if k == 0 { *left } else { *right }).collect();
        if k == 0 {
            names.extend(of_first(path).iter().map(|(name, _)| *name));
        }
        if k == 0 && path == id::FORMAT_VALUE {
            names.extend(SHOWN);
        }
        if names.is_empty() {
            return false;
        }
        let direct: Vec<Type> = match t.kind() {
            Kind::Optional(t) => match t.kind() {
                Kind::Variant(m) => m.clone(),
                _ => vec![*t],
            },
            Kind::Variant(m) => m.clone(),
            _ => vec![],
        };
        direct.iter().filter_map(|t| class_of(*t)).any(|c| names.iter().any(|n| self.has_own(c, n).is_some()))
    }

    /// Calls a special method.
    fn ask(
        &mut self,
        i: Inst,
        class: &'static ClassInfo,
        name: &str,
        attr: ClassAttr,
        how: How,
        args: &[Source],
    ) -> Typed {
        let f = match attr {
            ClassAttr::Method(f) => f,
            ClassAttr::Value(GlobalValue::Const(Const::None)) if name == "__hash__" => {
                return Err(Diagnostic::new(
                    Code::NoMatchingOperation,
                    format!("unhashable type: '{}'", class.name),
                )
                .help("a class that defines __eq__ has a hash only if it defines __hash__ too"));
            }
            ClassAttr::Value(_)
            | ClassAttr::Computed(_)
            | ClassAttr::ClassMethod(_)
            | ClassAttr::Property(_) => {
                return Err(self.cannot(class, name, "it is no plain function of the class"));
            }
        };
        match how {
            // Only the operands that were written: the table has more, with defaults.
            Direct => {
                let given: Vec<Source> = args
                    .iter()
                    .enumerate()
                    .filter(|(k, s)| {
                        *k == 0 || name != "__round__" || !matches!(s, Source::Const(Const::None))
                    })
                    .map(|(_, s)| s.clone())
                    .collect();
                self.call(i, &Source::Global(GlobalValue::Function(f)), given, vec![])
            }
            Library(path) => {
                let func = self.session.host.library(path)?;
                self.call_function(i, func, args.to_vec(), true)
            }
        }
    }

    /// `f"{x}"`, with a conversion or a specification.
    fn formatted(&mut self, i: Inst, class: &'static ClassInfo, args: &[Source]) -> Option<Typed> {
        let conversion = args.get(1).and_then(|s| self.source_arg(s).ok()?.int()).unwrap_or(0);
        let spec = args.get(2).and_then(|s| self.source_arg(s).ok());
        let plain = spec.as_ref().is_none_or(|s| s.is_none() || s.text() == Some(""));
        let of = |s: &mut Self, name: &'static str, how: How, args: &[Source]| {
            Some((name, how, s.has_own(class, name)?, args.to_vec()))
        };
        let text = if plain { Source::Const(Const::Str("".into())) } else { args[2].clone() };
        let found = match conversion {
            0 => of(self, "__format__", Direct, &[args[0].clone(), text])
                .or_else(|| of(self, "__str__", Library("special.text"), &args[..1]))
                .or_else(|| of(self, "__repr__", Library("special.representation"), &args[..1])),
            1 => of(self, "__str__", Library("special.text"), &args[..1])
                .or_else(|| of(self, "__repr__", Library("special.representation"), &args[..1])),
            _ => of(self, "__repr__", Library("special.representation"), &args[..1]),
        };
        let (name, how, attr, args) = found?;
        if !plain && name != "__format__" || conversion > 2 {
            return Some(Err(self.cannot(
                class,
                name,
                "a format that changes its text is not compiled for it",
            )));
        }
        Some(self.ask(i, class, name, attr, how, &args))
    }

    /// `x(...)` of a named tuple.
    pub fn special_call(
        &mut self,
        i: Inst,
        class: &'static ClassInfo,
        callee: &Source,
        positional: Vec<Source>,
        named: Vec<(std::sync::Arc<str>, Source)>,
    ) -> Option<Typed> {
        match self.has_own(class, "__call__")? {
            ClassAttr::Method(f) => Some(self.call(
                i,
                &Source::Global(GlobalValue::Function(f)),
                std::iter::once(callee.clone()).chain(positional).collect(),
                named,
            )),
            ClassAttr::Value(_)
            | ClassAttr::Computed(_)
            | ClassAttr::ClassMethod(_)
            | ClassAttr::Property(_) => {
                Some(Err(self.cannot(class, "__call__", "it is no plain function of the class")))
            }
        }
    }

    /// What rows may do with these operands, and why no more than that.
    pub fn rows_for(&mut self, path: OpId, args: &[Source]) -> Result<(Rows, Option<Diagnostic>)> {
        let (of_tuple, in_library) = asked_of_tuple(path);
        let inside = asked_of_elements(path);
        if of_tuple.is_empty() && inside.is_empty() {
            return Ok((Rows::All, None));
        }
        for t in args.iter().filter_map(|s| self.source_arg(s).ok()).map(|a| a.ty).collect::<Vec<_>>() {
            if let Some(class) = class_of(t)
                && let Some(name) = of_tuple.iter().find(|n| self.has_own(class, n).is_some())
            {
                return Ok((
                    if in_library { Rows::None } else { Rows::Library },
                    Some(self.passed_over(class, name, path.name())),
                ));
            }
            let mut classes = vec![];
            if !inside.is_empty() {
                classes_inside(self.session.resolve(t), &mut classes);
            }
            for class in classes {
                let Some(name) = inside.iter().find(|n| self.has_own(class, n).is_some()) else { continue };
                return Ok((
                    if path.is_numpys() { Rows::None } else { Rows::Library },
                    Some(self.passed_over(class, name, path.name())),
                ));
            }
        }
        Ok((Rows::All, None))
    }

    /// Library functions that take a named tuple apart count on its members being where a tuple has them.
    pub fn taken_apart(&self, path: OpId, args: &[Source], types: &[Type]) -> Option<Diagnostic> {
        let name = match path {
            id::BUILTINS_LEN => "__len__",
            id::GETITEM => "__getitem__",
            _ => return None,
        };
        let class =
            class_of(*types.first()?).filter(|_| !args.is_empty() && self.session.is_library(self.func))?;
        self.has_own(class, name).map(|_| self.passed_over(class, name, "this function"))
    }

    /// Why a named tuple cannot be spread into arguments.
    pub fn special_spread(&self, t: Type) -> Option<Diagnostic> {
        let class = class_of(t)?;
        self.has_own(class, "__iter__").map(|_| self.passed_over(class, "__iter__", "f(*t)"))
    }

    fn passed_over(&self, class: &ClassInfo, name: &str, by: &str) -> Diagnostic {
        let what = super::hints::spelling(by);
        let what = what.trim_start_matches("numpy.");
        let what = match what {
            "unpack.sequence()" | "unpack.ex()" => "unpacking",
            "match.sequence()" => "a sequence pattern",
            "spread.extend()" => "* in a display",
            "this function()" => "this",
            "format.value()" => "an f-string",
            w => w,
        };
        Diagnostic::new(
            Code::NoMatchingOperation,
            format!("{} has its own {name}, which {what} would pass over", class.name),
        )
        .help(match name {
            "__iter__" => "go through it with a loop, or through a list of its fields: [t.x, t.y]",
            "__str__" | "__repr__" | "__format__" => "make the text first, with str(t) or repr(t)",
            _ => "use its fields by name, t.x",
        })
    }

    fn cannot(&self, class: &ClassInfo, name: &str, why: &str) -> Diagnostic {
        Diagnostic::new(
            Code::NoMatchingOperation,
            format!("{} has its own {name}, which compiled code cannot call here: {why}", class.name),
        )
        .help("use its fields by name, t.x, or give the method another name and call it by that")
    }
}
