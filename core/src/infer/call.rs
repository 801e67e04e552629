//! What is called, and how its parameters get their values.

use super::bind::bind;
use super::globals::{refused, type_of_global};
use super::numba::{self, takes_own_numbers};
use super::resolved::{Resolved, Source, Typed};
use super::results::is_of_actors;
use super::state::{Key, Seen, Solver};
use super::unknown::unknown_elements;
use crate::declare::Choice;
use crate::diag::{Code, Diagnostic, Result, Span};
use crate::host::{GlobalValue, Written};
use crate::ops::{self, OpId, exception, id};
use crate::source::Origin;
use crate::ssa::{FuncId, Inst, Op, Params, Term, registry};
use crate::types::{ClassDef, Const, FuncType, Kind, Type, promote};
use crate::typing::Arg;
use crate::typing::refusal::augmented;
use crate::typing::unions::is_mixed;
use crate::typing::vars::{has_unknown, has_variable};
use std::sync::Arc;

/// Whether a constant is one as a number of another type too.
pub(super) fn stays_constant(c: &Const, ty: Type) -> bool {
    let exact = c.ty().is_index() || !ty.is_index();
    ty.is_number() && c.ty().is_number() && exact
}

impl Solver<'_, '_> {
    pub(crate) fn source_args(&mut self, sources: &[Source]) -> Result<Vec<Arg>> {
        sources.iter().map(|s| self.source_arg(s)).collect()
    }

    pub(crate) fn source_arg(&mut self, s: &Source) -> Result<Arg> {
        Ok(match s {
            Source::Value(v) => self.arg(*v),
            Source::Member(v, k) => {
                let f = self.fact(*v).clone();
                let konst = match &f.konst {
                    Some(Const::Tuple(m)) => m.get(*k as usize).cloned(),
                    _ => None,
                };
                Arg { ty: f.ty.member(*k).ok_or_else(|| Diagnostic::internal("missing member"))?, konst }
            }
            Source::Part(of, k) => {
                let of = self.source_arg(of)?;
                let konst = match &of.konst {
                    Some(Const::Tuple(m)) => m.get(*k as usize).cloned(),
                    _ => None,
                };
                Arg { ty: of.ty.member(*k).ok_or_else(|| Diagnostic::internal("missing member"))?, konst }
            }
            Source::Present(of, _) | Source::Owner(of, _) | Source::NotNone(of) => {
                let of = self.source_arg(of)?;
                Arg::of(if let Kind::Optional(t) = *of.ty { t } else { of.ty })
            }
            Source::As(of, ty) => {
                let konst = self.source_arg(of)?.konst.filter(|c| stays_constant(c, *ty));
                Arg { ty: *ty, konst }
            }
            Source::Const(c) => Arg::constant(c.clone()),
            Source::Global(GlobalValue::Passed { place, .. })
                if let Some(open) = self.session.open_passed(*place) =>
            {
                Arg::of(open)
            }
            Source::Global(g) => {
                let passed = self.type_of_passed(g).map(|ty| (ty, None));
                let (ty, konst) = match passed {
                    Some(known) => known,
                    None => type_of_global(g).map_err(|w| refused(g, "a default", &w))?,
                };
                Arg { ty, konst }
            }
            Source::Rest(of) => self.source_arg(of)?,
            Source::Pack(m) => {
                let args = self.source_args(m)?;
                let konst: Option<Vec<Const>> = args.iter().map(|a| a.konst.clone()).collect();
                Arg { ty: Type::tuple(args.iter().map(|a| a.ty).collect()), konst: konst.map(Const::Tuple) }
            }
            Source::Keywords(class, m) => Arg::of(Type::new(Kind::NamedTuple(
                class,
                self.source_args(m)?.iter().map(|a| a.ty).collect(),
            ))),
        })
    }

    /// `callee(*positional, **named)`.
    pub(crate) fn call(
        &mut self,
        i: Inst,
        callee: &Source,
        positional: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        if let Kind::NamedTupleClass(c) | Kind::ExcClass(c) | Kind::Class(c) =
            self.source_arg(callee)?.ty.kind()
            && let Some(typed) = self.overloaded_class(i, c, callee, &positional, &named)
        {
            return typed;
        }
        self.call_anything(i, callee, positional, named)
    }

    /// The same without what the program says of a class.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what can be called is listed: any other type is refused"
    )]
    pub(super) fn call_anything(
        &mut self,
        i: Inst,
        callee: &Source,
        positional: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        let ty = self.source_arg(callee)?.ty;
        if ty.without_none() == exception::any_argument().without_none() {
            let text = "methods that a class of exceptions defines are not compiled";
            return Err(Diagnostic::new(Code::BadCall, text)
                .help("write a function that is given what the exception carries"));
        }
        match ty.kind() {
            Kind::Variant(_) => {
                self.dispatch(i, callee, &mut |s, way| s.call(i, way, positional.clone(), named.clone()))
            }
            Kind::Optional(_) => {
                let present = Source::Present(Box::new(callee.clone()), "'NoneType' object is not callable");
                let (ty, _, _) = self.call(i, &present, positional, named)?;
                // A function without captured values is not looked at by the call itself.
                let how = self.out.resolved.remove(&i).unwrap_or(Resolved::Nothing);
                self.out.resolved.insert(i, Resolved::After(present, Box::new(how)));
                Ok((ty, None, true))
            }
            Kind::Function(f) => self.call_value(i, f, callee, positional, named),
            Kind::Builtin(path) => self.call_operation(i, *path, callee, positional, named),
            Kind::Method(id::NAMEDTUPLE_REPLACE, t) => self.replace_fields(i, *t, callee, named),
            Kind::Method(id::NAMEDTUPLE_MAKE, t) => self.make_from(i, *t, positional),
            Kind::Method(id::DICT_GET, of)
                if let Kind::NamedTuple(class, _) = of.kind()
                    && class.is_keywords()
                    && named.is_empty()
                    && let Some(typed) = self.get_keyword(i, class, &callee.part(0), &positional)? =>
            {
                Ok(typed)
            }
            Kind::Method(path, _) => {
                let sources = std::iter::once(callee.part(0)).chain(positional).collect();
                self.rows(i, *path, sources, named)
            }
            Kind::DType(_) => self.call_row(i, id::DTYPE_CALL, callee, positional, named),
            Kind::ExcClass(_) if named.is_empty() => self.call_row(i, id::EXC_NEW, callee, positional, named),
            Kind::ExcClass(_) => {
                let (names, values): (Vec<_>, Vec<_>) =
                    named.into_iter().map(|(name, v)| (name.to_string(), v)).unzip();
                let mut all = positional;
                all.push(Source::Keywords(ClassDef::keywords(names), values));
                self.call_row(i, id::EXC_NEW_NAMED, callee, all, vec![])
            }
            Kind::NamedTuple(class, _)
            | Kind::Frozen(class, _)
            | Kind::Object(class, _)
            | Kind::Member(class)
                if !class.is_keywords()
                    && let Some(own) =
                        self.special_call(i, class, callee, positional.clone(), named.clone()) =>
            {
                own
            }
            Kind::NamedTupleClass(class) => {
                if let Some(d) = self.makes_itself(class) {
                    return Err(d);
                }
                let fields: Vec<Arc<str>> = class.fields.iter().map(|f| f.as_str().into()).collect();
                let host = self.session.host;
                let params = Params { positional: fields.len(), names: fields, ..Params::default() };
                let sources = bind(&class.name, &params, positional, named, &mut |field| {
                    host.field_default(class, field).map(Source::Global)
                })?;
                let args = self.source_args(&sources)?;
                self.out.resolved.insert(i, Resolved::Build { sources });
                Ok((Type::new(Kind::NamedTuple(class, args.iter().map(|a| a.ty).collect())), None, false))
            }
            Kind::Class(c) if c.is_frozen() || c.has_objects() || c.member_count().is_some() => {
                let all = std::iter::once(callee.clone()).chain(positional).collect();
                self.call_written(i, c, Written::Call, all, named)
            }
            Kind::Class(c) => Err(self
                .session
                .host
                .written_for(c, Written::Call)
                .err()
                .unwrap_or_else(|| {
                    let text = format!("objects of the class {} cannot be made in compiled code", c.name);
                    Diagnostic::new(Code::BadCall, text)
                })
                .help(
                    super::hints::instead_of(&c.name)
                        .unwrap_or("make it outside, and pass what the function needs from it"),
                )),
            _ => Err(Diagnostic::new(
                Code::BadCall,
                format!("a value of type {} cannot be called", self.session.resolve(ty)),
            )),
        }
    }

    /// The same of a function of Python's, with its defaults and what it has captured.
    fn call_value(
        &mut self,
        i: Inst,
        f: &FuncType,
        callee: &Source,
        positional: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        if registry::is_overloaded(f.func) {
            return self.call_overloaded(i, f, callee, positional, named);
        }
        if registry::chooses(f.func) {
            let given = if f.bound { Some(callee.part(0)) } else { None };
            let positional: Vec<Source> = given.into_iter().chain(positional).collect();
            return self.call_chosen(i, f.func, positional, named);
        }
        let func = registry::get(f.func)
            .ok_or_else(|| Diagnostic::internal(format!("{} is not registered", f.func)))?;
        if f.bound {
            let positional = std::iter::once(callee.part(0)).chain(positional).collect();
            let plain = FuncType { captures: vec![], bound: false, ..f.clone() };
            let sources = self.bind_function(&func, &plain, callee, positional, named)?;
            return self.call_function(i, f.func, sources, self.session.is_library(&func));
        }
        let mut sources = self.bind_function(&func, f, callee, positional, named)?;
        let first_capture = f.defaults.len();
        sources.extend((0..f.captures.len()).map(|k| callee.part((first_capture + k) as u32)));
        self.call_function(i, f.func, sources, self.session.is_library(&func))
    }

    /// Whether the result of an instruction is given to `next`. What that name means is asked, as its type may
    /// not be known yet.
    fn is_advanced(&self, i: Inst) -> bool {
        let Some(made) = self.func.inst(i).result else { return false };
        // Beside a value of another type, `zip(a, b) if c else ()`, it is an object as well.
        let edges = |b: &crate::ssa::BlockData| match &b.term {
            Term::Jump(to) => to.args.contains(&made),
            Term::Branch { then_to, else_to, .. } => {
                then_to.args.contains(&made) || else_to.args.contains(&made)
            }
            Term::Return(_) | Term::Raise { .. } | Term::None | Term::Unreachable => false,
        };
        if self.session.vars.unions && self.func.blocks.iter().any(edges) {
            return true;
        }
        let is_next = |callee: crate::ssa::Value| {
            let names = self.func.insts.iter().filter(|n| n.result == Some(callee));
            names.filter_map(|n| if let Op::Global(name) = &n.op { Some(name) } else { None }).any(|name| {
                let found = self.global_named(name);
                matches!(found, Some(GlobalValue::Builtin(id::BUILTINS_NEXT)))
            })
        };
        self.func
            .insts
            .iter()
            .any(|n| matches!(n.op, Op::Call { .. }) && n.args.get(1) == Some(&made) && is_next(n.args[0]))
    }

    /// A call of an operation.
    fn call_operation(
        &mut self,
        i: Inst,
        op: OpId,
        callee: &Source,
        positional: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        match self.overloaded_call(i, op, callee, &positional, &named) {
            Some(typed) => typed,
            None => self.call_operation_itself(i, op, callee, positional, named),
        }
    }

    /// The same without what the program says of it.
    pub(super) fn call_operation_itself(
        &mut self,
        i: Inst,
        op: OpId,
        callee: &Source,
        positional: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        let positional = self.present_iterables(op, positional)?;
        if !op.rows().iter().any(|row| row.wants_constants) {
            return self.call_known_operation(i, op, callee, positional, named);
        }
        let given: Vec<Source> = positional.iter().chain(named.iter().map(|n| &n.1)).cloned().collect();
        let typed = self.call_known_operation(i, op, callee, positional, named);
        if matches!(&typed, Err(d) if d.code == Code::RequiresConstant) {
            self.want_values_of(&given, true)?;
        }
        typed
    }

    /// Operations that are more than a row are listed.
    fn call_known_operation(
        &mut self,
        i: Inst,
        op: OpId,
        callee: &Source,
        positional: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        match op {
            _ if positional.len() == 2 && named.is_empty() && op.plain().is_some() => {
                self.operation_itself(i, op, positional)
            }
            // An iterator that a program holds and advances by hand is an object; those of loops are values.
            id::BUILTINS_ITER => self.rows(i, id::ITER_OBJECT, positional, named),
            // So are those that `next` advances.
            id::BUILTINS_REVERSED if self.is_advanced(i) => {
                self.rows(i, id::REVERSED_OBJECT, positional, named)
            }
            id::BUILTINS_ENUMERATE if self.is_advanced(i) => {
                self.rows(i, id::ENUMERATE_OBJECT, positional, named)
            }
            id::BUILTINS_ZIP if self.is_advanced(i) => self.rows(i, id::ZIP_OBJECT, positional, named),
            id::BUILTINS_GETATTR | id::BUILTINS_HASATTR => self.get_attribute(i, callee, &positional),
            id::DATACLASSES_REPLACE | id::DATACLASSES_ASDICT | id::DATACLASSES_ASTUPLE
                if let [of] = positional.as_slice()
                    && let Kind::Frozen(class, _) = self.source_arg(of)?.ty.kind() =>
            {
                self.of_dataclass(i, op, class, of, named)
            }
            id::DATACLASSES_REPLACE | id::DATACLASSES_ASDICT | id::DATACLASSES_ASTUPLE
                if let [of] = positional.as_slice()
                    && let Kind::Object(class, _) = self.source_arg(of)?.ty.kind() =>
            {
                self.call_written(i, class, Self::written_of(op), positional, named)
            }
            id::DATACLASSES_IS_DATACLASS
                if let [of] = positional.as_slice()
                    && let Kind::Object(class, _) | Kind::Class(class) = self.source_arg(of)?.ty.kind()
                    && class.has_objects() =>
            {
                let is = self.session.class_attr(class, "__dataclass_fields__").is_some();
                Ok((Type::bool(), Some(Const::Bool(is)), false))
            }
            id::DATACLASSES_REPLACE
                if let [of] = positional.as_slice()
                    && promote::is_variant(self.source_arg(of)?.ty) =>
            {
                self.dispatch(i, &of.clone(), &mut |s, way| {
                    s.call_operation(i, op, callee, vec![way.clone()], named.clone())
                })
            }
            // None has a class of its own.
            id::BUILTINS_TYPE
                if let [of] = positional.as_slice()
                    && named.is_empty()
                    && matches!(*self.source_arg(of)?.ty, Kind::Optional(_)) =>
            {
                self.class_of_optional(i, &of.clone())
            }
            id::ORDERS if let Some(raises) = self.without_order(i, &positional) => raises,
            id::BUILTINS_SUPER if positional.len() == 2 => self.super_of(i, &positional),
            id::TIERUP_UNROLL => self.unroll(i),
            id::WITH_REST => self.call_with_rest(i, positional, named),
            id::PAR_START => self.task(i, &positional),
            id::PAR_MOVE if let Some(used) = self.used_after_move(i, positional.first()) => Err(used),
            id::TIERUP_STATIC
                if let [of] = positional.as_slice()
                    && named.is_empty() =>
            {
                self.static_value(i, of)
            }
            id::BUILTINS_DICT if positional.is_empty() && named.len() > 1 => self.dict_of_names(i, named),
            id::INSTANCE_MAKE => self.make_instance(i, positional),
            id::OBJECT_NEW => self.new_object(i, positional, &named),
            id::OWN_GET | id::OWN_SET | id::BUILTINS_SETATTR | id::BUILTINS_DELATTR => {
                self.by_name(i, op, &positional)
            }
            id::ANSWER | id::ANSWER_OR => self.answer(i, op, &positional),
            id::OR_RESULT | id::BESIDE => self.value_beside(i, op, positional),
            id::HOLDS_INSTANCES => {
                let holds = self.holds_instances(&positional[0])?;
                Ok((Type::bool(), Some(Const::Bool(holds)), false))
            }
            id::MEMBER_MAKE => self.make_member(i, &positional),
            id::NUMPY_RESULT_DTYPE => self.result_dtype(i, positional),
            // A value that may be None is asked when it runs.
            id::BUILTINS_ISINSTANCE
                if positional.len() == 2
                    && matches!(*self.source_arg(&positional[0])?.ty, Kind::Optional(_)) =>
            {
                self.dispatch(i, &positional[0].clone(), &mut |s, way| {
                    s.rows(i, id::BUILTINS_ISINSTANCE, vec![way.clone(), positional[1].clone()], vec![])
                })
            }
            _ => {
                let positional = self.empty_operands(i, op, positional);
                self.rows(i, op, positional, named)
            }
        }
    }

    /// The operands of what looks at what it goes through before it gives anything out, with a check that these are
    /// there.
    fn present_iterables(&mut self, op: OpId, mut operands: Vec<Source>) -> Result<Vec<Source>> {
        let first = match op {
            id::BUILTINS_ITER => 0,
            id::BUILTINS_MAP | id::BUILTINS_FILTER => 1,
            _ => return Ok(operands),
        };
        for s in operands.iter_mut().skip(first) {
            if let Kind::Optional(_) = *self.source_arg(s)?.ty {
                *s = Source::Present(Box::new(s.clone()), "'NoneType' object is not iterable");
            }
        }
        Ok(operands)
    }

    /// `np._result_dtype(f, *args)`: the dtype of what a call would give, for library functions that allocate
    /// before they call.
    fn result_dtype(&mut self, i: Inst, mut sources: Vec<Source>) -> Typed {
        let f = sources.remove(0);
        let called = self.call(i, &f, sources, vec![])?;
        let ty = called.0;
        // What never returns is called: it raises, and where its result would have gone no code is.
        if *ty == Kind::Never {
            return Ok(called);
        }
        self.out.resolved.insert(i, Resolved::Nothing);
        let element = ty.as_array().map_or(ty, |a| a.dtype);
        if element.is_number() {
            return Ok((ops::array::dtype_of(element), None, false));
        }
        Err(Diagnostic::new(
            Code::NoMatchingOperation,
            format!("what is called for each element must give a number, not {ty}"),
        ))
    }

    /// Types an instruction once for each type that `on` may have when the program runs (None first, if it is
    /// optional), and unifies the results; where no type holds them all, the result is of one of several
    /// types as well.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only these types are more than one")]
    pub(crate) fn dispatch(
        &mut self,
        i: Inst,
        on: &Source,
        one: &mut dyn FnMut(&mut Self, &Source) -> Typed,
    ) -> Typed {
        let ty = self.source_arg(on)?.ty;
        let each: Vec<(Source, Type)> = match ty.kind() {
            Kind::Variant(m) => m.iter().enumerate().map(|(k, t)| (on.part(k as u32), *t)).collect(),
            Kind::Optional(t) => {
                vec![(Source::Const(Const::None), Type::none()), (Source::NotNone(Box::new(on.clone())), *t)]
            }
            _ => return Err(Diagnostic::internal("a dispatch on one type")),
        };
        let noted = |s: &Self, mut e: Diagnostic, t: Type| {
            e.notes.push((format!("where the value is {}", s.session.resolve(t)), None));
            e
        };
        let (mut raises, mut ways, mut failed) = (false, vec![], None);
        for (source, t) in each {
            // None, where nothing is known that Python would do with it, is a TypeError when it comes.
            if let (Source::Const(Const::None), Kind::Optional(_)) = (&source, ty.kind())
                && one(self, &source).is_err_and(|e| !self.raises_when_it_comes(i, &e, t))
            {
                self.out.resolved.remove(&i);
                let (ty, konst, _) = one(
                    self,
                    &Source::Present(Box::new(on.clone()), "unsupported operand type: 'NoneType'"),
                )?;
                return Ok((ty, konst, true));
            }
            self.out.resolved.remove(&i);
            match one(self, &source) {
                Ok((way, konst, may_raise)) => {
                    raises |= may_raise;
                    ways.push((self.out.resolved.remove(&i).unwrap_or(Resolved::Nothing), way, konst));
                }
                // As in Python: what cannot be done with this value is an error when it comes.
                Err(e) if self.raises_when_it_comes(i, &e, t) => {
                    raises = true;
                    let way = self.raising(i, &e);
                    ways.push((way, Type::never(), None));
                    failed.get_or_insert((e, t));
                }
                Err(e) => return Err(noted(self, e, t)),
            }
        }
        if let Some((e, t)) = failed
            && ways.iter().all(|w| w.0.is_impossible())
        {
            self.out.resolved.insert(i, Resolved::Dispatch { on: on.clone(), ways });
            return Err(noted(self, e, t));
        }
        let types: Vec<Type> = ways.iter().map(|w| w.1).collect();
        // Real and complex numbers stay apart, as in Python, where they come from arrays that do.
        let (mut flat, mut none) = (vec![], false);
        for t in &types {
            promote::flatten(*t, &mut flat, &mut none);
        }
        let numbers = promote::is_numeric_variant(ty)
            && !none
            && flat.iter().all(|t| t.is_number() || **t == Kind::Never);
        let of = |complex: bool| {
            flat.iter()
                .filter(|t| t.is_complex() == complex)
                .try_fold(Type::never(), |a, b| promote::unify(a, *b))
                .filter(|t| **t != Kind::Never)
        };
        // An exception carries a whole number or a complex one, never the sum of them.
        let carried = ty.without_none() == exception::any_argument().without_none()
            || promote::are_numbers_apart(ty.without_none());
        let ret = match (of(false), of(true)) {
            (Some(real), Some(complex)) if numbers && !carried => Some(Type::one_of(&[real, complex])),
            _ if carried => {
                flat.retain(|t| **t != Kind::Never);
                flat.extend(none.then(Type::none));
                Some(Type::one_of(&flat))
            }
            _ => {
                self.numbers_of_several(ty, &flat)?;
                let library = self.session.is_library(self.func);
                self.join(&types, is_mixed(ty) || is_of_actors(ty) && !library)
            }
        };
        let ret = ret.ok_or_else(|| {
            let (a, b) = (self.session.resolve(types[0]), self.session.resolve(types[types.len() - 1]));
            Diagnostic::new(Code::CannotUnify, format!("this gives {a} for one and {b} for another of the values that may stand here, which are {ty}"))
                .help("make all of them give values of one type")
        })?;
        let same = ways.windows(2).all(|w| w[0].1 == w[1].1 && w[0].2 == w[1].2);
        let konst = ways.first().and_then(|w| w.2.clone()).filter(|_| same && !raises);
        self.out.resolved.insert(i, Resolved::Dispatch { on: on.clone(), ways });
        Ok((ret, konst, raises))
    }

    /// What raises where it comes what cannot be done with a value.
    fn raising(&mut self, i: Inst, e: &Diagnostic) -> Resolved {
        // What is an error for each that another operand may be says of each what it is.
        let each = self.out.resolved.remove(&i).filter(Resolved::is_impossible);
        each.unwrap_or_else(|| {
            let said = e.said.as_deref().unwrap_or(&e.message);
            let plain = if let Op::Table(op) = self.func.inst(i).op { op.plain() } else { None };
            let said = plain.map_or(said.into(), |plain| augmented(said, plain.name()).into());
            Resolved::Impossible(e.code, said)
        })
    }

    /// The type of a value that is of any of these types: a common one, else one of several; tuples member by
    /// member.
    fn join(&mut self, types: &[Type], apart: bool) -> Option<Type> {
        if self.session.vars.unions && (apart || types.windows(2).any(|t| self.keeps_apart(t[0], t[1]))) {
            return self.session.vars.all_apart(types);
        }
        if types.windows(2).any(|t| self.keeps_apart(t[0], t[1])) {
            return None;
        }
        let one = types.iter().try_fold(Type::never(), |a, b| self.session.vars.unify_sorts(a, *b));
        if one.is_some() {
            return one;
        }
        if let Some(Kind::Tuple(first)) = types.first().map(|t| t.kind()) {
            let all: Option<Vec<&Vec<Type>>> = types
                .iter()
                .map(|t| if let Kind::Tuple(m) = t.kind() { Some(m) } else { None })
                .filter(|m| m.is_none_or(|m| m.len() == first.len()))
                .collect();
            if let Some(all) = all.filter(|a| a.len() == types.len()) {
                return (0..first.len())
                    .map(|k| self.join(&all.iter().map(|m| m[k]).collect::<Vec<_>>(), apart))
                    .collect::<Option<Vec<_>>>()
                    .map(Type::tuple);
            }
        }
        // What a list holds is taken as it is known by now: its type must not change under the variant.
        let known: Vec<Type> = types.iter().map(|t| self.session.resolve(*t)).collect();
        (!known.iter().any(|t| has_unknown(*t))).then(|| Type::one_of(&known))
    }

    fn call_row(
        &mut self,
        i: Inst,
        path: OpId,
        callee: &Source,
        positional: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        let sources = std::iter::once(callee.clone()).chain(positional).collect();
        self.rows(i, path, sources, named)
    }

    /// A function of the library as the function that calls it wants it: what is parallel there is parallel
    /// in it.
    fn in_parallel(&self, func: FuncId) -> FuncId {
        if !self.func.parallel.any() {
            return func;
        }
        let Some(callee) =
            registry::get(func).filter(|f| f.host != 0 && !f.is_generator && self.session.is_library(f))
        else {
            return func;
        };
        let caller = if self.session.is_library(self.func) {
            self.func.parallel
        } else {
            self.func.parallel.of_library(callee.file.origin == Origin::Stencil)
        };
        if callee.parallel == caller { func } else { self.session.host.in_parallel(func, caller) }
    }

    /// Calls a Python function with sources for each parameter, captured values included.
    pub(crate) fn call_function(
        &mut self,
        i: Inst,
        func: FuncId,
        sources: Vec<Source>,
        library: bool,
    ) -> Typed {
        let func = self.in_parallel(func);
        // An empty list that is a default holds what is put into it.
        for s in &sources {
            if let Source::Global(g) = s {
                _ = self.type_of_passed(g);
            }
        }
        let sources = self.of_any_length(func, sources)?;
        let args = self.source_args(&sources)?;
        let mut types: Vec<Type> = args.iter().map(|a| self.session.resolve(a.ty)).collect();
        let consts = if library {
            args.iter().map(|a| a.konst.clone().filter(specialises)).collect()
        } else {
            self.values_of(func, &args, &sources)
        };
        let meaning = self.meaning_of(func);
        let as_meant = |t: Type| if takes_own_numbers(func, meaning) { numba::value(t) } else { t };
        let open = || Key {
            func,
            args: args.iter().map(|a| as_meant(a.ty)).collect(),
            consts: consts.clone(),
            result: None,
            meaning,
        };
        let (site, mut seen, mut given) = (self.site(i), None, None);
        let unsettled = args.iter().any(|a| self.session.vars.is_open_object(a.ty));
        if unsettled || types.iter().any(|t| has_unknown(*t)) || self.session.is_followed(site, func) {
            // An empty list that the function fills: what it puts in tells. An object that it stores or returns
            // is the one that it was given.
            match self.session.look_ahead(site, &open()) {
                Seen::Within(ret) => {
                    self.out.resolved.insert(i, Resolved::Nothing);
                    return Ok((ret, None, true));
                }
                Seen::Returned(ret) => seen = Some(ret),
                Seen::Given(ret) => given = Some(ret),
                Seen::Nothing => {}
            }
            // A look asks no more of a method that gives nothing: what its objects are is not settled yet.
            if unsettled
                && self.session.is_look(self.id)
                && let Some(ret) = seen.or(given).filter(|t| **t == Kind::None)
            {
                self.out.resolved.insert(i, Resolved::Nothing);
                return Ok((ret, None, true));
            }
            types = args.iter().map(|a| self.session.resolve(a.ty)).collect();
        }
        types.iter_mut().for_each(|t| *t = as_meant(*t));
        let unknown = types.iter().any(|t| has_unknown(*t));
        if unknown && !self.waiting.is_in_vain((i, func)) {
            return self.await_elements(i, func, seen.or(given), &types, consts);
        }
        let given = types.clone();
        self.take_declared(func, &mut types)?;
        // What is converted to another type is another value.
        let same = |k: usize| promote::same_but_weak(given[k], types[k]);
        let known = consts.iter().enumerate().map(|(k, c)| c.clone().filter(|_| same(k))).collect();
        let key = Key { func, args: types.clone(), consts: known, result: None, meaning };
        if !library {
            self.session.note_growth(func, &types)?;
        }
        let id = match self.session.instance(key) {
            Ok(id) => id,
            // It wants elements of some type, if only to say what it gives: those by default.
            Err(_) if unknown => return Err(unknown_elements()),
            Err(e) => {
                // A list that was made here may be meant to hold more than it does so far.
                if !library && args.iter().any(|a| self.session.vars.is_open(a.ty)) {
                    self.session.look_ahead(site, &open());
                }
                if !library && self.session.grows_anew(func) {
                    return self.call_function(i, func, sources, library);
                }
                // It has turned out to be a function that has code for values.
                if self.wants_values(func, &consts, &args, &sources) {
                    return self.call_function(i, func, sources, library);
                }
                return Err(self.in_call(i, func, &types, e));
            }
        };
        let ret = seen.unwrap_or_else(|| self.session.result_at(id, site));
        if has_variable(ret) {
            self.out.open.insert(i);
        }
        self.out.resolved.insert(i, Resolved::Instance { id, sources, coerce: types, ret });
        Ok((ret, None, true))
    }

    /// An error in a function that is called, with the call that leads there.
    fn in_call(&self, i: Inst, func: FuncId, types: &[Type], mut e: Diagnostic) -> Diagnostic {
        let here = self.func.span(self.func.inst(i).loc);
        if here.file.is_library() {
            return e;
        }
        // What goes wrong inside a library function goes wrong in the call of the operation that it stands
        // for.
        let inside = |s: &Option<Span>| s.as_ref().is_some_and(|s| s.file.is_library());
        e.notes.retain(|n| !inside(&n.1));
        if inside(&e.span) {
            e.span = Some(here);
            return e;
        }
        if registry::get(func).is_some_and(|f| self.session.is_library(&f)) {
            return e;
        }
        let with = types.iter().map(|t| shortened(*t)).collect::<Vec<_>>().join(", ");
        e.notes.push((format!("in the call of `{}` with ({with})", func.name()), Some(here)));
        e
    }

    /// The argument types of the signature that a call of a declared function is for, in the place of its
    /// own.
    fn take_declared(&self, func: FuncId, types: &mut [Type]) -> Result<()> {
        let Some(declared) = registry::declared(func) else { return Ok(()) };
        let several = match declared.choose(types) {
            Choice::One(k) => {
                types.copy_from_slice(&declared.signatures[k].args);
                return Ok(());
            }
            Choice::Nothing if declared.open => return Ok(()),
            Choice::Nothing => vec![],
            Choice::Several(k) => k,
        };
        let help = if several.is_empty() {
            "convert the arguments, or declare a signature for them"
        } else {
            "convert the arguments to those of one signature, or declare one for these types"
        };
        Err(Diagnostic::new(Code::BadCall, declared.refusal(&func.name(), types, &several)).help(help))
    }
}

/// A type in a note: the beginning of its name where that is long.
fn shortened(t: Type) -> String {
    let name = t.to_string();
    match name.char_indices().nth(120) {
        Some((at, _)) => format!("{} …", &name[..at]),
        None => name,
    }
}

/// Constants that a library function is specialised for.
pub(super) fn specialises(c: &Const) -> bool {
    match c {
        Const::None | Const::Ellipsis | Const::Bool(_) | Const::Int(_) | Const::Str(_) | Const::Bytes(_) => {
            true
        }
        Const::UInt(_) | Const::Float(_) | Const::Complex(..) => false,
        Const::Tuple(m) => m.iter().all(specialises),
    }
}
