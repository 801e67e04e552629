//! Class patterns: `case Point(x, y=0)`. What such a pattern looks at are attributes, in the order in which
//! Python reads them: those that `__match_args__` of the class names, then those with a name.
//!
//! Fields of a named tuple are its members, which a row of the table takes. What a property or a constant of
//! the class hides, and every other attribute, is read by a function of the library, where no attribute means
//! no match.

use super::resolved::Source;
use super::state::Solver;
use crate::classes::{self, Member};
use crate::diag::{Code, Diagnostic, Result};
use crate::host::{ClassAttr, GlobalValue};
use crate::ops;
use crate::ssa::Inst;
use crate::types::{Const, Kind, Type};

type Typed = Result<(Type, Option<Const>, bool)>;

fn class_name(class: Type) -> &'static str {
    if let Kind::NamedTupleClass(c) | Kind::Class(c) | Kind::ExcClass(c) = class.kind() {
        &c.name
    } else {
        "the class"
    }
}

/// As many attributes as the library function reads.
const MOST: usize = 6;

impl Solver<'_, '_> {
    /// The class pattern at `i`, where its row would not look at what Python looks at.
    pub(super) fn class_pattern(&mut self, i: Inst, positional: &[Source]) -> Option<Typed> {
        let names = match self.pattern_names(positional) {
            Ok(names) => names?,
            Err(d) => return Some(Err(d)),
        };
        if names.len() > MOST {
            let text = format!("a class pattern with more than {MOST} attributes of a class like this");
            let d = Diagnostic::new(Code::UnsupportedSyntax, text).help("test some of them in a guard");
            return Some(Err(d));
        }
        let func = match self.session.host.library("builtin.match_class") {
            Ok(func) => func,
            Err(d) => return Some(Err(d)),
        };
        let names = Const::Tuple(names.into_iter().map(|n| Const::Str(n.as_str().into())).collect());
        let sources = vec![positional[0].clone(), positional[1].clone(), Source::Const(names)];
        Some(self.call_function(i, func, sources, true))
    }

    /// The attributes that a pattern looks at; none where its row reads them.
    fn pattern_names(&mut self, positional: &[Source]) -> Result<Option<Vec<String>>> {
        let args = self.source_args(positional)?;
        let [value, class, names, count] = args.as_slice() else { return Ok(None) };
        let ty = if let Kind::Optional(t) = *value.ty { t } else { value.ty };
        // Of which class an exception is, is known when the program runs.
        let exception = *ty == Kind::Exception && matches!(class.ty.kind(), Kind::ExcClass(_));
        if crate::types::promote::is_variant(value.ty)
            || !exception && ops::builtin::is_instance(self.session.host, ty, class.ty) != Some(true)
        {
            return Ok(None);
        }
        let text = |c: &Const| c.as_str().map(str::to_owned);
        let Some(Const::Tuple(named)) = &names.konst else { return Ok(None) };
        let named: Option<Vec<String>> = named.iter().map(text).collect();
        let (Some(named), count) = (named, count.int().unwrap_or(0) as usize) else { return Ok(None) };
        let fields = ty.field_names();
        let by_place = if count > 0 { self.match_args(class.ty)? } else { None };
        let places = by_place.as_deref().unwrap_or(fields);
        let Some(first) = places.get(..count) else {
            if by_place.is_none() && !exception {
                return Ok(None);
            }
            let (class, most) = (class_name(class.ty), places.len());
            let text = format!(
                "{class}() accepts {most} positional sub-pattern{} ({count} given)",
                if most == 1 { "" } else { "s" }
            );
            return Err(Diagnostic::new(Code::UnsupportedSyntax, text)
                .help("Python raises TypeError when it comes here; name the attributes, or add them to __match_args__"));
        };
        let all: Vec<String> = first.iter().cloned().chain(named).collect();
        if let Some((k, twice)) = all.iter().enumerate().find(|(k, n)| all[..*k].contains(n)) {
            let text = format!("the class pattern looks at '{twice}' twice");
            let second =
                if k < count { "names it twice in __match_args__" } else { "has it by place as well" };
            return Err(Diagnostic::new(Code::UnsupportedSyntax, text)
                .help(format!("the class {second}; Python raises TypeError when it comes here")));
        }
        let of = classes::class_of(ty);
        if let Some(d) = self.answers_itself(of) {
            return Err(d);
        }
        let mut plain = true;
        for (k, name) in all.iter().enumerate() {
            let place = if k < count { Some(k) } else { fields.iter().position(|f| f == name) };
            match self.session.member(of, name) {
                Some(Member::Field(at)) => plain &= Some(at as usize) == place,
                Some(m) if !m.is_internal() => plain = false,
                None if self.field_of_object(ty, name).is_some() => plain = false,
                // The row says that it cannot look at this.
                Some(_) | None => return Ok(None),
            }
        }
        Ok((exception || !plain && !all.is_empty()).then_some(all))
    }

    /// `__match_args__` of a class of the user's, where it has one.
    fn match_args(&self, class: Type) -> Result<Option<Vec<String>>> {
        let (Kind::NamedTupleClass(c) | Kind::Class(c) | Kind::ExcClass(c)) = class.kind() else {
            return Ok(None);
        };
        match self.session.class_attr(c, "__match_args__") {
            None => Ok(None),
            Some(ClassAttr::Value(GlobalValue::Const(Const::Tuple(names))))
                if names.iter().all(|n| n.as_str().is_some()) =>
            {
                Ok(Some(names.iter().filter_map(Const::as_str).map(str::to_owned).collect()))
            }
            Some(_) => Err(Diagnostic::new(
                Code::UnsupportedSyntax,
                format!("{}.__match_args__ is not a tuple of strings", c.name),
            )
            .help("make it one, or name the attributes in the pattern")),
        }
    }
}
