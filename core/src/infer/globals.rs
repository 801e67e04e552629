//! What globals are to inference: the types of values that the host knows, and what is said of those that compiled
//! code cannot hold.

use super::state::Solver;
use crate::diag::{Code, Diagnostic};
use crate::host::GlobalValue;
use crate::types::{Const, FuncType, Kind, Type};

const EMPTY: &str = "an empty container of which nothing says what it holds";

/// Type and constant of a value that the host knows; the text says what cannot be held.
pub(crate) fn type_of_global(g: &GlobalValue) -> std::result::Result<(Type, Option<Const>), String> {
    Ok(match g {
        GlobalValue::Const(c) => (c.ty(), Some(c.clone())),
        GlobalValue::Builtin(p) => (Type::new(Kind::Builtin(*p)), None),
        GlobalValue::Module(m) => (Type::new(Kind::Module(m)), None),
        GlobalValue::Function(f) => (
            Type::new(Kind::Function(FuncType {
                func: *f,
                defaults: vec![],
                captures: vec![],
                kwdefaults: vec![],
                bound: false,
            })),
            None,
        ),
        GlobalValue::DType(t) => (Type::new(Kind::DType(*t)), None),
        GlobalValue::NamedTupleClass(c) => (Type::new(Kind::NamedTupleClass(c)), None),
        GlobalValue::ExcClass(c) => (Type::new(Kind::ExcClass(c)), None),
        GlobalValue::Class(c) => (Type::new(Kind::Class(c)), None),
        GlobalValue::Member(c, _) => (Type::new(Kind::Member(c)), None),
        GlobalValue::Time(t, _) => (t.ty(), None),
        GlobalValue::Slice(parts) => {
            (Type::new(Kind::Slice(parts.each_ref().map(Const::ty))), Some(Const::Tuple(parts.to_vec())))
        }
        GlobalValue::Tuple(t, members) => {
            for m in members {
                type_of_global(m)?;
            }
            (*t, None)
        }
        GlobalValue::Passed { ty, .. } if ty.lacks_elements() => {
            return Err(EMPTY.into());
        }
        GlobalValue::Array { ty, .. } | GlobalValue::Passed { ty, .. } => (*ty, None),
        GlobalValue::Variable { .. } => {
            return Err(
                "a variable that compiled code assigns to, read where a value has to stay the same".into()
            );
        }
        GlobalValue::Foreign(name) => return Err(format!("the function {name}")),
        GlobalValue::TypeExpression(what) | GlobalValue::Unsupported(what) => return Err(what.clone()),
    })
}

impl Solver<'_, '_> {
    /// The type of what calls are given beside their arguments; none of another value.
    pub(crate) fn type_of_passed(&mut self, g: &GlobalValue) -> Option<Type> {
        let GlobalValue::Passed { ty, place } = g else { return None };
        Some(self.session.passed_type(*place, *ty))
    }
}

/// Whether what a message calls so is an attribute of a class.
fn of_class(subject: &str) -> bool {
    !subject.contains('\'') && subject.contains('.')
}

/// The error for a function that cannot be read, whose own is what is said of it: the line that it is at is not one
/// of the caller's.
fn refused_function(subject: &str, what: &str) -> Option<Diagnostic> {
    let code = format!(" [{}]", Code::UnsupportedSyntax.name());
    let (text, rest) = what.split_once(&code)?;
    let mut lines = rest.lines().map(str::trim);
    let at = lines.find(|line| line.starts_with("File "))?;
    let name = subject.strip_prefix("global ").unwrap_or(subject);
    let mut d = Diagnostic::new(Code::UnsupportedSyntax, format!("{name} cannot be called: {text}"));
    d.notes.push((at.replacen("File ", "it stands in ", 1), None));
    Some(match lines.find_map(|line| line.strip_prefix("help: ")) {
        Some(help) => d.help(help),
        None => d,
    })
}

/// The error for a value that compiled code cannot hold; `subject` is how the code calls it, `what` it is.
pub(crate) fn refused(g: &GlobalValue, subject: &str, what: &str) -> Diagnostic {
    // `np.random.rand` is a method of an object that nobody sees.
    if matches!(g, GlobalValue::Foreign(_)) || what == "a method" {
        let global = subject.strip_prefix("global '").and_then(|s| s.strip_suffix('\''));
        let name = if let GlobalValue::Foreign(name) = g
            && global.is_none()
            && subject.contains(' ')
        {
            name
        } else {
            global.unwrap_or(subject)
        };
        let d = Diagnostic::new(Code::UnknownFunction, format!("`{name}` is not compiled by Tierup yet"));
        return match super::hints::instead_of(name) {
            Some(h) => d.help(h),
            None => d,
        };
    }
    if let Some(d) = refused_function(subject, what) {
        return d;
    }
    if let Some(what) = what.strip_suffix(" (a tuple or an array can be)") {
        return Diagnostic::new(Code::UnsupportedGlobal, format!("{subject} is {what}, which may change at any time: compiled code takes it as an argument only"))
            .help(if of_class(subject) {
                "keep it in a field of an object, self.x = [...], or pass it; a tuple of constants can stay in the class"
            } else {
                "make it a tuple or an array, which compiled code knows as constants, or pass it as an argument"
            });
    }
    if let Some(what) = what.strip_suffix(" (not yet)") {
        return Diagnostic::new(
            Code::UnsupportedGlobal,
            format!("{subject} is {what}, which compiled code cannot hold yet"),
        )
        .help(if of_class(subject) {
            "keep it in a field of an object, self.x = {...}, or pass it; a tuple of constants can stay in the class"
        } else {
            "use a tuple, a named tuple or an array"
        });
    }
    if what.ends_with("too many for each call to copy") {
        return Diagnostic::new(Code::UnsupportedGlobal, format!("{subject} is {what}")).help(
            "make it an array, which is used in place, a typed list or dict, or pass it as an argument",
        );
    }
    if what == EMPTY {
        let text = format!("{subject} is {what}");
        return Diagnostic::new(Code::UnsupportedGlobal, text).help(
            "put a value into it before the first call, or keep it in a field of an object that is passed",
        );
    }
    if what == "a decorator" {
        return Diagnostic::new(Code::UnsupportedGlobal, format!("{subject} is {what}: what it makes is an object of Python, which compiled code cannot make"))
            .help("decorate the kernel outside of compiled code, at module level or in the function around; what comes out can be called in compiled code");
    }
    Diagnostic::new(Code::UnsupportedGlobal, format!("{subject} is {what}, which compiled code cannot hold"))
        .help("use the numbers, strings, tuples or arrays in it: as globals of their own, or as arguments")
}
