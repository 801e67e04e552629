//! `value.name`: attributes of modules, and what classes give their instances and themselves.

use super::globals::{refused, type_of_global};
use super::hints;
use super::resolved::{Resolved, Source};
use super::state::Solver;
use crate::classes::{self, Member, slots::Slot};
use crate::diag::{Code, Diagnostic, Result, Subject};
use crate::host::{ClassAttr, GlobalValue};
use crate::ops::{OpId, id, variant::none_has_no};
use crate::source::Origin;
use crate::ssa::Inst;
use crate::types::{ClassDef, Const, Kind, Type};

type Typed = Result<(Type, Option<Const>, bool)>;

impl Solver<'_, '_> {
    /// `value.name`.
    pub(crate) fn attribute(&mut self, i: Inst, v: &Source, name: &str) -> Typed {
        let ty = self.source_arg(v)?.ty;
        if let Kind::Function(f) = ty.kind()
            && let Some(g) = self.session.host.function_attr(f.func, name)
        {
            self.out.resolved.insert(i, Resolved::Nothing);
            let (ty, konst) = type_of_global(&g).map_err(|w| refused(&g, name, &w))?;
            if let Some(r) = self.func.inst(i).result {
                self.out.globals.insert(r, g);
            }
            return Ok((ty, konst, false));
        }
        if let Kind::Module(m) = *ty {
            if let Some(typed) = self.added(i, v, ty, name) {
                return typed;
            }
            let path = format!("{m}.{name}");
            let host = self.session.host;
            self.out.resolved.insert(i, Resolved::Nothing);
            if let Some(g) = host.module_attr(m, name) {
                if let GlobalValue::Variable { of, name } = g {
                    return self.variable(i, *of, &name);
                }
                let made = self.func.inst(i).result;
                let (ty, konst, _) = self.known_value(made, g, &path)?;
                // What stands for something that only compiled code can read.
                if let Kind::Builtin(row) = *ty
                    && row.rows().iter().any(|op| op.property && op.params.is_empty())
                {
                    return self.rows(i, row, vec![], vec![]);
                }
                return Ok((ty, konst, false));
            }
            // A name that Python's module lacks is a row of the table for the library alone: a program has no
            // more names than its modules give it.
            let row = OpId::find(&path).filter(|_| self.session.is_library(self.func));
            let known = row.ok_or_else(|| {
                let d = Diagnostic::new(
                    Code::UnknownFunction,
                    format!("`{path}` is not compiled by Tierup, or does not exist"),
                );
                match hints::closest_row(m, name) {
                    Some(k) => d.help(format!("did you mean `{k}`?")),
                    None => d,
                }
            })?;
            return Ok((Type::new(Kind::Builtin(known)), None, false));
        }
        if let Kind::Super(class, _) = *ty {
            return self.attribute_behind(i, &v.part(0), class, name);
        }
        // None has but a class: any other attribute of an optional value is one of the value, with a check.
        if let Kind::Optional(inner) = *ty {
            if let Some(Member::Property(id::BUILTINS_TYPE)) = self.found_in(classes::class_of(inner), name) {
                return self.class_of_optional(i, v);
            }
            // What a `with` block asks for first.
            let owner = if name == Slot::Enter.name() {
                let text = "'NoneType' object does not support the context manager protocol";
                Source::Present(Box::new(v.clone()), text)
            } else {
                Source::Owner(Box::new(v.clone()), none_has_no(name, false).into())
            };
            let (ty, konst, _) = self.attribute(i, &owner, name)?;
            // What does not look at the value, be it since the answer is known, does not ask whether there is one.
            let how = self.out.resolved.remove(&i).unwrap_or(Resolved::Nothing);
            let how = match konst {
                None if how.takes_owner() => how,
                _ => Resolved::After(owner, Box::new(how)),
            };
            self.out.resolved.insert(i, how);
            return Ok((ty, konst, true));
        }
        if let Kind::Variant(_) = ty.kind() {
            return self.dispatch(i, v, &mut |s, way| s.attribute(i, way, name));
        }
        self.attribute_of(i, v, ty, name)
    }

    /// The class of a value that may be None.
    pub(super) fn class_of_optional(&mut self, i: Inst, v: &Source) -> Typed {
        self.dispatch(i, v, &mut |s, way| s.rows(i, id::BUILTINS_TYPE, vec![way.clone()], vec![]))
    }

    /// `v.name` for `v` as a value of type `ty`, which an optional value becomes where the attribute is
    /// taken.
    fn attribute_of(&mut self, i: Inst, v: &Source, ty: Type, name: &str) -> Typed {
        if let Kind::Function(f) = ty.kind()
            && f.captures.is_empty()
            && f.defaults.is_empty()
            && let Some(g) = self.session.host.attribute_of_function(f.func, name)
        {
            return self.class_value(i, &g, &format!("{}.{name}", f.func.name()));
        }
        if let Some(typed) = self.added(i, v, ty, name) {
            return typed;
        }
        if *ty == Kind::Builtin(id::BUILTINS_OBJECT) && name == Slot::New.name() {
            self.out.resolved.insert(i, Resolved::Nothing);
            return Ok((Type::new(Kind::Builtin(id::OBJECT_NEW)), None, false));
        }
        let class = classes::class_of(ty);
        if let Some(d) = self.answers_itself(class) {
            return Err(d);
        }
        if let Some(records) = ty.records()
            && records.field(name).is_some()
            && self.found_in(class, name).is_none()
        {
            return self.rows(
                i,
                id::RECORD_FIELD,
                vec![v.clone(), Source::Const(Const::Str(name.into()))],
                vec![],
            );
        }
        if let Some(k) = self.field_of_object(ty, name) {
            return self.get_field(i, v, ty, k);
        }
        let found = self.found_in(class, name);
        if !matches!(found, Some(Member::Host(_)))
            && !name.starts_with("__")
            && let Some(typed) = self.attribute_beneath(i, v, ty, name)
        {
            return typed;
        }
        if let Some(member) = found {
            return self.of_instance(i, v, ty, name, member);
        }
        // What is a class has, beside what its own class gives it, what it gives its instances.
        let named = classes::class_named(ty);
        if let Some(named) = named
            && let Some(member) = self.found_in(named, name)
        {
            return self.of_class(i, ty, named, name, member);
        }
        // What the class of an exception gives it is known where it is raised alone.
        if *ty == Kind::Exception && !name.starts_with("__") {
            let name = Source::Const(Const::Str(name.into()));
            return self.rows(i, id::EXC_ATTRIBUTE, vec![v.clone(), name], vec![]);
        }
        if named.is_none()
            && let Some(typed) = self.asked_for(i, v, class, name)
        {
            return typed;
        }
        Err(self.no_attribute(ty, named.unwrap_or(class), name))
    }

    /// An attribute for which Python asks the `__getattr__` of a class, since nothing stands under its name.
    fn asked_for(&mut self, i: Inst, v: &Source, class: &'static ClassDef, name: &str) -> Option<Typed> {
        let Some(ClassAttr::Method(f)) = self.has_own(class, Slot::GetAttr) else { return None };
        // Python looks special methods up in the class alone, and so do operations, which come here too.
        if name.starts_with("__") {
            return None;
        }
        let owner = match self.owner(v, name, false) {
            Ok(owner) => owner,
            Err(d) => return Some(Err(d)),
        };
        let name = Source::Const(Const::Str(name.into()));
        // For each name it is a function of its own, in which `getattr(of, name)` is an attribute.
        Some(self.call_function(i, f, vec![owner, name], true))
    }

    /// What a class has under a name, where this function may know of it.
    pub(super) fn found_in(&self, class: &'static ClassDef, name: &str) -> Option<Member> {
        let found = self.session.member(class, name);
        let ours = self.session.is_library(self.func) && self.func.file.origin != Origin::Written;
        found.filter(|m| ours || !m.is_internal())
    }

    /// An attribute that the class of a value has, of the value.
    pub(super) fn of_instance(&mut self, i: Inst, v: &Source, ty: Type, name: &str, member: Member) -> Typed {
        match member {
            Member::Method(op) => {
                self.out.resolved.insert(i, Resolved::Retype(v.clone()));
                // Its one member is the value that it is of.
                let of = self.source_arg(v)?.konst.filter(|c| matches!(c, Const::Str(_)));
                Ok((Type::new(Kind::Method(op, ty)), of.map(|c| Const::Tuple(vec![c])), false))
            }
            Member::StaticMethod(op) => {
                self.out.resolved.insert(i, Resolved::Nothing);
                Ok((Type::new(Kind::Builtin(op)), None, false))
            }
            Member::Property(op) => self.rows(i, op, vec![v.clone()], vec![]),
            Member::Constant(op) => self.rows(i, op, vec![], vec![]),
            Member::Field(k) => {
                self.out.resolved.insert(i, Resolved::Member(v.clone(), k));
                let konst = match self.source_arg(v)?.konst {
                    Some(Const::Tuple(c)) => c.get(k as usize).cloned(),
                    _ => None,
                };
                let field = ty.parts().and_then(|m| m.get(k as usize));
                let field = field.ok_or_else(|| {
                    let text = format!("'{name}' reads member {k}, which a value of type {ty} does not have");
                    Diagnostic::new(Code::UnknownAttribute, text)
                })?;
                Ok((*field, konst, false))
            }
            Member::Name => match name_of(ty) {
                Some(text) => Ok((Type::str(), Some(Const::Str(text.into())), false)),
                None => Err(self.no_attribute(ty, classes::class_of(ty), name)),
            },
            Member::QualifiedName => match classes::class_named(ty) {
                Some(class) => Ok((Type::str(), Some(Const::Str(class.qualname.as_str().into())), false)),
                None => Err(self.no_attribute(ty, classes::class_of(ty), name)),
            },
            Member::ClassMethod(_) => {
                let Kind::NamedTuple(class, _) = ty.kind() else {
                    return Err(self.no_attribute(ty, classes::class_of(ty), name));
                };
                self.of_class(i, Type::new(Kind::NamedTupleClass(class)), class, name, member)
            }
            Member::Host(found) => self.of_user_instance(i, v, ty, name, found),
        }
    }

    /// An attribute that a class gives its instances, of the class itself; `ty` is the type of the class as a
    /// value.
    fn of_class(&mut self, i: Inst, ty: Type, class: &'static ClassDef, name: &str, member: Member) -> Typed {
        match member {
            // The operation behind a special method asks the value's own class, not the one that is named.
            Member::Method(_) if name.starts_with("__") => Err(self.no_attribute(ty, class, name)),
            Member::Method(op) | Member::StaticMethod(op) => {
                self.out.resolved.insert(i, Resolved::Nothing);
                Ok((Type::new(Kind::Builtin(op)), None, false))
            }
            Member::ClassMethod(op) => {
                self.out.resolved.insert(i, Resolved::Nothing);
                Ok((Type::new(Kind::Method(op, ty)), None, false))
            }
            Member::Property(_) | Member::Field(_) => Err(self.of_instances(class, name)),
            Member::Constant(op) => self.rows(i, op, vec![], vec![]),
            Member::Name | Member::QualifiedName => Err(self.no_attribute(ty, class, name)),
            Member::Host(found) => self.of_user_class(i, ty, class, name, found),
        }
    }

    /// Why an attribute cannot be taken from a class.
    pub(super) fn of_instances(&self, class: &ClassDef, name: &str) -> Diagnostic {
        let text = format!("'{name}' is an attribute of instances of {}, not of the class", class.name);
        Diagnostic::new(Code::UnknownAttribute, text).help("take it from a value")
    }

    /// The error for a name that nothing stands under; `class` is where it was looked for last.
    pub(super) fn no_attribute(&self, ty: Type, class: &ClassDef, name: &str) -> Diagnostic {
        if !classes::is_class(ty)
            && let Some(d) = self.computed_attribute(class, name)
        {
            return d;
        }
        if name == Slot::Enter.name() {
            let what = format!("a `with` block over {} is not compiled", self.session.resolve(ty));
            return Diagnostic::new(Code::UnsupportedSyntax, what)
                .help("use try … finally, or put the `with` block outside the function");
        }
        let mut d = Diagnostic::new(
            Code::UnknownAttribute,
            format!("{}'{name}'", has_no_attribute(self.session.resolve(ty))),
        )
        .generic(Subject::Name);
        let of = crate::ops::written::class_name(ty);
        d.said = of.map(|of| format!("'{of}' object has no attribute '{name}'"));
        if *ty == Kind::Exception {
            return d.help("where exceptions were raised is for the Python code that catches them");
        }
        let path = format!("{}.{name}", classes::path_of(class));
        match hints::instead_of(&path) {
            Some(h) => d.help(h),
            None => match hints::closest(name, classes::names(class)) {
                Some(k) => d.help(format!("did you mean `{k}`?")),
                None => d,
            },
        }
    }
}

/// The name of a class or function as `__name__` gives it.
#[expect(clippy::wildcard_enum_match_arm, reason = "only some types have a name of their own")]
fn name_of(t: Type) -> Option<String> {
    Some(match t.kind() {
        Kind::Builtin(path) => path.name().rsplit('.').next().unwrap_or_default().to_string(),
        Kind::NamedTupleClass(c) | Kind::ExcClass(c) | Kind::Class(c) => c.name.clone(),
        Kind::DType(d) => d.strong().to_string(),
        Kind::Function(f) => f.func.name(),
        _ => return None,
    })
}

/// What is said of a type, before the name.
pub(super) fn has_no_attribute(ty: Type) -> String {
    format!("a value of type {ty} has no attribute ")
}
