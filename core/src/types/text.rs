//! How types print: Numba's names for users (`array(float64, 2d, C)`), with the weak Python numbers as `int`,
//! `float`, `complex`.

use super::{Float, Int, IterType, Kind, Layout, Type};
use std::fmt::{Display, Formatter, Result};

struct Join<'a>(&'a [Type]);
impl Display for Join<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (i, t) in self.0.iter().enumerate() {
            if i > 0 {
                write!(f, ", ")?;
            }
            write!(f, "{t}")?;
        }
        Ok(())
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.kind() {
            Kind::Never => write!(f, "never"),
            Kind::Undef => write!(f, "unbound"),
            Kind::MaybeUndef(t) => write!(f, "unbound?({t})"),
            Kind::None => write!(f, "none"),
            Kind::Ellipsis => write!(f, "ellipsis"),
            Kind::Bool => write!(f, "bool"),
            Kind::Int(Int::Py) => write!(f, "int"),
            Kind::Int(i) => write!(f, "{}int{}", if i.signed() { "" } else { "u" }, i.bits()),
            Kind::Float(Float::Py) => write!(f, "float"),
            Kind::Float(x) => write!(f, "float{}", x.bits()),
            Kind::Complex(Float::Py) => write!(f, "complex"),
            Kind::Complex(x) => write!(f, "complex{}", 2 * x.bits()),
            Kind::Str => write!(f, "str"),
            Kind::Optional(t) => write!(f, "optional({t})"),
            Kind::Tuple(m) => write!(f, "tuple({})", Join(m)),
            Kind::NamedTuple(c, m) => write!(f, "{}({})", c.name, Join(m)),
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
            Kind::List(t) => write!(f, "list({t})"),
            Kind::Var(n) => write!(f, "?{n}"),
            Kind::Range(Some(s)) => write!(f, "range(step={s})"),
            Kind::Range(None) => write!(f, "range"),
            Kind::Slice(p) => write!(f, "slice({})", Join(p)),
            Kind::Iter(i) => fmt_iter(i, f),
            Kind::Function(x) => {
                write!(f, "function({}", crate::ssa::registry::name(x.func))?;
                if !x.captures.is_empty() {
                    write!(f, "; {}", Join(&x.captures))?;
                }
                write!(f, ")")
            }
            Kind::Builtin(p) => write!(f, "{p}"),
            Kind::Method(p, t) => write!(f, "method({p} of {t})"),
            Kind::Module(m) => write!(f, "module({m})"),
            Kind::DType(t) => write!(f, "dtype({t})"),
            Kind::NamedTupleClass(c) => write!(f, "class({})", c.name),
            Kind::ExcClass(c) | Kind::Class(c) => write!(f, "class({})", c.name),
            Kind::Exception => write!(f, "exception"),
            Kind::Variant(m) => write!(f, "variant({})", Join(m)),
            Kind::Conflict(a, b) => write!(f, "conflict({a}, {b})"),
            Kind::Generator(_, t) => write!(f, "generator({t})"),
            Kind::Random => write!(f, "Generator"),
        }
    }
}

fn fmt_iter(i: &IterType, f: &mut Formatter<'_>) -> Result {
    match i {
        IterType::Range(Some(s)) => write!(f, "range_iter(step={s})"),
        IterType::Range(None) => write!(f, "range_iter"),
        IterType::Array(t) => write!(f, "array_iter({t})"),
        IterType::List(t) => write!(f, "list_iter({t})"),
        IterType::Tuple(t) => write!(f, "tuple_iter({t})"),
        IterType::Str => write!(f, "str_iter"),
        IterType::Enumerate(t) => write!(f, "enumerate({t})"),
        IterType::Zip(m) => write!(f, "zip({})", Join(m)),
        IterType::Reversed(t) => write!(f, "reversed({t})"),
        IterType::NdIndex(n) => write!(f, "ndindex({n}d)"),
        IterType::NdEnumerate(t) => write!(f, "ndenumerate({t})"),
        IterType::Flat(t) => write!(f, "flat({t})"),
    }
}
