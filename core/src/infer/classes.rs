//! Attributes of classes, and of named tuples through their class: constants, methods, properties, and what
//! every named tuple has. Attributes that are asked for by name (`getattr`, `hasattr`).

use super::globals::{refused, type_of_global};
use super::resolved::{Resolved, Source};
use super::state::Solver;
use crate::classes::{self, Member, slots::Slot};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::{ClassAttr, GlobalValue};
use crate::ops::id;
use crate::ssa::{FuncId, Inst, registry};
use crate::types::{ClassDef, Const, FuncType, Kind, Type};
use std::sync::Arc;

type Typed = Result<(Type, Option<Const>, bool)>;

impl Solver<'_, '_> {
    /// An attribute of an instance that the host found in its class.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only these are instances of classes of the host")]
    pub(super) fn of_user_instance(
        &mut self,
        i: Inst,
        v: &Source,
        ty: Type,
        name: &str,
        found: ClassAttr,
    ) -> Typed {
        let class = classes::class_of(ty);
        match found {
            ClassAttr::Computed(_) => Err(Diagnostic::new(
                Code::UnknownAttribute,
                format!(
                    "{}.{name} is a descriptor, whose value for an instance only Python can compute",
                    class.name
                ),
            )
            .help("make it a property or a method of the class, or read it outside and pass it")),
            ClassAttr::Field(k) => self.of_instance(i, v, ty, name, Member::Field(k)),
            ClassAttr::Value(g) => self.class_value(i, &g, &format!("{}.{name}", class.name)),
            ClassAttr::Method(f) => self.bound(i, v.clone(), ty, f),
            ClassAttr::Property(f) => {
                // As a call binds its operands: a wrapper takes `*args`.
                let get = Source::Global(GlobalValue::Function(f));
                let typed = self.call(i, &get, vec![v.clone()], vec![])?;
                if typed.2
                    && let Some(ClassAttr::Method(ask)) = self.has_own(class, Slot::GetAttr)
                {
                    // Python asks that where the property raises AttributeError.
                    self.out.resolved.remove(&i);
                    let ask = Source::Global(GlobalValue::Function(ask));
                    let sources = vec![v.clone(), get, ask, Source::Const(Const::Str(name.into()))];
                    let func = self.session.host.library("builtin.property_or_asked")?;
                    return self.call_function(i, func, sources, true);
                }
                Ok(typed)
            }
            ClassAttr::ClassMethod(f) => {
                let of = match ty.kind() {
                    Kind::NamedTuple(class, _) => GlobalValue::NamedTupleClass(class),
                    Kind::Frozen(class, _) | Kind::Object(class, _) | Kind::Member(class) => {
                        GlobalValue::Class(class)
                    }
                    _ => return Err(self.no_attribute(ty, class, name)),
                };
                let (class, _) = type_of_global(&of).map_err(|w| refused(&of, name, &w))?;
                self.bound(i, Source::Global(of), class, f)
            }
        }
    }

    /// An attribute of a class that the host found in it; `ty` is the type of the class as a value.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what can be a class's attribute is listed: any other is refused"
    )]
    pub(super) fn of_user_class(
        &mut self,
        i: Inst,
        ty: Type,
        class: &'static ClassDef,
        name: &str,
        found: ClassAttr,
    ) -> Typed {
        match found {
            ClassAttr::Value(g) | ClassAttr::Computed(g) => {
                self.class_value(i, &g, &format!("{}.{name}", class.name))
            }
            ClassAttr::Method(f) if registry::chooses(f) => {
                let f = self.session.host.from_class(f);
                self.class_value(i, &GlobalValue::Function(f), name)
            }
            ClassAttr::Method(f) => self.class_value(i, &GlobalValue::Function(f), name),
            ClassAttr::Property(_) | ClassAttr::Field(_) => Err(self.of_instances(class, name)),
            ClassAttr::ClassMethod(f) => {
                let of = match ty.kind() {
                    Kind::NamedTupleClass(c) => GlobalValue::NamedTupleClass(c),
                    Kind::ExcClass(c) => GlobalValue::ExcClass(c),
                    Kind::Class(c) => GlobalValue::Class(c),
                    _ => return Err(self.no_attribute(ty, class, name)),
                };
                self.bound(i, Source::Global(of), ty, f)
            }
        }
    }

    /// Why an attribute that a class computes when nothing has that name cannot be read.
    pub(super) fn computed_attribute(&self, class: &ClassDef, name: &str) -> Option<Diagnostic> {
        self.has_own(class, Slot::GetAttr)?;
        Some(
            Diagnostic::new(
                Code::UnknownAttribute,
                format!(
                    "'{name}' is an attribute that {}.__getattr__ computes, which is not compiled",
                    class.name
                ),
            )
            .help("write a property or a method of that name"),
        )
    }

    /// Why no attribute of a class's instances can be read by its name.
    pub(super) fn answers_itself(&self, class: &ClassDef) -> Option<Diagnostic> {
        self.session.class_attr(class, "__getattribute__")?;
        Some(
            Diagnostic::new(
                Code::UnknownAttribute,
                format!("{} has its own __getattribute__, which is not compiled", class.name),
            )
            .help("write properties or methods for what it computes, or read the fields by index"),
        )
    }

    /// Why a named tuple class cannot be called in compiled code: it makes its instances itself.
    pub(super) fn makes_itself(&self, class: &ClassDef) -> Option<Diagnostic> {
        let name = [Slot::New, Slot::Init].into_iter().find(|s| self.has_own(class, *s).is_some())?.name();
        Some(Diagnostic::new(Code::BadCall, format!("{} has its own {name}, which cannot be run in compiled code", class.name))
            .help(format!("make it outside and pass it, or make it of its fields with {}._make((...)), which does not run {name} in Python either", class.name)))
    }

    /// A function that knows its first argument.
    pub(super) fn bound(&mut self, i: Inst, of: Source, ty: Type, func: FuncId) -> Typed {
        self.out.resolved.insert(i, Resolved::Retype(of));
        Ok((
            Type::new(Kind::Function(FuncType {
                func,
                defaults: vec![],
                captures: vec![ty],
                kwdefaults: vec![],
                bound: true,
            })),
            None,
            false,
        ))
    }

    pub(super) fn class_value(&mut self, i: Inst, g: &GlobalValue, subject: &str) -> Typed {
        if let GlobalValue::Variable { of, name } = g {
            return self.variable(i, (**of).clone(), name);
        }
        let (ty, konst) = self
            .type_of_passed(g)
            .map_or_else(|| type_of_global(g), |ty| Ok((ty, None)))
            .map_err(|w| refused(g, subject, &w))?;
        self.out.resolved.insert(i, Resolved::Known(g.clone()));
        Ok((ty, konst, false))
    }

    /// `t._replace(x=1)`.
    pub(crate) fn replace_fields(
        &mut self,
        i: Inst,
        ty: Type,
        callee: &Source,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        let Kind::NamedTuple(class, _) = ty.kind() else {
            return Err(Diagnostic::internal("_replace of no named tuple"));
        };
        if let Some(d) = self.remade(class, "_replace", &["__iter__", "__len__", "_make"]) {
            return Err(d);
        }
        if let Some((n, _)) = named.iter().find(|(n, _)| !class.fields.iter().any(|f| **f == **n)) {
            return Err(Diagnostic::new(Code::BadCall, format!("got unexpected field names: ['{n}']"))
                .help(format!("the fields of {} are {}", class.name, class.fields.join(", "))));
        }
        let of = callee.part(0);
        let sources: Vec<Source> = class
            .fields
            .iter()
            .enumerate()
            .map(|(k, f)| {
                named.iter().find(|(n, _)| **n == **f).map_or_else(|| of.part(k as u32), |(_, s)| s.clone())
            })
            .collect();
        self.build(i, class, sources)
    }

    /// `Class._make(values)` of a tuple.
    pub(crate) fn make_from(&mut self, i: Inst, ty: Type, positional: Vec<Source>) -> Typed {
        let Kind::NamedTupleClass(class) = ty.kind() else {
            return Err(Diagnostic::internal("_make of no named tuple"));
        };
        if let Some(d) = self.remade(class, "_make", &["__len__"]) {
            return Err(d);
        }
        let [values] = positional.as_slice() else {
            return Err(Diagnostic::new(Code::BadCall, "_make() takes one argument"));
        };
        let ty = self.source_arg(values)?.ty;
        let Some(m) = ty.members() else {
            let told = [Const::Int(class.fields.len() as i64)];
            let made = self.session.host.written("_calls.made_of", &told)?;
            let of = Source::Global(GlobalValue::NamedTupleClass(class));
            return self.call_function(i, made, vec![of, values.clone()], true);
        };
        if m.len() != class.fields.len() {
            return Err(Diagnostic::new(
                Code::BadCall,
                format!("expected {} arguments, got {}", class.fields.len(), m.len()),
            ));
        }
        let sources = (0..m.len()).map(|k| values.part(k as u32)).collect();
        self.build(i, class, sources)
    }

    /// Python's `_replace` and `_make` ask these of what they make.
    fn remade(&self, class: &ClassDef, what: &str, asked: &[&str]) -> Option<Diagnostic> {
        let name = asked.iter().find(|n| self.session.class_attr(class, n).is_some())?;
        Some(
            Diagnostic::new(
                Code::NoMatchingOperation,
                format!("{} has its own {name}, which {what} would pass over", class.name),
            )
            .help(format!(
                "make it of its fields: {}({}, ...)",
                class.name,
                class.fields.first().map_or("", |f| f)
            )),
        )
    }

    fn build(&mut self, i: Inst, class: &'static ClassDef, sources: Vec<Source>) -> Typed {
        let types = self.source_args(&sources)?.iter().map(|a| a.ty).collect();
        self.out.resolved.insert(i, Resolved::Build { sources });
        Ok((Type::new(Kind::NamedTuple(class, types)), None, false))
    }

    /// `getattr(x, "name")`, with a default or without, and `hasattr(x, "name")`: the attribute itself, known
    /// when it is compiled.
    pub(crate) fn get_attribute(&mut self, i: Inst, callee: &Source, positional: &[Source]) -> Typed {
        let asks = matches!(self.source_arg(callee)?.ty.kind(), Kind::Builtin(id::BUILTINS_HASATTR));
        let (of, name, default) = match positional {
            [of, name] => (of, name, None),
            [of, name, default] if !asks => (of, name, Some(default)),
            _ => {
                return Err(Diagnostic::new(
                    Code::BadCall,
                    format!(
                        "{}() takes {} arguments",
                        if asks { "hasattr" } else { "getattr" },
                        if asks { "2" } else { "2 or 3" }
                    ),
                ));
            }
        };
        let name =
            self.source_arg(name)?.konst.and_then(|c| c.as_str().map(str::to_owned)).ok_or_else(|| {
                Diagnostic::new(Code::RequiresConstant, "the name of an attribute must be a constant")
            })?;
        let found = self.attribute(i, of, &name);
        let e = match found {
            Err(e) => e,
            // A property may raise AttributeError; what may be None, or of several types, may not have it.
            Ok((.., true)) if asks || default.is_some() => {
                self.out.resolved.remove(&i);
                let mut sources = vec![of.clone(), Source::Const(Const::Str(name.as_str().into()))];
                sources.extend(default.cloned());
                let path = if asks { "builtin.has_attribute" } else { "builtin.attribute_or" };
                let func = self.session.host.library(path)?;
                return self.call_function(i, func, sources, true);
            }
            Ok(_) if asks => {
                self.out.resolved.remove(&i);
                return Ok((Type::bool(), Some(Const::Bool(true)), false));
            }
            Ok(typed) => return Ok(typed),
        };
        let there = self.exists(of, &name, &e)?;
        if there == Some(false) {
            self.asks_for_class(of)?;
        }
        match (there, default) {
            (Some(there), _) if asks => {
                self.out.resolved.remove(&i);
                Ok((Type::bool(), Some(Const::Bool(there)), false))
            }
            (Some(false), Some(d)) => {
                let arg = self.source_arg(d)?;
                self.out.resolved.insert(i, Resolved::Same(d.clone()));
                Ok((arg.ty, arg.konst, false))
            }
            (_, _) => Err(e),
        }
    }

    /// Tells the host that the class of a value is asked for, where values of its type may be of several.
    pub(super) fn asks_for_class(&mut self, of: &Source) -> Result<()> {
        if self.source_arg(of)?.ty.hides_class() && !self.session.is_library(self.func) {
            self.session.host.asks_for_class();
        }
        Ok(())
    }

    /// Whether a value has an attribute that is not compiled, for the reason given; none where only the value
    /// could tell.
    fn exists(&mut self, of: &Source, name: &str, why: &Diagnostic) -> Result<Option<bool>> {
        let ty = self.source_arg(of)?.ty;
        let absent = why.generic.is_some() || matches!(*ty, Kind::Module(_));
        let computed = self.answers_itself(classes::class_of(ty)).is_some();
        let asked = matches!(
            why.code,
            Code::UnknownAttribute
                | Code::UnknownFunction
                | Code::UnsupportedSyntax
                | Code::UnsupportedGlobal
        );
        if computed || !asked {
            return Ok(None);
        }
        // What may be None has it where None has it, and the value.
        let ty = self.session.resolve(ty);
        let each = if let Kind::Optional(inner) = *ty { vec![Type::none(), inner] } else { vec![ty] };
        let mut answers = each.into_iter().map(|t| self.session.host.has_attribute(t, name));
        let first = answers.next().flatten();
        Ok(first.filter(|there| (*there || absent) && answers.all(|a| a == first)))
    }
}
