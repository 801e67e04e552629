//! Attributes of classes, and of named tuples through their class: constants, methods, properties, and what
//! every named tuple has. Attributes that are asked for by name (`getattr`, `hasattr`).

use super::call::{Resolved, Source, refused, type_of_global};
use super::solve::Solver;
use crate::diag::{Code, Diagnostic, Result};
use crate::host::{ClassAttr, GlobalValue};
use crate::ops::id;
use crate::ssa::{FuncId, Inst, registry};
use crate::types::{ClassInfo, Const, FuncType, Kind, Type};
use std::sync::Arc;

type Typed = Result<(Type, Option<Const>, bool)>;

/// The name of a class or function as `__name__` gives it.
fn name_of(t: Type) -> Option<String> {
    Some(match t.kind() {
        Kind::Builtin(path) => path.name().rsplit('.').next().unwrap_or_default().to_string(),
        Kind::NamedTupleClass(c) | Kind::ExcClass(c) | Kind::Class(c) => c.name.clone(),
        Kind::DType(d) => d.strong().to_string(),
        Kind::Function(f) => registry::name(f.func),
        _ => return None,
    })
}

/// The field names of a named tuple class.
fn fields_of(c: &ClassInfo) -> Const {
    Const::Tuple(c.fields.iter().map(|f| Const::Str(f.as_str().into())).collect())
}

impl Solver<'_, '_> {
    /// What a class gives for an attribute: of itself, or of one of its instances. None where it has nothing
    /// to say.
    pub fn attribute_of_class(&mut self, i: Inst, v: &Source, ty: Type, name: &str) -> Option<Typed> {
        if let Kind::Function(f) = ty.kind()
            && f.captures.is_empty()
            && f.defaults.is_empty()
            && let Some(g) = self.session.host.attribute_of_function(f.func, name)
        {
            return Some(self.class_value(i, &g, &format!("{}.{name}", registry::name(f.func))));
        }
        if name == "__name__"
            && let Some(text) = name_of(ty)
        {
            return Some(Ok((Type::str(), Some(Const::Str(text.into())), false)));
        }
        let (class, instance) = match ty.kind() {
            Kind::NamedTuple(c, _) if !c.is_keywords() => (*c, true),
            Kind::NamedTupleClass(c) | Kind::Class(c) => (*c, false),
            _ => return None,
        };
        let of_tuple = !matches!(ty.kind(), Kind::Class(_));
        match name {
            "_replace" | "_make" | "_fields" | "_asdict"
                if of_tuple
                    && let Some(own) = self.session.host.class_attr(class, name)
                    && !matches!(own, ClassAttr::Value(GlobalValue::Const(_))) =>
            {
                // Written by the user: as any other attribute, below.
            }
            "_fields" if of_tuple => return Some(Ok((fields_of(class).ty(), Some(fields_of(class)), false))),
            "_replace" if instance => return Some(self.method(i, v, id::NAMEDTUPLE_REPLACE, ty)),
            "_make" if of_tuple && !instance => return Some(self.method(i, v, id::NAMEDTUPLE_MAKE, ty)),
            "_asdict" if of_tuple => {
                let e = Diagnostic::new(
                    Code::UnknownAttribute,
                    "`_asdict` makes a dictionary, which is not compiled yet",
                );
                return Some(Err(e.help("use the fields by name, or `_fields` for their names")));
            }
            _ => {}
        }
        let host = self.session.host;
        let Some(found) = host.class_attr(class, name) else {
            return self.computed_attribute(class, instance, name);
        };
        Some(match found {
            ClassAttr::Computed(_) if instance => Err(Diagnostic::new(
                Code::UnknownAttribute,
                format!(
                    "{}.{name} is a descriptor, whose value for an instance only Python can compute",
                    class.name
                ),
            )
            .help("make it a property or a method of the class, or read it outside and pass it")),
            ClassAttr::Value(g) | ClassAttr::Computed(g) => {
                self.class_value(i, &g, &format!("{}.{name}", class.name))
            }
            ClassAttr::Method(f) if instance => self.bound(i, v.clone(), ty, f),
            ClassAttr::Method(f) => self.class_value(i, &GlobalValue::Function(f), name),
            ClassAttr::Property(f) if instance => self.call_function(i, f, vec![v.clone()], false),
            ClassAttr::Property(_) => return None,
            ClassAttr::ClassMethod(f) => {
                let class_ty = if of_tuple { Type::new(Kind::NamedTupleClass(class)) } else { ty };
                self.bound(
                    i,
                    Source::Global(if of_tuple {
                        GlobalValue::NamedTupleClass(class)
                    } else {
                        GlobalValue::Class(class)
                    }),
                    class_ty,
                    f,
                )
            }
        })
    }

    /// An attribute that a class computes when nothing has that name.
    fn computed_attribute(&self, class: &ClassInfo, instance: bool, name: &str) -> Option<Typed> {
        if !instance || self.session.host.class_attr(class, "__getattr__").is_none() {
            return None;
        }
        Some(Err(Diagnostic::new(
            Code::UnknownAttribute,
            format!(
                "'{name}' is an attribute that {}.__getattr__ computes, which is not compiled",
                class.name
            ),
        )
        .help("write a property or a method of that name")))
    }

    /// Why a field of a named tuple cannot be read by its name: the class has something else there.
    pub fn shadowed(&self, class: &ClassInfo, name: &str) -> Option<Diagnostic> {
        let by = class.shadowed.iter().find(|s| **s == name || *s == "__getattribute__")?;
        if by == name {
            return None;
        }
        Some(
            Diagnostic::new(
                Code::UnknownAttribute,
                format!("{} has its own __getattribute__, which is not compiled", class.name),
            )
            .help("write properties or methods for what it computes, or read the fields by index"),
        )
    }

    /// Why a named tuple class cannot be called in compiled code: it makes its instances itself.
    pub fn makes_itself(&self, class: &ClassInfo) -> Option<Diagnostic> {
        let host = self.session.host;
        let name = ["__new__", "__init__"].into_iter().find(|n| host.class_attr(class, n).is_some())?;
        Some(Diagnostic::new(Code::BadCall, format!("{} has its own {name}, which cannot be run in compiled code", class.name))
            .help(format!("make it outside and pass it, or make it of its fields with {}._make((...)), which does not run {name} in Python either", class.name)))
    }

    fn method(&mut self, i: Inst, v: &Source, path: crate::ops::OpId, ty: Type) -> Typed {
        self.out.resolved.insert(i, Resolved::Retype(v.clone()));
        Ok((Type::new(Kind::Method(path, ty)), None, false))
    }

    /// A function that knows its first argument.
    fn bound(&mut self, i: Inst, of: Source, ty: Type, func: FuncId) -> Typed {
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

    fn class_value(&mut self, i: Inst, g: &GlobalValue, subject: &str) -> Typed {
        let (ty, konst) = type_of_global(g).map_err(|w| refused(g, subject, &w))?;
        self.out.resolved.insert(i, Resolved::Known(g.clone()));
        Ok((ty, konst, false))
    }

    /// `t._replace(x=1)`.
    pub fn replace_fields(
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
    pub fn make_from(&mut self, i: Inst, ty: Type, positional: Vec<Source>) -> Typed {
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
            return Err(Diagnostic::new(
                Code::RequiresConstant,
                format!("_make() takes a tuple, whose length is part of its type, not {ty}"),
            )
            .help("unpack the values first: `Class(*(a, b))`"));
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
    fn remade(&self, class: &ClassInfo, what: &str, asked: &[&str]) -> Option<Diagnostic> {
        let name = asked.iter().find(|n| self.session.host.class_attr(class, n).is_some())?;
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

    fn build(&mut self, i: Inst, class: &'static ClassInfo, sources: Vec<Source>) -> Typed {
        let types = self.source_args(&sources)?.iter().map(|a| a.ty).collect();
        self.out.resolved.insert(i, Resolved::Build { sources });
        Ok((Type::new(Kind::NamedTuple(class, types)), None, false))
    }

    /// `getattr(x, "name")`, with a default or without, and `hasattr(x, "name")`: the attribute itself, known
    /// when it is compiled.
    pub fn get_attribute(&mut self, i: Inst, callee: &Source, positional: &[Source]) -> Typed {
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
        if asks {
            self.out.resolved.remove(&i);
            return Ok((Type::bool(), Some(Const::Bool(found.is_ok())), false));
        }
        match (found, default) {
            (Err(e), Some(d)) if e.code == Code::UnknownAttribute => {
                let arg = self.source_arg(d)?;
                self.out.resolved.insert(i, Resolved::Same(d.clone()));
                Ok((arg.ty, arg.konst, false))
            }
            (found, _) => found,
        }
    }
}
