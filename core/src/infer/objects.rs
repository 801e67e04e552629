//! Objects of the user's classes whose fields may change: making one, reading and writing attributes.
//!
//! A field is a type variable of the place where the object is made, as the elements of a list are: what is
//! assigned to it anywhere says what it holds. A field that holds objects of its own class holds objects of the
//! same type, where that is possible: a list of nodes has one type and not one for each length.

use super::resolved::{Resolved, Source, Typed};
use super::state::Solver;
use crate::classes::{self, slots::Slot};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::{ClassAttr, GlobalValue};
use crate::ops::{OpId, id, variant::none_has_no};
use crate::ssa::{Inst, Value};
use crate::types::{ClassDef, Const, Kind, NumberType, Type, object};
use crate::typing::vars::Vars;
use crate::typing::{Arg, Held, TyCx};
use std::sync::Arc;

impl Solver<'_, '_> {
    /// `operator._new_object(Class)`.
    pub(super) fn new_object(
        &mut self,
        i: Inst,
        sources: Vec<Source>,
        named: &[(Arc<str>, Source)],
    ) -> Typed {
        if sources.len() != 1 || !named.is_empty() {
            let text = "object.__new__() takes exactly one argument (the type to instantiate)";
            return Err(Diagnostic::new(Code::BadCall, text));
        }
        let class = self.source_arg(&sources[0])?.ty;
        let Kind::Class(class) = class.kind() else {
            return Err(Diagnostic::internal("an object of no class"));
        };
        if class.is_native() {
            let ty = self.session.host.declared_type(class)?;
            let coerce = self.source_args(&sources)?.iter().map(|a| a.ty).collect();
            self.out.resolved.insert(i, Resolved::Apply { op: id::OBJECT_NEW.rows()[0], sources, coerce });
            return Ok((ty, None, true));
        }
        let (site, result) = (self.site(i), self.func.inst(i).result);
        let unset = match result {
            Some(made) => self.session.unset_fields(class, self.func, made),
            None => vec![true; class.fields.len()],
        };
        let mut fields = vec![];
        for (k, unset) in unset.into_iter().enumerate() {
            let field = self.session.vars.at(site, k as u16, Type::int());
            if unset {
                // Nothing is known of it that this would contradict.
                _ = self.session.vars.hold(field, Type::undef());
            }
            fields.push(field);
        }
        let coerce = self.source_args(&sources)?.iter().map(|a| a.ty).collect();
        self.out.resolved.insert(i, Resolved::Apply { op: id::OBJECT_NEW.rows()[0], sources, coerce });
        Ok((Type::new(Kind::Object(class, fields)), None, true))
    }

    /// Whether an attribute of a value is one of an object, if the value is not None.
    pub(super) fn is_object(&self, v: Value) -> bool {
        matches!(self.ty(v).without_none().kind(), Kind::Object(..))
            || matches!(self.ty(v).without_none().kind(), Kind::Variant(m) if m.iter().any(|t| matches!(t.kind(), Kind::Object(..))))
    }

    /// The number of the field that an attribute of an object is; none where its class gives it something else.
    pub(super) fn field_of_object(&self, t: Type, name: &str) -> Option<usize> {
        let Kind::Object(class, _) = t.kind() else { return None };
        let k = class.fields.iter().position(|f| f == name)?;
        match self.session.class_attr(class, name) {
            Some(ClassAttr::Property(_)) => None,
            _ => Some(k),
        }
    }

    /// An object whose attribute is taken, or `changed`: AttributeError for None.
    pub(super) fn owner(&mut self, v: &Source, name: &str, changed: bool) -> Result<Source> {
        let optional = matches!(*self.source_arg(v)?.ty, Kind::Optional(_));
        let message = || none_has_no(name, changed).into();
        Ok(if optional { Source::Owner(Box::new(v.clone()), message()) } else { v.clone() })
    }

    /// Field `k` of an object of type `ty`.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other field is set")]
    pub(super) fn get_field(&mut self, i: Inst, v: &Source, ty: Type, k: usize) -> Typed {
        let (class, name) = self.named(ty, k)?;
        let field = object::field(ty, k).ok_or_else(|| Diagnostic::internal("missing field"))?;
        let held = self.session.vars.known(field);
        let of_class = match self.session.class_attr(class, name) {
            Some(ClassAttr::Value(g)) => Some(g),
            _ => None,
        };
        if matches!(*held, Kind::Undef | Kind::MaybeUndef(_))
            && of_class.is_none()
            && let Some(d) = self.computed_attribute(class, name)
        {
            return Err(d);
        }
        let (held, raises) = match *held {
            Kind::Never => return Err(super::unknown::unknown_elements()),
            Kind::Undef if let Some(g) = of_class => {
                return self.class_value(i, &g, &format!("{}.{name}", class.name));
            }
            Kind::MaybeUndef(t) if let Some(g) = of_class => return self.get_field_or(i, v, ty, k, t, g),
            Kind::Undef => {
                let text = format!("'{}' object has no attribute '{name}'", class.name);
                self.out.resolved.insert(i, Resolved::Impossible(Code::UnknownAttribute, text.into()));
                return Ok((Type::never(), None, true));
            }
            Kind::MaybeUndef(t) => (t, true),
            _ => (held, false),
        };
        let owner = self.owner(v, name, false)?;
        let raises = raises || matches!(owner, Source::Owner(..));
        let sources = vec![owner, Source::Const(Const::Int(k as i64))];
        let coerce = vec![ty, Type::int()];
        self.out.resolved.insert(i, Resolved::Apply { op: id::FIELD_GET.rows()[0], sources, coerce });
        Ok((held, None, raises))
    }

    /// A variable that compiled code assigns to, of what calls are given for the class or the module that has it.
    pub(super) fn variable(&mut self, i: Inst, of: GlobalValue, name: &str) -> Typed {
        let of = Source::Global(of);
        let ty = self.source_arg(&of)?.ty;
        match self.field_of_object(ty, name) {
            Some(k) => self.get_field(i, &of, ty, k),
            None => Err(Diagnostic::internal(format!("no variable '{name}'"))),
        }
    }

    /// Field `k`, which may hold a `held`, or what the class has where it is not set.
    fn get_field_or(
        &mut self,
        i: Inst,
        v: &Source,
        ty: Type,
        k: usize,
        held: Type,
        of_class: GlobalValue,
    ) -> Typed {
        let (class, name) = self.named(ty, k)?;
        if let GlobalValue::Variable { .. } = of_class {
            let text = format!(
                "'{name}' may be one of an object of {} or the class's own, which compiled code assigns to",
                class.name
            );
            return Err(Diagnostic::new(Code::UnknownAttribute, text)
                .help(format!("set self.{name} in __init__, or give the one of the class another name")));
        }
        let default = Source::Global(of_class);
        let given = self.source_arg(&default)?.ty;
        let ret = self.session.unify(held, given).ok_or_else(|| {
            let (held, given) = (self.session.resolve(held), self.session.resolve(given));
            let text = format!("the field '{name}' of {} is {held}, and {given} in the class", class.name);
            Diagnostic::new(Code::CannotUnify, text).help("keep the values of a field of one type")
        })?;
        let owner = self.owner(v, name, false)?;
        let raises = matches!(owner, Source::Owner(..));
        let sources = vec![owner, Source::Const(Const::Int(k as i64)), default];
        let coerce = vec![ty, Type::int(), given];
        self.out.resolved.insert(i, Resolved::Apply { op: id::FIELD_GET_OR.rows()[0], sources, coerce });
        Ok((ret, None, raises))
    }

    fn named(&self, object: Type, k: usize) -> Result<(&'static ClassDef, &'static str)> {
        let Kind::Object(class, _) = object.kind() else { return Err(Diagnostic::internal("no object")) };
        let name = class.fields.get(k).ok_or_else(|| Diagnostic::internal("missing field"))?;
        Ok((class, name))
    }

    /// `x.name = value`.
    pub(super) fn set_attribute(&mut self, i: Inst, name: &str) -> Typed {
        let node = self.func.inst(i);
        let (of, value) = (Source::Value(node.args[0]), Source::Value(node.args[1]));
        let ty = self.source_arg(&of)?.ty;
        if let Some(typed) = self.set_added(i, &of, ty.without_none(), name, &value) {
            return typed;
        }
        if let Some(set) = classes::setter(classes::class_of(ty), name) {
            return self.rows(i, set, vec![of, value], vec![]);
        }
        if ty.records().is_some_and(|r| r.field(name).is_some()) {
            let name = Source::Const(Const::Str(name.into()));
            return self.rows(i, id::RECORD_SET, vec![of, name, value], vec![]);
        }
        if self.is_object(node.args[0]) || classes::class_named(ty).is_some() {
            return self.set_attribute_of(i, &of, name, &value);
        }
        if let Kind::Frozen(class, _) = ty.kind() {
            let text = format!("cannot assign to '{name}': instances of {} never change", class.name);
            let replace = if class.is_builtin_value() { "x.replace(" } else { "dataclasses.replace(x, " };
            return Err(Diagnostic::new(Code::ImmutableField, text)
                .help(format!("make another one: {replace}{name}=...)")));
        }
        Err(self.cannot_set(ty, name))
    }

    /// An attribute whose name is a constant: `setattr(object, "x", value)`, and fields as the library asks for
    /// them.
    pub(super) fn by_name(&mut self, i: Inst, op: OpId, operands: &[Source]) -> Typed {
        let args = self.source_args(operands)?;
        let name = args.get(1).and_then(Arg::text).map(str::to_owned);
        let wanted = if matches!(op, id::OWN_GET | id::BUILTINS_DELATTR) { 2 } else { 3 };
        let (Some(name), true) = (name, args.len() == wanted) else {
            let text = if op == id::BUILTINS_DELATTR {
                "delattr() takes an object and the name of an attribute as a constant"
            } else {
                "setattr() takes an object, the name of an attribute as a constant, and a value"
            };
            return Err(Diagnostic::new(Code::RequiresConstant, text));
        };
        if op == id::BUILTINS_DELATTR {
            return self.delete_attribute(i, &operands[0], &name);
        }
        if op == id::BUILTINS_SETATTR {
            return self.set_attribute_of(i, &operands[0], &name, &operands[2]);
        }
        let Kind::Object(class, _) = args[0].ty.kind() else {
            return Err(Diagnostic::internal("a field of no object"));
        };
        let k = class.fields.iter().position(|f| *f == name);
        let k = k.ok_or_else(|| Diagnostic::internal("a field that there is not"))?;
        if op == id::OWN_GET {
            self.get_field(i, &operands[0], args[0].ty, k)
        } else {
            self.set_field(i, &operands[0], args[0].ty, k, &operands[2])
        }
    }

    /// `operator._orders(sign, a, b)` of instances whose classes have no order: what raises TypeError when the
    /// program gets there. Members of tuples are only asked where those before them are equal.
    #[expect(clippy::wildcard_enum_match_arm, reason = "of all others the row knows it")]
    pub(super) fn without_order(&mut self, i: Inst, operands: &[Source]) -> Option<Typed> {
        let args = self.source_args(operands).ok()?;
        let [left, right] = match args.first()?.text()? {
            "<" => [Slot::Lt, Slot::Gt],
            "<=" => [Slot::Le, Slot::Ge],
            ">" => [Slot::Gt, Slot::Lt],
            _ => [Slot::Ge, Slot::Le],
        };
        let lacks = |t: Type, slot: Slot| match t.kind() {
            Kind::Frozen(c, _) => !c.generated().order && self.has_own(c, slot).is_none(),
            Kind::Member(c) if c.base_of_members().is_some() => false,
            Kind::Container(c, _) => c.is_mapping(),
            Kind::NamedTuple(c, _) => c.is_keywords(),
            Kind::Object(c, _) | Kind::Member(c) => self.has_own(c, slot).is_none(),
            _ => false,
        };
        if !lacks(args.get(1)?.ty, left) || !lacks(args.get(2)?.ty, right) {
            return None;
        }
        let func = self.session.host.library("containers.no_order");
        Some(func.and_then(|func| self.call_function(i, func, operands.to_vec(), true)))
    }

    fn set_attribute_of(&mut self, i: Inst, of: &Source, name: &str, value: &Source) -> Typed {
        let ty = self.source_arg(of)?.ty;
        if crate::types::promote::is_variant(ty) {
            let owner = self.owner(of, name, true)?;
            return self.dispatch(i, &owner, &mut |s, way| s.set_attribute_of(i, way, name, value));
        }
        if let Some(class) = classes::class_named(ty) {
            let of = Source::Global(self.session.host.variable_of(class, name)?);
            return self.set_attribute_of(i, &of, name, value);
        }
        let ty = ty.without_none();
        let Kind::Object(class, _) = ty.kind() else {
            return Err(self.cannot_set(ty, name));
        };
        if let Some(ClassAttr::Property(_)) = self.session.class_attr(class, name) {
            let owner = self.owner(of, name, true)?;
            return match self.session.host.property_setter(class, name) {
                Some(set) => {
                    let set = Source::Global(GlobalValue::Function(set));
                    self.call(i, &set, vec![owner, value.clone()], vec![])
                }
                None => Err(Diagnostic::new(
                    Code::ImmutableField,
                    format!("property '{name}' of {} has no setter", class.name),
                )
                .help(format!("give it one: @{name}.setter"))),
            };
        }
        match self.field_of_object(ty, name) {
            Some(k) => self.set_field(i, of, ty, k, value),
            // What is compiled now knows the class without it: the host begins anew.
            None if self.session.host.add_field(class, name) => {
                Err(Diagnostic::internal(format!("{} was not known to have a field '{name}'", class.name)))
            }
            None if self.session.host.is_for_globals(class) => Err(Diagnostic::new(
                Code::UnknownAttribute,
                format!("the global variable '{name}' that is assigned to has no value in the module yet"),
            )
            .help(format!("give it one there first, such as {name} = 0"))),
            None => Err(Diagnostic::new(
                Code::UnknownAttribute,
                format!("an object of {} takes no attribute '{name}'", class.name),
            )
            .help("its class has __slots__ without it, or something else of that name")),
        }
    }

    /// Why an attribute of what is no object cannot be assigned to.
    pub(super) fn cannot_set(&self, ty: Type, name: &str) -> Diagnostic {
        let text = format!("cannot set attribute '{name}' of {}", self.session.resolve(ty));
        let cannot = Diagnostic::new(Code::UnknownAttribute, text);
        if let Kind::Function(_) = ty.kind() {
            return cannot.help(format!(
                "keep it in a variable that functions share (nonlocal), in a field of an object, or in a dict that \
                 the function is given outside of compiled code: f.{name} = {{}}, and then f.{name}[key] = ..."
            ));
        }
        cannot
    }

    fn set_field(&mut self, i: Inst, of: &Source, ty: Type, k: usize, value: &Source) -> Typed {
        let (class, name) = self.named(ty, k)?;
        let value = &self.as_numba_field(class, ty, k, value)?;
        let Arg { ty: given, .. } = self.source_arg(value)?;
        if matches!(*given, Kind::Undef | Kind::MaybeUndef(_) | Kind::Conflict(..)) {
            return Err(Diagnostic::internal("a field of nothing"));
        }
        let field = object::field(ty, k).ok_or_else(|| Diagnostic::internal("missing field"))?;
        self.tie(ty, given);
        let held = self.session.resolve(field);
        if matches!(*given, Kind::Generator(..)) && generators(held) > MOST_GENERATORS {
            let text = format!(
                "the field '{name}' of {} holds generators that were given an object which holds the one before",
                class.name
            );
            return Err(Diagnostic::new(Code::CannotUnify, text)
                .help("keep what the generator needs in fields, and write `__next__`"));
        }
        if !class.is_native() || !is_narrowed(given, field) {
            let (host, site) = (self.session.host, self.site(i));
            let hold =
                |vars: &mut Vars| TyCx { vars, host, site }.hold(field, given, Held::Field(class, k as u32));
            self.with_bools_apart(hold)?;
        }
        let owner = self.owner(of, name, true)?;
        let sources = vec![owner, Source::Const(Const::Int(k as i64)), value.clone()];
        let coerce = vec![ty, Type::int(), given];
        self.out.resolved.insert(i, Resolved::Apply { op: id::FIELD_SET.rows()[0], sources, coerce });
        Ok((Type::none(), None, true))
    }

    /// `del object.name`: a field that may not be set from then on.
    fn delete_attribute(&mut self, i: Inst, of: &Source, name: &str) -> Typed {
        let ty = self.source_arg(of)?.ty;
        if crate::types::promote::is_variant(ty) {
            let owner = self.owner(of, name, true)?;
            return self.dispatch(i, &owner, &mut |s, way| s.delete_attribute(i, way, name));
        }
        let ty = ty.without_none();
        let Some(k) = self.field_of_object(ty, name) else {
            let text = format!("cannot delete attribute '{name}' of {}", self.session.resolve(ty));
            return Err(Diagnostic::new(Code::UnknownAttribute, text)
                .help("only fields of objects can be deleted: keep a flag instead"));
        };
        let (class, _) = self.named(ty, k)?;
        let field = object::field(ty, k).ok_or_else(|| Diagnostic::internal("missing field"))?;
        let site = self.site(i);
        let mut cx = TyCx { vars: &mut self.session.vars, host: self.session.host, site };
        cx.hold(field, Type::undef(), Held::Field(class, k as u32))?;
        if *self.session.vars.known(field) == Kind::Undef {
            let text = format!("'{}' object has no attribute '{name}'", class.name);
            let impossible = Resolved::Impossible(Code::UnknownAttribute, text.into());
            let owner = self.owner(of, name, true)?;
            self.out.resolved.insert(i, Resolved::After(owner, Box::new(impossible)));
            return Ok((Type::never(), None, true));
        }
        let sources = vec![self.owner(of, name, true)?, Source::Const(Const::Int(k as i64))];
        let coerce = vec![ty, Type::int()];
        self.out.resolved.insert(i, Resolved::Apply { op: id::FIELD_DELETE.rows()[0], sources, coerce });
        Ok((Type::none(), None, true))
    }

    /// Objects that are put into a field of an object of their class are of the same type, if they can be.
    fn tie(&mut self, owner: Type, value: Type) {
        let Kind::Object(class, _) = owner.kind() else { return };
        let mut inside = vec![];
        objects_of(class, self.session, value, &mut vec![], &mut inside);
        for t in inside {
            // Where that cannot be, it is an object of another type.
            _ = self.session.unify(owner, t);
        }
    }
}

/// Whether a number is converted to what a field is declared to hold, as an element of an array is: to a narrower
/// number of its kind, or one of a wider kind.
fn is_narrowed(given: Type, field: Type) -> bool {
    let field = if let Kind::MaybeUndef(t) = *field { t } else { field };
    let kind = |t: Type| match t.number()? {
        NumberType::Bool => Some(0),
        NumberType::Int(_) => Some(1),
        NumberType::Float(_) => Some(2),
        NumberType::Complex(_) => Some(3),
    };
    matches!((kind(given), kind(field)), (Some(g), Some(f)) if g <= f && f > 0)
}

/// A field with a generator that was given the object is of a type that says so, and so the object's is another
/// one, which makes another generator: there is no end.
const MOST_GENERATORS: usize = 8;

#[expect(clippy::wildcard_enum_match_arm, reason = "no other type holds several")]
fn generators(t: Type) -> usize {
    match t.kind() {
        Kind::MaybeUndef(t) | Kind::Optional(t) => generators(*t),
        Kind::Variant(m) => m.iter().map(|t| generators(*t)).sum(),
        Kind::Generator(..) => 1,
        _ => 0,
    }
}

/// Objects of a class in a type, those in objects of other classes among them.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other type holds what its arguments hold")]
fn objects_of(
    class: &ClassDef,
    session: &super::state::Session<'_>,
    t: Type,
    seen: &mut Vec<Type>,
    out: &mut Vec<Type>,
) {
    if seen.contains(&t) {
        return;
    }
    seen.push(t);
    match t.kind() {
        Kind::Object(c, _) if *c == class => out.push(t),
        Kind::Var(_) => objects_of(class, session, session.vars.known(t), seen, out),
        Kind::Object(..) => {
            for f in object::fields(t).unwrap_or_default() {
                objects_of(class, session, *f, seen, out);
            }
        }
        _ => t.arguments().iter().for_each(|c| objects_of(class, session, c, seen, out)),
    }
}
