//! `value.name`: attributes of modules, classes, functions and of values.

use super::call::{Resolved, Source, refused, type_of_global};
use super::solve::Solver;
use crate::diag::{Code, Diagnostic, Result};
use crate::ops::{self, OpId, id};
use crate::ssa::Inst;
use crate::types::{Const, IterType, Kind, Type};

type Typed = Result<(Type, Option<Const>, bool)>;

/// Methods that NumPy's scalars share with its arrays: what is computed of arrays without dimensions is a
/// scalar.
const OF_SCALARS: &[&str] = &[
    "all", "any", "argmax", "argmin", "clip", "cumprod", "cumsum", "max", "mean", "min", "prod", "ravel",
    "repeat", "round", "std", "sum", "var",
];

/// The prefix of table rows for attributes of a type.
pub fn class_of(t: Type) -> &'static str {
    match t.kind() {
        Kind::Array(_) => "array",
        Kind::Str => "str",
        Kind::List(_) => "list",
        Kind::NamedTuple(c, _) if c.is_keywords() => "kwargs",
        Kind::Tuple(_) | Kind::NamedTuple(..) => "tuple",
        Kind::Bool => "bool",
        Kind::Int(_) => "int",
        Kind::Float(_) => "float",
        Kind::Complex(_) => "complex",
        Kind::Range(_) => "range",
        Kind::Slice(_) => "slice",
        Kind::DType(_) => "dtype",
        Kind::Exception => "exception",
        Kind::Generator(..) => "generator",
        Kind::Random => ops::random::GENERATOR,
        Kind::Iter(IterType::Flat(_)) => "flat",
        Kind::Optional(t) => class_of(*t),
        // Attributes of what is an attribute itself: `a.flags.c_contiguous`.
        Kind::Builtin(p) | Kind::Method(p, _) => p.name(),
        Kind::Never
        | Kind::Undef
        | Kind::MaybeUndef(_)
        | Kind::None
        | Kind::Ellipsis
        | Kind::Iter(_)
        | Kind::Function(_)
        | Kind::Module(_)
        | Kind::NamedTupleClass(_)
        | Kind::ExcClass(_)
        | Kind::Class(_)
        | Kind::Variant(_)
        | Kind::Var(_)
        | Kind::Conflict(..) => "object",
    }
}

impl Solver<'_, '_> {
    /// `value.name`.
    pub fn attribute(&mut self, i: Inst, v: &Source, name: &str) -> Typed {
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
            let path = format!("{m}.{name}");
            let host = self.session.host;
            self.out.resolved.insert(i, Resolved::Nothing);
            if let Some(g) = host.module_attr(m, name) {
                let (ty, konst) = type_of_global(&g).map_err(|w| refused(&g, &path, &w))?;
                // What stands for something that only compiled code can read.
                if let Kind::Builtin(row) = *ty
                    && row.rows().iter().any(|op| op.property && op.params.is_empty())
                {
                    return self.rows(i, row, vec![], vec![]);
                }
                if let Some(r) = self.func.inst(i).result {
                    self.out.globals.insert(r, g);
                }
                return Ok((ty, konst, false));
            }
            let known = OpId::find(&path).ok_or_else(|| {
                let d = Diagnostic::new(
                    Code::UnknownFunction,
                    format!("`{path}` is not compiled by Tierup, or does not exist"),
                );
                match super::hints::closest_row(m, name) {
                    Some(k) => d.help(format!("did you mean `{k}`?")),
                    None => d,
                }
            })?;
            return Ok((Type::new(Kind::Builtin(known)), None, false));
        }
        // What None has is nothing: an attribute of an optional value is one of the value, with a check.
        if let Kind::Optional(inner) = *ty {
            if let Kind::Variant(_) = inner.kind() {
                let (ty, konst, _) = self.attribute(
                    i,
                    &Source::Present(Box::new(v.clone()), "'NoneType' object has no such attribute"),
                    name,
                )?;
                return Ok((ty, konst, true));
            }
            let raises = |(ty, konst, _): (Type, Option<Const>, bool)| (ty, konst, true);
            return self.attribute_of(i, v, inner, name).map(raises);
        }
        if let Kind::Variant(_) = ty.kind() {
            return self.dispatch(i, v, &mut |s, way| s.attribute(i, way, name));
        }
        self.attribute_of(i, v, ty, name)
    }

    /// `v.name` for `v` as a value of type `ty`, which an optional value becomes where the attribute is
    /// taken.
    fn attribute_of(&mut self, i: Inst, v: &Source, ty: Type, name: &str) -> Typed {
        if let Kind::NamedTuple(c, _) = ty.kind()
            && !c.shadowed.is_empty()
        {
            if let Some(d) = self.shadowed(c, name) {
                return Err(d);
            }
            if c.shadowed.iter().any(|s| s == name)
                && let Some(own) = self.attribute_of_class(i, v, ty, name)
            {
                return own;
            }
        }
        if let Kind::NamedTuple(c, m) = ty.kind()
            && !c.is_keywords()
            && let Some(k) = c.fields.iter().position(|f| f == name)
        {
            self.out.resolved.insert(i, Resolved::Member(v.clone(), k as u32));
            let konst = match self.source_arg(v)?.konst {
                Some(Const::Tuple(c)) => c.get(k).cloned(),
                _ => None,
            };
            return Ok((m[k], konst, false));
        }
        if name == "__class__" {
            return self.rows(i, id::BUILTINS_TYPE, vec![v.clone()], vec![]);
        }
        if let Some(found) = self.attribute_of_class(i, v, ty, name) {
            return found;
        }
        let mut path = OpId::find(&format!("{}.{name}", class_of(ty)));
        // `str.lower` and the like: methods of a class take its instance first.
        if let Kind::Builtin(class) = ty.kind()
            && path.is_none()
            && let Some(class) = class.name().strip_prefix("builtins.")
        {
            path = OpId::find(&format!("{class}.{name}"));
        }
        if path.is_none() && ty.is_number() {
            path = OpId::find(&format!("number.{name}"));
        }
        if path.is_none()
            && ty.is_number()
            && (!ty.is_weak() || *ty == Kind::Bool)
            && OF_SCALARS.contains(&name)
        {
            path = OpId::find(&format!("numpy.{name}"));
        }
        // `np.add.reduce`: a method of any universal function.
        if let Kind::Builtin(f) = ty.kind()
            && f.is_numpys()
            && path.is_none()
            && ops::ufunc::is_ufunc(*f)
            && let Some(method) = OpId::find(&format!("ufunc.{name}"))
        {
            self.out.resolved.insert(i, Resolved::Retype(v.clone()));
            return Ok((Type::new(Kind::Method(method, ty)), None, false));
        }
        let Some(path) = path else {
            if name == "__enter__" {
                let what = format!("a `with` block over {} is not compiled", self.session.resolve(ty));
                return Err(Diagnostic::new(Code::UnsupportedSyntax, what)
                    .help("use try … finally, or put the `with` block outside the function"));
            }
            let d = Diagnostic::new(
                Code::UnknownAttribute,
                format!("a value of type {} has no attribute '{name}'", self.session.resolve(ty)),
            )
            .generic();
            let class = class_of(ty);
            if let Some(h) = super::hints::instead_of(&format!("{class}.{name}")) {
                return Err(d.help(h));
            }
            return Err(match super::hints::closest_row(class, name) {
                Some(k) => d.help(format!("did you mean `{k}`?")),
                None => d,
            });
        };
        if path.rows().iter().any(|op| op.property) {
            return self.rows(i, path, vec![v.clone()], vec![]);
        }
        if let Kind::Builtin(_) = ty.kind() {
            self.out.resolved.insert(i, Resolved::Nothing);
            return Ok((Type::new(Kind::Builtin(path)), None, false));
        }
        self.out.resolved.insert(i, Resolved::Retype(v.clone()));
        Ok((Type::new(Kind::Method(path, ty)), None, false))
    }
}
