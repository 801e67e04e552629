//! Special methods: what operators, built-in functions and loops do with an instance of a class of the user's
//! that says so itself.
//!
//! Python asks the class of an operand before it does what tuples do, and so does this. What only takes the
//! members of a tuple where Python would ask is not done to such a value: another row of the table is tried,
//! and else the operation is refused. Nothing a class defines is passed over.

use super::attribute::has_no_attribute;
use super::resolved::{Resolved, Source};
use super::state::Solver;
use crate::classes;
use crate::classes::slots::{self, How, Slot};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::{ClassAttr, GlobalValue};
use crate::ops::{OpId, id};
use crate::source::Origin;
use crate::ssa::Inst;
use crate::types::{ClassDef, Const, Container, Kind, Type};

type Typed = Result<(Type, Option<Const>, bool)>;

const ITERATED: &[Slot] = &[Slot::Iter];
const SHOWN: &[Slot] = &[Slot::Str, Slot::Repr, Slot::Format];
const COMPARED: &[Slot] = &[Slot::Eq, Slot::Ne];
const ORDERED: &[Slot] = &[Slot::Eq, Slot::Ne, Slot::Lt, Slot::Le, Slot::Gt, Slot::Ge];
/// What goes through a tuple.
const TAKES_APART: &[Slot] = &[Slot::Iter, Slot::Len, Slot::GetItem];
const TAKEN_APART: &[Slot] = &[Slot::Len, Slot::GetItem];
const REPRESENTATION: &[Slot] = &[Slot::Iter, Slot::Len, Slot::GetItem, Slot::Repr];
/// The text of a named tuple is made of its members, whatever its class says of going through it.
const TEXT: &[Slot] = &[Slot::Iter, Slot::Len, Slot::GetItem, Slot::Str, Slot::Repr, Slot::Format];
const ARRAYS: &[Slot] = &[
    Slot::Len,
    Slot::GetItem,
    Slot::Iter,
    Slot::Array,
    Slot::ArrayUfunc,
    Slot::ArrayFunction,
    Slot::ArrayInterface,
    Slot::ArrayStruct,
    Slot::ArrayPriority,
    Slot::Float,
    Slot::Int,
    Slot::Complex,
    Slot::Index,
    Slot::Bool,
    Slot::Abs,
    Slot::Neg,
];

/// What Python asks of an operand that the rows of the table take for a plain tuple. The flag says that
/// library functions do so as well.
fn asked_of_tuple(path: OpId) -> (&'static [Slot], bool) {
    match path {
        id::BUILTINS_LIST
        | id::BUILTINS_TUPLE
        | id::BUILTINS_ENUMERATE
        | id::BUILTINS_ZIP
        | id::UNPACK_SEQUENCE
        | id::UNPACK_EX
        | id::SPREAD_EXTEND
        | id::LIST_EXTEND
        | id::COLLECTIONS_DEQUE
        | id::DEQUE_EXTEND
        | id::DEQUE_EXTENDLEFT
        | id::BUILTINS_SUM
        | id::BUILTINS_MIN
        | id::BUILTINS_MAX
        | id::BUILTINS_SORTED
        | id::BUILTINS_ANY
        | id::BUILTINS_ALL
        | id::BUILTINS_MAP
        | id::BUILTINS_FILTER
        | id::STR_JOIN
        | id::NAMEDTUPLE_ASDICT
        | id::SETITEM => (ITERATED, false),
        id::BUILTINS_REVERSED | id::MATCH_SEQUENCE => (TAKEN_APART, true),
        id::BUILTINS_PRINT => (SHOWN, false),
        id::BUILTINS_ASCII => (&[Slot::Repr], true),
        id::BUILTINS_REPR => (REPRESENTATION, true),
        id::BUILTINS_STR | id::BUILTINS_FORMAT | id::FORMAT_VALUE => (TEXT, true),
        _ if path.facts().makes_arrays => (ARRAYS, true),
        _ => (&[], false),
    }
}

/// Whether an operation goes through an operand.
pub(super) fn goes_through(path: OpId) -> bool {
    path == id::BUILTINS_ITER || path == id::BUILTINS_REVERSED || asked_of_tuple(path).0 == ITERATED
}

/// What Python asks of what lies in a container, where a row compares or shows it by itself.
fn asked_of_elements(path: OpId) -> &'static [Slot] {
    match path {
        id::EQ
        | id::NE
        | id::CONTAINS
        | id::LIST_INDEX
        | id::LIST_COUNT
        | id::LIST_REMOVE
        | id::DEQUE_INDEX
        | id::DEQUE_COUNT
        | id::DEQUE_REMOVE
        | id::TUPLE_INDEX
        | id::TUPLE_COUNT => COMPARED,
        id::LT | id::LE | id::GT | id::GE | id::LIST_SORT | id::LIST_SORT_BY_KEYS => ORDERED,
        id::BUILTINS_HASH => &[Slot::Hash],
        id::BUILTINS_STR | id::BUILTINS_REPR | id::BUILTINS_ASCII | id::BUILTINS_PRINT | id::FORMAT_VALUE => {
            // What lies in a container is shown by `repr`.
            &[Slot::Repr]
        }
        _ if path.facts().makes_arrays => ARRAYS,
        _ => &[],
    }
}

/// The class of the user's that a value is an instance of.
#[expect(clippy::wildcard_enum_match_arm, reason = "values of any other type are of classes of Python's")]
pub(super) fn class_of(t: Type) -> Option<&'static ClassDef> {
    match t.kind() {
        Kind::NamedTuple(c, _) if !c.is_keywords() => Some(c),
        Kind::Frozen(c, _) if c.is_builtin_value() => None,
        Kind::Frozen(c, _) | Kind::Object(c, _) | Kind::Member(c) => Some(c),
        _ => None,
    }
}

/// Whether something leaves the operation to another operand.
pub(super) fn is_left_open(t: Type) -> bool {
    *t == Kind::Builtin(id::NOT_IMPLEMENTED)
}

/// Classes of named tuples in a type, the outermost not among them.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type has no parts with special methods")]
fn classes_inside(t: Type, out: &mut Vec<&'static ClassDef>) {
    let parts = match t.kind() {
        Kind::Optional(x) | Kind::List(x) => std::slice::from_ref(x),
        Kind::Container(_, m)
        | Kind::Tuple(m)
        | Kind::NamedTuple(_, m)
        | Kind::Frozen(_, m)
        | Kind::Variant(m) => m,
        _ => &[],
    };
    for part in parts {
        out.extend(class_of(*part));
        classes_inside(*part, out);
    }
}

/// The same of all that values lead to, through fields of objects too.
fn classes_within(t: Type, out: &mut Vec<&'static ClassDef>, seen: &mut Vec<Type>) {
    if seen.contains(&t) {
        return;
    }
    seen.push(t);
    for part in t.arguments().iter() {
        out.extend(class_of(part));
        classes_within(part, out, seen);
    }
}

/// Whether values of a type are instances of a class of the user's, or hold some.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type has no parts with special methods")]
pub(crate) fn has_classes(t: Type) -> bool {
    match t.kind() {
        Kind::NamedTuple(c, m) => !c.is_keywords() || m.iter().any(|t| has_classes(*t)),
        Kind::Frozen(c, _) => !c.is_builtin_value(),
        Kind::Object(..) | Kind::Member(_) => true,
        Kind::Optional(x) | Kind::List(x) => has_classes(*x),
        Kind::Tuple(m) | Kind::Variant(m) | Kind::Container(_, m) => m.iter().any(|t| has_classes(*t)),
        _ => false,
    }
}

/// Which rows may carry out an operation.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Rows {
    All,
    Library,
    None,
}

impl Solver<'_, '_> {
    /// Whether a class has a method of that name itself, not from tuple.
    pub(super) fn has_own(&self, class: &ClassDef, slot: Slot) -> Option<ClassAttr> {
        self.session.class_attr(class, slot.name())
    }

    /// The first of these methods that a class has itself.
    fn first_own(&self, class: &ClassDef, slots: &[Slot]) -> Option<Slot> {
        slots.iter().copied().find(|s| self.has_own(class, *s).is_some())
    }

    /// An operation as the classes of its operands define it; none where they say nothing.
    pub(crate) fn special(&mut self, i: Inst, path: OpId, args: &[Source]) -> Option<Typed> {
        let types: Vec<Type> =
            args.iter().take(2).map(|s| self.source_arg(s).map_or(Type::never(), |a| a.ty)).collect();
        let first = *types.first()?;
        if let Some(typed) = self.of_several(i, path, &types, args) {
            return Some(typed);
        }
        if path == id::BUILTINS_CALLABLE {
            let class = class_of(first)?;
            let yes = self.has_own(class, Slot::Call).is_some();
            return Some(Ok((Type::bool(), Some(Const::Bool(yes)), false)));
        }
        if let id::COPY_COPY | id::COPY_DEEPCOPY = path {
            return self.copies_itself(path, first).map(Err);
        }
        if let Some(class) = class_of(first)
            && let Some(asked) = self.special_of_first(i, path, first, class, args)
        {
            return Some(asked);
        }
        // Without a method for that the values that it gives are asked one by one.
        if path == id::CONTAINS && self.says_how_to_go_through(args, 0) {
            let func = self.session.host.library("special.gives");
            return Some(func.and_then(|func| self.call_function(i, func, args.to_vec(), true)));
        }
        let (of_left, of_right) = slots::of_two(path)?;
        // A format takes whatever stands on its right.
        if *first == Kind::Str && path == id::MOD {
            return None;
        }
        let second = *types.get(1)?;
        if args.len() != 2 {
            return None;
        }
        let left = class_of(first).and_then(|c| Some((c, self.has_own(c, of_left)?)));
        let mut right = class_of(second).and_then(|c| Some((c, self.has_own(c, of_right)?)));
        // What a member leaves to the numbers or texts that it is one of, these answer, and they answer all that are.
        if left.is_none()
            && first.beneath_member() != first
            && second.beneath_member() != second
            && !class_of(first).is_some_and(|c| class_of(second).is_some_and(|d| c != d && d.is_a(c.id)))
        {
            right = None;
        }
        if left.is_none() && right.is_none() {
            return self.unequal(i, path, [first, second], args);
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
            (Kind::NamedTuple(a, _) | Kind::Frozen(a, _) | Kind::Object(a, _) | Kind::Member(a), Some(b)) => {
                *a != b && b.is_a(a.id)
            }
            _ => false,
        };
        // Where they do not compare, only if it has a method of its own for that.
        let overridden = |s: &Self| match (class_of(first).and_then(|c| s.has_own(c, of_right)), &right) {
            (Some(ClassAttr::Method(of_left)), Some((_, ClassAttr::Method(of_right)))) => {
                of_left != *of_right
            }
            _ => true,
        };
        let derived = derived && (of_left.compares() || overridden(self));
        // Tuples compare and add to tuples themselves.
        let of_tuple = left.is_none()
            && matches!(first.kind(), Kind::NamedTuple(..))
            && class_of(first).is_some_and(|c| {
                of_left.compares()
                    || matches!(of_left, Slot::Add | Slot::Mul) && self.has_own(c, of_right).is_some()
            });
        if of_tuple && !derived {
            return None;
        }
        let left = left.map(|(class, attr)| (class, of_left, attr, args.to_vec()));
        let right = right
            // Operands of one class are not asked for the reflected method, but in comparisons.
            .filter(|_| of_left.compares() || class_of(first) != class_of(second))
            .map(|(class, attr)| (class, of_right, attr, vec![args[1].clone(), args[0].clone()]));
        let both = if derived { [right, left] } else { [left, right] };
        Some(self.ask_in_turn(i, path, [first, second], args, both.into_iter().flatten().collect()))
    }

    /// A value that may be None or of several types is asked once it is known what it is.
    fn of_several(&mut self, i: Inst, path: OpId, types: &[Type], args: &[Source]) -> Option<Typed> {
        let several = |t: &Type| matches!(t.kind(), Kind::Optional(_) | Kind::Variant(_));
        let k = (0..types.len()).find(|k| {
            several(&types[*k]) && (path == id::BUILTINS_CALLABLE || self.may_be_asked(path, types[*k], *k))
        })?;
        let (on, all) = (args[k].clone(), args.to_vec());
        Some(self.dispatch(i, &on, &mut |s, way| {
            let mut each = all.clone();
            each[k] = way.clone();
            // Where one has no method for an assignment of its own, it is the plain operator's.
            let typed = match path.plain() {
                Some(_) => s.operation_itself(i, path, each),
                None => s.rows(i, path, each, vec![]),
            };
            match typed {
                Err(e) if matches!(path, id::EQ | id::NE) => s.fails_with_none(i, e),
                typed => typed,
            }
        }))
    }

    /// A method that compares and takes what may be None fails where it is, when the program gets there.
    fn fails_with_none(&mut self, i: Inst, e: Diagnostic) -> Typed {
        let name = e.message.strip_prefix(&has_no_attribute(Type::none()));
        let (Code::UnknownAttribute, Some(name)) = (e.code, name) else { return Err(e) };
        let text = format!("'NoneType' object has no attribute {name}");
        self.out.resolved.insert(i, Resolved::Impossible(e.code, text.into()));
        Ok((Type::never(), None, true))
    }

    /// An operation as the class of its first operand defines it.
    fn special_of_first(
        &mut self,
        i: Inst,
        path: OpId,
        first: Type,
        class: &'static ClassDef,
        args: &[Source],
    ) -> Option<Typed> {
        if path == id::FORMAT_VALUE {
            return self.formatted(i, class, args);
        }
        if path == id::BUILTINS_FORMAT {
            let spec = args.get(1).cloned().unwrap_or(Source::Const(Const::None));
            return self.formatted(i, class, &[args[0].clone(), Source::Const(Const::Int(0)), spec]);
        }
        if matches!(path, id::BUILTINS_ITER | id::ITER_OBJECT | id::ITERATOR)
            && self.has_own(class, Slot::Iter).is_none()
            && self.has_own(class, Slot::GetItem).is_some()
            && !matches!(first.kind(), Kind::NamedTuple(..))
        {
            let by_index = self.session.host.library("special.by_index");
            return Some(by_index.and_then(|f| self.call_function(i, f, args[..1].to_vec(), true)));
        }
        if path == id::BUILTINS_NEXT && args.len() > 1 && self.has_own(class, Slot::Next).is_some() {
            let next_or = self.session.host.library("special.next_or");
            return Some(next_or.and_then(|f| self.call_function(i, f, args.to_vec(), true)));
        }
        for (slot, how) in slots::of_first(path) {
            let Some(attr) = self.has_own(class, *slot) else { continue };
            let asked = self.ask(i, class, *slot, attr, *how, args);
            // A loop steps through an object by its `__next__`.
            if matches!(path, id::BUILTINS_ITER | id::ITERATOR)
                && let Ok((given, ..)) = &asked
                && class_of(*given).is_some_and(|c| self.has_own(c, Slot::Next).is_some())
            {
                self.out.resolved.remove(&i);
                let steps = self.session.host.library("special.steps");
                return Some(steps.and_then(|f| self.call_function(i, f, args[..1].to_vec(), true)));
            }
            return Some(asked);
        }
        None
    }

    /// What goes through an operand whose class says how, does so with what that gives.
    pub(super) fn through(&mut self, i: Inst, path: OpId, args: &[Source]) -> Option<Typed> {
        if asked_of_tuple(path).0 != ITERATED || matches!(path, id::SPREAD_EXTEND | id::SETITEM) {
            return None;
        }
        let last = args.len().saturating_sub(1);
        let candidates = match path {
            // Two values are compared themselves.
            id::BUILTINS_MIN | id::BUILTINS_MAX if args.len() > 1 => return None,
            id::BUILTINS_MAP => 1..=last,
            id::BUILTINS_ZIP => 0..=last,
            id::BUILTINS_FILTER
            | id::LIST_EXTEND
            | id::DEQUE_EXTEND
            | id::DEQUE_EXTENDLEFT
            | id::STR_JOIN => 1..=1,
            _ => 0..=0,
        };
        // The first one; the operation then looks at what is left, so that they are asked in their order.
        let at = candidates.into_iter().find(|at| self.says_how_to_go_through(args, *at))?;
        let f = Source::Global(GlobalValue::Builtin(path));
        // The counts of an unpacking are constants, which they would not stay in a tuple.
        let unpacked = match path {
            id::UNPACK_SEQUENCE => Some("special.unpacked"),
            id::UNPACK_EX => Some("special.unpacked_with_rest"),
            _ => None,
        };
        let (name, sources) = if let Some(name) = unpacked {
            (name, std::iter::once(f).chain(args.iter().cloned()).collect())
        } else {
            let (before, after) = (args[..at].to_vec(), args[at + 1..].to_vec());
            ("special.through", vec![f, Source::Pack(before), args[at].clone(), Source::Pack(after)])
        };
        let func = self.session.host.library(name);
        Some(func.and_then(|func| self.call_function(i, func, sources, true)))
    }

    /// Whether the class of an operand, which is no tuple, says how it is gone through.
    fn says_how_to_go_through(&mut self, args: &[Source], at: usize) -> bool {
        let Some(Ok(arg)) = args.get(at).map(|s| self.source_arg(s)) else { return false };
        let class = class_of(arg.ty).filter(|_| !matches!(arg.ty.kind(), Kind::NamedTuple(..)));
        class.is_some_and(|c| self.first_own(c, &[Slot::Iter, Slot::GetItem]).is_some())
    }

    /// Why an instance cannot be copied: its class, or one in it, says how.
    fn copies_itself(&self, path: OpId, t: Type) -> Option<Diagnostic> {
        let own = if path == id::COPY_COPY { "__copy__" } else { "__deepcopy__" };
        let mut classes: Vec<&'static ClassDef> = class_of(t).into_iter().collect();
        if path == id::COPY_DEEPCOPY {
            let mut seen = vec![];
            classes_within(self.session.resolve(t), &mut classes, &mut seen);
        }
        let names =
            [own, "__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__getnewargs__", "__new__"];
        let has = |c: &ClassDef| names.into_iter().find(|n| self.session.class_attr(c, n).is_some());
        let (class, name) = classes.into_iter().find_map(|c| Some((c, has(c)?)))?;
        let text = format!("{} has its own {name}, which is not compiled", class.name);
        Some(Diagnostic::new(Code::NoMatchingOperation, text).help("call a method of another name"))
    }

    /// The first answer of special methods that is not NotImplemented.
    fn ask_in_turn(
        &mut self,
        i: Inst,
        path: OpId,
        types: [Type; 2],
        args: &[Source],
        methods: Vec<(&'static ClassDef, Slot, ClassAttr, Vec<Source>)>,
    ) -> Typed {
        let mut methods = methods.into_iter();
        while let Some((class, slot, attr, asked)) = methods.next() {
            let typed = self.ask(i, class, slot, attr.clone(), How::Direct, &asked)?;
            if typed.0.arguments().iter().any(is_left_open) {
                self.out.resolved.remove(&i);
                let next = methods.next().map(|(_, _, attr, asked)| (attr, asked));
                return self.ask_and_see(i, path, [0, 1].map(|k| args[k].clone()), (attr, asked), next);
            }
            if !is_left_open(typed.0) {
                return Ok(typed);
            }
            // It is known what it gives, but not what it does before it gives that.
            let how = self.out.resolved.remove(&i);
            if !how.is_some_and(|how| self.session.leaves_no_trace(&how)) {
                let next = methods.next().map(|(_, _, attr, asked)| (attr, asked));
                return self.ask_and_see(i, path, [0, 1].map(|k| args[k].clone()), (attr, asked), next);
            }
        }
        // Python then asks whether both are one object; those of different classes are not.
        match path {
            id::EQ | id::NE if classes::class_of(types[0]) != classes::class_of(types[1]) => {
                Ok((Type::bool(), Some(Const::Bool(path == id::NE)), false))
            }
            _ => {
                let [a, b] = types.map(|t| self.session.resolve(t));
                let text =
                    format!("{} does not take ({a}, {b}): their methods give NotImplemented", path.name());
                Err(Diagnostic::new(Code::NoMatchingOperation, text))
            }
        }
    }

    /// `a != b` where a class defines `__eq__` alone: what that says, turned round. A named tuple has the
    /// method from tuple.
    fn unequal(&mut self, i: Inst, path: OpId, types: [Type; 2], args: &[Source]) -> Option<Typed> {
        let asks = |t: Type| {
            matches!(t.kind(), Kind::Frozen(..) | Kind::Object(..) | Kind::Member(_))
                && class_of(t).is_some_and(|c| self.has_own(c, Slot::Eq).is_some())
        };
        if path != id::NE || !types.into_iter().any(asks) {
            return None;
        }
        let func = match self.session.host.library("special.unequal") {
            Ok(func) => func,
            Err(d) => return Some(Err(d)),
        };
        Some(self.call_function(i, func, args.to_vec(), true))
    }

    /// Whether what may stand at operand `k` has a method that an operation asks for.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other type is one")]
    fn may_be_asked(&self, path: OpId, t: Type, k: usize) -> bool {
        let of_two = slots::of_two(path);
        let mut slots: Vec<Slot> =
            of_two.iter().map(|(left, right)| if k == 0 { *left } else { *right }).collect();
        if k == 0 {
            slots.extend(slots::of_first(path).iter().map(|(slot, _)| *slot));
        }
        if k == 0 && matches!(path, id::FORMAT_VALUE | id::BUILTINS_FORMAT) {
            slots.extend(SHOWN);
        }
        // What a class says of `==` it says of `!=` too.
        if path == id::NE {
            slots.push(Slot::Eq);
        }
        if slots.is_empty() {
            return false;
        }
        let direct: Vec<Type> = match t.kind() {
            Kind::Optional(t) if let Kind::Variant(m) = t.kind() => m.clone(),
            Kind::Optional(t) => vec![*t],
            Kind::Variant(m) => m.clone(),
            _ => vec![],
        };
        direct.iter().filter_map(|t| class_of(*t)).any(|c| self.first_own(c, &slots).is_some())
    }

    /// Calls a special method.
    fn ask(
        &mut self,
        i: Inst,
        class: &'static ClassDef,
        slot: Slot,
        attr: ClassAttr,
        how: How,
        args: &[Source],
    ) -> Typed {
        let f = match attr {
            ClassAttr::Method(f) => f,
            ClassAttr::Value(GlobalValue::Const(Const::None)) if slot == Slot::Hash => {
                return Err(Diagnostic::new(
                    Code::NoMatchingOperation,
                    format!("unhashable type: '{}'", class.name),
                )
                .help("a class that defines __eq__ has a hash only if it defines __hash__ too"));
            }
            ClassAttr::Value(_)
            | ClassAttr::Computed(_)
            | ClassAttr::Field(_)
            | ClassAttr::ClassMethod(_)
            | ClassAttr::Property(_) => {
                return Err(self.cannot(class, slot, "it is no plain function of the class"));
            }
        };
        match how {
            // Only the operands that were written: the table has more, with defaults.
            How::Direct => {
                let given: Vec<Source> = args
                    .iter()
                    .enumerate()
                    .filter(|(k, s)| {
                        *k == 0 || slot != Slot::Round || !matches!(s, Source::Const(Const::None))
                    })
                    .map(|(_, s)| s.clone())
                    .collect();
                self.call(i, &Source::Global(GlobalValue::Function(f)), given, vec![])
            }
            How::Library(path) => {
                let func = self.session.host.library(path)?;
                self.call_function(i, func, args.to_vec(), true)
            }
        }
    }

    /// `f"{x}"`, with a conversion or a specification.
    fn formatted(&mut self, i: Inst, class: &'static ClassDef, args: &[Source]) -> Option<Typed> {
        let conversion = args.get(1).and_then(|s| self.source_arg(s).ok()?.int()).unwrap_or(0);
        let spec = args.get(2).and_then(|s| self.source_arg(s).ok());
        let plain = spec.as_ref().is_none_or(|s| s.is_none() || s.text() == Some(""));
        let of = |s: &mut Self, slot: Slot, how: How, args: &[Source]| {
            Some((slot, how, s.has_own(class, slot)?, args.to_vec()))
        };
        let text = if plain { Source::Const(Const::Str("".into())) } else { args[2].clone() };
        let found = match conversion {
            0 => of(self, Slot::Format, How::Direct, &[args[0].clone(), text.clone()])
                .or_else(|| of(self, Slot::Str, How::Library("special.text"), &args[..1]))
                .or_else(|| of(self, Slot::Repr, How::Library("special.representation"), &args[..1])),
            1 => of(self, Slot::Str, How::Library("special.text"), &args[..1])
                .or_else(|| of(self, Slot::Repr, How::Library("special.representation"), &args[..1])),
            _ => of(self, Slot::Repr, How::Library("special.representation"), &args[..1]),
        };
        if !plain && matches!(conversion, 1 | 2) {
            let path =
                if conversion == 1 { "special.formatted_text" } else { "special.formatted_representation" };
            let given = [args[0].clone(), text];
            return Some(
                self.session.host.library(path).and_then(|f| self.call_function(i, f, given.to_vec(), true)),
            );
        }
        let (slot, how, attr, args) = found?;
        if !plain && slot != Slot::Format || conversion > 2 {
            return Some(Err(self.cannot(
                class,
                slot,
                "a format that changes its text is not compiled for it",
            )));
        }
        Some(self.ask(i, class, slot, attr, how, &args))
    }

    /// `x(...)` of a named tuple.
    pub(crate) fn special_call(
        &mut self,
        i: Inst,
        class: &'static ClassDef,
        callee: &Source,
        positional: Vec<Source>,
        named: Vec<(std::sync::Arc<str>, Source)>,
    ) -> Option<Typed> {
        match self.has_own(class, Slot::Call)? {
            ClassAttr::Method(f) => Some(self.call(
                i,
                &Source::Global(GlobalValue::Function(f)),
                std::iter::once(callee.clone()).chain(positional).collect(),
                named,
            )),
            ClassAttr::Value(_)
            | ClassAttr::Computed(_)
            | ClassAttr::Field(_)
            | ClassAttr::ClassMethod(_)
            | ClassAttr::Property(_) => {
                Some(Err(self.cannot(class, Slot::Call, "it is no plain function of the class")))
            }
        }
    }

    /// What rows may do with these operands, and why no more than that.
    pub(crate) fn rows_for(&mut self, path: OpId, args: &[Source]) -> Result<(Rows, Option<Diagnostic>)> {
        let (of_tuple, in_library) = asked_of_tuple(path);
        let inside = asked_of_elements(path);
        if of_tuple.is_empty() && inside.is_empty() {
            return Ok((Rows::All, None));
        }
        for t in args.iter().filter_map(|s| self.source_arg(s).ok()).map(|a| a.ty).collect::<Vec<_>>() {
            // An instance that is no tuple is not taken apart.
            let tuple = matches!(t.kind(), Kind::NamedTuple(..));
            let asked: Vec<Slot> =
                of_tuple.iter().copied().filter(|s| tuple || !TAKES_APART.contains(s)).collect();
            if let Some(class) = class_of(t)
                && let Some(slot) = self.first_own(class, &asked)
            {
                return Ok((
                    if in_library { Rows::None } else { Rows::Library },
                    Some(self.passed_over(class, slot, path.name())),
                ));
            }
            let mut classes = vec![];
            // A dict is asked for its keys, whatever its values are.
            let keys = t
                .container()
                .filter(|(c, _)| path == id::CONTAINS && (c.is_mapping() || *c == Container::Keys));
            if let Some((_, m)) = keys {
                let key = self.session.resolve(m[0]);
                classes.extend(class_of(key));
                classes_inside(key, &mut classes);
            } else if !inside.is_empty() {
                classes_inside(self.session.resolve(t), &mut classes);
            }
            for class in classes {
                let Some(slot) = self.first_own(class, inside) else { continue };
                return Ok((
                    if path.facts().makes_arrays { Rows::None } else { Rows::Library },
                    Some(self.passed_over(class, slot, path.name())),
                ));
            }
        }
        Ok((Rows::All, None))
    }

    /// Library functions that take a named tuple apart count on its members being where a tuple has them.
    pub(crate) fn taken_apart(&self, path: OpId, args: &[Source], types: &[Type]) -> Option<Diagnostic> {
        let slot = match path {
            id::BUILTINS_LEN => Slot::Len,
            id::GETITEM => Slot::GetItem,
            _ => return None,
        };
        let class =
            class_of(*types.first()?).filter(|_| !args.is_empty() && self.session.is_library(self.func))?;
        // What is written for a call asks the class, as the call would.
        if self.func.file.origin == Origin::Written {
            return None;
        }
        self.has_own(class, slot).map(|_| self.passed_over(class, slot, "this function"))
    }

    /// Why a named tuple cannot be spread into arguments.
    pub(crate) fn special_spread(&self, t: Type) -> Option<Diagnostic> {
        let class = class_of(t)?;
        self.has_own(class, Slot::Iter).map(|_| self.passed_over(class, Slot::Iter, "f(*t)"))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "some slots have better advice than the general one")]
    fn passed_over(&self, class: &ClassDef, slot: Slot, by: &str) -> Diagnostic {
        let what = crate::typing::refusal::spelling(by);
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
            format!("{} has its own {}, which {what} would pass over", class.name, slot.name()),
        )
        .help(match slot {
            Slot::Iter => "go through it with a loop, or through a list of its fields: [t.x, t.y]",
            Slot::Str | Slot::Repr | Slot::Format => "make the text first, with str(t) or repr(t)",
            _ => "use its fields by name, t.x",
        })
    }

    fn cannot(&self, class: &ClassDef, slot: Slot, why: &str) -> Diagnostic {
        Diagnostic::new(
            Code::NoMatchingOperation,
            format!(
                "{} has its own {}, which compiled code cannot call here: {why}",
                class.name,
                slot.name()
            ),
        )
        .help("use its fields by name, t.x, or give the method another name and call it by that")
    }
}
