//! Instances of frozen dataclasses: made of fields, changed into others, taken apart.

use super::resolved::{Resolved, Source, Typed};
use super::state::Solver;
use crate::classes::{self, slots::Slot};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::{ClassAttr, GlobalValue, Written};
use crate::ops::{OpId, id};
use crate::ssa::{Inst, registry};
use crate::types::{ClassDef, Kind, Type};
use std::sync::Arc;

impl Solver<'_, '_> {
    /// A call of a function that the host writes for a class.
    pub(super) fn call_written(
        &mut self,
        i: Inst,
        class: &'static ClassDef,
        what: Written,
        all: Vec<Source>,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        let func = self.session.host.written_for(class, what)?;
        self.call(i, &Source::Global(GlobalValue::Function(func)), all, named)
    }

    /// What is done with a class whose instances are values: `Class[int]`; with an enumeration `Class[name]`, `x in Class`. What goes through it, or asks how many
    /// members it has, is given the tuple of these.
    pub(super) fn of_value_class(
        &mut self,
        i: Inst,
        op: OpId,
        positional: &mut [Source],
    ) -> Result<Option<Typed>> {
        for (k, s) in positional.iter_mut().enumerate() {
            let Kind::Class(class) = *self.source_arg(s)?.ty.kind() else { continue };
            if op == id::GETITEM
                && k == 0
                && (class.is_frozen() || class.has_objects())
                && let Some(found) = self.session.class_attr(class, "__class_getitem__")
            {
                // The user's own may give anything.
                if let ClassAttr::ClassMethod(f) = found {
                    let all = vec![s.clone(), positional[1].clone()];
                    return Ok(Some(self.call(i, &Source::Global(GlobalValue::Function(f)), all, vec![])));
                }
                // `Box[int]` is the class, whatever types it is for.
                self.out.resolved.insert(i, Resolved::Same(s.clone()));
                return Ok(Some(Ok((Type::new(Kind::Class(class)), None, false))));
            }
            let Some(count) = class.member_count() else { continue };
            let of = Source::Global(GlobalValue::Class(class));
            match op {
                id::GETITEM if k == 0 => {
                    let all = vec![of, positional[1].clone()];
                    return Ok(Some(self.call_written(i, class, Written::Item, all, vec![])));
                }
                id::CONTAINS if k == 0 => {
                    let all = vec![of, positional[1].clone()];
                    return Ok(Some(self.call_written(i, class, Written::Contains, all, vec![])));
                }
                // The class is called.
                id::BUILTINS_MAP | id::BUILTINS_FILTER if k == 0 => {}
                _ if k == 0 && op == id::BUILTINS_LEN || super::special::goes_through(op) => {
                    let members =
                        (0..count).map(|k| GlobalValue::Member(class, class.member_number(k))).collect();
                    let of_each = vec![Type::new(Kind::Member(class)); count as usize];
                    *s = Source::Global(GlobalValue::Tuple(Type::tuple(of_each), members));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// `operator._make_member(Class, n)` with a number that is known; of flags any number is one.
    pub(crate) fn make_member(&mut self, i: Inst, sources: &[Source]) -> Typed {
        let [class, number] = sources else { return Err(Diagnostic::internal("a member of nothing")) };
        let (class, n) = (self.source_arg(class)?.ty, self.source_arg(number)?.int());
        if let (Kind::Class(class), None) = (class.kind(), n)
            && class.has_flags()
        {
            self.out.resolved.insert(i, Resolved::Retype(number.clone()));
            return Ok((Type::new(Kind::Member(class)), None, false));
        }
        let (Kind::Class(class), Some(n)) = (class.kind(), n) else {
            return Err(Diagnostic::internal("a member of no enumeration"));
        };
        let member = GlobalValue::Member(class, n as u32);
        self.class_value(i, &member, &class.name)
    }

    /// `operator._make_instance(Class, *fields)`.
    pub(crate) fn make_instance(&mut self, i: Inst, mut sources: Vec<Source>) -> Typed {
        let class = sources.remove(0);
        let Kind::Class(class) = *self.source_arg(&class)?.ty.kind() else {
            return Err(Diagnostic::internal("an instance of no class"));
        };
        let types = self.source_args(&sources)?.iter().map(|a| a.ty).collect();
        self.out.resolved.insert(i, Resolved::Build { sources });
        Ok((Type::new(Kind::Frozen(class, types)), None, false))
    }

    /// `super(Class, x)`.
    pub(crate) fn super_of(&mut self, i: Inst, operands: &[Source]) -> Typed {
        let [class, of] = [&operands[0], &operands[1]];
        let (class, ty) = (self.source_arg(class)?.ty, self.source_arg(of)?.ty);
        let Some(named) = classes::class_named(class) else {
            let text = format!("super() takes a class first, not {class}");
            return Err(Diagnostic::new(Code::BadCall, text));
        };
        let is = |c: &ClassDef| c.is_a(named.id);
        let each = if let Kind::Variant(m) = ty.kind() { m } else { std::slice::from_ref(&ty) };
        if !each.iter().all(|t| is(classes::class_of(*t)) || classes::class_named(*t).is_some_and(is)) {
            let text = format!("super(type, obj): {ty} is no instance or subtype of {}", named.name);
            return Err(Diagnostic::new(Code::BadCall, text));
        }
        self.out.resolved.insert(i, Resolved::Retype(of.clone()));
        Ok((Type::new(Kind::Super(named, ty)), None, false))
    }

    /// `super().name`, of the value that `super` was given.
    pub(super) fn attribute_behind(
        &mut self,
        i: Inst,
        v: &Source,
        behind: &'static ClassDef,
        name: &str,
    ) -> Typed {
        let of = self.source_arg(v)?.ty;
        if crate::types::promote::is_variant(of) {
            return self.dispatch(i, v, &mut |s, way| s.attribute_behind(i, way, behind, name));
        }
        let named = classes::class_named(of).filter(|c| c.is_a(behind.id));
        let class = named.unwrap_or_else(|| classes::class_of(of));
        let found = self.session.host.class_attr_behind(class, behind, name);
        if found.is_none() && name == Slot::New.name() && class.has_objects() {
            // That of `object`.
            self.out.resolved.insert(i, Resolved::Nothing);
            return Ok((Type::new(Kind::Builtin(id::OBJECT_NEW)), None, false));
        }
        let Some(found) = found else {
            let text = format!(
                "what follows {} in the classes of {} has no '{name}' that is compiled",
                behind.name, class.name
            );
            return Err(Diagnostic::new(Code::UnknownAttribute, text));
        };
        match named {
            Some(_) => self.of_user_class(i, of, class, name, found),
            None => self.of_user_instance(i, v, of, name, found),
        }
    }

    /// `replace(x, **changes)`, `asdict(x)` and `astuple(x)` of the module `dataclasses`.
    pub(crate) fn of_dataclass(
        &mut self,
        i: Inst,
        op: OpId,
        class: &'static ClassDef,
        of: &Source,
        named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        if op == id::DATACLASSES_REPLACE {
            return self.replaced(i, class, of, named);
        }
        // What fields hold is copied, or taken apart too.
        let ty = self.source_arg(of)?.ty;
        if !ty.parts().unwrap_or_default().iter().all(|t| is_copied_as_it_is(*t)) {
            return self.call_written(i, class, Self::written_of(op), vec![of.clone()], named);
        }
        if let Some((name, _)) = named.first() {
            let text = format!("{}() of compiled code takes no argument '{name}'", op.name());
            return Err(Diagnostic::new(Code::BadCall, text));
        }
        let parts: Vec<Source> = (0..class.fields.len()).map(|k| of.part(k as u32)).collect();
        let types: Vec<Type> = self.source_args(&parts)?.iter().map(|a| a.ty).collect();
        self.out.resolved.insert(i, Resolved::Build { sources: parts });
        let whole = if op == id::DATACLASSES_ASDICT {
            Type::new(Kind::NamedTuple(ClassDef::keywords(class.fields.clone()), types))
        } else {
            Type::tuple(types)
        };
        Ok((whole, None, false))
    }

    /// The function that the host writes for it.
    pub(super) fn written_of(op: OpId) -> Written {
        match op {
            id::DATACLASSES_REPLACE => Written::Replace,
            id::DATACLASSES_ASDICT => Written::AsDict,
            _ => Written::AsTuple,
        }
    }

    /// The class is called with the fields that stay as they are, as Python does it.
    fn replaced(
        &mut self,
        i: Inst,
        class: &'static ClassDef,
        of: &Source,
        mut named: Vec<(Arc<str>, Source)>,
    ) -> Typed {
        let func = self.session.host.written_for(class, Written::Call)?;
        let made = registry::get(func).ok_or_else(|| Diagnostic::internal("a constructor that is gone"))?;
        let params = &made.params.names[1..];
        for (k, field) in class.fields.iter().enumerate() {
            let given = named.iter().any(|(n, _)| **n == **field);
            if params.iter().any(|p| **p == **field) {
                if !given {
                    named.push((field.as_str().into(), of.part(k as u32)));
                }
            } else if given {
                let text = format!(
                    "field {field} is declared with init=False, it cannot be specified with replace()"
                );
                return Err(Diagnostic::new(Code::BadCall, text));
            }
        }
        let all = vec![Source::Global(GlobalValue::Class(class))];
        self.call(i, &Source::Global(GlobalValue::Function(func)), all, named)
    }
}

/// Whether a copy of a value is the value.
fn is_copied_as_it_is(t: Type) -> bool {
    t.is_number()
        || matches!(*t, Kind::Str | Kind::Bytes | Kind::None | Kind::Member(_))
        || matches!(*t, Kind::Tuple(_) | Kind::Optional(_)) && t.arguments().iter().all(is_copied_as_it_is)
}
