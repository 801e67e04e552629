//! How types print: Numba's names for users (`array(float64, 2d, C)`), with the weak Python numbers as `int`,
//! `float`, `complex`.
//!
//! `{}` names functions and classes as users do, `{:#}` by what they are, so that [`super::parse::exact`]
//! reads the same type back.

use super::class::{Instances, Origin};
use super::{ClassDef, ClassId, Container, Float, FuncType, Int, IterType, Kind, Layout, Type};
use std::fmt::{Display, Formatter, Result};

/// Types with commas between; they print as the formatter is told to.
struct Join<'a>(&'a [Type]);
impl Display for Join<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (i, t) in self.0.iter().enumerate() {
            if i > 0 {
                write!(f, ", ")?;
            }
            t.fmt(f)?;
        }
        Ok(())
    }
}

/// The types that stand in that of a container.
struct Held<'a>(Container, &'a [Type]);
impl Display for Held<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        Join(self.1).fmt(f)?;
        if self.0 == Container::Tuple { write!(f, ", ...") } else { Ok(()) }
    }
}

/// `name(part)`, with the part as the formatter is told to.
fn wrap(f: &mut Formatter<'_>, name: &str, part: &dyn Display) -> Result {
    write!(f, "{name}(")?;
    part.fmt(f)?;
    write!(f, ")")
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if f.alternate() && exact(*self, f)? {
            return Ok(());
        }
        match self.kind() {
            Kind::Never => write!(f, "never"),
            Kind::Undef => write!(f, "unbound"),
            Kind::MaybeUndef(t) => wrap(f, "unbound?", t),
            Kind::None => write!(f, "none"),
            Kind::Ellipsis => write!(f, "ellipsis"),
            Kind::Bool => write!(f, "bool"),
            Kind::Int(Int::Py | Int::Big) => f.write_str(if *self == Type::int() { "int" } else { "bigint" }),
            Kind::Int(i) => write!(f, "{}int{}", if i.signed() { "" } else { "u" }, i.bits()),
            Kind::Float(Float::Py) => write!(f, "float"),
            Kind::Float(x) => write!(f, "float{}", x.bits()),
            Kind::Complex(Float::Py) => write!(f, "complex"),
            Kind::Complex(x) => write!(f, "complex{}", 2 * x.bits()),
            Kind::Time(t) => write!(f, "{}", t.name()),
            Kind::Str => write!(f, "str"),
            Kind::Bytes => write!(f, "bytes"),
            Kind::Optional(t) => wrap(f, "optional", t),
            Kind::Tuple(m) => wrap(f, "tuple", &Join(m)),
            Kind::Frozen(c, _) if c.is_builtin_value() => write!(f, "{}", c.name),
            Kind::NamedTuple(c, m) | Kind::Frozen(c, m) => wrap(f, &c.name, &Join(m)),
            // The fields say little to who reads an error, and there may be many.
            Kind::Object(c, _) => write!(f, "{}", c.name),
            Kind::Outer(n) => write!(f, "outer({n})"),
            Kind::Member(c) => write!(f, "{}", c.name),
            Kind::Array(a) => {
                let layout = match a.layout {
                    Layout::C => "C",
                    Layout::F => "F",
                    Layout::A => "A",
                };
                write!(
                    f,
                    "array({}, {}d, {layout}{})",
                    a.dtype,
                    a.ndim,
                    match a.access {
                        super::Access::Write => "",
                        super::Access::Read => ", readonly",
                        super::Access::Either => ", perhaps readonly",
                    }
                )
            }
            Kind::Simd(t, n) => write!(f, "vec({t}, {n})"),
            Kind::Record(r) if r.chars().is_some() => write!(f, "{}", r.opaque.as_deref().unwrap_or("")),
            Kind::Record(r) => {
                let said = [(r.aligned, " aligned"), (r.attributes, " attributes")];
                let said: String = said.iter().filter(|(is, _)| *is).map(|(_, what)| *what).collect();
                write!(f, "record({}{said}", r.size)?;
                if let Some(text) = &r.opaque {
                    write!(f, " as {text:?}")?;
                }
                for field in &r.fields {
                    write!(f, ", {:?}", field.name)?;
                    if let Some(title) = &field.title {
                        write!(f, " {title:?}")?;
                    }
                    write!(f, " {} {}", field.offset, field.ty)?;
                    if !field.shape.is_empty() {
                        write!(f, "{:?}", field.shape)?;
                    }
                }
                write!(f, ")")
            }
            Kind::List(t) => wrap(f, "list", t),
            Kind::Container(c, m) if m.is_empty() => write!(f, "{}", c.name()),
            Kind::Container(c, m) => wrap(f, c.name(), &Held(*c, m)),
            Kind::Var(n) => write!(f, "?{n}"),
            Kind::Range(Some(s)) => write!(f, "range(step={s})"),
            Kind::Range(None) => write!(f, "range"),
            Kind::Slice(p) => wrap(f, "slice", &Join(p)),
            Kind::Iter(i) => fmt_iter(i, f),
            Kind::Function(x) => {
                write!(f, "function({}", x.func.name())?;
                if !x.captures.is_empty() {
                    write!(f, "; {}", Join(&x.captures))?;
                }
                write!(f, ")")
            }
            Kind::Builtin(p) => write!(f, "{p}"),
            Kind::Method(p, t) => {
                write!(f, "method({p} of ")?;
                t.fmt(f)?;
                write!(f, ")")
            }
            Kind::Super(c, t) => wrap(f, &format!("super({})", c.name), t),
            Kind::Module(m) => write!(f, "module({m})"),
            Kind::DType(t) => wrap(f, "dtype", t),
            Kind::NamedTupleClass(c) => write!(f, "class({})", c.name),
            Kind::ExcClass(c) | Kind::Class(c) => write!(f, "class({})", c.name),
            Kind::Exception => write!(f, "exception"),
            Kind::Variant(m) => wrap(f, "variant", &Join(m)),
            Kind::Conflict(a, b) => wrap(f, "conflict", &Join(&[*a, *b])),
            Kind::Generator(_, t) => wrap(f, "generator", t),
            Kind::Random => write!(f, "Generator"),
        }
    }
}

/// What is told apart by identity, in full: true if the type is of that kind.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "only types whose names say too little have a longer text"
)]
fn exact(t: Type, f: &mut Formatter<'_>) -> std::result::Result<bool, std::fmt::Error> {
    match t.kind() {
        Kind::Function(x) => exact_function(x, f)?,
        Kind::NamedTuple(c, m) | Kind::Frozen(c, m) | Kind::Object(c, m) => {
            let what = match *t {
                Kind::Frozen(..) => "frozen",
                Kind::Object(..) => "object",
                _ => "namedtuple",
            };
            write!(f, "{what}(")?;
            class(c, f)?;
            for t in m {
                write!(f, ", {t:#}")?;
            }
            write!(f, ")")?;
        }
        Kind::Member(c) => exact_class("member", c, f)?,
        Kind::Super(c, t) => {
            write!(f, "super(")?;
            class(c, f)?;
            write!(f, ", {t:#})")?;
        }
        Kind::NamedTupleClass(c) => exact_class("namedtuple_class", c, f)?,
        Kind::ExcClass(c) => exact_class("exception_class", c, f)?,
        Kind::Class(c) => exact_class("class", c, f)?,
        Kind::Generator(n, t) => write!(f, "generator(#{n}, {t:#})")?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// `function(f3 captures(int) defaults(int, str) keywords("b") bound)`.
fn exact_function(x: &FuncType, f: &mut Formatter<'_>) -> Result {
    write!(f, "function({}", x.func)?;
    for (name, types) in [("captures", &x.captures), ("defaults", &x.defaults)] {
        if !types.is_empty() {
            write!(f, " {name}({:#})", Join(types))?;
        }
    }
    names("keywords", &x.kwdefaults, f)?;
    write!(f, "{})", if x.bound { " bound" } else { "" })
}

fn exact_class(kind: &str, c: &ClassDef, f: &mut Formatter<'_>) -> Result {
    write!(f, "{kind}(")?;
    class(c, f)?;
    write!(f, ")")
}

/// `"ValueError"` for a class that is known without the host, `keywords("a" "b")` for that of `**kwargs`, and
/// `"Point" 70000 bases("tuple") order("tuple", "object") fields("x" "y") constructed` for one of the
/// host's, the order where its bases do not say it.
fn class(c: &ClassDef, f: &mut Formatter<'_>) -> Result {
    let handle = match c.origin {
        Origin::Builtin | Origin::Exception(_) => return write!(f, "{:?}", c.name),
        Origin::Keywords => {
            write!(f, "keywords(")?;
            quoted(&c.fields, f)?;
            return write!(f, ")");
        }
        Origin::Host(handle) => handle,
    };
    write!(f, "{:?} {handle}", c.name)?;
    if c.qualname != c.name {
        names("qualname", std::slice::from_ref(&c.qualname), f)?;
    }
    if c.bases != [ClassId::OBJECT] {
        write!(f, " bases(")?;
        for (i, b) in c.bases.iter().enumerate() {
            write!(f, "{}", if i > 0 { ", " } else { "" })?;
            class(b.def(), f)?;
        }
        write!(f, ")")?;
    }
    if c.has_own_order() {
        write!(f, " order(")?;
        for (i, b) in c.mro[1..].iter().enumerate() {
            write!(f, "{}", if i > 0 { ", " } else { "" })?;
            class(b.def(), f)?;
        }
        write!(f, ")")?;
    }
    names("fields", &c.fields, f)?;
    match c.instances {
        Instances::Inherited => {}
        Instances::Objects { identity, native } => {
            let said = [(identity, "identity"), (native, "native")];
            let said: Vec<&str> = said.iter().filter(|(is, _)| *is).map(|(_, what)| *what).collect();
            write!(f, " objects({})", said.join(" "))?;
        }
        Instances::Frozen(mut generated) => {
            write!(f, " frozen(")?;
            let has: Vec<&str> = generated.named().iter().filter(|(_, has)| **has).map(|(n, _)| *n).collect();
            write!(f, "{})", has.join(" "))?;
        }
        Instances::Values(all) => {
            write!(f, " values(")?;
            for (k, value) in all.iter().enumerate() {
                write!(f, "{}{value}", if k > 0 { ", " } else { "" })?;
            }
            write!(f, ")")?;
        }
        Instances::Flags { single, whole } => {
            write!(f, " flags({}", if whole { "whole" } else { "" })?;
            single.iter().try_for_each(|bit| write!(f, " {bit}"))?;
            write!(f, ")")?;
        }
        Instances::Mark => write!(f, " mark")?,
        Instances::Members { count, equality } => {
            write!(f, " members({count}{})", if equality { " equality" } else { "" })?
        }
    }
    write!(f, "{}", if c.constructed { " constructed" } else { "" })
}

fn names(what: &str, names: &[String], f: &mut Formatter<'_>) -> Result {
    if names.is_empty() {
        return Ok(());
    }
    write!(f, " {what}(")?;
    quoted(names, f)?;
    write!(f, ")")
}

fn quoted(names: &[String], f: &mut Formatter<'_>) -> Result {
    for (i, n) in names.iter().enumerate() {
        write!(f, "{}{n:?}", if i > 0 { " " } else { "" })?;
    }
    Ok(())
}

fn fmt_iter(i: &IterType, f: &mut Formatter<'_>) -> Result {
    match i {
        IterType::Range(Some(s)) => write!(f, "range_iter(step={s})"),
        IterType::Range(None) => write!(f, "range_iter"),
        IterType::Array(t) => wrap(f, "array_iter", t),
        IterType::List(t) => wrap(f, "list_iter", t),
        IterType::Container(t) => wrap(f, "iter", t),
        IterType::Tuple(t) => wrap(f, "tuple_iter", t),
        IterType::Str => write!(f, "str_iter"),
        IterType::Bytes => write!(f, "bytes_iter"),
        IterType::Enumerate(t) => wrap(f, "enumerate", t),
        IterType::Zip(m) => wrap(f, "zip", &Join(m)),
        IterType::Reversed(t) => wrap(f, "reversed", t),
        IterType::NdIndex(n) => write!(f, "ndindex({n}d)"),
        IterType::NdEnumerate(t) => wrap(f, "ndenumerate", t),
        IterType::Flat(t) => wrap(f, "flat", t),
    }
}
