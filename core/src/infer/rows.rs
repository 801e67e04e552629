//! Which row of the table carries out an operation, and what is said where none does.

use super::bind::bind_op;
use super::hints;
use super::resolved::{Resolved, Source};
use super::results::kind_of_number;
use super::special;
use super::state::{Session, Solver};
use crate::classes;
use crate::diag::{Code, Diagnostic, Result, Subject};
use crate::emit::cx::Overflow;
use crate::host::GlobalValue;
use crate::ops::{self, Adapter, Body, OpDef, OpId, id, takes_by_name};
use crate::ssa::Inst;
use crate::types::class::ClassId;
use crate::types::{Const, Container, Float, Kind, Type, promote};
use crate::typing::{Answer, Arg, TyCx};
use std::sync::Arc;

type Typed = Result<(Type, Option<Const>, bool)>;
type Named = [(Arc<str>, Source)];

/// Whether a row says only that it does not take operands of these types.
fn not_taken(e: &Diagnostic) -> bool {
    e.generic.is_some() && e.code == Code::NoMatchingOperation
}

/// Whether there is no row at all.
fn not_compiled(e: &Diagnostic) -> bool {
    e.code == Code::UnsupportedSyntax
}

/// An operation on operands, and what is known before any row has seen them.
struct Wanted<'a> {
    id: OpId,
    positional: &'a [Source],
    named: &'a Named,
    /// What a universal function gets behind its operands.
    options: &'a [Source],
    /// Which operand may be of several types when the program runs.
    variant: Option<usize>,
    /// Each of these types is looked at by itself at once.
    each: bool,
    allowed: special::Rows,
}

/// A type with lists in place of tuples of any length, by themselves and in lists, which lie alike.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else holds a sequence that arrays are made of")]
fn as_lists(t: Type) -> Type {
    match t.kind() {
        Kind::Container(Container::Tuple, m) => Type::list(as_lists(m[0])),
        Kind::List(e) => Type::list(as_lists(*e)),
        Kind::Tuple(m) => Type::tuple(m.iter().map(|t| as_lists(*t)).collect()),
        _ => t,
    }
}

/// Whether values of several types are each of another class of Python's that is iterated over: one iterator goes
/// through whichever it is.
fn are_told_apart(t: Type) -> bool {
    let Kind::Variant(members) = t.kind() else { return false };
    // As `isinstance` tells them apart: a Counter is a dict.
    let class = |t: &Type| match t.container() {
        Some((c, _)) if c.is_mapping() => Some(Container::Dict.class()),
        _ if matches!(t.kind(), Kind::Generator(..)) => Some(ClassId::GENERATOR),
        _ => matches!(
            t.kind(),
            Kind::List(_) | Kind::Tuple(_) | Kind::Str | Kind::Range(_) | Kind::Container(..)
        )
        .then(|| classes::class_of(*t).id),
    };
    let all: Vec<_> = members.iter().map(class).collect();
    // What the library does not ask for by its class is left: one such value, or generators, which a loop tells apart.
    let asked = |t: &Type| match t.container() {
        Some((c, _)) => {
            c.is_mapping() || matches!(c, Container::Set | Container::FrozenSet | Container::Tuple)
        }
        None => !matches!(t.kind(), Kind::Generator(..)),
    };
    let left: Vec<_> = members.iter().filter(|t| !asked(t)).collect();
    if left.len() > 1 && !left.iter().all(|t| matches!(t.kind(), Kind::Generator(..))) {
        return false;
    }
    (0..all.len()).all(|k| all[k].is_some_and(|c| c == ClassId::GENERATOR || !all[..k].contains(&Some(c))))
}

impl<'h> Solver<'_, 'h> {
    /// Types an operation that the language itself asks for.
    pub(crate) fn operation(&mut self, i: Inst, op: OpId, args: Vec<Source>) -> Typed {
        match self.overloaded_operation(i, op, &args) {
            Some(typed) => typed,
            None => self.operation_itself(i, op, args),
        }
    }

    /// The same without what the program says of it.
    pub(super) fn operation_itself(&mut self, i: Inst, op: OpId, args: Vec<Source>) -> Typed {
        if op == id::DECLARE_RESULT {
            return self.declared_result(i, &args[0]);
        }
        let Some(plain) = op.plain() else { return self.rows(i, op, args, vec![]) };
        // Augmented assignment: into the array itself, by a meaning of its own (`list += ...`), or as the
        // plain operator.
        if let Source::Value(v) = args[0]
            && self.ty(v).as_array().is_some()
        {
            let args = vec![args[0].clone(), args[1].clone(), args[0].clone()];
            return self.rows(i, plain, args, vec![]);
        }
        if !op.rows().is_empty() || self.may_be_special(&args)? {
            match self.rows(i, op, args.clone(), vec![]) {
                Err(e) if e.code == Code::NoMatchingOperation || op.rows().is_empty() && not_compiled(&e) => {
                }
                // A method that leaves it to the plain operator, or may do so.
                Ok((t, ..))
                    if special::is_left_open(t) || t.arguments().iter().any(special::is_left_open) =>
                {
                    let how = self.out.resolved.remove(&i);
                    let known = special::is_left_open(t);
                    if !(known && how.is_some_and(|how| self.session.leaves_no_trace(&how))) {
                        return self.assign_and_see(i, op, plain, args);
                    }
                }
                other => return other,
            }
        }
        self.rows(i, plain, args, vec![])
    }

    /// Whether there is an instance of a class of the user's among operands, or in one of them.
    fn may_be_special(&mut self, operands: &[Source]) -> Result<bool> {
        for s in operands {
            let t = self.source_arg(s)?.ty;
            let contains = matches!(
                t.kind(),
                Kind::NamedTuple(..)
                    | Kind::Frozen(..)
                    | Kind::Object(..)
                    | Kind::Member(_)
                    | Kind::Tuple(_)
                    | Kind::List(_)
                    | Kind::Container(..)
                    | Kind::Optional(_)
                    | Kind::Variant(_)
            );
            if contains && super::special::has_classes(self.session.resolve(t)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A method of numbers that was taken from its class has a number for its first operand.
    fn takes_receiver(&mut self, id: OpId, positional: &[Source]) -> Result<()> {
        let Some(first) = positional.first() else { return Ok(()) };
        let ty = self.source_arg(first)?.ty;
        let class = classes::class_of(ty);
        // Each of several types is looked at by itself.
        if class.id == ClassId::OBJECT || classes::takes(id, class) {
            return Ok(());
        }
        let (class, name) = id.name().rsplit_once('.').unwrap_or_default();
        let text = format!(
            "descriptor '{name}' for '{class}' objects doesn't apply to a value of type {}",
            self.session.resolve(ty)
        );
        Err(Diagnostic::new(Code::NoMatchingOperation, text))
    }

    /// Tuples of any length as the lists that they are, by themselves or in lists, for operations that make arrays of sequences.
    fn tuples_as_lists(&mut self, id: OpId, positional: &mut [Source]) -> Result<()> {
        let types = self.source_args(positional)?;
        let types: Vec<Type> = types.iter().map(|a| self.session.resolve(a.ty)).collect();
        let beside_arrays = id.is_elementwise() && types.iter().any(|t| t.as_array().is_some());
        if !id.facts().makes_arrays && !beside_arrays {
            return Ok(());
        }
        for (s, t) in positional.iter_mut().zip(types) {
            let lists = as_lists(t);
            if lists != t {
                *s = Source::As(Box::new(s.clone()), lists);
            }
        }
        Ok(())
    }

    /// The first row of an operation that takes these operands.
    pub(crate) fn rows(
        &mut self,
        i: Inst,
        id: OpId,
        positional: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        if let Some((key, _)) = named.iter().find(|(key, _)| !takes_by_name(id, key)) {
            let name = id.name().trim_start_matches("builtins.");
            let text = format!("{name}() got a positional-only argument passed as keyword argument: '{key}'");
            return Err(Diagnostic::new(Code::BadCall, text));
        }
        let (id, begins) = (self.begins(i, id, &positional), id);
        let positional = if id == begins { positional } else { positional[..1].to_vec() };
        if self.has_numba_numbers() {
            return self.numba_rows(i, id, positional, named);
        }
        self.rows_as_given(i, id, positional, named)
    }

    /// The same for the operands as they are.
    pub(super) fn rows_as_given(
        &mut self,
        i: Inst,
        id: OpId,
        mut positional: Vec<Source>,
        mut named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        if let (id::BUILTINS_TYPE, [of]) = (id, positional.as_slice()) {
            self.asks_for_class(of)?;
        }
        self.takes_receiver(id, &positional)?;
        self.tuples_as_lists(id, &mut positional)?;
        if let Some(typed) = self.dict_of_keywords(i, id, &positional, &named)? {
            return typed;
        }
        self.keywords_as_dict(id, &mut positional)?;
        self.rewrite(id, &mut positional)?;
        if let Some(known) = self.without_a_row(i, id, &positional, &named) {
            return known;
        }
        if let Some(typed) = self.of_value_class(i, id, &mut positional)? {
            return typed;
        }
        let mut passes_over = (special::Rows::All, None);
        if self.may_be_special(&positional)? {
            let types: Vec<Type> = self.source_args(&positional)?.iter().map(|a| a.ty).collect();
            if let Some(d) = self.taken_apart(id, &positional, &types) {
                return Err(d);
            }
            if named.is_empty()
                && let Some(through) = self.through(i, id, &positional)
            {
                return through;
            }
            if let Some(own) = self.special(i, id, &positional) {
                return own;
            }
            self.operands_beneath(id, &mut positional)?;
            passes_over = self.rows_for(id, &positional)?;
        }
        let mut options = vec![];
        if id.is_elementwise() {
            options = self.ufunc_options(id, &positional, &mut named)?;
            if options.is_empty()
                && let Some(typed) = self.adapted(i, id, Adapter::BEFORE, &positional, &named)?
            {
                return Ok(typed);
            }
        }
        // Where none takes an operand that may be of several types, each is looked at by itself.
        let variant = positional
            .iter()
            .position(|s| self.source_arg(s).is_ok_and(|a| crate::types::promote::is_variant(a.ty)));
        // Functions of NumPy and of the library ask what an operand is, which one of several arrays cannot
        // answer.
        let library = id.facts().makes_arrays || id.rows().iter().any(|op| matches!(op.body, Body::Py(_)));
        let each = library
            && variant.is_some_and(|at| {
                self.source_arg(&positional[at]).is_ok_and(|a| promote::is_numeric_variant(a.ty))
            });
        let (allowed, why) = passes_over;
        let wanted =
            Wanted { id, positional: &positional, named: &named, options: &options, variant, each, allowed };
        let first = match self.try_rows(i, &wanted)? {
            Tried::Typed(typed) => return Ok(typed),
            Tried::Refused(first) => first,
        };
        if let Some((positional, named)) = self.beneath_members(id, &positional, &named)? {
            return self.rows_as_given(i, id, positional, named);
        }
        // Each of several types is looked at by itself below.
        if let Some(d) = why.filter(|_| variant.is_none()) {
            return Err(d);
        }
        if let Some(at) = variant {
            let on = positional[at].clone();
            let iterated = match id {
                id::BUILTINS_ITER => Some("iterate.each_of"),
                id::BUILTINS_ENUMERATE if named.is_empty() => Some("iterate.enumerated"),
                id::BUILTINS_ZIP if named.is_empty() => Some("iterate.zipped"),
                _ => None,
            };
            if let Some(path) = iterated
                && are_told_apart(self.source_arg(&on)?.ty)
            {
                let function = Source::Global(GlobalValue::Function(self.session.host.library(path)?));
                return self.call(i, &function, positional, vec![]);
            }
            return self.one_by_one(i, id, at, &positional, &named, &options);
        }
        if let Some(typed) = self.adapted(i, id, Adapter::AFTER, &positional, &named)? {
            return Ok(typed);
        }
        Err(self.no_row(id, first, library, &positional, &named))
    }

    /// An operation on a value of several types, done to whichever it is.
    fn one_by_one(
        &mut self,
        i: Inst,
        id: OpId,
        at: usize,
        positional: &[Source],
        named: &Named,
        options: &[Source],
    ) -> Typed {
        self.dispatch(i, &positional[at], &mut |s, way| {
            let mut each = positional.to_vec();
            each[at] = way.clone();
            if let Some(path) = s.absent_key(id, &each) {
                let absent = s.session.host.library(path)?;
                return s.call_function(i, absent, each, true);
            }
            let mut named = named.to_vec();
            named.extend(["where", "dtype"].into_iter().map(Into::into).zip(options.iter().cloned()));
            s.rows(i, id, each, named)
        })
    }

    /// What the library does to one of several dicts for a key that it never has, which is no error of the program
    /// as long as it may be another dict: `d["a"]` of one whose keys are numbers raises KeyError, `"a" in d` is False.
    fn absent_key(&mut self, id: OpId, args: &[Source]) -> Option<&'static str> {
        let [dict, key] = args else { return None };
        let (dict, key) = (self.source_arg(dict).ok()?.ty, self.source_arg(key).ok()?.ty);
        let [dict, key] = [dict, key].map(|t| self.session.resolve(t));
        let (class, of) = dict.container()?;
        let is_set = matches!(class, Container::Set | Container::FrozenSet);
        if !class.is_mapping() && !(is_set && id == id::CONTAINS) {
            return None;
        }
        if !crate::ops::dict::is_never_key(key, of[0]) {
            return None;
        }
        match (id, class) {
            (id::GETITEM, Container::Counter) => Some("mappings.absent_count"),
            (id::DELITEM, Container::Counter) => Some("mappings.absent_in_counter"),
            // It would get the key.
            (id::GETITEM, Container::DefaultDict) => None,
            (id::CONTAINS, _) => Some("mappings.holds_absent"),
            (id::GETITEM | id::DELITEM, _) => Some("mappings.absent"),
            _ => None,
        }
    }

    /// What is known of an operation without a row that takes its operands, or by a row that stands in for
    /// those: identity, `~` of a bool of Python's, arithmetic that raises on overflow.
    fn without_a_row(&mut self, i: Inst, id: OpId, positional: &[Source], named: &Named) -> Option<Typed> {
        if self.session.overflow != Overflow::Wrap
            && let Some(op) = id.checked()
            && let Ok(operands) = self.source_args(positional)
            && self.session.checks_overflow(self.func, operands.iter().map(|a| a.ty))
            && let Ok(bound) = bind_op(op, positional.to_vec(), named.to_vec())
        {
            match self.apply(i, op, bound, false) {
                Err(e) if e.code == Code::NoMatchingOperation => {}
                other => return Some(other),
            }
        }
        if let Some(refusal) = self.too_large(id, positional) {
            return Some(Err(refusal));
        }
        if id == id::MATCH_CLASS
            && let Some(typed) = self.class_pattern(i, positional)
        {
            return Some(typed);
        }
        if let id::IS | id::IS_NOT = id
            && let Some(known) = self.known_identity(positional)
        {
            self.out.resolved.remove(&i);
            return Some(known.map(|same| (Type::bool(), Some(Const::Bool(same == (id == id::IS))), false)));
        }
        self.inverted(i, id, positional)
    }

    /// What is said of arithmetic on an int that may be 2⁶³ or more and a number of NumPy's that cannot be, where Python's
    /// answer is promised: it is an OverflowError.
    fn too_large(&mut self, id: OpId, positional: &[Source]) -> Option<Diagnostic> {
        let arithmetic = id.checked().is_some() || matches!(id, id::AND | id::RSHIFT);
        if !arithmetic || self.session.overflow != Overflow::Python || self.session.is_library(self.func) {
            return None;
        }
        let all = self.source_args(positional).ok()?;
        let of_numpy = |t: Type| t.is_int() && !t.is_weak() && t != Type::big_int().strong();
        let large = all.iter().any(|a| a.ty == Type::big_int()) && all.iter().any(|a| of_numpy(a.ty));
        let text = "an int that may be 2**63 or more beside a number of NumPy's that cannot be";
        large.then(|| {
            Diagnostic::new(Code::NoMatchingOperation, text)
                .help("make the other one np.uint64(...) or int(...)")
        })
    }

    /// Asks the rows one after the other.
    fn try_rows(&mut self, i: Inst, wanted: &Wanted<'_>) -> Result<Tried> {
        let all = if wanted.each { &[][..] } else { wanted.id.rows() };
        // Rows that know what to do with None come before any that takes an optional operand as its value.
        let optional = self
            .source_args(wanted.positional)?
            .iter()
            .any(|a| without_none(a.ty) != a.ty && !crate::types::promote::is_variant(a.ty));
        let again: &[&'static OpDef] = if optional { all } else { &[] };
        let allowed = |op: &OpDef| match wanted.allowed {
            special::Rows::All => true,
            special::Rows::Library => matches!(op.body, Body::Py(_) | Body::Written(_)),
            special::Rows::None => false,
        };
        let mut first: Option<(i32, Diagnostic)> = None;
        let rows = all.iter().map(|op| (*op, false)).chain(again.iter().map(|op| (*op, true)));
        let mut asked = false;
        for (op, unwrap) in rows.filter(|(op, _)| allowed(op)) {
            if unwrap
                && !std::mem::replace(&mut asked, true)
                && let Some(typed) = self.apart_from_none(i, wanted)
            {
                return typed.map(Tried::Typed);
            }
            // A program may name its operands as it likes, `self` too.
            let bound = match op.body {
                Body::Written(_) if op.spec().names => Ok(vec![]),
                Body::Written(_) | Body::Lir(..) | Body::Py(_) | Body::Ufunc(..) => {
                    bind_op(op, wanted.positional.to_vec(), wanted.named.to_vec())
                }
            };
            let fits = bound.is_ok();
            let tried = bound.and_then(|mut bound| {
                if let Body::Written(write) = op.body {
                    return match op.spec().names {
                        true => self.written(i, op, write, wanted.positional, wanted.named),
                        false => self.written(i, op, write, &bound, &[]),
                    };
                }
                if matches!(op.body, Body::Ufunc(..)) {
                    bound.extend(wanted.options.iter().cloned());
                }
                self.apply(i, op, bound, unwrap)
            });
            let e = match tried {
                Ok(typed) => return Ok(Tried::Typed(typed)),
                Err(e) => e,
            };
            let of_python = matches!(op.body, Body::Py(_));
            let goes_on = wanted.variant.is_some()
                || matches!(e.code, Code::NoMatchingOperation | Code::BadCall)
                || e.code == Code::UnknownAttribute && of_python;
            if !goes_on {
                return Err(e);
            }
            // A row that the arguments fit by number and name says more than one that they do not, and a
            // reason of its own more than "does not take these types".
            let of_library = if of_python {
                self.of_library(i, wanted.id, &e, wanted.positional, wanted.named)
            } else {
                None
            };
            let reached = if !fits {
                0
            } else if of_library.is_none() && not_taken(&e) && !matches!(op.body, Body::Written(_)) {
                1
            } else {
                2
            };
            if first.as_ref().is_none_or(|(far, _)| reached > *far) {
                first = Some((reached, of_library.unwrap_or(e)));
            }
        }
        Ok(Tried::Refused(first))
    }

    /// An operation on what may be None, where it is known what it comes to for None: another row, or an error of
    /// Python's. Else the row for the value takes it, and None is an error of the conversion.
    fn apart_from_none(&mut self, i: Inst, wanted: &Wanted<'_>) -> Option<Typed> {
        let may_be_none =
            |s: &mut Self, of: &Source| s.source_arg(of).is_ok_and(|a| matches!(*a.ty, Kind::Optional(_)));
        let named = wanted.named.iter().map(|(_, s)| s);
        let all: Vec<Source> = wanted.positional.iter().chain(named).cloned().collect();
        let at = all.iter().position(|of| may_be_none(self, of)).filter(|_| wanted.variant.is_none())?;
        let mut with = |s: &mut Self, way: &Source| {
            let (mut positional, mut named) = (wanted.positional.to_vec(), wanted.named.to_vec());
            match positional.get_mut(at) {
                Some(of) => *of = way.clone(),
                None => named[at - wanted.positional.len()].1 = way.clone(),
            }
            named.extend(["where", "dtype"].into_iter().map(Into::into).zip(wanted.options.iter().cloned()));
            s.rows(i, wanted.id, positional, named)
        };
        let none = with(self, &Source::Const(Const::None));
        self.out.resolved.remove(&i);
        let gives = match none {
            Ok((ty, ..)) => Some(ty),
            Err(e) if self.raises_when_it_comes(i, &e, Type::none()) => None,
            Err(_) => return None,
        };
        // `round(x, None)` is an int, `round(x, 2)` a float: neither becomes the other.
        if let Some(none) = gives.filter(|t| t.is_number()) {
            let value = with(self, &Source::NotNone(Box::new(all[at].clone()))).ok().map(|(ty, ..)| ty);
            self.out.resolved.remove(&i);
            if value.is_some_and(|t| t.is_number() && kind_of_number(t) != kind_of_number(none)) {
                let text = "this gives a number of another kind where None stands for an operand";
                let d = Diagnostic::new(Code::CannotUnify, text).help("ask for None first");
                return (self.session.overflow == Overflow::Python).then_some(Err(d));
            }
        }
        match self.dispatch(i, &all[at], &mut with) {
            // One value may be what the other has no type with: `a[None]` has a dimension more than `a[0]`.
            // But what an array is compared to has one answer for each element, and None has one.
            Ok((ty, ..))
                if crate::types::promote::is_variant(ty) && !matches!(wanted.id, id::EQ | id::NE) => {}
            Ok(typed) => return Some(Ok(typed)),
            // It is an error of Python's whatever it is: so for who asks for one of several types of another operand.
            Err(mut e) if self.out.resolved.get(&i).is_some_and(Resolved::is_impossible) => {
                let said = e.said.take();
                let mut e = self.does_not_take(wanted.id, wanted.positional, wanted.named).unwrap_or(e);
                e.said = said;
                return Some(Err(e));
            }
            Err(_) => {}
        }
        self.out.resolved.remove(&i);
        None
    }

    /// The error of an operation that no row carries out; `first` is what the row said that came furthest.
    fn no_row(
        &mut self,
        id: OpId,
        first: Option<(i32, Diagnostic)>,
        library: bool,
        positional: &[Source],
        named: &Named,
    ) -> Diagnostic {
        let own_reason = first.as_ref().is_some_and(|(reached, _)| *reached != 1);
        let e = first.map(|(_, e)| e).unwrap_or_else(|| {
            let what = format!("`{}` is not compiled", id.name().trim_start_matches("builtins."));
            let d = Diagnostic::new(Code::UnsupportedSyntax, what);
            match hints::instead_of(id.name()) {
                Some(h) => d.help(h),
                None => d,
            }
        });
        let which = if e.code == Code::NoMatchingOperation && library && !self.session.is_library(self.func) {
            self.which_argument(id, positional, named)
        } else {
            None
        };
        let mut e = if own_reason || !not_taken(&e) {
            e
        } else {
            self.does_not_take(id, positional, named).unwrap_or(e)
        };
        if e.code == Code::NoMatchingOperation
            && let Ok(operands) = self.source_args(positional)
        {
            e.said = super::said::said_of(id, &operands);
        }
        match which {
            Some(text) => e.note(text),
            None => e,
        }
    }

    /// Which argument of a function of NumPy is text or None where only something that becomes an array can
    /// stand, or a dtype that is not known yet.
    fn which_argument(&mut self, id: OpId, positional: &[Source], named: &Named) -> Option<String> {
        let op = id.rows().first().filter(|_| id.facts().makes_arrays)?;
        let args = self.source_args(positional).ok()?;
        let by_name =
            named.iter().find(|(name, _)| &**name == "dtype").and_then(|(_, s)| self.source_arg(s).ok());
        let dtype =
            by_name.or_else(|| args.get(op.spec().params.iter().position(|p| p.name == "dtype")?).cloned());
        if dtype.is_some_and(|a| *a.ty == Kind::Str && a.text().is_none()) {
            return Some(format!(
                "If {} dtype is a string it must be a string constant.",
                id.name().replace("numpy.", "np.")
            ));
        }
        let (p, a) = op.spec().params.iter().zip(&args).find(|(p, a)| {
            p.default.is_none()
                && matches!(a.ty.kind(), Kind::Str | Kind::None)
                && !matches!(p.name, "shape" | "subscripts" | "dtype")
        })?;
        Some(format!("The argument \"{}\" must be array-like, not {}", p.name, a.ty))
    }

    /// The error for arguments that no row takes, as they were written.
    fn does_not_take(&mut self, id: OpId, positional: &[Source], named: &Named) -> Result<Diagnostic> {
        let args = self.source_args(positional)?;
        let by_name: Vec<(Arc<str>, Arg)> =
            named.iter().map(|(name, s)| Ok((name.clone(), self.source_arg(s)?))).collect::<Result<_>>()?;
        Ok(crate::typing::no_match_named(&crate::typing::refusal::spelling(id.name()), &args, &by_name))
    }

    /// The error of an operation that is library code: what that could not do with its operands is what the
    /// operation does not take, and names of the library say nothing to its user. None for an error with a
    /// reason of its own.
    fn of_library(
        &mut self,
        i: Inst,
        id: OpId,
        e: &Diagnostic,
        positional: &[Source],
        named: &Named,
    ) -> Option<Diagnostic> {
        let here = self.func.span(self.func.inst(i).loc);
        if e.generic.is_none() || self.session.is_library(self.func) || e.span.as_ref() != Some(&here) {
            return None;
        }
        let mut d = self.does_not_take(id, positional, named).ok()?;
        // An operator says something, and with it what to do instead.
        if let Some(Subject::Sign | Subject::Percent) = e.generic
            && d.help.is_none()
        {
            d.message = format!("{}: {}", d.message, e.message);
            // Nobody has written that operator, which with a string in front would format it.
            if e.generic != Some(Subject::Percent) {
                d.help = e.help.clone();
            }
        }
        Some(d)
    }

    /// Whether the data that is the first operand are integers, and Python's answer is promised.
    fn promises_ints(&self, args: &[Arg]) -> bool {
        let promised = self.session.overflow == Overflow::Python && !self.session.is_library(self.func);
        let data = || {
            let of = ops::iter::iterator_of(self.session.resolve(args.first()?.ty))?;
            ops::iter::value_type(of)
        };
        promised && data().is_some_and(Type::is_index)
    }

    /// Types a row of the table for operands in parameter order.
    pub(crate) fn apply(
        &mut self,
        i: Inst,
        op: &'static ops::OpDef,
        sources: Vec<Source>,
        unwrap: bool,
    ) -> Typed {
        let mut args = self.source_args(&sources)?;
        if !(op.takes)(&args) || op.refuses_records(&args) || op.refuses_halves(&args) {
            return Err(crate::typing::no_match(op.name(), &args));
        }
        if op.forgets_ints && self.promises_ints(&args) {
            return Err(crate::typing::no_match(op.name(), &args));
        }
        if self.session.overflow == Overflow::Python && (op.guesses)(&args) {
            // No mistake of the program's, so nothing that the code raises.
            let text = crate::typing::no_match(op.name(), &args).message;
            return Err(Diagnostic::new(Code::UnsupportedArgument, text));
        }
        if let Body::Py(path) = op.body {
            let func = self.session.host.library(path)?;
            let mut sources = sources;
            if op.spec().varargs {
                let rest = sources.split_off(op.spec().params.len());
                sources.push(Source::Pack(rest));
            }
            let typed = self.call_function(i, func, sources, true)?;
            // A row that asks for itself with the very same types, be it through other rows, has found nothing
            // that takes them.
            if let Some(Resolved::Instance { id, .. }) = self.out.resolved.get(&i)
                && self.session.library_asks_for_itself(*id)
            {
                return Err(crate::typing::no_match(&crate::typing::refusal::spelling(op.name()), &args));
            }
            return Ok(typed);
        }
        let mut unwrapped = vec![];
        let site = self.site(i);
        let promised = self.session.overflow == Overflow::Python;
        let apart = promised && !self.session.is_library(self.func);
        let rest_is_seen =
            id::UNPACK_EX.rows().iter().any(|row| std::ptr::eq(*row, op)) && self.rest_is_seen(i);
        let ask = |session: &mut Session<'h>, args: &[Arg]| -> Result<Answer> {
            match op.body {
                Body::Lir(rule, _) => {
                    (session.vars.promised, session.vars.apart) = (promised, apart);
                    session.vars.rest_is_seen = rest_is_seen;
                    let answer = rule(&mut TyCx { vars: &mut session.vars, host: session.host, site }, args);
                    session.vars.apart = false;
                    answer
                }
                Body::Ufunc(rule, _) => crate::ops::ufunc::type_call(op, rule, args),
                Body::Py(_) | Body::Written(_) => {
                    Err(Diagnostic::internal(format!("{} has no rule", op.name())))
                }
            }
        };
        let answer = match ask(self.session, &args) {
            Ok(a) => a,
            Err(e) => {
                // An optional operand is taken as its value, with a check, where the operation knows nothing
                // of None.
                for (k, a) in args.iter_mut().enumerate() {
                    let t = without_none(a.ty);
                    if t != a.ty {
                        a.ty = t;
                        unwrapped.push(k);
                    }
                }
                if unwrapped.is_empty() || !unwrap {
                    return Err(e);
                }
                ask(self.session, &args).map_err(|_| e)?
            }
        };
        if apart && gives_half(op, &args, answer.ret) {
            let text = "NumPy has float16 for this, and compiled code float32";
            return Err(Diagnostic::new(Code::NoMatchingOperation, text).help("make it x.astype(np.float32)"));
        }
        let coerce: Vec<Type> =
            if answer.args.is_empty() { args.iter().map(|a| a.ty).collect() } else { answer.args };
        let raises = op.raises
            || crate::ops::ufunc::may_raise(op, &mut args.iter().map(|a| a.ty))
            || !unwrapped.is_empty()
            || args.iter().any(|a| crate::types::promote::step_may_raise(a.ty));
        let konst = answer.konst.filter(|_| op.effect != ops::Effect::Writes);
        self.out.resolved.insert(i, Resolved::Apply { op, sources, coerce });
        Ok((answer.ret, konst, raises))
    }
}

/// What became of asking the rows.
enum Tried {
    Typed((Type, Option<Const>, bool)),
    /// What the row says that came furthest, if any was asked.
    Refused(Option<(i32, Diagnostic)>),
}

/// The type of a value, or of a tuple's members, when none of them is None.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type has no None to leave out")]
fn without_none(t: Type) -> Type {
    match t.kind() {
        Kind::Optional(t) => *t,
        Kind::Tuple(m) if m.iter().any(|t| matches!(**t, Kind::Optional(_))) => {
            Type::tuple(m.iter().map(|t| without_none(*t)).collect())
        }
        _ => t,
    }
}

/// Whether a universal function's result is float32 where NumPy's is float16: that of integers of 8 bits and bools.
fn gives_half(op: &'static ops::OpDef, args: &[Arg], ret: Type) -> bool {
    let element = |t: Type| t.as_array().map_or(t, |a| a.dtype);
    let small = |t: Type| *t == Kind::Bool || t.is_int() && t.itemsize() == 1;
    let Body::Ufunc(..) = op.body else { return false };
    let mut given = args.iter().map(|a| element(a.ty)).filter(|t| *t != Type::none());
    element(ret) == Type::float_of(Float::F32)
        && given.clone().any(small)
        && given.all(|t| small(t) || t == Type::int())
}
